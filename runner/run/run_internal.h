/* run_internal.h - what a run measured, read back from the database and shown: its result on
 * stdout, and on stderr what was skipped, which saved queries read it, and how many cases came to
 * what. */
#pragma once

#include "runner/run/run.h"
#include "runner/run/settle.h"
#include "runner/run/status_line.h"

/* A run while it is measured, and after. */
struct run_state {
  const struct run_request *request;
  const struct plan *plan;
  struct record *record;
  uint32_t processes;
  bool resumed; /* some of it was measured before */
  struct status_line line;
  bool interrupt_said; /* a note told that the run ends after the case */
  bool lock_said;      /* a warning told that the database is locked */
  size_t done, total;  /* of the progress: without what was measured before */
  size_t counts[case_status_name_count];
  struct telemetry_extent extents[MACHINE_GPUS_MAX];
  struct interference interference;
  struct settle settle;
  struct supervise_options options;
  struct supervisor *supervisor;
  struct lock *owner; /* of a new run */
  uint64_t started_ns;
  int64_t number;    /* of the run in the database */
  const char *place; /* where it is recorded while another program holds the database; NULL =
                        nowhere else */
  struct arena arena;
};

/* Shows what came of a run that ended. Returns the exit code; errors were said. resume: the command
 * that measures the rest; NULL = none is needed. */
int run_show(const struct run_state *state, const char *uuid, const char *resume);
