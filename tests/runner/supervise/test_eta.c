/* The time that is left of a run. */
#include "runner/supervise/supervise.h"

#include "tests/cmocka.h"

TEST(eta_corrects_estimates) {
  struct eta eta = {0};
  assert_int_equal(eta_left_ns(&eta, 0), 0);
  eta_add(&eta, 1000);
  eta_add(&eta, 1000);
  assert_int_equal(eta_left_ns(&eta, 0), 2000);
  assert_int_equal(eta_left_ns(&eta, 200), 1800);
  eta_finish(&eta, 1000, 100);
  assert_int_equal(eta_left_ns(&eta, 0), 100);
  assert_int_equal(eta_left_ns(&eta, 40), 60);
  assert_int_equal(eta_left_ns(&eta, 150), 0);
  eta_finish(&eta, 1000, 5000);
  assert_int_equal(eta_left_ns(&eta, 0), 0);
}
