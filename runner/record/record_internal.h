/* record_internal.h - what the files of the recorder share; only they include it. */
#pragma once

#include "runner/record/content.h"
#include "runner/record/database.h"
#include "runner/record/record.h"
#include "runner/record/rows.h"
#include "runner/supervise/supervise.h"

/* A case that is not written yet. */
struct pending_case {
  struct case_report report; /* without outcome and slowed; its trials are those below */
  int64_t process;           /* process.id */
  struct case_outcome outcome;
  struct notes slowed; /* none: nothing was seen */
  struct visits_found visits;
  struct trial *trials;
  struct flow_trial *flow_trials;
  uint32_t flow_count;
};

struct record {
  struct database *database;
  /* Where another program may hold the database (beside.h): */
  char *place;   /* what is recorded instead; NULL = nothing was */
  bool may_wait; /* for as long as `wait` says: it cannot be recorded beside */
  bool (*wait)(void *context, uint64_t waited_ms); /* NULL = DATABASE_BUSY_MS */
  void *wait_context;
  char *path;  /* of the database; NULL = it is nobody else's */
  int64_t run; /* run.id; 0 = none begun */
  char uuid[CONTENT_KEY_MAX];
  int64_t clock_offset_ns; /* what to add to CLOCK_MONOTONIC_RAW for ns since 1970 */
  int64_t *bench_cases;    /* bench_case.id of plan->cases[i] */
  size_t case_count;
  size_t recorded; /* cases committed since the record was opened */
  int64_t process; /* process.id of process_ordinal */
  uint32_t process_ordinal;
  /* Samples that wait for the next transaction. */
  struct telemetry_sample *samples;
  size_t sample_count;
  size_t samples_written;       /* in the transaction at hand */
  struct pending_case *pending; /* in the order in which they ended */
  size_t pending_count;
  bool contested;            /* another process records the same run */
  uint64_t pending_since_ns; /* when the first of them ended */
  double *scratch;           /* for summaries */
  size_t scratch_capacity;
};

/* A statement with its :run, if it has one, bound to the run that the record serves. */
enum status record_statement(struct record *record, const char *name, struct statement *statement,
                             struct error *err) CHECK_RESULT;
/* Such a statement, once, and the id of the row that it inserts; id may be NULL. */
enum status record_insert(struct record *record, const char *name,
                          const struct parameter *parameters, int64_t *id,
                          struct error *err) CHECK_RESULT;
/* Column 0 of the one row that a bound statement gives; 0 where there is none, or NULL. */
enum status record_read_number(struct statement *statement, int64_t *number,
                               struct error *err) CHECK_RESULT;
/* The same of a statement, once. */
enum status record_find(struct record *record, const char *name, const struct parameter *parameters,
                        int64_t *number, struct error *err) CHECK_RESULT;
/* A copy of an array, for free(). */
void *record_copy(const void *items, size_t count, size_t size_bytes);

/* Inside a transaction each: find or add by content; *id is the row's. */
enum status record_add_environment(struct record *record, const struct machine *machine,
                                   int64_t *id, struct error *err) CHECK_RESULT;
/* What the environment leaves out of each GPU because it changes by itself, as its facts. */
enum status record_add_state(struct record *record, const struct machine *machine, int64_t id,
                             struct error *err) CHECK_RESULT;
enum status record_add_scenario(struct record *record, const struct scenario *scenario, int64_t *id,
                                struct error *err) CHECK_RESULT;
/* Every case of the plan, its flows, its place in the run, and why it is skipped; fills
 * record->bench_cases. */
enum status record_add_plan(struct record *record, const struct plan *plan,
                            struct error *err) CHECK_RESULT;
/* The same for a run that has its plan: STATUS_INVALID when it is another one. */
enum status record_match_plan(struct record *record, const struct plan *plan,
                              struct error *err) CHECK_RESULT;
/* Of a case_run, behind those of its earlier visits, of which none is repeated. */
enum status record_insert_notes(struct record *record, int64_t case_run, const struct notes *notes,
                                struct error *err) CHECK_RESULT;
enum status record_flush_telemetry(struct record *record, struct error *err) CHECK_RESULT;

/* Forget the run that the record served before. */
void record_forget_run(struct record *record);

/* After an operation that ended with that status: whether it is to be done again, because the
 * database was held and the run is recorded beside it from now on, or nothing but waiting is left.
 */
bool record_again(struct record *record, enum status status);
/* Begin a transaction with the cases that wait. After an error there is none. */
enum status record_begin(struct record *record, struct error *err) CHECK_RESULT;
/* Forget the cases that wait. */
void record_drop_pending(struct record *record);
/* After a transaction of all that waits failed: each case that waits in one of its own, so that one
 * that is refused takes no other along. Forgets those that cannot be written: nothing later fails
 * because of them. */
void record_write_each(struct record *record);
/* record_begin() ... commit around what `status` says of the work between; names the run in errors.
 * After an error nothing waits any more, unless it was that another program has the database. */
enum status record_finish(struct record *record, enum status status,
                          struct error *err) CHECK_RESULT;
/* A step in a transaction with the cases that wait, again where the database was held. */
#define RECORD_STEP(record, status, step, err)                                                     \
  do {                                                                                             \
    (status) = record_begin((record), (err));                                                      \
    (status) = THEN((status), record_finish((record), (step), (err)));                             \
  } while (record_again((record), (status)))
