/* faulty_disk.h - an SQLite VFS over the usual one in which the n-th access fails, for tests of
 * what an error at any place leaves behind.
 *
 * Accesses that count: opening, reading, writing, truncating, syncing, locking, deleting and asking
 * for a size. Syncs of the disk itself are left out, and waiting for a lock takes no time. One a
 * program; not for several threads. */
#ifndef HAUL_TESTS_RUNNER_RECORD_FAULTY_DISK_H
#define HAUL_TESTS_RUNNER_RECORD_FAULTY_DISK_H

#include <stdbool.h>
#include <stdint.h>

enum disk_fault {
  DISK_FAILS_ONCE, /* an I/O error */
  DISK_FAILS,      /* from then on every access */
  DISK_IS_FULL,    /* from then on every write: SQLITE_FULL */
  DISK_IS_LOCKED,  /* from then on every lock: another program has it */
};

/* The default VFS from now on, without faults. */
void faulty_disk_install(void);
/* Of the accesses of the fault's kind, number `at` (from 1) from now on fails; 0 = none does. */
void faulty_disk_arm(enum disk_fault fault, uint64_t at);
/* Whether any access has failed since. */
bool faulty_disk_has_failed(void);

#endif
