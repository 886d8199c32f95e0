/* Order, events, gates and time of the fake driver. */
#include "tests/fake_cuda/in_child.h"

#include "kernels/kernels.h"

#include <pthread.h>
#include <time.h>

static const char SPEEDS[] = "[fake]\noperation_ns = 1000\n[fake.speeds]\n"
                             "host_to_device = 50e9\ndevice_to_host = 40e9\n"
                             "device_to_device = 400e9\nlocal = 4000e9\n"
                             "pageable_to_device = 10e9\nstaged = 20e9\n";
static const char REAL_CLOCK[] = "[fake]\nclock = \"real\"\noperation_ns = 1000\n[fake.speeds]\n"
                                 "host_to_device = 1e9\n";
enum { SIZE = 1 << 20 };

#define CASE(test) IN_CHILD(test, "h100x8-nvlink.toml", SPEEDS)

static double copy_ns(double rate) {
  return 1000 + SIZE / rate * 1e9;
}

CASE(copies_take_their_time) {
  USE_GPU_0(driver, SIZE);
  CUdeviceptr other = new_memory(driver, SIZE);
  memset(host, 7, SIZE);
  CUevent events[5];
  events[0] = record(driver, stream);
  CHECK_OK(driver->cuMemcpyAsync(device, (CUdeviceptr)(uintptr_t)host, SIZE, stream));
  events[1] = record(driver, stream);
  CHECK_OK(driver->cuMemcpyDtoDAsync(other, device, SIZE, stream));
  events[2] = record(driver, stream);
  CHECK_OK(driver->cuMemcpyDtoHAsync(host, other, SIZE, stream));
  events[3] = record(driver, stream);
  memset(host, 0, 16); /* nothing has run: nobody waited */
  unsigned char *pageable = calloc(1, SIZE);
  CHECK_OK(driver->cuMemcpyHtoDAsync(device, pageable, SIZE, stream));
  events[4] = record(driver, stream);
  CHECK_OK(driver->cuStreamSynchronize(stream));
  CHECK_CLOSE(elapsed_ns(driver, events[0], events[1]), copy_ns(50e9));
  CHECK_CLOSE(elapsed_ns(driver, events[1], events[2]), copy_ns(2000e9));
  CHECK_CLOSE(elapsed_ns(driver, events[2], events[3]), copy_ns(40e9));
  CHECK_CLOSE(elapsed_ns(driver, events[3], events[4]), copy_ns(10e9));
  CHECK(host[0] == 0 && host[16] == 7 && host[SIZE - 1] == 7);
  free(pageable);
}

/* Two copies behind gates that open together: half the rate each on one link, full rate on two. */
CASE(links_are_shared) {
  CUcontext contexts[2] = {use_gpu(driver, 1), use_gpu(driver, 0)};
  uint32_t *words = (uint32_t *)(void *)new_pinned(driver, 64);
  unsigned char *host = new_pinned(driver, (size_t)3 * SIZE);
  CUstream streams[4];
  CUevent starts[4];
  CUevent ends[4];
  for (int i = 0; i < 4; i++) { /* 0 and 1: to GPU 0; 2: from GPU 0; 3: to GPU 1 */
    CHECK_OK(driver->cuCtxSetCurrent(contexts[i == 3 ? 0 : 1]));
    streams[i] = new_stream(driver);
    CUdeviceptr device = new_memory(driver, SIZE);
    launch_gate(driver, streams[i], &words[0], &words[1 + i], UINT64_C(10000000000));
    starts[i] = record(driver, streams[i]);
    if (i == 2) {
      CHECK_OK(driver->cuMemcpyDtoHAsync(host + SIZE, device, SIZE, streams[i]));
    } else {
      CHECK_OK(driver->cuMemcpyHtoDAsync(device, host, SIZE, streams[i]));
    }
    ends[i] = record(driver, streams[i]);
  }
  CHECK_RESULT_IS(CUDA_ERROR_NOT_READY, driver->cuStreamQuery(streams[0]));
  CHECK_RESULT_IS(CUDA_ERROR_NOT_READY, driver->cuEventQuery(starts[3]));
  __atomic_store_n(&words[0], 1, __ATOMIC_RELEASE);
  for (int i = 0; i < 4; i++) {
    CHECK_OK(driver->cuCtxSetCurrent(contexts[i == 3 ? 0 : 1]));
    CHECK_OK(driver->cuStreamSynchronize(streams[i]));
    CHECK(words[1 + i] == GATE_OPENED);
    double rates[] = {25e9, 25e9, 40e9, 50e9};
    CHECK_CLOSE(elapsed_ns(driver, starts[i], ends[i]), copy_ns(rates[i]));
  }
  CHECK(elapsed_ns(driver, starts[0], starts[1]) < 1e-3);
  CHECK_RESULT_IS(CUDA_ERROR_INVALID_HANDLE,
                  driver->cuEventElapsedTime(&(float){0}, starts[0], starts[3]));
}

