#include "runner/record/measured.h"

#include "engine/base/strbuf.h"
#include "runner/record/database.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { LIST_MAX = 64 << 20, GPUS_MAX = 64 };

struct measured *measured_new(void) {
  struct measured *measured = calloc(1, sizeof *measured);
  if (measured == NULL) {
    abort();
  }
  return measured;
}

void measured_free(struct measured *measured) {
  if (measured == NULL) {
    return;
  }
  free(measured->medians);
  arena_fini(&measured->arena);
  free(measured);
}

static const char *text_at(struct measured *measured, const struct statement *statement, int i) {
  const char *text = (const char *)sqlite3_column_text(statement->stmt, i);
  return text != NULL ? arena_strdup(&measured->arena, text) : NULL;
}

/* Called for each row of a statement. */
typedef void take_row(struct measured *measured, const struct statement *statement, void *context);

/* Bind one number, give every row to take. */
static enum status each_row(struct measured *measured, struct database *database, const char *name,
                            const char *parameter, int64_t value, take_row *take, void *context,
                            struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, name, &statement, err);
  if (status != STATUS_OK) {
    return status;
  }
  if (parameter != NULL) {
    statement_bind_int(&statement, parameter, value);
  }
  for (bool row = true; status == STATUS_OK && row;) {
    status = statement_step(&statement, &row, err);
    if (status == STATUS_OK && row) {
      take(measured, &statement, context);
    }
  }
  statement_finalize(&statement);
  return status;
}

/* ---- environments ---- */

/* An environment while it is read. */
struct reading {
  struct measured_environment *environment;
  struct measured_fact *facts;
  struct measured_gpu *gpus;
  struct measured_link *links;
  size_t fact_capacity, gpu_capacity, link_capacity;
};

static void add_fact(struct measured *measured, struct reading *reading, const char *name, int gpu,
                     const char *value) {
  struct measured_environment *environment = reading->environment;
  for (size_t i = 0; i < environment->fact_count; i++) {
    if (reading->facts[i].gpu == gpu && strcmp(reading->facts[i].name, name) == 0) {
      return; /* a column, said again as a fact */
    }
  }
  reading->facts = arena_grow(&measured->arena, reading->facts, environment->fact_count,
                              &reading->fact_capacity, sizeof *reading->facts);
  reading->facts[environment->fact_count++] = (struct measured_fact){name, gpu, value};
}

static void take_columns(struct measured *measured, const struct statement *statement,
                         void *context) {
  struct reading *reading = context;
  struct measured_environment *environment = reading->environment;
  for (int i = 0; i < sqlite3_column_count(statement->stmt); i++) {
    const char *name = arena_strdup(&measured->arena, sqlite3_column_name(statement->stmt, i));
    const char *value = text_at(measured, statement, i);
    add_fact(measured, reading, name, -1, value);
    if (strcmp(name, "simulated") == 0) {
      environment->simulated = sqlite3_column_int(statement->stmt, i) != 0;
    } else if (strcmp(name, "host_name") == 0) {
      environment->host_name = value;
    } else if (strcmp(name, "driver_version") == 0) {
      environment->driver_version = value;
    } else if (strcmp(name, "boot_id") == 0) {
      environment->boot_id = value;
    }
  }
}

static void take_fact(struct measured *measured, const struct statement *statement, void *context) {
  add_fact(measured, context, text_at(measured, statement, 0),
           sqlite3_column_int(statement->stmt, 1), text_at(measured, statement, 2));
}

static void take_gpu(struct measured *measured, const struct statement *statement, void *context) {
  struct reading *reading = context;
  const char *uuid = text_at(measured, statement, 1);
  const bool has_node = sqlite3_column_type(statement->stmt, 3) != SQLITE_NULL;
  reading->gpus = arena_grow(&measured->arena, reading->gpus, reading->environment->gpu_count,
                             &reading->gpu_capacity, sizeof *reading->gpus);
  reading->gpus[reading->environment->gpu_count++] =
      (struct measured_gpu){.number = sqlite3_column_int(statement->stmt, 0),
                            .uuid = uuid != NULL && uuid[0] != '\0' ? uuid : NULL,
                            .name = text_at(measured, statement, 2),
                            .numa_node = has_node ? sqlite3_column_int(statement->stmt, 3) : -1};
}

