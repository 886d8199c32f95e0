/* overhead.h - calls of the driver, timed on the host: case kind overhead. One
 * iteration is one call. */
#pragma once

#include "engine/case/case.h"

/* What an operation takes, and how many calls of it one trial may make. */
enum overhead_traits {
  OVERHEAD_SIZED = 1,      /* key size */
  OVERHEAD_MEMORY = 2,     /* key memory */
  OVERHEAD_NODES = 4,      /* key nodes */
  OVERHEAD_QUEUED = 8,     /* no more calls than the queue of a stream holds */
  OVERHEAD_MAKING = 16,    /* each call makes something, which is undone later: at most 64 calls */
  OVERHEAD_ALONE = 32,     /* one call per trial: the next needs the first undone */
  OVERHEAD_PAGES = 64,     /* keys at.numa, pages and touch_threads */
  OVERHEAD_IMPORTED = 128, /* of memory that another process exports */
};

/* Pages of memory that is pinned. Behind the name: bytes, 0 = the system's own. */
#define OVERHEAD_PAGES_LIST(X)                                                                     \
  X(OVERHEAD_PAGES_SMALL, "small", 0)               /* none are transparent huge ones */           \
  X(OVERHEAD_PAGES_TRANSPARENT, "transparent", 0)   /* huge ones are asked for */                  \
  X(OVERHEAD_PAGES_2MIB, "2MiB", UINT64_C(1) << 21) /* reserved ones, as the next */               \
  X(OVERHEAD_PAGES_1GIB, "1GiB", UINT64_C(1) << 30)
ENUM_NAMES_DECLARE(overhead_pages, OVERHEAD_PAGES_LIST)
uint64_t overhead_pages_bytes(enum overhead_pages pages);

/* Every call whose time on the host is measured, one row each:
 * X(enum, name, entry point, traits, set-up, before, timed, after, help).
 * The entry point's version stands in CUDA_FUNCTION_LIST (engine/cuda/driver_api.h); a driver that
 * lacks it cannot run the case. set-up: overhead_ready_... of engine/workload/overhead_gpu.c.
 * before, timed and after are expressions of type CUresult, of which only the middle one is in the
 * time: d is the driver, c the calling thread's streams and buffers (struct overhead_caller), m
 * what call i made. Each runs for all calls of a trial before the next begins. */
