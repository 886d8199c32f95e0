#include "runner/record/record.h"

#include "engine/base/clock.h"
#include "engine/machine/check.h"
#include "engine/machine/telemetry.h"
#include "runner/record/beside.h"
#include "runner/record/record_internal.h"
#include "schema/scenario/scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ENUM_NAMES_DEFINE(record_statement, RECORD_STATEMENT_LIST)

enum { NS_PER_MS = 1000000 };

void *record_reallocate(void *memory, size_t count, size_t size_bytes) {
  void *moved = reallocarray(memory, count > 0 ? count : 1, size_bytes);
  if (moved == NULL) {
    abort();
  }
  return moved;
}

struct statement *record_statement(struct record *record, enum record_statement which) {
  struct statement *statement = &record->statements[which];
  const int run = sqlite3_bind_parameter_index(statement->stmt, ":run");
  if (run != 0) {
    (void)sqlite3_bind_int64(statement->stmt, run, record->run);
  }
  return statement;
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

enum status record_find(struct record *record, enum record_statement which, const char *key,
                        int64_t *id, struct error *err) {
  struct statement *statement = record_statement(record, which);
  statement_bind_text(statement, ":key", key);
  return record_read_number(statement, id, err);
}

/* ns since 1970, by the run's clock. */
static int64_t record_now_ns_of(const struct record *record) {
  return (int64_t)clock_read_ns(CLOCK_MONOTONIC_RAW) + record->clock_offset_ns;
}

#define INSERT_KIND_NAME_(id, text, name) [id] = "case/insert_" text,
static const char *const insert_kind_names[case_kind_name_count] = {
    CASE_KIND_LIST(INSERT_KIND_NAME_)};

static void record_finalize(struct record *record) {
  for (int i = 0; i < (int)record_statement_name_count; i++) {
    statement_finalize(&record->statements[i]);
  }
  for (int i = 0; i < (int)case_kind_name_count; i++) {
    statement_finalize(&record->insert_kind[i]);
  }
}

/* The statements of a record, for its database. */
static enum status record_prepare(struct record *record, struct error *err) {
  struct database *database = record->database;
  enum status status = STATUS_OK;
  database_limit_time(database, 0, NULL); /* a run may take days, and waits for others */
  for (int i = 0; i < (int)record_statement_name_count && status == STATUS_OK; i++) {
    status = statement_prepare(database, record_statement_names[i], &record->statements[i], err);
  }
  for (int i = 0; i < (int)case_kind_name_count && status == STATUS_OK; i++) {
    if (i == CASE_TRANSFER || case_kind_has_table((enum case_kind)i)) {
      status = statement_prepare(database, insert_kind_names[i], &record->insert_kind[i], err);
    }
  }
  return status;
}

/* The database is the record's, or closed on failure. */
static enum status record_new(struct database *database, struct record **record,
                              struct error *err) {
  struct record *opened = record_reallocate(NULL, 1, sizeof *opened);
  *opened = (struct record){.database = database};
  /* Read once, so that setting the clock during a run does not shift its times. */
  opened->clock_offset_ns =
      (int64_t)clock_read_ns(CLOCK_REALTIME) - (int64_t)clock_read_ns(CLOCK_MONOTONIC_RAW);
  const enum status status = record_prepare(opened, err);
  if (status != STATUS_OK) {
    record_close(opened);
    return status;
  }
  *record = opened;
  return STATUS_OK;
}

enum status record_open(const char *path, struct record **record, struct error *err) {
  struct database *database = NULL;
  RETURN_ON_ERROR(database_open(path, DATABASE_WRITE, &database, err));
  return record_new(database, record, err);
}

enum status record_machine(const struct machine *machine, struct database **database,
                           struct error *err) {
  struct database *made = NULL;
  struct record *record = NULL;
  int64_t id = 0;
  RETURN_ON_ERROR(database_open_temporary(&made, err));
  RETURN_ON_ERROR(record_new(made, &record, err));
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
  record_finalize(record);
  database_close(record->database);
  record->database = database;
  record->place = place;
  database_when_locked(database, record_wait, record);
  return record_prepare(record, err);
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
  record_finalize(record);
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
                     "run %s was deleted while it was measured, by another haul with other locks "
                     "(HAUL_LOCKS, a container), and with it the %zu cases that had been recorded",
                     record->uuid, record->recorded);
  }
  if (!gone && status != STATUS_TIMEOUT) {
    record->sample_count = 0;
    record_write_each(record);
  }
  if (gone) {
    status = error_prefix(err, "run %s, of which %zu cases had been recorded: ", record->uuid,
                          record->recorded);
  } else if (record->run != 0) {
    status =
        error_prefix(err, "run %s, of which %zu cases were recorded and are kept: ", record->uuid,
                     record->recorded);
  }
  return status;
}

