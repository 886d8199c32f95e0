#include "runner/record/query.h"

#include "engine/base/clock.h"
#include "runner/record/guard.h"
#include "runner/record/hint.h"
#include "runner/record/saved.h"
#include "runner/record/selector.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No name, reason or command that haul records is longer; what a file of others holds is cut in
 * saved queries, so that nothing is laid out for minutes. */
enum { PROGRESS_STEPS = 10000, CELL_MAX = 64 << 10 };

/* A saved query that was run. The pages of a site run the same ones again and again, and most of
 * them take longer to prepare than to run. */
struct query_prepared {
  const char *name; /* in query->names */
  sqlite3_stmt *stmt;
};

struct query {
  struct database *database;
  struct query_prepared *prepared; /* that do not run */
  size_t prepared_count;
  struct arena names;
  /* Of the statement that is being prepared or run. */
  char refused[160]; /* what the authorizer did not allow; "" = nothing */
  const struct query_options *options;
  uint64_t deadline_ns;
  bool timed_out, interrupted;
  bool is_own;     /* a saved query, not SQL of a user */
  size_t cell_max; /* longer texts are cut; 0 = none are */
  struct arena cut;
};

/* Pragmas that only read; an argument names the table, index or view to describe. */
static bool query_pragma_reads(const char *name, const char *argument) {
  static const char *const TELL[] = {"table_info",       "table_xinfo",     "table_list",
                                     "index_list",       "index_info",      "index_xinfo",
                                     "foreign_key_list", "collation_list",  "function_list",
                                     "pragma_list",      "compile_options", "database_list",
                                     "quick_check",      "integrity_check", "foreign_key_check"};
  static const char *const TELL_WITHOUT_ARGUMENT[] = {
      "user_version",   "application_id", "schema_version", "page_count",   "page_size",
      "freelist_count", "journal_mode",   "encoding",       "foreign_keys", "data_version"};
  return ANY_OF(i, COUNT_OF(TELL), sqlite3_stricmp(name, TELL[i]) == 0) ||
         (argument == NULL && ANY_OF(i, COUNT_OF(TELL_WITHOUT_ARGUMENT),
                                     sqlite3_stricmp(name, TELL_WITHOUT_ARGUMENT[i]) == 0));
}

static int query_authorize(void *context, int action, const char *first, const char *second,
                           const char *schema, const char *trigger) {
  struct query *query = context;
  const char *what = "change the database";
  (void)schema, (void)trigger;
  switch (action) {
  case SQLITE_READ:
  case SQLITE_SELECT:
  case SQLITE_RECURSIVE:
    return SQLITE_OK;
  case SQLITE_FUNCTION:
    if (guard_allows_function(second)) {
      return SQLITE_OK;
    }
    (void)snprintf(query->refused, sizeof query->refused, "queries cannot call %s()", second);
    return SQLITE_DENY;
  case SQLITE_UPDATE:
    /* Asked when a table-valued function is first used; SQLite itself refuses it to statements. */
    if (strcmp(first, "sqlite_master") == 0) {
      return SQLITE_OK;
    }
    break;
  case SQLITE_PRAGMA:
    if (query_pragma_reads(first, second)) {
      return SQLITE_OK;
    }
    (void)snprintf(query->refused, sizeof query->refused, "queries cannot use pragma %s", first);
    return SQLITE_DENY;
  case SQLITE_ATTACH:
  case SQLITE_DETACH:
    what = "use ATTACH or DETACH";
    break;
  case SQLITE_TRANSACTION:
  case SQLITE_SAVEPOINT:
    what = "use transactions";
    break;
  default:
    break;
  }
  (void)snprintf(query->refused, sizeof query->refused, "queries cannot %s", what);
  return SQLITE_DENY;
}

static int query_progress(void *context) {
  struct query *query = context;
  const struct query_options *options = query->options;
  query->interrupted = options->interrupted != NULL && *options->interrupted != 0;
  query->timed_out =
      options->time_limit_ns > 0 && clock_read_ns(CLOCK_MONOTONIC) > query->deadline_ns;
  /* SQL of users has the time that they give it. */
  return query->interrupted || query->timed_out ||
         (query->is_own && database_must_stop(query->database));
}

