/* plan.h - scenario x machine: every case that will be measured, and every one that cannot be, with
 * its reason. Immutable once made. Knows neither CUDA nor SQLite. */
#ifndef HAUL_RUNNER_PLAN_PLAN_H
#define HAUL_RUNNER_PLAN_PLAN_H

#include "engine/base/arena.h"
#include "engine/case.h"
#include "engine/machine/machine.h"
#include "schema/scenario/scenario.h"

struct plan_case {
  struct bench_case bench;
  const char *skip_reason; /* NULL: will be measured */
  const char *axes;        /* "from.memory=pinned size=64KiB"; "" without axes */
  uint64_t estimate_ns;    /* wall time, at most; 0 for a skipped case */
  uint64_t host_bytes;
  uint64_t gpu_bytes; /* on the GPU that needs most */
};

struct plan {
  const struct scenario *scenario; /* borrowed */
  const struct machine *machine;   /* borrowed */
  const struct plan_case *cases;   /* in the order of measuring; skipped ones keep their place */
  size_t case_count;
  size_t skip_count;
  uint64_t estimate_ns; /* one process */
  struct arena arena;
};

struct plan_options {
  const char *only; /* glob on case or block names; NULL = all */
};

/* STATUS_INVALID when `only` matches nothing, with what there is. A plan in which every case is
 * skipped is no error. Two settings that come to the same case_key are measured once; the second is
 * dropped. */
enum status plan_new(const struct scenario *scenario, const struct machine *machine,
                     const struct plan_options *options, struct plan **plan,
                     struct error *err) CHECK_RESULT;
void plan_free(struct plan *plan);

#endif
