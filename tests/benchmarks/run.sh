#!/usr/bin/env bash
# run.sh - builds haul for speed and runs the benchmarks of what it promises: recording, reading
# scenarios, planning, starting, and the share of a run that is not measuring. A few minutes.
# Further ones, run by hand from build-release/tests/benchmarks: bench_history, bench_merge,
# bench_host_copy, bench_gpu_kernels, simulate_diff; and copy_kernels.toml with haul run.
set -euo pipefail
root=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd "$root"

./bootstrap build >"$scratch/build.log" 2>&1 || { cat "$scratch/build.log" >&2; exit 1; }
cmake --build build-release --target bench_record bench_scenario bench_plan >"$scratch/build.log" 2>&1 ||
  { cat "$scratch/build.log" >&2; exit 1; }

section() { printf '\n== %s\n' "$1"; }
section 'trials recorded a second (300,000 wanted for large cases)'
build-release/tests/benchmarks/bench_record "$scratch"
section '1,000 blocks read and validated (0.1 s), 100,000 settings'
build-release/tests/benchmarks/bench_scenario
section 'a plan of 100,000 cases (1 s)'
build-release/tests/benchmarks/bench_plan
section 'start of the executable (haul --version 10 ms, validate of 1,000 blocks 0.1 s)'
tests/benchmarks/bench_startup.sh build-release/haul
section 'where the wall time of quick.toml goes'
tests/benchmarks/bench_overhead.sh build-release/haul
