#include "engine/host/numa.h"

#include "engine/base/macros.h"
#include "engine/base/units.h"
#include "engine/machine/machine.h"
#include "engine/machine/memory_limit.h"

#include <errno.h>
#include <inttypes.h>
#include <numa.h>
#include <numaif.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { VERIFY_PAGES_MAX = 4096, NODE_BITS_MAX = 8192, TOUCH_THREADS_MAX = 64 };
/* Below this a thread costs more than the faults it saves. */
static const uint64_t TOUCH_SHARE_MIN_BYTES = UINT64_C(8) << 20;

/* libnuma calls these for what it would print. The types are libnuma's. */
void numa_warn(int num, char *fmt, ...) { // NOLINT(readability-non-const-parameter)
  (void)num;
  (void)fmt;
}

void numa_error(char *where) { // NOLINT(readability-non-const-parameter)
  (void)where;
}

static bool kernel_has_numa(void) {
  return numa_available() >= 0;
}

static int count_real_nodes(void) {
  int count = 0;
  for (int node = 0; node <= numa_max_node(); node++) {
    count += numa_bitmask_isbitset(numa_all_nodes_ptr, (unsigned)node) != 0;
  }
  return count;
}

/* The real node at a place in ascending order. */
static int real_node_at(int place) {
  for (int node = 0; node <= numa_max_node(); node++) {
    if (numa_bitmask_isbitset(numa_all_nodes_ptr, (unsigned)node) != 0 && place-- == 0) {
      return node;
    }
  }
  return 0;
}

static bool simulation_has_node(const struct machine *machine, int32_t node) {
  for (uint32_t i = 0; i < machine->node_count; i++) {
    if (machine->nodes[i].number == node) {
      return true;
    }
  }
  return false;
}

enum status numa_real_node(const struct machine *machine, int32_t node, int *real,
                           struct error *err) {
  if (node < 0 || (machine->simulated && !simulation_has_node(machine, node))) {
    return error_set(err, STATUS_NOT_FOUND, "there is no NUMA node %" PRId32, node);
  }
  if (!kernel_has_numa()) {
    if (node != 0 && !machine->simulated) {
      return error_set(err, STATUS_NOT_FOUND,
                       "there is no NUMA node %" PRId32 ": this kernel has only node 0", node);
    }
    *real = 0;
    return STATUS_OK;
  }
  if (machine->simulated) {
    int count = count_real_nodes();
    *real = real_node_at(count > 0 ? node % count : 0);
    return STATUS_OK;
  }
  if (node > numa_max_node() || !numa_bitmask_isbitset(numa_all_nodes_ptr, (unsigned)node)) {
    return error_set(err, STATUS_NOT_FOUND,
                     "there is no NUMA node %" PRId32 " that this process may use", node);
  }
  *real = node;
  return STATUS_OK;
}

/* One bit, for the system calls that take a set of nodes. */
struct node_set {
  unsigned long bits[NODE_BITS_MAX / (8 * sizeof(unsigned long))];
};

static struct node_set only_node(int real) {
  struct node_set set = {{0}};
  const size_t word_bits = 8 * sizeof *set.bits;
  set.bits[(size_t)real / word_bits] |= 1UL << ((size_t)real % word_bits);
  return set;
}

/* For CPU_FREE; NULL when there are none, or no memory. */
static cpu_set_t *new_cpu_set(const int *cpus, size_t count) {
  cpu_set_t *set = count > 0 ? CPU_ALLOC(NUMA_CPUS_MAX) : NULL;
  if (set != NULL) {
    const size_t set_size = CPU_ALLOC_SIZE(NUMA_CPUS_MAX);
    CPU_ZERO_S(set_size, set);
    for (size_t i = 0; i < count; i++) {
      CPU_SET_S((size_t)cpus[i], set_size, set);
    }
  }
  return set;
}

/* As the kernel lists them; for numa_free_cpumask(). libnuma's own numa_node_to_cpus() keeps what
 * it has read, without a lock: two threads that ask first would each keep it, and one copy be lost.
 * NULL: not known. */
static struct bitmask *cpus_of_node_from_kernel(int real) {
  char path[64];
  (void)snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", real);
  FILE *file = fopen(path, "re");
  char *list = NULL;
  size_t capacity = 0;
  struct bitmask *cpus = NULL;
  if (file != NULL && getline(&list, &capacity, file) > 0) {
    list[strcspn(list, "\n")] = '\0';
    /* A node may have memory alone. */
    cpus = *list != '\0' ? numa_parse_cpustring_all(list) : numa_allocate_cpumask();
  }
  if (file != NULL) {
    (void)fclose(file);
  }
  free(list);
  return cpus;
}

