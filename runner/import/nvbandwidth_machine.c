/* nvbandwidth_machine.c - the machine that a file of nvbandwidth speaks of. */
#include "runner/import/nvbandwidth_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NOT_SAID "nvbandwidth does not say"

#define NAME(name, help) name,
static const char *const HOST_FACTS[] = {HOST_FACT_LIST(NAME)};
static const char *const GPU_FACTS[] = {GPU_FACT_LIST(NAME)};
#undef NAME
/* Facts of a saved machine that stay what they were. */
static const char *const LASTING_FACTS[] = {"cpu_model", "cpu_count", "hypervisor"};

static bool lasts(const char *name) {
  for (size_t i = 0; i < sizeof LASTING_FACTS / sizeof *LASTING_FACTS; i++) {
    if (strcmp(LASTING_FACTS[i], name) == 0) {
      return true;
    }
  }
  return false;
}

/* Files of 0.5 have no list of devices: as many as the widest matrix has columns. */
static size_t device_count(const struct nvbandwidth_file *file) {
  size_t count = file->device_count;
  for (size_t i = 0; i < file->test_count && file->device_count == 0; i++) {
    count = file->tests[i].columns > count ? file->tests[i].columns : count;
  }
  return count;
}

static bool addresses_known(const struct nvbandwidth_file *file) {
  for (size_t i = 0; i < file->device_count; i++) {
    if (file->devices[i].pci_address == NULL) {
      return false;
    }
  }
  return file->device_count > 0;
}

/* GPUs are numbered by PCI address, nvbandwidth's by CUDA. */
static void order_devices(const struct nvbandwidth_file *file, size_t count,
                          int32_t gpu_of_device[MACHINE_GPUS_MAX]) {
  const bool known = addresses_known(file);
  for (size_t i = 0; i < count; i++) {
    gpu_of_device[i] = known ? 0 : (int32_t)i;
    for (size_t j = 0; j < count && known; j++) {
      gpu_of_device[i] +=
          machine_compare_pci(file->devices[j].pci_address, file->devices[i].pci_address) < 0;
    }
  }
}

/* Two GPUs that a copy between was measured of have peer access. */
static void add_links(const struct nvbandwidth_file *file, size_t count,
                      const int32_t gpu_of_device[MACHINE_GPUS_MAX], struct machine *machine) {
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

static enum status from_file_alone(const struct nvbandwidth_file *file, struct machine *machine,
                                   int32_t gpu_of_device[MACHINE_GPUS_MAX], struct error *err) {
  const size_t count = device_count(file);
  if (count == 0 || count > MACHINE_GPUS_MAX) {
    return error_set(err, STATUS_INVALID, "there are results of %zu GPUs in it, not of 1 to %d",
                     count, MACHINE_GPUS_MAX);
  }
  machine->gpu_count = (uint32_t)count;
  order_devices(file, count, gpu_of_device);
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
  add_links(file, count, gpu_of_device, machine);
  /* Where the host's memory is, it does not say: one node, the nearest to all. */
  machine->node_count = 1;
  machine->node_distance[0][0] = 10;
  return STATUS_OK;
}

static bool find_by_address(const struct nvbandwidth_file *file, const struct machine *saved,
                            int32_t gpu_of_device[MACHINE_GPUS_MAX]) {
  for (size_t i = 0; i < file->device_count; i++) {
    gpu_of_device[i] = machine_gpu_index(saved, file->devices[i].pci_address);
    if (gpu_of_device[i] < 0) {
      return false;
    }
  }
  return true;
}

static enum status from_saved(const struct nvbandwidth_file *file, const struct machine *saved,
                              struct machine *machine, int32_t gpu_of_device[MACHINE_GPUS_MAX],
                              struct error *err) {
  const size_t count = device_count(file);
  const char *first = file->device_count > 0 ? file->devices[0].name : "of no name";
  const bool found = addresses_known(file) && find_by_address(file, saved, gpu_of_device);
  if (!found && count != saved->gpu_count) {
    return error_set(err, STATUS_INVALID,
                     "it has results of %zu GPUs (%s), but %s has %u: --machine must name the "
                     "machine on which it was measured",
                     count, first, saved->source, saved->gpu_count);
  }
  if (!found) {
    order_devices(file, count, gpu_of_device);
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

static void add_driver_facts(const struct nvbandwidth_file *file, struct machine *machine) {
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

static void add_facts(const struct nvbandwidth_file *file, const struct machine *saved,
                      struct machine *machine) {
  add_driver_facts(file, machine);
  for (size_t i = 0; i < sizeof HOST_FACTS / sizeof *HOST_FACTS; i++) {
    const struct fact *known =
        saved != NULL && lasts(HOST_FACTS[i]) ? machine_fact(saved, HOST_FACTS[i], -1) : NULL;
    if (known != NULL) {
      machine_add_fact(machine, HOST_FACTS[i], -1, known->state, "%s", known->value);
    } else if (machine_fact(machine, HOST_FACTS[i], -1) == NULL) {
      machine_add_fact(machine, HOST_FACTS[i], -1, FACT_UNAVAILABLE, NOT_SAID);
    }
  }
  for (uint32_t gpu = 0; gpu < machine->gpu_count; gpu++) {
    for (size_t i = 0; i < sizeof GPU_FACTS / sizeof *GPU_FACTS; i++) {
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
  enum status status = saved != NULL ? from_saved(file, saved, machine, gpu_of_device, err)
                                     : from_file_alone(file, machine, gpu_of_device, err);
  if (status != STATUS_OK) {
    return status;
  }
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
  add_facts(file, saved, machine);
  return STATUS_OK;
}
