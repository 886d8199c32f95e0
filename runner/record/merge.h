/* merge.h - results of many databases into one.
 *
 * environment, scenario and bench_case are known by the key of their content and run by its UUID,
 * so that merging is idempotent and any order gives the same content; ids are those of the output.
 * A run that both have and that was resumed in one of them is completed. A file that is as it was
 * when it was merged, or found to be damaged, is not read again. Baselines are local to a
 * database and stay where they are.
 *
 * An input is merged whole, in one transaction, or not at all. It is read from disk to disk: memory
 * does not grow with it. It is opened read-only and never changed, not even where a killed writer
 * left a journal; it is checked first (version, integrity, references). One that was made by a
 * newer haul is refused whole: what a newer schema added would be lost without a word. */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "runner/record/database.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct merge;

struct merge_result {
  bool same;         /* the input is the output itself: nothing was done */
  int64_t runs;      /* in the input */
  int64_t added;     /* of them, new in the output */
  int64_t completed; /* of them, known, and further in the input than in the output */
  int64_t results;   /* cases in processes that were added */
};

/* The output is opened, or made, with the first good input; path is borrowed. interrupted may be
 * NULL; not 0: the input at hand is left out with STATUS_INTERRUPTED. */
struct merge *merge_new(const char *path, const volatile sig_atomic_t *interrupted);
/* The output, open for writing: so that tests can add tables after it was opened. The merge closes
 * it. */
enum status merge_take_output(struct merge *merge, struct database *output,
                              struct error *err) CHECK_RESULT;
/* The output's journal is left as it is, although another one is faster. */
void merge_keep_journal(struct merge *merge);
/* Accepts NULL. */
void merge_free(struct merge *merge);
/* On failure the output is as it was before this input. *fatal: it is the output that cannot be
 * used (or the user who interrupts), so that other inputs need not be tried; otherwise the message
 * says what is wrong with the input, which it does not name ("it is damaged ..."). */
enum status merge_add(struct merge *merge, const char *path, struct merge_result *result,
                      bool *fatal, struct error *err) CHECK_RESULT;
/* After the last input: writes which were skipped and why. *fleets: names of those that got
 * anything, or, where none did, the one that was started last; the arena's. */
enum status merge_finish(struct merge *merge, struct arena *arena, const char ***fleets,
                         size_t *count, struct error *err) CHECK_RESULT;
