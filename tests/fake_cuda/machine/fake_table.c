/* Reads the [fake] table of a TOML file; README.md documents its keys. */
#include "tests/fake_cuda/machine/config.h"

#include "schema/toml/toml.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

ENUM_NAMES_DEFINE(fake_speed, FAKE_SPEED_LIST)

enum { FILE_MAX = 4 << 20 };

struct reader {
  const char *path;
  struct fake_config *config;
  struct error *err;
};

static enum status refuse(const struct reader *reader, const struct toml_node *node,
                          const char *format, ...) __attribute__((format(printf, 3, 4)));
static enum status refuse(const struct reader *reader, const struct toml_node *node,
                          const char *format, ...) {
  va_list args;
  va_start(args, format);
  enum status status = error_vset(reader->err, STATUS_INVALID, 0, format, args);
  va_end(args);
  if (reader->err != NULL) {
    reader->err->position = (struct position){reader->path, node->span.line, node->span.column};
  }
  return status;
}

static enum status read_number(const struct reader *reader, const struct toml_node *node,
                               double lowest, double *value) {
  double number = 0;
  if (node->kind == TOML_INTEGER) {
    number = (double)node->integer;
  } else if (node->kind == TOML_NUMBER) {
    number = node->number;
  } else {
    return refuse(reader, node, "a number is wanted");
  }
  if (!isfinite(number) || number < lowest) {
    return refuse(reader, node, "a number of at least %g is wanted", lowest);
  }
  *value = number;
  return STATUS_OK;
}

static enum status read_count(const struct reader *reader, const struct toml_node *node,
                              uint64_t *value) {
  if (node->kind != TOML_INTEGER || node->integer < 0) {
    return refuse(reader, node, "a whole number is wanted");
  }
  *value = (uint64_t)node->integer;
  return STATUS_OK;
}

static enum status read_text(const struct reader *reader, const struct toml_node *node, char *text,
                             size_t size) {
  if (node->kind != TOML_TEXT || strlen(node->text) >= size) {
    return refuse(reader, node, "text of at most %zu bytes is wanted", size - 1);
  }
  (void)snprintf(text, size, "%s", node->text);
  return STATUS_OK;
}

/* A GPU's number, "host" or "*". */
static enum status read_place(const struct reader *reader, const struct toml_node *node,
                              int32_t *place) {
  if (node->kind == TOML_INTEGER && node->integer >= 0 && node->integer < MACHINE_GPUS_MAX) {
    *place = (int32_t)node->integer;
    return STATUS_OK;
  }
  if (node->kind == TOML_TEXT && strcmp(node->text, "host") == 0) {
    *place = PLACE_HOST;
    return STATUS_OK;
  }
  if (node->kind == TOML_TEXT && strcmp(node->text, "*") == 0) {
    *place = PLACE_ANY;
    return STATUS_OK;
  }
  return refuse(reader, node, "a GPU's number, \"host\" or \"*\" is wanted");
}

static enum status unknown(const struct reader *reader, const struct toml_node *node) {
  return refuse(reader, node, "unknown key \"%s\" in [fake]", node->key);
}

static enum status read_speeds(const struct reader *reader, const struct toml_node *table) {
  for (size_t i = 0; i < table->child_count; i++) {
    const struct toml_node *node = &table->children[i];
    enum fake_speed speed;
    if (!fake_speed_parse(node->key, &speed)) {
      return unknown(reader, node);
    }
    enum status status = read_number(reader, node, 1, &reader->config->speeds[speed]);
    if (status != STATUS_OK) {
      return status;
    }
  }
  return STATUS_OK;
}

static enum status read_noise(const struct reader *reader, const struct toml_node *table) {
  enum status status = STATUS_OK;
  for (size_t i = 0; status == STATUS_OK && i < table->child_count; i++) {
    const struct toml_node *node = &table->children[i];
    if (strcmp(node->key, "seed") == 0) {
      status = read_count(reader, node, &reader->config->seed);
    } else if (strcmp(node->key, "within") == 0) {
      status = read_number(reader, node, 0, &reader->config->noise_within);
    } else if (strcmp(node->key, "between") == 0) {
      status = read_number(reader, node, 0, &reader->config->noise_between);
    } else {
      status = unknown(reader, node);
    }
  }
  return status;
}

