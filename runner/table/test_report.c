#include "runner/table/test_report.h"

#include "runner/table/html.h"
#include "runner/table/json.h"
#include "runner/table/table.h"

ENUM_NAMES_DEFINE(test_format, TEST_FORMAT_LIST)

enum { REPORT_MAX = 1 << 30, NS_PER_MS = 1000000 };

static void test_report_count(const struct test_report *report, size_t counts[test_outcome_count]) {
  memset(counts, 0, test_outcome_count * sizeof *counts);
  for (size_t i = 0; i < report->case_count; i++) {
    counts[report->cases[i].outcome]++;
  }
}

static void test_report_junit(const struct test_report *report, struct strbuf *out) {
  static const char *const ELEMENTS[] = {NULL, "failure", "error", "skipped"};
  size_t counts[test_outcome_count];
  test_report_count(report, counts);
  html_put(out,
           "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"%s\" tests=\"%zu\" "
           "failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n  <properties>\n",
           report->name, report->case_count, counts[TEST_FAILED], counts[TEST_ERROR],
           counts[TEST_SKIPPED]);
  for (size_t i = 0; i < report->property_count; i++) {
    html_put(out, "    <property name=\"%s\" value=\"%s\"/>\n", report->properties[i].name,
             report->properties[i].value);
  }
  strbuf_append(out, "  </properties>\n");
  for (size_t i = 0; i < report->case_count; i++) {
    const struct test_case *test = &report->cases[i];
    html_put(out, "  <testcase classname=\"%s\" name=\"%s\"", test->suite, test->name);
    if (test->outcome == TEST_PASSED) {
      strbuf_append(out, "/>\n");
    } else {
      html_put(out, ">\n    <%s message=\"%s\"/>\n  </testcase>\n", ELEMENTS[test->outcome],
               test->message);
    }
  }
  strbuf_append(out, "</testsuite>\n");
}

/* CTRF has no errors of the tool: "other". */
static const char *const CTRF_STATUS[] = {"passed", "failed", "other", "skipped"};

static void test_report_ctrf(const struct test_report *report, struct strbuf *out) {
  struct json_out json = {.text = out, .indent = 2};
  size_t counts[test_outcome_count];
  test_report_count(report, counts);
  json_out_open(&json, NULL, '{');
  json_out_text(&json, "reportFormat", "CTRF");
  json_out_text(&json, "specVersion", "1.0.0");
  json_out_open(&json, "results", '{');
  json_out_open(&json, "tool", '{');
  json_out_text(&json, "name", report->name);
  json_out_text(&json, "version", report->version);
  json_out_close(&json);
  json_out_open(&json, "summary", '{');
  json_out_integer(&json, "tests", (int64_t)report->case_count);
  for (size_t i = 0; i < test_outcome_count; i++) {
    json_out_integer(&json, CTRF_STATUS[i], (int64_t)counts[i]);
  }
  json_out_integer(&json, "pending", 0);
  json_out_integer(&json, "start", report->started_at_ns / NS_PER_MS);
  json_out_integer(&json, "stop", report->ended_at_ns / NS_PER_MS);
  json_out_close(&json);
  json_out_open(&json, "tests", '[');
  for (size_t i = 0; i < report->case_count; i++) {
    const struct test_case *test = &report->cases[i];
    json_out_open(&json, NULL, '{');
    json_out_text(&json, "name", test->name);
    json_out_text(&json, "status", CTRF_STATUS[test->outcome]);
    json_out_integer(&json, "duration", 0);
    json_out_open(&json, "suite", '[');
    json_out_text(&json, NULL, test->suite);
    json_out_close(&json);
    if (test->outcome != TEST_PASSED && test->message[0] != '\0') {
      json_out_text(&json, "message", test->message);
    }
    json_out_close(&json);
  }
  json_out_close(&json);
  json_out_open(&json, "environment", '{');
  json_out_open(&json, "extra", '{');
  for (size_t i = 0; i < report->property_count; i++) {
    json_out_text(&json, report->properties[i].name, report->properties[i].value);
  }
  json_out_close(&json);
  json_out_close(&json);
  json_out_close(&json);
  json_out_close(&json);
  strbuf_append_char(out, '\n');
}

enum status test_report_print(const struct test_report *report, enum test_format format,
                              FILE *stream, struct error *err) {
  SCOPED(strbuf_fini) struct strbuf out = STRBUF(REPORT_MAX);
  switch (format) {
  case TEST_CTRF:
    test_report_ctrf(report, &out);
    break;
  case TEST_NONE:
  case TEST_JUNIT:
  case test_format_name_count:
    test_report_junit(report, &out);
    break;
  }
  return stream_print(stream, &out, NULL, err);
}
