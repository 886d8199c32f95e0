#include "runner/record/results.h"

#include "engine/base/globs.h"
#include "engine/base/order.h"
#include "engine/base/strbuf.h"
#include "engine/base/strings.h"
#include "runner/record/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

ENUM_NAMES_DEFINE(condition, CONDITION_LIST)

enum { GPUS_MAX = 64 };
/* What one iteration can take: a picosecond to a year. Files are edited by hand, and no number of
 * such a file may become an infinity here. */
static const double MEDIAN_NS_MIN = 1e-3;
static const double MEDIAN_NS_MAX = 3.2e16;
/* To read all results of a case costs a quarter of finding them run by run. */
static const double SHARE_READ_WHOLE = 0.25;

struct results *results_new(void) {
  return memory_new(1, sizeof(struct results));
}

void results_free(struct results *results) {
  if (results == NULL) {
    return;
  }
  free(results->medians);
  arena_fini(&results->arena);
  free(results);
}

/* ---- cases ---- */

static const struct row_member CASE_MEMBERS[] = {
    ROW_MEMBER(struct results_case, id),
    ROW_COLUMN_TEXT(struct results_case, key, "case_key"),
    ROW_MEMBER_TEXT(struct results_case, definition),
    ROW_MEMBER_TEXT(struct results_case, block),
    ROW_MEMBER_TEXT(struct results_case, name),
    ROW_MEMBER_TEXT(struct results_case, axes),
    ROW_MEMBER_TEXT(struct results_case, path),
    ROW_MEMBER(struct results_case, method),
    ROW_MEMBER(struct results_case, size_bytes),
    ROW_MEMBER_ENUM(struct results_case, figure, figure_names, FIGURE_TIME),
    ROW_MEMBER(struct results_case, units),
    ROW_MEMBER(struct results_case, aliases),
    {0}};

static const struct row_member FLOW_MEMBERS[] = {
    ROW_MEMBER(struct results_flow, load),
    ROW_MEMBER(struct results_flow, source_is_gpu),
    ROW_MEMBER(struct results_flow, source),
    ROW_MEMBER_TEXT(struct results_flow, source_memory),
    ROW_MEMBER(struct results_flow, target_is_gpu),
    ROW_MEMBER(struct results_flow, target),
    ROW_MEMBER_TEXT(struct results_flow, target_memory),
    {0}};

static uint64_t results_gpu_bit(bool is_gpu, int number) {
  return is_gpu && number >= 0 && number < GPUS_MAX ? UINT64_C(1) << number : 0;
}

/* "[1,2,3]" */
void results_run_ids(const struct results *results, struct strbuf *list) {
  strbuf_append_char(list, '[');
  for (size_t i = 0; i < results->run_count; i++) {
    strbuf_printf(list, "%s%lld", i > 0 ? "," : "", (long long)results->runs[i].ref.id);
  }
  strbuf_append_char(list, ']');
}

static bool results_is_later(const struct results *results, uint32_t run, uint32_t other) {
  const struct results_run *x = &results->runs[run];
  const struct results_run *y = &results->runs[other];
  return x->started_at_ns != y->started_at_ns ? x->started_at_ns > y->started_at_ns
                                              : x->ref.id > y->ref.id;
}

/* Tables by bench_case.id are not made for a file whose ids somebody else chose. */
enum { CASE_ID_END = 1 << 26 };

/* The least time of one iteration that a run's plan allows for a case, its peak being what it is.
 */
struct planned {
  int64_t bench;
  uint32_t run;      /* in reading.runs */
  double fastest_ns; /* NAN = not known */
};

/* What a plan says that its scenario says: the change of a case that matters. */
struct planned_delta {
  int64_t bench;
  uint32_t run; /* in reading.runs */
  double delta;
};

/* A run, where it is in the order of their ids. */
struct run_index {
  int64_t id;
  uint32_t index;
};

