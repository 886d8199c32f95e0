/* Which GPUs or nodes: 0, [0, 1], "*", "0-3", and for nodes "local" and "remote". A set. */
#include "schema/scenario/value.h"

#include "schema/scenario/nearest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "0-3" */
static bool parse_span(const char *text, int64_t *first, int64_t *last) {
  int end = 0;
  const bool parsed = strspn(text, "0123456789-") == strlen(text) && strlen(text) < 16 &&
                      sscanf(text, "%" SCNd64 "-%" SCNd64 "%n", first, last, &end) == 2 &&
                      text[end] == '\0';
  return parsed && *first >= 0 && *first <= *last && *last <= FIELD_INDEX_MAX;
}

static void select_span(struct reader *reader, int64_t first, int64_t last,
                        struct selector *selector) {
  const size_t count = (size_t)(last - first + 1);
  int32_t *indices = arena_array(reader->arena, count, sizeof *indices);
  for (size_t i = 0; i < count; i++) {
    indices[i] = (int32_t)(first + (int64_t)i);
  }
  *selector = (struct selector){SELECTOR_LIST, indices, count};
}

static bool read_word(struct reader *reader, const struct source *source, const struct field *field,
                      const struct toml_node *node, struct selector *selector) {
  static const char *const words[] = {"*", "local", "remote", NULL};
  const bool nodes = field->type == FIELD_NODES;
  int64_t first = 0;
  int64_t last = 0;
  if (strcmp(node->text, "*") == 0) {
    selector->kind = SELECTOR_ALL;
  } else if (nodes && strcmp(node->text, "local") == 0) {
    selector->kind = SELECTOR_LOCAL;
  } else if (nodes && strcmp(node->text, "remote") == 0) {
    selector->kind = SELECTOR_REMOTE;
  } else if (parse_span(node->text, &first, &last)) {
    select_span(reader, first, last, selector);
  } else {
    const char *suggestion = strlen(node->text) < 3 ? NULL : nearest_word(node->text, words);
    complain_value(reader, source, field, node, nodes ? suggestion : NULL,
                   arena_format(reader->arena, "\"%s\" cannot stand here", node->text));
    return false;
  }
  return true;
}

static bool read_index(struct reader *reader, const struct source *source,
                       const struct field *field, const struct toml_node *node, int32_t *index) {
  if (node->kind != TOML_INTEGER) {
    complain_value(reader, source, field, node, NULL,
                   arena_format(reader->arena, "%s cannot stand here", toml_kind_text(node->kind)));
    return false;
  }
  if (node->integer < 0 || node->integer > FIELD_INDEX_MAX) {
    complain_value(reader, source, field, node, NULL,
                   arena_format(reader->arena, "%" PRId64 " is out of range", node->integer));
    return false;
  }
  *index = (int32_t)node->integer;
  return true;
}

static int by_number(const void *left, const void *right) {
  const int32_t a = *(const int32_t *)left;
  const int32_t b = *(const int32_t *)right;
  return a < b ? -1 : a > b ? 1 : 0;
}

static bool read_list(struct reader *reader, const struct source *source, const struct field *field,
                      const struct toml_node *node, struct selector *selector) {
  if (node->child_count == 0) {
    complain_value(reader, source, field, node, NULL, "the array is empty");
    return false;
  }
  int32_t *indices = arena_array(reader->arena, node->child_count, sizeof *indices);
  bool good = true;
  for (size_t i = 0; i < node->child_count; i++) {
    good = read_index(reader, source, field, &node->children[i], &indices[i]) && good;
  }
  qsort(indices, node->child_count, sizeof *indices, by_number);
  size_t count = 1;
  for (size_t i = 1; i < node->child_count; i++) {
    if (indices[i] != indices[count - 1]) {
      indices[count++] = indices[i];
    }
  }
  *selector = (struct selector){SELECTOR_LIST, indices, count};
  return good;
}

bool selector_read(struct reader *reader, const struct source *source, const struct field *field,
                   const struct toml_node *node, struct selector *selector) {
  *selector = (struct selector){SELECTOR_NONE, NULL, 0};
  if (node->kind == TOML_TEXT) {
    return read_word(reader, source, field, node, selector);
  }
  if (node->kind == TOML_ARRAY) {
    return read_list(reader, source, field, node, selector);
  }
  int32_t index = 0;
  if (!read_index(reader, source, field, node, &index)) {
    return false;
  }
  select_span(reader, index, index, selector);
  return true;
}
