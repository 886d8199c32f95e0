#include "runner/record/record.h"

#include "engine/base/clock.h"
#include "engine/machine/check.h"
#include "engine/machine/telemetry.h"
#include "runner/record/beside.h"
#include "runner/record/record_internal.h"
#include "runner/record/selector.h"
#include "schema/scenario/scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NS_PER_MS = 1000000 };

enum status record_statement(struct record *record, const char *name, struct statement *statement,
                             struct error *err) {
  RETURN_ON_ERROR(statement_prepare(record->database, name, statement, err));
  const int run = sqlite3_bind_parameter_index(statement->stmt, ":run");
  if (run != 0) {
    (void)sqlite3_bind_int64(statement->stmt, run, record->run);
  }
  return STATUS_OK;
}

enum status record_insert(struct record *record, const char *name,
                          const struct parameter *parameters, int64_t *id, struct error *err) {
  SCOPED(statement_finalize) struct statement statement = {0};
  RETURN_ON_ERROR(record_statement(record, name, &statement, err));
  statement_bind(&statement, parameters);
  const enum status status = statement_run(&statement, err);
  if (id != NULL) {
    *id = sqlite3_last_insert_rowid(record->database->handle);
  }
  return status;
}

enum status record_read_number(struct statement *statement, int64_t *number, struct error *err) {
  enum status status = STATUS_OK;
  *number = 0;
  if (statement_next(statement, &status, err)) {
    *number = sqlite3_column_int64(statement->stmt, 0);
    statement_reset(statement);
  }
  return status;
}

enum status record_find(struct record *record, const char *name, const struct parameter *parameters,
                        int64_t *number, struct error *err) {
  SCOPED(statement_finalize) struct statement statement = {0};
  RETURN_ON_ERROR(record_statement(record, name, &statement, err));
  statement_bind(&statement, parameters);
  return record_read_number(&statement, number, err);
}

/* ns since 1970, by the run's clock. */
static int64_t record_now_ns_of(const struct record *record) {
  return (int64_t)clock_read_ns(CLOCK_MONOTONIC_RAW) + record->clock_offset_ns;
}

/* The database is the record's. */
static struct record *record_new(struct database *database) {
  struct record *opened = memory_new(1, sizeof *opened);
  *opened = (struct record){.database = database};
  /* Read once, so that setting the clock during a run does not shift its times. */
  opened->clock_offset_ns =
      (int64_t)clock_read_ns(CLOCK_REALTIME) - (int64_t)clock_read_ns(CLOCK_MONOTONIC_RAW);
  database_limit_time(database, 0, NULL); /* a run may take days, and waits for others */
  return opened;
}

enum status record_open(const char *path, struct record **record, struct error *err) {
  struct database *database = NULL;
  RETURN_ON_ERROR(database_open(path, DATABASE_WRITE, &database, err));
  *record = record_new(database);
  return STATUS_OK;
}

enum status record_machine(const struct machine *machine, struct database **database,
                           struct error *err) {
  struct database *made = NULL;
  int64_t id = 0;
  RETURN_ON_ERROR(database_open_temporary(&made, err));
  struct record *record = record_new(made);
  enum status status = record_begin(record, err);
  status = THEN(status, record_add_environment(record, machine, &id, err));
  status = THEN(status, record_add_state(record, machine, id, err));
  status = record_finish(record, status, err);
  if (status == STATUS_OK) {
    *database = made;
    record->database = NULL;
  }
  record_close(record);
  return status;
}

/* ---- a database that others hold ---- */

static bool record_wait(void *context, uint64_t waited_ms) {
  const struct record *record = context;
  if (record->path != NULL && record->place == NULL && !record->may_wait) {
    return waited_ms < BESIDE_AFTER_MS;
  }
  return record->wait != NULL ? record->wait(record->wait_context, waited_ms)
                              : waited_ms < DATABASE_BUSY_MS;
}

