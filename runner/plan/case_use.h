/* case_use.h - what of a machine a case uses, and so what must not be used by others meanwhile. */
#ifndef HAUL_RUNNER_PLAN_CASE_USE_H
#define HAUL_RUNNER_PLAN_CASE_USE_H

#include "engine/case/case.h"
#include "engine/machine/machine.h"

struct case_use {
  uint32_t gpus;  /* bit set of GPUs, as struct machine numbers them */
  uint32_t links; /* of them, those whose link to the host carries bytes */
  bool host;      /* memory, processors or PCIe of the host */
};

_Static_assert(MACHINE_GPUS_MAX <= 32, "a bit for each GPU");

/* Add what the case uses: begin with a zeroed struct. Traffic between GPUs is of the host unless it
 * stays on NVLink; calls of the driver are, because a processor makes them. */
void case_use_add(struct case_use *use, const struct machine *machine,
                  const struct bench_case *bench_case);

#endif
