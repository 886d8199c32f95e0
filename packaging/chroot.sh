# shellcheck shell=sh
# chroot.sh - clean systems for trials, sourced by the scripts beside it. As root; needs debootstrap and a mirror.
# MIRROR: where packages come from; by default http://deb.debian.org/debian, and Ubuntu's of its suites.

# The system in FOLDER, which is made where it is not there, so that a second trial downloads none.
chroot_base() { # SUITE FOLDER PACKAGES
  [ ! -e "$2/usable" ] || return 0
  rm -rf --one-file-system -- "$2"
  case $1 in
    noble) set -- "$@" "${MIRROR:-http://archive.ubuntu.com/ubuntu}" main,universe ;;
    *) set -- "$@" "${MIRROR:-http://deb.debian.org/debian}" main ;;
  esac
  mkdir -p -- "$2"
  # The debootstrap of a Debian may not know the newest Ubuntu, all of which are made alike.
  [ "$1" != noble ] || [ -e /usr/share/debootstrap/scripts/noble ] || set -- "$@" gutsy
  debootstrap --variant=minbase --include="$3" --components="$5" "$1" "$2" "$4" ${6+"$6"} >"$2.log" 2>&1 ||
    { tail -- "$2.log"; return 1; }
  touch -- "$2/usable"
}

# A copy of it as it was. What names are resolved by is this machine's.
chroot_copy() { # FOLDER ROOT
  cp -a -- "$1" "$2"
  cp /etc/resolv.conf "$2/etc/resolv.conf"
}

# A command in there; what it mounts and starts ends with the namespaces.
chroot_run() { # ROOT COMMAND [ARGUMENT...]
  # shellcheck disable=SC2016 # the inner shell expands
  unshare --mount --pid --fork sh -eu -c '
    root=$1
    shift
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount --rbind /sys "$root/sys"
    exec chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb LC_ALL=C.UTF-8 "$@"' sh "$@"
}
