#include "runner/statistics/distributions.h"

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <limits>

namespace {

using namespace boost::math::policies;
/* Every error is a value, so that nothing is thrown through C. Inside, double is used: with long
 * double a quantile takes five times as long on x86, and many times on aarch64. */
typedef policy<domain_error<ignore_error>, pole_error<ignore_error>, overflow_error<ignore_error>,
               underflow_error<ignore_error>, rounding_error<ignore_error>,
               evaluation_error<ignore_error>, indeterminate_result_error<ignore_error>,
               promote_double<false>>
    Quiet;
typedef boost::math::normal_distribution<double, Quiet> Normal;
typedef boost::math::students_t_distribution<double, Quiet> Student;

const double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();

} // namespace

double normal_upper(double z) {
  if (std::isnan(z)) {
    return NOT_A_NUMBER;
  }
  if (std::isinf(z)) {
    return z > 0 ? 0 : 1;
  }
  return boost::math::cdf(boost::math::complement(Normal(), z));
}

double student_upper(double t, double df) {
  if (std::isnan(t) || std::isnan(df) || df <= 0) {
    return NOT_A_NUMBER;
  }
  if (std::isinf(t)) {
    return t > 0 ? 0 : 1;
  }
  if (std::isinf(df)) {
    return normal_upper(t);
  }
  return boost::math::cdf(boost::math::complement(Student(df), t));
}

double student_quantile(double p, double df) {
  if (std::isnan(p) || p < 0 || p > 1 || std::isnan(df) || df <= 0) {
    return NOT_A_NUMBER;
  }
  if (p == 0 || p == 1) {
    return p == 0 ? -std::numeric_limits<double>::infinity()
                  : std::numeric_limits<double>::infinity();
  }
  return std::isinf(df) ? boost::math::quantile(Normal(), p)
                        : boost::math::quantile(Student(df), p);
}

double digamma(double x) {
  return x > 0 ? boost::math::digamma(x, Quiet()) : NOT_A_NUMBER;
}

double trigamma(double x) {
  return x > 0 ? boost::math::trigamma(x, Quiet()) : NOT_A_NUMBER;
}

double trigamma_inverse(double x) {
  if (!(x > 0)) {
    return NOT_A_NUMBER;
  }
  /* Far out the asymptotes are exact to double precision. */
  if (x > 1e7) {
    return 1 / std::sqrt(x);
  }
  if (x < 1e-6) {
    return 1 / x;
  }
  double y = 0.5 + 1 / x;
  for (int i = 0; i < 50; i++) {
    const double tri = trigamma(y);
    const double step = tri * (1 - tri / x) / boost::math::polygamma(2, y, Quiet());
    y += step;
    if (-step / y < 1e-10) {
      break;
    }
  }
  return y;
}
