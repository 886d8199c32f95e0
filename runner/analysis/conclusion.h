/* conclusion.h - what the changed cases of a comparison have in common, in a few words.
 *
 * A trait is what can be said of a case: the GPU it starts from, its path, method, memory, size,
 * the value of an axis. Of the cases with one verdict (regressed, improved, broken) those sets of
 * up to CONCLUSION_TRAITS_MAX traits are sought that many of them have and most others have not. A
 * set is told only if
 *   - it explains CONCLUSION_PART_LEAST of the changed cases, and all sets that are told together
 *     CONCLUSION_EXPLAINED_LEAST;
 *   - of the decided cases that have it, CONCLUSION_PRECISION_LEAST changed;
 *   - at most CONCLUSION_UNCHANGED_MOST of the unchanged cases have it;
 *   - so many would be found by chance with at most CONCLUSION_CHANCE_MOST, from all sets tried.
 * Half of that is kept for single parts of the machine (a path, a GPU), the likeliest cause; a GPU
 * of which a check failed on one side alone, as of one in use, was suspect before and is held to
 * the number of such GPUs. Two changed cases are told only if they are all that was judged of one
 * path, among all paths with two. Cases that could not be judged count as neither, for chance as
 * not changed. Where nearly all cases changed, that is told. */
#pragma once

#include "runner/analysis/compare.h"

enum { CONCLUSION_TRAITS_MAX = 3, CONCLUSIONS_MAX = 3 /* per verdict */ };
enum { CONCLUSION_CASES_MIN = 3, CONCLUSION_PAIR = 2 };
#define CONCLUSION_PART_LEAST      0.25
#define CONCLUSION_EXPLAINED_LEAST 0.5
#define CONCLUSION_PRECISION_LEAST 0.75
#define CONCLUSION_UNCHANGED_MOST  0.2
#define CONCLUSION_CHANCE_MOST     0.05
#define CONCLUSION_ALL             0.9 /* "nearly all" */

struct conclusion {
  enum verdict verdict;
  const char *what;      /* "gpu2 as source, sizes below 1MiB"; NULL = nearly all cases */
  int gpu;               /* the one that `what` names; -1 = none or several */
  size_t cases, changed; /* that have these traits; of them with the verdict */
  size_t others, others_changed;
  size_t noise;  /* of those changed, by noise alone */
  double change; /* of the rate, relative: geometric mean of those changed; NAN = broken */
};

static inline bool conclusion_is_noise(const struct conclusion *found) {
  return found->noise > 0 && found->noise == found->changed;
}

/* In the arena, by verdict. *count may be 0. */
const struct conclusion *conclusions_find(const struct comparison *comparison, struct arena *arena,
                                          size_t *count);
/* The same, for the comparison to keep. */
void conclusions_add(struct comparison *comparison);
