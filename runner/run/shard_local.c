#include "runner/run/shard_local.h"

#include "engine/base/new_file.h"
#include "engine/base/strings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLACES = 4, LEFT_MAX = 200 };
static const char DATABASE[] = "results.db";
static const char LINK[] = "to";

char *shard_local_failure_path(const char *place) {
  return memory_format("%.*s%s", (int)(strlen(place) - strlen(".db")), place,
                       DATABASE_FAILURE_SUFFIX);
}

/* Where folders may be, the first that can be used first; NULL = there is no such place. */
static void shard_local_places(const char *places[PLACES]) {
  const char *const all[PLACES] = {getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm"};
  for (size_t i = 0; i < PLACES; i++) {
    bool usable =
        all[i] != NULL && all[i][0] == '/' && database_file_network_file_system(all[i]) == NULL;
    for (size_t j = 0; j < i && usable; j++) {
      usable = !strings_equal(all[i], places[j]);
    }
    places[i] = usable ? all[i] : NULL;
  }
}

/* haul-shards-UID there, locked: nobody else makes or takes a folder in it. -1 = there is none, or
 * it is another user's. */
static int shard_local_open_parent(const char *place, bool make, char path[PATH_MAX]) {
  struct stat info;
  if (snprintf(path, PATH_MAX, "%s/haul-shards-%u", place, (unsigned)geteuid()) >= PATH_MAX ||
      (make && mkdir(path, 0700) != 0 && errno != EEXIST)) {
    return -1;
  }
  const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && (fstat(fd, &info) != 0 || info.st_uid != geteuid() ||
                  (info.st_mode & (S_IRWXG | S_IRWXO)) != 0 || flock(fd, LOCK_EX) != 0)) {
    (void)close(fd);
    return -1;
  }
  return fd;
}

/* The folder, locked as long as the descriptor is open; -1 = it is gone, or its run lives. */
static int shard_local_lock(const char *folder) {
  const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
    (void)close(fd);
    return -1;
  }
  return fd;
}

enum status shard_local_make(struct shard_local *local, struct error *err) {
  const char *places[PLACES];
  *local = (struct shard_local){.lock = -1};
  shard_local_places(places);
  for (size_t i = 0; i < PLACES && local->lock < 0; i++) {
    char parent[PATH_MAX];
    const int fd = places[i] != NULL ? shard_local_open_parent(places[i], true, parent) : -1;
    if (fd < 0) {
      continue;
    }
    local->folder = memory_format("%s/%s", parent, "XXXXXX");
    if (mkdtemp(local->folder) != NULL) {
      local->lock = shard_local_lock(local->folder);
    }
    (void)close(fd);
    if (local->lock < 0) {
      free(local->folder);
      local->folder = NULL;
    }
  }
  if (local->lock < 0) {
    return error_set(err, STATUS_IO,
                     "no local directory for the results can be written: neither TMPDIR, /tmp, "
                     "/var/tmp nor /dev/shm has, or takes, a folder haul-shards-%u of this user; "
                     "name a directory with TMPDIR",
                     (unsigned)geteuid());
  }
  local->database = memory_format("%s/%s", local->folder, DATABASE);
  return STATUS_OK;
}

void shard_local_point_to(const struct shard_local *local, const char *place) {
  SCOPED(arena_fini) struct arena arena = {0};
  SCOPED(memory_free) char *full = NULL;
  SCOPED(memory_free)
  char *real = realpath(arena_strndup(&arena, place, (size_t)(strrchr(place, '/') - place)), NULL);
  if (real != NULL) {
    full = memory_format("%s/%s", real, strrchr(place, '/') + 1);
    (void)unlinkat(local->lock, LINK, 0);
    (void)!symlinkat(full, local->lock, LINK);
  }
}

enum status shard_local_check(const struct shard_local *local, struct error *err) {
  return faccessat(local->lock, "results.db-journal", F_OK, AT_SYMLINK_NOFOLLOW) != 0
             ? STATUS_OK
             : error_set(err, STATUS_IO,
                         "the last transaction could neither be written to %s nor be taken back",
                         local->database);
}

void shard_local_close(struct shard_local *local) {
  if (local->lock >= 0) {
    (void)close(local->lock);
  }
  free(local->folder);
  free(local->database);
  *local = (struct shard_local){.lock = -1};
}

void shard_local_remove(struct shard_local *local) {
  if (local->lock < 0) {
    return;
  }
  const int fd = fcntl(local->lock, F_DUPFD_CLOEXEC, 0);
  DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
  const struct dirent *entry;
  while (entries != NULL && (entry = readdir(entries)) != NULL) {
    (void)unlinkat(local->lock, entry->d_name, 0);
  }
  if (entries != NULL) {
    (void)closedir(entries);
  }
  (void)rmdir(local->folder);
}

