/* place.h - the selectors of a scenario, matched with what a machine has.
 *
 *   gpu   by index in PCI order. "*" = every GPU that CUDA can see.
 *   numa  by the operating system's node number. "*" = every node with processors and memory:
 *         memory-only nodes (CXL, the GPU's own memory on GH200) are measured when they are named.
 *   local, remote: seen from the GPU at the other end. local = the node nearest to it (numa_node);
 *         where that is not known and there is only one node, that one. remote = every other node
 *         that "*" would give.
 *
 * What is not there is no error: it is left out, and a reason for a person says so. */
#ifndef HAUL_RUNNER_PLAN_PLACE_H
#define HAUL_RUNNER_PLAN_PLACE_H

#include "engine/base/strbuf.h"
#include "engine/case/case.h"
#include "engine/machine/machine.h"
#include "schema/scenario/scenario.h"

#include <stddef.h>

enum { PLACES_MAX = MACHINE_NODES_MAX };

struct place_list {
  int32_t indices[PLACES_MAX]; /* ascending */
  size_t count;
};

/* True for local and remote, which need a GPU at the other end. */
bool place_is_relative(const struct selector *selector);

/* Fill list. near_gpu is the GPU at the other end, used for local and remote only. reason is
 * emptied, or says what of the selector this machine does not have; list then holds the rest. */
void place_resolve(const struct endpoint_setting *end, const struct machine *machine,
                   int32_t near_gpu, struct place_list *list, char reason[CASE_REASON_MAX]);

/* True when node has processors, so that host threads can run there. */
bool place_has_processors(const struct machine *machine, int32_t node);

/* Ascending indices in short: "0..3,6" with ".." for through. */
void place_format_indices(const int32_t *indices, size_t count, const char *through,
                          struct strbuf *text);
/* The selector as asked for, as part of a path: "gpu.all", "gpu7", "numa.local". */
void place_format_asked(const struct endpoint_setting *end, struct strbuf *text);

#endif
