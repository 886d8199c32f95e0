#!/usr/bin/env bash
# The executable on the fake driver: GPUs measured, and everything that can go wrong with them.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
fake_driver h100x8-nvlink || exit 77

scenario gpu 'trials = { min = 5, max = 8 }; settle_time = "off"; max_time = "100ms"; telemetry = "20ms"
[checks]; throttling = { want = "none", on_fail = "record" }; pcie_link = { want = "max", on_fail = "record" }' \
  'up | { numa = "local", memory = "pinned" } | { gpu = [0, 1] } | ["64KiB", "1MiB", "4MiB"]' \
  'across | { gpu = 0 } | { gpu = [1, 2] } | "1MiB"'

# A stream that never ends: the watchdog ends the worker, and the rest is measured. It waits for 30 s at least,
# beside all that follows, and is looked at in the end.
cat >hang.toml <<'TOML'
[[fake.fault]]
kind = "hang"
call = "cuMemcpy*"
from = "host"
to = 0
size_bytes = 1048576
TOML
HAUL_LOCKS=$scratch/hang_locks HAUL_FAKE_FAULTS=$scratch/hang.toml \
  "$haul" run gpu.toml --only 'up*gpu0*' --db hang.db >hang.out 2>hang.err </dev/null &
hanging=$!

# Run gpu.toml with a fault.
run_with() { # DB FAULT-TOML
  printf '%s\n' '[[fake.fault]]' "$2" >fault.toml
  HAUL_FAKE_FAULTS=$scratch/fault.toml run run gpu.toml --db "$1"
}
# Every case but those of that size and target is ok, and the database is sound.
expect_others_ok() { # DB
  expect_value 7 "$1" "select count(*) from v_case where status = 'ok'"
  expect_value ok "$1" 'pragma integrity_check'
  expect_value 1 "$1" "select count(*) from v_case where status not in ('ok', 'skipped')"
}

begin 'GPUs are sampled while a case is measured'
# The case lasts until samples were taken: the 100th question after a clock leaves a file.
cat >sampled.toml <<'TOML'
[[fake.fault]]
kind = "block"
call = "cuMemcpy*"
size_bytes = 4194304
marker = "inside"
while = "hold"
[[fake.fault]]
kind = "error"
code = 3
call = "nvmlDeviceGetClockInfo"
nth = 100
marker = "sampled"
TOML
touch hold
{
  await test -e sampled
  rm hold
} &
HAUL_FAKE_FAULTS=sampled.toml run_ok run gpu.toml --only '*gpu0/4MiB' --db sampled.db
exists inside
expect_value 1 sampled.db 'select count(*) > 0 from telemetry'

begin 'GPUs are measured'
run_ok run gpu.toml --db ok.db
run_ok run --resume latest --db ok.db
expect_err '^haul: run [0-9]+ is complete: nothing is left to measure$'
expect_value 8 ok.db "select count(*) from v_case where status = 'ok'"
expect_value 1 ok.db 'select simulated from v_run'
expect_value 1 ok.db "select count(*) > 0 from check_result where name = 'throttling'"
run_ok plan quick --format jsonl
run_ok env
expect_out 'H100'
expect_out 'SIMULATED'

begin 'a machine file that is not there'
HAUL_FAKE_MACHINE=$scratch/nope.toml run env
expect_out 'the fake driver cannot use its files: .*nope\.toml.*: No such file'
reject_out 'nvidia-smi'
printf '[fake.noise]\nsed = 7\n' >typo.toml
HAUL_FAKE_FAULTS=$scratch/typo.toml run_fails 3 'typo\.toml:2:7: unknown key "sed" in \[fake\.noise\]' run gpu.toml --db typo.db
expect_value 1 typo.db 'select simulated from v_run'
reject_err 'nvidia-smi'
printf '[fake]\nsed = 7\n' >typo.toml # the reason to skip is a long list, and whole
HAUL_FAKE_FAULTS=$scratch/typo.toml run run quick --only '*host*' --db long.db
expect_value 0 long.db "select count(*) from v_run_case where status = 'skipped' and reason not like '%, disturbance%'"
expect_value 'failed 0' typo.db "select status || ' ' || (reason not like '%typo.toml%') from v_run"

begin 'no machine to plan for'
run_error 2 'the machine file nope\.toml.*: No such file' plan quick --machine nope.toml
echo '<p>µ' >page.html
run_error 2 'page\.html:1:4: not a valid machine file \(haul env --save FILE writes one\): characters outside ASCII' plan quick --machine page.html
run_error 2 'this is a directory, not a file' plan quick --machine "$scratch"