CASE(gates_time_out) {
  (void)use_gpu(driver, 0);
  CUstream stream = new_stream(driver);
  uint32_t *words = (uint32_t *)(void *)new_pinned(driver, 64);
  launch_gate(driver, stream, &words[0], &words[1], 20000000);
  CHECK_OK(driver->cuStreamSynchronize(stream));
  CHECK(words[1] == GATE_TIMED_OUT);
}

CASE(gpus_reach_each_other) {
  CUcontext second = use_gpu(driver, 1);
  CUdeviceptr there = new_memory(driver, SIZE);
  CUcontext first = use_gpu(driver, 0);
  CUdeviceptr here = new_memory(driver, SIZE);
  CUstream stream = new_stream(driver);
  CUevent before = record(driver, stream);
  CHECK_OK(driver->cuMemcpyPeerAsync(there, second, here, first, SIZE, stream));
  CUevent staged = record(driver, stream);
  CHECK_OK(driver->cuCtxEnablePeerAccess(second, 0));
  CHECK_RESULT_IS(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, driver->cuCtxEnablePeerAccess(second, 0));
  CHECK_OK(driver->cuMemcpyPeerAsync(there, second, here, first, SIZE, stream));
  CUevent direct = record(driver, stream);
  CHECK_OK(driver->cuCtxSynchronize());
  CHECK_CLOSE(elapsed_ns(driver, before, staged), copy_ns(20e9));
  CHECK_CLOSE(elapsed_ns(driver, staged, direct), copy_ns(400e9));
}

