#!/usr/bin/env bash
# Workers and parents that are killed, and people who interrupt, in the middle of a case. That case ends when
# the test says so: nothing here depends on how long something takes.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
skip_emulated 'is not in the case in which it is to be killed'
fake_driver h200x4 || exit 77

# A short case, one that is held, and a short one: time to interfere.
slow=$scratch/slow.toml
# The long one is so long that what was measured before is written first.
scenario slow 'trials = { min = 5, max = 8 }; settle_time = "off"; telemetry = "off"' \
  'first | { numa = "local" } | { gpu = 1 } | "64KiB"' \
  'long | { numa = "local" } | { gpu = 1 } | "96KiB" | trials = { min = 100, max = 100 }; min_trial = "1ms"' \
  'last | { numa = "local" } | { gpu = 1 } | "128KiB"'
cat >hold.toml <<EOF
[[fake.fault]]
kind = "block"
call = "cuMemcpy*"
size_bytes = 98304
marker = "$scratch/inside"
while = "$scratch/hold"
EOF
export HAUL_FAKE_FAULTS=$scratch/hold.toml

# Start a run in the background and wait until it is inside the long case. Sets $parent, $worker.
start_slow() { # ARGUMENT...
  printf 'haul run -v %s &' "$*" >"$scratch/command"
  rm -f inside
  touch hold
  set -m # a job of its own: the shell would start it with interrupts ignored
  "$haul" run -v "$@" >"$scratch/out" 2>"$scratch/err" </dev/null &
  parent=$!
  set +m
  await test -e inside || return 1
  worker=$(children "$parent" | tail -n 1) # behind the process that reads error counters
}
# Send a signal to the run, or to its group, and wait until the run has seen it.
interrupt() { # SIGNAL PID
  kill "-$1" -- "$2"
  local again='Press Ctrl-C again to stop now'
  [ "$1" = INT ] || again='Another signal stops it now'
  await grep -q "interrupted: finishing .*[.] $again" "$scratch/err"
}
finish_slow() { # the long case ends, where it goes on
  rm -f hold
  wait "$parent"
  code=$?
}

begin 'SIGKILL of the worker costs one case'
start_slow "$slow" --db worker.db
kill -KILL "$worker"
finish_slow
expect_code 3
expect_err 'case long/.*: crashed: the worker process was killed by signal 9 \(SIGKILL\)'
expect_value ok worker.db "select status from v_case where block = 'first'"
expect_value crashed worker.db "select status from v_case where block = 'long'"
expect_value ok worker.db "select status from v_case where block = 'last'"
expect_value ok worker.db 'pragma integrity_check'
expect_value done worker.db 'select status from v_run'
run run --resume latest --db worker.db
expect_code 3 # nothing is left, and a case crashed

begin 'Ctrl-C ends after the case, and resume measures what is left'
start_slow "$slow" --db interrupt.db
interrupt INT "$parent"
finish_slow
expect_code 130
expect_err 'interrupted: finishing long/[^ ]*\. It (should end within [0-9.]+ (ms|s|min [0-9]+ s)|is overdue), and haul stops it after ([0-9]+ min [0-9]+ s|[0-9.]+ s)\. Press Ctrl-C again to stop now'
expect_err '^haul: next: haul run --resume run:1 --db interrupt\.db$'
expect_err '^haul: 2 ok, 1 not measured in .*; run 1 \([0-9a-f]{32}\) of '
expect_value 2 interrupt.db "select count(*) from v_case where status = 'ok'"
expect_value interrupted interrupt.db 'select status from v_run'
before=$(value interrupt.db 'select count(*) from trial')
run_ok run --resume latest --db interrupt.db -v
expect_err 'last/.*: ok'
expect_err '^haul: 1 measured now in [0-9.]+ m?s; in all 3 ok; run 1 \('
reject_err 'first/|long/'
expect_value 3 interrupt.db "select count(*) from v_case where status = 'ok'"
expect_value 1 interrupt.db 'select count(*) from v_run'
expect_value done interrupt.db 'select status from v_run'
expect_value ok interrupt.db 'pragma integrity_check'
equal 1 "$(($(value interrupt.db 'select count(*) from trial') > before))" 'trials were added'
run_ok run --resume latest --db interrupt.db
expect_err 'is complete: nothing is left to measure'

