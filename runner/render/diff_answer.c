/* diff_answer.c - the first line of a comparison: how many cases have which verdict, and the part
 * of the machine that changed most. */
#include "runner/render/diff_format.h"

#include "engine/base/strings.h"
#include "runner/analysis/conclusion.h"
#include "runner/analysis/outliers.h"

#include <math.h>
#include <string.h>

/* Undecided cases, by how they differ. */
struct undecided {
  size_t slower, faster;
  size_t noisy;                        /* the interval of the change has both */
  size_t others;                       /* within the threshold */
  const struct comparison_row *widest; /* of slower and faster ones; NULL = there are none */
};

static bool diff_is_noisy(const struct diff_result *result) {
  return result->change_low <= 0 && result->change_high >= 0; /* not of NAN */
}

/* By more than the threshold and, where its interval is known, in one direction, though that is not
 * certain. */
static bool diff_seems_changed(const struct comparison_row *row) {
  return verdict_is_undecided(row->result.verdict) && fabs(row->result.change) > row->delta &&
         !diff_is_noisy(&row->result);
}

/* Whether one says more than the other: copies within the host are the noisiest. */
static bool diff_is_wider(const struct comparison *comparison, const struct comparison_row *row,
                          const struct comparison_row *than) {
  const struct results_case *cases = comparison->results->cases;
  const bool gpu = cases[row->bench].gpus != 0;
  const bool other = cases[than->bench].gpus != 0;
  return gpu != other ? gpu : fabs(row->result.change) > fabs(than->result.change);
}

static struct undecided diff_find_undecided(const struct comparison *comparison) {
  struct undecided found = {0};
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    const double change = row->result.change;
    if (!verdict_is_undecided(row->result.verdict)) {
      continue;
    }
    if (!diff_seems_changed(row)) {
      const bool noisy = fabs(change) > row->delta; /* not of NAN */
      found.noisy += noisy;
      found.others += !noisy;
      continue;
    }
    found.slower += change < 0;
    found.faster += change > 0;
    if (found.widest == NULL || diff_is_wider(comparison, row, found.widest)) {
      found.widest = row;
    }
  }
  return found;
}

/* "18 undecided (2 look slower, 1 too noisy, 15 within the threshold)"; "" = there are none. */
static const char *diff_undecided_words(struct arena *arena, const struct undecided *found) {
  const size_t count = found->slower + found->faster + found->noisy + found->others;
  const char *text = "";
  if (found->slower > 0) {
    text = arena_add_word(arena, text,
                          arena_format(arena, "%zu %s slower", found->slower,
                                       strings_plural(found->slower, "looks", "look")));
  }
  if (found->faster > 0) {
    text = arena_add_word(arena, text,
                          arena_format(arena, "%zu %s faster", found->faster,
                                       strings_plural(found->faster, "looks", "look")));
  }
  if (found->noisy > 0) {
    text = arena_add_word(
        arena, text,
        found->noisy == count ? "too noisy" : arena_format(arena, "%zu too noisy", found->noisy));
  }
  if (found->others > 0 && found->others < count) {
    text =
        arena_add_word(arena, text, arena_format(arena, "%zu within the threshold", found->others));
  }
  return count == 0
             ? ""
             : arena_format(arena, "%zu undecided%s", count, arena_around(arena, " (", text, ")"));
}

/* Whether cases of other paths changed, too, or look as if they did where the named one does. */
static bool diff_others_moved(const struct comparison *comparison,
                              const struct comparison_row *named) {
  const bool is_certain = verdict_is_change(named->result.verdict);
  const char *path = comparison->results->cases[named->bench].path;
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    const char *other = comparison->results->cases[row->bench].path;
    const bool moved =
        is_certain ? verdict_is_change(row->result.verdict) : diff_seems_changed(row);
    if (row != named && moved && (path == NULL || !strings_equal(other, path))) {
      return true;
    }
  }
  return false;
}

const char *diff_cause_words(struct arena *arena, const struct comparison *comparison) {
  const struct conclusion *first =
      comparison->conclusion_count > 0 ? &comparison->conclusions[0] : NULL;
  const struct comparison_row *row = comparison->row_count > 0 ? &comparison->rows[0] : NULL;
  const struct comparison_row *widest = diff_find_undecided(comparison).widest;
  const char *what = NULL;
  const char *unit = "";
  const char *noise = "";
  double change = NAN;
  bool among_others = false; /* something else changed, too */
  if (first != NULL && first->what != NULL && first->verdict == VERDICT_BROKEN) {
    return first->what;
  }
  if (first != NULL && first->what != NULL && isfinite(first->change)) {
    what = first->what;
    change = first->change;
    noise = conclusion_is_noise(first) ? diff_noise_words(first->verdict) : "";
    among_others = comparison->conclusion_count > 1;
  } else if (comparison->alone_count > 0) {
    what = diff_part_name(arena, &comparison->alone->parts[0]);
    change = comparison->alone->parts[0].change;
    among_others = comparison->alone_count > 1;
  } else if (row != NULL && (verdict_is_change(row->result.verdict) ||
                             (widest != NULL && row->result.verdict != VERDICT_BROKEN))) {
    row = verdict_is_change(row->result.verdict) ? row : widest;
    const struct results_case *bench = &comparison->results->cases[row->bench];
    what = arena_add(arena, bench->path != NULL ? bench->path : bench->name, "%s",
                     arena_around(arena, " of ", row->node, ""));
    unit = figure_is_rate(row->figure) ? "" : " time"; /* as in its row */
    change = row->change;
    noise = comparison_row_is_noise(row) ? diff_noise_words(row->result.verdict) : "";
    among_others = diff_others_moved(comparison, row);
  }
  return what == NULL
             ? ""
             : arena_format(arena, "%s, %s %%%s%s%s", what, diff_percent_words(arena, change), unit,
                            arena_around(arena, ", ", noise, ""),
                            among_others ? ", and others" : "");
}

