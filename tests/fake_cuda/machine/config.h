/* config.h - what the fake driver is told to be: a machine, its speeds, its faults.
 *
 * Read once from the files named by HAUL_FAKE_MACHINE and HAUL_FAKE_FAULTS (README.md describes
 * them); immutable afterwards, but for the counters of the faults. GPUs are indices in struct
 * machine everywhere in this folder; only the entry points speak of CUDA ordinals. Speeds are in
 * bytes per second, times in ns. */
#pragma once

#include "engine/cuda/driver.h"
#include "engine/machine/machine.h"
#include "tests/fake_cuda/machine/episodes.h"

#include <stdatomic.h>

enum { FAKE_PROCESSES_MAX = 8, FAKE_LINKS_MAX = 64, FAKE_FAULTS_MAX = 32, FAKE_PATH_MAX = 4096 };
enum { FAKE_DISTURBANCES_MAX = 32 };

/* A fault counts the calls that fit its selectors and hits the nth of them (from 1) and the
 * following ones up to `count`. A call is an entry point ("cuMemAlloc", without version suffix) or
 * a kernel's name; a shell pattern ("cuMemcpy*") fits several. Counting is per process. */
#define FAULT_KIND_LIST(X)                                                                         \
  X(FAULT_OUT_OF_MEMORY, "out_of_memory") /* the call fails; the next may succeed */               \
  X(FAULT_ERROR, "error")                 /* the call fails with `code` */                         \
  X(FAULT_STICKY, "sticky") /* it fails with `code`, and so does all else in that context */       \
  X(FAULT_HANG, "hang")     /* the call, or the operation that it queues, never ends */            \
  X(FAULT_BLOCK,                                                                                   \
    "block") /* the call takes `milliseconds` longer, and on while `while` is there */             \
  X(FAULT_FLIP_BYTE, "flip_byte")       /* byte `offset` of the copy's target is inverted */       \
  X(FAULT_DROP, "drop")                 /* the operation takes its time and does nothing */        \
  X(FAULT_CRASH, "crash")               /* the process gets `signal` */                            \
  X(FAULT_IGNORED_FLAG, "ignored_flag") /* a kernel that waits for a flag never sees it */         \
  X(FAULT_CROWDED, "crowded")           /* its last block has no SM of its own */                  \
  X(FAULT_SLOW, "slow")                 /* the call keeps the processor for call_ns / `factor` */
ENUM_NAMES_DECLARE(fault_kind, FAULT_KIND_LIST)

enum { PLACE_HOST = -1, PLACE_ANY = -2, FAULT_CALL_MAX = 64, FAULT_MARKER_MAX = 1024 };

struct fault {
  enum fault_kind kind;
  char call[FAULT_CALL_MAX];
  uint64_t nth;
  uint64_t count;      /* calls that it hits; 0 = all from the nth on */
  int32_t gpu;         /* of the current context; PLACE_ANY = whichever */
  int32_t from, to;    /* of a copy: GPU, PLACE_HOST, or PLACE_ANY */
  uint64_t size_bytes; /* of a copy or an allocation; 0 = whichever */
  uint64_t offset;
  uint64_t milliseconds;
  double factor;
  int32_t code;
  int32_t signal;
  char hold[FAULT_MARKER_MAX];   /* `block` lasts while this file exists; "" = none */
  char marker[FAULT_MARKER_MAX]; /* hit only where this file could be created; "" = always */
  atomic_uint_fast64_t seen;
};

/* What a call is about, as far as selectors can ask. */
struct fault_call {
  const char *name;
  int32_t gpu;      /* PLACE_ANY = no context */
  int32_t from, to; /* PLACE_ANY = no copy */
  uint64_t size_bytes;
};

/* Count this call for every fault that it fits. Returns the first fault that the call triggers, or
 * NULL. */
const struct fault *faults_trigger(struct fault *faults, uint32_t fault_count,
                                   const struct fault_call *call);

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
  int32_t from; /* GPU, PLACE_HOST or PLACE_ANY */
  int32_t to;
  double factor;
};

/* A compute process that NVML lists, of another program. */
struct fake_process {
  int32_t gpu; /* PLACE_ANY = on all */
  uint64_t pid;
  uint64_t busy_percent;
  char when[FAULT_MARKER_MAX]; /* only while this file exists; "" = always */
};

/* A counter of errors, as NVML has it in a field; field 0: an Xid error of that number. */
struct fake_counter {
  int32_t gpu; /* PLACE_ANY = of all */
  uint64_t field;
  uint64_t value;
  char when[FAULT_MARKER_MAX]; /* 0 until this file exists; "" = always `value` */
};

struct fake_config {
  struct machine machine; /* no GPUs where HAUL_FAKE_MACHINE is not set */
  char machine_file[FAKE_PATH_MAX];
  struct simulation simulation;
  bool real_clock; /* operations take their time really; false: on a virtual clock */
  double speeds[fake_speed_name_count];
  double sm_factor;     /* rate of a kernel over a link, relative to a copy engine's */
  double remote_factor; /* rate of a copy by a thread on another node than the GPU's */
  double operation_ns;  /* what every copy and kernel takes beside its bytes */
  double call_ns;       /* for how long every call keeps the processor at least */
  uint64_t seed;
  double noise_within;       /* relative standard deviation of operations */
  double noise_between;      /* the same of a path's mean from process to process */
  uint64_t throttle_reasons; /* as NVML reports them, of every GPU */
  struct link_factor links[FAKE_LINKS_MAX];
  uint32_t link_count;
  struct fake_disturbance disturbances[FAKE_DISTURBANCES_MAX];
  uint32_t disturbance_count;
  struct fake_process processes[FAKE_PROCESSES_MAX];
  uint32_t process_count;
  struct fake_counter counters[FAKE_PROCESSES_MAX];
  uint32_t counter_count;
  struct fault faults[FAKE_FAULTS_MAX];
  uint32_t fault_count;
};

/* The configuration, read at the first call from the files that the environment names. A file that
 * is wrong sets *broken: the driver is there, but fails to start, and simulation.mistake says why.
 */
struct fake_config *config_get(bool *broken);
/* What tells this process from others in the noise between them: its place in the file that
 * HAUL_FAKE_PROCESSES names, from 1 on, where each that asks leaves a byte; without such a file its
 * id. To be asked once. */
uint64_t config_process(void);
/* The same from given files; either may be NULL. */
enum status config_load(struct fake_config *config, const char *machine_file,
                        const char *faults_file, struct error *err) CHECK_RESULT;
/* Frees what config_load() allocated, also where it failed; not the config. */
void config_fini(struct fake_config *config);
/* fake_table.c: read the [fake] table of a TOML file. What stands there replaces what config has;
 * links, disturbances and faults are added to its. `alone`: the file must hold nothing but [fake].
 * STATUS_INVALID with a position for anything that is not known. */
enum status fake_table_load(const char *path, bool alone, struct fake_config *config,
                            struct error *err) CHECK_RESULT;
/* The index of a CUDA ordinal, or -1. */
int32_t config_gpu_of_ordinal(const struct fake_config *config, int ordinal);
/* Number of GPUs visible to CUDA. */
int config_visible_gpus(const struct fake_config *config);
