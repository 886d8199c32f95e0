#include "engine/workload/chase_shape.h"

#include "engine/case/work.h"
#include "engine/machine/machine.h"
#include "engine/memory/memory.h"
#include "engine/method/method.h"
#include "engine/workload/chase_lines.h"
#include "engine/workload/workload.h"
#include "kernels/kernels.h"

#include <inttypes.h>

enum { THREADS_MAX = 1024 /* per block */, GRID_THREADS_MAX = 1 << 20 };

static uint64_t shared_limit_bytes(const struct gpu *gpu) {
  const uint64_t kib = 1024;
  switch (gpu->compute_major) {
  case 7:
    return (gpu->compute_minor >= 5 ? 64 : 96) * kib;
  case 8:
    return (gpu->compute_minor == 0 || gpu->compute_minor == 7 ? 163 : 99) * kib;
  case 9:
  case 10:
  case 11:
    return 227 * kib;
  default:
    return 99 * kib;
  }
}

static const char *lines_unsupported_reason(const struct chase *chase) {
  if (chase->lines == CHASE_PART_ALL) {
    return NULL;
  }
  if (chase->space != CHASE_GLOBAL || chase->access != CHASE_BY_LOAD || chase->cache != CACHE_L2 ||
      chase->sm != CHASE_SM_EACH || chase_block_threads(chase) != 1 || chase_is_of_words(chase)) {
    return "near and far lines are told apart for one thread on each SM, past its L1 cache: "
           "space = \"global\", cache = \"l2\", sm = \"each\"";
  }
  return chase->stride_bytes % CHASE_LINE_BYTES != 0 || chase_element_count(chase) > CHASE_LINES_MAX
             ? "near and far lines are told apart among up to 16384 elements, which are whole "
               "lines of 128 bytes apart"
             : NULL;
}

static const char *own_memory_unsupported_reason(const struct chase *chase,
                                                 const struct machine *machine,
                                                 char reason[CASE_REASON_MAX]) {
  if (chase->memory.place != PLACE_GPU || chase->memory.index != chase->gpu ||
      !memory_is_gpus_own(chase->memory.memory)) {
    return CASE_REASON(reason,
                       "a chase through %s memory is in the GPU's own (device, pool or vmm) memory",
                       chase_space_text(chase->space));
  }
  const uint64_t limit = shared_limit_bytes(&machine->gpus[chase->gpu]) - CHASE_OWN_SHARED_BYTES;
  if (chase->space == CHASE_SHARED && chase->footprint_bytes > limit) {
    return CASE_REASON(reason,
                       "a block of GPU %" PRId32 " has %" PRIu64
                       " bytes of shared memory to spare, not %" PRIu64,
                       chase->gpu, limit, chase->footprint_bytes);
  }
  return NULL;
}

static const char *access_unsupported_reason(const struct chase *chase,
                                             const struct machine *machine,
                                             char reason[CASE_REASON_MAX]) {
  if (chase->access == CHASE_BY_LOAD) {
    return NULL;
  }
  return chase->space == CHASE_SHARED
             ? "the bulk copy engine brings bytes into shared memory, not out of it"
             : gpu_bulk_unsupported_reason(&machine->gpus[chase->gpu], reason);
}

/* By threads of a node. */
static const char *chase_host_unsupported_reason(const struct chase *chase,
                                                 const struct machine *machine,
                                                 char reason[CASE_REASON_MAX]) {
  if (chase->space != CHASE_HOST || chase->access != CHASE_BY_LOAD || chase->blocks > 1 ||
      chase->sm != CHASE_SM_ONE) {
    return "threads of a node load from host memory, in one block";
  }
  if (memory_kinds[chase->memory.memory]->needs_cuda && machine->gpu_count == 0) {
    return CASE_REASON(reason, "%s memory needs a GPU driver: %.450s",
                       memory_kind_text(chase->memory.memory), machine->cuda_state);
  }
  return NULL;
}

static const char *place_unsupported_reason(const struct chase *chase,
                                            const struct machine *machine,
                                            char reason[CASE_REASON_MAX]) {
  if (chase->by_processor) {
    return chase_host_unsupported_reason(chase, machine, reason);
  }
  switch (chase->space) {
  case CHASE_GLOBAL:
  case CHASE_SHARED:
    return own_memory_unsupported_reason(chase, machine, reason);
  case CHASE_PEER:
    if (chase->memory.place != PLACE_GPU || chase->memory.index == chase->gpu) {
      return "the peer of a chase is another GPU";
    }
    if (!machine->links[chase->gpu][chase->memory.index].peer_access) {
      return CASE_REASON(reason, "GPU %d has no peer access to GPU %d", chase->gpu,
                         chase->memory.index);
    }
    return NULL;
  case CHASE_HOST:
    return chase->memory.memory == MEMORY_PAGEABLE && !machine->gpus[chase->gpu].host_page_tables
               ? "a kernel cannot reach pageable memory on this machine; use pinned or registered"
               : NULL;
  case chase_space_name_count:
    break;
  }
  return NULL;
}

static const char *elements_unsupported_reason(const struct chase *chase,
                                               char reason[CASE_REASON_MAX]) {
  const uint64_t unit = chase_is_of_words(chase)         ? CHASE_WORD_BYTES
                        : chase->access == CHASE_BY_BULK ? BULK_UNIT
                                                         : 8;
  if (chase->stride_bytes < unit || chase->stride_bytes % unit != 0 ||
      chase_element_count(chase) < 2 || chase_element_count(chase) > UINT32_MAX) {
    return CASE_REASON(reason,
                       "a chase needs a stride that is a multiple of %" PRIu64
                       " bytes and a footprint of at least two strides",
                       unit);
  }
  if (chase_is_of_words(chase) && chase->footprint_bytes % CHASE_WORD_BYTES != 0) {
    return "the footprint of elements of 4 bytes is a multiple of 4 bytes";
  }
  if (chase->space == CHASE_GLOBAL && chase_is_of_words(chase) &&
      chase->footprint_bytes > CHASE_WORDS_FOOTPRINT_MAX) {
    return "a chase through elements of 4 bytes has a footprint of at most 2 MiB";
  }
  if (chase_block_threads(chase) > THREADS_MAX || chase_grid_threads(chase) > GRID_THREADS_MAX) {
    return CASE_REASON(reason, "a chase has at most %d threads per block and %d in all",
                       THREADS_MAX, GRID_THREADS_MAX);
  }
  if (chase_sharing_threads(chase) > chase_element_count(chase)) {
    return CASE_REASON(reason,
                       "%" PRIu64 " threads a stride of %" PRIu64 " bytes apart need more than the "
                       "footprint of %" PRIu64,
                       chase_sharing_threads(chase), chase->stride_bytes, chase->footprint_bytes);
  }
  return NULL;
}

const char *chase_unsupported_reason(const struct case_def *def, const struct machine *machine,
                                     char reason[CASE_REASON_MAX]) {
  const struct chase *chase = &def->work->chase;
  if (chase->memory.memory == MEMORY_MANAGED) {
    return "a chase of managed memory would measure page faults; use method um";
  }
  const char *unsupported = access_unsupported_reason(chase, machine, reason);
  unsupported = unsupported != NULL ? unsupported : elements_unsupported_reason(chase, reason);
  unsupported = unsupported != NULL ? unsupported : lines_unsupported_reason(chase);
  return unsupported != NULL ? unsupported : place_unsupported_reason(chase, machine, reason);
}
