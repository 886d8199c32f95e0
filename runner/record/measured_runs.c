/* measured_runs.c - the runs that are compared, the environments they were made in, and their
 * facts. */
#include "engine/base/order.h"
#include "engine/base/strbuf.h"
#include "engine/base/strings.h"
#include "runner/record/database.h"
#include "runner/record/measured.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- environments ---- */

static void measured_add_fact(struct arena *arena, struct measured_environment *environment,
                              size_t *capacity, struct measured_fact fact) {
  for (size_t i = 0; i < environment->fact_count; i++) {
    if (environment->facts[i].gpu == fact.gpu &&
        strcmp(environment->facts[i].name, fact.name) == 0) {
      return; /* a column, said again as a fact */
    }
  }
  *ARENA_ADD(arena, environment->facts, environment->fact_count, capacity) = fact;
}

static const char *measured_machine_fact(const struct measured_environment *environment,
                                         const char *name) {
  for (size_t i = 0; i < environment->fact_count; i++) {
    if (strcmp(environment->facts[i].name, name) == 0) {
      return environment->facts[i].value;
    }
  }
  return NULL;
}

/* The columns of environment, then environment_fact. */
static enum status measured_read_facts(struct arena *arena, struct database *database,
                                       struct measured_environment *environment,
                                       struct error *err) {
  size_t capacity = 0;
  struct statement columns;
  enum status status = statement_prepare(database, "compare/environment", &columns, err);
  statement_bind_int(&columns, ":environment", environment->id);
  while (statement_next(&columns, &status, err)) {
    for (int i = 0; i < sqlite3_column_count(columns.stmt); i++) {
      const char *name = arena_strdup(arena, sqlite3_column_name(columns.stmt, i));
      const char *value = statement_column_optional(&columns, i, arena);
      /* Where the host's name says it already, a node is no fact of its own. */
      if (value != NULL || strcmp(name, "node") != 0) {
        measured_add_fact(arena, environment, &capacity, (struct measured_fact){name, -1, value});
      }
    }
  }
  statement_finalize(&columns);
  RETURN_ON_ERROR(status);
  environment->simulated = !strings_equal(measured_machine_fact(environment, "simulated"), "0");
  environment->host_name = measured_machine_fact(environment, "host_name");
  if (environment->host_name == NULL) { /* no database that haul made */
    environment->host_name = "";
  }
  environment->node = measured_machine_fact(environment, "node");
  if (environment->node == NULL) {
    environment->node = environment->host_name;
  }
  environment->driver_version = measured_machine_fact(environment, "driver_version");
  environment->boot_id = measured_machine_fact(environment, "boot_id");
  SCOPED(statement_finalize) struct statement facts = {0};
  status = statement_prepare(database, "compare/facts", &facts, err);
  statement_bind_int(&facts, ":environment", environment->id);
  while (statement_next(&facts, &status, err)) {
    measured_add_fact(arena, environment, &capacity,
                      (struct measured_fact){statement_column_text(&facts, 0, arena),
                                             sqlite3_column_int(facts.stmt, 1),
                                             statement_column_optional(&facts, 2, arena)});
  }
  return status;
}

static enum status measured_read_gpus(struct arena *arena, struct database *database,
                                      struct measured_environment *environment, struct error *err) {
  size_t capacity = 0;
  SCOPED(statement_finalize) struct statement statement = {0};
  enum status status = statement_prepare(database, "compare/gpus", &statement, err);
  statement_bind_int(&statement, ":environment", environment->id);
  while (statement_next(&statement, &status, err)) {
    *ARENA_ADD(arena, environment->gpus, environment->gpu_count, &capacity) =
        (struct measured_gpu){.number = sqlite3_column_int(statement.stmt, 0),
                              .uuid = statement_column_optional(&statement, 1, arena),
                              .name = statement_column_optional(&statement, 2, arena),
                              .numa_node = statement_column_number(&statement, 3),
                              .pci_address = statement_column_optional(&statement, 4, arena)};
  }
  return status;
}

static enum status measured_read_links(struct arena *arena, struct database *database,
                                       struct measured_environment *environment,
                                       struct error *err) {
  size_t capacity = 0;
  SCOPED(statement_finalize) struct statement statement = {0};
  enum status status = statement_prepare(database, "compare/gpu_links", &statement, err);
  statement_bind_int(&statement, ":environment", environment->id);
  while (statement_next(&statement, &status, err)) {
    *ARENA_ADD(arena, environment->links, environment->link_count, &capacity) =
        (struct measured_link){.source = sqlite3_column_int(statement.stmt, 0),
                               .target = sqlite3_column_int(statement.stmt, 1),
                               .peer_access = sqlite3_column_int(statement.stmt, 2) != 0,
                               .nvlink_count = sqlite3_column_int(statement.stmt, 3)};
  }
  return status;
}

