/* compare.h - compares two sets of runs case by case: pairs their results, judges them (diff.h),
 * orders them.
 *
 * A side is a set of runs. Cases are paired by case_key and, where both sides know the hardware of
 * a result (UUIDs of GPUs; the host for cases without), also by hardware:
 *   both sides share some of it       one pair for each; the rest is NEW or MISSING
 *   ... on eight nodes or more        one pair for all of them, judged by node
 *   they share none on one host       INCOMPARABLE: it is another GPU now
 *   they share none on other hosts    compared as well; comparison.other_machine
 * GPUs of different models are INCOMPARABLE, unless --by gpu_name compares models. A case that is
 * missing on one side while another one there has its name is INCOMPARABLE; the reason names what
 * differs in their definitions. A case with a rate above its peak, on either side, is INCOMPARABLE.
 *
 * Where processes visited a case again, its undisturbed rates are judged, too, in the same diff and
 * so under one false discovery rate. If they changed, that is what happened to the link and the
 * row's result, whatever noise adds. If the typical rates alone changed, noise did.
 *
 * Real and simulated results are never on two sides of one comparison. Nothing here prints, reads
 * files or speaks SQL. Texts belong to the measured data or the comparison's arena. */
#pragma once

#include "runner/analysis/diff.h"
#include "runner/analysis/distribution.h"
#include "runner/record/results.h"
#include "runner/statistics/shape.h"

#define SIDE_LIST(X) X(SIDE_A, "a") X(SIDE_B, "b") X(SIDE_NONE, "none")
ENUM_NAMES_DECLARE(side, SIDE_LIST)
/* As people read it: A or B. */
static inline char side_letter(size_t side) {
  return side == SIDE_A ? 'A' : 'B';
}
enum { SIDES = 2 };

struct outliers;

/* The figure of one iteration's median time. */
double figure_value(const struct results_case *bench, double ns);

/* Where the smallest change of a case that matters comes from. */
#define DELTA_SOURCE_LIST(X)                                                                       \
  X(DELTA_USUAL, "usual")       /* diff_usual_margin(); 0 bytes for all but rates */               \
  X(DELTA_SCENARIO, "scenario") /* results_case.delta */                                           \
  X(DELTA_OPTION, "option")     /* compare_options.margin */
ENUM_NAMES_DECLARE(delta_source, DELTA_SOURCE_LIST)

/* That change, relative; source may be NULL. asked: compare_options.margin. */
double figure_margin(const struct results_case *bench, double asked, enum delta_source *source);

/* A side whose processes are not of one kind (shape.h). */
struct side_shape {
  enum shape_kind kind;
  /* Of the mode with less time per iteration and the other; of the process apart and the others. */
  size_t counts[2];
  double values[2];           /* their median figures */
  int64_t run_id, process_id; /* of the process apart */
  int ordinal;                /* that it has in its run; compare_runs() finds it */
};

struct comparison_side {
  unsigned processes, runs, boots, gpus; /* behind the values; boots 0 = unknown */
  size_t left_out;                       /* units far from the others, in none of the figures */
  double value;                          /* the figure: geometric mean of the units; NAN = none */
  size_t run, bench; /* that recorded the case: ran or skipped it; SIZE_MAX = none did */
  unsigned not_ok;   /* processes that failed, crashed, hung or were corrupt */
  unsigned by_status[case_status_name_count]; /* the same, one by one */
  size_t not_ok_run, not_ok_bench;            /* one of them */
  /* Of a BROKEN, NEW or MISSING case: "skipped: needs two GPUs" where no process ran it, else why
   * one was not ok; NULL = no such process. compare_runs() finds it. */
  const char *reason;
  struct side_shape shape;
};

/* Which of the two rates of a case changed (engine/case/visits.h), where visits tell them apart. */
#define MOVED_LIST(X)                                                                              \
  X(MOVED_UNKNOWN, "")                /* nothing did, or no process visited the case again */      \
  X(MOVED_TYPICAL, "typical")         /* what others do on the host */                             \
  X(MOVED_UNDISTURBED, "undisturbed") /* the link, hidden by noise */                              \
  X(MOVED_BOTH, "typical and undisturbed")
ENUM_NAMES_DECLARE(moved, MOVED_LIST)

#define RATE_KIND_LIST(X) X(RATE_TYPICAL, "typical") X(RATE_UNDISTURBED, "undisturbed")
ENUM_NAMES_DECLARE(rate_kind, RATE_KIND_LIST)

/* One of them, compared. */
struct rate_change {
  struct diff_result result;
  double values[SIDES]; /* as of a side */
  /* Of the figure, b over a - 1, with its 95 % interval; NAN as in diff_result. */
  double change, change_low, change_high;
};

