/* Every rule of haul explain on a recorded run of two H200 that is changed for it: the rule finds
 * it, and no other does. With --write: writes the rules into docs/EXPLAIN.md anew. */
#include "runner/analysis/explain.h"

#include "engine/machine/machine.h"
#include "runner/record/record.h"
#include "runner/table/text.h"
#include "tests/cmocka.h"

#include <math.h>
#include <unistd.h>

RELEASE(database_close, struct database)

enum { TEXT_MAX = 1 << 17, LINE_WIDTH = 116 };

static const char DOCUMENT[] = HAUL_SOURCE_DIR "/docs/EXPLAIN.md";
static const char MARK[] = "rules_*.sql. -->\n";

static char *file_content(const char *path) {
  FILE *file = fopen(path, "r");
  char *text = memory_new(1, TEXT_MAX);
  assert_non_null(file);

  assert_true(fread(text, 1, TEXT_MAX - 1, file) > 0);
  assert_int_equal(fclose(file), 0);
  return text;
}

static char *file_text(const char *name) {
  PRINTED(path, 256, HAUL_SOURCE_DIR "/tests/data/%s", name);
  return file_content(path);
}

/* A recorded run in a database of its own. */
static struct database *recorded_run(void) {
  struct error err = {0};
  struct database *database = NULL;
  SCOPED(memory_free) char *recorded = file_text("explain-h200x2.sql");
  if (database_open_temporary(&database, &err) != STATUS_OK ||
      database_run_sql(database, recorded, &err) != STATUS_OK) {
    fail_msg("%s", err.message);
  }
  return database;
}

/* It, changed by that SQL (NULL = as it was), explained; then it is as before. */
static void explain_database(struct database *database, const char *change,
                             const struct explain_request *request,
                             struct explanation *explanation) {
  struct error err = {0};
  enum status status = database_begin(database, &err);
  if (status == STATUS_OK && change != NULL) {
    status = database_run_sql(database, change, &err);
  }
  if (status != STATUS_OK || explain_find(database, request, explanation, &err) != STATUS_OK) {
    fail_msg("%s", err.message);
  }
  database_rollback(database);
}

static void explain_changed(const char *change, const char *only, struct explanation *explanation) {
  SCOPED(database_close_at) struct database *database = recorded_run();
  const struct explain_request request = {.run = 1, .only = only};
  explain_database(database, change, &request, explanation);
}

static const struct explain_row *row_of(const struct explanation *explanation, const char *rule,
                                        enum explain_state state) {
  for (size_t i = 0; i < explanation->row_count; i++) {
    if (strcmp(explanation->rows[i].rule->name, rule) == 0 && explanation->rows[i].state == state) {
      return &explanation->rows[i];
    }
  }
  return NULL;
}

/* Notes that are true of the recorded machine. */
static bool is_usual(const char *rule) {
  return strcmp(rule, "ecc") == 0 || strcmp(rule, "virtual_machine") == 0;
}

TEST(nothing_is_found_on_the_recorded_run) {
  SCOPED(explanation_fini) struct explanation explanation;
  explain_changed(NULL, NULL, &explanation);
  assert_int_equal(explanation.findings, 0);
  assert_int_equal(explanation.notes, 2);
  assert_non_null(row_of(&explanation, "ecc", EXPLAIN_FOUND));
  assert_non_null(row_of(&explanation, "virtual_machine", EXPLAIN_FOUND));
  assert_int_equal(explanation.findings + explanation.notes + explanation.unknown +
                       explanation.fine + explanation.absent,
                   explanation.rules.count);
  /* Its facts were recorded before haul read these. */
  const struct explain_row *fabric = row_of(&explanation, "fabric", EXPLAIN_UNKNOWN);
  assert_non_null(fabric);
  assert_string_equal(fabric->evidence, "not recorded");
  const struct explain_row *turbo = row_of(&explanation, "turbo", EXPLAIN_UNKNOWN);
  assert_non_null(turbo);
  assert_string_equal(turbo->evidence, "unavailable: the kernel has no switch for it here");
}

