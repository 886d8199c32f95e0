#include "runner/statistics/rank_test.h"

#include "engine/base/arena.h"
#include "engine/base/order.h"
#include "runner/statistics/distributions.h"

#include <math.h>
#include <stdbool.h>

/* ---- Mann-Whitney and Hodges-Lehmann ---- */

/* In how many of the choose(a + b, a) orders of the values U is u, for all u. The generating
 * function is prod (1 - q^(b+i)) / (1 - q^i) for i = 1 .. a (Mann and Whitney 1947); doubles are
 * exact enough for 30 values per side (10^17 orders). */
static double *rank_test_ways(size_t a_count, size_t b_count, size_t *length) {
  *length = a_count * b_count + 1;
  double *ways = sample_values_new(*length);
  ways[0] = 1;
  for (size_t i = 1; i <= a_count; i++) {
    for (size_t u = *length; u-- > b_count + i;) {
      ways[u] -= ways[u - b_count - i];
    }
    for (size_t u = i; u < *length; u++) {
      ways[u] += ways[u - i];
    }
  }
  return ways;
}

double rank_test_exact_upper(size_t a_count, size_t b_count, size_t u) {
  size_t length = 0;
  SCOPED(memory_free) double *ways = rank_test_ways(a_count, b_count, &length);
  double all = 0;
  double upper = 0;
  /* By symmetry from the low end, where the ways are few and exact. */
  for (size_t i = 0; i < length; i++) {
    all += ways[i];
    upper += i + u < length ? ways[i] : 0;
  }
  return upper / all;
}

/* Sum of t^3 - t over groups of equal values. */
static double rank_test_tie_sum(const double *a, size_t a_count, const double *b, size_t b_count,
                                double shift) {
  const size_t count = a_count + b_count;
  SCOPED(memory_free) double *all = sample_values_new(count);
  for (size_t i = 0; i < a_count; i++) {
    all[i] = a[i] - shift;
  }
  for (size_t i = 0; i < b_count; i++) {
    all[a_count + i] = b[i];
  }
  sample_sort(all, count);
  double sum = 0;
  FOR_EACH_GROUP(first, last, count, all[last] == all[first]) {
    const double size = (double)(last - first);
    sum += size * size * size - size;
  }
  return sum;
}

double rank_test_upper_p(const double *a, size_t a_count, const double *b, size_t b_count,
                         double shift) {
  if (a_count == 0 || b_count == 0) {
    return NAN;
  }
  double u = 0;
  bool ties = false;
  for (size_t i = 0; i < a_count; i++) {
    for (size_t j = 0; j < b_count; j++) {
      const double difference = a[i] - shift - b[j];
      u += difference > 0 ? 1 : difference == 0 ? 0.5 : 0;
      ties = ties || difference == 0;
    }
  }
  if (!ties && a_count <= RANK_TEST_EXACT_MAX && b_count <= RANK_TEST_EXACT_MAX) {
    return rank_test_exact_upper(a_count, b_count, (size_t)u);
  }
  const double n = (double)a_count;
  const double m = (double)b_count;
  const double total = n + m;
  const double tied = rank_test_tie_sum(a, a_count, b, b_count, shift);
  const double variance = n * m / 12 * (total + 1 - tied / (total * (total - 1)));
  return variance > 0 ? normal_upper((u - n * m / 2 - 0.5) / sqrt(variance)) : 1;
}

double rank_test_p(const double *a, size_t a_count, const double *b, size_t b_count,
                   double margin) {
  const double above = rank_test_upper_p(a, a_count, b, b_count, margin);
  /* The sides are swapped on purpose. NOLINTNEXTLINE(readability-suspicious-call-argument) */
  const double below = rank_test_upper_p(b, b_count, a, a_count, margin);
  const double p = 2 * (above < below ? above : below);
  return p > 1 ? 1 : p;
}

/* Largest number of differences that may be cut off each end: P(U <= cut - 1) <= alpha / 2. */
static size_t rank_test_cut(size_t a_count, size_t b_count, double alpha) {
  if (a_count > RANK_TEST_EXACT_MAX || b_count > RANK_TEST_EXACT_MAX) {
    const double n = (double)a_count;
    const double m = (double)b_count;
    const double cut =
        n * m / 2 - student_quantile(1 - alpha / 2, INFINITY) * sqrt(n * m * (n + m + 1) / 12);
    return cut > 0 ? (size_t)cut : 0;
  }
  size_t length = 0;
  SCOPED(memory_free) double *ways = rank_test_ways(a_count, b_count, &length);
  const double all = TOTAL_OF(i, length, ways[i]);
  size_t cut = 0;
  double lower = 0;
  /* A hair of room: 1 - 0.9 is a little less than 0.1 in binary. */
  while (cut < length && (lower + ways[cut]) / all <= alpha / 2 * (1 + 1e-9)) {
    lower += ways[cut++];
  }
  return cut;
}

