#!/bin/sh
# headers.sh ROOT CC [FLAG...] - every header compiles alone.
set -eu
# shellcheck source=tests/style/common.sh
. "$(dirname -- "$0")/common.sh"
cd -- "$1"
shift

sources '*.h' >"$scratch/headers"
[ -s "$scratch/headers" ] || { echo "no headers" >&2; exit 1; }
# What a C source includes before all else, the build has compiled alone.
# shellcheck disable=SC2016 # awk expands
sources '*.c' | xargs awk 'FNR == 1 { first = 1 }
  first && /^#include/ { first = 0; if (split($0, part, "\"") == 3) print part[2] }' | sort -u >"$scratch/first"
grep -vxFf "$scratch/first" "$scratch/headers" >"$scratch/files" || exit 0
# Included twice, not compiled as the main file: what a header needs from its includer shows, and so
# does one that is read twice.
count=0
# One compiler for many headers; where it finds something, one for each, which says whose it is.
while IFS= read -r header; do
  count=$((count + 1))
  printf '#include "%s"\n#include "%s"\n' "$header" "$header" >"$scratch/$count.c"
  printf '%s\n' "$scratch/$count.c"
done <"$scratch/files" >"$scratch/includers"
xargs -P "$(nproc)" -n 12 "$@" -std=c17 -D_GNU_SOURCE -Wall -Wextra -Wno-unused-parameter -Werror -I. -fsyntax-only \
  <"$scratch/includers" >/dev/null 2>&1 && exit 0

# shellcheck disable=SC2016 # the inner shell expands
tr '\n' '\0' <"$scratch/files" | xargs -0 -P "$(nproc)" -I '{}' sh -c '
  header=$0
  printf "#include \"%s\"\n#include \"%s\"\n" "$header" "$header" |
    "$@" -std=c17 -D_GNU_SOURCE -Wall -Wextra -Wno-unused-parameter -Werror -I. -x c -fsyntax-only - 2>&1 |
    grep -m 1 -E "error|warning" | sed "s,^,$header: does not stand alone: ,"
  exit 0' '{}' "$@" >"$scratch/found"
verdict "$scratch/found" "every header stands alone"
