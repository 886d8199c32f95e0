/* Method sm: a kernel's own loads and stores, on the initiating GPU.
 *
 * Variant "auto" is "vector" for a copy by itself: on an H200 (tests/benchmarks/copy_kernels.toml)
 * 16-byte accesses with a grid that covers the data are within 0.5 % of the best of 100 shapes for
 * host, peer and local copies, and "bulk" is never faster. Both directions between the host and the
 * GPU are one kernel (transfer_partner() says when), whose warps take turns. It is "bulk" for other
 * copies to or from the host that share their GPU with another kernel of the case: of two grids
 * that cover their data the first takes all SMs, and both ways move less than two bulk copies do.
 */
#include "engine/base/macros.h"
#include "engine/case/transfer.h"
#include "engine/gpu/session.h"
#include "engine/machine/machine.h"
#include "engine/method/method.h"

#include <assert.h>
#include <stdlib.h>

/* How a variant is launched when the scenario does not say. */
struct variant {
  uint32_t vector_bytes;
  uint32_t block;
  uint32_t grid; /* blocks; 0 = as many as cover the data once */
};

static const struct variant variants[kernel_variant_name_count] = {
    [KERNEL_AUTO] = {.vector_bytes = 16, .block = 256},
    [KERNEL_VECTOR] = {.vector_bytes = 16, .block = 256},
    [KERNEL_BULK] = {.vector_bytes = 16, .block = 32},
    /* Comm|Scope's zero-copy kernels: 256 blocks of 256 threads, 4 bytes each. */
    [KERNEL_SCALAR] = {.vector_bytes = 4, .block = 256, .grid = 256},
};
/* Of blocks that stay. */
enum { BULK_BLOCKS_PER_SM = 4, GRID_MAX = 0x7fffffff };

struct sm_launch {
  enum kernel kernel;
  uint32_t grid;
  uint32_t block;
  CUdeviceptr pieces; /* of a scattered flow: its list, in the GPU's own memory */
};

static bool kernel_for_width(uint32_t bytes, enum kernel *kernel) {
  static const struct {
    uint32_t bytes;
    enum kernel kernel;
  } widths[] = {{1, KERNEL_COPY_1},
                {2, KERNEL_COPY_2},
                {4, KERNEL_COPY_4},
                {8, KERNEL_COPY_8},
                {16, KERNEL_COPY_16}};
  for (size_t i = 0; i < COUNT_OF(widths); i++) {
    if (widths[i].bytes == bytes) {
      *kernel = widths[i].kernel;
      return true;
    }
  }
  return false;
}

static bool sm_is_contiguous(const struct flow *flow) {
  return !copy_shape_is_strided(&flow->shape) && !flow_is_scattered(flow);
}

static bool touches_host(const struct flow *flow) {
  return flow->source.place != PLACE_GPU || flow->target.place != PLACE_GPU;
}

/* The rule of "auto". */
static enum kernel_variant variant_of(const struct flow *flow, const struct gpu *gpu,
                                      uint32_t kernels_on_gpu) {
  const struct kernel_shape *shape = &flow->kernel;
  if (shape->variant != KERNEL_AUTO) {
    return shape->variant;
  }
  bool shape_given = shape->block != 0 || shape->grid != 0 || shape->vector_bytes != 0;
  return touches_host(flow) && sm_is_contiguous(flow) && !shape_given && gpu->compute_major >= 9 &&
                 kernels_on_gpu > 1
             ? KERNEL_BULK
             : KERNEL_VECTOR;
}

/* What the bytes per access must divide; 0 = nothing. */
static uint64_t sm_unit_bytes(const struct flow *flow) {
  return flow_is_scattered(flow) ? flow->scatter.piece_bytes
                                 : flow->shape.width_bytes | flow->shape.pitch_bytes;
}

/* Bytes per access. Rows and pieces that the variant's own accesses do not divide are copied with
 * smaller ones. */
static uint32_t sm_access_bytes(const struct flow *flow) {
  uint32_t width = flow->kernel.vector_bytes;
  if (width == 0) {
    width = variants[flow->kernel.variant].vector_bytes;
    while (sm_unit_bytes(flow) % width != 0) {
      width /= 2;
    }
  }
  return width;
}

static const char *rows_unsupported_reason(const struct flow *flow, char reason[CASE_REASON_MAX]) {
  if (sm_is_contiguous(flow)) {
    return NULL;
  }
  if (flow->kernel.variant == KERNEL_BULK) {
    return "kernel variant bulk copies contiguous bytes only";
  }
  const char *unsupported = gpu_flow_shape_unsupported_reason(flow, reason);
  if (unsupported == NULL && sm_unit_bytes(flow) % sm_access_bytes(flow) != 0) {
    return CASE_REASON(reason, "vector_bytes = %u does not divide %s", sm_access_bytes(flow),
                       flow_is_scattered(flow) ? "the pieces"
                                               : "the width and the pitch of the rows");
  }
  return unsupported;
}

