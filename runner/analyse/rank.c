#include "runner/analyse/rank.h"

#include "runner/analyse/distributions.h"
#include "runner/analyse/samples.h"

#include <math.h>
#include <stdlib.h>

/* Ways in which U comes to u, for all u: counts[u] of choose(a + b, a). The generating function is
 * prod (1 - q^(b+i)) / (1 - q^i) for i = 1 .. a (Mann and Whitney 1947); doubles are exact enough
 * for 30 a side (10^17 ways). */
static double *ways_of(size_t a_count, size_t b_count, size_t *length) {
  *length = a_count * b_count + 1;
  double *ways = calloc(*length, sizeof *ways);
  if (ways == NULL) {
    abort(); /* as arena.h does: no condition to recover from */
  }
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

double rank_exact_upper(size_t a_count, size_t b_count, size_t u) {
  size_t length = 0;
  double *ways = ways_of(a_count, b_count, &length);
  double all = 0;
  double upper = 0;
  /* By symmetry from the low end, where the ways are few and exact. */
  for (size_t i = 0; i < length; i++) {
    all += ways[i];
    upper += i + u < length ? ways[i] : 0;
  }
  free(ways);
  return upper / all;
}

/* Sum of t^3 - t over groups of equal values. */
static double tie_sum(const double *a, size_t a_count, const double *b, size_t b_count,
                      double shift) {
  const size_t count = a_count + b_count;
  double *all = reallocarray(NULL, count, sizeof *all);
  if (all == NULL) {
    abort();
  }
  for (size_t i = 0; i < a_count; i++) {
    all[i] = a[i] - shift;
  }
  for (size_t i = 0; i < b_count; i++) {
    all[a_count + i] = b[i];
  }
  samples_sort(all, count);
  double sum = 0;
  for (size_t first = 0; first < count;) {
    size_t last = first + 1;
    while (last < count && all[last] == all[first]) {
      last++;
    }
    const double size = (double)(last - first);
    sum += size * size * size - size;
    first = last;
  }
  free(all);
  return sum;
}

double rank_upper_p(const double *a, size_t a_count, const double *b, size_t b_count,
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
  if (!ties && a_count <= RANK_EXACT_MAX && b_count <= RANK_EXACT_MAX) {
    return rank_exact_upper(a_count, b_count, (size_t)u);
  }
  const double n = (double)a_count;
  const double m = (double)b_count;
  const double total = n + m;
  const double tied = tie_sum(a, a_count, b, b_count, shift);
  const double variance = n * m / 12 * (total + 1 - tied / (total * (total - 1)));
  return variance > 0 ? normal_upper((u - n * m / 2 - 0.5) / sqrt(variance)) : 1;
}

double rank_p(const double *a, size_t a_count, const double *b, size_t b_count, double margin) {
  const double above = rank_upper_p(a, a_count, b, b_count, margin);
  /* The other side on purpose. NOLINTNEXTLINE(readability-suspicious-call-argument) */
  const double below = rank_upper_p(b, b_count, a, a_count, margin);
  const double p = 2 * (above < below ? above : below);
  return p > 1 ? 1 : p;
}

/* Largest number of differences that may be cut off each end: P(U <= cut - 1) <= alpha / 2. */
static size_t cut_of(size_t a_count, size_t b_count, double alpha) {
  if (a_count > RANK_EXACT_MAX || b_count > RANK_EXACT_MAX) {
    const double n = (double)a_count;
    const double m = (double)b_count;
    const double cut =
        n * m / 2 - student_quantile(1 - alpha / 2, INFINITY) * sqrt(n * m * (n + m + 1) / 12);
    return cut > 0 ? (size_t)cut : 0;
  }
  size_t length = 0;
  double *ways = ways_of(a_count, b_count, &length);
  double all = 0;
  for (size_t i = 0; i < length; i++) {
    all += ways[i];
  }
  size_t cut = 0;
  double lower = 0;
  /* A hair of room: 1 - 0.9 is a little less than 0.1 in binary. */
  while (cut < length && (lower + ways[cut]) / all <= alpha / 2 * (1 + 1e-9)) {
    lower += ways[cut++];
  }
  free(ways);
  return cut;
}

double rank_difference(const double *a, size_t a_count, const double *b, size_t b_count,
                       double confidence, struct interval *interval) {
  *interval = (struct interval){-INFINITY, INFINITY};
  const size_t count = a_count * b_count;
  if (count == 0) {
    return NAN;
  }
  double *differences = reallocarray(NULL, count, sizeof *differences);
  if (differences == NULL) {
    abort();
  }
  for (size_t i = 0; i < a_count; i++) {
    for (size_t j = 0; j < b_count; j++) {
      differences[i * b_count + j] = a[i] - b[j];
    }
  }
  const double median = samples_median_in_place(differences, count);
  const size_t cut = cut_of(a_count, b_count, 1 - confidence);
  if (cut > 0) {
    *interval = (struct interval){differences[cut - 1], differences[count - cut]};
  }
  free(differences);
  return median;
}
