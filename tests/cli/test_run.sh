#!/usr/bin/env bash
# Measuring: what is shown, what is recorded, and that both are the same.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
small=$source_folder/tests/cli/small.toml

begin 'a run is shown and recorded'
run_ok run "$small" --db r.db --tag first
expect_out '(^| )host'
expect_err '3 ok in [0-9.]+ m?s; run 1 of small is in r\.db'
reject_err 'error|warning: case'
expect_value 3 r.db "select count(*) from v_case where status = 'ok'"
expect_value done r.db 'select status from v_run'
expect_value first r.db 'select tag from v_run'
expect_value 1 r.db "select count(*) from v_run where command_line like 'haul run %small.toml --db r.db --tag first'"
expect_value ok r.db 'pragma integrity_check'

begin 'trials reproduce every number of the table'
run query --db r.db --format csv "
  with t as (
    select case_run, elapsed_ns * 1.0 / iterations as ns,
           row_number() over (partition by case_run order by elapsed_ns * 1.0 / iterations) as i,
           count(*) over (partition by case_run) as n
    from v_trial where phase = 'measure' and status = 'ok'),
  m as (select case_run, avg(ns) as median, max(n) as n from t
        where i in ((n + 1) / 2, (n + 2) / 2) group by case_run)
  select count(*) from v_case c join m using (case_run)
  where c.n = m.n and abs(c.gbps - c.payload_bytes / m.median) < 1e-9 * c.gbps"
expect_code 0
equal 3 "$(tr -d '\r' <"$scratch/out" | sed -n 2p)" 'cases whose numbers follow from their trials'

if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
  begin 'the line on a terminal says what is left in whole seconds, or nothing'
  script -qec "'$haul' run '$small' --db terminal.db" /dev/null </dev/null >out 2>err
  code=$?
  expect_code 0
  expect_out '\[2/3\] [^[]*[0-9.]+ GB/s  host/'
  expect_out '\[2/3\]'
  if grep -Eq '\[0/3\][^[]*finishing' out; then bad 'it finishes before it begins'; else good; fi
  if grep -Eq '[0-9] (ns|us|ms) left' out; then bad 'less than a second is counted'; else good; fi
fi

begin 'formats'
run_ok run "$small" --db r.db --json --only host --set measure.trials.max=5
if command -v python3 >/dev/null; then
  equal 3 "$(python3 -c 'import json, sys; print(len(json.load(sys.stdin)["rows"]))' <"$scratch/out")" 'rows of JSON'
fi
mkdir batch
cp "$small" batch/a.toml
cp "$small" batch/b.toml
run_ok run batch --db r.db --format csv -q
equal '' "$(cat "$scratch/err")" 'stderr under -q'
equal 7 "$(grep -c '' "$scratch/out")" 'lines of CSV of two runs'
run_ok run batch --db r.db --format jsonl -v
equal 6 "$(grep -c '^{' "$scratch/out")" 'lines of JSON of two runs'
expect_err '\[1/3\] host/.*: ok, [0-9.e+]+ GB/s, [0-9]+ trials'
expect_err 'a\.toml \(1 of 2\)'

begin 'only and set'
run_ok run "$small" --db r.db --only '*/64KiB*' -q --format csv
equal 2 "$(grep -c '' "$scratch/out")" 'lines of CSV'

begin 'processes'
run_ok run "$small" --db r.db --processes 2 --tag two
expect_err '^haul: 6 ok \(3 cases x 2 processes\) in '
expect_value 6 r.db "select count(*) from v_case where tag = 'two'"
expect_value 2 r.db "select count(distinct process) from v_case where tag = 'two'"

begin 'pause between processes'
before=$SECONDS
run_ok run "$small" --db pause.db --processes 2 --pause 1s -q
if [ $((SECONDS - before)) -ge 1 ]; then good; else bad 'no pause of 1 s'; fi
expect_value 1000000000 pause.db 'select pause_ns from v_run'
run_error 2 '^haul: error: --processes needs a whole number from 1 to 1000, not "0"' run "$small" --processes 0
run_ok plan "$small" --processes 3 --pause 10min
expect_out 'for 3 processes with pauses of 10 min'
expect_out ' 20 min'
equal 1 "$("$haul" plan "$small" --json --processes 3 --set measure.pause=10min |
  grep -c '"pause_ns":600000000000')" 'plans with the pause'
