#include "runner/render/explain.h"

#include "engine/base/strings.h"
#include "runner/document/document.h"
#include "runner/table/json_shape.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define EXPLAIN_RULE_HINT "haul explain --rules NAME prints a rule in full"

enum { BLOCKS_SHOWN = 4, SHORTFALLS_SHOWN = 6, RULE_WIDTH = 20 };

/* Cases that are behind by less are not: places differ by so much. */
#define BEHIND_MIN 0.01

/* "32 cases below 32 KiB" of "{cases} below 32 KiB"; noted: behind the count. NULL = no evidence.
 */
static const char *explain_evidence_words(struct arena *arena, const struct explain_row *row,
                                          const char *noted) {
  static const char CASES[] = "{cases}";
  if (row->evidence == NULL || strncmp(row->evidence, CASES, sizeof CASES - 1) != 0) {
    return row->evidence;
  }
  return arena_format(arena, "%zu %s%s%s", row->cases_of_run,
                      strings_plural(row->cases_of_run, "case", "cases"), noted,
                      row->evidence + sizeof CASES - 1);
}

/* ---- rows ---- */

#define EXPLAIN_COLUMNS(X)                                                                         \
  X("rule", text, row->rule->name)                                                                 \
  X("kind", text, row->rule->note ? "note" : "finding")                                            \
  X("state", text, explain_state_text(row->state))                                                 \
  X("gpu", known, row->gpu >= 0, row->gpu)                                                         \
  X("evidence", text, explain_evidence_words(&document->arena, row, ""))                           \
  X("cases", known, touches, (int64_t)row->cases)                                                  \
  X("blocks", text, row->blocks)                                                                   \
  X("worst_case", text, row->worst)                                                                \
  X("behind_percent", finite, 100 * row->behind)                                                   \
  X("gbps", finite, row->gbps)                                                                     \
  X("best_gbps", finite, row->best_gbps)                                                           \
  X("below_expected", known, touches, (int64_t)row->shortfalls)                                    \
  X("lack_percent", finite, 100 * row->lack)                                                       \
  X("title", text, row->rule->title)                                                               \
  X("costs", text, row->rule->costs)                                                               \
  X("action", text, row->rule->action)                                                             \
  X("reads", text, row->rule->reads)                                                               \
  X("source", text, row->rule->source)

JSON_DESCRIBER(explain_describe_json, EXPLAIN_COLUMNS, JSON_COLUMN)

static void explain_put_rows(struct document *document, const struct explanation *explanation) {
  DOCUMENT_COLUMNS(document, EXPLAIN_COLUMNS, 0);
  for (size_t i = 0; i < explanation->row_count; i++) {
    const struct explain_row *row = &explanation->rows[i];
    const bool touches = row->state == EXPLAIN_FOUND && explanation->run_uuid != NULL;
    DOCUMENT_ROW(document, EXPLAIN_COLUMNS(COLUMN_CELL));
  }
  document_table_end(document);
}

#define EXPLAIN_RULE_COLUMNS(X)                                                                    \
  X("rule", text, rule->name)                                                                      \
  X("kind", text, rule->note ? "note" : "finding")                                                 \
  X("finds", text, rule->title)                                                                    \
  X("reads", text, rule->reads)                                                                    \
  X("touches", text, rule->touches)                                                                \
  X("costs", text, rule->costs)                                                                    \
  X("action", text, rule->action)                                                                  \
  X("source", text, rule->source)

JSON_DESCRIBER(explain_describe_rules_json, EXPLAIN_RULE_COLUMNS, JSON_COLUMN)

/* What is the same wherever the rule finds something. */
static void explain_put_rule(struct document *document, const struct explain_rule *rule) {
  document_key(document, TONE_NONE, "do", "%s", rule->action);
  document_key(document, TONE_NONE, "usually", "%s", rule->costs);
  document_key(document, TONE_NONE, "recorded", "%s", rule->reads);
  document_key(document, TONE_NONE, "source", "%s", rule->source);
}

