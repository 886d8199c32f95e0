/* torture --haul PATH [OPTION...] - does hostile things to haul on the fake driver, in several jobs
 * at once, and ends with a table of what came of it. Every count but the first three ought to be 0;
 * then the exit code is 0. README.md describes it. */
#include "tests/torture/torture.h"

#include <errno.h>
#include <ftw.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAME_(name, ...) #name,
const char *const trial_kind_names[TRIAL_KINDS] = {TRIAL_KIND_LIST(NAME_)};
const char *const count_names[COUNTS] = {COUNT_LIST(NAME_)};
#define WEIGHT_(name, weight) weight,
static const unsigned weights[TRIAL_KINDS] = {TRIAL_KIND_LIST(WEIGHT_)};

/* Of all jobs. */
struct totals {
  atomic_ulong next;
  atomic_ulong trials[TRIAL_KINDS], runs[TRIAL_KINDS], cases[TRIAL_KINDS];
  atomic_ulong counts[TRIAL_KINDS][COUNTS];
  atomic_ulong skipped[TRIAL_KINDS];
};

struct plan {
  struct settings settings;
  double minutes;
  unsigned long trials; /* at most; 0: no bound */
  unsigned jobs;
  int only;   /* kind; -1: all */
  long first; /* --trial */
};

/* One case of each path and kind that the fake driver knows: short ones. */
static const char scenario[] =
    "schema_version = 1\n"
    "name = \"torture\"\n"
    "[measure]\n"
    "trials = { min = 5, max = 6 }\n"
    "max_time = \"50ms\"\n"
    "processes = 2\n"
    "telemetry = \"20ms\"\n"
    "[[transfer]]\nname = \"up\"\nmethod = \"ce\"\n"
    "from = { numa = 0, memory = \"pinned\" }\nto = { gpu = [0, 1, 2, 3] }\n"
    "size = [\"64KiB\", \"1MiB\"]\n"
    "[[transfer]]\nname = \"down\"\nmethod = [\"ce\", \"sm\"]\n"
    "from = { gpu = [0, 1, 2, 3] }\nto = { numa = 0, memory = \"pinned\" }\nsize = \"256KiB\"\n"
    "[[transfer]]\nname = \"across\"\nmethod = \"ce\"\n"
    "from = { gpu = [0, 1, 2] }\nto = { gpu = [0, 1, 2] }\nsize = \"512KiB\"\n"
    "[[transfer]]\nname = \"host\"\nmethod = \"cpu\"\npairs = \"same\"\nthreads = 1\n"
    "from = { numa = 0, memory = \"pageable\" }\nto = { numa = 0, memory = \"pageable\" }\n"
    "size = [\"4KiB\", \"64KiB\"]\n"
    "[[chase]]\nname = \"latency\"\nat = { gpu = [0, 3] }\nfootprint = \"64KiB\"\nspace = "
    "\"global\"\n"
    "stride = 128\n"
    "[[stream]]\nname = \"triad\"\nat = { gpu = 1 }\nop = \"triad\"\nsize = \"1MiB\"\n";

uint64_t trial_random(struct trial *trial) {
  /* splitmix64 */
  uint64_t value = trial->random += UINT64_C(0x9e3779b97f4a7c15);
  value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
  return value ^ value >> 31;
}

unsigned trial_below(struct trial *trial, unsigned limit) {
  return (unsigned)(trial_random(trial) >> 32) % limit;
}

void trial_count(struct trial *trial, enum count count, unsigned number, const char *format, ...) {
  bool any = false;
  for (int i = 0; i < COUNTS; i++) {
    any = any || trial->counts[i] > 0;
  }
  trial->counts[count] += number;
  if (!any) {
    va_list list;
    va_start(list, format);
    int used = snprintf(trial->detail, sizeof trial->detail, "%s: ", count_names[count]);
    (void)vsnprintf(trial->detail + used, sizeof trial->detail - (size_t)used, format, list);
    va_end(list);
  }
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *at) {
  (void)info, (void)type, (void)at;
  return remove(path);
}

