#include "runner/statistics/needed.h"
#include "tests/runner/statistics/numbers.h"

enum { CASES = 200, DRAWS = 20000, MOST = 40 };
#define MARGIN 0.01
static const struct effect_levels LEVELS = {0.01, EQUIVALENCE_LEVEL};

static const bool BOTH[2] = {true, true};
static const bool A_ALONE[2] = {true, false};
static const bool B_ALONE[2] = {false, true};

/* Observations of such standard deviations, all known. */
static struct needed_sides sides_of(unsigned count_a, double sd_a, unsigned count_b, double sd_b) {
  return (struct needed_sides){.counts = {count_a, count_b},
                               .variances = {sd_a * sd_a, sd_b * sd_b},
                               .variance =
                                   ((count_a - 1) * sd_a * sd_a + (count_b - 1) * sd_b * sd_b) /
                                   (count_a + count_b - 2),
                               .prior_dfs = {1e6, 1e6},
                               .prior_df = 1e6};
}

static unsigned needed_by(const struct needed_belief *belief, const struct needed_sides *sides,
                          const bool grows[2], double power) {
  return needed_units(belief, sides, grows, MARGIN, &LEVELS, power, MOST);
}

/* How often a difference is decided, rightly, with so many observations of the growing sides. What
 * was seen of it so far stays, whatever it is in truth: its error is of both sides by their parts
 * in its variance. */
static double share_decided(const struct needed_belief *belief, const struct needed_sides *sides,
                            const bool grows[2], unsigned units) {
  size_t decided = 0;
  uint64_t seed = 5;
  for (size_t d = 0; d < DRAWS; d++) {
    double left = noise_uniform(&seed);
    size_t k = 0;
    while (k + 1 < belief->count && left > belief->weights[k]) {
      left -= belief->weights[k++];
    }
    double errors[2];
    double variances[2];
    for (size_t s = 0; s < 2; s++) {
      variances[s] = sides->variances[s] / sides->counts[s];
      errors[s] = sqrt(variances[s]) * noise_normal(&seed);
    }
    const double beyond = belief->seen - belief->differences[k] - (errors[0] - errors[1]);
    double estimate = belief->differences[k];
    double variance = 0;
    for (size_t s = 0; s < 2; s++) {
      const double sign = s == 0 ? 1 : -1;
      const unsigned n = grows[s] ? units : sides->counts[s];
      double sum = sides->counts[s] *
                   (errors[s] + sign * beyond * variances[s] / (variances[0] + variances[1]));
      for (unsigned u = sides->counts[s]; u < n; u++) {
        sum += sqrt(sides->variances[s]) * noise_normal(&seed);
      }
      estimate += sign * sum / n;
      variance += sides->variances[s] / n;
    }
    const bool differs = fabs(belief->differences[k]) > MARGIN;
    decided +=
        differs ? copysign(1, belief->differences[k]) * estimate - MARGIN > 2.3263 * sqrt(variance)
                : MARGIN - fabs(estimate) > 1.96 * sqrt(variance);
  }
  return (double)decided / DRAWS;
}

/* As many as are asked for decide with the wanted power, and one fewer with less. */
TEST(as_many_decide_as_are_asked_for) {
  static const struct {
    double seen, sd_a, sd_b;
    const bool *grows;
  } WORLDS[] = {
      {-0.02, 0.01, 0.01, BOTH},     {0.003, 0.0075, 0.0075, BOTH},   {0.013, 0.0035, 0.0035, BOTH},
      {-0.02, 0.001, 0.01, B_ALONE}, {0.001, 0.012, 0.0005, A_ALONE},
  };
  struct needed_prior prior;
  for (size_t k = 0; k < NEEDED_POINTS; k++) {
    prior.weights[k] = 1.0 / NEEDED_POINTS;
  }
  for (size_t w = 0; w < COUNT_OF(WORLDS); w++) {
    const bool *grows = WORLDS[w].grows;
    const struct needed_sides sides =
        sides_of(grows[0] ? 5 : 30, WORLDS[w].sd_a, grows[1] ? 5 : 30, WORLDS[w].sd_b);
    const double variance =
        sides.variances[0] / sides.counts[0] + sides.variances[1] / sides.counts[1];
    const struct effect effect = {WORLDS[w].seen, sqrt(variance), INFINITY};
    const struct needed_belief belief = needed_believe(&prior, &effect, MARGIN, INFINITY);
    const unsigned needed = needed_by(&belief, &sides, grows, 0.7);
    print_message("%g: %u\n", WORLDS[w].seen, needed);
    assert_in_range(needed, 6, MOST - 1);
    assert_true(share_decided(&belief, &sides, grows, needed) >= 0.68);
    assert_true(share_decided(&belief, &sides, grows, needed - 1) <= 0.72);
  }
}

