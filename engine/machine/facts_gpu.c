/* GPU_FACT_LIST, through NVML and sysfs: one function per fact, one table. */
#include "engine/base/macros.h"
#include "engine/machine/error_counters.h"
#include "engine/machine/machine.h"
#include "engine/machine/probe.h"
#include "kernels/code.h"

#include <stdio.h>

struct gpu_query {
  struct machine *machine;
  const struct machine_sources *sources;
  const struct nvml *nvml;
  struct nvml_device *device;
  const char *name;
  int32_t gpu;
};

typedef void (*gpu_fact_function)(const struct gpu_query *query);

/* The reason when result is no success; true when it is one. */
static bool succeeded(const struct gpu_query *query, int result) {
  if (result != NVML_OK) {
    machine_add_fact(query->machine, query->name, query->gpu, nvml_fact_state(result), "%s",
                     nvml_text(query->nvml, result));
  }
  return result == NVML_OK;
}

static void gpu_fact_add(const struct gpu_query *query, const char *value) {
  machine_add_fact(query->machine, query->name, query->gpu, FACT_OK, "%s", value);
}

static void gpu_fact_add_on_off(const struct gpu_query *query, int result, bool on) {
  if (succeeded(query, result)) {
    gpu_fact_add(query, on ? "on" : "off");
  }
}

static void vbios(const struct gpu_query *query) {
  char text[64] = "";
  if (succeeded(query, NVML_CALL(query->nvml, nvmlDeviceGetVbiosVersion, query->device, text,
                                 (unsigned)sizeof text))) {
    gpu_fact_add(query, text);
  }
}

static void ecc(const struct gpu_query *query) {
  int current = 0;
  int pending = 0;
  int result = NVML_CALL(query->nvml, nvmlDeviceGetEccMode, query->device, &current, &pending);
  gpu_fact_add_on_off(query, result, current != 0);
}

static void mig(const struct gpu_query *query) {
  unsigned current = 0;
  unsigned pending = 0;
  int result = NVML_CALL(query->nvml, nvmlDeviceGetMigMode, query->device, &current, &pending);
  gpu_fact_add_on_off(query, result, current != 0);
}

static void persistence(const struct gpu_query *query) {
  int mode = 0;
  int result = NVML_CALL(query->nvml, nvmlDeviceGetPersistenceMode, query->device, &mode);
  gpu_fact_add_on_off(query, result, mode != 0);
}

static void power_limit(const struct gpu_query *query) {
  unsigned milliwatts = 0;
  if (succeeded(query, NVML_CALL(query->nvml, nvmlDeviceGetEnforcedPowerLimit, query->device,
                                 &milliwatts))) {
    machine_add_fact(query->machine, query->name, query->gpu, FACT_OK, "%u", milliwatts);
  }
}

static void gsp(const struct gpu_query *query) {
  unsigned enabled = 1;
  unsigned default_mode = 0;
  char version[64] = "";
  if (NVML_CALL(query->nvml, nvmlDeviceGetGspFirmwareMode, query->device, &enabled,
                &default_mode) == NVML_OK &&
      enabled == 0) {
    gpu_fact_add(query, "off");
  } else if (succeeded(query, NVML_CALL(query->nvml, nvmlDeviceGetGspFirmwareVersion, query->device,
                                        version))) {
    gpu_fact_add(query, version);
  }
}

static void gpu_clocks(const struct gpu_query *query) {
  static const int CLOCKS[] = {NVML_CLOCK_OF_GRAPHICS, NVML_CLOCK_OF_MEMORY};
  bool locked = false;
  for (size_t i = 0; i < COUNT_OF(CLOCKS); i++) {
    unsigned set = 0;
    unsigned usual = 0;
    int result =
        NVML_CALL(query->nvml, nvmlDeviceGetApplicationsClock, query->device, CLOCKS[i], &set);
    if (result == NVML_OK) {
      result = NVML_CALL(query->nvml, nvmlDeviceGetDefaultApplicationsClock, query->device,
                         CLOCKS[i], &usual);
    }
    if (!succeeded(query, result)) {
      return;
    }
    locked = locked || set != usual;
  }
  gpu_fact_add(query, locked ? "locked" : "default");
}

