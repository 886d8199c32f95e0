#!/usr/bin/env bash
# Results as one page: every kind of result, comparisons, and what may not be written.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
fake_driver h200x4 || exit 77
machines=$source_folder/tests/machines
small=(--set measure.max_time=1ms --set measure.min_trial=10us --set measure.trials.min=2 --set measure.settle_time=off -q)

# By a real XML parser, where there is one.
if command -v xmllint >/dev/null; then
  well_formed() { xmllint --noout "$1" 2>"$scratch/parser"; }
elif command -v python3 >/dev/null; then
  well_formed() {
    python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$1" 2>"$scratch/parser"
  }
else
  echo 'neither xmllint nor python3: pages are not parsed'
  well_formed() { [ "$(tail -n 1 -- "$1")" = '</html>' ]; }
fi
expect_page() { # FILE: whole, and in need of nothing else
  expect_code 0
  exists "$1"
  if well_formed "$1"; then good; else bad "$1 is not well-formed: $(head -n 3 "$scratch/parser")"; fi
  # Its script is inside, and the only one.
  if grep -Eiq '<(script .|link|img|iframe|object)|@import|url\(|src=|fetch\(|XMLHttp' "$1"; then
    bad "$1 needs something else: $(grep -Eio '<(script .|link|img|iframe|object)|@import|url\(|src=' "$1" | head -n 1)"
  else
    good
  fi
}
page() { # FILE REGEX
  if grep -Eq -- "$2" "$1"; then good; else bad "no '$2' in $1"; fi
}
not_on_page() { # FILE REGEX
  if grep -Eq -- "$2" "$1"; then bad "'$2' in $1"; else good; fi
}

begin 'pairs are matrices'
run_ok run nvbandwidth "${small[@]}" --set transfer.size=64KiB --only '*_ce' --db r.db --tag '<first> & "only"'
run report nv.html --db r.db
expect_page nv.html
expect_err 'wrote nv\.html \(1 run\)'
equal '' "$(cat out)" 'standard output'
page nv.html '<title>nvbandwidth on [^<]+, 20'
page nv.html '<b>Simulated\.</b>'
page nv.html '<dt>Driver</dt><dd>580\.159\.04 \(CUDA 13\.0\)</dd>'
page nv.html '<dt>GPUs</dt><dd>4 × NVIDIA H200</dd>'
page nv.html '<dt>Tag</dt><dd>&lt;first&gt; &amp; &quot;only&quot;</dd>'
page nv.html '<li><b>Measured:</b> [0-9]+ of [0-9]+ cases on 4 × NVIDIA H200, driver 580\.159\.04, 20'
page nv.html '<b>No GPU, link or host is slower than the others</b> \([0-9]+ results compared\)'
page nv.html '<summary>The scenario</summary>'
page nv.html '^name = &quot;nvbandwidth&quot;$' # lines of the file are lines of the page
not_on_page nv.html 'u000a'
page nv.html '<svg .*class="machine" role="img".*aria-labelledby="machine-0-title"'
page nv.html '<title>host_to_device_memcpy_ce/numa0:pinned-gpu0[^<]*: [0-9.]+ GB/s, [0-9.]+ % of 63\.0</title>'
run_ok env --run 1 --db r.db --format svg
expect_out '^<svg xmlns="http://www.w3.org/2000/svg" class="machine"'
expect_out '>[a-z] host_to_device_memcpy_ce/numa\*:pinned-gpu\*'
if "$haul" env --run 1 --db r.db --format svg 2>err | true && [ ! -s err ]; then good; else bad 'a reader that went away'; fi
run_ok env --run 1 --db r.db --format csv
expect_out '^,driver_version,ok,580\.'
cp out recorded.csv
run_ok env --format csv
if cmp -s recorded.csv out; then good; else bad 'facts of a run: not those of its machine, or in another order'; fi
for machine in '' '--run 1 --db r.db'; do
  # shellcheck disable=SC2086
  run_ok env $machine
  sed '/^NUMA nodes/,/^$/d' out >"env${machine:+-run}.txt" # how much memory is free changes
done
if cmp -s env.txt env-run.txt; then good; else bad "$(diff env.txt env-run.txt)"; fi
run_fails 2 'give --run or --machine, not both' env --run 1 --machine "$machines/gh200.toml"
run_ok env --machine "$machines/gh200.toml" --format svg
expect_out '>C2C<'
page nv.html 'download="haul-run-1.csv" href="data:text/csv;base64,[A-Za-z0-9+/=]+">The results as CSV</a> <small>[0-9]+ rows, in this file'
"$haul" query --saved run-result --param run=1 --db r.db --format csv >expected.csv
grep -Eo 'text/csv;base64,[A-Za-z0-9+/=]+' nv.html | sed 's/.*,//' | base64 -d |
  sed 's/\(,[^,]*\)\{9\}\r$/\r/' >inside.csv # without what was expected
