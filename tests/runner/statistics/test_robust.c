/* Which of several values is low, and how often one is said to be where none is; median polish:
 * effects of rows and columns, separated from each other and from single cells. */
#include "runner/statistics/robust.h"
#include "tests/runner/statistics/numbers.h"

enum { SETS = 4000, MOST = 56 };

TEST(one_low_among_quiet_ones) {
  for (size_t count = ROBUST_COUNT_MIN; count <= MOST; count++) {
    struct robust_score scores[MOST];
    for (size_t i = 0; i < count; i++) {
      scores[i] = (struct robust_score){.value = 4 - (i == 1 ? 0.03 : 0), .margin = 0.01};
    }
    robust_score_all(scores, count, 0, 1, false);
    for (size_t i = 0; i < count; i++) {
      assert_int_equal(scores[i].low, i == 1);
      ASSERT_WITHIN(scores[i].deviation, i == 1 ? -0.03 : 0, 1e-12);
    }
  }
}

/* Three values without a spread, and the usual one: the robust spread is sqrt(4 x 0.002^2 / (4 +
 * 3)) = 0.00151, and 0.03 are 19.8 of it; the other is sqrt(4 x 0.002^2 / (4 + 2) x 4/3) = 0.00189.
 */
TEST(robust_z_is_as_documented) {
  struct robust_score scores[4] = {
      {.margin = 0.01}, {.margin = 0.01}, {.margin = 0.01}, {.value = -0.03, .margin = 0.01}};
  robust_score_all(scores, 4, 0, 1, false);
  ASSERT_WITHIN(scores[3].robust_z, -15, 1e-6);
  /* With a noise of 0.01 that is known, both are expected, with the weight of eight values; a
   * median absolute deviation of four is worth 0.37 x 3. */
  scores[3].noise = 0.01;
  robust_score_all(scores, 4, 0, 1, false);
  ASSERT_WITHIN(scores[3].robust_z, -0.03 / sqrt(8 * (4e-6 + 1e-4) / (8 + 0.37 * 3)), 1e-6);
  assert_false(scores[3].low);
  /* The median of the deviations 0, 0.01, 0.02, 0.03 is 0.015, times 1.4826 and 1.363. */
  double deviations[] = {0, 0.01, -0.02, 0.03};
  ASSERT_WITHIN(robust_spread(deviations, 4), 0.015 * 1.4826 * 1.363, 1e-9);
}

/* Two of eight: each is among the others of the other one, which only the robust spread forgives.
 */
TEST(two_low_ones_do_not_hide_each_other) {
  struct robust_score scores[8];
  uint64_t seed = 3;
  for (size_t i = 0; i < 8; i++) {
    scores[i] = (struct robust_score){
        .value = 0.001 * noise_normal(&seed) - (i == 2 || i == 5 ? 0.04 : 0), .margin = 0.01};
  }
  robust_score_all(scores, 8, 0, 1, false);
  for (size_t i = 0; i < 8; i++) {
    assert_int_equal(scores[i].low, i == 2 || i == 5);
  }
}

/* Of fleets of nodes that differ by 0.3 %: as many as a third may be 5 % slow, and all are found.
 */
TEST(many_low_ones_do_not_hide_each_other) {
  static const size_t COUNTS[] = {12, 52, 100};
  uint64_t seed = 5;
  for (size_t c = 0; c < COUNT_OF(COUNTS); c++) {
    for (size_t lows = 0; 3 * lows <= COUNTS[c]; lows++) {
      struct robust_score scores[100];
      for (size_t i = 0; i < COUNTS[c]; i++) {
        scores[i] = (struct robust_score){
            .value = 0.003 * noise_normal(&seed) - (i < lows ? 0.05 : 0), .margin = 0.01};
      }
      robust_score_all(scores, COUNTS[c], 0, 1, false);
      for (size_t i = 0; i < COUNTS[c]; i++) {
        assert_int_equal(scores[i].low, i < lows);
      }
    }
  }
}

/* Of four that scatter by 0.2 % as their processes say, one that is 3 % low is found. */
TEST(few_noisy_values_still_tell) {
  uint64_t seed = 4;
  size_t found = 0;
  for (size_t set = 0; set < SETS; set++) {
    struct robust_score scores[4];
    for (size_t i = 0; i < 4; i++) {
      scores[i] = (struct robust_score){.value = 0.002 * noise_normal(&seed) - (i == 0 ? 0.03 : 0),
                                        .noise = 0.002,
                                        .margin = 0.01};
    }
    robust_score_all(scores, 4, 0, 1, false);
    found += scores[0].low;
  }
  assert_true((double)found / SETS > 0.99);
}

