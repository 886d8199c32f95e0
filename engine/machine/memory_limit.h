/* memory_limit.h - how much host memory control groups still let this process have.
 *
 * A process that goes past the limit of its group is killed, whatever the machine has free. Groups
 * of version 1 (memory controller) and 2 are read, up to the root that this process sees. */
#pragma once

#include <stdint.h>

/* Bytes: limit less usage of the tightest group, where inactive pages of files, which the kernel
 * gives back, do not count as used. UINT64_MAX: there is no limit, or none that can be read. root:
 * "" = this machine; else a folder that holds proc and sys. */
uint64_t memory_limit_left(const char *root);
