/* The supervisor with an engine whose cases do what their names say. */
#include "runner/supervise/supervise.h"

#include "runner/supervise/child.h"
#include "runner/supervise/message.h"
#include "tests/runner/supervise/supervise_all.h"

#include <errno.h>
#include <glob.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CASES_MAX = 16, SOCKET_FD = 3 };

struct engine {
  int unused;
};

/* Seen by parent and workers alike. */
struct shared {
  unsigned starts_to_fail; /* engine_new dies so often */
  unsigned engines_freed;
  pid_t worker;
  bool forked_with_telemetry;
  atomic_uint hanging;    /* cases that began to hang */
  atomic_uint reads;      /* of the telemetry */
  atomic_uint progress;   /* reports of it */
  atomic_uint interrupts; /* that the parent has seen */
};
static struct shared *shared;
static volatile sig_atomic_t interrupted;
static bool telemetry_open; /* in this process, or in the parent when it forked */
/* What the sampler does at its third sample. */
static enum { SAMPLES_COME, SAMPLES_HANG, SAMPLES_CRASH } samples_do;

static void pause_ms(long ms) {
  struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
  while (nanosleep(&time, &time) != 0) {
  }
}

/* Until it has happened so often; a process that waits in vain is ended by the watchdog. */
static void wait_for(const atomic_uint *count, unsigned wanted) {
  while (atomic_load(count) < wanted) {
    pause_ms(2);
  }
}

/* The engine ----------------------------------------------------------------------------------- */

static enum status fake_new(const struct machine *machine, struct peers *peers,
                            struct engine **engine, struct error *err) {
  shared->worker = getpid();
  shared->forked_with_telemetry |= telemetry_open;
  if (shared->starts_to_fail > 0) {
    shared->starts_to_fail--;
    raise(SIGKILL);
  }
  *engine = calloc(1, sizeof **engine);
  return *engine ? STATUS_OK : error_set(err, STATUS_NO_MEMORY, "no memory");
}

static enum status failing_new(const struct machine *machine, struct peers *peers,
                               struct engine **engine, struct error *err) {
  return error_set(err, STATUS_CUDA, "the driver says no");
}

static void fake_free(struct engine *engine) {
  free(engine);
  shared->engines_freed++;
}

static size_t open_file_count(void) {
  glob_t files = {0};
  const int result = glob("/proc/self/fd/*", 0, NULL, &files);
  const size_t count = result == 0 ? files.gl_pathc - 1 : 0; /* the folder itself */
  globfree(&files);
  return count;
}

static void send_trials(const struct trial_sink *sink, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    struct trial trial = {.ordinal = i,
                          .phase = i == 0 ? TRIAL_WARMUP : TRIAL_MEASURE,
                          .iterations = 1,
                          .elapsed_ns = 1000 + i};
    sink->trial(sink->context, &trial);
    struct flow_trial flow_trial = {.ordinal = i, .flow = 1, .elapsed_ns = 10 + i};
    sink->flow_trial(sink->context, &flow_trial);
  }
}

static enum status fake_run_case(struct engine *engine, const struct case_def *def,
                                 const struct trial_sink *sink, struct case_outcome *outcome,
                                 struct error *err) {
  const char *name = def->name;
  *outcome = (struct case_outcome){.status = CASE_OK, .stop = STOP_TRIALS};
  if (strncmp(name, "interrupt", 9) == 0) {
    kill(getppid(), SIGUSR1);
  }
  if (strcmp(name, "die") == 0) {
    send_trials(sink, 100);
    raise(SIGKILL);
  } else if (strcmp(name, "exit") == 0) {
    _exit(3);
  } else if (strstr(name, "hang") != NULL) {
    atomic_fetch_add(&shared->hanging, 1);
    for (;;) {
      pause();
    }
  } else if (strcmp(name, "sticky") == 0) {
    outcome->status = CASE_FAILED;
    snprintf(outcome->reason, sizeof outcome->reason, "illegal address");
    return error_set(err, STATUS_STICKY, "illegal address");
  } else if (strcmp(name, "error") == 0) {
    return error_set(err, STATUS_IO, "an error with no outcome");
  } else if (strcmp(name, "flood") == 0) {
    for (;;) {
      send_trials(sink, 1000);
    }
  } else if (strcmp(name, "garbage") == 0) {
    assert_int_equal(send(SOCKET_FD, "x", 1, 0), 1);
    pause_ms(10000);
  } else if (strcmp(name, "slow") == 0) {
    pause_ms(300);
  } else if (strcmp(name, "sampled") == 0) {
    wait_for(&shared->reads, 3);
  } else if (strcmp(name, "watched") == 0) {
    wait_for(&shared->progress, 3);
  } else if (strcmp(name, "signalled") == 0) {
    raise(SIGINT);
    raise(SIGTERM);
  } else if (strcmp(name, "files") == 0) {
    notes_add(&outcome->notes, &(struct note){.amounts = {(double)open_file_count()}});
    printf("a driver's noise\n");
    (void)fflush(stdout);
  }
  send_trials(sink, 100);
  return STATUS_OK;
}

