/* GPUs that differ are named, and only those. */
#include "runner/analysis/identify.h"
#include "tests/runner/statistics/numbers.h"

enum { GPUS = 4, RUNS = 5, FEATURES = 4, SAMPLES = GPUS * RUNS };

struct data {
  double features[SAMPLES][FEATURES];
  struct identify_sample samples[SAMPLES];
};

/* GPUs `apart` deviations from each other in every feature, run after run. */
static void make_data(struct data *data, double apart, uint64_t seed) {
  uint64_t state = seed;
  for (size_t i = 0; i < SAMPLES; i++) {
    const size_t gpu = i % GPUS;
    for (size_t f = 0; f < FEATURES; f++) {
      data->features[i][f] = 10 + 1e-3 * (apart * (double)gpu + noise_normal(&state));
    }
    data->samples[i] = (struct identify_sample){(int64_t)(i / GPUS) + 1, gpu, data->features[i]};
  }
}

/* What all samples of the data say of one more. */
static struct identified identified_in(const struct data *data, const double *features) {
  struct identified identified;
  struct identify *identify = identify_new(data->samples, SAMPLES, GPUS, FEATURES);
  identify_name(identify, features, 1, &identified);
  identify_free(identify);
  return identified;
}

TEST(gpus_that_differ_are_named) {
  struct data data;
  make_data(&data, 8, 1);
  struct identify *identify = identify_new(data.samples, SAMPLES, GPUS, FEATURES);
  size_t right = 0;
  size_t total = 0;
  identify_accuracy(identify, &right, &total);
  assert_int_equal(total, SAMPLES);
  assert_int_equal(right, SAMPLES);
  assert_int_equal(identify_confusion(identify, 2, 2), RUNS);
  assert_int_equal(identify_confusion(identify, 2, 1), 0);
  uint64_t random = 99;
  for (size_t gpu = 0; gpu < GPUS; gpu++) {
    double features[FEATURES];
    for (size_t f = 0; f < FEATURES; f++) {
      features[f] = 10 + 1e-3 * (8 * (double)gpu + noise_normal(&random));
    }
    struct identified identified;
    identify_name(identify, features, 1, &identified);
    assert_int_equal(identified.verdict, IDENTIFY_NAMED);
    assert_int_equal(identified.nearest, gpu);
    assert_true(identified.distance < identified.second_distance);
  }
  identify_free(identify);
}

/* Without a difference nobody is named, whatever the luck of the draw. */
TEST(gpus_that_do_not_differ_are_not) {
  size_t named = 0;
  enum { DRAWS = 200 };
  for (uint64_t seed = 1; seed <= DRAWS; seed++) {
    struct data data;
    make_data(&data, 0, seed);
    uint64_t random = seed + 1000000;
    double features[FEATURES];
    for (size_t f = 0; f < FEATURES; f++) {
      features[f] = 10 + 1e-3 * noise_normal(&random);
    }
    const struct identified identified = identified_in(&data, features);
    named += identified.verdict == IDENTIFY_NAMED ? 1 : 0;
    if (identified.verdict == IDENTIFY_NOT_TOLD_APART) {
      assert_true(identified.rival < GPUS && identified.rival != identified.nearest);
      assert_true(identify_guess_p(identified.pair_right, identified.pair_total, 2) >
                  IDENTIFY_ALPHA);
    }
  }
  assert_true(named <= DRAWS / 20);
}

/* Two of four are alike: the others are named, these not. */
TEST(only_what_is_alike_stays_open) {
  struct data data;
  make_data(&data, 8, 3);
  for (size_t i = 0; i < SAMPLES; i++) {
    if (data.samples[i].gpu == 1) { /* as GPU 0, and the runs of both alternate */
      for (size_t f = 0; f < FEATURES; f++) {
        data.features[i][f] = data.features[i - 1][f] + (i / GPUS % 2 == 0 ? 1e-7 : -1e-7);
      }
    }
  }
  struct identified identified = identified_in(&data, data.features[0]);
  assert_int_equal(identified.verdict, IDENTIFY_NOT_TOLD_APART);
  assert_true(identified.nearest + identified.rival == 1);
  identified = identified_in(&data, data.features[3]);
  assert_int_equal(identified.verdict, IDENTIFY_NAMED);
  assert_int_equal(identified.nearest, 3);
}

TEST(a_stranger_is_none_of_them) {
  struct data data;
  make_data(&data, 8, 5);
  const double features[FEATURES] = {11, 11, 11, 11};
  assert_int_equal(identified_in(&data, features).verdict, IDENTIFY_STRANGER);
}

/* One feature gone wrong does not decide. */
TEST(one_bad_feature_is_outvoted) {
  struct data data;
  make_data(&data, 20, 7);
  double features[FEATURES];
  memcpy(features, data.features[1], sizeof features);
  features[0] += 20e-3; /* as of GPU 2 */
  assert_int_equal(identified_in(&data, features).nearest, 1);
}

TEST(one_run_is_too_few) {
  struct data data;
  make_data(&data, 8, 9);
  struct identify *identify = identify_new(data.samples, GPUS, GPUS, FEATURES);
  size_t right = 0;
  size_t total = 0;
  identify_accuracy(identify, &right, &total);
  assert_int_equal(total, 0);
  struct identified identified;
  identify_name(identify, data.features[2], 1, &identified);
  assert_int_equal(identified.verdict, IDENTIFY_TOO_FEW);
  assert_int_equal(identified.nearest, 2);
  identify_free(identify);
  /* A single GPU: there is nothing to tell it from. */
  struct identify_sample alone[RUNS];
  for (size_t i = 0; i < RUNS; i++) {
    alone[i] = data.samples[i * GPUS];
  }
  identify = identify_new(alone, RUNS, 1, FEATURES);
  identify_name(identify, data.features[0], 1, &identified);
  assert_int_equal(identified.verdict, IDENTIFY_TOO_FEW);
  assert_int_equal(identified.second, 1);
  identify_free(identify);
}

TEST(guessing_has_its_chance) {
  assert_true(fabs(identify_guess_p(5, 5, 2) - 1.0 / 32) < 1e-12);
  assert_true(fabs(identify_guess_p(7, 8, 2) - 9.0 / 256) < 1e-12);
  assert_true(fabs(identify_guess_p(0, 8, 2) - 1) < 1e-12);
  assert_true(fabs(identify_guess_p(2, 2, 4) - 1.0 / 16) < 1e-12);
  assert_true(fabs(identify_guess_p(0, 0, 2) - 1) < 1e-12);
}