void record_when_locked(struct record *record, bool (*wait)(void *context, uint64_t waited_ms),
                        void *context) {
  record->wait = wait;
  record->wait_context = context;
  database_when_locked(record->database, record_wait, record);
}

void record_allow_beside(struct record *record) {
  record->path = strdup(record->database->path);
  if (record->path == NULL) {
    abort();
  }
  database_when_locked(record->database, record_wait, record);
}

const char *record_place(const struct record *record) {
  return record->place;
}

static enum status record_go_beside(struct record *record, struct error *err) {
  struct database *database = NULL;
  char uuid[CONTENT_KEY_MAX];
  (void)snprintf(uuid, sizeof uuid, "%s", record->uuid);
  if (record->run == 0) { /* its name is not that of the run, which gets one later */
    content_uuid((uint64_t)record_now_ns_of(record) / NS_PER_MS, uuid);
  }
  char *place = beside_path(record->path, uuid);
  enum status status = beside_open(record->path, place, record->run, &database, err);
  if (status != STATUS_OK) {
    free(place);
    return status;
  }
  database_close(record->database);
  record->database = database;
  record->place = place;
  database_limit_time(database, 0, NULL);
  database_when_locked(database, record_wait, record);
  return STATUS_OK;
}

bool record_again(struct record *record, enum status status) {
  struct error ignored = {0};
  if (status != STATUS_TIMEOUT || record->path == NULL || record->place != NULL ||
      record->may_wait) {
    return false;
  }
  record->may_wait = record_go_beside(record, &ignored) != STATUS_OK && record->place == NULL;
  return true;
}

void record_close(struct record *record) {
  if (record == NULL) {
    return;
  }
  database_close(record->database);
  free(record->path);
  free(record->place);
  free(record->bench_cases);
  record_drop_pending(record);
  free(record->pending);
  free(record->samples);
  free(record->scratch);
  free(record);
}

bool record_is_gone(const struct record *record) {
  return database_is_gone(record->database);
}

const char *record_run_uuid(const struct record *record) {
  return record->uuid;
}

enum status record_finish(struct record *record, enum status status, struct error *err) {
  status = database_end(record->database, status, err);
  if (status == STATUS_OK) {
    record->recorded += record->pending_count;
    record_drop_pending(record);
    record->sample_count -= record->samples_written;
    record->samples_written = 0;
    return STATUS_OK;
  }
  record->samples_written = 0;
  const bool gone = database_is_gone(record->database);
  if (record->run != 0 && err->native_code == SQLITE_CONSTRAINT_FOREIGNKEY) {
    record->contested = true;
    record_drop_pending(record);
    return error_set(err, STATUS_DENIED,
                     RUN_NAME
                     " was deleted while it was measured, by another haul with other locks "
                     "(HAUL_LOCKS, a container), and with it the %zu cases that had been recorded",
                     record->uuid, record->recorded);
  }
  if (!gone && status != STATUS_TIMEOUT) {
    record->sample_count = 0;
    record_write_each(record);
  }
  if (gone) {
    status = error_prefix(err, RUN_NAME ", of which %zu cases had been recorded: ", record->uuid,
                          record->recorded);
  } else if (record->run != 0) {
    status = error_prefix(err, RUN_NAME ", of which %zu cases were recorded and are kept: ",
                          record->uuid, record->recorded);
  }
  return status;
}

enum status record_clock_lag(struct record *record, int64_t *lag_ns, struct error *err) {
  int64_t newest_ns = 0;
  RETURN_ON_ERROR(record_find(record, "run/newest_start", NULL, &newest_ns, err));
  const int64_t late_ns = newest_ns - record_now_ns_of(record);
  *lag_ns = late_ns > 0 ? late_ns : 0;
  return STATUS_OK;
}