/* Both, of a case that processes visited again. */
struct case_rates {
  struct diff_case input; /* of the undisturbed rates */
  struct rate_change of[rate_kind_name_count];
};

struct comparison_row {
  size_t bench; /* in results.cases: of side b, if it has the case */
  enum figure figure;
  struct comparison_side sides[SIDES];
  struct diff_result result;
  struct distribution_change distribution;
  double delta; /* smallest change that matters */
  enum delta_source delta_from;
  /* Change of the figure, b over a - 1, with its 95 % interval; NAN as in diff_result. */
  double change, change_low, change_high;
  const char *hardware; /* which of several: "GPU-..."; NULL = the case has one row */
  const char *node;     /* whose hardware that is, where each row is of another node; else NULL */
  const char *reason;   /* of BROKEN, INCOMPARABLE, NEW, MISSING; may be NULL */
  bool other_gpu;       /* INCOMPARABLE, but with compare_options.any_hardware */
  size_t input;         /* in comparison.inputs */
  enum rate_kind rate;  /* what the figures of the row are */
  struct case_rates *rates; /* NULL = no process visited the case again */
  enum moved moved;
};

struct fact_difference {
  const char *name;
  int gpu;                   /* -1 = the whole machine, -2 = every GPU in the same way */
  const char *values[SIDES]; /* ", " between several; NULL = no answer */
  const char
      *nodes; /* that it is of, ", " between; NULL = the sides as wholes, or all nodes alike */
};

/* A check that failed, what slowed results, or a run that is not complete, on one side or both. */
struct comparison_condition {
  enum condition kind;
  const char *text;        /* without the share of the time, in which runs differ */
  int gpu;                 /* of a check; -1 = of none */
  unsigned runs[SIDES];    /* of which it holds */
  unsigned results[SIDES]; /* that were slowed; else 0 */
};

/* What the cases of a group have in common. Where two groups have the same cases, the first kind
 * counts. */
#define GROUP_KIND_LIST(X)                                                                         \
  X(GROUP_ALL, "all")                                                                              \
  X(GROUP_DIRECTION, "direction") /* "host to GPU" */                                              \
  X(GROUP_LINK, "link")                                                                            \
  X(GROUP_GPU, "gpu")                                                                              \
  X(GROUP_NODE, "node")                                                                            \
  X(GROUP_BLOCK, "block")
ENUM_NAMES_DECLARE(group_kind, GROUP_KIND_LIST)

/* Three cases or more on both sides, judged together as one (diff_group.h); the false discovery
 * rate is that of all groups. */
struct comparison_group {
  enum group_kind kind;
  const char *what; /* "gpu2" */
  size_t case_count;
  size_t undisturbed;        /* of these, with an undisturbed rate, too */
  size_t undisturbed_same;   /* of these, where that rate is shown not to have changed */
  struct diff_result result; /* of the mean change, of typical rates */
  double delta;              /* the mean of those of its cases */
  bool is_kept;              /* `only` has all of its cases */
  /* Reported, and worth a line: its cases that are not reported changed too, and most of them are
   * in no other group that is news. */
  bool is_news;
  const size_t *rows; /* while the groups are made */
};

/* Of comparison.confounded, where both sides are one run of haul. */
#define COMPARISON_ONE_RUN "One run per side: run-to-run variation cannot be told from a change"

struct comparison_total {
  size_t runs;
  unsigned processes, boots, gpus;
  /* ", " between; "none". models: names of GPUs. */
  const char *hosts, *drivers, *models, *scenarios;
  const char *which; /* "1-6, 13 of 2026-11-22 17:28 to 17:30 UTC": numbers of the runs, starts */
};

/* What more units would do for a row, the most urgent last. */
enum comparison_need { NEED_NONE, NEED_CONFIRM_SAME, NEED_DECIDE, NEED_CONFIRM_CHANGE };

