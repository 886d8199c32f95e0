#!/bin/sh
# globals.sh BUILD-FOLDER NM - no writable data with static storage in the engine, the kernels' host
# code and the schema: state lives in structs that callers own.
set -eu
# shellcheck source=tests/style/common.sh
. "$(dirname -- "$0")/common.sh"
cd -- "$1"
nm=${2:-nm}

find engine kernels schema -name '*.a' >"$scratch/libraries"
[ -s "$scratch/libraries" ] || { echo "no libraries in $1: build first" >&2; exit 1; }
# Objects of C files only: what a C++ header brings along is not ours.
while IFS= read -r library; do
  "$nm" -f sysv "$library" | awk -v library="$library" -F '|' '
    /^Symbols from / { object = $0; sub(/.*\[/, "", object); sub(/\].*/, "", object) }
    {
      gsub(/ /, "", $1)
      gsub(/ /, "", $7)
    }
    object ~ /\.c\.o:?$/ && $7 ~ /^(\.data|\.bss|\.tdata|\.tbss|\*COM\*)(\..*)?$/ &&
      $7 !~ /^\.data\.rel\.ro/ { print library "(" object "): " $1 " is writable (" $7 ")" }'
done <"$scratch/libraries" >"$scratch/found"
verdict "$scratch/found" "no global state"
