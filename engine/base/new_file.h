/* new_file.h - a file that others see whole or not at all, in a folder where others may write as
 * well.
 *
 * While it is written it has no name, or, where the file system knows no such files, a random
 * hidden one that did not exist before. No link is followed in the folder, which is held by a
 * descriptor from the first step to the last. What a killed program left under a random name is
 * removed by the next one that writes the same file. Every file that haul writes goes this way, but
 * databases that SQLite keeps open and the files of runner/run/lock.h. */
#pragma once

#include "engine/base/error.h"

#include <limits.h>
#include <stdbool.h>

struct new_file {
  int fd;     /* to write to; -1 = none */
  int folder; /* -1 = none */
  bool nameless;
  char temporary[NAME_MAX + 1];
  char name[NAME_MAX + 1];
  const char *path; /* borrowed */
};

/* Begin. Errors name the path; nothing is open after one. */
enum status new_file_open(const char *path, struct new_file *file, struct error *err) CHECK_RESULT;
/* Write it to the disk and move it to its name, with the permissions that the umask leaves.
 * replaces: whatever has that name is replaced, a link as such; else that is an error. Ends as
 * new_file_drop(). */
enum status new_file_place(struct new_file *file, bool replaces, struct error *err) CHECK_RESULT;
/* Close, and remove what was not placed. */
void new_file_drop(struct new_file *file);
/* mkdir -p, of a path shorter than PATH_MAX. false: part cannot be made, and errno says why. */
bool folder_make_all(const char *path, char part[PATH_MAX]);
/* Remove what killed programs of this user left beside path under random names. For a path that no
 * other program writes now: a nameless file has such a name for a moment when it is placed. */
void new_file_clear(const char *path);
