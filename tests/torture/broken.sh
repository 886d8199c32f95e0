#!/bin/sh
# broken.sh FOLDER [VARIANT...] - holds torture against deliberately broken builds of haul: each variant changes a line
# or two of a clone of these sources in FOLDER (made on the first call), builds it, and runs the kind of trial that ought
# to notice. Prints which counts rose. Each is named for the count that ought to rise.
# Exit code 1: one did not rise. Takes some minutes; made for hands.
set -eu
here=$(cd -P -- "$(dirname -- "$0")/../.." && pwd)
mkdir -p "$1"
folder=$(cd -P -- "$1" && pwd)
shift
variants=${*:-sound lost doubled silent wrong orphaned spoilt removed left unsaid escaped believed null fired trespass
  unlimited jumped impatient}
[ -d "$folder/.git" ] || git clone -q "$here" "$folder"
cd -- "$folder"
[ -e build-release/CMakeCache.txt ] || cmake --preset release -DBUILD_TESTING=ON >build.log

change() { # FILE SED-SCRIPT
  cp -- "$1" before
  sed -i "$2" "$1"
  if cmp -s before "$1"; then
    echo "broken.sh: $2 changes nothing in $1" >&2
    exit 2
  fi
}
# Sets $kind, the trials that ought to notice, and $what.
break_it() { # VARIANT
  case $1 in
    sound) kind=kill what='nothing' ;;
    lost)
      kind=kill what='--resume takes every case for measured'
      change runner/record/resume.c 's/STATUS_OK && found != 0;/STATUS_OK \&\& found >= 0;/'
      ;;
    doubled)
      kind=kill what='--resume measures all again, and the results of a process are not UNIQUE'
      change runner/record/resume.c 's/STATUS_OK && found != 0;/STATUS_OK \&\& found < 0;/'
      change schema/results/migrations/1002_first.sql 's/^CREATE UNIQUE INDEX case_run_by_run/CREATE INDEX case_run_by_run/'
      change schema/results/statements/result.sql '/^ON CONFLICT (run, bench_case/,/^RETURNING/c RETURNING id, :again;'
      change schema/results/objects.txt 's/CREATE UNIQUE INDEX case_run_by_run/CREATE INDEX case_run_by_run/'
      ;;
    silent)
      kind=cuda what='exit code 0 whatever the cases came to'
      change runner/run/run.c 's/return wrong || !measured ? EXIT_NOT_MEASURED : EXIT_DONE;/(void)wrong, (void)measured; return EXIT_DONE;/'
      ;;
    wrong)
      kind=cuda what='bytes that differ are called ok'
      change engine/workload/transfer.c 's/if (difference.bad_bytes != 0)/if (difference.bad_bytes > UINT64_MAX - 1)/'
      ;;
    orphaned)
      kind=kill what='a child outlives its parent'
      change runner/supervise/child.c 's/^  prctl(PR_SET_PDEATHSIG, SIGKILL);$//'
      change runner/supervise/child.c 's/^  signal(SIGPIPE, SIG_DFL);$/  signal(SIGPIPE, SIG_IGN);/'
      change runner/supervise/worker.c 's/^  *_exit(EXIT_[A-Z]*);$/  (void)sleep(5);\n&/'
      ;;
    spoilt)
      kind=shard what='shards are written by a name that others know'
      change engine/base/new_file.c 's/O_TMPFILE | O_WRONLY/O_WRONLY/'
      change engine/base/new_file.c 's/"%.\*s%016" PRIx64,/"%.*s%s",/; s/prefix, number);/prefix, number > 0 ? "part" : "");/'
      change engine/base/new_file.c 's/O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC/O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC/'
      ;;
    removed)
      kind=parts count=spoilt what='journals of others are played back'
      change runner/record/database.c 's/RETURN_ON_ERROR(companion_check(database->path, err));//'
      change runner/record/database.c 's/companion_vfs());/NULL);/'
      ;;
    left)
      kind=shard what='nobody takes up what a killed run left'
      change runner/run/shard.c 's/^  shard_local_take_up(request->common);$//'
      ;;
    unsaid)
      kind=shard count=lost what='ok is said before the commit, and what is left is not taken up'
      change runner/run/run.c 's/if (!record_has_pending(state->record))/if (state != NULL)/'
      ;;
    escaped)
      kind=screen what='CSV on a terminal is not escaped'
      change runner/table/table.c 's/if (table->escapes)/if (false)/'
      ;;
    believed)
      kind=merge count=wrong what='a merge believes what shards say of the cases of others'
      change runner/record/merge.c 's/status = THEN(status, merge_check_content(merge, err));//'
      ;;
    null)
      kind=schema count=broken what='NULL in a column is a null pointer'
      change runner/record/connection.c 's/return text != NULL ? text : "";/return text;/'
      ;;
    fired)
      kind=schema count=wrong what='triggers run, and a database with any is written'
      change runner/record/database.c 's/ENABLE_TRIGGER, 0/ENABLE_TRIGGER, 1/'
      change runner/record/foreign.c 's/foreign && access == DATABASE_WRITE/false/'
      ;;
    trespass)
      break_it spoilt
      kind=users count=spoilt
      ;;
    unlimited)
      kind=limit count=spread what='the limits of control groups are not read'
      change engine/machine/memory_limit.c 's/least = left < least ? left : least;/(void)left;/'
      ;;
    jumped)
      kind=clock count=spread what='the watchdog uses the clock that is set'
      change runner/supervise/child.c 's/return clock_read_ns(CLOCK_MONOTONIC);/return clock_read_ns(CLOCK_REALTIME);/'
      ;;
    impatient)
      kind=stop count=spread what='a worker that is silent for 0.2 s is taken for one that hangs'
      change runner/supervise/supervise.h 's/UINT64_C(30000000000)/UINT64_C(200000000)/'
      ;;
    *) echo "broken.sh: no variant $1" >&2; exit 2 ;;
  esac
}

unnoticed=0
for variant in $variants; do
  git checkout -q -- .
  count=$variant
  break_it "$variant"
  cmake --build build-release -j2 --target haul haul_fake_cuda haul_fake_nvml torture_preload >build.log 2>&1
  rm -rf trials
  tests/torture/torture.py --haul build-release/haul --fake build-release/tests/fake_cuda \
    --machine tests/machines/h200x4.toml --preload build-release/tests/preload.so --folder trials \
    --kind "$kind" --trials "${TRIALS:-40}" --minutes 5 --jobs 2 --seed 1 >torture.log || true
  raised=$(awk '$1 == "kind" { for (i = 5; i <= NF; i++) name[i] = $i }
    $1 == "all" { for (i = 5; i <= NF; i++) if ($i > 0) printf " %s %s", name[i], $i }' torture.log)
  printf '%-9s %-7s %s:%s\n' "$variant" "$kind" "$what" "${raised:- no count rose}"
  if [ "$variant" = sound ]; then
    [ -z "$raised" ] || unnoticed=1
  else
    echo "$raised" | grep -q " $count " || unnoticed=1
  fi
done
git checkout -q -- .
exit "$unnoticed"
