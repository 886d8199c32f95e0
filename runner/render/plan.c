#include "runner/render/plan.h"

#include "engine/base/units.h"
#include "runner/table/text.h"

#include <inttypes.h>
#include <string.h>

enum { COLUMNS_MAX = 16, NAMES_SHOWN_MAX = 2, DUPLICATES_SHOWN_MAX = 5, TEXT_MAX = 1 << 20 };

/* What the columns of the whole table need. */
struct table_shape {
  bool settings; /* a case has axes that path and size do not show */
  bool flows;    /* a case has several flows */
  bool peak;     /* a case has a known peak */
};

/* The part of a name between path and size: its axes. */
static void plan_append_settings(const struct plan_case *c, struct strbuf *text) {
  const char *rest = c->bench.name + strlen(c->bench.block) + 1 + strlen(c->bench.path);
  for (bool first = true; *rest == '/';) {
    const size_t length = strcspn(rest + 1, "/");
    const char *part = rest + 1;
    if (memchr(part, '=', length) != NULL) {
      strbuf_append(text, first ? "" : " ");
      strbuf_append_n(text, part, length);
      first = false;
    }
    rest = part + length;
  }
}

static bool plan_has_settings(const struct plan_case *c) {
  return strchr(c->bench.name + strlen(c->bench.block) + 1 + strlen(c->bench.path), '=') != NULL;
}

static const struct flow *plan_first_flow(const struct plan_case *c) {
  return c->bench.flow_count > 0 ? &c->bench.flows[0] : NULL;
}

/* Bytes of a measured flow, 0 where they differ; of a chase its footprint. */
static uint64_t plan_common_size(const struct plan_case *c) {
  if (c->bench.kind == CASE_CHASE) {
    return c->bench.work.chase.footprint_bytes;
  }
  uint64_t size_bytes = 0;
  for (uint32_t i = 0; i < c->bench.flow_count; i++) {
    const struct flow *flow = &c->bench.flows[i];
    if (flow->role == FLOW_MEASURED) {
      if (size_bytes != 0 && flow->size_bytes != size_bytes) {
        return 0;
      }
      size_bytes = flow->size_bytes;
    }
  }
  return size_bytes;
}

static const char *plan_common_method(const struct plan_case *c) {
  const struct flow *first = plan_first_flow(c);
  if (first == NULL) {
    return NULL;
  }
  for (uint32_t i = 1; i < c->bench.flow_count; i++) {
    if (c->bench.flows[i].role == FLOW_MEASURED && c->bench.flows[i].method != first->method) {
      return "mixed";
    }
  }
  return method_text(first->method);
}

static struct table_shape plan_shape_of(const struct plan *plan) {
  struct table_shape shape = {false, false, false};
  for (size_t i = 0; i < plan->case_count; i++) {
    const struct plan_case *c = &plan->cases[i];
    if (c->skip_reason == NULL) {
      shape.settings = shape.settings || plan_has_settings(c);
      shape.flows = shape.flows || c->bench.flow_count > 1;
      shape.peak = shape.peak || c->bench.peak_bytes_per_second > 0;
    }
  }
  return shape;
}

static enum status plan_print_case(const struct plan_case *c, const struct table_shape *shape,
                                   const struct row_sink *sink, struct error *err) {
  struct cell cells[COLUMNS_MAX];
  size_t count = 0;
  char size[UNITS_TEXT_MAX] = "";
  char time[UNITS_TEXT_MAX];
  struct strbuf settings;
  strbuf_init(&settings, TEXT_MAX);
  if (plan_common_size(c) > 0) {
    units_format_size(plan_common_size(c), size);
  }
  units_format_duration_short(c->estimate_ns, time);
  plan_append_settings(c, &settings);
  cells[count++] = cell_text(c->bench.block);
  cells[count++] = cell_text(c->bench.path);
  cells[count++] = cell_text(size);
  if (shape->settings) {
    cells[count++] = cell_text(settings.text);
  }
  const bool moves = c->bench.kind == CASE_TRANSFER;
  cells[count++] = cell_text(moves ? plan_common_method(c) : case_kind_text(c->bench.kind));
  if (shape->flows) {
    cells[count++] = moves ? cell_integer(c->bench.flow_count) : cell_null();
  }
  if (shape->peak) {
    const double gbps = (double)c->bench.peak_bytes_per_second / 1e9;
    cells[count++] = gbps > 0 ? cell_real(gbps) : cell_null();
    cells[count++] = gbps > 0 ? cell_text(limit_text(c->bench.limit)) : cell_null();
  }
  cells[count++] = cell_text(time);
  enum status status = sink_row(sink, cells, err);
  strbuf_fini(&settings);
  return status;
}

