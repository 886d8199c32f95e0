#include "runner/record/migrate.h"
#include "runner/record/query.h"

#include "runner/record/saved.h"
#include "tests/runner/record/fixture.h"

#include <unistd.h>

RELEASE(query_close, struct query)

struct opened {
  struct fixture *fixture;
  struct query *query;
};

/* Two runs, of one and of two processes. */
static int set_up(void **state) {
  static struct opened opened;
  struct error err = {0};
  opened.fixture = fixture_new();
  fixture_record_run(opened.fixture, 1);
  opened.fixture->info.tag = "second";
  fixture_record_run(opened.fixture, 2);
  *state = &opened;
  return query_open(opened.fixture->path, &opened.query, &err) == STATUS_OK ? 0 : -1;
}

static int tear_down(void **state) {
  struct opened *opened = *state;
  query_close(opened->query);
  fixture_free(opened->fixture);
  return 0;
}

TEST_GROUP(set_up, tear_down);

/* What a query gives as CSV; caller frees. */
static char *csv_of(struct query *query, const char *sql, const char *saved,
                    const struct query_parameter *parameters, size_t count) {
  CAPTURE(text);
  struct table_options options = {.format = OUTPUT_CSV, .stream = text.stream};
  struct table *rows = table_new(&options);
  struct error err = {0};
  enum status status =
      sql != NULL ? query_run(query, sql, parameters, count, NULL, table_sink(rows), &err)
                  : query_run_saved(query, saved, parameters, count, NULL, table_sink(rows), &err);
  table_free(rows);
  if (status != STATUS_OK) {
    fail_msg("%s: %s", sql != NULL ? sql : saved, err.message);
  }
  return capture_take(&text);
}

static enum status run(struct query *query, const char *sql,
                       const struct query_parameter *parameters, size_t count,
                       const struct query_options *limits, struct error *err) {
  FILE *stream = fopen("/dev/null", "w");
  struct table_options options = {.format = OUTPUT_CSV, .stream = stream};
  struct table *rows = table_new(&options);
  enum status status = query_run(query, sql, parameters, count, limits, table_sink(rows), err);
  table_free(rows);
  (void)fclose(stream);
  return status;
}

static void assert_refused(struct query *query, const char *sql, enum status expected,
                           const char *words) {
  struct error err = {0};
  assert_fails(run(query, sql, NULL, 0, NULL, &err), expected, &err, words);
}

static void assert_csv(struct query *query, const char *sql,
                       const struct query_parameter *parameters, size_t count,
                       const char *expected) {
  SCOPED(memory_free) char *text = csv_of(query, sql, NULL, parameters, count);
  assert_string_equal(text, expected);
}

TEST(rows_keep_their_types, struct opened *opened) {
  assert_csv(opened->query,
             "select 1 as i, 0.1 as r, 'a,b' as t, x'00ff' as b, null as n -- done\n;  ", NULL, 0,
             "i,r,t,b,n\r\n1,0.1,\"a,b\",00ff,\r\n");
  assert_csv(opened->query,
             "with recursive n(i) as (values (1) union all select i + 1 from n where "
             "i < 3) select i from n",
             NULL, 0, "i\r\n1\r\n2\r\n3\r\n");
}

TEST(parameters_are_bound, struct opened *opened) {
  const struct query_parameter first = {"run", "1"};
  const struct query_parameter values[] = {{"i", "7"}, {":r", "1.5"}, {"t", "seven"}};
  assert_csv(opened->query, "select processes from v_run where run = :run", NULL, 0,
             "processes\r\n2\r\n");
  assert_csv(opened->query, "select processes from v_run where run = :run", &first, 1,
             "processes\r\n1\r\n");
  assert_csv(opened->query, "select typeof(:i), typeof($r), typeof(@t)", values, 3,
             "typeof(:i),typeof($r),typeof(@t)\r\ninteger,real,text\r\n");
  assert_refused(opened->query, "select :x", STATUS_USAGE, ":x has no value: add --param x=VALUE");
  assert_refused(opened->query, "select :x, :y", STATUS_USAGE, "");
  assert_refused(opened->query, "select ?", STATUS_USAGE, "");
  assert_fails(run(opened->query, "select 1", &first, 1, NULL, err), STATUS_USAGE, err,
               "no parameter :run, and none at all");
  assert_fails(run(opened->query, "select :x, :y", &first, 1, NULL, err), STATUS_USAGE, err,
               "no parameter :run: it has :x, :y");
  const struct query_parameter unknown = {"run", "tag:none"};
  assert_int_equal(run(opened->query, "select :run", &unknown, 1, NULL, err), STATUS_NOT_FOUND);
}

