/* nvbandwidth_cases.h - nvbandwidth's values, as results of the cases that
 * scenarios/nvbandwidth.toml plans.
 *
 * A value is taken for a case where both measure the same: the same flows, moved by the same
 * method, started by the same side, beside the same other traffic, counted the same way. They are
 * found by what they move, not by name: nvbandwidth's {all_to_one,one_to_all}_read_ce copy the
 * other way round than their names say (testcase.cpp, the helpers: source and target are swapped).
 * What is measured otherwise is left out with a reason. */
#pragma once

#include "engine/case/note.h"
#include "runner/import/nvbandwidth.h"
#include "runner/plan/plan.h"

/* The tests of nvbandwidth 0.10 in the order of nvbandwidth -l, from 0; NULL past the last. */
const char *nvbandwidth_test_name(size_t number);

/* What came of a test. */
struct imported_test {
  const char *name;
  size_t values;      /* that nvbandwidth printed, N/A not counted */
  size_t taken;       /* of them */
  const char *reason; /* why not all; NULL = all were */
};

struct imported_cases {
  struct imported_test *tests; /* as in the file */
  size_t test_count;
  struct plan plan;  /* the cases with a value, in the order of the scenario; texts are borrowed */
  double *median_ns; /* of plan.cases[i]: payload divided by the rate */
};

/* plan: of the scenario nvbandwidth for that machine; it is borrowed, and outlives cases.
 * Everything else is owned by the arena. */
void nvbandwidth_cases(const struct nvbandwidth_file *file, const struct plan *plan,
                       const int32_t gpu_of_device[MACHINE_GPUS_MAX], struct arena *arena,
                       struct imported_cases *cases);

/* Of its buffers, unless told otherwise: 64 MiB up to 0.6, then 512. */
uint64_t nvbandwidth_usual_size_bytes(const struct nvbandwidth_file *file);

/* What the reader of each number must know. */
void nvbandwidth_note(const struct nvbandwidth_file *file, struct notes *notes);
