/* page_results.h - what a run measured, on a page: give page_results_output() to
 * run_result_print(), and matrices become tables coloured as on a terminal, sweeps a chart with
 * their table folded away below it.
 *
 * Charts come first: page_results_chart() takes what curves_new_drawn_by() draws, each with the
 * name of its block as title, and keeps it until that block is laid out. Blocks that are matrices
 * and curves of fewer than three points are not drawn. */
#ifndef HAUL_RUNNER_RENDER_PAGE_RESULTS_H
#define HAUL_RUNNER_RENDER_PAGE_RESULTS_H

#include "engine/base/arena.h"
#include "runner/render/plot.h"
#include "runner/table/output.h"

struct page_chart {
  const char *name; /* of its block */
  const char *svg;
};

struct page_results {
  FILE *page;     /* borrowed */
  const char *id; /* what ids of this run's elements begin with; borrowed */
  struct arena arena;
  struct page_chart *charts;
  size_t chart_count, chart_capacity;
  struct output_backend backend;
  struct output output;
  const struct page_chart *chart; /* of the block that is laid out; NULL = none, or it is drawn */
  const char *title;              /* the last heading; "" = none */
  unsigned headings;              /* of the block so far */
  bool open;                      /* a block is begun */
  bool key_shown;                 /* what the colours of matrices mean */
};

void page_results_init(struct page_results *results, FILE *page, const char *id);
/* Ends the last block. */
void page_results_fini(struct page_results *results);
/* For curves_new_drawn_by(); context is the struct page_results. */
void page_results_chart(void *context, const struct plot *plot);
const struct output *page_results_output(const struct page_results *results);

#endif
