#!/bin/sh
# includes.sh ROOT - every include obeys includes.rules, and names a project header by its path from
# the root, in quotes.
set -eu
# shellcheck source=tests/style/common.sh
. "$(dirname -- "$0")/common.sh"
cd -- "$1"

sources '*.c' '*.h' '*.cpp' '*.hpp' '*.cu' '*.cuh' | grep -v '^tests/' >"$scratch/files" || true
[ -s "$scratch/files" ] || { echo "no sources in $1" >&2; exit 1; }
xargs grep -nHE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]' <"$scratch/files" \
  >"$scratch/includes" || true

awk -v rules="$rule_folder/includes.rules" '
  function trim(text) {
    gsub(/^ +| +$/, "", text)
    return text
  }
  # Fields are parted by " | ": a bar without blanks belongs to a regular expression.
  BEGIN {
    while ((getline line < rules) > 0) {
      if (line ~ /^#/ || line == "")
        continue
      if (split(line, field, / +\| +/) != 4) {
        print rules ": not a rule: " line
        continue
      }
      count++
      verb[count] = trim(field[1])
      paths[count] = field[2]
      includes[count] = field[3]
      why[count] = trim(field[4])
    }
    if (count == 0)
      print rules ": no rules"
  }
  {
    match($0, /:[0-9]+:/)
    file = substr($0, 1, RSTART - 1)
    place = substr($0, 1, RSTART + RLENGTH - 2)
    match($0, /["<][^">]*/)
    quoted = substr($0, RSTART, 1) == "\""
    name = substr($0, RSTART + 1, RLENGTH - 1)
    for (i = 1; i <= count; i++) {
      at = file ~ paths[i]
      if (name ~ includes[i] && (verb[i] == "never" ? at : !at))
        print place ": must not include " name ": " why[i]
    }
    if (quoted && (getline ignored < name) < 0)
      print place ": there is no " name " from the root of the project"
    if (quoted)
      close(name)
  }' "$scratch/includes" >"$scratch/found"
verdict "$scratch/found" "includes go one way (tests/style/includes.rules)"
