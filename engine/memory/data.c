#include "engine/memory/data.h"

#include "engine/case/transfer.h"
#include "engine/gpu/session.h"
#include "engine/host/thread_team.h"
#include "engine/machine/machine.h"
#include "engine/memory/peer.h"
#include "kernels/pattern_values.h"

#include <stdlib.h>
#include <string.h>

struct data {
  const struct memory_context *context;
  struct thread_team
      *teams[MACHINE_NODES_MAX]; /* by index of the node in the machine; made at first use */
  bool fills[MACHINE_GPUS_MAX];  /* the GPU was asked to, and nobody waited yet */
  const struct buffer *compared[MACHINE_GPUS_MAX]; /* by the GPU now; NULL = it does not */
};

struct data *data_new(const struct memory_context *context) {
  struct data *data = calloc(1, sizeof *data);
  if (data != NULL) {
    data->context = context;
  }
  return data;
}

void data_free(struct data *data) {
  if (data == NULL) {
    return;
  }
  for (int i = 0; i < MACHINE_NODES_MAX; i++) {
    thread_team_free(data->teams[i]);
  }
  free(data);
}

/* Bytes per step of a host thread: fits the first cache, a multiple of the pattern's word. */
enum { HOST_CHUNK = 16384 };

struct host_job {
  unsigned char *bytes;
  const struct copy_shape *shape; /* of rows */
  const struct data_pieces *pieces;
  bool at_target; /* those pieces */
  uint64_t size_bytes;
  uint64_t seed;
  uint64_t flip;
  atomic_ullong bad_bytes;
  atomic_ullong first_offset;
};

/* A thread's share: whole chunks, the last thread takes the rest. */
static void data_share(const struct host_job *job, uint32_t thread, uint32_t thread_count,
                       uint64_t *from, uint64_t *to) {
  uint64_t chunks = job->size_bytes / HOST_CHUNK;
  *from = chunks * thread / thread_count * HOST_CHUNK;
  *to = thread + 1 == thread_count ? job->size_bytes
                                   : chunks * (thread + 1) / thread_count * HOST_CHUNK;
}

static void fill_range(const struct host_job *job, uint64_t from, uint64_t to) {
  uint64_t offset = from;
  for (; offset + 8 <= to; offset += 8) {
    uint64_t word = pattern_word(job->seed, offset / 8) ^ job->flip;
    memcpy(job->bytes + offset, &word, sizeof word);
  }
  for (; offset < to; offset++) {
    job->bytes[offset] = (unsigned char)(pattern_byte(job->seed, offset) ^ job->flip);
  }
}

static void data_fill_work(void *context, uint32_t thread, uint32_t thread_count,
                           uint32_t iterations) {
  struct host_job *job = context;
  uint64_t from;
  uint64_t to;
  (void)iterations;
  data_share(job, thread, thread_count, &from, &to);
  fill_range(job, from, to);
}

static void fill_rows_work(void *context, uint32_t thread, uint32_t thread_count,
                           uint32_t iterations) {
  struct host_job *job = context;
  const uint64_t rows = job->shape->height * job->shape->depth;
  (void)iterations;
  for (uint64_t row = thread; row < rows; row += thread_count) {
    const uint64_t start = row * job->shape->pitch_bytes;
    for (uint64_t offset = start; offset < start + job->shape->width_bytes; offset++) {
      job->bytes[offset] = (unsigned char)(pattern_byte(job->seed, offset) ^ job->flip);
    }
  }
}

static void fill_pieces_work(void *context, uint32_t thread, uint32_t thread_count,
                             uint32_t iterations) {
  struct host_job *job = context;
  (void)iterations;
  for (uint64_t i = thread; i < job->pieces->count; i += thread_count) {
    const struct piece *piece = &job->pieces->list[i];
    unsigned char *bytes = job->bytes + (job->at_target ? piece->target : piece->source);
    for (uint64_t k = 0; k < job->pieces->piece_bytes; k++) {
      bytes[k] = (unsigned char)(pattern_byte(job->seed, piece->target + k) ^ job->flip);
    }
  }
}

/* True when some word of the chunk differs; no early exit, so that it is compiled to vectors. */
static bool chunk_differs(const struct host_job *job, uint64_t offset, uint64_t words) {
  uint64_t difference = 0;
  for (uint64_t i = 0; i < words; i++) {
    uint64_t word;
    memcpy(&word, job->bytes + offset + 8 * i, sizeof word);
    difference |= word ^ pattern_word(job->seed, offset / 8 + i);
  }
  return difference != 0;
}