begin 'a crash inside the driver'
run_with crash.db 'kind = "crash"
call = "cuMemcpy*"
nth = 1
gpu = 1
size_bytes = 1048576
from = "host"
signal = 11'
expect_code 3
expect_err 'case up/.*: crashed: the worker process was killed by signal 11 \(SIGSEGV\)|: crashed: .*exit code'
expect_others_ok crash.db
run run --resume latest --db crash.db
expect_code 3 # as before: a case crashed
expect_err 'is complete: nothing is left to measure'

begin 'a lost context'
run_with sticky.db 'kind = "sticky"
call = "cuMemcpy*"
code = 700
nth = 1
gpu = 1
size_bytes = 1048576
from = "host"'
expect_code 3
expect_err 'case up/.*: failed: '
expect_others_ok sticky.db

begin 'a GPU that keeps failing is set aside, and the others are measured'
scenario many 'trials = { min = 5, max = 8 }; settle_time = "off"; max_time = "50ms"' \
  'up | { numa = 0, memory = "pinned" } | { gpu = [0, 1, 2, 3] } | ["64KiB", "128KiB", "256KiB", "512KiB", "1MiB", "2MiB", "4MiB", "8MiB"]'
for broken in 'kind = "sticky"
call = "cuMemcpy*"
code = 46' 'kind = "error"
call = "cuStreamCreate"
code = 46' 'kind = "error"
call = "cuCtxSynchronize"
code = 1'; do
  rm -f aside.db
  printf '%s\n' '[[fake.fault]]' "$broken" 'count = 0' 'gpu = 0' >fault.toml
  HAUL_FAKE_FAULTS=$scratch/fault.toml run run many.toml --db aside.db
  expect_value 24 aside.db "select count(*) from v_case where status = 'ok' and path not like '%gpu0%'"
  case $broken in
    *cuCtxSynchronize*)
      # Asked after each case: those of GPU 0 are ok as well, and no other pays.
      expect_code 0
      ;;
    *)
      expect_code 3
      expect_err 'CUDA_ERROR_DEVICE_UNAVAILABLE|unknown error \(46: '
      expect_err 'warning: GPU 0 failed in 3 cases in a row\. haul sets it aside and goes on with the other GPUs\.'
      expect_value 5 aside.db "select count(*) from v_case where status = 'failed'
        and reason like 'not run: GPU 0 failed 3 times in a row (counts as failed; the last: %)'"
      ;;
  esac
  expect_value ok aside.db 'pragma integrity_check'
done
expect_value 1 aside.db 'select workers > 1 from process'

begin 'NVML that crashes while the machine is examined costs the facts that only it knows'
printf '%s\n' '[[fake.fault]]' 'kind = "crash"' 'call = "nvml*"' 'signal = 11' >fault.toml
HAUL_FAKE_FAULTS=$scratch/fault.toml run_ok run many.toml --db nvml.db
expect_value 32 nvml.db "select count(*) from v_case where status = 'ok'"
HAUL_FAKE_FAULTS=$scratch/fault.toml run_ok env
expect_out 'NVML crashed, or gave no answer'

begin 'a flipped byte'
run_with corrupt.db 'kind = "flip_byte"
call = "cuMemcpy*"
nth = 1
count = 0
offset = 4097
from = "host"
to = 1
size_bytes = 4194304'
expect_code 3
expect_err 'case up/.*: corrupt: .*4097'
expect_others_ok corrupt.db
expect_value 1 corrupt.db "select reason like '%4097%' from v_case where status = 'corrupt'"

begin 'no memory'
run_with memory.db 'kind = "out_of_memory"
call = "cuMemAlloc*"
nth = 1
count = 0
gpu = 2'
expect_code 3
expect_err 'across/.*: failed: .*memory'
expect_value 7 memory.db "select count(*) from v_case where status = 'ok'"

begin 'a GPU whose copies are lost, those of the comparison too'
printf '%s\n' '[[fake.fault]]' 'kind = "drop"' 'call = "cuMemcpyHtoD*"' 'count = 0' \
  '[[fake.fault]]' 'kind = "drop"' 'call = "cuMemcpyDtoH*"' 'count = 0' >fault.toml
HAUL_FAKE_FAULTS=$scratch/fault.toml run_fails 3 'corrupt: .*(lost or wrong|bytes differ)' run gpu.toml --db lost.db
expect_value 0 lost.db "select count(*) from v_case where status = 'ok' and block = 'up'"

begin 'what a stream leaves is not believed where the copy of the verdict is lost'
printf '%s\n' 'schema_version = 1' 'name = "sum"' '[[stream]]' 'name = "s"' 'at = { gpu = 0 }' 'op = "copy"' \
  'size = "1MiB"' 'max_time = "5ms"' >sum.toml
