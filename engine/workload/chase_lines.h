/* chase_lines.h - which lines of a buffer are near to which SMs of a GPU whose L2 cache has two
 * parts (engine/workload/chase.c).
 *
 * Each SM reaches one part sooner than the other. Every SM times every line past its L1 cache; the
 * first principal component of those times gives the lines of one part one sign, and those of the
 * other part the other. */
#pragma once

#include "engine/base/error.h"

#include <stdint.h>

struct cuda_session;

enum { CHASE_LINES_MAX = 1 << 14 };

struct chase_lines {
  uint32_t count;
  uint32_t sm_count;
  uint8_t *line_part; /* 0 or 1 of each line */
  uint8_t *sm_part;   /* of each SM, by its number: the part that is near to it */
  uint32_t lines[2];  /* how many are in each part */
  uint32_t sms[2];    /* near to each part */
};

/* Of the lines stride_bytes apart from a device address on, which become zero. STATUS_UNSUPPORTED:
 * the times do not fall into two classes, so that the cache has one part as far as loads can tell;
 * or a block has not run on each SM. */
enum status chase_lines_new(struct cuda_session *session, int32_t gpu, uint64_t address,
                            uint64_t stride_bytes, uint32_t count, struct chase_lines *lines,
                            struct error *err) CHECK_RESULT;
void chase_lines_fini(struct chase_lines *lines); /* a zeroed one is fine */

/* The statistics alone: cycles has a row of lines->count numbers for each SM. Fills in the rest.
 * false: there are not two parts. */
bool chase_lines_divide(struct chase_lines *lines, const uint16_t *cycles);
