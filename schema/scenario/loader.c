#include "schema/scenario/loader.h"

#include <string.h>

enum { INCLUDE_DEPTH_MAX = 16, INCLUDE_COUNT_MAX = 64 };

void loader_keep_document(struct storage *storage, struct toml_document *document) {
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
  loader_keep_document(loader->storage, document);
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
  /* It complains itself. */
  (void)loader_read_file(loader, included, &chain, measure, checks, false);
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
  const struct toml_node *nodes[block_kind_name_count];
  size_t next[block_kind_name_count] = {0};
  size_t count = 0;
  bool written = false;
  for (unsigned kind = 0; kind < block_kind_name_count; kind++) {
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
    unsigned first = block_kind_name_count;
    for (unsigned kind = 0; kind < block_kind_name_count; kind++) {
      if (nodes[kind] != NULL && next[kind] < nodes[kind]->child_count &&
          (first == block_kind_name_count ||
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

void loader_require(struct loader *loader, const struct source *source, enum section section,
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

bool loader_read_file(struct loader *loader, const struct source *source, const struct chain *chain,
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
    loader_require(loader, source, SECTION_ROOT, entries, (struct toml_span){1, 1, 1});
  }
  read_blocks(loader, source, root, is_main);
  return true;
}
