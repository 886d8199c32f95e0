#!/bin/bash
# No rate above its peak is plainly ok: on each recorded machine, with a driver that is faster than the machine's links
# and memory allow, each number has its mark, and nothing compares it.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"

fake_driver h200x4 || exit 77

cat >fast.toml <<'TOML'
[fake.speeds]
host_to_device = 2e12
device_to_device = 3e12
local = 30e12
TOML
scenario peaks 'trials = { min = 2, max = 2 }; max_time = "1ms"; min_trial = "1us"; verify = "off"' \
  'up | { numa = "local" } | { gpu = 0 } | "8MiB"' \
  'between | { gpu = 0 } | { gpu = "*" } | "8MiB"' \
  'local | { gpu = 0 } | { gpu = 0 } | ["64KiB", "272MiB"] | pairs = "same"'

unmarked="select count(*) from v_case where status = 'ok' and percent_of_peak > 101 and above_peak is not 1"
for machine in "$source_folder"/tests/machines/*.toml; do
  name=$(basename "$machine" .toml)
  grep -q '^\[\[gpu\]\]' "$machine" || continue
  begin "$name"
  export HAUL_FAKE_MACHINE=$machine
  # As the machine is, nothing is above its peak.
  run_ok run peaks.toml --db "$name.db" --tag right
  reject_out above_peak
  expect_value 0 "$name.db" 'select count(*) from v_case where above_peak'
  expect_value 1 "$name.db" 'select count(*) > 1 from v_case where percent_of_peak > 50'
  # What fits the L2 cache is not measured against the memory.
  expect_value 1 "$name.db" "select count(*) from v_case where size_bytes = 65536 and peak_gbps is null"
  HAUL_FAKE_FAULTS=$scratch/fast.toml run_ok run peaks.toml --db "$name.db" --tag wrong -v
  expect_out 'Above the hardware.s peak: .*% of it\. A cache served the bytes, they did not move, or the peak is wrong\.'
  expect_err 'up/.*: ok, .* GB/s, above its peak'
  expect_value 0 "$name.db" "$unmarked"
  above=$(value "$name.db" "select count(*) from v_case where tag = 'wrong' and percent_of_peak > 101")
  if [ "$above" -ge 2 ]; then good; else bad "only $above results are above their peak"; fi
  expect_value "$above" "$name.db" "select count(*) from v_run_case where above_peak"
  run_ok query --saved run-table --db "$name.db"
  equal "$above" "$(grep -c 'above_peak' out)" 'remarks of run-table'
done

begin 'comparisons'
name=h200x4
export HAUL_FAKE_MACHINE=$source_folder/tests/machines/$name.toml
why='above its peak: a cache served the bytes, they did not move, or the peak is wrong'
run_ok diff tag:right tag:wrong --db "$name.db" -v
expect_out "cases are not compared: $why"
expect_out '^INCOMPARABLE +up/'
reject_out '^(REGRESSED|IMPROVED) +(up|between|local/.*272MiB)'
for run in right wrong; do
  [ "$run" = right ] || mv learned.toml right.toml
  run_ok expect learn --db "$name.db" "tag:$run"
  mv out learned.toml
done
expect_err "left out: [0-9]+ results $why: "
reject_rows() { if grep -q "$1" "$2"; then bad "$2 has $1"; else good; fi; }
reject_rows 'path = "host_to_device"' learned.toml
grep -q 'path = "host_to_device"' right.toml || bad 'nothing was learned of what is right'
run_ok check --expect right.toml tag:right --db "$name.db"
reject_err 'above its peak'
run check --expect right.toml tag:wrong --db "$name.db"
expect_err "warning: [0-9]+ results are not compared: $why"
reject_out 'up/numa0'
run check --expect right.toml tag:wrong --db "$name.db" --strict
if [ "$code" -ne 0 ]; then good; else bad 'check --strict passes what was not compared'; fi
begin 'the rate at which pages are touched that need not have moved is none of a link: the answer leaves it out'
run_ok run um-access --only 'advice_by_gpu/*read_mostly*again=true*' --set measure.max_time=1ms --set measure.trials.min=1 --set measure.trials.max=2 --db touched.db
expect_out 'The rate counts all touched pages'
expect_value '1 0' touched.db "select (gbps > 0) || ' ' || verified from v_case"
reject_out '^Host to GPU'

finish
