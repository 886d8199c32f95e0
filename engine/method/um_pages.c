#include "engine/method/um_pages.h"

#include "engine/case/transfer.h"
#include "engine/gpu/session.h"
#include "engine/host/numa.h"
#include "engine/machine/machine.h"

#include <unistd.h>

static CUmemLocation node_location(int real_node) {
  return (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST_NUMA, .id = real_node};
}

static CUresult prefetch_to_node(const struct memory_context *context, const struct buffer *view,
                                 uint64_t size_bytes, CUstream stream) {
  int real = 0;
  if (numa_real_node(context->machine, view->endpoint.index, &real, NULL) != STATUS_OK) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return context->cuda->driver.cuMemPrefetchAsync_v2(view->device, size_bytes, node_location(real),
                                                     0, stream);
}

/* The host as a whole: the pages come from where the calling thread may take them. */
static CUresult prefetch_to_host(const struct memory_context *context, const struct buffer *view,
                                 uint64_t size_bytes, CUstream stream) {
  struct numa_binding before;
  bool bound = numa_bind_thread(context->machine, view->endpoint.index, &before, NULL) == STATUS_OK;
  CUresult result =
      context->cuda->driver.cuMemPrefetchAsync(view->device, size_bytes, CU_DEVICE_CPU, stream);
  if (bound) {
    numa_restore_thread(&before);
  }
  return result;
}

enum status um_pages_prefetch(const struct memory_context *context, const struct buffer *view,
                              uint64_t size_bytes, bool to_node, void *stream, struct error *err) {
  const struct cuda_session *session = context->cuda;
  CUresult result;
  if (view->endpoint.place == PLACE_GPU) {
    result = session->driver.cuMemPrefetchAsync(view->device, size_bytes,
                                                session->gpus[view->endpoint.index].device, stream);
  } else if (to_node) {
    result = prefetch_to_node(context, view, size_bytes, stream);
  } else {
    result = prefetch_to_host(context, view, size_bytes, stream);
  }
  return cuda_check(&session->driver, result, err, "prefetching %llu bytes to %s %d",
                    (unsigned long long)size_bytes,
                    view->endpoint.place == PLACE_GPU ? "GPU" : "NUMA node",
                    (int)view->endpoint.index);
}

static CUmem_advise advice_of(enum advise advise, bool set) {
  switch (advise) {
  case ADVISE_PREFERRED_LOCATION:
    return set ? CU_MEM_ADVISE_SET_PREFERRED_LOCATION : CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
  case ADVISE_ACCESSED_BY:
    return set ? CU_MEM_ADVISE_SET_ACCESSED_BY : CU_MEM_ADVISE_UNSET_ACCESSED_BY;
  case ADVISE_NONE:
  case ADVISE_READ_MOSTLY:
  case advise_name_count:
    break;
  }
  return set ? CU_MEM_ADVISE_SET_READ_MOSTLY : CU_MEM_ADVISE_UNSET_READ_MOSTLY;
}

enum status um_pages_advise(const struct memory_context *context, const struct buffer *view,
                            uint64_t size_bytes, enum advise advise, bool set, struct error *err) {
  const struct cuda_session *session = context->cuda;
  if (advise == ADVISE_NONE) {
    return STATUS_OK;
  }
  const bool at_gpu = view->endpoint.place == PLACE_GPU;
  const CUdevice device = at_gpu ? session->gpus[view->endpoint.index].device : CU_DEVICE_CPU;
  int real = 0;
  CUresult result = CUDA_ERROR_NOT_SUPPORTED;
  /* Only a preferred location can be a node. */
  if (!at_gpu && advise == ADVISE_PREFERRED_LOCATION && session->driver.cuMemAdvise_v2 != NULL &&
      numa_real_node(context->machine, view->endpoint.index, &real, NULL) == STATUS_OK) {
    result = session->driver.cuMemAdvise_v2(view->device, size_bytes, advice_of(advise, set),
                                            node_location(real));
  }
  if (result != CUDA_SUCCESS) {
    result = session->driver.cuMemAdvise(view->device, size_bytes, advice_of(advise, set), device);
  }
  return cuda_check(&session->driver, result, err, "advising %s", advise_text(advise));
}

