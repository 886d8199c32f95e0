#include "engine/workload/transfer_flows.h"

#include "engine/case/transfer.h"
#include "engine/case/work.h"
#include "engine/method/method.h"
#include "engine/trial/event_trial.h"
#include "engine/workload/workload.h"
#include "kernels/kernels.h"

#include <inttypes.h>

static const struct method_ops *transfer_flow_ops(const struct flow *flow) {
  return methods[flow->method];
}

uint64_t transfer_buffer_bytes(const struct flow *flow) {
  const struct copy_shape *shape = &flow->shape;
  if (flow_is_scattered(flow)) {
    return SCATTER_SPREAD * flow->size_bytes;
  }
  return copy_shape_is_strided(&flow->shape) ? shape->pitch_bytes * shape->height * shape->depth
                                             : flow->size_bytes;
}

/* Between a node and a GPU, by a kernel that the scenario leaves to the engine. */
static bool transfer_may_pair(const struct flow *flow) {
  const struct kernel_shape *shape = &flow->kernel;
  return flow->method == METHOD_SM && flow->source.place != flow->target.place &&
         flow->copies <= 1 && flow->stream == 0 && shape->variant == KERNEL_AUTO &&
         shape->block == 0 && shape->grid == 0 && shape->vector_bytes == 0 &&
         !copy_shape_is_strided(&flow->shape) && !flow_is_scattered(flow);
}

static bool transfer_are_opposite(const struct flow *a, const struct flow *b) {
  const struct endpoint *gpu = a->source.place == PLACE_GPU ? &a->source : &a->target;
  const struct endpoint *other = b->source.place == PLACE_GPU ? &b->source : &b->target;
  return a->source.place == b->target.place && gpu->index == other->index &&
         a->size_bytes == b->size_bytes;
}

static bool transfer_touches_gpu(const struct flow *flow, int32_t gpu) {
  return (flow->source.place == PLACE_GPU && flow->source.index == gpu) ||
         (flow->target.place == PLACE_GPU && flow->target.index == gpu);
}

/* All flows stand behind gates, so that the order in which they are enqueued is known. */
static bool transfer_is_gated(const struct case_def *def) {
  bool gated = def->measure.gating != GATING_OFF;
  for (uint32_t i = 0; i < def->flow_count; i++) {
    const struct flow *flow = &def->flows[i];
    gated = gated && (flow->method == METHOD_CE || flow->method == METHOD_SM) &&
            !flow_is_scattered(flow) && flow->source.memory != MEMORY_PAGEABLE &&
            flow->target.memory != MEMORY_PAGEABLE;
  }
  return gated;
}

uint32_t transfer_partner(const struct case_def *def, uint32_t flow) {
  const struct flow *flows = def->flows;
  if (!transfer_may_pair(&flows[flow]) || !transfer_is_gated(def)) {
    return flow;
  }
  const int32_t gpu =
      flows[flow].source.place == PLACE_GPU ? flows[flow].source.index : flows[flow].target.index;
  uint32_t partner = flow;
  uint32_t kernels = 0;
  for (uint32_t i = 0; i < def->flow_count; i++) {
    const bool kernel = flows[i].method == METHOD_SM && transfer_touches_gpu(&flows[i], gpu);
    kernels += kernel;
    partner = kernel && i != flow ? i : partner;
  }
  const bool measured = flows[flow].role == FLOW_MEASURED || flows[partner].role == FLOW_MEASURED;
  return kernels == 2 && measured && transfer_may_pair(&flows[partner]) &&
                 transfer_are_opposite(&flows[flow], &flows[partner])
             ? partner
             : flow;
}

/* How the flows of a case are timed: by events, by the host's clock, or some by each. */
struct clocks {
  uint32_t event_count;
  uint32_t host_count;
};

