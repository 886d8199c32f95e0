#include "engine/host/cpu_clock.h"

#include "engine/base/clock.h"

enum { ROUNDS = 3, CHAIN = 64, CHAINS = 512 };

/* Additions of a register, not of a constant: processors from Golden Cove on execute the latter
 * while they rename registers, several in a cycle. */
#if defined(__x86_64__)
#define CHAIN_TEXT "1:\n.rept %c3\nadd %2, %0\n.endr\nsub $1, %1\njnz 1b"
#elif defined(__aarch64__)
#define CHAIN_TEXT "1:\n.rept %c3\nadd %0, %0, %2\n.endr\nsubs %1, %1, #1\nb.ne 1b"
#endif

uint32_t cpu_clock_khz(void) {
#ifdef CHAIN_TEXT
  uint64_t fastest_ns = UINT64_MAX;
  for (int round = 0; round < ROUNDS; round++) {
    uint64_t sum = 0;
    uint64_t left = CHAINS;
    const uint64_t one = 1;
    const uint64_t start_ns = clock_now_ns();
    __asm__ volatile(CHAIN_TEXT : "+r"(sum), "+r"(left) : "r"(one), "i"(CHAIN) : "cc");
    const uint64_t elapsed_ns = clock_now_ns() - start_ns;
    fastest_ns = elapsed_ns < fastest_ns ? elapsed_ns : fastest_ns;
  }
  return fastest_ns == 0 ? 0 : (uint32_t)(UINT64_C(1000000) * CHAIN * CHAINS / fastest_ns);
#else
  return 0;
#endif
}
