#!/bin/bash
# What a machine should reach: the verdict with every run, check --expect, expect learn, health.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"

fake_driver h200x4 || exit 77

# What the fake driver plays: a host link of 55.1 GB/s.
cat >mine.toml <<'EOT'
format = 1
[[machine]]
name = "H200 of the fake driver"
gpu = "*H200*"
simulated = true
pcie = { generation = 5, width = 16 }
[[machine.expect]]
path = "host_to_device"
method = "ce"
size.min = "16MiB"
low = 55.0
high = 55.2
unit = "GB/s"
statement = "reports"
count = 2
source = "this test"
[[machine.expect]]
path = "host_to_device"
method = "ce"
size.min = "16MiB"
high = 60
unit = "GB/s"
statement = "limit"
source = "a data sheet"
EOT
scenario up 'trials = { min = 8, max = 8 }; max_time = "10ms"' \
  'up | { numa = "local" } | { gpu = "*" } | ["4KiB", "16MiB"]' \
  'up_under_load | { numa = "local" } | { gpu = "*" } | "16MiB" | load = [{ direction = "reverse" }]'
cat >slow.toml <<'EOT'
[fake]
[[fake.link]]
from = "host"
to = 2
factor = 0.5
EOT

# A file with one fault of the fake driver.
write_fault() { # FILE LINE...
  local file=$1
  shift
  { printf '[fake]\n[[fake.fault]]\n'; printf '%s\n' "$@"; } >"$file"
}
# What `haul run health` says of links to the host while the fake driver has these faults.
expect_health() { # CODE REGEX FAULTS OPTION...
  local wanted=$1 line=$2 faults=$3
  shift 3
  HAUL_FAKE_FAULTS=$faults HAUL_EXPECT=mine.toml run_says "$wanted" "$line" run health --only host_to_device "$@"
}

begin 'nothing is said of a simulated machine by rows of real ones'
run_ok run up.toml --db r.db
reject_out 'usual|expected'
run_fails 3 'the shipped expectations are for real GPUs, and these are simulated. Make your own from good runs, and add --expect=mine.toml: haul expect learn --db r.db > mine.toml$' \
  check --expect --db r.db
run_ok explain latest 'up/*gpu0*' --db r.db
expect_out '^ +small_copies +4 cases \(1 of those selected\) below 32 KiB$'
sed 's/16MiB/1GiB/' mine.toml >large.toml
run_fails 3 'no row of large\.toml fits these cases: a row names the GPU' check --expect=large.toml --db r.db

begin 'all as usual: those that are known, load flows left out'
HAUL_EXPECT=mine.toml run_ok run up.toml --db r.db
expect_out '^all 4 judged results are as expected for H200 of the fake driver \(from 2 measurements\); 8 have no expectation$'
HAUL_EXPECT=mine.toml run run up.toml --db r.db --format json
equal '["55-55.2","usual",60] 4' "$(python3 -c 'import json,collections
rows = json.load(open("out"))["rows"]
print(*["[\"%s\",\"%s\",%g] %d" % (*k, n) for k, n in collections.Counter(
    (r["expected"], r["as_expected"], r["expected_limit"]) for r in rows if r["expected"]).items()])')" 'columns in JSON'

begin 'a slow link: its GPU, the number, what is usual'
HAUL_FAKE_FAULTS=slow.toml HAUL_EXPECT=mine.toml run_ok run up.toml --db slow.db
expect_out '^gpu2, host link: 27\.[0-9]+ GB/s, usual 55-55\.2 \(up/numa0:pinned-gpu2/16MiB\)$'
expect_out '^1 of 4 results below expectation for H200 of the fake driver; 8 have no expectation: see haul explain$'
expect_out 'short of what is usual here, 55-55\.2'
run_says 1 '^short +gpu2 +up/numa0:pinned-gpu2/16MiB +27\.[0-9]+ +GB/s +55-55\.2 +reports' \
  check --expect=mine.toml --db slow.db
cp out first
run check latest --expect mine.toml --db slow.db # a blank as of other verbs
expect_code 1
if cmp -s out first; then good; else bad 'a blank before the file makes a difference'; fi
run_ok check --expect=mine.toml --db slow.db --only '*gpu1*'
run_says 1 '<testsuite name="haul check --expect" tests="4" failures="1" errors="0" skipped="0">' \
  check --expect=mine.toml --db slow.db --format junit
