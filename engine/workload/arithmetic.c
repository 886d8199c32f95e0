/* An [[arithmetic]]: chains of one instruction that depend on each other, by threads of a GPU.
 *
 * Cycles are those of the SM that took longest, from its first block's start to its last one's end;
 * ns are from the first block of all to the last on the GPU's global timer. The loop around the
 * chain is one branch in ARITHMETIC_BODY instructions. Where each chain ends is held against the
 * host's own arithmetic bit by bit, so that a dropped or folded instruction shows. */
#include "engine/workload/arithmetic.h"
#include "engine/base/clock.h"
#include "engine/case/work.h"
#include "engine/machine/machine.h"
#include "engine/workload/workload.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { WARP = 32, BLOCK_MAX = 1024, THREADS_MAX = 1 << 24 };

_Static_assert((int)ARITHMETIC_UNIT == (int)ARITHMETIC_BODY, "a scenario counts whole bodies");

struct arithmetic_state {
  struct engine *engine;
  const struct arithmetic *arithmetic;
  struct arithmetic_gpu *gpu;
  uint64_t instructions; /* of a thread in the last run */
  uint64_t expected_of;  /* instructions that `expected` is for; 0 = none yet */
  uint64_t expected[ARITHMETIC_LANES];
};

/* false: there is none. */
static bool arithmetic_find_kernel(const struct arithmetic *arithmetic, enum kernel *kernel) {
  char name[64];
  (void)snprintf(name, sizeof name, "haul_arithmetic_%s_%s_ilp%" PRIu32,
                 arithmetic_op_text(arithmetic->op), number_type_text(arithmetic->type),
                 arithmetic->ilp);
  return kernel_parse(name, kernel);
}

static const char *arithmetic_unsupported_reason(const struct case_def *def,
                                                 const struct machine *machine,
                                                 char reason[CASE_REASON_MAX]) {
  const struct arithmetic *arithmetic = &def->work->arithmetic;
  enum kernel kernel;
  if (arithmetic->gpu < 0 || arithmetic->gpu >= (int32_t)machine->gpu_count) {
    return CASE_REASON(reason, "there is no GPU %" PRId32, arithmetic->gpu);
  }
  if (arithmetic->op == ARITHMETIC_ADD3 && arithmetic->type != NUMBER_I32) {
    return "add3 is an instruction of integers (i32)";
  }
  if (!arithmetic_find_kernel(arithmetic, &kernel)) {
    return CASE_REASON(reason, "ilp = %" PRIu32 ": a thread has 1, 2, 4 or 8 chains",
                       arithmetic->ilp);
  }
  if (arithmetic->block == 0 || arithmetic->block > BLOCK_MAX || arithmetic->grid == 0 ||
      (uint64_t)arithmetic->block * arithmetic->grid > THREADS_MAX) {
    return CASE_REASON(reason,
                       "%" PRIu32 " blocks of %" PRIu32
                       " threads: at least one of each, at most %d threads per block and %d in all",
                       arithmetic->grid, arithmetic->block, BLOCK_MAX, THREADS_MAX);
  }
  if (arithmetic->measure == ARITHMETIC_LATENCY &&
      (arithmetic->ilp != 1 || arithmetic->grid != 1 || arithmetic->block > WARP)) {
    return "latency is of one chain by one warp: ilp = 1, grid = 1 and a block of at most 32";
  }
  if (arithmetic->instructions == 0 || arithmetic->instructions % ARITHMETIC_UNIT != 0 ||
      arithmetic->instructions > ARITHMETIC_INSTRUCTIONS_MAX) {
    return CASE_REASON(reason, "%" PRIu32 " instructions: a multiple of %d up to %d is wanted",
                       arithmetic->instructions, ARITHMETIC_UNIT, ARITHMETIC_INSTRUCTIONS_MAX);
  }
  return NULL;
}

static void arithmetic_memory_needs(const struct case_def *def, uint64_t *host_bytes,
                                    uint64_t gpu_bytes[MACHINE_GPUS_MAX]) {
  const struct arithmetic *arithmetic = &def->work->arithmetic;
  const uint64_t results_bytes = (uint64_t)arithmetic->block * arithmetic->grid * sizeof(uint64_t);
  *host_bytes += results_bytes;
  gpu_bytes[arithmetic->gpu] += results_bytes;
}

