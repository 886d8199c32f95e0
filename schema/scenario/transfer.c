/* A [[transfer]]: its keys, and the defaults of its flows. */
#include "schema/scenario/kind.h"

static bool flow_is_strided(const void *flow) {
  return copy_shape_is_strided(&((const struct flow *)flow)->shape);
}

#define FLOW(member) .owner = OWNER_FLOW, .offset = offsetof(struct flow_setting, member)
#define IN_FLOWS     (IN(TRANSFER) | IN(LOAD) | IN(FLOW))
#define METHOD(name) (1U << METHOD_##name)

static const char *const mirror_words[] = {"forward", "reverse", NULL}; /* as enum direction */

/* The two ends of a flow take the same keys. */
#define END(end)                                                                                   \
  {.name = #end ".gpu",                                                                            \
   .sections = IN_FLOWS,                                                                           \
   .type = FIELD_GPUS,                                                                             \
   FLOW(end),                                                                                      \
   .help = "GPUs at this end, numbered in the order of PCI addresses; several are a set, not a "   \
           "sweep"},                                                                               \
      {.name = #end ".numa",                                                                       \
       .sections = IN_FLOWS,                                                                       \
       .type = FIELD_NODES,                                                                        \
       FLOW(end),                                                                                  \
       .help = "NUMA nodes at this end; \"local\" and \"remote\" are relative to the GPU at the "  \
               "other end"},                                                                       \
  {                                                                                                \
    .name = #end ".memory", .sections = IN_FLOWS, WORDS(memory_kind_names), FLOW(end.memory),      \
    .axis = true,                                                                                  \
    .help = "Kind of memory at this end; by default device on a GPU, on a node pinned for ce and " \
            "sm and pageable for cpu; managed for um"                                              \
  }

