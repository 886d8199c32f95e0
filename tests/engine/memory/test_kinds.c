#include "engine/host/numa.h"
#include "engine/machine/machine.h"
#include "engine/memory/kinds.h"
#include "engine/memory/memory.h"
#include "tests/cmocka.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct machine machine = {.node_count = 1};
static const struct memory_context context = {.machine = &machine};

/* The lowest node that this process has processors on. */
static int32_t home_node(void) {
  int cpu = 0;
  int32_t node = 0;
  while (node < MACHINE_NODES_MAX && numa_node_cpus(&machine, node, &cpu, 1) == 0) {
    node++;
  }
  return node;
}

static struct buffer wanted(enum memory_kind kind, uint64_t size_bytes) {
  return (struct buffer){
      .endpoint = {.place = PLACE_NUMA, .index = home_node(), .memory = kind},
      .size_bytes = size_bytes,
  };
}

TEST(every_entry_is_complete_and_in_its_place) {
  for (int kind = 0; kind < memory_kind_name_count; kind++) {
    const struct memory_ops *ops = memory_kinds[kind];
    assert_non_null(ops);
    assert_int_equal(ops->kind, kind);
    assert_non_null(ops->allocate);
    assert_non_null(ops->release);
    assert_int_equal(ops->place,
                     memory_is_gpus_own((enum memory_kind)kind) || kind == MEMORY_MANAGED
                         ? PLACE_GPU
                         : PLACE_NUMA);
  }
}

static void check_usable(struct buffer *buffer) {
  assert_non_null(buffer->host);
  assert_true(buffer->mapped_bytes >= buffer->size_bytes);
  assert_int_equal((uintptr_t)buffer->host % 4096, 0);
  for (uint64_t at = 0; at < buffer->size_bytes; at += 4096) {
    assert_int_equal(buffer->host[at], 0);
    buffer->host[at] = 1;
  }
  buffer->host[buffer->size_bytes - 1] = 1;
  /* Either the kernel said so, or the note says why nobody knows. */
  assert_true(buffer->placement_verified || buffer->unverified[0] != '\0');
}

TEST(pageable_memory_is_placed_and_usable) {
  static const uint64_t sizes[] = {1, 4095, 4097, (UINT64_C(3) << 20) + 5, UINT64_C(64) << 20};
  const struct memory_ops *ops = memory_kinds[MEMORY_PAGEABLE];
  for (size_t i = 0; i < COUNT_OF(sizes); i++) {
    struct buffer buffer = wanted(MEMORY_PAGEABLE, sizes[i]);
    assert_ok(ops->allocate(&context, &buffer, err), err);
    check_usable(&buffer);
    ops->release(&context, &buffer);
    assert_null(buffer.host);
  }
}

TEST(size_beyond_memory_is_no_memory) {
  SKIP_EMULATED("looks for room in its address space page by page");
  static const uint64_t sizes[] = {UINT64_C(1) << 45, UINT64_C(1) << 60, UINT64_MAX};
  for (size_t i = 0; i < COUNT_OF(sizes); i++) {
    for (int kind = 0; kind < memory_kind_name_count; kind++) {
      if (memory_kinds[kind] == NULL || memory_kinds[kind]->needs_cuda) {
        continue;
      }
      struct buffer buffer = wanted((enum memory_kind)kind, sizes[i]);
      assert_int_equal(memory_kinds[kind]->allocate(&context, &buffer, err), STATUS_NO_MEMORY);
      assert_true(strlen(err->message) > 0);
      assert_null(buffer.host);
    }
  }
}

TEST(an_absent_node_is_not_found) {
  struct buffer buffer = wanted(MEMORY_PAGEABLE, 4096);
  buffer.endpoint.index = 5000;
  assert_int_equal(memory_kinds[MEMORY_PAGEABLE]->allocate(&context, &buffer, err),
                   STATUS_NOT_FOUND);
  assert_null(buffer.host);
}

TEST(huge_memory_is_huge_or_refused_with_the_reason) {
  const struct memory_ops *ops = memory_kinds[MEMORY_HUGE];
  struct buffer buffer = wanted(MEMORY_HUGE, (UINT64_C(9) << 20) + 1);
  enum status status = ops->allocate(&context, &buffer, err);
  if (status == STATUS_UNSUPPORTED) {
    assert_contains(err->message, "2 MiB pages");
    assert_null(buffer.host);
    print_message("%s\n", err->message);
    skip();
  }
  assert_int_equal(status, STATUS_OK);
  assert_int_equal(buffer.mapped_bytes, UINT64_C(10) << 20);
  assert_int_equal((uintptr_t)buffer.host % PAGES_HUGE_BYTES, 0);
  assert_true((buffer.notes & (NOTE_BIT(NOTE_TRANSPARENT_PAGES) | NOTE_BIT(NOTE_RESERVED_PAGES))) !=
              0);
  check_usable(&buffer);
  ops->release(&context, &buffer);
}

/* What the usual seccomp profile of containers does. */
static bool deny_placement(void) {
#define DENY(call)                                                                                 \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1),                                               \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      DENY(SYS_mbind),
      DENY(SYS_move_pages),
      DENY(SYS_set_mempolicy),
      DENY(SYS_get_mempolicy),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
#undef DENY
  struct sock_fprog program = {.len = COUNT_OF(filter), .filter = filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

enum { DENIED_AS_IT_SHOULD = 0, NO_SECCOMP = 77 };

static int allocate_where_placement_is_denied(void) {
  struct buffer buffer = wanted(MEMORY_PAGEABLE, UINT64_C(20) << 20);
  struct error err = {0};
  if (!deny_placement()) {
    return NO_SECCOMP;
  }
  if (memory_kinds[MEMORY_PAGEABLE]->allocate(&context, &buffer, &err) != STATUS_OK) {
    return 1;
  }
  if (buffer.placement_verified || buffer.unverified[0] == '\0') {
    return 2;
  }
  memset(buffer.host, 1, buffer.size_bytes);
  memory_kinds[MEMORY_PAGEABLE]->release(&context, &buffer);
  /* Threads are still bound by their affinity, and the way back needs no denied call. */
  struct numa_binding before;
  if (numa_bind_thread(&machine, home_node(), &before, &err) != STATUS_OK) {
    return 3;
  }
  numa_restore_thread(&before);
  return DENIED_AS_IT_SHOULD;
}

TEST(a_kernel_that_denies_placement_gives_unverified_memory) {
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    _exit(allocate_where_placement_is_denied());
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  if (WEXITSTATUS(status) == NO_SECCOMP) {
    skip();
  }
  assert_int_equal(WEXITSTATUS(status), DENIED_AS_IT_SHOULD);
}
