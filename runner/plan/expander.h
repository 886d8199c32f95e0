/* expander.h - what the files that expand settings share; only they include it. */
#ifndef HAUL_RUNNER_PLAN_EXPANDER_H
#define HAUL_RUNNER_PLAN_EXPANDER_H

#include "runner/plan/expand.h"
#include "runner/plan/pairs.h"

struct expander {
  const struct machine *machine;
  struct arena *arena;
  expansion_receiver *receive;
  void *context;
  struct pair_set set;
  bool grouped[PAIRS_MAX];
  size_t flow_count; /* may pass CASE_FLOWS_MAX: then only counted */
  struct flow flows[CASE_FLOWS_MAX];
  size_t load_count;
  struct flow loads[CASE_FLOWS_MAX];
  char load_reason[CASE_REASON_MAX]; /* why the loads cannot be made; empty = they can */
};

/* Hand out that `from` (and `to`, where it is not NULL) came to nothing. near_gpu: the GPU for
 * which it did not, or -1. space: what else tells the path apart, or NULL. */
void expander_emit_unresolved(struct expander *x, const struct endpoint_setting *from,
                              const struct endpoint_setting *to, int32_t near_gpu,
                              const char *space, const char *reason);

#endif
