#!/bin/sh
# reproducible.sh [CMAKE-OPTION...] - whether two builds of the last commit are the same bit for bit, in two folders and
# at two times: the executable, the libraries and the .deb. Prints what differs, and ends with 1 then.
# SOURCE_DATE_EPOCH is the date of what is packed; where it is not set, the commit's.
set -eu
tree=$(cd -P -- "$(dirname -- "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
export CCACHE_DISABLE=1 # it would give the second build the objects of the first
for folder in one a/second/folder; do
  mkdir -p "$scratch/$folder"
  cd "$scratch/$folder"
  git clone -q --no-hardlinks "$tree" haul
  cmake -S haul -B haul/build -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBUILD_TESTING=OFF "$@" >log
  { cmake --build haul/build && cd haul/build && cpack -G DEB; } >>"$scratch/$folder/log" 2>&1 ||
    { tail -n 20 "$scratch/$folder/log"; exit 1; }
done
find "$scratch/one/haul/build" -name '*.a' -o -name '*.deb' -o -name '*.fatbin' -o -name haul -type f |
  sort >"$scratch/files"
failed=0
while IFS= read -r file; do
  name=${file#"$scratch/one/haul/"}
  cmp -- "$file" "$scratch/a/second/folder/haul/$name" || failed=1
done <"$scratch/files"
[ "$failed" = 1 ] || sha256sum "$scratch"/one/haul/build/haul "$scratch"/one/haul/build/*.deb | sed 's|/.*/||'
exit "$failed"
