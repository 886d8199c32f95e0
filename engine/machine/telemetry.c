#include "engine/machine/telemetry.h"

#include "engine/base/clock.h"
#include "engine/machine/probe.h"

#include <stdio.h>
#include <stdlib.h>

struct telemetry {
  struct nvml nvml;
  uint32_t gpu_count;
  struct nvml_device *devices[MACHINE_GPUS_MAX]; /* NULL = NVML does not show it */
};

enum status telemetry_new(const struct machine *machine, struct telemetry **telemetry,
                          struct error *err) {
  if (machine->gpu_count == 0) {
    return error_set(err, STATUS_UNSUPPORTED, "there is no GPU to sample");
  }
  struct telemetry *made = calloc(1, sizeof *made);
  if (made == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for telemetry");
  }
  enum status status = nvml_load(&made->nvml, err);
  if (status != STATUS_OK) {
    free(made);
    if (err != NULL) {
      err->status = STATUS_UNSUPPORTED; /* denied as well: there is nothing to sample */
    }
    return STATUS_UNSUPPORTED;
  }
  made->gpu_count = machine->gpu_count;
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    made->devices[i] = probe_nvml_device(&made->nvml, machine->gpus[i].pci_address);
  }
  *telemetry = made;
  return STATUS_OK;
}

void telemetry_free(struct telemetry *telemetry) {
  if (telemetry != NULL) {
    nvml_unload(&telemetry->nvml);
    free(telemetry);
  }
}

static int64_t value_or_unknown(int result, unsigned value, int64_t factor) {
  return result == NVML_OK ? value * factor : -1;
}

static void read_device(const struct nvml *nvml, struct nvml_device *device,
                        struct telemetry_sample *sample) {
  unsigned value = 0;
  int result = NVML_CALL(nvml, nvmlDeviceGetClockInfo, device, NVML_CLOCK_OF_SM, &value);
  sample->sm_clock_khz = value_or_unknown(result, value, 1000);
  result = NVML_CALL(nvml, nvmlDeviceGetClockInfo, device, NVML_CLOCK_OF_MEMORY, &value);
  sample->memory_clock_khz = value_or_unknown(result, value, 1000);
  result = NVML_CALL(nvml, nvmlDeviceGetPowerUsage, device, &value);
  sample->power_mw = value_or_unknown(result, value, 1);
  result = NVML_CALL(nvml, nvmlDeviceGetTemperature, device, NVML_SENSOR_OF_GPU, &value);
  sample->temperature_c = value_or_unknown(result, value, 1);
  result = NVML_CALL(nvml, nvmlDeviceGetCurrPcieLinkGeneration, device, &value);
  sample->pcie_generation = value_or_unknown(result, value, 1);
  result = NVML_CALL(nvml, nvmlDeviceGetCurrPcieLinkWidth, device, &value);
  sample->pcie_width = value_or_unknown(result, value, 1);
  struct nvml_utilization utilization = {0};
  result = NVML_CALL(nvml, nvmlDeviceGetUtilizationRates, device, &utilization);
  sample->utilization_percent = value_or_unknown(result, utilization.gpu_percent, 1);
  unsigned long long reasons = 0;
  result = NVML_CALL(nvml, nvmlDeviceGetCurrentClocksThrottleReasons, device, &reasons);
  sample->throttle_reasons = result == NVML_OK ? (int64_t)(reasons & INT64_MAX) : -1;
}

size_t telemetry_read(struct telemetry *telemetry,
                      struct telemetry_sample samples[MACHINE_GPUS_MAX]) {
  for (uint32_t i = 0; i < telemetry->gpu_count; i++) {
    samples[i] = (struct telemetry_sample){.time_ns = clock_now_ns(),
                                           .gpu = (int32_t)i,
                                           .sm_clock_khz = -1,
                                           .memory_clock_khz = -1,
                                           .power_mw = -1,
                                           .temperature_c = -1,
                                           .utilization_percent = -1,
                                           .pcie_generation = -1,
                                           .pcie_width = -1,
                                           .throttle_reasons = -1};
    if (telemetry->devices[i] != NULL) {
      read_device(&telemetry->nvml, telemetry->devices[i], &samples[i]);
    }
  }
  return telemetry->gpu_count;
}

void telemetry_extent_init(struct telemetry_extent *extent) {
  *extent = (struct telemetry_extent){.sm_clock_min_khz = -1,
                                      .sm_clock_max_khz = -1,
                                      .power_max_mw = -1,
                                      .temperature_max_c = -1,
                                      .pcie_generation_max = -1,
                                      .pcie_width_max = -1,
                                      .throttle_reasons = -1};
}

static void widen_up(int64_t *extreme, int64_t value) {
  *extreme = value > *extreme ? value : *extreme;
}

void telemetry_extent_add(struct telemetry_extent *extent, const struct telemetry_sample *sample) {
  extent->sample_count++;
  if (sample->sm_clock_khz >= 0 &&
      (extent->sm_clock_min_khz < 0 || sample->sm_clock_khz < extent->sm_clock_min_khz)) {
    extent->sm_clock_min_khz = sample->sm_clock_khz;
  }
  widen_up(&extent->sm_clock_max_khz, sample->sm_clock_khz);
  widen_up(&extent->power_max_mw, sample->power_mw);
  widen_up(&extent->temperature_max_c, sample->temperature_c);
  widen_up(&extent->pcie_generation_max, sample->pcie_generation);
  widen_up(&extent->pcie_width_max, sample->pcie_width);
  if (sample->throttle_reasons >= 0) {
    extent->throttle_reasons =
        (extent->throttle_reasons < 0 ? 0 : extent->throttle_reasons) | sample->throttle_reasons;
  }
}

void telemetry_throttle_text(int64_t throttle_reasons, char text[FACT_VALUE_MAX]) {
  /* Idle, application clocks and display clocks are settings, no throttling. */
  static const struct {
    int64_t bit;
    const char *name;
  } REASONS[] = {{NVML_THROTTLE_SW_POWER_CAP, "sw_power_cap"},
                 {NVML_THROTTLE_HW_SLOWDOWN, "hw_slowdown"},
                 {NVML_THROTTLE_SYNC_BOOST, "sync_boost"},
                 {NVML_THROTTLE_SW_THERMAL, "sw_thermal"},
                 {NVML_THROTTLE_HW_THERMAL, "hw_thermal"},
                 {NVML_THROTTLE_HW_POWER_BRAKE, "hw_power_brake"}};
  size_t length = 0;
  text[0] = '\0';
  for (size_t i = 0; i < sizeof REASONS / sizeof REASONS[0]; i++) {
    if (throttle_reasons > 0 && (throttle_reasons & REASONS[i].bit) != 0) {
      length += (size_t)snprintf(text + length, FACT_VALUE_MAX - length, "%s%s",
                                 length > 0 ? "," : "", REASONS[i].name);
    }
  }
  if (length == 0) {
    (void)snprintf(text, FACT_VALUE_MAX, "none");
  }
}
