#include "runner/analysis/diff.h"

#include "engine/base/arena.h"
#include "engine/base/macros.h"
#include "engine/base/order.h"
#include "runner/statistics/sample.h"

#include <math.h>
#include <string.h>

static const double STEP_LEAST = 1e-5;   /* of a time: finer steps do not matter */
static const double EQUAL = 1e-12;       /* logarithms of one time */
static const double ON_STEP = 1e-5;      /* of a step: so near is a multiple */
static const double HALVES_MOST = 0.2;   /* of times that are the middle of two steps: medians */
static const double MIXED_COUNTS = 0.75; /* the middle has no edge */
/* Without noise, the difference of two rounding errors has a triangular distribution, of which 95 %
 * are within 1.90 standard deviations: over the 1.96 of a normal one. */
static const double TRIANGLE = 0.97;
enum { DIFFERENT_LEAST = 5, HALVES_LEAST = 10 };

/* A time of a case that may be of a clock with steps, in ns. */
struct step_time {
  uint32_t family; /* method: cases of one have one clock */
  double ns;
  size_t of; /* case */
};

ORDER_DEFINE(clock_compare_times, struct step_time,
             ORDER(x->family, y->family) ?: ORDER(x->ns, y->ns) ?: ORDER(x->of, y->of))

/* The different values of both sides, ascending; 0 where more than half of the values differ. */
static size_t clock_take_values(const struct diff_case *c, double *different) {
  const struct process_sample *sides[2] = {&c->a, &c->b};
  size_t count = 0;
  size_t used = 0;
  for (size_t s = 0; s < 2 && diff_has_both_sides(c); s++) {
    memcpy(different + count, sides[s]->values, sides[s]->count * sizeof *different);
    count += sides[s]->count;
  }
  sample_sort(different, count);
  for (size_t i = 0; i < count; i++) {
    if (used == 0 || different[i] - different[used - 1] >= EQUAL) {
      different[used++] = different[i];
    }
  }
  return 2 * used > count ? 0 : used;
}

/* The largest number that both are multiples of; below `least` it is some number below. */
static double clock_common_step(double x, double y, double least) {
  while (y > least) {
    const double rest = fabs(remainder(x, y));
    x = y;
    y = rest > ON_STEP * y ? rest : 0;
  }
  return y > 0 ? y : x;
}

/* The step that all times of a clock, in ascending order, are multiples of; 0 = there is none. */
static double clock_find_step(const struct step_time *times, size_t count) {
  double step = times[0].ns;
  size_t different = 1;
  for (size_t i = 1; i < count; i++) {
    if (times[i].ns > times[i - 1].ns * (1 + EQUAL)) {
      step = clock_common_step(times[i].ns, step, STEP_LEAST * times[0].ns);
      step = times[i].ns / round(times[i].ns / step); /* to all digits */
      different++;
    }
  }
  const size_t odd = SUM_OF(i, count, fabs(remainder(times[i].ns / step, 2)) > 0.5);
  if (different >= HALVES_LEAST && (double)odd <= HALVES_MOST * (double)count) {
    step *= 2;
  }
  return different >= DIFFERENT_LEAST && step > STEP_LEAST * times[0].ns ? step : 0;
}

static bool clock_reads_alike(const struct sample *side) {
  return side->variance < EQUAL;
}

/* The variance that rounding adds to the mean of one side. Noise beyond a step's size averages it
 * out: of the Fourier series of the error by the place between two steps, the term k falls with
 * exp(-2 (pi k sd)^2) (Widrow and Kollar 2008, "Quantization Noise", chapter 4). The first term's
 * exponent is taken for all. A side whose values are all equal is not near the middle of two steps,
 * where noise shows two values: `mixed`, the share of the sides that have these, is the part of a
 * step where it cannot be. */
static double clock_rounding(const struct process_sample *side, double step_ns, double mixed) {
  const struct sample sample = sample_summary(side->values, side->count);
  const double step = step_ns / exp(sample.mean);
  const double noise = fmax(0, sample.variance / (step * step) - 1.0 / 12);
  const double place =
      clock_reads_alike(&sample) ? pow(1 - MIXED_COUNTS * mixed, 2) : exp(-4 * M_PI * M_PI * noise);
  return step * step / 12 * place;
}

/* A case of a clock with steps, of which the error is not known yet. */
static const double ROUNDING_OPEN = -1; /* below 0 */

/* The share of the sides that show several times, of the cases that the times of one clock are of;
 * their error becomes open. */
static double clock_mixed_share(const struct step_time *times, size_t count,
                                struct diff_case *cases) {
  double sides = 0;
  double mixed = 0;
  for (size_t k = 0; k < count; k++) {
    struct diff_case *c = &cases[times[k].of];
    if (c->rounding >= 0) {
      const struct sample a = sample_summary(c->a.values, c->a.count);
      const struct sample b = sample_summary(c->b.values, c->b.count);
      mixed += !clock_reads_alike(&a) + !clock_reads_alike(&b);
      sides += 2;
      c->rounding = ROUNDING_OPEN;
    }
  }
  return mixed / sides;
}

/* Sets the error of these cases. The noise of a side whose values are all equal is less than a step
 * and is in its rounding. What peers say of it is seen at sides near the middle of two steps: the
 * fewer these are, the less it says. */
static void clock_set_rounding(const struct step_time *times, size_t count, double step,
                               struct diff_case *cases) {
  const double mixed = clock_mixed_share(times, count, cases);
  for (size_t k = 0; k < count; k++) {
    struct diff_case *c = &cases[times[k].of];
    if (c->rounding < 0) {
      const struct sample a = sample_summary(c->a.values, c->a.count);
      const struct sample b = sample_summary(c->b.values, c->b.count);
      const double alike = (clock_reads_alike(&a) + clock_reads_alike(&b)) / 2.0;
      c->rounded_noise = alike * fmax(0, 1 - 2 * mixed);
      const double pure = c->rounded_noise * c->rounded_noise; /* noise soon hides the triangle */
      c->rounding = (1 - (1 - TRIANGLE) * pure) *
                    sqrt(clock_rounding(&c->a, step, mixed) + clock_rounding(&c->b, step, mixed));
    }
  }
}

void diff_find_rounding(struct diff_case *cases, size_t count) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct step_time *times = NULL;
  size_t used = 0;
  size_t most = 0;
  for (size_t i = 0; i < count; i++) {
    const size_t own = cases[i].a.count + cases[i].b.count;
    most = own > most ? own : most;
    cases[i].rounding = cases[i].rounded_noise = 0;
  }
  double *different = arena_array(&arena, most, sizeof *different);
  for (size_t i = 0; i < count; i++) {
    const size_t own = clock_take_values(&cases[i], different);
    for (size_t k = 0; k < own; k++) {
      *ARENA_ADD(&arena, times, used) =
          (struct step_time){cases[i].families[DIFF_FAMILY_LEVELS - 1], exp(different[k]), i};
    }
  }
  ORDER_SORT(times, used, clock_compare_times);
  FOR_EACH_GROUP(first, end, used, times[end].family == times[first].family) {
    const double step = clock_find_step(times + first, end - first);
    if (step > 0) {
      clock_set_rounding(times + first, end - first, step, cases);
    }
  }
}
