#!/bin/sh
# text.sh ROOT - the look of files: no tabs, no blanks at line ends, a last newline, a bounded length,
# nothing left for later, and headers that open with their purpose and are read once.
set -eu
# shellcheck source=tests/style/common.sh
. "$(dirname -- "$0")/common.sh"
cd -- "$1"

# Aim for 500 lines; more than this is two modules.
readonly lines_max=700

sources '*.c' '*.h' '*.cpp' '*.cu' '*.S' '*.sql' '*.toml' '*.cmake' CMakeLists.txt '*.sh' '*.awk' \
  '*.rules' '*.md' '*.json' bootstrap | grep -vE '^tests/fuzz/.*\.toml$' >"$scratch/files"
[ -s "$scratch/files" ] || { echo "no sources in $1" >&2; exit 1; }

# shellcheck disable=SC2016 # awk expands
xargs awk -v lines_max="$lines_max" '
  function finish() {
    if (last > lines_max && name ~ /\.(c|h|cpp|cu|sql|sh)$/)
      print name ":" last ": " last " lines, more than " lines_max
    if (name ~ /\.h$/ && !once)
      print name ": no #pragma once"
  }
  FNR == 1 {
    finish()
    name = FILENAME
    once = 0
    if (name ~ /\.h$/) {
      base = name
      sub(/.*\//, "", base)
      if (index($0, "/* " base " - ") != 1)
        print name ":1: a header opens with \"/* " base " - its purpose\""
    }
  }
  { last = FNR }
  $0 == "#pragma once" { once = 1 }
  /\t/ { print name ":" FNR ": a tab" }
  # clang-format wraps comments, but for lines of lists (CommentPragmas in .clang-format).
  name ~ /\.(c|h|cpp|cu)$/ && /^ *(\/\*| \*) / && length($0) > 100 {
    print name ":" FNR ": a line of a comment has more than 100 columns"
  }
  /[ \r]$/ { print name ":" FNR ": a blank or carriage return at the end of the line" }
  /(^|[^A-Za-z_])(TO[D]O|FIX[M]E|XX[X]|HA[C]K)([^A-Za-z_]|$)/ {
    print name ":" FNR ": nothing is left for later in the tree"
  }
  END { finish() }' <"$scratch/files" >"$scratch/found"

# One look at all of them; where that shows another end than a newline, one at each.
if [ -n "$(xargs tail -q -c 1 <"$scratch/files" | tr -d '\n')" ]; then
  while IFS= read -r file; do
    if [ -s "$file" ] && [ -n "$(tail -c 1 -- "$file")" ]; then
      echo "$file: no newline at the end"
    fi
  done <"$scratch/files" >>"$scratch/found"
fi
verdict "$scratch/found" "the look of files (tests/style/text.sh)"
