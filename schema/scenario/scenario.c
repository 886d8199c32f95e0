#include "schema/scenario/scenario.h"

#include "scenarios/scenarios.h"
#include "schema/scenario/kind.h"
#include "schema/scenario/override.h"
#include "schema/scenario/resolved.h"
#include "schema/scenario/rules.h"
#include "schema/scenario/source.h"

#include <stdlib.h>
#include <string.h>

WORDS_DEFINE(block_kind, BLOCK_KIND_LIST)

enum { INCLUDE_DEPTH_MAX = 16, INCLUDE_COUNT_MAX = 64, OVERRIDE_ORDER = 1 << 20 };

/* A scenario and what it stands on. */
struct storage {
  struct scenario scenario; /* first: scenario_free() gets its address */
  struct arena arena;
  struct toml_document **documents; /* entries point into them */
  size_t document_count;
  size_t document_capacity;
};

struct loader {
  struct storage *storage;
  struct reader reader;
  struct setting defaults[block_kind_word_count];
  size_t first_complaint;
  unsigned source_count;
  struct entries root;
  struct entries measure;
  struct entries checks;
  struct block **blocks;
  size_t block_count;
};

/* The files from the scenario down to the one being read. */
struct chain {
  const struct chain *above;
  const char *identity;
  unsigned depth;
};

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

static void keep_document(struct storage *storage, struct toml_document *document) {
  if (document != NULL) {
    storage->documents = arena_grow(&storage->arena, storage->documents, storage->document_count,
                                    &storage->document_capacity, sizeof(struct toml_document *));
    storage->documents[storage->document_count++] = document;
  }
}

/* NULL after a complaint. */
static const struct toml_node *parse(struct loader *loader, const struct source *source) {
  struct error err = {0};
  struct toml_document *document = NULL;
  if (toml_parse(source->text, source->length, source->path, &document, &err) != STATUS_OK) {
    const struct toml_span span = {err.position.line, err.position.column, 1};
    complain(loader->reader.diagnostics, source, span, NULL, NULL, "%s", err.message);
    return NULL;
  }
  keep_document(loader->storage, document);
  return toml_root(document);
}

static void complain_at(struct loader *loader, const struct source *source, struct toml_span span,
                        const char *expected, const char *message) {
  complain(loader->reader.diagnostics, source, span, expected, NULL, "%s", message);
}

/* The table or tables of a section; complains where the brackets are wrong. */
static const struct toml_node *get_section(struct loader *loader, const struct source *source,
                                           const struct toml_node *parent, enum section section) {
  const struct section_row *row = &sections[section];
  const struct toml_node *node = toml_get(parent, row->key);
  bool fits = node == NULL || node->kind == (row->repeated ? TOML_ARRAY : TOML_TABLE);
  for (size_t i = 0; fits && node != NULL && row->repeated && i < node->child_count; i++) {
    fits = node->children[i].kind == TOML_TABLE;
  }
  if (!fits) {
    complain(loader->reader.diagnostics, source, node->key_span, row->title, NULL,
             "\"%s\" is written %s", row->key, row->title);
    return NULL;
  }
  return node;
}

static bool read_file(struct loader *loader, const struct source *source, const struct chain *chain,
                      struct entries *measure, struct entries *checks, bool is_main);