enum status record_clock_lag(struct record *record, int64_t *lag_ns, struct error *err) {
  int64_t newest_ns = 0;
  RETURN_ON_ERROR(record_read_number(record_statement(record, NEWEST_START), &newest_ns, err));
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
  enum status status = record_find(record, FIND_FLEET, key, id, err);
  if (status != STATUS_OK || *id != 0) {
    return status;
  }
  struct statement *statement = record_statement(record, INSERT_FLEET);
  statement_bind_text(statement, ":key", key);
  statement_bind_text(statement, ":name", launch->fleet);
  statement_bind_text(statement, ":expected", launch->expected);
  status = statement_run(statement, err);
  *id = sqlite3_last_insert_rowid(record->database->handle);
  return status;
}

static enum status record_add_run_facts(struct record *record, const struct run_launch *launch,
                                        struct error *err) {
  enum status status = STATUS_OK;
  for (size_t i = 0; launch != NULL && i < launch->fact_count && status == STATUS_OK; i++) {
    struct statement *statement = record_statement(record, INSERT_RUN_FACT);
    statement_bind_text(statement, ":name", launch->facts[i].name);
    statement_bind_text(statement, ":value", launch->facts[i].value);
    status = statement_run(statement, err);
  }
  return status;
}

static enum status record_insert_run(struct record *record, const struct run_info *info,
                                     const struct scenario *scenario, int64_t environment_id,
                                     int64_t scenario_id, struct error *err) {
  int64_t fleet_id = 0;
  RETURN_ON_ERROR(record_add_fleet(record, info->launch, &fleet_id, err));
  struct statement *statement = record_statement(record, INSERT_RUN);
  char seed[24];
  (void)snprintf(seed, sizeof seed, "%llu", (unsigned long long)scenario->run.seed);
  int64_t started_at_ns = info->imported ? info->started_at_ns : record_now_ns_of(record);
  if (info->imported) {
    (void)snprintf(record->uuid, sizeof record->uuid, "%s", info->uuid);
  } else {
    content_uuid((uint64_t)started_at_ns / NS_PER_MS, record->uuid);
  }
  statement_bind_text(statement, ":uuid", record->uuid);
  statement_bind_int(statement, ":environment", environment_id);
  statement_bind_int(statement, ":scenario", scenario_id);
  statement_bind_text(statement, ":scenario_path", scenario->path);
  statement_bind_text(statement, ":origin", info->imported ? "imported" : "measured");
  statement_bind_text(statement, ":tag", info->tag);
  statement_bind_text(statement, ":only_glob", info->only);
  statement_bind_text(statement, ":command_line", info->command_line);
  statement_bind_text(statement, ":argv", info->argv);
  statement_bind_text(statement, ":haul_version", info->haul_version);
  statement_bind_int(statement, ":processes", info->processes);
  statement_bind_text(statement, ":case_order", case_order_text(scenario->run.order));
  statement_bind_text(statement, ":seed", seed);
  statement_bind_int(statement, ":telemetry_ns", (int64_t)scenario->run.telemetry_ns);
  statement_bind_int(statement, ":pause_ns", (int64_t)scenario->run.pause_ns);
  statement_bind_int(statement, ":looks", info->looks);
  statement_bind_int(statement, ":look", info->look);
  statement_bind_text(statement, ":repeats", info->repeats);
  statement_bind_int(statement, ":fleet", fleet_id);
  statement_bind_int(statement, ":started_at_ns", started_at_ns);
  enum status status = statement_run(statement, err);
  record->run = sqlite3_last_insert_rowid(record->database->handle);
  if (status == STATUS_OK && scenario->run.figure != RUN_FIGURE_TYPICAL) {
    statement = record_statement(record, INSERT_RUN_FACT);
    statement_bind_text(statement, ":name", "figure");
    statement_bind_text(statement, ":value", run_figure_text(scenario->run.figure));
    status = statement_run(statement, err);
  }
  return THEN(status, record_add_run_facts(record, info->launch, err));
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
    struct statement *statement = record_statement(record, INSERT_CHECK_RESULT);
    statement_bind_text(statement, ":name", check_kind_text(checks[i].kind));
    statement_bind_int(statement, ":gpu", checks[i].gpu);
    statement_bind_int(statement, ":checked_at_ns", now_ns);
    statement_bind_text(statement, ":status", check_status_text(checks[i].status));
    statement_bind_text(statement, ":on_fail", on_fail_text(checks[i].on_fail));
    statement_bind_text(statement, ":on_unknown", on_fail_text(checks[i].on_unknown));
    statement_bind_text(statement, ":want", checks[i].want);
    statement_bind_text(statement, ":found", checks[i].found);
    status = statement_run(statement, err);
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
             : error_prefix(err, "the run is not begun, and nothing of it is recorded: ");
}

