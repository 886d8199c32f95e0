/* case_rows.c - inserts the results of cases, each in one process: summaries and trials. Cases wait
 * for each other in memory: a transaction costs the disk some ms, a small case less. */
#include "runner/record/record_internal.h"

#include "engine/base/clock.h"
#include "engine/case/visits.h"
#include "runner/supervise/supervise.h"

#include <stdlib.h>
#include <string.h>

static double *record_scratch(struct record *record, size_t count) {
  if (count > record->scratch_capacity) {
    record->scratch_capacity = 2 * count;
    free(record->scratch);
    record->scratch = memory_new(record->scratch_capacity, sizeof *record->scratch);
  }
  return record->scratch;
}

#define SUMMARY_COLUMN(member, least)                                                              \
  { ":" #member, offsetof(struct summary, member), least }
/* A summary of fewer trials than the least has no such number. */
static const struct {
  const char *parameter;
  size_t offset;
  uint32_t least;
} SUMMARY_COLUMNS[] = {
    SUMMARY_COLUMN(median_ns, 1),     SUMMARY_COLUMN(p5_ns, 1),          SUMMARY_COLUMN(p95_ns, 1),
    SUMMARY_COLUMN(min_ns, 1),        SUMMARY_COLUMN(max_ns, 1),         SUMMARY_COLUMN(mean_ns, 1),
    SUMMARY_COLUMN(median_low_ns, 6), SUMMARY_COLUMN(median_high_ns, 6), SUMMARY_COLUMN(cv, 2),
};

/* Those that the statement has. */
static void record_bind_summary(struct statement *statement, const struct summary *summary) {
  statement_bind_int(statement, ":n", summary->count);
  for (size_t i = 0; i < COUNT_OF(SUMMARY_COLUMNS); i++) {
    const int index = sqlite3_bind_parameter_index(statement->stmt, SUMMARY_COLUMNS[i].parameter);
    const char *member = (const char *)summary + SUMMARY_COLUMNS[i].offset;
    if (index != 0 && summary->count >= SUMMARY_COLUMNS[i].least) {
      (void)sqlite3_bind_double(statement->stmt, index, *(const double *)member);
    }
  }
}

/* What a trial may hold beside its time; 0 = it does not. */
static const struct {
  const char *parameter; /* of a trial */
  const char *median;    /* of a case */
  size_t offset;
} TRIAL_COLUMNS[] = {
    {":cycles", ":median_cycles", offsetof(struct trial, cycles)},
    {":submit_ns", ":median_submit_ns", offsetof(struct trial, submit_ns)},
    {":gpu_ns", ":median_gpu_ns", offsetof(struct trial, gpu_ns)},
};
enum { TRIAL_COLUMN_COUNT = COUNT_OF(TRIAL_COLUMNS) };

static uint64_t record_trial_value(const struct trial *trial, size_t column) {
  return *(const uint64_t *)(const void *)((const char *)trial + TRIAL_COLUMNS[column].offset);
}

/* Medians per iteration of the trials that the summary comes from. */
static void record_bind_medians(struct record *record, struct statement *statement,
                                const struct case_report *report) {
  double *values = record_scratch(record, report->trial_count);
  for (size_t column = 0; column < TRIAL_COLUMN_COUNT; column++) {
    size_t count = 0;
    for (size_t i = 0; i < report->trial_count; i++) {
      const struct trial *trial = &report->trials[i];
      const uint64_t value = record_trial_value(trial, column);
      if (summary_takes(trial) && value > 0) {
        values[count++] = (double)value / trial->iterations;
      }
    }
    if (count > 0) {
      struct summary summary = {0};
      summary_of_values(values, count, &summary);
      statement_bind_real(statement, TRIAL_COLUMNS[column].median, summary.median_ns);
    }
  }
}

static void record_bind_outcome(struct statement *statement, const struct case_outcome *outcome) {
  statement_bind_text(statement, ":status", case_status_text(outcome->status));
  if (outcome->status != CASE_OK) {
    statement_bind_text(statement, ":reason", outcome->reason);
  }
  statement_bind_int(statement, ":iterations", outcome->iterations);
  statement_bind_text(statement, ":clock", clock_text(outcome->clock));
  statement_bind_int(statement, ":gated", outcome->gated);
  statement_bind_int(statement, ":verified", outcome->verified);
  statement_bind_int(statement, ":serialised", outcome->serialised);
  statement_bind_text(statement, ":stop", stop_text(outcome->stop));
  statement_bind_int(statement, ":allocate_ns", (int64_t)outcome->allocate_ns);
  statement_bind_int(statement, ":measure_ns", (int64_t)outcome->measure_ns);
  statement_bind_int(statement, ":verify_ns", (int64_t)outcome->verify_ns);
  statement_bind_int(statement, ":total_ns", (int64_t)outcome->total_ns);
  statement_bind_int(statement, ":cpu_before_khz", outcome->cpu_before_khz);
  statement_bind_int(statement, ":cpu_after_khz", outcome->cpu_after_khz);
  statement_bind_text(statement, ":cpus", outcome->cpus);
  statement_bind_int(statement, ":cache_warm_ns", (int64_t)outcome->cache_warm_ns);
  statement_bind_int(statement, ":cache_flushed_ns", (int64_t)outcome->cache_flushed_ns);
  statement_bind_int(statement, ":call_first_ns", (int64_t)outcome->call_first_ns);
  statement_bind_int(statement, ":call_median_ns", (int64_t)outcome->call_median_ns);
  statement_bind_int(statement, ":call_p99_ns", (int64_t)outcome->call_p99_ns);
  statement_bind_int(statement, ":share_export_ns", (int64_t)outcome->share_export_ns);
  statement_bind_int(statement, ":share_open_first_ns", (int64_t)outcome->share_open_first_ns);
  statement_bind_int(statement, ":share_open_ns", (int64_t)outcome->share_open_ns);
  statement_bind_int(statement, ":share_close_ns", (int64_t)outcome->share_close_ns);
}

static void record_bind_visits(struct statement *statement, const struct pending_case *pending) {
  const struct visits_found *found = &pending->visits;
  const bool known = pending->report.visit > 0 || pending->outcome.status == CASE_SKIPPED;
  statement_bind_int(statement, ":again", known);
  if (found->visits > 0) {
    statement_bind_int(statement, ":visits", found->visits);
  }
  if (found->settled != SETTLED_NOT) {
    statement_bind_text(statement, ":settled", settled_text(found->settled));
  }
  if (found->undisturbed_ns > 0) {
    statement_bind_real(statement, ":undisturbed_ns", found->undisturbed_ns);
    statement_bind_real(statement, ":undisturbed_low_ns", found->low_ns);
    statement_bind_real(statement, ":undisturbed_high_ns", found->high_ns);
    statement_bind_real(statement, ":disturbed_share", found->disturbed_share);
    statement_bind_real(statement, ":disturbed_most", found->disturbed_most);
  }
}

static enum status record_insert_case_run(struct record *record, const struct pending_case *pending,
                                          int64_t *id, struct error *err) {
  const struct case_report *report = &pending->report;
  SCOPED(statement_finalize) struct statement insert = {0};
  struct statement *statement = &insert;
  struct summary summary = {0};
  RETURN_ON_ERROR(record_statement(record, "result/insert_case_run", statement, err));
  summary_of_trials(report->trials, report->trial_count,
                    record_scratch(record, report->trial_count), &summary);
  /* What a worker skips is skipped by the run: the machine has no such thing. */
  if (pending->outcome.status != CASE_SKIPPED) {
    statement_bind_int(statement, ":process", pending->process);
  }
  statement_bind_int(statement, ":bench_case", record->bench_cases[report->case_index]);
  record_bind_outcome(statement, &pending->outcome);
  if (report->noise != NULL) {
    statement_bind_text(statement, ":noise", report->noise);
    statement_bind_real(statement, ":noise_size", report->noise_size);
    statement_bind_real(statement, ":noise_ns", report->noise_ns);
  }
  record_bind_summary(statement, &summary);
  record_bind_medians(record, statement, report);
  record_bind_visits(statement, pending);
  if (report->trial_count > 0) {
    const struct trial *first = &report->trials[0];
    const struct trial *last = &report->trials[report->trial_count - 1];
    statement_bind_int(statement, ":started_at_ns",
                       (int64_t)first->start_ns + record->clock_offset_ns);
    statement_bind_int(statement, ":ended_at_ns",
                       (int64_t)(last->start_ns + last->elapsed_ns) + record->clock_offset_ns);
  }
  enum status status = record_read_number(statement, id, err);
  if (status == STATUS_OK && *id == 0) {
    record->contested = true;
    status = error_set(err, STATUS_DENIED,
                       "another haul measures this run at the same time, with other locks "
                       "(HAUL_LOCKS, a container), and recorded a case that was measured here as "
                       "well; it goes on");
  }
  return status;
}

enum status record_insert_notes(struct record *record, int64_t case_run, const struct notes *notes,
                                struct error *err) {
  static const char *const AMOUNTS[] = {":amount", ":amount2", ":amount3", ":amount4"};
  SCOPED(statement_finalize) struct statement insert = {0};
  int64_t first = 0;
  if (notes->count == 0) {
    return STATUS_OK;
  }
  RETURN_ON_ERROR(record_find(record, "result/next_note",
                              PARAMETERS(PARAMETER(":case_run", case_run)), &first, err));
  enum status status = record_statement(record, "result/insert_note", &insert, err);
  for (uint32_t i = 0; i < notes->count && status == STATUS_OK; i++) {
    const struct note *note = &notes->items[i];
    statement_bind(&insert, PARAMETERS(PARAMETER(":case_run", case_run),
                                       PARAMETER(":ordinal", first + i), PARAMETER(":first", first),
                                       PARAMETER(":kind", note_kind_text(note->kind))));
    if (note->gpu != NOTE_NO_GPU) {
      statement_bind_int(&insert, ":gpu", note->gpu);
    }
    statement_bind_text(&insert, ":what", note->what[0] != '\0' ? note->what : NULL);
    for (size_t k = 0; k < note_amount_count(note->kind); k++) {
      statement_bind_real(&insert, AMOUNTS[k], note->amounts[k]);
    }
    status = statement_run(&insert, err);
  }
  return status;
}

/* Insert a row without unbinding its parameters. */
static enum status record_insert_bound(struct statement *statement, struct error *err) {
  if (sqlite3_step(statement->stmt) != SQLITE_DONE) {
    return database_error(statement->database, err);
  }
  (void)sqlite3_reset(statement->stmt);
  return STATUS_OK;
}

/* Hot: up to 10^6 rows per case. Parameters are bound by index, and stay bound between rows. */
static enum status record_insert_trials(struct record *record, const struct case_report *report,
                                        int64_t case_run, struct error *err) {
  SCOPED(statement_finalize) struct statement insert = {0};
  struct statement *statement = &insert;
  RETURN_ON_ERROR(record_statement(record, "result/insert_trial", statement, err));
  sqlite3_stmt *stmt = statement->stmt;
  const int ordinal = statement_parameter(statement, ":ordinal");
  const int phase = statement_parameter(statement, ":phase");
  const int trial_status = statement_parameter(statement, ":status");
  const int iterations = statement_parameter(statement, ":iterations");
  const int start_ns = statement_parameter(statement, ":start_ns");
  const int elapsed_ns = statement_parameter(statement, ":elapsed_ns");
  const int visit = statement_parameter(statement, ":visit");
  int columns[TRIAL_COLUMN_COUNT];
  for (size_t column = 0; column < TRIAL_COLUMN_COUNT; column++) {
    columns[column] = statement_parameter(statement, TRIAL_COLUMNS[column].parameter);
  }
  statement_bind_int(statement, ":case_run", case_run);
  enum status status = STATUS_OK;
  for (size_t i = report->recorded_trials; i < report->trial_count && status == STATUS_OK; i++) {
    const struct trial *trial = &report->trials[i];
    (void)sqlite3_bind_int64(stmt, visit, trial->visit);
    (void)sqlite3_bind_int64(stmt, ordinal, trial->ordinal);
    (void)sqlite3_bind_int(stmt, phase, (int)trial->phase);
    (void)sqlite3_bind_int(stmt, trial_status, (int)trial->status);
    (void)sqlite3_bind_int64(stmt, iterations, trial->iterations);
    (void)sqlite3_bind_int64(stmt, start_ns,
                             (int64_t)(trial->start_ns - report->trials[0].start_ns));
    (void)sqlite3_bind_int64(stmt, elapsed_ns, (int64_t)trial->elapsed_ns);
    for (size_t column = 0; column < TRIAL_COLUMN_COUNT; column++) {
      const uint64_t value = record_trial_value(trial, column);
      if (value > 0) {
        (void)sqlite3_bind_int64(stmt, columns[column], (int64_t)value);
      } else {
        (void)sqlite3_bind_null(stmt, columns[column]);
      }
    }
    status = record_insert_bound(statement, err);
  }
  return status;
}

static enum status record_insert_flow_trials(struct record *record,
                                             const struct case_report *report, int64_t case_run,
                                             struct error *err) {
  SCOPED(statement_finalize) struct statement insert = {0};
  struct statement *statement = &insert;
  RETURN_ON_ERROR(record_statement(record, "result/insert_flow_trial", statement, err));
  sqlite3_stmt *stmt = statement->stmt;
  const int ordinal = statement_parameter(statement, ":ordinal");
  const int flow = statement_parameter(statement, ":flow");
  const int start_ns = statement_parameter(statement, ":start_ns");
  const int elapsed_ns = statement_parameter(statement, ":elapsed_ns");
  const int iterations = statement_parameter(statement, ":iterations");
  statement_bind_int(statement, ":case_run", case_run);
  enum status status = STATUS_OK;
  for (size_t i = report->recorded_flow_trials; i < report->flow_trial_count && status == STATUS_OK;
       i++) {
    const struct flow_trial *trial = &report->flow_trials[i];
    (void)sqlite3_bind_int64(stmt, ordinal, trial->ordinal);
    (void)sqlite3_bind_int64(stmt, flow, trial->flow);
    (void)sqlite3_bind_int64(stmt, start_ns,
                             trial->start_ns == UINT64_MAX ? -1 : (int64_t)trial->start_ns);
    (void)sqlite3_bind_int64(stmt, elapsed_ns, (int64_t)trial->elapsed_ns);
    (void)sqlite3_bind_int64(stmt, iterations, (int64_t)trial->iterations);
    status = record_insert_bound(statement, err);
  }
  return status;
}

/* Per-iteration times of one flow, from the trials that count. Trials come in the order of their
 * ordinals, and so do flow trials. */
static void record_flow_values(const struct case_report *report, uint32_t flow, double *values,
                               size_t ends[VISITS_MAX]) {
  size_t count = 0;
  size_t at = 0;
  for (size_t i = 0; i < report->flow_trial_count; i++) {
    const struct flow_trial *timed = &report->flow_trials[i];
    if (timed->flow != flow) {
      continue;
    }
    while (at < report->trial_count && report->trials[at].ordinal < timed->ordinal) {
      at++;
    }
    if (at == report->trial_count || report->trials[at].ordinal != timed->ordinal) {
      continue;
    }
    const struct trial *trial = &report->trials[at];
    if (summary_takes(trial)) {
      const uint64_t own = timed->iterations > 0 ? timed->iterations : trial->iterations;
      values[count++] = (double)timed->elapsed_ns / (double)own;
      ends[trial->visit < VISITS_MAX ? trial->visit : VISITS_MAX - 1] = count;
    }
  }
  for (size_t visit = 1; visit < VISITS_MAX; visit++) {
    ends[visit] = ends[visit] < ends[visit - 1] ? ends[visit - 1] : ends[visit];
  }
}

static enum status record_insert_flow_runs(struct record *record, const struct case_report *report,
                                           uint32_t flow_count, int64_t case_run,
                                           struct error *err) {
  SCOPED(statement_finalize) struct statement insert = {0};
  struct statement *statement = &insert;
  RETURN_ON_ERROR(record_statement(record, "result/insert_flow_run", statement, err));
  double *values = record_scratch(record, report->trial_count);
  enum status status = STATUS_OK;
  if (report->flow_trial_count == 0) {
    return STATUS_OK;
  }
  for (uint32_t flow = 0; flow < flow_count && status == STATUS_OK; flow++) {
    struct summary summary = {0};
    size_t ends[VISITS_MAX] = {0};
    record_flow_values(report, flow, values, ends);
    summary_of_visits(values, ends, &summary);
    if (summary.count == 0) {
      continue;
    }
    statement_bind_int(statement, ":case_run", case_run);
    statement_bind_int(statement, ":flow", flow);
    record_bind_summary(statement, &summary);
    status = statement_run(statement, err);
  }
  return status;
}

/* The rows of one case, inside a transaction. */
static enum status record_insert_case(struct record *record, const struct pending_case *pending,
                                      struct error *err) {
  int64_t case_run = 0;
  const struct case_report *report = &pending->report;
  enum status status = record_insert_case_run(record, pending, &case_run, err);
  status = THEN(status, record_insert_notes(record, case_run, &pending->outcome.notes, err));
  status = THEN(status, record_insert_notes(record, case_run, &pending->slowed, err));
  status = THEN(status, record_insert_trials(record, report, case_run, err));
  status = THEN(status, record_insert_flow_trials(record, report, case_run, err));
  return THEN(status, record_insert_flow_runs(record, report, pending->flow_count, case_run, err));
}

enum status record_begin(struct record *record, struct error *err) {
  enum status status = database_begin(record->database, err);
  for (size_t i = 0; i < record->pending_count && status == STATUS_OK; i++) {
    status = record_insert_case(record, &record->pending[i], err);
  }
  return status == STATUS_OK ? STATUS_OK : record_finish(record, status, err);
}

void record_write_each(struct record *record) {
  struct error ignored = {0};
  for (size_t i = 0; i < record->pending_count; i++) {
    enum status status = database_begin(record->database, &ignored);
    status = THEN(status, record_insert_case(record, &record->pending[i], &ignored));
    if (database_end(record->database, status, &ignored) == STATUS_OK) {
      record->recorded++;
    }
  }
  record_drop_pending(record);
}

void record_drop_pending(struct record *record) {
  while (record->pending_count > 0) {
    struct pending_case *last = &record->pending[--record->pending_count];
    free(last->trials);
    free(last->flow_trials);
  }
}

void *record_copy(const void *items, size_t count, size_t size_bytes) {
  void *copy = memory_new(count, size_bytes);
  if (count > 0) {
    memcpy(copy, items, count * size_bytes);
  }
  return copy;
}

/* Keep a copy of the report. */
static enum status record_add_pending(struct record *record, const struct plan *plan,
                                      const struct case_report *report, struct error *err) {
  if (record->process == 0 || record->process_ordinal != report->process) {
    return error_set(err, STATUS_INVALID, "process %u has a result but was not started",
                     report->process);
  }
  if (record->pending_count == 0) {
    record->pending_since_ns = clock_now_ns();
  }
  struct pending_case *added = MEMORY_ADD(record->pending, record->pending_count);
  *added = (struct pending_case){.report = *report,
                                 .process = record->process,
                                 .outcome = *report->outcome,
                                 .flow_count = plan->cases[report->case_index].def.flow_count};
  added->trials = record_copy(report->trials, report->trial_count, sizeof *report->trials);
  added->flow_trials =
      record_copy(report->flow_trials, report->flow_trial_count, sizeof *report->flow_trials);
  added->visits = report->visits != NULL ? *report->visits : (struct visits_found){0};
  added->slowed = report->slowed != NULL ? *report->slowed : (struct notes){0};
  added->report.slowed = NULL;
  added->report.visits = NULL;
  added->report.trials = added->trials;
  added->report.flow_trials = added->flow_trials;
  added->report.outcome = NULL; /* pending cases move when their array grows */
  return STATUS_OK;
}

/* One transaction for all that waits. */
static enum status record_write_pending(struct record *record, struct error *err) {
  enum status status;
  RECORD_STEP(record, status, record_flush_telemetry(record, err), err);
  return status;
}

enum status record_case(struct record *record, const struct plan *plan,
                        const struct case_report *report, struct error *err) {
  RETURN_ON_ERROR(record_add_pending(record, plan, report, err));
  return record_write_due(record, 0, err);
}

enum status record_write_due(struct record *record, uint64_t busy_ns, struct error *err) {
  if (record->pending_count == 0 ||
      clock_now_ns() - record->pending_since_ns + busy_ns < RECORD_GROUP_NS) {
    return STATUS_OK;
  }
  return record_write_pending(record, err);
}

bool record_is_contested(const struct record *record) {
  return record->contested;
}

bool record_has_pending(const struct record *record) {
  return record->pending_count > 0;
}
