/* arithmetic_reference.h - where the chains of kernels haul_arithmetic_* end, by the host's own
 * arithmetic: what a GPU must give bit by bit. */
#ifndef HAUL_ENGINE_WORKLOAD_ARITHMETIC_REFERENCE_H
#define HAUL_ENGINE_WORKLOAD_ARITHMETIC_REFERENCE_H

#include "engine/case/enums.h"
#include "kernels/kernels.h"

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

#endif
