#!/usr/bin/env bash
# bench_overhead.sh HAUL [SCENARIO] - the share of a run's wall time that is not measuring, and where
# it goes. Runs SCENARIO (default: quick) into a database of its own.
set -euo pipefail
haul=${1:?usage: bench_overhead.sh HAUL [SCENARIO]}
scenario=${2:-quick}
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

before=${EPOCHREALTIME/[.,]/}
"$haul" run "$scenario" --db "$scratch/results.db" -q >/dev/null
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