static size_t cpus_of_real_node(int real, int *cpus, size_t capacity) {
  cpu_set_t *allowed = CPU_ALLOC(NUMA_CPUS_MAX);
  const size_t set_size = CPU_ALLOC_SIZE(NUMA_CPUS_MAX);
  const bool has_numa = kernel_has_numa();
  struct bitmask *of_node = has_numa ? cpus_of_node_from_kernel(real) : NULL;
  size_t count = 0;
  /* The main thread's affinity: the calling thread may be bound for the moment. */
  bool known = allowed != NULL && sched_getaffinity(getpid(), set_size, allowed) == 0;
  known = known && (of_node != NULL || !has_numa);
  for (int cpu = 0; known && cpu < NUMA_CPUS_MAX && count < capacity; cpu++) {
    bool here = of_node == NULL ? real == 0
                                : (unsigned)cpu < of_node->size &&
                                      numa_bitmask_isbitset(of_node, (unsigned)cpu) != 0;
    if (here && CPU_ISSET_S((size_t)cpu, set_size, allowed)) {
      cpus[count++] = cpu;
    }
  }
  if (of_node != NULL) {
    numa_free_cpumask(of_node);
  }
  CPU_FREE(allowed);
  return count;
}

size_t numa_node_cpus(const struct machine *machine, int32_t node, int *cpus, size_t capacity) {
  int real = 0;
  if (numa_real_node(machine, node, &real, NULL) != STATUS_OK) {
    return 0;
  }
  return cpus_of_real_node(real, cpus, capacity);
}

enum status numa_bind_thread(const struct machine *machine, int32_t node,
                             struct numa_binding *before, struct error *err) {
  *before = (struct numa_binding){0};
  int real = 0;
  RETURN_ON_ERROR(numa_real_node(machine, node, &real, err));
  int cpus[NUMA_CPUS_MAX];
  cpu_set_t *wanted = new_cpu_set(cpus, cpus_of_real_node(real, cpus, NUMA_CPUS_MAX));
  if (wanted != NULL && sched_getaffinity(0, sizeof before->cpus, (cpu_set_t *)before->cpus) == 0) {
    before->cpus_changed = sched_setaffinity(0, CPU_ALLOC_SIZE(NUMA_CPUS_MAX), wanted) == 0;
  }
  CPU_FREE(wanted);
  int errno_value = ENOSYS;
  if (kernel_has_numa()) {
    const struct node_set nodes = only_node(real);
    before->policy_changed =
        get_mempolicy(&before->policy, before->nodes, NODE_BITS_MAX, NULL, 0) == 0 &&
        set_mempolicy(MPOL_BIND, nodes.bits, NODE_BITS_MAX) == 0;
    errno_value = errno;
  }
  if (!before->cpus_changed && !before->policy_changed) {
    return error_set_errno(err, errno_value, "cannot bind a thread to NUMA node %" PRId32, node);
  }
  return STATUS_OK;
}

enum status numa_pin_thread(const struct machine *machine, int32_t node, struct error *err) {
  struct numa_binding before;
  RETURN_ON_ERROR(numa_bind_thread(machine, node, &before, err));
  if (!before.cpus_changed) {
    return error_set(err, STATUS_DENIED,
                     "a thread cannot be bound to processors of NUMA node %" PRId32
                     ": this process may use none of them, or the kernel refuses",
                     node);
  }
  char name[16];
  (void)snprintf(name, sizeof name, NUMA_THREAD_NAME "%" PRId32, node);
  (void)pthread_setname_np(pthread_self(), name);
  return STATUS_OK;
}

void numa_add_own_cpus(struct cpu_set_bits *cpus) {
  struct cpu_set_bits own = {{0}};
  if (sched_getaffinity(0, sizeof own, (cpu_set_t *)&own) == 0) {
    for (size_t i = 0; i < COUNT_OF(own.bits); i++) {
      cpus->bits[i] |= own.bits[i];
    }
  }
}

static bool cpu_set_has(const struct cpu_set_bits *cpus, int cpu) {
  return cpu < NUMA_CPUS_MAX && (cpus->bits[cpu / 64] >> (cpu % 64) & 1) != 0;
}

