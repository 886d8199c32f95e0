#include "engine/case/visits.h"

#include <math.h>
#include <stdlib.h>

ENUM_NAMES_DEFINE(settled, SETTLED_LIST)

/* As many visits outvote one that is faster. */
enum { VISITS_OUTVOTE = 3 };

static int visits_compare_times(const void *a, const void *b) {
  const double x = *(const double *)a;
  const double y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Of the values of one visit, which are left sorted. */
static double visits_level(double *values, size_t count) {
  qsort(values, count, sizeof *values, visits_compare_times);
  return sorted_quantile(values, (count + 2) / 3, 0.5);
}

/* How many levels from the first on agree with it. */
static size_t visits_agreeing(const double *levels, size_t count, double precision) {
  size_t agreeing = 0;
  while (agreeing < count && levels[agreeing] <= levels[0] * (1 + precision)) {
    agreeing++;
  }
  return agreeing;
}

static void visits_find_level(double *levels, size_t count, double precision,
                              struct visits_found *found) {
  qsort(levels, count, sizeof *levels, visits_compare_times);
  const size_t first = visits_agreeing(levels, count, precision);
  const size_t next = first < 2 ? visits_agreeing(levels + 1, count - 1, precision) : 0;
  const size_t begin = first < 2 ? 1 : 0;
  const size_t agreeing = first < 2 ? next : first;
  if (first >= 2 || next >= VISITS_OUTVOTE) {
    found->settled = SETTLED_YES;
    found->undisturbed_ns = levels[begin + 1];
    found->low_ns = levels[begin];
    found->high_ns = levels[begin + agreeing - 1];
  } else {
    found->settled = found->visits < VISITS_MAX ? SETTLED_BUDGET : SETTLED_NOISE;
  }
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

void visits_judge(const struct trial *trials, size_t count, bool precise, double precision,
                  struct visits_found *found) {
  *found = (struct visits_found){.visits = count > 0 ? trials[count - 1].visit + 1 : 0};
  double *values = calloc(count + 1, sizeof *values);
  if (values == NULL) {
    abort(); /* for want of memory */
  }
  double levels[VISITS_MAX];
  size_t level_count = 0;
  size_t used = 0;
  for (size_t i = 0; i < count && level_count < VISITS_MAX;) {
    const size_t begin = used;
    const uint32_t visit = trials[i].visit;
    for (; i < count && trials[i].visit == visit; i++) {
      if (summary_takes(&trials[i])) {
        values[used++] = (double)trials[i].elapsed_ns / (double)trials[i].iterations;
      }
    }
    if (used > begin) {
      levels[level_count++] = visits_level(values + begin, used - begin);
    }
  }
  if (level_count == 1 && precise) {
    struct summary summary;
    summary_of_values(values, used, &summary);
    found->settled = SETTLED_YES;
    found->undisturbed_ns = summary.median_ns;
    found->low_ns = summary.median_low_ns;
    found->high_ns = summary.median_high_ns;
  } else if (level_count > 0) {
    visits_find_level(levels, level_count, precision, found);
  }
  if (found->undisturbed_ns > 0) {
    visits_count_disturbed(values, used, found);
  }
  free(values);
}
