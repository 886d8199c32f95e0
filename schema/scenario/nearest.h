/* nearest.h - "did you mean": the known word most similar to a misspelt one, or the one that a word
 * of other tools means here ("copy_engine": "ce"). */
#pragma once

/* Restricted Damerau-Levenshtein distance: insertions, deletions, substitutions and swaps of
 * neighbours, ignoring case. At most `limit`, which is also the distance of words longer than 63
 * bytes. */
unsigned nearest_distance(const char *a, const char *b, unsigned limit);

/* A search over many candidates: offer each, then read `word`. */
struct nearest {
  const char *wanted;
  const char *word; /* the closest so far; NULL = none is close enough */
  unsigned distance;
};

/* Close enough means: at most a third of the letters are wrong, and at least one may be. */
struct nearest nearest_start(const char *wanted);
void nearest_offer(struct nearest *nearest, const char *candidate);
/* The closest of a NULL-terminated list, or NULL. */
const char *nearest_word(const char *wanted, const char *const *words);

/* What a word of other tools that is no single word here is written as; NULL = it is not known. */
const char *nearest_hint(const char *wanted);
