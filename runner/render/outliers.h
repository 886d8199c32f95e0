/* outliers.h - what `haul outliers` prints: for people (table, md) one sentence per component that
 * is slow, and the slow ones block by block (all: everything judged), else one row per GPU, link or
 * host and block. */
#pragma once

#include "runner/analysis/outliers.h"
#include "runner/table/table.h"

struct json_shape;

enum status outliers_print(const struct results *results, const struct outliers *outliers, bool all,
                           const struct table_options *options, struct error *err) CHECK_RESULT;

/* The columns of the rows for programs. */
void outliers_describe_json(struct json_shape *shape);

/* "gpu2 to the host is 5.1 % slower than from the other GPUs: 6 of 6 cases, in down". In the
 * arena. */
const char *outliers_verdict_words(struct arena *arena, const struct results *results,
                                   const struct outliers *outliers,
                                   const struct outlier_verdict *verdict);

/* "gpu2 is 0000:06:00.0, GPU-..." of each GPU that verdicts are about, once. In the arena. */
size_t outliers_identities(struct arena *arena, const struct results *results,
                           const struct outliers *outliers, const char ***lines);

/* What cannot be told, verdicts and pairs without another peer: sentences, in the arena. */
size_t outliers_doubts(struct arena *arena, const struct results *results,
                       const struct outliers *outliers, const char ***sentences);

/* The first of a list with ", " between, and how many there are: "a, b, ... (10)". In the arena. */
const char *outliers_shorten(struct arena *arena, const char *list, size_t shown);
/* "gpu1 of n0003 alone became 5.1 % slower: 10 of 10 cases, in down", and if it is not certain. In
 * the arena. */
const char *outliers_alone_words(struct arena *arena, const struct outlier_part *part);
/* "2.2 to 3.0" of two changes, "3.0" where both read so: per cent that it is slower. In the arena.
 */
const char *outliers_range_words(struct arena *arena, double least, double change);
