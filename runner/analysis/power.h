/* power.h - before anything is measured: how many runs find a change of so much.
 *
 * The spreads of cases are learnt from recorded runs: between runs, and between processes of one
 * run. Each is shrunk towards those of its peers, as diff.h does it, and the degrees of freedom
 * that the peers lend count. A case is found by diff_compare() as the only one of so many that
 * changed: at a level of the false discovery rate over their number. What matters is half of the
 * change that is to be found, or less: a change of just what matters is never shown to exceed it.
 *
 * Variances are of natural logarithms. */
#pragma once

#include "runner/analysis/compare.h"

#define POWER_WANTED 0.8 /* of the cases */

struct power_case {
  const char *key;        /* case_key; borrowed */
  double between, within; /* variances */
  double prior_df;
  double delta; /* what matters, relative */
};

struct power_spreads {
  struct arena arena;
  struct power_case *cases; /* by key; one per hardware */
  size_t count;
  size_t runs;        /* that they are learnt from, at most, of a case */
  bool between_known; /* false: of each case one run is known, and runs are taken to differ as much
                         as processes do */
};

/* From all runs of measured, which is borrowed. arena_fini(&spreads->arena) ends it. */
enum status power_learn(const struct results *results, struct power_spreads *spreads,
                        struct error *err) CHECK_RESULT;
/* Without any: what two processes of a quiet machine differ by (ROBUST_SPREAD), thrice as much of
 * small copies and of times; so do runs. */
struct power_case power_usual(const char *key, enum figure figure, uint64_t size_bytes,
                              double delta);

/* What a diff that is to find the change must be told matters. */
double power_delta(const struct power_case *c, double change);
/* The mean share of the cases that are found, with so many runs on either side of so many
 * processes each. change: 0.01 = 1 %. */
double power_share(const struct power_case *cases, size_t count, double change, unsigned runs_a,
                   unsigned runs_b, unsigned processes);
/* The fewest runs of B that find POWER_WANTED, where A has at least as many; 0 = not even
 * DIFF_PROCESSES_MAX. */
unsigned power_runs(const struct power_case *cases, size_t count, double change, unsigned runs_a,
                    unsigned processes);