begin 'the second Ctrl-C does not wait'
start_slow "$slow" --db twice.db
interrupt INT "$parent"
kill -INT "$parent"
await gone "$worker"
finish_slow
expect_code 130
expect_value 1 twice.db "select count(*) from v_case where status = 'ok'"

begin 'Ctrl-C at a terminal reaches the whole group'
start_slow "$slow" --db group.db
interrupt INT "-$parent"
finish_slow
expect_code 130
expect_value 2 group.db "select count(*) from v_case where status = 'ok'"

begin 'SIGTERM is an interrupt too'
start_slow "$slow" --db term.db
interrupt TERM "$parent"
finish_slow
expect_code 130

begin 'a terminal that closes ends the run in order'
start_slow "$slow" --db hup.db
interrupt HUP "-$parent"
finish_slow
expect_code 130
expect_value interrupted hup.db 'select status from v_run'
expect_value 2 hup.db "select count(*) from v_case where status = 'ok'"

begin 'a run of which only the end is missing is resumed to the code of all its cases'
run_ok run "$source_folder/tests/cli/small.toml" --db end.db
sqlite3 end.db "update run set status = 'running', ended_at_ns = null"
run_ok run --resume latest --db end.db
expect_value done end.db 'select status from v_run'
sqlite3 end.db "update run set status = 'running', ended_at_ns = null;
  update case_run set status = 'failed', reason = 'by hand' where id = 1"
run run --resume latest --db end.db
expect_code 3

begin 'Ctrl-C ends a batch'
start_slow "$slow" "$source_folder/tests/cli/small.toml" --db batch.db
interrupt INT "$parent"
finish_slow
expect_code 130
expect_value 1 batch.db 'select count(*) from v_run'

begin 'SIGKILL of the parent leaves no worker and keeps what was committed'
start_slow "$slow" --db parent.db
kill -KILL "$parent"
await gone "$worker"
finish_slow
expect_value ok parent.db 'pragma integrity_check'
expect_value 1 parent.db "select count(*) from v_case where status = 'ok'"
run_ok run --resume latest --db parent.db
expect_value 3 parent.db "select count(*) from v_case where status = 'ok'"
expect_value 1 parent.db 'select count(*) from v_run'

begin 'a database that is deleted while it is measured into'
start_slow "$slow" --db deleted.db
rm deleted.db
finish_slow
expect_code 3
expect_err 'deleted or replaced while it was in use, and what was recorded is gone with it'
reject_err 'kept|resume'
missing deleted.db

begin 'resume keeps the scenario, whatever became of the file'
cp "$slow" mine.toml
start_slow mine.toml --db gone.db --only '[!f]*' --tag kept
kill -KILL "$parent"
finish_slow
rm mine.toml
run_ok run --resume tag:kept --db gone.db
expect_value 2 gone.db "select count(*) from v_case where status = 'ok'"

begin 'resume checks the machine again'
found=$("$haul" env --format csv | tr -d '\r' | sed -n 's/^,huge_pages,ok,//p')
if [ -n "$found" ]; then
  { cat "$slow"; printf '[checks]\nhuge_pages = { want = "%s", on_fail = "abort" }\n' "$found"; } >checked.toml
  start_slow checked.toml --db checked.db
  interrupt INT "$parent"
  kill -INT "$parent"
  await gone "$worker"
  finish_slow
  run_ok run --resume latest --db checked.db
  expect_value 2 checked.db "select count(*) from check_result where name = 'huge_pages'"
  run_ok query --saved checks --db checked.db
  equal 1 "$(grep -c '^huge_pages ' out)" 'rows of the check'
fi

