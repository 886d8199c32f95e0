/* NVML of the machine that the fake driver is told to be: facts of its file, and how GPUs are
 * linked. A fact that the file calls unavailable, or leaves out, is not supported; one that it
 * calls denied is not permitted. */
#include "engine/base/macros.h"
#include "tests/fake_cuda/nvml/device.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_int initialised;

static const struct machine *the_machine(void) {
  bool broken;
  return &config_get(&broken)->machine;
}

const struct gpu *device_gpu(const struct nvml_device *device) {
  const struct machine *machine = the_machine();
  for (uint32_t i = 0; initialised > 0 && i < machine->gpu_count; i++) {
    if ((const void *)device == &machine->gpus[i]) {
      return &machine->gpus[i];
    }
  }
  return NULL;
}

int device_failure(void) {
  return initialised > 0 ? NVML_INVALID_ARGUMENT : NVML_UNINITIALIZED;
}

int device_index(const struct gpu *gpu) {
  return (int)(gpu - the_machine()->gpus);
}

/* The value of a fact, or why there is none. */
static int fact_value(const char *name, int32_t gpu, const char **value) {
  const struct fact *fact = machine_fact(the_machine(), name, gpu);
  if (fact == NULL) {
    return NVML_NOT_SUPPORTED;
  }
  *value = fact->value;
  switch (fact->state) {
  case FACT_OK:
    return NVML_OK;
  case FACT_DENIED:
    return NVML_NO_PERMISSION;
  case FACT_UNAVAILABLE:
  case fact_state_name_count:
    return NVML_NOT_SUPPORTED;
  }
  return NVML_NOT_SUPPORTED;
}

static int gpu_fact(const struct nvml_device *device, const char *name, const char **value) {
  const struct gpu *gpu = device_gpu(device);
  return gpu == NULL ? device_failure() : fact_value(name, device_index(gpu), value);
}

int device_fact_is(const struct nvml_device *device, const char *name, const char *wanted,
                   bool *is) {
  const char *value = "";
  int result = gpu_fact(device, name, &value);
  *is = strcmp(value, wanted) == 0;
  return result;
}

static int give_text(const char *value, char *text, unsigned size) {
  return snprintf(text, size, "%s", value) < (int)size ? NVML_OK : NVML_INSUFFICIENT_SIZE;
}

int device_give_number(uint64_t value, unsigned *number) {
  *number = (unsigned)value;
  return value == 0 ? NVML_NOT_SUPPORTED : NVML_OK;
}

int device_fault(const char *entry_point) {
  static atomic_int sticky;
  bool broken;
  struct fake_config *config = config_get(&broken);
  const struct fault_call call = {
      .name = entry_point, .gpu = PLACE_ANY, .from = PLACE_ANY, .to = PLACE_ANY};
  const struct fault *fault = faults_trigger(config->faults, config->fault_count, &call);
  if (fault == NULL) {
    return sticky;
  }
  switch (fault->kind) {
  case FAULT_ERROR:
    return fault->code;
  case FAULT_STICKY:
    sticky = fault->code;
    return sticky;
  case FAULT_HANG:
    for (;;) {
      (void)pause();
    }
  case FAULT_CRASH:
    (void)raise(fault->signal);
    return NVML_UNINITIALIZED;
  case FAULT_OUT_OF_MEMORY:
  case FAULT_BLOCK:
  case FAULT_FLIP_BYTE:
  case FAULT_DROP:
  case FAULT_IGNORED_FLAG:
  case FAULT_CROWDED:
  case FAULT_SLOW:
  case fault_kind_name_count:
    return NVML_OK; /* of no meaning to NVML */
  }
  return NVML_OK;
}

int nvmlInit_v2(void) {
  FAULT_POINT();
  bool broken;
  const struct fake_config *config = config_get(&broken);
  if (broken || config->machine.gpu_count == 0) {
    return NVML_DRIVER_NOT_LOADED;
  }
  initialised++;
  return NVML_OK;
}

int nvmlShutdown(void) {
  FAULT_POINT();
  if (initialised <= 0) {
    return NVML_UNINITIALIZED;
  }
  initialised--;
  return NVML_OK;
}

const char *nvmlErrorString(int result) {
  static const struct {
    int result;
    const char *text;
  } texts[] = {
      {NVML_OK, "Success"},
      {NVML_UNINITIALIZED, "Uninitialized"},
      {NVML_INVALID_ARGUMENT, "Invalid Argument"},
      {NVML_NOT_SUPPORTED, "Not Supported"},
      {NVML_NO_PERMISSION, "Insufficient Permissions"},
      {NVML_NOT_FOUND, "Not Found"},
      {NVML_INSUFFICIENT_SIZE, "Insufficient Size"},
      {NVML_DRIVER_NOT_LOADED, "Driver Not Loaded"},
      {NVML_FUNCTION_NOT_FOUND, "Function Not Found"},
  };
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    if (texts[i].result == result) {
      return texts[i].text;
    }
  }
  return "Unknown Error";
}

