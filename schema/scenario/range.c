#include "schema/scenario/value.h"

#include "engine/base/strbuf.h"
#include "schema/scenario/nearest.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* { from, to, factor } and { from, to, step }: the values of a sweep. */

/* Of all ranges of a scenario, some of which may be in lockstep. */
enum { RANGE_VALUES_MAX = 4 * SCENARIO_SETTINGS_MAX };

static const char *const range_expected = "{ from = FIRST, to = LAST, factor = F } or "
                                          "{ from = FIRST, to = LAST, step = S }";

struct range {
  const struct field *field;
  union value from;
  union value to;
  union value step;
  double factor; /* 0 = by step */
};

static bool range_refuse(struct reader *reader, struct toml_span span, const struct field *field,
                         const char *what) {
  diagnostics_add(reader->diagnostics, reader->source, span, range_expected, NULL, "%s: %s",
                  field->name, what);
  return false;
}

static bool range_check_keys(struct reader *reader, const struct field *field,
                             const struct toml_node *node) {
  static const char *const keys[] = {"from", "to", "factor", "step", NULL};
  bool good = true;
  for (size_t i = 0; i < node->child_count; i++) {
    const struct toml_node *child = &node->children[i];
    bool known = false;
    for (size_t k = 0; keys[k] != NULL; k++) {
      known = known || strcmp(keys[k], child->key) == 0;
    }
    if (!known) {
      diagnostics_add(reader->diagnostics, reader->source, child->key_span, range_expected,
                      nearest_word(child->key, keys), "%s: unknown key \"%s\" in a range",
                      field->name, child->key);
      good = false;
    }
  }
  return good;
}

static bool range_read_factor(struct reader *reader, const struct field *field,
                              const struct toml_node *node, double *factor) {
  *factor = node->kind == TOML_INTEGER ? (double)node->integer
                                       : (node->kind == TOML_NUMBER ? node->number : 0);
  if (!(*factor > 1) || !isfinite(*factor)) {
    return range_refuse(reader, node->span, field, "factor must be a number above 1");
  }
  return true;
}

/* A step is a quantity of the same kind, above 0 and otherwise without limits. */
static bool range_read_step(struct reader *reader, const struct field *field,
                            const struct toml_node *node, union value *step) {
  struct field any = *field;
  any.minimum = field->type == FIELD_NUMBER ? 1e-12 : 1;
  any.zero_word = NULL;
  any.type = field->type == FIELD_GRID ? FIELD_COUNT : field->type;
  any.power_of_two = false;
  return value_read(reader, &any, node, step);
}

static bool range_read_parts(struct reader *reader, const struct toml_node *node,
                             struct range *range) {
  const struct toml_node *from = toml_get(node, "from");
  const struct toml_node *to = toml_get(node, "to");
  const struct toml_node *factor = toml_get(node, "factor");
  const struct toml_node *step = toml_get(node, "step");
  const struct field *field = range->field;
  struct field end = *field; /* the ends of a range are numbers, never zero_word */
  end.zero_word = NULL;
  end.type = field->type == FIELD_GRID ? FIELD_COUNT : field->type;
  if (!range_check_keys(reader, field, node)) {
    return false;
  }
  if (from == NULL || to == NULL || (factor == NULL) == (step == NULL)) {
    return range_refuse(reader, node->span, field,
                        from == NULL || to == NULL ? "a range needs from and to"
                                                   : "a range needs either factor or step");
  }
  bool good = value_read(reader, &end, from, &range->from);
  good = value_read(reader, &end, to, &range->to) && good;
  const bool is_number = field->type == FIELD_NUMBER;
  if (good && (is_number ? range->from.number > range->to.number
                         : range->from.integer > range->to.integer)) {
    good = range_refuse(reader, node->span, field, "from is greater than to");
  }
  if (factor != NULL) {
    good = range_read_factor(reader, field, factor, &range->factor) && good;
  } else {
    good = range_read_step(reader, field, step, &range->step) && good;
  }
  return good;
}

/* The value after the i-th, or false past the end. */
static bool range_next_number(const struct range *range, size_t i, double *number) {
  const double from = range->from.number;
  const double step = range->step.number * (double)i;
  *number = range->factor > 0 ? from * pow(range->factor, (double)i) : from + step;
  /* tolerance, so that rounding does not lose the last value */
  return *number <= range->to.number * (1 + 1e-12);
}

/* Whole factors are exact; others are rounded, and values that round to the same are one. */
static bool range_next_integer(const struct range *range, size_t i, uint64_t last,
                               uint64_t *integer) {
  const uint64_t to = range->to.integer;
  if (range->factor <= 0) {
    *integer = last + range->step.integer;
    return range->step.integer <= to - last;
  }
  const uint64_t whole = (uint64_t)fmin(range->factor, 0x1p53);
  if (!((double)whole < range->factor)) {
    *integer = last * whole;
    return last <= to / whole;
  }
  const double exact = round((double)range->from.integer * pow(range->factor, (double)i));
  *integer = exact > 0x1p62 ? UINT64_MAX : (uint64_t)exact;
  return *integer <= to;
}

