/* A stream by host threads. Each has its own whole pages of every array; they do not wait for each
 * other between iterations. */
#include "engine/case/transfer.h"
#include "engine/host/stream.h"
#include "engine/host/thread_team.h"
#include "engine/workload/stream.h"

#include <stdlib.h>

enum { SHARE_UNIT_BYTES = 4096, HOST_STREAM_ITERATIONS_MAX = 1 << 20 };

/* Fills a cache line: threads write their sums while others work. */
struct part {
  _Alignas(64) uint64_t bits;
};

struct host_state {
  const struct stream *stream;
  struct cpu_reservation reservation; /* of its team alone */
  struct thread_team *team;
  host_stream_loop loop;
  struct host_stream_arrays arrays;
  uint32_t passes;
  struct part *parts; /* one per thread */
  uint64_t *bits;     /* the same, without gaps */
  struct flow_times times;
  struct flow flow; /* beside loads */
  struct flow_run run;
};

/* Filling or comparing. */
struct value_job {
  const struct host_state *state;
  unsigned char *bytes;
  struct stream_values values;
  atomic_ullong bad;
  atomic_ullong first;
};

static uint64_t stream_host_share_begin(uint64_t size_bytes, uint32_t thread, uint32_t count) {
  const uint64_t units = (size_bytes + SHARE_UNIT_BYTES - 1) / SHARE_UNIT_BYTES;
  const uint64_t begin =
      (units / count * thread + units % count * thread / count) * SHARE_UNIT_BYTES;
  return begin < size_bytes ? begin : size_bytes;
}

static void stream_work(void *context, uint32_t thread, uint32_t count, uint32_t iterations) {
  struct host_state *state = context;
  const uint64_t begin = stream_host_share_begin(state->stream->size_bytes, thread, count);
  const uint64_t end = stream_host_share_begin(state->stream->size_bytes, thread + 1, count);
  for (uint32_t i = 0; i < iterations; i++) {
    double sum = 0;
    uint64_t bits = 0;
    for (uint32_t pass = 0; pass < state->passes; pass++) {
      bits += state->loop(&state->arrays, begin, end);
      if (state->stream->op == STREAM_DOT) {
        double part;
        memcpy(&part, &bits, sizeof part);
        sum += part;
        bits = 0;
      }
    }
    if (state->stream->op == STREAM_DOT) {
      memcpy(&bits, &sum, sizeof bits);
    }
    state->parts[thread].bits = bits;
  }
}

static void element_range(const struct value_job *job, uint32_t thread, uint32_t count,
                          uint64_t *from, uint64_t *to) {
  const uint64_t size_bytes = job->state->stream->size_bytes;
  *from = stream_host_share_begin(size_bytes, thread, count) / job->values.element_bytes;
  *to = stream_host_share_begin(size_bytes, thread + 1, count) / job->values.element_bytes;
}

static void stream_host_fill_work(void *context, uint32_t thread, uint32_t count,
                                  uint32_t iterations) {
  struct value_job *job = context;
  const uint32_t element_bytes = job->values.element_bytes;
  uint64_t from;
  uint64_t to;
  (void)iterations;
  element_range(job, thread, count, &from, &to);
  for (uint64_t i = from; i < to; i++) {
    const uint64_t bits = stream_bits(&job->values, i); /* little-endian, as the pattern */
    memcpy(job->bytes + i * element_bytes, &bits, element_bytes);
  }
}

static void stream_host_compare_work(void *context, uint32_t thread, uint32_t count,
                                     uint32_t iterations) {
  struct value_job *job = context;
  const uint32_t element_bytes = job->values.element_bytes;
  uint64_t from;
  uint64_t to;
  (void)iterations;
  element_range(job, thread, count, &from, &to);
  for (uint64_t i = from; i < to; i++) {
    uint64_t found = 0;
    memcpy(&found, job->bytes + i * element_bytes, element_bytes);
    if (found != stream_bits(&job->values, i)) {
      unsigned long long lowest = atomic_load(&job->first);
      while (i < lowest && !atomic_compare_exchange_weak(&job->first, &lowest, i)) {
      }
      (void)atomic_fetch_add(&job->bad, 1);
    }
  }
}

static void host_destroy(void *opaque) {
  struct host_state *state = opaque;
  if (state != NULL) {
    thread_team_free(state->team);
    free(state->parts);
    free(state->bits);
    free(state);
  }
}

static enum status host_create(const struct memory_context *context, const struct stream *stream,
                               const struct stream_arrays *arrays, void **out, struct error *err) {
  struct host_state *state = calloc(1, sizeof *state);
  if (state == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for a stream");
  }
  enum status status = thread_team_new(context->machine, stream->memory.index, stream->threads,
                                       &state->reservation, &state->team, err);
  if (status != STATUS_OK) {
    host_destroy(state);
    return status;
  }
  const uint32_t count = thread_team_size(state->team);
  state->stream = stream;
  state->passes = stream->passes > 0 ? stream->passes : 1;
  state->arrays = (struct host_stream_arrays){
      .out = arrays->out != NULL ? arrays->out->host : NULL,
      .a = arrays->a != NULL ? arrays->a->host : NULL,
      .b = arrays->b != NULL ? arrays->b->host : NULL,
  };
  state->loop = host_stream_choose(stream->op, stream->type,
                                   stream_op_arrays(stream->op) * stream->size_bytes,
                                   thread_team_cache_bytes(state->team));
  state->parts = aligned_alloc(64, count * sizeof *state->parts);
  state->bits = calloc(count, sizeof *state->bits);
  if (state->parts == NULL || state->bits == NULL) {
    host_destroy(state);
    return error_set(err, STATUS_NO_MEMORY, "no memory for a stream");
  }
  memset(state->parts, 0, count * sizeof *state->parts);
  *out = state;
  return STATUS_OK;
}

