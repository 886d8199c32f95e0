#include "engine/machine/probe.h"

#include "engine/base/macros.h"
#include "engine/machine/machine.h"

#include <stdio.h>
#include <stdlib.h>

struct nvml_device *probe_nvml_device(const struct nvml *nvml, const char *pci_address) {
  unsigned count = 0;
  if (NVML_CALL(nvml, nvmlDeviceGetCount_v2, &count) != NVML_OK) {
    return NULL;
  }
  for (unsigned i = 0; i < count; i++) {
    struct nvml_device *device = NULL;
    struct nvml_pci_info info = {0};
    char address[16];
    if (NVML_CALL(nvml, nvmlDeviceGetHandleByIndex_v2, i, &device) == NVML_OK &&
        NVML_CALL(nvml, nvmlDeviceGetPciInfo_v3, device, &info) == NVML_OK &&
        machine_normalise_pci(info.bus_id, address) && strcmp(address, pci_address) == 0) {
      return device;
    }
  }
  return NULL;
}

/* "16.0 GT/s PCIe" of sysfs -> generation; 0 = unknown. */
static uint32_t generation_of_speed(const char *text) {
  static const double SPEEDS[] = {2.5, 5, 8, 16, 32, 64};
  double speed = strtod(text, NULL);
  for (uint32_t i = 0; i < COUNT_OF(SPEEDS); i++) {
    if (speed >= SPEEDS[i] * 0.99 && speed <= SPEEDS[i] * 1.01) {
      return i + 1;
    }
  }
  return 0;
}

/* What NVML did not say of the PCIe link. */
static void read_pcie_from_sysfs(const struct probe *probe, struct gpu *gpu) {
  static const char *const SPEED_FILES[] = {"max_link_speed", "current_link_speed"};
  static const char *const WIDTH_FILES[] = {"max_link_width", "current_link_width"};
  uint32_t *generations[] = {&gpu->pcie_generation_max, &gpu->pcie_generation};
  uint32_t *widths[] = {&gpu->pcie_width_max, &gpu->pcie_width};
  for (size_t i = 0; i < 2; i++) {
    char text[64];
    int64_t width;
    if (*generations[i] == 0 &&
        sources_read(probe->sources, text, sizeof text, "/sys/bus/pci/devices/%s/%s",
                     gpu->pci_address, SPEED_FILES[i]) == FACT_OK) {
      *generations[i] = generation_of_speed(text);
    }
    if (*widths[i] == 0 &&
        sources_read_number(probe->sources, &width, "/sys/bus/pci/devices/%s/%s", gpu->pci_address,
                            WIDTH_FILES[i]) &&
        width > 0 && width <= 32) {
      *widths[i] = (uint32_t)width;
    }
  }
}

static void read_pcie(const struct probe *probe, struct nvml_device *device, struct gpu *gpu) {
  const struct nvml *nvml = probe->nvml;
  unsigned value;
  if (NVML_CALL(nvml, nvmlDeviceGetMaxPcieLinkGeneration, device, &value) == NVML_OK) {
    gpu->pcie_generation_max = value;
  }
  if (NVML_CALL(nvml, nvmlDeviceGetMaxPcieLinkWidth, device, &value) == NVML_OK) {
    gpu->pcie_width_max = value;
  }
  if (NVML_CALL(nvml, nvmlDeviceGetCurrPcieLinkGeneration, device, &value) == NVML_OK) {
    gpu->pcie_generation = value;
  }
  if (NVML_CALL(nvml, nvmlDeviceGetCurrPcieLinkWidth, device, &value) == NVML_OK) {
    gpu->pcie_width = value;
  }
}

static void read_usage(const struct probe *probe, struct nvml_device *device, struct gpu *gpu) {
  const struct nvml *nvml = probe->nvml;
  struct nvml_memory memory;
  struct nvml_utilization utilization;
  unsigned count = 0;
  if (NVML_CALL(nvml, nvmlDeviceGetMemoryInfo, device, &memory) == NVML_OK) {
    gpu->free_memory_bytes = memory.free_bytes;
  }
  if (NVML_CALL(nvml, nvmlDeviceGetUtilizationRates, device, &utilization) == NVML_OK) {
    gpu->utilization_percent = (int32_t)utilization.gpu_percent;
  }
  /* NVML, given room for no process, answers with their number. */
  int result = NVML_CALL(nvml, nvmlDeviceGetComputeRunningProcesses_v3, device, &count, NULL);
  if (result == NVML_OK || result == NVML_INSUFFICIENT_SIZE) {
    gpu->process_count = (int32_t)count;
  }
}

