/* bench_history.c HAUL DATABASE [TEMPLATE [OPTION=N...]] - how long questions take on years of
 * results: verbs, the questions of docs/SQL.md, the saved queries and the views. HAUL is the
 * executable to time. DATABASE is made where it does not exist, in minutes, and kept: years of
 * weekly runs on a few machines, made of TEMPLATE, a database with one run of one process (haul run
 * nvbandwidth
 * --processes 1). Its size:
 *
 *   machines=N   8
 *   weeks=N      156
 *   processes=N  of each run; 3
 *   trials=N     of each result, at most; 4
 *
 * Of each question the line shows the least processor time and the most memory of up to three
 * calls, with the file in the page cache. A question that names one run, case or machine may take
 * 0.3 s, one over all of history 3 s; ends with 1 when one takes longer. */
#include "runner/record/record.h"
#include "tests/benchmarks/bench.h"

#include <fcntl.h>
#include <glob.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMES = 3, ARGUMENTS_MAX = 12, TEXT_MAX = 4096 };
static const double ONE_S = 0.3;
static const double ALL_S = 3;
static const double AGAIN_S = 25; /* what takes longer is called once */

struct question {
  const char *arguments[ARGUMENTS_MAX];
  double most_s;
  int exit_code;
};

static const struct question VERBS[] = {
    {{"list", "runs", "--limit", "10"}, 0.3, 0},
    {{"list", "runs"}, 0.3, 0},
    {{"list", "cases"}, 0.3, 0},
    {{"show", "latest"}, 0.3, 0},
    {{"explain", "latest"}, 0.3, 0},
    {{"diff"}, 0.3, 0},
    {{"diff", "run:40", "run:41"}, 0.3, 0},
    {{"diff", "tag:monthly", "tag:weekly"}, 0.5, 0}, /* every result */
    {{"diff", "--by", "driver_version", "--from", "570.86.15", "--to", "580.65.06"}, 3, 0},
    {{"check", "baseline:first"}, 3, 1},
    {{"check", "--fleet"}, 3, 1},
    {{"history", "device_to_host_memcpy_ce*"}, 3, 0},
    {{"outliers"}, 3, 0},
    {{"outliers", "--all"}, 3, 0},
    {{"report", "OUT", "latest"}, 0.3, 0},
    {{"report", "--fleet", "OUT"}, 3, 0},
    {{"report", "--site", "SITE"}, 5, 0}, /* again: what is there already stays */
    {{"history", "*"}, 3, 0},
    {{"expect", "learn"}, 3, 0},
    {{"export", "csv", "--run", "latest"}, 0.3, 0},
    {{"export", "csv"}, 120, 0},
    {{"export", "prometheus"}, 3, 0},
    {{"export", "openmetrics"}, 3, 0},
    {{"query", "SELECT driver_version, runs, gbps FROM v_driver WHERE case_name = "
               "'host_to_device_memcpy_ce/numa0:pinned-gpu0/128MiB'"},
     0.3,
     0},
    {{"query", "SELECT driver_version, runs, gbps FROM v_driver WHERE case_key = (SELECT case_key "
               "FROM bench_case WHERE id = 50)"}, /* SQLite hands no subquery down into a view */
     3,
     0},
    {{"query", "SELECT driver_version, runs, gbps FROM v_driver WHERE case_name GLOB "
               "'host_to_device_memcpy_ce/*gpu0/*'"},
     0.3,
     0},
    {{"query", "SELECT driver_version, runs, gbps FROM v_driver WHERE node = 'node03'"}, 3, 0},
    {{"query", "SELECT run, gbps FROM v_run_case WHERE case_name = "
               "'host_to_device_memcpy_ce/numa0:pinned-gpu0/128MiB' AND node = 'node03'"},
     0.3,
     0},
    {{"query", "SELECT run, count(*) FROM v_run_case WHERE started_at_ns BETWEEN "
               "strftime('%s', '2026-09-01') * 1000000000 AND strftime('%s', '2026-10-01') * "
               "1000000000 GROUP BY run"},
     0.3,
     0},
    {{"query", "SELECT node, gpu, value, first_seen FROM v_fact_seen WHERE fact = 'vbios'"},
     0.3,
     0},
};

static int64_t size_of[4] = {8, 156, 3, 4};
static const char *const SIZE_NAMES[] = {"machines", "weeks", "processes", "trials"};