static void take_link(struct measured *measured, const struct statement *statement, void *context) {
  struct reading *reading = context;
  reading->links = arena_grow(&measured->arena, reading->links, reading->environment->link_count,
                              &reading->link_capacity, sizeof *reading->links);
  reading->links[reading->environment->link_count++] = (struct measured_link){
      .source = sqlite3_column_int(statement->stmt, 0),
      .target = sqlite3_column_int(statement->stmt, 1),
      .peer_access = sqlite3_column_int(statement->stmt, 2) != 0,
      .nvlink_count = sqlite3_column_int(statement->stmt, 3),
  };
}

static enum status read_environment(struct measured *measured, struct database *database,
                                    struct measured_environment *environment, struct error *err) {
  struct reading reading = {.environment = environment};
  enum status status = each_row(measured, database, "compared_environment", ":environment",
                                environment->id, take_columns, &reading, err);
  if (status == STATUS_OK) {
    status = each_row(measured, database, "compared_facts", ":environment", environment->id,
                      take_fact, &reading, err);
  }
  if (status == STATUS_OK) {
    status = each_row(measured, database, "compared_gpus", ":environment", environment->id,
                      take_gpu, &reading, err);
  }
  if (status == STATUS_OK) {
    status = each_row(measured, database, "compared_gpu_links", ":environment", environment->id,
                      take_link, &reading, err);
  }
  environment->facts = reading.facts;
  environment->gpus = reading.gpus;
  environment->links = reading.links;
  return status;
}

static enum status find_environment(struct measured *measured, struct database *database,
                                    int64_t id, size_t *index, struct error *err) {
  for (*index = 0; *index < measured->environment_count; ++*index) {
    if (measured->environments[*index].id == id) {
      return STATUS_OK;
    }
  }
  measured->environments =
      arena_grow(&measured->arena, measured->environments, measured->environment_count,
                 &measured->environment_capacity, sizeof *measured->environments);
  struct measured_environment *environment = &measured->environments[measured->environment_count++];
  *environment = (struct measured_environment){.id = id};
  return read_environment(measured, database, environment, err);
}

/* ---- runs ---- */

static void take_run(struct measured *measured, const struct statement *statement, void *context) {
  struct measured_run *run = context;
  sqlite3_stmt *stmt = statement->stmt;
  run->ref.id = sqlite3_column_int64(stmt, 0);
  (void)snprintf(run->ref.uuid, sizeof run->ref.uuid, "%s",
                 (const char *)sqlite3_column_text(stmt, 1));
  run->tag = text_at(measured, statement, 2);
  run->scenario = text_at(measured, statement, 3);
  run->only = text_at(measured, statement, 4);
  run->origin = text_at(measured, statement, 5);
  run->command_line = text_at(measured, statement, 6);
  run->haul_version = text_at(measured, statement, 7);
  run->started_at_ns = sqlite3_column_int64(stmt, 8);
  run->environment = (size_t)sqlite3_column_int64(stmt, 9); /* its id, until it is found */
}

enum status measured_add_run(struct measured *measured, struct database *database, int64_t id,
                             struct error *err) {
  for (size_t i = 0; i < measured->run_count; i++) {
    if (measured->runs[i].ref.id == id) {
      return STATUS_OK;
    }
  }
  struct measured_run run = {.ref.id = -1};
  enum status status =
      each_row(measured, database, "compared_run", ":run", id, take_run, &run, err);
  if (status == STATUS_OK && run.ref.id != id) {
    status = error_set(err, STATUS_NOT_FOUND, "there is no run %lld", (long long)id);
  }
  if (status == STATUS_OK) {
    status = find_environment(measured, database, (int64_t)run.environment, &run.environment, err);
  }
  if (status == STATUS_OK) {
    measured->runs = arena_grow(&measured->arena, measured->runs, measured->run_count,
                                &measured->run_capacity, sizeof *measured->runs);
    measured->runs[measured->run_count++] = run;
  }
  return status;
}

struct id_list {
  int64_t *ids;
  size_t count, capacity;
};

static void take_id(struct measured *measured, const struct statement *statement, void *context) {
  struct id_list *list = context;
  list->ids =
      arena_grow(&measured->arena, list->ids, list->count, &list->capacity, sizeof *list->ids);
  list->ids[list->count++] = sqlite3_column_int64(statement->stmt, 0);
}

