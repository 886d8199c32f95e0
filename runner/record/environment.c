/* environment.c - inserts the facts about a machine. Values that change by themselves (free memory,
 * utilisation, the speed of an idle link) are not part of an environment, nor are the words that
 * say why a fact is unavailable: two runs on an unchanged machine have the same one, and it keeps
 * the words of the first. */
#include "engine/machine/machine.h"
#include "runner/record/manage.h"
#include "runner/record/record_internal.h"
#include "schema/machine/machine_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The keys of an object that have a parameter in its statement, and so are recorded: into the
 * content, or, if that is NULL, into the statement. */
static void record_take_keys(struct statement *statement, struct content *content,
                             const void *object, const struct key *keys, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char parameter[64];
    (void)snprintf(parameter, sizeof parameter, ":%s", keys[i].name);
    const bool text = keys[i].type == KEY_TEXT;
    if (sqlite3_bind_parameter_index(statement->stmt, parameter) == 0) {
      continue;
    }
    if (content != NULL && text) {
      content_text(content, machine_key_text(object, &keys[i]));
    } else if (content != NULL) {
      content_int(content, machine_key_number(object, &keys[i]));
    } else if (text) {
      statement_bind_text(statement, parameter, machine_key_text(object, &keys[i]));
    } else {
      statement_bind_int(statement, parameter, machine_key_number(object, &keys[i]));
    }
  }
}

static enum status record_environment_key(struct record *record, const struct machine *machine,
                                          char key[CONTENT_KEY_MAX], struct error *err) {
  SCOPED(statement_finalize) struct statement gpu = {0};
  SCOPED(statement_finalize) struct statement link = {0};
  SCOPED(statement_finalize) struct statement node = {0};
  RETURN_ON_ERROR(record_statement(record, "environment/insert_gpu", &gpu, err));
  RETURN_ON_ERROR(record_statement(record, "environment/insert_gpu_link", &link, err));
  RETURN_ON_ERROR(record_statement(record, "environment/insert_node", &node, err));
  struct content *content = content_new();
  content_int(content, machine->simulated);
  content_text(content, machine->host_name);
  content_text(content, machine->source);
  content_text(content, strcmp(machine->cuda_state, "ok") == 0 ? "ok" : "");
  content_int(content, machine->gpu_count);
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    record_take_keys(&gpu, content, &machine->gpus[i], GPU_KEYS, GPU_KEY_COUNT);
    for (uint32_t j = 0; j < machine->gpu_count; j++) {
      record_take_keys(&link, content, &machine->links[i][j], LINK_KEYS, LINK_KEY_COUNT);
    }
  }
  content_int(content, machine->node_count);
  for (uint32_t i = 0; i < machine->node_count; i++) {
    record_take_keys(&node, content, &machine->nodes[i], NODE_KEYS, NODE_KEY_COUNT);
    for (uint32_t j = 0; j < machine->node_count; j++) {
      content_int(content, machine->node_distance[i][j]);
    }
  }
  content_int(content, machine->fact_count);
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    content_text(content, machine->facts[i].name);
    content_int(content, machine->facts[i].gpu);
    const bool known = machine->facts[i].state == FACT_OK;
    content_text(content, fact_state_text(machine->facts[i].state));
    content_text(content, known ? machine->facts[i].value : "");
  }
  if (machine->node_name[0] != '\0') { /* only then: other keys stay as they were */
    content_text(content, machine->node_name);
  }
  content_finish(content, key);
  return STATUS_OK;
}

/* Every different name once. */
static void record_join_gpu_names(const struct machine *machine, char *text, size_t size) {
  size_t length = 0;
  text[0] = '\0';
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    if (ANY_OF(j, i, strcmp(machine->gpus[i].name, machine->gpus[j].name) == 0) || length >= size) {
      continue;
    }
    int more = snprintf(text + length, size - length, "%s%s", length > 0 ? ", " : "",
                        machine->gpus[i].name);
    length += (size_t)more;
  }
}

