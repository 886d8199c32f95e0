#!/usr/bin/env bash
# beside_nvbandwidth.sh [-n ROUNDS] [-t TEST]... HAUL NVBANDWIDTH DATABASE [OPTION...] - haul's rates beside those of
# nvbandwidth on the same GPUs: both run in turns, ROUNDS times (5), each first in every second round; then a table:
# for each cell that both measure alike the medians over the rounds, their ratio, and how far the rounds of each lie
# apart, (highest - lowest) / median. `low`: the ratio is below 0.995. The options are for haul run. CUDA_VISIBLE_DEVICES
# says which GPUs. One round with all tests takes 25 s on one H200, 80 s on two, 4 min on four.
set -euo pipefail
rounds=5
tests=()
misuse() {
  sed -n '2s/^# //p' "$0" >&2
  exit 2
}
while getopts n:t: option; do
  case $option in
    n) rounds=$OPTARG ;;
    t) tests+=("$OPTARG") ;;
    *) misuse ;;
  esac
done
shift $((OPTIND - 1))
[ $# -ge 3 ] || misuse
haul=$1 nvbandwidth=$2 database=$3
shift 3
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
"$haul" env --save "$scratch/machine.toml" >/dev/null

of_nvbandwidth() { # ROUND
  "$nvbandwidth" -j ${tests[@]+-t "${tests[@]}"} >"$scratch/$1.json"
  "$haul" import nvbandwidth "$scratch/$1.json" --machine "$scratch/machine.toml" --tag nvbandwidth \
    --db "$database" -q >/dev/null
}

of_haul() {
  "$haul" run nvbandwidth -q --tag haul --db "$database" ${tests[@]+"${tests[@]/#/--only=}"} "$@" >/dev/null
}

for ((round = 1; round <= rounds; round++)); do
  if ((round % 2)); then
    of_nvbandwidth "$round"
    of_haul "$@"
  else
    of_haul "$@"
    of_nvbandwidth "$round"
  fi
done

# Cells are told apart by block and path: options may have changed what else defines the case.
"$haul" query --db "$database" "
  WITH ordered AS (
    SELECT tag, block, path, position, gbps, count(*) OVER cell AS n, row_number() OVER (cell ORDER BY gbps) AS place
    FROM v_run_case
    WHERE tag IN ('nvbandwidth', 'haul') AND status = 'ok' AND gbps IS NOT NULL
    WINDOW cell AS (PARTITION BY tag, block, path)),
  side AS (
    SELECT tag, block, path, min(position) AS position, max(n) AS rounds,
           avg(gbps) FILTER (WHERE place IN ((n + 1) / 2, n / 2 + 1)) AS median, max(gbps) - min(gbps) AS width
    FROM ordered
    GROUP BY tag, block, path),
  cell AS (
    SELECT h.block, h.path, h.position, n.median AS nvbandwidth, h.median AS haul, h.median / n.median AS ratio,
           100 * n.width / n.median AS nvbandwidth_spread, 100 * h.width / h.median AS haul_spread,
           n.rounds || '+' || h.rounds AS rounds
    FROM side h JOIN side n ON n.tag = 'nvbandwidth' AND n.block = h.block AND n.path = h.path
    WHERE h.tag = 'haul')
  SELECT block AS test, path, round(nvbandwidth, 2) AS nvbandwidth, round(haul, 2) AS haul, round(ratio, 4) AS ratio,
         round(nvbandwidth_spread, 2) AS nvbandwidth_spread_percent, round(haul_spread, 2) AS haul_spread_percent,
         rounds, CASE WHEN ratio < 0.995 THEN 'low' ELSE '' END AS remark
  FROM cell
  ORDER BY position"
