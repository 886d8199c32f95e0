/* An [[overhead]]: its keys, their defaults, and the rules between them. */
#include "schema/scenario/kind.h"

static bool memory_needs_driver(enum memory_kind memory) {
  return memory != MEMORY_PAGEABLE && memory != MEMORY_HUGE;
}

static bool operation_allocates(enum overhead_operation operation) {
  return operation == OVERHEAD_ALLOCATE || operation == OVERHEAD_FREE;
}

static bool overhead_has_gpu(const void *work) {
  return ((const union work *)work)->overhead.gpu >= 0;
}

static bool overhead_allocates(const void *work) {
  return operation_allocates(((const union work *)work)->overhead.operation);
}

static const struct field overhead_fields[] = {
    KIND_KEY(OVERHEAD, "operation", "operation", WORDS(overhead_operation_names),
             SETTING(work.overhead.operation), .required = true,
             HELP("The call: cuLaunchKernel of an empty kernel, cuEventRecord, cuStreamSynchronize "
                  "of an empty stream, cuMemcpyHtoDAsync of 4 bytes, allocating memory, freeing "
                  "it, instantiating or launching a graph of one empty kernel")),
    KIND_KEY(OVERHEAD, "at.gpu", "gpu", .type = FIELD_GPUS, SETTING(at),
             RESOLVED(work.overhead.gpu), .applies = overhead_has_gpu,
             HELP("GPUs for which the driver is called, numbered in the order of PCI addresses; by "
                  "default all")),
    KIND_KEY(OVERHEAD, "at.numa", NULL, .type = FIELD_NODES, SETTING(of),
             HELP("NUMA nodes on which host memory is allocated; by default \"local\", the one "
                  "nearest to the GPU, for pageable and huge memory \"*\"")),
    KIND_KEY(OVERHEAD, "memory", "memory", WORDS(memory_kind_names),
             SETTING(work.overhead.memory.memory), .default_text = "device",
             RESOLVED(work.overhead.memory), .applies = overhead_allocates,
             HELP("Kind of memory that is allocated or freed")),
    KIND_KEY(OVERHEAD, "size", "size_bytes", SIZE(1, SIZE_LIMIT), SETTING(work.overhead.size_bytes),
             .default_text = "1MiB", .applies = overhead_allocates, HELP("Bytes per allocation")),
};

static void overhead_finish(const struct block *block, struct setting *setting) {
  struct overhead *overhead = &setting->work.overhead;
  (void)block;
  kind_finish_end(&setting->at, PLACE_GPU, SELECTOR_ALL);
  setting->at.memory = MEMORY_DEVICE;
  if (!operation_allocates(
          overhead->operation)) { /* so that a sweep does not tell apart what is the same */
    overhead->memory.memory = MEMORY_DEVICE;
    overhead->size_bytes = 0;
  }
  kind_finish_end(&setting->of, PLACE_NUMA,
                  memory_needs_driver(overhead->memory.memory) ? SELECTOR_LOCAL : SELECTOR_ALL);
  setting->of.memory = overhead->memory.memory;
}

static void overhead_check_keys(struct reader *reader, const struct block *block) {
  static const char *const of_allocations[] = {"memory", "size", "at.numa", NULL};
  struct subject subject = {reader, block, 0, 0};
  const unsigned operations = entry_word_set(subject_find(&subject, "operation"));
  if (operations != 0 && (operations & (BIT(OVERHEAD_ALLOCATE) | BIT(OVERHEAD_FREE))) == 0) {
    subject_refuse_keys(&subject, of_allocations, "operation \"allocate\" or \"free\"",
                        ": applies to operations that allocate or free");
  }
}

const struct scenario_kind scenario_kind_overhead = {
    .section =
        {SECTION_ROOT, "overhead", true, "[[overhead]]",
         "The time that a call of the driver takes on the host, in ns of the host's clock; one "
         "iteration is one call. `memory` and `size` are for `allocate` and `free`. Memory that "
         "needs no driver (pageable, huge) is allocated as for any other case."},
    .fields = overhead_fields,
    .field_count = sizeof overhead_fields / sizeof *overhead_fields,
    .finish = overhead_finish,
    .check_keys = overhead_check_keys,
};
