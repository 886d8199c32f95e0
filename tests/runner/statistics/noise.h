/* noise.h - seeded normal numbers for simulated machines. */
#ifndef HAUL_TESTS_RUNNER_STATISTICS_NOISE_H
#define HAUL_TESTS_RUNNER_STATISTICS_NOISE_H

#include <math.h>
#include <stdint.h>

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

#endif
