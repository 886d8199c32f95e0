#include "runner/plan/unsupported.h"

#include "engine/base/strbuf.h"
#include "engine/engine.h"
#include "runner/plan/place.h"

#include <stdio.h>

/* "150.0 GiB": refusals are read by people, exact bytes stand in the flow. */
static void format_gib(uint64_t bytes, char text[32]) {
  const double mib = (double)bytes / 1048576.0;
  (void)snprintf(text, 32, mib >= 1024 ? "%.1f GiB" : "%.1f MiB", mib >= 1024 ? mib / 1024 : mib);
}

/* alone: the only flow of its case, whose path names the GPUs; then all pairs share one reason,
 * which groups well. */
static const char *flow_unsupported_reason(const struct flow *flow, bool alone,
                                           const struct machine *machine,
                                           char reason[CASE_REASON_MAX]) {
  const struct endpoint *source = &flow->source;
  const struct endpoint *target = &flow->target;
  if (source->place == PLACE_GPU && target->place == PLACE_GPU && source->index != target->index &&
      !flow->staged && !machine->links[source->index][target->index].peer_access) {
    if (alone) {
      return "no peer access between the two GPUs (peer = false copies through the host)";
    }
    (void)snprintf(reason, CASE_REASON_MAX,
                   "GPU %d and GPU %d have no peer access (peer = false copies through the host)",
                   source->index, target->index);
    return reason;
  }
  const struct endpoint *starts = flow->initiator == INITIATOR_SOURCE ? source : target;
  if (flow->method == METHOD_CPU && starts->place == PLACE_NUMA &&
      !place_has_processors(machine, starts->index)) {
    (void)snprintf(reason, CASE_REASON_MAX, "NUMA node %d has no processors to run threads on",
                   starts->index);
    return reason;
  }
  return NULL;
}

/* Memory of a case that is no transfer; NULL = it has none that counts. */
static const struct endpoint *memory_of(const struct bench_case *bench) {
  switch (bench->kind) {
  case CASE_CHASE:
    return &bench->work.chase.memory;
  case CASE_OVERHEAD:
    return &bench->work.overhead.memory;
  case CASE_STREAM:
    return &bench->work.stream.memory;
  case CASE_TRANSFER:
  case CASE_ARITHMETIC:
  case case_kind_name_count:
    break;
  }
  return NULL;
}

static bool uses_node(const struct bench_case *bench, int32_t node) {
  const struct endpoint *memory = memory_of(bench);
  if (memory != NULL) {
    return memory->place == PLACE_NUMA && memory->index == node;
  }
  for (uint32_t i = 0; i < bench->flow_count; i++) {
    const struct flow *flow = &bench->flows[i];
    if ((flow->source.place == PLACE_NUMA && flow->source.index == node) ||
        (flow->target.place == PLACE_NUMA && flow->target.index == node)) {
      return true;
    }
  }
  return false;
}

/* Free memory of the nodes that the case uses, or of all where it names none (staging). 0 = not
 * known. */
static uint64_t free_host_bytes(const struct bench_case *bench, const struct machine *machine,
                                struct strbuf *nodes) {
  int32_t used[MACHINE_NODES_MAX];
  size_t used_count = 0;
  uint64_t used_bytes = 0;
  uint64_t all_bytes = 0;
  for (uint32_t i = 0; i < machine->node_count; i++) {
    const struct numa_node *node = &machine->nodes[i];
    all_bytes += node->free_memory_bytes;
    if (uses_node(bench, node->number)) {
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

static const char *memory_unsupported_reason(struct plan_case *plan_case,
                                             const struct machine *machine,
                                             char reason[CASE_REASON_MAX]) {
  uint64_t gpu_bytes[MACHINE_GPUS_MAX] = {0};
  engine_memory_needs(&plan_case->bench, machine, &plan_case->host_bytes, gpu_bytes);
  char need[32];
  char have[32];
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    const struct gpu *gpu = &machine->gpus[i];
    const uint64_t there = gpu->free_memory_bytes > 0 ? gpu->free_memory_bytes : gpu->memory_bytes;
    plan_case->gpu_bytes =
        gpu_bytes[i] > plan_case->gpu_bytes ? gpu_bytes[i] : plan_case->gpu_bytes;
    if (there > 0 && gpu_bytes[i] > there) {
      format_gib(gpu_bytes[i], need);
      format_gib(there, have);
      (void)snprintf(reason, CASE_REASON_MAX, "needs %s on GPU %u, which has %s free", need, i,
                     have);
      return reason;
    }
  }
  if (plan_case->host_bytes == 0) {
    return NULL;
  }
  struct strbuf nodes;
  strbuf_init(&nodes, CASE_REASON_MAX / 2);
  const uint64_t there = free_host_bytes(&plan_case->bench, machine, &nodes);
  const bool refused = there > 0 && plan_case->host_bytes > there;
  if (refused) {
    format_gib(plan_case->host_bytes, need);
    format_gib(there, have);
    (void)snprintf(reason, CASE_REASON_MAX, "needs %s of host memory, %s %s free", need, nodes.text,
                   have);
  }
  strbuf_fini(&nodes);
  return refused ? reason : NULL;
}

const char *unsupported_case_reason(struct plan_case *plan_case, const struct machine *machine,
                                    char reason[CASE_REASON_MAX]) {
  const char *unsupported = NULL;
  for (uint32_t i = 0; unsupported == NULL && i < plan_case->bench.flow_count; i++) {
    unsupported = flow_unsupported_reason(&plan_case->bench.flows[i],
                                          plan_case->bench.flow_count == 1, machine, reason);
  }
  if (unsupported == NULL) {
    unsupported = engine_case_unsupported_reason(&plan_case->bench, machine, reason);
  }
  return unsupported != NULL ? unsupported : memory_unsupported_reason(plan_case, machine, reason);
}
