#!/usr/bin/env bash
# What other users may put where haul reads and writes: links, FIFOs, parts of databases, text for a terminal.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
small=$source_folder/tests/cli/small.toml
export TMPDIR=$scratch/local
mkdir "$TMPDIR"
printf 'precious\n' >victim
chmod 600 victim
untouched() { equal 'precious' "$(cat victim)" "the file of another user, $*"; }

# What waits for a FIFO is ended, with 124.
run_in_time() {
  printf 'haul %s' "$*" >"$scratch/command"
  timeout -k 1 20 "$haul" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
  code=$?
}
# On a terminal; its output as it comes there.
run_on_terminal() {
  local words
  printf 'haul %s' "$*" >"$scratch/command"
  words=$(printf ' %q' "$@")
  # What %q writes is bash's.
  SHELL=$BASH script -qec "'$haul'$words" /dev/null </dev/null >"$scratch/out" 2>"$scratch/err"
  code=$?
}
# A title that is set, C1, or a mark that turns the direction of text.
controls=$'\x1b]0|\xc2\x9b|\xe2\x80\xae'
no_controls() {
  if LC_ALL=C grep -aqE "$controls" out err; then bad "control characters reach the terminal: $*"; else good; fi
}

write_long
run_ok run "$small" --db r.db

begin 'a shard is not written through a link or FIFO under a name that can be guessed'
for kind in link fifo hard; do
  mkdir "shared_$kind"
  "$haul" run long.toml --shard "shared_$kind" --shard-every 10ms --node-name n1 >"$scratch/null" 2>&1 &
  runner=$!
  await eval "ls shared_$kind/n1-*.db >null 2>&1"
  shard=$(ls "shared_$kind")
  for name in ".$shard.part" "$shard.part" ".$shard"; do
    case $kind in
      link) ln -sf "$scratch/victim" "shared_$kind/$name" ;;
      fifo) mkfifo "shared_$kind/$name" ;;
      hard) ln -f victim "shared_$kind/$name" ;;
    esac
  done
  [ "$kind" != link ] || ln -sf "$scratch/victim" "shared_$kind/$shard"
  sleep 0.4
  kill -TERM $runner
  { timeout 120 tail --pid=$runner -f /dev/null || kill -KILL $runner; } 2>null # a loaded machine needs 20 s
  if wait $runner; [ $? -eq 137 ]; then bad "SIGTERM does not end a run whose shard is a $kind"; else good; fi
  untouched "by a $kind"
  equal 0 "$(find "shared_$kind" -regextype egrep -regex '.*\.[0-9a-f]{16}' | wc -l)" 'temporary files'
done

begin 'a lock is not written into a file that has another name'
mkdir other_locks
ln victim other_locks/host
HAUL_LOCKS=$scratch/other_locks run_ok run "$small" --db r.db
expect_err 'the lock host is not a file, or a file with other names'
untouched 'by a lock'
rm -r other_locks

begin 'outputs follow no link, and replace no database'
ln -s "$scratch/victim" out.csv
run_ok export csv --db r.db -o out.csv
untouched 'by an output'
equal 1 "$(find . -maxdepth 1 -name out.csv -type f | wc -l)" 'output in place of the link'
before=$(cksum <r.db)
ln -s r.db link.csv
cp r.db other.db
for output in r.db link.csv other.db r.db-journal; do
  run_error 2 'is a database or a part of one' export csv --db r.db -o "$output"
  run_error 2 'is a database or a part of one' export prometheus --db r.db -o "$output"
  run_error 2 'is a database or a part of one' env --save "$output"
done
equal "$before" "$(cksum <r.db)" 'database'
missing r.db-journal

begin 'what a node is said to have left is no link'
mkdir told
ln -s "$scratch/victim" told/n1-0123456789abcdef0123456789abcdef.failed
ln victim told/n2-0123456789abcdef0123456789abcdef.failed
cp r.db told/good.db
run_fails 3 'skipped told/n1-[0-9a-f]*\.failed: it is a link' merge told.db told
expect_err 'skipped told/n2-[0-9a-f]*\.failed: it has several names'
reject_err precious
expect_value 0 told.db "select count(*) from merged_input where reason like '%precious%'"

begin 'a link of another user to what only this one may read or write is not followed'
if [ "$(id -u)" = 0 ]; then
  mkdir links
  cp r.db private.db
  chmod 600 private.db
  before=$(cksum <private.db)
  ln -s "$scratch/private.db" links/s.db
  chown -h 65533 links/s.db
  run_fails 3 'skipped links/s\.db: it is a link that another user made' merge linked.db links
  missing linked.db
  for verb in 'list runs' 'tag latest x' "run $small"; do
    # shellcheck disable=SC2086
    run_error 2 's\.db is a link that another user made' $verb --db links/s.db
  done
  equal "$before" "$(cksum <private.db)" 'database behind the link'
  chmod 644 private.db # no secret then
  run_ok list runs --db links/s.db
  chown -h root links/s.db
  run_ok tag latest x --db links/s.db
else
  echo 'skipped in part: only root can make links of another user'
fi

begin 'a folder for copies that is exchanged while it is used'
mkdir folder
echo precious >folder/precious
cp r.db large.db
sqlite3 large.db "create table more (x); insert into more select zeroblob(40000000); pragma journal_mode = wal" >null
"$haul" merge exchanged.db large.db >out 2>err &
runner=$!
# shellcheck disable=SC2016
until name=$(echo exchanged.db-merge-*) && mv "$name" aside 2>null || gone $runner; do :; done
ln -s folder "$name" 2>null
wait $runner
exists folder/precious
exists aside

