/* Results beside data files: rows, intervals, floors, limits, second measurements, other cases. */
#include "tests/runner/expect/judged.h"

#include <math.h>

TEST(the_interval_of_a_rate_leaves_it_open_or_not) {
  static const struct verdict_case CASES[] = {
      {UP_USUAL, {UP, .gbps = 55, EXACT}, "usual: 55 GB/s, usual 50-60"},
      /* The tolerance is a part of what is usual, its end too. Who reads the range is told. */
      {UP_USUAL,
       {UP, .gbps = 25, EXACT},
       "usual: 25 GB/s, usual 50-60: 50 % below (tolerance 50 %)"},
      {UP_USUAL,
       {UP, .gbps = 90, EXACT},
       "usual: 90 GB/s, usual 50-60: 50 % above (tolerance 50 %)"},
      {UP_USUAL, {UP, .gbps = 49.5}, "usual: 49.5 GB/s, usual 50-60: 1 % below (tolerance 50 %)"},
      /* What reads the same is not outside. */
      {UP_USUAL, {UP, .gbps = 49.998, EXACT}, "usual: 50 GB/s, usual 50-60"},
      /* Without an interval a number is what it is. */
      {UP_USUAL, {UP, .gbps = 24.9, EXACT}, "short: 24.9 GB/s, usual 50-60"},
      {UP_USUAL, {UP, .gbps = 90.1, EXACT}, "beyond: 90.1 GB/s, usual 50-60"},
      {UP_USUAL, {UP, .gbps = 24.9, .spread = 1}, "unclear: 24.9 GB/s, usual 50-60"},
      {UP_USUAL, {UP, .gbps = 20, .spread = 10}, "short: 20 GB/s, usual 50-60"},
      {UP_USUAL, {UP, .gbps = 20, .spread = 21}, "unclear: 20 GB/s, usual 50-60"},
      {UP_USUAL, {UP, .gbps = 99, .spread = 5}, "beyond: 99 GB/s, usual 50-60"},
      {UP_USUAL, {UP, .gbps = 99, .spread = 11}, "unclear: 99 GB/s, usual 50-60"},
      /* How wide it is does not matter to a number that is usual. */
      {UP_USUAL, {UP, .gbps = 55, .spread = 90}, "usual: 55 GB/s, usual 50-60"},
      /* Of several processes the slowest and the fastest are known, which is no interval. */
      {UP_USUAL, {UP, .gbps = 20, .spread = 21, .processes = 2}, "short: 20 GB/s, usual 50-60"},
  };
  assert_each(COUNTED(CASES));
}

TEST(of_times_less_is_better) {
  static const struct verdict_case CASES[] = {
      {HOPS_USUAL, {HOP, .ns_per_hop = 1100}, "usual: 1100 ns, usual 1000-1200"},
      {HOPS_USUAL,
       {HOP, .ns_per_hop = 500, EXACT},
       "usual: 500 ns, usual 1000-1200: 50 % below (tolerance 50 %)"},
      {HOPS_USUAL,
       {HOP, .ns_per_hop = 1800, EXACT},
       "usual: 1800 ns, usual 1000-1200: 50 % above (tolerance 50 %)"},
      {HOPS_USUAL, {HOP, .ns_per_hop = 1900}, "short: 1900 ns, usual 1000-1200"},
      {HOPS_USUAL, {HOP, .ns_per_hop = 400}, "beyond: 400 ns, usual 1000-1200"},
      {HOPS_USUAL, {HOP, .ns_per_hop = 1900, .spread = 6}, "unclear: 1900 ns, usual 1000-1200"},
      {HOPS_USUAL, {HOP, .ns_per_hop = 400, .spread = 26}, "unclear: 400 ns, usual 1000-1200"},
      {HOPS("floor", "unit = \"us\"\nhigh = 2"),
       {HOP, .ns_per_hop = 2001, EXACT},
       "short: 2001 ns, floor <= 2000"},
      {HOPS("limit", "unit = \"ns\"\nlow = 90"),
       {HOP, .ns_per_hop = 80},
       "beyond: 80 ns, limit >= 90"},
      /* A row of rates says nothing of it. */
      {UP_USUAL, {HOP, .ns_per_hop = 1100}, "nothing is known"},
  };
  assert_each(COUNTED(CASES));
}