enum status query_open(const char *path, struct query **query, struct error *err) {
  struct database *database = NULL;
  RETURN_ON_ERROR(database_open(path, DATABASE_READ, &database, err));
  struct query *opened = memory_new(1, sizeof *opened);
  opened->database = database;
  *query = opened;
  return STATUS_OK;
}

void query_close(struct query *query) {
  if (query == NULL) {
    return;
  }
  for (size_t i = 0; i < query->prepared_count; i++) {
    (void)sqlite3_finalize(query->prepared[i].stmt);
  }
  free(query->prepared);
  arena_fini(&query->names);
  database_close(query->database);
  free(query);
}

struct database *query_database(struct query *query) {
  return query->database;
}

/* Line and column, from 1, of a byte in the text. */
static struct position query_position_of(const char *sql, int offset) {
  struct position position = {.line = 1, .column = 1};
  for (int i = 0; i < offset && sql[i] != '\0'; i++) {
    bool continues = (sql[i] & 0xc0) == 0x80;
    position.column += !continues;
    if (sql[i] == '\n') {
      position.line++;
      position.column = 1;
    }
  }
  return position;
}

static int query_error_offset(sqlite3 *handle) {
#if SQLITE_VERSION_NUMBER >= 3038000
  return sqlite3_error_offset(handle);
#else
  (void)handle;
  return -1;
#endif
}

static enum status query_error(struct query *query, const char *sql, struct error *err) {
  sqlite3 *handle = query->database->handle;
  int code = sqlite3_extended_errcode(handle);
  if (query->refused[0] != '\0') {
    return error_set_native(err, STATUS_DENIED, code, "%s", query->refused);
  }
  if (code == SQLITE_INTERRUPT && query->timed_out) {
    return error_set_native(err, STATUS_TIMEOUT, code, "the query took longer than %.3g s",
                            (double)query->options->time_limit_ns / 1e9);
  }
  if (query->is_own && (code == SQLITE_TOOBIG || query->database->out_of_time)) {
    return database_error(query->database, err);
  }
  if (code == SQLITE_INTERRUPT) {
    return error_set_native(err, STATUS_INTERRUPTED, code, "interrupted");
  }
  const bool altered = query->is_own && database_missing(query->database) != NULL;
  if ((code & 0xff) != SQLITE_ERROR || altered) {
    return database_error(query->database, err);
  }
  SCOPED(arena_fini) struct arena arena = {0};
  const int offset = query_error_offset(handle);
  const char *message = arena_strdup(&arena, sqlite3_errmsg(handle));
  const char *hint = hint_for(query->database, sql, message, &arena);
  if (offset < 0) {
    (void)error_set_native(err, STATUS_INVALID, code, "%s%s", message, hint);
    return STATUS_INVALID;
  }
  struct position position = query_position_of(sql, offset);
  enum status status = error_set_native(err, STATUS_INVALID, code, "line %u, column %u: %s%s",
                                        position.line, position.column, message, hint);
  if (err != NULL) {
    err->position = position;
  }
  return status;
}

/* Only blanks and comments, as SQLite sees it. */
static bool query_is_blank(struct query *query, const char *sql) {
  sqlite3_stmt *stmt = NULL;
  bool blank = sqlite3_prepare_v2(query->database->handle, sql, -1, &stmt, NULL) == SQLITE_OK &&
               stmt == NULL;
  (void)sqlite3_finalize(stmt);
  return blank;
}

static enum status query_prepare(struct query *query, const char *sql, sqlite3_stmt **stmt,
                                 struct error *err) {
  const char *tail = NULL;
  if (sqlite3_prepare_v2(query->database->handle, sql, -1, stmt, &tail) != SQLITE_OK) {
    return query_error(query, sql, err);
  }
  if (*stmt == NULL) {
    return error_set(err, STATUS_INVALID, "there is no SQL in the query");
  }
  if (!query_is_blank(query, tail)) {
    struct position position = query_position_of(sql, (int)(tail - sql));
    return error_set(err, STATUS_INVALID,
                     "line %u, column %u: one statement at a time, but another one follows",
                     position.line, position.column);
  }
  return STATUS_OK;
}

