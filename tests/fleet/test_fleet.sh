#!/usr/bin/env bash
# A fleet on a real Slurm, all of whose nodes are this host: the scripts of docs/fleet.md on the fake driver, and what
# is left when a node, a task or a shard is lost. HAUL_FLEET_NODES: how many, from 6 up (default 8).
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/../cli/common.sh"
# shellcheck source=tests/fleet/slurm.sh
. "$source_folder/tests/fleet/slurm.sh"
for program in slurmctld slurmd srun sbatch; do
  if ! PATH=$PATH:/usr/sbin command -v "$program" >/dev/null; then
    echo "skipped: there is no $program; ./bootstrap setup fleet installs it"
    exit 77
  fi
done
fake_driver h200x4 || exit 77
nodes=${HAUL_FLEET_NODES:-8}
others=$((nodes - 1))
document=$source_folder/docs/fleet.md

# The haul of the tasks: each node has GPUs and locks of its own, and the faults of faults/NODE.toml.
mkdir bin faults machines locks tmp
cat >bin/haul <<TEXT
#!/bin/sh
if [ -n "\$SLURM_PROCID" ] && [ "\$1" = run ]; then
  export HAUL_FAKE_MACHINE=$scratch/machines/\$SLURMD_NODENAME.toml HAUL_LOCKS=$scratch/locks/\$LOCKS\$SLURMD_NODENAME
  [ ! -e $scratch/faults/\$SLURMD_NODENAME.toml ] || export HAUL_FAKE_FAULTS=$scratch/faults/\$SLURMD_NODENAME.toml
  [ ! -e $scratch/faults/\$SLURMD_NODENAME.full ] ||
    exec unshare -m sh -c 'mount -t tmpfs -o size=8k none "\$TMPDIR" && exec "\$0" "\$@"' $haul "\$@"
fi
exec $haul "\$@"
TEXT
chmod +x bin/haul
for node in $(seq "$nodes"); do
  sed "s/GPU-00000200-0000/GPU-00000200-$(printf %04d "$node")/" "$HAUL_FAKE_MACHINE" >"machines/n$node.toml"
done
export PATH=$scratch/bin:$PATH TMPDIR=$scratch/tmp
scenario fleet 'trials = { min = 5, max = 8 }; max_time = "50ms"' \
  'up | { numa = "local", memory = "pinned" } | { gpu = "*" } | "1MiB"' \
  'down | { gpu = "*" } | { numa = "local", memory = "pinned" } | "1MiB"'
export SCENARIO=$scratch/fleet.toml NODES=$nodes

# The scripts of the document: ```LANGUAGE title=NAME ... ```
script() { # NAME
  awk -v name="title=$1" '/^```/ { inside = !inside && $2 == name; next } inside' "$document" >"$1"
  [ -s "$1" ] || bad "$document has no script $1"
}
script srun.sh
script fleet.sbatch
script prolog.sh
script epilog.sh
sed -i 's/ --exclusive//' fleet.sbatch # jobs of this test share the nodes

fleet() { # SHARDS: the srun of the document; $code and err are its
  printf 'srun.sh: %s' "$*" >"$scratch/command"
  SHARDS=$1 timeout 100 sh srun.sh >out 2>err </dev/null
  code=$?
}
# Nodes that are not well, of all that are expected in DATABASE: "n2:missing n3:partial", or none.
expect_states() { # EXPECTED DATABASE
  expect_value "$1" "$2" "select coalesce(group_concat(node || ':' || state, ' '), 'none') from
    (select * from v_node where state <> 'ok' order by length(node), node)"
  expect_value "$nodes" "$2" 'select count(*) from v_node'
}
expect_others() { # DATABASE: all that the nodes without a loss measured
  expect_value $((others * 8)) "$1" "select count(*) from v_case where status = 'ok' and node in
    (select node from v_node where state = 'ok')"
}

begin "$nodes nodes start"
trap 'slurm_stop; rm -rf -- "$scratch"' EXIT
if slurm_start "$scratch/slurm" "$nodes"; then good; else bad 'no Slurm'; finish; fi

