/* The gate: holds a stream until the host opens it, so that enqueueing is outside the timed part.
 */
#include "kernels/kernels.h"
#include "kernels/timer.cuh"

extern "C" __global__ void haul_gate(const struct gate_arguments arguments) {
  const volatile uint32_t *flag = (const volatile uint32_t *)arguments.flag;
  volatile uint32_t *report = (volatile uint32_t *)arguments.report;
  const uint64_t start_ns = global_timer_ns();
  uint32_t outcome = GATE_OPENED;
  while (*flag != arguments.open) {
    if (global_timer_ns() - start_ns > arguments.timeout_ns) {
      outcome = GATE_TIMED_OUT;
      break;
    }
  }
  *report = outcome;
}

/* Nothing: what remains is the launch. */
extern "C" __global__ void haul_empty(const struct empty_arguments arguments) {
  (void)arguments;
}

extern "C" __global__ void haul_empty_4k(const struct empty_4k_arguments arguments) {
  (void)arguments;
}
