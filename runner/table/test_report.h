/* test_report.h - verdicts as the reports of tests that CI systems read: JUnit's XML, and CTRF
 * (Common Test Report Format, ctrf.io, schema/ctrf.schema.json), which is JSON. Texts are borrowed
 * and escaped here. */
#pragma once

#include "engine/base/enum_names.h"
#include "engine/base/error.h"

#include <stdint.h>
#include <stdio.h>

#define TEST_FORMAT_LIST(X)                                                                        \
  X(TEST_NONE, "none") /* not asked for */                                                         \
  X(TEST_JUNIT, "junit")                                                                           \
  X(TEST_CTRF, "ctrf")
ENUM_NAMES_DECLARE(test_format, TEST_FORMAT_LIST)

enum test_outcome { TEST_PASSED, TEST_FAILED, TEST_ERROR, TEST_SKIPPED, test_outcome_count };

struct test_case {
  const char *suite, *name;
  enum test_outcome outcome;
  const char *message; /* of one that did not pass; "" = none */
};

struct test_property {
  const char *name, *value;
};

struct test_report {
  const char *name; /* "haul check" */
  const char *version;
  int64_t started_at_ns, ended_at_ns; /* since 1970, of what was measured; 0 = not known */
  const struct test_property *properties;
  size_t property_count;
  const struct test_case *cases;
  size_t case_count;
};

enum status test_report_print(const struct test_report *report, enum test_format format,
                              FILE *stream, struct error *err) CHECK_RESULT;
