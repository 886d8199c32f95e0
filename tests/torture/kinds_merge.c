/* Databases of others that are valid and still not what haul made: merged with honest ones, and
 * read and written with another schema. */
#include "tests/torture/torture.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIMIT_S = 240, LIMIT_READ_S = 120, SQL_MAX = 4096, MANY = 100 };

#define ARGUMENTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- merges ---- */

/* What somebody may write into a shard. Each is a database that SQLite finds in order. */
struct lie {
  const char *sql; /* {honest} is the key of the environment of another node, {run} its run */
  /* Who is first among those that say different things under one key cannot be told: then an
   * honest input may be refused, by name. */
  bool disputes;
};

static const struct lie lies[] = {
    {"UPDATE bench_case SET payload_bytes = 2 * payload_bytes", false},
    {"UPDATE flow SET size_bytes = 2 * size_bytes", false},
    {"UPDATE flow SET source_index = target_index, target_index = source_index", false},
    {"UPDATE bench_case SET definition = replace(definition, '65536', '131072')", false},
    {"UPDATE bench_case SET definition = replace(definition, '65536', '131072'), payload_bytes = 1",
     false},
    {"UPDATE bench_case SET name = name || 'x'", false},
    {"UPDATE bench_case SET path = 'numa0:pinned-gpu9', axes = 'size=1GiB'", false},
    {"UPDATE bench_case SET kind = 'chase', operations = 1000 WHERE kind = 'transfer'", false},
    {"UPDATE bench_case SET operations = 2 * operations + 1", false},
    {"UPDATE chase SET hops = 2 * hops", false},
    {"UPDATE stream SET size_bytes = 2 * size_bytes", false},
    {"UPDATE bench_case SET host_cache = 'flushed', device_cache = 'flushed'", false},
    {"UPDATE scenario SET resolved = resolved || '#'", false},
    {"UPDATE scenario SET text = '', description = 'x'", false},
    {"UPDATE scenario SET name = 'other'", false},
    {"UPDATE environment SET key = '{honest}', host_name = 'other'", true},
    {"UPDATE environment SET key = '{honest}'; UPDATE environment_fact SET value = 'x'", true},
    {"UPDATE environment SET key = '{honest}'; UPDATE device SET name = 'x'", true},
    {"UPDATE environment SET key = '{honest}'; DELETE FROM device WHERE ordinal > 0", true},
    {"UPDATE run SET uuid = '{run}'; UPDATE case_run SET median_ns = 2 * median_ns", true},
    {"UPDATE run SET uuid = '{run}', ended_at_ns = ended_at_ns + 1, reason = 'x'", true},
    {"UPDATE run SET uuid = '{run}', tag = 'z'; UPDATE environment SET key = '{honest}'", true},
    {"CREATE TRIGGER t AFTER INSERT ON case_run BEGIN UPDATE case_run SET median_ns = 1; END",
     false},
    {"DROP VIEW v_case; CREATE VIEW v_case AS SELECT * FROM run", false},
    {"CREATE TABLE more (x); CREATE INDEX further ON case_run (median_ns)", false},
    {"PRAGMA foreign_keys = OFF; DELETE FROM bench_case WHERE id = 1", false},
    {"PRAGMA ignore_check_constraints = ON; UPDATE case_run SET n = -1, status = 'great'", false},
    {"PRAGMA foreign_keys = OFF; UPDATE run SET id = 9223372036854775807", false},
    {"UPDATE case_run SET median_ns = 1e308, p5_ns = -1e308, gated = NULL", false},
};

/* Which runs of a node came to which numbers: a sum of what v_case says of each. */
struct node_sum {
  char node[32];
  uint64_t sum;
};

static int node_compare(const void *a, const void *b) {
  return strcmp(((const struct node_sum *)a)->node, ((const struct node_sum *)b)->node);
}

