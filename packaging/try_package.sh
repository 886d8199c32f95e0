#!/bin/sh
# try_package.sh SUITE FILE.deb [FOLDER] - installs the package into a clean Debian (bookworm, trixie ...), uses it
# there, removes it, and says what is left. Ends with 1 when a step fails, or more is left than results.
# As root; needs debootstrap and a mirror (chroot.sh). FOLDER keeps the system as it was before the
# installation: with the same FOLDER a second call downloads no base system.
set -eu
if [ "${1-}" != --inside ]; then
  [ $# -ge 2 ] || { sed -n '2,5s/^# //p' "$0"; exit 2; }
  # shellcheck source=packaging/chroot.sh
  . "$(dirname -- "$0")/chroot.sh"
  scratch=$(mktemp -d)
  trap 'rm -rf --one-file-system -- "$scratch"' EXIT
  base=${3:-$scratch/base}
  chroot_base "$1" "$base" man-db,bash-completion
  chroot_copy "$base" "$scratch/root"
  cp -- "$2" "$scratch/root/root/haul.deb"
  cp -- "$0" "$scratch/root/root/try_package.sh"
  status=0
  chroot_run "$scratch/root" sh /root/try_package.sh --inside || status=$?
  exit "$status"
fi

step() { printf '== %s\n' "$*"; "$@"; }
files() { # all but what package managers keep of themselves
  find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /var/lib/apt -o -path /var/lib/dpkg \
    -o -path /var/cache -o -path /var/log -o -path /tmp \) -prune -o -print | sort
}
apt_quietly() { apt-get -q -y -o Dpkg::Use-Pty=0 "$@" >/tmp/log 2>&1 || { tail -n 20 /tmp/log; exit 1; }; }
export DEBIAN_FRONTEND=noninteractive

. /etc/os-release
printf '== %s\n' "$PRETTY_NAME"
step apt_quietly update
files >/tmp/before
step apt_quietly install /root/haul.deb
step haul --version
! ldconfig -p | grep -q libcuda || { echo 'there is a libcuda: this shows nothing'; exit 1; }
step haul run quick --quiet
step haul list runs
step haul query 'select count(*) cases, sum(status = '"'ok'"') ok from v_case'
step man haul | sed -n '1,5p'
[ "$(man haul | grep -c '^  *haul run')" -ge 1 ] || { echo 'the manual page has no haul run'; exit 1; }
# bash finds the script by the name of the command, as at a prompt.
# shellcheck disable=SC2016 # bash expands
completed=$(bash -c '. /usr/share/bash-completion/bash_completion
  if type _comp_load >/dev/null 2>&1; then _comp_load haul || :; else _completion_loader haul || :; fi
  COMP_WORDS=(haul run qui) COMP_CWORD=2 COMP_LINE="haul run qui" COMP_POINT=12
  _haul
  echo "${COMPREPLY[*]}"')
printf '== haul run qui<TAB>: %s\n' "$completed"
[ "$completed" = quick ] || exit 1
haul validate --quiet /usr/share/haul/scenarios/*.toml
step apt_quietly purge haul
step apt_quietly autoremove --purge
files >/tmp/after
echo '== left behind:'
diff /tmp/before /tmp/after | sed -n 's/^[<>] /&/p' | tee /tmp/left
# The folder of locks is on a tmpfs where a system was booted.
if grep -vE '^> (/root/\.local(/share(/haul(/results\.db(-wal|-shm)?)?)?)?|(/var)?/run/lock/haul(/.*)?)$' /tmp/left; then
  echo 'that is more than results'
  exit 1
fi
