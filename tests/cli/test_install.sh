#!/usr/bin/env bash
# What cmake --install puts into an empty prefix, and that haul runs from there.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
prefix=$scratch/prefix
cmake=$(sed -n 's/^CMAKE_COMMAND:INTERNAL=//p' "$build_folder/CMakeCache.txt")

begin 'an empty prefix'
"$cmake" --install "$build_folder" --prefix "$prefix" >"$scratch/out" 2>"$scratch/err"
code=$?
expect_code 0
cat >"$scratch/expected" <<'TEXT'
bin/haul
share/bash-completion/completions/haul
share/doc/haul/CHANGELOG.md
share/doc/haul/CONTRIBUTING.md
share/doc/haul/LICENSE
share/doc/haul/README.md
share/doc/haul/SECURITY.md
share/doc/haul/copyright
share/fish/vendor_completions.d/haul.fish
share/haul/schema/expect/expectations.toml
share/haul/schema/results/README.md
share/haul/schema/results/views.sql
share/haul/schema/results/views_machine.sql
share/haul/schema/results/views_note.sql
share/haul/schema/scenario.schema.json
share/haul/schema/scenario/README.md
share/man/man1/haul.1
share/zsh/site-functions/_haul
TEXT
(cd "$source_folder" && find scenarios -name '*.toml' -printf 'share/haul/%p\n' &&
  find docs -type f -printf 'share/doc/haul/%p\n') >>"$scratch/expected"
(cd "$prefix" && find . -type f -printf '%P\n') | sort >"$scratch/installed"
if difference=$(LC_ALL=C sort "$scratch/expected" | diff - "$scratch/installed"); then
  good
else
  bad "the prefix has other files than expected (<):" "$difference"
fi

begin 'haul runs from the prefix'
if emulated; then export EMULATED_PROGRAM=$prefix/bin/haul; else haul=$prefix/bin/haul; fi
run_ok --version
expect_out '^haul [0-9]+\.[0-9]+\.[0-9]+$'
expect_out '^commit ([0-9a-f]{12}(-dirty)?|unknown), [A-Za-z ]+$'
run_ok validate "$prefix"/share/haul/scenarios/*.toml

begin 'completions are scripts, the manual page is one'
if bash -n "$prefix/share/bash-completion/completions/haul"; then good; else bad 'bash completion'; fi
if grep -q '^#compdef haul' "$prefix/share/zsh/site-functions/_haul"; then good; else bad 'zsh completion'; fi
if grep -q '^complete -c haul' "$prefix/share/fish/vendor_completions.d/haul.fish"; then good; else bad 'fish completion'; fi
if grep -q '^\.TH HAUL 1' "$prefix/share/man/man1/haul.1"; then good; else bad 'manual page'; fi

finish
