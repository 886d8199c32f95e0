#include "engine/host/numa.h"

#include "engine/machine/machine.h"
#include "tests/cmocka.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

static struct machine real = {.node_count = 1};
static struct machine simulated = {
    .simulated = true, .node_count = 3, .nodes = {{.number = 0}, {.number = 1}, {.number = 7}}};

/* The lowest node that this process has processors on. */
static int32_t home_node(void) {
  int cpu = 0;
  for (int32_t node = 0; node < MACHINE_NODES_MAX; node++) {
    if (numa_node_cpus(&real, node, &cpu, 1) == 1) {
      return node;
    }
  }
  fail_msg("no node has a processor");
  return -1;
}

static unsigned char *map_pages(size_t size_bytes) {
  unsigned char *pages =
      mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(pages, MAP_FAILED);
  return pages;
}

TEST(nodes_of_a_real_machine_are_themselves) {
  int found = -1;
  int32_t node = home_node();
  assert_ok(numa_real_node(&real, node, &found, err), err);
  assert_int_equal(found, node);
  assert_int_equal(numa_real_node(&real, 5000, &found, err), STATUS_NOT_FOUND);
  assert_contains(err->message, "5000");
  assert_int_equal(numa_real_node(&real, -1, &found, err), STATUS_NOT_FOUND);
}

TEST(nodes_of_a_simulated_machine_stand_for_real_ones) {
  int cpus[NUMA_CPUS_MAX];
  for (size_t i = 0; i < 3; i++) {
    int found = -1;
    int32_t node = simulated.nodes[i].number;
    assert_ok(numa_real_node(&simulated, node, &found, err), err);
    assert_true(found >= 0);
    assert_int_equal(numa_node_cpus(&simulated, node, cpus, NUMA_CPUS_MAX),
                     numa_node_cpus(&real, found, cpus, NUMA_CPUS_MAX));
  }
  int found = -1;
  assert_int_equal(numa_real_node(&simulated, 2, &found, err), STATUS_NOT_FOUND);
}

TEST(processors_of_a_node_are_those_we_may_use) {
  int cpus[NUMA_CPUS_MAX];
  size_t count = numa_node_cpus(&real, home_node(), cpus, NUMA_CPUS_MAX);
  cpu_set_t allowed;
  assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  for (size_t i = 0; i < count; i++) {
    assert_true(CPU_ISSET((size_t)cpus[i], &allowed));
    assert_true(i == 0 || cpus[i] > cpus[i - 1]);
  }
  assert_int_equal(numa_node_cpus(&real, 5000, cpus, NUMA_CPUS_MAX), 0);
  assert_int_equal(numa_node_cpus(&real, home_node(), cpus, 1), 1);
}

TEST(a_bound_thread_is_restored) {
  cpu_set_t before;
  cpu_set_t after;
  struct numa_binding binding;
  assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
  assert_ok(numa_bind_thread(&real, home_node(), &binding, err), err);
  int cpus[NUMA_CPUS_MAX];
  size_t count = numa_node_cpus(&real, home_node(), cpus, NUMA_CPUS_MAX);
  assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
  assert_int_equal(CPU_COUNT(&after), count);
  numa_restore_thread(&binding);
  assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
  assert_true(CPU_EQUAL(&before, &after));

  assert_int_equal(numa_bind_thread(&real, 5000, &binding, err), STATUS_NOT_FOUND);
  numa_restore_thread(&binding);
  assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
  assert_true(CPU_EQUAL(&before, &after));
}

static void *pin(void *argument) {
  struct cpu_set_bits *cpus = argument;
  struct error err;
  if (numa_pin_thread(&real, home_node(), &err) == STATUS_OK) {
    numa_add_own_cpus(cpus);
  }
  return NULL;
}

