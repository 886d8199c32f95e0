#include "runner/import/nvbandwidth.h"

#include "engine/base/input_file.h"
#include "engine/machine/facts.h"
#include "engine/machine/machine.h"
#include "runner/import/nvbandwidth_text.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNVERSIONED = 2, OLDEST_VERSION = 5, NEWEST_VERSION = 10 };

/* The value of a member when it is a text, else NULL. */
static const char *nvbandwidth_text_of(const json_t *object, const char *key, struct arena *arena) {
  const char *text = json_string_value(json_object_get(object, key));
  return text != NULL ? arena_strdup(arena, text) : NULL;
}

static enum status nvbandwidth_parse_version(const json_t *top, const char *path,
                                             struct nvbandwidth_file *file, struct error *err) {
  const char *text = json_string_value(json_object_get(top, "version"));
  if (text == NULL) {
    return error_set(err, STATUS_INVALID,
                     "%s: no \"version\" in \"nvbandwidth\": is it all that nvbandwidth printed?",
                     path);
  }
  unsigned major = 0;
  unsigned minor = 0;
  if (sscanf(text, "v%u.%u", &major, &minor) != 2 && sscanf(text, "%u.%u", &major, &minor) != 2) {
    return error_set(err, STATUS_INVALID, "%s: \"version\" is \"%.40s\", not like \"v0.8\"", path,
                     text);
  }
  if (major != 0 || (minor != UNVERSIONED && minor < OLDEST_VERSION) || minor > NEWEST_VERSION) {
    return error_set(
        err, STATUS_UNSUPPORTED,
        "%s is of nvbandwidth %u.%u; what its tests measure is known of " NVBANDWIDTH_VERSIONS,
        path, major, minor);
  }
  file->version = minor;
  return STATUS_OK;
}

/* "0: NVIDIA H200 (00000000:00:06): (host)": domain, bus and device of the address; 0.6 and 0.7
 * have no host, the text of 0.5 no address. */
static enum status nvbandwidth_parse_device(const char *text, size_t i, const char *path,
                                            struct arena *arena, struct nvbandwidth_device *device,
                                            const char **host, struct error *err) {
  const char *name = strstr(text, ": ");
  const char *host_start = strstr(text, "): (");
  const char *end = host_start != NULL ? host_start : strrchr(text, ')');
  if (name != NULL && end == NULL && strchr(text, '(') == NULL) {
    device->name = arena_strdup(arena, name + 2);
    return STATUS_OK;
  }
  const char *address = end;
  while (address != NULL && address > text && *address != '(') {
    address--;
  }
  if (name == NULL || end == NULL || address <= name + 2) {
    return error_set(err, STATUS_INVALID,
                     "%s: \"GPU Device list\"[%zu] is \"%.80s\", not like \"0: NVIDIA H200 "
                     "(00000000:06:00)\"",
                     path, i, text);
  }
  if (host_start != NULL) {
    const char *host_end = strrchr(host_start, ')');
    if (host_end > host_start + 4) {
      *host = arena_strndup(arena, host_start + 4, (size_t)(host_end - host_start - 4));
    }
  }
  const char *name_end = address;
  while (name_end > name + 2 && name_end[-1] == ' ') {
    name_end--;
  }
  device->name = arena_strndup(arena, name + 2, (size_t)(name_end - name - 2));
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned slot = 0;
  if (sscanf(address, "(%x:%x:%x", &domain, &bus, &slot) == 3) {
    char pci_address[16];
    const char *full = arena_format(arena, "%04x:%02x:%02x.0", domain, bus, slot);
    if (machine_normalise_pci(full, pci_address)) {
      device->pci_address = arena_strdup(arena, pci_address);
    }
  }
  return STATUS_OK;
}

static enum status nvbandwidth_parse_devices(const json_t *top, const char *path,
                                             struct arena *arena, struct nvbandwidth_file *file,
                                             struct error *err) {
  const json_t *list = json_object_get(top, "GPU Device list");
  const size_t count = json_array_size(list);
  if (count > MACHINE_GPUS_MAX) {
    return error_set(err, STATUS_INVALID, "%s: \"GPU Device list\" has %zu GPUs, more than %d",
                     path, count, MACHINE_GPUS_MAX);
  }
  struct nvbandwidth_device *devices = arena_array(arena, count, sizeof *devices);
  for (size_t i = 0; i < count; i++) {
    const char *text = json_string_value(json_array_get(list, i));
    enum status status = nvbandwidth_parse_device(text != NULL ? text : "", i, path, arena,
                                                  &devices[i], &file->host_name, err);
    RETURN_ON_ERROR(status);
  }
  file->devices = devices;
  file->device_count = count;
  return STATUS_OK;
}