run_fails 2 'duration such as 10min' run "$small" --pause 10
run_fails 2 'resume needs RUN, and --db is an option' run --resume --db pause.db
"$haul" run "$small" --db ./ctrl.db --processes 2 --pause 60min -v 2>err >out &
pid=$!
await grep -q '\[3/6\]' err
kill -TERM $pid
wait $pid
equal 130 $? 'exit code of a run that was interrupted in its pause'
expect_err 'results so far are kept$'
expect_err '^haul: next: haul run --resume run:1 --db ./ctrl.db$'
expect_value 3 ctrl.db 'select count(*) from v_case'
expect_value interrupted ctrl.db 'select status from v_run'
COLUMNS=80 run_ok list runs --db ctrl.db
expect_out '^run +started_at +scenario +status +cases +ok +'
expect_out ' interrupted +3 +3 of 6 '
run_ok show --db ctrl.db
expect_out '^interrupted \(stopped by a signal, such as that of Ctrl-C\): 3 of 6 cases measured; haul run --resume run:1 --db ctrl\.db$'
run_ok show --db ctrl.db --json
expect_out '"run_status":"interrupted"'
run_ok list runs --db ctrl.db --csv
expect_out '^1,.*,interrupted,.*,"?stopped by a signal, such as that of Ctrl-C"?'
run_error 2 'budget needs --decide A\. To limit the time of a run: --set measure\.budget=TIME' run "$small" --budget 1s
run_ok query --saved not-measured --db ctrl.db --csv
expect_out '^not measured,3,.*in 1 of 2 processes: stopped by a signal, such as that of Ctrl-C'
run_ok run --resume latest --db ctrl.db -q
run_ok show -v --db ctrl.db
reject_out '^interrupted'
expect_err '^measuring +[0-9.]+'
expect_value 6 ctrl.db 'select count(*) from v_case'

begin 'the result of an earlier run is shown again'
for option in --verbose --sum --csv; do
  run_ok run "$small" --db again.db "$option"
  cp out first
  "$haul" run "$small" --db again.db --only '*/64KiB*' -q >/dev/null 2>&1
  run_ok show --result previous --db again.db "$option"
  if [ "$option" != --csv ]; then
    expect_out '^run [135] of small, [0-9]{4}-[0-9-]+ [0-9:]+ UTC, on .'
    sed -i 1,2d out
  fi
  if cmp -s out first; then good; else bad "haul show --result $option has another result than haul run"; fi
done
run_ok show --format md --db again.db
expect_out '^### host$'
expect_out '^\| path \|'
reject_out '\[\[|case_key'
run_ok show --scenario previous --db again.db
expect_err 'its result: haul show run:[0-9a-f]{20} --db again.db$'
# nodes of a fleet start runs in one millisecond: the name that is printed is of one
cp again.db twin.db
sqlite3 twin.db "update run set uuid = substr((select uuid from run where id = 1), 1, 16) || substr(uuid, 17) where id = 2"
for run in 1 2; do
  run_ok show --scenario $run --db twin.db
  read -r -a words <<<"$(sed -n 's/.*its result: haul //p' err)"
  run_ok "${words[@]}"
  expect_out "^run $run of small, "
done
run_ok diff --db again.db
expect_err 'comparing run:5 \(A\) with latest \(B\)'

begin 'runs of two scenarios are not compared, and the default finds the run before of the same one'
sed 's/name = "small"/name = "other"/' "$small" >other.toml
run_ok run other.toml --set transfer.size=8KiB -q --db again.db
run_error 3 'nothing to compare: run 7 is the only run of other; measure again, or name two runs ' diff --db again.db
sed 's/name = "small"/name = "elsewhere"/; s/numa = 0/numa = 77/' "$small" >elsewhere.toml
cp again.db alone.db
"$haul" run elsewhere.toml -q --db alone.db >"$scratch/null" 2>&1 || true
run_error 3 'nothing to compare: run 7 is the only run of other; ' diff --db alone.db # nor with itself
"$haul" check run:5 --fail-on broken --db again.db --only '*/64KiB*' >out 2>err
expect_err 'comparing with run:6 \(B\), the latest of small; run 7 is of other$'
run_error 3 'nothing to compare: no run of small is newer than run 6 of A, and the latest, run 7, is of other$' \
  check run:6 --db again.db
run_ok run "$small" -q --db again.db
run_ok diff --db again.db
expect_err 'comparing run:6 \(A\) with latest \(B\)'
"$haul" check run:6 --fail-on broken --db again.db --only '*/64KiB*' >out 2>err
reject_err 'comparing'

