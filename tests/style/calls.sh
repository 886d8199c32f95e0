#!/bin/sh
# calls.sh ROOT - what C sources must not do: print, exit or read the environment outside runner/,
# call what has no bound or no error, or hold SQL.
set -eu
# shellcheck source=tests/style/common.sh
. "$(dirname -- "$0")/common.sh"
cd -- "$1"

sources '*.c' '*.h' '*.cpp' '*.cu' >"$scratch/files"
grep -v '^tests/' "$scratch/files" >"$scratch/program" || true
[ -s "$scratch/program" ] || { echo "no sources in $1" >&2; exit 1; }
xargs awk -f "$rule_folder/strip.awk" <"$scratch/files" >"$scratch/code"
xargs awk -v strings=1 -f "$rule_folder/strip.awk" <"$scratch/program" >"$scratch/strings"

# Lines of code below PATHS, or not below them with -v, that call one of NAMES (rule) or that have one
# of them as a word (word_rule).
rule() { # [-v] PATHS NAMES MESSAGE
  find_names ' *[(]' "$@"
}
word_rule() { # [-v] PATHS NAMES MESSAGE
  find_names '[^A-Za-z0-9_]' "$@"
}
find_names() { # AFTER [-v] PATHS NAMES MESSAGE
  after=$1
  shift
  invert=''
  if [ "$1" = -v ]; then
    invert=-v
    shift
  fi
  grep -E $invert "^($1)" "$scratch/code" |
    awk -v names="$2" -v after="$after" -v message="$3" '
      {
        match($0, /:[0-9]+:/)
        place = substr($0, 1, RSTART + RLENGTH - 2)
        code = " " substr($0, RSTART + RLENGTH) " "
        if (match(code, "[^A-Za-z0-9_.>](" names ")" after)) {
          name = substr(code, RSTART + 1, RLENGTH - 1)
          sub(/[^A-Za-z0-9_].*/, "", name)
          print place ": " name ": " message
        }
      }'
}

{
  # The arena cannot go on, and so cannot leave the message to its caller.
  rule -v 'runner/|tests/|engine/base/arena\.c' 'v?printf|puts|putchar|perror' 'only runner/ prints'
  word_rule -v 'runner/|tests/|engine/base/arena\.c' 'stdout|stderr' 'only runner/ prints'
  rule -v 'runner/|tests/' '_?exit|_Exit|quick_exit' 'only runner/ ends the process'
  rule -v 'runner/|tests/' '(secure_)?getenv|setenv|unsetenv' 'only runner/ reads the environment'
  word_rule -v 'runner/|tests/' 'environ' 'only runner/ reads the environment'
  rule -v 'tests/' 'system|popen' 'no shell is run'
  # What haul says is made of data that is still there: only texts of others are searched. Files that read such
  # texts: of the kernel, the driver, a user, nvbandwidth, SQL, TOML.
  rule -v "tests/|$(paste -sd '|' "$rule_folder/reads_texts")" 'strstr|strcasestr|strtok(_r)?|v?sscanf' 'no text is taken apart; a file that reads texts of others is a line of tests/style/reads_texts'
  rule 'runner/render/' '[a-z_]*(conclusions|outliers)_find|history_new|measured_(new|load[a-z_]*|add[a-z_]*)|compare(_runs)?|expect_judge_[a-z_]+|query_(run|open)[a-z_]*|run_machine_read' 'what draws neither queries nor analyses'
  # Which SQLite there is the version says.
  rule -v 'runner/record/|tests/|runner/cli/verbs\.c' 'sqlite3_[a-z0-9_]+' 'only runner/record speaks to SQLite'
  rule -v 'tests/' 'v?sprintf|strcpy|strcat|gets|strtok' 'has no bound: use strbuf or snprintf'
  rule -v 'tests/' 'ato(i|l|ll|f)' 'tells no error: use strtol and its kin'
  grep -iE '^[^:]*:[0-9]+:[ (]*(select|insert +(or +[a-z]+ +)?into|update +[a-z_]+ +set|delete +from|create +(table|view|index|trigger)|pragma|drop +(table|view)) ' \
    "$scratch/strings" | sed -E 's/^([^:]*:[0-9]+):(.*)/\1: SQL belongs into a .sql file: "\2"/'
} >"$scratch/found" || true
verdict "$scratch/found" "what C sources must not do (tests/style/calls.sh)"