/* What is known while cases and medians are read. */
struct reading {
  struct results *results;
  struct arena arena;
  struct strbuf ids; /* of the runs, as JSON */
  struct run_index *runs;
  struct planned *plans; /* by run, then case */
  size_t plan_count;
  struct planned_delta *deltas;
  size_t delta_count;
  int64_t bad_case_id; /* 0 = none */
  double *fastest_ns;  /* by bench_case.id, below case_ids_end: the longest of its plans */
  uint32_t run;        /* in runs: that of the row read last */
  uint32_t bench;      /* in results.cases: the one whose medians are read */
};

ORDER_DEFINE(results_compare_run_index, struct run_index, ORDER(x->id, y->id))

static void results_start_reading(struct results *results, struct reading *reading) {
  *reading = (struct reading){.results = results};
  strbuf_init(&reading->ids, RESULTS_LIST_MAX);
  results_run_ids(results, &reading->ids);
  reading->runs = arena_array(&reading->arena, results->run_count, sizeof *reading->runs);
  for (size_t i = 0; i < results->run_count; i++) {
    reading->runs[i] = (struct run_index){results->runs[i].ref.id, (uint32_t)i};
  }
  ORDER_SORT(reading->runs, results->run_count, results_compare_run_index);
}

static void results_end_reading(struct reading *reading) {
  strbuf_fini(&reading->ids);
  arena_fini(&reading->arena);
}

/* Sets reading->run: rows come in the order of runs. False: it is not one of them. */
static bool reading_find_run(struct reading *reading, int64_t id) {
  const size_t run_count = reading->results->run_count;
  while (reading->run < run_count && reading->runs[reading->run].id < id) {
    reading->run++;
  }
  return reading->run < run_count && reading->runs[reading->run].id == id;
}

static void reading_take_plan(void *context, sqlite3_value **row) {
  enum { RUN, BENCH_CASE, FASTEST_NS, DELTA };
  struct reading *reading = context;
  struct results *results = reading->results;
  const int64_t bench = sqlite3_value_int64(row[BENCH_CASE]);
  if (bench < 0 || bench >= CASE_ID_END) {
    reading->bad_case_id = bench;
    return;
  }
  if (!reading_find_run(reading, sqlite3_value_int64(row[RUN]))) {
    return;
  }
  *ARENA_ADD(&reading->arena, reading->plans, reading->plan_count) =
      (struct planned){bench, reading->run, value_real(row[FASTEST_NS])};
  if (sqlite3_value_type(row[DELTA]) != SQLITE_NULL) {
    *ARENA_ADD(&reading->arena, reading->deltas, reading->delta_count) =
        (struct planned_delta){bench, reading->run, sqlite3_value_double(row[DELTA])};
  }
  results->case_ids_end = bench >= results->case_ids_end ? bench + 1 : results->case_ids_end;
}

static enum status results_load_plans(struct results *results, struct database *database,
                                      struct reading *reading, struct error *err) {
  SCOPED(statement_finalize) struct statement statement = {0};
  RETURN_ON_ERROR(statement_prepare(database, "compare/plans", &statement, err));
  statement_bind_text(&statement, ":runs", reading->ids.text);
  RETURN_ON_ERROR(statement_gather(&statement, reading_take_plan, reading, err));
  if (reading->bad_case_id != 0) {
    return error_set(err, STATUS_INVALID,
                     "a case of these runs has the id %lld, and haul gives 1 to %d",
                     (long long)reading->bad_case_id, CASE_ID_END - 1);
  }
  results->plan_count = reading->plan_count;
  reading->fastest_ns =
      arena_array(&reading->arena, (size_t)results->case_ids_end, sizeof *reading->fastest_ns);
  for (size_t i = 0; i < reading->plan_count; i++) {
    const struct planned *plan = &reading->plans[i];
    if (plan->fastest_ns > reading->fastest_ns[plan->bench]) { /* not NAN */
      reading->fastest_ns[plan->bench] = plan->fastest_ns;
    }
  }
  return STATUS_OK;
}

