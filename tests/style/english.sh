#!/bin/sh
# english.sh ROOT - texts are plain English: no sentence that readers had to read twice comes back, nor its pattern.
# README has at most 1,000 words, 15 per sentence on average, and no sentence of more than 30; docs none of more than 40. Code, tables, headings and what
# stands in back quotes count as no words, or one.
set -eu
# shellcheck source=tests/style/common.sh
. "$(dirname -- "$0")/common.sh"
cd -- "$1"

cat >"$scratch/patterns" <<'END'
no few words tell them
[Mm]iddle case of [0-9%]
too few to tell what their noise is
their level moved
yet as usual
share of false discoveries among all
of the figure shown
may be the run's, not the driver's
come to a case of another one
[Cc]hecks without an answer:
[0-9u] runs are in [a-z%]
[Aa]s it should be: no
that explains a loss
that is there cannot be used
slower than matters
cases of [0-9%zu]+ judged together
that is not there nothing is said
who looks again until
where regressed is among them
whoever asked the driver was
was said of GPUs
what is in use is claimed
their trouble is none of
the slowest row, of the least slow
work of nobody's alone
they come to on a machine
above the median by so many spreads
is no (folder|directory)
cannot be had
of which tool\?
[Ww]hoever
that which
for who does
(is|was|are|were) said of
[Nn]othing is said
all the same
END
sources '*.c' '*.h' '*.cu' '*.md' '*.sql' '*.toml' '*.css' '*.js' | grep -Ev '^(tests/|CHANGELOG)' |
  xargs grep -HnEf "$scratch/patterns" | sed -E 's/^([^:]*:[0-9]+:) */\1 is not plain English: /' >"$scratch/found" || true

# A sentence a line: without blocks of code, tables, headings and marks; paragraphs and points of a list end one.
sentences() { # FILE
  awk '/^ *```/ { fenced = !fenced; print ""; next } fenced || /^[|#]/ { print ""; next } /^- / { print "" } { print }' "$1" |
    sed -E 's/`[^`]*`/X/g; s/!?\[([^]]*)\]\([^)]*\)/\1/g; s/[*]//g; s/^- //' |
    awk 'BEGIN { RS = "" } { gsub(/[[:space:]]+/, " "); gsub(/[.!?:] /, "&\n"); print }'
}
sentences README.md | awk '
    NF == 0 { next }
    { words += NF; count++ }
    NF > 30 { print "README.md: a sentence of " NF " words: " $0 }
    END {
      if (words > 1000) print "README.md: " words " words"
      if (count > 0 && words > 15 * count) printf "README.md: %.1f words per sentence\n", words / count
    }' >>"$scratch/found"
for file in SECURITY.md docs/*.md; do
  case $file in docs/EXPLAIN.md | docs/\*.md) continue ;; esac # the first is made of rules
  sentences "$file" | awk -v file="$file" 'NF > 40 { print file ": a sentence of " NF " words: " $0 }' >>"$scratch/found"
done
verdict "$scratch/found" "plain English (tests/style/english.sh)"
