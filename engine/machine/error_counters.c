#include "engine/machine/error_counters.h"

#include "engine/cuda/nvml.h"

#include <inttypes.h>
#include <stdio.h>

ENUM_NAMES_DEFINE(error_counter, ERROR_COUNTER_LIST)

void error_counts_init(struct error_counts *counts) {
  counts->last_xid = 0;
  for (size_t i = 0; i < error_counter_name_count; i++) {
    counts->values[i] = -1;
  }
}

void error_counts_read(const struct nvml *nvml, struct nvml_device *device,
                       struct error_counts *counts) {
#define ERROR_COUNTER_FIELD_(id, text, field) [id] = (field),
  static const unsigned fields[error_counter_name_count] = {
      ERROR_COUNTER_LIST(ERROR_COUNTER_FIELD_)};
  unsigned long long values[error_counter_name_count];
  bool known[error_counter_name_count];
  nvml_read_fields(nvml, device, ERROR_COUNTER_XID, fields, values, known);
  for (size_t i = 0; i < ERROR_COUNTER_XID; i++) {
    counts->values[i] = known[i] ? (int64_t)(values[i] & INT64_MAX) : -1;
  }
}

void error_counts_note(int32_t gpu, const struct error_counts *before,
                       const struct error_counts *after, struct notes *notes) {
  for (size_t i = 0; i < error_counter_name_count; i++) {
    const int64_t was = before->values[i];
    const int64_t is = after->values[i];
    if (was >= 0 && is > was) {
      struct note note = {.kind = NOTE_LINK_ERRORS, .gpu = gpu, .amounts = {(double)(is - was)}};
      if (i == ERROR_COUNTER_XID) {
        (void)snprintf(note.what, sizeof note.what, "Xid %" PRId64 " errors", after->last_xid);
      } else {
        (void)snprintf(note.what, sizeof note.what, "%s",
                       error_counter_text((enum error_counter)i));
      }
      notes_add(notes, &note);
    }
  }
}
