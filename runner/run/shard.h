/* shard.h - the database of one run of a fleet, on its way to a folder that all nodes share.
 *
 * SQLite writes to a local disk (TMPDIR, /tmp, /var/tmp), or to memory (/dev/shm) where no disk can
 * be written. What is there is copied into the folder at intervals and at the end: to a name of its
 * own, with fsync, and then moved to NODE-UUID.db, so that readers see a whole database or an
 * earlier one. In the folder no database is ever opened. Where the folder cannot be written any
 * more, the run goes on and the local file stays. */
#ifndef HAUL_RUNNER_RUN_SHARD_H
#define HAUL_RUNNER_RUN_SHARD_H

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

/* Makes both folders where they are not there. Texts of the request are borrowed. */
enum status shard_new(const struct shard_request *request, struct shard **shard,
                      struct error *err) CHECK_RESULT;
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
/* The place in the folder, or of the local file where that is the newer one. */
const char *shard_path(const struct shard *shard);
/* After the database was closed: where the last copy failed it is tried again. The local file is
 * removed if it arrived; else an error says where it is. Returns the exit code. Accepts NULL. */
int shard_close(struct shard *shard);

#endif
