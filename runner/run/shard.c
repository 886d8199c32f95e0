#include "runner/run/shard.h"

#include "engine/base/clock.h"
#include "runner/record/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NODE_SHOWN_MAX = 100, COPYING_SHARE = 20 };

struct shard {
  struct shard_request request;
  char *local;        /* the database */
  char *name;         /* in the folder; NULL = the run has no UUID yet */
  char *path;         /* with the folder */
  uint64_t copied_ns; /* when, and how long that took */
  uint64_t copying_ns;
  bool begun;  /* the database was made */
  bool failed; /* the last copy */
};

static char *shard_format(const char *format, const char *a, const char *b) {
  char *text = NULL;
  if (asprintf(&text, format, a, b) < 0) {
    abort();
  }
  return text;
}

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
  free(shard->local);
  free(shard->name);
  free(shard->path);
  free(shard);
}

enum status shard_new(const struct shard_request *request, struct shard **shard,
                      struct error *err) {
  RETURN_ON_ERROR(shard_check_folder(request->folder, err));
  struct shard *made = calloc(1, sizeof *made);
  if (made == NULL) {
    abort();
  }
  made->request = *request;
  enum status status = database_file_make_scratch(&made->local, err);
  if (status != STATUS_OK) {
    shard_free(made);
    return status;
  }
  *shard = made;
  return STATUS_OK;
}

const char *shard_database(const struct shard *shard) {
  return shard->local;
}

/* "NODE-UUID.db", with nothing in it that a file name must not have. */
void shard_name_run(struct shard *shard, const char *uuid) {
  char node[NODE_SHOWN_MAX + 1];
  (void)snprintf(node, sizeof node, "%s", shard->request.node);
  for (char *c = node; *c != '\0'; c++) {
    if (*c == '/' || (unsigned char)*c <= ' ' || (c == node && *c == '.')) {
      *c = '_';
    }
  }
  shard->name = shard_format("%s-%s.db", node[0] != '\0' ? node : "node", uuid);
  shard->path = shard_format("%s/%s", shard->request.folder, shard->name);
  shard->begun = true;
  shard_publish(shard);
}

bool shard_is_due(const struct shard *shard) {
  return shard != NULL && shard->name != NULL &&
         clock_now_ns() - shard->copied_ns >= shard->request.interval_ns;
}

void shard_publish(struct shard *shard) {
  struct error err = {0};
  const bool failed_before = shard->failed;
  const uint64_t start_ns = clock_now_ns();
  shard->failed =
      database_file_publish(shard->local, shard->request.folder, shard->name, &err) != STATUS_OK;
  shard->copied_ns = clock_now_ns();
  shard->copying_ns = shard->copied_ns - start_ns;
  if (shard->failed && !failed_before) {
    say_warning(shard->request.common, "%s; the run goes on, and its results are kept in %s",
                err.message, shard->local);
  }
}

void shard_publish_process(struct shard *shard) {
  if (clock_now_ns() - shard->copied_ns >= COPYING_SHARE * shard->copying_ns) {
    shard_publish(shard);
  }
}

const char *shard_path(const struct shard *shard) {
  return shard->failed || shard->path == NULL ? shard->local : shard->path;
}

/* The local file with the name that it should have in the folder. */
static int shard_keep_local(struct shard *shard) {
  char *kept = NULL;
  if (asprintf(&kept, "%.*s/%s", (int)(strrchr(shard->local, '/') - shard->local), shard->local,
               shard->name) < 0) {
    abort();
  }
  const char *path = rename(shard->local, kept) == 0 ? kept : shard->local;
  say_error(shard->request.common,
            "the results are not in %s but in %s: copy that file there, or merge it as it is",
            shard->request.folder, path);
  free(kept);
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
    database_file_remove_scratch(shard->local);
  }
  shard_free(shard);
  return code;
}