/* *id: 0 = the run is of no fleet. */
static enum status record_add_fleet(struct record *record, const struct run_launch *launch,
                                    int64_t *id, struct error *err) {
  *id = 0;
  if (launch == NULL || launch->fleet == NULL) {
    return STATUS_OK;
  }
  char key[CONTENT_KEY_MAX];
  struct content *content = content_new();
  content_text(content, launch->fleet);
  content_text(content, launch->expected);
  content_finish(content, key);
  const enum status status =
      record_find(record, "environment/find_fleet", PARAMETERS(PARAMETER(":key", key)), id, err);
  return status != STATUS_OK || *id != 0
             ? status
             : record_insert(record, "environment/insert_fleet",
                             PARAMETERS(PARAMETER(":key", key), PARAMETER(":name", launch->fleet),
                                        PARAMETER(":expected", launch->expected)),
                             id, err);
}

static enum status record_add_run_fact(struct record *record, const char *name, const char *value,
                                       struct error *err) {
  return record_insert(record, "run/insert_run_fact",
                       PARAMETERS(PARAMETER(":name", name), PARAMETER(":value", value)), NULL, err);
}

static enum status record_insert_run(struct record *record, const struct run_info *info,
                                     const struct scenario *scenario, int64_t environment_id,
                                     int64_t scenario_id, struct error *err) {
  int64_t fleet_id = 0;
  RETURN_ON_ERROR(record_add_fleet(record, info->launch, &fleet_id, err));
  char seed[24];
  (void)snprintf(seed, sizeof seed, "%llu", (unsigned long long)scenario->run.seed);
  int64_t started_at_ns = info->imported ? info->started_at_ns : record_now_ns_of(record);
  if (info->imported) {
    (void)snprintf(record->uuid, sizeof record->uuid, "%s", info->uuid);
  } else {
    content_uuid((uint64_t)started_at_ns / NS_PER_MS, record->uuid);
  }
  enum status status = record_insert(
      record, "run/insert_run",
      PARAMETERS(
          PARAMETER(":uuid", record->uuid), PARAMETER(":environment", environment_id),
          PARAMETER(":scenario", scenario_id), PARAMETER(":scenario_path", scenario->path),
          PARAMETER(":origin", info->imported ? "imported" : "measured"),
          PARAMETER(":tag", info->tag), PARAMETER(":only_glob", info->only),
          PARAMETER(":command_line", info->command_line), PARAMETER(":argv", info->argv),
          PARAMETER(":haul_version", info->haul_version), PARAMETER(":processes", info->processes),
          PARAMETER(":case_order", case_order_text(scenario->run.order)), PARAMETER(":seed", seed),
          PARAMETER(":telemetry_ns", (int64_t)scenario->run.telemetry_ns),
          PARAMETER(":pause_ns", (int64_t)scenario->run.pause_ns), PARAMETER(":looks", info->looks),
          PARAMETER(":look", info->look), PARAMETER(":repeats", info->repeats),
          PARAMETER(":fleet", fleet_id), PARAMETER(":started_at_ns", started_at_ns)),
      &record->run, err);
  if (status == STATUS_OK && scenario->run.figure != RUN_FIGURE_TYPICAL) {
    status = record_add_run_fact(record, "figure", run_figure_text(scenario->run.figure), err);
  }
  const struct run_launch *launch = info->launch;
  for (size_t i = 0; launch != NULL && i < launch->fact_count && status == STATUS_OK; i++) {
    status = record_add_run_fact(record, launch->facts[i].name, launch->facts[i].value, err);
  }
  return status;
}

/* Environment, scenario, the run and its plan; fills record->run and uuid. */
static enum status record_add_run(struct record *record, const struct run_info *info,
                                  const struct machine *machine, const struct plan *plan,
                                  struct error *err) {
  int64_t environment_id = 0;
  int64_t scenario_id = 0;
  enum status status = record_add_environment(record, machine, &environment_id, err);
  status = THEN(status, record_add_scenario(record, plan->scenario, &scenario_id, err));
  status = THEN(status,
                record_insert_run(record, info, plan->scenario, environment_id, scenario_id, err));
  return THEN(status, record_add_plan(record, plan, err));
}