enum status measured_add_all_runs(struct measured *measured, struct database *database,
                                  struct error *err) {
  struct id_list list = {0};
  enum status status = each_row(measured, database, "all_runs", NULL, 0, take_id, &list, err);
  for (size_t i = 0; i < list.count && status == STATUS_OK; i++) {
    status = measured_add_run(measured, database, list.ids[i], err);
  }
  return status;
}

void measured_keep_runs(struct measured *measured,
                        bool (*keep)(const struct measured *, size_t run, const void *context),
                        const void *context) {
  size_t kept = 0;
  for (size_t i = 0; i < measured->run_count; i++) {
    if (keep(measured, i, context)) {
      measured->runs[kept++] = measured->runs[i];
    }
  }
  measured->run_count = kept;
}

/* ---- cases ---- */

static enum case_kind kind_of(const char *text) {
  enum case_kind kind = CASE_TRANSFER;
  (void)case_kind_parse(text, &kind);
  return kind;
}

static void take_case(struct measured *measured, const struct statement *statement, void *context) {
  (void)context;
  sqlite3_stmt *stmt = statement->stmt;
  measured->cases = arena_grow(&measured->arena, measured->cases, measured->case_count,
                               &measured->case_capacity, sizeof *measured->cases);
  measured->cases[measured->case_count++] = (struct measured_case){
      .id = sqlite3_column_int64(stmt, 0),
      .key = text_at(measured, statement, 1),
      .definition = text_at(measured, statement, 2),
      .block = text_at(measured, statement, 3),
      .name = text_at(measured, statement, 4),
      .kind = kind_of((const char *)sqlite3_column_text(stmt, 5)),
      .axes = text_at(measured, statement, 6),
      .path = text_at(measured, statement, 7),
      .payload_bytes = (uint64_t)sqlite3_column_int64(stmt, 8),
      .method = text_at(measured, statement, 9),
      .size_bytes = (uint64_t)sqlite3_column_int64(stmt, 10),
      .hops = (uint64_t)sqlite3_column_int64(stmt, 11),
  };
}

/* Flows of one case while they are read. */
struct flow_list {
  struct measured_flow *flows;
  size_t count, capacity;
};

static int number_at(const struct statement *statement, int i) {
  return sqlite3_column_type(statement->stmt, i) != SQLITE_NULL
             ? sqlite3_column_int(statement->stmt, i)
             : -1;
}

static bool word_at(const struct statement *statement, int i, const char *word) {
  const char *text = (const char *)sqlite3_column_text(statement->stmt, i);
  return text != NULL && strcmp(text, word) == 0;
}

static void take_flow(struct measured *measured, const struct statement *statement, void *context) {
  struct flow_list *list = context;
  list->flows =
      arena_grow(&measured->arena, list->flows, list->count, &list->capacity, sizeof *list->flows);
  list->flows[list->count++] = (struct measured_flow){
      .load = word_at(statement, 0, "load"),
      .source_is_gpu = word_at(statement, 1, "gpu"),
      .source = number_at(statement, 2),
      .source_memory = text_at(measured, statement, 3),
      .target_is_gpu = word_at(statement, 4, "gpu"),
      .target = number_at(statement, 5),
      .target_memory = text_at(measured, statement, 6),
  };
}

static uint64_t gpu_bit(bool is_gpu, int number) {
  return is_gpu && number >= 0 && number < GPUS_MAX ? UINT64_C(1) << number : 0;
}

/* "[1,2,3]" */
static void run_ids(const struct measured *measured, struct strbuf *list) {
  strbuf_append_char(list, '[');
  for (size_t i = 0; i < measured->run_count; i++) {
    strbuf_printf(list, "%s%lld", i > 0 ? "," : "", (long long)measured->runs[i].ref.id);
  }
  strbuf_append_char(list, ']');
}

static enum status load_cases(struct measured *measured, struct database *database,
                              const char *only, const char *runs, struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, "compared_cases", &statement, err);
  if (status != STATUS_OK) {
    return status;
  }
  statement_bind_text(&statement, ":only", only != NULL ? only : "*");
  statement_bind_text(&statement, ":runs", runs);
  for (bool row = true; status == STATUS_OK && row;) {
    status = statement_step(&statement, &row, err);
    if (status == STATUS_OK && row) {
      take_case(measured, &statement, NULL);
    }
  }
  statement_finalize(&statement);
  return status;
}

