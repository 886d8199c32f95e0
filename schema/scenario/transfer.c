/* A [[transfer]]: its keys, and the defaults of its flows. */
#include "schema/scenario/block.h"
#include "schema/scenario/kind.h"

static bool flow_has_copies(const void *flow) {
  return flow_copies(flow) > 1;
}

static bool flow_shares_stream(const void *flow) {
  return ((const struct flow *)flow)->stream != 0;
}

/* Rows of the definition that do without a key that has its default. */
static bool flow_has_block(const void *flow) {
  const struct flow *of = flow;
  return of->method == METHOD_SM || of->kernel.block != 0;
}

static bool flow_has_grid(const void *flow) {
  const struct flow *of = flow;
  return of->method == METHOD_SM || of->kernel.grid != 0;
}

static bool flow_touch_reads(const void *flow) {
  return ((const struct flow *)flow)->unified.access != TOUCH_WRITE;
}

static bool flow_touch_is_random(const void *flow) {
  return ((const struct flow *)flow)->unified.order != TOUCH_LINEAR;
}

static bool flow_touches_often(const void *flow) {
  return ((const struct flow *)flow)->unified.passes > 1;
}

static bool flow_touches_again(const void *flow) {
  return ((const struct flow *)flow)->unified.again;
}

static bool flow_touches_together(const void *flow) {
  return ((const struct flow *)flow)->unified.together;
}

static bool flow_is_strided(const void *flow) {
  return copy_shape_is_strided(&((const struct flow *)flow)->shape);
}

static bool flow_has_pieces(const void *flow) {
  return flow_is_scattered(flow);
}

static bool flow_has_runs(const void *flow) {
  return flow_is_scattered(flow) && ((const struct flow *)flow)->scatter.run_pieces > 1;
}

static bool flow_is_triad(const void *flow) {
  return ((const struct flow *)flow)->compute.op == COMPUTE_TRIAD;
}

static bool flow_has_green_context(const void *flow) {
  return ((const struct flow *)flow)->compute.sm_share == SM_SHARE_GREEN;
}

static bool flow_has_priority(const void *flow) {
  return ((const struct flow *)flow)->priority != STREAM_PRIORITY_DEFAULT;
}

static bool flow_has_graph(const void *flow) {
  return ((const struct flow *)flow)->graph;
}

static bool flow_has_batch(const void *flow) {
  return flow_is_scattered(flow) && ((const struct flow *)flow)->scatter.submit == SUBMIT_BATCH;
}

#define FLOW(member) .owner = OWNER_FLOW, .offset = offsetof(struct flow_setting, member)
#define IN_LOADS     (IN(LOAD) | IN(CHASE_LOAD) | IN(STREAM_LOAD) | IN(COMPUTE_LOAD))
#define IN_FLOWS     (IN(TRANSFER) | IN_LOADS | IN(FLOW))
#define METHOD(name) (1U << METHOD_##name)

#define FLOW_KEY(key, ...) KEY(key, IN_FLOWS, __VA_ARGS__)
/* "; ce: a copy engine" */
#define METHOD_HELP_(id, text, name, build, version, on_node, on_gpu, what) "; " text ": " what
/* Of kernels that copy, and of the one that touches pages. */
#define KERNEL_KEY(key, ...)                                                                       \
  FLOW_KEY(key, .methods = METHOD(SM) | METHOD(UM), .json = key, .zero_word = "auto",              \
           .default_text = "auto", __VA_ARGS__)
/* Of measured flows that run on a GPU's stream, one after the other. */
#define STREAM_KEY(key, path, ...)                                                                 \
  KEY(key, IN(TRANSFER) | IN(FLOW), .methods = METHOD(CE) | METHOD(SM), .json = path, __VA_ARGS__)
/* Keys that not every method has; path: their place in the definition. */
#define METHOD_KEY(method, key, path, ...)                                                         \
  FLOW_KEY(key, .methods = METHOD(method), .json = path, __VA_ARGS__)
