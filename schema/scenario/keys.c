#include "schema/scenario/kind.h"

#include "engine/base/strbuf.h"
#include "engine/base/units.h"

#include <stdio.h>

ENUM_NAMES_DEFINE(run_verdict, RUN_VERDICT_LIST)
ENUM_NAMES_DEFINE(run_figure, RUN_FIGURE_LIST)

/* Without the kinds of block, whose rows are in the files of the kinds. */
static const struct section_row section_rows[section_count] = {
    [SECTION_ROOT] = {SECTION_ROOT, NULL, false, "the top level of the file",
                      "The scenario itself."},
    [SECTION_MEASURE] =
        {SECTION_ROOT, "measure", false, "[measure]",
         "How carefully haul measures each case. A block may have these keys, too, which then hold "
         "for that block only. Not in a block: `processes`, `pause`, `order`, `seed`, `telemetry`, "
         "`idle_wait`, `settle_time`, `budget`, `verdict` and `figure`."},
    [SECTION_CHECKS] = {SECTION_ROOT, "checks", false, "[checks]",
                        "The state in which the machine should be, and what to do if it is not. "
                        "haul makes only the checks that the scenario names. CHECK stands for the "
                        "name of any check."},
    [SECTION_LOAD] =
        {SECTION_TRANSFER, "load", true, "[[transfer.load]]",
         "Background flows. They run as long as the measured flows and do not count. Keys that are "
         "absent here, except `from` and `to`, are taken from the block. Without `from` and `to` "
         "the load mirrors the measured flows: one flow for each of them, between the same two "
         "places, with the same method and size, in the direction of `direction`. The end that "
         "starts the measured flow also starts the load, or the GPU if one end is a node."},
    [SECTION_CHASE_LOAD] =
        {SECTION_KIND + CASE_CHASE, "load", true, "[[chase.load]]",
         "Background flows that run as long as the chase does. Nothing is taken from the block. "
         "Without `from` and `to` the load goes from the memory that the chase reads to the GPU "
         "that reads, or back, by `direction`. If the chase reads the GPU's own memory, the load "
         "is a copy within that memory."},
    [SECTION_STREAM_LOAD] =
        {SECTION_KIND + CASE_STREAM, "load", true, "[[stream.load]]",
         "Background flows that run as long as the stream does. Nothing is taken from the block. "
         "Without `from` and `to` the load is a copy within the memory of the stream."},
    [SECTION_COMPUTE_LOAD] =
        {SECTION_KIND + CASE_COMPUTE, "load", true, "[[compute.load]]",
         "Background flows that run as long as the kernel does. Nothing is taken from the block. "
         "Without `from` and `to` the load is a copy within the memory of the GPU."},
    [SECTION_FLOW] =
        {SECTION_TRANSFER, "flow", true, "[[transfer.flow]]",
         "Measured flows, one by one, for combinations that `from` and `to` of the block cannot "
         "express. All of them are one case. They run at once, or one after the other if they "
         "share a `stream`. Keys that are absent here are taken from the block."},
};

/* The keys of the file, of [measure], of [checks] and of every block. */

#define IN_MEASURE (IN(MEASURE) | IN_BLOCKS)
/* A chase verifies every trial, and its footprint decides which caches are hit. */
#define IN_MEASURE_OF_BYTES (IN(MEASURE) | IN_KIND(TRANSFER) | IN_KIND(STREAM) | IN_KIND(COMPUTE))

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
static const char *const cache_flush_words[] = {"proven", NULL};

/* The three keys of a check; the rest of the arguments describe `want`. */
#define CHECK(kind, text, ...)                                                                     \
  KEY(text ".want", IN(CHECKS), .owner = OWNER_CHECK, .check = kind, __VA_ARGS__),                 \
      KEY(text ".on_fail", IN(CHECKS), .owner = OWNER_CHECK, .check = kind, WORDS(on_fail_names),  \
          .default_text = "warn",                                                                  \
          HELP("What to do if the check fails. "                                                   \
               "\"record\": only record it. \"warn\": also warn. "                                 \
               "\"skip\": skip every case. \"abort\": end the run as failed")),                    \
      KEY(text "." FIELD_ON_UNKNOWN, IN(CHECKS), .owner = OWNER_CHECK, .check = kind,              \
          WORDS(on_fail_names),                                                                    \
          HELP("What to do if the state is not known (default: `warn` if "                         \
               "`on_fail` is `skip` or `abort`, else `record`)"))

