#include "runner/record/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- members ---- */

static int row_find_column(const struct statement *statement, const char *name) {
  for (int i = 0; i < sqlite3_column_count(statement->stmt); i++) {
    if (strcmp(sqlite3_column_name(statement->stmt, i), name) == 0) {
      return i;
    }
  }
  fprintf(stderr, "haul: the statement %s has no column %s\n", statement->name, name);
  abort();
}

/* Once for each statement. */
static void row_find_columns(struct statement *statement, const struct row_member *members) {
  if (statement->members == members) {
    return;
  }
  for (size_t i = 0; members[i].column != NULL; i++) {
    if (i == STATEMENT_MEMBERS_MAX) {
      abort();
    }
    statement->columns[i] = (unsigned char)row_find_column(statement, members[i].column);
  }
  statement->members = members;
}

static int row_enum(const struct row_member *member, const char *text) {
  for (int i = 0; member->names[i] != NULL; i++) {
    if (strcmp(member->names[i], text) == 0) {
      return i;
    }
  }
  return member->other;
}

static void row_take(const struct statement *statement, int i, const struct row_member *member,
                     void *value, struct arena *arena) {
  sqlite3_stmt *stmt = statement->stmt;
  const bool known = sqlite3_column_type(stmt, i) != SQLITE_NULL;
  switch (member->type) {
  case ROW_INTEGER: {
    const int64_t integer = sqlite3_column_int64(stmt, i); /* little-endian, as haul's machines */
    memcpy(value, &integer, member->size);
    break;
  }
  case ROW_NUMBER:
    *(int *)value = known ? sqlite3_column_int(stmt, i) : -1;
    break;
  case ROW_BOOL:
    *(bool *)value = sqlite3_column_int(stmt, i) != 0;
    break;
  case ROW_REAL:
    *(double *)value = known ? sqlite3_column_double(stmt, i) : NAN;
    break;
  case ROW_OPTIONAL:
    *(const char **)value = statement_column_optional(statement, i, arena);
    break;
  case ROW_TEXT:
    *(const char **)value = arena_strdup(arena, statement_text(statement, i));
    break;
  case ROW_ARRAY:
    (void)snprintf(value, member->size, "%s", statement_text(statement, i));
    break;
  case ROW_ENUM: {
    const int index = known ? row_enum(member, statement_text(statement, i)) : 0;
    memcpy(value, &index, sizeof index);
    break;
  }
  }
}

bool rows_next(struct statement *statement, const struct row_member *members, void *row,
               struct arena *arena, enum status *status, struct error *err) {
  if (!statement_next(statement, status, err)) {
    return false;
  }
  if (members == NULL) {
    return true;
  }
  row_find_columns(statement, members);
  for (size_t i = 0; members[i].column != NULL; i++) {
    row_take(statement, statement->columns[i], &members[i], (char *)row + members[i].offset, arena);
  }
  return true;
}

const struct row_member ROW_WORD[] = {{.column = "word", .type = ROW_TEXT}, {0}};

/* ---- statements ---- */

void statement_bind(struct statement *statement, const struct parameter *parameters) {
  for (const struct parameter *p = parameters; p != NULL && p->name != NULL; p++) {
    switch (p->type) {
    case BIND_INT:
      statement_bind_int(statement, p->name, p->integer);
      break;
    case BIND_REAL:
      statement_bind_real(statement, p->name, p->real);
      break;
    case BIND_TEXT:
      statement_bind_text(statement, p->name, p->text);
      break;
    }
  }
}

static enum status rows_prepare(struct database *database, const char *name,
                                const struct parameter *parameters, struct statement *statement,
                                struct error *err) {
  RETURN_ON_ERROR(statement_prepare(database, name, statement, err));
  statement_bind(statement, parameters);
  return STATUS_OK;
}

enum status database_do(struct database *database, const char *name,
                        const struct parameter *parameters, struct error *err) {
  SCOPED(statement_finalize) struct statement statement = {0};
  RETURN_ON_ERROR(rows_prepare(database, name, parameters, &statement, err));
  return statement_run(&statement, err);
}

enum status database_read(struct database *database, const char *name,
                          const struct parameter *parameters, const struct row_member *members,
                          void *row, struct arena *arena, bool *found, struct error *err) {
  SCOPED(statement_finalize) struct statement statement = {0};
  enum status status = rows_prepare(database, name, parameters, &statement, err);
  const bool any = rows_next(&statement, members, row, arena, &status, err);
  if (found != NULL) {
    *found = any;
  }
  return status;
}

enum status database_read_words(struct database *database, const char *name,
                                const struct parameter *parameters, struct arena *arena,
                                const char *words[ROW_WORDS], struct error *err) {
  SCOPED(statement_finalize) struct statement statement = {0};
  memset(words, 0, ROW_WORDS * sizeof *words);
  enum status status = rows_prepare(database, name, parameters, &statement, err);
  if (statement_next(&statement, &status, err)) {
    for (int i = 0; i < ROW_WORDS && i < sqlite3_column_count(statement.stmt); i++) {
      words[i] = statement_column_optional(&statement, i, arena);
    }
  }
  return status;
}

enum status database_refuse_row(struct database *database, const char *name, enum status refused,
                                const char *format, struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  const char *words[ROW_WORDS];
  RETURN_ON_ERROR(database_read_words(database, name, NULL, &arena, words, err));
  return words[0] != NULL ? error_set(err, refused, format, words[0], words[1]) : STATUS_OK;
}

enum status database_read_all(struct database *database, const char *name,
                              const struct parameter *parameters, const struct row_member *members,
                              struct arena *arena, const struct row_array *rows,
                              struct error *err) {
  SCOPED(arena_fini) struct arena own = {0};
  SCOPED(statement_finalize) struct statement statement = {0};
  void *row = arena_alloc(&own, rows->size_bytes);
  char *items = NULL;
  size_t count = 0;
  enum status status = rows_prepare(database, name, parameters, &statement, err);
  while (rows_next(&statement, members, row, arena, &status, err)) {
    items = arena_grow(arena, items, count, rows->size_bytes);
    memcpy(items + count++ * rows->size_bytes, row, rows->size_bytes);
  }
  memcpy(rows->items, &items, sizeof items);
  *rows->count = count;
  return status;
}
