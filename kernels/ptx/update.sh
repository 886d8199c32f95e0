#!/bin/sh
# update.sh [FOLDER] - makes the PTX of this folder anew from the kernels, by nvcc on PATH or in /usr/local/cuda;
# with FOLDER, makes it there. NAME.75.ptx.xz is for compute capability 7.5 and all later; NAME.80.ptx.xz and
# NAME.90.ptx.xz are there where a file has more for those, and NAME.90a.ptx.xz where it has more for 9.0 alone. The
# build makes machine code out of the same versions.
#
# What nvcc says of itself is left out but for its version; the comments around inline PTX too, which are half of the
# text. The version of the PTX language becomes the oldest that has what is used, so that drivers from r525 on
# compile it (PTX ISA, "Release Notes": 7.0 came with CUDA 11.0, 8.0 with CUDA 12.0).
set -eu
here=$(cd -P -- "$(dirname -- "$0")" && pwd)
folder=${1:-$here}
PATH=$PATH:/usr/local/cuda/bin
cd "$here/../.."

make_ptx() { # NAME COMPUTE-CAPABILITY PTX-VERSION
  nvcc -ptx -std=c++17 -O3 "-arch=compute_$2" -allow-unsupported-compiler -Wno-deprecated-gpu-targets -I. \
    -o "$folder/$1.$2.ptx" "kernels/$1.cu"
  {
    sed -n 's,^// \(Cuda compilation tools.*\),// \1,p' "$folder/$1.$2.ptx"
    sed -e 's,[[:space:]]*//.*,,' -e '/^[[:space:]]*$/d' -e "s/^\.version .*/.version $3/" "$folder/$1.$2.ptx"
  } >"$folder/text"
  mv "$folder/text" "$folder/$1.$2.ptx"
  # nvcc names shared memory of a static function by a hash of the file's path.
  ! grep -q _INTERNAL_ "$folder/$1.$2.ptx" || { echo "kernels/$1.cu: a static function has shared memory" >&2; exit 1; }
}
for file in kernels/*.cu; do
  name=$(basename "$file" .cu)
  kept=
  for version in 75:7.0 80:7.0 90:8.0 90a:8.0; do
    target=${version%:*}
    make_ptx "$name" "$target" "${version#*:}"
    sum=$(sed '/^\.version\|^\.target/d' "$folder/$name.$target.ptx" | cksum)
    [ "$sum" != "$kept" ] || rm -- "$folder/$name.$target.ptx"
    kept=$sum
  done
  xz --force -9e -- "$folder/$name".*.ptx
done
# What was made, and of what: while all of it is the same, a test need not make it again.
[ "$folder" != "$here" ] ||
  sha256sum kernels/*.cu kernels/*.cuh kernels/*.h kernels/ptx/update.sh kernels/ptx/*.xz >kernels/ptx/sums.sha256