static enum status prefetch_and_wait(const struct memory_context *context,
                                     const struct buffer *view, uint64_t size_bytes, int32_t gpu,
                                     bool to_node, struct error *err) {
  enum status status = cuda_session_use(context->cuda, gpu, err);
  status = THEN(status, um_pages_prefetch(context, view, size_bytes, to_node,
                                          context->cuda->gpus[gpu].stream, err));
  return THEN(status, cuda_session_wait(context->cuda, context->cuda->gpus[gpu].stream,
                                        "waiting for pages to move", err));
}

static bool host_page_tables(const struct memory_context *context) {
  for (uint32_t i = 0; i < context->machine->gpu_count; i++) {
    if (context->machine->gpus[i].host_page_tables) {
      return true;
    }
  }
  return false;
}

/* Write-fault every page from the node; contents stay. Where the kernel does not populate a
 * driver's memory, one thread touches it instead. */
static enum status touch_host(const struct memory_context *context, const struct buffer *view,
                              uint64_t size_bytes, struct error *err) {
  const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
  const int32_t node = view->endpoint.index;
  enum status status =
      numa_touch_memory(context->machine, view->host, size_bytes, page_bytes, node, err);
  if (status == STATUS_OK || status == STATUS_NO_MEMORY) {
    return status;
  }
  struct numa_binding before;
  const bool bound = numa_bind_thread(context->machine, node, &before, NULL) == STATUS_OK;
  for (uint64_t offset = 0; offset < size_bytes; offset += page_bytes) {
    (void)__atomic_fetch_or(view->host + offset, (unsigned char)0, __ATOMIC_RELAXED);
  }
  if (bound) {
    numa_restore_thread(&before);
  }
  return STATUS_OK;
}

enum status um_pages_place_host(const struct memory_context *context, const struct buffer *view,
                                uint64_t size_bytes, int32_t gpu, struct um_abilities *abilities,
                                struct error *err) {
  const int32_t node = view->endpoint.index;
  *abilities = (struct um_abilities){0};
  enum status status = numa_check_available(context->machine, node, size_bytes, err);
  status = THEN(status, touch_host(context, view, size_bytes, err));
  RETURN_ON_ERROR(status);
  if (context->cuda->driver.cuMemPrefetchAsync_v2 != NULL) {
    struct error refused;
    status = prefetch_and_wait(context, view, size_bytes, gpu, true, &refused);
    abilities->prefetch_to_node = status == STATUS_OK;
    if (status == STATUS_STICKY) {
      *err = refused;
      return status;
    }
  }
  struct numa_pages pages;
  status = numa_count_pages(context->machine, view->host, size_bytes, node, &pages, NULL);
  /* Where GPU memory is a NUMA node as well, or the answers are errors, they prove nothing. */
  abilities->kernel_sees_pages =
      status == STATUS_OK && pages.unknown == 0 && pages.there > 0 && !host_page_tables(context);
  return STATUS_OK;
}

enum status um_pages_check_prefetched(const struct memory_context *context,
                                      const struct buffer *view, uint64_t size_bytes,
                                      struct error *err) {
  const struct cuda_driver *driver = &context->cuda->driver;
  const bool at_gpu = view->endpoint.place == PLACE_GPU;
  const int wanted = at_gpu ? context->cuda->gpus[view->endpoint.index].device : (int)CU_DEVICE_CPU;
  int where = 0;
  int type = 0;
  enum status status =
      cuda_check(driver,
                 driver->cuMemRangeGetAttribute(&where, sizeof where,
                                                CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
                                                view->device, size_bytes),
                 err, "asking where pages were prefetched to");
  if (status != STATUS_OK || where == wanted) {
    return status;
  }
  /* A node of the host need not be "the CPU" to the older attribute. */
  if (!at_gpu && driver->cuMemPrefetchAsync_v2 != NULL &&
      driver->cuMemRangeGetAttribute(&type, sizeof type,
                                     CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE,
                                     view->device, size_bytes) == CUDA_SUCCESS &&
      (type == CU_MEM_LOCATION_TYPE_HOST || type == CU_MEM_LOCATION_TYPE_HOST_NUMA)) {
    return STATUS_OK;
  }
  return error_set(err, STATUS_UNSUPPORTED,
                   "the driver says that pages were prefetched to device %d, not to %d", where,
                   wanted);
}

