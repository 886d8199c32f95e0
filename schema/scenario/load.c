#include "schema/scenario/scenario.h"

#include "schema/scenario/block.h"
#include "schema/scenario/kind.h"
#include "schema/scenario/loader.h"
#include "schema/scenario/nearest.h"

#include <stdlib.h>
#include <string.h>

enum { OVERRIDE_ORDER = 1 << 20, RESOLVED_MAX = 8 * SCENARIO_FILE_MAX };

/* --set KEY=VALUE */

struct change {
  struct loader *loader;
  const struct toml_node *value;
};

static void override_change_entries(const struct change *change, enum section section,
                                    const char *key, struct entries *entries) {
  struct entries over = {0};
  entries_read_key(&change->loader->reader, section, key, change->value, &over);
  entries_merge(&change->loader->reader, entries, &over);
}

/* The rest of `key` after "prefix.", or NULL. */
static const char *override_behind(const char *key, const char *prefix) {
  const size_t length = strlen(prefix);
  return strncmp(key, prefix, length) == 0 && key[length] == '.' ? key + length + 1 : NULL;
}

/* "load.NAME.size" changes one load, "load.size" all of them. */
static bool override_change_slots(const struct change *change, struct block *block,
                                  const char *key) {
  bool matched = false;
  for (size_t i = 1; i < block->slot_count; i++) {
    struct slot *slot = &block->slots[i];
    const char *rest = override_behind(key, slot->label);
    if (rest == NULL) {
      rest = override_behind(key, section_row(slot->section)->key);
      rest = rest != NULL && (field_find(slot->section, rest) != NULL ||
                              field_is_group(slot->section, rest))
                 ? rest
                 : NULL;
    }
    if (rest != NULL) {
      override_change_entries(change, slot->section, rest, &slot->entries);
      matched = true;
    }
  }
  return matched;
}

static void override_change_block(const struct change *change, struct block *block,
                                  const char *key) {
  if (!override_change_slots(change, block, key)) {
    override_change_entries(change, block->slots[0].section, key, &block->slots[0].entries);
    loader_read_csv(change->loader, block);
  }
  loader_name_block(block);
  for (size_t i = 1; i < block->slot_count; i++) {
    loader_name_slot(change->loader, &block->slots[i],
                     i <= block->load_count ? i - 1 : i - 1 - block->load_count);
  }
}

static bool override_change_blocks(const struct change *change, const char *key) {
  struct loader *loader = change->loader;
  bool changed = false;
  for (size_t i = 0; i < loader->block_count; i++) {
    struct block *block = loader->blocks[i];
    const char *rest = override_behind(key, section_row(block->slots[0].section)->key);
    if (rest != NULL) {
      override_change_block(change, block, rest);
      changed = true;
    }
  }
  if (changed) {
    return true;
  }
  /* Names may contain dots: "a.size" may be a key of block "a" or the name of block "a.size". */
  struct block *longest = NULL;
  for (size_t i = 0; i < loader->block_count; i++) {
    struct block *block = loader->blocks[i];
    if (override_behind(key, block->name) != NULL &&
        (longest == NULL || strlen(block->name) > strlen(longest->name))) {
      longest = block;
    }
  }
  if (longest != NULL) {
    override_change_block(change, longest, override_behind(key, longest->name));
  }
  return longest != NULL;
}

static bool override_knows(enum section section, const char *key) {
  return field_find(section, key) != NULL || field_is_group(section, key);
}

