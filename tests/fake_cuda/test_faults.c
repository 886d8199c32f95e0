/* Faults strike where, when and how they are told to. */
#include "tests/fake_cuda/in_child.h"

#include "kernels/kernels.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on

enum { SIZE = 4096 };

static int run(child_test test, const char *faults) {
  return in_child(test, "h200x4.toml", faults);
}

static void third_allocation_fails(const struct cuda_driver *driver) {
  CUdeviceptr pointer;
  (void)use_gpu(driver, 1);
  CHECK_OK(driver->cuMemAlloc(&pointer, SIZE)); /* another GPU's do not count */
  (void)use_gpu(driver, 0);
  CHECK_OK(driver->cuMemAlloc(&pointer, SIZE));
  CHECK_OK(driver->cuMemAlloc(&pointer, SIZE));
  CHECK_RESULT_IS(CUDA_ERROR_OUT_OF_MEMORY, driver->cuMemAlloc(&pointer, SIZE));
  CHECK_OK(driver->cuMemAlloc(&pointer, SIZE));
}

static void test_out_of_memory(void **state) {
  (void)state;
  assert_int_equal(run(third_allocation_fails, "[[fake.fault]]\nkind = \"out_of_memory\"\n"
                                               "call = \"cuMemAlloc\"\ngpu = 0\nnth = 3\n"),
                   0);
}

static void second_copy_is_sticky(const struct cuda_driver *driver) {
  (void)use_gpu(driver, 0);
  CUstream stream = new_stream(driver);
  CUdeviceptr device = new_memory(driver, SIZE);
  unsigned char *host = new_pinned(driver, SIZE);
  CHECK_OK(driver->cuMemcpyHtoDAsync(device, host, SIZE, stream));
  CHECK_OK(driver->cuStreamSynchronize(stream));
  CHECK_OK(driver->cuMemcpyHtoDAsync(device, host, SIZE, stream)); /* it shows only later */
  CHECK_RESULT_IS(CUDA_ERROR_LAUNCH_FAILED, driver->cuStreamSynchronize(stream));
  CHECK_RESULT_IS(CUDA_ERROR_LAUNCH_FAILED, driver->cuMemFree(device));
  CHECK_RESULT_IS(CUDA_ERROR_LAUNCH_FAILED, driver->cuStreamQuery(stream));
}

static void test_sticky(void **state) {
  (void)state;
  assert_int_equal(run(second_copy_is_sticky, "[[fake.fault]]\nkind = \"sticky\"\n"
                                              "call = \"cuMemcpy*\"\nnth = 2\ncode = 719\n"),
                   0);
}

static void copies_are_flipped(const struct cuda_driver *driver) {
  (void)use_gpu(driver, 0);
  CUstream stream = new_stream(driver);
  CUdeviceptr device = new_memory(driver, SIZE);
  unsigned char *host = new_pinned(driver, SIZE);
  memset(host, 0x0f, SIZE);
  for (int i = 0; i < 3; i++) { /* repeats of one copy are each flipped */
    CHECK_OK(driver->cuMemcpyHtoDAsync(device, host, SIZE, stream));
  }
  CHECK_OK(driver->cuMemcpyHtoDAsync(device, host, 100, stream)); /* has no byte 100 */
  CHECK_OK(driver->cuMemcpyDtoHAsync(host, device, SIZE, stream));
  CHECK_OK(driver->cuStreamSynchronize(stream));
  for (int i = 0; i < SIZE; i++) {
    CHECK(host[i] == (i == 100 ? 0xf0 : 0x0f));
  }
}

static void test_flipped_byte(void **state) {
  (void)state;
  assert_int_equal(run(copies_are_flipped, "[[fake.fault]]\nkind = \"flip_byte\"\n"
                                           "call = \"cuMemcpy*\"\nfrom = \"host\"\nto = 0\n"
                                           "offset = 100\ncount = 0\n"),
                   0);
}

