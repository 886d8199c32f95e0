#include "runner/record/companion.h"

#include "engine/base/arena.h"
#include "engine/base/input_file.h"

#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The end of a journal that names a super-journal (https://www.sqlite.org/fileformat2.html, 3, and
 * writeSuperJournal() of SQLite): its name, the length of that, a checksum, the magic number. */
enum { END_BYTES = 16, MAGIC_BYTES = 8, NAME_SHOWN = 200 };
static const unsigned char JOURNAL_MAGIC[MAGIC_BYTES] = {0xd9, 0xd5, 0x05, 0xf9,
                                                         0x20, 0xa1, 0x63, 0xd7};
static const char *const SUFFIXES[] = {"-journal", "-wal", "-shm"};

/* What is wrong with a companion. */
struct companion_fault {
  const char *what; /* NULL = nothing */
  char name[NAME_SHOWN];
};

/* Whatever ends like a name is taken for one: SQLite's checksum decides nothing here. */
static bool companion_names_another(int fd, off_t size, char name[NAME_SHOWN]) {
  unsigned char end[END_BYTES];
  if (size < END_BYTES || pread(fd, end, sizeof end, size - END_BYTES) != END_BYTES ||
      memcmp(end + END_BYTES - MAGIC_BYTES, JOURNAL_MAGIC, MAGIC_BYTES) != 0) {
    return false;
  }
  const off_t length = (off_t)end[0] << 24 | end[1] << 16 | end[2] << 8 | end[3];
  const off_t shown = length < NAME_SHOWN ? length : NAME_SHOWN - 1;
  name[0] = '\0';
  if (length <= size - END_BYTES) {
    const ssize_t got = pread(fd, name, (size_t)shown, size - END_BYTES - length);
    name[got > 0 ? got : 0] = '\0';
  }
  return true;
}

/* Only where others than the owner of the directory may make files, but not replace those of
 * others, does it mean anything whose the companion is. */
static bool companion_is_of_another(const char *path, const struct stat *companion) {
  char folder[PATH_MAX];
  struct stat info;
  (void)snprintf(folder, sizeof folder, "%s", path);
  char *slash = strrchr(folder, '/');
  if (slash == NULL) {
    (void)snprintf(folder, sizeof folder, ".");
  } else {
    slash[slash == folder ? 1 : 0] = '\0';
  }
  const bool sticky = stat(folder, &info) == 0 && (info.st_mode & S_ISVTX) != 0;
  const bool known = companion->st_uid == 0 || companion->st_uid == geteuid() ||
                     (stat(path, &info) == 0 && info.st_uid == companion->st_uid);
  return sticky && !known;
}

static struct companion_fault companion_judge(const char *path, const char *suffix) {
  struct companion_fault fault = {0};
  struct stat info;
  char companion[PATH_MAX];
  if (snprintf(companion, sizeof companion, "%s%s", path, suffix) >= (int)sizeof companion ||
      lstat(companion, &info) != 0) {
    return fault;
  }
  if (!S_ISREG(info.st_mode)) {
    fault.what = "is not a regular file";
  } else if (info.st_nlink != 1) {
    fault.what = "has several names (hard links)";
  } else if (input_file_is_hollow(&info)) {
    fault.what = "is mostly holes (a sparse file)";
  } else if (companion_is_of_another(path, &info)) {
    fault.what = "belongs to another user than the database";
  } else if (strcmp(suffix, SUFFIXES[0]) == 0) {
    const int fd = open(companion, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && companion_names_another(fd, info.st_size, fault.name)) {
      fault.what = "names another file, which SQLite would delete";
    }
    if (fd >= 0) {
      (void)close(fd);
    }
  }
  return fault;
}

enum status companion_check(const char *path, struct error *err) {
  SCOPED(memory_free) char *full = realpath(path, NULL);
  const char *database = full != NULL ? full : path;
  enum status status = STATUS_OK;
  for (size_t i = 0; i < COUNT_OF(SUFFIXES) && status == STATUS_OK; i++) {
    const struct companion_fault fault = companion_judge(database, SUFFIXES[i]);
    if (fault.what != NULL) {
      const bool named = fault.name[0] != '\0';
      status = error_set(err, STATUS_INVALID,
                         "%s%s %s%s%s%s; haul never leaves such a file. Remove it if the database "
                         "is yours",
                         database, SUFFIXES[i], fault.what, named ? " (" : "", fault.name,
                         named ? ")" : "");
    }
  }
  return status;
}

/* ---- the VFS ---- */

static int companion_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                          int *flags_out) {
  (void)vfs;
  sqlite3_vfs *base = sqlite3_vfs_find(NULL);
  file->pMethods = NULL;
  if ((flags & SQLITE_OPEN_SUPER_JOURNAL) != 0) {
    return SQLITE_CANTOPEN;
  }
  if ((flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL)) != 0) {
    const char *suffix = SUFFIXES[(flags & SQLITE_OPEN_WAL) != 0 ? 1 : 0];
    char path[PATH_MAX];
    const size_t length = strlen(name) - strlen(suffix);
    (void)snprintf(path, sizeof path, "%.*s", (int)length, name);
    if (companion_judge(path, suffix).what != NULL) {
      return SQLITE_CANTOPEN;
    }
  }
  return base->xOpen(base, name, file, flags, flags_out);
}

const char *companion_vfs(void) {
  /* SQLite keeps the address: the one state of the program that cannot be the caller's. */
  static sqlite3_vfs guarded;
  if (guarded.zName == NULL) {
    guarded = *sqlite3_vfs_find(NULL);
    guarded.pNext = NULL;
    guarded.zName = "haul";
    guarded.xOpen = companion_open;
    if (sqlite3_vfs_register(&guarded, 0) != SQLITE_OK) {
      abort();
    }
  }
  return guarded.zName;
}
