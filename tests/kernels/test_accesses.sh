#!/bin/bash
# The kernels' loads and stores are in their code: a copy whose reads are optimised away, or made
# narrower than its name says, measures something else. And the registers of copies leave room for a
# block of 1024 threads, which a scenario may ask for, on every architecture that nvcc knows.
#   test_accesses.sh SOURCE_FOLDER NVCC
set -euo pipefail

source_folder=$1
nvcc=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# FILE: what nvcc made of kernels/FILE.cu for compute capability 9.0; kernels/ptx proves that it is that.
kept_ptx() {
  local version kept
  for version in 75 80 90; do
    [ ! -e "$source_folder/kernels/ptx/$1.$version.ptx.xz" ] || kept=$source_folder/kernels/ptx/$1.$version.ptx.xz
  done
  xz --decompress --stdout "$kept"
}

# FILE KERNEL REGEX...: that kernel of kernels/FILE.cu has an instruction that fits, for every REGEX.
failures=0
check() {
  local file=$1 kernel=$2 pattern
  shift 2
  [ -e "$work/$file.ptx" ] || kept_ptx "$file" >"$work/$file.ptx"
  awk -v entry="[.]entry ${kernel}[(]" '$0 ~ entry { inside = 1 } inside { print } inside && /^}/ { exit }' \
    "$work/$file.ptx" >"$work/body"
  for pattern in "$@"; do
    if ! grep -qE "^[[:space:]]*(@[%a-z0-9!]+ +)?$pattern" "$work/body"; then
      echo "$kernel (kernels/$file.cu) has no instruction $pattern" >&2
      failures=$((failures + 1))
    fi
  done
}

load='ld(\.[a-z]+)*\.global(\.[a-z]+)*'
store='st(\.[a-z]+)*\.global(\.[a-z]+)*'
check copy haul_copy_1 "$load\.[ub]8" "$store\.[ub]8"
check copy haul_copy_2 "$load\.[ub]16" "$store\.[ub]16"
check copy haul_copy_4 "$load\.[ub]32" "$store\.[ub]32"
check copy haul_copy_8 "$load\.[ub]64" "$store\.[ub]64"
check copy haul_copy_16 "$load\.v4\.[ub]32" "$store\.v4\.[ub]32"
check copy haul_copy_pair "$load\.v4\.[ub]32" "$store\.v4\.[ub]32"
check copy haul_copy_bulk 'cp\.async\.bulk\.shared::cluster\.global' 'cp\.async\.bulk\.global\.shared::cta'
check strided haul_copy_rows "$load\.v4\.[ub]32" "$store\.v4\.[ub]32" "$load\.[ub]8" "$store\.[ub]8"
check strided haul_copy_pieces "$load\.v2\.[ub]64" "$load\.v4\.[ub]32" "$store\.v4\.[ub]32" \
  "$load\.[ub]8" "$store\.[ub]8"
check pattern haul_touch "st\.volatile(\.global)?\.[ub]8"
check chase haul_chase_sys 'ld\.relaxed\.sys\.global\.u64'
check chase haul_chase_l1 'ld\.global\.ca\.u64'
check chase haul_chase_l2 'ld\.global\.cg\.u64'
check chase haul_chase_l1_u32 'ld\.global\.ca\.u32'
check chase haul_chase_l2_u32 'ld\.global\.cg\.u32'
check chase haul_chase_shared 'ld\.shared\.u32'
check chase haul_chase_bulk 'cp\.async\.bulk\.shared::cluster\.global' 'mbarrier\.try_wait' 'ld\.volatile\.shared\.u64'
check stream haul_stream_read_16_u4 "$load\.v4\.[ub]32"
# Past the L1 cache: every load of data, and only of those kernels.
for op in copy read; do
  for access in '4_u1 u32' '4_u4 u32' '8_u1 v2\.u32' '8_u4 v2\.u32' '16_u1 v4\.u32' '16_u4 v4\.u32'; do
    check stream "haul_stream_${op}_l2_${access% *}" "ld\.global\.cg\.${access#* }"
    check stream "haul_stream_${op}_${access% *}" "$load"
    if grep -q 'ld\.global\.cg' "$work/body"; then
      echo "haul_stream_${op}_${access% *} passes the L1 cache" >&2
      failures=$((failures + 1))
    fi
  done
done
check stream haul_stream_write_16_u1 "$store\.v4\.[ub]32"
check pattern haul_pattern_compare "$load"

xz --decompress --stdout "$source_folder/kernels/ptx/copy.75.ptx.xz" >"$work/all.ptx"
for code in $("$nvcc" --list-gpu-code | grep -E '^sm_[0-9]+$'); do
  "$(dirname -- "$nvcc")/ptxas" -O3 -arch="$code" -v -o "$work/copy.cubin" "$work/all.ptx" 2>&1 |
    sed -n "s/.*Compiling entry function '\([^']*\)'.*/\1/p; s/.*Used \([0-9]*\) registers.*/\1/p" |
    paste - - >"$work/registers"
  [ "$(wc -l <"$work/registers")" -ge 7 ] || { echo "$code: nvcc does not say what registers the copies use" >&2; exit 1; }
  awk -v code="$code" '$2 > 64 { print $1 " uses " $2 " registers on " code ": more than 65536 / 1024"; bad = 1 }
    END { exit bad }' "$work/registers" >&2 || failures=$((failures + 1))
done
[ "$failures" -eq 0 ]