/* Which takes longer than to run it: the pages of a site run the same ones for each run. */
TEST(a_saved_query_is_prepared_once, struct opened *opened) {
  static const char *const RUNS[] = {"1", "2", "1"};
  sqlite3 *handle = query_database(opened->query)->handle;
  for (size_t i = 0; i < COUNT_OF(RUNS); i++) {
    const struct query_parameter of = {"run", RUNS[i]};
    SCOPED(memory_free) char *cases = csv_of(opened->query, NULL, "cases", &of, 1);
    SCOPED(memory_free) char *table = csv_of(opened->query, NULL, "run-table", &of, 1);
    int count = 0;
    int again = 0;
    for (sqlite3_stmt *stmt = NULL; (stmt = sqlite3_next_stmt(handle, stmt)) != NULL;) {
      count += strstr(sqlite3_sql(stmt), "FROM v_case c\nWHERE c.run = :run") != NULL;
      again += sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_REPREPARE, 1);
    }
    assert_int_equal(count, 1);
    assert_true(again == 0 || i == 0); /* SQL of users came before */
    assert_string_not_equal(cases, table);
  }
}

TEST(writing_is_refused, struct opened *opened) {
  static const char *const WRITING[] = {
      "delete from trial",
      "update run set tag = 'x'",
      "insert into scenario (key) values ('x')",
      "create table t (x)",
      "create temp table t (x)",
      "create view v as select 1",
      "drop table trial",
      "attach '/tmp/haul-attached.db' as other",
      "detach main",
      "begin",
      "savepoint s",
      "vacuum",
      "vacuum into '/tmp/haul-vacuumed.db'",
      "reindex",
      "analyze",
      "pragma user_version = 3",
      "pragma journal_mode = wal",
      "pragma writable_schema = on",
      "pragma query_only = off",
      "pragma foreign_keys = off",
      "select load_extension('x')",
      "select fts3_tokenizer('simple', x'4141414141414141')",
      "explain delete from trial",
  };
  for (size_t i = 0; i < COUNT_OF(WRITING); i++) {
    assert_refused(opened->query, WRITING[i], STATUS_DENIED, "queries cannot ");
  }
  assert_refused(opened->query, "update sqlite_master set sql = 'x'", STATUS_INVALID,
                 "may not be modified");
  assert_int_not_equal(access("/tmp/haul-attached.db", F_OK), 0);
  assert_int_not_equal(access("/tmp/haul-vacuumed.db", F_OK), 0);
  PRINTED(version, 40, "user_version\r\n%d\r\n", migrate_latest_version());
  assert_csv(opened->query, "pragma user_version", NULL, 0, version);
  assert_csv(opened->query, "select count(*) > 50 as n from pragma_table_info('v_case')", NULL, 0,
             "n\r\n1\r\n");
  assert_csv(opened->query, "select count(*) as n from trial", NULL, 0, "n\r\n750\r\n");
}

TEST(mistakes_are_located, struct opened *opened) {
  assert_fails(run(opened->query, "select *\n  form v_case", NULL, 0, NULL, err), STATUS_INVALID,
               err, "syntax error");
#if SQLITE_VERSION_NUMBER >= 3038000
  assert_int_equal(err->position.line, 2);
  assert_int_equal(err->position.column, 3);
  assert_contains(err->message, "line 2, column 3: near \"form\"");
#endif
}

