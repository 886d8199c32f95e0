/* distribution.h - what changed of a case's distribution beside its level.
 *
 *   MODE    the values of both sides are at two levels (shape.h), and one side has a larger share
 *           of them at the slower one: Fisher's exact test
 *   TAIL    the 95th percentile of the trials of a process, over their median, changed by more than
 *           DISTRIBUTION_TAIL_DELTAS times what matters of the level: diff_compare() of the ratios
 *   JITTER  units are DISTRIBUTION_RATIO times as far from the median of their side and, where they
 *           are farther, more than half of what matters: a t test of these distances (Brown and
 *           Forsythe 1974, "Robust tests for the equality of variances", Journal of the American
 *           Statistical Association 69). Sides at two levels are judged by MODE alone.
 *
 * One finding per case, the first that holds. Each test has a third of the false discovery rate,
 * over all cases. Cases whose values are at one level or close together, whatever their sides, are
 * no tests of MODE or JITTER (Bourgon and others 2010, "Independent filtering increases detection
 * power for high-throughput experiments", PNAS 107). The doubts are those of diff.h; JITTER, which
 * few values show by chance, takes DISTRIBUTION_UNITS_MIN units a side. */
#pragma once

#include "runner/analysis/diff.h"

#define DISTRIBUTION_TAIL_DELTAS 5.0
#define DISTRIBUTION_RATIO       2.0
enum { DISTRIBUTION_UNITS_MIN = 5 };

/* X(enum distribution, name, word of outputs, meaning), which help and documents have from here. */
#define DISTRIBUTION_CHANGE_LIST(X)                                                                \
  X(DISTRIBUTION_MODE, "mode", "MODE  ",                                                           \
    "the share of results in the slower of two modes changed")                                     \
  X(DISTRIBUTION_TAIL, "tail", "TAIL  ", "the slowest trials (p95) moved relative to the median")  \
  X(DISTRIBUTION_JITTER, "jitter", "JITTER", "results of runs or processes spread more or less")
#define DISTRIBUTION_LIST(X) X(DISTRIBUTION_SAME, "same", "", "") DISTRIBUTION_CHANGE_LIST(X)
ENUM_NAMES_DECLARE(distribution, DISTRIBUTION_LIST)

struct distribution_change {
  enum distribution kind;
  bool is_worse; /* more at the slower level, a longer tail, a wider spread */
  bool is_provisional;
  /* Of a and b: the share at the slower level; p95 over the median, - 1; the spread, relative. */
  double values[2];
  double q; /* NAN = SAME */
};

/* levels: what diff_compare() found of the cases, with its summary. changes holds count. */
void distribution_compare(const struct diff_case *cases, size_t count,
                          const struct diff_options *options, const struct diff_result *levels,
                          const struct diff_summary *summary, struct distribution_change *changes);
