#!/usr/bin/env bash
# A kill between a result and its commit, other locks, little stack, no /dev.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"

begin 'a case is said to be ok once it is recorded'
scenario short 'processes = 1; max_time = "1ms"; trials = { min = 2, max = 2 }' \
  'host | { numa = 0, memory = "pageable" } | { numa = 0, memory = "pageable" } | { from = "64B", to = "64KiB", step = "64B" } | method = "cpu"'
for attempt in 1 2 3; do
  mkfifo said
  "$haul" run short.toml -v --db "said$attempt.db" >"$scratch/null" 2>said &
  runner=$!
  while read -r line; do
    case $line in *': ok'*) break ;; esac
  done <said
  { kill -KILL $runner; wait $runner; } 2>"$scratch/null"
  rm said
  expect_value 1 "said$attempt.db" 'select count(*) > 0 from case_run'
done

begin 'two processes that resume one run with different locks'
sed 's/^processes = 1$/processes = 100/; s/to = "64KiB", step = "64B"/to = "64B", step = "64B"/' short.toml >long_short.toml
"$haul" run long_short.toml --db twice.db >"$scratch/null" 2>&1 &
runner=$!
# shellcheck disable=SC2016
await eval '[ "$(sqlite3 twice.db "select count(*) > 3 from case_run" 2>"$scratch/null")" = 1 ]'
{ kill -KILL $runner; wait $runner; } 2>"$scratch/null"
for locks in one two; do
  mkdir "locks_$locks"
  { HAUL_LOCKS=$scratch/locks_$locks "$haul" run --resume latest --db twice.db >"$scratch/null" 2>"err_$locks"
    echo $? >"code_$locks"; } &
done
wait
if [ "$(cat code_one code_two | sort | tr '\n' ' ')" = '0 0 ' ]; then
  good # one began when the other had ended
else
  equal '0 3 ' "$(cat code_one code_two | sort | tr '\n' ' ')" 'exit codes'
  cat err_one err_two >err
  expect_err 'another haul measures this run at the same time, with other locks|is complete'
  reject_err 'UNIQUE'
fi
expect_value '100 100 done' twice.db \
  "select count(*) || ' ' || count(distinct process) || ' ' || (select status from run) from case_run"

begin 'two runs into one database with different locks'
for locks in one two; do
  { HAUL_LOCKS=$scratch/locks_$locks "$haul" run long_short.toml --db both.db >"$scratch/null" 2>&1
    echo $? >"code_$locks"; } &
done
wait
equal '0 0' "$(cat code_one code_two | xargs)" 'exit codes'
expect_value '200 200 2' both.db "select count(*) || ' ' || count(distinct process) || ' ' || (select sum(status = 'done') from run) from case_run"

begin 'a run that is deleted with other locks while it is measured'
sed 's/^processes = 100$/processes = 1000/' long_short.toml >longer.toml
HAUL_LOCKS=$scratch/locks_one "$haul" run longer.toml --db deleted.db >out 2>err &
runner=$!
# shellcheck disable=SC2016
await eval '[ "$(sqlite3 deleted.db "select count(*) > 3 from case_run" 2>"$scratch/null")" = 1 ]'
HAUL_LOCKS=$scratch/locks_two "$haul" delete latest --yes --db deleted.db >"$scratch/null" 2>&1
equal 0 $? 'exit code of the deletion'
wait $runner
code=$?
expect_one_error 3 'was deleted while it was measured, by another haul with other locks'
reject_err 'kept'
expect_value '0 ok' deleted.db "select count(*) || ' ' || (select * from pragma_integrity_check) from run"

begin 'a small stack'
sed 's/step = "64B"/factor = 32/' short.toml >few.toml
( ulimit -s 64 && exec "$haul" run few.toml --db stack.db ) >out 2>err </dev/null
code=$?
expect_one_error 3 'the stack is limited to 64 KiB, and haul needs 1024 KiB: raise the limit with ulimit -s'
( ulimit -Ss 64 && exec "$haul" run few.toml --db stack.db ) >out 2>err </dev/null
code=$?
expect_code 0

begin 'no /dev'
if unshare -m mount -t tmpfs none /dev 2>"$scratch/null"; then
  place=$(mktemp -d -p /tmp) # TMPDIR may be below /dev
  cp few.toml "$place/"
  # shellcheck disable=SC2016
  HAUL_LOCKS=$place TMPDIR=$place unshare -m bash -c 'mount -t tmpfs none /dev && cd "$2" &&
    exec "$1" run few.toml --db dev.db' - "$haul" "$place" >out 2>err <&-
  code=$?
  rm -rf -- "$place"
  expect_code 0
  reject_err 'error'
else
  echo 'skipped in part: no file system can be mounted'
fi

finish
