#include "runner/render/plan.h"

#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "runner/plan/kind.h"
#include "runner/table/output.h"
#include "runner/table/text.h"
#include "schema/scenario/scenario.h"

#include <inttypes.h>
#include <string.h>

enum { DUPLICATES_SHOWN_MAX = 5, TEXT_MAX = 1 << 20 };

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

static uint64_t plan_size(const struct plan_case *c) {
  const struct plan_kind *kind = plan_kinds[c->bench.kind];
  return kind->size_bytes != NULL ? kind->size_bytes(&c->bench) : 0;
}

static const char *plan_common_method(const struct plan_case *c) {
  for (uint32_t i = 1; i < c->bench.flow_count; i++) {
    if (c->bench.flows[i].role == FLOW_MEASURED &&
        c->bench.flows[i].method != c->bench.flows[0].method) {
      return "mixed";
    }
  }
  return c->bench.flow_count > 0 ? method_text(c->bench.flows[0].method) : NULL;
}

/* Whether a case that will be measured has several flows. */
static bool plan_has_flows(const struct plan *plan) {
  for (size_t i = 0; i < plan->case_count; i++) {
    if (plan->cases[i].skip_reason == NULL && plan->cases[i].bench.flow_count > 1) {
      return true;
    }
  }
  return false;
}

/* The columns for people, and their cells. Those without a value are left out. */
#define PLAN_TABLE_COLUMNS(X)                                                                      \
  X("block", cell_text(bench->block))                                                              \
  X("path", cell_text(bench->path))                                                                \
  X("size", cell_text(size))                                                                       \
  X("settings", cell_words(settings.text, TONE_NONE))                                              \
  X("method", cell_text(moves ? plan_common_method(c) : case_kind_text(bench->kind)))              \
  X("flows", has_flows ? cell_integer(bench->flow_count) : cell_null())                            \
  X("peak GB/s", gbps > 0 ? cell_real(gbps) : cell_null())                                         \
  X("limit", gbps > 0 ? cell_text(limit_text(bench->limit)) : cell_null())                         \
  X("time", cell_text(time))

static void plan_print_cases(const struct plan *plan, struct table *table, struct error *err) {
  const bool flows = plan_has_flows(plan);
  struct strbuf settings;
  strbuf_init(&settings, TEXT_MAX);
  for (size_t i = 0; i < plan->case_count; i++) {
    const struct plan_case *c = &plan->cases[i];
    const struct bench_case *bench = &c->bench;
    const bool moves = bench->kind == CASE_TRANSFER;
    const bool has_flows = flows && moves;
    const double gbps = (double)bench->peak_bytes_per_second / 1e9;
    char size[UNITS_TEXT_MAX] = "";
    char time[UNITS_TEXT_MAX];
    if (c->skip_reason != NULL) {
      continue;
    }
    if (plan_size(c) > 0) {
      units_format_size(plan_size(c), size);
    }
    units_format_duration_short(c->estimate_ns, time);
    strbuf_clear(&settings);
    plan_append_settings(c, &settings);
    const struct cell cells[] = {PLAN_TABLE_COLUMNS(COLUMN_CELL)};
    table_add(table, cells, err);
  }
  strbuf_fini(&settings);
}

/* ---- below the table ---- */

static void plan_append_skip_group(const struct skip_group *group, struct strbuf *text) {
  strbuf_printf(text, "%6zu  ", group->count);
  text_append(text, group->reason);
  strbuf_append(text, "\n        ");
  for (size_t i = 0; i < group->count && i < SKIP_GROUP_CASES_MAX; i++) {
    strbuf_append(text, i > 0 ? ", " : "");
    text_append(text, group->cases[i]->bench.name);
  }
  if (group->count > SKIP_GROUP_CASES_MAX) {
    strbuf_printf(text, " and %zu more", group->count - SKIP_GROUP_CASES_MAX);
  }
  strbuf_append(text, "\n");
}

static void plan_append_skipped(const struct plan *plan, struct strbuf *text) {
  struct arena arena = {0};
  const struct skip_group *groups = NULL;
  const size_t count = plan_group_skipped(plan, &arena, &groups);
  if (count > 0) {
    strbuf_printf(text, "\nSkipped: %zu\n", plan->skip_count);
  }
  for (size_t i = 0; i < count; i++) {
    plan_append_skip_group(&groups[i], text);
  }
  arena_fini(&arena);
}

static void plan_append_duplicates(const struct plan *plan, struct strbuf *text) {
  if (plan->duplicate_count == 0) {
    return;
  }
  strbuf_printf(text, "\nMeasured once: %zu\n", plan->duplicate_count);
  for (size_t i = 0; i < plan->duplicate_count && i < DUPLICATES_SHOWN_MAX; i++) {
    strbuf_append(text, "        ");
    text_append(text, plan->duplicates[i].name);
    strbuf_append(text, plan->duplicates[i].same_measure ? " is the same measurement as "
                                                         : " is measured with the settings of ");
    text_append(text, plan->duplicates[i].same_as);
    strbuf_append(text, "\n");
  }
  if (plan->duplicate_count > DUPLICATES_SHOWN_MAX) {
    strbuf_printf(text, "        and %zu more\n", plan->duplicate_count - DUPLICATES_SHOWN_MAX);
  }
}

