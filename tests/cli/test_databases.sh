#!/usr/bin/env bash
# Whatever lies where the database should be: one clear error, and nothing is lost.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
small=$source_folder/tests/cli/small.toml

# Neither a run nor a query gets anywhere, both say so in one error, and the file stays as it was.
refused() { # FILE REGEX EXIT-CODE
  cp -- "$1" before
  run run "$small" --db "$1"
  expect_one_error "$3" "$2"
  run query 'select 1' --db "$1"
  expect_code "$3"
  expect_err "$2"
  if cmp -s -- "$1" before; then good; else bad "$1 was changed"; fi
}

begin 'not a database'
echo 'These are my notes, not a database, and they are mine.' >notes.db
refused notes.db 'notes\.db' 2
head -c 20000 /dev/urandom >random.db
refused random.db 'random\.db' 2

begin 'a folder'
mkdir folder.db
run_error 2 'folder\.db' run "$small" --db folder.db

begin 'a path below a file'
run_error 3 'notes\.db' run "$small" --db notes.db/results.db

begin 'a folder that cannot be written'
run_error 2 '/proc/haul' run "$small" --db /proc/haul/results.db
run_error 2 'the folder new/folder for x\.db does not exist: create it, or name another' run "$small" --db new/folder/x.db
run_fails 2 'the folder other for y\.db does not exist' merge other/y.db r.db
missing new
missing other
run run "$small" --only nosuch
reject_err 'created the folder'
missing "$XDG_DATA_HOME/haul"
XDG_DATA_HOME=/proc/none run run "$small"
expect_one_error 2 'cannot create the directory /proc/none'
run_ok run "$small"
expect_err "^haul: created the folder $XDG_DATA_HOME/haul for results\.db$"
mkdir -p new/folder
for db in new/folder/x.db one_more.db; do
  run_ok run "$small" --db "$db"
  reject_err 'does not exist'
done
if [ "$(id -u)" -ne 0 ]; then
  mkdir locked
  chmod 555 locked
  run_error 3 'locked' run "$small" --db locked/results.db
  run run "$small" --db r.db
  chmod 000 r.db
  run_fails 3 'ermission denied' query 'select 1' --db r.db
  rm -f r.db
fi

begin 'no database yet'
run_error 2 'no-such\.db' query 'select 1' --db no-such.db
run_error 2 'no-such\.db' list runs --db no-such.db
missing no-such.db

begin "another program's database"
sqlite3 other.db 'create table mine(x); insert into mine values (42)'
refused other.db 'other\.db' 2
equal 42 "$(sqlite3 other.db 'select x from mine')" 'its data'

begin 'a newer schema'
run_ok run "$small" --db r.db
cp r.db newer.db
sqlite3 newer.db 'pragma user_version = 9000000'
refused newer.db 'newer' 3

begin 'a database that is not what its version says'
run_ok run "$small" --db altered.db
sqlite3 altered.db 'alter table run rename column repeats to repeated; drop view v_flow'
run_error 2 'altered\.db: it has no column repeats, which its version .*: it was not made by a released haul' \
  check --expect --db altered.db
run_error 2 'altered\.db: it has no column repeats' query --saved run-flows --db altered.db
expect_err 'altered\.db holds more than haul.s schema \(.*table run \(changed\), view v_flow \(missing\)'

begin 'a damaged database'
cp r.db damaged.db
dd if=/dev/urandom of=damaged.db bs=4096 seek=1 count=8 conv=notrunc 2>/dev/null
run_fails 3 'damaged\.db' run "$small" --db damaged.db
expect_err 'to save the results that can be read: haul export jsonl --db [./]*damaged\.db >saved\.jsonl'
cp r.db damaged.db # of which one table can no longer be read
page=$(sqlite3 r.db "select rootpage from sqlite_master where name = 'telemetry'")
dd if=/dev/urandom of=damaged.db bs="$(sqlite3 r.db 'pragma page_size')" seek=$((page - 1)) count=1 conv=notrunc 2>/dev/null
run_fails 3 'skipped damaged\.db: it is damaged \(.*\); to save the results that can be read: haul export ' merge rescued.db damaged.db
sed -n 's/.* can be read: haul \(.*\)$/"$haul" \1/p' err >rescue
. ./rescue
"$haul" export jsonl --db r.db >whole.jsonl
equal "$(cat whole.jsonl)" "$(cat saved.jsonl)" 'what is saved'

begin 'the stock shell reads the views'
equal 3 "$(sqlite3 r.db 'select count(*) from v_case')" v_case
equal 1 "$(sqlite3 r.db 'select count(*) > 0 from v_trial')" v_trial

begin 'a disk that fills while measuring'
scenario many 'trials = { min = 400, max = 400 }; iterations = 1' \
  'host | { numa = 0, memory = "pageable" } | { numa = 0, memory = "pageable" } | { from = "4KiB", to = "96KiB", step = "4KiB" } | method = "cpu"; pairs = "same"'
printf 'haul run many.toml --db full.db, under a limit of 400 KiB a file' >"$scratch/command"
(ulimit -f 400; exec "$haul" run many.toml --db full.db) >"$scratch/out" 2>"$scratch/err" </dev/null
code=$?
expect_one_error 3 'full\.db'
expect_err 'the results so far are kept in full\.db, and haul run --resume run:[0-9a-f]+ --db full\.db continues'
expect_value ok full.db 'pragma integrity_check'
equal 1 "$(($(value full.db "select count(*) from v_case where status = 'ok'") > 0))" 'what was committed is there'
run_ok run --resume latest --db full.db -q
expect_value 24 full.db "select count(*) from v_case where status = 'ok'"

begin 'a disk that takes nothing more: neither a case nor the end of the run'
preload=$(dirname -- "$haul")/tests/preload.so
if [ -e "$preload" ]; then
  ended=
  for first in 60 120 180 240 300; do # the call on the database from which on all fail
    printf 'TORTURE_IO=%s:28:0 haul run many.toml' "$first" >"$scratch/command"
    TORTURE_PATH=no_room TORTURE_IO=$first:28:0 LD_PRELOAD=$preload "$haul" run many.toml --db no_room.db \
      >"$scratch/out" 2>"$scratch/err" </dev/null
    code=$?
    expect_one_error 3 'no_room\.db'
    reject_err 'the results so far are kept'
    if grep -q 'the end of the run was not recorded; what was recorded before that is kept in no_room\.db' \
      "$scratch/err"; then
      ended=$first
    fi
    rm -f no_room.db*
  done
  equal 1 "$((${ended:-0} > 0))" 'runs whose end was not recorded'
fi

begin 'two runs into one database at once'
"$haul" run "$small" --db both.db -q >/dev/null 2>err.1 &
first=$!
"$haul" run "$small" --db both.db -q >/dev/null 2>err.2 &
second=$!
wait "$first"
equal 0 $? 'exit code of the first'
wait "$second"
equal 0 $? 'exit code of the second'
expect_value 6 both.db "select count(*) from v_case where status = 'ok'"
expect_value ok both.db 'pragma integrity_check'

finish