const char *diff_found_words(struct arena *arena, const struct comparison *comparison) {
  const struct diff_summary *summary = &comparison->summary;
  const struct undecided undecided = diff_find_undecided(comparison);
  size_t verdicts[verdict_name_count];
  bool all_provisional = true;
  size_t kinds = 0;
  for (size_t v = 0; v < verdict_name_count; v++) {
    verdicts[v] = verdict_is_undecided((enum verdict)v) ? 0 : summary->verdicts[v];
    all_provisional = all_provisional && verdicts[v] == summary->provisional[v];
    kinds += verdicts[v] > 0;
  }
  const char *text =
      diff_verdict_counts(arena, verdicts, all_provisional ? NULL : summary->provisional);
  if (all_provisional && text[0] != '\0') {
    text = arena_add(arena, text, kinds > 1 ? " (all provisional)" : " (provisional)");
  }
  const char *open = diff_undecided_words(arena, &undecided);
  text = open[0] != '\0' ? arena_add_word(arena, text, open) : text;
  return text[0] != '\0' ? text : "nothing to compare";
}

/* Of which parts are slower unlike those of the others. */
static size_t diff_count_nodes(const struct comparison *comparison) {
  const struct outlier_part *parts = comparison->alone->parts;
  return SUM_OF(i, comparison->alone_count,
                FIRST_OF(k, i, strcmp(parts[k].host, parts[i].host) == 0) == i);
}

const char *diff_sides_words(struct arena *arena, const struct comparison *comparison,
                             const char *const names[SIDES]) {
  const struct comparison_total *totals = comparison->totals;
  const bool drivers = strcmp(totals[SIDE_A].drivers, totals[SIDE_B].drivers) != 0;
  return arena_format(arena, "%s -> %s", drivers ? totals[SIDE_A].drivers : names[SIDE_A],
                      drivers ? totals[SIDE_B].drivers : names[SIDE_B]);
}

const char *diff_answer_words(struct arena *arena, const struct comparison *comparison,
                              const char *const names[SIDES]) {
  const char *text = "";
  if (comparison->judged_count > comparison->row_count) {
    text = arena_format(arena, "Showing %zu of %zu compared cases: ", comparison->row_count,
                        comparison->judged_count);
  }
  text = arena_add(arena, text, "%s%s", diff_found_words(arena, comparison),
                   diff_any_on_both(comparison) ? "" : ": no case was measured on both sides");
  if (comparison->alone_count > 0) {
    const size_t nodes = diff_count_nodes(comparison);
    text =
        arena_add(arena, text, "; %zu %s of %zu %s slower, unlike the other nodes",
                  comparison->alone_count, strings_plural(comparison->alone_count, "part", "parts"),
                  nodes, strings_plural(nodes, "node", "nodes"));
  }
  const size_t distributions =
      SUM_OF(i, comparison->row_count, comparison->rows[i].distribution.kind != DISTRIBUTION_SAME);
  if (distributions > 0) {
    text = arena_add(
        arena, text, "; distribution changed in %zu%s", distributions,
        arena_around(arena, " (worse: ", diff_worse_distributions(arena, comparison, true), ")"));
  }
  const size_t noise =
      SUM_OF(i, comparison->row_count, comparison_row_is_noise(&comparison->rows[i]));
  if (noise > 0) {
    text = arena_add(arena, text, "; %zu changed by noise alone", noise);
  }
  for (size_t i = 0; i < comparison->group_count; i++) {
    const struct comparison_group *group = &comparison->groups[i];
    if (group->is_news) {
      text = arena_add(arena, text, "; %s %s%s (%s %%)", group->what,
                       verdict_text(group->result.verdict), group->result.is_provisional ? "?" : "",
                       diff_percent_words(arena, group->result.change));
      break;
    }
  }
  return arena_add(arena, text, ": %s%s", diff_sides_words(arena, comparison, names),
                   arena_around(arena, " (", diff_cause_words(arena, comparison), ")"));
}
