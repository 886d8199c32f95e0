/* diff.h - what `haul diff` and `haul check` print.
 *
 *   table  for people: the sides, the shift common to all cases, what differs in the environments,
 *          and the cases that are not SAME, strongest evidence first
 *   json   one object: sides, shift, environment, summary, a_a_test, and every case
 *   junit  one test suite; a case is a failure where check says so (diff_show.fails)
 *   md     the table of the cases alone, for people to paste
 *   others one row a case
 *
 * Changes are those of the figure shown: of GB/s, more is better; of ns, less is. Writing fails as
 * in rows.h: a reader that went away is no error. */
#ifndef HAUL_RUNNER_RENDER_DIFF_H
#define HAUL_RUNNER_RENDER_DIFF_H

#include "runner/analysis/a_a_test.h"
#include "runner/analysis/compare.h"
#include "runner/render/rows.h"

struct diff_show {
  const char *names[SIDES];          /* what the sides were called: "tag:before" */
  bool all;                          /* table: the SAME cases as well */
  bool verdicts[verdict_name_count]; /* table: those not set are summed up only */
  bool fails[verdict_name_count];    /* junit: these are failures */
  bool undecided_fails;              /* junit: undecided cases are errors, else they are skipped */
  const struct a_a_result *a_a;      /* may be NULL */
};

/* rows->format is any but json, which diff_print_json() writes. */
enum status diff_print(const struct measured *measured, const struct comparison *comparison,
                       const struct diff_show *show, const struct rows_options *rows,
                       struct error *err) CHECK_RESULT;
enum status diff_print_json(const struct measured *measured, const struct comparison *comparison,
                            const struct diff_show *show, FILE *stream,
                            struct error *err) CHECK_RESULT;
enum status diff_print_junit(const struct measured *measured, const struct comparison *comparison,
                             const struct diff_show *show, FILE *stream,
                             struct error *err) CHECK_RESULT;

#endif
