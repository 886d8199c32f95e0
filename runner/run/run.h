/* run.h - one run: a plan measured, recorded and shown. */
#pragma once

#include "runner/console/console.h"
#include "runner/plan/plan.h"
#include "runner/record/record.h"
#include "runner/record/selector.h"
#include "runner/run/claim.h"
#include "runner/run/expectations.h"
#include "runner/run/interference.h"
#include "runner/run/shard.h"
#include "runner/supervise/probe.h"

/* Its outcome, for the caller; of several runs in turn, the last. */
struct run_outcome {
  char uuid[RUN_UUID_MAX]; /* "" = none was begun */
  int64_t number;          /* in its database */
  /* Cases that hung, crashed or were corrupt, or after which a GPU took no work any more. One whose
   * worker was killed from outside counts as failed. */
  size_t broken;
  char first_broken[2 * CASE_REASON_MAX]; /* "NAME: hung: no answer for 2 s; ..." */
  uint64_t broken_gpus;                   /* that the first of them uses, as bits */
  size_t failed;                          /* the other ones that failed */
  char first_failed[2 * CASE_REASON_MAX];
  size_t planned, unmeasured;    /* cases; those that did not begin, of all runs */
  char nothing[CASE_REASON_MAX]; /* why every case was skipped; "" = not all were */
  uint64_t elapsed_ns;           /* of measuring */
  struct interference_user users[MACHINE_GPUS_MAX]; /* by GPU, of all runs */
};

struct run_request {
  const struct common_options *common;
  const char *database; /* path */
  struct run_info info; /* but for the version and the number of processes */
  bool unshown;         /* somebody else shows what came of it */
  bool unkept;          /* the database goes afterwards */
  bool repeated;        /* of a state of the machine that was warned of before */
  uint64_t budget_ns;   /* for measuring, in place of the scenario's; 0 = that holds */
  const volatile sig_atomic_t *interrupted;
  const struct row_sink *result; /* where the result goes */
  struct plot_request plot;      /* curves below the result */
  struct claim_request claiming; /* how what is used is claimed */
  struct claim *claim;           /* what is; NULL = nothing */
  struct probe_child *probe;     /* goes when the first worker has the driver open; NULL = none */
  struct shard *shard;           /* that the database is; NULL = it stays where it is */
  bool sums;                     /* of the cells of matrices of rates */
  struct run_outcome *outcome;   /* NULL = nobody asks */
  const struct expectations *expectations; /* that the result is compared with */
  const char *gpus_missing; /* which GPUs are there and cannot be used; NULL = none */
};

/* Measure the plan as a new run. Returns the exit code; errors and warnings were said. That every
 * case was skipped is left to the outcome, where there is one. */
int run_plan(const struct run_request *request, struct plan *plan);
/* Of a node of a fleet that cannot even begin: leave a failed run with that reason in its shard, so
 * that others see why. */
void run_refused(const struct run_request *request, const struct plan *plan, const char *reason);
/* Go on with an earlier run, whose record is open and which is the caller's (claim_run()); closes
 * it. */
int run_resumed(const struct run_request *request, const struct plan *plan, struct record *record,
                const struct resumed_run *resumed);
