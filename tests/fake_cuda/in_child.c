#include "tests/fake_cuda/in_child.h"

#include "kernels/kernels.h"

#include <sys/wait.h>
#include <unistd.h>

/* A file with that text; its name into `name`. */
static bool write_faults(const char *text, char name[]) {
  int file = mkstemp(name);
  if (file < 0) {
    return false;
  }
  bool written = write(file, text, strlen(text)) == (ssize_t)strlen(text);
  return close(file) == 0 && written;
}

static void run_in_child(const struct child_test *test, const char *faults_file) {
  static struct cuda_driver driver;
  struct error error = {0};
  PRINTED(path, 4096, "%s/tests/machines/%s", HAUL_SOURCE_DIR, test->machine);
  CHECK(setenv("HAUL_FAKE_MACHINE", path, 1) == 0);
  CHECK(faults_file != NULL ? setenv("HAUL_FAKE_FAULTS", faults_file, 1) == 0
                            : unsetenv("HAUL_FAKE_FAULTS") == 0);
  if (test->load && cuda_driver_load(&driver, &error) != STATUS_OK) {
    (void)fprintf(stderr, "%s\n", error.message);
    FAIL("cannot load the driver");
  }
  CHECK(!test->load || driver.simulation != NULL);
  test->run(test->load ? &driver : NULL);
}

int child_test_status(const struct child_test *test) {
  char name[] = "/tmp/haul-faults-XXXXXX";
  int status = -1;
  (void)fflush(NULL);
  if (test->faults != NULL && !write_faults(test->faults, name)) {
    return -1;
  }
  pid_t child = fork();
  if (child == 0) {
    run_in_child(test, test->faults != NULL ? name : NULL);
    exit(0);
  }
  if (child > 0 && waitpid(child, &status, 0) != child) {
    status = -1;
  }
  if (test->faults != NULL) {
    (void)unlink(name);
  }
  return status;
}

void child_test_run(const struct child_test *test) {
  int status = child_test_status(test);
  if (test->signal == 0) {
    assert_int_equal(status, 0);
  } else {
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), test->signal);
  }
}

CUcontext use_gpu(const struct cuda_driver *driver, int gpu) {
  CUcontext context;
  CHECK_OK(driver->cuDevicePrimaryCtxRetain(&context, gpu));
  CHECK_OK(driver->cuCtxSetCurrent(context));
  return context;
}

CUstream new_stream(const struct cuda_driver *driver) {
  CUstream stream;
  CHECK_OK(driver->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  return stream;
}

CUdeviceptr new_memory(const struct cuda_driver *driver, size_t size_bytes) {
  CUdeviceptr pointer;
  CHECK_OK(driver->cuMemAlloc(&pointer, size_bytes));
  return pointer;
}

unsigned char *new_pinned(const struct cuda_driver *driver, size_t size_bytes) {
  void *pointer;
  CHECK_OK(driver->cuMemHostAlloc(&pointer, size_bytes, CU_MEMHOSTALLOC_PORTABLE));
  return pointer;
}

CUevent new_event(const struct cuda_driver *driver) {
  static CUevent kept[256]; /* so that they are no leaks */
  static size_t count;
  CHECK(count < COUNT_OF(kept));
  CHECK_OK(driver->cuEventCreate(&kept[count], CU_EVENT_DEFAULT));
  return kept[count++];
}

CUfunction find_kernel(const struct cuda_driver *driver, const char *name) {
  CUmodule module;
  CUfunction function;
  CHECK_OK(driver->cuModuleLoadData(&module, "any image"));
  CHECK_OK(driver->cuModuleGetFunction(&function, module, name));
  CHECK_OK(driver->cuModuleUnload(module));
  return function;
}

CUevent record(const struct cuda_driver *driver, CUstream stream) {
  CUevent event = new_event(driver);
  CHECK_OK(driver->cuEventRecord(event, stream));
  return event;
}

double elapsed_ns(const struct cuda_driver *driver, CUevent start, CUevent end) {
  float milliseconds;
  CHECK_OK(driver->cuEventElapsedTime(&milliseconds, start, end));
  return (double)milliseconds * 1e6;
}

void launch_gate(const struct cuda_driver *driver, CUstream stream, const uint32_t *flag,
                 const uint32_t *report, uint64_t timeout_ns) {
  struct gate_arguments gate = {.flag = (uint64_t)(uintptr_t)flag,
                                .report = (uint64_t)(uintptr_t)report,
                                .timeout_ns = timeout_ns,
                                .open = 1};
  void *parameters[] = {&gate};
  CHECK_OK(driver->cuLaunchKernel(find_kernel(driver, "haul_gate"), 1, 1, 1, 1, 1, 1, 0, stream,
                                  parameters, NULL));
}
