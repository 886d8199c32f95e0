#include "runner/record/file.h"

#include "engine/base/input_file.h"
#include "engine/base/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

/* https://www.sqlite.org/fileformat.html, 1.3 */
enum { HEADER_BYTES = 100, WAL_VERSION = 2 };
enum { HEADER_WRITE_VERSION = 18, HEADER_READ_VERSION = 19, HEADER_CHANGE_COUNTER = 24 };
enum { COPY_CHUNK = 1 << 20 };
static const char MAGIC[16] = "SQLite format 3";

/* f_type of file systems that do not share memory between the machines that mount them, or whose
 * locks depend on another program: statfs(2), linux/magic.h, and the sources of the file systems.
 */
static const struct {
  unsigned long type;
  const char *name;
} NETWORK_FILE_SYSTEMS[] = {
    {0x6969, "NFS"},          {0x517b, "SMB"},       {0xff534d42, "CIFS"},
    {0xfe534d42, "SMB2"},     {0x5346414f, "AFS"},   {0x6b414653, "AFS"},
    {0x73757245, "Coda"},     {0x564c, "NCP"},       {0x0bd00bd0, "Lustre"},
    {0x00c36400, "Ceph"},     {0x47504653, "GPFS"},  {0x01021997, "9P"},
    {0x65735546, "FUSE"},     {0x7461636f, "OCFS2"}, {0x01161970, "GFS2"},
    {0x19830326, "BeeGFS"},   {0xaad7aaea, "PanFS"}, {0xbacbacbc, "vmhgfs"},
    {0x6a656a62, "virtiofs"},
};

const char *database_file_network_file_system(const char *path) {
  struct statfs info;
  if (statfs(path, &info) != 0) {
    return NULL;
  }
  const size_t i =
      FIRST_OF(k, COUNT_OF(NETWORK_FILE_SYSTEMS),
               NETWORK_FILE_SYSTEMS[k].type == ((unsigned long)info.f_type & 0xffffffffUL));
  return i < COUNT_OF(NETWORK_FILE_SYSTEMS) ? NETWORK_FILE_SYSTEMS[i].name : NULL;
}

/* The directory part of path; "." if it has none. */
static enum status database_file_folder_of(const char *path, char folder[PATH_MAX],
                                           struct error *err) {
  size_t length = strlen(path);
  if (length == 0) {
    return error_set(err, STATUS_USAGE, "the database's path is empty");
  }
  if (length >= PATH_MAX) {
    return error_set(err, STATUS_USAGE, "the database's path is longer than %d bytes", PATH_MAX);
  }
  memcpy(folder, path, length + 1);
  char *slash = strrchr(folder, '/');
  if (slash == NULL) {
    memcpy(folder, ".", 2);
  } else {
    slash[slash == folder ? 1 : 0] = '\0';
  }
  return STATUS_OK;
}

/* Create the directory, or check that SQLite can create its journal in it. */
static enum status database_file_prepare_folder(const char *path, struct error *err) {
  char folder[PATH_MAX] = "";
  RETURN_ON_ERROR(database_file_folder_of(path, folder, err));
  struct stat info;
  if (stat(folder, &info) != 0) {
    char part[PATH_MAX];
    if (errno == ENOENT) {
      return folder_make_all(folder, part)
                 ? STATUS_OK
                 : error_set_errno(err, errno,
                                   "cannot create the directory %s for the results: name another "
                                   "place with --db FILE",
                                   part);
    }
    return error_set_errno(err, errno, "cannot use the directory %s for the results", folder);
  }
  if (!S_ISDIR(info.st_mode)) {
    return error_set(err, STATUS_INVALID, "%s is not a directory; name another database with --db",
                     folder);
  }
  if (access(folder, W_OK | X_OK) != 0) {
    return error_set_errno(
        err, errno,
        "the directory %s is not writable, but SQLite needs a journal beside the "
        "database; name another with --db",
        folder);
  }
  return STATUS_OK;
}

