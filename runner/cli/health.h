/* health.h - what a scenario with measure.verdict = "expected" does beside measuring, such as
 * scenarios/health.toml: its results are judged, what falls short or is unclear is measured once
 * more before it counts, and one line and the exit code say whether the node is as it should be.
 *
 * healthy (0): what is known is as usual or, in part, too noisy to tell, and nobody else is at
 * work. unhealthy (1): a GPU or link falls short twice, another program keeps a GPU busy, a case
 * hangs, crashes or yields wrong bytes, a GPU takes no work after it, or a GPU, the driver or NVML
 * gives no answer. 3: a case failed for another reason, somebody or the kernel, for want of memory,
 * killed its worker or the process that asked the driver, or there was no time left for it, every
 * result is too noisy to tell, one of them may be slow or the host busy (EXPECT_DISTURBED), nothing
 * is known of this machine, or it has no GPU. */
#pragma once

#include "runner/cli/cli.h"
#include "runner/run/run.h"

struct health {
  struct command *command;
  struct expect_judge *judge;
  struct run_outcome outcome; /* of the last run */
  char first[RUN_UUID_MAX];   /* the run of all cases; "" = none was begun */
  int64_t first_number;
  const char *busy;   /* who was at work when the run began; NULL = nobody */
  uint64_t busy_gpus; /* bit i: somebody was on GPU i */
};

/* Wait until no other program works on a GPU, limit_ns at most; the command's target is probed anew
 * as often as that takes. Sets busy and busy_gpus. */
enum status health_wait(struct health *health, uint64_t limit_ns,
                        const volatile sig_atomic_t *interrupted, struct error *err) CHECK_RESULT;

/* Where results can be written: the user's database or, where there is no place for it and none was
 * named, a file that health_forget_database() removes; *scratch is its path, else NULL. */
enum status health_database(struct command *command, const char **path, char **scratch,
                            struct error *err) CHECK_RESULT;
void health_forget_database(char *scratch);

/* Judge the run of health->outcome and, the second time, what of it was measured once more.
 * *again: what to measure once more, and how; count 0 = nothing. */
enum status health_judge(struct health *health, const struct run_request *request,
                         struct case_keys *again, struct error *err) CHECK_RESULT;
/* Says the line, frees the judge, and returns the exit code. */
int health_end(struct health *health, int code);
