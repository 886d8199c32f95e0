/* compare_runs.h - the runs of a database on two sides, named one by one or distinguished by a
 * fact, and compared. What diff, check and report ask for. */
#pragma once

#include "runner/analysis/a_a_test.h"
#include "runner/analysis/compare.h"
#include "runner/analysis/filter.h"

struct compare_request {
  const char *names[SIDES]; /* as typed; of --by, "driver_version=580.65.06" */
  size_t name_count;
  const char *by, *from, *to; /* a fact and its values on side A and B; by NULL = names count */
  const char *left_out;       /* filled in: comparison.left_out */
  struct compare_options compare;
  bool a_a; /* also split side A at random */
  unsigned splits;
  struct filter filter; /* its arena has everything that comes of the request */
};

struct compare_result {
  struct results *results;
  const enum side *sides; /* by run; belongs to the request */
  struct comparison *comparison;
  struct outliers *alone; /* comparison.alone */
  struct a_a_result a_a;
};

struct outlier_part;
/* Whether one case alone became slower of the part, and the node has a row of its own for it, whose
 * verdict counts. */
bool compare_part_is_row(const struct comparison *comparison, const struct outlier_part *part);

/* Defaults. */
void compare_request_init(struct compare_request *request);
void compare_request_fini(struct compare_request *request);

/* Read the database and compare. Fills in names and the options that follow from them. The result
 * is to be ended with compare_result_fini(), also after a failure. */
enum status compare_runs(struct database *database, struct compare_request *request,
                         struct compare_result *result, struct error *err) CHECK_RESULT;
void compare_result_fini(struct compare_result *result);
