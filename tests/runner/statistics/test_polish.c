/* Effects of rows and columns, apart from each other and from single cells. */
#include "runner/statistics/robust.h"

#include "tests/runner/statistics/near.h"

#include <string.h>

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

static void level_effects_and_rest_make_the_value(void **state) {
  (void)state;
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

static void a_slow_gpu_is_its_row_and_column(void **state) {
  (void)state;
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
static void a_wild_cell_pulls_nothing(void **state) {
  (void)state;
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
static void symmetric_tables_have_one_kind(void **state) {
  (void)state;
  struct median_polish_cell cells[CELLS / 2];
  double effects[GPUS];
  double level = 0;
  size_t count = 0;
  for (size_t a = 0; a < GPUS; a++) {
    for (size_t b = a + 1; b < GPUS; b++) {
      cells[count++] = (struct median_polish_cell){.a = a, .b = b, .value = b == 2 || a == 2 ? 4 : 5};
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

static void two_cells_are_not_safe(void **state) {
  (void)state;
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(level_effects_and_rest_make_the_value),
      cmocka_unit_test(a_slow_gpu_is_its_row_and_column),
      cmocka_unit_test(a_wild_cell_pulls_nothing),
      cmocka_unit_test(symmetric_tables_have_one_kind),
      cmocka_unit_test(two_cells_are_not_safe),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
