#include "runner/record/beside.h"

#include "runner/record/merge.h"
#include "runner/record/rows.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TAKE_UP_MS = 1000 };

char *beside_path(const char *path, const char *uuid) {
  return memory_format("%s-run-%s.db", path, uuid);
}

static void beside_remove(const char *place) {
  char journal[4096];
  (void)unlink(place);
  if (snprintf(journal, sizeof journal, "%s-journal", place) < (int)sizeof journal) {
    (void)unlink(journal);
  }
}

/* The rows of the run, inside a transaction; the other database is attached as "input". */
static enum status beside_copy_rows(struct database *database, int64_t run, struct error *err) {
  enum status status =
      database_do(database, "beside/choose", PARAMETERS(PARAMETER(":run", run)), err);
  status = THEN(status, database_run_generated(database, "beside/copy", err));
  return THEN(status, database_script(database, "beside/end", err));
}

static enum status beside_copy(struct database *database, const char *path, int64_t run,
                               struct error *err) {
  RETURN_ON_ERROR(database_do(database, "merge/attach", PARAMETERS(PARAMETER(":path", path)), err));
  enum status status = database_script(database, "beside/begin", err);
  status = THEN(status, database_end(database, beside_copy_rows(database, run, err), err));
  struct error ignored = {0};
  (void)!database_script(database, "merge/detach", &ignored);
  return status;
}

enum status beside_open(const char *path, const char *place, int64_t run,
                        struct database **database, struct error *err) {
  struct database *made = NULL;
  RETURN_ON_ERROR(database_open(place, DATABASE_WRITE, &made, err));
  const enum status status = run != 0 ? beside_copy(made, path, run, err) : STATUS_OK;
  if (status != STATUS_OK) {
    database_close(made);
    beside_remove(place);
    return status;
  }
  *database = made;
  return STATUS_OK;
}

static enum status beside_has_ended(const char *place, bool *ended, struct error *err) {
  struct database *database = NULL;
  bool running = false;
  RETURN_ON_ERROR(database_open(place, DATABASE_READ, &database, err));
  const enum status status =
      database_read(database, "beside/running", NULL, NULL, NULL, NULL, &running, err);
  *ended = !running;
  database_close(database);
  return status;
}

enum status beside_merge(const char *path, const char *place, int busy_ms, struct error *err) {
  struct database *output = NULL;
  struct merge_result result;
  bool fatal = false;
  bool ended = false;
  RETURN_ON_ERROR(database_open_waiting(path, DATABASE_WRITE, busy_ms, &output, err));
  struct merge *merge = merge_new(path, NULL);
  merge_keep_journal(merge); /* a reader would keep it from being changed back */
  enum status status = merge_take_output(merge, output, err);
  status = THEN(status, merge_add(merge, place, &result, &fatal, err));
  status = THEN(status, beside_has_ended(place, &ended, err));
  merge_free(merge);
  if (status == STATUS_OK && ended) {
    beside_remove(place);
  }
  return status;
}

/* Those that wait: FILE-run-*.db. */
static size_t beside_find(const char *path, glob_t *found) {
  SCOPED(memory_free) char *pattern = memory_new(2, strlen(path) + sizeof "-run-*.db");
  char *end = pattern;
  for (const char *c = path; *c != '\0'; c++) {
    if (strchr("*?[\\", *c) != NULL) {
      *end++ = '\\';
    }
    *end++ = *c;
  }
  memcpy(end, "-run-*.db", sizeof "-run-*.db");
  return glob(pattern, 0, NULL, found) == 0 ? found->gl_pathc : 0;
}

size_t beside_count(const char *path) {
  glob_t found = {0};
  const size_t count = beside_find(path, &found);
  globfree(&found);
  return count;
}

enum status beside_take_up(const char *path, size_t *left, struct error *err) {
  glob_t found = {0};
  enum status status = STATUS_OK;
  const size_t count = beside_find(path, &found);
  int wait_ms = TAKE_UP_MS;
  *left = count;
  for (size_t i = 0; i < count; i++) {
    struct stat info;
    struct error failed = {0};
    if (lstat(found.gl_pathv[i], &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid()) {
      const enum status merged = beside_merge(path, found.gl_pathv[i], wait_ms, &failed);
      if (merged != STATUS_OK && (status == STATUS_OK || status == STATUS_TIMEOUT)) {
        status = error_set(err, merged, "%s: %s", found.gl_pathv[i], failed.message);
      }
      wait_ms = merged == STATUS_TIMEOUT ? 0 : wait_ms; /* once is enough */
      *left -= access(found.gl_pathv[i], F_OK) != 0;
    }
  }
  globfree(&found);
  return status;
}