/* The cases in those plans, "[1,2,3]". */
static void results_planned_ids(const struct results *results, struct reading *reading,
                                struct strbuf *list) {
  bool *listed = arena_array(&reading->arena, (size_t)results->case_ids_end, sizeof *listed);
  const char *separator = "";
  strbuf_append_char(list, '[');
  for (size_t i = 0; i < reading->plan_count; i++) {
    const int64_t bench = reading->plans[i].bench;
    if (!listed[bench]) {
      strbuf_printf(list, "%s%lld", separator, (long long)bench);
      listed[bench] = true;
      separator = ",";
    }
  }
  strbuf_append_char(list, ']');
}

/* Of the runs with a case_key, what the one started last says of those that have a delta. */
static void results_set_deltas(struct results *results, const struct reading *reading) {
  SCOPED(arena_fini) struct arena arena = {0};
  uint32_t *last = arena_array(&arena, results->case_count, sizeof *last); /* run, from 1 */
  for (size_t i = 0; i < reading->delta_count; i++) {
    const struct planned_delta *plan = &reading->deltas[i];
    size_t number = results->case_numbers[plan->bench];
    if (number == 0) {
      continue;
    }
    while (number > 1 &&
           strcmp(results->cases[number - 2].key, results->cases[number - 1].key) == 0) {
      number--; /* the first with its key */
    }
    const uint32_t run = reading->runs[plan->run].index;
    uint32_t *known = &last[number - 1];
    if (*known == 0 || results_is_later(results, run, *known - 1)) {
      *known = run + 1;
      results->cases[number - 1].delta = plan->delta;
    }
  }
  for (size_t i = 1; i < results->case_count; i++) {
    if (strcmp(results->cases[i].key, results->cases[i - 1].key) == 0) {
      results->cases[i].delta = results->cases[i - 1].delta;
    }
  }
}

static enum status results_load_cases(struct results *results, struct database *database,
                                      const char *only, struct reading *reading,
                                      struct error *err) {
  SCOPED(strbuf_fini) struct strbuf planned = STRBUF(RESULTS_LIST_MAX);
  results_planned_ids(results, reading, &planned);
  RETURN_ON_ERROR(DATABASE_READ_ALL(
      database, "compare/cases",
      PARAMETERS(PARAMETER(":only", globs_json(only, &results->arena)),
                 PARAMETER(":runs", reading->ids.text), PARAMETER(":cases", planned.text)),
      CASE_MEMBERS, &results->arena, results->cases, results->case_count, err));
  results->case_numbers =
      arena_array(&results->arena, (size_t)results->case_ids_end, sizeof *results->case_numbers);
  for (size_t i = 0; i < results->case_count; i++) {
    results->case_numbers[results->cases[i].id] = (uint32_t)i + 1;
  }
  results_set_deltas(results, reading);
  return STATUS_OK;
}

static enum status results_load_flows(struct results *results, struct database *database,
                                      struct error *err) {
  SCOPED(statement_finalize) struct statement statement = {0};
  enum status status = statement_prepare(database, "compare/flows", &statement, err);
  for (size_t i = 0; i < results->case_count && status == STATUS_OK; i++) {
    struct results_case *bench = &results->cases[i];
    struct results_flow flow = {0};
    struct results_flow *flows = NULL;
    statement_bind_int(&statement, ":bench_case", bench->id);
    while (rows_next(&statement, FLOW_MEMBERS, &flow, &results->arena, &status, err)) {
      *ARENA_ADD(&results->arena, flows, bench->flow_count) = flow;
      bench->gpus |= results_gpu_bit(flow.source_is_gpu, flow.source) |
                     results_gpu_bit(flow.target_is_gpu, flow.target);
    }
    bench->flows = flows;
  }
  return status;
}

/* ---- medians ---- */

ORDER_DEFINE(results_compare_plans, struct planned,
             ORDER(x->run, y->run) ?: ORDER(x->bench, y->bench))

/* Whether the result of reading->run is faster than its peak allows. */
static bool reading_is_above_peak(const struct reading *reading, int64_t bench, double ns) {
  if (!(ns > 0 && ns < reading->fastest_ns[bench])) {
    return false;
  }
  const struct planned *plan =
      bsearch(&(struct planned){.run = reading->run, .bench = bench}, reading->plans,
              reading->plan_count, sizeof *reading->plans, results_compare_plans);
  return plan != NULL && ns < plan->fastest_ns;
}

