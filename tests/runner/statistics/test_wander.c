#include "runner/statistics/distributions.h"
#include "runner/statistics/wander.h"
#include "tests/runner/statistics/numbers.h"

enum { SIDE = 10, RUNS = 2 * SIDE, SERIES = 40, WALK_ALONE = WANDER_MODELS - 1 };

static struct arena arena;

static struct wander_order order_of(size_t side, bool in_turn) {
  static bool is_b[400];
  struct wander_order order;
  for (size_t i = 0; i < 2 * side; i++) {
    is_b[i] = in_turn ? i % 2 == 1 : i >= side;
  }
  wander_order_init(&order, is_b, 2 * side, in_turn, &arena);
  return order;
}

/* Of SERIES series, with those correlations of neighbours in what they share and in their own part,
 * and a slope per run. */
static struct wander_belief believe(const struct wander_order *order, double shared, double own,
                                    double slope, uint64_t seed) {
  static double values[SERIES][RUNS];
  const double *series[SERIES];
  struct wander_evidence evidence = {0};
  struct wander_belief belief;
  double levels[SERIES + 1]; /* the last is shared */
  for (size_t i = 0; i < order->count; i++) {
    for (int s = 0; s <= SERIES; s++) {
      const double kept = i == 0 ? 0 : s == SERIES ? shared : own;
      levels[s] = kept * (i == 0 ? 0 : levels[s]) + sqrt(1 - kept * kept) * noise_normal(&seed);
    }
    for (int s = 0; s < SERIES; s++) {
      values[s][i] = 12 + levels[s] + levels[SERIES] + slope * (double)i;
      series[s] = values[s];
    }
  }
  wander_add(order, series, SERIES, &evidence);
  wander_conclude(&evidence, NULL, &belief);
  return belief;
}

static double sum_of(const double *weights, size_t first, size_t last) {
  double sum = 0;
  for (size_t m = first; m <= last; m++) {
    sum += weights[m];
  }
  return sum;
}

static double mean_factor(const struct wander_order *order, const double *weights) {
  return TOTAL_OF(m, WANDER_MODELS, weights[m] * order->factors[m]);
}

/* Of an autoregressive series, one side after the other: the variance of the difference of two
 * means of ten, over that within and the fifth that independent runs have. */
static double factor_of(double correlation) {
  double difference = 0;
  double within = 1;
  for (int i = 0; i < RUNS; i++) {
    for (int j = 0; j < RUNS; j++) {
      const double covariance = pow(correlation, abs(i - j));
      const bool same = (i < SIDE) == (j < SIDE);
      difference += (same ? 1 : -1) * covariance / SIDE / SIDE;
      within -= same && i != j ? covariance / (RUNS * (SIDE - 1)) : 0;
    }
  }
  return difference / within / (2.0 / SIDE);
}

/* Whatever they share, which is one series and says little, many tell how their own part wanders;
 * what they share is believed to wander as slowly. */
TEST(series_tell_how_they_wander) {
  static const double CORRELATIONS[] = {0, 0.7, 0.95};
  const struct wander_order order = order_of(SIDE, false);
  for (size_t i = 0; i < sizeof CORRELATIONS / sizeof *CORRELATIONS; i++) {
    const double wanted = factor_of(CORRELATIONS[i]);
    const struct wander_belief belief = believe(&order, CORRELATIONS[i], CORRELATIONS[i], 0, 5);
    assert_true(belief.trend < 0.1);
    ASSERT_WITHIN(sum_of(belief.own, 0, WALK_ALONE), 1, 1e-9);
    ASSERT_WITHIN(sum_of(belief.common, 0, WALK_ALONE), 1, 1e-9);
    ASSERT_WITHIN(sum_of(belief.machine, 0, WALK_ALONE), 1, 1e-9);
    ASSERT_NEAR(mean_factor(&order, belief.own), wanted, 0.25);
    ASSERT_NEAR(mean_factor(&order, belief.common), wanted, 0.5);
    assert_true(belief.share > 0.2 && belief.share < 0.8);
    /* Slow series look alike by chance. */
    assert_true(belief.own_series > (i == 0 ? SERIES / 2.0 : SERIES / 20.0));
  }
  const struct wander_belief apart = believe(&order, 0.95, 0, 0, 5);
  assert_true(mean_factor(&order, apart.own) < 1.5);
  assert_true(mean_factor(&order, apart.common) > 3);
}

