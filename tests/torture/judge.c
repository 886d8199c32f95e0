/* What a database, an exit code and an output ought to be. Reads with SQLite itself, not with haul.
 */
#include "tests/torture/torture.h"

#include <ctype.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The virtual clock of the fake driver repeats to the ns. */
static const double TOLERANCE = 0.001;

/* Calls take(context, row) for each row; false: SQLite cannot read it. */
static bool judge_rows(const char *path, const char *sql,
                       void (*take)(void *context, sqlite3_stmt *row), void *context) {
  sqlite3 *database = NULL;
  sqlite3_stmt *row = NULL;
  bool ok = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK;
  (void)sqlite3_busy_timeout(database, 10000);
  ok = ok && sqlite3_prepare_v2(database, sql, -1, &row, NULL) == SQLITE_OK;
  int result = SQLITE_DONE;
  while (ok && (result = sqlite3_step(row)) == SQLITE_ROW) {
    take(context, row);
  }
  (void)sqlite3_finalize(row);
  (void)sqlite3_close(database);
  return ok && result == SQLITE_DONE;
}

void database_execute(const char *path, const char *sql) {
  sqlite3 *database = NULL;
  if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK) {
    (void)sqlite3_busy_timeout(database, 10000);
    (void)sqlite3_exec(database, sql, NULL, NULL, NULL);
  }
  (void)sqlite3_close(database);
}

static void take_text(void *context, sqlite3_stmt *row) {
  char *text = context;
  const unsigned char *value = sqlite3_column_text(row, 0);
  (void)snprintf(text, DETAIL_SIZE, "%s", value != NULL ? (const char *)value : "");
}

bool database_run_is(const char *path, const char *status) {
  char text[DETAIL_SIZE] = "";
  return judge_rows(path, "SELECT status FROM run ORDER BY id DESC LIMIT 1", take_text, text) &&
         strcmp(text, status) == 0;
}

static void take_sum(void *context, sqlite3_stmt *row) {
  uint64_t *sum = context;
  const unsigned char *text = sqlite3_column_text(row, 0);
  for (const unsigned char *at = text; at != NULL && *at != '\0'; at++) {
    *sum = (*sum ^ *at) * UINT64_C(0x100000001b3); /* FNV-1a */
  }
}

uint64_t database_sum_numbers(const char *path) {
  uint64_t sum = UINT64_C(0xcbf29ce484222325);
  (void)judge_rows(path,
                   "SELECT quote(id) || quote(median_ns) || quote(n) FROM case_run"
                   " WHERE run = (SELECT min(id) FROM run) ORDER BY id",
                   take_sum, &sum);
  return sum;
}

unsigned database_count_results(const char *path) {
  char text[DETAIL_SIZE] = "";
  (void)judge_rows(path, "SELECT count(*) FROM case_run", take_text, text);
  return (unsigned)strtoul(text, NULL, 10);
}

struct judged {
  struct trial *trial;
  uint32_t sick_gpus;
};

/* Cases that every process of a run that is done ought to have: how often each is there. */
static const char COUNTS_SQL[] =
    "WITH RECURSIVE ordinals (run, ordinal, processes) AS ("
    " SELECT id, 0, processes FROM run WHERE status = 'done'"
    " UNION ALL SELECT run, ordinal + 1, processes FROM ordinals WHERE ordinal + 1 < processes)"
    " SELECT b.name, o.ordinal, count(c.id)"
    " FROM ordinals o JOIN plan_case p ON p.run = o.run JOIN bench_case b ON b.id = p.bench_case"
    " LEFT JOIN process q ON q.run = o.run AND q.ordinal = o.ordinal"
    " LEFT JOIN case_run c ON c.run = o.run AND c.bench_case = b.id"
    "  AND (c.process = q.id OR c.process IS NULL)"
    " GROUP BY o.run, b.id, o.ordinal HAVING count(c.id) <> 1";

/* In runs that are not done a case may be missing, but not be there twice. */
static const char DOUBLED_SQL[] =
    "SELECT b.name, count(*) FROM case_run c JOIN bench_case b ON b.id = c.bench_case"
    " GROUP BY c.run, c.process, c.bench_case HAVING count(*) > 1";

