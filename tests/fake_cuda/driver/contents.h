/* contents.h - the bytes of memory, of which most are never looked at.
 *
 * A pattern that a kernel fills memory with is noted, not written: a promise. Copies hand promises
 * on, and a comparison with the pattern knows the answer. Bytes are written down when somebody else
 * wants them: another kernel, a copy to other memory, or the host. For that, large page-locked
 * memory is hidden from the host (PROT_NONE) while it has promises, and its first access, a fault,
 * keeps all of them. Nobody can tell the difference but by the clock.
 *
 * Device memory and page-locked memory of the driver have promises; managed memory and what the
 * host registered have none. Pointers are to where the driver keeps the bytes (`data`).
 * Thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Before any other code reads or writes these bytes. */
void contents_need(const void *data, size_t size_bytes);
/* As if every byte were written: the pattern from its start, or its complement. */
void contents_fill(void *data, size_t size_bytes, uint64_t seed, bool complement);
/* As memmove(). */
void contents_copy(void *to, const void *from, size_t size_bytes);
/* Whether the bytes are known to be the pattern from its start; false: they must be looked at. */
bool contents_known(const void *data, size_t size_bytes, uint64_t seed);
