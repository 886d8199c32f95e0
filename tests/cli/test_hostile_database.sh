#!/usr/bin/env bash
# Databases that somebody made who means harm: no other file is touched or read, nothing of them runs, and no verb
# crashes or hangs.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"

run_ok run "$source_folder/tests/cli/small.toml" --db good.db
cp good.db before.db

# A verb ends, without a signal and long before its limit of time.
no_harm() { # DB VERB...
  local database=$1 verb=$2
  shift 2
  printf 'haul %s %s --db %s' "$verb" "$*" "$database" >"$scratch/command"
  timeout -k 1 40 "$haul" "$verb" "$@" --db "$database" >"$scratch/out" 2>"$scratch/err" </dev/null
  code=$?
  if [ "$code" -lt 100 ]; then good; else bad "$verb ends with $code"; fi
  reject_err 'Sanitizer|runtime error|ssertion'
}
# Each of many verbs that read.
read_all() { # DB
  no_harm "$1" show latest
  no_harm "$1" show --result latest
  no_harm "$1" list runs
  no_harm "$1" check --expect
  no_harm "$1" outliers
  no_harm "$1" explain
  no_harm "$1" report page.html
  no_harm "$1" diff latest latest
  no_harm "$1" run --resume latest
}

# ---- files beside a database ----