void record_forget_run(struct record *record) {
  record->run = 0;
  record->uuid[0] = '\0';
  record->recorded = 0;
  record->process = 0;
  record->sample_count = 0;
  record_drop_pending(record);
}

static enum status record_add_checks(struct record *record, const struct check_result *checks,
                                     size_t count, struct error *err) {
  int64_t now_ns = record_now_ns_of(record);
  enum status status = STATUS_OK;
  for (size_t i = 0; i < count && status == STATUS_OK; i++) {
    status = record_insert(
        record, "run/insert_check_result",
        PARAMETERS(PARAMETER(":name", check_kind_text(checks[i].kind)),
                   PARAMETER(":gpu", checks[i].gpu), PARAMETER(":checked_at_ns", now_ns),
                   PARAMETER(":status", check_status_text(checks[i].status)),
                   PARAMETER(":on_fail", on_fail_text(checks[i].on_fail)),
                   PARAMETER(":on_unknown", on_fail_text(checks[i].on_unknown)),
                   PARAMETER(":want", checks[i].want), PARAMETER(":found", checks[i].found)),
        NULL, err);
  }
  return status;
}

static enum status record_begin_here(struct record *record, const struct run_info *info,
                                     const struct machine *machine, const struct plan *plan,
                                     const struct check_result *checks, size_t check_count,
                                     struct error *err) {
  record_forget_run(record);
  RETURN_ON_ERROR(database_begin(record->database, err));
  enum status status = record_add_run(record, info, machine, plan, err);
  status = THEN(status, record_add_checks(record, checks, check_count, err));
  /* Not record_finish(): a run that is rolled back has no name. */
  status = database_end(record->database, status, err);
  if (status != STATUS_OK) {
    record_forget_run(record);
  }
  return status;
}

enum status record_begin_run(struct record *record, const struct run_info *info,
                             const struct machine *machine, const struct plan *plan,
                             const struct check_result *checks, size_t check_count,
                             struct error *err) {
  enum status status;
  do {
    status = record_begin_here(record, info, machine, plan, checks, check_count, err);
  } while (record_again(record, status));
  return status == STATUS_OK
             ? STATUS_OK
             : error_prefix(err, "the run did not start, and nothing was recorded: ");
}

static enum status record_start_process(struct record *record, uint32_t process, pid_t pid,
                                        int64_t at_ns, struct error *err) {
  RETURN_ON_ERROR(record_insert(record, "run/start_process",
                                PARAMETERS(PARAMETER(":ordinal", process), PARAMETER(":pid", pid),
                                           PARAMETER(":started_at_ns", at_ns)),
                                NULL, err));
  record->process_ordinal = process;
  return record_find(record, "run/find_process", PARAMETERS(PARAMETER(":ordinal", process)),
                     &record->process, err);
}

static enum status record_end_process(struct record *record, uint32_t process, int64_t at_ns,
                                      struct error *err) {
  RETURN_ON_ERROR(record_flush_telemetry(record, err));
  return record_insert(record, "run/end_process",
                       PARAMETERS(PARAMETER(":ordinal", process), PARAMETER(":ended_at_ns", at_ns)),
                       NULL, err);
}

/* The end of the run itself. */
static enum status record_update_run(struct record *record, const char *run_status,
                                     const char *reason, int64_t at_ns, struct error *err) {
  RETURN_ON_ERROR(record_flush_telemetry(record, err));
  return record_insert(record, "run/end_run",
                       PARAMETERS(PARAMETER(":status", run_status), PARAMETER(":reason", reason),
                                  PARAMETER(":ended_at_ns", at_ns)),
                       NULL, err);
}

