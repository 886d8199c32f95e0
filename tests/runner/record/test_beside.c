/* Whoever reads costs no measurement: a run goes on beside a database that others hold. */
#include "engine/base/clock.h"
#include "runner/record/beside.h"
#include "tests/runner/record/fixture.h"

#include <sqlite3.h>
#include <unistd.h>

enum { READERS = 10, PROCESSES = 3, NONE = PROCESSES };

struct readers {
  sqlite3 *handles[READERS];
};

static void readers_hold(struct readers *readers, const char *path) {
  for (size_t i = 0; i < READERS; i++) {
    assert_int_equal(sqlite3_open(path, &readers->handles[i]), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(readers->handles[i], "BEGIN; SELECT count(*) FROM run", NULL, NULL, NULL),
        SQLITE_OK);
  }
}

static void readers_release(struct readers *readers) {
  for (size_t i = 0; i < READERS; i++) {
    assert_int_equal(sqlite3_close(readers->handles[i]), SQLITE_OK);
  }
}

/* Records a run; readers come before it begins, or before that process. Returns where it was
 * recorded, NULL: in the database. */
static char *record_run(struct fixture *fixture, struct readers *readers, uint32_t held_from,
                        bool at_once) {
  struct record *record = NULL;
  struct error err = {0};
  fixture->info.processes = PROCESSES;
  if (at_once) {
    readers_hold(readers, fixture->path);
  }
  assert_ok(record_open(fixture->path, &record, &err), &err);
  record_allow_beside(record);
  enum status status =
      record_begin_run(record, &fixture->info, fixture->machine, &fixture->plan, NULL, 0, &err);
  for (uint32_t process = 0; process < PROCESSES && status == STATUS_OK; process++) {
    if (process == held_from) {
      readers_hold(readers, fixture->path);
    }
    status = record_process_started(record, process, 100, &err);
    for (size_t i = 0; i < FIXTURE_CASES && status == STATUS_OK; i++) {
      if (fixture->cases[i].skip_reason == NULL) {
        const struct case_report *report = fixture_report(fixture, process, i, 50);
        const struct telemetry_sample sample = {.time_ns = report->trials[20].start_ns, .gpu = 1};
        status = record_telemetry(record, &sample, 1, &err);
        status = THEN(status, record_case(record, &fixture->plan, report, &err));
      }
    }
    status = THEN(status, record_process_ended(record, process, &err));
  }
  status = THEN(status, record_end_run(record, "done", NULL, &err));
  assert_ok(status, &err);
  char *place = record_place(record) != NULL ? strdup(record_place(record)) : NULL;
  record_close(record);
  return place;
}

/* What a run is, but for times of its own. */
static char *content(const struct fixture *fixture, int run) {
  PRINTED(sql, 1024,
          "SELECT r.status || ' ' || (SELECT group_concat(x) FROM (SELECT b.name || p.ordinal || "
          "c.status || c.n || c.median_ns || (SELECT sum(t.elapsed_ns) FROM trial t WHERE "
          "t.case_run = c.id) || (SELECT count(*) FROM case_note n WHERE n.case_run = c.id) AS x "
          "FROM case_run c JOIN bench_case b ON b.id = c.bench_case JOIN process p ON p.id = "
          "c.process WHERE c.run = r.id ORDER BY 1)) || ' ' || (SELECT count(*) FROM telemetry t "
          "WHERE t.run = r.id) || ' ' || (SELECT count(*) FROM process p WHERE p.run = r.id AND "
          "ended_at_ns > 0) FROM run r WHERE r.id = %d",
          run);
  return fixture_query(fixture, sql);
}

static void assert_same_content(const struct fixture *fixture) {
  SCOPED(memory_free) char *first = content(fixture, 1);
  SCOPED(memory_free) char *second = content(fixture, 2);
  assert_true(strlen(first) > 100);
  assert_string_equal(first, second);
}

static void check(uint32_t held_from, bool at_once) {
  SCOPED(fixture_free_at) struct fixture *fixture = fixture_new();
  struct readers readers;
  struct error err = {0};
  assert_null(record_run(fixture, &readers, NONE, false));
  const uint64_t start_ns = clock_now_ns();
  SCOPED(memory_free) char *place = record_run(fixture, &readers, held_from, at_once);
  assert_non_null(place);
  assert_true(clock_now_ns() - start_ns <
              UINT64_C(10000000000)); /* it waited for nobody: once BESIDE_AFTER_MS */
  assert_int_equal(beside_merge(fixture->path, place, 10, &err), STATUS_TIMEOUT);
  assert_int_equal(access(place, F_OK), 0);
  assert_int_equal(beside_count(fixture->path), 1);
  readers_release(&readers);
  size_t left = 9;
  assert_ok(beside_take_up(fixture->path, &left, &err), &err);
  assert_int_equal(left, 0);
  assert_int_not_equal(access(place, F_OK), 0);
  assert_same_content(fixture);
}

TEST(run_goes_on_beside_a_database_held_before) {
  check(NONE, true);
}

TEST(run_goes_on_beside_a_database_held_meanwhile) {
  check(1, false);
}

/* What a run that was killed left is added, and stays for whoever resumes it. */
TEST(killed_run_is_added_and_kept) {
  SCOPED(fixture_free_at) struct fixture *fixture = fixture_new();
  struct readers readers;
  struct record *record = NULL;
  size_t left = 0;
  fixture_record_run(fixture, 1);
  readers_hold(&readers, fixture->path);
  assert_ok(record_open(fixture->path, &record, err), err);
  record_allow_beside(record);
  assert_ok(
      record_begin_run(record, &fixture->info, fixture->machine, &fixture->plan, NULL, 0, err),
      err);
  record_close(record);
  readers_release(&readers);
  assert_ok(beside_take_up(fixture->path, &left, err), err);
  assert_int_equal(left, 1);
  assert_query(fixture, "SELECT group_concat(status) FROM run", "done,running");
}

/* One that cannot be added, first by its name, keeps no other from it. */
TEST(bad_file_blocks_no_other) {
  SCOPED(fixture_free_at) struct fixture *fixture = fixture_new();
  struct readers readers;
  size_t left = 0;
  assert_null(record_run(fixture, &readers, NONE, false));
  SCOPED(memory_free) char *place = record_run(fixture, &readers, NONE, true);
  assert_non_null(place);
  readers_release(&readers);
  PRINTED(bad, 128, "%s-run-!.db", fixture->path);
  write_text(bad, "This is no database.\n");
  const enum status status = beside_take_up(fixture->path, &left, err);
  assert_int_not_equal(status, STATUS_OK);
  assert_int_not_equal(status, STATUS_TIMEOUT);
  assert_contains(err->message, bad);
  assert_int_equal(left, 1);
  assert_int_equal(access(bad, F_OK), 0);
  assert_int_not_equal(access(place, F_OK), 0);
  assert_same_content(fixture);
}
