#!/bin/sh
# circles.sh ROOT [PATHS] - folders form layers: no folder includes, over whatever others, one that
# includes it. Nor does a file, where x.c, x.h and x_internal.h count as one. Prints every shortest circle with the
# includes that close it. PATHS, a regular expression: look at these files alone.
set -eu
# shellcheck source=tests/style/common.sh
. "$(dirname -- "$0")/common.sh"
cd -- "$1"

sources '*.c' '*.h' '*.cpp' '*.hpp' '*.cu' '*.cuh' | grep -v '^tests/' | grep -E "${2:-.}" >"$scratch/files" || true
[ -s "$scratch/files" ] || { echo "no sources in $1" >&2; exit 1; }
xargs grep -nHE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' <"$scratch/files" \
  >"$scratch/includes" || true

circles() { # folder|file
  awk -v unit="$1" '
  function folder_of(path) {
    if (unit == "file") {
      sub(/(_internal)?\.[a-z]+$/, "", path)
      return path
    }
    return sub(/\/[^\/]*$/, "", path) ? path : "."
  }
  # The shortest way from a folder back to itself, breadth first: "" or "b c a".
  function way_back(start,    queue, head, tail, from, to, i, n, next_folders, came, way) {
    queue[tail++] = start
    while (head < tail) {
      from = queue[head++]
      n = split(includes[from], next_folders, " ")
      for (i = 1; i <= n; i++) {
        to = next_folders[i]
        if (to == start) {
          way = start
          for (; from != start; from = came[from])
            way = from " " way
          return way
        }
        if (!(to in came)) {
          came[to] = from
          queue[tail++] = to
        }
      }
    }
    return ""
  }
  {
    match($0, /:[0-9]+:/)
    place = substr($0, 1, RSTART + RLENGTH - 2)
    from = folder_of(substr($0, 1, RSTART - 1))
    match($0, /"[^"]*/)
    name = substr($0, RSTART + 1, RLENGTH - 1)
    to = folder_of(name)
    if (from == to)
      next
    if (!((from, to) in example)) {
      if (!(from in includes))
        folders[++folder_count] = from
      includes[from] = includes[from] " " to
      example[from, to] = place ": includes " name
    }
    uses[from, to]++
  }
  END {
    for (f = 1; f <= folder_count; f++) {
      way = way_back(folders[f])
      if (way == "")
        continue
      n = split(way, step, " ")
      # A circle is printed once, from the folder of its that comes first.
      first = n
      for (i = 1; i < n; i++)
        if (step[i] < step[first])
          first = i
      from = step[first]
      line = from
      for (i = 1; i <= n; i++)
        line = line " -> " step[(first + i - 1) % n + 1]
      if (line in printed)
        continue
      printed[line]
      print "circle: " line
      for (i = 1; i <= n; i++) {
        to = step[(first + i - 1) % n + 1]
        more = uses[from, to] - 1
        print "  " example[from, to] (more > 0 ? " (and " more " more)" : "")
        from = to
      }
    }
  }' "$scratch/includes"
}
{
  circles folder
  circles file | sed -n 's/^circle: .*/& (files)/p'
} >"$scratch/found"
verdict "$scratch/found" "folders and files form a tree of layers, without circles (tests/style/circles.sh)"
