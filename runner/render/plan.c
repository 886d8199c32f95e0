#include "runner/render/plan.h"

#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "runner/document/document.h"
#include "runner/plan/kind.h"
#include "schema/scenario/scenario.h"

#include <string.h>

enum { PLAN_CASES_SHOWN = 24, BLOCK_WIDTH = 48, DUPLICATES_SHOWN_MAX = 5 };

/* The part of a name between path and size: its axes. */
static const char *plan_settings(struct arena *arena, const struct plan_case *c) {
  const char *rest = c->def.name + strlen(c->def.block) + 1 + strlen(c->def.path);
  const char *text = "";
  while (*rest == '/') {
    const size_t length = strcspn(rest + 1, "/");
    if (memchr(rest + 1, '=', length) != NULL) {
      text =
          arena_format(arena, "%s%s%.*s", text, text[0] != '\0' ? " " : "", (int)length, rest + 1);
    }
    rest += 1 + length;
  }
  return text;
}

static uint64_t plan_size(const struct plan_case *c) {
  const struct plan_kind *kind = plan_kinds[c->def.kind];
  return kind->size_bytes != NULL ? kind->size_bytes(&c->def) : 0;
}

static const char *plan_common_method(const struct plan_case *c) {
  for (uint32_t i = 1; i < c->def.flow_count; i++) {
    if (c->def.flows[i].role == FLOW_MEASURED && c->def.flows[i].method != c->def.flows[0].method) {
      return "mixed";
    }
  }
  return c->def.flow_count > 0 ? method_text(c->def.flows[0].method) : NULL;
}

static bool plan_has_flows(const struct plan *plan) {
  return ANY_OF(i, plan->case_count,
                plan->cases[i].skip_reason == NULL && plan->cases[i].def.flow_count > 1);
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
  const struct case_def *def = &c->def;
  const bool moves = def->kind == CASE_TRANSFER;
  const bool bytes = !limit_is_of_operations(def->limit);
  const uint64_t peak = bytes ? def->peak_bytes_per_second : 0;
  return (struct plan_line){
      .first = c,
      .cases = 1,
      .size = plan_size(c),
      .size_most = plan_size(c),
      .peak = peak,
      .peak_most = peak,
      .flows = moves ? def->flow_count : 0,
      .flows_most = moves ? def->flow_count : 0,
      .estimate_ns = c->estimate_ns,
      .method = moves ? plan_common_method(c) : case_kind_text(def->kind),
      .limit = peak > 0 || !bytes ? limit_text(def->limit) : "",
  };
}

static void plan_line_add(struct plan_line *line, const struct plan_line *next) {
  line->many_paths = line->many_paths || strcmp(line->first->def.path, next->first->def.path) != 0;
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
  return arena_strdup(arena, units_format_duration_short(line->estimate_ns, UNITS_TEXT));
}

static const char *plan_line_path(struct arena *arena, const struct plan_line *line) {
  return line->many_paths ? arena_format(arena, "%s ...", line->first->def.path)
                          : line->first->def.path;
}

/* The columns for people, and their cells. Those without a value are left out. */
#define PLAN_TABLE_COLUMNS(X)                                                                      \
  X("block", text, line.first->def.block)                                                          \
  X("cases", known, by_block, (int64_t)line.cases)                                                 \
  X("path", text, plan_line_path(arena, &line))                                                    \
  X("size", text, plan_line_sizes(arena, &line))                                                   \
  X("settings", words, by_block ? NULL : plan_settings(arena, line.first), TONE_NONE)              \
  X("method", text, line.method)                                                                   \
  X("flows", known, flows &&line.flows > 0 && line.flows == line.flows_most, line.flows)           \
  X("peak GB/s", text,                                                                             \
    line.peak == 0 ? ""                                                                            \
                   : plan_range(arena, arena_format(arena, "%.4g", (double)line.peak / 1e9),       \
                                arena_format(arena, "%.4g", (double)line.peak_most / 1e9)))        \
  X("limit", text, line.limit)                                                                     \
  X("time", text, plan_line_time(arena, &line))

