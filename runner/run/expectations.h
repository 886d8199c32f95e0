/* expectations.h - the data files of expectations that hold here, opened together: the user's, and
 * the shipped one. */
#ifndef HAUL_RUNNER_RUN_EXPECTATIONS_H
#define HAUL_RUNNER_RUN_EXPECTATIONS_H

#include "runner/console/console.h"
#include "runner/expect/judge.h"

struct expectations {
  struct expect_set set;
  struct expect_file *files[EXPECT_FILES_MAX]; /* those of the set, owned */
};

/* given: a file; NULL: the one that HAUL_EXPECT or ~/.config/haul/expect.toml names, if there is
 * one. Its mistakes are printed on stderr; then false, and the shipped file alone is open. */
bool expectations_open(struct expectations *expectations, const struct common_options *common,
                       const char *given);
void expectations_fini(struct expectations *expectations);

#endif
