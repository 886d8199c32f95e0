/* environment.c - inserts the facts about a machine. Values that change by themselves (free memory,
 * utilisation, the speed of an idle link) are not part of an environment: two runs on an unchanged
 * machine have the same one. */
#include "runner/record/record_state.h"

#include <stdio.h>
#include <string.h>

const char *record_fact(const struct machine *machine, const char *name) {
  const struct fact *fact = machine_fact(machine, name, -1);
  return fact != NULL && fact->state == FACT_OK ? fact->value : NULL;
}

static void record_add_gpu_content(struct content *content, const struct gpu *gpu) {
  content_text(content, gpu->name);
  content_text(content, gpu->uuid);
  content_text(content, gpu->pci_address);
  content_int(content, gpu->numa_node);
  content_int(content, gpu->cuda_ordinal);
  content_int(content, gpu->compute_major);
  content_int(content, gpu->compute_minor);
  content_int(content, gpu->sm_count);
  content_int(content, gpu->copy_engine_count);
  content_int(content, (int64_t)gpu->memory_bytes);
  content_int(content, (int64_t)gpu->l2_bytes);
  content_int(content, (int64_t)gpu->sm_clock_max_khz);
  content_int(content, (int64_t)gpu->memory_clock_khz);
  content_int(content, gpu->memory_bus_bits);
  content_int(content, gpu->pcie_generation_max);
  content_int(content, gpu->pcie_width_max);
  content_int(content, gpu->nvlink_count);
  content_int(content, (int64_t)gpu->nvlink_bytes_per_second);
  content_int(content, (int64_t)gpu->c2c_bytes_per_second);
  content_int(content, gpu->mig_enabled);
}

static void record_environment_key(const struct machine *machine, char key[CONTENT_KEY_MAX]) {
  struct content *content = content_new();
  content_int(content, machine->simulated);
  content_text(content, machine->host_name);
  content_text(content, machine->source);
  content_text(content, machine->cuda_state);
  content_int(content, machine->gpu_count);
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    record_add_gpu_content(content, &machine->gpus[i]);
    for (uint32_t j = 0; j < machine->gpu_count; j++) {
      content_int(content, machine->links[i][j].peer_access);
      content_int(content, machine->links[i][j].nvlink_count);
      content_int(content, (int64_t)machine->links[i][j].bytes_per_second);
    }
  }
  content_int(content, machine->node_count);
  for (uint32_t i = 0; i < machine->node_count; i++) {
    content_int(content, machine->nodes[i].number);
    content_int(content, machine->nodes[i].cpu_count);
    content_int(content, (int64_t)machine->nodes[i].memory_bytes);
    for (uint32_t j = 0; j < machine->node_count; j++) {
      content_int(content, machine->node_distance[i][j]);
    }
  }
  content_int(content, machine->fact_count);
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    content_text(content, machine->facts[i].name);
    content_int(content, machine->facts[i].gpu);
    content_text(content, fact_state_text(machine->facts[i].state));
    content_text(content, machine->facts[i].value);
  }
  content_finish(content, key);
}

/* Every different name once. */
static void record_join_gpu_names(const struct machine *machine, char *text, size_t size) {
  size_t length = 0;
  text[0] = '\0';
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    bool known = false;
    for (uint32_t j = 0; j < i && !known; j++) {
      known = strcmp(machine->gpus[i].name, machine->gpus[j].name) == 0;
    }
    if (known || length >= size) {
      continue;
    }
    int more = snprintf(text + length, size - length, "%s%s", length > 0 ? ", " : "",
                        machine->gpus[i].name);
    length += (size_t)more;
  }
}

