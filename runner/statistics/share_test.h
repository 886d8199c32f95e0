/* share_test.h - whether something happens more often than elsewhere, of few tries. Exact tests;
 * nothing here fails. */
#pragma once

#include <stddef.h>

struct share {
  size_t hits, tries; /* hits <= tries */
};

/* ln of n over k, k <= n. */
double share_ln_choose(size_t n, size_t k);
/* One-sided p value of "b's share is not larger than a's" (Fisher 1922, "On the interpretation of
 * chi-squared from contingency tables", Journal of the Royal Statistical Society 85(1)). */
double share_test_fisher(struct share a, struct share b);
/* P of as many hits or more where each try has that probability; 0 where it is 0. */
double share_test_binomial(struct share share, double probability);
