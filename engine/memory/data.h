/* data.h - what buffers hold: the pattern before, poison in the target, the comparison after.
 *
 * Done by a GPU where it can reach the memory, else by host threads on the buffer's node. All
 * offsets and counts are 64-bit. Never inside a timed part. */
#pragma once

#include "engine/memory/memory.h"
#include "kernels/kernels.h"

struct copy_shape;
struct data; /* host teams, result buffers */

/* context is borrowed and must outlive it. */
struct data *data_new(const struct memory_context *context);
void data_free(struct data *data);

/* The first size_bytes of the buffer become the pattern of seed, or its complement (poison: wrong
 * in every byte). gpu: a GPU that may do it for host memory, -1 = host threads. GPUs work side by
 * side, each in the order of the calls. Their work is done when data_fill_wait() returns. That
 * waits after an error, too, and then returns the error. */
enum status data_fill(struct data *data, const struct buffer *buffer, uint64_t size_bytes,
                      uint64_t seed, bool complement, int32_t gpu, struct error *err) CHECK_RESULT;
enum status data_fill_wait(struct data *data, enum status status, struct error *err) CHECK_RESULT;

/* The same for the rows of a shape alone; the bytes between them stay as they are. */
enum status data_fill_rows(struct data *data, const struct buffer *buffer,
                           const struct copy_shape *shape, uint64_t seed, bool complement,
                           int32_t gpu, struct error *err) CHECK_RESULT;

/* The pieces of a scattered copy: a list that host threads and every GPU can read. */
struct data_pieces {
  const struct piece *list;
  uint64_t device; /* its address for GPUs */
  uint64_t count;
  uint64_t piece_bytes;
};
/* The same for the pieces at one end; what they hold depends on their offsets at the target. */
enum status data_fill_pieces(struct data *data, const struct buffer *buffer,
                             const struct data_pieces *pieces, bool at_target, uint64_t seed,
                             bool complement, int32_t gpu, struct error *err) CHECK_RESULT;

enum status data_compare(struct data *data, const struct buffer *buffer, uint64_t size_bytes,
                         uint64_t seed, int32_t gpu, struct data_difference *difference,
                         struct error *err) CHECK_RESULT;
/* Begin what data_compare() will be asked for, if a GPU does it that has nothing else to compare,
 * so that GPUs work side by side. data_compare() of the same buffers follows in the same order, or
 * data_compare_drop(). */
enum status data_compare_ahead(struct data *data, const struct buffer *buffer, uint64_t size_bytes,
                               uint64_t seed, int32_t gpu, struct error *err) CHECK_RESULT;
void data_compare_drop(struct data *data);
/* Evict what the GPU's L2 holds, by writing twice its size to memory of its own. */
enum status data_flush_gpu_cache(struct data *data, int32_t gpu, struct error *err) CHECK_RESULT;
