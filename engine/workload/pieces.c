#include "engine/workload/pieces.h"

#include "engine/base/random.h"
#include "engine/case/transfer.h"
#include "engine/machine/machine.h"
#include "engine/workload/transfer_flows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const struct piece *pieces_list(const struct flow_run *run) {
  return (const struct piece *)(const void *)run->pieces->host;
}

/* The first `count` of places[], of which there are SCATTER_SPREAD times as many, become some of
 * all, in any order (Fisher and Yates). */
static void pieces_draw(uint32_t *places, uint32_t count, uint64_t seed) {
  const uint32_t place_count = SCATTER_SPREAD * count;
  for (uint32_t i = 0; i < place_count; i++) {
    places[i] = i;
  }
  for (uint32_t i = 0; i < count; i++) {
    /* The product's upper half is below the number of places that are left. */
    const uint64_t left = place_count - i;
    const uint32_t j = i + (uint32_t)((random_next(&seed) >> 32) * left >> 32);
    const uint32_t swap = places[i];
    places[i] = places[j];
    places[j] = swap;
  }
}

enum status pieces_place(const struct scatter_shape *scatter, struct piece *list,
                         struct error *err) {
  const uint64_t bytes = scatter->piece_bytes;
  if (scatter->places == PIECES_STRIDED) {
    for (uint64_t i = 0; i < scatter->pieces; i++) {
      list[i] = (struct piece){i * SCATTER_SPREAD * bytes, i * SCATTER_SPREAD * bytes};
    }
    return STATUS_OK;
  }
  const uint64_t together = scatter->run_pieces > 1 ? scatter->run_pieces : 1;
  const uint32_t count = (uint32_t)(scatter->pieces / together); /* at most SCATTER_PIECES_MAX */
  uint32_t *places = calloc(SCATTER_SPREAD * (size_t)count, sizeof *places);
  if (places == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory to place %u pieces", count);
  }
  pieces_draw(places, count, 1);
  for (uint64_t i = 0; i < scatter->pieces; i++) {
    list[i].source = (places[i / together] * together + i % together) * bytes;
  }
  pieces_draw(places, count, 2);
  for (uint64_t i = 0; i < scatter->pieces; i++) {
    list[i].target = (places[i / together] * together + i % together) * bytes;
  }
  free(places);
  return STATUS_OK;
}

enum status pieces_take(struct engine *engine, struct flow_run *run, struct error *err) {
  const struct scatter_shape *scatter = &run->flow->scatter;
  const struct endpoint host = endpoint_own(
      PLACE_NUMA, machine_memory_node(engine->context.machine, run->gpu), MEMORY_PINNED);
  enum status status =
      pool_take(engine->pool, &host, scatter->pieces * sizeof(struct piece), &run->pieces, err);
  return THEN(status, pieces_place(scatter, (struct piece *)(void *)run->pieces->host, err));
}

static struct data_pieces pieces_of(const struct flow_run *run) {
  return (struct data_pieces){.list = pieces_list(run),
                              .device = run->pieces->device,
                              .count = run->flow->scatter.pieces,
                              .piece_bytes = run->flow->scatter.piece_bytes};
}

/* The whole buffer as if nothing were scattered, then the pieces. */
static enum status pieces_fill(struct data *data, const struct flow_run *run, bool at_target,
                               struct error *err) {
  const struct buffer *buffer = at_target ? run->target : run->source;
  const struct data_pieces pieces = pieces_of(run);
  enum status status = data_fill(data, buffer, transfer_buffer_bytes(run->flow), run->seed,
                                 !at_target, run->gpu, err);
  return THEN(status, data_fill_pieces(data, buffer, &pieces, at_target, run->seed, at_target,
                                       run->gpu, err));
}

enum status pieces_fill_source(struct data *data, const struct flow_run *run, struct error *err) {
  return pieces_fill(data, run, false, err);
}

enum status pieces_poison_target(struct data *data, const struct flow_run *run, struct error *err) {
  return pieces_fill(data, run, true, err);
}

void pieces_describe(const struct flow_run *run, uint64_t offset, char *text, size_t size) {
  const struct scatter_shape *scatter = &run->flow->scatter;
  const struct piece *list = pieces_list(run);
  const uint64_t start = offset - offset % scatter->piece_bytes;
  uint64_t i = 0;
  while (i < scatter->pieces && list[i].target != start) {
    i++;
  }
  if (i < scatter->pieces) {
    (void)snprintf(text, size, "byte %" PRIu64 " of piece %" PRIu64, offset - start, i);
  } else {
    (void)snprintf(text, size, "between the pieces, where nothing is to be written");
  }
}
