#include "runner/statistics/sample.h"

#include <algorithm>
#include <cmath>

namespace {

/* NAN comes last, so that it has a place. */
struct IsLess {
  bool operator()(double a, double b) const { return a < b || (std::isnan(b) && !std::isnan(a)); }
};

} // namespace

void sample_sort(double *values, size_t count) {
  std::sort(values, values + count, IsLess());
}

double sample_median_in_place(double *values, size_t count) {
  if (count == 0) {
    return NAN;
  }
  double *const middle = values + count / 2;
  std::nth_element(values, middle, values + count, IsLess());
  return count % 2 == 1 ? *middle : (*std::max_element(values, middle, IsLess()) + *middle) / 2;
}