static const char SUMS_SQL[] =
    "SELECT node, quote(case_name) || quote(kind) || quote(axes) || quote(path) || quote(status)"
    " || quote(n) || quote(median_ns) || quote(p5_ns) || quote(p95_ns) || quote(size_bytes)"
    " || quote(payload_bytes) || quote(gbps) || quote(ns_per_hop) || quote(hops) || "
    "quote(operations)"
    " || quote(source) || quote(target) || quote(scenario) || quote(host_name) || quote(gpu_name)"
    " || quote(gpu_uuid) FROM v_case ORDER BY node";

/* *sums of `most` nodes; returns how many there are. */
static size_t read_sums(const char *path, struct node_sum *sums, size_t most) {
  sqlite3 *database = NULL;
  sqlite3_stmt *row = NULL;
  size_t count = 0;
  if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
      sqlite3_prepare_v2(database, SUMS_SQL, -1, &row, NULL) == SQLITE_OK) {
    while (sqlite3_step(row) == SQLITE_ROW) {
      const char *node = (const char *)sqlite3_column_text(row, 0);
      const char *text = (const char *)sqlite3_column_text(row, 1);
      node = node != NULL ? node : "";
      uint64_t sum = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
      for (const char *at = text != NULL ? text : ""; *at != '\0'; at++) {
        sum = (sum ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
      }
      if (count == 0 || strcmp(sums[count - 1].node, node) != 0) {
        if (count == most) {
          break;
        }
        (void)snprintf(sums[count].node, sizeof sums[count].node, "%s", node);
        sums[count++].sum = 0;
      }
      sums[count - 1].sum += sum;
    }
  }
  (void)sqlite3_finalize(row);
  (void)sqlite3_close(database);
  return count;
}

struct fleet {
  char folder[PATH_SIZE];
  unsigned shards;
  bool disputed;
  bool *lies;              /* which of them do */
  struct node_sum *honest; /* what the others say before they are merged */
  size_t honest_count;
};

static void shard_path(const struct fleet *fleet, unsigned number, char path[2 * PATH_SIZE]) {
  (void)snprintf(path, 2 * PATH_SIZE, "%s/n%05u-%032x.db", fleet->folder, number, number + 1);
}

/* Replaces {run} and {honest} by those of that shard. */
static void fill_in(const char *sql, unsigned honest, char *text) {
  size_t used = 0;
  text[0] = '\0';
  for (const char *at = sql; *at != '\0' && used < SQL_MAX - 64;) {
    const bool run = strncmp(at, "{run}", 5) == 0;
    const bool key = strncmp(at, "{honest}", 8) == 0;
    if (run || key) {
      used += (size_t)snprintf(text + used, SQL_MAX - used, "%032x",
                               run ? honest + 1 : 0x1000000U + honest);
      at += run ? 5 : 8;
    } else {
      text[used++] = *at++;
      text[used] = '\0';
    }
  }
}

/* The same run on another node, and a little slower or faster there. */
static void shard_make(struct trial *trial, struct fleet *fleet, unsigned number) {
  char path[2 * PATH_SIZE];
  char sql[SQL_MAX];
  shard_path(fleet, number, path);
  (void)trial_copy_clean_to(trial, path);
  (void)snprintf(sql, sizeof sql,
                 "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; BEGIN;"
                 "UPDATE run SET uuid = '%032x', started_at_ns = started_at_ns + %u;"
                 "UPDATE environment SET key = '%032x', node = 'n%05u', host_name = 'n%05u';"
                 "UPDATE case_run SET median_ns = median_ns * %u / 1000.0, p95_ns = p95_ns * 1.5;"
                 "%s COMMIT",
                 number + 1, number, 0x1000000U + number, number, number, 950 + number % 100,
                 fleet->shards > MANY ? "DELETE FROM flow_trial; DELETE FROM trial; DELETE FROM "
                                        "telemetry;"
                                      : "");
  database_execute(path, sql);
  if (!fleet->lies[number]) {
    fleet->honest_count +=
        read_sums(path, &fleet->honest[fleet->honest_count], fleet->honest_count < fleet->shards);
    return;
  }
  for (unsigned count = 1 + trial_below(trial, 2); count > 0; count--) {
    const struct lie *lie = &lies[trial_below(trial, COUNT_OF(lies))];
    fleet->disputed = fleet->disputed || lie->disputes;
    fill_in(lie->sql, trial_below(trial, fleet->shards), sql);
    database_execute(path, sql);
  }
}

