#include "tests/fake_cuda/driver/memory.h"

#include "tests/fake_cuda/driver/contents.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static const size_t GPU_PAGE_BYTES = (size_t)2 << 20;
/* Zeroing a huge page takes as long as some thirty faults of small ones. */
static const size_t HUGE_FROM_BYTES = (size_t)256 << 10;

/* Sorted by base. */
static struct {
  pthread_mutex_t lock;
  struct allocation **items;
  size_t count;
  size_t capacity;
  uint64_t used[MACHINE_GPUS_MAX]; /* bytes of each GPU */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t round_up(size_t size_bytes, size_t unit) {
  return (size_bytes + unit - 1) / unit * unit;
}

/* What an allocation takes of its GPU's memory: small ones share a page. */
static uint64_t taken_by(const struct allocation *allocation) {
  const size_t page = allocation->size_bytes < GPU_PAGE_BYTES / 2 ? 512 : GPU_PAGE_BYTES;
  return allocation->kind == ALLOCATION_DEVICE && !allocation->lent
             ? round_up(allocation->size_bytes, page)
             : 0;
}

/* Index of the first allocation with base > address. */
static size_t position_after(uint64_t address) {
  size_t low = 0;
  size_t high = table.count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (table.items[middle]->base <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static struct allocation *containing(uint64_t address) {
  size_t after = position_after(address);
  if (after == 0) {
    return NULL;
  }
  struct allocation *found = table.items[after - 1];
  return address - found->base < found->size_bytes ? found : NULL;
}

static void insert(struct allocation *allocation) {
  if (table.count == table.capacity) {
    table.capacity = table.capacity == 0 ? 64 : 2 * table.capacity;
    table.items = realloc(table.items, table.capacity * sizeof(struct allocation *));
    if (table.items == NULL) {
      abort();
    }
  }
  size_t at = position_after(allocation->base);
  memmove(&table.items[at + 1], &table.items[at], (table.count - at) * sizeof(struct allocation *));
  table.items[at] = allocation;
  table.count++;
  table.used[allocation->gpu] += taken_by(allocation);
}

static void remove_item(const struct allocation *allocation) {
  size_t at = position_after(allocation->base) - 1;
  table.used[allocation->gpu] -= taken_by(allocation);
  table.count--;
  memmove(&table.items[at], &table.items[at + 1], (table.count - at) * sizeof(struct allocation *));
}

/* Page-locked memory is really there at once, so it must not take what the host does not have. */
static bool host_has(size_t size_bytes) {
  FILE *file = fopen("/proc/meminfo", "re");
  unsigned long long available_kib = 0;
  char line[128];
  while (file != NULL && available_kib == 0 && fgets(line, sizeof line, file) != NULL) {
    (void)sscanf(line, "MemAvailable: %llu kB", &available_kib);
  }
  if (file != NULL) {
    (void)fclose(file);
  }
  return available_kib == 0 || size_bytes / 1024 < available_kib;
}

/* Map the bytes of an allocation. Device memory is mapped twice as long: the first half is the
 * address range, which nobody can read, the second holds the bytes. */
static bool map(struct allocation *allocation) {
  size_t bytes = round_up(allocation->size_bytes, GPU_PAGE_BYTES);
  bool device = allocation->kind == ALLOCATION_DEVICE;
  size_t mapped = device ? 2 * bytes : bytes;
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | (device ? MAP_NORESERVE : 0);
  unsigned char *address =
      mmap(NULL, mapped, device ? PROT_NONE : PROT_READ | PROT_WRITE, flags, -1, 0);
  if (address == MAP_FAILED) {
    return false;
  }
  allocation->base = (uint64_t)(uintptr_t)address;
  allocation->mapped_bytes = mapped;
  allocation->data = device ? address + bytes : address;
  if (device && mprotect(allocation->data, bytes, PROT_READ | PROT_WRITE) != 0) {
    (void)munmap(address, mapped);
    return false;
  }
  if (allocation->size_bytes >= HUGE_FROM_BYTES) {
    (void)madvise(allocation->data, bytes, MADV_HUGEPAGE);
  }
  if (allocation->kind == ALLOCATION_PINNED) {
    /* Pages come from the NUMA node that the calling thread prefers now. */
    for (size_t offset = 0; offset < allocation->size_bytes; offset += 4096) {
      ((volatile unsigned char *)address)[offset] = 0;
    }
  }
  return true;
}

struct allocation *memory_allocate(enum allocation_kind kind, int32_t gpu, size_t size_bytes,
                                   unsigned flags, uint64_t gpu_bytes) {
  if (kind == ALLOCATION_PINNED && !host_has(size_bytes)) {
    return NULL;
  }
  struct allocation *allocation = calloc(1, sizeof *allocation);
  if (allocation == NULL) {
    return NULL;
  }
  *allocation = (struct allocation){.size_bytes = size_bytes,
                                    .kind = kind,
                                    .gpu = gpu,
                                    .flags = flags,
                                    .location = PLACE_HOST,
                                    .preferred_location = PLACE_ANY,
                                    .last_prefetch = PLACE_ANY};
  (void)pthread_mutex_lock(&table.lock);
  bool fits = kind != ALLOCATION_DEVICE ||
              (size_bytes <= gpu_bytes &&
               table.used[gpu] + round_up(size_bytes, GPU_PAGE_BYTES) <= gpu_bytes);
  bool mapped = fits && map(allocation);
  if (mapped) {
    insert(allocation);
  }
  (void)pthread_mutex_unlock(&table.lock);
  if (!mapped) {
    free(allocation);
    return NULL;
  }
  return allocation;
}

static void destroy(struct allocation *allocation) {
  if (allocation->mapped_bytes > 0) {
    unsigned char *start = allocation->data;
    if (allocation->kind == ALLOCATION_DEVICE) {
      start -= allocation->mapped_bytes / 2;
    }
    (void)munmap(start, allocation->mapped_bytes);
  }
  if (allocation->backed && !allocation->lent) {
    (void)close(allocation->file);
  }
  free(allocation);
}

void memory_release(struct allocation *allocation) {
  (void)pthread_mutex_lock(&table.lock);
  remove_item(allocation);
  destroy(allocation);
  (void)pthread_mutex_unlock(&table.lock);
}

void memory_make_pinned(struct allocation *allocation) {
  (void)pthread_mutex_lock(&table.lock);
  if (allocation->kind == ALLOCATION_DEVICE) {
    const size_t bytes = allocation->mapped_bytes / 2;
    unsigned char *base = allocation->data - bytes;
    (void)munmap(allocation->data, bytes);
    if (mprotect(base, bytes, PROT_READ | PROT_WRITE) != 0) {
      abort();
    }
    table.used[allocation->gpu] -= taken_by(allocation);
    allocation->kind = ALLOCATION_PINNED;
    allocation->data = base;
    allocation->mapped_bytes = bytes;
  }
  (void)pthread_mutex_unlock(&table.lock);
}

/* A file for each allocation that is exported may be more than a process usually has. */
static void allow_files(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
  }
}

int memory_file(int32_t gpu, size_t size_bytes) {
  char name[32];
  allow_files();
  (void)snprintf(name, sizeof name, "fake-gpu%d", (int)gpu);
  const int file = memfd_create(name, MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, (off_t)round_up(size_bytes, GPU_PAGE_BYTES)) != 0) {
    (void)close(file);
    return -1;
  }
  return file;
}

int32_t memory_gpu_of_file(int file) {
  char path[32];
  char name[64] = "";
  int gpu = -1;
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(path, name, sizeof name - 1);
  return length > 0 && sscanf(name, "/memfd:fake-gpu%d", &gpu) == 1 ? gpu : -1;
}

/* With the table locked. What is there already is kept. */
static bool map_file(struct allocation *allocation, size_t size_bytes, int file, bool keep) {
  const size_t step = GPU_PAGE_BYTES;
  const size_t bytes = round_up(size_bytes, step);
  for (size_t offset = 0; keep && offset < bytes; offset += step) {
    unsigned char there[512] = {0};
    (void)mincore(allocation->data + offset, step, there);
    if (memchr(there, 1, sizeof there) != NULL &&
        pwrite(file, allocation->data + offset, step, (off_t)offset) != (ssize_t)step) {
      return false;
    }
  }
  return mmap(allocation->data, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) !=
         MAP_FAILED;
}

int memory_export(struct allocation *allocation) {
  contents_need(allocation->data, allocation->size_bytes);
  (void)pthread_mutex_lock(&table.lock);
  if (!allocation->backed) {
    const int file = memory_file(allocation->gpu, allocation->size_bytes);
    if (file >= 0 && map_file(allocation, allocation->size_bytes, file, true)) {
      allocation->file = file;
      allocation->backed = true;
    } else if (file >= 0) {
      (void)close(file);
    }
  }
  const int file = allocation->backed ? allocation->file : -1;
  (void)pthread_mutex_unlock(&table.lock);
  return file;
}

bool memory_map_file(struct allocation *allocation, size_t size_bytes, int file, bool lent) {
  (void)pthread_mutex_lock(&table.lock);
  const bool mapped = map_file(allocation, size_bytes, file, false);
  if (mapped && !allocation->backed) {
    table.used[allocation->gpu] -= taken_by(allocation);
    allocation->backed = true;
    allocation->lent = lent;
    allocation->file = lent ? -1 : fcntl(file, F_DUPFD_CLOEXEC, 0);
    table.used[allocation->gpu] += taken_by(allocation);
  }
  (void)pthread_mutex_unlock(&table.lock);
  return mapped;
}

struct allocation *memory_import(int32_t gpu, size_t size_bytes, int file) {
  struct allocation *allocation =
      memory_allocate(ALLOCATION_DEVICE, gpu, size_bytes, 0, UINT64_MAX);
  if (allocation != NULL && !memory_map_file(allocation, size_bytes, file, true)) {
    memory_release(allocation);
    return NULL;
  }
  return allocation;
}

uint64_t memory_used(int32_t gpu) {
  (void)pthread_mutex_lock(&table.lock);
  uint64_t used = table.used[gpu];
  (void)pthread_mutex_unlock(&table.lock);
  return used;
}

bool memory_register(void *address, size_t size_bytes, int32_t gpu, unsigned flags,
                     struct allocation **allocation) {
  struct allocation *made = calloc(1, sizeof *made);
  if (made == NULL) {
    abort();
  }
  *made = (struct allocation){.base = (uint64_t)(uintptr_t)address,
                              .size_bytes = size_bytes,
                              .data = address,
                              .kind = ALLOCATION_REGISTERED,
                              .gpu = gpu,
                              .flags = flags,
                              .location = PLACE_HOST};
  (void)pthread_mutex_lock(&table.lock);
  size_t after = position_after(made->base);
  bool free_range = containing(made->base) == NULL &&
                    (after == table.count || table.items[after]->base - made->base >= size_bytes);
  if (free_range) {
    insert(made);
  }
  (void)pthread_mutex_unlock(&table.lock);
  if (!free_range) {
    free(made);
    return false;
  }
  *allocation = made;
  return true;
}

struct allocation *memory_containing(uint64_t address) {
  (void)pthread_mutex_lock(&table.lock);
  struct allocation *found = containing(address);
  (void)pthread_mutex_unlock(&table.lock);
  return found;
}

struct allocation *memory_at(uint64_t base) {
  struct allocation *found = memory_containing(base);
  return found != NULL && found->base == base ? found : NULL;
}

bool memory_locate(uint64_t address, uint64_t size_bytes, struct memory_place *place) {
  (void)pthread_mutex_lock(&table.lock);
  struct allocation *found = containing(address);
  bool inside = true;
  if (found == NULL) {
    *place = (struct memory_place){.place = PLACE_HOST};
  } else {
    uint64_t offset = address - found->base;
    inside = size_bytes <= found->size_bytes - offset;
    bool elsewhere = found->kind == ALLOCATION_DEVICE;
    *place = (struct memory_place){.data = found->data + offset,
                                   .allocation = found,
                                   .place = elsewhere                           ? found->gpu
                                            : found->kind == ALLOCATION_MANAGED ? found->location
                                                                                : PLACE_HOST};
  }
  (void)pthread_mutex_unlock(&table.lock);
  return inside;
}

struct allocation *memory_lock_owner(const void *data) {
  (void)pthread_mutex_lock(&table.lock);
  size_t after = position_after((uint64_t)(uintptr_t)data);
  struct allocation *before = after == 0 ? NULL : table.items[after - 1];
  const unsigned char *byte = data;
  return before != NULL && byte >= before->data && byte < before->data + before->size_bytes ? before
                                                                                            : NULL;
}

void memory_unlock(void) {
  (void)pthread_mutex_unlock(&table.lock);
}

void memory_set_location(struct allocation *allocation, int32_t place) {
  (void)pthread_mutex_lock(&table.lock);
  allocation->location = place;
  (void)pthread_mutex_unlock(&table.lock);
}

void memory_release_all(int32_t gpu) {
  (void)pthread_mutex_lock(&table.lock);
  size_t kept = 0;
  for (size_t i = 0; i < table.count; i++) {
    if (table.items[i]->gpu == gpu) {
      table.used[gpu] -= taken_by(table.items[i]);
      destroy(table.items[i]);
    } else {
      table.items[kept++] = table.items[i];
    }
  }
  table.count = kept;
  (void)pthread_mutex_unlock(&table.lock);
}
