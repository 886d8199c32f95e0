#include "engine/machine/telemetry.h"

#include "engine/base/clock.h"
#include "engine/base/macros.h"
#include "engine/machine/machine.h"
#include "engine/machine/probe.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROCESSES_MAX = 64, EVENTS_MAX = 64 /* taken at a time */ };

/* What NVML last said of the processes of a GPU. */
struct busy {
  unsigned long long seen_us;
  bool unsupported;
  unsigned count;
  struct nvml_process_utilization processes[PROCESSES_MAX];
};

struct telemetry {
  struct nvml nvml;
  uint32_t gpu_count;
  struct nvml_device *devices[MACHINE_GPUS_MAX]; /* NULL = NVML does not show it */
  pid_t run;                                     /* the process whose children measure */
  bool run_seen; /* NVML listed one of its children: it counts pids as this process does */
  struct busy busy[MACHINE_GPUS_MAX];
  struct nvml_event_set *events;                /* Xid errors; NULL = NVML does not report them */
  struct error_counts errors[MACHINE_GPUS_MAX]; /* as last read */
};

/* Where a GPU has no such events its count stays at "not available". */
static void telemetry_listen(struct telemetry *telemetry) {
  const struct nvml *nvml = &telemetry->nvml;
  if (NVML_CALL(nvml, nvmlEventSetCreate, &telemetry->events) != NVML_OK) {
    telemetry->events = NULL;
  }
  for (uint32_t i = 0; i < telemetry->gpu_count; i++) {
    error_counts_init(&telemetry->errors[i]);
    if (telemetry->events != NULL && telemetry->devices[i] != NULL &&
        NVML_CALL(nvml, nvmlDeviceRegisterEvents, telemetry->devices[i], NVML_EVENT_XID,
                  telemetry->events) == NVML_OK) {
      telemetry->errors[i].values[ERROR_COUNTER_XID] = 0;
    }
  }
}

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
  made->run = getppid();
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    made->devices[i] = probe_nvml_device(&made->nvml, machine->gpus[i].pci_address);
  }
  telemetry_listen(made);
  *telemetry = made;
  return STATUS_OK;
}

void telemetry_free(struct telemetry *telemetry) {
  if (telemetry != NULL) {
    if (telemetry->events != NULL) {
      (void)NVML_CALL(&telemetry->nvml, nvmlEventSetFree, telemetry->events);
    }
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
  unsigned long long energy = 0;
  result = NVML_CALL(nvml, nvmlDeviceGetTotalEnergyConsumption, device, &energy);
  sample->energy_mj = result == NVML_OK ? (int64_t)(energy & INT64_MAX) : -1;
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
  unsigned long long celsius = 0;
  sample->memory_temperature_c =
      nvml_read_field(nvml, device, NVML_FIELD_MEMORY_TEMPERATURE, 0, &celsius)
          ? (int64_t)(celsius & INT64_MAX)
          : -1;
}

/* Xid errors since the last time. */
static void read_events(struct telemetry *telemetry) {
  struct nvml_event event;
  for (int i = 0;
       telemetry->events != NULL && i < EVENTS_MAX &&
       NVML_CALL(&telemetry->nvml, nvmlEventSetWait_v2, telemetry->events, &event, 0) == NVML_OK;
       i++) {
    for (uint32_t gpu = 0; gpu < telemetry->gpu_count; gpu++) {
      if (telemetry->devices[gpu] == event.device && event.event_type == NVML_EVENT_XID) {
        telemetry->errors[gpu].values[ERROR_COUNTER_XID]++;
        telemetry->errors[gpu].last_xid = (int64_t)(event.event_data & INT64_MAX);
      }
    }
  }
}

void telemetry_read_errors(struct telemetry *telemetry, uint32_t gpus,
                           struct error_counts errors[MACHINE_GPUS_MAX]) {
  read_events(telemetry);
  for (uint32_t i = 0; i < MACHINE_GPUS_MAX; i++) {
    error_counts_init(&errors[i]);
    if (i < telemetry->gpu_count && (gpus >> i & 1) != 0 && telemetry->devices[i] != NULL) {
      error_counts_read(&telemetry->nvml, telemetry->devices[i], &telemetry->errors[i]);
      errors[i] = telemetry->errors[i];
    }
  }
}

/* The parent of a process; 0 = not known. */
static pid_t process_parent(pid_t pid) {
  char path[32];
  char text[512];
  (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  FILE *file = fopen(path, "re");
  const size_t length = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file != NULL) {
    (void)fclose(file);
  }
  text[length] = '\0';
  /* "PID (NAME) STATE PARENT ...", where the name may hold anything. */
  const char *end = strrchr(text, ')');
  int parent = 0;
  return end != NULL && sscanf(end, ") %*c %d", &parent) == 1 ? parent : 0;
}

static void process_name(pid_t pid, char name[TELEMETRY_NAME_MAX]) {
  char path[32];
  (void)snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
  FILE *file = fopen(path, "re");
  if (file != NULL) {
    if (fgets(name, TELEMETRY_NAME_MAX, file) == NULL) {
      name[0] = '\0';
    }
    name[strcspn(name, "\n")] = '\0';
    (void)fclose(file);
  }
}

/* A worker, or a process that a worker started. */
static bool process_is_of_run(pid_t pid, pid_t run) {
  const pid_t parent = pid == run ? run : process_parent(pid);
  return parent == run || (parent > 1 && process_parent(parent) == run);
}

/* It exists, for this process to see. */
static bool process_is_visible(pid_t pid) {
  return kill(pid, 0) == 0 || errno == EPERM;
}

/* NVML keeps samples for a while: where it has no newer one, the last one stands. */
static void read_busy(const struct nvml *nvml, struct nvml_device *device, struct busy *busy) {
  struct nvml_process_utilization processes[PROCESSES_MAX];
  memset(processes, 0, sizeof processes);
  unsigned count = PROCESSES_MAX;
  const int result =
      NVML_CALL(nvml, nvmlDeviceGetProcessUtilization, device, processes, &count, busy->seen_us);
  busy->unsupported = result != NVML_OK && result != NVML_NOT_FOUND;
  if (result != NVML_OK || count > PROCESSES_MAX) {
    return;
  }
  memcpy(busy->processes, processes, sizeof processes);
  busy->count = count;
  for (unsigned i = 0; i < count; i++) {
    if (processes[i].timestamp_us > busy->seen_us) {
      busy->seen_us = processes[i].timestamp_us;
    }
  }
}

static int32_t busy_percent(const struct busy *busy, unsigned pid) {
  unsigned percent = 0;
  for (unsigned i = 0; i < busy->count; i++) {
    const struct nvml_process_utilization *used = &busy->processes[i];
    if (used->pid == pid) {
      percent = used->sm_percent > percent ? used->sm_percent : percent;
      percent = used->memory_percent > percent ? used->memory_percent : percent;
    }
  }
  return busy->unsupported ? -1 : (int32_t)percent;
}

static void add_other(struct telemetry_sample *sample, pid_t pid, const struct busy *busy,
                      unsigned listed) {
  if (sample->other_count < TELEMETRY_OTHERS_MAX) {
    struct telemetry_process *other = &sample->others[sample->other_count];
    other->pid = pid;
    other->busy_percent = busy_percent(busy, listed);
    process_name(pid, other->name);
  }
  sample->other_count++;
}

/* The worker, and the processes beside it whose memory its cases have. */
static unsigned count_measuring(pid_t run) {
  char path[64];
  unsigned count = 1;
  int pid = 0;
  (void)snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)run, (int)run);
  FILE *file = fopen(path, "re");
  while (file != NULL && fscanf(file, "%d", &pid) == 1) {
    char name[TELEMETRY_NAME_MAX];
    process_name((pid_t)pid, name);
    count += strncmp(name, PEERS_NAME, sizeof PEERS_NAME - 1) == 0;
  }
  if (file != NULL) {
    (void)fclose(file);
  }
  return count;
}

