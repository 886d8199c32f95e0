#include "schema/scenario/entry.h"

#include "schema/scenario/nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct entry *entries_find(const struct entries *entries, const char *name) {
  for (size_t i = 0; i < entries->count; i++) {
    if (strcmp(entries->items[i].field->name, name) == 0) {
      return &entries->items[i];
    }
  }
  return NULL;
}

static void entries_append(struct reader *reader, struct entries *entries, struct entry entry) {
  *ARENA_ADD(reader->arena, entries->items, entries->count) = entry;
}

/* Another section that has the key; section_count of the language if there is none. */
static unsigned entry_other_section(const struct language *language, enum section section,
                                    const char *path, const char *key) {
  for (unsigned i = 0; i < language->section_count; i++) {
    const enum section other = (enum section)i;
    if (i != section && (language_find(language, other, path) != NULL ||
                         language_is_group(language, other, path))) {
      return i;
    }
  }
  const unsigned below = language_below(language, SECTION_ROOT, key);
  return below != language->section_count && section != SECTION_ROOT ? SECTION_ROOT
                                                                     : language->section_count;
}

/* The most similar key that is allowed in the same table, as written there. */
static const char *entry_suggest_key(struct reader *reader, enum section section, const char *path,
                                     const char *key) {
  const size_t prefix = strlen(path) - strlen(key);
  const struct language *language = reader->language;
  struct nearest nearest = nearest_start(key);
  const struct field *field = NULL;
  for (size_t i = 0; (field = language->field_at(i)) != NULL; i++) {
    if ((field->sections & (1U << section)) != 0 && strncmp(field->name, path, prefix) == 0) {
      const char *rest = field->name + prefix;
      nearest_offer(&nearest, arena_strndup(reader->arena, rest, strcspn(rest, ".")));
    }
  }
  for (unsigned i = SECTION_ROOT + 1; prefix == 0 && i < language->section_count; i++) {
    const struct section_row *row = language->section_row((enum section)i);
    if (row->parent == section) {
      nearest_offer(&nearest, row->key);
    }
  }
  for (unsigned i = SECTION_ROOT + 1; nearest.word != NULL && i < language->section_count; i++) {
    const struct section_row *row = language->section_row((enum section)i);
    if (row->key == nearest.word) {
      return row->title;
    }
  }
  return nearest.word;
}

/* The keys that the group or section has: "gpu, numa or memory". */
static const char *entry_list_keys(struct reader *reader, enum section section, const char *path,
                                   size_t prefix) {
  SCOPED(strbuf_fini) struct strbuf list = STRBUF(FIELD_EXPECTED_MAX);
  char last[64] = "";
  const struct language *language = reader->language;
  const struct field *field = NULL;
  for (size_t i = 0; (field = language->field_at(i)) != NULL; i++) {
    if ((field->sections & (1U << section)) == 0 || strncmp(field->name, path, prefix) != 0) {
      continue;
    }
    const char *rest = field->name + prefix;
    const size_t length = strcspn(rest, ".");
    if (length < sizeof last && strncmp(last, rest, length) == 0 && last[length] == '\0') {
      continue;
    }
    strbuf_append(&list, list.length == 0 ? "" : ", ");
    strbuf_append_n(&list, rest, length);
    (void)snprintf(last, sizeof last, "%.*s", (int)length, rest);
  }
  for (unsigned i = SECTION_ROOT + 1; prefix == 0 && i < language->section_count; i++) {
    const struct section_row *row = language->section_row((enum section)i);
    if (row->parent == section) {
      strbuf_printf(&list, "%s%s", list.length == 0 ? "" : ", ", row->title);
    }
  }
  return arena_format(reader->arena, "one of: %s", list.text);
}

static void entry_complain_unknown(struct reader *reader, enum section section, const char *path,
                                   const char *key, struct toml_span span,
                                   struct entries *entries) {
  const char *suggestion = entry_suggest_key(reader, section, path, key);
  const struct language *language = reader->language;
  const unsigned home = entry_other_section(language, section, path, key);
  const char *hint = nearest_hint(key);
  if (home != language->section_count && suggestion == NULL) {
    diagnostics_add(
        reader->diagnostics, reader->source, span,
        home == SECTION_ROOT ? "the key above the first [table] of the file"
                             : arena_format(reader->arena, "the key in %s",
                                            language->section_row((enum section)home)->title),
        NULL, "\"%s\" is not allowed in %s%s%s", path, language->section_row(section)->title,
        hint != NULL ? ": " : "", hint != NULL ? hint : "");
    return;
  }
  if (suggestion != NULL && entries->meant_count < ENTRIES_MEANT_MAX) {
    entries->meant[entries->meant_count++] = suggestion;
  }
  diagnostics_add(reader->diagnostics, reader->source, span,
                  entry_list_keys(reader, section, path, strlen(path) - strlen(key)), suggestion,
                  "unknown key \"%s\" in %s", path, language->section_row(section)->title);
}

