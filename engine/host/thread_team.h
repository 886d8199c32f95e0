/* thread_team.h - host threads bound to the processors of a node, kept between trials.
 *
 * One thread per processor. Threads sleep on a futex between jobs and spin only between "ready" and
 * "go", so that all flows of a trial start within a fraction of a microsecond.
 *
 * Teams that work at the same time must not share processors: a case makes one struct
 * cpu_reservation, tells it of every team to come (cpu_reservation_expect), then makes the teams
 * with it. On a simulated machine threads may share a processor, since its nodes share real ones.
 */
#pragma once

#include "engine/base/error.h"
#include "engine/host/numa.h"
#include "engine/machine/limits.h"

#include <stdatomic.h>
#include <stdint.h>

struct machine;
struct thread_team;

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

/* Processors that the teams of a case have taken. A zeroed one is ready for use. About 1.5 KiB. */
struct cpu_reservation {
  struct cpu_set_bits taken;
  uint32_t sharing[MACHINE_NODES_MAX]; /* teams to come that take an even share, by real node */
  uint32_t wanted[MACHINE_NODES_MAX];  /* threads of teams to come that say how many */
};

/* Before the first team of a case is made: there will be one with these arguments. A node that does
 * not exist is left to thread_team_new() to report. */
void cpu_reservation_expect(struct cpu_reservation *reservation, const struct machine *machine,
                            int32_t node, uint32_t thread_count);

/* The work of one thread in one trial: its share of the job. Must not block or print. */
typedef void (*thread_team_work)(void *context, uint32_t thread, uint32_t thread_count,
                                 uint32_t iterations);

/* thread_count 0 = one per processor of the node that no other team of the case takes, evenly
 * divided among the teams that say 0. More threads than free processors is an error
 * (STATUS_INVALID) since two threads on one processor measure the scheduler. reservation NULL = the
 * only team. */
enum status thread_team_new(const struct machine *machine, int32_t node, uint32_t thread_count,
                            struct cpu_reservation *reservation, struct thread_team **team,
                            struct error *err) CHECK_RESULT;
void thread_team_free(struct thread_team *team);
uint32_t thread_team_size(const struct thread_team *team);
/* Logical processor of a thread of the team. */
int thread_team_cpu(const struct thread_team *team, uint32_t thread);
/* Bytes of last-level cache that the processors of the team have together; 0 = not known. */
uint64_t thread_team_cache_bytes(const struct thread_team *team);
/* Wake all threads for one job. Each adds one to start->ready, spins until the start, works, and
 * notes its times. start is borrowed until thread_team_wait() returns. start NULL: the team starts
 * when its own threads are there. One job at a time: thread_team_wait() comes before the next. */
void thread_team_start(struct thread_team *team, thread_team_work work, void *context,
                       uint32_t iterations, struct host_start *start);
/* Sleeps until all have ended. First thread's start and last thread's end on clock_now_ns() (either
 * may be NULL). */
void thread_team_wait(struct thread_team *team, uint64_t *start_ns, uint64_t *end_ns);
