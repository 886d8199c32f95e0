/* compare.h - two sides of what was measured, case by case: paired, judged (diff.h), ordered.
 *
 * A side is a set of runs. Cases are paired by case_key; where both sides know the hardware that a
 * result is of (UUIDs of GPUs; the host for cases without), also by that:
 *   some of it is on both sides       one pair for each; what is on one side only is NEW or MISSING
 *   none is, though the host is one   INCOMPARABLE: it is another GPU now
 *   none is, and the hosts differ     compared as they are; comparison.other_machine
 * GPUs of different models are INCOMPARABLE, unless models are what is compared. A case that is
 * missing on one side while another one there has its name is INCOMPARABLE with what differs in
 * their definitions.
 *
 * Real and simulated results are never on two sides of one comparison. Nothing here prints, reads
 * files or speaks SQL. Texts belong to the measured data or the comparison's arena. */
#ifndef HAUL_RUNNER_ANALYSIS_COMPARE_H
#define HAUL_RUNNER_ANALYSIS_COMPARE_H

#include "runner/analysis/diff.h"
#include "runner/record/measured.h"

#define SIDE_LIST(X) X(SIDE_A, "a") X(SIDE_B, "b") X(SIDE_NONE, "none")
ENUM_NAMES_DECLARE(side, SIDE_LIST)
enum { SIDES = 2 };

/* The figure of one iteration's median time. */
double figure_value(const struct measured_case *bench, double ns);

/* Who said what the smallest change of a case is that matters. */
#define DELTA_SOURCE_LIST(X)                                                                       \
  X(DELTA_USUAL, "usual")       /* diff_usual_margin() of a rate's size, else as of a latency */   \
  X(DELTA_SCENARIO, "scenario") /* measured_case.delta */                                          \
  X(DELTA_OPTION, "option")     /* compare_options.margin */
ENUM_NAMES_DECLARE(delta_source, DELTA_SOURCE_LIST)

/* That change, relative; source may be NULL. asked: for all cases, 0 = nothing is asked for. */
double figure_margin(const struct measured_case *bench, double asked, enum delta_source *source);

struct comparison_side {
  unsigned processes, boots, gpus; /* that the values come from; boots 0 = not known */
  double value;                    /* the figure: geometric mean of the processes; NAN = none */
  size_t run, bench;               /* one of those it has, also without a result; SIZE_MAX = none */
  bool tried;                      /* it has a run with this case, whatever came out */
};

struct comparison_row {
  size_t bench; /* in measured.cases: of side b where it has it */
  enum figure figure;
  struct comparison_side sides[SIDES];
  struct diff_result result;
  double delta; /* smallest change that matters; result.margin is not below the noise either */
  enum delta_source delta_from;
  /* Change of the figure, b over a - 1, with its 95 % interval; NAN as in diff_result. */
  double change, change_low, change_high;
  const char *hardware; /* which of several: "GPU-..."; NULL = the case has one row */
  const char *reason;   /* of INCOMPARABLE, NEW, MISSING; may be NULL */
  size_t input;         /* in comparison.inputs */
};

struct fact_difference {
  const char *name;
  int gpu;                   /* -1 = the whole machine, -2 = every GPU alike */
  const char *values[SIDES]; /* ", " between several; NULL = no answer */
};

struct comparison_total {
  size_t runs;
  unsigned processes, boots, gpus;
  const char *hosts, *drivers; /* ", " between; "none" */
};

struct comparison {
  struct arena arena;
  /* Strongest evidence first: regressed, improved, then what could not be judged, then same. */
  struct comparison_row *rows;
  size_t row_count;
  struct diff_case *inputs; /* of diff_compare and a_a_test; in the order of pairing */
  size_t input_count;
  struct comparison_total totals[SIDES];
  struct diff_summary summary;
  const struct fact_difference *facts;
  size_t fact_count;
  bool simulated;
  bool other_machine;        /* some cases compare different hardware */
  unsigned processes_needed; /* a side, that would decide all INSUFFICIENT rows; 0 = none is */
  unsigned processes_least[SIDES]; /* the fewest that a side has in one of them */
  unsigned needed_alone[SIDES];    /* of one side, while the other stays as it is; 0 = no number */
};

struct compare_options {
  struct diff_options diff;
  double margin;     /* for all cases, relative; 0 = what is usual, or their scenarios say */
  const char *by;    /* fact that sets the sides apart; NULL = none */
  bool any_hardware; /* pair by case_key alone */
  bool one_side;     /* side b may be empty: for a_a_test() of a */
};

/* sides[i]: which side run i of measured is on. STATUS_INVALID: a side has no run, or real and
 * simulated results would be mixed. *comparison is set on success; comparison_free() accepts
 * NULL. measured is borrowed. */
enum status compare(const struct measured *measured, const enum side *sides,
                    const struct compare_options *options, struct comparison **comparison,
                    struct error *err) CHECK_RESULT;
void comparison_free(struct comparison *comparison);

#endif
