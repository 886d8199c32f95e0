/* Faults hit where, when and how they are told to. */
#include "tests/fake_cuda/in_child.h"

#include "kernels/kernels.h"

#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MACHINE            "h200x4.toml"
#define CASE(test, faults) IN_CHILD(test, MACHINE, faults)
#define FAULT              "[[fake.fault]]\n"

enum { SIZE = 4096 };

CASE(third_allocation_fails,
     FAULT "kind = \"out_of_memory\"\ncall = \"cuMemAlloc\"\ngpu = 0\nnth = 3\n") {
  CUdeviceptr pointer;
  (void)use_gpu(driver, 1);
  CHECK_OK(driver->cuMemAlloc(&pointer, SIZE)); /* another GPU's do not count */
  (void)use_gpu(driver, 0);
  CHECK_OK(driver->cuMemAlloc(&pointer, SIZE));
  CHECK_OK(driver->cuMemAlloc(&pointer, SIZE));
  CHECK_RESULT_IS(CUDA_ERROR_OUT_OF_MEMORY, driver->cuMemAlloc(&pointer, SIZE));
  CHECK_OK(driver->cuMemAlloc(&pointer, SIZE));
}

CASE(second_copy_is_sticky,
     FAULT "kind = \"sticky\"\ncall = \"cuMemcpy*\"\nnth = 2\ncode = 719\n") {
  USE_GPU_0(driver, SIZE);
  CHECK_OK(driver->cuMemcpyHtoDAsync(device, host, SIZE, stream));
  CHECK_OK(driver->cuStreamSynchronize(stream));
  CHECK_OK(driver->cuMemcpyHtoDAsync(device, host, SIZE, stream)); /* it shows only later */
  CHECK_RESULT_IS(CUDA_ERROR_LAUNCH_FAILED, driver->cuStreamSynchronize(stream));
  CHECK_RESULT_IS(CUDA_ERROR_LAUNCH_FAILED, driver->cuMemFree(device));
  CHECK_RESULT_IS(CUDA_ERROR_LAUNCH_FAILED, driver->cuStreamQuery(stream));
}

CASE(copies_are_flipped, FAULT "kind = \"flip_byte\"\ncall = \"cuMemcpy*\"\n"
                               "from = \"host\"\nto = 0\noffset = 100\ncount = 0\n") {
  USE_GPU_0(driver, SIZE);
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

IN_CHILD_KILLED(stream_never_ends, MACHINE, FAULT "kind = \"hang\"\ncall = \"cuMemcpy*\"\n",
                SIGALRM) {
  USE_GPU_0(driver, SIZE);
  CUstream other = new_stream(driver);
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

static void copy_once(const struct cuda_driver *driver) {
  USE_GPU_0(driver, SIZE);
  CHECK_OK(driver->cuMemcpyHtoDAsync(device, host, SIZE, stream));
  CHECK_OK(driver->cuStreamSynchronize(stream));
}

/* A marker makes a fault hit in one process of several. */
TEST(fault_with_marker_hits_once) {
  char folder[FOLDER_PATH_MAX];
  folder_make(folder);
  PRINTED(marker, 128, "%s/triggered", folder);
  PRINTED(faults, 256,
          "[[fake.fault]]\nkind = \"crash\"\ncall = \"cuMemcpyHtoDAsync\"\n"
          "size_bytes = 4096\nmarker = \"%s\"\n",
          marker);
  struct child_test test = {copy_once, MACHINE, faults, .load = true};
  int status = child_test_status(&test);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  assert_int_equal(child_test_status(&test), 0);
  assert_int_equal(access(marker, F_OK), 0);
  folder_remove(folder);
}

/* What a copy took in each process, for the processes of the test below. */
static double *copy_took_ns;

static void copy_timed(const struct cuda_driver *driver) {
  USE_GPU_0(driver, SIZE);
  CUevent before = record(driver, stream);
  CHECK_OK(driver->cuMemcpyHtoDAsync(device, host, SIZE, stream));
  CUevent after = record(driver, stream);
  CHECK_OK(driver->cuStreamSynchronize(stream));
  *copy_took_ns = elapsed_ns(driver, before, after);
}

/* Processes differ, and the same processes counted anew have the same numbers again. */
TEST(noise_repeats_where_processes_are_counted) {
  char count[] = "/tmp/haul-processes-XXXXXX";
  const int file = mkstemp(count);
  double took_ns[2][2];
  struct child_test test = {copy_timed, MACHINE, "[fake.noise]\nseed = 7\nbetween = 0.1\n",
                            .load = true};
  assert_true(file >= 0 && close(file) == 0);
  copy_took_ns =
      mmap(NULL, sizeof *copy_took_ns, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(copy_took_ns != MAP_FAILED);
  assert_int_equal(setenv("HAUL_FAKE_PROCESSES", count, 1), 0);
  for (int round = 0; round < 2; round++) {
    assert_int_equal(truncate(count, 0), 0);
    for (int process = 0; process < 2; process++) {
      assert_int_equal(child_test_status(&test), 0);
      took_ns[round][process] = *copy_took_ns;
    }
    assert_true(fabs(took_ns[round][0] / took_ns[round][1] - 1) > 0.001);
  }
  assert_memory_equal(took_ns[0], took_ns[1], sizeof took_ns[0]);
  assert_int_equal(unsetenv("HAUL_FAKE_PROCESSES"), 0);
  assert_int_equal(munmap(copy_took_ns, sizeof *copy_took_ns), 0);
  assert_int_equal(unlink(count), 0);
}

CASE(gate_gives_up, FAULT "kind = \"ignored_flag\"\ncall = \"haul_gate\"\n") {
  (void)use_gpu(driver, 0);
  CUstream stream = new_stream(driver);
  uint32_t *words = (uint32_t *)(void *)new_pinned(driver, 64);
  words[0] = 1; /* open already */
  launch_gate(driver, stream, &words[0], &words[1], UINT64_C(60000000000));
  CHECK_OK(driver->cuStreamSynchronize(stream));
  CHECK(words[1] == GATE_TIMED_OUT);
}

CASE(call_takes_long_and_fails,
     FAULT "kind = \"block\"\ncall = \"cuStreamCreate\"\nmilliseconds = 30\n" FAULT
           "kind = \"error\"\ncall = \"cuStreamDestroy\"\ncode = 801\n") {
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
