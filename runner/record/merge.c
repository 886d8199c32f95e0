#include "runner/record/merge.h"

#include "engine/base/strings.h"
#include "runner/plan/kind.h"
#include "runner/plan/plan.h"
#include "runner/record/database.h"
#include "runner/record/merge_input.h"
#include "runner/record/node_list.h"
#include "runner/record/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WRITE_AHEAD_BYTES_MAX = 32 << 20 };

/* An input that was skipped. */
struct merge_failure {
  struct merge_file file; /* without a version: it may become good as it is */
  char reason[ERROR_MESSAGE_MAX];
};

struct merge {
  const char *path;
  struct database *output; /* NULL until it is needed */
  const volatile sig_atomic_t *interrupted;
  bool write_ahead; /* the output is, for as long as it is merged into */
  bool keep_journal;
  struct arena arena;
  struct merge_failure **failures; /* not written yet */
  size_t failure_count;
  const char *schema; /* of the last input whose columns are all there */
  char *copy;         /* the statements that copy an input; the same for all */
  char *compare;      /* those that compare it with the output */
  char *types;        /* those that find texts where numbers belong */
};

struct merge *merge_new(const char *path, const volatile sig_atomic_t *interrupted) {
  struct merge *merge = memory_new(1, sizeof *merge);
  *merge = (struct merge){.path = path, .interrupted = interrupted};
  return merge;
}

void merge_keep_journal(struct merge *merge) {
  merge->keep_journal = true;
}

void merge_free(struct merge *merge) {
  if (merge == NULL) {
    return;
  }
  if (merge->write_ahead) {
    struct error err = {0};
    database_limit_time(merge->output, 0, NULL);
    (void)!database_script(merge->output, "merge/write_back", &err); /* else the next merge does */
  }
  database_close(merge->output);
  arena_fini(&merge->arena);
  free(merge->copy);
  free(merge->compare);
  free(merge->types);
  free(merge);
}

/* By a statement that gives the mode. A merge that was killed leaves the output in it. */
static enum status merge_read_mode(struct merge *merge, const char *name, struct error *err) {
  const char *mode[ROW_WORDS];
  RETURN_ON_ERROR(database_read_words(merge->output, name, NULL, &merge->arena, mode, err));
  merge->write_ahead = strings_equal(mode[0], "wal");
  return STATUS_OK;
}

/* Before something is written: not on a network file system, where a write-ahead log is not safe,
 * nor for a large input, which it would hold whole. */
static enum status merge_write_ahead(struct merge *merge, int64_t input_bytes, struct error *err) {
  if (merge->write_ahead || merge->keep_journal || merge->output->network_file_system != NULL ||
      input_bytes > WRITE_AHEAD_BYTES_MAX) {
    return STATUS_OK;
  }
  RETURN_ON_ERROR(merge_read_mode(merge, "merge/write_ahead", err));
  return merge->write_ahead ? database_script(merge->output, "merge/write_ahead_settings", err)
                            : STATUS_OK;
}

enum status merge_take_output(struct merge *merge, struct database *output, struct error *err) {
  merge->output = output;
  enum status status = merge_read_mode(merge, "merge/journal_mode", err);
  status = THEN(status, database_script(merge->output, "merge/tables", err));
  status = THEN(status, database_derive_settings(merge->output, err));
  status = THEN(status, database_generate(merge->output, "merge/copy", &merge->copy, err));
  status = THEN(status, database_generate(merge->output, "merge/types", &merge->types, err));
  return THEN(status, database_generate(merge->output, "merge/compare", &merge->compare, err));
}

static enum status merge_open_output(struct merge *merge, struct error *err) {
  struct database *output = NULL;
  if (merge->output != NULL) {
    return STATUS_OK;
  }
  RETURN_ON_ERROR(database_open(merge->path, DATABASE_WRITE, &output, err));
  return merge_take_output(merge, output, err);
}

/* A file of that version that lacks a column was not made by a released haul. Inputs have the same
 * tables, nearly always: those of the last good one need no second look. */
static enum status merge_check_columns(struct merge *merge, struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  const char *schema[ROW_WORDS];
  RETURN_ON_ERROR(database_read_words(merge->output, "merge/schema", NULL, &arena, schema, err));
  if (strings_equal(schema[0], merge->schema)) {
    return STATUS_OK;
  }
  RETURN_ON_ERROR(database_refuse_row(merge->output, "merge/missing", STATUS_INVALID,
                                      "it has no column %s.%s" DATABASE_ALTERED, err));
  merge->schema = schema[0] != NULL ? arena_strdup(&merge->arena, schema[0]) : merge->schema;
  return STATUS_OK;
}

