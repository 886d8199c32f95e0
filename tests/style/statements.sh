#!/bin/sh
# statements.sh ROOT - the named sections of schema/results/statements: a name is in its file once, and
# the program uses every name that is there and none that is not. A literal that ends with "_" or "/" is the
# start of names that an enumeration completes, or that are taken one after the other.
set -eu
# shellcheck source=tests/style/common.sh
. "$(dirname -- "$0")/common.sh"
cd -- "$1"

folder=schema/results/statements
[ -d "$folder" ] || { echo "no $folder in $1" >&2; exit 1; }

# "FILE/NAME FILE:LINE" of every section; "FILE/NAME SOURCE:LINE" of every literal that names one.
for file in "$folder"/*.sql; do
  awk -v stem="$(basename "$file" .sql)" \
    '/^-- name: / { print stem "/" substr($0, 10) " " FILENAME ":" FNR }' "$file"
done >"$scratch/defined"
stems=$(sed 's,/.*,,' "$scratch/defined" | sort -u | tr '\n' '|')
sources '*.c' '*.h' | grep '^runner/' |
  xargs grep -noHE "\"(${stems%|})/[a-z_]*\"|(statement_prepare|database_script|database_sql)\\([^\"]*\"[a-z_]+/[a-z_]*\"" |
  sed -E 's/^([^:]*:[0-9]+):.*"([^"]*)"$/\2 \1/' >"$scratch/used"

{
  awk '$1 !~ /^[a-z_]+\/[a-z_]+$/ || NF != 2 { print $NF ": not a name of a statement: " $0 }
    seen[$1]++ { print $2 ": " $1 " is here already" }' "$scratch/defined"
  awk '
    NR == FNR {
      if ($1 ~ /[_\/]$/)
        starts[$1] = $2
      else
        used[$1] = 1
      next
    }
    {
      for (start in starts)
        if (index($1, start) == 1) {
          used[$1] = 1
          found[start] = 1
        }
      if (!($1 in used))
        print $2 ": nothing uses " $1
    }
    END {
      for (start in starts)
        if (!(start in found))
          print starts[start] ": no section of schema/results/statements begins with " start
    }' "$scratch/used" "$scratch/defined"
  awk 'NR == FNR { defined[$1] = 1; next }
    $1 !~ /[_\/]$/ && !($1 in defined) {
      print $2 ": no section of schema/results/statements is named " $1
    }' "$scratch/defined" "$scratch/used"
} >"$scratch/found"
verdict "$scratch/found" "every statement has one name, and is used (tests/style/statements.sh)"
