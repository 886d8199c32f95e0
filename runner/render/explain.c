#include "runner/render/explain.h"

#include "engine/base/strbuf.h"
#include "engine/base/strings.h"
#include "runner/table/output.h"
#include "runner/table/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 1 << 20, BLOCKS_SHOWN = 4, SHORTFALLS_SHOWN = 6 };

/* Cases that are behind by less are not: places differ by so much. */
#define BEHIND_MIN 0.01

/* ---- rows ---- */

#define EXPLAIN_COLUMNS(X)                                                                         \
  X("rule", cell_text(row->rule->name))                                                            \
  X("kind", cell_text(row->rule->note ? "note" : "finding"))                                       \
  X("state", cell_text(explain_state_text(row->state)))                                            \
  X("gpu", row->gpu >= 0 ? cell_integer(row->gpu) : cell_null())                                   \
  X("evidence", cell_text(row->evidence))                                                          \
  X("cases", touches ? cell_integer((int64_t)row->cases) : cell_null())                            \
  X("blocks", cell_text(row->blocks))                                                              \
  X("worst_case", cell_text(row->worst))                                                           \
  X("behind_percent", cell_finite(100 * row->behind))                                              \
  X("gbps", cell_finite(row->gbps))                                                                \
  X("best_gbps", cell_finite(row->best_gbps))                                                      \
  X("below_expected", touches ? cell_integer((int64_t)row->shortfalls) : cell_null())              \
  X("lack_percent", cell_finite(100 * row->lack))                                                  \
  X("title", cell_text(row->rule->title))                                                          \
  X("costs", cell_text(row->rule->costs))                                                          \
  X("action", cell_text(row->rule->action))                                                        \
  X("reads", cell_text(row->rule->reads))                                                          \
  X("source", cell_text(row->rule->source))

static enum status explain_print_rows(const struct explanation *explanation,
                                      const struct table_options *options, struct error *err) {
  static const char *const COLUMNS[] = {EXPLAIN_COLUMNS(COLUMN_NAME)};
  struct table *table = TABLE_OPEN(options, COLUMNS, err);
  for (size_t i = 0; i < explanation->row_count; i++) {
    const struct explain_row *row = &explanation->rows[i];
    const bool touches = row->state == EXPLAIN_FOUND && explanation->run_uuid != NULL;
    const struct cell cells[] = {EXPLAIN_COLUMNS(COLUMN_CELL)};
    table_add(table, cells, err);
  }
  return table_close(table, err);
}

#define EXPLAIN_RULE_COLUMNS(X)                                                                    \
  X("rule", cell_text(rule->name))                                                                 \
  X("kind", cell_text(rule->note ? "note" : "finding"))                                            \
  X("finds", cell_text(rule->title))                                                               \
  X("reads", cell_text(rule->reads))                                                               \
  X("touches", cell_text(rule->touches))                                                           \
  X("costs", cell_text(rule->costs))                                                               \
  X("action", cell_text(rule->action))                                                             \
  X("source", cell_text(rule->source))

enum status explain_print_rules(const struct explain_rules *rules,
                                const struct table_options *options, struct error *err) {
  static const char *const COLUMNS[] = {EXPLAIN_RULE_COLUMNS(COLUMN_NAME)};
  struct table_options lean = *options;
  lean.narrow = "source,action,costs,touches,reads,kind";
  struct table *table = TABLE_OPEN(&lean, COLUMNS, err);
  for (size_t i = 0; i < rules->count; i++) {
    const struct explain_rule *rule = &rules->items[i];
    const struct cell cells[] = {EXPLAIN_RULE_COLUMNS(COLUMN_CELL)};
    table_add(table, cells, err);
  }
  return table_close(table, err);
}

/* ---- text ---- */

struct explain_printer {
  const struct explanation *explanation;
  const struct explain_request *request;
  struct output output;
  bool verbose;
  struct arena arena;
};

/* output_heading() in several lines where it is too long for one. */
static void explain_put_heading(const struct explain_printer *printer, const char *heading) {
  struct strbuf lines;
  strbuf_init(&lines, TEXT_MAX);
  text_wrap(&lines, heading, printer->output.width, 0, false);
  output_gap(&printer->output);
  output_heading(&printer->output, lines.text);
  strbuf_fini(&lines);
}

