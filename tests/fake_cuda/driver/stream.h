/* stream.h - streams, the operations queued on them, and the clock that they take their time on.
 *
 * One thread, the simulator, carries out all operations of all streams as a discrete-event
 * simulation: an operation starts when everything before it in its stream has ended, takes its
 * latency and then its bytes at the rate that links.h shares out, and its effects (bytes moved,
 * kernel run) happen at its end.
 *
 * On the virtual clock, time moves only while a host thread waits for something, so that what was
 * enqueued together starts together however slow the host is; 1 s after the last call the
 * simulator goes on by itself, for hosts that watch memory instead of waiting. On the real clock
 * time is that of the host. All functions but those that say so are called with the lock held. */
#pragma once

#include "tests/fake_cuda/driver/kernels.h"
#include "tests/fake_cuda/driver/memory.h"
#include "tests/fake_cuda/machine/links.h"

#include <pthread.h>

struct stream;

/* A context is a GPU's primary one. */
struct context {
  int32_t gpu;
  atomic_uint references; /* 0 = not alive */
  atomic_int error;       /* CUresult of a sticky error; 0 = none */
  atomic_bool peers[MACHINE_GPUS_MAX];
  struct stream *default_stream; /* the legacy one */
};

/* A point in a stream; what events, waits and host threads wait for. */
struct fence {
  unsigned references;
  bool done;
  double time_ns; /* when done */
};

struct fence *fence_new(void);
void fence_hold(struct fence *fence);
void fence_drop(struct fence *fence); /* accepts NULL */

enum operation_kind {
  OPERATION_COPY,
  OPERATION_SET,
  OPERATION_KERNEL,
  OPERATION_HOST,
  OPERATION_PREFETCH,
  OPERATION_RECORD,
  OPERATION_WAIT,
};

enum operation_state {
  OPERATION_QUEUED,
  OPERATION_WAITING,  /* a kernel that waits for a flag */
  OPERATION_READY,    /* waits for a copy engine */
  OPERATION_LATENCY,  /* its fixed part runs */
  OPERATION_TRANSFER, /* its bytes move */
};

/* One of several copies that are one operation. */
struct copy_part {
  unsigned char *to;
  const unsigned char *from;
  size_t size_bytes;
};

/* depth planes of height rows of width bytes; or `part_count` parts, which go with the operation.
 */
struct copy_region {
  struct copy_part *parts;
  size_t part_count;
  unsigned char *to;
  const unsigned char *from;
  size_t width, height, depth;
  size_t to_pitch, from_pitch;
  size_t to_plane, from_plane;
};

struct operation {
  struct operation *next;
  enum operation_kind kind;
  enum operation_state state;
  const struct fault *fault;
  struct allocation *touches[2]; /* NULL = none; freeing these waits */
  struct work work;
  bool takes_engine;
  bool repeats; /* the same copy as the one before it: nothing new to move */
  /* Kept by the simulator. */
  uint64_t sequence;
  double ready_ns;
  double latency_end_ns;
  double bytes_left;
  double rate;               /* bytes per ns */
  uint64_t waiting_since_ns; /* host clock */
  union {
    struct copy_region copy;
    struct {
      unsigned char *to;
      unsigned char value;
      size_t count;
    } set;
    struct kernel_launch kernel;
    struct {
      CUhostFn function;
      void *data;
    } host;
    struct {
      struct allocation *allocation;
      int32_t to;
    } prefetch;
    struct fence *fence; /* RECORD, WAIT */
  };
};

/* Operations recorded instead of run. */
struct graph {
  struct operation *first;
  struct operation **last;
};

#define STREAM_MAGIC 0x53747265616D21u
struct stream {
  uint64_t magic;
  struct stream *next;
  struct context *context;
  unsigned flags;
  bool destroyed; /* goes when it is empty */
  struct operation *first;
  struct operation **last;
  struct operation *tail;
  struct graph *capture; /* NULL = not capturing */
};

/* Set the simulation up and start its thread; once in a process. Lock not held. */
void streams_start(const struct fake_config *config);
const struct links *streams_links(void);
/* Lock not held, and unlock. */
void streams_lock(void);
void streams_unlock(void);

struct stream *stream_new(struct context *context, unsigned flags);
void stream_destroy(struct stream *stream);
/* All of that context; their work is dropped. */
void streams_destroy_all(struct context *context);
/* Queue a copy of the operation, or record it where the stream captures. Order between the legacy
 * stream and blocking ones is kept. */
void stream_enqueue(struct stream *stream, const struct operation *operation);
void stream_record(struct stream *stream, struct fence *fence);
void stream_wait_fence(struct stream *stream, struct fence *fence);
bool stream_idle(const struct stream *stream);
void graph_free(struct graph *graph);

/* Wait until the fence is done or the context is lost. The lock is released meanwhile. */
void streams_wait_fence(struct context *context, struct fence *fence);
/* Wait until everything queued now in this stream, or in the context, is done. */
void streams_wait_stream(struct stream *stream);
void streams_wait_context(struct context *context);
/* As streams_wait_context, and for all operations of others that touch the allocation. */
void streams_wait_allocation(struct context *context, const struct allocation *allocation);
/* A host that polls: let the simulation make one step. */
void streams_step(void);
/* The context is lost: work in it is dropped, all its calls fail with that code. Lock not needed.
 */
void context_poison(struct context *context, CUresult code);
