/* Words of a row of a diff: the number, whose unit the heading says if all rows have it; counts;
 * shares per cent. */
#include "runner/render/diff_format.h"

#include "runner/analysis/conclusion.h"
#include "runner/render/diff_layout.h"
#include "runner/table/text.h"
#include "tests/cmocka.h"

#include <math.h>

TEST(figures_have_their_unit) {
  static const struct {
    enum figure figure;
    const char *text, *common; /* the unit of this row and those before */
  } ROWS[] = {{FIGURE_HOP, "55.20 ns", "ns"},
              {FIGURE_CALL, "55.20 ns", "ns"},
              {FIGURE_RATE, "55.20 GB/s", ""},
              {FIGURE_FLOPS, "55.20 GFLOP/s", ""},
              {FIGURE_TIME, "55.20 ns", ""}};
  const char *common = NULL;
  for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
    struct comparison_row row = {.figure = ROWS[i].figure};
    SCOPED(arena_fini) struct arena arena = {0};
    row.sides[SIDE_A].value = 55.2;
    common = diff_common_unit(common, &row);
    assert_string_equal(diff_figure_words(&arena, &row, SIDE_A, false), "55.20");
    assert_string_equal(diff_figure_words(&arena, &row, SIDE_A, true), ROWS[i].text);
    assert_string_equal(common, ROWS[i].common);
  }
}

TEST(no_share_is_printed_with_an_exponent) {
  static const struct {
    double share;
    int digits;
    const char *text;
  } SHARES[] = {{0, 2, "0 %"},           {1e-9, 2, "0 %"},
                {9.9e-7, 2, "0 %"},      {1.2e-6, 2, "0.00012 %"},
                {0.00012, 2, "0.012 %"}, {0.0325, 3, "3.25 %"},
                {0.994, 2, "99 %"},      {0.996, 2, "100 %"},
                {0.996, 3, "99.6 %"},    {1.4, 2, "140 %"},
                {12.34, 2, "1234 %"},    {-0.9996, 3, "-100 %"},
                {0.0995, 1, "10 %"},     {9.9951, 3, "1000 %"}};
  SCOPED(arena_fini) struct arena arena = {0};
  for (size_t i = 0; i < COUNT_OF(SHARES); i++) {
    assert_string_equal(text_percent(&arena, SHARES[i].share, SHARES[i].digits), SHARES[i].text);
  }
  const struct comparison_row row = {
      .result = {.verdict = VERDICT_UNCLEAR, .unit = DIFF_UNIT_RUN, .sd = 0.997}, .delta = 0.01};
  assert_string_equal(diff_note_words(&arena, &row), "too noisy: spread 100 %");
}

TEST(runs_of_one_process_are_runs) {
  struct comparison_row row = {.result = {.unit = DIFF_UNIT_RUN},
                               .sides = {{.runs = 2, .processes = 2}, {.runs = 5, .processes = 5}}};
  SCOPED(arena_fini) struct arena arena = {0};
  assert_string_equal(diff_counts_words(&arena, &row, false), "2/5 runs");
  row.sides[SIDE_A].processes = 8;
  row.sides[SIDE_B].processes = 20;
  assert_string_equal(diff_counts_words(&arena, &row, false), "2/5 runs of 4");
}

/* And nothing that does not occur. */
TEST(the_legend_explains_the_counts_that_occur) {
  struct comparison_row rows[] = {
      {.result.unit = DIFF_UNIT_RUN,
       .sides = {{.runs = 4, .processes = 4}, {.runs = 4, .processes = 4}}},
      {.result.unit = DIFF_UNIT_RUN,
       .sides = {{.runs = 1, .processes = 5}, {.runs = 4, .processes = 8}}},
      {.result.unit = DIFF_UNIT_RUN,
       .sides = {{.runs = 2, .processes = 6}, {.runs = 2, .processes = 6}}}};
  static const char *const LEGENDS[] = {
      "runs of A/B", "runs or processes of A/B; \"in\": in so many runs",
      "runs or processes of A/B; \"in\": in so many runs; \"of 3\": 3 processes each"};
  const struct comparison comparison = {.rows = rows, .row_count = COUNT_OF(rows)};
  const size_t numbers[] = {0, 1, 2};
  for (size_t i = 0; i < COUNT_OF(LEGENDS); i++) {
    struct diff_group group = {.rows = numbers, .count = i + 1};
    struct diff_layout layout = {.comparison = &comparison, .groups = &group, .group_count = 1};
    assert_string_equal(diff_counts_legend(&layout.arena, &layout, false), LEGENDS[i]);
    arena_fini(&layout.arena);
  }
}

