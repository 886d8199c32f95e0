/* history.h - cases over time: one point per run, with changes marked; the latest result of each.
 *
 * A series is one case_key on one piece of hardware (results_hardware). A run is one value, the
 * median of its processes: they share too much to count as so many. Where the driver version
 * changes from one run to the next, the mark says what that did to the figure. Between such places
 * Pettitt's test looks for changes of level (rank_test.h), at most one false one in a hundred
 * series; the marks name the facts that changed there. It needs about 14 runs, so that the last
 * ones are also held against those before them, since the mark before: the latest run alone by a t
 * test of one new value against the others, at a level of 2 %, and the last two, three ... at 1 %
 * over all of them. Where each run is like the one before (series.h), of this series or usually of
 * all, runs count as fewer. A level that moved little by little is a drift: a line describes it
 * better than steps do. Of many series less is said: the marks of each kind are held to a false
 * discovery rate of 5 % over all series of a look. A change below the margin of the case is none.
 */
#pragma once

#include "runner/analysis/compare.h"

#define HISTORY_MARK_LIST(X)                                                                       \
  X(HISTORY_NO_MARK, "")                                                                           \
  X(HISTORY_DRIVER, "driver") /* another driver version than before */                             \
  X(HISTORY_CHANGE, "change") /* another level, under the same driver */                           \
  X(HISTORY_DRIFT, "drift")   /* little by little, up to here, under the same driver */            \
  X(HISTORY_LATEST, "latest") /* the runs from here on, the latest, differ from the level before   \
                               */
ENUM_NAMES_DECLARE(history_mark, HISTORY_MARK_LIST)

struct history_point {
  size_t run;              /* in results.runs */
  double value, low, high; /* the figure: median, minimum and maximum of the processes */
  unsigned processes;
  enum history_mark mark;
  double change; /* with a mark: of the figure, against the stretch since the mark before */
  double p; /* with a mark, of all places looked at; NAN for a driver with too few runs before it to
               tell */
  /* Of a change: the points from which to which the new level began, with a probability of 95 %; of
   * a drift: between which it went. Else the point itself. */
  size_t since, until;
  const char *what; /* with a mark: "driver 580.65.06 to 590.44.01", "kernel, vbios"; may be NULL */
};

struct history_series {
  size_t bench; /* in results.cases: the latest */
  const char *name;
  enum figure figure;
  const char *hardware; /* NULL = the case has one series */
  /* What tells the case from others with its name: "min_trial_ns 100000"; NULL = there is none. */
  const char *settings;
  struct history_point *points;
  size_t point_count;
  double autocorrelation; /* of a run with the next; 0 = none, or too few runs to tell */
  /* What the latest run is held against: the runs since the last mark before it. */
  size_t earlier;
  /* The least change of the latest run that would be marked, relative; NAN = with less than
   * HISTORY_EARLIER_MIN runs nothing can be told. Of many series: as the only mark of the look. */
  double least_change;
};

enum { HISTORY_EARLIER_MIN = 3 };

struct history {
  struct arena arena;
  struct history_series *series; /* by name */
  size_t series_count;
};

/* The runs of measured must be in the order of time. Never fails; measured is borrowed. */
struct history *history_new(const struct results *results);
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
struct latest_case *latest_cases(const struct results *results, struct arena *arena, size_t *count);
