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

/* A key of a table, and where its value goes. */
struct key {
  const char *name;
  enum status (*read)(const struct reader *reader, const struct toml_node *node,
                      const struct key *key);
  void *target; /* of the type that read() says */
  double limit; /* the least number; of a text its size */
};

/* target: double */
static enum status read_number(const struct reader *reader, const struct toml_node *node,
                               const struct key *key) {
  bool integer = node->kind == TOML_INTEGER;
  double number = integer ? (double)node->integer : node->number;
  if ((!integer && node->kind != TOML_NUMBER) || !isfinite(number) || number < key->limit) {
    return refuse(reader, node, "expected a number of at least %g", key->limit);
  }
  *(double *)key->target = number;
  return STATUS_OK;
}

/* Of a speed that something slows; target: double */
static enum status read_slower(const struct reader *reader, const struct toml_node *node,
                               const struct key *key) {
  if (read_number(reader, node, key) != STATUS_OK || *(double *)key->target > 1) {
    return refuse(reader, node, "expected a factor from %g to 1: it multiplies the speed",
                  key->limit);
  }
  return STATUS_OK;
}

/* target: uint64_t */
static enum status read_count(const struct reader *reader, const struct toml_node *node,
                              const struct key *key) {
  if (node->kind != TOML_INTEGER || node->integer < 0) {
    return refuse(reader, node, "expected a whole number");
  }
  *(uint64_t *)key->target = (uint64_t)node->integer;
  return STATUS_OK;
}

/* A code or a signal; target: int32_t */
static enum status read_code(const struct reader *reader, const struct toml_node *node,
                             const struct key *key) {
  if (node->kind != TOML_INTEGER || node->integer < 1 || node->integer > 999) {
    return refuse(reader, node, "expected a number between 1 and 999");
  }
  *(int32_t *)key->target = (int32_t)node->integer;
  return STATUS_OK;
}

/* target: char[limit] */
static enum status read_text(const struct reader *reader, const struct toml_node *node,
                             const struct key *key) {
  size_t size = (size_t)key->limit;
  if (node->kind != TOML_TEXT || strlen(node->text) >= size) {
    return refuse(reader, node, "expected text of at most %zu bytes", size - 1);
  }
  (void)snprintf(key->target, size, "%s", node->text);
  return STATUS_OK;
}

/* A GPU's number, "host" or "*"; target: int32_t */
static enum status read_place(const struct reader *reader, const struct toml_node *node,
                              const struct key *key) {
  int32_t *place = key->target;
  if (node->kind == TOML_INTEGER && node->integer >= 0 && node->integer < MACHINE_GPUS_MAX) {
    *place = (int32_t)node->integer;
  } else if (node->kind == TOML_TEXT && strcmp(node->text, "host") == 0) {
    *place = PLACE_HOST;
  } else if (node->kind == TOML_TEXT && strcmp(node->text, "*") == 0) {
    *place = PLACE_ANY;
  } else {
    return refuse(reader, node, "expected a GPU's number, \"host\" or \"*\"");
  }
  return STATUS_OK;
}

static enum status refuse_key(const struct reader *reader, const struct toml_node *node,
                              const char *name, const struct key *keys, size_t key_count) {
  char known[512] = "";
  for (size_t k = 0, length = 0; k < key_count && length < sizeof known; k++) {
    const int added =
        snprintf(known + length, sizeof known - length, "%s%s", k > 0 ? ", " : "", keys[k].name);
    length += (size_t)added;
  }
  return refuse(reader, node, "unknown key \"%s\" in %s, which has: %s", node->key, name, known);
}

/* name: of the table, as people write it */
static enum status read_keys(const struct reader *reader, const struct toml_node *table,
                             const char *name, const struct key *keys, size_t key_count) {
  if (table->kind != TOML_TABLE) {
    return refuse(reader, table, "expected a table");
  }
  enum status status = STATUS_OK;
  for (size_t i = 0; status == STATUS_OK && i < table->child_count; i++) {
    const struct toml_node *node = &table->children[i];
    size_t k = 0;
    while (k < key_count && strcmp(keys[k].name, node->key) != 0) {
      k++;
    }
    status = k < key_count ? keys[k].read(reader, node, &keys[k])
                           : refuse_key(reader, node, name, keys, key_count);
  }
  return status;
}
#define READ_KEYS(reader, table, name, keys)                                                       \
  read_keys(reader, table, name, keys, sizeof(keys) / sizeof(*(keys)))

