#include "engine/case/visits.h"

#include "tests/cmocka.h"

#include <math.h>

enum { TRIALS = 9 };

static void assert_near(double found, double expected, double tolerance) {
  assert_true(fabs(found - expected) <= tolerance);
}

/* A visit per level: a third of its trials at that level, the others slower by those shares. */
static void judge(const double *levels, size_t visits, bool precise, double slower,
                  struct visits_found *found) {
  struct trial trials[(VISITS_MAX + 1) * TRIALS] = {{0}};
  size_t count = 0;
  for (uint32_t visit = 0; visit < visits; visit++) {
    for (unsigned i = 0; i < TRIALS; i++) {
      const double factor = i % 3 == 0 ? 1 : 1 + slower * i;
      trials[count++] = (struct trial){.visit = visit,
                                       .phase = TRIAL_MEASURE,
                                       .iterations = 2,
                                       .elapsed_ns = (uint64_t)(2000 * levels[visit] * factor)};
    }
    trials[count++] =
        (struct trial){.visit = visit, .phase = TRIAL_WARMUP, .iterations = 1, .elapsed_ns = 1};
  }
  visits_judge(trials, count, precise, 0.002, found);
  assert_int_equal(found->visits, visits);
}

static void a_level_that_came_back_is_the_undisturbed_one(void **state) {
  (void)state;
  struct visits_found found;
  judge((double[]){1200, 1000, 1100, 1001}, 4, false, 0.011, &found);
  assert_int_equal(found.settled, SETTLED_YES);
  assert_near(found.undisturbed_ns, 1001000, 1);
  assert_near(found.low_ns, 1000000, 1);
  assert_near(found.high_ns, 1001000, 1);
  /* All of the first and third visit, and five of nine trials in the others. */
  assert_near(found.disturbed_share, 28.0 / 36, 1e-9);
  assert_near(found.disturbed_most, 1200 * 1.088 / 1001 - 1, 0.001);
}

static void one_fast_visit_is_not_believed(void **state) {
  (void)state;
  struct visits_found found;
  judge((double[]){1000, 1100}, 2, false, 0.01, &found);
  assert_int_equal(found.settled, SETTLED_BUDGET);
  assert_near(found.undisturbed_ns, 0, 0);
  judge((double[]){1000, 1100, 1101}, 3, false, 0.01, &found);
  assert_int_equal(found.settled, SETTLED_BUDGET);
  judge((double[]){1000, 1100, 1101, 1100.5}, 4, false, 0.01, &found);
  assert_int_equal(found.settled, SETTLED_YES);
  assert_near(found.undisturbed_ns, 1100500, 1);
}

static void a_neighbour_who_never_rests_leaves_no_number(void **state) {
  (void)state;
  struct visits_found found;
  judge((double[]){1000, 1010, 1020, 1030, 1040, 1050, 1060, 1070}, VISITS_MAX, false, 0.01,
        &found);
  assert_int_equal(found.settled, SETTLED_NOISE);
  assert_near(found.undisturbed_ns, 0, 0);
  assert_near(found.disturbed_share, 0, 0);
}

static void a_precise_first_visit_is_enough(void **state) {
  (void)state;
  struct visits_found found;
  judge((double[]){1000}, 1, true, 0, &found);
  assert_int_equal(found.settled, SETTLED_YES);
  assert_near(found.undisturbed_ns, 1000000, 1);
  assert_true(found.low_ns <= found.undisturbed_ns && found.undisturbed_ns <= found.high_ns);
  judge((double[]){1000}, 1, false, 0, &found);
  assert_int_equal(found.settled, SETTLED_BUDGET);
}

static void without_trials_there_is_nothing(void **state) {
  (void)state;
  struct visits_found found;
  visits_judge(NULL, 0, false, 0.002, &found);
  assert_int_equal(found.settled, SETTLED_NOT);
  assert_int_equal(found.visits, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_level_that_came_back_is_the_undisturbed_one),
      cmocka_unit_test(one_fast_visit_is_not_believed),
      cmocka_unit_test(a_neighbour_who_never_rests_leaves_no_number),
      cmocka_unit_test(a_precise_first_visit_is_enough),
      cmocka_unit_test(without_trials_there_is_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