static void count_differences(struct host_job *job, uint64_t from, uint64_t to) {
  for (uint64_t offset = from; offset < to; offset++) {
    if (job->bytes[offset] != pattern_byte(job->seed, offset)) {
      unsigned long long lowest = atomic_load(&job->first_offset);
      while (offset < lowest &&
             !atomic_compare_exchange_weak(&job->first_offset, &lowest, offset)) {
      }
      (void)atomic_fetch_add(&job->bad_bytes, 1);
    }
  }
}

static void data_compare_work(void *context, uint32_t thread, uint32_t thread_count,
                              uint32_t iterations) {
  struct host_job *job = context;
  uint64_t from;
  uint64_t to;
  (void)iterations;
  data_share(job, thread, thread_count, &from, &to);
  for (uint64_t offset = from; offset < to; offset += HOST_CHUNK) {
    uint64_t length = to - offset < HOST_CHUNK ? to - offset : HOST_CHUNK;
    if (length % 8 != 0 || chunk_differs(job, offset, length / 8)) {
      count_differences(job, offset, offset + length);
    }
  }
}

static enum status data_run_on_host(struct data *data, const struct buffer *buffer,
                                    thread_team_work work, struct host_job *job,
                                    struct error *err) {
  const struct machine *machine = data->context->machine;
  const int32_t number = machine_processor_node(machine, buffer->endpoint.index);
  const int node = machine_node_index(machine, number);
  if (node < 0) {
    return error_set(err, STATUS_NOT_FOUND, "there is no NUMA node %d", buffer->endpoint.index);
  }
  if (data->teams[node] == NULL) {
    enum status status = thread_team_new(machine, number, 0, NULL, &data->teams[node], err);
    RETURN_ON_ERROR(status);
  }
  thread_team_start(data->teams[node], work, job, 1, NULL);
  thread_team_wait(data->teams[node], NULL, NULL);
  return STATUS_OK;
}

/* The GPU that works on the buffer, or -1: host threads do. */
static int32_t worker_gpu(const struct buffer *buffer, int32_t gpu) {
  if (buffer->endpoint.place == PLACE_GPU) {
    return buffer->endpoint.index;
  }
  return buffer->device != 0 ? gpu : -1;
}

/* Another process fills and compares what it has lent. */
static bool data_is_lent(const struct data *data, const struct buffer *buffer) {
  return buffer->endpoint.process != data->context->process;
}

enum status data_fill(struct data *data, const struct buffer *buffer, uint64_t size_bytes,
                      uint64_t seed, bool complement, int32_t gpu, struct error *err) {
  if (data_is_lent(data, buffer)) {
    const struct peer_data part = {.size_bytes = size_bytes, .seed = seed, .gpu = gpu};
    return peer_fill(data->context, buffer, &part, complement, err);
  }
  int32_t worker = worker_gpu(buffer, gpu);
  if (worker >= 0) {
    data->fills[worker] = true;
    return data_gpu_fill(data->context->cuda, worker, buffer->device, size_bytes, seed, complement,
                         err);
  }
  struct host_job job = {.bytes = buffer->host,
                         .size_bytes = size_bytes,
                         .seed = seed,
                         .flip = complement ? UINT64_MAX : 0};
  return data_run_on_host(data, buffer, data_fill_work, &job, err);
}

enum status data_fill_wait(struct data *data, enum status status, struct error *err) {
  for (int32_t gpu = 0; gpu < MACHINE_GPUS_MAX; gpu++) {
    if (data->fills[gpu]) {
      data->fills[gpu] = false;
      const enum status one =
          data_gpu_fill_wait(data->context->cuda, gpu, status == STATUS_OK ? err : NULL);
      status = status == STATUS_OK ? one : status;
    }
  }
  return status;
}

enum status data_fill_rows(struct data *data, const struct buffer *buffer,
                           const struct copy_shape *shape, uint64_t seed, bool complement,
                           int32_t gpu, struct error *err) {
  if (data_is_lent(data, buffer)) {
    const struct peer_data part = {.shape = *shape, .seed = seed, .gpu = gpu};
    return peer_fill(data->context, buffer, &part, complement, err);
  }
  int32_t worker = worker_gpu(buffer, gpu);
  if (worker >= 0) {
    struct pattern_rows_arguments rows = {.address = buffer->device,
                                          .width_bytes = shape->width_bytes,
                                          .pitch_bytes = shape->pitch_bytes,
                                          .rows = shape->height * shape->depth,
                                          .seed = seed,
                                          .complement = complement};
    return data_gpu_fill_rows(data->context->cuda, worker, &rows, err);
  }
  struct host_job job = {
      .bytes = buffer->host, .shape = shape, .seed = seed, .flip = complement ? UINT64_MAX : 0};
  return data_run_on_host(data, buffer, fill_rows_work, &job, err);
}