TEST(a_line_is_a_trend) {
  const struct wander_order order = order_of(SIDE, false);
  assert_true(believe(&order, 0, 0, 1, 5).trend > 0.99);
  assert_true(believe(&order, 0.95, 0.95, 0, 5).trend < 0.1);
}

/* Of a random walk, the variance of the difference is (2 n^2 + 1) / (3 n) steps, and that within a
 * side (n + 1) / 6. */
TEST(sides_in_blocks_differ_by_wandering) {
  const struct wander_order order = order_of(SIDE, false);
  ASSERT_WITHIN(order.factors[0], 1, 1e-9);
  ASSERT_WITHIN(order.dfs[0], RUNS - 2, 1e-9);
  const double n = SIDE;
  const double walk = (2 * n * n + 1) / (3 * n) / ((n + 1) / 6) / (2 / n);
  ASSERT_WITHIN(order.factors[WALK_ALONE], walk, 0.05 * walk);
  assert_true(order.dfs[WALK_ALONE] > 3 && order.dfs[WALK_ALONE] < 6);
}

/* Of runs in turn, B always second, half of what moves the pairs apart is in the trend that is
 * taken out: of independent runs nothing, of a walk two fifths. By simulation. */
TEST(pairs_differ_less_than_their_trend_says) {
  enum { TRIALS = 4000 };
  const struct wander_order order = order_of(SIDE, true);
  ASSERT_WITHIN(order.factors[0], 1, 1e-9);
  ASSERT_WITHIN(order.spread_df, SIDE - 1, 1e-9);
  uint64_t seed = 3;
  double differences = 0;
  double variances = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    double values[RUNS];
    double pairs[SIDE];
    double products = 0;
    double squares = 0;
    double mean = 0;
    for (int i = 0; i < RUNS; i++) {
      values[i] = (i > 0 ? values[i - 1] : 0) + noise_normal(&seed);
      const int pair = i / 2;
      const double from_side = 2.0 * pair - (SIDE - 1);
      products += from_side * values[i];
      squares += from_side * from_side;
    }
    for (int k = 0; k < SIDE; k++) {
      pairs[k] = values[2 * k] - values[2 * k + 1] + products / squares;
      mean += pairs[k] / SIDE;
    }
    differences += mean * mean;
    for (int k = 0; k < SIDE; k++) {
      variances += (pairs[k] - mean) * (pairs[k] - mean) / (SIDE - 1) / SIDE;
    }
  }
  const double inflation = 1 + SIDE / (2.0 * 2 * SIDE * (SIDE * SIDE - 1) / 3);
  const double walk = differences / variances / inflation;
  ASSERT_NEAR(order.factors[WALK_ALONE], walk, 0.1);
  assert_true(walk < 0.7);
}

/* Of 400 runs some are looked at. */
TEST(many_runs_are_as_few) {
  const struct wander_order many = order_of(200, false);
  ASSERT_WITHIN(many.factors[0], 1, 1e-9);
  const double n = 200;
  const double walk = (2 * n * n + 1) / (3 * n) / ((n + 1) / 6) / (2 / n);
  ASSERT_WITHIN(many.factors[WALK_ALONE], walk, 0.05 * walk);
}

static double half_width(struct wander average) {
  return sqrt(average.factor) * student_quantile(0.975, average.df);
}

/* Of half independent runs and half walks: further out than the mixture says, the further the fewer
 * runs tell them apart. */
TEST(averages_are_at_least_as_wide_as_the_mixture) {
  static const struct {
    size_t side;
    double least, most; /* of the mixture, beyond the interval */
  } orders[] = {{10, 0.03, 0.05}, {4, 0.005, 0.03}};
  for (size_t i = 0; i < COUNT_OF(orders); i++) {
    const struct wander_order order = order_of(orders[i].side, false);
    const double df = order.spread_df;
    struct wander_belief belief = {.share = 1, .common = {[0] = 1}, .own = {[0] = 1}};
    const struct wander one = wander_average(&order, &belief, df, df);
    ASSERT_NEAR(half_width(one), student_quantile(0.975, df), 1e-3);
    belief.common[0] = belief.common[WALK_ALONE] = 0.5;
    const double distance = half_width(wander_average(&order, &belief, df, df));
    const double walk = order.factors[WALK_ALONE];
    const double beyond =
        student_upper(distance, df) + student_upper(distance / sqrt(walk), order.dfs[WALK_ALONE]);
    assert_true(orders[i].least < beyond && beyond < orders[i].most);
  }
}