/* ---- what an input says, and what follows from it ---- */

/* A new case, and what it is compared by. */
struct new_figure {
  const char *name, *figure;
  int kind, resolved;
  int64_t payload_bytes, operations, figure_amount;
};

static const struct row_member FIGURE_MEMBERS[] = {
    ROW_MEMBER_TEXT(struct new_figure, name),
    ROW_MEMBER_TEXT(struct new_figure, figure),
    ROW_MEMBER_ENUM(struct new_figure, kind, case_kind_names, case_kind_name_count),
    ROW_MEMBER(struct new_figure, resolved),
    ROW_MEMBER(struct new_figure, payload_bytes),
    ROW_MEMBER(struct new_figure, operations),
    ROW_MEMBER(struct new_figure, figure_amount),
    {0}};

#define FALSE_CASE                                                                                 \
  "its case %s has a %s that is not what its definition says: it was changed by other means"

/* Of a kind that only a newer haul knows, what is not a rate cannot be judged. */
static enum status merge_check_figures(struct database *output, struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct new_figure *cases = NULL;
  size_t count = 0;
  RETURN_ON_ERROR(DATABASE_READ_ALL(output, "merge/new_figures", NULL, FIGURE_MEMBERS, &arena,
                                    cases, count, err));
  for (size_t i = 0; i < count; i++) {
    const struct new_figure *found = &cases[i];
    if (found->kind == case_kind_name_count) {
      const bool rate = strcmp(found->figure, figure_text(FIGURE_RATE)) == 0;
      if (rate != (found->payload_bytes > 0) ||
          (rate && found->figure_amount != found->payload_bytes)) {
        return error_set(err, STATUS_INVALID, FALSE_CASE, found->name, "figure");
      }
      continue;
    }
    struct case_def made = {.kind = (enum case_kind)found->kind,
                            .payload_bytes = (uint64_t)found->payload_bytes,
                            .operations = (uint64_t)found->operations};
    plan_set_figure(&made, found->resolved != 0);
    if (strcmp(found->figure, figure_text(made.figure)) != 0 ||
        found->figure_amount != (int64_t)made.figure_amount) {
      return error_set(err, STATUS_INVALID, FALSE_CASE, found->name, "figure");
    }
  }
  return STATUS_OK;
}

/* sql: generated statements. A row of one refuses the input: the message takes its first two
 * columns. */
static enum status merge_refuse_generated(struct database *output, const char *sql,
                                          const char *format, struct error *err)
    __attribute__((format(printf, 3, 0)));
static enum status merge_refuse_generated(struct database *output, const char *sql,
                                          const char *format, struct error *err) {
  enum status status = STATUS_OK;
  while (status == STATUS_OK && sql[0] != '\0') {
    SCOPED(statement_finalize) struct statement row = {.database = output, .name = "generated"};
    if (sqlite3_prepare_v2(output->handle, sql, -1, &row.stmt, &sql) != SQLITE_OK) {
      return database_error(output, err);
    }
    if (row.stmt != NULL && statement_next(&row, &status, err)) {
      return error_set(err, STATUS_INVALID, format, statement_text(&row, 0),
                       statement_text(&row, 1));
    }
  }
  return status;
}

/* What the input and the output both have by its key is the same, and what only the input has is
 * what its key and its definition say. */
static enum status merge_check_content(struct merge *merge, struct error *err) {
  struct database *output = merge->output;
  enum status status = merge_refuse_generated(output, merge->types,
                                              "its table %s has a text in the column %s, which is "
                                              "for numbers: it was changed by other means",
                                              err);
  status = THEN(status, merge_refuse_generated(
                            output, merge->compare,
                            "its %s is there already under the same key with another %s: one of "
                            "both was changed by other means",
                            err));
  status = THEN(status, database_refuse_row(output, "merge/false_key", STATUS_INVALID,
                                            "its %s has a key of other content%s: it was changed "
                                            "by other means",
                                            err));
  status = THEN(status,
                database_refuse_row(output, "merge/false_case", STATUS_INVALID, FALSE_CASE, err));
  return THEN(status, merge_check_figures(output, err));
}

struct new_fleet {
  int64_t id;
  const char *expected;
};