static void override_complain_unknown(const struct change *change, const char *key) {
  struct arena *arena = change->loader->reader.arena;
  const char *dot = strchr(key, '.');
  const char *first = dot == NULL ? key : arena_strndup(arena, key, (size_t)(dot - key));
  struct nearest nearest = nearest_start(dot == NULL ? key : first);
  for (unsigned i = SECTION_ROOT + 1; dot != NULL && i < section_count; i++) {
    if (section_row(i)->parent == SECTION_ROOT) {
      nearest_offer(&nearest, section_row(i)->key);
    }
  }
  for (size_t i = 0; dot != NULL && i < change->loader->block_count; i++) {
    nearest_offer(&nearest, change->loader->blocks[i]->name);
  }
  for (size_t i = 0; dot == NULL && i < field_count(); i++) {
    if ((field_at(i)->sections & (1U << SECTION_MEASURE)) != 0) {
      nearest_offer(&nearest, field_at(i)->name);
    }
  }
  for (size_t i = 0; dot == NULL && i < change->loader->block_count; i++) {
    const enum section section = change->loader->blocks[i]->slots[0].section;
    if (override_knows(section, key)) { /* "size" of every [[transfer]] */
      nearest.word = arena_format(arena, "%s.%s", section_row(section)->key, key);
      break;
    }
  }
  if (dot != NULL && nearest.word != NULL && strcmp(nearest.word, first) == 0) {
    SCOPED(strbuf_fini) struct strbuf present = STRBUF(SCENARIO_FILE_MAX);
    for (size_t i = 0; i < change->loader->block_count; i++) {
      const char *kind = section_row(change->loader->blocks[i]->slots[0].section)->key;
      if (i == 0 ||
          strcmp(kind, section_row(change->loader->blocks[i - 1]->slots[0].section)->key) != 0) {
        strbuf_append_word(&present, kind);
      }
    }
    diagnostics_add(change->loader->reader.diagnostics, change->loader->reader.source,
                    (struct toml_span){0}, arena_format(arena, "a key of %s", present.text), NULL,
                    "\"%s\": this scenario has no [[%s]]", key, first);
    return;
  }
  const char *suggestion = nearest.word == NULL || dot == NULL
                               ? nearest.word
                               : arena_format(arena, "%s%s", nearest.word, dot);
  diagnostics_add(change->loader->reader.diagnostics, change->loader->reader.source,
                  (struct toml_span){0},
                  "measure.KEY, checks.KEY, KIND.KEY such as transfer.KEY, or BLOCKNAME.KEY",
                  suggestion, "unknown key \"%s\"", key);
}

static void override_change_key(const struct change *change, const char *key) {
  struct loader *loader = change->loader;
  const char *measure = override_behind(key, section_row(SECTION_MEASURE)->key);
  const char *checks = override_behind(key, section_row(SECTION_CHECKS)->key);
  if (strcmp(key, "name") == 0 || strcmp(key, "description") == 0) {
    override_change_entries(change, SECTION_ROOT, key, &loader->root);
  } else if (measure != NULL || checks != NULL) {
    override_change_entries(change, measure != NULL ? SECTION_MEASURE : SECTION_CHECKS,
                            measure != NULL ? measure : checks,
                            measure != NULL ? &loader->measure : &loader->checks);
  } else if (override_change_blocks(change, key)) {
    return;
  } else if (override_knows(SECTION_MEASURE, key)) {
    override_change_entries(change, SECTION_MEASURE, key, &loader->measure);
  } else if (override_knows(SECTION_CHECKS, key)) {
    override_change_entries(change, SECTION_CHECKS, key, &loader->checks);
  } else {
    override_complain_unknown(change, key);
  }
}

/* The value as TOML; other values are text, unless they start like an array, table or string. */
static const struct toml_node *override_read_value(struct reader *reader, const char *value,
                                                   struct toml_document **document) {
  const char *text = arena_format(reader->arena, "value = %s\n", value);
  struct error err = {0};
  *document = NULL;
  if (toml_parse(text, strlen(text), reader->source->path, document, &err) == STATUS_OK) {
    const struct toml_node *root = toml_root(*document);
    if (root->child_count == 1 && strpbrk(value, "\n\r") == NULL) {
      return &root->children[0];
    }
  } else if (value[0] != '\0' && strchr("[{\"'", value[0]) != NULL) {
    diagnostics_add(reader->diagnostics, reader->source, (struct toml_span){0}, NULL, NULL, "%s",
                    err.message);
    return NULL;
  }
  struct toml_node *node = arena_alloc(reader->arena, sizeof *node);
  node->kind = TOML_TEXT;
  node->text = arena_strdup(reader->arena, value);
  return node;
}

static void override_apply(struct loader *loader, const struct scenario_override *override,
                           unsigned source_order) {
  struct arena *arena = loader->reader.arena;
  struct source *source = arena_alloc(arena, sizeof *source);
  struct toml_document *document = NULL;
  source->path = arena_format(arena, "--set %s=%s", override->key, override->value);
  source->text = "";
  source->order = source_order;
  loader->reader.source = source;
  const struct toml_node *value = override_read_value(&loader->reader, override->value, &document);
  loader_keep_document(loader->storage, document);
  if (value != NULL) {
    const struct change change = {loader, value};
    override_change_key(&change, arena_strdup(arena, override->key));
  }
}

/* The resolved text */