static enum status read_speeds(const struct reader *reader, const struct toml_node *table,
                               const struct key *key) {
  struct key keys[fake_speed_name_count];
  for (int i = 0; i < (int)fake_speed_name_count; i++) {
    keys[i] = (struct key){fake_speed_text((enum fake_speed)i), read_number,
                           &reader->config->speeds[i], 1};
  }
  return READ_KEYS(reader, table, "[fake.speeds]", keys);
}

/* What an array of tables fills: read() reads the element of number *count. */
struct elements {
  const char *name;
  uint32_t *count, most;
  enum status (*read)(const struct reader *reader, const struct toml_node *table);
};

/* target: struct elements */
static enum status read_each(const struct reader *reader, const struct toml_node *array,
                             const struct key *key) {
  const struct elements *elements = key->target;
  if (array->kind != TOML_ARRAY) {
    return refuse(reader, array, "expected an array of tables");
  }
  for (size_t i = 0; i < array->child_count; i++) {
    if (*elements->count == elements->most) {
      return refuse(reader, &array->children[i], "more than %" PRIu32 " %s", elements->most,
                    elements->name);
    }
    const enum status status = elements->read(reader, &array->children[i]);
    ++*elements->count; /* one that is wrong, too, so that it is freed */
    RETURN_ON_ERROR(status);
  }
  return STATUS_OK;
}

/* [at, length, factor], in ms; target: struct fake_disturbance */
static enum status read_episodes(const struct reader *reader, const struct toml_node *node,
                                 const struct key *key) {
  struct fake_disturbance *disturbance = key->target;
  double end = 0;
  enum status status = STATUS_OK;
  for (size_t i = 0; node->kind == TOML_ARRAY && status == STATUS_OK && i < node->child_count;
       i++) {
    const struct toml_node *row = &node->children[i];
    double numbers[3] = {0};
    if (row->kind != TOML_ARRAY || row->child_count != 3) {
      return refuse(reader, row, "expected [at, length, factor], in ms");
    }
    for (size_t k = 0; k < 3 && status == STATUS_OK; k++) {
      const struct key number = {NULL, NULL, &numbers[k], k == 2 ? 1e-6 : 0};
      status = (k == 2 ? read_slower : read_number)(reader, &row->children[k], &number);
    }
    if (status == STATUS_OK && numbers[0] < end) {
      return refuse(reader, row, "an episode begins after the end of the one before");
    }
    end = numbers[0] + numbers[1];
    episodes_add(disturbance, 1e6 * numbers[0], 1);
    episodes_add(disturbance, 1e6 * end, numbers[2]);
  }
  if (status == STATUS_OK && disturbance->count == 0) {
    return refuse(reader, node, "expected [at, length, factor] of each episode, in ms");
  }
  disturbance->period_ns = 1e6 * end;
  return status;
}

static enum status read_disturbance(const struct reader *reader, const struct toml_node *table) {
  struct fake_config *config = reader->config;
  struct fake_disturbance *disturbance = &config->disturbances[config->disturbance_count];
  struct error unread = {0};
  char replay[FAKE_PATH_MAX] = "";
  char cases[FAULT_CALL_MAX] = "*";
  double period_ms = 0;
  *disturbance = (struct fake_disturbance){.from = PLACE_ANY, .to = PLACE_ANY};
  const struct key keys[] = {
      {"from", read_place, &disturbance->from, 0},  {"to", read_place, &disturbance->to, 0},
      {"replay", read_text, replay, sizeof replay}, {"case", read_text, cases, sizeof cases},
      {"episodes", read_episodes, disturbance, 0},  {"period", read_number, &period_ms, 1e-3},
  };
  enum status status = READ_KEYS(reader, table, "[[fake.disturbance]]", keys);
  if (status == STATUS_OK && (replay[0] != '\0') == (disturbance->count > 0)) {
    return refuse(reader, table, "a disturbance needs episodes, or a file to replay");
  }
  if (status == STATUS_OK && replay[0] != '\0' &&
      episodes_read(replay, cases, disturbance, &unread) != STATUS_OK) {
    return refuse(reader, table, "%s", unread.message);
  }
  disturbance->period_ns = fmax(disturbance->period_ns, 1e6 * period_ms);
  return status;
}

