/* Settings of other kinds than transfers: one case for every place, or pair of places. */
#include "runner/plan/expander.h"

#include <stdio.h>

static void emit(struct expander *x, const struct bench_case *work, const char *reason) {
  struct bench_case *kept = arena_alloc(x->arena, sizeof *kept);
  *kept = *work;
  const struct expansion expansion = {.work = kept, .reason = reason};
  x->receive(x->context, &expansion);
}

/* Every index that a single end comes to; what is missing is handed out. */
static void resolve_one(struct expander *x, const struct endpoint_setting *end, const char *space,
                        struct place_list *list) {
  char reason[CASE_REASON_MAX];
  place_resolve(end, x->machine, -1, list, reason);
  if (reason[0] != '\0') {
    expander_emit_unresolved(x, end, NULL, -1, space, reason);
  }
}

/* Every pair of two ends, with what is missing handed out. */
static void resolve_two(struct expander *x, const struct endpoint_setting *from,
                        const struct endpoint_setting *to) {
  const struct pair_rule rule = {.unequal = true};
  pairs_resolve(&x->set, from, to);
  for (size_t i = 0; i < x->set.complaint_count; i++) {
    expander_emit_unresolved(x, from, to, x->set.complaints[i].near_gpu, NULL,
                             x->set.complaints[i].reason);
  }
  if (x->set.pair_count == 0) {
    return;
  }
  pairs_apply(&x->set, from->place, to->place, rule);
  if (x->set.pair_count == 0) {
    char reason[CASE_REASON_MAX];
    pairs_say_none(&x->set, from->place, to->place, rule, reason);
    expander_emit_unresolved(x, from, to, -1, NULL, reason);
  }
}

/* Blocks on that GPU; 0 with the reason where nobody knows. */
static uint32_t blocks_of(const struct grid_setting *grid, const struct machine *machine,
                          int32_t gpu, const char **reason) {
  const uint32_t sm_count = machine->gpus[gpu].sm_count;
  switch (grid->kind) {
  case GRID_AUTO:
    return 0;
  case GRID_BLOCKS:
    return grid->count;
  case GRID_FULL:
    return STREAM_GRID_FULL;
  case GRID_PER_SM:
    break;
  }
  if (sm_count == 0) {
    *reason = "how many SMs the GPU has is not known: give the grid as a number";
  }
  return grid->count * sm_count;
}

/* ---- chase ---- */

static struct bench_case chase_work(const struct chase_setting *setting, int32_t gpu,
                                    struct endpoint memory) {
  return (struct bench_case){.kind = CASE_CHASE,
                             .work.chase = {.space = setting->space,
                                            .gpu = gpu,
                                            .memory = memory,
                                            .footprint_bytes = setting->footprint_bytes,
                                            .stride_bytes = setting->stride_bytes,
                                            .order = setting->order,
                                            .cache = setting->cache,
                                            .threads = setting->threads,
                                            .blocks = setting->blocks,
                                            .hops = setting->hops},
                             .operations = setting->hops};
}

static void expand_chase(struct expander *x, const struct chase_setting *chase) {
  if (chase->space == CHASE_HOST || chase->space == CHASE_PEER) {
    resolve_two(x, &chase->at, &chase->of);
    for (size_t i = 0; i < x->set.pair_count; i++) {
      const struct pair pair = x->set.pairs[i];
      const struct endpoint memory = {chase->of.place, pair.to, chase->of.memory};
      const struct bench_case work = chase_work(chase, pair.from, memory);
      emit(x, &work, NULL);
    }
    return;
  }
  struct place_list gpus;
  resolve_one(x, &chase->at, chase_space_text(chase->space), &gpus);
  for (size_t i = 0; i < gpus.count; i++) {
    const struct endpoint memory = {PLACE_GPU, gpus.indices[i], MEMORY_DEVICE};
    const struct bench_case work = chase_work(chase, gpus.indices[i], memory);
    emit(x, &work, NULL);
  }
}

/* ---- stream ---- */

static void expand_stream(struct expander *x, const struct stream_setting *stream) {
  struct place_list places;
  resolve_one(x, &stream->at, NULL, &places);
  for (size_t i = 0; i < places.count; i++) {
    const bool gpu = stream->at.place == PLACE_GPU;
    const char *reason = NULL;
    const struct bench_case work = {
        .kind = CASE_STREAM,
        .work.stream = {
            .op = stream->op,
            .type = stream->type,
            .memory = {stream->at.place, places.indices[i], stream->at.memory},
            .size_bytes = stream->size_bytes,
            .passes = stream->passes,
            .threads = stream->threads,
            .block = stream->block,
            .grid = gpu ? blocks_of(&stream->grid, x->machine, places.indices[i], &reason) : 0,
            .vector_bytes = stream->vector_bytes,
            .unroll = stream->unroll,
            .clock = stream->clock}};
    emit(x, &work, reason);
  }
}

