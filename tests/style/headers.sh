#!/bin/sh
# headers.sh ROOT CC [FLAG...] - every header compiles alone.
set -eu
# shellcheck source=tests/style/common.sh
. "$(dirname -- "$0")/common.sh"
cd -- "$1"
shift

sources '*.h' >"$scratch/files"
[ -s "$scratch/files" ] || { echo "no headers" >&2; exit 1; }
# Included twice, not compiled as the main file: what a header needs from its includer shows, and so
# does a guard that does not hold. Where there is no CUDA Toolkit, headers that need it are left out.
# shellcheck disable=SC2016 # the inner shell expands
tr '\n' '\0' <"$scratch/files" | xargs -0 -P "$(nproc)" -I '{}' sh -c '
  header=$0
  printf "#include \"%s\"\n#include \"%s\"\n" "$header" "$header" |
    "$@" -std=c17 -D_GNU_SOURCE -Wall -Wextra -Werror -I. -x c -fsyntax-only - 2>&1 |
    grep -m 1 -E "error|warning" | grep -vE "cuda(Typedefs)?\.h.?:? .*(not found|No such file)" | sed "s,^,$header: does not stand alone: ,"
  exit 0' '{}' "$@" >"$scratch/found"
verdict "$scratch/found" "every header stands alone"
