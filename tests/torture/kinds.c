/* The hostile things, one function for each kind. */
#include "tests/torture/torture.h"

#include "engine/cuda/driver.h"
#include "engine/cuda/nvml.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIMIT_S = 240, LIMIT_HANG_S = 900, LIMIT_READ_S = 120 };

#define ARGUMENTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void trial_path(const struct trial *trial, const char *name, char path[PATH_SIZE]) {
  (void)snprintf(path, PATH_SIZE, "%.400s/%s", trial->folder, name);
}

static void trial_write(const struct trial *trial, const char *name, const char *text) {
  char path[PATH_SIZE];
  trial_path(trial, name, path);
  FILE *file = fopen(path, "we");
  if (file != NULL) {
    (void)fputs(text, file);
    (void)fclose(file);
  }
}

bool trial_copy_clean(const struct trial *trial) {
  return trial_copy_clean_to(trial, trial->database);
}

bool trial_copy_clean_to(const struct trial *trial, const char *path) {
  char buffer[65536];
  int from = open(trial->settings->clean, O_RDONLY | O_CLOEXEC);
  int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  ssize_t got = from >= 0 && to >= 0 ? 1 : -1;
  while (got > 0 && (got = read(from, buffer, sizeof buffer)) > 0) {
    got = write(to, buffer, (size_t)got);
  }
  (void)close(from);
  (void)close(to);
  return got == 0;
}

static const char *const *arguments_of(const struct trial *trial, bool resume) {
  static char scenario[PATH_SIZE];
  static const char *run[] = {"run", scenario, "-v", "--db", NULL, NULL};
  static const char *again[] = {"run", "--resume", "latest", "-v", "--db", NULL, NULL};
  (void)snprintf(scenario, sizeof scenario, "%s.toml", trial->settings->clean);
  run[4] = again[5] = trial->database;
  return resume ? again : run;
}

/* Is there a run to go on with? */
static bool trial_has_open_run(const struct trial *trial) {
  return database_run_is(trial->database, "running") ||
         database_run_is(trial->database, "interrupted") ||
         database_run_is(trial->database, "failed");
}

/* Undisturbed from here on: resume what is open, and all must be there. */
static void trial_complete(struct trial *trial, uint32_t sick_gpus) {
  struct haul haul;
  if (trial_has_open_run(trial)) {
    haul_run(trial, &haul, NULL, LIMIT_S, arguments_of(trial, true));
    /* Who kills each probe that asks the driver has a run without one, which is not resumed with.
     */
    if (!database_run_is(trial->database, "done") &&
        strstr(haul.err, "cannot be resumed: driver_version was none") == NULL) {
      trial_count(trial, COUNT_lost, 1, "--resume ended with %d: %.300s", haul.code, haul.err);
    }
    judge_code(trial, &haul, trial->database);
    haul_fini(&haul);
  }
  if (access(trial->database, F_OK) == 0 && (database_run_is(trial->database, "done"))) {
    judge_database(trial, trial->database, sick_gpus);
  }
}

static void trial_kill(struct trial *trial) {
  const unsigned rounds = 1 + trial_below(trial, 4);
  for (unsigned round = 0; round < rounds; round++) {
    struct haul haul;
    const bool resume = trial_has_open_run(trial);
    if (!resume && database_run_is(trial->database, "done")) {
      break;
    }
    haul_start(trial, &haul, NULL, arguments_of(trial, resume));
    pause_ms(trial_below(trial, 1200));
    for (unsigned kills = 1 + trial_below(trial, 3); kills > 0 && haul_is_running(&haul); kills--) {
      pid_t children[8];
      const size_t count = children_of(haul.pid, children, COUNT_OF(children));
      const unsigned whom = trial_below(trial, 4);
      if (whom == 0) {
        (void)kill(haul.pid, SIGKILL);
      } else if (whom == 1) {
        (void)kill(-haul.pid, SIGKILL);
      } else if (count > 0) {
        (void)kill(children[trial_below(trial, (unsigned)count)], SIGKILL);
      }
      pause_ms(trial_below(trial, 300));
    }
    haul_finish(trial, &haul, LIMIT_S);
    haul_fini(&haul);
  }
  trial_complete(trial, UINT32_MAX);
}