/* Each honest node has after the merge the numbers that it had before, or is named as skipped
 * where another one disputes it. */
static void judge_merge(struct trial *trial, const struct fleet *fleet, const char *path,
                        const char *said) {
  struct node_sum *found = calloc(fleet->shards + 1, sizeof *found);
  const size_t count = found != NULL ? read_sums(path, found, fleet->shards + 1) : 0;
  for (size_t i = 0; i < fleet->honest_count; i++) {
    const struct node_sum *honest = &fleet->honest[i];
    const struct node_sum *merged =
        count > 0 ? bsearch(honest, found, count, sizeof *found, node_compare) : NULL;
    char skipped[PATH_SIZE];
    (void)snprintf(skipped, sizeof skipped, "/%s-", honest->node);
    const bool named = said != NULL && strstr(said, skipped) != NULL;
    if (merged == NULL && !(fleet->disputed && named)) {
      trial_count(trial, COUNT_lost, 1, "node %s is not in the merged database%s", honest->node,
                  named ? ", though nothing disputes it" : "");
    } else if (merged != NULL && merged->sum != honest->sum) {
      trial_count(trial, COUNT_wrong, 1, "node %s has other numbers after the merge", honest->node);
    }
  }
  free(found);
}

void trial_merge(struct trial *trial) {
  struct fleet fleet = {.shards = trial->settings->shards > 0 ? trial->settings->shards
                                                              : 2 + trial_below(trial, 7)};
  struct haul haul;
  char again[PATH_SIZE];
  (void)snprintf(fleet.folder, sizeof fleet.folder, "%.400s/in", trial->folder);
  (void)snprintf(again, sizeof again, "%.400s/again.db", trial->folder);
  (void)mkdir(fleet.folder, 0777);
  fleet.lies = calloc(fleet.shards, sizeof *fleet.lies);
  fleet.honest = calloc(fleet.shards + 1, sizeof *fleet.honest);
  if (fleet.lies == NULL || fleet.honest == NULL) {
    abort();
  }
  for (unsigned i = 0; i < fleet.shards; i++) {
    fleet.lies[i] = trial_below(trial, fleet.shards > MANY ? 50 : 3) == 0;
    shard_make(trial, &fleet, i);
  }
  const unsigned limit_s = LIMIT_S + fleet.shards;
  const char *const *merge = ARGUMENTS("merge", trial->database, fleet.folder);
  for (unsigned kills = trial_below(trial, 3); kills > 0; kills--) {
    haul_start(trial, &haul, NULL, merge);
    pause_ms(trial_below(trial, fleet.shards > MANY ? 10000 : 60 * fleet.shards));
    (void)kill(haul.pid, SIGKILL);
    haul_finish(trial, &haul, limit_s);
    haul_fini(&haul);
  }
  haul_run(trial, &haul, NULL, limit_s, merge);
  (void)judge_sound(trial, trial->database);
  judge_merge(trial, &fleet, trial->database, haul.err);
  haul_fini(&haul);
  /* Once more into it, and what it holds into another one: nothing changes. */
  haul_run(trial, &haul, NULL, limit_s, merge);
  judge_merge(trial, &fleet, trial->database, haul.err);
  struct haul copying;
  haul_run(trial, &copying, NULL, limit_s, ARGUMENTS("merge", again, trial->database));
  judge_merge(trial, &fleet, again, haul.err);
  haul_fini(&copying);
  haul_fini(&haul);
  free(fleet.lies);
  free(fleet.honest);
}

/* ---- another schema ---- */

