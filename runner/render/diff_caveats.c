/* diff_caveats.c - below the cases of a comparison: what limits it, its A/A test, what else differs
 * between the sides, and what these are. */
#include "engine/base/strings.h"
#include "runner/document/document.h"
#include "runner/render/diff.h"
#include "runner/render/diff_format.h"
#include "runner/render/outliers.h"

#include <math.h>

/* "B: gpu1 was in use when the run began: 1 compute process, 98 % busy (2 of 3 runs)". */
static const char *diff_condition_words(struct arena *arena, const struct comparison *comparison,
                                        const struct comparison_condition *condition) {
  const bool on_a = condition->runs[SIDE_A] > 0;
  const bool on_b = condition->runs[SIDE_B] > 0;
  const unsigned results = condition->results[SIDE_A] + condition->results[SIDE_B];
  const unsigned runs = condition->runs[SIDE_A] + condition->runs[SIDE_B];
  const size_t all =
      (on_a ? comparison->totals[SIDE_A].runs : 0) + (on_b ? comparison->totals[SIDE_B].runs : 0);
  const char *text = on_a && on_b ? "A and B: " : on_a ? "A: " : "B: ";
  if (condition->kind == CONDITION_SLOWED) {
    text = arena_add(arena, text, "%u %s may be slowed: ", results,
                     strings_plural(results, "result", "results"));
  }
  text = arena_add(arena, text, "%s", condition->text);
  return runs < all && condition->kind != CONDITION_INCOMPLETE
             ? arena_add(arena, text, " (%u of %zu runs)", runs, all)
             : text;
}

/* What was not as it should be while the runs were made: before everything that it may explain. */
static void diff_put_conditions(const struct diff_view *view) {
  struct arena *arena = &view->document->arena;
  const struct comparison *comparison = view->comparison;
  const size_t count = comparison->condition_count;
  const bool all = view->show->all || count <= DIFF_CONDITIONS_MAX + 1;
  for (size_t i = 0; i < (all ? count : DIFF_CONDITIONS_MAX); i++) {
    document_put_text(view->document, TONE_WARN,
                      diff_condition_words(arena, comparison, &comparison->conditions[i]));
  }
  if (!all) {
    document_put_toned(view->document, TONE_WARN, "and %zu more like these (-v lists them)",
                       count - DIFF_CONDITIONS_MAX);
  }
}

/* Limits of the whole comparison. */
static void diff_put_notes(const struct diff_view *view) {
  struct document *document = view->document;
  struct arena *arena = &document->arena;
  const struct comparison *comparison = view->comparison;
  if (comparison->simulated) {
    document_put(document, DOCUMENT_SIMULATED "%s",
                 comparison->totals[SIDE_B].runs == 0 ? "" : " on both sides");
  }
  if (comparison->other_machine) {
    document_put(
        document,
        "Other hardware: A and B were measured on different GPUs or hosts, which may explain "
        "a change");
  }
  if (comparison->driver_compiled) {
    document_put(document,
                 "Each driver compiled haul's kernels itself, which may explain a change: a haul "
                 "built with nvcc has them compiled");
  }
  document_put_text(
      view->document, TONE_NONE,
      arena_around(arena, "Not compared: ", comparison->left_out, " (not run on both sides)"));
  for (size_t s = 0; s < SIDES; s++) {
    if (comparison->unasked[s] > 0) {
      document_put(document, "%zu %s not measured in %c (--only %s)", comparison->unasked[s],
                   strings_plural(comparison->unasked[s], "case was", "cases were"), side_letter(s),
                   comparison->unasked_only[s]);
    }
  }
  document_put_text(view->document, TONE_NONE, arena_around(arena, "", comparison->judged, ""));
  if (comparison->summary.doubts[DIFF_DOUBT_ONE_RUN] == 0 || /* else the legend says so */
      !strings_equal(comparison->confounded, COMPARISON_ONE_RUN)) {
    document_put_text(view->document, TONE_NONE,
                      arena_around(arena, "", comparison->confounded, ""));
  }
  if (comparison->looks > 1) {
    document_put(
        document,
        "Measured by haul run --decide, which compares up to %u times: each comparison uses 1/%u "
        "of the error rates",
        comparison->looks, comparison->looks);
  }
  const char *reason = NULL;
  const size_t incomparable = diff_count_incomparable(comparison, &reason);
  if (incomparable > 0) {
    document_put(document, "%zu %s not compared: %s", incomparable,
                 strings_plural(incomparable, "case is", "cases are"), reason);
  }
}