begin 'a FIFO or device beside a database'
mkdir parts
for part in -journal -wal -shm; do
  cp r.db "parts/s$part.db"
  mkfifo "parts/s$part.db$part"
done
cp r.db parts/good.db
run_in_time merge merged.db parts
expect_code 3
for part in -journal -wal -shm; do
  expect_err "skipped parts/s$part.db: .*s$part.db$part is not a regular file"
done
expect_value 1 merged.db 'select count(*) > 0 from run'
run_in_time list runs --db parts/s-journal.db
expect_one_error 2 's-journal.db-journal is not a regular file'
run_in_time tag --db parts/s-journal.db latest x
expect_one_error 2 's-journal.db-journal is not a regular file'
rm parts/s-journal.db-journal parts/s-wal.db-wal
ln -s "$scratch/victim" parts/s-journal.db-journal
run_in_time list runs --db parts/s-journal.db
expect_one_error 2 's-journal.db-journal is not a regular file'
untouched 'as a journal'

begin 'FIFOs and devices in the place of files'
mkdir tree
mkfifo fifo tree/fifo.toml
cp "$small" tree/
run_in_time validate fifo
expect_code 2
expect_err 'this is a FIFO, not a file'
run_in_time validate tree
expect_code 2
run_in_time run "$small" --db x.db --expect fifo
expect_code 2
expect_err 'this is a FIFO, not a file'
run_in_time plan quick --machine fifo
expect_one_error 2 'this is a FIFO, not a file'
run_in_time run "$small" --shard x --node-name a --expected-nodes ./fifo
expect_one_error 2 'this is a FIFO, not a file'
for place in fifo /dev/zero; do
  printf 'schema_version = 1\ninclude = ["%s"]\n' "$place" >including.toml
  run_in_time validate including.toml
  expect_code 2
  expect_err 'this is a (FIFO|device), not a file|no shipped scenario'
done
cat >replay.toml <<'END_TOML'
schema_version = 1
name = "replay"
[[transfer]]
name = "replay"
from_csv = "fifo"
method = "ce"
END_TOML
run_in_time validate replay.toml
expect_code 2
expect_err 'this is a FIFO, not a file'

begin 'what a shell makes of <(...), and standard input, are read'
run_ok validate <(cat "$small")
run_ok plan quick --machine <(cat "$source_folder/tests/machines/no-gpu.toml")
printf 'haul validate /dev/stdin' >"$scratch/command"
"$haul" validate /dev/stdin <"$small" >out 2>err
code=$?
expect_code 0
# shellcheck disable=SC2002
cat "$small" | "$haul" validate /dev/stdin >out 2>err
code=$?
expect_code 0
# shellcheck disable=SC2002
cat "$small" | "$haul" validate - >out 2>err
code=$?
expect_code 0

begin 'names of files reach the terminal as text'
mkdir named
cp r.db named/$'a\x1b]0;title\x07.db'
cp r.db named/$'b\xc2\x9b\xe2\x80\xae.db'
run_on_terminal merge named.db named
expect_code 0
no_controls "merge's progress"
run_on_terminal list $'x\x1b]0;title\x07'
expect_out '\\u001b\]0'
no_controls 'a word'
run_on_terminal list runs --$'x\x1b]0;\xc2\x9b'
no_controls 'an option'
run_on_terminal list runs --db $'x\x1b]0;title\x07'
no_controls 'a path'

begin 'what a database holds reaches the terminal as text, in every format'
cp r.db hostile.db
sqlite3 hostile.db "update run set tag = 'a' || char(27) || ']0;t' || char(7) || char(155) || char(8238) || 'z'"
for format in csv csv-safe json jsonl table md; do
  run_on_terminal list runs --db hostile.db --format $format
  expect_code 0
  no_controls "$format"
  run_on_terminal query 'select tag from run' --db hostile.db --format $format
  no_controls "query, $format"
done
for format in csv jsonl prometheus; do
  run_on_terminal export $format --db hostile.db
  no_controls "export, $format"
done
begin 'a file has what the database has'
run_ok query 'select tag from run' --db hostile.db --csv
if LC_ALL=C grep -aq $'\x1b]0' out; then good; else bad 'CSV lost a character'; fi
run_ok query 'select tag from run' --db hostile.db --json
equal "$(sqlite3 hostile.db 'select hex(tag) from run limit 1')" \
  "$(python3 -c 'import json,sys; print(json.load(sys.stdin)["rows"][0]["tag"].encode().hex().upper())' <out)" 'tag in JSON'

begin 'the line of a run that waits shows as text what others wrote into a lock'
rm -f locks/host # of the runs before: what is there then is the holder's
"$haul" run long.toml --db holder.db >null 2>&1 &
runner=$!
await test -s locks/host
printf 'pid=1 user=\x1b]0;title\x07 host=\xc2\x9bh use=exclusive since=\xe2\x80\xae run=- db=x' |
  dd of=locks/host conv=notrunc status=none
run_on_terminal run "$small" --db waiting.db --wait 1s
expect_code 3
expect_out 'waiting for'
no_controls 'the line that waits'
kill $runner
wait $runner 2>null

finish