/* The telemetry -------------------------------------------------------------------------------- */

static enum status fake_telemetry_new(const struct machine *machine, struct telemetry **telemetry,
                                      struct error *err) {
  assert_false(telemetry_open);
  telemetry_open = true;
  *telemetry = NULL; /* nothing is needed */
  return STATUS_OK;
}

static bool fake_telemetry_read(struct telemetry *telemetry, uint32_t gpu,
                                struct telemetry_sample *sample) {
  *sample = (struct telemetry_sample){.gpu = (int32_t)gpu, .sm_clock_khz = gpu == 0 ? 1980000 : -1};
  if (gpu > 0) {
    return gpu == 1;
  }
  if (atomic_fetch_add(&shared->reads, 1) == 2 && samples_do != SAMPLES_COME) {
    if (samples_do == SAMPLES_CRASH) {
      raise(SIGKILL);
    }
    for (;;) {
      pause();
    }
  }
  return true;
}

static void fake_telemetry_free(struct telemetry *telemetry) {
  telemetry_open = false;
}

#define FAKE_ENGINE                                                                                \
  .engine_new = fake_new, .engine_run_case = fake_run_case, .engine_free = fake_free
static const struct supervise_ops fake_ops = {FAKE_ENGINE};
static const struct supervise_ops sampling_ops = {FAKE_ENGINE, .telemetry_new = fake_telemetry_new,
                                                  .telemetry_read = fake_telemetry_read,
                                                  .telemetry_free = fake_telemetry_free};

/* The bench ------------------------------------------------------------------------------------ */

struct bench {
  struct seen seen; /* first: what the sink keeps */
  size_t sample_count, warning_count, progress_count;
  char warning[512];
  uint64_t left_at_first_ns;
  unsigned paused_before; /* bit i: there was a pause before process i */
  bool interrupt_in_pause;
  size_t interrupt_at; /* the user interrupts at this report; 0 = none */
  uint32_t done_before;
  struct plan_case cases[CASES_MAX];
  struct plan plan;
  struct supervise_options options;
  struct supervise_sink sink;
  struct error err;
};

static bool bench_already_done(void *context, uint32_t process, size_t case_index) {
  const struct bench *bench = context;
  return process == 0 && case_index < bench->done_before;
}

static enum status bench_case_finished(void *context, const struct case_report *report,
                                       struct error *err) {
  struct bench *bench = context;
  const enum status status = seen_case_finished(context, report, err);
  interrupted = bench->interrupt_at == bench->seen.report_count ? 1 : interrupted;
  return status;
}

static enum status bench_telemetry(void *context, const struct telemetry_sample *samples,
                                   size_t count, struct error *err) {
  assert_int_equal(samples[0].sm_clock_khz, 1980000);
  ((struct bench *)context)->sample_count += count;
  return STATUS_OK;
}

static void bench_warning(void *context, const char *text) {
  struct bench *bench = context;
  bench->warning_count++;
  snprintf(bench->warning, sizeof bench->warning, "%s", text);
}

static void bench_progress(void *context, const struct progress *progress) {
  struct bench *bench = context;
  seen_progress(context, progress);
  if (bench->progress_count++ == 0) {
    bench->left_at_first_ns = progress->left_ns;
  }
  atomic_fetch_add(&shared->progress, 1);
  if (progress->pause_left_ns > 0) {
    assert_null(progress->def);
    bench->paused_before |= 1U << progress->process;
    interrupted = bench->interrupt_in_pause;
  }
}