static enum status measured_find_environment(struct measured *measured, struct database *database,
                                             int64_t id, size_t *index, struct error *err) {
  for (*index = 0; *index < measured->environment_count; ++*index) {
    if (measured->environments[*index].id == id) {
      return STATUS_OK;
    }
  }
  struct measured_environment *environment =
      ARENA_ADD(&measured->arena, measured->environments, measured->environment_count,
                &measured->environment_capacity);
  *environment = (struct measured_environment){.id = id};
  enum status status = measured_read_facts(&measured->arena, database, environment, err);
  if (status == STATUS_OK) {
    status = measured_read_gpus(&measured->arena, database, environment, err);
  }
  if (status == STATUS_OK) {
    status = measured_read_links(&measured->arena, database, environment, err);
  }
  return status;
}

/* ---- runs ---- */

static bool measured_has_run(const struct measured *measured, int64_t id) {
  for (size_t i = 0; i < measured->run_count; i++) {
    if (measured->runs[i].ref.id == id) {
      return true;
    }
  }
  return false;
}

/* *environment: the id of the run's environment. */
static void measured_take_run(const struct statement *statement, struct arena *arena,
                              struct measured_run *run, int64_t *environment) {
  sqlite3_stmt *stmt = statement->stmt;
  run->ref.id = sqlite3_column_int64(stmt, 0);
  (void)snprintf(run->ref.uuid, sizeof run->ref.uuid, "%s", statement_text(statement, 1));
  run->tag = statement_column_optional(statement, 2, arena);
  run->scenario = statement_column_text(statement, 3, arena);
  run->only = statement_column_optional(statement, 4, arena);
  run->origin = statement_column_text(statement, 5, arena);
  run->argv = statement_column_optional(statement, 6, arena);
  run->haul_version = statement_column_text(statement, 7, arena);
  run->started_at_ns = sqlite3_column_int64(stmt, 8);
  *environment = sqlite3_column_int64(stmt, 9);
  run->processes = (unsigned)sqlite3_column_int64(stmt, 10);
  run->looks = (unsigned)sqlite3_column_int64(stmt, 11);
  run->look = (unsigned)sqlite3_column_int64(stmt, 12);
  run->fleet = statement_column_optional(statement, 13, arena);
}

/* Runs whose number is first to last, but for those that are there. */
/* The statement is compare/runs. */
static enum status measured_read_runs(struct measured *measured, struct statement *statement,
                                      int64_t first, int64_t last, struct error *err) {
  enum status status = STATUS_OK;
  statement_bind_int(statement, ":first", first);
  statement_bind_int(statement, ":last", last);
  while (statement_next(statement, &status, err)) {
    int64_t environment = 0;
    struct measured_run run = {0};
    measured_take_run(statement, &measured->arena, &run, &environment);
    if (measured_has_run(measured, run.ref.id)) {
      continue;
    }
    status = measured_find_environment(measured, statement->database, environment, &run.environment,
                                       err);
    *ARENA_ADD(&measured->arena, measured->runs, measured->run_count, &measured->run_capacity) =
        run;
  }
  return status;
}

enum status measured_add_runs(struct measured *measured, struct database *database,
                              const struct run_ref *runs, size_t count, struct error *err) {
  SCOPED(statement_finalize) struct statement statement = {0};
  enum status status = statement_prepare(database, "compare/runs", &statement, err);
  for (size_t i = 0; i < count && status == STATUS_OK; i++) {
    status = measured_read_runs(measured, &statement, runs[i].id, runs[i].id, err);
    if (status == STATUS_OK && !measured_has_run(measured, runs[i].id)) {
      return error_set(err, STATUS_NOT_FOUND, "there is no run %lld", (long long)runs[i].id);
    }
  }
  return status;
}