/* A default as TOML: text other than numbers and flags needs quotes. */
static void resolved_write_default(struct strbuf *out, const struct field *field) {
  const bool quoted = field->type != FIELD_FLAG &&
                      strspn(field->default_text, "0123456789.") != strlen(field->default_text);
  strbuf_printf(out, "%s = ", field->name);
  if (quoted) {
    toml_write_text(out, field->default_text);
  } else {
    strbuf_append(out, field->default_text);
  }
  strbuf_append_char(out, '\n');
}

static void resolved_write_entries(struct strbuf *out, const struct entries *entries) {
  for (size_t i = 0; i < entries->count; i++) {
    strbuf_printf(out, "%s = ", entries->items[i].field->name);
    toml_write_value(out, entries->items[i].node);
    strbuf_append_char(out, '\n');
  }
}

static const char *resolved_write(struct arena *arena, const struct scenario *scenario,
                                  const struct entries *measure, const struct entries *checks) {
  SCOPED(strbuf_fini) struct strbuf out = STRBUF(RESOLVED_MAX);
  strbuf_append(&out, "schema_version = 1\nname = ");
  toml_write_text(&out, scenario->name);
  strbuf_append(&out, "\ndescription = ");
  toml_write_text(&out, scenario->description);
  strbuf_append(&out, "\n\n[measure]\n");
  resolved_write_entries(&out, measure);
  for (size_t i = 0; i < field_count(); i++) {
    if ((field_at(i)->sections & (1U << SECTION_MEASURE)) != 0 &&
        field_at(i)->default_text != NULL && entries_find(measure, field_at(i)->name) == NULL) {
      resolved_write_default(&out, field_at(i));
    }
  }
  if (checks->count > 0) {
    strbuf_append(&out, "\n[checks]\n");
    resolved_write_entries(&out, checks);
  }
  for (size_t i = 0; i < scenario->block_count; i++) {
    const struct block *block = scenario->blocks[i];
    for (size_t k = 0; k < block->slot_count; k++) {
      strbuf_printf(&out, "\n%s\n", section_row(block->slots[k].section)->title);
      resolved_write_entries(&out, &block->slots[k].entries);
    }
  }
  return arena_strndup(arena, out.text, out.length);
}

/* Reading a scenario */

void scenario_free(struct scenario *scenario) {
  struct storage *storage = (struct storage *)scenario;
  if (storage != NULL) {
    for (size_t i = 0; i < storage->document_count; i++) {
      toml_free(storage->documents[i]);
    }
    arena_fini(&storage->arena);
    free(storage);
  }
}

static int scenario_by_name(const void *left, const void *right) {
  const struct block *a = *(struct block *const *)left;
  const struct block *b = *(struct block *const *)right;
  const int order = strcmp(a->name, b->name);
  const unsigned x = a->slots[0].header_span.line;
  const unsigned y = b->slots[0].header_span.line;
  return order != 0 ? order : x < y ? -1 : x > y ? 1 : 0;
}

static void scenario_check_names(struct loader *loader) {
  const size_t count = loader->block_count;
  struct block **sorted = arena_array(loader->reader.arena, count, sizeof *sorted);
  if (count == 0) {
    return;
  }
  memcpy(sorted, loader->blocks, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, scenario_by_name);
  for (size_t i = 1; i < count; i++) {
    const struct block *block = sorted[i];
    const struct entry *name = entries_find(&block->slots[0].entries, "name");
    if (block->name[0] != '\0' && strcmp(block->name, sorted[i - 1]->name) == 0) {
      diagnostics_add(loader->reader.diagnostics, name->source, name->node->span,
                      "a unique name for every block", NULL,
                      "duplicate name \"%s\": already used by the block in line %u", block->name,
                      sorted[i - 1]->slots[0].header_span.line);
    }
  }
}

static void scenario_make_block(struct loader *loader, struct block *block) {
  struct reader *reader = &loader->reader;
  const struct slot *own = &block->slots[0];
  if (block->unread) {
    return;
  }
  entries_require(reader, own->source, own->section, &own->entries, own->header_span);
  if (kinds[block->kind]->check_keys != NULL) {
    kinds[block->kind]->check_keys(reader, block);
  }
  if (block->kind != CASE_TRANSFER) {
    loads_check_keys(reader, block);
  }
  if (loader->setting_count > SCENARIO_SETTINGS_MAX || /* said already */
      !block_make(reader, &loader->defaults[block->kind], &loader->measure, block)) {
    return;
  }
  loader->setting_count += block->setting_count;
  if (loader->setting_count <= SCENARIO_SETTINGS_MAX) {
    rules_check_settings(reader, &loader->measure, block);
  } else {
    diagnostics_add(reader->diagnostics, own->source, own->header_span,
                    "fewer or shorter axes, zip, or several scenarios", NULL,
                    "more than %d settings in the scenario, reached in block \"%s\"",
                    (int)SCENARIO_SETTINGS_MAX, block->name);
  }
}