static const struct {
  const char *sql, *words;
} MISTAKES[] = {
    {"select nonsense from v_case", "nonsense"},
    {"select gpbs from v_case", "no such column: gpbs: did you mean \"gbps\"?"},
    {"select c.case_nme from v_case c", "no such column: c.case_nme: did you mean \"case_name\"?"},
    {"select host from v_run", "no such column: host: did you mean \"host_name\"?"},
    {"select v_run.\"\" from v_run", "no such column: v_run.; haul schema v_run lists its columns"},
    /* "id" is a column of other tables: it is not what was meant. */
    {"select id from v_run", "no such column: id; haul schema v_run lists its columns"},
    {"select id from v_run, v_case", "no such column: id; haul schema views lists the views"},
    {"select serialised from v_run_case",
     "no such column: serialised in v_run_case; v_case has it: JOIN (SELECT DISTINCT "
     "run, bench_case, serialised FROM v_case) USING (run, bench_case)"},
    {"select verified from v_note",
     "verified in v_note; v_case has it: JOIN (SELECT DISTINCT run, case_run, "
     "verified FROM v_case) USING (run, case_run)"},
    {"select axes from v_result",
     "axes in v_result; v_run_case has it: JOIN (SELECT DISTINCT run, case_name, axes "
     "FROM v_run_case) USING (run, case_name)"},
    {"select sentence from v_run", "sentence in v_run; v_note_kind has it"},
    {"select ecc from v_gpu",
     "no such column: ecc; it is a fact: SELECT gpu, value FROM v_fact WHERE run = "
     ":run AND fact = 'ecc'"},
    {"select bandwidth from v_case", "did you mean \"gbps\"?"},
    {"select gbps from v_result", "did you mean \"value\"?"},
    {"select start_time from v_case", "did you mean \"case_started_at_ns\"?"},
    {"select run from v_run where scenario = \"quick\"",
     "no such column: quick; text goes in single quotes: 'quick'"},
    {"select run from v_run where scenario = quick",
     "no such column: quick; text goes in single quotes: 'quick'"},
    {"select * from v_runcase", "no such table: v_runcase: did you mean \"v_run_case\"?"},
    {"select 1 from trials", "no such table: trials: did you mean \"v_trial\"?"},
    {"select driver from v_case", "no such column: driver: did you mean \"driver_version\"?"},
    {"select median(gbps) from v_case", "v_case has the median"},
    {"select case, gbps from v_case", "the column is case_name"},
    {"run-result", "syntax error; run-result is a saved query: haul query --saved run-result"},
    {"describe v_run", "syntax error; haul schema v_run explains its columns"},
    {"select started_at from v_trial", "did you mean \"trial_started_at_ns\"?"},
    {"show tables", "haul schema views lists the views"},
    {"select * from whatever_else",
     "no such table: whatever_else; haul schema views lists the views"},
    /* Not quietly the text "ok". */
    {"select 1 where status = \"ok\"", "no such column"},
    {"", "no SQL"},
    {" -- nothing\n", "no SQL"},
    {"select 1; select 2", "one statement at a time"},
};

TEST(mistakes_are_explained, struct opened *opened) {
  for (size_t i = 0; i < COUNT_OF(MISTAKES); i++) {
    assert_refused(opened->query, MISTAKES[i].sql, STATUS_INVALID, MISTAKES[i].words);
  }
}

/* The rest of the message behind these words, of a query that is refused; caller frees. */
static char *advice_of(struct query *query, const char *sql, const char *words) {
  struct error err = {0};
  const enum status status = run(query, sql, NULL, 0, NULL, &err);
  const char *at = strstr(err.message, words);
  if (status != STATUS_INVALID || at == NULL) {
    fail_msg("%s: %s, %s", sql, status_text(status), err.message);
  }
  return strdup(at + strlen(words));
}

static void assert_advice_joins(struct query *query, const char *columns, const char *view,
                                const char *rest) {
  PRINTED(sql, 512, "select %s from %s %s", columns, view, rest);
  SCOPED(memory_free) char *join = advice_of(query, sql, " has it: ");
  PRINTED(joined, 1024, "select %s from %s %s %s", columns, view, join, rest);
  PRINTED(counted, 1200, "select count(*) > 0, count(*) - (select count(*) from %s %s) from (%s)",
          view, rest, joined);
  SCOPED(memory_free) char *rows = csv_of(query, counted, NULL, NULL, 0);
  if (strstr(rows, "\r\n1,0\r\n") == NULL) { /* as many as without the join */
    fail_msg("%s: %s", joined, rows);
  }
}

