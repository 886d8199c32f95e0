#!/usr/bin/env bash
# The .deb that cpack makes: what it holds and needs, and what lintian says. It is installed, used and removed in
# clean systems by packaging/try_package.sh, which needs root and a mirror.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
cache() { sed -n "s/^$1:[A-Z]*=//p" "$build_folder/CMakeCache.txt"; }
if ! command -v dpkg-shlibdeps >/dev/null; then
  echo 'skipped: there is no dpkg-shlibdeps; ./bootstrap setup package installs it'
  exit 77
elif [ "$(cache HAUL_SANITIZE)" = ON ]; then
  echo 'skipped: a build with sanitizers is not packaged'
  exit 77
elif [ -n "$(cache HAUL_SYSROOT)" ]; then
  echo 'skipped: a package is made on a machine of its architecture'
  exit 77
fi

begin 'cpack makes one package' # that is compressed in a fifth of the time that xz takes
(cd "$build_folder" && "$(cache CMAKE_CPACK_COMMAND)" -G DEB -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip -B "$scratch/deb") >out 2>err </dev/null
code=$?
printf 'cpack -G DEB' >"$scratch/command"
expect_code 0
deb=$(echo deb/*.deb)
"$haul" --version >out
version=$(sed -n 's/^haul //p' out)
equal "deb/haul_$version-1_$(dpkg --print-architecture).deb" "$deb" 'the package'

begin 'its control data'
dpkg-deb -f "$deb" >out
expect_out "^Version: $version-1$"
expect_out '^Description: .{10,}'
# What is linked, and nothing of the driver, which is loaded at run time.
ldd "$haul" >linked
for library in libsqlite3 libnuma libjansson libxxhash libsmartcols; do
  if grep -q "$library" linked; then expect_out "^Depends: .*$library"; fi
done
reject_out 'nvidia|cuda|libasan'

begin 'its files are those of cmake --install, and what Debian wants'
dpkg-deb -x "$deb" root
"$(cache CMAKE_COMMAND)" --install "$build_folder" --prefix "$scratch/prefix" >/dev/null
(cd prefix && find . -type f | sed 's,share/man/man1/haul.1$,&.gz,') | sort >installed
(cd root/usr && find . -type f) | sort >packaged
equal './share/doc/haul/LICENSE' "$(comm -23 installed packaged)" 'left out'
equal './share/doc/haul/changelog.Debian.gz ./share/doc/haul/changelog.gz' \
  "$(comm -13 installed packaged | paste -sd ' ' -)" 'added'
haul=$scratch/root/usr/bin/haul run_ok validate root/usr/share/haul/scenarios/quick.toml
zcat root/usr/share/man/man1/haul.1.gz >out
expect_out '^\.TH HAUL 1 .*"haul '"$version"'"'

if command -v lintian >/dev/null; then
  begin 'lintian finds no error'
  lintian --fail-on error --allow-root "$deb" >out 2>err
  code=$?
  printf 'lintian %s' "$deb" >"$scratch/command"
  expect_code 0
  reject_out '^E:'
fi

finish
