/* config.h - what the fake driver is told to be: a machine, its speeds, its faults.
 *
 * Read once from the files named by HAUL_FAKE_MACHINE and HAUL_FAKE_FAULTS (README.md describes
 * them); immutable afterwards, but for the counters of the faults. GPUs are indices in struct
 * machine everywhere in this folder; only the entry points speak of CUDA ordinals. Speeds are in
 * bytes per second, times in ns. */
#ifndef HAUL_TESTS_FAKE_CUDA_MACHINE_CONFIG_H
#define HAUL_TESTS_FAKE_CUDA_MACHINE_CONFIG_H

#include "engine/cuda/driver.h"
#include "engine/machine/machine.h"
#include "tests/fake_cuda/machine/faults.h"

enum { FAKE_LINKS_MAX = 64, FAKE_FAULTS_MAX = 32, FAKE_PATH_MAX = 4096 };

/* Rates of [fake.speeds]; 0 = derived from the machine's theoretical peaks. */
#define FAKE_SPEED_LIST(X)                                                                         \
  X(SPEED_HOST_TO_DEVICE, "host_to_device")         /* pinned, one GPU */                          \
  X(SPEED_DEVICE_TO_HOST, "device_to_host")         /* pinned, one GPU */                          \
  X(SPEED_DEVICE_TO_DEVICE, "device_to_device")     /* one pair with peer access */                \
  X(SPEED_LOCAL, "local")                           /* GPU memory, read and written together */    \
  X(SPEED_PAGEABLE_TO_DEVICE, "pageable_to_device") /* one copy, limited by a host thread */       \
  X(SPEED_DEVICE_TO_PAGEABLE, "device_to_pageable") /* one copy, limited by a host thread */       \
  X(SPEED_STAGED, "staged")                         /* GPU to GPU through the host */              \
  X(SPEED_HOST_TO_HOST, "host_to_host")             /* by the driver */
ENUM_NAMES_DECLARE(fake_speed, FAKE_SPEED_LIST)

/* A link that differs from the others: its speed times factor. */
struct link_factor {
  int32_t from; /* GPU, PLACE_HOST or PLACE_ANY of faults.h */
  int32_t to;
  double factor;
};

struct fake_config {
  struct machine machine; /* no GPUs where HAUL_FAKE_MACHINE is not set */
  char machine_file[FAKE_PATH_MAX];
  struct simulation simulation;
  bool real_clock; /* operations take their time really; false: on a virtual clock */
  double speeds[fake_speed_name_count];
  double sm_factor;    /* rate of a kernel over a link, relative to a copy engine's */
  double operation_ns; /* what every copy and kernel takes beside its bytes */
  uint64_t seed;
  double noise_within;       /* relative standard deviation of operations */
  double noise_between;      /* the same of a path's mean from process to process */
  uint64_t throttle_reasons; /* as NVML reports them, of every GPU */
  struct link_factor links[FAKE_LINKS_MAX];
  uint32_t link_count;
  struct fault faults[FAKE_FAULTS_MAX];
  uint32_t fault_count;
};

/* The configuration, read at the first call from the files that the environment names. A file that
 * is wrong is reported on stderr and sets *broken: the driver is there, but fails to start. */
struct fake_config *config_get(bool *broken);
/* The same from given files; either may be NULL. */
enum status config_load(struct fake_config *config, const char *machine_file,
                        const char *faults_file, struct error *err) CHECK_RESULT;
/* The index of a CUDA ordinal, or -1. */
int32_t config_gpu_of_ordinal(const struct fake_config *config, int ordinal);
/* Number of GPUs visible to CUDA. */
int config_visible_gpus(const struct fake_config *config);

#endif
