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
  struct explain_rule *rule = ARENA_ADD(arena, rules->items, rules->count);
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

/* What explain_find() works on. */
struct explain_search {
  struct database *database;
  const struct explain_request *request;
  const char *only; /* a JSON array of globs; NULL = all cases */
  struct explanation *found;
  struct error *err;
};

static struct parameter explain_gpu(int gpu) {
  return gpu >= 0 ? PARAMETER(":gpu", gpu) : PARAMETER(":gpu", (const char *)NULL);
}

/* Why the first fact that the rule reads is not known. */
static enum status explain_find_reason(const struct explain_search *x, struct explain_row *row) {
  static const char FACT[] = "fact ";
  struct arena *arena = &x->found->arena;
  const char *fact = strstr(row->rule->reads, FACT);
  if (fact == NULL) {
    row->evidence = x->found->run_uuid != NULL
                        ? arena_format(arena, "not recorded (%s)", row->rule->reads)
                        : "not recorded with a machine alone: explain a run";
    return STATUS_OK;
  }
  fact += sizeof FACT - 1;
  row->evidence = "not recorded";
  return database_read(
      x->database, "explain/reason",
      PARAMETERS(PARAMETER(":name", arena_strndup(arena, fact, strcspn(fact, ","))),
                 PARAMETER(":gpu", row->gpu)),
      ROW_WORD, &row->evidence, arena, NULL, x->err);
}

static const struct row_member TOUCHED_MEMBERS[] = {
    ROW_MEMBER(struct explain_row, cases), ROW_MEMBER(struct explain_row, blocks),
    ROW_MEMBER(struct explain_row, worst), ROW_MEMBER(struct explain_row, behind),
    ROW_MEMBER(struct explain_row, gbps),  ROW_MEMBER(struct explain_row, best_gbps),
    ROW_MEMBER(struct explain_row, lack),  ROW_MEMBER(struct explain_row, cases_of_run),
    ROW_MEMBER(struct explain_row, keys),  {0}};

/* The cases of these classes that the finding touches, of those that are selected. */
static enum status explain_find_cases(const struct explain_search *x, const char *classes,
                                      struct explain_row *row) {
  RETURN_ON_ERROR(database_read(x->database, "explain/touched",
                                PARAMETERS(PARAMETER(":classes", classes),
                                           PARAMETER(":only", x->only), explain_gpu(row->gpu)),
                                TOUCHED_MEMBERS, row, &x->found->arena, NULL, x->err));
  for (size_t i = 0; row->keys != NULL && !row->rule->note && i < x->request->shortfall_count;
       i++) {
    struct explain_shortfall *shortfall = &x->request->shortfalls[i];
    const bool touched = strstr(row->keys, shortfall->case_key) != NULL;
    shortfall->touched = shortfall->touched || touched;
    row->shortfalls += touched;
  }
  return STATUS_OK;
}

static struct explain_row *explain_add_row(struct explanation *explanation,
                                           const struct explain_rule *rule) {
  struct explain_row *row =
      ARENA_ADD(&explanation->arena, explanation->rows, explanation->row_count);
  *row = (struct explain_row){.rule = rule,
                              .state = EXPLAIN_ABSENT,
                              .gpu = -1,
                              .behind = NAN,
                              .gbps = NAN,
                              .best_gbps = NAN,
                              .lack = NAN};
  return row;
}

/* What a rule returns. */
struct explain_answer {
  int gpu, bad; /* -1 = NULL */
  const char *evidence, *touches;
};

/* The first is a column of some rules alone. */
static const struct row_member ANSWER_MEMBERS[] = {ROW_MEMBER(struct explain_answer, touches),
                                                   ROW_MEMBER(struct explain_answer, gpu),
                                                   ROW_MEMBER(struct explain_answer, bad),
                                                   ROW_MEMBER(struct explain_answer, evidence),
                                                   {0}};

static enum status explain_add_answer(const struct explain_search *x,
                                      const struct explain_rule *rule,
                                      const struct explain_answer *answer) {
  struct explain_row *row = explain_add_row(x->found, rule);
  row->gpu = answer->gpu;
  row->evidence = answer->evidence;
  row->state = answer->bad < 0   ? EXPLAIN_UNKNOWN
               : answer->bad > 0 ? EXPLAIN_FOUND
                                 : EXPLAIN_NOT_FOUND;
  if (row->state == EXPLAIN_UNKNOWN && row->evidence == NULL) {
    return explain_find_reason(x, row);
  }
  if (row->state == EXPLAIN_FOUND && x->found->run_uuid != NULL) {
    RETURN_ON_ERROR(explain_find_cases(x, answer->touches, row));
    if (x->only != NULL && row->cases == 0) {
      row->state = EXPLAIN_ABSENT; /* it is so, and has nothing to do with these cases */
    }
  }
  return STATUS_OK;
}