static void read_include(struct loader *loader, const struct source *source,
                         const struct toml_node *node, const struct chain *above,
                         struct entries *measure, struct entries *checks) {
  struct reader *reader = &loader->reader;
  struct source *included = arena_alloc(reader->arena, sizeof *included);
  struct error err = {0};
  if (loader->source_count > INCLUDE_COUNT_MAX || above->depth >= INCLUDE_DEPTH_MAX) {
    complain_at(loader, source, node->span, "fewer files", "too many includes");
    return;
  }
  if (source_read_include(reader->arena, source->path, node->text, included, &err) != STATUS_OK) {
    complain(reader->diagnostics, source, node->span,
             "the path of a file beside this one, or the name of a shipped scenario", NULL,
             "include \"%s\": %s", node->text, err.message);
    return;
  }
  const struct chain chain = {above, source_identity(reader->arena, included->path),
                              above->depth + 1};
  for (const struct chain *link = above; link != NULL; link = link->above) {
    if (strcmp(link->identity, chain.identity) == 0) {
      complain(reader->diagnostics, source, node->span, "no file that leads back to itself", NULL,
               "include \"%s\": the files include each other", node->text);
      return;
    }
  }
  included->order = loader->source_count++;
  included->has_lines = true;
  (void)read_file(loader, included, &chain, measure, checks, false); /* it complained itself */
}

static void read_includes(struct loader *loader, const struct source *source,
                          const struct entry *include, const struct chain *chain,
                          struct entries *measure, struct entries *checks) {
  const struct toml_node *node = include->node;
  if (node->kind != TOML_ARRAY) {
    complain_at(loader, source, node->span, "an array: include = [\"common/careful.toml\"]",
                "include: an array of files is needed");
    return;
  }
  for (size_t i = 0; i < node->child_count; i++) {
    if (node->children[i].kind != TOML_TEXT) {
      complain_at(loader, source, node->children[i].span, "the path of a file in quotes",
                  "include: only text can stand here");
    } else {
      read_include(loader, source, &node->children[i], chain, measure, checks);
    }
  }
}

static void read_section(struct loader *loader, const struct source *source,
                         const struct toml_node *root, enum section section,
                         struct entries *entries) {
  const struct toml_node *node = get_section(loader, source, root, section);
  if (node != NULL) {
    struct entries own = {0};
    entries_read(&loader->reader, source, section, node, &own);
    entries_merge(&loader->reader, entries, &own);
  }
}

static void read_slot(struct loader *loader, const struct source *source,
                      const struct toml_node *node, enum section section, size_t number,
                      struct slot *slot) {
  struct arena *arena = loader->reader.arena;
  *slot =
      (struct slot){.section = section, .source = source, .node = node, .header_span = node->span};
  entries_read(&loader->reader, source, section, node, &slot->entries);
  if (sections[section].parent != SECTION_ROOT) {
    const struct entry *name = entries_find(&slot->entries, "name");
    const char *key = sections[section].key;
    slot->label = name != NULL && name->values.count == 1
                      ? arena_format(arena, "%s.%s", key, name->values.items[0].text)
                      : arena_format(arena, "%s.%zu", key, number + 1);
  }
}

/* Only a transfer has tables below its own. */
static const struct toml_node *get_below(struct loader *loader, const struct source *source,
                                         const struct toml_node *node, const struct block *block,
                                         enum section section) {
  return sections[section].parent == kinds[block->kind].section
             ? get_section(loader, source, node, section)
             : NULL;
}

static void read_block(struct loader *loader, const struct source *source,
                       const struct toml_node *node, enum block_kind kind, struct block *block) {
  block->kind = kind;
  const struct toml_node *loads = get_below(loader, source, node, block, SECTION_LOAD);
  const struct toml_node *flows = get_below(loader, source, node, block, SECTION_FLOW);
  block->load_count = loads == NULL ? 0 : loads->child_count;
  block->flow_count = flows == NULL ? 0 : flows->child_count;
  block->slot_count = 1 + block->load_count + block->flow_count;
  block->slots = arena_array(loader->reader.arena, block->slot_count, sizeof *block->slots);
  read_slot(loader, source, node, kinds[kind].section, 0, &block->slots[0]);
  for (size_t i = 0; i < block->load_count; i++) {
    read_slot(loader, source, &loads->children[i], SECTION_LOAD, i, &block->slots[1 + i]);
  }
  for (size_t i = 0; i < block->flow_count; i++) {
    read_slot(loader, source, &flows->children[i], SECTION_FLOW, i,
              &block->slots[1 + block->load_count + i]);
  }
  const struct entry *name = entries_find(&block->slots[0].entries, "name");
  block->name = name != NULL && name->values.count == 1 ? name->values.items[0].text : "";
}

