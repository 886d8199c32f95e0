#include "schema/scenario/kind.h"

static const char *const transfer_checked[] = {"shape.", NULL};
static const char *const chase_checked[] = {"footprint", "stride", "space", NULL};
static const char *const stream_checked[] = {"size", "type", "vector_bytes", "unroll", NULL};
static const char *const arithmetic_checked[] = {"measure", "ilp",          "block",
                                                 "grid",    "instructions", NULL};
static const char *const overhead_checked[] = {NULL};

const struct kind kinds[case_kind_name_count] = {
    [CASE_TRANSFER] = {.section = SECTION_TRANSFER,
                       .finish = transfer_finish,
                       .check_keys = transfer_check_keys,
                       .check_setting = transfer_check_setting,
                       .checked = transfer_checked},
    [CASE_CHASE] = {.section = SECTION_CHASE,
                    .finish = chase_finish,
                    .check_keys = chase_check_keys,
                    .check_setting = chase_check_setting,
                    .checked = chase_checked},
    [CASE_STREAM] = {.section = SECTION_STREAM,
                     .finish = stream_finish,
                     .check_keys = stream_check_keys,
                     .check_setting = stream_check_setting,
                     .checked = stream_checked},
    [CASE_ARITHMETIC] = {.section = SECTION_ARITHMETIC,
                         .finish = arithmetic_finish,
                         .check_keys = arithmetic_check_keys,
                         .check_setting = arithmetic_check_setting,
                         .checked = arithmetic_checked},
    [CASE_OVERHEAD] = {.section = SECTION_OVERHEAD,
                       .finish = overhead_finish,
                       .check_keys = overhead_check_keys,
                       .check_setting = overhead_check_setting,
                       .checked = overhead_checked},
};

void kind_finish_end(struct endpoint_setting *end, enum place place, enum selector_kind usual) {
  if (end->selector.kind == SELECTOR_NONE) {
    end->place = place;
    end->selector.kind = usual;
  }
}

void *setting_member(enum field_owner owner, struct setting *setting, struct flow_setting *flow) {
  switch (owner) {
  case OWNER_MEASURE:
    return &setting->measure;
  case OWNER_TRANSFER:
    return &setting->transfer;
  case OWNER_FLOW:
    return flow != NULL ? flow : &setting->transfer.flow;
  case OWNER_CHASE:
    return &setting->chase;
  case OWNER_STREAM:
    return &setting->stream;
  case OWNER_ARITHMETIC:
    return &setting->arithmetic;
  case OWNER_OVERHEAD:
    return &setting->overhead;
  case OWNER_FILE:
  case OWNER_RUN:
  case OWNER_CHECK:
    break;
  }
  return NULL;
}

void kind_defaults(enum case_kind kind, struct setting *defaults) {
  *defaults = (struct setting){.kind = kind};
  for (size_t i = 0; i < field_count; i++) {
    const struct field *field = &fields[i];
    void *member = setting_member(field->owner, defaults, NULL);
    union value value;
    if (member != NULL && (field->sections & (1U << kinds[kind].section)) != 0 &&
        field->default_text != NULL && value_from_text(field, field->default_text, &value)) {
      value_store(field, &value, member);
    }
  }
}