void numa_format_cpus(const struct cpu_set_bits *cpus, char *text, size_t size) {
  static const char cut[] = ",...";
  size_t length = 0;
  text[0] = '\0';
  for (int first = 0; first < NUMA_CPUS_MAX; first++) {
    if (!cpu_set_has(cpus, first)) {
      continue;
    }
    int last = first;
    while (cpu_set_has(cpus, last + 1)) {
      last++;
    }
    char range[32];
    const char *comma = length > 0 ? "," : "";
    const int written = last == first
                            ? snprintf(range, sizeof range, "%s%d", comma, first)
                            : snprintf(range, sizeof range, "%s%d-%d", comma, first, last);
    if (length + (size_t)written + sizeof cut > size) {
      (void)snprintf(text + length, size - length, "%s", cut);
      return;
    }
    memcpy(text + length, range, (size_t)written + 1);
    length += (size_t)written;
    first = last;
  }
}

void numa_restore_thread(const struct numa_binding *before) {
  /* The kernel cannot refuse what was in force a moment ago, and nobody could be told if it did. */
  if (before->cpus_changed) {
    (void)sched_setaffinity(0, sizeof before->cpus, (const cpu_set_t *)before->cpus);
  }
  if (before->policy_changed) {
    bool plain = before->policy == MPOL_DEFAULT;
    (void)set_mempolicy(before->policy, plain ? NULL : before->nodes, plain ? 0 : NODE_BITS_MAX);
  }
}

enum status numa_bind_memory(const struct machine *machine, void *address, uint64_t size_bytes,
                             int32_t node, struct error *err) {
  int real = 0;
  RETURN_ON_ERROR(numa_real_node(machine, node, &real, err));
  if (!kernel_has_numa()) {
    return error_set(err, STATUS_UNSUPPORTED, "this kernel has no NUMA: memory cannot be bound");
  }
  const struct node_set nodes = only_node(real);
  if (mbind(address, size_bytes, MPOL_BIND, nodes.bits, NODE_BITS_MAX, 0) != 0) {
    return error_set_errno(err, errno, "cannot bind memory to NUMA node %" PRId32, node);
  }
  return STATUS_OK;
}

/* One thread's part of a touch. */
struct page_touch {
  pthread_t thread;
  unsigned char *address;
  uint64_t size_bytes;
  uint64_t step_bytes;
  bool populate;   /* the kernel may make the pages itself */
  int errno_value; /* 0 = touched */
};

/* The kernel makes all pages at once; false: it cannot, or (errno_value) failed. */
static bool populate_range(struct page_touch *touch) {
#ifdef MADV_POPULATE_WRITE
  int result = 0;
  do {
    result = madvise(touch->address, touch->size_bytes, MADV_POPULATE_WRITE);
  } while (result != 0 && errno == EINTR);
  if (result != 0 && errno != EINVAL && errno != ENOSYS) { /* EINVAL: Linux before 5.14 */
    touch->errno_value = errno;
  }
  return result == 0;
#else
  (void)touch;
  return false;
#endif
}

static void touch_range(struct page_touch *touch) {
  if (touch->populate && (populate_range(touch) || touch->errno_value != 0)) {
    return;
  }
  for (uint64_t offset = 0; offset < touch->size_bytes; offset += touch->step_bytes) {
    /* A write that leaves the value as it is. */
    __atomic_fetch_or(touch->address + offset, (unsigned char)0, __ATOMIC_RELAXED);
  }
}

static void *touch_thread(void *argument) {
  struct page_touch *touch = argument;
  touch_range(touch);
  return NULL;
}

/* Starts a thread that may run on those processors only (NULL = anywhere). */
static bool start_touch(struct page_touch *touch, const cpu_set_t *cpus) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) {
    return false;
  }
  bool started = (cpus == NULL || pthread_attr_setaffinity_np(
                                      &attributes, CPU_ALLOC_SIZE(NUMA_CPUS_MAX), cpus) == 0) &&
                 pthread_create(&touch->thread, &attributes, touch_thread, touch) == 0;
  (void)pthread_attr_destroy(&attributes);
  return started;
}

/* One thread for every few MiB, at most one per processor. */
static uint64_t count_touch_threads(uint64_t size_bytes, size_t cpu_count) {
  uint64_t wanted = size_bytes / TOUCH_SHARE_MIN_BYTES + 1;
  uint64_t limit = cpu_count == 0 ? 1 : cpu_count;
  limit = limit > TOUCH_THREADS_MAX ? TOUCH_THREADS_MAX : limit;
  return wanted < limit ? wanted : limit;
}

