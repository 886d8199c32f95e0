/* support.h - reading scenarios in tests, and settings as the text of their keys. Includes cmocka.
 */
#pragma once

#include "schema/scenario/block.h"
#include "schema/scenario/kind.h"
#include "schema/scenario/scenario.h"
#include "tests/cmocka.h"

#include <inttypes.h>

#define HEAD "schema_version = 1\nname = \"t\"\n"
/* A block of four lines that is right; more keys may follow. */
#define BLOCK                                                                                      \
  "[[transfer]]\nname = \"b\"\nmethod = \"ce\"\nfrom = { numa = \"local\" }\nto = { gpu = \"*\" "  \
  "}\n"
#define GPU_BLOCK                                                                                  \
  "[[transfer]]\nname = \"b\"\nmethod = \"ce\"\nfrom = { gpu = \"*\" }\nto = { gpu = \"*\" }\n"

/* The scenario, or a failed test with the complaints. */
static inline struct scenario *must_parse_with(const char *text,
                                               const struct scenario_override *overrides,
                                               size_t override_count) {
  struct diagnostics *diagnostics = diagnostics_new();
  struct scenario *scenario = NULL;
  if (scenario_parse(text, strlen(text), "t.toml", overrides, override_count, &scenario,
                     diagnostics) != STATUS_OK) {
    diagnostics_print(diagnostics, stderr, 0, false);
    fail_msg("%zu complaints about:\n%s", diagnostics_count(diagnostics), text);
  }
  assert_int_equal(diagnostics_count(diagnostics), 0);
  diagnostics_free(diagnostics);
  return scenario;
}

static inline struct scenario *must_parse(const char *text) {
  return must_parse_with(text, NULL, 0);
}

/* The complaints; the text must have some. */
static inline struct diagnostics *must_refuse_with(const char *text,
                                                   const struct scenario_override *overrides,
                                                   size_t override_count) {
  struct diagnostics *diagnostics = diagnostics_new();
  struct scenario *scenario = NULL;
  const enum status status = scenario_parse(text, strlen(text), "t.toml", overrides, override_count,
                                            &scenario, diagnostics);
  if (status != STATUS_INVALID) {
    fail_msg("nothing wrong is found in:\n%s", text);
  }
  assert_null(scenario);
  assert_true(diagnostics_count(diagnostics) > 0);
  return diagnostics;
}

static inline struct diagnostics *must_refuse(const char *text) {
  return must_refuse_with(text, NULL, 0);
}

/* The complaint at that place, with `message` as part of it. */
static inline void assert_complaint(const struct diagnostics *diagnostics, size_t i,
                                    const char *file, unsigned line, unsigned column,
                                    const char *message) {
  assert_true(i < diagnostics_count(diagnostics));
  const struct error *error = &diagnostics_at(diagnostics, i)->error;
  assert_contains(error->message, message);
  assert_string_equal(error->position.file, file);
  if (error->position.line != line || error->position.column != column) {
    fail_msg("\"%s\" stands at %u:%u, not %u:%u", error->message, error->position.line,
             error->position.column, line, column);
  }
}

/* Exactly one complaint, there. */
static inline void assert_one(const struct diagnostics *diagnostics, unsigned line, unsigned column,
                              const char *message) {
  if (diagnostics_count(diagnostics) != 1) {
    diagnostics_print(diagnostics, stderr, 0, false);
  }
  assert_int_equal(diagnostics_count(diagnostics), 1);
  assert_complaint(diagnostics, 0, diagnostics_at(diagnostics, 0)->error.position.file, line,
                   column, message);
}

static inline void append_selector(struct strbuf *out, const struct selector *selector) {
  static const char *const words[] = {[SELECTOR_NONE] = "-",
                                      [SELECTOR_ALL] = "*",
                                      [SELECTOR_LIST] = "",
                                      [SELECTOR_LOCAL] = "local",
                                      [SELECTOR_REMOTE] = "remote"};
  strbuf_append(out, words[selector->kind]);
  for (size_t i = 0; i < selector->count; i++) {
    strbuf_printf(out, "%s%" PRId32, i == 0 ? "" : ",", selector->indices[i]);
  }
}

/* The member of `owner` that the field describes, as a scenario would write it: "64KiB", "local";
 * "-" where there is none. */
