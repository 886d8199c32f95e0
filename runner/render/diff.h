/* diff.h - what `haul diff` and `haul check` print.
 *
 *   table  for people, in the order of diff_layout.h: the sides, what the changed cases have in
 *          common, what differs in the environments, the blocks, and the cases that are not SAME,
 *          strongest evidence first; three and more of one block and verdict are one line
 *   json   one object: sides, shift, conclusions, environment, summary, blocks, a_a_test, and every
 *          case
 *   junit, ctrf  one suite of tests; a case is a failure where check says so (diff_show.fails)
 *   md     the table of the cases alone, for people to paste
 *   others one row per case
 *
 * What became slower unlike the other nodes is a conclusion, a test, and a row behind those of the
 * cases, without a case_key.
 *
 * Changes are B relative to A: of GB/s, more is better; of ns, less is. Writing fails as
 * in runner/table/table.h: a reader that went away is no error. */
#pragma once

#include "runner/analysis/a_a_test.h"
#include "runner/analysis/compare.h"
#include "runner/render/diff_layout.h"
#include "runner/table/table.h"
#include "runner/table/test_report.h"

struct document;

struct json_shape;
struct diff_show {
  const char *version;               /* of haul, for tests */
  const char *names[SIDES];          /* of the sides, as the user named them: "tag:before" */
  bool all;                          /* table: the SAME cases as well, nothing folded */
  bool answer_only;                  /* table, md: the first line */
  const char *outcome;               /* of a check, before it: "passed"; NULL = none */
  bool verdicts[verdict_name_count]; /* table: those not set are summed up only */
  bool fails[verdict_name_count];    /* of tests: these are failures */
  bool provisional_fails;            /* of tests: `fails` holds for provisional verdicts as well */
  bool undecided_fails;         /* of tests: undecided cases are errors, else they are skipped */
  const struct a_a_result *a_a; /* may be NULL */
};

/* One comparison while it is said. */
struct diff_view {
  struct document *document;
  const struct comparison *comparison;
  const struct diff_show *show;
  struct diff_layout layout; /* by diff_view_init(); ended by diff_layout_fini() */
  /* The rows, in place of a table; NULL = that. Returns whether q is seen. */
  bool counts; /* the table has a column n; filled in */
  bool (*put_cases)(struct diff_view *view);
  void (*put_below)(struct diff_view *view); /* after what the columns mean; may be NULL */
  void *context;                             /* of these two */
};
void diff_view_init(struct diff_view *view);
/* The answer first: verdicts, causes, rows; then what limits it, then who was compared. To paste
 * (Markdown): the answer and the rows. */
void diff_put(struct diff_view *view);
/* Its end: what limits it, the A/A test, what differs between the sides, who was compared. */
void diff_put_caveats(const struct diff_view *view);

enum status diff_print(const struct comparison *comparison, const struct diff_show *show,
                       const struct table_options *options, struct error *err) CHECK_RESULT;
/* What diff_print() does for LAYOUT_ROWS and LAYOUT_OBJECT. */
void diff_put_rows(struct document *document, const struct comparison *comparison);
/* The members of diff_print_json(). */
void diff_describe_json(struct json_shape *shape);
enum status diff_print_json(const struct comparison *comparison, const struct diff_show *show,
                            FILE *stream, struct error *err) CHECK_RESULT;
enum status diff_print_tests(const struct comparison *comparison, const struct diff_show *show,
                             enum test_format format, FILE *stream, struct error *err) CHECK_RESULT;
