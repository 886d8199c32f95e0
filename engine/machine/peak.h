/* peak.h - theoretical rates, from what the hardware says of itself. All in bytes per second and
 * one direction; 0 = not known. */
#ifndef HAUL_ENGINE_MACHINE_PEAK_H
#define HAUL_ENGINE_MACHINE_PEAK_H

#include "engine/machine/machine.h"

/* Memory clock x 2 (double data rate) x bus width / 8: read and written bytes together. */
uint64_t peak_dram(const struct gpu *gpu);
/* Generation and width of the link at its maximum, after line coding (8b/10b to generation 2,
 * 128b/130b from 3, 242B/256B FLIT from 6), before packet headers. */
uint64_t peak_pcie(uint32_t generation, uint32_t width);
/* GPU to host: PCIe, or C2C where there is one. *limit says which. */
uint64_t peak_gpu_host(const struct gpu *gpu, enum limit *limit);
/* GPU to GPU by the direct path: NVLink where there is one, else the slower of the two PCIe links.
 * A GPU to itself: its memory. */
uint64_t peak_gpu_gpu(const struct machine *machine, uint32_t from, uint32_t to, enum limit *limit);

#endif
