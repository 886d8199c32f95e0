#!/bin/sh
# measures.sh EXECUTABLE [asan] - every shipped scenario, made small, on the GPUs of this machine: nothing
# fails, every byte arrives; and the 44 tests of nvbandwidth under compute-sanitizer, where that is
# installed and the executable is not an asan one. Ends with 77 where there is no GPU.
set -eu
haul=$1
build=${2:-plain}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_DATA_HOME="$folder" HOME="$folder" LC_ALL=C.UTF-8
"$haul" env --json | grep -q '"uuid": "GPU-' || {
  echo "there is no GPU here"
  exit 77
}
failures=0

bad() { # WHAT FILE
  failures=$((failures + 1))
  echo "FAILED: $1"
  tail -n 30 "$2"
}

# Prints cases ok and skipped; others are a failure.
measure() { # NAME [option...]
  name=$1
  shift
  code=0
  "$haul" run "$name" -q --db "$folder/$name.db" --set measure.max_time=5ms \
    --set measure.trials.min=2 --set measure.trials.max=2 --set measure.min_trial=20us "$@" \
    >"$folder/out" 2>&1 || code=$?
  [ "$code" -eq 0 ] || bad "$name ended with $code" "$folder/out"
  "$haul" query --db "$folder/$name.db" --format csv \
    "select '$name', status, count(*) from v_case group by status" | tail -n +2
}

mkdir -p "$folder/comm-scope"
measure quick --set transfer.size=64KiB
measure nvbandwidth --set transfer.size=1MiB --set stream.size=1MiB
measure comm-scope/table1 --set transfer.size=1MiB
measure um-coherence --set transfer.size=2MiB
measure stream --set stream.size=4MiB
measure grid-sweep --set stream.size=4MiB
measure shared-cache-scaling --set stream.passes=1
measure shared-memory-latency --set chase.hops=4096
measure memory-hierarchy --set chase.hops=1024 --set l2.footprint=8MiB
measure arithmetic-latency
measure fingerprint --set stream.size=64KiB

if [ "$build" = plain ] && command -v compute-sanitizer >/dev/null 2>&1; then
  for tool in memcheck racecheck initcheck; do
    compute-sanitizer --tool "$tool" --error-exitcode 99 "$haul" run nvbandwidth -q \
      --db "$folder/$tool.db" --set transfer.size=1MiB --set stream.size=1MiB --set chase.footprint=64KiB \
      --set measure.gate=off --set measure.max_time=5ms --set measure.min_trial=100us \
      --set measure.trials.min=2 --set measure.trials.max=2 >"$folder/out" 2>&1 ||
      bad "nvbandwidth under $tool" "$folder/out"
    grep -h 'SUMMARY' "$folder/out" || bad "$tool says nothing" "$folder/out"
  done
fi
[ "$failures" -eq 0 ]
