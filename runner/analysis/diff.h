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
 * Odd units, far from all others of their case, are left out where they are few (diff_odd.h). SAME
 * must also be true of all units where one side has two odd ones more than the other. Whether there
 * are more of them is what distribution.h tests.
 *
 * Method "moderated": variances are shrunk within a family, and the t test is against delta
 * (t_test.h); peers that see the same noise count as less than so many (dependence.h). Where one
 * side has more units than the other, the sides' variances are also shrunk separately, and the less
 * certain of both tests counts: a pooled variance is nearly that of the larger side. No standard
 * deviation is taken as less than DIFF_SPREAD_MIN, so that two equal values are no certainty. Where
 * there are too few cases to learn from (diff_priors.c), Welch's test is used with the degrees of
 * freedom of the smaller side where the sides differ in number: few values do not tell
 * Satterthwaite which side is noisier. Method
 * "rank": rank_test.h. The false discovery rate is kept at 5 % over the whole diff.
 *
 * Sides that are judged again and again as they grow get a wrong verdict sooner or later. Who
 * looks several times says how often at most; then each look is held to that share of every error
 * rate (Bonferroni): q and the level of equivalence, so that the rates hold over all looks
 * together, whenever one stops. The interval is a 95 % interval of the last look alone. So it may
 * leave the threshold out where the verdict is still open.
 *
 * Clocks have steps. Noise averages them out; where it is too small, the error of both sides is
 * that of a place between two steps that nobody knows (diff_find_rounding()).
 *
 * Time: runs of both sides that were made in turn are judged as pairs, from three on, where the
 * steps within the sides say that the level drifts or wanders. Where one side follows the other,
 * all cases together say how likely which kind of wandering is, and the interval is the mean over
 * them (wander.h): of two runs a side, which say nothing, over all that were likely before. So is
 * that of pairs, which a level that wanders makes differ less than their trend says. Where they
 * say that the level drifts along a line, the line is subtracted from both sides, and the error is
 * that of the residuals.
 *
 * A verdict is provisional where it has one of these doubts, the first that holds:
 *   ONE_RUN  each side is one run, and earlier runs do not tell how runs differ; also SAME
 *   FEW      a side has fewer than DIFF_PROCESSES_FIRM processes, or neither as many runs
 *   ORDER    one side follows the other, and the change is not beyond what a random walk makes
 *   MODES    a floor from permutations: units dealt to the sides at random fall as they did with
 *            probability 2 / C(n, n_a). Where k other cases have two levels on one side, and so
 *            many units at either that a deal could give a level to each side, k + 1 times that is
 *            how many cases chance makes look changed: more than 5 % of the reports
 *
 * Verdicts, the first that holds:
 *   BROKEN               some process of either side was corrupt, or a larger share of those of b
 *                        failed, crashed or hung, beyond chance, or all where b alone ran
 *                        (broken.c)
 *   NEW, MISSING         measured on side b or a only
 *   INCOMPARABLE         the caller says why, or no process is ok on either side
 *   INSUFFICIENT         one run each, and fewer than two processes on a side
 *   REGRESSED, IMPROVED  q <= 5 %: slower, faster by more than delta
 *   SAME                 equivalent: the 95 % interval lies inside delta (TOST at 2.5 %, so that
 *                        few of those who compare after each run, and stop at SAME, are wrong);
 *                        of nodes of which several changed unlike the others, their whole mean
 *                        does too
 *   INSUFFICIENT         undecided, and at most DIFF_PROCESSES_MAX units per side would decide
 *                        with a power of 80 %, those so far among them: units_needed. This is a
 *                        promise where both sides have DIFF_UNITS_PROMISE units: what befalls one
 *                        in ten, such as a slow mode, was then seen in four of five comparisons.
 *                        With fewer it is the least that is needed.
 *   UNCLEAR              undecided, and as many would not decide: the change is too near delta, or
 *                        the case too noisy */
#pragma once

#include "engine/base/enum_names.h"
#include "runner/analysis/diff_odd.h"
#include "runner/statistics/shift.h"
#include "runner/statistics/wander.h"

#include <stdbool.h>

