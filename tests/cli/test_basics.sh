#!/usr/bin/env bash
# Help, version, mistakes on the command line, completion, output that nobody reads.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"

begin 'help and version'
run_ok --help
for verb in run plan validate show env list query report schema completion; do
  expect_out "^  $verb "
  run_ok $verb --help
  expect_out "^Usage: haul $verb "
  expect_out '--db=FILE'
  run --help
done
run_ok --help
equal '' "$(awk 'length > 80' out)" 'lines wider than a terminal'
run_ok diff --help # the longest, and whole
equal '' "$(grep -E '^[a-z]+$|^.{81}' out)" 'lines that are broken in the middle, or too long'
expect_out 'the database cannot be read\.$'
run_ok help run
expect_out '^Usage: haul run '
run_ok --version
expect_out '^haul [0-9]+\.[0-9]+\.[0-9]+$'
expect_out '^kernels: PTX(; machine code for [0-9 ]+ by nvcc [0-9.]+)?$'
expect_out '^SQLite 3\.'
run
expect_code 2
expect_err '^Usage: haul VERB'

begin 'list without a word lists runs'
run list --db none.db
mv out first
expect_code 2
run list runs --db none.db
equal "$(cat first)" "$(cat out)" 'list and list runs'
expect_err 'there are no results at none.db yet'
begin 'mistakes on the command line'
run_error 2 'unknown verb "rnu": did you mean "run"' rnu
run_error 2 'unknown verb "frobnicate"' frobnicate
run_error 2 'unknown option "--db"' --db x run
run_fails 2 'missing argument: SCENARIO' run
run_fails 2 'no-such-option' run --no-such-option
run_error 2 'unknown option "--onyl": did you mean "--only"' run quick --onyl x
run_error 2 'unknown option "--precison": did you mean "--set measure.precision=VALUE"' run quick --precison 1
run_error 2 '^haul: error: --resume needs RUN\. See haul run --help$' run --resume
run_error 2 '^haul: error: --list takes no value\. See haul run --help$' run --list=3
run_error 2 '^haul: error: -o needs FILE\. See haul export --help$' export csv -o
run_error 2 'unknown option "-x"' list -x
run_fails 2 'See haul list --help$' list runs --precison
run_error 2 'unknown option "-json": did you mean "--json"' list runs -json
run_error 2 'unknown option "--formt=csv": did you mean "--format"' list runs --formt=csv
run_ok list queries -qv --forma csv
run_ok list queries --color never
run_error 2 'did you mean "transfer.size"' validate quick --set size=1
run_fails 2 '"stream.size": this scenario has no \[\[stream\]\]' validate quick --set stream.size=1
expect_err 'expected a key of transfer, chase'
reject_err 'did you mean "stream'
run_fails 2 'expected trials = \{ max = 20 \}: a table with one of: min, max' validate quick --set measure.trials=20
run_fails 2 '"h2d": from a host to a GPU is from = \{ numa = "local" \}' validate quick --set transfer.method=h2d
run_fails 2 'h2d is not a scenario: from a host to a GPU is .*; haul copy makes one' run h2d
run_error 2 'unknown option "--sise": did you mean "--size"' copy --sise 1MiB
begin 'run --list'
run_ok run --list --format csv
expect_out '^quick,'
run_ok run -l quick --only 'host_to_host' --db none.db
expect_out '^host_to_host +numa'
missing none.db
begin 'mistakes on the command line'
run_fails 2 'did you mean "table"' list runs --format tabel
run_fails 2 'did you mean "runs"' list rnus
run_fails 2 'KEY=VALUE' run quick --set trials
run_fails 2 'whole number' run quick --processes x
run_fails 2 'resume' run quick --resume latest
run_error 2 'did you mean "quick"' validate quikc
run_error 2 'did you mean "quick"' show quikc
missing "$scratch/data"

