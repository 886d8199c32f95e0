/* shard.h - the database of one run of a fleet, on its way to a folder that all nodes share.
 *
 * SQLite writes to a local disk, in a folder of its own below haul-shards-UID in TMPDIR, /tmp or
 * /var/tmp, or in memory (/dev/shm) where no disk can be written. What is there is copied into the
 * shared folder at intervals and at the end, as NODE-UUID.db (engine/base/new_file.h), so that
 * readers see a whole database or an earlier one. In the shared folder no database is ever opened.
 * Where it cannot be written any more, the run goes on, the local file stays, and the file
 * NODE-UUID.failed says why, where there is room for that; haul merge reads it.
 *
 * The local folder is locked (flock(2)) as long as its run lives. The next run of this user on this
 * node finds those that killed runs left, and moves what is in them to where it belongs. */
#pragma once

#include "engine/base/arena.h"
#include "runner/console/console.h"

#include <stdint.h>

#define SHARD_INTERVAL_NS UINT64_C(60000000000)

struct shard_request {
  const struct common_options *common;
  const char *folder;
  const char *node;     /* the name of this one */
  uint64_t interval_ns; /* between two copies */
};

struct shard;

/* Takes up what killed runs of this node left. Makes both folders where they are not there. Texts
 * of the request are borrowed. */
enum status shard_new(const struct shard_request *request, struct shard **shard,
                      struct error *err) CHECK_RESULT;
/* The same for a run that goes on: `run` is latest, or run:UUID, of which the beginning is enough.
 * Its shard was copied from the folder. uuid: of the run. */
enum status shard_resume(const struct shard_request *request, const char *run, struct shard **shard,
                         char uuid[33], struct error *err) CHECK_RESULT;
/* Where the run is to be recorded. */
const char *shard_database(const struct shard *shard);
/* Once the run has its UUID: the shard is in the folder from here on. */
void shard_name_run(struct shard *shard, const char *uuid);
/* Whether the interval since the last copy is over. Accepts NULL: false. */
bool shard_is_due(const struct shard *shard);
/* Copy what is there; nobody may be writing to it. A failure is a warning, the first time. */
void shard_publish(struct shard *shard);
/* The same after a process, unless copying would take more than a twentieth of the run's time. */
void shard_publish_process(struct shard *shard);
/* The run could not be recorded: leave word of it in the folder. Accepts NULL. */
void shard_tell_failure(struct shard *shard, const char *reason);
/* The place in the folder, or of the local file where that is the newer one. */
const char *shard_path(const struct shard *shard);
/* The command that goes on with the run. */
const char *shard_resume_command(const struct shard *shard, const char *uuid, struct arena *arena);
/* After the database was closed: where the last copy failed it is tried again. The local file is
 * removed if it arrived; else an error says where it is. Returns the exit code. Accepts NULL. */
int shard_close(struct shard *shard);