int nvmlSystemGetDriverVersion(char *text, unsigned size) {
  FAULT_POINT();
  const char *value = "";
  int result = initialised > 0 ? fact_value("driver_version", -1, &value) : NVML_UNINITIALIZED;
  return result == NVML_OK ? give_text(value, text, size) : result;
}

int nvmlSystemGetCudaDriverVersion_v2(int *version) {
  FAULT_POINT();
  *version = the_machine()->driver_cuda_version;
  return *version > 0 ? NVML_OK : NVML_NOT_SUPPORTED;
}

int nvmlDeviceGetCount_v2(unsigned *count) {
  FAULT_POINT();
  *count = the_machine()->gpu_count;
  return initialised > 0 ? NVML_OK : NVML_UNINITIALIZED;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct nvml_device **device) {
  FAULT_POINT();
  bool broken;
  struct machine *machine = &config_get(&broken)->machine;
  if (initialised <= 0 || index >= machine->gpu_count) {
    return device_failure();
  }
  *device = (struct nvml_device *)(void *)&machine->gpus[index];
  return NVML_OK;
}

/* A full "domain:bus:device.function"; the domain may have four or eight digits. */
static bool same_address(const char *a, const char *b) {
  unsigned left[4] = {0};
  unsigned right[4] = {0};
  return sscanf(a, "%x:%x:%x.%x", &left[0], &left[1], &left[2], &left[3]) == 4 &&
         sscanf(b, "%x:%x:%x.%x", &right[0], &right[1], &right[2], &right[3]) == 4 &&
         memcmp(left, right, sizeof left) == 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *address, struct nvml_device **device) {
  FAULT_POINT();
  for (unsigned i = 0; i < the_machine()->gpu_count; i++) {
    if (same_address(address, the_machine()->gpus[i].pci_address)) {
      return nvmlDeviceGetHandleByIndex_v2(i, device);
    }
  }
  return initialised > 0 ? NVML_NOT_FOUND : NVML_UNINITIALIZED;
}

int nvmlDeviceGetName(struct nvml_device *device, char *text, unsigned size) {
  BEGIN_GPU(device);
  return give_text(gpu->name, text, size);
}

int nvmlDeviceGetUUID(struct nvml_device *device, char *text, unsigned size) {
  BEGIN_GPU(device);
  return give_text(gpu->uuid, text, size);
}

static void fill_pci_info(const char *address, struct nvml_pci_info *info) {
  *info = (struct nvml_pci_info){0};
  unsigned function = 0;
  (void)sscanf(address, "%x:%x:%x.%x", &info->domain, &info->bus, &info->device, &function);
  (void)snprintf(info->bus_id_legacy, sizeof info->bus_id_legacy, "%s", address);
  (void)snprintf(info->bus_id, sizeof info->bus_id, "%08X:%02X:%02X.%X", info->domain, info->bus,
                 info->device, function);
}

int nvmlDeviceGetPciInfo_v3(struct nvml_device *device, struct nvml_pci_info *info) {
  BEGIN_GPU(device);
  fill_pci_info(gpu->pci_address, info);
  return NVML_OK;
}

static int give_fact(const struct nvml_device *device, const char *name, char *text,
                     unsigned size) {
  const char *value = "";
  int result = gpu_fact(device, name, &value);
  return result == NVML_OK ? give_text(value, text, size) : result;
}

int nvmlDeviceGetVbiosVersion(struct nvml_device *device, char *text, unsigned size) {
  FAULT_POINT();
  return give_fact(device, "vbios", text, size);
}

int nvmlDeviceGetEccMode(struct nvml_device *device, int *current, int *pending) {
  FAULT_POINT();
  bool on;
  int result = device_fact_is(device, "ecc", "on", &on);
  *current = *pending = on;
  return result;
}

int nvmlDeviceGetMigMode(struct nvml_device *device, unsigned *current, unsigned *pending) {
  FAULT_POINT();
  bool on;
  int result = device_fact_is(device, "mig", "on", &on);
  *current = *pending = on;
  return result;
}

int nvmlDeviceGetPersistenceMode(struct nvml_device *device, int *mode) {
  FAULT_POINT();
  bool on;
  int result = device_fact_is(device, "persistence", "on", &on);
  *mode = on;
  return result;
}

