#include "runner/plan/bound.h"

#include "engine/case/transfer.h"
#include "engine/machine/machine.h"

#include <math.h>

/* Typical rates in bytes per second, for estimates only. */
#define TYPICAL_HOST_LINK UINT64_C(20000000000)
#define TYPICAL_GPU_LINK  UINT64_C(40000000000)
#define TYPICAL_DRAM      UINT64_C(800000000000)
#define TYPICAL_NODE      UINT64_C(20000000000) /* read and written by a copy of host threads */
#define TYPICAL_PAGEABLE  UINT64_C(9000000000)  /* through the driver's own staging buffer */
#define TYPICAL_FAULTED   UINT64_C(4000000000)  /* unified memory on demand */

enum resource_kind {
  RESOURCE_TO_GPU,   /* a GPU's host link, into the GPU */
  RESOURCE_FROM_GPU, /* a GPU's host link, out of the GPU */
  RESOURCE_NVLINK,   /* a pair's path */
  RESOURCE_PORT_OUT, /* all of a GPU's NVLinks */
  RESOURCE_PORT_IN,
  RESOURCE_DRAM,
  RESOURCE_NODE, /* a NUMA node's memory; typical rates only */
};

struct resource {
  enum resource_kind kind;
  int32_t a, b; /* GPU or node, b for pairs */
  enum limit limit;
  uint64_t rate;
  uint64_t bytes;
};

/* Every pair's path, seven of each GPU (host link as PCIe and as C2C), every node. */
enum {
  RESOURCES_MAX = MACHINE_GPUS_MAX * MACHINE_GPUS_MAX + 7 * MACHINE_GPUS_MAX + MACHINE_NODES_MAX
};

struct resources {
  bool typical;
  const struct machine *machine;
  bool unknown; /* a flow's own path has no known rate */
  size_t count;
  struct resource items[RESOURCES_MAX];
};

static void bound_load(struct resources *r, enum resource_kind kind, int32_t a, int32_t b,
                       enum limit limit, uint64_t rate, uint64_t bytes) {
  if (rate == 0) {
    return;
  }
  for (size_t i = r->count; i-- > 0;) {
    struct resource *item = &r->items[i];
    if (item->kind == kind && item->a == a && item->b == b && item->limit == limit) {
      item->bytes += bytes;
      return;
    }
  }
  r->items[r->count++] = (struct resource){kind, a, b, limit, rate, bytes};
}

/* The rate to use for a path: its own, a typical one, or 0 with the mark that nothing is known. */
static uint64_t bound_known_or(struct resources *r, uint64_t rate, uint64_t typical) {
  if (rate > 0) {
    return rate;
  }
  if (r->typical) {
    return typical;
  }
  r->unknown = true;
  return 0;
}

static void bound_load_dram(struct resources *r, int32_t gpu, uint64_t bytes) {
  uint64_t rate = peak_dram(&r->machine->gpus[gpu]);
  if (rate == 0 && r->typical) {
    rate = TYPICAL_DRAM;
  }
  bound_load(r, RESOURCE_DRAM, gpu, -1, LIMIT_DRAM, rate, bytes);
}

static void bound_load_host_link(struct resources *r, int32_t gpu, bool into_gpu, uint64_t bytes) {
  enum limit limit = LIMIT_UNKNOWN;
  const uint64_t rate = peak_gpu_host(&r->machine->gpus[gpu], &limit);
  bound_load(r, into_gpu ? RESOURCE_TO_GPU : RESOURCE_FROM_GPU, gpu, -1, limit,
             bound_known_or(r, rate, TYPICAL_HOST_LINK), bytes);
}

static void bound_load_pcie(struct resources *r, int32_t gpu, bool into_gpu, uint64_t bytes) {
  const struct gpu *g = &r->machine->gpus[gpu];
  const uint64_t rate = peak_pcie(g->pcie_generation_max, g->pcie_width_max);
  bound_load(r, into_gpu ? RESOURCE_TO_GPU : RESOURCE_FROM_GPU, gpu, -1, LIMIT_PCIE,
             bound_known_or(r, rate, TYPICAL_GPU_LINK), bytes);
}

static void bound_load_gpu_to_gpu(struct resources *r, int32_t from, int32_t to, uint64_t bytes) {
  enum limit limit = LIMIT_UNKNOWN;
  const uint64_t rate = peak_gpu_gpu(r->machine, (uint32_t)from, (uint32_t)to, &limit);
  if (limit != LIMIT_NVLINK) {
    bound_load_pcie(r, from, false, bytes);
    bound_load_pcie(r, to, true, bytes);
    return;
  }
  const struct gpu *out = &r->machine->gpus[from];
  const struct gpu *in = &r->machine->gpus[to];
  bound_load(r, RESOURCE_NVLINK, from, to, limit, rate, bytes);
  bound_load(r, RESOURCE_PORT_OUT, from, -1, limit,
             out->nvlink_count * out->nvlink_bytes_per_second, bytes);
  bound_load(r, RESOURCE_PORT_IN, to, -1, limit, in->nvlink_count * in->nvlink_bytes_per_second,
             bytes);
}