/* The columns for which a terminal has room. */
#define EXPLAIN_RULE_NAMES(X)                                                                      \
  X("rule", text, rule->name)                                                                      \
  X("kind", text, rule->note ? "note" : "finding")                                                 \
  X("finds", text, rule->title)

static void explain_put_rule_names(struct document *document, const struct explain_rules *rules) {
  DOCUMENT_COLUMNS(document, EXPLAIN_RULE_NAMES, .wraps = true);
  for (size_t i = 0; i < rules->count; i++) {
    const struct explain_rule *rule = &rules->items[i];
    DOCUMENT_ROW(document, EXPLAIN_RULE_NAMES(COLUMN_CELL));
  }
  document_table_end(document);
  document_put(document, EXPLAIN_RULE_HINT);
}

static void explain_put_rules(struct document *document, const struct explain_rules *rules) {
  for (size_t i = 0; i < rules->count; i++) {
    const struct explain_rule *rule = &rules->items[i];
    document_part(document, "%s [%s]", rule->title, rule->name);
    document_key(document, TONE_NONE, "kind", "%s",
                 rule->note ? "note: usual on some machines, nothing to fix" : "finding");
    document_key(document, TONE_NONE, "affects", "cases of class %s", rule->touches);
    explain_put_rule(document, rule);
  }
}

enum status explain_print_rules(const struct explain_rules *rules, bool whole,
                                const struct table_options *options, struct error *err) {
  struct document document;
  document_begin(&document, options, err);
  if (document_is_for_people(&document) && whole) {
    explain_put_rules(&document, rules);
  } else if (output_layout_of(options->format) == LAYOUT_PAGE) {
    explain_put_rule_names(&document, rules);
  } else {
    DOCUMENT_COLUMNS(&document, EXPLAIN_RULE_COLUMNS, 0);
    for (size_t i = 0; i < rules->count; i++) {
      const struct explain_rule *rule = &rules->items[i];
      DOCUMENT_ROW(&document, EXPLAIN_RULE_COLUMNS(COLUMN_CELL));
    }
    document_table_end(&document);
  }
  return document_end(&document);
}

/* ---- for people ---- */

/* With how many of the cases were selected: "32 cases (16 of those selected) below 32 KiB". */
static const char *explain_selected_words(struct arena *arena, const struct explain_row *row) {
  const bool part = row->state == EXPLAIN_FOUND && row->cases < row->cases_of_run;
  const char *words = explain_evidence_words(
      arena, row, part ? arena_format(arena, " (%zu of those selected)", row->cases) : "");
  return words != NULL ? words : "";
}

/* "gpu0, gpu2: ecc = on", or "all GPUs: ...": rows with the same evidence as rows[i], of count; ""
 * = they were shown with an earlier one. */
static const char *explain_evidence(struct document *document,
                                    const struct explanation *explanation, size_t first,
                                    size_t count, size_t i) {
  const struct explain_row *rows = explanation->rows;
  const char *evidence = explain_selected_words(&document->arena, &rows[i]);
  const char *gpus = "";
  int gpu_count = 0;
  for (size_t j = first; j < first + count; j++) {
    if (strcmp(explain_selected_words(&document->arena, &rows[j]), evidence) != 0) {
      continue;
    }
    if (j < i) {
      return "";
    }
    if (rows[j].gpu >= 0) {
      gpus = arena_add_word(&document->arena, gpus,
                            arena_format(&document->arena, "gpu%d", rows[j].gpu));
      gpu_count++;
    }
  }
  gpus = gpu_count > 1 && gpu_count == explanation->gpu_count ? "all GPUs" : gpus;
  return gpus[0] == '\0'       ? evidence
         : evidence[0] == '\0' ? gpus
                               : arena_format(&document->arena, "%s: %s", gpus, evidence);
}