/* As it was left by query_keep(), or anew. *name: for query_keep(). */
static enum status query_prepare_saved(struct query *query, const struct saved_query *saved,
                                       const char **name, sqlite3_stmt **stmt, struct error *err) {
  const size_t i =
      FIRST_OF(k, query->prepared_count, strcmp(query->prepared[k].name, saved->name) == 0);
  if (i == query->prepared_count) {
    *name = arena_strdup(&query->names, saved->name);
    return query_prepare(query, saved->sql, stmt, err);
  }
  *name = query->prepared[i].name;
  *stmt = query->prepared[i].stmt;
  query->prepared[i] = query->prepared[--query->prepared_count];
  return STATUS_OK;
}

static void query_keep(struct query *query, const char *name, sqlite3_stmt *stmt) {
  (void)sqlite3_reset(stmt);
  (void)sqlite3_clear_bindings(stmt);
  *MEMORY_ADD(query->prepared, query->prepared_count) = (struct query_prepared){name, stmt};
}

/* ":run" of "run" and of ":run". */
static const char *query_bare(const char *name) {
  return strchr(":@$", name[0]) != NULL && name[0] != '\0' ? name + 1 : name;
}

static bool query_same_name(const char *a, const char *b) {
  return strcmp(query_bare(a), query_bare(b)) == 0;
}

static const struct query_parameter *query_given(const struct query_parameter *parameters,
                                                 size_t count, const char *name) {
  const size_t i = FIRST_OF(k, count, query_same_name(parameters[k].name, name));
  return i < count ? &parameters[i] : NULL;
}

static bool query_bind_integer(sqlite3_stmt *stmt, int index, const char *value) {
  char *end = NULL;
  errno = 0;
  long long integer = strtoll(value, &end, 10);
  bool whole = errno == 0 && end != value && *end == '\0' && !isspace((unsigned char)value[0]);
  if (whole) {
    (void)sqlite3_bind_int64(stmt, index, integer);
  }
  return whole;
}

static bool query_bind_real(sqlite3_stmt *stmt, int index, const char *value) {
  char *end = NULL;
  double real = strtod(value, &end);
  bool number = end != value && *end == '\0' && isfinite(real) && !isspace((unsigned char)value[0]);
  if (number) {
    (void)sqlite3_bind_double(stmt, index, real);
  }
  return number;
}

static enum status query_bind_run(struct query *query, sqlite3_stmt *stmt, int index,
                                  const char *value, struct error *err) {
  struct run_ref run;
  RETURN_ON_ERROR(selector_find(query->database, value, &run, err));
  (void)sqlite3_bind_int64(stmt, index, run.id);
  return STATUS_OK;
}

static enum status query_bind_typed(struct query *query, sqlite3_stmt *stmt, int index,
                                    enum parameter_type type, const char *value,
                                    struct error *err) {
  const char *name = sqlite3_bind_parameter_name(stmt, index);
  switch (type) {
  case PARAMETER_RUN:
    return query_bind_run(query, stmt, index, value, err);
  case PARAMETER_INTEGER:
    if (!query_bind_integer(stmt, index, value)) {
      return error_set(err, STATUS_USAGE, "%s is \"%s\" but must be a whole number", name, value);
    }
    return STATUS_OK;
  case PARAMETER_REAL:
    if (!query_bind_real(stmt, index, value)) {
      return error_set(err, STATUS_USAGE, "%s is \"%s\" but must be a number", name, value);
    }
    return STATUS_OK;
  case PARAMETER_TEXT:
    (void)sqlite3_bind_text(stmt, index, value, -1, SQLITE_TRANSIENT);
    return STATUS_OK;
  case parameter_type_name_count:
    break;
  }
  abort();
}

