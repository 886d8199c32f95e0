/* managed_share.h - how much managed memory a case may have: measure.free_share of what each GPU
 * has free. More than a GPU has free can hang the GPU itself, so that it is refused before anything
 * is allocated: when the case is planned, by what the GPU had free when it was probed, and again
 * before the case's first allocation, by what it has free then. */
#ifndef HAUL_ENGINE_WORKLOAD_MANAGED_SHARE_H
#define HAUL_ENGINE_WORKLOAD_MANAGED_SHARE_H

#include "engine/engine_state.h"

/* bytes: managed memory of the case that may come to each GPU. NULL: allowed. */
const char *managed_share_unsupported_reason(const struct measure *measure,
                                             const struct machine *machine,
                                             const uint64_t bytes[MACHINE_GPUS_MAX],
                                             char reason[CASE_REASON_MAX]);
/* STATUS_UNSUPPORTED: not allowed, also with the pool's free buffers released. No managed buffers
 * may be in the pool. */
enum status managed_share_admit(struct engine *engine, const struct measure *measure,
                                const uint64_t bytes[MACHINE_GPUS_MAX],
                                struct error *err) CHECK_RESULT;

#endif
