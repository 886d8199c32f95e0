/* distributions.h - distributions and special functions, from Boost.Math behind a C interface.
 *
 * Nothing here throws or fails: an argument outside a function's domain gives NAN. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* P(T > t) for Student's t with df degrees of freedom; INFINITY = the normal distribution. */
double student_upper(double t, double df);
/* The t with P(T <= t) = p. */
double student_quantile(double p, double df);
/* P(Z > z) for the standard normal distribution. */
double normal_upper(double z);

double digamma(double x);
double trigamma(double x);
/* The y with trigamma(y) = x, for x > 0: Newton's method of Smyth 2004, appendix. */
double trigamma_inverse(double x);

#ifdef __cplusplus
}
#endif
