/* chase_shape.h - numbers that follow from the keys of a pointer chase, and whether it can be
 * measured (engine/workload/chase.c). */
#pragma once

#include "engine/case/chase.h"

struct machine;

enum { CHASE_WORD_BYTES = 4 }; /* elements of shared memory, and of a chain of 32 bits */

static inline uint64_t chase_element_count(const struct chase *chase) {
  return chase->footprint_bytes / chase->stride_bytes;
}

static inline uint32_t chase_block_threads(const struct chase *chase) {
  return chase->threads > 0 ? chase->threads : 1;
}

static inline uint64_t chase_grid_threads(const struct chase *chase) {
  return (uint64_t)chase_block_threads(chase) * (chase->blocks > 0 ? chase->blocks : 1);
}

static inline bool chase_is_of_words(const struct chase *chase) {
  return chase->space == CHASE_SHARED ||
         (chase->space == CHASE_GLOBAL && chase->access == CHASE_BY_LOAD &&
          chase->element_bytes == CHASE_WORD_BYTES);
}

/* Threads that share the elements: shared memory is each block's own. */
static inline uint64_t chase_sharing_threads(const struct chase *chase) {
  return chase->space == CHASE_SHARED ? chase_block_threads(chase) : chase_grid_threads(chase);
}

/* Shared memory that one block can have (CUDA C++ Programming Guide, technical specifications per
 * compute capability). */

/* As workload_ops says. */
const char *chase_unsupported_reason(const struct case_def *def, const struct machine *machine,
                                     char reason[CASE_REASON_MAX]);