/* Its own affinity stays within the node; the thread that started it keeps its own. */
TEST(a_pinned_thread_runs_on_its_node) {
  struct cpu_set_bits before = {{0}};
  struct cpu_set_bits after = {{0}};
  struct cpu_set_bits of_thread = {{0}};
  struct cpu_set_bits of_node = {{0}};
  int cpus[NUMA_CPUS_MAX];
  const size_t count = numa_node_cpus(&real, home_node(), cpus, NUMA_CPUS_MAX);
  for (size_t i = 0; i < count; i++) {
    of_node.bits[cpus[i] / 64] |= UINT64_C(1) << (cpus[i] % 64);
  }
  pthread_t thread;
  numa_add_own_cpus(&before);
  assert_int_equal(pthread_create(&thread, NULL, pin, &of_thread), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  numa_add_own_cpus(&after);
  assert_memory_equal(&of_thread, &of_node, sizeof of_node);
  assert_memory_equal(&after, &before, sizeof before);
}

TEST(processors_are_written_as_ranges) {
  struct cpu_set_bits cpus = {{0}};
  char text[20];
  numa_format_cpus(&cpus, text, sizeof text);
  assert_string_equal(text, "");
  cpus.bits[0] = UINT64_C(0x8000000000000007);
  cpus.bits[1] = 1;
  numa_format_cpus(&cpus, text, sizeof text);
  assert_string_equal(text, "0-2,63-64");
  cpus.bits[NUMA_CPUS_MAX / 64 - 1] = UINT64_C(1) << 63;
  numa_format_cpus(&cpus, text, sizeof text);
  assert_string_equal(text, "0-2,63-64,8191");
  cpus.bits[2] = 1;
  numa_format_cpus(&cpus, text, 16);
  assert_string_equal(text, "0-2,63-64,...");
}

/* Where the kernel denies it, it must be said and nothing else. */
static bool is_denied(enum status status) {
  return status == STATUS_DENIED || status == STATUS_UNSUPPORTED;
}

TEST(touched_pages_are_where_they_were_bound) {
  SKIP_EMULATED("takes MADV_POPULATE_WRITE and does nothing");
  const size_t size = (size_t)40 << 20;
  unsigned char *pages = map_pages(size);
  int32_t node = home_node();
  enum status status = numa_bind_memory(&real, pages, size, node, err);
  assert_true(status == STATUS_OK || is_denied(status));
  assert_ok(numa_touch_memory(&real, pages, size, 4096, node, err), err);
  unsigned char resident[1];
  for (size_t at = 0; at < size; at += (size_t)1 << 20) {
    assert_int_equal(mincore(pages + at, 4096, resident), 0);
    assert_int_equal(resident[0] & 1, 1);
  }
  status = numa_verify_memory(&real, pages, size, node, err);
  assert_true(status == STATUS_OK || is_denied(status));
  (void)munmap(pages, size);
}

TEST(touching_keeps_what_pages_hold) {
  const size_t size = 5 * 4096;
  unsigned char *pages = map_pages(size);
  for (size_t i = 0; i < size; i++) {
    pages[i] = (unsigned char)(i * 7);
  }
  assert_ok(numa_touch_memory(&real, pages, size, 4096, home_node(), err), err);
  for (size_t i = 0; i < size; i++) {
    assert_int_equal(pages[i], (unsigned char)(i * 7));
  }
  (void)munmap(pages, size);
}

TEST(pages_that_nobody_touched_are_not_verified) {
  unsigned char *pages = map_pages(16 * 4096);
  enum status status = numa_verify_memory(&real, pages, 16 * 4096, home_node(), err);
  assert_true(is_denied(status));
  assert_true(strlen(err->message) > 0);
  (void)munmap(pages, 16 * 4096);
}

TEST(touching_what_is_not_mapped_is_an_error) {
  unsigned char *pages = map_pages(4096);
  (void)munmap(pages, 4096);
  void *guard = mmap(pages, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  assert_ptr_not_equal(guard, MAP_FAILED);
#ifdef MADV_POPULATE_WRITE
  if (madvise(pages, 4096, MADV_POPULATE_WRITE) != 0 && errno != EINVAL) {
    assert_int_not_equal(numa_touch_memory(&real, pages, 4096, 4096, home_node(), err), STATUS_OK);
  }
#endif
  (void)munmap(guard, 4096);
}

TEST(more_memory_than_there_is_is_refused_beforehand) {
  assert_ok(numa_check_available(&real, home_node(), 4096, err), err);
  assert_int_equal(numa_check_available(&real, home_node(), UINT64_C(1) << 60, err),
                   STATUS_NO_MEMORY);
  assert_contains(err->message, "1048576TiB");
}
