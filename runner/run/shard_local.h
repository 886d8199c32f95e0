/* shard_local.h - where a node keeps the database of a run until it is in the shared folder, and
 * what killed runs left there.
 *
 * haul-shards-UID/XXXXXX in TMPDIR, /tmp, /var/tmp or /dev/shm: a folder for each run, locked while
 * its run lives, with results.db and the link "to", whose target is the place in the shared folder.
 * haul-shards-UID belongs to the user and to nobody else, or is not used. */
#pragma once

#include "runner/console/console.h"
#include "runner/record/database.h"
#include "runner/record/file.h"

/* "NODE-UUID.failed" for "NODE-UUID.db"; to be freed. */
char *shard_local_failure_path(const char *place);

struct shard_local {
  char *folder;
  char *database; /* path */
  int lock;       /* descriptor of the folder; -1 = none */
};

enum status shard_local_make(struct shard_local *local, struct error *err) CHECK_RESULT;
/* Where the database will go. */
void shard_local_point_to(const struct shard_local *local, const char *place);
/* An error where the database is in the middle of a transaction, which a failing disk left so. */
enum status shard_local_check(const struct shard_local *local, struct error *err) CHECK_RESULT;
/* With all that is in it. */
void shard_local_remove(struct shard_local *local);
/* Forget it; what is on the disk stays, and is unlocked. */
void shard_local_close(struct shard_local *local);
/* Move what killed runs of this user left here to where it belongs, and say so. Folders of runs
 * that live are left alone. */
void shard_local_take_up(const struct common_options *common);
