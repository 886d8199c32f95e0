/* arithmetic.h - what the files of an [[arithmetic]] share: the GPU's part, and the reference,
 * where the chains of kernels haul_arithmetic_* end by the host's own arithmetic: what a GPU must
 * give bit by bit. */
#pragma once

#include "engine/base/error.h"
#include "engine/case/arithmetic.h"
#include "kernels/kernels.h"

struct cuda_session;
struct arithmetic_gpu;

struct arithmetic_gpu_request {
  enum kernel kernel; /* KERNEL_ARITHMETIC_... */
  int32_t gpu;
  uint32_t block;
  uint32_t grid;
  struct arithmetic_arguments operands; /* only those are looked at */
};

enum status arithmetic_gpu_new(struct cuda_session *session,
                               const struct arithmetic_gpu_request *request,
                               struct arithmetic_gpu **gpu, struct error *err) CHECK_RESULT;
void arithmetic_gpu_free(struct arithmetic_gpu *gpu); /* NULL is fine */
/* instructions of each thread: a multiple of ARITHMETIC_BODY. Waits for the end. cycles: of the SM
 * that took longest. */
enum status arithmetic_gpu_run(struct arithmetic_gpu *gpu, uint64_t instructions, uint64_t *cycles,
                               uint64_t *elapsed_ns, struct error *err) CHECK_RESULT;
/* What the threads left, block * grid words; valid until the next run. */
enum status arithmetic_gpu_results(struct arithmetic_gpu *gpu, const uint64_t **results,
                                   struct error *err) CHECK_RESULT;
enum status arithmetic_gpu_spoil(struct arithmetic_gpu *gpu, struct error *err) CHECK_RESULT;

/* The operands' bits as the kernels take them; the rest of the arguments is left alone. */
void arithmetic_operands(enum number_type type, struct arithmetic_arguments *arguments);

/* Bits of one chain after `steps` steps, as arithmetic_fold() takes them. start: of
 * arithmetic_start(). */
uint64_t arithmetic_chain(enum arithmetic_op op, enum number_type type, uint32_t start,
                          uint64_t steps);

/* What a thread leaves: `instructions` over `ilp` chains. lane: its number in the block modulo
 * ARITHMETIC_LANES. */
uint64_t arithmetic_expected(enum arithmetic_op op, enum number_type type, uint32_t lane,
                             uint32_t ilp, uint64_t instructions);

/* The bits of a number of f16 that is normal there (2^-14 up to 65504) or 0, rounded to nearest. */
uint16_t arithmetic_f16_bits(double value);
