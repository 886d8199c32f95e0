/* resume.c - continues an interrupted run. */
#include "engine/case/trial.h"
#include "engine/machine/machine.h"
#include "runner/record/record_state.h"
#include "runner/record/selector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The cases of a run that measured but some of its scenario. */
static enum status record_read_keys(struct record *record, int64_t run, struct arena *arena,
                                    struct case_keys *keys, struct error *err) {
  struct statement *statement = record_statement(record, PLANNED_KEYS);
  enum status status = STATUS_OK;
  size_t capacity = 0;
  statement_bind_int(statement, ":run", run);
  while (statement_next(statement, &status, err)) {
    *ARENA_ADD(arena, keys->items, keys->count, &capacity) =
        statement_column_text(statement, 0, arena);
  }
  return status;
}

enum status record_resume_find(struct record *record, const char *selector, struct resumed_run *run,
                               struct error *err) {
  struct run_ref ref;
  enum status status = selector_find(record->database, selector, &ref, err);
  RETURN_ON_ERROR(status);
  struct statement *statement = record_statement(record, FIND_RESUMABLE);
  statement_bind_int(statement, ":run", ref.id);
  if (!statement_next(statement, &status, err)) {
    return status == STATUS_OK ? error_set(err, STATUS_NOT_FOUND, "run %s is gone", ref.uuid)
                               : status;
  }
  sqlite3_stmt *stmt = statement->stmt;
  const char *run_status = statement_text(statement, 1);
  const char *origin = statement_text(statement, 2);
  if (strcmp(origin, "measured") != 0) {
    status =
        error_set(err, STATUS_INVALID, "run %s was imported: there is nothing to resume", ref.uuid);
  } else if (strcmp(run_status, "done") == 0) {
    status =
        error_set(err, STATUS_INVALID, "run %s is complete: there is nothing to resume", ref.uuid);
  } else {
    run->uuid = statement_column_text(statement, 0, &run->arena);
    run->scenario_path = statement_column_text(statement, 3, &run->arena);
    run->scenario_text = statement_column_text(statement, 4, &run->arena);
    run->only = statement_column_optional(statement, 5, &run->arena);
    run->processes = (uint32_t)sqlite3_column_int64(stmt, 6);
  }
  const bool has_keys = sqlite3_column_int(stmt, 7) != 0;
  statement_reset(statement);
  return status == STATUS_OK && has_keys
             ? record_read_keys(record, ref.id, &run->arena, &run->keys, err)
             : status;
}

void resumed_run_fini(struct resumed_run *run) {
  arena_fini(&run->arena);
  *run = (struct resumed_run){0};
}

/* The current value of a name that the statement run/environment gives. */
static void record_current_value(const struct machine *machine, const char *name, char *text,
                                 size_t size) {
  const char *value = record_fact(machine, name);
  if (strcmp(name, "simulated") == 0) {
    (void)snprintf(text, size, "%d", machine->simulated);
  } else if (strcmp(name, "gpu_count") == 0) {
    (void)snprintf(text, size, "%u", machine->gpu_count);
  } else if (strcmp(name, "host_name") == 0) {
    (void)snprintf(text, size, "%s", machine->host_name);
  } else if (strncmp(name, "gpu", 3) == 0) {
    unsigned long number = strtoul(name + 3, NULL, 10);
    const struct gpu *gpu = number < machine->gpu_count ? &machine->gpus[number] : NULL;
    (void)snprintf(text, size, "%s at %s", gpu != NULL ? gpu->uuid : "none",
                   gpu != NULL ? gpu->pci_address : "none");
  } else {
    const char *unknown = strcmp(name, "driver_version") == 0 ? "none" : "unknown";
    (void)snprintf(text, size, "%s", value != NULL ? value : unknown);
  }
}

static enum status record_compare_environment(struct record *record, const struct machine *machine,
                                              struct error *err) {
  struct statement *statement = record_statement(record, RUN_ENVIRONMENT);
  enum status status = STATUS_OK;
  while (statement_next(statement, &status, err)) {
    char now[FACT_VALUE_MAX];
    const char *name = statement_text(statement, 0);
    const char *then = statement_text(statement, 1);
    record_current_value(machine, name, now, sizeof now);
    if (strcmp(then, now) != 0) {
      status = error_set(err, STATUS_INVALID,
                         "run %s cannot be resumed: %s was %s and is now %s; start a new run",
                         record->uuid, name, then, now);
      statement_reset(statement);
    }
  }
  return status;
}

