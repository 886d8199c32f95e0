/* disturbance.h - how much others disturbed the trials of judged cases: a fact of its own, which
 * says nothing against what is judged (engine/case/visits.h). */
#pragma once

#include "runner/expect/observed.h"

/* All zero at first. */
struct disturbance {
  size_t count; /* of cases of which a share of trials worth saying was disturbed */
  bool on_host; /* all of them have an end there */
  double percent, slower_percent; /* of the one with most */
  const char *name;
};

/* name: of the case, borrowed. */
void disturbance_add(struct disturbance *disturbance, const struct observed *observed,
                     const char *name);
/* "host busy: 31 % of trials were up to 22 % slower (up/gpu0, and 2 more)"; "" = none were. */
const char *disturbance_words(struct arena *arena, const struct disturbance *disturbance);
