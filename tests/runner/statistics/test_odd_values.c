#include "runner/statistics/odd_values.h"
#include "tests/runner/statistics/numbers.h"

/* Rosner 1983, table 1 of the paper, as in the NIST/SEMATECH e-Handbook of Statistical Methods,
 * section 1.3.5.17.3: of 54 values three are outliers at 5 %; at 0.1 % fewer. */
TEST(the_published_example_has_none_at_so_strict_a_level) {
  static const double VALUES[] = {-0.25, 0.68, 0.94, 1.15, 1.20, 1.26, 1.26, 1.34, 1.38, 1.43, 1.49,
                                  1.49,  1.55, 1.56, 1.58, 1.65, 1.69, 1.70, 1.76, 1.77, 1.81, 1.91,
                                  1.94,  1.96, 1.99, 2.06, 2.09, 2.10, 2.14, 2.15, 2.23, 2.24, 2.26,
                                  2.35,  2.37, 2.40, 2.47, 2.54, 2.62, 2.64, 2.90, 2.92, 2.92, 2.93,
                                  3.21,  3.26, 3.30, 3.59, 3.68, 4.30, 4.64, 5.34, 5.42, 6.01};
  size_t order[sizeof VALUES / sizeof *VALUES];
  assert_int_equal(odd_values_find(VALUES, sizeof VALUES / sizeof *VALUES, order), 0);
}

TEST(odd_ones_are_last) {
  const double values[] = {1.0, 9.0, 1.1, 0.9, 1.05, -7.0, 0.95, 1.02, 0.98, 1.01};
  size_t order[10];
  assert_int_equal(odd_values_find(values, 10, order), 2);
  static const size_t WANTED[] = {0, 2, 3, 4, 6, 7, 8, 9, 5, 1};
  for (size_t i = 0; i < 8; i++) {
    assert_int_equal(order[i], WANTED[i]);
  }
  assert_int_equal(order[8] + order[9], 6);
}

TEST(two_levels_and_equal_values_have_none) {
  const double levels[] = {1, 1.01, 5, 0.99, 5.01, 1.02, 4.99, 1, 0.98, 1.01};
  const double equal[] = {2, 2, 2, 2, 2, 2};
  size_t order[10];
  assert_int_equal(odd_values_find(levels, 10, order), 0);
  for (size_t i = 0; i < 10; i++) {
    assert_int_equal(order[i], i);
  }
  assert_int_equal(odd_values_find(equal, 6, order), 0);
  assert_int_equal(odd_values_find(equal, 2, order), 0);
}

/* One sample in a thousand: of 4,000 at most 4 + 3 x 2. */
TEST(normal_samples_have_hardly_any) {
  uint64_t seed = 3;
  static const size_t COUNTS[] = {5, 10, 30, 120};
  for (size_t c = 0; c < sizeof COUNTS / sizeof *COUNTS; c++) {
    size_t some = 0;
    for (int sample = 0; sample < 4000; sample++) {
      double values[120];
      size_t order[120];
      for (size_t i = 0; i < COUNTS[c]; i++) {
        values[i] = noise_normal(&seed);
      }
      some += odd_values_find(values, COUNTS[c], order) > 0;
    }
    assert_true(some <= 10);
  }
}
