/* diff_priors.h - what the peers of a case say about its variance (t_test.h), for diff.c alone.
 *
 * A family with fewer than DIFF_FAMILY_MIN cases learns in the next wider one, at last from all
 * cases; where these are too few, nothing is learnt. Processes and runs vary differently and learn
 * apart. */
#pragma once

#include "engine/base/arena.h"
#include "runner/analysis/diff.h"
#include "runner/statistics/t_test.h"

/* Of one case: its observations and their summaries; each side may have one observation or none. */
struct prior_case {
  const uint32_t *families; /* DIFF_FAMILY_LEVELS, narrow to wide; NULL = it teaches nothing */
  enum diff_unit unit;      /* what the observations are */
  struct process_sample a, b;
  struct sample a_sample, b_sample;
};

enum { DIFF_DEPENDENCE_MIN = 4, DIFF_DEPENDENCE_MAX = 200 };

struct diff_prior {
  bool known;
  double dependence;                /* of the cases: dependence.h */
  struct variance_prior both, a, b; /* of the sides together, and of each */
};

/* priors holds count and is zeroed. */
void diff_learn_priors(const struct prior_case *cases, size_t count, struct diff_prior *priors,
                       struct arena *arena);

/* Of all cases that teach, however few: dependence.h. 1: fewer than DIFF_DEPENDENCE_MIN do. */
double diff_find_dependence(const struct prior_case *cases, size_t count, struct arena *arena);
