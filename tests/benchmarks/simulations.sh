#!/usr/bin/env bash
# simulations.sh BUILD_FOLDER - whether the tables of docs/SIMULATIONS.md are those that its commands print now. Their
# seeds are fixed, so every digit must be the same. Takes a quarter of an hour; .ci/run --nightly calls it.
set -euo pipefail
build=$(cd -- "$1" && pwd)
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
document=$(<docs/SIMULATIONS.md)
cmake --build "$build" --target simulate_diff simulate_fleet simulate_history >/dev/null
failed=0
while read -r program arguments; do
  # shellcheck disable=SC2086 # words
  rows=$({ "$build/tests/benchmarks/$program" $arguments || true; } | sed -n '/^|/p' | sed 1,2d) # a row may miss a limit
  if [ -n "$rows" ] && [[ $document == *$'\n'"$rows"$'\n'* ]]; then
    echo "$program $arguments: as documented"
  else
    printf '%s %s: docs/SIMULATIONS.md has not these rows:\n' "$program" "$arguments"
    grep -Fxv -f docs/SIMULATIONS.md <<<"$rows" || echo '  (all are there, not in this order)'
    failed=1
  fi
done < <(sed -n 's|.*build-release/tests/benchmarks/\(simulate_.*\)|\1|p' docs/SIMULATIONS.md)
exit "$failed"