static const struct row_member FLEET_MEMBERS[] = {
    ROW_MEMBER(struct new_fleet, id), ROW_MEMBER_TEXT(struct new_fleet, expected), {0}};

static enum status merge_expand_fleets(struct database *output, struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct new_fleet *fleets = NULL;
  size_t count = 0;
  enum status status = DATABASE_READ_ALL(output, "merge/new_fleets", NULL, FLEET_MEMBERS, &arena,
                                         fleets, count, err);
  for (size_t f = 0; f < count && status == STATUS_OK; f++) {
    struct node_list list = {0};
    status = node_list_expand(fleets[f].expected, &arena, &list, err);
    for (size_t i = 0; i < list.count && status == STATUS_OK; i++) {
      status = database_do(
          output, "merge/add_fleet_node",
          PARAMETERS(PARAMETER(":fleet", fleets[f].id), PARAMETER(":node", list.names[i])), err);
    }
  }
  return status;
}

static const struct row_member RESULT_MEMBERS[] = {ROW_MEMBER(struct merge_result, runs),
                                                   ROW_MEMBER(struct merge_result, added),
                                                   ROW_MEMBER(struct merge_result, completed),
                                                   ROW_MEMBER(struct merge_result, results),
                                                   {0}};

static enum status merge_copy_rows(struct merge *merge, struct merge_result *result,
                                   struct error *err) {
  struct database *output = merge->output;
  bool has_new = false;
  enum status status = merge_check_columns(merge, err);
  status = THEN(status, database_script(output, "merge/identify", err));
  status =
      THEN(status,
           database_refuse_row(output, "merge/conflict", STATUS_INVALID,
                               "its run %s is there already with another %s: it was resumed in two "
                               "copies of a database; keep one of them",
                               err));
  status = THEN(status, merge_check_content(merge, err));
  status =
      THEN(status, database_read(output, "merge/has_new", NULL, NULL, NULL, NULL, &has_new, err));
  status = THEN(status, database_run_sql(output, merge->copy, err));
  if (status == STATUS_OK && has_new) {
    status = merge_refuse_generated(output, merge->compare, FALSE_CASE, err);
  }
  status = THEN(status, merge_expand_fleets(output, err));
  status = THEN(status, database_script(output, "merge/complete", err));
  return THEN(status,
              database_read(output, "merge/result", NULL, RESULT_MEMBERS, result, NULL, NULL, err));
}

/* Errors of the output, which every other input would meet too. */
static bool merge_of_the_output(const struct database *output) {
  switch (sqlite3_errcode(output->handle)) {
  case SQLITE_FULL:
  case SQLITE_READONLY:
  case SQLITE_NOMEM:
    return true;
  case SQLITE_INTERRUPT:
    return !output->out_of_time;
  default:
    return false;
  }
}

/* file: as it was before it was read; reason NULL: it was merged. */
static enum status merge_remember(struct database *output, const struct merge_file *file,
                                  int64_t runs, const char *reason, struct error *err) {
  return database_do(
      output, "merge/remember_input",
      PARAMETERS(PARAMETER(":path", file->path), PARAMETER(":version", file->version),
                 PARAMETER(":node", file->node), PARAMETER(":run_uuid", file->run_uuid),
                 PARAMETER(":runs", runs), PARAMETER(":reason", reason)),
      err);
}

struct known_input {
  const char *reason; /* NULL = it was merged */
  int64_t runs;
};

static const struct row_member KNOWN_MEMBERS[] = {
    ROW_MEMBER(struct known_input, reason), ROW_MEMBER(struct known_input, runs), {0}};

/* *known: the file was merged or skipped before as it is; the status says which. */
static enum status merge_find_known(struct database *output, const struct merge_file *file,
                                    struct merge_result *result, bool *known, struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct known_input input = {0};
  RETURN_ON_ERROR(database_read(
      output, "merge/known_input",
      PARAMETERS(PARAMETER(":path", file->path), PARAMETER(":version", file->version)),
      KNOWN_MEMBERS, &input, &arena, known, err));
  if (!*known) {
    return STATUS_OK;
  }
  result->runs = input.runs;
  if (input.reason != NULL) {
    return error_set(err, STATUS_INVALID, "%s", input.reason);
  }
  /* A shard with nothing new names its fleet, too. */
  return database_do(output, "merge/given_fleet",
                     PARAMETERS(PARAMETER(":run_uuid", file->run_uuid)), err);
}

