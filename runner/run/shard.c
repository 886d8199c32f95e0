#include "runner/run/shard.h"

#include "engine/base/clock.h"
#include "engine/base/new_file.h"
#include "runner/console/console.h"
#include "runner/record/selector.h"
#include "runner/run/shard_local.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NODE_SHOWN_MAX = 100, COPYING_SHARE = 20, UUID_DIGITS = 32 };

struct shard {
  struct shard_request request;
  struct shard_local local;
  char node[NODE_SHOWN_MAX + 1]; /* as file names have it */
  char *path;                    /* in the folder; NULL = the run has no UUID yet */
  uint64_t copied_ns;            /* when, and how long that took */
  uint64_t copying_ns;
  bool begun;    /* the database was made */
  bool replaces; /* the run has a shard in the folder, which is its own */
  bool failed;   /* the last copy */
  bool told;     /* a file in the folder says why */
};

static enum status shard_check_folder(const char *folder, struct error *err) {
  struct stat info;
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    return error_set_errno(err, errno, "cannot create the directory %s for shards", folder);
  }
  if (stat(folder, &info) == 0 && !S_ISDIR(info.st_mode)) {
    return error_set(err, STATUS_INVALID, "%s is not a directory: --shard needs one", folder);
  }
  if (access(folder, W_OK | X_OK) != 0) {
    return error_set_errno(err, errno, "the directory %s for shards cannot be written", folder);
  }
  return STATUS_OK;
}

static void shard_free(struct shard *shard) {
  shard_local_close(&shard->local);
  free(shard->path);
  free(shard);
}

/* With nothing in it that a file name must not have. */
static void shard_clean_node(const char *node, char text[NODE_SHOWN_MAX + 1]) {
  (void)snprintf(text, NODE_SHOWN_MAX + 1, "%s", node[0] != '\0' ? node : "node");
  for (char *c = text; *c != '\0'; c++) {
    if (*c == '/' || (unsigned char)*c <= ' ' || (c == text && *c == '.')) {
      *c = '_';
    }
  }
}

enum status shard_new(const struct shard_request *request, struct shard **shard,
                      struct error *err) {
  RETURN_ON_ERROR(shard_check_folder(request->folder, err));
  shard_local_take_up(request->common);
  struct shard *made = memory_new(1, sizeof *made);
  made->request = *request;
  shard_clean_node(request->node, made->node);
  enum status status = shard_local_make(&made->local, err);
  if (status != STATUS_OK) {
    shard_tell_failure(made, err->message);
    shard_free(made);
    return status;
  }
  *shard = made;
  return STATUS_OK;
}

/* ---- going on ---- */

/* The UUID in "NODE-UUID.db", if this is a shard of that node; NULL: it is none. */
static const char *shard_find_uuid(const char *name, const char *node) {
  const size_t length = strlen(node);
  if (strncmp(name, node, length) != 0 || name[length] != '-') {
    return NULL;
  }
  const char *uuid = name + length + 1;
  return strspn(uuid, "0123456789abcdef") == UUID_DIGITS && strcmp(uuid + UUID_DIGITS, ".db") == 0
             ? uuid
             : NULL;
}

/* UUIDs are in the order of time. prefix: "" = of any run. */
static enum status shard_find(const struct shard *shard, const char *run, const char *prefix,
                              char uuid[UUID_DIGITS + 1], struct error *err) {
  DIR *folder = opendir(shard->request.folder);
  const struct dirent *entry;
  size_t count = 0;
  uuid[0] = '\0';
  while (folder != NULL && (entry = readdir(folder)) != NULL) {
    const char *found = shard_find_uuid(entry->d_name, shard->node);
    if (found != NULL && strncmp(found, prefix, strlen(prefix)) == 0) {
      count++;
      if (strncmp(found, uuid, UUID_DIGITS) > 0) {
        (void)snprintf(uuid, UUID_DIGITS + 1, "%.*s", UUID_DIGITS, found);
      }
    }
  }
  if (folder != NULL) {
    (void)closedir(folder);
  }
  if (count == 0) {
    return error_set(err, STATUS_NOT_FOUND, "no run to resume: %s has no shard %s-*.db%s%s",
                     shard->request.folder, shard->node, prefix[0] != '\0' ? " of " : "",
                     prefix[0] != '\0' ? run : "");
  }
  return count == 1 || prefix[0] == '\0'
             ? STATUS_OK
             : error_set(err, STATUS_INVALID, "%s names %zu runs in %s: give more of the UUID", run,
                         count, shard->request.folder);
}

static void shard_set_name(struct shard *shard, const char *uuid) {
  SCOPED(memory_free) char *name = memory_format("%s-%s.db", shard->node, uuid);
  shard->path = memory_format("%s/%s", shard->request.folder, name);
  shard->begun = true;
  shard_local_point_to(&shard->local, shard->path);
}

/* A copy of the shard, which this user made, to the local disk. */
static enum status shard_fetch(struct shard *shard, struct error *err) {
  struct stat info;
  if (lstat(shard->path, &info) != 0) {
    return error_set_errno(err, errno, "cannot read %s", shard->path);
  }
  if (!S_ISREG(info.st_mode) || info.st_uid != geteuid()) {
    return error_set(err, STATUS_DENIED,
                     "%s was made by another user, and only that one can resume its run",
                     shard->path);
  }
  return database_file_publish(shard->path, shard->local.database, false, err);
}

