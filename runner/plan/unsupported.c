#include "runner/plan/kind.h"

#include "engine/engine.h"
#include "engine/machine/machine.h"
#include "runner/plan/plan.h"

#include <stdio.h>

/* "150.0 GiB": refusals are read by people, exact bytes stand in the flow. */
static void unsupported_format_gib(uint64_t bytes, char text[32]) {
  const double mib = (double)bytes / 1048576.0;
  (void)snprintf(text, 32, mib >= 1024 ? "%.1f GiB" : "%.1f MiB", mib >= 1024 ? mib / 1024 : mib);
}

static bool unsupported_uses_node(const struct case_def *def, int32_t node) {
  struct endpoint endpoint;
  uint64_t size_bytes = 0;
  for (uint32_t i = 0; plan_case_memory(def, i, &endpoint, &size_bytes); i++) {
    if (endpoint.place == PLACE_NUMA && endpoint.index == node) {
      return true;
    }
  }
  return false;
}

/* Free memory of the nodes that the case uses, or of all where it names none (staging). 0 = not
 * known. */
static uint64_t unsupported_free_host_bytes(const struct case_def *def,
                                            const struct machine *machine, struct strbuf *nodes) {
  int32_t used[MACHINE_NODES_MAX];
  size_t used_count = 0;
  uint64_t used_bytes = 0;
  uint64_t all_bytes = 0;
  for (uint32_t i = 0; i < machine->node_count; i++) {
    const struct numa_node *node = &machine->nodes[i];
    all_bytes += node->free_memory_bytes;
    if (unsupported_uses_node(def, node->number)) {
      used[used_count++] = node->number;
      used_bytes += node->free_memory_bytes;
    }
  }
  if (used_count == 0) {
    strbuf_append(nodes, "this machine has");
    return all_bytes;
  }
  strbuf_append(nodes, used_count > 1 ? "NUMA nodes " : "NUMA node ");
  place_format_indices(used, used_count, "-", nodes);
  strbuf_append(nodes, used_count > 1 ? " have" : " has");
  return used_bytes;
}

static const char *unsupported_memory_reason(struct plan_case *plan_case,
                                             const struct machine *machine,
                                             char reason[CASE_REASON_MAX]) {
  uint64_t gpu_bytes[MACHINE_GPUS_MAX] = {0};
  plan_case->gpus = engine_case_gpus(&plan_case->def);
  engine_memory_needs(&plan_case->def, machine, &plan_case->host_bytes, gpu_bytes);
  char need[32];
  char have[32];
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    const struct gpu *gpu = &machine->gpus[i];
    const uint64_t there = gpu->free_memory_bytes > 0 ? gpu->free_memory_bytes : gpu->memory_bytes;
    plan_case->gpu_bytes =
        gpu_bytes[i] > plan_case->gpu_bytes ? gpu_bytes[i] : plan_case->gpu_bytes;
    if (there > 0 && gpu_bytes[i] > there) {
      unsupported_format_gib(gpu_bytes[i], need);
      unsupported_format_gib(there, have);
      return CASE_REASON(reason, "needs %s on GPU %u, which has %s free", need, i, have);
    }
  }
  if (plan_case->host_bytes == 0) {
    return NULL;
  }
  SCOPED(strbuf_fini) struct strbuf nodes = STRBUF(CASE_REASON_MAX / 2);
  const uint64_t there = unsupported_free_host_bytes(&plan_case->def, machine, &nodes);
  const bool refused = there > 0 && plan_case->host_bytes > there;
  if (refused) {
    unsupported_format_gib(plan_case->host_bytes, need);
    unsupported_format_gib(there, have);
    (void)snprintf(reason, CASE_REASON_MAX, "needs %s of host memory, %s %s free", need, nodes.text,
                   have);
  }
  return refused ? reason : NULL;
}

const char *unsupported_case_reason(struct plan_case *plan_case, const struct machine *machine,
                                    char reason[CASE_REASON_MAX]) {
  const struct case_def *def = &plan_case->def;
  const struct plan_kind *kind = plan_kinds[def->kind];
  const char *unsupported = NULL;
  if (kind->unsupported_reason != NULL) {
    unsupported = kind->unsupported_reason(def, machine, reason);
  }
  if (unsupported == NULL) {
    unsupported = engine_case_unsupported_reason(def, machine, reason);
  }
  return unsupported != NULL ? unsupported : unsupported_memory_reason(plan_case, machine, reason);
}