begin 'shipped scenarios'
run_ok list scenarios
expect_out '^ *quick '
run_ok list scenarios --json
expect_out '"name": ?"quick"'
run_ok show quick
expect_out '^\[\[transfer\]\]'
if grep -q '#:schema' out; then bad 'a path of the source tree is shown'; else good; fi
equal "$(sed 1d "$source_folder/scenarios/quick.toml" | cksum)" "$(cksum <out)" 'the rest as it is shipped'
run_ok schema -h
expect_out '#:schema ./scenario.schema.json'
run_ok env -h
expect_out 'json holds everything, csv and jsonl have one row per fact'
run_ok validate quick

begin 'every shipped scenario is valid'
for name in $("$haul" list scenarios --format csv | tr -d '\r' | sed -n '2,$s/,.*//p'); do
  run_ok validate "$name"
done

begin 'saved queries and schemas'
run_ok list queries
expect_out 'run-table'
run_ok schema scenario
expect_out '"\$schema"'
run_ok schema results
expect_out 'CREATE VIEW v_case'
for view in $(sed -n 's/^CREATE VIEW \(v_[a-z_]*\).*/\1/p' out); do
  run_ok schema "$view"
  expect_out '^    [a-z_0-9]+ +[^ ]'
  reject_out '  (\([^)]*\) )?as in v_'
done
run_ok schema views
expect_out '^    v_result           One row per case of a run: begin here\.$'
expect_out '^    v_step             One row per size at which a rate is more than 20 % below .*\.$'
equal "$(grep -c '^## v_' "$source_folder/schema/results/README.md")" "$(wc -l <out)" 'views'
run_ok schema v_result
expect_out '^    size_bytes +\(bytes\) Transfer: size of the first measured flow. Chase: '
run_ok schema v_host
expect_out '^    driver_version +version of the NVIDIA kernel driver: .580\.159\.04., of its last run[.] NULL: no driver$'
run_ok schema run-blocks
expect_out '^Columns: block, cases, ok, '
expect_out '^    :run                      the run to show \(default: latest\)$'
run_fails 2 'there is no schema "v_cas" \(did you mean "v_case"\?\): scenario, results, views, datasette, a view such as' schema v_cas

begin 'completion'
run_ok completion bash
if bash -n "$scratch/out"; then good; else bad 'bash does not take it'; fi
run_error 2 'unknown output "tcsh": one of bash, zsh, fish, man. See haul completion --help$' completion tcsh

