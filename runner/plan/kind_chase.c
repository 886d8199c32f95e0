/* Dependent loads by threads of a GPU or of a node. */
#include "engine/machine/machine.h"
#include "runner/plan/estimate.h"
#include "runner/plan/kind.h"
#include "runner/plan/name.h"
#include "schema/scenario/setting.h"

#include <math.h>

/* A dependent load, in ns: through the GPU's own memory by where its lines fit; from another GPU,
 * from the host. As memory-hierarchy and loaded-latency recorded them on H200s. */
#define L1_HOP_NS      18.0
#define L2_HOP_NS      138.0
#define DRAM_HOP_NS    330.0
#define PEER_HOP_NS    900.0
#define HOST_HOP_NS    1200.0
#define NODE_HOP_NS    110.0 /* by a processor */
#define L1_BYTES       (UINT64_C(192) << 10)
#define LINE_BYTES     128
#define ITERATIONS_MAX 4096.0
/* Laying the elements out: to draw the order of one, in ns, and bytes written per second. What an
 * L1 could hold is walked before each trial. */
#define ELEMENT_NS    22.0
#define IMAGE_RATE    1.5e10
#define WARM_L1_BYTES (UINT64_C(1) << 20)

/* at: the GPU, or the node of the processors. */
static void plan_chase_emit(struct expander *x, const struct setting *setting, int32_t at,
                            struct endpoint memory) {
  union work work = {.chase = setting->work.chase};
  work.chase.gpu = at;
  work.chase.memory = memory;
  const char *reason = NULL;
  if (work.chase.by_processor) {
    work.chase.gpu = -1;
    work.chase.node = at;
    reason = place_has_processors(x->machine, at)
                 ? NULL
                 : arena_format(x->arena, "NUMA node %d has no processors to run threads on", at);
  }
  if (work.chase.sm == CHASE_SM_EACH) {
    work.chase.blocks = x->machine->gpus[at].sm_count;
    reason =
        work.chase.blocks == 0 ? "how many SMs the GPU has is not known: use sm = \"one\"" : NULL;
  }
  struct case_def def = {.work = &work, .operations = work.chase.hops};
  const struct endpoint gpu = endpoint_own(PLACE_GPU, at, MEMORY_DEVICE);
  const struct endpoint node = endpoint_own(PLACE_NUMA, at, memory.memory);
  expand_emit_beside(x, setting, memory, work.chase.by_processor ? node : gpu, &def, reason);
}

static void plan_chase_expand(struct expander *x, const struct setting *setting) {
  const enum chase_space space = setting->work.chase.space;
  expand_resolve_loads(x, setting);
  if (setting->work.chase.by_processor) {
    const struct pair_rule every = {.equal = true, .unequal = true};
    expand_resolve_pairs(x, &setting->at, &setting->of, every, CONCURRENT_NONE);
    for (size_t i = 0; i < x->set.pair_count; i++) {
      const struct pair pair = x->set.pairs[i];
      plan_chase_emit(x, setting, pair.from, endpoint_own(PLACE_NUMA, pair.to, setting->of.memory));
    }
    return;
  }
  if (space == CHASE_HOST || space == CHASE_PEER) {
    expand_resolve_others(x, &setting->at, &setting->of);
    for (size_t i = 0; i < x->set.pair_count; i++) {
      const struct pair pair = x->set.pairs[i];
      plan_chase_emit(x, setting, pair.from,
                      endpoint_own(setting->of.place, pair.to, setting->of.memory));
    }
    return;
  }
  struct place_list gpus;
  expand_resolve_end(x, &setting->at, chase_space_text(space), &gpus);
  for (size_t i = 0; i < gpus.count; i++) {
    plan_chase_emit(x, setting, gpus.indices[i],
                    endpoint_own(PLACE_GPU, gpus.indices[i], setting->of.memory));
  }
}

static void plan_chase_path(const struct case_def *def, struct strbuf *text) {
  const struct chase *chase = &def->work->chase;
  if (chase->by_processor) {
    strbuf_printf(text, "numa%d", chase->node);
  } else {
    name_append_gpu(text, chase->gpu);
  }
  switch (chase->space) {
  case CHASE_HOST:
  case CHASE_PEER:
    strbuf_append_char(text, '-');
    name_append_endpoint(text, &chase->memory);
    break;
  case CHASE_GLOBAL:
  case CHASE_SHARED:
    strbuf_append_char(text, ':');
    strbuf_append(text, chase_space_text(chase->space));
    if (chase->memory.memory != MEMORY_DEVICE) {
      strbuf_printf(text, ":%s", memory_kind_text(chase->memory.memory));
    }
    break;
  case chase_space_name_count:
    break;
  }
}