static void scenario_make_run_settings(struct loader *loader) {
  struct run_settings *run = &loader->storage->scenario.run;
  for (size_t i = 0; i < field_count(); i++) {
    union value value;
    if (field_at(i)->owner == OWNER_RUN && field_at(i)->default_text != NULL &&
        value_from_text(field_at(i), field_at(i)->default_text, &value)) {
      value_store(field_at(i), &value, run);
    }
  }
  for (size_t i = 0; i < loader->measure.count; i++) {
    const struct entry *entry = &loader->measure.items[i];
    if (entry->field->owner == OWNER_RUN && entry->values.count == 1) {
      value_store(entry->field, &entry->values.items[0], run);
    }
  }
}

static bool scenario_is_on_unknown(const struct field *field) {
  const char *dot = strrchr(field->name, '.');
  return dot != NULL && strcmp(dot + 1, FIELD_ON_UNKNOWN) == 0;
}

/* One check from NAME.want, NAME.on_fail and NAME.on_unknown, each of which may be absent. */
static struct check scenario_make_check(struct loader *loader, const struct entry *entry) {
  struct check check = {.kind = entry->field->check, .on_fail = ON_FAIL_WARN};
  bool unknown_given = false;
  for (size_t i = 0; i < field_count(); i++) {
    const struct field *field = field_at(i);
    if (field->owner != OWNER_CHECK || field->check != check.kind) {
      continue;
    }
    const struct entry *given = entries_find(&loader->checks, field->name);
    union value value = {0};
    if (given != NULL && given->values.count == 1) {
      value = given->values.items[0];
    } else if (field->default_text == NULL ||
               !value_from_text(field, field->default_text, &value)) {
      char expected[FIELD_EXPECTED_MAX];
      field_expected(field, expected);
      if (given == NULL && !scenario_is_on_unknown(field)) {
        diagnostics_add(loader->reader.diagnostics, entry->source, entry->key_span, expected, NULL,
                        "missing \"%s\"", field->name);
      }
      continue;
    }
    if (scenario_is_on_unknown(field)) {
      unknown_given = true;
      check.on_unknown = (enum on_fail)value.word;
    } else if (field->words == on_fail_names) {
      check.on_fail = (enum on_fail)value.word;
    } else {
      check.want = value_text(loader->reader.arena, field, &value);
    }
  }
  if (!unknown_given) {
    check.on_unknown = check.on_fail == ON_FAIL_SKIP || check.on_fail == ON_FAIL_ABORT
                           ? ON_FAIL_WARN
                           : ON_FAIL_RECORD;
  }
  return check;
}

static void scenario_make_checks(struct loader *loader) {
  struct check *checks = arena_array(loader->reader.arena, check_kind_name_count, sizeof *checks);
  size_t count = 0;
  for (size_t i = 0; i < loader->checks.count; i++) {
    const struct entry *entry = &loader->checks.items[i];
    bool known = false;
    for (size_t k = 0; k < count; k++) {
      known = known || checks[k].kind == entry->field->check;
    }
    if (!known) {
      checks[count++] = scenario_make_check(loader, entry);
    }
  }
  loader->storage->scenario.checks = checks;
  loader->storage->scenario.check_count = count;
}

static const char *scenario_root_text(const struct loader *loader, const char *key) {
  const struct entry *entry = entries_find(&loader->root, key);
  return entry != NULL && entry->values.count == 1 ? entry->values.items[0].text : "";
}

static void scenario_make(struct loader *loader, const struct scenario_override *overrides,
                          size_t override_count) {
  struct scenario *scenario = &loader->storage->scenario;
  for (size_t i = 0; i < override_count; i++) {
    override_apply(loader, &overrides[i], OVERRIDE_ORDER + (unsigned)i);
  }
  for (unsigned kind = 0; kind < case_kind_name_count; kind++) {
    block_defaults((enum case_kind)kind, &loader->defaults[kind]);
  }
  scenario_check_names(loader);
  for (size_t i = 0; i < loader->block_count; i++) {
    scenario_make_block(loader, loader->blocks[i]);
  }
  scenario_make_run_settings(loader);
  scenario_make_checks(loader);
  scenario->name = scenario_root_text(loader, "name");
  scenario->description = scenario_root_text(loader, "description");
  scenario->blocks = (const struct block *const *)loader->blocks;
  scenario->block_count = loader->block_count;
}