static const struct field shared_fields[] = {
    /* The file */
    KEY("schema_version", IN(ROOT), COUNT(1, 1), .required = true,
        HELP("Version of the scenario language")),
    KEY("name", IN(ROOT), .type = FIELD_NAME, .required = true,
        HELP("Name of the scenario: letters, digits, '.', '_' and '-'")),
    KEY("description", IN(ROOT), .type = FIELD_TEXT, .default_text = "",
        HELP("What the scenario measures, in one line")),
    KEY("include", IN(ROOT), .type = FIELD_TEXTS,
        HELP("Files whose [measure] and [checks] are defaults here. Later files override earlier "
             "ones. haul looks beside this file, then among the shipped scenarios")),

    /* [measure] */
    KEY("processes", IN(MEASURE), COUNT(1, RUN_PROCESSES_MAX), RUN(processes), .default_text = "1",
        HELP("Passes over all cases, one after the other, each in new worker processes")),
    KEY("trials.min", IN_MEASURE, COUNT(1, COUNT_LIMIT), MEASURE(trials_min), .default_text = "10",
        HELP("Minimum number of trials per case")),
    KEY("trials.max", IN_MEASURE, COUNT(1, COUNT_LIMIT), MEASURE(trials_max), .default_text = "200",
        HELP("Maximum number of trials per case, even if the precision is not reached")),
    KEY("precision", IN_MEASURE, NUMBER(0, 0.5), MEASURE(precision), .default_text = "0.005",
        HELP("Stop when the 95 % confidence interval of the median is within this fraction of the "
             "median on either side")),
    KEY("max_time", IN_MEASURE, DURATION(1e3, DURATION_LIMIT), MEASURE(max_time_ns),
        .default_text = "2s", HELP("Maximum time for the trials of one case, without warm-up")),
    KEY("min_trial", IN_MEASURE, DURATION(1, 60e9), MEASURE(min_trial_ns), .default_text = "200us",
        HELP("Minimum duration of a trial when iterations is \"auto\"")),
    KEY("min_time", IN_MEASURE, DURATION(1, DURATION_LIMIT), MEASURE(min_time_ns),
        .zero_word = "none", .default_text = "none",
        HELP("Minimum total time of a case's trials, even if the precision is reached earlier. "
             "trials.max and max_time still end a case")),
    KEY("warmup", IN_MEASURE, COUNT(0, COUNT_LIMIT), MEASURE(warmup), .default_text = "1",
        HELP("Number of warm-up trials before the measured ones. They are recorded as warm-up")),
    KEY("iterations", IN_MEASURE, COUNT(1, COUNT_LIMIT), MEASURE(iterations), .zero_word = "auto",
        .default_text = "auto",
        HELP("Back-to-back repetitions per trial. \"auto\": as many as min_trial takes")),
    KEY("verify", IN_MEASURE_OF_BYTES, WORDS(verify_names), MEASURE(verify), .default_text = "once",
        HELP("Compare every byte at the target: never, once per case, or after every trial")),
    KEY("host_cache", IN_MEASURE_OF_BYTES, WORDS(host_cache_names), MEASURE(host_cache),
        .default_text = "as_is",
        HELP("State of the processors' caches before a trial. \"as_is\": unchanged. \"warm\": they "
             "hold the host's buffers, written by threads of their node. \"flushed\": they hold no "
             "part of the buffers. With \"warm\" and \"flushed\", `iterations = \"auto\"` means "
             "one iteration per trial")),
    KEY("device_cache", IN_MEASURE_OF_BYTES, WORDS(cache_state_names), MEASURE(device_cache),
        .default_text = "warm", HELP("State of the GPU's L2 cache before a trial")),
    KEY("gate", IN(MEASURE) | IN_KIND(TRANSFER) | IN_KIND(COMPUTE), WORDS(gating_names),
        MEASURE(gating), .default_text = "on",
        HELP("Hold the GPU's streams until a whole trial is queued. With \"off\", the time of "
             "small copies includes the calls. Sanitizers and profilers that serialize kernels "
             "need \"off\"")),
    KEY("callers", IN(MEASURE) | IN_KIND(TRANSFER), WORDS(callers_names), MEASURE(callers),
        .default_text = "each",
        HELP("Threads that start concurrent copies without a gate, such as those of pageable "
             "memory. \"each\": a thread for each stream. \"one\": one thread for all, call after "
             "call")),
    KEY("free_share", IN(MEASURE) | IN_KIND(TRANSFER) | IN_KIND(OVERHEAD), NUMBER(0, 1),
        MEASURE(free_share), .exclusive = true, .default_text = "0.25",
        HELP("Fraction of a GPU's free memory that managed memory of a case may take. haul skips a "
             "case that needs more, because it can hang the GPU")),
    KEY("delta", IN_MEASURE, NUMBER(0, 1), MEASURE(delta), .zero_word = "auto", .exclusive = true,
        .default_text = "auto",
        HELP("Threshold of `haul diff`, the smallest change that matters: 0.01 is 1 % (but "
             "`--delta 1` or `--delta 1%` on the command line). \"auto\": 0.01 for bandwidth from "
             "1 MiB on, otherwise 0.03")),
    KEY("order", IN(MEASURE), WORDS(case_order_names), RUN(order), .default_text = "file",
        HELP("Order of the cases")),
    KEY("seed", IN(MEASURE), INTEGER(0, 0x1p53), RUN(seed), .default_text = "1",
        HELP("Seed of the shuffled order and of sampled pairs. The same seed gives the same order "
             "and pairs")),
    KEY("telemetry", IN(MEASURE), DURATION(10e6, 3600e9), RUN(telemetry_ns), .zero_word = "off",
        .default_text = "100ms",
        HELP("Interval of samples of clocks, power, temperature, links and error counters. haul "
             "also reads error counters before and after each case")),
    KEY("pause", IN(MEASURE), DURATION(1e6, DURATION_LIMIT), RUN(pause_ns), .zero_word = "none",
        .default_text = "none",
        HELP("Time from the end of one process to the start of the next. Processes spread over "
             "time include more of the changes from hour to hour")),

    KEY("idle_wait", IN(MEASURE), DURATION(1e6, 3600e9), RUN(idle_wait_ns), .zero_word = "none",
        .default_text = "none",
        HELP("How long the run waits at its start for other programs on the GPUs to end. Then it "
             "goes on, and the check `gpu_idle` names the program")),
    KEY("settle_time", IN(MEASURE), DURATION(1e6, DURATION_LIMIT), RUN(settle_ns),
        .zero_word = "off", .most_word = "auto", .default_text = "auto",
        HELP("How long the run may measure noisy cases again, all processes together: those that "
             "missed their precision. haul measures them again at later times, when other users of "
             "the host may rest. \"auto\": as long as the first round over all cases, and at least "
             "5 s")),
    KEY("budget", IN(MEASURE), DURATION(1e6, DURATION_LIMIT), RUN(budget_ns), .zero_word = "none",
        .default_text = "none",
        HELP("How long the run may measure, all processes together. Then no further case begins, a "
             "case that hangs is ended, and the run ends with exit code 3. `haul run --resume` "
             "measures the rest. With `verdict`, repeating cases may take a fifth of it more")),
    KEY("verdict", IN(MEASURE), WORDS(run_verdict_names), RUN(verdict), .default_text = "none",
        HELP(
            "\"expected\": compare the results with what the machine should reach (`haul expect`). "
            "haul measures cases that fall short once more. The run prints one line, and exits "
            "with 1 if a case still falls short or another program is at work on a GPU")),
    KEY("figure", IN(MEASURE), WORDS(run_figure_names), RUN(figure), .default_text = "typical",
        HELP("The rate that tables show. \"typical\": the median over all measurements of a case. "
             "\"undisturbed\": the rate on which its fastest trials agree, if they do. "
             "haul records both")),

    /* [checks] */
    CHECK(CHECK_GOVERNOR, "governor", WORDS(governor_words), .default_text = "performance",
          HELP("Frequency governor of all processors")),
    CHECK(CHECK_TURBO, "turbo", WORDS(on_off_words), .default_text = "on",
          HELP("Processor clocks above the nominal one")),
    CHECK(CHECK_NUMA_BALANCING, "numa_balancing", WORDS(on_off_words), .default_text = "off",
          HELP("Automatic migration of pages between NUMA nodes by Linux")),
    CHECK(CHECK_HUGE_PAGES, "huge_pages", WORDS(huge_pages_words), .default_text = "madvise",
          HELP("Transparent huge pages")),
    CHECK(CHECK_GPU_IDLE, "gpu_idle", .type = FIELD_FLAG, .default_text = "true",
          HELP("No other process uses the GPU when the run starts")),
    CHECK(CHECK_PERSISTENCE, "persistence", WORDS(on_off_words), .default_text = "on",
          HELP("Persistence mode of the GPU")),
    CHECK(CHECK_GPU_CLOCKS, "gpu_clocks", WORDS(gpu_clocks_words), .default_text = "default",
          HELP("Application clocks of the GPU")),
    CHECK(CHECK_ECC, "ecc", WORDS(on_off_words), .default_text = "on",
          HELP("Error correction (ECC) of the GPU's memory")),
    CHECK(CHECK_MIG, "mig", WORDS(on_off_words), .default_text = "off",
          HELP("Multi-instance mode (MIG) of the GPU")),
    CHECK(CHECK_DRIVER, "driver", .type = FIELD_VERSION,
          HELP("Version of the NVIDIA driver: \">=570\", \"<580.95\", \"580.159.04\"")),
    CHECK(CHECK_GPU_NAME, "gpu_name", .type = FIELD_TEXT,
          HELP("Name of every GPU; * stands for any text: \"*H200*\"")),
    CHECK(CHECK_FREE_MEMORY, "free_memory", NUMBER(0, 1), .default_text = "0.9",
          HELP("Minimum fraction of the GPU's memory that is free")),
    CHECK(CHECK_THROTTLING, "throttling", WORDS(throttling_words), .default_text = "none",
          HELP("Reasons for throttled GPU clocks, observed during the run")),
    CHECK(CHECK_PCIE_LINK, "pcie_link", WORDS(pcie_link_words), .default_text = "max",
          HELP("Generation and width of the GPU's PCIe link, observed under load")),
    CHECK(CHECK_CACHE_FLUSH, "cache_flush", WORDS(cache_flush_words), .default_text = "proven",
          HELP("Flushing the processors' caches works. Timed reloads prove it on each NUMA node at "
               "the start of the run, and in the buffers of each case with host_cache \"warm\" or "
               "\"flushed\". haul skips a case that fails the proof if `on_fail` is `skip` or "
               "`abort`")),

    /* Every block */
    KEY("name", IN_BLOCKS, .type = FIELD_NAME, .required = true,
        HELP("Name of the block, unique in the scenario: letters, digits, '.', '_' and '-'")),
};