static bool stands_before(struct toml_span a, struct toml_span b) {
  return a.line != b.line ? a.line < b.line : a.column < b.column;
}

/* Blocks of all kinds in the order of the file. */
static void read_blocks(struct loader *loader, const struct source *source,
                        const struct toml_node *root, bool is_main) {
  const struct toml_node *nodes[block_kind_word_count];
  size_t next[block_kind_word_count] = {0};
  size_t count = 0;
  bool written = false;
  for (unsigned kind = 0; kind < block_kind_word_count; kind++) {
    nodes[kind] = get_section(loader, source, root, kinds[kind].section);
    count += nodes[kind] == NULL ? 0 : nodes[kind]->child_count;
    written = written || toml_get(root, sections[kinds[kind].section].key) != NULL;
  }
  if (!written && is_main) {
    complain_at(loader, source, (struct toml_span){1, 1, 1},
                "a [[transfer]], [[stream]], [[chase]], [[arithmetic]] or [[overhead]]",
                "there is nothing to measure");
  }
  loader->blocks =
      is_main ? arena_array(loader->reader.arena, count, sizeof *loader->blocks) : loader->blocks;
  for (size_t i = 0; i < count; i++) {
    unsigned first = block_kind_word_count;
    for (unsigned kind = 0; kind < block_kind_word_count; kind++) {
      if (nodes[kind] != NULL && next[kind] < nodes[kind]->child_count &&
          (first == block_kind_word_count ||
           stands_before(nodes[kind]->children[next[kind]].span,
                         nodes[first]->children[next[first]].span))) {
        first = kind;
      }
    }
    const struct toml_node *node = &nodes[first]->children[next[first]++];
    if (!is_main) {
      complain_at(loader, source, node->span, "[measure] and [checks] alone",
                  "the blocks of an included file would not be measured");
      return;
    }
    struct block *block = arena_alloc(loader->reader.arena, sizeof *block);
    loader->blocks[loader->block_count++] = block;
    read_block(loader, source, node, (enum block_kind)first, block);
  }
}

static void require(struct loader *loader, const struct source *source, enum section section,
                    const struct entries *entries, struct toml_span span) {
  for (size_t i = 0; i < field_count; i++) {
    if ((fields[i].required & (1U << section)) != 0 &&
        entries_find(entries, fields[i].name) == NULL) {
      char expected[FIELD_EXPECTED_MAX];
      field_expected(&fields[i], expected);
      complain(loader->reader.diagnostics, source, span, expected, NULL, "missing \"%s\" in %s",
               fields[i].name, sections[section].title);
    }
  }
}

/* False when it is no TOML at all. */
static bool read_file(struct loader *loader, const struct source *source, const struct chain *chain,
                      struct entries *measure, struct entries *checks, bool is_main) {
  const struct toml_node *root = parse(loader, source);
  struct entries own = {0};
  if (root == NULL) {
    return false;
  }
  if (root->child_count == 0) {
    complain_at(loader, source, (struct toml_span){1, 1, 1},
                is_main ? "schema_version, name and a block" : "[measure] or [checks]",
                "the file is empty");
    return false;
  }
  struct entries *entries = is_main ? &loader->root : &own;
  entries_read(&loader->reader, source, SECTION_ROOT, root, entries);
  const struct entry *include = entries_find(entries, "include");
  if (include != NULL) {
    read_includes(loader, source, include, chain, measure, checks);
  }
  read_section(loader, source, root, SECTION_MEASURE, measure);
  read_section(loader, source, root, SECTION_CHECKS, checks);
  if (is_main) {
    require(loader, source, SECTION_ROOT, entries, (struct toml_span){1, 1, 1});
  }
  read_blocks(loader, source, root, is_main);
  return true;
}

