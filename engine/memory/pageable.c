/* Pageable memory: anonymous pages as malloc would give them, with huge pages only where the
 * system's setting is "always"; see kind huge for the rest. */
#include "engine/base/units.h"
#include "engine/host/numa.h"
#include "engine/memory/kinds.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum status pages_map(struct buffer *buffer, uint64_t page_bytes, struct error *err) {
  if (buffer->size_bytes > (uint64_t)INT64_MAX - 4 * PAGES_HUGE_BYTES) {
    return error_set(err, STATUS_NO_MEMORY, "%" PRIu64 " bytes of host memory cannot be allocated",
                     buffer->size_bytes);
  }
  const uint64_t bytes = (buffer->size_bytes + page_bytes - 1) / page_bytes * page_bytes;
  const uint64_t whole = bytes + 2 * PAGES_HUGE_BYTES;
  void *mapping = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const char *text = units_format_size(buffer->size_bytes, UNITS_TEXT);
  if (mapping == MAP_FAILED) {
    return error_set_errno(err, errno, "cannot map %s of host memory", text);
  }
  /* The first boundary past the start: a guard of up to 2 MiB before, the rest of 4 MiB after. */
  uintptr_t start = (uintptr_t)mapping / PAGES_HUGE_BYTES * PAGES_HUGE_BYTES + PAGES_HUGE_BYTES;
  unsigned char *pages = (unsigned char *)mapping + (start - (uintptr_t)mapping);
  if (mprotect(pages, bytes, PROT_READ | PROT_WRITE) != 0) {
    enum status status = error_set_errno(err, errno, "cannot map %s of host memory", text);
    (void)munmap(mapping, whole);
    return status;
  }
  buffer->host = pages;
  buffer->mapped_bytes = bytes;
  buffer->mapping = mapping;
  buffer->mapping_bytes = whole;
  return STATUS_OK;
}

enum status pages_place(const struct memory_context *context, struct buffer *buffer,
                        uint64_t page_bytes, struct error *err) {
  RETURN_ON_ERROR(
      numa_check_available(context->machine, buffer->endpoint.index, buffer->mapped_bytes, err));
  enum status status = numa_bind_memory(context->machine, buffer->host, buffer->mapped_bytes,
                                        buffer->endpoint.index, err);
  /* Where binding is not available, the touching threads run on the node: first touch places. */
  if (status != STATUS_OK && status != STATUS_DENIED && status != STATUS_UNSUPPORTED) {
    return status;
  }
  return numa_touch_memory(context->machine, buffer->host, buffer->mapped_bytes, page_bytes,
                           buffer->endpoint.index, err);
}

enum status pages_verify(const struct memory_context *context, struct buffer *buffer,
                         struct error *err) {
  struct error local;
  enum status status = numa_verify_memory(context->machine, buffer->host, buffer->mapped_bytes,
                                          buffer->endpoint.index, &local);
  if (status == STATUS_OK) {
    buffer->placement_verified = true;
  } else if (status == STATUS_DENIED || status == STATUS_UNSUPPORTED) {
    (void)snprintf(buffer->unverified, sizeof buffer->unverified, "%.*s", NOTE_WHAT_MAX - 1,
                   local.message);
  } else {
    return error_set(err, status, "%s memory: %s", memory_kind_text(buffer->endpoint.memory),
                     local.message);
  }
  return STATUS_OK;
}

void pages_unmap(struct buffer *buffer) {
  if (buffer->mapping != NULL) {
    (void)munmap(buffer->mapping, buffer->mapping_bytes);
    buffer->mapping = NULL;
    buffer->host = NULL;
  }
}

static enum status pageable_allocate(const struct memory_context *context, struct buffer *buffer,
                                     struct error *err) {
  const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
  enum status status = pages_map(buffer, page_bytes, err);
  status = THEN(status, pages_place(context, buffer, page_bytes, err));
  status = THEN(status, pages_verify(context, buffer, err));
  if (status != STATUS_OK) {
    pages_unmap(buffer);
  }
  return status;
}

static void pageable_release(const struct memory_context *context, struct buffer *buffer) {
  (void)context;
  pages_unmap(buffer);
}

const struct memory_ops memory_pageable = {
    .kind = MEMORY_PAGEABLE,
    .place = PLACE_NUMA,
    .needs_cuda = false,
    .allocate = pageable_allocate,
    .release = pageable_release,
};
