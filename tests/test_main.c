/* test_main.c - runs the tests of a program that TEST() defined. */
#include "engine/base/arena.h"
#include "engine/base/order.h"
#include "tests/cmocka.h"

/* The linker's names of both ends of the section. */
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern const struct test *__start_haul_tests[], *__stop_haul_tests[];

/* Unless the program has them. */
const struct test_group test_group __attribute__((weak)) = {NULL, NULL};
__attribute__((weak)) int test_options(int argc, char **argv) {
  (void)argc;
  (void)argv;
  return TEST_GO_ON;
}

ORDER_DEFINE(test_compare, struct test *const, ORDER((*x)->line, (*y)->line))

int main(int argc, char **argv) {
  const int code = test_options(argc, argv);
  if (code != TEST_GO_ON) {
    return code;
  }
  const size_t count = (size_t)(__stop_haul_tests - __start_haul_tests);
  SCOPED(memory_free) struct CMUnitTest *tests = memory_new(count, sizeof *tests);
  ORDER_SORT(__start_haul_tests, count, test_compare);
  for (size_t i = 0; i < count; i++) {
    tests[i] = __start_haul_tests[i]->test;
  }
  return _cmocka_run_group_tests("tests", tests, count, test_group.set_up, test_group.tear_down);
}
