#!/usr/bin/env bash
# How many lines a person has to read, on terminals of 80 and of 120 columns: each kind of output has a budget.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
skip_emulated 'has no NUMA, which cases remark'
fake_driver h200x4 || exit 77
if ! script -qec true /dev/null </dev/null >/dev/null 2>&1; then
  echo 'skipped: no script to make a terminal with'
  exit 77
fi
small=(--set transfer.size=64KiB --set stream.size=64KiB --set measure.min_trial=20us --set measure.max_time=1ms
  --set measure.telemetry=off --set chase.hops=64 --set chase.footprint=32KiB)

# No more than LINES, and none wider than the terminal.
within() { # LINES COMMAND...
  local most=$1 columns lines
  shift
  for columns in 80 120; do
    script -qec "stty cols $columns; '$haul' $*" /dev/null </dev/null 2>&1 |
      awk '{ gsub(/\033\[[0-9;]*[A-Za-z]|\r/, ""); print }' >"$scratch/out"
    lines=$(wc -l <"$scratch/out")
    echo "$columns columns: haul $*" >"$scratch/command"
    : >"$scratch/err"
    code=0
    if [ "$lines" -le "$most" ] && [ "$lines" -gt 4 ]; then good; else bad "$lines lines, budget $most"; fi
    equal 0 "$(awk -v most=$columns 'length > most' "$scratch/out" | wc -l)" "lines of more than $columns columns"
  done
}

begin 'plans'
within 60 plan nvbandwidth
within 40 plan quick

begin 'results of four GPUs, and of one'
# No case reaches that precision, so the remark that copies within a busy host have is always there. 42: with one that
# the clock of this host's processor changed.
quick=(quick --set transfer.size=64KiB --set measure.precision=0 --set measure.trials.min=6 --set measure.trials.max=6)
within 42 run "${quick[@]}" --set 'transfer.size=[4096,65536]' --db quick4.db -q
within 150 run nvbandwidth "${small[@]}" --db four.db -q
within 35 explain --db four.db
export HAUL_FAKE_MACHINE=$source_folder/tests/machines/gh200.toml
within 45 run nvbandwidth "${small[@]}" --db one.db -q
within 40 run "${quick[@]}" --db quick.db -q

begin 'a diff of 232 cases, of which three changed'
export HAUL_FAKE_MACHINE=$source_folder/tests/machines/h100x8-nvlink.toml
write_pairs '["1MiB", "2MiB", "4MiB"]' '"*"' '["64KiB", "128KiB", "256KiB", "512KiB", "1MiB", "2MiB", "4MiB", "8MiB"]'
sed -e 's/^from = 0/from = 1/' -e 's/to = "host"/to = 2/' "$faults/slow-driver.toml" | cat - "$faults/noise.toml" >slow.toml
on_first pairs.toml --processes 5 -q --db diff.db --tag a
on_second pairs.toml --processes 5 -q --db diff.db --tag b
expect_value 464 diff.db "select count(distinct case_name || run) from v_case"
# 25, that the GPUs are simulated, and that a loop does not survive a reboot
within 27 diff tag:a tag:b --db diff.db
expect_out '^gpu1->gpu2: [0-9.]+ % slower \(3 of 3 cases\)'
run check previous latest -q --fail-on provisional --db diff.db
expect_code 1
equal 1 "$(wc -l <"$scratch/out")" 'lines of check -q'
expect_out '^failed: 3 regressed, 229 same \(all provisional\): '

finish
