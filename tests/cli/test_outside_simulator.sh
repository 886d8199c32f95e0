#!/bin/bash
# tests/benchmarks/outside_simulator.py still makes databases that haul reads, and reads its answers.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"

command -v python3 >/dev/null || exit 77

begin 'one world, two diffs of each kind, of three cases'
run_ok run "$source_folder/tests/cli/small.toml" --processes 1 --db template.db
python3 "$source_folder/tests/benchmarks/outside_simulator.py" "$haul" template.db 2 '4 runs in turn' >out 2>err
code=$?
expect_code 0
expect_out '^\| 0.4 %, 4 runs in turn +\| +0.0 \| +0.0 \| +0.0 \| +0.0 \| +100.0 \| +0.0 \| +[0-9.]+ \|'

finish
