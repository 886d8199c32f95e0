#include "schema/scenario/kind.h"

#define KIND_EXTERN_(id, text, name) extern const struct scenario_kind scenario_kind_##name;
CASE_KIND_LIST(KIND_EXTERN_)

#define KIND_ROW_(id, text, name) [id] = &scenario_kind_##name,
const struct scenario_kind *const kinds[case_kind_name_count] = {CASE_KIND_LIST(KIND_ROW_)};

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
  case OWNER_SETTING:
    return setting;
  case OWNER_FLOW:
    return flow != NULL ? flow : &setting->transfer.flow;
  case OWNER_FILE:
  case OWNER_RUN:
  case OWNER_CHECK:
    break;
  }
  return NULL;
}