static void power_limit_default(const struct gpu_query *query) {
  unsigned milliwatts = 0;
  if (succeeded(query, NVML_CALL(query->nvml, nvmlDeviceGetPowerManagementDefaultLimit,
                                 query->device, &milliwatts))) {
    machine_add_fact(query->machine, query->name, query->gpu, FACT_OK, "%u", milliwatts);
  }
}

static void bar1_bytes(const struct gpu_query *query) {
  struct nvml_bar1 memory = {0};
  if (succeeded(query,
                NVML_CALL(query->nvml, nvmlDeviceGetBAR1MemoryInfo, query->device, &memory))) {
    machine_add_fact(query->machine, query->name, query->gpu, FACT_OK, "%llu", memory.total_bytes);
  }
}

/* A status other than success is the reason why a completed registration is of no use. */
static void fabric(const struct gpu_query *query) {
  static const char *const STATES[] = {[NVML_FABRIC_NOT_SUPPORTED] = "none",
                                       [NVML_FABRIC_NOT_STARTED] = "not started",
                                       [NVML_FABRIC_IN_PROGRESS] = "in progress",
                                       [NVML_FABRIC_COMPLETED] = "completed"};
  struct nvml_fabric info = {0};
  int result = NVML_CALL(query->nvml, nvmlDeviceGetGpuFabricInfo, query->device, &info);
  if (result == NVML_NOT_SUPPORTED) {
    gpu_fact_add(query, STATES[NVML_FABRIC_NOT_SUPPORTED]);
  } else if (succeeded(query, result) && info.state <= NVML_FABRIC_COMPLETED) {
    const bool failed = info.state == NVML_FABRIC_COMPLETED && info.status != NVML_OK;
    machine_add_fact(query->machine, query->name, query->gpu, FACT_OK, "%s%s%s", STATES[info.state],
                     failed ? ": " : "", failed ? nvml_text(query->nvml, info.status) : "");
  } else if (result == NVML_OK) {
    machine_add_fact(query->machine, query->name, query->gpu, FACT_UNAVAILABLE, "state %u",
                     info.state);
  }
}

/* Drivers that do not know the question have GPUs without such a link. */
static void c2c(const struct gpu_query *query) {
  struct nvml_c2c info = {0};
  int result = NVML_CALL(query->nvml, nvmlDeviceGetC2cModeInfoV, query->device, &info);
  if (result == NVML_NOT_SUPPORTED || result == NVML_FUNCTION_NOT_FOUND) {
    gpu_fact_add(query, "none");
  } else {
    gpu_fact_add_on_off(query, result, info.enabled != 0);
  }
}

static void memory_node(const struct gpu_query *query) {
  const int32_t number = query->machine->gpus[query->gpu].memory_node;
  machine_add_fact(query->machine, query->name, query->gpu, FACT_OK, number < 0 ? "none" : "%d",
                   number);
}

/* ---- the way to the root ---- */

/* "0000:00:01.0 0000:01:00.0": what stands between pciDDDD:BB and the GPU in the path that sysfs
 * links to, "../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0". */
