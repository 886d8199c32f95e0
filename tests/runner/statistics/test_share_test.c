/* Exact tests of shares against values by hand. */
#include "runner/statistics/share_test.h"
#include "tests/runner/statistics/numbers.h"

TEST(fisher_by_hand) {
  static const struct {
    struct share a, b;
    double p;
  } CASES[] = {
      {{0, 5}, {2, 5}, 10.0 / 45}, /* both of b's, of two among ten */
      {{0, 5}, {5, 5}, 1.0 / 252}, {{1, 5}, {5, 5}, 5.0 / 210},        {{1, 5}, {0, 5}, 1},
      {{0, 0}, {1, 5}, 1},         {{3, 4}, {3, 4}, 1 - 6.0 * 1 / 28}, /* of six, b has 2, 3 or 4:
                                                                          not 2 */
  };
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    ASSERT_NEAR(share_test_fisher(CASES[i].a, CASES[i].b), CASES[i].p, 1e-9);
  }
}

TEST(binomial_by_hand) {
  ASSERT_NEAR(share_test_binomial((struct share){1, 5}, 0.05), 1 - pow(0.95, 5), 1e-9);
  ASSERT_NEAR(share_test_binomial((struct share){5, 5}, 0.5), 1.0 / 32, 1e-9);
  assert_true(share_test_binomial((struct share){0, 5}, 0) == 1);
  assert_true(share_test_binomial((struct share){1, 5}, 0) == 0);
  assert_true(share_test_binomial((struct share){1, 5}, 1) == 1);
}

/* Which other threads may be reading: lgamma() writes that one. */
TEST(no_global_is_written) {
  signgam = 7;
  ASSERT_NEAR(share_test_fisher((struct share){0, 5}, (struct share){5, 5}), 1.0 / 252, 1e-9);
  ASSERT_NEAR(share_test_binomial((struct share){5, 5}, 0.5), 1.0 / 32, 1e-9);
  assert_int_equal(signgam, 7);
}
