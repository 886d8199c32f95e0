/* result_remarks.h - what the reader of a number must know, below a table or the matrices of a
 * block: why a case has no number, the note of its measurement, and that its trials ended before
 * the number was as precise as the scenario asks. */
#ifndef HAUL_RUNNER_RENDER_RESULT_REMARKS_H
#define HAUL_RUNNER_RENDER_RESULT_REMARKS_H

#include "engine/base/arena.h"
#include "engine/case/enums.h"
#include "runner/render/footnotes.h"
#include "runner/render/run_rows.h"

struct result_remarks {
  struct arena *arena; /* borrowed */
  const struct run_row **rows;
  size_t count, capacity;
  const char *stops[stop_name_count]; /* what is said of cases that ended so; NULL = nothing */
  struct footnotes notes;
};

void result_remarks_init(struct result_remarks *remarks, struct arena *arena);
/* One row that is shown; borrowed. */
void result_remarks_add(struct result_remarks *remarks, const struct run_row *row);
/* After the last row, before the first mark. */
void result_remarks_settle(struct result_remarks *remarks);
/* "[1]", "[1,2]"; "" = none. In the arena. */
const char *result_remarks_mark(const struct result_remarks *remarks, const struct run_row *row);
void result_remarks_print(const struct result_remarks *remarks, const struct style *style);

#endif
