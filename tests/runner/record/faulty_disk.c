#include "tests/runner/record/faulty_disk.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

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
  sqlite3_file *real = real_of(file);
  const int result = real->pMethods != NULL ? real->pMethods->xClose(real) : SQLITE_OK;
  free(real);
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
  (void)file;
  (void)flags;
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
  (void)vfs;
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
  (void)vfs;
  (void)sync_folder;
  return fault != SQLITE_OK ? fault : disk.real->xDelete(disk.real, path, 0);
}

static int disk_sleep(sqlite3_vfs *vfs, int microseconds) {
  (void)vfs;
  return microseconds;
}

void faulty_disk_install(void) {
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

void faulty_disk_arm(enum disk_fault fault, uint64_t at) {
  disk.fault = fault;
  disk.left = at;
  disk.failed = false;
}

bool faulty_disk_has_failed(void) {
  return disk.failed;
}
