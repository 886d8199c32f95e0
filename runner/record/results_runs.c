/* results_runs.c - the runs that are compared, the environments they were made in, and their
 * facts. */
#include "engine/base/order.h"
#include "engine/base/strbuf.h"
#include "engine/base/strings.h"
#include "runner/record/results.h"
#include "runner/record/rows.h"

#include <string.h>

/* ---- environments ---- */

static const struct row_member FACT_MEMBERS[] = {ROW_MEMBER_TEXT(struct results_fact, name),
                                                 ROW_MEMBER(struct results_fact, gpu),
                                                 ROW_MEMBER(struct results_fact, value),
                                                 {0}};

static const struct row_member GPU_MEMBERS[] = {
    ROW_MEMBER(struct results_gpu, number),      ROW_MEMBER(struct results_gpu, uuid),
    ROW_MEMBER(struct results_gpu, name),        ROW_MEMBER(struct results_gpu, numa_node),
    ROW_MEMBER(struct results_gpu, pci_address), {0}};

static const struct row_member LINK_MEMBERS[] = {ROW_MEMBER(struct results_link, source),
                                                 ROW_MEMBER(struct results_link, target),
                                                 ROW_MEMBER(struct results_link, peer_access),
                                                 ROW_MEMBER(struct results_link, nvlink_count),
                                                 {0}};

/* Among those that are columns of environment; NULL = there is none of the name. */
static const struct results_fact *results_column(const struct results_environment *environment,
                                                 size_t column_count, const char *name) {
  const size_t i = FIRST_OF(k, column_count, strcmp(environment->facts[k].name, name) == 0);
  return i < column_count ? &environment->facts[i] : NULL;
}

static const char *results_column_value(const struct results_environment *environment,
                                        const char *name) {
  const struct results_fact *fact = results_column(environment, environment->fact_count, name);
  return fact != NULL ? fact->value : NULL;
}

/* The columns of environment, then environment_fact. */
static enum status results_read_facts(struct arena *arena, struct database *database,
                                      struct results_environment *environment, struct error *err) {
  SCOPED(statement_finalize) struct statement columns = {0};
  SCOPED(statement_finalize) struct statement facts = {0};
  struct results_fact fact;
  enum status status = statement_prepare(database, "compare/environment", &columns, err);
  statement_bind_int(&columns, ":environment", environment->id);
  while (statement_next(&columns, &status, err)) {
    for (int i = 0; i < sqlite3_column_count(columns.stmt); i++) {
      const char *name = arena_strdup(arena, sqlite3_column_name(columns.stmt, i));
      const char *value = statement_column_optional(&columns, i, arena);
      /* Where the host's name says it already, a node is no fact of its own. */
      if (value != NULL || strcmp(name, "node") != 0) {
        *ARENA_ADD(arena, environment->facts, environment->fact_count) =
            (struct results_fact){name, -1, value};
      }
    }
  }
  RETURN_ON_ERROR(status);
  environment->simulated = !strings_equal(results_column_value(environment, "simulated"), "0");
  environment->host_name = results_column_value(environment, "host_name");
  if (environment->host_name == NULL) { /* no database that haul made */
    environment->host_name = "";
  }
  environment->node = results_column_value(environment, "node");
  if (environment->node == NULL) {
    environment->node = environment->host_name;
  }
  environment->driver_version = results_column_value(environment, "driver_version");
  environment->boot_id = results_column_value(environment, "boot_id");
  const size_t column_count = environment->fact_count;
  status = statement_prepare(database, "compare/facts", &facts, err);
  statement_bind_int(&facts, ":environment", environment->id);
  while (rows_next(&facts, FACT_MEMBERS, &fact, arena, &status, err)) {
    if (fact.gpu >= 0 || results_column(environment, column_count, fact.name) == NULL) {
      *ARENA_ADD(arena, environment->facts, environment->fact_count) = fact;
    }
  }
  return status;
}