static const char *sm_shape_unsupported_reason(const struct flow *flow, const struct gpu *gpu,
                                               char reason[CASE_REASON_MAX]) {
  enum kernel kernel;
  if (flow->kernel.variant == KERNEL_BULK) {
    const char *unsupported = gpu_bulk_unsupported_reason(gpu, reason);
    if (unsupported != NULL) {
      return unsupported;
    }
    if (flow->kernel.vector_bytes != 0 || flow->kernel.block != 0) {
      return "kernel variant bulk has neither vector_bytes nor block: one thread per block drives "
             "the bulk copy engine";
    }
  } else if (!kernel_for_width(sm_access_bytes(flow), &kernel)) {
    return CASE_REASON(reason, "vector_bytes = %u: there is 1, 2, 4, 8 and 16",
                       sm_access_bytes(flow));
  }
  if (flow->kernel.block > 1024) {
    return CASE_REASON(reason, "block = %u: a block has at most 1024 threads", flow->kernel.block);
  }
  return NULL;
}

static const char *sm_memory_unsupported_reason(const struct endpoint *end, const struct gpu *gpu) {
  return end->memory == MEMORY_PAGEABLE && !gpu->host_page_tables
             ? "a kernel cannot reach pageable memory on this machine; use pinned or registered"
             : NULL;
}

static const char *sm_unsupported_reason(const struct flow *flow, const struct machine *machine,
                                         char reason[CASE_REASON_MAX]) {
  int32_t index = gpu_flow_gpu(flow);
  if (index < 0) {
    return "a kernel needs a GPU at one end; use method cpu between host memories";
  }
  if (flow->staged) {
    return "method sm has no staged copy: a kernel reaches a peer's memory directly or not at all";
  }
  const struct gpu *gpu = &machine->gpus[index];
  const char *unsupported = sm_shape_unsupported_reason(flow, gpu, reason);
  if (unsupported == NULL) {
    unsupported = rows_unsupported_reason(flow, reason);
  }
  if (unsupported == NULL) {
    unsupported = sm_memory_unsupported_reason(&flow->source, gpu);
  }
  if (unsupported == NULL) {
    unsupported = sm_memory_unsupported_reason(&flow->target, gpu);
  }
  return unsupported != NULL ? unsupported : gpu_flow_unsupported_reason(flow, machine, reason);
}

/* Blocks of a flow whose rate needs few of them (host memory) or that must leave room for the
 * kernels of other flows: the blocks of all flows of the case are resident at once. */
enum { HOST_BLOCKS_PER_SM = 2 };

static uint32_t resident_grid(const struct gpu *gpu, uint32_t fitting, uint32_t kernels_on_gpu,
                              uint32_t blocks_per_sm_max) {
  assert(kernels_on_gpu > 0);
  uint32_t blocks = fitting / kernels_on_gpu;
  blocks = blocks < blocks_per_sm_max ? blocks : blocks_per_sm_max;
  return gpu->sm_count * (blocks > 0 ? blocks : 1);
}

static uint32_t sm_covering_grid(uint64_t size_bytes, uint32_t bytes_per_block) {
  uint64_t grid = (size_bytes + bytes_per_block - 1) / bytes_per_block;
  if (grid == 0) {
    return 1;
  }
  return grid < GRID_MAX ? (uint32_t)grid : GRID_MAX;
}

/* The grid that the variant takes by itself. A covering grid is best for a kernel alone between GPU
 * memories, but it keeps every other kernel waiting until its last blocks have started. */
static enum status own_grid(struct cuda_session *session, const struct flow_run *run,
                            struct sm_launch *launch, struct error *err) {
  const struct flow *flow = run->flow;
  bool bulk = launch->kernel == KERNEL_COPY_BULK;
  bool host = touches_host(flow);
  uint32_t covering =
      sm_covering_grid(flow->size_bytes, bulk ? BULK_CHUNK : launch->block * sm_access_bytes(flow));
  launch->grid = covering;
  if (!host && run->kernels_on_gpu == 1) {
    return STATUS_OK;
  }
  uint32_t fitting = 0;
  RETURN_ON_ERROR(
      cuda_session_fitting_blocks(session, run->gpu, launch->kernel, launch->block, &fitting, err));
  uint32_t most = bulk ? BULK_BLOCKS_PER_SM : host ? HOST_BLOCKS_PER_SM : fitting;
  uint32_t resident =
      resident_grid(&session->machine->gpus[run->gpu], fitting, run->kernels_on_gpu, most);
  launch->grid = resident < covering ? resident : covering;
  return STATUS_OK;
}

static enum kernel sm_kernel_of(const struct flow *flow, enum kernel_variant chosen) {
  enum kernel kernel = KERNEL_COPY_BULK;
  if (flow_is_scattered(flow)) {
    kernel = KERNEL_COPY_PIECES;
  } else if (copy_shape_is_strided(&flow->shape)) {
    kernel = KERNEL_COPY_ROWS;
  } else if (chosen != KERNEL_BULK) {
    (void)kernel_for_width(sm_access_bytes(flow), &kernel); /* sm_unsupported_reason() knows it */
  }
  return kernel;
}

