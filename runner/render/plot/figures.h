/* figures.h - the figures that belong to the scenario of a run: plots of the saved queries that are
 * of that scenario (runner/record/saved.h), as its paper or document overlays them. */
#ifndef HAUL_RUNNER_RENDER_PLOT_FIGURES_H
#define HAUL_RUNNER_RENDER_PLOT_FIGURES_H

#include "runner/record/query.h"
#include "runner/render/plot/curves.h"

/* Gives each of them to the drawer, with the title of its query and the values that it is drawn
 * for. run: the parameter :run. None at all is STATUS_OK. */
enum status figures_draw(struct query *query, const char *scenario,
                         const struct query_parameter *run, curves_drawer *drawer, void *context,
                         struct error *err) CHECK_RESULT;

#endif
