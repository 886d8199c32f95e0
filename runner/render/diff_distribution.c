/* diff_distribution.c - words for changes of distributions: MODE, TAIL, JITTER. */
#include "runner/render/diff_format.h"

#include "runner/table/text.h"

#include <string.h>

/* A worse distribution of a case whose undisturbed rate is SAME. */
static bool diff_distribution_is_noise(const struct comparison_row *row) {
  return row->distribution.is_worse && comparison_row_is_same_undisturbed(row);
}

const char *diff_distribution_words(struct arena *arena, const struct comparison_row *row) {
  static const char *const WORDS[distribution_name_count] = {
      [DISTRIBUTION_MODE] = "MODE%s: %s of A and %s of B in the slower of two modes",
      [DISTRIBUTION_TAIL] = "TAIL%s: p95 of the trials %s above their median in A, %s in B",
      [DISTRIBUTION_JITTER] = "JITTER%s: spread %s in A, %s in B"};
  static const int DIGITS[distribution_name_count] = {
      [DISTRIBUTION_MODE] = 2, [DISTRIBUTION_TAIL] = 3, [DISTRIBUTION_JITTER] = 2};
  const struct distribution_change *change = &row->distribution;
  if (change->kind == DISTRIBUTION_SAME) {
    return "";
  }
  const char *text =
      arena_format(arena, WORDS[change->kind], change->is_provisional ? "?" : "",
                   text_percent(arena, change->values[SIDE_A], DIGITS[change->kind]),
                   text_percent(arena, change->values[SIDE_B], DIGITS[change->kind]));
  return diff_distribution_is_noise(row) ? arena_add(arena, text, " (more noise)") : text;
}

const char *diff_worse_distributions(struct arena *arena, const struct comparison *comparison,
                                     bool provisional) {
#define DISTRIBUTION_NAME(kind, name, word, meaning) [kind] = (word),
  static const char *const NAMES[] = {DISTRIBUTION_CHANGE_LIST(DISTRIBUTION_NAME)};
  size_t counts[distribution_name_count] = {0};
  size_t worse = 0;
  size_t noise = 0;
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    if (row->distribution.is_worse && (provisional || !row->distribution.is_provisional)) {
      counts[row->distribution.kind]++;
      worse++;
      noise += diff_distribution_is_noise(row);
    }
  }
  const char *text = "";
  for (size_t kind = DISTRIBUTION_MODE; kind < distribution_name_count; kind++) {
    if (counts[kind] > 0) {
      text = arena_add_word(arena, text,
                            arena_format(arena, "%zu %.*s", counts[kind],
                                         (int)strcspn(NAMES[kind], " "), NAMES[kind]));
    }
  }
  const char *some = noise < worse ? arena_format(arena, "%zu of them ", noise) : "";
  return noise == 0 ? text : arena_add(arena, text, ", %smore noise", some);
}
