#include "engine/workload/workload.h"

extern const struct workload_ops workload_transfer;
extern const struct workload_ops workload_chase;
extern const struct workload_ops workload_overhead;
extern const struct workload_ops workload_stream;
extern const struct workload_ops workload_arithmetic;

const struct workload_ops *const workloads[case_kind_name_count] = {
    [CASE_TRANSFER] = &workload_transfer,     [CASE_CHASE] = &workload_chase,
    [CASE_OVERHEAD] = &workload_overhead,     [CASE_STREAM] = &workload_stream,
    [CASE_ARITHMETIC] = &workload_arithmetic,
};
