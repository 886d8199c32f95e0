/* An [[overhead]]: its keys, their defaults, and the rules between them. */
#include "schema/scenario/block.h"
#include "schema/scenario/kind.h"

static bool memory_needs_driver(enum memory_kind memory) {
  return memory != MEMORY_PAGEABLE && memory != MEMORY_HUGE && memory != MEMORY_SHARED;
}

static enum overhead_traits traits_in(const void *work) {
  return overhead_traits_of(((const union work *)work)->overhead.operation);
}

static bool overhead_has_gpu(const void *work) {
  return ((const union work *)work)->overhead.gpu >= 0;
}

static bool overhead_allocates(const void *work) {
  return (traits_in(work) & (OVERHEAD_MEMORY | OVERHEAD_PAGES)) != 0;
}

static bool overhead_has_size(const void *work) {
  return (traits_in(work) & OVERHEAD_SIZED) != 0;
}

static bool overhead_has_pages(const void *work) {
  return (traits_in(work) & OVERHEAD_PAGES) != 0;
}

/* A default is left out of the definition. */
static bool overhead_has_threads(const void *work) {
  return ((const union work *)work)->overhead.threads > 1;
}

static bool overhead_has_alive(const void *work) {
  return ((const union work *)work)->overhead.alive > 0;
}

static bool overhead_has_handles(const void *work) {
  return ((const union work *)work)->overhead.handles > 0;
}

static bool overhead_has_nodes(const void *work) {
  return ((const union work *)work)->overhead.nodes > 1;
}

#define OVERHEAD_HELP_(id, name, entry, traits, ready, before, timed, after, help)                 \
  "\n" name " (" #entry ")" help
static const struct field overhead_fields[] = {
    KIND_KEY(OVERHEAD, "operation", "operation", WORDS(overhead_operation_names),
             SETTING(work.overhead.operation), .required = true,
             HELP("The call that is timed, and its function of the driver" OVERHEAD_OPERATION_LIST(
                 OVERHEAD_HELP_))),
    KIND_KEY(OVERHEAD, "at.gpu", "gpu", .type = FIELD_GPUS, SETTING(at),
             RESOLVED(work.overhead.gpu), .applies = overhead_has_gpu,
             HELP("GPUs for which the driver is called, numbered in the order of PCI addresses. "
                  "Default: all")),
    KIND_KEY(OVERHEAD, "at.numa", NULL, .type = FIELD_NODES, SETTING(of),
             HELP("NUMA nodes on which host memory is allocated. Default: \"local\", the one "
                  "nearest to the GPU; for pageable and huge memory \"*\"")),
    KIND_KEY(OVERHEAD, "memory", "memory", WORDS(memory_kind_names),
             SETTING(work.overhead.memory.memory), .default_text = "device",
             RESOLVED(work.overhead.memory), .applies = overhead_allocates,
             HELP("Kind of memory that is allocated or freed")),
    KIND_KEY(OVERHEAD, "size", "size_bytes", SIZE(1, SIZE_LIMIT), SETTING(work.overhead.size_bytes),
             .default_text = "1MiB", .applies = overhead_has_size,
             HELP("Bytes per call, for operations that take a size")),
    KIND_KEY(OVERHEAD, "threads", "threads", COUNT(1, OVERHEAD_THREADS_MAX),
             SETTING(work.overhead.threads), .default_text = "1", .applies = overhead_has_threads,
             HELP("Threads that make the call at once, on processors beside the GPU. Each has a "
                  "stream and buffers of its own. The time is that of one call in one thread")),
    KIND_KEY(OVERHEAD, "alive", "alive", INTEGER(0, OVERHEAD_ALIVE_MAX),
             SETTING(work.overhead.alive), .default_text = "0", .applies = overhead_has_alive,
             HELP("Other allocations of 4 KiB on the GPU that exist meanwhile. Operations on a "
                  "pointer use each in turn")),
    KIND_KEY(OVERHEAD, "nodes", "nodes", COUNT(1, OVERHEAD_NODES_MAX), SETTING(work.overhead.nodes),
             .default_text = "1", .applies = overhead_has_nodes, HELP("Kernels in the graph")),
    KIND_KEY(OVERHEAD, "pages", "pages", WORDS(overhead_pages_names), SETTING(work.overhead.pages),
             .default_text = "small", .applies = overhead_has_pages,
             HELP("Pages that are pinned. \"small\": the system's, with transparent huge pages "
                  "off. \"transparent\": with transparent huge pages. \"2MiB\", \"1GiB\": reserved "
                  "pages of that size")),
    KIND_KEY(OVERHEAD, "touch_threads", "touch_threads", COUNT(1, OVERHEAD_THREADS_MAX),
             SETTING(work.overhead.touch_threads), .default_text = "1",
             .applies = overhead_has_pages,
             HELP("Threads that touch the pages of one allocation before they are registered")),
    KIND_KEY(OVERHEAD, "handles", "handles", INTEGER(0, OVERHEAD_HANDLES_MAX),
             SETTING(work.overhead.handles), .default_text = "0", .applies = overhead_has_handles,
             HELP("Number of other pieces of the other process's memory, of the same size, that "
                  "are open meanwhile")),
};