bytes() { # NUMBER: four bytes, the highest first
  local i
  for i in 24 16 8 0; do
    # shellcheck disable=SC2059
    printf "\\$(printf '%03o' $((($1 >> i) & 255)))"
  done
}
magic='\331\325\005\371\040\241\143\327'
# A hot journal of no pages, whose end names another file.
plant_journal() { # DB NAME
  local sum=0 byte
  for byte in $(printf %s "$2" | od -An -v -tu1); do sum=$((sum + byte)); done
  {
    # shellcheck disable=SC2059
    printf "$magic"
    bytes 0
    bytes 0
    bytes "$(sqlite3 good.db 'pragma page_count')"
    bytes 512
    bytes "$(sqlite3 good.db 'pragma page_size')"
    head -c 484 /dev/zero
    bytes $((0x40000000 / $(sqlite3 good.db 'pragma page_size') + 1))
    printf %s "$2"
    bytes ${#2}
    bytes "$sum"
    # shellcheck disable=SC2059
    printf "$magic"
  } >"$1-journal"
}

begin 'a journal that names another file, which SQLite would delete'
cp good.db j.db
echo precious >victim
for verb in 'list runs' 'show latest' 'query select(1)' 'tag latest x' 'report page.html' "run $source_folder/tests/cli/small.toml"; do
  plant_journal j.db "$scratch/victim"
  # shellcheck disable=SC2086
  run_error 2 "j\.db-journal names another file, which SQLite would delete \($scratch/victim\)" $verb --db j.db
  exists victim
  exists j.db-journal
done
mkdir inputs
cp good.db inputs/a.db
cp good.db inputs/b.db
plant_journal inputs/b.db "$scratch/victim"
run_fails 3 'skipped inputs/b\.db: .*b\.db-journal names another file' merge merged.db inputs
exists victim
expect_value 1 merged.db 'select count(*) from run'
cp good.db to.db
plant_journal to.db "$scratch/victim"
run_fails 2 'to\.db-journal names another file' merge to.db inputs/a.db
exists victim
ln -s j.db link.db
run_error 2 'j\.db-journal names another file' list runs --db link.db
exists victim
rm -f -- *-journal

begin 'companions that are links or no files'
for suffix in -journal -wal -shm; do
  cp good.db c.db
  ln -s victim "c.db$suffix"
  run_error 2 "c\.db$suffix is " list runs --db c.db
  run_error 2 "c\.db$suffix is " tag latest x --db c.db
  run_fails 3 "c\.db$suffix is " merge linked.db c.db
  rm "c.db$suffix"
  ln victim "c.db$suffix"
  run_error 2 "c\.db$suffix has several names" list runs --db c.db
  rm "c.db$suffix"
  mkfifo "c.db$suffix"
  run_error 2 "c\.db$suffix is " list runs --db c.db
  run_fails 3 "c\.db$suffix is " merge linked.db c.db
  rm "c.db$suffix"
done
equal precious "$(cat victim)" 'the other file'

# ---- what is in it ----

begin 'triggers do not run, and a database with any is not written'
cp good.db t.db
sqlite3 t.db "create trigger evil after update on run begin update bench_case set payload_bytes = 2 * payload_bytes; end;
  create trigger worse after insert on run begin delete from case_run; end"
for verb in 'tag latest x' 'baseline set b latest' 'delete latest --yes' "run $source_folder/tests/cli/small.toml"; do
  # shellcheck disable=SC2086
  run_fails 2 "t\.db is not written: its schema is not haul's \(trigger evil, trigger worse\)" $verb --db t.db
done
run_fails 2 "its schema is not haul's" merge t.db good.db
payload='select sum(payload_bytes) from bench_case'
equal "$(sqlite3 good.db "$payload")" "$(sqlite3 t.db "$payload")" 'payload'
equal 3 "$(sqlite3 t.db 'select count(*) from case_run')" 'results'
run_ok list runs --db t.db
expect_err "t\.db holds more than haul's schema \(trigger evil, trigger worse\)"
run_ok merge clean.db t.db
run_ok tag latest x --db clean.db

begin 'views of others are not used'
cp good.db v.db
sqlite3 v.db "drop view v_run; create view v_run as with recursive n(run) as (select 1 union all select run + 1 from n)
  select run, 'fake' as scenario from n"
run_ok list runs --db v.db
expect_err "holds more than haul's schema \(view v_run \(changed\)\)"
expect_out 'small'
reject_out 'fake'
run_ok query 'select scenario from v_run' --db v.db
expect_out 'small'
sqlite3 v.db 'create view mine as select 1'
run_fails 2 'view "mine" prohibited' query 'select * from mine' --db v.db
read_all v.db

begin 'views that name one another twice take no time to be prepared'
cp good.db twice.db
sqlite3 older_twice.db <"$source_folder/tests/data/results-1002.sql"
for database in twice.db older_twice.db; do
  {
    echo 'create view a0 as select 1 as x;'
    for i in $(seq 40); do echo "create view a$i as select p.x from a$((i - 1)) p, a$((i - 1)) q;"; done
  } | sqlite3 $database
  no_harm "$database" list runs
  equal 0 "$code" 'exit code'
  no_harm "$database" tag latest x
  no_harm other.db merge merged_twice.db "$database"
done

begin 'a table that is a view, or computes its columns'
cp good.db g.db
sqlite3 g.db "alter table run rename to was; create view run as with recursive n(id) as (select 1 union all select id + 1 from n)
  select n.id, w.uuid from n, was w"
run_error 2 'g\.db: its run is not a table' list runs --db g.db
run_fails 3 'its run is not a table' merge viewed.db g.db
cp good.db g.db
sqlite3 g.db "alter table bench_case add column later as (payload_bytes * 2)"
run_error 2 'g\.db: its bench_case is not a table' list runs --db g.db
run_fails 3 'its bench_case is not a table' merge computed.db g.db

begin 'the name of a view of an older schema is no SQL'
sqlite3 older.db <"$source_folder/tests/data/results-1002.sql"
sqlite3 older.db "create view [v_x\"; attach '$scratch/made.db' as y; create table y.t (x); --] as select 1"
run_ok list runs --db older.db
missing made.db
no_harm older.db tag latest x
missing made.db

begin 'the text of a recorded scenario opens no file'
echo 'first line of a secret' >secret.toml
for key in "include = [\"$scratch/secret.toml\"]" "[[transfer]]
name = \"t\"
from_csv = \"$scratch/secret.toml\""; do
  cp good.db i.db
  sqlite3 i.db "update scenario set text = 'schema_version = 1
name = \"small\"
$key', resolved = text; update scenario set resolved = text; update run set status = 'running', ended_at_ns = NULL"
  run show --scenario latest --db i.db
  reject_err 'first line'
  reject_out 'first line'
  run run --resume latest --db i.db
  reject_err 'first line'
  expect_err 'a scenario out of a database opens no file'
done

begin 'NULL where the schema has none'
nulled() { # TABLE COLUMN: with the schema as it was, so that it is written as well
  cp good.db n.db
  sqlite3 n.db "pragma writable_schema = on; update sqlite_master set sql = replace(sql, 'NOT NULL', '') where name = '$1'"
  sqlite3 n.db "pragma ignore_check_constraints = on; update $1 set $2 = NULL"
  sqlite3 n.db "pragma writable_schema = on; attach 'good.db' as good; update main.sqlite_master set sql =
    (select g.sql from good.sqlite_master g where g.name = main.sqlite_master.name) where name = '$1'"
}
for column in environment.simulated environment.host_name scenario.name scenario.text scenario.resolved run.environment \
  run.scenario run.scenario_path run.origin run.status bench_case.case_key bench_case.definition bench_case.block \
  case_run.status; do
  nulled "${column%.*}" "${column#*.}"
  for verb in 'show latest' 'show --result latest' 'check --expect' outliers explain 'run --resume latest' 'tag latest x'; do
    # shellcheck disable=SC2086
    no_harm n.db $verb
  done
done
nulled environment_fact state
no_harm n.db env --run latest

begin 'texts that are cut by a NUL, or very long'
cp good.db n.db
sqlite3 n.db "update bench_case set axes = 'size=4KiB a' || char(0) || 'b c=1'"
read_all n.db
no_harm n.db query --saved curves
cp good.db l.db
sqlite3 l.db "update scenario set name = printf('%.*c', 30000000, 'x')"
run_error 2 'l\.db: it has a longer text than haul reads' list runs --db l.db
read_all l.db
sqlite3 l.db "update scenario set name = printf('%.*c', 3000000, 'x')"
run_ok list runs --db l.db
expect_out 'xxx \.\.\. \(cut: 3000000 bytes\)'

begin 'numbers at the end of their range'
last=9223372036854775807
cp good.db o.db
sqlite3 o.db "insert into deleted_number values (1, $last)"
run_error 2 'o\.db: no number is left' run "$source_folder/tests/cli/small.toml" --db o.db
sqlite3 o.db 'pragma foreign_keys = off; delete from run; delete from process; delete from plan_case; delete from case_run;
  delete from trial; delete from check_result'
run_fails 3 'skipped good\.db: .*no number is left' merge o.db good.db
equal ok "$(sqlite3 o.db 'pragma integrity_check')" 'integrity'
cp good.db o.db
sqlite3 o.db "pragma foreign_keys = off; update run set id = $last; update plan_case set run = $last;
  update case_run set run = $last; update process set run = $last; update check_result set run = $last"
read_all o.db
run_error 2 'o\.db: no number is left' run "$source_folder/tests/cli/small.toml" --db o.db
run_ok merge renumbered.db o.db
expect_value 1 renumbered.db 'select id from run'

begin 'a shard cannot change what others measured'
mkdir shards
cp good.db shards/b.db
gbps="select group_concat(round(gbps, 6)) from v_case"
for lie in 'update bench_case set payload_bytes = 2 * payload_bytes:its case .* has a payload_bytes that is not what' \
  'update flow set size_bytes = 2 * size_bytes:its case .* has a flow that is not what' \
  "update flow set source_process = 1, source_share = 'memfd':its case .* has a flow that is not what" \
  "update bench_case set definition = replace(definition, '4096', '8192'):has a key of other content .its definition" \
  "update bench_case set name = name || 'x':has a key of other content .its names" \
  "update scenario set resolved = resolved || '#':its scenario small has a key of other content"; do
  cp good.db shards/a.db
  sqlite3 shards/a.db "${lie%%:*}"
  run_fails 3 "skipped shards/a\.db: .*${lie#*:}" merge first.db shards
  expect_value "$(value good.db "$gbps")" first.db "$gbps"
  rm first.db
done
for lie in 'update bench_case set payload_bytes = 2 * payload_bytes:bench_case\.payload_bytes' \
  'update flow set size_bytes = 2 * size_bytes:flow\.size_bytes' "update scenario set text = 'x':scenario\.text" \
  "update environment set host_name = 'other':environment\.host_name" \
  "update environment_fact set value = 'x':environment_fact\.value"; do
  cp good.db shards/c.db
  sqlite3 shards/c.db "${lie%%:*}"
  run_fails 3 "skipped shards/c\.db: .* is there already under the same key with another ${lie#*:}" merge second.db shards/b.db shards/c.db
  expect_value "$(value good.db "$gbps")" second.db "$gbps"
  rm second.db
done

begin 'texts in UTF-16'
{
  echo "pragma encoding = 'UTF-16le'; pragma application_id = $(sqlite3 good.db 'pragma application_id');"
  sqlite3 good.db .dump
  echo "pragma user_version = $(sqlite3 good.db 'pragma user_version');"
} | sqlite3 wide.db
run_ok list runs --db wide.db
expect_out 'small'
run_error 2 "wide\.db is not written: its schema is not haul's \(encoding UTF-16le\)" tag latest x --db wide.db
run_fails 3 'skipped wide\.db: its texts are in UTF-16le' merge from_wide.db wide.db

begin 'a file that is mostly holes is not copied, nor read for as long as it is large'
cp good.db hollow.db
truncate -s 1T hollow.db
run_error 2 'hollow\.db is mostly holes' list runs --db hollow.db
run_fails 3 'skipped hollow\.db: it is mostly holes' merge from_hollow.db hollow.db
cp good.db beside.db
truncate -s 1T beside.db-journal
run_error 2 'beside\.db-journal is mostly holes' list runs --db beside.db
run_fails 3 'beside\.db-journal is mostly holes' merge from_hollow.db beside.db
rm hollow.db beside.db-journal

begin 'the command that a run says it was is no command to copy'
cp good.db advice.db
"$haul" run "$source_folder/tests/cli/small.toml" --db advice.db >out 2>&1
sqlite3 advice.db "update scenario set name = 'x; touch made'; update run set scenario_path = 'x; touch made',
  argv = '[\"delete\", \"latest\", \"--yes\"]'"
run diff run:1 run:2 --db advice.db
expect_err "haul run 'x; touch made' --db advice\.db --processes"
reject_err 'haul run x;|haul delete'
reject_out 'haul run x;'
sqlite3 advice.db "update run set argv = '[\"run\", \"x; touch made\"]'"
run diff run:1 run:2 --db advice.db
expect_err "haul run 'x; touch made' --db advice\.db --processes"

sqlite3 advice.db "update environment set driver_version = 'x' || char(10) || 'touch made' where id =
  (select environment from run order by id desc limit 1)"
run diff run:1 run:2 --db advice.db
expect_err '^haul: .* undecided cases? needs? '
reject_err '^touch made'

begin 'the database that all copies came from is as it was'
if cmp -s good.db before.db; then good; else bad 'good.db was changed'; fi
finish