/* {t}, {c}: a table and one of its columns. */
static const char *const schemas[] = {
    ("PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '')"
     " WHERE name = '{t}'"),
    ("PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'CHECK', 'CHECK (1)"
     " CHECK') WHERE name = '{t}'"),
    ("PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'INTEGER', 'TEXT')"
     " WHERE name = '{t}'"),
    ("PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, '{c} ', 'x{c} ')"
     " WHERE name = '{t}'"),
    "ALTER TABLE {t} ADD COLUMN later AS (zeroblob(900000000))",
    "ALTER TABLE {t} ADD COLUMN later AS ({c})",
    "ALTER TABLE {t} ADD COLUMN stored TEXT NOT NULL DEFAULT 'x'",
    "ALTER TABLE {t} RENAME COLUMN {c} TO was",
    "ALTER TABLE {t} DROP COLUMN {c}",
    "ALTER TABLE {t} RENAME TO was; CREATE VIEW {t} AS SELECT * FROM was",
    "CREATE UNIQUE INDEX once ON {t} (abs(random()) % 1)",
    "CREATE INDEX part ON {t} ({c}) WHERE {c} = 1",
    "DROP VIEW v_case; CREATE VIEW v_case AS SELECT 'fake' AS case_name, 1 AS median_ns",
    ("DROP VIEW v_run; CREATE VIEW v_run AS WITH RECURSIVE n (run) AS (SELECT 1 UNION ALL SELECT"
     " run + 1 FROM n) SELECT * FROM n"),
    "DROP VIEW v_run_case; CREATE VIEW v_run_case AS SELECT * FROM v_run_case",
    ("CREATE VIEW a0 AS SELECT 1 AS x;"
     " CREATE VIEW a1 AS SELECT p.x FROM a0 p, a0 q;"
     " CREATE VIEW a2 AS SELECT p.x FROM a1 p, a1 q;"
     " CREATE VIEW a3 AS SELECT p.x FROM a2 p, a2 q;"
     " CREATE VIEW a4 AS SELECT p.x FROM a3 p, a3 q, a3 r, a3 s, a3 t;"
     " CREATE VIEW a5 AS SELECT p.x FROM a4 p, a4 q, a4 r, a4 s, a4 t, a4 u;"
     " CREATE VIEW a6 AS SELECT p.x FROM a5 p, a5 q, a5 r, a5 s, a5 t, a5 u"),
    "CREATE VIRTUAL TABLE words USING fts5 (x)",
    "CREATE VIRTUAL TABLE boxes USING rtree (id, a, b)",
    "CREATE TABLE \"x\ny\x1b[2J\" (\"'\" TEXT)",
    "DROP TABLE {t}",
    "DROP INDEX case_run_by_run",
    "PRAGMA foreign_keys = OFF; UPDATE {t} SET {c} = NULL",
    "PRAGMA ignore_check_constraints = ON; UPDATE {t} SET {c} = -9223372036854775808",
    "PRAGMA ignore_check_constraints = ON; UPDATE OR IGNORE {t} SET {c} = x'00ff00'",
    "PRAGMA ignore_check_constraints = ON; UPDATE OR IGNORE {t} SET {c} = 1e999",
    "PRAGMA page_size = 512; VACUUM",
    "PRAGMA page_size = 65536; VACUUM",
    "PRAGMA auto_vacuum = 1; VACUUM",
    "PRAGMA journal_mode = WAL",
    "PRAGMA application_id = 1",
    "PRAGMA user_version = 1002",
    "PRAGMA user_version = 1999",
    "PRAGMA user_version = -1",
    "CREATE TABLE sqlite_stat1 (tbl, idx, stat); ANALYZE; UPDATE sqlite_stat1 SET stat = '1 x 0'",
};

static const char triggers[] =
    "CREATE TRIGGER evil AFTER UPDATE ON run BEGIN UPDATE case_run SET median_ns = 1; END;"
    "CREATE TRIGGER worse AFTER INSERT ON run BEGIN UPDATE case_run SET median_ns = 2; END;"
    "CREATE TRIGGER worst AFTER INSERT ON baseline BEGIN UPDATE case_run SET median_ns = 3; END";

