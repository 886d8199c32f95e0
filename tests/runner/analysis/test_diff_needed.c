/* "n are needed" is a promise: once so many are there, those so far among them, four in five are
 * decided. Of runs that are alike, so are those with which five runs a side are told to need at
 * least so many. Of those that did not change, DIFF_POWER are: also of several looks, which hold
 * SAME to a lower level. */
#include "runner/analysis/diff.h"
#include "tests/runner/statistics/numbers.h"

enum { CASES = 160, DIFFS = ROUNDS(12, 2), UNITS_MAX = DIFF_PROCESSES_MAX };

struct world {
  const char *name;
  double sd_low, sd_high;
  unsigned looks;
};

struct truth {
  double sd, change;
};

static double values[2][CASES][UNITS_MAX];
static uint32_t numbers[2][UNITS_MAX];
static int64_t started[2 * UNITS_MAX];
static struct diff_case cases[CASES];
static struct diff_result results[CASES];

/* In turn, so that nothing is provisional for its order. */
static void draw(const struct truth *truth, uint64_t *seed) {
  for (size_t s = 0; s < 2; s++) {
    for (size_t u = 0; u < UNITS_MAX; u++) {
      numbers[s][u] = (uint32_t)(s * UNITS_MAX + u);
      started[numbers[s][u]] = (int64_t)(2 * u + s);
      for (size_t i = 0; i < CASES; i++) {
        values[s][i][u] =
            14 + truth[i].sd * noise_normal(seed) + (s == 1 ? -log1p(truth[i].change) : 0);
      }
    }
  }
}

/* The first units[i] of each side of case i. */
static void judge(const unsigned *units, unsigned looks) {
  const struct diff_options options = {
      .method = DIFF_MODERATED, .false_discovery_rate = 0.05, .looks = looks};
  struct diff_summary summary;
  for (size_t i = 0; i < CASES; i++) {
    cases[i] = (struct diff_case){.a = {values[0][i], units[i], numbers[0], numbers[0]},
                                  .b = {values[1][i], units[i], numbers[1], numbers[1]},
                                  .started = started,
                                  .families = {(uint32_t)i % 4, 0, 0},
                                  .delta = 0.01};
  }
  diff_compare(cases, CASES, &options, results, &summary);
}

static bool is_decided(const struct diff_result *result) {
  return result->verdict == VERDICT_REGRESSED || result->verdict == VERDICT_IMPROVED ||
         result->verdict == VERDICT_SAME;
}

TEST(as_many_decide_as_was_said) {
  static const struct world WORLDS[] = {{"0.4 %", 0.004, 0.004, 1},
                                        {"1.5 %", 0.015, 0.015, 1},
                                        {"0.1 to 2 %", 0.001, 0.02, 1},
                                        {"0.1 to 2 %, 5 looks", 0.001, 0.02, 5}};
  static const unsigned UNITS[] = {5, 10};
  size_t all_promised = 0;
  size_t all_kept = 0;
  for (size_t w = 0; w < COUNT_OF(WORLDS); w++) {
    size_t same_promised = 0;
    size_t same_kept = 0;
    for (size_t n = 0; n < 2; n++) {
      uint64_t seed = 100 + 10 * w + n;
      size_t promised = 0;
      size_t kept = 0;
      for (size_t d = 0; d < DIFFS; d++) {
        struct truth truth[CASES];
        unsigned units[CASES];
        bool needed[CASES];
        for (size_t i = 0; i < CASES; i++) {
          truth[i].sd =
              WORLDS[w].sd_low * pow(WORLDS[w].sd_high / WORLDS[w].sd_low, noise_uniform(&seed));
          truth[i].change = i % 8 == 0 ? -0.03 : i % 8 == 1 ? -0.015 : 0;
          units[i] = UNITS[n];
        }
        draw(truth, &seed);
        judge(units, WORLDS[w].looks);
        for (size_t i = 0; i < CASES; i++) {
          needed[i] = results[i].verdict == VERDICT_INSUFFICIENT && !results[i].is_provisional;
          units[i] = needed[i] ? results[i].units_needed : units[i];
          assert_in_range(units[i], UNITS[n] + (needed[i] ? 2 : 0), UNITS_MAX);
          assert_int_equal(results[i].needed_is_least,
                           needed[i] && 2 * UNITS[n] < DIFF_UNITS_PROMISE);
        }
        judge(units, WORLDS[w].looks);
        for (size_t i = 0; i < CASES; i++) {
          promised += needed[i];
          kept += needed[i] && is_decided(&results[i]);
          same_promised += needed[i] && truth[i].change == 0;
          same_kept += needed[i] && truth[i].change == 0 && is_decided(&results[i]);
        }
      }
      const double share = (double)kept / (double)promised;
      print_message("%-19s %2u: %zu of %zu kept\n", WORLDS[w].name, UNITS[n], kept, promised);
      assert_true(promised > 0);
      assert_true(share >= 0.8 - 2 * sqrt(0.8 * 0.2 / (double)promised));
      all_promised += promised;
      all_kept += kept;
    }
    print_message("%-19s unchanged: %zu of %zu kept\n", WORLDS[w].name, same_kept, same_promised);
    assert_true((double)same_kept >=
                DIFF_POWER * (double)same_promised -
                    2 * sqrt(DIFF_POWER * (1 - DIFF_POWER) * (double)same_promised));
  }
  assert_true((double)all_kept >= 0.8 * (double)all_promised);
}
