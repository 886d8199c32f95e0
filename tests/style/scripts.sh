#!/bin/sh
# scripts.sh ROOT - shell scripts parse, and pass shellcheck where that is installed. Off: SC3043,
# "local", which dash and busybox know too; SC1010, the word done as an argument.
set -eu
# shellcheck source=tests/style/common.sh
. "$(dirname -- "$0")/common.sh"
cd -- "$1"

{
  sources '*.sh' bootstrap
  find .ci -type f 2>/dev/null || true
} >"$scratch/files"
while IFS= read -r script; do
  case $(head -n 1 -- "$script") in
    *bash*) shell='bash' ;;
    *) shell='sh' ;;
  esac
  "$shell" -n "$script" || echo "$script: does not parse"
  if command -v shellcheck >/dev/null; then
    shellcheck -x -S warning -e SC3043,SC1010 -s "$shell" -f gcc -- "$script" || true
  fi
done <"$scratch/files" >"$scratch/found" 2>&1
verdict "$scratch/found" "scripts parse and pass shellcheck"