static struct clocks count_clocks(const struct case_def *def) {
  struct clocks clocks = {0};
  if (!case_kind_is_of_flows(def->kind)) { /* the flows are loads beside it */
    const bool host = workloads[def->kind]->clock(def) == CLOCK_HOST;
    clocks.host_count = host;
    clocks.event_count = !host;
  }
  for (uint32_t i = 0; i < def->flow_count; i++) {
    bool host = method_clock(&def->flows[i]) == CLOCK_HOST;
    clocks.host_count += host;
    clocks.event_count += !host;
  }
  return clocks;
}

bool transfer_is_mixed(const struct case_def *def) {
  const struct clocks clocks = count_clocks(def);
  return clocks.event_count > 0 && clocks.host_count > 0;
}

bool transfer_is_on_streams(const struct case_def *def) {
  return count_clocks(def).host_count == 0;
}

bool transfer_is_scattered(const struct case_def *def) {
  for (uint32_t i = 0; i < def->flow_count; i++) {
    const struct flow *flow = &def->flows[i];
    if (flow->role == FLOW_MEASURED && flow_is_scattered(flow)) {
      return true;
    }
  }
  return false;
}

static const char *mixed_unsupported_reason(const struct case_def *def) {
  if (def->measure.gating == GATING_OFF && transfer_is_mixed(def)) {
    return "host threads and GPUs start together by the gate alone: gate = \"off\" cannot be";
  }
  for (uint32_t i = 0; transfer_is_mixed(def) && i < def->flow_count; i++) {
    const struct flow *flow = &def->flows[i];
    if (flow->stream != 0) {
      return "flows that share a stream are not measured beside host threads: measure them apart";
    }
    if (flow_copies(flow) > EVENT_ITERATIONS_MAX) {
      return "a flow has more copies than a gate can hold, so that it cannot start together with "
             "host threads: measure them apart";
    }
    if (flow_is_scattered(flow)) {
      return "a scattered copy has no gate, so that it cannot start together with host threads: "
             "measure them apart";
    }
    if (method_clock(flow) == CLOCK_EVENT && transfer_flow_ops(flow)->blocks_host(flow)) {
      return "a copy of pageable memory blocks the host, so that it cannot start together with "
             "host threads: measure them apart";
    }
  }
  return NULL;
}

static bool transfer_flow_is_between(const struct flow *flow, int32_t one, int32_t other) {
  const struct endpoint *from = &flow->source;
  const struct endpoint *to = &flow->target;
  return from->place == PLACE_GPU && to->place == PLACE_GPU &&
         ((from->index == one && to->index == other) || (from->index == other && to->index == one));
}

/* Peer access is on or off between two GPUs, for all that a process does there. */
static const char *peers_unsupported_reason(const struct case_def *def,
                                            char reason[CASE_REASON_MAX]) {
  const struct chase *chase = def->kind == CASE_CHASE ? &def->work->chase : NULL;
  for (uint32_t i = 0; i < def->flow_count; i++) {
    const struct flow *staged = &def->flows[i];
    const int32_t from = staged->source.index;
    const int32_t to = staged->target.index;
    if (!staged->staged || !transfer_flow_is_between(staged, from, to)) {
      continue;
    }
    bool direct = chase != NULL && chase->space == CHASE_PEER &&
                  transfer_flow_is_between(staged, chase->gpu, chase->memory.index);
    for (uint32_t j = 0; !direct && j < def->flow_count; j++) {
      const struct flow *flow = &def->flows[j];
      direct = !flow->staged && transfer_flow_is_between(flow, from, to);
    }
    if (direct) {
      return CASE_REASON(reason,
                         "peer access between GPU %" PRId32 " and GPU %" PRId32
                         " is on or off for a whole case, which has peer = false for a part of it "
                         "only: measure them apart",
                         from, to);
    }
  }
  return NULL;
}

void transfer_managed_bytes(const struct case_def *def, uint64_t bytes[MACHINE_GPUS_MAX]) {
  for (uint32_t i = 0; i < def->flow_count; i++) {
    const struct flow *flow = &def->flows[i];
    if (transfer_flow_ops(flow)->shares_buffer) {
      const struct endpoint *ends[] = {&flow->source, &flow->target};
      for (int end = 0; end < 2; end++) {
        if (ends[end]->place == PLACE_GPU) {
          bytes[ends[end]->index] += flow->size_bytes;
        }
      }
    }
  }
}