static enum status merge_attached(struct merge *merge, const struct merge_file *file,
                                  const struct merge_input *input, struct merge_result *result,
                                  bool *fatal, struct error *err) {
  struct database *output = merge->output;
  enum status status = database_begin(output, err);
  if (status != STATUS_OK) {
    *fatal = true;
    return status;
  }
  database_limit_time(output, input->database->limit_ns, merge->interrupted);
  status = merge_copy_rows(merge, result, err);
  status = THEN(status, merge_remember(output, file, result->runs, NULL, err));
  if (status != STATUS_OK) {
    *fatal = merge_of_the_output(output);
    database_rollback(output);
    return status;
  }
  status = database_commit(output, err);
  *fatal = status != STATUS_OK;
  return status;
}

static bool merge_same_file(const char *a, const char *b) {
  struct stat first;
  struct stat second;
  return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

static enum status merge_attach_and_copy(struct merge *merge, const struct merge_file *file,
                                         const struct merge_input *input,
                                         struct merge_result *result, bool *fatal,
                                         struct error *err) {
  enum status status = merge_open_output(merge, err);
  status = THEN(status, merge_write_ahead(merge, file->size_bytes, err));
  *fatal = status != STATUS_OK;
  status = THEN(status, database_do(merge->output, "merge/attach",
                                    PARAMETERS(PARAMETER(":path", input->uri)), err));
  RETURN_ON_ERROR(status);
  struct merge_result merged = {0};
  status = merge_attached(merge, file, input, &merged, fatal, err);
  struct error detaching = {0};
  if (database_script(merge->output, "merge/detach", &detaching) != STATUS_OK &&
      status == STATUS_OK) {
    *err = detaching;
    *fatal = true;
    status = detaching.status;
  }
  if (status == STATUS_OK) {
    *result = merged;
  }
  return status;
}

/* lasting: the file is bad as it is, whatever changes around it. */
static void merge_add_failure(struct merge *merge, const struct merge_file *file, bool lasting,
                              const struct error *err) {
  struct merge_failure *failure = arena_alloc(&merge->arena, sizeof *failure);
  failure->file = *file;
  (void)snprintf(failure->reason, sizeof failure->reason, "%s", err->message);
  if (!lasting) {
    failure->file.version[0] = '\0';
  }
  *ARENA_ADD(&merge->arena, merge->failures, merge->failure_count) = failure;
}

enum status merge_add(struct merge *merge, const char *path, struct merge_result *result,
                      bool *fatal, struct error *err) {
  *fatal = false;
  if (merge_same_file(merge->path, path)) {
    result->same = true;
    return STATUS_OK;
  }
  bool known = false;
  struct merge_file file;
  merge_input_identify(path, &file);
  if (file.version[0] != '\0' && access(merge->path, F_OK) == 0) {
    enum status status = merge_open_output(merge, err);
    status = THEN(status, merge_find_known(merge->output, &file, result, &known, err));
    *fatal = status != STATUS_OK && !known;
    if (*fatal || known) {
      return status;
    }
  }
  struct merge_input input;
  enum status status = merge_input_open(path, merge->path, &input, err);
  if (status != STATUS_OK) {
    merge_add_failure(merge, &file, status == STATUS_CORRUPT || status == STATUS_INVALID, err);
    return status;
  }
  status = merge_attach_and_copy(merge, &file, &input, result, fatal, err);
  merge_input_close(&input);
  if (status != STATUS_OK && !*fatal) {
    merge_add_failure(merge, &file, false, err);
  }
  return status;
}

static enum status merge_write_failures(struct merge *merge, struct error *err) {
  enum status status = database_begin(merge->output, err);
  for (size_t i = 0; i < merge->failure_count && status == STATUS_OK; i++) {
    status = merge_remember(merge->output, &merge->failures[i]->file, 0, merge->failures[i]->reason,
                            err);
  }
  merge->failure_count = 0;
  return database_end(merge->output, status, err);
}

enum status merge_finish(struct merge *merge, struct arena *arena, const char ***fleets,
                         size_t *count, struct error *err) {
  *fleets = NULL;
  *count = 0;
  if (merge->output == NULL) {
    return STATUS_OK;
  }
  RETURN_ON_ERROR(merge->failure_count > 0 ? merge_write_failures(merge, err) : STATUS_OK);
  return DATABASE_READ_ALL(merge->output, "merge/fleets", NULL, ROW_WORD, arena, *fleets, *count,
                           err);
}
