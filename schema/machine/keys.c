#include "schema/machine/keys.h"

#include <stddef.h>

#define NUMBER_(object, kind, member, least, most, unknown)                                        \
  {                                                                                                \
    .name = #member, .type = kind, .offset = offsetof(struct object, member), .min = least,        \
    .max = most, .absent = unknown                                                                 \
  }
#define TEXT_(object, member, is_required)                                                         \
  {                                                                                                \
    .name = #member, .type = KEY_TEXT, .offset = offsetof(struct object, member),                  \
    .size = sizeof(((struct object *)0)->member), .required = is_required                          \
  }
/* A boolean is always written: false is an answer. */
#define BOOL_(object, member)                                                                      \
  { .name = #member, .type = KEY_BOOL, .offset = offsetof(struct object, member), .absent = -1 }

#define COUNT_MAX 1000000
#define BYTES_MAX (INT64_C(1) << 60)
#define KHZ_MAX   1000000000
#define RATE_MAX  (INT64_C(1) << 60)

const struct key MACHINE_KEYS[] = {
    TEXT_(machine, host_name, false),
    BOOL_(machine, simulated),
    TEXT_(machine, cuda_state, true),
    NUMBER_(machine, KEY_I32, driver_cuda_version, 0, 1000000, 0),
};
const size_t MACHINE_KEY_COUNT = sizeof MACHINE_KEYS / sizeof MACHINE_KEYS[0];

const struct key NODE_KEYS[] = {
    {.name = "number",
     .type = KEY_I32,
     .offset = offsetof(struct numa_node, number),
     .max = 4095,
     .absent = -1,
     .required = true},
    /* 0 is an answer here: a node without processors. */
    NUMBER_(numa_node, KEY_U32, cpu_count, 0, COUNT_MAX, -1),
    NUMBER_(numa_node, KEY_U64, memory_bytes, 0, BYTES_MAX, 0),
    NUMBER_(numa_node, KEY_U64, free_memory_bytes, 0, BYTES_MAX, 0),
};
const size_t NODE_KEY_COUNT = sizeof NODE_KEYS / sizeof NODE_KEYS[0];

const struct key GPU_KEYS[] = {
    TEXT_(gpu, name, true),
    TEXT_(gpu, uuid, false),
    TEXT_(gpu, pci_address, true),
    NUMBER_(gpu, KEY_I32, numa_node, -1, 4095, -1),
    NUMBER_(gpu, KEY_I32, cuda_ordinal, -1, 1024, -1),
    NUMBER_(gpu, KEY_U32, compute_major, 0, 1000, 0),
    NUMBER_(gpu, KEY_U32, compute_minor, 0, 1000, -1),
    NUMBER_(gpu, KEY_U32, sm_count, 0, COUNT_MAX, 0),
    NUMBER_(gpu, KEY_U32, copy_engine_count, 0, 1024, 0),
    NUMBER_(gpu, KEY_U64, memory_bytes, 0, BYTES_MAX, 0),
    NUMBER_(gpu, KEY_U64, free_memory_bytes, 0, BYTES_MAX, 0),
    NUMBER_(gpu, KEY_U64, l2_bytes, 0, BYTES_MAX, 0),
    NUMBER_(gpu, KEY_U64, sm_clock_max_khz, 0, KHZ_MAX, 0),
    NUMBER_(gpu, KEY_U64, memory_clock_khz, 0, KHZ_MAX, 0),
    NUMBER_(gpu, KEY_U32, memory_bus_bits, 0, COUNT_MAX, 0),
    NUMBER_(gpu, KEY_U32, pcie_generation_max, 0, 16, 0),
    NUMBER_(gpu, KEY_U32, pcie_width_max, 0, 32, 0),
    NUMBER_(gpu, KEY_U32, pcie_generation, 0, 16, 0),
    NUMBER_(gpu, KEY_U32, pcie_width, 0, 32, 0),
    NUMBER_(gpu, KEY_U32, nvlink_count, 0, 1024, 0),
    NUMBER_(gpu, KEY_U64, nvlink_bytes_per_second, 0, RATE_MAX, 0),
    NUMBER_(gpu, KEY_U64, c2c_bytes_per_second, 0, RATE_MAX, 0),
    NUMBER_(gpu, KEY_I32, utilization_percent, -1, 100, -1),
    NUMBER_(gpu, KEY_I32, process_count, -1, COUNT_MAX, -1),
    BOOL_(gpu, mig_enabled),
    BOOL_(gpu, concurrent_managed_access),
    BOOL_(gpu, host_page_tables),
    BOOL_(gpu, host_register_supported),
};
const size_t GPU_KEY_COUNT = sizeof GPU_KEYS / sizeof GPU_KEYS[0];

const struct key LINK_KEYS[] = {
    BOOL_(gpu_link, peer_access),
    NUMBER_(gpu_link, KEY_U32, nvlink_count, 0, 1024, -1),
    NUMBER_(gpu_link, KEY_U64, bytes_per_second, 0, RATE_MAX, -1),
};
const size_t LINK_KEY_COUNT = sizeof LINK_KEYS / sizeof LINK_KEYS[0];
