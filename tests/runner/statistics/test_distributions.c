/* Reference values: R 4.2 (pt, qt, pnorm, digamma, trigamma) and limma 3.54 (trigammaInverse). */
#include "runner/statistics/distributions.h"
#include "tests/runner/statistics/numbers.h"

TEST(student_tails_and_quantiles) {
  ASSERT_NEAR(student_upper(2.5, 7), 0.0204961092928764, 1e-12);
  ASSERT_NEAR(student_upper(40, 3.3), 7.52944364089968e-06, 1e-11);
  ASSERT_NEAR(student_upper(-2.5, 7), 1 - 0.0204961092928764, 1e-12);
  ASSERT_NEAR(student_upper(8, INFINITY), 6.22096057427178e-16, 1e-12);
  ASSERT_NEAR(student_quantile(0.975, 10), 2.22813885198627, 1e-12);
  ASSERT_NEAR(student_quantile(0.95, 2.5), 2.55821861413595, 1e-11);
  ASSERT_NEAR(student_quantile(0.975, INFINITY), 1.95996398454005, 1e-12);
  assert_true(student_upper(INFINITY, 5) == 0 && student_upper(-INFINITY, 5) == 1);
}

TEST(gamma_functions) {
  ASSERT_NEAR(digamma(0.5), -1.963510026021423, 1e-13);
  ASSERT_NEAR(digamma(1), -0.577215664901532, 1e-13);
  ASSERT_NEAR(digamma(10), 2.251752589066721, 1e-13);
  ASSERT_NEAR(trigamma(0.5), 4.934802200544679, 1e-13); /* pi^2 / 2 */
  ASSERT_NEAR(trigamma(1), 1.644934066848226, 1e-13);   /* pi^2 / 6 */
  ASSERT_NEAR(trigamma(10), 0.105166335681686, 1e-12);
  ASSERT_NEAR(trigamma_inverse(1e-6), 1.00000049999992e+06, 1e-9);
  ASSERT_NEAR(trigamma_inverse(5), 4.96168734704107e-01, 1e-9);
  ASSERT_NEAR(trigamma_inverse(1e6), 1.00000082126761e-03, 1e-9);
  ASSERT_NEAR(trigamma_inverse(0.3), 3.80871901205117, 1e-9);
  ASSERT_NEAR(trigamma_inverse(1e-8), 1e8, 1e-9);
  for (int exponent = -5; exponent <= 5; exponent++) {
    const double x = 3 * pow(10, exponent);
    ASSERT_NEAR(trigamma(trigamma_inverse(x)), x, 1e-8);
  }
}

TEST(outside_the_domain_is_nan) {
  assert_true(isnan(student_upper(NAN, 3)) && isnan(student_upper(1, 0)));
  assert_true(isnan(student_upper(1, -1)) && isnan(student_quantile(1.5, 3)));
  assert_true(isnan(student_quantile(0.5, NAN)) && isnan(normal_upper(NAN)));
  assert_true(isnan(digamma(0)) && isnan(trigamma(-1)) && isnan(trigamma_inverse(0)));
  assert_true(isnan(trigamma_inverse(-1)) && isnan(trigamma_inverse(NAN)));
  assert_true(isinf(student_quantile(1, 3)) && isinf(student_quantile(0, 3)));
}
