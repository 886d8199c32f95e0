/* merge_input.h - an input of a merge: judged, and made ready to be attached.
 *
 * It is opened read-only, and neither it nor anything beside it is changed. Where it cannot be read
 * as it is (a killed writer left a journal, it is in WAL mode, its schema is older), a copy in a
 * folder beside the output is brought up to date and read instead. Messages do not name the file
 * ("it is damaged ..."): the caller does. */
#pragma once

#include "runner/record/content.h"
#include "runner/record/database.h"

#include <limits.h>

struct merge_input {
  struct database *database; /* inside a read transaction: the file stands still */
  char *uri;                 /* to attach it, read-only */
  char *folder;              /* with the copy; NULL = none was needed */
  int held;                  /* that folder; -1 = there is none */
};

/* scratch: beginning of the path of the copy's directory. On failure there is nothing to close.
 * Statuses: INVALID (not a results database), UNSUPPORTED (made by a newer haul), CORRUPT
 * (damaged), NOT_FOUND (there is no file, or nothing in it), else what the system said. */
enum status merge_input_open(const char *path, const char *scratch, struct merge_input *input,
                             struct error *err) CHECK_RESULT;
void merge_input_close(struct merge_input *input);

/* A file as it is now: it has the same version as long as nobody writes to it or replaces it. */
struct merge_file {
  char path[PATH_MAX];
  int64_t size_bytes;             /* 0 = not known */
  char version[120];              /* "" = not known, or it may change unnoticed */
  char node[NAME_MAX + 1];        /* of a shard, from its name; "" = it is none */
  char run_uuid[CONTENT_KEY_MAX]; /* the same */
};
void merge_input_identify(const char *path, struct merge_file *file);