static void run_job(struct value_job *job, thread_team_work work) {
  thread_team_start(job->state->team, work, job, 1, NULL);
  thread_team_wait(job->state->team, NULL, NULL);
}

static enum status host_fill(void *opaque, const struct buffer *array,
                             const struct stream_values *values, struct error *err) {
  struct value_job job = {.state = opaque, .bytes = array->host, .values = *values};
  (void)err;
  run_job(&job, stream_host_fill_work);
  return STATUS_OK;
}

static enum status host_compare(void *opaque, const struct buffer *array,
                                const struct stream_values *values,
                                struct pattern_compare_result *result, struct error *err) {
  struct value_job job = {
      .state = opaque, .bytes = array->host, .values = *values, .first = UINT64_MAX};
  (void)err;
  run_job(&job, stream_host_compare_work);
  *result = (struct pattern_compare_result){.first_offset = job.first, .bad_bytes = job.bad};
  return STATUS_OK;
}

static uint32_t host_thread_count(const struct flow_run *run) {
  const struct host_state *state = run->state;
  return thread_team_size(state->team);
}

static enum status host_execute(struct flow_run *run, uint32_t iterations, struct host_start *start,
                                struct error *err) {
  struct host_state *state = run->state;
  (void)err;
  thread_team_start(state->team, stream_work, state, iterations, start);
  return STATUS_OK;
}

static void host_wait(struct flow_run *run, uint64_t *start_ns, uint64_t *end_ns) {
  const struct host_state *state = run->state;
  thread_team_wait(state->team, start_ns, end_ns);
}

static const struct method_ops stream_host_ops = {
    .thread_count = host_thread_count, .execute = host_execute, .wait = host_wait};

static const struct flow_run *host_own(void *opaque) {
  struct host_state *state = opaque;
  state->flow = (struct flow){.role = FLOW_MEASURED, .method = METHOD_CPU};
  state->run = (struct flow_run){.flow = &state->flow,
                                 .gpu = -1,
                                 .state = state,
                                 .reservation = &state->reservation,
                                 .host_ops = &stream_host_ops};
  return &state->run;
}

static enum status host_run(void *opaque, struct loads *loads, uint32_t iterations,
                            struct trial_times *times, struct error *err) {
  struct host_state *state = opaque;
  if (loads != NULL) {
    return loads_run(loads, iterations, times, err);
  }
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  (void)err;
  thread_team_start(state->team, stream_work, state, iterations, NULL);
  thread_team_wait(state->team, &start_ns, &end_ns);
  state->times = (struct flow_times){.elapsed_ns = end_ns - start_ns};
  times->window_ns = end_ns - start_ns;
  times->gate_timed_out = false;
  times->flows = &state->times;
  return STATUS_OK;
}

static enum status host_parts(void *opaque, struct stream_parts *parts, struct error *err) {
  struct host_state *state = opaque;
  const uint32_t count = thread_team_size(state->team);
  const uint64_t element_bytes = state->stream->type == NUMBER_F64 ? 8 : 4;
  (void)err;
  for (uint32_t i = 0; i < count; i++) {
    state->bits[i] = state->parts[i].bits;
  }
  const double share_bytes =
      (double)state->stream->size_bytes / (double)count + 2 * SHARE_UNIT_BYTES;
  *parts = (struct stream_parts){.bits = state->bits,
                                 .count = count,
                                 /* A product and a sum are rounded each. */
                                 .depth = 2 * (double)state->passes * share_bytes /
                                          (double)element_bytes};
  return STATUS_OK;
}

static enum status host_invalidate_parts(void *opaque, struct error *err) {
  struct host_state *state = opaque;
  (void)err;
  memset(state->parts, 0xff, thread_team_size(state->team) * sizeof *state->parts);
  return STATUS_OK;
}

static uint32_t host_iterations_max(const void *state) {
  (void)state;
  return HOST_STREAM_ITERATIONS_MAX;
}

static const struct cpu_set_bits *host_cpus(const void *opaque) {
  const struct host_state *state = opaque;
  return &state->reservation.taken;
}

const struct stream_place stream_host = {
    .create = host_create,
    .destroy = host_destroy,
    .fill = host_fill,
    .compare = host_compare,
    .run = host_run,
    .own = host_own,
    .parts = host_parts,
    .invalidate_parts = host_invalidate_parts,
    .iterations_max = host_iterations_max,
    .cpus = host_cpus,
};
