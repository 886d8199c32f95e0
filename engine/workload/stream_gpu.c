/* A stream by the SMs of a GPU: timed by events behind a gate, as a copy is. */
#include "engine/case/stream.h"
#include "engine/case/transfer.h"
#include "engine/gpu/session.h"
#include "engine/machine/machine.h"
#include "engine/trial/event_trial.h"
#include "engine/workload/stream.h"

#include <stdlib.h>
#include <string.h>

/* Filling and comparing. */
enum { DATA_BLOCK = 512, DATA_BLOCKS_PER_SM = 4 };

struct gpu_state {
  const struct memory_context *context;
  const struct stream *stream;
  struct stream_shape shape;
  struct stream_arguments arguments;
  struct step {
    struct stream_shape shape;
    struct stream_arguments arguments;
  } before[STREAM_SEQUENCE_COUNT - 1];
  size_t before_count;
  struct flow flow; /* what an event trial asks about its work */
  struct flow_run run;
  struct event_trial *trial;
  struct spans spans;
  CUdeviceptr compare_result;
  CUdeviceptr parts; /* of sums: 64 bits per block */
  uint64_t *parts_host;
};

static const struct cuda_driver *stream_gpu_driver(const struct gpu_state *state) {
  return &state->context->cuda->driver;
}

static CUstream own_stream(const struct gpu_state *state) {
  return state->context->cuda->gpus[state->run.gpu].stream;
}

static enum status wait_own(const struct gpu_state *state, struct error *err) {
  return cuda_session_wait(state->context->cuda, own_stream(state),
                           "waiting for the arrays of a stream", err);
}

static enum status stream_gpu_use(const struct gpu_state *state, struct error *err) {
  return cuda_session_use(state->context->cuda, state->run.gpu, err);
}

static enum status enqueue(const struct memory_context *context, struct flow_run *run,
                           uint32_t iterations, struct error *err) {
  struct gpu_state *state = run->state;
  enum status status = STATUS_OK;
  for (uint32_t i = 0; status == STATUS_OK && i < iterations; i++) {
    status = cuda_session_launch(context->cuda, run->gpu, state->shape.kernel, state->shape.grid,
                                 state->shape.block, run->stream, &state->arguments, err);
  }
  return status;
}

static enum status stream_gpu_enqueue_before(const struct memory_context *context,
                                             struct flow_run *run, struct error *err) {
  struct gpu_state *state = run->state;
  enum status status = STATUS_OK;
  for (size_t i = 0; status == STATUS_OK && i < state->before_count; i++) {
    struct step *step = &state->before[i];
    status = cuda_session_launch(context->cuda, run->gpu, step->shape.kernel, step->shape.grid,
                                 step->shape.block, run->stream, &step->arguments, err);
  }
  return status;
}

static void gpu_destroy(void *opaque) {
  struct gpu_state *state = opaque;
  if (state == NULL) {
    return;
  }
  event_trial_free(state->trial);
  if (stream_gpu_use(state, NULL) == STATUS_OK) {
    spans_fini(state->context->cuda, &state->spans);
    if (state->compare_result != 0) {
      (void)stream_gpu_driver(state)->cuMemFree(state->compare_result);
    }
    if (state->parts != 0) {
      (void)stream_gpu_driver(state)->cuMemFree(state->parts);
    }
  }
  free(state->parts_host);
  free(state);
}

static uint64_t address_of(const struct buffer *buffer) {
  return buffer != NULL ? buffer->device : 0;
}

static struct stream_arguments stream_gpu_arguments(const struct stream *stream,
                                                    const struct stream_arrays *arrays) {
  return (struct stream_arguments){
      .out = address_of(arrays->out),
      .a = address_of(arrays->a),
      .b = address_of(arrays->b),
      .size_bytes = stream->size_bytes,
      .passes = stream->passes > 0 ? stream->passes : 1,
      .parts = stream->parts,
  };
}

/* Small memory beside the arrays. */
static enum status stream_gpu_allocate(struct gpu_state *state, struct error *err) {
  const struct cuda_driver *driver = stream_gpu_driver(state);
  enum status status = stream_gpu_use(state, err);
  status = THEN(status, cuda_check(driver,
                                   driver->cuMemAlloc(&state->compare_result,
                                                      sizeof(struct pattern_compare_result)),
                                   err, "allocating the result of a comparison"));
  if (status == STATUS_OK && state->stream->clock == STREAM_CLOCK_CYCLES) {
    status = spans_init(state->context->cuda, &state->spans, err);
    state->arguments.spans = state->spans.device;
  }
  if (status == STATUS_OK && stream_op_sums(state->stream->op)) {
    const size_t bytes = state->shape.grid * sizeof *state->parts_host;
    status = cuda_check(driver, driver->cuMemAlloc(&state->parts, bytes), err,
                        "allocating %zu bytes for the sums of %u blocks", bytes, state->shape.grid);
    state->arguments.results = state->parts;
    state->parts_host = malloc(bytes);
    if (status == STATUS_OK && state->parts_host == NULL) {
      status = error_set(err, STATUS_NO_MEMORY, "no memory for the sums of %u blocks",
                         state->shape.grid);
    }
  }
  return status;
}

