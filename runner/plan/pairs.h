/* pairs.h - from x to: the pairs of places that two ends of a setting come to on a machine, and
 * which of them are wanted. */
#ifndef HAUL_RUNNER_PLAN_PAIRS_H
#define HAUL_RUNNER_PLAN_PAIRS_H

#include "runner/plan/place.h"

enum { PAIRS_MAX = PLACES_MAX * PLACES_MAX, COMPLAINTS_MAX = MACHINE_GPUS_MAX + 2 };

struct pair {
  int32_t from, to;
};

/* Something that was asked for and is not there. near_gpu: the GPU for which it is not, or -1. */
struct complaint {
  int32_t near_gpu;
  char reason[CASE_REASON_MAX];
};

/* Large: not for the stack. */
struct pair_set {
  const struct machine *machine;
  size_t pair_count;
  struct pair pairs[PAIRS_MAX];
  bool dropped[PAIRS_MAX]; /* scratch */
  size_t complaint_count;
  struct complaint complaints[COMPLAINTS_MAX];
};

struct pair_rule {
  bool equal;   /* (a, a) is wanted */
  bool unequal; /* (a, b) is wanted */
  bool once;    /* of (a, b) and (b, a) only the first */
};

/* from x to, each resolved as place.h says; what is missing becomes complaints. */
void pairs_resolve(struct pair_set *x, const struct endpoint_setting *from,
                   const struct endpoint_setting *to);
/* Drop the pairs that the rule does not want; ends of different kinds are all unequal. */
void pairs_apply(struct pair_set *x, enum place from, enum place to, struct pair_rule rule);
/* Why no pair is left. */
void pairs_say_none(const struct pair_set *x, enum place from, enum place to, struct pair_rule rule,
                    char reason[CASE_REASON_MAX]);
/* Replace the pairs, whose ends must be of one kind, by a ring or by a bisection of their places;
 * none and the reason where there are too few. */
void pairs_make_pattern(struct pair_set *x, enum concurrent pattern, char reason[CASE_REASON_MAX]);

#endif
