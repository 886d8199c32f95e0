#!/bin/sh
# headers.sh ROOT CC [FLAG...] - every header compiles alone.
set -eu
# shellcheck source=tests/style/common.sh
. "$(dirname -- "$0")/common.sh"
cd -- "$1"
shift

sources '*.h' >"$scratch/files"
[ -s "$scratch/files" ] || { echo "no headers" >&2; exit 1; }
# CUDA's own headers are part of builds with the toolkit only.
case " $* " in
  *' -DHAUL_CUDA '*) ;;
  *)
    without_cuda=$(xargs grep -lE '^#include (<(cuda|cudaTypedefs)\.h>|"engine/cuda/(driver|session)\.h")' <"$scratch/files" || true)
    printf '%s\n' "$without_cuda" | grep -vxFf - "$scratch/files" >"$scratch/kept" || true
    mv "$scratch/kept" "$scratch/files"
    ;;
esac
# Included twice, not compiled as the main file: what a header needs from its includer shows, and so
# does a guard that does not hold.
# shellcheck disable=SC2016 # the inner shell expands
tr '\n' '\0' <"$scratch/files" | xargs -0 -P "$(nproc)" -I '{}' sh -c '
  header=$0
  printf "#include \"%s\"\n#include \"%s\"\n" "$header" "$header" |
    "$@" -std=c17 -D_GNU_SOURCE -Wall -Wextra -Werror -I. -x c -fsyntax-only - 2>&1 |
    grep -m 1 -E "error|warning" | sed "s,^,$header: does not stand alone: ,"
  exit 0' '{}' "$@" >"$scratch/found"
verdict "$scratch/found" "every header stands alone"
