/* joined.h - several results of the same columns as one: a batch of runs is one JSON array, one CSV
 * file, one Markdown table; as tables for people each stays on its own. */
#ifndef HAUL_RUNNER_CLI_JOINED_H
#define HAUL_RUNNER_CLI_JOINED_H

#include "runner/render/rows.h"

struct joined {
  struct row_sink sink; /* give this to the producers */
  const struct row_sink *below;
  bool join;
  bool begun; /* and not ended */
};

void joined_init(struct joined *joined, const struct row_sink *below, bool join);
/* After the last producer. */
enum status joined_end(struct joined *joined, struct error *err) CHECK_RESULT;

#endif
