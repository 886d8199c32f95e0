/* launch.h - what a launcher says of a run: Slurm by its variables, others by options of haul run.
 */
#pragma once

#include "engine/base/arena.h"
#include "runner/record/record.h"

struct machine;

/* As given, NULL = not given. */
struct launch_options {
  const char *node_name;      /* --node-name */
  const char *expected_nodes; /* --expected-nodes: a list, or a file of names */
  const char *shard;          /* --shard: the folder */
  const char *tag;
};

struct launch {
  const char *node; /* the launcher's name of this machine; NULL = it has none */
  struct run_launch run;
};

/* Texts belong to the arena. Runs are of a fleet where shards are asked for: that of Slurm's job
 * and step, else of the tag, else of the folder's name. */
enum status launch_read(const struct launch_options *options, struct arena *arena,
                        struct launch *launch, struct error *err) CHECK_RESULT;
/* Name the machine as the launcher does, unless that is the name of its host, whole or short. */
void launch_name_machine(const struct launch *launch, struct machine *machine);
