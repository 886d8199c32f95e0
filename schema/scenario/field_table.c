#include "schema/scenario/field.h"

#include <stddef.h>

#define IN(name)     (1U << SECTION_##name)
#define METHOD(name) (1U << METHOD_##name)
#define IN_FLOWS     (IN(TRANSFER) | IN(LOAD) | IN(FLOW))
#define IN_BLOCKS    BLOCK_SECTIONS
#define IN_MEASURE   (IN(MEASURE) | IN_BLOCKS)
/* What others cannot have: a chase compares in every trial, and its footprint decides about caches.
 */
#define IN_MEASURE_OF_BYTES (IN(MEASURE) | IN(TRANSFER) | IN(STREAM))

#define RUN(member)     .owner = OWNER_RUN, .offset = offsetof(struct run_settings, member)
#define MEASURE(member) .owner = OWNER_MEASURE, .offset = offsetof(struct measure, member)
#define TRANSFER(member)                                                                           \
  .owner = OWNER_TRANSFER, .offset = offsetof(struct transfer_setting, member)
#define FLOW(member)   .owner = OWNER_FLOW, .offset = offsetof(struct flow_setting, member)
#define CHASE(member)  .owner = OWNER_CHASE, .offset = offsetof(struct chase_setting, member)
#define STREAM(member) .owner = OWNER_STREAM, .offset = offsetof(struct stream_setting, member)
#define ARITHMETIC(member)                                                                         \
  .owner = OWNER_ARITHMETIC, .offset = offsetof(struct arithmetic_setting, member)
#define OVERHEAD(member)                                                                           \
  .owner = OWNER_OVERHEAD, .offset = offsetof(struct overhead_setting, member)

#define SIZE_LIMIT     0x1p46 /* 64 TiB */
#define DURATION_LIMIT 86400e9
#define COUNT_LIMIT    1e6

static const char *const governor_words[] = {"performance",  "powersave", "schedutil", "ondemand",
                                             "conservative", "userspace", NULL};
static const char *const on_off_words[] = {"on", "off", NULL};
static const char *const huge_pages_words[] = {"always", "madvise", "never", NULL};
static const char *const gpu_clocks_words[] = {"default", "locked", NULL};
static const char *const throttling_words[] = {"none", NULL};
static const char *const pcie_link_words[] = {"max", NULL};
static const char *const mirror_words[] = {"forward", "reverse", NULL}; /* as enum direction */

/* The two keys of a check; the rest of the arguments describe `want`. */
#define CHECK(kind, text, ...)                                                                     \
  {.name = text ".want",                                                                           \
   .sections = IN(CHECKS),                                                                         \
   .owner = OWNER_CHECK,                                                                           \
   .check = kind,                                                                                  \
   __VA_ARGS__},                                                                                   \
  {                                                                                                \
    .name = text ".on_fail", .sections = IN(CHECKS), .type = FIELD_WORD, .words = on_fail_names,   \
    .owner = OWNER_CHECK, .check = kind, .default_text = "warn",                                   \
    .help = "What to do when the check fails"                                                      \
  }
#define WORDS(list) .type = FIELD_WORD, .words = list

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