static void trial_io(struct trial *trial) {
  static const int codes[] = {ENOSPC, EIO, EDQUOT, EROFS, EACCES, EINTR};
  struct environment environment = {0};
  struct haul haul;
  const int code = codes[trial_below(trial, COUNT_OF(codes))];
  /* A call that is interrupted is made again: not for ever. */
  const unsigned count = code == EINTR ? 1 : trial_below(trial, 3);
  environment_add(&environment, "LD_PRELOAD=%s", trial->settings->preload);
  environment_add(&environment, "TORTURE_PATH=%s", ".db");
  /* One call after the other, as far as a run makes any. */
  environment_add(&environment, "TORTURE_IO=%u:%d:%u",
                  1 + (unsigned)((trial->number * 7 + trial_below(trial, 7)) % 1500), code, count);
  haul_run(trial, &haul, &environment, LIMIT_S, arguments_of(trial, false));
  if (access(trial->database, F_OK) == 0) {
    judge_code(trial, &haul, trial->database);
  }
  haul_fini(&haul);
  trial_complete(trial, UINT32_MAX);
}

/* ---- faults of the driver ---- */

#define CALL_NAME_(name, typedef_version, number, required) #name,
static const char *const cuda_calls[] = {CUDA_FUNCTION_LIST(CALL_NAME_) "cuGetProcAddress",
                                         "cuInit",
                                         "cuDriverGetVersion",
                                         "haul_*",
                                         "cuMemcpy*",
                                         "cu*"};
#define NVML_NAME_(name, arguments) #name,
static const char *const nvml_calls[] = {NVML_FUNCTION_LIST(NVML_NAME_) "nvml*"};

/* Of enum CUresult. */
static const int cuda_codes[] = {
    1,   2,   3,   4,   5,   6,   7,   8,   34,  36,  46,  100, 101, 102, 200, 201,  202,
    205, 206, 207, 208, 209, 210, 211, 212, 213, 214, 215, 216, 217, 218, 219, 220,  221,
    222, 223, 224, 225, 226, 300, 301, 302, 303, 304, 400, 401, 402, 500, 600, 700,  701,
    702, 703, 704, 705, 708, 709, 710, 711, 712, 713, 714, 715, 716, 717, 718, 719,  720,
    721, 800, 801, 802, 803, 804, 805, 806, 807, 808, 809, 810, 811, 812, 900, 901,  902,
    903, 904, 905, 906, 907, 908, 909, 910, 911, 912, 913, 914, 915, 916, 999, 12345};

static bool fault_write(struct trial *trial, bool nvml, int32_t *gpu) {
  static const char *const kinds[] = {"error",     "sticky", "crash",        "error",
                                      "sticky",    "error",  "sticky",       "crash",
                                      "flip_byte", "drop",   "out_of_memory"};
  static const int signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGKILL, SIGTERM};
  char text[1024];
  const bool hang = trial_below(trial, 40) == 0;
  const char *kind = hang ? "hang" : kinds[trial_below(trial, nvml ? 8 : COUNT_OF(kinds))];
  const char *call = nvml ? nvml_calls[trial_below(trial, COUNT_OF(nvml_calls))]
                          : cuda_calls[trial_below(trial, COUNT_OF(cuda_calls))];
  const int code = nvml ? (int)(trial_below(trial, 30) == 0 ? 999 : trial_below(trial, 29))
                        : cuda_codes[trial_below(trial, COUNT_OF(cuda_codes))];
  const unsigned which = trial_below(trial, 3);
  const unsigned nth = which == 1 ? 2 + trial_below(trial, 60) : 1;
  int used = snprintf(text, sizeof text,
                      "[[fake.fault]]\nkind = \"%s\"\ncall = \"%s\"\nnth = %u\ncount = %d\n"
                      "code = %d\nsignal = %d\n",
                      kind, call, nth, which == 2 && !hang ? 0 : 1, code == 0 ? 1 : code,
                      signals[trial_below(trial, COUNT_OF(signals))]);
  *gpu = !nvml && trial_below(trial, 2) == 0 ? (int32_t)trial_below(trial, 4) : -1;
  if (*gpu >= 0) {
    (void)snprintf(text + used, sizeof text - (size_t)used, "gpu = %d\n", (int)*gpu);
  }
  trial_write(trial, "fault.toml", text);
  return hang;
}

