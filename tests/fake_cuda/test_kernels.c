/* The kernels' C references, through launches. */
#include "tests/fake_cuda/in_child.h"

#include "engine/base/random.h"
#include "kernels/kernels.h"
#include "kernels/pattern_values.h"

#include <signal.h>

#define CASE(test) IN_CHILD(test, "h100x8-nvlink.toml", NULL)

enum { SIZE = 100003, SEED = 42 };

static CUresult launch(const struct cuda_driver *driver, const char *name, CUstream stream,
                       void *arguments) {
  void *parameters[] = {arguments};
  return driver->cuLaunchKernel(find_kernel(driver, name), 64, 1, 1, 256, 1, 1, 0, stream,
                                parameters, NULL);
}

static CUresult launch_one(const struct cuda_driver *driver, const char *name, CUstream stream,
                           void *arguments) {
  void *parameters[] = {arguments};
  return driver->cuLaunchKernel(find_kernel(driver, name), 1, 1, 1, 1, 1, 1, 0, stream, parameters,
                                NULL);
}

CASE(every_kernel_is_there) {
  (void)use_gpu(driver, 0);
  for (int i = 0; i < (int)kernel_name_count; i++) {
    CHECK(find_kernel(driver, kernel_text((enum kernel)i)) != NULL);
  }
  CUmodule module;
  CUfunction function;
  CHECK_OK(driver->cuModuleLoadData(&module, "any image"));
  CHECK_RESULT_IS(CUDA_ERROR_NOT_FOUND, driver->cuModuleGetFunction(&function, module, "haul"));
  CHECK_OK(driver->cuModuleUnload(module));
}

static struct pattern_compare_result compare(const struct cuda_driver *driver, CUstream stream,
                                             CUdeviceptr address) {
  struct pattern_compare_result *result = (void *)new_pinned(driver, sizeof *result);
  *result = (struct pattern_compare_result){UINT64_MAX, 0};
  struct pattern_compare_arguments arguments = {address, SIZE, SEED, (uint64_t)(uintptr_t)result};
  CHECK_OK(launch(driver, "haul_pattern_compare", stream, &arguments));
  CHECK_OK(driver->cuStreamSynchronize(stream));
  return *result;
}

CASE(patterns_are_compared) {
  USE_GPU_0(driver, SIZE);
  struct pattern_fill_arguments fill = {device, SIZE, SEED, 0, 0};
  CHECK_OK(launch(driver, "haul_pattern_fill", stream, &fill));
  memset(&fill, 0xff, sizeof fill); /* arguments are taken at the launch */
  CHECK_OK(driver->cuMemcpyDtoHAsync(host, device, SIZE, stream));
  struct pattern_compare_result result = compare(driver, stream, device);
  CHECK(result.first_offset == UINT64_MAX && result.bad_bytes == 0);
  for (uint64_t i = 0; i < SIZE; i++) {
    CHECK(host[i] == pattern_byte(SEED, i));
  }
  CHECK_OK(driver->cuMemsetD8Async(device + 77, (unsigned char)~host[77], 1, stream));
  CHECK_OK(driver->cuMemsetD8Async(device + SIZE - 1, (unsigned char)~host[SIZE - 1], 1, stream));
  result = compare(driver, stream, device);
  CHECK(result.first_offset == 77 && result.bad_bytes == 2);
  fill = (struct pattern_fill_arguments){device, SIZE, SEED, 1, 0};
  CHECK_OK(launch(driver, "haul_pattern_fill", stream, &fill));
  result = compare(driver, stream, device);
  CHECK(result.first_offset == 0 && result.bad_bytes == SIZE);
}

/* A part of one of the buffers, for the next operation. */
struct range {
  uint32_t buffer;
  size_t start, size_bytes;
};

enum { BUFFER_BYTES = 3 << 20, BUFFERS = 4, OPERATIONS = 300 };

/* Of any size: sizes are as often small as large. */
static struct range random_range(uint64_t *state) {
  const size_t most = (size_t)1 << random_next(state) % 22;
  struct range range = {.buffer = (uint32_t)(random_next(state) % BUFFERS),
                        .size_bytes = 1 + random_next(state) % most};
  range.start = random_next(state) % (BUFFER_BYTES - range.size_bytes + 1);
  if (random_next(state) % 4 == 0) {
    range.start = 0;
    range.size_bytes = BUFFER_BYTES;
  }
  return range;
}

