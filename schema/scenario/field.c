#include "schema/scenario/field.h"

#include "engine/base/strbuf.h"
#include "engine/base/units.h"

#include <stdio.h>

const struct section_row sections[section_count] = {
    [SECTION_ROOT] = {SECTION_ROOT, NULL, false, "the top level of the file",
                      "The scenario itself."},
    [SECTION_MEASURE] =
        {SECTION_ROOT, "measure", false, "[measure]",
         "How carefully each case is measured. All keys except `processes`, `order`, `seed` and "
         "`telemetry` may also be given in a block, for that block only."},
    [SECTION_CHECKS] = {SECTION_ROOT, "checks", false, "[checks]",
                        "The state in which the machine should be, and what to do when it is not. "
                        "Only the checks listed here are made."},
    [SECTION_TRANSFER] = {SECTION_ROOT, "transfer", true, "[[transfer]]",
                          "Copies of bytes from one endpoint to another."},
    [SECTION_LOAD] =
        {SECTION_TRANSFER, "load", true, "[[transfer.load]]",
         "Background flows that run as long as the measured ones and are not counted. Keys that "
         "are absent here, except `from` and `to`, are taken from the block. Without `from` and "
         "`to` the load mirrors the measured flows: one flow for each of them, between the same "
         "two places, with the same method and size, in the direction given by `direction`. The "
         "same end, source or target, initiates it as initiates the measured flow; between a host "
         "and a GPU it is the GPU."},
    [SECTION_FLOW] = {SECTION_TRANSFER, "flow", true, "[[transfer.flow]]",
                      "Measured flows listed one by one, for combinations that `from` and `to` of "
                      "the block cannot express; all run at once, as one case. Keys that are "
                      "absent here are taken from the block."},
    [SECTION_CHASE] =
        {SECTION_ROOT, "chase", true, "[[chase]]",
         "The latency of memory: threads of a GPU follow a chain of addresses (pointer chasing), "
         "so that each load depends on the one before it. The threads time themselves; the kernel "
         "launch is not included. For host and peer memory there is one case per pair of a loading "
         "GPU (`at`) and a place of memory (`of`), never a GPU's own memory; for global and shared "
         "memory one case per GPU. Thread t starts at element t of a strided chain, so that the "
         "accesses of a warp are one stride apart; the slowest thread counts. `verify`, "
         "`host_cache` and `device_cache` do not apply: every trial checks where the chain ends, "
         "host memory starts outside the processor's caches, and the footprint decides which "
         "caches of the GPU are hit."},
    [SECTION_STREAM] = {SECTION_ROOT, "stream", true, "[[stream]]",
                        "The bandwidth of a loop over arrays of numbers: a kernel on a GPU's own "
                        "memory, or threads of a NUMA node on the node's memory. Bytes are counted "
                        "as in STREAM, each array once: two arrays for copy, mul and dot, three "
                        "for add and triad, one for read and write. `threads` is for nodes only; "
                        "`block`, `grid`, `vector_bytes`, `unroll` and `clock` are for GPUs only."},
    [SECTION_ARITHMETIC] =
        {SECTION_ROOT, "arithmetic", true, "[[arithmetic]]",
         "Chains of dependent instructions on a GPU: the latency of one instruction, or the "
         "instructions per clock of an SM. Latency is measured with one chain (`ilp` 1) in at most "
         "one warp, throughput by default with 4 chains in each of 1024 threads and two such "
         "blocks per SM."},
    [SECTION_OVERHEAD] =
        {SECTION_ROOT, "overhead", true, "[[overhead]]",
         "The time that a call of the driver takes on the host, in ns of the host's clock; one "
         "iteration is one call. `memory` and `size` are for `allocate` and `free`. Memory that "
         "needs no driver (pageable, huge) is allocated as for any other case."},
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
    strbuf_append(text, field->power_of_two               ? "a power of two"
                        : field->minimum < field->maximum ? "a whole number"
                                                          : "the number");
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