begin 'SQL that compares a run with a name of runs'
run_ok query "select 1 from v_run where run = 'tag:before'" --db again.db
expect_err '^haul: no rows: in SQL a run is a number; write run = :run and add --param run=tag:before$'
run_ok query 'select 1 from v_run where run = :a' --param a=tag:before --db again.db
expect_err '^haul: no rows: only :run takes names of runs, and :a is the text "tag:before"; write run = :run and add --param run=tag:before$'
run_ok query "select 'latest' from v_run limit 1" --db again.db
reject_err 'no rows'

begin 'what is not of a result'
run_fails 2 'are of the result' show --scenario latest --sum --db again.db
run_fails 2 'not for --format csv' show --result latest --sum --csv --db again.db
run_error 2 'names no run' show --result quick --db again.db

begin 'dry run'
run_ok run "$small" --db dry.db --dry-run
expect_out 'host'
missing dry.db

begin 'the default database'
run_ok run "$small"
exists "$XDG_DATA_HOME/haul/results.db"
HAUL_DB=$scratch/env.db run_ok run "$small"
exists env.db
unset XDG_DATA_HOME
run_ok run "$small"
exists "$HOME/.local/share/haul/results.db"
HOME='' run_error 2 'HOME' run "$small"
export XDG_DATA_HOME=$scratch/data

begin 'lists and queries'
run_ok list runs --db r.db
expect_out small
run_ok list runs --db r.db --tag 'f*' --format csv
expect_out '^run,started_at,duration_s,scenario,tag,status,.*,ok,not_ok,'
expect_out '^[0-9]+,[-0-9]+T[0-9]{2}:[0-9]{2}:[0-9]{2}Z,[0-9.]+,small,first,'
equal 2 "$(wc -l <"$scratch/out")" 'lines of the runs with such a tag'
run_ok list runs --db r.db --where tag=first,two --limit 1 --format csv
equal 2 "$(wc -l <"$scratch/out")" 'lines of at most one run'
run_error 2 '--limit needs a whole number' list runs --db r.db --limit many
for limit in 0 -2 99999999999999999999; do
  run_error 2 '--limit needs a whole number' list runs --db r.db --limit=$limit
done
run_fails 2 'list runs' list cases --db r.db --tag first
run_ok list cases --db r.db --run tag:two
expect_out host
run_ok query --db r.db --saved run-table --param run=tag:first
run_ok query --db r.db --saved spread --param run=tag:first
expect_err '^haul: spread has no rows: it needs a run of two or more processes \(haul run --processes 5\)$'
run_ok query --db r.db --saved trials --param name=nothing
expect_err '^haul: trials has no rows: nothing matches name=nothing; haul list cases lists names$'
run_ok query --db r.db "select * from v_result where size_bytes = '256MiB'"
expect_err "^haul: no rows: in SQL a size is a number of bytes; '256MiB' is 268435456\$"
run_ok query --db r.db --saved trials --format csv
expect_out '^case_name,process,trial,phase,status,visit,start_ns,'
run query --db r.db --saved no-such-query
expect_code 2
run_ok query --db r.db 'select 1 as one' --json
expect_out '"one": ?1'
run_error 2 'syntax' query --db r.db 'selec 1'
run query --db r.db 'delete from trial'
expect_code 2
run_ok query --db r.db 'select :x as x' --param x=7 --format csv
expect_out '^7'
run query --db r.db 'select :x as x'
expect_code 2
equal '1' "$(echo 'select 1 as one' | "$haul" query --db r.db --format csv | tr -d '\r' | sed -n 2p)" 'SQL on stdin'
run query --db r.db --time-limit 200ms 'with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n'
expect_code 3

begin 'a reader that goes away'
"$haul" show --result latest --db r.db 2>err | true
equal 0 "${PIPESTATUS[0]}" 'exit code'
equal '' "$(cat err)" stderr
"$haul" query --db r.db 'with recursive n(i) as (select 1 union all select i + 1 from n limit 1000000) select i from n' --format csv 2>err | head -n 1 >/dev/null
equal 0 "${PIPESTATUS[0]}" 'exit code'
equal '' "$(cat err)" stderr
"$haul" run "$small" --db r.db -q 2>err | head -n 1 >/dev/null
equal 0 "${PIPESTATUS[0]}" 'exit code'