/* A node that is a GPU's own memory is reached as that GPU is. */
static struct endpoint bound_end(const struct machine *machine, struct endpoint end) {
  const int gpu = end.place == PLACE_NUMA ? machine_node_gpu(machine, end.index) : -1;
  if (gpu >= 0) {
    end.place = PLACE_GPU;
    end.index = gpu;
  }
  return end;
}

bool bound_l2_may_serve(const struct gpu *gpu, uint64_t footprint_bytes) {
  return footprint_bytes / 2 <= gpu->l2_bytes;
}

bool bound_is_exceeded(uint64_t traffic_bytes, uint64_t peak_bytes_per_second, double median_ns) {
  return peak_bytes_per_second > 0 &&
         (double)traffic_bytes / median_ns > 1.01 * (double)peak_bytes_per_second / 1e9;
}

/* Bytes that the measured flows inside that GPU read and write. */
static uint64_t bound_local_bytes(const struct flow *flows, uint32_t flow_count,
                                  const struct machine *machine, int32_t gpu) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < flow_count; i++) {
    const struct endpoint from = bound_end(machine, flows[i].source);
    const struct endpoint to = bound_end(machine, flows[i].target);
    if (flows[i].role == FLOW_MEASURED && from.place == PLACE_GPU && to.place == PLACE_GPU &&
        from.index == gpu && to.index == gpu) {
      bytes += 2 * flows[i].size_bytes;
    }
  }
  return bytes;
}

/* Whether a cache may serve the flow in place of the memory that it is inside of. */
static bool bound_is_cached(const struct flow *flow, const struct flow *flows, uint32_t flow_count,
                            const struct machine *machine) {
  const struct endpoint from = bound_end(machine, flow->source);
  const struct endpoint to = bound_end(machine, flow->target);
  return from.place == PLACE_GPU && to.place == PLACE_GPU && from.index == to.index &&
         bound_l2_may_serve(&machine->gpus[from.index],
                            bound_local_bytes(flows, flow_count, machine, from.index));
}

static void bound_load_flow(struct resources *r, const struct flow *flow) {
  const struct endpoint from = bound_end(r->machine, flow->source);
  const struct endpoint to = bound_end(r->machine, flow->target);
  const struct endpoint *source = &from;
  const struct endpoint *target = &to;
  const uint64_t bytes = flow_bytes(flow);
  if (source->place == PLACE_GPU) {
    bound_load_dram(r, source->index, bytes);
  }
  if (target->place == PLACE_GPU) {
    bound_load_dram(r, target->index, bytes);
  }
  if (source->place == PLACE_NUMA && target->place == PLACE_NUMA) {
    const uint64_t rate = bound_known_or(r, 0, TYPICAL_NODE);
    bound_load(r, RESOURCE_NODE, source->index, -1, LIMIT_UNKNOWN, rate, bytes);
    if (target->index != source->index) {
      bound_load(r, RESOURCE_NODE, target->index, -1, LIMIT_UNKNOWN, rate, bytes);
    }
  } else if (source->place == PLACE_NUMA) {
    bound_load_host_link(r, target->index, true, bytes);
  } else if (target->place == PLACE_NUMA) {
    bound_load_host_link(r, source->index, false, bytes);
  } else if (source->index == target->index) {
    r->unknown = r->unknown || peak_dram(&r->machine->gpus[source->index]) == 0;
  } else if (flow->staged) {
    bound_load_host_link(r, source->index, false, bytes);
    bound_load_host_link(r, target->index, true, bytes);
  } else {
    bound_load_gpu_to_gpu(r, source->index, target->index, bytes);
  }
}

/* The resource that needs longest; of equals a link before memory. */
static const struct resource *bound_slowest(const struct resources *r) {
  const struct resource *worst = NULL;
  for (size_t i = 0; i < r->count; i++) {
    const struct resource *item = &r->items[i];
    if (worst == NULL) {
      worst = item;
      continue;
    }
    const unsigned __int128 a = (unsigned __int128)item->bytes * worst->rate;
    const unsigned __int128 b = (unsigned __int128)worst->bytes * item->rate;
    if (a > b || (a == b && worst->kind == RESOURCE_DRAM)) {
      worst = item;
    }
  }
  return worst;
}

/* The least time of that flow alone; *limit is what it is of. 0 = unknown. */
static double bound_alone_ns(const struct flow *flow, const struct machine *machine,
                             enum limit *limit) {
  struct flow alone = *flow;
  struct bound bound;
  alone.stream = 0;
  bound_of_flows(&alone, 1, machine, &bound);
  *limit = bound.limit;
  return bound.peak_bytes_per_second > 0
             ? (double)bound.traffic_bytes * 1e9 / (double)bound.peak_bytes_per_second
             : 0;
}

