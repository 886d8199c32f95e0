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
  for (size_t i = 0; i < COUNT_OF(RULE_FILES); i++) {
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
  const char *fact = strstr(row->rule->reads, FACT);
  row->evidence = explanation->run_uuid != NULL
                      ? arena_format(&explanation->arena, "not recorded (%s)", row->rule->reads)
                      : "not recorded with a machine alone: explain a run";
  if (fact == NULL) {
    return STATUS_OK;
  }
  fact += sizeof FACT - 1;
  row->evidence = "not recorded";
  return database_read(
      database, "explain/reason",
      PARAMETERS(PARAMETER(":name", arena_strndup(&explanation->arena, fact, strcspn(fact, ","))),
                 PARAMETER(":gpu", row->gpu)),
      ROW_WORD, &row->evidence, &explanation->arena, NULL, err);
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

static const struct row_member TOUCHED_MEMBERS[] = {
    ROW_MEMBER(struct explain_row, cases), ROW_MEMBER(struct explain_row, blocks),
    ROW_MEMBER(struct explain_row, worst), ROW_MEMBER(struct explain_row, behind),
    ROW_MEMBER(struct explain_row, gbps),  ROW_MEMBER(struct explain_row, best_gbps),
    ROW_MEMBER(struct explain_row, lack),  ROW_MEMBER(struct explain_row, cases_of_run),
    ROW_MEMBER(struct explain_row, keys),  {0}};

/* The cases that the finding touches, of those that `only`, a JSON array, selects. */
static enum status explain_find_cases(struct database *database,
                                      const struct explain_request *request, const char *only,
                                      const char *classes, struct explanation *explanation,
                                      struct explain_row *row, struct error *err) {
  const struct parameter parameters[] = {PARAMETER(":classes", classes),
                                         PARAMETER(":only", only),
                                         row->gpu >= 0 ? PARAMETER(":gpu", row->gpu)
                                                       : PARAMETER(":gpu", (const char *)NULL),
                                         {0}};
  RETURN_ON_ERROR(database_read(database, "explain/touched", parameters, TOUCHED_MEMBERS, row,
                                &explanation->arena, NULL, err));
  if (!row->rule->note) {
    row->shortfalls = explain_mark_touched(request, row->keys);
  }
  return STATUS_OK;
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
  SCOPED(statement_finalize) struct statement answer = {0};
  const size_t before = explanation->row_count;
  enum status status = statement_prepare(database, rule->statement, &answer, err);
  while (statement_next(&answer, &status, err)) {
    status = explain_add_answer(database, &answer, rule, request, only, explanation, err);
  }
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
  RETURN_ON_ERROR(database_do(
      database, "explain/choose",
      PARAMETERS(run != 0 ? PARAMETER(":run", run) : PARAMETER(":run", (const char *)NULL),
                 PARAMETER(":busy_percent", GPU_BUSY_PERCENT)),
      err));
  return database_do(database, "explain/choose_steps", PARAMETERS(PARAMETER(":run", run)), err);
}

static enum status explain_add_shortfalls(struct database *database,
                                          const struct explain_request *request,
                                          struct error *err) {
  enum status status = STATUS_OK;
  for (size_t i = 0; i < request->shortfall_count && status == STATUS_OK; i++) {
    status = database_do(database, "explain/add_shortfall",
                         PARAMETERS(PARAMETER(":case_key", request->shortfalls[i].case_key),
                                    PARAMETER(":lack", request->shortfalls[i].lack)),
                         err);
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

static const struct row_member HEAD_MEMBERS[] = {ROW_MEMBER_TEXT(struct explanation, host),
                                                 ROW_MEMBER(struct explanation, gpu_count),
                                                 ROW_MEMBER_TEXT(struct explanation, gpus),
                                                 ROW_MEMBER(struct explanation, run_uuid),
                                                 ROW_MEMBER_TEXT(struct explanation, scenario),
                                                 ROW_MEMBER_TEXT(struct explanation, started_at),
                                                 ROW_MEMBER(struct explanation, cases),
                                                 ROW_MEMBER(struct explanation, wrong),
                                                 ROW_MEMBER_TEXT(struct explanation, wrong_case),
                                                 {0}};

static enum status explain_read_head(struct database *database, const char *only,
                                     struct explanation *explanation, struct error *err) {
  explanation->host = explanation->gpus = explanation->scenario = "";
  explanation->started_at = explanation->wrong_case = "";
  return database_read(database, "explain/machine", PARAMETERS(PARAMETER(":only", only)),
                       HEAD_MEMBERS, explanation, &explanation->arena, NULL, err);
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
                     "no case of that run matches \"%s\"; haul query --saved cases lists them",
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
