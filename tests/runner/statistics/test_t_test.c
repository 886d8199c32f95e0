/* Reference values: limma 3.54 (fitFDist, squeezeVar; treat, eBayes, topTable on the table below);
 * R 4.2 (t.test). */
#include "runner/statistics/t_test.h"
#include "tests/runner/statistics/numbers.h"

/* 24 cases, three processes of side a, three of b: normal values, of three spreads; the first two
 * cases have a real difference. */
enum { CASES = 24, SIDE = 3 };
static const double TABLE[CASES][2 * SIDE] = {
    {0.00915, 0.00509, 0.0004, -0.03246, -0.02553, -0.03622},
    {-0.00479, 0.00074, 0.00372, 0.00853, 0.00584, 0.01828},
    {-0.00278, 0.00301, -0.00105, -0.00656, -0.00175, 0.00275},
    {-0.00165, 0.00237, -0.00003, -0.0053, -0.0006, -0.00071},
    {-0.00388, -0.00393, 0.00147, -0.00356, 0.00208, 0.00292},
    {-0.00379, -0.0011, 0.00683, -0.00223, 0.00235, 0.00613},
    {0.00299, -0.00348, 0.00289, -0.00025, -0.00032, 0.00203},
    {-0.00047, 0.00287, 0.00192, 0.00969, -0.0047, 0.00013},
    {0.00305, 0.0022, -0.03135, 0.00685, 0.00615, -0.02935},
    {0.0438, -0.00155, 0.00635, 0.0001, -0.0321, 0.0204},
    {0.00715, -0.0084, 0.0033, 0.0006, 0.01985, -0.01185},
    {0.05435, -0.01125, -0.018, -0.00785, 0.02045, 0.01625},
    {0.04565, 0.01995, 0.00155, -0.01585, 0.0168, 0.0173},
    {0.0065, -0.0221, 0.0032, -0.00625, 0.0024, 0.00735},
    {0.0379, -0.00285, 0.01085, -0.0069, -0.00855, 0.0227},
    {0.00935, 0.0063, 0.0141, -0.0061, 0.0092, -0.01515},
    {-0.00072, 0.00097, 0.00026, -0.00143, 0.00052, 0.00036},
    {-0.00025, -0.00056, 0.00089, 0.00047, 0.00049, 0.00073},
    {0, -0.00023, 0.00062, 0.00131, -0.00071, 0.00022},
    {0.00079, -0.00105, 0.00092, -0.00052, 0.00124, 0.00081},
    {0.00067, -0.00031, 0.00101, 0.0005, -0.00099, -0.00117},
    {0.00056, -0.00032, 0.00056, 0.00019, 0.00088, -0.0007},
    {0.00104, 0.00108, 0.00035, 0.00068, 0.00079, 0.00013},
    {-0.00111, 0.00047, -0.00074, -0.00046, 0.00024, 0.00017},
};

/* Every case's effect, with the prior of all. */
static struct variance_prior make_effects(struct effect effects[CASES]) {
  struct sample a[CASES];
  struct sample b[CASES];
  double variances[CASES];
  double dfs[CASES];
  for (size_t i = 0; i < CASES; i++) {
    a[i] = sample_summary(TABLE[i], SIDE);
    b[i] = sample_summary(TABLE[i] + SIDE, SIDE);
    variances[i] = effect_pooled_variance(&a[i], &b[i], &dfs[i]);
  }
  const struct variance_prior prior = variance_shrinkage_fit(variances, dfs, CASES, 0);
  for (size_t i = 0; i < CASES; i++) {
    effects[i] = effect_moderated(&a[i], &b[i], &prior);
  }
  return prior;
}

TEST(moderated_t_against_a_margin) {
  static const double wanted[CASES] = {
      0.000546540239423887, 0.408721354048693364, 0.986810188338050343, 0.995165125639746018,
      0.984489998713710901, 0.978634620175870107, 0.999175284406714326, 0.995404289338887027,
      0.873148678354378260, 0.395652856443810652, 0.903782000903832650, 0.962544476995224385,
      0.423871315825522454, 0.762485811278568848, 0.510001792841729973, 0.302144640767220141,
      0.999970687884251475, 0.999985574477126993, 0.999993009161721069, 0.999973210786166522,
      0.999943167639034014, 0.999994870704357552, 0.999994785544638276, 0.999984818597601355};
  struct effect effects[CASES];
  const struct variance_prior prior = make_effects(effects);
  ASSERT_NEAR(prior.df, 0.815855960902273, 1e-9);
  ASSERT_NEAR(prior.variance, 3.47974318055655e-06, 1e-9);
  double p[CASES];
  for (size_t i = 0; i < CASES; i++) {
    ASSERT_NEAR(effects[i].df, 4.81585596090227, 1e-9);
    p[i] = effect_p(&effects[i], log1p(0.01));
    ASSERT_NEAR(p[i], wanted[i], 1e-9);
  }
  assert_int_equal(fdr_q_values(p, CASES, p), CASES);
  ASSERT_NEAR(p[0], 0.0131169657461733, 1e-9);
  ASSERT_NEAR(p[1], 0.9999948707043576, 1e-9);
}

