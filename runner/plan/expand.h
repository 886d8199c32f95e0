/* expand.h - what the kinds of case share to turn one setting of a block into its cases on a
 * machine. For runner/plan alone.
 *
 *   [[transfer]]           one case per pair, or per group of pairs that run at once
 *                          (kind_transfer.c)
 *   [[chase]]              through host and peer memory one case per pair at x of, never a GPU with
 *                          itself; through global and shared memory one per GPU
 *   [[stream]]             one case per place
 *   [[arithmetic]]         one case per GPU
 *   [[compute]]            one case per GPU, whose flow is the kernel
 *   [[signal]]             one case per GPU and responder, or place of the memory
 *   [[overhead]]           one case per GPU; of host memory one per GPU and node; of memory that
 *                          needs no driver one per node
 *
 * A grid of so many blocks for every SM becomes a number. What cannot be made is an expansion
 * without a case but with a reason: one for what of the selectors is not there, and one for every
 * GPU that has no local or remote node. */
#pragma once

#include "engine/base/arena.h"
#include "engine/case/transfer.h"
#include "runner/plan/place.h"

struct grid_setting; /* schema/scenario/setting.h */
struct flow_setting;
struct setting;

struct expansion {
  /* flows and flow_count; of kinds other than transfer these are loads, and work, operations and
   * operations_per_sm count as well. The rest is zero. NULL when the selectors come to nothing. */
  const struct case_def *def;
  const char *asked;  /* without a case: the path as asked for, "gpu7-gpu.all"; else NULL */
  const char *reason; /* why it cannot be measured; NULL = nothing against it so far */
  bool for_gpu;       /* without a case: a GPU was asked for */
  bool incomplete;    /* some of its loads came to nothing: it is no other case, alone or not */
};

typedef void expansion_receiver(void *context, const struct expansion *expansion);

/* Scratch space, reused between settings; large: not for the stack. What expansions point to lives
 * in the arena. */
struct expander {
  const struct machine *machine;
  struct arena *arena;
  expansion_receiver *receive;
  void *context;
  uint64_t seed; /* of samples of pairs */
  struct pair_set set;
  /* Of a transfer; loads are those of any kind of block. */
  bool grouped[PAIRS_MAX];
  size_t flow_count; /* may pass CASE_FLOWS_MAX: then only counted */
  struct flow flows[CASE_FLOWS_MAX];
  size_t load_count;
  struct flow loads[CASE_FLOWS_MAX];
  char load_reason[CASE_REASON_MAX]; /* why the loads cannot be made; empty = they can */
};

/* Hand out a case; reason as in struct expansion, static or in the arena. */
void expand_emit(struct expander *x, const struct case_def *def, const char *reason);
/* Hand out that `from` (and `to`, where it is not NULL) came to nothing. near_gpu: the GPU for
 * which it did not, or -1. space: what else tells the path apart, or NULL. */
void expand_emit_unresolved(struct expander *x, const struct endpoint_setting *from,
                            const struct endpoint_setting *to, int32_t near_gpu, const char *space,
                            const char *reason);
/* Every index that a single end comes to; what is missing is handed out. */
void expand_resolve_end(struct expander *x, const struct endpoint_setting *end, const char *space,
                        struct place_list *list);
/* The pairs of two ends that the rule wants, or their ring or bisection (pattern), into
 * x->set.pairs; what is missing is handed out. */
void expand_resolve_pairs(struct expander *x, const struct endpoint_setting *from,
                          const struct endpoint_setting *to, struct pair_rule rule,
                          enum concurrent pattern);
/* Every pair but those of a place with itself. */
void expand_resolve_others(struct expander *x, const struct endpoint_setting *from,
                           const struct endpoint_setting *to);
/* Blocks of a kernel on that GPU: 0 = left to the engine, STREAM_GRID_FULL. Where nobody knows how
 * many SMs the GPU has, 0 with the reason. */
uint32_t expand_grid(const struct grid_setting *grid, const struct machine *machine, int32_t gpu,
                     const char **reason);

/* Every copy of flows that share a stream, in the order that follows from the seed. False: there
 * are too many. */
bool expand_shuffle_copies(struct expander *x, struct case_def *def);
/* Hand out a case of x->flows, with the loads of the setting beside them; operations: of one
 * iteration, for its rate. */
void expand_emit_flows(struct expander *x, const struct setting *setting, uint64_t operations);

/* ---- loads: flows beside the measured work, of blocks of any kind (kind_transfer.c) ---- */

/* The loads of the setting that name their ends, into x->loads; once before its cases are handed
 * out. */
void expand_resolve_loads(struct expander *x, const struct setting *setting);
/* Hand out a case of a kind that is no transfer, with its loads beside it; a load without ends goes
 * from `from` to `to`, or back. */
void expand_emit_beside(struct expander *x, const struct setting *setting, struct endpoint from,
                        struct endpoint to, struct case_def *def, const char *reason);

/* How many flows a load is that may be without ends: one for each measured flow, of method compute
 * one in all; 0: it names its ends. */
size_t expand_mirror_count(const struct flow_setting *load, size_t measured_count);
/* Of method compute, else nothing: the flow has the kernel of the load and memory of its own. */
void expand_make_compute(const struct flow_setting *load, struct flow *flow);
/* The same, of a load without ends: it is on the GPU that starts the measured flow, else on the one
 * at its other end. (kind_compute.c) */
void expand_place_compute(const struct flow *measured, struct flow *flow);
