#include "runner/render/diff_format.h"

#include "engine/base/arena.h"
#include "engine/base/strings.h"
#include "runner/analysis/outliers.h"
#include "runner/render/outliers.h"
#include "runner/table/text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

const char *diff_percent_words(struct arena *arena, double change) {
  const double percent = fabs(change) < 0.00005 ? 0 : 100 * change; /* never "-0.00" */
  return arena_format(arena,
                      fabs(percent) < 9.995 ? "%+.2f"
                      : fabs(percent) < 1e6 ? "%+.1f"
                                            : "%+.1e",
                      percent);
}

static const char *diff_interval_words(struct arena *arena, double change, double low,
                                       double high) {
  if (!isfinite(change)) {
    return "";
  }
  const char *text = diff_percent_words(arena, change);
  const double half = 100 * fmax(high - change, change - low);
  return !isfinite(half) ? text
                         : arena_add(arena, text,
                                     half < 9.995 ? " ± %.2f"
                                     : half < 100 ? " ± %.0f"
                                                  : " ± >100",
                                     half);
}

const char *diff_change_words(struct arena *arena, const struct comparison_row *row) {
  return diff_interval_words(arena, row->change, row->change_low, row->change_high);
}

bool diff_has_q(enum verdict verdict, double q) {
  return !isnan(q) && verdict != VERDICT_SAME; /* that of a change that nobody reports */
}

const char *diff_q_words(struct arena *arena, enum verdict verdict, double q) {
  return !diff_has_q(verdict, q) ? "" : q < 0.0001 ? "<1e-4" : arena_format(arena, "%.2g", q);
}

const char *diff_figure_unit(const struct comparison_row *row) {
  return figure_is_rate(row->figure) ? figure_text(row->figure) : figure_text(FIGURE_TIME);
}

const char *diff_common_unit(const char *known, const struct comparison_row *row) {
  const char *unit = diff_figure_unit(row);
  return known == NULL || strcmp(known, unit) == 0 ? unit : "";
}

const char *diff_figure_words(struct arena *arena, const struct comparison_row *row, enum side side,
                              bool with_unit) {
  const double value = row->sides[side].value;
  const char *unit = with_unit ? arena_format(arena, " %s", diff_figure_unit(row)) : "";
  const int digits = value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
  return isnan(value)  ? ""
         : value < 1e9 ? arena_format(arena, "%.*f%s", digits, value, unit)
                       : arena_format(arena, "%.3e%s", value, unit);
}

const char *diff_verdict_words(struct arena *arena, const struct diff_result *result) {
  char *text =
      arena_format(arena, "%s%s", verdict_text(result->verdict), result->is_provisional ? "?" : "");
  for (char *at = text; *at != '\0'; at++) {
    *at = (char)toupper((unsigned char)*at);
  }
  return text;
}

#define REASON_OF(doubt, name, reason) [doubt] = reason,
static const char *const DOUBT_REASONS[] = {DIFF_DOUBT_LIST(REASON_OF)};

/* Which half of the reason of DIFF_DOUBT_FEW holds. */
static const char *diff_few_words(struct arena *arena, const struct comparison *comparison) {
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_side *sides = comparison->rows[i].sides;
    if (comparison->rows[i].result.doubt != DIFF_DOUBT_FEW) {
      continue;
    }
    if (sides[SIDE_A].runs == 1 && sides[SIDE_B].runs == 1) {
      return DOUBT_REASONS[DIFF_DOUBT_ONE_RUN];
    }
    for (size_t s = 0; s < SIDES; s++) {
      if (sides[s].processes < DIFF_PROCESSES_FIRM) {
        return arena_format(
            arena, "%c has only %u %s, and a side needs %d", side_letter(s), sides[s].processes,
            strings_plural(sides[s].processes, "process", "processes"), DIFF_PROCESSES_FIRM);
      }
    }
    return arena_format(arena, "A has %u runs and B has %u, and one of them needs %d",
                        sides[SIDE_A].runs, sides[SIDE_B].runs, DIFF_PROCESSES_FIRM);
  }
  return DOUBT_REASONS[DIFF_DOUBT_FEW]; /* of a group alone */
}