TEST(what_is_less_than_the_margin_is_not_low) {
  struct robust_score scores[8] = {0};
  for (size_t i = 0; i < 8; i++) {
    scores[i] = (struct robust_score){.value = i == 0 ? -0.025 : 0, .margin = 0.03};
  }
  robust_score_all(scores, 8, 0, 1, false);
  assert_false(scores[0].low);
  assert_true(scores[0].robust_z < -10);
}

/* Values that a fit made 0 say nothing of the spread of the others. */
TEST(fitted_values_do_not_count) {
  struct robust_score scores[12];
  for (size_t i = 0; i < 12; i++) {
    scores[i] =
        (struct robust_score){.value = i < 7 ? 0 : (i % 2 == 0 ? 0.02 : -0.02), .margin = 0.01};
  }
  robust_score_all(scores, 12, 7, 1, false);
  for (size_t i = 0; i < 12; i++) {
    assert_false(scores[i].low);
  }
}

TEST(a_difference_of_two) {
  struct robust_score one = {.value = -0.03, .margin = 0.01};
  robust_score_pair(&one);
  assert_true(one.low);
  ASSERT_WITHIN(one.robust_z, -0.03 / (1.41421356 * ROBUST_SPREAD), 1e-4);
  one.noise = 0.02;
  robust_score_pair(&one);
  assert_false(one.low);
}

/* Normal values of every spread, quiet to wild: the margin and z together. */
TEST(false_positives_are_rare) {
  static const double SPREADS[] = {0.001, 0.003, 0.006, 0.012, 0.03, 0.1};
  static const size_t COUNTS[] = {3, 4, 8, 12, 56};
  uint64_t seed = 1;
  for (size_t s = 0; s < COUNT_OF(SPREADS); s++) {
    for (size_t c = 0; c < COUNT_OF(COUNTS); c++) {
      size_t reported = 0;
      for (size_t set = 0; set < SETS; set++) {
        struct robust_score scores[MOST];
        bool any = false;
        for (size_t i = 0; i < COUNTS[c]; i++) {
          scores[i] =
              (struct robust_score){.value = SPREADS[s] * noise_normal(&seed), .margin = 0.01};
        }
        robust_score_all(scores, COUNTS[c], 0, 1, false);
        for (size_t i = 0; i < COUNTS[c]; i++) {
          any = any || scores[i].low;
        }
        reported += any;
      }
      /* 1 % is meant, and two where four values alone must tell; of three, hardly anything can. */
      assert_true((double)reported / SETS < (COUNTS[c] == 3   ? 0.07
                                             : COUNTS[c] == 4 ? 0.03
                                                              : 0.015));
    }
  }
}

/* ---- median polish ---- */

enum { GPUS = 4, CELLS = GPUS * (GPUS - 1) };

/* Sources are effects 0 to 3, targets 4 to 7; no diagonal. */
static size_t square(struct median_polish_cell *cells, const double *effects) {
  size_t count = 0;
  for (size_t a = 0; a < GPUS; a++) {
    for (size_t b = 0; b < GPUS; b++) {
      if (a != b) {
        cells[count++] = (struct median_polish_cell){
            .a = a, .b = GPUS + b, .value = 6 + effects[a] + effects[GPUS + b]};
      }
    }
  }
  return count;
}

TEST(level_effects_and_rest_make_the_value) {
  /* The median of each kind is 0, as the fit has them. */
  static const double EFFECTS[] = {-0.03, 0, 0, 0.01, -0.02, -0.01, 0.01, 0.03};
  struct median_polish_cell cells[CELLS];
  double effects[2 * GPUS];
  double level = 0;
  const size_t count = square(cells, EFFECTS);
  assert_int_equal(count, CELLS);
  assert_true(median_polish_is_safe(cells, count, 2 * GPUS));
  median_polish_fit(cells, count, 2 * GPUS, GPUS, effects, &level);
  for (size_t i = 0; i < count; i++) {
    const double fitted = level + effects[cells[i].a] + effects[cells[i].b];
    ASSERT_WITHIN(fitted + cells[i].residual, cells[i].value, 1e-12);
  }
}

