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
equal '' "$(find "$local_disk" -mindepth 2)" 'what is left on the local disk'
missing "$scratch/data"
shard=$(echo shards/n02-*.db)
expect_err "^haul: next: haul report run\.html --db $shard$"
expect_err "^haul: next: haul explain --db $shard$"
run_ok explain --db "$shard"

begin 'who is missing is a row'
run_ok merge fleet.db shards
expect_out '^not ok \(node by node: haul query --saved nodes --db fleet\.db\)$'
expect_states fleet.db 'n01:ok n02:ok n03:missing'
expect_out '^missing +1 +n03 +no shard'
expect_value 'lab/77.0' fleet.db 'select distinct fleet from v_node'
expect_value 1 fleet.db "select count(distinct host_name) from v_run"
expect_value 2 fleet.db "select count(distinct node) from v_run_case"
expect_value '77 n01' fleet.db \
  "select value || ' ' || node from v_fact where fact = 'slurm_job_id' order by node limit 1"

begin 'the row turns when its shard comes'
run_on n03 --shard shards
run_ok merge fleet.db shards
expect_err '1 run added, 3 results \(one per case and process\), from 3 of 3 databases; 2 had nothing new'
reject_out 'not ok'
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
run_error 2 'cannot read the list of nodes ./name.txt: .*No such file' \
  run "$small" --shard others --expected-nodes ./name.txt
run_fails 2 'need --shard' run "$small" --expected-nodes a1
run_fails 2 'cannot be combined' run "$small" --shard others --db x.db

begin 'where nothing is new, the fleet whose shards were given is shown'
cp fleet.db both.db
run_ok merge both.db others
run_ok merge both.db shards
expect_err 'both\.db: nothing new in 3 databases$'
expect_out '^lab/77\.0 '
reject_out '^monday '
run_ok merge both.db others
expect_out '^monday '
reject_out '^lab/77\.0 '

begin 'more runs of a fleet: where haul cannot start it, a sentence and the commands behind it'
for side in before after; do
  for node in n1 n2; do
    run_ok run "$small" --shard $side --node-name $node --expected-nodes 'n[1-2]' --processes 1 --tag $side
  done
done
run_ok merge pair.db before after
run diff tag:before tag:after --db pair.db
if grep -q ' undecided cases' err; then
  expect_err ' of each side on each node \(now A 1, B 1\)\. Measure all nodes as before, the sides in turn \(--tag after, before, before, after …\), so '
  reject_out 'nan'
  equal "$(printf '  haul merge pair.db before after\n  haul diff tag:before tag:after --db pair.db')" "$(grep '^  ' err)" 'commands'
  run diff run:1 run:3 --db pair.db # of one node
  expect_err '^    haul run .* --shard after --node-name n1 --expected-nodes .* --tag \$side$'
  expect_err '^  haul merge pair\.db after$'
else
  bad 'a single process is not undecided'
fi

begin 'both sides have one folder, which is merged once'
for side in before after; do
  for node in n1 n2; do
    run_ok run "$small" --shard other --node-name $node --expected-nodes 'n[1-2]' --processes 1 --tag $side
  done
done
run_ok merge other.db other
run diff tag:before tag:after --db other.db
expect_err '^  haul merge other\.db other$'
run diff --by tag --from before --to after --db other.db
expect_err 'the sides in turn \(--tag after, before, before, after …\), so '

begin 'more runs of a fleet that Slurm started: the lines that are printed can be pasted'
for side in before after; do
  for node in n01 n02; do
    run_on $node --shard slurm --processes 1 --tag $side
  done
done
run_ok merge slurm.db slurm
run diff tag:before tag:after --db slurm.db
expect_err ' undecided cases? needs? at least 4 more runs of each side on each node \(now A 1, B 1\)\. Measure in turn, '
expect_err "^    srun --nodelist='n\\[01-03\\]' .* haul run .* --shard slurm .*--tag \\\$side .*$"
{
  cat <<'SH'
haul() { "$haul" "$@"; }
srun() { # the tasks one after the other
  [ "$1" = '--nodelist=n[01-03]' ] || exit 1
  while [ "$1" != haul ]; do shift; done
  step=$((step + 1))
  for node in n01 n02 n03; do
    SLURMD_NODENAME=$node SLURM_JOB_ID=78 SLURM_STEP_ID=$step SLURM_CLUSTER_NAME=lab SLURM_STEP_NODELIST='n[01-03]' "$@"
  done
}
SH
  sed -n 's/^  //p' err
} >pasted.sh
haul=$haul bash pasted.sh >out 2>err
expect_out '^A  tag:before: .*; 14 runs'
expect_value 'after before before after after before before after' slurm.db \
  "select group_concat(tag, ' ') from (select tag from v_run where node = 'n03' order by started_at_ns)"