static enum status load_flows(struct measured *measured, struct database *database,
                              struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, "compared_flows", &statement, err);
  if (status != STATUS_OK) {
    return status;
  }
  for (size_t i = 0; i < measured->case_count && status == STATUS_OK; i++) {
    struct measured_case *bench = &measured->cases[i];
    struct flow_list list = {0};
    statement_bind_int(&statement, ":bench_case", bench->id);
    for (bool row = true; status == STATUS_OK && row;) {
      status = statement_step(&statement, &row, err);
      if (status == STATUS_OK && row) {
        take_flow(measured, &statement, &list);
      }
    }
    bench->flows = list.flows;
    bench->flow_count = list.count;
    for (size_t f = 0; f < list.count; f++) {
      bench->gpus |= gpu_bit(list.flows[f].source_is_gpu, list.flows[f].source) |
                     gpu_bit(list.flows[f].target_is_gpu, list.flows[f].target);
    }
  }
  statement_finalize(&statement);
  return status;
}

/* ---- what matters ---- */

enum { DELTA_VERSION = 1002 }; /* no older schema has them */

static int compare_case_ids(const void *a, const void *b) {
  const struct measured_case *x = *(const struct measured_case *const *)a;
  const struct measured_case *y = *(const struct measured_case *const *)b;
  return (x->id > y->id) - (x->id < y->id);
}

/* Cases of one case_key are one measurement: what is said of one is said of all. Those lie next to
 * each other. */
static void set_delta(struct measured *measured, const struct measured_case *of, double delta) {
  const size_t at = (size_t)(of - measured->cases);
  size_t first = at;
  while (first > 0 && strcmp(measured->cases[first - 1].key, of->key) == 0) {
    first--;
  }
  for (size_t i = first; i < measured->case_count && strcmp(measured->cases[i].key, of->key) == 0;
       i++) {
    measured->cases[i].delta = delta;
  }
}

/* In the order of the runs' starts, so that the last one that says anything stays. */
static enum status load_deltas(struct measured *measured, struct database *database,
                               const char *runs, struct error *err) {
  struct statement statement;
  if (database->version < DELTA_VERSION) {
    return STATUS_OK;
  }
  enum status status = statement_prepare(database, "compared_deltas", &statement, err);
  if (status != STATUS_OK) {
    return status;
  }
  const size_t count = measured->case_count;
  const struct measured_case **by_id = arena_array(&measured->arena, count, sizeof *by_id);
  for (size_t i = 0; i < count; i++) {
    by_id[i] = &measured->cases[i];
  }
  if (count > 1) { /* none is NULL */
    qsort(by_id, count, sizeof *by_id, compare_case_ids);
  }
  statement_bind_text(&statement, ":runs", runs);
  for (bool row = true; status == STATUS_OK && row;) {
    status = statement_step(&statement, &row, err);
    if (status != STATUS_OK || !row) {
      continue;
    }
    const struct measured_case wanted = {.id = sqlite3_column_int64(statement.stmt, 0)};
    const struct measured_case *key = &wanted;
    const struct measured_case **found =
        bsearch(&key, by_id, count, sizeof *by_id, compare_case_ids);
    if (found != NULL) { /* else --only leaves it out */
      set_delta(measured, *found, sqlite3_column_double(statement.stmt, 1));
    }
  }
  statement_finalize(&statement);
  return status;
}

/* ---- medians ---- */

/* Runs by their ids, for finding the index of one. */
struct run_index {
  int64_t id;
  uint32_t index;
};

static int compare_run_index(const void *a, const void *b) {
  const struct run_index *x = a;
  const struct run_index *y = b;
  return (x->id > y->id) - (x->id < y->id);
}

static struct run_index *index_runs(struct measured *measured) {
  struct run_index *index = arena_array(&measured->arena, measured->run_count, sizeof *index);
  for (size_t i = 0; i < measured->run_count; i++) {
    index[i] = (struct run_index){measured->runs[i].ref.id, (uint32_t)i};
  }
  qsort(index, measured->run_count, sizeof *index, compare_run_index);
  return index;
}

