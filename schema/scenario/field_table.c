/* The keys of the file, of [measure], of [checks] and of every block. */
#include "schema/scenario/kind.h"

#define IN_MEASURE (IN(MEASURE) | IN_BLOCKS)
/* A chase verifies every trial, and its footprint decides which caches are hit. */
#define IN_MEASURE_OF_BYTES (IN(MEASURE) | IN_KIND(TRANSFER) | IN_KIND(STREAM))

#define RUN(member)     .owner = OWNER_RUN, .offset = offsetof(struct run_settings, member)
#define MEASURE(member) .owner = OWNER_MEASURE, .offset = offsetof(struct measure, member)

#define DURATION_LIMIT 86400e9

static const char *const governor_words[] = {"performance",  "powersave", "schedutil", "ondemand",
                                             "conservative", "userspace", NULL};
static const char *const on_off_words[] = {"on", "off", NULL};
static const char *const huge_pages_words[] = {"always", "madvise", "never", NULL};
static const char *const gpu_clocks_words[] = {"default", "locked", NULL};
static const char *const throttling_words[] = {"none", NULL};
static const char *const pcie_link_words[] = {"max", NULL};

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

static const struct field shared_fields[] = {
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
     .sections = IN(MEASURE) | IN_KIND(TRANSFER),
     WORDS(gating_names),
     MEASURE(gating),
     .axis = true,
     .default_text = "on",
     .help = "Hold the GPU's streams until a whole trial is enqueued; \"off\" is for sanitizers "
             "and profilers that serialize kernels"},
    {.name = "free_share",
     .sections = IN(MEASURE) | IN_KIND(TRANSFER) | IN_KIND(OVERHEAD),
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
};

/* After the keys of its kind. */
static const struct field closing_fields[] = {
    {.name = "zip",
     .sections = IN_BLOCKS,
     .type = FIELD_ZIP,
     .help =
         "Axes that vary in lockstep instead of as a Cartesian product: [[\"size\", \"threads\"]]"},
};

enum {
  SHARED_COUNT = sizeof shared_fields / sizeof *shared_fields,
  CLOSING_COUNT = sizeof closing_fields / sizeof *closing_fields,
};

size_t field_count(void) {
  size_t count = SHARED_COUNT + CLOSING_COUNT;
  for (unsigned kind = 0; kind < case_kind_name_count; kind++) {
    count += kinds[kind]->field_count;
  }
  return count;
}

const struct field *field_at(size_t i) {
  if (i < SHARED_COUNT) {
    return &shared_fields[i];
  }
  i -= SHARED_COUNT;
  for (unsigned kind = 0; kind < case_kind_name_count; kind++) {
    if (i < kinds[kind]->field_count) {
      return &kinds[kind]->fields[i];
    }
    i -= kinds[kind]->field_count;
  }
  return &closing_fields[i];
}

const struct field *field_of_kind(enum case_kind kind, size_t *count) {
  *count = kinds[kind]->field_count;
  return kinds[kind]->fields;
}
