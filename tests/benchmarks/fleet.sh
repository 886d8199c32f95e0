#!/usr/bin/env bash
# fleet.sh TEMPLATE [NODES...] - how merge, outliers and the fleet page grow with the nodes (default 10 100 1000):
# wall time, that of the processor and most memory of each, as rows of the table in docs/fleet.md. TEMPLATE is a
# database with one run of one process (haul run nvbandwidth --processes 1), of which make_fleet makes five of each
# node; of two faults, both must be named and nothing else. Needs build-release with make_fleet, GNU time, and 2 MB per
# node in the current folder (5 MB where the run was slow and has much telemetry); what it makes it removes.
set -euo pipefail
root=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
haul=${HAUL:-$root/build-release/haul}
make_fleet=${MAKE_FLEET:-$root/build-release/tests/benchmarks/make_fleet}
template=$1
shift
[ $# -gt 0 ] || set -- 10 100 1000
scratch=$(mktemp -d "$PWD/fleet-XXXXXX")
trap 'rm -rf -- "$scratch"' EXIT

measured() { # COMMAND...: "1.2 s (0.9 s), 45 MB"
  /usr/bin/time -o "$scratch/time" -f '%e %U %S %M' "$@" >"$scratch/out" 2>"$scratch/err" ||
    { cat "$scratch/err" >&2; exit 1; }
  awk '{ printf "%.1f s (%.1f s), %.0f MB", $1, $2 + $3, $4 / 1024 }' "$scratch/time"
}

echo '| nodes | shards | merge | again | database | outliers | page | its size |'
echo '|---|---|---|---|---|---|---|---|'
for nodes in "$@"; do
  "$make_fleet" "$template" "$scratch/shards" "$nodes" slow_gpu=7:2:3 half_link=9:1
  shards=$(du -sm "$scratch/shards" | cut -f 1)
  merge=$(measured "$haul" merge "$scratch/fleet.db" "$scratch/shards")
  again=$(measured "$haul" merge "$scratch/fleet.db" "$scratch/shards")
  database=$(du -m "$scratch/fleet.db" | cut -f 1)
  outliers=$(measured "$haul" outliers --all --db "$scratch/fleet.db")
  if [ "$(grep -c 'slower than its peers' "$scratch/out")" != 2 ]; then
    cat "$scratch/out" >&2
    exit 1
  fi
  page=$(measured "$haul" report --fleet "$scratch/page.html" --db "$scratch/fleet.db")
  size=$(du -k "$scratch/page.html" | cut -f 1)
  echo "| $nodes | $shards MB | $merge | $again | $database MB | $outliers | $page | $size kB |"
  rm -rf "$scratch/shards" "$scratch/fleet.db"
done