static void trial_fault(struct trial *trial, bool nvml) {
  struct environment environment = {0};
  struct haul haul;
  char path[PATH_SIZE];
  int32_t gpu = -1;
  const bool hang = fault_write(trial, nvml, &gpu);
  trial_path(trial, "fault.toml", path);
  environment_add(&environment, "HAUL_FAKE_FAULTS=%s", path);
  haul_run(trial, &haul, &environment, hang ? LIMIT_HANG_S : LIMIT_S, arguments_of(trial, false));
  if (access(trial->database, F_OK) == 0) {
    judge_code(trial, &haul, trial->database);
    judge_database(trial, trial->database, nvml ? 0 : gpu >= 0 ? UINT32_C(1) << gpu : UINT32_MAX);
  }
  haul_fini(&haul);
}

/* Every copy of one GPU arrives with a wrong byte: none of its transfers may be called ok. */
static void trial_flip_all(struct trial *trial) {
  struct environment environment = {0};
  struct haul haul;
  char path[PATH_SIZE];
  char text[256];
  const unsigned gpu = trial_below(trial, 4);
  (void)snprintf(text, sizeof text,
                 "[[fake.fault]]\nkind = \"flip_byte\"\ncall = \"cuMemcpy*\"\ncount = 0\n"
                 "gpu = %u\noffset = %u\n",
                 gpu, trial_below(trial, 65536));
  trial_write(trial, "fault.toml", text);
  trial_path(trial, "fault.toml", path);
  environment_add(&environment, "HAUL_FAKE_FAULTS=%s", path);
  haul_run(trial, &haul, &environment, LIMIT_S, arguments_of(trial, false));
  judge_code(trial, &haul, trial->database);
  judge_database(trial, trial->database, UINT32_C(1) << gpu);
  judge_corrupt(trial, trial->database, gpu);
  haul_fini(&haul);
}

static void trial_cuda(struct trial *trial) {
  if (trial_below(trial, 16) == 0) {
    trial_flip_all(trial);
  } else {
    trial_fault(trial, false);
  }
}

static void trial_nvml(struct trial *trial) {
  trial_fault(trial, true);
}

/* ---- databases ---- */

static const char *const formats[] = {"table", "json", "jsonl", "csv", "md", "html"};

/* A verb that reads. */
static void read_with(struct trial *trial, unsigned verb, const char *format) {
  char out[PATH_SIZE];
  struct haul haul;
  const char *db = trial->database;
  trial_path(trial, strcmp(format, "html") == 0 ? "page.html" : "page", out);
  const bool page = strcmp(format, "html") == 0;
  const char *list = page ? "table" : format;
  const char *const *verbs[] = {
      ARGUMENTS("list", "runs", "--db", db, "--format", list),
      ARGUMENTS("list", "cases", "--db", db, "--format", list),
      ARGUMENTS("query", "select * from v_case", "--db", db, "--format", list),
      ARGUMENTS("query", "select * from v_run", "--db", db, "--format", list),
      ARGUMENTS("query", "--saved", "run-result", "--db", db, "--format", list),
      ARGUMENTS("query", "select * from environment_fact", "--db", db, "--format", list),
      ARGUMENTS("diff", "latest", "latest", "--db", db, "--format", list),
      ARGUMENTS("check", "latest", "latest", "--db", db),
      ARGUMENTS("history", "*", "--db", db, "--format", list),
      ARGUMENTS("outliers", "latest", "--db", db, "--format", list),
      ARGUMENTS("explain", "latest", "--db", db, "--format", list),
      ARGUMENTS("export", "csv", "--db", db),
      ARGUMENTS("export", "jsonl", "--db", db),
      ARGUMENTS("export", "prometheus", "--db", db),
      ARGUMENTS("env", "--run", "latest", "--db", db, "--format", list),
      ARGUMENTS("baseline", "list", "--db", db, "--format", list),
      ARGUMENTS("report", "-", "--db", db),
      ARGUMENTS("identify", "latest", "--db", db, "--format", list),
      ARGUMENTS("run", "--resume", "latest", "--db", db),
      ARGUMENTS("merge", out, db),
  };
  static const char *const fixed[] = {NULL, NULL, NULL,   NULL, NULL,  NULL,    NULL,
                                      "",   NULL, NULL,   NULL, "csv", "jsonl", "",
                                      NULL, NULL, "html", NULL, "",    ""};
  verb %= COUNT_OF(verbs);
  haul_run(trial, &haul, NULL, LIMIT_READ_S, verbs[verb]);
  if (haul.code == 0 || haul.code == 1 || haul.code == 4) {
    judge_output(trial, &haul, fixed[verb] != NULL ? fixed[verb] : list);
  }
  haul_fini(&haul);
}

