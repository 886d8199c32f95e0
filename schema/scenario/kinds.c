#include "schema/scenario/kind.h"

static const char *const transfer_checked[] = {"shape.", NULL};
static const char *const chase_checked[] = {"footprint", "stride", NULL};

const struct kind kinds[block_kind_word_count] = {
    [BLOCK_TRANSFER] = {.section = SECTION_TRANSFER,
                        .finish = transfer_finish,
                        .check_keys = transfer_check_keys,
                        .check_setting = transfer_check_setting,
                        .checked = transfer_checked},
    [BLOCK_CHASE] = {.section = SECTION_CHASE,
                     .finish = chase_finish,
                     .check_keys = chase_check_keys,
                     .check_setting = chase_check_setting,
                     .checked = chase_checked},
};

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
  case OWNER_FILE:
  case OWNER_RUN:
  case OWNER_CHECK:
    break;
  }
  return NULL;
}

void kind_defaults(enum block_kind kind, struct setting *defaults) {
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
