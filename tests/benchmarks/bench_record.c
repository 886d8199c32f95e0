/* bench_record.c [FOLDER] - trials recorded per second, transactions and their waiting for the disk
 * included, into a database in FOLDER (default: the current one): one line for each size of a case.
 * Beside it, what the processor alone could do. */
#include "tests/benchmarks/bench.h"
#include "tests/runner/record/fixture.h"

#include <sys/stat.h>
#include <unistd.h>

enum { CASES = 400 };

/* As many small cases as a sweep has. */
static struct plan_case cases[CASES];
static char keys[CASES][40];
static char names[CASES][40];

static struct plan make_plan(const struct fixture *fixture) {
  struct plan plan = fixture->plan;
  for (uint32_t i = 0; i < CASES; i++) {
    cases[i] = fixture->cases[0];
    (void)snprintf(keys[i], sizeof keys[i], "%032x", i + 1);
    (void)snprintf(names[i], sizeof names[i], "h2d/numa0:pinned-gpu1/%u", i);
    cases[i].def.key = keys[i];
    cases[i].def.name = names[i];
    cases[i].listed = i;
  }
  plan.cases = cases;
  plan.case_count = CASES;
  plan.skip_count = 0;
  return plan;
}

static enum status measure(struct fixture *fixture, size_t trials, struct error *err) {
  struct record *record = NULL;
  const struct plan plan = make_plan(fixture);
  fixture->info.processes = 1;
  enum status status = record_open(fixture->path, &record, err);
  if (status != STATUS_OK) {
    return status;
  }
  status = record_begin_run(record, &fixture->info, fixture->machine, &plan, NULL, 0, err);
  status = THEN(status, record_process_started(record, 0, 1, err));
  struct stat before = {0};
  struct stat after = {0};
  (void)stat(fixture->path, &before);
  double seconds = 0;
  double busy_seconds = 0;
  for (uint32_t i = 0; i <= CASES && status == STATUS_OK; i++) {
    struct case_report report = *fixture_report(fixture, 0, 0, trials);
    report.case_index = i;
    double start_s = bench_now_s();
    double busy_start_s = bench_clock_s(CLOCK_PROCESS_CPUTIME_ID);
    status = i < CASES ? record_case(record, &plan, &report, err)
                       : record_process_ended(record, 0, err); /* with what still waits */
    seconds += bench_now_s() - start_s;
    busy_seconds += bench_clock_s(CLOCK_PROCESS_CPUTIME_ID) - busy_start_s;
  }
  (void)stat(fixture->path, &after);
  double total = (double)trials * CASES;
  if (status == STATUS_OK) {
    printf("%6zu trials per case: %9.0f trials/s (%.0f per CPU second), %.2f ms per case, "
           "%.1f bytes per trial\n",
           trials, total / seconds, total / busy_seconds, 1e3 * seconds / CASES,
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
  enum status status = measure(fixture, 20, &err);
  if (status == STATUS_OK) {
    status = measure(fixture, 200, &err);
  }
  if (status == STATUS_OK) {
    status = measure(fixture, FIXTURE_TRIALS_MAX, &err);
  }
  if (status != STATUS_OK) {
    fprintf(stderr, "bench_record: %s\n", err.message);
  }
  (void)unlink(fixture->path);
  fixture_free(fixture);
  return status == STATUS_OK ? 0 : 1;
}
