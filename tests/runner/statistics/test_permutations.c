/* Units that are dealt to the sides in other ways. */
#include "runner/statistics/permutations.h"
#include "tests/runner/statistics/numbers.h"

TEST(one_deal_of_so_many) {
  ASSERT_NEAR(permutations_least_p(2, 2), 2.0 / 6, 1e-9);
  ASSERT_NEAR(permutations_least_p(4, 4), 2.0 / 70, 1e-9);
  ASSERT_NEAR(permutations_least_p(3, 7), 2.0 / 120, 1e-9);
}

TEST(levels_that_a_deal_could_put_on_either_side) {
  static const double LEVELS[] = {1, 1.001, 1.0005, 1.05, 1.0503, 1.0507};
  static const double MORE[] = {1.0501, 1.0009, 1.0004, 1.0506, 1.0504, 1.0007};
  static const double LOW[] = {1.0002, 1.0004, 1.0007, 1.0001, 1.0006, 1.0009};
  static const double HIGH[] = {1.0502, 1.0504, 1.0507, 1.0501, 1.0506, 1.0509};
  double scratch[24];
  const struct process_sample mixed = {.values = LEVELS, .count = 6};
  const struct process_sample more = {.values = MORE, .count = 6};
  const struct process_sample low = {.values = LOW, .count = 6};
  const struct process_sample high = {.values = HIGH, .count = 6};
  const struct process_sample three = {.values = HIGH, .count = 3};
  assert_true(permutations_mixed_modes(&mixed, &more, 0.01, scratch));
  assert_true(permutations_mixed_modes(&mixed, &three, 0.01, scratch)); /* its three low ones */
  assert_false(permutations_mixed_modes(&low, &high, 0.01, scratch));
  assert_false(permutations_mixed_modes(&mixed, &low, 0.01, scratch)); /* nine are low */
  assert_false(permutations_mixed_modes(&high, &mixed, 0.01, scratch));
  assert_false(permutations_mixed_modes(&mixed, &more, 0.1, scratch)); /* levels are too near */
}

TEST(an_exchange_leaves_no_change) {
  static const double A[] = {1, 2};
  static const double B[] = {11, 14};
  const struct variance_prior none = {.pooled_df = 2};
  const struct effect same = permutations_exchange(A, B, 0, &none); /* 1, 14 against 2, 11 */
  ASSERT_NEAR(same.difference, 1, 1e-12);
  ASSERT_NEAR(same.error, sqrt((13 * 13 + 9 * 9) / 4.0), 1e-12);
  const struct effect other = permutations_exchange(A, B, 1, &none); /* 1, 11 against 2, 14 */
  ASSERT_NEAR(other.difference, -2, 1e-12);
  assert_true(effect_p(&other, 0) > 0.5);
}