static inline void append_member(struct strbuf *out, const struct field *field, const void *owner) {
  const void *member = (const char *)owner + field->offset;
  const struct endpoint_setting *endpoint = member;
  const struct grid_setting *grid = member;
  struct arena arena = {0};
  union value value = {0};
  uint32_t count = 0;
  switch (field->type) {
  case FIELD_GPUS:
  case FIELD_NODES:
    if (endpoint->place == (field->type == FIELD_GPUS ? PLACE_GPU : PLACE_NUMA)) {
      append_selector(out, &endpoint->selector);
    } else {
      strbuf_append(out, "-");
    }
    return;
  case FIELD_GRID:
    value.integer = grid->count | (grid->kind == GRID_PER_SM ? VALUE_GRID_PER_SM : 0) |
                    (grid->kind == GRID_FULL ? VALUE_GRID_FULL : 0);
    break;
  case FIELD_CPU:
    value.integer = ((const struct flow_cpu *)member)->choice == CPU_NODE
                        ? (uint64_t)((const struct flow_cpu *)member)->node
                        : VALUE_CPU_WORD | ((const struct flow_cpu *)member)->choice;
    break;
  case FIELD_COUNT:
    memcpy(&count, member, sizeof count);
    value.integer = count;
    break;
  case FIELD_WORD:
    memcpy(&value.word, member, sizeof value.word);
    break;
  case FIELD_FLAG:
    memcpy(&value.flag, member, sizeof value.flag);
    break;
  case FIELD_TEXT:
  case FIELD_NAME:
  case FIELD_VERSION:
    memcpy(&value.text, member, sizeof value.text);
    value.text = value.text == NULL ? "-" : value.text;
    break;
  case FIELD_TEXTS:
  case FIELD_ZIP:
  case FIELD_INTEGER:
  case FIELD_SIZE:
  case FIELD_DURATION:
  case FIELD_NUMBER:
    memcpy(&value.integer, member, sizeof value.integer);
    break;
  }
  strbuf_append(out, value_text(&arena, field, &value));
  arena_fini(&arena);
}

/* "KEY=VALUE " of every key that a section has in the setting, and of all of [measure], which has
 * values where it does not apply as well; flow: a load or flow, or NULL. */
static inline void append_members(struct strbuf *out, enum section section, struct setting *setting,
                                  struct flow_setting *flow) {
  for (size_t i = 0; i < field_count(); i++) {
    const struct field *field = field_at(i);
    void *owner = setting_member(field->owner, setting, flow);
    const bool is_measure = flow == NULL && field->owner == OWNER_MEASURE;
    if (owner != NULL && (is_measure || (field->sections & (1U << section)) != 0)) {
      strbuf_printf(out, "%s=", field->name);
      append_member(out, field, owner);
      strbuf_append_char(out, ' ');
    }
  }
  if (flow != NULL || setting->kind == CASE_TRANSFER) {
    const struct flow_setting *facts = flow == NULL ? &setting->transfer.flow : flow;
    strbuf_printf(out, "initiator_given=%d mirrors=%d method_given=%d size_given=%d ",
                  facts->initiator_given, facts->mirrors, facts->method_given, facts->size_given);
  }
}

/* Every key of the setting and of its loads ("load.0.size=1B") and flows, each behind a space. */
static inline void append_setting(struct strbuf *out, const struct setting *setting) {
  struct setting copy = *setting;
  struct strbuf below;
  strbuf_init(&below, 1 << 16);
  strbuf_append_char(out, ' ');
  append_members(out, (enum section)(SECTION_KIND + setting->kind), &copy, NULL);
  if (setting->kind == CASE_TRANSFER) {
    const struct transfer_setting *transfer = &setting->transfer;
    strbuf_printf(out, "pairs_given=%d loads=%zu flows=%zu ", transfer->pairs_given,
                  transfer->load_count, transfer->flow_count);
    for (size_t i = 0; i < transfer->load_count + transfer->flow_count; i++) {
      const bool is_load = i < transfer->load_count;
      const size_t at = is_load ? i : i - transfer->load_count;
      struct flow_setting flow = is_load ? transfer->loads[at] : transfer->flows[at];
      strbuf_clear(&below);
      append_members(&below, is_load ? SECTION_LOAD : SECTION_FLOW, &copy, &flow);
      for (char *save = NULL, *key = strtok_r(below.text, " ", &save); key != NULL;
           key = strtok_r(NULL, " ", &save)) {
        strbuf_printf(out, "%s.%zu.%s ", is_load ? "load" : "flow", at, key);
      }
    }
  }
  strbuf_fini(&below);
}

/* `expected`: "size=64KiB load.0.method=ce", any of the setting's keys. */
static inline void assert_setting(const struct setting *setting, const char *expected) {
  struct strbuf text;
  strbuf_init(&text, 1 << 16);
  append_setting(&text, setting);
  for (const char *at = expected; *at != '\0';) {
    char wanted[256];
    const size_t length = strcspn(at, " ");
    (void)snprintf(wanted, sizeof wanted, " %.*s ", (int)length, at);
    assert_contains(text.text, wanted);
    at += length + strspn(at + length, " ");
  }
  strbuf_fini(&text);
}

/* What `assert_setting` says of one setting of one block. */
static inline void assert_block(const struct scenario *scenario, size_t block, size_t i,
                                const char *expected) {
  struct setting setting;
  assert_true(block < scenario->block_count);
  assert_true(i < block_setting_count(scenario->blocks[block]));
  block_setting(scenario->blocks[block], i, &setting);
  assert_setting(&setting, expected);
}
RELEASE(diagnostics_free, struct diagnostics)
RELEASE(scenario_free, struct scenario)