static void die(const char *what, const char *why) {
  fprintf(stderr, "bench_history: %s: %s\n", what, why);
  exit(2);
}

static void run_sql(sqlite3 *handle, const char *path, const char *sql) {
  char *message = NULL;
  if (sqlite3_exec(handle, sql, NULL, NULL, &message) != SQLITE_OK) {
    (void)unlink(path);
    die(path, message != NULL ? message : sqlite3_errmsg(handle));
  }
}

static void make_database(const char *path, const char *template) {
  struct error err = {0};
  struct record *record = NULL;
  sqlite3 *handle = NULL;
  const double start_s = bench_now_s();
  if (record_open(path, &record, &err) != STATUS_OK) {
    die(path, err.message);
  }
  record_close(record);
  char *sql = bench_read_file(HAUL_BENCHMARKS_DIR "/bench_history.sql");
  char *sizes =
      sqlite3_mprintf("ATTACH %Q AS t; BEGIN; CREATE TEMP TABLE size AS SELECT %lld AS machines, "
                      "%lld AS weeks, %lld AS processes, %lld AS trials",
                      template, (long long)size_of[0], (long long)size_of[1], (long long)size_of[2],
                      (long long)size_of[3]);
  if (sqlite3_open(path, &handle) != SQLITE_OK) {
    die(path, sqlite3_errmsg(handle));
  }
  run_sql(handle, path,
          "PRAGMA cache_size = -400000; PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF");
  run_sql(handle, path, sizes);
  run_sql(handle, path, sql);
  run_sql(handle, path, "COMMIT");
  (void)sqlite3_close(handle);
  sqlite3_free(sizes);
  free(sql);
  struct stat info = {0};
  (void)stat(path, &info);
  printf("made %s in %.0f s: %.0f MB\n", path, bench_now_s() - start_s, (double)info.st_size / 1e6);
}

/* Seconds of processor time; the exit code and the peak memory of the process. */
static double call(const char *haul, const char *database, const struct question *question,
                   int *code, double *memory_mb) {
  char page[TEXT_MAX];
  char site[TEXT_MAX];
  const char *argv[ARGUMENTS_MAX + 4] = {haul};
  size_t count = 1;
  (void)snprintf(page, sizeof page, "%s.html", database);
  (void)snprintf(site, sizeof site, "%s.site", database);
  for (size_t i = 0; question->arguments[i] != NULL; i++) {
    argv[count++] = strcmp(question->arguments[i], "OUT") == 0    ? page
                    : strcmp(question->arguments[i], "SITE") == 0 ? site
                                                                  : question->arguments[i];
  }
  argv[count++] = "--db";
  argv[count++] = database;
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
    die(haul, "cannot be started");
  }
  *code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  *memory_mb = (double)usage.ru_maxrss / 1000;
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static bool measure(const char *haul, const char *database, const struct question *question,
                    const char *name) {
  double best_s = 1e9;
  double most_mb = 0;
  int code = 0;
  for (int i = 0; i < TIMES && (i == 0 || best_s < AGAIN_S); i++) {
    double memory_mb = 0;
    const double seconds = call(haul, database, question, &code, &memory_mb);
    best_s = seconds < best_s ? seconds : best_s;
    most_mb = memory_mb > most_mb ? memory_mb : most_mb;
  }
  const bool fine = code == question->exit_code && best_s <= question->most_s;
  printf("| %s | %.2f s | %.0f MB |", name, best_s, most_mb);
  if (code != question->exit_code) {
    printf(" exit code %d, not %d", code, question->exit_code);
  }
  printf("%s\n", best_s > question->most_s ? " over the limit" : "");
  (void)fflush(stdout);
  return fine;
}

static bool measure_verbs(const char *haul, const char *database) {
  bool fine = true;
  for (size_t i = 0; i < COUNT_OF(VERBS); i++) {
    char line[TEXT_MAX] = "";
    for (size_t j = 0, length = 0; VERBS[i].arguments[j] != NULL && length < sizeof line; j++) {
      length += (size_t)snprintf(line + length, sizeof line - length, "%s%s", j > 0 ? " " : "",
                                 VERBS[i].arguments[j]);
    }
    fine = measure(haul, database, &VERBS[i], line) && fine;
  }
  return fine;
}

