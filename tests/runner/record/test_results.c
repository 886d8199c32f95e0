/* What comparing reads of a database, and the names of several runs. */
#include "engine/base/strbuf.h"
#include "engine/machine/machine.h"
#include "runner/record/results.h"
#include "runner/record/selector.h"
#include "tests/runner/record/fixture.h"

#include <math.h>

struct opened {
  struct fixture *fixture;
  struct database *database;
  struct results *results;
};

/* Run 1 of three processes with tag a, run 2 of two with tag a, run 3 of one under another driver.
 */
static int set_up(void **state) {
  struct opened *opened = memory_new(1, sizeof *opened);
  opened->fixture = fixture_new();
  opened->fixture->info.tag = "a";
  fixture_record_run(opened->fixture, 3);
  fixture_record_run(opened->fixture, 2);
  opened->fixture->info.tag = NULL;
  fixture_set_fact(opened->fixture, "driver_version", "590.1.2");
  fixture_record_run(opened->fixture, 1);
  opened->database = fixture_open(opened->fixture, DATABASE_WRITE);
  opened->results = results_new();
  *state = opened;
  return 0;
}

static int tear_down(void **state) {
  SCOPED(memory_free) struct opened *opened = *state;
  results_free(opened->results);
  database_close(opened->database);
  fixture_free(opened->fixture);
  return 0;
}

#define OPENED_TEST(name) TEST_WITH(name, set_up, tear_down, struct opened *opened)

static void add_runs(struct opened *opened, const int64_t *ids, size_t count) {
  struct error err = {0};
  for (size_t i = 0; i < count; i++) {
    const struct run_ref run = {.id = ids[i]};
    assert_ok(results_add_runs(opened->results, opened->database, &run, 1, &err), &err);
  }
}

OPENED_TEST(medians_equal_those_of_case_run) {
  struct results *m = opened->results;
  add_runs(opened, (const int64_t[]){1, 2, 1}, 3);
  assert_int_equal(m->run_count, 2); /* once each */
  assert_int_equal(m->environment_count, 1);
  assert_ok(results_load(m, opened->database, NULL, err), err);
  assert_int_equal(m->case_count, FIXTURE_CASES);
  /* Five processes of each case but the skipped one, which each run has once. */
  assert_int_equal(m->median_count, 5 * (FIXTURE_CASES - 1) + 2);
  double sum = 0;
  size_t ok = 0;
  for (size_t i = 0; i < m->median_count; i++) {
    if (!isnan(m->medians[i].ns)) {
      sum += m->medians[i].ns;
      ok++;
    }
    if (i > 0) {
      assert_true(m->medians[i].bench >= m->medians[i - 1].bench);
    }
  }
  PRINTED(found, 64, "%zu %.0f", ok, round(sum));
  assert_query(opened->fixture,
               "select count(*) || ' ' || cast(round(sum(median_ns)) as integer) from case_run "
               "where run in (1, 2) and status = 'ok'",
               found);
}

static void load_errors(struct opened *opened) {
  struct error err;
  add_runs(opened, (const int64_t[]){1, 2}, 2);
  assert_ok(results_load(opened->results, opened->database, NULL, &err), &err);
  assert_ok(results_load_errors(opened->results, opened->database, &err), &err);
  assert_int_not_equal(opened->results->median_count, 0);
}

/* From the interval of its trials; of noise that more trials do not average out, from their spread.
 * The first and the last process of run 1 have none. */
OPENED_TEST(medians_know_their_error) {
  struct results *m = opened->results;
  fixture_execute(
      opened->fixture->path,
      "update case_run set median_ns = 1000, median_low_ns = 990, median_high_ns = 1010, "
      "p5_ns = 900, p95_ns = 1100, noise = iif(run = 1, 'white', 'dips') where status = 'ok'");
  fixture_execute(opened->fixture->path, "update case_run set status = 'failed', reason = 'x' "
                                         "where status = 'ok' and process in (1, 3)");
  load_errors(opened);
  for (size_t i = 0; i < m->median_count; i++) {
    if (m->medians[i].status == CASE_OK) {
      const double expected = m->medians[i].run == 0 ? 0.02 / 3.92 : 0.2 / 3.29;
      assert_true(fabs(m->medians[i].error - expected) < 1e-6);
    }
  }
}