/* Of kernels that compute, which only loads are here. */
#define COMPUTE_KEY(key, ...)                                                                      \
  KEY(key, IN_LOADS, .methods = METHOD(COMPUTE), .json = key, __VA_ARGS__)
#define SHAPE_KEY(key, path, ...)                                                                  \
  FLOW_KEY(key, .methods = METHOD(CE) | METHOD(SM) | METHOD(CPU), .json = path,                    \
           .applies = flow_is_strided, __VA_ARGS__)

#define PIECE_KEY(key, path, ...)                                                                  \
  FLOW_KEY(key, .methods = METHOD(CE) | METHOD(SM), .json = path, .applies = flow_has_pieces,      \
           __VA_ARGS__)
#define BATCH_KEY(key, path, ...) METHOD_KEY(CE, key, path, .applies = flow_has_batch, __VA_ARGS__)

static const char *const mirror_words[] = {"forward", "reverse", NULL}; /* as enum direction */

/* The two ends of a flow take the same keys. */
#define END(end)                                                                                   \
  FLOW_KEY(#end ".gpu", .type = FIELD_GPUS, FLOW(end),                                             \
           HELP("GPUs at this end, numbered in the order of PCI addresses. "                       \
                "Several are a set, not a sweep")),                                                \
      FLOW_KEY(#end ".numa", .type = FIELD_NODES, FLOW(end),                                       \
               HELP("NUMA nodes at this end. \"local\" and \"remote\" are relative to"             \
                    " the GPU at the other end")),                                                 \
      FLOW_KEY(#end ".memory", WORDS(memory_kind_names), FLOW(end.memory),                         \
               HELP("Kind of memory at this end. Default on a GPU: device. "                       \
                    "Default on a node: pinned for ce and sm, pageable for cpu. "                  \
                    "For um: managed")),                                                           \
      FLOW_KEY(#end ".process", COUNT(0, PEERS_MAX), FLOW(end.process), .default_text = "0",       \
               HELP("Process that has the memory at this end. 0: the one that "                    \
                    "measures. Another process exports, fills and verifies the "                   \
                    "memory, and the one that measures opens it. On a node it is "                 \
                    "then shared memory")),                                                        \
      FLOW_KEY(#end ".share", WORDS(share_names), FLOW(end.share),                                 \
               HELP("How memory of another process is opened, which decides its "                  \
                    "kind. In the process that measures, only the kind counts" SHARE_LIST(         \
                        SHARE_HELP_)))

static const char *const cpu_words[] = {"any", "local", "remote", NULL}; /* as enum cpu_choice */

