/* noise.h - what kind of noise the trials of a case have, in the order in which they were taken:
 * why their number is not as precise as was asked for, and whether more of them would make it so.
 *
 *   white      nothing is found: the interval of the median becomes narrower with the root of the
 *              number
 *   dips       at most a third of the trials are slower than the rest, which agree
 *   two_modes  two levels, a fifth of the trials or more at either, changing often
 *   drift      trials agree better with their neighbours than with others: the level moves
 *
 * A dip exceeds the median by a limit, in spreads of the lower half (1.4826 times the median
 * distance), chosen so that two occur by chance once in 200 normal samples. The limit is fitted to
 * simulated samples of 10 to 200. What is left without the dips is split by shape.h, and tested by
 * Bartels' rank version of von Neumann's ratio (1982, "The rank version of von Neumann's ratio test
 * for randomness", Journal of the American Statistical Association 77), one-sided, at one in 200,
 * with its normal approximation, which is too careful for few values. Levels less than 0.2 % apart
 * are one.
 *
 * Values are pure numbers: times per iteration, in one unit. Nothing here fails. */
#pragma once

#include "engine/base/enum_names.h"

#define NOISE_LIST(X)                                                                              \
  X(NOISE_UNKNOWN, "unknown") /* too few trials */                                                 \
  X(NOISE_WHITE, "white")                                                                          \
  X(NOISE_DIPS, "dips")                                                                            \
  X(NOISE_TWO_MODES, "two_modes")                                                                  \
  X(NOISE_DRIFT, "drift")
ENUM_NAMES_DECLARE(noise, NOISE_LIST)

enum { NOISE_TRIALS_MIN = 12 };

struct noise_trial {
  double value;      /* above 0 */
  double start, end; /* of the whole trial */
};

struct noise_found {
  enum noise kind;
  /* Of dips how much slower they are, of two modes how far apart; of a drift how far the thirds of
   * the trials are apart, negative where the last is the faster one. Relative; 0 of other kinds. */
  double size;
  double duration; /* of a dip, the median; what is shorter than a trial has its length */
};

struct noise_found noise_find(const struct noise_trial *trials, size_t count);
