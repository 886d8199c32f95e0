/* settle.h - the visits of each case in the process that is being measured: their trials, and
 * whether another visit may settle the case (engine/case/visits.h).
 *
 * Not every case has a second visit. One that was within its precision at once needs none; one
 * whose scenario asks for a certain number of trials, or for a certain time, was measured as asked;
 * fewer than six trials never have an interval that could be narrow enough. */
#ifndef HAUL_RUNNER_RUN_SETTLE_H
#define HAUL_RUNNER_RUN_SETTLE_H

#include "runner/record/record.h"

struct settle {
  const struct plan *plan;
  bool wanted;      /* measure.settle_time is not 0 */
  uint32_t process; /* that the cases below are of */
  struct settle_case {
    bool known; /* it was measured, or looked up */
    struct visits_read visits;
    struct visits_found found;
  } * cases; /* of the plan */
};

void settle_init(struct settle *settle, const struct plan *plan);
void settle_fini(struct settle *settle);
/* A case was measured. *whole: the report with the trials of all its visits and what they say; it
 * borrows from the report and from the settle. */
void settle_add(struct settle *settle, const struct case_report *report, struct case_report *whole);
/* resumed: the record from which visits of an earlier session are read; NULL = there was none. */
bool settle_is_open(struct settle *settle, struct record *resumed, uint32_t process,
                    size_t case_index);

#endif