/* False when there are too many values. */
static bool range_expand(struct reader *reader, const struct range *range, struct values *values) {
  union value *items = NULL;
  size_t count = 0;
  union value value = range->from;
  const bool is_number = range->field->type == FIELD_NUMBER;
  for (size_t i = 1; i <= SCENARIO_SETTINGS_MAX; i++) {
    const bool repeats = !is_number && count > 0 && items[count - 1].integer == value.integer;
    if (!repeats) {
      *ARENA_ADD(reader->arena, items, count) = value;
      reader->range_value_count++;
    }
    if (reader->range_value_count > RANGE_VALUES_MAX) {
      return false;
    }
    if (is_number ? !range_next_number(range, i, &value.number)
                  : !range_next_integer(range, i, value.integer, &value.integer)) {
      *values = (struct values){items, count};
      return true;
    }
  }
  return false;
}

static bool range_is_powers_of_two(const struct values *values) {
  for (size_t i = 0; i < values->count; i++) {
    if ((values->items[i].integer & (values->items[i].integer - 1)) != 0) {
      return false;
    }
  }
  return true;
}

bool range_read(struct reader *reader, const struct field *field, const struct toml_node *node,
                struct values *values) {
  struct range range = {.field = field};
  if (!range_read_parts(reader, node, &range)) {
    return false;
  }
  const bool is_number = field->type == FIELD_NUMBER;
  const bool from_zero = is_number ? !(range.from.number > 0) : range.from.integer == 0;
  if (range.factor > 0 && from_zero) {
    return range_refuse(reader, node->span, field, "a range by factor cannot start at 0");
  }
  if (reader->range_value_count > RANGE_VALUES_MAX) {
    return false; /* said already */
  }
  struct values made;
  if (!range_expand(reader, &range, &made)) {
    return range_refuse(reader, node->span, field,
                        reader->range_value_count > RANGE_VALUES_MAX
                            ? "the ranges of the scenario have more than 4194304 values together"
                        : range.factor > 0
                            ? "more than 1048576 values"
                            : "more than 1048576 values: step adds, factor multiplies");
  }
  if (field->power_of_two && !range_is_powers_of_two(&made)) {
    return range_refuse(reader, node->span, field, "not all values are powers of two");
  }
  *values = made;
  return true;
}

/* Selectors, sets of GPUs or NUMA nodes: 0, [0, 1], "*", "0-3", for GPUs "GPU-8932f937" and for
 * nodes "local", "remote". */

/* A GPU's UUID as nvidia-smi prints it, or the beginning of one. */
static bool selector_is_uuid(const struct field *field, const struct toml_node *node) {
  enum { PREFIX = 4, DIGITS_MAX = 36 };
  if (field->type != FIELD_GPUS || node->kind != TOML_TEXT ||
      strncasecmp(node->text, "GPU-", PREFIX) != 0) {
    return false;
  }
  const size_t digits = strlen(node->text) - PREFIX;
  return digits > 0 && digits <= DIGITS_MAX &&
         strspn(node->text + PREFIX, "0123456789abcdefABCDEF-") == digits;
}

/* "0-3" */
static bool selector_parse_span(const char *text, int64_t *first, int64_t *last) {
  int end = 0;
  const bool parsed = strspn(text, "0123456789-") == strlen(text) && strlen(text) < 16 &&
                      sscanf(text, "%" SCNd64 "-%" SCNd64 "%n", first, last, &end) == 2 &&
                      text[end] == '\0';
  return parsed && *first >= 0 && *first <= *last && *last <= FIELD_INDEX_MAX;
}

static void selector_set_span(struct reader *reader, int64_t first, int64_t last,
                              struct selector *selector) {
  const size_t count = (size_t)(last - first + 1);
  int32_t *indices = arena_array(reader->arena, count, sizeof *indices);
  for (size_t i = 0; i < count; i++) {
    indices[i] = (int32_t)(first + (int64_t)i);
  }
  *selector = (struct selector){.kind = SELECTOR_LIST, .indices = indices, .count = count};
}

static void selector_add_uuid(struct reader *reader, const char *uuid, struct selector *selector) {
  const char **uuids = arena_grow(reader->arena, (const char **)selector->uuids,
                                  selector->uuid_count, sizeof *uuids);
  uuids[selector->uuid_count++] = arena_strdup(reader->arena, uuid);
  selector->kind = SELECTOR_LIST;
  selector->uuids = uuids;
}

