#!/usr/bin/env bash
# What a new driver changed: diff, check, history, outliers and baselines on the fake driver.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
two_drivers

begin 'help and docs/COMPARE.md say the same of provisional verdicts and of distributions'
run_ok diff --help
sed -En 's/^  (- .*|(MODE|TAIL|JITTER) .*)/\1/p' out >words
equal 7 "$(wc -l <words)" 'lines of help'
sed -E 's/^\| (MODE|TAIL|JITTER) \| (.*) \|$/\1 \2/' "$source_folder/docs/COMPARE.md" >page
while read -r word rest; do
  if grep -qxF -- "$word $rest" page; then good; else bad "not in docs/COMPARE.md: $word $rest"; fi
done <words

begin 'diff names the one link at 97 %'
on_first gpu.toml -q --db r.db --processes 5 --tag before
expect_code 0
on_second gpu.toml -q --db r.db --processes 5 --tag after
expect_code 0
run_ok diff tag:before tag:after --db r.db
expect_out 'REGRESSED\? +down/gpu0-numa0:pinned/2MiB'
expect_out 'REGRESSED\? +down/gpu0-numa0:pinned/4MiB'
equal 2 "$(grep -Ec '^(REGRESSED|IMPROVED|UNCLEAR|INSUFFICIENT|NEW|MISSING|INCOMPARABLE)' out)" 'cases shown'
expect_out '^2 regressed, 16 same \(all provisional\): 580[0-9.]+ -> 590\.44\.01 \(gpu0-numa0:pinned, -[23]\.[0-9]+ %\)$'
equal '2 regressed, 16 same (all provisional)' "$(head -n 1 out | cut -d: -f1)" 'first line'
expect_out '^One recorded fact differs: driver_version, 580[0-9.]+ -> 590\.44\.01$'
expect_out '^\?: provisional: each side is one run, without 4 earlier runs of the machine$'
reject_out '^One run per side'
expect_out '^Median change over 18 cases:'
expect_out 'SIMULATED'
cp out by-name
run_ok explain --db r.db
expect_out '^Next, to see what changed: haul diff tag:before tag:after --db r\.db$'
run_ok diff --by driver_version --db r.db
equal "$(grep REGRESSED by-name)" "$(grep REGRESSED out)" 'rows of --by'
on_second gpu.toml -q --db later.db # the newer driver first: it is B all the same
on_first gpu.toml -q --db later.db
run_ok diff --by driver_version --db later.db
expect_out '^[0-9]+ undecided .*: 580[0-9.]+ -> 590\.44\.01( |$)'
run_ok diff --by driver_version --from 580 --to 590.44 --db r.db
equal "$(grep REGRESSED by-name)" "$(grep REGRESSED out)" 'rows of --by with parts of versions'
cp r.db more.db
sed '3s/gpu/another/' gpu.toml >another.toml
on_first another.toml -q --db more.db --only up
run_ok diff --by driver_version --from 580 --to 590.44 --db more.db
equal "$(grep REGRESSED by-name)" "$(grep REGRESSED out)" 'rows of --by beside a scenario that one side alone ran'
expect_out '^Not compared: another \(not run on both sides\)$'
run_error 2 'no case of these runs is named like "gpu0-numa0:pinned"; did you mean "\*gpu0-numa0:pinned\*"\?' \
  diff --by driver_version --from 580 --to 590 --db r.db --only gpu0-numa0:pinned
run_error 2 'no run has the driver_version "58"; there are: ' diff --by driver_version --from 58 --to 590 --db r.db
run diff tag:before tag:after --db r.db --method rank
expect_out '^[0-9].*(same \(provisional\)|undecided( \(.*\))?): '
run diff tag:before tag:after --db r.db --delta 5
expect_out '^18 same \(provisional\): '

begin 'diff draws the conclusion above the list, and folds rows'
cat >gpu2.toml <<'TOML'
[fake]
driver_version = "590.44.01"
[[fake.link]]
from = 2
to = "*"
factor = 0.9
TOML
pairs() { # FAULTS TAG
  HAUL_FAKE_MACHINE=$source_folder/tests/machines/h200x4.toml HAUL_FAKE_FAULTS=$1 \
    run_ok run pairs.toml -q --db pairs.db --processes 5 --tag "$2"
}
write_pairs '["1MiB", "4MiB"]' '"*"' '"1MiB"'
cat -- gpu2.toml "$faults/noise.toml" >gpu2-noise.toml
pairs "$faults/noise.toml" before
pairs "$scratch/gpu2-noise.toml" after
run_ok diff tag:before tag:after --db pairs.db
expect_out '^gpu2 as source: [0-9.]+ % slower \(6 of 6 cases\); none of the other 22 cases is$'
expect_out '^REGRESSED\? +between: 6 cases, worst gpu2-gpu[0-9]/[14]MiB +-[0-9.]+ \.\. -[0-9.]+ +[0-9.<e-]+ *$'
expect_out '^-v lists every case'
expect_out '^6 regressed, 22 same \(all provisional\): 580[0-9.]+ -> 590\.44\.01 \(gpu2 as source, -[0-9.]+ %\)$'
equal 1 "$(grep -c '^REGRESSED' out)" 'lines of regressed cases'
reject_out $'\033'
run_ok diff tag:before tag:after --db pairs.db -v
equal 6 "$(grep -c '^REGRESSED' out)" 'lines of regressed cases with -v'
expect_out '^between +24 +-[0-9.]+ +6 regressed \(provisional\), 18 same \(provisional\)$'
equal 22 "$(grep -c '^SAME' out)" 'lines of cases that are the same'
run_ok diff tag:before tag:after --db pairs.db --color always
expect_out $'\033\\[31mREGRESSED'
expect_out $'\033\\[31mgpu2 as source: '
run_ok diff tag:after tag:before --db pairs.db --json
expect_out '"what": "gpu2 as source",'
expect_out '"others_changed": 0,'
equal 2 "$(grep -c '"compared": ' out)" 'blocks'