/* As engines that move many pieces keep it: where the kernel reads it fastest. */
static enum status sm_upload_pieces(struct cuda_session *session, const struct flow_run *run,
                                    struct error *err) {
  const struct cuda_driver *driver = &session->driver;
  const uint64_t size_bytes = run->flow->scatter.pieces * sizeof(struct piece);
  struct sm_launch *launch = run->state;
  CUstream stream = session->gpus[run->gpu].stream;
  RETURN_ON_ERROR(cuda_check(driver, driver->cuMemAlloc(&launch->pieces, size_bytes), err,
                             "allocating a list of pieces"));
  RETURN_ON_ERROR(cuda_check(
      driver, driver->cuMemcpyHtoDAsync(launch->pieces, run->pieces->host, size_bytes, stream), err,
      "copying a list of pieces"));
  return cuda_session_wait(session, stream, "copying a list of pieces", err);
}

static void sm_release(const struct memory_context *context, struct flow_run *run) {
  struct sm_launch *launch = run->state;
  if (launch->pieces != 0 && cuda_session_use(context->cuda, run->gpu, NULL) == STATUS_OK) {
    (void)context->cuda->driver.cuMemFree(launch->pieces);
  }
  free(launch);
  run->state = NULL;
}

static enum status sm_prepare(const struct memory_context *context, struct flow_run *run,
                              struct error *err) {
  RETURN_ON_ERROR(gpu_flow_prepare(context, run, err));
  struct sm_launch *launch = calloc(1, sizeof *launch);
  if (launch == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for a flow");
  }
  const struct flow *flow = run->flow;
  enum kernel_variant chosen =
      variant_of(flow, &context->machine->gpus[run->gpu], run->kernels_on_gpu);
  const struct variant *variant = &variants[chosen];
  launch->block = flow->kernel.block != 0 ? flow->kernel.block : variant->block;
  launch->grid = flow->kernel.grid != 0 ? flow->kernel.grid : variant->grid;
  launch->kernel = sm_kernel_of(flow, chosen);
  if (run->follower != NULL) {
    launch->kernel = KERNEL_COPY_PAIR;
    launch->block = variants[KERNEL_VECTOR].block;
    launch->grid = sm_covering_grid(2 * flow->size_bytes, launch->block * sm_access_bytes(flow));
  }
  run->state = launch;
  enum status status = launch->grid == 0 ? own_grid(context->cuda, run, launch, err) : STATUS_OK;
  if (status == STATUS_OK && flow_is_scattered(flow)) {
    status = sm_upload_pieces(context->cuda, run, err);
  }
  if (status != STATUS_OK) {
    sm_release(context, run);
  }
  return status;
}

static struct copy_arguments sm_copy_of(const struct flow_run *run) {
  return (struct copy_arguments){.target = buffer_gpu_address(run->target),
                                 .source = buffer_gpu_address(run->source),
                                 .size_bytes = run->flow->size_bytes};
}

static enum status sm_enqueue(const struct memory_context *context, struct flow_run *run,
                              uint32_t iterations, struct error *err) {
  const struct sm_launch *launch = run->state;
  struct copy_pair_arguments pair = {.copies = {sm_copy_of(run)}};
  struct copy_rows_arguments rows = {.target = buffer_gpu_address(run->target),
                                     .source = buffer_gpu_address(run->source),
                                     .width_bytes = run->flow->shape.width_bytes,
                                     .pitch_bytes = run->flow->shape.pitch_bytes,
                                     .rows = run->flow->shape.height * run->flow->shape.depth,
                                     .vector_bytes = sm_access_bytes(run->flow)};
  struct copy_pieces_arguments pieces = {.target = buffer_gpu_address(run->target),
                                         .source = buffer_gpu_address(run->source),
                                         .list = launch->pieces,
                                         .pieces = run->flow->scatter.pieces,
                                         .piece_bytes = run->flow->scatter.piece_bytes,
                                         .vector_bytes = sm_access_bytes(run->flow)};
  if (run->follower != NULL) {
    pair.copies[1] = sm_copy_of(run->follower);
  }
  void *arguments = flow_is_scattered(run->flow)               ? (void *)&pieces
                    : copy_shape_is_strided(&run->flow->shape) ? (void *)&rows
                    : run->follower != NULL                    ? (void *)&pair
                                                               : (void *)&pair.copies[0];
  enum status status = STATUS_OK;
  for (uint32_t i = 0; status == STATUS_OK && i < iterations; i++) {
    status = cuda_session_launch(context->cuda, run->gpu, launch->kernel, launch->grid,
                                 launch->block, run->stream, arguments, err);
  }
  return status;
}

/* A scattered copy is timed from the call on, like those by copy engines. */
static bool sm_blocks_host(const struct flow *flow) {
  return flow_is_scattered(flow);
}

const struct method_ops method_sm = {
    .method = METHOD_SM,
    .clock = CLOCK_EVENT,
    .unsupported_reason = sm_unsupported_reason,
    .gpu = gpu_flow_gpu,
    .prepare = sm_prepare,
    .release = sm_release,
    .enqueue = sm_enqueue,
    .blocks_host = sm_blocks_host,
};