printf '%s\n' '[[fake.fault]]' 'kind = "drop"' 'call = "haul_stream_copy*"' 'count = 0' \
  '[[fake.fault]]' 'kind = "drop"' 'call = "cuMemcpyDtoHAsync"' 'count = 0' >fault.toml
HAUL_FAKE_FAULTS=$scratch/fault.toml run_fails 3 'corrupt: .*lost or wrong' run sum.toml --db lost.db

begin 'unified memory: the touch that is timed wrote, not the one before it'
printf '%s\n' 'schema_version = 1' 'name = "again"' '[measure]' 'iterations = 1' 'warmup = 0' \
  'trials = { min = 1, max = 1 }' '[[transfer]]' 'name = "u"' 'method = "um"' 'size = "1MiB"' \
  'from = { numa = 0, memory = "managed" }' 'to = { gpu = 0 }' 'unified = { again = true }' >again.toml
printf '%s\n' '[[fake.fault]]' 'kind = "drop"' 'call = "haul_touch"' 'nth = 3' >fault.toml
run_ok run again.toml --db again.db
HAUL_FAKE_FAULTS=$scratch/fault.toml run_fails 3 'corrupt: ' run again.toml --db again.db

begin 'peers: as many at a time as a GPU may have, and on or off for a whole case'
printf '%s\n' '[[fake.fault]]' 'kind = "error"' 'call = "cuCtxEnablePeerAccess"' 'code = 711' 'nth = 2' 'count = 1' 'gpu = 0' >fault.toml
printf '%s\n' 'schema_version = 1' 'name = "peers"' '[measure]' 'max_time = "5ms"' '[[transfer]]' 'name = "p2p"' \
  'method = "ce"' 'initiator = "source"' 'from = { gpu = 0 }' 'to = { gpu = [1, 2, 1] }' 'size = "1MiB"' >peers.toml
HAUL_FAKE_FAULTS=$scratch/fault.toml run_ok run peers.toml --db peers.db
expect_value 2 peers.db "select count(*) from v_case where status = 'ok'"
flow() { # TABLE FROM TO [LINE]
  printf '%s\n' "[[$1]]" "from = { gpu = $2 }" "to = { gpu = $3 }" "${4-}"
}
{
  printf '%s\n' 'schema_version = 1' 'name = "mixed"' '[measure]' 'max_time = "5ms"'
  printf '%s\n' '[[transfer]]' 'name = "both"' 'method = "ce"' 'size = "1MiB"'
  flow transfer.flow 0 1 'peer = false'
  flow transfer.flow 1 0
  printf '%s\n' '[[chase]]' 'name = "chase"' 'space = "peer"' 'at = { gpu = 0 }' 'of = { gpu = 1 }' 'footprint = "1MiB"'
  flow chase.load 1 0 'peer = false'
  printf '%s\n' 'method = "ce"' 'size = "1MiB"'
  printf '%s\n' '[[transfer]]' 'name = "others"' 'method = "ce"' 'size = "1MiB"'
  flow transfer.flow 0 1 'peer = false'
  flow transfer.flow 2 1
} >mixed.toml
run_ok run mixed.toml --db mixed.db
expect_out 'peer access between GPU . and GPU . is on or off for a whole case, which has peer = false for a part of it only'
expect_value 'others' mixed.db "select group_concat(block) from v_case where status = 'ok'"
expect_value 2 mixed.db "select count(*) from v_case where status = 'skipped'"

begin 'a kernel reaches pageable memory where the GPU reads the page tables of the host'
printf '%s\n' 'schema_version = 1' 'name = "coherent"' '[measure]' 'max_time = "5ms"' '[[transfer]]' 'name = "sm"' 'method = "sm"' \
  'from = { numa = 0, memory = "pageable" }' 'to = { gpu = 0 }' 'size = "1MiB"' 'direction = ["forward", "reverse"]' >coherent.toml
HAUL_FAKE_MACHINE=$source_folder/tests/machines/gh200.toml run_ok run coherent.toml --db coherent.db
expect_value 2 coherent.db "select count(*) from v_case where status = 'ok'"

begin 'a machine without GPUs'
HAUL_FAKE_MACHINE=$source_folder/tests/machines/no-gpu.toml run_says 3 '^Skipped .*: .*GPU' run gpu.toml --db none.db
expect_value 0 none.db "select count(*) from v_case where status = 'ok'"

begin 'a driver that hangs when it is asked what is here'
printf '%s\n' '[[fake.fault]]' 'kind = "crash"' 'call = "cuInit"' 'nth = 1' 'signal = 11' >fault.toml
HAUL_FAKE_FAULTS=$scratch/fault.toml run_fails 3 \
  'error: not all GPUs of this machine can be measured: the process that asked the GPU driver (was killed|ended with exit code)' \
  run quick --only 'host_to_host/numa0:pageable*,host_to_device' --db init.db
