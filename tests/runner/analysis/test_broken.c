/* Cases that fail now and then: seeded simulations of diffs where nothing changed, and of cases
 * that did break. */
#include "runner/analysis/diff_internal.h"
#include "tests/runner/statistics/numbers.h"

enum { CASES = 160, PROCESSES = 5, DIFFS = 400 };

static struct diff_case cases[CASES];
static bool broken[CASES];

/* The first `flaky` cases fail in that share of all processes, one of status corrupt or not. */
static void make(size_t flaky, double share, uint64_t *seed) {
  for (size_t i = 0; i < CASES; i++) {
    size_t failed[2] = {0, 0};
    for (size_t p = 0; p < 2 * (size_t)PROCESSES; p++) {
      failed[p % 2] += i < flaky && noise_uniform(seed) < share;
    }
    cases[i] = (struct diff_case){.a.count = PROCESSES - failed[0],
                                  .b.count = PROCESSES - failed[1],
                                  .a_not_ok = failed[0],
                                  .b_not_ok = failed[1]};
  }
}

/* Share of the diffs in which any case is broken. */
static double any_broken(size_t flaky, double share) {
  uint64_t seed = 7 + flaky;
  size_t any = 0;
  for (size_t d = 0; d < DIFFS; d++) {
    make(flaky, share, &seed);
    broken_find(cases, CASES, 0.05, broken);
    const size_t found = SUM_OF(i, CASES, broken[i]);
    any += found > 0;
  }
  return (double)any / DIFFS;
}

TEST(what_fails_on_both_sides_is_chance) {
  static const struct {
    size_t flaky;
    double share, most;
  } WORLDS[] = {
      /* All cases alike: the share of all others says what is usual. */
      {CASES, 0.01, 0.05},
      {CASES, 0.05, 0.05},
      {CASES, 0.2, 0.05},
      /* One of a hundred and sixty: what never happened before does in one diff of four at most. */
      {1, 0.05, 0.25},
      {1, 0.2, 0.25},
      {1, 0.5, 0.05},
  };
  for (size_t i = 0; i < COUNT_OF(WORLDS); i++) {
    const double any = any_broken(WORLDS[i].flaky, WORLDS[i].share);
    if (!(any <= WORLDS[i].most + 2 * sqrt(WORLDS[i].most / DIFFS))) {
      print_error("%zu flaky, %g: %g\n", WORLDS[i].flaky, WORLDS[i].share, any);
      fail();
    }
  }
}

TEST(what_never_failed_is_broken) {
  uint64_t seed = 3;
  make(0, 0, &seed);
  cases[4].b_not_ok = 1;
  cases[4].b.count--;
  broken_find(cases, CASES, 0.05, broken);
  assert_true(broken[4] && !broken[3]);
  /* Now and then all do: then one failure is nothing, and four of five are. */
  make(CASES, 0.02, &seed);
  for (size_t i = 4; i < 6; i++) {
    cases[i] = (struct diff_case){.a.count = PROCESSES,
                                  .b.count = i == 4 ? PROCESSES - 1 : PROCESSES - 4,
                                  .b_not_ok = i == 4 ? 1 : 4};
  }
  broken_find(cases, CASES, 0.05, broken);
  assert_true(!broken[4] && broken[5]);
  /* Wrong data counts however often all others fail. */
  cases[4].corrupt = 1;
  /* And whatever side a was: corrupt as often, or more often. */
  cases[5] = (struct diff_case){.a_not_ok = PROCESSES, .b_not_ok = PROCESSES, .corrupt = PROCESSES};
  cases[6] = (struct diff_case){.a.count = PROCESSES - 2,
                                .a_not_ok = 2,
                                .b.count = PROCESSES - 1,
                                .b_not_ok = 1,
                                .corrupt = 1};
  broken_find(cases, CASES, 0.05, broken);
  assert_true(broken[4] && broken[5] && broken[6]);
  /* What was never tried before: one failure is enough where none is usual, */
  make(0, 0, &seed);
  cases[4] = (struct diff_case){.b.count = PROCESSES - 1, .b_not_ok = 1};
  broken_find(cases, CASES, 0.05, broken);
  assert_true(broken[4]);
  /* but where many fail, only what never works. */
  make(CASES, 0.2, &seed);
  cases[4] = (struct diff_case){.b.count = PROCESSES - 1, .b_not_ok = 1};
  cases[5] = (struct diff_case){.b_not_ok = 1};
  cases[6] = (struct diff_case){.a_not_ok = 1, .b_not_ok = 1}; /* never worked in A, either */
  broken_find(cases, CASES, 0.05, broken);
  assert_true(!broken[4] && broken[5] && !broken[6]);
}