/* The driver writes down what somebody looks at; nobody may notice, whatever was done before. */
CASE(bytes_are_as_if_written) {
  (void)signal(SIGSEGV, SIG_DFL);
  (void)use_gpu(driver, 0);
  CUstream stream = new_stream(driver);
  const CUdeviceptr address[BUFFERS] = {new_memory(driver, BUFFER_BYTES),
                                        new_memory(driver, BUFFER_BYTES),
                                        (CUdeviceptr)(uintptr_t)new_pinned(driver, BUFFER_BYTES),
                                        (CUdeviceptr)(uintptr_t)new_pinned(driver, BUFFER_BYTES)};
  unsigned char *look = new_pinned(driver, BUFFER_BYTES);
  unsigned char *model[BUFFERS];
  for (int i = 0; i < BUFFERS; i++) {
    model[i] = calloc(1, BUFFER_BYTES);
    CHECK(model[i] != NULL);
    CHECK_OK(driver->cuMemsetD8Async(address[i], 0, BUFFER_BYTES, stream));
  }
  uint64_t state = SEED;
  for (int i = 0; i < OPERATIONS; i++) {
    const struct range to = random_range(&state);
    struct range from = random_range(&state);
    unsigned char *bytes = model[to.buffer] + to.start;
    const uint64_t what = random_next(&state) % 8;
    if (what < 3) {
      struct pattern_fill_arguments fill = {address[to.buffer] + to.start, to.size_bytes,
                                            (uint64_t)i, what == 0, 0};
      CHECK_OK(launch(driver, "haul_pattern_fill", stream, &fill));
      for (size_t k = 0; k < to.size_bytes; k++) {
        bytes[k] = (unsigned char)(pattern_byte((uint64_t)i, k) ^ (what == 0 ? 0xff : 0));
      }
    } else if (what < 6) {
      from.start =
          from.start < BUFFER_BYTES - to.size_bytes ? from.start : BUFFER_BYTES - to.size_bytes;
      CHECK_OK(driver->cuMemcpyAsync(address[to.buffer] + to.start,
                                     address[from.buffer] + from.start, to.size_bytes, stream));
      memmove(bytes, model[from.buffer] + from.start, to.size_bytes);
    } else if (what == 6) {
      CHECK_OK(driver->cuMemsetD8Async(address[to.buffer] + to.start, 7, to.size_bytes, stream));
      memset(bytes, 7, to.size_bytes);
    } else {
      CHECK_OK(driver->cuStreamSynchronize(stream));
      if (to.buffer >= BUFFERS / 2) { /* the host itself */
        unsigned char *host = (unsigned char *)(uintptr_t)address[to.buffer];
        CHECK(memcmp(host, model[to.buffer], BUFFER_BYTES) == 0);
        host[to.start] = 99;
        bytes[0] = 99;
      } else {
        CHECK_OK(driver->cuMemcpyDtoHAsync(look, address[to.buffer], BUFFER_BYTES, stream));
        CHECK_OK(driver->cuStreamSynchronize(stream));
        CHECK(memcmp(look, model[to.buffer], BUFFER_BYTES) == 0);
      }
    }
  }
  for (int i = 0; i < BUFFERS; i++) {
    free(model[i]);
  }
}

/* Page-locked memory that a kernel has filled is the host's to read, and other faults stay theirs.
 */
IN_CHILD_KILLED(other_faults_stay, "h100x8-nvlink.toml", NULL, SIGSEGV) {
  (void)signal(SIGSEGV, SIG_DFL);
  USE_GPU_0(driver, BUFFER_BYTES);
  struct pattern_fill_arguments fill = {(uint64_t)(uintptr_t)host, BUFFER_BYTES, SEED, 0, 0};
  CHECK_OK(launch(driver, "haul_pattern_fill", stream, &fill));
  CHECK_OK(driver->cuStreamSynchronize(stream));
  CHECK(host[12345] == pattern_byte(SEED, 12345));
  _Exit(*(volatile unsigned char *)(uintptr_t)device);
}

/* A kernel that touches another GPU's memory needs peer access; without it the context is lost, and
 * the other GPU's is not. */
