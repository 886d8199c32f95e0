#!/usr/bin/env bash
# Scenarios that are wrong: every mistake is told, with its place, and nothing else happens.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"

begin 'ten mistakes are ten errors'
cat >ten.toml <<'TOML'
schema_version = 1
name = "ten"
descripton = "an unknown key"

[measure]
procesess = 2
max_time = "2parsecs"
precision = -1

[checks]
governer = { want = "performance" }

[[transfer]]
name = "a b"
method = "dma"
from = { numa = 0, memory = "pined" }
to = { gpu = "all" }
size = "64XB"
TOML
for verb in validate run plan; do
  run $verb ten.toml
  expect_code 2
  equal 10 "$(grep -c ': error: ' "$scratch/err")" 'number of errors'
  for place in 3:1 6:1 7:12 8:13 11:1 14:8 15:10 16:29 17:14 18:8; do
    expect_err "^ten\.toml:$place: error: "
  done
  expect_err 'description'
  expect_err 'processes'
  expect_err 'governor'
  expect_err 'pinned'
  equal '' "$(cat "$scratch/out")" stdout
done
missing "$scratch/data"
run run ten.toml --db results.db
missing results.db

begin 'one wrong file of a batch keeps all from being measured'
mkdir batch
cp ten.toml batch/b.toml
"$haul" show quick >batch/a.toml
run run batch --db results.db
expect_code 2
missing results.db

begin 'files that are no scenario'
: >empty.toml
run_fails 2 '^empty\.toml(:[0-9]+:[0-9]+)?: error: ' validate empty.toml
truncate -s 100M large.toml
run_error 2 'large\.toml' validate large.toml
head -c 65536 /dev/urandom >binary.toml
run_error 2 'binary\.toml' validate binary.toml
printf 'name = "x\xff"\n' >latin.toml
run_error 2 'latin\.toml:1' validate latin.toml
printf 'include = ["b.toml"]\n' >a.toml
printf 'include = ["a.toml"]\n' >b.toml
run_fails 2 'a\.toml.*include|include.*(cycle|itself)|cycle' validate a.toml
printf 'name = [[[[' >broken.toml
run_error 2 'broken\.toml:1' validate broken.toml
mkdir folder
run_error 2 'no scenario .*folder' validate folder
run_error 2 'no-such\.toml: no such file' validate no-such.toml

begin 'a shipped name beside a file of that name'
printf '\177ELF' >quick
run_ok validate quick
run_error 2 '^./quick:1:1: error: control character' validate ./quick
printf 'name = 1\n' >quick.toml
run_fails 2 'quick\.toml:1:1' validate quick.toml
rm quick quick.toml
if [ "$(id -u)" -ne 0 ]; then
  "$haul" show quick >secret.toml
  chmod 000 secret.toml
  run_error 2 'secret\.toml.*ermission denied' validate secret.toml
fi
run validate /dev/null
expect_code 2

begin '--set is checked like the file'
run_ok validate quick --set measure.max_time=20ms
run_fails 2 'max_time' validate quick --set measure.max_tiem=20ms
run validate quick --set measure.max_time=soon
expect_code 2
run plan quick --processes 0
expect_code 2

begin '--only that matches nothing'
run_error 2 'no-such-' plan quick --only 'no-such-*'

begin 'machines that are wrong'
run_error 2 'no-such\.toml' plan quick --machine no-such.toml
printf 'what = 1\n' >machine.toml
run_error 2 'machine\.toml:1' plan quick --machine machine.toml

begin 'plan for another machine'
run_ok plan quick --machine "$source_folder/tests/machines/h100x8-nvlink.toml" --format jsonl
equal 56 "$(grep -Eo '"gpu[0-7](:device)?-gpu[0-7](:device)?"' "$scratch/out" | sort -u | grep -Evc 'gpu([0-7]).*gpu\1')" 'ordered GPU pairs'

begin 'a plan of which every case is skipped'
for format in table json csv; do
  run plan energy --machine "$source_folder/tests/machines/no-gpu.toml" --format "$format"
  expect_code 3
done
run plan energy --machine "$source_folder/tests/machines/no-gpu.toml"
equal 'nothing to measure: every case is skipped' "$(head -n 1 out)" 'the first line'
run_ok plan comm-scope --machine "$source_folder/tests/machines/gh200.toml"
expect_err '^haul: comm-scope/fig08\.toml has nothing to measure here: needs two GPUs, this machine has 1$'
equal 1 "$(grep -c 'has nothing to measure' "$scratch/err")" 'scenarios with nothing to measure'
run plan energy comm-scope/fig08 --machine "$source_folder/tests/machines/no-gpu.toml"
expect_code 3
reject_err 'has nothing to measure'
run_ok plan quick energy --machine "$source_folder/tests/machines/h100x8-nvlink.toml"
reject_out 'nothing to measure'

begin 'a machine saved is the machine loaded'
run_ok env --save here.toml
exists here.toml
run_ok env --machine here.toml
run_ok plan quick --machine here.toml
run_ok env --json
run_ok env --format csv
expect_out '^gpu,name,state,value'
run_error 2 '/no/such/folder' env --save /no/such/folder/x.toml

