/* Another process, whose memory a case has, is killed, stopped, hangs or loses its context while it
 * exports memory or while the worker opens it, copies and closes it (and hangs or loses its own),
 * on the fake driver: that costs one case, no process is left, and no file. The same while it
 * answers signals. Every second
 * combination of an end, a moment and what happens, each with another way to share; with the
 * argument "all" every one of them with every way. */
#include "engine/case/transfer.h"
#include "engine/case/work.h"
#include "engine/engine.h"
#include "engine/machine/machine.h"
#include "runner/supervise/supervise.h"
#include "schema/machine/machine_file.h"
#include "tests/runner/supervise/supervise_all.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 3 << 20, CASES = 3, AT_ONCE = 6 };
static const uint64_t floor_ns = 3000000000;

enum moment { EXPORT, OPEN, COPY, CLOSE, MOMENTS };
enum action { KILLED, STOPPED, HANGS, LOST, ACTIONS };
static const char *const moments[] = {"export", "open", "copy", "close"};
static const char *const actions[] = {"killed", "stopped", "hangs", "its context is lost"};

/* The call of the driver at that moment, and which of those that a process makes: of shared memory
 * the owner makes one of them, before the worker makes several. */
static const struct {
  const char *call;
  unsigned nth;
} calls[share_name_count][MOMENTS] = {
    [SHARE_IPC] = {{"cuIpcGetMemHandle", 1},
                   {"cuIpcOpenMemHandle", 1},
                   {"cuMemcpy*", 2},
                   {"cuIpcCloseMemHandle", 2}},
    [SHARE_FD] = {{"cuMemExportToShareableHandle", 1},
                  {"cuMemImportFromShareableHandle", 1},
                  {"cuMemcpy*", 2},
                  {"cuMemUnmap", 2}},
    [SHARE_POOL] = {{"cuMemPoolExportPointer", 1},
                    {"cuMemPoolImportPointer", 1},
                    {"cuMemcpy*", 2},
                    {"cuMemFreeAsync", 2}},
    [SHARE_MEMFD] = {{"cuMemHostRegister", 1},
                     {"cuMemHostRegister", 2},
                     {"cuMemcpy*", 2},
                     {"cuMemHostUnregister", 2}},
    [SHARE_SHM] = {{"cuMemHostRegister", 1},
                   {"cuMemHostRegister", 2},
                   {"cuMemcpy*", 2},
                   {"cuMemHostUnregister", 2}},
};

/* What the owner calls first when it answers. */
static const struct {
  enum signal_op op;
  const char *call;
} signals[] = {{SIGNAL_EVENT, "cuIpcOpenEventHandle"},
               {SIGNAL_STREAM, "cuStreamWriteValue32"},
               {SIGNAL_FLAG, "cuLaunchKernel"}};
enum { SIGNALS = COUNT_OF(signals) };

struct combination {
  bool is_signal;
  unsigned signal;
  enum share share;
  enum moment moment;
  enum action action;
  bool is_target; /* the other process has the target */
};

static struct machine *machine;
static bool all;
/* Of one trial: the process that is to be killed or stopped. */
static atomic_int *peer_pid;

static void pause_ms(long ms) {
  const struct timespec time = {.tv_nsec = ms * 1000000};
  (void)nanosleep(&time, NULL);
}

/* ---- one trial, in a process of its own ---- */

static void serve(int fd, const struct machine *of, uint32_t process) {
  if (atomic_load(peer_pid) == 0) { /* those that come after it stay */
    atomic_store(peer_pid, getpid());
  }
  engine_serve(fd, of, process);
}

static const struct supervise_ops ops = {.engine_new = engine_new,
                                         .engine_case_processes = engine_case_processes,
                                         .engine_serve = serve,
                                         .engine_run_case = engine_run_case,
                                         .engine_free = engine_free};

static bool report_is_ok(const struct seen_report *report) {
  return report->outcome.status == CASE_OK &&
         (report->outcome.verified || report->outcome.unproven);
}

static bool is_held(const struct combination *of) {
  return of->action == KILLED || of->action == STOPPED;
}

