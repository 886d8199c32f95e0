#include "runner/analysis/explain.h"

#include "engine/base/globs.h"
#include "engine/base/order.h"
#include "engine/base/strbuf.h"
#include "engine/machine/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ENUM_NAMES_DEFINE(explain_state, EXPLAIN_STATE_LIST)

enum { PARAGRAPH_MAX = 4096 };

/* Files of schema/results/statements, in the order in which rules are listed. */
static const char *const RULE_FILES[] = {"rules_gpu/", "rules_host/", "rules_run/"};
static const char NAME_HEAD[] = "-- name: ";

/* ---- rules ---- */

/* "-- KEY: text" and the lines after it that are further in; NULL = there is no such key. */
static const char *explain_read_text(struct arena *arena, const char *section, const char *key) {
  char head[32];
  const size_t length = (size_t)snprintf(head, sizeof head, "\n-- %s: ", key);
  const char *at = strstr(section, head);
  const char *next = strstr(section, "\n-- name: ");
  if (at == NULL || (next != NULL && at > next)) {
    return NULL;
  }
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(PARAGRAPH_MAX);
  at += length;
  for (bool more = true; more;) {
    const size_t line = strcspn(at, "\n");
    strbuf_printf(&text, "%s%.*s", text.length > 0 ? " " : "", (int)line, at);
    at += line;
    more = strncmp(at, "\n--   ", 6) == 0;
    at += more ? 6 : 0;
  }
  return arena_strdup(arena, text.text);
}

static void explain_add_rule(struct arena *arena, const char *file, const char *section,
                             struct explain_rules *rules) {
  struct explain_rule *rule = ARENA_ADD(arena, rules->items, rules->count, &rules->capacity);
  const char *finding = explain_read_text(arena, section, "finding");
  *rule = (struct explain_rule){
      .name = arena_strndup(arena, section, strcspn(section, "\n")),
      .title = finding != NULL ? finding : explain_read_text(arena, section, "note"),
      .note = finding == NULL,
      .reads = explain_read_text(arena, section, "reads"),
      .touches = explain_read_text(arena, section, "touches"),
      .costs = explain_read_text(arena, section, "costs"),
      .action = explain_read_text(arena, section, "action"),
      .source = explain_read_text(arena, section, "source"),
  };
  rule->statement = arena_format(arena, "%s%s", file, rule->name);
}

void explain_read_rules(struct arena *arena, struct explain_rules *rules) {
  *rules = (struct explain_rules){0};
  for (size_t i = 0; i < sizeof RULE_FILES / sizeof RULE_FILES[0]; i++) {
    const char *file = RULE_FILES[i];
    char *text =
        database_sql(arena_format(arena, "statements/%.*s.sql", (int)strlen(file) - 1, file));
    for (const char *at = strstr(text, NAME_HEAD); at != NULL; at = strstr(at, NAME_HEAD)) {
      at += sizeof NAME_HEAD - 1;
      explain_add_rule(arena, file, at, rules);
    }
    free(text);
  }
}

/* ---- rows ---- */

/* Why the first fact that the rule reads is not known. */
static enum status explain_find_reason(struct database *database, struct explanation *explanation,
                                       struct explain_row *row, struct error *err) {
  static const char FACT[] = "fact ";
  SCOPED(statement_finalize) struct statement statement = {0};
  const char *fact = strstr(row->rule->reads, FACT);
  row->evidence = explanation->run_uuid != NULL
                      ? arena_format(&explanation->arena, "not recorded (%s)", row->rule->reads)
                      : "not recorded with a machine alone: explain a run";
  if (fact == NULL) {
    return STATUS_OK;
  }
  fact += sizeof FACT - 1;
  row->evidence = "not recorded";
  enum status status = statement_prepare(database, "explain/reason", &statement, err);
  if (status == STATUS_OK) {
    statement_bind_text(&statement, ":name",
                        arena_strndup(&explanation->arena, fact, strcspn(fact, ",")));
    statement_bind_int(&statement, ":gpu", row->gpu);
  }
  if (statement_next(&statement, &status, err)) {
    row->evidence = statement_column_text(&statement, 0, &explanation->arena);
  }
  return status;
}

