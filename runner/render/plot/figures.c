#include "runner/render/plot/figures.h"

#include <fnmatch.h>

/* The plots of a query that are figures of that scenario alone. */
static struct saved_query figures_of(const struct saved_query *saved, const char *scenario,
                                     struct arena *arena) {
  struct saved_query chosen = *saved;
  struct saved_plot *plots = arena_array(arena, saved->plot_count + 1, sizeof *plots);
  chosen.plots = plots;
  chosen.plot_count = 0;
  for (size_t i = 0; i < saved->plot_count; i++) {
    const char *figure = saved->plots[i].figure;
    if (figure != NULL && fnmatch(figure, scenario, 0) == 0) {
      plots[chosen.plot_count++] = saved->plots[i];
    }
  }
  return chosen;
}

enum status figures_draw(struct query *query, const char *scenario,
                         const struct query_parameter *run, curves_drawer *drawer, void *context,
                         struct error *err) {
  struct arena arena = {0};
  enum status status = STATUS_OK;
  for (size_t i = 0; i < saved_query_count() && status == STATUS_OK; i++) {
    struct saved_query saved;
    saved_query_at(i, &arena, &saved);
    const struct saved_query chosen = figures_of(&saved, scenario, &arena);
    if (chosen.plot_count > 0) {
      struct curves *curves = curves_new_drawn_by(drawer, context);
      curves_draw_as(curves, &chosen);
      status = query_run_saved(query, chosen.name, run, 1, NULL, curves_sink(curves), err);
      curves_free(curves);
    }
  }
  arena_fini(&arena);
  return status;
}
