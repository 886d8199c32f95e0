/* driver.h - the CUDA driver API, loaded at run time.
 *
 * cuda_driver_load() resolves the entry points of CUDA_FUNCTION_LIST (driver_api.h) through
 * cuGetProcAddress, so that one executable runs under every driver and on machines without one. */
#pragma once

#include "engine/base/error.h"
#include "engine/cuda/driver_api.h"

/* From which CUDA version of the driver on there is a cuMemcpyBatchAsync. */
enum { CUDA_BATCH_VERSION = 12080 };

struct cuda_driver {
  void *library;                       /* NULL = not loaded */
  int version;                         /* cuDriverGetVersion: 13000 for CUDA 13.0 */
  const struct simulation *simulation; /* NULL = a real driver */
#define CUDA_FUNCTION_MEMBER_(name, version, need, arguments) name##_function name;
  CUDA_FUNCTION_LIST(CUDA_FUNCTION_MEMBER_)
#undef CUDA_FUNCTION_MEMBER_
  /* Found by their exported names: drivers differ in what cuGetProcAddress gives under the old name
   * and a newer version. NULL in drivers before CUDA 12.2. */
  cuMemPrefetchAsync_v2_function cuMemPrefetchAsync_v2;
  cuMemAdvise_v2_function cuMemAdvise_v2;
  cuMemcpyBatchAsync_function cuMemcpyBatchAsync; /* NULL in drivers before CUDA_BATCH_VERSION */
};

/* With this a message begins if there is no libcuda.so.1. */
#define CUDA_NO_DRIVER "no NVIDIA driver"

/* Load libcuda.so.1 and call cuInit. STATUS_UNSUPPORTED: there is no driver, it is too old (with
 * the entry point that is missing), or it has no device; the message says which and is fit for
 * cuda_state. Of a driver that did not start, `simulation` alone is known. */
enum status cuda_driver_load(struct cuda_driver *driver, struct error *err) CHECK_RESULT;
/* Forget the entry points. The library itself stays: the driver has threads of its own in it. */
void cuda_driver_unload(struct cuda_driver *driver);

/* Turns a CUresult into a status: OK, NO_MEMORY (out of memory), UNSUPPORTED, CUDA (one of the
 * codes that are known to leave the context whole: invalid value, not ready ...) or STICKY (any
 * other: the context may be lost); the message is "what: NAME (number: text)". */
enum status cuda_check(const struct cuda_driver *driver, CUresult result, struct error *err,
                       const char *what, ...) __attribute__((format(printf, 4, 5))) CHECK_RESULT;

/* How a fake driver says that it is one. The fake libcuda.so.1 of tests/fake_cuda exports
 * haul_simulation(). Where the loaded driver has that symbol, the machine is marked simulated, its
 * host topology is taken from here, and NUMA bindings to node n go to the real node n % (number of
 * real nodes): code paths run, numbers mean nothing. A real driver has no such symbol. */
#define SIMULATION_SYMBOL "haul_simulation"
enum { SIMULATION_NODES_MAX = 64 };

struct simulation {
  uint32_t version; /* 3; 2: without the last member, 1: without the last three */
  uint32_t node_count;
  int32_t node_numbers[SIMULATION_NODES_MAX];
  uint8_t node_distance[SIMULATION_NODES_MAX][SIMULATION_NODES_MAX];
  const char *machine_file;                      /* path of the TOML it was told to be */
  uint32_t node_cpu_count[SIMULATION_NODES_MAX]; /* 0 = memory only */
  uint64_t node_memory_bytes[SIMULATION_NODES_MAX];
  const char *mistake; /* in its files, for which it does not start; NULL = none */
};

typedef const struct simulation *(*simulation_function)(void);
