/* Kernels that compute. */
#include "engine/machine/machine.h"
#include "runner/plan/estimate.h"
#include "runner/plan/kind.h"
#include "runner/plan/name.h"
#include "schema/scenario/setting.h"

void expand_make_compute(const struct flow_setting *load, struct flow *flow) {
  if (flow->method == METHOD_COMPUTE) {
    flow->size_bytes =
        load->size_given ? load->base.size_bytes : compute_usual_bytes(load->base.compute.op);
    flow->compute = load->base.compute;
    flow->compute.intensity = flow->compute.op == COMPUTE_TRIAD ? flow->compute.intensity : 0;
    flow->staged = false;
  }
}

void expand_place_compute(const struct flow *measured, struct flow *flow) {
  const bool source =
      measured->source.place == PLACE_GPU &&
      (measured->initiator == INITIATOR_SOURCE || measured->target.place != PLACE_GPU);
  if (flow->method == METHOD_COMPUTE) {
    flow->source = source ? measured->source : measured->target;
    flow->source.memory = MEMORY_DEVICE;
    flow->target = flow->source;
    flow->shape = (struct copy_shape){0};
    flow->scatter = (struct scatter_shape){0};
    flow->graph = false;
  }
}

size_t expand_mirror_count(const struct flow_setting *load, size_t measured_count) {
  const bool computes = load->method_given && load->base.method == METHOD_COMPUTE;
  return !load->mirrors ? 0 : computes && measured_count > 1 ? 1 : measured_count;
}

static void plan_compute_expand(struct expander *x, const struct setting *setting) {
  struct place_list gpus;
  expand_resolve_loads(x, setting);
  expand_resolve_end(x, &setting->at, NULL, &gpus);
  for (size_t i = 0; i < gpus.count; i++) {
    const struct endpoint gpu = endpoint_own(PLACE_GPU, gpus.indices[i], MEMORY_DEVICE);
    struct flow *flow = &x->flows[0];
    *flow = setting->transfer.flow.base;
    flow->role = FLOW_MEASURED;
    flow->source = gpu;
    flow->target = gpu;
    flow->initiator = INITIATOR_SOURCE;
    x->flow_count = 1;
    expand_emit_flows(
        x, setting,
        compute_operations(&flow->compute, flow->size_bytes, x->machine->gpus[gpu.index].sm_count));
  }
}

static void plan_compute_path(const struct case_def *def, struct strbuf *text) {
  name_append_gpu(text, def->flows[0].source.index);
}

static uint64_t plan_compute_size(const struct case_def *def) {
  return def->flows[0].compute.op == COMPUTE_FMA ? 0 : def->flows[0].size_bytes;
}

static void plan_compute_define(const struct case_def *def, struct strbuf *text) {
  plan_kinds[CASE_TRANSFER]->define(def, text);
}

static bool plan_compute_has_caches(const struct case_def *def, enum place place) {
  (void)def;
  return place == PLACE_GPU;
}

/* The least time that memory needs, and the units; the longer one is the limit. Of a matrix product
 * memory needs the less time the larger it is; where caches may serve a triad, nobody knows. */
static void plan_compute_bound(const struct case_def *def, const struct machine *machine,
                               struct bound *bound) {
  const struct flow *flow = &def->flows[0];
  const struct compute_shape *shape = &flow->compute;
  const struct gpu *gpu = &machine->gpus[flow->source.index];
  const bool matmul = shape->op == COMPUTE_MATMUL;
  const uint64_t bytes = compute_bytes(shape, flow->size_bytes);
  const uint64_t peak_operations = matmul ? peak_tensor(gpu) : peak_fma(gpu);
  const bool cached = bytes > 0 && bound_l2_may_serve(gpu, bytes);
  const uint64_t peak_bytes = cached ? 0 : peak_dram(gpu);
  const double operations_s = peak_operations > 0 && def->operations > 0
                                  ? (double)def->operations / (double)peak_operations
                                  : 0;
  const double bytes_s = peak_bytes > 0 ? (double)bytes / (double)peak_bytes : 0;
  bound->payload_bytes = shape->op == COMPUTE_TRIAD ? bytes : 0;
  bound->traffic_bytes = bound->payload_bytes;
  if (cached && shape->op == COMPUTE_TRIAD) {
    return;
  }
  if (bytes_s > operations_s) {
    bound->limit = LIMIT_DRAM;
    bound->traffic_bytes = bytes;
    bound->peak_bytes_per_second = peak_bytes;
  } else if (operations_s > 0) {
    bound->limit = matmul ? LIMIT_TENSOR : LIMIT_FMA;
    bound->traffic_bytes = def->operations;
    bound->peak_bytes_per_second = peak_operations;
  }
}

static void plan_compute_cost(const struct case_def *def, const struct machine *machine,
                              struct cost *cost) {
  enum { CHECK_PER_CLOCK = 16 }; /* operations of an SM, by what checks a matrix product */
  const struct flow *flow = &def->flows[0];
  const struct gpu *gpu = &machine->gpus[flow->source.index];
  const double least_ns = def->peak_bytes_per_second > 0 ? (double)def->traffic_bytes * 1e9 /
                                                               (double)def->peak_bytes_per_second
                                                         : ESTIMATE_GPU_ITERATION_NS;
  const double share = flow->compute.op == COMPUTE_FMA ? 1 : flow->compute.sm_percent / 100.0;
  cost->work_ns = least_ns / ESTIMATE_TYPICAL_SHARE / share + ESTIMATE_GPU_ITERATION_NS;
  cost->iterations_max = ESTIMATE_GATED_ITERATIONS_MAX;
  cost->fill_ns = estimate_pass_ns(PLACE_GPU, flow->size_bytes);
  cost->check_ns = 2 * cost->fill_ns;
  if (flow->compute.op == COMPUTE_MATMUL && gpu->sm_count > 0) {
    cost->check_ns += (double)def->operations / CHECK_PER_CLOCK / gpu->sm_count;
  }
}

const struct plan_kind plan_kind_compute = {
    .expand = plan_compute_expand,
    .path = plan_compute_path,
    .size_bytes = plan_compute_size,
    .figure = FIGURE_FLOPS,
    .by_operation = true,
    .define = plan_compute_define,
    .has_caches = plan_compute_has_caches,
    .bound = plan_compute_bound,
    .cost = plan_compute_cost,
};