expect_out '<failure message="27\.[0-9]+ GB/s, usual 55-55\.2"/>'
run check --expect=mine.toml --db slow.db --format ctrf
expect_code 1
equal 'CTRF 4 1 failed ["up"]' "$(python3 -c 'import json
report = json.load(open("out"))
results = report["results"]
failed = [t for t in results["tests"] if t["status"] == "failed"]
print(report["reportFormat"], results["summary"]["tests"], results["summary"]["failed"],
      failed[0]["status"], json.dumps(failed[0]["suite"]))')" 'CTRF'
run_says 1 '^gpu2, host link: 27\.4' check --expect=mine.toml --db slow.db --format md
expect_out '^SIMULATED'
expect_out '^\| short \| gpu2 \|'
run_ok report page.html --expect mine.toml --db slow.db
# On the first screen, above what was recorded of the machine.
equal '<li class="bad"><b>Below the expected range:</b> 1 of 4 results below expectation for H200 of the fake driver; 8 have no expectation: see haul explain</li> 1' \
  "$(sed -n '/<ul class="answers">/,/<\/ul>/p' page.html | grep -A1 "Below the expected range" | grep -B1 '<li class="bad">gpu2, host link: 27.4' | head -n 1) $(grep -c 'below expectation for' page.html)" \
  'what the page says'

begin 'a slow number that may be a usual one, by its own interval, is too noisy to tell'
cp slow.db noisy.db
sqlite3 noisy.db 'update case_run set median_low_ns = median_ns / 2.1, median_high_ns = 2.1 * median_ns
  where bench_case in (select id from bench_case where name glob "up/*gpu2/16MiB")'
run_ok check --expect=mine.toml --db noisy.db
expect_out '^3 judged results are as expected for H200 of the fake driver \(from 2 measurements\); 1 too noisy to tell; 8 have no expectation$'
expect_out '^unclear +gpu2 +up/numa0:pinned-gpu2/16MiB +27\.[0-9]+ +GB/s +55-55\.2'
run check --expect=mine.toml --strict --db noisy.db
expect_code 4
run_ok check --expect=mine.toml --db noisy.db --format junit
expect_out 'tests="4" failures="0" errors="0" skipped="1"'
sqlite3 noisy.db 'update case_run set median_low_ns = median_ns / 1.8 where median_low_ns is not null'
run check --expect=mine.toml --db noisy.db
expect_code 1
# Beyond what is reported for sure, beyond the limit perhaps.
cp r.db beyond.db
sqlite3 beyond.db 'update case_run set median_ns = 0.88 * median_ns, median_low_ns = 0.84 * median_ns,
  median_high_ns = 0.93 * median_ns where bench_case in (select id from bench_case where name glob "up/*gpu2/16MiB")'
run_ok check --expect=mine.toml --strict --db beyond.db
expect_out '^all 4 judged results are as expected .*; 1 better than any measurement; '

begin 'outside the range that is shown, and as usual: the tolerance decides, and is said'
sed -e 's/low = 55.0/low = 56.0/' -e 's/high = 55.2/high = 56.2/' mine.toml >near.toml
HAUL_EXPECT=near.toml run run up.toml --db near.db --only '*gpu1/16MiB'
expect_out '^up +numa0:pinned-gpu1 .* 5[45]\.[0-9]+ .* 56-56\.2  a$'
expect_out '^a  within tolerance: [12]\.?[0-9]* % below \(tolerance 5 %\)$'
expect_out '^1 judged result is as expected for H200 of the fake driver'
run_ok check --expect=near.toml --db near.db -v
expect_out '^usual .* 5[45](\.[0-9]{1,2})? .* 56-56\.2 .* [12]\.?[0-9]* % below$'
run_ok check --expect=near.toml --db near.db --format csv
expect_out '^usual,.*,56-56\.2,.*,[12]\.?[0-9]* % below \(tolerance 5 %\)'
HAUL_EXPECT=near.toml run_ok show --result latest --db near.db --format json
equal 'usual 53.2 59.01 True 1' "$(python3 -c 'import json
row = json.load(open("out"))["rows"][0]
print(row["as_expected"], round(row["usual_low"], 3), round(row["usual_high"], 3),
      row["judged"] == row["gbps"], row["expected_remark"].count("within tolerance: "))')" 'the bounds that decide'

