/* run_rows.h - the rows of the saved queries run-result and run-flows, kept to be laid out.
 *
 * Give run_rows_sink() to the query. Columns are known by their names; one that a query does not
 * have stays empty. Texts are escaped for a terminal and live as long as the rows. */
#ifndef HAUL_RUNNER_RENDER_RUN_ROWS_H
#define HAUL_RUNNER_RENDER_RUN_ROWS_H

#include "engine/base/arena.h"
#include "runner/render/rows.h"

/* NULL and NAN where the database has NULL. */
struct run_row {
  const char *name; /* column "case" */
  const char *block, *path, *axes;
  const char *kind, *method, *operation, *direction;
  const char *source, *source_memory, *target, *target_memory; /* "gpu0", "device" */
  double flows, under_load;
  double size_bytes;
  double gbps, gbps_low, gbps_high, percent_of_peak, peak_gbps;
  const char *limited_by;
  double ns_per_hop, cycles_per_hop;
  const char *measure; /* of arithmetic: "latency", "throughput" */
  double ns_per_op, cycles_per_op, ops_per_clock_sm;
  double median_ns, low_ns, high_ns;
  double processes;
  const char *status, *reason, *note;
  const char *stop; /* why the trials ended: "precision", "trials", "time" */
};

struct run_rows {
  struct row_sink sink; /* give this to the query */
  struct arena arena;
  struct run_row *items;
  size_t count, capacity;
  int *fields; /* of the columns; -1 = not kept */
  size_t column_count;
};

void run_rows_init(struct run_rows *rows);
void run_rows_fini(struct run_rows *rows);

#endif
