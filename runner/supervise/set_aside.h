/* set_aside.h - GPUs that keep failing are set aside, so that they cost the others no time.
 *
 * A case that loses its worker (its context, a crash, the watchdog) speaks against the GPUs that it
 * uses together: of a pair, nobody knows which one failed. After SET_ASIDE_FAILURES such cases in a
 * row on the same GPUs, with no good case on them between, each later case that uses all of them
 * gets the reason instead of being run. A case without a GPU is never set aside. */
#pragma once

#include "engine/case/trial.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SET_ASIDE_FAILURES = 3, SET_ASIDE_SETS_MAX = 256 };

/* Zeroed at first. */
struct set_aside {
  struct set_aside_gpus {
    uint32_t gpus; /* bit i: GPU i */
    uint32_t failures;
    char reason[CASE_REASON_MAX]; /* of the last failure */
  } sets[SET_ASIDE_SETS_MAX];
  size_t count;
};

enum {
  SET_ASIDE_NAMES_MAX = 256,
  SET_ASIDE_WARNING_MAX = SET_ASIDE_NAMES_MAX + CASE_REASON_MAX + 128
};
/* A case on these GPUs cost its worker, for that reason. True, with a warning: from now on they are
 * set aside. Sets past SET_ASIDE_SETS_MAX are run each time. */
bool set_aside_note_failure(struct set_aside *aside, uint32_t gpus, const char *reason,
                            char warning[SET_ASIDE_WARNING_MAX]);
/* A case on these GPUs left its worker whole. */
void set_aside_note_success(struct set_aside *aside, uint32_t gpus);
/* True, with the reason: a case on these GPUs is not to be run. */
bool set_aside_has(const struct set_aside *aside, uint32_t gpus, char reason[CASE_REASON_MAX]);
