#include "runner/record/merge_input.h"

#include "runner/record/migrate.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPY_CHUNK = 1 << 16 };
enum { HEADER_BYTES = 100, HEADER_READ_VERSION = 19, WAL_VERSION = 2 };
static const char MAGIC[16] = "SQLite format 3";
static const char COPY_NAME[] = "/input.db";

static char *join(const char *a, const char *b) {
  char *text = NULL;
  if (asprintf(&text, "%s%s", a, b) < 0) {
    abort();
  }
  return text;
}

/* A path as SQLite's URIs have it (https://www.sqlite.org/uri.html). */
static char *read_only_uri(const char *path) {
  static const char DIGITS[] = "0123456789ABCDEF";
  static const char HEAD[] = "file:";
  static const char TAIL[] = "?mode=ro";
  char *uri = malloc(3 * strlen(path) + sizeof HEAD + sizeof TAIL);
  if (uri == NULL) {
    abort();
  }
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

/* Before SQLite sees it. */
static enum status look(const char *path, bool *write_ahead, struct error *err) {
  struct stat info;
  if (stat(path, &info) != 0) {
    return error_set_errno(err, errno, "it cannot be read");
  }
  if (!S_ISREG(info.st_mode)) {
    return error_set(err, STATUS_INVALID, "it is not a regular file");
  }
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return error_set_errno(err, errno, "it cannot be read");
  }
  unsigned char header[HEADER_BYTES] = {0};
  ssize_t length = pread(fd, header, sizeof header, 0);
  int failure = errno;
  (void)close(fd);
  if (length < 0) {
    return error_set_errno(err, failure, "it cannot be read");
  }
  if (length == 0) {
    return error_set(err, STATUS_NOT_FOUND, "it is an empty file, without results");
  }
  if (length < HEADER_BYTES || memcmp(header, MAGIC, sizeof MAGIC) != 0) {
    return error_set(err, STATUS_INVALID, "it is not a results database but some other file");
  }
  *write_ahead = header[HEADER_READ_VERSION] == WAL_VERSION;
  return STATUS_OK;
}

/* That it is ours, and not too new: what a newer schema added would be lost without a word. */
static enum status judge_version(struct database *database, struct error *err) {
  int application_id = 0;
  int objects = 0;
  enum status status = migrate_read_version(database, &application_id, &objects, err);
  if (status != STATUS_OK) {
    return status;
  }
  if (application_id != DATABASE_APPLICATION_ID || database->version < MIGRATE_VERSIONS_PER_MAJOR) {
    return error_set(err, STATUS_INVALID,
                     "it is another program's SQLite database (application id %d)", application_id);
  }
  if (database->version < migrate_first_version()) {
    return error_set(err, STATUS_UNSUPPORTED,
                     "it was made by a haul from before 0.2.0 (schema %d.%d), whose schema was "
                     "never released; measure again",
                     database->version / MIGRATE_VERSIONS_PER_MAJOR,
                     database->version % MIGRATE_VERSIONS_PER_MAJOR);
  }
  int latest = migrate_latest_version();
  if (database->version > latest) {
    return error_set(
        err, STATUS_UNSUPPORTED,
        "it was made by a newer haul (schema %d.%d, this one knows %d.%d); merge with the "
        "newer haul",
        database->version / MIGRATE_VERSIONS_PER_MAJOR,
        database->version % MIGRATE_VERSIONS_PER_MAJOR, latest / MIGRATE_VERSIONS_PER_MAJOR,
        latest % MIGRATE_VERSIONS_PER_MAJOR);
  }
  return STATUS_OK;
}

