/* The table behind cuGetProcAddress, versions and error texts; and how this driver says that it is
 * a fake one (engine/cuda/driver.h). */
#include "tests/fake_cuda/driver/driver_api.h"

#include <string.h>

static const struct {
  const char *name;
  int version;
  void (*function)(void);
} functions[] = {
#define FAKE_ROW_(name, version, symbol) {#name, version, (void (*)(void))drv_##symbol},
    FAKE_FUNCTION_LIST(FAKE_ROW_)
#undef FAKE_ROW_
};

__attribute__((visibility("default"))) const struct simulation *haul_simulation(void);

const struct simulation *haul_simulation(void) {
  bool broken;
  return &config_get(&broken)->simulation;
}

static int driver_version(void) {
  bool broken;
  return config_get(&broken)->machine.driver_cuda_version;
}

/* The newest function of that name that both the caller and this driver know. */
static CUdriverProcAddressQueryResult find(const char *name, int version, void **function) {
  int known = driver_version();
  int best = -1;
  bool named = false;
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    if (strcmp(functions[i].name, name) != 0 || (known > 0 && functions[i].version > known)) {
      continue;
    }
    named = true;
    if (functions[i].version <= version && functions[i].version > best) {
      best = functions[i].version;
      memcpy(function, &functions[i].function, sizeof *function);
    }
  }
  if (best >= 0) {
    return CU_GET_PROC_ADDRESS_SUCCESS;
  }
  return named ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
}

CUresult drv_cuGetProcAddress_v2(const char *symbol, void **pfn, int version, cuuint64_t flags,
                                 CUdriverProcAddressQueryResult *status) {
  (void)flags;
  if (symbol == NULL || pfn == NULL) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *pfn = NULL;
  CUdriverProcAddressQueryResult answer = find(symbol, version, pfn);
  if (status != NULL) {
    *status = answer;
    return CUDA_SUCCESS; /* as the real driver: the answer is in the status */
  }
  return answer == CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult drv_cuGetProcAddress(const char *symbol, void **pfn, int version, cuuint64_t flags) {
  return drv_cuGetProcAddress_v2(symbol, pfn, version, flags, NULL);
}

static const struct {
  CUresult code;
  const char *name;
  const char *text;
} errors[] = {
#define ERROR_(code, text)                                                                         \
  { code, #code, text }
    ERROR_(CUDA_SUCCESS, "no error"),
    ERROR_(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    ERROR_(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    ERROR_(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    ERROR_(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    ERROR_(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    ERROR_(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    ERROR_(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    ERROR_(CUDA_ERROR_ECC_UNCORRECTABLE, "uncorrectable ECC error encountered"),
    ERROR_(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    ERROR_(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    ERROR_(CUDA_ERROR_NOT_READY, "device not ready"),
    ERROR_(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    ERROR_(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
    ERROR_(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled"),
    ERROR_(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access has not been enabled"),
    ERROR_(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
           "peer access is not supported between these two devices"),
    ERROR_(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
    ERROR_(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
           "part or all of the requested memory range is already mapped"),
    ERROR_(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
           "pointer does not correspond to a registered memory region"),
    ERROR_(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    ERROR_(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    ERROR_(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
           "operation not permitted when stream is capturing"),
    ERROR_(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
           "operation failed due to a previous error during capture"),
    ERROR_(CUDA_ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state"),
    ERROR_(CUDA_ERROR_UNKNOWN, "unknown error"),
#undef ERROR_
};

static CUresult find_error(CUresult code, const char **name, const char **text) {
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
    if (errors[i].code == code) {
      *name = errors[i].name;
      *text = errors[i].text;
      return CUDA_SUCCESS;
    }
  }
  *name = *text = NULL;
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuGetErrorName(CUresult code, const char **name) {
  const char *text;
  return find_error(code, name, &text);
}

CUresult drv_cuGetErrorString(CUresult code, const char **text) {
  const char *name;
  return find_error(code, &name, text);
}

CUresult drv_cuDriverGetVersion(int *version) {
  if (version == NULL) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *version = driver_version();
  return CUDA_SUCCESS;
}