begin 'smallest change that matters: of the scenario, or --delta'
cp r.db delta.db
on_second gpu.toml -q --db delta.db --processes 5 --tag lenient --set down.delta=0.05
expect_code 0
run diff tag:before tag:lenient --db delta.db
expect_out '^18 same \(provisional\): '
run diff tag:lenient tag:before --db delta.db --json
equal 8 "$(grep -c '"delta_from": "scenario"' out)" 'cases of block down'
equal 10 "$(grep -c '"delta_from": "usual"' out)" 'others'
equal 8 "$(sed -n '/"cases": \[/,$p' out | grep -c '"delta_percent": 5.0,')" 'δ of block down'
run diff tag:before tag:lenient --db delta.db --delta 1
expect_out '^2 regressed, 16 same \(all provisional\): '
expect_out '^threshold: 1 %$'
run query "select distinct block, delta from v_case where tag = 'lenient'" --db delta.db --format csv
equal 'across, down,0.05 up,' "$(sort <out | grep -v block | tr -d '\r' | xargs)" 'recorded'

begin 'check'
run_says 1 '^REGRESSED' check tag:before tag:after --fail-on provisional --db r.db
expect_err '^haul: check failed: 2 regressed \(provisional\)$'
run_ok check tag:after tag:before --db r.db
run check tag:after tag:before --db r.db --fail-on improved,provisional
expect_code 1
run_ok check tag:before tag:after --db r.db --only 'up/*'
run_fails 3 'nothing was decided: [0-9]+ undecided\. (Measure more|More) runs' check tag:before tag:after --db r.db --only 'up/*' --delta 0.0001
run check tag:before tag:after --db r.db --only 'up/*' --delta 0.0001 --strict
expect_code 4
run_ok check tag:before tag:after --db r.db --only 'up/*' --delta 0.0001 --fail-on broken
run diff tag:before tag:after --db r.db --only 'down/gpu0-numa0:pinned/4MiB'
expect_out '^Showing 1 of 18 compared cases: 1 regressed \(provisional\): '
equal "$(grep -o '4MiB .*' by-name)" "$(grep -o '4MiB .*' out)" 'row of --only'
run_says 1 '<testsuite name="haul check" tests="18" failures="2" errors="0" skipped="0">' \
  check tag:before tag:after --fail-on provisional --db r.db --format junit
expect_out '<failure message="regressed \(provisional\): -[23]'
run_fails 2 'unknown verdict "foo": one of [^/]*, provisional\. See' check tag:before tag:after --db r.db --fail-on foo
reject_err 'slow'
run_fails 2 'unknown reason "foo": one of missing, .*, slow\. See' check --fleet --db r.db --fail-on foo
run_fails 2 'did you mean "regressed"' check tag:before tag:after --db r.db --fail-on regresed
run_fails 2 'fail-on slow is for --fleet alone' check tag:before tag:after --db r.db --fail-on slow
run_fails 2 'cannot be combined with --fail-on provisional' check --fleet --db r.db --fail-on missing,provisional
run_fails 2 'cannot be combined with --strict' check --fleet --db r.db --strict
run_fails 2 'cannot be combined with --by or --fail-on' check --expect --db r.db --fail-on provisional

begin 'few processes: provisional, and decisive with --fail-on provisional'
on_first gpu.toml -q --db few.db --processes 3 --tag a
on_second gpu.toml -q --db few.db --set measure.processes=3 --tag b
run_ok check tag:a tag:b --db few.db
expect_out '^REGRESSED\? +down/gpu0-numa0:pinned/4MiB'
expect_out '^\?: provisional: each side is one run, without 4 earlier runs of the machine$'
expect_out '^2 regressed, 16 same \(all provisional\)'
expect_err '^haul: check passed, although 2 cases are REGRESSED\? \(provisional: .*\)\. To fail on it: --fail-on provisional$'
expect_err '^haul: The 2 provisional changes need 3 more runs of each side \(now A 1, B 1\)\. Measure in turn, so that drift is not taken for a change\. A loop does not survive a reboot: if the change needs one, type its turns one by one:$'
cat >wanted <<'TEXT'
  for side in b a a b b a; do
    # install driver 580.95.05 for a, 590.44.01 for b
    haul run gpu.toml --db few.db --processes 3 --tag $side
  done
  haul diff tag:a tag:b --db few.db
TEXT
equal "$(cat wanted)" "$(grep '^  ' err)" 'commands of the advice'
run_ok check tag:a tag:b --db few.db -q
expect_out '^passed: 2 regressed, 16 same \(all provisional\)'
run check tag:a tag:b --db few.db --fail-on provisional
expect_code 1
run_ok check tag:a tag:b --db few.db --fail-on improved,provisional
run_fails 4 '^haul: check --strict failed: ([0-9]+ undecided, )?[0-9]+ provisional \(each side is one run, ' \
  check tag:a tag:b --db few.db --strict
cp few.db tail.db
sqlite3 tail.db "update case_run set p95_ns = 2 * median_ns where run = 2 and bench_case = (
  select id from bench_case where name like 'up/%' limit 1)"
run_says 1 '; distribution changed in 1 \(worse: 1 TAIL\): ' \
  check tag:a tag:b --db tail.db --only 'up*' --fail-on provisional
expect_err '^haul: check failed: 1 distribution \(1 TAIL\); to leave distributions out: --fail-on broken,regressed,missing,provisional$'
# A case that B added: BROKEN if it does not work, whatever --fail-on says of NEW; NEW if it works.
cp few.db new.db
sqlite3 new.db "create table added as select id from bench_case where name like 'up/%' limit 1;
  delete from case_run where run = 1 and bench_case in added"
