/* shift.h - the shift of the middle pair of many pairs of samples.
 *
 * Each process gets one number: the median, over its pairs, of the distance between its value and
 * the pair's middle. The shift is the difference of the sides' means of these numbers, its interval
 * that of Welch's test: what all pairs of a process share (clocks, boot, neighbours) does not count
 * as many independent observations. A process that has fewer than half of the pairs that another
 * has says too little; where a side has one process, the shift is the median of the pairs' changes,
 * without an interval.
 *
 * Values are natural logarithms of times; changes are those of the rate, relative. */
#ifndef HAUL_RUNNER_STATISTICS_SHIFT_H
#define HAUL_RUNNER_STATISTICS_SHIFT_H

#include <stddef.h>
#include <stdint.h>

/* One value per process. */
struct process_sample {
  const double *values;
  size_t count;
  /* The process of each value, by a number that it has in all samples; NULL = 0, 1, 2 ... */
  const uint32_t *processes;
};

static inline uint32_t process_sample_process(const struct process_sample *sample, size_t i) {
  return sample->processes != NULL ? sample->processes[i] : (uint32_t)i;
}

struct shift_pair {
  struct process_sample a, b; /* neither is empty */
};

struct shift {
  size_t pairs;                   /* that it was estimated from; 0 = unknown */
  double change;                  /* of the rate, relative; NAN = unknown */
  double change_low, change_high; /* 95 % interval; NAN = a side has one process */
};

struct shift shift_estimate(const struct shift_pair *pairs, size_t count);

#endif
