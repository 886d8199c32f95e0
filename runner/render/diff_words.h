/* diff_words.h - the words and numbers of a comparison, as every page of it says them. No errors.
 *
 * Texts are "" where there is nothing to say, and free of control characters. */
#ifndef HAUL_RUNNER_RENDER_DIFF_WORDS_H
#define HAUL_RUNNER_RENDER_DIFF_WORDS_H

#include "engine/base/strbuf.h"
#include "runner/analysis/compare.h"

enum { DIFF_WORDS_MAX = 64 };

/* "-2.87 ± 0.12": per cent, and the half width of the 95 % interval, the wider half where they
 * differ. */
void diff_change_words(const struct comparison_row *row, char text[DIFF_WORDS_MAX]);
/* Four digits; ns say so, GB/s do not need to. */
void diff_figure_words(const struct comparison_row *row, enum side side, char text[DIFF_WORDS_MAX]);
void diff_q_words(double q, char text[DIFF_WORDS_MAX]);
/* "REGRESSED" */
void diff_verdict_words(enum verdict verdict, char text[DIFF_WORDS_MAX]);
/* Processes of A and B, "5/5"; all: boots and GPUs behind them, "5/5 1/1 8/8". */
void diff_counts_words(const struct comparison_row *row, bool all, char text[DIFF_WORDS_MAX]);
const char *diff_plural(size_t count, const char *one, const char *many);

/* Appended: what all cases have in common; nothing where no shift is known. */
void diff_shift_words(struct strbuf *text, const struct comparison *comparison);
/* Appended: what a change must be to matter. */
void diff_delta_words(struct strbuf *text, const struct comparison *comparison);
/* How many cases have which verdict: "2 regressed, 14 same". */
void diff_counts(const struct comparison *comparison, char *text, size_t size);

#endif