static const struct field transfer_fields[] = {
    {.name = "name",
     .sections = IN(LOAD) | IN(FLOW),
     .type = FIELD_NAME,
     FLOW(name),
     .help = "Name for --set and in axes; by default its number, from 1"},
    {.name = "method",
     .sections = IN_FLOWS,
     WORDS(method_names),
     FLOW(base.method),
     .axis = true,
     .help = "What moves the bytes: a copy engine (ce), a kernel (sm), unified memory (um) or host "
             "threads (cpu)"},
    END(from),
    END(to),
    {.name = "direction",
     .sections = IN(TRANSFER),
     WORDS(direction_names),
     SETTING(transfer.direction),
     .axis = true,
     .default_text = "forward",
     .help = "From `from` to `to`, the reverse, or both at once"},
    {.name = "direction",
     .sections = IN(LOAD),
     WORDS(mirror_words),
     FLOW(mirror_direction),
     .axis = true,
     .default_text = "reverse",
     .help = "Direction of a load without `from` and `to`, relative to the measured flow"},
    {.name = "size",
     .sections = IN_FLOWS,
     .type = FIELD_SIZE,
     FLOW(base.size_bytes),
     .axis = true,
     .minimum = 1,
     .maximum = SIZE_LIMIT,
     .help = "Bytes that a flow moves per iteration"},
    {.name = "initiator",
     .sections = IN_FLOWS,
     WORDS(initiator_names),
     FLOW(base.initiator),
     .axis = true,
     .help = "The end that initiates the flow: the source pushes, the target pulls; by default the "
             "GPU if one end is a node, otherwise the source"},
    {.name = "peer",
     .sections = IN_FLOWS,
     .type = FIELD_FLAG,
     FLOW(peer),
     .axis = true,
     .default_text = "true",
     .help = "Copy between two GPUs directly (peer access) or staged through the host"},
    {.name = "pairs",
     .sections = IN(TRANSFER),
     WORDS(pairs_names),
     SETTING(transfer.pairs),
     .axis = true,
     .help = "Pairs of from x to that are measured: each ordered pair (a, b), each unordered pair "
             "{a, b} once, or only (a, a). By default ordered, with (a, a) between NUMA nodes and "
             "between two single places; unordered if direction is \"both\""},
    {.name = "concurrent",
     .sections = IN(TRANSFER),
     WORDS(concurrent_names),
     SETTING(transfer.concurrent),
     .axis = true,
     .default_text = "none",
     .help = "Which of the selected flows run concurrently, as one case"},
    {.name = "shape.width",
     .sections = IN_FLOWS,
     .type = FIELD_SIZE,
     FLOW(base.shape.width_bytes),
     .axis = true,
     .minimum = 1,
     .maximum = SIZE_LIMIT,
     .methods = METHOD(CE) | METHOD(SM) | METHOD(CPU),
     .json = "shape.width_bytes",
     .applies = flow_is_strided,
     .help = "Bytes per row of a strided copy, of which the size is width x height x depth"},
    {.name = "shape.height",
     .sections = IN_FLOWS,
     .type = FIELD_INTEGER,
     FLOW(base.shape.height),
     .axis = true,
     .minimum = 1,
     .maximum = 0x1p32,
     .methods = METHOD(CE) | METHOD(SM) | METHOD(CPU),
     .default_text = "1",
     .json = "shape.height",
     .applies = flow_is_strided,
     .help = "Rows per plane"},
    {.name = "shape.depth",
     .sections = IN_FLOWS,
     .type = FIELD_INTEGER,
     FLOW(base.shape.depth),
     .axis = true,
     .minimum = 1,
     .maximum = 0x1p32,
     .methods = METHOD(CE) | METHOD(SM) | METHOD(CPU),
     .default_text = "1",
     .json = "shape.depth",
     .applies = flow_is_strided,
     .help = "Number of planes"},
    {.name = "shape.pitch",
     .sections = IN_FLOWS,
     .type = FIELD_SIZE,
     FLOW(base.shape.pitch_bytes),
     .axis = true,
     .minimum = 1,
     .maximum = SIZE_LIMIT,
     .methods = METHOD(CE) | METHOD(SM) | METHOD(CPU),
     .json = "shape.pitch_bytes",
     .applies = flow_is_strided,
     .help = "Bytes from the start of one row to the start of the next; by default the width"},
    {.name = "threads",
     .sections = IN_FLOWS,
     .type = FIELD_COUNT,
     FLOW(base.threads),
     .axis = true,
     .zero_word = "all",
     .minimum = 1,
     .maximum = 4096,
     .methods = METHOD(CPU),
     .default_text = "all",
     .json = "threads",
     .help = "Number of host threads; \"all\" is one per processor of the initiating node"},
    {.name = "kernel.variant",
     .sections = IN_FLOWS,
     WORDS(kernel_variant_names),
     FLOW(base.kernel.variant),
     .axis = true,
     .methods = METHOD(SM),
     .default_text = "auto",
     .json = "kernel.variant",
     .help =
         "Kind of copy kernel; \"auto\" is vector, except for copies to or from the host while "
         "another kernel of the case runs on the same GPU: bulk, from compute capability 9.0 on"},
    {.name = "kernel.block",
     .sections = IN_FLOWS,
     .type = FIELD_COUNT,
     FLOW(base.kernel.block),
     .axis = true,
     .zero_word = "auto",
     .minimum = 1,
     .maximum = 1024,
     .methods = METHOD(SM),
     .default_text = "auto",
     .json = "kernel.block",
     .help = "Threads per block"},
    {.name = "kernel.grid",
     .sections = IN_FLOWS,
     .type = FIELD_COUNT,
     FLOW(base.kernel.grid),
     .axis = true,
     .zero_word = "auto",
     .minimum = 1,
     .maximum = 0x1p31 - 1,
     .methods = METHOD(SM),
     .default_text = "auto",
     .json = "kernel.grid",
     .help = "Number of blocks"},
    {.name = "kernel.vector_bytes",
     .sections = IN_FLOWS,
     .type = FIELD_COUNT,
     FLOW(base.kernel.vector_bytes),
     .axis = true,
     .zero_word = "auto",
     .minimum = 1,
     .maximum = 16,
     .power_of_two = true,
     .methods = METHOD(SM),
     .default_text = "auto",
     .json = "kernel.vector_bytes",
     .help = "Bytes per access"},
    {.name = "unified.mode",
     .sections = IN_FLOWS,
     WORDS(unified_mode_names),
     FLOW(base.unified.mode),
     .axis = true,
     .methods = METHOD(UM),
     .default_text = "demand",
     .json = "unified.mode",
     .help = "Whether pages migrate on demand or are prefetched"},
    {.name = "unified.touch_by",
     .sections = IN_FLOWS,
     WORDS(initiator_names),
     FLOW(base.unified.touch_by),
     .axis = true,
     .methods = METHOD(UM),
     .default_text = "target",
     .json = "unified.touch_by",
     .help = "The end whose processor touches the pages in mode demand"},
    {.name = "unified.threads",
     .sections = IN_FLOWS,
     .type = FIELD_COUNT,
     FLOW(base.unified.threads),
     .axis = true,
     .minimum = 1,
     .maximum = 4096,
     .methods = METHOD(UM),
     .default_text = "1",
     .json = "unified.threads",
     .help = "Number of host threads that touch pages"},
    {.name = "unified.advise",
     .sections = IN_FLOWS,
     WORDS(advise_names),
     FLOW(base.unified.advise),
     .axis = true,
     .methods = METHOD(UM),
     .default_text = "none",
     .json = "unified.advise",
     .help = "Advice given to the driver about the memory before the trials"},
    {.name = "unified.stride",
     .sections = IN_FLOWS,
     .type = FIELD_SIZE,
     FLOW(base.unified.stride_bytes),
     .axis = true,
     .zero_word = "page",
     .minimum = 1,
     .maximum = SIZE_LIMIT,
     .methods = METHOD(UM),
     .default_text = "page",
     .json = "unified.stride_bytes",
     .help = "Distance between touched bytes; \"page\" is the page size of the touching end"},
};

