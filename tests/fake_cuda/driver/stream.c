#include "tests/fake_cuda/driver/simulator.h"

#include "engine/base/clock.h"
#include "tests/fake_cuda/driver/contents.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct simulator simulator = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *allocate(size_t size_bytes) {
  void *memory = calloc(1, size_bytes);
  if (memory == NULL) {
    abort();
  }
  return memory;
}

struct fence *fence_new(void) {
  struct fence *fence = allocate(sizeof *fence);
  fence->references = 1;
  return fence;
}

void fence_hold(struct fence *fence) {
  fence->references++;
}

void fence_drop(struct fence *fence) {
  if (fence != NULL && --fence->references == 0) {
    free(fence);
  }
}

void streams_start(const struct fake_config *config) {
  simulator.config = config;
  simulator.start_ns = clock_now_ns();
  links_init(&simulator.links, config);
  pthread_condattr_t monotonic;
  (void)pthread_condattr_init(&monotonic);
  (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  (void)pthread_cond_init(&simulator.work, &monotonic);
  (void)pthread_cond_init(&simulator.done, &monotonic);
  (void)pthread_condattr_destroy(&monotonic);
  pthread_t thread;
  if (pthread_create(&thread, NULL, simulator_run, NULL) != 0) {
    abort();
  }
  (void)pthread_detach(thread);
}

const struct links *streams_links(void) {
  return &simulator.links;
}
void streams_lock(void) {
  (void)pthread_mutex_lock(&simulator.lock);
}
void streams_unlock(void) {
  (void)pthread_mutex_unlock(&simulator.lock);
}

struct stream *stream_new(struct context *context, unsigned flags) {
  struct stream *stream = allocate(sizeof *stream);
  *stream = (struct stream){.magic = STREAM_MAGIC, .context = context, .flags = flags};
  stream->last = &stream->first;
  struct stream **last = &simulator.streams; /* in order of creation, so that runs repeat */
  while (*last != NULL) {
    last = &(*last)->next;
  }
  *last = stream;
  return stream;
}

void stream_destroy(struct stream *stream) {
  stream->destroyed = true;
  graph_free(stream->capture);
  stream->capture = NULL;
  (void)pthread_cond_signal(&simulator.work); /* it removes empty streams */
}

bool stream_idle(const struct stream *stream) {
  return stream->first == NULL;
}

static void release_operation(struct operation *operation) {
  if (operation->kind == OPERATION_RECORD || operation->kind == OPERATION_WAIT) {
    fence_drop(operation->fence);
  } else if (operation->kind == OPERATION_COPY) {
    free(operation->copy.parts);
  }
  free(operation);
}

void stream_pop(struct stream *stream) {
  struct operation *operation = stream->first;
  stream->first = operation->next;
  if (stream->first == NULL) {
    stream->last = &stream->first;
    stream->tail = NULL;
  }
  release_operation(operation);
}

void streams_destroy_all(struct context *context) {
  for (struct stream *stream = simulator.streams; stream != NULL; stream = stream->next) {
    if (stream->context == context) {
      stream_destroy(stream);
    }
  }
}

void graph_free(struct graph *graph) {
  while (graph != NULL && graph->first != NULL) {
    struct operation *next = graph->first->next;
    release_operation(graph->first);
    graph->first = next;
  }
  free(graph);
}

static bool same_copy(const struct operation *before, const struct operation *operation) {
  return before != NULL && before->kind == OPERATION_COPY && operation->kind == OPERATION_COPY &&
         before->fault == NULL && operation->fault == NULL &&
         memcmp(&before->copy, &operation->copy, sizeof before->copy) == 0;
}

static void append(struct stream *stream, const struct operation *operation) {
  struct operation *copy = allocate(sizeof *copy);
  *copy = *operation;
  copy->next = NULL;
  copy->state = OPERATION_QUEUED;
  copy->sequence = ++simulator.sequence;
  if (copy->kind == OPERATION_RECORD || copy->kind == OPERATION_WAIT) {
    fence_hold(copy->fence);
  }
  struct operation **last = stream->capture != NULL ? stream->capture->last : stream->last;
  *last = copy;
  if (stream->capture != NULL) {
    stream->capture->last = &copy->next;
    return;
  }
  copy->repeats = same_copy(stream->tail, copy);
  stream->last = &copy->next;
  stream->tail = copy;
  simulator.activity++;
  simulator.unattended = false;
  if (simulator.asleep || simulator.config->real_clock) {
    (void)pthread_cond_signal(&simulator.work);
  }
}

/* Everything queued in `before` so far comes before what is queued in `after` from now on. */
static void order(struct stream *before, struct stream *after) {
  if (before == after || stream_idle(before) || before->context->error != 0) {
    return;
  }
  struct fence *fence = fence_new();
  append(before, &(struct operation){.kind = OPERATION_RECORD, .fence = fence});
  append(after, &(struct operation){.kind = OPERATION_WAIT, .fence = fence});
  fence_drop(fence);
}

/* The legacy stream waits for all blocking streams of its context, and they for it. */
static void order_legacy(struct stream *stream) {
  struct stream *legacy = stream->context->default_stream;
  if (stream != legacy) {
    if ((stream->flags & CU_STREAM_NON_BLOCKING) == 0) {
      order(legacy, stream);
    }
    return;
  }
  for (struct stream *other = simulator.streams; other != NULL; other = other->next) {
    if (other->context == stream->context && (other->flags & CU_STREAM_NON_BLOCKING) == 0 &&
        other->capture == NULL) {
      order(other, stream);
    }
  }
}

void stream_enqueue(struct stream *stream, const struct operation *operation) {
  if (stream->capture == NULL) {
    order_legacy(stream);
  }
  append(stream, operation);
}

void stream_record(struct stream *stream, struct fence *fence) {
  stream_enqueue(stream, &(struct operation){.kind = OPERATION_RECORD, .fence = fence});
}

void stream_wait_fence(struct stream *stream, struct fence *fence) {
  stream_enqueue(stream, &(struct operation){.kind = OPERATION_WAIT, .fence = fence});
}

static bool touches(const struct stream *stream, const struct allocation *allocation) {
  for (const struct operation *operation = stream->first; operation != NULL;
       operation = operation->next) {
    if (operation->touches[0] == allocation || operation->touches[1] == allocation) {
      return true;
    }
  }
  return false;
}

static bool context_idle(const struct waiter *waiter) {
  for (const struct stream *stream = simulator.streams; stream != NULL; stream = stream->next) {
    if ((stream->context == waiter->context && !stream_idle(stream)) ||
        (waiter->allocation != NULL && touches(stream, waiter->allocation))) {
      return false;
    }
  }
  return true;
}

bool waiter_met(const struct waiter *waiter) {
  switch (waiter->kind) {
  case WAITER_FENCE:
    return waiter->fence->done || waiter->context->error != 0;
  case WAITER_CONTEXT:
    return context_idle(waiter);
  case WAITER_STEP:
    return simulator.steps > waiter->step;
  }
  return true;
}

static void wait_for(struct waiter *waiter) {
  if (waiter_met(waiter)) {
    return;
  }
  waiter->next = simulator.waiters;
  simulator.waiters = waiter;
  (void)pthread_cond_signal(&simulator.work);
  while (!waiter->done) {
    (void)pthread_cond_wait(&simulator.done, &simulator.lock);
  }
}

void streams_wait_fence(struct context *context, struct fence *fence) {
  wait_for(&(struct waiter){.kind = WAITER_FENCE, .context = context, .fence = fence});
}

void streams_wait_stream(struct stream *stream) {
  if (stream_idle(stream)) {
    return;
  }
  struct fence *fence = fence_new();
  stream_record(stream, fence);
  streams_wait_fence(stream->context, fence);
  fence_drop(fence);
}

void streams_wait_context(struct context *context) {
  streams_wait_allocation(context, NULL);
}

void streams_wait_allocation(struct context *context, const struct allocation *allocation) {
  wait_for(&(struct waiter){.kind = WAITER_CONTEXT, .context = context, .allocation = allocation});
}

void streams_step(void) {
  if (!simulator.config->real_clock) {
    wait_for(&(struct waiter){.kind = WAITER_STEP, .step = simulator.steps});
  }
}

void context_poison(struct context *context, CUresult code) {
  int none = 0;
  (void)atomic_compare_exchange_strong(&context->error, &none, (int)code);
}

/* ---- what operations do to memory, and how long kernels take ---- */

static size_t region_extent(const struct copy_region *copy, size_t pitch, size_t plane) {
  return (copy->depth - 1) * plane + (copy->height - 1) * pitch + copy->width;
}

static void copy_rows(const struct copy_region *copy) {
  for (size_t i = 0; i < copy->part_count; i++) {
    contents_copy(copy->parts[i].to, copy->parts[i].from, copy->parts[i].size_bytes);
  }
  if (copy->height == 1 && copy->depth == 1) {
    contents_copy(copy->to, copy->from, copy->width);
    return;
  }
  if (copy->part_count == 0) {
    contents_need(copy->from, region_extent(copy, copy->from_pitch, copy->from_plane));
    contents_need(copy->to, region_extent(copy, copy->to_pitch, copy->to_plane));
  }
  for (size_t plane = 0; plane < copy->depth; plane++) {
    for (size_t row = 0; row < copy->height; row++) {
      copy_bytes(copy->to + plane * copy->to_plane + row * copy->to_pitch,
                 copy->from + plane * copy->from_plane + row * copy->from_pitch, copy->width);
    }
  }
}

static void invert_byte(unsigned char *byte) {
  contents_need(byte, 1);
  *byte = (unsigned char)~*byte;
}

/* offset < bytes of the copy */
static void flip_byte(const struct copy_region *copy, uint64_t offset) {
  if (copy->part_count > 0) {
    size_t part = 0;
    for (; offset >= copy->parts[part].size_bytes; part++) {
      offset -= copy->parts[part].size_bytes;
    }
    invert_byte(&copy->parts[part].to[offset]);
    return;
  }
  size_t row = offset / copy->width;
  invert_byte(copy->to + row / copy->height * copy->to_plane + row % copy->height * copy->to_pitch +
              offset % copy->width);
}

static void carry_out_copy(const struct operation *operation) {
  if (!operation->repeats) {
    copy_rows(&operation->copy);
  }
  if (operation->fault != NULL && operation->fault->kind == FAULT_FLIP_BYTE) {
    flip_byte(&operation->copy, operation->fault->offset);
  }
}

static void carry_out_set(const struct operation *operation) {
  contents_need(operation->set.to, operation->set.count);
  memset(operation->set.to, operation->set.value, operation->set.count);
}

/* Managed pages that a kernel touches come to its GPU, and stay; what it used comes into its L2. */
static void move_in(const struct kernel_launch *launch) {
  struct kernel_accesses accesses = {0};
  launch->kernel->accesses(launch, &accesses);
  for (uint32_t i = 0; i < accesses.count; i++) {
    struct allocation *allocation = memory_containing(accesses.items[i].address);
    if (allocation != NULL && allocation->kind == ALLOCATION_MANAGED && !allocation->read_mostly &&
        accesses.items[i].moved_bytes > 0) {
      memory_set_location(allocation, launch->context->gpu);
    }
    if (allocation != NULL && allocation->kind == ALLOCATION_DEVICE &&
        allocation->gpu == launch->context->gpu && accesses.items[i].moved_bytes > 0) {
      caches_use(allocation->gpu, accesses.items[i].address, accesses.items[i].size_bytes);
    }
  }
}

bool operation_carry_out(struct operation *operation) {
  if (operation->fault != NULL && operation->fault->kind == FAULT_DROP) {
    return true;
  }
  switch (operation->kind) {
  case OPERATION_COPY:
    carry_out_copy(operation);
    return true;
  case OPERATION_SET:
    carry_out_set(operation);
    return true;
  case OPERATION_KERNEL:
    if (!operation->kernel.illegal) {
      operation->kernel.kernel->run(&operation->kernel);
      move_in(&operation->kernel);
    }
    return !operation->kernel.illegal;
  case OPERATION_HOST:
    operation->host.function(operation->host.data);
    return true;
  case OPERATION_PREFETCH:
    memory_set_location(operation->prefetch.allocation, operation->prefetch.to);
    return true;
  case OPERATION_RECORD:
  case OPERATION_WAIT:
    return true;
  }
  return true;
}

/* What a thread of a copy has under way, and for how long: few blocks do not fill a link. */
enum { THREAD_BYTES = 64, ACCESS_NS = 1000 };

/* Of copies whose grid does not cover them. */
static void limit_by_threads(const struct kernel_launch *launch, uint64_t bytes,
                             struct work *work) {
  const enum kernel kernel = launch->kernel->kernel;
  const double threads = (double)launch->grid * launch->block;
  if (kernel >= KERNEL_COPY_1 && kernel <= KERNEL_COPY_16 &&
      (double)bytes > threads * THREAD_BYTES) {
    work->least_ns = fmax(work->least_ns, (double)bytes / (threads * THREAD_BYTES) * ACCESS_NS);
  }
}

bool kernel_work(struct kernel_launch *launch, struct work *work) {
  struct kernel_accesses accesses = {0};
  launch->kernel->accesses(launch, &accesses);
  int32_t gpu = launch->context->gpu;
  work->latency_ns += accesses.extra_ns;
  for (uint32_t i = 0; i < accesses.count; i++) {
    const struct kernel_access *access = &accesses.items[i];
    struct memory_place place = {0};
    (void)memory_locate(access->address, access->size_bytes, &place);
    if (access->size_bytes > 0 &&
        kernel_place(launch, access->address, access->size_bytes) == NULL) {
      return false;
    }
    work->bytes += (double)access->moved_bytes;
    if (place.place == gpu) {
      links_add_memory(&simulator.links, work, gpu, access->moved_bytes);
      continue;
    }
    struct transfer transfer = {.from = access->write ? gpu : place.place,
                                .to = access->write ? place.place : gpu,
                                .bytes = access->moved_bytes,
                                .by_kernel = true};
    links_add_transfer(&simulator.links, work, &transfer);
  }
  limit_by_threads(launch, accesses.items[0].moved_bytes, work);
  return true;
}