/* ---- what killed runs left ---- */

struct shard_left {
  struct shard_local local;
  char place[PATH_MAX]; /* that it is for; "" = not known */
};

/* Under its name in the shared folder, where its run could not move it there. */
static void shard_left_find_database(struct shard_left *left) {
  const char *slash = strrchr(left->place, '/');
  char *kept = memory_format("%s/%s", left->local.folder, slash != NULL ? slash + 1 : DATABASE);
  if (slash != NULL && access(kept, F_OK) == 0) {
    left->local.database = kept;
    return;
  }
  free(kept);
  left->local.database = memory_format("%s/%s", left->local.folder, DATABASE);
}

/* Whether there are results; a journal that the killed run left is played back. */
static enum status shard_left_recover(const struct shard_left *left, bool *any, struct error *err) {
  struct stat info;
  struct database *database = NULL;
  *any = stat(left->local.database, &info) == 0 && info.st_size > 0;
  if (!*any) {
    return STATUS_OK;
  }
  RETURN_ON_ERROR(database_open(left->local.database, DATABASE_WRITE, &database, err));
  database_close(database);
  return STATUS_OK;
}

/* The change counter of a database of this user, which every transaction raises; 0 = there is none.
 */
static unsigned shard_left_count_changes(const char *path) {
  struct stat info;
  struct database_file_header header = {0};
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  const bool known = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                     info.st_uid == geteuid() &&
                     database_file_read_header(fd, &header) == STATUS_OK && header.sqlite;
  if (fd >= 0) {
    (void)close(fd);
  }
  return known ? header.change_counter : 0;
}

/* What there is goes to its place, if it is more than what is there. True: nothing is left to do.
 */
static bool shard_left_move(const struct common_options *common, const struct shard_left *left) {
  struct error err = {0};
  bool any = false;
  enum status status = shard_left_recover(left, &any, &err);
  if (status == STATUS_OK && (!any || left->place[0] == '\0')) {
    say_note(common, "removed %s, which a killed run left without results", left->local.folder);
    return true;
  }
  new_file_clear(left->place);
  const unsigned there = shard_left_count_changes(left->place);
  if (status == STATUS_OK && shard_left_count_changes(left->local.database) <= there) {
    say_note(common, "removed %s, which a killed run left: %s has all of it", left->local.folder,
             left->place);
    return true;
  }
  status = THEN(status, database_file_publish(left->local.database, left->place, there > 0, &err));
  if (status != STATUS_OK) {
    say_warning(common, "the results that a killed run left in %s were not moved to %s: %s",
                left->local.database, left->place, err.message);
    return false;
  }
  say_note(common, "moved the results that a killed run left in %s to %s", left->local.folder,
           left->place);
  SCOPED(memory_free) char *failure = shard_local_failure_path(left->place);
  (void)unlink(failure);
  return true;
}

/* Lock the folders in there that nobody else has. */
static size_t shard_left_collect(const char *parent, int fd, struct shard_left *left, size_t max) {
  size_t count = 0;
  DIR *entries = fdopendir(fd);
  const struct dirent *entry;
  while (entries != NULL && count < max && (entry = readdir(entries)) != NULL) {
    if (entry->d_name[0] == '.') {
      continue;
    }
    struct shard_left *found = &left[count];
    *found = (struct shard_left){.local.folder = memory_format("%s/%s", parent, entry->d_name)};
    found->local.lock = shard_local_lock(found->local.folder);
    if (found->local.lock < 0) {
      free(found->local.folder);
      continue;
    }
    const ssize_t length =
        readlinkat(found->local.lock, LINK, found->place, sizeof found->place - 1);
    found->place[length > 0 ? length : 0] = '\0';
    shard_left_find_database(found);
    count++;
  }
  if (entries != NULL) {
    (void)closedir(entries); /* and unlocks it */
  } else {
    (void)close(fd);
  }
  return count;
}

void shard_local_take_up(const struct common_options *common) {
  const char *places[PLACES];
  shard_local_places(places);
  SCOPED(memory_free) struct shard_left *left = memory_new(LEFT_MAX, sizeof *left);
  for (size_t i = 0; i < PLACES; i++) {
    char parent[PATH_MAX];
    const int fd = places[i] != NULL ? shard_local_open_parent(places[i], false, parent) : -1;
    const size_t count = fd >= 0 ? shard_left_collect(parent, fd, left, LEFT_MAX) : 0;
    for (size_t j = 0; j < count; j++) {
      if (shard_left_move(common, &left[j])) {
        shard_local_remove(&left[j].local);
      }
      shard_local_close(&left[j].local);
    }
  }
}
