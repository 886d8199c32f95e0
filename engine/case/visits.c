#include "engine/case/visits.h"

#include <math.h>
#include <stdlib.h>

enum { VISITS_FEW = 20 }; /* trials */

ENUM_NAMES_DEFINE(settled, SETTLED_LIST)

struct visit {
  double level;
  bool precise, calm;
};

uint64_t visits_gap_ns(uint32_t visits) {
  const uint64_t first_ns = UINT64_C(250000000); /* episodes on the hosts looked at: up to 0.2 s */
  return visits * first_ns;
}

static int visits_compare(const void *a, const void *b) {
  const double x = ((const struct visit *)a)->level;
  const double y = ((const struct visit *)b)->level;
  return (x > y) - (x < y);
}

/* Of the values of one visit, which are left sorted. */
static struct visit visits_look(double *values, size_t count, double precision,
                                struct summary *summary) {
  summary_of_values(values, count, summary);
  const double level =
      count > VISITS_FEW ? sorted_quantile(values, count, 1.0 / VISITS_FEW) : values[count > 1];
  const double half_width = (summary->median_high_ns - summary->median_low_ns) / 2;
  const bool precise = summary->median_high_ns > 0 && half_width <= precision * summary->median_ns;
  return (struct visit){level, precise, precise || summary->median_ns <= level * (1 + VISITS_CALM)};
}

/* How many of the sorted visits from the first on agree with it. */
static size_t visits_agreeing(const struct visit *visits, size_t count, double precision) {
  size_t agreeing = 0;
  while (agreeing < count && visits[agreeing].level <= visits[0].level * (1 + precision)) {
    agreeing++;
  }
  return agreeing;
}

/* How many visits in a row, up to the last, were not faster than those before. */
static size_t visits_in_vain(const struct visit *visits, size_t count, double precision) {
  size_t in_vain = 0;
  double fastest = visits[0].level;
  for (size_t i = 1; i < count; i++) {
    const bool faster = visits[i].level < fastest * (1 - precision);
    in_vain = faster ? 0 : in_vain + 1;
    fastest = faster ? visits[i].level : fastest;
  }
  return in_vain;
}

/* How many trials there are at that level. */
static size_t visits_support(const double *values, size_t count, double level, double precision) {
  size_t support = 0;
  for (size_t i = 0; i < count; i++) {
    support += fabs(values[i] - level) <= precision * level;
  }
  return support;
}

/* values: all of their trials. visits are left sorted. */
static void visits_find_level(struct visit *visits, size_t count, const double *values,
                              size_t value_count, double precision, bool noisy,
                              struct visits_found *found) {
  const size_t in_vain = visits_in_vain(visits, count, precision);
  const double first = visits[0].level;
  qsort(visits, count, sizeof *visits, visits_compare);
  size_t begin = 0;
  size_t agreeing = visits_agreeing(visits, count, precision);
  const bool precise = agreeing == count && visits[0].precise && visits[1].precise;
  bool enough = agreeing >= 2 && (in_vain >= VISITS_PATIENCE || !noisy || precise);
  if (agreeing < 2 && (first <= visits[0].level || /* it is the fastest one */
                       visits[1].level <= visits[0].level * (1 + VISITS_LUCK))) {
    begin = 1;
    agreeing = visits_agreeing(visits + 1, count - 1, precision);
    enough = agreeing >= VISITS_OUTVOTE;
  }
  const bool known =
      agreeing >= 2 && (enough || begin == 0) &&
      visits_support(values, value_count, visits[begin + 1].level, precision) >= VISITS_SUPPORT;
  if (known) {
    found->undisturbed_ns = visits[begin + 1].level;
    found->low_ns = visits[begin].level;
    found->high_ns = visits[begin + agreeing - 1].level;
  }
  found->settled = known && enough      ? SETTLED_YES
                   : count < VISITS_MAX ? SETTLED_BUDGET
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
  double *values = calloc(count + 1, sizeof *values);
  if (values == NULL) {
    abort(); /* for want of memory */
  }
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
  if (visit_count > 1) {
    visits_find_level(visits, visit_count, values, used, precision, noisy, found);
  } else if (visit_count > 0) {
    found->settled = visits[0].calm && !noisy ? SETTLED_YES : SETTLED_BUDGET;
  }
  if (visit_count == 1 && (noisy ? visits[0].precise : visits[0].calm)) {
    found->undisturbed_ns = summary.median_ns;
    found->low_ns = summary.median_low_ns;
    found->high_ns = summary.median_high_ns;
  }
  if (found->undisturbed_ns > 0) {
    visits_count_disturbed(values, used, found);
  }
  free(values);
}
