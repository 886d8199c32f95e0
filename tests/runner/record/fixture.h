/* fixture.h - a machine, a plan of six cases and made-up results, for tests of the recorder.
 *
 * Cases: 0 host to device, 1 both ways (two flows), 2 skipped, 3 host to host, 4 pointer chase,
 * 5 launch overhead. */
#pragma once

#include "runner/record/database.h"
#include "runner/record/record.h"
#include "runner/supervise/supervise.h"
#include "schema/scenario/scenario.h"
#include "tests/cmocka.h"

RELEASE(database_close, struct database)
RELEASE(record_close, struct record)

enum { FIXTURE_CASES = 6, FIXTURE_SKIPPED = 2, FIXTURE_TRIALS_MAX = 4096 };

struct fixture {
  char folder[64];
  char path[96];
  struct machine *machine;
  struct scenario scenario;
  struct plan_case cases[FIXTURE_CASES];
  union work *works; /* of cases of other kinds than transfer */
  char definitions[FIXTURE_CASES][2048];
  char keys[FIXTURE_CASES][CASE_KEY_MAX];
  struct plan plan;
  struct run_info info;
  /* The last report that fixture_report() made. */
  struct case_report report;
  struct case_outcome outcome;
  struct trial trials[FIXTURE_TRIALS_MAX];
  struct flow_trial flow_trials[2 * FIXTURE_TRIALS_MAX];
};

/* On the heap, with a folder of its own; path is a database in it that does not exist yet. */
struct fixture *fixture_new(void);
/* Gives every case the definition of what it measures; the keys stay. To be called after a change.
 */
void fixture_define(struct fixture *fixture);
/* Gives every case the key of its definition, as plans do. */
void fixture_set_keys(struct fixture *fixture);
/* Removes the folder with what is in it. */
void fixture_free(struct fixture *fixture);
/* For cmocka: both of each test; *state is the fixture. */
int fixture_set_up(void **state);
int fixture_tear_down(void **state);
/* Opens the database and begins a run of the plan, without checks. */
enum status fixture_begin(const struct fixture *fixture, struct record **record,
                          struct error *err) CHECK_RESULT;
/* The same, with its first process; all is well. The caller closes it. */
struct record *fixture_start(const struct fixture *fixture);
/* Resumes the latest run of a record that is open, or of the fixture's file (NULL); all is well. */
struct record *fixture_resume(const struct fixture *fixture, struct record *record);
/* Opens the database, in which all is well; the caller closes it. */
struct database *fixture_open(const struct fixture *fixture, enum database_access access);
/* Result of a case: the first two trials are warm-up, one is a gate time-out. Times differ between
 * processes and trials, and are the same every time. */
const struct case_report *fixture_report(struct fixture *fixture, uint32_t process, size_t index,
                                         size_t trial_count);
/* Records that result, of process 0; all is well. */
void fixture_record_case(struct fixture *fixture, struct record *record, size_t index,
                         size_t trial_count);
/* A whole run of that many processes; asserts that all is well. Returns nothing: the run is the
 * latest. */
void fixture_record_run(struct fixture *fixture, uint32_t processes);
void fixture_set_fact(struct fixture *fixture, const char *name, const char *value);
/* The first column of the first row of a query, as text, read by SQLite alone; caller frees. */
char *fixture_query(const struct fixture *fixture, const char *sql);
/* Asserts that it is this. */
void assert_query(const struct fixture *fixture, const char *sql, const char *expected);
/* Makes the database of a file of tests/data: "results-1002.sql". */
void fixture_load(const struct fixture *fixture, const char *name);
/* Runs SQL with a plain connection, on any file. */
void fixture_execute(const char *path, const char *sql);
RELEASE(fixture_free, struct fixture)
/* A test with a fixture of its own. */
#define FIXTURE_TEST(name)                                                                         \
  TEST_WITH(name, fixture_set_up, fixture_tear_down, struct fixture *fixture)
