/* Means, variances and medians; values sorted whatever their order. */
#include "runner/statistics/sample.h"
#include "tests/runner/statistics/numbers.h"

enum { COUNT_MAX = 5000 };

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a;
  const double y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Orders that sorts by a pivot find hard, too: each median of three the smallest but one (Musser's,
 * in reverse) makes them as slow as the square. */
static double value_at(int order, size_t i, size_t count, uint64_t *seed) {
  const size_t half = i / 2 + (i % 2 == 0 ? 0 : count / 2);
  switch (order) {
  case 0:
    return noise_normal(seed);
  case 1:
    return (double)i;
  case 2:
    return (double)(count - i);
  case 3:
    return (double)(i < count / 2 ? i : count - i);
  case 4:
    return (double)(i % 3);
  case 5:
    return (double)half;
  default:
    return 1;
  }
}

TEST(every_order_is_sorted) {
  static const size_t COUNTS[] = {0, 1, 2, 3, 24, 63, 64, 65, 100, 1000, COUNT_MAX};
  static double values[COUNT_MAX];
  static double expected[COUNT_MAX];
  uint64_t seed = 1;
  for (size_t c = 0; c < COUNT_OF(COUNTS); c++) {
    for (int order = 0; order < 7; order++) {
      for (size_t i = 0; i < COUNTS[c]; i++) {
        values[i] = expected[i] = value_at(order, i, COUNTS[c], &seed);
      }
      qsort(expected, COUNTS[c], sizeof *expected, compare);
      const double median = sample_median(values, COUNTS[c]);
      sample_sort(values, COUNTS[c]);
      assert_memory_equal(values, expected, COUNTS[c] * sizeof *values);
      if (COUNTS[c] > 0) {
        ASSERT_NEAR(median, (values[(COUNTS[c] - 1) / 2] + values[COUNTS[c] / 2]) / 2, 0);
      }
    }
  }
}

/* Infinities, values of either sign and NAN, whatever its sign, of which few and many are sorted.
 */
TEST(what_is_no_number_comes_last) {
  static const size_t COUNTS[] = {6, 600};
  static const double PATTERN[] = {NAN, 2, -INFINITY, -3, -NAN, INFINITY};
  static double values[600];
  for (size_t c = 0; c < COUNT_OF(COUNTS); c++) {
    const size_t each = COUNTS[c] / COUNT_OF(PATTERN);
    for (size_t i = 0; i < COUNTS[c]; i++) {
      values[i] = PATTERN[i % COUNT_OF(PATTERN)];
    }
    sample_sort(values, COUNTS[c]);
    for (size_t i = 0; i < each; i++) {
      assert_true(values[i] == -INFINITY && values[each + i] == -3 && values[2 * each + i] == 2);
      assert_true(values[3 * each + i] == INFINITY);
      assert_true(isnan(values[4 * each + i]) && isnan(values[5 * each + i]));
    }
  }
}

TEST(medians_are_of_the_middle) {
  static const double ODD[] = {5, 1, 3};
  static const double EVEN[] = {5, 1, 3, 2};
  ASSERT_NEAR(sample_median(ODD, 3), 3, 0);
  ASSERT_NEAR(sample_median(EVEN, 4), 2.5, 0);
  assert_true(isnan(sample_median(ODD, 0)));
}
