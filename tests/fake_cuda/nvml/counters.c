/* Error counters and Xid events: those that a fault plants, and zero for the others that the fact
 * error_counters of the machine's file does not call unavailable. */
#include "engine/machine/error_counters.h"
#include "tests/fake_cuda/nvml/device.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct fake_config *the_config(void) {
  bool broken;
  return config_get(&broken);
}

static bool counter_fits(const struct fake_counter *counter, int gpu, unsigned field) {
  return counter->field == field && (counter->gpu == PLACE_ANY || counter->gpu == gpu);
}

static bool counter_began(const struct fake_counter *counter) {
  return counter->when[0] == '\0' || access(counter->when, F_OK) == 0;
}

/* Whether the machine has it: a name of the list behind "unavailable: " is not there. */
static bool counter_recorded(const struct gpu *gpu, const char *name) {
  const struct fact *fact =
      machine_fact(&the_config()->machine, "error_counters", device_index(gpu));
  char listed[128];
  if (fact == NULL || fact->state != FACT_OK) {
    return false;
  }
  (void)snprintf(listed, sizeof listed, ": %s", name);
  const bool first = strstr(fact->value, listed) != NULL;
  (void)snprintf(listed, sizeof listed, ", %s", name);
  return !first && strstr(fact->value, listed) == NULL;
}

static const char *counter_name(unsigned field) {
#define COUNTER_OF_FIELD_(id, text, number)                                                        \
  if (field == (number)) {                                                                         \
    return text;                                                                                   \
  }
  ERROR_COUNTER_LIST(COUNTER_OF_FIELD_)
#undef COUNTER_OF_FIELD_
  return field == NVML_FIELD_MEMORY_TEMPERATURE ? "temperature of the memory" : NULL;
}

bool device_counter(const struct gpu *gpu, unsigned field, uint64_t *value) {
  const struct fake_config *config = the_config();
  for (uint32_t i = 0; i < config->counter_count; i++) {
    if (counter_fits(&config->counters[i], device_index(gpu), field)) {
      *value = counter_began(&config->counters[i]) ? config->counters[i].value : 0;
      return true;
    }
  }
  const char *name = counter_name(field);
  *value = 0;
  return name != NULL && counter_recorded(gpu, name);
}

/* ---- Xid events: planted as a counter without a field, whose value is the number ---- */

struct nvml_event_set {
  int unused;
};
static struct nvml_event_set the_set;
static uint32_t delivered; /* bit i: counter i of the configuration, once per process */

int nvmlDeviceGetSupportedEventTypes(struct nvml_device *device, unsigned long long *types) {
  FAULT_POINT();
  const struct gpu *gpu = device_gpu(device);
  uint64_t value;
  *types = gpu != NULL && device_counter(gpu, 0, &value) ? NVML_EVENT_XID : 0;
  return gpu != NULL ? NVML_OK : device_failure();
}

int nvmlEventSetCreate(struct nvml_event_set **set) {
  FAULT_POINT();
  *set = &the_set;
  return NVML_OK;
}

int nvmlEventSetFree(struct nvml_event_set *set) {
  FAULT_POINT();
  return set == &the_set ? NVML_OK : NVML_INVALID_ARGUMENT;
}

int nvmlDeviceRegisterEvents(struct nvml_device *device, unsigned long long types,
                             struct nvml_event_set *set) {
  FAULT_POINT();
  unsigned long long supported = 0;
  const int result = nvmlDeviceGetSupportedEventTypes(device, &supported);
  return result != NVML_OK ? result : (types & ~supported) == 0 ? NVML_OK : NVML_NOT_SUPPORTED;
}

int nvmlEventSetWait_v2(struct nvml_event_set *set, struct nvml_event *event, unsigned timeout_ms) {
  FAULT_POINT();
  const struct fake_config *config = the_config();
  for (uint32_t i = 0; i < config->counter_count; i++) {
    const struct fake_counter *counter = &config->counters[i];
    const int32_t gpu = counter->gpu == PLACE_ANY ? 0 : counter->gpu;
    if ((delivered >> i & 1) == 0 && counter_fits(counter, gpu, 0) && counter_began(counter)) {
      struct nvml_device *device = NULL;
      const int result = nvmlDeviceGetHandleByIndex_v2((unsigned)gpu, &device);
      delivered |= UINT32_C(1) << i;
      *event = (struct nvml_event){
          .device = device, .event_type = NVML_EVENT_XID, .event_data = counter->value};
      return result;
    }
  }
  return NVML_TIMED_OUT;
}
