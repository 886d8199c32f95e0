/* health.h - what a scenario with measure.verdict = "expected" does beside measuring, such as
 * scenarios/health.toml: its results are judged, what falls short is measured once more before it
 * counts, and one line and the exit code say whether the node is as it should be.
 *
 * healthy (0): all that is known is as usual, and nobody else is at work. unhealthy (1): a GPU or
 * link falls short twice, or another program keeps a GPU busy. 3: a case went wrong, or nothing is
 * known of this machine. */
#ifndef HAUL_RUNNER_CLI_HEALTH_H
#define HAUL_RUNNER_CLI_HEALTH_H

#include "runner/cli/cli.h"
#include "runner/run/run.h"

struct health {
  struct command *command;
  struct expect_judge *judge;
  struct run_outcome outcome; /* of the last run */
  const char *busy;           /* who was at work when the run began; NULL = nobody */
};

/* Wait until no other program works on a GPU, limit_ns at most; command->target is probed anew as
 * often as that takes. *busy: who is at work still, in the command's arena; NULL = nobody. */
enum status health_wait(struct command *command, uint64_t limit_ns,
                        const volatile sig_atomic_t *interrupted, const char **busy,
                        struct error *err) CHECK_RESULT;

/* Where results can be written: the user's database or, where there is no place for it and none was
 * named, a file that health_forget_database() removes; *scratch is its path, else NULL. */
enum status health_database(struct command *command, const char **path, char **scratch,
                            struct error *err) CHECK_RESULT;
void health_forget_database(char *scratch);

/* Judge the run of health->outcome: the first time all of it, the second time what was short.
 * *again: what to measure once more; count 0 = nothing. */
enum status health_judge(struct health *health, const struct run_request *request,
                         struct case_keys *again, struct error *err) CHECK_RESULT;
/* Says the line, frees the judge, and returns the exit code. */
int health_end(struct health *health, int code);

#endif
