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
#include "runner/analysis/filter.h"

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

/* A number of processes per run, and how many runs of them find the change. */
struct power_way {
  unsigned processes, runs; /* runs 0 = not even DIFF_PROCESSES_MAX */
  double found;             /* share of the cases */
  uint64_t duration_ns;     /* of B */
};
enum { POWER_WAYS = 4 };

/* A question and its answer. Fill in change; then, in this order, power_read() where runs are
 * recorded, power_add_case() for each case, and power_find_ways(). Zeroed is empty. */
struct power_request {
  double change;                /* 0.01 = 1 % */
  uint64_t estimate_ns;         /* of a process, of which nothing is recorded */
  uint64_t pause_ns;            /* between processes */
  size_t count;                 /* cases; after power_find_ways() those of them that count */
  size_t recorded;              /* of them: if there are any, the others do not count */
  size_t left_out;              /* that do not count: a diff has nothing to compare them with */
  bool has_a;                   /* runs of A are named */
  size_t runs_of_a;             /* of them: with results, of the case with the most runs */
  struct power_spreads spreads; /* recorded; none = usual ones */
  double delta;                 /* that the diff must be given; 0 = none */
  size_t near; /* cases whose own one is too close to the change: from near_least to near_most */
  double near_least, near_most;
  struct power_way ways[POWER_WAYS]; /* the shortest first */
  /* private */
  struct power_case *cases;
  struct results_duration *durations; /* recorded, by case_key */
  size_t duration_count;
  double cases_ns; /* of a process */
  bool timed;      /* some case's duration is recorded */
  struct arena arena;
};

/* What the runs named by A tell, read into results, which is borrowed. If A has few runs, earlier
 * ones of its machine, under the same driver, say how runs differ. */
enum status power_read(struct power_request *request, struct database *database,
                       struct filter *filter, const char *a, struct results *results,
                       struct error *err) CHECK_RESULT;
/* key: its case_key, borrowed. payload_bytes: 0 = it is measured as a time. delta: its own, 0 =
 * none. estimate_ns: how long it takes where that is not recorded. */
void power_add_case(struct power_request *request, const char *key, uint64_t payload_bytes,
                    double delta, uint64_t estimate_ns);
/* STATUS_UNSUPPORTED without cases. */
enum status power_find_ways(struct power_request *request, struct error *err) CHECK_RESULT;
void power_request_fini(struct power_request *request);
