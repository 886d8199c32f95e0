#!/bin/sh
# english.sh ROOT - texts are plain English: no sentence that readers had to read twice comes back, nor its pattern.
# README has at most 1,000 words, and no sentence of more than 30; other documents none of more than 25. A sentence has 15
# words on average. Code, tables, headings and what stands in back quotes count as no words, or one.
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
such copies block
no two of them
its best is gen[{0-9]
nvlink raw
drifts or wanders[.] Measure
off the level before
"[^"]*(a further|waiting for) visit
what is not as it should be
strongest %s
END
sources '*.c' '*.h' '*.cu' '*.md' '*.sql' '*.toml' '*.css' '*.js' | grep -Ev '^(tests/|CHANGELOG)' |
  xargs grep -HnEf "$scratch/patterns" | sed -E 's/^([^:]*:[0-9]+:) */\1 is not plain English: /' >"$scratch/found" || true

# A sentence a line: without blocks of code, tables, headings and marks; paragraphs and points of a list end one.
sentences() { # FILE
  awk '/^ *```/ { fenced = !fenced; print ""; next } fenced || /^[|#]/ { print ""; next } /^ *- / { print "" } { print }' "$1" |
    sed -E 's/`[^`]*`/X/g; s/!?\[([^]]*)\]\([^)]*\)/\1/g; s/[*]//g; s/^ *- //' |
    awk 'BEGIN { RS = "" } { gsub(/[[:space:]]+/, " "); gsub(/[.!?:] /, "&\n"); print }'
}
for file in README.md CONTRIBUTING.md SECURITY.md docs/*.md docs/examples/*.md schema/*/*.md tests/*/*.md; do
  [ -e "$file" ] || continue
  case $file in docs/EXPLAIN.md | schema/results/*) continue ;; esac # made of rules; of columns
  most=25
  [ "$file" != README.md ] || most=30
  sentences "$file" | awk -v file="$file" -v most="$most" '
    NF == 0 { next }
    { words += NF; count++ }
    NF > most { print file ": a sentence of " NF " words: " $0 }
    END {
      if (most == 30 && words > 1000) print file ": " words " words"
      if (count > 0 && words > 15 * count) printf "%s: %.1f words per sentence\n", file, words / count
    }' >>"$scratch/found"
done
verdict "$scratch/found" "plain English (tests/style/english.sh)"