TEST(advice_leads_to_sql_that_runs, struct opened *opened) {
  assert_advice_joins(opened->query, "direction, size_bytes, gbps, host_cache", "v_run_case",
                      "where run = 2");
  assert_advice_joins(opened->query, "run, case_name, axes", "v_result", "where status = 'ok'");
  assert_advice_joins(opened->query, "r.run, r.tag, numa_node", "v_run r", "order by run");
  assert_advice_joins(opened->query, "trial, case_name, verified", "v_trial", "where run = 1");
  static const struct {
    const char *before, *column, *after;
  } AMBIGUOUS[] = {
      {"select ", "direction", " from v_run_case join v_case using (run, bench_case)"},
      {"select c.run, ", "case_name", " from v_run_case as k, v_case c where c.run = k.run"},
      {"select v_case.run, ", "method", " from v_result, v_case"},
      {"select ", "driver_version", " from v_gpu join v_run using (run)"},
  };
  for (size_t i = 0; i < COUNT_OF(AMBIGUOUS); i++) {
    PRINTED(sql, 512, "%s%s%s", AMBIGUOUS[i].before, AMBIGUOUS[i].column, AMBIGUOUS[i].after);
    SCOPED(memory_free) char *name = advice_of(opened->query, sql, ", as in ");
    PRINTED(told, 512, "%s%s%s", AMBIGUOUS[i].before, name, AMBIGUOUS[i].after);
    assert_ok(run(opened->query, told, NULL, 0, NULL, err), err);
  }
}

TEST(long_queries_end, struct opened *opened) {
  const char *endless = "with recursive n(i) as (values (1) union all select i + 1 from n) "
                        "select count(*) from n";
  const volatile sig_atomic_t interrupted = 1;
  struct query_options limits = {.time_limit_ns = 20000000};
  assert_int_equal(run(opened->query, endless, NULL, 0, &limits, err), STATUS_TIMEOUT);
  assert_string_equal(err->message, "the query took longer than 0.02 s");
  limits = (struct query_options){.interrupted = &interrupted};
  assert_int_equal(run(opened->query, endless, NULL, 0, &limits, err), STATUS_INTERRUPTED);
  assert_ok(run(opened->query, "select 1", NULL, 0, NULL, err), err);
}

TEST(query_ends_when_reader_is_gone, struct opened *opened) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  (void)signal(SIGPIPE, SIG_IGN);
  (void)close(ends[0]);
  FILE *stream = fdopen(ends[1], "w");
  struct table_options options = {.format = OUTPUT_JSONL, .stream = stream};
  struct table *rows = table_new(&options);
  assert_ok(query_run(opened->query,
                      "with recursive n(i) as (values (1) union all select i + 1 from n) "
                      "select i from n",
                      NULL, 0, NULL, table_sink(rows), err),
            err);
  assert_true(table_reader_gone(rows));
  table_free(rows);
  (void)fclose(stream);
}

/* What it shows is not in every database: results of a certain scenario, sweeps, or what people
 * set. */
static bool may_be_empty(const struct saved_query *saved) {
  return strstr(saved->sql, "r.scenario ") != NULL || strcmp(saved->name, "baselines") == 0 ||
         strcmp(saved->name, "curves") == 0 || strcmp(saved->name, "steps") == 0 ||
         strcmp(saved->name, "changes") == 0 || strncmp(saved->name, "node-", 5) == 0 ||
         strncmp(saved->name, "fingerprint", 11) == 0;
}

/* Whether each word of a list, with ",", ";" or "|" between, is a column of that CSV. */
static void assert_columns(const char *csv, const char *list, const char *query) {
  SCOPED(memory_free) char *header = strndup(csv, strcspn(csv, "\r"));
  SCOPED(memory_free) char *names = strdup(list != NULL ? list : "");
  char *rest = names;
  for (char *name = strsep(&rest, ",;|"); name != NULL; name = strsep(&rest, ",;|")) {
    name += strspn(name, " ");
    bool found = name[0] == '\0';
    SCOPED(memory_free) char *columns = strdup(header);
    char *at = columns;
    for (char *column = strsep(&at, ","); column != NULL && !found; column = strsep(&at, ",")) {
      found = strcmp(column, name) == 0;
    }
    if (!found) {
      fail_msg("%s names the column %s, which it does not have: %s", query, name, header);
    }
  }
}