/* keys: those of the shortfalls that a finding touches, or NULL. Returns how many. */
static size_t explain_mark_touched(const struct explain_request *request, const char *keys) {
  size_t count = 0;
  for (size_t i = 0; keys != NULL && i < request->shortfall_count; i++) {
    if (strstr(keys, request->shortfalls[i].case_key) != NULL) {
      request->shortfalls[i].touched = true;
      count++;
    }
  }
  return count;
}

/* The cases that the finding touches, of those that `only`, a JSON array, selects. */
static enum status explain_find_cases(struct database *database,
                                      const struct explain_request *request, const char *only,
                                      const char *classes, struct explanation *explanation,
                                      struct explain_row *row, struct error *err) {
  SCOPED(statement_finalize) struct statement statement = {0};
  enum status status = statement_prepare(database, "explain/touched", &statement, err);
  if (status == STATUS_OK) {
    statement_bind_text(&statement, ":classes", classes);
    statement_bind_text(&statement, ":only", only);
    if (row->gpu >= 0) {
      statement_bind_int(&statement, ":gpu", row->gpu);
    }
  }
  if (statement_next(&statement, &status, err)) {
    row->cases = (size_t)statement_column_number(&statement, 0);
    row->blocks = statement_column_optional(&statement, 1, &explanation->arena);
    row->worst = statement_column_optional(&statement, 2, &explanation->arena);
    row->behind = statement_column_real(&statement, 3);
    row->gbps = statement_column_real(&statement, 4);
    row->best_gbps = statement_column_real(&statement, 5);
    row->lack = statement_column_real(&statement, 7);
    row->cases_of_run = (size_t)statement_column_number(&statement, 8);
    if (!row->rule->note) {
      row->shortfalls = explain_mark_touched(
          request, statement_column_optional(&statement, 6, &explanation->arena));
    }
  }
  return status;
}

static struct explain_row *explain_add_row(struct explanation *explanation,
                                           const struct explain_rule *rule) {
  struct explain_row *row = ARENA_ADD(&explanation->arena, explanation->rows,
                                      explanation->row_count, &explanation->row_capacity);
  *row = (struct explain_row){.rule = rule,
                              .state = EXPLAIN_ABSENT,
                              .gpu = -1,
                              .behind = NAN,
                              .gbps = NAN,
                              .best_gbps = NAN,
                              .lack = NAN};
  return row;
}

enum { COLUMN_GPU, COLUMN_BAD, COLUMN_EVIDENCE, COLUMN_TOUCHES };

static enum status explain_add_answer(struct database *database, const struct statement *answer,
                                      const struct explain_rule *rule,
                                      const struct explain_request *request, const char *only,
                                      struct explanation *explanation, struct error *err) {
  struct explain_row *row = explain_add_row(explanation, rule);
  const int bad = statement_column_number(answer, COLUMN_BAD);
  row->gpu = statement_column_number(answer, COLUMN_GPU);
  row->state = bad < 0 ? EXPLAIN_UNKNOWN : bad > 0 ? EXPLAIN_FOUND : EXPLAIN_NOT_FOUND;
  row->evidence = statement_column_optional(answer, COLUMN_EVIDENCE, &explanation->arena);
  if (row->state == EXPLAIN_UNKNOWN && row->evidence == NULL) {
    return explain_find_reason(database, explanation, row, err);
  }
  if (row->state != EXPLAIN_FOUND || explanation->run_uuid == NULL) {
    return STATUS_OK;
  }
  const char *classes = statement_column_count(answer) > COLUMN_TOUCHES
                            ? statement_column_optional(answer, COLUMN_TOUCHES, &explanation->arena)
                            : rule->touches;
  RETURN_ON_ERROR(explain_find_cases(database, request, only, classes, explanation, row, err));
  if (only != NULL && row->cases == 0) {
    row->state = EXPLAIN_ABSENT; /* it is so, and has nothing to do with these cases */
  }
  return STATUS_OK;
}