if cmp -s expected.csv inside.csv; then good; else bad 'the CSV inside is not that of run-result'; fi
page nv.html '<h4>device_to_device_memcpy_read_ce</h4>'
page nv.html '<th scope="row">gpu2</th><td class="n h[0-4]">[0-9.]+'
page nv.html '<p class="summary">min [0-9.]+, mean [0-9.]+, max [0-9.]+ GB/s; '

begin 'sweeps are charts'
run_ok run comm-scope/fig06 "${small[@]}" --set 'transfer.size=["1KiB","16KiB","256KiB","1MiB"]' --db r.db
run report fig06.html latest --db r.db
expect_page fig06.html
page fig06.html '<svg .*role="img".*aria-labelledby='
page fig06.html '<title id="run-2-chart1-title">pageable_to_gpu: GB/s over size</title>'
page fig06.html '<desc .*1 curve from 1KiB to 1MiB, values from .* GB/s; axes are logarithmic'
page fig06.html '<details><summary>4 rows of numbers</summary>'
page fig06.html '<th scope="col" class="n">± %</th>'
page fig06.html 'What has no number, and why'
page fig06.html '<td>skipped</td><td class="n">[0-9]+</td>.*no NUMA node is remote to GPU 0'
HAUL_FAKE_MACHINE=$machines/gh200.toml run_ok run memory-hierarchy "${small[@]}" --only hierarchy --set 'hierarchy.footprint=["4KiB", "64KiB", "1MiB"]' \
  --db h.db
run report hierarchy.html --db h.db
expect_page hierarchy.html
page hierarchy.html '<title id="run-1-chart1-title">hierarchy: ns over size</title>'

begin 'what any machine does'
HAUL_FAKE_MACHINE=$machines/gh200.toml run run quick "${small[@]}" --set transfer.size=1MiB --db q.db
run report quick.html --db q.db
expect_page quick.html
page quick.html 'Checks of the machine: [0-9]+ of [0-9]+ passed'
page quick.html '<td class="n share" style="--share:[0-9.]+%">'

begin 'the same database gives the same page'
run_ok report - --db r.db -q 1
cp out once.html
equal '' "$(cat err)" 'standard error'
run report - --db r.db -q 1
if cmp -s out once.html && cmp -s once.html nv.html; then good; else bad 'the page differs'; fi

begin 'a run without its trials says so, and is the same but for their distributions'
cp r.db pruned.db
python3 -c 'import sqlite3
with sqlite3.connect("pruned.db") as db: db.execute("UPDATE run SET started_at_ns = started_at_ns - 100 * 86400 * 1000000000")'
run report before.html 1 --db pruned.db
run_ok prune --trials --older-than 90d --db pruned.db
run report after.html 1 --db pruned.db
expect_page after.html
page after.html 'haul prune deleted its trials on 20[0-9TZ:-]*: their distributions are not shown'
not_on_page after.html 'class="spread"'
equal "$(grep -o '<td class="n[^/]*/td>' before.html | md5sum)" "$(grep -o '<td class="n[^/]*/td>' after.html | md5sum)" 'the numbers'

begin 'several runs: a table of contents and a section each'
run report all.html run:1 latest run:1 --db r.db
expect_page all.html
equal 2 "$(grep -cE '<section id="run-[0-9]+"' all.html)" 'sections'
page all.html '<li><a href="#run-2">run 2: comm-scope-fig06 on '
expect_err 'wrote all\.html \(2 runs\)'

begin 'two runs that have nothing in common are not compared'
run report two.html run:1 run:2 --db r.db
expect_page two.html
expect_err 'warning: run:1 and run:2 were not compared: no case was measured in both'
not_on_page two.html 'id="comparison"'

begin 'what failed is told with its reason'
cat >fails.toml <<'TOML'
schema_version = 1
name = "fails"
[[transfer]]
name = "up"
method = "ce"
from = { numa = "local", memory = "pinned" }
to = { gpu = [0, 1] }
size = "1MiB"
[checks]
driver = { want = ">=999", on_fail = "warn" }
TOML
HAUL_FAKE_FAULTS=$faults/flipped-byte.toml run run fails.toml "${small[@]}" --db f.db
expect_code 3
run report f.html --db f.db
expect_page f.html
page f.html '<span class="badge bad">[12] cases? went wrong</span>'
page f.html '<span class="badge plain">done</span>'
page f.html '<span class="badge warn">1 check failed</span>'
page f.html '>driver</th><td>machine</td><td><span class="badge warn">failed</span> </td><td>&gt;=999</td><td>580\.'
page f.html '<td>corrupt</td><td class="n">[12]</td><td>up</td>'