/* Of an end of a flow that is a text, "host", "gpu0" or "gpu*": the table to write; NULL = another.
 */
static const char *entry_end_meant(struct reader *reader, const char *text) {
  if (strncasecmp(text, "gpu", 3) == 0 || strcasecmp(text, "device") == 0) {
    const size_t digits = strspn(text + strcspn(text, "0123456789"), "0123456789");
    return digits > 0 ? arena_format(reader->arena, "{ gpu = %.*s }", (int)digits,
                                     text + strcspn(text, "0123456789"))
                      : "{ gpu = \"*\" }";
  }
  const bool is_host = strcasecmp(text, "host") == 0 || strcasecmp(text, "cpu") == 0 ||
                       strncasecmp(text, "numa", 4) == 0;
  return is_host ? "{ numa = \"local\" }" : NULL;
}

/* What to write in place of a value where its table belongs; NULL = unknown. plain: the value as a
 * text, written: as it stands in the file. */
static const char *entry_table_meant(struct reader *reader, enum section section, const char *path,
                                     const struct toml_node *node, const char *plain,
                                     const char *written) {
  static const char *const KEYS[] = {"want", "on_fail"};
  const struct field *want =
      language_find(reader->language, section, arena_format(reader->arena, "%s.want", path));
  union value value;
  static const char *const BELOW[] = {"gpu", "max"};
  for (size_t i = 0; i < COUNT_OF(KEYS); i++) {
    const char *key = arena_format(reader->arena, "%s.%s", path, KEYS[i]);
    const struct field *field = language_find(reader->language, section, key);
    if (field != NULL && value_from_text(field, plain, &value)) {
      return arena_format(reader->arena, "{ %s = %s }", KEYS[i], written);
    }
  }
  const struct field *found[COUNT_OF(BELOW)];
  for (size_t i = 0; i < COUNT_OF(BELOW); i++) {
    found[i] = language_find(reader->language, section,
                             arena_format(reader->arena, "%s.%s", path, BELOW[i]));
  }
  return found[0] != NULL && node->kind == TOML_TEXT ? entry_end_meant(reader, plain)
         : found[1] != NULL && node->kind == TOML_INTEGER
             ? arena_format(reader->arena, "{ max = %s }", written)
         : want != NULL && want->default_text != NULL
             ? arena_format(reader->arena,
                            strcmp(want->default_text, "true") == 0 ? "{ want = %s }"
                                                                    : "{ want = \"%s\" }",
                            want->default_text)
             : NULL;
}

/* A value where its table belongs, governor = "performance", or a table that says nothing. */
static void entry_complain_no_table(struct reader *reader, enum section section, const char *path,
                                    const struct toml_node *node) {
  const char *keys =
      entry_list_keys(reader, section, arena_format(reader->arena, "%s.", path), strlen(path) + 1);
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(SCENARIO_FILE_MAX);
  toml_write_value(&text, node);
  const bool is_empty = node->kind == TOML_TABLE;
  const char *plain = node->kind == TOML_TEXT ? node->text : text.text;
  const char *meant =
      is_empty ? NULL : entry_table_meant(reader, section, path, node, plain, text.text);
  const char *expected =
      meant != NULL ? arena_format(reader->arena, "%s = %s: a table with %s", path, meant, keys)
                    : arena_format(reader->arena, "a table with %s", keys);
  diagnostics_add(reader->diagnostics, reader->source, node->span, expected, NULL,
                  is_empty ? "%s: the table is empty" : "%s: %s is not allowed here", path,
                  toml_kind_text(node->kind));
}

static void entries_read_node(struct reader *reader, enum section section, const char *path,
                              const struct toml_node *node, struct toml_span key_span,
                              struct entries *entries);