enum status shard_resume(const struct shard_request *request, const char *run, struct shard **shard,
                         char uuid[33], struct error *err) {
  const char *prefix = strncmp(run, "run:", 4) == 0 ? run + 4 : run;
  prefix = strcmp(run, "latest") == 0 ? "" : prefix;
  if (strspn(prefix, "0123456789abcdef") != strlen(prefix) ||
      (prefix[0] == '\0' && strcmp(run, "latest") != 0)) {
    return error_set(err, STATUS_USAGE, "with --shard, --resume takes latest or run:UUID, not %s",
                     run);
  }
  struct shard *made = NULL;
  RETURN_ON_ERROR(shard_new(request, &made, err));
  enum status status = shard_find(made, run, prefix, uuid, err);
  if (status == STATUS_OK) {
    shard_set_name(made, uuid);
    made->replaces = true;
    status = shard_fetch(made, err);
  }
  if (status != STATUS_OK) {
    (void)shard_close(made);
    return status;
  }
  *shard = made;
  return STATUS_OK;
}

const char *shard_resume_command(const struct shard *shard, const char *uuid, struct arena *arena) {
  return arena_format(arena, "haul run --resume " RUN_NAME " --shard %s --node-name %s", uuid,
                      shell_word(arena, shard->request.folder),
                      shell_word(arena, shard->request.node));
}

/* ---- to the folder ---- */

const char *shard_database(const struct shard *shard) {
  return shard->local.database;
}

void shard_name_run(struct shard *shard, const char *uuid) {
  if (shard->path == NULL) { /* cases that are measured once more are a run in the same database */
    shard_set_name(shard, uuid);
  }
  shard->begun = true;
  shard_publish(shard);
}

bool shard_is_due(const struct shard *shard) {
  return shard != NULL && shard->path != NULL &&
         clock_now_ns() - shard->copied_ns >= shard->request.interval_ns;
}

/* Beside the shard; of a run without a UUID, with digits of its own. */
static char *shard_failure_path(const struct shard *shard) {
  return shard->path != NULL
             ? shard_local_failure_path(shard->path)
             : memory_format("%s/%s-%016llx%016llx%s", shard->request.folder, shard->node,
                             (unsigned long long)clock_read_ns(CLOCK_REALTIME),
                             (unsigned long long)getpid(), DATABASE_FAILURE_SUFFIX);
}

void shard_tell_failure(struct shard *shard, const char *reason) {
  if (shard == NULL || shard->told) {
    return;
  }
  struct error ignored = {0};
  struct new_file file;
  SCOPED(memory_free) char *path = shard_failure_path(shard);
  if (new_file_open(path, &file, &ignored) == STATUS_OK) {
    const size_t length = strlen(reason);
    /* Where not even that has room, the name alone says it. */
    if (write(file.fd, reason, length) != (ssize_t)length) {
      (void)!ftruncate(file.fd, 0);
    }
    shard->told = new_file_place(&file, true, &ignored) == STATUS_OK;
  }
}

static void shard_take_back_failure(struct shard *shard) {
  if (shard->told || shard->replaces) { /* also of the run before it was resumed */
    char *path = shard_failure_path(shard);
    (void)unlink(path);
    free(path);
    shard->told = false;
  }
}

void shard_publish(struct shard *shard) {
  struct error err = {0};
  const bool failed_before = shard->failed;
  const uint64_t start_ns = clock_now_ns();
  enum status status = shard_local_check(&shard->local, &err);
  status = THEN(status,
                database_file_publish(shard->local.database, shard->path, shard->replaces, &err));
  shard->failed = status != STATUS_OK;
  shard->copied_ns = clock_now_ns();
  shard->copying_ns = shard->copied_ns - start_ns;
  if (!shard->failed) {
    shard_take_back_failure(shard);
    shard->replaces = true;
    return;
  }
  if (!failed_before) {
    say_warning(shard->request.common, "%s; the run goes on, and its results are kept in %s",
                err.message, shard->local.database);
  }
  shard_tell_failure(shard, err.message);
}

void shard_publish_process(struct shard *shard) {
  if (clock_now_ns() - shard->copied_ns >= COPYING_SHARE * shard->copying_ns) {
    shard_publish(shard);
  }
}

const char *shard_path(const struct shard *shard) {
  return shard->failed || shard->path == NULL ? shard->local.database : shard->path;
}

/* The local file with the name that it should have in the folder. */
static int shard_keep_local(struct shard *shard) {
  SCOPED(memory_free)
  char *kept = memory_format("%s%s", shard->local.folder, strrchr(shard->path, '/'));
  const char *path = rename(shard->local.database, kept) == 0 ? kept : shard->local.database;
  say_error(shard->request.common,
            "the results are not in %s but in %s: copy that file there, or merge it as it is; the "
            "next run with --shard on this node tries to move it there",
            shard->request.folder, path);
  return EXIT_NOT_MEASURED;
}

int shard_close(struct shard *shard) {
  if (shard == NULL) {
    return EXIT_DONE;
  }
  int code = EXIT_DONE;
  if (shard->begun && shard->failed) {
    shard_publish(shard);
  }
  if (shard->begun && shard->failed) {
    code = shard_keep_local(shard);
  } else {
    shard_local_remove(&shard->local);
  }
  shard_free(shard);
  return code;
}
