#include "engine/machine/peak.h"

/* Raw line rates in 10^6 transfers per second and lane, by generation ("PCI Express Base
 * Specification", revisions 1.0 to 6.0), and the share of them that is payload after line coding.
 */
static const struct {
  uint64_t megatransfers;
  uint32_t payload, line;
} PCIE_GENERATIONS[] = {
    {0, 0, 1},         {2500, 8, 10},     {5000, 8, 10},     {8000, 128, 130},
    {16000, 128, 130}, {32000, 128, 130}, {64000, 242, 256},
};

uint64_t peak_dram(const struct gpu *gpu) {
  return gpu->memory_clock_khz * 1000 * 2 * gpu->memory_bus_bits / 8;
}

uint64_t peak_pcie(uint32_t generation, uint32_t width) {
  if (generation >= sizeof PCIE_GENERATIONS / sizeof PCIE_GENERATIONS[0]) {
    return 0;
  }
  return PCIE_GENERATIONS[generation].megatransfers * 1000000 * width *
         PCIE_GENERATIONS[generation].payload / PCIE_GENERATIONS[generation].line / 8;
}

static uint64_t gpu_pcie(const struct gpu *gpu) {
  return peak_pcie(gpu->pcie_generation_max, gpu->pcie_width_max);
}

uint64_t peak_gpu_host(const struct gpu *gpu, enum limit *limit) {
  if (gpu->c2c_bytes_per_second > 0) {
    *limit = LIMIT_C2C;
    return gpu->c2c_bytes_per_second;
  }
  uint64_t peak = gpu_pcie(gpu);
  *limit = peak > 0 ? LIMIT_PCIE : LIMIT_UNKNOWN;
  return peak;
}

uint64_t peak_gpu_gpu(const struct machine *machine, uint32_t from, uint32_t to,
                      enum limit *limit) {
  if (from == to) {
    uint64_t peak = peak_dram(&machine->gpus[from]);
    *limit = peak > 0 ? LIMIT_DRAM : LIMIT_UNKNOWN;
    return peak;
  }
  const struct gpu_link *link = &machine->links[from][to];
  if (link->nvlink_count > 0) {
    *limit = LIMIT_NVLINK;
    return link->bytes_per_second;
  }
  uint64_t source = gpu_pcie(&machine->gpus[from]);
  uint64_t target = gpu_pcie(&machine->gpus[to]);
  uint64_t peak = source < target ? source : target;
  *limit = peak > 0 ? LIMIT_PCIE : LIMIT_UNKNOWN;
  return peak;
}