TEST(a_spread_of_earlier_runs_is_named_so) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct comparison_row row = {
      .result = {.verdict = VERDICT_UNCLEAR, .unit = DIFF_UNIT_RUN, .sd = 0.017},
      .delta = 0.01,
      .sides = {{.runs = 1, .processes = 3}, {.runs = 1, .processes = 3}}};
  assert_string_equal(diff_note_words(&arena, &row), "too noisy: spread 1.7 % over earlier runs");
  row.sides[SIDE_B].runs = 4;
  assert_string_equal(diff_note_words(&arena, &row), "too noisy: spread 1.7 %");
}

/* What happened to the link is the size of a change, and noise is told beside it. */
TEST(both_rates_of_a_case_are_told) {
  static const struct rate_change RATES[] = {
      {{.verdict = VERDICT_REGRESSED}, {55, 51}, -0.0706, -0.0886, -0.0526},
      {{.verdict = VERDICT_REGRESSED}, {55, 53}, -0.03, -0.0301, -0.0299},
      {{.verdict = VERDICT_SAME}, {55, 55}, 0, -0.0001, 0.0001}};
  enum { NOISY, LINK, STILL };
  static const struct {
    int typical, undisturbed;
    enum moved moved;
    enum rate_kind rate;
    const char *note, *answer;
  } CASES[] = {
      {NOISY, LINK, MOVED_BOTH, RATE_UNDISTURBED, "undisturbed rate; with noise -7.06 ± 1.80 %",
       "1 regressed: A -> B (gpu2, -3.00 %)"},
      {NOISY, STILL, MOVED_TYPICAL, RATE_TYPICAL,
       "more noise; undisturbed rate +0.00 ± 0.01 %, SAME",
       "1 regressed; 1 changed by noise alone: A -> B (gpu2, -7.06 %, more noise)"},
      {STILL, LINK, MOVED_UNDISTURBED, RATE_UNDISTURBED,
       "undisturbed rate; with noise +0.00 ± 0.01 %, SAME", "1 regressed: A -> B (gpu2, -3.00 %)"}};
  struct results_case bench = {.name = "up", .path = "gpu2", .gpus = 4};
  const struct results results = {.cases = &bench, .case_count = 1};
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    SCOPED(arena_fini) struct arena arena = {0};
    struct case_rates rates = {.of = {RATES[CASES[i].typical], RATES[CASES[i].undisturbed]}};
    const struct rate_change *shown = &rates.of[CASES[i].rate];
    struct comparison_row row = {.result = shown->result,
                                 .change = shown->change,
                                 .rate = CASES[i].rate,
                                 .rates = &rates,
                                 .moved = CASES[i].moved};
    struct comparison comparison = {
        .results = &results, .rows = &row, .row_count = 1, .judged_count = 1};
    comparison.totals[SIDE_A].drivers = comparison.totals[SIDE_B].drivers = "580";
    comparison.summary.verdicts[VERDICT_REGRESSED] = 1;
    assert_string_equal(diff_note_words(&arena, &row), CASES[i].note);
    assert_string_equal(
        diff_answer_words(&arena, &comparison, (const char *const[SIDES]){"A", "B"}),
        CASES[i].answer);
  }
}

