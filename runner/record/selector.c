#include "runner/record/selector.h"

#include "engine/base/strbuf.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NAMES_SHOWN = 8, RUNS_SHOWN = 3, LIST_MAX = 800, UUID_DIGITS = RUN_UUID_MAX - 1 };
/* Of a UUIDv7: its time in ms, and the version. */
enum { UUID_DIGITS_SHOWN = 13 };

/* Reads id and uuid of the first row into *run; *found says whether there is one. */
static enum status selector_first_run(struct statement *statement, struct run_ref *run, bool *found,
                                      struct error *err) {
  enum status status = statement_step(statement, found, err);
  if (status == STATUS_OK && *found) {
    run->id = sqlite3_column_int64(statement->stmt, 0);
    (void)snprintf(run->uuid, sizeof run->uuid, "%s",
                   (const char *)sqlite3_column_text(statement->stmt, 1));
  }
  return status;
}

/* The rows of a statement as "a, b, c ..."; "none" without rows; only the first few of many runs.
 */
static enum status selector_list_rows(struct statement *statement, bool runs, struct strbuf *list,
                                      size_t *count, struct error *err) {
  for (*count = 0;; ++*count) {
    bool row = false;
    enum status status = statement_step(statement, &row, err);
    if (status != STATUS_OK || !row) {
      if (*count == 0) {
        strbuf_append(list, "none");
      }
      return status;
    }
    const size_t shown = runs ? RUNS_SHOWN : NAMES_SHOWN;
    if (*count >= shown) {
      strbuf_append(list, *count > shown ? "" : runs ? ", ... (see haul list runs)" : " ...");
      continue;
    }
    const char *separator = *count > 0 ? ", " : "";
    sqlite3_stmt *stmt = statement->stmt;
    if (!runs) {
      strbuf_printf(list, "%s%s", separator, (const char *)sqlite3_column_text(stmt, 0));
      continue;
    }
    const char *tag = (const char *)sqlite3_column_text(stmt, 4);
    strbuf_printf(
        list, "%s%lld = %.*s (%s, %s%s%s)", separator, (long long)sqlite3_column_int64(stmt, 0),
        UUID_DIGITS_SHOWN, (const char *)sqlite3_column_text(stmt, 1),
        (const char *)sqlite3_column_text(stmt, 3), (const char *)sqlite3_column_text(stmt, 2),
        tag != NULL ? ", tag " : "", tag != NULL ? tag : "");
  }
}

/* An error that says what is wrong and what exists; name: the statement that lists it. */
static enum status selector_refuse(struct database *database, enum status wrong,
                                   const char *message, const char *name, const char *prefix,
                                   struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, name, &statement, err);
  if (status != STATUS_OK) {
    return status;
  }
  struct strbuf list;
  size_t count = 0;
  strbuf_init(&list, LIST_MAX);
  if (prefix != NULL) {
    statement_bind_text(&statement, ":prefix", prefix);
  }
  status = selector_list_rows(&statement, prefix != NULL, &list, &count, err);
  if (status == STATUS_OK) {
    status =
        error_set(err, wrong, "%s; there %s: %s", message, count == 1 ? "is" : "are", list.text);
  }
  strbuf_fini(&list);
  statement_finalize(&statement);
  return status;
}

/* Run a statement that gives at most one run. */
static enum status selector_find_one(struct database *database, const char *name,
                                     const char *parameter, const char *text, int64_t number,
                                     struct run_ref *run, bool *found, struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, name, &statement, err);
  if (status != STATUS_OK) {
    return status;
  }
  if (text != NULL) {
    statement_bind_text(&statement, parameter, text);
  } else {
    statement_bind_int(&statement, parameter, number);
  }
  status = selector_first_run(&statement, run, found, err);
  statement_finalize(&statement);
  return status;
}

static enum status selector_find_or_refuse(struct database *database, const char *name,
                                           const char *parameter, const char *text,
                                           const char *what, const char *listed_by,
                                           struct run_ref *run, struct error *err) {
  bool found = false;
  enum status status = selector_find_one(database, name, parameter, text, 0, run, &found, err);
  if (status != STATUS_OK || found) {
    return status;
  }
  char message[256];
  (void)snprintf(message, sizeof message, "no run has the %s \"%s\"", what, text);
  return selector_refuse(database, STATUS_NOT_FOUND, message, listed_by, NULL, err);
}

