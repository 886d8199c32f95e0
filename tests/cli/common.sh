# common.sh - assertions for tests of the executable, to be sourced by bash. A test script is called with
# the executable, the source folder and the build folder, and ends with `finish`.
set -u
export LC_ALL=C.UTF-8
unset HAUL_DB NO_COLOR COLUMNS
haul=$1
source_folder=$2
build_folder=$3
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
command -v sqlite3 >/dev/null || { echo 'skipped: no sqlite3, which ./bootstrap setup test installs'; exit 77; }
# Whatever is not told otherwise must not touch the user's own results.
export XDG_DATA_HOME=$scratch/data HOME=$scratch/home
# Nor wait for what else runs on this host.
export HAUL_LOCKS=$scratch/locks
built_at=$(stat -Lc '%i %Y' -- "$haul")
cd -- "$scratch" || exit 1
: "$source_folder" "$build_folder"

failures=0
checks=0
title=
exec {silence}<> <(:) # read with a time limit waits without starting a program

begin() { title=$*; }

bad() {
  failures=$((failures + 1))
  printf 'FAILED: %s: %s\n' "$title" "$*"
  if [ -e "$scratch/command" ]; then
    printf '  command: %s\n  exit code: %s\n' "$(cat "$scratch/command")" "$code"
    sed 's/^/  out: /' "$scratch/out" | head -n 20
    sed 's/^/  err: /' "$scratch/err" | head -n 40
  fi
}

good() { checks=$((checks + 1)); }

# A check that is misspelt is one that fails. The shell calls this in a child.
command_not_found_handle() {
  echo "$title: $1: no such command" >>"$scratch/unknown"
  return 127
}

# The fake driver, on that machine of tests/machines from here on; false where it was not built.
fake_driver() { # MACHINE; where it was not built this says so
  local folder=$build_folder/tests/fake_cuda
  if [ ! -e "$folder/libcuda.so.1" ]; then
    echo "skipped, all or in part: the fake driver was not built in $folder"
    return 1
  fi
  export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export HAUL_FAKE_MACHINE=$source_folder/tests/machines/$1.toml
  # The noise between processes is the same each time.
  export HAUL_FAKE_PROCESSES=$scratch/processes
}

# Two drivers that scatter, of which the second has a way from GPU 0 to the host of 97 %: `haul run` under either,
# and the scenario gpu.toml here.
faults=$source_folder/tests/fake_cuda/faults
two_drivers() {
  fake_driver h100x8-nvlink || exit 77
  cp -- "$source_folder/tests/cli/gpu.toml" .
  cat -- "$faults/slow-driver.toml" "$faults/noise.toml" >slow.toml
}
on_first() { HAUL_FAKE_FAULTS=$faults/noise.toml run run "$@"; }
on_second() { HAUL_FAKE_FAULTS=$scratch/slow.toml run run "$@"; }

# The scenario NAME.toml here. KEYS are lines of [measure] and of what follows it. A TRANSFER is its name, from, to and
# size, then further keys, " | " between these parts. "; " ends a line in keys. The method is "ce" unless they say another.
scenario() { # NAME KEYS TRANSFER...
  local name=$1 keys=$2 transfer from to size
  shift 2
  {
    printf 'schema_version = 1\nname = "%s"\n[measure]\n%s\n' "$name" "${keys//; /$'\n'}"
    for transfer; do
      IFS='|' read -r transfer from to size keys <<<"$transfer"
      [[ $keys == *method* ]] || keys='method = "ce"; '$keys
      printf '[[transfer]]\nname = "%s"\nfrom = %s\nto = %s\nsize = %s\n%s\n' "${transfer% }" "$from" "$to" "$size" \
        "${keys//; /$'\n'}"
    done
  } >"$name.toml"
}

# Copies between all GPUs, and some from the host.
write_pairs() { # SIZES BETWEEN, TARGETS, SIZES FROM THE HOST: values of TOML
  scenario pairs 'max_time = "1ms"; min_trial = "10us"; trials = { min = 2, max = 8 }; settle_time = "off"' \
    "between | { gpu = \"*\" } | { gpu = \"*\" } | $1" \
    "sweep | { numa = 0, memory = \"pinned\" } | { gpu = $2 } | $3"
}

# The scenario long.toml here, "small": one short case in so many processes that a run lasts until it is ended.
write_long() {
  local host='{ numa = 0, memory = "pageable" }'
  scenario small 'processes = 1000' "host | $host | $host | \"4KiB\" | method = \"cpu\""
  mv small.toml long.toml
}

# Whether the build is for another machine: $haul is a script then, by which an emulator runs it or, where
# that is set, EMULATED_PROGRAM.
emulated() { [ "$haul" = "$build_folder/tests/emulated/haul" ]; }

