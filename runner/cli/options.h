/* options.h - options that several verbs share: rows for their argp_option tables, and the parsers
 * that those rows need.
 *
 * Each parser is a part of a verb's own: it returns ARGP_ERR_UNKNOWN for the keys of others. A
 * mistake ends the process (argp_error()). */
#ifndef HAUL_RUNNER_CLI_OPTIONS_H
#define HAUL_RUNNER_CLI_OPTIONS_H

#include "runner/analysis/compare_runs.h"
#include "runner/cli/cli.h"
#include "runner/run/batch.h"

enum {
  OPTION_SET = 0x200,
  OPTION_PROCESSES,
  OPTION_ONLY,
  OPTION_WHERE,
  OPTION_BY,
  OPTION_FROM,
  OPTION_TO,
  OPTION_DELTA,
  OPTION_METHOD,
  OPTION_ANY_HARDWARE,
  OPTION_A_A,
  OPTION_PLOT,
  OPTION_OF_VERB = 0x300, /* the first key of a verb's own options */
};

/* Every verb takes these; a row of the list in options.c each. */
extern const struct argp_option COMMON_OPTIONS[];
extern const struct argp COMMON_ARGP; /* its input is a struct common_options */

/* Whether this row closes a table of options. */
bool options_end(const struct argp_option *option);
/* Whether help, completion and the manual page list it. */
bool options_is_listed(const struct argp_option *option);

/* Which scenarios, and what to change in them: run, plan, validate. */
#define BATCH_OPTION_SET                                                                           \
  {                                                                                                \
    "set", OPTION_SET, "KEY=VALUE", 0,                                                             \
        "change a key of the scenario: measure.max_time=20ms, BLOCK.size=1GiB", 1                  \
  }
#define BATCH_OPTION_ONLY                                                                          \
  { "only", OPTION_ONLY, "GLOB", 0, "only the cases or blocks whose names match", 1 }
#define BATCH_OPTION_PROCESSES                                                                     \
  { "processes", OPTION_PROCESSES, "N", 0, "number of worker processes, one after the other", 1 }
/* Takes all arguments; without any, and unless `optional`, it ends the process. */
error_t batch_options_parse(int key, char *arg, struct argp_state *state,
                            struct batch_options *options, bool optional);

/* Which runs and cases: diff, check, history, outliers, export. */
#define FILTER_OPTIONS                                                                             \
  {"only", OPTION_ONLY, "GLOB", 0, "only the cases or blocks whose names match, or one case_key",  \
   2},                                                                                             \
  {                                                                                                \
    "where", OPTION_WHERE, "FACT=VALUE", 0,                                                        \
        "only runs with that fact of their environment, or that tag, scenario, haul_version or "   \
        "origin; VALUE is a glob; may be repeated",                                                \
        2                                                                                          \
  }
error_t filter_options_parse(int key, char *arg, struct argp_state *state, struct filter *filter);

/* Two sides: diff, check. */
#define COMPARE_OPTIONS                                                                            \
  {"by", OPTION_BY, "FACT", 0, "compare all runs by a fact, for example driver_version", 1},       \
      {"from", OPTION_FROM, "VALUE", 0, "with --by: the value of the fact on side A", 1},          \
      {"to", OPTION_TO, "VALUE", 0, "with --by: the value of the fact on side B", 1},              \
      {"delta",                                                                                    \
       OPTION_DELTA,                                                                               \
       "PERCENT",                                                                                  \
       0,                                                                                          \
       "smallest change that matters (default: 1 for bandwidth from 1 MiB on, else 3)",            \
       1},                                                                                         \
      {"method",                                                                                   \
       OPTION_METHOD,                                                                              \
       "METHOD",                                                                                   \
       0,                                                                                          \
       "statistical test: moderated (t test with moderated variances, the default) or rank",       \
       1},                                                                                         \
  {                                                                                                \
    "any-hardware", OPTION_ANY_HARDWARE, 0, 0,                                                     \
        "compare cases even when they were measured on different GPUs and hosts", 1                \
  }
/* Arguments are sides: at most two. FILTER_OPTIONS are among its keys. */
error_t compare_options_parse(int key, char *arg, struct argp_state *state,
                              struct compare_request *request);

/* Curves instead of, or below, a table: run, query. */
#define PLOT_OPTION                                                                                \
  {                                                                                                \
    "plot", OPTION_PLOT, "SCALE", OPTION_ARG_OPTIONAL,                                             \
        "draw sweeps as curves: log (both axes, the default), semilog (x alone) or linear", 1      \
  }
/* At ARGP_KEY_END it rejects a --format that a plot cannot be in; returns ARGP_ERR_UNKNOWN all the
 * same. */
error_t plot_options_parse(int key, char *arg, struct argp_state *state,
                           struct plot_request *request, const struct common_options *common);

/* "unknown WHAT 'ARG' (did you mean 'NAME'?): one of A, B, C". names ends with NULL. */
void options_reject_name(struct argp_state *state, const char *what, const char *arg,
                         const char *const *names);
/* NAME=VALUE in its two parts, the name in the arena. The message about a mistake names the option,
 * the form ("KEY=VALUE") and an example. */
struct option_pair {
  const char *name, *value;
};
struct option_pair options_split(struct argp_state *state, struct arena *arena, const char *option,
                                 const char *form, const char *example, const char *arg);
/* An argument that must not be empty. */
const char *options_non_empty(struct argp_state *state, const char *option, const char *arg);

#endif