# What bash offers at the end of that line; words as bash splits them.
offers() { # WORD...
  local line="$*"
  PATH=$scratch/bin:$PATH bash -c '. "$1"; shift; line=$1; shift
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE=$line; COMP_POINT=${#line}; _haul
    printf "%s " "${COMPREPLY[@]}"' - "$scratch/complete.bash" "$(printf '%s' "$line" | sed 's/ : /:/g; s/ :/:/g; s/ = /=/g; s/ =$/=/')" "$@"
}
mkdir "$scratch/bin"
ln -s "$haul" "$scratch/bin/haul"
"$haul" completion bash >"$scratch/complete.bash"
equal 'run ' "$(offers haul ru)" 'a verb'
equal '--format ' "$(offers haul run --for)" 'an option'
equal 'json jsonl ' "$(offers haul run --format j)" 'formats'
equal 'svg ' "$(offers haul query --format s)" 'formats of query'
for verb in env query; do
  "$haul" "$verb" --help | tr -s ' \n' ' ' | grep -q ' json .* svg ' || bad "$verb --help does not list svg"
done
equal 'quick ' "$(offers haul run qui)" 'a scenario'
equal 'measure.max_time= ' "$(offers haul plan --set measure.max_t)" 'keys'
equal 'run-result ' "$(offers haul query --saved run-res)" 'saved queries'
run completion bash zsh
expect_code 2

begin 'completion asks the database'
"$haul" run "$source_folder/tests/cli/small.toml" --db words.db --tag first >out 2>err
# shellcheck disable=SC2016
"$haul" run "$source_folder/tests/cli/small.toml" --db words.db --tag 'a $(touch hacked)' >out 2>err
"$haul" baseline set good run:1 --db words.db 2>err
equal 'latest previous run:1 run:2 tag:first baseline:good ' "$(offers haul diff --db words.db '' | sed 's/driver:[^ ]* //')" 'runs'
equal '1 2 ' "$(offers haul delete --db words.db run : '')" 'numbers of runs'
equal 'tag:first ' "$(offers haul run --db words.db --resume tag)" 'runs of an option'
equal 'first ' "$(offers haul run --db words.db --tag fi)" 'tags'
equal 'good ' "$(offers haul report --db words.db --baseline = go)" 'baselines'
equal 'host_name= ' "$(offers haul outliers --db words.db --where host_na)" 'facts'
equal 'driver_version ' "$(offers haul check --db words.db --by driver_v)" 'facts to compare by'
equal 'regressed ' "$(offers haul check --db words.db --fail-on re)" 'verdicts'
equal 'rank ' "$(offers haul diff --method r)" 'methods of diff'
touch wanted.toml
equal 'wanted.toml ' "$(offers haul check --db words.db --expect wa)" 'files of check --expect'
equal 'tag:first ' "$(offers haul check --db words.db --expect tag)" 'runs of check --expect'
equal 'log linear ' "$(offers haul run quick --plot = l)" 'scales'
equal ' ' "$(offers haul check --db words.db --delta '')" 'what is not known'
equal 'list show check learn ' "$(offers haul expect '')" 'words of expect'
equal ' ' "$(offers haul expect --db words.db show '')" 'what comes after expect show'
equal 'tag:first ' "$(offers haul expect --db words.db learn tag)" 'runs of expect learn'
equal 'tag:first ' "$(offers haul baseline set a --db words.db tag)" 'runs of baseline set'
equal 'show ' "$(offers haul sho)" 'verbs'
equal ' ' "$(offers haul diff --db nosuch.db r)" 'runs without a database'
missing hacked
missing nosuch.db
run_ok completion zsh
expect_out '^#compdef haul'
if command -v zsh >/dev/null; then
  if zsh -n "$scratch/out"; then good; else bad 'zsh does not take it'; fi
  cp "$scratch/out" "$scratch/_haul"
  # An interactive zsh in a terminal of its own: ^X writes the line down.
  cat >"$scratch/press_tab.zsh" <<'END'
zmodload zsh/zpty zsh/zselect
zpty shell zsh -f -i
zpty -w shell "PROMPT= fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -d $1/zcompdump
show() { print -r -- \$BUFFER >$1/line.new; mv $1/line.new $1/line; exit }
zle -N show; bindkey '^X' show; bindkey '^I' complete-word; : >$1/ready"
for ((i = 0; i < 600; i++)); do [[ -e $1/ready ]] && break; zselect -t 5; done
zpty -w -n shell "$2"$'\t\x18'
for ((i = 0; i < 600; i++)); do [[ -e $1/line ]] && break; zpty -r -t shell unused; zselect -t 5; done
cat $1/line
END
  zsh_makes_of() { # LINE
    rm -f "$scratch/ready" "$scratch/line"
    HAUL_DB=$scratch/words.db PATH=$scratch/bin:$PATH timeout 60 zsh -f "$scratch/press_tab.zsh" "$scratch" "$1"
  }
  equal 'haul show ' "$(zsh_makes_of 'haul sho')" 'a verb, completed by zsh'
  equal 'haul run --dry-run ' "$(zsh_makes_of 'haul run --dry')" 'an option, completed by zsh'
  equal 'haul run quick ' "$(zsh_makes_of 'haul run qui')" 'a scenario, completed by zsh'
  equal 'haul diff baseline:good ' "$(zsh_makes_of 'haul diff base' | tr -d '\\')" 'runs, completed by zsh'
  equal 'haul run --tag=first ' "$(zsh_makes_of 'haul run --tag=fi')" 'tags, completed by zsh'
else
  echo 'skipped: completion by zsh, which is not there; ./bootstrap setup test installs it'
fi
run_ok completion fish
expect_out '^complete -c haul -f -a '
if command -v fish >/dev/null; then
  cp "$scratch/out" "$scratch/haul.fish"
  fish_offers() { # LINE
    HAUL_DB=$scratch/words.db PATH=$scratch/bin:$PATH \
      fish --no-config -c "source $scratch/haul.fish; complete -C '$1'" 2>&1 | cut -f 1 | tr '\n' ' '
  }
  equal 'show ' "$(fish_offers 'haul sho')" 'a verb, completed by fish'
  equal '--dry-run ' "$(fish_offers 'haul run --dry')" 'an option, completed by fish'
  equal 'quick ' "$(fish_offers 'haul run qui')" 'a scenario, completed by fish'
  equal 'baseline:good ' "$(fish_offers 'haul diff base')" 'runs, completed by fish'
  equal '--tag=first ' "$(fish_offers 'haul run --tag=fi')" 'tags, completed by fish'
else
  echo 'skipped: completion by fish, which is not there; ./bootstrap setup test installs it'
fi
run completion ksh
expect_code 2

begin 'manual page'
run_ok completion man
for verb in $("$haul" --help | sed -n 's/^  \([a-z]*\) .*/\1/p' | grep -v '^haul$'); do
  expect_out "^\.SS haul $verb"
done
for section in NAME SYNOPSIS VERBS 'COMMON OPTIONS' 'EXIT STATUS' ENVIRONMENT FILES EXAMPLES; do
  expect_out "^\.SH $section\$"
done
expect_out '^\\fB\\-\\-where\\fR=\\fIFACT=VALUE\\fR'
expect_out '^\\fB\\-q\\fR, \\fB\\-\\-quiet\\fR'
if command -v groff >/dev/null; then
  equal '' "$(groff -man -Tutf8 -ww "$scratch/out" 2>&1 >/dev/null)" 'warnings of groff'
fi

begin 'colour'
run --color validate quikc
run validate --color=always quikc
expect_err $'\033\\['
run_error 2 'did you mean "quick"' validate --color never quikc
reject_err $'\033'
run_fails 2 $'\033\\[' validate --color always quikc
run validate quikc
reject_err $'\033'
echo text >of_more_than_forty_characters_that_are_not_broken
COLUMNS=40 run list runs --color=always --db of_more_than_forty_characters_that_are_not_broken
equal $'haul: \033[1;31merror:\033[0m\n      of_more_than_forty_characters_that_are_not_broken' "$(head -n 2 "$scratch/err")" 'colour'

begin 'a reader that goes away ends it quietly'
"$haul" list queries 2>"$scratch/err" | head -n 1 >/dev/null
equal 0 "${PIPESTATUS[0]}" 'exit code of haul list'
equal '' "$(cat "$scratch/err")" 'stderr'

for what in 'schema scenario' 'schema results' 'schema datasette' 'completion man' '--help' 'run --help'; do
  mkfifo gone
  # shellcheck disable=SC2086 # words
  { "$haul" $what 2>"$scratch/err"; echo "$?" >code; } >gone &
  : <gone
  wait $!
  rm gone
  equal 0 "$(cat code)" "exit code of haul $what without a reader"
  equal '' "$(cat "$scratch/err")" "stderr of haul $what"
done

begin 'output that cannot be written is an error'
for what in 'list queries' 'schema scenario' 'schema results' 'schema datasette' 'completion man' --help 'plan --help' 'run --help'; do
  # shellcheck disable=SC2086 # words
  "$haul" $what >/dev/full 2>"$scratch/err"
  equal 3 $? "exit code of haul $what"
  expect_err '^haul: error: cannot write .*: No space left'
done

begin 'closed standard files'
"$haul" list queries >&- 2>&- <&-
equal 0 $? 'exit code'

run_error 2 'unknown verb "health": did you mean "haul run health"\?' health

finish