/* In whatever order the file has processes and results. */
OPENED_TEST(errors_go_to_their_medians) {
  struct results *m = opened->results;
  fixture_execute(opened->fixture->path,
                  "update process set ordinal = 99 - ordinal; update case_run set id = 1000000 - "
                  "id; update case_run set median_ns = 1000, median_low_ns = 990 - process, "
                  "median_high_ns = 1010 + process, p95_ns = 1100 + process, noise = NULL "
                  "where status = 'ok'");
  load_errors(opened);
  for (size_t i = 0; i < m->median_count; i++) {
    const double process = m->medians[i].status == CASE_OK ? (double)m->medians[i].process : NAN;
    const double error = isnan(process) ? 0 : (20 + 2 * process) / 3920;
    const double tail = isnan(process) ? 0 : (1100 + process) / 1000;
    assert_true(fabs(m->medians[i].error - error) < 1e-9);
    assert_true(fabs(m->medians[i].tail - tail) < 1e-9);
  }
}

/* Notes alike are one condition of their run. A result of the first process stands behind those of
 * all others: each is counted once, for its own run. */
OPENED_TEST(conditions_count_the_results_that_were_slowed) {
  struct results *m = opened->results;
  fixture_execute(opened->fixture->path,
                  "delete from check_result; update run set status = 'done'; update case_run set "
                  "id = (select max(id) + 1 from "
                  "case_run) where id = (select min(id) from case_run where process = 1)");
  fixture_execute(opened->fixture->path,
                  "delete from case_note; insert into case_note (case_run, ordinal, kind, gpu, "
                  "what, amount) select id, 3, 'throttled', 0, 'heat', 10 + run from case_run "
                  "where process is not null");
  add_runs(opened, (const int64_t[]){1, 2}, 2);
  assert_ok(results_load(m, opened->database, NULL, err), err);
  assert_int_equal(m->condition_count, 2);
  assert_string_equal(m->conditions[0].text, "gpu0 throttled by heat for 11 % of the time");
  assert_string_equal(m->conditions[1].text, "gpu0 throttled by heat for 12 % of the time");
  assert_string_equal(m->conditions[1].brief, "gpu0 throttled by heat");
  assert_int_equal(m->conditions[1].gpu, 0);
  PRINTED(found, 64, "%u %u", m->conditions[0].results, m->conditions[1].results);
  assert_query(opened->fixture,
               "select group_concat(n, ' ') from (select count(process) as n from case_run where "
               "run in (1, 2) group by run order by run)",
               found);
}

OPENED_TEST(a_check_that_failed_again_when_the_run_was_resumed_is_one_condition) {
  struct results *m = opened->results;
  fixture_execute(opened->fixture->path,
                  "delete from case_note; update run set status = 'done'; insert into check_result "
                  "select run, name, gpu, checked_at_ns + 60000000000, status, on_fail, want, "
                  "'schedutil', on_unknown from check_result where run = 1");
  add_runs(opened, (const int64_t[]){1}, 1);
  assert_ok(results_load(m, opened->database, NULL, err), err);
  assert_int_equal(m->condition_count, 1);
  assert_string_equal(m->conditions[0].text,
                      "check governor failed: found schedutil, wanted performance");
}

/* Tables are made by the ids of cases. */
OPENED_TEST(ids_that_haul_never_gives_are_refused) {
  static const char *const ids[] = {"-5", "3000000000"};
  add_runs(opened, (const int64_t[]){1, 2}, 2);
  for (size_t i = 0; i < COUNT_OF(ids); i++) {
    PRINTED(sql, 256,
            "pragma foreign_keys = off; update plan_case set bench_case = %s where bench_case = "
            "(select max(bench_case) from plan_case)",
            ids[i]);
    fixture_execute(opened->fixture->path, sql);
    assert_fails(results_load(opened->results, opened->database, NULL, err), STATUS_INVALID, err,
                 ids[i]);
  }
}

/* The peak is that of the run's own plan. */
OPENED_TEST(what_is_above_its_peak_is_known_run_by_run) {
  struct results *m = opened->results;
  fixture_execute(opened->fixture->path,
                  "update plan_case set traffic_bytes = 1010, peak_bytes_per_second = iif(run = 1, "
                  "1000000000, 1000000000000)");
  fixture_execute(opened->fixture->path,
                  "update case_run set median_ns = iif(process = 2, 1001, 999) where status = "
                  "'ok'");
  add_runs(opened, (const int64_t[]){1, 2}, 2);
  assert_ok(results_load(m, opened->database, NULL, err), err);
  size_t above = 0;
  for (size_t i = 0; i < m->median_count; i++) {
    const struct results_median *median = &m->medians[i];
    assert_int_equal(median->above_peak,
                     median->status == CASE_OK && median->run == 0 && median->process != 2);
    above += median->above_peak;
  }
  assert_int_equal(above, 2 * (FIXTURE_CASES - 1));
}

