/* Kinds of noise in simulated trials: how often white noise is called something else, and how often
 * each kind is found. Seeded: the counts are the same in every run. */
#include "runner/statistics/noise.h"
#include "tests/runner/statistics/numbers.h"

enum { COUNT_MAX = 200, SAMPLES = 2000 };

static struct noise_trial trials[COUNT_MAX];

/* Trials of 1 s one after the other, with their logarithms above 1. */
static struct noise_found find(const double *logarithms, size_t count) {
  for (size_t i = 0; i < count; i++) {
    trials[i] = (struct noise_trial){exp(logarithms[i]), (double)i, (double)i + 1};
  }
  return noise_find(trials, count);
}

/* What is added to noise of 1 %: of trial i of count. random is between 0 and 1, step normal. */
struct moment {
  size_t i, count;
  double random, step;
};
typedef double signal_of(const struct moment *moment);

static size_t count_found(signal_of *signal, size_t count, double sd, enum noise kind,
                          uint64_t seed) {
  double values[COUNT_MAX];
  size_t found = 0;
  for (size_t s = 0; s < SAMPLES; s++) {
    for (size_t i = 0; i < count; i++) {
      const struct moment moment = {i, count, noise_uniform(&seed), noise_normal(&seed)};
      values[i] = (signal != NULL ? signal(&moment) : 0) + sd * noise_normal(&seed);
    }
    found += find(values, count).kind == kind;
  }
  return found;
}

static double noise_rising(const struct moment *moment) {
  return 0.05 * (double)moment->i / (double)moment->count;
}
static double noise_steps_once(const struct moment *moment) {
  return moment->i < moment->count / 2 ? 0 : 0.06;
}
static double noise_wanders(const struct moment *moment) {
  static double level = 0;
  level = moment->i == 0 ? 0 : level + 0.01 * moment->step;
  return level;
}
/* Once in eight trials, for two of them. */
static double noise_in_dips(const struct moment *moment) {
  return moment->i % 8 == 3 || moment->i % 8 == 4 ? 0.3 : 0;
}
static double noise_of_two_levels(const struct moment *moment) {
  return moment->random < 0.5 ? 0.12 : 0;
}

/* Each of three tests is wrong once in 200 samples, or less. */
TEST(white_noise_is_white) {
  static const size_t COUNTS[] = {12, 13, 15, 20, 30, 60, 200};
  for (size_t c = 0; c < COUNT_OF(COUNTS); c++) {
    const size_t white = count_found(NULL, COUNTS[c], 0.01, NOISE_WHITE, 77 + c);
    if (white < SAMPLES * 985 / 1000) {
      fail_msg("%zu of %d samples of %zu trials are white", white, SAMPLES, COUNTS[c]);
    }
  }
}

TEST(each_kind_is_found) {
  static const struct {
    signal_of *signal;
    enum noise kind;
    unsigned percent[3]; /* of samples of 12, 24, 60 trials, at least */
  } KINDS[] = {
      {noise_rising, NOISE_DRIFT, {38, 88, 99}},
      {noise_steps_once, NOISE_DRIFT, {20, 97, 95}},
      {noise_wanders, NOISE_DRIFT, {12, 60, 97}},
      {noise_in_dips, NOISE_DIPS, {98, 98, 98}},
      {noise_of_two_levels, NOISE_TWO_MODES, {78, 82, 82}},
  };
  static const size_t COUNTS[] = {12, 24, 60};
  for (size_t k = 0; k < COUNT_OF(KINDS); k++) {
    for (size_t c = 0; c < COUNT_OF(COUNTS); c++) {
      const size_t found = count_found(KINDS[k].signal, COUNTS[c], 0.01, KINDS[k].kind, 5 + k);
      if (found * 100 < (size_t)KINDS[k].percent[c] * SAMPLES) {
        fail_msg("%s: %zu of %d samples of %zu trials", noise_text(KINDS[k].kind), found, SAMPLES,
                 COUNTS[c]);
      }
    }
  }
}

TEST(what_is_found_has_its_size) {
  uint64_t seed = 3;
  double values[24];
  for (size_t i = 0; i < 24; i++) {
    values[i] = noise_in_dips(&(struct moment){.i = i}) + 0.001 * noise_normal(&seed);
  }
  struct noise_found found = find(values, 24);
  assert_int_equal(found.kind, NOISE_DIPS);
  ASSERT_WITHIN(found.size, exp(0.3) - 1, 0.005);
  ASSERT_WITHIN(found.duration, 2, 1e-9);
  for (size_t i = 0; i < 24; i++) {
    values[i] = -0.1 * (double)i / 24;
  }
  found = find(values, 24);
  assert_int_equal(found.kind, NOISE_DRIFT);
  ASSERT_WITHIN(found.size, 1 - exp(0.1 * 16 / 24), 0.002);
}

/* Nothing moves, times are whole ticks, or there are few of them. */
TEST(degenerate_trials) {
  double values[12] = {0};
  assert_int_equal(find(values, 12).kind, NOISE_WHITE);
  assert_int_equal(find(values, 0).kind, NOISE_UNKNOWN);
  assert_int_equal(find(values, NOISE_TRIALS_MIN - 1).kind, NOISE_UNKNOWN);
  values[3] = values[9] = 0.5;
  assert_int_equal(find(values, 12).kind, NOISE_DIPS);
  for (size_t i = 0; i < 12; i++) {
    values[i] = 0.0005 * (double)i / 12; /* far below what matters */
  }
  assert_int_equal(find(values, 12).kind, NOISE_WHITE);
}
