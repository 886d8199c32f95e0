/* numa.h - the only user of libnuma: where threads run and where pages are.
 *
 * Node numbers are the operating system's. On a simulated machine (engine/cuda/driver.h) node n
 * stands for the real node at place n % (number of real nodes). Where the kernel has no NUMA, node
 * 0 is everything. A container may deny mbind, set_mempolicy or move_pages (STATUS_DENIED): pages
 * still come from the node of the thread that touches them first, so callers bind threads, go on,
 * and say in the row that placement was not verified. Nothing here prints: libnuma's own messages
 * are silenced. */
#pragma once

#include "engine/base/error.h"
#include "engine/machine/limits.h"

#include <stdint.h>

struct machine;

/* Processor numbers below this can be bound: Linux's own limit for x86 and arm64. */
enum { NUMA_CPUS_MAX = 8192 };
/* Before the node's number: the name of a thread that numa_pin_thread() pinned. */
#define NUMA_THREAD_NAME "haul-node-"

/* The real node that a node of the machine stands for. STATUS_NOT_FOUND: there is no such node. */
enum status numa_real_node(const struct machine *machine, int32_t node, int *real,
                           struct error *err) CHECK_RESULT;
/* Logical processors of a node, ascending, at most `capacity`; returns their number. Only those
 * this process may run on (affinity of its main thread). 0: memory only, or no such node. */
size_t numa_node_cpus(const struct machine *machine, int32_t node, int *cpus, size_t capacity);

/* A set of logical processors. A zeroed one is empty. */
struct cpu_set_bits {
  uint64_t bits[NUMA_CPUS_MAX / 64];
};
/* Add those that the calling thread may run on. */
void numa_add_own_cpus(struct cpu_set_bits *cpus);
/* "0-23,48"; what does not fit ends in "...". */
void numa_format_cpus(const struct cpu_set_bits *cpus, char *text, size_t size);

/* What a thread was bound to before numa_bind_thread(). */
struct numa_binding {
  bool cpus_changed;
  bool policy_changed;
  int policy;
  unsigned long cpus[NUMA_CPUS_MAX / (8 * sizeof(unsigned long))];
  unsigned long nodes[NUMA_CPUS_MAX / (8 * sizeof(unsigned long))];
};
/* The calling thread runs on processors of that node from now on, new pages come from there where
 * the kernel lets it, and its name says so. STATUS_DENIED: it may not run there. */
enum status numa_pin_thread(const struct machine *machine, int32_t node,
                            struct error *err) CHECK_RESULT;
/* Until numa_restore_thread() the calling thread runs on processors of that node (anywhere, if it
 * has none) and new pages, those that a driver takes on its behalf included, come from there.
 * STATUS_DENIED when the kernel allows neither; nothing is changed then. */
enum status numa_bind_thread(const struct machine *machine, int32_t node,
                             struct numa_binding *before, struct error *err) CHECK_RESULT;
void numa_restore_thread(const struct numa_binding *before);

/* Pages of [address, address + size) that are faulted from now on come from that node (MPOL_BIND);
 * address is page-aligned. STATUS_DENIED or STATUS_UNSUPPORTED: only first touch places them. */
enum status numa_bind_memory(const struct machine *machine, void *address, uint64_t size_bytes,
                             int32_t node, struct error *err) CHECK_RESULT;
/* Fault in every page, in parallel by threads on that node; writes zeros to fresh pages, keeps what
 * others hold. STATUS_NO_MEMORY where the kernel has no page to give. */
enum status numa_touch_memory(const struct machine *machine, void *address, uint64_t size_bytes,
                              uint64_t page_bytes, int32_t node, struct error *err) CHECK_RESULT;
/* Write every line of that many bytes, as it is, by the same threads: they, and caches that they
 * share, hold as much of it as fits. The pages are there. */
void numa_write_lines(const struct machine *machine, void *address, uint64_t size_bytes,
                      uint64_t line_bytes, int32_t node);
/* Ask the kernel where the pages are (move_pages), every page up to 4096 pages, evenly spread ones
 * (first and last among them) above. STATUS_NO_MEMORY names the first page elsewhere, for the node
 * had none to give; STATUS_UNSUPPORTED or STATUS_DENIED when the kernel will not say. */
enum status numa_verify_memory(const struct machine *machine, const void *address,
                               uint64_t size_bytes, int32_t node, struct error *err) CHECK_RESULT;
/* Where the looked-at pages (as many as numa_verify_memory looks at) are now. */
struct numa_pages {
  size_t looked_at;
  size_t there;     /* on the node */
  size_t elsewhere; /* on another node */
  size_t absent;    /* the host has no such page: never touched, or moved to a GPU */
  size_t unknown;   /* the kernel does not say */
};
/* STATUS_UNSUPPORTED or STATUS_DENIED when the kernel will not say of any page. */
enum status numa_count_pages(const struct machine *machine, const void *address,
                             uint64_t size_bytes, int32_t node, struct numa_pages *pages,
                             struct error *err) CHECK_RESULT;
/* STATUS_NO_MEMORY when the machine, the control group or that node cannot give size_bytes without
 * swapping or killing; STATUS_OK when it can or when nobody can tell. */
enum status numa_check_available(const struct machine *machine, int32_t node, uint64_t size_bytes,
                                 struct error *err) CHECK_RESULT;
