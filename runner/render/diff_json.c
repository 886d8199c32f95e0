/* diff_json.c - a comparison as one JSON object, and as JUnit's XML. */
#include "engine/base/strbuf.h"
#include "runner/render/diff.h"
#include "runner/render/text.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1 << 20 };

/* ---- JSON ---- */

static json_t *text_or_null(const char *text) {
  struct strbuf repaired;
  if (text == NULL) {
    return json_null();
  }
  strbuf_init(&repaired, TEXT_MAX);
  text_repair(&repaired, text, strlen(text));
  json_t *value = json_stringn_nocheck(repaired.text, repaired.length);
  strbuf_fini(&repaired);
  return value;
}

static json_t *real_or_null(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

static json_t *whole(size_t value) {
  return json_integer((json_int_t)value);
}

/* Takes over value; memory is all that can fail. */
static void set(json_t *object, const char *key, json_t *value) {
  if (json_object_set_new_nocheck(object, key, value) != 0) {
    abort();
  }
}

static void append(json_t *array, json_t *value) {
  if (json_array_append_new(array, value) != 0) {
    abort();
  }
}

static json_t *side_json(const struct measured *measured, const struct comparison_side *side) {
  json_t *object = json_object();
  set(object, "value", real_or_null(side->value));
  set(object, "processes", whole(side->processes));
  set(object, "boots", whole(side->boots));
  set(object, "gpus", whole(side->gpus));
  set(object, "case",
      side->bench != SIZE_MAX ? text_or_null(measured->cases[side->bench].name) : json_null());
  return object;
}

static json_t *case_json(const struct measured *measured, const struct comparison_row *row) {
  const struct measured_case *bench = &measured->cases[row->bench];
  const struct diff_result *result = &row->result;
  json_t *object = json_object();
  set(object, "verdict", text_or_null(verdict_text(result->verdict)));
  set(object, "case", text_or_null(bench->name));
  set(object, "case_key", text_or_null(bench->key));
  set(object, "block", text_or_null(bench->block));
  set(object, "method", text_or_null(bench->method));
  set(object, "path", text_or_null(bench->path));
  set(object, "axes", text_or_null(bench->axes));
  set(object, "size_bytes", whole(bench->size_bytes));
  set(object, "unit", text_or_null(figure_text(row->figure)));
  set(object, "better", text_or_null(row->figure == FIGURE_RATE ? "more" : "less"));
  set(object, "a", side_json(measured, &row->sides[SIDE_A]));
  set(object, "b", side_json(measured, &row->sides[SIDE_B]));
  set(object, "change_percent", real_or_null(100 * row->change));
  set(object, "low_percent", real_or_null(100 * row->change_low));
  set(object, "high_percent", real_or_null(100 * row->change_high));
  set(object, "p", real_or_null(result->p));
  set(object, "q", real_or_null(result->q));
  set(object, "test", text_or_null(diff_test_text(result->test)));
  set(object, "delta_percent", real_or_null(100 * row->delta));
  set(object, "delta_from", text_or_null(delta_source_text(row->delta_from)));
  set(object, "margin_percent", real_or_null(100 * result->margin));
  set(object, "sd_percent", real_or_null(100 * result->sd));
  set(object, "processes_needed",
      result->processes_needed > 0 ? whole(result->processes_needed) : json_null());
  set(object, "hardware", text_or_null(row->hardware));
  set(object, "reason", text_or_null(row->reason));
  return object;
}

static json_t *total_json(const char *name, const struct comparison_total *total) {
  json_t *object = json_object();
  set(object, "name", text_or_null(name));
  set(object, "runs", whole(total->runs));
  set(object, "processes", whole(total->processes));
  set(object, "boots", whole(total->boots));
  set(object, "gpus", whole(total->gpus));
  set(object, "host_name", text_or_null(total->hosts));
  set(object, "driver_version", text_or_null(total->drivers));
  return object;
}

static json_t *facts_json(const struct comparison *comparison) {
  json_t *array = json_array();
  for (size_t i = 0; i < comparison->fact_count; i++) {
    const struct fact_difference *fact = &comparison->facts[i];
    json_t *object = json_object();
    set(object, "fact", text_or_null(fact->name));
    set(object, "gpu",
        fact->gpu >= 0    ? json_integer(fact->gpu)
        : fact->gpu == -2 ? text_or_null("every")
                          : json_null());
    set(object, "a", text_or_null(fact->values[SIDE_A]));
    set(object, "b", text_or_null(fact->values[SIDE_B]));
    append(array, object);
  }
  return array;
}

static json_t *a_a_json(const struct a_a_result *a_a) {
  if (a_a == NULL) {
    return json_null();
  }
  json_t *object = json_object();
  set(object, "splits", whole(a_a->splits));
  set(object, "splits_reporting", whole(a_a->splits_reporting));
  set(object, "cases", whole(a_a->judged));
  set(object, "false_positives", whole(a_a->false_positives));
  return object;
}

enum status diff_print_json(const struct measured *measured, const struct comparison *comparison,
                            const struct diff_show *show, FILE *stream, struct error *err) {
  json_t *root = json_object();
  const struct shift *shift = &comparison->summary.shift;
  set(root, "a", total_json(show->names[SIDE_A], &comparison->totals[SIDE_A]));
  set(root, "b", total_json(show->names[SIDE_B], &comparison->totals[SIDE_B]));
  set(root, "simulated", json_boolean(comparison->simulated));
  set(root, "other_hardware", json_boolean(comparison->other_machine));
  json_t *common = json_object();
  set(common, "cases", whole(shift->pairs));
  set(common, "speed_percent", real_or_null(shift->pairs > 0 ? 100 * shift->change : NAN));
  set(common, "low_percent", real_or_null(100 * shift->change_low));
  set(common, "high_percent", real_or_null(100 * shift->change_high));
  set(root, "shift", common);
  set(root, "environment", facts_json(comparison));
  json_t *summary = json_object();
  for (int v = 0; v < (int)verdict_name_count; v++) {
    set(summary, verdict_text((enum verdict)v), whole(comparison->summary.verdicts[v]));
  }
  set(root, "summary", summary);
  set(root, "a_a_test", a_a_json(show->a_a));
  json_t *cases = json_array();
  for (size_t i = 0; i < comparison->row_count; i++) {
    append(cases, case_json(measured, &comparison->rows[i]));
  }
  set(root, "cases", cases);
  errno = 0;
  const bool failed = json_dumpf(root, stream, JSON_INDENT(1)) != 0 || fputc('\n', stream) == EOF ||
                      fflush(stream) != 0;
  json_decref(root);
  return failed && errno != EPIPE ? error_set_errno(err, errno, "cannot write the result")
                                  : STATUS_OK;
}

/* ---- JUnit ---- */

static void put_xml(struct strbuf *out, const char *text) {
  struct strbuf clean;
  strbuf_init(&clean, TEXT_MAX);
  text_escape(&clean, text, strlen(text), ESCAPE_TERMINAL);
  for (const char *c = clean.text; *c != '\0'; c++) {
    const char *entity = *c == '<'   ? "&lt;"
                         : *c == '>' ? "&gt;"
                         : *c == '&' ? "&amp;"
                         : *c == '"' ? "&quot;"
                                     : NULL;
    if (entity != NULL) {
      strbuf_append(out, entity);
    } else {
      strbuf_append_char(out, *c);
    }
  }
  strbuf_fini(&clean);
}

enum outcome { OUTCOME_PASSED, OUTCOME_FAILURE, OUTCOME_ERROR, OUTCOME_SKIPPED };

static enum outcome outcome_of(const struct diff_show *show, const struct comparison_row *row) {
  const enum verdict verdict = row->result.verdict;
  if (show->fails[verdict]) {
    return OUTCOME_FAILURE;
  }
  switch (verdict) {
  case VERDICT_UNCLEAR:
  case VERDICT_INSUFFICIENT:
    return show->undecided_fails ? OUTCOME_ERROR : OUTCOME_SKIPPED;
  case VERDICT_NEW:
  case VERDICT_MISSING:
  case VERDICT_INCOMPARABLE:
    return OUTCOME_SKIPPED;
  case VERDICT_REGRESSED:
  case VERDICT_IMPROVED:
  case VERDICT_SAME:
  case verdict_name_count:
    break;
  }
  return OUTCOME_PASSED;
}

static void put_case(struct strbuf *out, const struct measured *measured,
                     const struct diff_show *show, const struct comparison_row *row) {
  static const char *const ELEMENTS[] = {NULL, "failure", "error", "skipped"};
  const struct measured_case *bench = &measured->cases[row->bench];
  const enum outcome outcome = outcome_of(show, row);
  strbuf_append(out, "  <testcase classname=\"");
  put_xml(out, bench->block);
  strbuf_append(out, "\" name=\"");
  put_xml(out, bench->name);
  if (row->hardware != NULL) {
    strbuf_append(out, " [");
    put_xml(out, row->hardware);
    strbuf_append(out, "]");
  }
  if (outcome == OUTCOME_PASSED) {
    strbuf_append(out, "\"/>\n");
    return;
  }
  strbuf_printf(out, "\">\n    <%s message=\"%s", ELEMENTS[outcome],
                verdict_text(row->result.verdict));
  if (isfinite(row->change)) {
    strbuf_printf(out, ": %+.2f %% (%.5g to %.5g %s)", 100 * row->change, row->sides[SIDE_A].value,
                  row->sides[SIDE_B].value, figure_text(row->figure));
  }
  if (row->reason != NULL) {
    strbuf_append(out, ": ");
    put_xml(out, row->reason);
  }
  strbuf_append(out, "\"/>\n  </testcase>\n");
}

enum status diff_print_junit(const struct measured *measured, const struct comparison *comparison,
                             const struct diff_show *show, FILE *stream, struct error *err) {
  struct strbuf out;
  size_t counts[4] = {0};
  for (size_t i = 0; i < comparison->row_count; i++) {
    counts[outcome_of(show, &comparison->rows[i])]++;
  }
  strbuf_init(&out, (size_t)1 << 30);
  strbuf_printf(&out,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"haul check\" "
                "tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n  <properties>\n",
                comparison->row_count, counts[OUTCOME_FAILURE], counts[OUTCOME_ERROR],
                counts[OUTCOME_SKIPPED]);
  for (size_t s = 0; s < SIDES; s++) {
    strbuf_printf(&out, "    <property name=\"%s\" value=\"", s == SIDE_A ? "a" : "b");
    put_xml(&out, show->names[s]);
    strbuf_append(&out, ", driver ");
    put_xml(&out, comparison->totals[s].drivers);
    strbuf_append(&out, "\"/>\n");
  }
  strbuf_append(&out, "  </properties>\n");
  for (size_t i = 0; i < comparison->row_count; i++) {
    put_case(&out, measured, show, &comparison->rows[i]);
  }
  strbuf_append(&out, "</testsuite>\n");
  errno = 0;
  const bool failed = fwrite(out.text, 1, out.length, stream) < out.length || fflush(stream) != 0;
  strbuf_fini(&out);
  return failed && errno != EPIPE ? error_set_errno(err, errno, "cannot write the result")
                                  : STATUS_OK;
}
