/* random.h - a sequence that looks random and repeats: for orders and places that must be the same
 * in every run. */
#pragma once

#include <stdint.h>

/* Splitmix64 (Steele, Lea and Flood, OOPSLA 2014, figure 17); any state is a seed. */
static inline uint64_t random_next(uint64_t *state) {
  *state += UINT64_C(0x9E3779B97F4A7C15);
  uint64_t value = *state;
  value = (value ^ value >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  value = (value ^ value >> 27) * UINT64_C(0x94D049BB133111EB);
  return value ^ value >> 31;
}