static void plan_put_cases(struct document *document, const struct plan *plan, bool by_block) {
  struct arena *arena = &document->arena;
  const bool flows = plan_has_flows(plan);
  DOCUMENT_COLUMNS(document, PLAN_TABLE_COLUMNS,
                   .narrow = by_block ? "limit,peak GB/s,flows,method,path,time"
                                      : "limit,peak GB/s,flows,method,time",
                   .listed_min = by_block ? BLOCK_WIDTH : 0);
  for (size_t i = 0; i < plan->case_count; i++) {
    if (plan->cases[i].skip_reason != NULL) {
      continue;
    }
    struct plan_line line = plan_line_of(&plan->cases[i]);
    for (; by_block && i + 1 < plan->case_count &&
           strcmp(plan->cases[i + 1].def.block, line.first->def.block) == 0;
         i++) {
      if (plan->cases[i + 1].skip_reason == NULL) {
        const struct plan_line next = plan_line_of(&plan->cases[i + 1]);
        plan_line_add(&line, &next);
      }
    }
    DOCUMENT_ROW(document, PLAN_TABLE_COLUMNS(COLUMN_CELL));
  }
  document_table_end(document);
}

/* ---- below the table ---- */

static void plan_put_skip_group(struct document *document, const struct skip_group *group) {
  const char *names = "";
  for (size_t i = 0; i < group->count && i < SKIP_GROUP_CASES_MAX; i++) {
    names = arena_add_word(&document->arena, names, group->cases[i]->def.name);
  }
  document_put_behind(document, arena_format(&document->arena, "%6zu  ", group->count), "%s",
                      group->reason);
  document_put_behind(document, "        ", "%s",
                      group->count > SKIP_GROUP_CASES_MAX
                          ? arena_format(&document->arena, "%s and %zu more", names,
                                         group->count - SKIP_GROUP_CASES_MAX)
                          : names);
}

static void plan_put_skipped(struct document *document, const struct plan *plan) {
  const struct skip_group *groups = NULL;
  const size_t count = plan_group_skipped(plan, &document->arena, &groups);
  if (count > 0) {
    document_part(document, "Skipped: %zu", plan->skip_count);
  }
  for (size_t i = 0; i < count; i++) {
    plan_put_skip_group(document, &groups[i]);
  }
}

static void plan_put_duplicates(struct document *document, const struct plan *plan) {
  if (plan->duplicate_count == 0) {
    return;
  }
  document_part(document, "Measured once: %zu", plan->duplicate_count);
  for (size_t i = 0; i < plan->duplicate_count && i < DUPLICATES_SHOWN_MAX; i++) {
    document_put_behind(document, "        ", "%s is %s %s", plan->duplicates[i].name,
                        plan->duplicates[i].same_measure ? "the same measurement as"
                                                         : "measured with the settings of",
                        plan->duplicates[i].same_as);
  }
  if (plan->duplicate_count > DUPLICATES_SHOWN_MAX) {
    document_put_behind(document, "        ", "and %zu more",
                        plan->duplicate_count - DUPLICATES_SHOWN_MAX);
  }
}

/* "; at most 2 GiB of host memory"; "" for 0. */
static const char *plan_memory(struct arena *arena, const char *before, uint64_t bytes,
                               const char *after) {
  return bytes > 0 ? arena_format(arena, "%s%s%s", before,
                                  units_format_size_short(bytes, UNITS_TEXT), after)
                   : "";
}

/* "BEFORE 20 s AFTER" */
static const char *plan_time(struct arena *arena, const char *before, uint64_t ns,
                             const char *after) {
  return arena_format(arena, "%s%s%s", before, units_format_duration_short(ns, UNITS_TEXT), after);
}

