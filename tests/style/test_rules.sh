#!/bin/sh
# test_rules.sh CC NM - each rule script finds what it is there for, and nothing in a clean tree.
set -eu
# shellcheck source=tests/style/common.sh
. "$(dirname -- "$0")/common.sh"
compiler=$1
nm=$2
failures=0

fresh() { # an orderly tree of one module
  rm -rf "$scratch/tree"
  mkdir -p "$scratch/tree/engine/base" "$scratch/tree/runner/cli"
  cd "$scratch/tree"
  printf '/* good.h - an orderly header. */\n#pragma once\nint good_sum(int a, int b);\n' >engine/base/good.h
  cat >engine/base/good.c <<'SOURCE'
#include "engine/base/good.h"

/* printf("select"), getenv and exit(1) in a comment are no calls. */
int good_sum(int a, int b) {
  static const char *const text = "exit(1); 'printf' \"select it\""; // system("")
  return a + b + (text[0] == '"');
}
SOURCE
  printf '#include "engine/base/good.h"\n#include <stdio.h>\n' >runner/cli/verb.c
  printf 'void verb(void) { printf("%%d", good_sum(1, 2)); }\n' >>runner/cli/verb.c
}

check() { # RULE [ARGUMENT...] - its output, in $scratch/output; rc in $code
  name=$1
  shift
  code=0
  sh "$rule_folder/$name.sh" "$@" >"$scratch/output" 2>"$scratch/errors" || code=$?
}

passes() { # RULE ARGUMENT...
  check "$@"
  [ "$code" = 0 ] && [ ! -s "$scratch/output" ] && return 0
  echo "$1 fails on a tree in order:"
  cat "$scratch/output" "$scratch/errors"
  failures=$((failures + 1))
}

finds() { # MESSAGE-REGEX RULE ARGUMENT...
  wanted=$1
  shift
  check "$@"
  [ "$code" = 1 ] && [ "$(grep -cE "$wanted" "$scratch/output")" = 1 ] && return 0
  echo "$1 does not find, or not once: $wanted"
  cat "$scratch/output" "$scratch/errors"
  failures=$((failures + 1))
}

tree=$scratch/tree

fresh
for rule in includes circles functions calls text scripts; do
  passes "$rule" "$tree"
done
passes headers "$tree" "$compiler"

# includes
breaks_include() { # FILE LINE MESSAGE-REGEX
  fresh
  mkdir -p "$(dirname -- "$1")" engine/case engine/machine runner/plan
  : >runner/plan/plan.h
  : >engine/case/case.h
  printf '%s\n' "$2" >>"$1"
  finds "^$1:[0-9]+: $3" includes "$tree"
}
breaks_include engine/base/good.c '#include "engine/case/case.h"' 'must not include engine/case/case.h'
breaks_include engine/machine/x.c '#include "engine/case/case.h"' 'must not include engine/case/case.h'
breaks_include schema/x.c '#include "runner/plan/plan.h"' 'must not include runner/plan/plan.h'
breaks_include runner/cli/verb.c '#include <sqlite3.h>' 'must not include sqlite3.h'
breaks_include runner/cli/verb.c '#  include <cuda.h>' 'must not include cuda.h'
breaks_include engine/base/good.c '#include "good.h"' 'there is no good.h'

# circles: each file below is in order by itself.
fresh
mkdir engine/memory engine/method
for header in memory/buffer method/move; do
  printf '/* %s.h - a layer. */\n#pragma once\n' "${header#*/}" >"engine/$header.h"
done
printf '#include "engine/base/good.h"\n#include "engine/memory/buffer.h"\n' >engine/method/move.c
passes circles "$tree"
printf '#include "runner/show.h"\n' >engine/memory/buffer.c
printf '#include "engine/method/move.h"\n' >runner/show.c
finds '^circle: engine/memory -> runner -> engine/method -> engine/memory$' circles "$tree"
finds '^  engine/method/move.c:2: includes engine/memory/buffer.h$' circles "$tree"

# Of files of one folder.
fresh
printf '#include "engine/base/worse.h"\n' >>engine/base/good.h
printf '#include "engine/base/good.h"\n' >engine/base/worse.c
finds '^circle: engine/base/good -> engine/base/worse -> engine/base/good \(files\)$' circles "$tree"

# functions: one file may define a name twice, and a declaration or a call is no definition.
fresh
printf '#ifdef X\nstatic int add(int a) {\n  return a;\n}\n#else\nstatic int\nadd(int a) { return a; }\n#endif\n' \
  >>engine/base/good.c