/* Three processes of which none stands out. */
TEST(processes_that_are_alike_are_no_finding) {
  SCOPED(explanation_fini) struct explanation explanation;
  explain_changed("UPDATE run SET processes = 3;"
                  "INSERT INTO process (id, run, ordinal, pid, workers, started_at_ns) VALUES"
                  "  (2, 1, 1, 1, 1, 0), (3, 1, 2, 1, 1, 0);"
                  "INSERT INTO case_run (run, process, bench_case, status, n, median_ns)"
                  "  SELECT c.run, p.id, c.bench_case, c.status, c.n, 0.995 * c.median_ns"
                  "  FROM case_run c JOIN process p ON p.ordinal > 0 WHERE c.status = 'ok';",
                  NULL, &explanation);
  assert_int_equal(explanation.findings, 0);
  assert_non_null(row_of(&explanation, "cold_process", EXPLAIN_NOT_FOUND));
}

/* 16 KiB at half the rate of 32 KiB, and up to a third of it: no step beyond doubt. */
TEST(batches_that_may_be_as_fast_are_no_finding) {
  SCOPED(explanation_fini) struct explanation explanation;
  explain_changed("UPDATE flow SET piece_bytes = 16384 * (1 + (bench_case = 9)), submit = 'batch'"
                  "  WHERE bench_case IN (1, 9) AND source_place = 'numa';"
                  "UPDATE case_run SET (median_low_ns, median_high_ns) = (SELECT 2 * median_ns,"
                  "  6 * median_ns FROM case_run WHERE bench_case = 9) WHERE bench_case = 1;",
                  NULL, &explanation);
  assert_non_null(row_of(&explanation, "small_batches", EXPLAIN_NOT_FOUND));
}

TEST(each_rule_finds_its_machine_and_no_other_does) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct explain_rules rules;
  SCOPED(memory_free) char *changes = file_text("explain-rules.sql");
  SCOPED(database_close_at) struct database *database = recorded_run();
  const struct explain_request request = {.run = 1};
  explain_read_rules(&arena, &rules);
  assert_true(rules.count > 30);
  for (size_t i = 0; i < rules.count; i++) {
    const struct explain_rule *rule = &rules.items[i];
    const char *head = arena_format(&arena, "-- name: %s\n", rule->name);
    const char *begin = strstr(changes, head);
    if (begin == NULL) {
      fail_msg("tests/data/explain-rules.sql has no section %s", rule->name);
      return;
    }
    begin += strlen(head);
    const char *end = strstr(begin, "-- name: ");
    const char *change =
        arena_strndup(&arena, begin, end != NULL ? (size_t)(end - begin) : strlen(begin));
    struct explanation explanation;
    explain_database(database, change, &request, &explanation);
    for (size_t j = 0; j < explanation.row_count; j++) {
      const struct explain_row *row = &explanation.rows[j];
      if (row->state == EXPLAIN_FOUND && strcmp(row->rule->name, rule->name) != 0 &&
          !is_usual(row->rule->name)) {
        fail_msg("the machine of %s is found by %s: %s", rule->name, row->rule->name,
                 row->evidence);
      }
    }
    const struct explain_row *row = row_of(&explanation, rule->name, EXPLAIN_FOUND);
    if (row == NULL) {
      fail_msg("%s does not find its machine", rule->name);
      return;
    }
    assert_non_null(row->evidence);
    assert_int_equal(explanation.findings, rule->note ? 0 : 1);
    explanation_fini(&explanation);
  }
}

TEST(every_rule_has_its_texts) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct explain_rules rules;
  explain_read_rules(&arena, &rules);
  for (size_t i = 0; i < rules.count; i++) {
    const struct explain_rule *rule = &rules.items[i];
    if (rule->title == NULL || rule->reads == NULL || rule->touches == NULL ||
        rule->costs == NULL || rule->action == NULL || rule->source == NULL) {
      fail_msg("rule %s lacks a text", rule->name);
    }
  }
}

/* ---- the document ---- */

static void put_paragraph(struct strbuf *text, const char *first, const char *paragraph) {
  SCOPED(strbuf_fini) struct strbuf whole;
  strbuf_init(&whole, TEXT_MAX);
  strbuf_printf(&whole, "%s%s", first, paragraph);
  text_wrap(text, whole.text, LINE_WIDTH, 2, false);
  strbuf_append(text, "\n");
}

