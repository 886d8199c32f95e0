/* kinds.h - the ops of every kind, one file each, for the table in memory.c. */
#ifndef HAUL_ENGINE_MEMORY_KINDS_H
#define HAUL_ENGINE_MEMORY_KINDS_H

#include "engine/memory/memory.h"

extern const struct memory_ops memory_pageable;
extern const struct memory_ops memory_huge;
#ifdef HAUL_CUDA
extern const struct memory_ops memory_pinned;
extern const struct memory_ops memory_registered;
extern const struct memory_ops memory_write_combined;
extern const struct memory_ops memory_device;
extern const struct memory_ops memory_managed;
#endif

#endif
