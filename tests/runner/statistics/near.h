/* near.h - numbers that agree to so many digits. */
#ifndef HAUL_TESTS_RUNNER_STATISTICS_NEAR_H
#define HAUL_TESTS_RUNNER_STATISTICS_NEAR_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* Relative to the wanted value; 1e-300 for those that should be zero. */
#define ASSERT_NEAR(found, wanted, tolerance)                                                      \
  do {                                                                                             \
    const double found_ = (found);                                                                 \
    const double wanted_ = (wanted);                                                               \
    if (!(fabs(found_ - wanted_) <= (tolerance)*fabs(wanted_) + 1e-300)) {                         \
      print_error("%s is %.15g, not %.15g\n", #found, found_, wanted_);                            \
      fail();                                                                                      \
    }                                                                                              \
  } while (0)

/* The same, absolute. */
#define ASSERT_WITHIN(found, wanted, distance)                                                     \
  do {                                                                                             \
    const double found_ = (found);                                                                 \
    const double wanted_ = (wanted);                                                               \
    if (!(fabs(found_ - wanted_) <= (distance))) {                                                 \
      print_error("%s is %.15g, not %.15g\n", #found, found_, wanted_);                            \
      fail();                                                                                      \
    }                                                                                              \
  } while (0)

#endif
