#!/bin/sh
# documents.sh ROOT - what the documents name is there: every path below a folder of the project and
# every function, written as `name()`, in back quotes; every file, and every heading of a document, that a link goes to.
set -eu
# shellcheck source=tests/style/common.sh
. "$(dirname -- "$0")/common.sh"
cd -- "$1"

sources '*.md' >"$scratch/documents"
[ -s "$scratch/documents" ] || { echo "no documents in $1" >&2; exit 1; }
sources '*.c' '*.h' '*.cpp' '*.cu' '*.cuh' | xargs cat |
  grep -oE '[A-Za-z_][A-Za-z0-9_]* ?\(' | tr -d ' (' | sort -u >"$scratch/functions"

# FILE:LINE NAME of everything in back quotes, outside code that stands in blocks.
# shellcheck disable=SC2016 # awk expands
xargs awk '
  FNR == 1 { fenced = 0 }
  /^ *```/ { fenced = !fenced; next }
  fenced { next }
  {
    count = split($0, part, "`")
    for (i = 2; i <= count; i += 2)
      print FILENAME ":" FNR " " part[i]
  }' <"$scratch/documents" >"$scratch/quoted"

while read -r place name; do
  case $name in
    *[!A-Za-z0-9_\(\)]*) ;;
    *'()')
      grep -qx -- "${name%'()'}" "$scratch/functions" || echo "$place: there is no function $name"
      ;;
  esac
  case $name in
    *[!A-Za-z0-9_./*-]* | *KIND* | *NAME* | *NNNN*) ;;
    cmake/* | docs/* | engine/* | kernels/* | packaging/* | runner/* | scenarios/* | schema/* | tests/*)
      # shellcheck disable=SC2086 # a pattern finds at least one file
      set -- $name
      [ -e "$1" ] || echo "$place: there is no $name"
      ;;
  esac
done <"$scratch/quoted" >"$scratch/found"

# FILE#HEADING of each heading, written as links write it.
xargs awk '
  FNR == 1 { fenced = 0 }
  /^ *```/ { fenced = !fenced }
  !fenced && sub(/^#+ /, "") {
    gsub(/\]\([^)]*\)/, "")
    line = tolower($0)
    gsub(/[^a-z0-9_ -]/, "", line)
    gsub(/ /, "-", line)
    print FILENAME "#" line
  }' <"$scratch/documents" | sort >"$scratch/headings"

xargs grep -HnoE '\]\([^): ]+\)' <"$scratch/documents" | sed 's/\](//; s/)$//' >"$scratch/links" || true
while IFS=: read -r file line target; do
  path=$file
  [ "${target%%#*}" = '' ] || path=$(dirname -- "$file")/${target%%#*}
  [ -e "$path" ] || { echo "$file:$line: the link goes nowhere: $target"; continue; }
  case $target in
    *.md#* | '#'*)
      path=$(realpath -m --relative-to=. -- "$path")
      grep -qxF -- "$path#${target#*#}" "$scratch/headings" || echo "$file:$line: no such heading: $target"
      ;;
  esac
done <"$scratch/links" >>"$scratch/found"

# VERDICTS.md has its figures from the first table of SIMULATIONS.md. A row of a table names the row that it is of, and the
# worst row that of its column; so does a paragraph, (`WORLD`, 10 runs), for its numbers with a decimal point.
[ ! -e docs/VERDICTS.md ] || awk '
  function trimmed(text) { gsub(/^ +| +$/, "", text); return text }
  function check(row, text) {
    gsub(/`[^`]*`/, "", text)
    while (match(text, /[0-9]+[.][0-9]+/)) {
      number = substr(text, RSTART, RLENGTH)
      if (index(row " ", " " number " ") == 0) print FILENAME ":" FNR ": SIMULATIONS.md has no " number " in this row"
      text = substr(text, RSTART + RLENGTH)
    }
  }
  function check_paragraph(   text, row) {
    text = paragraph
    while (match(text, /`[^`]+`, +[0-9]+ (runs|processes)/)) {
      split(substr(text, RSTART, RLENGTH), named, "`")
      row = row rows[named[2], named[3] + 0 ? named[3] + 0 : substr(named[3], 3) + 0]
      text = substr(text, RSTART + RLENGTH)
    }
    if (row != "") check(row, paragraph)
    paragraph = ""
  }
  NR == FNR && /^## Fleets/ { over = 1 }
  NR == FNR && !over && /^\| world/ { for (i = split($0, columns, "|"); i > 0; i--) columns[i] = trimmed(columns[i]) }
  NR == FNR && !over && /^\|/ && /[0-9-] [|]( WIDE| BROKEN)?$/ && !/^\| world/ {
    count = split($0, cells, "|")
    row = ""
    for (i = 4; i < count; i++) {
      value = trimmed(cells[i])
      row = row " " value
      sums[columns[i]] += value
      if (value + 0 >= worst[columns[i]] + 0) worst[columns[i]] = value
    }
    rows[trimmed(cells[2]), trimmed(cells[3])] = row
    simulated++
  }
  NR == FNR { next }
  /^\|/ {
    count = split($0, cells, "|")
    for (i = 2; i < count - 1; i++) {
      name = trimmed(cells[i])
      gsub(/`/, "", name)
      if (!((name, trimmed(cells[i + 1])) in rows)) continue
      column = trimmed(cells[3])
      row = rows[name, trimmed(cells[i + 1])]
      if (column in worst) {
        if (index(row " ", " " worst[column] " ") == 0) print FILENAME ":" FNR ": this row is not the worst"
        mean = sums[column] / simulated
        row = " " worst[column] " " sprintf(mean < 1 ? "%.2f" : "%.1f", mean)
      }
      check(row, substr($0, column in worst ? 1 : index($0, cells[i])))
      checked++
    }
    next
  }
  { paragraph = paragraph " " $0 }
  /^$/ { check_paragraph() }
  END { if (checked < 10) print FILENAME ": no tables of simulations" }
' docs/SIMULATIONS.md docs/VERDICTS.md >>"$scratch/found"
verdict "$scratch/found" "documents name what is there (tests/style/documents.sh)"
