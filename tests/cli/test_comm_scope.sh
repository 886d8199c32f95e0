#!/usr/bin/env bash
# Comm|Scope's table and figures: planned for every recorded machine, measured at small sizes on the
# fake driver, and read back by the saved queries, as tables and as curves.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
fake_driver h200x4 || exit 77

figures=(fig02 fig06 fig07 fig08 fig09 fig10 fig11)
count() { grep -c "$1" "$scratch/out"; }

begin 'planned for every machine'
for machine in "$source_folder"/tests/machines/*.toml; do
  for scenario in comm-scope/table1 um-coherence "${figures[@]/#/comm-scope/}"; do
    run_ok plan "$scenario" --machine "$machine" --format jsonl
    reject_err 'error|warning'
    if [ "$(basename "$machine")" = no-gpu.toml ]; then
      equal 0 "$(grep -vc '"skipped":\|"skip_reason":"' "$scratch/out")" "cases of $scenario without a GPU"
    fi
  done
done

begin 'a remote node, where there is one'
run plan comm-scope/fig06 --machine "$source_folder/tests/machines/h200x4.toml"
expect_out 'no NUMA node is remote to GPU 0: node 0 is the only one'
expect_out '^39 cases, 26 skipped'
run plan comm-scope/fig06 --machine "$source_folder/tests/machines/h100x8-nvlink.toml"
expect_out '^pinned_to_gpu_remote +numa1:pinned-gpu0 +16GiB'
expect_out '^78 cases; '

begin 'managed memory is a part of what the GPU has free'
run plan comm-scope/fig10 --machine "$source_folder/tests/machines/l40sx4-pcie.toml"
expect_out 'free_share = 0.25'
expect_out '^29 cases, 2 skipped'

small=(--set measure.max_time=1ms --set measure.min_trial=10us --set measure.trials.min=2
  --set measure.telemetry=off)

begin 'all 27 are measured'
run_ok run comm-scope/table1 "${small[@]}" --set transfer.size=1MiB --db table.db
expect_value 27 table.db "select count(distinct block) from v_case where status = 'ok'"
expect_value 0 table.db "select count(*) from v_case where status <> 'ok' or verified = 0"
expect_value 6 table.db "select count(*) from v_case where block = 'demand_duplex_gpu' and flows = 2 and direction = 'both'"
run_ok query --saved comm-scope-table1 --db table.db --format csv
equal 28 "$(grep -c '' "$scratch/out")" 'rows and the heading'
expect_out '^7,one way,"GPU to GPU, peer",12,'
expect_out '^27,zero-copy,"GPU write, both ways",6,'

begin 'a table of one GPU says what it lacks'
HAUL_FAKE_MACHINE=$source_folder/tests/machines/gh200.toml run run comm-scope/table1 \
  "${small[@]}" --set transfer.size=1MiB --only '*gpu_to_gpu*' --db one.db
expect_code 3
run query --saved comm-scope-table1 --db one.db --format csv
expect_out '^7,one way,"GPU to GPU, peer",0,,,"skipped: needs two GPUs, this machine has 1"'
expect_out '^1,one way,pageable to GPU,,,,not in this run'

begin 'every figure is measured and read back'
sizes='["4KiB", "1MiB", "16MiB"]'
for figure in "${figures[@]}"; do
  threads=()
  [ "$figure" != fig10 ] || threads=(--set 'demand_gpu_to_host.size=1MiB' --set 'demand_gpu_to_host.unified.threads=[1, 2]')
  run_ok run "comm-scope/$figure" "${small[@]}" --set "transfer.size=$sizes" "${threads[@]}" --db fig.db -q
  expect_value 0 fig.db "select count(*) from v_case where scenario = 'comm-scope-$figure' and status not in ('ok', 'skipped')"
  measured=$(value fig.db "select count(*) from v_run_case where scenario = 'comm-scope-$figure' and status = 'ok'")
  number=$((10#${figure#fig}))
  run_ok query --saved comm-scope-figure --param "figure=$number" --db fig.db --format csv
  equal "$measured" "$(($(grep -c '' "$scratch/out") - 1))" "points of $figure"
  run_ok query --saved comm-scope-figure --db fig.db --plot
  expect_out '^ *GB/s$'
  if [ "$(wc -L <"$scratch/out")" -le 80 ]; then good; else bad 'a line of more than 80 columns'; fi
done
run query --saved comm-scope-figure --param figure=10 --db fig.db --plot
equal 2 "$(count 'to the')" 'plots of figure 10'
expect_out '^ +host threads$'
run query --saved comm-scope-figure --param figure=2 --db fig.db --plot
expect_out '^  a  pinned_to_gpu warm$'
expect_out '^  d  pageable_to_gpu flushed$'

run_error 2 "there is no saved query \"comm-scope-fig02\" \(did you mean \"comm-scope-figure\"\?\)" query --saved comm-scope-fig02 --db fig.db

begin 'a figure of an older run'
run run comm-scope/fig11 "${small[@]}" --set transfer.size=64KiB --db fig.db -q --tag later
run query --saved comm-scope-figure --param figure=11 --db fig.db --format csv
equal 3 "$(grep -c '' "$scratch/out")" 'points of the latest run'
run query --saved comm-scope-figure --param figure=11 --db fig.db --format csv --param run=previous
equal 7 "$(grep -c '' "$scratch/out")" 'points of the run before'

verdict() { # SECTION BEGINNING-OF-CLAIM
  tr -d '\r' <"$scratch/out" | awk -F '\t' -v s="$1" -v c="$2" '$1 == s && index($2, c) == 1 { print $3 }'
}
claims() { # DB [OPTION...]
  local db=$1
  shift
  "$haul" query --saved comm-scope-claims --db "$db" "$@" --json 2>"$scratch/err" |
    tr -d '\n' | sed 's/},/}\n/g' |
    sed -n 's/.*"section": *"\([^"]*\)", *"claim": *"\([^"]*\)", *"verdict": *"\([^"]*\)".*/\1\t\2\t\3/p' >"$scratch/out"
}