const char *diff_shift_words(struct arena *arena, const struct comparison *comparison) {
  const struct shift *shift = &comparison->summary.shift;
  const bool common = comparison->summary.shift_is_common;
  const bool is_told = ANY_OF(i, comparison->group_count,
                              comparison->groups[i].is_news &&
                                  comparison->groups[i].kind == GROUP_ALL); /* by the group */
  if (shift->pairs == 0 || is_told) {
    return "";
  }
  const bool is_estimated = isfinite(shift->change_low) && isfinite(shift->change_high);
  const char *text = arena_format(
      arena, "%s change over %zu case%s: %s %%", is_estimated ? "Common" : "Median", shift->pairs,
      strings_plural(shift->pairs, "", "s"), diff_percent_words(arena, shift->change));
  if (!is_estimated) {
    return text;
  }
  text =
      arena_add(arena, text, " (95 %% CI %s to %s)", diff_percent_words(arena, shift->change_low),
                diff_percent_words(arena, shift->change_high));
  if (common) {
    return arena_add(arena, text, "; nearly all cases agree with it");
  }
  return (shift->change_low > 0 || shift->change_high < 0) &&
                 isfinite(comparison->summary.shift_share)
             ? arena_add(arena, text, "; %.0f %% of the cases agree with it",
                         floor(100 * comparison->summary.shift_share))
             : text;
}

/* With how many processes ranks report something; nothing where all cases have enough. */
static const char *diff_rank_words(struct arena *arena, const struct comparison *comparison) {
  const struct diff_summary *summary = &comparison->summary;
  return summary->rank_too_few == 0
             ? ""
             : arena_format(arena,
                            "Ranks: of %zu cases, one that alone changed can be reported with %u "
                            "%s per side or more; %zu %s fewer",
                            summary->tests, summary->rank_processes_least,
                            comparison->judged != NULL ? "runs" : "processes",
                            summary->rank_too_few,
                            strings_plural(summary->rank_too_few, "case has", "cases have"));
}

static void diff_put_a_a(struct document *document, const struct a_a_result *a_a) {
  if (a_a == NULL) {
    return;
  }
  document_gap(document);
  if (a_a->splits == 0) {
    document_put(document, "A/A test not made: A has fewer than four processes");
    return;
  }
  document_put(
      document,
      "A/A test: %s split at random %zu times: %zu %s false positives; %zu of %zu cases (%.2f %%)",
      a_a->by_run ? "runs of A" : "A", a_a->splits, a_a->splits_reporting,
      strings_plural(a_a->splits_reporting, "split reports", "splits report"), a_a->false_positives,
      a_a->judged,
      a_a->judged > 0 ? 100.0 * (double)a_a->false_positives / (double)a_a->judged : 0.0);
  if (!a_a->by_run) {
    document_put(document,
                 "A has %s, so processes were split: the test does not show how runs differ",
                 a_a->runs == 1 ? "one run" : "fewer than four runs");
  }
  if (a_a->in_time_reported > 0) {
    document_put_toned(
        document, TONE_WARN,
        "The later half of the runs differs from the earlier in %zu of %zu cases: results "
        "drift. Measure A and B in turn",
        a_a->in_time_reported, a_a->in_time_judged);
  }
}

/* "gpu2 pcie_link_width", "every gpu: driver_model". */
static const char *diff_fact_name(struct arena *arena, const struct fact_difference *fact) {
  const char *nodes = diff_fact_nodes(arena, fact);
  return fact->gpu >= 0 ? arena_format(arena, "gpu%d %s%s", fact->gpu, fact->name, nodes)
                        : arena_format(arena, "%s%s%s", fact->gpu == -2 ? "every gpu: " : "",
                                       fact->name, nodes);
}

