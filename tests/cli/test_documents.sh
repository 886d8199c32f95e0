#!/usr/bin/env bash
# What documents show behind "$ haul ..." is what that command prints now, but for dates, durations and the name of the host. A line
# "..." stands for any lines. With UPDATE=1, blocks without such a line are written anew.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
skip_emulated 'has clocks of its own'
fake_driver h200x4 || exit 77
mkdir bin
ln -s "$haul" bin/haul
ln -s "$source_folder/tests" tests
export PATH=$scratch/bin:$PATH HAUL_DB=$scratch/fake.db

without_names() {
  sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}( to [0-9: -]*[0-9])? UTC/DATE/; s/ host [^ ;]+;/ host HOST;/
    s/about [0-9.]+ m?s per side/about SOME s per side/'
}
# The lines behind a command, without those, or with the file `out` in their place.
block() { # DOCUMENT COMMAND MODE: shown, or new
  awk -v command="\$ $2" -v mode="$3" '
    /^ *```/ { inside = 0 }
    inside == (mode == "shown")
    index($0, command) == 1 && substr($0, length(command) + 1) ~ /^( +#.*)?$/ {
      inside = 1
      while (mode == "new" && (getline line <"out") > 0) print line
    }' "$source_folder/$1"
}
shows() { # DOCUMENT COMMAND
  begin "$1: $2"
  rm -f command
  eval "$2" >out 2>err </dev/null
  if [ -n "${UPDATE:-}" ] && ! block "$1" "$2" shown | grep -qxF ...; then
    block "$1" "$2" new >document
    cat document >"$source_folder/$1"
  fi
  block "$1" "$2" shown | without_names >expected
  without_names <out >printed
  if [ -s expected ] && awk '
    NR == FNR { expected[++count] = $0; next }
    {
      while (at < count && expected[at + 1] == "...") { any = 1; at++ }
      if (at < count && expected[at + 1] == $0) { at++; any = 0 } else if (!any) { wrong = 1; exit }
    }
    END { while (expected[at + 1] == "...") at++; exit (wrong || at < count) }' expected printed
  then good; else bad "it prints something else: $(diff expected printed)"; fi
}
script() { # DOCUMENT NAME: the block "```sh title=NAME"
  awk -v name="title=$2" '/^```/ { inside = !inside && $2 == name; next } inside' "$source_folder/$1" >"$2"
  # shellcheck source=/dev/null
  . "./$2" >out 2>err </dev/null || bad "$1: $2 failed: $(cat err)"
}

shows docs/EXPLAIN.md 'haul explain --machine tests/machines/l40sx4-pcie.toml'
script tests/fake_cuda/README.md two-drivers.sh
shows docs/COMPARE.md 'haul diff tag:before tag:after'
shows docs/COMPARE.md "haul plan quick --only 'device_to_device*' --compare tag:before --detect 1%"
shows README.md 'haul diff tag:before tag:after'

rm -f "$HAUL_FAKE_PROCESSES" "$HAUL_DB"
script docs/EXPECT.md expect.sh
shows docs/EXPECT.md 'haul check --expect=mine.toml'
shows tests/fake_cuda/README.md 'HAUL_FAKE_FAULTS=$PWD/tests/fake_cuda/faults/half-speed-link.toml haul run quick --only "host_to_device/*pinned*"'

begin 'the node of docs/fleet.md'
rm -f "$HAUL_FAKE_PROCESSES"
run run health --db health.db
"$haul" expect learn --db health.db >usual.toml 2>err
export HAUL_FAKE_FAULTS=$faults/half-speed-link.toml
shows docs/fleet.md 'haul run health -q --expect usual.toml'
unset HAUL_FAKE_FAULTS

xz -dc "$source_folder/docs/results/data/h200-nvbandwidth.db.xz" >recorded.db
HAUL_DB=$scratch/recorded.db
shows docs/EXPECT.md 'haul check --expect'
shows README.md 'haul show latest'

begin 'the picture of README'
if command -v python3 >/dev/null && command -v script >/dev/null; then
  folder=.
  [ -z "${UPDATE:-}" ] || folder=
  # shellcheck disable=SC2086 # none with UPDATE
  python3 "$source_folder/docs/pictures/make.py" "$haul" $folder || bad 'docs/pictures/make.py fails'
  [ -z "$folder" ] || equal '' "$(diff "$source_folder/docs/pictures/terminal.svg" terminal.svg)" 'terminal.svg'
fi

begin 'each scenario of the documents has cases on this machine, and skips none'
mkdir scenarios
for document in README.md schema/scenario/README.md docs/FINDINGS.md; do
  awk -v name="scenarios/$(echo "$document" | tr / -)-" '
    /^```/ { inside = $0 == "```toml"; count += inside; next }
    inside { print >(name count ".toml") }' "$source_folder/$document"
done
for scenario in scenarios/*.toml; do
  run_ok plan "$scenario"
  reject_out 'skipped'
done
equal 12 "$(ls scenarios | wc -l)" 'scenarios'

finish