run_ok check tag:a tag:b --db new.db --format junit
expect_out '<skipped message="new"/>'
run check tag:a tag:b --db new.db --fail-on new
expect_code 1
for status in failed crashed hung corrupt; do
  sqlite3 new.db "update case_run set status = '$status', reason = 'no luck', n = 0, median_ns = null
    where run = 2 and bench_case in added"
  run_says 1 "^BROKEN +up/.* \\(A did not run it; B: 3 of 3 processes $status\\)" check tag:a tag:b --db new.db
  expect_out "^up/.*: $status: no luck$"
  expect_err '^haul: check failed: 1 broken$'
  run_says 1 "<failure message=\"broken: .*$status: no luck\"/>" check tag:a tag:b --db new.db --format junit
  run check tag:a tag:b --db new.db --format ctrf
  expect_out '"failed": 1,'
  run_ok check tag:a tag:b --db new.db --fail-on regressed --format junit
  expect_out "<skipped message=\"broken: .*$status: no luck\"/>"
done
cp few.db skipped.db
sqlite3 skipped.db "create table added as select id from bench_case where name like 'up/%' limit 1;
  delete from case_run where run = 1 and bench_case in added
    and id not in (select min(id) from case_run where run = 1 group by bench_case);
  update case_run set status = iif(run = 1, 'skipped', 'failed'), process = iif(run = 1, null, process), n = 0,
    reason = iif(run = 1, 'too old', 'no luck'), median_ns = null where bench_case in added"
run_says 1 '^BROKEN +up/.* \(in A it was skipped: too old; B: 3 of 3 processes failed\)' \
  check tag:a tag:b --db skipped.db
expect_out '^up/.*: failed: no luck$'
run_ok diff tag:a tag:b --db skipped.db --format csv
expect_out '^broken,up/.*,failed: no luck,skipped: too old,failed: no luck,' # of the row, of A, of B
run_ok diff tag:a tag:b --db skipped.db --json
expect_out '"reason": "skipped: too old"'
# Cases that are the same count, and what they lack is said.
run_says 4 '^Showing 4 of 18 compared cases: 4 same \(provisional\): ' \
  check tag:a tag:b --db few.db --strict --only 'up*' --delta 5
expect_out '^provisional: each side is one run, without 4 earlier runs of the machine$'
run_ok diff tag:a tag:b --db few.db -v --only 'up*' --delta 5 # no row has a q
expect_out '^SAME'
reject_out '^q: '
run check tag:a tag:b --db few.db --strict --only 'up*' --delta 5
expect_err '^haul: check --strict failed: 4 provisional \(each side is one run, without 4 earlier runs of the machine\)$'
expect_err '^haul: The 4 provisional cases need 3 more runs of B \(now 1\):$'
run check run:1 run:2 --db few.db --strict --only 'up*' --delta 5
expect_err "^  haul diff run:1 run:2,tag:b2 --only 'up\\*' --delta 5 --db few\\.db\$" # A gets no runs, and no tag
run check tag:a tag:b --db few.db --format junit
expect_out 'failures="0"'
expect_out '<skipped message="regressed \(provisional\): '
run diff tag:a tag:b --db few.db --method rank
expect_out '^Ranks: of 18 cases, one that alone changed can be reported with 6 processes per side or more; 18 cases have fewer'

begin 'baselines'
run_ok baseline set good tag:before --db r.db
expect_err "baseline:good is now run [0-9]+\$"
run baseline list --db r.db
expect_out '^good +1 '
run_ok baseline set two run:1,run:2 --db r.db
expect_err "baseline:two is now runs 1-2\$"
run_ok baseline remove two --db r.db
run check baseline:good --fail-on provisional --db r.db
expect_code 1
run_error 2 'no baseline "god"; there is: good' check baseline:god --db r.db
run_ok baseline remove good --db r.db
run_error 2 'no baseline "good"; there are none' check baseline:good --db r.db
run_error 2 'no baseline "good"' baseline remove good --db r.db
run_error 2 'names no run' baseline set good nothing --db r.db
run_error 2 'names no run: did you mean tag:before\?' baseline set good before --db r.db
run_error 2 'no-such\.db' baseline set good latest --db no-such.db
missing no-such.db

begin 'history marks a latest run that is off the level before it, in text, JSON and on the page'
printf '[[fake.link]]\nfrom = 0\nto = "host"\nfactor = 0.9\n' | cat - "$faults/noise.toml" >link.toml
for ((i = 0; i < 6; i++)); do
  on_first gpu.toml -q --db h.db --processes 2 --tag before --only 'down*gpu0*'
done
run_ok history 'down/gpu0*/4MiB' --db h.db
expect_out '^  the latest run does not differ from the 5 before it: a change of [0-9.]+ % would have been marked$'
HAUL_FAKE_FAULTS=$scratch/link.toml run run gpu.toml -q --db h.db --processes 4 --tag slow --only 'down*gpu0*'
run_ok history 'down/gpu0*/4MiB' --db h.db
expect_out '^  \^ .* -(9\.[0-9]+|10\.[0-9]+) %, the latest run differs from the level before it \(p '
run_ok history 'down/gpu0*/4MiB' --db h.db --json
expect_out '"mark": ?"latest"'
run_ok report history.html latest --against tag:before --db h.db
equal 1 "$(grep -c '%</b> the latest run differs from the level before it (p ' history.html)" 'marks of the page'

