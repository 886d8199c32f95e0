#!/usr/bin/env bash
# Measures on one GPU, in at most 8 minutes, what docs/results/make.py shows: measure.sh HAUL OUT [BEFORE]
# Databases and log.txt go to the folder OUT. With BEFORE, where the databases of an earlier call are, the runs of
# comm-scope that their budgets cut off go on, and nothing else is measured.
#
#   docs/results/make.py HAUL --keep h100 OUT/*.db      then keeps them, and docs/results/make.py HAUL makes the pages
set -u
haul=$(realpath -- "$1")
out=$2
before=${3-}
started=$SECONDS
log=$out/log.txt
limit_s=${LIMIT_S-470}
mkdir -p "$out"

left() { echo $((limit_s - (SECONDS - started))); }
measure() { # DB SCENARIO [OPTION...]
  local db=$1 scenario=$2 began=$SECONDS
  shift 2
  if [ "$(left)" -lt 15 ]; then
    echo "no time for $scenario" | tee -a "$log"
    return
  fi
  timeout -s INT "$(left)" "$haul" run "$scenario" "$@" --db "$out/$db.db" -q >>"$log" 2>&1
  echo "$scenario: exit code $?, $((SECONDS - began)) s" | tee -a "$log"
}

"$haul" --version | tee -a "$log"
"$haul" env --save "$out/machine.toml" >>"$log" 2>&1

slow=(--set measure.telemetry=1s)
# Seconds that a figure may take, all of them in the order of what they tell. A second call adds what a budget cuts off.
figures=(fig06:85 fig02:105 fig09:65 fig11:40 fig07:75 fig10:50)
if [ -n "$before" ]; then
  cp -- "$before"/comm-scope-*.db "$out/"
  for figure in "${figures[@]}"; do
    name=${figure%:*}
    [ -f "$out/comm-scope-$name.db" ] && measure "comm-scope-$name" --resume=latest
  done
  exit 0
fi

measure memory-bandwidth grid-sweep "${slow[@]}"
measure nvbandwidth nvbandwidth "${slow[@]}"
measure coherence um-coherence "${slow[@]}" --processes 3 --set measure.max_time=50ms
for scenario in shared-memory-latency arithmetic-latency memory-hierarchy stream fingerprint shared-cache-scaling; do
  measure microbenchmarking "$scenario" "${slow[@]}"
done
measure beyond cache-bandwidth "${slow[@]}"
measure beyond loaded-latency "${slow[@]}"
measure beyond energy
measure beyond um-access "${slow[@]}"
measure comm-scope-table1 comm-scope/table1 "${slow[@]}" --processes 5 --set measure.max_time=50ms
for figure in "${figures[@]}"; do
  name=${figure%:*}
  measure "comm-scope-$name" "comm-scope/$name" "${slow[@]}" --processes 5 --set measure.trials.min=1 \
    --set measure.trials.max=100 --set measure.max_time=50ms --set "measure.budget=${figure#*:}s"
done
echo "$((SECONDS - started)) s in all" | tee -a "$log"