TEST(a_process_apart_is_its_run_if_runs_have_one_each) {
  struct comparison_row row = {.figure = FIGURE_RATE};
  row.sides[SIDE_B] = (struct comparison_side){.processes = 5, .runs = 5};
  row.sides[SIDE_A] = (struct comparison_side){
      .processes = 5,
      .runs = 5,
      .shape = {SHAPE_OUTLIER, {1, 4}, {52, 50}, .run_id = 7, .ordinal = 3}};
  SCOPED(arena_fini) struct arena arena = {0};
  assert_string_equal(diff_note_words(&arena, &row),
                      "run 7 is 4 % faster than the other 4 runs of A");
  row.sides[SIDE_A].runs = 1;
  assert_string_equal(diff_note_words(&arena, &row),
                      "process 3 of run 7 is 4 % faster than the other 4 processes of A");
}

/* What is worse in a distribution has a name, and noise that left the link alone says so. */
TEST(worse_distributions_are_named) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct case_rates still = {.of = {[RATE_UNDISTURBED] = {.result = {.verdict = VERDICT_SAME}}}};
  const struct results_case bench = {.name = "up", .path = "gpu2"};
  const struct results results = {.cases = (struct results_case *)&bench, .case_count = 1};
  struct comparison_row rows[] = {
      {.distribution = {.kind = DISTRIBUTION_TAIL, .is_worse = true, .values = {0.001, 0.66}},
       .rates = &still},
      {.distribution = {.kind = DISTRIBUTION_TAIL, .is_worse = true, .values = {0.001, 0.66}},
       .rates = &still},
      {.distribution = {.kind = DISTRIBUTION_MODE, .values = {0.5, 0}}}};
  struct comparison comparison = {
      .results = &results, .rows = rows, .row_count = 3, .judged_count = 3};
  comparison.totals[SIDE_A].drivers = comparison.totals[SIDE_B].drivers = "580";
  comparison.summary.verdicts[VERDICT_SAME] = 3;
  assert_string_equal(diff_answer_words(&arena, &comparison, (const char *const[SIDES]){"A", "B"}),
                      "3 same; distribution changed in 3 (worse: 2 TAIL, more noise): A -> B");
  assert_string_equal(
      diff_distribution_words(&arena, &rows[0]),
      "TAIL: p95 of the trials 0.1 % above their median in A, 66 % in B (more noise)");
  rows[2].distribution.is_worse = rows[2].distribution.is_provisional = true;
  assert_string_equal(diff_worse_distributions(&arena, &comparison, true),
                      "1 MODE, 2 TAIL, 2 of them more noise");
  assert_string_equal(diff_worse_distributions(&arena, &comparison, false), "2 TAIL, more noise");
}

/* A verdict that is not counted says nothing, though some of it is provisional. */
TEST(counts_name_what_is_provisional) {
  SCOPED(arena_fini) struct arena arena = {0};
  const size_t verdicts[verdict_name_count] = {[VERDICT_REGRESSED] = 4};
  const size_t provisional[verdict_name_count] = {[VERDICT_REGRESSED] = 4, [VERDICT_SAME] = 20};
  assert_string_equal(diff_verdict_counts(&arena, verdicts, provisional),
                      "4 regressed (provisional)");
}

TEST(a_provisional_verdict_names_the_half_that_holds) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct comparison_row row = {.result = {.doubt = DIFF_DOUBT_FEW},
                               .sides = {{.runs = 4, .processes = 4}, {.runs = 1, .processes = 1}}};
  struct comparison comparison = {.rows = &row, .row_count = 1};
  comparison.summary.doubts[DIFF_DOUBT_FEW] = 1;
  assert_string_equal(diff_provisional_words(&arena, &comparison),
                      "B has only 1 process, and a side needs 4");
  row.sides[SIDE_A] = row.sides[SIDE_B] = (struct comparison_side){.runs = 2, .processes = 6};
  assert_string_equal(diff_provisional_words(&arena, &comparison),
                      "A has 2 runs and B has 2, and one of them needs 4");
  row.sides[SIDE_A].runs = row.sides[SIDE_B].runs = 1;
  assert_string_equal(diff_provisional_words(&arena, &comparison),
                      "each side is one run, without 4 earlier runs of the machine");
}

