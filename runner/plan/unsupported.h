/* unsupported.h - why a case cannot run on this machine.
 *
 * Peer access that is asked for and not there; host threads on a node without processors; what the
 * engine refuses (engine_case_unsupported_reason); memory that does not fit in what was free when
 * the machine was looked at. A node or GPU whose free memory is not known refuses nothing. */
#ifndef HAUL_RUNNER_PLAN_UNSUPPORTED_H
#define HAUL_RUNNER_PLAN_UNSUPPORTED_H

#include "runner/plan/plan.h"

/* NULL = it can run; else why not, for a person, in reason or static. Fills in the case's
 * host_bytes and gpu_bytes. */
const char *unsupported_case_reason(struct plan_case *plan_case, const struct machine *machine,
                                    char reason[CASE_REASON_MAX]);

#endif
