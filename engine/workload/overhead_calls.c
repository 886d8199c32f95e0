#include "engine/workload/overhead_calls.h"

#include "engine/machine/machine.h"
#include "engine/memory/peer.h"

#include <linux/mman.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* How far memory of its own addresses has come. */
enum vmm_state { VMM_RESERVED, VMM_MAPPED, VMM_ACCESSIBLE };

/* ---- the calls ---- */

static CUresult caller_launch(struct overhead_caller *c, enum kernel kernel) {
  void *parameters[] = {&c->arguments};
  const int32_t gpu = c->what->gpu;
  return c->driver->cuLaunchKernel(c->session->gpus[gpu].kernels[kernel], 1, 1, 1, 1, 1, 1, 0,
                                   c->stream, parameters, NULL);
}

static void do_nothing(void *data) {
  (void)data;
}

/* Of the allocations that are alive each in turn, far apart; of none the buffer. */
static CUdeviceptr caller_pointer(const struct overhead_caller *c, uint32_t i) {
  return c->alive_count == 0 ? c->device : c->alive[(uint64_t)i * 2654435761U % c->alive_count];
}

static CUresult caller_attributes(struct overhead_caller *c, uint32_t i) {
  CUpointer_attribute attributes[OVERHEAD_ATTRIBUTES] = {
      CU_POINTER_ATTRIBUTE_MEMORY_TYPE,    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
      CU_POINTER_ATTRIBUTE_IS_MANAGED,     CU_POINTER_ATTRIBUTE_BUFFER_ID,
      CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_HOST_POINTER};
  void *data[OVERHEAD_ATTRIBUTES];
  for (int k = 0; k < OVERHEAD_ATTRIBUTES; k++) {
    data[k] = &c->answers[k];
  }
  return c->driver->cuPointerGetAttributes(OVERHEAD_ATTRIBUTES, attributes, data,
                                           caller_pointer(c, i));
}

static CUresult caller_ask_host(struct overhead_caller *c) {
  const CUresult result = c->driver->cuPointerGetAttribute(
      c->answers, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)c->pageable);
  return result == CUDA_ERROR_INVALID_VALUE ? CUDA_SUCCESS : result;
}

static CUresult caller_create(struct overhead_caller *c, struct overhead_made *m) {
  return c->driver->cuMemCreate(&m->handle, c->vmm_bytes, &c->properties, 0);
}

static CUresult caller_map(struct overhead_caller *c, struct overhead_made *m,
                           enum vmm_state until) {
  const struct cuda_driver *driver = c->driver;
  CUresult result = driver->cuMemAddressReserve(&m->device, c->vmm_bytes, 0, 0, 0);
  result = result != CUDA_SUCCESS ? result : caller_create(c, m);
  if (result == CUDA_SUCCESS && until >= VMM_MAPPED) {
    result = driver->cuMemMap(m->device, c->vmm_bytes, 0, m->handle, 0);
  }
  if (result == CUDA_SUCCESS && until >= VMM_ACCESSIBLE) {
    result = driver->cuMemSetAccess(m->device, c->vmm_bytes, &c->access, 1);
  }
  return result;
}

static CUresult caller_unmap(struct overhead_caller *c, struct overhead_made *m,
                             enum vmm_state from) {
  CUresult result =
      from >= VMM_MAPPED ? c->driver->cuMemUnmap(m->device, c->vmm_bytes) : CUDA_SUCCESS;
  const CUresult released = c->driver->cuMemRelease(m->handle);
  const CUresult freed = c->driver->cuMemAddressFree(m->device, c->vmm_bytes);
  result = result != CUDA_SUCCESS ? result : released;
  return result != CUDA_SUCCESS ? result : freed;
}

