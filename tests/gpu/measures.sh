#!/bin/sh
# measures.sh EXECUTABLE [asan] - every shipped scenario, made small, on the GPUs of this machine: nothing fails,
# every byte arrives. What is larger than 16 MiB gets that size (1 MiB on simulated GPUs), so managed memory too, and
# each of many pieces and a stride a 64th of it.
# Then the kernels of some under compute-sanitizer, where that is installed, the GPUs are real and the executable
# is not an asan one. Ends with 77 where there is no GPU.
set -eu
haul=$1
build=${2:-plain}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_DATA_HOME="$folder" HOME="$folder" LC_ALL=C.UTF-8
"$haul" env --json >"$folder/env"
grep -q '"uuid": "GPU-' "$folder/env" || {
  echo "there is no GPU here"
  exit 77
}
limit=16777216
if grep -q '"simulated": true' "$folder/env"; then
  limit=1048576
  build=simulated
fi
failures=0

bad() { # WHAT FILE
  failures=$((failures + 1))
  echo "FAILED: $1" | tee -a "$folder/failed"
  tail -n 30 "$2"
}

# NAME.toml: the scenario without what makes its trials many or long or judges them, and with its sizes clamped:
# "512MiB", and whole numbers of seven digits and more.
shrink() { # NAME LIMIT
  "$haul" show "$1" | awk -v limit="$2" '
    function clamp(size,   unit) {
      unit = size ~ /K/ ? 1024 : size ~ /M/ ? 1048576 : size ~ /G/ ? 1073741824 : 1
      return substr(size, 2) * unit > most ? " " most : size
    }
    /^pages *=/ { print; next } # words, not sizes
    !/^ *#|^(budget|max_time|min_trial|processes|telemetry|trials|verdict) *=/ {
      rest = $0
      line = ""
      most = /^(piece_size|stride) *=/ ? limit / 64 : limit
      while (match(rest, /"[0-9.]+[KMG]iB"| [0-9][0-9][0-9][0-9][0-9][0-9][0-9]+/)) {
        line = line substr(rest, 1, RSTART - 1) clamp(substr(rest, RSTART, RLENGTH))
        rest = substr(rest, RSTART + RLENGTH)
      }
      print line rest
    }' >"$folder/$1.toml"
}

# Few and short trials of a scenario, and how many cases came to what. With compute-sanitizer before it, each kernel
# runs alone, so that gates are off.
measure() { # NAME LIMIT [COMMAND...]
  name=$1
  shrink "$name" "$2"
  shift 2
  options=
  # Short, so that what is copied beside them outlasts them.
  ! grep -q '^\[\[chase\]\]' "$folder/$name.toml" || options='--set chase.hops=64'
  # The fake driver maps each allocation, and a process has at most 65,530 maps.
  [ "$name" != driver-calls ] || options='--set alive.alive=[0,1000]'
  [ "$name" != processes ] || options='--set open_many.handles=999'
  [ $# -eq 0 ] || options="$options --set measure.gate=off"
  code=0
  # shellcheck disable=SC2086
  "$@" "$haul" run "$folder/$name.toml" -q --db "$folder/$name.db" --processes 1 $options \
    --set measure.max_time=5ms --set measure.min_trial=20us --set measure.trials.min=2 \
    --set measure.trials.max=2 >"$folder/out" 2>&1 || code=$?
  "$haul" query --db "$folder/$name.db" --format csv >"$folder/cases" "
    SELECT '$name', status, count(*), round(sum(total_ns) / 1e9, 1) || ' s'
    FROM v_case GROUP BY status" || bad "$name left no results" "$folder/out"
  sed 1d "$folder/cases"
  # Where every case is skipped, as copies between GPUs are on one, the exit code is 3.
  if ! grep -q "^$name," "$folder/cases" || sed 1d "$folder/cases" | grep -Evq ',(ok|skipped),' || { [ "$code" -ne 0 ] && [ "$code" -ne 3 ]; }; then
    bad "$name ended with $code" "$folder/out"
  fi
  rm -f "$folder/$name.db"
}

mkdir "$folder/comm-scope"
"$haul" list scenarios --format csv | sed -e 1d -e 's/,.*//' >"$folder/names"
while read -r name; do
  measure "$name" "$limit"
done <"$folder/names"

sanitize() { # TOOL NAME
  echo "under $1:"
  measure "$2" 1048576 compute-sanitizer --tool "$1" --error-exitcode 99
  grep -h 'SUMMARY' "$folder/out" || bad "$1 says nothing" "$folder/out"
}
if [ "$build" = plain ] && command -v compute-sanitizer >/dev/null 2>&1; then
  for tool in memcheck racecheck initcheck; do
    sanitize "$tool" nvbandwidth
  done
  sanitize memcheck scattered-copies
  sanitize memcheck um-access
fi
# Once more at the end, for who kept no more than that.
[ "$failures" -eq 0 ] || { cat "$folder/failed"; exit 1; }