#define USUAL_MEMORY_(id, text, name, build, on_node, on_gpu)                                      \
  [id] = {MEMORY_##on_node, MEMORY_##on_gpu},

/* The kind of memory that a flow of a method uses by default. */
static const struct {
  enum memory_kind on_node;
  enum memory_kind on_gpu;
} usual_memory[method_name_count] = {METHOD_LIST(USUAL_MEMORY_)};

static void transfer_finish_memory(struct endpoint_setting *end, enum method method, bool given) {
  if (!given) {
    end->memory =
        end->place == PLACE_GPU ? usual_memory[method].on_gpu : usual_memory[method].on_node;
  }
}

/* Only the keys of the method are kept, so that a sweep over methods does not yield several cases
 * that measure the same. */
static void transfer_drop_unused(struct flow_setting *flow) {
  static const union value nothing = {0};
  for (size_t i = 0; i < sizeof transfer_fields / sizeof *transfer_fields; i++) {
    const struct field *field = &transfer_fields[i];
    if (field->methods != 0 && (field->methods & (1U << flow->base.method)) == 0) {
      value_store(field, &nothing, flow);
    }
  }
}

static void transfer_finish_flow(struct flow_setting *flow, const struct slot *slot) {
  transfer_finish_memory(&flow->from, flow->base.method, slot->from_memory_given);
  transfer_finish_memory(&flow->to, flow->base.method, slot->to_memory_given);
  struct copy_shape *shape = &flow->base.shape;
  if (!copy_shape_is_strided(shape)) {
    *shape = (struct copy_shape){0};
  } else {
    flow->base.size_bytes = shape->width_bytes * shape->height * shape->depth;
    shape->pitch_bytes = shape->pitch_bytes == 0 ? shape->width_bytes : shape->pitch_bytes;
  }
  transfer_drop_unused(flow);
}

static void transfer_finish(const struct block *block, struct setting *setting) {
  transfer_finish_flow(&setting->transfer.flow, &block->slots[0]);
  for (size_t slot = 1; slot < block->slot_count; slot++) {
    transfer_finish_flow(&block->made_flows[slot - 1], &block->slots[slot]);
  }
}

static const char *const transfer_checked[] = {"shape.", NULL};

const struct scenario_kind scenario_kind_transfer = {
    .section = {SECTION_ROOT, "transfer", true, "[[transfer]]",
                "Copies of bytes from one endpoint to another."},
    .fields = transfer_fields,
    .field_count = sizeof transfer_fields / sizeof *transfer_fields,
    .finish = transfer_finish,
    .check_keys = transfer_check_keys,
    .check_setting = transfer_check_setting,
    .checked = transfer_checked,
};
