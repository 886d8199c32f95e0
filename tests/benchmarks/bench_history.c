/* bench_history.c HAUL [DATABASE] - how long diff, check, history and outliers take on a large
 * database: 50 runs of 20 processes of 1,000 cases. HAUL is the executable to time. DATABASE
 * (default bench-history.db in the current folder) is made where it does not exist, which takes
 * about 15 s and 230 MB, and kept for the next time.
 *
 * Each verb runs three times, with the file in the page cache; the line shows the fastest, and the
 * most memory. Ends with 1 when a limit is exceeded. */
#include "runner/record/record.h"
#include "tests/benchmarks/bench.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMES = 3, ARGUMENTS_MAX = 10, MEMORY_MAX_MB = 200 };

struct verb_call {
  const char *arguments[ARGUMENTS_MAX];
  double most_s;
  int exit_code;
};

static const struct verb_call CALLS[] = {
    {{"diff", "run:40", "run:41"}, 1, 0},
    {{"diff", "tag:first", "tag:second"}, 1, 0},
    {{"diff", "--by", "driver_version", "--from", "570.10", "--to", "580.10"}, 1, 0},
    {{"check", "run:40", "run:41"}, 1, 1},
    {{"history", "block1/gpu3-numa0:pinned/1024KiB"}, 0.1, 0},
    {{"outliers"}, 1, 0},
    {{"outliers", "--all"}, 1, 0},
};

static void make_database(const char *path, const char *sql_path) {
  struct error err = {0};
  struct record *record = NULL;
  sqlite3 *handle = NULL;
  char *message = NULL;
  const double start_s = bench_now_s();
  if (record_open(path, &record, &err) != STATUS_OK) {
    fprintf(stderr, "bench_history: %s\n", err.message);
    exit(2);
  }
  record_close(record);
  char *sql = bench_read_file(sql_path);
  if (sqlite3_open(path, &handle) != SQLITE_OK ||
      sqlite3_exec(handle, "PRAGMA cache_size = -200000; BEGIN", NULL, NULL, NULL) != SQLITE_OK ||
      sqlite3_exec(handle, sql, NULL, NULL, &message) != SQLITE_OK ||
      sqlite3_exec(handle, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) {
    fprintf(stderr, "bench_history: %s\n", message != NULL ? message : sqlite3_errmsg(handle));
    (void)unlink(path);
    exit(2);
  }
  (void)sqlite3_close(handle);
  free(sql);
  struct stat info = {0};
  (void)stat(path, &info);
  printf("made %s in %.0f s: %.0f MB\n", path, bench_now_s() - start_s, (double)info.st_size / 1e6);
}

/* Wall time; the exit code and the peak memory of the process. */
static double call(const char *haul, const char *database, const struct verb_call *verb, int *code,
                   double *memory_mb) {
  const char *argv[ARGUMENTS_MAX + 4] = {haul};
  size_t count = 1;
  for (size_t i = 0; verb->arguments[i] != NULL; i++) {
    argv[count++] = verb->arguments[i];
  }
  argv[count++] = "--db";
  argv[count++] = database;
  const double start_s = bench_now_s();
  const pid_t pid = fork();
  if (pid == 0) {
    const int null = open("/dev/null", O_WRONLY);
    (void)dup2(null, STDOUT_FILENO);
    (void)dup2(null, STDERR_FILENO);
    (void)execv(haul, (char *const *)(uintptr_t)argv);
    _exit(127);
  }
  int status = 0;
  struct rusage usage = {0};
  if (pid < 0 || wait4(pid, &status, 0, &usage) != pid) {
    perror("bench_history");
    exit(2);
  }
  *code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  *memory_mb = (double)usage.ru_maxrss / 1000;
  return bench_now_s() - start_s;
}

static bool measure(const char *haul, const char *database, const struct verb_call *verb) {
  double best_s = 1e9;
  double most_mb = 0;
  bool right = true;
  for (int i = 0; i < TIMES; i++) {
    int code = 0;
    double memory_mb = 0;
    const double seconds = call(haul, database, verb, &code, &memory_mb);
    best_s = seconds < best_s ? seconds : best_s;
    most_mb = memory_mb > most_mb ? memory_mb : most_mb;
    right = right && code == verb->exit_code;
  }
  const bool fine = right && best_s <= verb->most_s && most_mb <= MEMORY_MAX_MB;
  char line[160] = "";
  for (size_t i = 0, length = 0; verb->arguments[i] != NULL && length < sizeof line; i++) {
    length += (size_t)snprintf(line + length, sizeof line - length, "%s ", verb->arguments[i]);
  }
  printf("%-62s %6.3f s (at most %.1f), %4.0f MB%s%s\n", line, best_s, verb->most_s, most_mb,
         right ? "" : " WRONG EXIT CODE", fine ? "" : " OVER THE LIMIT");
  return fine;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: bench_history HAUL [DATABASE]\n");
    return 2;
  }
  const char *database = argc > 2 ? argv[2] : "bench-history.db";
  if (access(database, F_OK) != 0) {
    make_database(database, HAUL_BENCHMARKS_DIR "/bench_history.sql");
  }
  bool fine = true;
  for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++) {
    fine = measure(argv[1], database, &CALLS[i]) && fine;
  }
  return fine ? 0 : 1;
}
