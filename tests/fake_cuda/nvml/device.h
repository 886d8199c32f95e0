/* device.h - what the entry points of the fake NVML share: nvml.c has those of the library, of what
 * a GPU is and how it is linked, load.c those of what it does now, counters.c those of errors. Each
 * begins with FAULT_POINT().
 */
#pragma once

#include "engine/cuda/nvml.h"
#include "tests/fake_cuda/machine/config.h"

#define NVML_EXPORT_(name, arguments) __attribute__((visibility("default"))) int name arguments;
NVML_FUNCTION_LIST(NVML_EXPORT_)
NVML_EXPORT_(nvmlDeviceGetHandleByPciBusId_v2, (const char *address, struct nvml_device **device))
#undef NVML_EXPORT_
__attribute__((visibility("default"))) const char *nvmlErrorString(int result);

/* A handle is the GPU's entry in the machine; NULL: it is not one, or NVML is not initialised. */
const struct gpu *device_gpu(const struct nvml_device *device);
/* The result where there is no GPU. */
int device_failure(void);
int device_index(const struct gpu *gpu);
/* Whether a fact of the GPU has that value; the result where it has none. */
int device_fact_is(const struct nvml_device *device, const char *name, const char *wanted,
                   bool *is);
/* The value of a counter of errors, or the temperature of the memory; false: NVML does not give it.
 */
bool device_counter(const struct gpu *gpu, unsigned field, uint64_t *value);
/* A number, which 0 says is not known. */
int device_give_number(uint64_t value, unsigned *number);
/* What a fault gives the entry point; a sticky one stays for the whole process. */
int device_fault(const char *entry_point);

#define FAULT_POINT()                                                                              \
  do {                                                                                             \
    const int fault_ = device_fault(__func__);                                                     \
    if (fault_ != NVML_OK) {                                                                       \
      return fault_;                                                                               \
    }                                                                                              \
  } while (0)
/* An entry point of a GPU begins with it: declares `gpu`. */
#define BEGIN_GPU(device)                                                                          \
  FAULT_POINT();                                                                                   \
  const struct gpu *gpu = device_gpu(device);                                                      \
  if (gpu == NULL) {                                                                               \
    return device_failure();                                                                       \
  }