/* What a query says of its plots is true of its columns. */
static void assert_plots(const struct saved_query *saved, const char *csv) {
  if (saved->narrow == NULL) {
    fail_msg("%s has no narrow: line, so that a narrow terminal turns its rows", saved->name);
  }
  assert_columns(csv, saved->narrow, saved->name);
  for (size_t p = 0; p < saved->plot_count; p++) {
    const struct saved_plot *plot = &saved->plots[p];
    if (plot->x == NULL || plot->y == NULL || (plot->low == NULL) != (plot->high == NULL)) {
      fail_msg("%s: a plot has x and y, and low with high", saved->name);
    }
    const char *const lists[] = {plot->x,     plot->y,  plot->low,  plot->high,
                                 plot->curve, plot->by, plot->peak, plot->axis};
    for (size_t l = 0; l < COUNT_OF(lists); l++) {
      assert_columns(csv, lists[l], saved->name);
    }
  }
}

TEST(every_saved_query_is_described_and_runs, struct opened *opened) {
  SCOPED(arena_fini) struct arena arena = {0};
  size_t abouts = 0;
  size_t ofs = 0;
  assert_true(saved_query_count() >= 5);
  for (size_t i = 0; i < saved_query_count(); i++) {
    struct saved_query saved;
    saved_query_at(i, &arena, &saved);
    if (strlen(saved.title) < 10 || saved.title[strlen(saved.title) - 1] != '.' ||
        strlen(saved.shows) < 20) {
      fail_msg("%s has no title or description", saved.name);
    }
    if ((saved.about == NULL) == (saved.of == NULL)) {
      fail_msg("%s: an about: line is for queries without an of: line", saved.name);
    }
    abouts +=
        saved.about != NULL && strstr("results machine comparison fleet", saved.about) != NULL;
    ofs += saved.of != NULL;
    for (size_t p = 0; p < saved.parameter_count; p++) {
      assert_non_null(saved.parameters[p].standard);
      assert_non_null(saved.parameters[p].help);
      assert_contains(saved.sql, saved.parameters[p].name);
    }
    SCOPED(memory_free) char *text = csv_of(opened->query, NULL, saved.name, NULL, 0);
    for (size_t c = 0; c < saved.column_count; c++) {
      assert_columns(text, saved.columns[c].names, saved.name);
      assert_string_not_equal(saved.columns[c].meaning, "");
    }
    assert_plots(&saved, text);
    size_t lines = 0;
    for (const char *p = text; *p != '\0'; p++) {
      lines += *p == '\n';
    }
    if (lines < (may_be_empty(&saved) ? 1 : 2)) {
      fail_msg("%s gives no rows:\n%s", saved.name, text);
    }
    if (lines < 2 && saved.of == NULL && saved.empty == NULL) {
      fail_msg("%s has no empty: line", saved.name);
    }
  }
  assert_int_equal(abouts + ofs, saved_query_count());
}

/* Numbers of one, two and three digits. */
TEST(reasons_that_differ_in_numbers_are_one) {
  SCOPED(fixture_free_at) struct fixture *fixture = fixture_new();
  SCOPED(query_close_at) struct query *query = NULL;
  fixture->cases[0].skip_reason = "GPU 9 has no managed memory";
  fixture->cases[FIXTURE_SKIPPED].skip_reason = "GPU 12 has no managed memory";
  fixture->cases[3].skip_reason = "GPU 120 has no managed memory";
  fixture->cases[4].skip_reason = "GPU 12 has no memory";
  fixture_record_run(fixture, 1);
  fixture_execute(fixture->path, "UPDATE bench_case SET block = 'one'");
  assert_ok(query_open(fixture->path, &query, err), err);
  char *skipped = csv_of(query, NULL, "skipped", NULL, 0);
  assert_contains(skipped, "one,\"GPU 12 has no managed memory, and others like it\",3,");
  assert_contains(skipped, "one,GPU 12 has no memory,1,");
  free(skipped);
  SCOPED(memory_free) char *without = csv_of(query, NULL, "not-measured", NULL, 0);
  assert_non_null(
      strstr(without, "skipped,3,one,,\"GPU 12 has no managed memory, and others like it\","));
  assert_contains(without, "skipped,1,one,,GPU 12 has no memory,");
}

