/* cpu_clock.h - at which clock the calling processor really runs. What /proc/cpuinfo and cpufreq
 * tell is what was asked for, and in a virtual machine not even that. */
#pragma once

#include <stdint.h>

/* kHz, from a timed chain of dependent additions, one per cycle; the fastest of some rounds, so
 * that an interrupt costs nothing. Takes some 10^5 cycles. 0 = not known on this architecture. */
uint32_t cpu_clock_khz(void);
