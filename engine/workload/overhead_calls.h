/* overhead_calls.h - what one thread calls with, and the functions that are made of each row of
 * OVERHEAD_OPERATION_LIST. Private to engine/workload/overhead_*.c. */
#pragma once

#include "engine/case/overhead.h"
#include "engine/gpu/session.h"
#include "engine/memory/share.h"

enum { OVERHEAD_SAMPLES_MAX = 2048, OVERHEAD_ATTRIBUTES = 6, OVERHEAD_MADE_MAX = 64 };

/* What one call has made, to be undone. */
struct overhead_made {
  CUdeviceptr device;
  void *host;
  CUgraphExec graph;
  CUevent event;
  CUstream stream;
  CUcontext context;
  CUmodule module;
  CUmemGenericAllocationHandle handle;
  int file;
};

/* What one thread calls with. */
struct overhead_caller {
  const struct overhead *what;
  struct cuda_session *session;
  const struct cuda_driver *driver;
  CUcontext context;
  CUcontext peer;
  CUdevice gpu;
  CUstream stream;
  CUevent event; /* that has happened */
  /* Of kernels: zero, and beginning as struct empty_arguments does. To clear it at each call would
   * be in the time. */
  struct empty_4k_arguments arguments;
  uint64_t bytes;
  CUdeviceptr device; /* twice `bytes`, 16 at least */
  void *pinned, *pageable;
  CUdeviceptr managed;
  CUgraph graph; /* of empty kernels */
  CUgraphExec executable;
  CUmemoryPool pool;
  const void *image; /* of a module */
  uint64_t vmm_bytes;
  uint64_t pinned_bytes; /* `bytes`, in whole pages */
  CUmemAllocationProp properties;
  CUmemAccessDesc access;
  CUmemGenericAllocationHandle handle;
  /* Answers of calls that ask. */
  CUdeviceptr answers[OVERHEAD_ATTRIBUTES];
  size_t size, total;
  CUstreamCaptureStatus answer;
  CUipcMemHandle ipc;
  /* Memory of another process: `lent` is opened and closed while `others` are open. */
  const struct memory_context *memory;
  struct buffer lent;
  struct share_handle lent_handle;
  struct buffer *others;
  uint64_t other_count;
  struct error lent_error;
  unsigned char *slots; /* registered memory, slot_bytes apart */
  uint64_t slot_bytes;
  const CUdeviceptr *alive; /* allocations, of all threads */
  uint32_t alive_count;
  struct overhead_made *made; /* OVERHEAD_MADE_MAX: by calls of OVERHEAD_MAKING */
  uint32_t done;              /* calls of this run that succeeded */
  CUresult result;            /* of this run */
  uint64_t samples[OVERHEAD_SAMPLES_MAX];
  uint64_t sample_count; /* so far; the latest are kept */
};

typedef CUresult (*overhead_call)(struct overhead_caller *c, uint32_t i);

/* One row: what its entry point is called, whether the driver has it, what makes a thread ready for
 * it, and its three parts. */
struct overhead_operation_calls {
  const char *entry;
  bool (*has)(const struct cuda_driver *driver);
  enum status (*ready)(struct overhead_caller *c, struct error *err);
  overhead_call before, timed, after;
};
extern const struct overhead_operation_calls overhead_calls[overhead_operation_name_count];

/* Frees what ready() has made; results are ignored, for a lost context answers every call with an
 * error. */
void overhead_caller_fini(struct overhead_caller *c);