double rank_test_difference(const double *a, size_t a_count, const double *b, size_t b_count,
                            double confidence, struct interval *interval) {
  *interval = (struct interval){-INFINITY, INFINITY};
  const size_t count = a_count * b_count;
  if (count == 0) {
    return NAN;
  }
  SCOPED(memory_free) double *differences = sample_values_new(count);
  for (size_t i = 0; i < a_count; i++) {
    for (size_t j = 0; j < b_count; j++) {
      differences[i * b_count + j] = a[i] - b[j];
    }
  }
  sample_sort(differences, count);
  const size_t cut = rank_test_cut(a_count, b_count, 1 - confidence);
  if (cut > 0) {
    *interval = (struct interval){differences[cut - 1], differences[count - cut]};
  }
  return sorted_quantile(differences, count, 0.5);
}

/* ---- Pettitt's change point ---- */

struct ranked_value {
  double value, rank;
  size_t at;
};

ORDER_DEFINE(change_point_compare_values, struct ranked_value,
             ORDER(x->value, y->value) ?: ORDER(x->at, y->at))

ORDER_DEFINE(change_point_compare_places, struct ranked_value, ORDER(x->at, y->at))

/* Ranks from 1, in the order of time; equal values share their mean rank. */
static void change_point_rank(const double *values, size_t count, struct ranked_value *ranked) {
  for (size_t i = 0; i < count; i++) {
    ranked[i] = (struct ranked_value){values[i], 0, i};
  }
  ORDER_SORT(ranked, count, change_point_compare_values);
  FOR_EACH_GROUP(first, last, count, ranked[last].value == ranked[first].value) {
    for (size_t i = first; i < last; i++) {
      ranked[i].rank = (double)(first + last + 1) / 2;
    }
  }
  ORDER_SORT(ranked, count, change_point_compare_places);
}

/* Values from `first` on that are still to be split. */
struct stretch {
  size_t first, count;
};

/* The largest U_t is now and then some runs off: of those near it, the place that explains most of
 * the ranks' squares. */
static const double NEAR_BEST = 0.75;

/* Pettitt's test of one stretch; false = no place to split it. */
static bool change_point_split(const double *values, struct stretch stretch, double margin,
                               double alpha, double worth, struct ranked_value *scratch,
                               struct change_point *change) {
  const double n = (double)stretch.count;
  change_point_rank(values + stretch.first, stretch.count, scratch);
  double sum = 0; /* of the ranks before t */
  double best = 0;
  for (size_t t = 1; t < stretch.count; t++) {
    sum += scratch[t - 1].rank;
    scratch[t - 1].value =
        fabs(2 * sum - (double)t * (n + 1)); /* U_t: the value is of no use now */
    best = fmax(best, scratch[t - 1].value);
  }
  double most = 0; /* squares of the ranks that the change explains */
  for (size_t t = 1; t < stretch.count; t++) {
    const double u = scratch[t - 1].value;
    const double squares = u * u / ((double)t * (n - (double)t));
    if (u >= NEAR_BEST * best && squares > most) {
      most = squares;
      change->at = stretch.first + t;
    }
  }
  change->p = 2 * exp(-6 * worth * best * best / (n * n * n + n * n));
  if (best == 0 || change->p >= alpha) {
    return false;
  }
  const size_t before = change->at - stretch.first;
  const double step = sample_median(values + change->at, stretch.count - before) -
                      sample_median(values + stretch.first, before);
  return fabs(step) >= log1p(margin);
}

ORDER_DEFINE(change_point_compare_times, struct change_point, ORDER(x->at, y->at))

size_t change_point_find(const double *values, size_t count, double margin, double alpha,
                         double worth, struct change_point *changes) {
  size_t found = 0;
  size_t waiting = 1;
  SCOPED(memory_free) struct ranked_value *scratch = memory_new(count, sizeof *scratch);
  SCOPED(memory_free) struct stretch *stretches = memory_new(count + 2, sizeof *stretches);
  stretches[0] = (struct stretch){0, count};
  while (waiting > 0) {
    const struct stretch stretch = stretches[--waiting];
    struct change_point change = {stretch.first, 1};
    if (change_point_split(values, stretch, margin, alpha, worth, scratch, &change)) {
      changes[found++] = change;
      stretches[waiting++] = (struct stretch){stretch.first, change.at - stretch.first};
      stretches[waiting++] = (struct stretch){change.at, stretch.first + stretch.count - change.at};
    }
  }
  ORDER_SORT(changes, found, change_point_compare_times);
  return found;
}