/* The first blocks of a list, and how many there are. */
static const char *explain_blocks(struct arena *arena, const char *blocks) {
  const char *end = blocks;
  size_t count = 1;
  for (const char *at = strings_next_word(blocks); at != NULL; at = strings_next_word(at)) {
    end = count == BLOCKS_SHOWN ? at - 2 : end;
    count++;
  }
  return count <= BLOCKS_SHOWN
             ? blocks
             : arena_format(arena, "%.*s ... (%zu blocks)", (int)(end - blocks), blocks, count);
}

/* Of the cases that these rows touch, the worst of those below the expected range. */
static void explain_put_shortfalls(struct document *document, const struct explain_request *request,
                                   const struct explain_row *rows, size_t count) {
  const struct explain_row *worst = rows;
  for (size_t i = 0; i < count; i++) {
    worst = isnan(worst->lack) || rows[i].lack > worst->lack ? &rows[i] : worst;
  }
  for (size_t i = 0; i < request->shortfall_count && worst->shortfalls > 0; i++) {
    const struct explain_shortfall *shortfall = &request->shortfalls[i];
    if (shortfall->touched && shortfall->lack == worst->lack) {
      document_key(document, TONE_NONE, "below",
                   "the expected range in %zu of them, most of all %s: %s", worst->shortfalls,
                   shortfall->name, shortfall->words);
      return;
    }
  }
}

/* Cases below the expected range that no finding touches. */
static void explain_put_unexplained(struct document *document,
                                    const struct explain_request *request) {
  size_t count = 0;
  for (size_t i = 0; i < request->shortfall_count; i++) {
    const struct explain_shortfall *shortfall = &request->shortfalls[i];
    if (shortfall->touched) {
      continue;
    }
    if (count == 0) {
      document_part(document, "Below the expected range, cause unknown");
    }
    if (count++ < SHORTFALLS_SHOWN) {
      document_put_behind(document, "    ", "%s: %s", shortfall->name, shortfall->words);
    }
  }
  if (count > SHORTFALLS_SHOWN) {
    document_put_behind(document, "    ", "and %zu more: haul check --expect",
                        count - SHORTFALLS_SHOWN);
  }
}

/* The row of these that touches most cases, and the one whose worst case is furthest behind. */
static void explain_put_cases(struct document *document, const struct explanation *explanation,
                              const struct explain_request *request, const struct explain_row *rows,
                              size_t count) {
  const struct explain_row *most = rows;
  const struct explain_row *worst = rows;
  for (size_t i = 0; i < count; i++) {
    most = rows[i].cases > most->cases ? &rows[i] : most;
    worst = isnan(worst->behind) || rows[i].behind > worst->behind ? &rows[i] : worst;
  }
  if (explanation->run_uuid == NULL) {
    return;
  }
  if (most->cases == 0) {
    document_key(document, TONE_NONE, "affects", "no case that this run measured");
  } else {
    document_key(document, TONE_NONE, "affects", "%zu of %zu cases%s: %s", most->cases,
                 explanation->cases, count > 1 ? " at each GPU" : "",
                 explain_blocks(&document->arena, most->blocks));
  }
  explain_put_shortfalls(document, request, rows, count);
  if (worst->worst == NULL || worst->behind < BEHIND_MIN) {
    return;
  }
  if (!isnan(worst->gbps)) {
    document_key(document, TONE_NONE, "worst", "%s: %.1f GB/s, %.1f %% below the best place (%.1f)",
                 worst->worst, worst->gbps, 100 * worst->behind, worst->best_gbps);
  } else {
    document_key(document, TONE_NONE, "worst", "%s: takes %.1f %% longer than the best place",
                 worst->worst, 100 * worst->behind / (1 - worst->behind));
  }
}