static enum fact_state gpu_read_bridges(const struct gpu_query *query, char text[FACT_VALUE_MAX]) {
  char path[SOURCES_PATH_MAX];
  char target[SOURCES_PATH_MAX];
  if (query->machine->simulated) {
    (void)snprintf(text, FACT_VALUE_MAX, "the GPU is simulated");
    return FACT_UNAVAILABLE;
  }
  (void)snprintf(path, sizeof path, "/sys/bus/pci/devices/%s",
                 query->machine->gpus[query->gpu].pci_address);
  enum fact_state state = sources_read_link(query->sources, path, target, sizeof target);
  if (state != FACT_OK) {
    (void)snprintf(text, FACT_VALUE_MAX, "%s", target);
    return state;
  }
  size_t length = 0;
  text[0] = '\0';
  for (char *part = target, *end; (end = strchr(part, '/')) != NULL; part = end + 1) {
    char address[16];
    *end = '\0';
    if (machine_normalise_pci(part, address) && length + sizeof address < FACT_VALUE_MAX) {
      length += (size_t)snprintf(text + length, FACT_VALUE_MAX - length, "%s%s",
                                 length > 0 ? " " : "", address);
    }
  }
  return FACT_OK;
}

static void pcie_path(const struct gpu_query *query) {
  char bridges[FACT_VALUE_MAX];
  enum fact_state state = gpu_read_bridges(query, bridges);
  machine_add_fact(query->machine, query->name, query->gpu, state, "%s",
                   bridges[0] != '\0' ? bridges : "none");
}

enum { PCI_CONFIG_MAX = 4096, PCI_EXTENDED = 0x100, PCI_ACS = 0x0d, PCI_ACS_CONTROL = 6 };
/* P2P Request Redirect and P2P Completion Redirect Enable. */
enum { PCI_ACS_REDIRECT = 0x0c };

/* The ACS Control Register, by the list of extended capabilities ("PCI Express Base Specification",
 * 7.6 and 7.7); 0 where there is none. *visible: the part of the configuration that holds it was
 * readable, which takes root. */
static unsigned pci_acs_control(const unsigned char *config, size_t length, bool *visible) {
  size_t at = PCI_EXTENDED;
  *visible = length >= PCI_CONFIG_MAX;
  /* Each capability takes 4 bytes at least: a list that runs in a circle ends. */
  for (size_t seen = 0; seen < PCI_CONFIG_MAX / 4 && at >= PCI_EXTENDED && at + 8 <= length;
       seen++) {
    const unsigned id = config[at] | (unsigned)config[at + 1] << 8;
    if (id == PCI_ACS) {
      return config[at + PCI_ACS_CONTROL];
    }
    at = ((size_t)config[at + 2] >> 4 | (size_t)config[at + 3] << 4) & 0xffc;
  }
  return 0;
}

static void acs(const struct gpu_query *query) {
  char bridges[FACT_VALUE_MAX];
  char reason[FACT_VALUE_MAX];
  char found[FACT_VALUE_MAX] = "";
  size_t length = 0;
  enum fact_state state = gpu_read_bridges(query, bridges);
  if (state != FACT_OK) {
    machine_add_fact(query->machine, query->name, query->gpu, state, "%s", bridges);
    return;
  }
  char *rest = NULL;
  for (const char *bridge = strtok_r(bridges, " ", &rest); bridge != NULL;
       bridge = strtok_r(NULL, " ", &rest)) {
    char path[SOURCES_PATH_MAX];
    unsigned char config[PCI_CONFIG_MAX];
    size_t read = 0;
    bool visible = false;
    (void)snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/config", bridge);
    state = sources_read_bytes(query->sources, path, config, sizeof config, &read, reason);
    if (state == FACT_OK && (pci_acs_control(config, read, &visible) & PCI_ACS_REDIRECT) != 0 &&
        length + SOURCES_PATH_MAX / 8 < sizeof found) {
      length += (size_t)snprintf(found + length, sizeof found - length, " %s", bridge);
    } else if (state == FACT_OK && !visible) {
      state = FACT_DENIED;
      (void)snprintf(reason, sizeof reason, "only root reads all of %.64s", path);
    }
    if (state != FACT_OK) {
      machine_add_fact(query->machine, query->name, query->gpu, state, "%s", reason);
      return;
    }
  }
  machine_add_fact(query->machine, query->name, query->gpu, FACT_OK, "%s%s",
                   length > 0 ? "redirects at" : "off", found);
}

