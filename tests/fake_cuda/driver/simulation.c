/* How this driver says that it is a fake one (engine/cuda/driver.h). */
#include "tests/fake_cuda/machine/config.h"

__attribute__((visibility("default"))) const struct simulation *haul_simulation(void);

const struct simulation *haul_simulation(void) {
  bool broken;
  return &config_get(&broken)->simulation;
}
