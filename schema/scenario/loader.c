#include "schema/scenario/loader.h"

#include "engine/base/input_file.h"
#include "scenarios/scenarios.h"
#include "schema/scenario/kind.h"
#include "schema/scenario/nearest.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool source_is_shipped(const char *path) {
  return strncmp(path, SCENARIOS_PREFIX, strlen(SCENARIOS_PREFIX)) == 0;
}

enum status source_read(struct arena *arena, const char *path, bool piped, struct source *source,
                        struct error *err) {
  source->path = arena_strdup(arena, path);
  source->text = "";
  source->length = 0;
  return input_file_read(path, piped, "a scenario", SCENARIO_FILE_MAX, arena, &source->text,
                         &source->length, err);
}

/* Removes "." and "..", which cannot lead above the root. */
static char *source_normalise(struct arena *arena, const char *path) {
  char *out = arena_alloc(arena, strlen(path) + 1);
  size_t length = 0;
  while (*path != '\0') {
    const size_t part = strcspn(path, "/");
    if (part == 2 && strncmp(path, "..", 2) == 0) {
      while (length > 0 && out[--length] != '/') {
      }
    } else if (part > 0 && !(part == 1 && path[0] == '.')) {
      if (length > 0) {
        out[length++] = '/';
      }
      memcpy(out + length, path, part);
      length += part;
    }
    path += part + (path[part] == '/' ? 1 : 0);
  }
  out[length] = '\0';
  return out;
}

static const char *source_beside(struct arena *arena, const char *includer, const char *name) {
  const char *slash = strrchr(includer, '/');
  if (name[0] == '/' || slash == NULL) {
    return name;
  }
  return arena_format(arena, "%.*s/%s", (int)(slash - includer), includer, name);
}

static bool source_read_shipped(struct arena *arena, const char *path, struct source *source) {
  const char *name = source_normalise(arena, path);
  const struct embedded_file *file = name[0] == '\0' ? NULL : scenarios_find(name);
  if (file == NULL) {
    return false;
  }
  source->path = arena_format(arena, "%s%s", SCENARIOS_PREFIX, file->name);
  source->text = (const char *)file->data;
  source->length = (size_t)(file->end - file->data);
  source->has_lines = true;
  return true;
}

enum status source_read_include(struct arena *arena, const struct source *includer,
                                const char *name, struct source *source, struct error *err) {
  if (includer->recorded) {
    return error_set(err, STATUS_DENIED, "a scenario out of a database opens no file");
  }
  const char *beside = includer->has_lines ? includer->path : "";
  const char *path = source_beside(arena, beside, name);
  if (source_is_shipped(beside)) {
    if (source_read_shipped(arena, path + strlen(SCENARIOS_PREFIX), source) ||
        source_read_shipped(arena, name, source)) {
      return STATUS_OK;
    }
    return error_set(err, STATUS_NOT_FOUND, "no shipped scenario has this name");
  }
  const enum status status = source_read(arena, path, false, source, err);
  if (status == STATUS_NOT_FOUND && source_read_shipped(arena, name, source)) {
    return STATUS_OK;
  }
  return status;
}

const char *source_identity(struct arena *arena, const char *path) {
  SCOPED(memory_free) char *real = source_is_shipped(path) ? NULL : realpath(path, NULL);
  const char *identity = arena_strdup(arena, real == NULL ? path : real);
  return identity;
}

enum { INCLUDE_DEPTH_MAX = 16, INCLUDE_COUNT_MAX = 64 };

void loader_keep_document(struct storage *storage, struct toml_document *document) {
  if (document != NULL) {
    *ARENA_ADD(&storage->arena, storage->documents, storage->document_count) = document;
  }
}

static void loader_complain(struct loader *loader, struct toml_span span, const char *expected,
                            const char *message) {
  diagnostics_add(loader->reader.diagnostics, loader->reader.source, span, expected, NULL, "%s",
                  message);
}

/* NULL after a diagnostic. */
static const struct toml_node *loader_parse(struct loader *loader) {
  const struct source *source = loader->reader.source;
  struct error err = {0};
  struct toml_document *document = NULL;
  if (toml_parse(source->text, source->length, source->path, &document, &err) != STATUS_OK) {
    const struct toml_span span = {err.position.line, err.position.column, 1};
    loader_complain(loader, span, NULL, err.message);
    return NULL;
  }
  loader_keep_document(loader->storage, document);
  return toml_root(document);
}