static void take_count(void *context, sqlite3_stmt *row) {
  const struct judged *judged = context;
  const int count = sqlite3_column_int(row, 2);
  trial_count(judged->trial, count == 0 ? COUNT_lost : COUNT_doubled, 1,
              "case %s is there %d times in process %d", sqlite3_column_text(row, 0), count,
              sqlite3_column_int(row, 1));
}

static void take_doubled(void *context, sqlite3_stmt *row) {
  const struct judged *judged = context;
  trial_count(judged->trial, COUNT_doubled, 1, "case %s is there %d times",
              sqlite3_column_text(row, 0), sqlite3_column_int(row, 1));
}

/* Every result, beside that of the clean run where the clock of the case repeats. */
static const char RESULTS_SQL[] =
    "SELECT b.name, c.status, c.reason, c.median_ns, k.median_ns, b.path, c.verified, k.verified"
    " FROM case_run c JOIN bench_case b ON b.id = c.bench_case"
    " LEFT JOIN (clean.case_run k JOIN clean.bench_case l ON l.id = k.bench_case"
    "  AND k.status = 'ok' AND k.clock <> 'host') ON l.case_key = b.case_key";

static uint32_t judge_gpus_of_path(const char *path) {
  uint32_t gpus = 0;
  for (const char *at = strstr(path, "gpu"); at != NULL; at = strstr(at + 1, "gpu")) {
    if (isdigit((unsigned char)at[3])) {
      gpus |= UINT32_C(1) << (strtoul(at + 3, NULL, 10) & 31);
    }
  }
  return gpus;
}

static void take_result(void *context, sqlite3_stmt *row) {
  const struct judged *judged = context;
  const char *name = (const char *)sqlite3_column_text(row, 0);
  const char *status = (const char *)sqlite3_column_text(row, 1);
  const char *reason = (const char *)sqlite3_column_text(row, 2);
  const char *path = (const char *)sqlite3_column_text(row, 5);
  judged->trial->cases++;
  if (strcmp(status, "ok") == 0) {
    const double found = sqlite3_column_double(row, 3);
    const double clean = sqlite3_column_double(row, 4);
    if (sqlite3_column_type(row, 4) != SQLITE_NULL &&
        (found < clean * (1 - TOLERANCE) || found > clean * (1 + TOLERANCE))) {
      trial_count(judged->trial, COUNT_wrong, 1, "%s took %g ns, %g when undisturbed", name, found,
                  clean);
    }
    if (sqlite3_column_int(row, 6) < sqlite3_column_int(row, 7)) {
      trial_count(judged->trial, COUNT_wrong, 1, "%s is ok and was not verified", name);
    }
    return;
  }
  if (reason == NULL || reason[0] == '\0') {
    trial_count(judged->trial, COUNT_silent, 1, "%s is %s without a reason", name, status);
  }
  if (judged->sick_gpus != UINT32_MAX && strcmp(status, "skipped") != 0 &&
      (judge_gpus_of_path(path) & judged->sick_gpus) == 0) {
    trial_count(judged->trial, COUNT_spread, 1, "%s is %s: %s", name, status, reason);
  }
}

static void judge_results(struct trial *trial, const char *path, struct judged *judged) {
  sqlite3 *database = NULL;
  sqlite3_stmt *row = NULL;
  char attach[PATH_SIZE + 64];
  (void)snprintf(attach, sizeof attach, "ATTACH '%s' AS clean", trial->settings->clean);
  bool ok = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
            sqlite3_exec(database, attach, NULL, NULL, NULL) == SQLITE_OK &&
            sqlite3_prepare_v2(database, RESULTS_SQL, -1, &row, NULL) == SQLITE_OK;
  int result = SQLITE_DONE;
  while (ok && (result = sqlite3_step(row)) == SQLITE_ROW) {
    take_result(judged, row);
  }
  if (!ok || result != SQLITE_DONE) {
    trial_count(trial, COUNT_broken, 1, "results: %s", sqlite3_errmsg(database));
  }
  (void)sqlite3_finalize(row);
  (void)sqlite3_close(database);
}

bool judge_sound(struct trial *trial, const char *path) {
  char text[DETAIL_SIZE] = "";
  if (!judge_rows(path, "PRAGMA integrity_check", take_text, text) || strcmp(text, "ok") != 0) {
    trial_count(trial, COUNT_broken, 1, "integrity_check of %s: %.200s", path, text);
    return false;
  }
  return true;
}

