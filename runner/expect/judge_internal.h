/* judge_internal.h - what judge.c, which judges, and judge_words.c, which says it, share. */
#pragma once

#include "runner/expect/judge.h"
#include "runner/expect/observed.h"

/* How much others disturbed the trials of judged cases: a fact of its own, which says nothing
 * against what is judged (engine/case/visits.h). */
struct disturbance {
  size_t count; /* of cases of which a share of trials worth saying was disturbed */
  bool on_host; /* all of them have an end there */
  double percent, slower_percent; /* of the one with most */
  const char *name;
};

struct expect_judge {
  struct expect_set set;
  struct arena arena;
  struct observed_reader reader;
  struct row_sink sink;
  const struct row_sink *inner;
  size_t column_count;
  struct cell *row; /* of column_count + ADDED_COUNT */
  struct expect_judged judged;
  struct expect_judge *again;     /* of what was measured once more; NULL = nothing was */
  const struct expect_row **used; /* one for each source of reports, of which it counts most */
  size_t used_count;
  const char *machine; /* the first that a case is of */
  struct disturbance disturbance;
};

/* As it is read in a table: four digits. */
double judge_shown(double value);
/* The same in words: "826.1", "12190". */
void judge_number(char text[32], double value);
/* How many measurements a row of reports stands for. */
unsigned judge_reports_of(const struct expect_row *row);
/* Below a table; NULL = nothing but that it is as usual. */
const char *judgement_remark(struct arena *arena, const struct expect_judgement *judgement);
