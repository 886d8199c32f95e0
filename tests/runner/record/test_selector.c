#include "runner/record/selector.h"

#include "tests/runner/record/fixture.h"

struct three_runs {
  struct fixture *fixture;
  struct database *database;
};

/* Runs 1 and 2 under driver 580 with tags a and b, run 3 under 590 without a tag. */
static int set_up(void **state) {
  static struct three_runs runs;
  runs.fixture = fixture_new();
  runs.fixture->info.tag = "a";
  fixture_record_run(runs.fixture, 1);
  runs.fixture->info.tag = "b";
  fixture_record_run(runs.fixture, 1);
  runs.fixture->info.tag = NULL;
  fixture_set_fact(runs.fixture, "driver_version", "590.1.2");
  fixture_set_fact(runs.fixture, "driver_branch", "r590");
  fixture_record_run(runs.fixture, 1);
  runs.database = fixture_open(runs.fixture, DATABASE_READ);
  *state = &runs;
  return 0;
}

static int tear_down(void **state) {
  struct three_runs *runs = *state;
  database_close(runs->database);
  fixture_free(runs->fixture);
  return 0;
}

TEST_GROUP(set_up, tear_down);

static void assert_finds(const struct three_runs *runs, const char *selector, int64_t id) {
  struct run_ref run = {0};
  struct error err = {0};
  assert_ok(selector_find(runs->database, selector, &run, &err), &err);
  assert_int_equal(run.id, id);
  assert_int_equal(strlen(run.uuid), 32);
}

static void assert_unknown(const struct three_runs *runs, const char *selector,
                           enum status expected, const char *words) {
  struct run_ref run = {.id = -1};
  struct error err = {0};
  assert_fails(selector_find(runs->database, selector, &run, &err), expected, &err, words);
}

TEST(every_selector_finds_its_run, const struct three_runs *runs) {
  assert_finds(runs, "latest", 3);
  assert_finds(runs, "previous", 2);
  assert_finds(runs, "tag:a", 1);
  assert_finds(runs, "driver:580.159.04", 2);
  assert_finds(runs, "driver:r580", 2);
  assert_finds(runs, "driver:590", 3);
  assert_finds(runs, "2", 2);
  assert_finds(runs, "run:1", 1);
}

TEST(uuid_prefix_finds_the_run, const struct three_runs *runs) {
  struct run_ref run = {0};
  assert_ok(selector_find(runs->database, "2", &run, err), err);
  PRINTED(selector, 80, "run:%.20s", run.uuid);
  assert_finds(runs, selector, 2);
  (void)snprintf(selector, sizeof selector, "%.8s-%.4s-%.4s-%.4s-%.12s", run.uuid, run.uuid + 8,
                 run.uuid + 12, run.uuid + 16, run.uuid + 20);
  assert_finds(runs, selector, 2);
  for (char *p = selector; *p != '\0'; p++) {
    *p = (char)(*p >= 'a' && *p <= 'f' ? *p - 'a' + 'A' : *p);
  }
  assert_finds(runs, selector, 2);
}

TEST(ambiguous_selector_lists_the_runs, const struct three_runs *runs) {
  assert_unknown(runs, "run:0", STATUS_INVALID,
                 "several runs begin with \"0\"; there are: run 3 (");
  assert_unknown(runs, "0", STATUS_INVALID, ", test, ");
}

TEST(unknown_selector_lists_what_exists, const struct three_runs *runs) {
  assert_unknown(runs, "99", STATUS_NOT_FOUND, "there is no run \"99\"; there are: run 3 (");
  assert_unknown(runs, "tag:c", STATUS_NOT_FOUND, "no run has the tag \"c\"; there are: b, a");
  assert_unknown(runs, "driver:1", STATUS_NOT_FOUND, "there are: 580.159.04, 590.1.2");
  assert_unknown(runs, "lastest", STATUS_INVALID, "names no run");
  assert_unknown(runs, "", STATUS_INVALID, "empty");
  assert_unknown(runs, "run:", STATUS_INVALID, "empty");
  assert_unknown(runs, "ffffffffffffffffffffffffffffffffff", STATUS_INVALID, "names no run");
}

