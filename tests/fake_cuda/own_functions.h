/* own_functions.h - types of the fake driver's functions that haul itself does not use: tests call
 * them, and other programs that run on it. */
#pragma once

#include "engine/cuda/driver.h"

typedef CUresult (*cuMemsetD32Async_function)(CUdeviceptr target, unsigned value, size_t count,
                                              CUstream stream);