TEST(moderated_t_and_interval) {
  static const struct {
    size_t at;
    double difference, low, high, p;
  } wanted[] = {
      {0, 0.036283333333333341, 0.0266081111313527, 0.045958555535313951, 0.000236921410713338},
      {1, -0.010993333333333334, -0.0218458881126512, -0.000140778554015494, 0.048048991126338217},
      {8, -0.003250000000000002, -0.0423097051255104, 0.035809705125510370, 0.837563452637099637},
      {23, -0.000443333333333333, -0.0024962299700172, 0.001609563303350530, 0.599529051195549112},
  };
  struct effect effects[CASES];
  (void)make_effects(effects);
  for (size_t i = 0; i < COUNT_OF(wanted); i++) {
    const struct effect *effect = &effects[wanted[i].at];
    const struct interval interval = effect_interval(effect, 0.95);
    ASSERT_NEAR(effect->difference, wanted[i].difference, 1e-9);
    ASSERT_NEAR(interval.low, wanted[i].low, 1e-8);
    ASSERT_NEAR(interval.high, wanted[i].high, 1e-8);
    ASSERT_NEAR(effect_p(effect, 0), wanted[i].p, 1e-8);
  }
}

TEST(welch) {
  const double a[] = {10.1, 10.4, 9.9, 10.2};
  const double b[] = {10.6, 10.9, 10.3, 11.4, 10.7};
  const struct sample sample_a = sample_summary(a, 4);
  const struct sample sample_b = sample_summary(b, 5);
  const struct effect effect = effect_welch(&sample_a, &sample_b);
  ASSERT_NEAR(effect.difference / effect.error, -2.99547511054674, 1e-11);
  ASSERT_NEAR(effect.df, 6.15259111046926, 1e-11);
  ASSERT_NEAR(effect_p(&effect, 0), 0.0234225603144579, 1e-10);
  const struct interval interval = effect_interval(&effect, 0.95);
  ASSERT_NEAR(interval.low, -1.141549609486879, 1e-10);
  ASSERT_NEAR(interval.high, -0.118450390513119, 1e-10);
}

TEST(equivalence_is_the_95_percent_interval_inside_the_margin) {
  const struct effect effect = {.difference = 0.002, .error = 0.003, .df = INFINITY};
  /* 0.002 + 1.95996 x 0.003 = 0.0078799; at 5 %, 0.002 + 1.64485 x 0.003 = 0.0069346 */
  assert_true(effect_is_equivalent(&effect, 0.00788, EQUIVALENCE_LEVEL));
  assert_false(effect_is_equivalent(&effect, 0.00787, EQUIVALENCE_LEVEL));
  assert_true(effect_is_equivalent(&effect, 0.00694, 0.05));
  assert_false(effect_is_equivalent(&effect, 0.00693, 0.05));
  assert_false(effect_is_equivalent(&effect, 0, EQUIVALENCE_LEVEL));
}

TEST(without_spread_the_difference_is_what_it_is) {
  const double same[] = {1, 1, 1};
  const double more[] = {1.02, 1.02, 1.02};
  const struct sample a = sample_summary(same, 3);
  const struct sample b = sample_summary(more, 3);
  const struct effect effect = effect_welch(&a, &b);
  assert_true(effect_p(&effect, 0.01) == 0);
  assert_true(effect_p(&effect, 0.03) == 1);
  assert_true(effect_is_equivalent(&effect, 0.03, 0.05));
  assert_false(effect_is_equivalent(&effect, 0.01, 0.05));
  const struct interval interval = effect_interval(&effect, 0.95);
  assert_true(interval.low == effect.difference && interval.high == effect.difference);
}

TEST(false_discovery_rate) {
  /* Benjamini and Hochberg 1995, section 3.2: 15 p values, of which four are rejected at 5 %. */
  const double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                      0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.000};
  const double wanted[] = {0.0015,
                           0.0030,
                           0.0095,
                           0.035625,
                           0.0603,
                           0.0638571428571429,
                           0.0638571428571429,
                           0.0645,
                           0.0765,
                           0.4860,
                           0.5811818181818181,
                           0.7148749999999999,
                           0.7532307692307693,
                           0.8132142857142857,
                           1};
  enum { N = COUNT_OF(p) };
  double mixed[N + 1];
  for (size_t i = 0; i < N; i++) {
    mixed[N - i] = p[i]; /* in another order, and with one that is no test */
  }
  mixed[0] = NAN;
  double q[N + 1];
  assert_int_equal(fdr_q_values(mixed, N + 1, q), N);
  assert_true(isnan(q[0]));
  size_t rejected = 0;
  for (size_t i = 0; i < N; i++) {
    ASSERT_NEAR(q[N - i], wanted[i], 1e-12);
    rejected += q[N - i] <= 0.05;
  }
  assert_int_equal(rejected, 4);
  assert_int_equal(fdr_q_values(NULL, 0, NULL), 0);
}

