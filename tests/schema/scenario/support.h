/* support.h - reading scenarios in tests. Includes cmocka. */
#ifndef HAUL_TESTS_SCHEMA_SCENARIO_SUPPORT_H
#define HAUL_TESTS_SCHEMA_SCENARIO_SUPPORT_H

#include "schema/scenario/scenario.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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
    diagnostics_print(diagnostics, stderr, false);
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

/* Exactly one complaint, there, with `message` as part of it. */
static inline void assert_one(const struct diagnostics *diagnostics, unsigned line, unsigned column,
                              const char *message) {
  if (diagnostics_count(diagnostics) != 1) {
    diagnostics_print(diagnostics, stderr, false);
  }
  assert_int_equal(diagnostics_count(diagnostics), 1);
  const struct diagnostic *diagnostic = diagnostics_at(diagnostics, 0);
  if (strstr(diagnostic->error.message, message) == NULL) {
    fail_msg("\"%s\" does not say \"%s\"", diagnostic->error.message, message);
  }
  if (diagnostic->error.position.line != line || diagnostic->error.position.column != column) {
    fail_msg("\"%s\" stands at %u:%u, not %u:%u", diagnostic->error.message,
             diagnostic->error.position.line, diagnostic->error.position.column, line, column);
  }
}

#endif
