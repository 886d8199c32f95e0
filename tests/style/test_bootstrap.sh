#!/usr/bin/env bash
# test_bootstrap.sh ROOT - what bootstrap says and does where something is missing, with stand-ins
# for the programs that it calls. Nothing is installed or built.
# shellcheck disable=SC2016 # the stand-ins expand what is quoted here
set -euo pipefail
root=$1
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
failures=0

# A PATH of stand-ins. Everything is there at first: a compiler that finds every header, a new
# cmake, no root; apt-get logs what it is asked and then everything is installed.
fresh() {
  local program
  rm -rf "${scratch:?}/bin" "$scratch/calls" "$scratch/lacking"
  mkdir "$scratch/bin"
  for program in bash env sh dirname sort head sed grep paste tr mktemp rm cat id touch sleep tail; do
    ln -s "$(type -P "$program")" "$scratch/bin/$program"
  done
  stand_in cc 'while IFS= read -r line; do
    [ ! -e "$SCRATCH/lacking" ] || ! grep -qxF -- "$line" "$SCRATCH/lacking" || exit 1
  done'
  cp "$scratch/bin/cc" "$scratch/bin/c++"
  stand_in cmake 'echo "cmake version 3.28.3"'
  stand_in ninja 'exit 0'
  stand_in pkg-config 'exit 0'
  stand_in xz 'exit 0'
  stand_in sqlite3 'exit 0'
  stand_in zsh 'exit 0'
  stand_in fish 'exit 0'
  stand_in python3 'exit 0'
  stand_in id 'echo 0'
  stand_in apt-get 'echo "$*" >>"$SCRATCH/calls"; rm -f "$SCRATCH/lacking"'
}

stand_in() { # NAME BODY
  rm -f "$scratch/bin/$1"
  printf '#!/bin/sh\n%s\n' "$2" >"$scratch/bin/$1"
  chmod +x "$scratch/bin/$1"
}

lacks() { printf '#if !__has_include(<%s>)\n' "$1" >>"$scratch/lacking"; }

bootstrap() { # ARGUMENT...: rc in $code, everything it says in $said
  code=0
  said=$(env -i PATH="$scratch/bin" SCRATCH="$scratch" BOOTSTRAP_LOCK_SECONDS=0 TMPDIR="$scratch" \
    "$scratch/bin/bash" "$root/bootstrap" "$@" </dev/null 2>&1) || code=$?
}

expect() { # CODE REGEX
  if [ "$code" != "$1" ] || ! grep -qE -- "$2" <<<"$said"; then
    printf 'line %s: wanted %s and /%s/, got %s:\n%s\n' "${BASH_LINENO[0]}" "$1" "$2" "$code" "$said"
    failures=$((failures + 1))
  fi
}

