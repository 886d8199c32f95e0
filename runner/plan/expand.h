/* expand.h - one setting of a block x machine -> its cases.
 *
 * Pairs. from x to, each selector resolved as place.h says, then:
 *   different kinds of place  every pair.
 *   pairs = "ordered"         every (a, b) with a != b.
 *   pairs = "unordered"       each {a, b} with a != b once.
 *   pairs = "same"            every (a, a).
 *   pairs not given           GPU to GPU: ordered, so that 8 GPUs give 56. NUMA to NUMA: every
 * pair, (a, a) too, because a copy inside a node is as much of interest as one between nodes. Where
 * each end is one place by number, that pair, whatever it is. With direction = "both", a -> b with
 * b -> a is the same measurement as b -> a with a -> b, and stands only once (where both ends name
 * one kind of memory, and concurrent is none or all). Direction. reverse exchanges source and
 * target; both makes two flows of each pair. The initiator is a property of each flow: "source"
 * means the source of that flow. Initiator not given: between host and GPU the GPU; else the
 * source, or the target where only the target's node has processors. concurrent. none: one case a
 * pair. per_target, per_source: one case for all pairs into one target, out of one source (after
 * direction = reverse is applied; of `both`, the forward flow decides). all: one case. ring: place
 * i -> i + 1, the last to the first. bisect: i -> i + n/2 modulo n, with an odd number of places
 * the last one left out; so half of the flows cross the middle in each direction. ring and bisect
 * take the places of both ends together and ignore `pairs`.
 * [[transfer.flow]]: from x to of each by the rules of `pairs` not given, all in one case.
 * [[transfer.load]]: the same, added to every case with role load. Flows of load do not reverse. A
 * load that names no ends mirrors: for every measured flow one of load, after the others, with the
 * same endpoints (exchanged for direction = "reverse") and what else the load does not say itself;
 * its initiator is the same end by role, but between host and GPU the GPU.
 * [[chase]]: through host and peer at x of, one case a pair, never a GPU with itself; else one a
 * GPU.
 * [[stream]], [[arithmetic]]: one case a place. A grid of so many blocks for every SM becomes a
 * number. [[overhead]]: one case a GPU, of host memory one a GPU and node, and of memory that needs
 * no driver one a node.
 *
 * What cannot be made is an expansion without flows but with a reason: one for what of the
 * selectors is not there, one for every GPU that has no local or remote node. */
#ifndef HAUL_RUNNER_PLAN_EXPAND_H
#define HAUL_RUNNER_PLAN_EXPAND_H

#include "engine/base/arena.h"
#include "engine/case/case.h"
#include "engine/machine/machine.h"
#include "schema/scenario/scenario.h"

struct expansion {
  const struct flow *flows; /* NULL when the selectors come to nothing */
  uint32_t flow_count;
  /* Instead of flows, of other kinds than transfers: kind, what it measures, operations. */
  const struct bench_case *work;
  const char *asked;  /* without either: the path as asked for, "gpu7-gpu.all"; else NULL */
  const char *reason; /* why it cannot be measured; NULL = nothing against it so far */
};

typedef void expansion_receiver(void *context, const struct expansion *expansion);

struct expander; /* scratch space, reused between settings */
struct expander *expander_new(const struct machine *machine, struct arena *arena);
void expander_free(struct expander *expander);
/* Hand every case of the setting to the receiver, in order. What expansions point to lives in the
 * arena. */
void expand_transfer(struct expander *expander, const struct transfer_setting *transfer,
                     expansion_receiver *receive, void *context);
/* The same for a setting of any kind. */
void expand_setting(struct expander *expander, const struct setting *setting,
                    expansion_receiver *receive, void *context);

#endif
