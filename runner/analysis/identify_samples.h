/* identify_samples.h - the fingerprints that haul identify goes by, read from a database. */
#pragma once

#include "engine/base/arena.h"
#include "runner/record/query.h"

/* What one GPU measured in one run. */
struct fingerprint {
  int64_t run;
  const char *run_uuid, *started_at, *host;
  int64_t gpu; /* its number then */
  const char *uuid, *name;
  double *features; /* logarithms of ns; NAN where it was not measured */
};

struct fingerprints {
  struct fingerprint *items; /* the run asked for last */
  size_t count;
  const char **features;
  const char **blocks; /* of the run asked for: which measures the feature */
  size_t feature_count;
  int64_t run;          /* the run asked for: of the last item */
  size_t earlier_count; /* items before it */
};

/* The saved query fingerprint-samples; run may be NULL, the latest. Everything is put into the
 * arena. STATUS_UNSUPPORTED when the run measured nothing by one GPU alone. */
enum status fingerprints_read(struct query *query, const char *run,
                              const struct query_options *options, struct arena *arena,
                              struct fingerprints *fingerprints, struct error *err) CHECK_RESULT;