# Slurm looks at time limits twice a minute: this one is awaited at the end, and nobody waits for its GPUs. The copies
# of n2 take 12 s each: a gate gives up, but not three times within half a minute.
begin 'a time limit'
cat >faults/n2.toml <<'TOML'
[[fake.fault]]
kind = "block"
call = "cuMemcpy*"
gpu = 1
count = 0
milliseconds = 12000
TOML
sed '/^#SBATCH --time=/d' fleet.sbatch >limited.sbatch
LOCKS=limited SHARDS=$scratch/limit sbatch --parsable --nodes="$nodes" limited.sbatch >limited 2>err </dev/null
limited=$(cat limited)
await eval "[ \"\$(find limit -name '*.db' 2>/dev/null | wc -l)\" -eq $nodes ]"
scontrol update "jobid=$limited" EndTime=now+1 2>err || bad 'no time limit'
rm faults/n2.toml

begin 'all well, by the srun of the document'
fleet well
expect_code 0
equal "$nodes" "$(find well -name 'n*.db' | wc -l)" 'shards'
run_ok merge well.db well
expect_states none well.db
expect_value $((nodes * 8)) well.db "select count(*) from v_case where status = 'ok'"
expect_value "$nodes $((nodes * 4))" well.db \
  "select count(distinct run) || ' ' || count(distinct gpu_uuid) from v_gpu"

begin 'what haul diff prints for a fleet can be pasted'
for side in before after; do
  srun --nodes=3 --ntasks-per-node=1 haul run "$SCENARIO" --quiet --shard pairs --processes 1 --tag $side \
    >null 2>err </dev/null || bad "srun: $(cat err)"
done
run_ok merge pairs.db pairs
run diff tag:before tag:after --db pairs.db
expect_err ' more runs of each side on each node \(now A 1, B 1\)\. Measure in turn, '
sed -n 's/^  //p' err >pasted.sh
expect_value 6 pairs.db 'select count(*) from v_run'
timeout 200 bash pasted.sh >out 2>err </dev/null || bad 'pasted lines fail'
expect_out '^A  tag:before: .*; 15 runs, '
expect_value '30 3' pairs.db "select count(*) || ' ' || count(distinct node) from v_run"

begin 'again: nothing is new'
cp well.db before.db
run_ok merge well.db well
equal "$(md5sum <before.db)" "$(md5sum <well.db)" 'the database'

begin 'one slow node is named, and no other'
cat >faults/n3.toml <<'TOML'
[[fake.link]]
from = "host"
to = 1
factor = 0.8
TOML
fleet slow
expect_code 0
rm faults/n3.toml
run_ok merge slow.db slow
expect_states none slow.db
run_ok outliers --all --db slow.db --format jsonl
equal 1 "$(grep -c '"finding": *"slow"' out)" 'slow things'
expect_out '"finding": *"slow".*"name": *"numa0-gpu1".*"host_name": *"n3"'

begin 'two fleets at once into one folder'
fleet both &
SHARDS=both timeout 100 sh srun.sh >out2 2>err2 </dev/null
equal 0 $? 'exit code of the second'
wait $!
run_ok merge both.db both
expect_value 2 both.db 'select count(distinct fleet) from v_node'
expect_value $((2 * nodes)) both.db "select count(*) from v_node where state = 'ok'"

begin 'half of a shard is lost'
half=$(echo well/n2-*.db)
truncate -s $(($(stat -c %s "$half") / 2)) "$half"
run_fails 3 "skipped $half: it is damaged" merge half.db well
expect_states 'n2:missing' half.db
expect_others half.db

begin 'a node that is not in the job, as one that is down'
sed "s/srun/srun --exclude=n1/; s/--shard/--expected-nodes 'n[1-$nodes]' --shard/" srun.sh >all.sh
NODES=$others SHARDS=down timeout 100 sh all.sh >out 2>err </dev/null
code=$?
expect_code 0
run_ok merge down.db down
expect_states 'n1:missing' down.db
expect_others down.db

begin 'the time limit: what was measured until then is there, of the others all'
for _ in $(seq 60); do
  [ -n "$(squeue -h -j "$limited" 2>/dev/null)" ] || break
  sleep 1
done
cp "haul-$limited.log" out
expect_out 'DUE TO TIME LIMIT'
run_ok merge limited.db "limit/$limited"
expect_states 'n2:partial' limited.db
expect_others limited.db

