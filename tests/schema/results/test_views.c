/* The views against their documentation, in the stock shell, and in databases of released schemas.
 */
#include "engine/machine/machine.h"
#include "runner/record/query.h"
#include "runner/record/saved.h"
#include "runner/table/result_set.h"
#include "schema/results/results_sql.h"
#include "tests/runner/record/fixture.h"

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

RELEASE(query_close, struct query)

static char *read_file(const char *path) {
  return bytes_read(path).data;
}

/* Columns of a view, one per line, by the database and in its order; caller frees. */
static char *columns_of(const struct fixture *fixture, const char *view) {
  PRINTED(sql, 160, "select group_concat(name, char(10)) from pragma_table_info('%s')", view);
  return fixture_query(fixture, sql);
}

enum { DOCUMENTED_MAX = 256, MEANING_MAX = 1000 };

struct documented {
  size_t count;
  struct documented_column {
    char name[64];
    char meaning[MEANING_MAX];
  } columns[DOCUMENTED_MAX];
};

/* The same by the README: the rows of the tables below "## VIEW". A row has the names of columns,
 * ", " between, a unit (or a dash) and a meaning. Caller frees. */
static struct documented *documented(const char *readme, const char *view) {
  struct documented *found = memory_new(1, sizeof *found);
  PRINTED(heading, 64, "\n## %s\n", view);
  const char *line = strstr(readme, heading);
  if (line == NULL) {
    fail_msg("schema/results/README.md has no section %s", view);
  }
  line = line != NULL ? line + strlen(heading) : "";
  for (; *line != '\0' && strncmp(line, "## ", 3) != 0; line += strcspn(line, "\n") + 1) {
    char row[160] = "";
    char unit[32] = "";
    char meaning[MEANING_MAX] = "";
    if (*line != '|' || strncmp(line, "| column |", 10) == 0 || strncmp(line, "| --- |", 7) == 0) {
      continue;
    }
    if (sscanf(line, "| %159[^|]| %31[^|]| %999[^|\n]|", row, unit, meaning) != 3 ||
        strlen(meaning) < 4) {
      fail_msg("%s: not a row of a documented column: %.60s", view, line);
    }
    char *rest = row;
    for (char *name = strsep(&rest, ", "); name != NULL; name = strsep(&rest, ", ")) {
      if (name[0] != '\0') {
        assert_true(found->count < DOCUMENTED_MAX);
        struct documented_column *column = &found->columns[found->count++];
        (void)snprintf(column->name, sizeof column->name, "%s", name);
        (void)snprintf(column->meaning, sizeof column->meaning, "%s", meaning);
      }
    }
  }
  return found;
}

static const char *meaning_of(const struct documented *columns, const char *name) {
  for (size_t i = 0; i < columns->count; i++) {
    if (strcmp(columns->columns[i].name, name) == 0) {
      return columns->columns[i].meaning;
    }
  }
  return NULL;
}

/* "as in v_case" leads to a meaning: not to another reference, and not to nothing. */
static void check_references(const char *readme, const char *view,
                             const struct documented *columns) {
  for (size_t i = 0; i < columns->count; i++) {
    const struct documented_column *column = &columns->columns[i];
    char other[32];
    if (sscanf(column->meaning, "as in %20[a-z_]", other) != 1) {
      continue;
    }
    SCOPED(memory_free) struct documented *there = documented(readme, other);
    const char *meaning = meaning_of(there, column->name);
    if (meaning == NULL || strncmp(meaning, "as in", 5) == 0) {
      fail_msg("%s.%s: %s, which says: %s", view, column->name, column->meaning,
               meaning != NULL ? meaning : "nothing");
    }
  }
}