static const char *diff_fact_value(const struct fact_difference *fact, enum side side) {
  return fact->values[side] != NULL ? fact->values[side] : "(no answer)";
}

/* What differs in the environments, as a table of its own. */
static void diff_put_facts(const struct diff_view *view) {
  static const char *const COLUMNS[] = {"differs", "A", "B"};
  struct document *document = view->document;
  struct arena *arena = &document->arena;
  const struct comparison *comparison = view->comparison;
  const struct diff_layout *layout = &view->layout;
  if (layout->fact_count > 1) { /* a table */
    document_gap(document);
  }
  if (comparison->fact_count == 0) {
    const char *reason = NULL;
    document_put(document, "%s",
                 diff_count_incomparable(comparison, &reason) > 0
                     ? "No other recorded fact of the machine differs between A and B."
                 : comparison->condition_count == 0
                     ? "No recorded fact of the machine differs between A and B."
                     : "No recorded fact of the machine differs between A and B, but see the "
                       "conditions above.");
    return;
  }
  if (layout->fact_count == 1) {
    const struct fact_difference *fact = layout->facts[0];
    document_put(document, "One recorded fact differs: %s, %s -> %s", diff_fact_name(arena, fact),
                 diff_fact_value(fact, SIDE_A), diff_fact_value(fact, SIDE_B));
  } else if (layout->fact_count > 0) {
    DOCUMENT_TABLE(document, COLUMNS, .wraps = true);
    for (size_t i = 0; i < layout->fact_count; i++) {
      const struct fact_difference *fact = layout->facts[i];
      DOCUMENT_ROW(document, cell_text(diff_fact_name(arena, fact)),
                   cell_text(diff_fact_value(fact, SIDE_A)),
                   cell_text(diff_fact_value(fact, SIDE_B)));
    }
    document_table_end(document);
  }
  for (size_t s = 0; s < SIDES; s++) {
    if (layout->unanswered[s] != NULL) {
      document_gap(document);
      document_put(document, "%s (-v lists them)", layout->unanswered[s]);
    }
  }
}

/* "A  tag:before: driver 580.159.04, host n1; 1 run, 5 processes, ...; run 3 of 2026-..." */
static void diff_put_side(const struct diff_view *view, enum side side) {
  struct arena *arena = &view->document->arena;
  const struct comparison_total *total = &view->comparison->totals[side];
  document_put_behind(view->document, side == SIDE_A ? "A  " : "B  ",
                      "%s: driver %s, host %s; %zu %s, %u %s%s, %u %s; %s %s",
                      view->show->names[side], total->drivers,
                      outliers_shorten(arena, total->hosts, DIFF_HOSTS_SHOWN), total->runs,
                      strings_plural(total->runs, "run", "runs"), total->processes,
                      strings_plural(total->processes, "process", "processes"),
                      total->boots > 0 ? arena_format(arena, ", %u %s", total->boots,
                                                      strings_plural(total->boots, "boot", "boots"))
                                       : "",
                      total->gpus, strings_plural(total->gpus, "GPU", "GPUs"),
                      strings_plural(total->runs, "run", "runs"), total->which);
}

void diff_put_caveats(const struct diff_view *view) {
  struct document *document = view->document;
  struct arena *arena = &document->arena;
  const bool one_side = view->comparison->totals[SIDE_B].runs == 0;
  document_gap(document);
  diff_put_conditions(view);
  diff_put_notes(view);
  document_put_text(document, TONE_NONE, diff_shift_words(arena, view->comparison));
  document_put_text(document, TONE_NONE, diff_rank_words(arena, view->comparison));
  diff_put_a_a(document, view->show->a_a);
  if (!one_side) {
    diff_put_facts(view);
  }
  if (one_side || view->layout.fact_count > 1) {
    document_gap(document);
  }
  diff_put_side(view, SIDE_A);
  if (!one_side) {
    diff_put_side(view, SIDE_B);
  }
}