begin 'what cannot be told is no all-clear'
printf '[fake]\n[[fake.link]]\nfrom = "host"\nto = 1\nfactor = 0.5\n' >half.toml
printf '[[transfer]]\nname = "local"\nmethod = "ce"\nfrom = { gpu = "*" }\nto = { gpu = "*" }\npairs = "same"\nsize = "1MiB"\n' |
  cat fails.toml - >two.toml
for only in up '*'; do
  HAUL_FAKE_FAULTS=half.toml run_ok run two.toml "${small[@]}" --only "$only" --db two.db
  run_ok report two.html --db two.db
  page two.html '<li class="warn"><b>Undecided:</b> up/.*gpu1/1MiB is [0-9.]+ % slower than up/.*gpu0/1MiB, its only peer: which is slow cannot be told'
  not_on_page two.html 'no GPU, link or host is slower'
  [ "$only" = '*' ] || page two.html 'not known: no expectation fits these cases on this machine, and no result of this run has two peers'
done

begin 'comparison names a slow link'
two_drivers
on_first gpu.toml -q --only '[ud]*' --db c.db --processes 5 --tag before
expect_code 0
on_second gpu.toml -q --only '[ud]*' --db c.db --processes 5 --tag after
expect_code 0
run report c.html tag:before tag:after --db c.db
expect_page c.html
page c.html '<h1>2 regressed, 10 same \(all provisional\): gpu0-numa0:pinned, -[23]\.[0-9]+ %</h1>'
page c.html '<p class="lead">Driver 580[0-9.]+ -&gt; 590\.44\.01</p>'
equal 2 "$(grep -c '>REGRESSED?<' c.html)" 'cases that regressed'
page c.html '<tr id="case-0"><td><span class="badge bad">REGRESSED\?</span></td><th scope="row">(<a href="#cell-0">)?down/gpu0-numa0:pinned/'
page c.html '<li class="bad">2 regressed, 10 same \(all provisional\): 580[0-9.]+ -&gt; 590\.44\.01 \(gpu0-numa0:pinned, -'
page c.html '<a href="#run-1">A, run 1: [^<]*</a> <small>before</small>'
page c.html 'To see what changed: <code>haul diff tag:before tag:after --db c.db</code>'
page c.html '<td>power_limit</td>.*<td>[0-9]+ W</td>'
page c.html 'Median change over 12 cases:'
# What the columns mean, then the maps, then limits.
equal 'q: Where: Limits,' "$(grep -oE '>(q: expected|Where: before|Limits, differences)' c.html | grep -oE '(q:|Where:|Limits,)' | tr '\n' ' ' | sed 's/ $//')" 'order below the cases'
page c.html '>One recorded fact differs: driver_version, 580[0-9.]+ -&gt; 590\.44\.01<'
equal 2 "$(grep -cE '<section id="run-[0-9]+"' c.html)" 'sections of runs'
"$haul" diff tag:before tag:after --db c.db >diff.txt
change=$(grep -Eo 'down/gpu0-numa0:pinned/4MiB .*' diff.txt | grep -Eo -- '-[0-9.]+ ± [0-9.]+')
page c.html "<td class=\"n\">$change</td>"
"$haul" baseline set good tag:before --db c.db >/dev/null 2>&1
cp c.db alternate.db
# Another GPU in a host of that name is no earlier run of this one.
HAUL_FAKE_MACHINE=$machines/gb200x4.toml run_ok run gpu.toml -q --only '[ud]*' --db alternate.db
for _ in 1 2 3 4 5 6; do # drivers alternate
  on_first gpu.toml -q --only '[ud]*' --processes 1 --db alternate.db --tag x
  on_second gpu.toml -q --only '[ud]*' --processes 1 --db alternate.db --tag y
done
run_ok report alternate.html tag:x tag:y --db alternate.db
page alternate.html '</span>An arrow: the interval goes on beyond the axis. n: runs of A/B\.'
equal '13 1' "$(python3 -c 'import re
chart = re.findall(r"<figure[^>]*><svg[^>]*>\s*<title[^>]*>[^<]* over 14 runs.*?</figure>", open("alternate.html").read(), re.S)[0]
print(chart.count("<title>driver 5"), len(re.findall(r"<text [^>]*>[^<]*driver ", chart)))')" 'marks of the history: only behind the last is room for a name'
run_ok report one.html run:15 --db alternate.db
page one.html '>13 earlier runs: speed '
run report b.html --baseline good --db c.db
expect_page b.html
page b.html '<b>A  </b>baseline:good: driver 580[^<]*; runs? [0-9]+ of [0-9: -]+ UTC</p>'
equal 2 "$(grep -c '>REGRESSED?<' b.html)" 'cases that regressed since the baseline'
equal 2 "$(grep -cE '<section id="run-[0-9]+"' b.html)" 'sections of runs'
page b.html '<a href="#run-[0-9]+">A, run [0-9]+: [^<]*</a> <small>before</small>'
page b.html '<a href="#run-[0-9]+">B, run [0-9]+: '
run_error 2 'no baseline "god"' report b.html --baseline god --db c.db
run_error 2 'on both sides' report b.html latest --against latest --db c.db
page b.html 'baseline:good'