/* A status that a newer version wrote and this one does not know: something failed. */
static enum case_status value_status(sqlite3_value *value) {
  enum case_status status = CASE_OK;
  const char *text = (const char *)sqlite3_value_text(value);
  return text == NULL || case_status_parse(text, &status) ? status : CASE_FAILED;
}

static void reading_take_median(void *context, sqlite3_value **row) {
  enum { RUN, PROCESS, STATUS, MEDIAN_NS };
  struct reading *reading = context;
  struct results *results = reading->results;
  if (!reading_find_run(reading, sqlite3_value_int64(row[RUN]))) {
    return;
  }
  const enum case_status status = value_status(row[STATUS]);
  const double ns = value_real(row[MEDIAN_NS]);
  const bool ok = status == CASE_OK && ns >= MEDIAN_NS_MIN && ns <= MEDIAN_NS_MAX;
  /* They may be millions: an arena would keep every smaller copy of the array. */
  *MEMORY_ADD(results->medians, results->median_count) = (struct results_median){
      .run = reading->runs[reading->run].index,
      .bench = reading->bench,
      .process = sqlite3_value_int64(row[PROCESS]),
      .ns = ok ? ns : NAN,
      .undisturbed_ns = ok ? ns : NAN,
      .status = status,
      .above_peak = reading_is_above_peak(reading, results->cases[reading->bench].id, ns)};
}

static enum status results_load_medians(struct results *results, struct database *database,
                                        struct reading *reading, struct error *err) {
  static const struct row_member COUNT[] = {{.column = "runs", .type = ROW_INTEGER, .size = 8},
                                            {0}};
  SCOPED(statement_finalize) struct statement statement = {0};
  int64_t runs = 0;
  RETURN_ON_ERROR(
      database_read(database, "compare/run_count", NULL, COUNT, &runs, NULL, NULL, err));
  /* Most runs of the database: then each case's results are read whole. */
  const bool most = SHARE_READ_WHOLE * (double)runs <= (double)results->run_count;
  enum status status = statement_prepare(
      database, most ? "compare/medians_of_all_runs" : "compare/medians", &statement, err);
  for (; reading->bench < results->case_count && status == STATUS_OK; reading->bench++) {
    reading->run = 0;
    statement_bind_int(&statement, ":bench_case", results->cases[reading->bench].id);
    if (!most) {
      statement_bind_text(&statement, ":runs", reading->ids.text);
    }
    status = statement_gather(&statement, reading_take_median, reading, err);
  }
  return status;
}

static const struct row_member CONDITION_MEMBERS[] = {
    ROW_COLUMN(struct results_condition, run_id, "run"),
    ROW_MEMBER_ENUM(struct results_condition, kind, condition_names, CONDITION_INCOMPLETE),
    ROW_MEMBER_TEXT(struct results_condition, text),
    ROW_MEMBER(struct results_condition, results),
    ROW_MEMBER(struct results_condition, gpu),
    ROW_MEMBER(struct results_condition, brief),
    {0}};

static enum status results_load_conditions(struct results *results, struct database *database,
                                           const char *runs, struct error *err) {
  RETURN_ON_ERROR(DATABASE_READ_ALL(
      database, "compare/conditions", PARAMETERS(PARAMETER(":runs", runs)), CONDITION_MEMBERS,
      &results->arena, results->conditions, results->condition_count, err));
  for (size_t i = 0; i < results->condition_count; i++) {
    struct results_condition *condition = &results->conditions[i];
    condition->brief = condition->brief != NULL ? condition->brief : condition->text;
    while (results->runs[condition->run].ref.id != condition->run_id) {
      condition->run++;
    }
  }
  return STATUS_OK;
}

/* ---- hardware ---- */

