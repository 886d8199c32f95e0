#!/usr/bin/env bash
# A real control group with less memory than all sizes of a rising sweep take together: every case is measured,
# and nothing is killed. Group and sizes are a quarter of what such a sweep is in practice: 3 GiB, 64 to 512 MiB.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
limit=$((768 << 20))
if [ "$(stat -fc %T /sys/fs/cgroup 2>/dev/null)" = cgroup2fs ]; then
  group=/sys/fs/cgroup/haul-test-$$ limit_file=memory.max
else
  group=/sys/fs/cgroup/memory/haul-test-$$ limit_file=memory.limit_in_bytes
fi
if [ "$(awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo)" -lt 2048 ]; then
  echo 'skipped: less than 2 GiB of memory are free'
  exit 77
elif ! mkdir "$group" 2>/dev/null; then
  echo "skipped: cannot make the control group $group"
  exit 77
fi
trap 'rmdir "$group"; rm -rf "$scratch"' EXIT
if ! echo "$limit" 2>/dev/null >"$group/$limit_file"; then
  echo "skipped: cannot set $limit_file of a control group; the memory controller is not delegated"
  exit 77
fi

rising() { # NAME METHOD FROM TO PAIRS
  scenario "$1" 'max_time = "5ms"; min_trial = "1ms"; trials = { min = 2, max = 2 }' \
    "$1 | { numa = 0, memory = \"$3\" } | { $4 } | { from = \"16MiB\", to = \"128MiB\", step = \"16MiB\" } | method = \"$2\"; $5"
}
measure() { # NAME
  printf 'haul run %s.toml, in a control group of %s bytes' "$1" "$limit" >"$scratch/command"
  (
    echo "$BASHPID" >"$group/cgroup.procs" || exit 99
    exec "$haul" run "$1.toml" --db "$1.db" -q
  ) >"$scratch/out" 2>"$scratch/err" </dev/null
  code=$?
  expect_code 0
  expect_value '8 8' "$1.db" "select count(*) || ' ' || sum(status = 'ok') from v_run_case"
}

begin 'memory of the host, rising sizes'
rising host cpu pageable 'numa = 0, memory = "pageable"' 'pairs = "same"'
measure host

if fake_driver h200x4; then
  begin 'pinned memory of the host under the driver, rising sizes'
  rising pinned ce pinned 'gpu = 0' ''
  measure pinned
fi
finish