TEST(the_ratio_is_below_1_where_it_is_worse) {
  static const struct {
    struct said said;
    double ratio;
  } CASES[] = {
      {{UP, .gbps = 20}, 20.0 / 50},
      {{UP, .gbps = 120}, 120.0 / 60},
      {{UP, .gbps = 55}, 1},
      {{HOP, .ns_per_hop = 2400}, 0.5},
      {{HOP, .ns_per_hop = 250}, 1000.0 / 250},
      {{HOP, .ns_per_hop = 1100}, 1},
  };
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    SCOPED(judged_fini) struct judged judged = judge_rows(UP_USUAL HOPS_USUAL, &CASES[i].said, 1);
    assert_int_equal(judged.count, 1);
    assert_true(fabs(judged.judgements[0].ratio - CASES[i].ratio) < 1e-9);
  }
}

TEST(floors_and_limits_stand_beside_what_is_usual) {
  static const struct verdict_case CASES[] = {
      {UP_USUAL UP_FLOOR, {UP, .gbps = 22, EXACT}, "short: 22 GB/s, usual 50-60"},
      {UP_USUAL UP_FLOOR, {UP, .gbps = 19, EXACT}, "short: 19 GB/s, usual 50-60, floor >= 20"},
      /* Perhaps above the floor, and below what is usual for sure. */
      {UP_USUAL UP_FLOOR, {UP, .gbps = 19, .spread = 10}, "short: 19 GB/s, usual 50-60"},
      {UP_USUAL UP_FLOOR, {UP, .gbps = 19, .spread = 30}, "unclear: 19 GB/s, usual 50-60"},
      /* A floor has no tolerance unless it says so. */
      {UP_FLOOR, {UP, .gbps = 20, EXACT}, "usual: 20 GB/s, floor >= 20"},
      {UP_FLOOR, {UP, .gbps = 19.9, EXACT}, "short: 19.9 GB/s, floor >= 20"},
      {UP_FLOOR, {UP, .gbps = 19.9, .spread = 1}, "unclear: 19.9 GB/s, floor >= 20"},
      {UP_FLOOR, {UP, .gbps = 9999}, "usual: 9999 GB/s, floor >= 20"},
      /* The highest of several floors; the widest of several reports. */
      {UP_FLOOR ROW("floor", RATE("host_to_device", "low = 30")),
       {UP, .gbps = 25},
       "short: 25 GB/s, floor >= 30"},
      {UP_USUAL ROW("reports", RATE("host_to_device", "low = 40\nhigh = 55")),
       {UP, .gbps = 24},
       "short: 24 GB/s, usual 40-60"},
      /* An open end says nothing: that of another report stands. */
      {ROW("reports", RATE("host_to_device", "low = 30\ntolerance = 0")),
       {UP, .gbps = 9999},
       "usual: 9999 GB/s, usual >= 30"},
      {UP_USUAL ROW("reports", RATE("host_to_device", "low = 40")),
       {UP, .gbps = 91, EXACT},
       "beyond: 91 GB/s, usual 40-60"},
      {ROW("reports", RATE("host_to_device", "high = 30\ntolerance = 0")),
       {UP, .gbps = 1},
       "usual: 1 GB/s, usual <= 30"},
      {UP_USUAL UP_LIMIT, {UP, .gbps = 95}, "beyond: 95 GB/s, usual 50-60"},
      {UP_USUAL UP_LIMIT, {UP, .gbps = 101, EXACT}, "beyond: 101 GB/s, usual 50-60, limit <= 100"},
      {UP_USUAL UP_LIMIT, {UP, .gbps = 101, .spread = 5}, "beyond: 101 GB/s, usual 50-60"},
      {UP_USUAL UP_LIMIT,
       {UP, .gbps = 101, .spread = 20},
       "unclear: 101 GB/s, usual 50-60, limit <= 100"},
      /* A limit alone does not say what is usual, but a number beyond it is wrong. */
      {UP_LIMIT, {UP, .gbps = 2}, "nothing is known"},
      {UP_LIMIT, {UP, .gbps = 101, .spread = 5}, "nothing is known"},
      {UP_LIMIT, {UP, .gbps = 101, EXACT}, "beyond: 101 GB/s, limit <= 100"},
      {ROW("reports", "path = \"host_to_device\"\nunit = \"GiB/s\"\nlow = 50\nhigh = 50"),
       {UP, .gbps = 53},
       "usual: 53 GB/s, usual 53.69: 1.3 % below (tolerance 5 %)"},
  };
  assert_each(COUNTED(CASES));
}

