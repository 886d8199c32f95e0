#!/usr/bin/env bash
# Many databases into one.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
small=$source_folder/tests/cli/small.toml

mkdir nodes
for node in 1 2 3; do
  run_ok run "$small" --db "nodes/node$node.db" --tag "node$node" --processes 2
done
sum=$(cat nodes/*.db | md5sum)

begin 'a folder into a new database'
run_ok merge all.db nodes
expect_out 'nodes/node1.db +merged +1 +1 +0 +6'
expect_err 'all\.db: 3 runs added, 18 results \(one per case and process\), from 3 of 3 databases'
expect_value 3 all.db 'select count(*) from v_run'
expect_value 18 all.db 'select count(*) from v_case'
expect_value ok all.db 'pragma integrity_check'

begin 'again, in another order: nothing changes'
cp all.db before.db
run_ok merge all.db nodes/node3.db nodes/node1.db nodes/node2.db
expect_err '^haul: all\.db: nothing new in 3 databases$'
if cmp -s all.db before.db; then good; else bad 'all.db was changed'; fi

begin 'databases that are no shards of a fleet: merged, but not judged'
run_fails 2 'error: --fail-on judged nothing: no input is a shard of a fleet' \
  merge plain.db nodes --fail-on missing,partial,failed,different,slow
expect_err '^haul outliers --all --db plain\.db$'
expect_value 3 plain.db 'select count(*) from run'

begin 'inputs stay as they are'
equal "$sum" "$(cat nodes/*.db | md5sum)" 'inputs'

begin 'a pattern that no shell expands, and the output among the inputs'
run_ok merge nodes/all.db 'nodes/*.db' --format jsonl
run_ok merge nodes/all.db 'nodes/*.db' --format jsonl
expect_out '"input": ?"nodes/all\.db", ?"outcome": ?"output"'
rm nodes/all.db

begin 'a damaged input is named and skipped, the others are merged'
head -c 20000 nodes/node2.db >nodes/truncated.db
echo 'my notes' >nodes/notes.db
run_fails 3 'warning: skipped nodes/truncated\.db: it is damaged' merge some.db nodes --format json
expect_err 'warning: skipped nodes/notes\.db: it is not a results database'
expect_out '"reason": ?"it is not a results database but some other file"'
expect_err '3 runs added.*from 3 of 5 databases.*2 skipped'
expect_value 3 some.db 'select count(*) from run'
rm nodes/truncated.db nodes/notes.db

begin 'nothing to merge makes no database'
echo 'my notes' >notes.txt
run_fails 3 'skipped no-such\.db: it cannot be read: No such file' merge none.db notes.txt no-such.db
expect_err 'nothing was merged into none\.db; 2 skipped'
missing none.db

begin 'an output that is none'
run_error 2 'notes\.txt is not a results database' merge notes.txt nodes
equal 'my notes' "$(cat notes.txt)" 'its content'
run_error 2 'nodes is a directory' merge nodes nodes/node1.db

begin 'a command line that says too little'
run_fails 2 'haul merge all\.db' merge
run merge only.db
expect_code 2
run merge --db x.db all.db nodes
expect_code 2
mkdir empty
run_error 2 'no database \(\*\.db\) in the folder empty' merge all.db empty

finish
