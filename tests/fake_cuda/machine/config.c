#include "tests/fake_cuda/machine/config.h"

#include "schema/machine/machine_file.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

ENUM_NAMES_DEFINE(fault_kind, FAULT_KIND_LIST)

static void set_defaults(struct fake_config *config) {
  *config = (struct fake_config){
      .sm_factor = 0.94,
      .remote_factor = 0.6,
      .operation_ns = 2300,
      .seed = 1,
  };
  /* One host thread's copy through a page-locked buffer: measured on 4 x H200. */
  config->speeds[SPEED_PAGEABLE_TO_DEVICE] = 9.7e9;
  config->speeds[SPEED_DEVICE_TO_PAGEABLE] = 16.3e9;
  config->speeds[SPEED_HOST_TO_HOST] = 12e9;
}

static void describe_simulation(struct fake_config *config) {
  const struct machine *machine = &config->machine;
  struct simulation *simulation = &config->simulation;
  *simulation = (struct simulation){.version = 3, .machine_file = config->machine_file};
  simulation->node_count = machine->node_count;
  for (uint32_t i = 0; i < machine->node_count; i++) {
    simulation->node_numbers[i] = machine->nodes[i].number;
    simulation->node_cpu_count[i] = machine->nodes[i].cpu_count;
    simulation->node_memory_bytes[i] = machine->nodes[i].memory_bytes;
    memcpy(simulation->node_distance[i], machine->node_distance[i], machine->node_count);
  }
}

enum status config_load(struct fake_config *config, const char *machine_file,
                        const char *faults_file, struct error *err) {
  set_defaults(config);
  enum status status = STATUS_OK;
  if (machine_file != NULL) {
    (void)snprintf(config->machine_file, sizeof config->machine_file, "%s", machine_file);
    status = machine_file_load(machine_file, &config->machine, err);
    if (status == STATUS_OK) {
      status = fake_table_load(machine_file, false, config, err);
    }
  }
  if (status == STATUS_OK && faults_file != NULL) {
    status = fake_table_load(faults_file, true, config, err);
  }
  if (status == STATUS_OK) {
    describe_simulation(config);
  }
  return status;
}

void config_fini(struct fake_config *config) {
  for (uint32_t i = 0; i < config->disturbance_count; i++) {
    episodes_fini(&config->disturbances[i]);
  }
  config->disturbance_count = 0;
}

int32_t config_gpu_of_ordinal(const struct fake_config *config, int ordinal) {
  for (uint32_t gpu = 0; ordinal >= 0 && gpu < config->machine.gpu_count; gpu++) {
    if (config->machine.gpus[gpu].cuda_ordinal == ordinal) {
      return (int32_t)gpu;
    }
  }
  return -1;
}

int config_visible_gpus(const struct fake_config *config) {
  int count = 0;
  for (uint32_t gpu = 0; gpu < config->machine.gpu_count; gpu++) {
    count += config->machine.gpus[gpu].cuda_ordinal >= 0 ? 1 : 0;
  }
  return count;
}

/* A driver is one for its process. */
static struct fake_config the_config;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load_once(void) {
  struct error error = {0};
  if (config_load(&the_config, getenv("HAUL_FAKE_MACHINE"), getenv("HAUL_FAKE_FAULTS"), &error) !=
      STATUS_OK) {
    static char mistake[sizeof error.message + FAKE_PATH_MAX];
    const struct position *at = &error.position;
    if (at->file != NULL && at->line > 0) {
      (void)snprintf(mistake, sizeof mistake, "%s:%u:%u: ", at->file, at->line, at->column);
    }
    const size_t length = strlen(mistake);
    (void)snprintf(mistake + length, sizeof mistake - length, "%s", error.message);
    the_config.simulation = (struct simulation){.version = 3, .mistake = mistake};
  }
}

uint64_t config_process(void) {
  const char *path = getenv("HAUL_FAKE_PROCESSES");
  const int file = path == NULL ? -1 : open(path, O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) {
    return (uint64_t)getpid();
  }
  const off_t place = write(file, ".", 1) == 1 ? lseek(file, 0, SEEK_CUR) : 0;
  (void)close(file);
  return (uint64_t)place;
}

struct fake_config *config_get(bool *broken) {
  (void)pthread_once(&once, load_once);
  *broken = the_config.simulation.mistake != NULL;
  return &the_config;
}

static bool place_fits(int32_t wanted, int32_t place) {
  return wanted == PLACE_ANY || wanted == place;
}

static bool fits(const struct fault *fault, const struct fault_call *call) {
  if (fault->kind == FAULT_FLIP_BYTE && fault->offset >= call->size_bytes) {
    return false; /* it has no such byte: small copies beside the data stay whole */
  }
  return fnmatch(fault->call, call->name, 0) == 0 && place_fits(fault->gpu, call->gpu) &&
         place_fits(fault->from, call->from) && place_fits(fault->to, call->to) &&
         (fault->size_bytes == 0 || fault->size_bytes == call->size_bytes);
}

/* A marker makes a fault hit once over all processes: only one of them can create the file. */
static bool take_marker(const struct fault *fault) {
  if (fault->marker[0] == '\0') {
    return true;
  }
  int file = open(fault->marker, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0) {
    (void)close(file);
  }
  return file >= 0;
}

const struct fault *faults_trigger(struct fault *faults, uint32_t fault_count,
                                   const struct fault_call *call) {
  const struct fault *triggered = NULL;
  for (uint32_t i = 0; i < fault_count; i++) {
    struct fault *fault = &faults[i];
    if (!fits(fault, call)) {
      continue;
    }
    uint64_t ordinal = atomic_fetch_add(&fault->seen, 1) + 1;
    bool due = ordinal >= fault->nth && (fault->count == 0 || ordinal - fault->nth < fault->count);
    if (due && triggered == NULL && take_marker(fault)) {
      triggered = fault;
    }
  }
  return triggered;
}