TEST(reports_of_the_user_replace_shipped_ones_floors_hold) {
  static const char MINE[] = ROW("reports", RATE("host_to_device", "low = 5\nhigh = 6\nhosts = 7"));
  static const struct said CASES[] = {{UP, .gbps = 5.5}, {UP_TO("gpu1"), .gbps = 30}};
  struct judged judged = judge_machine(MINE, UP_USUAL, NULL, COUNTED(CASES));
  assert_contains(expect_judge_summary(judged.judge),
                  "H200s (from 7 measurements); 1 better than any measurement");
  assert_said(&judged, "usual: 5.5 GB/s, usual 5-6");
  judged = judge_machine(MINE, UP_USUAL UP_FLOOR, NULL, CASES, 1);
  assert_said(&judged, "short: 5.5 GB/s, usual 5-6, floor >= 20");
  /* Of what the user's file has no row, the shipped one speaks. */
  judged = judge_machine(HOPS_USUAL, UP_USUAL, NULL, CASES, 1);
  assert_said(&judged, "short: 5.5 GB/s, usual 50-60");
  judged = judge_machine(NULL, NULL, NULL, CASES, 1);
  assert_said(&judged, "nothing is known");
}

TEST(a_row_is_of_the_cases_that_it_names) {
#define USUAL   "usual: 55 GB/s, usual 50-60"
#define UNKNOWN "nothing is known"
  static const struct verdict_case CASES[] = {
      {UP_RANGE("method = \"ce\""), {UP, .gbps = 55}, USUAL},
      {UP_RANGE("method = \"sm\""), {UP, .gbps = 55}, UNKNOWN},
      {UP_RANGE("initiator = \"source\""), {UP, .gbps = 55, .initiator = "source"}, USUAL},
      {UP_RANGE("initiator = \"source\""), {UP, .gbps = 55, .initiator = "target"}, UNKNOWN},
      {UP_RANGE("initiator = \"source\""), {UP, .gbps = 55}, UNKNOWN},
      {UP_RANGE("size.min = \"64MiB\"\nsize.max = \"64MiB\""), {UP, .gbps = 55}, USUAL},
      {UP_RANGE("size.min = \"65MiB\""), {UP, .gbps = 55}, UNKNOWN},
      {UP_RANGE("size.max = \"63MiB\""), {UP, .gbps = 55}, UNKNOWN},
      /* A size that is none is in no range. */
      {RANGE("several", "size.max = \"1MiB\""),
       {BETWEEN("numa0", "gpu0"), .gbps = 55, .flows = 2, .source_memory = "pinned"},
       UNKNOWN},
      /* Measured as such cases are by default: what a row without a block is of. */
      {UP_RANGE(""), {UP, .gbps = 55, .under_load = true}, UNKNOWN},
      {UP_RANGE(""), {UP, .gbps = 55, .special = true}, UNKNOWN},
      {UP_RANGE(""), {UP, .gbps = 55, .axes = "from.numa=0 size=64MiB method=ce"}, USUAL},
      {UP_RANGE(""), {UP, .gbps = 55, .axes = "size=64MiB kernel.unroll=4"}, UNKNOWN},
      {UP_RANGE(""), {UP, .gbps = 55, .axes = "sizes=64MiB"}, UNKNOWN},
      {UP_RANGE("block = \"b*\""), {UP, .gbps = 55, .under_load = true}, USUAL},
      {UP_RANGE("block = \"d*\""), {UP, .gbps = 55}, UNKNOWN},
      {UP_RANGE("block = \"b\"\naxes = \"*unroll=4\""),
       {UP, .gbps = 55, .axes = "size=64MiB kernel.unroll=4"},
       USUAL},
      {UP_RANGE("block = \"b\"\naxes = \"*unroll=4\""), {UP, .gbps = 55}, UNKNOWN},
      /* The other way, both ways, several flows. */
      {UP_RANGE(""), {BETWEEN("gpu0", "numa0"), .gbps = 55, .target_memory = "pinned"}, UNKNOWN},
      {UP_RANGE(""), {UP, .gbps = 55, .direction = "both", .flows = 2}, UNKNOWN},
      {RANGE("host_device_both", ""), {UP, .gbps = 55, .direction = "both", .flows = 2}, USUAL},
      {RANGE("several", ""), {UP, .gbps = 55, .flows = 2}, USUAL},
      /* Memory of the host is pinned unless a row says otherwise, wherever the host is. */
      {UP_RANGE("memory = \"pinned\""), {UP, .gbps = 55}, USUAL},
      {UP_RANGE("memory = \"pageable\""), {UP, .gbps = 55}, UNKNOWN},
      {UP_RANGE(""), {BETWEEN("numa0", "gpu0"), .gbps = 55, .source_memory = "pageable"}, UNKNOWN},
      {RANGE("device_to_host", ""),
       {BETWEEN("gpu0", "numa0"), .gbps = 55, .target_memory = "pinned"},
       USUAL},
      {RANGE("host_to_host", ""),
       {BETWEEN("numa0", "numa1"), .gbps = 55, .source_memory = "pageable"},
       USUAL},
      /* A stream without a target works where its memory is. */
      {RANGE("local", "kind = \"stream\"\noperation = \"triad\""),
       {ON("gpu0"), .operation = "triad", .gbps = 55},
       USUAL},
      {RANGE("local", "kind = \"stream\"\noperation = \"triad\""),
       {ON("gpu0"), .operation = "copy", .gbps = 55},
       UNKNOWN},
      /* Nothing to judge: no result, or one that stands elsewhere. */
      {UP_RANGE(""), {UP, .gbps = 55, .status = "corrupt"}, "not measured"},
      {UP_RANGE(""), {UP, .status = "skipped"}, "not measured"},
      {UP_RANGE(""), {UP}, "not measured"},
      {UP_RANGE(""), {UP, .gbps = 55, .same_as = "b/other"}, "not measured"},
  };
  assert_each(COUNTED(CASES));
}

