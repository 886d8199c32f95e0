/* Which cases are corrupt, or not ok more often on side b than on side a, beyond chance.
 *
 * A case that was corrupt in any process of either side is broken: wrong data is never chance and
 * never usual, and nothing can be compared with it. A case that now and then fails does so on both
 * sides, and more often on one of them in half of all comparisons: it must fail in a larger share,
 * and one of two tests says so at 5 %, false discoveries over all cases:
 *   Fisher's, of the processes of both sides;
 *   where a never failed, the binomial test against the share in which all other cases of a failed,
 *   of those that were ok at least once: where none did, one failure is enough.
 * The second also judges a case that never ran in a. Where it ran in b alone and no process was ok,
 * the case is broken without a test: it has never worked. */
#include "runner/analysis/diff_internal.h"

#include "engine/base/arena.h"
#include "runner/statistics/share_test.h"
#include "runner/statistics/t_test.h"

static struct share broken_share(const struct process_sample *ok, size_t not_ok) {
  return (struct share){not_ok, ok->count + not_ok};
}

static bool broken_is_larger(struct share a, struct share b) {
  return a.tries == 0 ? b.hits > 0 : b.hits * a.tries > a.hits * b.tries;
}

/* The failures of side a where they are chance: of cases that are ok now and then. */
static struct share broken_usual(const struct diff_case *cases, size_t count) {
  struct share usual = {0, 0};
  for (size_t i = 0; i < count; i++) {
    if (cases[i].a.count > 0) {
      usual.hits += cases[i].a_not_ok;
      usual.tries += cases[i].a.count + cases[i].a_not_ok;
    }
  }
  return usual;
}

static double broken_p(const struct diff_case *c, struct share usual) {
  const struct share a = broken_share(&c->a, c->a_not_ok);
  const struct share b = broken_share(&c->b, c->b_not_ok);
  if (!broken_is_larger(a, b)) {
    return 1;
  }
  const double fisher = share_test_fisher(a, b);
  if (a.hits > 0) {
    return fisher;
  }
  const size_t others = usual.tries - a.tries; /* the case itself has no failure of a */
  const double binomial =
      share_test_binomial(b, others > 0 ? (double)usual.hits / (double)others : 0);
  return binomial < fisher ? binomial : fisher;
}

/* It ran in b alone, and no process was ok. */
static bool broken_never_worked(const struct diff_case *c) {
  return c->a.count + c->a_not_ok + c->b.count == 0 && c->b_not_ok > 0;
}

void broken_find(const struct diff_case *cases, size_t count, double false_discovery_rate,
                 bool *broken) {
  SCOPED(arena_fini) struct arena arena = {0};
  double *p = arena_array(&arena, count, sizeof *p);
  const struct share usual = broken_usual(cases, count);
  for (size_t i = 0; i < count; i++) {
    p[i] = broken_p(&cases[i], usual);
  }
  (void)fdr_q_values(p, count, p);
  for (size_t i = 0; i < count; i++) {
    broken[i] =
        p[i] <= false_discovery_rate || cases[i].corrupt > 0 || broken_never_worked(&cases[i]);
  }
}