enum status measured_add_earlier_runs(struct measured *measured, struct database *database,
                                      const struct measured *other, size_t run, int64_t before_ns,
                                      struct error *err) {
  struct statement statement;
  struct run_ref found[MEASURED_EARLIER_MAX];
  size_t first = MEASURED_EARLIER_MAX; /* they come from the latest to the earliest */
  const struct measured_environment *environment =
      &other->environments[other->runs[run].environment];
  SCOPED(strbuf_fini) struct strbuf ids = STRBUF(MEASURED_LIST_MAX);
  measured_run_ids(other, &ids);
  enum status status = statement_prepare(database, "compare/earlier_runs", &statement, err);
  statement_bind_text(&statement, ":node", environment->node);
  statement_bind_int(&statement, ":simulated", environment->simulated);
  statement_bind_int(&statement, ":before_ns", before_ns);
  statement_bind_text(&statement, ":runs", ids.text);
  statement_bind_int(&statement, ":most", MEASURED_EARLIER_MAX);
  while (statement_next(&statement, &status, err)) {
    found[--first].id = sqlite3_column_int64(statement.stmt, 0);
  }
  statement_finalize(&statement);
  return THEN(status, measured_add_runs(measured, database, found + first,
                                        MEASURED_EARLIER_MAX - first, err));
}

enum status measured_add_all_runs(struct measured *measured, struct database *database,
                                  struct error *err) {
  SCOPED(statement_finalize) struct statement statement = {0};
  RETURN_ON_ERROR(statement_prepare(database, "compare/runs", &statement, err));
  return measured_read_runs(measured, &statement, 0, INT64_MAX, err);
}

bool measured_run_has_driver(const struct measured *measured, size_t run, const void *context) {
  return strings_equal(measured->environments[measured->runs[run].environment].driver_version,
                       context);
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

bool measured_run_is_own(const struct measured *measured, size_t run, const void *context) {
  (void)context;
  return strcmp(measured->runs[run].origin, "measured") == 0;
}

/* ---- facts by name ---- */

static const char *const RUN_FACTS[] = {"tag",    "scenario", "haul_version",
                                        "origin", "fleet",    "node"};
enum { RUN_FACT_COUNT = sizeof RUN_FACTS / sizeof *RUN_FACTS };

/* False: not a fact of the run itself. */
static bool measured_own_fact(const struct measured *measured, const struct measured_run *run,
                              const char *name, const char **value) {
  const char *const values[RUN_FACT_COUNT] = {
      run->tag,    run->scenario, run->haul_version,
      run->origin, run->fleet,    measured->environments[run->environment].node};
  for (size_t i = 0; i < RUN_FACT_COUNT; i++) {
    if (strcmp(name, RUN_FACTS[i]) == 0) {
      *value = values[i];
      return true;
    }
  }
  return false;
}

const char *measured_run_fact(struct measured *measured, size_t run, const char *name) {
  const char *value = NULL;
  if (measured_own_fact(measured, &measured->runs[run], name, &value)) {
    return value;
  }
  const struct measured_environment *environment =
      &measured->environments[measured->runs[run].environment];
  for (size_t i = 0; i < environment->fact_count; i++) {
    const struct measured_fact *fact = &environment->facts[i];
    if (strcmp(fact->name, name) != 0 || fact->value == NULL) {
      continue;
    }
    if (fact->gpu < 0) {
      return fact->value;
    }
    bool known = false;
    for (size_t j = 0; j < i && !known; j++) {
      const struct measured_fact *other = &environment->facts[j];
      known = other->value != NULL && strcmp(other->name, name) == 0 &&
              strcmp(other->value, fact->value) == 0;
    }
    if (value == NULL) {
      value = fact->value;
    } else if (!known) {
      value = arena_format(&measured->arena, "%s, %s", value, fact->value);
    }
  }
  return value;
}

const char *const *measured_fact_names(struct measured *measured) {
  size_t count = 0;
  size_t capacity = 0;
  const char **names = NULL;
  for (size_t e = 0; e < measured->environment_count; e++) {
    for (size_t i = 0; i < measured->environments[e].fact_count; i++) {
      *ARENA_ADD(&measured->arena, names, count, &capacity) =
          measured->environments[e].facts[i].name;
    }
  }
  for (size_t i = 0; i < RUN_FACT_COUNT; i++) {
    *ARENA_ADD(&measured->arena, names, count, &capacity) = RUN_FACTS[i];
  }
  ORDER_SORT(names, count, strings_compare); /* the run's own are always there */
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (kept == 0 || strcmp(names[kept - 1], names[i]) != 0) {
      names[kept++] = names[i];
    }
  }
  names = arena_grow(&measured->arena, names, kept, &capacity, sizeof *names);
  names[kept] = NULL;
  return names;
}

bool measured_knows_fact(struct measured *measured, const char *name) {
  for (const char *const *known = measured_fact_names(measured); *known != NULL; known++) {
    if (strcmp(*known, name) == 0) {
      return true;
    }
  }
  return false;
}
