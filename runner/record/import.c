/* import.c - a run that another tool measured, as rows. */
#include "runner/record/record_state.h"

enum status record_find_run(struct record *record, const char *uuid, int64_t *run,
                            struct error *err) {
  struct statement *statement = record_statement(record, FIND_RUN);
  statement_bind_text(statement, ":uuid", uuid);
  bool row = false;
  enum status status = statement_step(statement, &row, err);
  if (status != STATUS_OK) {
    return status;
  }
  *run = row ? sqlite3_column_int64(statement->stmt, 0) : 0;
  if (row) {
    statement_reset(statement);
  }
  return STATUS_OK;
}

/* *process is the id of the one process of the run. */
static enum status add_process(struct record *record, int64_t at_ns, int64_t *process,
                               struct error *err) {
  struct statement *statement = record_statement(record, START_PROCESS);
  statement_bind_int(statement, ":run", record->run);
  statement_bind_int(statement, ":ordinal", 0);
  statement_bind_int(statement, ":pid", 0);
  statement_bind_int(statement, ":started_at_ns", at_ns);
  enum status status = statement_run(statement, err);
  *process = sqlite3_last_insert_rowid(record->database->handle);
  if (status != STATUS_OK) {
    return status;
  }
  statement = record_statement(record, END_PROCESS);
  statement_bind_int(statement, ":run", record->run);
  statement_bind_int(statement, ":ordinal", 0);
  statement_bind_int(statement, ":ended_at_ns", at_ns);
  return statement_run(statement, err);
}

static enum status add_values(struct record *record, int64_t process, const struct plan *plan,
                              const double *median_ns, const char *note, struct error *err) {
  struct statement *statement = record_statement(record, INSERT_IMPORTED);
  enum status status = STATUS_OK;
  for (size_t i = 0; i < plan->case_count && status == STATUS_OK; i++) {
    statement_bind_int(statement, ":run", record->run);
    statement_bind_int(statement, ":process", process);
    statement_bind_int(statement, ":bench_case", record->bench_cases[i]);
    statement_bind_text(statement, ":note", note);
    statement_bind_real(statement, ":median_ns", median_ns[i]);
    status = statement_run(statement, err);
  }
  return status;
}

static enum status end_run(struct record *record, int64_t at_ns, struct error *err) {
  struct statement *statement = record_statement(record, END_RUN);
  statement_bind_int(statement, ":run", record->run);
  statement_bind_text(statement, ":status", "done");
  statement_bind_null(statement, ":reason");
  statement_bind_int(statement, ":ended_at_ns", at_ns);
  return statement_run(statement, err);
}

enum status record_import(struct record *record, const struct run_info *info,
                          const struct machine *machine, const struct plan *plan,
                          const double *median_ns, const char *note, struct error *err) {
  int64_t process = 0;
  record_forget_run(record);
  enum status status = database_begin(record->database, err);
  if (status != STATUS_OK) {
    return status;
  }
  status = record_add_run(record, info, machine, plan, err);
  if (status == STATUS_OK) {
    status = add_process(record, info->started_at_ns, &process, err);
  }
  if (status == STATUS_OK) {
    status = add_values(record, process, plan, median_ns, note, err);
  }
  if (status == STATUS_OK) {
    status = end_run(record, info->started_at_ns, err);
  }
  status = record_finish(record, status, err);
  if (status != STATUS_OK) {
    record_forget_run(record);
  }
  return status;
}
