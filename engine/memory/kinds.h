/* kinds.h - what the kinds of memory share; for the files of this folder and their tests.
 *
 * Anonymous pages (pageable, registered, huge): mappings begin at a multiple of 2 MiB and have an
 * inaccessible guard on either side: a copy that runs over an end faults, and the kernel merges no
 * two buffers into one mapping, so that what /proc/self/smaps says of a buffer's mapping is about
 * that buffer alone. Page locking: pages of ours made known to the driver. */
#pragma once

#include "engine/cuda/driver_api.h"
#include "engine/memory/memory.h"

#define PAGES_HUGE_BYTES (UINT64_C(2) << 20)

/* Map size_bytes, rounded up to page_bytes, between guards; nothing is placed or faulted yet. */
enum status pages_map(struct buffer *buffer, uint64_t page_bytes, struct error *err) CHECK_RESULT;
/* Bind the pages to the endpoint's node and fault them in. */
enum status pages_place(const struct memory_context *context, struct buffer *buffer,
                        uint64_t page_bytes, struct error *err) CHECK_RESULT;
/* Sets placement_verified, or unverified; an error when pages are elsewhere. */
enum status pages_verify(const struct memory_context *context, struct buffer *buffer,
                         struct error *err) CHECK_RESULT;
void pages_unmap(struct buffer *buffer);

/* cuMemHostRegister of the whole buffer, for all GPUs; sets device and page_locked. */
enum status page_lock(const struct memory_context *context, struct buffer *buffer,
                      struct error *err) CHECK_RESULT;
/* Undoes it where page_locked is set. */
void page_unlock(const struct memory_context *context, struct buffer *buffer);

/* cuMemCreate at that location, mapped at an address of its own for those that access names; sets
 * device and mapped_bytes. A context is current, here and below. */
enum status vmm_map(const struct memory_context *context, struct buffer *buffer,
                    const CUmemLocation *location, const CUmemAccessDesc *access,
                    size_t access_count, struct error *err) CHECK_RESULT;
void vmm_unmap(const struct memory_context *context, struct buffer *buffer);
/* The second half of it, with memory that was made or opened; the handle is released. */
enum status vmm_map_handle(const struct memory_context *context, struct buffer *buffer,
                           CUmemGenericAllocationHandle handle, const CUmemAccessDesc *access,
                           size_t access_count, struct error *err) CHECK_RESULT;
/* Reading and writing by that GPU and those that have peer access to it; returns how many. */
size_t gpu_memory_access(const struct memory_context *context, int32_t gpu,
                         CUmemAccessDesc access[MACHINE_GPUS_MAX]);

/* Map the buffer's file between guards; sets host. */
enum status shared_map(struct buffer *buffer, struct error *err) CHECK_RESULT;
/* Page-locked where there is a GPU; else faulted in. */
enum status shared_lock(const struct memory_context *context, struct buffer *buffer,
                        struct error *err) CHECK_RESULT;
/* Undoes both, and closes the file. */
void shared_unmap(const struct memory_context *context, struct buffer *buffer);

extern const struct memory_ops memory_pageable; /* registered memory begins as this */
