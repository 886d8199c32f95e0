/* process_sample.h - one value per process, and what of it counts as one observation.
 *
 * Processes of one run share its boot, its clocks and its neighbours: where a sample has several
 * runs, what they share is seen as a difference between runs, and the run is the observation. Its
 * value is the mean of its processes' values, each run weighs the same: the variance of these means
 * is then that of their mean, however many processes each of them is of.
 *
 * Nothing here fails. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct process_sample {
  const double *values;
  size_t count;
  /* The process of each value, by a number that it has in all samples; NULL = 0, 1, 2 ... */
  const uint32_t *processes;
  /* The run of each value, likewise, those of one run adjacent; NULL = all are of one. */
  const uint32_t *runs;
};

static inline uint32_t process_sample_process(const struct process_sample *sample, size_t i) {
  return sample->processes != NULL ? sample->processes[i] : (uint32_t)i;
}

static inline uint32_t process_sample_run(const struct process_sample *sample, size_t i) {
  return sample->runs != NULL ? sample->runs[i] : 0;
}

/* How many runs have a value. */
size_t process_sample_count_runs(const struct process_sample *sample);

/* The mean of the runs' means. */
double process_sample_mean(const struct process_sample *sample);

/* One value per run: the mean of its processes, whose number is the run's. values and numbers hold
 * as many as there are runs; the result borrows them. */
struct process_sample process_sample_by_run(const struct process_sample *sample, double *values,
                                            uint32_t *numbers);

/* What a run's mean owes to its processes: their variance within runs, over all runs, and the mean
 * of 1 / processes of a run. */
struct within_runs {
  double variance, df; /* 0, 0: every run has one process */
  double per_run;
};
struct within_runs process_sample_within_runs(const struct process_sample *sample);