static void loader_read_include(struct loader *loader, const struct toml_node *node,
                                const struct chain *above) {
  struct reader *reader = &loader->reader;
  const struct source *includer = reader->source;
  struct source *included = arena_alloc(reader->arena, sizeof *included);
  struct error err = {0};
  if (loader->source_count > INCLUDE_COUNT_MAX || above->depth >= INCLUDE_DEPTH_MAX) {
    loader_complain(loader, node->span, "fewer files", "too many includes");
    return;
  }
  if (source_read_include(reader->arena, includer, node->text, included, &err) != STATUS_OK) {
    diagnostics_add(reader->diagnostics, reader->source, node->span,
                    "the path of a file beside this one, or the name of a shipped scenario", NULL,
                    "include \"%s\": %s", node->text, err.message);
    return;
  }
  const struct chain chain = {above, source_identity(reader->arena, included->path),
                              above->depth + 1};
  for (const struct chain *link = above; link != NULL; link = link->above) {
    if (strcmp(link->identity, chain.identity) == 0) {
      diagnostics_add(reader->diagnostics, reader->source, node->span,
                      "a file that does not include this one", NULL,
                      "include \"%s\": circular include", node->text);
      return;
    }
  }
  included->order = loader->source_count++;
  included->has_lines = true;
  /* Mistakes are in the diagnostics. */
  reader->source = included;
  (void)loader_read_file(loader, &chain);
  reader->source = includer;
}

static void loader_read_includes(struct loader *loader, const struct entry *include,
                                 const struct chain *chain) {
  const struct toml_node *node = include->node;
  if (node->kind != TOML_ARRAY) {
    loader_complain(loader, node->span, "an array: include = [\"common/careful.toml\"]",
                    "include: expected an array of files");
    return;
  }
  for (size_t i = 0; i < node->child_count; i++) {
    if (node->children[i].kind != TOML_TEXT) {
      loader_complain(loader, node->children[i].span, "the path of a file in quotes",
                      "include: expected text");
    } else {
      loader_read_include(loader, &node->children[i], chain);
    }
  }
}

static void loader_read_section(struct loader *loader, const struct toml_node *root,
                                enum section section, struct entries *entries) {
  const struct toml_node *node = entries_section(&loader->reader, root, section);
  if (node != NULL) {
    struct entries own = {0};
    entries_read(&loader->reader, section, node, &own);
    entries_merge(&loader->reader, entries, &own);
  }
}

void loader_name_slot(struct loader *loader, struct slot *slot, size_t number) {
  if (section_row(slot->section)->parent != SECTION_ROOT) {
    const struct entry *name = entries_find(&slot->entries, "name");
    const char *key = section_row(slot->section)->key;
    slot->label = name != NULL && name->values.count == 1
                      ? arena_format(loader->reader.arena, "%s.%s", key, name->values.items[0].text)
                      : arena_format(loader->reader.arena, "%s.%zu", key, number + 1);
  }
}

void loader_name_block(struct block *block) {
  const struct entry *name = entries_find(&block->slots[0].entries, "name");
  block->name = name != NULL && name->values.count == 1 ? name->values.items[0].text : "";
}

static void loader_read_slot(struct loader *loader, const struct toml_node *node,
                             enum section section, size_t number, struct slot *slot) {
  *slot = (struct slot){
      .section = section, .source = loader->reader.source, .node = node, .header_span = node->span};
  entries_read(&loader->reader, section, node, &slot->entries);
  loader_name_slot(loader, slot, number);
}

/* Not every kind has loads, and only transfers have flows. */
static const struct toml_node *loader_get_below(struct loader *loader, const struct toml_node *node,
                                                const struct block *block, enum section section) {
  return (unsigned)section_row(section)->parent == SECTION_KIND + block->kind
             ? entries_section(&loader->reader, node, section)
             : NULL;
}

static void loader_read_block(struct loader *loader, const struct toml_node *node,
                              enum case_kind kind, struct block *block) {
  block->kind = kind;
  enum section load = SECTION_LOAD;
  const struct toml_node *loads = NULL;
  for (unsigned s = SECTION_LOAD; section_is_load((enum section)s); s++) {
    const struct toml_node *found = loader_get_below(loader, node, block, (enum section)s);
    load = found != NULL ? (enum section)s : load;
    loads = found != NULL ? found : loads;
  }
  const struct toml_node *flows = loader_get_below(loader, node, block, SECTION_FLOW);
  block->load_count = loads == NULL ? 0 : loads->child_count;
  block->flow_count = flows == NULL ? 0 : flows->child_count;
  block->slot_count = 1 + block->load_count + block->flow_count;
  block->slots = arena_array(loader->reader.arena, block->slot_count, sizeof *block->slots);
  loader_read_slot(loader, node, (enum section)(SECTION_KIND + kind), 0, &block->slots[0]);
  for (size_t i = 0; i < block->load_count; i++) {
    loader_read_slot(loader, &loads->children[i], load, i, &block->slots[1 + i]);
  }
  for (size_t i = 0; i < block->flow_count; i++) {
    loader_read_slot(loader, &flows->children[i], SECTION_FLOW, i,
                     &block->slots[1 + block->load_count + i]);
  }
  const struct entry *csv = entries_find(&block->slots[0].entries, "from_csv");
  if (csv != NULL && block->flow_count > 0) {
    loader_complain(loader, csv->key_span, "one of the two",
                    "from_csv lists the flows, and so does [[transfer.flow]]");
  }
  loader_read_csv(loader, block);
  loader_name_block(block);
}