TEST(a_machine_is_judged_by_rows_of_its_like) {
#define PEER_USUAL    RANGE("device_to_device", "")
#define SEVERAL_USUAL RANGE("several", "")
  static const struct {
    const char *rows;
    struct part part;
    struct said said;
    const char *expected;
  } CASES[] = {
      {UP_USUAL, {.name = "nvidia h200"}, {UP, .gbps = 55}, USUAL},
      {UP_USUAL, {.name = "NVIDIA H200 NVL"}, {UP, .gbps = 55}, UNKNOWN},
      {UP_USUAL, {.simulated = true}, {UP, .gbps = 55}, UNKNOWN},
      {MACHINE_OF("simulated = true\n") UP_USUAL, {.simulated = true}, {UP, .gbps = 55}, USUAL},
      {MACHINE_OF("simulated = true\n") UP_USUAL, {0}, {UP, .gbps = 55}, UNKNOWN},
      {MACHINE_OF("c2c = true\n") UP_USUAL, {0}, {UP, .gbps = 55}, UNKNOWN},
      {MACHINE_OF("c2c = true\n") UP_USUAL, {.c2c = true}, {UP, .gbps = 55}, USUAL},
      {MACHINE_OF("driver = \">=580\"\n") UP_USUAL, {0}, {UP, .gbps = 55}, USUAL},
      {MACHINE_OF("driver = \">=580\"\n") UP_USUAL, {.driver = "575.1"}, {UP, .gbps = 55}, UNKNOWN},
      /* PCIe is asked for between host and GPU, NVLink between GPUs. */
      {UP_USUAL, {.pcie_width = 8}, {UP, .gbps = 55}, UNKNOWN},
      {UP_USUAL, {.pcie_width = -1}, {UP, .gbps = 55}, UNKNOWN},
      {UP_USUAL, {.nvlink_links = -1}, {UP, .gbps = 55}, USUAL},
      {PEER_USUAL, {.pcie_width = 8}, {PEERS("gpu0", "gpu1"), .gbps = 55}, USUAL},
      {PEER_USUAL, {.nvlink_links = 6}, {PEERS("gpu0", "gpu1"), .gbps = 55}, UNKNOWN},
      {PEER_USUAL, {.nvlink_links = -1}, {PEERS("gpu0", "gpu1"), .gbps = 55}, UNKNOWN},
      {SEVERAL_USUAL, {.pcie_width = 8}, {UP, .gbps = 55, .flows = 3}, UNKNOWN},
      {SEVERAL_USUAL, {.nvlink_links = 6}, {UP, .gbps = 55, .flows = 3}, USUAL},
      {SEVERAL_USUAL, {.pcie_width = 8}, {PEERS("gpu0", "gpu1"), .gbps = 55, .flows = 3}, USUAL},
      {SEVERAL_USUAL,
       {.nvlink_links = 6},
       {PEERS("gpu0", "gpu1"), .gbps = 55, .flows = 3},
       UNKNOWN},
      /* Both ends of a pair; gpu7 is not there. */
      {PEER_USUAL, {0}, {PEERS("gpu0", "gpu7"), .gbps = 55}, UNKNOWN},
      /* The nearest node of the host, where it is known. */
      {UP_USUAL, {.numa_node = 1}, {UP, .gbps = 55}, UNKNOWN},
      {UP_USUAL, {.numa_node = -1}, {UP, .gbps = 55}, USUAL},
  };
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    struct judged judged = judge_machine(NULL, CASES[i].rows, &CASES[i].part, &CASES[i].said, 1);
    assert_said(&judged, CASES[i].expected);
  }
}

