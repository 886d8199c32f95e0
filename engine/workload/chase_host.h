/* chase_host.h - the threads of a node that follow a chain of addresses, for
 * engine/workload/chase.c.
 */
#pragma once

#include "engine/case/chase.h"
#include "engine/case/trial.h"
#include "engine/method/method.h"

struct chase_host;

/* STATUS_INVALID: the node has fewer processors than threads. */
enum status chase_host_new(const struct machine *machine, const struct chase *chase,
                           struct chase_host **host, struct error *err) CHECK_RESULT;
void chase_host_free(struct chase_host *host); /* NULL is fine */
/* Address that each thread is at. */
uint64_t *chase_host_positions(struct chase_host *host);
/* So many hops by each thread; the time of the slowest. */
void chase_host_run(struct chase_host *host, uint64_t hops, uint64_t *elapsed_ns);
/* The same as a flow beside loads, whose repeats are of chase->hops each. */
struct flow_run chase_host_own(struct chase_host *host, const struct flow *flow);
/* The processors of its threads. */
const struct cpu_set_bits *chase_host_cpus(const struct chase_host *host);
