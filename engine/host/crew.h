/* crew.h - host threads bound to the processors of a node, kept between trials.
 *
 * Threads sleep on a futex between jobs and spin only between "ready" and "go", so that all flows
 * of a trial start within a fraction of a microsecond. */
#ifndef HAUL_ENGINE_HOST_CREW_H
#define HAUL_ENGINE_HOST_CREW_H

#include "engine/base/error.h"
#include "engine/machine/machine.h"
#include "engine/method/method.h"

struct crew;

/* The work of one thread in one trial: its share of the job. Must not block or print. */
typedef void (*crew_work)(void *context, uint32_t thread, uint32_t thread_count,
                          uint32_t iterations);

/* thread_count 0 = one a processor of the node; more than there are processors is an error
 * (STATUS_INVALID) since two threads on one processor measure the scheduler. */
enum status crew_new(const struct machine *machine, int32_t node, uint32_t thread_count,
                     struct crew **crew, struct error *err) CHECK_RESULT;
void crew_free(struct crew *crew);
uint32_t crew_size(const struct crew *crew);
/* Wake all threads for one job. Each adds one to start->ready, spins until start->go, works, and
 * notes its times. start is borrowed until crew_wait() returns. start NULL: go at once. */
void crew_start(struct crew *crew, crew_work work, void *context, uint32_t iterations,
                struct host_start *start);
/* First thread's start and last thread's end (either may be NULL). */
void crew_wait(struct crew *crew, uint64_t *start_ns, uint64_t *end_ns);

#endif