static bool loader_stands_before(struct toml_span a, struct toml_span b) {
  return a.line != b.line ? a.line < b.line : a.column < b.column;
}

/* "a [[transfer]], [[chase]] or [[stream]]": every kind of block. */
static const char *loader_list_kinds(struct loader *loader) {
  const char *list = "a ";
  for (unsigned kind = 0; kind < case_kind_name_count; kind++) {
    const unsigned left = case_kind_name_count - 1 - kind;
    list = arena_format(loader->reader.arena, "%s%s%s", list, kinds[kind]->section.title,
                        left == 0   ? ""
                        : left == 1 ? " or "
                                    : ", ");
  }
  return list;
}

/* Blocks of all kinds in the order of the file. */
static void loader_read_blocks(struct loader *loader, const struct toml_node *root, bool is_main) {
  const struct toml_node *nodes[case_kind_name_count];
  size_t next[case_kind_name_count] = {0};
  size_t count = 0;
  bool written = false;
  for (unsigned kind = 0; kind < case_kind_name_count; kind++) {
    nodes[kind] = entries_section(&loader->reader, root, (enum section)(SECTION_KIND + kind));
    count += nodes[kind] == NULL ? 0 : nodes[kind]->child_count;
    for (size_t i = 0; i < root->child_count; i++) { /* also one that is misspelt */
      struct nearest nearest = nearest_start(root->children[i].key);
      nearest_offer(&nearest, kinds[kind]->section.key);
      written = written || nearest.word != NULL;
    }
  }
  if (!written && is_main) {
    loader_complain(loader, (struct toml_span){1, 1, 1}, loader_list_kinds(loader),
                    "nothing to measure");
  }
  loader->blocks =
      is_main ? arena_array(loader->reader.arena, count, sizeof *loader->blocks) : loader->blocks;
  for (size_t i = 0; i < count; i++) {
    unsigned first = case_kind_name_count;
    for (unsigned kind = 0; kind < case_kind_name_count; kind++) {
      if (nodes[kind] != NULL && next[kind] < nodes[kind]->child_count &&
          (first == case_kind_name_count ||
           loader_stands_before(nodes[kind]->children[next[kind]].span,
                                nodes[first]->children[next[first]].span))) {
        first = kind;
      }
    }
    const struct toml_node *node = &nodes[first]->children[next[first]++];
    if (!is_main) {
      loader_complain(loader, node->span, "only [measure] and [checks]",
                      "blocks are not allowed in an included file");
      return;
    }
    struct block *block = arena_alloc(loader->reader.arena, sizeof *block);
    loader->blocks[loader->block_count++] = block;
    loader_read_block(loader, node, (enum case_kind)first, block);
  }
}

bool loader_read_file(struct loader *loader, const struct chain *chain) {
  const bool is_main = chain->above == NULL;
  const struct toml_node *root = loader_parse(loader);
  struct entries own = {0};
  if (root == NULL) {
    return false;
  }
  if (root->child_count == 0) {
    loader_complain(loader, (struct toml_span){1, 1, 1},
                    is_main ? "schema_version, name and a block" : "[measure] or [checks]",
                    "the file is empty");
    return false;
  }
  struct entries *entries = is_main ? &loader->root : &own;
  entries_read(&loader->reader, SECTION_ROOT, root, entries);
  const struct entry *include = entries_find(entries, "include");
  if (include != NULL) {
    loader_read_includes(loader, include, chain);
  }
  loader_read_section(loader, root, SECTION_MEASURE, &loader->measure);
  loader_read_section(loader, root, SECTION_CHECKS, &loader->checks);
  if (is_main) {
    entries_require(&loader->reader, loader->reader.source, SECTION_ROOT, entries,
                    (struct toml_span){1, 1, 1});
  }
  loader_read_blocks(loader, root, is_main);
  return true;
}
