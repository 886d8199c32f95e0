#include "schema/scenario/scenario.h"

#include "schema/scenario/loader.h"
#include "schema/scenario/override.h"
#include "schema/scenario/resolved.h"
#include "schema/scenario/rules.h"

#include <stdlib.h>
#include <string.h>

ENUM_NAMES_DEFINE(block_kind, BLOCK_KIND_LIST)

enum { OVERRIDE_ORDER = 1 << 20 };

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
  loader_require(loader, own->source, own->section, &own->entries, own->header_span);
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
    if (field->words == on_fail_names) {
      check.on_fail = (enum on_fail)value.word;
    } else {
      check.want = value_text(loader->reader.arena, field, &value);
    }
  }
  return check;
}

static void make_checks(struct loader *loader) {
  struct check *checks = arena_array(loader->reader.arena, check_kind_name_count, sizeof *checks);
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
    loader_keep_document(loader->storage, document);
  }
  for (unsigned kind = 0; kind < block_kind_name_count; kind++) {
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
  if (loader_read_file(loader, source, &chain, &loader->measure, &loader->checks, true)) {
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