static enum status explain_ask(const struct explain_search *x, const struct explain_rule *rule) {
  SCOPED(statement_finalize) struct statement statement = {0};
  const size_t before = x->found->row_count;
  struct explain_answer answer = {.touches = rule->touches};
  RETURN_ON_ERROR(statement_prepare(x->database, rule->statement, &statement, x->err));
  const bool all = statement_column_count(&statement) == COUNT_OF(ANSWER_MEMBERS) - 1;
  const struct row_member *members = all ? ANSWER_MEMBERS : ANSWER_MEMBERS + 1;
  enum status status = STATUS_OK;
  while (rows_next(&statement, members, &answer, &x->found->arena, &status, x->err)) {
    status = explain_add_answer(x, rule, &answer);
  }
  if (status == STATUS_OK && x->found->row_count == before) {
    (void)explain_add_row(x->found, rule);
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

static void explain_weigh(const struct explanation *explanation, struct explain_row *of) {
  of->rule_lack = of->rule_behind = -1;
  for (size_t i = 0; i < explanation->row_count; i++) {
    const struct explain_row *row = &explanation->rows[i];
    if (row->rule == of->rule && row->state == EXPLAIN_FOUND && row->cases > 0) {
      of->rule_lack = fmax(of->rule_lack, row->lack); /* of a NAN and a number, the number */
      of->rule_behind = fmax(of->rule_behind, isnan(row->behind) ? 0 : row->behind);
    }
  }
}

ORDER_DEFINE(explain_compare, struct explain_row, ORDER(x->rank, y->rank) ?: ORDER(y->rule_lack, x->rule_lack) ?: ORDER(y->rule_behind, x->rule_behind) ?: ORDER(x->place, y->place))

static void explain_sort(struct explanation *explanation) {
  for (size_t i = 0; i < explanation->row_count; i++) {
    struct explain_row *row = &explanation->rows[i];
    row->place = i;
    row->rank = explain_rank(row);
    if (row->rank == 0) {
      explain_weigh(explanation, row);
    }
  }
  ORDER_SORT(explanation->rows, explanation->row_count, explain_compare);
}

size_t explain_same_rule(const struct explanation *explanation, size_t i) {
  const struct explain_row *rows = explanation->rows + i;
  return FIRST_OF(k, explanation->row_count - i,
                  rows[k].rule != rows->rule || rows[k].state != rows->state);
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

static enum status explain_collect(const struct explain_search *x) {
  const int64_t run = x->request->run;
  enum status status = database_script(x->database, "explain/begin", x->err);
  status = THEN(status, database_do(x->database, "explain/choose",
                                    PARAMETERS(run != 0 ? PARAMETER(":run", run)
                                                        : PARAMETER(":run", (const char *)NULL),
                                               PARAMETER(":busy_percent", GPU_BUSY_PERCENT)),
                                    x->err));
  status = THEN(status, database_do(x->database, "explain/choose_steps",
                                    PARAMETERS(PARAMETER(":run", run)), x->err));
  for (size_t i = 0; i < x->request->shortfall_count && status == STATUS_OK; i++) {
    const struct explain_shortfall *shortfall = &x->request->shortfalls[i];
    status = database_do(x->database, "explain/add_shortfall",
                         PARAMETERS(PARAMETER(":case_key", shortfall->case_key),
                                    PARAMETER(":lack", shortfall->lack)),
                         x->err);
  }
  return THEN(status, database_script(x->database, "explain/collect", x->err));
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

enum status explain_find(struct database *database, const struct explain_request *request,
                         struct explanation *explanation, struct error *err) {
  *explanation = (struct explanation){
      .host = "", .gpus = "", .scenario = "", .started_at = "", .wrong_case = ""};
  struct arena *arena = &explanation->arena;
  const struct explain_search x = {database, request, globs_json(request->only, arena), explanation,
                                   err};
  explain_read_rules(arena, &explanation->rules);
  RETURN_ON_ERROR(explain_collect(&x));
  RETURN_ON_ERROR(database_read(database, "explain/machine", PARAMETERS(PARAMETER(":only", x.only)),
                                HEAD_MEMBERS, explanation, arena, NULL, err));
  if (x.only != NULL && explanation->cases == 0) {
    return error_set(err, STATUS_NOT_FOUND,
                     "no case of that run matches \"%s\"; haul query --saved cases lists them",
                     request->only);
  }
  for (size_t i = 0; i < explanation->rules.count; i++) {
    RETURN_ON_ERROR(explain_ask(&x, &explanation->rules.items[i]));
  }
  explain_sort(explanation);
  explain_count(explanation);
  return STATUS_OK;
}

void explanation_fini(struct explanation *explanation) {
  arena_fini(&explanation->arena);
}
