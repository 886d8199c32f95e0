/* verbs.h - the verbs, one file each (runner/cli/verb_NAME.c). */
#ifndef HAUL_RUNNER_CLI_VERBS_H
#define HAUL_RUNNER_CLI_VERBS_H

#include "runner/cli/cli.h"

extern const struct verb VERB_RUN, VERB_PLAN, VERB_VALIDATE, VERB_SHOW, VERB_ENV, VERB_LIST,
    VERB_QUERY, VERB_DIFF, VERB_CHECK, VERB_HISTORY, VERB_OUTLIERS, VERB_BASELINE, VERB_MERGE,
    VERB_IMPORT, VERB_EXPORT, VERB_SCHEMA, VERB_COMPLETION;

#endif
