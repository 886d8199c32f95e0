/* selecting.h - which runs and cases a verb that looks back is about: the options that diff, check,
 * history and outliers share. */
#ifndef HAUL_RUNNER_CLI_SELECTING_H
#define HAUL_RUNNER_CLI_SELECTING_H

#include "runner/cli/cli.h"
#include "runner/record/measured.h"

/* --where KEY=VALUE */
struct where {
  const char *fact, *pattern; /* pattern: as of a shell */
};

/* The first member of a verb's options is struct common_options; this may be another. */
struct selecting {
  const char *only;
  struct where *wheres;
  size_t where_count, where_capacity;
  struct arena arena;
};

enum { OPTION_ONLY = 0x600, OPTION_WHERE };
#define SELECTING_OPTIONS                                                                          \
  {"only", OPTION_ONLY, "GLOB", 0, "cases or blocks of that name, or one case_key", 2}, {          \
    "where", OPTION_WHERE, "FACT=VALUE", 0,                                                        \
        "runs with that fact of their environment, or tag, scenario, haul_version, origin; "       \
        "VALUE is a glob; may be repeated",                                                        \
        2                                                                                          \
  }

/* ARGP_ERR_UNKNOWN for keys of others. */
error_t selecting_parse(int key, char *arg, struct argp_state *state, struct selecting *selecting);
void selecting_fini(struct selecting *selecting);

/* Open the database that the options name, for reading. */
enum status selecting_open(const struct common_options *common, struct selecting *selecting,
                           struct database **database, struct error *err) CHECK_RESULT;
/* Add the runs of the selectors (none: all runs), and keep those that every --where fits.
 * measured_run.selector says which selector named a run (the first that does). STATUS_NOT_FOUND
 * when none is left. */
enum status selecting_runs(struct selecting *selecting, struct database *database,
                           struct measured *measured, const char *const *selectors,
                           size_t selector_count, struct error *err) CHECK_RESULT;
/* STATUS_NOT_FOUND with the nearest names when no run has such a fact. */
enum status selecting_check_fact(struct measured *measured, const char *fact,
                                 struct error *err) CHECK_RESULT;

#endif