begin 'the maps show where it changed'
write_pairs '"1MiB"' '[0, 1]' '["1KiB", "64KiB", "1MiB"]'
printf '[[fake.link]]\nfrom = 2\nto = "*"\nfactor = 0.8\n' | cat - "$faults/noise.toml" >gpu2.toml
pairs() { HAUL_FAKE_MACHINE=$machines/h200x4.toml HAUL_FAKE_FAULTS=$1 run_ok run pairs.toml -q --processes 4 --db m.db --tag "$2"; }
pairs "$faults/noise.toml" a
pairs "$scratch/gpu2.toml" b
run report m.html tag:a tag:b --db m.db
expect_page m.html
page m.html '<li class="bad">gpu2 as source: '
equal 18 "$(grep -o 'id="cell-[0-9]*"' m.html | sort -u | wc -l | tr -d ' ')" 'cells, one per case'
equal 36 "$(grep -Eo 'href="#c(ell|ase)-[0-9]*"' m.html | sort -u | wc -l | tr -d ' ')" 'links from cases to cells and back'
for link in $(grep -Eo 'href="#[^"]*"' m.html | sed 's/href="#\(.*\)"/\1/' | sort -u); do
  if [ "$(grep -c "id=\"$link\"" m.html)" -eq 1 ]; then good; else bad "#$link leads nowhere or twice"; fi
done
page m.html '<h4>between <small>1MiB by ce, GB/s from row to column</small></h4>'
page m.html '<h4>sweep <small>[^<]*by ce, GB/s from numa0:pinned to each GPU</small></h4>'
page m.html '<th scope="row">64KiB</th>'
page m.html '<td id="cell-[0-9]+" class="n s[1-3]" title="regressed"><a href="#case-[0-9]+">-[0-9.]+</a></td>'

begin 'a file is replaced whole, or not at all, and only a report'
before=$(md5sum <c.html)
run_error 2 'no-such\.db' report c.html --db no-such.db
run_error 2 '99' report c.html run:99 --db c.db
equal "$before" "$(md5sum <c.html)" 'the page that was there'
equal c.html "$(echo c.html*)" 'files beside it'
run report c.html tag:after --db c.db
expect_page c.html
not_on_page c.html 'id="comparison"'
echo '<!DOCTYPE html><p>mine</p>' >mine.html
run_error 2 'mine\.html exists and is not a report of haul' report mine.html --db c.db
equal '<!DOCTYPE html><p>mine</p>' "$(cat mine.html)" 'what was there'
: >empty.html
run report empty.html --db c.db
expect_page empty.html
mkdir folder.html
run_error 2 'folder\.html is a directory: name a file in it, such as folder\.html/report\.html' report folder.html --db c.db
run_error 2 'cannot write no/such/folder\.html: its folder no/such/' report no/such/folder.html --db c.db
missing no
equal 644 "$(umask 022; "$haul" report mode.html --db c.db -q && stat -c %a mode.html)" 'its mode'
if [ -w /dev/full ]; then
  "$haul" report - --db c.db >/dev/full 2>"$scratch/err"
  equal 3 $? 'exit code with a full disk'
fi
"$haul" report - --db c.db 2>"$scratch/err" | head -c 100 >/dev/null
equal 0 "${PIPESTATUS[0]}" 'exit code where the reader went away'
equal '' "$(cat "$scratch/err")" 'what is said then'

begin 'a command line that is wrong'
run_fails 2 'missing argument: OUT\.html' report
run_fails 2 'ends in \.html.*not "latest"' report latest --db c.db
run_fails 2 'report has no option --format' report x.html --format csv --db c.db
run report x.html --against latest --baseline good --db c.db
expect_code 2
missing x.html
run report --help
expect_out 'replaces only an earlier report'

begin 'many cases: the page stays one that can be read'
scenario many 'max_time = "1us"; min_trial = "1us"; trials = { min = 1, max = 1 }; warmup = 0; telemetry = "off"' \
  'copies | { numa = 0 } | { numa = 0 } | { from = "64B", to = "70400B", step = "64B" } | method = "cpu"'
run run many.toml -q --db many.db
expect_value 1100 many.db 'select count(*) from v_run_case'
run report many.html --db many.db
expect_page many.html
page many.html '100 more cases are not shown: <code>haul query --saved run-result --param run=1 --format csv'
page many.html '<summary>1000 rows of numbers</summary>'
finish
