#include "runner/plan/definition.h"

#include "runner/plan/kind.h"
#include "schema/scenario/field.h"
#include "schema/scenario/setting.h"

#include <string.h>
#include <xxhash.h>

/* Raised when the form changes its meaning for all kinds. */
enum { DEFINITION_VERSION = 1, GROUP_MAX = 64 };

void definition_append_number(struct strbuf *text, const char *before, uint64_t value) {
  char digits[20];
  size_t at = sizeof digits;
  do {
    digits[--at] = (char)('0' + value % 10);
    value /= 10;
  } while (value > 0);
  strbuf_append(text, before);
  strbuf_append_n(text, digits + at, sizeof digits - at);
}

void definition_append_text(struct strbuf *text, const char *before, const char *value) {
  strbuf_append(text, before);
  strbuf_append_char(text, '"');
  strbuf_append(text, value);
  strbuf_append_char(text, '"');
}

void definition_append_endpoint(struct strbuf *text, const char *before,
                                const struct endpoint *endpoint) {
  strbuf_append(text, before);
  definition_append_text(text, "{\"place\":", place_text(endpoint->place));
  definition_append_number(text, ",\"index\":", (uint64_t)endpoint->index);
  definition_append_text(text, ",\"memory\":", memory_kind_text(endpoint->memory));
  if (endpoint->process != 0) {
    definition_append_number(text, ",\"process\":", endpoint->process);
    definition_append_text(text, ",\"share\":", share_text(endpoint->share));
  }
  strbuf_append_char(text, '}');
}

/* Canonical JSON has integers only: no key with a fraction is part of a definition. */
static void definition_append_value(struct strbuf *text, const struct field *field,
                                    const void *memory) {
  uint32_t count = 0;
  uint64_t integer = 0;
  if (field->type == FIELD_WORD && field->resolved != 0) {
    definition_append_endpoint(text, "", memory);
  } else if (field->type == FIELD_FLAG) {
    definition_append_number(text, "", *(const bool *)memory ? 1 : 0);
  } else if (field->type == FIELD_INTEGER || field->type == FIELD_SIZE) {
    memcpy(&integer, memory, sizeof integer);
    definition_append_number(text, "", integer);
  } else {
    memcpy(&count, memory, sizeof count);
    if (field->type == FIELD_WORD) {
      definition_append_text(text, "", field->words[count]);
    } else if (field->type == FIELD_GRID && count == STREAM_GRID_FULL) {
      definition_append_text(text, "", "full");
    } else {
      definition_append_number(text, "", count);
    }
  }
}

/* The keys of a kind that belong to `owner` and mean something for `measured`, a comma in front of
 * each; "kernel.block" stands in the object "kernel". origin: where `measured` begins in what the
 * offsets of the keys count from. */
static void definition_append_fields(struct strbuf *text, enum case_kind kind,
                                     enum field_owner owner, unsigned methods, const void *measured,
                                     size_t origin) {
  char group[GROUP_MAX] = "";
  size_t count = 0;
  const struct field *fields = field_of_kind(kind, &count);
  for (size_t i = 0; i < count; i++) {
    const struct field *field = &fields[i];
    if (field->json == NULL || field->owner != owner ||
        (field->methods != 0 && (field->methods & methods) == 0) ||
        (field->applies != NULL && !field->applies(measured))) {
      continue;
    }
    const size_t length = strcspn(field->json, ".");
    const bool grouped = field->json[length] == '.';
    const bool same = grouped && strlen(group) == length && memcmp(group, field->json, length) == 0;
    if (!same && group[0] != '\0') {
      strbuf_append_char(text, '}');
      group[0] = '\0';
    }
    strbuf_append(text, ",\"");
    if (grouped && !same) {
      memcpy(group, field->json, length);
      group[length] = '\0';
      strbuf_append(text, group);
      strbuf_append(text, "\":{\"");
    }
    strbuf_append(text, grouped ? field->json + length + 1 : field->json);
    strbuf_append(text, "\":");
    const size_t offset = field->resolved != 0 ? field->resolved : field->offset;
    definition_append_value(text, field, (const char *)measured + (offset - origin));
  }
  if (group[0] != '\0') {
    strbuf_append_char(text, '}');
  }
}

void definition_append_options(struct strbuf *text, const struct flow *flow) {
  definition_append_fields(text, CASE_TRANSFER, OWNER_FLOW, 1U << flow->method, flow,
                           offsetof(struct flow_setting, base));
}

void definition_append_work_keys(struct strbuf *text, const struct case_def *def) {
  definition_append_fields(text, def->kind, OWNER_SETTING, 0, def->work,
                           offsetof(struct setting, work));
}

static void definition_append_work(struct strbuf *text, const struct case_def *def) {
  strbuf_append(text, ",\"");
  strbuf_append(text, case_kind_text(def->kind));
  const struct plan_kind *kind = plan_kinds[def->kind];
  definition_append_number(text, "\":{\"method_version\":",
                           kind->method_version_of != NULL ? kind->method_version_of(def)
                                                           : kind->method_version);
  definition_append_work_keys(text, def);
  strbuf_append_char(text, '}');
}

static void definition_append_start(struct strbuf *text, enum case_kind kind) {
  definition_append_number(text, "{\"version\":", DEFINITION_VERSION);
  definition_append_text(text, ",\"kind\":", case_kind_text(kind));
}

static void definition_append_measure(struct strbuf *text, const struct case_def *def) {
  const struct measure *measure = &def->measure;
  bool (*has_caches)(const struct case_def *, enum place) = plan_kinds[def->kind]->has_caches;
  if (measure->iterations > 0) {
    definition_append_number(text, ",\"measure\":{\"iterations\":", measure->iterations);
  } else {
    definition_append_number(text, ",\"measure\":{\"min_trial_ns\":", measure->min_trial_ns);
  }
  if (has_caches != NULL && has_caches(def, PLACE_NUMA)) {
    definition_append_text(text, ",\"host_cache\":", host_cache_in_definition(measure->host_cache));
  }
  if (has_caches != NULL && has_caches(def, PLACE_GPU)) {
    definition_append_text(text, ",\"device_cache\":", cache_state_text(measure->device_cache));
  }
  if (measure->gating != GATING_ON) {
    definition_append_text(text, ",\"gate\":", gating_text(measure->gating));
  }
  if (measure->callers != CALLERS_EACH && def->flow_count > 1) {
    definition_append_text(text, ",\"callers\":", callers_text(measure->callers));
  }
  strbuf_append_char(text, '}');
}

void definition_append(struct strbuf *text, const struct case_def *def) {
  const struct plan_kind *kind = plan_kinds[def->kind];
  definition_append_start(text, def->kind);
  if (kind->define != NULL) {
    kind->define(def, text);
  } else {
    definition_append_work(text, def);
    if (def->flow_count > 0) { /* loads */
      plan_kinds[CASE_TRANSFER]->define(def, text);
    }
  }
  definition_append_measure(text, def);
  strbuf_append_char(text, '}');
}

void definition_append_unresolved(struct strbuf *text, enum case_kind kind, const char *name) {
  definition_append_start(text, kind);
  definition_append_text(text, ",\"unresolved\":", name);
  strbuf_append_char(text, '}');
}

void definition_key(const char *definition, size_t length, char key[CASE_KEY_MAX]) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(definition, length));
  for (size_t i = 0; i < sizeof canonical.digest; i++) {
    key[2 * i] = "0123456789abcdef"[canonical.digest[i] >> 4];
    key[2 * i + 1] = "0123456789abcdef"[canonical.digest[i] & 15];
  }
  key[CASE_KEY_MAX - 1] = '\0';
}
