/* probe.h - the parts of machine_probe(): inside engine/machine only. */
#ifndef HAUL_ENGINE_MACHINE_PROBE_H
#define HAUL_ENGINE_MACHINE_PROBE_H

#include "engine/cuda/nvml.h"
#include "engine/machine/machine.h"
#include "engine/machine/sources.h"

enum { PROBE_CPUINFO_MAX = 1 << 18, PROBE_LINE_MAX = 8192 };

/* What the parts share. Zeroed, then filled by probe_run() from top to bottom. */
struct probe {
  struct machine *machine;
  const struct machine_sources *sources;
  const struct nvml *nvml;               /* library NULL = no NVML */
  enum fact_state nvml_state;            /* unavailable or denied, when there is no NVML */
  char nvml_reason[FACT_VALUE_MAX];      /* why there is no NVML */
  char driver_version[MACHINE_TEXT_MAX]; /* "" = not known */
  char cpuinfo[PROBE_CPUINFO_MAX];
  char command_line[PROBE_LINE_MAX];
  struct nvml_device *devices[MACHINE_GPUS_MAX]; /* of machine->gpus; NULL = not in NVML */
};

/* machine_probe() on given sources and a given NVML (loaded or not). */
enum status probe_run(const struct machine_sources *sources, const struct nvml *nvml,
                      const struct error *nvml_error, struct machine *machine,
                      struct error *err) CHECK_RESULT;

/* NVML's device at a PCI address ("0000:06:00.0"), or NULL. */
struct nvml_device *probe_nvml_device(const struct nvml *nvml, const char *pci_address);

/* NUMA nodes and their distances. */
void probe_topology(struct probe *probe);
/* GPUs that CUDA shows, sorted by PCI address, with peer access; cuda_state. A simulated driver
 * replaces the topology. The only part that needs the CUDA headers. */
void probe_cuda(struct probe *probe);
/* What NVML and sysfs add to those GPUs. */
void probe_gpus(struct probe *probe);
/* NVLink, C2C and the theoretical rates between GPUs. */
void probe_links(struct probe *probe);
/* HOST_FACT_LIST and GPU_FACT_LIST, in their order. */
void probe_host_facts(struct probe *probe);
void probe_gpu_facts(struct probe *probe);

#endif
