#!/usr/bin/env bash
# fleet_diff.sh TEMPLATE [NODES [CALLS]] - how long haul diff takes on two runs of a fleet of NODES nodes (default 440):
# the fastest of CALLS calls (default 5): wall time, that of the processor and most memory, as a row of a table. On two
# idle cores a million results may take 0.5 s, fewer no more; it ends with 1 if they take longer. TEMPLATE is a database
# with one run of one process, of which make_fleet makes five of each node; of the second run a node is 5 % slower and
# must be named. With 228 cases (haul run nvbandwidth --processes 1 on four GPUs), 440 nodes have 1,003,200 results.
# DATABASE, if it is set, is kept, and used again. Needs build-release with make_fleet, GNU time, and 7 MB per node in
# the current folder.
set -euo pipefail
root=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
haul=${HAUL:-$root/build-release/haul}
make_fleet=${MAKE_FLEET:-$root/build-release/tests/benchmarks/make_fleet}
template=$1 nodes=${2:-440} calls=${3:-5}
scratch=$(mktemp -d "$PWD/fleet-XXXXXX")
trap 'rm -rf -- "$scratch"' EXIT
database=${DATABASE:-$scratch/fleet.db}

if [ ! -f "$database" ]; then
  for occasion in 0 1; do
    fault=$([ $occasion = 0 ] || echo slow_node=7:5)
    # shellcheck disable=SC2086
    "$make_fleet" "$template" "$scratch/shards" "$nodes" "occasion=$occasion" $fault >/dev/null
    "$haul" merge --quiet "$database" "$scratch/shards" >"$scratch/out"
    rm -rf "$scratch/shards"
  done
fi
results=$("$haul" query --format csv --db "$database" 'SELECT count(*) FROM case_run' | tail -n 1)
for _ in $(seq "$calls"); do
  /usr/bin/time -a -o "$scratch/times" -f '%e %U %S %M' "$haul" diff --db "$database" tag:fleet0 tag:fleet1 \
    >"$scratch/out"
  grep -q 'n0007 became 5.* slower' "$scratch/out" || { cat "$scratch/out" >&2; exit 1; }
done
echo '| nodes | results | diff |'
echo '|---|---|---|'
sort -g "$scratch/times" | awk -v nodes="$nodes" -v results="$results" 'NR == 1 {
  printf "| %d | %d | %.2f s (%.2f s), %.0f MB |\n", nodes, results, $1, $2 + $3, $4 / 1024
  exit !($1 <= 0.5 * (results > 1e6 ? results / 1e6 : 1)) }'
