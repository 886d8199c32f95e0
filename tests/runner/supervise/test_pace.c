#include "runner/supervise/pace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void believes_estimates_at_first(void **state) {
  (void)state;
  struct pace pace = {0};
  pace_add(&pace, 1000);
  pace_add(&pace, 500);
  assert_int_equal(pace_left_ns(&pace, 0), 1500);
  assert_int_equal(pace_left_ns(&pace, 200), 1300);
}

static void corrects_by_what_was_seen(void **state) {
  (void)state;
  struct pace pace = {0};
  pace_add(&pace, 1000);
  pace_add(&pace, 1000);
  pace_finish(&pace, 1000, 100);
  assert_int_equal(pace_left_ns(&pace, 0), 100);
  assert_int_equal(pace_left_ns(&pace, 40), 60);
}

static void never_less_than_nothing(void **state) {
  (void)state;
  struct pace pace = {0};
  assert_int_equal(pace_left_ns(&pace, 0), 0);
  pace_add(&pace, 10);
  assert_int_equal(pace_left_ns(&pace, 50), 0);
  pace_finish(&pace, 10, 50);
  assert_int_equal(pace_left_ns(&pace, 0), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(believes_estimates_at_first),
      cmocka_unit_test(corrects_by_what_was_seen),
      cmocka_unit_test(never_less_than_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