static bool arithmetic_path(const struct case_def *def, uint32_t i, struct case_path *path) {
  const struct endpoint gpu = {.place = PLACE_GPU, .index = def->work->arithmetic.gpu};
  *path = (struct case_path){.from = gpu, .to = gpu};
  return i == 0;
}

static enum clock arithmetic_clock(const struct case_def *def) {
  (void)def;
  return CLOCK_KERNEL;
}

static enum status arithmetic_set_up(struct engine *engine, const struct case_def *def,
                                     struct case_outcome *outcome, void **out, struct error *err) {
  const uint64_t start_ns = clock_now_ns();
  struct arithmetic_state *state = calloc(1, sizeof *state);
  *out = state;
  if (state == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for a case");
  }
  state->engine = engine;
  state->arithmetic = &def->work->arithmetic;
  const struct arithmetic *arithmetic = state->arithmetic;
  struct arithmetic_gpu_request request = {
      .gpu = arithmetic->gpu, .block = arithmetic->block, .grid = arithmetic->grid};
  (void)arithmetic_find_kernel(
      arithmetic, &request.kernel); /* arithmetic_unsupported_reason() has checked it */
  arithmetic_operands(arithmetic->type, &request.operands);
  enum status status = arithmetic_gpu_new(engine->context.cuda, &request, &state->gpu, err);
  outcome->allocate_ns += clock_now_ns() - start_ns;
  return status;
}

static uint32_t arithmetic_iterations_max(const void *opaque) {
  const struct arithmetic_state *state = opaque;
  return ARITHMETIC_INSTRUCTIONS_MAX / state->arithmetic->instructions;
}

static enum status arithmetic_run(void *opaque, uint32_t iterations, struct trial_times *times,
                                  struct error *err) {
  struct arithmetic_state *state = opaque;
  state->instructions = (uint64_t)state->arithmetic->instructions * iterations;
  times->gate_timed_out = false;
  return arithmetic_gpu_run(state->gpu, state->instructions, &times->cycles, &times->window_ns,
                            err);
}

static enum status arithmetic_poison(void *opaque, struct error *err) {
  const struct arithmetic_state *state = opaque;
  return arithmetic_gpu_spoil(state->gpu, err);
}

static void expect(struct arithmetic_state *state) {
  const struct arithmetic *arithmetic = state->arithmetic;
  for (uint32_t lane = 0; lane < ARITHMETIC_LANES && state->expected_of != state->instructions;
       lane++) {
    state->expected[lane] = arithmetic_expected(arithmetic->op, arithmetic->type, lane,
                                                arithmetic->ilp, state->instructions);
  }
  state->expected_of = state->instructions;
}

static enum status arithmetic_verify(void *opaque, struct error *err) {
  struct arithmetic_state *state = opaque;
  const uint64_t threads = (uint64_t)state->arithmetic->block * state->arithmetic->grid;
  const uint64_t *results;
  RETURN_ON_ERROR(arithmetic_gpu_results(state->gpu, &results, err));
  expect(state);
  for (uint64_t thread = 0; thread < threads; thread++) {
    const uint64_t in_block = thread % state->arithmetic->block;
    const uint64_t expected = state->expected[in_block % ARITHMETIC_LANES];
    if (results[thread] != expected) {
      return error_set(err, STATUS_CORRUPT,
                       "after %" PRIu64 " instructions thread %" PRIu64 " is at 0x%016" PRIx64
                       ", not at 0x%016" PRIx64 ": an instruction was wrong or not done",
                       state->instructions, thread, results[thread], expected);
    }
  }
  return STATUS_OK;
}

static void arithmetic_tear_down(void *opaque) {
  struct arithmetic_state *state = opaque;
  arithmetic_gpu_free(state->gpu);
  free(state);
}

const struct workload_ops workload_arithmetic = {
    .kind = CASE_ARITHMETIC,
    .kernel_modules = 1 << KERNEL_MODULE_ARITHMETIC,
    .unsupported_reason = arithmetic_unsupported_reason,
    .memory_needs = arithmetic_memory_needs,
    .path = arithmetic_path,
    .clock = arithmetic_clock,
    .set_up = arithmetic_set_up,
    .iterations_max = arithmetic_iterations_max,
    .run = arithmetic_run,
    .poison = arithmetic_poison,
    .verify = arithmetic_verify,
    .tear_down = arithmetic_tear_down,
};
