/* shift.h - the shift of the middle pair of many pairs of samples.
 *
 * Each process gets one number: the median, over its pairs, of the distance between its value and
 * the pair's middle. The unit is the run: the mean of its processes' numbers. The shift is the
 * difference of the sides' means of these, its interval that of Welch's test: what all pairs of a
 * process share (clocks, boot, neighbours) does not count as many independent observations. A
 * process that has fewer than half of the pairs that another has says too little. A side of one run
 * is held against how those of the other differ. Where each side has one, the shift is the median
 * of the pairs' changes, without an interval.
 *
 * Values are natural logarithms of times; changes are those of the rate, relative. */
#pragma once

#include "runner/statistics/process_sample.h"

struct shift_pair {
  struct process_sample a, b; /* neither is empty */
};

struct shift {
  size_t pairs;                   /* that it was estimated from; 0 = unknown */
  double change;                  /* of the rate, relative; NAN = unknown */
  double change_low, change_high; /* 95 % interval; NAN = there is none */
};

struct shift shift_estimate(const struct shift_pair *pairs, size_t count);