static uint64_t results_hash_hardware(const struct results_environment *environment,
                                      uint64_t gpus) {
  XXH64_hash_t hash = 0;
  if (gpus == 0) {
    const char *node = environment->node;
    return node != NULL && node[0] != '\0' ? XXH64(node, strlen(node), 1) | 1 : 0;
  }
  /* Nodes that play the same machine have the same UUIDs. */
  if (environment->simulated && !strings_equal(environment->node, environment->host_name)) {
    hash = XXH64(environment->node, strlen(environment->node), 1);
  }
  uint64_t found = 0;
  for (size_t i = 0; i < environment->gpu_count; i++) {
    const struct results_gpu *gpu = &environment->gpus[i];
    const uint64_t bit = results_gpu_bit(true, gpu->number);
    if ((gpus & bit) != 0 && gpu->uuid != NULL) {
      hash = XXH64(gpu->uuid, strlen(gpu->uuid), hash);
      found |= bit;
    }
  }
  return found == gpus ? hash | 1 : 0;
}

/* Once for the cases of the same GPUs, which are many. */
static void results_find_hardware(struct results *results) {
  uint64_t *sets = arena_array(&results->arena, results->case_count, sizeof *sets);
  size_t count = 0;
  for (size_t i = 0; i < results->case_count; i++) {
    struct results_case *bench = &results->cases[i];
    while (bench->gpu_set < count && sets[bench->gpu_set] != bench->gpus) {
      bench->gpu_set++;
    }
    sets[bench->gpu_set] = bench->gpus;
    count = bench->gpu_set == count ? count + 1 : count;
  }
  uint64_t *hardware =
      arena_array(&results->arena, results->environment_count * count, sizeof *hardware);
  for (size_t i = 0; i < results->environment_count * count; i++) {
    hardware[i] = results_hash_hardware(&results->environments[i / count], sets[i % count]);
  }
  results->hardware = hardware;
  results->gpu_set_count = count;
}

uint64_t results_hardware(const struct results *results, size_t run, size_t bench) {
  const struct results_case *c = &results->cases[bench];
  const size_t environment = results->runs[run].environment;
  return results->hardware != NULL
             ? results->hardware[environment * results->gpu_set_count + c->gpu_set]
             : results_hash_hardware(&results->environments[environment], c->gpus);
}

/* ---- all of it ---- */

enum status results_load(struct results *results, struct database *database, const char *only,
                         struct error *err) {
  struct reading reading;
  RETURN_ON_ERROR(database_begin_reading(database, err));
  results_start_reading(results, &reading);
  enum status status = results_load_plans(results, database, &reading, err);
  status = THEN(status, results_load_cases(results, database, only, &reading, err));
  status = THEN(status, results_load_flows(results, database, err));
  results_find_hardware(results);
  status = THEN(status, results_load_medians(results, database, &reading, err));
  status = THEN(status, results_load_conditions(results, database, reading.ids.text, err));
  results_end_reading(&reading);
  database_end_reading(database);
  return status;
}

bool results_case_matches(const struct results_case *bench, const char *only) {
  if (only == NULL || globs_match(only, bench->name) || globs_match(only, bench->block) ||
      globs_match(only, bench->key)) {
    return true;
  }
  SCOPED(arena_fini) struct arena arena = {0};
  bool found = false;
  char *lines = bench->aliases != NULL ? arena_strdup(&arena, bench->aliases) : NULL;
  for (char *rest = lines; rest != NULL && !found;) {
    found = globs_match(only, strsep(&rest, "\n"));
  }
  return found;
}

enum status results_reason(struct results *results, struct database *database, size_t run,
                           size_t bench, const char **reason, struct error *err) {
  *reason = NULL;
  return database_read(database, "compare/not_ok_reason",
                       PARAMETERS(PARAMETER(":run", results->runs[run].ref.id),
                                  PARAMETER(":bench_case", results->cases[bench].id)),
                       ROW_WORD, reason, &results->arena, NULL, err);
}

enum status results_process_ordinal(struct database *database, int64_t process, int *ordinal,
                                    struct error *err) {
  static const struct row_member ORDINAL[] = {{.column = "ordinal", .type = ROW_NUMBER}, {0}};
  *ordinal = -1;
  return database_read(database, "compare/process_ordinal",
                       PARAMETERS(PARAMETER(":process", process)), ORDINAL, ordinal, NULL, NULL,
                       err);
}
