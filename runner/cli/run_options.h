/* run_options.h - the options of haul run, for the files that do a part of it. */
#pragma once

#include "runner/cli/cli.h"
#include "runner/run/launch.h"

struct run_options {
  const char *tag, *resume;
  bool dry_run, list, share;
  const char *decide; /* side A */
  uint64_t budget_ns; /* of --decide */
  uint64_t wait_ns;
  bool wait_given;
  const char *shard, *node_name, *expected_nodes;
  uint64_t shard_interval_ns;
  struct launch launch; /* as it was found out from these and the environment */
};

extern const struct verb VERB_RUN;