FIXTURE_TEST(every_column_is_documented) {
  fixture_record_run(fixture, 1);
  SCOPED(memory_free) char *readme = read_file(HAUL_SOURCE_DIR "/schema/results/README.md");
  SCOPED(memory_free)
  char *views = fixture_query(fixture, "select group_concat(name, ' ') from sqlite_master "
                                       "where type = 'view' order by name");
  size_t count = 0;
  char *rest = views;
  for (char *view = strsep(&rest, " "); view != NULL; view = strsep(&rest, " ")) {
    SCOPED(memory_free) char *columns = columns_of(fixture, view);
    SCOPED(memory_free) struct documented *documentation = documented(readme, view);
    size_t found = 0;
    char *line = columns;
    for (char *column = strsep(&line, "\n"); column != NULL; column = strsep(&line, "\n")) {
      if (meaning_of(documentation, column) == NULL) {
        fail_msg("schema/results/README.md does not say what %s.%s is", view, column);
      }
      found++;
    }
    assert_int_equal(documentation->count, found);
    check_references(readme, view, documentation);
    count++;
  }
  assert_true(count >= 6);
}

FIXTURE_TEST(every_table_is_documented) {
  fixture_record_run(fixture, 1);
  SCOPED(memory_free) char *readme = read_file(HAUL_SOURCE_DIR "/schema/results/README.md");
  SCOPED(memory_free)
  char *tables = fixture_query(fixture, "select group_concat(name, ' ') from sqlite_master "
                                        "where type = 'table'");
  char *rest = tables;
  for (char *table = strsep(&rest, " "); table != NULL; table = strsep(&rest, " ")) {
    PRINTED(row, 64, "\n| %s | ", table);
    assert_contains(readme, row);
  }
}

/* Exit code of the stock shell; its output is dropped, its errors are shown. -1: there is none. */
static int stock_shell(const char *path, const char *sql) {
  pid_t child = fork();
  if (child == 0) {
    if (freopen("/dev/null", "w", stdout) == NULL) {
      _exit(126);
    }
    (void)execlp("sqlite3", "sqlite3", "-bail", path, sql, (char *)NULL);
    _exit(127);
  }
  int result = 0;
  assert_int_equal(waitpid(child, &result, 0), child);
  assert_true(WIFEXITED(result));
  return WEXITSTATUS(result) == 127 ? -1 : WEXITSTATUS(result);
}

/* One list for C and for SQL. */
FIXTURE_TEST(kinds_of_notes_are_those_of_the_engine) {
  fixture_record_run(fixture, 1);
  for (int kind = 0; kind < note_kind_name_count; kind++) {
    PRINTED(sql, 128, "select slows || unit || sentence from v_note_kind where kind = '%s'",
            note_kind_names[kind]);
    PRINTED(words, 1024, "%d%s%s", note_slows((enum note_kind)kind),
            note_unit((enum note_kind)kind), note_sentence((enum note_kind)kind));
    assert_query(fixture, sql, words);
    /* Amounts in which results with the same note differ are not in v_note.brief. */
    if (note_unit((enum note_kind)kind)[0] != '\0') {
      const char *bar = strchr(words, '|');
      const char *amount = strstr(words, "{1}");
      assert_true(bar != NULL && amount != NULL && bar < amount);
    }
  }
  SCOPED(memory_free) char *count = fixture_query(fixture, "select count(*) from v_note_kind");
  assert_int_equal(atoi(count), note_kind_name_count);
}

