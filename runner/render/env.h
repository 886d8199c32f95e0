/* env.h - a machine for people and as JSON: what `haul env` shows. */
#ifndef HAUL_RUNNER_RENDER_ENV_H
#define HAUL_RUNNER_RENDER_ENV_H

#include "engine/machine/machine.h"

#include <stdio.h>

struct env_options {
  FILE *stream;   /* borrowed; flushed, not closed */
  unsigned width; /* columns of the terminal; 0 = as wide as needed */
  bool colour;
};

/* GPUs with their links and peaks, a matrix of what joins them, NUMA nodes, facts. Facts that all
 * GPUs share stand once. STATUS_IO when the stream cannot be written; a reader that went away is
 * none (rows.h). */
enum status env_print(const struct machine *machine, const struct env_options *options,
                      struct error *err) CHECK_RESULT;

/* One object, keys and units as in schema/machine/README.md; peaks and links beside them; what is
 * not known is null. */
enum status env_print_json(const struct machine *machine, FILE *stream,
                           struct error *err) CHECK_RESULT;

#endif
