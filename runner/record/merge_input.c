#include "runner/record/merge_input.h"

#include "engine/base/input_file.h"
#include "runner/record/companion.h"
#include "runner/record/file.h"
#include "runner/record/foreign.h"
#include "runner/record/migrate.h"
#include "runner/record/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_NAME "/input.db"
enum { FAILURE_BYTES_MAX = 700 };

/* A path as SQLite's URIs have it (https://www.sqlite.org/uri.html). */
static char *merge_read_only_uri(const char *path) {
  static const char DIGITS[] = "0123456789ABCDEF";
  static const char HEAD[] = "file:";
  static const char TAIL[] = "?mode=ro";
  char *uri = memory_new(3, strlen(path) + sizeof HEAD + sizeof TAIL);
  char *end = stpcpy(uri, HEAD);
  for (const char *c = path; *c != '\0'; c++) {
    const unsigned char byte = (unsigned char)*c;
    if (strchr("%?#", *c) != NULL) {
      *end++ = '%';
      *end++ = DIGITS[byte >> 4];
      *end++ = DIGITS[byte & 15];
    } else {
      *end++ = *c;
    }
  }
  (void)stpcpy(end, TAIL);
  return uri;
}

/* Checks the file before SQLite opens it. */
static enum status merge_look(const char *path, bool *write_ahead, struct error *err) {
  struct stat info;
  if (stat(path, &info) != 0) {
    return error_set_errno(err, errno, "it cannot be read");
  }
  if (!S_ISREG(info.st_mode)) {
    return error_set(err, STATUS_INVALID, "it is not a regular file");
  }
  if (input_file_is_hollow(&info)) {
    return error_set(err, STATUS_INVALID,
                     "it is mostly holes (a sparse file), which haul never makes");
  }
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return error_set_errno(err, errno, "it cannot be read");
  }
  struct database_file_header header;
  enum status status = database_file_read_header(fd, &header);
  int failure = errno;
  (void)close(fd);
  if (status != STATUS_OK) {
    return error_set_errno(err, failure, "it cannot be read");
  }
  if (header.empty) {
    return error_set(err, STATUS_NOT_FOUND, "it is an empty file, without results");
  }
  if (!header.sqlite) {
    return error_set(err, STATUS_INVALID, "it is not a results database but some other file");
  }
  *write_ahead = header.write_ahead;
  return companion_check(path, err);
}

/* A newer schema is refused: merging would silently lose what it added. */
static enum status merge_judge_version(struct database *database, struct error *err) {
  RETURN_ON_ERROR(migrate_check(database, DATABASE_WRITE, err));
  if (database->version == 0) {
    return error_set(err, STATUS_NOT_FOUND, "it is an empty database, without results");
  }
  RETURN_ON_ERROR(foreign_check_tables(database, err));
  return database_refuse_row(
      database, "foreign/encoding", STATUS_INVALID,
      "its texts are in %s, which haul never writes: it was changed by other means", err);
}

static enum status merge_judge_content(const char *path, struct database *database,
                                       struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  const char *found[ROW_WORDS];
  RETURN_ON_ERROR(database_read_words(database, "merge/integrity", NULL, &arena, found, err));
  if (found[0] != NULL && strcmp(found[0], "ok") != 0) {
    /* The first line only names the database. */
    const char *line = strncmp(found[0], "***", 3) == 0 ? strchr(found[0], '\n') : NULL;
    line = line != NULL ? line + 1 : found[0];
    return error_set(err, STATUS_CORRUPT, "it is damaged (%.*s)%s", (int)strcspn(line, "\n"), line,
                     database_rescue(&arena, path));
  }
  return database_refuse_row(database, "database/broken_references", STATUS_CORRUPT,
                             "it is damaged: rows of %s refer to rows that are not there (it was "
                             "changed by other means)",
                             err);
}