static void kernel_code(const struct gpu_query *query) {
  const struct gpu *gpu = &query->machine->gpus[query->gpu];
  const struct kernel_target target = {gpu->compute_major, gpu->compute_minor,
                                       query->machine->driver_cuda_version};
  char text[KERNEL_CODE_TEXT_MAX];
  kernel_code_describe(&target, text);
  gpu_fact_add(query, text);
}

/* One list of what is missing, which is the same from run to run: the counts are not. */
static void error_counters(const struct gpu_query *query) {
  struct error_counts counts;
  unsigned long long number = 0;
  char missing[FACT_VALUE_MAX] = "";
  size_t length = 0;
  size_t missing_count = 0;
  error_counts_init(&counts);
  error_counts_read(query->nvml, query->device, &counts);
  if (NVML_CALL(query->nvml, nvmlDeviceGetSupportedEventTypes, query->device, &number) == NVML_OK &&
      (number & NVML_EVENT_XID) != 0) {
    counts.values[ERROR_COUNTER_XID] = 0;
  }
  const bool temperature =
      nvml_read_field(query->nvml, query->device, NVML_FIELD_MEMORY_TEMPERATURE, 0, &number);
  for (size_t i = 0; i <= error_counter_name_count; i++) {
    const bool counter = i < error_counter_name_count;
    if (counter ? counts.values[i] < 0 : !temperature) {
      missing_count++;
      length += (size_t)snprintf(
          missing + length, sizeof missing - length, "%s%s", length > 0 ? ", " : "",
          counter ? error_counter_text((enum error_counter)i) : "temperature of the memory");
    }
  }
  if (missing_count > error_counter_name_count) {
    machine_add_fact(query->machine, query->name, query->gpu, FACT_UNAVAILABLE, "NVML has none");
  } else {
    machine_add_fact(query->machine, query->name, query->gpu, FACT_OK, "%s%s",
                     length > 0 ? "unavailable: " : "all", missing);
  }
}

/* In the order of GPU_FACT_LIST (a test holds them against each other). */
static const struct {
  const char *name;
  gpu_fact_function answer;
  bool without_nvml;
} GPU_FACTS[] = {
#define GPU_FACT_(id)                                                                              \
  { #id, id, false }
    GPU_FACT_(vbios),
    GPU_FACT_(ecc),
    GPU_FACT_(mig),
    GPU_FACT_(persistence),
    GPU_FACT_(power_limit),
    GPU_FACT_(gsp),
    GPU_FACT_(gpu_clocks),
    GPU_FACT_(power_limit_default),
    GPU_FACT_(bar1_bytes),
    GPU_FACT_(fabric),
    {"pcie_path", pcie_path, true},
    {"acs", acs, true},
    GPU_FACT_(c2c),
    {"memory_node", memory_node, true},
    {"kernel_code", kernel_code, true},
    GPU_FACT_(error_counters),
#undef GPU_FACT_
};

void probe_gpu_facts(struct probe *probe) {
  for (uint32_t gpu = 0; gpu < probe->machine->gpu_count; gpu++) {
    for (size_t i = 0; i < COUNT_OF(GPU_FACTS); i++) {
      struct gpu_query query = {.machine = probe->machine,
                                .sources = probe->sources,
                                .nvml = probe->nvml,
                                .device = probe->devices[gpu],
                                .name = GPU_FACTS[i].name,
                                .gpu = (int32_t)gpu};
      if (query.device != NULL || GPU_FACTS[i].without_nvml) {
        GPU_FACTS[i].answer(&query);
      } else if (probe->nvml->library == NULL) {
        machine_add_fact(query.machine, query.name, query.gpu, probe->nvml_state, "%s",
                         probe->nvml_reason);
      } else {
        machine_add_fact(query.machine, query.name, query.gpu, FACT_UNAVAILABLE,
                         "NVML does not show this GPU");
      }
    }
  }
}
