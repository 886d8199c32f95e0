#!/usr/bin/env bash
# nvbandwidth's results as a run, and next to our own.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
file=$source_folder/tests/data/nvbandwidth-0.8-4xH200.json

begin 'a real file'
run_ok import nvbandwidth "$file" --db i.db --tag old --date 2025-11-20T14:30:00
expect_out 'device_to_device_memcpy_read_ce +12 +12'
expect_out 'host_device_latency_sm +4 +0 '
expect_out "host_to_device_bidirectional_memcpy_sm +4 +0 .*same 16 bytes"
expect_err 'imported 100 of 308 values as run 1 .*measured on vm under driver 580\.159\.04'
expect_value imported i.db 'select origin from v_run'
expect_value 2025-11-20T14:30:00Z i.db 'select started_at from v_run'
expect_value 580.159.04 i.db 'select driver_version from v_run'
expect_value 100 i.db 'select count(*) from v_case'
expect_value 55.052 i.db "select round(gbps, 6) from v_case where block = 'host_to_device_memcpy_ce' and target_index = 1"

begin 'one value per case, and no more certainty than that'
expect_value 0 i.db 'select count(*) from v_case where n <> 1 or process <> 0 or median_ns is null'
expect_value 0 i.db 'select count(*) from v_case where coalesce(median_low_ns, median_high_ns, p5_ns, p95_ns, min_ns, max_ns, mean_ns, cv) is not null'
expect_value 0 i.db 'select count(*) from v_trial'
expect_value 0 i.db "select count(*) from v_case where note not like 'imported:%'"

begin 'again: nothing is added'
run_ok import nvbandwidth "$file" --db i.db
expect_err 'already imported as run 1'
expect_value 1 i.db 'select count(*) from run'

begin 'it merges like any other run'
run_ok merge m.db i.db
expect_value 100 m.db 'select count(*) from v_case'

begin 'the same cases as the plan of the scenario'
run_ok plan nvbandwidth --machine "$source_folder/tests/machines/h200x4.toml" --format jsonl
grep -o '"case_key": *"[0-9a-f]*"' out | grep -o '[0-9a-f]\{32\}' | sort -u >planned
run_ok import nvbandwidth "$file" --db h.db --machine "$source_folder/tests/machines/h200x4.toml"
expect_value h200x4 h.db 'select host_name from v_run'
run query --db h.db --format csv 'select case_key from v_case'
tr -d '\r' <out | sed 1d | sort -u >imported
equal 100 "$(comm -12 planned imported | wc -l)" 'keys that the plan has as well'

begin 'its text, of a version and with a test of its own'
cat >new.txt <<'END'
nvbandwidth Version: v0.10.0
Built from Git version: v0.10

CUDA Runtime Version: 13.3 (13030)
Driver Version: 610.57.04

Running host_to_device_memcpy_ce.
memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0     55.59     55.60

SUM host_to_device_memcpy_ce 111.19
COEFFICIENT_OF_VARIATION host_to_device_memcpy_ce 0.00

Waived: no TMA
Running device_local_read_sm.
Reads (GB/s)
           0         1
 0   4500.00   4501.00

SUM device_local_read_sm 9001.00
END
run_ok import nvbandwidth new.txt --db t.db
expect_out 'host_to_device_memcpy_ce +2 +2'
expect_out 'a test without its name.* 0 +0 +nvbandwidth says: Waived: no TMA'
expect_out 'device_local_read_sm +2 +2'
expect_err 'imported 4 of 4 values as run 1 .*on unknown under driver 610\.57\.04'
expect_value 55.6 t.db "select round(gbps, 6) from v_case where kind = 'transfer' and target_index = 1"
expect_value 4500 t.db "select round(gbps, 6) from v_case where operation = 'read' and gpu = 0"
expect_value 4 t.db "select count(*) from v_case where note like 'imported: one value of nvbandwidth 0.10, rounded to 0.01 GB/s,%'"

begin 'what is no file of nvbandwidth'
run_error 2 'no-such\.json' import nvbandwidth no-such.json --db i.db
printf '{\n "nvbandwidth" {\n' >broken.json
run_error 2 'broken\.json:2:[0-9]+: no valid JSON' import nvbandwidth broken.json --db x.db
echo '{"a": 1}' >other.json
run_error 2 'not what nvbandwidth -j prints' import nvbandwidth other.json --db x.db
echo '{"nvbandwidth": {"version": "v0.11", "testcases": []}}' >newer.json
run_error 3 '0\.5 to 0\.10' import nvbandwidth newer.json --db x.db
run_error 2 'must name the machine' import nvbandwidth "$file" --db x.db --machine "$source_folder/tests/machines/h100x8-nvlink.toml"
missing x.db
run import nvbandwidth
expect_code 2
run_fails 2 'nvbandwidth can be imported' import nccl "$file"
run import nvbandwidth "$file" --date yesterday
expect_code 2
run import nvbandwidth "$file" --size much
expect_code 2

if fake_driver h200x4; then
  begin 'next to a run of the same (simulated) machine'
  run_ok run nvbandwidth --only 'device_to_device_memcpy_*_ce' --set transfer.size=256KiB \
    --set measure.max_time=20ms --db d.db --tag ours
  run_ok env --save fake.toml
  run_ok import nvbandwidth "$file" --size 256KiB --machine fake.toml --db d.db --tag theirs
  expect_value 1 d.db "select simulated from v_run where tag = 'theirs'"
  expect_value 0 d.db "select count(*) from v_case where method = 'sm'"
  run_ok diff tag:theirs tag:ours --db d.db --format jsonl
  equal 24 "$(grep -c '"verdict": *"insufficient"' out)" 'cases that both have, with one process'
  expect_err 'A was imported and cannot be measured again\. More runs of B alone '
  run_ok diff tag:theirs tag:ours --db d.db
  expect_out "^One run per side, of two tools: neither run-to-run variation nor the tools can be told from the driver's effect$"
  reject_err 'haul run'
  run check tag:theirs tag:ours --strict --fail-on regressed --db d.db
  expect_code 4

  begin 'real and simulated results are never compared'
  run_ok import nvbandwidth "$file" --db d.db --tag real
  run_fails 2 'simulated' diff tag:real tag:ours --db d.db
fi

finish
