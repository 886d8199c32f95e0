#!/usr/bin/env bash
# Measures on one GPU what docs/results/make.py shows, in four parts: measure.sh HAUL OUT PART
#
#   others   all but Comm|Scope: 2 minutes
#   figures  Comm|Scope in five processes, up to 1 GiB: 5 minutes
#   large    its figures 6, 9, 11 and 10 at 4 and 16 GiB, in five processes: 8 minutes. Each operation is repeated until
#            it has taken a second, as in the paper
#   larger   its figures 2 and 7 in the same way: 9 minutes
#
# Databases and log.txt go to the folder OUT, which LIMIT_S (540) seconds per call fill. Runs of a figure have one tag,
# so that queries read them as one. Then
#
#   docs/results/make.py HAUL --keep h100 OUT/*.db
#
# keeps them, and docs/results/make.py HAUL makes the pages.
set -u
haul=$(realpath -- "$1")
out=$2
part=$3
started=$SECONDS
log=$out/log.txt
limit_s=${LIMIT_S-540}
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
slow=(--set measure.telemetry=1s)
measure_figures() { # DB SIZES OPTIONS... -- FIGURE...
  local db=$1 sizes=$2 options=()
  shift 2
  while [ "$1" != -- ]; do
    options+=("$1")
    shift
  done
  shift
  for figure in "$@"; do
    measure "$db" "comm-scope/$figure" "${slow[@]}" --processes 5 --tag results --only "$sizes" "${options[@]}"
  done
}
# In the order of what they tell.
first=(fig06 fig09 fig11 fig10) second=(fig02 fig07)
until_a_second=(--set measure.trials.min=1 --set measure.min_time=1s)
case $part in
others)
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
  ;;
figures)
  measure comm-scope comm-scope/table1 "${slow[@]}" --processes 5
  measure_figures comm-scope '*KiB,*MiB,*/1GiB' -- "${first[@]}" "${second[@]}"
  ;;
large) measure_figures comm-scope-large '*/4GiB,*/16GiB' "${until_a_second[@]}" -- "${first[@]}" ;;
larger) measure_figures comm-scope-large '*/4GiB,*/16GiB' "${until_a_second[@]}" -- "${second[@]}" ;;
*)
  echo "$0: $part: others, figures, large or larger" >&2
  exit 2
  ;;
esac
echo "$((SECONDS - started)) s in all" | tee -a "$log"
