#include "runner/run/lock.h"

#include "engine/base/arena.h"
#include "engine/base/clock.h"
#include "engine/base/units.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Locked bytes are behind all text: byte ranges of locks and of content have nothing to do with
 * each other. */
enum { SLOT_COUNT = 64, SLOT_BYTES = 768, TRIES_MAX = 8 };
static const off_t use_byte = (off_t)1 << 40;
static const off_t beside_byte = ((off_t)1 << 40) + 1;
static const off_t slot_bytes = (off_t)1 << 41;

struct lock {
  int fd;
  int folder; /* descriptor: its name may lead elsewhere later, where it is another user's */
  int slot;   /* -1 = not taken, or all slots are */
  char name[NAME_MAX + 1];
  struct lock_user user;
};

void lock_user_init(struct lock_user *user, const char *database) {
  *user = (struct lock_user){.pid = (int)getpid()};
  const struct passwd *entry = getpwuid(geteuid());
  if (entry != NULL) {
    (void)snprintf(user->user, sizeof user->user, "%s", entry->pw_name);
  } else {
    (void)snprintf(user->user, sizeof user->user, "%u", (unsigned)geteuid());
  }
  (void)gethostname(user->host, sizeof user->host - 1);
  units_format_utc((int64_t)clock_read_ns(CLOCK_REALTIME), UNITS_UTC_SECONDS, user->since,
                   sizeof user->since);
  SCOPED(memory_free) char *path = database != NULL ? realpath(database, NULL) : NULL;
  const char *text = path != NULL ? path : database != NULL ? database : "";
  const size_t length = strlen(text);
  const size_t cut = length >= sizeof user->database ? length - sizeof user->database + 1 : 0;
  (void)snprintf(user->database, sizeof user->database, "%s", text + cut);
}

/* ---- the folder ---- */

/* follow: a link may lead there, because a user named it. */
static bool lock_folder_is_usable(const char *path, bool follow) {
  struct stat status;
  return (follow ? stat(path, &status) : lstat(path, &status)) == 0 && S_ISDIR(status.st_mode) &&
         access(path, W_OK | X_OK) == 0;
}

/* For every user, who may not remove what is another's. */
static bool lock_folder_make(const char *path) {
  return mkdir(path, 0700) == 0 && chmod(path, 01777) == 0;
}

enum status lock_find_folder(const char *wanted, char folder[LOCK_PATH_MAX], struct error *err) {
  static const char *const USUAL[] = {"/run/lock/haul", "/dev/shm/haul", "/tmp/haul-locks"};
  const char *const *places = wanted != NULL ? &wanted : USUAL;
  const size_t count = wanted != NULL ? 1 : COUNT_OF(USUAL);
  if (wanted != NULL && strlen(wanted) >= LOCK_PATH_MAX) {
    return error_set(err, STATUS_INVALID, "the path of the folder for locks is too long");
  }
  for (size_t i = 0; i < 2 * count; i++) {
    const char *place = places[i % count];
    if (lock_folder_is_usable(place, wanted != NULL) || (i >= count && lock_folder_make(place))) {
      (void)snprintf(folder, LOCK_PATH_MAX, "%s", place);
      return STATUS_OK;
    }
  }
  return error_set_errno(err, errno, "cannot make the folder for locks, %s", places[count - 1]);
}

/* ---- locks of the kernel ---- */

static bool lock_byte(int fd, short type, off_t at) {
  struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
  return fcntl(fd, F_OFD_SETLK, &range) == 0;
}

/* The first byte of a range that another locked, or -1. */
static off_t lock_find(int fd, off_t at, off_t count) {
  struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = count};
  return fcntl(fd, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK ? range.l_start : -1;
}

/* ---- the file ---- */

/* Not O_CREAT on what is there: the kernel refuses that in a folder of everybody's. */
static int lock_open_file(int folder, const char *name) {
  const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  for (int i = 0; i < TRIES_MAX; i++) {
    int fd = openat(folder, name, flags);
    if (fd >= 0 || errno != ENOENT) {
      return fd;
    }
    fd = openat(folder, name, flags | O_CREAT | O_EXCL, 0666);
    if (fd >= 0) {
      (void)fchmod(fd, 0666); /* whatever the umask */
      return fd;
    }
    if (errno != EEXIST) {
      return -1;
    }
  }
  return -1;
}

/* Another name of the file would be one of another user's files, which locks must not change. */
static bool lock_is_own_file(int fd) {
  struct stat file;
  return fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_nlink <= 1;
}

