/* An [[arithmetic]]: what it is when nobody says, and what must hold between its keys. */
#include "schema/scenario/rules.h"

enum { WARP = 32, THROUGHPUT_ILP = 4, THROUGHPUT_BLOCK = 1024, THROUGHPUT_BLOCKS_PER_SM = 2 };

void arithmetic_finish(const struct block *block, struct setting *setting) {
  struct arithmetic_setting *arithmetic = &setting->arithmetic;
  const bool latency = arithmetic->measure == ARITHMETIC_LATENCY;
  kind_finish_end(&arithmetic->at, PLACE_GPU, SELECTOR_ALL);
  arithmetic->at.memory = MEMORY_DEVICE;
  if (slot_entry(block, 0, "ilp") == NULL) {
    arithmetic->ilp = latency ? 1 : THROUGHPUT_ILP;
  }
  if (slot_entry(block, 0, "block") == NULL) {
    arithmetic->block = latency ? 1 : THROUGHPUT_BLOCK;
  }
  if (arithmetic->grid.kind == GRID_AUTO) {
    arithmetic->grid = latency ? (struct grid_setting){GRID_BLOCKS, 1}
                               : (struct grid_setting){GRID_PER_SM, THROUGHPUT_BLOCKS_PER_SM};
  }
}

void arithmetic_check_keys(struct reader *reader, const struct block *block) {
  (void)reader; /* every key goes with every other; values are another matter */
  (void)block;
}

static bool check_latency(struct subject *subject, const struct arithmetic_setting *arithmetic) {
  const struct entry *ilp = subject_find(subject, "ilp");
  const struct entry *threads = subject_find(subject, "block");
  const struct entry *grid = subject_find(subject, "grid");
  if (arithmetic->ilp != 1) {
    subject_refuse(subject, ilp, ilp->node->span, "1, or measure = \"throughput\"",
                   "ilp: the latency is that of one chain, not of %u", arithmetic->ilp);
    return false;
  }
  if (arithmetic->block > WARP) {
    subject_refuse(subject, threads, threads->node->span, "at most 32, or measure = \"throughput\"",
                   "block: the latency is that of one warp, and %u threads are more",
                   arithmetic->block);
    return false;
  }
  if (arithmetic->grid.kind != GRID_BLOCKS || arithmetic->grid.count != 1) {
    subject_refuse(subject, grid, grid->node->span, "1, or measure = \"throughput\"",
                   "grid: the latency is that of one block");
    return false;
  }
  return true;
}

bool arithmetic_check_setting(struct reader *reader, const struct block *block,
                              const struct setting *setting) {
  struct subject subject = {reader, block, 0, 0};
  const struct arithmetic_setting *arithmetic = &setting->arithmetic;
  if (!all_read(&block->slots[0].entries, "")) {
    return true;
  }
  const struct entry *instructions = subject_find(&subject, "instructions");
  if (instructions != NULL && arithmetic->instructions % ARITHMETIC_UNIT != 0) {
    subject_refuse(&subject, instructions, instructions->node->span, "a multiple of 512",
                   "instructions: %u is no multiple of %d", arithmetic->instructions,
                   (int)ARITHMETIC_UNIT);
    return false;
  }
  if (arithmetic->grid.kind == GRID_FULL) {
    const struct entry *grid = subject_find(&subject, "grid");
    subject_refuse(&subject, grid, grid->node->span, "a number or \"per_sm*N\"",
                   "grid: there are no arrays here that a full grid would cover");
    return false;
  }
  return arithmetic->measure != ARITHMETIC_LATENCY || check_latency(&subject, arithmetic);
}
