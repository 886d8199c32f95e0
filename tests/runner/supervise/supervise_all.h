/* supervise_all.h - a whole run of workers, from the first start to the last end. */
#pragma once

#include "runner/supervise/supervise.h"

static inline enum status supervise_all(const struct plan *plan,
                                        const struct supervise_options *options,
                                        const struct supervise_sink *sink, struct error *err) {
  struct supervisor *supervisor = supervise_new(plan, options);
  const enum status status = supervise_run(supervisor, sink, err);
  supervise_free(supervisor);
  return status;
}
