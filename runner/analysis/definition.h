/* definition.h - definitions of cases (runner/plan/definition.h): JSON that names all that is
 * measured.
 *
 * Nothing here knows the kinds of cases; a text that is not JSON only equals itself. */
#pragma once

#include "engine/base/arena.h"

#include <stdint.h>

/* The first value that differs in two definitions, as "min_trial 200us became 100us"; "it is
 * defined otherwise" where one value does not tell it. */
const char *definition_difference(struct arena *arena, const char *a, const char *b);
/* The list with those values of a definition that another has otherwise or not at all, as
 * "min_trial 100us"; each once. */
const char *definition_add_own_values(struct arena *arena, const char *list, const char *own,
                                      const char *other);
/* Hash of a definition with its GPUs and NUMA nodes numbered in the order in which it names them:
 * the same for cases that differ only in where they run, not for a load that goes with or against
 * the measured flow. */
uint64_t definition_hash_without_places(const char *definition);
