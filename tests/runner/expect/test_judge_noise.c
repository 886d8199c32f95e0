/* Results that other programs disturbed, beside data files. */
#include "tests/runner/expect/judged.h"

/* Of several visits the rate that came back is judged, else the median. */
TEST(noise_of_others_is_no_fault_of_a_link) {
  static const struct verdict_case CASES[] = {
      {UP_USUAL, {UP, .gbps = 24, CAME_BACK(3, 2.25)}, "usual: 54 GB/s, usual 50-60"},
      {UP_USUAL, {UP, .gbps = 24, CAME_BACK(3, 1.01)}, "short: 24.24 GB/s, usual 50-60"},
      {UP_USUAL, {UP, .gbps = 24, CAME_BACK(3, 1), .spread = 9}, "unclear: 24 GB/s, usual 50-60"},
      {UP_USUAL, {UP, .gbps = 24, .visits = 8, .spread = 30}, "unclear: 24 GB/s, usual 50-60"},
      {UP_USUAL, {UP, .gbps = 24, CAME_BACK(4, 1), .processes = 4}, "short: 24 GB/s, usual 50-60"},
      {HOPS_USUAL, {HOP, .ns_per_hop = 3e3, CAME_BACK(2, 2.5)}, "usual: 1200 ns, usual 1000-1200"},
      {UP_USUAL, {UP, .gbps = 24, BEST("none", 2.25, 0.9)}, "short: 24 GB/s, usual 50-60"},
  };
  assert_each(COUNTED(CASES));
}

/* Others may have slowed all trials. What two visits reached is what the link can do at least. */
TEST(a_neighbour_that_never_rests_or_a_slow_link) {
  static const struct verdict_case CASES[] = {
      {UP_USUAL, {NEVER_RESTS}, DISTURBED},
      {UP_USUAL,
       {UP, .gbps = 24, BEST("noise", 1.08, 0.9), TWICE(1.05)},
       "usual: 25.2 GB/s at best, usual 50-60: 50 % below (tolerance 50 %)"},
      /* One visit alone reached it, by luck. */
      {UP_USUAL, {UP, .gbps = 24, BEST("budget", 2.25, 0.9)}, "disturbed: 24 GB/s, usual 50-60"},
      /* So far below, or with so even trials, that no neighbour explains it. */
      {UP_USUAL,
       {UP, .gbps = 12, BEST("budget", 1.05, 0.9), TWICE(1.03)},
       "short: 12.36 GB/s at best, usual 50-60"},
      {UP_USUAL,
       {UP, .gbps = 24, BEST("budget", 1.002, 0.999), TWICE(1)},
       "short: 24 GB/s at best, usual 50-60"},
      /* So far below the 25 GB/s that are still usual that no variation explains it. */
      {UP_USUAL,
       {UP, .gbps = 17, BEST("budget", 1.25, 0.5), TWICE(1.12)},
       "disturbed: 19.04 GB/s at best, usual 50-60"},
      {UP_USUAL,
       {UP, .gbps = 17, BEST("budget", 1.25, 0.5), TWICE(1.1)},
       "short: 18.7 GB/s at best, usual 50-60"},
      {HOPS_USUAL,
       {HOP, .ns_per_hop = 2e4, BEST("noise", 8.4, 0.5), TWICE(8.2)},
       "short: 2439 ns at best, usual 1000-1200"},
      /* Telemetry explains it. */
      {UP_USUAL,
       {UP, .gbps = 24, BEST("budget", 1.05, 0.9), TWICE(1.03), .slowed_by = "throttled"},
       "short: 24 GB/s, usual 50-60"},
      /* A rate that came back only about, of which many trials fall short, may be the neighbour's;
       * not one that came back well, has settled, or has few such trials. */
      {UP_USUAL, {LEVEL("budget", 30, 1)}, "disturbed: 24.48 GB/s at best, usual 50-60"},
      {UP_USUAL, {LEVEL("budget", 30, 0.6)}, "short: 24.24 GB/s, usual 50-60"},
      {UP_USUAL, {LEVEL("settled", 30, 1)}, "short: 24.24 GB/s, usual 50-60"},
      {UP_USUAL, {LEVEL("budget", 4, 1)}, "short: 24.24 GB/s, usual 50-60"},
      {HOPS_USUAL,
       {HOP, .ns_per_hop = 2e3, BEST("noise", 1.1, 0.9), TWICE(1.08)},
       "disturbed: 1852 ns at best, usual 1000-1200"},
      {HOPS_USUAL,
       {HOP, .ns_per_hop = 2e3, BEST("noise", 1.3, 0.9), TWICE(1.25)},
       "usual: 1600 ns at best, usual 1000-1200: 33 % above (tolerance 50 %)"},
      {UP_USUAL,
       {UP, .gbps = 99, BEST("noise", 1.3, 0.9), TWICE(1.2)},
       "beyond: 118.8 GB/s at best, usual 50-60"},
  };
  assert_each(COUNTED(CASES));
  SCOPED(judged_fini)
  struct judged judged = judge_rows(UP_USUAL, &CASES[0].said, 1);
  const char *const *lines = NULL;
  assert_int_equal(expect_judge_words(judged.judge, &lines), 2);
  assert_string_equal(lines[0],
                      "cannot tell: host busy or link slow: gpu0, host link: 24.72 GB/s at best, "
                      "usual 50-60 (b/numa0-gpu0); its trials vary by 17 %; run again when the "
                      "host is quiet");
  assert_string_equal(lines[1], "0 results are as expected for H200s (from 3 measurements); 1 "
                                "undecided: host busy or link slow");
  static const struct said WILD = {UP, .gbps = 17, BEST("budget", 1.25, 0.625), TWICE(1.12)};
  SCOPED(judged_fini)
  struct judged wild = judge_rows(UP_USUAL, &WILD, 1);
  assert_int_equal(expect_judge_words(wild.judge, &lines), 2);
  assert_contains(lines[0], "; its trials vary by 100 %;");
}

TEST(disturbance_is_a_fact_of_its_own) {
  static const struct said CASES[] = {
      {UP, .gbps = 24, .undisturbed = 1, .disturbed = 31, .disturbed_slower = 22, EXACT},
      {UP_TO("gpu1"), .gbps = 55, .undisturbed = 1, .disturbed = 50, .disturbed_slower = 9},
      {UP_TO("gpu2"), .gbps = 55, .undisturbed = 1, .disturbed = 4, .disturbed_slower = 40}};
  SCOPED(judged_fini) struct judged judged = judge_rows(UP_USUAL, COUNTED(CASES));
  assert_string_equal(expect_judge_summary(judged.judge),
                      "1 of 3 results below expectation for H200s; host busy: 50 % of trials were "
                      "up to 9 % slower (b/numa0-gpu1, and 1 more): see haul explain");
}
