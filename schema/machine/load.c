#include "schema/machine/machine_file.h"

#include "engine/base/input_file.h"
#include "engine/machine/machine.h"
#include "schema/toml/toml.h"

#include <inttypes.h>

struct machine_loader {
  const char *path;
  struct machine *machine;
  struct error *err;
};

/* The one place where a mistake gets its position. */
static enum status machine_refuse(const struct machine_loader *loader, struct toml_span span,
                                  const char *format, ...) __attribute__((format(printf, 3, 4)));
static enum status machine_refuse(const struct machine_loader *loader, struct toml_span span,
                                  const char *format, ...) {
  va_list args;
  va_start(args, format);
  enum status status = error_vset(loader->err, STATUS_INVALID, 0, format, args);
  va_end(args);
  if (loader->err != NULL) {
    loader->err->position =
        (struct position){.file = loader->path, .line = span.line, .column = span.column};
  }
  return status;
}

static enum status machine_want_kind(const struct machine_loader *loader,
                                     const struct toml_node *node, enum toml_kind kind,
                                     const char *what) {
  return node->kind == kind ? STATUS_OK
                            : machine_refuse(loader, node->span, "%s: expected %s, found %s", what,
                                             toml_kind_text(kind), toml_kind_text(node->kind));
}

static enum toml_kind machine_key_kind(enum key_type type) {
  switch (type) {
  case KEY_TEXT:
    return TOML_TEXT;
  case KEY_BOOL:
    return TOML_BOOLEAN;
  case KEY_I32:
  case KEY_U32:
  case KEY_U64:
    return TOML_INTEGER;
  }
  return TOML_TABLE;
}

void machine_key_set_text(void *object, const struct key *key, const char *text) {
  (void)snprintf((char *)object + key->offset, key->size, "%s", text);
}

void machine_key_set_number(void *object, const struct key *key, int64_t value) {
  void *member = (char *)object + key->offset;
  switch (key->type) {
  case KEY_TEXT:
    break;
  case KEY_BOOL:
    *(bool *)member = value > 0; /* -1: not known */
    break;
  case KEY_I32:
    *(int32_t *)member = (int32_t)value;
    break;
  case KEY_U32:
    *(uint32_t *)member = (uint32_t)value;
    break;
  case KEY_U64:
    *(uint64_t *)member = (uint64_t)value;
    break;
  }
}

static enum status machine_store(const struct machine_loader *loader, const struct toml_node *node,
                                 const struct key *key, void *object) {
  RETURN_ON_ERROR(machine_want_kind(loader, node, machine_key_kind(key->type), key->name));
  if (key->type == KEY_TEXT) {
    if (strlen(node->text) >= key->size) {
      return machine_refuse(loader, node->span, "%s: expected text of at most %zu bytes", key->name,
                            key->size - 1);
    }
    machine_key_set_text(object, key, node->text);
  } else if (key->type == KEY_BOOL) {
    machine_key_set_number(object, key, node->boolean);
  } else if (node->integer < key->min || node->integer > key->max) {
    return machine_refuse(loader, node->span,
                          "%s: %" PRId64 " is not between %" PRId64 " and %" PRId64, key->name,
                          node->integer, key->min, key->max);
  } else {
    machine_key_set_number(object, key, node->integer);
  }
  return STATUS_OK;
}

static const struct key *machine_find_key(const struct key *keys, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(keys[i].name, name) == 0) {
      return &keys[i];
    }
  }
  return NULL;
}

/* Numbers that the file leaves out are "not known". */
static void machine_set_defaults(void *object, const struct key *keys, size_t count) {
  for (size_t i = 0; i < count; i++) {
    int64_t value = keys[i].absent < keys[i].min ? 0 : keys[i].absent;
    machine_key_set_number(object, &keys[i], value);
  }
}

