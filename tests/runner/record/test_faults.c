/* Every access to the disk fails in turn, once or from then on: recording, merging and migrating
 * end with one clear error or go on, and whatever was committed before stays whole. */
#include "runner/record/database.h"
#include "runner/record/merge.h"
#include "runner/record/migrate.h"
#include "tests/runner/record/fixture.h"

#include <sqlite3.h>
#include <unistd.h>

/* ---- the disk: a VFS over the usual one in which the n-th access fails ----
 *
 * Accesses that count: opening, reading, writing, truncating, syncing, locking, deleting and asking
 * for a size. Syncs of the disk itself are left out, and waiting for a lock takes no time. */

enum disk_fault {
  DISK_FAILS_ONCE, /* an I/O error */
  DISK_FAILS,      /* from then on every access */
  DISK_IS_FULL,    /* from then on every write: SQLITE_FULL */
  DISK_IS_LOCKED,  /* from then on every lock: another program has it */
};

enum access { ACCESS_OTHER, ACCESS_WRITE, ACCESS_LOCK };

struct faulty_file {
  sqlite3_file base; /* first: SQLite sees no more of it */
  sqlite3_file *real;
};

/* SQLite calls back without a context of ours. */
static struct {
  sqlite3_vfs vfs;
  sqlite3_vfs *real;
  enum disk_fault fault;
  uint64_t left; /* accesses of the fault's kind up to the one that fails, with it; 0 = none */
  bool failed;
} disk;

static bool applies(enum access access) {
  switch (disk.fault) {
  case DISK_FAILS_ONCE:
  case DISK_FAILS:
    return true;
  case DISK_IS_FULL:
    return access == ACCESS_WRITE;
  case DISK_IS_LOCKED:
    return access == ACCESS_LOCK;
  }
  return false;
}

/* Counts the access, where the fault is of its kind; SQLITE_OK, or the error it ends with. */
static int fault_of(enum access access, int io_error) {
  if (disk.left == 0 || !applies(access)) {
    return SQLITE_OK;
  }
  if (disk.left > 1) {
    disk.left--;
    return SQLITE_OK;
  }
  if (disk.fault == DISK_FAILS_ONCE) {
    disk.left = 0;
  }
  disk.failed = true;
  return disk.fault == DISK_IS_FULL     ? SQLITE_FULL
         : disk.fault == DISK_IS_LOCKED ? SQLITE_BUSY
                                        : io_error;
}

static sqlite3_file *real_of(sqlite3_file *file) {
  return ((struct faulty_file *)file)->real;
}

static int file_close(sqlite3_file *file) {
  SCOPED(memory_free) sqlite3_file *real = real_of(file);
  const int result = real->pMethods != NULL ? real->pMethods->xClose(real) : SQLITE_OK;
  return result;
}

static int file_read(sqlite3_file *file, void *to, int size, sqlite3_int64 offset) {
  const int fault = fault_of(ACCESS_OTHER, SQLITE_IOERR_READ);
  return fault != SQLITE_OK ? fault
                            : real_of(file)->pMethods->xRead(real_of(file), to, size, offset);
}