/* "; at most 2 GiB of host memory"; nothing for 0. */
static void plan_append_memory(struct strbuf *text, const char *before, uint64_t bytes,
                               const char *after) {
  char size[UNITS_TEXT_MAX];
  units_format_size_short(bytes, size);
  if (bytes > 0) {
    strbuf_printf(text, "%s%s%s", before, size, after);
  }
}

static void plan_append_totals(const struct plan *plan, uint32_t processes, struct strbuf *text) {
  const size_t measured = plan->case_count - plan->skip_count;
  char time[UNITS_TEXT_MAX];
  strbuf_printf(text, "%zu case%s", measured, strings_plural(measured, "", "s"));
  if (plan->skip_count > 0) {
    strbuf_printf(text, ", %zu skipped", plan->skip_count);
  }
  if (measured > 0) {
    units_format_duration_short(plan->estimate_ns, time);
    strbuf_printf(text, "; about %s", time);
  }
  if (measured > 0 && processes > 1) {
    units_format_duration_short(plan_total_ns(plan, processes), time);
    strbuf_printf(text, " per process, %s for %u processes", time, processes);
    if (plan->scenario != NULL && plan->scenario->run.pause_ns > 0) {
      units_format_duration_short(plan->scenario->run.pause_ns, time);
      strbuf_printf(text, " with pauses of %s", time);
    }
  }
  if (measured > 0 && plan->scenario != NULL && plan->scenario->run.budget_ns > 0) {
    units_format_duration_short(plan->scenario->run.budget_ns, time);
    strbuf_printf(text, ", of the %s that it may take", time);
  }
  plan_append_memory(text, "; at most ", plan->host_bytes, " of host memory");
  plan_append_memory(text, plan->host_bytes > 0 ? " and " : "; at most ", plan->gpu_bytes,
                     " on a GPU");
}

static enum status plan_print_below(const struct plan *plan, uint32_t processes, bool details,
                                    const struct table_options *options, struct error *err) {
  const struct output output = {.stream = options->stream, .width = options->width};
  struct strbuf text;
  strbuf_init(&text, TEXT_MAX);
  if (details) {
    plan_append_details(plan, &text);
  }
  plan_append_skipped(plan, &text);
  plan_append_duplicates(plan, &text);
  strbuf_append(&text, "\n");
  const enum status status = stream_write(options->stream, &text, NULL, err);
  strbuf_fini(&text);
  strbuf_init(&text, TEXT_MAX);
  plan_append_totals(plan, processes, &text);
  output_wrapped(&output, "", text.text);
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

static enum status plan_print_rows(const struct plan *plan, const struct table_options *options,
                                   struct error *err) {
  static const char *const COLUMNS[] = {PLAN_COLUMNS(COLUMN_NAME)};
  struct table *table = TABLE_OPEN(options, COLUMNS, err);
  for (size_t i = 0; i < plan->case_count && !table_reader_gone(table); i++) {
    const struct plan_case *c = &plan->cases[i];
    const struct bench_case *bench = &c->bench;
    const uint64_t size_bytes = plan_size(c);
    const struct cell cells[] = {PLAN_COLUMNS(COLUMN_CELL)};
    table_add(table, cells, err);
  }
  return table_close(table, err);
}

static enum status plan_print_page(const struct plan *plan, uint32_t processes, bool details,
                                   const struct table_options *options, struct error *err) {
  static const char *const COLUMNS[] = {PLAN_TABLE_COLUMNS(COLUMN_NAME)};
  struct table_options lean = *options;
  lean.drop_empty = true;
  lean.narrow = "limit,peak GB/s,flows,method,time";
  enum status status = STATUS_OK;
  if (plan->skip_count < plan->case_count) {
    struct table *table = TABLE_OPEN(&lean, COLUMNS, err);
    plan_print_cases(plan, table, err);
    status = table_close(table, err);
  } else {
    const struct output output = {.stream = options->stream, .width = options->width};
    output_wrapped(&output, "",
                   plan->case_count == 1 ? "nothing to measure: the only case is skipped"
                                         : "nothing to measure: every case is skipped");
  }
  return THEN(status, plan_print_below(plan, processes, details, options, err));
}

enum status plan_render(const struct plan *plan, uint32_t processes, bool details,
                        const struct table_options *options, struct error *err) {
  switch (output_layout_of(options->format)) {
  case LAYOUT_PAGE:
    return plan_print_page(plan, processes, details, options, err);
  case LAYOUT_OBJECT:
    return plan_print_json(plan, processes, options->stream, err);
  case LAYOUT_DIGEST:
  case LAYOUT_ROWS:
    break;
  }
  return plan_print_rows(plan, options, err);
}