/* Fill an object from a table. `others` (NULL-terminated) are keys that the caller reads. */
static enum status machine_load_keys(const struct machine_loader *loader,
                                     const struct toml_node *table, const struct key *keys,
                                     size_t count, const char *const *others, void *object,
                                     const char *what) {
  machine_set_defaults(object, keys, count);
  for (size_t i = 0; i < table->child_count; i++) {
    const struct toml_node *child = &table->children[i];
    const struct key *key = machine_find_key(keys, count, child->key);
    bool other = false;
    for (const char *const *name = others; *name != NULL; name++) {
      other = other || strcmp(*name, child->key) == 0;
    }
    if (key == NULL && !other) {
      return machine_refuse(loader, child->key_span, "unknown key \"%s\" in %s", child->key, what);
    }
    enum status status = key == NULL ? STATUS_OK : machine_store(loader, child, key, object);
    RETURN_ON_ERROR(status);
  }
  for (size_t i = 0; i < count; i++) {
    if (keys[i].required && toml_get(table, keys[i].name) == NULL) {
      return machine_refuse(loader, table->span, "missing key \"%s\" in %s", keys[i].name, what);
    }
  }
  return STATUS_OK;
}

/* "value", or { unavailable = "why" }, or { denied = "why" }. */
static enum status machine_load_fact(const struct machine_loader *loader,
                                     const struct toml_node *node, int32_t gpu) {
  enum fact_state state = FACT_OK;
  const struct toml_node *text = node;
  if (node->kind == TOML_TABLE) {
    if (node->child_count != 1 || !fact_state_parse(node->children[0].key, &state)) {
      return machine_refuse(
          loader, node->span,
          "fact %s: expected text, { unavailable = \"why\" } or { denied = \"why\" }", node->key);
    }
    text = &node->children[0];
  }
  RETURN_ON_ERROR(machine_want_kind(loader, text, TOML_TEXT, node->key));
  if (strlen(node->key) >= FACT_NAME_MAX) {
    return machine_refuse(loader, node->key_span, "the name of a fact has at most %d bytes",
                          FACT_NAME_MAX - 1);
  }
  if (loader->machine->fact_count == MACHINE_FACTS_MAX) {
    return machine_refuse(loader, node->key_span, "more than %d facts", MACHINE_FACTS_MAX);
  }
  machine_add_fact(loader->machine, node->key, gpu, state, "%s", text->text);
  return STATUS_OK;
}

static enum status machine_load_facts(const struct machine_loader *loader,
                                      const struct toml_node *table, int32_t gpu) {
  if (table == NULL) {
    return STATUS_OK;
  }
  enum status status = machine_want_kind(loader, table, TOML_TABLE, "facts");
  for (size_t i = 0; status == STATUS_OK && i < table->child_count; i++) {
    status = machine_load_fact(loader, &table->children[i], gpu);
  }
  return status;
}

/* An array of tables of at most max; *count is set. */
static enum status machine_want_tables(const struct machine_loader *loader,
                                       const struct toml_node *array, const char *what, size_t max,
                                       uint32_t *count) {
  *count = 0;
  if (array == NULL) {
    return STATUS_OK;
  }
  enum status status = machine_want_kind(loader, array, TOML_ARRAY, what);
  for (size_t i = 0; status == STATUS_OK && i < array->child_count; i++) {
    status = machine_want_kind(loader, &array->children[i], TOML_TABLE, what);
  }
  if (status == STATUS_OK && array->child_count > max) {
    return machine_refuse(loader, array->children[max].span, "more than %zu [[%s]] tables", max,
                          what);
  }
  *count = (uint32_t)array->child_count;
  return status;
}

static enum status machine_load_distance(const struct machine_loader *loader,
                                         const struct toml_node *table, uint32_t from) {
  const struct toml_node *row = toml_get(table, "distance");
  struct machine *machine = loader->machine;
  if (row == NULL) {
    return STATUS_OK;
  }
  enum status status = machine_want_kind(loader, row, TOML_ARRAY, "distance");
  if (status == STATUS_OK && row->child_count != machine->node_count) {
    return machine_refuse(loader, row->span,
                          "distance: expected %u numbers, one for each node, found %zu",
                          machine->node_count, row->child_count);
  }
  for (uint32_t to = 0; status == STATUS_OK && to < machine->node_count; to++) {
    const struct toml_node *cell = &row->children[to];
    status = machine_want_kind(loader, cell, TOML_INTEGER, "distance");
    if (status == STATUS_OK && (cell->integer < 0 || cell->integer > UINT8_MAX)) {
      return machine_refuse(loader, cell->span, "distance: %" PRId64 " is not between 0 and 255",
                            cell->integer);
    }
    if (status == STATUS_OK) {
      machine->node_distance[from][to] = (uint8_t)cell->integer;
    }
  }
  return status;
}