printf 'int add(int a);\nstatic int (*const table[])(int) = {add};\n' >>runner/cli/verb.c
passes functions "$tree"
printf 'static const char *\nadd(const char *a,\n    int b) {\n  return a + b;\n}\n' >runner/cli/other.c
finds '^engine/base/good.c:[0-9]+: add\(\) is the name of functions in 2 files$' functions "$tree"
finds '^runner/cli/other.c:1: add\(\)' functions "$tree"
fresh
printf 'struct part {\n  int a;\n};\nstruct other *name;\n' | tee -a engine/base/good.c >>runner/cli/verb.c
finds '^runner/cli/verb.c:[0-9]+: struct part is defined in 2 files$' functions "$tree"

# calls
breaks_call() { # FILE LINE MESSAGE-REGEX
  fresh
  mkdir -p "$(dirname -- "$1")"
  printf '%s\n' "$2" >>"$1"
  finds "^$1:[0-9]+: $3" calls "$tree"
}
breaks_call engine/base/good.c 'void f(void) { printf("x"); }' 'printf: only runner/ prints'
breaks_call engine/base/good.c 'void f(FILE **out) { *out = stderr; }' 'stderr: only runner/ prints'
breaks_call engine/base/good.c 'void f(void) { exit(1); }' 'exit: only runner/ ends'
breaks_call schema/x.c 'const char *f(void) { return getenv("X"); }' 'getenv: only runner/ reads'
breaks_call runner/cli/verb.c 'int f(void) { return system("ls"); }' 'system: no shell'
breaks_call runner/analysis/a.c 'int f(sqlite3_stmt *s) { return sqlite3_step(s); }' 'sqlite3_step: only runner/record'
breaks_call runner/cli/verb.c 'void f(char *a) { strcpy(a, "b"); }' 'strcpy: has no bound'
breaks_call runner/cli/verb.c 'int f(const char *a) { return atoi(a); }' 'atoi: tells no error'
breaks_call runner/cli/verb.c 'char *f(char *a) { return strstr(a, " % "); }' 'strstr: no text is taken apart'
breaks_call runner/render/r.c 'void f(void) { history_new(0); }' 'history_new: what draws neither queries'
breaks_call runner/cli/verb.c 'const char *q = "SELECT a FROM b";' 'SQL belongs'
breaks_call runner/cli/verb.c 'const char *q = "pragma foreign_keys = on";' 'SQL belongs'

# text
breaks_text() { # FILE PRINTF-FORMAT MESSAGE-REGEX
  fresh
  # shellcheck disable=SC2059 # the format is the content
  printf "$2" >>"$1"
  finds "^$1:?[0-9]*: $3" text "$tree"
}
breaks_text engine/base/good.c '\tint x;\n' 'a tab'
breaks_text engine/base/good.c 'int x; \n' 'a blank'
breaks_text engine/base/good.c 'int x;\r\n' 'a blank or carriage return'
breaks_text engine/base/good.c 'int x;' 'no newline'
breaks_text engine/base/good.c '/* A list:\n *   %100s */\n' 'a line of a comment has more than 100 columns'
breaks_text engine/base/good.c '/* TO''DO: later */\n' 'nothing is left'
breaks_text engine/base/bad.h '#pragma once\n' 'a header opens with'
breaks_text engine/base/bad.h '/* bad.h - x. */\n' 'no #pragma once'
fresh
awk 'BEGIN { for (i = 0; i < 701; i++) print "int a" i ";" }' >engine/base/long.c
finds '^engine/base/long.c:701: 701 lines' text "$tree"

# statements
breaks_statement() { # FILE LINE MESSAGE-REGEX
  fresh
  mkdir -p schema/results/statements runner/record
  printf -- '-- Trials.\n\n-- name: insert\nSELECT 1;\n' >schema/results/statements/trial.sql
  printf 'int f(void) { return statement_prepare(d, "trial/insert", s); }\n' >runner/record/x.c
  passes statements "$tree"
  printf '%s\n' "$2" >>"$1"
  finds "^$1:[0-9]+: $3" statements "$tree"
}
breaks_statement schema/results/statements/trial.sql '-- name: insert' 'trial/insert is here already'
breaks_statement schema/results/statements/trial.sql '-- name: unused' 'nothing uses trial/unused'
breaks_statement schema/results/statements/trial.sql '-- name: In sert' 'not a name of a statement'
breaks_statement runner/record/x.c 'const char *const N[] = {"trial/no"};' 'no section .* trial/no'
breaks_statement runner/record/x.c 'int g(void) { return database_script(d, "no/no"); }' 'no section'
breaks_statement runner/record/x.c 'const char *const N[] = {"trial/no_" "x"};' 'no section .* begins'