/* A parameter of a user's own SQL: a number if the value looks like one, else text. */
static enum status query_bind_guessed(struct query *query, sqlite3_stmt *stmt, int index,
                                      const struct query_parameter *parameter, struct error *err) {
  const char *name = sqlite3_bind_parameter_name(stmt, index);
  if (strcmp(query_bare(name), "run") == 0) {
    return query_bind_run(query, stmt, index, parameter != NULL ? parameter->value : "latest", err);
  }
  if (parameter == NULL) {
    return error_set(err, STATUS_USAGE, "parameter %s has no value: add --param %s=VALUE", name,
                     query_bare(name));
  }
  if (!query_bind_integer(stmt, index, parameter->value) &&
      !query_bind_real(stmt, index, parameter->value)) {
    (void)sqlite3_bind_text(stmt, index, parameter->value, -1, SQLITE_TRANSIENT);
  }
  return STATUS_OK;
}

static enum status query_bind_saved(struct query *query, sqlite3_stmt *stmt, int index,
                                    const struct saved_query *saved,
                                    const struct query_parameter *parameter, struct error *err) {
  const char *name = sqlite3_bind_parameter_name(stmt, index);
  const struct saved_parameter *declaration = saved_query_parameter(saved, name);
  if (declaration == NULL) {
    return query_bind_guessed(query, stmt, index, parameter, err);
  }
  const char *value = parameter != NULL ? parameter->value : declaration->standard;
  if (value == NULL) {
    return error_set(err, STATUS_USAGE, "the saved query %s needs %s: %s", saved->name, name,
                     declaration->help);
  }
  if (parameter == NULL && strcmp(value, "null") == 0) {
    return STATUS_OK; /* unbound is NULL */
  }
  return query_bind_typed(query, stmt, index, declaration->type, value, err);
}

/* With what it has: "its parameters: :run, :runs". */
static enum status query_say_no_parameter(sqlite3_stmt *stmt, const char *name, struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  const char *names = "";
  for (int i = 1; i <= sqlite3_bind_parameter_count(stmt); i++) {
    const char *has = sqlite3_bind_parameter_name(stmt, i);
    names = has != NULL ? arena_add_word(&arena, names, has) : names;
  }
  return error_set(err, STATUS_USAGE, "the query has no parameter :%s%s%s", name,
                   names[0] != '\0' ? ": it has " : ", and none at all", names);
}

/* saved may be NULL. */
static enum status query_bind_all(struct query *query, sqlite3_stmt *stmt,
                                  const struct saved_query *saved,
                                  const struct query_parameter *parameters, size_t count,
                                  struct error *err) {
  int parameter_count = sqlite3_bind_parameter_count(stmt);
  for (size_t i = 0; i < count; i++) {
    bool wanted = false;
    for (int index = 1; index <= parameter_count && !wanted; index++) {
      const char *name = sqlite3_bind_parameter_name(stmt, index);
      wanted = name != NULL && query_same_name(name, parameters[i].name);
    }
    if (!wanted) {
      return query_say_no_parameter(stmt, query_bare(parameters[i].name), err);
    }
  }
  enum status status = STATUS_OK;
  for (int index = 1; index <= parameter_count && status == STATUS_OK; index++) {
    const char *name = sqlite3_bind_parameter_name(stmt, index);
    if (name == NULL || !isalpha((unsigned char)query_bare(name)[0])) {
      return error_set(err, STATUS_USAGE, "parameters have names, as in :run, not \"?\"");
    }
    const struct query_parameter *parameter = query_given(parameters, count, name);
    status = saved != NULL ? query_bind_saved(query, stmt, index, saved, parameter, err)
                           : query_bind_guessed(query, stmt, index, parameter, err);
  }
  return status;
}

