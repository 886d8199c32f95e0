/* probe.h - the parts of machine_probe(); for the files of this folder and their tests. */
#pragma once

#include "engine/cuda/nvml.h"
#include "engine/machine/limits.h"

#include <stdint.h>

struct machine;

/* ---- Where facts about the host are read from: files below a root, so that recorded machines can
 * be looked at in tests. What cannot be read is unavailable or denied, and the caller says so in a
 * fact. ---- */

struct machine_sources {
  const char *root; /* "" = this machine; else a folder that holds proc, sys, etc, ... */
  char hypervisor_signature[16]; /* of the CPUID leaf; "" = none or not known */
  bool numa_policy_asked;        /* whether get_mempolicy(2) was called, and what came of it */
  bool numa_policy_allowed;
  long page_bytes; /* 0 = not known */
};

/* The kernel writes at most a page of a list of processors. */
enum { SOURCES_PATH_MAX = 512, SOURCES_SET_MAX = 4096, SOURCES_LIST_MAX = 4096 };

/* This machine. */
void sources_init(struct machine_sources *sources);

/* The content of a file, trailing white space removed, cut at size - 1 bytes. When the answer is
 * not FACT_OK, text holds the reason ("/proc/x: Permission denied"). */
enum fact_state sources_read(const struct machine_sources *sources, char *text, size_t size,
                             const char *path_format, ...) __attribute__((format(printf, 4, 5)));
/* A decimal number in a file; false = there is none. */
bool sources_read_number(const struct machine_sources *sources, int64_t *value,
                         const char *path_format, ...) __attribute__((format(printf, 3, 4)));
/* At most size bytes of a binary file; *length is 0 unless it could be read. `reason` (of
 * FACT_VALUE_MAX bytes) says why not. */
enum fact_state sources_read_bytes(const struct machine_sources *sources, const char *path,
                                   unsigned char *bytes, size_t size, size_t *length, char *reason);
/* What a symbolic link leads to, as it is written; else the reason, as above. */
enum fact_state sources_read_link(const struct machine_sources *sources, const char *path,
                                  char *text, size_t size);
bool sources_exists(const struct machine_sources *sources, const char *path);
/* Whether this process may open it for both, which the rules of a device group count for too. */
bool sources_may_use(const struct machine_sources *sources, const char *path);

/* Calls visit for each entry of a folder whose name begins with prefix, in the order of names. */
void sources_each(const struct machine_sources *sources, const char *folder, const char *prefix,
                  void (*visit)(void *context, const char *name), void *context);

/* The value of "key : value" or "key=value" lines (cpuinfo, limits, os-release), the first with
 * that key, quotes removed; false = no such key. */
bool sources_find_value(const char *text, const char *key, char separator, char *value,
                        size_t size);

/* "0-3,8" -> members of a set; returns their number. Members past SOURCES_SET_MAX are left out. */
size_t sources_parse_list(const char *text, bool set[SOURCES_SET_MAX]);

/* ---- The parts ---- */

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
/* Those that facts_host.c leaves to facts_memory.c; each adds one fact of that name. */
void facts_cpu_caches(struct probe *probe, const char *name);
void facts_memory_modules(struct probe *probe, const char *name);
void facts_memory_peak(struct probe *probe, const char *name);
void facts_socket_links(struct probe *probe, const char *name);
