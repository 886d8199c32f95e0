/* The clock of the processor, as a loop of dependent additions sees it. */
#include "engine/host/cpu_clock.h"

#include "tests/cmocka.h"

/* No look sees more than any processor of today does. One at least sees the processor at work:
 * others that use it as well, or a host that takes it away, make many a look see less. */
TEST(the_clock_is_plausible) {
#if defined(__x86_64__) || defined(__aarch64__)
  uint32_t fastest = 0;
  for (int i = 0; i < 1000 && fastest < 400000; i++) {
    const uint32_t khz = cpu_clock_khz();
    fastest = khz > fastest ? khz : fastest;
  }
  assert_in_range(fastest, 400000, 8000000);
#else
  assert_int_equal(cpu_clock_khz(), 0);
#endif
}
