#!/usr/bin/env bash
# run.sh - builds haul optimised and measures what it should achieve: trials recorded per second, the time
# to read scenarios, to plan and to start, and the share of a run that is not measuring. A few minutes,
# on a machine with nothing else to do; ends with 1 when a limit is exceeded.
# Further ones, run by hand from build-release/tests/benchmarks: bench_history, bench_host_copy, bench_gpu_kernels,
# simulate_diff, make_fleet; fleet.sh, which merges as well, and fleet_diff.sh; copy_kernels.toml with haul run; and, on
# GPUs, beside_nvbandwidth.sh, which says how its rates compare with those of nvbandwidth.
set -euo pipefail
root=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd "$root"

./bootstrap build >"$scratch/build.log" 2>&1 || { cat "$scratch/build.log" >&2; exit 1; }
cmake --build build-release --target bench_record >"$scratch/build.log" 2>&1 ||
  { cat "$scratch/build.log" >&2; exit 1; }

haul=$root/build-release/haul
over=0
limited() { "$@" || over=1; } # a benchmark that ends with 1 when it exceeds its limit

# 1,000 blocks, as a scenario.
{
  printf 'schema_version = 1\nname = "thousand"\n'
  for ((i = 0; i < 1000; i++)); do
    printf '[[transfer]]\nname = "block%d"\nmethod = "cpu"\n' "$i"
    printf 'from = { numa = 0, memory = "pageable" }\nto = { numa = "*", memory = "pageable" }\n'
    printf 'pairs = "ordered"\nsize = { from = "4KiB", to = "1GiB", factor = 2 }\n'
  done
} >"$scratch/thousand.toml"
# 100,000 cases: 1,800 sizes between each two of 8 GPUs, in an order of their own.
{
  printf 'schema_version = 1\nname = "many"\n[measure]\norder = "shuffled"\n[[transfer]]\nname = "device_to_device"\n'
  printf 'method = "ce"\nfrom = { gpu = "*" }\nto = { gpu = "*" }\nsize = { from = 4096, to = 11236, step = 4 }\n'
} >"$scratch/many.toml"

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

# The share of a run's wall time that is not measuring, and where it goes.
overhead() {
  local before after wall_ns
  before=${EPOCHREALTIME/[.,]/}
  "$haul" run quick --db "$scratch/results.db" -q >/dev/null
  after=${EPOCHREALTIME/[.,]/}
  wall_ns=$(((after - before) * 1000))
  "$haul" query --db "$scratch/results.db" --param wall="$wall_ns" "
    WITH spent AS (
      SELECT sum(measure_ns) AS measure, sum(verify_ns) AS verify, sum(allocate_ns) AS allocate,
             sum(total_ns) AS cases
      FROM case_run)
    SELECT :wall / 1e9 AS wall_s,
           measure / 1e9 AS in_trials_s,
           verify / 1e9 AS verify_s,
           allocate / 1e9 AS allocate_s,
           (cases - measure - verify - allocate) / 1e9 AS rest_of_cases_s,
           (:wall - cases) / 1e9 AS outside_cases_s,
           100.0 * (:wall - measure) / :wall AS percent_not_measuring
    FROM spent"
}

section() { printf '\n== %s\n' "$1"; }
section 'trials recorded per second (300,000 expected for large cases)'
limited build-release/tests/benchmarks/bench_record "$scratch"
section 'start, reading, planning'
measure 100 "$haul" --version
report 'haul --version' 10000
measure 20 "$haul" validate "$scratch/thousand.toml"
report 'haul validate, 1,000 blocks' 100000
measure 3 "$haul" plan --machine tests/machines/h100x8-nvlink.toml "$scratch/many.toml"
report 'haul plan, 100,000 cases' 1000000
section 'where the wall time of quick.toml goes'
overhead
exit "$over"