static struct bench *bench_new(const char *const *names) {
  static struct bench storage;
  struct bench *bench = &storage;
  *bench = (struct bench){0};
  for (size_t i = 0; names[i] != NULL; i++) {
    bench->cases[i].def.name = names[i];
    bench->cases[i].estimate_ns = 1000000;
    bench->cases[i].longest_ns = 3000000000; /* the watchdog waits for ten times that */
    bench->cases[i].skip_reason = strcmp(names[i], "skip") == 0 ? "no such GPU" : NULL;
    bench->plan.case_count++;
  }
  bench->plan.cases = bench->cases;
  bench->options = (struct supervise_options){.ops = &fake_ops,
                                              .processes = 1,
                                              .watchdog_floor_ns = 10000000000,
                                              .interrupted = &interrupted};
  bench->sink = (struct supervise_sink){.context = bench,
                                        .already_done = bench_already_done,
                                        .process_started = seen_process_started,
                                        .case_finished = bench_case_finished,
                                        .process_ended = seen_process_ended,
                                        .telemetry = bench_telemetry,
                                        .progress = bench_progress,
                                        .warning = bench_warning};
  *shared = (struct shared){0};
  interrupted = 0;
  return bench;
}

static enum status bench_run(struct bench *bench) {
  enum status status = supervise_all(&bench->plan, &bench->options, &bench->sink, &bench->err);
  /* No worker is left, whatever happened. */
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
  assert_int_equal(errno, ECHILD);
  assert_false(telemetry_open);
  return status;
}

#define BENCH(...) bench_new((const char *const[]){__VA_ARGS__, NULL})

static void assert_report(const struct bench *bench, size_t i, size_t case_index,
                          enum case_status status, const char *reason) {
  assert_true(i < bench->seen.report_count);
  assert_int_equal(bench->seen.reports[i].case_index, case_index);
  assert_string_equal(case_status_text(bench->seen.reports[i].outcome.status),
                      case_status_text(status));
  assert_contains(bench->seen.reports[i].outcome.reason, reason);
}

/* The tests ------------------------------------------------------------------------------------ */

TEST(cases_run_in_plan_order) {
  struct bench *bench = BENCH("a", "skip", "b");
  bench->options.processes = 2;
  assert_int_equal(bench_run(bench), STATUS_OK);
  assert_int_equal(bench->seen.report_count, 4);
  for (uint32_t i = 0; i < 4; i++) {
    assert_report(bench, i, i % 2 == 0 ? 0 : 2, CASE_OK, "");
    assert_int_equal(bench->seen.reports[i].process, i / 2);
    assert_int_equal(bench->seen.reports[i].trial_count, 100);
    assert_int_equal(bench->seen.reports[i].flow_trial_count, 100);
    assert_int_equal(bench->seen.reports[i].elapsed_sum_ns, 100 * 1000 + 99 * 100 / 2);
  }
  assert_int_equal(bench->seen.reports[0].worker, bench->seen.reports[1].worker);
  assert_int_not_equal(bench->seen.reports[1].worker, bench->seen.reports[2].worker);
  assert_int_equal(bench->seen.started, 2);
  assert_int_equal(bench->seen.ended, 2);
  assert_int_equal(shared->engines_freed, 2);
  assert_int_equal(bench->seen.done, 4);
  assert_int_equal(bench->seen.total, 4);
}

TEST(worker_faults_cost_one_case) {
  static const struct {
    enum case_status status;
    const char *reason;
    size_t trial_count;
  } expected[] = {
      {CASE_OK, "", 100},
      {CASE_CRASHED, "was killed by signal 9 (SIGKILL)", 96}, /* three full messages */
      {CASE_CRASHED, "ended with exit code 3", 0},
      {CASE_FAILED, "illegal address", 0},
      {CASE_OK, "", 100},
      {CASE_FAILED, "an error with no outcome", 0},
      {CASE_CRASHED, "unreadable", 0},
      {CASE_OK, "", 100},
  };
  struct bench *bench = BENCH("a", "die", "exit", "sticky", "b", "error", "garbage", "c");
  assert_int_equal(bench_run(bench), STATUS_OK);
  assert_int_equal(bench->seen.report_count, 8);
  for (size_t i = 0; i < 8; i++) {
    assert_report(bench, i, i, expected[i].status, expected[i].reason);
    assert_int_equal(bench->seen.reports[i].trial_count, expected[i].trial_count);
    assert_int_equal(bench->seen.reports[i].killed, i == 1);
  }
  assert_int_not_equal(bench->seen.reports[3].worker, bench->seen.reports[4].worker);
  assert_int_equal(bench->seen.started, 6); /* each of its workers: five cases cost one */
  assert_int_equal(bench->seen.ended, 1);
}