TEST(what_was_measured_again_counts_where_it_is_clearer) {
  static const struct {
    const char *rows;
    struct said first, second;
    const char *expected;
  } CASES[] = {
      {UP_USUAL, {UP, .gbps = 20}, {UP, .gbps = 55}, USUAL},
      {UP_USUAL, {UP, .gbps = 20}, {UP, .gbps = 95}, "beyond: 95 GB/s, usual 50-60"},
      {UP_USUAL, {UP, .gbps = 20}, {UP, .gbps = 10}, "short: 20 GB/s, usual 50-60"},
      /* Short and noisy clears nothing; good and noisy is not short. */
      {UP_USUAL, {UP, .gbps = 20}, {UP, .gbps = 20, .spread = 30}, "short: 20 GB/s, usual 50-60"},
      {UP_USUAL, {UP, .gbps = 20}, {UP, .gbps = 95, .spread = 30}, "unclear: 95 GB/s, usual 50-60"},
      {UP_USUAL, {UP, .gbps = 20, .spread = 30}, {UP, .gbps = 55}, USUAL},
      {UP_USUAL, {UP, .gbps = 20, .spread = 30}, {UP, .gbps = 19}, "short: 19 GB/s, usual 50-60"},
      {HOPS_USUAL,
       {HOP, .ns_per_hop = 1900},
       {HOP, .ns_per_hop = 1900, .spread = 20},
       "short: 1900 ns, usual 1000-1200"},
      /* Noise of others says nothing against a shortfall of several visits, and for one of a single
       * visit. */
      {UP_USUAL,
       {UP, .gbps = 24, CAME_BACK(4, 1), EXACT},
       {NEVER_RESTS},
       "short: 24 GB/s, usual 50-60"},
      {UP_USUAL,
       {NEVER_RESTS},
       {UP, .gbps = 24, CAME_BACK(4, 1), EXACT},
       "short: 24 GB/s, usual 50-60"},
      {UP_USUAL, {UP, .gbps = 24}, {NEVER_RESTS}, DISTURBED},
      /* Levels of several visits that tell nothing alone, and both are below. */
      {UP_USUAL,
       {UP, .gbps = 24, CAME_BACK(4, 1), .spread = 9},
       {UP, .gbps = 24.1, CAME_BACK(4, 1), .spread = 9},
       "short: 24.1 GB/s, usual 50-60"},
      {UP_USUAL, {NEVER_RESTS}, {UP, .gbps = 24}, DISTURBED},
      {UP_USUAL, {UP, .gbps = 24, .spread = 30}, {NEVER_RESTS}, DISTURBED},
      {UP_USUAL, {NEVER_RESTS}, {UP, .gbps = 55}, USUAL},
      {UP_USUAL, {UP, .gbps = 55}, {NEVER_RESTS}, USUAL},
      /* What it falls short of is what the second number falls short of. */
      {UP_USUAL UP_FLOOR,
       {UP, .gbps = 22, .spread = 20},
       {UP, .gbps = 19, EXACT},
       "short: 19 GB/s, usual 50-60, floor >= 20"},
      {UP_USUAL UP_LIMIT,
       {UP, .gbps = 101, .spread = 20},
       {UP, .gbps = 20, EXACT},
       "short: 20 GB/s, usual 50-60"},
      {UP_USUAL UP_FLOOR, {UP, .gbps = 10, EXACT}, {UP, .gbps = 55}, USUAL},
      /* A good number stays, and so does what was not measured again. */
      {UP_USUAL, {UP, .gbps = 55}, {UP, .gbps = 20}, USUAL},
      {UP_USUAL, {UP, .gbps = 20}, {UP_TO("gpu1"), .gbps = 55}, "short: 20 GB/s, usual 50-60"},
  };
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    struct judged again = judge_rows(CASES[i].rows, &CASES[i].second, 1);
    struct judged judged = judge_once_more(NULL, CASES[i].rows, NULL, &CASES[i].first, 1, &again);
    judged_fini(&again); /* what was taken from it outlives it */
    assert_int_equal(expect_judge_judged(judged.judge)->verdicts[judged.judgements[0].verdict], 1);
    assert_said(&judged, CASES[i].expected);
  }
}

