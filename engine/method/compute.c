/* Method compute: a kernel that computes, on the GPU of its flow. Its operands are in the source,
 * what comes out in the target; kernels/compute_values.h says what they are. Every result is
 * compared by a kernel that does the same another way. */
#include "engine/case/transfer.h"
#include "engine/gpu/session.h"
#include "engine/machine/machine.h"
#include "engine/method/method.h"

#include <inttypes.h>
#include <stdlib.h>

_Static_assert((int)COMPUTE_SIDE_UNIT == (int)MATMUL_UNIT, "a scenario counts whole tiles");
_Static_assert((int)COMPUTE_SIDE_MAX == (int)MATMUL_SIDE_MAX, "sums are exact");
_Static_assert((int)COMPUTE_INTENSITY_MAX == (int)TRIAD_INTENSITY_MAX, "sums are exact");
enum { FMA_ROUNDS = COMPUTE_FMA_PASSES / (FMA_CHAINS * FMA_STEPS) };

/* Blocks and threads of kernels outside timed parts. */
enum { DATA_BLOCK = 256, DATA_BLOCKS_PER_SM = 8 };
#define SEED_A (UINT64_C(1) << 40)
#define SEED_B (UINT64_C(2) << 40)

/* How the operation is launched. */
struct compute_launch {
  enum kernel kernel;
  uint32_t grid;
  uint32_t block;
  uint32_t shared_bytes;
  union {
    struct matmul_arguments matmul;
    struct fma_arguments fma;
    struct triad_arguments triad;
  } arguments;
  CUdeviceptr verdict; /* struct pattern_compare_result */
};

static const char *compute_unsupported_reason(const struct flow *flow,
                                              const struct machine *machine,
                                              char reason[CASE_REASON_MAX]) {
  const struct compute_shape *shape = &flow->compute;
  if (flow->source.place != PLACE_GPU || flow->target.place != PLACE_GPU ||
      flow->source.index != flow->target.index) {
    return "method compute works within the memory of one GPU: both ends are that GPU";
  }
  const struct gpu *gpu = &machine->gpus[flow->source.index];
  const uint64_t results_bytes =
      (uint64_t)compute_blocks(shape, gpu->sm_count) * COMPUTE_BLOCK * sizeof(float);
  if (gpu->sm_count == 0) {
    return "how many SMs the GPU has is not known";
  }
  if (shape->op == COMPUTE_MATMUL && gpu->compute_major < 8) {
    return CASE_REASON(reason,
                       "a matrix product of bf16 needs compute capability 8.0; the GPU has %u.%u",
                       gpu->compute_major, gpu->compute_minor);
  }
  if (shape->op == COMPUTE_MATMUL && compute_side(flow->size_bytes) == 0) {
    return "the smallest matrices, 256 x 256, take 256 KiB: give a larger size";
  }
  if (shape->op == COMPUTE_TRIAD && compute_elements(flow->size_bytes) == 0) {
    return "a triad needs a size of at least 32 bytes";
  }
  if (shape->op == COMPUTE_FMA && flow->size_bytes < results_bytes) {
    return CASE_REASON(reason, "the results of %u SMs take %" PRIu64 " bytes: give a larger size",
                       gpu->sm_count, results_bytes);
  }
  return NULL;
}

/* As many stages as the shared memory of an SM holds. wgmma needs one more than it works on. */
static void compute_plan_matmul(const struct gpu *gpu, int shared_bytes, struct flow_run *run) {
  struct compute_launch *launch = run->state;
  const uint32_t fitting = (uint32_t)shared_bytes / MATMUL_STAGE_BYTES;
  const uint32_t stages = fitting < MATMUL_STAGES_MAX ? fitting : MATMUL_STAGES_MAX;
  const uint32_t side = compute_side(run->flow->size_bytes);
  launch->kernel = gpu->compute_major == 9 && gpu->compute_minor == 0 && stages > 2
                       ? KERNEL_COMPUTE_MATMUL_GROUPS
                       : KERNEL_COMPUTE_MATMUL;
  launch->block = MATMUL_BLOCK;
  launch->shared_bytes = stages * MATMUL_STAGE_BYTES;
  launch->arguments.matmul = (struct matmul_arguments){
      .out = run->target->device,
      .a = run->source->device,
      .b = run->source->device + UINT64_C(2) * side * side,
      .side = side,
      .stages = stages,
  };
}