begin 'mistakes in a data file: all of them, with places; a run with the file does not begin'
sed 's/"GB\/s"/"GBs"/; s/low = /lowest = /' mine.toml >bad.toml
HAUL_EXPECT=bad.toml run run up.toml --db never.db
expect_code 2
missing never.db
expect_err "bad.toml:11:1: error: unknown key \"lowest\""
expect_err "did you mean \"low\"\\?|low"
expect_err "bad.toml:13:8: error: unit: invalid value \"GBs\""
run_fails 2 'none.toml.*No such file' check --expect=none.toml --db slow.db
run_fails 2 'compares with no other runs' check --expect --fail-on regressed --db slow.db

begin 'health: one line and an exit code; one short case is measured once more'
HAUL_EXPECT=mine.toml run_ok run health --db health.db --only 'host_to_device'
equal 'healthy: all 4 results are as expected for H200 of the fake driver (from 2 measurements)' "$(cat out)" 'the line'
expect_err '^haul: run 1 of health is in health\.db$'
reject_err 'next:'
HAUL_EXPECT=mine.toml run_ok report limit.html --db health.db
if grep -Eq '87\.[0-9] % of peak \(PCIe 63.02 GB/s; usable 60(.00)?\)' limit.html; then good; else bad 'no limit beside the peak'; fi
HAUL_EXPECT=mine.toml COLUMNS=50 run run health --db narrow.db --only 'host_to_device' # a line elsewhere
equal 0 "$(awk 'length($0) > 50' out | wc -l)" 'lines of more than 50 columns'
slow_health=(run health --only 'host_to_device' --set measure.settle_time=200ms) # no second visit of a slow link settles it
HAUL_FAKE_FAULTS=slow.toml HAUL_EXPECT=mine.toml run "${slow_health[@]}" --db health.db
expect_code 1
equal 'unhealthy: gpu2, host link: 27.54 GB/s, usual 55-55.2 (host_to_device/numa0:pinned-gpu2/64MiB); gpu2 is 0000:08:00.0' \
  "$(cat out)" 'the line'
expect_err '^haul: run 2 of health is in health\.db; run 3 measured some cases once more$'
expect_err '^haul: next: haul explain run:2 --db health\.db$'
run_says 1 '^short .*numa0:pinned-gpu2' check --expect=mine.toml run:3 --db health.db # which all read that it is a part
expect_err '^haul: run 3 measured some cases of run 2 once more; run:2 has all$'
expect_err 'run 3 is partial \(measured once more\)'
run_ok explain run:2 --db health.db
reject_err 'once more'
expect_value '"4,1"' health.db "select group_concat(n) from (select count(*) n from case_run where run > 1 group by run)"
run_says 3 '^not judged: the shipped expectations are for real GPUs, and these are simulated\. Make your own from good runs, and add --expect=mine\.toml: haul expect learn --db health\.db > mine\.toml$' \
  run health --db health.db --only 'host_to_device'
sed 's/H200/H100/' mine.toml >other.toml
run_says 3 '^not judged: no row of other\.toml fits these cases: ' \
  run health --db health.db --only 'host_to_device' --expect other.toml

begin 'health: where every result is too noisy to tell, twice, nothing is judged'
cat >noise.toml <<'EOT'
[fake]
[fake.noise]
seed = 3
within = 0.5
[[fake.link]]
from = "host"
to = 2
factor = 0.7
EOT
HAUL_FAKE_FAULTS=noise.toml HAUL_EXPECT=mine.toml run_says 3 '^not judged: every result is too noisy to tell from what is usual$' \
  run health --db noise.db --only 'host_to_device/*gpu2*' \
  --set measure.trials.min=6 --set measure.trials.max=6 --set measure.settle_time=off
expect_value 2 noise.db 'select count(*) from v_run'
# Of one of several links: healthy, and the line names it.
sed -i -e 's/within = .*/within = 0.03/' -e 's/factor = .*/factor = 0.94/' noise.toml
HAUL_FAKE_PROCESSES=$scratch/noise_processes expect_health 0 \
  '^healthy: 3 results are as expected for H200 of the fake driver \(from 2 measurements\); 1 too noisy to tell; most in doubt: host_to_device/numa0:pinned-gpu2/64MiB: 50\.[0-9]+ GB/s, usual 55-55\.2$' \
  noise.toml --db doubt.db --set measure.trials.min=6 --set measure.trials.max=6 --set measure.settle_time=off
expect_value 2 doubt.db 'select count(*) from v_run'

