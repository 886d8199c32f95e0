#!/usr/bin/env bash
# haul copy: the scenario that it makes, what it measures, and words that are no places.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"

expect_lines() { # LINE... of the scenario, behind its name
  equal "$(printf '%s\n' 'method = '"$1" "from = $2" "to = $3" "size = $4" "${@:5}")" \
    "$(sed '1,/^\[\[/d; /^name/d' "$scratch/out")" "$(cat "$scratch/command")"
  "$haul" validate - <"$scratch/out" >valid 2>&1 || bad "no scenario: $(cat valid)"
}

begin 'the scenario'
run_ok copy --from host --to gpu0 --print
expect_lines '"ce"' '{ numa = "local" }' '{ gpu = 0 }' '"256MiB"'
run_ok copy --from host:pinned,huge --to 'gpu*' --size 4KiB..1GiB --method ce,sm --both --print
expect_lines '["ce", "sm"]' '{ numa = "local", memory = ["pinned", "huge"] }' '{ gpu = "*" }' \
  '{ from = "4KiB", to = "1GiB", factor = 4 }' 'direction = "both"'
run_ok copy --from gpu0,2 --to numa1:pageable --size 4KiB,64MiB --print
expect_lines '"ce"' '{ gpu = [0, 2] }' '{ numa = 1, memory = "pageable" }' '["4KiB", "64MiB"]'
run_ok copy --from gpu0:ipc,fd:process0,1 --to gpu1 --print
expect_lines '"ce"' '{ gpu = 0, share = ["ipc", "fd"], process = [0, 1] }' '{ gpu = 1 }' '"256MiB"'
run_fails 2 'is not a place' copy --from gpu0:ipc:process --to gpu1
run_ok copy --from numa0:memfd:process1 --to numa0 --size 1MiB --db shared.db
expect_out '^numa0:memfd:process1-numa0:pageable +~?[0-9.]+'

begin 'what is not right'
run_fails 2 'from PLACE and --to PLACE are needed' copy --to gpu0
for place in hst gpux gpu0: 'gpu0"' gpu,1 numa-1; do
  run_fails 2 "is not a place: host, gpu0, gpu0,2, gpu\\* or numa1" copy --from "$place" --to gpu0
done
run_fails 2 "size needs a size, .*, not \"1 GiB\"" copy --from host --to gpu0 --size '1 GiB'
run_fails 2 'did you mean "pinned"' copy --from host:pined --to gpu0
run_fails 2 '^--size 1G: error: size: invalid value' copy --from host --to gpu0 --size 1G
expect_err 'did you mean "1GiB"'
run_fails 2 '^--method cee: error: method: invalid value' copy --from host --to gpu0 --method cee
run_fails 2 '^--to gpu0:pined: error: to.memory: invalid value' copy --from host --to gpu0:pined

small=(--set measure.max_time=1ms --set measure.settle_time=off)
begin 'a copy is measured, recorded and resumed like any run'
run_ok copy --from host --to host --size 64KiB "${small[@]}" --db c.db --tag mine
expect_out '^numa0:pageable-numa0:pageable +~?[0-9.]+'
expect_out '^Host to host +~?[0-9.]+ GB/s pageable \([0-9A-Za-z]+\)$'
run_ok list runs --db c.db --where tag=mine
expect_out '^ *1 .* copy +mine +done'
run_ok show --scenario latest --db c.db
expect_out '^method = "cpu"$'
run_ok show latest --db c.db
expect_out '^Host to host '

begin 'memory of this machine that is too fragmented is a reason to skip'
if [ "$(cat /sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages 2>/dev/null || echo 0)" = 0 ]; then
  # 41: PR_SET_THP_DISABLE
  printf '#!/bin/sh\nexec python3 -c "%s" "%s" "$@"\n' \
    'import ctypes, os, sys; ctypes.CDLL(None).prctl(41, 1, 0, 0, 0); os.execv(sys.argv[1], sys.argv[1:])' \
    "$haul" >fragmented
  chmod +x fragmented
  whole=$haul haul=$PWD/fragmented
  run_ok copy --from host:pageable,huge --to host --size 4MiB "${small[@]}" --db huge.db
  expect_out '^Skipped +1 of 2 cases: 2 MiB pages: 0 reserved ones are free.*; as root, echo .* >/(proc|sys)/[a-z_/]* (makes room for|allows) them '
  printf 'schema_version = 1\nname = "s"\n[[stream]]\nname = "s"\nop = "copy"\ntype = "f64"\nsize = "4MiB"\n%s\n' \
    'at = { numa = 0, memory = ["pageable", "huge"] }' >stream.toml
  run_ok run stream.toml "${small[@]}" --db huge.db
  expect_out '^Skipped +1 of 2 cases: 2 MiB pages: 0 reserved ones are free'
  haul=$whole
fi

fake_driver h200x4 || finish
begin 'both directions between GPUs'
run_ok copy --from gpu0 --to 'gpu*' --size 1MiB --both "${small[@]}" --db c.db
expect_value '3 2' c.db "select count(*) || ' ' || max(flows) from v_run_case where run = 2"

begin 'a copy that cannot be measured is not recorded'
run_error 3 'nothing was measured or recorded: there is no GPU 8 \(GPUs: 0-3\)' copy --from host --to gpu8 --db c.db
expect_value 2 c.db 'select max(run) from v_run'
finish