/* Several passes go over the arrays one after the other only if no block waits for another to end.
 */
static enum status stream_gpu_check_resident(const struct gpu_state *state, struct error *err) {
  const struct stream_shape *shape = &state->shape;
  uint32_t fitting = 0;
  if (state->stream->passes <= 1) {
    return STATUS_OK;
  }
  RETURN_ON_ERROR(stream_gpu_use(state, err));
  RETURN_ON_ERROR(cuda_session_fitting_blocks(state->context->cuda, state->run.gpu, shape->kernel,
                                              shape->block, &fitting, err));
  const uint32_t sms = state->context->machine->gpus[state->run.gpu].sm_count;
  return (uint64_t)fitting * sms >= shape->grid
             ? STATUS_OK
             : error_set(err, STATUS_UNSUPPORTED,
                         "%u blocks of %u threads are not on the GPU at once (%u on each of %u "
                         "SMs), so that passes would repeat over parts of the arrays",
                         shape->grid, shape->block, fitting, sms);
}

static enum status gpu_create(const struct memory_context *context, const struct stream *stream,
                              const struct stream_arrays *arrays, void **out, struct error *err) {
  struct gpu_state *state = calloc(1, sizeof *state);
  if (state == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for a stream");
  }
  state->context = context;
  state->stream = stream;
  state->flow = (struct flow){.role = FLOW_MEASURED, .method = METHOD_SM};
  state->run = (struct flow_run){
      .flow = &state->flow, .gpu = stream->memory.index, .state = state, .enqueue = enqueue};
  state->arguments = stream_gpu_arguments(stream, arrays);
  enum status status = STATUS_OK;
  if (!stream_shape_of(stream, &context->machine->gpus[stream->memory.index], &state->shape)) {
    status = error_set(err, STATUS_INVALID, "there is no kernel for that stream");
  }
  status = THEN(status, stream_gpu_check_resident(state, err));
  status = THEN(status, stream_gpu_allocate(state, err));
  status = THEN(status, event_trial_new(context, &state->run, 1, &(struct event_options){0},
                                        &state->trial, err));
  if (status != STATUS_OK) {
    gpu_destroy(state);
    return status;
  }
  *out = state;
  return STATUS_OK;
}

static enum status gpu_do_before(void *opaque, enum stream_op op,
                                 const struct stream_arrays *arrays, struct error *err) {
  struct gpu_state *state = opaque;
  struct stream stream = *state->stream;
  struct step *step = &state->before[state->before_count];
  stream.op = op;
  if (state->before_count == STREAM_SEQUENCE_COUNT - 1 ||
      !stream_shape_of(&stream, &state->context->machine->gpus[state->run.gpu], &step->shape)) {
    return error_set(err, STATUS_INVALID, "there is no kernel for that sequence");
  }
  step->arguments = stream_gpu_arguments(&stream, arrays);
  state->before_count++;
  state->run.enqueue_before = stream_gpu_enqueue_before;
  return STATUS_OK;
}

static enum status launch_data(struct gpu_state *state, enum kernel kernel,
                               struct stream_data_arguments *arguments, struct error *err) {
  const uint32_t sms = state->context->machine->gpus[state->run.gpu].sm_count;
  const uint64_t useful = (arguments->count + DATA_BLOCK - 1) / DATA_BLOCK;
  const uint64_t most = (uint64_t)(sms > 0 ? sms : 1) * DATA_BLOCKS_PER_SM;
  return cuda_session_launch(state->context->cuda, state->run.gpu, kernel,
                             (uint32_t)(useful < most ? useful : most), DATA_BLOCK,
                             own_stream(state), arguments, err);
}

static enum status gpu_fill(void *opaque, const struct buffer *array,
                            const struct stream_values *values, struct error *err) {
  struct gpu_state *state = opaque;
  struct stream_data_arguments arguments = {.address = array->device,
                                            .count =
                                                state->stream->size_bytes / values->element_bytes,
                                            .values = *values};
  enum status status = stream_gpu_use(state, err);
  status = THEN(status, launch_data(state, KERNEL_STREAM_FILL, &arguments, err));
  return THEN(status, wait_own(state, err));
}