/* Takes over the descriptor of the folder. */
static enum status lock_open_in(int folder, const char *name, struct lock **lock,
                                struct error *err) {
  struct lock *opened = memory_new(1, sizeof *opened);
  opened->slot = -1;
  opened->folder = folder;
  (void)snprintf(opened->name, sizeof opened->name, "%s", name);
  opened->fd = lock_open_file(folder, opened->name);
  enum status status = STATUS_OK;
  if (opened->fd < 0) {
    status = error_set_errno(err, errno, "cannot open the lock %s", name);
  } else if (!lock_is_own_file(opened->fd)) {
    status = error_set(err, STATUS_UNSUPPORTED,
                       "the lock %s is not a file, or a file with other names", name);
  } else if (!lock_byte(opened->fd, F_RDLCK, slot_bytes + SLOT_COUNT)) {
    status = error_set_errno(err, errno, "cannot lock %s", name);
  }
  if (status != STATUS_OK) {
    lock_close(opened, false);
    return status;
  }
  *lock = opened;
  return STATUS_OK;
}

enum status lock_open(const char *folder, const char *name, struct lock **lock, struct error *err) {
  const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) {
    return error_set_errno(err, errno, "cannot open the folder for locks, %s", folder);
  }
  const enum status status = lock_open_in(fd, name, lock, err);
  return status == STATUS_OK ? STATUS_OK : error_prefix(err, "%s: ", folder);
}

/* ---- what users say of themselves ---- */

static void lock_write_slot(const struct lock *lock) {
  char text[SLOT_BYTES + 1];
  const struct lock_user *user = &lock->user;
  if (lock->slot < 0) {
    return;
  }
  int length = snprintf(text, sizeof text, "pid=%d user=%s host=%s use=%s%s since=%s run=%s db=%s",
                        user->pid, user->user, user->host, user->shared ? "shared" : "exclusive",
                        user->beside ? ",beside" : "", user->since,
                        user->run[0] != '\0' ? user->run : "-", user->database);
  length = length < SLOT_BYTES ? length : SLOT_BYTES - 1;
  memset(text + length, ' ', sizeof text - (size_t)length);
  text[SLOT_BYTES - 1] = '\n';
  (void)!pwrite(lock->fd, text, SLOT_BYTES, (off_t)lock->slot * SLOT_BYTES);
}

/* Whatever stands there: anybody may write it. */
static void lock_read_slot(const struct lock *lock, int slot, struct lock_user *user) {
  char text[SLOT_BYTES + 1] = "";
  char use[32] = "";
  *user = (struct lock_user){0};
  const ssize_t got = pread(lock->fd, text, SLOT_BYTES, (off_t)slot * SLOT_BYTES);
  text[got > 0 ? got : 0] = '\0';
  (void)sscanf(text, "pid=%d user=%63s host=%63s use=%31s since=%23s run=%39s", &user->pid,
               user->user, user->host, use, user->since, user->run);
  user->shared = strncmp(use, "shared", 6) == 0;
  user->beside = strstr(use, ",beside") != NULL;
  const char *database = strstr(text, " db=");
  if (database != NULL) {
    size_t length = strcspn(database + 4, "\n");
    while (length > 0 && database[4 + length - 1] == ' ') {
      length--;
    }
    (void)snprintf(user->database, sizeof user->database, "%.*s", (int)length, database + 4);
  }
}

static void lock_take_slot(struct lock *lock) {
  for (int i = 0; i < SLOT_COUNT && lock->slot < 0; i++) {
    if (lock_byte(lock->fd, F_WRLCK, slot_bytes + i)) {
      lock->slot = i;
    }
  }
  lock_write_slot(lock);
}

uint64_t lock_count_visits(const struct lock *lock, int *pid) {
  char text[SLOT_BYTES + 1];
  unsigned long long visits = 0;
  *pid = 0;
  const ssize_t got = pread(lock->fd, text, SLOT_BYTES, (off_t)SLOT_COUNT * SLOT_BYTES);
  text[got > 0 ? got : 0] = '\0';
  (void)sscanf(text, "visits=%llu pid=%d", &visits, pid);
  return visits;
}

static void lock_visit(const struct lock *lock) {
  char text[64];
  int last;
  const int length =
      snprintf(text, sizeof text, "visits=%llu pid=%d\n",
               (unsigned long long)lock_count_visits(lock, &last) + 1, lock->user.pid);
  (void)!pwrite(lock->fd, text, (size_t)length, (off_t)SLOT_COUNT * SLOT_BYTES);
}

