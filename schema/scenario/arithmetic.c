/* An [[arithmetic]]: its keys, their defaults, and the rules between them. */
#include "schema/scenario/block.h"
#include "schema/scenario/kind.h"

static const struct field arithmetic_fields[] = {
    KIND_KEY(ARITHMETIC, "op", "op", WORDS(arithmetic_op_names), SETTING(work.arithmetic.op),
             .required = true,
             HELP("The instruction. For integers, fma is the low half of a * b + c. add3 is a + b "
                  "+ c, only for integers")),
    KIND_KEY(ARITHMETIC, "type", "type", WORDS(number_type_names), SETTING(work.arithmetic.type),
             .required = true,
             HELP("Type of the numbers. An instruction on f16 does two packed operations")),
    KIND_KEY(ARITHMETIC, "measure", "measure", WORDS(arithmetic_measure_names),
             SETTING(work.arithmetic.measure), .default_text = "latency",
             HELP("Cycles per dependent instruction, or instructions per clock and SM")),
    KIND_KEY(ARITHMETIC, "at.gpu", "gpu", .type = FIELD_GPUS, SETTING(at),
             RESOLVED(work.arithmetic.gpu),
             HELP("GPUs, numbered in the order of PCI addresses. Default: all")),
    KIND_KEY(ARITHMETIC, "ilp", "ilp", COUNT(1, 8), SETTING(work.arithmetic.ilp),
             .power_of_two = true,
             HELP("Independent chains per thread. Default: 1 for latency, 4 for throughput")),
    KIND_KEY(ARITHMETIC, "block", "block", COUNT(1, 1024), SETTING(work.arithmetic.block),
             HELP("Threads per block. Default: 1 for latency, 1024 for throughput")),
    KIND_KEY(ARITHMETIC, "grid", "grid", GRID(1, 0x1p31 - 1), SETTING(grid), .zero_word = "auto",
             .default_text = "auto", RESOLVED(work.arithmetic.grid),
             HELP("Number of blocks: a number, or a number per SM. \"auto\": 1 for latency, "
                  "\"per_sm*2\" for throughput")),
    KIND_KEY(ARITHMETIC, "instructions", "instructions",
             COUNT(ARITHMETIC_UNIT, ARITHMETIC_INSTRUCTIONS_MAX),
             SETTING(work.arithmetic.instructions), .default_text = "16384",
             HELP("Instructions per thread and iteration, a multiple of 512")),
};

enum { WARP = 32, THROUGHPUT_ILP = 4, THROUGHPUT_BLOCK = 1024, THROUGHPUT_BLOCKS_PER_SM = 2 };

static void arithmetic_finish(const struct block *block, struct setting *setting) {
  struct arithmetic *arithmetic = &setting->work.arithmetic;
  const bool latency = arithmetic->measure == ARITHMETIC_LATENCY;
  kind_finish_end(&setting->at, PLACE_GPU, SELECTOR_ALL);
  setting->at.memory = MEMORY_DEVICE;
  if (slot_entry(block, 0, "ilp") == NULL) {
    arithmetic->ilp = latency ? 1 : THROUGHPUT_ILP;
  }
  if (slot_entry(block, 0, "block") == NULL) {
    arithmetic->block = latency ? 1 : THROUGHPUT_BLOCK;
  }
  if (setting->grid.kind == GRID_AUTO) {
    setting->grid = latency ? (struct grid_setting){GRID_BLOCKS, 1}
                            : (struct grid_setting){GRID_PER_SM, THROUGHPUT_BLOCKS_PER_SM};
  }
}

static bool arithmetic_check_latency(struct subject *subject, const struct setting *setting) {
  const struct arithmetic *arithmetic = &setting->work.arithmetic;
  const struct entry *ilp = subject_find(subject, "ilp");
  const struct entry *threads = subject_find(subject, "block");
  const struct entry *grid = subject_find(subject, "grid");
  if (arithmetic->ilp != 1) {
    return subject_refuse(subject, ilp, ilp->node->span, "1, or measure = \"throughput\"",
                          "ilp: a latency is measured with one chain, not %u", arithmetic->ilp);
  }
  if (arithmetic->block > WARP) {
    return subject_refuse(
        subject, threads, threads->node->span, "at most 32, or measure = \"throughput\"",
        "block: a latency is measured with at most one warp, not %u threads", arithmetic->block);
  }
  if (setting->grid.kind != GRID_BLOCKS || setting->grid.count != 1) {
    return subject_refuse(subject, grid, grid->node->span, "1, or measure = \"throughput\"",
                          "grid: a latency is measured with one block");
  }
  return true;
}

static bool arithmetic_check_setting(struct reader *reader, const struct block *block,
                                     const struct setting *setting) {
  struct subject subject = {reader, block, 0, 0};
  const struct arithmetic *arithmetic = &setting->work.arithmetic;
  if (!entries_are_read(&block->slots[0].entries, "")) {
    return true;
  }
  const struct entry *instructions = subject_find(&subject, "instructions");
  if (instructions != NULL && arithmetic->instructions % ARITHMETIC_UNIT != 0) {
    return subject_refuse(&subject, instructions, instructions->node->span, "a multiple of 512",
                          "instructions: %u is not a multiple of %d", arithmetic->instructions,
                          (int)ARITHMETIC_UNIT);
  }
  const struct entry *type = subject_find(&subject, "type");
  if (type != NULL && arithmetic->op == ARITHMETIC_ADD3 && arithmetic->type != NUMBER_I32) {
    return subject_refuse(&subject, type, entry_word_span(type, arithmetic->type), "\"i32\"",
                          "type: add3 is an instruction of integers, not of %s",
                          number_type_text(arithmetic->type));
  }
  if (setting->grid.kind == GRID_FULL) {
    const struct entry *grid = subject_find(&subject, "grid");
    return subject_refuse(&subject, grid, grid->node->span, "a number or \"per_sm*N\"",
                          "grid: \"full\" needs arrays, and there are none");
  }
  return arithmetic->measure != ARITHMETIC_LATENCY || arithmetic_check_latency(&subject, setting);
}

static const char *const arithmetic_checked[] = {"measure",      "ilp", "block", "grid",
                                                 "instructions", "op",  "type",  NULL};

const struct scenario_kind scenario_kind_arithmetic = {
    .section = {SECTION_ROOT, "arithmetic", true, "[[arithmetic]]",
                "Chains of dependent instructions on a GPU: the latency of one instruction, or the "
                "instructions per clock of an SM. Latency is measured with one chain (`ilp` 1) in "
                "at most one warp. Throughput is by default measured with 4 chains per thread, "
                "1024 threads per block and two blocks per SM."},
    .fields = arithmetic_fields,
    .field_count = COUNT_OF(arithmetic_fields),
    .finish = arithmetic_finish,
    .check_setting = arithmetic_check_setting,
    .checked = arithmetic_checked,
};