const char *diff_provisional_words(struct arena *arena, const struct comparison *comparison) {
  const size_t d = FIRST_OF(i, (size_t)diff_doubt_name_count,
                            i > DIFF_DOUBT_NONE && comparison->summary.doubts[i] > 0);
  return d == DIFF_DOUBT_FEW         ? diff_few_words(arena, comparison)
         : d < diff_doubt_name_count ? DOUBT_REASONS[d]
                                     : "";
}

enum diff_counts diff_counts_of(const struct comparison_row *row) {
  const struct comparison_side *a = &row->sides[SIDE_A];
  const struct comparison_side *b = &row->sides[SIDE_B];
  if (row->result.unit == DIFF_UNIT_PROCESS || row->result.unit == DIFF_UNIT_NODE) {
    return row->result.unit == DIFF_UNIT_NODE ? DIFF_COUNTS_NODES : DIFF_COUNTS_PROCESSES;
  }
  if (a->runs == 0 || b->runs == 0 || a->processes * b->runs != b->processes * a->runs ||
      a->processes % a->runs != 0) {
    return DIFF_COUNTS_PARTS;
  }
  return a->processes > a->runs ? DIFF_COUNTS_RUNS_OF : DIFF_COUNTS_RUNS;
}

const char *diff_counts_words(struct arena *arena, const struct comparison_row *row, bool all) {
  const struct comparison_side *a = &row->sides[SIDE_A];
  const struct comparison_side *b = &row->sides[SIDE_B];
  if (all) {
    return arena_format(arena, "%u/%u, %u/%u boots, %u/%u GPUs", a->processes, b->processes,
                        a->boots, b->boots, a->gpus, b->gpus);
  }
  switch (diff_counts_of(row)) {
  case DIFF_COUNTS_PROCESSES:
    break;
  case DIFF_COUNTS_NODES:
    return arena_format(arena, "%zu nodes", row->result.units[SIDE_A]);
  case DIFF_COUNTS_RUNS:
    return arena_format(arena, "%u/%u runs", a->runs, b->runs);
  case DIFF_COUNTS_RUNS_OF:
    return arena_format(arena, "%u/%u runs of %u", a->runs, b->runs, a->processes / a->runs);
  case DIFF_COUNTS_PARTS:
    return arena_format(arena, "%u/%u in %u/%u runs", a->processes, b->processes, a->runs, b->runs);
  }
  return arena_format(arena, "%u/%u", a->processes, b->processes);
}

/* "B: 3 of 5 processes corrupt, 1 crashed" */
static const char *diff_not_ok_words(struct arena *arena, const struct comparison_side *side,
                                     char letter) {
  const unsigned ran = side->processes + side->not_ok;
  const char *text = "";
  for (unsigned s = 0; s < case_status_name_count; s++) {
    if (side->by_status[s] > 0) {
      const char *status = case_status_text((enum case_status)s);
      text = text[0] != '\0'
                 ? arena_add(arena, text, ", %u %s", side->by_status[s], status)
                 : arena_format(arena, "%c: %u of %u %s %s", letter, side->by_status[s], ran,
                                strings_plural(ran, "process", "processes"), status);
    }
  }
  return text;
}

/* "A did not run it", "in A it was skipped: needs two GPUs" */
static const char *diff_not_run_words(struct arena *arena, const struct comparison_side *side,
                                      char letter) {
  return side->run != SIZE_MAX ? arena_format(arena, "in %c it was %s", letter, side->reason)
                               : arena_format(arena, "%c did not run it", letter);
}

bool diff_reason_stands_below(const struct comparison_row *row) {
  return row->reason != NULL && row->result.verdict == VERDICT_BROKEN;
}

/* "A: two modes: 6 at 55.2, 4 at 53.9 GB/s", "process 3 of run 7 is 4.0 % slower than the other 9
 * processes of B" */
static const char *diff_shape_words(struct arena *arena, const struct comparison_row *row,
                                    enum side side) {
  const struct side_shape *shape = &row->sides[side].shape;
  const char letter = side_letter(side);
  if (shape->kind == SHAPE_TWO_MODES) {
    return arena_format(arena, "%c: two modes: %zu at %.4g, %zu at %.4g %s", letter,
                        shape->counts[0], shape->values[0], shape->counts[1], shape->values[1],
                        figure_text(row->figure));
  }
  const double change = shape->values[0] / shape->values[1] - 1;
  const bool runs = row->sides[side].processes == row->sides[side].runs;
  return arena_format(arena, "%srun %lld is %s %s than the other %zu %s of %c",
                      runs ? "" : arena_format(arena, "process %d of ", shape->ordinal),
                      (long long)shape->run_id, text_percent(arena, fabs(change), 2),
                      (change < 0) == (figure_is_rate(row->figure)) ? "slower" : "faster",
                      shape->counts[1], runs ? "runs" : "processes", letter);
}

