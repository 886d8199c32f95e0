/* episodes.h - [[fake.noise]]: how much slower than quiet a way is at a moment, by the host's
 * clock: from a table of episodes, or replayed from recorded trials.
 *
 * Times are in ns. */
#pragma once

#include "engine/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* From the end of the one before, or from 0, to its own end. */
struct fake_episode {
  double end_ns;
  double factor; /* of durations: 1 = quiet */
};

struct fake_noise {
  int32_t from, to;              /* as of a link */
  struct fake_episode *episodes; /* owned; see episodes_add() */
  size_t count;
  double period_ns; /* all begins anew; 0 = there is nothing */
};

void episodes_add(struct fake_noise *noise, double end_ns, double factor);
void episodes_fini(struct fake_noise *noise);
/* Reads a CSV file with the columns case_name, iterations, elapsed_ns and perhaps phase. Of the
 * rows of cases that fit the glob each trial is an episode, one after the other, whatever lay
 * between them; as quiet counts the 5 % quantile of their times. STATUS_INVALID where there is no
 * row. */
enum status episodes_read(const char *path, const char *cases, struct fake_noise *noise,
                          struct error *err) CHECK_RESULT;
double episodes_factor(const struct fake_noise *noise, double now_ns);