/* Cases without a row: the run ended, or was killed, before them. */
TEST(cases_of_a_stopped_run_are_not_measured) {
  SCOPED(fixture_free_at) struct fixture *fixture = fixture_new();
  SCOPED(query_close_at) struct query *query = NULL;
  fixture->cases[FIXTURE_SKIPPED].skip_reason = "no GPU";
  fixture_record_run(fixture, 1);
  fixture_execute(fixture->path, "DELETE FROM case_run WHERE bench_case IN (4, 5)");
  fixture_execute(fixture->path, "UPDATE run SET status = 'interrupted', reason = 'out of time'");
  assert_ok(query_open(fixture->path, &query, err), err);
  char *text = csv_of(query, NULL, "not-measured", NULL, 0);
  assert_contains(text, "\r\nnot measured,2,");
  assert_contains(text, ",out of time,");
  assert_contains(text, "\r\nskipped,1,");
  free(text);
  fixture_execute(fixture->path, "UPDATE run SET processes = 2"); /* the second one did not come */
  SCOPED(memory_free) char *half = csv_of(query, NULL, "not-measured", NULL, 0);
  assert_contains(half, "\r\nnot measured,3,");
  assert_contains(half, ",in 1 of 2 processes: out of time,");
  fixture_execute(fixture->path, "UPDATE run SET status = 'running', reason = NULL");
  text = csv_of(query, NULL, "not-measured", NULL, 0);
  assert_contains(text, ",\"the run was killed, or has not ended\",");
  free(text);
}

/* What is a curve is drawn. */
TEST(saved_queries_of_curves_have_plots) {
  static const char *const DRAWN[] = {"arithmetic-throughput",
                                      "block-trend",
                                      "cache-bandwidth",
                                      "comm-scope-figure",
                                      "curves",
                                      "fingerprint",
                                      "grid-sweep",
                                      "host-latency",
                                      "interference",
                                      "loaded-latency",
                                      "memory-hierarchy",
                                      "opening",
                                      "scattered-copies",
                                      "stream",
                                      "stream-sequence",
                                      "shared-cache-gpus",
                                      "shared-cache-scaling",
                                      "shared-memory-latency",
                                      "trials",
                                      "um-access",
                                      "um-coherence"};
  SCOPED(arena_fini) struct arena arena = {0};
  size_t drawn = 0;
  for (size_t i = 0; i < saved_query_count(); i++) {
    struct saved_query saved;
    saved_query_at(i, &arena, &saved);
    drawn += saved.plot_count > 0;
  }
  for (size_t i = 0; i < COUNT_OF(DRAWN); i++) {
    struct saved_query saved;
    assert_ok(saved_query_find(DRAWN[i], &arena, &saved, err), err);
    assert_true(saved.plot_count > 0);
  }
  assert_int_equal(drawn, COUNT_OF(DRAWN));
}

/* Of a run that was resumed twice: the check failed, failed otherwise, and passed at last. */
TEST(checks_of_a_resumed_run_count_once, struct opened *opened) {
  static const struct query_parameter RUN = {"run", "1"};
  fixture_execute(opened->fixture->path,
                  "insert into check_result select run, name, gpu, checked_at_ns + 60000000000, "
                  "status, on_fail, want, 'schedutil', on_unknown from check_result where run = 1; "
                  "insert into check_result select run, name, gpu, checked_at_ns + 90000000000, "
                  "'passed', on_fail, want, want, on_unknown from check_result where run = 1 and "
                  "found = 'powersave'");
  SCOPED(memory_free) char *checks = csv_of(opened->query, NULL, "checks", &RUN, 1);
  assert_string_equal(checks, "check,gpu,status,want,found,on_fail,on_unknown\r\n"
                              "governor,,failed,performance,schedutil,warn,record\r\n");
  SCOPED(memory_free) char *summary = csv_of(opened->query, NULL, "run-summary", &RUN, 1);
  assert_contains(summary, ",1,1,\r\n"); /* checks, checks_failed, pruned_at */
  fixture_execute(opened->fixture->path,
                  "insert into fleet (key, name) values (hex(zeroblob(16)), 'resumed'); "
                  "update run set fleet = last_insert_rowid() where id = 1");
  assert_csv(opened->query,
             "select r.checks_failed as run, n.checks_failed as node from v_run r "
             "join v_node n on n.run = r.run where r.run = 1",
             NULL, 0, "run,node\r\n1,1\r\n");
}