static enum status machine_load_nodes(const struct machine_loader *loader,
                                      const struct toml_node *array) {
  static const char *const OTHERS[] = {"distance", NULL};
  struct machine *machine = loader->machine;
  enum status status =
      machine_want_tables(loader, array, "numa_node", MACHINE_NODES_MAX, &machine->node_count);
  for (uint32_t i = 0; status == STATUS_OK && i < machine->node_count; i++) {
    const struct toml_node *table = &array->children[i];
    struct numa_node *node = &machine->nodes[i];
    status =
        machine_load_keys(loader, table, NODE_KEYS, NODE_KEY_COUNT, OTHERS, node, "[[numa_node]]");
    if (status == STATUS_OK && machine_node_index(machine, node->number) != (int)i) {
      return machine_refuse(loader, table->span, "duplicate NUMA node %d", node->number);
    }
    status = THEN(status, machine_load_distance(loader, table, i));
  }
  return status;
}

/* Ascending order gives a GPU the same number as everywhere else. */
static enum status machine_check_address(const struct machine_loader *loader,
                                         const struct toml_node *table, uint32_t i) {
  struct gpu *gpus = loader->machine->gpus;
  struct toml_span span = toml_get(table, "pci_address")->span;
  if (!machine_normalise_pci(gpus[i].pci_address, gpus[i].pci_address)) {
    return machine_refuse(loader, span,
                          "pci_address: expected an address such as \"0000:06:00.0\"");
  }
  if (i > 0 && machine_compare_pci(gpus[i - 1].pci_address, gpus[i].pci_address) >= 0) {
    return machine_refuse(loader, span,
                          "pci_address: GPUs must be in ascending order of their addresses");
  }
  return STATUS_OK;
}

static enum status machine_check_node(const struct machine_loader *loader,
                                      const struct toml_node *table, uint32_t i) {
  int32_t number = loader->machine->gpus[i].numa_node;
  if (number >= 0 && machine_node_index(loader->machine, number) < 0) {
    return machine_refuse(loader, toml_get(table, "numa_node")->span, "there is no NUMA node %d",
                          number);
  }
  return STATUS_OK;
}

static enum status machine_load_gpus(const struct machine_loader *loader,
                                     const struct toml_node *array) {
  static const char *const OTHERS[] = {"facts", NULL};
  struct machine *machine = loader->machine;
  enum status status =
      machine_want_tables(loader, array, "gpu", MACHINE_GPUS_MAX, &machine->gpu_count);
  for (uint32_t i = 0; status == STATUS_OK && i < machine->gpu_count; i++) {
    const struct toml_node *table = &array->children[i];
    status = machine_load_keys(loader, table, GPU_KEYS, GPU_KEY_COUNT, OTHERS, &machine->gpus[i],
                               "[[gpu]]");
    status = THEN(status, machine_check_address(loader, table, i));
    status = THEN(status, machine_check_node(loader, table, i));
    status = THEN(status, machine_load_facts(loader, toml_get(table, "facts"), (int32_t)i));
  }
  return status;
}

static enum status machine_want_row(const struct machine_loader *loader,
                                    const struct toml_node *array, const char *what) {
  enum status status = machine_want_kind(loader, array, TOML_ARRAY, what);
  uint32_t count = loader->machine->gpu_count;
  if (status == STATUS_OK && array->child_count != count) {
    return machine_refuse(loader, array->span,
                          "%s: expected %u values, one for each GPU, found %zu", what, count,
                          array->child_count);
  }
  return status;
}

