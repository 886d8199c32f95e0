#!/usr/bin/env bash
# A stream that never ends: the watchdog ends the worker, and the rest is measured. Takes as long as
# the watchdog waits at least, 30 s.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
fake_driver h100x8-nvlink || exit 77

cat >gpu.toml <<'TOML'
schema_version = 1
name = "gpu"
[measure]
trials = { min = 5, max = 8 }
max_time = "100ms"
[[transfer]]
name = "up"
method = "ce"
from = { numa = "local", memory = "pinned" }
to = { gpu = 0 }
size = ["64KiB", "1MiB", "4MiB"]
TOML
cat >fault.toml <<'TOML'
[[fake.fault]]
kind = "hang"
call = "cuMemcpy*"
nth = 1
from = "host"
size_bytes = 1048576
TOML

begin 'a stream that never ends'
HAUL_FAKE_FAULTS=$scratch/fault.toml run_fails 3 'case up/.*1MiB: hung: no answer for 30' run gpu.toml --db hang.db
expect_value hung hang.db "select status from v_case where size_bytes = 1048576"
expect_value 2 hang.db "select count(*) from v_case where status = 'ok'"
expect_value ok hang.db 'pragma integrity_check'

finish