static enum status plan_print_cases(const struct plan *plan, const struct row_sink *sink,
                                    struct error *err) {
  const struct table_shape shape = plan_shape_of(plan);
  const char *columns[COLUMNS_MAX];
  size_t count = 0;
  columns[count++] = "block";
  columns[count++] = "path";
  columns[count++] = "size";
  if (shape.settings) {
    columns[count++] = "settings";
  }
  columns[count++] = "method";
  if (shape.flows) {
    columns[count++] = "flows";
  }
  if (shape.peak) {
    columns[count++] = "peak GB/s";
    columns[count++] = "limit";
  }
  columns[count++] = "time";
  enum status status = sink_begin(sink, columns, count, err);
  for (size_t i = 0; status == STATUS_OK && i < plan->case_count; i++) {
    if (plan->cases[i].skip_reason == NULL) {
      status = plan_print_case(&plan->cases[i], &shape, sink, err);
    }
  }
  return status == STATUS_OK ? sink_end(sink, err) : status;
}

/* ---- below the table ---- */

/* Every case with that reason, from the first that has it. */
static void plan_append_skip_group(const struct plan *plan, size_t first, struct strbuf *text) {
  const char *reason = plan->cases[first].skip_reason;
  size_t count = 0;
  struct strbuf names;
  strbuf_init(&names, TEXT_MAX);
  for (size_t i = first; i < plan->case_count; i++) {
    const struct plan_case *c = &plan->cases[i];
    if (c->skip_reason != NULL && strcmp(c->skip_reason, reason) == 0) {
      if (count < NAMES_SHOWN_MAX) {
        strbuf_append(&names, count > 0 ? ", " : "");
        text_append(&names, c->bench.name);
      }
      count++;
    }
  }
  strbuf_printf(text, "%6zu  ", count);
  text_append(text, reason);
  strbuf_printf(text, "\n        %s", names.text);
  if (count > NAMES_SHOWN_MAX) {
    strbuf_printf(text, " and %zu more", count - NAMES_SHOWN_MAX);
  }
  strbuf_append(text, "\n");
  strbuf_fini(&names);
}

/* True when no case before has the same reason. Reasons of different cases are few or, in a large
 * plan, mostly those of the cases just before: look back from there. */
static bool plan_is_first_of_reason(const struct plan *plan, size_t at) {
  for (size_t i = at; i-- > 0;) {
    const char *other = plan->cases[i].skip_reason;
    if (other != NULL && strcmp(other, plan->cases[at].skip_reason) == 0) {
      return false;
    }
  }
  return true;
}

static void plan_append_skipped(const struct plan *plan, struct strbuf *text) {
  if (plan->skip_count == 0) {
    return;
  }
  strbuf_printf(text, "\nSkipped: %zu\n", plan->skip_count);
  for (size_t i = 0; i < plan->case_count; i++) {
    if (plan->cases[i].skip_reason != NULL && plan_is_first_of_reason(plan, i)) {
      plan_append_skip_group(plan, i, text);
    }
  }
}

static void plan_append_duplicates(const struct plan *plan, struct strbuf *text) {
  if (plan->duplicate_count == 0) {
    return;
  }
  strbuf_printf(text, "\nMeasured once, as the same measurement: %zu\n", plan->duplicate_count);
  for (size_t i = 0; i < plan->duplicate_count && i < DUPLICATES_SHOWN_MAX; i++) {
    strbuf_append(text, "        ");
    text_append(text, plan->duplicates[i].name);
    strbuf_append(text, " is ");
    text_append(text, plan->duplicates[i].same_as);
    strbuf_append(text, "\n");
  }
  if (plan->duplicate_count > DUPLICATES_SHOWN_MAX) {
    strbuf_printf(text, "        and %zu more\n", plan->duplicate_count - DUPLICATES_SHOWN_MAX);
  }
}

static void plan_append_size(struct strbuf *text, uint64_t bytes) {
  char size[UNITS_TEXT_MAX];
  units_format_size_short(bytes, size);
  strbuf_append(text, size);
}