enum status record_process_started(struct record *record, uint32_t process, pid_t pid,
                                   struct error *err) {
  const int64_t now_ns = record_now_ns_of(record);
  enum status status;
  RECORD_STEP(record, status, record_start_process(record, process, pid, now_ns, err), err);
  return status;
}

enum status record_process_ended(struct record *record, uint32_t process, struct error *err) {
  const int64_t now_ns = record_now_ns_of(record);
  enum status status;
  RECORD_STEP(record, status, record_end_process(record, process, now_ns, err), err);
  return status;
}

enum status record_telemetry(struct record *record, const struct telemetry_sample *samples,
                             size_t count, struct error *err) {
  (void)err; /* written with the next transaction: a sample is not worth one of its own */
  for (size_t i = 0; i < count; i++) {
    *MEMORY_ADD(record->samples, record->sample_count) = samples[i];
  }
  return STATUS_OK;
}

/* Of counters `first` to `last`; -1 = none of them is available. */
static int64_t errors_sum(const struct error_counts *errors, enum error_counter first,
                          enum error_counter last) {
  int64_t sum = -1;
  for (int i = (int)first; i <= (int)last; i++) {
    if (errors->values[i] >= 0) {
      sum = (sum < 0 ? 0 : sum) + errors->values[i];
    }
  }
  return sum;
}

static void bind_errors(struct statement *statement, const struct error_counts *errors) {
  const struct {
    const char *name;
    enum error_counter first, last;
  } SUMS[] = {
      {":pcie_replays", ERROR_COUNTER_PCIE_REPLAY, ERROR_COUNTER_PCIE_REPLAY},
      {":nvlink_errors", ERROR_COUNTER_NVLINK_CRC_FLIT, ERROR_COUNTER_NVLINK_RECOVERY},
      {":ecc_corrected", ERROR_COUNTER_ECC_CORRECTED, ERROR_COUNTER_ECC_CORRECTED},
      {":ecc_uncorrected", ERROR_COUNTER_ECC_UNCORRECTED, ERROR_COUNTER_ECC_UNCORRECTED},
      {":rows_remapped", ERROR_COUNTER_ROWS_CORRECTED, ERROR_COUNTER_ROWS_UNCORRECTED},
      {":xid_count", ERROR_COUNTER_XID, ERROR_COUNTER_XID},
  };
  for (size_t i = 0; i < COUNT_OF(SUMS); i++) {
    statement_bind_int(statement, SUMS[i].name, errors_sum(errors, SUMS[i].first, SUMS[i].last));
  }
  statement_bind_int(statement, ":xid", errors->last_xid);
}

enum status record_flush_telemetry(struct record *record, struct error *err) {
  SCOPED(statement_finalize) struct statement insert = {0};
  enum status status = STATUS_OK;
  for (size_t i = 0; i < record->sample_count && status == STATUS_OK; i++) {
    const struct telemetry_sample *sample = &record->samples[i];
    status = record_statement(record, "run/insert_telemetry", &insert, err);
    statement_bind(
        &insert, PARAMETERS(PARAMETER(":gpu", sample->gpu),
                            PARAMETER(":at_ns", (int64_t)sample->time_ns + record->clock_offset_ns),
                            PARAMETER(":sm_clock_khz", sample->sm_clock_khz),
                            PARAMETER(":memory_clock_khz", sample->memory_clock_khz),
                            PARAMETER(":power_mw", sample->power_mw),
                            PARAMETER(":energy_mj", sample->energy_mj),
                            PARAMETER(":temperature_c", sample->temperature_c),
                            PARAMETER(":utilization_percent", sample->utilization_percent),
                            PARAMETER(":pcie_generation", sample->pcie_generation),
                            PARAMETER(":pcie_width", sample->pcie_width),
                            PARAMETER(":throttle_reasons", sample->throttle_reasons),
                            PARAMETER(":other_processes", sample->other_count),
                            PARAMETER(":memory_temperature_c", sample->memory_temperature_c)));
    bind_errors(&insert, &sample->errors);
    status = THEN(status, statement_run(&insert, err));
    statement_finalize(&insert);
  }
  record->samples_written = status == STATUS_OK ? record->sample_count : 0;
  return status;
}

