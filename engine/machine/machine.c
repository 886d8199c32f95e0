#include "engine/machine/machine.h"

#include "engine/base/arena.h"
#include "engine/machine/facts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

struct machine *machine_new(void) {
  return memory_new(1, sizeof(struct machine));
}

const struct fact *machine_fact(const struct machine *machine, const char *name, int32_t gpu) {
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    if (machine->facts[i].gpu == gpu && strcmp(machine->facts[i].name, name) == 0) {
      return &machine->facts[i];
    }
  }
  return NULL;
}

const char *machine_value(const struct machine *machine, const char *name, int32_t gpu) {
  const struct fact *fact = machine_fact(machine, name, gpu);
  return fact != NULL && fact->state == FACT_OK ? fact->value : NULL;
}

const char *machine_gpu_model(const struct gpu *gpu) {
  static const char VENDOR[] = "NVIDIA ";
  const bool named = strncmp(gpu->name, VENDOR, sizeof VENDOR - 1) == 0;
  return gpu->name + (named ? sizeof VENDOR - 1 : 0);
}

void machine_add_fact(struct machine *machine, const char *name, int32_t gpu, enum fact_state state,
                      const char *format, ...) {
  if (machine->fact_count == MACHINE_FACTS_MAX) {
    return;
  }
  struct fact *fact = &machine->facts[machine->fact_count++];
  *fact = (struct fact){.gpu = gpu, .state = state};
  (void)snprintf(fact->name, sizeof fact->name, "%s", name);
  va_list args;
  va_start(args, format);
  int length = vsnprintf(fact->value, sizeof fact->value, format, args);
  va_end(args);
  if (length >= (int)sizeof fact->value) {
    memcpy(fact->value + sizeof fact->value - 4, "...", 4);
  }
  for (char *c = fact->value; *c != '\0'; c++) {
    if ((unsigned char)*c < ' ' || *c == 0x7f) {
      *c = ' ';
    }
  }
}

static size_t fact_rank(const char *name) {
#define FACT_NAME_(name, meaning) name,
  static const char *const NAMES[] = {HOST_FACT_LIST(FACT_NAME_) GPU_FACT_LIST(FACT_NAME_)};
#undef FACT_NAME_
  size_t i = 0;
  while (i < COUNT_OF(NAMES) && strcmp(NAMES[i], name) != 0) {
    i++;
  }
  return i;
}

static int fact_compare(const void *left, const void *right) {
  const struct fact *a = left;
  const struct fact *b = right;
  const size_t rank = fact_rank(a->name);
  const size_t other = fact_rank(b->name);
  return a->gpu != b->gpu ? (a->gpu > b->gpu) - (a->gpu < b->gpu)
         : rank != other  ? (rank > other) - (rank < other)
                          : strcmp(a->name, b->name);
}

void machine_sort_facts(struct machine *machine) {
  qsort(machine->facts, machine->fact_count, sizeof machine->facts[0], fact_compare);
}

int machine_gpu_index(const struct machine *machine, const char *pci_address) {
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    if (strcmp(machine->gpus[i].pci_address, pci_address) == 0) {
      return (int)i;
    }
  }
  return -1;
}

int machine_node_index(const struct machine *machine, int32_t number) {
  for (uint32_t i = 0; i < machine->node_count; i++) {
    if (machine->nodes[i].number == number) {
      return (int)i;
    }
  }
  return -1;
}

int32_t machine_processor_node(const struct machine *machine, int32_t number) {
  const int from = machine_node_index(machine, number);
  int32_t nearest = -1;
  unsigned least = UINT_MAX;
  for (uint32_t to = 0; from >= 0 && to < machine->node_count; to++) {
    const unsigned known = machine->node_distance[from][to];
    const unsigned distance = (int)to == from ? 0 : known > 0 ? known : UINT8_MAX;
    if (machine->nodes[to].cpu_count > 0 && distance < least) {
      least = distance;
      nearest = machine->nodes[to].number;
    }
  }
  return nearest;
}

int32_t machine_memory_node(const struct machine *machine, int32_t gpu) {
  const int near = machine_node_index(machine, machine->gpus[gpu].numa_node);
  int first = -1;
  for (uint32_t i = 0; i < machine->node_count; i++) {
    const bool has_memory = machine->nodes[i].memory_bytes > 0;
    if (has_memory && (int)i == near) {
      return machine->nodes[i].number;
    }
    first = has_memory && first < 0 ? (int)i : first;
  }
  return machine->nodes[first >= 0 ? first : 0].number;
}

int machine_node_gpu(const struct machine *machine, int32_t number) {
  const int node = machine_node_index(machine, number);
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    if (node >= 0 && machine->nodes[node].cpu_count == 0 &&
        machine->gpus[i].memory_node == number) {
      return (int)i;
    }
  }
  return -1;
}

bool machine_normalise_pci(const char *text, char pci_address[16]) {
  unsigned domain, bus, device, function;
  int end = 0;
  if (sscanf(text, "%8x:%2x:%2x.%1x%n", &domain, &bus, &device, &function, &end) != 4 ||
      text[end] != '\0' || device > 0x1f || function > 7) {
    return false;
  }
  (void)snprintf(pci_address, 16, "%04x:%02x:%02x.%x", domain, bus & 0xff, device & 0x1f,
                 function & 7);
  return true;
}

/* Fixed width but for domains past ffff, which come last. */
int machine_compare_pci(const char *left, const char *right) {
  size_t left_length = strlen(left);
  size_t right_length = strlen(right);
  if (left_length != right_length) {
    return left_length < right_length ? -1 : 1;
  }
  return strcmp(left, right);
}

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

/* Multiply-adds per clock of one SM, by compute capability: of f32 (CUDA C++ Programming Guide,
 * "Arithmetic Instructions"), and of dense bf16 with sums in f32 by tensor cores (NVIDIA's
 * architecture papers: A100, GA102, Ada, H100, Blackwell). */
static const struct {
  uint32_t compute_major, compute_minor;
  uint32_t fma;
  uint32_t tensor;
} MULTIPLY_ADDS[] = {
    {7, 0, 64, 0},     {7, 5, 64, 0},      {8, 0, 64, 1024},   {8, 6, 128, 512},  {8, 9, 128, 512},
    {9, 0, 128, 2048}, {10, 0, 128, 4096}, {10, 3, 128, 4096}, {12, 0, 128, 512},
};

static uint64_t peak_multiply_adds(const struct gpu *gpu, bool tensor) {
  for (size_t i = 0; i < COUNT_OF(MULTIPLY_ADDS); i++) {
    if (MULTIPLY_ADDS[i].compute_major == gpu->compute_major &&
        MULTIPLY_ADDS[i].compute_minor == gpu->compute_minor) {
      return UINT64_C(2) * gpu->sm_count * gpu->sm_clock_max_khz * 1000 *
             (tensor ? MULTIPLY_ADDS[i].tensor : MULTIPLY_ADDS[i].fma);
    }
  }
  return 0;
}

uint64_t peak_fma(const struct gpu *gpu) {
  return peak_multiply_adds(gpu, false);
}

uint64_t peak_tensor(const struct gpu *gpu) {
  return peak_multiply_adds(gpu, true);
}

uint64_t peak_pcie(uint32_t generation, uint32_t width) {
  if (generation >= COUNT_OF(PCIE_GENERATIONS)) {
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