static void entries_read_children(struct reader *reader, enum section section, const char *path,
                                  const struct toml_node *table, struct entries *entries) {
  for (size_t i = 0; i < table->child_count; i++) {
    const struct toml_node *child = &table->children[i];
    if (path[0] == '\0' &&
        language_below(reader->language, section, child->key) != reader->language->section_count) {
      continue;
    }
    if (strchr(child->key, '.') != NULL) { /* a quoted key would be taken for a path */
      diagnostics_add(reader->diagnostics, reader->source, child->key_span,
                      "keys without dots, or without quotes", NULL, "unknown key \"%s\"",
                      child->key);
      continue;
    }
    const char *below =
        path[0] == '\0' ? child->key : arena_format(reader->arena, "%s.%s", path, child->key);
    entries_read_node(reader, section, below, child, child->key_span, entries);
  }
}

static void entries_read_node(struct reader *reader, enum section section, const char *path,
                              const struct toml_node *node, struct toml_span key_span,
                              struct entries *entries) {
  const struct field *field = language_find(reader->language, section, path);
  if (field != NULL) {
    struct entry entry = {field, reader->source, node, key_span, {NULL, 0}};
    if (field->type != FIELD_TEXTS && field->type != FIELD_ZIP) {
      (void)values_read(reader, field, node, &entry.values); /* complained, stays empty */
    }
    entries_append(reader, entries, entry);
  } else if (!language_is_group(reader->language, section, path)) {
    const char *dot = strrchr(path, '.');
    const char *key = dot == NULL ? path : dot + 1;
    entry_complain_unknown(reader, section, path, key, key_span, entries);
  } else if (node->kind != TOML_TABLE || node->child_count == 0) {
    entry_complain_no_table(reader, section, path, node);
  } else {
    entries_read_children(reader, section, path, node, entries);
  }
}

static int entry_by_place(const void *left, const void *right) {
  const struct toml_span *a = &((const struct entry *)left)->key_span;
  const struct toml_span *b = &((const struct entry *)right)->key_span;
  if (a->line != b->line) {
    return a->line < b->line ? -1 : 1;
  }
  return a->column < b->column ? -1 : a->column > b->column ? 1 : 0;
}

bool entries_mean(const struct entries *entries, const char *name) {
  for (size_t i = 0; i < entries->meant_count; i++) {
    if (strcmp(entries->meant[i], name) == 0) {
      return true;
    }
  }
  return false;
}

void entries_read(struct reader *reader, enum section section, const struct toml_node *table,
                  struct entries *entries) {
  const size_t first = entries->count;
  entries_read_children(reader, section, "", table, entries);
  if (entries->count > first) { /* "from.numa, size, from.memory": by their places, not by groups */
    qsort(entries->items + first, entries->count - first, sizeof *entries->items, entry_by_place);
  }
}

void entries_read_key(struct reader *reader, enum section section, const char *path,
                      const struct toml_node *node, struct entries *entries) {
  entries_read_node(reader, section, path, node, node->span, entries);
}

void entries_merge(struct reader *reader, struct entries *entries, const struct entries *over) {
  for (size_t i = 0; i < over->count; i++) {
    const struct entry *entry = entries_find(entries, over->items[i].field->name);
    if (entry != NULL) {
      entries->items[entry - entries->items] = over->items[i];
    } else {
      entries_append(reader, entries, over->items[i]);
    }
  }
}

const struct toml_node *entries_section(struct reader *reader, const struct toml_node *parent,
                                        enum section section) {
  const struct section_row *row = reader->language->section_row(section);
  const struct toml_node *node = toml_get(parent, row->key);
  bool fits = node == NULL || (row->repeated ? node->kind == TOML_ARRAY && node->child_count > 0
                                             : node->kind == TOML_TABLE);
  for (size_t i = 0; fits && node != NULL && row->repeated && i < node->child_count; i++) {
    fits = node->children[i].kind == TOML_TABLE;
  }
  if (!fits) {
    diagnostics_add(reader->diagnostics, reader->source, node->key_span, row->title, NULL,
                    "\"%s\" must be written as %s", row->key, row->title);
    return NULL;
  }
  return node;
}

void entries_require(struct reader *reader, const struct source *source, enum section section,
                     const struct entries *entries, struct toml_span span) {
  const struct language *language = reader->language;
  const struct field *field = NULL;
  for (size_t i = 0; (field = language->field_at(i)) != NULL; i++) {
    if (field->required && (field->sections & (1U << section)) != 0 &&
        entries_find(entries, field->name) == NULL && !entries_mean(entries, field->name)) {
      char expected[FIELD_EXPECTED_MAX];
      field_expected(field, expected);
      diagnostics_add(reader->diagnostics, source, span, expected, NULL, "missing \"%s\" in %s",
                      field->name, language->section_row(section)->title);
    }
  }
}