CASE(peers_must_be_enabled) {
  CUcontext second = use_gpu(driver, 1);
  CUdeviceptr there = new_memory(driver, SIZE);
  CUcontext first = use_gpu(driver, 0);
  CUstream stream = new_stream(driver);
  struct pattern_fill_arguments fill = {there, SIZE, SEED, 0, 0};
  CHECK_OK(driver->cuCtxEnablePeerAccess(second, 0));
  CHECK_OK(launch(driver, "haul_pattern_fill", stream, &fill));
  CHECK_OK(driver->cuStreamSynchronize(stream));
  CHECK_OK(driver->cuCtxSetCurrent(second));
  CUstream other = new_stream(driver);
  CHECK(compare(driver, other, there).bad_bytes == 0);
  CUdeviceptr here;
  CHECK_OK(driver->cuCtxSetCurrent(first));
  here = new_memory(driver, SIZE);
  CHECK_OK(driver->cuCtxSetCurrent(second)); /* the second has no access to the first */
  fill.address = here;
  CHECK_OK(launch(driver, "haul_pattern_fill", other, &fill));
  CHECK_RESULT_IS(CUDA_ERROR_ILLEGAL_ADDRESS, driver->cuStreamSynchronize(other));
  CUdeviceptr more;
  CHECK_RESULT_IS(CUDA_ERROR_ILLEGAL_ADDRESS, driver->cuMemAlloc(&more, 16));
  CHECK_OK(driver->cuCtxSetCurrent(first));
  CHECK_OK(driver->cuStreamSynchronize(stream));
}

CASE(pageable_memory_is_out_of_reach) {
  (void)use_gpu(driver, 0);
  CUstream stream = new_stream(driver);
  unsigned char *host = calloc(1, SIZE);
  struct pattern_fill_arguments fill = {(uint64_t)(uintptr_t)host, SIZE, SEED, 0, 0};
  CHECK_OK(launch(driver, "haul_pattern_fill", stream, &fill));
  CHECK_RESULT_IS(CUDA_ERROR_ILLEGAL_ADDRESS, driver->cuCtxSynchronize());
  CHECK(host[0] == 0);
  free(host);
}

IN_CHILD(pageable_memory_is_in_reach, "gh200.toml", NULL) {
  (void)use_gpu(driver, 0);
  CUstream stream = new_stream(driver);
  unsigned char *host = calloc(1, SIZE);
  struct pattern_fill_arguments fill = {(uint64_t)(uintptr_t)host, SIZE, SEED, 0, 0};
  CHECK_OK(launch(driver, "haul_pattern_fill", stream, &fill));
  CHECK_OK(driver->cuCtxSynchronize());
  CHECK(host[SIZE - 1] == pattern_byte(SEED, SIZE - 1));
  free(host);
}

CASE(broken_chains_are_illegal) {
  (void)use_gpu(driver, 0);
  CUstream stream = new_stream(driver);
  CUdeviceptr here = new_memory(driver, 4096);
  uint64_t *host = (void *)new_pinned(driver, 4096);
  host[0] = here + 4090; /* its last bytes are outside */
  CHECK_OK(driver->cuMemcpyHtoDAsync(here, host, 8, stream));
  host[8] = here;
  struct chase_arguments chase = {.positions = (uint64_t)(uintptr_t)&host[8],
                                  .times = (uint64_t)(uintptr_t)&host[16],
                                  .hops = 5};
  CHECK_OK(launch_one(driver, "haul_chase_l1", stream, &chase));
  CHECK_RESULT_IS(CUDA_ERROR_ILLEGAL_ADDRESS, driver->cuStreamSynchronize(stream));
}

/* The bulk copy engine takes 16 bytes at a time, from multiples of 16 only. */
CASE(bulk_chases_are_aligned) {
  (void)use_gpu(driver, 0);
  CUstream stream = new_stream(driver);
  CUdeviceptr here = new_memory(driver, 4096);
  uint64_t *host = (void *)new_pinned(driver, 4096);
  host[0] = here + 16;
  host[2] = here + 24;
  CHECK_OK(driver->cuMemcpyHtoDAsync(here, host, 24, stream));
  host[8] = here;
  struct chase_arguments chase = {.positions = (uint64_t)(uintptr_t)&host[8],
                                  .times = (uint64_t)(uintptr_t)&host[16],
                                  .hops = 2};
  CHECK_OK(launch_one(driver, "haul_chase_bulk", stream, &chase));
  CHECK_OK(driver->cuStreamSynchronize(stream));
  CHECK(host[8] == here + 24);
  CHECK_OK(launch_one(driver, "haul_chase_bulk", stream, &chase));
  CHECK_RESULT_IS(CUDA_ERROR_ILLEGAL_ADDRESS, driver->cuStreamSynchronize(stream));
}
