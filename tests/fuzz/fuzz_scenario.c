/* Any bytes as a scenario: either it is read, and then its resolved text means the same, or
 * rejected with an error that can be printed. The entry point is libFuzzer's; fuzz_main.c runs it
 * without libFuzzer over a corpus and its mutations. The bytes behind a line "--set" are an
 * override. */
#include "schema/scenario/scenario.h"
#include "schema/scenario/setting.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SETTINGS_CHECKED = 64 };

static void require(bool condition, const char *what) {
  if (!condition) {
    (void)fprintf(stderr, "fuzz_scenario: %s\n", what);
    abort();
  }
}

static void check_setting(const struct setting *setting) {
  const struct transfer_setting *transfer = &setting->transfer;
  const union work *work = &setting->work;
  require((unsigned)setting->kind < (unsigned)case_kind_name_count, "a kind is not known");
  if (setting->kind == CASE_TRANSFER) {
    require(transfer->flow_count > 0 || transfer->flow.base.size_bytes > 0,
            "a size is not checked");
    require(transfer->flow_count > 0 || transfer->flow.from.selector.kind != SELECTOR_NONE,
            "an end is not checked");
    return;
  }
  require(setting->at.selector.kind != SELECTOR_NONE, "a place is not checked");
  if (setting->kind == CASE_CHASE) {
    require(work->chase.stride_bytes > 0 && work->chase.stride_bytes <= work->chase.footprint_bytes,
            "a stride is not checked");
  } else if (setting->kind == CASE_STREAM) {
    require(work->stream.size_bytes > 0 && work->stream.passes > 0, "a size is not checked");
  } else if (setting->kind == CASE_ARITHMETIC) {
    require(work->arithmetic.ilp > 0 && work->arithmetic.instructions > 0,
            "a chain is not checked");
  } else if (setting->kind == CASE_OVERHEAD) {
    require((unsigned)work->overhead.operation < (unsigned)overhead_operation_name_count,
            "an operation is not checked");
  }
}

static void check_scenario(const struct scenario *scenario) {
  require(scenario->name != NULL && scenario->resolved != NULL, "the scenario is incomplete");
  for (size_t i = 0; i < scenario->block_count; i++) {
    const size_t count = block_setting_count(scenario->blocks[i]);
    require(count >= 1 && count <= SCENARIO_SETTINGS_MAX, "a block has no settings");
    const size_t step = count / SETTINGS_CHECKED + 1;
    for (size_t k = 0; k < count; k += step) {
      struct setting setting;
      block_setting(scenario->blocks[i], k, &setting);
      require(setting.measure.trials_min <= setting.measure.trials_max, "trials are not checked");
      check_setting(&setting);
    }
  }
}

static void read_again(const struct scenario *scenario) {
  struct diagnostics *diagnostics = diagnostics_new();
  struct scenario *again = NULL;
  const enum status status = scenario_parse(scenario->resolved, strlen(scenario->resolved), "again",
                                            NULL, 0, &again, diagnostics);
  if (status != STATUS_OK) {
    diagnostics_print(diagnostics, stderr, 0, false);
  }
  require(status == STATUS_OK, "the resolved text is rejected");
  require(strcmp(scenario->resolved, again->resolved) == 0, "the resolved text changes");
  require(scenario->block_count == again->block_count, "blocks are lost");
  for (size_t i = 0; i < scenario->block_count; i++) {
    require(block_setting_count(scenario->blocks[i]) == block_setting_count(again->blocks[i]),
            "settings are lost");
  }
  scenario_free(again);
  diagnostics_free(diagnostics);
}

static void print(const struct diagnostics *diagnostics) {
  char *text = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);
  require(stream != NULL, "no memory");
  diagnostics_print(diagnostics, stream, 0, false);
  (void)fclose(stream);
  require(length > 0, "nothing is printed");
  for (size_t i = 0; i < length; i++) {
    const unsigned char c = (unsigned char)text[i];
    require(c == '\n' || (c >= 0x20 && c != 0x7f), "a control character reaches the terminal");
  }
  free(text);
}

/* "\n--set KEY=VALUE" at the end of the bytes. Returns what is in front. */
static size_t find_override(char *text, size_t length, struct scenario_override *override) {
  static const char mark[] = "\n--set ";
  char *found = memmem(text, length, mark, sizeof mark - 1);
  char *equals = found == NULL ? NULL : strchr(found, '=');
  if (equals == NULL) {
    return length;
  }
  *equals = '\0';
  *override = (struct scenario_override){found + sizeof mark - 1, equals + 1};
  return (size_t)(found - text) + 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  require(text != NULL, "no memory");
  memcpy(text, data, size);
  text[size] = '\0';
  struct scenario_override override = {NULL, NULL};
  const size_t length = find_override(text, size, &override);
  struct diagnostics *diagnostics = diagnostics_new();
  struct scenario *scenario = NULL;
  const enum status status =
      scenario_parse(text, length, "<embedded>/fuzz.toml", override.key == NULL ? NULL : &override,
                     override.key == NULL ? 0 : 1, &scenario, diagnostics);
  require((status == STATUS_OK) == (diagnostics_count(diagnostics) == 0), "no error is reported");
  if (status == STATUS_OK) {
    check_scenario(scenario);
    read_again(scenario);
  } else {
    print(diagnostics);
  }
  scenario_free(scenario);
  diagnostics_free(diagnostics);
  free(text);
  return 0;
}