static void put_rules(struct strbuf *text) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct explain_rules rules;
  explain_read_rules(&arena, &rules);
  for (size_t i = 0; i < rules.count; i++) {
    const struct explain_rule *rule = &rules.items[i];
    strbuf_printf(text, "\n### `%s`: %s\n\n", rule->name, rule->title);
    put_paragraph(text, "- ", arena_format(&arena, "Usual cost: %s", rule->costs));
    put_paragraph(text, "- ", arena_format(&arena, "Do: %s", rule->action));
    put_paragraph(text, "- ",
                  arena_format(&arena, "%s: affects `%s`. Evidence: %s",
                               rule->note ? "Note" : "Finding", rule->touches, rule->reads));
    put_paragraph(text, "- ", arena_format(&arena, "Source: %s", rule->source));
  }
}

TEST(the_document_has_the_rules) {
  SCOPED(strbuf_fini) struct strbuf rules;
  strbuf_init(&rules, TEXT_MAX);
  put_rules(&rules);
  SCOPED(memory_free) char *document = file_content(DOCUMENT);
  const char *mark = strstr(document, MARK);
  assert_non_null(mark);
  if (strcmp(mark + strlen(MARK), rules.text) != 0) {
    fail_msg("docs/EXPLAIN.md has other rules: cmake --build BUILD --target update_reference");
  }
}

static int write_document(void) {
  SCOPED(strbuf_fini) struct strbuf whole;
  strbuf_init(&whole, TEXT_MAX);
  SCOPED(memory_free) char *document = file_content(DOCUMENT);
  const char *mark = strstr(document, MARK);
  if (mark == NULL) {
    return EXIT_FAILURE;
  }
  strbuf_printf(&whole, "%.*s", (int)(mark + strlen(MARK) - document), document);
  put_rules(&whole);
  FILE *file = fopen(DOCUMENT, "w");
  const bool written = file != NULL && fputs(whole.text, file) >= 0;
  const bool closed = file != NULL && fclose(file) == 0;
  return written && closed ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Idle links are slow; what counts is the best that was seen under load. */
TEST(a_link_that_trains_down_at_idle_is_no_finding) {
  SCOPED(explanation_fini) struct explanation explanation;
  explain_changed("UPDATE telemetry SET pcie_generation = 1 WHERE at_ns > (SELECT min(at_ns) FROM "
                  "telemetry) + 5e8;",
                  NULL, &explanation);
  assert_int_equal(explanation.findings, 0);
  assert_non_null(row_of(&explanation, "pcie_link", EXPLAIN_NOT_FOUND));
}

TEST(what_was_not_sampled_is_not_known) {
  SCOPED(explanation_fini) struct explanation explanation;
  explain_changed("DELETE FROM telemetry;", NULL, &explanation);
  assert_int_equal(explanation.findings, 0);
  assert_non_null(row_of(&explanation, "pcie_link", EXPLAIN_UNKNOWN));
  assert_non_null(row_of(&explanation, "throttled_heat", EXPLAIN_UNKNOWN));
  assert_non_null(row_of(&explanation, "gpu_in_use", EXPLAIN_UNKNOWN));
  assert_null(row_of(&explanation, "throttled_heat", EXPLAIN_NOT_FOUND));
}

TEST(findings_come_by_how_far_their_cases_are_behind) {
  static const char SLOW[] =
      "UPDATE environment_fact SET value = 'locked' WHERE name = 'gpu_clocks' AND gpu = 0;"
      "UPDATE telemetry SET pcie_width = 8 WHERE gpu = 1;"
      "UPDATE case_run SET median_ns = 2 * median_ns WHERE bench_case IN (SELECT f.bench_case "
      "FROM flow f JOIN bench_case b ON b.id = f.bench_case WHERE f.gpu = 1 "
      "AND b.block LIKE 'host_to_device_memcpy%');";
  struct explanation explanation;
  explain_changed(SLOW, NULL, &explanation);
  assert_int_equal(explanation.findings, 2);
  const struct explain_row *first = &explanation.rows[0];
  assert_string_equal(first->rule->name, "pcie_link");
  assert_int_equal(first->gpu, 1);
  assert_string_equal(first->worst, "host_to_device_memcpy_ce/numa0:pinned-gpu1/64MiB");
  assert_true(fabs(first->behind - 0.51) < 0.01);
  assert_int_equal(first->cases, 17);
  assert_string_equal(explanation.rows[1].rule->name, "gpu_clocks");
  explanation_fini(&explanation);
  /* Cases that the link has nothing to do with. */
  explain_changed(SLOW, "device_local_copy", &explanation);
  assert_int_equal(explanation.findings, 1);
  assert_string_equal(explanation.rows[0].rule->name, "gpu_clocks");
  assert_int_equal(explanation.rows[0].cases, 1);
  assert_int_equal(explanation.cases, 2);
  explanation_fini(&explanation);
}

/* Both GPUs at once are slow; another pair of the same node is so too, or is not. */
TEST(a_set_of_gpus_that_alone_is_slow_shares_an_uplink) {
  static const char PAIRS[] =
      "CREATE TEMP TABLE c AS SELECT * FROM bench_case WHERE block = 'all_to_host_memcpy_ce';"
      "CREATE TEMP TABLE f AS SELECT * FROM flow WHERE bench_case IN (SELECT id FROM c);"
      "CREATE TEMP TABLE p AS SELECT * FROM plan_case WHERE bench_case IN (SELECT id FROM c);"
      "UPDATE p SET bench_case = 999, position = 999;"
      "CREATE TEMP TABLE r AS SELECT * FROM case_run WHERE bench_case IN (SELECT id FROM c);"
      "UPDATE case_run SET median_ns = 1.9 * median_ns WHERE bench_case IN (SELECT id FROM c);"
      "UPDATE c SET id = 999, key = printf('%%032d', 0), name = 'another';"
      "UPDATE f SET bench_case = 999; UPDATE r SET id = 999, bench_case = 999, median_ns = %s * "
      "median_ns;"
      "INSERT INTO bench_case SELECT * FROM c; INSERT INTO flow SELECT * FROM f;"
      "INSERT INTO plan_case SELECT * FROM p;"
      "INSERT INTO case_run SELECT * FROM r;"
      "DROP TABLE c; DROP TABLE f; DROP TABLE p; DROP TABLE r;";
  static const struct {
    const char *times, *rule, *evidence;
  } CASES[] = {{"1.0", "shared_uplink", "; not so another: "},
               {"1.9", "host_at_once", "; a virtual machine does not see the uplinks"}};
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    struct explanation explanation;
    PRINTED(change, sizeof PAIRS + 8, PAIRS, CASES[i].times);
    explain_changed(change, NULL, &explanation);
    assert_int_equal(explanation.findings, i == 0);
    const struct explain_row *row = row_of(&explanation, CASES[i].rule, EXPLAIN_FOUND);
    assert_non_null(row);
    assert_contains(row->evidence, CASES[i].evidence);
    explanation_fini(&explanation);
  }
}

