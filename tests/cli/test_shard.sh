#!/usr/bin/env bash
# Many nodes: shards in one folder, merged, and who is missing.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
small=$source_folder/tests/cli/small.toml
unset "${!SLURM@}"
local_disk=$scratch/local
mkdir "$local_disk"
export TMPDIR=$local_disk

# A run as Slurm starts it.
run_on() { # NODE ARGUMENT...
  export SLURMD_NODENAME=$1 SLURM_JOB_ID=77 SLURM_STEP_ID=0 SLURM_CLUSTER_NAME=lab
  export SLURM_STEP_NODELIST='n[01-03]' SLURM_JOB_NODELIST='n[01-09]'
  run run "$small" "${@:2}"
  unset "${!SLURM@}"
}

expect_states() { # DATABASE STATES
  expect_value "$2" "$1" "select group_concat(node || ':' || state, ' ') from (select * from v_node order by node)"
}

begin 'each node moves its database into the folder'
for node in n01 n02; do
  run_on $node --shard shards
  expect_code 0
  expect_err "is in shards/$node-[0-9a-f]{32}\.db"
done
equal 2 "$(find shards -name 'n0?-*.db' | wc -l)" 'shards'
equal 2 "$(find shards -mindepth 1 | wc -l)" 'files in the folder'
equal '' "$(ls -A "$local_disk")" 'what is left on the local disk'
missing "$scratch/data"

begin 'who is missing is a row'
run_ok merge fleet.db shards
expect_states fleet.db 'n01:ok n02:ok n03:missing'
expect_value 'lab/77.0' fleet.db 'select distinct fleet from v_node'
expect_value 1 fleet.db "select count(distinct host_name) from v_run"
expect_value 2 fleet.db "select count(distinct node) from v_run_case"
expect_value '77 n01' fleet.db \
  "select value || ' ' || node from v_fact where fact = 'slurm_job_id' order by node limit 1"

begin 'the row turns when its shard comes'
run_on n03 --shard shards
run_ok merge fleet.db shards
expect_err '1 runs added'
expect_states fleet.db 'n01:ok n02:ok n03:ok'

begin 'nodes of one host are different machines'
run_ok list runs --db fleet.db --where node=n02 --format json
expect_value 3 fleet.db 'select count(*) from environment where node is not null'
run_ok diff --db fleet.db --by node --from n01 --to n02 --any-hardware

begin 'other launchers: names by options'
printf 'a1 # first\na[2-3]\n' >names.txt
run_ok run "$small" --shard others --node-name a1 --expected-nodes names.txt --tag monday
run_ok merge others.db others
expect_states others.db 'a1:ok a2:missing a3:missing'
expect_value monday others.db 'select distinct fleet from v_node'
run_error 2 "a range goes backwards in the list of nodes at 'b\[3-1\]'" \
  run "$small" --shard others --expected-nodes 'a1,b[3-1]'
run_fails 2 'need --shard' run "$small" --expected-nodes a1
run_fails 2 'cannot be combined' run "$small" --shard others --db x.db

begin 'a folder that cannot be made'
: >file
run_error 2 'file is not a directory' run "$small" --shard file

finish