/* What a case says of its trials, where these differ; of one that crashed all that came counts. */
static const char VISITS_SQL[] =
    "SELECT b.name, c.n, c.visits, count(t.ordinal), count(DISTINCT ifnull(t.visit, 0)),"
    " max(ifnull(t.visit, 0)) FROM case_run c JOIN bench_case b ON b.id = c.bench_case"
    " LEFT JOIN trial t ON t.case_run = c.id AND t.phase = 1 AND t.status = 0"
    " WHERE c.status = 'ok' GROUP BY c.id"
    " HAVING c.n <> count(t.ordinal) OR c.visits <> count(DISTINCT ifnull(t.visit, 0))"
    "  OR c.visits <> max(ifnull(t.visit, 0)) + 1";

static void take_visits(void *context, sqlite3_stmt *row) {
  const struct judged *judged = context;
  trial_count(judged->trial, COUNT_lost, 1,
              "case %s says %d trials in %d visits, and has %d in %d up to number %d",
              sqlite3_column_text(row, 0), sqlite3_column_int(row, 1), sqlite3_column_int(row, 2),
              sqlite3_column_int(row, 3), sqlite3_column_int(row, 4), sqlite3_column_int(row, 5));
}

void judge_visits(struct trial *trial, const char *path) {
  struct judged judged = {trial, UINT32_MAX};
  if (judge_sound(trial, path) && (!judge_rows(path, COUNTS_SQL, take_count, &judged) ||
                                   !judge_rows(path, DOUBLED_SQL, take_doubled, &judged) ||
                                   !judge_rows(path, VISITS_SQL, take_visits, &judged))) {
    trial_count(trial, COUNT_broken, 1, "%s has no results that can be read", path);
  }
  trial->cases += database_count_results(path);
}

void judge_database(struct trial *trial, const char *path, uint32_t sick_gpus) {
  struct judged judged = {trial, sick_gpus};
  if (!judge_sound(trial, path)) {
    return;
  }
  if (!judge_rows(path, COUNTS_SQL, take_count, &judged) ||
      !judge_rows(path, DOUBLED_SQL, take_doubled, &judged)) {
    trial_count(trial, COUNT_broken, 1, "%s has no results that can be read", path);
    return;
  }
  judge_results(trial, path, &judged);
}

static void take_corrupt(void *context, sqlite3_stmt *row) {
  const struct judged *judged = context;
  trial_count(judged->trial, COUNT_wrong, 1,
              "%s is ok, though a byte of every copy of its GPU was changed",
              sqlite3_column_text(row, 0));
}

void judge_corrupt(struct trial *trial, const char *path, unsigned gpu) {
  struct judged judged = {trial, UINT32_C(1) << gpu};
  char sql[512];
  (void)snprintf(sql, sizeof sql,
                 "SELECT DISTINCT b.name FROM case_run c JOIN bench_case b ON b.id = c.bench_case"
                 " JOIN flow f ON f.bench_case = b.id"
                 " WHERE c.status = 'ok' AND f.method = 'ce' AND f.source_place <> f.target_place"
                 "  AND %u = CASE 'gpu' WHEN f.source_place THEN f.source_index"
                 "    ELSE f.target_index END",
                 gpu);
  if (!judge_rows(path, sql, take_corrupt, &judged)) {
    trial_count(trial, COUNT_broken, 1, "%s has no flows that can be read", path);
  }
}

static void take_ended(void *context, sqlite3_stmt *row) {
  const struct judged *judged = context;
  trial_count(judged->trial, COUNT_spread, 1, "%s: %s", sqlite3_column_text(row, 0),
              sqlite3_column_text(row, 1));
}

void judge_none(struct trial *trial, const char *path, const char *status) {
  struct judged judged = {trial, 0};
  char sql[256];
  (void)snprintf(sql, sizeof sql,
                 "SELECT b.name, c.reason FROM case_run c JOIN bench_case b ON b.id = c.bench_case"
                 " WHERE c.status = '%s'",
                 status);
  if (!judge_rows(path, sql, take_ended, &judged)) {
    trial_count(trial, COUNT_broken, 1, "%s has no results that can be read", path);
  }
}

