# common.sh - what the rule scripts share; to be sourced.
set -eu
LC_ALL=C
export LC_ALL

rule_folder=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
# shellcheck disable=SC2034 # for the scripts that source this
readonly rule_folder

# The sources below the current folder whose names match one of the patterns, sorted. Build folders
# and hidden ones are no sources, nor is test data, which may break rules on purpose.
sources() { # PATTERN...
  expression=''
  for pattern in "$@"; do
    expression="$expression -o -name $pattern"
  done
  set -f
  # shellcheck disable=SC2086 # patterns become words
  find . \( -name '.?*' -type d -o -name 'build*' -type d -o -name data -type d \) -prune \
    -o \( ${expression# -o } \) -type f -print | sed 's,^\./,,' | sort
  set +f
}

# End with 1, and say how many, when FILE has lines; they are what broke the rule.
verdict() { # FILE RULE
  if [ -s "$1" ]; then
    cat "$1"
    echo "$(grep -c '' "$1") places break the rule: $2" >&2
    exit 1
  fi
}

scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