static bool nvbandwidth_parse_cell(const json_t *cell, double *value) {
  const char *text = json_string_value(cell);
  if (json_is_number(cell)) {
    *value = json_number_value(cell);
    return true;
  }
  if (text == NULL) {
    return false;
  }
  if (strcmp(text, "N/A") == 0) {
    *value = NAN;
    return true;
  }
  char *end = NULL;
  *value = strtod(text, &end);
  return end != text && *end == '\0' && isfinite(*value);
}

static enum status nvbandwidth_parse_matrix(const json_t *matrix, const char *where,
                                            struct arena *arena, struct nvbandwidth_test *test,
                                            struct error *err) {
  test->rows = json_array_size(matrix);
  test->columns = json_array_size(json_array_get(matrix, 0));
  double *cells = arena_array(arena, test->rows * test->columns, sizeof *cells);
  for (size_t r = 0; r < test->rows; r++) {
    const json_t *row = json_array_get(matrix, r);
    if (!json_is_array(row) || json_array_size(row) != test->columns) {
      return error_set(err, STATUS_INVALID,
                       "%s: row %zu of \"bandwidth_matrix\" has %zu cells, the first has %zu",
                       where, r, json_array_size(row), test->columns);
    }
    for (size_t c = 0; c < test->columns; c++) {
      if (!nvbandwidth_parse_cell(json_array_get(row, c), &cells[r * test->columns + c])) {
        return error_set(err, STATUS_INVALID,
                         "%s: row %zu, column %zu of \"bandwidth_matrix\" is no number and not "
                         "\"N/A\"",
                         where, r, c);
      }
    }
  }
  test->cells = cells;
  return STATUS_OK;
}

/* The first text about a test that is none of those that every test has: an "error", and the reason
 * for which a test was waived, whatever a version calls it. */
static const char *nvbandwidth_parse_detail(json_t *test, struct arena *arena) {
  const char *key = NULL;
  json_t *value = NULL;
  json_object_foreach(test, key, value) {
    if (json_is_string(value) && strcmp(key, "name") != 0 && strcmp(key, "status") != 0 &&
        strcmp(key, "bandwidth_description") != 0 && json_string_length(value) > 0) {
      return arena_strdup(arena, json_string_value(value));
    }
  }
  return NULL;
}

static enum status nvbandwidth_parse_tests(const json_t *top, const char *path, struct arena *arena,
                                           struct nvbandwidth_file *file, struct error *err) {
  const json_t *list = json_object_get(top, "testcases");
  if (!json_is_array(list)) {
    const char *said = json_string_value(json_object_get(top, "error"));
    return error_set(err, STATUS_INVALID, "%s: no \"testcases\" in it%s%.300s", path,
                     said != NULL ? "; nvbandwidth ended with: " : "", said != NULL ? said : "");
  }
  const size_t count = json_array_size(list);
  struct nvbandwidth_test *tests = arena_array(arena, count, sizeof *tests);
  for (size_t i = 0; i < count; i++) {
    json_t *item = json_array_get(list, i);
    tests[i].name = nvbandwidth_text_of(item, "name", arena);
    if (tests[i].name == NULL) {
      return error_set(err, STATUS_INVALID, "%s: \"testcases\"[%zu] has no \"name\"", path, i);
    }
    tests[i].status = nvbandwidth_text_of(item, "status", arena);
    if (tests[i].status == NULL) {
      tests[i].status = "";
    }
    tests[i].detail = nvbandwidth_parse_detail(item, arena);
    const json_t *matrix = json_object_get(item, "bandwidth_matrix");
    const char *where = arena_format(arena, "%s: test %.100s", path, tests[i].name);
    if (matrix != NULL && !json_is_array(matrix)) {
      return error_set(err, STATUS_INVALID, "%s: \"bandwidth_matrix\" is no list of rows", where);
    }
    enum status status = nvbandwidth_parse_matrix(matrix, where, arena, &tests[i], err);
    RETURN_ON_ERROR(status);
  }
  file->tests = tests;
  file->test_count = count;
  return STATUS_OK;
}