static enum status machine_load_matrix(const struct machine_loader *loader,
                                       const struct toml_node *matrix, const struct key *key) {
  enum status status = machine_want_row(loader, matrix, key->name);
  for (uint32_t from = 0; status == STATUS_OK && from < loader->machine->gpu_count; from++) {
    const struct toml_node *row = &matrix->children[from];
    status = machine_want_row(loader, row, key->name);
    for (uint32_t to = 0; status == STATUS_OK && to < loader->machine->gpu_count; to++) {
      status = machine_store(loader, &row->children[to], key, &loader->machine->links[from][to]);
    }
  }
  return status;
}

static enum status machine_load_links(const struct machine_loader *loader,
                                      const struct toml_node *table) {
  if (table == NULL) {
    return STATUS_OK;
  }
  enum status status = machine_want_kind(loader, table, TOML_TABLE, "links");
  for (size_t i = 0; status == STATUS_OK && i < table->child_count; i++) {
    const struct toml_node *child = &table->children[i];
    const struct key *key = machine_find_key(LINK_KEYS, LINK_KEY_COUNT, child->key);
    status = key == NULL ? machine_refuse(loader, child->key_span, "unknown key \"%s\" in [links]",
                                          child->key)
                         : machine_load_matrix(loader, child, key);
  }
  return status;
}

static enum status machine_check_top(const struct machine_loader *loader,
                                     const struct toml_node *root) {
  static const char *const TOP[] = {"format", "machine", "facts", "numa_node",
                                    "gpu",    "links",   "fake",  NULL};
  RETURN_ON_ERROR(machine_load_keys(loader, root, NULL, 0, TOP, NULL, "a machine file"));
  const struct toml_node *format = toml_get(root, "format");
  const struct toml_node *machine = toml_get(root, "machine");
  struct toml_span start = {.line = 1, .column = 1, .width = 1};
  if (format == NULL || format->kind != TOML_INTEGER || format->integer != MACHINE_FILE_FORMAT) {
    return machine_refuse(loader, format == NULL ? start : format->span,
                          "expected \"format = %d\" in a machine file", MACHINE_FILE_FORMAT);
  }
  if (machine == NULL) {
    return machine_refuse(loader, start, "missing table [machine] in a machine file");
  }
  return machine_want_kind(loader, machine, TOML_TABLE, "machine");
}

static enum status machine_load_root(const struct machine_loader *loader,
                                     const struct toml_node *root) {
  static const char *const NO_OTHERS[] = {NULL};
  enum status status = machine_check_top(loader, root);
  status =
      THEN(status, machine_load_keys(loader, toml_get(root, "machine"), MACHINE_KEYS,
                                     MACHINE_KEY_COUNT, NO_OTHERS, loader->machine, "[machine]"));
  status = THEN(status, machine_load_facts(loader, toml_get(root, "facts"), -1));
  status = THEN(status, machine_load_nodes(loader, toml_get(root, "numa_node")));
  status = THEN(status, machine_load_gpus(loader, toml_get(root, "gpu")));
  return THEN(status, machine_load_links(loader, toml_get(root, "links")));
}

enum status machine_file_parse(const char *text, size_t length, const char *path,
                               struct machine *machine, struct error *err) {
  struct toml_document *document = NULL;
  if (toml_parse(text, length, path, &document, err) != STATUS_OK) {
    return error_prefix(err, "not a valid machine file (haul env --save FILE writes one): ");
  }
  memset(machine, 0, sizeof *machine);
  (void)snprintf(machine->source, sizeof machine->source, "%s", path);
  struct machine_loader loader = {.path = path, .machine = machine, .err = err};
  enum status status = machine_load_root(&loader, toml_root(document));
  toml_free(document);
  return status;
}

enum status machine_file_load(const char *path, struct machine *machine, struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  const char *text = NULL;
  size_t length = 0;
  const enum status status =
      input_file_read(path, true, "a machine file", MACHINE_FILE_MAX, &arena, &text, &length, err);
  return status == STATUS_OK
             ? machine_file_parse(text, length, path, machine, err)
             : error_prefix(
                   err, "cannot read the machine file %s, which haul env --save writes: ", path);
}
