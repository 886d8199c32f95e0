#!/usr/bin/env bash
# Pages in a browser: nothing fails, nothing is wider than a phone, dark and printed pages are whole,
# tables sort and filter, and without its script a page says as much.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
for name in chromium chromium-browser google-chrome chrome; do
  browser=$(command -v "$name") && break
done
if [ -z "$browser" ]; then
  echo 'skipped: no chromium or chrome; ./bootstrap setup browser installs it'
  exit 77
fi
fake_driver h200x4 || exit 77
chrome() { # ARGUMENT...: what it prints is in $scratch/dom, its messages in $scratch/messages
  HOME=$scratch timeout 60 "$browser" --headless=new --no-sandbox --disable-gpu --hide-scrollbars \
    --no-first-run --user-data-dir="$scratch/profile" --enable-logging=stderr --v=0 \
    "$@" >"$scratch/dom" 2>"$scratch/messages"
}
chrome --dump-dom about:blank
if [ ! -s "$scratch/dom" ]; then
  echo "skipped: $browser does not run here"
  exit 77
fi
# PAGE JAVASCRIPT ARGUMENT...: the page with that behind it; its answer is an attribute of <html>.
ask() {
  local page=$1 question=$2
  shift 2
  {
    sed '/<\/body>/,$d' "$page"
    printf '<script>\n//<![CDATA[\ndocument.documentElement.setAttribute("data-answer", String(%s));\n//]]>\n</script>\n</body></html>\n' "$question"
  } >asked.html
  chrome --dump-dom "$@" "file://$scratch/asked.html"
  read_answer
}
read_answer() { answer=$(grep -Eo 'data-answer="[^"]*"' "$scratch/dom" | head -n 1 | sed 's/data-answer="\(.*\)"/\1/'); }
answer_is() { equal "$1" "$answer" "$2"; }

small=(--set measure.max_time=1ms --set measure.min_trial=10us --set measure.trials.min=2 --set measure.settle_time=off -q)
write_pairs '"1MiB"' '"*"' '{ from = "1KiB", to = "1MiB", factor = 4 }'
on_first pairs.toml -q --processes 1 --db b.db --tag earlier
on_first pairs.toml -q --processes 4 --db b.db --tag a
expect_code 0
cat "$faults/noise.toml" - >new-driver.toml <<'TOML'
[[fake.link]]
from = 2
to = "*"
factor = 0.8
[fake]
driver_version = "590.44.01"
TOML
HAUL_FAKE_FAULTS=$scratch/new-driver.toml run_ok run pairs.toml -q --processes 4 --db b.db --tag b
run_ok report diff.html tag:b --against tag:a --db b.db
run_ok run nvbandwidth "${small[@]}" --set transfer.size=64KiB --only '*_ce' --db b.db
run_ok report run.html latest --db b.db
scenario sweep '' 'to_gpu | { numa = 0, memory = "pinned" } | { gpu = 0 } | ["1MiB", "256B", "64KiB", "4KiB"]'
run_ok run sweep.toml "${small[@]}" --db b.db
run_ok report sweep.html latest --db b.db
run_ok report --site site --db b.db

for page in run diff site/index; do
  begin "$page: desktop and phone, light and dark"
  # A window is never as narrow as a phone: a frame is.
  cat >frame.html <<HTML
<!DOCTYPE html><html><body><iframe src="$page.html" style="width:1280px;height:900px"></iframe>
<iframe src="$page.html" style="width:390px;height:900px"></iframe>
<script>addEventListener('load', function () {
  document.documentElement.setAttribute('data-answer', Array.from(document.querySelectorAll('iframe')).map(function (frame) {
    return frame.contentDocument.documentElement.scrollWidth <= frame.clientWidth; }));
});</script></body></html>
HTML
  chrome --dump-dom --allow-file-access-from-files "file://$scratch/frame.html"
  read_answer
  answer_is true,true 'no wider than a desktop and a phone'
  ask "$page.html" 'getComputedStyle(document.body).backgroundColor' --blink-settings=preferredColorScheme=0
  answer_is 'rgb(21, 24, 28)' 'background, dark'
  # The answers are on the first screen, above the first result.
  ask "$page.html" '[getComputedStyle(document.body).backgroundColor,
    document.querySelector(".answers").getBoundingClientRect().bottom < 800,
    document.querySelectorAll("main tr").length].join("; ")' --blink-settings=preferredColorScheme=1 --window-size=1280,900
  rows=$(sed -n '/<main>/,/<\/main>/p' "$page.html" | grep -o '<tr[ >]' | wc -l | tr -d ' ')
  answer_is "rgb(255, 255, 255); true; $rows" 'background, light; answers on the first screen; rows with the script'
  if grep -Eq 'CONSOLE.*(Error|rror:)|Refused|ERR_' "$scratch/messages"; then
    bad "$(grep -E 'CONSOLE.*(Error|rror:)|Refused|ERR_' "$scratch/messages" | head -n 1)"
  else
    good
  fi

  begin "$page: printed"
  chrome --print-to-pdf="$scratch/$page.pdf" "file://$scratch/$page.html"
  equal '%PDF' "$(head -c 4 "$page.pdf")" 'what was printed'

  begin "$page: whole without its script"
  equal 0 "$(grep -c '<input' "$page.html")" 'fields that would do nothing'