/* Every case uses GPU 0. */
TEST(failing_gpus_are_set_aside) {
  struct bench *bench = BENCH("die", "die", "die", "sticky", "a", "sticky", "exit", "sticky", "no");
  for (size_t i = 0; i < bench->plan.case_count; i++) {
    bench->cases[i].gpus = 1;
  }
  assert_int_equal(bench_run(bench), STATUS_OK);
  assert_report(bench, 4, 4, CASE_OK, ""); /* workers that somebody kills do not count */
  assert_report(bench, 7, 7, CASE_FAILED, "illegal address");
  assert_report(bench, 8, 8, CASE_FAILED,
                "not run: GPU 0 failed 3 times in a row (counts as failed");
  assert_int_equal(bench->seen.reports[8].trial_count, 0);
  assert_int_equal(bench->seen.done, 9);
  assert_int_equal(bench->warning_count, 1);
}

TEST(watchdog_ends_silent_cases) {
  struct bench *bench = BENCH("hang", "slow", "hang", "b");
  bench->options.watchdog_floor_ns = 250000000;
  bench->cases[0].longest_ns = 1000000;
  bench->cases[2].longest_ns = 1000000;
  assert_int_equal(bench_run(bench), STATUS_OK);
  assert_report(bench, 0, 0, CASE_HUNG, "no answer for 250 ms");
  assert_true(bench->seen.reports[0].outcome.total_ns >= 250000000);
  assert_report(bench, 1, 1, CASE_OK, "");
  assert_report(bench, 2, 2, CASE_HUNG, "no answer for 250 ms");
  assert_report(bench, 3, 3, CASE_OK, "");
  /* One that may be silent for longer than the budget has left is for --resume. */
  bench = BENCH("a", "hang");
  bench->options.budget_ns = 500000000;
  assert_int_equal(bench_run(bench), STATUS_INTERRUPTED);
  assert_int_equal(bench->seen.report_count, 1);
}

TEST(flood_of_trials_is_bounded) {
  struct bench *bench = BENCH("flood", "b");
  bench->options.watchdog_floor_ns = 1000000000;
  bench->cases[0].longest_ns = 1000000;
  assert_int_equal(bench_run(bench), STATUS_OK);
  assert_int_not_equal(bench->seen.reports[0].outcome.status, CASE_OK);
  assert_true(bench->seen.reports[0].trial_count <= COLLECT_TRIALS_MAX);
  assert_report(bench, 1, 1, CASE_OK, "");
}

TEST(worker_start_fails_three_times) {
  struct bench *bench = BENCH("a", "b");
  shared->starts_to_fail = 2;
  assert_int_equal(bench_run(bench), STATUS_OK);
  assert_int_equal(bench->seen.report_count, 2);
  assert_int_equal(bench->warning_count, 2);
  assert_contains(bench->warning, "lost while it measured no case, another one is started");
  bench = BENCH("a", "b");
  shared->starts_to_fail = 1000;
  assert_int_equal(bench_run(bench), STATUS_CRASHED);
  assert_int_equal(shared->starts_to_fail, 997);
  assert_int_equal(bench->seen.report_count, 0);
  assert_contains(bench->err.message, "tried 3 times");
  assert_contains(bench->err.message, "SIGKILL");
  bench = BENCH("a");
  struct supervise_ops failing = fake_ops;
  failing.engine_new = failing_new;
  bench->options.ops = &failing;
  assert_int_equal(bench_run(bench), STATUS_CRASHED);
  assert_contains(bench->err.message, "the driver says no");
}

