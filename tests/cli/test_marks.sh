#!/bin/bash
# Who uses what: two runs at once, runs that are being measured, other programs on a GPU, and what of it
# stands beside numbers and above a diff.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
skip_emulated 'takes longer to start a run than it lasts: two do not overlap'

fake_driver h200x4 || exit 77

scenario base 'trials = { min = 8, max = 8 }; max_time = "10ms"; telemetry = "10ms"
[checks]; gpu_idle = { want = true, on_fail = "record" }' \
  'host_to_device | { numa = "local" } | { gpu = 1 } | ["1MiB", "2MiB", "4MiB"]'
sed 's/gpu = 1/gpu = 2/' base.toml >other.toml
# Its first case lasts until the test lets it go.
cat >hold.toml <<'EOF'
[[fake.fault]]
kind = "block"
call = "cuMemcpy*"
to = 1
marker = "inside"
while = "hold"
EOF
scenario local 'trials = { min = 8, max = 8 }; max_time = "10ms"' \
  'local | { gpu = 0 } | { gpu = 0 } | "1MiB" | pairs = "same"'

hold() { # NAME SCENARIO: a run in the background that measures until it is let go; $holder is its process
  rm -f inside
  touch hold
  HAUL_FAKE_FAULTS=hold.toml "$haul" run "$2" --db "$1.db" >"$1.out" 2>"$1.err" </dev/null &
  holder=$!
  await test -e inside
}
let_go() {
  rm hold
  wait "$holder"
}

begin 'a second run waits for a GPU, and says for whom'
hold held base.toml
run run base.toml --db second.db --wait 300ms
expect_one_error 3 "gpu1 is in use by haul, pid $holder of .* since .*: waited for 300 ms, nothing was measured; --wait DURATION"
missing second.db
# The holder ends when the second run has said that it waits, and not before.
{
  await grep -q 'waiting for up to 10 min' err
  rm hold
} &
run_ok run base.toml --db second.db -q
expect_err "gpu1 is in use by haul, pid $holder of .* \\(run:0[0-9a-f]{19}\\): waiting for up to 10 min"
equal 1 "$(grep -c 'waiting for up to' err)" 'lines of waiting'
await gone "$holder"
expect_value 0 second.db 'select count(*) from v_case where slowed_by is not null'
wait "$holder"

begin 'host memory and PCIe are shared by GPUs: another GPU waits for the host'
hold host base.toml
run_fails 3 "the host is in use by haul, pid $holder" run other.toml --db other.db --wait 0s
begin 'a run that stays on its GPU goes together with its kind, and waits for those that use the host'
run_fails 3 "the host is in use by haul, pid $holder" run local.toml --db other.db --wait 0s
kill -KILL "$holder"
{ wait "$holder"; } 2>/dev/null
begin 'locks end with their holder, however it ends'
run_ok run other.toml --db other.db --wait 0s
run_ok run local.toml --db other.db --wait 0s

begin '--share measures at once; the cases of both are marked'
hold shared base.toml
run_ok run base.toml --db share.db --share
expect_out "May be slowed: gpu1 shared with another haul run, pid $holder"
expect_value 3 share.db "select count(*) from v_case where slowed_by = 'gpu1 shared with another haul run, pid $holder'"
expect_value 3 share.db "select count(*) from v_run_case where slowed_by is not null"
let_go
expect_value 1 shared.db "select count(*) > 0 from v_case where slowed_by like 'gpu1 shared with another haul run, pid %'"

begin 'a run that is being measured is not resumed'
hold owned base.toml
run_error 3 "run:0[0-9a-f]{19} is being measured by haul, pid $holder of " run --resume latest --db owned.db
let_go
expect_value done owned.db 'select status from v_run'
expect_value 3 owned.db 'select count(*) from v_case'
equal 0 "$(find "$HAUL_LOCKS" -name 'run-*' | wc -l)" 'files of runs, of which one was killed'

