#include "engine/machine/error_counters.h"

#include "engine/cuda/nvml.h"
#include "engine/machine/machine.h"
#include "engine/machine/probe.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

ENUM_NAMES_DEFINE(error_counter, ERROR_COUNTER_LIST)

enum { FIRST_ANSWER_S = 3, LATER_ANSWER_S = 1 }; /* the first loads NVML */

struct error_counters {
  const struct machine *machine;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  uint64_t asked, answered; /* numbers of questions */
  uint32_t gpus;            /* of the question */
  bool silent;              /* one was not answered in time */
  bool quit;
  struct error_counts counts; /* the answer */
};

static void counts_clear(struct error_counts *counts) {
  for (size_t gpu = 0; gpu < MACHINE_GPUS_MAX; gpu++) {
    for (size_t i = 0; i < error_counter_name_count; i++) {
      counts->values[gpu][i] = -1;
    }
  }
}

static void counts_read_gpu(const struct nvml *nvml, struct nvml_device *device,
                            int64_t values[error_counter_name_count]) {
#define ERROR_COUNTER_FIELD_(id, text, field) [id] = (field),
  static const unsigned fields[error_counter_name_count] = {
      ERROR_COUNTER_LIST(ERROR_COUNTER_FIELD_)};
  for (size_t i = 0; i < error_counter_name_count; i++) {
    unsigned long long value = 0;
    if (nvml_read_field(nvml, device, fields[i], 0, &value)) {
      values[i] = (int64_t)(value & INT64_MAX);
    }
  }
}

/* Without the lock: NVML may keep it for ever. */
static void *error_counters_thread(void *opaque) {
  struct error_counters *counters = opaque;
  struct nvml_device *devices[MACHINE_GPUS_MAX] = {NULL};
  struct nvml nvml;
  const bool loaded = nvml_load(&nvml, NULL) == STATUS_OK;
  for (uint32_t i = 0; loaded && i < counters->machine->gpu_count; i++) {
    devices[i] = probe_nvml_device(&nvml, counters->machine->gpus[i].pci_address);
  }
  (void)pthread_mutex_lock(&counters->lock);
  while (!counters->quit) {
    if (counters->answered == counters->asked) {
      (void)pthread_cond_wait(&counters->changed, &counters->lock);
      continue;
    }
    const uint64_t question = counters->asked;
    const uint32_t gpus = counters->gpus;
    (void)pthread_mutex_unlock(&counters->lock);
    struct error_counts counts;
    counts_clear(&counts);
    for (uint32_t i = 0; i < counters->machine->gpu_count; i++) {
      if ((gpus >> i & 1) != 0 && devices[i] != NULL) {
        counts_read_gpu(&nvml, devices[i], counts.values[i]);
      }
    }
    (void)pthread_mutex_lock(&counters->lock);
    counters->counts = counts;
    counters->answered = question;
    (void)pthread_cond_broadcast(&counters->changed);
  }
  (void)pthread_mutex_unlock(&counters->lock);
  if (loaded) {
    nvml_unload(&nvml);
  }
  return NULL;
}

struct error_counters *error_counters_new(const struct machine *machine) {
  struct error_counters *counters = calloc(1, sizeof *counters);
  pthread_condattr_t attributes;
  if (counters == NULL || machine->gpu_count == 0 || machine->nvml_lost) {
    free(counters);
    return NULL;
  }
  counters->machine = machine;
  (void)pthread_mutex_init(&counters->lock, NULL);
  (void)pthread_condattr_init(&attributes);
  (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  (void)pthread_cond_init(&counters->changed, &attributes);
  (void)pthread_condattr_destroy(&attributes);
  if (pthread_create(&counters->thread, NULL, error_counters_thread, counters) != 0) {
    free(counters);
    return NULL;
  }
  return counters;
}

void error_counters_free(struct error_counters *counters) {
  if (counters == NULL) {
    return;
  }
  (void)pthread_mutex_lock(&counters->lock);
  const bool silent = counters->silent;
  counters->quit = true;
  (void)pthread_cond_broadcast(&counters->changed);
  (void)pthread_mutex_unlock(&counters->lock);
  if (silent) {
    (void)pthread_detach(counters->thread); /* it may come back, and needs what it has */
    return;
  }
  (void)pthread_join(counters->thread, NULL);
  (void)pthread_cond_destroy(&counters->changed);
  (void)pthread_mutex_destroy(&counters->lock);
  free(counters);
}

void error_counters_read(struct error_counters *counters, uint32_t gpus,
                         struct error_counts *counts) {
  counts_clear(counts);
  if (counters == NULL || counters->silent || gpus == 0) {
    return;
  }
  struct timespec until;
  (void)clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += counters->answered == 0 ? FIRST_ANSWER_S : LATER_ANSWER_S;
  (void)pthread_mutex_lock(&counters->lock);
  counters->gpus = gpus;
  const uint64_t question = ++counters->asked;
  (void)pthread_cond_broadcast(&counters->changed);
  while (counters->answered != question && !counters->silent) {
    counters->silent = pthread_cond_timedwait(&counters->changed, &counters->lock, &until) != 0 &&
                       counters->answered != question;
  }
  if (!counters->silent) {
    *counts = counters->counts;
  }
  (void)pthread_mutex_unlock(&counters->lock);
}
