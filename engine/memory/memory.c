#include "engine/memory/memory.h"

#include "engine/memory/kinds.h"

const struct memory_ops *const memory_kinds[memory_kind_name_count] = {
    [MEMORY_PAGEABLE] = &memory_pageable,
    [MEMORY_HUGE] = &memory_huge,
#ifdef HAUL_CUDA
    [MEMORY_PINNED] = &memory_pinned,
    [MEMORY_REGISTERED] = &memory_registered,
    [MEMORY_WRITE_COMBINED] = &memory_write_combined,
    [MEMORY_DEVICE] = &memory_device,
    [MEMORY_MANAGED] = &memory_managed,
#endif
};