static enum status read_noise(const struct reader *reader, const struct toml_node *table,
                              const struct key *key) {
  if (table->kind == TOML_ARRAY) {
    return refuse(reader, table,
                  "[fake.noise] is one table; other programs on a link are "
                  "[[fake.disturbance]], where factor multiplies the speed");
  }
  const struct key keys[] = {
      {"seed", read_count, &reader->config->seed, 0},
      {"within", read_number, &reader->config->noise_within, 0},
      {"between", read_number, &reader->config->noise_between, 0},
  };
  return READ_KEYS(reader, table, "[fake.noise]", keys);
}

static enum status read_link(const struct reader *reader, const struct toml_node *table) {
  struct link_factor *link = &reader->config->links[reader->config->link_count];
  *link = (struct link_factor){PLACE_ANY, PLACE_ANY, 0};
  const struct key keys[] = {
      {"from", read_place, &link->from, 0},
      {"to", read_place, &link->to, 0},
      {"factor", read_number, &link->factor, 1e-6},
  };
  enum status status = READ_KEYS(reader, table, "[[fake.link]]", keys);
  if (status == STATUS_OK && link->factor <= 0) {
    return refuse(reader, table, "a link needs a factor");
  }
  return status;
}

/* target: enum fault_kind */
static enum status read_kind(const struct reader *reader, const struct toml_node *node,
                             const struct key *key) {
  if (node->kind != TOML_TEXT || !fault_kind_parse(node->text, key->target)) {
    return refuse(reader, node, "no such kind of fault");
  }
  return STATUS_OK;
}

static enum status read_fault(const struct reader *reader, const struct toml_node *table) {
  struct fault *fault = &reader->config->faults[reader->config->fault_count];
  *fault = (struct fault){.kind = fault_kind_name_count,
                          .nth = 1,
                          .count = 1,
                          .gpu = PLACE_ANY,
                          .from = PLACE_ANY,
                          .to = PLACE_ANY,
                          .factor = 1.0 / 3,
                          .code = 700, /* CUDA_ERROR_ILLEGAL_ADDRESS */
                          .signal = SIGKILL};
  const struct key keys[] = {
      {"kind", read_kind, &fault->kind, 0},
      {"call", read_text, fault->call, sizeof fault->call},
      {"nth", read_count, &fault->nth, 0},
      {"count", read_count, &fault->count, 0},
      {"gpu", read_place, &fault->gpu, 0},
      {"from", read_place, &fault->from, 0},
      {"to", read_place, &fault->to, 0},
      {"size_bytes", read_count, &fault->size_bytes, 0},
      {"offset", read_count, &fault->offset, 0},
      {"milliseconds", read_count, &fault->milliseconds, 0},
      {"factor", read_slower, &fault->factor, 1e-6},
      {"code", read_code, &fault->code, 0},
      {"signal", read_code, &fault->signal, 0},
      {"marker", read_text, fault->marker, sizeof fault->marker},
      {"while", read_text, fault->hold, sizeof fault->hold},
  };
  enum status status = READ_KEYS(reader, table, "[[fake.fault]]", keys);
  if (status == STATUS_OK &&
      (fault->kind == fault_kind_name_count || fault->call[0] == '\0' || fault->nth == 0)) {
    return refuse(reader, table, "a fault needs a kind, a call, and nth from 1 on");
  }
  return status;
}

static enum status read_process(const struct reader *reader, const struct toml_node *table) {
  struct fake_config *config = reader->config;
  struct fake_process *process = &config->processes[config->process_count];
  *process = (struct fake_process){.gpu = PLACE_ANY};
  const struct key keys[] = {
      {"gpu", read_place, &process->gpu, 0},
      {"pid", read_count, &process->pid, 0},
      {"busy_percent", read_count, &process->busy_percent, 0},
      {"when", read_text, process->when, sizeof process->when},
  };
  enum status status = READ_KEYS(reader, table, "[[fake.process]]", keys);
  if (status == STATUS_OK && process->pid == 0) {
    return refuse(reader, table, "a process needs a pid");
  }
  return status;
}

