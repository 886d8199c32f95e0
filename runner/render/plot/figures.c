#include "runner/render/plot/figures.h"

enum status figures_draw(struct query *query, const char *scenario,
                         const struct query_parameter *run, curves_drawer *drawer, void *context,
                         struct error *err) {
  struct arena arena = {0};
  enum status status = STATUS_OK;
  for (size_t i = 0; i < saved_query_count() && status == STATUS_OK; i++) {
    struct saved_query saved;
    saved_query_at(i, &arena, &saved);
    if (saved.plot_count > 0 && saved_query_is_of(&saved, scenario) &&
        saved_query_parameter(&saved, ":run") != NULL) {
      struct curves *curves = curves_new_drawn_by(drawer, context);
      curves_draw_as(curves, &saved);
      status = query_run_saved(query, saved.name, run, 1, NULL, curves_sink(curves), err);
      curves_free(curves);
    }
  }
  arena_fini(&arena);
  return status;
}