/* Every ```sql block of docs/SQL.md gives rows on a recorded run. */
FIXTURE_TEST(questions_of_the_cookbook_are_answered) {
  fixture_record_run(fixture, 2);
  fixture_execute(fixture->path,
                  "insert into case_note (case_run, ordinal, kind, gpu, what, amount) "
                  "values (2, 9, 'throttled', 1, 'hw_thermal', 50); "
                  "update case_run set noise = 'dips', stop = 'time', "
                  "noise_size = 0.1, noise_ns = 5e6 where id = 2");
  SCOPED(query_close_at) struct query *query = NULL;
  assert_ok(query_open(fixture->path, &query, err), err);
  SCOPED(memory_free) char *readme = read_file(HAUL_SOURCE_DIR "/docs/SQL.md");
  size_t count = 0;
  char *rest = readme;
  for (char *sql; (sql = strstr(rest, "\n```sql\n")) != NULL; count++) {
    sql += strlen("\n```sql\n");
    char *end = strstr(sql, "\n```\n");
    assert_non_null(end);
    *end = '\0';
    rest = end + 1;
    struct result_set rows;
    result_set_init(&rows, 1000);
    if (query_run(query, sql, NULL, 0, NULL, &rows.sink, err) != STATUS_OK) {
      fail_msg("%s: %s", sql, err->message);
    }
    /* One machine does not differ from itself. */
    if (rows.row_count == 0 && strstr(sql, "HAVING different_values > 1") == NULL &&
        strstr(sql, "drivers > 1") == NULL) {
      fail_msg("no rows: %s", sql);
    }
    result_set_fini(&rows);
  }
  assert_true(count >= 20);
}

/* What is missing from a run: also what it did not come to. */
FIXTURE_TEST(cookbook_finds_cases_of_a_stopped_run) {
  fixture_record_run(fixture, 1);
  fixture_execute(fixture->path, "delete from case_run where bench_case in (4, 5); "
                                 "update run set status = 'interrupted', reason = 'out of time'");
  SCOPED(query_close_at) struct query *query = NULL;
  assert_ok(query_open(fixture->path, &query, err), err);
  SCOPED(memory_free) char *document = read_file(HAUL_SOURCE_DIR "/docs/SQL.md");
  char *sql = strstr(strstr(document, "\n### 3."), "\n```sql\n") + strlen("\n```sql\n");
  *strstr(sql, "\n```\n") = '\0';
  struct result_set rows;
  result_set_init(&rows, 10);
  assert_ok(query_run(query, sql, NULL, 0, NULL, &rows.sink, err), err);
  const size_t found = SUM_OF(i, rows.row_count,
                              strcmp(result_set_text(&rows, i, "status"), "interrupted") == 0 &&
                                  strcmp(result_set_text(&rows, i, "reason"), "out of time") == 0 &&
                                  atoi(result_set_text(&rows, i, "cases")) == 2);
  assert_int_equal(found, 1);
  result_set_fini(&rows);
}

/* A card that is plugged in elsewhere is found by its UUID. */
FIXTURE_TEST(gpu_is_followed_by_its_uuid) {
  fixture_record_run(fixture, 1);
  struct gpu *gpus = fixture->machine->gpus;
  (void)snprintf(gpus[0].uuid, sizeof gpus[0].uuid, "GPU-00000001");
  (void)snprintf(gpus[1].uuid, sizeof gpus[1].uuid, "GPU-00000000");
  fixture_record_run(fixture, 1);
  assert_query(fixture,
               "select group_concat(run || '=' || gpu_uuid || '@' || gpu_pci_address || '/' || "
               "target_uuid, ' ') from v_run_case where direction = 'host_to_device'",
               "1=GPU-00000001@0000:07:00.0/GPU-00000001 "
               "2=GPU-00000000@0000:07:00.0/GPU-00000000");
  assert_query(fixture,
               "select count(*) || ifnull(gpu_uuid, ' several') || "
               "source_memory from v_driver "
               "where direction = 'host_to_device'",
               "1 severalpinned");
  assert_query(fixture,
               "select group_concat(run || ':' || gpu || '=' || gpu_uuid || "
               "' ' || samples || ' ' || slowed_percent, ', ') "
               "from v_gpu where samples > 0",
               "1:1=GPU-00000001 5 0.0, 2:1=GPU-00000000 5 0.0");
}