static enum status record_insert_environment(struct record *record, const struct machine *machine,
                                             const char *key, int64_t *id, struct error *err) {
  struct statement *statement = record_statement(record, INSERT_ENVIRONMENT);
  char gpu_names[MACHINE_GPUS_MAX * (MACHINE_TEXT_MAX + 2)];
  record_join_gpu_names(machine, gpu_names, sizeof gpu_names);
  statement_bind_text(statement, ":key", key);
  statement_bind_int(statement, ":simulated", machine->simulated);
  statement_bind_text(statement, ":host_name", machine->host_name);
  statement_bind_text(statement, ":source", machine->source);
  statement_bind_text(statement, ":cuda_state", machine->cuda_state);
  statement_bind_text(statement, ":driver_version", record_fact(machine, "driver_version"));
  statement_bind_text(statement, ":driver_branch", record_fact(machine, "driver_branch"));
  statement_bind_text(statement, ":kernel_module", record_fact(machine, "kernel_module"));
  statement_bind_text(statement, ":cuda_driver_version",
                      record_fact(machine, "cuda_driver_version"));
  statement_bind_text(statement, ":kernel", record_fact(machine, "kernel"));
  statement_bind_text(statement, ":os", record_fact(machine, "os"));
  statement_bind_text(statement, ":boot_id", record_fact(machine, "boot_id"));
  statement_bind_text(statement, ":cpu_model", record_fact(machine, "cpu_model"));
  statement_bind_text(statement, ":hypervisor", record_fact(machine, "hypervisor"));
  statement_bind_text(statement, ":gpu_name", machine->gpu_count > 0 ? gpu_names : NULL);
  statement_bind_int(statement, ":gpu_count", machine->gpu_count);
  statement_bind_int(statement, ":node_count", machine->node_count);
  enum status status = statement_run(statement, err);
  *id = sqlite3_last_insert_rowid(record->database->handle);
  return status;
}

static enum status record_insert_facts(struct record *record, const struct machine *machine,
                                       int64_t id, struct error *err) {
  struct statement *statement = record_statement(record, INSERT_ENVIRONMENT_FACT);
  enum status status = STATUS_OK;
  for (uint32_t i = 0; i < machine->fact_count && status == STATUS_OK; i++) {
    const struct fact *fact = &machine->facts[i];
    statement_bind_int(statement, ":environment", id);
    statement_bind_text(statement, ":name", fact->name);
    statement_bind_int(statement, ":gpu", fact->gpu);
    statement_bind_text(statement, ":state", fact_state_text(fact->state));
    statement_bind_text(statement, ":value", fact->value);
    status = statement_run(statement, err);
  }
  return status;
}

static enum status record_insert_gpu(struct record *record, const struct gpu *gpu, int64_t id,
                                     int64_t number, struct error *err) {
  struct statement *statement = record_statement(record, INSERT_GPU);
  statement_bind_int(statement, ":environment", id);
  statement_bind_int(statement, ":number", number);
  statement_bind_int(statement, ":memory_bytes", (int64_t)gpu->memory_bytes);
  statement_bind_text(statement, ":name", gpu->name);
  statement_bind_text(statement, ":uuid", gpu->uuid);
  statement_bind_text(statement, ":pci_address", gpu->pci_address);
  statement_bind_int(statement, ":numa_node", gpu->numa_node);
  statement_bind_int(statement, ":cuda_ordinal", gpu->cuda_ordinal);
  statement_bind_int(statement, ":compute_major", gpu->compute_major);
  statement_bind_int(statement, ":compute_minor", gpu->compute_minor);
  statement_bind_int(statement, ":sm_count", gpu->sm_count);
  statement_bind_int(statement, ":copy_engine_count", gpu->copy_engine_count);
  statement_bind_int(statement, ":l2_bytes", (int64_t)gpu->l2_bytes);
  statement_bind_int(statement, ":sm_clock_max_khz", (int64_t)gpu->sm_clock_max_khz);
  statement_bind_int(statement, ":memory_clock_khz", (int64_t)gpu->memory_clock_khz);
  statement_bind_int(statement, ":memory_bus_bits", gpu->memory_bus_bits);
  statement_bind_int(statement, ":pcie_generation_max", gpu->pcie_generation_max);
  statement_bind_int(statement, ":pcie_width_max", gpu->pcie_width_max);
  statement_bind_int(statement, ":nvlink_count", gpu->nvlink_count);
  statement_bind_int(statement, ":nvlink_bytes_per_second", (int64_t)gpu->nvlink_bytes_per_second);
  statement_bind_int(statement, ":c2c_bytes_per_second", (int64_t)gpu->c2c_bytes_per_second);
  statement_bind_int(statement, ":mig_enabled", gpu->mig_enabled);
  return statement_run(statement, err);
}