static int file_write(sqlite3_file *file, const void *from, int size, sqlite3_int64 offset) {
  const int fault = fault_of(ACCESS_WRITE, SQLITE_IOERR_WRITE);
  return fault != SQLITE_OK ? fault
                            : real_of(file)->pMethods->xWrite(real_of(file), from, size, offset);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
  const int fault = fault_of(ACCESS_OTHER, SQLITE_IOERR_TRUNCATE);
  return fault != SQLITE_OK ? fault : real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int file_sync(sqlite3_file *file, int flags) {
  return fault_of(ACCESS_OTHER, SQLITE_IOERR_FSYNC);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
  const int fault = fault_of(ACCESS_OTHER, SQLITE_IOERR_FSTAT);
  return fault != SQLITE_OK ? fault : real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int file_lock(sqlite3_file *file, int level) {
  const int fault = fault_of(ACCESS_LOCK, SQLITE_IOERR_LOCK);
  return fault != SQLITE_OK ? fault : real_of(file)->pMethods->xLock(real_of(file), level);
}

static int file_unlock(sqlite3_file *file, int level) {
  return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int file_check_lock(sqlite3_file *file, int *reserved) {
  return real_of(file)->pMethods->xCheckReservedLock(real_of(file), reserved);
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
  return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
}

static int file_sector_size(sqlite3_file *file) {
  return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int file_characteristics(sqlite3_file *file) {
  return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

/* Version 1: no shared memory and no mapping, which a rollback journal needs not. */
static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
};

static int disk_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags,
                     int *flags_out) {
  struct faulty_file *opened = (struct faulty_file *)file;
  opened->base.pMethods = NULL;
  if (fault_of(ACCESS_OTHER, SQLITE_CANTOPEN) != SQLITE_OK) {
    return SQLITE_CANTOPEN;
  }
  opened->real = calloc(1, (size_t)disk.real->szOsFile);
  if (opened->real == NULL) {
    return SQLITE_NOMEM;
  }
  const int result = disk.real->xOpen(disk.real, path, opened->real, flags, flags_out);
  if (result != SQLITE_OK) {
    free(opened->real);
    return result;
  }
  opened->base.pMethods = &methods;
  return SQLITE_OK;
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int sync_folder) {
  const int fault = fault_of(ACCESS_OTHER, SQLITE_IOERR_DELETE);
  return fault != SQLITE_OK ? fault : disk.real->xDelete(disk.real, path, 0);
}

static int disk_sleep(sqlite3_vfs *vfs, int microseconds) {
  return microseconds;
}

/* The default VFS from now on, without faults. */
static void faulty_disk_install(void) {
  disk.real = sqlite3_vfs_find(NULL);
  disk.vfs = *disk.real;
  disk.vfs.pNext = NULL;
  disk.vfs.zName = "faulty";
  disk.vfs.szOsFile = sizeof(struct faulty_file);
  disk.vfs.xOpen = disk_open;
  disk.vfs.xDelete = disk_delete;
  disk.vfs.xSleep = disk_sleep;
  if (disk.real == NULL || sqlite3_vfs_register(&disk.vfs, 1) != SQLITE_OK) {
    fprintf(stderr, "faulty_disk: SQLite takes no VFS\n");
    abort();
  }
}

/* Of the accesses of the fault's kind, number `at` (from 1) from now on fails; 0 = none does. */
static void faulty_disk_arm(enum disk_fault fault, uint64_t at) {
  disk.fault = fault;
  disk.left = at;
  disk.failed = false;
}

/* Whether any access has failed since. */
static bool faulty_disk_has_failed(void) {
  return disk.failed;
}

/* ---- what is tried, and what must hold ---- */

enum { TRIALS = 8, ACCESSES_MAX = 20000, WHOLE_MAX = 8 };

/* What an attempt left behind without a journal, and what it said of that. */
struct outcome {
  struct bytes database;
  enum status status;
  size_t recorded;
  bool ended;
};

/* What an attempt works with; `before` is the database that each begins with. */
struct faults {
  struct fixture *fixture;
  struct fixture *input; /* of a merge */
  struct bytes before;
  enum database_access access;     /* of looking at the database afterwards */
  size_t recorded;                 /* cases that were recorded, as far as the recorder says */
  bool ended;                      /* the end of the run was, after an error */
  struct outcome whole[WHOLE_MAX]; /* in which all that must hold was found already */
  size_t whole_count;
};

static void restore(const struct faults *faults) {
  PRINTED(journal, 128, "%.100s-journal", faults->fixture->path);
  (void)unlink(journal);
  bytes_write(faults->fixture->path, faults->before);
}

/* The first column of the first row; caller frees. */
static char *answer(struct database *database, const char *sql) {
  sqlite3_stmt *stmt = NULL;
  if (sqlite3_prepare_v2(database->handle, sql, -1, &stmt, NULL) != SQLITE_OK ||
      sqlite3_step(stmt) != SQLITE_ROW) {
    fail_msg("%s\n  %s", sql, sqlite3_errmsg(database->handle));
  }
  const char *text = (const char *)sqlite3_column_text(stmt, 0);
  char *value = strdup(text != NULL ? text : "NULL");
  (void)sqlite3_finalize(stmt);
  assert_non_null(value);
  return value;
}

static void assert_answer(struct database *database, const char *sql, const char *expected) {
  SCOPED(memory_free) char *value = answer(database, sql);
  if (strcmp(value, expected) != 0) {
    fail_msg("%s\n  gives %s, not %s", sql, value, expected);
  }
}

typedef enum status attempt(struct faults *faults, struct error *err);
/* What must hold in the database after an attempt that ended so. */
typedef void check(const struct faults *faults, struct database *database, enum status status);

static enum status record_a_run(struct faults *faults, struct error *err) {
  struct fixture *fixture = faults->fixture;
  struct record *record = NULL;
  faults->recorded = 0;
  faults->ended = false;
  enum status status = fixture_begin(fixture, &record, err);
  const bool begun = status == STATUS_OK;
  if (!begun) { /* a run that is rolled back has no name */
    assert_null(strstr(err->message, "cases were recorded"));
  }
  status = THEN(status, record_process_started(record, 0, 100, err));
  for (size_t i = 0; i < 2 && status == STATUS_OK; i++) {
    status = record_case(record, &fixture->plan, fixture_report(fixture, 0, i, TRIALS), err);
    status = THEN(status, record_write_due(record, RECORD_GROUP_NS, err));
    faults->recorded += status == STATUS_OK;
  }
  status = THEN(status, record_process_ended(record, 0, err));
  status = THEN(status, record_end_run(record, "done", NULL, err));
  if (begun && status != STATUS_OK) {
    struct error second = {0};
    faults->ended = record_end_run(record, "failed", err->message, &second) == STATUS_OK;
  }
  record_close(record);
  return status;
}

static enum status merge_the_input(struct faults *faults, struct error *err) {
  struct merge_result result = {0};
  bool fatal = false;
  struct merge *merge = merge_new(faults->fixture->path, NULL);
  enum status status = merge_add(merge, faults->input->path, &result, &fatal, err);
  merge_free(merge);
  return status;
}

/* To a made-up version, later than any migration, that writes every trial. */
static enum status migrate(struct faults *faults, struct error *err) {
  static const char SQL[] =
      "ALTER TABLE trial ADD COLUMN later INTEGER; UPDATE trial SET later = 1; "
      "PRAGMA user_version = 1999;";
  const struct embedded_file file = {"migrations/1999_later", (const unsigned char *)SQL,
                                     (const unsigned char *)SQL + strlen(SQL)};
  struct database *database = NULL;
  enum status status = database_open(faults->fixture->path, DATABASE_WRITE, &database, err);
  if (status == STATUS_OK) {
    status = migrate_run_files(database, &file, 1, err);
    database_close(database);
  }
  return status;
}

/* The next program that writes finds a database that it can use, with all that was there. */
static void assert_whole(const struct faults *faults, enum status status, check *holds) {
  SCOPED(database_close_at) struct database *database = NULL;
  struct error err = {0};
  assert_ok(database_open(faults->fixture->path, faults->access, &database, &err), &err);
  assert_answer(database, "pragma integrity_check", "ok");
  assert_answer(database, "select count(*) from pragma_foreign_key_check", "0");
  holds(faults, database, status);
}

/* Most attempts leave the same few databases behind: each is looked at once. */
static void assert_whole_once(struct faults *faults, enum status status, check *holds) {
  PRINTED(journal, 128, "%.100s-journal", faults->fixture->path);
  struct outcome left = {bytes_read(faults->fixture->path), status, faults->recorded,
                         faults->ended};
  const bool settled = access(journal, F_OK) != 0;
  bool known = false;
  for (size_t i = 0; i < faults->whole_count && settled && !known; i++) {
    const struct outcome *seen = &faults->whole[i];
    known = seen->status == status && seen->recorded == left.recorded &&
            seen->ended == left.ended && seen->database.size == left.database.size &&
            memcmp(seen->database.data, left.database.data, left.database.size) == 0;
  }
  if (!known) {
    assert_whole(faults, status, holds);
  }
  if (!known && settled && faults->whole_count < WHOLE_MAX) {
    faults->whole[faults->whole_count++] = left;
  } else {
    bytes_fini(&left.database);
  }
}

/* With sanitizers, which take ten times as long, one access of so many. */
enum { SHARE = ROUNDS(1, 17) };

/* Fails each access of the attempt in turn, up to the one that is never reached. */
static void fail_each(struct faults *faults, enum disk_fault fault, attempt *try, check *holds) {
  /* Where the disk stays away, accesses next to each other end alike. */
  const uint64_t step = (fault == DISK_FAILS || fault == DISK_IS_FULL ? 4 : 1) * SHARE;
  bool reached = true;
  uint64_t at = 1;
  for (; reached && at < ACCESSES_MAX; at += step) {
    struct error err = {0};
    restore(faults);
    faulty_disk_arm(fault, at);
    const enum status status = try(faults, &err);
    reached = faulty_disk_has_failed();
    faulty_disk_arm(fault, 0);
    if (status != STATUS_OK && err.message[0] == '\0') {
      fail_msg("access %llu: %s without a word", (unsigned long long)at, status_text(status));
    }
    if (status != STATUS_OK && !reached) {
      fail_msg("access %llu did not fail, but: %s", (unsigned long long)at, err.message);
    }
    assert_whole_once(faults, status, holds);
  }
  assert_false(reached);
  assert_true(at > 3); /* there was something to fail */
}

static void recorded_is_whole(const struct faults *faults, struct database *database,
                              enum status status) {
  assert_answer(database,
                "select count(*) from trial t join case_run c on c.id = t.case_run where c.run = 1",
                "250");
  assert_answer(database, "select status from v_run where run = 1", "done");
  /* No case in part. Whether the last one is there when its commit failed nobody can tell. */
  assert_answer(database,
                "select count(*) from (select count(*) as n from trial t join case_run c on c.id = "
                "t.case_run where c.run = 2 group by t.case_run) where n <> 8",
                "0");
  char *cases =
      answer(database, "select count(*) from case_run where run = 2 and process is not null");
  const size_t found = (size_t)strtoul(cases, NULL, 10);
  free(cases);
  if (faults->ended) {
    assert_answer(database, "select status from v_run where run = 2", "failed");
  }
  assert_in_range(found, faults->recorded, faults->recorded + (status != STATUS_OK));
  assert_true(status != STATUS_OK || found == 2);
}

static void merged_is_whole(const struct faults *faults, struct database *database,
                            enum status status) {
  assert_answer(database,
                "select count(*) from trial t join case_run c on c.id = t.case_run where c.run = 1",
                "250");
  SCOPED(memory_free) char *runs = answer(database, "select count(*) from v_run");
  SCOPED(memory_free) char *trials = answer(database, "select count(*) from trial");
  const bool merged = strcmp(runs, "2") == 0;
  assert_true(merged || strcmp(runs, "1") == 0);
  assert_string_equal(trials, merged ? "500" : "250");
  assert_true(merged || status != STATUS_OK);
}

/* The recorded database has these, migrated or not. */
static void migrated_is_whole(const struct faults *faults, struct database *database,
                              enum status status) {
  assert_answer(database, "select count(*) > 0 from v_trial", "1");
  const bool migrated = database->version == 1999;
  assert_true(migrated || (database->version <= migrate_latest_version() && status != STATUS_OK));
  assert_answer(database, "select count(*) from pragma_table_info('trial') where name = 'later'",
                migrated ? "1" : "0");
}

static void fail_all(struct faults *faults, attempt *try, check *holds) {
  faults->before = bytes_read(faults->fixture->path);
  fail_each(faults, DISK_FAILS_ONCE, try, holds);
  fail_each(faults, DISK_FAILS, try, holds);
  fail_each(faults, DISK_IS_FULL, try, holds);
  fail_each(faults, DISK_IS_LOCKED, try, holds);
  bytes_fini(&faults->before);
  for (size_t i = 0; i < faults->whole_count; i++) {
    bytes_fini(&faults->whole[i].database);
  }
}

static int set_up(void **state) {
  struct faults *faults = calloc(1, sizeof *faults);
  *state = faults;
  if (faults == NULL) {
    return -1;
  }
  faults->access = DATABASE_WRITE;
  faults->fixture = fixture_new();
  faults->input = fixture_new();
  return 0;
}

static int tear_down(void **state) {
  SCOPED(memory_free) struct faults *faults = *state;
  fixture_free(faults->fixture);
  fixture_free(faults->input);
  return 0;
}

TEST_WITH(recording_survives_disk_faults, set_up, tear_down, struct faults *faults) {
  fixture_record_run(faults->fixture, 1);
  fail_all(faults, record_a_run, recorded_is_whole);
}

TEST_WITH(merging_survives_disk_faults, set_up, tear_down, struct faults *faults) {
  fixture_record_run(faults->fixture, 1);
  fixture_record_run(faults->input, 1);
  SCOPED(bytes_fini) struct bytes before = bytes_read(faults->input->path);
  fail_all(faults, merge_the_input, merged_is_whole);
  SCOPED(bytes_fini) struct bytes after = bytes_read(faults->input->path);
  assert_bytes_equal(after, before);
}

TEST_WITH(migrating_survives_disk_faults, set_up, tear_down, struct faults *faults) {
  fixture_load(faults->fixture, "results-1002.sql");
  faults->access = DATABASE_READ; /* the schema is newer than this program's then */
  fail_all(faults, migrate, migrated_is_whole);
}

static int install_disk(void **state) {
  faulty_disk_install();
  return 0;
}

TEST_GROUP(install_disk, NULL);