#define DIFF_SHARE_COMMON 0.9
#define DIFF_WALK_DF      5.0
#define DIFF_POWER        0.9   /* with which units_needed is sought: 0.8 is then kept */
#define DIFF_STEPS_LEAST  0.9   /* of runs that count as independent: time_order.h */
#define DIFF_CHANCE_SHARE 0.1   /* of provisional changes: diff_exchange_units() */
#define DIFF_TREND_LEAST  0.9   /* the probability of a line that is taken out */
#define DIFF_STEPS_PAIRED 0.8   /* of runs in turn that are not judged as pairs */
#define DIFF_STEPS_ERRORS 1.645 /* or that are so near to those of independent runs: at 5 % */
/* The probability that runs in turn do not wander, from which on they are not judged as pairs, and
 * from which on they count as independent. */
#define DIFF_INDEPENDENT_LEAST  0.2
#define DIFF_INDEPENDENT_LIKELY 0.45
#define DIFF_SPREAD_MIN         5e-5 /* the quietest cases measured spread by 0.01 % between processes */
/* Units per side that a diff should have where the spread is unknown, that it must have for a firm
 * report, and that anybody would measure. */
enum { DIFF_PROCESSES_USUAL = 5, DIFF_PROCESSES_FIRM = 4, DIFF_PROCESSES_MAX = 30 };
/* Of earlier runs: as many as sides of the least have. The variance is then known to a factor of
 * about two either way. */
enum { DIFF_HISTORY_DF_MIN = DIFF_PROCESSES_FIRM - 1 };
/* Nodes with a result on both sides, from which on each is compared with itself. */
enum { DIFF_NODES_MIN = 8 };
enum { DIFF_UNITS_PROMISE = 16 };
enum { DIFF_TREND_UNITS = 8 }; /* of both sides, from which on a trend is taken out */
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
/* There is evidence of a change. */
static inline bool verdict_is_change(enum verdict verdict) {
  return verdict == VERDICT_REGRESSED || verdict == VERDICT_IMPROVED;
}
/* There is too little evidence to tell. */
static inline bool verdict_is_undecided(enum verdict verdict) {
  return verdict == VERDICT_UNCLEAR || verdict == VERDICT_INSUFFICIENT;
}

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

/* X(enum diff_doubt, name, reason): why a verdict is provisional. Outputs, help and documents have
 * the reasons from here. */
#define DIFF_DOUBT_REASON_LIST(X)                                                                  \
  X(DIFF_DOUBT_ONE_RUN, "one_run", "each side is one run, without 4 earlier runs of the machine")  \
  X(DIFF_DOUBT_FEW, "few", "a side has fewer than 4 processes, or neither side has 4 runs")        \
  X(DIFF_DOUBT_ORDER, "order", "one side came after the other, and drift may explain the change")  \
  X(DIFF_DOUBT_MODES, "modes", "many cases have two modes, and chance may explain the change")
#define DIFF_DOUBT_LIST(X) X(DIFF_DOUBT_NONE, "none", "") DIFF_DOUBT_REASON_LIST(X)
ENUM_NAMES_DECLARE(diff_doubt, DIFF_DOUBT_LIST)

struct diff_case {
  struct process_sample a, b; /* ln of the median time of one iteration in ns */
  /* Cases with similar variances, narrow to wide: method x path x size class, method x path,
   * method. */
  uint32_t families[DIFF_FAMILY_LEVELS];
  /* By value: ln of the 95th percentile of a process's trials over their median; NULL = not known.
   */
  const double *tails[2];
  double delta;              /* relative: 0.01 */
  size_t a_not_ok, b_not_ok; /* processes that ran and have no value */
  size_t corrupt;            /* of them, with wrong data */
  const int64_t *started;    /* of the runs, by their numbers: any unit; NULL = not known */
  /* Of the means of runs of this case on this machine, from earlier ones; df 0 = not known. It
   * counts where each side is one run. process_variance: the part that a side adds because it has
   * fewer processes than they had. */
  double run_variance, run_df, process_variance;
  /* Of these earlier runs, by their numbers: how far each is from the mean of those under its
   * driver. It tells how much cases share of what runs differ by; none = not known. */
  struct process_sample earlier;
  double rounding;      /* diff_find_rounding(): standard error that the clock's steps add, ln */
  double rounded_noise; /* the same: the share of the noise's variance that is part of it */
  bool paired; /* the runs of the samples are nodes, the same and in the same order on both sides */
  const char *incomparable; /* why the sides cannot be compared; NULL = they can */
};

static inline bool diff_has_both_sides(const struct diff_case *c) {
  return c->incomparable == NULL && c->a.count > 0 && c->b.count > 0;
}