static void plan_append_totals(const struct plan *plan, uint32_t processes, struct strbuf *text) {
  const size_t measured = plan->case_count - plan->skip_count;
  char time[UNITS_TEXT_MAX];
  strbuf_printf(text, "\n%zu case%s", measured, measured == 1 ? "" : "s");
  if (plan->skip_count > 0) {
    strbuf_printf(text, ", %zu skipped", plan->skip_count);
  }
  units_format_duration_short(plan->estimate_ns, time);
  strbuf_printf(text, "; about %s", time);
  if (processes > 1) {
    units_format_duration_short(plan->estimate_ns * processes, time);
    strbuf_printf(text, " per process, %s for %u processes", time, processes);
  }
  if (plan->host_bytes > 0) {
    strbuf_append(text, "; at most ");
    plan_append_size(text, plan->host_bytes);
    strbuf_append(text, " of host memory");
  }
  if (plan->gpu_bytes > 0) {
    strbuf_append(text, plan->host_bytes > 0 ? " and " : "; at most ");
    plan_append_size(text, plan->gpu_bytes);
    strbuf_append(text, " on a GPU");
  }
  strbuf_append(text, "\n");
}

static enum status plan_print_below(const struct plan *plan, uint32_t processes, FILE *stream,
                                    struct error *err) {
  struct strbuf text;
  strbuf_init(&text, TEXT_MAX);
  plan_append_skipped(plan, &text);
  plan_append_duplicates(plan, &text);
  plan_append_totals(plan, processes, &text);
  const enum status status = stream_write(stream, &text, NULL, err);
  strbuf_fini(&text);
  return status;
}

/* ---- one row per case ---- */

/* The columns of one row per case, and their cells. */
#define PLAN_COLUMNS(X)                                                                            \
  X("case", cell_text(bench->name))                                                                \
  X("block", cell_text(bench->block))                                                              \
  X("path", cell_text(bench->path))                                                                \
  X("axes", cell_text(c->axes))                                                                    \
  X("method", cell_text(plan_common_method(c)))                                                    \
  X("flows", cell_integer(bench->flow_count))                                                      \
  X("size_bytes", size_bytes > 0 ? cell_integer((int64_t)size_bytes) : cell_null())                \
  X("payload_bytes", cell_integer((int64_t)bench->payload_bytes))                                  \
  X("limit", cell_text(limit_text(bench->limit)))                                                  \
  X("peak_bytes_per_second", bench->peak_bytes_per_second > 0                                      \
                                 ? cell_integer((int64_t)bench->peak_bytes_per_second)             \
                                 : cell_null())                                                    \
  X("estimate_ns", cell_integer((int64_t)c->estimate_ns))                                          \
  X("host_bytes", cell_integer((int64_t)c->host_bytes))                                            \
  X("gpu_bytes", cell_integer((int64_t)c->gpu_bytes))                                              \
  X("case_key", cell_text(bench->key))                                                             \
  X("skip_reason", cell_text(c->skip_reason))                                                      \
  X("kind", cell_text(case_kind_text(bench->kind)))

static enum status plan_print_rows(const struct plan *plan, const struct row_sink *sink,
                                   struct error *err) {
  static const char *const COLUMNS[] = {PLAN_COLUMNS(COLUMN_NAME)};
  enum status status = sink_begin(sink, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS, err);
  for (size_t i = 0; status == STATUS_OK && i < plan->case_count; i++) {
    if (sink_has_enough(sink)) {
      break;
    }
    const struct plan_case *c = &plan->cases[i];
    const struct bench_case *bench = &c->bench;
    const uint64_t size_bytes = plan_common_size(c);
    const struct cell cells[] = {PLAN_COLUMNS(COLUMN_CELL)};
    status = sink_row(sink, cells, err);
  }
  return status == STATUS_OK ? sink_end(sink, err) : status;
}

static enum status plan_print_page(const struct plan *plan, uint32_t processes,
                                   const struct table_options *options, struct error *err) {
  struct table *rows = table_new(options);
  enum status status = STATUS_OK;
  if (plan->skip_count < plan->case_count) {
    status = plan_print_cases(plan, table_sink(rows), err);
  }
  if (status == STATUS_OK && !table_reader_gone(rows)) {
    status = plan_print_below(plan, processes, options->stream, err);
  }
  table_free(rows);
  return status;
}

static enum status plan_print_for_programs(const struct plan *plan,
                                           const struct table_options *options, struct error *err) {
  struct table *rows = table_new(options);
  enum status status = plan_print_rows(plan, table_sink(rows), err);
  table_free(rows);
  return status;
}

enum status plan_render(const struct plan *plan, uint32_t processes,
                        const struct table_options *options, struct error *err) {
  switch (output_layout_of(options->format)) {
  case LAYOUT_PAGE:
    return plan_print_page(plan, processes, options, err);
  case LAYOUT_OBJECT:
    return plan_print_json(plan, processes, options->stream, err);
  case LAYOUT_DIGEST:
  case LAYOUT_ROWS:
    break;
  }
  return plan_print_for_programs(plan, options, err);
}