static enum status compute_prepare_matmul(struct cuda_session *session, struct flow_run *run,
                                          struct error *err) {
  struct compute_launch *launch = run->state;
  const struct cuda_driver *driver = &session->driver;
  int shared_bytes = 0;
  RETURN_ON_ERROR(
      cuda_check(driver,
                 driver->cuDeviceGetAttribute(&shared_bytes,
                                              CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                                              session->gpus[run->gpu].device),
                 err, "asking for the shared memory of a block"));
  compute_plan_matmul(&session->machine->gpus[run->gpu], shared_bytes, run);
  if (launch->arguments.matmul.stages < 2) {
    return error_set(err, STATUS_UNSUPPORTED, "an SM has %d bytes of shared memory, too few",
                     shared_bytes);
  }
  return cuda_check(driver,
                    driver->cuFuncSetAttribute(session->gpus[run->gpu].kernels[launch->kernel],
                                               CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                               (int)launch->shared_bytes),
                    err, "asking for %u bytes of shared memory", launch->shared_bytes);
}

static void compute_plan_others(struct flow_run *run) {
  struct compute_launch *launch = run->state;
  const struct compute_shape *shape = &run->flow->compute;
  const uint64_t count = compute_elements(run->flow->size_bytes);
  launch->block = COMPUTE_BLOCK;
  launch->kernel = shape->op == COMPUTE_FMA ? KERNEL_COMPUTE_FMA : KERNEL_COMPUTE_TRIAD;
  if (shape->op == COMPUTE_FMA) {
    launch->arguments.fma = (struct fma_arguments){
        .out = run->target->device, .rounds = FMA_ROUNDS, .factor = 1, .add = 1};
  } else {
    launch->arguments.triad =
        (struct triad_arguments){.out = run->target->device,
                                 .a = run->source->device,
                                 .b = run->source->device + count * sizeof(float),
                                 .count = count,
                                 .intensity = shape->intensity,
                                 .factor = 1};
  }
}

static void compute_release(const struct memory_context *context, struct flow_run *run) {
  struct compute_launch *launch = run->state;
  if (run->part != NULL) {
    (void)context->cuda->driver.cuGreenCtxDestroy(run->part);
    run->part = NULL;
  }
  if (launch->verdict != 0 && cuda_session_use(context->cuda, run->gpu, NULL) == STATUS_OK) {
    (void)context->cuda->driver.cuMemFree(launch->verdict);
  }
  free(launch);
  run->state = NULL;
}

static enum status compute_prepare(const struct memory_context *context, struct flow_run *run,
                                   struct error *err) {
  const struct cuda_driver *driver = &context->cuda->driver;
  const struct compute_shape *shape = &run->flow->compute;
  struct compute_launch *launch = calloc(1, sizeof *launch);
  if (launch == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for a kernel that computes");
  }
  run->state = launch;
  launch->grid = compute_blocks(shape, context->machine->gpus[run->gpu].sm_count);
  enum status status = cuda_session_use(context->cuda, run->gpu, err);
  if (status == STATUS_OK && shape->sm_share == SM_SHARE_GREEN) {
    CUgreenCtx part = NULL;
    status = cuda_session_new_part(context->cuda, run->gpu, launch->grid, &part,
                                   &run->part_sm_count, err);
    run->part = part;
  }
  if (status == STATUS_OK && shape->op == COMPUTE_MATMUL) {
    status = compute_prepare_matmul(context->cuda, run, err);
  } else if (status == STATUS_OK) {
    compute_plan_others(run);
  }
  status =
      THEN(status,
           cuda_check(driver,
                      driver->cuMemAlloc(&launch->verdict, sizeof(struct pattern_compare_result)),
                      err, "allocating the result of a comparison"));
  if (status != STATUS_OK) {
    compute_release(context, run);
  }
  return status;
}

static enum status compute_enqueue(const struct memory_context *context, struct flow_run *run,
                                   uint32_t iterations, struct error *err) {
  struct compute_launch *launch = run->state;
  enum status status = STATUS_OK;
  for (uint32_t i = 0; status == STATUS_OK && i < iterations; i++) {
    status = cuda_session_launch_shared(context->cuda, run->gpu, launch->kernel, launch->grid,
                                        launch->block, launch->shared_bytes, run->stream,
                                        &launch->arguments, err);
  }
  return status;
}

/* On the stream for work outside timed parts. */
static enum status compute_launch_data(const struct memory_context *context,
                                       const struct flow_run *run, enum kernel kernel,
                                       void *arguments, struct error *err) {
  const uint32_t sms = context->machine->gpus[run->gpu].sm_count;
  return cuda_session_launch(context->cuda, run->gpu, kernel, sms * DATA_BLOCKS_PER_SM, DATA_BLOCK,
                             context->cuda->gpus[run->gpu].stream, arguments, err);
}