TEST(the_title_names_what_is_broken_and_q_is_of_changes) {
  SCOPED(arena_fini) struct arena arena = {0};
  const struct conclusion broken = {.verdict = VERDICT_BROKEN, .what = "gpu1->gpu2", .change = NAN};
  const struct comparison comparison = {.conclusions = &broken, .conclusion_count = 1};
  assert_string_equal(diff_cause_words(&arena, &comparison), "gpu1->gpu2");
  assert_string_equal(diff_q_words(&arena, VERDICT_SAME, 1), "");
  assert_string_equal(diff_q_words(&arena, VERDICT_REGRESSED, 0.01), "0.01");
}

/* A case looks slower only where its interval, if it has one, leaves no doubt of the direction. */
TEST(what_is_within_its_noise_looks_like_nothing) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct results_case cases[] = {{.name = "a", .path = "a"}, {.name = "b", .path = "b", .gpus = 1}};
  struct results results = {.cases = cases, .case_count = COUNT_OF(cases)};
  struct comparison_row rows[] = {
      {.bench = 0,
       .delta = 0.01,
       .change = -0.13,
       .result =
           {.verdict = VERDICT_UNCLEAR, .change = -0.13, .change_low = -0.4, .change_high = 0.2}},
      {.bench = 1,
       .delta = 0.01,
       .change = -0.04,
       .result = {
           .verdict = VERDICT_UNCLEAR, .change = -0.04, .change_low = -0.5, .change_high = 0.3}}};
  const struct comparison comparison = {
      .results = &results, .rows = rows, .row_count = COUNT_OF(rows)};
  assert_string_equal(diff_found_words(&arena, &comparison), "2 undecided (too noisy)");
  assert_string_equal(diff_cause_words(&arena, &comparison), "");
  rows[1].result.change_high = -0.01;
  assert_string_equal(diff_found_words(&arena, &comparison),
                      "2 undecided (1 looks slower, 1 too noisy)");
  /* One run each has none: what is within the host says least. */
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    rows[i].result.change_low = rows[i].result.change_high = NAN;
  }
  assert_string_equal(diff_found_words(&arena, &comparison), "2 undecided (2 look slower)");
  assert_string_equal(diff_cause_words(&arena, &comparison), "b, -4.00 %, and others");
}

/* Two estimates of one thing, one of which excludes 0, would contradict each other. */
TEST(what_all_cases_share_is_said_once) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct comparison_group groups[] = {{.kind = GROUP_DIRECTION, .is_news = true},
                                      {.kind = GROUP_ALL}};
  const struct comparison comparison = {.groups = groups,
                                        .group_count = COUNT_OF(groups),
                                        .summary.shift = {8, -0.151, -0.293, 0.0201}};
  assert_string_equal(diff_shift_words(&arena, &comparison),
                      "Common change over 8 cases: -15.1 % (95 % CI -29.3 to +2.01)");
  groups[1].is_news = true;
  assert_string_equal(diff_shift_words(&arena, &comparison), "");
}

/* Few links that did not change are no reason to think of noise. */
TEST(a_group_is_noise_if_most_links_that_are_known_did_not_change) {
  static const char FOUND[] = "all cases: REGRESSED, -2.97 % speed on average over 78 cases "
                              "(95 % CI -3.10 to -2.84; threshold 1 %)";
  static const struct {
    size_t undisturbed, same;
    const char *more;
  } ROWS[] = {{0, 0, ""},
              {40, 20, ""},
              {1, 1, "; without noise, 1 of the 1 cases that have an undisturbed rate is SAME"},
              {8, 6, "; without noise, 6 of the 8 cases that have an undisturbed rate are SAME"}};
  for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
    SCOPED(arena_fini) struct arena arena = {0};
    const struct comparison_group group = {.what = "all cases",
                                           .case_count = 78,
                                           .undisturbed = ROWS[i].undisturbed,
                                           .undisturbed_same = ROWS[i].same,
                                           .delta = 0.01,
                                           .result = {.verdict = VERDICT_REGRESSED,
                                                      .change = -0.0297,
                                                      .change_low = -0.031,
                                                      .change_high = -0.0284}};
    assert_string_equal(diff_group_sentence(&arena, &group),
                        arena_format(&arena, "%s%s", FOUND, ROWS[i].more));
  }
}