begin 'beside a neighbour that never rests nobody can tell; half a link is slow all the same'
# Episodes are shorter than a trial, so that no two trials agree because one episode lasts.
busy_host() { # FACTOR OF THE LINK: others leave 60 to 90 % of it to copies to GPU 0, another share every 2 to 5 ms
  printf '[fake]\n[[fake.link]]\nfrom = "host"\nto = 0\nfactor = %s\n' "$1"
  printf '[[fake.disturbance]]\nfrom = "host"\nto = 0\nepisodes = ['
  awk 'BEGIN { srand(5); for (at = 0; at < 4000; at += n) { n = 2 + int(4 * rand())
    printf "[%d, %d, %.3f], ", at, n, 0.6 + 0.3 * rand() } }'
  printf ']\n'
}
busy_host 1 >busy.toml
busy_host 0.5 >busy_half.toml
expect_health 3 '^cannot tell: host busy or link slow: gpu0, host link: [0-9.]+ GB/s( at best)?, usual 55-55\.2 \(host_to_device/numa0:pinned-gpu0/64MiB\); its trials vary by [0-9.]+ %; run again when the host is quiet$' \
  busy.toml --db busy.db --set measure.settle_time=1s
# A case that a run measures once is judged like the others.
for keys in '--set=host_to_device.trials.min=20 --set=host_to_device.trials.max=20' --set=host_to_device.min_time=5ms; do
  read -ra keys <<<"$keys"
  expect_health 3 '^cannot tell: host busy or link slow: gpu0, host link: ' busy.toml --db asked.db \
    --set measure.settle_time=1500ms "${keys[@]}"
done
expect_value 2 asked.db "select count(*) from v_case where case_name like '%gpu0%' and visits > 1"
expect_health 1 '^unhealthy: gpu0, host link: 2[0-9.]+ GB/s( at best)?, usual 55-55\.2 ' busy_half.toml --db busy.db \
  --set measure.settle_time=1s
run_says 3 '^cannot tell: host busy or link slow: gpu0, host link: ' check --expect=mine.toml --db busy.db run:1
expect_out '^disturbed +gpu0 +host_to_device/numa0:pinned-gpu0/64MiB '
run_says 4 '^3 results are as expected .*; 1 undecided: host busy or link slow' \
  check --expect=mine.toml --db busy.db run:1 --strict -q
run check --expect=mine.toml --db busy.db run:3
expect_code 1

begin 'what was measured once more is a part of its run: explain and latest take the whole one'
HAUL_FAKE_FAULTS=slow.toml HAUL_EXPECT=mine.toml run "${slow_health[@]}" --db again.db
expect_code 1
expect_value 1 again.db "select run_uuid = (select repeats from v_run where run = 2) from v_run where run = 1"
HAUL_EXPECT=mine.toml run_ok explain --db again.db
expect_out '^1 case is below the expected range, the worst '
# short and sure of it, then short and noisy
cp again.db noisy.db
sqlite3 noisy.db 'update case_run set median_low_ns = median_ns / 2.1, visits = 1, undisturbed_ns = NULL,
  undisturbed_low_ns = NULL, undisturbed_high_ns = NULL where run = 2'
HAUL_EXPECT=mine.toml run_ok explain --db noisy.db
expect_out '^1 case is below the expected range'
sqlite3 noisy.db 'update case_run set median_ns = median_ns / 2, median_low_ns = median_low_ns / 2,
  median_high_ns = median_high_ns / 2 where run = 2'
run_ok check --expect=mine.toml --db noisy.db # as health says of it
expect_out '^all 4 results are as expected'
HAUL_FAKE_FAULTS=slow.toml HAUL_EXPECT=mine.toml run "${slow_health[@]}" --db again.db --json
expect_code 1
equal 4 "$(grep -c '"case":"host_to_device/' out)" 'rows of JSON, none twice'
equal '["short", true, 27]' "$(python3 -c 'import json
rows = [r for r in json.load(open("out"))["rows"] if r["as_expected"] != "usual"]
print(json.dumps([rows[0]["as_expected"], rows[0]["judged"] == rows[0]["gbps"], int(rows[0]["judged"])]))')" \
  'the number that was judged, twice short'
HAUL_EXPECT=mine.toml run_ok show --result run:1 --db noisy.db --format json # noisy.db: clear the second time
equal '["usual", false, "measured once more: 55."]' "$(python3 -c 'import json
rows = [r for r in json.load(open("out"))["rows"] if r["expected_remark"]]
print(json.dumps([rows[0]["as_expected"], rows[0]["judged"] == rows[0]["gbps"], rows[0]["expected_remark"][:23]]))')" \
  'the number that was judged, the second'