FIXTURE_TEST(ways_name_both_ends) {
  fixture_record_run(fixture, 1);
  fixture_execute(
      fixture->path,
      "delete from flow; with e(o, a, i, m, b, j) as (values (1, 'numa', 1, 'pinned', 'gpu', 0), "
      "(2, 'gpu', 3, 'device', 'numa', 0), (3, 'gpu', 0, 'device', 'gpu', 2), "
      "(4, 'numa', 0, 'pageable', 'numa', 0), (5, 'numa', 0, 'pageable', 'numa', 1), "
      "(6, 'numa', 0, 'managed', 'gpu', 1), (7, 'gpu', 1, 'managed', 'numa', 0)) "
      "insert into flow (bench_case, ordinal, role, method, source_place, source_index, "
      "source_memory, target_place, target_index, target_memory, initiator, staged, size_bytes) "
      "select (select min(id) from bench_case), o, 'load', 'ce', a, i, m, b, j, m, 'source', 0, 1 "
      "from e");
  assert_query(fixture, "select group_concat(way, ', ') from v_case_flow",
               "host to GPU0, GPU3 to host, GPU0 to GPU2, within node0, node0 to node1, "
               "pages to GPU1, pages to host");
}

/* Else the sum of all flows reads as the rate of the first one's ends. */
FIXTURE_TEST(several_flows_are_named_by_their_group) {
  static const struct {
    const char *path, *ends;
  } PATHS[] = {{"gpu0..3-numa0:pinned", "gpu0..3 to numa0"},
               {"numa0:pinned-gpu0,2:ipc:process1", "numa0 to gpu0,2"},
               {"gpu0--gpu1", "gpu0 to gpu1"},
               {"5flows", "none"}};
  fixture_record_run(fixture, 1);
  for (size_t i = 0; i < COUNT_OF(PATHS); i++) {
    PRINTED(sql, 160, "update bench_case set path = '%s'", PATHS[i].path);
    fixture_execute(fixture->path, sql);
    char *ends =
        fixture_query(fixture, "select ifnull(source || ' to ' || target, 'none') || ' ' || "
                               "flows from v_result where flows > 1");
    PRINTED(expected, 64, "%s 2", PATHS[i].ends);
    assert_string_equal(ends, expected);
    free(ends);
    /* Of one flow and of other kinds it is the place, whatever the path says. */
    assert_query(fixture,
                 "select group_concat(source || ' to ' || target, ', ') from "
                 "v_result where flows < 2 and source is not null",
                 "numa0 to gpu1, numa0 to numa1, numa0 to gpu0");
  }
}

/* What the terminal says below a result is in v_result too. */
FIXTURE_TEST(missed_precision_is_in_the_remark) {
  fixture->cases[0].def.measure.precision = 0.01;
  fixture_record_run(fixture, 2);
  fixture_execute(fixture->path,
                  "delete from case_note; update case_run set noise = NULL, visits = NULL;"
                  "update case_run set stop = 'time', noise = 'dips' where id = "
                  "(select max(case_run) from v_case where block = 'h2d');"
                  "update case_run set stop = 'trials', noise = 'white', visits = 3 "
                  "where id in (select case_run from v_case where block = 'd2d')");
  assert_query(fixture,
               "select group_concat(r.remark || ' ' || r.converged || ' ' || c.stop || ' ' || "
               "ifnull(c.precision, 'none'), char(10)) from v_result r join v_run_case c "
               "using (run, case_name) where c.block in ('h2d', 'd2d') and r.status = 'ok'",
               "precision target missed when max_time ended 0 time 0.01\n"
               "noisy: measured 6 times, without an undisturbed rate 0 trials none");
}

/* Moments on one clock: of the trial, of its case, and of the samples. */
FIXTURE_TEST(trials_join_telemetry) {
  fixture_record_run(fixture, 1);
  assert_query(fixture,
               "select min(trial_started_at_ns = case_started_at_ns + start_ns) || ' ' || "
               "min(trial_started_at_ns between case_started_at_ns and case_ended_at_ns) || ' ' || "
               "min(abs(at_s - (trial_started_at_ns - v_run.started_at_ns) / 1e9) < 1e-6) "
               "from v_trial join v_case using (case_run) join v_run on v_run.run = v_trial.run",
               "1 1 1");
  assert_query(fixture,
               "select min(abs(t.at_s - (t.at_ns - r.started_at_ns) / 1e9) < 1e-6) "
               "from v_telemetry t join v_run r using (run)",
               "1");
}