static void explain_put_finding(struct document *document, const struct explanation *explanation,
                                const struct explain_request *request, size_t first, size_t count) {
  const struct explain_rule *rule = explanation->rows[first].rule;
  document_part(document, "%s [%s]", rule->title, rule->name);
  for (size_t i = first; i < first + count; i++) {
    const char *evidence = explain_evidence(document, explanation, first, count, i);
    if (evidence[0] != '\0') {
      document_key(document, TONE_NONE, i == first ? "evidence" : "", "%s", evidence);
    }
  }
  explain_put_cases(document, explanation, request, &explanation->rows[first], count);
  explain_put_rule(document, rule);
}

/* Whether the rule of that row says something else, of another GPU, in a row further up: it was
 * found there, or could not be checked. */
static bool explain_is_above(const struct explanation *explanation, size_t row) {
  return ANY_OF(i, row, explanation->rows[i].rule == explanation->rows[row].rule);
}

/* Rules in one state, one line each, with their evidence; `lead` is the heading. */
static void explain_put_list(struct document *document, const struct explanation *explanation,
                             const char *lead, bool notes, enum explain_state state) {
  bool any = false;
  document->key_width = RULE_WIDTH;
  for (size_t i = 0; i < explanation->row_count; i += explain_same_rule(explanation, i)) {
    const struct explain_row *row = &explanation->rows[i];
    const size_t count = explain_same_rule(explanation, i);
    if (row->state != state || (state == EXPLAIN_FOUND && row->rule->note != notes) ||
        explain_is_above(explanation, i)) {
      continue;
    }
    if (!any) {
      document_part(document, "%s", lead);
      any = true;
    }
    const char *text = "";
    for (size_t j = i; j < i + count; j++) {
      text = arena_join(&document->arena, text, "; ",
                        explain_evidence(document, explanation, i, count, j));
    }
    document_key(document, TONE_NONE, row->rule->name, "%s", text);
  }
  document->key_width = 0;
}

/* Names of the rules in that state; of those that found something, the findings. */
static const char *explain_names(struct arena *arena, const struct explanation *explanation,
                                 enum explain_state state) {
  const char *names = "";
  for (size_t i = 0; i < explanation->row_count; i += explain_same_rule(explanation, i)) {
    const struct explain_row *row = &explanation->rows[i];
    if (row->state == state &&
        (state == EXPLAIN_FOUND ? !row->rule->note : !explain_is_above(explanation, i))) {
      names = arena_add_word(arena, names, row->rule->name);
    }
  }
  return names;
}

static void explain_put_names(struct document *document, const struct explanation *explanation,
                              const char *lead, enum explain_state state) {
  const char *names = explain_names(&document->arena, explanation, state);
  if (names[0] != '\0') {
    document_part(document, "%s", lead);
    document_put_behind(document, "    ", "%s", names);
  }
}

/* Which run, or machine, this is about. */
static void explain_put_foot(struct document *document, const struct explanation *explanation,
                             const struct explain_request *request) {
  struct arena *arena = &document->arena;
  document_gap(document);
  for (size_t i = 0; i < request->identity_count; i++) {
    document_put(document, "%s", request->identities[i]);
  }
  document_put(document, "%s%s, %s%s%s",
               explanation->run_uuid != NULL
                   ? arena_format(arena, "run %" PRId64 " of %s, %s UTC, on ", request->run,
                                  explanation->scenario, explanation->started_at)
                   : "",
               explanation->host[0] != '\0' ? explanation->host : "a machine without a name",
               explanation->gpu_count > 0 ? arena_format(arena, "%d x ", explanation->gpu_count)
                                          : "",
               explanation->gpus, request->simulated ? ", simulated" : "");
  document_put(document, EXPLAIN_RULE_HINT);
}

/* "42 rules: 32 checked, 4 could not be checked, 6 do not apply" */
static const char *explain_count_rules(struct arena *arena, const struct explanation *explanation) {
  const size_t absent = explanation->absent;
  return arena_format(arena, "%zu rules: %zu checked%s%s", explanation->rules.count,
                      explanation->findings + explanation->notes + explanation->fine,
                      explanation->unknown > 0
                          ? arena_format(arena, ", %zu could not be checked", explanation->unknown)
                          : "",
                      absent > 0 ? arena_format(arena, ", %zu %s not apply", absent,
                                                strings_plural(absent, "does", "do"))
                                 : "");
}