/* ---- arithmetic ---- */

/* What the SM that has most blocks does in one iteration. */
static uint64_t operations_per_sm(const struct arithmetic *arithmetic, uint32_t sm_count) {
  if (arithmetic->measure != ARITHMETIC_THROUGHPUT || sm_count == 0) {
    return 0;
  }
  const uint64_t blocks = ((uint64_t)arithmetic->grid + sm_count - 1) / sm_count;
  const uint64_t packed = arithmetic->type == NUMBER_F16 ? 2 : 1;
  return packed * arithmetic->instructions * arithmetic->block * blocks;
}

static void expand_arithmetic(struct expander *x, const struct arithmetic_setting *arithmetic) {
  struct place_list gpus;
  resolve_one(x, &arithmetic->at, NULL, &gpus);
  for (size_t i = 0; i < gpus.count; i++) {
    const int32_t gpu = gpus.indices[i];
    const char *reason = NULL;
    struct bench_case work = {
        .kind = CASE_ARITHMETIC,
        .work.arithmetic = {.op = arithmetic->op,
                            .type = arithmetic->type,
                            .measure = arithmetic->measure,
                            .gpu = gpu,
                            .ilp = arithmetic->ilp,
                            .block = arithmetic->block,
                            .grid = blocks_of(&arithmetic->grid, x->machine, gpu, &reason),
                            .instructions = arithmetic->instructions},
        .operations = arithmetic->instructions};
    work.operations_per_sm =
        operations_per_sm(&work.work.arithmetic, x->machine->gpus[gpu].sm_count);
    emit(x, &work, reason);
  }
}

/* ---- overhead ---- */

static void emit_overhead(struct expander *x, const struct overhead_setting *setting, int32_t gpu,
                          struct endpoint memory) {
  const struct bench_case work = {.kind = CASE_OVERHEAD,
                                  .work.overhead = {.operation = setting->operation,
                                                    .gpu = gpu,
                                                    .memory = memory,
                                                    .size_bytes = setting->size_bytes}};
  emit(x, &work, NULL);
}

/* Memory that needs no driver: nodes alone, in no GPU's context. */
static void expand_host_allocation(struct expander *x, const struct overhead_setting *overhead) {
  if (place_is_relative(&overhead->node.selector)) {
    resolve_two(x, &overhead->at, &overhead->node);
    for (size_t i = 0; i < x->set.pair_count; i++) {
      emit_overhead(x, overhead, -1,
                    (struct endpoint){PLACE_NUMA, x->set.pairs[i].to, overhead->memory});
    }
    return;
  }
  struct place_list nodes;
  resolve_one(x, &overhead->node, NULL, &nodes);
  for (size_t i = 0; i < nodes.count; i++) {
    emit_overhead(x, overhead, -1,
                  (struct endpoint){PLACE_NUMA, nodes.indices[i], overhead->memory});
  }
}

static void expand_overhead(struct expander *x, const struct overhead_setting *overhead) {
  switch (overhead->memory) {
  case MEMORY_PAGEABLE:
  case MEMORY_HUGE:
    expand_host_allocation(x, overhead);
    return;
  case MEMORY_PINNED:
  case MEMORY_REGISTERED:
  case MEMORY_WRITE_COMBINED:
    resolve_two(x, &overhead->at, &overhead->node);
    for (size_t i = 0; i < x->set.pair_count; i++) {
      const struct pair pair = x->set.pairs[i];
      emit_overhead(x, overhead, pair.from,
                    (struct endpoint){PLACE_NUMA, pair.to, overhead->memory});
    }
    return;
  case MEMORY_MANAGED:
  case MEMORY_DEVICE:
  case memory_kind_name_count:
    break;
  }
  struct place_list gpus;
  resolve_one(x, &overhead->at, NULL, &gpus);
  for (size_t i = 0; i < gpus.count; i++) {
    emit_overhead(x, overhead, gpus.indices[i],
                  (struct endpoint){PLACE_GPU, gpus.indices[i], overhead->memory});
  }
}

void expand_setting(struct expander *expander, const struct setting *setting,
                    expansion_receiver *receive, void *context) {
  expander->receive = receive;
  expander->context = context;
  switch (setting->kind) {
  case CASE_TRANSFER:
    expand_transfer(expander, &setting->transfer, receive, context);
    break;
  case CASE_CHASE:
    expand_chase(expander, &setting->chase);
    break;
  case CASE_STREAM:
    expand_stream(expander, &setting->stream);
    break;
  case CASE_ARITHMETIC:
    expand_arithmetic(expander, &setting->arithmetic);
    break;
  case CASE_OVERHEAD:
    expand_overhead(expander, &setting->overhead);
    break;
  case case_kind_name_count:
    break;
  }
}
