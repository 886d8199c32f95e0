/* The clock of the processor, as a loop of dependent additions sees it. */
#include "engine/host/cpu_clock.h"

#include "tests/cmocka.h"

/* Any processor of today, and each look like the last: the fastest of ten, so that a processor that
 * others use as well changes nothing. */
static uint32_t fastest_khz(void) {
  uint32_t fastest = 0;
  for (int i = 0; i < 10; i++) {
    const uint32_t khz = cpu_clock_khz();
    fastest = khz > fastest ? khz : fastest;
  }
  return fastest;
}

static void the_clock_is_plausible_and_steady(void **state) {
  (void)state;
#if defined(__x86_64__) || defined(__aarch64__)
  const uint32_t first = fastest_khz();
  const uint32_t second = fastest_khz();
  assert_in_range(first, 400000, 8000000);
  assert_in_range(second, 2 * first / 3, 3 * first / 2);
#else
  assert_int_equal(fastest_khz(), 0);
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_clock_is_plausible_and_steady)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