/* More of the quiet side decide nothing, however many, nor more of either alone where the order of
 * the runs makes the error. */
TEST(the_side_that_is_uncertain_is_asked_for) {
  const struct needed_prior prior = {{0}};
  const struct effect effect = {.difference = -0.0215};
  const struct needed_belief belief = needed_believe(&prior, &effect, MARGIN, INFINITY);
  struct needed_sides sides = sides_of(30, 0.0005, 5, 0.012);
  assert_int_equal(needed_by(&belief, &sides, A_ALONE, 0.8), 0);
  assert_in_range(needed_by(&belief, &sides, B_ALONE, 0.8), 6, 30);
  sides = sides_of(5, 0.008, 5, 0.008);
  assert_true(needed_by(&belief, &sides, A_ALONE, 0.8) > 0);
  sides.order_variance = 1e-4;
  assert_int_equal(needed_by(&belief, &sides, A_ALONE, 0.8), 0);
  assert_int_equal(needed_by(&belief, &sides, B_ALONE, 0.8), 0);
  assert_in_range(needed_by(&belief, &sides, BOTH, 0.8), 6, 20);
}

/* At the margin none suffice. Who learns from others needs fewer. */
TEST(what_is_at_the_margin_stays_open) {
  const struct needed_prior prior = {{0}};
  const struct effect at = {.difference = 0.0101};
  const struct effect beyond = {.difference = 0.02};
  const struct needed_belief open = needed_believe(&prior, &at, MARGIN, INFINITY);
  const struct needed_belief clear = needed_believe(&prior, &beyond, MARGIN, INFINITY);
  struct needed_sides sides = sides_of(5, 0.01, 5, 0.01);
  assert_int_equal(needed_by(&open, &sides, BOTH, 0.8), 0);
  const unsigned learnt = needed_by(&clear, &sides, BOTH, 0.8);
  sides.prior_df = 0;
  assert_true(needed_by(&clear, &sides, BOTH, 0.8) >= learnt);
  assert_true(learnt > 5);
}

static double mean_of(const struct needed_belief *belief) {
  return TOTAL_OF(k, belief->count, belief->weights[k] * belief->differences[k]);
}

/* One in ten is -3 %, the others are 0; errors of 0.7 %. */
TEST(what_was_seen_is_taken_back_to_what_there_is) {
  static struct effect effects[CASES];
  static double margins[CASES];
  uint64_t seed = 7;
  for (size_t i = 0; i < CASES; i++) {
    effects[i] =
        (struct effect){(i % 10 == 0 ? -0.03 : 0) + 0.007 * noise_normal(&seed), 0.007, 20};
    margins[i] = i % 7 == 0 ? NAN : 0.01;
  }
  const struct needed_prior prior = needed_learn(effects, margins, CASES);
  const struct effect near = {-0.012, 0.007, 20};
  const struct effect far = {-0.032, 0.007, 20};
  const struct needed_belief unchanged = needed_believe(&prior, &near, MARGIN, 20);
  const struct needed_belief changed = needed_believe(&prior, &far, MARGIN, 20);
  assert_true(mean_of(&unchanged) > -0.007 && mean_of(&unchanged) < 0.002);
  assert_true(mean_of(&changed) < -0.024 && mean_of(&changed) > -0.034);
  /* The less a spread is known, the more are needed. */
  const struct needed_sides sides = sides_of(5, 0.01, 5, 0.01);
  const struct needed_belief vague = needed_believe(&prior, &far, MARGIN, 3);
  assert_true(needed_by(&vague, &sides, BOTH, 0.8) > needed_by(&changed, &sides, BOTH, 0.8));
}