enum status database_file_read_header(int fd, struct database_file_header *header) {
  unsigned char bytes[HEADER_BYTES] = {0};
  ssize_t length = pread(fd, bytes, sizeof bytes, 0);
  if (length < 0) {
    return STATUS_IO;
  }
  *header = (struct database_file_header){
      .empty = length == 0,
      .sqlite = length == HEADER_BYTES && memcmp(bytes, MAGIC, sizeof MAGIC) == 0,
      .write_ahead =
          bytes[HEADER_WRITE_VERSION] == WAL_VERSION || bytes[HEADER_READ_VERSION] == WAL_VERSION,
      .change_counter = (unsigned)bytes[HEADER_CHANGE_COUNTER] << 24 |
                        (unsigned)bytes[HEADER_CHANGE_COUNTER + 1] << 16 |
                        (unsigned)bytes[HEADER_CHANGE_COUNTER + 2] << 8 |
                        (unsigned)bytes[HEADER_CHANGE_COUNTER + 3]};
  return STATUS_OK;
}

static enum status database_file_examine_header(const char *path, int fd,
                                                struct database_file *file, struct error *err) {
  struct database_file_header header;
  if (database_file_read_header(fd, &header) != STATUS_OK) {
    return error_set_errno(err, errno, "cannot read %s", path);
  }
  file->fresh = header.empty;
  file->write_ahead = header.sqlite && header.write_ahead;
  if (!header.empty && !header.sqlite) {
    return error_set(err, STATUS_INVALID,
                     "%s is not a results database but some other file, and is left as it is; name "
                     "another with --db",
                     path);
  }
  return STATUS_OK;
}

static enum status database_file_examine_existing(const char *path, const struct stat *info,
                                                  enum database_access access_wanted,
                                                  struct database_file *file, struct error *err) {
  if (S_ISDIR(info->st_mode)) {
    return error_set(err, STATUS_INVALID, "%s is a directory; name a database in it with --db",
                     path);
  }
  if (!S_ISREG(info->st_mode)) {
    return error_set(err, STATUS_INVALID, "%s is not a regular file; name another with --db", path);
  }
  if (input_file_is_hollow(info)) {
    return error_set(
        err, STATUS_INVALID,
        "%s is mostly holes (a sparse file), which haul never makes; name another with --db", path);
  }
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return error_set_errno(err, errno, "cannot read %s; name another database with --db", path);
  }
  enum status status = database_file_examine_header(path, fd, file, err);
  (void)close(fd);
  if (status == STATUS_OK && access_wanted == DATABASE_WRITE && access(path, W_OK) != 0) {
    status = error_set_errno(err, errno, "cannot write %s; name another database with --db", path);
  }
  return status;
}

bool database_file_is_failure(const char *path) {
  const size_t length = strlen(path);
  const size_t end = strlen(DATABASE_FAILURE_SUFFIX);
  return length > end && strcmp(path + length - end, DATABASE_FAILURE_SUFFIX) == 0;
}

enum status database_file_examine(const char *path, enum database_access access_wanted,
                                  struct database_file *file, struct error *err) {
  struct database_file found = {0};
  struct stat info;
  enum status status = STATUS_OK;
  if (input_file_is_trap(path, access_wanted == DATABASE_READ)) {
    status = error_set(err, STATUS_INVALID,
                       "%s is a link that another user made, to a file that is not that user's; "
                       "name the file itself with --db",
                       path);
  } else if (stat(path, &info) == 0) {
    status = database_file_examine_existing(path, &info, access_wanted, &found, err);
  } else if (errno == ENOENT) {
    found.fresh = true;
  } else {
    status = error_set_errno(err, errno, "cannot look at %s", path);
  }
  if (status == STATUS_OK && found.fresh && access_wanted == DATABASE_READ) {
    status =
        error_set(err, STATUS_NOT_FOUND,
                  "there are no results at %s yet: haul run makes some, and --db names another "
                  "database",
                  path);
  }
  if (status == STATUS_OK && access_wanted == DATABASE_WRITE) {
    status = database_file_prepare_folder(path, err);
  }
  RETURN_ON_ERROR(status);

  char folder[PATH_MAX] = "";
  status = database_file_folder_of(path, folder, err);
  RETURN_ON_ERROR(status);
  found.network_file_system = database_file_network_file_system(folder);
  /* The shared memory of a WAL exists once per machine, not once per file. */
  if (found.write_ahead && found.network_file_system != NULL) {
    return error_set(err, STATUS_UNSUPPORTED,
                     "%s is in WAL mode on a network file system (%s), where SQLite cannot keep it "
                     "whole; while nobody uses it, run: sqlite3 FILE 'pragma journal_mode=delete'",
                     path, found.network_file_system);
  }
  *file = found;
  return STATUS_OK;
}

/* ---- copies ---- */