static enum status nvbandwidth_parse_top(const json_t *root, const char *path, struct arena *arena,
                                         struct nvbandwidth_file *file, struct error *err) {
  const json_t *top = json_object_get(root, "nvbandwidth");
  if (!json_is_object(top)) {
    return error_set(err, STATUS_INVALID,
                     "%s: JSON, but no object \"nvbandwidth\" in it: it is not what nvbandwidth -j "
                     "prints",
                     path);
  }
  enum status status = nvbandwidth_parse_version(top, path, file, err);
  status = THEN(status, nvbandwidth_parse_devices(top, path, arena, file, err));
  status = THEN(status, nvbandwidth_parse_tests(top, path, arena, file, err));
  file->driver_version = nvbandwidth_text_of(top, "Driver Version", arena);
  file->cuda_runtime_version =
      (int)json_integer_value(json_object_get(top, "CUDA Runtime Version"));
  return status;
}

/* JSON begins with a brace. */
static bool nvbandwidth_is_json(const char *text, size_t length) {
  size_t at = 0;
  while (at < length && isspace((unsigned char)text[at])) {
    at++;
  }
  return at < length && (text[at] == '{' || text[at] == '[');
}

enum status nvbandwidth_parse(const char *text, size_t length, const char *path,
                              struct arena *arena, struct nvbandwidth_file *file,
                              struct error *err) {
  json_error_t complaint;
  struct nvbandwidth_file parsed = {.text = arena_strndup(arena, text, length)};
  parsed.rounded = !nvbandwidth_is_json(text, length);
  json_t *root = parsed.rounded ? nvbandwidth_text_read(text, length)
                                : json_loadb(text, length, 0, &complaint);
  if (root == NULL && parsed.rounded) {
    return error_set(
        err, STATUS_INVALID,
        "%s: neither JSON nor text with a line \"nvbandwidth Version: ...\": it is not "
        "what nvbandwidth prints",
        path);
  }
  if (root == NULL) {
    enum status status = error_set(err, STATUS_INVALID, "no valid JSON: %s", complaint.text);
    if (err != NULL) {
      err->position = (struct position){path, complaint.line > 0 ? (unsigned)complaint.line : 1,
                                        complaint.column > 0 ? (unsigned)complaint.column : 1};
    }
    return status;
  }
  enum status status = nvbandwidth_parse_top(root, path, arena, &parsed, err);
  json_decref(root);
  if (status == STATUS_OK) {
    *file = parsed;
  }
  return status;
}

enum status nvbandwidth_read(const char *path, struct arena *arena, struct nvbandwidth_file *file,
                             struct error *err) {
  const char *text = NULL;
  size_t length = 0;
  if (input_file_read(path, false, "a file of nvbandwidth", NVBANDWIDTH_FILE_MAX, arena, &text,
                      &length, err) != STATUS_OK) {
    return error_prefix(err, "%s: ", path);
  }
  return length == 0 ? error_set(err, STATUS_INVALID, "%s is empty", path)
                     : nvbandwidth_parse(text, length, path, arena, file, err);
}

/* ---- the machine that a file speaks of ---- */

#define NOT_SAID "nvbandwidth does not say"

#define NAME(name, help) name,
static const char *const HOST_FACTS[] = {HOST_FACT_LIST(NAME)};
static const char *const GPU_FACTS[] = {GPU_FACT_LIST(NAME)};
#undef NAME
/* Facts of a saved machine that stay what they were. */
static const char *const LASTING_FACTS[] = {"cpu_model", "cpu_count", "hypervisor"};

static bool nvbandwidth_lasts(const char *name) {
  return ANY_OF(i, COUNT_OF(LASTING_FACTS), strcmp(LASTING_FACTS[i], name) == 0);
}

/* Files of 0.5 have no list of devices: as many as the widest matrix has columns. */
static size_t nvbandwidth_device_count(const struct nvbandwidth_file *file) {
  size_t count = file->device_count;
  for (size_t i = 0; i < file->test_count && file->device_count == 0; i++) {
    count = file->tests[i].columns > count ? file->tests[i].columns : count;
  }
  return count;
}