enum status record_resume_run(struct record *record, const struct resumed_run *run,
                              const struct machine *machine, const struct plan *plan,
                              struct error *err) {
  record_forget_run(record);
  enum status status = record_find_run(record, run->uuid, &record->run, err);
  if (status == STATUS_OK && record->run == 0) {
    return error_set(err, STATUS_NOT_FOUND, "run %s is gone", run->uuid);
  }
  if (status == STATUS_OK) {
    (void)snprintf(record->uuid, sizeof record->uuid, "%s", run->uuid);
    status = record_compare_environment(record, machine, err);
  }
  status = THEN(status, record_match_plan(record, plan, err));
  if (status != STATUS_OK) {
    record->run = 0;
    return status;
  }
  do {
    status = database_begin(record->database, err);
    status = THEN(
        status,
        record_finish(record, statement_run(record_statement(record, CONTINUE_RUN), err), err));
  } while (record_again(record, status));
  return status;
}

bool record_has_case(struct record *record, uint32_t process, const char *case_key) {
  struct statement *statement = record_statement(record, FIND_RESULT);
  struct error err = {0};
  int64_t found = 0;
  statement_bind_int(statement, ":process", process);
  statement_bind_text(statement, ":case_key", case_key);
  return record_read_number(statement, &found, &err) == STATUS_OK && found != 0;
}

static enum status record_read_trials(struct record *record, int64_t case_run,
                                      struct visits_read *visits, struct error *err) {
  struct statement *statement = record_statement(record, TRIALS);
  sqlite3_stmt *stmt = statement->stmt;
  enum status status = STATUS_OK;
  statement_bind_int(statement, ":case_run", case_run);
  while (statement_next(statement, &status, err)) {
    visits->trials =
        record_reallocate(visits->trials, visits->trial_count + 1, sizeof *visits->trials);
    visits->trials[visits->trial_count++] = (struct trial){
        .visit = (uint32_t)sqlite3_column_int(stmt, 0),
        .ordinal = (uint32_t)sqlite3_column_int64(stmt, 1),
        .phase = (enum trial_phase)sqlite3_column_int(stmt, 2),
        .status = (enum trial_status)sqlite3_column_int(stmt, 3),
        .iterations = (uint32_t)sqlite3_column_int64(stmt, 4),
        .start_ns = (uint64_t)(sqlite3_column_int64(stmt, 5) - record->clock_offset_ns),
        .elapsed_ns = (uint64_t)sqlite3_column_int64(stmt, 6),
        .cycles = (uint64_t)sqlite3_column_int64(stmt, 7),
        .submit_ns = (uint64_t)sqlite3_column_int64(stmt, 8),
        .gpu_ns = (uint64_t)sqlite3_column_int64(stmt, 9)};
  }
  return status;
}

static enum status record_read_flow_trials(struct record *record, int64_t case_run,
                                           struct visits_read *visits, struct error *err) {
  struct statement *statement = record_statement(record, FLOW_TRIALS);
  sqlite3_stmt *stmt = statement->stmt;
  enum status status = STATUS_OK;
  statement_bind_int(statement, ":case_run", case_run);
  while (statement_next(statement, &status, err)) {
    visits->flow_trials = record_reallocate(visits->flow_trials, visits->flow_trial_count + 1,
                                            sizeof *visits->flow_trials);
    visits->flow_trials[visits->flow_trial_count++] =
        (struct flow_trial){.ordinal = (uint32_t)sqlite3_column_int64(stmt, 0),
                            .flow = (uint32_t)sqlite3_column_int64(stmt, 1),
                            .start_ns = (uint64_t)sqlite3_column_int64(stmt, 2),
                            .elapsed_ns = (uint64_t)sqlite3_column_int64(stmt, 3),
                            .iterations = (uint64_t)sqlite3_column_int64(stmt, 4)};
  }
  return status;
}

bool record_read_visits(struct record *record, uint32_t process, const char *case_key,
                        struct visits_read *visits) {
  struct statement *statement = record_statement(record, OPEN_CASE);
  struct error err = {0};
  int64_t case_run = 0;
  statement_bind_int(statement, ":process", process);
  statement_bind_text(statement, ":case_key", case_key);
  enum status status = record_read_number(statement, &case_run, &err);
  if (status != STATUS_OK || case_run == 0) {
    return false;
  }
  status = record_read_trials(record, case_run, visits, &err);
  status = THEN(status, record_read_flow_trials(record, case_run, visits, &err));
  if (status != STATUS_OK) {
    visits_read_fini(visits);
  }
  return status == STATUS_OK;
}

void visits_read_fini(struct visits_read *visits) {
  free(visits->trials);
  free(visits->flow_trials);
  *visits = (struct visits_read){0};
}