static enum status record_insert_environment(struct record *record, const struct machine *machine,
                                             const char *key, int64_t *id, struct error *err) {
  SCOPED(statement_finalize) struct statement insert = {0};
  RETURN_ON_ERROR(record_statement(record, "environment/insert_environment", &insert, err));
  char gpu_names[MACHINE_GPUS_MAX * (MACHINE_TEXT_MAX + 2)];
  record_join_gpu_names(machine, gpu_names, sizeof gpu_names);
  /* First all columns as if they were facts, then those that are none. */
  for (int i = 1; i <= sqlite3_bind_parameter_count(insert.stmt); i++) {
    const char *parameter = sqlite3_bind_parameter_name(insert.stmt, i);
    statement_bind_text(&insert, parameter, machine_value(machine, parameter + 1, -1));
  }
  statement_bind_text(&insert, ":key", key);
  statement_bind_text(&insert, ":source", machine->source);
  record_take_keys(&insert, NULL, machine, MACHINE_KEYS, MACHINE_KEY_COUNT);
  statement_bind_text(&insert, ":gpu_name", machine->gpu_count > 0 ? gpu_names : NULL);
  statement_bind_int(&insert, ":gpu_count", machine->gpu_count);
  statement_bind_int(&insert, ":node_count", machine->node_count);
  statement_bind_text(&insert, ":node", machine->node_name[0] != '\0' ? machine->node_name : NULL);
  enum status status = statement_run(&insert, err);
  *id = sqlite3_last_insert_rowid(record->database->handle);
  return status;
}

static enum status record_insert_fact(struct record *record, int64_t id, const char *name,
                                      int32_t gpu, enum fact_state state, const char *value,
                                      struct error *err) {
  return record_insert(
      record, "environment/insert_environment_fact",
      PARAMETERS(PARAMETER(":environment", id), PARAMETER(":name", name), PARAMETER(":gpu", gpu),
                 PARAMETER(":state", fact_state_text(state)), PARAMETER(":value", value)),
      NULL, err);
}

static enum status record_insert_facts(struct record *record, const struct machine *machine,
                                       int64_t id, struct error *err) {
  enum status status = STATUS_OK;
  for (uint32_t i = 0; i < machine->fact_count && status == STATUS_OK; i++) {
    const struct fact *fact = &machine->facts[i];
    status = record_insert_fact(record, id, fact->name, fact->gpu, fact->state, fact->value, err);
  }
  return status;
}

enum status record_add_state(struct record *record, const struct machine *machine, int64_t id,
                             struct error *err) {
  SCOPED(statement_finalize) struct statement recorded = {0};
  enum status status = record_statement(record, "environment/insert_gpu", &recorded, err);
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    for (size_t j = 0; j < GPU_KEY_COUNT && status == STATUS_OK; j++) {
      const struct key *key = &GPU_KEYS[j];
      const int64_t value = machine_key_number(&machine->gpus[i], key);
      char parameter[64];
      char text[24];
      (void)snprintf(parameter, sizeof parameter, ":%s", key->name);
      (void)snprintf(text, sizeof text, "%" PRId64, value);
      if (key->type != KEY_TEXT && value != key->absent &&
          sqlite3_bind_parameter_index(recorded.stmt, parameter) == 0) {
        status = record_insert_fact(record, id, key->name, (int32_t)i, FACT_OK, text, err);
      }
    }
  }
  return status;
}

/* The keys of an object, into the columns that the statement has for them. */
static enum status record_insert_keys(struct record *record, const char *name,
                                      const struct parameter *parameters, const void *object,
                                      const struct key *keys, size_t count, struct error *err) {
  SCOPED(statement_finalize) struct statement insert = {0};
  RETURN_ON_ERROR(record_statement(record, name, &insert, err));
  statement_bind(&insert, parameters);
  record_take_keys(&insert, NULL, object, keys, count);
  return statement_run(&insert, err);
}

static enum status record_insert_gpus(struct record *record, const struct machine *machine,
                                      int64_t id, struct error *err) {
  enum status status = STATUS_OK;
  for (uint32_t i = 0; i < machine->gpu_count && status == STATUS_OK; i++) {
    status = record_insert_keys(record, "environment/insert_gpu",
                                PARAMETERS(PARAMETER(":environment", id), PARAMETER(":number", i)),
                                &machine->gpus[i], GPU_KEYS, GPU_KEY_COUNT, err);
  }
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    for (uint32_t j = 0; j < machine->gpu_count && status == STATUS_OK; j++) {
      status =
          i == j ? STATUS_OK
                 : record_insert_keys(record, "environment/insert_gpu_link",
                                      PARAMETERS(PARAMETER(":environment", id),
                                                 PARAMETER(":source", i), PARAMETER(":target", j)),
                                      &machine->links[i][j], LINK_KEYS, LINK_KEY_COUNT, err);
    }
  }
  return status;
}

