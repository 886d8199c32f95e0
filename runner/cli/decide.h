/* decide.h - haul run --decide A --tag B: measures again, on this machine as it is, what a
 * comparison of A with the runs tagged B cannot decide, until each case is decided, all looks are
 * taken or the time is spent.
 *
 * A look is one comparison. Each further look has the results of some more runs of one process
 * each, of the undecided cases alone; where B has no run yet, the first look has those of all cases
 * of A. There are at most DECIDE_LOOKS, and each is held to that share of every error rate
 * (diff.h): repeated looks do not add up to more errors than one. The runs know their look and how
 * many there may be (run.look, run.looks), so that every later comparison of them is held to the
 * same, and another haul run --decide goes on where this one ended. */
#pragma once

#include "runner/cli/run_options.h"
#include "runner/run/run.h"

/* Runs per look, and of the first one, which must tell more. */
enum { DECIDE_LOOKS = 5, DECIDE_RUNS = 3, DECIDE_RUNS_FIRST = DIFF_PROCESSES_USUAL };

/* request: for each run; its looks are filled in. The last comparison is shown; command->code is
 * that of the runs. */
enum status decide_run(struct command *command, struct run_request *request,
                       struct error *err) CHECK_RESULT;