static enum status results_find_environment(struct results *results, struct database *database,
                                            int64_t id, size_t *index, struct error *err) {
  for (*index = 0; *index < results->environment_count; ++*index) {
    if (results->environments[*index].id == id) {
      return STATUS_OK;
    }
  }
  struct results_environment *environment =
      ARENA_ADD(&results->arena, results->environments, results->environment_count);
  *environment = (struct results_environment){.id = id};
  enum status status = results_read_facts(&results->arena, database, environment, err);
  const struct parameter *parameters = PARAMETERS(PARAMETER(":environment", id));
  status = THEN(status,
                DATABASE_READ_ALL(database, "compare/gpus", parameters, GPU_MEMBERS,
                                  &results->arena, environment->gpus, environment->gpu_count, err));
  return THEN(status,
              DATABASE_READ_ALL(database, "compare/gpu_links", parameters, LINK_MEMBERS,
                                &results->arena, environment->links, environment->link_count, err));
}

/* ---- runs ---- */

static bool results_has_run(const struct results *results, int64_t id) {
  return ANY_OF(i, results->run_count, results->runs[i].ref.id == id);
}

/* A run, and the number of its environment. */
struct recorded_run {
  struct results_run run;
  int64_t environment;
};

static const struct row_member RUN_MEMBERS[] = {
    ROW_COLUMN(struct recorded_run, run.ref.id, "id"),
    ROW_COLUMN(struct recorded_run, run.ref.uuid, "uuid"),
    ROW_COLUMN(struct recorded_run, run.tag, "tag"),
    ROW_COLUMN_TEXT(struct recorded_run, run.scenario, "scenario"),
    ROW_COLUMN(struct recorded_run, run.only, "only"),
    ROW_COLUMN_TEXT(struct recorded_run, run.origin, "origin"),
    ROW_COLUMN(struct recorded_run, run.argv, "argv"),
    ROW_COLUMN_TEXT(struct recorded_run, run.haul_version, "haul_version"),
    ROW_COLUMN(struct recorded_run, run.started_at_ns, "started_at_ns"),
    ROW_MEMBER(struct recorded_run, environment),
    ROW_COLUMN(struct recorded_run, run.processes, "processes"),
    ROW_COLUMN(struct recorded_run, run.looks, "looks"),
    ROW_COLUMN(struct recorded_run, run.look, "look"),
    ROW_COLUMN(struct recorded_run, run.repeats, "repeats"),
    ROW_COLUMN(struct recorded_run, run.fleet, "fleet"),
    ROW_COLUMN(struct recorded_run, run.slurm_nodes, "slurm_nodes"),
    {0}};

/* Runs whose number is first to last, but for those that are there. The statement is compare/runs.
 */
static enum status results_read_runs(struct results *results, struct statement *statement,
                                     int64_t first, int64_t last, struct error *err) {
  enum status status = STATUS_OK;
  statement_bind_int(statement, ":first", first);
  statement_bind_int(statement, ":last", last);
  struct recorded_run row = {0};
  while (rows_next(statement, RUN_MEMBERS, &row, &results->arena, &status, err)) {
    if (results_has_run(results, row.run.ref.id)) {
      continue;
    }
    status = results_find_environment(results, statement->database, row.environment,
                                      &row.run.environment, err);
    *ARENA_ADD(&results->arena, results->runs, results->run_count) = row.run;
  }
  return status;
}

enum status results_add_runs(struct results *results, struct database *database,
                             const struct run_ref *runs, size_t count, struct error *err) {
  SCOPED(statement_finalize) struct statement statement = {0};
  RETURN_ON_ERROR(database_begin_reading(database, err));
  enum status status = statement_prepare(database, "compare/runs", &statement, err);
  for (size_t i = 0; i < count && status == STATUS_OK; i++) {
    status = results_read_runs(results, &statement, runs[i].id, runs[i].id, err);
    if (status == STATUS_OK && !results_has_run(results, runs[i].id)) {
      status = error_set(err, STATUS_NOT_FOUND, "there is no run %lld", (long long)runs[i].id);
    }
  }
  database_end_reading(database);
  return status;
}

enum status results_add_earlier_runs(struct results *results, struct database *database,
                                     const struct results *other, size_t run, int64_t before_ns,
                                     struct error *err) {
  const struct results_environment *environment =
      &other->environments[other->runs[run].environment];
  SCOPED(arena_fini) struct arena arena = {0};
  SCOPED(strbuf_fini) struct strbuf ids = STRBUF(RESULTS_LIST_MAX);
  struct run_list found;
  results_run_ids(other, &ids);
  RETURN_ON_ERROR(
      DATABASE_READ_ALL(database, "compare/earlier_runs",
                        PARAMETERS(PARAMETER(":node", environment->node),
                                   PARAMETER(":simulated", environment->simulated),
                                   PARAMETER(":before_ns", before_ns), PARAMETER(":runs", ids.text),
                                   PARAMETER(":most", RESULTS_EARLIER_MAX)),
                        RUN_REF_MEMBERS, &arena, found.runs, found.count, err));
  return results_add_runs(results, database, found.runs, found.count, err);
}

