/* result_block.h - one block of a result: as matrices, or as a table. For run_result.c. */
#ifndef HAUL_RUNNER_RENDER_RESULT_BLOCK_H
#define HAUL_RUNNER_RENDER_RESULT_BLOCK_H

#include "runner/render/run_result.h"

struct result_block {
  const char *name;
  const struct run_row **rows;
  size_t count, capacity;
  size_t shown; /* rows that are not skipped */
};

struct result_page {
  const struct style *style;
  const struct run_rows *flows; /* may be NULL */
  struct arena arena;
  bool printed; /* something stands on it already */
};

bool result_row_shown(const struct run_row *row);
/* "ce" of a transfer with one method, "" where there is none. */
const char *result_method(const struct run_row *row);
/* "64MiB"; "" where the flows of the case differ. */
const char *result_size(struct arena *arena, const struct run_row *row);
/* The axes that neither path nor size show: "method=sm threads=4". */
const char *result_axes(struct arena *arena, const struct run_row *row);
/* "numa0:pinned", "gpu3". */
const char *result_place(struct arena *arena, const char *place, const char *memory);
/* Half the width of the interval that the row gives, in per cent of the median; NAN = unknown. */
double result_spread(const struct run_row *row);
/* "0.94", "3.1", "1750" per cent. */
const char *result_percent(struct arena *arena, double percent);

/* All that is shown goes from one place to another, at few settings. */
bool result_is_matrix(struct result_page *page, const struct result_block *block);
enum status result_print_matrices(struct result_page *page, const struct result_block *block,
                                  struct error *err) CHECK_RESULT;
/* Several blocks share a table when each has one case. */
enum status result_print_table(struct result_page *page, const struct result_block *blocks,
                               size_t block_count, struct error *err) CHECK_RESULT;

#endif