static enum status selector_find_latest(struct database *database, const char *selector,
                                        int64_t before, struct run_ref *run, struct error *err) {
  bool found = false;
  enum status status =
      selector_find_one(database, "select/latest_run", ":before", NULL, before, run, &found, err);
  if (status != STATUS_OK || found) {
    return status;
  }
  char message[256];
  (void)snprintf(message, sizeof message, "there is no %s run in %s", selector, database->path);
  return selector_refuse(database, STATUS_NOT_FOUND, message, "select/runs_by_prefix", "", err);
}

/* A number of a run never starts with 0; a UUIDv7 does until the year 10889. */
static bool selector_is_number(const char *text) {
  size_t digits = strspn(text, "0123456789");
  return digits > 0 && digits <= 18 && text[digits] == '\0' && text[0] != '0';
}

static enum status selector_find_by_prefix(struct database *database, const char *prefix,
                                           struct run_ref *run, struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, "select/runs_by_prefix", &statement, err);
  if (status != STATUS_OK) {
    return status;
  }
  statement_bind_text(&statement, ":prefix", prefix);
  bool found = false;
  bool second = false;
  struct run_ref first = {0};
  status = selector_first_run(&statement, &first, &found, err);
  if (status == STATUS_OK && found) {
    status = statement_step(&statement, &second, err);
  }
  statement_finalize(&statement);
  if (status != STATUS_OK) {
    return status;
  }
  if (found && !second) {
    *run = first;
    return STATUS_OK;
  }
  char message[256];
  (void)snprintf(message, sizeof message,
                 found ? "several runs begin with \"%.*s\"" : "no run begins with \"%.*s\"",
                 UUID_DIGITS, prefix);
  return selector_refuse(database, found ? STATUS_INVALID : STATUS_NOT_FOUND, message,
                         "select/runs_by_prefix", found ? prefix : "", err);
}

static enum status selector_find_by_id(struct database *database, const char *text,
                                       struct run_ref *run, struct error *err) {
  char lower[UUID_DIGITS + 5];
  size_t length = 0;
  if (selector_is_number(text)) {
    bool found = false;
    enum status status = selector_find_one(database, "select/run_by_id", ":id", NULL,
                                           strtoll(text, NULL, 10), run, &found, err);
    if (status != STATUS_OK || found) {
      return status;
    }
  }
  for (const char *p = text; *p != '\0'; p++) {
    if (*p == '-') {
      continue; /* a UUID as others write it */
    }
    if (!isxdigit((unsigned char)*p) || length == UUID_DIGITS) {
      return error_set(err, STATUS_INVALID,
                       "\"%s\" names no run: use its number or the beginning of its UUID, "
                       "tag:NAME, driver:VERSION, baseline:NAME, latest or previous",
                       text);
    }
    lower[length++] = (char)tolower((unsigned char)*p);
  }
  lower[length] = '\0';
  if (length == 0) {
    return error_set(err, STATUS_INVALID, "the name of a run is empty");
  }
  return selector_find_by_prefix(database, lower, run, err);
}

/* Every run that a statement gives. */
static enum status selector_add_all(struct database *database, const char *name,
                                    const char *parameter, const char *text, struct arena *arena,
                                    struct run_list *list, struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, name, &statement, err);
  if (status != STATUS_OK) {
    return status;
  }
  statement_bind_text(&statement, parameter, text);
  size_t capacity = list->count;
  for (bool row = true; status == STATUS_OK && row;) {
    struct run_ref run = {0};
    status = selector_first_run(&statement, &run, &row, err);
    bool known = false;
    for (size_t i = 0; i < list->count && row && !known; i++) {
      known = list->runs[i].id == run.id;
    }
    if (status != STATUS_OK || !row || known) {
      continue;
    }
    list->runs = arena_grow(arena, list->runs, list->count, &capacity, sizeof *list->runs);
    list->runs[list->count++] = run;
  }
  statement_finalize(&statement);
  return status;
}

static enum status selector_find_baseline(struct database *database, const char *name,
                                          struct arena *arena, struct run_list *list,
                                          struct error *err) {
  size_t before = list->count;
  enum status status =
      selector_add_all(database, "select/all_runs_by_baseline", ":name", name, arena, list, err);
  if (status != STATUS_OK || list->count > before) {
    return status;
  }
  char message[256];
  (void)snprintf(message, sizeof message, "there is no baseline \"%s\"", name);
  return selector_refuse(database, STATUS_NOT_FOUND, message, "select/known_baselines", NULL, err);
}