static enum status explain_ask(struct database *database, const struct explain_rule *rule,
                               const struct explain_request *request, const char *only,
                               struct explanation *explanation, struct error *err) {
  struct statement answer;
  const size_t before = explanation->row_count;
  enum status status = statement_prepare(database, rule->statement, &answer, err);
  while (statement_next(&answer, &status, err)) {
    status = explain_add_answer(database, &answer, rule, request, only, explanation, err);
  }
  statement_finalize(&answer);
  if (status == STATUS_OK && explanation->row_count == before) {
    (void)explain_add_row(explanation, rule);
  }
  return status;
}

/* ---- order ---- */

/* Findings, those that touch a case first; notes; unknown; the others. */
static int explain_rank(const struct explain_row *row) {
  switch (row->state) {
  case EXPLAIN_FOUND:
    return row->rule->note ? 1 : 0;
  case EXPLAIN_UNKNOWN:
    return 2;
  case EXPLAIN_NOT_FOUND:
    return 3;
  case EXPLAIN_ABSENT:
  case explain_state_name_count:
    break;
  }
  return 4;
}

/* Of the rows of a rule: what its worst case lacks of what is expected, and how far it is behind;
 * -1 where there is no such case. */
struct explain_weight {
  double lack, behind;
};

static struct explain_weight explain_weigh(const struct explanation *explanation,
                                           const struct explain_rule *rule) {
  struct explain_weight weight = {-1, -1};
  for (size_t i = 0; i < explanation->row_count; i++) {
    const struct explain_row *row = &explanation->rows[i];
    if (row->rule == rule && row->state == EXPLAIN_FOUND && row->cases > 0) {
      weight.lack = fmax(weight.lack, row->lack); /* of a NAN and a number, the number */
      weight.behind = fmax(weight.behind, isnan(row->behind) ? 0 : row->behind);
    }
  }
  return weight;
}

struct explain_order {
  struct explain_row row;
  int rank;
  struct explain_weight weight;
  size_t place;
};

ORDER_DEFINE(explain_compare, struct explain_order, ORDER(x->rank, y->rank) ?: ORDER(y->weight.lack, x->weight.lack) ?: ORDER(y->weight.behind, x->weight.behind) ?: ORDER(x->place, y->place))

static void explain_sort(struct explanation *explanation) {
  struct explain_order *order =
      arena_array(&explanation->arena, explanation->row_count, sizeof *order);
  for (size_t i = 0; i < explanation->row_count; i++) {
    const struct explain_row *row = &explanation->rows[i];
    const int rank = explain_rank(row);
    order[i] = (struct explain_order){.row = *row, .rank = rank, .place = i};
    if (rank == 0) {
      order[i].weight = explain_weigh(explanation, row->rule);
    }
  }
  ORDER_SORT(order, explanation->row_count, explain_compare);
  for (size_t i = 0; i < explanation->row_count; i++) {
    explanation->rows[i] = order[i].row;
  }
}

size_t explain_same_rule(const struct explanation *explanation, size_t i) {
  size_t count = 1;
  while (i + count < explanation->row_count &&
         explanation->rows[i + count].rule == explanation->rows[i].rule &&
         explanation->rows[i + count].state == explanation->rows[i].state) {
    count++;
  }
  return count;
}

/* Of the rows of a rule, the state that says most: found, unknown, not found, absent. */
static void explain_count(struct explanation *explanation) {
  for (size_t i = 0; i < explanation->rules.count; i++) {
    const struct explain_rule *rule = &explanation->rules.items[i];
    enum explain_state state = EXPLAIN_ABSENT;
    for (size_t j = 0; j < explanation->row_count; j++) {
      const struct explain_row *row = &explanation->rows[j];
      state = row->rule == rule && row->state < state ? row->state : state;
    }
    explanation->findings += state == EXPLAIN_FOUND && !rule->note;
    explanation->notes += state == EXPLAIN_FOUND && rule->note;
    explanation->unknown += state == EXPLAIN_UNKNOWN;
    explanation->fine += state == EXPLAIN_NOT_FOUND;
    explanation->absent += state == EXPLAIN_ABSENT;
  }
}