int nvmlDeviceGetEnforcedPowerLimit(struct nvml_device *device, unsigned *milliwatts) {
  FAULT_POINT();
  const char *value = "0";
  int result = gpu_fact(device, "power_limit", &value);
  *milliwatts = (unsigned)strtoul(value, NULL, 10);
  return result;
}

static int give_fact_number(const struct nvml_device *device, const char *name,
                            unsigned long long *number) {
  const char *value = "0";
  int result = gpu_fact(device, name, &value);
  *number = strtoull(value, NULL, 10);
  return result;
}

int nvmlDeviceGetPowerManagementDefaultLimit(struct nvml_device *device, unsigned *milliwatts) {
  FAULT_POINT();
  unsigned long long number = 0;
  int result = give_fact_number(device, "power_limit_default", &number);
  *milliwatts = (unsigned)number;
  return result;
}

int nvmlDeviceGetBAR1MemoryInfo(struct nvml_device *device, struct nvml_bar1 *memory) {
  FAULT_POINT();
  *memory = (struct nvml_bar1){0};
  int result = give_fact_number(device, "bar1_bytes", &memory->total_bytes);
  memory->free_bytes = memory->total_bytes;
  return result;
}

int nvmlDeviceGetC2cModeInfoV(struct nvml_device *device, struct nvml_c2c *c2c) {
  FAULT_POINT();
  const char *value = "none";
  int result = gpu_fact(device, "c2c", &value);
  c2c->enabled = strcmp(value, "on") == 0;
  return result == NVML_OK && strcmp(value, "none") == 0 ? NVML_NOT_SUPPORTED : result;
}

int nvmlDeviceGetGpuFabricInfo(struct nvml_device *device, struct nvml_fabric *fabric) {
  FAULT_POINT();
  static const char *const STATES[] = {"none", "not started", "in progress", "completed"};
  const char *value = "";
  int result = gpu_fact(device, "fabric", &value);
  *fabric = (struct nvml_fabric){.state = NVML_FABRIC_NOT_SUPPORTED};
  for (size_t i = 0; i < COUNT_OF(STATES); i++) {
    fabric->state = strcmp(value, STATES[i]) == 0 ? (unsigned char)i : fabric->state;
  }
  return result;
}

int nvmlSystemGetConfComputeState(struct nvml_confidential *state) {
  FAULT_POINT();
  const char *value = "";
  int result =
      initialised > 0 ? fact_value("confidential_compute", -1, &value) : NVML_UNINITIALIZED;
  *state = (struct nvml_confidential){.feature = strcmp(value, "on") == 0};
  return result;
}

int nvmlDeviceGetGspFirmwareVersion(struct nvml_device *device, char *text_of_64) {
  FAULT_POINT();
  return give_fact(device, "gsp", text_of_64, 64);
}

int nvmlDeviceGetGspFirmwareMode(struct nvml_device *device, unsigned *enabled,
                                 unsigned *default_mode) {
  FAULT_POINT();
  bool off;
  int result = device_fact_is(device, "gsp", "off", &off);
  *enabled = *default_mode = !off;
  return result;
}

int nvmlDeviceGetMemoryBusWidth(struct nvml_device *device, unsigned *bits) {
  BEGIN_GPU(device);
  return device_give_number(gpu->memory_bus_bits, bits);
}

int nvmlDeviceGetMemoryAffinity(struct nvml_device *device, unsigned words, unsigned long *nodes,
                                int scope) {
  FAULT_POINT();
  const struct gpu *gpu = device_gpu(device);
  if (gpu == NULL || words == 0 || scope != NVML_AFFINITY_OF_NODE) {
    return device_failure();
  }
  memset(nodes, 0, words * sizeof *nodes);
  if (gpu->numa_node < 0 || (unsigned)gpu->numa_node / 64 >= words) {
    return NVML_NOT_SUPPORTED;
  }
  nodes[gpu->numa_node / 64] = 1ul << (gpu->numa_node % 64);
  return NVML_OK;
}

/* ---- links: PCIe, NVLink, chip to chip ---- */

/* The file has the link when it was idle. A process that asks again samples GPUs at work: then the
 * link is as fast as copies are. */
int nvmlDeviceGetCurrPcieLinkGeneration(struct nvml_device *device, unsigned *generation) {
  static atomic_bool asked[MACHINE_GPUS_MAX];
  BEGIN_GPU(device);
  const bool works = atomic_exchange(&asked[gpu - the_machine()->gpus], true);
  return device_give_number(works ? gpu->pcie_generation_max : gpu->pcie_generation, generation);
}

int nvmlDeviceGetCurrPcieLinkWidth(struct nvml_device *device, unsigned *width) {
  BEGIN_GPU(device);
  return device_give_number(gpu->pcie_width, width);
}