/* Compute processes that are not of this run. In a container NVML may list processes by numbers
 * that mean nothing here, and this run's with them: as long as no process of the run was listed by
 * its own number, as many that are not visible are taken to be its worker and those beside it. */
static void read_others(struct telemetry *telemetry, uint32_t gpu,
                        struct telemetry_sample *sample) {
  struct nvml_process processes[PROCESSES_MAX];
  unsigned count = PROCESSES_MAX;
  if (NVML_CALL(&telemetry->nvml, nvmlDeviceGetComputeRunningProcesses_v3, telemetry->devices[gpu],
                &count, processes) != NVML_OK ||
      count > PROCESSES_MAX) {
    return;
  }
  struct busy *busy = &telemetry->busy[gpu];
  read_busy(&telemetry->nvml, telemetry->devices[gpu], busy);
  sample->other_count = 0;
  unsigned hidden[PROCESSES_MAX];
  unsigned hidden_count = 0;
  for (unsigned i = 0; i < count; i++) {
    const pid_t pid = (pid_t)processes[i].pid;
    if (pid <= 0 || !process_is_visible(pid)) {
      hidden[hidden_count++] = processes[i].pid;
    } else if (process_is_of_run(pid, telemetry->run)) {
      telemetry->run_seen = true;
    } else {
      add_other(sample, pid, busy, processes[i].pid);
    }
  }
  const bool known = telemetry->run_seen || hidden_count == 0;
  for (unsigned i = known ? 0 : count_measuring(telemetry->run); i < hidden_count; i++) {
    add_other(sample, 0, busy, hidden[i]);
  }
}

bool telemetry_read(struct telemetry *telemetry, uint32_t gpu, struct telemetry_sample *sample) {
  struct error_counts errors[MACHINE_GPUS_MAX];
  if (gpu >= telemetry->gpu_count) {
    return false;
  }
  telemetry_read_errors(telemetry, UINT32_C(1) << gpu, errors);
  *sample = (struct telemetry_sample){.time_ns = clock_now_ns(),
                                      .gpu = (int32_t)gpu,
                                      .sm_clock_khz = -1,
                                      .memory_clock_khz = -1,
                                      .power_mw = -1,
                                      .energy_mj = -1,
                                      .temperature_c = -1,
                                      .utilization_percent = -1,
                                      .pcie_generation = -1,
                                      .pcie_width = -1,
                                      .throttle_reasons = -1,
                                      .other_count = -1,
                                      .memory_temperature_c = -1,
                                      .errors = errors[gpu]};
  if (telemetry->devices[gpu] != NULL) {
    read_device(&telemetry->nvml, telemetry->devices[gpu], sample);
    read_others(telemetry, gpu, sample);
  }
  return true;
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
  for (size_t i = 0; i < COUNT_OF(REASONS); i++) {
    if (throttle_reasons > 0 && (throttle_reasons & REASONS[i].bit) != 0) {
      length += (size_t)snprintf(text + length, FACT_VALUE_MAX - length, "%s%s",
                                 length > 0 ? "," : "", REASONS[i].name);
    }
  }
  if (length == 0) {
    (void)snprintf(text, FACT_VALUE_MAX, "none");
  }
}
