/* bench_calls.c - the engine's times of driver calls beside plain loops around the same calls, in
 * one process, in turns, so that both find the host alike:
 *
 *   cmake --build build-release --target bench_calls
 *   build-release/tests/benchmarks/bench_calls > calls.csv
 *
 * Prints operation,memory,size_bytes,plain_ns,haul_ns,ratio on GPU 0: medians over rounds. Two
 * processes, one after the other, differ by up to 1.5 on a host that others use. Ends with 77 where
 * there is no driver. */
#include "engine/case/overhead.h"
#include "engine/gpu/session.h"
#include "engine/machine/machine.h"
#include "engine/workload/overhead_gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { CALLS_MAX = 100, BATCHES = 25, ROUNDS = 12 };
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/* What the plain loops call with. */
static const struct cuda_driver *d;
static CUcontext context;
static CUstream stream;
static CUevent event, events[CALLS_MAX];
static CUfunction kernel;
static CUdeviceptr word, copies, made[CALLS_MAX];
static void *pinned, *hosts[CALLS_MAX];
static unsigned char *pages; /* GIB */
static unsigned answer;
static size_t free_bytes, total_bytes;
static unsigned long long argument;
static void *parameters[] = {&argument};
static const unsigned page_locked = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;

static const char empty_kernel[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry haul_empty(.param .align 8 .b8 a[8])\n{\nret;\n}\n";

/* X(name, memory, size, calls, batches, before, call, after): each batch makes `calls` calls, i
 * being the number of the call; only `call` is timed. */
#define LAUNCH d->cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL)
#define CALL_LIST(X)                                                                               \
  X(POINTER_ATTRIBUTE, DEVICE, 0, 100, BATCHES, 0,                                                 \
    d->cuPointerGetAttribute(&answer, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, word), 0)                  \
  X(MEMORY_INFO, DEVICE, 0, 100, BATCHES, 0, d->cuMemGetInfo(&free_bytes, &total_bytes), 0)        \
  X(CONTEXT_SET, DEVICE, 0, 100, BATCHES, 0, d->cuCtxSetCurrent(context), 0)                       \
  X(EVENT_QUERY, DEVICE, 0, 100, BATCHES, 0, d->cuEventQuery(event), 0)                            \
  X(EVENT_SYNCHRONIZE, DEVICE, 0, 100, BATCHES, 0, d->cuEventSynchronize(event), 0)                \
  X(STREAM_QUERY, DEVICE, 0, 100, BATCHES, 0, d->cuStreamQuery(stream), 0)                         \
  X(STREAM_SYNCHRONIZE, DEVICE, 0, 100, BATCHES, 0, d->cuStreamSynchronize(stream), 0)             \
  X(KERNEL_LAUNCH, DEVICE, 0, 100, BATCHES, 0, LAUNCH, 0)                                          \
  X(EVENT_RECORD, DEVICE, 0, 100, BATCHES, 0, d->cuEventRecord(event, stream), 0)                  \
  X(STREAM_WAIT_EVENT, DEVICE, 0, 100, BATCHES, 0, d->cuStreamWaitEvent(stream, event, 0), 0)      \
  X(MEMCPY_HTOD, DEVICE, 4096, 100, BATCHES, 0,                                                    \
    d->cuMemcpyHtoDAsync(copies, pinned, 4096, stream), 0)                                         \
  X(MEMCPY_DTOH, DEVICE, 4096, 100, BATCHES, 0,                                                    \
    d->cuMemcpyDtoHAsync(pinned, copies, 4096, stream), 0)                                         \
  X(MEMCPY_HTOD, DEVICE, MIB, 100, BATCHES, 0, d->cuMemcpyHtoDAsync(copies, pinned, MIB, stream),  \
    0)                                                                                             \
  X(MEMSET, DEVICE, MIB, 100, BATCHES, 0, d->cuMemsetD8Async(copies, 0, MIB, stream), 0)           \
  X(EVENT_CREATE, DEVICE, 0, 64, BATCHES, 0,                                                       \
    d->cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING), d->cuEventDestroy(events[i]))           \
  X(ALLOCATE, DEVICE, MIB, 64, BATCHES, 0, d->cuMemAlloc(&made[i], MIB), d->cuMemFree(made[i]))    \
  X(FREE, DEVICE, MIB, 64, BATCHES, d->cuMemAlloc(&made[i], MIB), d->cuMemFree(made[i]), 0)        \
  X(ALLOCATE, PINNED, MIB, 64, 1, 0, d->cuMemHostAlloc(&hosts[i], MIB, page_locked),               \
    d->cuMemFreeHost(hosts[i]))                                                                    \
  X(ALLOCATE, REGISTERED, GIB, 1, 1, 0, d->cuMemHostRegister(pages, GIB, page_locked),             \
    d->cuMemHostUnregister(pages))                                                                 \
  X(FREE, REGISTERED, GIB, 1, 1, d->cuMemHostRegister(pages, GIB, page_locked),                    \
    d->cuMemHostUnregister(pages), 0)

#define PARTS_(name, memory, size, calls, batches, before, call, after)                            \
  {                                                                                                \
      OVERHEAD_##name, MEMORY_##memory, size, calls, batches,                                      \
  },