struct diff_result {
  enum verdict verdict;
  enum diff_test test;
  double change; /* of the rate, relative; NAN without both sides */
  /* 95 % interval; NAN where there is none: of one run each without earlier ones, of
   * which none is known to hold the change so often. */
  double change_low, change_high;
  /* The interval holds the change in 95 % or more, and not in just 95 %: how the level of the
   * machine wanders between the runs is known by few runs, and each way that it may is allowed for.
   * No interval of few runs holds the change in just 95 % whether they depend on each other or not
   * (Mueller 2014, "HAC corrections for strongly autocorrelated time series", Journal of Business
   * and Economic Statistics 32; Poetscher 2002, "Lower risk bounds and properties of confidence
   * sets for ill-posed estimation problems", Econometrica 70). Of two runs on a side it does so if
   * noise is normal: a third of the deals of two and two put both lower values on one side, and so
   * no interval that assumes nothing is finite at 95 %. */
  bool is_conservative;
  double p, q; /* NAN where nothing was tested; q with all looks */
  enum diff_unit unit;
  size_t units[2];     /* of a and b, without odd ones */
  struct diff_odd odd; /* that were left out, of ln ns */
  bool is_uneven;      /* SAME but for the odd ones */
  double sd;           /* between units, relative; NAN = not known */
  double df;           /* of the test */
  enum diff_doubt doubt;
  bool is_provisional;      /* there is a doubt */
  unsigned units_needed;    /* per side, for INSUFFICIENT and provisional ones; else 0 */
  unsigned needed_alone[2]; /* of a or b, while the other side stays as it is; 0 = no number */
  /* Of INSUFFICIENT ones: units_needed is a lower bound, and no promise. */
  bool needed_is_least;
};

struct diff_options {
  enum diff_method method;
  double false_discovery_rate; /* 0.05 */
  bool apart;                  /* no case learns its variance from others */
  bool independent;            /* runs are known to be, in whatever order */
  const double *wander;        /* of the cases that groups are of: diff_summary; NULL = not known */
  unsigned looks;              /* how often these sides are judged, at most; 0 = once */
  /* How many cases come first; those after them are other figures of some, which share the false
   * discovery rate and nothing else. 0 = all. */
  size_t own;
};

struct diff_summary {
  struct shift shift; /* what the cases have in common */
  /* Share of the cases with an interval that agree with it: their interval holds it and, where its
   * own interval excludes 0, they changed in its direction; NAN = there are none. */
  double shift_share;
  /* What the runs of a side, in the order of time, say of all cases: they are independent; the
   * level wanders or drifts. Neither = not known. */
  bool independent, wanders;
  bool drifts;                  /* sides that are not in turn: in a line, which was taken out */
  double wander[WANDER_MODELS]; /* the same, of means of cases (wander.h) */
  double dependence;            /* of the cases, mean; 1 = not known */
  bool shift_is_common;         /* nearly all do, DIFF_SHARE_COMMON, and its interval excludes 0 */
  size_t tests;
  size_t verdicts[verdict_name_count];
  size_t provisional[verdict_name_count]; /* of those */
  size_t doubts[diff_doubt_name_count];   /* of all */
  /* Method "rank": fewest processes per side with which a case could be reported that is the only
   * one to change, and how many of the tested cases have fewer; else 0. */
  unsigned rank_processes_least;
  size_t rank_too_few;
};

/* Sets the error that the steps of a clock add to the change of each case. A GPU counts steps of
 * 32 ns: a time of 3,120 ns is read as 3,104 or 3,136 ns, in every process, so that no number of
 * processes tells it. Cases of which half of the values are equal to another one are looked at, and
 * those of one method have a step if all their times are multiples of it. */
void diff_find_rounding(struct diff_case *cases, size_t count);

/* results holds count. */
void diff_compare(const struct diff_case *cases, size_t count, const struct diff_options *options,
                  struct diff_result *results, struct diff_summary *summary);

/* Families of a case. path is a kind of path ("host to gpu"), not one pair. Size classes: below
 * 64 KiB, below 1 MiB, from 1 MiB on. */
void diff_families(const char *method, const char *path, uint64_t size_bytes,
                   uint32_t families[DIFF_FAMILY_LEVELS]);

/* The usual margin: 1 % from 1 MiB on, 3 % below and for latencies. */
double diff_usual_margin(uint64_t size_bytes);
