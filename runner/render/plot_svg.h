/* plot_svg.h - a plot (plot.h) as an SVG element inside a page.
 *
 * Curves are told apart by colour (classes c0 to c7 of the page's style), from the ninth on by
 * dashes as well, and each is named at its end. Every point says its values where a reader asks for
 * them, and the element has a title and a description for who does not see it. No errors: what
 * cannot be placed is left out, and without any point a line of text says so. */
#ifndef HAUL_RUNNER_RENDER_PLOT_SVG_H
#define HAUL_RUNNER_RENDER_PLOT_SVG_H

#include "runner/render/plot.h"

enum { PLOT_SVG_COLOURS = 8 };

/* The scale that shows most: x logarithmic where its values are nearer to equal factors than to
 * equal steps, y as well where it spans more than a factor of twenty. */
enum plot_scale plot_svg_scale(const struct plot *plot);

/* Append the element. id: letters, digits and '-', once in a page. */
void plot_svg(const struct plot *plot, enum plot_scale scale, const char *id, struct strbuf *text);

#endif
