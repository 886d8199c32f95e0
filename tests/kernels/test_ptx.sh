#!/bin/sh
# The PTX in kernels/ptx is what nvcc makes of the kernels. The sums that update.sh left beside it answer that while
# neither changed since; else, and with HAUL_NIGHTLY=1, it is made again. Another nvcc makes other text of the kernels:
# the test skips (77) then.
#   test_ptx.sh SOURCE_FOLDER NVCC
set -eu
kept=$1/kernels/ptx
files=$(cd "$1" && printf '%s\n' kernels/*.cu kernels/*.cuh kernels/*.h kernels/ptx/update.sh kernels/ptx/*.xz)
if [ -z "${HAUL_NIGHTLY-}" ] && [ "$(cut -c 67- "$kept/sums.sha256")" = "$files" ] &&
  (cd "$1" && sha256sum --check --status kernels/ptx/sums.sha256); then
  echo 'neither the kernels nor the PTX changed since update.sh made it'
  exit 0
fi
PATH=$(dirname -- "$2"):$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
made_by=$(xz --decompress --stdout "$kept/gate.75.ptx.xz" | sed -n 's/.* V\([0-9.]*\)$/\1/p')
here=$("$2" --version | sed -n 's/.* V\([0-9.]*\)$/\1/p')
[ -n "$made_by" ] || { echo 'gate.75.ptx does not say which nvcc made it' >&2; exit 1; }
if [ "$made_by" != "$here" ]; then
  echo "the PTX was made by nvcc $made_by, and this one is $here"
  exit 77
fi
sh "$kept/update.sh" "$work"
failed=0
for file in "$kept"/*.xz "$work"/*.xz; do
  name=$(basename "$file" .xz)
  # One that only one of them has is an empty text there.
  xz --decompress --stdout "$kept/$name.xz" >"$work/kept" 2>/dev/null || :
  xz --decompress --stdout "$work/$name.xz" >"$work/made" 2>/dev/null || :
  cmp -s "$work/kept" "$work/made" || {
    echo "$name is not what nvcc makes of the kernels: run kernels/ptx/update.sh" >&2
    failed=1
  }
done
exit "$failed"