static const struct row {
  enum overhead_operation operation;
  enum memory_kind memory;
  uint64_t size_bytes;
  uint32_t calls, batches;
} rows[] = {CALL_LIST(PARTS_)};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

static void check(CUresult result, const struct row *row) {
  if (result != CUDA_SUCCESS) {
    (void)fprintf(stderr, "%s: error %d\n",
                  row == NULL ? "setting up" : overhead_operation_text(row->operation), result);
    exit(1);
  }
}

static double now_ns(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int order(const void *a, const void *b) {
  return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static double median(double *values, uint32_t count) {
  qsort(values, count, sizeof *values, order);
  return values[count / 2];
}

/* The plain loops of row `wanted`. */
static double time_plain(size_t wanted) {
  double values[BATCHES];
  size_t at = 0;
#define LOOP_(name, memory, size, calls, batches, before, call, after)                             \
  for (uint32_t batch = 0; at == wanted && batch < (batches); batch++) {                           \
    for (uint32_t i = 0; i < (calls); i++) {                                                       \
      check((CUresult)(before), &rows[wanted]);                                                    \
    }                                                                                              \
    const double start_ns = now_ns();                                                              \
    for (uint32_t i = 0; i < (calls); i++) {                                                       \
      check(call, &rows[wanted]);                                                                  \
    }                                                                                              \
    values[batch] = (now_ns() - start_ns) / (calls);                                               \
    for (uint32_t i = 0; i < (calls); i++) {                                                       \
      check((CUresult)(after), &rows[wanted]);                                                     \
    }                                                                                              \
    check(d->cuStreamSynchronize(stream), NULL);                                                   \
  }                                                                                                \
  at++;
  CALL_LIST(LOOP_)
  return median(values, rows[wanted].batches);
}

static double time_haul(struct cuda_session *session, const struct row *row) {
  const struct overhead what = {
      .operation = row->operation,
      .memory = {.place = row->memory == MEMORY_DEVICE ? PLACE_GPU : PLACE_NUMA,
                 .memory = row->memory},
      .size_bytes = row->size_bytes};
  const struct overhead_gpu_request request = {.overhead = &what,
                                               .operations_max = row->calls,
                                               .host = pages,
                                               .slot_bytes = row->size_bytes};
  struct overhead_gpu *overhead = NULL;
  struct error err;
  double values[BATCHES];
  enum status status = overhead_gpu_new(session, &request, &overhead, &err);
  for (uint32_t batch = 0; status == STATUS_OK && batch < row->batches; batch++) {
    uint64_t elapsed_ns = 0;
    status = overhead_gpu_run(overhead, row->calls, &elapsed_ns, &err);
    values[batch] = (double)elapsed_ns / row->calls;
  }
  overhead_gpu_free(overhead);
  if (status != STATUS_OK) {
    (void)fprintf(stderr, "%s\n", err.message);
    exit(1);
  }
  return median(values, row->batches);
}

static void set_up(struct cuda_session *session) {
  CUmodule module;
  d = &session->driver;
  context = session->gpus[0].context;
  check(d->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), NULL);
  check(d->cuEventCreate(&event, CU_EVENT_DEFAULT), NULL);
  check(d->cuEventRecord(event, stream), NULL);
  check(d->cuModuleLoadData(&module, empty_kernel), NULL);
  check(d->cuModuleGetFunction(&kernel, module, "haul_empty"), NULL);
  check(d->cuMemAlloc(&word, 16), NULL);
  check(d->cuMemAlloc(&copies, 2 * MIB), NULL);
  check(d->cuMemHostAlloc(&pinned, MIB, 0), NULL);
  pages = mmap(NULL, GIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    perror("mmap");
    exit(1);
  }
  memset(pages, 1, GIB);
  check(d->cuCtxSynchronize(), NULL);
}

int main(void) {
  static double plain[ROW_COUNT][ROUNDS], haul[ROW_COUNT][ROUNDS], ratio[ROW_COUNT][ROUNDS];
  struct machine *machine = machine_new();
  struct cuda_session *session = NULL;
  struct error err;
  if (machine == NULL || machine_probe(machine, &err) != STATUS_OK || machine->gpu_count == 0 ||
      cuda_session_new(machine, &session, &err) != STATUS_OK ||
      cuda_session_use(session, 0, &err) != STATUS_OK) {
    (void)fprintf(stderr, "no driver\n");
    return 77;
  }
  set_up(session);
  for (uint32_t round = 0; round < ROUNDS; round++) {
    for (size_t i = 0; i < ROW_COUNT; i++) {
      plain[i][round] = time_plain(i);
      haul[i][round] = time_haul(session, &rows[i]);
      ratio[i][round] = haul[i][round] / plain[i][round];
    }
  }
  puts("operation,memory,size_bytes,plain_ns,haul_ns,ratio");
  for (size_t i = 0; i < ROW_COUNT; i++) {
    printf("%s,%s,%llu,%.1f,%.1f,%.3f\n", overhead_operation_text(rows[i].operation),
           memory_kind_text(rows[i].memory), (unsigned long long)rows[i].size_bytes,
           median(plain[i], ROUNDS), median(haul[i], ROUNDS), median(ratio[i], ROUNDS));
  }
  cuda_session_free(session);
  free(machine);
  return 0;
}
