/* numbers.h - numbers that agree to so many digits, and seeded normal numbers for simulations. */
#pragma once

#include "tests/cmocka.h"

#include <math.h>

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

/* splitmix64 */
static inline double noise_uniform(uint64_t *state) {
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  z ^= z >> 31;
  return ((double)(z >> 11) + 0.5) / 9007199254740992.0;
}

/* Box and Muller */
static inline double noise_normal(uint64_t *state) {
  const double radius = sqrt(-2 * log(noise_uniform(state)));
  return radius * cos(6.283185307179586 * noise_uniform(state));
}
