#include "runner/render/diff_words.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

/* Of 0.0302 "+3.02": per cent, two digits after the point below 10 %. */
static void percent_words(double change, char text[DIFF_WORDS_MAX]) {
  const double percent = fabs(change) < 0.00005 ? 0 : 100 * change; /* never "-0.00" */
  (void)snprintf(text, DIFF_WORDS_MAX, fabs(percent) < 9.995 ? "%+.2f" : "%+.1f", percent);
}

void diff_change_words(const struct comparison_row *row, char text[DIFF_WORDS_MAX]) {
  char change[DIFF_WORDS_MAX];
  text[0] = '\0';
  if (!isfinite(row->change)) {
    return;
  }
  percent_words(row->change, change);
  const double half = 100 * fmax(row->change_high - row->change, row->change - row->change_low);
  if (isfinite(half)) {
    (void)snprintf(text, DIFF_WORDS_MAX, half < 9.995 ? "%.20s ± %.2f" : "%.20s ± %.0f", change,
                   half);
  } else {
    (void)snprintf(text, DIFF_WORDS_MAX, "%s", change);
  }
}

void diff_q_words(double q, char text[DIFF_WORDS_MAX]) {
  text[0] = '\0';
  if (!isnan(q)) {
    (void)snprintf(text, DIFF_WORDS_MAX, q < 0.0001 ? "<1e-4" : "%.2g", q);
  }
}

void diff_figure_words(const struct comparison_row *row, enum side side,
                       char text[DIFF_WORDS_MAX]) {
  const double value = row->sides[side].value;
  text[0] = '\0';
  if (isnan(value)) {
    return;
  }
  const char *unit = row->figure == FIGURE_RATE ? "" : " ns";
  const int digits = value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
  (void)snprintf(text, DIFF_WORDS_MAX, "%.*f%s", digits, value, unit);
}

void diff_verdict_words(enum verdict verdict, char text[DIFF_WORDS_MAX]) {
  const char *word = verdict_text(verdict);
  size_t i = 0;
  for (; word[i] != '\0' && i + 1 < DIFF_WORDS_MAX; i++) {
    text[i] = (char)toupper((unsigned char)word[i]);
  }
  text[i] = '\0';
}

void diff_counts_words(const struct comparison_row *row, bool all, char text[DIFF_WORDS_MAX]) {
  const struct comparison_side *a = &row->sides[SIDE_A];
  const struct comparison_side *b = &row->sides[SIDE_B];
  if (all) {
    (void)snprintf(text, DIFF_WORDS_MAX, "%u/%u %u/%u %u/%u", a->processes, b->processes, a->boots,
                   b->boots, a->gpus, b->gpus);
  } else {
    (void)snprintf(text, DIFF_WORDS_MAX, "%u/%u", a->processes, b->processes);
  }
}

const char *diff_plural(size_t count, const char *one, const char *many) {
  return count == 1 ? one : many;
}

void diff_counts(const struct comparison *comparison, char *text, size_t size) {
  static const enum verdict ORDER[] = {VERDICT_REGRESSED,    VERDICT_MISSING,      VERDICT_IMPROVED,
                                       VERDICT_NEW,          VERDICT_INCOMPARABLE, VERDICT_UNCLEAR,
                                       VERDICT_INSUFFICIENT, VERDICT_SAME};
  size_t length = 0;
  text[0] = '\0';
  for (size_t i = 0; i < sizeof ORDER / sizeof *ORDER; i++) {
    const size_t count = comparison->summary.verdicts[ORDER[i]];
    if (count > 0 && length < size) {
      length += (size_t)snprintf(text + length, size - length, "%s%zu %s", length > 0 ? ", " : "",
                                 count, verdict_text(ORDER[i]));
    }
  }
}

void diff_shift_words(struct strbuf *text, const struct comparison *comparison) {
  const struct shift *shift = &comparison->summary.shift;
  char change[DIFF_WORDS_MAX];
  char low[DIFF_WORDS_MAX];
  char high[DIFF_WORDS_MAX];
  if (shift->pairs == 0) {
    return;
  }
  percent_words(shift->change, change);
  strbuf_printf(text, "Common to all %zu %s: speed %s %%", shift->pairs,
                diff_plural(shift->pairs, "case", "cases"), change);
  if (isfinite(shift->change_low)) {
    percent_words(shift->change_low, low);
    percent_words(shift->change_high, high);
    strbuf_printf(text, " (95 %%: %s .. %s)", low, high);
    if (shift->change_low <= 0 && shift->change_high >= 0) {
      strbuf_append(text, ", no common shift");
    }
  }
}

void diff_delta_words(struct strbuf *text, const struct comparison *comparison) {
  size_t from[delta_source_name_count] = {0};
  size_t noisy = 0;
  const struct comparison_row *asked = NULL;
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    from[row->delta_from]++;
    noisy += row->result.margin > row->delta * (1 + 1e-9);
    asked = row->delta_from == DELTA_OPTION ? row : asked;
  }
  strbuf_append(text, "a change matters ");
  if (asked != NULL) {
    strbuf_printf(text, "beyond %.3g %%", 100 * asked->delta);
  } else if (from[DELTA_USUAL] > 0) {
    strbuf_append(text, "beyond 1 % for bandwidth from 1 MiB on, else beyond 3 %");
  }
  if (from[DELTA_SCENARIO] > 0) {
    strbuf_printf(text, "%sas %s says for %zu %s", from[DELTA_USUAL] > 0 ? ", " : "",
                  from[DELTA_SCENARIO] == 1 ? "its scenario" : "their scenario",
                  from[DELTA_SCENARIO], diff_plural(from[DELTA_SCENARIO], "case", "cases"));
  }
  if (noisy > 0) {
    strbuf_printf(text, "; for %zu %s beyond the noise within A, which is more", noisy,
                  diff_plural(noisy, "case", "cases"));
  }
}