FIXTURE_TEST(throttling_is_named) {
  fixture_record_run(fixture, 1);
  fixture_execute(fixture->path, "update telemetry set throttle_reasons = 1 | 4 | 64 "
                                 "where at_ns = (select max(at_ns) from telemetry)");
  assert_query(fixture, "select group_concat(slowed_by) from v_telemetry",
               "sw_power_cap, hw_thermal");
  assert_query(fixture,
               "select slowed_percent || ' ' || slowed_by from v_gpu "
               "where gpu = 1",
               "20.0 sw_power_cap, hw_thermal");
}

/* The counter is read before and after either end of the trials of one case: 16 to 18 J. */
FIXTURE_TEST(energy_has_bounds) {
  fixture_record_run(fixture, 1);
  assert_query(fixture,
               "select (select count(*) from v_energy) || ' ' || "
               "count(joules_per_gb) from v_case",
               "0 0");
  fixture_execute(fixture->path,
                  "create temp table w as select c.run, v.gpu, c.ended_at_ns as to_ns, "
                  "c.started_at_ns + (select min(start_ns) from trial t where t.case_run = c.id "
                  "and t.phase = 1) as from_ns from case_run c join v_case v on v.case_run = c.id "
                  "where v.direction = 'host_to_device' and c.status = 'ok' limit 1;"
                  "delete from telemetry;"
                  "insert into telemetry (run, gpu, at_ns, energy_mj) "
                  "select run, gpu, from_ns - 5, 1000 from w union all "
                  "select run, gpu, from_ns + 5, 2000 from w union all "
                  "select run, gpu, to_ns - 5, 18000 from w union all "
                  "select run, gpu, to_ns + 5, 19000 from w");
  assert_query(fixture,
               "select joules || ' ' || joules_error || ' ' || count(*) "
               "from v_energy",
               "17.0 1.0 1");
  assert_query(fixture,
               "select count(*) || ' ' || "
               "max(abs(joules_per_gb * y.gigabytes - 17) < 1e-9) || ' ' || "
               "max(abs(joules_per_gb_error * y.gigabytes - 1) < 1e-9) "
               "from v_case c join v_energy y on y.case_run = c.case_run",
               "1 1 1");
  /* A counter that stands still between samples may be a step behind, here of 16 J. */
  fixture_execute(fixture->path, "insert into telemetry (run, gpu, at_ns, energy_mj) "
                                 "select run, gpu, at_ns + 1, 2000 from telemetry "
                                 "where energy_mj = 2000");
  assert_query(fixture, "select joules || ' ' || joules_error from v_energy", "17.0 17.0");
  fixture_execute(fixture->path, "delete from telemetry where energy_mj = 2000 "
                                 "and at_ns = (select max(at_ns) from telemetry "
                                 "where energy_mj = 2000)");
  /* 10 to 18 J: a quarter off, or more. */
  fixture_execute(fixture->path, "update telemetry set energy_mj = 12000 where energy_mj = 18000");
  assert_query(fixture,
               "select joules_error || ' ' || (select count(joules_per_gb) "
               "from v_case) from v_energy",
               "4.0 0");
}

/* Names of all views; the caller frees. */
static char *views_of(const struct fixture *fixture) {
  return fixture_query(fixture, "select group_concat(name, ' ') from (select name from "
                                "sqlite_master where type = 'view' order by name)");
}

FIXTURE_TEST(stock_shell_reads_the_views) {
  fixture_record_run(fixture, 2);
  if (stock_shell(fixture->path, "select 1") == -1) {
    skip();
  }
  SCOPED(memory_free) char *views = views_of(fixture);
  char *rest = views;
  for (char *view = strsep(&rest, " "); view != NULL; view = strsep(&rest, " ")) {
    PRINTED(sql, 64, "select * from %s", view);
    assert_int_equal(stock_shell(fixture->path, sql), 0);
  }
}

