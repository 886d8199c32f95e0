#include "runner/record/merge.h"

#include "runner/record/merge_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PROGRESS_STEPS = 10000 };

struct merge {
  const char *path;
  struct database *output; /* NULL until it is needed */
  const volatile sig_atomic_t *interrupted;
};

struct merge *merge_new(const char *path, const volatile sig_atomic_t *interrupted) {
  struct merge *merge = calloc(1, sizeof *merge);
  if (merge == NULL) {
    abort();
  }
  *merge = (struct merge){.path = path, .interrupted = interrupted};
  return merge;
}

void merge_free(struct merge *merge) {
  if (merge == NULL) {
    return;
  }
  database_close(merge->output);
  free(merge);
}

static int progress(void *context) {
  const struct merge *merge = context;
  return merge->interrupted != NULL && *merge->interrupted != 0;
}

static enum status open_output(struct merge *merge, struct error *err) {
  if (merge->output != NULL) {
    return STATUS_OK;
  }
  enum status status = database_open(merge->path, DATABASE_WRITE, &merge->output, err);
  if (status == STATUS_OK) {
    status = database_script(merge->output, "merge/tables", err);
  }
  if (status == STATUS_OK) {
    sqlite3_progress_handler(merge->output->handle, PROGRESS_STEPS, progress, merge);
  }
  return status;
}

static enum status attach(struct database *output, const char *uri, struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(output, "merge/attach", &statement, err);
  if (status != STATUS_OK) {
    return status;
  }
  statement_bind_text(&statement, ":path", uri);
  status = statement_run(&statement, err);
  statement_finalize(&statement);
  return status;
}

/* A file of that version that lacks a column was not made by a released haul. */
static enum status check_columns(struct database *output, struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(output, "merge/missing", &statement, err);
  if (status != STATUS_OK) {
    return status;
  }
  bool row = false;
  status = statement_step(&statement, &row, err);
  if (row) {
    status = error_set(err, STATUS_INVALID,
                       "it has no column %s.%s, which its version of the schema has: it was not "
                       "made by a released haul, or was changed by other means",
                       (const char *)sqlite3_column_text(statement.stmt, 0),
                       (const char *)sqlite3_column_text(statement.stmt, 1));
  }
  statement_finalize(&statement);
  return status;
}

static enum status check_conflict(struct database *output, struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(output, "merge/conflict", &statement, err);
  if (status != STATUS_OK) {
    return status;
  }
  bool row = false;
  status = statement_step(&statement, &row, err);
  if (row) {
    status = error_set(err, STATUS_INVALID,
                       "its run %s is there already with another %s: it was resumed in two copies "
                       "of a database; keep one of them",
                       (const char *)sqlite3_column_text(statement.stmt, 0),
                       (const char *)sqlite3_column_text(statement.stmt, 1));
  }
  statement_finalize(&statement);
  return status;
}

static enum status read_result(struct database *output, struct merge_result *result,
                               struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(output, "merge/result", &statement, err);
  if (status != STATUS_OK) {
    return status;
  }
  bool row = false;
  status = statement_step(&statement, &row, err);
  if (row) {
    *result = (struct merge_result){.runs = sqlite3_column_int64(statement.stmt, 0),
                                    .added = sqlite3_column_int64(statement.stmt, 1),
                                    .completed = sqlite3_column_int64(statement.stmt, 2),
                                    .results = sqlite3_column_int64(statement.stmt, 3)};
  }
  statement_finalize(&statement);
  return status;
}

static enum status copy_rows(struct database *output, struct merge_result *result,
                             struct error *err) {
  enum status status = check_columns(output, err);
  if (status == STATUS_OK) {
    status = database_script(output, "merge/identify", err);
  }
  if (status == STATUS_OK) {
    status = check_conflict(output, err);
  }
  if (status == STATUS_OK) {
    status = database_run_generated(output, "merge/copy", err);
  }
  if (status == STATUS_OK) {
    status = database_script(output, "merge/complete", err);
  }
  if (status == STATUS_OK) {
    status = read_result(output, result, err);
  }
  return status;
}

/* What no other input would get round. */
static bool of_the_output(const struct database *output) {
  switch (sqlite3_errcode(output->handle)) {
  case SQLITE_FULL:
  case SQLITE_READONLY:
  case SQLITE_NOMEM:
  case SQLITE_INTERRUPT:
    return true;
  default:
    return false;
  }
}

static enum status merge_attached(struct database *output, struct merge_result *result, bool *fatal,
                                  struct error *err) {
  enum status status = database_begin(output, err);
  if (status != STATUS_OK) {
    *fatal = true;
    return status;
  }
  status = copy_rows(output, result, err);
  if (status != STATUS_OK) {
    *fatal = of_the_output(output);
    database_rollback(output);
    return status;
  }
  status = database_commit(output, err);
  *fatal = status != STATUS_OK;
  return status;
}

static bool same_file(const char *a, const char *b) {
  struct stat first;
  struct stat second;
  return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

enum status merge_add(struct merge *merge, const char *path, struct merge_result *result,
                      bool *fatal, struct error *err) {
  struct merge_result merged = {0};
  *fatal = false;
  if (same_file(merge->path, path)) {
    result->same = true;
    return STATUS_OK;
  }
  struct merge_input input;
  enum status status = merge_input_open(path, merge->path, &input, err);
  if (status != STATUS_OK) {
    return status;
  }
  status = open_output(merge, err);
  *fatal = status != STATUS_OK;
  if (status == STATUS_OK) {
    status = attach(merge->output, input.uri, err);
    if (status == STATUS_OK) {
      status = merge_attached(merge->output, &merged, fatal, err);
      struct error detaching = {0};
      if (database_script(merge->output, "merge/detach", &detaching) != STATUS_OK &&
          status == STATUS_OK) {
        *err = detaching;
        *fatal = true;
        status = detaching.status;
      }
    }
  }
  merge_input_close(&input);
  if (status == STATUS_OK) {
    *result = merged;
  }
  return status;
}
