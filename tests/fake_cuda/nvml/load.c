/* What a GPU does now: its clocks, power and temperature, the memory in use, and who uses it. It is
 * neither hot nor slow. */
#include "tests/fake_cuda/nvml/device.h"

#include <time.h>
#include <unistd.h>

int nvmlDeviceGetMaxClockInfo(struct nvml_device *device, int clock, unsigned *mhz) {
  BEGIN_GPU(device);
  bool memory = clock == NVML_CLOCK_OF_MEMORY;
  return device_give_number((memory ? gpu->memory_clock_khz : gpu->sm_clock_max_khz) / 1000, mhz);
}

int nvmlDeviceGetDefaultApplicationsClock(struct nvml_device *device, int clock, unsigned *mhz) {
  FAULT_POINT();
  return nvmlDeviceGetMaxClockInfo(device, clock, mhz);
}

int nvmlDeviceGetApplicationsClock(struct nvml_device *device, int clock, unsigned *mhz) {
  FAULT_POINT();
  bool locked;
  int result = device_fact_is(device, "gpu_clocks", "locked", &locked);
  if (result == NVML_OK) {
    result = nvmlDeviceGetMaxClockInfo(device, clock, mhz);
  }
  if (result == NVML_OK && locked && clock != NVML_CLOCK_OF_MEMORY) {
    *mhz -= *mhz / 10;
  }
  return result;
}

int nvmlDeviceGetClockInfo(struct nvml_device *device, int clock, unsigned *mhz) {
  FAULT_POINT();
  int result = nvmlDeviceGetApplicationsClock(device, clock, mhz);
  return result == NVML_OK ? result : nvmlDeviceGetMaxClockInfo(device, clock, mhz);
}

int nvmlDeviceGetPowerUsage(struct nvml_device *device, unsigned *milliwatts) {
  FAULT_POINT();
  int result = nvmlDeviceGetEnforcedPowerLimit(device, milliwatts);
  *milliwatts = *milliwatts / 2;
  return result;
}

/* As if the power had been the same since the host started. */
int nvmlDeviceGetTotalEnergyConsumption(struct nvml_device *device, unsigned long long *mj) {
  unsigned mw = 0;
  struct timespec now;
  const int result = nvmlDeviceGetPowerUsage(device, &mw);
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  *mj = (unsigned long long)(mw * ((double)now.tv_sec + (double)now.tv_nsec / 1e9));
  return result;
}

int nvmlDeviceGetTemperature(struct nvml_device *device, int sensor, unsigned *celsius) {
  FAULT_POINT();
  *celsius = 42;
  return device_gpu(device) == NULL || sensor != NVML_SENSOR_OF_GPU ? device_failure() : NVML_OK;
}

/* Those of [[fake.process]] that run on the GPU now. */
static unsigned running_processes(const struct gpu *gpu,
                                  const struct fake_process *running[FAKE_PROCESSES_MAX]) {
  bool broken;
  const struct fake_config *config = config_get(&broken);
  unsigned count = 0;
  for (uint32_t i = 0; i < config->process_count; i++) {
    const struct fake_process *process = &config->processes[i];
    if ((process->gpu == PLACE_ANY || process->gpu == device_index(gpu)) &&
        (process->when[0] == '\0' || access(process->when, F_OK) == 0)) {
      running[count++] = process;
    }
  }
  return count;
}

int nvmlDeviceGetUtilizationRates(struct nvml_device *device,
                                  struct nvml_utilization *utilization) {
  BEGIN_GPU(device);
  if (gpu->utilization_percent < 0) {
    return NVML_NOT_SUPPORTED;
  }
  const struct fake_process *running[FAKE_PROCESSES_MAX];
  uint64_t percent = (uint64_t)gpu->utilization_percent;
  for (unsigned i = running_processes(gpu, running); i > 0; i--) {
    percent += running[i - 1]->busy_percent;
  }
  *utilization = (struct nvml_utilization){.gpu_percent = percent < 100 ? (unsigned)percent : 100};
  return NVML_OK;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(struct nvml_device *device,
                                              unsigned long long *reasons) {
  FAULT_POINT();
  bool broken;
  *reasons = config_get(&broken)->throttle_reasons;
  return device_gpu(device) == NULL ? device_failure() : NVML_OK;
}

int nvmlDeviceGetMemoryInfo(struct nvml_device *device, struct nvml_memory *memory) {
  BEGIN_GPU(device);
  uint64_t free_bytes = gpu->free_memory_bytes > 0 ? gpu->free_memory_bytes : gpu->memory_bytes;
  *memory = (struct nvml_memory){.total_bytes = gpu->memory_bytes,
                                 .free_bytes = free_bytes,
                                 .used_bytes = gpu->memory_bytes - free_bytes};
  return NVML_OK;
}

int nvmlDeviceGetComputeRunningProcesses_v3(struct nvml_device *device, unsigned *count,
                                            struct nvml_process *processes) {
  BEGIN_GPU(device);
  if (gpu->process_count < 0) {
    return NVML_NOT_SUPPORTED;
  }
  const unsigned room = *count;
  const struct fake_process *running[FAKE_PROCESSES_MAX];
  const unsigned known = running_processes(gpu, running);
  const unsigned others = (unsigned)gpu->process_count;
  *count = others + known;
  if (room < *count) {
    return NVML_INSUFFICIENT_SIZE;
  }
  for (unsigned i = 0; i < *count; i++) {
    processes[i] = (struct nvml_process){
        .pid = i < others ? 4000000 + i : (unsigned)running[i - others]->pid,
        .used_memory_bytes = 1 << 20,
    };
  }
  return NVML_OK;
}

int nvmlDeviceGetProcessUtilization(struct nvml_device *device,
                                    struct nvml_process_utilization *processes, unsigned *count,
                                    unsigned long long since_us) {
  BEGIN_GPU(device);
  const struct fake_process *running[FAKE_PROCESSES_MAX];
  const unsigned room = *count;
  *count = running_processes(gpu, running);
  if (room < *count) {
    return NVML_INSUFFICIENT_SIZE;
  }
  for (unsigned i = 0; i < *count; i++) {
    processes[i] = (struct nvml_process_utilization){
        .pid = (unsigned)running[i]->pid,
        .timestamp_us = since_us + 1,
        .sm_percent = (unsigned)running[i]->busy_percent,
    };
  }
  return *count > 0 ? NVML_OK : NVML_NOT_FOUND;
}