/* Words that came to SQLite after 3.26. */
TEST(views_need_no_newer_sqlite) {
  static const char *const NEWER[] = {"iif(",       "FULL JOIN",   "RIGHT JOIN",  "RETURNING",
                                      "FILTER (",   "NULLS ",      "GENERATED",   "MATERIALIZED",
                                      "STRICT",     "format(",     "unixepoch()", "->>",
                                      "string_agg", "IS DISTINCT", "GROUPS ",     "EXCLUDE",
                                      "median(",    "sqrt(",       "ceil(",       " concat("};
  for (size_t i = 0; i < results_sql_count; i++) {
    const struct embedded_file *file = &results_sql[i];
    if (strncmp(file->name, "views", 5) != 0 && strncmp(file->name, "migrations/", 11) != 0 &&
        strncmp(file->name, "queries/", 8) != 0) {
      continue;
    }
    for (size_t word = 0; word < COUNT_OF(NEWER); word++) {
      if (strcasestr((const char *)file->data, NEWER[word]) != NULL) {
        fail_msg("%s uses %s, which SQLite 3.26 does not know", file->name, NEWER[word]);
      }
    }
  }
}

/* Columns and indices of every table, one per line; caller frees. */
static char *tables_of(const struct fixture *fixture) {
  return fixture_query(
      fixture,
      "select group_concat(line, char(10)) from (select t.name || '.' || c.cid || ' ' || c.name || "
      "' ' "
      "|| c.type || c.\"notnull\" || c.pk as line from sqlite_master t, pragma_table_info(t.name) "
      "c "
      "where t.type = 'table' union all select t.tbl_name || '/' || t.name || ' ' || i.seqno || ' "
      "' || "
      "ifnull(i.name, '') from sqlite_master t, pragma_index_info(t.name) i where t.type = 'index' "
      "order by 1)");
}

/* Every released schema is in tests/data/results-NNNN.sql, with rows in every table. A database
 * made of it is migrated when it is written to, has the tables and views of today, and keeps its
 * numbers. */
static void open_recorded(const char *name) {
  SCOPED(fixture_free_at) struct fixture *fixture = fixture_new();
  fixture_load(fixture, name);
  SCOPED(memory_free)
  char *before = fixture_query(fixture, "select group_concat(case_name || gbps) from "
                                        "(select * from v_case order by case_run)");
  assert_true(strlen(before) > 10);
  fixture->info.tag = "now";
  fixture_record_run(fixture, 1);
  assert_query(fixture,
               "select group_concat(case_name || gbps) from (select * "
               "from v_case where tag is not 'now' order by case_run)",
               before);

  SCOPED(fixture_free_at) struct fixture *fresh = fixture_new();
  fixture_record_run(fresh, 1);
  char *opened = tables_of(fixture);
  char *made = tables_of(fresh);
  assert_string_equal(opened, made);
  free(opened);
  free(made);
  /* Else a database of that version goes on with its old views: add a migration. */
  SCOPED(memory_free) char *views = views_of(fresh);
  char *rest = views;
  for (char *view = strsep(&rest, " "); view != NULL; view = strsep(&rest, " ")) {
    opened = columns_of(fixture, view);
    made = columns_of(fresh, view);
    assert_string_equal(opened, made);
    free(opened);
    free(made);
  }
  assert_query(fixture, "pragma integrity_check", "ok");
}

TEST(recorded_databases_are_opened) {
  const char *folder = HAUL_SOURCE_DIR "/tests/data";
  DIR *data = opendir(folder);
  assert_non_null(data);
  int found = 0;
  for (struct dirent *entry = readdir(data); entry != NULL; entry = readdir(data)) {
    int version = 0;
    if (sscanf(entry->d_name, "results-%d.sql", &version) == 1) {
      open_recorded(entry->d_name);
      found++;
    }
  }
  (void)closedir(data);
  assert_true(found >= 1);
}