static const char *const tables[][2] = {
    {"run", "status"},
    {"run", "uuid"},
    {"run", "started_at_ns"},
    {"run", "scenario_path"},
    {"case_run", "status"},
    {"case_run", "n"},
    {"case_run", "process"},
    {"bench_case", "axes"},
    {"bench_case", "definition"},
    {"bench_case", "kind"},
    {"bench_case", "path"},
    {"bench_case", "payload_bytes"},
    {"scenario", "text"},
    {"scenario", "name"},
    {"scenario", "resolved"},
    {"environment", "key"},
    {"environment", "host_name"},
    {"environment", "simulated"},
    {"environment_fact", "value"},
    {"environment_fact", "state"},
    {"device", "name"},
    {"device", "uuid"},
    {"flow", "method"},
    {"flow", "size_bytes"},
    {"plan_case", "position"},
    {"process", "ordinal"},
    {"trial", "elapsed_ns"},
    {"check_result", "found"},
    {"link", "kind"},
    {"telemetry", "at_ns"},
    {"baseline", "name"},
    {"fleet", "name"},
    {"schema_text", "hash"},
    {"merged_input", "path"},
    {"deleted_number", "highest"},
};

static void schema_fill_in(const char *sql, const char *const names[2], char *text) {
  size_t used = 0;
  text[0] = '\0';
  for (const char *at = sql; *at != '\0' && used < SQL_MAX - 64;) {
    const bool name = strncmp(at, "{t}", 3) == 0 || strncmp(at, "{c}", 3) == 0;
    used += (size_t)snprintf(text + used, SQL_MAX - used, name ? "%s" : "%.1s",
                             name ? names[at[1] == 'c'] : at);
    at += name ? 3 : 1;
  }
}

void trial_schema(struct trial *trial) {
  char out[PATH_SIZE];
  char mode[16];
  char scenario[PATH_SIZE];
  char sql[SQL_MAX];
  struct haul haul;
  const bool triggered = trial_below(trial, 4) == 0;
  (void)snprintf(out, sizeof out, "%.400s/out.db", trial->folder);
  (void)snprintf(scenario, sizeof scenario, "%s.toml", trial->settings->clean);
  if (!trial_copy_clean(trial)) {
    return;
  }
  for (unsigned changes = trial_below(trial, triggered ? 2 : 4); changes > 0; changes--) {
    const char *change = schemas[trial_below(trial, COUNT_OF(schemas))];
    schema_fill_in(change, tables[trial_below(trial, COUNT_OF(tables))], sql);
    database_execute(trial->database, sql);
  }
  if (trial_below(trial, 3) == 0) { /* the text that it had, with what is in it by now */
    (void)snprintf(sql, sizeof sql,
                   "PRAGMA writable_schema = ON; ATTACH '%s' AS clean; UPDATE main.sqlite_master "
                   "SET sql = (SELECT c.sql FROM clean.sqlite_master c WHERE c.name = "
                   "main.sqlite_master.name) WHERE name IN (SELECT name FROM clean.sqlite_master)",
                   trial->settings->clean);
    database_execute(trial->database, sql);
  }
  if (triggered) {
    database_execute(trial->database, triggers);
  }
  const uint64_t before = database_sum_numbers(trial->database);
  for (unsigned uses = 0; uses < 3; uses++) {
    trial_read_with(trial, trial_below(trial, 1000));
  }
  (void)snprintf(mode, sizeof mode, "%u", trial_below(trial, 100));
  const char *db = trial->database;
  const char *const *writes[] = {
      ARGUMENTS("tag", "latest", mode, "--db", db),
      ARGUMENTS("baseline", "set", mode, "latest", "--db", db),
      ARGUMENTS("run", scenario, "--db", db, "--set", "measure.processes=1", "--only", "host*"),
      ARGUMENTS("merge", out, db),
      ARGUMENTS("merge", db, trial->settings->clean),
  };
  haul_run(trial, &haul, NULL, LIMIT_READ_S, writes[trial_below(trial, COUNT_OF(writes))]);
  haul_fini(&haul);
  if (triggered && database_sum_numbers(trial->database) != before) {
    trial_count(trial, COUNT_wrong, 1, "numbers of the database were changed by what is in it");
  }
}