/* What is slow, then how many causes are known. */
static void explain_put_head(struct document *document, const struct explanation *explanation,
                             const struct explain_request *request) {
  for (size_t i = 0; i < request->slow_count; i++) {
    document_put(document, "%s", request->slow[i]);
  }
  if (request->shortfall_count > 0) {
    const struct explain_shortfall *worst = &request->shortfalls[0];
    for (size_t i = 1; i < request->shortfall_count; i++) {
      worst = request->shortfalls[i].lack > worst->lack ? &request->shortfalls[i] : worst;
    }
    document_put(document, "%zu %s below the expected range, the worst %s: %s",
                 request->shortfall_count,
                 strings_plural(request->shortfall_count, "case is", "cases are"), worst->name,
                 worst->words);
  }
  if (explanation->wrong > 0) {
    document_put(document, "%zu %s no value%s%s", explanation->wrong,
                 strings_plural(explanation->wrong, "case has", "cases have"),
                 explanation->wrong > 1 ? ", such as " : ": ", explanation->wrong_case);
  }
  if (request->compared > 0 && request->slow_count == 0) {
    document_put(document, "No GPU, link or host is slower than the others (%zu results compared).",
                 request->compared);
  }
  const bool skipped_all = request->skipped != NULL && request->skipped[0] != '\0';
  if (skipped_all) {
    document_put(document, "Nothing was measured. Skipped %s", request->skipped);
  }
  const char *rules = explain_count_rules(&document->arena, explanation);
  if (explanation->findings == 0 && !skipped_all) {
    document_put(document, "No known cause found (%s).", rules);
  } else if (explanation->findings > 0) {
    document_put(document, "%zu %s found: %s (%s).", explanation->findings,
                 strings_plural(explanation->findings, "cause", "causes"),
                 explain_names(&document->arena, explanation, EXPLAIN_FOUND), rules);
  }
}

static void explain_put(struct document *document, const struct explanation *explanation,
                        const struct explain_request *request, bool verbose) {
  const char *nothing =
      arena_format(&document->arena, "%zu rules found nothing", explanation->fine);
  explain_put_head(document, explanation, request);
  if (request->next != NULL && request->slow_count + request->shortfall_count > 0) {
    document_put(document, "Next, to see what changed: %s", request->next);
  }
  for (size_t i = 0; i < explanation->row_count; i += explain_same_rule(explanation, i)) {
    if (explanation->rows[i].state == EXPLAIN_FOUND && !explanation->rows[i].rule->note) {
      explain_put_finding(document, explanation, request, i, explain_same_rule(explanation, i));
    }
  }
  explain_put_unexplained(document, request);
  explain_put_list(document, explanation,
                   arena_format(&document->arena, "%zu %s: usual on some machines, nothing to fix",
                                explanation->notes,
                                strings_plural(explanation->notes, "note", "notes")),
                   true, EXPLAIN_FOUND);
  explain_put_list(document, explanation, "Could not be checked", false, EXPLAIN_UNKNOWN);
  if (verbose) {
    explain_put_list(document, explanation, nothing, false, EXPLAIN_NOT_FOUND);
    explain_put_names(document, explanation, "Does not apply", EXPLAIN_ABSENT);
  } else {
    explain_put_names(document, explanation, nothing, EXPLAIN_NOT_FOUND);
  }
  explain_put_foot(document, explanation, request);
}

enum status explain_print(const struct explanation *explanation,
                          const struct explain_request *request, bool verbose,
                          const struct table_options *options, struct error *err) {
  struct document document;
  document_begin(&document, options, err);
  if (document_is_for_people(&document)) {
    explain_put(&document, explanation, request, verbose);
  } else {
    explain_put_rows(&document, explanation);
  }
  return document_end(&document);
}