static void remove_folder(const char *path) {
  (void)nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static enum trial_kind kind_of(uint64_t number) {
  unsigned total = 0;
  for (int kind = 0; kind < TRIAL_KINDS; kind++) {
    total += weights[kind];
  }
  /* Neighbours are of different kinds: a short run has all. */
  unsigned at = (unsigned)(number * 11 % total);
  for (int kind = 0; kind < TRIAL_KINDS; kind++) {
    if (at < weights[kind]) {
      return (enum trial_kind)kind;
    }
    at -= weights[kind];
  }
  return TRIAL_kill;
}

static double now_s(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void do_trial(const struct plan *plan, struct totals *totals, uint64_t number) {
  struct trial trial = {.settings = &plan->settings,
                        .kind = plan->only >= 0 ? (enum trial_kind)plan->only : kind_of(number),
                        .number = number};
  trial.random = plan->settings.seed * UINT64_C(1000003) + number * 31 + (uint64_t)trial.kind;
  (void)snprintf(trial.folder, sizeof trial.folder, "%.300s/%s-%llu", plan->settings.folder,
                 trial_kind_names[trial.kind], (unsigned long long)number);
  remove_folder(trial.folder);
  (void)mkdir(trial.folder, 0755);
  trial_run(&trial);
  atomic_fetch_add(&totals->trials[trial.kind], 1);
  atomic_fetch_add(&totals->runs[trial.kind], trial.runs);
  atomic_fetch_add(&totals->cases[trial.kind], trial.cases);
  for (int i = 0; i < COUNTS; i++) {
    atomic_fetch_add(&totals->counts[trial.kind][i], trial.counts[i]);
  }
  if (trial.skipped != NULL && atomic_fetch_add(&totals->skipped[trial.kind], 1) == 0) {
    (void)printf("%s is skipped: %s\n", trial_kind_names[trial.kind], trial.skipped);
  }
  if (trial.detail[0] == '\0') {
    remove_folder(trial.folder);
    return;
  }
  for (char *at = trial.detail; *at != '\0'; at++) {
    if (*at == '\n' || *at == '\x1b') {
      *at = ' ';
    }
  }
  (void)printf("%s %llu: %s\n  repeat: --seed %llu --kind %s --trial %llu; its files: %s\n",
               trial_kind_names[trial.kind], (unsigned long long)number, trial.detail,
               (unsigned long long)plan->settings.seed, trial_kind_names[trial.kind],
               (unsigned long long)number, trial.folder);
  (void)fflush(stdout);
}

static void do_job(const struct plan *plan, struct totals *totals, double end_s) {
  (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (now_s() < end_s) {
    const unsigned long number = atomic_fetch_add(&totals->next, 1);
    if (plan->trials > 0 && number >= (unsigned long)plan->first + plan->trials) {
      break;
    }
    do_trial(plan, totals, number);
  }
  _exit(0);
}

/* The run that others are compared with. Two of them show which numbers repeat. */
static bool make_clean_run(struct settings *settings) {
  static char clean[PATH_SIZE];
  struct trial trial = {.settings = settings};
  (void)snprintf(clean, sizeof clean, "%.400s/clean", settings->folder);
  (void)snprintf(trial.folder, sizeof trial.folder, "%.400s", settings->folder);
  settings->clean = clean;
  (void)unlink(clean);
  char path[PATH_SIZE + 8];
  (void)snprintf(path, sizeof path, "%s.toml", clean);
  FILE *file = fopen(path, "we");
  if (file == NULL || fputs(scenario, file) < 0 || fclose(file) != 0) {
    perror(path);
    return false;
  }
  struct haul haul;
  haul_run(&trial, &haul, NULL, 600,
           (const char *const[]){"run", path, "--db", clean, "--set", "measure.processes=1", NULL});
  if (haul.code == 0) {
    haul_fini(&haul);
    haul_run(&trial, &haul, NULL, 600,
             (const char *const[]){"query", "--db", clean, "pragma integrity_check", NULL});
  }
  if (haul.code != 0) {
    (void)fprintf(stderr, "torture: an undisturbed run ended with %d: %s\n", haul.code, haul.err);
    return false;
  }
  haul_fini(&haul);
  database_execute(clean, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE");
  return true;
}

static unsigned long print_table(const struct totals *totals, const struct plan *plan,
                                 double seconds) {
  unsigned long bad = 0;
  unsigned long sums[3 + COUNTS] = {0};
  (void)printf("\n%-8s %7s %7s %8s", "kind", "trials", "runs", "cases");
  for (int i = 0; i < COUNTS; i++) {
    (void)printf(" %8s", count_names[i]);
  }
  (void)printf("\n");
  for (int kind = 0; kind <= TRIAL_KINDS; kind++) {
    const bool last = kind == TRIAL_KINDS;
    unsigned long row[3 + COUNTS];
    for (int i = 0; i < 3 + COUNTS; i++) {
      row[i] = last     ? sums[i]
               : i == 0 ? totals->trials[kind]
               : i == 1 ? totals->runs[kind]
               : i == 2 ? totals->cases[kind]
                        : totals->counts[kind][i - 3];
      sums[i] += row[i];
      bad += !last && i >= 3 ? row[i] : 0;
    }
    (void)printf("%-8s %7lu %7lu %8lu", last ? "all" : trial_kind_names[kind], row[0], row[1],
                 row[2]);
    for (int i = 3; i < 3 + COUNTS; i++) {
      (void)printf(" %8lu", row[i]);
    }
    (void)printf("\n");
  }
  for (int kind = 0; kind < TRIAL_KINDS; kind++) {
    if (totals->skipped[kind] > 0) {
      (void)printf("%s: %lu trials skipped\n", trial_kind_names[kind],
                   (unsigned long)totals->skipped[kind]);
    }
  }
  (void)printf("seed %llu, %u jobs, %.1f min\n", (unsigned long long)plan->settings.seed,
               plan->jobs, seconds / 60);
  return bad;
}

static bool read_options(struct plan *plan, int argc, char **argv) {
  static const struct option options[] = {{"haul", 1, NULL, 'h'},
                                          {"fake", 1, NULL, 'f'},
                                          {"machine", 1, NULL, 'm'},
                                          {"preload", 1, NULL, 'p'},
                                          {"folder", 1, NULL, 'd'},
                                          {"seed", 1, NULL, 's'},
                                          {"minutes", 1, NULL, 't'},
                                          {"trials", 1, NULL, 'n'},
                                          {"jobs", 1, NULL, 'j'},
                                          {"kind", 1, NULL, 'k'},
                                          {"trial", 1, NULL, 'i'},
                                          {"shards", 1, NULL, 'c'},
                                          {0}};
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    switch (option) {
    case 'h':
      plan->settings.haul = realpath(optarg, NULL);
      break;
    case 'f':
      plan->settings.fake = realpath(optarg, NULL);
      break;
    case 'm':
      plan->settings.machine = realpath(optarg, NULL);
      break;
    case 'p':
      plan->settings.preload = realpath(optarg, NULL);
      break;
    case 'd':
      plan->settings.folder = optarg;
      break;
    case 's':
      plan->settings.seed = strtoull(optarg, NULL, 10);
      break;
    case 't':
      plan->minutes = strtod(optarg, NULL);
      break;
    case 'n':
      plan->trials = strtoul(optarg, NULL, 10);
      break;
    case 'j':
      plan->jobs = (unsigned)strtoul(optarg, NULL, 10);
      break;
    case 'k':
      for (plan->only = TRIAL_KINDS - 1;
           plan->only >= 0 && strcmp(trial_kind_names[plan->only], optarg) != 0; plan->only--) {
      }
      if (plan->only < 0) {
        return false;
      }
      break;
    case 'c':
      plan->settings.shards = (unsigned)strtoul(optarg, NULL, 10);
      break;
    case 'i':
      plan->first = strtol(optarg, NULL, 10);
      plan->trials = 1;
      break;
    default:
      return false;
    }
  }
  const struct settings *settings = &plan->settings;
  return settings->haul != NULL && settings->fake != NULL && settings->machine != NULL &&
         settings->preload != NULL && plan->jobs > 0;
}

int main(int argc, char **argv) {
  struct plan plan = {.settings = {.seed = 1}, .minutes = 1, .jobs = 2, .only = -1};
  char folder[] = "/tmp/haul-torture-XXXXXX";
  if (!read_options(&plan, argc, argv)) {
    (void)fprintf(stderr, "usage: torture --haul PATH --fake FOLDER --machine FILE --preload PATH\n"
                          "  [--minutes N] [--jobs N] [--seed N] [--trials N] [--folder PATH]\n"
                          "  [--kind KIND] [--trial N] [--shards N]\n");
    return 2;
  }
  if (plan.settings.folder != NULL ? mkdir(plan.settings.folder, 0755) != 0 && errno != EEXIST
                                   : mkdtemp(folder) == NULL) {
    perror("torture: its folder");
    return 2;
  }
  plan.settings.folder =
      realpath(plan.settings.folder != NULL ? plan.settings.folder : folder, NULL);
  (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
  struct totals *totals =
      mmap(NULL, sizeof *totals, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (totals == MAP_FAILED || !make_clean_run(&plan.settings)) {
    return 2;
  }
  totals->next = (unsigned long)plan.first;
  const double start_s = now_s();
  for (unsigned job = 0; job < plan.jobs; job++) {
    if (fork() == 0) {
      do_job(&plan, totals, start_s + 60 * plan.minutes);
    }
  }
  int status = 0;
  bool jobs_ok = true;
  while (wait(&status) > 0) {
    jobs_ok = jobs_ok && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  const unsigned long bad = print_table(totals, &plan, now_s() - start_s);
  if (!jobs_ok) {
    (void)printf("a job of torture itself failed\n");
  }
  if (bad == 0 && jobs_ok && argc > 0) {
    remove_folder(plan.settings.folder);
  }
  return bad == 0 && jobs_ok ? 0 : 1;
}