static void read_hardware(const struct probe *probe, struct nvml_device *device, struct gpu *gpu) {
  const struct nvml *nvml = probe->nvml;
  unsigned value;
  unsigned mig_mode = 0;
  unsigned mig_pending = 0;
  char uuid[96];
  if (NVML_CALL(nvml, nvmlDeviceGetMaxClockInfo, device, NVML_CLOCK_OF_SM, &value) == NVML_OK) {
    gpu->sm_clock_max_khz = value * 1000ULL;
  }
  if (gpu->memory_clock_khz == 0 &&
      NVML_CALL(nvml, nvmlDeviceGetMaxClockInfo, device, NVML_CLOCK_OF_MEMORY, &value) == NVML_OK) {
    gpu->memory_clock_khz = value * 1000ULL;
  }
  if (gpu->memory_bus_bits == 0 &&
      NVML_CALL(nvml, nvmlDeviceGetMemoryBusWidth, device, &value) == NVML_OK) {
    gpu->memory_bus_bits = value;
  }
  gpu->mig_enabled =
      NVML_CALL(nvml, nvmlDeviceGetMigMode, device, &mig_mode, &mig_pending) == NVML_OK &&
      mig_mode != 0;
  if (NVML_CALL(nvml, nvmlDeviceGetUUID, device, uuid, (unsigned)sizeof uuid) == NVML_OK) {
    (void)snprintf(gpu->uuid, sizeof gpu->uuid, "%.47s", uuid);
  }
}

/* The nearest node by NVML's set of them. */
static int32_t node_by_nvml(const struct probe *probe, struct nvml_device *device) {
  unsigned long nodes[MACHINE_NODES_MAX / (8 * sizeof(unsigned long))] = {0};
  enum { BITS = 8 * sizeof nodes[0], WORDS = COUNT_OF(nodes) };
  if (NVML_CALL(probe->nvml, nvmlDeviceGetMemoryAffinity, device, (unsigned)WORDS, nodes,
                NVML_AFFINITY_OF_NODE) != NVML_OK) {
    return -1;
  }
  for (int32_t i = 0; i < MACHINE_NODES_MAX; i++) {
    if ((nodes[(size_t)i / BITS] >> ((size_t)i % BITS) & 1UL) != 0) {
      return i;
    }
  }
  return -1;
}

/* A simulated GPU is not in this machine's sysfs, whatever stands at its address there. */
static void read_numa_node(const struct probe *probe, struct nvml_device *device, struct gpu *gpu) {
  const struct machine *machine = probe->machine;
  int64_t number = -1;
  if (!machine->simulated) {
    (void)sources_read_number(probe->sources, &number, "/sys/bus/pci/devices/%s/numa_node",
                              gpu->pci_address);
  }
  gpu->numa_node = number >= 0 && number < SOURCES_SET_MAX ? (int32_t)number : -1;
  if (gpu->numa_node < 0 && device != NULL) {
    gpu->numa_node = node_by_nvml(probe, device);
  }
  if (gpu->numa_node < 0 && machine->node_count == 1) {
    gpu->numa_node = machine->nodes[0].number;
  }
}

void probe_gpus(struct probe *probe) {
  for (uint32_t i = 0; i < probe->machine->gpu_count; i++) {
    struct gpu *gpu = &probe->machine->gpus[i];
    struct nvml_device *device = probe_nvml_device(probe->nvml, gpu->pci_address);
    probe->devices[i] = device;
    if (device != NULL) {
      read_pcie(probe, device, gpu);
      read_usage(probe, device, gpu);
      read_hardware(probe, device, gpu);
    }
    if (!probe->machine->simulated) {
      read_pcie_from_sysfs(probe, gpu);
    }
    read_numa_node(probe, device, gpu);
  }
}

