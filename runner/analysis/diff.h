/* diff.h - what differs between two sides, case by case: from medians to verdicts. No SQL.
 *
 * Each side of a case has one value per process, the natural logarithm of the median time of one
 * iteration in ns. Trials inside a process agree far better than processes do and are never pooled.
 * The unit, what counts as one observation, is the process where both sides of a case are of one
 * run each. Where a side has several, it is the run, whose value is the mean of its processes
 * (process_sample.h), and a side of one run is held against how those of the other spread: what
 * processes of a run share is no change. Changes are those of the rate: +0.03 = side b moves 3 %
 * more bytes per second.
 *
 * Where many nodes are on both sides (paired), the unit is the node: each is compared with itself,
 * and what is judged is the mean of the nodes' differences, by how these spread. One that changed
 * unlike the others counts as no more than DIFF_NODE_SPREADS robust standard deviations from their
 * median: it is to be named by itself (outliers.h), and must not hide what all have in common.
 * Ranks leave the pairs out, which finds less.
 *
 * delta is the smallest change that matters: a change is reported where it is shown to exceed
 * delta, and the same where it is shown to be less. Noise is in the standard error alone, which
 * falls with the number of units: what is noisy takes more of them.
 *
 * Method "moderated": variances are shrunk within a family, and the t test is against delta
 * (t_test.h); peers that see the same noise count as less than so many (dependence.h). Where one
 * side has more units than the other, the sides' variances are also shrunk separately, and the less
 * certain of both tests counts: a pooled variance is nearly that of the larger side. No standard
 * deviation is taken as less than DIFF_SPREAD_MIN, so that two equal values are no certainty. Where
 * there are too few cases to learn from (diff_priors.h), Welch's test is used with the degrees of
 * freedom of the smaller side: few values do not tell Satterthwaite which side is noisier. Method
 * "rank": rank_test.h. The false discovery rate is kept at 5 % over the whole diff.
 *
 * Sides that are judged again and again as they grow get a wrong verdict sooner or later. Who
 * looks several times says how often at most; then each look is held to that share of every error
 * rate (Bonferroni): q and the levels of intervals and of equivalence, so that the rates hold over
 * all looks together, whenever one stops.
 *
 * Verdicts, the first that holds:
 *   BROKEN               some process of b was corrupt, or a larger share of them failed, crashed
 *                        or hung, beyond chance (broken.c)
 *   NEW, MISSING         measured on side b or a only
 *   INCOMPARABLE         the caller says why, or no process is ok on either side
 *   INSUFFICIENT         one run each, and fewer than two processes on a side
 *   REGRESSED, IMPROVED  q <= 5 %: slower, faster by more than delta; provisional with fewer
 *                        than DIFF_PROCESSES_FIRM processes on a side, or runs on the side that
 *                        has most, where they are the unit
 *   SAME                 equivalent: the 90 % interval lies inside delta (TOST); of nodes of which
 *                        several changed unlike the others, their whole mean does too
 *   INSUFFICIENT         undecided, and at most DIFF_PROCESSES_MAX units per side would decide
 *                        with a power of 80 %: units_needed
 *   UNCLEAR              undecided, and as many would not decide: the change is too near delta, or
 *                        the case too noisy */
#ifndef HAUL_RUNNER_ANALYSIS_DIFF_H
#define HAUL_RUNNER_ANALYSIS_DIFF_H

#include "engine/base/enum_names.h"
#include "runner/statistics/shift.h"

#include <stdbool.h>

#define DIFF_SHARE_COMMON 0.9
#define DIFF_NODE_SPREADS 4.0
#define DIFF_SPREAD_MIN   5e-5 /* the quietest cases measured spread by 0.01 % between processes */
/* Units per side that a diff should have where the spread is unknown, that it must have for a firm
 * report, and that anybody would measure. */
enum { DIFF_PROCESSES_USUAL = 5, DIFF_PROCESSES_FIRM = 4, DIFF_PROCESSES_MAX = 30 };
enum { DIFF_FAMILY_MIN = 20, DIFF_FAMILY_LEVELS = 3 };