expect_calls() { # REGEX, or nothing for no call of apt-get
  local calls=''
  [ ! -e "$scratch/calls" ] || calls=$(cat "$scratch/calls")
  if [ $# -eq 0 ] && [ -z "$calls" ]; then
    return
  fi
  if [ $# -eq 0 ] || ! grep -qE -- "$1" <<<"$calls"; then
    printf 'line %s: apt-get was called: %s\n' "${BASH_LINENO[0]}" "$calls"
    failures=$((failures + 1))
  fi
}

fresh
bootstrap --help
expect 0 '^usage: '
bootstrap
expect 2 '^usage: '
bootstrap fly
expect 2 "no verb 'fly'"
bootstrap build --fast
expect 2 'no option --fast'
bootstrap build -j 0
expect 2 'a number from 1 up'
bootstrap build --preset
expect 2 'needs a value'
bootstrap build --all
expect 2 '--all is an option of test'
bootstrap build extra
expect 2 "no argument 'extra'"
bootstrap test extra
expect 2 "no argument 'extra'"
bootstrap setup everything
expect 2 "not 'everything'"

# Nothing missing: nothing installed, whoever asks.
fresh
stand_in id 'echo 1000'
bootstrap setup test
expect 0 '^$'
expect_calls

# The test packages are for tests alone.
fresh
lacks cmocka.h
bootstrap setup build
expect 0 '^$'
expect_calls
bootstrap setup test
expect 0 'installing with apt: libcmocka-dev$'
expect_calls 'install --no-install-recommends libcmocka-dev$'

# So are Slurm and the tools of packages; several kinds are installed at once.
fresh
stand_in apt-get 'echo "$*" >>"$SCRATCH/calls"
  for name in ps slurmctld slurmd srun dpkg-shlibdeps lintian; do ln -sf /bin/true "$SCRATCH/bin/$name"; done'
ln -s "$(type -P ln)" "$scratch/bin/ln"
bootstrap setup fleet
expect 0 'installing with apt: procps slurm-wlm$'
rm "$scratch/bin/lintian" "$scratch/bin/srun"
bootstrap setup test
expect 0 '^$'
bootstrap setup package fleet
expect 0 'installing with apt: lintian slurm-wlm$'
bootstrap setup fleet everything
expect 2 "not 'everything'"

# CMake finds the libraries by pkg-config.
fresh
stand_in apt-get 'echo "$*" >>"$SCRATCH/calls"; ln -sf /bin/true "$SCRATCH/bin/pkg-config"'
rm "$scratch/bin/pkg-config"
ln -s "$(type -P ln)" "$scratch/bin/ln"
bootstrap setup build
expect 0 'installing with apt: pkg-config$'
expect_calls 'install --no-install-recommends pkg-config$'

# Neither root nor sudo; a sudo that wants a password where nobody can type one; a sudo that works.
fresh
lacks numa.h
stand_in id 'echo 1000'
bootstrap setup build
expect 1 'not root and there is no sudo.*apt-get install libnuma-dev'
stand_in sudo 'exit 1'
bootstrap setup build
expect 1 'sudo asks for a password.*sudo apt-get install libnuma-dev'
expect_calls
stand_in sudo '[ "$1" != -n ] || shift; exec "$@"'
ln -s "$(type -P true)" "$scratch/bin/true"
bootstrap setup build
expect 0 'installing'
expect_calls 'install --no-install-recommends libnuma-dev$'

# No network; sources that lack a package; a lock that somebody holds; an install that helps nothing.
fresh
lacks numa.h
stand_in apt-get 'echo "E: Unable to locate package libnuma-dev"; exit 100'
bootstrap setup build
expect 1 'no network.*Missing packages: libnuma-dev'
stand_in apt-get 'case "$*" in *update*) exit 0 ;; esac
  echo "E: Failed to fetch http://x Temporary failure resolving"; exit 100'
bootstrap setup build
expect 1 'no network.*Missing packages: libnuma-dev'
stand_in apt-get 'case "$*" in *update*) exit 0 ;; esac
  echo "E: Unable to locate package libnuma-dev"; exit 100'
bootstrap setup build
expect 1 "lack some of: libnuma-dev.*universe"
stand_in apt-get 'echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7"; exit 100'
bootstrap setup build
expect 1 'still holds the lock'
stand_in apt-get 'exit 0'
bootstrap setup build
expect 1 'still missing after the installation: libnuma-dev'

# Systems without apt.
fresh
lacks numa.h
lacks toml++/toml.h
rm "$scratch/bin/apt-get"
stand_in dnf 'exit 0'
bootstrap setup build
expect 1 'dnf install numactl-devel tomlplusplus-devel'
rm "$scratch/bin/dnf"
stand_in pacman 'exit 0'
bootstrap setup build
expect 1 'pacman -S --needed numactl tomlplusplus'

fresh
rm "$scratch/bin/apt-get"
stand_in cc 'case $1 in -print-file-name=*) echo "${1#*=}" ;; *) cat >/dev/null ;; esac'
bootstrap setup portable
expect 1 'what Debian calls libjansson-dev libnuma-dev libsqlite3-dev libxxhash-dev$'

fresh
rm "$scratch/bin/apt-get"
bootstrap setup aarch64
expect 1 'what Debian calls g\+\+-aarch64-linux-gnu gcc-aarch64-linux-gnu qemu-user$'

# A cmake that is too old, and stays so.
fresh
stand_in cmake 'echo "cmake version 3.22.1"'
bootstrap setup build
expect 1 'cmake is still 3.22.1'
expect_calls 'install --no-install-recommends cmake$'

[ "$failures" = 0 ]
