/* random_scenario.h - texts of random scenarios: blocks of every kind, with axes of ends, memory,
 * direction, size and more. One seed gives one text. Many of them mean something on the machines of
 * tests/machines; some break a rule of the language. */
#pragma once

#include "engine/base/strbuf.h"

#include <stdint.h>

enum { RANDOM_SCENARIO_MAX = 1 << 16 };

/* Appends to a buffer that may grow to RANDOM_SCENARIO_MAX. */
void random_scenario(uint64_t seed, struct strbuf *text);
