#!/bin/sh
# scripts.sh ROOT - shell scripts parse, and pass shellcheck where that is installed. Off: SC3043,
# "local", which dash and busybox know too; SC1010, the word done as an argument. What passed is noted by its content
# and that of what it sources, in HAUL_TIDY_CACHE or ~/.cache/haul-tidy, and is not looked at again.
set -eu
# shellcheck source=tests/style/common.sh
. "$(dirname -- "$0")/common.sh"
cd -- "$1"

{
  sources '*.sh' bootstrap
  find .ci -type f 2>/dev/null || true
} >"$scratch/files"
cache=${HAUL_TIDY_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/haul-tidy}
version=$(shellcheck --version 2>/dev/null || true)
mkdir -p -- "$cache" 2>/dev/null || version=
while IFS= read -r script; do
  case $(head -n 1 -- "$script") in
    *bash*) shell='bash' ;;
    *) shell='sh' ;;
  esac
  "$shell" -n "$script" || echo "$script: does not parse"
  [ -n "$version" ] || continue
  note=$cache/$({
    echo "$version $script"
    cat -- "$script"
    sed -n 's/.*shellcheck source=//p' "$script" | xargs -r cat 2>/dev/null
  } | sha256sum | cut -c 1-64)
  [ -e "$note" ] || { shellcheck -x -S warning -e SC3043,SC1010 -s "$shell" -f gcc -- "$script" && touch -- "$note"; } || true
done <"$scratch/files" >"$scratch/found" 2>&1
verdict "$scratch/found" "scripts parse and pass shellcheck"
