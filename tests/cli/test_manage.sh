#!/usr/bin/env bash
# Runs after they were recorded: shown, tagged, deleted.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
small=$source_folder/tests/cli/small.toml
export HAUL_LOCKS=$scratch/locks
mkdir "$HAUL_LOCKS"

run_ok run "$small" --db a.db --tag first
run_ok run "$small" --db a.db --only 'host/*/4KiB'
run_ok run "$small" --db a.db --set transfer.size=8KiB

begin 'the scenario of a run'
run_ok show --scenario run:1 --db a.db
if cmp -s out "$small"; then good; else bad 'not the file as it was'; fi
expect_err 'run 1 \(run:[0-9a-f]{20}\), 20.*: haul run .*small.toml --db a.db --tag first$'
run_ok show --scenario 1 --db a.db
if cmp -s out "$small"; then good; else bad 'not the file of run 1'; fi
run_ok show --scenario latest --db a.db
expect_out 'size = "8KiB"'
expect_err 'shown with its includes and --set applied'
cp out again.toml
run_ok validate again.toml
run_error 2 'there is no run "99"|names no run' show run:99 --db a.db
run_error 2 'no shipped scenario or run is called "nothing". haul list scenarios .* haul list runs .* tag:NAME$' \
  show nothing --db a.db
run_ok show latest --db a.db
cp out latest
run_ok show --db a.db
equal "$(cat latest)" "$(cat out)" 'the default is the latest run'
run_error 2 'there is no baseline "x"|no run has the tag' show tag:x --db a.db
run_error 2 'no results at nosuch.db' show run:1 --db nosuch.db
missing nosuch.db

begin 'tags'
run_ok tag run:1,run:2 night --db a.db
expect_err '2 runs have the tag night now, in place of first: tag:night selects them$'
run_ok tag run:1 night --db a.db
expect_err 'run 1 has the tag night now: '
expect_value 2 a.db "select count(*) from run where tag = 'night'"
run_ok tag latest --clear --db a.db
expect_err 'run 3 has no tag now$'
run_ok tag run:2 --clear --db a.db
expect_err 'run 2 has no tag now, before: night$'
expect_value 1 a.db "select count(*) from run where tag = 'night'"
run_fails 2 'missing argument: haul tag RUN NAME' tag latest --db a.db
run_fails 2 'cannot be empty or contain a comma' tag latest a,b --db a.db
run_fails 2 'not both' tag latest a --clear --db a.db
run_error 2 'no results at nosuch.db' tag latest x --db nosuch.db
missing nosuch.db

begin 'a list of runs says how many of its results a run has'
cp a.db part.db
tag=a-long-tag-of-the-run-before-the-upgrade-of-the-driver-and-the-firmware
sqlite3 part.db "update run set tag = '$tag' where id = 2; update run set status = 'interrupted' where id = 1;
  delete from case_run where id = (select min(id) from case_run where run = 1)"
part=$(sqlite3 part.db "select ok || ' of ' || planned from v_run where run = 1")
COLUMNS=80 run_ok list runs --db part.db
expect_out "^ +1 .* interrupted .* $part\$"
expect_out '^ +2 .* a-long-tag-of-the-.* done .* [0-9]+$'
run_ok list runs --db part.db --format csv
expect_out "^1,.*,${part#* of },${part% of *},0,"
run_ok list runs --db part.db --tag 'b*'
equal 'no runs with the tag b*' "$(cat out)" 'without a run'

begin 'deletion is asked for'
cp a.db all.db
run_error 2 '1 run would be deleted for good: confirm with --yes' delete run:2 --db a.db
expect_value 3 a.db 'select count(*) from run'
run_ok baseline set good run:1 --db a.db
COLUMNS=60 run_ok baseline list --db a.db
expect_out '^good +1 '
run_error 2 'run 1 is in the baseline good' delete run:1 run:2 --yes --db a.db
expect_value 3 a.db 'select count(*) from run'
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
  begin 'a message is as wide as the terminal, and one line elsewhere'
  run_fails 2 'the folder .*/nowhere for a.db does not exist: create it, or name another database with --db$' list --db "$PWD/nowhere/a.db"
  script -qec "'$haul' list --db '$PWD/nowhere/a.db'" /dev/null >out 2>&1 # of 80 columns
  expect_out '^      .*name another database'
  equal '' "$(grep -v -e "$PWD" out | grep -E '.{81,}')" 'longer lines'
  long=$(printf '%080d' 0).db
  script -qec "'$haul' run '$small' --db $long" /dev/null >out 2>&1 # a command is not broken
  expect_out "^haul: next: haul explain --db $long.\$"

  echo n | script -qec "'$haul' delete run:2 --db a.db" /dev/null >out 2>&1
  expect_out 'run 2 of small, 20.*: 1 result.$'
  expect_out 'nothing was deleted'
  expect_value 3 a.db 'select count(*) from run'