static const struct field transfer_fields[] = {
    KEY("name", IN_LOADS | IN(FLOW), .type = FIELD_NAME, FLOW(name),
        HELP("Name for --set and in axes. Default: its number, from 1")),
    FLOW_KEY("method", WORDS(method_names), FLOW(base.method),
             HELP("What moves the bytes" METHOD_LIST(METHOD_HELP_))),
    END(from),
    END(to),
    KEY("direction", IN(TRANSFER), WORDS(direction_names), SETTING(transfer.direction),
        .default_text = "forward", HELP("From `from` to `to`, the reverse, or both at once")),
    KEY("direction", IN_LOADS, WORDS(mirror_words), FLOW(mirror_direction),
        .default_text = "reverse",
        HELP("Direction of a load without `from` and `to`, relative to the measured flow")),
    FLOW_KEY("size", SIZE(1, SIZE_LIMIT), FLOW(base.size_bytes),
             HELP("Bytes that a flow moves per iteration. For method compute: see [[compute]]")),
    FLOW_KEY("initiator", WORDS(initiator_names), FLOW(base.initiator),
             HELP("The end that starts the flow: the source pushes, the target pulls. Default: the "
                  "GPU if one end is a node, otherwise the source")),
    FLOW_KEY("peer", .type = FIELD_FLAG, FLOW(peer), .default_text = "true",
             HELP("Copy between two GPUs directly (peer access) or staged through the host")),
    KEY("pairs", IN(TRANSFER), WORDS(pairs_names), SETTING(transfer.pairs),
        HELP("Which pairs of `from` and `to` are measured. \"ordered\": each pair (a, b). "
             "\"unordered\": each pair {a, b} once. \"same\": only (a, a). \"sample\": a sample "
             "(see `samples`). Default: unordered if direction is \"both\", otherwise ordered. The "
             "default pairs a place with itself only if both ends are NUMA nodes, or if each end "
             "is one place")),
    KEY("samples", IN(TRANSFER), COUNT(1, MACHINE_GPUS_MAX), SETTING(transfer.samples),
        .default_text = "2",
        HELP("With pairs \"sample\": how often each of n places is the source, and how often the "
             "target. haul takes n * samples of the n * (n - 1) pairs, chosen by measure.seed")),
    KEY("concurrent", IN(TRANSFER), WORDS(concurrent_names), SETTING(transfer.concurrent),
        .default_text = "none", HELP("Which of the selected flows run concurrently, as one case")),
    SHAPE_KEY("shape.width", "shape.width_bytes", SIZE(1, SIZE_LIMIT), FLOW(base.shape.width_bytes),
              HELP("Bytes per row of a strided copy. Its size is width x height x depth")),
    SHAPE_KEY("shape.height", "shape.height", INTEGER(1, 0x1p32), FLOW(base.shape.height),
              .default_text = "1", HELP("Rows per plane")),
    SHAPE_KEY("shape.depth", "shape.depth", INTEGER(1, 0x1p32), FLOW(base.shape.depth),
              .default_text = "1", HELP("Number of planes")),
    SHAPE_KEY("shape.pitch", "shape.pitch_bytes", SIZE(1, SIZE_LIMIT), FLOW(base.shape.pitch_bytes),
              HELP("Bytes from the start of one row to the start of the next. Default: the width")),
    FLOW_KEY(
        "threads", .methods = METHOD(CPU) | METHOD(PIN), .json = "threads", COUNT(1, 4096),
        FLOW(base.threads), .zero_word = "all", .default_text = "all",
        HELP(
            "Number of host threads. \"all\": one per processor of the node that starts the flow")),
    METHOD_KEY(
        SM, "kernel.variant", "kernel.variant", WORDS(kernel_variant_names),
        FLOW(base.kernel.variant), .default_text = "auto",
        HELP("Kind of copy kernel. \"auto\": vector, or bulk from compute capability 9.0 on if the "
             "copy is to or from the host and the case runs another kernel on the same GPU")),
    KERNEL_KEY("kernel.block", COUNT(1, 1024), FLOW(base.kernel.block), .applies = flow_has_block,
               HELP("Threads per block. For um a multiple of 32, because one lane of each warp "
                    "touches pages")),
    KERNEL_KEY("kernel.grid", COUNT(1, 0x1p31 - 1), FLOW(base.kernel.grid),
               .applies = flow_has_grid, HELP("Number of blocks")),
    METHOD_KEY(SM, "kernel.vector_bytes", "kernel.vector_bytes", COUNT(1, 16),
               FLOW(base.kernel.vector_bytes), .zero_word = "auto", .power_of_two = true,
               .default_text = "auto", HELP("Bytes per access")),
    METHOD_KEY(UM, "unified.mode", "unified.mode", WORDS(unified_mode_names),
               FLOW(base.unified.mode), .default_text = "demand",
               HELP("Whether pages migrate on demand or are prefetched")),
    METHOD_KEY(UM, "unified.touch_by", "unified.touch_by", WORDS(initiator_names),
               FLOW(base.unified.touch_by), .default_text = "target",
               HELP("The end whose processor touches the pages in mode demand")),
    METHOD_KEY(UM, "unified.threads", "unified.threads", COUNT(1, 4096), FLOW(base.unified.threads),
               .default_text = "1", HELP("Number of host threads that touch pages")),
    METHOD_KEY(UM, "unified.advise", "unified.advise", WORDS(advise_names),
               FLOW(base.unified.advise), .default_text = "none",
               HELP("Advice given to the driver about the memory before the trials")),
    METHOD_KEY(UM, "unified.stride", "unified.stride_bytes", SIZE(1, SIZE_LIMIT),
               FLOW(base.unified.stride_bytes), .zero_word = "page", .default_text = "page",
               HELP("Distance between touched bytes. \"page\": the page size of the touching end")),
    METHOD_KEY(UM, "unified.access", "unified.access", WORDS(touch_access_names),
               FLOW(base.unified.access), .applies = flow_touch_reads, .default_text = "write",
               HELP("Whether touching a page writes or reads it. haul verifies the sum of the read "
                    "values")),
    METHOD_KEY(UM, "unified.order", "unified.order", WORDS(touch_order_names),
               FLOW(base.unified.order), .applies = flow_touch_is_random, .default_text = "linear",
               HELP("Order in which pages are touched")),
    METHOD_KEY(UM, "unified.passes", "unified.passes", COUNT(1, 1000), FLOW(base.unified.passes),
               .applies = flow_touches_often, .default_text = "1",
               HELP("How often each touching processor goes over the pages in one iteration")),
    METHOD_KEY(
        UM, "unified.again", "unified.again", .type = FIELD_FLAG, FLOW(base.unified.again),
        .applies = flow_touches_again, .default_text = "false",
        HELP("Time the second touch, which shows which pages an advice keeps in place. Before the "
             "trial, the touching end touches every page, and then the other end reads it")),
    METHOD_KEY(UM, "unified.together", "unified.together", .type = FIELD_FLAG,
               FLOW(base.unified.together), .applies = flow_touches_together,
               .default_text = "false",
               HELP("A GPU and host threads touch the same pages at the same time, until both are "
                    "done. The host's clock times it")),
    STREAM_KEY("count", "copies", COUNT(1, COPIES_MAX), FLOW(base.copies),
               .applies = flow_has_copies, .default_text = "1",
               HELP("Copies of the flow's bytes per iteration, one after the other")),
    STREAM_KEY(
        "stream", "stream", COUNT(1, CASE_FLOWS_MAX), FLOW(base.stream), .zero_word = "own",
        .applies = flow_shares_stream, .default_text = "own",
        HELP("Flows with the same number run one after the other, as calls on one stream do. Flows "
             "with other numbers run at the same time. \"own\": at the same time as all others")),
    KEY("stream_order", IN(TRANSFER), WORDS(case_order_names), SETTING(transfer.stream_order),
        .default_text = "file",
        HELP("Order of the copies of flows that share a stream: as they are listed, or all copies "
             "shuffled by measure.seed")),
    KEY("from_csv", IN(TRANSFER), .type = FIELD_TEXT,
        HELP("CSV file with one flow per line, in the folder of this file. The first line names "
             "the keys of [[transfer.flow]], such as from.numa,to.gpu,size,count")),
    METHOD_KEY(CE, "cpu", NULL, .type = FIELD_CPU, .words = cpu_words, .minimum = 0,
               .maximum = MACHINE_NODES_MAX * 16, FLOW(cpu), .default_text = "local",
               HELP("NUMA node of the host thread that copies pageable memory, or between GPUs "
                    "with peer = false. \"local\": the node of that memory, or the one nearest to "
                    "the source GPU. \"remote\": the farthest one from there. \"any\": the system "
                    "decides. Other copies need no host thread")),
    PIECE_KEY("pieces", "scatter.pieces", INTEGER(1, SCATTER_PIECES_MAX), FLOW(base.scatter.pieces),
              HELP("Number of pieces of a scattered copy. The size is pieces x piece_size, so give "
                   "either size or pieces")),
    PIECE_KEY("piece_size", "scatter.piece_bytes", SIZE(1, SIZE_LIMIT),
              FLOW(base.scatter.piece_bytes),
              HELP("Bytes per piece of a scattered copy, such as those of KV caches. It is timed "
                   "by the host's clock from the first call to the end, with one iteration per "
                   "trial and without a gate")),
    PIECE_KEY(
        "places", "scatter.places", WORDS(piece_places_names), FLOW(base.scatter.places),
        .default_text = "random",
        HELP("Where the pieces are. Each end has memory for twice as many. \"random\": anywhere, "
             "in any order, the same in every run. \"strided\": in order, one piece apart")),
    METHOD_KEY(CE, "submit", "scatter.submit", WORDS(submit_names), FLOW(base.scatter.submit),
               .applies = flow_has_pieces, .default_text = "loop",
               HELP("How copy engines get the pieces. \"loop\": a call of cuMemcpyAsync for each. "
                    "\"batch\": one call of cuMemcpyBatchAsync for all, from CUDA 12.8 on")),
    BATCH_KEY("batch.order", "scatter.order", WORDS(batch_order_names), FLOW(base.scatter.order),
              .default_text = "stream",
              HELP("When a batch may read its sources. \"stream\": in the order of the stream. "
                   "\"call\": before the call returns. \"any\": at any time")),
    BATCH_KEY("batch.overlap", "scatter.overlap", .type = FIELD_FLAG, FLOW(base.scatter.overlap),
              .default_text = "false",
              HELP("Ask for a batch that overlaps with kernels instead of a fast one")),
    KEY("run", IN_FLOWS, INTEGER(1, SCATTER_PIECES_MAX), FLOW(base.scatter.run_pieces),
        .methods = METHOD(CE) | METHOD(SM), .json = "scatter.run", .applies = flow_has_runs,
        .default_text = "1",
        HELP("Number of pieces in a row in memory at both ends. They are still copied one by one. "
             "It must divide the number of pieces")),
    KEY("graph", IN_FLOWS, .type = FIELD_FLAG, FLOW(base.graph), .methods = METHOD(CE) | METHOD(SM),
        .json = "graph", .applies = flow_has_graph, .default_text = "false",
        HELP("Capture the calls of a trial in a CUDA graph once, and launch the graph in each "
             "trial. Driver 580 captures neither prefetches nor batches")),
    KEY("streams", IN(TRANSFER) | IN(FLOW), COUNT(1, 64), FLOW(streams),
        .methods = METHOD(CE) | METHOD(SM), .default_text = "1",
        HELP("Number of streams that share the bytes of a flow evenly, so that several copy "
             "engines or kernels can work at once")),
    KEY("priority", IN_FLOWS, WORDS(stream_priority_names), FLOW(base.priority),
        .methods = METHOD(CE) | METHOD(SM) | METHOD(COMPUTE), .json = "priority",
        .applies = flow_has_priority, .default_text = "default",
        HELP("Priority of the flow's stream: the driver's lowest or highest")),
    COMPUTE_KEY("compute.op", WORDS(compute_op_names), FLOW(base.compute.op),
                .default_text = "matmul", HELP("As `op` of [[compute]]")),
    COMPUTE_KEY("compute.sm_percent", COUNT(1, 100), FLOW(base.compute.sm_percent),
                .default_text = "100", HELP("As `sm_percent` of [[compute]]")),
    COMPUTE_KEY("compute.sm_share", WORDS(sm_share_names), FLOW(base.compute.sm_share),
                .default_text = "blocks", .applies = flow_has_green_context,
                HELP("As `sm_share` of [[compute]]")),
    COMPUTE_KEY("compute.intensity", COUNT(1, COMPUTE_INTENSITY_MAX), FLOW(base.compute.intensity),
                .default_text = "1", .applies = flow_is_triad,
                HELP("As `intensity` of [[compute]]")),
};