static int by_name(const void *left, const void *right) {
  const struct block *a = *(struct block *const *)left;
  const struct block *b = *(struct block *const *)right;
  const int order = strcmp(a->name, b->name);
  const unsigned x = a->slots[0].header_span.line;
  const unsigned y = b->slots[0].header_span.line;
  return order != 0 ? order : x < y ? -1 : x > y ? 1 : 0;
}

static void check_names(struct loader *loader) {
  const size_t count = loader->block_count;
  struct block **sorted = arena_array(loader->reader.arena, count, sizeof *sorted);
  if (count == 0) {
    return;
  }
  memcpy(sorted, loader->blocks, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, by_name);
  for (size_t i = 1; i < count; i++) {
    const struct block *block = sorted[i];
    const struct entry *name = entries_find(&block->slots[0].entries, "name");
    if (block->name[0] != '\0' && strcmp(block->name, sorted[i - 1]->name) == 0) {
      complain(loader->reader.diagnostics, name->source, name->node->span,
               "a name of its own for every block", NULL,
               "the name \"%s\" is taken by the block in line %u", block->name,
               sorted[i - 1]->slots[0].header_span.line);
    }
  }
}

static void make_block(struct loader *loader, struct block *block) {
  struct reader *reader = &loader->reader;
  const struct slot *own = &block->slots[0];
  require(loader, own->source, own->section, &own->entries, own->header_span);
  kinds[block->kind].check_keys(reader, block);
  if (block_make(reader, &loader->defaults[block->kind], &loader->measure, block)) {
    rules_check_settings(reader, &loader->measure, block);
  }
}

static void make_run_settings(struct loader *loader) {
  struct run_settings *run = &loader->storage->scenario.run;
  for (size_t i = 0; i < field_count; i++) {
    union value value;
    if (fields[i].owner == OWNER_RUN && fields[i].default_text != NULL &&
        value_from_text(&fields[i], fields[i].default_text, &value)) {
      value_store(&fields[i], &value, run);
    }
  }
  for (size_t i = 0; i < loader->measure.count; i++) {
    const struct entry *entry = &loader->measure.items[i];
    if (entry->field->owner == OWNER_RUN && entry->values.count == 1) {
      value_store(entry->field, &entry->values.items[0], run);
    }
  }
}

/* One check out of NAME.want and NAME.on_fail, either of which may be absent. */
static struct check make_check(struct loader *loader, const struct entry *entry) {
  struct check check = {.kind = entry->field->check, .on_fail = ON_FAIL_WARN};
  for (size_t i = 0; i < field_count; i++) {
    const struct field *field = &fields[i];
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
      if (given == NULL) {
        complain(loader->reader.diagnostics, entry->source, entry->key_span, expected, NULL,
                 "missing \"%s\"", field->name);
      }
      continue;
    }
    if (field->words == on_fail_words) {
      check.on_fail = (enum on_fail)value.word;
    } else {
      check.want = value_text(loader->reader.arena, field, &value);
    }
  }
  return check;
}

static void make_checks(struct loader *loader) {
  struct check *checks = arena_array(loader->reader.arena, check_kind_word_count, sizeof *checks);
  size_t count = 0;
  for (size_t i = 0; i < loader->checks.count; i++) {
    const struct entry *entry = &loader->checks.items[i];
    bool known = false;
    for (size_t k = 0; k < count; k++) {
      known = known || checks[k].kind == entry->field->check;
    }
    if (!known) {
      checks[count++] = make_check(loader, entry);
    }
  }
  loader->storage->scenario.checks = checks;
  loader->storage->scenario.check_count = count;
}

static const char *root_text(const struct loader *loader, const char *key) {
  const struct entry *entry = entries_find(&loader->root, key);
  return entry != NULL && entry->values.count == 1 ? entry->values.items[0].text : "";
}

