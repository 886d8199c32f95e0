/* transfer_flows.h - the flows of a transfer as they stand in its case: where they can be measured,
 * what memory they need, how they are timed. Nothing here needs a GPU or allocates. */
#pragma once

#include "engine/case/trial.h"
#include "engine/machine/limits.h"

struct machine;

/* Why the case cannot be measured there, or NULL; `reason` may hold the text. */
const char *transfer_unsupported_reason(const struct case_def *def, const struct machine *machine,
                                        char reason[CASE_REASON_MAX]);
/* The same about the loads of a case of another kind; NULL for a transfer. */
const char *loads_unsupported_reason(const struct case_def *def, const struct machine *machine,
                                     char reason[CASE_REASON_MAX]);
/* Adds the bytes of all buffers. */
void transfer_memory_needs(const struct case_def *def, uint64_t *host_bytes,
                           uint64_t gpu_bytes[MACHINE_GPUS_MAX]);
/* Adds the bytes of managed memory that the case may bring to each GPU. */
void transfer_managed_bytes(const struct case_def *def, uint64_t bytes[MACHINE_GPUS_MAX]);
/* Bytes of one end of the flow; the gaps of a strided or scattered copy are part of it. */
uint64_t transfer_buffer_bytes(const struct flow *flow);
/* CLOCK_HOST where a flow of the case is timed by the host's clock, else CLOCK_EVENT. */
enum clock transfer_clock(const struct case_def *def);
/* Every flow runs on a GPU's stream. */
bool transfer_is_on_streams(const struct case_def *def);
/* Some measured flow is scattered: the case is timed from the first call to the end, on the host's
 * clock, and by events as well. */
bool transfer_is_scattered(const struct case_def *def);
/* The other flow of the kernel that moves that flow, or the flow itself where it is alone. Method
 * sm moves both directions between the host and a GPU by one kernel, unless the scenario chooses
 * the kernel's shape: of two kernels one gets ahead, and the rest of the other is not measured both
 * ways. At least one of the two is measured. */
uint32_t transfer_partner(const struct case_def *def, uint32_t flow);
/* Some flows are timed by events and some by the host's clock. */
bool transfer_is_mixed(const struct case_def *def);
/* Copies in a repeat of the load that has most; 1 without a load. */
uint32_t transfer_load_copies(const struct case_def *def);
/* Whether each load took all but a 32nd of the window of a trial that has no gate. Under
 * compute-sanitizer, a load ends before the flows that it loads begin, and the window has the time
 * of both. More repeats do not change that, and may take minutes. */
bool transfer_loads_fill_window(const struct case_def *def, const struct trial_times *times);
/* What a repeat of the fastest load took in a trial, of the times of all flows; 0 = none was timed.
 */
double transfer_fastest_load_ns(const struct case_def *def, const struct flow_times *times);
