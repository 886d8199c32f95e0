/* Memory of the fake driver: accounting, addresses, bounds. */
#include "tests/fake_cuda/in_child.h"

#include <signal.h>
#include <sys/mman.h>

#define CASE(test) IN_CHILD(test, "h100x8-nvlink.toml", NULL)

static const size_t GIB = (size_t)1 << 30;

static size_t free_bytes(const struct cuda_driver *driver) {
  size_t available;
  size_t total;
  CHECK_OK(driver->cuMemGetInfo(&available, &total));
  CHECK(available <= total && total == 85028896768);
  return available;
}

CASE(gpu_memory_is_accounted) {
  (void)use_gpu(driver, 0);
  size_t before = free_bytes(driver);
  CHECK(before > 70 * GIB);
  CUdeviceptr big = new_memory(driver, 70 * GIB); /* costs nothing until it is touched */
  CHECK(free_bytes(driver) == before - 70 * GIB);
  CUdeviceptr more;
  CHECK_RESULT_IS(CUDA_ERROR_OUT_OF_MEMORY, driver->cuMemAlloc(&more, 20 * GIB));
  CHECK_RESULT_IS(CUDA_ERROR_OUT_OF_MEMORY, driver->cuMemAlloc(&more, SIZE_MAX - 5));
  CHECK_RESULT_IS(CUDA_ERROR_INVALID_VALUE, driver->cuMemAlloc(&more, 0));
  CHECK_RESULT_IS(CUDA_ERROR_INVALID_VALUE, driver->cuMemFree(big + 16));
  CHECK_OK(driver->cuMemFree(big));
  CHECK(free_bytes(driver) == before);
  (void)use_gpu(driver, 1);
  (void)new_memory(driver, GIB);
  CHECK_OK(driver->cuDevicePrimaryCtxRelease(1)); /* frees what is left */
  CHECK_RESULT_IS(CUDA_ERROR_CONTEXT_IS_DESTROYED, driver->cuMemAlloc(&more, 16));
  (void)use_gpu(driver, 1);
  CHECK(free_bytes(driver) == before);
}

IN_CHILD_KILLED(host_cannot_read_device_memory, "h200x4.toml", NULL, SIGSEGV) {
  (void)use_gpu(driver, 0);
  CUdeviceptr device = new_memory(driver, 4096);
  (void)signal(SIGSEGV, SIG_DFL);
  _Exit(*(volatile unsigned char *)(uintptr_t)device);
}

CASE(copies_stay_inside) {
  USE_GPU_0(driver, 4096);
  CHECK_OK(driver->cuMemcpyHtoDAsync(device + 96, host, 4000, stream));
  CHECK_OK(driver->cuMemcpyHtoDAsync(device + 96, host, 0, stream));
  CHECK_RESULT_IS(CUDA_ERROR_INVALID_VALUE,
                  driver->cuMemcpyHtoDAsync(device + 97, host, 4000, stream));
  CHECK_RESULT_IS(CUDA_ERROR_INVALID_VALUE,
                  driver->cuMemcpyDtoHAsync(host + 97, device, 4000, stream));
  CHECK_RESULT_IS(CUDA_ERROR_INVALID_VALUE, driver->cuMemsetD8Async(device, 0, 4097, stream));
  CHECK_OK(driver->cuStreamSynchronize(stream));
  CHECK_OK(driver->cuMemFreeHost(host));
  CHECK_RESULT_IS(CUDA_ERROR_INVALID_VALUE, driver->cuMemFreeHost(host));
}

CASE(host_memory_is_registered_once) {
  (void)use_gpu(driver, 0);
  size_t size = 1 << 20;
  unsigned char *host =
      mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(host != MAP_FAILED);
  CHECK_OK(driver->cuMemHostRegister(host + size, size, 0));
  CHECK_RESULT_IS(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                  driver->cuMemHostRegister(host, size + 1, 0));
  CHECK_OK(driver->cuMemHostRegister(host, size, 0));
  CUdeviceptr device;
  CHECK_OK(driver->cuMemHostGetDevicePointer(&device, host + 5, 0));
  CHECK(device == (CUdeviceptr)(uintptr_t)host + 5);
  CHECK_OK(driver->cuMemHostUnregister(host));
  CHECK_RESULT_IS(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, driver->cuMemHostUnregister(host));
  CHECK_RESULT_IS(CUDA_ERROR_INVALID_VALUE, driver->cuMemHostGetDevicePointer(&device, host, 0));
  CHECK_OK(driver->cuMemHostUnregister(host + size));
  CHECK(munmap(host, 2 * size) == 0);
}