begin 'history and outliers'
run_ok history down/gpu0-numa0:pinned/4MiB --db r.db
expect_out '\| .* -[23]\.[0-9]+ %, driver 580.* to 590\.44\.01'
cp r.db later.db
HAUL_FAKE_PROCESSES=later on_second gpu.toml -q --db later.db
run_ok history down/gpu0-numa0:pinned/4MiB --db later.db
expect_out '\| .* -[23]\.[0-9]+ % in the 2 runs from here on, driver 580.* to 590\.44\.01'
run_ok history '*' --db r.db
expect_out '^SIMULATED: a fake driver answered$'
reject_out ': [+-]0\.00 %,'
expect_out '^1[67] cases did not change \(-v shows each with its runs\):$'
equal "$(sed -n 's/^\([0-9]*\) cases did not.*/\1/p' out)" "$(grep -Ec '^(up|down|across)/.* (GB/s|ns/hop)$' out)" 'lines of these'
run_ok run gpu.toml --db single.db -q --only 'up*'
run_ok history '*' --db single.db
expect_out '^4 cases have one run each, so far:$'
run_ok run gpu.toml --db single.db -q --only 'down*,up*-gpu[01]*'
run_ok history '*' --db single.db # each case is said to have the runs that it has
expect_out '^2 cases did not change \(-v shows each with its runs\):$'
expect_out '^10 cases have one run each, so far:$'
run_ok run gpu.toml --db single.db -q --only 'up*-gpu0/4MiB' --set measure.min_trial=7ms
run_ok history 'up*' --db single.db # cases of one name are told apart
expect_out '^up/numa0:pinned-gpu0/4MiB, min_trial 7ms +1 '
expect_out '^up/numa0:pinned-gpu0/4MiB, min_trial [^7]'
run_ok query --saved drivers --db single.db --param name='up*gpu[01]/4MiB' --csv
equal 2 "$(grep -c ',simulated,min_trial [0-9.]* ms' out)" 'rows with settings'
cp r.db machines.db
on_first gpu.toml -q --db machines.db --node-name n2
run_ok history '*' --db machines.db # a band per block, which hides two cases
expect_out '^case that changed +machine +changes +largest %$'
expect_out '^down/gpu0-numa0:pinned/4MiB +.* +1 +-[23]\.[0-9]+$'
equal 2 "$(grep -c '^[a-z]*/.* [+-][0-9.]*$' out)" 'cases that changed'
run_ok history 'down/*' --db r.db --format csv
equal 17 "$(wc -l <out | tr -d ' ')" 'lines: 8 cases in 2 runs, and a heading'
run_error 2 'no-such-case' history no-such-case --db r.db
run_ok outliers --db r.db
expect_out '^gpu0-numa0 .*down'
expect_out '^1 slow;'
run_ok outliers tag:before --db r.db
expect_out '^No GPU, link or host is slow;'

