#include "schema/scenario/kind.h"

#include "engine/base/strbuf.h"
#include "engine/base/units.h"

#include <stdio.h>

/* But for the kinds of block, whose rows are with the kind. */
static const struct section_row section_rows[section_count] = {
    [SECTION_ROOT] = {SECTION_ROOT, NULL, false, "the top level of the file",
                      "The scenario itself."},
    [SECTION_MEASURE] =
        {SECTION_ROOT, "measure", false, "[measure]",
         "How carefully each case is measured. All keys except `processes`, `order`, `seed` and "
         "`telemetry` may also be given in a block, for that block only."},
    [SECTION_CHECKS] = {SECTION_ROOT, "checks", false, "[checks]",
                        "The state in which the machine should be, and what to do when it is not. "
                        "Only the checks listed here are made."},
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
};

const struct section_row *section_row(enum section section) {
  const bool of_kind = section >= SECTION_KIND && section < SECTION_LOAD;
  return of_kind ? &kinds[section - SECTION_KIND]->section : &section_rows[section];
}

const struct field *field_find(enum section section, const char *name) {
  for (size_t i = 0; i < field_count(); i++) {
    if ((field_at(i)->sections & (1U << section)) != 0 && strcmp(field_at(i)->name, name) == 0) {
      return field_at(i);
    }
  }
  return NULL;
}

bool field_is_group(enum section section, const char *name) {
  const size_t length = strlen(name);
  for (size_t i = 0; i < field_count(); i++) {
    if ((field_at(i)->sections & (1U << section)) != 0 &&
        strncmp(field_at(i)->name, name, length) == 0 && field_at(i)->name[length] == '.') {
      return true;
    }
  }
  return false;
}

enum section section_below(enum section section, const char *key) {
  for (unsigned i = SECTION_ROOT + 1; i < section_count; i++) {
    if (section_row(i)->parent == section && strcmp(section_row(i)->key, key) == 0) {
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