# One that went wrong when it was measured once more did go wrong.
sqlite3 noisy.db "update case_run set status = 'crashed', reason = 'signal 11', n = 0, median_ns = NULL,
  median_low_ns = NULL, median_high_ns = NULL, p5_ns = NULL, p95_ns = NULL where run = 2"
run_says 1 '^host_to_device/numa0:pinned-gpu2/64MiB: crashed: signal 11$' check --expect=mine.toml --db noisy.db
expect_out '^3 results are as expected for H200 of the fake driver \(from 2 measurements\); 1 went wrong$'
expect_err 'warning: 1 case has no value: failed, crashed, hung or corrupt$'
run check --expect=mine.toml --db again.db --format junit # latest is the whole run
expect_out '<testsuite name="haul check --expect" tests="4" failures="1"'
run_ok query --db again.db "select count(*) from v_case where run = :run" --param run=latest --format csv
expect_out '^4'

begin 'health: a GPU that there is and that cannot be used, one that hangs, and none at all'
write_fault noinit.toml 'kind = "error"' 'call = "cuInit"' 'code = 802' 'count = 0'
HAUL_FAKE_FAULTS=noinit.toml run_says 1 '^unhealthy: CUDA shows none of the 4 GPUs that NVML sees: .*cuInit' \
  run health --db lost.db
write_fault hang.toml 'kind = "hang"' 'call = "cuMemcpy*"' 'to = 1'
sed 's/error/crash/; /^code/d' noinit.toml >crash.toml # by signal 9, as for want of memory
expect_health 3 '^not judged: the process that asked the GPU driver was killed by signal 9 \(SIGKILL\), possibly by a user, or by Linux ' \
  crash.toml --db crash.db
echo "marker = \"$scratch/killed\"" | cat crash.toml - >once.toml # it is asked again
HAUL_EXPECT=mine.toml expect_health 0 '^healthy: all 4' once.toml --db crash.db --only host_to_device
equal killed "$(ls killed)" 'a probe that was killed'
echo 'signal = 11' >>crash.toml
HAUL_FAKE_FAULTS=crash.toml run_says 1 '^unhealthy: the process that asked the GPU driver (was killed by signal [0-9]+ .*|ended with exit code 1): check whether nvidia-smi answers' \
  run health --db crash.db
sed 's/cuInit/nvmlDeviceGetHandleByIndex_v2/' crash.toml >nvml.toml
readonly nvml_lost='^unhealthy: NVML (crashed or gave no answer|does not start: .*): check whether nvidia-smi answers'
expect_health 1 "$nvml_lost" nvml.toml --db crash.db
write_fault lost.toml 'kind = "sticky"' 'call = "cuLaunchKernel"' 'gpu = 1' 'code = 719' 'count = 0'
expect_health 1 '^unhealthy: host_to_device/numa0:pinned-gpu1/64MiB: failed: .*CUDA_ERROR_LAUNCH_FAILED .*, and 1 more; gpu1 is 0000:07:00\.0$' \
  lost.toml --db crash.db --only device_local_copy
expect_health 1 '^unhealthy: ' lost.toml --db lost1.db
export HAUL_EXPECT=mine.toml
readonly lost_case='host_to_device/numa0:pinned-gpu1/64MiB' lost_why='failed: .*CUDA_ERROR_LAUNCH_FAILED'
run_says 1 '<testsuite name="haul check --expect" tests="4" failures="1" errors="0" skipped="0">' \
  check --expect --db lost1.db --format junit
expect_out "<failure message=\"broken: $lost_why"
run check --expect --db lost1.db --format ctrf
expect_code 1
equal "4 1 $lost_case" "$(python3 -c 'import json
results = json.load(open("out"))["results"]
print(results["summary"]["tests"], results["summary"]["failed"],
      *[t["name"] for t in results["tests"] if t["status"] == "failed" and "broken: failed: " in t["message"]])')" 'the failed test'
run check --expect --db lost1.db --format json
expect_code 1
equal "['broken', None, '$lost_case', None]" "$(python3 -c 'import json
print([[r[k] for k in ("verdict", "gpu", "case", "value")] for r in json.load(open("out"))["rows"] if r["reason"]][0])')" 'the row'
run check --expect --db lost1.db --format csv
expect_out "^broken,,$lost_case,,.*,$lost_why"
for format in table md; do
  run_says 1 "^(- )?$lost_case: $lost_why" check --expect --db lost1.db --format $format
  expect_out '^(- )?3 results are as expected for H200 of the fake driver \(from 2 measurements\); 1 went wrong$'
  expect_out "^(\| )?broken .*$lost_case"
