#!/usr/bin/env bash
# Medians that nobody measured: whatever is written into a database by hand, no verb prints an infinity or
# NaN, and none crashes.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
fake_driver h200x4 || exit 77

cp -- "$source_folder/tests/cli/gpu.toml" .
for tag in a b; do
  run_ok run gpu.toml --db measured.db -q --processes 4 --tag "$tag" --only 'up*'
done

verbs=('diff tag:a tag:b -v' 'diff tag:a tag:b --method rank' 'diff tag:a --a-a' 'diff tag:a tag:b --json'
  'diff tag:a tag:b --format csv' 'check tag:a tag:b --format junit' 'history *' 'history * --format csv'
  'outliers --all' 'outliers --json' 'list cases' 'list cases --json'
  'report - latest --against tag:a')
values=(9e999 -9e999 0 -5 1e-320 1e308 1e-3 3e16)
places=(1 'process = (SELECT max(process) FROM case_run)' 'run = 2 AND bench_case = 3')
for v in "${!values[@]}"; do
  for p in "${!places[@]}"; do
    begin "median_ns = ${values[v]} where ${places[p]}"
    cp measured.db written.db
    sqlite3 written.db "UPDATE case_run SET median_ns = ${values[v]} WHERE ${places[p]}"
    # Every verb sees every value and every place, and in the nightly run every pair of them.
    for w in "${!verbs[@]}"; do
      [ -n "${HAUL_NIGHTLY-}" ] || [ $(((v + p + w) % 3)) -eq 0 ] || continue
      read -ra words <<<"${verbs[w]}"
      run "${words[@]}" --db written.db
      if [ "$code" -le 4 ] && [ "$code" -ne 2 ]; then good; else bad "exit code $code"; fi
      sed -i '/<script/,/<\/script>/d' out # which may speak of infinities
      reject_out '(^|[^[:alnum:]_])([Nn][Aa][Nn]|[Ii]nf(inity)?)([^[:alnum:]_.]|$)'
      reject_err '(^|[^[:alnum:]_])([Nn][Aa][Nn]|[Ii]nf(inity)?)([^[:alnum:]_.]|$)'
    done
  done
done
finish
