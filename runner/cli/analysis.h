/* analysis.h - the frame of the verbs that ask something of recorded results: open the database,
 * choose runs, load or compare them, show, close.
 *
 * Both functions return the exit code, report errors, and end the options' request or filter. */
#ifndef HAUL_RUNNER_CLI_ANALYSIS_H
#define HAUL_RUNNER_CLI_ANALYSIS_H

#include "runner/cli/options.h"
#include "runner/record/database.h"
#include "runner/render/diff.h"

/* Open the database that the options name, for reading. */
enum status analysis_open(const struct common_options *common, struct arena *arena,
                          struct database **database, struct error *err) CHECK_RESULT;

/* History, outliers: the first member of the options of such a verb. */
struct analysis_options {
  struct common_options common;
  struct filter filter;
  const char *const *selectors; /* runs; none = all */
  size_t selector_count;
};

/* options: what begins with struct analysis_options. */
typedef enum status analysis_show(const struct analysis_options *options, struct measured *measured,
                                  struct error *err);
int analysis_main(struct analysis_options *options, analysis_show *show);

/* Diff, check: the first member of the options of such a verb. */
struct analysis_compare_options {
  struct common_options common;
  struct compare_request request;
};

/* options: what begins with struct analysis_compare_options. Sets what to show; names and `all` are
 * set before. */
typedef void analysis_choose(const struct analysis_compare_options *options,
                             const struct compare_result *result, struct diff_show *show);
/* The exit code that the comparison deserves. */
typedef int analysis_judge(const struct analysis_compare_options *options,
                           const struct comparison *comparison);
/* judge may be NULL: EXIT_DONE, whatever was found. */
int analysis_compare_main(struct analysis_compare_options *options, analysis_choose *choose,
                          analysis_judge *judge);

#endif