static struct cell query_text_cell(struct query *query, const char *text, size_t length) {
  if (text == NULL || query->cell_max == 0 || length <= query->cell_max) {
    return (struct cell){.kind = CELL_TEXT, .as.text = {text != NULL ? text : "", length}};
  }
  size_t end = query->cell_max;
  while (end > 0 && (text[end] & 0xc0) == 0x80) {
    end--;
  }
  const char *cut = arena_format(&query->cut, "%.*s ... (cut: %zu bytes)", (int)end, text, length);
  return (struct cell){.kind = CELL_TEXT, .as.text = {cut, strlen(cut)}};
}

static struct cell query_cell_of(struct query *query, sqlite3_stmt *stmt, int column) {
  switch (sqlite3_column_type(stmt, column)) {
  case SQLITE_INTEGER:
    return cell_integer(sqlite3_column_int64(stmt, column));
  case SQLITE_FLOAT:
    return cell_finite(sqlite3_column_double(stmt, column));
  case SQLITE_TEXT: {
    const char *text = (const char *)sqlite3_column_text(stmt, column);
    return query_text_cell(query, text, (size_t)sqlite3_column_bytes(stmt, column));
  }
  case SQLITE_BLOB: {
    const char *bytes = sqlite3_column_blob(stmt, column);
    size_t length = (size_t)sqlite3_column_bytes(stmt, column);
    return (struct cell){.kind = CELL_BLOB, .as.text = {bytes != NULL ? bytes : "", length}};
  }
  default:
    return cell_null();
  }
}

static enum status query_step_rows(struct query *query, sqlite3_stmt *stmt, const char *sql,
                                   const struct row_sink *sink, struct cell *cells,
                                   struct error *err) {
  int column_count = sqlite3_column_count(stmt);
  for (;;) {
    const int code = database_step(query->database, stmt);
    if (code == SQLITE_DONE) {
      return STATUS_OK;
    }
    if (code != SQLITE_ROW) {
      return query_error(query, sql, err);
    }
    for (int i = 0; i < column_count; i++) {
      cells[i] = query_cell_of(query, stmt, i);
    }
    enum status status = sink_row(sink, cells, err);
    arena_fini(&query->cut);
    RETURN_ON_ERROR(status);
    if (sink_has_enough(sink)) {
      return STATUS_OK;
    }
  }
}

/* As sink_begin(); saved may be NULL. */
static enum status query_begin_rows(sqlite3_stmt *stmt, const struct saved_query *saved,
                                    const struct row_sink *sink, struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  const size_t count = (size_t)sqlite3_column_count(stmt);
  struct column *columns = arena_array(&arena, count + 1, sizeof *columns);
  for (size_t i = 0; i < count; i++) {
    const char *name = arena_strdup(&arena, sqlite3_column_name(stmt, (int)i));
    columns[i].name = name;
    columns[i].is_json = saved != NULL && saved->json != NULL && strcmp(saved->json, name) == 0;
  }
  return sink->begin(sink->context, columns, count, err);
}

static enum status query_give_rows(struct query *query, sqlite3_stmt *stmt, const char *sql,
                                   const struct saved_query *saved, const struct row_sink *sink,
                                   struct error *err) {
  int column_count = sqlite3_column_count(stmt);
  /* VACUUM does not ask the authorizer. */
  if (column_count == 0) {
    return error_set(err, STATUS_DENIED, "queries cannot change the database");
  }
  SCOPED(arena_fini) struct arena arena = {0};
  struct cell *cells = arena_array(&arena, (size_t)column_count, sizeof *cells);
  enum status status = query_begin_rows(stmt, saved, sink, err);
  status = THEN(status, query_step_rows(query, stmt, sql, sink, cells, err));
  return THEN(status, sink_end(sink, err));
}

/* SQL of users is asked about, saved queries are ours. A change of the authorizer would have SQLite
 * prepare every statement of the connection anew. */
static void query_guard(struct query *query, bool asked) {
  if (!query->is_own && asked) {
    (void)sqlite3_set_authorizer(query->database->handle, query_authorize, query);
  } else if (!query->is_own) {
    guard_restore(query->database->handle);
  }
}

