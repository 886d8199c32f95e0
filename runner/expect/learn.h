/* learn.h - rows of a data file of expectations from a fleet's own runs.
 *
 * Cases that differ only in where they are measured belong together, on machines of one kind of GPU
 * and link. What a slow host or GPU measured is left out:
 * first hosts whose median is an outlier among those of all, then single values (robust.h); so one
 * slow host of twenty, or one slow GPU of eight, does not become usual. Of two hosts neither can be
 * said to be the slow one. Results above their peak are left out as well. The range is that of what
 * is left, the tolerance three times its robust spread, within bounds. */
#pragma once

#include "runner/record/query.h"
#include "runner/record/results.h"
#include "schema/expect/expect.h"

struct learn;
struct learn *learn_new(void);
/* Accepts NULL. */
void learn_free(struct learn *learn);

/* Once: the results of those runs that haul measured. gpu: a glob of the name of the GPUs that are
 * learned of; NULL = all. measured and query are of one database; *runs: how many were read. */
enum status learn_add(struct learn *learn, struct query *query, const struct results *results,
                      const char *gpu, size_t *runs, struct error *err) CHECK_RESULT;

struct learned {
  const struct expect_machine *machines;
  size_t machine_count;
  size_t rows, hosts;
  const char *const *left_out; /* "node07: host_to_device, 20 % below the others (4 rows)" */
  size_t left_out_count;
};

/* Once, after learn_add(). Texts belong to learn. */
struct learned learn_finish(struct learn *learn);
