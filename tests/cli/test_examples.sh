#!/usr/bin/env bash
# docs/examples and the examples of docs/fleet.md that need other systems: their commands run, their metrics are those
# that haul writes, their YAML and JSON parse, and promtool and ansible agree where they are installed.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
examples=$source_folder/docs/examples
script() { # DOCUMENT NAME: the block "```LANGUAGE title=NAME"
  awk -v name="title=$2" '/^```/ { inside = !inside && $2 == name; next } inside' "$1" >"$2"
  [ -s "$2" ] || bad "$1 has no block $2"
}
mkdir bin
ln -s "$haul" bin/haul
export PATH=$scratch/bin:$PATH HAUL_DB=$scratch/results.db
small=$source_folder/tests/cli/small.toml
run_ok run "$small" --tag first --processes 2
run_ok baseline set good latest

begin 'the commands of the examples for continuous integration'
sed -n 's/^ *run: //p' "$examples/github-actions.yml" | sed 's/\${{ github\.sha }}/abc/g' >github.sh
sed -n 's/^ *- \(haul .*\)/\1/p' "$examples/gitlab-ci.yml" >gitlab.sh
for file in github gitlab; do
  sed -i "s| nvbandwidth | $small |; s|--processes 5|--processes 2|; s|haul check |&--fail-on broken |" $file.sh
  rm -f haul.html
  equal 3 "$(grep -c '^haul ' $file.sh)" 'commands'
  CI_COMMIT_SHA=def sh -e $file.sh >out 2>err </dev/null
  code=$?
  printf '%s' "$file.sh" >"$scratch/command"
  expect_code 0
  exists haul.html
done
equal 'def abc first' "$("$haul" query --format csv 'select tag from v_run order by run desc' | sed 1d | tr -d '\r' | paste -sd ' ' -)" 'tags'
if grep -q '<testsuite' haul.xml; then good; else bad 'haul.xml is no report of JUnit'; fi

begin 'the export of the examples, and every metric that they ask for'
script "$examples/README.md" export.sh
sed -i "s| nvbandwidth | $small |; s|--processes 5|--processes 2|" export.sh
TEXTFILES=$scratch sh -e export.sh >out 2>err </dev/null
code=$?
printf 'export.sh' >"$scratch/command"
expect_code 0
exists haul.prom
sed -n 's/.*X(FAMILY_[A-Z_]*, "\([a-z_]*\)".*/\1/p' "$source_folder/runner/render/export_prometheus.c" | sort >families
for file in haul.rules.yml grafana.json README.md; do
  asked=$(grep -oE 'haul_[a-z]+_[a-z_]+' "$examples/$file" | sort -u)
  equal '' "$(comm -23 <(echo "$asked") families)" "metrics of $file that haul does not write"
done
equal '' "$(comm -13 <(grep -oE 'haul_[a-z]+_[a-z_]+' "$examples/README.md" | sort -u) families)" 'metrics without a description'
asked=$(grep -ohE '\$labels\.[a-z_]+' "$examples/haul.rules.yml" | sed 's/.*\.//' | sort -u)
for label in $asked; do
  if grep -q "\"$label\"" "$source_folder/runner/render/export_prometheus.c"; then good; else bad "no metric has the label $label"; fi
done
if command -v promtool >/dev/null; then
  promtool check rules "$examples/haul.rules.yml" >out 2>&1 || bad "promtool check rules: $(cat out)"
  promtool check metrics <haul.prom >out 2>&1 || bad "promtool check metrics: $(cat out)"
  # The expressions of the dashboard, as rules.
  {
    printf 'groups:\n- name: dashboard\n  rules:\n'
    sed -n 's/^ *"expr": "\(.*\)",\{0,1\}$/\1/p' "$examples/grafana.json" | sed 's/\\"/"/g; s/\$[a-z]*/x/g; s/'\''/&&/g' |
      awk '{ printf "  - record: panel%d\n    expr: '\''%s'\''\n", NR, $0 }'
  } >dashboard.yml
  promtool check rules dashboard.yml >out 2>&1 || bad "an expression of the dashboard: $(cat out)"
  if grep -q '7 rules found' out; then good; else bad "not every panel was checked: $(cat out)"; fi
