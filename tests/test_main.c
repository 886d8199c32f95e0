/* test_main.c - runs the tests of a program that TEST() defined. */
#include "engine/base/order.h"
#include "tests/cmocka.h"

/* The linker's names of both ends of the section. */
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern const struct test *const __start_haul_tests[], *const __stop_haul_tests[];

/* Unless the program has one. */
const struct test_group test_group __attribute__((weak)) = {NULL, NULL};

ORDER_DEFINE(test_compare, struct test, ORDER(x->line, y->line))

int main(void) {
  enum { TESTS_MAX = 256 };
  struct test found[TESTS_MAX];
  struct CMUnitTest tests[TESTS_MAX];
  const size_t count = (size_t)(__stop_haul_tests - __start_haul_tests);
  if (count > TESTS_MAX) {
    return EXIT_FAILURE;
  }
  for (size_t i = 0; i < count; i++) {
    found[i] = *__start_haul_tests[i];
  }
  ORDER_SORT(found, count, test_compare);
  for (size_t i = 0; i < count; i++) {
    tests[i] = found[i].test;
  }
  return _cmocka_run_group_tests("tests", tests, count, test_group.set_up, test_group.tear_down);
}