/* The first complaint of a check, "" = none; false: the check itself failed. */
static enum status first_complaint(struct database *database, const char *check,
                                   const char *all_well, char *complaint, size_t size,
                                   struct error *err) {
  struct statement statement;
  complaint[0] = '\0';
  enum status status = statement_prepare(database, check, &statement, err);
  if (status != STATUS_OK) {
    return status;
  }
  bool row = false;
  status = statement_step(&statement, &row, err);
  const char *text = row ? (const char *)sqlite3_column_text(statement.stmt, 0) : NULL;
  if (text != NULL && strcmp(text, all_well) != 0) {
    /* After a first line that only names the database. */
    const char *line = strncmp(text, "***", 3) == 0 ? strchr(text, '\n') : NULL;
    line = line != NULL ? line + 1 : text;
    (void)snprintf(complaint, size, "%.*s", (int)strcspn(line, "\n"), line);
  }
  statement_finalize(&statement);
  return status;
}

static enum status judge_content(struct database *database, struct error *err) {
  char complaint[256];
  enum status status =
      first_complaint(database, "merge/integrity", "ok", complaint, sizeof complaint, err);
  if (status == STATUS_OK && complaint[0] != '\0') {
    return error_set(err, STATUS_CORRUPT,
                     "it is damaged (%s); \"sqlite3 FILE .recover\" saves what can be read",
                     complaint);
  }
  if (status == STATUS_OK) {
    status = first_complaint(database, "database/broken_references", "", complaint,
                             sizeof complaint, err);
  }
  if (status == STATUS_OK && complaint[0] != '\0') {
    return error_set(
        err, STATUS_CORRUPT,
        "it is damaged: rows of %s refer to rows that are not there (it was changed by "
        "other means)",
        complaint);
  }
  return status;
}

static enum status copy_file(const char *from, const char *to, struct error *err) {
  int source = open(from, O_RDONLY | O_CLOEXEC);
  if (source < 0) {
    return errno == ENOENT ? STATUS_OK : error_set_errno(err, errno, "%s cannot be read", from);
  }
  enum status status = STATUS_OK;
  int target = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (target < 0) {
    status = error_set_errno(err, errno, "cannot write a copy to %s", to);
  }
  static const size_t CHUNK = COPY_CHUNK;
  char *buffer = malloc(CHUNK);
  if (buffer == NULL) {
    abort();
  }
  for (ssize_t got = 1; got > 0 && status == STATUS_OK;) {
    got = read(source, buffer, CHUNK);
    if (got < 0) {
      status = error_set_errno(err, errno, "%s cannot be read", from);
    }
    for (ssize_t done = 0; done < got && status == STATUS_OK;) {
      ssize_t written = write(target, buffer + done, (size_t)(got - done));
      if (written < 0) {
        status = error_set_errno(err, errno, "cannot write a copy to %s", to);
      } else {
        done += written;
      }
    }
  }
  free(buffer);
  if (target >= 0 && close(target) != 0 && status == STATUS_OK) {
    status = error_set_errno(err, errno, "cannot write a copy to %s", to);
  }
  (void)close(source);
  return status;
}

/* With what a killed writer left beside it. */
static enum status copy_with_journals(const char *path, const char *copy, struct error *err) {
  static const char *const SUFFIXES[] = {"", "-journal", "-wal"};
  enum status status = STATUS_OK;
  for (size_t i = 0; i < sizeof SUFFIXES / sizeof *SUFFIXES && status == STATUS_OK; i++) {
    char *from = join(path, SUFFIXES[i]);
    char *to = join(copy, SUFFIXES[i]);
    status = copy_file(from, to, err);
    free(from);
    free(to);
  }
  return status;
}