begin 'Slurm started the sides on different nodes: those that both have are measured in turn'
for side in before after; do
  list=$([ $side = before ] && echo 'n[01-02]' || echo 'n[01-03]')
  for node in n01 n02 n03; do
    [ "$side $node" = 'before n03' ] || SLURMD_NODENAME=$node SLURM_JOB_ID=79 SLURM_STEP_ID=${#side} \
      SLURM_CLUSTER_NAME=lab SLURM_STEP_NODELIST=$list run_ok run "$small" --shard uneven --processes 1 --tag $side
  done
done
run_ok merge uneven.db uneven
run diff tag:before tag:after --db uneven.db
expect_err 'Measure in turn, '
expect_err '^  for side in after before before after .*; do$'
expect_err "^    srun --nodelist='n\\[01-02\\]' .*--tag \\\$side .*$"
equal 1 "$(grep -c srun err)" 'loops'
run diff --by fleet --db uneven.db # new launches are other fleets
expect_err "^    srun --nodelist='n\\[01-02\\]' .*--tag \\\$side .*$"
expect_err '^  haul diff run:[0-9],run:[0-9],tag:a run:[0-9],run:[0-9],run:[0-9],tag:b --db uneven\.db$'

begin 'Slurm started the sides on different nodes, none of which both have: they are measured in turn, too'
for node in n01 n03; do
  SLURMD_NODENAME=$node SLURM_JOB_ID=80 SLURM_STEP_ID=${node#n0} SLURM_CLUSTER_NAME=lab SLURM_STEP_NODELIST=$node \
    run_ok run "$small" --shard apart --processes 1 --tag ${node/n01/before}
done
run_ok merge apart.db apart
run diff tag:before tag:n03 --db apart.db
expect_err 'Measure in turn, '
expect_err '^  for side in n03 before before n03 .*; do$'
expect_err '^    if \[ "\$side" = before \]; then$'
expect_err "^      srun --nodelist=n01 .*--tag \\\$side .*$"
expect_err "^      srun --nodelist=n03 .*--tag \\\$side .*$"
bash -n <(sed -n 's/^  //p' err) || bad 'the lines cannot be pasted'

begin 'what did not change is not read again, not even to find that it is damaged'
cp -r shards half
damaged=half/n04-0123456789abcdef0123456789abcdef.db
head -c 100000 half/n01-*.db >"$damaged"
run_fails 3 'skipped .*n04-[0-9a-f]{32}\.db: it is damaged' merge half.db half
expect_value 4 half.db "select count(*) from merged_input where version is not null"
expect_value n04 half.db "select node from merged_input where reason is not null"
touch -r half/n01-*.db stamp
printf 'not a page' | dd of="$(echo half/n01-*.db)" bs=4096 seek=9 conv=notrunc status=none
touch -r stamp half/n01-*.db
run_fails 3 'skipped .*n04-[0-9a-f]{32}\.db: it is damaged' merge half.db half
expect_err 'half\.db: nothing new in 3 databases; 1 skipped'
expect_states half.db 'n01:ok n02:ok n03:ok'
cp half/n02-*.db "$damaged"
run_ok merge half.db half
expect_value 0 half.db 'select count(*) from merged_input where reason is not null'

begin 'a node that dies leaves what it had, and a later run of it takes its place'
write_long
"$haul" run long.toml --shard dying --shard-every 50ms --node-name d1 --expected-nodes 'd[1-2]' --tag t \
  >"$scratch/null" 2>&1 &
runner=$!
has_three() {
  local first
  first=$(find dying -name 'd1-*.db' 2>"$scratch/null")
  [ -n "$first" ] && [ "$(sqlite3 "$first" 'select count(*) > 3 from case_run' 2>"$scratch/null")" = 1 ]
}
await has_three
{ kill -KILL $runner && wait $runner; } 2>"$scratch/null"
equal 1 "$(find dying -name '*.db' | wc -l)" 'shards'
run_ok merge dying.db dying
expect_states dying.db 'd1:partial d2:missing'
expect_out '^partial +1 +d1 +its last shard is of a run that had not ended, with [0-9]+ of 1000 results'
run_ok run "$small" --shard dying --node-name d1 --expected-nodes 'd[1-2]' --tag t
run_ok merge dying.db dying
expect_states dying.db 'd1:ok d2:missing'

begin 'what a killed run had measured is neither lost nor left behind'
# The shard is copied rarely, and no process ends, so that what was killed has more.
sed 's/^size = .*/size = { from = "4KiB", to = "2MiB", step = "4KiB" }/' "$small" >wide.toml
"$haul" run wide.toml -v --shard killed --shard-every 1h --node-name k1 --expected-nodes 'k[1-2]' --tag t >"$scratch/null" 2>"$scratch/said" &
runner=$!
# shellcheck disable=SC2016
await eval '[ "$(grep -c ": ok" "$scratch/said")" -gt 5 ]'
{ kill -KILL $runner && wait $runner; } 2>"$scratch/null"
said=$(grep -c ': ok' "$scratch/said")
run_ok run "$small" --shard killed --node-name k2 --expected-nodes 'k[1-2]' --tag t
expect_err 'moved the results that a killed run left in .*haul-shards-[0-9]+/.* to .*/killed/k1-'
shard=$(find killed -name 'k1-*.db')
equal '' "$(find "$local_disk" -mindepth 2)" 'what is left on the local disk'
equal 1 "$(sqlite3 "$shard" "select count(*) >= $said from case_run")" "whether the shard has the $said results that were said to be ok"

begin 'a run in shards is resumed'
sed 's/= 1000/= 40/' long.toml >forty.toml
"$haul" run forty.toml --shard again --node-name a1 --tag t >"$scratch/null" 2>&1 &
runner=$!
# shellcheck disable=SC2016
await eval '[ -n "$(find again -name "a1-*.db" 2>"$scratch/null")" ]'
{ kill -KILL $runner && wait $runner; } 2>"$scratch/null"
run_ok run --resume latest --shard again --node-name a1
equal 1 "$(find again -name '*.db' | wc -l)" 'shards'
equal '' "$(find "$local_disk" -mindepth 2)" 'what is left on the local disk'
shard=$(find again -name '*.db')
expect_value '40 40 done' "$shard" \
  "select count(*) || ' ' || count(distinct process) || ' ' || (select status from run) from case_run"
uuid=${shard##*-}
run_ok run --resume "run:${uuid:0:13}" --shard again --node-name a1
expect_err 'is complete: nothing is left to measure'
equal 1 "$(find again -name '*.db' | wc -l)" 'shards'
equal '' "$(find "$local_disk" -mindepth 2)" 'what is left on the local disk'
run_error 2 'no run to resume: again has no shard other-' run --resume latest --shard again --node-name other
run_error 2 'takes latest or run:UUID' run --resume tag:t --shard again --node-name a1

begin 'an interrupted run says how it is resumed, and a run that is measured is not'
"$haul" run long.toml --shard again --node-name a2 --tag t >"$scratch/out" 2>"$scratch/err" &
runner=$!
# shellcheck disable=SC2016
await eval '[ -n "$(find again -name "a2-*.db")" ]'
run_error 3 'is being measured by haul, pid' run --resume latest --shard again --node-name a2
kill -INT $runner
kill -TERM $runner
wait $runner
shard=$(find again -name 'a2-*.db')
expect_value interrupted "$shard" 'select status from run'

begin 'a shard that cannot be written says why, and v_node does'
if unshare -m true 2>"$scratch/null"; then
  # Room for one shard, but not for the next beside it.
  cat >room.sh <<END
    mount -t tmpfs -o size=400k none full || exit 77
    "$haul" run long.toml --set measure.processes=40 --shard full --shard-every 10ms --node-name f1 \
      --expected-nodes 'f[1-3]' --tag t 2>err >"$scratch/null"
    echo \$? >code
    mkdir none
    mount -t tmpfs -o size=8k none none
    TMPDIR=$scratch/none "$haul" run "$small" --shard full --node-name f2 --expected-nodes 'f[1-3]' --tag t 2>err2 >"$scratch/null"
    echo \$? >code2
    cp -r full kept
END
  mkdir full
  unshare -m bash room.sh
  if [ -e code2 ]; then
    code=$(cat code)
    expect_code 3
    expect_err 'cannot write .*No space left on device; the run goes on'
    code=$(cat code2)
    expect_code 3
    run_fails 3 'its node could not write the shard' merge full.db kept
    run_says 1 '^f2 +missing +its shard was skipped: .*could not write the shard' merge full2.db kept --fail-on missing
    expect_value partial full.db "select state from v_node where node = 'f1'"
    expect_value 1 full.db "select reason like '%with % of 40 results%No space left on device%' from v_node where node = 'f1'"
    expect_value missing full.db "select state from v_node where node = 'f2'"
    expect_value 1 full.db "select reason like 'its shard was skipped: %could not write the shard%full%' from v_node where node = 'f2'"
    # The next run moves what was kept, and takes the word back.
    run_ok run "$small" --shard elsewhere --node-name f1
    missing "$local_disk"/haul-shards-*/*/results.db
  else
    echo 'skipped in part: no file system can be mounted'
  fi
else
  echo 'skipped in part: no file system can be mounted'
fi

begin 'a later shard of the same run completes it'
cp -r dying early
"$haul" run long.toml --set measure.processes=5 --shard late --node-name d3 --tag t >"$scratch/null" 2>&1
shard=$(find late -name 'd3-*.db')
mkdir late/early
cp "$shard" late/early/
sqlite3 "late/early/${shard##*/}" "delete from trial where case_run in (select id from case_run where process > 2);
  delete from case_note where case_run in (select id from case_run where process > 2);
  delete from case_run where process > 2; delete from process where id > 2;
  update run set status = 'running', ended_at_ns = null"
run_ok merge late.db late/early
expect_states late.db 'd3:partial'
run_ok merge late.db late
expect_err '0 runs added, 1 resumed run completed, 3 results'
expect_states late.db 'd3:ok'
expect_value '5 5' late.db "select count(*) || ' ' || count(distinct process) from case_run"
run_ok merge late.db late/early
expect_value '5 done' late.db "select (select count(*) from case_run) || ' ' || status from run"

begin 'two fleets at once into one folder'
for i in 1 2 3; do
  "$haul" run "$small" --shard both --node-name "m$i" --expected-nodes 'm[1-4]' --tag one >"$scratch/null" 2>&1 &
  "$haul" run "$small" --shard both --node-name "m$i" --expected-nodes 'm[1-3]' --tag two >"$scratch/null" 2>&1 &
done
wait
run_ok merge both.db both
expect_err '6 runs added'
expect_value '4 1' both.db "select count(*) || ' ' || sum(state = 'missing') from v_node where fleet = 'one'"
expect_value '3 0' both.db "select count(*) || ' ' || sum(state = 'missing') from v_node where fleet = 'two'"

begin 'a merge that is killed ends whole when it is repeated'
for i in 1 2 3 4 5; do
  "$haul" merge killed.db both >"$scratch/null" 2>&1 &
  sleep "0.0$((i * 2))"
  { kill -KILL $! && wait $!; } 2>"$scratch/null"
done
run_ok merge killed.db both
expect_value ok killed.db 'pragma integrity_check'
expect_value delete killed.db 'pragma journal_mode'
expect_value '6 18' killed.db "select (select count(*) from run) || ' ' || (select count(*) from case_run)"

begin 'the folder becomes unwritable: the run goes on, and says where its results are'
if [ "$(id -u)" != 0 ]; then
  mkdir locked
  "$haul" run long.toml --set measure.processes=10 --set measure.pause=200ms --shard locked --node-name l1 >"$scratch/out" 2>"$scratch/err" &
  runner=$!
  await eval 'ls locked/l1-*.db >"$scratch/null" 2>&1'
  chmod a-w locked
  wait $runner
  code=$?
else
  # Nothing is denied to root: the folder goes away instead.
  "$haul" run long.toml --set measure.processes=10 --set measure.pause=200ms --shard locked --node-name l1 >"$scratch/out" 2>"$scratch/err" &
  runner=$!
  await eval 'ls locked/l1-*.db >"$scratch/null" 2>&1'
  mv locked gone
  wait $runner
  code=$?
fi
expect_code 3
expect_err 'warning: cannot write locked/.*; the run goes on'
expect_err "error: the results are not in locked but in $local_disk/haul-shards-[0-9]+/[A-Za-z0-9]+/l1-[0-9a-f]{32}\.db"
kept=$(find "$local_disk" -name 'l1-*.db')
run_ok merge kept.db "$kept"
expect_value '10 done' kept.db "select (select count(*) from case_run) || ' ' || status from run"

begin 'the name of the host, whole or short, is no second name of its machine'
host=$(cat /proc/sys/kernel/hostname)
run_ok run "$small" --shard own --node-name "$host" --expected-nodes "$host,x1,x2"
shard=$(find own -name '*.db')
expect_value 0 "$shard" 'select count(node) from environment'
run_ok run "$small" --shard own --node-name "${host%%.*}" --expected-nodes 'x[1-2]' --tag short
shard=$(find own -name '*.db' -newer "$shard")
expect_value 0 "$shard" 'select count(node) from environment'
sqlite3 "$shard" "update environment set host_name = 'x1.lab.example', key = printf('%032d', 1)"
run_ok merge own.db own
expect_value 'x1:ok x2:missing' own.db \
  "select group_concat(node || ':' || state, ' ') from (select * from v_node where fleet = 'short' order by node)"

begin 'a node that is in use by another run says so'
"$haul" run long.toml --db busy.db >"$scratch/null" 2>&1 &
runner=$!
await test -e busy.db
run run "$small" --shard busy --node-name b1 --wait 0s
expect_code 3
kill $runner
wait $runner
run_ok merge busy_fleet.db busy
expect_states busy_fleet.db 'b1:failed'
expect_out '^failed +1 +b1 +another run used'

begin 'a home that cannot be written does not matter'
HOME=/proc XDG_DATA_HOME=/proc run_ok run "$small" --shard homeless --node-name h1

begin 'a folder that cannot be made'
: >file
run_error 2 'file is not a directory' run "$small" --shard file

finish
