/* machine.h - what is here: GPUs, NUMA nodes, links, and the facts about hardware and software.
 *
 * struct machine is plain data without pointers: a short-lived child looks (machine_probe) and
 * sends it through a pipe; it is saved to and loaded from TOML (schema/machine) and is what a plan
 * is made for. About 400 KiB: keep it on the heap. A number that is not known is 0 unless a comment
 * says otherwise. Sizes in bytes, rates in bytes per second, clocks in kHz, power in mW. */
#pragma once

#include "engine/base/error.h"
#include "engine/case/states.h"
#include "engine/machine/limits.h"

#include <stdint.h>

/* utilization_percent from which on a GPU is at work: asking NVML itself shows up as a per cent or
 * two. */
enum { GPU_BUSY_PERCENT = 5 };

struct gpu {
  char name[MACHINE_TEXT_MAX];
  char uuid[48];        /* "GPU-..." */
  char pci_address[16]; /* "0000:06:00.0", lower case; GPUs are numbered in this order */
  int32_t numa_node;    /* nearest node with processors; -1 = unknown */
  int32_t memory_node;  /* node that is this GPU's own memory (GH200); -1 = none */
  int32_t cuda_ordinal; /* the driver's own number; -1 = not visible to CUDA */
  uint32_t compute_major;
  uint32_t compute_minor;
  uint32_t sm_count;
  uint32_t copy_engine_count; /* asynchronous engines */
  uint64_t memory_bytes;      /* total */
  uint64_t free_memory_bytes; /* when probed */
  uint64_t l2_bytes;
  uint64_t sm_clock_max_khz;
  uint64_t memory_clock_khz; /* as the driver reports it: doubled for the data rate */
  uint32_t memory_bus_bits;
  uint32_t pcie_generation_max; /* of the link, as NVML reports it */
  uint32_t pcie_width_max;
  uint32_t pcie_generation; /* when probed, idle: may be lower than under load */
  uint32_t pcie_width;
  uint32_t nvlink_count;            /* active links */
  uint64_t nvlink_bytes_per_second; /* one link, one direction, raw */
  uint64_t c2c_bytes_per_second;    /* chip-to-chip link to the host, one direction; 0 = none */
  int32_t utilization_percent;      /* when probed, by anybody; -1 = unknown */
  int32_t process_count;            /* compute processes of anybody when probed; -1 = unknown */
  bool mig_enabled;
  bool concurrent_managed_access;
  bool host_page_tables; /* reads host pages without migrating them (GH200) */
  bool host_register_supported;
};

struct numa_node {
  int32_t number;     /* the operating system's */
  uint32_t cpu_count; /* processors that this process may use; 0 = memory only */
  uint64_t memory_bytes;
  uint64_t free_memory_bytes;
};

/* GPU to GPU, in one direction. */
struct gpu_link {
  bool peer_access;          /* loads, stores and copies can go directly */
  uint32_t nvlink_count;     /* direct or through switches; 0 = over PCIe */
  uint64_t bytes_per_second; /* theoretical, one direction; 0 = unknown */
};

/* One answer about the system. gpu = -1: the whole machine. */
struct fact {
  char name[FACT_NAME_MAX]; /* lower case with underscores: "driver_version" */
  int32_t gpu;
  enum fact_state state;
  char value[FACT_VALUE_MAX]; /* the value, or why there is none */
};

struct machine {
  char host_name[MACHINE_TEXT_MAX];
  char node_name[MACHINE_TEXT_MAX]; /* the launcher's name of it; "" = the host's. Never probed */
  char source[FACT_VALUE_MAX];      /* "probe", or the file it was loaded from */
  bool simulated;                   /* a fake driver answered: never mixed with real results */
  bool nvml_lost;                   /* NVML is there and fails, CUDA does not; never in a file */
  bool cuda_lost;                   /* CUDA is there and fails, as with a GPU; never in a file */
  bool probe_killed;                /* SIGKILL ended the probe; never in a file */
  char cuda_state[FACT_VALUE_MAX];  /* "ok", or why there is no GPU to use, in one sentence */
  uint32_t gpu_count;
  uint32_t node_count;
  uint32_t fact_count;
  int32_t driver_cuda_version; /* cuDriverGetVersion: 13000; 0 = no driver */
  struct gpu gpus[MACHINE_GPUS_MAX];
  struct numa_node nodes[MACHINE_NODES_MAX];
  uint8_t node_distance[MACHINE_NODES_MAX][MACHINE_NODES_MAX]; /* SLIT: 10 = local, 0 = unknown */
  struct gpu_link links[MACHINE_GPUS_MAX][MACHINE_GPUS_MAX];   /* [from][to] */
  struct fact facts[MACHINE_FACTS_MAX];
};

