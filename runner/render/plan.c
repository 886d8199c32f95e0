#include "runner/render/plan.h"

#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "runner/plan/kind.h"
#include "runner/table/output.h"
#include "runner/table/text.h"
#include "schema/scenario/scenario.h"

#include <inttypes.h>
#include <string.h>

enum { PLAN_CASES_SHOWN = 24, BLOCK_WIDTH = 48, DUPLICATES_SHOWN_MAX = 5, TEXT_MAX = 1 << 20 };

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

/* Many cases are a row per block, which -v spells out. */
static bool plan_is_by_block(const struct plan *plan, bool details) {
  return !details && plan->case_count - plan->skip_count > PLAN_CASES_SHOWN;
}

/* A row of the table: one case, or those of a block that will be measured. */
struct plan_line {
  const struct plan_case *first;
  size_t cases;
  bool many_paths;
  uint64_t size, size_most; /* bytes */
  uint64_t peak, peak_most; /* bytes per second */
  uint32_t flows, flows_most;
  uint64_t estimate_ns;
  const char *method, *limit;
};

static const char *plan_same_or_mixed(const char *a, const char *b) {
  return a != NULL && b != NULL && strcmp(a, b) == 0 ? a : "mixed";
}

static struct plan_line plan_line_of(const struct plan_case *c) {
  const struct bench_case *bench = &c->bench;
  const bool moves = bench->kind == CASE_TRANSFER;
  const uint64_t peak = bench->peak_bytes_per_second;
  return (struct plan_line){
      .first = c,
      .cases = 1,
      .size = plan_size(c),
      .size_most = plan_size(c),
      .peak = peak,
      .peak_most = peak,
      .flows = moves ? bench->flow_count : 0,
      .flows_most = moves ? bench->flow_count : 0,
      .estimate_ns = c->estimate_ns,
      .method = moves ? plan_common_method(c) : case_kind_text(bench->kind),
      .limit = peak > 0 ? limit_text(bench->limit) : "",
  };
}

static void plan_line_add(struct plan_line *line, const struct plan_line *next) {
  line->many_paths =
      line->many_paths || strcmp(line->first->bench.path, next->first->bench.path) != 0;
  line->size = next->size < line->size ? next->size : line->size;
  line->size_most = next->size > line->size_most ? next->size : line->size_most;
  line->peak = next->peak < line->peak ? next->peak : line->peak;
  line->peak_most = next->peak > line->peak_most ? next->peak : line->peak_most;
  line->flows = next->flows < line->flows ? next->flows : line->flows;
  line->flows_most = next->flows > line->flows_most ? next->flows : line->flows_most;
  line->estimate_ns += next->estimate_ns;
  line->method = plan_same_or_mixed(line->method, next->method);
  line->limit = plan_same_or_mixed(line->limit, next->limit);
  line->cases++;
}

/* "4KiB", or "4KiB-256MiB". */
static const char *plan_range(struct arena *arena, const char *least, const char *most) {
  return strcmp(least, most) == 0 ? arena_strdup(arena, least)
                                  : arena_format(arena, "%s-%s", least, most);
}

static const char *plan_line_sizes(struct arena *arena, const struct plan_line *line) {
  char least[UNITS_TEXT_MAX] = "";
  char most[UNITS_TEXT_MAX] = "";
  if (line->size > 0) {
    units_format_size(line->size, least);
    units_format_size(line->size_most, most);
  }
  return plan_range(arena, least, most);
}

static const char *plan_line_time(struct arena *arena, const struct plan_line *line) {
  char time[UNITS_TEXT_MAX];
  units_format_duration_short(line->estimate_ns, time);
  return arena_strdup(arena, time);
}

static const char *plan_line_path(struct arena *arena, const struct plan_line *line) {
  return line->many_paths ? arena_format(arena, "%s ...", line->first->bench.path)
                          : line->first->bench.path;
}

/* The columns for people, and their cells. Those without a value are left out. */
#define PLAN_TABLE_COLUMNS(X)                                                                      \
  X("block", cell_text(line.first->bench.block))                                                   \
  X("cases", by_block ? cell_integer((int64_t)line.cases) : cell_null())                           \
  X("path", cell_text(plan_line_path(&arena, &line)))                                              \
  X("size", cell_text(plan_line_sizes(&arena, &line)))                                             \
  X("settings", cell_words(settings.text, TONE_NONE))                                              \
  X("method", cell_text(line.method))                                                              \
  X("flows", flows &&line.flows > 0 && line.flows == line.flows_most ? cell_integer(line.flows)    \
                                                                     : cell_null())                \
  X("peak GB/s",                                                                                   \
    cell_text(line.peak == 0                                                                       \
                  ? ""                                                                             \
                  : plan_range(&arena, arena_format(&arena, "%.4g", (double)line.peak / 1e9),      \
                               arena_format(&arena, "%.4g", (double)line.peak_most / 1e9))))       \
  X("limit", cell_text(line.limit))                                                                \
  X("time", cell_text(plan_line_time(&arena, &line)))

static void plan_print_cases(const struct plan *plan, bool by_block, struct table *table,
                             struct error *err) {
  const bool flows = plan_has_flows(plan);
  struct arena arena = {0};
  struct strbuf settings;
  strbuf_init(&settings, TEXT_MAX);
  for (size_t i = 0; i < plan->case_count; i++) {
    if (plan->cases[i].skip_reason != NULL) {
      continue;
    }
    struct plan_line line = plan_line_of(&plan->cases[i]);
    strbuf_clear(&settings);
    if (!by_block) {
      plan_append_settings(line.first, &settings);
    }
    for (; by_block && i + 1 < plan->case_count &&
           strcmp(plan->cases[i + 1].bench.block, line.first->bench.block) == 0;
         i++) {
      if (plan->cases[i + 1].skip_reason == NULL) {
        const struct plan_line next = plan_line_of(&plan->cases[i + 1]);
        plan_line_add(&line, &next);
      }
    }
    const struct cell cells[] = {PLAN_TABLE_COLUMNS(COLUMN_CELL)};
    table_add(table, cells, err);
  }
  strbuf_fini(&settings);
  arena_fini(&arena);
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

static void plan_append_totals(const struct plan *plan, uint32_t processes, bool by_block,
                               struct strbuf *text) {
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
  strbuf_append(text, by_block ? "; -v lists every case" : "");
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
  plan_append_totals(plan, processes, plan_is_by_block(plan, details), &text);
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
  const bool by_block = plan_is_by_block(plan, details);
  lean.narrow =
      by_block ? "limit,peak GB/s,flows,method,path,time" : "limit,peak GB/s,flows,method,time";
  lean.listed_min = by_block ? BLOCK_WIDTH : 0;
  enum status status = STATUS_OK;
  if (plan->skip_count < plan->case_count) {
    struct table *table = TABLE_OPEN(&lean, COLUMNS, err);
    plan_print_cases(plan, by_block, table, err);
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