begin 'a resume that is refused leaves the record as it was'
other=$([ "$found" = always ] && echo never || echo always)
printf '[checks]\nhuge_pages = { want = "%s", on_fail = "abort", on_unknown = "abort" }\n' "$other" |
  cat "$slow" - >refused.toml
run_fails 3 'nothing was measured: check huge_pages: ' run refused.toml --db refused.db
sqlite3 refused.db 'select * from run; select * from check_result' >before
run_fails 3 'check huge_pages: .*: the run was not resumed' run --resume latest --db refused.db
equal "$(cat before)" "$(sqlite3 refused.db 'select * from run; select * from check_result')" 'the record'
run_error 3 'run 1 failed: check huge_pages: ' show latest --db refused.db

begin 'resume of what is not there'
run_error 2 'no-such\.db' run --resume latest --db no-such.db
missing no-such.db
run_error 2 '.' run --resume run:ffffffff --db worker.db

begin 'an error counter that rises marks its case, after a worker was killed too'
cat >counted.toml <<EOF
[[fake.fault]]
kind = "crash"
call = "cuMemcpy*"
size_bytes = 98304
marker = "$scratch/crashed"
[[fake.fault]]
kind = "block"
call = "cuMemcpy*"
size_bytes = 131072
marker = "$scratch/damaged"
[[fake.counter]]
gpu = 1
field = 94
value = 3
when = "$scratch/damaged"
[[fake.counter]]
gpu = 1
field = 0
value = 63
when = "$scratch/damaged"
[[fake.counter]]
gpu = 1
field = 82
value = 61
EOF
scenario sizes 'trials = { min = 5, max = 8 }; settle_time = "off"; telemetry = "10ms"' \
  'swept | { numa = "local" } | { gpu = 1 } | ["64KiB", "96KiB", "112KiB", "128KiB", "144KiB"]'
HAUL_FAKE_FAULTS=$scratch/counted.toml run_says 3 'gpu1 counted PCIe replays during the case: 3' \
  run sizes.toml --db counted.db
expect_value 'crashed 98304' counted.db "select status || ' ' || size_bytes from v_case where status <> 'ok'"
counted='v_note n join v_case c using (case_run) where n.kind = '"'link_errors'"
expect_value '131072: 3 PCIe replays 1 Xid 63 errors' counted.db \
  "select c.size_bytes || ': ' || group_concat(cast(n.amount as int) || ' ' || n.what, ' ') as counted from $counted"
expect_value '3 1 63' counted.db "select max(pcie_replays) || ' ' || max(xid_count) || ' ' || max(xid) from v_telemetry where gpu = 1"
expect_value 61 counted.db 'select max(memory_temperature_c) from v_telemetry where gpu = 1'
expect_value 0 counted.db 'select count(nvlink_errors) from v_telemetry'
expect_value 'unavailable NVML has none' counted.db \
  "select state || ' ' || reason as text from v_fact where fact = 'error_counters' and gpu = 0"
expect_value 'unavailable: NVLink CRC errors of flits' counted.db \
  "select substr(value, 1, instr(value, ',') - 1) as text from v_fact where fact = 'error_counters' and gpu = 1"
run_ok explain --db counted.db
expect_out 'PCIe replays rose by 3 during 1 case'
run_ok explain -v --db counted.db
expect_out 'memory_errors .*no counter rose during a case \(.*unavailable: NVLink CRC errors'
expect_out 'Xid 63 errors rose by 1 during 1 case'

begin 'what fuzzes a database leaves no file behind, however it ends'
mkdir fuzzed
mkfifo held
made() { ls fuzzed/*/results.db >/dev/null 2>&1; }
for target in sql database; do
  seeds=("$source_folder/tests/fuzz/$target"/*)
  TMPDIR=fuzzed "$build_folder/tests/fuzz_$target" 0 "${seeds[0]}" held >out 2>err &
  pid=$!
  await made
  kill -KILL "$pid"
  await rmdir fuzzed 2>/dev/null
  mkdir fuzzed
done

finish
