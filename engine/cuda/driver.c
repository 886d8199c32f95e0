#include "engine/cuda/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define DRIVER_LIBRARY "libcuda.so.1"

struct resolver {
  cuGetProcAddress_v2_function get_address; /* from CUDA 12.0 on */
  cuGetProcAddress_function get_address_v1; /* from CUDA 11.3 on */
};

/* dlsym() yields an object pointer; POSIX promises that it converts, ISO C has no cast for it. */
static void copy_function(void *function_pointer, void *address) {
  memcpy(function_pointer, &address, sizeof address);
}

static void *cuda_driver_resolve(const struct resolver *resolver, const char *name, int version) {
  void *address = NULL;
  if (resolver->get_address != NULL) {
    CUdriverProcAddressQueryResult answer = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    CUresult result =
        resolver->get_address(name, &address, version, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &answer);
    return result == CUDA_SUCCESS && answer == CU_GET_PROC_ADDRESS_SUCCESS ? address : NULL;
  }
  CUresult result =
      resolver->get_address_v1(name, &address, version, CU_GET_PROC_ADDRESS_LEGACY_STREAM);
  return result == CUDA_SUCCESS ? address : NULL;
}

static enum status resolve_all(struct cuda_driver *driver, const struct resolver *resolver,
                               struct error *err) {
  void *address;
  enum { OPTIONAL, REQUIRED };
#define RESOLVE_(name, version, need, arguments)                                                   \
  address = cuda_driver_resolve(resolver, #name, version);                                         \
  if (address == NULL && (need) == REQUIRED) {                                                     \
    return error_set(err, STATUS_UNSUPPORTED,                                                      \
                     "the NVIDIA driver is too old: it has no " #name " (version " #version        \
                     "); driver r525 or newer is needed");                                         \
  }                                                                                                \
  copy_function(&driver->name, address);
  CUDA_FUNCTION_LIST(RESOLVE_)
#undef RESOLVE_
  copy_function(&driver->cuMemcpyBatchAsync,
                cuda_driver_resolve(resolver, "cuMemcpyBatchAsync", CUDA_BATCH_VERSION));
  return STATUS_OK;
}

/* What to look at when cuInit fails with this code (the meanings as cuda.h documents them). */
static const char *advice_on(CUresult result) {
  switch ((int)result) {
  case CUDA_ERROR_NO_DEVICE:
    return ": does nvidia-smi show one, and is CUDA_VISIBLE_DEVICES right?";
  case CUDA_ERROR_SYSTEM_NOT_READY:
    return ": is nvidia-fabricmanager running? On NVSwitch machines the GPUs wait for it";
  case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    return ": libcuda and the loaded kernel module are of different versions: load the new module, "
           "or restart the machine";
  default:
    return ": check whether nvidia-smi answers, whether /dev/nvidia-uvm exists, and what the "
           "log of Linux (dmesg) says of the GPUs";
  }
}

static enum status cuda_driver_open(struct cuda_driver *driver, struct error *err) {
  driver->library = dlopen(DRIVER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (driver->library == NULL) {
    return error_set(err, STATUS_UNSUPPORTED, CUDA_NO_DRIVER ": %s", dlerror());
  }
  simulation_function simulation = NULL;
  copy_function(&simulation, dlsym(driver->library, SIMULATION_SYMBOL));
  driver->simulation = simulation != NULL ? simulation() : NULL;
  if (driver->simulation != NULL && driver->simulation->version >= 3 &&
      driver->simulation->mistake != NULL) {
    return error_set_native(err, STATUS_UNSUPPORTED, CUDA_ERROR_UNKNOWN,
                            "the fake driver cannot use its files: %s",
                            driver->simulation->mistake);
  }
  struct resolver resolver = {0};
  copy_function(&resolver.get_address, dlsym(driver->library, "cuGetProcAddress_v2"));
  copy_function(&resolver.get_address_v1, dlsym(driver->library, "cuGetProcAddress"));
  if (resolver.get_address == NULL && resolver.get_address_v1 == NULL) {
    return error_set(err, STATUS_UNSUPPORTED,
                     "the NVIDIA driver is too old: " DRIVER_LIBRARY
                     " has no cuGetProcAddress; driver r525 or newer is needed");
  }
  RETURN_ON_ERROR(resolve_all(driver, &resolver, err));
  CUresult result = driver->cuInit(0);
  if (result != CUDA_SUCCESS) {
    enum status ignored = cuda_check(driver, result, err, "no usable GPU: cuInit");
    (void)ignored;
    if (err != NULL) {
      size_t length = strlen(err->message);
      (void)snprintf(err->message + length, sizeof err->message - length, "%s", advice_on(result));
    }
    return err != NULL ? (err->status = STATUS_UNSUPPORTED) : STATUS_UNSUPPORTED;
  }
  copy_function(&driver->cuMemPrefetchAsync_v2, dlsym(driver->library, "cuMemPrefetchAsync_v2"));
  copy_function(&driver->cuMemAdvise_v2, dlsym(driver->library, "cuMemAdvise_v2"));
  return cuda_check(driver, driver->cuDriverGetVersion(&driver->version), err,
                    "cuDriverGetVersion");
}

enum status cuda_driver_load(struct cuda_driver *driver, struct error *err) {
  *driver = (struct cuda_driver){0};
  enum status status = cuda_driver_open(driver, err);
  if (status != STATUS_OK) {
    *driver = (struct cuda_driver){.simulation = driver->simulation};
  }
  return status;
}

void cuda_driver_unload(struct cuda_driver *driver) {
  *driver = (struct cuda_driver){0};
}

/* The context works on after these: the call was refused, or the answer is one of those it gives.
 * Any other code may have cost the context, also one that a newer driver brings. */
static enum status status_of_result(CUresult result) {
  switch ((int)result) {
  case CUDA_ERROR_OUT_OF_MEMORY:
    return STATUS_NO_MEMORY;
  case CUDA_ERROR_NOT_SUPPORTED:
  case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
  case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
  case CUDA_ERROR_NO_BINARY_FOR_GPU:
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    return STATUS_UNSUPPORTED;
  case CUDA_ERROR_INVALID_VALUE:
  case CUDA_ERROR_INVALID_DEVICE:
  case CUDA_ERROR_INVALID_IMAGE:
  case CUDA_ERROR_UNSUPPORTED_LIMIT:
  case CUDA_ERROR_PEER_ACCESS_UNSUPPORTED:
  case CUDA_ERROR_NOT_FOUND:
  case CUDA_ERROR_NOT_READY:
  case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
  case CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED:
  case CUDA_ERROR_PEER_ACCESS_NOT_ENABLED:
  case CUDA_ERROR_TOO_MANY_PEERS:
  case CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED:
  case CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED:
  case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
  case CUDA_ERROR_NOT_PERMITTED:
    return STATUS_CUDA;
  default:
    return STATUS_STICKY;
  }
}

enum status cuda_check(const struct cuda_driver *driver, CUresult result, struct error *err,
                       const char *what, ...) {
  if (result == CUDA_SUCCESS) {
    return STATUS_OK;
  }
  const char *name = NULL;
  const char *text = NULL;
  (void)driver->cuGetErrorName(result, &name);
  (void)driver->cuGetErrorString(result, &text);
  va_list args;
  va_start(args, what);
  char call[256];
  (void)vsnprintf(call, sizeof call, what, args);
  va_end(args);
  return error_set_native(err, status_of_result(result), (int)result, "%s: %s (%d: %s)", call,
                          name != NULL ? name : "unknown error", (int)result,
                          text != NULL ? text : "this driver has no text for it");
}
