#!/usr/bin/env bash
# slurm.sh NODES COMMAND... - runs a command with a Slurm of so many nodes on this host, n1, n2 and so on: a slurmctld,
# and a slurmd for each, on ports and in a folder of their own, as whoever calls; no munge, no cgroups. All of it
# ends with the command. To be sourced by tests, for the functions.

# slurm_start FOLDER NODES: sets SLURM_CONF, and returns when every node is idle.
slurm_start() {
  slurm_folder=$1
  local nodes=$2 host user node port
  host=$(hostname -s)
  user=$(id -un)
  port=$((16000 + $$ % 240 * 64)) # below those that Linux gives to clients
  mkdir -p "$slurm_folder"/{state,spool}
  cat >"$slurm_folder/slurm.conf" <<TEXT
ClusterName=fleet
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
AuthType=auth/none
CredType=cred/none
SlurmUser=$user
SlurmdUser=$user
StateSaveLocation=$slurm_folder/state
SlurmdSpoolDir=$slurm_folder/spool/%n
SlurmctldPidFile=$slurm_folder/slurmctld.pid
SlurmdPidFile=$slurm_folder/slurmd.%n.pid
SlurmctldLogFile=$slurm_folder/slurmctld.log
SlurmdLogFile=$slurm_folder/slurmd.%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
NodeName=n[1-$nodes] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + nodes))] CPUs=64 RealMemory=100
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
TEXT
  export SLURM_CONF=$slurm_folder/slurm.conf
  slurm_daemon slurmctld slurmctld -D -i
  for node in $(seq "$nodes"); do
    mkdir "$slurm_folder/spool/n$node"
    slurm_daemon "n$node" slurmd -D -N "n$node"
  done
  for _ in $(seq 300); do
    [ "$(sinfo -h -N -t idle 2>/dev/null | wc -l)" -lt "$nodes" ] || return 0
    sleep 0.1
  done
  echo "Slurm did not start: $(sinfo -h -N 2>&1 | grep -v idle | head -n 3); the end of its log:" >&2
  tail -n 5 "$slurm_folder/slurmctld.log" "$slurm_folder/slurmctld.out" >&2
  return 1
}

slurm_daemon() { # NAME COMMAND...: dies with this shell, however that ends
  PATH=$PATH:/usr/sbin setpriv --pdeathsig KILL "${@:2}" >"$slurm_folder/$1.out" 2>&1 </dev/null &
  echo $! >"$slurm_folder/$1.daemon"
  disown
}

# The processes that watch the tasks of a node, or of all.
slurm_stepds() { # [NODE]
  local process
  for process in $(ps -eo pid=,args= | sed -n 's/^ *\([0-9]*\) slurmstepd: .*/\1/p'); do
    if readlink "/proc/$process"/fd/* | grep -qE "^$slurm_folder/slurmd\.${1:-[^/]*}\.log$"; then
      echo "$process"
    fi
  done 2>/dev/null
}

# What is left of a node that loses power: nothing.
slurm_kill_node() { # NODE
  local stepd tasks task
  kill -KILL "$(cat "$slurm_folder/$1.daemon")"
  for stepd in $(slurm_stepds "$1"); do
    tasks=$(ps -o pgid= --ppid "$stepd")
    kill -KILL "$stepd"
    for task in $tasks; do
      kill -KILL -- "-$task"
    done
  done
}

slurm_stop() {
  [ -n "${slurm_folder-}" ] || return 0
  local daemon daemons attempt
  timeout 10 scancel -u "$(id -un)" 2>/dev/null
  for attempt in $(seq 20); do
    : "$attempt"
    [ -n "$(slurm_stepds)" ] || break
    sleep 0.1
  done
  daemons=$(cat "$slurm_folder"/*.daemon; slurm_stepds)
  for daemon in $daemons; do
    kill -KILL "$daemon" 2>/dev/null
  done
  for daemon in $daemons; do
    while grep -q . "/proc/$daemon/cmdline" 2>/dev/null; do sleep 0.02; done
  done
  unset slurm_folder SLURM_CONF
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  [ $# -ge 2 ] || { sed -n '2,4s/^# //p' "$0"; exit 2; }
  folder=$(mktemp -d)
  trap 'slurm_stop; rm -rf -- "$folder"' EXIT
  slurm_start "$folder" "$1" || exit 1
  shift
  "$@"
fi
