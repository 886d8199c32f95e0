/* more_runs.h - how a comparison goes on that leaves cases open: which side is to be measured again
 * and how often, or what else to do where more runs decide nothing.
 *
 * One side alone if that decides all cases: the other has enough runs, and neither came after the
 * other so that drift explains a change. Else as many runs of both, which are measured in turn. */
#pragma once

#include "runner/analysis/compare.h"

/* What the sides are to be measured again for. */
struct more_runs_site {
  bool imported;  /* no command makes more of its runs */
  bool elsewhere; /* measured by another machine or driver than the latest run */
};

struct more_runs {
  bool of[SIDES];
  unsigned count; /* of each; 0 = none would help, or none is needed */
  /* The open cases are enough. With few runs so far, the others are hardly known, either. */
  bool open_alone;
  bool anew; /* the runs that there are do not count */
};

/* anew: the runs that there are do not count. Nor do they where drift may explain a change after so
 * many of them. */
struct more_runs more_runs_find(const struct comparison *comparison,
                                const struct more_runs_site sites[SIDES], bool anew);

/* What is left where more runs decide nothing. */
struct more_runs_end {
  size_t undecided; /* cases */
  size_t two_modes; /* of these */
  /* The run that is apart from the others of its side in most of these, and in how many; 0. */
  int64_t run_apart;
  enum side side_apart;
  size_t apart;
  /* The smallest change that matters by which these are the same and no change is open again; NAN =
   * there is none. */
  double delta;
};
struct more_runs_end more_runs_end_find(const struct comparison *comparison);