struct comparison {
  struct arena arena;
  const struct results *results; /* what the sides are runs of; borrowed */
  /* Strongest evidence first: broken, regressed, improved, then what could not be judged, then
   * same. */
  struct comparison_row *rows;
  size_t row_count;
  size_t judged_count; /* with those that `only` left out */
  /* Cases that one side alone has because the runs of this one were told to leave them out: they
   * are in no row. unasked_only: what those runs were told. */
  size_t unasked[SIDES];
  const char *unasked_only[SIDES];
  size_t tested_count;      /* of the rows */
  size_t flaky_count;       /* of the rows: not always ok, but no more often in B than by chance */
  struct diff_case *inputs; /* of diff_compare and a_a_test; in the order of pairing */
  size_t input_count;
  size_t rates_count;         /* rows that have both rates */
  const int64_t *process_ids; /* process.id, by the numbers of processes in the inputs */
  struct comparison_total totals[SIDES];
  struct diff_summary summary;
  const struct fact_difference *facts;
  size_t fact_count;
  const struct comparison_condition *conditions; /* those of one side first */
  size_t condition_count;
  /* What the changed cases have in common (conclusion.h): conclusions_add(). */
  struct comparison_group *groups; /* strongest evidence first */
  size_t group_count;
  const struct conclusion *conclusions;
  size_t conclusion_count;
  bool simulated;
  bool other_machine; /* some cases compare different hardware */
  /* The drivers differ, compiled the kernels of a side from PTX (fact kernel_code), and a kernel
   * did the work of some case. */
  bool driver_compiled;
  /* Why a difference may be that of two runs or boots, and what settles it; NULL = a side has
   * several runs, and the boots are not one and another. */
  const char *confounded;
  const char *left_out; /* scenarios that one side alone ran, by compare_runs(); NULL = none */
  unsigned looks;       /* that the runs of haul run --decide allow; 0 = one */
  const char *judged; /* what counts as one observation, where that is not the process; else NULL */
  /* What of which node became slower unlike that of the others (outliers.h), which compare_runs()
   * finds where enough nodes are on both sides; else NULL. Borrowed. */
  const struct outliers *alone;
  size_t alone_count;          /* of its parts, those that `only` is about; they come first */
  size_t alone_certain;        /* of these */
  enum comparison_need need;   /* the most urgent one of the rows: then those with it are counted */
  size_t to_decide;            /* rows that the numbers below are of */
  enum diff_unit unit;         /* of these; runs, where some go by run */
  unsigned units_needed;       /* per side, to decide them all; 0 = there are none */
  bool needed_is_least;        /* of one of them: diff_result */
  unsigned units_least[SIDES]; /* the fewest that a side has in one of them */
  unsigned units_most[SIDES];  /* the most */
  /* Of one side, while the other stays as it is: how many of these rows that decides, and the units
   * that it takes; 0 = none. */
  size_t decided_alone[SIDES];
  unsigned needed_alone[SIDES];
  unsigned processes_least[SIDES]; /* the fewest that a side has in one of these rows */
};

static inline bool comparison_row_is_same_undisturbed(const struct comparison_row *row) {
  return row->rates != NULL && row->rates->of[RATE_UNDISTURBED].result.verdict == VERDICT_SAME;
}
/* The typical rate changed, and the undisturbed one is shown not to have. */
static inline bool comparison_row_is_noise(const struct comparison_row *row) {
  return row->moved == MOVED_TYPICAL && comparison_row_is_same_undisturbed(row);
}

static inline enum comparison_need comparison_row_need(const struct comparison_row *row) {
  const enum verdict verdict = row->result.verdict;
  return row->result.units_needed == 0   ? NEED_NONE
         : verdict_is_change(verdict)    ? NEED_CONFIRM_CHANGE
         : verdict_is_undecided(verdict) ? NEED_DECIDE
                                         : NEED_CONFIRM_SAME;
}
/* Whether more could be known of its change. */
static inline bool comparison_row_is_open(const struct comparison_row *row) {
  return verdict_is_undecided(row->result.verdict) || row->result.is_provisional;
}
/* Whether it is one of those that are to be decided first. */
static inline bool comparison_row_is_to_decide(const struct comparison *comparison,
                                               const struct comparison_row *row) {
  return comparison->need != NEED_NONE && comparison_row_need(row) == comparison->need;
}

struct compare_options {
  struct diff_options diff;
  double margin;     /* for all cases, relative; 0 = of the scenario, else the usual one */
  const char *by;    /* fact that distinguishes the sides; NULL = none */
  const char *only;  /* rows to keep once all are judged, as in results_load(); NULL = all */
  bool any_hardware; /* pair by case_key alone */
  bool one_side;     /* side b may be empty: for a_a_test() of a */
  const struct results *earlier; /* runs of the same machines before those; NULL = none */
};

/* sides[i]: which side run i of measured is on. STATUS_INVALID: a side has no run, or real and
 * simulated results would be mixed. *comparison is set on success; comparison_free() accepts
 * NULL. measured is borrowed. */
enum status compare(const struct results *results, const enum side *sides,
                    const struct compare_options *options, struct comparison **comparison,
                    struct error *err) CHECK_RESULT;
void comparison_free(struct comparison *comparison);