CASE(events_order_streams) {
  (void)use_gpu(driver, 0);
  CUstream one = new_stream(driver);
  CUstream two = new_stream(driver);
  CUdeviceptr device = new_memory(driver, SIZE);
  unsigned char *host = new_pinned(driver, (size_t)2 * SIZE);
  CUevent event = new_event(driver);
  CUevent never = new_event(driver);
  float ignored;
  CHECK_RESULT_IS(CUDA_ERROR_INVALID_HANDLE, driver->cuEventElapsedTime(&ignored, event, event));
  CHECK_OK(driver->cuEventQuery(never));
  CHECK_OK(driver->cuStreamWaitEvent(two, never, 0)); /* waits for nothing */
  CHECK_OK(driver->cuMemsetD8Async(device, 1, SIZE, one));
  CHECK_OK(driver->cuEventRecord(event, one));
  CHECK_OK(driver->cuStreamWaitEvent(two, event, 0));
  CHECK_OK(driver->cuMemcpyDtoHAsync(host, device, SIZE, two));
  CUevent copied = record(driver, two);
  CHECK_OK(driver->cuStreamWaitEvent(one, copied, 0));
  CHECK_OK(driver->cuMemsetD8Async(device, 2, SIZE, one));
  CHECK_OK(driver->cuEventRecord(event, one)); /* the wait above keeps to the first record */
  CHECK_RESULT_IS(CUDA_ERROR_NOT_READY, driver->cuEventElapsedTime(&ignored, copied, event));
  CHECK_OK(driver->cuEventSynchronize(event));
  CHECK(host[0] == 1 && host[SIZE - 1] == 1);
  CHECK(elapsed_ns(driver, copied, event) > 0);
  CUevent untimed;
  CHECK_OK(driver->cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
  CHECK_OK(driver->cuEventRecord(untimed, one));
  CHECK_OK(driver->cuEventSynchronize(untimed));
  CHECK_RESULT_IS(CUDA_ERROR_INVALID_HANDLE, driver->cuEventElapsedTime(&ignored, event, untimed));
  CHECK_OK(driver->cuEventDestroy(untimed));
  CHECK_OK(driver->cuStreamDestroy(one));
}

/* A host that polls, or watches memory without any call, sees work end as well. */
CASE(polling_ends) {
  USE_GPU_0(driver, SIZE);
  memset(host, 0, SIZE);
  CHECK_OK(driver->cuMemsetD8Async(device, 9, SIZE, stream));
  CHECK_OK(driver->cuMemcpyDtoHAsync(host, device, SIZE, stream));
  int polls = 0;
  while (driver->cuStreamQuery(stream) == CUDA_ERROR_NOT_READY) {
    polls++;
  }
  CHECK(polls > 0 && polls < 10 && host[SIZE - 1] == 9);
  uint32_t *words = (uint32_t *)(void *)new_pinned(driver, 64);
  words[0] = 1;
  words[1] = GATE_WAITING;
  CHECK_OK(driver->cuMemsetD8Async(device, 9, SIZE, stream));
  launch_gate(driver, stream, &words[0], &words[1], 0);
  while (__atomic_load_n(&words[1], __ATOMIC_ACQUIRE) != GATE_OPENED) {
  }
  CHECK_OK(driver->cuStreamQuery(stream));
}

/* The legacy stream waits for blocking streams and they for it, with no event in between. */
CASE(legacy_stream_orders) {
  (void)use_gpu(driver, 0);
  CUstream blocking;
  CHECK_OK(driver->cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  CUdeviceptr device = new_memory(driver, SIZE);
  unsigned char *host = new_pinned(driver, 64);
  CHECK_OK(driver->cuMemsetD8Async(device, 1, SIZE, blocking));
  CHECK_OK(driver->cuMemcpyDtoHAsync(host, device, 16, NULL));
  CHECK_OK(driver->cuMemsetD8Async(device, 2, SIZE, blocking));
  CHECK_OK(driver->cuMemcpyDtoHAsync(host + 16, device, 16, NULL));
  CHECK_OK(driver->cuStreamSynchronize(NULL));
  CHECK(host[0] == 1 && host[16] == 2);
}

IN_CHILD(the_real_clock_is_real, "h100x8-nvlink.toml", REAL_CLOCK) {
  USE_GPU_0(driver, (size_t)8 * SIZE);
  struct timespec before;
  struct timespec after;
  (void)clock_gettime(CLOCK_MONOTONIC, &before);
  CUevent start = record(driver, stream);
  CHECK_OK(driver->cuMemcpyHtoDAsync(device, host, (size_t)8 * SIZE, stream));
  CUevent end = record(driver, stream);
  CHECK_OK(driver->cuStreamSynchronize(stream));
  (void)clock_gettime(CLOCK_MONOTONIC, &after);
  double wall_ns =
      (double)(after.tv_sec - before.tv_sec) * 1e9 + (double)(after.tv_nsec - before.tv_nsec);
  CHECK(wall_ns > 8 * SIZE && elapsed_ns(driver, start, end) >= 8 * SIZE);
}

enum { THREADS = 4, ROUNDS = 50 };

struct user {
  pthread_t thread;
  const struct cuda_driver *driver;
  CUcontext context;
  unsigned char value;
};

static void *use_stream(void *argument) {
  struct user *user = argument;
  const struct cuda_driver *driver = user->driver;
  CHECK_OK(driver->cuCtxSetCurrent(user->context));
  CUstream stream = new_stream(driver);
  unsigned char *host = new_pinned(driver, 256);
  for (int round = 0; round < ROUNDS; round++) {
    CUdeviceptr device = new_memory(driver, 256);
    unsigned char value = (unsigned char)(user->value + round);
    CHECK_OK(driver->cuMemsetD8Async(device, value, 256, stream));
    CHECK_OK(driver->cuMemcpyDtoHAsync(host, device, 256, stream));
    CHECK_OK(driver->cuStreamSynchronize(stream));
    CHECK(host[0] == value && host[255] == value);
    CHECK_OK(driver->cuMemFree(device));
  }
  CHECK_OK(driver->cuStreamDestroy(stream));
  return NULL;
}

CASE(threads_share_the_driver) {
  struct user users[THREADS];
  for (int i = 0; i < THREADS; i++) {
    users[i] = (struct user){
        .driver = driver, .context = use_gpu(driver, i / 2), .value = (unsigned char)(50 * i)};
  }
  for (int i = 0; i < THREADS; i++) {
    CHECK(pthread_create(&users[i].thread, NULL, use_stream, &users[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) {
    CHECK(pthread_join(users[i].thread, NULL) == 0);
  }
}