# headers
fresh
printf 'size_t bad(void);\n' >engine/base/bad.h
finds '^engine/base/bad.h: does not stand alone' headers "$tree" "$compiler"

# scripts
fresh
printf '#!/bin/sh\nif\n' >engine/bad.sh
finds '^engine/bad.sh: does not parse' scripts "$tree"

# documents
breaks_document() { # LINE MESSAGE-REGEX
  fresh
  printf 'See `engine/base/good.h`, `good_sum()` and [it](engine/base/good.c#top).\n' >good.md
  passes documents "$tree"
  printf '%s\n' "$1" >>good.md
  finds "^good.md:2: $2" documents "$tree"
}
breaks_document 'See `engine/base/bad.h`.' 'there is no engine/base/bad.h'
breaks_document 'See `engine/*/bad.h`.' 'there is no engine'
breaks_document 'Call `bad_sum()`.' 'there is no function bad_sum'
breaks_document 'Read [this](docs/bad.md).' 'the link goes nowhere: docs/bad.md'
breaks_document 'Read [this](good.md#bad).' 'no such heading: good.md#bad'
breaks_document 'Read [this](#bad).' 'no such heading: #bad'
fresh
mkdir -p docs
printf '| world: spread | units | any | found |\n| normal | 4 | 0.0 | 92.5 |\n| drift | 4 | 7.5 | 1.0 |\n' >docs/SIMULATIONS.md
printf '%s\n' '| wrong | any | 3.8 | 7.5 | `drift` | 4 |' '*Example* (`normal`, 4 runs): 92.5 %.' '' >verdicts
i=0; while [ $((i += 1)) -le 10 ]; do echo '| of 0.4 % | `normal` | 4 | 92.5 |'; done >>verdicts
cp verdicts docs/VERDICTS.md
passes documents "$tree"
breaks_verdict() { # SED-COMMAND MESSAGE
  sed "$1" verdicts >docs/VERDICTS.md
  finds "$2" documents "$tree"
}
breaks_verdict 's/92.5 |/92.6 |/' '^docs/VERDICTS.md:4: SIMULATIONS.md has no 92.6 in this row'
breaks_verdict 's/92.5 %/92.6 %/' '^docs/VERDICTS.md:3: SIMULATIONS.md has no 92.6 in this row'
breaks_verdict 's/7.5/7.6/' '^docs/VERDICTS.md:1: SIMULATIONS.md has no 7.6 in this row'
breaks_verdict 's/3.8/3.7/' '^docs/VERDICTS.md:1: SIMULATIONS.md has no 3.7 in this row'
breaks_verdict '1s/drift/normal/' '^docs/VERDICTS.md:1: this row is not the worst'

# english
fresh
printf 'Short sentences are read. A path such as `a b c` is one word.\n' >README.md
passes english "$tree"
printf '/* Of a machine that is not there nothing is said. */\n' >engine/bad.c
finds '^engine/bad.c:1: is not plain English: ' english "$tree"
rm engine/bad.c
printf 'This one goes on%s.\n' "$(printf ' and on%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14)" >README.md
finds '^README.md: a sentence of 32 words: This one' english "$tree"
finds '^README.md: 32.0 words per sentence' english "$tree"
{ cat README.md; i=0; while [ $((i += 1)) -le 501 ]; do echo 'Two words.'; done; } >long
mv long README.md
finds '^README.md: 1034 words' english "$tree"

# globals
fresh
mkdir kernels schema
printf 'extern int counter;\nint counter = 1;\nconst int table[] = {1};\n' >engine/bad.c
printf 'extern const char *const names[];\nconst char *const names[] = {"a"};\n' >>engine/bad.c
"$compiler" -fPIE -c engine/bad.c -o engine/bad.c.o
ar rc engine/libbad.a engine/bad.c.o
finds 'counter is writable' globals "$tree" "$nm"
"$compiler" -c engine/base/good.c -I. -o engine/good.c.o
rm engine/libbad.a
ar rc engine/libgood.a engine/good.c.o
passes globals "$tree" "$nm"

[ "$failures" = 0 ] || exit 1