size_t lock_count_others(const struct lock *lock, struct lock_user *other) {
  size_t count = 0;
  for (off_t at = 0; at < SLOT_COUNT; at++) {
    const off_t found = lock_find(lock->fd, slot_bytes + at, SLOT_COUNT - at);
    if (found < 0) {
      break;
    }
    at = found - slot_bytes;
    struct lock_user user;
    lock_read_slot(lock, (int)at, &user);
    if (!user.shared || !lock->user.shared) {
      *other = count == 0 ? user : *other;
      count++;
    }
  }
  return count;
}

/* ---- locking ---- */

/* The file was removed between opening and locking: lock the one that is there now. */
static bool lock_is_current(struct lock *lock) {
  struct stat file;
  return fstat(lock->fd, &file) == 0 && file.st_nlink > 0;
}

static bool lock_try(struct lock *lock, const struct lock_user *user) {
  if (user->beside) {
    return lock_byte(lock->fd, F_RDLCK, beside_byte);
  }
  if (!lock_byte(lock->fd, user->shared ? F_RDLCK : F_WRLCK, use_byte)) {
    return false;
  }
  /* Who measures beside others is waited for as well. */
  struct lock_user other;
  if (lock_find(lock->fd, beside_byte, 1) >= 0 && lock_count_others(lock, &other) > 0) {
    (void)lock_byte(lock->fd, F_UNLCK, use_byte);
    return false;
  }
  return true;
}

bool lock_take(struct lock *lock, const struct lock_user *user, struct lock_user *other) {
  lock->user = *user;
  for (int i = 0; i < TRIES_MAX; i++) {
    if (!lock_try(lock, user)) {
      if (other != NULL && lock_count_others(lock, other) == 0) {
        *other = (struct lock_user){0};
      }
      return false;
    }
    if (lock_is_current(lock)) {
      lock_take_slot(lock);
      if (user->beside) {
        lock_visit(lock);
      }
      return true;
    }
    const int fd = lock_open_file(lock->folder, lock->name);
    if (fd < 0 || !lock_is_own_file(fd)) {
      return true; /* nobody else gets further */
    }
    (void)close(lock->fd);
    lock->fd = fd;
  }
  return true;
}

void lock_name_run(struct lock *lock, const char *run) {
  (void)snprintf(lock->user.run, sizeof lock->user.run, "%s", run);
  lock_write_slot(lock);
}

static bool lock_file_is_used(int folder, const char *name) {
  const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) {
    return errno != ENOENT;
  }
  const bool used = lock_find(fd, use_byte, 1) >= 0;
  (void)close(fd);
  return used;
}

bool lock_is_used(const char *folder, const char *prefix) {
  DIR *entries = opendir(folder);
  const struct dirent *entry;
  bool used = entries == NULL;
  while (!used && (entry = readdir(entries)) != NULL) {
    used = strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
           lock_file_is_used(dirfd(entries), entry->d_name);
  }
  if (entries != NULL) {
    (void)closedir(entries);
  }
  return used;
}

/* A process that opened such a file meanwhile finds it removed, and makes a new one. */
void lock_sweep(const char *folder, const char *prefix) {
  DIR *entries = opendir(folder);
  const struct dirent *entry;
  while (entries != NULL && (entry = readdir(entries)) != NULL) {
    struct lock *lock = NULL;
    if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
        lock_open_in(fcntl(dirfd(entries), F_DUPFD_CLOEXEC, 0), entry->d_name, &lock, NULL) ==
            STATUS_OK) {
      lock_close(lock, lock_byte(lock->fd, F_WRLCK, use_byte));
    }
  }
  if (entries != NULL) {
    (void)closedir(entries);
  }
}

void lock_close(struct lock *lock, bool remove) {
  if (lock == NULL) {
    return;
  }
  if (lock->fd >= 0) {
    if (lock->slot >= 0 && !remove) {
      char blank[SLOT_BYTES];
      memset(blank, ' ', sizeof blank);
      blank[SLOT_BYTES - 1] = '\n';
      (void)!pwrite(lock->fd, blank, sizeof blank, (off_t)lock->slot * SLOT_BYTES);
    }
    if (remove) {
      (void)unlinkat(lock->folder, lock->name, 0);
    }
    (void)close(lock->fd);
  }
  if (lock->folder >= 0) {
    (void)close(lock->folder);
  }
  free(lock);
}