static enum status read_counter(const struct reader *reader, const struct toml_node *table) {
  struct fake_config *config = reader->config;
  struct fake_counter *counter = &config->counters[config->counter_count];
  *counter = (struct fake_counter){.gpu = PLACE_ANY};
  const struct key keys[] = {
      {"gpu", read_place, &counter->gpu, 0},
      {"field", read_count, &counter->field, 0},
      {"value", read_count, &counter->value, 0},
      {"when", read_text, counter->when, sizeof counter->when},
  };
  return READ_KEYS(reader, table, "[[fake.counter]]", keys);
}

/* target: bool */
static enum status read_clock(const struct reader *reader, const struct toml_node *node,
                              const struct key *key) {
  bool real = node->kind == TOML_TEXT && strcmp(node->text, "real") == 0;
  if (!real && (node->kind != TOML_TEXT || strcmp(node->text, "virtual") != 0)) {
    return refuse(reader, node, "expected \"virtual\" or \"real\"");
  }
  *(bool *)key->target = real;
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

/* target: struct machine */
static enum status read_driver_version(const struct reader *reader, const struct toml_node *node,
                                       const struct key *key) {
  char version[MACHINE_TEXT_MAX];
  const struct key text = {key->name, read_text, version, sizeof version};
  enum status status = read_text(reader, node, &text);
  if (status == STATUS_OK) {
    replace_fact(key->target, "driver_version", version);
  }
  return status;
}

/* target: int32_t */
static enum status read_cuda_version(const struct reader *reader, const struct toml_node *node,
                                     const struct key *key) {
  if (node->kind != TOML_INTEGER || node->integer < 11000 || node->integer > 99999) {
    return refuse(reader, node, "expected a version like 12040");
  }
  *(int32_t *)key->target = (int32_t)node->integer;
  return STATUS_OK;
}

static enum status read_fake(const struct reader *reader, const struct toml_node *table) {
  struct fake_config *config = reader->config;
  struct elements links = {"links", &config->link_count, FAKE_LINKS_MAX, read_link};
  struct elements disturbances = {"disturbances", &config->disturbance_count, FAKE_DISTURBANCES_MAX,
                                  read_disturbance};
  struct elements faults = {"faults", &config->fault_count, FAKE_FAULTS_MAX, read_fault};
  struct elements processes = {"processes", &config->process_count, FAKE_PROCESSES_MAX,
                               read_process};
  struct elements counters = {"counters", &config->counter_count, FAKE_PROCESSES_MAX, read_counter};
  const struct key keys[] = {
      {"clock", read_clock, &config->real_clock, 0},
      {"driver_version", read_driver_version, &config->machine, 0},
      {"cuda_version", read_cuda_version, &config->machine.driver_cuda_version, 0},
      {"operation_ns", read_number, &config->operation_ns, 0},
      {"call_ns", read_number, &config->call_ns, 0},
      {"sm_factor", read_number, &config->sm_factor, 1e-6},
      {"remote_factor", read_number, &config->remote_factor, 1e-6},
      {"throttle_reasons", read_count, &config->throttle_reasons, 0},
      {"link", read_each, &links, 0},
      {"fault", read_each, &faults, 0},
      {"process", read_each, &processes, 0},
      {"counter", read_each, &counters, 0},
      {"speeds", read_speeds, NULL, 0},
      {"noise", read_noise, NULL, 0},
      {"disturbance", read_each, &disturbances, 0},
  };
  return READ_KEYS(reader, table, "[fake]", keys);
}

static enum status read_root(const struct reader *reader, const struct toml_node *root,
                             bool alone) {
  enum status status = STATUS_OK;
  for (size_t i = 0; status == STATUS_OK && i < root->child_count; i++) {
    const struct toml_node *child = &root->children[i];
    if (strcmp(child->key, "fake") == 0) {
      status = read_fake(reader, child);
    } else if (alone) {
      status = refuse(reader, child, "only [fake] may be in this file");
    }
  }
  return status;
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
    (void)error_set(err, STATUS_IO, "cannot read %s, or it is too long", path);
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
