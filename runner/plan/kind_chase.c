/* Dependent loads by threads of a GPU. */
#include "runner/plan/kind.h"
#include "runner/plan/name.h"

/* A dependent load, in ns: through the GPU's own memory by where the footprint fits; 0.8 us from
 * another GPU, 1.2 us from the host. */
#define L1_HOP_NS      20.0
#define L2_HOP_NS      150.0
#define DRAM_HOP_NS    500.0
#define FAR_HOP_NS     1000.0
#define L1_BYTES       (UINT64_C(128) << 10)
#define ITERATIONS_MAX 4096.0

static void plan_chase_emit(struct expander *x, const struct setting *setting, int32_t gpu,
                            struct endpoint memory) {
  struct bench_case bench = {.work.chase = setting->work.chase,
                             .operations = setting->work.chase.hops};
  bench.work.chase.gpu = gpu;
  bench.work.chase.memory = memory;
  expand_emit_beside(x, setting, memory, (struct endpoint){PLACE_GPU, gpu, MEMORY_DEVICE}, &bench,
                     NULL);
}

static void plan_chase_expand(struct expander *x, const struct setting *setting) {
  const enum chase_space space = setting->work.chase.space;
  expand_resolve_loads(x, setting);
  if (space == CHASE_HOST || space == CHASE_PEER) {
    expand_resolve_others(x, &setting->at, &setting->of);
    for (size_t i = 0; i < x->set.pair_count; i++) {
      const struct pair pair = x->set.pairs[i];
      plan_chase_emit(x, setting, pair.from,
                      (struct endpoint){setting->of.place, pair.to, setting->of.memory});
    }
    return;
  }
  struct place_list gpus;
  expand_resolve_end(x, &setting->at, chase_space_text(space), &gpus);
  for (size_t i = 0; i < gpus.count; i++) {
    plan_chase_emit(x, setting, gpus.indices[i],
                    (struct endpoint){PLACE_GPU, gpus.indices[i], MEMORY_DEVICE});
  }
}

static void plan_chase_path(const struct bench_case *bench, struct strbuf *text) {
  const struct chase *chase = &bench->work.chase;
  name_append_gpu(text, chase->gpu);
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
    break;
  case chase_space_name_count:
    break;
  }
}

static uint64_t plan_chase_size(const struct bench_case *bench) {
  return bench->work.chase.footprint_bytes;
}

static bool plan_chase_memory(const struct bench_case *bench, uint32_t i, struct endpoint *memory,
                              uint64_t *size_bytes) {
  const struct chase *chase = &bench->work.chase;
  *memory = chase->memory;
  *size_bytes = chase->footprint_bytes;
  return i == 0 && chase->space != CHASE_SHARED;
}

static double plan_chase_hop_ns(const struct chase *chase, const struct machine *machine) {
  switch (chase->space) {
  case CHASE_SHARED:
    return L1_HOP_NS;
  case CHASE_GLOBAL:
    if (chase->footprint_bytes <= L1_BYTES && chase->cache == CACHE_L1) {
      return L1_HOP_NS;
    }
    return chase->footprint_bytes <= machine->gpus[chase->gpu].l2_bytes ? L2_HOP_NS : DRAM_HOP_NS;
  case CHASE_HOST:
  case CHASE_PEER:
  case chase_space_name_count:
    break;
  }
  return FAR_HOP_NS;
}

static void plan_chase_cost(const struct bench_case *bench, const struct machine *machine,
                            struct cost *cost) {
  const struct chase *chase = &bench->work.chase;
  cost->work_ns = (double)chase->hops * plan_chase_hop_ns(chase, machine);
  cost->iterations_max = ITERATIONS_MAX;
  cost->fill_ns = estimate_pass_ns(PLACE_NUMA, chase->footprint_bytes);
}

static uint64_t plan_chase_loads(const struct bench_case *bench) {
  return bench->work.chase.hops;
}

const struct plan_kind plan_kind_chase = {
    .expand = plan_chase_expand,
    .path = plan_chase_path,
    .size_bytes = plan_chase_size,
    .operation = "access",
    .operations = plan_chase_loads,
    .method_version = CHASE_METHOD_VERSION,
    .memory = plan_chase_memory,
    .cost = plan_chase_cost,
};