enum status um_pages_check_host(const struct memory_context *context, const struct buffer *view,
                                uint64_t size_bytes, const struct um_abilities *abilities,
                                bool gone, struct error *err) {
  struct numa_pages pages;
  if (!abilities->kernel_sees_pages || (gone && context->machine->simulated)) {
    return STATUS_OK;
  }
  RETURN_ON_ERROR(numa_count_pages(context->machine, view->host, size_bytes, view->endpoint.index,
                                   &pages, err));
  const size_t wrong = gone ? pages.there + pages.elsewhere : pages.looked_at - pages.there;
  if (wrong == 0) {
    return STATUS_OK;
  }
  return error_set(err, STATUS_UNSUPPORTED,
                   gone ? "%zu of %zu pages looked at are still on the host (NUMA node %d)"
                        : "%zu of %zu pages looked at are not on NUMA node %d",
                   wrong, pages.looked_at, (int)view->endpoint.index);
}

enum status um_pages_put(const struct memory_context *context, const struct buffer *view,
                         uint64_t size_bytes, int32_t gpu, const struct um_abilities *abilities,
                         struct error *err) {
  enum status status =
      prefetch_and_wait(context, view, size_bytes, gpu, abilities->prefetch_to_node, err);
  status = THEN(status, um_pages_check_prefetched(context, view, size_bytes, err));
  if (status != STATUS_OK || view->endpoint.place == PLACE_GPU) {
    return status;
  }
  /* A page that came to the host may be missing from its page tables until the host touches it. */
  if (um_pages_check_host(context, view, size_bytes, abilities, false, NULL) != STATUS_OK) {
    status = touch_host(context, view, size_bytes, err);
  }
  return THEN(status, um_pages_check_host(context, view, size_bytes, abilities, false, err));
}

/* The place in a linear pass that is touched i-th. */
static uint64_t touch_place(const struct touch *touch, uint64_t i, uint64_t count) {
  return (touch->random ? pattern_shuffled(i, count) : i) * touch->stride_bytes;
}

uint64_t touch_part(const struct touch *touch, uint32_t part, uint32_t count) {
  const uint64_t stride = touch->stride_bytes;
  const uint64_t places = (touch->size_bytes - 1) / stride + 1;
  const uint64_t unit = (touch->page_bytes + stride - 1) / stride; /* of places */
  const uint64_t units = (places - 1) / unit + 1;
  const uint64_t begin = (units / count * part + units % count * part / count) * unit;
  const uint64_t next = units / count * (part + 1) + units % count * (part + 1) / count;
  const uint64_t end = part + 1 == count || next * unit > places ? places : next * unit;
  const unsigned char flip = touch->complement ? 0xff : 0;
  volatile unsigned char *bytes = touch->bytes;
  uint64_t sum = 0;
  for (uint32_t pass = 0; pass < (touch->passes > 0 ? touch->passes : 1); pass++) {
    for (uint64_t i = begin; i < end; i++) {
      const uint64_t offset = touch_place(touch, i, places);
      if (touch->reads) {
        sum += bytes[offset];
      } else {
        bytes[offset] = (unsigned char)(pattern_byte(touch->seed, offset) ^ flip);
      }
    }
  }
  return sum;
}

uint64_t touch_expected_sum(const struct touch *touch) {
  uint64_t sum = 0;
  for (uint64_t offset = 0; offset < touch->size_bytes; offset += touch->stride_bytes) {
    sum += pattern_byte(touch->seed, offset);
  }
  return sum;
}