/* Flows that share a stream need the sum of their times, where that is more than the resources say;
 * the limit is that of the flow that needs longest. */
static void bound_of_streams(const struct flow *flows, uint32_t flow_count,
                             const struct machine *machine, double window_ns, struct bound *bound) {
  for (uint32_t i = 0; i < flow_count; i++) {
    double sum_ns = 0;
    double longest_ns = 0;
    enum limit limit = LIMIT_UNKNOWN;
    for (uint32_t j = i; flows[i].stream != 0 && j < flow_count; j++) {
      enum limit own = LIMIT_UNKNOWN;
      const double own_ns =
          flows[j].stream == flows[i].stream ? bound_alone_ns(&flows[j], machine, &own) : 0;
      sum_ns += own_ns;
      limit = own_ns > longest_ns ? own : limit;
      longest_ns = fmax(longest_ns, own_ns);
    }
    if (sum_ns > window_ns) { /* the sum from the stream's first flow on is the largest */
      window_ns = sum_ns;
      bound->limit = limit;
      bound->traffic_bytes = bound->payload_bytes;
      bound->peak_bytes_per_second = (uint64_t)((double)bound->payload_bytes * 1e9 / sum_ns);
    }
  }
}

/* Pages that are touched in place, or may be: no link need carry them. */
static bool bound_may_stay(const struct flow *flow, const struct machine *machine) {
  const bool gpus = flow->source.place == PLACE_GPU && flow->target.place == PLACE_GPU;
  const int32_t gpu = flow->source.place == PLACE_GPU ? flow->source.index : flow->target.index;
  return flow_pages_may_stay(flow) ||
         (flow->method == METHOD_UM && flow->unified.mode == UNIFIED_DEMAND &&
          (gpus || machine->gpus[gpu].host_page_tables));
}

void bound_of_flows(const struct flow *flows, uint32_t flow_count, const struct machine *machine,
                    struct bound *bound) {
  struct resources r;
  r.typical = false;
  r.machine = machine;
  r.unknown = false;
  r.count = 0;
  *bound = (struct bound){.limit = LIMIT_UNKNOWN};
  for (uint32_t i = 0; i < flow_count; i++) {
    if (flows[i].role == FLOW_MEASURED) {
      r.unknown = r.unknown || bound_may_stay(&flows[i], machine) ||
                  bound_is_cached(&flows[i], flows, flow_count, machine);
      bound_load_flow(&r, &flows[i]);
      bound->payload_bytes += flow_bytes(&flows[i]);
    }
  }
  bound->traffic_bytes = bound->payload_bytes;
  const struct resource *worst = bound_slowest(&r);
  if (r.unknown || worst == NULL || worst->bytes == 0) {
    return;
  }
  bound->limit = worst->limit;
  if (worst->limit == LIMIT_DRAM) {
    bound->traffic_bytes = 0;
    for (size_t i = 0; i < r.count; i++) {
      bound->traffic_bytes += r.items[i].kind == RESOURCE_DRAM ? r.items[i].bytes : 0;
    }
  }
  const unsigned __int128 peak =
      (unsigned __int128)bound->traffic_bytes * worst->rate / worst->bytes;
  bound->peak_bytes_per_second = (uint64_t)peak;
  bound_of_streams(flows, flow_count, machine, (double)worst->bytes * 1e9 / (double)worst->rate,
                   bound);
}

/* The rate at which one flow can go at most for reasons of its kind of memory; 0 = no such reason.
 */
static uint64_t bound_typical_flow_rate(const struct flow *flow) {
  if (flow->method == METHOD_UM && flow->unified.mode == UNIFIED_DEMAND) {
    return TYPICAL_FAULTED;
  }
  const bool crosses = flow->source.place != flow->target.place;
  if (crosses &&
      (flow->source.memory == MEMORY_PAGEABLE || flow->target.memory == MEMORY_PAGEABLE)) {
    return TYPICAL_PAGEABLE;
  }
  return 0;
}

double bound_typical_ns(const struct flow *flows, uint32_t flow_count,
                        const struct machine *machine) {
  struct resources r;
  r.typical = true;
  r.machine = machine;
  r.unknown = false;
  r.count = 0;
  double window_ns = 1;
  for (uint32_t i = 0; i < flow_count; i++) {
    bound_load_flow(&r, &flows[i]);
    const uint64_t rate = bound_typical_flow_rate(&flows[i]);
    window_ns = fmax(window_ns, rate > 0 ? (double)flow_bytes(&flows[i]) * 1e9 / (double)rate : 0);
  }
  const struct resource *worst = bound_slowest(&r);
  return fmax(window_ns, worst != NULL ? (double)worst->bytes * 1e9 / (double)worst->rate : 0);
}
