#!/usr/bin/env bash
# Which cases and runs a command line selects: --only, --test, --where, several of them, from stdin.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
skip_emulated 'has no huge pages: the cases that want them fail'
machine=$source_folder/tests/machines/h200x4.toml

# Blocks of the plan.
blocks() { "$haul" plan --machine "$machine" --csv "$@" 2>"$scratch/err" </dev/null | sed '1d' | cut -d, -f2 | uniq; }
plan_of() { # EXPECTED ARGUMENT...
  local expected=$1
  shift
  equal "$expected" "$(blocks "$@" | tr '\n' ' ')" "blocks of $*"
}

begin 'several globs'
plan_of 'host_to_device_memcpy_ce device_local_copy ' nvbandwidth --only host_to_device_memcpy_ce --only '*_local_copy'
plan_of 'host_to_device_memcpy_ce device_local_copy ' nvbandwidth --only 'host_to_device_memcpy_ce,*_local_copy'
equal 1 "$("$haul" plan nvbandwidth --machine "$source_folder/tests/machines/h100x8-nvlink.toml" --csv --only 'all_to_host_memcpy_ce/gpu0..7-numa0,1:pinned/64MiB' | sed 1d | wc -l)" 'a name with a comma'
printf 'device_local_copy\n\n  host_to_device_memcpy_ce/*  \n' >"$scratch/globs"
equal 'host_to_device_memcpy_ce device_local_copy ' \
  "$("$haul" plan nvbandwidth --machine "$machine" --csv --only - <"$scratch/globs" | sed 1d | cut -d, -f2 | uniq | tr '\n' ' ')" 'globs from stdin'
run_fails 2 'standard input has no globs' plan nvbandwidth --only -
run_fails 2 'value that is not empty' plan nvbandwidth --only ,

begin 'globs that match nothing'
run_ok plan nvbandwidth --machine "$machine" --only 'device_local_copy,device_local_cpoy'
expect_err 'warning: no block and no case matches "device_local_cpoy"'
run_error 2 'did you mean "device_local_copy"' plan nvbandwidth --machine "$machine" --only device_local_cpoy

begin 'a batch leaves out what has no match'
run_ok plan quick nvbandwidth --machine "$machine" --only host_device_latency_sm
expect_err 'quick.toml is left out: no block and no case of it matches "host_device_latency_sm"'
expect_out '^host_device_latency_sm'
run_error 2 'nothing in 2 scenarios matches "nosuch"' plan quick nvbandwidth --machine "$machine" --only nosuch
run_ok plan quick nvbandwidth --machine "$machine" --only 'device_local_copy,nosuch'
expect_err 'no block and no case matches "nosuch"'

begin "nvbandwidth's tests by name and number"
plan_of 'host_to_device_memcpy_ce ' nvbandwidth -t host_to_device_memcpy_ce
plan_of 'host_to_device_memcpy_ce device_to_host_memcpy_ce device_local_copy ' nvbandwidth -t 0 1 38
plan_of 'host_to_device_memcpy_ce device_to_host_memcpy_ce device_local_copy ' nvbandwidth --test 0,1 --testcase device_local_copy
plan_of 'host_to_device_memcpy_sm ' -t 16 nvbandwidth
run_fails 2 'tests 0 to 43' plan nvbandwidth -t 44
run_error 2 '-t selects tests of nvbandwidth, and quick.toml has none of them: no block .*there are blocks "host_to_device"' \
  plan quick --machine "$machine" -t 1
run_error 2 ' error: no block and no case matches "device_local_cpoy"; did you mean' plan nvbandwidth --machine "$machine" -t device_local_cpoy
run_fails 2 'give --test or --only, not both' plan nvbandwidth -t 0 --only '*gpu0*'
run_error 2 'did you mean "device_local_copy"' plan nvbandwidth --machine "$machine" -t device_local_cpoy

begin '-h'
for verb in $("$haul" --help | sed -n 's/^  \([a-z]*\) .*/\1/p' | grep -v '^haul$'); do
  run_ok "$verb" -h
  expect_out "^Usage: haul $verb "
  expect_out '^  -h, --help '
done

if fake_driver h200x4; then
  begin 'runs by facts'
  db=$scratch/where.db
  run_ok run "$source_folder/tests/cli/small.toml" quick --only 'host*' --set transfer.size=64KiB --set measure.settle_time=off --db "$db" --tag one
  run_ok run "$source_folder/tests/cli/small.toml" --db "$db" --tag two
  run_ok outliers --all --db "$db" --where tag=one,two --csv
  run_ok outliers --all --db "$db" --where 'tag=one,scenario=*' --csv
  printf 'tag=t*\n' >"$scratch/where"
  if "$haul" history --db "$db" '*' --where - --csv <"$scratch/where" >"$scratch/out" 2>"$scratch/err"; then good; else bad 'facts from stdin'; fi
  reject_err error
  run_error 2 'no run matches --where' history --db "$db" '*' --where tag=three,four
  run_fails 2 'needs FACT=VALUE' history --db "$db" '*' --where tag
  begin 'the cases of a verb that reads'
  run_ok history --db "$db" --csv "$(value "$db" 'select case_name from v_case limit 1'),nosuch"
  equal 2 "$(cut -d, -f1 <"$scratch/out" | sort -u | wc -l)" 'cases and the heading'
  expect_value "$("$haul" query --db "$db" --csv "select only_glob from run where tag='one' limit 1" | tr -d '\r' | sed -n 2p)" "$db" "select 'host*'"
fi

finish