static bool nvbandwidth_addresses_known(const struct nvbandwidth_file *file) {
  return file->device_count > 0 &&
         ALL_OF(i, file->device_count, file->devices[i].pci_address != NULL);
}

/* GPUs are numbered by PCI address, nvbandwidth's by CUDA. */
static void nvbandwidth_order_devices(const struct nvbandwidth_file *file, size_t count,
                                      int32_t gpu_of_device[MACHINE_GPUS_MAX]) {
  const bool known = nvbandwidth_addresses_known(file);
  for (size_t i = 0; i < count; i++) {
    gpu_of_device[i] = known ? 0 : (int32_t)i;
    for (size_t j = 0; j < count && known; j++) {
      gpu_of_device[i] +=
          machine_compare_pci(file->devices[j].pci_address, file->devices[i].pci_address) < 0;
    }
  }
}

/* Two GPUs that a copy between was measured of have peer access. */
static void nvbandwidth_add_links(const struct nvbandwidth_file *file, size_t count,
                                  const int32_t gpu_of_device[MACHINE_GPUS_MAX],
                                  struct machine *machine) {
  for (size_t i = 0; i < file->test_count; i++) {
    const struct nvbandwidth_test *test = &file->tests[i];
    if (test->rows < count || test->columns != count) {
      continue;
    }
    for (size_t r = 0; r < count; r++) {
      for (size_t c = 0; c < count; c++) {
        if (r != c && !isnan(test->cells[r * count + c])) {
          machine->links[gpu_of_device[r]][gpu_of_device[c]].peer_access = true;
        }
      }
    }
  }
}

static enum status nvbandwidth_from_file_alone(const struct nvbandwidth_file *file,
                                               struct machine *machine,
                                               int32_t gpu_of_device[MACHINE_GPUS_MAX],
                                               struct error *err) {
  const size_t count = nvbandwidth_device_count(file);
  if (count == 0 || count > MACHINE_GPUS_MAX) {
    return error_set(err, STATUS_INVALID, "there are results of %zu GPUs in it, not of 1 to %d",
                     count, MACHINE_GPUS_MAX);
  }
  machine->gpu_count = (uint32_t)count;
  nvbandwidth_order_devices(file, count, gpu_of_device);
  for (size_t i = 0; i < count; i++) {
    struct gpu *gpu = &machine->gpus[gpu_of_device[i]];
    const struct nvbandwidth_device *device = i < file->device_count ? &file->devices[i] : NULL;
    *gpu = (struct gpu){.cuda_ordinal = (int32_t)i, .utilization_percent = -1, .process_count = -1};
    if (device != NULL && device->name != NULL) {
      (void)snprintf(gpu->name, sizeof gpu->name, "%s", device->name);
    }
    if (device != NULL && device->pci_address != NULL) {
      (void)snprintf(gpu->pci_address, sizeof gpu->pci_address, "%s", device->pci_address);
    }
  }
  nvbandwidth_add_links(file, count, gpu_of_device, machine);
  /* Where the host's memory is, it does not say: one node, the nearest to all. */
  machine->node_count = 1;
  machine->node_distance[0][0] = 10;
  return STATUS_OK;
}

static bool nvbandwidth_find_by_address(const struct nvbandwidth_file *file,
                                        const struct machine *saved,
                                        int32_t gpu_of_device[MACHINE_GPUS_MAX]) {
  for (size_t i = 0; i < file->device_count; i++) {
    gpu_of_device[i] = machine_gpu_index(saved, file->devices[i].pci_address);
    if (gpu_of_device[i] < 0) {
      return false;
    }
  }
  return true;
}

