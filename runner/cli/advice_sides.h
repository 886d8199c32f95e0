/* advice_sides.h - the sides of a comparison that are to be measured again (more_runs.h), and how
 * that is told to haul: commands, tags, names. */
#pragma once

#include "runner/analysis/compare_runs.h"
#include "runner/analysis/more_runs.h"

/* Who starts the runs of a side. */
enum advice_launcher {
  LAUNCHER_SHELL, /* of its one node */
  LAUNCHER_SLURM, /* on the nodes of a list */
  LAUNCHER_OTHER  /* of several nodes: haul does not know how */
};

/* What can be done about a side. */
struct side_advice {
  const struct results_run *run;    /* its last one */
  const struct results_run **again; /* whose commands measure all cases to decide */
  struct more_runs_site site;
  unsigned wanted; /* so many new runs of it */
  size_t nodes;    /* that were measured */
  enum advice_launcher launcher;
  const char *places; /* nodes that both sides have, "n[1-8]"; else that of its last run */
  const char *tag;    /* of the new runs; NULL = none is needed */
  const char *name;   /* that selects the side with them; NULL = the fact of --by does */
};

/* Whether new runs can have a value of the fact that tells the sides apart: each launch makes a
 * fleet of its own, and each start of a machine a boot. */
bool advice_fact_recurs(const struct compare_request *request);
/* Fills in both. anew: the runs that there are do not count. Texts belong to the request's arena.
 */
struct more_runs advice_find_sides(struct database *database, struct compare_request *request,
                                   const struct compare_result *result, bool anew,
                                   struct side_advice help[SIDES]);
/* Whether one loop can measure both sides in turn: a shell or Slurm starts both on the same nodes.
 */
bool advice_is_one_place(const struct side_advice help[SIDES]);
/* Whether both runs have the same host and driver. */
bool advice_same_place(const struct results *results, const struct results_run *a,
                       const struct results_run *b);
