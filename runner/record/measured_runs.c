/* measured_runs.c - the runs that are compared, and the environments they were made in. */
#include "runner/record/measured_rows.h"

#include <stdio.h>
#include <string.h>

const char *measured_text(struct measured *measured, const struct statement *statement, int i) {
  const char *text = (const char *)sqlite3_column_text(statement->stmt, i);
  return text != NULL ? arena_strdup(&measured->arena, text) : NULL;
}

enum status measured_each_row(struct measured *measured, struct database *database,
                              const char *name, const char *parameter, int64_t value,
                              measured_take *take, void *context, struct error *err) {
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
    const char *value = measured_text(measured, statement, i);
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
  add_fact(measured, context, measured_text(measured, statement, 0),
           sqlite3_column_int(statement->stmt, 1), measured_text(measured, statement, 2));
}

static void take_gpu(struct measured *measured, const struct statement *statement, void *context) {
  struct reading *reading = context;
  const char *uuid = measured_text(measured, statement, 1);
  const bool has_node = sqlite3_column_type(statement->stmt, 3) != SQLITE_NULL;
  reading->gpus = arena_grow(&measured->arena, reading->gpus, reading->environment->gpu_count,
                             &reading->gpu_capacity, sizeof *reading->gpus);
  reading->gpus[reading->environment->gpu_count++] =
      (struct measured_gpu){.number = sqlite3_column_int(statement->stmt, 0),
                            .uuid = uuid != NULL && uuid[0] != '\0' ? uuid : NULL,
                            .name = measured_text(measured, statement, 2),
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
  enum status status = measured_each_row(measured, database, "compare/environment", ":environment",
                                         environment->id, take_columns, &reading, err);
  if (status == STATUS_OK) {
    status = measured_each_row(measured, database, "compare/facts", ":environment", environment->id,
                               take_fact, &reading, err);
  }
  if (status == STATUS_OK) {
    status = measured_each_row(measured, database, "compare/gpus", ":environment", environment->id,
                               take_gpu, &reading, err);
  }
  if (status == STATUS_OK) {
    status = measured_each_row(measured, database, "compare/gpu_links", ":environment",
                               environment->id, take_link, &reading, err);
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
  run->tag = measured_text(measured, statement, 2);
  run->scenario = measured_text(measured, statement, 3);
  run->only = measured_text(measured, statement, 4);
  run->origin = measured_text(measured, statement, 5);
  run->command_line = measured_text(measured, statement, 6);
  run->haul_version = measured_text(measured, statement, 7);
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
      measured_each_row(measured, database, "compare/run", ":run", id, take_run, &run, err);
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
  enum status status =
      measured_each_row(measured, database, "select/all_runs", NULL, 0, take_id, &list, err);
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