enum { VARIANCE_COUNT = 10 };
static const double VARIANCES[VARIANCE_COUNT] = {0.21, 0.05, 0.9,  0.13, 0.4,
                                                 1.7,  0.33, 0.08, 0.6,  0.02};

TEST(variance_prior_matches_limma) {
  static const double equal[] = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4};
  static const double unequal[] = {4, 4, 3, 2, 8, 8, 4, 3, 2, 4};
  static const double close[] = {0.21, 0.25, 0.2, 0.24, 0.23, 0.22};
  static const double zeros[3] = {0};
  double with_zero[VARIANCE_COUNT + 1] = {0};
  memcpy(with_zero + 1, VARIANCES, sizeof VARIANCES);
  const struct {
    const double *variances, *dfs;
    size_t count;
    double df, variance;
  } cases[] = {
      {VARIANCES, equal, VARIANCE_COUNT, 2.44142548869794, 0.181470931813177},
      {VARIANCES, unequal, VARIANCE_COUNT, 2.78071320658016, 0.203529009352225},
      {with_zero, equal, VARIANCE_COUNT + 1, 0.576220029577807, 0.00905719669867167},
      {close, equal, 6, INFINITY, 0.225}, /* closer than by chance: one variance */
      {zeros, equal, 3, 0, 0},
      {NULL, NULL, 0, 0, 0}, /* too few learn nothing */
      {VARIANCES, equal, 1, 0, 0.21},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const struct variance_prior prior =
        variance_shrinkage_fit(cases[i].variances, cases[i].dfs, cases[i].count, 0);
    if (isinf(cases[i].df)) {
      assert_true(isinf(prior.df));
    } else {
      ASSERT_NEAR(prior.df, cases[i].df, 1e-9);
    }
    ASSERT_NEAR(prior.variance, cases[i].variance, 1e-9);
  }
}

TEST(variances_are_shrunk_as_in_limma) {
  static const double dfs[VARIANCE_COUNT] = {4, 4, 3, 2, 8, 8, 4, 3, 2, 4};
  static const double wanted[VARIANCE_COUNT] = {
      0.2073463013984335, 0.1129609498134514, 0.5649745433678123, 0.1727683231638043,
      0.3493234382609589, 1.3140091506730291, 0.2781353150871701, 0.1394215169350544,
      0.3693917053625496, 0.0952636963912672};
  struct variance_prior prior = variance_shrinkage_fit(VARIANCES, dfs, VARIANCE_COUNT, 0);
  for (size_t i = 0; i < VARIANCE_COUNT; i++) {
    ASSERT_NEAR(variance_shrinkage_apply(&prior, VARIANCES[i], dfs[i]), wanted[i], 1e-9);
  }
  prior = (struct variance_prior){0, 0.21, 4}; /* nothing learnt */
  assert_true(variance_shrinkage_apply(&prior, 0.5, 3) == 0.5);
  assert_true(isnan(variance_shrinkage_apply(&prior, 0.5, 0)));
  prior = (struct variance_prior){INFINITY, 0.3, 4};
  assert_true(variance_shrinkage_apply(&prior, 5, 4) == 0.3);
}

/* What cases share is known from few values, and counts as more than these show of it. */
TEST(shared_noise_counts_as_more_than_is_seen) {
  enum { COUNT = 40 };
  double variances[COUNT];
  double dfs[COUNT];
  for (size_t i = 0; i < COUNT; i++) {
    variances[i] = 1 + 0.1 * (double)i;
    dfs[i] = 3;
  }
  ASSERT_NEAR(variance_shrinkage_fit(variances, dfs, COUNT, 0).pooled_df, 3 * COUNT, 1e-12);
  ASSERT_NEAR(variance_shrinkage_fit(variances, dfs, COUNT, 1).pooled_df, 3, 1e-12);
  /* Four parts of five are shared: seen by three values, eight of nine may be. */
  const double taken = 64.0 / 81;
  ASSERT_NEAR(variance_shrinkage_fit(variances, dfs, COUNT, 0.64).pooled_df,
              3 * COUNT / (1 + (COUNT - 1) * taken), 1e-9);
  for (size_t i = 0; i < COUNT; i++) {
    dfs[i] = 300;
  }
  ASSERT_NEAR(variance_shrinkage_fit(variances, dfs, COUNT, 0.64).pooled_df,
              300 * COUNT / (1 + (COUNT - 1) * 0.64), 0.01);
}

TEST(sample_summaries) {
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
