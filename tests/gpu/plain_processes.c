/* plain_processes.c - copies between memory of two processes in a plain program, as somebody writes
 * it who has no haul:
 *
 *   gcc -O2 -D_GNU_SOURCE -I. -o plain_processes tests/gpu/plain_processes.c
 *   ./plain_processes > plain.csv
 *
 * Prints share,process,path,direction,size_bytes,gbps: copies by copy engines between the memory
 * of a process that exports it (or, process 0, of the one that copies) and memory of GPU 0, and of
 * GPU 1 where there is one. to_elsewhere: into what was opened in GPU 0's context, by GPU 1. Median
 * of rounds of back-to-back copies between two events. Then share,handles,open_us,first_us: to open
 * one more piece of 2 MiB while others are open. */
#include "tests/gpu/plain.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { IPC, FD, POOL, MEMFD, SHARES };
static const char *const shares[] = {"ipc", "fd", "pool", "memfd"};
enum { GPUS = 2, ROUNDS = 15, REPEATS = 16, UNIT = 2 << 20 };

static CUcontext contexts[GPUS];
static CUdevice devices[GPUS];
static int gpu_count;
static CUstream pool_stream;
static CUmemoryPool pools[2]; /* ours, and that of the other process */

static void plain_start(void) {
  plain_load();
  for (gpu_count = 0; gpu_count < GPUS && cuDeviceGet(&devices[gpu_count], gpu_count) == 0;
       gpu_count++) {
    CHECK(cuDevicePrimaryCtxRetain(&contexts[gpu_count], devices[gpu_count]));
  }
  for (int i = 0; i < gpu_count; i++) {
    CHECK(cuCtxSetCurrent(contexts[i]));
    if (gpu_count == 2) {
      CHECK(cuCtxEnablePeerAccess(contexts[1 - i], 0));
    }
  }
  CHECK(cuCtxSetCurrent(contexts[0]));
  CHECK(cuStreamCreate(&pool_stream, CU_STREAM_NON_BLOCKING));
}

static int plain_access(CUmemAccessDesc access[GPUS]) {
  for (int i = 0; i < gpu_count; i++) {
    access[i] =
        (CUmemAccessDesc){.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = devices[i]},
                          .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  }
  return gpu_count;
}

struct handle {
  char bytes[64];
  int file;
};

static CUdeviceptr plain_map(CUmemGenericAllocationHandle memory, size_t bytes) {
  CUmemAccessDesc access[GPUS];
  CUdeviceptr address = 0;
  const int count = plain_access(access);
  CHECK(cuMemAddressReserve(&address, bytes, 0, 0, 0));
  CHECK(cuMemMap(address, bytes, 0, memory, 0));
  CHECK(cuMemRelease(memory));
  CHECK(cuMemSetAccess(address, bytes, access, (size_t)count));
  return address;
}

