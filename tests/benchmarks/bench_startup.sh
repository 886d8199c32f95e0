#!/usr/bin/env bash
# bench_startup.sh HAUL - how long the executable takes to start: haul --version (at most 10 ms) and
# haul validate of 1,000 blocks (at most 0.1 s). Median and worst of several runs, wall time; exit
# code 1 when a median is over its limit. Meant for a release build on a machine with nothing else to do.
set -euo pipefail
haul=${1:?usage: bench_startup.sh HAUL}
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

{
  printf 'schema_version = 1\nname = "thousand"\n'
  for ((i = 0; i < 1000; i++)); do
    printf '[[transfer]]\nname = "block%d"\nmethod = "cpu"\n' "$i"
    printf 'from = { numa = 0, memory = "pageable" }\nto = { numa = "*", memory = "pageable" }\n'
    printf 'pairs = "ordered"\nsize = { from = "4KiB", to = "1GiB", factor = 2 }\n'
  done
} >"$scratch/thousand.toml"

# Wall time of COMMAND in microseconds, REPEATS times, sorted, into $times.
measure() { # REPEATS COMMAND...
  local repeats=$1 before after
  shift
  "$@" >/dev/null 2>&1 # the first brings the files into memory
  times=$(for ((i = 0; i < repeats; i++)); do
    before=${EPOCHREALTIME/[.,]/}
    "$@" >/dev/null 2>&1
    after=${EPOCHREALTIME/[.,]/}
    echo $((after - before))
  done | sort -n)
}

over=0
report() { # WHAT LIMIT-IN-MICROSECONDS
  local count median worst
  count=$(wc -l <<<"$times")
  median=$(sed -n "$(((count + 1) / 2))p" <<<"$times")
  worst=$(tail -n 1 <<<"$times")
  printf '%-32s median %7d us, worst %7d us of %d runs; limit %d us\n' \
    "$1" "$median" "$worst" "$count" "$2"
  if [ "$median" -gt "$2" ]; then
    over=1
  fi
}

measure 100 "$haul" --version
report 'haul --version' 10000
measure 20 "$haul" validate "$scratch/thousand.toml"
report 'haul validate, 1,000 blocks' 100000
exit "$over"
