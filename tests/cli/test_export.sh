#!/usr/bin/env bash
# Results for other programs.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
small=$source_folder/tests/cli/small.toml
run_ok run "$small" --db r.db --tag first --processes 2
run_ok run "$small" --db r.db --tag second

begin 'csv: one row per case and process'
run_ok export csv --db r.db
equal 10 "$(wc -l <out)" 'lines'
expect_out '^run,run_uuid,tag,.*,median_ns,'
run export csv --db r.db --run tag:first
equal 7 "$(wc -l <out)" 'lines of one run'

begin 'jsonl: one row per trial'
run_ok export jsonl --trials --run latest --db r.db
equal "$(value r.db "select count(*) from v_trial where tag = 'second'")" "$(wc -l <out)" 'trials'
expect_out '"phase": ?"warmup"'

begin 'prometheus: the latest result of every case'
run_ok export prometheus --db r.db
expect_out '^# TYPE haul_bandwidth_bytes_per_second gauge'
equal 3 "$(grep -c '^haul_bandwidth_bytes_per_second{' out)" 'rates'
expect_out '^haul_case_processes\{.*size_bytes="4096"\} 1$'
expect_out '^haul_case_ok\{.*\} 1$'
if grep -Evq '^(# (HELP|TYPE) [a-z_]+ .*|[a-z_]+\{([a-z_]+="([^"\\]|\\.)*",?)+\} [-+0-9.e]+)$' out; then
  bad "a line that is no exposition format: $(grep -Ev '^(#|[a-z_]+\{)' out | head -n 1)"
else
  good
fi

begin 'prometheus: verdicts against runs that are named'
run_ok export prometheus --db r.db --against tag:first
equal 3 "$(grep -c '^haul_case_verdict{.*verdict="[a-z]*"} 1$' out)" 'verdicts'

begin 'a file is replaced whole, or not at all'
run_ok export prometheus --db r.db -o metrics.prom
equal '' "$(cat out)" 'standard output'
expect_value 2 r.db 'select count(*) from run'
before=$(md5sum <metrics.prom)
run_error 2 'no-such\.db' export prometheus --db no-such.db -o metrics.prom
equal "$before" "$(md5sum <metrics.prom)" 'the file that was there'
equal metrics.prom "$(echo metrics.prom*)" 'files beside it'
equal 644 "$(umask 022; "$haul" export csv --db r.db -o mode.csv && stat -c %a mode.csv)" 'its mode'
run_error 2 'cannot write no/such/folder\.csv' export csv --db r.db -o no/such/folder.csv
run_error 2 'not a regular file' export csv --db r.db -o /dev/null
run_ok export csv --db r.db
cp out to-stdout
run_ok export csv --db r.db -o -
equal "$(cat to-stdout)" "$(cat out)" 'output to -'
missing ./-
(ulimit -f 1; exec "$haul" export csv --db r.db -o large.csv) >"$scratch/out" 2>"$scratch/err"
expect_err '^haul: error: large\.csv: cannot write the result: |^haul: error: cannot write large\.csv: '
if [ -w /dev/full ]; then
  "$haul" export csv --db r.db >/dev/full 2>"$scratch/err"
  equal 3 $? 'exit code with a full disk'
  "$haul" run "$small" -q --db full.db >/dev/full 2>"$scratch/err"
  equal 3 $? 'exit code of a run that is recorded, but not shown'
  expect_err '^haul: error: run 1 is recorded in full\.db, but not shown: cannot write the result: No space left'
fi

begin 'a command line that is wrong'
run_fails 2 'csv, jsonl, prometheus or openmetrics' export
run_fails 2 'did you mean "prometheus"' export prometeus --db r.db
run export prometheus --trials --db r.db
expect_code 2
run export csv --against latest --db r.db
expect_code 2
run_fails 2 'export has no option --format: .*haul export csv --run latest' export csv --format json --db r.db
run_fails 2 'export has no option --json: .*haul export csv --run latest' export --json --db r.db
run_fails 2 'missing argument: .*haul export csv --run latest' export --db r.db
run_fails 2 'haul export csv --run run:1' export csv run:1 --db r.db
run_error 2 'nope' export csv --run nope --db r.db
run_error 2 'baseline' export prometheus --against baseline:none --db r.db

if fake_driver h100x8-nvlink; then
  begin 'prometheus: verdicts against the driver before'
  scenario up 'trials = { min = 5, max = 8 }; settle_time = "off"; max_time = "50ms"' \
    'up | { numa = "local", memory = "pinned" } | { gpu = [0, 1] } | "1MiB"'
  for driver in 570.10.01 580.20.02; do
    sed "s/^driver_version = .*/driver_version = \"$driver\"/" \
      "$source_folder/tests/machines/h100x8-nvlink.toml" >machine.toml
    HAUL_FAKE_MACHINE=$scratch/machine.toml run_ok run up.toml --db d.db --processes 2
  done
  run_ok export prometheus --db d.db
  equal 2 "$(grep -c '^haul_bandwidth_bytes_per_second{.*simulated="1"' out)" 'rates'
  equal 2 "$(grep -c '^haul_case_verdict{.*verdict="[a-z]*"} 1$' out)" 'verdicts'
  expect_out '^haul_case_change_ratio\{.*\} -?[0-9.e-]+$'
  expect_out '^haul_host_info\{.*driver_version="580.20.02".*\} 1$'
  equal 1 "$(grep -c '^haul_host_info' out)" 'hosts'

  begin 'prometheus by blocks, and all runs with their times'
  run_ok export prometheus --blocks --db d.db
  equal 3 "$(grep -cE '^haul_block_bandwidth_bytes_per_second\{.*,block="up",.*stat="(min|median|max)"\} [0-9.e+]+$' out)" 'rates'
  equal 'status="not_ok"} 0 status="ok"} 2' "$(grep '^haul_block_cases' out | grep -o 'status=.*' | xargs -d '\n')" 'cases'
  run_ok export openmetrics --db d.db
  equal 6 "$(grep -cE '^haul_block_bandwidth_bytes_per_second\{.*\} [0-9.e+]+ [0-9]+\.[0-9]{3}$' out)" 'rates'
  equal 2 "$(grep -cE '^haul_host_info\{.*driver_version="5[78]0.*\} 1 [0-9]+\.[0-9]{3}$' out)" 'drivers'
  equal '# EOF' "$(tail -n 1 out)" 'the end'
  # Samples of one series stand together, in the order of time.
  equal "$(grep '^haul' out | cut -d ' ' -f 1,3 | sort -s -t '}' -k 1,1)" "$(grep '^haul' out | cut -d ' ' -f 1,3 | sort)" 'the order'
  if command -v promtool >/dev/null; then
    cp out openmetrics.txt
    promtool tsdb create-blocks-from openmetrics openmetrics.txt tsdb >out 2>&1 || bad "promtool: $(tail -n 1 out)"
  fi
  run_fails 2 '\-\-blocks goes with prometheus alone' export openmetrics --blocks --db d.db
fi

finish