fi

begin 'YAML parses, the play is one, the job runs haul as it can be run'
script "$source_folder/docs/fleet.md" job.yaml
script "$source_folder/docs/fleet.md" haul.yml
python=$(for python in python3 /usr/bin/python3; do "$python" -c 'import yaml' 2>/dev/null && echo "$python" && break; done)
if [ -n "$python" ]; then
  for file in job.yaml haul.yml "$examples"/*.yml; do
    "$python" -c 'import sys, yaml; yaml.safe_load(open(sys.argv[1]))' "$file" >out 2>&1 || bad "$file: $(tail -n 2 out)"
  done
  # The arguments of the container and of the play.
  "$python" - >arguments <<'PYTHON'
import yaml
job = yaml.safe_load(open('job.yaml'))
play = yaml.safe_load(open('haul.yml'))
container = job['spec']['template']['spec']['containers'][0]
print(' '.join(container['args']))
print(' '.join(play[0]['tasks'][0]['ansible.builtin.command']['argv'][1:]))
PYTHON
  sed -i "s| nvbandwidth | $small |; s|\$(NODE)|gpu01|; s|{{ inventory_hostname }}|gpu02|; s|{{ groups.*}}|gpu[01-08]|
    s| /results | shards |; s| /var/tmp/haul | shards |" arguments
  while read -r line; do
    # shellcheck disable=SC2086 # words
    TMPDIR=$scratch run_ok $line
  done <arguments
  run_ok merge fleet.db shards
  expect_value '2 6' fleet.db "select sum(state = 'ok') || ' ' || sum(state = 'missing') from v_node"
else
  echo 'no python3 has the module yaml: YAML is not parsed, the job and the play are not run'
fi
if command -v ansible-playbook >/dev/null; then
  printf '[gpus]\nlocalhost ansible_connection=local\n' >hosts
  ansible-playbook -i hosts --syntax-check haul.yml >out 2>&1 || bad "the play: $(tail -n 5 out)"
fi

begin 'the dashboard is JSON with panels of different numbers'
shell() { sqlite3 :memory: "$1"; }
equal 1 "$(shell "select json_valid(readfile('$examples/grafana.json'))")" 'valid JSON'
equal '7 7' "$(shell "select count(*) || ' ' || count(distinct json_extract(value, '\$.id'))
  from json_each(readfile('$examples/grafana.json'), '\$.panels')")" 'panels'

begin 'metadata for Datasette: every view and column of the database'
run_ok schema datasette
cat >metadata.sql <<'SQL'
create temp table described as select t.key as name, c.key as "column"
  from json_each(readfile('out'), '$.databases.results.tables') t, json_each(t.value, '$.columns') c;
select group_concat(name || '.' || "column") from (
  select m.name, p.name as "column" from sqlite_master m, pragma_table_info(m.name) p where m.type = 'view'
  except select * from described);
select group_concat(name || '.' || "column") from (
  select * from described except
  select m.name, p.name from sqlite_master m, pragma_table_info(m.name) p where m.type = 'view');
select min(length(json_extract(value, '$.description')) > 14) from
  json_each(readfile('out'), '$.databases.results.tables');
select min(json_extract(value, '$.sql') like 'SELECT %' and length(json_extract(value, '$.title')) > 20) from
  json_each(readfile('out'), '$.databases.results.queries');
SQL
equal '||1|1' "$(sqlite3 results.db <metadata.sql | paste -sd '|' -)" 'missing, superfluous, descriptions, queries'
# Datasette's connection: read-only, parameters without a value.
sqlite3 :memory: "select json_extract(value, '\$.sql') || ';' from json_each(readfile('out'), '\$.databases.results.queries')" >queries.sql
sqlite3 -readonly -bail results.db <queries.sql >rows 2>&1 || bad "a query of the metadata: $(tail -n 1 rows)"
run_ok schema datasette --db /some/where/fleet.db
expect_out '^    "fleet": '

finish