static void stream_never_ends(const struct cuda_driver *driver) {
  (void)use_gpu(driver, 0);
  CUstream stream = new_stream(driver);
  CUstream other = new_stream(driver);
  CUdeviceptr device = new_memory(driver, SIZE);
  unsigned char *host = new_pinned(driver, SIZE);
  CHECK_OK(driver->cuMemcpyDtoHAsync(host, device, SIZE, stream));
  CHECK_OK(driver->cuMemsetD8Async(device, 1, SIZE, other));
  CHECK_OK(driver->cuStreamSynchronize(other)); /* others go on */
  for (int i = 0; i < 20; i++) {
    CHECK_RESULT_IS(CUDA_ERROR_NOT_READY, driver->cuStreamQuery(stream));
  }
  (void)alarm(1);
  (void)driver->cuStreamSynchronize(stream);
  FAIL("the stream has ended");
}

static void test_hang(void **state) {
  (void)state;
  int status = run(stream_never_ends, "[[fake.fault]]\nkind = \"hang\"\ncall = \"cuMemcpy*\"\n");
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
}

static void copy_once(const struct cuda_driver *driver) {
  (void)use_gpu(driver, 0);
  CUstream stream = new_stream(driver);
  CUdeviceptr device = new_memory(driver, SIZE);
  unsigned char *host = new_pinned(driver, SIZE);
  CHECK_OK(driver->cuMemcpyHtoDAsync(device, host, SIZE, stream));
  CHECK_OK(driver->cuStreamSynchronize(stream));
}

/* A marker makes a fault strike in one process of several. */
static void test_crash(void **state) {
  (void)state;
  char folder[] = "/tmp/haul-marker-XXXXXX";
  char faults[256];
  char marker[128];
  assert_non_null(mkdtemp(folder));
  (void)snprintf(marker, sizeof marker, "%s/struck", folder);
  (void)snprintf(faults, sizeof faults,
                 "[[fake.fault]]\nkind = \"crash\"\ncall = \"cuMemcpyHtoDAsync\"\n"
                 "size_bytes = 4096\nmarker = \"%s\"\n",
                 marker);
  int status = run(copy_once, faults);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  assert_int_equal(run(copy_once, faults), 0);
  assert_int_equal(unlink(marker), 0);
  assert_int_equal(rmdir(folder), 0);
}

static void gate_gives_up(const struct cuda_driver *driver) {
  (void)use_gpu(driver, 0);
  CUstream stream = new_stream(driver);
  uint32_t *words = (uint32_t *)(void *)new_pinned(driver, 64);
  words[0] = 1; /* open already */
  struct gate_arguments gate = {.flag = (uint64_t)(uintptr_t)&words[0],
                                .report = (uint64_t)(uintptr_t)&words[1],
                                .timeout_ns = UINT64_C(60000000000),
                                .open = 1};
  void *parameters[] = {&gate};
  CHECK_OK(driver->cuLaunchKernel(find_kernel(driver, "haul_gate"), 1, 1, 1, 1, 1, 1, 0, stream,
                                  parameters, NULL));
  CHECK_OK(driver->cuStreamSynchronize(stream));
  CHECK(words[1] == GATE_TIMED_OUT);
}

static void test_ignored_flag(void **state) {
  (void)state;
  assert_int_equal(
      run(gate_gives_up, "[[fake.fault]]\nkind = \"ignored_flag\"\ncall = \"haul_gate\"\n"), 0);
}

static void call_takes_long(const struct cuda_driver *driver) {
  struct timespec before;
  struct timespec after;
  (void)use_gpu(driver, 0);
  (void)clock_gettime(CLOCK_MONOTONIC, &before);
  CUstream stream = new_stream(driver);
  (void)clock_gettime(CLOCK_MONOTONIC, &after);
  CHECK((double)(after.tv_sec - before.tv_sec) * 1e3 +
            (double)(after.tv_nsec - before.tv_nsec) / 1e6 >=
        30);
  CHECK_RESULT_IS(CUDA_ERROR_NOT_SUPPORTED, driver->cuStreamDestroy(stream));
}

static void test_block_and_error(void **state) {
  (void)state;
  assert_int_equal(run(call_takes_long,
                       "[[fake.fault]]\nkind = \"block\"\ncall = \"cuStreamCreate\"\n"
                       "milliseconds = 30\n[[fake.fault]]\nkind = \"error\"\n"
                       "call = \"cuStreamDestroy\"\ncode = 801\n"),
                   0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_out_of_memory),   cmocka_unit_test(test_sticky),
      cmocka_unit_test(test_flipped_byte),    cmocka_unit_test(test_hang),
      cmocka_unit_test(test_crash),           cmocka_unit_test(test_ignored_flag),
      cmocka_unit_test(test_block_and_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