done
run_ok report lost.html --db lost1.db
cp lost.html out
expect_out '<b>Below the expected range:</b> 3 results are as expected for H200 of the fake driver \(from 2 measurements\); 1 went wrong'
unset HAUL_EXPECT
sed 's/sticky/error/; s/cuLaunchKernel/cuMemAlloc*/; s/719/2/' lost.toml >full.toml
expect_health 3 '^not judged: host_to_device/numa0:pinned-gpu1/64MiB: failed: cuMemAlloc .*OUT_OF_MEMORY' \
  full.toml --db crash.db
sed 's/cuLaunchKernel/cuCtxSynchronize/' lost.toml >after.toml # which only the look after a case calls
expect_health 1 '^unhealthy: host_to_device/numa0:pinned-gpu1/64MiB: ok: but a GPU took no work after it; gpu1 is 0000:07:00\.0$' \
  after.toml --db crash.db
write_fault die.toml 'kind = "crash"' 'call = "cuMemcpy*"' 'to = 1' # by signal 9
expect_health 3 '^not judged: host_to_device/numa0:pinned-gpu1/64MiB: crashed: the worker process was killed by signal 9 \(SIGKILL\), possibly by a user, or by Linux because memory ran out$' \
  die.toml --db crash.db
echo 'signal = 11' >>die.toml
expect_health 1 '^unhealthy: host_to_device/numa0:pinned-gpu1/64MiB: crashed: .*( by signal 11 \(SIGSEGV\)|exit code 1); gpu1 is 0000:07:00\.0$' \
  die.toml --db crash.db
began=$SECONDS
expect_health 1 '^unhealthy: host_to_device/numa0:pinned-gpu1/64MiB: hung: no answer for [0-9.]+ s; the worker process was killed; gpu1 is 0000:07:00\.0$' \
  hang.toml --db hang.db --set measure.budget=3s
if [ $((SECONDS - began)) -le 15 ]; then good; else bad "$((SECONDS - began)) s"; fi
LD_LIBRARY_PATH='' run run health --db none.db
if [ -e /dev/nvidiactl ]; then good; else
  expect_code 3
  expect_out '^not judged: this machine has no GPU: '
fi

begin 'the time that a run may take: what is left is not measured, said, and resumed'
# The first case begins in time on any machine, and all of them take longer than that.
printf '[[fake.fault]]\nkind = "block"\ncall = "cuMemcpy*"\ncount = 0\nmilliseconds = 100\n' >blocked.toml
HAUL_FAKE_FAULTS=blocked.toml HAUL_EXPECT=mine.toml run_says 3 '^not judged: (3[0-9]|40) of 40 cases were not measured within the time that they may take' \
  run health --db budget.db --set measure.budget=3s
HAUL_FAKE_FAULTS=blocked.toml run_fails 3 'warning: the time for measuring, 3 s \(measure.budget\), is up: [0-9]+ of 12 cases were not measured$' \
  run up.toml --db budget.db --set measure.budget=3s
expect_err '^haul: next: haul run --resume run:[0-9]+ --db budget\.db$'
expect_value 'interrupted,"the time for measuring, 3 s (measure.budget), is up"' budget.db \
  "select status, reason from v_run where scenario = 'up'"
run_ok plan health --machine "$source_folder/tests/machines/h100x8-nvlink.toml" --json
equal 'of 8 GPUs: 144 cases within their 18 s' "$(python3 -c 'import json
plan = json.load(open("out"))
cases = plan["case_count"]
fits = plan["estimate_ns"] * 2 < plan["budget_ns"]  # twice: the estimate is good to a factor of two
print("of 8 GPUs: %d cases %s their %d s" % (cases, "within" if fits else "beyond", plan["budget_ns"] / 1e9))')" 'the plan'

begin 'learn of unified memory: by block, for what brings the pages is not in the path'
{
  printf 'schema_version = 1\nname = "unified"\n'
  for mode in prefetch demand; do
    printf '[[transfer]]\nname = "%s"\nmethod = "um"\nfrom = { numa = 0 }\nto = { gpu = 0 }\nsize = "1MiB"\nunified.mode = "%s"\n' \
      $mode $mode
  done
} >unified.toml
run_ok run unified.toml --db unified.db -q
run_ok expect learn --db unified.db
equal 'demand prefetch' "$(sed -n 's/^block = "\(.*\)"$/\1/p' out | sort | xargs)" 'blocks of the rows'