TEST(a_slow_gpu_is_its_row_and_column) {
  static const double EFFECTS[] = {0, -0.03, 0, 0, 0, -0.03, 0, 0};
  struct median_polish_cell cells[CELLS];
  double effects[2 * GPUS];
  double level = 0;
  const size_t count = square(cells, EFFECTS);
  median_polish_fit(cells, count, 2 * GPUS, GPUS, effects, &level);
  ASSERT_WITHIN(level, 6, 1e-9);
  for (size_t e = 0; e < 2 * GPUS; e++) {
    ASSERT_WITHIN(effects[e], EFFECTS[e], 1e-9);
  }
  for (size_t i = 0; i < count; i++) {
    ASSERT_WITHIN(cells[i].residual, 0, 1e-9);
  }
}

/* One wild cell, wherever it is, stays where it is. */
TEST(a_wild_cell_pulls_nothing) {
  static const double NONE[2 * GPUS] = {0};
  for (size_t wild = 0; wild < CELLS; wild++) {
    struct median_polish_cell cells[CELLS];
    double effects[2 * GPUS];
    double level = 0;
    const size_t count = square(cells, NONE);
    cells[wild].value -= 0.5;
    median_polish_fit(cells, count, 2 * GPUS, GPUS, effects, &level);
    ASSERT_WITHIN(level, 6, 1e-9);
    for (size_t e = 0; e < 2 * GPUS; e++) {
      ASSERT_WITHIN(effects[e], 0, 1e-9);
    }
    for (size_t i = 0; i < count; i++) {
      ASSERT_WITHIN(cells[i].residual, i == wild ? -0.5 : 0, 1e-9);
    }
  }
}

/* Pairs without a direction: each cell has the effects of two GPUs. */
TEST(symmetric_tables_have_one_kind) {
  struct median_polish_cell cells[CELLS / 2];
  double effects[GPUS];
  double level = 0;
  size_t count = 0;
  for (size_t a = 0; a < GPUS; a++) {
    for (size_t b = a + 1; b < GPUS; b++) {
      cells[count++] =
          (struct median_polish_cell){.a = a, .b = b, .value = b == 2 || a == 2 ? 4 : 5};
    }
  }
  assert_true(median_polish_is_safe(cells, count, GPUS));
  assert_int_equal(median_polish_parameters(GPUS, GPUS), GPUS);
  median_polish_fit(cells, count, GPUS, GPUS, effects, &level);
  ASSERT_WITHIN(level, 5, 1e-9);
  for (size_t e = 0; e < GPUS; e++) {
    ASSERT_WITHIN(effects[e], e == 2 ? -1 : 0, 1e-9);
  }
}

TEST(two_cells_are_not_safe) {
  struct median_polish_cell cells[6];
  size_t count = 0;
  for (size_t a = 0; a < 3; a++) {
    for (size_t b = 0; b < 3; b++) {
      if (a != b) {
        cells[count++] = (struct median_polish_cell){.a = a, .b = 3 + b, .value = 1};
      }
    }
  }
  assert_false(median_polish_is_safe(cells, count, 6));
  assert_false(median_polish_is_safe(cells, 0, 0));
  assert_int_equal(median_polish_parameters(8, 4), 7);
}

/* Shares of 52, 60, 100 and 1000 values are slower by 5 %, which spread by 0.5 %: all of them
 * are low in 19 of 20 fleets, and nothing else. */
TEST(a_slow_share_is_low_and_nothing_else) {
  enum { VALUES_MOST = 1000, TRIALS = 40 };
  static const size_t COUNTS[] = {52, 60, 100, 1000};
  static const double SHARES[] = {0, 0.1, 0.2, 0.4};
  static struct robust_score scores[VALUES_MOST];
  uint64_t seed = 31;
  for (size_t c = 0; c < COUNT_OF(COUNTS); c++) {
    for (size_t s = 0; s < COUNT_OF(SHARES); s++) {
      const size_t slow = (size_t)round(SHARES[s] * (double)COUNTS[c]);
      size_t right = 0;
      for (size_t trial = 0; trial < TRIALS; trial++) {
        size_t wrong = 0;
        for (size_t i = 0; i < COUNTS[c]; i++) {
          scores[i] = (struct robust_score){
              .value = 0.005 * noise_normal(&seed) + (i < slow ? log(0.95) : 0), .margin = 0.02};
        }
        robust_score_all(scores, COUNTS[c], 0, 4, false);
        for (size_t i = 0; i < COUNTS[c]; i++) {
          wrong += scores[i].low != (i < slow);
        }
        right += wrong == 0;
      }
      assert_in_range(right, TRIALS * 95 / 100, TRIALS);
    }
  }
}