TEST(already_done_cases_are_skipped) {
  struct bench *bench = BENCH("a", "b", "c");
  bench->options.processes = 2;
  bench->done_before = 2;
  assert_int_equal(bench_run(bench), STATUS_OK);
  assert_int_equal(bench->seen.report_count, 4);
  assert_report(bench, 0, 2, CASE_OK, "");
  assert_report(bench, 1, 0, CASE_OK, "");
  assert_int_equal(bench->seen.total, 4);
  bench = BENCH("a", "b");
  bench->done_before = 2;
  assert_int_equal(bench_run(bench), STATUS_OK);
  assert_int_equal(bench->seen.started, 0);
  assert_int_equal(bench->seen.ended, 0);
}

static void raise_interrupt(int number) {
  interrupted = (sig_atomic_t)(interrupted + 1);
  atomic_fetch_add(&shared->interrupts, 1);
}

TEST(first_interrupt_lets_case_end_in_time) {
  signal(SIGUSR1, raise_interrupt);
  struct bench *bench = BENCH("a", "interrupt", "b");
  assert_int_equal(bench_run(bench), STATUS_INTERRUPTED);
  assert_int_equal(bench->seen.report_count, 2);
  assert_report(bench, 1, 1, CASE_OK, "");
  assert_int_equal(shared->engines_freed, 1);
  assert_int_equal(bench->seen.ended, 0);
  bench = BENCH("a", "b", "c");
  bench->interrupt_at = 1;
  assert_int_equal(bench_run(bench), STATUS_INTERRUPTED);
  assert_int_equal(bench->seen.report_count, 1);
  bench = BENCH("interrupt, hang");
  bench->cases[0].longest_ns = UINT64_C(3600000000000); /* a long case is stopped, too */
  bench->options.watchdog_floor_ns = 100000000;
  assert_int_equal(bench_run(bench), STATUS_INTERRUPTED);
  assert_int_equal(bench->seen.report_count, 0);
}

