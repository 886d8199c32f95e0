/* compare_shapes.c - which sides of a comparison have two modes or one process apart. */
#include "runner/analysis/compare_internal.h"

#include <math.h>

static struct side_shape shapes_of_side(const struct results *results,
                                        const struct results_case *bench,
                                        const struct process_sample *sample, double margin,
                                        double *scratch, const int64_t *process_ids) {
  const struct shape found = shape_find(sample->values, sample->count, margin, scratch);
  struct side_shape shape = {.kind = found.kind};
  switch (found.kind) {
  case SHAPE_PLAIN:
    break;
  case SHAPE_TWO_MODES:
    shape.counts[0] = found.low_count;
    shape.counts[1] = found.high_count;
    shape.values[0] = figure_value(bench, exp(found.low));
    shape.values[1] = figure_value(bench, exp(found.high));
    break;
  case SHAPE_OUTLIER:
    shape.run_id = results->runs[process_sample_run(sample, found.outlier)].ref.id;
    shape.process_id = process_ids[process_sample_process(sample, found.outlier)];
    shape.counts[0] = 1;
    shape.counts[1] = sample->count - 1;
    shape.values[0] = figure_value(bench, exp(sample->values[found.outlier]));
    shape.values[1] = figure_value(bench, exp(found.high));
    break;
  }
  return shape;
}

void compare_set_shapes(struct comparison *comparison) {
  const struct results *results = comparison->results;
  SCOPED(arena_fini) struct arena arena = {0};
  double *scratch = arena_array(&arena, results->median_count, sizeof *scratch);
  for (size_t i = 0; i < comparison->row_count; i++) {
    struct comparison_row *row = &comparison->rows[i];
    const struct diff_case *c = &comparison->inputs[row->input];
    const struct process_sample *samples[SIDES] = {&c->a, &c->b};
    for (size_t s = 0; s < SIDES; s++) {
      row->sides[s].shape = shapes_of_side(results, &results->cases[row->bench], samples[s],
                                           log1p(c->delta), scratch, comparison->process_ids);
    }
  }
}