CASE(strided_copies_skip) {
  (void)use_gpu(driver, 0);
  CUstream stream = new_stream(driver);
  CUdeviceptr device = new_memory(driver, 4096);
  unsigned char *host = new_pinned(driver, 8192);
  for (int i = 0; i < 4096; i++) {
    host[i] = (unsigned char)(i * 7);
  }
  memset(host + 4096, 0, 4096);
  CHECK_OK(driver->cuMemcpyHtoDAsync(device, host, 4096, stream));
  CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                        .srcDevice = device,
                        .srcPitch = 64,
                        .srcXInBytes = 8,
                        .srcY = 1,
                        .dstMemoryType = CU_MEMORYTYPE_HOST,
                        .dstHost = host + 4096,
                        .dstPitch = 16,
                        .WidthInBytes = 16,
                        .Height = 3};
  CHECK_OK(driver->cuMemcpy2DAsync(&rows, stream));
  CUDA_MEMCPY3D planes = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = device,
                          .srcPitch = 64,
                          .srcHeight = 8,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = host + 6144,
                          .dstPitch = 4,
                          .dstHeight = 2,
                          .WidthInBytes = 4,
                          .Height = 2,
                          .Depth = 2};
  CHECK_OK(driver->cuMemcpy3DAsync(&planes, stream));
  rows.WidthInBytes = 17;
  CHECK_RESULT_IS(CUDA_ERROR_INVALID_VALUE, driver->cuMemcpy2DAsync(&rows, stream));
  CHECK_OK(driver->cuStreamSynchronize(stream));
  for (size_t row = 0; row < 3; row++) {
    CHECK(memcmp(host + 4096 + 16 * row, host + 64 * (row + 1) + 8, 16) == 0);
  }
  CHECK(memcmp(host + 6144 + 8, host + 512, 4) == 0);
  CHECK(memcmp(host + 6144 + 12, host + 512 + 64, 4) == 0);
}

CASE(managed_memory_moves) {
  (void)use_gpu(driver, 0);
  CUstream stream = new_stream(driver);
  CUdeviceptr managed;
  size_t size = 1 << 20;
  CHECK_OK(driver->cuMemAllocManaged(&managed, size, CU_MEM_ATTACH_GLOBAL));
  memset((void *)(uintptr_t)managed, 5, size); /* the host may touch it */
  CUevent start = record(driver, stream);
  CHECK_OK(driver->cuMemPrefetchAsync(managed, size, 0, stream));
  CUevent end = record(driver, stream);
  CHECK_OK(driver->cuStreamSynchronize(stream));
  CHECK(elapsed_ns(driver, start, end) > 10000);
  int where = 99;
  CHECK_OK(driver->cuMemRangeGetAttribute(
      &where, sizeof where, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, managed, size));
  CHECK(where == 0);
  CHECK_OK(driver->cuMemRangeGetAttribute(
      &where, sizeof where, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, managed, size));
  CHECK(where == CU_DEVICE_INVALID);
  CHECK_OK(driver->cuMemAdvise(managed, size, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CU_DEVICE_CPU));
  CHECK_OK(driver->cuMemRangeGetAttribute(
      &where, sizeof where, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, managed, size));
  CHECK(where == CU_DEVICE_CPU);
  CUdeviceptr device = new_memory(driver, size);
  CHECK_RESULT_IS(CUDA_ERROR_INVALID_VALUE, driver->cuMemPrefetchAsync(device, size, 0, stream));
  CHECK_OK(driver->cuMemFree(managed));
}

CASE(calls_need_a_context) {
  CUdeviceptr device;
  CUstream stream;
  CUcontext none = (CUcontext)(uintptr_t)16;
  CHECK_RESULT_IS(CUDA_ERROR_INVALID_CONTEXT, driver->cuMemAlloc(&device, 16));
  CHECK_RESULT_IS(CUDA_ERROR_INVALID_CONTEXT, driver->cuStreamCreate(&stream, 0));
  CHECK_RESULT_IS(CUDA_ERROR_INVALID_CONTEXT, driver->cuCtxSetCurrent(none));
  CHECK_RESULT_IS(CUDA_ERROR_INVALID_DEVICE, driver->cuDevicePrimaryCtxRetain(&none, 8));
}

IN_CHILD_UNLOADED(machine_without_gpus_has_no_device, "no-gpu.toml", NULL) {
  struct cuda_driver none;
  struct error error;
  CHECK(cuda_driver_load(&none, &error) == STATUS_UNSUPPORTED);
  CHECK(strstr(error.message, "CUDA_ERROR_NO_DEVICE") != NULL);
}

/* A driver older than an entry point does not have it. */
IN_CHILD(old_drivers_lack_functions, "h200x4.toml", "[fake]\ncuda_version = 12020\n") {
  CHECK(driver->version == 12020);
  CHECK(driver->cuFuncLoad == NULL);
}