/* Write one byte of every step, in parallel by threads on that node. Returns an errno value. */
static int touch_in_parallel(const struct machine *machine, void *address, uint64_t size_bytes,
                             uint64_t step_bytes, int32_t node, bool populate) {
  int cpus[NUMA_CPUS_MAX];
  const size_t cpu_count = numa_node_cpus(machine, node, cpus, NUMA_CPUS_MAX);
  cpu_set_t *set = new_cpu_set(cpus, cpu_count);
  const uint64_t count = count_touch_threads(size_bytes, cpu_count);
  const uint64_t steps = (size_bytes + step_bytes - 1) / step_bytes;
  struct page_touch touches[TOUCH_THREADS_MAX];
  bool started[TOUCH_THREADS_MAX] = {false};
  for (uint64_t i = 0; i < count; i++) {
    uint64_t begin = steps * i / count * step_bytes;
    uint64_t end = i + 1 == count ? size_bytes : steps * (i + 1) / count * step_bytes;
    touches[i] = (struct page_touch){.address = (unsigned char *)address + begin,
                                     .size_bytes = end - begin,
                                     .step_bytes = step_bytes,
                                     .populate = populate};
    started[i] = start_touch(&touches[i], set);
  }
  int errno_value = 0;
  for (uint64_t i = 0; i < count; i++) {
    if (started[i]) {
      (void)pthread_join(touches[i].thread, NULL);
    } else {
      touch_range(&touches[i]);
    }
    errno_value = touches[i].errno_value != 0 ? touches[i].errno_value : errno_value;
  }
  CPU_FREE(set);
  return errno_value;
}

enum status numa_touch_memory(const struct machine *machine, void *address, uint64_t size_bytes,
                              uint64_t page_bytes, int32_t node, struct error *err) {
  const int errno_value = touch_in_parallel(machine, address, size_bytes, page_bytes, node, true);
  if (errno_value != 0) {
    /* EFAULT: a huge page that was promised is not there. */
    return error_set_errno(err, errno_value == EFAULT ? ENOMEM : errno_value,
                           "cannot fault in %" PRIu64 " bytes on NUMA node %" PRId32, size_bytes,
                           node);
  }
  return STATUS_OK;
}

void numa_write_lines(const struct machine *machine, void *address, uint64_t size_bytes,
                      uint64_t line_bytes, int32_t node) {
  (void)touch_in_parallel(machine, address, size_bytes, line_bytes, node, false);
}

/* Pages spread evenly over a range, and what the kernel says of each: a node, or minus an errno. */
struct page_sample {
  void **pages;
  int *where;
  size_t count;
};

static void free_sample(struct page_sample *sample) {
  free(sample->where);
  free(sample->pages);
}

static enum status ask_kernel(const struct page_sample *sample, struct error *err) {
  if (sample->count > 0 &&
      move_pages(0, sample->count, sample->pages, NULL, sample->where, 0) != 0) {
    int errno_value = errno;
    if (errno_value == ENOSYS) {
      return error_set(err, STATUS_UNSUPPORTED, "this kernel does not say where pages are");
    }
    return error_set_errno(err, errno_value, "the kernel does not say where pages are");
  }
  return STATUS_OK;
}

/* On success the caller frees the sample. */
static enum status take_sample(const void *address, uint64_t size_bytes, struct page_sample *sample,
                               struct error *err) {
  if (!kernel_has_numa()) {
    return error_set(err, STATUS_UNSUPPORTED, "this kernel has no NUMA: placement is not known");
  }
  const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
  const uint64_t total = (size_bytes + page_bytes - 1) / page_bytes;
  const size_t count = (size_t)(total < VERIFY_PAGES_MAX ? total : VERIFY_PAGES_MAX);
  *sample = (struct page_sample){.count = count,
                                 .pages = calloc(count + 1, sizeof(void *)),
                                 .where = calloc(count + 1, sizeof(int))};
  enum status status = STATUS_OK;
  if (sample->pages == NULL || sample->where == NULL) {
    status = error_set(err, STATUS_NO_MEMORY, "out of host memory");
  } else {
    for (size_t i = 0; i < count; i++) {
      uint64_t page = count == 1 ? 0 : (total - 1) * i / (count - 1);
      sample->pages[i] = (unsigned char *)(uintptr_t)address + page * page_bytes;
    }
    status = ask_kernel(sample, err);
  }
  if (status != STATUS_OK) {
    free_sample(sample);
  }
  return status;
}

