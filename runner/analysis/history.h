/* history.h - cases over time: one point per run, with changes marked; the latest result of each.
 *
 * A series is one case_key on one piece of hardware (measured_hardware). Where the driver version
 * changes from one run to the next, the mark says what that did to the figure; between such places
 * Pettitt's test looks for changes of level (rank_test.h), whose marks name the facts that changed
 * there. */
#ifndef HAUL_RUNNER_ANALYSIS_HISTORY_H
#define HAUL_RUNNER_ANALYSIS_HISTORY_H

#include "runner/analysis/compare.h"

#define HISTORY_MARK_LIST(X)                                                                       \
  X(HISTORY_NO_MARK, "")                                                                           \
  X(HISTORY_DRIVER, "driver") /* another driver version than before */                             \
  X(HISTORY_CHANGE, "change") /* another level, under the same driver */
ENUM_NAMES_DECLARE(history_mark, HISTORY_MARK_LIST)

struct history_point {
  size_t run;              /* in measured.runs */
  double value, low, high; /* the figure: median, minimum and maximum of the processes */
  unsigned processes;
  enum history_mark mark;
  double change;    /* with a mark: of the figure, against the stretch since the mark before */
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

/* One host, scenario and name of a case: its result in the latest run that did not skip it. */
struct latest_case {
  size_t run, bench;   /* in measured */
  unsigned processes;  /* whose result is ok */
  unsigned went_wrong; /* failed, crashed, hung or corrupt */
  double ns;           /* median of the processes' medians; NAN = none is ok */
};

/* Owned by the arena, in the order of hosts, scenarios and names. Real and simulated results are
 * separate. */
struct latest_case *latest_cases(const struct measured *measured, struct arena *arena,
                                 size_t *count);

#endif