const char *diff_noise_words(enum verdict verdict) {
  return verdict == VERDICT_REGRESSED ? "more noise" : "less noise";
}

/* "undisturbed rate; with noise -7.06 ± 1.80 %", "more noise; undisturbed rate +0.00 ± 0.01 %,
 * SAME": the rate that the row does not show, and its verdict if it is another one. "" without two
 * rates. */
static const char *diff_rate_words(struct arena *arena, const struct comparison_row *row) {
  if (row->rates == NULL) {
    return "";
  }
  const bool is_undisturbed = row->rate == RATE_UNDISTURBED;
  const struct rate_change *other =
      &row->rates->of[is_undisturbed ? RATE_TYPICAL : RATE_UNDISTURBED];
  const char *change =
      diff_interval_words(arena, other->change, other->change_low, other->change_high);
  const char *verdict = diff_verdict_words(arena, &other->result);
  const bool is_again = strcmp(verdict, diff_verdict_words(arena, &row->result)) == 0;
  const char *noise = comparison_row_is_noise(row) ? diff_noise_words(row->result.verdict) : "";
  return arena_format(arena, "%sundisturbed rate%s%s%s", arena_around(arena, "", noise, "; "),
                      is_undisturbed ? "; with noise" : "", arena_around(arena, " ", change, " %"),
                      is_again ? "" : arena_format(arena, ", %s", verdict));
}

static const char *diff_add_note(struct arena *arena, const char *notes, const char *note) {
  return notes[0] == '\0' ? note : arena_add(arena, notes, "; %s", note);
}

/* "without 3 of B's 15 runs, which are far from the others" */
static const char *diff_odd_words(struct arena *arena, const struct diff_result *result) {
  const char *units = result->unit == DIFF_UNIT_RUN ? "runs" : "processes";
  const char *text = "";
  for (size_t s = 0; s < SIDES; s++) {
    const size_t all = result->units[s] + result->odd.counts[s];
    if (result->odd.counts[s] > 0) {
      text = arena_format(arena, "%s%s%zu of %c's %zu %s", text,
                          text[0] == '\0' ? "without " : " and ", result->odd.counts[s],
                          side_letter(s), all, units);
    }
  }
  return arena_format(arena, "%s, far from the others%s", text,
                      result->is_uneven ? ": with them it would not be SAME" : "");
}

const char *diff_note_words(struct arena *arena, const struct comparison_row *row) {
  const struct diff_result *result = &row->result;
  const char *notes = diff_rate_words(arena, row);
  for (size_t s = 0; s < SIDES; s++) {
    const struct comparison_side *side = &row->sides[s];
    if (side->not_ok > 0) {
      notes = diff_add_note(arena, notes, diff_not_ok_words(arena, side, side_letter(s)));
    } else if (result->verdict == VERDICT_BROKEN && side->processes == 0) {
      notes = diff_add_note(arena, notes, diff_not_run_words(arena, side, side_letter(s)));
    }
  }
  if (row->reason != NULL && !diff_reason_stands_below(row)) {
    notes = diff_add_note(arena, notes, row->reason);
  }
  if (result->odd.counts[SIDE_A] + result->odd.counts[SIDE_B] > 0) {
    notes = diff_add_note(arena, notes, diff_odd_words(arena, result));
  }
  if (result->verdict == VERDICT_UNCLEAR && result->sd > row->delta) {
    /* Of one run each, earlier runs of the machine tell it, not those that the row shows. */
    const bool earlier = result->unit == DIFF_UNIT_RUN && row->sides[SIDE_A].runs == 1 &&
                         row->sides[SIDE_B].runs == 1;
    notes = diff_add_note(arena, notes,
                          arena_format(arena, "too noisy: spread %s%s",
                                       text_percent(arena, result->sd, 2),
                                       earlier ? " over earlier runs" : ""));
  }
  for (size_t s = 0; s < SIDES && row->rate == RATE_TYPICAL; s++) { /* shapes are of that */
    if (row->sides[s].shape.kind != SHAPE_PLAIN) {
      notes = diff_add_note(arena, notes, diff_shape_words(arena, row, (enum side)s));
    }
  }
  return notes;
}