static void plan_put_totals(struct document *document, const struct plan *plan, uint32_t processes,
                            bool by_block) {
  struct arena *arena = &document->arena;
  const size_t measured = plan->case_count - plan->skip_count;
  const struct run_settings *run = plan->scenario != NULL ? &plan->scenario->run : NULL;
  const char *time = measured > 0 ? plan_time(arena, "; about ", plan->estimate_ns, "") : "";
  const char *start = measured > 0 ? plan_time(arena, " (", plan->start_ns, " to start)") : "";
  if (measured > 0 && processes > 1) {
    time = plan_time(arena, arena_format(arena, "%s per process%s, ", time, start),
                     plan_total_ns(plan, processes),
                     arena_format(arena, " for %u processes", processes));
    time =
        run != NULL && run->pause_ns > 0
            ? plan_time(arena, arena_format(arena, "%s with pauses of ", time), run->pause_ns, "")
            : time;
  } else {
    time = arena_format(arena, "%s%s", time, start);
  }
  if (measured > 0 && plan_settle_ns(plan, processes) > 0) {
    time = plan_time(arena, arena_format(arena, "%s, and up to ", time),
                     plan_settle_ns(plan, processes), " to measure noisy cases again");
  }
  document_gap(document);
  document_put(document, "%zu case%s%s%s%s%s%s%s", plan->case_count,
               strings_plural(plan->case_count, "", "s"),
               measured == 0 ? ", none measured"
               : plan->skip_count > 0
                   ? arena_format(arena, ", %zu of them skipped", plan->skip_count)
                   : "",
               time,
               measured > 0 && run != NULL && run->budget_ns > 0
                   ? plan_time(arena, ", of the ", run->budget_ns, " that it may take")
                   : "",
               plan_memory(arena, "; at most ", plan->host_bytes, " of host memory"),
               plan_memory(arena, plan->host_bytes > 0 ? " and " : "; at most ", plan->gpu_bytes,
                           " on a GPU"),
               by_block ? "; -v lists every case" : "");
}

/* ---- one row per case ---- */

/* The columns of one row per case, and their cells. */
#define PLAN_COLUMNS(X)                                                                            \
  X("case", text, def->name)                                                                       \
  X("block", text, def->block)                                                                     \
  X("path", text, def->path)                                                                       \
  X("axes", text, c->axes)                                                                         \
  X("method", text, plan_common_method(c))                                                         \
  X("flows", integer, def->flow_count)                                                             \
  X("size_bytes", known, size_bytes > 0, (int64_t)size_bytes)                                      \
  X("payload_bytes", integer, (int64_t)def->payload_bytes)                                         \
  X("limit", text, limit_text(def->limit))                                                         \
  X("peak_bytes_per_second", known,                                                                \
    def->peak_bytes_per_second > 0 && !limit_is_of_operations(def->limit),                         \
    (int64_t)def->peak_bytes_per_second)                                                           \
  X("estimate_ns", integer, (int64_t)c->estimate_ns)                                               \
  X("host_bytes", integer, (int64_t)c->host_bytes)                                                 \
  X("gpu_bytes", integer, (int64_t)c->gpu_bytes)                                                   \
  X("case_key", text, def->key)                                                                    \
  X("skip_reason", text, c->skip_reason)                                                           \
  X("kind", text, case_kind_text(def->kind))

static void plan_put_rows(struct document *document, const struct plan *plan) {
  DOCUMENT_COLUMNS(document, PLAN_COLUMNS, 0);
  for (size_t i = 0; i < plan->case_count; i++) {
    const struct plan_case *c = &plan->cases[i];
    const struct case_def *def = &c->def;
    const uint64_t size_bytes = plan_size(c);
    DOCUMENT_ROW(document, PLAN_COLUMNS(COLUMN_CELL));
  }
  document_table_end(document);
}

static void plan_put(struct document *document, const struct plan *plan, uint32_t processes,
                     bool details) {
  const bool by_block = plan_is_by_block(plan, details);
  if (plan->abort_reason != NULL) {
    document_put_toned(document, TONE_BAD, "nothing to measure: the run would abort: %s",
                       plan->abort_reason);
  } else if (plan->skip_count < plan->case_count) {
    plan_put_cases(document, plan, by_block);
  } else {
    document_put(document, "nothing to measure: %s is skipped",
                 plan->case_count == 1 ? "the only case" : "every case");
  }
  if (details) {
    plan_put_details(document, plan);
  }
  if (plan->abort_reason != NULL) {
    return;
  }
  plan_put_skipped(document, plan);
  plan_put_duplicates(document, plan);
  plan_put_totals(document, plan, processes, by_block);
}

enum status plan_render(const struct plan *plan, uint32_t processes, bool details,
                        const struct table_options *options, struct error *err) {
  struct document document;
  if (output_layout_of(options->format) == LAYOUT_OBJECT) {
    return plan_print_json(plan, processes, options->stream, err);
  }
  document_begin(&document, options, err);
  if (document_is_for_people(&document)) {
    plan_put(&document, plan, processes, details);
  } else {
    plan_put_rows(&document, plan);
  }
  return document_end(&document);
}