static enum status read_link(const struct reader *reader, const struct toml_node *table) {
  if (reader->config->link_count == FAKE_LINKS_MAX) {
    return refuse(reader, table, "more than %d links", FAKE_LINKS_MAX);
  }
  struct link_factor link = {PLACE_ANY, PLACE_ANY, 0};
  enum status status = STATUS_OK;
  for (size_t i = 0; status == STATUS_OK && i < table->child_count; i++) {
    const struct toml_node *node = &table->children[i];
    if (strcmp(node->key, "from") == 0) {
      status = read_place(reader, node, &link.from);
    } else if (strcmp(node->key, "to") == 0) {
      status = read_place(reader, node, &link.to);
    } else if (strcmp(node->key, "factor") == 0) {
      status = read_number(reader, node, 1e-6, &link.factor);
    } else {
      status = unknown(reader, node);
    }
  }
  if (status == STATUS_OK && link.factor <= 0) {
    return refuse(reader, table, "a link needs a factor");
  }
  reader->config->links[reader->config->link_count++] = link;
  return status;
}

static enum status read_integer(const struct reader *reader, const struct toml_node *node,
                                int32_t *value) {
  if (node->kind != TOML_INTEGER || node->integer < 1 || node->integer > 999) {
    return refuse(reader, node, "a number between 1 and 999 is wanted");
  }
  *value = (int32_t)node->integer;
  return STATUS_OK;
}

static enum status read_kind(const struct reader *reader, const struct toml_node *node,
                             enum fault_kind *kind) {
  if (node->kind != TOML_TEXT || !fault_kind_parse(node->text, kind)) {
    return refuse(reader, node, "no such kind of fault");
  }
  return STATUS_OK;
}

static enum status read_fault_key(const struct reader *reader, const struct toml_node *node,
                                  struct fault *fault) {
  const char *key = node->key;
  if (strcmp(key, "kind") == 0) {
    return read_kind(reader, node, &fault->kind);
  }
  if (strcmp(key, "call") == 0) {
    return read_text(reader, node, fault->call, sizeof fault->call);
  }
  if (strcmp(key, "marker") == 0) {
    return read_text(reader, node, fault->marker, sizeof fault->marker);
  }
  if (strcmp(key, "gpu") == 0) {
    return read_place(reader, node, &fault->gpu);
  }
  if (strcmp(key, "from") == 0) {
    return read_place(reader, node, &fault->from);
  }
  if (strcmp(key, "to") == 0) {
    return read_place(reader, node, &fault->to);
  }
  if (strcmp(key, "code") == 0) {
    return read_integer(reader, node, &fault->code);
  }
  if (strcmp(key, "signal") == 0) {
    return read_integer(reader, node, &fault->signal);
  }
  const struct {
    const char *name;
    uint64_t *value;
  } counts[] = {{"nth", &fault->nth},
                {"count", &fault->count},
                {"size_bytes", &fault->size_bytes},
                {"offset", &fault->offset},
                {"milliseconds", &fault->milliseconds}};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    if (strcmp(key, counts[i].name) == 0) {
      return read_count(reader, node, counts[i].value);
    }
  }
  return unknown(reader, node);
}

static enum status read_fault(const struct reader *reader, const struct toml_node *table) {
  if (reader->config->fault_count == FAKE_FAULTS_MAX) {
    return refuse(reader, table, "more than %d faults", FAKE_FAULTS_MAX);
  }
  struct fault *fault = &reader->config->faults[reader->config->fault_count];
  *fault = (struct fault){.kind = fault_kind_name_count,
                          .nth = 1,
                          .count = 1,
                          .gpu = PLACE_ANY,
                          .from = PLACE_ANY,
                          .to = PLACE_ANY,
                          .code = 700, /* CUDA_ERROR_ILLEGAL_ADDRESS */
                          .signal = SIGKILL};
  for (size_t i = 0; i < table->child_count; i++) {
    enum status status = read_fault_key(reader, &table->children[i], fault);
    if (status != STATUS_OK) {
      return status;
    }
  }
  if (fault->kind == fault_kind_name_count || fault->call[0] == '\0' || fault->nth == 0) {
    return refuse(reader, table, "a fault needs a kind, a call, and nth from 1 on");
  }
  reader->config->fault_count++;
  return STATUS_OK;
}

static enum status read_each(const struct reader *reader, const struct toml_node *array,
                             enum status (*read)(const struct reader *, const struct toml_node *)) {
  if (array->kind != TOML_ARRAY) {
    return refuse(reader, array, "an array of tables is wanted");
  }
  enum status status = STATUS_OK;
  for (size_t i = 0; status == STATUS_OK && i < array->child_count; i++) {
    status = array->children[i].kind == TOML_TABLE
                 ? read(reader, &array->children[i])
                 : refuse(reader, &array->children[i], "a table is wanted");
  }
  return status;
}