/* Millions of them: not in the arena, which would keep every smaller copy. */
static void add_median(struct measured *measured, struct measured_median median) {
  if (measured->median_count == measured->median_capacity) {
    measured->median_capacity =
        measured->median_capacity > 0 ? 2 * measured->median_capacity : 4096;
    measured->medians =
        reallocarray(measured->medians, measured->median_capacity, sizeof *measured->medians);
    if (measured->medians == NULL) {
      abort(); /* as arena.h does: no condition to recover from */
    }
  }
  measured->medians[measured->median_count++] = median;
}

static enum status load_medians(struct measured *measured, struct database *database,
                                const char *runs, struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, "compared_medians", &statement, err);
  if (status != STATUS_OK) {
    return status;
  }
  const struct run_index *index = index_runs(measured);
  const int bench_parameter = statement_parameter(&statement, ":bench_case");
  const int runs_parameter = statement_parameter(&statement, ":runs");
  for (size_t i = 0; i < measured->case_count && status == STATUS_OK; i++) {
    (void)sqlite3_bind_int64(statement.stmt, bench_parameter, measured->cases[i].id);
    (void)sqlite3_bind_text(statement.stmt, runs_parameter, runs, -1, SQLITE_STATIC);
    const struct run_index *found = NULL;
    for (bool row = true; status == STATUS_OK && row;) {
      status = statement_step(&statement, &row, err);
      if (status != STATUS_OK || !row) {
        continue;
      }
      const int64_t run = sqlite3_column_int64(statement.stmt, 0);
      if (found == NULL || found->id != run) {
        const struct run_index wanted = {.id = run};
        found = bsearch(&wanted, index, measured->run_count, sizeof *index, compare_run_index);
      }
      const bool ok = sqlite3_column_type(statement.stmt, 3) != SQLITE_NULL &&
                      word_at(&statement, 2, "ok") && sqlite3_column_double(statement.stmt, 3) > 0;
      add_median(measured, (struct measured_median){
                               .run = found->index,
                               .bench = (uint32_t)i,
                               .process = sqlite3_column_int64(statement.stmt, 1),
                               .ns = ok ? sqlite3_column_double(statement.stmt, 3) : NAN});
    }
  }
  statement_finalize(&statement);
  return status;
}

enum status measured_load(struct measured *measured, struct database *database, const char *only,
                          struct error *err) {
  struct strbuf runs;
  strbuf_init(&runs, LIST_MAX);
  run_ids(measured, &runs);
  enum status status = load_cases(measured, database, only, runs.text, err);
  if (status == STATUS_OK) {
    status = load_flows(measured, database, err);
  }
  if (status == STATUS_OK) {
    status = load_deltas(measured, database, runs.text, err);
  }
  if (status == STATUS_OK) {
    status = load_medians(measured, database, runs.text, err);
  }
  strbuf_fini(&runs);
  return status;
}

enum status measured_reason(struct measured *measured, struct database *database, size_t run,
                            size_t bench, const char **reason, struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, "not_ok_reason", &statement, err);
  if (status != STATUS_OK) {
    return status;
  }
  bool row = false;
  *reason = NULL;
  statement_bind_int(&statement, ":run", measured->runs[run].ref.id);
  statement_bind_int(&statement, ":bench_case", measured->cases[bench].id);
  status = statement_step(&statement, &row, err);
  if (status == STATUS_OK && row) {
    *reason = arena_format(&measured->arena, "%s: %s",
                           (const char *)sqlite3_column_text(statement.stmt, 0),
                           (const char *)sqlite3_column_text(statement.stmt, 1));
  }
  statement_finalize(&statement);
  return status;
}

/* ---- hardware ---- */

uint64_t measured_hardware(const struct measured *measured, size_t run, size_t bench) {
  const struct measured_environment *environment =
      &measured->environments[measured->runs[run].environment];
  const struct measured_case *c = &measured->cases[bench];
  XXH64_hash_t hash = 0;
  if (c->gpus == 0) {
    const char *host = environment->host_name;
    return host != NULL && host[0] != '\0' ? XXH64(host, strlen(host), 1) | 1 : 0;
  }
  uint64_t found = 0;
  for (size_t i = 0; i < environment->gpu_count; i++) {
    const struct measured_gpu *gpu = &environment->gpus[i];
    const uint64_t bit = gpu_bit(true, gpu->number);
    if ((c->gpus & bit) != 0 && gpu->uuid != NULL) {
      hash = XXH64(gpu->uuid, strlen(gpu->uuid), hash);
      found |= bit;
    }
  }
  return found == c->gpus ? hash | 1 : 0;
}