/* A paragraph behind "    KEY  ", or "    " alone (NULL), free of control characters. */
static void explain_put(const struct explain_printer *printer, const char *key, const char *text) {
  char first[32] = "    ";
  struct strbuf escaped;
  if (key != NULL) {
    (void)snprintf(first, sizeof first, "    %-8s  ", key);
  }
  strbuf_init(&escaped, TEXT_MAX);
  text_append(&escaped, text);
  output_wrapped(&printer->output, first, escaped.text);
  strbuf_fini(&escaped);
}

/* "gpu0, gpu2: ecc = on", or "all GPUs: ...": rows with the same evidence as rows[i], of count; ""
 * = they were shown with an earlier one. */
static const char *explain_evidence(struct explain_printer *printer, size_t first, size_t count,
                                    size_t i) {
  const struct explain_row *rows = printer->explanation->rows;
  const char *evidence = rows[i].evidence != NULL ? rows[i].evidence : "";
  const char *gpus = "";
  int gpu_count = 0;
  for (size_t j = first; j < first + count; j++) {
    if (strcmp(rows[j].evidence != NULL ? rows[j].evidence : "", evidence) != 0) {
      continue;
    }
    if (j < i) {
      return "";
    }
    if (rows[j].gpu >= 0) {
      gpus = arena_add_word(&printer->arena, gpus,
                            arena_format(&printer->arena, "gpu%d", rows[j].gpu));
      gpu_count++;
    }
  }
  gpus = gpu_count > 1 && gpu_count == printer->explanation->gpu_count ? "all GPUs" : gpus;
  return gpus[0] == '\0'       ? evidence
         : evidence[0] == '\0' ? gpus
                               : arena_format(&printer->arena, "%s: %s", gpus, evidence);
}

/* The first blocks of a list, and how many there are. */
static const char *explain_blocks(struct explain_printer *printer, const char *blocks) {
  const char *end = blocks;
  size_t count = 1;
  for (const char *at = strings_next_word(blocks); at != NULL; at = strings_next_word(at)) {
    end = count == BLOCKS_SHOWN ? at - 2 : end;
    count++;
  }
  return count <= BLOCKS_SHOWN ? blocks
                               : arena_format(&printer->arena, "%.*s ... (%zu blocks)",
                                              (int)(end - blocks), blocks, count);
}

/* Of the cases that these rows touch, those below what is expected, the worst of them. */
static void explain_put_shortfalls(struct explain_printer *printer, size_t first, size_t count) {
  const struct explain_row *rows = printer->explanation->rows;
  const struct explain_request *request = printer->request;
  const struct explain_row *worst = &rows[first];
  for (size_t i = first; i < first + count; i++) {
    worst = isnan(worst->lack) || rows[i].lack > worst->lack ? &rows[i] : worst;
  }
  for (size_t i = 0; i < request->shortfall_count && worst->shortfalls > 0; i++) {
    const struct explain_shortfall *shortfall = &request->shortfalls[i];
    if (shortfall->touched && shortfall->lack == worst->lack) {
      explain_put(printer, "below",
                  arena_format(&printer->arena,
                               "what is expected in %zu of them, most of all %s: %s",
                               worst->shortfalls, shortfall->name, shortfall->words));
      return;
    }
  }
}

/* What is below what is expected and no finding touches. */
static void explain_put_unexplained(struct explain_printer *printer) {
  const struct explain_request *request = printer->request;
  size_t count = 0;
  for (size_t i = 0; i < request->shortfall_count; i++) {
    const struct explain_shortfall *shortfall = &request->shortfalls[i];
    if (shortfall->touched) {
      continue;
    }
    if (count == 0) {
      explain_put_heading(printer, "Below what is expected, and no rule found why");
    }
    if (count++ < SHORTFALLS_SHOWN) {
      explain_put(printer, NULL,
                  arena_format(&printer->arena, "%s: %s", shortfall->name, shortfall->words));
    }
  }
  if (count > SHORTFALLS_SHOWN) {
    explain_put(printer, NULL,
                arena_format(&printer->arena, "and %zu more: haul check --expect",
                             count - SHORTFALLS_SHOWN));
  }
}

