/* Typed values into settings, and back into text. */
#include "schema/scenario/value.h"

#include "engine/base/units.h"

#include <inttypes.h>
#include <string.h>

_Static_assert(sizeof(enum method) == sizeof(unsigned), "words are stored as unsigned");

static void store_endpoint(const union value *value, enum place place, void *memory) {
  struct endpoint_setting *endpoint = memory;
  endpoint->place = place;
  endpoint->selector = value->selector;
}

static void store_grid(uint64_t integer, void *memory) {
  struct grid_setting *grid = memory;
  grid->count = (uint32_t)integer;
  grid->kind = (integer & VALUE_GRID_PER_SM) != 0 ? GRID_PER_SM
               : (integer & VALUE_GRID_FULL) != 0 ? GRID_FULL
               : integer != 0                     ? GRID_BLOCKS
                                                  : GRID_AUTO;
}

void value_store(const struct field *field, const union value *value, void *owner) {
  void *memory = (char *)owner + field->offset;
  const uint32_t count = (uint32_t)value->integer;
  switch (field->type) {
  case FIELD_TEXT:
  case FIELD_NAME:
  case FIELD_VERSION:
    memcpy(memory, &value->text, sizeof value->text);
    break;
  case FIELD_WORD:
    memcpy(memory, &value->word, sizeof value->word);
    break;
  case FIELD_FLAG:
    memcpy(memory, &value->flag, sizeof value->flag);
    break;
  case FIELD_COUNT:
    memcpy(memory, &count, sizeof count);
    break;
  case FIELD_INTEGER:
  case FIELD_SIZE:
  case FIELD_DURATION:
    memcpy(memory, &value->integer, sizeof value->integer);
    break;
  case FIELD_GRID:
    store_grid(value->integer, memory);
    break;
  case FIELD_NUMBER:
    memcpy(memory, &value->number, sizeof value->number);
    break;
  case FIELD_GPUS:
    store_endpoint(value, PLACE_GPU, memory);
    break;
  case FIELD_NODES:
    store_endpoint(value, PLACE_NUMA, memory);
    break;
  case FIELD_TEXTS:
  case FIELD_ZIP:
    break;
  }
}

const char *value_text(struct arena *arena, const struct field *field, const union value *value) {
  char text[UNITS_TEXT_MAX];
  switch (field->type) {
  case FIELD_TEXT:
  case FIELD_NAME:
  case FIELD_VERSION:
    return value->text;
  case FIELD_WORD:
    return field->words[value->word];
  case FIELD_FLAG:
    return value->flag ? "true" : "false";
  case FIELD_NUMBER:
    if (!(value->number > 0) && field->zero_word != NULL) {
      return field->zero_word;
    }
    return arena_format(arena, "%.15g", value->number);
  case FIELD_GRID:
    if (value->integer == VALUE_GRID_FULL) {
      return "full";
    }
    if ((value->integer & VALUE_GRID_PER_SM) != 0) {
      return arena_format(arena, "per_sm*%" PRIu32, (uint32_t)value->integer);
    }
    __attribute__((fallthrough));
  case FIELD_COUNT:
  case FIELD_INTEGER:
  case FIELD_SIZE:
  case FIELD_DURATION:
    if (value->integer == 0 && field->zero_word != NULL) {
      return field->zero_word;
    }
    if (field->type == FIELD_SIZE) {
      units_format_size(value->integer, text);
      return arena_strdup(arena, text);
    }
    if (field->type == FIELD_DURATION) {
      units_format_duration(value->integer, text);
      return arena_strdup(arena, text);
    }
    return arena_format(arena, "%" PRIu64, value->integer);
  case FIELD_GPUS:
  case FIELD_NODES:
  case FIELD_TEXTS:
  case FIELD_ZIP:
    break;
  }
  return "";
}