static enum status merge_copy_by_pages(struct database *from, const char *copy, struct error *err) {
  sqlite3 *to = NULL;
  int code =
      sqlite3_open_v2(copy, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, companion_vfs());
  enum status status = code == SQLITE_OK
                           ? database_copy_pages(from, to, err)
                           : error_set_native(err, STATUS_IO, code, "cannot be copied to %s: %s",
                                              copy, sqlite3_errstr(code));
  (void)sqlite3_close(to);
  return status == STATUS_OK ? STATUS_OK : error_prefix(err, "it ");
}

/* Read a copy instead: of the pages if the file could be opened, else of the file and its journals.
 */
static enum status merge_use_copy(const char *path, const char *scratch, struct merge_input *input,
                                  struct error *err) {
  char *folder = memory_format("%s-merge-XXXXXX", scratch);
  if (mkdtemp(folder) == NULL) {
    enum status status =
        error_set_errno(err, errno, "it needs a copy, but %s cannot be created", folder);
    free(folder);
    return status;
  }
  input->folder = folder;
  input->held = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  enum status status = STATUS_OK;
  SCOPED(memory_free) char *copy = memory_format("%s" COPY_NAME, input->folder);
  if (input->database != NULL) {
    status = merge_copy_by_pages(input->database, copy, err);
  } else {
    status = database_file_copy(path, copy, err);
  }
  database_close(input->database);
  input->database = NULL;
  /* Plays the journal back. */
  status = THEN(status, database_migrate_copy(copy, err));
  status = THEN(status, database_open_untouched(copy, &input->database, err));
  return THEN(status, database_script(input->database, "merge/read", err));
}

/* *left_over: a killed writer left a journal, which a read-only connection cannot play back. */
static enum status merge_open_as_it_is(const char *path, struct merge_input *input, bool *left_over,
                                       struct error *err) {
  struct error failure = {0};
  enum status status = database_open_untouched(path, &input->database, &failure);
  status = THEN(status, database_script(input->database, "merge/read", &failure));
  if (status == STATUS_OK) {
    return STATUS_OK;
  }
  database_close(input->database);
  input->database = NULL;
  const int code = failure.native_code;
  *left_over = code == SQLITE_READONLY_ROLLBACK || code == SQLITE_READONLY_RECOVERY ||
               code == SQLITE_READONLY_CANTINIT || (code & 0xff) == SQLITE_CANTOPEN;
  return *left_over ? STATUS_OK : error_set_native(err, status, code, "%s", failure.message);
}

static enum status merge_prepare(const char *path, const char *scratch, struct merge_input *input,
                                 struct error *err) {
  bool left_over = false;
  enum status status = merge_look(path, &left_over, err);
  if (status == STATUS_OK && !left_over) {
    status = merge_open_as_it_is(path, input, &left_over, err);
  }
  if (status == STATUS_OK && left_over) {
    status = merge_use_copy(path, scratch, input, err);
  }
  status = THEN(status, merge_judge_version(input->database, err));
  status = THEN(status, merge_judge_content(path, input->database, err));
  if (status == STATUS_OK && input->database->version < migrate_latest_version()) {
    status = merge_use_copy(path, scratch, input, err);
  }
  return status;
}

/* The caller names the file as the user gave it. */
static void merge_drop_path(const char *path, struct error *err) {
  size_t length = strlen(path);
  if (err != NULL && strncmp(err->message, path, length) == 0 &&
      strncmp(err->message + length, ": ", 2) == 0) {
    memmove(err->message, err->message + length + 2, strlen(err->message + length + 2) + 1);
  }
}

/* By the descriptor, and only the files that were made there: a user who may rename the folder can
 * put another one in its place. */
static void merge_remove_folder(const char *path, int held) {
  static const char *const FILES[] = {"input.db", "input.db-journal", "input.db-wal",
                                      "input.db-shm"};
  for (size_t i = 0; held >= 0 && i < COUNT_OF(FILES); i++) {
    (void)unlinkat(held, FILES[i], 0);
  }
  if (held >= 0) {
    (void)close(held);
  }
  (void)rmdir(path);
}

