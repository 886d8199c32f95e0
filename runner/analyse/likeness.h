/* likeness.h - which results are alike but for the hardware: one number for each kind. */
#ifndef HAUL_RUNNER_ANALYSE_LIKENESS_H
#define HAUL_RUNNER_ANALYSE_LIKENESS_H

#include "runner/record/measured.h"

/* Hash of the block, of the definition without the numbers of GPUs and nodes, of the GPUs' models,
 * and of how the ends of each flow are joined in that environment. */
uint64_t likeness_of(const struct measured *measured, size_t environment, size_t bench);

#endif