static void write_fault(const struct combination *of, const char *folder) {
  static const char *const kinds[] = {"block", "block", "hang", "sticky"};
  PRINTED(path, 128, "%s/faults.toml", folder);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  (void)fprintf(file,
                "[[fake.fault]]\nkind = \"%s\"\ncall = \"%s\"\nnth = %u\nmarker = \"%s/begun\"\n",
                kinds[of->action],
                of->is_signal ? signals[of->signal].call : calls[of->share][of->moment].call,
                of->is_signal ? 1 : calls[of->share][of->moment].nth, folder);
  if (of->moment == COPY && !of->is_signal) {
    (void)fprintf(file, "size_bytes = %d\n", SIZE);
  }
  if (is_held(of)) {
    (void)fprintf(file, "while = \"%s/held\"\n", folder);
  }
  (void)fclose(file);
  (void)setenv("HAUL_FAKE_FAULTS", path, 1);
  (void)snprintf(path, sizeof path, "%s/held", folder);
  (void)close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

/* When the call has begun, something happens to the process. A call that is held goes on when the
 * process was stopped; where it was killed nothing but its end can end the case in time. */
static pid_t start_helper(const struct combination *of, const char *folder) {
  const pid_t pid = fork();
  if (pid != 0) {
    return pid;
  }
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  PRINTED(begun, 128, "%s/begun", folder);
  PRINTED(held, 128, "%s/held", folder);
  while (access(begun, F_OK) != 0) {
    pause_ms(2);
  }
  if (is_held(of)) {
    (void)kill(atomic_load(peer_pid), of->action == KILLED ? SIGKILL : SIGSTOP);
  }
  if (of->action == STOPPED) {
    (void)unlink(held);
  }
  _exit(0);
}

static size_t count_open_files(void) {
  DIR *folder = opendir("/proc/self/fd");
  size_t count = 0;
  while (folder != NULL && readdir(folder) != NULL) {
    count++;
  }
  (void)closedir(folder);
  return count;
}

static struct endpoint end_of(const struct combination *of, uint32_t process) {
  const enum memory_kind memory = share_memory(of->share);
  return (struct endpoint){.place = memory == MEMORY_SHARED ? PLACE_NUMA : PLACE_GPU,
                           .memory = memory,
                           .process = process,
                           .share = process != 0 ? of->share : SHARE_IPC};
}

/* A case with the other process's memory, one without, and the first again: only that is not ok in
 * which it happened. */
static int run_trial(const struct combination *of, const char *folder) {
  static const volatile sig_atomic_t never = 0;
  struct flow flows[CASES];
  struct plan_case cases[CASES];
  union work signal_work[CASES];
  struct seen seen = {0};
  struct error err = {0};
  memset(cases, 0, sizeof cases);
  memset(signal_work, 0, sizeof signal_work);
  peer_pid =
      mmap(NULL, sizeof *peer_pid, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(peer_pid != MAP_FAILED);
  for (size_t i = 0; i < CASES; i++) {
    const struct endpoint own = endpoint_own(PLACE_GPU, 1, MEMORY_DEVICE);
    const struct endpoint other = end_of(of, i != 1);
    flows[i] = (struct flow){.method = METHOD_CE,
                             .source = of->is_target ? own : other,
                             .target = of->is_target ? other : own,
                             .initiator = of->is_target ? INITIATOR_SOURCE : INITIATOR_TARGET,
                             .size_bytes = SIZE};
    cases[i].def = (struct case_def){.kind = CASE_TRANSFER,
                                     .key = "",
                                     .definition = "{}",
                                     .block = "test",
                                     .name = "test",
                                     .path = "test",
                                     .flows = &flows[i],
                                     .flow_count = 1,
                                     .payload_bytes = SIZE,
                                     .measure = {.trials_min = 2,
                                                 .trials_max = 2,
                                                 .warmup = 1,
                                                 .max_time_ns = 1000000000,
                                                 .min_trial_ns = 1000,
                                                 .precision = 0.01,
                                                 .verify = VERIFY_ONCE}};
    if (of->is_signal) {
      signal_work[i] = (union work){
          .signal = {.op = signals[of->signal].op, .gpu = 1, .other = other, .rounds = 5}};
      cases[i].def.kind = CASE_SIGNAL;
      cases[i].def.work = &signal_work[i];
      cases[i].def.flow_count = 0;
      cases[i].def.operations = 5;
    }
    cases[i].longest_ns = 1000000;
    cases[i].gpus = 3;
  }
  const struct plan plan = {.machine = machine, .cases = cases, .case_count = CASES};
  const struct supervise_options options = {
      .ops = &ops, .processes = 1, .watchdog_floor_ns = floor_ns, .interrupted = &never};
  const struct supervise_sink sink = {.context = &seen, SEEN_SINK};
  write_fault(of, folder);
  const pid_t helper = start_helper(of, folder);
  const size_t files = count_open_files();
  const enum status status = supervise_all(&plan, &options, &sink, &err);
  (void)kill(helper, SIGKILL); /* it waits where the call never came */
  (void)waitpid(helper, NULL, 0);
  static const enum case_status wanted[] = {CASE_CRASHED, CASE_HUNG, CASE_HUNG, CASE_FAILED};
  static const char *const reasons[] = {"process 1 was killed by", "no answer for 3 s",
                                        "no answer for 3 s", "CUDA_ERROR_ILLEGAL_ADDRESS"};
  const struct case_outcome *bad =
      &seen.reports[0].outcome; /* of the first case, and of no other */
  const size_t ok = SUM_OF(i, seen.report_count, report_is_ok(&seen.reports[i]));
  const bool told = strstr(bad->reason, reasons[of->action]) != NULL &&
                    (of->action != KILLED || bad->total_ns < floor_ns); /* not when time is up */
  const bool good = status == STATUS_OK && seen.report_count == CASES && ok == CASES - 1 &&
                    seen.reports[0].case_index == 0 && bad->status == wanted[of->action] && told &&
                    count_open_files() == files;
  if (!good) {
    (void)fprintf(
        stderr,
        "%s, in %s, %s, %s: %s; %zu cases, %zu ok, the first is %s: %s; %zu files, then %zu\n",
        of->is_signal ? signals[of->signal].call : share_text(of->share), moments[of->moment],
        actions[of->action], of->is_target ? "target" : "source", status_text(status),
        seen.report_count, ok, case_status_text(bad->status), bad->reason, files,
        count_open_files());
  }
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- all trials ---- */

static pid_t start_trial(const struct combination *of, char folder[FOLDER_PATH_MAX]) {
  folder_make(folder);
  const pid_t pid = fork();
  if (pid == 0) {
    _exit(run_trial(of, folder));
  }
  assert_true(pid > 0);
  return pid;
}

/* Files whose pages a process left; folders are those of tests beside this one. */
static size_t count_shared_files(void) {
  DIR *folder = opendir("/dev/shm");
  size_t count = 0;
  for (const struct dirent *entry = NULL; folder != NULL && (entry = readdir(folder)) != NULL;) {
    count += strncmp(entry->d_name, "haul", 4) == 0 && entry->d_type == DT_REG;
  }
  if (folder != NULL) {
    (void)closedir(folder);
  }
  return count;
}

struct running {
  pid_t pid; /* 0 = none */
  char folder[FOLDER_PATH_MAX];
};

/* Wait for one of them. Other children were left behind by those that have ended. */
static void await_one(struct running *running, unsigned *failed, unsigned *orphans) {
  static const char *const OWN[] = {"faults.toml", "begun", "held", NULL};
  int status = 0;
  const pid_t pid = wait(&status);
  assert_true(pid > 0);
  for (size_t i = 0; i < AT_ONCE; i++) {
    if (running[i].pid == pid) {
      running[i].pid = 0;
      *failed += !(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
      folder_remove_only(running[i].folder, OWN);
      return;
    }
  }
  (*orphans)++;
}

struct trials {
  struct running running[AT_ONCE];
  unsigned failed, orphans, count;
  size_t active;
};

static void trials_await(struct trials *trials, size_t at_most) {
  while (trials->active > at_most) {
    const unsigned before = trials->orphans;
    await_one(trials->running, &trials->failed, &trials->orphans);
    trials->active -= trials->orphans == before;
  }
}

static void trials_start(struct trials *trials, const struct combination *of) {
  size_t at = 0;
  trials_await(trials, AT_ONCE - 1);
  while (trials->running[at].pid != 0) {
    at++;
  }
  trials->running[at].pid = start_trial(of, trials->running[at].folder);
  trials->active++;
  trials->count++;
}

TEST(one_case_is_lost_and_nothing_is_left) {
  struct trials trials = {.count = 0};
  (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
  machine = memory_new(1, sizeof *machine);
  assert_ok(machine_file_load(getenv("HAUL_FAKE_MACHINE"), machine, err), err);
  const size_t shared_files = count_shared_files();
  for (unsigned i = 0; i < share_name_count * MOMENTS * ACTIONS * 2; i++) {
    const unsigned kind = i / share_name_count;
    const struct combination of = {.share = (enum share)(i % share_name_count),
                                   .moment = (enum moment)(kind % MOMENTS),
                                   .action = (enum action)(kind / MOMENTS % ACTIONS),
                                   .is_target = kind / MOMENTS / ACTIONS != 0};
    if (all ||
        (kind % share_name_count == i % share_name_count && (kind + of.is_target) % 2 == 0)) {
      trials_start(&trials, &of);
    }
  }
  for (unsigned i = 0; i < SIGNALS * ACTIONS; i++) {
    const struct combination of = {.is_signal = true,
                                   .signal = i / ACTIONS,
                                   .share = SHARE_IPC,
                                   .action = (enum action)(i % ACTIONS)};
    if (all || (i + i / ACTIONS) % 2 == 0) {
      trials_start(&trials, &of);
    }
  }
  trials_await(&trials, 0);
  int status = 0;
  for (unsigned i = 0; i < 3 && waitpid(-1, &status, WNOHANG) >= 0; i++) { /* who is still there? */
    trials.orphans++;
  }
  print_message("%u trials, %u failed, %u processes left\n", trials.count, trials.failed,
                trials.orphans);
  assert_true(trials.count >= MOMENTS * ACTIONS);
  assert_int_equal(trials.failed, 0);
  assert_int_equal(trials.orphans, 0);
  assert_int_equal(count_shared_files(), shared_files);
  memory_free(&machine);
}

int test_options(int argc, char **argv) {
  all = argc > 1 && strcmp(argv[1], "all") == 0;
  return TEST_GO_ON;
}
