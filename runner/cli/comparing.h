/* comparing.h - what diff and check have in common: two sides, by name or by a fact. */
#ifndef HAUL_RUNNER_CLI_COMPARING_H
#define HAUL_RUNNER_CLI_COMPARING_H

#include "runner/analyse/compare.h"
#include "runner/cli/selecting.h"
#include "runner/render/diff.h"

struct comparing {
  const char *names[SIDES]; /* as typed; of --by, "driver_version=580.65.06" */
  size_t name_count;
  const char *by, *from, *to;
  struct compare_options compare;
  bool null;
  unsigned splits;
  struct selecting selecting;
};

struct comparing_result {
  struct database *database;
  struct measured *measured;
  const enum side *sides; /* by run; belongs to the struct comparing */
  struct comparison *comparison;
  struct null_rate null;
};

enum {
  OPTION_BY = 0x620,
  OPTION_FROM,
  OPTION_TO,
  OPTION_DELTA,
  OPTION_METHOD,
  OPTION_ANY_HARDWARE,
  OPTION_NULL,
};
#define COMPARING_OPTIONS                                                                          \
  {"by", OPTION_BY, "FACT", 0, "compare all runs by a fact, e.g. driver_version", 1},              \
      {"from", OPTION_FROM, "VALUE", 0, "with --by: the fact's value on side A", 1},               \
      {"to", OPTION_TO, "VALUE", 0, "with --by: the fact's value on side B", 1},                   \
      {"delta",                                                                                    \
       OPTION_DELTA,                                                                               \
       "PERCENT",                                                                                  \
       0,                                                                                          \
       "smallest change that matters (default 1 for bandwidth from 1 MiB on, else 3)",             \
       1},                                                                                         \
      {"method", OPTION_METHOD, "METHOD", 0, "moderated or rank", 1}, {                            \
    "any-hardware", OPTION_ANY_HARDWARE, 0, 0,                                                     \
        "compare cases whichever GPUs and hosts they were measured on", 1                          \
  }

/* Defaults; call before cli_parse(). */
void comparing_init(struct comparing *comparing);
/* Words of the command line are sides: at most two. */
error_t comparing_parse(int key, char *arg, struct argp_state *state, struct comparing *comparing);
void comparing_fini(struct comparing *comparing);

/* Read the database and compare. The result is to be ended with comparing_result_fini(), also after
 * a failure. */
enum status comparing_run(const struct common_options *common, struct comparing *comparing,
                          struct comparing_result *result, struct error *err) CHECK_RESULT;
void comparing_result_fini(struct comparing_result *result);

/* What an undecided comparison needs: a note on stderr with the commands, of what can be measured
 * again. Nothing when none is. */
void comparing_say_what_helps(const struct common_options *common, struct comparing *comparing,
                              const struct comparing_result *result);

/* The first member of the options of diff and of check. */
struct comparing_verb {
  struct common_options common;
  struct comparing comparing; /* as comparing_init() has left it and the command line made it */
};
/* options: what begins with struct comparing_verb. What is to be shown, names and `all` apart. */
typedef void comparing_choose(const struct comparing_verb *options,
                              const struct comparing_result *result, struct diff_show *show);
/* The exit code that the comparison is worth. */
typedef int comparing_judge(const struct comparing_verb *options,
                            const struct comparison *comparison);

/* Compare, show and say what helps. Returns the exit code, of an error too, which is said; judge
 * NULL: 0. Ends options->comparing. */
int comparing_main(struct comparing_verb *options, comparing_choose *choose,
                   comparing_judge *judge);

#endif
