#!/usr/bin/env bash
# Where results stand: each direction apart, what is swept as a table and a chart, and what is
# measured once at every place that asks for it.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
fake_driver h200x4 || exit 77

scenario layout 'max_time = "1ms"; telemetry = "off"' \
  'gpus | { gpu = "*" } | { gpu = "*" } | "64KiB" | direction = ["forward", "both"]' \
  'host | { numa = "*" } | { gpu = "*" } | { from = "64KiB", to = "1MiB", factor = 4 } | direction = ["forward", "reverse", "both"]' \
  'ends | { gpu = 0 } | { gpu = [1, 2] } | "64KiB" | initiator = ["source", "target"]' \
  'lockstep | { gpu = [0, 1] } | { gpu = [2, 3] } | ["64KiB", "256KiB", "1MiB"] | method = "sm"; kernel.grid = [1, 2, 4]; zip = [["size", "kernel.grid"]]'

begin 'each direction is a matrix or a table of its own'
run_ok run layout.toml --db r.db
run_ok show latest --db r.db
equal 1 "$(grep -c '^GB/s from row to column$' "$scratch/out")" 'matrices one way'
equal 1 "$(grep -c '^both ways, total GB/s between row and column$' "$scratch/out")" 'both ways'
expect_out '^GB/s from numa0:pinned to each GPU$'
expect_out '^GB/s from each GPU to numa0:pinned$'
expect_out '^both ways, total GB/s between numa0:pinned and each GPU$'
equal 3 "$(grep -Ec '^  size +gpu0 +gpu1 +gpu2 +gpu3$' "$scratch/out")" 'sweeps of the host'
equal 8 "$(grep -c 'N/A' "$scratch/out")" 'rows with N/A'

begin 'what is measured once stands at both places, with a mark, and is judged once'
run_ok show --result latest --db r.db
expect_out '^gpu0 .* a .* a$'
expect_out '^a  2 cases: Duplicate of block gpus, measured once\.$'
expect_value '2 ends/gpu0-gpu1/initiator=source/64KiB gpus' r.db "select count(*) || ' ' || min(case_name) || ' ' || min(same_block) from v_place where same_as is not null"
equal 2 "$("$haul" query --db r.db --saved run-result --param block=ends --format jsonl |
  grep -c '"same_as":"gpus/')" 'objects with the case that was measured'
run_ok run layout.toml --db r.db
run_ok diff run:1 run:2 --db r.db --format jsonl
equal 0 "$(grep -c 'initiator=source' "$scratch/out")" 'lines of diff about what is measured elsewhere'
run_ok diff run:1 run:2 --db r.db --format jsonl --only 'ends/gpu0-gpu1/initiator=source/64KiB'
expect_out '"case":"gpus/gpu0-gpu1/'

begin 'every swept axis has its chart, its curves told apart by all else but what is in lockstep'
run_ok query --db r.db --saved curves --param block=host --format csv
equal 12 "$(tail -n +2 "$scratch/out" | cut -d, -f2 | sort -u | wc -l)" 'curves of the host'
run_ok query --db r.db --saved curves --param block=lockstep --format csv
equal 4 "$(tail -n +2 "$scratch/out" | cut -d, -f2 | sort -u | wc -l)" 'curves in lockstep'
run_ok report page.html --db r.db
equal 2 "$(grep -c '<figure>' page.html)" 'charts of a page'

begin 'a narrow table wraps its names rather than that it loses the marks of its notes, in a pipe by COLUMNS'
run_ok run nvbandwidth --db narrow.db --only 'host_to_all*ce,all_to_host*ce' --set measure.max_time=1ms \
  --set transfer.size=128KiB --set host_to_all_memcpy_ce.size=512KiB
COLUMNS=60 run_ok show --result latest --db narrow.db
expect_out '^a  .'
for note in $(grep -Eo '^[a-z]  ' out); do
  expect_out "[^ ].*[ ,]$note(,[a-z])*"
done
equal 0 "$(awk 'length($0) > 60' out | wc -l)" 'lines of more than 60 columns'
for columns in '' 0 x 99999999999; do
  COLUMNS=$columns run_ok show --result latest --db narrow.db
  expect_out '^.{61}'
done

begin 'a plan names the case that has the result'
run_ok plan layout.toml
expect_out 'ends/gpu0-gpu1/initiator=source/64KiB is the same measurement as gpus/gpu0-gpu1/64KiB'

finish