static uint64_t plan_chase_size(const struct case_def *def) {
  return def->work->chase.footprint_bytes;
}

static bool plan_chase_memory(const struct case_def *def, uint32_t i, struct endpoint *memory,
                              uint64_t *size_bytes) {
  const struct chase *chase = &def->work->chase;
  *memory = chase->memory;
  *size_bytes = chase->footprint_bytes;
  return i == 0 && chase->space != CHASE_SHARED;
}

static uint64_t plan_chase_elements(const struct chase *chase) {
  return chase->stride_bytes > 0 ? chase->footprint_bytes / chase->stride_bytes : 0;
}

/* Of the GPU's own memory. An L2 of two parts holds half. */
static double plan_chase_own_hop_ns(const struct chase *chase, const struct machine *machine) {
  const uint64_t line = chase->stride_bytes < LINE_BYTES ? chase->stride_bytes : LINE_BYTES;
  const uint64_t bytes = plan_chase_elements(chase) * line;
  if (bytes <= L1_BYTES && chase->cache == CACHE_L1) {
    return L1_HOP_NS;
  }
  return bytes <= machine->gpus[chase->gpu].l2_bytes / 2 ? L2_HOP_NS : DRAM_HOP_NS;
}

static double plan_chase_hop_ns(const struct chase *chase, const struct machine *machine) {
  if (chase->by_processor) {
    return NODE_HOP_NS;
  }
  switch (chase->space) {
  case CHASE_SHARED:
    return L1_HOP_NS;
  case CHASE_GLOBAL:
    return plan_chase_own_hop_ns(chase, machine);
  case CHASE_PEER:
    return PEER_HOP_NS;
  case CHASE_HOST:
  case chase_space_name_count:
    break;
  }
  return HOST_HOP_NS;
}

static bool plan_chase_is_at(const struct endpoint *a, const struct endpoint *b) {
  return a->place == b->place && a->index == b->index;
}

/* How much longer a hop takes beside loads of the same memory: it waits behind what they have under
 * way (Little's law). */
static double plan_chase_wait_ns(const struct case_def *def, const struct machine *machine) {
  const struct endpoint *memory = &def->work->chase.memory;
  double wait_ns = 0;
  for (uint32_t i = 0; i < def->flow_count; i++) {
    const struct flow *flow = &def->flows[i];
    if (plan_chase_is_at(&flow->source, memory) || plan_chase_is_at(&flow->target, memory)) {
      wait_ns += estimate_in_flight(flow, machine) * bound_typical_ns(flow, 1, machine) /
                 (double)flow_bytes(flow);
    }
  }
  return wait_ns;
}

static void plan_chase_cost(const struct case_def *def, const struct machine *machine,
                            struct cost *cost) {
  const struct chase *chase = &def->work->chase;
  const bool own = chase->space == CHASE_GLOBAL;
  const double elements = (double)plan_chase_elements(chase);
  cost->work_ns =
      (double)chase->hops * (plan_chase_hop_ns(chase, machine) + plan_chase_wait_ns(def, machine));
  cost->iterations_max = ITERATIONS_MAX;
  cost->turns = chase->sm == CHASE_SM_EACH ? chase->blocks : 1;
  const double laid_bytes =
      chase_is_sparse(chase) ? elements * CHASE_LINE_BYTES : (double)chase->footprint_bytes;
  cost->fill_ns = elements * ELEMENT_NS + laid_bytes * 1e9 / IMAGE_RATE;
  if (own && chase->footprint_bytes <= 2 * machine->gpus[chase->gpu].l2_bytes) {
    const double lines = fmin(elements, (double)chase->footprint_bytes / LINE_BYTES);
    cost->fill_ns += lines * DRAM_HOP_NS + (elements - lines) * L2_HOP_NS; /* walked once */
  }
  if (own && chase->cache == CACHE_L1 && chase->footprint_bytes <= WARM_L1_BYTES) {
    cost->flush_ns = elements * L2_HOP_NS * cost->turns;
  }
}

static unsigned plan_chase_method_version(const struct case_def *def) {
  return def->work->chase.by_processor ? CHASE_HOST_METHOD_VERSION : CHASE_METHOD_VERSION;
}

const struct plan_kind plan_kind_chase = {
    .expand = plan_chase_expand,
    .path = plan_chase_path,
    .size_bytes = plan_chase_size,
    .figure = FIGURE_HOP,
    .operation = "access",
    .by_operation = true,
    .method_version_of = plan_chase_method_version,
    .memory = plan_chase_memory,
    .cost = plan_chase_cost,
};