enum status record_checks(struct record *record, const struct check_result *checks, size_t count,
                          struct error *err) {
  enum status status;
  RECORD_STEP(record, status, record_add_checks(record, checks, count, err), err);
  return status;
}

static enum status record_add_session(struct record *record, const struct check_result *checks,
                                      size_t count, struct error *err) {
  enum status status = record_insert(record, "run/continue_run", NULL, NULL, err);
  return THEN(status, record_add_checks(record, checks, count, err));
}

enum status record_continue_run(struct record *record, const struct check_result *checks,
                                size_t count, struct error *err) {
  enum status status;
  RECORD_STEP(record, status, record_add_session(record, checks, count, err), err);
  return status;
}

struct outcome_count {
  enum case_status status;
  size_t results;
};

enum status record_count_outcomes(struct record *record, size_t counts[case_status_name_count],
                                  struct error *err) {
  static const struct row_member MEMBERS[] = {
      ROW_MEMBER_ENUM(struct outcome_count, status, case_status_names, case_status_name_count),
      ROW_MEMBER(struct outcome_count, results),
      {0}};
  SCOPED(statement_finalize) struct statement statement = {0};
  struct outcome_count row;
  enum status status = record_statement(record, "run/count_outcomes", &statement, err);
  memset(counts, 0, case_status_name_count * sizeof *counts);
  while (rows_next(&statement, MEMBERS, &row, NULL, &status, err)) {
    if ((size_t)row.status < case_status_name_count) {
      counts[row.status] = row.results;
    }
  }
  return status;
}

enum status record_end_run(struct record *record, const char *run_status, const char *reason,
                           struct error *err) {
  const int64_t now_ns = record_now_ns_of(record);
  enum status status;
  RECORD_STEP(record, status, record_update_run(record, run_status, reason, now_ns, err), err);
  return status;
}

/* ---- a run that another tool measured ---- */

enum status record_find_run(struct record *record, const char *uuid, int64_t *run,
                            struct error *err) {
  return record_find(record, "run/find_run", PARAMETERS(PARAMETER(":key", uuid)), run, err);
}

/* One process, with a result for each case. */
static enum status record_add_values(struct record *record, const struct plan *plan,
                                     const double *median_ns, const struct notes *notes,
                                     int64_t at_ns, struct error *err) {
  enum status status = record_start_process(record, 0, 0, at_ns, err);
  for (size_t i = 0; i < plan->case_count && status == STATUS_OK; i++) {
    int64_t id = 0;
    status = record_insert(record, "result/insert_imported",
                           PARAMETERS(PARAMETER(":process", record->process),
                                      PARAMETER(":bench_case", record->bench_cases[i]),
                                      PARAMETER(":median_ns", median_ns[i])),
                           &id, err);
    status = THEN(status, record_insert_notes(record, id, notes, err));
  }
  return status == STATUS_OK ? record_end_process(record, 0, at_ns, err) : status;
}

enum status record_import(struct record *record, const struct run_info *info,
                          const struct machine *machine, const struct plan *plan,
                          const double *median_ns, const struct notes *notes, struct error *err) {
  record_forget_run(record);
  RETURN_ON_ERROR(database_begin(record->database, err));
  enum status status = record_add_run(record, info, machine, plan, err);
  status =
      THEN(status, record_add_values(record, plan, median_ns, notes, info->started_at_ns, err));
  status = THEN(status, record_update_run(record, "done", NULL, info->started_at_ns, err));
  status = record_finish(record, status, err);
  if (status != STATUS_OK) {
    record_forget_run(record);
  }
  return status;
}
