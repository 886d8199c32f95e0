#include "schema/scenario/override.h"

#include "schema/scenario/nearest.h"

#include <string.h>

struct change {
  struct reader *reader;
  const struct source *source;
  const struct toml_node *value;
  const struct override_target *target;
};

static void change_entries(const struct change *change, enum section section, const char *key,
                           struct entries *entries) {
  struct entries over = {0};
  entries_read_key(change->reader, change->source, section, key, change->value, &over);
  entries_merge(change->reader, entries, &over);
}

/* The rest of `key` behind "prefix.", or NULL. */
static const char *behind(const char *key, const char *prefix) {
  const size_t length = strlen(prefix);
  return strncmp(key, prefix, length) == 0 && key[length] == '.' ? key + length + 1 : NULL;
}

/* "load.NAME.size" means one load, "load.size" all of them. */
static bool change_slots(const struct change *change, struct block *block, const char *key) {
  bool matched = false;
  for (size_t i = 1; i < block->slot_count; i++) {
    struct slot *slot = &block->slots[i];
    const char *rest = behind(key, slot->label);
    if (rest == NULL) {
      rest = behind(key, sections[slot->section].key);
      rest = rest != NULL && (field_find(slot->section, rest) != NULL ||
                              field_is_group(slot->section, rest))
                 ? rest
                 : NULL;
    }
    if (rest != NULL) {
      change_entries(change, slot->section, rest, &slot->entries);
      matched = true;
    }
  }
  return matched;
}

static void change_block(const struct change *change, struct block *block, const char *key) {
  if (!change_slots(change, block, key)) {
    change_entries(change, block->slots[0].section, key, &block->slots[0].entries);
  }
}

static bool change_blocks(const struct change *change, const char *key) {
  const struct override_target *target = change->target;
  bool changed = false;
  for (size_t i = 0; i < target->block_count; i++) {
    struct block *block = target->blocks[i];
    const char *rest = behind(key, sections[block->slots[0].section].key);
    if (rest != NULL) {
      change_block(change, block, rest);
      changed = true;
    }
  }
  if (changed) {
    return true;
  }
  /* Names may have dots: "a.size" could be of block "a" or the start of block "a.size". */
  struct block *longest = NULL;
  for (size_t i = 0; i < target->block_count; i++) {
    struct block *block = target->blocks[i];
    if (behind(key, block->name) != NULL &&
        (longest == NULL || strlen(block->name) > strlen(longest->name))) {
      longest = block;
    }
  }
  if (longest != NULL) {
    change_block(change, longest, behind(key, longest->name));
  }
  return longest != NULL;
}

static bool knows(enum section section, const char *key) {
  return field_find(section, key) != NULL || field_is_group(section, key);
}

static void complain_unknown(const struct change *change, const char *key) {
  struct arena *arena = change->reader->arena;
  const char *dot = strchr(key, '.');
  const char *first = dot == NULL ? key : arena_strndup(arena, key, (size_t)(dot - key));
  struct nearest nearest = nearest_start(dot == NULL ? key : first);
  for (unsigned i = SECTION_ROOT + 1; dot != NULL && i < section_count; i++) {
    if (sections[i].parent == SECTION_ROOT) {
      nearest_offer(&nearest, sections[i].key);
    }
  }
  for (size_t i = 0; dot != NULL && i < change->target->block_count; i++) {
    nearest_offer(&nearest, change->target->blocks[i]->name);
  }
  for (size_t i = 0; dot == NULL && i < field_count; i++) {
    if ((fields[i].sections & (1U << SECTION_MEASURE)) != 0) {
      nearest_offer(&nearest, fields[i].name);
    }
  }
  const char *suggestion = nearest.word == NULL || dot == NULL
                               ? nearest.word
                               : arena_format(arena, "%s%s", nearest.word, dot);
  complain(
      change->reader->diagnostics, change->source, (struct toml_span){0},
      "measure.KEY, checks.KEY, a kind of block there is (transfer.KEY), or the name of a block "
      "and a key of it",
      suggestion, "unknown key \"%s\"", key);
}

static void change_key(const struct change *change, const char *key) {
  const struct override_target *target = change->target;
  const char *measure = behind(key, sections[SECTION_MEASURE].key);
  const char *checks = behind(key, sections[SECTION_CHECKS].key);
  if (strcmp(key, "name") == 0 || strcmp(key, "description") == 0) {
    change_entries(change, SECTION_ROOT, key, target->root);
  } else if (measure != NULL || checks != NULL) {
    change_entries(change, measure != NULL ? SECTION_MEASURE : SECTION_CHECKS,
                   measure != NULL ? measure : checks,
                   measure != NULL ? target->measure : target->checks);
  } else if (change_blocks(change, key)) {
    return;
  } else if (knows(SECTION_MEASURE, key)) {
    change_entries(change, SECTION_MEASURE, key, target->measure);
  } else if (knows(SECTION_CHECKS, key)) {
    change_entries(change, SECTION_CHECKS, key, target->checks);
  } else {
    complain_unknown(change, key);
  }
}

/* The value as TOML; what is not TOML is text, unless it begins as something that cannot be. */
static const struct toml_node *read_value(struct reader *reader, const struct source *source,
                                          const char *value, struct toml_document **document) {
  const char *text = arena_format(reader->arena, "value = %s\n", value);
  struct error err = {0};
  *document = NULL;
  if (toml_parse(text, strlen(text), source->path, document, &err) == STATUS_OK) {
    const struct toml_node *root = toml_root(*document);
    if (root->child_count == 1 && strpbrk(value, "\n\r") == NULL) {
      return &root->children[0];
    }
  } else if (value[0] != '\0' && strchr("[{\"'", value[0]) != NULL) {
    complain(reader->diagnostics, source, (struct toml_span){0}, NULL, NULL, "%s", err.message);
    return NULL;
  }
  struct toml_node *node = arena_alloc(reader->arena, sizeof *node);
  node->kind = TOML_TEXT;
  node->text = arena_strdup(reader->arena, value);
  return node;
}

void override_apply(struct reader *reader, const struct scenario_override *override,
                    unsigned source_order, const struct override_target *target,
                    struct toml_document **document) {
  struct source *source = arena_alloc(reader->arena, sizeof *source);
  source->path = arena_format(reader->arena, "--set %s=%s", override->key, override->value);
  source->text = "";
  source->order = source_order;
  const struct toml_node *value = read_value(reader, source, override->value, document);
  if (value != NULL) {
    const struct change change = {reader, source, value, target};
    change_key(&change, arena_strdup(reader->arena, override->key));
  }
}
