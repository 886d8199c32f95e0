#!/usr/bin/env bash
# A fleet made of one run on the fake driver (tests/benchmarks/make_fleet.c): what is slow in which node.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
fake_driver h200x4 || exit 77
make_fleet() { built tests/benchmarks/make_fleet "$@"; }

scenario fleet 'trials = { min = 3, max = 3 }; min_trial = "50us"; telemetry = "off"' \
  'host_to_device | { numa = "local", memory = ["pinned", "pageable"] } | { gpu = "*" } | "4MiB"' \
  'device_to_host | { gpu = "*" } | { numa = "local", memory = "pinned" } | "4MiB"' \
  'device_to_device | { gpu = "*" } | { gpu = "*" } | "4MiB"' \
  'device_local_copy | { gpu = "*" } | { gpu = "*" } | "4MiB" | pairs = "same"'
run_ok run fleet.toml --db template.db

fleet() { # NAME NODES OPTION...
  local name=$1
  make_fleet template.db "$@" || bad "make_fleet $*"
  run_ok merge "$name.db" "$name"
}

# Brackets around a change are explained if there are some.
brackets_explained() { # PAGE
  equal "$(grep -qE '<td class="n [^>]*>\([-+]' "$1"; echo $?)" "$(grep -q 'In brackets' "$1"; echo $?)" "brackets in $1"
}

begin 'one GPU 3 % slow, a link of half the width in another node: both are named, and nothing else'
for seed in 1 2 3; do
  fleet "fleet$seed" 24 "seed=$seed" slow_gpu=7:2:3 half_link=13:1
  run_ok outliers --all --db "fleet$seed.db"
  expect_out "^gpu2 of n0007 is .* % slower than its peers"
  expect_out "^gpu1's host link of n0013 is [45].* % slower than its peers"
  equal 'n0007 n0013' "$(grep -o 'n00[0-9]*' out | sort -u | xargs)" 'nodes that are named'
done

begin 'a fleet without a fault'
fleet well 24
run_ok outliers --all --db well.db
expect_out '^No GPU, link or host is slow;'

begin 'fewer nodes than a fleet has: the page says what outliers says'
readonly all_clear='No GPU, link or node is slower'
for nodes in 3 5 7; do
  fleet "few$nodes" $nodes slow_node=2:20
  run_ok outliers --all --db "few$nodes.db"
  expect_out '^n0002 is ([12][09]\.. to )?[12][09]\.. % slower than its peers: 28 of 28'
  run_ok report --fleet few.html --db "few$nodes.db"
  cp few.html out
  expect_out "$nodes of $nodes nodes answered in full; 1 part to look at; "
  expect_out '<tr><th scope="row">n0002</th><td class="name">n0002</td><td class="name">[12][09]\..*28 of 28'
  reject_out "$all_clear"
done
fleet few_gpu 5 slow_gpu=2:1:5
run_ok report --fleet few.html --db few_gpu.db
cp few.html out
expect_out '<tr><th scope="row">n0002</th><td class="name">gpu1</td>'
fleet two 2 slow_node=2:20
run_ok outliers --all --db two.db
expect_out '^gpu0 of n0001,.* and gpu0 of n0002,.* differ by 20.* which is slow cannot be told'
run_ok report --fleet few.html --db two.db
cp few.html out
expect_out '0 parts to look at; 4 undecided; '
expect_out '<li class="warn">gpu0 of n0001,.* and gpu0 of n0002,.*: which is slow cannot be told'
reject_out "$all_clear"
fleet few 5
run_ok report --fleet few.html --db few.db
brackets_explained few.html
cp few.html out
expect_out "<li class=\"good\">$all_clear"

begin 'who is missing and who is partial'
fleet holes 12 missing=5 partial=9
expect_value missing holes.db "select state from v_node where node = 'n0005'"
expect_value partial holes.db "select state from v_node where node = 'n0009'"
expect_value 10 holes.db "select count(*) from v_node where state = 'ok'"

begin 'a fleet that is not well fails, with one line per node and reason'
make_fleet template.db gate 12 missing=5 partial=9 slow_gpu=7:2:5 processes=2 || bad 'make_fleet'
run_says 1 '^n0005 +missing +no shard' merge gate.db gate --fail-on missing,partial,failed,different,slow
expect_out '^n0009 +partial '
expect_out '^n0007 +slow +gpu2 .*% slower than its peers, GPU-'
equal 3 "$(grep -c '^n00' out)" 'lines of nodes'
run check --fleet --fail-on missing,different --db gate.db --csv
expect_code 1
equal 'n0005' "$(sed 1d out | cut -d , -f 1)" 'the node that is missing'
run_ok check --fleet --fail-on failed,different --db gate.db
expect_err '^haul: no node is failed or different; found, but left out by --fail-on: 1 missing, 1 partial, 1 slow$'
run check --fleet --fail-on missing --db gate.db
expect_err '^haul: found, but left out by --fail-on: 1 partial, 1 slow$'
run_fails 2 'there is no fleet' check --fleet --db template.db
run_fails 2 'unknown reason "slwo" .did you mean "slow"' merge gate.db gate --fail-on slwo

begin 'the latest run is one of a fleet: its peers are the other nodes'
run_ok outliers --db fleet1.db
expect_out '^gpu2 of n0007 is '
expect_out '^2 slow; [0-9]+ results compared with their peers on 24 nodes'

begin 'several nodes that became slower are named, certain, and their cases are not the same'
make_fleet template.db third 12 occasion=1 name=third slow_node=2:10 slow_node=6:10 slow_node=11:10
fleet sound 12
run_ok merge sound.db third
run_says 1 '; 3 parts of 3 nodes slower, unlike the other nodes: ' check tag:fleet0 tag:third --db sound.db
equal 0 "$(head -n 1 out | grep -c ' same')" 'cases that are the same'
for node in 2 6 11; do expect_out "^n$(printf %04d $node) became [^:]* slower, unlike most nodes: 28 of 28 cases"; done

begin 'most of a fleet became slower: its peers do not tell, its last time does'
make_fleet template.db most 10 occasion=1 name=most slow_node={1,2,3,4,5,6}:5 || bad 'make_fleet'
fleet ten 10
run_ok merge ten.db most
run check --fleet --db ten.db
expect_code 1
equal 6 "$(grep -c '^n00.* slow .* slower than in fleet fleet0$' out)" 'nodes that became slower'
run_says 1 '; 6 parts of 6 nodes slower, unlike the other nodes: ' check tag:fleet0 tag:most --db ten.db

make_fleet template.db each 12 occasion=1 name=each shift=device_to_host:4 || bad 'make_fleet'
fleet twelve 12
run_ok merge twelve.db each
run check --fleet --db twelve.db
expect_code 1
equal 1 "$(grep -cE '^all +slow +device_to_host [34]\.[0-9] % slower than in fleet fleet0$' out)" 'lines of the block'
equal 0 "$(grep -c '^n00' out)" 'nodes that are named'

begin 'the page: parts to swap, who is missing, nodes by blocks, what changed since the fleet before'
make_fleet template.db later 12 missing=5 occasion=1 name=later slow_gpu=3:1:5 shift=device_to_host:4 half_pair=8:0:3
run_ok merge holes.db later
python3 -c 'import sqlite3
with sqlite3.connect("holes.db") as db:
    db.execute("UPDATE environment SET driver_version = ? WHERE coalesce(node, host_name) = ?", ("590.1", "n0002"))'
run_ok report --fleet page.html --db holes.db
brackets_explained page.html
cp page.html out
expect_out '<th scope="row">n0002</th><td class="name warn">different</td><td [^>]*>driver 590.1, where 1[01] of 1[12] nodes have '
equal '</html>' "$(tail -n 1 out)" 'the end of the page'
expect_out '<h1>fleet on 11 nodes, fleet later</h1>'
expect_out '10 of 12 nodes answered in full|11 of 12 nodes answered in full'
expect_out '<tr><th scope="row">n0005</th><td class="name bad">missing</td>'
expect_out 'GPU-[0-9a-f]*-0000-4000-8000-000000000000.*0000:07:00.0'
expect_out 'download="haul-fleet-parts.csv"'
expect_out 'gpu1 of n0003 became [45].* % slower'
expect_out 'gpu0--gpu3 of n0008 became [45].* % slower'
equal 2 "$(grep -c 'became' out)" 'parts that changed alone'
expect_out '<th scope="row">device_to_host</th><td class="[a-z]*">-[34]\.[0-9]*</td>'
equal 11 "$(grep -c '^<tr><th scope="row">n00[0-9]*\( (partial)\)*</th><td class="n[ "]' out)" 'nodes with a row'
run_ok report --fleet chosen.html tag:later --against tag:fleet0 --db holes.db
run_fails 2 'name the runs of the fleet' report --fleet page.html --against tag:fleet0 --db holes.db

begin 'a site: all of the database at a glance, and later only what is new'
run_ok report --site site --db holes.db
expect_err 'wrote site/index.html .[0-9]+ pages of [0-9]+.'
cp site/index.html out
equal '</html>' "$(tail -n 1 out)" 'the end of the index'
expect_out '<h1>11 machines over time</h1>'
equal 11 "$(grep -c '^<div class="heat"><b>n00' out)" 'machines that ran'
equal 4 "$(grep -c '<figcaption>' out)" 'charts'
grep -o 'href="[a-z][^"]*"' out | cut -d '"' -f 2 | sort -u >links
[ "$(wc -l <links)" -ge 20 ] || bad 'few links'
while read -r link; do [ -s "site/$link" ] || bad "there is no site/$link"; done <links
equal '' "$(find site -size +1000k)" 'pages of more than 1 MB'
run_ok report --site site --db holes.db
expect_err 'wrote site/index.html .1 page of [0-9]+.'
run_fails 2 'takes a folder and nothing else' report --site site latest --db holes.db
run_fails 2 'page.html is a file; --site takes a folder' report --site page.html --db holes.db
mkdir mine && echo '<html></html>' >mine/index.html
run_fails 2 'mine/index.html exists and is not a report' report --site mine --db holes.db
equal mine/index.html "$(find mine -type f)" 'files beside the index of another'

begin 'a site: a page is written again when its runs have new results, and only then'
alter() { # FROM TO SQL...: a changed copy of a database
  python3 - "$@" <<'END'
import shutil, sqlite3, sys
shutil.copy(sys.argv[1], sys.argv[2])
with sqlite3.connect(sys.argv[2]) as db:
    for sql in sys.argv[3:]:
        db.execute(sql)
END
}
for day in 0 1 2 3 4 5 6 7 8 9; do
  slow=()
  [ "$day" -lt 5 ] || slow=(slow_gpu=2:1:8)
  make_fleet template.db "day$day" 3 "occasion=$day" "name=day$day" "${slow[@]}" || bad 'make_fleet'
  run_ok merge days.db "day$day"
  [ "$day" -gt 1 ] || run_ok merge twice.db "day$day"
done
latest="run = (SELECT max(id) FROM run)"
alter twice.db running.db "UPDATE run SET status = 'running' WHERE id = (SELECT max(id) FROM run)" \
  "DELETE FROM case_run WHERE id IN (SELECT c.id FROM case_run c JOIN process p ON p.id = c.process WHERE p.$latest LIMIT 2)"
run_ok report --site grown --db running.db
equal 1 "$(tail -q -n 1 grown/run-*.html | grep -c '^<!-- 1 run, [0-9]* results so far -->$')" 'pages of runs that have not ended'
run_ok report --site grown --db running.db
expect_err 'wrote grown/index.html .1 page of '
run_ok report --site grown --db twice.db
expect_err 'wrote grown/index.html .2 pages of '
equal 6 "$(tail -q -n 1 grown/run-*.html | grep -c '^<!-- 1 run, [0-9]* results -->$')" 'pages of runs that have ended'

begin 'a site: names of pages have nothing that leaves the folder or ends a link'
after="id IN (SELECT environment FROM run WHERE tag = 'day1')"
alter twice.db names.db "UPDATE environment SET driver_version = '../../x#?%' WHERE $after" \
  "UPDATE run SET uuid = '../../../../../../../../../../pp' WHERE id = 1"
mkdir -p names/of
run_ok report --site names/of/pages --db names.db
exists names/of/pages/driver-580.159.04-_._.._x___.html
equal '' "$(find names -type f ! -path 'names/of/pages/*')" 'pages elsewhere'
equal '' "$(find names -type f -name '*[^A-Za-z0-9._-]*')" 'names of another kind'
expect_value 6 names.db 'SELECT count(*) FROM run'
equal 5 "$(find names -name 'run-*' | wc -l | tr -d ' ')" 'pages of runs'

begin 'a site: drivers are compared by the runs that it keeps; those that cannot be compared have no link'
alter twice.db mixed.db "UPDATE environment SET driver_version = '590.1' WHERE $after" \
  "UPDATE environment SET simulated = 0 WHERE id = (SELECT environment FROM run WHERE id = 1)"
run_ok report --site mixed --db mixed.db
equal "haul: wrote mixed/index.html (7 pages of 7)" "$(cat err)" 'what is said'
grep -q 'in up to eight days before' mixed/index.html || bad 'no days'
cp mixed/driver-580.159.04-590.1.html out
expect_out '<title>driver 590.1 \(3 runs\) compared with 580.159.04 \(2 runs\)</title>'
alter twice.db comma.db "UPDATE environment SET driver_version = '590,1' WHERE $after"
run_ok report --site comma --db comma.db
expect_err 'warning: comma/driver-580.159.04-590_1.html was not written: side B: '
expect_err 'wrote comma/index.html .7 pages of 8.'
missing comma/driver-580.159.04-590_1.html
cp comma/index.html out
expect_out '<th scope="row">580.159.04 to 590,1</th>'

begin 'a site: what single cases lost under a driver is said beside the means of blocks'
alter days.db driver.db "UPDATE environment SET driver_version = '590.1' WHERE id IN (SELECT environment FROM run WHERE tag > 'day4')"
run_ok report --site driver --db driver.db
cp driver/index.html out
cp out first.html
expect_out 'cases: <b class="bad">[0-9]+ regressed'
run_ok report --site driver --db driver.db
cmp driver/index.html first.html || bad 'another index where no page is new'

begin 'a site: words that fit one machine, one run, and days'
run_ok report --site one --db template.db
cp one/index.html out
expect_out '<h1>1 machine over time</h1>'
expect_out 'No machine became slower than usual. 1 run on 20[0-9]*-[0-9]*-[0-9]*\.<'
equal 0 "$(grep -c 'the others' out)" 'others'
alter days.db weeks.db \
  'UPDATE run SET started_at_ns = started_at_ns + 7 * (started_at_ns - (SELECT min(started_at_ns) FROM run))'
run_ok report --site days --db days.db
cp days/index.html out
expect_out 'on the same day, so that'
expect_out '<b>gpu1 of n0002 became [78][0-9.]* % slower</b> in [0-9]* cases \([^)]*\), on 20'
equal 0 "$(grep -ci 'week' out)" 'weeks'
run_ok report --site days --db weeks.db
cp days/index.html out
expect_out 'in the same week, so that'
expect_out '<b>gpu1 of n0002 became [78][0-9.]* % slower</b> in [0-9]* cases \([^)]*\), in the week of 20'

begin 'history of a fleet is a band, and the machines that are unlike the others'
run_ok history 'device_*' --db fleet1.db
expect_out '^device_to_device .24 machines, '
expect_out 'lowest tenth -'
expect_out '! +n0007 is [0-9.]+ % slower than the others at last: device_'
equal 'n0007 n0013' "$(grep -o 'n00[0-9]* is' out | cut -d ' ' -f 1 | sort -u | xargs)" 'nodes that are named'
[ "$(wc -l <out)" -lt 20 ] || bad "$(wc -l <out) lines"
run_ok history 'device_*' --db fleet1.db -v
[ "$(wc -l <out)" -gt 300 ] || bad "only $(wc -l <out) lines"

begin 'the fleet that was measured last, whatever ran alone after it'
expect_value 'later 1 fleet0 2' holes.db "select group_concat(fleet || ' ' || age, ' ') from (select * from v_fleet order by age)"
expect_value fleet0 holes.db "select before from v_fleet where age = 1"
run_ok run fleet.toml --db holes.db --node-name n0001 -q
run_ok report --fleet alone.html --db holes.db
if cmp -s page.html alone.html; then good; else bad 'a run of no fleet changes the page of the last fleet'; fi
run_ok query --saved nodes --db holes.db --format csv
equal 12 "$(grep -c '^n00' out)" 'nodes of the last fleet'

begin 'two fleets compared: the node is the unit, and one that changed alone is named'
run_ok diff tag:fleet0 tag:later --db holes.db
expect_out '^Each node counts once: '
expect_out '^.*: 4\.[0-9]+ % slower \(4 of 4 cases\)'
expect_out '^gpu1 of n0003 became [45].* % slower, unlike most nodes: 10 of 10 cases'
expect_out '^gpu0--gpu3 of n0008 became [45].* % slower'
expect_out '^4 regressed, 24 same; 2 parts of 2 nodes slower, unlike the other nodes: '
expect_out '^REGRESSED +gpu1 of n0003: 10 of 10 cases +-[45]'
run_ok diff tag:fleet0 tag:later --db holes.db --format csv
equal 28 "$(grep -c '^[^,]*,[^,]*,[0-9a-f]\{32\},.*,node,' out)" 'cases judged by node'
equal 2 "$(grep -c '^regressed,gpu[^,]*,,.*,0,node,' out)" 'rows of parts'

begin 'check fails on a part of one node that became slower, in every format'
for nodes in 5 8; do
  make_fleet template.db "before$nodes" $nodes processes=1 name=before
  make_fleet template.db "after$nodes" $nodes processes=1 name=after occasion=1 half_link=3:2
  run_ok merge "small$nodes.db" "before$nodes" "after$nodes"
  run_says 1 "^gpu2's host link of n0003 became .* % slower" check tag:before tag:after --db "small$nodes.db"
  reject_out 'not certain'
  run_ok diff tag:before tag:after --db "small$nodes.db" -v --only '*gpu2*'
  equal $((nodes == 5)) "$(grep -q '^[A-Z?]* *device_to_host/gpu2-numa0:pinned/4MiB \[n0003\] ' out; echo $((1 - $?)))" 'rows of nodes'
  reject_out 'GPU-[0-9a-f]{8}-' # a row names the node, not its GPUs
  run_ok diff tag:before tag:after --db "small$nodes.db" --format csv # and here both
  equal $((nodes == 5)) "$(grep -c '^[a-z]*,device_to_host/gpu2-numa0:pinned/4MiB,.*,GPU-[0-9a-f-]*,n0003,' out)" 'rows of n0003'
  run_says 1 '<testsuite name="haul check" .* failures="1" ' \
    check tag:before tag:after --db "small$nodes.db" --format junit
  expect_out 'classname="n0003" name="gpu2.*s host link of n0003"'
  run check tag:before tag:after --db "small$nodes.db" --format ctrf
  expect_code 1
  run_ok diff tag:before tag:after --db "small$nodes.db" --json
  expect_out '"what": "gpu2.s host link of n0003"'
  expect_out '"node": "n0003"'
  run_ok diff tag:before tag:after --db "small$nodes.db" --format md
  expect_out "REGRESSED \\| gpu2's host link of n0003"
done
run_ok report alone.html tag:after --against tag:before --db small8.db
equal 1 "$(grep -c 'gpu2.s host link of n0003 became' alone.html)" 'answers of the page'
equal 1 "$(grep -A 1 '^<h2>What changed</h2>$' alone.html | grep -c '<span class="badge warn">simulated<')" 'badge of the comparison'
equal 0 "$(grep -c '<li class="good">No case changed' alone.html)" 'all clear of the page'
run_ok check tag:before tag:after --db small8.db --fail-on broken
run_ok check tag:before tag:after --db small8.db --only 'device_local_copy/*'
reject_out alone
run_ok check tag:before tag:after --db small8.db --only 'host_to_device/*gpu1/*'
run check tag:before tag:after --db small8.db --only 'host_to_device/*gpu2/*'
expect_code 1

begin 'what noise names is not certain: check says so, and does not pass for it where no case is decided'
make_fleet template.db noisy0 8 seed=9 processes=1 name=before spread=10
make_fleet template.db noisy1 8 seed=9 processes=1 name=after occasion=1 spread=10
run_ok merge noisy.db noisy0 noisy1
run_fails 3 'nothing was decided: 28 undecided\. ' check tag:before tag:after --db noisy.db
expect_out 'became .* \(not certain: other nodes differ too, or are few\)'
expect_err 'not certain; --fail-on provisional fails on that'
run check tag:before tag:after --db noisy.db --fail-on regressed,provisional
expect_code 1

finish