static enum status gpu_compare(void *opaque, const struct buffer *array,
                               const struct stream_values *values,
                               struct pattern_compare_result *result, struct error *err) {
  struct gpu_state *state = opaque;
  struct stream_data_arguments arguments = {.address = array->device,
                                            .count =
                                                state->stream->size_bytes / values->element_bytes,
                                            .result = state->compare_result,
                                            .values = *values};
  struct cuda_session *session = state->context->cuda;
  enum status status = stream_gpu_use(state, err);
  status =
      THEN(status, data_gpu_compare_begin(session, state->compare_result, own_stream(state), err));
  status = THEN(status, launch_data(state, KERNEL_STREAM_COMPARE, &arguments, err));
  return THEN(status, data_gpu_compare_end(session, state->compare_result, own_stream(state),
                                           arguments.count, result, err));
}

static enum status gpu_run(void *opaque, struct loads *loads, uint32_t iterations,
                           struct trial_times *times, struct error *err) {
  struct gpu_state *state = opaque;
  const bool cycles = state->stream->clock == STREAM_CLOCK_CYCLES;
  struct spans_total total = {0};
  enum status status = stream_gpu_use(state, err);
  if (status == STATUS_OK && cycles) {
    status = spans_reset(state->context->cuda, &state->spans, own_stream(state), err);
  }
  status = THEN(status, loads != NULL ? loads_run(loads, iterations, times, err)
                                      : event_trial_run(state->trial, iterations, 0, times, err));
  if (status == STATUS_OK && cycles) {
    status = spans_read(state->context->cuda, &state->spans, own_stream(state), &total, err);
  }
  times->cycles = total.cycles;
  if (status == STATUS_OK && loads == NULL && stream_times_itself(state->stream)) {
    times->window_ns = total.elapsed_ns;
  }
  return status;
}

static const struct flow_run *gpu_own(void *opaque) {
  const struct gpu_state *state = opaque;
  return &state->run;
}

static enum status gpu_parts(void *opaque, struct stream_parts *parts, struct error *err) {
  struct gpu_state *state = opaque;
  const struct cuda_driver *driver = stream_gpu_driver(state);
  const struct stream_shape *shape = &state->shape;
  enum status status = stream_gpu_use(state, err);
  status = THEN(status, cuda_check(driver,
                                   driver->cuMemcpyDtoHAsync(
                                       state->parts_host, state->parts,
                                       shape->grid * sizeof *state->parts_host, own_stream(state)),
                                   err, "reading the sums of the blocks"));
  status = THEN(status, wait_own(state, err));
  const uint64_t element_bytes = state->stream->type == NUMBER_F64 ? 8 : 4;
  const double elements = (double)state->stream->size_bytes / (double)element_bytes;
  /* Of a thread: its tiles, the last one begun counted whole. Of a block: its lanes and warps. */
  const double of_thread = elements / ((double)shape->grid * shape->block) +
                           (double)shape->unroll * 16 / (double)element_bytes + 1;
  *parts = (struct stream_parts){.bits = state->parts_host,
                                 .count = shape->grid,
                                 .depth = state->arguments.passes * of_thread + 64};
  return status;
}

static enum status gpu_invalidate_parts(void *opaque, struct error *err) {
  struct gpu_state *state = opaque;
  const struct cuda_driver *driver = stream_gpu_driver(state);
  enum status status = stream_gpu_use(state, err);
  status =
      THEN(status, cuda_check(driver,
                              driver->cuMemsetD8Async(state->parts, 0xff,
                                                      state->shape.grid * sizeof *state->parts_host,
                                                      own_stream(state)),
                              err, "invalidating the sums of the blocks"));
  memset(state->parts_host, 0xff, state->shape.grid * sizeof *state->parts_host);
  return THEN(status, wait_own(state, err));
}

/* Cycles are counted from the first block of a launch to its last; what comes before comes once. */
static uint32_t gpu_iterations_max(const void *opaque) {
  const struct gpu_state *state = opaque;
  return state->stream->clock == STREAM_CLOCK_CYCLES || state->before_count > 0
             ? 1
             : EVENT_ITERATIONS_MAX;
}

const struct stream_place stream_gpu = {
    .create = gpu_create,
    .destroy = gpu_destroy,
    .fill = gpu_fill,
    .compare = gpu_compare,
    .run = gpu_run,
    .do_before = gpu_do_before,
    .own = gpu_own,
    .parts = gpu_parts,
    .invalidate_parts = gpu_invalidate_parts,
    .iterations_max = gpu_iterations_max,
};
