/* analysis.h - what verbs share that ask something of recorded results: load what was measured, or
 * compare two sides of it and show what came of that. */
#pragma once

#include "runner/cli/options.h"
#include "runner/render/diff.h"

/* Fill command->results with the runs of the selectors (none: all) that --where lets through, and
 * with their cases that --only lets through. */
enum status analysis_load(struct command *command, const char *const *selectors,
                          size_t selector_count, struct error *err) CHECK_RESULT;

/* Compare what command->request asks for. compare_result_fini() ends the result in any case. */
enum status analysis_compare(struct command *command, struct compare_result *result,
                             struct error *err) CHECK_RESULT;
/* Show it on stdout, and on stderr what would decide undecided cases. Fills in the show's names and
 * `all`. */
enum status analysis_show(struct command *command, const struct compare_result *result,
                          struct diff_show *show, struct error *err) CHECK_RESULT;
/* A note on stderr: how many more runs or processes each side needs, and the commands that measure
 * them, of what can be measured again. Nothing when no case is undecided for want of them. */
void compare_advise(const struct common_options *common, struct database *database,
                    struct compare_request *request, const struct compare_result *result);
