#!/bin/sh
# Makes a sysroot with the arm64 libraries that haul is built and tested with, for cmake/aarch64.cmake, from
# the packages of this Debian or Ubuntu. apt works in that folder alone: the system's own architectures,
# package lists and packages stay as they are, and root is not needed.
# usage: cmake/aarch64-sysroot.sh FOLDER
# environment: HAUL_ARM64_MIRROR, where the packages are (default: the distribution's own server)
set -eu
[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
readonly packages='libc6-dev libsqlite3-dev libnuma-dev libjansson-dev libxxhash-dev libsmartcols-dev
  libtomlplusplus-dev libboost-dev libcmocka-dev libstdc++6'
die() { echo "aarch64-sysroot: $*" >&2; exit 1; }

command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
  die 'this system has no apt: unpack the arm64 packages of a Debian into a folder, and name it in HAUL_SYSROOT'
# shellcheck source=/dev/null
. /etc/os-release
case $ID in
  debian) mirror=http://deb.debian.org/debian components=main ;;
  ubuntu) mirror=http://ports.ubuntu.com/ubuntu-ports components='main universe' ;;
  *) die "this is $ID: known are the packages of Debian and Ubuntu" ;;
esac

mkdir -p "$1"
sysroot=$(cd -- "$1" && pwd)
# With a marker at the end, so that one that was interrupted is made anew.
wanted="$ID $VERSION_CODENAME: $(echo $packages)"
[ "$(cat "$sysroot/made-of" 2>/dev/null)" != "$wanted" ] || exit 0
rm -rf -- "$sysroot"
mkdir -p "$sysroot"
apt=$sysroot/apt
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
: >"$apt/status"
echo "deb [signed-by=/usr/share/keyrings/$ID-archive-keyring.gpg]" \
  "${HAUL_ARM64_MIRROR:-$mirror} $VERSION_CODENAME $components" >"$apt/sources.list"

arm64_apt() {
  apt-get -q -y -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User= \
    -o Dir::State="$apt" -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" \
    -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=- \
    -o Acquire::Languages=none "$@" >"$apt/log" 2>&1 || {
    grep -E '^E:' "$apt/log" >&2 || cat "$apt/log" >&2
    die "the arm64 packages could not be fetched from ${HAUL_ARM64_MIRROR:-$mirror}"
  }
}
arm64_apt -o APT::Update::Error-Mode=any update
# shellcheck disable=SC2086 # one word per package
arm64_apt --no-install-recommends --download-only install $packages

for package in "$apt"/cache/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -C "$sysroot" -xf - --exclude=./usr/share --exclude=./etc
done
# A link to /lib/... means that of the sysroot.
find "$sysroot" -type l -lname '/*' | while read -r link; do
  ln -sfn -- "$sysroot$(readlink -- "$link")" "$link"
done
rm -rf -- "$apt"
echo "$wanted" >"$sysroot/made-of"
echo "made $sysroot, $(du -sh "$sysroot" | cut -f 1)"
