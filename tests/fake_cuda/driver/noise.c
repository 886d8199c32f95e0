/* Noise of a machine: durations of operations scatter, and the mean of a path differs a little from
 * process to process. Drawn from splitmix64 (Steele, Lea, Flood, OOPSLA 2014, figure 17); the
 * operations' draws depend on the seed alone, those of a process on its id as well. */
#include "tests/fake_cuda/driver/conductor.h"

#include <math.h>
#include <unistd.h>

static uint64_t splitmix(uint64_t *state) {
  *state += UINT64_C(0x9E3779B97F4A7C15);
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

static double uniform(uint64_t *state) {
  return ((double)(splitmix(state) >> 11) + 0.5) * 0x1p-53;
}

/* Box and Muller, one of the two values. */
static double normal(uint64_t *state) {
  double radius = sqrt(-2 * log(uniform(state)));
  return radius * cos(2 * 3.14159265358979323846 * uniform(state));
}

/* The same path in the same process has the same factor. */
static double process_factor(const struct fake_config *config, const struct work *work) {
  uint64_t state = config->seed ^ ((uint64_t)getpid() << 32);
  for (uint32_t i = 0; i < work->use_count; i++) {
    state ^= work->uses[i].resource + 1;
    state = splitmix(&state);
  }
  return 1 + config->noise_between * normal(&state);
}

double noise_factor(const struct work *work) {
  const struct fake_config *config = conductor.config;
  if (config->noise_within <= 0 && config->noise_between <= 0) {
    return 1;
  }
  if (conductor.random == 0) {
    conductor.random = config->seed + 1;
  }
  double factor =
      process_factor(config, work) * (1 + config->noise_within * normal(&conductor.random));
  return fmax(factor, 0.1); /* a duration is positive, whatever was drawn */
}