TEST(saved_queries_take_parameters, struct opened *opened) {
  const struct query_parameter parameters[] = {{"run", "tag:nightly"}, {"block", "h*"}};
  SCOPED(memory_free) char *text = csv_of(opened->query, NULL, "run-table", parameters, 2);
  assert_contains(text, "h2d/numa0:pinned-gpu1/64MiB,55.");
  assert_contains(text, "host/numa0-numa1/4KiB");
  assert_null(strstr(text, "d2d"));
  const struct query_parameter bad = {"limit", "many"};
  struct row_sink sink = {0};
  assert_fails(query_run_saved(opened->query, "runs", &bad, 1, NULL, &sink, err), STATUS_USAGE, err,
               "must be a whole number");
  static const char *const NUMBERS[] = {"much", "0.9x", ""};
  for (size_t i = 0; i < COUNT_OF(NUMBERS); i++) {
    const struct query_parameter share = {"share", NUMBERS[i]};
    assert_fails(query_run_saved(opened->query, "knee", &share, 1, NULL, &sink, err), STATUS_USAGE,
                 err, "must be a number");
  }
  assert_int_equal(query_run_saved(opened->query, "nope", NULL, 0, NULL, &sink, err),
                   STATUS_NOT_FOUND);
  assert_contains(err->message, "haul list queries lists all ");
}

/* Drivers may be exchanged more than once, as where two are measured in turn. */
TEST(a_change_back_is_a_row) {
  static const char *const DRIVERS[] = {"580.159.04", "590.1.2", "580.159.04", "590.1.2"};
  SCOPED(fixture_free_at) struct fixture *fixture = fixture_new();
  SCOPED(query_close_at) struct query *query = NULL;
  for (size_t i = 0; i < COUNT_OF(DRIVERS); i++) {
    fixture_set_fact(fixture, "driver_version", DRIVERS[i]);
    fixture_record_run(fixture, 1);
  }
  assert_ok(query_open(fixture->path, &query, err), err);
  SCOPED(memory_free) char *text = csv_of(query, NULL, "changes", NULL, 0);
  assert_contains(text, ",driver_version,580.159.04,590.1.2,1,");
  assert_contains(text, ",2\r\n");
  assert_contains(text, ",driver_version,590.1.2,580.159.04,1,");
}

/* Runs have 100,000 cases: what is looked up for each of them must not go over all of the run. */
TEST(query_time_is_linear_in_rows, struct opened *opened) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct saved_query saved;
  const struct query_parameter parameters[] = {{"run", "latest"}, {"block", "*"}};
  assert_ok(saved_query_find("run-result", &arena, &saved, err), err);
  SCOPED(memory_free)
  char *text = csv_of(opened->query, arena_format(&arena, "EXPLAIN QUERY PLAN\n%s", saved.sql),
                      NULL, parameters, 2);
  size_t over_all = 0;
  for (const char *at = text; (at = strstr(at, "(run=?)")) != NULL; at++) {
    over_all++;
  }
  /* Once for each part of v_place, whose rows lead to the results. */
  const char *scan = strstr(text, "SCAN ");
  bool scans_another = false; /* but for the list of kinds of notes */
  for (const char *at = text; (at = strstr(at, "SCAN ")) != NULL; at++) {
    scans_another = scans_another || (at != scan && strncmp(at, "SCAN k\r", 7) != 0 &&
                                      strncmp(at + 7, " CONSTANT ROWS", 14) != 0);
  }
  if (over_all != 2 || scan == NULL || strncmp(scan, "SCAN p\r", 7) != 0 || scans_another) {
    fail_msg("goes over a run %zu times:\n%s", over_all, text);
  }
}

TEST(results_can_be_read_while_they_are_written, struct opened *opened) {
  SCOPED(record_close_at) struct record *record = NULL;
  assert_ok(record_open(opened->fixture->path, &record, err), err);
  assert_ok(record_begin_run(record, &opened->fixture->info, opened->fixture->machine,
                             &opened->fixture->plan, NULL, 0, err),
            err);
  assert_csv(opened->query, "select count(*) as n from v_run where status = 'running'", NULL, 0,
             "n\r\n1\r\n");
  assert_ok(record_end_run(record, "done", NULL, err), err);
}