static enum status database_file_copy_bytes(int source, int target, const char *to,
                                            struct error *err) {
  ssize_t copied = 1;
  while (copied > 0) {
    copied = sendfile(target, source, NULL, COPY_CHUNK);
  }
  return copied == 0 ? STATUS_OK : error_set_errno(err, errno, "cannot write a copy to %s", to);
}

static enum status database_file_open_source(const char *path, int *fd, struct error *err) {
  return input_file_open(path, false, fd, err) == STATUS_OK ? STATUS_OK
                                                            : error_prefix(err, "%s: ", path);
}

static enum status database_file_copy_one(const char *from, const char *to, struct error *err) {
  int source = -1;
  RETURN_ON_ERROR(database_file_open_source(from, &source, err));
  const int target = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  enum status status = target >= 0 ? database_file_copy_bytes(source, target, to, err)
                                   : error_set_errno(err, errno, "cannot write a copy to %s", to);
  if (target >= 0 && close(target) != 0 && status == STATUS_OK) {
    status = error_set_errno(err, errno, "cannot write a copy to %s", to);
  }
  (void)close(source);
  return status;
}

/* The files of a database; the last is made anew from the others. */
static const char *const SUFFIXES[] = {"", "-journal", "-wal", "-shm"};
enum { SUFFIX_COUNT = COUNT_OF(SUFFIXES) };

/* open(), but never waits, and opens no device: what was checked may be another thing by now. */
static int database_file_open_checked(const char *path, int flags, int mode) {
  struct stat info;
  const int fd = open(path, flags | O_NONBLOCK | O_NOCTTY, mode);
  if (fd < 0 || (fstat(fd, &info) == 0 && (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode))) ||
      strcmp(path, "/dev/urandom") == 0) {
    return fd;
  }
  (void)close(fd);
  errno = EPERM;
  return -1;
}

void database_file_guard_opening(void) {
  sqlite3_vfs *files = sqlite3_vfs_find("unix");
  if (files != NULL) {
    (void)files->xSetSystemCall(files, "open", (sqlite3_syscall_ptr)database_file_open_checked);
  }
}

enum status database_file_copy(const char *path, const char *copy, struct error *err) {
  enum status status = STATUS_OK;
  for (size_t i = 0; i < SUFFIX_COUNT - 1 && status == STATUS_OK; i++) {
    char from[PATH_MAX];
    char to[PATH_MAX];
    (void)snprintf(from, sizeof from, "%s%s", path, SUFFIXES[i]);
    (void)snprintf(to, sizeof to, "%s%s", copy, SUFFIXES[i]);
    if (faccessat(AT_FDCWD, from, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
      status = database_file_copy_one(from, to, err);
    }
  }
  return status;
}

enum status database_file_make_scratch(char **path, struct error *err) {
  const char *const places[] = {getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm"};
  for (size_t i = 0; i < COUNT_OF(places); i++) {
    char folder[PATH_MAX];
    if (places[i] == NULL || places[i][0] == '\0' ||
        database_file_network_file_system(places[i]) != NULL ||
        snprintf(folder, sizeof folder, "%s/haul-XXXXXX", places[i]) >= (int)sizeof folder ||
        mkdtemp(folder) == NULL) {
      continue;
    }
    *path = memory_format("%s/results.db", folder);
    return STATUS_OK;
  }
  return error_set(err, STATUS_IO,
                   "no local directory for the results can be written: neither TMPDIR, /tmp, "
                   "/var/tmp nor /dev/shm; name one with TMPDIR");
}

void database_file_remove_scratch(const char *path) {
  char name[PATH_MAX];
  for (size_t i = 0; i < SUFFIX_COUNT; i++) {
    (void)snprintf(name, sizeof name, "%s%s", path, SUFFIXES[i]);
    (void)unlink(name);
  }
  (void)snprintf(name, sizeof name, "%.*s", (int)(strrchr(path, '/') - path), path);
  (void)rmdir(name);
}

enum status database_file_publish(const char *path, const char *place, bool replaces,
                                  struct error *err) {
  int source = -1;
  struct new_file file;
  RETURN_ON_ERROR(database_file_open_source(path, &source, err));
  enum status status = new_file_open(place, &file, err);
  if (status == STATUS_OK) {
    status = database_file_copy_bytes(source, file.fd, place, err);
    if (status == STATUS_OK) {
      status = new_file_place(&file, replaces, err);
    } else {
      new_file_drop(&file);
    }
  }
  (void)close(source);
  return status;
}
