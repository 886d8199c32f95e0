/* generator.h - random numbers that are the same everywhere: xoshiro256++ (Blackman and Vigna
 * 2019), seeded by splitmix64. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct generator {
  uint64_t state[4];
  double spare;
  bool has_spare;
};

static inline void generator_seed(struct generator *g, uint64_t seed) {
  for (int i = 0; i < 4; i++) {
    uint64_t z = (seed += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    g->state[i] = z ^ (z >> 31);
  }
  g->has_spare = false;
}

static inline uint64_t rotate(uint64_t x, int k) {
  return (x << k) | (x >> (64 - k));
}

static inline double uniform(struct generator *g) {
  uint64_t *s = g->state;
  const uint64_t result = rotate(s[0] + s[3], 23) + s[0];
  const uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate(s[3], 45);
  return ((double)(result >> 11) + 0.5) / 9007199254740992.0;
}

/* Marsaglia's polar method. */
static inline double normal(struct generator *g) {
  if (g->has_spare) {
    g->has_spare = false;
    return g->spare;
  }
  double u = 0;
  double v = 0;
  double s = 0;
  do {
    u = 2 * uniform(g) - 1;
    v = 2 * uniform(g) - 1;
    s = u * u + v * v;
  } while (s >= 1 || s == 0);
  const double factor = sqrt(-2 * log(s) / s);
  g->spare = v * factor;
  g->has_spare = true;
  return u * factor;
}