#define OVERHEAD_NONE CUDA_SUCCESS
#define OVERHEAD_OPERATION_LIST(X)                                                                 \
  X(OVERHEAD_KERNEL_LAUNCH, "kernel_launch", cuLaunchKernel, OVERHEAD_QUEUED, nothing,             \
    OVERHEAD_NONE, caller_launch(c, KERNEL_EMPTY), OVERHEAD_NONE, ": an empty kernel")             \
  X(OVERHEAD_EVENT_RECORD, "event_record", cuEventRecord, OVERHEAD_QUEUED, nothing, OVERHEAD_NONE, \
    d->cuEventRecord(c->event, c->stream), OVERHEAD_NONE, "")                                      \
  X(OVERHEAD_STREAM_SYNCHRONIZE, "stream_synchronize", cuStreamSynchronize, 0, nothing,            \
    OVERHEAD_NONE, d->cuStreamSynchronize(c->stream), OVERHEAD_NONE, ": an idle stream")           \
  X(OVERHEAD_MEMCPY_CALL, "memcpy_call", cuMemcpyHtoDAsync, OVERHEAD_QUEUED, buffers,              \
    OVERHEAD_NONE, d->cuMemcpyHtoDAsync(c->device, c->pinned, 4, c->stream), OVERHEAD_NONE,        \
    ": 4 bytes of pinned memory")                                                                  \
  X(OVERHEAD_ALLOCATE, "allocate", cuMemAlloc, OVERHEAD_MEMORY | OVERHEAD_SIZED | OVERHEAD_MAKING, \
    memory, OVERHEAD_NONE, caller_allocate(c, m, i), caller_release(c, m),                         \
    ": or what allocates memory of that kind")                                                     \
  X(OVERHEAD_FREE, "free", cuMemFree, OVERHEAD_MEMORY | OVERHEAD_SIZED | OVERHEAD_MAKING, memory,  \
    caller_allocate(c, m, i), caller_release(c, m), OVERHEAD_NONE,                                 \
    ": or what frees memory of that kind")                                                         \
  X(OVERHEAD_GRAPH_INSTANTIATE, "graph_instantiate", cuGraphInstantiateWithFlags,                  \
    OVERHEAD_NODES | OVERHEAD_MAKING, graph, OVERHEAD_NONE,                                        \
    d->cuGraphInstantiateWithFlags(&m->graph, c->graph, 0), d->cuGraphExecDestroy(m->graph),       \
    ": a graph of empty kernels")                                                                  \
  X(OVERHEAD_GRAPH_LAUNCH, "graph_launch", cuGraphLaunch, OVERHEAD_NODES | OVERHEAD_MAKING, graph, \
    OVERHEAD_NONE, d->cuGraphLaunch(c->executable, c->stream), OVERHEAD_NONE, ": the same")        \
  X(OVERHEAD_KERNEL_LAUNCH_4K, "kernel_launch_4k", cuLaunchKernel, OVERHEAD_QUEUED, nothing,       \
    OVERHEAD_NONE, caller_launch(c, KERNEL_EMPTY_4K), OVERHEAD_NONE,                               \
    ": an empty kernel with 4,096 bytes of arguments")                                             \
  X(OVERHEAD_POINTER_ATTRIBUTE, "pointer_attribute", cuPointerGetAttribute, 0, buffers,            \
    OVERHEAD_NONE,                                                                                 \
    d->cuPointerGetAttribute(c->answers, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, caller_pointer(c, i)),  \
    OVERHEAD_NONE, ": the kind of memory at a device pointer, of all that are alive in turn")      \
  X(OVERHEAD_POINTER_ATTRIBUTES, "pointer_attributes", cuPointerGetAttributes, 0, buffers,         \
    OVERHEAD_NONE, caller_attributes(c, i), OVERHEAD_NONE, ": six attributes of one pointer")      \
  X(OVERHEAD_POINTER_OF_HOST, "pointer_of_host", cuPointerGetAttribute, 0, buffers, OVERHEAD_NONE, \
    caller_ask_host(c), OVERHEAD_NONE,                                                             \
    ": the same of memory that the driver does not know, which it refuses")                        \
  X(OVERHEAD_ADDRESS_RANGE, "address_range", cuMemGetAddressRange, 0, buffers, OVERHEAD_NONE,      \
    d->cuMemGetAddressRange(&c->answers[0], &c->size, caller_pointer(c, i)), OVERHEAD_NONE, "")    \
  X(OVERHEAD_MEMORY_INFO, "memory_info", cuMemGetInfo, 0, nothing, OVERHEAD_NONE,                  \
    d->cuMemGetInfo(&c->size, &c->total), OVERHEAD_NONE, "")                                       \
  X(OVERHEAD_EVENT_QUERY, "event_query", cuEventQuery, 0, nothing, OVERHEAD_NONE,                  \
    d->cuEventQuery(c->event), OVERHEAD_NONE, ": an event that has happened")                      \
  X(OVERHEAD_EVENT_SYNCHRONIZE, "event_synchronize", cuEventSynchronize, 0, nothing,               \
    OVERHEAD_NONE, d->cuEventSynchronize(c->event), OVERHEAD_NONE, ": the same")                   \
  X(OVERHEAD_EVENT_CREATE, "event_create", cuEventCreate, OVERHEAD_MAKING, nothing, OVERHEAD_NONE, \
    d->cuEventCreate(&m->event, CU_EVENT_DISABLE_TIMING), d->cuEventDestroy(m->event),             \
    ": without timing")                                                                            \
  X(OVERHEAD_EVENT_DESTROY, "event_destroy", cuEventDestroy, OVERHEAD_MAKING, nothing,             \
    d->cuEventCreate(&m->event, CU_EVENT_DISABLE_TIMING), d->cuEventDestroy(m->event),             \
    OVERHEAD_NONE, "")                                                                             \
  X(OVERHEAD_STREAM_CREATE, "stream_create", cuStreamCreate, OVERHEAD_MAKING, nothing,             \
    OVERHEAD_NONE, d->cuStreamCreate(&m->stream, CU_STREAM_NON_BLOCKING),                          \
    d->cuStreamDestroy(m->stream), "")                                                             \
  X(OVERHEAD_STREAM_DESTROY, "stream_destroy", cuStreamDestroy, OVERHEAD_MAKING, nothing,          \
    d->cuStreamCreate(&m->stream, CU_STREAM_NON_BLOCKING), d->cuStreamDestroy(m->stream),          \
    OVERHEAD_NONE, "")                                                                             \
  X(OVERHEAD_STREAM_QUERY, "stream_query", cuStreamQuery, 0, nothing, OVERHEAD_NONE,               \
    d->cuStreamQuery(c->stream), OVERHEAD_NONE, ": an idle stream")                                \
  X(OVERHEAD_STREAM_IS_CAPTURING, "stream_is_capturing", cuStreamIsCapturing, 0, nothing,          \
    OVERHEAD_NONE, d->cuStreamIsCapturing(c->stream, &c->answer), OVERHEAD_NONE, "")               \
  X(OVERHEAD_STREAM_WAIT_EVENT, "stream_wait_event", cuStreamWaitEvent, OVERHEAD_QUEUED, nothing,  \
    OVERHEAD_NONE, d->cuStreamWaitEvent(c->stream, c->event, 0), OVERHEAD_NONE,                    \
    ": an event that has happened")                                                                \
  X(OVERHEAD_STREAM_WRITE, "stream_write", cuStreamWriteValue32, OVERHEAD_QUEUED, buffers,         \
    OVERHEAD_NONE, d->cuStreamWriteValue32(c->stream, c->device, 1, 0), OVERHEAD_NONE,             \
    ": 32 bits of device memory")                                                                  \
  X(OVERHEAD_HOST_FUNCTION, "host_function", cuLaunchHostFunc, OVERHEAD_QUEUED, nothing,           \
    OVERHEAD_NONE, d->cuLaunchHostFunc(c->stream, do_nothing, NULL), OVERHEAD_NONE,                \
    ": an empty function of the host")                                                             \
  X(OVERHEAD_MEMCPY_HTOD, "memcpy_htod", cuMemcpyHtoDAsync, OVERHEAD_SIZED | OVERHEAD_QUEUED,      \
    buffers, OVERHEAD_NONE, d->cuMemcpyHtoDAsync(c->device, c->pinned, c->bytes, c->stream),       \
    OVERHEAD_NONE, ": from pinned memory: the call, not the copy")                                 \
  X(OVERHEAD_MEMCPY_DTOH, "memcpy_dtoh", cuMemcpyDtoHAsync, OVERHEAD_SIZED | OVERHEAD_QUEUED,      \
    buffers, OVERHEAD_NONE, d->cuMemcpyDtoHAsync(c->pinned, c->device, c->bytes, c->stream),       \
    OVERHEAD_NONE, ": to pinned memory")                                                           \
  X(OVERHEAD_MEMCPY_DTOD, "memcpy_dtod", cuMemcpyDtoDAsync, OVERHEAD_SIZED | OVERHEAD_QUEUED,      \
    buffers, OVERHEAD_NONE,                                                                        \
    d->cuMemcpyDtoDAsync(c->device + c->bytes, c->device, c->bytes, c->stream), OVERHEAD_NONE,     \
    ": within the GPU")                                                                            \
  X(OVERHEAD_MEMCPY_PAGEABLE, "memcpy_pageable", cuMemcpyHtoDAsync,                                \
    OVERHEAD_SIZED | OVERHEAD_QUEUED, buffers, OVERHEAD_NONE,                                      \
    d->cuMemcpyHtoDAsync(c->device, c->pageable, c->bytes, c->stream), OVERHEAD_NONE,              \
    ": from pageable memory, which the call itself reads")                                         \
  X(OVERHEAD_MEMSET, "memset", cuMemsetD8Async, OVERHEAD_SIZED | OVERHEAD_QUEUED, buffers,         \
    OVERHEAD_NONE, d->cuMemsetD8Async(c->device, 0, c->bytes, c->stream), OVERHEAD_NONE, "")       \
  X(OVERHEAD_MALLOC_ASYNC, "malloc_async", cuMemAllocAsync, OVERHEAD_SIZED | OVERHEAD_MAKING,      \
    nothing, OVERHEAD_NONE, d->cuMemAllocAsync(&m->device, c->bytes, c->stream),                   \
    d->cuMemFreeAsync(m->device, c->stream),                                                       \
    ": from the driver's own pool, which gives memory back at each synchronization")               \
  X(OVERHEAD_POOL_ALLOCATE, "pool_allocate", cuMemAllocFromPoolAsync,                              \
    OVERHEAD_SIZED | OVERHEAD_MAKING, pool, OVERHEAD_NONE,                                         \
    d->cuMemAllocFromPoolAsync(&m->device, c->bytes, c->pool, c->stream),                          \
    d->cuMemFreeAsync(m->device, c->stream), ": from a pool that keeps its memory")                \
  X(OVERHEAD_POOL_FREE, "pool_free", cuMemFreeAsync, OVERHEAD_SIZED | OVERHEAD_MAKING, pool,       \
    d->cuMemAllocFromPoolAsync(&m->device, c->bytes, c->pool, c->stream),                          \
    d->cuMemFreeAsync(m->device, c->stream), OVERHEAD_NONE, ": into such a pool")                  \
  X(OVERHEAD_IPC_GET_HANDLE, "ipc_get_handle", cuIpcGetMemHandle, 0, buffers, OVERHEAD_NONE,       \
    d->cuIpcGetMemHandle(&c->ipc, c->device), OVERHEAD_NONE, ": a handle for other processes")     \
  X(OVERHEAD_VMM_RESERVE, "vmm_reserve", cuMemAddressReserve, OVERHEAD_SIZED | OVERHEAD_MAKING,    \
    vmm, OVERHEAD_NONE, d->cuMemAddressReserve(&m->device, c->vmm_bytes, 0, 0, 0),                 \
    d->cuMemAddressFree(m->device, c->vmm_bytes),                                                  \
    ": addresses; size is rounded up to the granularity, here and below")                          \
  X(OVERHEAD_VMM_CREATE, "vmm_create", cuMemCreate, OVERHEAD_SIZED | OVERHEAD_MAKING, vmm,         \
    OVERHEAD_NONE, caller_create(c, m), d->cuMemRelease(m->handle), ": memory without addresses")  \
  X(OVERHEAD_VMM_MAP, "vmm_map", cuMemMap, OVERHEAD_SIZED | OVERHEAD_MAKING, vmm,                  \
    caller_map(c, m, VMM_RESERVED), d->cuMemMap(m->device, c->vmm_bytes, 0, m->handle, 0),         \
    caller_unmap(c, m, VMM_MAPPED), "")                                                            \
  X(OVERHEAD_VMM_SET_ACCESS, "vmm_set_access", cuMemSetAccess, OVERHEAD_SIZED | OVERHEAD_MAKING,   \
    vmm, caller_map(c, m, VMM_MAPPED), d->cuMemSetAccess(m->device, c->vmm_bytes, &c->access, 1),  \
    caller_unmap(c, m, VMM_MAPPED), ": for the GPU itself")                                        \
  X(OVERHEAD_VMM_UNMAP, "vmm_unmap", cuMemUnmap, OVERHEAD_SIZED | OVERHEAD_MAKING, vmm,            \
    caller_map(c, m, VMM_ACCESSIBLE), d->cuMemUnmap(m->device, c->vmm_bytes),                      \
    caller_unmap(c, m, VMM_RESERVED), "")                                                          \
  X(OVERHEAD_VMM_EXPORT, "vmm_export", cuMemExportToShareableHandle,                               \
    OVERHEAD_SIZED | OVERHEAD_MAKING, vmm_memory, OVERHEAD_NONE, caller_export(c, m),              \
    caller_close(m), ": to a file descriptor, for other processes")                                \
  X(OVERHEAD_VMM_IMPORT, "vmm_import", cuMemImportFromShareableHandle,                             \
    OVERHEAD_SIZED | OVERHEAD_MAKING, vmm_memory, caller_export(c, m), caller_import(c, m),        \
    caller_drop_import(c, m), ": from such a file descriptor")                                     \
  X(OVERHEAD_PREFETCH, "prefetch", cuMemPrefetchAsync, OVERHEAD_SIZED | OVERHEAD_QUEUED, managed,  \
    OVERHEAD_NONE, d->cuMemPrefetchAsync(c->managed, c->bytes, c->gpu, c->stream), OVERHEAD_NONE,  \
    ": managed memory that is at the GPU already")                                                 \
  X(OVERHEAD_ADVISE, "advise", cuMemAdvise, OVERHEAD_SIZED, managed, OVERHEAD_NONE,                \
    d->cuMemAdvise(c->managed, c->bytes, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, c->gpu),            \
    OVERHEAD_NONE, ": the preferred location of managed memory")                                   \
  X(OVERHEAD_PEER_ENABLE, "peer_enable", cuCtxEnablePeerAccess, OVERHEAD_ALONE, peer,              \
    d->cuCtxDisablePeerAccess(c->peer), d->cuCtxEnablePeerAccess(c->peer, 0), OVERHEAD_NONE,       \
    ": to the first other GPU that can be reached")                                                \
  X(OVERHEAD_CONTEXT_SET, "context_set", cuCtxSetCurrent, 0, nothing, OVERHEAD_NONE,               \
    d->cuCtxSetCurrent(c->context), OVERHEAD_NONE, ": the context that is current")                \
  X(OVERHEAD_CONTEXT_SYNCHRONIZE, "context_synchronize", cuCtxSynchronize, 0, nothing,             \
    OVERHEAD_NONE, d->cuCtxSynchronize(), OVERHEAD_NONE, ": an idle context")                      \
  X(OVERHEAD_CONTEXT_CREATE, "context_create", cuCtxCreate, OVERHEAD_ALONE, nothing,               \
    OVERHEAD_NONE, d->cuCtxCreate(&m->context, 0, c->gpu), caller_destroy_context(c, m),           \
    ": a second context of the GPU")                                                               \
  X(OVERHEAD_MODULE_LOAD, "module_load", cuModuleLoadData, OVERHEAD_MAKING, nothing,               \
    OVERHEAD_NONE, d->cuModuleLoadData(&m->module, c->image), d->cuModuleUnload(m->module),        \
    ": a module of three small kernels")                                                           \
  X(OVERHEAD_PIN, "pin", cuMemHostRegister, OVERHEAD_SIZED | OVERHEAD_PAGES | OVERHEAD_MAKING,     \
    pages, OVERHEAD_NONE, caller_pin(c, m), caller_unpin(c, m),                                    \
    ": memory that is mapped, touched by touch_threads threads and registered")                    \
  X(OVERHEAD_UNPIN, "unpin", cuMemHostUnregister,                                                  \
    OVERHEAD_SIZED | OVERHEAD_PAGES | OVERHEAD_MAKING, pages, caller_pin(c, m),                    \
    caller_unpin(c, m), OVERHEAD_NONE, ": such memory, and unmapping it")                          \
  X(OVERHEAD_IPC_OPEN, "ipc_open", cuIpcOpenMemHandle,                                             \
    OVERHEAD_SIZED | OVERHEAD_ALONE | OVERHEAD_IMPORTED, imported, OVERHEAD_NONE,                  \
    d->cuIpcOpenMemHandle(&m->device, c->ipc, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),                 \
    d->cuIpcCloseMemHandle(m->device), ": memory of another process")                              \
  X(OVERHEAD_IPC_CLOSE, "ipc_close", cuIpcCloseMemHandle,                                          \
    OVERHEAD_SIZED | OVERHEAD_ALONE | OVERHEAD_IMPORTED, imported,                                 \
    d->cuIpcOpenMemHandle(&m->device, c->ipc, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),                 \
    d->cuIpcCloseMemHandle(m->device), OVERHEAD_NONE, ": such memory")                             \
  X(OVERHEAD_STREAM_QUERY_AFTER_KERNEL, "stream_query_after_kernel", cuStreamQuery, 0, kernel,     \
    OVERHEAD_NONE, d->cuStreamQuery(c->stream), OVERHEAD_NONE,                                     \
    ": whose last work was a kernel, which has ended")                                             \
  X(OVERHEAD_STREAM_SYNCHRONIZE_AFTER_KERNEL, "stream_synchronize_after_kernel",                   \
    cuStreamSynchronize, 0, kernel, OVERHEAD_NONE, d->cuStreamSynchronize(c->stream),              \
    OVERHEAD_NONE, ": likewise")                                                                   \
  X(OVERHEAD_FD_OPEN, "fd_open", cuMemImportFromShareableHandle,                                   \
    OVERHEAD_SIZED | OVERHEAD_ALONE | OVERHEAD_IMPORTED, lent_fd, OVERHEAD_NONE, caller_open(c),   \
    caller_close_lent(c),                                                                          \
    ": memory of another process by its file descriptor, mapped and made accessible")              \
  X(OVERHEAD_FD_CLOSE, "fd_close", cuMemUnmap,                                                     \
    OVERHEAD_SIZED | OVERHEAD_ALONE | OVERHEAD_IMPORTED, lent_fd, caller_open(c),                  \
    caller_close_lent(c), OVERHEAD_NONE, ": such memory, and its addresses")                       \
  X(OVERHEAD_POOL_OPEN, "pool_open", cuMemPoolImportPointer,                                       \
    OVERHEAD_SIZED | OVERHEAD_ALONE | OVERHEAD_IMPORTED, lent_pool, OVERHEAD_NONE, caller_open(c), \
    caller_close_lent(c), ": memory of another process's pool, which is open already")             \
  X(OVERHEAD_POOL_CLOSE, "pool_close", cuMemFreeAsync,                                             \
    OVERHEAD_SIZED | OVERHEAD_ALONE | OVERHEAD_IMPORTED, lent_pool, caller_open(c),                \
    caller_close_lent(c), OVERHEAD_NONE, ": such memory, and waiting for the stream")              \
  X(OVERHEAD_SHARED_OPEN, "shared_open", cuMemHostRegister,                                        \
    OVERHEAD_SIZED | OVERHEAD_ALONE | OVERHEAD_IMPORTED, lent_memfd, OVERHEAD_NONE,                \
    caller_open(c), caller_close_lent(c),                                                          \
    ": a file of memfd_create that another process has filled, mapped and registered")             \
  X(OVERHEAD_SHARED_CLOSE, "shared_close", cuMemHostUnregister,                                    \
    OVERHEAD_SIZED | OVERHEAD_ALONE | OVERHEAD_IMPORTED, lent_memfd, caller_open(c),               \
    caller_close_lent(c), OVERHEAD_NONE, ": such memory, and unmapping it")
