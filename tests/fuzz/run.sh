#!/bin/sh
# run.sh MINUTES [JOBS [FOLDER [TARGET...]]] - every fuzz target of FOLDER (default: build-fuzz/tests), or those named,
# for MINUTES each with libFuzzer, in JOBS processes at once (default: one for each processor), and a table of
# executions. With fewer jobs than targets the targets take turns: JOBS = 1 takes MINUTES for each. Inputs that are
# found go to FOLDER/corpus, what crashes to FOLDER/crash-*. Exit code 1: something crashed.
#   cmake --preset fuzz && cmake --build --preset fuzz && tests/fuzz/run.sh 10
set -eu
minutes=$1
jobs=${2:-$(nproc)}
here=$(cd -P -- "$(dirname -- "$0")" && pwd)
cd -- "${3:-$here/../../build-fuzz/tests}"
shift "$(($# < 3 ? $# : 3))"
targets=${*:-scenario machine import message database sql}
count=$(echo "$targets" | wc -w)
each=$((jobs < count ? 1 : jobs / count))
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
export TMPDIR=/dev/shm # for their databases
mkdir -p logs
running=0
for target in $targets; do
  mkdir -p "corpus/$target"
  rm -f -- logs/"$target".*
  case $target in
    machine) set -- "$here"/../machines/*.toml ;;
    import) set -- "$here/$target"/* "$here"/../data/*.json ;;
    sql) set -- "$here/$target"/* "$here"/../../schema/results/queries/*.sql ;;
    *) set -- "$here/$target"/* ;;
  esac
  for seed; do
    [ -f "$seed" ] && cp -- "$seed" "corpus/$target/"
  done
  job=0
  while [ "$job" -lt "$each" ]; do
    "./fuzz_$target" -max_total_time=$((minutes * 60)) -max_len=65536 -rss_limit_mb=4096 -timeout=60 \
      -reload=1 -print_final_stats=1 -artifact_prefix="crash-$target-" "corpus/$target" \
      >"logs/$target.$job" 2>&1 &
    job=$((job + 1))
  done
  running=$((running + each))
  if [ $((running + each)) -gt "$jobs" ]; then
    wait
    running=0
  fi
done
wait
failed=0
printf '%-10s %12s %8s\n' target executions crashes
for target in $targets; do
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' logs/"$target".* | awk '{ n += $1 } END { print n + 0 }')
  crashes=$(find . -maxdepth 1 -name "crash-$target-*" | wc -l)
  ended=$(grep -l '^stat::number_of_executed_units' logs/"$target".* | wc -l)
  [ "$crashes" -eq 0 ] && [ "$ended" -eq "$each" ] || failed=1
  printf '%-10s %12s %8s\n' "$target" "$executions" "$crashes"
done
printf '%s minutes each, %s of %s processes at once\n' "$minutes" "$((jobs < each * count ? jobs : each * count))" "$((each * count))"
exit "$failed"
