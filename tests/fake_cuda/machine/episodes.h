/* episodes.h - [[fake.disturbance]]: the share of its quiet speed that a link has at a moment, by
 * the host's clock: from a table of episodes, or replayed from recorded trials.
 *
 * Times are in ns. */
#pragma once

#include "engine/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* From the end of the one before, or from 0, to its own end. */
struct fake_episode {
  double end_ns;
  double factor; /* of the speed: 1 = quiet */
};

struct fake_disturbance {
  int32_t from, to;              /* as of a link */
  struct fake_episode *episodes; /* owned; see episodes_add() */
  size_t count;
  double period_ns; /* all begins anew; 0 = there is nothing */
};

void episodes_add(struct fake_disturbance *disturbance, double end_ns, double factor);
void episodes_fini(struct fake_disturbance *disturbance);
/* Reads a CSV file with the columns case_name, iterations, elapsed_ns and perhaps phase. Each trial
 * of a case that matches the glob is an episode, in the order of the file and without pauses. Quiet
 * is the 5 % quantile of the times of the trial's own case. STATUS_INVALID if no row matches. */
enum status episodes_read(const char *path, const char *cases, struct fake_disturbance *disturbance,
                          struct error *err) CHECK_RESULT;
/* of the speed */
double episodes_factor(const struct fake_disturbance *disturbance, double now_ns);
