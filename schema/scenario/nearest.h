/* nearest.h - "did you mean": the known word closest to what was typed. */
#ifndef HAUL_SCHEMA_SCENARIO_NEAREST_H
#define HAUL_SCHEMA_SCENARIO_NEAREST_H

#include <stddef.h>

/* Restricted Damerau-Levenshtein distance: insertions, deletions, substitutions and swaps of
 * neighbours, upper and lower case taken for equal. Words longer than 63 bytes are `limit` apart;
 * so is everything whose distance is not below limit. */
unsigned nearest_distance(const char *a, const char *b, unsigned limit);

/* A search over many candidates: offer each, then look at `word`. */
struct nearest {
  const char *wanted;
  const char *word; /* closest so far; NULL = none is close enough */
  unsigned distance;
};

/* Close enough means: at most a third of the letters are wrong, and at least one may be. */
struct nearest nearest_start(const char *wanted);
void nearest_offer(struct nearest *nearest, const char *candidate);
/* The closest of a NULL-terminated list, or NULL. */
const char *nearest_word(const char *wanted, const char *const *words);

#endif