static enum status nvbandwidth_from_saved(const struct nvbandwidth_file *file,
                                          const struct machine *saved, struct machine *machine,
                                          int32_t gpu_of_device[MACHINE_GPUS_MAX],
                                          struct error *err) {
  const size_t count = nvbandwidth_device_count(file);
  const char *first = file->device_count > 0 ? file->devices[0].name : "of no name";
  const bool found =
      nvbandwidth_addresses_known(file) && nvbandwidth_find_by_address(file, saved, gpu_of_device);
  if (!found && count != saved->gpu_count) {
    return error_set(err, STATUS_INVALID,
                     "it has results of %zu GPUs (%s), but %s has %u: --machine must name the "
                     "machine on which it was measured",
                     count, first, saved->source, saved->gpu_count);
  }
  if (!found) {
    nvbandwidth_order_devices(file, count, gpu_of_device);
  }
  for (size_t i = 0; i < file->device_count; i++) {
    const struct gpu *gpu = &saved->gpus[gpu_of_device[i]];
    if (strcmp(gpu->name, file->devices[i].name) != 0) {
      return error_set(err, STATUS_INVALID,
                       "its GPU %zu is %s, but in %s it is %s: --machine must name the machine on "
                       "which it was measured",
                       i, file->devices[i].name, saved->source, gpu->name);
    }
  }
  *machine = *saved;
  machine->fact_count = 0;
  return STATUS_OK;
}

static void nvbandwidth_add_driver_facts(const struct nvbandwidth_file *file,
                                         struct machine *machine) {
  const char *version = file->driver_version;
  if (version == NULL) {
    machine_add_fact(machine, "driver_version", -1, FACT_UNAVAILABLE, NOT_SAID);
    machine_add_fact(machine, "driver_branch", -1, FACT_UNAVAILABLE, NOT_SAID);
    return;
  }
  machine_add_fact(machine, "driver_version", -1, FACT_OK, "%s", version);
  machine_add_fact(machine, "driver_branch", -1, FACT_OK, "r%.*s", (int)strcspn(version, "."),
                   version);
}

static void nvbandwidth_add_facts(const struct nvbandwidth_file *file, const struct machine *saved,
                                  struct machine *machine) {
  nvbandwidth_add_driver_facts(file, machine);
  for (size_t i = 0; i < COUNT_OF(HOST_FACTS); i++) {
    const struct fact *known = saved != NULL && nvbandwidth_lasts(HOST_FACTS[i])
                                   ? machine_fact(saved, HOST_FACTS[i], -1)
                                   : NULL;
    if (known != NULL) {
      machine_add_fact(machine, HOST_FACTS[i], -1, known->state, "%s", known->value);
    } else if (machine_fact(machine, HOST_FACTS[i], -1) == NULL) {
      machine_add_fact(machine, HOST_FACTS[i], -1, FACT_UNAVAILABLE, NOT_SAID);
    }
  }
  for (uint32_t gpu = 0; gpu < machine->gpu_count; gpu++) {
    for (size_t i = 0; i < COUNT_OF(GPU_FACTS); i++) {
      machine_add_fact(machine, GPU_FACTS[i], (int32_t)gpu, FACT_UNAVAILABLE, NOT_SAID);
    }
  }
  machine_add_fact(machine, "nvbandwidth_version", -1, FACT_OK, "0.%u", file->version);
  if (file->cuda_runtime_version > 0) {
    machine_add_fact(machine, "cuda_runtime_version", -1, FACT_OK, "%d.%d",
                     file->cuda_runtime_version / 1000, file->cuda_runtime_version % 1000 / 10);
  }
}

enum status nvbandwidth_machine(const struct nvbandwidth_file *file, const struct machine *saved,
                                const char *host_name, struct machine *machine,
                                int32_t gpu_of_device[MACHINE_GPUS_MAX], struct error *err) {
  RETURN_ON_ERROR(saved != NULL ? nvbandwidth_from_saved(file, saved, machine, gpu_of_device, err)
                                : nvbandwidth_from_file_alone(file, machine, gpu_of_device, err));
  const char *host = host_name;
  if (host == NULL && saved != NULL && saved->host_name[0] != '\0') {
    host = saved->host_name;
  }
  if (host == NULL) {
    host = file->host_name != NULL ? file->host_name : "unknown";
  }
  if (host != machine->host_name && (saved == NULL || host != saved->host_name)) {
    (void)snprintf(machine->host_name, sizeof machine->host_name, "%s", host);
  }
  (void)snprintf(machine->source, sizeof machine->source, "nvbandwidth 0.%u", file->version);
  (void)snprintf(machine->cuda_state, sizeof machine->cuda_state, "ok");
  nvbandwidth_add_facts(file, saved, machine);
  return STATUS_OK;
}
