/* How workers start ahead of a run, and leave behind it. */
#include "runner/supervise/worker.h"

#include "tests/runner/supervise/supervise_all.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CASES = 3 };

/* Seen by parent and workers alike. */
struct shared {
  bool leaves_late; /* when the end of its process was told */
  bool never_leaves;
  bool prepare_crashes; /* and nothing else */
  atomic_uint prepared, ended, freed;
  const char *prepared_case;
  pid_t worker;
};
static struct shared *shared;

static void wait_for(const atomic_uint *count) {
  while (atomic_load(count) == 0) {
    (void)nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
  }
}

static enum status fake_new(const struct machine *machine, struct peers *peers,
                            struct engine **engine, struct error *err) {
  shared->worker = getpid();
  *engine = NULL;
  return STATUS_OK;
}

static void fake_prepare(struct engine *engine, const struct case_def *def) {
  if (shared->prepare_crashes) {
    raise(SIGKILL);
  }
  shared->prepared_case = def->name;
  atomic_fetch_add(&shared->prepared, 1);
}

static enum status fake_run_case(struct engine *engine, const struct case_def *def,
                                 const struct trial_sink *sink, struct case_outcome *outcome,
                                 struct error *err) {
  *outcome = (struct case_outcome){.status = CASE_OK};
  return STATUS_OK;
}

static void fake_free(struct engine *engine) {
  while (shared->never_leaves) {
    (void)pause();
  }
  if (shared->leaves_late) {
    wait_for(&shared->ended);
  }
  atomic_fetch_add(&shared->freed, 1);
}

static enum status take_end(void *context, uint32_t process, struct error *err) {
  atomic_fetch_add(&shared->ended, 1);
  return STATUS_OK;
}

static const struct supervise_ops ops = {.engine_new = fake_new,
                                         .engine_prepare = fake_prepare,
                                         .engine_run_case = fake_run_case,
                                         .engine_free = fake_free};
static const volatile sig_atomic_t never;
static const struct supervise_options options = {
    .ops = &ops, .processes = 1, .watchdog_floor_ns = 10000000000, .interrupted = &never};
static struct plan_case cases[CASES] = {
    {.def.name = "none", .skip_reason = "no such GPU"}, {.def.name = "a"}, {.def.name = "b"}};
static const struct plan plan = {.cases = cases, .case_count = CASES, .skip_count = 1};
static struct seen seen;
static const struct supervise_sink sink = {.context = &seen,
                                           .process_started = seen_process_started,
                                           .case_finished = seen_case_finished,
                                           .process_ended = take_end};

static void assert_two_ok(void) {
  assert_int_equal(seen.report_count, 2);
  assert_int_equal(seen.reports[0].outcome.status, CASE_OK);
  assert_int_equal(seen.reports[1].outcome.status, CASE_OK);
}

static int set_up(void **state) {
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  seen = (struct seen){0};
  return shared == MAP_FAILED;
}

static int tear_down(void **state) {
  return waitpid(-1, NULL, WNOHANG) != -1 || munmap(shared, sizeof *shared) != 0;
}

TEST_WITH(last_one_leaves_while_the_run_goes_on, set_up, tear_down) {
  shared->leaves_late = true;
  assert_ok(supervise_all(&plan, &options, &sink, err), err);
  assert_int_equal(shared->freed, 1);
  assert_int_equal(shared->prepared, 0); /* it was not started ahead */
}

TEST_WITH(first_one_starts_before_the_run, set_up, tear_down) {
  struct supervisor *supervisor = supervise_new(&plan, &options);
  supervise_start_worker(supervisor);
  wait_for(&shared->prepared);
  assert_ptr_equal(shared->prepared_case, cases[1].def.name);
  assert_ok(supervise_run(supervisor, &sink, err), err);
  supervise_free(supervisor);
  assert_int_equal(seen.worker, shared->worker);
  assert_int_equal(shared->prepared, 1);
  assert_two_ok();
}

TEST_WITH(one_that_is_not_needed_goes, set_up, tear_down) {
  const struct plan nothing = {.cases = cases, .case_count = 1, .skip_count = 1};
  struct supervisor *supervisor = supervise_new(&nothing, &options);
  supervise_start_worker(supervisor);
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
  supervise_free(supervisor);
  supervisor = supervise_new(&plan, &options);
  supervise_start_worker(supervisor);
  supervise_free(supervisor);
}

TEST_WITH(crash_ahead_of_the_first_case_costs_none, set_up, tear_down) {
  siginfo_t info;
  shared->prepare_crashes = true;
  struct supervisor *supervisor = supervise_new(&plan, &options);
  supervise_start_worker(supervisor);
  assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
  assert_ok(supervise_run(supervisor, &sink, err), err);
  supervise_free(supervisor);
  assert_two_ok();
}

/* A driver that hangs when it frees memory. */

static volatile sig_atomic_t interrupts;
static unsigned told;

static void take_stay(void *context) {
  ++*(unsigned *)context;
  interrupts++;
}

static const struct supervise_options impatient = {.ops = &ops,
                                                   .processes = 1,
                                                   .watchdog_floor_ns = 10000000000,
                                                   .worker_stays = take_stay,
                                                   .context = &told,
                                                   .worker_stays_ns = 20000000,
                                                   .interrupted = &interrupts};

static void hang_and_interrupt(sig_atomic_t before, struct error *err) {
  interrupts = 0;
  told = 0;
  shared->never_leaves = true;
  const uint64_t begin_ns = child_now_ns();
  struct supervisor *supervisor = supervise_new(&plan, &impatient);
  assert_ok(supervise_run(supervisor, &sink, err), err);
  interrupts = before;
  supervise_free(supervisor);
  assert_true(child_now_ns() - begin_ns < 5000000000); /* it would be waited for for 10 s */
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

TEST_WITH(one_that_hangs_is_told_once_and_ended_by_an_interrupt, set_up, tear_down) {
  hang_and_interrupt(0, err);
  assert_int_equal(told, 1);
  hang_and_interrupt(1, err); /* the run was interrupted; now the wait is */
  assert_int_equal(told, 1);
}

TEST_WITH(one_that_hangs_is_ended_at_once_after_two_interrupts, set_up, tear_down) {
  hang_and_interrupt(2, err);
  assert_int_equal(told, 0);
}

TEST_GROUP(NULL, NULL);