/* NVML's, else what the kernel module says of itself. */
static void read_driver_version(struct probe *probe) {
  char text[FACT_VALUE_MAX];
  if (NVML_CALL(probe->nvml, nvmlSystemGetDriverVersion, probe->driver_version,
                (unsigned)sizeof probe->driver_version) == NVML_OK) {
    return;
  }
  probe->driver_version[0] = '\0';
  if (sources_read(probe->sources, text, sizeof text, "/sys/module/nvidia/version") == FACT_OK) {
    (void)snprintf(probe->driver_version, sizeof probe->driver_version, "%.90s", text);
  }
}

static void read_host_name(struct probe *probe) {
  char text[MACHINE_TEXT_MAX];
  if (sources_read(probe->sources, text, sizeof text, "/proc/sys/kernel/hostname") == FACT_OK) {
    (void)snprintf(probe->machine->host_name, sizeof probe->machine->host_name, "%s", text);
  }
}

static void probe_load_and_run(struct probe *probe, bool ask_driver) {
  read_host_name(probe);
  probe_topology(probe);
  if (ask_driver) {
    probe_cuda(probe);
  }
  if (probe->machine->driver_cuda_version == 0) {
    int version = 0;
    if (NVML_CALL(probe->nvml, nvmlSystemGetCudaDriverVersion_v2, &version) == NVML_OK) {
      probe->machine->driver_cuda_version = version;
    }
  }
  probe_gpus(probe);
  probe_links(probe);
  read_driver_version(probe);
  probe_host_facts(probe);
  probe_gpu_facts(probe);
}

static enum status run(const struct machine_sources *sources, const struct nvml *nvml,
                       const struct error *nvml_error, bool ask_driver, struct machine *machine,
                       struct error *err) {
  struct probe *probe = calloc(1, sizeof *probe);
  if (probe == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory to look at the machine");
  }
  memset(machine, 0, sizeof *machine);
  (void)snprintf(machine->source, sizeof machine->source, "probe");
  probe->machine = machine;
  probe->sources = sources;
  probe->nvml = nvml;
  probe->nvml_state = nvml_error->status == STATUS_DENIED ? FACT_DENIED : FACT_UNAVAILABLE;
  (void)snprintf(probe->nvml_reason, sizeof probe->nvml_reason, "%.500s", nvml_error->message);
  probe_load_and_run(probe, ask_driver);
  free(probe);
  return STATUS_OK;
}

enum status probe_run(const struct machine_sources *sources, const struct nvml *nvml,
                      const struct error *nvml_error, struct machine *machine, struct error *err) {
  return run(sources, nvml, nvml_error, true, machine, err);
}

enum status machine_probe(struct machine *machine, struct error *err) {
  struct machine_sources sources;
  struct nvml nvml;
  struct error nvml_error = {0};
  sources_init(&sources);
  /* Without NVML fewer facts are known, which is not an error. */
  enum status without_nvml = nvml_load(&nvml, &nvml_error);
  enum status status = probe_run(&sources, &nvml, &nvml_error, machine, err);
  machine->nvml_lost = without_nvml == STATUS_UNSUPPORTED && nvml_error.native_code != 0;
  if (without_nvml == STATUS_OK) {
    nvml_unload(&nvml);
  }
  return status;
}

static enum status probe_without_nvml(bool ask_driver, const char *reason, struct machine *machine,
                                      struct error *err) {
  struct machine_sources sources;
  struct nvml nvml = {0};
  struct error nvml_error = {0};
  sources_init(&sources);
  (void)error_set(&nvml_error, STATUS_UNSUPPORTED, "%s", reason);
  return run(&sources, &nvml, &nvml_error, ask_driver, machine, err);
}

enum status machine_probe_cuda(struct machine *machine, struct error *err) {
  return probe_without_nvml(
      true, "NVML crashed, or gave no answer: check whether nvidia-smi answers", machine, err);
}

enum status machine_probe_host(struct machine *machine, struct error *err) {
  return probe_without_nvml(false, "the GPU driver was not asked", machine, err);
}