/* After the keys of its kind. */
static const struct field closing_fields[] = {
    KEY("zip", IN_BLOCKS, .type = FIELD_ZIP,
        HELP("Axes that vary in lockstep instead of as a Cartesian product: [[\"size\", "
             "\"threads\"]]")),
};

enum {
  SHARED_COUNT = COUNT_OF(shared_fields),
  CLOSING_COUNT = COUNT_OF(closing_fields),
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

/* Looking keys up */

const struct section_row *section_row(enum section section) {
  const bool of_kind = section >= SECTION_KIND && section < SECTION_LOAD;
  return of_kind ? &kinds[section - SECTION_KIND]->section : &section_rows[section];
}

static const struct field *field_at_or_null(size_t i) {
  return i < field_count() ? field_at(i) : NULL;
}

const struct language LANGUAGE_SCENARIO = {section_row, section_count, field_at_or_null};

const struct field *language_find(const struct language *language, enum section section,
                                  const char *name) {
  const struct field *field = NULL;
  for (size_t i = 0; (field = language->field_at(i)) != NULL; i++) {
    if ((field->sections & (1U << section)) != 0 && strcmp(field->name, name) == 0) {
      return field;
    }
  }
  return NULL;
}

bool language_is_group(const struct language *language, enum section section, const char *name) {
  const size_t length = strlen(name);
  const struct field *field = NULL;
  for (size_t i = 0; (field = language->field_at(i)) != NULL; i++) {
    if ((field->sections & (1U << section)) != 0 && strncmp(field->name, name, length) == 0 &&
        field->name[length] == '.') {
      return true;
    }
  }
  return false;
}

unsigned language_below(const struct language *language, enum section section, const char *key) {
  for (unsigned i = SECTION_ROOT + 1; i < language->section_count; i++) {
    const struct section_row *row = language->section_row((enum section)i);
    if (row->parent == section && strcmp(row->key, key) == 0) {
      return i;
    }
  }
  return language->section_count;
}

const struct field *field_find(enum section section, const char *name) {
  return language_find(&LANGUAGE_SCENARIO, section, name);
}

bool field_is_group(enum section section, const char *name) {
  return language_is_group(&LANGUAGE_SCENARIO, section, name);
}

bool field_is_axis(const struct field *field) {
  const bool of_setting =
      field->owner == OWNER_MEASURE || field->owner == OWNER_SETTING || field->owner == OWNER_FLOW;
  return of_setting && field->type != FIELD_NAME && field->type != FIELD_GPUS &&
         field->type != FIELD_NODES;
}

bool field_is_numeric(const struct field *field) {
  return field->type >= FIELD_COUNT && field->type <= FIELD_GRID;
}

static void field_append_words(struct strbuf *text, const char *const *words) {
  for (size_t i = 0; words[i] != NULL; i++) {
    const char *between = i == 0 ? "" : words[i + 1] == NULL ? " or " : ", ";
    strbuf_printf(text, "%s\"%s\"", between, words[i]);
  }
}

static void field_append_limits(struct strbuf *text, const struct field *field) {
  char low[UNITS_TEXT_MAX];
  char high[UNITS_TEXT_MAX];
  if (field->type == FIELD_SIZE) {
    units_format_size((uint64_t)field->minimum, low);
    units_format_size((uint64_t)field->maximum, high);
  } else if (field->type == FIELD_DURATION) {
    units_format_duration((uint64_t)field->minimum, low);
    units_format_duration((uint64_t)field->maximum, high);
  } else {
    (void)snprintf(low, sizeof low, "%.16g", field->minimum);
    (void)snprintf(high, sizeof high, "%.16g", field->maximum);
  }
  if (field->exclusive) {
    strbuf_printf(text, " above %s and below %s", low, high);
  } else {
    strbuf_printf(text, field->minimum < field->maximum ? " from %s to %s" : " %s", low, high);
  }
}

static void field_append_example(struct strbuf *text, const struct field *field) {
  static const char *const examples[] = {
      [FIELD_NUMBER] = ", such as 0.02 for 2 %,",
      [FIELD_SIZE] = " such as 65536, \"64KiB\" or \"64kB\",",
      [FIELD_DURATION] = " such as \"200us\" or \"1.5s\",",
  };
  const bool has_any = field->type < COUNT_OF(examples) && examples[field->type] != NULL;
  if (has_any && (field->type != FIELD_NUMBER || field->maximum <= 1)) {
    strbuf_append(text, examples[field->type]);
  }
}

static void field_append_type(struct strbuf *text, const struct field *field) {
  static const char *const expected[] = {
      [FIELD_TEXT] = "text in quotes",
      [FIELD_NAME] = "a name of letters, digits, '.', '_' and '-'",
      [FIELD_TEXTS] = "an array of text",
      [FIELD_ZIP] = "an array of arrays of keys, such as [[\"size\", \"threads\"]]",
      [FIELD_VERSION] = "a version, such as \">=570\" or \"580.159.04\"",
      [FIELD_FLAG] = "true or false",
      [FIELD_COUNT] = "a whole number",
      [FIELD_INTEGER] = "a whole number",
      [FIELD_NUMBER] = "a number",
      [FIELD_SIZE] = "a size",
      [FIELD_DURATION] = "a duration",
      [FIELD_GRID] = "\"per_sm*N\", \"full\", a whole number",
      [FIELD_CPU] = "a node's number, ",
      [FIELD_GPUS] = "a GPU's number or UUID, an array of them, \"0-3\" or \"*\"",
      [FIELD_NODES] = "a node's number, an array of them, \"0-3\", \"*\", \"local\" or \"remote\"",
  };
  if (field->type == FIELD_WORD) {
    field_append_words(text, field->words);
  } else if (field->power_of_two) {
    strbuf_append(text, "a power of two");
  } else if (field->type == FIELD_COUNT && !(field->minimum < field->maximum)) {
    strbuf_append(text, "the number");
  } else if (field->type == FIELD_NUMBER && field->maximum <= 1) {
    strbuf_append(text, "a fraction");
  } else {
    strbuf_append(text, expected[field->type]);
  }
  if (field->type == FIELD_CPU) {
    field_append_words(text, field->words);
  }
}

static void field_describe(const struct field *field, bool examples,
                           char text[FIELD_EXPECTED_MAX]) {
  SCOPED(strbuf_fini) struct strbuf buffer = STRBUF(FIELD_EXPECTED_MAX - 1);
  field_append_type(&buffer, field);
  if (examples && !field->power_of_two) {
    field_append_example(&buffer, field);
  }
  if (field_is_numeric(field)) {
    field_append_limits(&buffer, field);
  }
  if (field->zero_word != NULL) {
    strbuf_printf(&buffer, ", or \"%s\"", field->zero_word);
  }
  if (field->most_word != NULL) {
    strbuf_printf(&buffer, ", or \"%s\"", field->most_word);
  }
  (void)snprintf(text, FIELD_EXPECTED_MAX, "%s", buffer.text);
}

void field_expected(const struct field *field, char text[FIELD_EXPECTED_MAX]) {
  field_describe(field, true, text);
}

void field_values(const struct field *field, char text[FIELD_EXPECTED_MAX]) {
  field_describe(field, false, text);
}