begin 'learn from several flows at once: by block, and a shortfall names no GPU'
run_ok run nvbandwidth --only 'all_to_host_*ce,one_to_all_write_ce' --db several.db -q \
  --set transfer.size=1MiB --set measure.max_time=1ms
run_ok expect learn --db several.db
cp out several.toml
run_ok expect check several.toml
sed 's/factor = 0.5/factor = 0.1/; s/from = "host"/from = 2/; s/to = 2/to = "host"/' slow.toml >slower.toml
HAUL_FAKE_FAULTS=slower.toml HAUL_EXPECT=several.toml run_ok run nvbandwidth --only 'all_to_host_memcpy_ce' --db several.db \
  -q --set transfer.size=1MiB --set measure.max_time=1ms
run_says 1 '^several GPUs, flows at once: .*all_to_host_memcpy_ce/gpu0\.\.3-numa0' \
  check --expect=several.toml --db several.db

begin 'health: a program that loads a GPU is waited for, then named with what it does'
sleep 1000 &
program=$!
cat >busy.toml <<EOT
[fake]
[[fake.process]]
gpu = 1
pid = $program
busy_percent = 98
[[fake.link]]
from = "host"
to = 1
factor = 0.5
EOT
HAUL_FAKE_FAULTS=busy.toml HAUL_EXPECT=mine.toml run_fails 1 'gpu1: 1 compute process, 98 % busy: waiting for up to 1 s' \
  run health --db busy.db --set measure.idle_wait=1s \
  --set measure.settle_time=200ms
expect_out "^unhealthy: gpu1: 1 compute process, 98 % busy; gpu1 in use by pid $program \\(sleep\\), 98 % busy; gpu1, host link: 27\.[0-9]+ GB/s, usual 55-55\.2 \\(host_to_device/numa0:pinned-gpu1/64MiB\\); gpu1 is 0000:07:00\.0\$"
kill "$program"
{ wait "$program"; } 2>/dev/null
sed '/^name = "NVIDIA H200"/,/^\[\[gpu/s/^utilization_percent = 0/utilization_percent = 60/' \
  "$HAUL_FAKE_MACHINE" >loaded.toml
HAUL_FAKE_MACHINE=loaded.toml HAUL_EXPECT=mine.toml run_fails 1 'gpu0: 0 compute processes, 60 % busy.*: waiting for up to 600 ms' \
  run health --db busy.db \
  --only 'host_to_device' --set measure.idle_wait=600ms
expect_out '^unhealthy: gpu0: 0 compute processes, 60 % busy'
reject_out 'in use by another program'

begin 'health: without a place for results nothing is left behind'
mkdir own
TMPDIR=$scratch/own HOME=/proc XDG_DATA_HOME=/proc/none HAUL_EXPECT=mine.toml run_ok run health --only host_to_device
expect_out '^healthy: all 4'
expect_err 'the results are not kept: '
reject_err 'is in '
equal '' "$(ls -A own)" 'what is left'
HAUL_EXPECT=mine.toml run_ok run health -q --only host_to_device --db /proc/none/results.db
expect_out '^healthy: all 4'
printf 'no database' >damaged.db
HAUL_EXPECT=mine.toml run_ok run health --only host_to_device --db damaged.db
expect_out '^healthy: all 4'
expect_err 'warning: the results are not kept: .*damaged.db'
equal 'no database' "$(cat damaged.db)" 'what is no database is left alone'

begin 'health: GPUs that differ from the others, are cut off from them, or are not shown'
sed '/^pci_address = "0000:07:00.0"/,/^\[\[/s/^pcie_width_max = 16/pcie_width_max = 8/' "$HAUL_FAKE_MACHINE" >narrow.toml
HAUL_FAKE_MACHINE=narrow.toml HAUL_EXPECT=mine.toml run_says 1 '^unhealthy: gpu1: number of PCIe lanes 8, of others 16; gpu1 is 0000:07:00\.0$' \
  run health --db unlike.db --only host_to_device
write_fault unlike.toml 'kind = "error"' 'call = "cuDeviceCanAccessPeer"' 'code = 999' 'count = 0'
expect_health 1 '^unhealthy: gpu0 has NVLinks and no peer access to gpu1, and 11 pairs more; gpu0 is 0000:06:00\.0, gpu1 is 0000:07:00\.0$' \
  unlike.toml --db unlike.db
