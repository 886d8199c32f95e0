/* batch.h - the scenarios of a command line: found, read, all of them valid before anything else
 * happens. Shared by run, plan and validate. */
#ifndef HAUL_RUNNER_CLI_BATCH_H
#define HAUL_RUNNER_CLI_BATCH_H

#include "runner/cli/cli.h"
#include "runner/cli/input.h"

/* The options by which a command line changes what a scenario says. */
struct batch_options {
  char **words; /* files, folders, names */
  size_t word_count, word_capacity;
  struct scenario_override *overrides; /* --set and --processes, in their order */
  size_t override_count, override_capacity;
  const char *only;
  struct arena arena; /* of all the above */
};

enum { OPTION_ONLY = 0x200, OPTION_SET, OPTION_PROCESSES };
/* Rows for a verb's argp_option table. */
#define BATCH_OPTION_SET                                                                           \
  {                                                                                                \
    "set", OPTION_SET, "KEY=VALUE", 0,                                                             \
        "change a key of the scenario: measure.max_time=20ms, BLOCK.size=1GiB", 1                  \
  }
#define BATCH_OPTION_ONLY                                                                          \
  { "only", OPTION_ONLY, "GLOB", 0, "only the cases or blocks whose names match", 1 }
#define BATCH_OPTION_PROCESSES                                                                     \
  { "processes", OPTION_PROCESSES, "N", 0, "worker processes, one after the other", 1 }

/* Part of a verb's parser: takes the options above and all arguments. */
error_t batch_parse(int key, char *arg, struct argp_state *state, struct batch_options *options);
void batch_options_fini(struct batch_options *options);

struct batch {
  struct input_list inputs;
  struct scenario **scenarios; /* one an input */
};

/* Read them all. Every complaint about any of them goes to stderr; EXIT_DONE when there is none. */
int batch_read(const struct common_options *common, struct batch_options *options,
               struct batch *batch);
void batch_fini(struct batch *batch);

#endif