const char *diff_verdict_counts(struct arena *arena, const size_t verdicts[verdict_name_count],
                                const size_t provisional[verdict_name_count]) {
  static const enum verdict ORDER[] = {VERDICT_BROKEN,   VERDICT_REGRESSED,    VERDICT_MISSING,
                                       VERDICT_IMPROVED, VERDICT_NEW,          VERDICT_INCOMPARABLE,
                                       VERDICT_UNCLEAR,  VERDICT_INSUFFICIENT, VERDICT_SAME};
  const char *text = "";
  for (size_t i = 0; i < COUNT_OF(ORDER); i++) {
    const size_t count = verdicts[ORDER[i]];
    const size_t doubtful = provisional != NULL ? provisional[ORDER[i]] : 0;
    if (count > 0) {
      text =
          arena_add_word(arena, text, arena_format(arena, "%zu %s", count, verdict_text(ORDER[i])));
      text = doubtful == 0      ? text
             : doubtful < count ? arena_add(arena, text, " (%zu provisional)", doubtful)
                                : arena_add(arena, text, " (provisional)");
    }
  }
  return text;
}

unsigned diff_verdict_tone(enum verdict verdict) {
  static const unsigned char TONES[verdict_name_count] = {
      [VERDICT_BROKEN] = TONE_BAD,        [VERDICT_REGRESSED] = TONE_BAD,
      [VERDICT_MISSING] = TONE_BAD,       [VERDICT_IMPROVED] = TONE_GOOD,
      [VERDICT_UNCLEAR] = TONE_WARN,      [VERDICT_INSUFFICIENT] = TONE_WARN,
      [VERDICT_INCOMPARABLE] = TONE_WARN, /* of others TONE_NONE */
  };
  return TONES[verdict];
}

const char *diff_group_sentence(struct arena *arena, const struct comparison_group *group) {
  const char *text =
      arena_format(arena, "%s: %s, %s %% speed on average over %zu cases (", group->what,
                   diff_verdict_words(arena, &group->result),
                   diff_percent_words(arena, group->result.change), group->case_count);
  if (isfinite(group->result.change_low)) {
    text = arena_add(arena, text, "%s95 %% CI %s to %s; ",
                     group->result.is_conservative ? "at least " : "",
                     diff_percent_words(arena, group->result.change_low),
                     diff_percent_words(arena, group->result.change_high));
  }
  text = arena_add(arena, text, "threshold %s)", text_percent(arena, group->delta, 3));
  return 2 * group->undisturbed_same <= group->undisturbed
             ? text
             : arena_add(
                   arena, text,
                   "; without noise, %zu of the %zu cases that have an undisturbed rate %s SAME",
                   group->undisturbed_same, group->undisturbed,
                   strings_plural(group->undisturbed_same, "is", "are"));
}

size_t diff_count_incomparable(const struct comparison *comparison, const char **reason) {
  size_t count = 0;
  bool other_gpu = false;
  *reason = NULL;
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    if (row->result.verdict == VERDICT_INCOMPARABLE) {
      *reason = *reason == NULL ? row->reason : *reason;
      other_gpu = other_gpu || row->other_gpu;
      count++;
    }
  }
  if (other_gpu) {
    *reason = "B has other GPUs in these places; --any-hardware compares them";
  } else if (count > 0 && *reason == NULL) {
    *reason = "the sides have not measured the same";
  }
  return count;
}

const char *diff_part_name(struct arena *arena, const struct outlier_part *part) {
  return strcmp(part->name, part->host) == 0
             ? part->host
             : arena_format(arena, "%s of %s", part->name, part->host);
}

const char *diff_fact_nodes(struct arena *arena, const struct fact_difference *fact) {
  return fact->nodes == NULL ? ""
                             : arena_format(arena, " of %s",
                                            outliers_shorten(arena, fact->nodes, FACT_NODES_SHOWN));
}

bool diff_any_on_both(const struct comparison *comparison) {
  return ANY_OF(i, comparison->row_count, isfinite(comparison->rows[i].result.change));
}