static enum status record_insert_gpu_link(struct record *record, const struct gpu_link *link,
                                          int64_t id, int64_t source, int64_t target,
                                          struct error *err) {
  struct statement *statement = record_statement(record, INSERT_GPU_LINK);
  statement_bind_int(statement, ":environment", id);
  statement_bind_int(statement, ":source", source);
  statement_bind_int(statement, ":target", target);
  statement_bind_int(statement, ":peer_access", link->peer_access);
  statement_bind_int(statement, ":nvlink_count", link->nvlink_count);
  statement_bind_int(statement, ":bytes_per_second", (int64_t)link->bytes_per_second);
  return statement_run(statement, err);
}

static enum status record_insert_gpus(struct record *record, const struct machine *machine,
                                      int64_t id, struct error *err) {
  enum status status = STATUS_OK;
  for (uint32_t i = 0; i < machine->gpu_count && status == STATUS_OK; i++) {
    status = record_insert_gpu(record, &machine->gpus[i], id, i, err);
  }
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    for (uint32_t j = 0; j < machine->gpu_count && status == STATUS_OK; j++) {
      if (i != j) {
        status = record_insert_gpu_link(record, &machine->links[i][j], id, i, j, err);
      }
    }
  }
  return status;
}

static enum status record_insert_nodes(struct record *record, const struct machine *machine,
                                       int64_t id, struct error *err) {
  struct statement *node = record_statement(record, INSERT_NODE);
  struct statement *link = record_statement(record, INSERT_NODE_LINK);
  enum status status = STATUS_OK;
  for (uint32_t i = 0; i < machine->node_count && status == STATUS_OK; i++) {
    statement_bind_int(node, ":environment", id);
    statement_bind_int(node, ":number", machine->nodes[i].number);
    statement_bind_int(node, ":memory_bytes", (int64_t)machine->nodes[i].memory_bytes);
    statement_bind_int(node, ":cpu_count", machine->nodes[i].cpu_count);
    status = statement_run(node, err);
  }
  for (uint32_t i = 0; i < machine->node_count; i++) {
    for (uint32_t j = 0; j < machine->node_count && status == STATUS_OK; j++) {
      statement_bind_int(link, ":environment", id);
      statement_bind_int(link, ":source", machine->nodes[i].number);
      statement_bind_int(link, ":target", machine->nodes[j].number);
      statement_bind_int(link, ":distance", machine->node_distance[i][j]);
      status = statement_run(link, err);
    }
  }
  return status;
}

enum status record_add_environment(struct record *record, const struct machine *machine,
                                   int64_t *id, struct error *err) {
  char key[CONTENT_KEY_MAX];
  record_environment_key(machine, key);
  bool found = false;
  enum status status = record_find(record, FIND_ENVIRONMENT, key, id, &found, err);
  if (status != STATUS_OK || found) {
    return status;
  }
  status = record_insert_environment(record, machine, key, id, err);
  if (status == STATUS_OK) {
    status = record_insert_facts(record, machine, *id, err);
  }
  if (status == STATUS_OK) {
    status = record_insert_gpus(record, machine, *id, err);
  }
  if (status == STATUS_OK) {
    status = record_insert_nodes(record, machine, *id, err);
  }
  return status;
}