TEST(what_slowed_it_is_of_the_number_that_counts) {
  static const struct said FIRST = {UP, .gbps = 20, .spread = 30, .slowed_by = "a program"};
  static const struct said SECOND = {UP, .gbps = 20, .slowed_by = "heat"};
  SCOPED(judged_fini) struct judged again = judge_rows(UP_USUAL, &SECOND, 1);
  SCOPED(judged_fini)
  struct judged judged = judge_once_more(NULL, UP_USUAL, NULL, &FIRST, 1, &again);
  assert_string_equal(judged.judgements[0].slowed_by, "heat");
  assert_string_equal(judged.judgements[0].name, "b/numa0-gpu0");
}

/* The row keeps what was recorded; what is said of it is of the number that counts. */
TEST(a_row_says_which_number_was_judged) {
  static const struct said FIRST[] = {{UP, .gbps = 20}, {UP_TO("gpu1"), .gbps = 20, .spread = 30}};
  static const struct said SECOND[] = {{UP, .gbps = 49},
                                       {UP_TO("gpu1"), .status = "crashed", .reason = "signal 9"}};
  static const char *const EXPECTED[][4] = {
      {"usual", "49", "20", "measured once more: 49 GB/s, usual 50-60: 2 % below (tolerance 50 %)"},
      {"broken", "NULL", "20", "measured once more: broken: crashed: signal 9"}};
  static const char *const NAMES[] = {"as_expected", "judged", "gbps", "expected_remark"};
  SCOPED(judged_fini) struct judged again = judge_rows(UP_USUAL, COUNTED(SECOND));
  SCOPED(judged_fini)
  struct judged judged = judge_once_more(NULL, UP_USUAL, NULL, COUNTED(FIRST), &again);
  for (size_t row = 0; row < 2; row++) {
    for (size_t c = 0; c < 4; c++) {
      const char *text = result_set_optional(&judged.passed, row, NAMES[c]);
      assert_string_equal(text != NULL ? text : "NULL", EXPECTED[row][c]);
    }
  }
  /* What went wrong when it was measured once more did go wrong. */
  assert_int_equal(judged.count, 1);
  assert_int_equal(expect_judge_judged(judged.judge)->verdicts[EXPECT_BROKEN], 1);
  assert_string_equal(expect_judge_summary(judged.judge),
                      "1 result is as expected for H200s (from 3 measurements); 1 went wrong");
}