enum status results_add_all_runs(struct results *results, struct database *database,
                                 struct error *err) {
  SCOPED(statement_finalize) struct statement statement = {0};
  RETURN_ON_ERROR(statement_prepare(database, "compare/runs", &statement, err));
  return results_read_runs(results, &statement, 0, INT64_MAX, err);
}

bool results_run_has_driver(const struct results *results, size_t run, const void *context) {
  return strings_equal(results->environments[results->runs[run].environment].driver_version,
                       context);
}

void results_keep_runs(struct results *results,
                       bool (*keep)(const struct results *, size_t run, const void *context),
                       const void *context) {
  size_t kept = 0;
  for (size_t i = 0; i < results->run_count; i++) {
    if (keep(results, i, context)) {
      results->runs[kept++] = results->runs[i];
    }
  }
  results->run_count = kept;
}

bool results_run_is_own(const struct results *results, size_t run, const void *context) {
  (void)context;
  return strcmp(results->runs[run].origin, "measured") == 0;
}

/* ---- facts by name ---- */

static const char *const RUN_FACTS[] = {"tag",    "scenario", "haul_version",
                                        "origin", "fleet",    "node"};
enum { RUN_FACT_COUNT = COUNT_OF(RUN_FACTS) };

/* False: not a fact of the run itself. */
static bool results_own_fact(const struct results *results, const struct results_run *run,
                             const char *name, const char **value) {
  const char *const values[RUN_FACT_COUNT] = {
      run->tag,    run->scenario, run->haul_version,
      run->origin, run->fleet,    results->environments[run->environment].node};
  for (size_t i = 0; i < RUN_FACT_COUNT; i++) {
    if (strcmp(name, RUN_FACTS[i]) == 0) {
      *value = values[i];
      return true;
    }
  }
  return false;
}

const char *results_run_fact(struct results *results, size_t run, const char *name) {
  const char *value = NULL;
  if (results_own_fact(results, &results->runs[run], name, &value)) {
    return value;
  }
  const struct results_environment *environment =
      &results->environments[results->runs[run].environment];
  for (size_t i = 0; i < environment->fact_count; i++) {
    const struct results_fact *fact = &environment->facts[i];
    if (strcmp(fact->name, name) != 0 || fact->value == NULL) {
      continue;
    }
    if (fact->gpu < 0) {
      return fact->value;
    }
    bool known = false;
    for (size_t j = 0; j < i && !known; j++) {
      const struct results_fact *other = &environment->facts[j];
      known = other->value != NULL && strcmp(other->name, name) == 0 &&
              strcmp(other->value, fact->value) == 0;
    }
    if (value == NULL) {
      value = fact->value;
    } else if (!known) {
      value = arena_format(&results->arena, "%s, %s", value, fact->value);
    }
  }
  return value;
}

const char *const *results_fact_names(struct results *results) {
  size_t count = 0;
  const char **names = NULL;
  for (size_t e = 0; e < results->environment_count; e++) {
    for (size_t i = 0; i < results->environments[e].fact_count; i++) {
      *ARENA_ADD(&results->arena, names, count) = results->environments[e].facts[i].name;
    }
  }
  for (size_t i = 0; i < RUN_FACT_COUNT; i++) {
    *ARENA_ADD(&results->arena, names, count) = RUN_FACTS[i];
  }
  ORDER_SORT(names, count, strings_compare); /* the run's own are always there */
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (kept == 0 || strcmp(names[kept - 1], names[i]) != 0) {
      names[kept++] = names[i];
    }
  }
  names = arena_grow(&results->arena, names, kept, sizeof *names);
  names[kept] = NULL;
  return names;
}

bool results_knows_fact(struct results *results, const char *name) {
  for (const char *const *known = results_fact_names(results); *known != NULL; known++) {
    if (strcmp(*known, name) == 0) {
      return true;
    }
  }
  return false;
}