OPENED_TEST(cases_are_chosen_by_glob_block_and_key) {
  static const struct {
    const char *only;
    size_t cases;
  } CHOICES[] = {{"*", FIXTURE_CASES}, {"h2d/*", 1},
                 {"host", 1},          {"00000000000000000000000000000000", 1},
                 {"nothing", 0},       {"", 0}};
  for (size_t i = 0; i < COUNT_OF(CHOICES); i++) {
    results_free(opened->results);
    opened->results = results_new();
    add_runs(opened, (const int64_t[]){1}, 1);
    assert_ok(results_load(opened->results, opened->database, CHOICES[i].only, err), err);
    assert_int_equal(opened->results->case_count, CHOICES[i].cases);
  }
}

static size_t case_named(const struct results *m, const char *block) {
  const size_t found = FIRST_OF(i, m->case_count, strcmp(m->cases[i].block, block) == 0);
  assert_true(found < m->case_count);
  return found;
}

OPENED_TEST(cases_know_their_gpus_and_hardware) {
  struct results *m = opened->results;
  add_runs(opened, (const int64_t[]){1, 3}, 2);
  assert_ok(results_load(m, opened->database, NULL, err), err);
  const size_t up = case_named(m, "h2d");
  const size_t both = case_named(m, "d2d");
  const size_t host = case_named(m, "host");
  assert_int_equal(m->cases[up].gpus, 2);
  assert_int_equal(m->cases[both].gpus, 3);
  assert_int_equal(m->cases[both].flow_count, 2);
  assert_int_equal(m->cases[host].gpus, 0);
  assert_int_equal(m->cases[case_named(m, "latency")].figure, FIGURE_HOP);
  assert_int_equal(m->cases[up].figure, FIGURE_RATE);
  assert_true(m->cases[up].units >= m->cases[up].size_bytes);
  /* Another driver is not other hardware. */
  assert_true(results_hardware(m, 0, host) != 0);
  assert_true(results_hardware(m, 0, host) == results_hardware(m, 1, host));
  assert_true(results_hardware(m, 0, up) == results_hardware(m, 1, up));
}

OPENED_TEST(facts_are_found_by_name) {
  struct results *m = opened->results;
  fixture_execute(opened->fixture->path,
                  "update environment set cuda_state = 'no driver' where id = 2");
  assert_ok(results_add_all_runs(m, opened->database, err), err);
  assert_int_equal(m->run_count, 3);
  assert_int_equal(m->environment_count, 2);
  assert_string_equal(results_run_fact(m, 2, "driver_version"), "590.1.2");
  assert_string_equal(results_run_fact(m, 0, "cuda_state"), "ok");
  assert_null(results_run_fact(m, 2, "cuda_state")); /* whatever words say why */
  assert_string_equal(results_run_fact(m, 0, "tag"), "a");
  assert_null(results_run_fact(m, 2, "tag"));
  assert_string_equal(results_run_fact(m, 0, "origin"), "measured");
  assert_string_equal(results_run_fact(m, 0, "host_name"), "testhost");
  assert_string_equal(results_run_fact(m, 0, "simulated"), "1");
  assert_true(results_knows_fact(m, "kernel"));
  assert_false(results_knows_fact(m, "kernle"));
  size_t count = 0;
  for (const char *const *name = results_fact_names(m); name[count] != NULL; count++) {
    if (count > 0) {
      assert_true(strcmp(name[count - 1], name[count]) < 0);
    }
  }
  assert_true(count > 10);
}

OPENED_TEST(skipped_case_has_reason) {
  struct results *m = opened->results;
  const char *reason = NULL;
  add_runs(opened, (const int64_t[]){1}, 1);
  assert_ok(results_load(m, opened->database, NULL, err), err);
  assert_ok(results_reason(m, opened->database, 0, case_named(m, "um"), &reason, err), err);
  assert_memory_equal(reason, "skipped: ", 9);
  assert_ok(results_reason(m, opened->database, 0, case_named(m, "h2d"), &reason, err), err);
  assert_null(reason);
}

OPENED_TEST(unknown_run_is_an_error) {
  const struct run_ref run = {.id = 99};
  assert_fails(results_add_runs(opened->results, opened->database, &run, 1, err), STATUS_NOT_FOUND,
               err, "there is no run 99");
  assert_int_equal(opened->results->run_count, 0);
}

static size_t count_named(struct opened *opened, const char *selector) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct run_list list;
  struct error err = {0};
  assert_ok(selector_find_all(opened->database, selector, &arena, &list, &err), &err);
  return list.count;
}