fi

begin 'deletion leaves what others have, and nothing else'
run_ok delete run:2 latest --yes --db a.db
expect_err 'deleted 2 runs from a.db'
expect_value 1 a.db 'select count(*) from run'
expect_value 3 a.db 'select count(*) from case_run'
expect_value 3 a.db 'select count(*) from bench_case'
expect_value 0 a.db 'select count(*) from trial where case_run not in (select id from case_run)'
expect_value 1 a.db 'select count(*) from scenario'
expect_value ok a.db 'select integrity_check from pragma_integrity_check'
expect_value 0 a.db 'select count(*) from pragma_foreign_key_check'
run_ok delete run:1 --yes --force --db a.db
for table in run case_run trial flow_run flow_trial bench_case flow plan_case plan_alias process telemetry \
  check_result scenario environment environment_fact device link baseline; do
  expect_value 0 a.db "select count(*) from $table"
done
run_error 2 'no latest run in ./a.db; there are none: "haul run" makes some$' delete latest --yes --db a.db

begin 'a number is not given twice, and what was deleted is named'
run_ok run "$small" --db a.db --tag again
expect_value 4 a.db 'select max(id) from run'
run_ok delete latest --yes --db a.db
expect_err 'run 4 \(run:[0-9a-f]{20}, small, tag again\) is deleted'
run_ok run "$small" --db a.db
expect_value 5 a.db 'select max(id) from run'
run_ok delete latest --yes --db a.db

begin 'a deleted run that is merged comes back'
run_ok merge a.db all.db
expect_value 3 a.db 'select count(*) from run'
expect_value 5 a.db 'select count(*) from case_run'
expect_value 6 a.db 'select min(id) from run'

begin 'a run that is being measured is refused'
"$haul" run "$small" --db a.db --set measure.max_time=60s --set measure.min_trial=500ms --set measure.trials.max=50 \
  >/dev/null 2>&1 &
pid=$!
# shellcheck disable=SC2317
is_running() { [ "$(value a.db "select count(*) from run where status = 'running'")" = 1 ]; }
if await is_running; then
  run_error 2 "nothing was deleted: .*$pid" delete latest --yes --db a.db
  run_ok report going.html --db a.db
  expect_err 'run [0-9]+ has not ended \(it is being measured, or was killed\): [0-9]+ results so far'
  run_ok list runs --db a.db
  reject_err killed
  cp a.db copy.db
  run_ok list runs --db copy.db
  reject_err killed
fi
kill -9 "$pid"
wait "$pid" 2>/dev/null
await gone "$pid"
run_ok list runs --db a.db
expect_err '^haul: run [0-9]+: haul was killed, or measures it elsewhere with other locks .*\. If it was killed, haul run --resume run:[0-9]+ --db a.db measures'
run_ok list runs --db a.db --csv
equal 1 "$(grep -c ',running,.*"haul was killed, or measures it elsewhere"' out)" 'runs that were killed'
expect_value running a.db 'select status from run order by id desc limit 1'
run_ok show --result latest --db a.db
expect_err '^haul: run [0-9]+: haul was killed, or measures it elsewhere'
run_ok show --result previous --db a.db
reject_err killed
run_ok report killed.html --db a.db
expect_err 'run [0-9]+ has not ended \(haul was killed, or measures it elsewhere with other locks\): [0-9]+ results so far'
run_ok delete latest --yes --db a.db
expect_value 3 a.db 'select count(*) from run'

finish