#define USUAL_MEMORY_(id, text, name, build, version, on_node, on_gpu, ...)                        \
  [id] = {MEMORY_##on_node, MEMORY_##on_gpu},

/* The kind of memory that a flow of a method uses by default. */
static const struct {
  enum memory_kind on_node;
  enum memory_kind on_gpu;
} usual_memory[method_name_count] = {METHOD_LIST(USUAL_MEMORY_)};

static void transfer_finish_end(struct endpoint_setting *end, enum method method,
                                const struct end_given *given) {
  if (given->share) {
    end->memory = share_memory(end->share);
  } else if (!given->memory) {
    end->memory = end->place == PLACE_GPU ? usual_memory[method].on_gpu
                  : given->process        ? MEMORY_SHARED
                                          : usual_memory[method].on_node;
  }
  /* So that a sweep does not tell apart what is the same. */
  if (end->process == 0) {
    end->share = SHARE_IPC;
  } else if (!given->share) {
    end->share = share_usual(end->memory);
  }
}

/* Only the keys of the method are kept, so that a sweep over methods does not yield several cases
 * that measure the same. */
static void transfer_drop_unused(struct flow_setting *flow) {
  static const union value nothing = {0};
  for (size_t i = 0; i < COUNT_OF(transfer_fields); i++) {
    const struct field *field = &transfer_fields[i];
    if (field->methods != 0 && (field->methods & (1U << flow->base.method)) == 0) {
      value_store(field, &nothing, flow);
    }
  }
}

/* The size of a scattered copy, or the number of its pieces, follows from the other. */
static void transfer_finish_pieces(struct flow *flow) {
  struct scatter_shape *scatter = &flow->scatter;
  if (scatter->piece_bytes == 0) {
    scatter->pieces = 0;
  } else if (scatter->pieces > 0) {
    flow->size_bytes = scatter->pieces * scatter->piece_bytes;
  } else {
    scatter->pieces = flow->size_bytes / scatter->piece_bytes;
  }
}

static void transfer_finish_flow(struct flow_setting *flow, const struct slot *slot) {
  transfer_finish_end(&flow->from, flow->base.method, &slot->from_given);
  transfer_finish_end(&flow->to, flow->base.method, &slot->to_given);
  struct copy_shape *shape = &flow->base.shape;
  if (!copy_shape_is_strided(shape)) {
    *shape = (struct copy_shape){0};
  } else {
    flow->base.size_bytes = shape->width_bytes * shape->height * shape->depth;
    shape->pitch_bytes = shape->pitch_bytes == 0 ? shape->width_bytes : shape->pitch_bytes;
  }
  transfer_finish_pieces(&flow->base);
  transfer_drop_unused(flow);
}

static void transfer_finish(const struct block *block, struct setting *setting) {
  transfer_finish_flow(&setting->transfer.flow, &block->slots[0]);
}

void transfer_finish_slots(const struct block *block) {
  for (size_t slot = 1; slot < block->slot_count; slot++) {
    transfer_finish_flow(&block->made_flows[slot - 1], &block->slots[slot]);
  }
}

static const char *const transfer_needs[] = {"method from to size",
                                             "method from to shape",
                                             "method from to pieces piece_size",
                                             "flow",
                                             "from_csv",
                                             NULL};
static const char *const transfer_checked[] = {"shape.", "size", "piece", NULL};

const struct scenario_kind scenario_kind_transfer = {
    .section = {SECTION_ROOT, "transfer", true, "[[transfer]]",
                "Copies of bytes from one place to another."},
    .fields = transfer_fields,
    .field_count = COUNT_OF(transfer_fields),
    .needs = transfer_needs,
    .finish = transfer_finish,
    .check_keys = transfer_check_keys,
    .check_setting = transfer_check_setting,
    .checked = transfer_checked,
};
