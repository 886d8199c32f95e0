/* GPU_FACT_LIST, through NVML: one function per fact, one table. */
#include "engine/machine/probe.h"

#include <stdio.h>

struct gpu_query {
  struct machine *machine;
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
  for (size_t i = 0; i < sizeof CLOCKS / sizeof CLOCKS[0]; i++) {
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

/* In the order of GPU_FACT_LIST (a test holds them against each other). */
static const struct {
  const char *name;
  gpu_fact_function answer;
} GPU_FACTS[] = {
#define GPU_FACT_(id)                                                                              \
  { #id, id }
    GPU_FACT_(vbios),       GPU_FACT_(ecc), GPU_FACT_(mig),        GPU_FACT_(persistence),
    GPU_FACT_(power_limit), GPU_FACT_(gsp), GPU_FACT_(gpu_clocks),
#undef GPU_FACT_
};

void probe_gpu_facts(struct probe *probe) {
  for (uint32_t gpu = 0; gpu < probe->machine->gpu_count; gpu++) {
    for (size_t i = 0; i < sizeof GPU_FACTS / sizeof GPU_FACTS[0]; i++) {
      struct gpu_query query = {.machine = probe->machine,
                                .nvml = probe->nvml,
                                .device = probe->devices[gpu],
                                .name = GPU_FACTS[i].name,
                                .gpu = (int32_t)gpu};
      if (query.device != NULL) {
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
