/* diff_tests.c - a comparison as a report of tests: a case is a test. */
#include "engine/base/strings.h"
#include "runner/render/diff.h"
#include "runner/render/diff_format.h"
#include "runner/render/diff_layout.h"
#include "runner/render/outliers.h"

#include <math.h>

enum { NOTES_MAX = 1 << 16 };

static enum test_outcome diff_outcome_of(const struct diff_show *show, enum verdict verdict,
                                         bool is_provisional) {
  if (is_provisional && !show->provisional_fails) {
    return show->undecided_fails ? TEST_ERROR : TEST_SKIPPED;
  }
  if (show->fails[verdict]) {
    return TEST_FAILED;
  }
  switch (verdict) {
  case VERDICT_UNCLEAR:
  case VERDICT_INSUFFICIENT:
    return show->undecided_fails ? TEST_ERROR : TEST_SKIPPED;
  case VERDICT_BROKEN:
  case VERDICT_NEW:
  case VERDICT_MISSING:
  case VERDICT_INCOMPARABLE:
    return TEST_SKIPPED;
  case VERDICT_REGRESSED:
  case VERDICT_IMPROVED:
  case VERDICT_SAME:
  case verdict_name_count:
    break;
  }
  return TEST_PASSED;
}

static const char *diff_test_message(struct arena *arena, const struct comparison_row *row) {
  const char *text = arena_format(arena, "%s%s", verdict_text(row->result.verdict),
                                  row->result.is_provisional ? " (provisional)" : "");
  if (isfinite(row->change)) {
    text =
        arena_format(arena, "%s: %+.2f %% (%.5g to %.5g %s)", text, 100 * row->change,
                     row->sides[SIDE_A].value, row->sides[SIDE_B].value, figure_text(row->figure));
  }
  text = arena_add(arena, text, "%s", arena_around(arena, ": ", diff_note_words(arena, row), ""));
  return diff_reason_stands_below(row) ? arena_add(arena, text, ": %s", row->reason) : text;
}

enum status diff_print_tests(const struct comparison *comparison, const struct diff_show *show,
                             enum test_format format, FILE *stream, struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  const size_t count = comparison->row_count + comparison->alone_count + comparison->group_count;
  struct test_case *cases = arena_array(&arena, count, sizeof *cases);
  struct test_property sides[SIDES];
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    const struct results_case *bench = &comparison->results->cases[row->bench];
    const char *name = arena_add(&arena, bench->name, "%s",
                                 arena_around(&arena, " [", diff_place_words(row), "]"));
    cases[i] = (struct test_case){
        bench->block, name, diff_outcome_of(show, row->result.verdict, row->result.is_provisional),
        diff_test_message(&arena, row)};
  }
  for (size_t i = 0; i < comparison->alone_count; i++) {
    const struct outlier_part *part = &comparison->alone->parts[i];
    cases[comparison->row_count + i] =
        (struct test_case){part->host, diff_part_name(&arena, part),
                           diff_outcome_of(show, VERDICT_REGRESSED, !part->certain),
                           outliers_alone_words(&arena, part)};
  }
  for (size_t s = 0; s < SIDES; s++) {
    sides[s] = (struct test_property){
        s == SIDE_A ? "a" : "b",
        arena_format(&arena, "%s, %s %s, driver %s", show->names[s],
                     strings_plural(comparison->totals[s].runs, "run", "runs"),
                     comparison->totals[s].which, comparison->totals[s].drivers)};
  }
  size_t used = comparison->row_count + comparison->alone_count;
  for (size_t i = 0; i < comparison->group_count; i++) {
    const struct comparison_group *group = &comparison->groups[i];
    if (group->is_news) {
      cases[used++] = (struct test_case){
          "groups", group->what,
          diff_outcome_of(show, group->result.verdict, group->result.is_provisional),
          diff_group_sentence(&arena, group)};
    }
  }
  const struct test_report report = {.name = "haul check",
                                     .version = show->version,
                                     .properties = sides,
                                     .property_count = SIDES,
                                     .cases = cases,
                                     .case_count = used};
  return test_report_print(&report, format, stream, err);
}