static bool selector_read_word(struct reader *reader, const struct field *field,
                               const struct toml_node *node, struct selector *selector) {
  static const char *const node_words[] = {"*", "local", "remote", NULL};
  static const char *const gpu_words[] = {"*", NULL};
  const bool nodes = field->type == FIELD_NODES;
  int64_t first = 0;
  int64_t last = 0;
  if (strcmp(node->text, "*") == 0) {
    selector->kind = SELECTOR_ALL;
  } else if (nodes && strcmp(node->text, "local") == 0) {
    selector->kind = SELECTOR_LOCAL;
  } else if (nodes && strcmp(node->text, "remote") == 0) {
    selector->kind = SELECTOR_REMOTE;
  } else if (selector_parse_span(node->text, &first, &last)) {
    selector_set_span(reader, first, last, selector);
  } else if (selector_is_uuid(field, node)) {
    selector_add_uuid(reader, node->text, selector);
  } else {
    const char *suggestion =
        strlen(node->text) < 3 ? NULL : nearest_word(node->text, nodes ? node_words : gpu_words);
    value_complain(reader, field, node, suggestion,
                   arena_format(reader->arena, "invalid value \"%s\"", node->text));
    return false;
  }
  return true;
}

static bool selector_read_index(struct reader *reader, const struct field *field,
                                const struct toml_node *node, int32_t *index) {
  if (node->kind != TOML_INTEGER) {
    value_complain(
        reader, field, node, NULL,
        arena_format(reader->arena, "%s is not allowed here", toml_kind_text(node->kind)));
    return false;
  }
  if (node->integer < 0 || node->integer > FIELD_INDEX_MAX) {
    value_complain(reader, field, node, NULL,
                   arena_format(reader->arena, "%" PRId64 " is out of range", node->integer));
    return false;
  }
  *index = (int32_t)node->integer;
  return true;
}

static int selector_by_number(const void *left, const void *right) {
  const int32_t a = *(const int32_t *)left;
  const int32_t b = *(const int32_t *)right;
  return a < b ? -1 : a > b ? 1 : 0;
}

/* What an array of text was to say, as the line to write; NULL = that is not known. */
static const char *selector_correct_list(struct reader *reader, const struct field *field,
                                         const struct toml_node *node) {
  const char *dot = strrchr(field->name, '.');
  const char *key = dot == NULL ? field->name : dot + 1;
  bool words = field->type == FIELD_NODES;
  bool numbers = true;
  bool uuids = true;
  SCOPED(strbuf_fini) struct strbuf list = STRBUF(FIELD_EXPECTED_MAX);
  for (size_t i = 0; i < node->child_count; i++) {
    const char *text = node->children[i].kind == TOML_TEXT ? node->children[i].text : "";
    words = words && (strcmp(text, "local") == 0 || strcmp(text, "remote") == 0);
    uuids = uuids &&
            (selector_is_uuid(field, &node->children[i]) || node->children[i].kind == TOML_INTEGER);
    numbers = numbers && text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
    strbuf_printf(&list, "%s%.16s", i == 0 ? "" : ", ", text);
  }
  const char *line = NULL;
  if (uuids) {
    line = NULL;
  } else if (node->child_count == 1 && node->children[0].kind == TOML_TEXT && !numbers) {
    line = arena_format(reader->arena, "%s = \"%.16s\", without brackets", key, list.text);
  } else if (words) { /* the nearest node and all others */
    line = arena_format(reader->arena,
                        "%s = \"*\" for the local and the remote nodes; or two blocks, one with "
                        "\"local\" and one with \"remote\"",
                        key);
  } else if (numbers) {
    line = arena_format(reader->arena, "%s = [%s], without quotes", key, list.text);
  }
  return line;
}

static bool selector_read_list(struct reader *reader, const struct field *field,
                               const struct toml_node *node, struct selector *selector) {
  if (node->child_count == 0) {
    value_complain(reader, field, node, NULL, "the array is empty");
    return false;
  }
  const char *line = selector_correct_list(reader, field, node);
  if (line != NULL) {
    diagnostics_add(reader->diagnostics, reader->source, node->span, line, NULL,
                    "%s: an array holds numbers, not text", field->name);
    return false;
  }
  int32_t *indices = arena_array(reader->arena, node->child_count, sizeof *indices);
  bool good = true;
  size_t given = 0;
  for (size_t i = 0; i < node->child_count; i++) {
    if (selector_is_uuid(field, &node->children[i])) {
      selector_add_uuid(reader, node->children[i].text, selector);
    } else {
      good = selector_read_index(reader, field, &node->children[i], &indices[given++]) && good;
    }
  }
  qsort(indices, given, sizeof *indices, selector_by_number);
  size_t count = given > 0 ? 1 : 0;
  for (size_t i = 1; i < given; i++) {
    if (indices[i] != indices[count - 1]) {
      indices[count++] = indices[i];
    }
  }
  selector->kind = SELECTOR_LIST;
  selector->indices = indices;
  selector->count = count;
  return good;
}

bool selector_read(struct reader *reader, const struct field *field, const struct toml_node *node,
                   struct selector *selector) {
  *selector = (struct selector){.kind = SELECTOR_NONE};
  if (node->kind == TOML_TEXT) {
    return selector_read_word(reader, field, node, selector);
  }
  if (node->kind == TOML_ARRAY) {
    return selector_read_list(reader, field, node, selector);
  }
  int32_t index = 0;
  if (!selector_read_index(reader, field, node, &index)) {
    return false;
  }
  selector_set_span(reader, index, index, selector);
  return true;
}