/* ---- the whole ---- */

static enum status explain_choose(struct database *database, int64_t run, struct error *err) {
  struct statement statement;
  enum status status = statement_prepare(database, "explain/choose", &statement, err);
  if (status == STATUS_OK) {
    if (run != 0) {
      statement_bind_int(&statement, ":run", run);
    }
    statement_bind_int(&statement, ":busy_percent", GPU_BUSY_PERCENT);
    status = statement_run(&statement, err);
  }
  statement_finalize(&statement);
  status = THEN(status, statement_prepare(database, "explain/choose_steps", &statement, err));
  if (status == STATUS_OK) {
    statement_bind_int(&statement, ":run", run);
    status = statement_run(&statement, err);
    statement_finalize(&statement);
  }
  return status;
}

static enum status explain_add_shortfalls(struct database *database,
                                          const struct explain_request *request,
                                          struct error *err) {
  SCOPED(statement_finalize) struct statement statement = {0};
  enum status status = statement_prepare(database, "explain/add_shortfall", &statement, err);
  for (size_t i = 0; i < request->shortfall_count && status == STATUS_OK; i++) {
    statement_bind_text(&statement, ":case_key", request->shortfalls[i].case_key);
    statement_bind_real(&statement, ":lack", request->shortfalls[i].lack);
    status = statement_run(&statement, err);
  }
  return status;
}

static enum status explain_collect(struct database *database, const struct explain_request *request,
                                   struct error *err) {
  RETURN_ON_ERROR(database_script(database, "explain/begin", err));
  RETURN_ON_ERROR(explain_choose(database, request->run, err));
  RETURN_ON_ERROR(explain_add_shortfalls(database, request, err));
  return database_script(database, "explain/collect", err);
}

static enum status explain_read_head(struct database *database, const char *only,
                                     struct explanation *explanation, struct error *err) {
  SCOPED(statement_finalize) struct statement statement = {0};
  struct arena *arena = &explanation->arena;
  enum status status = statement_prepare(database, "explain/machine", &statement, err);
  if (status == STATUS_OK) {
    statement_bind_text(&statement, ":only", only);
  }
  explanation->host = explanation->gpus = explanation->scenario = "";
  explanation->started_at = explanation->wrong_case = "";
  if (statement_next(&statement, &status, err)) {
    explanation->host = statement_column_text(&statement, 0, arena);
    explanation->gpu_count = statement_column_number(&statement, 1);
    explanation->gpus = statement_column_text(&statement, 2, arena);
    explanation->run_uuid = statement_column_optional(&statement, 3, arena);
    explanation->scenario = statement_column_text(&statement, 4, arena);
    explanation->started_at = statement_column_text(&statement, 5, arena);
    explanation->cases = (size_t)statement_column_number(&statement, 6);
    explanation->wrong = (size_t)statement_column_number(&statement, 7);
    explanation->wrong_case = statement_column_text(&statement, 8, arena);
  }
  return status;
}

enum status explain_find(struct database *database, const struct explain_request *request,
                         struct explanation *explanation, struct error *err) {
  *explanation = (struct explanation){0};
  const char *only = globs_json(request->only, &explanation->arena);
  explain_read_rules(&explanation->arena, &explanation->rules);
  RETURN_ON_ERROR(explain_collect(database, request, err));
  RETURN_ON_ERROR(explain_read_head(database, only, explanation, err));
  if (only != NULL && explanation->cases == 0) {
    return error_set(err, STATUS_NOT_FOUND,
                     "no case of that run matches '%s'; haul query --saved cases lists them",
                     request->only);
  }
  for (size_t i = 0; i < explanation->rules.count; i++) {
    RETURN_ON_ERROR(
        explain_ask(database, &explanation->rules.items[i], request, only, explanation, err));
  }
  explain_sort(explanation);
  explain_count(explanation);
  return STATUS_OK;
}

void explanation_fini(struct explanation *explanation) {
  arena_fini(&explanation->arena);
}
