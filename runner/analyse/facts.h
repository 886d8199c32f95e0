/* facts.h - what differs between the environments of two sides. */
#ifndef HAUL_RUNNER_ANALYSE_FACTS_H
#define HAUL_RUNNER_ANALYSE_FACTS_H

#include "runner/analyse/compare.h"

/* Fills facts and totals of the comparison. The boot's id is left out: boots are counted. */
void facts_compare(const struct measured *measured, const enum side *sides,
                   struct comparison *comparison);

#endif
