#include "runner/statistics/share_test.h"

#include <math.h>

/* lgamma_r, since lgamma() writes a global, and threads call this. */
double share_ln_choose(size_t n, size_t k) {
  int sign = 0;
  return lgamma_r((double)n + 1, &sign) - lgamma_r((double)k + 1, &sign) -
         lgamma_r((double)(n - k) + 1, &sign);
}

double share_test_fisher(struct share a, struct share b) {
  const size_t hits = a.hits + b.hits;
  const size_t most = hits < b.tries ? hits : b.tries;
  double p = 0;
  for (size_t k = b.hits; k <= most; k++) { /* hits of b, given those of both */
    if (hits - k <= a.tries) {
      p += exp(share_ln_choose(b.tries, k) + share_ln_choose(a.tries, hits - k) -
               share_ln_choose(a.tries + b.tries, hits));
    }
  }
  return fmin(p, 1);
}

double share_test_binomial(struct share share, double probability) {
  double p = 0;
  if (share.hits == 0) {
    return 1;
  }
  if (probability <= 0 || probability >= 1) {
    return probability <= 0 ? 0 : 1;
  }
  for (size_t k = share.hits; k <= share.tries; k++) {
    p += exp(share_ln_choose(share.tries, k) + (double)k * log(probability) +
             (double)(share.tries - k) * log1p(-probability));
  }
  return fmin(p, 1);
}