TEST(empty_database_has_no_runs) {
  SCOPED(fixture_free_at) struct fixture *fixture = fixture_new();
  struct three_runs runs = {fixture, fixture_open(fixture, DATABASE_WRITE)};
  assert_unknown(&runs, "latest", STATUS_NOT_FOUND, "there is no latest run");
  assert_unknown(&runs, "previous", STATUS_NOT_FOUND, "there is no previous run");
  assert_unknown(&runs, "tag:x", STATUS_NOT_FOUND, "there are none");
  database_close(runs.database);
}

/* A run of the scenario without any result has nothing to compare with. */
TEST(run_before_is_one_with_results, const struct three_runs *runs) {
  struct run_ref before = {0};
  assert_ok(selector_find_related(runs->database, "select/run_before", 3, &before, err), err);
  assert_int_equal(before.id, 2);
  fixture_execute(runs->fixture->path, "DELETE FROM case_run WHERE run = 2");
  assert_ok(selector_find_related(runs->database, "select/run_before", 3, &before, err), err);
  assert_int_equal(before.id, 1);
}

/* A run that skipped all cases, or failed before the first one, shows nothing; where the scenario
 * is named, it counts. */
TEST(latest_run_to_compare_measured_something, const struct three_runs *runs) {
  struct run_ref found = {0};
  assert_ok(selector_find_related(runs->database, "select/run_to_compare", 0, &found, err), err);
  assert_int_equal(found.id, 3);
  fixture_execute(
      runs->fixture->path,
      "UPDATE case_run SET status = 'skipped', reason = 'x', process = NULL WHERE run = 3");
  assert_ok(selector_find_related(runs->database, "select/run_to_compare", 0, &found, err), err);
  assert_int_equal(found.id, 1); /* those of run 2 were deleted */
  assert_ok(selector_find_related(runs->database, "select/run_to_compare", 1, &found, err), err);
  assert_int_equal(found.id, 3);
  fixture_execute(runs->fixture->path, "DELETE FROM case_run WHERE run = 3");
  fixture_execute(runs->fixture->path,
                  "UPDATE run SET status = 'failed', reason = 'x' WHERE id = 3");
  assert_ok(selector_find_related(runs->database, "select/run_to_compare", 0, &found, err), err);
  assert_int_equal(found.id, 1);
}

TEST(what_names_a_run_is_told_from_other_words) {
  static const char *const RUNS[] = {"latest",     "previous",     "9", "run:01a2", "tag:x",
                                     "driver:580", "baseline:good"};
  static const char *const OTHERS[] = {"", "quick", "latest2", "9x", "stream", "tag"};
  for (size_t i = 0; i < COUNT_OF(RUNS); i++) {
    assert_true(selector_is_one(RUNS[i]));
  }
  for (size_t i = 0; i < COUNT_OF(OTHERS); i++) {
    assert_false(selector_is_one(OTHERS[i]));
  }
  assert_string_equal(selector_tag("tag:monday"), "monday");
  assert_null(selector_tag("tag:monday,tag:tuesday"));
  assert_null(selector_tag("driver:580"));
  assert_true(selector_is_open("tag:monday") && selector_is_open("driver:580"));
  assert_false(selector_is_open("driver:580,driver:590") || selector_is_open("baseline:good"));
}

TEST(numbers_of_runs_are_ranges) {
  SCOPED(arena_fini) struct arena arena = {0};
  int64_t ids[] = {9, 2, 6, 5};
  assert_string_equal(selector_numbers(&arena, ids, 4), "2, 5-6, 9");
  assert_string_equal(selector_numbers(&arena, ids, 1), "2");
}

TEST(latest_and_previous_move) {
  assert_true(selector_moves("latest"));
  assert_true(selector_moves("tag:a,previous"));
  assert_false(selector_moves("tag:latest"));
  assert_false(selector_moves("run:1,tag:previous2"));
}