enum status selector_find(struct database *database, const char *selector, struct run_ref *run,
                          struct error *err) {
  if (strcmp(selector, "latest") == 0) {
    return selector_find_latest(database, selector, 0, run, err);
  }
  if (strcmp(selector, "previous") == 0) {
    return selector_find_latest(database, selector, 1, run, err);
  }
  if (strncmp(selector, "tag:", 4) == 0) {
    return selector_find_or_refuse(database, "select/runs_by_tag", ":tag", selector + 4, "tag",
                                   "select/known_tags", run, err);
  }
  if (strncmp(selector, "driver:", 7) == 0) {
    return selector_find_or_refuse(database, "select/runs_by_driver", ":driver", selector + 7,
                                   "driver", "select/known_drivers", run, err);
  }
  if (strncmp(selector, "baseline:", 9) == 0) {
    struct arena arena = {0};
    struct run_list list = {0};
    enum status status = selector_find_baseline(database, selector + 9, &arena, &list, err);
    if (status == STATUS_OK) {
      *run = list.runs[list.count - 1];
    }
    arena_fini(&arena);
    return status;
  }
  return selector_find_by_id(database, strncmp(selector, "run:", 4) == 0 ? selector + 4 : selector,
                             run, err);
}

/* One name of a list. */
static enum status selector_find_each(struct database *database, const char *selector,
                                      struct arena *arena, struct run_list *list,
                                      struct error *err) {
  if (strncmp(selector, "baseline:", 9) == 0) {
    return selector_find_baseline(database, selector + 9, arena, list, err);
  }
  struct run_ref run;
  enum status status = selector_find(database, selector, &run, err); /* it says what is wrong */
  if (status != STATUS_OK) {
    return status;
  }
  if (strncmp(selector, "tag:", 4) == 0) {
    return selector_add_all(database, "select/all_runs_by_tag", ":tag", selector + 4, arena, list,
                            err);
  }
  if (strncmp(selector, "driver:", 7) == 0) {
    return selector_add_all(database, "select/all_runs_by_driver", ":driver", selector + 7, arena,
                            list, err);
  }
  return selector_add_all(database, "select/run_by_uuid", ":uuid", run.uuid, arena, list, err);
}

enum status selector_find_all(struct database *database, const char *selector, struct arena *arena,
                              struct run_list *list, struct error *err) {
  *list = (struct run_list){0};
  enum status status = STATUS_OK;
  for (const char *start = selector; status == STATUS_OK && start != NULL;) {
    const char *comma = strchr(start, ',');
    const size_t length = comma != NULL ? (size_t)(comma - start) : strlen(start);
    status = selector_find_each(database, arena_strndup(arena, start, length), arena, list, err);
    start = comma != NULL ? comma + 1 : NULL;
  }
  return status;
}

/* ---- baselines ---- */

/* ns since 1970 */
static int64_t selector_now_ns(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static enum status selector_delete_runs(struct database *database, const char *name, bool *any,
                                        struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, "select/delete_baseline", &statement, err);
  if (status != STATUS_OK) {
    return status;
  }
  statement_bind_text(&statement, ":name", name);
  status = statement_run(&statement, err);
  *any = status == STATUS_OK && sqlite3_changes(database->handle) > 0;
  statement_finalize(&statement);
  return status;
}

static enum status selector_insert_runs(struct database *database, const char *name,
                                        const struct run_list *runs, struct error *err) {
  struct statement statement;
  const int64_t set_at_ns = selector_now_ns();
  enum status status = statement_prepare(database, "select/insert_baseline", &statement, err);
  if (status != STATUS_OK) {
    return status;
  }
  for (size_t i = 0; i < runs->count && status == STATUS_OK; i++) {
    statement_bind_text(&statement, ":name", name);
    statement_bind_int(&statement, ":run", runs->runs[i].id);
    statement_bind_int(&statement, ":set_at_ns", set_at_ns);
    status = statement_run(&statement, err);
  }
  statement_finalize(&statement);
  return status;
}

enum status baseline_set(struct database *database, const char *name, const struct run_list *runs,
                         bool *replaced, struct error *err) {
  enum status status = database_begin(database, err);
  if (status != STATUS_OK) {
    return status;
  }
  status = selector_delete_runs(database, name, replaced, err);
  if (status == STATUS_OK) {
    status = selector_insert_runs(database, name, runs, err);
  }
  if (status == STATUS_OK) {
    return database_commit(database, err);
  }
  database_rollback(database);
  return status;
}

enum status baseline_remove(struct database *database, const char *name, struct error *err) {
  struct arena arena = {0};
  struct run_list runs = {0};
  const char *selector = arena_format(&arena, "baseline:%s", name);
  bool any = false;
  enum status status = selector_find_all(database, selector, &arena, &runs, err);
  if (status == STATUS_OK) {
    status = selector_delete_runs(database, name, &any, err);
  }
  arena_fini(&arena);
  return status;
}
