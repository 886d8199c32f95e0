#include "runner/statistics/shape.h"

#include "runner/statistics/distributions.h"
#include "runner/statistics/sample.h"
#include "runner/statistics/share_test.h"

#include <math.h>
#include <string.h>

static const double ALPHA = 0.001;
static const double VALLEY_ALPHA = 0.01;
static const double LEVELS_STRICTNESS = 0.75; /* at which one sample in a hundred has levels */

/* The ratio of the widest gap to the spread that one sample in a thousand exceeds. */
static double shape_gap_limit(size_t count) {
  return 1.2 + 45.6 / pow((double)count - 3, 1.157);
}

/* sorted: ascending */
static bool shape_split(const double *sorted, size_t count, double margin, double strictness,
                        struct shape *shape) {
  size_t at = 2;
  for (size_t i = 3; i + 2 <= count; i++) {
    at = sorted[i] - sorted[i - 1] > sorted[at] - sorted[at - 1] ? i : at;
  }
  const double gap = sorted[at] - sorted[at - 1];
  const struct sample low = sample_summary(sorted, at);
  const struct sample high = sample_summary(sorted + at, count - at);
  const double squares =
      low.variance * (double)(low.count - 1) + high.variance * (double)(high.count - 1);
  const double spread = sqrt(squares / ((double)count - 2));
  *shape = (struct shape){.kind = SHAPE_TWO_MODES,
                          .low_count = at,
                          .high_count = count - at,
                          .low = sample_median(sorted, at),
                          .high = sample_median(sorted + at, count - at)};
  return gap > margin && gap > spread * strictness * shape_gap_limit(count);
}

/* Whether the value is far from the others, which are count. */
static bool shape_is_far(double value, const double *others, size_t count, double margin) {
  const struct sample sample = sample_summary(others, count);
  const double distance = fabs(value - sample.mean);
  const double error = sqrt(sample.variance * (1 + 1 / (double)count));
  const double level = ALPHA / (2 * ((double)count + 1));
  return distance > margin && distance > error * student_quantile(1 - level, (double)count - 1);
}

/* Whether two values with none between them may be more than the margin apart: then some cell of
 * half the margin is empty. Thousands of values are seldom worth sorting. */
static bool shape_may_have_gap(const double *values, size_t count, double least, double most,
                               double margin) {
  enum { CELLS_MAX = 256 };
  bool seen[CELLS_MAX] = {false};
  const double range = 2 * (most - least) / margin;
  if (!(range < CELLS_MAX - 1)) {
    return true;
  }
  const size_t cells = (size_t)range + 1;
  size_t full = 0;
  for (size_t i = 0; i < count; i++) {
    const size_t cell = (size_t)(2 * (values[i] - least) / margin);
    full += !seen[cell];
    seen[cell] = true;
  }
  return full < cells;
}

/* Whether the value at that place is far from all others, which are copied into scratch. */
static bool shape_place_is_far(const double *values, size_t count, size_t at, double margin,
                               double *scratch) {
  memcpy(scratch, values, at * sizeof *scratch);
  memcpy(scratch + at, values + at + 1, (count - at - 1) * sizeof *scratch);
  return shape_is_far(values[at], scratch, count - 1, margin);
}

struct shape shape_find(const double *values, size_t count, double margin, double *scratch) {
  struct shape shape = {.kind = SHAPE_PLAIN};
  size_t least = 0;
  size_t most = 0;
  for (size_t i = 1; i < count; i++) {
    least = values[i] < values[least] ? i : least;
    most = values[i] > values[most] ? i : most;
  }
  if (count < SHAPE_OUTLIER_MIN || values[most] - values[least] <= margin) { /* nearly all */
    return shape;
  }
  if (count >= SHAPE_MODES_MIN &&
      shape_may_have_gap(values, count, values[least], values[most], margin)) {
    memcpy(scratch, values, count * sizeof *scratch);
    sample_sort(scratch, count);
    if (shape_split(scratch, count, margin, 1, &shape)) {
      return shape;
    }
  }
  const bool lowest = shape_place_is_far(values, count, least, margin, scratch);
  const bool highest = shape_place_is_far(values, count, most, margin, scratch);
  shape = (struct shape){.kind = SHAPE_PLAIN};
  if (lowest == highest) { /* two, on either side, are a spread */
    return shape;
  }
  shape.kind = SHAPE_OUTLIER;
  shape.outlier = lowest ? least : most;
  (void)shape_place_is_far(values, count, shape.outlier, margin, scratch);
  shape.high = sample_median_in_place(scratch, count - 1);
  return shape;
}

/* The split that leaves least spread within both parts (Fisher 1958, "On grouping for maximum
 * homogeneity", Journal of the American Statistical Association 53): how many are below it. */
static size_t shape_divide(const double *sorted, size_t count) {
  double sum = 0;
  double below = 0;
  double most = -1;
  size_t at = 1;
  for (size_t i = 0; i < count; i++) {
    sum += sorted[i] - sorted[0];
  }
  for (size_t i = 1; i < count; i++) {
    below += sorted[i - 1] - sorted[0];
    const double distance = (sum - below) / (double)(count - i) - below / (double)i;
    const double between = distance * distance * (double)i * (double)(count - i);
    at = between > most ? i : at;
    most = fmax(most, between);
  }
  return at;
}

/* Whether the middle third of the way between the medians of both parts has too few values for one
 * mode, of which it would have as many as the emptier of the outer thirds. Equal values count once:
 * of coarse ones, many fall into one third together. */
static bool shape_has_valley(const double *sorted, size_t count, struct shape *shape) {
  const size_t at = shape_divide(sorted, count);
  const double low = sample_median(sorted, at);
  const double high = sample_median(sorted + at, count - at);
  size_t thirds[3] = {0};
  for (size_t i = 0; i < count && high > low; i++) {
    const double place = 3 * (sorted[i] - low) / (high - low);
    if (place >= 0 && place <= 3 && (i == 0 || sorted[i] > sorted[i - 1])) {
      thirds[place < 1 ? 0 : place < 2 ? 1 : 2]++;
    }
  }
  const size_t outer = thirds[0] < thirds[2] ? thirds[0] : thirds[2];
  *shape = (struct shape){SHAPE_TWO_MODES, at, count - at, low, high, 0};
  return share_test_binomial((struct share){outer, outer + thirds[1]}, 0.5) <= VALLEY_ALPHA;
}

bool shape_levels(const double *values, size_t count, struct shape *shape, double *scratch) {
  if (count < SHAPE_MODES_MIN) {
    return false;
  }
  memcpy(scratch, values, count * sizeof *scratch);
  sample_sort(scratch, count);
  return shape_split(scratch, count, 0, LEVELS_STRICTNESS, shape) ||
         shape_has_valley(scratch, count, shape);
}
