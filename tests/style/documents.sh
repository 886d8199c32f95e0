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
verdict "$scratch/found" "documents name what is there (tests/style/documents.sh)"
