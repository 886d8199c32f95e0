/* definition.h - what differs between two measurements that have one name. */
#ifndef HAUL_RUNNER_ANALYSE_DEFINITION_H
#define HAUL_RUNNER_ANALYSE_DEFINITION_H

#include "engine/base/arena.h"

/* The first value that differs in two definitions (runner/plan/key.h: canonical JSON), as
 * "min_trial_ns 200000 became 100000"; "it is defined otherwise" where no one value tells it. */
const char *definition_difference(struct arena *arena, const char *a, const char *b);

#endif
