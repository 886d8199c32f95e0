#!/usr/bin/env bash
# The case_key of every case of every shipped scenario on every recorded machine is what it was: a
# history stays one history. tests/data/case_keys.txt holds a digest of names, paths and keys for
# each scenario and machine. A change that measures differently raises a method version, which
# changes keys on purpose; then: test_case_keys.sh HAUL SOURCE BUILD --update, and the commit says why.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
golden=$source_folder/tests/data/case_keys.txt

# MACHINE SCENARIO CASES DIGEST, a line for each plan: all scenarios are planned at once.
digests() {
  local machine
  mapfile -t scenarios < <("$haul" list scenarios --format jsonl | sed 's/.*"name":"\([^"]*\)".*/\1/')
  scenarios+=(tests/fuzz/scenario/everything.toml)
  mkdir keys
  for machine in "$source_folder"/tests/machines/*.toml; do
    rm -f keys/*
    (cd -- "$source_folder" && exec "$haul" plan "${scenarios[@]}" --machine "$machine" --json) 2>"$scratch/err" |
      sed -n 's/^{"schema":"haul.plan\/1","scenario":.*/scenario/p
        s/^{"case":\("[^"]*"\),.*"path":\("[^"]*"\),.*"case_key":\("[0-9a-f]\{32\}"\).*/\1 \2 \3/p' |
      awk '$0 == "scenario" { file = sprintf("keys/%04d", count++); printf "" >file; next } { print >file }'
    equal "${#scenarios[@]}" "$(find keys -type f | wc -l)" "scenarios planned for $machine" >&2
    paste -d ' ' <(printf '%s\n' "${scenarios[@]}") <(wc -l keys/* | awk '$2 != "total" { print $1 }') \
      <(sha256sum keys/* | cut -c 1-16) | sed "s|^|$(basename "$machine" .toml) |"
  done
}

begin 'case keys'
digests >"$scratch/digests"
if [ "${4-}" = --update ]; then
  cp "$scratch/digests" "$golden"
fi
if [ "$(awk '{ cases += $3 } END { print cases }' "$scratch/digests")" -gt 10000 ]; then
  good
else
  bad 'the plans hold fewer than 10,000 cases: they were not read as they are written'
fi
while read -r machine scenario rest; do
  if grep -qxF -- "$machine $scenario $rest" "$golden"; then
    good
  else
    bad "$scenario on $machine: cases and digest are $rest"
  fi
done <"$scratch/digests"
if [ "$(wc -l <"$scratch/digests")" -eq "$(wc -l <"$golden")" ]; then
  good
else
  bad "a scenario or a machine came or went: $golden has another number of lines"
fi

finish