void merge_input_close(struct merge_input *input) {
  database_close(input->database);
  if (input->folder != NULL) {
    merge_remove_folder(input->folder, input->held);
  }
  free(input->folder);
  free(input->uri);
  *input = (struct merge_input){.held = -1};
}

/* What a node left that could not write its shard. */
static enum status merge_read_failure(const char *path, struct error *err) {
  char reason[FAILURE_BYTES_MAX + 1];
  struct stat info;
  int fd = -1;
  /* haul makes no links there: one would show what it leads to. */
  if (lstat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink != 1) {
    return error_set(err, STATUS_INVALID, "it has several names (hard links)");
  }
  if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode)) {
    return error_set(err, STATUS_INVALID, "it is a link, not what a node left");
  }
  RETURN_ON_ERROR(input_file_open(path, false, &fd, err));
  const ssize_t got = read(fd, reason, sizeof reason - 1);
  (void)close(fd);
  reason[got > 0 ? got : 0] = '\0';
  return error_set(err, STATUS_IO, "its node could not write the shard: %s",
                   reason[0] != '\0' ? reason : "no space left, not even for the reason");
}

enum status merge_input_open(const char *path, const char *scratch, struct merge_input *input,
                             struct error *err) {
  struct merge_input opened = {.held = -1};
  if (input_file_is_trap(path, true)) {
    return error_set(err, STATUS_DENIED,
                     "it is a link that another user made, to a file that is not that user's");
  }
  if (database_file_is_failure(path)) {
    return merge_read_failure(path, err);
  }
  SCOPED(memory_free) char *full = realpath(path, NULL);
  if (full == NULL) {
    return error_set_errno(err, errno, "it cannot be read");
  }
  enum status status = merge_prepare(full, scratch, &opened, err);
  if (status == STATUS_OK) {
    char *copy = opened.folder != NULL ? memory_format("%s" COPY_NAME, opened.folder) : NULL;
    opened.uri = merge_read_only_uri(copy != NULL ? copy : full);
    free(copy);
    *input = opened;
  } else {
    merge_drop_path(full, err);
    merge_input_close(&opened);
  }
  return status;
}

/* ---- which version of a file it is ---- */

void merge_input_identify(const char *path, struct merge_file *file) {
  struct stat info;
  struct database_file_header header = {0};
  *file = (struct merge_file){0};
  SCOPED(memory_free) char *full = realpath(path, NULL);
  (void)snprintf(file->path, sizeof file->path, "%s", full != NULL ? full : path);
  const int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  SCOPED(memory_free) char *journal = memory_format("%s-journal", file->path);
  if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
      database_file_read_header(fd, &header) == STATUS_OK && !header.write_ahead &&
      access(journal, F_OK) != 0) {
    file->size_bytes = info.st_size;
    (void)snprintf(file->version, sizeof file->version, "%lld.%lld.%lld.%09ld.%u",
                   (long long)info.st_size, (long long)info.st_ino, (long long)info.st_mtim.tv_sec,
                   info.st_mtim.tv_nsec, header.change_counter);
  }
  if (fd >= 0) {
    (void)close(fd);
  }
  const char *name = strrchr(file->path, '/') != NULL ? strrchr(file->path, '/') + 1 : file->path;
  const char *dash = strrchr(name, '-');
  const size_t uuid_length = sizeof file->run_uuid - 1;
  if (dash != NULL && dash > name && strspn(dash + 1, "0123456789abcdef") == uuid_length &&
      (strcmp(dash + 1 + uuid_length, ".db") == 0 || database_file_is_failure(name))) {
    (void)snprintf(file->node, sizeof file->node, "%.*s", (int)(dash - name), name);
    (void)snprintf(file->run_uuid, sizeof file->run_uuid, "%.*s", (int)uuid_length, dash + 1);
  }
}