void trial_read_with(struct trial *trial, unsigned which) {
  read_with(trial, which, formats[trial_below(trial, COUNT_OF(formats))]);
}

static void trial_damage(struct trial *trial) {
  struct stat info;
  if (!trial_copy_clean(trial) || stat(trial->database, &info) != 0) {
    return;
  }
  int fd = open(trial->database, O_RDWR | O_CLOEXEC);
  for (unsigned changes = 1 + trial_below(trial, 20); changes > 0; changes--) {
    unsigned char page[4096] = {0};
    const off_t at = (off_t)trial_below(trial, (unsigned)info.st_size);
    const unsigned char byte = (unsigned char)trial_random(trial);
    switch (trial_below(trial, 8)) {
    case 0: /* the end is gone */
      (void)!ftruncate(fd, at);
      break;
    case 1: /* a page of zeros */
      (void)!pwrite(fd, page, sizeof page, at / 4096 * 4096);
      break;
    case 2: /* a page of another place */
      (void)!pread(fd, page, sizeof page,
                   (off_t)trial_below(trial, (unsigned)info.st_size) / 4096 * 4096);
      (void)!pwrite(fd, page, sizeof page, at / 4096 * 4096);
      break;
    case 3: /* in the header, or the schema */
      (void)!pwrite(fd, &byte, 1, at % 4096);
      break;
    default:
      (void)!pwrite(fd, &byte, 1, at);
      break;
    }
  }
  (void)close(fd);
  for (unsigned reads = 0; reads < 4; reads++) {
    trial_read_with(trial, trial_below(trial, 1000));
  }
}

/* In SQL: quotes doubled. */
static const char *const hostile[] = {
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "]]>&lt;&amp;&#0;",
    "a'' OR 1=1; DROP TABLE run; --",
    "=cmd|'' /C calc''!A0",
    "\x1b[2J\x1b]0;title\x07",
    "line\none\ttab\rreturn",
    "%s%n%x%d",
    "\xff\xfe invalid \xc3\x28",
    "\xe2\x80\xae right to left \xe2\x80\x8b",
    "\",\",\n\"",
    "{\"json\": [1, 2}",
    "|pipe|in|markdown|`code`",
    "${HOME} $(id) `id`",
    "../../../../etc/passwd",
    "",
    "very long",
};

static void trial_strings(struct trial *trial) {
  static const char *const columns[][2] = {
      {"environment", "host_name"},
      {"environment", "driver_version"},
      {"environment", "gpu_name"},
      {"environment", "cuda_state"},
      {"environment", "kernel"},
      {"environment", "cpu_model"},
      {"environment", "os"},
      {"environment_fact", "value"},
      {"device", "name"},
      {"device", "uuid"},
      {"device", "pci_address"},
      {"scenario", "name"},
      {"scenario", "description"},
      {"scenario", "text"},
      {"scenario", "resolved"},
      {"run", "scenario_path"},
      {"run", "tag"},
      {"run", "command_line"},
      {"run", "haul_version"},
      {"run", "seed"},
      {"run", "reason"},
      {"check_result", "want"},
      {"check_result", "found"},
      {"bench_case", "block"},
      {"bench_case", "name"},
      {"bench_case", "kind"},
      {"bench_case", "axes"},
      {"bench_case", "path"},
      {"bench_case", "definition"},
      {"case_note", "what"},
      {"case_run", "clock"},
      {"case_run", "stop"},
      {"flow", "method"},
      {"flow", "source_memory"},
      {"plan_case", "limited_by"},
      {"case_note", "kind"},
  };
  if (!trial_copy_clean(trial)) {
    return;
  }
  for (unsigned changes = 1 + trial_below(trial, 8); changes > 0; changes--) {
    char sql[1024];
    const char *const *column = columns[trial_below(trial, COUNT_OF(columns))];
    const char *text = hostile[trial_below(trial, COUNT_OF(hostile))];
    const bool long_text = strcmp(text, "very long") == 0;
    (void)snprintf(sql, sizeof sql, "UPDATE OR IGNORE %s SET %s = %s'%s'", column[0], column[1],
                   long_text ? "hex(zeroblob(40000)) || " : "", text);
    database_execute(trial->database, sql);
  }
  for (unsigned reads = 0; reads < 5; reads++) {
    trial_read_with(trial, trial_below(trial, 17));
  }
}

