#include "engine/case/visits.h"

#include <math.h>
#include <stdlib.h>

/* The fewest with a 95 % interval of their median. */
enum { VISITS_TRIALS_LEAST = 6 };

ENUM_NAMES_DEFINE(settled, SETTLED_LIST)

struct visit {
  const double *values; /* sorted */
  size_t count;
  bool precise, calm;
};

void visits_shorten(struct measure *measure, uint32_t iterations) {
  measure->max_time_ns /= 2;
  if (measure->trials_min > VISITS_TRIALS_LEAST) {
    measure->trials_min = VISITS_TRIALS_LEAST;
  }
  if (measure->iterations == 0 && measure->min_trial_ns >= VISITS_LONG_TRIAL_NS) {
    measure->iterations = (iterations + 1) / 2;
  }
}

static int visits_compare(const void *a, const void *b) {
  const double x = *(const double *)a;
  const double y = *(const double *)b;
  return (x > y) - (x < y);
}

static double visits_half_width(const struct visits_found *found) {
  return (found->high_ns - found->low_ns) / (2 * found->undisturbed_ns);
}

/* Of the values of one visit, which are left sorted. */
static struct visit visits_look(double *values, size_t count, double precision,
                                struct summary *summary) {
  summary_of_values(values, count, summary);
  const double second = values[count > 1];
  const double half_width = (summary->median_high_ns - summary->median_low_ns) / 2;
  const bool precise = summary->median_high_ns > 0 && half_width <= precision * summary->median_ns;
  return (struct visit){.values = values,
                        .count = count,
                        .precise = precise,
                        .calm = summary->median_ns <= second * (1 + VISITS_CALM)};
}

/* Of a single visit. */
static void visits_take_first(const struct visit *visit, const struct summary *summary, bool noisy,
                              struct visits_found *found) {
  const bool known = visit->precise || (visit->calm && !noisy);
  found->settled = known && !noisy ? SETTLED_YES : SETTLED_BUDGET;
  if (known) {
    found->undisturbed_ns = summary->median_ns;
    found->low_ns = visit->precise ? summary->median_low_ns : summary->min_ns;
    found->high_ns = fmax(summary->median_high_ns, summary->median_ns);
  }
}

/* The rate of several visits, however wide its interval is. False: there are too few trials. */
static bool visits_find_rate(const struct visit *visits, size_t count, struct visits_found *found) {
  double fastest[VISITS_MAX * VISITS_VOTES];
  const size_t wanted = (size_t)VISITS_VOTES * (count < 3 ? count : 3);
  size_t taken = 0;
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < VISITS_VOTES && j < visits[i].count; j++) {
      fastest[taken++] = visits[i].values[j];
    }
  }
  if (taken < wanted) {
    return false;
  }
  qsort(fastest, taken, sizeof *fastest, visits_compare);
  found->undisturbed_ns = sorted_quantile(fastest, wanted, 0.25);
  found->high_ns = fastest[wanted - 1];
  found->low_ns = fmax(fastest[0] - 2 * (found->high_ns - fastest[0]), 0);
  return true;
}

/* Of at least two visits, in the order of time. */
static void visits_take_all(const struct visit *visits, size_t count, double precision, bool noisy,
                            struct visits_found *found) {
  struct visits_found all = {0};
  struct visits_found before = {0};
  const double wide = count < 3 ? VISITS_WIDE_OF_TWO : VISITS_WIDE;
  const bool known = visits_find_rate(visits, count, &all) && visits_half_width(&all) <= wide;
  const bool sure = count > VISITS_PATIENCE || (visits[0].precise && visits[1].precise);
  const bool steady =
      count >= VISITS_STEADY_FROM && visits_half_width(&all) <= VISITS_STEADY &&
      visits_find_rate(visits, count - VISITS_PATIENCE, &before) &&
      fabs(before.undisturbed_ns - all.undisturbed_ns) <= precision * all.undisturbed_ns;
  const bool alike = visits_half_width(&all) <= precision && (!noisy || sure);
  if (known) {
    found->undisturbed_ns = all.undisturbed_ns;
    found->low_ns = all.low_ns;
    found->high_ns = all.high_ns;
  }
  found->settled = known && (alike || steady) ? SETTLED_YES
                   : count < VISITS_MAX       ? SETTLED_BUDGET
                                              : SETTLED_NOISE;
}

static void visits_count_disturbed(const double *values, size_t count, struct visits_found *found) {
  size_t disturbed = 0;
  for (size_t i = 0; i < count; i++) {
    const double slower = values[i] / found->undisturbed_ns - 1;
    disturbed += slower > VISITS_DISTURBED;
    found->disturbed_most = fmax(found->disturbed_most, slower);
  }
  found->disturbed_share = (double)disturbed / (double)count;
}

void visits_judge(const struct trial *trials, size_t count, double precision, bool noisy,
                  struct visits_found *found) {
  *found = (struct visits_found){.visits = count > 0 ? trials[count - 1].visit + 1 : 0};
  double *values = memory_new(count + 1, sizeof *values);
  struct visit visits[VISITS_MAX];
  struct summary summary = {0};
  size_t visit_count = 0;
  size_t used = 0;
  for (size_t i = 0; i < count && visit_count < VISITS_MAX;) {
    const size_t begin = used;
    const uint32_t visit = trials[i].visit;
    for (; i < count && trials[i].visit == visit; i++) {
      if (summary_takes(&trials[i])) {
        values[used++] = (double)trials[i].elapsed_ns / (double)trials[i].iterations;
      }
    }
    if (used > begin) {
      visits[visit_count++] = visits_look(values + begin, used - begin, precision, &summary);
    }
  }
  found->precise = visit_count > 0 && visits[0].precise;
  if (visit_count == 1) {
    visits_take_first(&visits[0], &summary, noisy, found);
  } else if (visit_count > 1) {
    visits_take_all(visits, visit_count, precision, noisy, found);
  }
  if (found->undisturbed_ns > 0) {
    visits_count_disturbed(values, used, found);
  }
  free(values);
}