static enum status verify_sample(const struct page_sample *sample, const void *address, int real,
                                 int32_t node, struct error *err) {
  for (size_t i = 0; i < sample->count; i++) {
    const int where = sample->where[i];
    uint64_t offset =
        (uint64_t)((const unsigned char *)sample->pages[i] - (const unsigned char *)address);
    if (where < 0) {
      return error_set(err, STATUS_UNSUPPORTED,
                       "the kernel does not say where the page at offset %" PRIu64 " is: %s",
                       offset, strerror(-where));
    }
    if (where != real) {
      return error_set(err, STATUS_NO_MEMORY,
                       "the page at offset %" PRIu64 " is on NUMA node %d, not on node %" PRId32,
                       offset, where, node);
    }
  }
  return STATUS_OK;
}

enum status numa_verify_memory(const struct machine *machine, const void *address,
                               uint64_t size_bytes, int32_t node, struct error *err) {
  int real = 0;
  struct page_sample sample = {0};
  enum status status = numa_real_node(machine, node, &real, err);
  status = THEN(status, take_sample(address, size_bytes, &sample, err));
  if (status == STATUS_OK) {
    status = verify_sample(&sample, address, real, node, err);
    free_sample(&sample);
  }
  return status;
}

enum status numa_count_pages(const struct machine *machine, const void *address,
                             uint64_t size_bytes, int32_t node, struct numa_pages *pages,
                             struct error *err) {
  int real = 0;
  struct page_sample sample = {0};
  enum status status = numa_real_node(machine, node, &real, err);
  status = THEN(status, take_sample(address, size_bytes, &sample, err));
  RETURN_ON_ERROR(status);
  *pages = (struct numa_pages){.looked_at = sample.count};
  for (size_t i = 0; i < sample.count; i++) {
    const int where = sample.where[i];
    pages->there += where == real;
    pages->elsewhere += where >= 0 && where != real;
    pages->absent += where == -ENOENT;
    pages->unknown += where < 0 && where != -ENOENT;
  }
  free_sample(&sample);
  return STATUS_OK;
}

/* Adds up what the named lines of a meminfo file hold; false when there is no such file. */
static bool read_meminfo(const char *path, const char *const *names, uint64_t *bytes) {
  FILE *file = fopen(path, "re");
  if (file == NULL) {
    return false;
  }
  char line[256];
  *bytes = 0;
  while (fgets(line, sizeof line, file) != NULL) {
    for (const char *const *name = names; *name != NULL; name++) {
      const char *found = strstr(line, *name);
      uint64_t kibibytes = 0;
      if (found != NULL && sscanf(found + strlen(*name), "%" SCNu64, &kibibytes) == 1) {
        *bytes += kibibytes * 1024;
      }
    }
  }
  (void)fclose(file);
  return true;
}

enum status numa_check_available(const struct machine *machine, int32_t node, uint64_t size_bytes,
                                 struct error *err) {
  static const char *const whole[] = {"MemAvailable:", NULL};
  static const char *const of_node[] = {" MemFree:", "(file):", " SReclaimable:", NULL};
  uint64_t available = 0;
  const char *size_text = units_format_size(size_bytes, UNITS_TEXT);
  if (read_meminfo("/proc/meminfo", whole, &available) && available > 0 && size_bytes > available) {
    return error_set(err, STATUS_NO_MEMORY,
                     "%s of host memory are wanted, %" PRIu64 " MiB are available", size_text,
                     available >> 20);
  }
  available = memory_limit_left("");
  if (size_bytes > available) {
    return error_set(
        err, STATUS_NO_MEMORY,
        "%s of host memory are wanted, the control group of this process (a container, a "
        "batch job) lets it have %" PRIu64 " MiB more",
        size_text, available >> 20);
  }
  int real = 0;
  if (!kernel_has_numa() || count_real_nodes() < 2 ||
      numa_real_node(machine, node, &real, NULL) != STATUS_OK) {
    return STATUS_OK;
  }
  char path[96];
  (void)snprintf(path, sizeof path, "/sys/devices/system/node/node%d/meminfo", real);
  if (read_meminfo(path, of_node, &available) && available > 0 && size_bytes > available) {
    return error_set(err, STATUS_NO_MEMORY,
                     "%s on NUMA node %" PRId32 " are wanted, %" PRIu64 " MiB are available there",
                     size_text, node, available >> 20);
  }
  return STATUS_OK;
}