done

begin 'tables sort by a click, numbers as numbers, and back'
sorted='(function () {
  var table = Array.from(document.querySelectorAll("main table")).find(function (t) {
    return t.tHead && t.tHead.rows[0].cells[2].textContent === "A GB/s" && t.tBodies[0].rows.length > 5; });
  var heading = table.tHead.rows[0].cells[2];
  function values() { return Array.from(table.tBodies[0].rows).map(function (r) { return Number(r.cells[2].textContent); }); }
  function rises(v) { return v.every(function (x, i) { return i === 0 || v[i - 1] <= x; }); }
  heading.click(); var up = rises(values()); heading.click(); var down = rises(values().reverse());
  return up + " " + down + " " + heading.getAttribute("aria-sort"); }())'
ask diff.html "$sorted"
answer_is 'true true descending' 'sorted'

sizes='(function () {
  var table = Array.from(document.querySelectorAll("main table:not(.matrix)")).find(function (t) {
    return Array.from(t.tHead.rows[0].cells).some(function (c) { return c.textContent === "size"; }); });
  var column = Array.from(table.tHead.rows[0].cells).findIndex(function (c) { return c.textContent === "size"; });
  table.tHead.rows[0].cells[column].click();
  var seen = Array.from(table.tBodies[0].rows).map(function (r) { return r.cells[column].textContent; });
  return seen.filter(function (x, i) { return seen.indexOf(x) === i; }).join(" "); }())'
ask sweep.html "$sizes"
answer_is '256B 4KiB 64KiB 1MiB' 'sizes in their order'

begin 'long tables filter'
filtered='(function () {
  var input = document.querySelector("input.filter");
  var body = input.nextSibling.tBodies[0];
  var all = body.rows.length;
  input.value = body.rows[0].cells[1].textContent; input.dispatchEvent(new Event("input"));
  var shown = Array.from(body.rows).filter(function (r) { return !r.hidden; }).length;
  input.value = ""; input.dispatchEvent(new Event("input"));
  return all >= 12 && shown >= 1 && shown < all && Array.from(body.rows).every(function (r) { return !r.hidden; }); }())'
ask diff.html "$filtered"
answer_is true 'filtered'

begin 'a link to a case that is folded unfolds it'
ask diff.html '(function () {
  var cell = Array.from(document.querySelectorAll("table.matrix a")).find(function (a) {
    var row = document.getElementById(a.getAttribute("href").slice(1));
    return row.closest("details"); });
  var row = document.getElementById(cell.getAttribute("href").slice(1));
  location.hash = cell.getAttribute("href");
  window.dispatchEvent(new Event("hashchange"));
  return row.closest("details").open; }())'
answer_is true 'unfolded'

begin 'the trials of a case are a click away, and each block has its earlier runs'
for _ in 1 2 3; do "$haul" run sweep.toml "${small[@]}" --db b.db >/dev/null 2>&1; done
run_ok report sweep.html latest --db b.db
ask sweep.html '(function () {
  var list = document.querySelector("details.spreads"), one = list.querySelector("details");
  var bars = one.querySelector("path.bars"), before = bars.checkVisibility();
  list.querySelector("summary").click(); one.querySelector("summary").click();
  return [before, bars.checkVisibility(), list.querySelectorAll("details").length,
    document.querySelectorAll("svg.trend circle").length].join(" "); }())'
answer_is 'false true 4 4' 'hidden, shown, cases, runs'

begin 'the history has a mark where the driver changed'
page_has() { if grep -Eq -- "$1" diff.html; then good; else bad "no '$1' in diff.html"; fi; }
page_has 'id="history">History of the cases that changed'
page_has '<title>run 1, 20[^<]*, earlier: [0-9.]+ GB/s[^<]*</title>'
page_has '>driver 590\.44\.01</text>'
finish