/* ---- the rest ---- */

static void trial_clock(struct trial *trial) {
  static const int seconds[] = {-1, -3600, -86400, -2000000000, 1, 3600, 1000000000, 4000000};
  struct environment environment = {0};
  struct haul haul;
  environment_add(&environment, "LD_PRELOAD=%s", trial->settings->preload);
  const unsigned first = 1 + trial_below(trial, 12);
  const int jump = seconds[trial_below(trial, COUNT_OF(seconds))];
  /* Once, or back and forth for as long as the run takes. */
  environment_add(&environment, "TORTURE_CLOCK=%u:%d:%u", first, jump, trial_below(trial, 2) * 5);
  haul_run(trial, &haul, &environment, LIMIT_S, arguments_of(trial, false));
  if (haul.code != 0) {
    trial_count(trial, COUNT_spread, 1, "exit code %d: %.200s", haul.code, haul.err);
  }
  judge_code(trial, &haul, trial->database);
  haul_fini(&haul);
  trial_complete(trial, 0);
}

static void trial_signal(struct trial *trial) {
  static const int signals[] = {SIGINT,  SIGTERM, SIGHUP,  SIGPIPE,  SIGQUIT, SIGUSR1,
                                SIGXFSZ, SIGALRM, SIGCONT, SIGWINCH, SIGCHLD};
  struct haul haul;
  bool asked = true; /* only by signals that ask to end */
  haul_start(trial, &haul, NULL, arguments_of(trial, false));
  pause_ms(trial_below(trial, 1500));
  for (unsigned sent = 1 + trial_below(trial, 3); sent > 0 && haul_is_running(&haul); sent--) {
    const int number = signals[trial_below(trial, COUNT_OF(signals))];
    asked = asked && (number == SIGINT || number == SIGTERM || number == SIGHUP);
    (void)kill(trial_below(trial, 2) == 0 ? haul.pid : -haul.pid, number);
    pause_ms(trial_below(trial, 200));
  }
  haul_finish(trial, &haul, LIMIT_S);
  if (asked && haul.code < 128 + 2 && database_run_is(trial->database, "running")) {
    trial_count(trial, COUNT_silent, 1, "exit code %d and the run is running", haul.code);
  }
  haul_fini(&haul);
  trial_complete(trial, UINT32_MAX);
}

/* On a noisy host, in rounds of visits: the first takes half a second. */
static void trial_visits(struct trial *trial) {
  static const char NOISE[] = "[fake.noise]\nseed = 1\nwithin = 0.05\n";
  static const char FAULT[] = "[[fake.fault]]\nkind = \"%s\"\ncall = \"cuMemcpy*\"\nnth = %u\n";
  struct environment environment = {0};
  char path[PATH_SIZE];
  char text[sizeof NOISE + sizeof FAULT + 64];
  const bool hang = trial_below(trial, 12) == 0;
  const bool faulty = hang || trial_below(trial, 3) == 0;
  const bool budget = trial_below(trial, 4) == 0;
  const int used = snprintf(text, sizeof text, "%s", NOISE);
  if (faulty) {
    (void)snprintf(text + used, sizeof text - (size_t)used, FAULT,
                   hang                         ? "hang"
                   : trial_below(trial, 2) == 0 ? "crash"
                                                : "sticky",
                   200 + trial_below(trial, 3000));
  }
  trial_write(trial, "noise.toml", text);
  trial_path(trial, "noise.toml", path);
  environment_add(&environment, "HAUL_FAKE_FAULTS=%s", path);
  for (unsigned round = 0; round < 4; round++) {
    struct haul haul;
    const bool resume = trial_has_open_run(trial);
    const bool last = round == 3;
    const char *const *arguments = arguments_of(trial, resume);
    const char *all[ARGUMENTS_MAX] = {NULL};
    size_t count = 0;
    for (; arguments[count] != NULL; count++) {
      all[count] = arguments[count];
    }
    if (!resume) {
      all[count++] = "--set";
      all[count++] = "measure.settle_time=4s";
      all[count++] = "--set";
      all[count++] = "measure.max_time=3ms";
      all[count++] = "--set";
      all[count++] = budget ? "measure.budget=3s" : "measure.budget=none";
    }
    haul_start(trial, &haul, &environment, all);
    if (!last) {
      pause_ms(400 + trial_below(trial, 3200));
      pid_t children[8];
      const size_t found = children_of(haul.pid, children, COUNT_OF(children));
      const unsigned whom = trial_below(trial, 4);
      if (whom == 0 || found == 0) {
        (void)kill(haul.pid, SIGINT);
      } else if (whom == 1) {
        (void)kill(-haul.pid, SIGKILL);
      } else {
        (void)kill(children[trial_below(trial, (unsigned)found)], whom == 2 ? SIGKILL : SIGSEGV);
      }
    }
    haul_finish(trial, &haul, hang ? LIMIT_HANG_S : LIMIT_S);
    haul_fini(&haul);
    if (access(trial->database, F_OK) == 0) {
      judge_visits(trial, trial->database);
    }
    if (database_run_is(trial->database, "done")) {
      break;
    }
  }
  if (!budget && trial_has_open_run(trial)) {
    trial_count(trial, COUNT_lost, 1, "--resume does not end the run");
  }
}