/* "### HEADING", then SQL between "```sql" and "```". */
static bool measure_questions(const char *haul, const char *database) {
  static const char BEGIN[] = "```sql\n";
  char *text = bench_read_file(HAUL_SOURCE_DIR "/docs/SQL.md");
  bool fine = true;
  char *next = text;
  for (char *heading; (heading = strstr(next, "\n### ")) != NULL;) {
    char *sql = strstr(heading, BEGIN);
    char *end = sql != NULL ? strstr(sql, "\n```") : NULL;
    if (end == NULL) {
      die("docs/SQL.md", "a question has no SQL");
    }
    *end = '\0';
    heading += strlen("\n### ");
    heading[strcspn(heading, "\n")] = '\0';
    sql += strlen(BEGIN);
    struct question question = {{"query", sql}, strstr(sql, ":run") != NULL ? ONE_S : ALL_S, 0};
    fine = measure(haul, database, &question, heading) && fine;
    next = end + 1;
  }
  free(text);
  return fine;
}

static bool measure_saved(const char *haul, const char *database) {
  glob_t files;
  bool fine = true;
  if (glob(HAUL_SOURCE_DIR "/schema/results/queries/*.sql", 0, NULL, &files) != 0) {
    die("schema/results/queries", "cannot be listed");
  }
  for (size_t i = 0; i < files.gl_pathc; i++) {
    char *name = strrchr(files.gl_pathv[i], '/') + 1;
    char *text = bench_read_file(files.gl_pathv[i]);
    const bool of_one =
        strstr(text, "\n-- :run (run, ") != NULL && strstr(text, "earlier runs") == NULL;
    struct question question = {{"query", "--saved", name}, of_one ? ONE_S : ALL_S, 0};
    *strrchr(name, '.') = '\0';
    if (strstr(text, "required)") != NULL) {
      question.exit_code = 2;
    }
    fine = measure(haul, database, &question, name) && fine;
    free(text);
  }
  globfree(&files);
  return fine;
}

/* What Datasette asks of every view: its first page. */
static bool measure_views(const char *haul, const char *database) {
  sqlite3 *handle = NULL;
  sqlite3_stmt *stmt = NULL;
  bool fine = true;
  if (sqlite3_open_v2(database, &handle, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
      sqlite3_prepare_v2(handle, "SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY 1",
                         -1, &stmt, NULL) != SQLITE_OK) {
    die(database, sqlite3_errmsg(handle));
  }
  while (sqlite3_step(stmt) == SQLITE_ROW) {
    char sql[TEXT_MAX];
    (void)snprintf(sql, sizeof sql, "SELECT * FROM %s LIMIT 101", sqlite3_column_text(stmt, 0));
    struct question question = {{"query", sql}, ALL_S, 0};
    fine = measure(haul, database, &question, sql) && fine;
  }
  (void)sqlite3_finalize(stmt);
  (void)sqlite3_close(handle);
  return fine;
}

static void take_option(const char *word) {
  for (size_t i = 0; i < COUNT_OF(SIZE_NAMES); i++) {
    const size_t length = strlen(SIZE_NAMES[i]);
    if (strncmp(word, SIZE_NAMES[i], length) == 0 && word[length] == '=') {
      size_of[i] = atoll(word + length + 1);
      return;
    }
  }
  die(word, "no such option");
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: bench_history HAUL DATABASE [TEMPLATE [OPTION=N...]]\n");
    return 2;
  }
  for (int i = 4; i < argc; i++) {
    take_option(argv[i]);
  }
  if (access(argv[2], F_OK) != 0) {
    if (argc < 4) {
      die(argv[2], "it does not exist, and no TEMPLATE says what to make it of");
    }
    const pid_t maker = fork(); /* its memory would count as that of the calls */
    if (maker == 0) {
      make_database(argv[2], argv[3]);
      return 0;
    }
    int status = 0;
    if (maker < 0 || waitpid(maker, &status, 0) != maker || status != 0) {
      die(argv[2], "it was not made");
    }
  }
  printf("| question | processor time | memory |\n|---|---|---|\n");
  bool fine = measure_verbs(argv[1], argv[2]);
  fine = measure_questions(argv[1], argv[2]) && fine;
  fine = measure_saved(argv[1], argv[2]) && fine;
  fine = measure_views(argv[1], argv[2]) && fine;
  return fine ? 0 : 1;
}
