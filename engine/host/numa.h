/* numa.h - the only user of libnuma: where threads run and where pages are.
 *
 * Node numbers are the operating system's. On a simulated machine (engine/cuda/simulated.h) node n
 * stands for the real node n % (number of real nodes). Where the kernel has no NUMA, node 0 is
 * everything. */
#ifndef HAUL_ENGINE_HOST_NUMA_H
#define HAUL_ENGINE_HOST_NUMA_H

#include "engine/base/error.h"
#include "engine/machine/machine.h"

/* Logical processors of a node, ascending, at most `capacity`; returns their number. Only those
 * this process may run on (sched_getaffinity). */
size_t numa_node_cpus(const struct machine *machine, int32_t node, int *cpus, size_t capacity);
/* The calling thread runs on that processor only / anywhere on that node / anywhere again. */
enum status numa_bind_thread_to_cpu(int cpu, struct error *err) CHECK_RESULT;
enum status numa_bind_thread_to_node(const struct machine *machine, int32_t node,
                                     struct error *err) CHECK_RESULT;
/* Pages of [address, address + size) that are faulted from now on come from that node (MPOL_BIND);
 * address is page-aligned. */
enum status numa_bind_memory(const struct machine *machine, void *address, uint64_t size_bytes,
                             int32_t node, struct error *err) CHECK_RESULT;
/* Ask the kernel where the pages are (move_pages), every page up to 4096 pages, evenly spread ones
 * above. STATUS_CORRUPT names the first page elsewhere; STATUS_UNSUPPORTED or STATUS_DENIED when
 * the kernel will not say. */
enum status numa_verify_memory(const struct machine *machine, const void *address,
                               uint64_t size_bytes, int32_t node, struct error *err) CHECK_RESULT;
/* Fault in every page, in parallel by threads on that node. */
enum status numa_touch_memory(const struct machine *machine, void *address, uint64_t size_bytes,
                              uint64_t page_bytes, int32_t node, struct error *err) CHECK_RESULT;

#endif