/* The row of these that touches most cases, and the one whose worst case is furthest behind. */
static void explain_put_cases(struct explain_printer *printer, size_t first, size_t count) {
  const struct explain_row *rows = printer->explanation->rows;
  const struct explain_row *most = &rows[first];
  const struct explain_row *worst = &rows[first];
  for (size_t i = first; i < first + count; i++) {
    most = rows[i].cases > most->cases ? &rows[i] : most;
    worst = isnan(worst->behind) || rows[i].behind > worst->behind ? &rows[i] : worst;
  }
  if (printer->explanation->run_uuid == NULL) {
    return;
  }
  explain_put(printer, "touches",
              most->cases == 0
                  ? "no case that this run measured"
                  : arena_format(&printer->arena, "%zu of %zu cases%s: %s", most->cases,
                                 printer->explanation->cases, count > 1 ? " each" : "",
                                 explain_blocks(printer, most->blocks)));
  explain_put_shortfalls(printer, first, count);
  if (worst->worst == NULL || worst->behind < BEHIND_MIN) {
    return;
  }
  if (!isnan(worst->gbps)) {
    explain_put(printer, "worst",
                arena_format(&printer->arena, "%s: %.1f GB/s, %.1f %% below the best place (%.1f)",
                             worst->worst, worst->gbps, 100 * worst->behind, worst->best_gbps));
  } else {
    explain_put(printer, "worst",
                arena_format(&printer->arena, "%s: takes %.1f %% longer than the best place",
                             worst->worst, 100 * worst->behind / (1 - worst->behind)));
  }
}

static void explain_put_finding(struct explain_printer *printer, size_t first, size_t count) {
  const struct explain_row *rows = printer->explanation->rows;
  const struct explain_rule *rule = rows[first].rule;
  explain_put_heading(printer, arena_format(&printer->arena, "%s [%s]", rule->title, rule->name));
  for (size_t i = first; i < first + count; i++) {
    const char *evidence = explain_evidence(printer, first, count, i);
    if (evidence[0] != '\0') {
      explain_put(printer, i == first ? "evidence" : "", evidence);
    }
  }
  explain_put_cases(printer, first, count);
  explain_put(printer, "do", rule->action);
  explain_put(printer, "usually", rule->costs);
  explain_put(printer, "recorded", rule->reads);
  explain_put(printer, "source", rule->source);
}

/* Rules in one state, one line each, with their evidence; `lead` is the heading. */
static void explain_put_list(struct explain_printer *printer, const char *lead, bool notes,
                             enum explain_state state) {
  const struct explanation *explanation = printer->explanation;
  bool any = false;
  for (size_t i = 0; i < explanation->row_count; i += explain_same_rule(explanation, i)) {
    const struct explain_row *row = &explanation->rows[i];
    const size_t count = explain_same_rule(explanation, i);
    if (row->state != state || (state == EXPLAIN_FOUND && row->rule->note != notes)) {
      continue;
    }
    if (!any) {
      explain_put_heading(printer, lead);
      any = true;
    }
    struct strbuf text;
    strbuf_init(&text, TEXT_MAX);
    for (size_t j = i; j < i + count; j++) {
      const char *evidence = explain_evidence(printer, i, count, j);
      strbuf_append(&text, evidence[0] != '\0' && text.length > 0 ? "; " : "");
      text_append(&text, evidence);
    }
    output_wrapped(&printer->output, arena_format(&printer->arena, "    %-20s  ", row->rule->name),
                   text.text);
    strbuf_fini(&text);
  }
}

/* Whether it was found at some other GPU. */
static bool explain_is_found(const struct explanation *explanation,
                             const struct explain_rule *rule) {
  for (size_t i = 0; i < explanation->row_count; i++) {
    if (explanation->rows[i].rule == rule && explanation->rows[i].state == EXPLAIN_FOUND) {
      return true;
    }
  }
  return false;
}

/* Names of the rules in that state; of those that found something, the findings. */
static void explain_append_names(struct strbuf *names, const struct explanation *explanation,
                                 enum explain_state state) {
  for (size_t i = 0; i < explanation->row_count; i += explain_same_rule(explanation, i)) {
    const struct explain_row *row = &explanation->rows[i];
    if (row->state == state &&
        (state == EXPLAIN_FOUND ? !row->rule->note : !explain_is_found(explanation, row->rule))) {
      strbuf_append_word(names, row->rule->name);
    }
  }
}

static void explain_put_names(struct explain_printer *printer, const char *lead,
                              enum explain_state state) {
  struct strbuf names;
  strbuf_init(&names, TEXT_MAX);
  explain_append_names(&names, printer->explanation, state);
  if (names.length > 0) {
    explain_put_heading(printer, lead);
    explain_put(printer, NULL, names.text);
  }
  strbuf_fini(&names);
}

