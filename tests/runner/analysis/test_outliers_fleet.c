/* Which nodes of a fleet became slower. */
#include "runner/analysis/outliers.h"
#include "tests/runner/analysis/made.h"

enum { HOSTS = 10, SIZES = 3, CASES = MADE_GPUS * SIZES };
static const char *const KEYS[CASES] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};

/* Ten nodes, of which so many are 5 % slower in B: each is certain, for what the others of them do
 * is no noise of the rest; of most as well. */
static void check_slow(size_t slow) {
  enum side sides[2 * HOSTS];
  struct measured *m = measured_new();
  for (size_t h = 0; h < HOSTS; h++) {
    const size_t at = made_environment(m, arena_format(&m->arena, "n%zu", h), "580.1", false);
    sides[made_run(m, at)] = SIDE_A;
    sides[made_run(m, at)] = SIDE_B;
  }
  for (size_t i = 0; i < CASES; i++) {
    const size_t bench = made_case(m, KEYS[i], "down", (int)i % MADE_GPUS, (1 + i / 4) << 20);
    for (size_t run = 0; run < 2 * HOSTS; run++) {
      made_medians(m, bench, run, run < 2 * slow && sides[run] == SIDE_B ? 47.5 : 50, 3);
    }
  }
  struct outliers *outliers = NULL;
  struct error err = {0};
  const struct outliers_options options = {.sides = sides, .changes = true};
  assert_int_equal(outliers_find(m, &options, &outliers, &err), STATUS_OK);
  assert_int_equal(outliers->part_count, slow);
  for (size_t i = 0; i < slow; i++) {
    assert_string_equal(outliers->parts[i].name, outliers->parts[i].host);
    assert_true(outliers->parts[i].certain);
    assert_int_equal(outliers->parts[i].slow_cases, CASES);
  }
  outliers_free(outliers);
  measured_free(m);
}

static void several_nodes_that_changed_are_certain(void **state) {
  (void)state;
  check_slow(0);
  check_slow(2);
  check_slow(4);
}

static void most_nodes_that_changed_are_certain(void **state) {
  (void)state;
  check_slow(6);
  check_slow(8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(several_nodes_that_changed_are_certain),
      cmocka_unit_test(most_nodes_that_changed_are_certain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