static enum status copy_by_pages(struct database *from, const char *copy, struct error *err) {
  sqlite3 *to = NULL;
  enum status status = STATUS_OK;
  int code = sqlite3_open_v2(copy, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
  sqlite3_backup *backup =
      code == SQLITE_OK ? sqlite3_backup_init(to, "main", from->handle, "main") : NULL;
  if (backup != NULL) {
    (void)sqlite3_backup_step(backup, -1);
    code = sqlite3_backup_finish(backup);
  } else if (to != NULL) {
    code = sqlite3_errcode(to);
  }
  if (code != SQLITE_OK) {
    status = error_set_native(err, STATUS_IO, code, "it cannot be copied to %s: %s", copy,
                              sqlite3_errstr(code));
  }
  (void)sqlite3_close(to);
  return status;
}

static enum status make_folder(const char *scratch, struct merge_input *input, struct error *err) {
  input->folder = join(scratch, "-merge-XXXXXX");
  if (mkdtemp(input->folder) != NULL) {
    return STATUS_OK;
  }
  enum status status =
      error_set_errno(err, errno, "it needs a copy, but %s cannot be made", input->folder);
  free(input->folder);
  input->folder = NULL;
  return status;
}

/* Read a copy in place of the file: of its pages when it could be opened, else of the file and its
 * journals as they lie. */
static enum status use_copy(const char *path, const char *scratch, struct merge_input *input,
                            struct error *err) {
  enum status status = make_folder(scratch, input, err);
  if (status != STATUS_OK) {
    return status;
  }
  char *copy = join(input->folder, COPY_NAME);
  if (input->database != NULL) {
    status = copy_by_pages(input->database, copy, err);
  } else {
    status = copy_with_journals(path, copy, err);
  }
  database_close(input->database);
  input->database = NULL;
  /* Plays the journal back. */
  struct database *migrated = NULL;
  if (status == STATUS_OK) {
    status = database_open(copy, DATABASE_WRITE, &migrated, err);
    database_close(migrated);
  }
  if (status == STATUS_OK) {
    status = database_open_untouched(copy, &input->database, err);
  }
  if (status == STATUS_OK) {
    status = database_script(input->database, "merge/read", err);
  }
  free(copy);
  return status;
}

/* *left_over: a writer that was killed left a journal, which cannot be played back here. */
static enum status open_as_it_is(const char *path, struct merge_input *input, bool *left_over,
                                 struct error *err) {
  struct error failure = {0};
  enum status status = database_open_untouched(path, &input->database, &failure);
  if (status == STATUS_OK) {
    status = database_script(input->database, "merge/read", &failure);
  }
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

static enum status prepare(const char *path, const char *scratch, struct merge_input *input,
                           struct error *err) {
  bool left_over = false;
  enum status status = look(path, &left_over, err);
  if (status == STATUS_OK && !left_over) {
    status = open_as_it_is(path, input, &left_over, err);
  }
  if (status == STATUS_OK && left_over) {
    status = use_copy(path, scratch, input, err);
  }
  if (status == STATUS_OK) {
    status = judge_version(input->database, err);
  }
  if (status == STATUS_OK) {
    status = judge_content(input->database, err);
  }
  if (status == STATUS_OK && input->database->version < migrate_latest_version()) {
    status = use_copy(path, scratch, input, err);
  }
  return status;
}

/* The caller names the file, as it was given. */
static void drop_path(const char *path, struct error *err) {
  size_t length = strlen(path);
  if (err != NULL && strncmp(err->message, path, length) == 0 &&
      strncmp(err->message + length, ": ", 2) == 0) {
    memmove(err->message, err->message + length + 2, strlen(err->message + length + 2) + 1);
  }
}

enum status merge_input_open(const char *path, const char *scratch, struct merge_input *input,
                             struct error *err) {
  struct merge_input opened = {0};
  char *full = realpath(path, NULL);
  if (full == NULL) {
    return error_set_errno(err, errno, "it cannot be read");
  }
  enum status status = prepare(full, scratch, &opened, err);
  if (status == STATUS_OK) {
    char *copy = opened.folder != NULL ? join(opened.folder, COPY_NAME) : NULL;
    opened.uri = read_only_uri(copy != NULL ? copy : full);
    free(copy);
    *input = opened;
  } else {
    drop_path(full, err);
    merge_input_close(&opened);
  }
  free(full);
  return status;
}

static void remove_folder(const char *path) {
  DIR *folder = opendir(path);
  if (folder == NULL) {
    return;
  }
  for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    (void)unlinkat(dirfd(folder), entry->d_name, 0);
  }
  (void)closedir(folder);
  (void)rmdir(path);
}

void merge_input_close(struct merge_input *input) {
  database_close(input->database);
  if (input->folder != NULL) {
    remove_folder(input->folder);
  }
  free(input->folder);
  free(input->uri);
  *input = (struct merge_input){0};
}