static enum status read_clock(const struct reader *reader, const struct toml_node *node) {
  bool real = node->kind == TOML_TEXT && strcmp(node->text, "real") == 0;
  if (!real && (node->kind != TOML_TEXT || strcmp(node->text, "virtual") != 0)) {
    return refuse(reader, node, "\"virtual\" or \"real\" is wanted");
  }
  reader->config->real_clock = real;
  return STATUS_OK;
}

static void replace_fact(struct machine *machine, const char *name, const char *value) {
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    struct fact *fact = &machine->facts[i];
    if (fact->gpu < 0 && strcmp(fact->name, name) == 0) {
      fact->state = FACT_OK;
      (void)snprintf(fact->value, sizeof fact->value, "%s", value);
      return;
    }
  }
  machine_add_fact(machine, name, -1, FACT_OK, "%s", value);
}

static enum status read_driver_version(const struct reader *reader, const struct toml_node *node) {
  char version[MACHINE_TEXT_MAX];
  enum status status = read_text(reader, node, version, sizeof version);
  if (status == STATUS_OK) {
    replace_fact(&reader->config->machine, "driver_version", version);
  }
  return status;
}

static enum status read_cuda_version(const struct reader *reader, const struct toml_node *node) {
  uint64_t version = 0;
  enum status status = read_count(reader, node, &version);
  if (status == STATUS_OK && (version < 11000 || version > 99999)) {
    return refuse(reader, node, "a version like 12040 is wanted");
  }
  reader->config->machine.driver_cuda_version = (int32_t)version;
  return status;
}

static enum status read_key(const struct reader *reader, const struct toml_node *node) {
  const char *key = node->key;
  if (strcmp(key, "clock") == 0) {
    return read_clock(reader, node);
  }
  if (strcmp(key, "driver_version") == 0) {
    return read_driver_version(reader, node);
  }
  if (strcmp(key, "cuda_version") == 0) {
    return read_cuda_version(reader, node);
  }
  if (strcmp(key, "operation_ns") == 0) {
    return read_number(reader, node, 0, &reader->config->operation_ns);
  }
  if (strcmp(key, "sm_factor") == 0) {
    return read_number(reader, node, 1e-6, &reader->config->sm_factor);
  }
  if (strcmp(key, "throttle_reasons") == 0) {
    return read_count(reader, node, &reader->config->throttle_reasons);
  }
  if (strcmp(key, "link") == 0) {
    return read_each(reader, node, read_link);
  }
  if (strcmp(key, "fault") == 0) {
    return read_each(reader, node, read_fault);
  }
  if (strcmp(key, "speeds") == 0 && node->kind == TOML_TABLE) {
    return read_speeds(reader, node);
  }
  if (strcmp(key, "noise") == 0 && node->kind == TOML_TABLE) {
    return read_noise(reader, node);
  }
  return unknown(reader, node);
}

static enum status read_root(const struct reader *reader, const struct toml_node *root,
                             bool alone) {
  for (size_t i = 0; i < root->child_count; i++) {
    const struct toml_node *child = &root->children[i];
    bool fake = strcmp(child->key, "fake") == 0;
    if (fake && child->kind != TOML_TABLE) {
      return refuse(reader, child, "[fake] is a table");
    }
    if (!fake && alone) {
      return refuse(reader, child, "only [fake] may stand in this file");
    }
    for (size_t k = 0; fake && k < child->child_count; k++) {
      enum status status = read_key(reader, &child->children[k]);
      if (status != STATUS_OK) {
        return status;
      }
    }
  }
  return STATUS_OK;
}

static enum status read_file(const char *path, char **text, size_t *length, struct error *err) {
  FILE *file = fopen(path, "re");
  if (file == NULL) {
    return error_set_errno(err, errno, "%s", path);
  }
  *text = malloc(FILE_MAX);
  *length = *text == NULL ? 0 : fread(*text, 1, FILE_MAX, file);
  bool good = *text != NULL && ferror(file) == 0 && *length < FILE_MAX;
  (void)fclose(file);
  if (!good) {
    free(*text);
    (void)error_set(err, STATUS_IO, "%s: cannot be read, or too long", path);
    return STATUS_IO;
  }
  return STATUS_OK;
}

enum status fake_table_load(const char *path, bool alone, struct fake_config *config,
                            struct error *err) {
  char *text = NULL;
  size_t length = 0;
  enum status status = read_file(path, &text, &length, err);
  if (status != STATUS_OK) {
    return status;
  }
  struct toml_document *document = NULL;
  status = toml_parse(text, length, path, &document, err);
  if (status == STATUS_OK) {
    struct reader reader = {path, config, err};
    status = read_root(&reader, toml_root(document), alone);
    toml_free(document);
  }
  free(text);
  return status;
}
