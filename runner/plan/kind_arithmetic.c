/* Chains of dependent instructions. */
#include "engine/machine/machine.h"
#include "runner/plan/estimate.h"
#include "runner/plan/kind.h"
#include "runner/plan/name.h"
#include "schema/scenario/setting.h"

#include <math.h>

/* Clocks of a dependent instruction, instructions per clock and SM, and the clock in GHz. */
#define CLOCKS    4.5
#define PER_CLOCK 64.0
#define GHZ       1.5

/* What the SM that has most blocks does in one iteration. */
static uint64_t plan_arithmetic_per_sm(const struct arithmetic *arithmetic, uint32_t sm_count) {
  if (arithmetic->measure != ARITHMETIC_THROUGHPUT || sm_count == 0) {
    return 0;
  }
  const uint64_t blocks = ((uint64_t)arithmetic->grid + sm_count - 1) / sm_count;
  const uint64_t packed = arithmetic->type == NUMBER_F16 ? 2 : 1;
  return packed * arithmetic->instructions * arithmetic->block * blocks;
}

static void plan_arithmetic_expand(struct expander *x, const struct setting *setting) {
  struct place_list gpus;
  expand_resolve_end(x, &setting->at, NULL, &gpus);
  for (size_t i = 0; i < gpus.count; i++) {
    const char *reason = NULL;
    union work work = {.arithmetic = setting->work.arithmetic};
    struct arithmetic *arithmetic = &work.arithmetic;
    arithmetic->gpu = gpus.indices[i];
    arithmetic->grid = expand_grid(&setting->grid, x->machine, arithmetic->gpu, &reason);
    const struct case_def def = {.work = &work,
                                 .operations = arithmetic->instructions,
                                 .operations_per_sm = plan_arithmetic_per_sm(
                                     arithmetic, x->machine->gpus[arithmetic->gpu].sm_count)};
    expand_emit(x, &def, reason);
  }
}

static void plan_arithmetic_path(const struct case_def *def, struct strbuf *text) {
  name_append_gpu(text, def->work->arithmetic.gpu);
}

/* An instruction takes a warp at least so many clocks, and an SM does so many per clock. */
static void plan_arithmetic_cost(const struct case_def *def, const struct machine *machine,
                                 struct cost *cost) {
  (void)machine;
  const struct arithmetic *arithmetic = &def->work->arithmetic;
  const double chained = (double)arithmetic->instructions * CLOCKS / arithmetic->ilp;
  const double filled = (double)def->operations_per_sm / PER_CLOCK;
  cost->work_ns = fmax(chained, filled) / GHZ + ESTIMATE_GPU_ITERATION_NS;
  cost->iterations_max = ESTIMATE_GATED_ITERATIONS_MAX;
}

const struct plan_kind plan_kind_arithmetic = {
    .expand = plan_arithmetic_expand,
    .path = plan_arithmetic_path,
    .method_version = ARITHMETIC_METHOD_VERSION,
    .cost = plan_arithmetic_cost,
};