/* Which run, or machine, this is about. */
static void explain_put_foot(struct explain_printer *printer) {
  const struct explanation *explanation = printer->explanation;
  struct strbuf text;
  strbuf_init(&text, TEXT_MAX);
  if (explanation->run_uuid != NULL) {
    strbuf_printf(&text, "run %" PRId64 " of ", printer->request->run);
    text_append(&text, explanation->scenario);
    strbuf_printf(&text, ", %s UTC, on ", explanation->started_at);
  }
  text_append(&text, explanation->host[0] != '\0' ? explanation->host : "a machine without a name");
  strbuf_append(&text, ", ");
  if (explanation->gpu_count > 0) {
    strbuf_printf(&text, "%d x ", explanation->gpu_count);
  }
  text_append(&text, explanation->gpus);
  output_gap(&printer->output);
  output_wrapped(&printer->output, "", text.text);
  strbuf_fini(&text);
}

/* What is slow, then how many causes are known. */
static void explain_put_head(struct explain_printer *printer) {
  const struct explanation *explanation = printer->explanation;
  const struct explain_request *request = printer->request;
  const struct output *output = &printer->output;
  struct arena *arena = &printer->arena;
  struct strbuf text;
  strbuf_init(&text, TEXT_MAX);
  for (size_t i = 0; i < request->slow_count; i++) {
    output_wrapped(output, "", request->slow[i]);
  }
  if (request->shortfall_count > 0) {
    const struct explain_shortfall *worst = &request->shortfalls[0];
    for (size_t i = 1; i < request->shortfall_count; i++) {
      worst = request->shortfalls[i].lack > worst->lack ? &request->shortfalls[i] : worst;
    }
    text_append(&text, worst->name);
    strbuf_append(&text, ": ");
    text_append(&text, worst->words);
    output_wrapped(
        output, "",
        arena_format(arena, "%zu %s below what is expected, the worst %s", request->shortfall_count,
                     strings_plural(request->shortfall_count, "case is", "cases are"), text.text));
  }
  if (explanation->wrong > 0) {
    strbuf_clear(&text);
    text_append(&text, explanation->wrong_case);
    output_wrapped(output, "",
                   arena_format(arena, "%zu %s no value%s%s", explanation->wrong,
                                strings_plural(explanation->wrong, "case has", "cases have"),
                                explanation->wrong > 1 ? ", such as " : ": ", text.text));
  }
  if (request->compared > 0 && request->slow_count == 0) {
    output_wrapped(output, "",
                   arena_format(arena, "No slow GPU, link or host (%zu results compared).",
                                request->compared));
  }
  strbuf_clear(&text);
  if (explanation->findings == 0) {
    strbuf_append(&text, "No known cause found");
  } else {
    struct strbuf names;
    strbuf_init(&names, TEXT_MAX);
    explain_append_names(&names, explanation, EXPLAIN_FOUND);
    strbuf_printf(&text, "%zu %s found: %s", explanation->findings,
                  strings_plural(explanation->findings, "cause", "causes"), names.text);
    strbuf_fini(&names);
  }
  strbuf_printf(&text, " (%zu rules checked).",
                explanation->findings + explanation->notes + explanation->fine);
  output_wrapped(output, "", text.text);
  strbuf_fini(&text);
}

enum status explain_print(const struct explanation *explanation,
                          const struct explain_request *request, bool verbose,
                          const struct table_options *options, struct error *err) {
  if (options->format != OUTPUT_TABLE) {
    return explain_print_rows(explanation, options, err);
  }
  struct explain_printer printer = {
      .explanation = explanation,
      .request = request,
      .output = {options->stream, options->width, options->colour, NULL},
      .verbose = verbose,
  };
  const char *looked =
      arena_format(&printer.arena, "Looked at, and nothing found (%zu of %zu rules)",
                   explanation->fine, explanation->rules.count);
  errno = 0;
  explain_put_head(&printer);
  for (size_t i = 0; i < explanation->row_count; i += explain_same_rule(explanation, i)) {
    if (explanation->rows[i].state == EXPLAIN_FOUND && !explanation->rows[i].rule->note) {
      explain_put_finding(&printer, i, explain_same_rule(explanation, i));
    }
  }
  explain_put_unexplained(&printer);
  explain_put_list(&printer, "Notes: usual on some machines, and nothing to fix", true,
                   EXPLAIN_FOUND);
  explain_put_list(&printer, "Not known, and so not ruled out", false, EXPLAIN_UNKNOWN);
  if (verbose) {
    explain_put_list(&printer, looked, false, EXPLAIN_NOT_FOUND);
  } else {
    explain_put_names(&printer, looked, EXPLAIN_NOT_FOUND);
  }
  if (verbose) {
    explain_put_names(&printer, "Does not apply", EXPLAIN_ABSENT);
  }
  explain_put_foot(&printer);
  arena_fini(&printer.arena);
  return output_check(&printer.output, err);
}
