/* run_internal.h - what a run measured, read back from the database and shown: its result on
 * stdout, and on stderr what was skipped, which saved queries read it, and how many cases came to
 * what. */
#pragma once

#include "runner/run/run.h"

/* A run that ended; all borrowed. */
struct run_shown {
  const struct run_request *request;
  const struct plan *plan;
  const char *uuid;
  const char *database; /* where it is */
  int64_t number;       /* in it */
  size_t counts[case_status_name_count];
  size_t done, total; /* cases */
  bool resumed;       /* done and total leave out what was measured before; counts do not */
  uint64_t started_ns;
};

/* Returns the exit code; errors were said. */
int run_show(const struct run_shown *shown);