/* Both operands. */
static enum status compute_fill_operands(const struct memory_context *context,
                                         const struct flow_run *run, struct error *err) {
  const struct compute_launch *launch = run->state;
  const bool matrices = run->flow->compute.op == COMPUTE_MATMUL;
  const uint64_t side = launch->arguments.matmul.side;
  struct compute_data_arguments fill = {
      .address = run->source->device,
      .count = matrices ? side * side : launch->arguments.triad.count,
      .seed = SEED_A,
      .element_bytes = matrices ? 2 : sizeof(float),
  };
  RETURN_ON_ERROR(compute_launch_data(context, run, KERNEL_COMPUTE_FILL, &fill, err));
  fill.address += fill.count * fill.element_bytes;
  fill.seed = SEED_B;
  return compute_launch_data(context, run, KERNEL_COMPUTE_FILL, &fill, err);
}

static enum status compute_fill(const struct memory_context *context, struct flow_run *run,
                                bool spoiled, struct error *err) {
  const struct cuda_driver *driver = &context->cuda->driver;
  CUstream stream = context->cuda->gpus[run->gpu].stream;
  enum status status = cuda_session_use(context->cuda, run->gpu, err);
  if (status == STATUS_OK && spoiled) { /* no number equals these */
    status = cuda_check(
        driver, driver->cuMemsetD8Async(run->target->device, 0xff, run->flow->size_bytes, stream),
        err, "invalidating results");
  } else if (status == STATUS_OK && run->flow->compute.op != COMPUTE_FMA) {
    status = compute_fill_operands(context, run, err);
  }
  return THEN(status, cuda_session_wait(context->cuda, stream, "filling operands", err));
}

static enum status compute_verify(const struct memory_context *context, const struct flow_run *run,
                                  struct error *err) {
  static const enum kernel kernels[compute_op_name_count] = {
      [COMPUTE_MATMUL] = KERNEL_COMPUTE_CHECK_MATMUL,
      [COMPUTE_FMA] = KERNEL_COMPUTE_CHECK_FMA,
      [COMPUTE_TRIAD] = KERNEL_COMPUTE_CHECK_TRIAD,
  };
  const struct compute_launch *launch = run->state;
  const enum compute_op op = run->flow->compute.op;
  const uint64_t side = op == COMPUTE_MATMUL ? launch->arguments.matmul.side : 0;
  struct compute_check_arguments check = {
      .out = run->target->device,
      .a = run->source->device,
      .b = run->source->device + 2 * side * side,
      .result = launch->verdict,
      .count = op == COMPUTE_MATMUL  ? side * side
               : op == COMPUTE_TRIAD ? launch->arguments.triad.count
                                     : (uint64_t)launch->grid * launch->block,
      .seed_a = SEED_A,
      .seed_b = SEED_B,
      .intensity = op == COMPUTE_FMA ? FMA_ROUNDS : run->flow->compute.intensity,
      .side = (uint32_t)side,
  };
  struct pattern_compare_result result = {0};
  CUstream stream = context->cuda->gpus[run->gpu].stream;
  enum status status = cuda_session_use(context->cuda, run->gpu, err);
  status = THEN(status, data_gpu_compare_begin(context->cuda, launch->verdict, stream, err));
  status = THEN(status, compute_launch_data(context, run, kernels[op], &check, err));
  status = THEN(status, data_gpu_compare_end(context->cuda, launch->verdict, stream, check.count,
                                             &result, err));
  if (status == STATUS_OK && result.bad_bytes != 0) {
    return error_set(err, STATUS_CORRUPT,
                     "%s: %" PRIu64 " of %" PRIu64
                     " results are wrong, the first is number %" PRIu64,
                     compute_op_text(op), result.bad_bytes, check.count, result.first_offset);
  }
  return status;
}

static bool compute_blocks_host(const struct flow *flow) {
  (void)flow;
  return false;
}

const struct method_ops method_compute = {
    .method = METHOD_COMPUTE,
    .clock = CLOCK_EVENT,
    .unsupported_reason = compute_unsupported_reason,
    .gpu = gpu_flow_gpu,
    .prepare = compute_prepare,
    .release = compute_release,
    .fill = compute_fill,
    .verify = compute_verify,
    .enqueue = compute_enqueue,
    .blocks_host = compute_blocks_host,
};
