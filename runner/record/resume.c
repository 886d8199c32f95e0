/* resume.c - continues an interrupted run. */
#include "runner/record/record_state.h"
#include "runner/record/selector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *record_copy_text(const unsigned char *text) {
  if (text == NULL) {
    return NULL;
  }
  char *copied = strdup((const char *)text);
  if (copied == NULL) {
    abort();
  }
  return copied;
}

enum status record_resume_find(struct record *record, const char *selector, struct resumed_run *run,
                               struct error *err) {
  struct run_ref ref;
  enum status status = selector_find(record->database, selector, &ref, err);
  if (status != STATUS_OK) {
    return status;
  }
  struct statement *statement = record_statement(record, FIND_RESUMABLE);
  statement_bind_int(statement, ":run", ref.id);
  bool row = false;
  status = statement_step(statement, &row, err);
  if (status != STATUS_OK) {
    return status;
  }
  if (!row) {
    return error_set(err, STATUS_NOT_FOUND, "run %s is gone", ref.uuid);
  }
  sqlite3_stmt *stmt = statement->stmt;
  const char *run_status = (const char *)sqlite3_column_text(stmt, 1);
  const char *origin = (const char *)sqlite3_column_text(stmt, 2);
  if (strcmp(origin, "measured") != 0) {
    status =
        error_set(err, STATUS_INVALID, "run %s was imported: there is nothing to resume", ref.uuid);
  } else if (strcmp(run_status, "done") == 0) {
    status =
        error_set(err, STATUS_INVALID, "run %s is complete: there is nothing to resume", ref.uuid);
  } else {
    *run = (struct resumed_run){.uuid = record_copy_text(sqlite3_column_text(stmt, 0)),
                                .scenario_path = record_copy_text(sqlite3_column_text(stmt, 3)),
                                .scenario_text = record_copy_text(sqlite3_column_text(stmt, 4)),
                                .only = record_copy_text(sqlite3_column_text(stmt, 5)),
                                .processes = (uint32_t)sqlite3_column_int64(stmt, 6)};
  }
  statement_reset(statement);
  return status;
}

void resumed_run_fini(struct resumed_run *run) {
  free(run->uuid);
  free(run->scenario_path);
  free(run->scenario_text);
  free(run->only);
  *run = (struct resumed_run){0};
}

/* The current value of a name that the statement run/environment gives. */
static void record_current_value(const struct machine *machine, const char *name, char *text,
                                 size_t size) {
  const char *value = NULL;
  if (strcmp(name, "simulated") == 0 || strcmp(name, "gpu_count") == 0) {
    unsigned number = name[0] == 's' ? machine->simulated : machine->gpu_count;
    (void)snprintf(text, size, "%u", number);
    return;
  }
  if (strncmp(name, "gpu", 3) == 0) {
    unsigned long number = strtoul(name + 3, NULL, 10);
    const struct gpu *gpu = number < machine->gpu_count ? &machine->gpus[number] : NULL;
    (void)snprintf(text, size, "%s at %s", gpu != NULL ? gpu->uuid : "none",
                   gpu != NULL ? gpu->pci_address : "none");
    return;
  }
  if (strcmp(name, "host_name") == 0) {
    value = machine->host_name;
  } else {
    value = record_fact(machine, name);
  }
  if (value == NULL) {
    value = strcmp(name, "driver_version") == 0 ? "none" : "unknown";
  }
  (void)snprintf(text, size, "%s", value);
}

static enum status record_compare_environment(struct record *record, const struct machine *machine,
                                              struct error *err) {
  struct statement *statement = record_statement(record, RUN_ENVIRONMENT);
  statement_bind_int(statement, ":run", record->run);
  bool row = true;
  enum status status = STATUS_OK;
  while (status == STATUS_OK) {
    status = statement_step(statement, &row, err);
    if (status != STATUS_OK || !row) {
      return status;
    }
    char now[FACT_VALUE_MAX];
    const char *name = (const char *)sqlite3_column_text(statement->stmt, 0);
    const char *then = (const char *)sqlite3_column_text(statement->stmt, 1);
    record_current_value(machine, name, now, sizeof now);
    if (strcmp(then, now) != 0) {
      status = error_set(err, STATUS_INVALID,
                         "run %s cannot be resumed: %s was %s and is now %s; start a new run",
                         record->uuid, name, then, now);
    }
  }
  statement_reset(statement);
  return status;
}

static int record_compare_finished(const void *left, const void *right) {
  const struct finished_case *a = left;
  const struct finished_case *b = right;
  if (a->process != b->process) {
    return a->process < b->process ? -1 : 1;
  }
  return strcmp(a->case_key, b->case_key);
}

static enum status record_load_finished(struct record *record, struct error *err) {
  struct statement *statement = record_statement(record, FINISHED_CASES);
  statement_bind_int(statement, ":run", record->run);
  size_t capacity = 0;
  record->finished_count = 0;
  for (;;) {
    bool row = false;
    enum status status = statement_step(statement, &row, err);
    if (status != STATUS_OK || !row) {
      return status;
    }
    if (record->finished_count == capacity) {
      capacity = capacity > 0 ? 2 * capacity : 64;
      record->finished = record_reallocate(record->finished, capacity, sizeof *record->finished);
    }
    struct finished_case *finished = &record->finished[record->finished_count++];
    finished->process = sqlite3_column_int64(statement->stmt, 0);
    (void)snprintf(finished->case_key, sizeof finished->case_key, "%s",
                   (const char *)sqlite3_column_text(statement->stmt, 1));
  }
}

enum status record_resume_run(struct record *record, const struct resumed_run *run,
                              const struct machine *machine, const struct plan *plan,
                              struct error *err) {
  record->run = 0;
  record->recorded = 0;
  record->process = 0;
  record->sample_count = 0;
  enum status status = record_find_run(record, run->uuid, &record->run, err);
  if (status == STATUS_OK && record->run == 0) {
    return error_set(err, STATUS_NOT_FOUND, "run %s is gone", run->uuid);
  }
  if (status == STATUS_OK) {
    (void)snprintf(record->uuid, sizeof record->uuid, "%s", run->uuid);
    status = record_compare_environment(record, machine, err);
  }
  if (status == STATUS_OK) {
    status = record_match_plan(record, plan, err);
  }
  if (status == STATUS_OK) {
    status = record_load_finished(record, err);
  }
  if (status == STATUS_OK) {
    status = database_begin(record->database, err);
  }
  if (status != STATUS_OK) {
    record->run = 0;
    return status;
  }
  struct statement *statement = record_statement(record, CONTINUE_RUN);
  statement_bind_int(statement, ":run", record->run);
  return record_finish(record, statement_run(statement, err), err);
}

bool record_has_case(const struct record *record, uint32_t process, const char *case_key) {
  struct finished_case wanted = {.process = process};
  (void)snprintf(wanted.case_key, sizeof wanted.case_key, "%s", case_key);
  if (record->finished_count == 0) {
    return false;
  }
  if (bsearch(&wanted, record->finished, record->finished_count, sizeof wanted,
              record_compare_finished)) {
    return true;
  }
  wanted.process = -1;
  return bsearch(&wanted, record->finished, record->finished_count, sizeof wanted,
                 record_compare_finished) != NULL;
}
