/* measured_runs.c - the runs that are compared, the environments they were made in, and their
 * facts. */
#include "runner/record/database.h"
#include "runner/record/measured.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- environments ---- */

/* An environment while it is read. */
struct measured_reading {
  struct measured *measured;
  struct measured_environment *environment;
  struct measured_fact *facts;
  struct measured_gpu *gpus;
  struct measured_link *links;
  size_t fact_capacity, gpu_capacity, link_capacity;
};

static void measured_add_fact(struct measured_reading *reading, const char *name, int gpu,
                              const char *value) {
  struct arena *arena = &reading->measured->arena;
  struct measured_environment *environment = reading->environment;
  for (size_t i = 0; i < environment->fact_count; i++) {
    if (reading->facts[i].gpu == gpu && strcmp(reading->facts[i].name, name) == 0) {
      return; /* a column, said again as a fact */
    }
  }
  reading->facts = arena_grow(arena, reading->facts, environment->fact_count,
                              &reading->fact_capacity, sizeof *reading->facts);
  reading->facts[environment->fact_count++] = (struct measured_fact){name, gpu, value};
}

static void measured_take_columns(const struct statement *statement, void *context) {
  struct measured_reading *reading = context;
  struct arena *arena = &reading->measured->arena;
  struct measured_environment *environment = reading->environment;
  for (int i = 0; i < sqlite3_column_count(statement->stmt); i++) {
    const char *name = arena_strdup(arena, sqlite3_column_name(statement->stmt, i));
    const char *value = statement_column_text(statement, i, arena);
    measured_add_fact(reading, name, -1, value);
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

static void measured_take_fact(const struct statement *statement, void *context) {
  struct measured_reading *reading = context;
  struct arena *arena = &reading->measured->arena;
  measured_add_fact(reading, statement_column_text(statement, 0, arena),
                    sqlite3_column_int(statement->stmt, 1),
                    statement_column_text(statement, 2, arena));
}

static void measured_take_gpu(const struct statement *statement, void *context) {
  struct measured_reading *reading = context;
  struct arena *arena = &reading->measured->arena;
  const char *uuid = statement_column_text(statement, 1, arena);
  const bool has_node = sqlite3_column_type(statement->stmt, 3) != SQLITE_NULL;
  reading->gpus = arena_grow(arena, reading->gpus, reading->environment->gpu_count,
                             &reading->gpu_capacity, sizeof *reading->gpus);
  reading->gpus[reading->environment->gpu_count++] =
      (struct measured_gpu){.number = sqlite3_column_int(statement->stmt, 0),
                            .uuid = uuid != NULL && uuid[0] != '\0' ? uuid : NULL,
                            .name = statement_column_text(statement, 2, arena),
                            .numa_node = has_node ? sqlite3_column_int(statement->stmt, 3) : -1};
}

static void measured_take_link(const struct statement *statement, void *context) {
  struct measured_reading *reading = context;
  struct arena *arena = &reading->measured->arena;
  reading->links = arena_grow(arena, reading->links, reading->environment->link_count,
                              &reading->link_capacity, sizeof *reading->links);
  reading->links[reading->environment->link_count++] = (struct measured_link){
      .source = sqlite3_column_int(statement->stmt, 0),
      .target = sqlite3_column_int(statement->stmt, 1),
      .peer_access = sqlite3_column_int(statement->stmt, 2) != 0,
      .nvlink_count = sqlite3_column_int(statement->stmt, 3),
  };
}

static enum status measured_read_environment(struct measured *measured, struct database *database,
                                             struct measured_environment *environment,
                                             struct error *err) {
  struct measured_reading reading = {.measured = measured, .environment = environment};
  enum status status = statement_each_row(database, "compare/environment", ":environment",
                                          environment->id, measured_take_columns, &reading, err);
  if (status == STATUS_OK) {
    status = statement_each_row(database, "compare/facts", ":environment", environment->id,
                                measured_take_fact, &reading, err);
  }
  if (status == STATUS_OK) {
    status = statement_each_row(database, "compare/gpus", ":environment", environment->id,
                                measured_take_gpu, &reading, err);
  }
  if (status == STATUS_OK) {
    status = statement_each_row(database, "compare/gpu_links", ":environment", environment->id,
                                measured_take_link, &reading, err);
  }
  environment->facts = reading.facts;
  environment->gpus = reading.gpus;
  environment->links = reading.links;
  return status;
}

static enum status measured_find_environment(struct measured *measured, struct database *database,
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
  return measured_read_environment(measured, database, environment, err);
}

/* ---- runs ---- */

/* A run while it is read. */
struct measured_run_reading {
  struct arena *arena;
  struct measured_run run;
};

static void measured_take_run(const struct statement *statement, void *context) {
  struct measured_run_reading *reading = context;
  struct measured_run *run = &reading->run;
  sqlite3_stmt *stmt = statement->stmt;
  run->ref.id = sqlite3_column_int64(stmt, 0);
  (void)snprintf(run->ref.uuid, sizeof run->ref.uuid, "%s",
                 (const char *)sqlite3_column_text(stmt, 1));
  run->tag = statement_column_text(statement, 2, reading->arena);
  run->scenario = statement_column_text(statement, 3, reading->arena);
  run->only = statement_column_text(statement, 4, reading->arena);
  run->origin = statement_column_text(statement, 5, reading->arena);
  run->command_line = statement_column_text(statement, 6, reading->arena);
  run->haul_version = statement_column_text(statement, 7, reading->arena);
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
  struct measured_run_reading reading = {&measured->arena, {.ref.id = -1}};
  struct measured_run *run = &reading.run;
  enum status status =
      statement_each_row(database, "compare/run", ":run", id, measured_take_run, &reading, err);
  if (status == STATUS_OK && run->ref.id != id) {
    status = error_set(err, STATUS_NOT_FOUND, "there is no run %lld", (long long)id);
  }
  if (status == STATUS_OK) {
    status = measured_find_environment(measured, database, (int64_t)run->environment,
                                       &run->environment, err);
  }
  if (status == STATUS_OK) {
    measured->runs = arena_grow(&measured->arena, measured->runs, measured->run_count,
                                &measured->run_capacity, sizeof *measured->runs);
    measured->runs[measured->run_count++] = *run;
  }
  return status;
}

struct id_list {
  struct arena *arena;
  int64_t *ids;
  size_t count, capacity;
};

static void measured_take_id(const struct statement *statement, void *context) {
  struct id_list *list = context;
  list->ids = arena_grow(list->arena, list->ids, list->count, &list->capacity, sizeof *list->ids);
  list->ids[list->count++] = sqlite3_column_int64(statement->stmt, 0);
}

enum status measured_add_all_runs(struct measured *measured, struct database *database,
                                  struct error *err) {
  struct id_list list = {.arena = &measured->arena};
  enum status status =
      statement_each_row(database, "select/all_runs", NULL, 0, measured_take_id, &list, err);
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

/* ---- facts by name ---- */

static const char *const RUN_FACTS[] = {"tag", "scenario", "haul_version", "origin"};
enum { RUN_FACT_COUNT = sizeof RUN_FACTS / sizeof *RUN_FACTS };

/* False: not a fact of the run itself. */
static bool measured_own_fact(const struct measured_run *run, const char *name,
                              const char **value) {
  const char *const values[RUN_FACT_COUNT] = {run->tag, run->scenario, run->haul_version,
                                              run->origin};
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
  if (measured_own_fact(&measured->runs[run], name, &value)) {
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

bool measured_knows_fact(const struct measured *measured, const char *name) {
  for (size_t i = 0; i < RUN_FACT_COUNT; i++) {
    if (strcmp(name, RUN_FACTS[i]) == 0) {
      return true;
    }
  }
  for (size_t e = 0; e < measured->environment_count; e++) {
    for (size_t i = 0; i < measured->environments[e].fact_count; i++) {
      if (strcmp(measured->environments[e].facts[i].name, name) == 0) {
        return true;
      }
    }
  }
  return false;
}

static int measured_compare_texts(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *const *measured_fact_names(struct measured *measured) {
  size_t count = 0;
  size_t capacity = 0;
  const char **names = NULL;
  for (size_t e = 0; e < measured->environment_count; e++) {
    for (size_t i = 0; i < measured->environments[e].fact_count; i++) {
      names = arena_grow(&measured->arena, names, count, &capacity, sizeof *names);
      names[count++] = measured->environments[e].facts[i].name;
    }
  }
  for (size_t i = 0; i < RUN_FACT_COUNT; i++) {
    names = arena_grow(&measured->arena, names, count, &capacity, sizeof *names);
    names[count++] = RUN_FACTS[i];
  }
  qsort(names, count, sizeof *names, measured_compare_texts); /* the run's own are always there */
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