void judge_code(struct trial *trial, const struct haul *haul, const char *path) {
  char bad[DETAIL_SIZE] = "";
  (void)judge_rows(path,
                   "SELECT count(*) FROM case_run WHERE status NOT IN ('ok', 'skipped')"
                   " AND run = (SELECT max(id) FROM run)",
                   take_text, bad);
  if (haul->code == 0 && strcmp(bad, "0") != 0) {
    trial_count(trial, COUNT_silent, 1, "exit code 0 with %s cases that are not ok", bad);
  }
  if (haul->code == 0 && !database_run_is(path, "done")) {
    trial_count(trial, COUNT_silent, 1, "exit code 0 of a run that is not done");
  }
}

/* ---- outputs ---- */

/* One JSON value; NULL: there is none. */
static const char *json_value(const char *at, unsigned depth);

static const char *json_space(const char *at) {
  return at + strspn(at, " \t\n\r");
}

static const char *json_string(const char *at) {
  for (at++; *at != '"'; at++) {
    if ((unsigned char)*at < 0x20) {
      return NULL;
    }
    if (*at == '\\' && *++at == '\0') {
      return NULL;
    }
  }
  return at + 1;
}

static const char *json_list(const char *at, char end, bool named, unsigned depth) {
  at = json_space(at + 1);
  if (*at == end) {
    return at + 1;
  }
  for (;; at = json_space(at + 1)) {
    if (named) {
      at = *at == '"' ? json_string(at) : NULL;
      at = at != NULL ? json_space(at) : NULL;
      at = at != NULL && *at == ':' ? json_space(at + 1) : NULL;
    }
    at = at != NULL ? json_value(at, depth + 1) : NULL;
    if (at == NULL) {
      return NULL;
    }
    at = json_space(at);
    if (*at == end) {
      return at + 1;
    }
    if (*at != ',') {
      return NULL;
    }
  }
}

static const char *json_value(const char *at, unsigned depth) {
  static const char *const words[] = {"true", "false", "null"};
  if (depth > 100) {
    return NULL;
  }
  if (*at == '{' || *at == '[') {
    return json_list(at, *at == '{' ? '}' : ']', *at == '{', depth);
  }
  if (*at == '"') {
    return json_string(at);
  }
  for (size_t i = 0; i < COUNT_OF(words); i++) {
    if (strncmp(at, words[i], strlen(words[i])) == 0) {
      return at + strlen(words[i]);
    }
  }
  char *end = NULL;
  (void)strtod(at, &end);
  return end != at && (*at == '-' || isdigit((unsigned char)*at)) ? end : NULL;
}

static bool is_json(const char *text, bool lines) {
  const char *at = json_space(text);
  while (at != NULL && *at != '\0') {
    at = json_value(at, 0);
    at = at != NULL ? json_space(at) : NULL;
    if (!lines) {
      break;
    }
  }
  return at != NULL && *at == '\0';
}

/* Every record has as many fields as the first. */
static bool is_csv(const char *text) {
  size_t first = 0;
  size_t fields = 1;
  bool quoted = false;
  for (const char *at = text; *at != '\0'; at++) {
    if (*at == '"') {
      quoted = !quoted;
    } else if (!quoted && *at == ',') {
      fields++;
    } else if (!quoted && *at == '\n') {
      if (first != 0 && fields != first) {
        return false;
      }
      first = fields;
      fields = 1;
    }
  }
  return !quoted;
}

void judge_output(struct trial *trial, const struct haul *haul, const char *format) {
  const bool csv = strcmp(format, "csv") == 0;
  for (size_t i = 0; i < haul->out_size && !csv; i++) {
    const unsigned char byte = (unsigned char)haul->out[i];
    /* A page shows scenarios as they are, tabs and all. */
    const bool tab = byte == '\t' && strcmp(format, "html") == 0;
    if ((byte < 0x20 && byte != '\n' && !tab) || byte == 0x7f) {
      trial_count(trial, COUNT_broken, 1, "byte %02x in output as %s", byte, format);
      return;
    }
  }
  if ((strcmp(format, "json") == 0 && !is_json(haul->out, false)) ||
      (strcmp(format, "jsonl") == 0 && !is_json(haul->out, true)) || (csv && !is_csv(haul->out))) {
    trial_count(trial, COUNT_broken, 1, "output %u is not %s", haul->number, format);
  }
  if (strcmp(format, "html") == 0 && strstr(haul->out, "<script>alert") != NULL) {
    trial_count(trial, COUNT_broken, 1, "a script from the database in output %u", haul->number);
  }
}