begin 'folders are searched with the folders in them'
mkdir -p tree/a/b tree/.hidden
cp "$source_folder/tests/cli/small.toml" tree/z.toml
cp "$source_folder/tests/cli/small.toml" tree/a/b/x.toml
cp "$source_folder/tests/cli/small.toml" tree/.hidden/y.toml
printf 'schema_version = 1\nname = "shared"\n[measure]\nwarmup = 2\n' >tree/a/shared.toml
ln -s .. tree/a/up
run_ok validate tree
equal 'tree/z.toml tree/a/b/x.toml ' "$(sed -n 's/^haul: \(tree.*\) is valid.*/\1/p' err | tr '\n' ' ')" 'scenarios found'
expect_err '[a-z./]+\.toml is left out: no block to measure in it'
printf 'schema_version = 1\nname = "bad"\n[transfer]\n' >tree/a/bad.toml
run_fails 2 'tree/a/bad.toml:3:2: error: "transfer" must be written as \[\[transfer\]\]' validate tree
rm -r tree/z.toml tree/a/b tree/a/bad.toml
run_error 2 'no block to measure in tree/a/shared\.toml$' validate tree
rm tree/a/shared.toml
run_error 2 'no scenario \(\*.toml\) in the folder tree or below it' validate tree

begin 'a scenario from standard input'
"$haul" show quick 2>/dev/null | "$haul" validate - >out 2>err
equal 0 "$?" 'exit code'
expect_err 'standard input is valid: 7 blocks'
printf 'schema_version = 1\nname = "bad"\n[transfer]\n' | "$haul" validate - >out 2>err
equal 2 "$?" 'exit code'
expect_err '^<stdin>:3:2: error: '

begin 'plan -v shows settings, loads and checks'
machine=$source_folder/tests/machines/h200x4.toml
run_ok plan nvbandwidth --machine "$machine" -t host_to_device_bidirectional_memcpy_ce device_local_copy -v
expect_out '^Settings of device_local_copy: 6 to 60 trials, until \+/- 0.2 % or 100ms; 1 for warm-up; each lasts 8ms; verify once; '
run_ok plan quick --machine "$machine" --only host_to_device --set measure.host_cache=flushed -v
expect_out '^Settings of host_to_device: .*; one copy per trial, because of host_cache; '
reject_out 'each lasts'
scenario both '[checks]; throttling = { want = "none" }; cache_flush = { want = "proven" }; gpu_name = { want = "*H200*" }' \
  'a | { numa = 0 } | { numa = 0 } | 4096 | method = "cpu"; host_cache = ["warm", "flushed"]'
run_ok plan both.toml --machine "$machine" -v
expect_out '^Settings of a: .*; host_cache warm or host_cache flushed; device_cache warm; gate on'
expect_out '^  throttling: wanted none, not checked now: a run looks at it while it measures; '
expect_out '^  cache_flush: wanted proven, not checked now: a run proves it before it measures; '
run_ok plan both.toml --machine "$source_folder/tests/machines/no-gpu.toml" -v
expect_out '^  gpu_name: wanted [^,]*, not checked: there is no GPU; '
run_ok plan nvbandwidth --machine "$machine" -t host_to_device_bidirectional_memcpy_ce device_local_copy -v
expect_out '^  host_to_device_bidirectional_memcpy_ce beside gpu0 -> numa0:pinned by ce, 384MiB, started by the source \(its first'
expect_out '^  gpu_idle: wanted true, found [^;]*; on failure warn, if unknown '
equal 1 "$(grep -c ' beside ' out)" 'blocks with a load'
run_ok plan nvbandwidth --machine "$machine" -t 0
if grep -q '^Settings' out; then bad 'settings without -v'; else good; fi

begin 'the same measurement'
same='{ numa = 0 } | { numa = 0 } | 4096 | method = "cpu"; pairs = "same"'
scenario twice '' "a | $same" "b | $same" "c | $same; max_time = \"1s\""
run_ok plan twice.toml --machine "$machine"
expect_out 'b/numa0:.* is the same measurement as a/numa0'
expect_out 'c/numa0:.* is measured with the settings of a/numa0'

begin 'docs/SOURCES.md has every scenario and the queries that belong to one'
run_ok list scenarios --format csv
mapfile -t names < <(sed -n '2,$s/,.*//p' "$scratch/out")
equal true "$([ "${#names[@]}" -gt 10 ] && echo true)" 'more than ten scenarios'
for name in "${names[@]}"; do
  grep -qF "\`scenarios/$name.toml\`" "$source_folder/docs/SOURCES.md" ||
    bad "docs/SOURCES.md does not name scenarios/$name.toml"
done
while read -r query; do
  query=${query#"$source_folder"/}
  grep -qF "\`$query\`" "$source_folder/docs/SOURCES.md" || bad "docs/SOURCES.md does not name $query"
done < <(grep -lE "r\.scenario (= '|GLOB|IN)" "$source_folder"/schema/results/queries/*.sql)

begin 'every item of a source says where it is, and its scenario names the table or figure'
# A row: item, where, difference. Its header and the line below are none.
rows=0
while IFS='|' read -r _ item where difference _; do
  rows=$((rows + 1))
  [ -n "${where// /}${difference// /}" ] || bad "docs/SOURCES.md: nothing of $item"
  case $item in *[Tt]able* | *[Ff]igure*) ;; *) continue ;; esac
  while read -r file; do
    grep -qiE '^#.*(table|figure)' "$source_folder/$file" ||
      bad "$file does not say of which table or figure it is:$item"
  done < <(grep -oE 'scenarios/[a-z0-9/-]+\.toml' <<<"$where")
done < <(sed -n '/^## /,$p' "$source_folder/docs/SOURCES.md" | grep -E '^\| ' | grep -vE '^\| (item|---)')
equal true "$([ "$rows" -gt 40 ] && echo true)" 'more than forty items of sources'

finish