sed 's/cuDeviceCanAccessPeer/nvmlInit_v2/' unlike.toml >nvml.toml
expect_health 1 "$nvml_lost" nvml.toml --db unlike.db
sed 's/cuDeviceCanAccessPeer/cuDeviceGet/; s/^count = 0/nth = 4\n&/' unlike.toml >hidden.toml
expect_health 1 '^unhealthy: CUDA shows 3 of the 4 GPUs that NVML sees' hidden.toml --db unlike.db

begin 'learn from 20 hosts, one of them slow: it falls short, the others do not'
run_ok run up.toml --db template.db --only 'up'
built tests/benchmarks/make_fleet template.db shards 20 slow_node=7:20 slow_gpu=3:1:15 || bad make_fleet
run_ok merge fleet.db shards
run_ok expect learn --db fleet.db
cp out learned.toml
expect_err 'left out: n0007: host_to_device, (19|20)\.[0-9] % worse than the others'
expect_out '^hosts = 19$'
expect_out '^simulated = true$'
run_ok expect check learned.toml
expect_err 'learned.toml: 1 machine, 2 rows'
run check --where 'host_name=*' --expect=learned.toml --db fleet.db --format csv
expect_code 1
equal '3 7' "$(tr -d '\r' <out | sed -n 's/^short,.*,\([0-9]*\),[^,]*$/\1/p' | sort -un | xargs)" 'runs that fall short'
equal 10 "$(grep -c '^short' out)" 'cases: two of gpu1 of n0003, eight of n0007, and no more'
run_ok check --where 'host_name=n00[12]*' --expect=learned.toml --db fleet.db --only 'up/*gpu0*'
expect_out '^run 12 on n0012: all 8 results are as expected'
run_ok expect learn --of 'gpu=*H200*' --db fleet.db
run_fails 3 'nothing to learn' expect learn --of 'gpu=*H100*' --db fleet.db
run_ok import nvbandwidth "$source_folder/tests/data/nvbandwidth-0.8-4xH200.json" --db imported.db
run_fails 3 'nothing to learn' expect learn --db imported.db
run_ok merge both.db fleet.db imported.db
run_ok expect learn --db both.db
expect_err 'left out: 1 imported run, for other tools measure otherwise$'
cmp -s learned.toml out || bad 'what was imported is learned'
run_fails 2 'needs gpu=GLOB' expect learn --of 'H100' --db fleet.db

begin 'what is known can be read'
run_ok expect list
expect_out '^H200 SXM on PCIe 5 x16 +NVIDIA H200 +5 x16 +4 x18'
expect_out '^H100 PCIe .* 2022-11-30 +1$'
expect_err '[0-9]+ rows? (is|are) older than two years, or without a date \(haul expect show "H100 PCIe"\)$'
COLUMNS=80 run_ok expect show 'h100 pcie'
expect_out '^device_to_device ce .* older than two years$'
COLUMNS=80 run_ok expect show h200 # what tells rows apart has room
expect_out '^local stream read +>= 1GiB +4431 +4658 +GB/s'
expect_out '^    stas00/ml-engineering, 8 GPUs \(the 2 rows above\)$'
COLUMNS=80 run_ok expect show # and each row says of which machine it is
expect_out '^A100 SXM on .*host_to_'
expect_out '^H100 PCIe +device_to_'
run_ok expect show 'h100 pcie' --csv
expect_out ',2022-11-30,older than two years'
run_ok expect show 'h200*' --expect mine.toml
expect_out '^H200 of the fake driver .* 55 +55\.2 +GB/s +reports +2 '
expect_out 'Azure/azurehpc-health-checks'
run_ok expect show gb200 --csv
equal GB200 "$(sed 1d out | cut -d, -f1 | sort -u)" 'a whole name is not looked for in others'
run_ok expect show h200 --csv
equal 'H200 SXM on PCIe 5 x16' "$(sed 1d out | cut -d, -f1 | sort -u)" 'a name that begins with the word, not GH200'
run_ok expect show sxm --csv
equal 3 "$(sed 1d out | cut -d, -f1 | sort -u | wc -l)" 'machines with the word in their name'
for name in nosuch 'x*'; do
  run_error 2 "no machine is called \"${name/\*/.}\"; there are A100 SXM on PCIe 4 x16, .*, GB300$" expect show "$name"
done
run_fails 2 'bad.toml:13:8: error' expect check bad.toml

finish
