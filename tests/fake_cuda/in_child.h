/* in_child.h - runs a test against the fake driver in a process of its own: a driver reads its
 * machine once per process, and some tests end theirs. CHECK() takes the place of cmocka's
 * assertions there. Includes cmocka. */
#pragma once

#include "engine/cuda/driver.h"
#include "tests/cmocka.h"

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      (void)fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);              \
      _Exit(1);                                                                                    \
    }                                                                                              \
  } while (0)
#define FAIL(text)                                                                                 \
  do {                                                                                             \
    (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, text);                                \
    _Exit(1);                                                                                      \
  } while (0)
#define CHECK_RESULT_IS(wanted, call)                                                              \
  do {                                                                                             \
    CUresult check_result_ = (call);                                                               \
    if (check_result_ != (wanted)) {                                                               \
      (void)fprintf(stderr, "%s:%d: %s gives %d, not %d\n", __FILE__, __LINE__, #call,             \
                    (int)check_result_, (int)(wanted));                                            \
      _Exit(1);                                                                                    \
    }                                                                                              \
  } while (0)
#define CHECK_OK(call) CHECK_RESULT_IS(CUDA_SUCCESS, call)
/* Within 0.1 %. */
#define CHECK_CLOSE(value, wanted)                                                                 \
  do {                                                                                             \
    double check_value_ = (value);                                                                 \
    double check_wanted_ = (wanted);                                                               \
    if (!(check_value_ > check_wanted_ * 0.999 && check_value_ < check_wanted_ * 1.001)) {         \
      (void)fprintf(stderr, "%s:%d: %s is %g, not %g\n", __FILE__, __LINE__, #value, check_value_, \
                    check_wanted_);                                                                \
      _Exit(1);                                                                                    \
    }                                                                                              \
  } while (0)

/* As TEST(): runs with that machine of tests/machines and that content of the faults' file (NULL =
 * none). It must end by itself, or by that signal; UNLOADED: the driver is not loaded before. Its
 * parameter is `const struct cuda_driver *driver`, UNLOADED NULL. */
#define IN_CHILD(name, machine, faults)          IN_CHILD_(name, machine, faults, true, 0)
#define IN_CHILD_UNLOADED(name, machine, faults) IN_CHILD_(name, machine, faults, false, 0)
#define IN_CHILD_KILLED(name, machine, faults, signal)                                             \
  IN_CHILD_(name, machine, faults, true, signal)
#define IN_CHILD_(name, machine, faults, load, signal)                                             \
  static void name(const struct cuda_driver *driver);                                              \
  TEST(name##_in_child) {                                                                          \
    child_test_run(&(struct child_test){name, machine, faults, load, signal});                     \
  }                                                                                                \
  static void name(__attribute__((unused)) const struct cuda_driver *driver)

struct child_test {
  void (*run)(const struct cuda_driver *driver);
  const char *machine;
  const char *faults;
  bool load;
  int signal; /* 0 = none */
};

/* Fails unless the child ends as it must. */
void child_test_run(const struct child_test *test);
/* The wait status of the child. */
int child_test_status(const struct child_test *test);

/* Most tests begin with one of these. USE_GPU_0 declares a stream, and memory of the GPU and of the
 * host. */
#define USE_GPU_0(driver, size_bytes)                                                              \
  (void)use_gpu(driver, 0);                                                                        \
  CUstream stream = new_stream(driver);                                                            \
  CUdeviceptr device = new_memory(driver, size_bytes);                                             \
  unsigned char *host = new_pinned(driver, size_bytes)
CUcontext use_gpu(const struct cuda_driver *driver, int gpu);
CUstream new_stream(const struct cuda_driver *driver);
CUdeviceptr new_memory(const struct cuda_driver *driver, size_t size_bytes);
unsigned char *new_pinned(const struct cuda_driver *driver, size_t size_bytes);
CUevent new_event(const struct cuda_driver *driver);
CUfunction find_kernel(const struct cuda_driver *driver, const char *name);
/* Launch a gate that waits for *flag to become 1. */
void launch_gate(const struct cuda_driver *driver, CUstream stream, const uint32_t *flag,
                 const uint32_t *report, uint64_t timeout_ns);
/* Record an event in a stream; and the ns between two that are done. */
CUevent record(const struct cuda_driver *driver, CUstream stream);
double elapsed_ns(const struct cuda_driver *driver, CUevent start, CUevent end);