static CUresult caller_allocate(struct overhead_caller *c, struct overhead_made *m, uint32_t i) {
  const struct cuda_driver *driver = c->driver;
  const unsigned page_locked = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;
  switch (c->what->memory.memory) {
  case MEMORY_DEVICE:
    return driver->cuMemAlloc(&m->device, c->bytes);
  case MEMORY_MANAGED:
    return driver->cuMemAllocManaged(&m->device, c->bytes, CU_MEM_ATTACH_GLOBAL);
  case MEMORY_PINNED:
    return driver->cuMemHostAlloc(&m->host, c->bytes, page_locked);
  case MEMORY_WRITE_COMBINED:
    return driver->cuMemHostAlloc(&m->host, c->bytes, page_locked | CU_MEMHOSTALLOC_WRITECOMBINED);
  case MEMORY_REGISTERED:
    m->host = c->slots + i * c->slot_bytes;
    return driver->cuMemHostRegister(m->host, c->bytes,
                                     CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
  case MEMORY_POOL:
    return driver->cuMemAllocAsync(&m->device, c->bytes, c->stream);
  case MEMORY_VMM:
  case MEMORY_HOST_VMM:
    return caller_map(c, m, VMM_ACCESSIBLE);
  case MEMORY_PAGEABLE:
  case MEMORY_HUGE:
  case MEMORY_SHARED:
  case memory_kind_name_count:
    break;
  }
  return CUDA_ERROR_NOT_SUPPORTED; /* not the driver's */
}

static CUresult caller_release(struct overhead_caller *c, struct overhead_made *m) {
  switch (c->what->memory.memory) {
  case MEMORY_DEVICE:
  case MEMORY_MANAGED:
    return c->driver->cuMemFree(m->device);
  case MEMORY_PINNED:
  case MEMORY_WRITE_COMBINED:
    return c->driver->cuMemFreeHost(m->host);
  case MEMORY_REGISTERED:
    return c->driver->cuMemHostUnregister(m->host);
  case MEMORY_POOL:
    return c->driver->cuMemFreeAsync(m->device, c->stream);
  case MEMORY_VMM:
  case MEMORY_HOST_VMM:
    return caller_unmap(c, m, VMM_ACCESSIBLE);
  case MEMORY_PAGEABLE:
  case MEMORY_HUGE:
  case MEMORY_SHARED:
  case memory_kind_name_count:
    break;
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult caller_export(struct overhead_caller *c, struct overhead_made *m) {
  return c->driver->cuMemExportToShareableHandle(&m->file, c->handle,
                                                 CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
}

static CUresult caller_close(const struct overhead_made *m) {
  return close(m->file) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult caller_import(struct overhead_caller *c, struct overhead_made *m) {
  return c->driver->cuMemImportFromShareableHandle(&m->handle, (void *)(intptr_t)m->file,
                                                   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

static CUresult caller_drop_import(struct overhead_caller *c, const struct overhead_made *m) {
  const CUresult released = c->driver->cuMemRelease(m->handle);
  const CUresult closed = caller_close(m);
  return released != CUDA_SUCCESS ? released : closed;
}

static CUresult caller_open(struct overhead_caller *c) {
  return share_open(c->memory, &c->lent_handle, &c->lent, &c->lent_error) == STATUS_OK
             ? CUDA_SUCCESS
             : (CUresult)(c->lent_error.native_code != 0 ? c->lent_error.native_code
                                                         : CUDA_ERROR_UNKNOWN);
}

static CUresult caller_close_lent(struct overhead_caller *c) {
  share_close(c->memory, &c->lent);
  return CUDA_SUCCESS;
}

static CUresult caller_destroy_context(struct overhead_caller *c, const struct overhead_made *m) {
  const CUresult destroyed = c->driver->cuCtxDestroy(m->context);
  const CUresult restored = c->driver->cuCtxSetCurrent(c->context);
  return destroyed != CUDA_SUCCESS ? destroyed : restored;
}

/* What one thread touches. */
struct touched_part {
  volatile unsigned char *bytes;
  uint64_t size_bytes;
};

static void *touch_own_part(void *opaque) {
  const struct touched_part *part = opaque;
  for (uint64_t at = 0; at < part->size_bytes; at += 4096) {
    part->bytes[at] = 1;
  }
  return NULL;
}

/* By touch_threads threads, of which the caller is one; they run where it may. */
static void touch_pages(void *bytes, uint64_t size_bytes, uint32_t thread_count) {
  struct touched_part parts[OVERHEAD_THREADS_MAX];
  pthread_t threads[OVERHEAD_THREADS_MAX];
  bool started[OVERHEAD_THREADS_MAX] = {false};
  const uint64_t share = (size_bytes / thread_count + 4095) / 4096 * 4096;
  for (uint32_t i = 0; i < thread_count; i++) {
    const uint64_t from = i * share < size_bytes ? i * share : size_bytes;
    const uint64_t left = size_bytes - from;
    parts[i] = (struct touched_part){(unsigned char *)bytes + from, left < share ? left : share};
    started[i] = i > 0 && pthread_create(&threads[i], NULL, touch_own_part, &parts[i]) == 0;
  }
  for (uint32_t i = 0; i < thread_count; i++) {
    if (!started[i]) {
      (void)touch_own_part(&parts[i]);
    }
  }
  for (uint32_t i = 0; i < thread_count; i++) {
    if (started[i]) {
      (void)pthread_join(threads[i], NULL);
    }
  }
}

/* MAP_FAILED: there are no such pages. */
static void *map_pages(const struct overhead_caller *c) {
  const enum overhead_pages pages = c->what->pages;
  const unsigned reserved = pages == OVERHEAD_PAGES_2MIB   ? (unsigned)MAP_HUGETLB | MAP_HUGE_2MB
                            : pages == OVERHEAD_PAGES_1GIB ? (unsigned)MAP_HUGETLB | MAP_HUGE_1GB
                                                           : 0;
  void *bytes = mmap(NULL, c->pinned_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | (int)reserved, -1, 0);
  if (bytes != MAP_FAILED && reserved == 0) {
    /* Where the kernel has none, it maps small ones. */
    (void)madvise(bytes, c->pinned_bytes,
                  pages == OVERHEAD_PAGES_TRANSPARENT ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  }
  return bytes;
}

static CUresult caller_pin(struct overhead_caller *c, struct overhead_made *m) {
  m->host = map_pages(c);
  if (m->host == MAP_FAILED) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  touch_pages(m->host, c->pinned_bytes, c->what->touch_threads > 1 ? c->what->touch_threads : 1);
  return c->driver->cuMemHostRegister(m->host, c->pinned_bytes,
                                      CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
}

static CUresult caller_unpin(struct overhead_caller *c, const struct overhead_made *m) {
  const CUresult result = c->driver->cuMemHostUnregister(m->host);
  return munmap(m->host, c->pinned_bytes) == 0 ? result : CUDA_ERROR_INVALID_VALUE;
}

/* ---- set-up: what the calls need, for one thread ---- */

static enum status overhead_ready_nothing(struct overhead_caller *c, struct error *err) {
  (void)c, (void)err;
  return STATUS_OK;
}

static enum status overhead_ready_buffers(struct overhead_caller *c, struct error *err) {
  const struct cuda_driver *driver = c->driver;
  const uint64_t bytes = c->bytes > 8 ? c->bytes : 8;
  c->pageable = calloc(1, bytes);
  if (c->pageable == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for a case");
  }
  enum status status =
      cuda_check(driver, driver->cuMemHostAlloc(&c->pinned, bytes, 0), err,
                 "allocating %llu bytes of pinned memory", (unsigned long long)bytes);
  return THEN(status, cuda_check(driver, driver->cuMemAlloc(&c->device, 2 * bytes), err,
                                 "allocating %llu bytes", 2 * (unsigned long long)bytes));
}

/* Until a timed event is recorded behind it or the context is waited for, each query of the idle
 * stream takes 1.4 us instead of 0.3 (H100, driver 580). */
static enum status overhead_ready_kernel(struct overhead_caller *c, struct error *err) {
  return cuda_check(c->driver, caller_launch(c, KERNEL_EMPTY), err, "launching a kernel");
}

/* Have another process export memory; that of `other` is opened. */
static enum status caller_borrow(struct overhead_caller *c, enum share share, struct buffer *other,
                                 struct error *err) {
  const bool host = share_memory(share) == MEMORY_SHARED;
  const int32_t node = machine_memory_node(c->session->machine, c->what->gpu);
  struct share_handle handle;
  struct buffer *buffer = other != NULL ? other : &c->lent;
  *buffer = (struct buffer){.endpoint = {.place = host ? PLACE_NUMA : PLACE_GPU,
                                         .index = host ? node : c->what->gpu,
                                         .memory = share_memory(share),
                                         .process = 1,
                                         .share = share},
                            .size_bytes = c->bytes,
                            .user = c->what->gpu};
  RETURN_ON_ERROR(peer_export(c->memory, &buffer->endpoint, c->bytes, &buffer->lent, &handle, err));
  if (other == NULL) {
    c->lent_handle = handle;
    return STATUS_OK;
  }
  enum status status = share_open(c->memory, &handle, other, err);
  if (handle.has_file) {
    (void)close(handle.file);
  }
  if (status != STATUS_OK) {
    peer_release(c->memory, 1, other->lent);
  }
  return status;
}

static enum status overhead_ready_lent(struct overhead_caller *c, enum share share,
                                       struct error *err) {
  c->others = calloc(c->what->handles + 1, sizeof *c->others);
  if (c->others == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for a case");
  }
  enum status status = caller_borrow(c, share, NULL, err);
  while (status == STATUS_OK && c->other_count < c->what->handles) {
    status = caller_borrow(c, share, &c->others[c->other_count], err);
    c->other_count += status == STATUS_OK;
  }
  return THEN(status, cuda_session_use(c->session, c->what->gpu, err));
}

static enum status overhead_ready_imported(struct overhead_caller *c, struct error *err) {
  enum status status = overhead_ready_lent(c, SHARE_IPC, err);
  memcpy(&c->ipc, c->lent_handle.bytes, sizeof c->ipc);
  return status;
}

static enum status overhead_ready_lent_fd(struct overhead_caller *c, struct error *err) {
  return overhead_ready_lent(c, SHARE_FD, err);
}

static enum status overhead_ready_lent_pool(struct overhead_caller *c, struct error *err) {
  return overhead_ready_lent(c, SHARE_POOL, err);
}

static enum status overhead_ready_lent_memfd(struct overhead_caller *c, struct error *err) {
  return overhead_ready_lent(c, SHARE_MEMFD, err);
}

/* Whether there are pages of that size is known when they are asked for. */
static enum status overhead_ready_pages(struct overhead_caller *c, struct error *err) {
  const uint64_t unit = overhead_pages_bytes(c->what->pages) > 0
                            ? overhead_pages_bytes(c->what->pages)
                            : (uint64_t)sysconf(_SC_PAGESIZE);
  c->pinned_bytes = (c->bytes + unit - 1) / unit * unit;
  void *bytes = map_pages(c);
  if (bytes == MAP_FAILED) {
    return error_set(err, STATUS_UNSUPPORTED,
                     "%llu bytes in reserved pages of %s are not free: see "
                     "/sys/kernel/mm/hugepages",
                     (unsigned long long)c->pinned_bytes, overhead_pages_text(c->what->pages));
  }
  (void)munmap(bytes, c->pinned_bytes);
  return STATUS_OK;
}

static enum status overhead_ready_managed(struct overhead_caller *c, struct error *err) {
  const struct cuda_driver *driver = c->driver;
  enum status status =
      cuda_check(driver, driver->cuMemAllocManaged(&c->managed, c->bytes, CU_MEM_ATTACH_GLOBAL),
                 err, "allocating %llu bytes of managed memory", (unsigned long long)c->bytes);
  return THEN(status,
              cuda_check(driver,
                         driver->cuMemPrefetchAsync(c->managed, c->bytes, c->gpu, c->stream), err,
                         "moving managed memory to the GPU"));
}

static enum status overhead_ready_graph(struct overhead_caller *c, struct error *err) {
  const struct cuda_driver *driver = c->driver;
  enum status status = cuda_check(
      driver, driver->cuStreamBeginCapture(c->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), err,
      "beginning to capture a graph");
  if (status == STATUS_OK) {
    CUresult launched = CUDA_SUCCESS;
    for (uint32_t i = 0; launched == CUDA_SUCCESS && i < c->what->nodes; i++) {
      launched = caller_launch(c, KERNEL_EMPTY);
    }
    /* A capture that began has to end. */
    const CUresult ended = driver->cuStreamEndCapture(c->stream, &c->graph);
    status = cuda_check(driver, launched != CUDA_SUCCESS ? launched : ended, err,
                        "capturing a graph of kernels");
  }
  return THEN(status,
              cuda_check(driver, driver->cuGraphInstantiateWithFlags(&c->executable, c->graph, 0),
                         err, "instantiating a graph of kernels"));
}

static enum status overhead_ready_pool(struct overhead_caller *c, struct error *err) {
  const struct cuda_driver *driver = c->driver;
  const CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                     .location = c->properties.location};
  uint64_t keep = UINT64_MAX;
  enum status status =
      cuda_check(driver, driver->cuMemPoolCreate(&c->pool, &properties), err, "cuMemPoolCreate");
  return THEN(status, cuda_check(driver,
                                 driver->cuMemPoolSetAttribute(
                                     c->pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep),
                                 err, "telling a pool to keep its memory"));
}

static enum status overhead_ready_vmm(struct overhead_caller *c, struct error *err) {
  const struct cuda_driver *driver = c->driver;
  size_t granularity = 0;
  RETURN_ON_ERROR(
      cuda_check(driver,
                 driver->cuMemGetAllocationGranularity(&granularity, &c->properties,
                                                       CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
                 err, "cuMemGetAllocationGranularity"));
  c->vmm_bytes = (c->bytes + granularity - 1) / granularity * granularity;
  return STATUS_OK;
}

static enum status overhead_ready_memory(struct overhead_caller *c, struct error *err) {
  const struct cuda_driver *driver = c->driver;
  const enum memory_kind memory = c->what->memory.memory;
  const bool maps = memory == MEMORY_VMM || memory == MEMORY_HOST_VMM;
  if ((memory == MEMORY_POOL && driver->cuMemAllocAsync == NULL) ||
      (maps && driver->cuMemCreate == NULL)) {
    return error_set(err, STATUS_UNSUPPORTED, "the driver has no %s memory",
                     memory_kind_text(memory));
  }
  if (memory == MEMORY_HOST_VMM) {
    c->properties.location =
        (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST_NUMA, .id = c->what->memory.index};
  }
  return maps ? overhead_ready_vmm(c, err) : STATUS_OK;
}

static enum status overhead_ready_vmm_memory(struct overhead_caller *c, struct error *err) {
  c->properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  enum status status = overhead_ready_vmm(c, err);
  return THEN(status,
              cuda_check(c->driver,
                         c->driver->cuMemCreate(&c->handle, c->vmm_bytes, &c->properties, 0), err,
                         "cuMemCreate for other processes"));
}

static enum status overhead_ready_peer(struct overhead_caller *c, struct error *err) {
  struct cuda_session *session = c->session;
  const int32_t gpu = c->what->gpu;
  for (int32_t peer = 0; peer < (int32_t)session->machine->gpu_count; peer++) {
    if (peer != gpu && session->machine->links[gpu][peer].peer_access) {
      enum status status = cuda_session_use(session, peer, err);
      status = THEN(status, cuda_session_set_peer(session, gpu, peer, true, err));
      c->peer = session->gpus[peer].context;
      return THEN(status, cuda_session_use(session, gpu, err));
    }
  }
  return error_set(err, STATUS_UNSUPPORTED, "GPU %d has peer access to no other GPU", gpu);
}

/* ---- the table ---- */

#define OVERHEAD_CALL_(part, id, expression)                                                       \
  static CUresult part##_##id(struct overhead_caller *c, uint32_t i) {                             \
    const struct cuda_driver *d = c->driver;                                                       \
    struct overhead_made *m = &c->made[i < OVERHEAD_MADE_MAX ? i : 0];                             \
    (void)d, (void)m;                                                                              \
    return expression;                                                                             \
  }
#define OVERHEAD_CALLS_(id, name, entry, traits, ready, prior, call, undo, help)                   \
  OVERHEAD_CALL_(before, id, prior)                                                                \
  OVERHEAD_CALL_(timed, id, call)                                                                  \
  OVERHEAD_CALL_(after, id, undo)                                                                  \
  static bool has_##id(const struct cuda_driver *d) {                                              \
    return d->entry != NULL;                                                                       \
  }
OVERHEAD_OPERATION_LIST(OVERHEAD_CALLS_)

#define OVERHEAD_ROW_(id, name, entry, traits, ready, prior, call, undo, help)                     \
  [id] = {#entry, has_##id, overhead_ready_##ready, before_##id, timed_##id, after_##id},
const struct overhead_operation_calls overhead_calls[overhead_operation_name_count] = {
    OVERHEAD_OPERATION_LIST(OVERHEAD_ROW_)};

void overhead_caller_fini(struct overhead_caller *c) {
  const struct cuda_driver *driver = c->driver;
  for (uint64_t i = 0; i < c->other_count; i++) {
    share_close(c->memory, &c->others[i]);
    peer_release(c->memory, 1, c->others[i].lent);
  }
  free(c->others);
  if (c->lent.lent != 0) {
    peer_release(c->memory, 1, c->lent.lent);
  }
  if (c->lent_handle.has_file) {
    (void)close(c->lent_handle.file);
  }
  if (c->handle != 0) {
    (void)driver->cuMemRelease(c->handle);
  }
  if (c->pool != NULL) {
    (void)driver->cuMemPoolDestroy(c->pool);
  }
  if (c->executable != NULL) {
    (void)driver->cuGraphExecDestroy(c->executable);
  }
  if (c->graph != NULL) {
    (void)driver->cuGraphDestroy(c->graph);
  }
  if (c->managed != 0) {
    (void)driver->cuMemFree(c->managed);
  }
  if (c->device != 0) {
    (void)driver->cuMemFree(c->device);
  }
  if (c->pinned != NULL) {
    (void)driver->cuMemFreeHost(c->pinned);
  }
  if (c->event != NULL) {
    (void)driver->cuEventDestroy(c->event);
  }
  if (c->stream != NULL) {
    (void)driver->cuStreamDestroy(c->stream);
  }
  free(c->pageable);
  free(c->made);
}