TEST(shortfalls_are_gathered_by_place) {
  static const char ROWS[] =
      UP_USUAL HOPS_USUAL PEER_USUAL RANGE("host_to_host", "") RANGE("several", "");
  static const struct said CASES[] = {
      {UP_TO("gpu0"), .gbps = 55},
      {UP_TO("gpu2"), .gbps = 20, .slowed_by = "heat"},
      {UP_TO("gpu2"), .gbps = 10, .slowed_by = "heat"},
      {HOP, .ns_per_hop = 1900, .slowed_by = "heat"},
      {PEERS("gpu1", "gpu0"), .gbps = 20}, /* as many of gpu0 as of gpu1 are short */
      {PEERS("gpu3", "gpu1"), .gbps = 20}, /* more of gpu1 than of gpu3 are */
      {BETWEEN("numa0", "numa1"), .gbps = 1, .source_memory = "pageable"},
      {UP_TO("gpu3"), .gbps = 20, .flows = 4}, /* says nothing of gpu3 */
  };
  static const char *const EXPECTED[] = {
      "gpu2, host link: 10 GB/s, usual 50-60 (b/numa0-gpu2, and 1 more); may be slowed: heat",
      "gpu0, host link latency: 1900 ns, usual 1000-1200 (b/numa0-gpu0)",
      "gpu0-gpu1, peer link: 20 GB/s, usual 50-60 (b/gpu1-gpu0)",
      "gpu1, peer link: 20 GB/s, usual 50-60 (b/gpu3-gpu1)",
      "host, host memory: 1 GB/s, usual 50-60 (b/numa0-numa1)",
      "several GPUs, flows at once: 20 GB/s, usual 50-60 (b/numa0-gpu3)",
      "7 of 8 results below expectation for H200s: see haul explain"};
  SCOPED(judged_fini) struct judged judged = judge_rows(ROWS, COUNTED(CASES));
  const char *const *lines = NULL;
  const size_t count = expect_judge_words(judged.judge, &lines);
  assert_int_equal(count, COUNT_OF(EXPECTED));
  for (size_t i = 0; i < count; i++) {
    assert_string_equal(lines[i], EXPECTED[i]);
  }
}

TEST(the_summary_counts_what_is_known) {
  static const struct {
    const char *rows;
    struct said said[4];
    const char *expected;
  } CASES[] = {
      {UP_USUAL,
       {{UP, .gbps = 55}, {UP_TO("gpu1"), .gbps = 56}, {PEERS("gpu0", "gpu1"), .gbps = 1}, {UP}},
       "all 2 judged results are as expected for H200s (from 3 measurements); 1 has no "
       "expectation"},
      {UP_FLOOR, {{UP, .gbps = 55}}, "1 result is as expected for H200s (from lower limits alone)"},
      {UP_USUAL,
       {{UP, .gbps = 55}, {UP_TO("gpu1"), .gbps = 20, .spread = 50}, {UP_TO("gpu2"), .gbps = 95}},
       "2 results are as expected for H200s (from 3 measurements); 1 better than any measurement; "
       "1 too "
       "noisy to tell"},
      {UP_USUAL,
       {{UP, .gbps = 20, .spread = 50}},
       "0 results are as expected for H200s (from 3 measurements); 1 too noisy to tell"},
      /* Two rows of one source are one source, of hosts where they are said. */
      {ROW("reports", RATE("host_to_device", "low = 50\nhigh = 60\ncount = 9\nhosts = 2"))
           ROW("reports", RATE("host_to_device", "low = 50\nhigh = 60\ncount = 9\nhosts = 2")),
       {{UP, .gbps = 55}, {UP_TO("gpu1"), .gbps = 55}},
       "all 2 results are as expected for H200s (from 2 measurements)"},
      /* It counts the most that it says, whichever of its rows comes first. */
      {ROW("reports", RATE("host_to_device", "low = 50\nhigh = 60\ncount = 2"))
           ROW("reports", RATE("device_to_device", "low = 50\nhigh = 60\ncount = 4")),
       {{UP, .gbps = 55}, {PEERS("gpu0", "gpu1"), .gbps = 55}},
       "all 2 results are as expected for H200s (from 4 measurements)"},
      {ROW("reports", RATE("host_to_device", "low = 50\nhigh = 60\ncount = 4"))
           ROW("reports", RATE("device_to_device", "low = 50\nhigh = 60\ncount = 2")),
       {{UP, .gbps = 55}, {PEERS("gpu0", "gpu1"), .gbps = 55}},
       "all 2 results are as expected for H200s (from 4 measurements)"},
      {UP_USUAL,
       {{UP, .gbps = 55},
        {UP_TO("gpu1"), .status = "failed", .reason = "719"},
        {UP_TO("gpu2"), .status = "skipped", .reason = "no peer"},
        {UP_TO("gpu3"), .status = "failed", .same_as = "b/other"}},
       "1 result is as expected for H200s (from 3 measurements); 1 went wrong"},
      {UP_USUAL,
       {{UP, .gbps = 20}, {UP_TO("gpu1"), .status = "hung"}},
       "1 of 1 results below expectation for H200s; 1 went wrong: see haul explain"},
      {UP_LIMIT, {{UP, .gbps = 55}}, NULL},
      {UP_USUAL, {{PEERS("gpu0", "gpu1"), .gbps = 55}}, NULL},
  };
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    size_t count = 0;
    while (count < 4 && CASES[i].said[count].block != NULL) {
      count++;
    }
    SCOPED(judged_fini) struct judged judged = judge_rows(CASES[i].rows, CASES[i].said, count);
    const char *summary = expect_judge_summary(judged.judge);
    assert_string_equal(summary != NULL ? summary : "none",
                        CASES[i].expected != NULL ? CASES[i].expected : "none");
  }
}