begin 'the claims, on what the fake driver does'
run_ok run comm-scope/table1 "${small[@]}" --only '*p[ia][ng]*/*gpu0*' --db fig.db -q
claims fig.db
equal 18 "$(grep -c '' "$scratch/out")" claims
equal holds "$(verdict 4.1 'pinned memory is faster')" 'pinned above pageable'
equal holds "$(verdict 4.1 'pinned, both ways')" 'both ways near twice one way'
# Copies of pageable memory block the host, so that real time is in how far two of them overlap.
if verdict 4.1 'pageable, both ways' | grep -Eqx 'holds|does not hold'; then good; else bad 'pageable both ways was not tested'; fi
equal holds "$(verdict 4.3 'GPU to GPU')" 'peer above staged'
equal holds "$(verdict 4.4 'zero-copy reads are near')" 'zero-copy near ce'
equal holds "$(verdict 4.5 'pages on demand can beat copies from')" 'demand against pageable'
equal 'does not hold' "$(verdict 4.7 'prefetch is far below')" 'prefetch against pinned'
equal 'does not hold' "$(verdict 2.2.4 'flushing host caches changes copies of pinned')" 'flush'
equal 'cannot be tested here' "$(verdict 4.2 'pinned memory of the local')" 'locality on one node'
equal 'cannot be tested here' "$(verdict 4.4 'zero-copy reads drop')" 'sizes that were not measured'
run query --saved comm-scope-claims --db fig.db --format csv
expect_out '^4\.2,.*no NUMA node is remote to GPU 0: node 0 is the only one'
expect_out '^4\.4,zero-copy reads drop.*not measured at 16GiB: haul run comm-scope/fig09'
expect_out '^4\.1,"?pinned, both ways.* GB/s = [12]\.[0-9]+ at 64MiB'
claims fig.db --param 'tag=no such*'
equal 18 "$(grep -c 'cannot be tested here' "$scratch/out")" 'claims without a run'

begin 'unified-memory coherence'
run_ok run um-coherence "${small[@]}" --set 'transfer.size=["64KiB", "1MiB"]' --db um.db -q
run query --saved um-coherence --db um.db --format csv
equal 41 "$(grep -c '' "$scratch/out")" 'rows of 12 + 4 + 4 pairs and the heading'
expect_out '^GPUToGPU,gpu3,gpu2,1048576,'
expect_out '^HostToGPU,numa0,gpu0,65536,'

begin 'curves below the result'
run_ok run comm-scope/fig08 "${small[@]}" --set 'transfer.size=["4KiB", "1MiB"]' --db plot.db --plot -q
equal 2 "$(count '^ *GB/s$')" plots
expect_out '^  c  gpu0-gpu3$'
run query --saved curves --db plot.db --plot=semilog --param block='*no_peer'
equal 1 "$(count '^ *GB/s$')" plots
run_ok run "$source_folder/tests/cli/small.toml" --set transfer.size=64KiB --db plot.db --plot -q
expect_out 'nothing to draw: no block is a sweep'
LC_ALL=C run query --saved curves --db plot.db --plot --param run=previous
equal 0 "$(LC_ALL=C grep -c '[^ -~]' "$scratch/out")" 'characters beyond ASCII'
run_error 2 'a column of numbers for x' query --db plot.db --plot 'select 1 as one'
run_fails 2 "unknown scale 'logarithmic'.*: one of log, semilog, linear" query --db plot.db --plot=logarithmic 'select 1 as one'
run_fails 2 'cannot be combined with --format json' query --db plot.db --plot --json 'select 1 as one'

finish