/* Memory of GPU 0, or of the host, and what another process opens it by. */
static CUdeviceptr plain_make(int share, size_t bytes, struct handle *handle) {
  const CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = devices[0]};
  CUdeviceptr address = 0;
  handle->file = -1;
  if (share == IPC) {
    CHECK(cuMemAlloc(&address, bytes));
    CHECK(cuIpcGetMemHandle((CUipcMemHandle *)(void *)handle->bytes, address));
  } else if (share == FD) {
    const CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                            .requestedHandleTypes =
                                                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                            .location = here};
    CUmemGenericAllocationHandle memory = 0;
    CHECK(cuMemCreate(&memory, bytes, &properties, 0));
    CHECK(cuMemExportToShareableHandle(&handle->file, memory,
                                       CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    address = plain_map(memory, bytes);
  } else if (share == POOL) {
    const CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                       .location = here};
    if (pools[0] == NULL) {
      CUmemAccessDesc access[GPUS];
      const int count = plain_access(access);
      CHECK(cuMemPoolCreate(&pools[0], &properties));
      CHECK(cuMemPoolSetAccess(pools[0], access, (size_t)count));
    }
    CHECK(cuMemAllocFromPoolAsync(&address, bytes, pools[0], pool_stream));
    CHECK(cuStreamSynchronize(pool_stream));
    CHECK(cuMemPoolExportToShareableHandle(&handle->file, pools[0],
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CHECK(cuMemPoolExportPointer((CUmemPoolPtrExportData *)(void *)handle->bytes, address));
  } else {
    handle->file = memfd_create("plain", 0);
    if (ftruncate(handle->file, (off_t)bytes) != 0) {
      exit(1);
    }
    void *host = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, handle->file, 0);
    memset(host, 1, bytes);
    CHECK(
        cuMemHostRegister(host, bytes, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
    address = (CUdeviceptr)(uintptr_t)host;
  }
  return address;
}

static CUdeviceptr plain_open(int share, size_t bytes, struct handle *handle) {
  CUdeviceptr address = 0;
  if (share == IPC) {
    CUipcMemHandle ipc;
    memcpy(&ipc, handle->bytes, sizeof ipc);
    CHECK(cuIpcOpenMemHandle(&address, ipc, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  } else if (share == FD) {
    CUmemGenericAllocationHandle memory = 0;
    CHECK(cuMemImportFromShareableHandle(&memory, (void *)(intptr_t)handle->file,
                                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    address = plain_map(memory, bytes);
  } else if (share == POOL) {
    if (pools[1] == NULL) {
      CUmemAccessDesc access[GPUS];
      const int count = plain_access(access);
      CHECK(cuMemPoolImportFromShareableHandle(&pools[1], (void *)(intptr_t)handle->file,
                                               CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
      CHECK(cuMemPoolSetAccess(pools[1], access, (size_t)count));
    }
    CHECK(cuMemPoolImportPointer(&address, pools[1],
                                 (CUmemPoolPtrExportData *)(void *)handle->bytes));
  } else {
    void *host = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, handle->file, 0);
    CHECK(
        cuMemHostRegister(host, bytes, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
    address = (CUdeviceptr)(uintptr_t)host;
  }
  return address;
}

/* ---- the other process: asked for memory, it sends the handle ---- */

struct request {
  int share;
  size_t bytes;
};

static void plain_send(int fd, const struct handle *handle) {
  char room[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec part = {(void *)(uintptr_t)handle, sizeof *handle};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (handle->file >= 0) {
    message.msg_control = room;
    message.msg_controllen = sizeof room;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &handle->file, sizeof(int));
  }
  if (sendmsg(fd, &message, 0) < 0) {
    exit(1);
  }
}

static void plain_ask(int fd, int share, size_t bytes, struct handle *handle) {
  const struct request request = {share, bytes};
  char room[CMSG_SPACE(sizeof(int))];
  struct iovec part = {handle, sizeof *handle};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  if (send(fd, &request, sizeof request, 0) != (ssize_t)sizeof request ||
      recvmsg(fd, &message, 0) != (ssize_t)sizeof *handle) {
    fprintf(stderr, "the other process does not answer\n");
    exit(1);
  }
  const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  handle->file = -1;
  if (header != NULL) {
    memcpy(&handle->file, CMSG_DATA(header), sizeof(int));
  }
}

static void plain_serve(int fd) {
  struct request request;
  bool started = false;
  while (recv(fd, &request, sizeof request, 0) == (ssize_t)sizeof request) {
    struct handle handle = {.file = -1};
    if (!started) {
      plain_start();
      started = true;
    }
    (void)plain_make(request.share, request.bytes, &handle);
    plain_send(fd, &handle);
    if (handle.file >= 0) {
      (void)close(handle.file);
    }
  }
}

/* ---- what is measured ---- */

static double plain_median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, plain_order);
  return values[count / 2];
}

/* On a stream of that GPU. */
static double plain_rate(int gpu, CUdeviceptr to, CUdeviceptr from, size_t bytes, bool host_from,
                         bool host_to) {
  double times[ROUNDS];
  CUstream stream = NULL;
  CUevent start = NULL;
  CUevent end = NULL;
  CHECK(cuCtxSetCurrent(contexts[gpu]));
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CHECK(cuEventCreate(&start, CU_EVENT_DEFAULT));
  CHECK(cuEventCreate(&end, CU_EVENT_DEFAULT));
  for (int round = -1; round < ROUNDS; round++) {
    float ms = 0;
    for (int i = -1; i < REPEATS; i++) {
      if (i == 0) { /* behind a copy, so that the calls are not in the time */
        CHECK(cuEventRecord(start, stream));
      }
      CHECK(host_from ? cuMemcpyHtoDAsync(to, (void *)(uintptr_t)from, bytes, stream)
            : host_to ? cuMemcpyDtoHAsync((void *)(uintptr_t)to, from, bytes, stream)
                      : cuMemcpyDtoDAsync(to, from, bytes, stream));
    }
    CHECK(cuEventRecord(end, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuEventElapsedTime(&ms, start, end));
    if (round >= 0) {
      times[round] = (double)ms * 1e6 / REPEATS;
    }
  }
  CHECK(cuStreamDestroy(stream));
  CHECK(cuCtxSetCurrent(contexts[0]));
  return (double)bytes / plain_median(times, ROUNDS);
}

static void plain_measure(int fd, int share) {
  const size_t bytes = share == MEMFD ? (size_t)64 << 20 : (size_t)256 << 20;
  struct handle handle;
  for (int process = 0; process < 2; process++) {
    CUdeviceptr memory = 0;
    if (process == 0) {
      memory = plain_make(share, bytes, &handle);
    } else {
      plain_ask(fd, share, bytes, &handle);
      memory = plain_open(share, bytes, &handle);
    }
    for (int gpu = 0; gpu < (share == MEMFD ? 1 : gpu_count); gpu++) {
      CUdeviceptr own = 0;
      CHECK(cuCtxSetCurrent(contexts[gpu]));
      CHECK(cuMemAlloc(&own, bytes));
      const char *other = share == MEMFD ? "host" : "gpu0";
      /* As haul: the source starts the copy, a GPU where the other end is the host. */
      printf("%s,%d,%s-gpu%d,from,%zu,%.3f\n", shares[share], process, other, gpu, bytes,
             plain_rate(0, own, memory, bytes, share == MEMFD, false));
      /* What is opened by its handle is opened for one context. */
      CUdeviceptr opened = memory;
      if (share == IPC && process == 1 && gpu == 1) {
        CHECK(cuCtxSetCurrent(contexts[1]));
        opened = plain_open(share, bytes, &handle);
        printf("%s,%d,%s-gpu%d,to_elsewhere,%zu,%.3f\n", shares[share], process, other, gpu, bytes,
               plain_rate(gpu, memory, own, bytes, false, false));
      }
      printf("%s,%d,%s-gpu%d,to,%zu,%.3f\n", shares[share], process, other, gpu, bytes,
             plain_rate(gpu, opened, own, bytes, false, share == MEMFD));
      CHECK(cuMemFree(own));
    }
    CHECK(cuCtxSetCurrent(contexts[0]));
  }
}

static void plain_measure_opening(int fd, int share) {
  static const int numbers[] = {0, 10, 100, 1000};
  int open_now = 0;
  for (size_t i = 0; i < COUNT_OF(numbers); i++) {
    double times[31];
    double first = 0;
    struct handle handle;
    for (; open_now < numbers[i]; open_now++) {
      plain_ask(fd, share, UNIT, &handle);
      (void)plain_open(share, UNIT, &handle);
      if (handle.file >= 0) {
        (void)close(handle.file);
      }
    }
    plain_ask(fd, share, UNIT, &handle);
    for (int k = 0; k < 31; k++) {
      const double start = plain_now();
      const CUdeviceptr address = plain_open(share, UNIT, &handle);
      times[k] = plain_now() - start;
      first = k == 0 ? times[0] : first;
      if (share == IPC) {
        CHECK(cuIpcCloseMemHandle(address));
      } else if (share == FD) {
        CHECK(cuMemUnmap(address, UNIT));
        CHECK(cuMemAddressFree(address, UNIT));
      } else if (share == POOL) {
        CHECK(cuMemFreeAsync(address, pool_stream));
        CHECK(cuStreamSynchronize(pool_stream));
      }
    }
    printf("%s,%d,%.3f,%.3f\n", shares[share], numbers[i], plain_median(times, 31) / 1e3,
           first / 1e3);
  }
}

int main(void) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0) {
    return 1;
  }
  if (fork() == 0) {
    (void)close(pair[0]);
    plain_serve(pair[1]);
    return 0;
  }
  (void)close(pair[1]);
  plain_start();
  puts("share,process,path,direction,size_bytes,gbps");
  for (int share = 0; share < SHARES; share++) {
    plain_measure(pair[0], share);
  }
  puts("share,handles,open_us,first_us");
  for (int share = IPC; share <= POOL; share++) {
    plain_measure_opening(pair[0], share);
  }
  return 0;
}