begin 'checks'
found=$("$haul" env --format csv | tr -d '\r' | sed -n 's/^,huge_pages,ok,//p')
want=always
[ "$found" != always ] || want=never
check() { # ON_FAIL
  { cat "$small"; printf '[checks]\nhuge_pages = { want = "%s", on_fail = "%s" }\n' $want "$1"; } >"$1.toml"
  run run "$1.toml" --db c.db --tag "$1"
}
if [ -n "$found" ]; then
  check record
  expect_code 0
  reject_err huge_pages
  check warn
  expect_code 0
  expect_err "warning: check huge_pages: found $found, wanted $want"
  check skip
  expect_code 3
  expect_out "^Skipped +3 of 3 cases: check huge_pages: found $found"
  expect_value 3 c.db "select count(*) from v_case where tag = 'skip' and status = 'skipped' and reason like 'check huge_pages%'"
  check abort
  expect_one_error 3 "nothing was measured: check huge_pages: found $found"
  expect_value failed c.db "select status from v_run where tag = 'abort'"
  run_error 3 "run 4 failed: check huge_pages: found $found, wanted $want\$" show latest --db c.db
  run_error 3 "nothing to compare: run 4 failed: check huge_pages: found $found" diff run:2 latest --db c.db
  expect_value 4 c.db "select count(*) from check_result where name = 'huge_pages' and status = 'failed'"
  for then in skip abort; do
    for as in plan 'run --dry-run'; do
      # shellcheck disable=SC2086
      run_says 3 "^  huge_pages: wanted $want, found $found; on failure $then, if unknown" $as $then.toml -v
      [ $then = abort ] || expect_out "^ +3  check huge_pages: found $found, wanted $want$"
      [ $then = abort ] || expect_out '^3 cases, none measured$'
      [ $then = skip ] || expect_out "^nothing to measure: the run would abort: check huge_pages: found $found, wanted $want$"
    done
  done
  run_ok plan warn.toml skip.toml
  expect_err 'skip.toml has nothing to measure here: check huge_pages: found'
  run plan warn.toml abort.toml
  expect_code 3
fi

begin 'a wanted check without an answer is said, and acted on'
unknown() { # NAME CHECK
  { cat "$small"; printf '[checks]\n%s\n' "$2"; } >"$1.toml"
  run run "$1.toml" --db unknown.db --tag "$1"
}
if fake_driver no-gpu; then
  unknown note 'governor = { want = "performance" }'
  expect_code 0
  expect_err '^haul: not checked: governor: '
  unknown default 'governor = { want = "performance", on_fail = "abort" }'
  expect_code 0
  expect_err 'warning: check governor: unknown: .*; wanted performance'
  unknown abort 'governor = { want = "performance", on_unknown = "abort" }'
  expect_one_error 3 'nothing was measured: check governor: unknown: '
  run_says 3 '^nothing to measure: the run would abort: check governor: unknown: ' plan abort.toml
  reject_out '^Skipped'
  unknown skip 'governor = { want = "performance", on_unknown = "skip" }'
  expect_code 3
  expect_out '^Skipped +3 of 3 cases: check governor: unknown'
  expect_value abort unknown.db "select on_unknown from check_result where status = 'unavailable' and run = 3"
  unset HAUL_FAKE_MACHINE LD_LIBRARY_PATH
fi

begin 'the list of runs counts results against those planned'
run_ok run "$small" --db n.db --processes 2 -q
run list runs --db n.db --format csv
expect_out '^run,started_at,duration_s,scenario,tag,status,cases,skipped,processes,planned,ok,not_ok,'
expect_out ',done,3,0,2,6,6,0,'
for i in 2 3 4; do run run "$small" --db n.db -q --set "measure.trials.max=$((i + 3))"; done

begin 'a name that fits many runs shows a few of them, shortly'
run_error 2 'there are: run 4 \(run:[0-9a-f]{20}, small, .*, run 2 \(.*\), \.\.\. \(see haul list runs\)$' list cases --db n.db --run 0

begin 'the quick scenario, as on any machine'
some=()
! emulated || some=(--only '*:pageable*,host_to_device') # an emulator gives no huge pages
run_ok run quick --db q.db "${some[@]}"
expect_out 'GB/s|gbps'
expect_value ok q.db 'pragma integrity_check'
if [ ! -e /dev/nvidiactl ]; then
  expect_out '^Skipped .*NVIDIA driver'
  expect_err 'next: tests/fake_cuda/README.md: try haul without a GPU'
fi

begin 'a run of very many cases is shown by its blocks'
run_ok run "$source_folder/tests/cli/small.toml" --db many.db --set measure.max_time=1ms \
  --set 'host.size={ from = 4096, to = 36112, step = 16 }' --set measure.min_trial=1us
expect_out '^host +2002 +2002 +0 +0 '
expect_err 'of 2002 cases the blocks are shown; all of them: haul query --saved run-result --param run=run:'
equal 2 "$(wc -l <"$scratch/out")" 'lines'
run_ok query --saved run-result --db many.db --format csv
equal 2003 "$(wc -l <"$scratch/out")" 'lines of all cases'

finish
