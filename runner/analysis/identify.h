/* identify.h - which GPU made a run, by what earlier runs of known GPUs measured.
 *
 * A sample is what one GPU measured in one run: one feature per case, the natural logarithm of its
 * median time. A GPU's centre is, feature by feature, the median of its samples. Features are
 * scaled by the spread inside GPUs: 1.4826 x the median of all |sample - centre of its own GPU|
 * over the GPUs with two samples or more (the standard deviation, for normal values), but not less
 * than IDENTIFY_RESOLUTION. The distance of a sample from a GPU is the mean over the features of
 * |sample - centre| / scale: in a mean of absolute values one feature gone wrong weighs once, not
 * squared. The nearest GPU is the one that is named.
 *
 * Leave-one-run-out: every sample is named by the samples of all other runs (not only by other
 * samples: runs, not trials, are what repeats). This gives the accuracy, the confusion matrix, and
 * the distances of samples from their own GPUs.
 *
 * A GPU is named only where the data distinguish it from every other one. Another GPU is ruled out
 * when the sample is further from it than IDENTIFY_FAR times the largest distance of a left-out
 * sample from its own GPU; else the two must be distinguishable: of the left-out samples of these
 * two GPUs, named by these two alone, more were right than guessing gives (one-sided exact binomial
 * test against 1/2 at IDENTIFY_ALPHA: 5 of 5, 7 of 8). A sample that is far from all GPUs is of
 * none of them. Nothing here fails. */
#pragma once

#include "engine/base/enum_names.h"

#include <stddef.h>
#include <stdint.h>

#define IDENTIFY_RESOLUTION 1e-5
#define IDENTIFY_FAR        2.0
#define IDENTIFY_ALPHA      0.05

struct identify_sample {
  int64_t run;
  size_t gpu;             /* which of the known GPUs: 0 ... gpu_count - 1 */
  const double *features; /* borrowed */
};

/* The known GPUs and how well the data distinguish them. */
struct identify;
/* samples: at least one of every GPU; borrowed. */
struct identify *identify_new(const struct identify_sample *samples, size_t sample_count,
                              size_t gpu_count, size_t feature_count);
/* Accepts NULL. */
void identify_free(struct identify *identify);

/* Left-out samples of `actual` that were named `named`. */
size_t identify_confusion(const struct identify *identify, size_t actual, size_t named);
/* Left-out samples that were named right, of all that could be: whose GPU has another run. */
void identify_accuracy(const struct identify *identify, size_t *right, size_t *total);

#define IDENTIFY_VERDICT_LIST(X)                                                                   \
  X(IDENTIFY_NAMED, "named")                                                                       \
  X(IDENTIFY_TOO_FEW, "too few runs")          /* not two GPUs with two runs each */               \
  X(IDENTIFY_STRANGER, "none of them")         /* far from every known GPU */                      \
  X(IDENTIFY_NOT_TOLD_APART, "not told apart") /* from `rival` */
ENUM_NAMES_DECLARE(identify_verdict, IDENTIFY_VERDICT_LIST)

struct identified {
  enum identify_verdict verdict;
  size_t nearest;
  double distance;
  size_t second; /* next nearest; gpu_count when there is none */
  double second_distance;
  /* The GPU that is hardest to distinguish from the nearest: left-out samples of both, and those
   * that were right; rival is gpu_count when every other is out of the question. */
  size_t rival;
  size_t pair_right, pair_total;
};
/* sets: of features of which this one was chosen because it is right most often, 1 = no choice; the
 * level of the test is shared by them (Bonferroni). */
void identify_name(const struct identify *identify, const double *features, size_t sets,
                   struct identified *identified);

/* P(at least `right` of `total` by guessing among so many GPUs, at least two). */
double identify_guess_p(size_t right, size_t total, size_t gpus);
