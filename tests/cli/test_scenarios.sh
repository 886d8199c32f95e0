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
run validate empty.toml
expect_code 2
expect_err '^empty\.toml(:[0-9]+:[0-9]+)?: error: '
truncate -s 100M large.toml
run validate large.toml
expect_one_error 2 'large\.toml'
head -c 65536 /dev/urandom >binary.toml
run validate binary.toml
expect_one_error 2 'binary\.toml'
printf 'name = "x\xff"\n' >latin.toml
run validate latin.toml
expect_one_error 2 'latin\.toml:1'
printf 'include = ["b.toml"]\n' >a.toml
printf 'include = ["a.toml"]\n' >b.toml
run validate a.toml
expect_code 2
expect_err 'a\.toml.*include|include.*(cycle|itself)|cycle'
printf 'name = [[[[' >broken.toml
run validate broken.toml
expect_one_error 2 'broken\.toml:1'
mkdir folder
run validate folder
expect_one_error 2 'no scenario .*folder'
run validate no-such.toml
expect_one_error 2 'no-such\.toml: no such file'
if [ "$(id -u)" -ne 0 ]; then
  "$haul" show quick >secret.toml
  chmod 000 secret.toml
  run validate secret.toml
  expect_one_error 2 'secret\.toml.*ermission denied'
fi
run validate /dev/null
expect_code 2

begin '--set is checked like the file'
run validate quick --set measure.max_time=20ms
expect_code 0
run validate quick --set measure.max_tiem=20ms
expect_code 2
expect_err 'max_time'
run validate quick --set measure.max_time=soon
expect_code 2
run plan quick --processes 0
expect_code 2

begin '--only that matches nothing'
run plan quick --only 'no-such-*'
expect_one_error 2 'no-such-'

begin 'machines that are wrong'
run plan quick --machine no-such.toml
expect_one_error 2 'no-such\.toml'
printf 'what = 1\n' >machine.toml
run plan quick --machine machine.toml
expect_one_error 2 'machine\.toml:1'

begin 'plan for another machine'
run plan quick --machine "$source_folder/tests/machines/h100x8-nvlink.toml" --format jsonl
expect_code 0
equal 56 "$(grep -Eo '"gpu[0-7](:device)?-gpu[0-7](:device)?"' "$scratch/out" | sort -u | grep -Evc 'gpu([0-7]).*gpu\1')" 'ordered GPU pairs'

begin 'a machine saved is the machine loaded'
run env --save here.toml
expect_code 0
exists here.toml
run env --machine here.toml
expect_code 0
run plan quick --machine here.toml
expect_code 0
run env --json
expect_code 0
run env --format csv
expect_code 0
expect_out '^gpu,name,state,value'
run env --save /no/such/folder/x.toml
expect_one_error 2 '/no/such/folder'

finish