ENUM_NAMES_DECLARE(overhead_operation, OVERHEAD_OPERATION_LIST)
enum overhead_traits overhead_traits_of(enum overhead_operation operation);

/* Part of an overhead's case_key: raised whenever an overhead measures differently. */
enum { OVERHEAD_METHOD_VERSION = 1 };

enum { OVERHEAD_THREADS_MAX = 64, OVERHEAD_ALIVE_MAX = 100000, OVERHEAD_NODES_MAX = 10000 };
enum { OVERHEAD_HANDLES_MAX = 10000 };
/* Size of each allocation that stays alive during the measurement. */
enum { OVERHEAD_ALIVE_BYTES = 4096 };

struct overhead {
  enum overhead_operation operation;
  int32_t gpu;            /* whose context; -1 = none, for pageable and huge memory alone */
  struct endpoint memory; /* of allocate and free: kind and place; else not looked at */
  uint64_t size_bytes;    /* of operations that take a size */
  uint32_t threads;       /* concurrent callers, each with its own stream; 0 = 1 */
  uint64_t alive;         /* allocations of device memory that exist meanwhile */
  uint32_t nodes;         /* of a graph; 0 = 1 */
  enum overhead_pages pages;
  uint32_t touch_threads; /* threads that touch the pages before registration; 0 = 1 */
  uint64_t handles; /* of OVERHEAD_IMPORTED: memory of the other process that is open meanwhile */
};
