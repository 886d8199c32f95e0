/* bench_record.c [FOLDER] - trials recorded per second, transactions and their waiting for the disk
 * included, into a database in FOLDER (default: the current one): one line for each size of a case.
 * Beside it, what the processor alone could do. */
#include "tests/benchmarks/bench.h"
#include "tests/runner/record/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static enum status measure(struct fixture *fixture, size_t trials, size_t cases,
                           struct error *err) {
  struct record *record = NULL;
  fixture->info.processes = 1;
  enum status status = record_open(fixture->path, &record, err);
  if (status != STATUS_OK) {
    return status;
  }
  status = record_begin_run(record, &fixture->info, fixture->machine, &fixture->plan, NULL, 0, err);
  struct stat before = {0};
  struct stat after = {0};
  (void)stat(fixture->path, &before);
  double seconds = 0;
  double busy_seconds = 0;
  /* Each case in a process of its own: one process measures a case once. */
  for (uint32_t i = 0; i < cases && status == STATUS_OK; i++) {
    status = record_process_started(record, i, 1, err);
    const struct case_report *report = fixture_report(fixture, i, 0, trials);
    double start_s = bench_now_s();
    double busy_start_s = bench_clock_s(CLOCK_PROCESS_CPUTIME_ID);
    if (status == STATUS_OK) {
      status = record_case(record, &fixture->plan, report, err);
    }
    seconds += bench_now_s() - start_s;
    busy_seconds += bench_clock_s(CLOCK_PROCESS_CPUTIME_ID) - busy_start_s;
  }
  (void)stat(fixture->path, &after);
  double total = (double)trials * (double)cases;
  if (status == STATUS_OK) {
    printf("%6zu trials per case: %9.0f trials/s (%.0f per CPU second), %.2f ms per case, "
           "%.1f bytes per trial\n",
           trials, total / seconds, total / busy_seconds, 1e3 * seconds / (double)cases,
           (double)(after.st_size - before.st_size) / total);
  }
  record_close(record);
  return status;
}

int main(int argc, char **argv) {
  struct error err = {0};
  struct fixture *fixture = fixture_new();
  (void)snprintf(fixture->path, sizeof fixture->path, "%.60s/bench-record-%ld.db",
                 argc > 1 ? argv[1] : ".", (long)getpid());
  enum status status = measure(fixture, 20, 200, &err);
  if (status == STATUS_OK) {
    status = measure(fixture, 200, 200, &err);
  }
  if (status == STATUS_OK) {
    status = measure(fixture, FIXTURE_TRIALS_MAX, 200, &err);
  }
  if (status != STATUS_OK) {
    fprintf(stderr, "bench_record: %s\n", err.message);
  }
  (void)unlink(fixture->path);
  fixture_free(fixture);
  return status == STATUS_OK ? 0 : 1;
}