const struct field fields[] = {
    /* The file */
    {.name = "schema_version",
     .sections = IN(ROOT),
     .required = IN(ROOT),
     .type = FIELD_COUNT,
     .minimum = 1,
     .maximum = 1,
     .help = "Version of the scenario language"},
    {.name = "name",
     .sections = IN(ROOT),
     .required = IN(ROOT),
     .type = FIELD_NAME,
     .help = "Name of the scenario: letters, digits, '.', '_' and '-'"},
    {.name = "description",
     .sections = IN(ROOT),
     .type = FIELD_TEXT,
     .default_text = "",
     .help = "What the scenario measures, in one line"},
    {.name = "include",
     .sections = IN(ROOT),
     .type = FIELD_TEXTS,
     .help = "Files whose [measure] and [checks] are defaults here; later files override earlier "
             "ones. They are looked up beside this file, then among the shipped scenarios"},

    /* [measure] */
    {.name = "processes",
     .sections = IN(MEASURE),
     .type = FIELD_COUNT,
     RUN(processes),
     .minimum = 1,
     .maximum = 1000,
     .default_text = "1",
     .help = "Worker processes, run one after the other, each measuring every case; use 5 or more "
             "for `haul diff`"},
    {.name = "trials.min",
     .sections = IN_MEASURE,
     .type = FIELD_COUNT,
     MEASURE(trials_min),
     .axis = true,
     .minimum = 1,
     .maximum = COUNT_LIMIT,
     .default_text = "10",
     .help = "Minimum number of trials per case"},
    {.name = "trials.max",
     .sections = IN_MEASURE,
     .type = FIELD_COUNT,
     MEASURE(trials_max),
     .axis = true,
     .minimum = 1,
     .maximum = COUNT_LIMIT,
     .default_text = "200",
     .help = "Maximum number of trials per case, converged or not"},
    {.name = "precision",
     .sections = IN_MEASURE,
     .type = FIELD_NUMBER,
     MEASURE(precision),
     .axis = true,
     .maximum = 0.5,
     .default_text = "0.005",
     .help = "Stop when the 95 % confidence interval of the median is within this fraction of the "
             "median on either side"},
    {.name = "max_time",
     .sections = IN_MEASURE,
     .type = FIELD_DURATION,
     MEASURE(max_time_ns),
     .axis = true,
     .minimum = 1e3,
     .maximum = DURATION_LIMIT,
     .default_text = "2s",
     .help = "Maximum time for the trials of one case, without warm-up"},
    {.name = "min_trial",
     .sections = IN_MEASURE,
     .type = FIELD_DURATION,
     MEASURE(min_trial_ns),
     .axis = true,
     .minimum = 1,
     .maximum = 60e9,
     .default_text = "200us",
     .help = "Minimum duration of a trial when iterations is \"auto\""},
    {.name = "warmup",
     .sections = IN_MEASURE,
     .type = FIELD_COUNT,
     MEASURE(warmup),
     .axis = true,
     .maximum = COUNT_LIMIT,
     .default_text = "1",
     .help = "Number of warm-up trials before the measured ones; they are recorded as warm-up"},
    {.name = "iterations",
     .sections = IN_MEASURE,
     .type = FIELD_COUNT,
     MEASURE(iterations),
     .axis = true,
     .zero_word = "auto",
     .minimum = 1,
     .maximum = COUNT_LIMIT,
     .default_text = "auto",
     .help = "Back-to-back repetitions per trial; \"auto\" derives them from min_trial"},
    {.name = "verify",
     .sections = IN_MEASURE_OF_BYTES,
     WORDS(verify_names),
     MEASURE(verify),
     .axis = true,
     .default_text = "once",
     .help = "Compare every byte at the target: never, once per case, or after every trial"},
    {.name = "host_cache",
     .sections = IN_MEASURE_OF_BYTES,
     WORDS(cache_state_names),
     MEASURE(host_cache),
     .axis = true,
     .default_text = "warm",
     .help = "State of the processor's caches before a trial"},
    {.name = "device_cache",
     .sections = IN_MEASURE_OF_BYTES,
     WORDS(cache_state_names),
     MEASURE(device_cache),
     .axis = true,
     .default_text = "warm",
     .help = "State of the GPU's L2 cache before a trial"},
    {.name = "gate",
     .sections = IN(MEASURE) | IN(TRANSFER),
     WORDS(gating_names),
     MEASURE(gating),
     .axis = true,
     .default_text = "on",
     .help = "Hold the GPU's streams until a whole trial is enqueued; \"off\" is for sanitizers "
             "and profilers that serialize kernels"},
    {.name = "free_share",
     .sections = IN(MEASURE) | IN(TRANSFER) | IN(OVERHEAD),
     .type = FIELD_NUMBER,
     MEASURE(free_share),
     .axis = true,
     .maximum = 1,
     .exclusive = true,
     .default_text = "0.25",
     .help = "Fraction of a GPU's free memory that managed memory of a case may take; a case that "
             "needs more is skipped, because it can hang the GPU"},
    {.name = "delta",
     .sections = IN_MEASURE,
     .type = FIELD_NUMBER,
     MEASURE(delta),
     .axis = true,
     .zero_word = "auto",
     .maximum = 1,
     .exclusive = true,
     .default_text = "auto",
     .help = "Smallest relative change that `haul diff` reports: 0.01 is 1 %; \"auto\" is 0.01 for "
             "bandwidths from 1 MiB on, otherwise 0.03"},
    {.name = "order",
     .sections = IN(MEASURE),
     WORDS(case_order_names),
     RUN(order),
     .default_text = "file",
     .help = "Order of the cases"},
    {.name = "seed",
     .sections = IN(MEASURE),
     .type = FIELD_INTEGER,
     RUN(seed),
     .maximum = 0x1p53,
     .default_text = "1",
     .help = "Seed of the shuffled order: the same seed gives the same order"},
    {.name = "telemetry",
     .sections = IN(MEASURE),
     .type = FIELD_DURATION,
     RUN(telemetry_ns),
     .zero_word = "off",
     .minimum = 10e6,
     .maximum = 3600e9,
     .default_text = "100ms",
     .help = "Interval at which clocks, power, temperature and links are sampled during the run"},

    /* [checks] */
    CHECK(CHECK_GOVERNOR, "governor", WORDS(governor_words), .default_text = "performance",
          .help = "Frequency governor of all processors"),
    CHECK(CHECK_TURBO, "turbo", WORDS(on_off_words), .default_text = "on",
          .help = "Processor clocks above the nominal one"),
    CHECK(CHECK_NUMA_BALANCING, "numa_balancing", WORDS(on_off_words), .default_text = "off",
          .help = "Automatic migration of pages between NUMA nodes by the kernel"),
    CHECK(CHECK_HUGE_PAGES, "huge_pages", WORDS(huge_pages_words), .default_text = "madvise",
          .help = "Transparent huge pages"),
    CHECK(CHECK_GPU_IDLE, "gpu_idle", .type = FIELD_FLAG, .default_text = "true",
          .help = "No other process uses the GPU when the run starts"),
    CHECK(CHECK_PERSISTENCE, "persistence", WORDS(on_off_words), .default_text = "on",
          .help = "Persistence mode of the GPU"),
    CHECK(CHECK_GPU_CLOCKS, "gpu_clocks", WORDS(gpu_clocks_words), .default_text = "default",
          .help = "Application clocks of the GPU"),
    CHECK(CHECK_ECC, "ecc", WORDS(on_off_words), .default_text = "on",
          .help = "Error correction (ECC) of the GPU's memory"),
    CHECK(CHECK_MIG, "mig", WORDS(on_off_words), .default_text = "off",
          .help = "Multi-instance mode (MIG) of the GPU"),
    CHECK(CHECK_DRIVER, "driver", .type = FIELD_VERSION,
          .help = "Version of the NVIDIA driver: \">=570\", \"<580.95\", \"580.159.04\""),
    CHECK(CHECK_GPU_NAME, "gpu_name", .type = FIELD_TEXT,
          .help = "Name of every GPU; * stands for any text: \"*H200*\""),
    CHECK(CHECK_FREE_MEMORY, "free_memory", .type = FIELD_NUMBER, .maximum = 1,
          .default_text = "0.9", .help = "Minimum fraction of the GPU's memory that is free"),
    CHECK(CHECK_THROTTLING, "throttling", WORDS(throttling_words), .default_text = "none",
          .help = "Reasons for throttled GPU clocks, observed during the run"),
    CHECK(CHECK_PCIE_LINK, "pcie_link", WORDS(pcie_link_words), .default_text = "max",
          .help = "Generation and width of the GPU's PCIe link, observed under load"),

    /* Every block */
    {.name = "name",
     .sections = IN_BLOCKS,
     .required = IN_BLOCKS,
     .type = FIELD_NAME,
     .help = "Unique in the scenario; letters, digits, '.', '_' and '-'"},

    /* [[transfer]] and the flows in it */
    {.name = "name",
     .sections = IN(LOAD) | IN(FLOW),
     .type = FIELD_NAME,
     FLOW(name),
     .help = "Name for --set and in axes; by default its number, from 1"},
    {.name = "method",
     .sections = IN_FLOWS,
     WORDS(method_names),
     FLOW(method),
     .axis = true,
     .help = "What moves the bytes: a copy engine (ce), a kernel (sm), unified memory (um) or host "
             "threads (cpu)"},
    END(from),
    END(to),
    {.name = "direction",
     .sections = IN(TRANSFER),
     WORDS(direction_names),
     TRANSFER(direction),
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
     FLOW(size_bytes),
     .axis = true,
     .minimum = 1,
     .maximum = SIZE_LIMIT,
     .help = "Bytes that a flow moves per iteration"},
    {.name = "initiator",
     .sections = IN_FLOWS,
     WORDS(initiator_names),
     FLOW(initiator),
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
     TRANSFER(pairs),
     .axis = true,
     .help = "Pairs of from x to that are measured: each ordered pair (a, b), each unordered pair "
             "{a, b} once, or only (a, a). By default ordered, with (a, a) between NUMA nodes and "
             "between two single places; unordered if direction is \"both\""},
    {.name = "concurrent",
     .sections = IN(TRANSFER),
     WORDS(concurrent_names),
     TRANSFER(concurrent),
     .axis = true,
     .default_text = "none",
     .help = "Which of the selected flows run concurrently, as one case"},
    {.name = "threads",
     .sections = IN_FLOWS,
     .type = FIELD_COUNT,
     FLOW(threads),
     .axis = true,
     .zero_word = "all",
     .minimum = 1,
     .maximum = 4096,
     .methods = METHOD(CPU),
     .default_text = "all",
     .help = "Number of host threads; \"all\" is one per processor of the initiating node"},
    {.name = "kernel.variant",
     .sections = IN_FLOWS,
     WORDS(kernel_variant_names),
     FLOW(kernel.variant),
     .axis = true,
     .methods = METHOD(SM),
     .default_text = "auto",
     .help =
         "Kind of copy kernel; \"auto\" is vector, except for copies to or from the host while "
         "another kernel of the case runs on the same GPU: bulk, from compute capability 9.0 on"},
    {.name = "kernel.block",
     .sections = IN_FLOWS,
     .type = FIELD_COUNT,
     FLOW(kernel.block),
     .axis = true,
     .zero_word = "auto",
     .minimum = 1,
     .maximum = 1024,
     .methods = METHOD(SM),
     .default_text = "auto",
     .help = "Threads per block"},
    {.name = "kernel.grid",
     .sections = IN_FLOWS,
     .type = FIELD_COUNT,
     FLOW(kernel.grid),
     .axis = true,
     .zero_word = "auto",
     .minimum = 1,
     .maximum = 0x1p31 - 1,
     .methods = METHOD(SM),
     .default_text = "auto",
     .help = "Number of blocks"},
    {.name = "kernel.vector_bytes",
     .sections = IN_FLOWS,
     .type = FIELD_COUNT,
     FLOW(kernel.vector_bytes),
     .axis = true,
     .zero_word = "auto",
     .minimum = 1,
     .maximum = 16,
     .power_of_two = true,
     .methods = METHOD(SM),
     .default_text = "auto",
     .help = "Bytes per access"},
    {.name = "shape.width",
     .sections = IN_FLOWS,
     .type = FIELD_SIZE,
     FLOW(shape.width_bytes),
     .axis = true,
     .minimum = 1,
     .maximum = SIZE_LIMIT,
     .methods = METHOD(CE) | METHOD(SM) | METHOD(CPU),
     .help = "Bytes per row of a strided copy, of which the size is width x height x depth"},
    {.name = "shape.height",
     .sections = IN_FLOWS,
     .type = FIELD_INTEGER,
     FLOW(shape.height),
     .axis = true,
     .minimum = 1,
     .maximum = 0x1p32,
     .methods = METHOD(CE) | METHOD(SM) | METHOD(CPU),
     .default_text = "1",
     .help = "Rows per plane"},
    {.name = "shape.depth",
     .sections = IN_FLOWS,
     .type = FIELD_INTEGER,
     FLOW(shape.depth),
     .axis = true,
     .minimum = 1,
     .maximum = 0x1p32,
     .methods = METHOD(CE) | METHOD(SM) | METHOD(CPU),
     .default_text = "1",
     .help = "Number of planes"},
    {.name = "shape.pitch",
     .sections = IN_FLOWS,
     .type = FIELD_SIZE,
     FLOW(shape.pitch_bytes),
     .axis = true,
     .minimum = 1,
     .maximum = SIZE_LIMIT,
     .methods = METHOD(CE) | METHOD(SM) | METHOD(CPU),
     .help = "Bytes from the start of one row to the start of the next; by default the width"},
    {.name = "unified.mode",
     .sections = IN_FLOWS,
     WORDS(unified_mode_names),
     FLOW(unified.mode),
     .axis = true,
     .methods = METHOD(UM),
     .default_text = "demand",
     .help = "Whether pages migrate on demand or are prefetched"},
    {.name = "unified.touch_by",
     .sections = IN_FLOWS,
     WORDS(initiator_names),
     FLOW(unified.touch_by),
     .axis = true,
     .methods = METHOD(UM),
     .default_text = "target",
     .help = "The end whose processor touches the pages in mode demand"},
    {.name = "unified.threads",
     .sections = IN_FLOWS,
     .type = FIELD_COUNT,
     FLOW(unified.threads),
     .axis = true,
     .minimum = 1,
     .maximum = 4096,
     .methods = METHOD(UM),
     .default_text = "1",
     .help = "Number of host threads that touch pages"},
    {.name = "unified.advise",
     .sections = IN_FLOWS,
     WORDS(advise_names),
     FLOW(unified.advise),
     .axis = true,
     .methods = METHOD(UM),
     .default_text = "none",
     .help = "Advice given to the driver about the memory before the trials"},
    {.name = "unified.stride",
     .sections = IN_FLOWS,
     .type = FIELD_SIZE,
     FLOW(unified.stride_bytes),
     .axis = true,
     .zero_word = "page",
     .minimum = 1,
     .maximum = SIZE_LIMIT,
     .methods = METHOD(UM),
     .default_text = "page",
     .help = "Distance between touched bytes; \"page\" is the page size of the touching end"},

#include "schema/scenario/field_rows.inc"

    /* Every block */
    {.name = "zip",
     .sections = IN_BLOCKS,
     .type = FIELD_ZIP,
     .help =
         "Axes that vary in lockstep instead of as a Cartesian product: [[\"size\", \"threads\"]]"},
};

const size_t field_count = sizeof fields / sizeof *fields;
