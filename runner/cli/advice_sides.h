/* advice_sides.h - which side of a comparison is to be measured again, and how often.
 *
 * One side alone if that decides all cases: the other has enough runs, and neither came after the
 * other so that drift explains a change. Else as many runs of both, which are measured in turn. */
#pragma once

#include "runner/analysis/compare_runs.h"

/* What can be done about a side. */
struct side_advice {
  const struct results_run *run;    /* its last one */
  const struct results_run **again; /* whose commands measure all cases to decide */
  bool imported;                    /* all its runs are imported: no command makes more */
  bool elsewhere;                   /* measured by another machine or driver than the latest run */
  unsigned wanted;                  /* new runs, if both sides are measured */
  unsigned alone;   /* the same, if this one alone is; 0 = that does not decide all */
  bool advised;     /* new runs of it */
  size_t nodes;     /* that were measured */
  const char *tag;  /* of the new runs; NULL = none is needed */
  const char *name; /* that selects the side with them */
};

/* anew: the runs that there are do not count. Texts belong to the request's arena. */
void advice_find_sides(struct database *database, struct compare_request *request,
                       const struct compare_result *result, bool anew,
                       struct side_advice help[SIDES]);
/* Whether both runs have the same host and driver. */
bool advice_same_place(const struct results *results, const struct results_run *a,
                       const struct results_run *b);
