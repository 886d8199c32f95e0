/* Reference values: limma 3.54 (fitFDist, squeezeVar). */
#include "runner/statistics/t_test.h"
#include "runner/statistics/sample.h"
#include "tests/runner/statistics/near.h"

enum { COUNT = 10 };
static const double VARIANCES[COUNT] = {0.21, 0.05, 0.9, 0.13, 0.4, 1.7, 0.33, 0.08, 0.6, 0.02};

static void fit(const double *variances, const double *dfs, size_t count, double df,
                double variance) {
  struct variance_prior prior;
  prior = variance_shrinkage_fit(variances, dfs, count);
  if (isinf(df)) {
    assert_true(isinf(prior.df));
  } else {
    ASSERT_NEAR(prior.df, df, 1e-9);
  }
  ASSERT_NEAR(prior.variance, variance, 1e-9);
}

static void prior_of_equal_and_unequal_degrees_of_freedom(void **state) {
  (void)state;
  const double equal[COUNT] = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4};
  fit(VARIANCES, equal, COUNT, 2.44142548869794, 0.181470931813177);
  const double unequal[COUNT] = {4, 4, 3, 2, 8, 8, 4, 3, 2, 4};
  fit(VARIANCES, unequal, COUNT, 2.78071320658016, 0.203529009352225);
}

static void variances_closer_than_chance_are_one(void **state) {
  (void)state;
  const double variances[] = {0.21, 0.25, 0.2, 0.24, 0.23, 0.22};
  const double dfs[] = {4, 4, 4, 4, 4, 4};
  fit(variances, dfs, 6, INFINITY, 0.225);
}

static void a_zero_does_not_break_the_fit(void **state) {
  (void)state;
  double variances[COUNT + 1] = {0};
  double dfs[COUNT + 1];
  for (size_t i = 0; i <= COUNT; i++) {
    variances[i] = i > 0 ? VARIANCES[i - 1] : 0;
    dfs[i] = 4;
  }
  fit(variances, dfs, COUNT + 1, 0.576220029577807, 0.00905719669867167);
  const double zeros[3] = {0, 0, 0};
  fit(zeros, dfs, 3, 0, 0);
}

static void too_few_learn_nothing(void **state) {
  (void)state;
  struct variance_prior prior;
  prior = variance_shrinkage_fit(NULL, NULL, 0);
  assert_true(prior.df == 0);
  const double four = 4;
  prior = variance_shrinkage_fit(VARIANCES, &four, 1);
  assert_true(prior.df == 0);
  assert_true(variance_shrinkage_apply(&prior, 0.5, 3) == 0.5);
  assert_true(isnan(variance_shrinkage_apply(&prior, 0.5, 0)));
}

static void posterior_variances(void **state) {
  (void)state;
  static const double dfs[COUNT] = {4, 4, 3, 2, 8, 8, 4, 3, 2, 4};
  static const double wanted[COUNT] = {0.2073463013984335, 0.1129609498134514, 0.5649745433678123,
                                       0.1727683231638043, 0.3493234382609589, 1.3140091506730291,
                                       0.2781353150871701, 0.1394215169350544, 0.3693917053625496,
                                       0.0952636963912672};
  struct variance_prior prior;
  prior = variance_shrinkage_fit(VARIANCES, dfs, COUNT);
  for (size_t i = 0; i < COUNT; i++) {
    ASSERT_NEAR(variance_shrinkage_apply(&prior, VARIANCES[i], dfs[i]), wanted[i], 1e-9);
  }
  prior = (struct variance_prior){INFINITY, 0.3};
  assert_true(variance_shrinkage_apply(&prior, 5, 4) == 0.3);
}

static void samples(void **state) {
  (void)state;
  const double values[] = {4, 1, 3, 2};
  const struct sample sample = sample_summary(values, 4);
  ASSERT_NEAR(sample.mean, 2.5, 1e-15);
  ASSERT_NEAR(sample.variance, 5.0 / 3, 1e-15);
  ASSERT_NEAR(sample_median(values, 4), 2.5, 0);
  ASSERT_NEAR(sample_median(values, 3), 3, 0);
  assert_true(isnan(sample_median(values, 0)));
  /* Far from zero nothing is lost: logarithms of ns that differ in the sixth digit. */
  const double far[] = {1e6 + 1e-3, 1e6 + 2e-3, 1e6 + 3e-3};
  ASSERT_NEAR(sample_summary(far, 3).variance, 1e-6, 1e-6);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(prior_of_equal_and_unequal_degrees_of_freedom),
      cmocka_unit_test(variances_closer_than_chance_are_one),
      cmocka_unit_test(a_zero_does_not_break_the_fit),
      cmocka_unit_test(too_few_learn_nothing),
      cmocka_unit_test(posterior_variances),
      cmocka_unit_test(samples),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