skip_emulated() { # WHAT AN EMULATOR DOES
  if emulated; then
    echo "skipped: an emulator $1"
    exit 77
  fi
}

# Run another program that was built.
built() { # PROGRAM ARGUMENT...
  local program=$build_folder/$1
  shift
  if emulated; then EMULATED_PROGRAM=$program "$haul" "$@"; else "$program" "$@"; fi
}

# Run haul; its output is in $scratch/out and $scratch/err, its exit code in $code.
run() {
  printf 'haul %s' "$*" >"$scratch/command"
  "$haul" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
  code=$?
}

expect_code() {
  if [ "$code" -eq "$1" ]; then good; else bad "exit code $code, expected $1"; fi
}
# Whether a line of that file, which a run wrote, fits an extended regular expression. A short file is read here:
# starting grep takes longer, and tests look thousands of times.
fits() { # FILE REGEX
  local lines line
  mapfile -n 65 -t lines <"$1"
  if [ "${#lines[@]}" -gt 64 ]; then
    grep -Eq -- "$2" "$1"
    return
  fi
  for line in ${lines[@]+"${lines[@]}"}; do
    [[ $line =~ $2 ]] && return 0
  done
  return 1
}
expect_out() { # extended regular expression
  if fits "$scratch/out" "$1"; then good; else bad "no '$1' on stdout"; fi
}
reject_out() {
  if fits "$scratch/out" "$1"; then bad "'$1' on stdout"; else good; fi
}
expect_err() {
  if fits "$scratch/err" "$1"; then good; else bad "no '$1' on stderr"; fi
}
reject_err() {
  if fits "$scratch/err" "$1"; then bad "'$1' on stderr"; else good; fi
}
# One error, not several, and nothing of a sanitizer or an assertion.
expect_one_error() { # CODE REGEX
  expect_code "$1"
  expect_err "$2"
  equal 1 "$(grep -Ec '(^|[ :])error: ' "$scratch/err")" 'number of errors'
  reject_err 'Sanitizer|runtime error|ssertion'
}
# The ways of running haul that most tests take.
run_ok() {
  run "$@"
  expect_code 0
}
run_error() { # CODE REGEX ARGUMENT...
  local wanted=$1 message=$2
  shift 2
  run "$@"
  expect_one_error "$wanted" "$message"
}
run_fails() { # CODE REGEX ARGUMENT...: a message of any form, for example of a wrong command line
  local wanted=$1 message=$2
  shift 2
  run "$@"
  expect_code "$wanted"
  expect_err "$message"
}
run_says() { # CODE REGEX ARGUMENT...: a line of the output
  local wanted=$1 line=$2
  shift 2
  run "$@"
  expect_code "$wanted"
  expect_out "$line"
}
equal() { # EXPECTED ACTUAL WHAT
  if [ "$1" = "$2" ]; then good; else bad "$3: '$2', expected '$1'"; fi
}
exists() { if [ -e "$1" ]; then good; else bad "$1 does not exist"; fi; }
missing() { if [ -e "$1" ]; then bad "$1 exists"; else good; fi; }
# Of one value that a query gives.
value() { # DB SQL
  local lines line
  mapfile -n 2 -t lines < <("$haul" query --db "$1" --format csv "$2" 2>&1 </dev/null)
  line=${lines[1]-}
  printf '%s\n' "${line%$'\r'}"
}
expect_value() { # EXPECTED DB SQL
  equal "$1" "$(value "$2" "$3")" "$3"
}

# Wait up to 2 min for a command to succeed: a machine may be busy.
await() {
  local attempt
  for ((attempt = 0; attempt < 2400; attempt++)); do
    if "$@"; then
      return 0
    fi
    read -rt 0.05 -u "$silence" _
  done
  bad "waited in vain for: $*"
  return 1
}
gone() { ! kill -0 "$1" 2>/dev/null || [ "$(process_state "$1")" = Z ]; }
process_state() { sed -n 's/.*) \(.\) .*/\1/p' "/proc/$1/stat" 2>/dev/null; }
children() { # PID
  local stat
  for stat in /proc/[0-9]*/stat; do
    sed -n "s/^\\([0-9]*\\) (.*) . $1 .*/\\1/p" "$stat" 2>/dev/null
  done
}

finish() {
  [ ! -e "$scratch/unknown" ] || bad "$(cat "$scratch/unknown")"
  if [ "$failures" -gt 0 ]; then
    [ "$built_at" = "$(stat -Lc '%i %Y' -- "$haul")" ] || echo "$haul was built anew meanwhile: run the test again"
    echo "$failures failed, $checks passed"
    exit 1
  fi
  echo "$checks passed"
  exit 0
}
