/* own_functions.h - types of the fake driver's functions that haul itself does not use: tests call
 * them, and other programs that run on it. */
#ifndef HAUL_TESTS_FAKE_CUDA_OWN_FUNCTIONS_H
#define HAUL_TESTS_FAKE_CUDA_OWN_FUNCTIONS_H

#include "engine/cuda/driver.h"

typedef void (*CUhostFn)(void *data);
typedef CUresult (*cuDeviceGetP2PAttribute_function)(int *value, CUdevice_P2PAttribute attribute,
                                                     CUdevice source, CUdevice target);
typedef CUresult (*cuCtxGetCurrent_function)(CUcontext *context);
typedef CUresult (*cuCtxGetDevice_function)(CUdevice *device);
typedef CUresult (*cuPointerGetAttribute_function)(void *data, CUpointer_attribute attribute,
                                                   CUdeviceptr pointer);
typedef CUresult (*cuMemsetD32Async_function)(CUdeviceptr target, unsigned value, size_t count,
                                              CUstream stream);
typedef CUresult (*cuLaunchHostFunc_function)(CUstream stream, CUhostFn function, void *data);

#endif