/* Half of what a case shares with others, of few runs, and half of its own, of many: its interval
 * is wider than by Satterthwaite's degrees of freedom, and not by as much as where the squares of
 * the parts' intervals add up, which hold the change too often. */
TEST(intervals_of_parts_add_up) {
  const struct wander_order order = order_of(SIDE, false);
  struct wander_belief belief = {.share = 0.5, .common = {[0] = 1}, .own = {[0] = 1}};
  const double common = student_quantile(0.975, 18);
  const double own = student_quantile(0.975, 1800);
  const double half = half_width(wander_average(&order, &belief, 18, 1800));
  assert_true(half > student_quantile(0.975, 1 / (0.25 / 18 + 0.25 / 1800)) + 1e-3);
  assert_true(half < sqrt((common * common + own * own) / 2) - 1e-3);
  belief.share = 0; /* what many cases have for themselves is known as well as their number */
  const struct wander one = wander_average(&order, &belief, 18, 1800);
  ASSERT_NEAR(one.factor, 1, 1e-3);
  ASSERT_NEAR(one.df, 1800, 1);
}

/* A case whose own part is small may have nothing but noise there: that does not tell that what all
 * share is independent. */
TEST(a_small_own_part_tells_little) {
  const struct wander_order order = order_of(SIDE, false);
  const struct wander_belief alike = believe(&order, 0, 0, 0, 5);
  struct wander_evidence evidence = {0};
  struct wander_belief small;
  memcpy(evidence.own, (double[WANDER_MODELS]){[0] = 100}, sizeof evidence.own);
  evidence.own_series = SERIES;
  evidence.series = SERIES;
  evidence.shares = 0.9 * SERIES;
  wander_conclude(&evidence, NULL, &small);
  assert_true(small.own[0] > 0.99 && small.machine[0] < 0.6 && alike.machine[0] > 0.7);
}

/* A run a side, one pair, or one side alone: there is no variance to divide by. */
TEST(without_a_variance_runs_are_independent) {
  static const bool is_b[] = {false, true, false, false};
  static const struct {
    size_t first, count;
    bool paired;
  } orders[] = {{0, 2, false}, {0, 2, true}, {2, 2, false}, {0, 1, false}};
  const struct wander_belief belief = {.share = 0.5, .common = {[0] = 1}, .own = {[0] = 1}};
  for (size_t i = 0; i < COUNT_OF(orders); i++) {
    struct wander_order order;
    wander_order_init(&order, &is_b[orders[i].first], orders[i].count, orders[i].paired, &arena);
    for (size_t m = 0; m < WANDER_MODELS; m++) {
      ASSERT_WITHIN(order.factors[m], 1, 0);
      ASSERT_WITHIN(order.dfs[m], 1, 0);
    }
    const struct wander one = wander_average(&order, &belief, 0, 0);
    ASSERT_WITHIN(one.factor, 1, 0);
    ASSERT_WITHIN(one.df, 0, 0);
  }
}

/* Where no model is likely, the search for a distance ends all the same. */
TEST(a_belief_in_no_model_ends) {
  const struct wander_order order = order_of(4, false);
  static const struct wander_belief beliefs[] = {{.share = 0.5}, {.share = NAN, .common = {1}}};
  for (size_t i = 0; i < COUNT_OF(beliefs); i++) {
    assert_false(wander_average(&order, &beliefs[i], 18, 18).df > 0);
  }
}

/* Nothing is known before anything is seen, and two runs a side say next to nothing. */
TEST(few_runs_leave_all_open) {
  const struct wander_order order = order_of(2, false);
  const double values[] = {1, 2, 4, 8};
  struct wander_evidence evidence = {0};
  struct wander_belief before;
  struct wander_belief after;
  wander_conclude(&evidence, NULL, &before);
  wander_add(&order, (const double *const[]){values}, 1, &evidence);
  wander_conclude(&evidence, NULL, &after);
  ASSERT_WITHIN(before.own[0], 0.5, 1e-9);
  ASSERT_WITHIN(sum_of(after.common, 0, WALK_ALONE), 1, 1e-9);
  assert_true(after.common[0] > 0.2 && after.common[0] < 0.7);
}
