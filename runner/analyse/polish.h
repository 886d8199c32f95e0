/* polish.h - a table fitted so that a few wild cells do not pull it: median polish (Tukey 1977,
 * "Exploratory Data Analysis", chapter 11), for tables with holes and for symmetric ones.
 *
 * A cell is level + effect[a] + effect[b] + residual. Effects below `second` are of the first kind
 * (rows), the others of the second (columns); a symmetric table has one kind (second =
 * effect_count), and each of its cells has two of them. The effects of a kind have the median 0.
 *
 * An effect is safe from one wild cell where it has POLISH_CELLS_MIN of them or more. */
#ifndef HAUL_RUNNER_ANALYSE_POLISH_H
#define HAUL_RUNNER_ANALYSE_POLISH_H

#include <stdbool.h>
#include <stddef.h>

enum { POLISH_CELLS_MIN = 3 };

struct polish_cell {
  size_t a, b;
  double value, residual;
};

/* Whether every effect has POLISH_CELLS_MIN cells. */
bool polish_is_safe(const struct polish_cell *cells, size_t count, size_t effect_count);
/* Sets effects, the level and the residuals. */
void polish_fit(struct polish_cell *cells, size_t count, size_t effect_count, size_t second,
                double *effects, double *level);
/* How many of the cells the fit makes fit: parameters that it chose. */
size_t polish_parameters(size_t effect_count, size_t second);

#endif