#define VERDICT_LIST(X)                                                                            \
  X(VERDICT_BROKEN, "broken")                                                                      \
  X(VERDICT_REGRESSED, "regressed")                                                                \
  X(VERDICT_IMPROVED, "improved")                                                                  \
  X(VERDICT_SAME, "same")                                                                          \
  X(VERDICT_UNCLEAR, "unclear")                                                                    \
  X(VERDICT_INSUFFICIENT, "insufficient")                                                          \
  X(VERDICT_NEW, "new")                                                                            \
  X(VERDICT_MISSING, "missing")                                                                    \
  X(VERDICT_INCOMPARABLE, "incomparable")
ENUM_NAMES_DECLARE(verdict, VERDICT_LIST)

#define DIFF_METHOD_LIST(X)                                                                        \
  X(DIFF_MODERATED, "moderated")                                                                   \
  X(DIFF_RANK, "rank")
ENUM_NAMES_DECLARE(diff_method, DIFF_METHOD_LIST)

#define DIFF_TEST_LIST(X)                                                                          \
  X(DIFF_TEST_NONE, "none")                                                                        \
  X(DIFF_TEST_MODERATED, "moderated")                                                              \
  X(DIFF_TEST_WELCH, "welch")                                                                      \
  X(DIFF_TEST_RANK, "rank")
ENUM_NAMES_DECLARE(diff_test, DIFF_TEST_LIST)

#define DIFF_UNIT_LIST(X)                                                                          \
  X(DIFF_UNIT_PROCESS, "process")                                                                  \
  X(DIFF_UNIT_RUN, "run")                                                                          \
  X(DIFF_UNIT_NODE, "node")
ENUM_NAMES_DECLARE(diff_unit, DIFF_UNIT_LIST)

struct diff_case {
  struct process_sample a, b; /* ln of the median time of one iteration in ns */
  /* Cases with similar variances, narrow to wide: method x path x size class, method x path,
   * method. */
  uint32_t families[DIFF_FAMILY_LEVELS];
  double delta;              /* relative: 0.01 */
  size_t a_not_ok, b_not_ok; /* processes that tried and have no value */
  size_t b_corrupt;          /* of them, with wrong data */
  bool paired; /* the runs of the samples are nodes, the same and in the same order on both sides */
  const char *incomparable; /* why the sides cannot be compared; NULL = they can */
};

struct diff_result {
  enum verdict verdict;
  enum diff_test test;
  double change;                  /* of the rate, relative; NAN without both sides */
  double change_low, change_high; /* 95 % interval, of all looks; NAN where there is none */
  double p, q;                    /* NAN where nothing was tested; q with all looks */
  enum diff_unit unit;
  size_t units[2];          /* of a and b */
  double sd;                /* between units, relative; NAN = not known */
  double df;                /* of the test */
  bool is_provisional;      /* REGRESSED or IMPROVED on few units */
  unsigned units_needed;    /* per side, for INSUFFICIENT and provisional ones; else 0 */
  unsigned needed_alone[2]; /* of a or b, while the other side stays as it is; 0 = no number */
};

struct diff_options {
  enum diff_method method;
  double false_discovery_rate; /* 0.05 */
  unsigned looks;              /* how often these sides are judged, at most; 0 = once */
};

struct diff_summary {
  struct shift shift; /* of the middle case */
  /* Share of the cases with an interval whose interval holds the shift; NAN = there are none. */
  double shift_share;
  bool shift_is_common; /* nearly all do: DIFF_SHARE_COMMON, and the shift's interval excludes 0 */
  size_t tests;
  size_t verdicts[verdict_name_count];
  size_t provisional[verdict_name_count]; /* of those */
  /* Method "rank": fewest processes per side with which a case could be reported that is the only
   * one to change, and how many of the tested cases have fewer; else 0. */
  unsigned rank_processes_least;
  size_t rank_too_few;
};

/* results holds count. */
void diff_compare(const struct diff_case *cases, size_t count, const struct diff_options *options,
                  struct diff_result *results, struct diff_summary *summary);

/* Families of a case. path is a kind of path ("host to gpu"), not one pair. Size classes: below
 * 64 KiB, below 1 MiB, from 1 MiB on. */
void diff_families(const char *method, const char *path, uint64_t size_bytes,
                   uint32_t families[DIFF_FAMILY_LEVELS]);

/* The usual margin: 1 % from 1 MiB on, 3 % below and for latencies. */
double diff_usual_margin(uint64_t size_bytes);

#endif