static enum status record_start_process(struct record *record, uint32_t process, pid_t pid,
                                        int64_t at_ns, struct error *err) {
  struct statement *statement = record_statement(record, START_PROCESS);
  statement_bind_int(statement, ":ordinal", process);
  statement_bind_int(statement, ":pid", pid);
  statement_bind_int(statement, ":started_at_ns", at_ns);
  enum status status = statement_run(statement, err);
  if (status == STATUS_OK) {
    statement = record_statement(record, FIND_PROCESS);
    statement_bind_int(statement, ":ordinal", process);
    status = record_read_number(statement, &record->process, err);
    record->process_ordinal = process;
  }
  return status;
}

static enum status record_end_process(struct record *record, uint32_t process, int64_t at_ns,
                                      struct error *err) {
  RETURN_ON_ERROR(record_flush_telemetry(record, err));
  struct statement *statement = record_statement(record, END_PROCESS);
  statement_bind_int(statement, ":ordinal", process);
  statement_bind_int(statement, ":ended_at_ns", at_ns);
  return statement_run(statement, err);
}

/* The end of the run itself. */
static enum status record_update_run(struct record *record, const char *run_status,
                                     const char *reason, int64_t at_ns, struct error *err) {
  RETURN_ON_ERROR(record_flush_telemetry(record, err));
  struct statement *statement = record_statement(record, END_RUN);
  statement_bind_text(statement, ":status", run_status);
  statement_bind_text(statement, ":reason", reason);
  statement_bind_int(statement, ":ended_at_ns", at_ns);
  return statement_run(statement, err);
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
  if (count == 0) {
    return STATUS_OK;
  }
  size_t wanted = record->sample_count + count;
  if (wanted > record->sample_capacity) {
    record->sample_capacity = 2 * wanted;
    record->samples =
        record_reallocate(record->samples, record->sample_capacity, sizeof *record->samples);
  }
  memcpy(record->samples + record->sample_count, samples, count * sizeof *samples);
  record->sample_count = wanted;
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
  enum status status = STATUS_OK;
  for (size_t i = 0; i < record->sample_count && status == STATUS_OK; i++) {
    const struct telemetry_sample *sample = &record->samples[i];
    struct statement *statement = record_statement(record, INSERT_TELEMETRY);
    statement_bind_int(statement, ":gpu", sample->gpu);
    statement_bind_int(statement, ":at_ns", (int64_t)sample->time_ns + record->clock_offset_ns);
    statement_bind_int(statement, ":sm_clock_khz", sample->sm_clock_khz);
    statement_bind_int(statement, ":memory_clock_khz", sample->memory_clock_khz);
    statement_bind_int(statement, ":power_mw", sample->power_mw);
    statement_bind_int(statement, ":energy_mj", sample->energy_mj);
    statement_bind_int(statement, ":temperature_c", sample->temperature_c);
    statement_bind_int(statement, ":utilization_percent", sample->utilization_percent);
    statement_bind_int(statement, ":pcie_generation", sample->pcie_generation);
    statement_bind_int(statement, ":pcie_width", sample->pcie_width);
    statement_bind_int(statement, ":throttle_reasons", sample->throttle_reasons);
    statement_bind_int(statement, ":other_processes", sample->other_count);
    statement_bind_int(statement, ":memory_temperature_c", sample->memory_temperature_c);
    bind_errors(statement, &sample->errors);
    status = statement_run(statement, err);
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

enum status record_count_outcomes(struct record *record, size_t counts[case_status_name_count],
                                  struct error *err) {
  struct statement *statement = record_statement(record, COUNT_OUTCOMES);
  enum status status = STATUS_OK;
  memset(counts, 0, case_status_name_count * sizeof *counts);
  while (statement_next(statement, &status, err)) {
    enum case_status outcome;
    const char *text = statement_text(statement, 0);
    if (text != NULL && case_status_parse(text, &outcome)) {
      counts[outcome] = (size_t)sqlite3_column_int64(statement->stmt, 1);
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
  return record_find(record, FIND_RUN, uuid, run, err);
}

/* One process, with a result for each case. */
static enum status record_add_values(struct record *record, const struct plan *plan,
                                     const double *median_ns, const struct notes *notes,
                                     int64_t at_ns, struct error *err) {
  enum status status = record_start_process(record, 0, 0, at_ns, err);
  for (size_t i = 0; i < plan->case_count && status == STATUS_OK; i++) {
    struct statement *statement = record_statement(record, INSERT_IMPORTED);
    statement_bind_int(statement, ":process", record->process);
    statement_bind_int(statement, ":bench_case", record->bench_cases[i]);
    statement_bind_real(statement, ":median_ns", median_ns[i]);
    status = statement_run(statement, err);
    const int64_t id = sqlite3_last_insert_rowid(record->database->handle);
    status = THEN(status, record_insert_notes(record, id, notes, 0, err));
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
