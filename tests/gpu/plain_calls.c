/* plain_calls.c - times calls of the driver in plain loops, as somebody does who has no haul:
 *
 *   gcc -O2 -I. -o plain_calls tests/gpu/plain_calls.c && ./plain_calls > plain.csv
 *
 * Prints operation,memory,size_bytes,ns with the names of [[overhead]]: the median of rounds of up
 * to 100 calls, on GPU 0. What it prints stands beside `haul query --saved driver-calls`. */
#include "tests/gpu/plain.h"

#include <string.h>
#include <sys/mman.h>

enum { CALLS = 100, ROUNDS = 200 };

/* before, call and after run `calls` times each, i being the number of the call; only call is
 * timed. */
#define TIME(name, memory, size, calls, rounds, before, call, after)                               \
  do {                                                                                             \
    double values[ROUNDS];                                                                         \
    for (int r = 0; r < (rounds); r++) {                                                           \
      for (int i = 0; i < (calls); i++) {                                                          \
        before;                                                                                    \
      }                                                                                            \
      const double start = plain_now();                                                            \
      for (int i = 0; i < (calls); i++) {                                                          \
        CHECK(call);                                                                               \
      }                                                                                            \
      values[r] = (plain_now() - start) / (calls);                                                 \
      for (int i = 0; i < (calls); i++) {                                                          \
        after;                                                                                     \
      }                                                                                            \
      CHECK(cuStreamSynchronize(stream));                                                          \
    }                                                                                              \
    qsort(values, rounds, sizeof *values, plain_order);                                            \
    printf("%s,%s,%llu,%.1f\n", name, memory, (unsigned long long)(size), values[(rounds) / 2]);   \
    fflush(stdout);                                                                                \
  } while (0)
#define LOOP(name, size, call) TIME(name, "", size, CALLS, ROUNDS, (void)0, call, (void)0)

static const char kernel_text[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry haul_empty(.param .align 8 .b8 a[8])\n{\nret;\n}\n";

int main(void) {
  CUdevice device;
  CUcontext context;
  CUstream stream;
  CUevent event, events[CALLS];
  CUmodule module;
  CUfunction kernel;
  CUdeviceptr word, copies, made[CALLS];
  void *pinned, *hosts[CALLS];
  unsigned answer;
  size_t free_bytes, total;
  unsigned long long argument = 0;
  void *parameters[] = {&argument};
  const unsigned flags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;
  const size_t MIB = 1 << 20, GIB = 1 << 30;
  plain_load();
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CHECK(cuEventCreate(&event, CU_EVENT_DEFAULT));
  CHECK(cuEventRecord(event, stream));
  CHECK(cuModuleLoadData(&module, kernel_text));
  CHECK(cuModuleGetFunction(&kernel, module, "haul_empty"));
  CHECK(cuMemAlloc(&word, 16));
  CHECK(cuMemAlloc(&copies, 2 * MIB));
  CHECK(cuMemHostAlloc(&pinned, MIB, 0));
  CHECK(cuStreamSynchronize(stream));
  /* What was done so far is over, as far as the driver knows: a query need not ask the GPU. */
  CHECK(cuCtxSynchronize());
  LOOP("pointer_attribute", 0,
       cuPointerGetAttribute(&answer, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, word));
  LOOP("memory_info", 0, cuMemGetInfo(&free_bytes, &total));
  LOOP("context_set", 0, cuCtxSetCurrent(context));
  LOOP("event_query", 0, cuEventQuery(event));
  LOOP("event_synchronize", 0, cuEventSynchronize(event));
  LOOP("stream_query", 0, cuStreamQuery(stream));
  LOOP("stream_synchronize", 0, cuStreamSynchronize(stream));
  /* Now it asks. */
  CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
  CHECK(cuStreamSynchronize(stream));
  LOOP("stream_query_after_kernel", 0, cuStreamQuery(stream));
  LOOP("stream_synchronize_after_kernel", 0, cuStreamSynchronize(stream));
  LOOP("kernel_launch", 0, cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
  LOOP("event_record", 0, cuEventRecord(event, stream));
  LOOP("stream_wait_event", 0, cuStreamWaitEvent(stream, event, 0));
  LOOP("memcpy_htod", 4096, cuMemcpyHtoDAsync(copies, pinned, 4096, stream));
  LOOP("memcpy_dtoh", 4096, cuMemcpyDtoHAsync(pinned, copies, 4096, stream));
  LOOP("memcpy_htod", MIB, cuMemcpyHtoDAsync(copies, pinned, MIB, stream));
  LOOP("memset", MIB, cuMemsetD8Async(copies, 0, MIB, stream));
  TIME("event_create", "", 0, 64, ROUNDS, (void)0,
       cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING), cuEventDestroy(events[i]));
  TIME("allocate", "device", MIB, 64, ROUNDS, (void)0, cuMemAlloc(&made[i], MIB),
       cuMemFree(made[i]));
  TIME("free", "device", MIB, 64, ROUNDS, cuMemAlloc(&made[i], MIB), cuMemFree(made[i]), (void)0);
  TIME("allocate", "pinned", MIB, 64, 10, (void)0, cuMemHostAlloc(&hosts[i], MIB, flags),
       cuMemFreeHost(hosts[i]));
  TIME("allocate", "pinned", GIB, 1, 3, (void)0, cuMemHostAlloc(&hosts[i], GIB, flags),
       cuMemFreeHost(hosts[i]));
  unsigned char *pages =
      mmap(NULL, GIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    return 1;
  }
  memset(pages, 1, GIB);
  TIME("allocate", "registered", GIB, 1, 5, (void)0, cuMemHostRegister(pages, GIB, flags),
       cuMemHostUnregister(pages));
  TIME("free", "registered", GIB, 1, 5, cuMemHostRegister(pages, GIB, flags),
       cuMemHostUnregister(pages), (void)0);
  TIME("free", "pinned", GIB, 1, 3, cuMemHostAlloc(&hosts[i], GIB, flags), cuMemFreeHost(hosts[i]),
       (void)0);
  return 0;
}
