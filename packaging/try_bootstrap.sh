#!/bin/sh
# try_bootstrap.sh SUITE [FOLDER [TRIAL...]] - whether ./bootstrap does what README says on a machine with nothing
# on it: in a bare Debian (bookworm, trixie) or Ubuntu (noble), with git and sudo, without compiler, libraries' headers or
# CUDA Toolkit, it clones the last commit of this tree. Ends with 1 when a trial fails. As root; needs debootstrap and a
# mirror (chroot.sh). FOLDER keeps the bare system for the next call.
#   root   ./bootstrap run and ./bootstrap test
#   user   the same by a user with sudo, in a system of its own
#   needs  after root: each package that ./bootstrap needs is removed, and ./bootstrap setup puts it back
# All three are the default. By hand before a release.
set -eu

if [ "${1-}" != --inside ]; then
  [ $# -ge 1 ] || { sed -n '2,10s/^# //p' "$0"; exit 2; }
  # shellcheck source=packaging/chroot.sh
  . "$(dirname -- "$0")/chroot.sh"
  suite=$1
  tree=$(cd -P -- "$(dirname -- "$0")/.." && pwd)
  scratch=$(mktemp -d)
  trap 'rm -rf --one-file-system -- "$scratch"' EXIT
  base=${2:-$scratch/base}
  shift $(($# < 2 ? $# : 2))
  [ $# -gt 0 ] || set -- root needs user
  chroot_base "$suite" "$base" git,sudo,ca-certificates
  status=0
  for trial; do
    # The needs are those that the trial as root left.
    if [ "$trial" != needs ] || [ ! -e "$scratch/root" ]; then
      rm -rf --one-file-system -- "$scratch/root"
      chroot_copy "$base" "$scratch/root"
      git clone -q --no-hardlinks "$tree" "$scratch/root/opt/haul"
      cp -- "$0" "$scratch/root/opt/try_bootstrap.sh"
    fi
    chroot_run "$scratch/root" sh /opt/try_bootstrap.sh --inside "$trial" || status=1
  done
  exit "$status"
fi

step() { # COMMAND... - its last lines, and how long it took
  start=$(date +%s)
  status=0
  "$@" >/tmp/log 2>&1 || status=$?
  tail -n "${lines:-25}" /tmp/log
  printf '== %s: ended with %s after %s s\n' "$*" "$status" "$(($(date +%s) - start))"
  return "$status"
}
both() { # PREFIX... - both commands of README
  step "$@" ./bootstrap run && lines=60 step "$@" ./bootstrap test
}

. /etc/os-release
printf '== %s, %s: %s\n' "$PRETTY_NAME" "$2" "$(git -c safe.directory=/opt/haul -C /opt/haul log -1 --format='%h %s')"
! command -v cc nvcc cmake || [ "$2" = needs ] || { echo 'this system is not bare'; exit 1; }
case $2 in
  root)
    cd /opt/haul
    both env
    ;;
  user)
    useradd --create-home --shell /bin/bash somebody
    echo 'somebody ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/somebody
    mv /opt/haul /home/somebody/haul
    chown -R somebody: /home/somebody/haul
    cd /home/somebody/haul
    both sudo -u somebody -H
    ;;
  needs)
    cd /opt/haul
    ./bootstrap setup build test
    packages=$(sed -n "/^readonly needs='/,/^'/p" bootstrap |
      awk -F'|' '$1 ~ /^(build|test) *$/ { gsub(/ /, "", $4); print $4 }' | sort -u)
    failed=0
    for package in $packages; do
      DEBIAN_FRONTEND=noninteractive apt-get -q -y --autoremove remove "$package" >/tmp/log 2>&1 ||
        { tail -n 5 /tmp/log; exit 1; }
      ./bootstrap setup build test >/tmp/log 2>&1 || :
      said=$(grep -m 1 'installing with apt' /tmp/log) || said='it installed nothing'
      if dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed &&
        [ -z "$(./bootstrap setup build test 2>&1)" ]; then
        printf '%-22s is back: %s\n' "$package" "$said"
      else
        printf '%-22s IS NOT BACK: %s\n' "$package" "$said"
        tail -n 5 /tmp/log
        failed=1
      fi
    done
    exit "$failed"
    ;;
esac