static enum status record_insert_nodes(struct record *record, const struct machine *machine,
                                       int64_t id, struct error *err) {
  enum status status = STATUS_OK;
  for (uint32_t i = 0; i < machine->node_count && status == STATUS_OK; i++) {
    status = record_insert_keys(record, "environment/insert_node",
                                PARAMETERS(PARAMETER(":environment", id)), &machine->nodes[i],
                                NODE_KEYS, NODE_KEY_COUNT, err);
  }
  for (uint32_t i = 0; i < machine->node_count; i++) {
    for (uint32_t j = 0; j < machine->node_count && status == STATUS_OK; j++) {
      status = record_insert(record, "environment/insert_node_link",
                             PARAMETERS(PARAMETER(":environment", id),
                                        PARAMETER(":source", machine->nodes[i].number),
                                        PARAMETER(":target", machine->nodes[j].number),
                                        PARAMETER(":distance", machine->node_distance[i][j])),
                             NULL, err);
    }
  }
  return status;
}

enum status record_add_environment(struct record *record, const struct machine *machine,
                                   int64_t *id, struct error *err) {
  char key[CONTENT_KEY_MAX];
  RETURN_ON_ERROR(record_environment_key(record, machine, key, err));
  enum status status = record_find(record, "environment/find_environment",
                                   PARAMETERS(PARAMETER(":key", key)), id, err);
  if (status != STATUS_OK || *id != 0) {
    return status;
  }
  status = record_insert_environment(record, machine, key, id, err);
  status = THEN(status, record_insert_facts(record, machine, *id, err));
  status = THEN(status, record_insert_gpus(record, machine, *id, err));
  return THEN(status, record_insert_nodes(record, machine, *id, err));
}

/* ---- a machine of the past ---- */

/* Columns that have the name of a key. */
static void environment_read_keys(const struct statement *statement, void *object,
                                  const struct key *keys, size_t count) {
  for (int i = 0; i < statement_column_count(statement); i++) {
    const char *name = sqlite3_column_name(statement->stmt, i);
    for (size_t k = 0; k < count; k++) {
      if (strcmp(name, keys[k].name) != 0) {
        continue;
      }
      const bool null = sqlite3_column_type(statement->stmt, i) == SQLITE_NULL;
      if (keys[k].type != KEY_TEXT) {
        machine_key_set_number(object, &keys[k],
                               null ? keys[k].absent : sqlite3_column_int64(statement->stmt, i));
      } else if (!null) {
        machine_key_set_text(object, &keys[k], statement_text(statement, i));
      }
    }
  }
}

static enum status environment_read_devices(struct database *database, int64_t environment,
                                            struct machine *machine, struct error *err) {
  SCOPED(statement_finalize) struct statement statement = {0};
  enum status status =
      statement_prepare(database, "environment/devices_of_machine", &statement, err);
  statement_bind_int(&statement, ":environment", environment);
  statement_bind_text(&statement, ":place", place_text(PLACE_GPU));
  while (machine->gpu_count < MACHINE_GPUS_MAX && statement_next(&statement, &status, err)) {
    struct gpu *gpu = &machine->gpus[machine->gpu_count++];
    *gpu = (struct gpu){.utilization_percent = -1, .process_count = -1, .memory_node = -1};
    environment_read_keys(&statement, gpu, GPU_KEYS, GPU_KEY_COUNT);
  }
  statement_reset(&statement);
  statement_bind_int(&statement, ":environment", environment);
  statement_bind_text(&statement, ":place", place_text(PLACE_NUMA));
  while (machine->node_count < MACHINE_NODES_MAX && statement_next(&statement, &status, err)) {
    struct numa_node *node = &machine->nodes[machine->node_count++];
    environment_read_keys(&statement, node, NODE_KEYS, NODE_KEY_COUNT);
  }
  return status;
}

struct link_row {
  int source, target, distance;
};

