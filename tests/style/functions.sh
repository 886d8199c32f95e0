#!/bin/sh
# functions.sh ROOT [PATHS] - no two files of the program define functions of one name, static ones
# included, or structs of one name, so that tags, a debugger and a stack trace say where one is. One
# file may define a name more than once, for other processors or builds; absent.c stands in for files
# of other builds. PATHS, a regular expression: report these alone.
set -eu
# shellcheck source=tests/style/common.sh
. "$(dirname -- "$0")/common.sh"
cd -- "$1"

sources '*.c' '*.h' '*.cpp' '*.cu' '*.cuh' | grep -vE '^tests/|/absent\.c$' >"$scratch/files" || true
[ -s "$scratch/files" ] || { echo "no sources in $1" >&2; exit 1; }
xargs awk -f "$rule_folder/strip.awk" <"$scratch/files" >"$scratch/code"

# A definition begins in the first column and reaches its brace before any semicolon; its name stands
# before the first parenthesis.
awk '
  {
    match($0, /:[0-9]+:/)
    file = substr($0, 1, RSTART - 1)
    line = substr($0, RSTART + 1, RLENGTH - 2)
    code = substr($0, RSTART + RLENGTH)
    if (file != current) {
      current = file
      text = ""
    }
    if (code ~ /^struct [a-z_0-9]+ \{/) {
      split(code, word, " ")
      head = "struct " word[2]
      if (!((head, file) in seen)) {
        seen[head, file] = line
        files[head] = files[head] " " file
        count[head]++
      }
    }
    if (text == "" && code ~ /^[A-Za-z_]/ && code !~ /^(typedef|extern "C"|template)/) {
      text = code
      began = line
    } else if (text != "") {
      text = text " " code
    }
    if (text ~ /[;{=]/) {
      head = text
      sub(/[;{=].*/, "", head)
      if (substr(text, length(head) + 1, 1) == "{" && head ~ /[a-z0-9_] *\(/) {
        while (sub(/__attribute__ *\(\([^()]*(\([^()]*\))?[^()]*\)\)/, "", head) ||
               sub(/__launch_bounds__ *\([^()]*\)/, "", head))
          ;
        sub(/ *\(.*/, "", head)
        sub(/.*[^A-Za-z0-9_]/, "", head)
        if (head ~ /[a-z]/ && !((head, file) in seen)) {
          seen[head, file] = began
          files[head] = files[head] " " file
          count[head]++
        }
      }
      text = ""
    }
  }
  END {
    for (name in count)
      if (count[name] > 1) {
        n = split(files[name], where, " ")
        for (i = 1; i <= n; i++)
          print where[i] ":" seen[name, where[i]] ": " \
            (name ~ /^struct / ? name " is defined in " : name "() is the name of functions in ") n " files"
      }
  }' "$scratch/code" | { grep -E "^(${2:-.})" || true; } | sort >"$scratch/found"
verdict "$scratch/found" "names of functions and structs are unique in the program (tests/style/functions.sh)"