static void overhead_finish(const struct block *block, struct setting *setting) {
  struct overhead *overhead = &setting->work.overhead;
  (void)block;
  kind_finish_end(&setting->at, PLACE_GPU, SELECTOR_ALL);
  setting->at.memory = MEMORY_DEVICE;
  /* So that a sweep does not tell apart what is the same. */
  const enum overhead_traits traits = overhead_traits_of(overhead->operation);
  if ((traits & OVERHEAD_PAGES) != 0) {
    overhead->memory.memory = MEMORY_REGISTERED;
  } else {
    overhead->pages = OVERHEAD_PAGES_SMALL;
    overhead->touch_threads = 1;
    if ((traits & OVERHEAD_MEMORY) == 0) {
      overhead->memory.memory = MEMORY_DEVICE;
    }
  }
  if ((traits & OVERHEAD_SIZED) == 0) {
    overhead->size_bytes = 0;
  }
  if ((traits & OVERHEAD_NODES) == 0) {
    overhead->nodes = 1;
  }
  if ((traits & OVERHEAD_IMPORTED) == 0) {
    overhead->handles = 0;
  }
  if ((traits & OVERHEAD_ALONE) != 0 || !memory_needs_driver(overhead->memory.memory)) {
    overhead->threads = 1;
  }
  if (!memory_needs_driver(overhead->memory.memory)) {
    overhead->alive = 0;
  }
  kind_finish_end(&setting->of, PLACE_NUMA,
                  memory_needs_driver(overhead->memory.memory) ? SELECTOR_LOCAL : SELECTOR_ALL);
  setting->of.memory = overhead->memory.memory;
}

/* A key of which none of the block's operations has the trait. */
static void overhead_check_keys(struct reader *reader, const struct block *block) {
  static const struct {
    const char *const keys[4];
    enum overhead_traits trait;
    const char *expected;
    const char *why;
  } rules[] = {
      {{"at.numa", NULL},
       OVERHEAD_MEMORY | OVERHEAD_PAGES,
       "operation \"allocate\", \"free\", \"pin\" or \"unpin\"",
       ": applies to operations on memory of a node"},
      {{"pages", "touch_threads", NULL},
       OVERHEAD_PAGES,
       "operation \"pin\" or \"unpin\"",
       ": applies to operations that pin pages"},
      {{"memory", NULL},
       OVERHEAD_MEMORY,
       "operation \"allocate\" or \"free\"",
       ": applies to operations that allocate or free"},
      {{"size", NULL},
       OVERHEAD_SIZED,
       "operation \"allocate\", \"free\", or another that takes a size",
       ": applies to operations that take a size"},
      {{"nodes", NULL},
       OVERHEAD_NODES,
       "operation \"graph_launch\" or \"graph_instantiate\"",
       ": applies to operations of graphs"},
      {{"handles", NULL},
       OVERHEAD_IMPORTED,
       "an operation that opens or closes memory of another process, such as \"ipc_open\"",
       ": applies to memory of another process"},
  };
  struct subject subject = {reader, block, 0, 0};
  const struct entry *operation = subject_find(&subject, "operation");
  unsigned traits = 0;
  for (size_t i = 0; operation != NULL && i < operation->values.count; i++) {
    traits |= overhead_traits_of((enum overhead_operation)operation->values.items[i].word);
  }
  for (size_t i = 0; operation != NULL && operation->values.count > 0 && i < COUNT_OF(rules); i++) {
    if ((traits & rules[i].trait) == 0) {
      subject_refuse_keys(&subject, rules[i].keys, rules[i].expected, rules[i].why);
    }
  }
}

const struct scenario_kind scenario_kind_overhead = {
    .section =
        {SECTION_ROOT, "overhead", true, "[[overhead]]",
         "The time that a call of the driver takes on the host, in ns of the host's clock. One "
         "iteration is one call. haul times the calls of a trial together, and also single calls: "
         "the first call in a process, the median and the 99th percentile (v_case: call_first_ns, "
         "call_median_ns, call_p99_ns). `memory` is for `allocate` and `free`. Memory that needs "
         "no driver (pageable, huge) is allocated as for any other case."},
    .fields = overhead_fields,
    .field_count = COUNT_OF(overhead_fields),
    .finish = overhead_finish,
    .check_keys = overhead_check_keys,
};
