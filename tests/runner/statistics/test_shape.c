/* Samples of two kinds are told from noise. */
#include "runner/statistics/shape.h"
#include "tests/runner/statistics/numbers.h"

enum { COUNT_MAX = 2000 };

static double values[COUNT_MAX];
static double scratch[COUNT_MAX];

static void fill(size_t count, double sd, uint64_t *seed) {
  for (size_t i = 0; i < count; i++) {
    values[i] = 10 + sd * noise_normal(seed);
  }
}

TEST(noise_has_one_shape) {
  static const size_t COUNTS[] = {4, 5, 6, 7, 8, 10, 15, 30};
  enum { SAMPLES = 5000 };
  for (size_t c = 0; c < COUNT_OF(COUNTS); c++) {
    uint64_t seed = 20 + c;
    size_t found = 0;
    for (size_t i = 0; i < SAMPLES; i++) {
      fill(COUNTS[c], 0.02, &seed);
      found += shape_find(values, COUNTS[c], 0, scratch).kind != SHAPE_PLAIN;
    }
    assert_in_range(found, 0, SAMPLES * 3 / 1000); /* one in a thousand of either kind */
  }
}

/* Levels, which are tested again, are found more easily: in one sample of a hundred. */
TEST(levels_are_less_strict) {
  static const size_t COUNTS[] = {10, 20, 30};
  enum { SAMPLES = 5000 };
  for (size_t c = 0; c < COUNT_OF(COUNTS); c++) {
    uint64_t seed = 40 + c;
    size_t found = 0;
    for (size_t i = 0; i < SAMPLES; i++) {
      struct shape shape;
      fill(COUNTS[c], 0.02, &seed);
      found += shape_levels(values, COUNTS[c], &shape, scratch);
    }
    assert_in_range(found, SAMPLES * 3 / 1000, SAMPLES * 15 / 1000);
  }
}

/* Sixty of one mode in steps as wide as their standard deviation: the medians of both parts are
 * steps next to each other, and nothing can be between them. */
TEST(coarse_values_have_no_valley) {
  static const size_t OF_STEP[] = {4, 14, 24, 14, 4};
  size_t count = 0;
  struct shape shape;
  for (size_t s = 0; s < COUNT_OF(OF_STEP); s++) {
    for (size_t i = 0; i < OF_STEP[s]; i++) {
      values[count++] = (double)s;
    }
  }
  assert_false(shape_levels(values, count, &shape, scratch));
}

/* Between two levels of many values some lie, so that no gap is wide; uniform values have none. */
TEST(levels_have_a_valley_between_them) {
  enum { SAMPLES = 500, COUNT = 1000, LOW = 300 };
  uint64_t seed = 44;
  size_t found = 0;
  for (size_t i = 0; i < SAMPLES; i++) {
    struct shape shape;
    fill(COUNT, 0.0045, &seed);
    for (size_t p = 0; p < LOW; p++) {
      values[p] -= 0.03;
    }
    for (size_t p = 0; p < 4; p++) {
      values[p] = 10 - 0.006 * (double)(p + 1);
    }
    assert_true(shape_levels(values, COUNT, &shape, scratch));
    assert_in_range(shape.low_count, LOW - 5, LOW + 5);
    ASSERT_WITHIN(shape.low, 9.97, 0.002);
    ASSERT_WITHIN(shape.high, 10, 0.002);
    for (size_t p = 0; p < COUNT; p++) {
      values[p] = noise_uniform(&seed);
    }
    found += shape_levels(values, COUNT, &shape, scratch);
  }
  assert_in_range(found, 0, SAMPLES / 100);
}

TEST(two_modes_are_named) {
  uint64_t seed = 2;
  size_t found = 0;
  for (size_t i = 0; i < 200; i++) {
    fill(10, 0.0015, &seed);
    for (size_t p = 0; p < 10; p++) {
      values[p] += p % 5 < 3 ? 0 : 0.024;
    }
    const struct shape shape = shape_find(values, 10, 0.01, scratch);
    found += shape.kind == SHAPE_TWO_MODES && shape.low_count == 6 && shape.high_count == 4;
    if (shape.kind == SHAPE_TWO_MODES) {
      ASSERT_WITHIN(shape.low, 10, 0.003);
      ASSERT_WITHIN(shape.high, 10.024, 0.003);
    }
    /* Where 3 % matters, modes 2.4 % apart do not. */
    assert_int_equal(shape_find(values, 10, 0.03, scratch).kind, SHAPE_PLAIN);
  }
  assert_true(found > 190);
}

/* A gap just above the margin, wherever it begins, and one value apart from thousands. */
TEST(thousands_have_shapes_too) {
  uint64_t seed = 3;
  fill(COUNT_MAX, 0.002, &seed);
  assert_int_equal(shape_find(values, COUNT_MAX, 0.01, scratch).kind, SHAPE_PLAIN);
  values[7] = 10.03;
  const struct shape apart = shape_find(values, COUNT_MAX, 0.01, scratch);
  assert_int_equal(apart.kind, SHAPE_OUTLIER);
  assert_int_equal(apart.outlier, 7);
  for (int step = 0; step < 10; step++) {
    for (size_t i = 0; i < COUNT_MAX; i++) {
      values[i] = 10 + 0.001 * (double)(i % 10) + (i % 2 == 0 ? 0 : 0.0192 + 0.0005 * step);
    }
    const struct shape shape = shape_find(values, COUNT_MAX, 0.01, scratch);
    assert_int_equal(shape.kind, SHAPE_TWO_MODES); /* from 10.008 to 10.0202 and on */
    assert_int_equal(shape.low_count, COUNT_MAX / 2);
  }
}

TEST(a_process_apart_is_named) {
  for (size_t at = 0; at < 10; at++) {
    uint64_t seed = 5 + at;
    fill(10, 0.002, &seed);
    values[at] += at % 2 == 0 ? 0.04 : -0.04;
    const struct shape shape = shape_find(values, 10, 0.01, scratch);
    assert_int_equal(shape.kind, SHAPE_OUTLIER);
    assert_int_equal(shape.outlier, at);
    ASSERT_WITHIN(shape.high, 10, 0.003);
  }
  assert_int_equal(shape_find(values, 3, 0.01, scratch).kind, SHAPE_PLAIN);
  assert_int_equal(shape_find(values, 0, 0.01, scratch).kind, SHAPE_PLAIN);
}

/* Equal values have no spread to hold a gap against: any gap that matters is one. */
TEST(equal_values) {
  uint64_t seed = 1;
  fill(10, 0, &seed);
  assert_int_equal(shape_find(values, 10, 0.01, scratch).kind, SHAPE_PLAIN);
  values[3] = 10.02;
  assert_int_equal(shape_find(values, 10, 0.01, scratch).kind, SHAPE_OUTLIER);
  values[7] = 10.02;
  assert_int_equal(shape_find(values, 10, 0.01, scratch).kind, SHAPE_TWO_MODES);
}
