/* pieces.h - where the pieces of a scattered copy are, at both ends.
 *
 * Each end is memory for SCATTER_SPREAD times as many pieces, in places of one piece each. Random:
 * the pieces are in places of their own choice, in any order, other ones at the source than at the
 * target, and the same in every run; runs of
 * pieces stay together at both ends. Strided: in every SCATTER_SPREAD-th place, in order. No two
 * pieces of an end share a byte. The list takes sizeof(struct piece) of page-locked memory per
 * piece. */
#pragma once

#include "engine/memory/data.h"
#include "engine/method/method.h"
#include "engine/workload/workload.h"

/* Fills `list`, one element per piece. STATUS_NO_MEMORY: 4 x SCATTER_SPREAD bytes per piece are
 * needed meanwhile. */
enum status pieces_place(const struct scatter_shape *scatter, struct piece *list,
                         struct error *err) CHECK_RESULT;
/* Takes run->pieces from the pool, and places the pieces. Needs run->gpu. */
enum status pieces_take(struct engine *engine, struct flow_run *run,
                        struct error *err) CHECK_RESULT;
/* Fill one end. Source: its pieces hold what belongs to their places at the target, and the bytes
 * between them what belongs nowhere. Target (poison): the pieces are wrong in every byte; the bytes
 * between them are right and must stay so. A target whose pieces all arrived, and nothing else,
 * holds the pattern of the flow from its first to its last byte. */
enum status pieces_fill_source(struct data *data, const struct flow_run *run,
                               struct error *err) CHECK_RESULT;
enum status pieces_poison_target(struct data *data, const struct flow_run *run,
                                 struct error *err) CHECK_RESULT;
/* What is at that byte of the target, for a message: "byte 3 of piece 17". */
void pieces_describe(const struct flow_run *run, uint64_t offset, char *text, size_t size);