int nvmlDeviceGetMaxPcieLinkGeneration(struct nvml_device *device, unsigned *generation) {
  BEGIN_GPU(device);
  return device_give_number(gpu->pcie_generation_max, generation);
}

int nvmlDeviceGetMaxPcieLinkWidth(struct nvml_device *device, unsigned *width) {
  BEGIN_GPU(device);
  return device_give_number(gpu->pcie_width_max, width);
}

static int find_link(const struct gpu *gpu, unsigned link) {
  return link < gpu->nvlink_count              ? NVML_OK
         : gpu->nvlink_count == 0 && link == 0 ? NVML_NOT_SUPPORTED
                                               : NVML_INVALID_ARGUMENT;
}
#define BEGIN_LINK(device, link)                                                                   \
  BEGIN_GPU(device);                                                                               \
  if (find_link(gpu, link) != NVML_OK) {                                                           \
    return find_link(gpu, link);                                                                   \
  }

int nvmlDeviceGetNvLinkState(struct nvml_device *device, unsigned link, int *active) {
  BEGIN_LINK(device, link);
  *active = 1;
  return NVML_OK;
}

int nvmlDeviceGetNvLinkVersion(struct nvml_device *device, unsigned link, unsigned *version) {
  BEGIN_LINK(device, link);
  /* NVML's numbers: 4 = NVLink 3.0, 6 = 4.0, 7 = 5.0. */
  *version = gpu->compute_major >= 10 ? 7 : gpu->compute_major == 9 ? 6 : 4;
  return NVML_OK;
}

/* The GPU at the other end of a link, or -1 for a switch. Links lead to a switch where a GPU has
 * more links to all others together than it has ports. */
static int remote_gpu(const struct gpu *gpu, unsigned link) {
  const struct machine *machine = the_machine();
  size_t from = (size_t)(gpu - machine->gpus);
  unsigned total = 0;
  int remote = -1;
  for (uint32_t to = 0; to < machine->gpu_count; to++) {
    unsigned count = machine->links[from][to].nvlink_count;
    if (link >= total && link < total + count) {
      remote = (int)to;
    }
    total += count;
  }
  return total > gpu->nvlink_count ? -1 : remote;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(struct nvml_device *device, unsigned link, int *type) {
  BEGIN_LINK(device, link);
  *type = remote_gpu(gpu, link) >= 0 ? NVML_REMOTE_GPU : NVML_REMOTE_SWITCH;
  return NVML_OK;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(struct nvml_device *device, unsigned link,
                                        struct nvml_pci_info *info) {
  BEGIN_LINK(device, link);
  int remote = remote_gpu(gpu, link);
  if (remote >= 0) {
    fill_pci_info(the_machine()->gpus[remote].pci_address, info);
    return NVML_OK;
  }
  *info = (struct nvml_pci_info){.domain = 0xff, .bus = 5 + link % 4};
  (void)snprintf(info->bus_id, sizeof info->bus_id, "%08X:%02X:00.0", info->domain, info->bus);
  return NVML_OK;
}

static void answer_field(const struct gpu *gpu, struct nvml_field *field) {
  field->result = NVML_NOT_SUPPORTED;
  field->value_type = NVML_VALUE_UINT;
  uint64_t megabytes = 0;
  bool known = false;
  switch (field->field_id) {
  case NVML_FIELD_NVLINK_SPEED_COMMON:
  case NVML_FIELD_NVLINK_SPEED:
    megabytes = gpu->nvlink_bytes_per_second / 1000000;
    known = gpu->nvlink_count > field->scope_id && megabytes > 0;
    break;
  case NVML_FIELD_C2C_LINK_COUNT:
    megabytes = 1;
    known = gpu->c2c_bytes_per_second > 0;
    break;
  case NVML_FIELD_C2C_LINK_STATUS:
    megabytes = 1;
    known = gpu->c2c_bytes_per_second > 0 && field->scope_id == 0;
    break;
  case NVML_FIELD_C2C_LINK_SPEED:
    megabytes = gpu->c2c_bytes_per_second / 1000000;
    known = gpu->c2c_bytes_per_second > 0 && field->scope_id == 0;
    break;
  default:
    known = device_counter(gpu, field->field_id, &megabytes);
    break;
  }
  if (known) {
    field->value.uint_value = (unsigned)megabytes;
    field->result = NVML_OK;
  }
}

int nvmlDeviceGetFieldValues(struct nvml_device *device, int count, struct nvml_field *fields) {
  BEGIN_GPU(device);
  for (int i = 0; i < count; i++) {
    if (fields[i].result == NVML_OK) { /* as driver 580 does */
      answer_field(gpu, &fields[i]);
    }
  }
  return NVML_OK;
}