/* Of GPUs below one root port it is not said that each has its own, where they lose nothing either.
 */
TEST(a_root_port_that_is_shared_is_not_one_each) {
  SCOPED(explanation_fini) struct explanation explanation;
  explain_changed("UPDATE environment_fact SET value = 'none' WHERE name = 'hypervisor';"
                  "INSERT INTO environment_fact VALUES (1, 'pcie_path', 0, 'ok', '0000:00:01.0'),"
                  "(1, 'pcie_path', 1, 'ok', '0000:00:01.0');",
                  NULL, &explanation);
  const struct explain_row *row = row_of(&explanation, "host_at_once", EXPLAIN_NOT_FOUND);
  assert_non_null(row);
  assert_contains(row->evidence, "; below one root port: gpu0 gpu1");
  assert_null(strstr(row->evidence, "of its own"));
}

static char *key_of(struct database *database, const char *case_name) {
  sqlite3_stmt *stmt = NULL;
  const char *sql = "SELECT case_key FROM bench_case WHERE name = ?1";
  assert_int_equal(sqlite3_prepare_v2(database->handle, sql, -1, &stmt, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_bind_text(stmt, 1, case_name, -1, SQLITE_STATIC), SQLITE_OK);
  assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
  char *key = strdup((const char *)sqlite3_column_text(stmt, 0));
  assert_non_null(key);
  assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
  return key;
}

/* Cases below the expected range come first, however little they are behind other places. */
TEST(findings_come_by_what_is_expected) {
  static const char CHANGE[] =
      "UPDATE environment_fact SET value = 'locked' WHERE name = 'gpu_clocks' AND gpu = 0;"
      "UPDATE telemetry SET pcie_width = 8 WHERE gpu = 1;"
      "UPDATE case_run SET median_ns = 2 * median_ns WHERE bench_case IN (SELECT id FROM "
      "bench_case "
      "WHERE name = 'host_to_device_memcpy_ce/numa0:pinned-gpu1/64MiB');";
  struct explanation explanation;
  struct database *database = recorded_run();
  /* The second is of a GPU that no finding about its memory touches. */
  struct explain_shortfall shortfalls[] = {
      {.case_key = key_of(database, "device_local_copy/gpu0-gpu0/2GiB"), .lack = 0.1},
      {.case_key = key_of(database, "device_local_copy/gpu1-gpu1/2GiB"), .lack = 0.2},
  };
  const struct explain_request request = {.run = 1, .shortfalls = shortfalls, .shortfall_count = 2};
  explain_database(database, CHANGE, &request, &explanation);
  assert_int_equal(explanation.findings, 2);
  assert_string_equal(explanation.rows[0].rule->name, "gpu_clocks");
  assert_int_equal(explanation.rows[0].shortfalls, 1);
  assert_true(explanation.rows[0].lack > 0.09 && explanation.rows[0].lack < 0.11);
  assert_string_equal(explanation.rows[1].rule->name, "pcie_link");
  assert_int_equal(explanation.rows[1].shortfalls, 0);
  assert_true(shortfalls[0].touched);
  assert_false(shortfalls[1].touched);
  explanation_fini(&explanation);
  database_close(database);
  free((void *)shortfalls[0].case_key);
  free((void *)shortfalls[1].case_key);
}

/* Read through a copy that is otherwise not written. */
TEST(a_run_of_an_older_schema_is_explained) {
  char path[] = "/tmp/haul-explain-XXXXXX";
  const int file = mkstemp(path);
  struct database *database = NULL;
  struct explanation explanation;
  sqlite3 *older = NULL;
  SCOPED(memory_free) char *recorded = file_text("results-1002.sql");
  assert_true(file >= 0);
  assert_int_equal(close(file), 0);
  assert_int_equal(sqlite3_open(path, &older), SQLITE_OK);
  assert_int_equal(sqlite3_exec(older, recorded, NULL, NULL, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_close(older), SQLITE_OK);
  assert_ok(database_open(path, DATABASE_READ, &database, err), err);
  assert_int_equal(database->file_version, 1002);
  assert_ok(explain_find(database, &(struct explain_request){.run = 1}, &explanation, err), err);
  assert_string_equal(explanation.host, "testhost");
  assert_int_equal(explanation.findings, 0);
  explanation_fini(&explanation);
  database_close(database);
  assert_int_equal(remove(path), 0);
}

/* The state of the moment is a part of a machine alone. */
TEST(a_machine_alone_is_explained) {
  SCOPED(memory_free) struct machine *machine = machine_new();
  (void)snprintf(machine->cuda_state, sizeof machine->cuda_state, "ok");
  machine->gpu_count = 2;
  machine->node_count = 1;
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    machine->gpus[i] = (struct gpu){.pcie_generation_max = 5,
                                    .pcie_width_max = 16,
                                    .pcie_generation = i == 0 ? 1 : 5,
                                    .pcie_width = 8,
                                    .process_count = i == 0,
                                    .utilization_percent = 0};
    (void)snprintf(machine->gpus[i].name, sizeof machine->gpus[i].name, "a GPU");
    machine->links[i][1 - i] = (struct gpu_link){.peer_access = true};
  }
  SCOPED(database_close_at) struct database *database = NULL;
  SCOPED(explanation_fini) struct explanation explanation;
  assert_ok(record_machine(machine, &database, err), err);
  assert_ok(explain_find(database, &(struct explain_request){0}, &explanation, err), err);
  assert_null(explanation.run_uuid);
  assert_int_equal(explanation.findings, 2);
  assert_int_equal(row_of(&explanation, "pcie_link", EXPLAIN_FOUND)->gpu, 1);
  assert_string_equal(row_of(&explanation, "pcie_link", EXPLAIN_FOUND)->evidence,
                      "gen5 x8, best gen5 x16, when it was idle");
  assert_int_equal(row_of(&explanation, "pcie_link", EXPLAIN_UNKNOWN)->gpu, 0);
  assert_int_equal(row_of(&explanation, "gpu_in_use", EXPLAIN_FOUND)->gpu, 0);
  assert_null(row_of(&explanation, "throttled_heat", EXPLAIN_UNKNOWN));
}

int test_options(int argc, char **argv) {
  return argc > 1 && strcmp(argv[1], "--write") == 0 ? write_document() : TEST_GO_ON;
}
