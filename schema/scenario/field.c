#include "schema/scenario/field.h"

#include "engine/base/strbuf.h"
#include "engine/base/units.h"

#include <stdio.h>

const struct section_row sections[section_count] = {
    [SECTION_ROOT] = {SECTION_ROOT, NULL, false, "the top level of the file",
                      "The scenario itself."},
    [SECTION_MEASURE] = {SECTION_ROOT, "measure", false, "[measure]",
                         "How carefully every case is measured. All but `processes`, `order`, "
                         "`seed` and `telemetry` may also stand in a block, for that block alone."},
    [SECTION_CHECKS] = {SECTION_ROOT, "checks", false, "[checks]",
                        "The state the machine should be in, and what happens where it is not. "
                        "Only the checks that are written down are made."},
    [SECTION_TRANSFER] = {SECTION_ROOT, "transfer", true, "[[transfer]]",
                          "Bytes that move from one endpoint to another."},
    [SECTION_LOAD] =
        {SECTION_TRANSFER, "load", true, "[[transfer.load]]",
         "Flows that run for as long as the measured ones do and are not counted. What "
         "is not said here, but for `from` and `to`, is as in the block. Without `from` and `to` "
         "the load mirrors what is measured: one flow for each measured one, between the same two "
         "places, by the same method and of the same size, in the direction that `direction` "
         "says. It is started by the same end, source or target, as the measured flow, and "
         "between a host and a GPU by the GPU."},
    [SECTION_FLOW] =
        {SECTION_TRANSFER, "flow", true, "[[transfer.flow]]",
         "Measured flows, spelled out where `from` and `to` of the block cannot say "
         "it; all run at once, as one case. What is not said here is as in the block."},
    [SECTION_CHASE] =
        {SECTION_ROOT, "chase", true, "[[chase]]",
         "The latency of memory: threads of a GPU follow a chain of addresses, each load needing "
         "the one before it. They time themselves, so that the launch is outside. Through host "
         "and peer memory one case for every pair of a GPU that loads (`at`) and a place of "
         "memory (`of`), never a GPU's own memory; through global and shared memory one case for "
         "every GPU. Thread t starts at element t of a strided chain, so that a warp's accesses "
         "are a stride apart; the slowest thread counts. Where the chain ends is compared in "
         "every trial; host memory starts outside the processor's caches, and which of the GPU's "
         "caches help is up to the footprint: `verify`, `host_cache` and `device_cache` have no "
         "meaning here."},
    [SECTION_STREAM] =
        {SECTION_ROOT, "stream", true, "[[stream]]",
         "The bandwidth of a loop over arrays of numbers: by a kernel through a GPU's own memory, "
         "or by threads of a NUMA node through its memory. Bytes are counted as STREAM does, every "
         "array once: copy and mul two, add and triad three, dot two, read and write one. What "
         "only one of the two places has cannot be said for the other: `threads` is a node's, "
         "`block`, `grid`, `vector_bytes`, `unroll` and `clock` are a GPU's."},
    [SECTION_ARITHMETIC] =
        {SECTION_ROOT, "arithmetic", true, "[[arithmetic]]",
         "Chains of dependent instructions on a GPU: the latency of one, or how many an SM does "
         "in a clock. A latency is measured by one chain (`ilp` 1) of at most one warp; a "
         "throughput by default with 4 chains in each of 1024 threads, two such blocks for every "
         "SM."},
    [SECTION_OVERHEAD] =
        {SECTION_ROOT, "overhead", true, "[[overhead]]",
         "What a call of the driver costs the host, in ns on the host's clock; one iteration is "
         "one call. `memory` and `size` are of `allocate` and `free`. Memory that needs no driver "
         "(pageable, huge) is allocated as this tool does it."},
};

const struct field *field_find(enum section section, const char *name) {
  for (size_t i = 0; i < field_count; i++) {
    if ((fields[i].sections & (1U << section)) != 0 && strcmp(fields[i].name, name) == 0) {
      return &fields[i];
    }
  }
  return NULL;
}

bool field_is_group(enum section section, const char *name) {
  const size_t length = strlen(name);
  for (size_t i = 0; i < field_count; i++) {
    if ((fields[i].sections & (1U << section)) != 0 && strncmp(fields[i].name, name, length) == 0 &&
        fields[i].name[length] == '.') {
      return true;
    }
  }
  return false;
}

enum section section_below(enum section section, const char *key) {
  for (unsigned i = SECTION_ROOT + 1; i < section_count; i++) {
    if (sections[i].parent == section && strcmp(sections[i].key, key) == 0) {
      return (enum section)i;
    }
  }
  return section_count;
}

bool field_is_numeric(const struct field *field) {
  return field->type == FIELD_COUNT || field->type == FIELD_INTEGER ||
         field->type == FIELD_NUMBER || field->type == FIELD_SIZE ||
         field->type == FIELD_DURATION || field->type == FIELD_GRID;
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

static void field_append_type(struct strbuf *text, const struct field *field) {
  switch (field->type) {
  case FIELD_TEXT:
    strbuf_append(text, "text in quotes");
    break;
  case FIELD_NAME:
    strbuf_append(text, "a name of letters, digits, '.', '_' and '-'");
    break;
  case FIELD_TEXTS:
    strbuf_append(text, "an array of text");
    break;
  case FIELD_ZIP:
    strbuf_append(text, "an array of arrays of keys, such as [[\"size\", \"threads\"]]");
    break;
  case FIELD_VERSION:
    strbuf_append(text, "a version, such as \">=570\" or \"580.159.04\"");
    break;
  case FIELD_WORD:
    field_append_words(text, field->words);
    break;
  case FIELD_FLAG:
    strbuf_append(text, "true or false");
    break;
  case FIELD_COUNT:
  case FIELD_INTEGER:
    strbuf_append(text, field->power_of_two ? "a power of two" : "a whole number");
    break;
  case FIELD_GRID:
    strbuf_append(text, "\"per_sm*N\", \"full\", a whole number");
    break;
  case FIELD_NUMBER:
    strbuf_append(text, "a number");
    break;
  case FIELD_SIZE:
    strbuf_append(text, "a size such as 65536, \"64KiB\" or \"64kB\",");
    break;
  case FIELD_DURATION:
    strbuf_append(text, "a duration such as \"200us\" or \"1.5s\",");
    break;
  case FIELD_GPUS:
    strbuf_append(text, "a GPU's number, an array of them, \"0-3\" or \"*\"");
    break;
  case FIELD_NODES:
    strbuf_append(text, "a node's number, an array of them, \"0-3\", \"*\", \"local\" or "
                        "\"remote\"");
    break;
  }
}

void field_expected(const struct field *field, char text[FIELD_EXPECTED_MAX]) {
  struct strbuf buffer;
  strbuf_init(&buffer, FIELD_EXPECTED_MAX - 1);
  field_append_type(&buffer, field);
  if (field_is_numeric(field)) {
    field_append_limits(&buffer, field);
  }
  if (field->zero_word != NULL) {
    strbuf_printf(&buffer, ", or \"%s\"", field->zero_word);
  }
  (void)snprintf(text, FIELD_EXPECTED_MAX, "%s", buffer.text);
  strbuf_fini(&buffer);
}