expect_out '^Skipped .*the process that asked the GPU driver'
expect_value 1 init.db "select count(*) > 0 from v_case where status = 'ok'"
HAUL_FAKE_FAULTS=$scratch/fault.toml run_ok run "$source_folder/tests/cli/small.toml" --db init.db
expect_err 'warning: the process that asked the GPU driver .*: check whether nvidia-smi answers'

begin 'a driver that does not start says what to look at'
printf '%s\n' '[[fake.fault]]' 'kind = "error"' 'call = "cuInit"' 'code = 802' >fault.toml
HAUL_FAKE_FAULTS=$scratch/fault.toml run_fails 3 'no usable GPU: cuInit: .*: is nvidia-fabricmanager running' run gpu.toml --db init.db

begin 'GPUs that NVML sees and CUDA does not: what there is is measured, and the exit code says that it is not all'
readonly shown='CUDA shows 3 of the 8 GPUs that NVML sees'
printf '%s\n' '[[fake.fault]]' 'kind = "error"' 'call = "cuDeviceGet"' 'code = 999' 'nth = 4' 'count = 0' >fault.toml
export HAUL_FAKE_FAULTS=$scratch/fault.toml
run_fails 3 "error: not all GPUs of this machine can be measured: $shown;" run gpu.toml --only up -q --db three.db
expect_value 6 three.db "select count(*) from v_case where status = 'ok'"
expect_value "$shown" three.db "select substr(reason, 1, 41) from v_run where status = 'done'"
run_ok report three.html --db three.db
grep -q "<b>Not all GPUs.</b> $shown" three.html || bad 'the page does not say it'
run_fails 3 "error: not all GPUs of this machine can be measured: $shown;" run gpu.toml --only up --shard shards --node-name n1
run_ok merge fleet.db shards
expect_value 'partial' fleet.db "select state from v_node where node = 'n1' and reason like '$shown%'"
run_fails 3 "error: not all GPUs of this machine can be measured: $shown;" plan gpu.toml
expect_err "warning: $shown: check whether nvidia-smi answers"
run_ok env
expect_err "warning: $shown"
run_ok run "$source_folder/tests/cli/small.toml" --db three.db # of the host alone
expect_err "warning: $shown"
CUDA_VISIBLE_DEVICES=0,1,2 run_ok run gpu.toml --only up --db three.db # so it is meant
reject_err "$shown"
CUDA_VISIBLE_DEVICES=0,1,2,3 run_fails 3 'CUDA shows 3 of the 4 GPUs that CUDA_VISIBLE_DEVICES names' plan gpu.toml
run_ok plan gpu.toml --machine "$HAUL_FAKE_MACHINE"
reject_err "$shown"
unset HAUL_FAKE_FAULTS

begin 'a fixed number of trials is measured again on a busy host alone, and only beside others'
scenario busy 'min_trial = "1ms"; trials = { min = 6, max = 40 }; precision = 0.002; settle_time = "1500ms"' \
  'led | { numa = 0 } | { gpu = [0, 1] } | "1MiB" | ' \
  'counted | { numa = 0 } | { gpu = [0, 1] } | "1MiB" | concurrent = "all"; trials = { min = 20, max = 20 }'
{ # others never rest, so that no visit settles anything
  printf '[[fake.disturbance]]\nfrom = "host"\nepisodes = ['
  awk 'BEGIN { srand(5); for (at = 0; at < 4000; at += 3) printf "[%d, 3, %.3f], ", at, 0.6 + 0.3 * rand() }'
  printf ']\n'
} >episodes.toml
run_ok run busy.toml --db busy.db
expect_value '3 of 1' busy.db "select count(*) || ' of ' || max(visits) from v_case"
HAUL_FAKE_FAULTS=episodes.toml run_ok run busy.toml --db busy.db --only counted
expect_value 1 busy.db "select visits from v_case where run = 2 and settled is null and undisturbed_ns is null"
HAUL_FAKE_FAULTS=episodes.toml run_ok run busy.toml --db busy.db
# The time may be up before the last one that is due. On a loaded machine the others have few.
expect_value 1 busy.db "select visits between 1 + most / 4 and 1 + most / 3 from v_case,
  (select max(visits) as most from v_case where run = 3 and block = 'led') where run = 3 and block = 'counted'"

begin 'a stream that never ends'
wait "$hanging"
code=$?
cp hang.out out
cp hang.err err
expect_code 3
expect_err 'case up/.*1MiB: hung: no answer for 30'
expect_value hung hang.db "select status from v_case where size_bytes = 1048576"
expect_value 2 hang.db "select count(*) from v_case where status = 'ok'"
expect_value ok hang.db 'pragma integrity_check'

finish