TEST(what_went_wrong_is_said_with_its_reason) {
  static const struct said CASES[] = {{UP, .gbps = 55},
                                      {UP_TO("gpu1"), .status = "failed", .reason = "code 719"},
                                      {PEERS("gpu0", "gpu1"), .status = "hung"}};
  SCOPED(judged_fini) struct judged judged = judge_rows(UP_USUAL, COUNTED(CASES));
  SCOPED(arena_fini) struct arena arena = {0};
  const struct expect_judgement *broken = expect_judge_judged(judged.judge)->broken;
  assert_int_equal(expect_judge_judged(judged.judge)->broken_count,
                   2); /* of the second nothing is known */
  assert_int_equal(expect_judge_judged(judged.judge)->verdicts[EXPECT_BROKEN], 2);
  assert_int_equal(judged.count, 1);
  assert_string_equal(broken[0].name, "b/numa0-gpu1");
  assert_string_equal(expect_judgement_words(&arena, &broken[0]), "broken: failed: code 719");
  assert_string_equal(expect_judgement_words(&arena, &broken[1]), "broken: hung");
  const char *const *lines = NULL;
  assert_int_equal(expect_judge_words(judged.judge, &lines), 2);
  assert_string_equal(lines[0], "b/numa0-gpu1: failed: code 719, and 1 more");
}

TEST(rows_pass_with_what_is_known_of_them) {
  static const struct said CASES[] = {
      {UP, .gbps = 20}, {PEERS("gpu0", "gpu1"), .gbps = 300}, {UP_TO("gpu1"), .partial = true}};
  enum { ADDED = 9 };
  static const char *const EXPECTED[][ADDED] = {
      {"50-60", "50", "60", "short", "100", "25", "90", "20",
       "short of what is usual here, 50-60: 60 % below (tolerance 50 %)"},
      {0},
      {0}};
  static const char *const NAMES[] = {"expected",    "expected_low",   "expected_high",
                                      "as_expected", "expected_limit", "usual_low",
                                      "usual_high",  "judged",         "expected_remark"};
  struct judged judged = judge_rows(UP_USUAL UP_LIMIT, COUNTED(CASES));
  assert_int_equal(judged.passed.row_count, 3);
  assert_int_equal(judged.passed.column_count, SAID_COLUMNS + ADDED);
  for (size_t row = 0; row < 3; row++) {
    assert_non_null(result_set_text(&judged.passed, row, "case"));
    for (size_t c = 0; c < ADDED; c++) {
      const char *text = result_set_optional(&judged.passed, row, NAMES[c]);
      assert_string_equal(text != NULL ? text : "NULL",
                          EXPECTED[row][c] != NULL ? EXPECTED[row][c] : "NULL");
    }
  }
  assert_true(expect_judge_judged(judged.judge)->partial);
  judged_fini(&judged);
  /* Better than is known, and a floor and a limit that decide. */
  static const struct said FAST = {UP, .gbps = 120};
  judged = judge_rows(UP_USUAL ROW("floor", RATE("host_to_device", "low = 30")) UP_LIMIT, &FAST, 1);
  assert_string_equal(result_set_text(&judged.passed, 0, "expected_remark"),
                      "better than anything known, 50-60, limit <= 100: 20 % above");
  assert_string_equal(result_set_text(&judged.passed, 0, "usual_low"), "30");
  judged_fini(&judged);
  /* A limit is shown of a case of which nothing else is known. */
  judged = judge_rows(UP_LIMIT, CASES, 1);
  assert_string_equal(result_set_text(&judged.passed, 0, "expected_limit"), "100");
  assert_null(result_set_optional(&judged.passed, 0, "as_expected"));
  assert_false(expect_judge_judged(judged.judge)->partial);
  judged_fini(&judged);
}
