/* What the texts of one row say. */
#include "runner/render/result_block.h"

#include "engine/base/units.h"

#include <math.h>
#include <string.h>

bool result_row_shown(const struct run_row *row) {
  return strcmp(row->status, "skipped") != 0;
}

const char *result_method(const struct run_row *row) {
  return row->method != NULL ? row->method : "";
}

const char *result_size(struct arena *arena, const struct run_row *row) {
  char text[UNITS_TEXT_MAX] = "";
  if (row->size_bytes >= 1) {
    units_format_size((uint64_t)row->size_bytes, text);
  }
  return arena_strdup(arena, text);
}

static bool is_shown_elsewhere(const char *key, size_t length) {
  static const char *const keys[] = {"size", "footprint", "direction", "space", "from.",
                                     "to.",  "of.",       "operation", "op"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const size_t known = strlen(keys[i]);
    const bool is_group = keys[i][known - 1] == '.';
    if (length >= known && (is_group || length == known) && strncmp(key, keys[i], known) == 0) {
      return true;
    }
  }
  return false;
}

const char *result_axes(struct arena *arena, const struct run_row *row) {
  const char *kept = "";
  for (const char *at = row->axes != NULL ? row->axes : ""; *at != '\0';) {
    const size_t length = strcspn(at, " ");
    if (!is_shown_elsewhere(at, strcspn(at, "="))) {
      kept = arena_format(arena, "%s%s%.*s", kept, kept[0] != '\0' ? " " : "", (int)length, at);
    }
    at += length;
    at += strspn(at, " ");
  }
  return kept;
}

const char *result_place(struct arena *arena, const char *place, const char *memory) {
  if (place == NULL) {
    return "";
  }
  if (memory == NULL || strcmp(memory, "device") == 0) {
    return place;
  }
  return arena_format(arena, "%s:%s", place, memory);
}

double result_spread(const struct run_row *row) {
  return 100 * (row->high_ns - row->low_ns) / 2 / row->median_ns;
}

const char *result_percent(struct arena *arena, double percent) {
  return percent < 10 ? arena_format(arena, "%.2g", percent) : arena_format(arena, "%.0f", percent);
}
