/* machines.h - machines over time, beside each other.
 *
 * Time is cut into periods of a week, of a day where there are less than two months of it. What a
 * machine measured of a case is compared with the median of all machines in that period, so that
 * what they have in common, as a new driver, does not hide what one of them has alone. On that
 * difference history.h looks for changes of level, at a false discovery rate of 5 % over all cases
 * and machines. With fewer than three machines in a period it is the case's own median that it is
 * compared with, and new drivers are steps, too. Blocks have the mean over their cases, relative to
 * each case's own median over all machines and periods. A change is one of speed: less than 0 is
 * slower. */
#pragma once

#include "runner/record/results.h"

/* Cases of one machine that changed their level at once. */
struct machines_step {
  size_t node;        /* in nodes */
  size_t from, until; /* periods: the change began between them */
  double change;      /* median over its cases */
  size_t case_count;
  uint64_t gpus;      /* that each of its cases uses; 0 = none in common */
  const char *blocks; /* up to three, then "and 4 more" */
  const bool *in;     /* by block: whether it has a case of it */
  const char *what;   /* facts of the machine that changed there; NULL = none is known */
  bool slow_drift;    /* little by little */
  size_t run;         /* in measured: the first one after it */
};

/* Over machines; NAN = none ran. */
struct machines_band {
  double low, median, high; /* the middle 80 % of machines */
};

struct machines_block {
  const char *name;
  struct machines_band *bands; /* by period */
  double *values;              /* by node, then period; NAN = not measured */
};

/* From one driver to the next, as far as the same machines ran both. */
struct machines_upgrade {
  const char *from, *to;
  size_t node_count; /* machines, each counted once however often it went back and forth */
  bool *nodes;       /* by node: whether it is one of them */
  size_t period;     /* in which most machines had it first */
  double *changes;   /* by block: the median over machines; NAN = not measured under both */
  double *errors;    /* its standard error; NAN of one machine */
};

/* A machine in a period. */
struct machines_cell {
  bool ran;
  double level;  /* of the case that is the slowest against the others; 0 = none is slower */
  double margin; /* the smallest change of that case that matters */
  size_t bench;  /* that case, in results.cases */
};

struct machines {
  struct arena arena;
  int64_t first_ns, period_ns;
  size_t period_count;
  const char **nodes; /* sorted */
  size_t node_count;
  size_t *last_runs;           /* by node: in measured */
  struct machines_cell *cells; /* by node, then period */
  struct machines_block *blocks;
  size_t block_count;
  struct machines_step *steps; /* what costs most first */
  size_t step_count;
  struct machines_upgrade *upgrades; /* in the order of time */
  size_t upgrade_count;
};

/* Of runs in the order of time, all simulated or none. Never fails; measured is borrowed. */
struct machines *machines_new(const struct results *results);
/* Accepts NULL. */
void machines_free(struct machines *machines);
/* Whether machines are compared with each other, not each with itself. */
bool machines_have_peers(const struct machines *machines);
/* "gpu1 of node03", "node03"; in the arena. */
const char *machines_place(struct arena *arena, const struct machines *machines,
                           const struct machines_step *step);
/* Whether the driver changed the block: by more than 0.5 %, and by four standard errors. */
bool machines_upgrade_counts(const struct machines_upgrade *upgrade, size_t block);
/* Of the last period in which it ran; NULL: it never did. */
const struct machines_cell *machines_last_cell(const struct machines *machines, size_t node);
/* In which a time lies. */
size_t machines_period(const struct machines *machines, int64_t time_ns);