static void make_scenario(struct loader *loader, const struct scenario_override *overrides,
                          size_t override_count) {
  struct scenario *scenario = &loader->storage->scenario;
  const struct override_target target = {&loader->root, &loader->measure, &loader->checks,
                                         loader->blocks, loader->block_count};
  for (size_t i = 0; i < override_count; i++) {
    struct toml_document *document = NULL;
    override_apply(&loader->reader, &overrides[i], OVERRIDE_ORDER + (unsigned)i, &target,
                   &document);
    keep_document(loader->storage, document);
  }
  for (unsigned kind = 0; kind < block_kind_word_count; kind++) {
    kind_defaults((enum block_kind)kind, &loader->defaults[kind]);
  }
  check_names(loader);
  for (size_t i = 0; i < loader->block_count; i++) {
    make_block(loader, loader->blocks[i]);
  }
  make_run_settings(loader);
  make_checks(loader);
  scenario->name = root_text(loader, "name");
  scenario->description = root_text(loader, "description");
  scenario->blocks = (const struct block *const *)loader->blocks;
  scenario->block_count = loader->block_count;
}

/* The scenario, or NULL after complaints. */
static struct scenario *finish(struct loader *loader) {
  struct scenario *scenario = &loader->storage->scenario;
  struct diagnostics *diagnostics = loader->reader.diagnostics;
  if (diagnostics_count(diagnostics) > loader->first_complaint) {
    diagnostics_sort(diagnostics, loader->first_complaint);
    scenario_free(scenario);
    return NULL;
  }
  scenario->resolved =
      resolved_write(loader->reader.arena, scenario, &loader->measure, &loader->checks);
  return scenario;
}

static enum status load(struct loader *loader, const struct source *source,
                        const struct scenario_override *overrides, size_t override_count,
                        struct scenario **scenario) {
  const struct chain chain = {NULL, source_identity(loader->reader.arena, source->path), 0};
  loader->storage->scenario.path = source->path;
  loader->storage->scenario.text = source->text;
  if (read_file(loader, source, &chain, &loader->measure, &loader->checks, true)) {
    make_scenario(loader, overrides, override_count);
  }
  struct scenario *made = finish(loader);
  if (made == NULL) {
    return STATUS_INVALID;
  }
  *scenario = made;
  return STATUS_OK;
}

static void start(struct loader *loader, struct diagnostics *diagnostics) {
  struct storage *storage = calloc(1, sizeof *storage);
  if (storage == NULL) {
    abort(); /* as the arena does */
  }
  *loader = (struct loader){.storage = storage,
                            .reader = {&storage->arena, diagnostics},
                            .first_complaint = diagnostics_count(diagnostics),
                            .source_count = 1};
}

enum status scenario_load(const char *path, const struct scenario_override *overrides,
                          size_t override_count, struct scenario **scenario,
                          struct diagnostics *diagnostics) {
  struct loader loader;
  start(&loader, diagnostics);
  struct source *source = arena_alloc(loader.reader.arena, sizeof *source);
  struct error err = {0};
  if (source_read(loader.reader.arena, path, source, &err) != STATUS_OK) {
    complain(diagnostics, source, (struct toml_span){0}, NULL, NULL, "%s", err.message);
    (void)finish(&loader);
    return STATUS_INVALID;
  }
  source->has_lines = true;
  return load(&loader, source, overrides, override_count, scenario);
}

enum status scenario_parse(const char *text, size_t length, const char *path,
                           const struct scenario_override *overrides, size_t override_count,
                           struct scenario **scenario, struct diagnostics *diagnostics) {
  struct loader loader;
  start(&loader, diagnostics);
  struct arena *arena = loader.reader.arena;
  struct source *source = arena_alloc(arena, sizeof *source);
  source->path = arena_strdup(arena, path);
  source->text = arena_strndup(arena, text, length);
  source->length = length;
  source->has_lines = true;
  return load(&loader, source, overrides, override_count, scenario);
}
