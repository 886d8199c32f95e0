/* Old trials go, what was made of them stays; a file is brought to the latest schema in a copy. */
#include "engine/base/clock.h"
#include "runner/record/manage.h"
#include "runner/record/migrate.h"
#include "tests/runner/record/fixture.h"

#include <unistd.h>

static void prune(const struct fixture *fixture, struct trials_to_prune *prune) {
  SCOPED(database_close_at) struct database *database = fixture_open(fixture, DATABASE_WRITE);
  struct error err = {0};
  assert_ok(trials_prune(database, prune, &err), &err);
}

static const char RESULTS[] = "SELECT group_concat(run || case_name || process || n || median_ns "
                              "|| median_low_ns || p5_ns || cv || ifnull(note, '')) "
                              "FROM (SELECT * FROM v_case WHERE status = 'ok' ORDER BY case_run)";
static const char PRUNED[] = "SELECT group_concat(run || ':' || (pruned_at IS NOT NULL) || ':' || "
                             "(SELECT count(*) > 0 FROM v_trial t WHERE "
                             "t.run = r.run)) FROM v_run r";

TEST(results_outlive_their_trials) {
  SCOPED(fixture_free_at) struct fixture *fixture = fixture_new();
  const struct run_list none = {0};
  struct trials_to_prune wanted = {.kept = &none};
  for (int i = 0; i < 4; i++) {
    fixture_record_run(fixture, 2);
  }
  fixture_execute(fixture->path,
                  "INSERT INTO baseline (name, run, set_at_ns) VALUES ('good', 2, 0)");
  fixture_execute(fixture->path,
                  "UPDATE run SET started_at_ns = started_at_ns - 1000000000000 WHERE id < 4");
  SCOPED(memory_free) char *before = fixture_query(fixture, RESULTS);
  assert_true(strlen(before) > 500);
  wanted.before_ns = (int64_t)clock_read_ns(CLOCK_REALTIME) - 500000000000;
  wanted.keep_baselines = true;
  wanted.dry_run = true;
  prune(fixture, &wanted);
  assert_int_equal(wanted.runs, 2);
  assert_true(wanted.trials > 0);
  assert_query(fixture, PRUNED, "1:0:1,2:0:1,3:0:1,4:0:1");
  wanted.dry_run = false;
  prune(fixture, &wanted);
  assert_query(fixture, PRUNED, "1:1:0,2:0:1,3:1:0,4:0:1");
  assert_query(fixture,
               "SELECT count(*) FROM flow_trial f JOIN case_run c ON c.id = f.case_run WHERE c.run "
               "IN (1, 3)",
               "0");
  assert_query(fixture, RESULTS, before);
  /* And not once more. */
  prune(fixture, &wanted);
  assert_int_equal(wanted.runs, 0);
}

TEST(runs_are_kept_by_name) {
  SCOPED(fixture_free_at) struct fixture *fixture = fixture_new();
  struct run_ref first = {.id = 1};
  const struct run_list kept = {.runs = &first, .count = 1};
  struct trials_to_prune wanted = {.kept = &kept, .before_ns = INT64_MAX};
  fixture_record_run(fixture, 1);
  fixture_record_run(fixture, 1);
  prune(fixture, &wanted);
  assert_query(fixture, PRUNED, "1:0:1,2:1:0");
}

/* 30 days of health in a file: what is older goes, the oldest first, but for what has a tag. */
TEST(old_health_runs_are_found) {
  SCOPED(fixture_free_at) struct fixture *fixture = fixture_new();
  SCOPED(arena_fini) struct arena arena = {0};
  struct run_list runs;
  for (int i = 0; i < 5; i++) {
    fixture->info.tag = i == 1 ? "kept" : NULL;
    fixture->info.launch = NULL; /* of no fleet */
    fixture_record_run(fixture, 1);
  }
  fixture_execute(
      fixture->path,
      "UPDATE run SET started_at_ns = id WHERE id < 5; UPDATE scenario SET name = 'health'");
  fixture_execute(fixture->path,
                  "INSERT INTO baseline (name, run, set_at_ns) VALUES ('good', 3, 0)");
  SCOPED(database_close_at) struct database *database = fixture_open(fixture, DATABASE_READ);
  assert_ok(old_health_runs_read(database, "health", 100, 9, &arena, &runs, err), err);
  assert_int_equal(runs.count, 2);
  assert_int_equal(runs.runs[0].id, 1);
  assert_int_equal(runs.runs[1].id, 4);
  assert_ok(old_health_runs_read(database, "health", 100, 1, &arena, &runs, err), err);
  assert_int_equal(runs.count, 1);
  assert_ok(old_health_runs_read(database, "other", 100, 9, &arena, &runs, err), err);
  assert_int_equal(runs.count, 0);
}

TEST(copy_has_the_latest_schema) {
  SCOPED(fixture_free_at) struct fixture *fixture = fixture_new();
  fixture_load(fixture, "results-1003.sql");
  PRINTED(copy, 128, "%s/copy.db", fixture->folder);
  struct database *database = fixture_open(fixture, DATABASE_READ);
  assert_ok(database_write_copy(database, copy, err), err);
  assert_int_equal(database_write_copy(database, copy, err), STATUS_INVALID); /* it is there */
  database_close(database);
  assert_ok(database_open(copy, DATABASE_READ, &database, err), err);
  assert_int_equal(database->version, migrate_latest_version());
  assert_int_equal(database->file_version, 0);                           /* read as it is */
  assert_int_equal(database_compact(database, err) == STATUS_OK, false); /* which only reads */
  database_close(database);
  assert_query(fixture, "SELECT user_version FROM pragma_user_version", "1003");
  (void)unlink(copy);
}
