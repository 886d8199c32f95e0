/* Shared memory: pages of a file without a name, which nobody has to remove, for every process that
 * is given its descriptor. */
#include "engine/base/units.h"
#include "engine/host/numa.h"
#include "engine/memory/kinds.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum status shared_map(struct buffer *buffer, struct error *err) {
  RETURN_ON_ERROR(pages_map(buffer, (uint64_t)sysconf(_SC_PAGESIZE), err));
  if (mmap(buffer->host, buffer->mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
           buffer->file, 0) == MAP_FAILED) {
    enum status status = error_set_errno(err, errno, "cannot map shared memory");
    pages_unmap(buffer);
    return status;
  }
  return STATUS_OK;
}

enum status shared_lock(const struct memory_context *context, struct buffer *buffer,
                        struct error *err) {
  if (context->cuda != NULL) {
    return page_lock(context, buffer, err);
  }
  buffer->notes |= NOTE_BIT(NOTE_NOT_PAGE_LOCKED);
  return numa_touch_memory(context->machine, buffer->host, buffer->mapped_bytes,
                           (uint64_t)sysconf(_SC_PAGESIZE), buffer->endpoint.index, err);
}

void shared_unmap(const struct memory_context *context, struct buffer *buffer) {
  page_unlock(context, buffer);
  pages_unmap(buffer);
  if (buffer->has_file) {
    (void)close(buffer->file);
  }
  buffer->has_file = false;
}

/* -1 with errno. */
static int shared_make_file(enum share share) {
  return share == SHARE_SHM ? open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)
                            : memfd_create("haul", MFD_CLOEXEC);
}

/* All of its pages, from the node; where /dev/shm is too small, a write would be SIGBUS. */
static enum status shared_fill_file(const struct memory_context *context, struct buffer *buffer,
                                    struct error *err) {
  const uint64_t bytes = buffer->mapped_bytes;
  const int32_t node = buffer->endpoint.index;
  RETURN_ON_ERROR(numa_check_available(context->machine, node, bytes, err));
  enum status status = numa_bind_memory(context->machine, buffer->host, bytes, node, err);
  if (status != STATUS_OK && status != STATUS_DENIED && status != STATUS_UNSUPPORTED) {
    return status;
  }
  if (fallocate(buffer->file, 0, 0, (off_t)bytes) != 0) {
    const char *text = units_format_size(bytes, UNITS_TEXT);
    const bool full = errno == ENOSPC || errno == ENOMEM;
    status = error_set_errno(err, errno, "shared memory (%s) has no room for %s",
                             share_text(buffer->endpoint.share), text);
    return full && err != NULL ? (err->status = STATUS_UNSUPPORTED) : status;
  }
  return numa_touch_memory(context->machine, buffer->host, bytes, (uint64_t)sysconf(_SC_PAGESIZE),
                           node, err);
}

static enum status shared_allocate(const struct memory_context *context, struct buffer *buffer,
                                   struct error *err) {
  const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
  buffer->file = shared_make_file(buffer->endpoint.share);
  if (buffer->file < 0) {
    return error_set(err, STATUS_UNSUPPORTED, "there is no shared memory here: %s",
                     buffer->endpoint.share == SHARE_SHM ? "no file can be made in /dev/shm"
                                                         : "no file by memfd_create");
  }
  buffer->has_file = true;
  enum status status = STATUS_OK;
  if (ftruncate(buffer->file,
                (off_t)((buffer->size_bytes + page_bytes - 1) / page_bytes * page_bytes)) != 0) {
    status = error_set_errno(err, errno, "cannot make a file of shared memory");
  }
  status = THEN(status, shared_map(buffer, err));
  status = THEN(status, shared_fill_file(context, buffer, err));
  status = THEN(status, shared_lock(context, buffer, err));
  status = THEN(status, pages_verify(context, buffer, err));
  if (status != STATUS_OK) {
    shared_unmap(context, buffer);
  }
  return status;
}

const struct memory_ops memory_shared = {
    .kind = MEMORY_SHARED,
    .place = PLACE_NUMA,
    .needs_cuda = false,
    .allocate = shared_allocate,
    .release = shared_unmap,
};
