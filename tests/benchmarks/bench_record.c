/* bench_record.c [FOLDER] - trials recorded a second, transactions and their waiting for the disk
 * included, into a database in FOLDER (default: the current one): one line for each size of a case.
 * Beside it, what the processor alone could do. */
#include "tests/runner/record/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The fixture is no library of the program's. */
#include "tests/runner/record/fixture.c"

static double now_s(clockid_t clock) {
  struct timespec now;
  (void)clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

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
    double start_s = now_s(CLOCK_MONOTONIC);
    double busy_start_s = now_s(CLOCK_PROCESS_CPUTIME_ID);
    if (status == STATUS_OK) {
      status = record_case(record, &fixture->plan, report, err);
    }
    seconds += now_s(CLOCK_MONOTONIC) - start_s;
    busy_seconds += now_s(CLOCK_PROCESS_CPUTIME_ID) - busy_start_s;
  }
  (void)stat(fixture->path, &after);
  double total = (double)trials * (double)cases;
  if (status == STATUS_OK) {
    printf("%6zu trials a case: %9.0f trials/s (%.0f a CPU second), %.2f ms a case, %.1f bytes a "
           "trial\n",
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
