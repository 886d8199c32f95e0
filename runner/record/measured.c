#include "runner/record/measured.h"

#include "engine/base/globs.h"
#include "engine/base/strbuf.h"
#include "engine/base/strings.h"
#include "runner/record/database.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

ENUM_NAMES_DEFINE(figure, FIGURE_LIST)
ENUM_NAMES_DEFINE(condition, CONDITION_LIST)

enum { LIST_MAX = 64 << 20, GPUS_MAX = 64 };
/* What one iteration can take: a picosecond to a year. Files are edited by hand, and no number of
 * such a file may become an infinity here. */
static const double MEDIAN_NS_MIN = 1e-3;
static const double MEDIAN_NS_MAX = 3.2e16;

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

/* ---- cases ---- */

static enum figure measured_figure(const char *text) {
  enum figure figure = FIGURE_TIME;
  (void)figure_parse(text, &figure);
  return figure;
}

static void measured_take_case(struct measured *measured, const struct statement *statement) {
  sqlite3_stmt *stmt = statement->stmt;
  measured->cases = arena_grow(&measured->arena, measured->cases, measured->case_count,
                               &measured->case_capacity, sizeof *measured->cases);
  measured->cases[measured->case_count++] = (struct measured_case){
      .id = sqlite3_column_int64(stmt, 0),
      .key = statement_column_text(statement, 1, &measured->arena),
      .definition = statement_column_text(statement, 2, &measured->arena),
      .block = statement_column_text(statement, 3, &measured->arena),
      .name = statement_column_text(statement, 4, &measured->arena),
      .axes = statement_column_text(statement, 5, &measured->arena),
      .path = statement_column_text(statement, 6, &measured->arena),
      .method = statement_column_optional(statement, 7, &measured->arena),
      .size_bytes = (uint64_t)sqlite3_column_int64(stmt, 8),
      .figure = measured_figure(statement_text(statement, 9)),
      .units = (uint64_t)sqlite3_column_int64(stmt, 10),
      .delta = sqlite3_column_double(stmt, 11), /* NULL reads as 0 */
      .aliases = statement_column_optional(statement, 12, &measured->arena),
  };
}

/* Flows of one case while they are read. */
struct flow_list {
  struct measured_flow *flows;
  size_t count, capacity;
};

static bool measured_word_at(const struct statement *statement, int i, const char *word) {
  return strcmp(statement_text(statement, i), word) == 0;
}

static void measured_take_flow(struct measured *measured, const struct statement *statement,
                               struct flow_list *list) {
  list->flows =
      arena_grow(&measured->arena, list->flows, list->count, &list->capacity, sizeof *list->flows);
  list->flows[list->count++] = (struct measured_flow){
      .load = measured_word_at(statement, 0, "load"),
      .source_is_gpu = measured_word_at(statement, 1, "gpu"),
      .source = statement_column_number(statement, 2),
      .source_memory = statement_column_text(statement, 3, &measured->arena),
      .target_is_gpu = measured_word_at(statement, 4, "gpu"),
      .target = statement_column_number(statement, 5),
      .target_memory = statement_column_text(statement, 6, &measured->arena),
  };
}

static uint64_t measured_gpu_bit(bool is_gpu, int number) {
  return is_gpu && number >= 0 && number < GPUS_MAX ? UINT64_C(1) << number : 0;
}

/* "[1,2,3]" */
static void measured_run_ids(const struct measured *measured, struct strbuf *list) {
  strbuf_append_char(list, '[');
  for (size_t i = 0; i < measured->run_count; i++) {
    strbuf_printf(list, "%s%lld", i > 0 ? "," : "", (long long)measured->runs[i].ref.id);
  }
  strbuf_append_char(list, ']');
}

static enum status measured_load_cases(struct measured *measured, struct database *database,
                                       const char *only, const char *runs, struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, "compare/cases", &statement, err);
  statement_bind_text(&statement, ":only", globs_json(only, &measured->arena));
  statement_bind_text(&statement, ":runs", runs);
  while (statement_next(&statement, &status, err)) {
    measured_take_case(measured, &statement);
  }
  statement_finalize(&statement);
  return status;
}