static void trial_stop(struct trial *trial) {
  struct haul haul;
  haul_start(trial, &haul, NULL, arguments_of(trial, false));
  pause_ms(trial_below(trial, 500));
  for (unsigned stops = 1 + trial_below(trial, 5); stops > 0 && haul_is_running(&haul); stops--) {
    pid_t stopped[9] = {haul.pid};
    const size_t count = 1 + children_of(haul.pid, stopped + 1, COUNT_OF(stopped) - 1);
    const unsigned whom = trial_below(trial, (unsigned)count + 1);
    const pid_t pid = whom == count ? -haul.pid : stopped[whom];
    const pid_t other = stopped[trial_below(trial, (unsigned)count)];
    (void)kill(pid, SIGSTOP);
    (void)kill(other, SIGSTOP);
    pause_ms(trial_below(trial, 800));
    (void)kill(pid, SIGCONT);
    pause_ms(trial_below(trial, 200));
    (void)kill(other, SIGCONT);
  }
  haul_finish(trial, &haul, LIMIT_S);
  if (haul.code != 0) {
    trial_count(trial, COUNT_spread, 1, "exit code %d: %.200s", haul.code, haul.err);
  }
  judge_code(trial, &haul, trial->database);
  haul_fini(&haul);
  trial_complete(trial, 0);
}

static void trial_many(struct trial *trial) {
  struct haul hauls[8];
  struct environment environment = {0};
  const unsigned count = 2 + trial_below(trial, 7);
  if (trial_below(trial, 2) == 0) {
    environment_add(&environment, "HAUL_LOCKS=%.400s/locks", trial->folder);
  }
  for (unsigned i = 0; i < count; i++) {
    haul_start(trial, &hauls[i], &environment, arguments_of(trial, false));
    pause_ms(trial_below(trial, 100));
  }
  for (unsigned i = 0; i < count; i++) {
    haul_finish(trial, &hauls[i], 4 * LIMIT_S);
    if (hauls[i].code != 0) {
      trial_count(trial, COUNT_spread, 1, "exit code %d of one of %u runs: %.200s", hauls[i].code,
                  count, hauls[i].err);
    }
    haul_fini(&hauls[i]);
  }
  judge_database(trial, trial->database, 0);
}

/* ---- readers that hold the database ---- */

/* Each run ends well and in time, and the next one finds all of them. */
static void trial_readers(struct trial *trial) {
  sqlite3 *readers[10] = {NULL};
  const struct environment environment = {0};
  const unsigned runs = 2 + trial_below(trial, 3);
  for (unsigned run = 0; run < runs; run++) {
    const unsigned count =
        run + 1 < runs && run > 0 ? 1 + trial_below(trial, COUNT_OF(readers)) : 0;
    const bool before = trial_below(trial, 2) == 0;
    struct haul haul;
    if (!before) {
      haul_start(trial, &haul, &environment, arguments_of(trial, false));
      pause_ms(trial_below(trial, 500));
    }
    for (unsigned i = 0; i < count; i++) {
      (void)sqlite3_open(trial->database, &readers[i]);
      (void)sqlite3_exec(readers[i], "BEGIN; SELECT count(*) FROM run", NULL, NULL, NULL);
    }
    if (before) {
      haul_start(trial, &haul, &environment, arguments_of(trial, false));
    }
    if (trial_below(trial, 3) == 0) {
      pause_ms(trial_below(trial, 3000));
      for (unsigned i = 0; i < count; i++) {
        (void)sqlite3_close(readers[i]);
        readers[i] = NULL;
      }
    }
    haul_finish(trial, &haul, LIMIT_S);
    if (haul.code != 0) {
      trial_count(trial, COUNT_spread, 1, "exit code %d beside %u readers: %.200s", haul.code,
                  count, haul.err);
    }
    haul_fini(&haul);
    for (unsigned i = 0; i < count; i++) {
      (void)sqlite3_close(readers[i]);
      readers[i] = NULL;
    }
  }
  judge_database(trial, trial->database, 0);
  sqlite3 *handle = NULL;
  sqlite3_stmt *stmt = NULL;
  unsigned done = 0;
  if (sqlite3_open(trial->database, &handle) == SQLITE_OK &&
      sqlite3_prepare_v2(handle, "SELECT count(*) FROM run WHERE status = 'done'", -1, &stmt,
                         NULL) == SQLITE_OK &&
      sqlite3_step(stmt) == SQLITE_ROW) {
    done = (unsigned)sqlite3_column_int(stmt, 0);
  }
  (void)sqlite3_finalize(stmt);
  (void)sqlite3_close(handle);
  if (done < runs) {
    trial_count(trial, COUNT_lost, runs - done, "%u of %u runs are in the database", done, runs);
  }
}

