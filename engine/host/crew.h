/* crew.h - host threads bound to the processors of a node, kept between trials.
 *
 * One thread a processor. Threads sleep on a futex between jobs and spin only between "ready" and
 * "go", so that all flows of a trial start within a fraction of a microsecond.
 *
 * Crews that work at the same time must not share processors: a case makes one struct crew_seats,
 * tells it of every crew to come (crew_seats_expect), then makes the crews with it. On a simulated
 * machine threads may share a processor, since its nodes share real ones. */
#ifndef HAUL_ENGINE_HOST_CREW_H
#define HAUL_ENGINE_HOST_CREW_H

#include "engine/base/error.h"
#include "engine/host/numa.h"
#include "engine/machine/machine.h"

#include <stdatomic.h>

struct crew;

/* What host threads of all flows of a trial share: they start together. A zeroed one is ready for
 * use. Either the threads start themselves, the last of them to arrive releasing the others
 * (expected = their number), or the caller sets go when ready shows that all are there (expected =
 * 0). The first is the more exact: the caller's own thread then takes no processor from them. */
struct host_start {
  uint32_t expected;
  atomic_uint ready; /* threads that have come to the start */
  atomic_bool go;
  atomic_bool stop; /* tells threads of load flows to end */
};

/* Processors that the crews of a case have taken. A zeroed one is ready for use. About 1.5 KiB. */
struct crew_seats {
  uint64_t taken[NUMA_CPUS_MAX / 64];
  uint32_t sharing[MACHINE_NODES_MAX]; /* crews to come that take an even share, by real node */
  uint32_t wanted[MACHINE_NODES_MAX];  /* threads of crews to come that say how many */
};

/* Before the first crew of a case is made: there will be one with these arguments. A node that does
 * not exist is left to crew_new() to report. */
void crew_seats_expect(struct crew_seats *seats, const struct machine *machine, int32_t node,
                       uint32_t thread_count);

/* The work of one thread in one trial: its share of the job. Must not block or print. */
typedef void (*crew_work)(void *context, uint32_t thread, uint32_t thread_count,
                          uint32_t iterations);

/* thread_count 0 = one a processor of the node that no other crew of the case takes, evenly divided
 * among the crews that say 0. More threads than free processors is an error (STATUS_INVALID) since
 * two threads on one processor measure the scheduler. seats NULL = the only crew. */
enum status crew_new(const struct machine *machine, int32_t node, uint32_t thread_count,
                     struct crew_seats *seats, struct crew **crew, struct error *err) CHECK_RESULT;
void crew_free(struct crew *crew);
uint32_t crew_size(const struct crew *crew);
/* Logical processor of a thread of the crew. */
int crew_cpu(const struct crew *crew, uint32_t thread);
/* Wake all threads for one job. Each adds one to start->ready, spins until the start, works, and
 * notes its times. start is borrowed until crew_wait() returns. start NULL: the crew starts when
 * its own threads are there. One job at a time: crew_wait() comes before the next. */
void crew_start(struct crew *crew, crew_work work, void *context, uint32_t iterations,
                struct host_start *start);
/* Sleeps until all have ended. First thread's start and last thread's end on clock_now_ns() (either
 * may be NULL). */
void crew_wait(struct crew *crew, uint64_t *start_ns, uint64_t *end_ns);

#endif