static enum status measured_load_flows(struct measured *measured, struct database *database,
                                       struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, "compare/flows", &statement, err);
  for (size_t i = 0; i < measured->case_count && status == STATUS_OK; i++) {
    struct measured_case *bench = &measured->cases[i];
    struct flow_list list = {0};
    statement_bind_int(&statement, ":bench_case", bench->id);
    while (statement_next(&statement, &status, err)) {
      measured_take_flow(measured, &statement, &list);
    }
    bench->flows = list.flows;
    bench->flow_count = list.count;
    for (size_t f = 0; f < list.count; f++) {
      bench->gpus |= measured_gpu_bit(list.flows[f].source_is_gpu, list.flows[f].source) |
                     measured_gpu_bit(list.flows[f].target_is_gpu, list.flows[f].target);
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

static int measured_compare_run_index(const void *a, const void *b) {
  const struct run_index *x = a;
  const struct run_index *y = b;
  return (x->id > y->id) - (x->id < y->id);
}

static struct run_index *measured_index_runs(struct measured *measured) {
  struct run_index *index = arena_array(&measured->arena, measured->run_count, sizeof *index);
  for (size_t i = 0; i < measured->run_count; i++) {
    index[i] = (struct run_index){measured->runs[i].ref.id, (uint32_t)i};
  }
  qsort(index, measured->run_count, sizeof *index, measured_compare_run_index);
  return index;
}

/* Medians may be millions: the arena would keep every smaller copy of the array. */
static void measured_add_median(struct measured *measured, struct measured_median median) {
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

/* A status that a newer version wrote and this one does not know: something failed. */
static enum case_status measured_status_at(const struct statement *statement, int i) {
  enum case_status status = CASE_FAILED;
  return case_status_parse(statement_text(statement, i), &status) ? status : CASE_FAILED;
}

static enum status measured_load_medians(struct measured *measured, struct database *database,
                                         const char *runs, struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, "compare/medians", &statement, err);
  const struct run_index *index = measured_index_runs(measured);
  const int bench_parameter = statement_parameter(&statement, ":bench_case");
  const int runs_parameter = statement_parameter(&statement, ":runs");
  for (size_t i = 0; i < measured->case_count && status == STATUS_OK; i++) {
    (void)sqlite3_bind_int64(statement.stmt, bench_parameter, measured->cases[i].id);
    (void)sqlite3_bind_text(statement.stmt, runs_parameter, runs, -1, SQLITE_STATIC);
    const struct run_index *found = NULL;
    while (statement_next(&statement, &status, err)) {
      const struct run_index wanted = {.id = sqlite3_column_int64(statement.stmt, 0)};
      if (found == NULL || found->id != wanted.id) {
        found =
            bsearch(&wanted, index, measured->run_count, sizeof *index, measured_compare_run_index);
      }
      const enum case_status case_status = measured_status_at(&statement, 2);
      const double ns = sqlite3_column_double(statement.stmt, 3);
      const bool ok = case_status == CASE_OK && ns >= MEDIAN_NS_MIN && ns <= MEDIAN_NS_MAX;
      measured_add_median(measured, (struct measured_median){
                                        .run = found->index,
                                        .bench = (uint32_t)i,
                                        .process = sqlite3_column_int64(statement.stmt, 1),
                                        .ns = ok ? ns : NAN,
                                        .undisturbed_ns = ok ? ns : NAN,
                                        .status = case_status,
                                        .above_peak = sqlite3_column_int(statement.stmt, 4) != 0});
    }
  }
  statement_finalize(&statement);
  return status;
}

enum status measured_load_errors(struct measured *measured, struct database *database,
                                 struct error *err) {
  struct strbuf runs;
  struct statement statement;
  strbuf_init(&runs, LIST_MAX);
  measured_run_ids(measured, &runs);
  enum status status = statement_prepare(database, "compare/errors", &statement, err);
  size_t next = 0; /* of the medians, which are in the same order */
  for (size_t i = 0; i < measured->case_count && status == STATUS_OK; i++) {
    statement_bind_int(&statement, ":bench_case", measured->cases[i].id);
    statement_bind_text(&statement, ":runs", runs.text);
    while (statement_next(&statement, &status, err)) {
      const int64_t process = sqlite3_column_int64(statement.stmt, 0);
      size_t m = next;
      while (m < measured->median_count && measured->medians[m].bench == i &&
             measured->medians[m].process != process) {
        m++;
      }
      if (m < measured->median_count && measured->medians[m].bench == i) {
        measured->medians[m].error = sqlite3_column_double(statement.stmt, 1);
        measured->medians[m].tail = sqlite3_column_double(statement.stmt, 2);
        next = m + 1;
      }
    }
    while (next < measured->median_count && measured->medians[next].bench <= i) {
      next++;
    }
  }
  statement_finalize(&statement);
  strbuf_fini(&runs);
  return status;
}

struct visited {
  int64_t bench, process;
  double ns;
};

static int measured_compare_visited(const void *a, const void *b) {
  const struct visited *x = a;
  const struct visited *y = b;
  return x->bench != y->bench ? (x->bench > y->bench) - (x->bench < y->bench)
                              : (x->process > y->process) - (x->process < y->process);
}

enum status measured_load_undisturbed(struct measured *measured, struct database *database,
                                      struct error *err) {
  struct strbuf runs;
  struct statement statement;
  struct arena arena = {0};
  struct visited *visited = NULL; /* sorted */
  size_t count = 0;
  size_t capacity = 0;
  strbuf_init(&runs, LIST_MAX);
  measured_run_ids(measured, &runs);
  enum status status = statement_prepare(database, "compare/undisturbed", &statement, err);
  statement_bind_text(&statement, ":runs", runs.text);
  while (statement_next(&statement, &status, err)) {
    visited = arena_grow(&arena, visited, count, &capacity, sizeof *visited);
    visited[count++] = (struct visited){sqlite3_column_int64(statement.stmt, 0),
                                        sqlite3_column_int64(statement.stmt, 1),
                                        sqlite3_column_double(statement.stmt, 2)};
  }
  for (size_t i = 0; i < measured->median_count && count > 0; i++) {
    struct measured_median *median = &measured->medians[i];
    const struct visited wanted = {measured->cases[median->bench].id, median->process, 0};
    const struct visited *found =
        bsearch(&wanted, visited, count, sizeof *visited, measured_compare_visited);
    median->undisturbed_ns = found != NULL ? found->ns : median->undisturbed_ns;
  }
  statement_finalize(&statement);
  strbuf_fini(&runs);
  arena_fini(&arena);
  return status;
}

static enum status measured_load_conditions(struct measured *measured, struct database *database,
                                            const char *runs, struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, "compare/conditions", &statement, err);
  statement_bind_text(&statement, ":runs", runs);
  while (statement_next(&statement, &status, err)) {
    struct measured_condition condition = {
        .kind = (enum condition)sqlite3_column_int(statement.stmt, 1),
        .text = statement_column_text(&statement, 2, &measured->arena),
        .results = (unsigned)sqlite3_column_int64(statement.stmt, 3),
        .gpu = sqlite3_column_type(statement.stmt, 4) == SQLITE_NULL
                   ? -1
                   : sqlite3_column_int(statement.stmt, 4),
        .brief = statement_column_optional(&statement, 5, &measured->arena),
    };
    condition.brief = condition.brief != NULL ? condition.brief : condition.text;
    while (measured->runs[condition.run].ref.id != sqlite3_column_int64(statement.stmt, 0)) {
      condition.run++;
    }
    measured->conditions =
        arena_grow(&measured->arena, measured->conditions, measured->condition_count,
                   &measured->condition_capacity, sizeof *measured->conditions);
    measured->conditions[measured->condition_count++] = condition;
  }
  statement_finalize(&statement);
  return status;
}

enum status measured_load(struct measured *measured, struct database *database, const char *only,
                          struct error *err) {
  struct strbuf runs;
  strbuf_init(&runs, LIST_MAX);
  measured_run_ids(measured, &runs);
  enum status status = measured_load_cases(measured, database, only, runs.text, err);
  if (status == STATUS_OK) {
    status = measured_load_flows(measured, database, err);
  }
  if (status == STATUS_OK) {
    status = measured_load_medians(measured, database, runs.text, err);
  }
  if (status == STATUS_OK) {
    status = measured_load_conditions(measured, database, runs.text, err);
  }
  strbuf_fini(&runs);
  return status;
}

bool measured_case_matches(const struct measured_case *bench, const char *only) {
  if (only == NULL || globs_match(only, bench->name) || globs_match(only, bench->block) ||
      globs_match(only, bench->key)) {
    return true;
  }
  bool found = false;
  char *lines = bench->aliases != NULL ? strdup(bench->aliases) : NULL;
  for (char *rest = lines; rest != NULL && !found;) {
    found = globs_match(only, strsep(&rest, "\n"));
  }
  free(lines);
  return found;
}

enum status measured_reason(struct measured *measured, struct database *database, size_t run,
                            size_t bench, const char **reason, struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, "compare/not_ok_reason", &statement, err);
  *reason = NULL;
  statement_bind_int(&statement, ":run", measured->runs[run].ref.id);
  statement_bind_int(&statement, ":bench_case", measured->cases[bench].id);
  if (statement_next(&statement, &status, err)) {
    *reason = arena_format(&measured->arena, "%s: %s", statement_text(&statement, 0),
                           statement_text(&statement, 1));
  }
  statement_finalize(&statement);
  return status;
}

enum status measured_process_ordinal(struct database *database, int64_t process, int *ordinal,
                                     struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, "compare/process_ordinal", &statement, err);
  *ordinal = -1;
  statement_bind_int(&statement, ":process", process);
  if (statement_next(&statement, &status, err)) {
    *ordinal = sqlite3_column_int(statement.stmt, 0);
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
    const char *node = environment->node;
    return node != NULL && node[0] != '\0' ? XXH64(node, strlen(node), 1) | 1 : 0;
  }
  /* Nodes that play the same machine have the same UUIDs. */
  if (environment->simulated && !strings_equal(environment->node, environment->host_name)) {
    hash = XXH64(environment->node, strlen(environment->node), 1);
  }
  uint64_t found = 0;
  for (size_t i = 0; i < environment->gpu_count; i++) {
    const struct measured_gpu *gpu = &environment->gpus[i];
    const uint64_t bit = measured_gpu_bit(true, gpu->number);
    if ((c->gpus & bit) != 0 && gpu->uuid != NULL) {
      hash = XXH64(gpu->uuid, strlen(gpu->uuid), hash);
      found |= bit;
    }
  }
  return found == c->gpus ? hash | 1 : 0;
}
