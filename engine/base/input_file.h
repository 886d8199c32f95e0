/* input_file.h - a file to read, which another user may have put there.
 *
 * Opening never waits: a FIFO or device under the name of a file is refused. */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Opens a regular file, or /dev/null, for reading; *fd is the caller's to close. piped: the user
 * named it, so that it may be a pipe that this process holds already (/dev/fd/63, which a shell
 * makes of
 * <(COMMAND); /dev/stdin). Errors do not name the path: "this is a FIFO, not a file". */
enum status input_file_open(const char *path, bool piped, int *fd, struct error *err) CHECK_RESULT;
/* The whole of such a file, in the arena, with '\0' behind it. what: of what it is, "a scenario",
 * for the message where it is longer than max_bytes. */
enum status input_file_read(const char *path, bool piped, const char *what, size_t max_bytes,
                            struct arena *arena, const char **text, size_t *length,
                            struct error *err) CHECK_RESULT;
/* Whether the path is a link that another user (not root) made to a file that is not that user's.
 * To follow it is to read or write a file that the other user cannot. shown: a file that everybody
 * may read does not count. */
bool input_file_is_trap(const char *path, bool shown);
/* Whether most of a large file is holes: copying or reading it would take what its owner never
 * had. */
bool input_file_is_hollow(const struct stat *info);
/* "a FIFO", "a directory": what it is instead of a regular file. */
const char *input_file_kind(mode_t mode);
/* Whether a file at that path begins with these bytes; false where it cannot be read. */
bool input_file_begins(const char *path, const void *bytes, size_t size);