/* Zeroed, on the heap (free() it): it is too large for the stack. */
struct machine *machine_new(void);
/* The first fact of that name and gpu (-1 = machine), or NULL. */
const struct fact *machine_fact(const struct machine *machine, const char *name, int32_t gpu);
/* The value of a fact that is known; NULL = it is not. */
const char *machine_value(const struct machine *machine, const char *name, int32_t gpu);
/* Its name without "NVIDIA ", which every one has. */
const char *machine_gpu_model(const struct gpu *gpu);
/* Append a fact; the format makes its value. A value too long is cut and ends in "..."; control
 * characters become spaces. Facts past MACHINE_FACTS_MAX are dropped. */
void machine_add_fact(struct machine *machine, const char *name, int32_t gpu, enum fact_state state,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Into the order of the lists above; names that they lack come last. */
void machine_sort_facts(struct machine *machine);
/* Index of the GPU at that (normalised) PCI address, or -1. */
int machine_gpu_index(const struct machine *machine, const char *pci_address);
/* Index into machine->nodes of an operating-system node number, or -1. */
int machine_node_index(const struct machine *machine, int32_t number);
/* The node whose processors are nearest to that one: itself where it has some; -1: none has. */
int32_t machine_processor_node(const struct machine *machine, int32_t number);
/* The node nearest to the GPU where this process can have memory, else the first where it can. */
int32_t machine_memory_node(const struct machine *machine, int32_t gpu);
/* The GPU whose own memory that node is (it has no processors then), or -1. */
int machine_node_gpu(const struct machine *machine, int32_t number);

/* "00000000:06:00.0" and "0000:06:00.0" in any case -> "0000:06:00.0"; false: not a PCI address. */
bool machine_normalise_pci(const char *text, char pci_address[16]);

/* <0, 0 or >0: the order of normalised addresses, by which GPUs are numbered. */
int machine_compare_pci(const char *left, const char *right);

/* Look at this machine. Initialises CUDA and NVML in the calling process: call it in a child (see
 * runner/supervise/probe.h). Missing drivers, GPUs or rights are facts, never errors. */
enum status machine_probe(struct machine *machine, struct error *err) CHECK_RESULT;
/* The same without NVML, which crashed or hung: what only it knows is unavailable. */
enum status machine_probe_cuda(struct machine *machine, struct error *err) CHECK_RESULT;
/* The host alone: the GPU driver and NVML are not touched; cuda_state stays empty. */
enum status machine_probe_host(struct machine *machine, struct error *err) CHECK_RESULT;

/* Theoretical rates, from what the hardware says of itself: bytes per second and direction; 0 = not
 * known. */

/* Memory clock x 2 (double data rate) x bus width / 8: read and written bytes together. */
uint64_t peak_dram(const struct gpu *gpu);
/* Floating-point operations per second of all SMs at their highest clock: multiply-adds of f32; and
 * of bf16 by the tensor cores, with sums in f32 and dense matrices. A multiply-add is two. */
uint64_t peak_fma(const struct gpu *gpu);
uint64_t peak_tensor(const struct gpu *gpu);
/* Generation and width of the link at its maximum, after line coding (8b/10b to generation 2,
 * 128b/130b from 3, 242B/256B FLIT from 6), before packet headers. */
uint64_t peak_pcie(uint32_t generation, uint32_t width);
/* GPU to host: PCIe, or C2C where there is one. *limit says which. */
uint64_t peak_gpu_host(const struct gpu *gpu, enum limit *limit);
/* GPU to GPU by the direct path: NVLink where there is one, else the slower of the two PCIe links.
 * A GPU to itself: its memory. */
uint64_t peak_gpu_gpu(const struct machine *machine, uint32_t from, uint32_t to, enum limit *limit);
