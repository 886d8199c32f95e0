#include "runner/statistics/process_sample.h"

#include "engine/base/order.h"
#include "runner/statistics/sample.h"

/* Values [first, last), which are of one run. */
#define FOR_EACH_RUN(sample, first, last)                                                          \
  FOR_EACH_GROUP(first, last, (sample)->count,                                                     \
                 process_sample_run(sample, last) == process_sample_run(sample, first))

size_t process_sample_count_runs(const struct process_sample *sample) {
  size_t count = 0;
  FOR_EACH_RUN(sample, first, last) {
    count++;
  }
  return count;
}

double process_sample_mean(const struct process_sample *sample) {
  double sum = 0;
  size_t runs = 0;
  FOR_EACH_RUN(sample, first, last) {
    sum += sample_summary(sample->values + first, last - first).mean;
    runs++;
  }
  return sum / (double)runs;
}

struct process_sample process_sample_by_run(const struct process_sample *sample, double *values,
                                            uint32_t *numbers) {
  size_t count = 0;
  FOR_EACH_RUN(sample, first, last) {
    values[count] = sample_summary(sample->values + first, last - first).mean;
    numbers[count++] = process_sample_run(sample, first);
  }
  return (struct process_sample){.values = values, .count = count, .processes = numbers};
}

struct within_runs process_sample_within_runs(const struct process_sample *sample) {
  struct within_runs within = {0};
  size_t runs = 0;
  FOR_EACH_RUN(sample, first, last) {
    const struct sample run = sample_summary(sample->values + first, last - first);
    within.variance += run.variance * (double)(run.count - 1);
    within.df += (double)(run.count - 1);
    within.per_run += 1 / (double)run.count;
    runs++;
  }
  within.variance = within.df > 0 ? within.variance / within.df : 0;
  within.per_run = runs > 0 ? within.per_run / (double)runs : 0;
  return within;
}
