/* merge_input.h - a database to be merged: judged, and made ready to be attached. Only merge.c
 * includes it.
 *
 * It is opened read-only and neither it nor anything beside it is changed. Where it cannot be read
 * as it is - a killed writer left a journal, it is in WAL mode, its schema is older - a copy in a
 * folder beside the output is brought up to date and read instead.
 *
 * Messages do not name the file ("it is damaged ..."): the caller does. */
#ifndef HAUL_RUNNER_RECORD_MERGE_INPUT_H
#define HAUL_RUNNER_RECORD_MERGE_INPUT_H

#include "runner/record/database.h"

struct merge_input {
  struct database *database; /* inside a read transaction: the file stands still */
  char *uri;                 /* to attach it, read-only */
  char *folder;              /* with the copy; NULL = none was needed */
};

/* scratch: where the copy's folder is made, as the beginning of its path. On failure there is
 * nothing to close. Statuses: INVALID (not a results database), UNSUPPORTED (made by a newer haul),
 * CORRUPT (damaged), NOT_FOUND (there is no file, or nothing in it), else what the system said. */
enum status merge_input_open(const char *path, const char *scratch, struct merge_input *input,
                             struct error *err) CHECK_RESULT;
void merge_input_close(struct merge_input *input);

#endif