enum status data_fill_pieces(struct data *data, const struct buffer *buffer,
                             const struct data_pieces *pieces, bool at_target, uint64_t seed,
                             bool complement, int32_t gpu, struct error *err) {
  int32_t worker = worker_gpu(buffer, gpu);
  if (worker >= 0) {
    struct pattern_pieces_arguments arguments = {.address = buffer->device,
                                                 .list = pieces->device,
                                                 .pieces = pieces->count,
                                                 .piece_bytes = pieces->piece_bytes,
                                                 .seed = seed,
                                                 .at_target = at_target,
                                                 .complement = complement};
    return data_gpu_fill_pieces(data->context->cuda, worker, &arguments, err);
  }
  struct host_job job = {.bytes = buffer->host,
                         .pieces = pieces,
                         .at_target = at_target,
                         .seed = seed,
                         .flip = complement ? UINT64_MAX : 0};
  return data_run_on_host(data, buffer, fill_pieces_work, &job, err);
}

static enum status read_byte(struct data *data, const struct buffer *buffer, int32_t worker,
                             uint64_t offset, unsigned char *byte, struct error *err) {
  if (buffer->host != NULL) {
    *byte = buffer->host[offset];
    return STATUS_OK;
  }
  return data_gpu_read(data->context->cuda, worker, buffer->device + offset, byte, 1, err);
}

enum status data_compare_ahead(struct data *data, const struct buffer *buffer, uint64_t size_bytes,
                               uint64_t seed, int32_t gpu, struct error *err) {
  const int32_t worker = worker_gpu(buffer, gpu);
  if (data_is_lent(data, buffer) || worker < 0 || data->compared[worker] != NULL) {
    return STATUS_OK;
  }
  data->compared[worker] = buffer;
  return data_gpu_compare_start(data->context->cuda, worker, buffer->device, size_bytes, seed, err);
}

void data_compare_drop(struct data *data) {
  struct pattern_compare_result unused;
  for (int32_t gpu = 0; gpu < MACHINE_GPUS_MAX; gpu++) {
    if (data->compared[gpu] != NULL) {
      data->compared[gpu] = NULL;
      (void)!data_gpu_compare_finish(data->context->cuda, gpu, UINT64_MAX, &unused, NULL);
    }
  }
}

static enum status data_compare_on_gpu(struct data *data, const struct buffer *buffer,
                                       uint64_t size_bytes, uint64_t seed, int32_t gpu,
                                       struct pattern_compare_result *result, struct error *err) {
  const bool begun = data->compared[gpu] == buffer;
  enum status status = begun ? STATUS_OK
                             : data_gpu_compare_start(data->context->cuda, gpu, buffer->device,
                                                      size_bytes, seed, err);
  data->compared[gpu] = NULL;
  return THEN(status, data_gpu_compare_finish(data->context->cuda, gpu, size_bytes, result, err));
}

enum status data_compare(struct data *data, const struct buffer *buffer, uint64_t size_bytes,
                         uint64_t seed, int32_t gpu, struct data_difference *difference,
                         struct error *err) {
  if (data_is_lent(data, buffer)) {
    const struct peer_data part = {.size_bytes = size_bytes, .seed = seed, .gpu = gpu};
    return peer_compare(data->context, buffer, &part, difference, err);
  }
  struct pattern_compare_result result;
  int32_t worker = worker_gpu(buffer, gpu);
  enum status status;
  if (worker >= 0) {
    status = data_compare_on_gpu(data, buffer, size_bytes, seed, worker, &result, err);
  } else {
    struct host_job job = {
        .bytes = buffer->host, .size_bytes = size_bytes, .seed = seed, .first_offset = UINT64_MAX};
    status = data_run_on_host(data, buffer, data_compare_work, &job, err);
    result.bad_bytes = job.bad_bytes;
    result.first_offset = job.first_offset;
  }
  RETURN_ON_ERROR(status);
  *difference = (struct data_difference){.bad_bytes = result.bad_bytes};
  if (result.bad_bytes != 0) {
    difference->first_offset = result.first_offset;
    difference->expected = pattern_byte(seed, result.first_offset);
    status = read_byte(data, buffer, worker, result.first_offset, &difference->found, err);
  }
  return status;
}

enum status data_flush_gpu_cache(struct data *data, int32_t gpu, struct error *err) {
  return data_gpu_flush_cache(data->context->cuda, gpu, err);
}