OPENED_TEST(names_select_all_their_runs) {
  assert_int_equal(count_named(opened, "tag:a"), 2);
  assert_int_equal(count_named(opened, "driver:590.1.2"), 1);
  assert_int_equal(count_named(opened, "latest"), 1);
  assert_int_equal(count_named(opened, "1,3"), 2);
  assert_int_equal(count_named(opened, "1,tag:a,run:2"), 2);
  SCOPED(arena_fini) struct arena arena = {0};
  struct run_list list;
  assert_int_equal(selector_find_all(opened->database, "1,tag:x", &arena, &list, err),
                   STATUS_NOT_FOUND);
  assert_int_equal(selector_find_all(opened->database, "1,", &arena, &list, err), STATUS_INVALID);
}

OPENED_TEST(baselines_keep_their_runs) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct run_list list;
  struct run_ref run;
  bool replaced = true;
  assert_ok(selector_find_all(opened->database, "tag:a", &arena, &list, err), err);
  assert_ok(baseline_set(opened->database, "good", &list, &replaced, err), err);
  assert_false(replaced);
  assert_int_equal(count_named(opened, "baseline:good"), 2);
  assert_ok(selector_find(opened->database, "baseline:good", &run, err), err);
  assert_int_equal(run.id, 2);
  list.count = 1;
  assert_ok(baseline_set(opened->database, "good", &list, &replaced, err), err);
  assert_true(replaced);
  assert_int_equal(count_named(opened, "baseline:good"), 1);
  assert_fails(selector_find(opened->database, "baseline:bad", &run, err), STATUS_NOT_FOUND, err,
               "there is no baseline \"bad\"; there is: good");
  assert_ok(baseline_remove(opened->database, "good", err), err);
  assert_int_equal(baseline_remove(opened->database, "good", err), STATUS_NOT_FOUND);
}

/* Of the runs that say what matters, the one started last, for every case of that key. */
OPENED_TEST(delta_of_the_last_run_counts) {
  struct fixture *fixture = opened->fixture;
  fixture->cases[0].def.measure.delta = 0.02;
  fixture->cases[2].def.measure.delta = 0.5;
  fixture_record_run(fixture, 1);
  fixture->cases[0].def.measure.delta = 0.005;
  fixture->cases[2].def.measure.delta = 0; /* says nothing, and changes nothing */
  fixture_record_run(fixture, 1);
  const int64_t runs[] = {5, 4, 1};
  add_runs(opened, runs, 3);
  assert_ok(results_load(opened->results, opened->database, NULL, err), err);
  size_t said = 0;
  for (size_t i = 0; i < opened->results->case_count; i++) {
    const struct results_case *bench = &opened->results->cases[i];
    const double want = strcmp(bench->key, fixture->cases[0].def.key) == 0   ? 0.005
                        : strcmp(bench->key, fixture->cases[2].def.key) == 0 ? 0.5
                                                                             : 0;
    assert_true(bench->delta == want);
    said += bench->delta > 0;
  }
  assert_int_equal(said, 2);
}

/* GPUs of one machine may differ: each value once. */
OPENED_TEST(a_fact_of_gpus_has_every_value) {
  machine_add_fact(opened->fixture->machine, "vbios", 0, FACT_OK, "96.00.1");
  machine_add_fact(opened->fixture->machine, "vbios", 1, FACT_OK, "96.00.2");
  fixture_record_run(opened->fixture, 1);
  fixture_set_fact(opened->fixture, "vbios", "96.00.2"); /* of GPU 0 */
  fixture_record_run(opened->fixture, 1);
  add_runs(opened, (const int64_t[]){1, 4, 5}, 3);
  assert_null(results_run_fact(opened->results, 0, "vbios"));
  assert_string_equal(results_run_fact(opened->results, 1, "vbios"), "96.00.1, 96.00.2");
  assert_string_equal(results_run_fact(opened->results, 2, "vbios"), "96.00.2");
}

OPENED_TEST(comparing_reads_the_index_alone) {
  SCOPED(strbuf_fini) struct strbuf plan;
  sqlite3_stmt *stmt = NULL;
  strbuf_init(&plan, 4096);
  SCOPED(memory_free) char *medians = database_sql("compare/medians");
  strbuf_printf(&plan, "explain query plan %s", medians);
  assert_int_equal(sqlite3_prepare_v2(opened->database->handle, plan.text, -1, &stmt, NULL),
                   SQLITE_OK);
  assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
  const char *detail = (const char *)sqlite3_column_text(stmt, 3);
  assert_contains(detail, "USING COVERING INDEX case_run_by_bench_case");
  assert_contains(detail, "bench_case=? AND run=?");
  (void)sqlite3_finalize(stmt);
}