/* The scenario, or NULL if there are diagnostics. */
static struct scenario *scenario_finish(struct loader *loader) {
  struct scenario *scenario = &loader->storage->scenario;
  struct diagnostics *diagnostics = loader->reader.diagnostics;
  if (diagnostics_mistakes(diagnostics) > loader->mistakes_before) {
    diagnostics_sort(diagnostics, loader->first_complaint);
    scenario_free(scenario);
    return NULL;
  }
  scenario->resolved =
      resolved_write(loader->reader.arena, scenario, &loader->measure, &loader->checks);
  return scenario;
}

static enum status scenario_read(struct loader *loader, const struct source *source,
                                 const struct scenario_override *overrides, size_t override_count,
                                 struct scenario **scenario) {
  const char *identity =
      source->recorded ? source->path : source_identity(loader->reader.arena, source->path);
  const struct chain chain = {NULL, identity, 0};
  loader->storage->scenario.path = source->path;
  loader->storage->scenario.text = source->text;
  loader->reader.source = source;
  if (loader_read_file(loader, &chain)) {
    scenario_make(loader, overrides, override_count);
  }
  struct scenario *made = scenario_finish(loader);
  if (made == NULL) {
    return STATUS_INVALID;
  }
  *scenario = made;
  return STATUS_OK;
}

static void scenario_start(struct loader *loader, struct diagnostics *diagnostics) {
  struct storage *storage = memory_new(1, sizeof *storage);
  *loader = (struct loader){.storage = storage,
                            .reader = {.arena = &storage->arena,
                                       .language = &LANGUAGE_SCENARIO,
                                       .diagnostics = diagnostics},
                            .first_complaint = diagnostics_count(diagnostics),
                            .mistakes_before = diagnostics_mistakes(diagnostics),
                            .source_count = 1};
}

enum status scenario_load(const char *path, const struct scenario_override *overrides,
                          size_t override_count, struct scenario **scenario,
                          struct diagnostics *diagnostics) {
  struct loader loader;
  scenario_start(&loader, diagnostics);
  struct source *source = arena_alloc(loader.reader.arena, sizeof *source);
  struct error err = {0};
  if (source_read(loader.reader.arena, path, true, source, &err) != STATUS_OK) {
    diagnostics_add(diagnostics, source, (struct toml_span){0}, NULL, NULL, "%s", err.message);
    (void)scenario_finish(&loader);
    return STATUS_INVALID;
  }
  source->has_lines = true;
  return scenario_read(&loader, source, overrides, override_count, scenario);
}

static enum status scenario_parse_text(const char *text, size_t length, const char *path,
                                       bool recorded, const struct scenario_override *overrides,
                                       size_t override_count, struct scenario **scenario,
                                       struct diagnostics *diagnostics) {
  struct loader loader;
  scenario_start(&loader, diagnostics);
  struct arena *arena = loader.reader.arena;
  struct source *source = arena_alloc(arena, sizeof *source);
  source->path = arena_strdup(arena, path);
  source->text = arena_strndup(arena, text, length);
  source->length = length;
  source->has_lines = true;
  source->recorded = recorded;
  return scenario_read(&loader, source, overrides, override_count, scenario);
}

enum status scenario_parse(const char *text, size_t length, const char *path,
                           const struct scenario_override *overrides, size_t override_count,
                           struct scenario **scenario, struct diagnostics *diagnostics) {
  return scenario_parse_text(text, length, path, false, overrides, override_count, scenario,
                             diagnostics);
}

enum status scenario_parse_recorded(const char *text, const char *path,
                                    const struct scenario_override *overrides,
                                    size_t override_count, struct scenario **scenario,
                                    struct diagnostics *diagnostics) {
  return scenario_parse_text(text, strlen(text), path, true, overrides, override_count, scenario,
                             diagnostics);
}

struct scenario *scenario_find_recorded(const char *text, const char *path) {
  struct scenario *scenario = NULL;
  struct diagnostics *diagnostics = diagnostics_new();
  const enum status status = scenario_parse_recorded(text, path, NULL, 0, &scenario, diagnostics);
  diagnostics_free(diagnostics);
  return status == STATUS_OK ? scenario : NULL;
}