begin 'a node below the expected range is drained, and no other'
cat >expect.toml <<'TOML'
format = 1
[[machine]]
name = "test"
gpu = "*"
simulated = true
[[machine.expect]]
path = "host_to_device"
statement = "floor"
low = 45
unit = "GB/s"
source = "test"
TOML
cat >faults/n3.toml <<'TOML'
[[fake.link]]
from = "host"
to = 1
factor = 0.8
TOML
# The scripts of the document with the few cases of this test, and where there is no /usr/bin/haul.
sed 's/^\[measure\]/&\nverdict = "expected"/' fleet.toml >health.toml
sed -i "s|/usr/bin/||g; s|run health|run $scratch/health.toml|; s|/var/lib/haul/|$scratch/\$SLURMD_NODENAME-|" prolog.sh epilog.sh
export HAUL_EXPECT=$scratch/expect.toml
timeout 100 srun --nodes="$nodes" sh prolog.sh >out 2>err </dev/null
code=$?
printf 'prolog.sh' >"$scratch/command"
expect_code 1
equal n3 "$(sed -n 's/^srun: error: \(n[0-9]*\): .*Exited with exit code 1$/\1/p' err | paste -sd ' ' -)" 'nodes that the prolog fails'
timeout 100 srun --nodes="$nodes" sh epilog.sh >out 2>err </dev/null
unset HAUL_EXPECT
rm faults/n3.toml
equal n3 "$(sinfo -h -N -t drain -o %N | paste -sd ' ' -)" 'drained'
sinfo -h -R -o '%100E' >out
expect_out '^unhealthy: .*gpu1'
scontrol update nodename=n3 state=resume

# n2 and n6 are in the middle of their copies, which take a second each.
begin 'one sbatch of the document: a slow link, a dead node, a failing GPU, a wrong driver, a full disk, a dead slurmd'
cat >faults/n1.toml <<'TOML'
[[fake.link]]
from = "host"
to = 1
factor = 0.5
TOML
cat >faults/n2.toml <<'TOML'
[[fake.fault]]
kind = "block"
call = "cuMemcpy*"
gpu = 2
count = 4
milliseconds = 1000
TOML
cp faults/n2.toml faults/n6.toml
cat >faults/n3.toml <<'TOML'
[[fake.fault]]
kind = "error"
call = "cuMemcpy*"
gpu = 2
count = 0
code = 2
TOML
cat >faults/n4.toml <<'TOML'
[fake]
driver_version = "590.44.01"
TOML
full=
if unshare -m mount -t tmpfs none tmp 2>"$scratch/null"; then
  full=n5
  touch faults/n5.full
fi
SHARDS=$scratch/batch timeout 100 sbatch --wait --parsable --nodes="$nodes" fleet.sbatch >job 2>err </dev/null &
await eval "[ \"\$(find batch -name 'n[26]-*.db' 2>/dev/null | wc -l)\" -eq 2 ]"
kill -KILL "$(cat "$scratch/slurm/n6.daemon")"
slurm_kill_node n2
scontrol update nodename=n2 state=down reason=power
wait $!
code=$?
printf 'fleet.sbatch' >"$scratch/command"
expect_code 1
cp "haul-$(cat job).log" out
expect_out '^n1 +slow +gpu1.s host link .*slower'
expect_out '^n2 +partial '
expect_out '^n3 +failed '
expect_out '^n4 +different +driver 590.44.01, where [0-9]+ of [0-9]+ nodes have 580.159.04'
[ -z "$full" ] || expect_out '^n5 +missing +its shard was skipped: .*could not write the shard: .*full'
equal "$(printf '%s\n' n1 n2 n3 n4 $full)" "$(sed -n 's/^\(n[0-9]*\) .*/\1/p' out | sort -u)" 'nodes that are named'
merged=batch/$(cat job).fleet.db
run_ok report --fleet batch.html --db "$merged"
for node in n2 n3 n4 $full; do
  grep -q "<th scope=\"row\">$node</th><td class=\"name [a-z]*\">\(failed\|different\|partial\|missing\)" batch.html ||
    bad "the page has no $node"
done
grep -q 'n1.*gpu1.*host link' batch.html || bad 'the page has no slow link'
expect_states "n2:partial n3:failed${full:+ $full:missing}" "$merged"
expect_value $(((nodes - 2 - ${#full} / 2) * 8)) "$merged" "select count(*) from v_case where status = 'ok' and node in
  (select node from v_node where state = 'ok')"

finish