static enum status query_run_statement(struct query *query, const char *sql,
                                       const struct saved_query *saved,
                                       const struct query_parameter *parameters,
                                       size_t parameter_count, const struct query_options *options,
                                       const struct row_sink *sink, struct error *err) {
  static const struct query_options NO_LIMITS = {0};
  sqlite3 *handle = query->database->handle;
  sqlite3_stmt *stmt = NULL;
  const char *name = NULL;
  query->options = options != NULL ? options : &NO_LIMITS;
  query->deadline_ns = clock_read_ns(CLOCK_MONOTONIC) + query->options->time_limit_ns;
  query->timed_out = query->interrupted = false;
  query->is_own = saved != NULL;
  /* The text of a scenario is as long as it is. */
  query->cell_max = saved != NULL && strcmp(saved->name, "run-scenario") != 0 ? CELL_MAX : 0;
  guard_limit_length(handle, query->is_own ? GUARD_READ_MAX : GUARD_LENGTH_MAX);
  query->refused[0] = '\0';
  query_guard(query, true);
  enum status status = saved != NULL ? query_prepare_saved(query, saved, &name, &stmt, err)
                                     : query_prepare(query, sql, &stmt, err);
  query_guard(query, false); /* run selectors are ours */
  status = THEN(status, query_bind_all(query, stmt, saved, parameters, parameter_count, err));
  /* The statement may be prepared again while it runs, and table-valued pragmas prepare theirs. */
  query_guard(query, true);
  sqlite3_progress_handler(handle, PROGRESS_STEPS, query_progress, query);
  status = THEN(status, query_give_rows(query, stmt, sql, saved, sink, err));
  database_watch_time(query->database);
  guard_limit_length(handle, GUARD_READ_MAX);
  if (saved != NULL && stmt != NULL) {
    query_keep(query, name, stmt);
  } else {
    (void)sqlite3_finalize(stmt);
  }
  query_guard(query, false);
  return status;
}

enum status query_run(struct query *query, const char *sql,
                      const struct query_parameter *parameters, size_t parameter_count,
                      const struct query_options *options, const struct row_sink *sink,
                      struct error *err) {
  return query_run_statement(query, sql, NULL, parameters, parameter_count, options, sink, err);
}

enum status query_run_saved(struct query *query, const char *name,
                            const struct query_parameter *parameters, size_t parameter_count,
                            const struct query_options *options, const struct row_sink *sink,
                            struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct saved_query saved;
  enum status status = saved_query_find(name, &arena, &saved, err);
  return THEN(status, query_run_statement(query, saved.sql, &saved, parameters, parameter_count,
                                          options, sink, err));
}

/* The declared type of the column that a result column is, through views. */
static struct cell query_example_of(sqlite3_stmt *stmt, int column) {
  const char *type = sqlite3_column_decltype(stmt, column);
  return type == NULL                   ? cell_null()
         : strcmp(type, "TEXT") == 0    ? cell_text("")
         : strcmp(type, "INTEGER") == 0 ? cell_integer(0)
         : strcmp(type, "REAL") == 0    ? cell_real(0)
                                        : cell_null();
}

enum status query_describe_saved(const char *name, const struct row_sink *sink, struct error *err) {
  struct query query = {0};
  struct saved_query saved;
  SCOPED(arena_fini) struct arena arena = {0};
  sqlite3_stmt *stmt = NULL;
  enum status status = saved_query_find(name, &arena, &saved, err);
  status = THEN(status, database_open_temporary(&query.database, err));
  status = THEN(status, query_prepare(&query, saved.sql, &stmt, err));
  if (status == STATUS_OK) {
    const size_t count = (size_t)sqlite3_column_count(stmt);
    struct cell *cells = arena_array(&arena, count, sizeof *cells);
    for (size_t i = 0; i < count; i++) {
      cells[i] = query_example_of(stmt, (int)i);
    }
    status = query_begin_rows(stmt, &saved, sink, err);
    status = THEN(status, sink_row(sink, cells, err));
    status = THEN(status, sink_end(sink, err));
  }
  (void)sqlite3_finalize(stmt);
  database_close(query.database);
  return status;
}
