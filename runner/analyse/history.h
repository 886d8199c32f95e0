/* history.h - cases over time: one point a run, with what changed marked.
 *
 * A series is one case_key on one piece of hardware (measured_hardware). Where the driver version
 * changes from one run to the next, that is said with what it did to the figure; between such
 * places, changes of level are looked for (changes.h) and said with the facts that changed there.
 */
#ifndef HAUL_RUNNER_ANALYSE_HISTORY_H
#define HAUL_RUNNER_ANALYSE_HISTORY_H

#include "runner/analyse/compare.h"

#define HISTORY_MARK_LIST(X)                                                                       \
  X(HISTORY_NO_MARK, "")                                                                           \
  X(HISTORY_DRIVER, "driver") /* another driver version than before */                             \
  X(HISTORY_CHANGE, "change") /* another level, under the same driver */
ENUM_NAMES_DECLARE(history_mark, HISTORY_MARK_LIST)

struct history_point {
  size_t run;              /* in measured.runs */
  double value, low, high; /* the figure: median, least and most of the processes */
  unsigned processes;
  enum history_mark mark;
  double change;    /* with a mark: of the figure, against what was since the mark before */
  double p;         /* of HISTORY_CHANGE */
  const char *what; /* with a mark: "driver 580.65.06 to 590.44.01", "kernel, vbios"; may be NULL */
};

struct history_series {
  size_t bench; /* in measured.cases: the latest */
  enum figure figure;
  const char *hardware; /* NULL = the case has one series */
  struct history_point *points;
  size_t point_count;
};

struct history {
  struct arena arena;
  struct history_series *series; /* by name */
  size_t series_count;
};

/* The runs of measured must be in the order of time. Never fails; measured is borrowed. */
struct history *history_new(const struct measured *measured);
/* Accepts NULL. */
void history_free(struct history *history);

#endif
