/* Huge memory: 2 MiB pages, page-locked where there is a GPU. Reserved ones (hugetlbfs) where the
 * node has enough of them free, else transparent ones, asked for and then counted; the note says
 * which. A buffer that is only partly in huge pages is refused: its rate would be of neither kind.
 */
#include "engine/host/numa.h"
#include "engine/memory/kinds.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1; older kernels answer EINVAL */
#endif
#ifndef MAP_HUGE_2MB
#define MAP_HUGE_2MB (21 << 26)
#endif

/* Reserved 2 MiB pages that are free on a node; 0 where the kernel does not say. */
static uint64_t free_reserved_pages(const struct memory_context *context, int32_t node) {
  int real = 0;
  if (numa_real_node(context->machine, node, &real, NULL) != STATUS_OK) {
    return 0;
  }
  char path[128];
  (void)snprintf(path, sizeof path,
                 "/sys/devices/system/node/node%d/hugepages/hugepages-2048kB/free_hugepages", real);
  FILE *file = fopen(path, "re");
  if (file == NULL) {
    return 0;
  }
  uint64_t pages = 0;
  if (fscanf(file, "%" SCNu64, &pages) != 1) {
    pages = 0;
  }
  (void)fclose(file);
  return pages;
}

/* True when the whole buffer is in reserved pages, bound and faulted. */
static bool take_reserved(const struct memory_context *context, struct buffer *buffer) {
  if (free_reserved_pages(context, buffer->endpoint.index) <
      buffer->mapped_bytes / PAGES_HUGE_BYTES) {
    return false;
  }
  void *pages = mmap(buffer->host, buffer->mapped_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_HUGETLB | MAP_HUGE_2MB, -1, 0);
  if (pages != MAP_FAILED) {
    enum status bound = numa_bind_memory(context->machine, buffer->host, buffer->mapped_bytes,
                                         buffer->endpoint.index, NULL);
    if ((bound == STATUS_OK || bound == STATUS_DENIED || bound == STATUS_UNSUPPORTED) &&
        numa_touch_memory(context->machine, buffer->host, buffer->mapped_bytes, PAGES_HUGE_BYTES,
                          buffer->endpoint.index, NULL) == STATUS_OK) {
      return true;
    }
  }
  /* Others took them in between, or had reserved them before, which free_hugepages does not show:
   * ordinary pages again under the same address, where a failed mapping leaves a hole. */
  (void)mmap(buffer->host, buffer->mapped_bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  return false;
}

/* Bytes of [from, to) in transparent huge pages, by /proc/self/smaps; false: it does not say. */
static bool count_transparent(uintptr_t from, uintptr_t to, uint64_t *bytes) {
  FILE *file = fopen("/proc/self/smaps", "re");
  if (file == NULL) {
    return false;
  }
  char line[512];
  bool inside = false;
  bool known = false;
  *bytes = 0;
  while (fgets(line, sizeof line, file) != NULL) {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    uint64_t kibibytes = 0;
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2) {
      inside = begin >= from && end <= to;
    } else if (inside && sscanf(line, "AnonHugePages: %" SCNu64, &kibibytes) == 1) {
      *bytes += kibibytes * 1024;
      known = true;
    }
  }
  (void)fclose(file);
  return known;
}

static void transparent_setting(char *text, size_t size) {
  (void)snprintf(text, size, "unknown");
  FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
  char line[64];
  if (file != NULL) {
    char *begin = fgets(line, sizeof line, file) != NULL ? strchr(line, '[') : NULL;
    char *end = begin != NULL ? strchr(begin, ']') : NULL;
    if (end != NULL) {
      (void)snprintf(text, size, "%.*s", (int)(end - begin - 1), begin + 1);
    }
    (void)fclose(file);
  }
}

static enum status take_transparent(const struct memory_context *context, struct buffer *buffer,
                                    struct error *err) {
  /* A kernel without them answers EINVAL: the count below tells. */
  (void)madvise(buffer->host, buffer->mapped_bytes, MADV_HUGEPAGE);
  RETURN_ON_ERROR(pages_place(context, buffer, PAGES_HUGE_BYTES, err));
  const uintptr_t from = (uintptr_t)buffer->host;
  uint64_t huge_bytes = 0;
  bool known = count_transparent(from, from + buffer->mapped_bytes, &huge_bytes);
  if (known && huge_bytes < buffer->mapped_bytes &&
      madvise(buffer->host, buffer->mapped_bytes, MADV_COLLAPSE) == 0) {
    known = count_transparent(from, from + buffer->mapped_bytes, &huge_bytes);
  }
  if (known && huge_bytes == buffer->mapped_bytes) {
    buffer->notes |= NOTE_BIT(NOTE_TRANSPARENT_PAGES);
    return STATUS_OK;
  }
  char setting[32];
  transparent_setting(setting, sizeof setting);
  return error_set(err, STATUS_UNSUPPORTED,
                   "2 MiB pages: %" PRIu64 " reserved ones are free on NUMA node %" PRId32
                   ", %" PRIu64 " are needed, and transparent ones (setting: %s) hold %" PRIu64
                   " of %" PRIu64 " MiB%s; as root, %s",
                   free_reserved_pages(context, buffer->endpoint.index), buffer->endpoint.index,
                   buffer->mapped_bytes / PAGES_HUGE_BYTES, setting, huge_bytes >> 20,
                   buffer->mapped_bytes >> 20, known ? "" : " (the kernel does not say)",
                   strcmp(setting, "never") == 0
                       ? "echo madvise >/sys/kernel/mm/transparent_hugepage/enabled allows them"
                       : "echo 1 >/proc/sys/vm/compact_memory makes room for them");
}

static void huge_release(const struct memory_context *context, struct buffer *buffer) {
  page_unlock(context, buffer);
  pages_unmap(buffer);
}

static enum status lock(const struct memory_context *context, struct buffer *buffer,
                        struct error *err) {
  if (context->cuda != NULL) {
    return page_lock(context, buffer, err);
  }
  buffer->notes |= NOTE_BIT(NOTE_NOT_PAGE_LOCKED);
  return STATUS_OK;
}

static enum status huge_allocate(const struct memory_context *context, struct buffer *buffer,
                                 struct error *err) {
  enum status status = pages_map(buffer, PAGES_HUGE_BYTES, err);
  RETURN_ON_ERROR(status);
  if (take_reserved(context, buffer)) {
    buffer->notes |= NOTE_BIT(NOTE_RESERVED_PAGES);
  } else {
    status = take_transparent(context, buffer, err);
  }
  status = THEN(status, pages_verify(context, buffer, err));
  status = THEN(status, lock(context, buffer, err));
  if (status != STATUS_OK) {
    huge_release(context, buffer);
  }
  return status;
}

const struct memory_ops memory_huge = {
    .kind = MEMORY_HUGE,
    .place = PLACE_NUMA,
    .needs_cuda = false,
    .allocate = huge_allocate,
    .release = huge_release,
};
