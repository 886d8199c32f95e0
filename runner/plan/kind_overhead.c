/* Calls of the driver. */
#include "runner/plan/estimate.h"
#include "runner/plan/kind.h"
#include "runner/plan/name.h"
#include "schema/scenario/setting.h"

#include <math.h>

#define CALL_NS       3000.0
#define ALLOCATION_NS 100000.0
#define CONTEXT_NS    1.5e8
#define HANDLE_NS     500000.0 /* made, exported, opened, closed and freed */

static void plan_overhead_emit(struct expander *x, const struct setting *setting, int32_t gpu,
                               enum place place, int32_t index) {
  union work work = {.overhead = setting->work.overhead};
  work.overhead.gpu = gpu;
  work.overhead.memory.place = place;
  work.overhead.memory.index = index;
  const struct case_def def = {.work = &work};
  expand_emit(x, &def, NULL);
}

/* Memory that needs no driver: nodes alone, in no GPU's context. */
static void plan_overhead_expand_nodes(struct expander *x, const struct setting *setting) {
  if (place_is_relative(&setting->of.selector)) {
    expand_resolve_others(x, &setting->at, &setting->of);
    for (size_t i = 0; i < x->set.pair_count; i++) {
      plan_overhead_emit(x, setting, -1, PLACE_NUMA, x->set.pairs[i].to);
    }
    return;
  }
  struct place_list nodes;
  expand_resolve_end(x, &setting->of, NULL, &nodes);
  for (size_t i = 0; i < nodes.count; i++) {
    plan_overhead_emit(x, setting, -1, PLACE_NUMA, nodes.indices[i]);
  }
}

static void plan_overhead_expand(struct expander *x, const struct setting *setting) {
  switch (setting->work.overhead.memory.memory) {
  case MEMORY_PAGEABLE:
  case MEMORY_HUGE:
  case MEMORY_SHARED:
    plan_overhead_expand_nodes(x, setting);
    return;
  case MEMORY_PINNED:
  case MEMORY_REGISTERED:
  case MEMORY_WRITE_COMBINED:
  case MEMORY_HOST_VMM:
    expand_resolve_others(x, &setting->at, &setting->of);
    for (size_t i = 0; i < x->set.pair_count; i++) {
      const struct pair pair = x->set.pairs[i];
      plan_overhead_emit(x, setting, pair.from, PLACE_NUMA, pair.to);
    }
    return;
  case MEMORY_MANAGED:
  case MEMORY_DEVICE:
  case MEMORY_POOL:
  case MEMORY_VMM:
  case memory_kind_name_count:
    break;
  }
  struct place_list gpus;
  expand_resolve_end(x, &setting->at, NULL, &gpus);
  for (size_t i = 0; i < gpus.count; i++) {
    plan_overhead_emit(x, setting, gpus.indices[i], PLACE_GPU, gpus.indices[i]);
  }
}

static void plan_overhead_path(const struct case_def *def, struct strbuf *text) {
  const struct overhead *overhead = &def->work->overhead;
  if (overhead->memory.place == PLACE_NUMA && overhead->gpu >= 0) {
    name_append_gpu(text, overhead->gpu);
    strbuf_append_char(text, '-');
  }
  name_append_endpoint(text, &overhead->memory);
}

static uint64_t plan_overhead_size(const struct case_def *def) {
  return def->work->overhead.size_bytes;
}

static bool plan_overhead_memory(const struct case_def *def, uint32_t i, struct endpoint *memory,
                                 uint64_t *size_bytes) {
  *memory = def->work->overhead.memory;
  *size_bytes = 0;
  return i == 0;
}

static void plan_overhead_cost(const struct case_def *def, const struct machine *machine,
                               struct cost *cost) {
  (void)machine;
  const struct overhead *overhead = &def->work->overhead;
  const bool allocates =
      (overhead_traits_of(overhead->operation) & (OVERHEAD_MEMORY | OVERHEAD_PAGES)) != 0;
  const bool context = overhead->operation == OVERHEAD_CONTEXT_CREATE;
  const bool host = allocates && overhead->memory.place == PLACE_NUMA;
  cost->work_ns = (context ? CONTEXT_NS : CALL_NS) + (allocates ? ALLOCATION_NS : 0) +
                  (host ? (double)overhead->size_bytes * 1e9 / ESTIMATE_HOST_ALLOCATION_RATE : 0);
  cost->iterations_max = INFINITY;
  cost->fill_ns = (double)overhead->alive * CALL_NS + (double)overhead->handles * HANDLE_NS;
  cost->host_spread = true;
}

const struct plan_kind plan_kind_overhead = {
    .expand = plan_overhead_expand,
    .path = plan_overhead_path,
    .size_bytes = plan_overhead_size,
    .figure = FIGURE_CALL,
    .operation = "call",
    .method_version = OVERHEAD_METHOD_VERSION,
    .memory = plan_overhead_memory,
    .cost = plan_overhead_cost,
};