const char *transfer_unsupported_reason(const struct case_def *def, const struct machine *machine,
                                        char reason[CASE_REASON_MAX]) {
  for (uint32_t i = 0; i < def->flow_count; i++) {
    const char *unsupported = method_unsupported_reason(&def->flows[i], machine, reason);
    if (unsupported != NULL) {
      return unsupported;
    }
  }
  uint64_t managed[MACHINE_GPUS_MAX] = {0};
  transfer_managed_bytes(def, managed);
  const char *unsupported = mixed_unsupported_reason(def);
  unsupported = unsupported != NULL ? unsupported : peers_unsupported_reason(def, reason);
  return unsupported != NULL
             ? unsupported
             : managed_share_unsupported_reason(&def->measure, machine, managed, reason);
}

const char *loads_unsupported_reason(const struct case_def *def, const struct machine *machine,
                                     char reason[CASE_REASON_MAX]) {
  return case_kind_is_of_flows(def->kind) ? NULL
                                          : transfer_unsupported_reason(def, machine, reason);
}

/* Of each piece: its row in the list and, while it is placed, numbers of places, or the arguments
 * of a batch; for a kernel the list on its GPU. */
static void transfer_add_lists(const struct flow *flow, uint64_t *host_bytes,
                               uint64_t gpu_bytes[MACHINE_GPUS_MAX]) {
  const uint64_t list_bytes = flow->scatter.pieces * sizeof(struct piece);
  *host_bytes += list_bytes + flow->scatter.pieces * 3 * sizeof(uint64_t);
  if (flow->method == METHOD_SM) {
    gpu_bytes[transfer_flow_ops(flow)->gpu(flow)] += list_bytes;
  }
}

void transfer_memory_needs(const struct case_def *def, uint64_t *host_bytes,
                           uint64_t gpu_bytes[MACHINE_GPUS_MAX]) {
  for (uint32_t i = 0; i < def->flow_count; i++) {
    const struct flow *flow = &def->flows[i];
    const struct endpoint *ends[] = {&flow->source, &flow->target};
    for (int end = 0; end < 2; end++) {
      if (ends[end]->place == PLACE_NUMA) {
        *host_bytes += transfer_buffer_bytes(flow);
      } else {
        gpu_bytes[ends[end]->index] += transfer_buffer_bytes(flow);
      }
    }
    if (flow_is_scattered(flow)) {
      transfer_add_lists(flow, host_bytes, gpu_bytes);
    }
  }
}

enum clock transfer_clock(const struct case_def *def) {
  return !transfer_is_on_streams(def) || transfer_is_scattered(def) ? CLOCK_HOST : CLOCK_EVENT;
}

uint32_t transfer_load_copies(const struct case_def *def) {
  uint32_t copies = 1;
  for (uint32_t i = 0; i < def->flow_count; i++) {
    const struct flow *flow = &def->flows[i];
    copies = flow->role == FLOW_LOAD && flow_copies(flow) > copies ? flow_copies(flow) : copies;
  }
  return copies;
}

bool transfer_loads_fill_window(const struct case_def *def, const struct trial_times *times) {
  enum { PARTS = 32 };
  bool fill = true;
  for (uint32_t i = 0; i < def->flow_count; i++) {
    fill = fill && (def->flows[i].role != FLOW_LOAD ||
                    PARTS * times->flows[i].elapsed_ns > (PARTS - 1) * times->window_ns);
  }
  return fill;
}

double transfer_fastest_load_ns(const struct case_def *def, const struct flow_times *times) {
  double fastest_ns = 0;
  for (uint32_t i = 0; i < def->flow_count; i++) {
    if (def->flows[i].role == FLOW_LOAD && times[i].iterations > 0) {
      const double repeat_ns = (double)times[i].elapsed_ns / (double)times[i].iterations;
      fastest_ns = fastest_ns > 0 && fastest_ns < repeat_ns ? fastest_ns : repeat_ns;
    }
  }
  return fastest_ns;
}