begin 'a place for locks that cannot be made costs a warning, not the run'
HAUL_LOCKS=/proc/none run_ok run local.toml --db other.db
expect_err 'warning: cannot make the folder for locks, /proc/none.*two runs at once'

begin 'another program on the GPU is named, at its busiest'
sleep 1000 &
program=$!
cat >busy.toml <<EOF
[fake]
[[fake.process]]
gpu = 1
pid = $program
busy_percent = 98
when = "$scratch/runs"
[[fake.process]]
gpu = 1
pid = 1
busy_percent = 0
[[fake.fault]]
kind = "block"
call = "cuMemcpy*"
to = 1
milliseconds = 200
EOF
export HAUL_FAKE_FAULTS=busy.toml
run_ok run base.toml --db busy.db --tag quiet
expect_value 0 busy.db 'select count(*) from v_case where slowed_by is not null'
touch runs
run_ok run base.toml --db busy.db --tag busy
expect_out "May be slowed: gpu1 in use by pid $program \\(sleep\\), 98 % busy"
expect_value 3 busy.db "select count(*) from v_run_case where tag = 'busy' and slowed_by like 'gpu1 in use by pid $program (sleep), 98 % busy'"
expect_value 2 busy.db 'select max(other_processes) from v_telemetry'
run_ok run other.toml --db busy.db --tag elsewhere
expect_value 0 busy.db "select count(*) from v_case where tag = 'elsewhere' and slowed_by is not null"

begin 'diff says what was not as it should be'
run_ok diff tag:quiet tag:busy --db busy.db
expect_out '^B: gpu1 was in use when the run began: 2 compute processes, 98 % busy'
expect_out "^B: 3 results may be slowed: gpu1 in use by pid $program \\(sleep\\)"
expect_out '^No recorded fact of the machine differs between A and B, but see the conditions above'
run_ok diff tag:quiet tag:busy --db busy.db --json
expect_out '"conditions"'
run_ok report - tag:busy --against tag:quiet --db busy.db
expect_out "<li class=.warn.>B: 3 results may be slowed: gpu1 in use by pid $program"
kill "$program"

begin 'what a container hides is the worker and the process beside it, and no more'
printf '[[fake.process]]\ngpu = 1\npid = %d\nbusy_percent = 98\n' 4190001 4190002 | sed '1i[fake]' >hidden.toml
printf '[[fake.fault]]\nkind = "block"\ncall = "cuMemcpy*"\nto = 1\nmilliseconds = 100\n' >>hidden.toml
scenario beside 'trials = { min = 2, max = 2 }' 'own | { gpu = 0 } | { gpu = 1 } | 4096'
HAUL_FAKE_FAULTS=hidden.toml run_ok run beside.toml --db hidden.db
expect_value 1 hidden.db 'select count(*) from v_case where slowed_by is not null'
HAUL_FAKE_FAULTS=hidden.toml run_ok run beside.toml --db hidden.db --set own.from.process=1
expect_value 0 hidden.db 'select count(*) from v_case where run = 2 and slowed_by is not null'

begin 'throttling is told with its reason and share; idle clocks are not throttling'
printf '[fake]\nthrottle_reasons = 65\n[[fake.fault]]\nkind = "block"\ncall = "cuMemcpy*"\nto = 1\nmilliseconds = 100\n' >hot.toml
HAUL_FAKE_FAULTS=hot.toml run_ok run base.toml --db hot.db
expect_value 3 hot.db "select count(*) from v_case where slowed_by = 'gpu1 throttled by hw_thermal for 100 % of the time'"
printf '[fake]\nthrottle_reasons = 5\n' >capped.toml # idle, and a power cap that costs no clocks
HAUL_FAKE_FAULTS=capped.toml run run base.toml --db capped.db
expect_value 0 capped.db 'select count(*) from v_case where slowed_by is not null'

finish