TEST(second_interrupt_ends_at_once) {
  signal(SIGUSR1, raise_interrupt);
  struct bench *bench = BENCH("hang");
  pid_t parent = getpid();
  pid_t user = fork();
  if (user == 0) {
    wait_for(&shared->hanging, 1);
    kill(parent, SIGUSR1);
    wait_for(&shared->interrupts, 1);
    kill(parent, SIGUSR1);
    _exit(0);
  }
  assert_int_equal(supervise_all(&bench->plan, &bench->options, &bench->sink, &bench->err),
                   STATUS_INTERRUPTED);
  assert_int_equal(bench->seen.report_count, 0);
  assert_int_equal(waitpid(user, NULL, 0), user);
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

TEST(worker_ignores_interrupts) {
  struct bench *bench = BENCH("signalled", "b");
  assert_int_equal(bench_run(bench), STATUS_OK);
  assert_report(bench, 0, 0, CASE_OK, "");
}

TEST(sink_error_ends_run) {
  struct bench *bench = BENCH("a", "b", "c");
  bench->seen.fail_at = 2;
  assert_int_equal(bench_run(bench), STATUS_DATABASE);
  assert_string_equal(bench->err.message, "disk full");
  assert_int_equal(bench->seen.report_count, 2);
}

TEST(worker_closes_files_of_parent) {
  FILE *held = tmpfile();
  struct bench *bench = BENCH("files");
  assert_int_equal(bench_run(bench), STATUS_OK);
  assert_true(bench->seen.reports[0].outcome.notes.items[0].amounts[0] == SOCKET_FD + 1);
  fclose(held);
}

/* A call to NVML that never returns, or that ends its process, costs samples and nothing else. */
TEST(lost_telemetry_costs_no_case) {
  for (samples_do = SAMPLES_HANG; samples_do <= SAMPLES_CRASH; samples_do++) {
    struct bench *bench = BENCH("sampled", "slow", "slow", "slow", "slow");
    bench->options.ops = &sampling_ops;
    bench->options.telemetry_ns = 20000000;
    bench->options.watchdog_floor_ns = samples_do == SAMPLES_HANG ? 400000000 : 10000000000;
    assert_int_equal(bench_run(bench), STATUS_OK);
    assert_int_equal(bench->seen.report_count, 5);
    for (size_t i = 0; i < 5; i++) {
      assert_report(bench, i, i, CASE_OK, "");
    }
    assert_int_equal(bench->warning_count, 1);
    assert_contains(bench->warning, samples_do == SAMPLES_HANG ? "NVML gives no answer for 400 ms"
                                                               : "was killed by signal 9");
  }
  samples_do = SAMPLES_COME;
}

TEST(telemetry_covers_cases) {
  struct bench *bench = BENCH("sampled", "die", "slow");
  bench->options.ops = &sampling_ops;
  bench->options.telemetry_ns = 20000000;
  const uint64_t before_ns = child_now_ns();
  assert_int_equal(bench_run(bench), STATUS_OK);
  const uint64_t looks = (child_now_ns() - before_ns) / bench->options.telemetry_ns;
  /* Of two GPUs; a busy machine looks less often than it is told to, never more often. */
  assert_in_range(bench->sample_count, 2, 2 * (looks + 2));
  assert_false(shared->forked_with_telemetry);
  bench = BENCH("slow");
  bench->options.ops = &sampling_ops;
  assert_int_equal(bench_run(bench), STATUS_OK);
  assert_int_equal(bench->sample_count, 0);
}

TEST(progress_continues_during_case) {
  struct bench *bench = BENCH("watched"); /* ends after the third report */
  assert_int_equal(bench_run(bench), STATUS_OK);
  assert_report(bench, 0, 0, CASE_OK, "");
}

TEST(processes_are_apart_by_the_pause) {
  struct bench *bench = BENCH("a", "skip", "b");
  bench->options.processes = 3;
  bench->options.pause_ns = 250000000;
  bench->options.watchdog_floor_ns = 200000000; /* a pause is no silence */
  const uint64_t before_ns = child_now_ns();
  assert_int_equal(bench_run(bench), STATUS_OK);
  assert_true(child_now_ns() - before_ns >= 2 * bench->options.pause_ns);
  assert_int_equal(bench->seen.report_count, 6);
  assert_int_equal(bench->paused_before, 1 << 1 | 1 << 2); /* not before the first */
  assert_in_range(bench->left_at_first_ns, 500000000, 600000000);
}

/* What was measured before is not waited for. */
TEST(resumed_run_begins_at_once) {
  struct bench *bench = BENCH("a");
  bench->options.processes = 2;
  bench->options.pause_ns = 60000000000;
  bench->done_before = 1;
  assert_int_equal(bench_run(bench), STATUS_OK);
  assert_int_equal(bench->seen.report_count, 1);
  assert_int_equal(bench->paused_before, 0);
}

TEST(interrupt_ends_the_pause) {
  struct bench *bench = BENCH("a");
  bench->options.processes = 2;
  bench->options.pause_ns = 60000000000;
  bench->interrupt_in_pause = true;
  assert_int_equal(bench_run(bench), STATUS_INTERRUPTED);
  assert_string_equal(bench->err.message, "interrupted in the pause before process 2");
  assert_int_equal(bench->seen.report_count, 1);
  assert_int_equal(bench->seen.ended, 1);
}

TEST(worker_dies_with_parent) {
  struct bench *bench = BENCH("hang");
  pid_t parent = fork();
  if (parent == 0) {
    (void)!supervise_all(&bench->plan, &bench->options, &bench->sink, &bench->err);
    _exit(0);
  }
  wait_for(&shared->hanging, 1);
  assert_int_equal(kill(shared->worker, 0), 0);
  kill(parent, SIGKILL);
  assert_int_equal(waitpid(parent, NULL, 0), parent);
  /* The kernel ends it at once; whoever inherits it reaps it. */
  bool dead = false;
  for (int i = 0; i < 2000 && !dead; i++) {
    char text[64] = "";
    PRINTED(path, 64, "/proc/%d/stat", (int)shared->worker);
    FILE *file = fopen(path, "re");
    dead = file == NULL || fgets(text, sizeof text, file) == NULL || strstr(text, ") Z ") != NULL;
    if (file != NULL) {
      (void)fclose(file);
    }
    pause_ms(10);
  }
  assert_true(dead);
}

static int map_shared(void **state) {
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return shared == MAP_FAILED ? -1 : 0;
}

TEST_GROUP(map_shared, NULL);
