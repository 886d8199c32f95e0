/* shape.h - samples that are not of one kind: two modes, or one value far from all others.
 *
 * Two modes: the values are split at the widest gap between neighbours with two values or more on
 * either side, and the gap is held against the spread within both parts. Of SHAPE_MODES_MIN normal
 * values or more, one sample in a thousand has two modes (simulated for 6 to 50 values; the limit
 * is fitted to that). One value: a t test of it against all others, of the lowest and the highest,
 * one sample in a thousand (externally studentised, as in Grubbs 1969, "Procedures for detecting
 * outlying observations in samples", Technometrics 11). Gaps and distances below the margin are
 * none.
 *
 * Levels (shape_levels()) are two modes, found at a gap that is less wide, or by a valley: of many
 * values some lie between two modes, and then no gap is wide. The values are divided where least
 * spread is left within both parts. Between the medians of these, the middle third has fewer values
 * than the emptier of the outer thirds, by a sign test: of one mode it has as many. Equal values
 * count once.
 *
 * Values are natural logarithms of times. Nothing here fails. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { SHAPE_MODES_MIN = 6, SHAPE_OUTLIER_MIN = 4 };

enum shape_kind { SHAPE_PLAIN, SHAPE_TWO_MODES, SHAPE_OUTLIER };

struct shape {
  enum shape_kind kind;
  size_t low_count, high_count; /* of two modes */
  double low, high;             /* their medians; of an outlier, high: the median of the others */
  size_t outlier;               /* in the values */
};

/* margin: of logarithms. scratch holds count. */
struct shape shape_find(const double *values, size_t count, double margin, double *scratch);
/* Levels, of which at most one sample of one mode in a hundred has some: for values that are tested
 * again, each against the upper or the lower mode. *shape is always set. */
bool shape_levels(const double *values, size_t count, struct shape *shape, double *scratch);
