#include "engine/workload.h"

extern const struct workload_ops workload_transfer;
extern const struct workload_ops workload_chase;

const struct workload_ops *const workloads[case_kind_word_count] = {
    [CASE_TRANSFER] = &workload_transfer,
    [CASE_CHASE] = &workload_chase,
};
