#!/usr/bin/env bash
# Help, version, mistakes on the command line, completion, output that nobody reads.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"

begin 'help and version'
run --help
expect_code 0
for verb in run plan validate show env list query report schema completion; do
  expect_out "^  $verb "
  run $verb --help
  expect_code 0
  expect_out "^Usage: haul $verb "
  expect_out '--db=FILE'
  run --help
done
run help run
expect_code 0
expect_out '^Usage: haul run '
run --version
expect_code 0
expect_out '^haul [0-9]+\.[0-9]+\.[0-9]+$'
expect_out '^(CUDA Toolkit [0-9]+\.[0-9]+|without CUDA)$'
expect_out '^SQLite 3\.'
run
expect_code 2
expect_err '^Usage: haul VERB'

begin 'mistakes on the command line'
run rnu
expect_one_error 2 "unknown verb 'rnu': did you mean 'run'"
run frobnicate
expect_one_error 2 "unknown verb 'frobnicate'"
run --db x run
expect_one_error 2 "unknown option '--db'"
run run
expect_code 2
expect_err 'missing argument: SCENARIO'
run run --no-such-option
expect_code 2
expect_err 'no-such-option'
run list runs --format tabel
expect_code 2
expect_err "did you mean 'table'"
run list rnus
expect_code 2
expect_err "did you mean 'runs'"
run run quick --set trials
expect_code 2
expect_err 'KEY=VALUE'
run run quick --processes x
expect_code 2
expect_err 'whole number'
run run quick --resume latest
expect_code 2
expect_err 'resume'
run validate quikc
expect_one_error 2 "did you mean 'quick'"
run show quikc
expect_one_error 2 "did you mean 'quick'"
missing "$scratch/data"

begin 'shipped scenarios'
run list scenarios
expect_code 0
expect_out '^ *quick '
run list scenarios --json
expect_code 0
expect_out '"name": ?"quick"'
run show quick
expect_code 0
expect_out '^\[\[transfer\]\]'
run validate quick
expect_code 0

begin 'every shipped scenario is valid'
for name in $("$haul" list scenarios --format csv | tr -d '\r' | sed -n '2,$s/,.*//p'); do
  run validate "$name"
  expect_code 0
done

begin 'saved queries and schemas'
run list queries
expect_code 0
expect_out 'run-table'
run schema scenario
expect_code 0
expect_out '"\$schema"'
run schema results
expect_code 0
expect_out 'CREATE VIEW v_case'

begin 'completion'
run completion bash
expect_code 0
if bash -n "$scratch/out"; then good; else bad 'bash does not take it'; fi
words=$(bash -c ". '$scratch/out'; COMP_WORDS=(haul ru); COMP_CWORD=1; _haul; echo \${COMPREPLY[@]}")
equal run "$words" 'completion of haul ru'
words=$(bash -c ". '$scratch/out'; COMP_WORDS=(haul run --for); COMP_CWORD=2; _haul; echo \${COMPREPLY[@]}")
equal --format "$words" 'completion of haul run --for'
words=$(bash -c ". '$scratch/out'; COMP_WORDS=(haul run --format j); COMP_CWORD=3; _haul; echo \${COMPREPLY[@]}")
equal 'json jsonl' "$words" 'completion of haul run --format j'
words=$(bash -c ". '$scratch/out'; COMP_WORDS=(haul run qui); COMP_CWORD=2; _haul; echo \${COMPREPLY[@]}")
equal quick "$words" 'completion of haul run qui'
run completion zsh
expect_code 0
expect_out '^#compdef haul'
if command -v zsh >/dev/null; then
  if zsh -n "$scratch/out"; then good; else bad 'zsh does not take it'; fi
fi
run completion fish
expect_code 2

begin 'manual page'
run completion man
expect_code 0
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
run validate --color never quikc
expect_one_error 2 "did you mean 'quick'"
reject_err $'\033'
run validate --color always quikc
expect_code 2
expect_err $'\033\\['
run validate quikc
reject_err $'\033'

begin 'a reader that goes away ends it quietly'
"$haul" list queries 2>"$scratch/err" | head -n 1 >/dev/null
equal 0 "${PIPESTATUS[0]}" 'exit code of haul list'
equal '' "$(cat "$scratch/err")" 'stderr'

begin 'output that cannot be written is an error'
"$haul" list queries >/dev/full 2>"$scratch/err"
equal 3 $? 'exit code'
expect_err 'No space left'

begin 'closed standard files'
"$haul" list queries >&- 2>&- <&-
equal 0 $? 'exit code'

finish
