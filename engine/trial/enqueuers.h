/* enqueuers.h - threads that enqueue flows whose copies block them, kept between the trials of a
 * case: a new thread's first copy takes tens of microseconds longer, and finds no cache warm.
 *
 * Each sleeps between trials. In a trial enqueuers_wake() returns when all are awake and spin, so
 * that start events can be recorded; enqueuers_run() lets them go together and waits for them.
 * Every wake is followed by a run, also after an error. The flows and what is enqueued are the
 * caller's (struct enqueuers_ops); its functions are called by the threads. */
#pragma once

#include "engine/case/transfer.h"
#include "engine/host/numa.h"

struct enqueuers;

struct enqueuers_ops {
  /* Awake, before the time starts: whatever the thread needs to enqueue that flow. */
  enum status (*prepare)(void *context, uint32_t flow, struct error *err);
  enum status (*enqueue)(void *context, uint32_t flow, struct error *err);
};

/* machine, ops and context are borrowed. */
enum status enqueuers_new(const struct machine *machine, const struct enqueuers_ops *ops,
                          void *context, uint32_t capacity, struct enqueuers **enqueuers,
                          struct error *err) CHECK_RESULT;
/* A thread for that flow, on the processors that cpu says. A node whose processors it may not use
 * is an error of the first enqueuers_run(). */
enum status enqueuers_add(struct enqueuers *enqueuers, uint32_t flow, const struct flow_cpu *cpu,
                          struct error *err) CHECK_RESULT;
void enqueuers_free(struct enqueuers *enqueuers); /* NULL is fine */
void enqueuers_wake(struct enqueuers *enqueuers);
/* With a status that is not OK they enqueue nothing, and it is returned; else the first error of a
 * thread. */
enum status enqueuers_run(struct enqueuers *enqueuers, enum status status,
                          struct error *err) CHECK_RESULT;
/* The processors that the threads may run on; known from the first enqueuers_wake() on. */
void enqueuers_cpus(const struct enqueuers *enqueuers, struct cpu_set_bits *cpus);