/* ---- little memory ---- */

/* Host memory in sizes that rise beyond what the group has. */
static const char rising[] = "schema_version = 1\n"
                             "name = \"rising\"\n"
                             "[measure]\n"
                             "trials = { min = 2, max = 2 }\n"
                             "max_time = \"5ms\"\nmin_trial = \"1ms\"\nprocesses = 2\n"
                             "[[transfer]]\nname = \"host\"\nmethod = \"cpu\"\npairs = \"same\"\n"
                             "from = { numa = 0, memory = \"pageable\" }\n"
                             "to = { numa = 0, memory = \"pageable\" }\n"
                             "size = { from = \"8MiB\", to = \"128MiB\", step = \"8MiB\" }\n";

static bool write_word(const char *folder, const char *name, const char *word) {
  char path[PATH_SIZE];
  (void)snprintf(path, sizeof path, "%.400s/%s", folder, name);
  FILE *file = fopen(path, "we");
  return file != NULL && fputs(word, file) >= 0 && fclose(file) == 0;
}

static void trial_limit(struct trial *trial) {
  const bool unified = access("/sys/fs/cgroup/cgroup.procs", F_OK) == 0;
  char group[PATH_SIZE];
  char processes[PATH_SIZE + 16];
  char bytes[32];
  char scenario[PATH_SIZE];
  struct haul haul;
  (void)snprintf(group, sizeof group, "/sys/fs/cgroup/%storture-%d-%llu", unified ? "" : "memory/",
                 (int)getpid(), (unsigned long long)trial->number);
  (void)snprintf(processes, sizeof processes, "%s/cgroup.procs", group);
  (void)snprintf(bytes, sizeof bytes, "%u", (96 + trial_below(trial, 160)) << 20);
  if (mkdir(group, 0755) != 0 ||
      !write_word(group, unified ? "memory.max" : "memory.limit_in_bytes", bytes)) {
    trial->skipped = "no control group of memory can be made here";
    (void)rmdir(group);
    return;
  }
  trial_write(trial, "rising.toml", rising);
  trial_path(trial, "rising.toml", scenario);
  trial->group = processes;
  haul_run(trial, &haul, NULL, LIMIT_S, ARGUMENTS("run", scenario, "-v", "--db", trial->database));
  trial->group = NULL;
  if (haul.code != 0 && haul.code != 3) {
    trial_count(trial, COUNT_spread, 1, "exit code %d with %s bytes: %.200s", haul.code, bytes,
                haul.err);
  }
  judge_code(trial, &haul, trial->database);
  judge_database(trial, trial->database, UINT32_MAX);
  judge_none(trial, trial->database, "crashed");
  haul_fini(&haul);
  for (unsigned tries = 0; rmdir(group) != 0 && tries < 100; tries++) {
    pause_ms(20);
  }
}

void trial_run(struct trial *trial) {
  static void (*const kinds[])(struct trial * trial) = {
#define TRIAL_KIND_RUN_(name, weight) trial_##name,
      TRIAL_KIND_LIST(TRIAL_KIND_RUN_)
#undef TRIAL_KIND_RUN_
  };
  trial_path(trial, "t.db", trial->database);
  kinds[trial->kind](trial);
}