static enum status environment_read_links(struct database *database, int64_t environment,
                                          struct machine *machine, struct error *err) {
  static const struct row_member MEMBERS[] = {ROW_MEMBER(struct link_row, source),
                                              ROW_MEMBER(struct link_row, target),
                                              ROW_MEMBER(struct link_row, distance),
                                              {0}};
  SCOPED(statement_finalize) struct statement statement = {0};
  struct link_row link;
  enum status status = statement_prepare(database, "environment/links_of_machine", &statement, err);
  statement_bind(&statement, PARAMETERS(PARAMETER(":environment", environment),
                                        PARAMETER(":place", place_text(PLACE_GPU))));
  const int gpus = (int)machine->gpu_count;
  while (rows_next(&statement, MEMBERS, &link, NULL, &status, err)) {
    if (link.source >= 0 && link.target >= 0 && link.source < gpus && link.target < gpus) {
      environment_read_keys(&statement, &machine->links[link.source][link.target], LINK_KEYS,
                            LINK_KEY_COUNT);
    }
  }
  statement_bind(&statement, PARAMETERS(PARAMETER(":environment", environment),
                                        PARAMETER(":place", place_text(PLACE_NUMA))));
  while (rows_next(&statement, MEMBERS, &link, NULL, &status, err)) {
    const int from = machine_node_index(machine, link.source);
    const int to = machine_node_index(machine, link.target);
    if (from >= 0 && to >= 0 && link.distance > 0) {
      machine->node_distance[from][to] = (uint8_t)link.distance;
    }
  }
  return status;
}

struct fact_row {
  const char *name, *value;
  int gpu;
  enum fact_state state;
};

static const struct row_member FACT_MEMBERS[] = {
    ROW_MEMBER_TEXT(struct fact_row, name),
    ROW_MEMBER(struct fact_row, gpu),
    ROW_MEMBER_ENUM(struct fact_row, state, fact_state_names, FACT_UNAVAILABLE),
    ROW_MEMBER_TEXT(struct fact_row, value),
    {0}};

static enum status environment_read_facts(struct database *database, int64_t environment,
                                          struct machine *machine, struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct fact_row *facts = NULL;
  size_t count = 0;
  RETURN_ON_ERROR(DATABASE_READ_ALL(database, "environment/facts_of_machine",
                                    PARAMETERS(PARAMETER(":environment", environment)),
                                    FACT_MEMBERS, &arena, facts, count, err));
  for (size_t i = 0; i < count; i++) {
    const struct fact_row *fact = &facts[i];
    machine_add_fact(machine, fact->name, fact->gpu, fact->state, "%s", fact->value);
    if (strcmp(fact->name, "memory_node") == 0 && fact->gpu >= 0 &&
        fact->gpu < (int)machine->gpu_count && fact->state == FACT_OK) {
      (void)sscanf(fact->value, "%" SCNd32, &machine->gpus[fact->gpu].memory_node);
    }
  }
  machine_sort_facts(machine);
  return STATUS_OK;
}

static const struct row_member ENVIRONMENT_ID[] = {
    {.column = "id", .type = ROW_INTEGER, .size = sizeof(int64_t)}, {0}};
static const struct row_member MACHINE_MEMBERS[] = {
    ROW_MEMBER(struct machine, host_name), ROW_COLUMN(struct machine, node_name, "node"),
    ROW_MEMBER(struct machine, simulated), ROW_MEMBER(struct machine, cuda_state),
    ROW_MEMBER(struct machine, source),    {0}};

enum status run_machine_read(struct database *database, int64_t run, struct machine *machine,
                             struct error *err) {
  const struct parameter *parameters = PARAMETERS(PARAMETER(":run", run));
  int64_t environment = -1;
  memset(machine, 0, sizeof *machine);
  enum status status = database_read(database, "environment/machine_of_run", parameters,
                                     ENVIRONMENT_ID, &environment, NULL, NULL, err);
  status = THEN(status, database_read(database, "environment/machine_of_run", parameters,
                                      MACHINE_MEMBERS, machine, NULL, NULL, err));
  status = THEN(status, environment_read_devices(database, environment, machine, err));
  status = THEN(status, environment_read_links(database, environment, machine, err));
  return THEN(status, environment_read_facts(database, environment, machine, err));
}