# A fault file with the noise of $faults/noise.toml and links of 97 %, given as "FROM TO" pairs.
fault_links() {
  cat -- "$faults/noise.toml"
  while [ $# -gt 0 ]; do
    printf '[[fake.link]]\nfrom = %s\nto = %s\nfactor = 0.97\n' "$1" "$2"
    shift 2
  done
}
sed 's/gpu = \[0, 1, 2\]/gpu = [0, 1, 2, 3]/' gpu.toml >four.toml
outliers_of() { # FROM TO ...
  fault_links "$@" >links.toml
  HAUL_FAKE_FAULTS=$scratch/links.toml run_ok run four.toml -q --db slow.db --processes 3
  run_ok outliers --db slow.db
}
begin 'slow GPU: its links are not blamed'
outliers_of 2 0 2 1 2 3 0 2 1 2 3 2
expect_out '^gpu2 +as source and target .*across .* -[23]\.[0-9]+, -[23]\.[0-9]+ .* 6 of 6 '
expect_out '^1 slow;'
run outliers --db slow.db --json
equal 1 "$(grep -c '"finding":"slow"' out)" 'rows that are slow'
expect_out '"finding":"slow","entity":"gpu","name":"gpu2","role":"both".*"paths":"([^"]*, ){5}[^"]*"'
begin 'slow target'
outliers_of 0 1 2 1 3 1
expect_out '^gpu1 +as target .*across .* 3 of 3 +gpu[023]-gpu1, gpu[023]-gpu1, gpu[023]-gpu1'
expect_out '^1 slow;'
begin 'slow link, in one direction and in both'
outliers_of 0 3
expect_out '^gpu0-gpu3 .*across'
expect_out '^1 slow;'
outliers_of 0 3 3 0
expect_out '^gpu0-gpu3 +both ways .*across'
expect_out '^1 slow;'
begin 'nothing is slow'
outliers_of
expect_out '^No GPU, link or host is slow;'
expect_out '^SIMULATED: a fake driver answered$'
begin 'a slow host link is named; the latest run counts, the history does not hide it'
outliers_of '"host"' 2
expect_out '^Host to gpu2 is [23]\.[0-9] % slower than to the other GPUs: 1 of 1 case, in up$'
expect_out '^gpu2 is 0000:[0-9a-f:.]+, GPU-'
cp out latest
sed 's/0\.97/0.5/' links.toml >half.toml
HAUL_FAKE_FAULTS=$scratch/half.toml run_ok run four.toml -q --db sizes.db --processes 3 --only 'up/*' --set 'up.size=["64KiB","16MiB"]'
run_ok outliers --db sizes.db
expect_out '^Host to gpu2 is slower than to the other GPUs: [45][0-9]\.[0-9] % at 16MiB, [0-9.]+ % at 64KiB; 2 of 2 cases, in up$'
equal 1 "$(grep -c '^gpu2 is 0000:' out)" 'lines with its address'
cp latest out
run_ok outliers --all --db slow.db
equal "$(cat latest)" "$(cat out)" 'what --all finds'
run_ok outliers --where scenario=gpu --db slow.db
expect_out '^Host to gpu2 is '
run outliers --db slow.db --json
expect_out '"verdict":"Host to gpu2 is '
begin 'two halves that disagree are said'
outliers_of '"host"' 2 '"host"' 3 2 '"host"' 3 '"host"'
expect_out '^gpu0,gpu1 and gpu2,gpu3 differ by [23]\.[0-9] % both ways: which is slow cannot be told; in (up, down|down, up)$'
expect_out '^No GPU, link or host is slow, 2 undecided;'
begin 'two peers that differ are undecided'
sed -e 's/\[0, 1, 2\(, 3\)*\]/[0, 1]/' gpu.toml >two.toml
fault_links 1 '"host"' >links.toml
HAUL_FAKE_FAULTS=$scratch/links.toml run run two.toml -q --db slow.db --processes 3
run_error 3 'nothing can be judged: too few peers among 8 results. It takes ' outliers --db slow.db
expect_out '^1 undecided:'
expect_out 'down/gpu1-numa0:pinned/[24]MiB is [23]\.[0-9]+ % slower than down/gpu0-numa0:pinned/[24]MiB'

begin 'slow link beside pageable copies, which hardly use it'
quick() { # FAULTS ONLY
  HAUL_FAKE_MACHINE=$source_folder/tests/machines/h200x4.toml HAUL_FAKE_FAULTS=$1 \
    run_ok run quick -q --db quick.db --only "$2" --set 'transfer.size=["4KiB", "4MiB"]'
  run_ok outliers --db quick.db
}
quick "$faults/half-speed-link.toml" 'host_to_device*'
expect_out '^numa0-gpu1 .*host_to_device +pinned to device +from 1MiB +-(49|50)\.[0-9]+ .* 1 of 1'
equal 0 "$(grep -c 'gpu[023] ' out)" 'other links that are named'
equal 0 "$(grep -c pageable out)" 'pageable copies that are named'
printf '[[fake.link]]\nfrom = %s\nto = %s\nfactor = 0.6\n' '"host"' 1 1 '"host"' >both.toml
quick "$scratch/both.toml" '*host*'
expect_out "^gpu1's host link both ways is (39|40)\\.[0-9]+ % slower"
expect_out '^1 slow;'
printf '[[fake.link]]\nfrom = 1\nto = "host"\nfactor = 0.6\n' >down.toml
quick "$scratch/down.toml" 'device_to_host*'
expect_out '^gpu1-numa0 .*device_to_host +device to pinned +from 1MiB +-(39|40)\.[0-9]+ .* 1 of 1'
expect_out '^1 slow;'
run outliers --db quick.db --json
expect_out '"finding":"slow".*"name":"gpu1-numa0".*"memory":"device to pinned"'

begin 'undecided cases below the threshold do not hide the others'
{
  printf 'schema_version = 1\nname = "blocks"\n[measure]\ntrials = { min = 8, max = 8 }\nmax_time = "5ms"\n'
  for block in $(seq 14); do
    printf '[[transfer]]\nname = "b%s"\nmethod = "ce"\nfrom = { numa = "local" }\nto = { gpu = 0 }\nsize = "%sKiB"\n' \
      "$block" "$((64 + block))"
  done
  printf '[[transfer]]\nname = "down"\nmethod = "ce"\nfrom = { gpu = 0 }\nto = { numa = "local" }\nsize = "4MiB"\n'
} >blocks.toml
printf '[[fake.link]]\nfrom = 0\nto = "host"\nfactor = 0.9\n' >tenth.toml
run_ok run blocks.toml -q --db blocks.db
HAUL_FAKE_FAULTS=tenth.toml run_ok run blocks.toml -q --db blocks.db
run_ok diff previous latest --db blocks.db
expect_out '^INSUFFICIENT +down/gpu0-numa0:pinned/4MiB .* -[89]\.'
expect_out '^INSUFFICIENT +14 cases below the threshold +[+]0\.00 \.\. [+]0\.00'
equal 2 "$(grep -c '^INSUFFICIENT' out)" 'lines'
expect_out '^verdict +case +A GB/s +B GB/s +change %$'
reject_out '^q:'
run_ok diff previous latest --db blocks.db -v
equal 15 "$(grep -c '^INSUFFICIENT' out)" 'lines with -v'
run_ok diff previous latest --db blocks.db --json
equal 15 "$(sed -n '/"cases": \[/,$p' out | grep -c '"verdict": *"insufficient"')" 'cases in JSON'
run_ok report blocks.html run:2 --against run:1 --db blocks.db
if grep -q '</span> 14 cases below the threshold' blocks.html; then good; else bad 'no such group on the page'; fi

begin 'one process per side is undecided; stderr says how many more are needed'
on_first gpu.toml -q --db one.db --tag a
on_second gpu.toml -q --db one.db --tag b
run_ok diff tag:a tag:b --db one.db
expect_out "^INSUFFICIENT +down: 8 cases, worst gpu0-numa0:pinned/4MiB"
expect_out '^18 undecided \(2 look slower, 16 within the threshold\): 580[0-9.]+ -> 590\.44\.01 \(gpu0-numa0:pinned, -[23]\.[0-9]+ %\)$'
expect_err '^haul: The 18 undecided cases need at least 4 more runs of each side \(now A 1, B 1\)\. Measure in turn, '
equal 1 "$(grep -c '^haul: ' err)" 'advice'
expect_err '^  for side in b a a b b a a b; do$'
expect_err '^    haul run gpu\.toml --db one\.db --processes 1 --tag \$side$'
cp err advice
run_ok diff previous latest --db one.db
# Tags a and b are in use; the runs that there are count.
expect_err '^  for side in b2 a2 a2 b2 b2 a2 a2 b2; do$'
expect_err '^    # install driver 580\.95\.05 for a2, 590\.44\.01 for b2$'
expect_err '^  haul diff run:1,tag:a2 run:2,tag:b2 --db one\.db$'
reject_err ' (-q|--json|--format)( |=|$)'
reject_err 'haul merge'
run_fails 3 'nothing can be decided: one run of one process on each side' check tag:a tag:b --db one.db
cp one.db part.db # what one side alone was told to measure is measured again, nothing else
on_first gpu.toml -q --db part.db --only 'down*' --tag part
run_ok diff tag:part tag:b --db part.db
expect_err '^    haul run gpu\.toml --only '\''down\*'\'' --db part\.db --processes 1 --tag \$side$'
run_ok baseline set thin tag:a --db one.db
run check baseline:thin --db one.db # under another driver
expect_err '4 more runs of each side'
cp one.db thin.db
on_first gpu.toml -q --db thin.db
run_fails 3 '^haul: A baseline of one process decides nothing\.' check baseline:thin --db thin.db
expect_err '^  haul run gpu\.toml --db thin\.db --processes 5$'
expect_err '^  haul baseline set thin latest --db thin\.db$'
reject_err 'runs per side'
on_first gpu.toml -q --db thin.db --only 'down*' # the new baseline has the cases of the old one, not of B
run check baseline:thin --db thin.db
expect_err '^  haul run gpu\.toml --db thin\.db --processes 5$'
reject_err --only
for tag in a b; do # whose verb has no scenario
  HAUL_FAKE_FAULTS=$faults/noise.toml run_ok copy --from host --to gpu0 -q --db copy.db --tag "$tag"
done
run_ok diff tag:a tag:b --db copy.db
expect_err '^    haul copy --from host --to gpu0 --db copy\.db --processes 1 --tag \$side$'
run_ok baseline remove thin --db one.db
cp one.db elsewhere.db
HAUL_DB=elsewhere.db on_first gpu.toml -q --tag a3
HAUL_DB=elsewhere.db on_second gpu.toml -q --tag b3
run_ok diff tag:a3 tag:b3 --db elsewhere.db # whose commands did not name it
expect_err '^    haul run gpu\.toml --db elsewhere\.db --processes 1 --tag \$side$'
cp one.db others.db # with a later run of a part, and one of another scenario
run_ok run gpu.toml -q --db others.db --only 'up*'
run run quick -q --only '*/4KiB' --db others.db
run_ok diff --by driver_version --db others.db
expect_err '^  (for round in .*do )?for side in A B B A.*; do$'
expect_err '^    haul run gpu\.toml --db others\.db --processes 1$'
expect_err '^  haul diff --by driver_version --from [0-9.]+ --to [0-9.]+ --db others\.db$'
reject_err 'haul run quick|--only'
run_ok diff --by driver_version --db others.db --where 'scenario=g*' --any-hardware
expect_err "^  haul diff --by .* --any-hardware --where 'scenario=g\\*' --db others\\.db\$"
run_ok diff --by tag --db one.db
expect_err '^  for side in b a a b .*; do$'
expect_err '^    haul run gpu\.toml --db one\.db --processes 1 --tag \$side$'
run_ok diff run:1 run:3 --db others.db # of which one measured a part: both sides measure the same
expect_err "^    haul run gpu\\.toml .*--only 'up\\*' "
reject_err '# '
for part in up down; do
  on_first gpu.toml -q --db parts.db --only "$part*"
  on_second gpu.toml -q --db parts.db --only "$part*"
done
run_ok diff run:1,run:3 run:2,run:4 --db parts.db
expect_err "^    haul run .*--only '(up|down)\\*'.*; haul run .*--only '(up|down)\\*' .*--tag [$]side$"
cp one.db blank.db
run_ok tag run:1 "a b's" --db blank.db
run_ok diff "tag:a b's" tag:b --db blank.db
expect_err "^  for side in b 'a b'\\\\''s' 'a b'\\\\''s' b "
expect_err '^    haul run gpu\.toml .*--tag "[$]side"$'
run check tag:a tag:b --db one.db --strict
expect_code 4
# Pasted as they are, with drivers installed, the commands do decide.
cp "$faults/noise.toml" a.toml
cp slow.toml b.toml
{
  printf 'haul() { "%s" "$@" >/dev/null 2>&1; }\n' "$haul"
  sed -n 's/^  //p' advice | sed 's/# install driver .*/export HAUL_FAKE_FAULTS=$PWD\/$side.toml/'
} >pasted.sh
bash pasted.sh
run_says 1 '^2 regressed, 16 same: ' check tag:a tag:b --db one.db --strict
on_first gpu.toml -q --db one.db --processes 5 --tag a2
on_second gpu.toml -q --db one.db --processes 5 --tag b2

begin 'a large change that cannot be judged is said, and which runs the sides are'
printf '[[fake.link]]\nfrom = 0\nto = "host"\nfactor = 0.5\n' | cat - "$faults/noise.toml" >half.toml
on_first gpu.toml -q --db half.db
HAUL_FAKE_FAULTS=$scratch/half.toml run run gpu.toml -q --db half.db
run_fails 3 'nothing can be decided: one run of one process on each side\. Measure each side several times' \
  check previous latest --db half.db
expect_out '^[0-9]+ undecided \([0-9]+ look slower, .*\): .* \(.*gpu0.*, -(49|50)\.[0-9] %\)$'
expect_out '; run 1 of 20[0-9-]+ [0-9:]+ UTC$'
run_ok diff previous latest --db half.db --json
expect_out '"which": "2 of 20'

begin 'a run that is not complete is said of its side'
cp half.db cut.db
sqlite3 cut.db "update run set status = 'interrupted' where id = 2"
run diff run:1 run:2 --db cut.db
expect_out '^B: run 2 was interrupted: 18 of 18 results$'
run diff run:1 run:2 --db cut.db --json
expect_out '"what": "incomplete"'
sqlite3 cut.db "update run set status = 'running' where id = 1"
run diff run:1 run:2 --db cut.db
expect_out '^A: run 1 has not ended, or was killed: 18 of 18 results$'
run run gpu.toml -q --db cut.db --set 'checks.huge_pages={want="always",on_fail="skip"}'
run diff run:1,run:3 run:2 --db cut.db
expect_out '^A: run 3 failed: all of its 18 cases were skipped$'

begin 'other GPUs in the same places are not compared, and it is said why'
cp r.db swap.db
sqlite3 swap.db "update device set uuid = 'GPU-new' where place = 'gpu' and number = 0
  and environment = (select environment from run where tag = 'after' limit 1)"
run_ok diff tag:before tag:after --db swap.db
expect_out '^[0-9]+ cases are not compared: B has other GPUs in these places; --any-hardware compares them'
run_ok check tag:before tag:after --db swap.db
expect_err '[0-9]+ of 18 cases were not compared: B has other GPUs .*--fail-on incomparable fails on that'
run check tag:before tag:after --fail-on provisional --db swap.db --any-hardware
expect_code 1
sqlite3 swap.db "update device set uuid = 'GPU-new' || number where place = 'gpu'
  and environment = (select environment from run where tag = 'after' limit 1)"
run_fails 3 'nothing was compared: B has other GPUs in these places; --any-hardware' check tag:before tag:after --db swap.db

begin 'several runs of a side are judged by run, and more runs are asked for'
run_ok diff tag:a,tag:a2 tag:b2 --db one.db --json
expect_out '"judged_by": "run"'
expect_out '"judged": "Each run counts once. B has one run, so its uncertainty is estimated from the [0-9]+ runs of A'
on_first gpu.toml -q --db runs.db --processes 2 --tag a
on_first gpu.toml -q --db runs.db --processes 2 --tag a
on_second gpu.toml -q --db runs.db --processes 2 --tag b
on_second gpu.toml -q --db runs.db --processes 2 --tag b
run_ok diff tag:a tag:b --db runs.db -v
expect_out '^Each run counts once, as the mean of its processes$'
expect_out '^change: B relative to A, with CI of at least 95 % if noise is normal; '
reject_out 'One run each'
expect_out '^One recorded fact differs: driver_version, ' # also with -v
expect_err '^haul: The 2 provisional changes need 2 more runs of each side \(now A 2, B 2\)\. Measure in turn, '
expect_err '^  for side in b a a b; do$'
run_ok explain tag:b --db runs.db # of which both runs are slow
expect_err '^haul: explaining run 4, the latest of the 2 runs of tag:b$'
expect_out '^Next, to see what changed: haul diff tag:a tag:b --db runs\.db$'
on_second gpu.toml -q --db runs.db --processes 1 --tag c # fewer processes: still in turn, as many on both sides
run_ok diff tag:a tag:c --db runs.db
expect_err '^    haul run gpu\.toml --db runs\.db --processes 1 --tag \$side$'
run_error 2 'one run is wanted here, and "tag:a,tag:b" is a list' explain tag:a,tag:b --db runs.db
run_error 2 'a tag cannot be empty or contain a comma' run gpu.toml --tag p,q --db runs.db

begin 'advice measures in turn on one host, and says that databases of two hosts are merged'
on_first gpu.toml -q --db base.db --tag a
on_second gpu.toml -q --db node7.db --tag b
run_ok merge joint.db base.db node7.db
run_ok diff tag:a tag:b --db joint.db
expect_err '^  for side in b a a b b a a b; do$'
expect_err '^    haul run gpu\.toml --db joint\.db --processes 1 --tag \$side$'
expect_err '^  haul diff tag:a tag:b --db joint\.db$'
reject_err 'haul merge'
run diff previous latest --db joint.db
expect_err '^  haul diff run:[0-9]+,tag:a2 run:[0-9]+,tag:b2 --db joint\.db$'
# What is said does decide.
on_first gpu.toml -q --db base.db --processes 5 --tag a2
on_second gpu.toml -q --db node7.db --processes 5 --tag b2
run merge joint.db base.db node7.db
run diff tag:a2 tag:b2 --db joint.db
expect_out '^2 regressed, 16 same \(all provisional\): '
sqlite3 joint.db "update environment set host_name = iif(driver_version like '580%', 'node6', 'node7')"
run diff tag:a tag:b --db joint.db --any-hardware
expect_err '\. Measure the sides in turn \(--tag b, a, a, b …\), so that drift is not taken for a change:$'
expect_err '^  # A on node6, driver 580\.95\.05$'
expect_err '^  haul run gpu\.toml --db base\.db --processes 1 --tag a$'
expect_err '^  # B on node7$'
expect_err '^  haul run gpu\.toml --db node7\.db --processes 1 --tag b$'
expect_err '^  # merge the new results into joint\.db \(haul merge\)$'

begin 'runs without a case in common'
on_first gpu.toml -q --db apart.db --only 'up*'
on_first gpu.toml -q --db apart.db --only 'down*'
run_says 3 '^nothing to compare: no case was measured on both sides: ' diff previous latest --db apart.db
expect_out '^8 cases were not measured in A \(--only up\*\)$'
expect_out '^4 cases were not measured in B \(--only down\*\)$'
run_fails 3 'nothing was compared' check previous latest --db apart.db --fail-on regressed
run_fails 3 'nothing was compared' check previous latest --db apart.db

begin 'an A/A test of too few processes compares nothing'
run_says 3 '^A/A test not made: A has fewer than four processes$' diff run:1 --a-a --db one.db

begin 'an A/A test: five splits of ten processes report no false positives'
on_first gpu.toml -q --db same.db --processes 10
for option in --a-a=5 --null=5; do
  run_ok diff latest "$option" --db same.db
  expect_out '^A/A test: A split at random 5 times: 0 splits report false positives; 0 of 90 cases'
  expect_out '^A has one run, so processes were split: the test does not show how runs differ$'
done
for ((i = 0; i < 4; i++)); do
  on_first gpu.toml -q --db same.db --processes 2 --tag four --only 'up*'
done
run_ok diff tag:four --a-a=5 --db same.db
expect_out '^A/A test: runs of A split at random 5 times: 0 splits report'
reject_out 'One run|Fewer than four runs'
for i in 1 2; do
  on_first gpu.toml -q --db same.db --processes 2 --tag more --only 'up*' --only 'down/gpu0-numa0:pinned/2MiB'
done
run_ok diff tag:four tag:more --db same.db
expect_out '^1 case was not measured in A \(--only up\*\)$'

begin 'failed case is broken, with counts and its reason'
printf '%s\n' '[[fake.fault]]' 'kind = "out_of_memory"' 'call = "cuMemAlloc*"' 'nth = 1' 'count = 0' \
  'gpu = 3' >fault.toml
HAUL_FAKE_FAULTS=$scratch/fault.toml run run gpu.toml -q --db r.db --processes 5 --tag broken
expect_code 3
run diff tag:before tag:broken --db r.db
expect_out '^BROKEN +up/numa0:pinned-gpu3/4MiB \(B: 5 of 5 processes failed\) '
expect_out '^[0-9]+ broken, .* -> [^ ]+ \(gpu3[^)]*\)$'
expect_out '^up/numa0:pinned-gpu3/4MiB: failed: [^:]*: CUDA_ERROR_OUT_OF_MEMORY'
run diff tag:before tag:broken --db r.db --format md
expect_out 'up/numa0:pinned-gpu3/4MiB: failed: [^:]*: CUDA.*OUT.*MEMORY'
expect_out '^SIMULATED: a fake driver answered on both sides$'
expect_out '^change: B relative to A'
expect_out '^B +tag:broken: driver '
run check tag:before tag:broken --db r.db
expect_code 1
run_ok check tag:before tag:broken --db r.db --fail-on regressed

begin 'case that is corrupt in some processes of B is broken'
on_first gpu.toml -q --db r.db --processes 2 --tag corrupt
cat -- "$faults/noise.toml" "$faults/flipped-byte.toml" >flipped.toml
HAUL_FAKE_FAULTS=$scratch/flipped.toml run run gpu.toml -q --db r.db --processes 3 --tag corrupt
expect_code 3
run diff tag:before tag:corrupt --db r.db
expect_out '^BROKEN +up/numa0:pinned-gpu0/4MiB \(B: 3 of 5 processes corrupt\) .* 5/2$'
expect_out '^up/numa0:pinned-gpu0/4MiB: corrupt: '
run_says 1 '<failure message="broken: .*B: 3 of 5 processes corrupt: corrupt: ' \
  check tag:before tag:corrupt --db r.db --format junit
run diff tag:before tag:corrupt --db r.db --json
expect_out '"verdict": "broken"'
expect_out '"corrupt": 3'
run_ok report corrupt.html tag:before tag:corrupt --db r.db
equal 1 "$(grep -c '>BROKEN<.*B: 3 of 5 processes corrupt' corrupt.html)" 'rows of the page'

begin 'the line of several broken cases says what went wrong'
printf '%s\n' '[[fake.fault]]' 'kind = "out_of_memory"' 'call = "cuMemAlloc*"' 'nth = 1' 'count = 0' >fault.toml
HAUL_FAKE_FAULTS=$scratch/fault.toml run run gpu.toml -q --db r.db --processes 2 --tag none
run diff tag:before tag:none --db r.db
expect_out '^BROKEN +down: 8 cases \(in B 16 results failed\), first '

begin 'runs that cannot be compared'
run_error 2 'on both sides' diff latest latest --db r.db
run_error 2 'side A: no run has the tag "nobody"; there are: ' diff tag:nobody latest --db r.db
run diff latest --db r.db
expect_code 2
run_error 2 'every run has the host_name .*: there is nothing to compare it with' diff --by host_name --db r.db
run_error 2 'did you mean "driver_version"' diff --by drivr_version --db r.db
run_error 2 'no run has the driver_version "1"; there are: ' diff --by driver_version --from 1 --to 2 --db r.db
run_error 2 'no run matches --where' diff previous latest --db r.db --where tag=nobody
run_error 2 'named like "nothing"' diff previous latest --db r.db --only nothing
run_error 2 'no-such\.db' diff previous latest --db no-such.db
run query "select 1" --db r.db
cp "$source_folder/tests/cli/small.toml" small.toml
env -u LD_LIBRARY_PATH "$haul" run small.toml -q --db r.db >/dev/null 2>&1
run_error 2 'simulated and real results are never compared' diff tag:before latest --db r.db

for format in json jsonl csv md; do
  begin "the format $format"
  run_ok diff tag:before tag:after --db r.db --format "$format"
  expect_out 'down/gpu0-numa0:pinned/4MiB'
done
begin 'no name stands twice in a row'
run_ok diff tag:before tag:after --db r.db --format csv
equal '' "$(head -n 1 out | tr -d '\r' | tr , '\n' | sort | uniq -d)" 'columns of csv'
run_ok diff tag:before tag:after --db r.db --format jsonl
equal '' "$(head -n 1 out | grep -o '"[a-z_]*":' | sort | uniq -d)" 'keys of jsonl'
run_ok diff tag:before tag:after --db r.db --json
equal "$(grep -c '"case_key": ' out)" "$(grep -c '^ *"unit": ' out)" 'units of json'

finish
