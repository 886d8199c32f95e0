/* settle.h - the visits of each case in the process that is being measured: their trials, and
 * whether another visit may settle the case (engine/case/visits.h).
 *
 * On a host where many cases that cross a link were not precise, those that were have a second
 * visit, too: an episode may be longer than a visit and slow all of it alike. Links to the host and
 * links between GPUs are counted apart. What fell short before is visited as
 * often as there is time, for a bad link is judged by it, and visits of one second may share an
 * episode.
 *
 * Not every case has a second visit. One that was within its precision at once needs none; one
 * whose scenario asks for a certain time was measured as asked; fewer than six trials never have an
 * interval that could be narrow enough.
 *
 * A case whose scenario asks for a certain number of trials was measured as asked, too. But where
 * others over the same links are visited again because the host is noisy, it goes with them: it has
 * a visit for every SETTLE_ROUNDS of the one that has most. So it never keeps a run going, takes
 * little time from cases that visits settle, and after a single visit its result is as without any.
 *
 * Of cases that fell short before, all have other visits, whatever their scenario asks for: one
 * measurement, or two within a second, do not tell a slow link from an episode of others. */
#pragma once

#include "engine/case/visits.h"
#include "runner/record/record.h"

enum { SETTLE_ROUNDS = 3 };

/* Links that others may use. What disturbs those to the host leaves those between GPUs alone. */
enum settle_way { WAY_NONE, WAY_GPUS, WAY_HOST, WAYS };

struct settle {
  const struct plan *plan;
  bool wanted; /* measure.settle_time is not 0 */
  bool doubted;
  uint32_t process; /* that the cases below are of */
  bool looked;      /* after its first round, whether its host is noisy */
  size_t crossing;  /* cases that cross a link, as far as they may have another visit */
  struct settle_case {
    enum settle_way way;
    bool noisy; /* it crosses a link of a noisy host, and those of its kind are noisy */
    struct visits_read visits;
    struct visits_found found;
  } * cases; /* of the plan */
};

/* doubted: the cases fell short before, which others may have caused: their host counts as noisy.
 */
void settle_init(struct settle *settle, const struct plan *plan, bool doubted);
void settle_fini(struct settle *settle);
/* A case was measured. *whole: the report with the trials of all its visits and what they say; it
 * borrows from the report and from the settle. False: a further visit failed, or was killed, and
 * the case stays as it was; it has no other visit. One that crashed or hung, or whose bytes were
 * wrong, says so of the case. */
bool settle_add(struct settle *settle, const struct case_report *report, struct case_report *whole);
/* After the first round. resumed: the record from which visits of an earlier session are read;
 * NULL = there was none. */
bool settle_is_open(struct settle *settle, struct record *resumed, uint32_t process,
                    size_t case_index);
