/* simulator.h - what stream.c (queues and waiting) and simulator.c (the thread) share. */
#pragma once

#include "tests/fake_cuda/driver/stream.h"

enum waiter_kind {
  WAITER_FENCE,   /* until fence is done or context lost */
  WAITER_CONTEXT, /* until no stream of context has work, and none has work on allocation */
  WAITER_STEP,    /* until the simulation made a step or cannot make one */
};

struct waiter {
  struct waiter *next;
  enum waiter_kind kind;
  struct context *context;
  const struct fence *fence;
  const struct allocation *allocation; /* may be NULL */
  uint64_t step;
  bool done;
};

struct simulator {
  pthread_mutex_t lock;
  pthread_cond_t work; /* the simulator waits for it */
  pthread_cond_t done; /* host threads wait for it */
  const struct fake_config *config;
  struct links links;
  struct stream *streams;
  struct waiter *waiters;
  double now_ns;     /* simulated time */
  uint64_t start_ns; /* host clock at 0 of the real clock */
  uint64_t sequence;
  uint64_t activity; /* counts calls that queue something */
  uint64_t steps;
  bool asleep;      /* no work at all: the next enqueue must wake it */
  bool unattended;  /* the host does not wait but has been silent: go on without it */
  uint64_t random;  /* state of the noise generator; 0 = none was drawn yet */
  uint64_t process; /* what tells this process from others in the noise between them */
};

extern struct simulator simulator;

void *simulator_run(void *unused);
bool waiter_met(const struct waiter *waiter);
/* Take the first operation out of its stream and free it. */
void stream_pop(struct stream *stream);
/* stream.c: do to memory what the operation does. Lock not held. false: it touched what it may not
 * (the context is to be poisoned). */
bool operation_carry_out(struct operation *operation);
/* stream.c: the work of a kernel from its accesses. false as above. */
bool kernel_work(struct kernel_launch *launch, struct work *work);
