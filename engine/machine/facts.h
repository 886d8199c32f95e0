/* facts.h - the names of what a probe finds out about the hardware and software. */
#pragma once

/* The facts every probe answers, in this order (gpu facts once per GPU). They are columns and rows
 * of the results, names in [checks], and keys of a saved machine. Meaning and unit beside each. */
#define HOST_FACT_LIST(X)                                                                          \
  X("driver_version", "version of the NVIDIA kernel driver, e.g. 580.159.04")                      \
  X("driver_branch", "first number of driver_version, e.g. r580")                                  \
  X("kernel_module", "open or proprietary")                                                        \
  X("cuda_driver_version", "CUDA version the driver supports, e.g. 13.0")                          \
  X("kernel", "release of the Linux kernel")                                                       \
  X("boot_id", "random id of this boot")                                                           \
  X("os", "distribution and version")                                                              \
  X("cpu_model", "model name of the processor")                                                    \
  X("cpu_count", "logical processors online")                                                      \
  X("microcode", "microcode revision")                                                             \
  X("hypervisor", "name of the hypervisor, or none")                                               \
  X("governor", "cpufreq governor of all processors, mixed where they differ")                     \
  X("turbo", "on or off")                                                                          \
  X("numa_balancing", "on or off")                                                                 \
  X("huge_pages", "transparent huge pages: always, madvise or never")                              \
  X("huge_pages_reserved", "number of reserved 2 MiB pages")                                       \
  X("iommu", "off, passthrough or translated")                                                     \
  X("kernel_command_line", "as booted")                                                            \
  X("memlock_limit", "bytes this user may lock, or unlimited")                                     \
  X("container", "kind of container, or none")                                                     \
  X("gpus_hidden", "GPUs that NVML lets one use and CUDA does not show: CUDA_VISIBLE_DEVICES?")    \
  X("smt", "on or off: several logical processors per core")                                       \
  X("page_size", "bytes of a page of host memory")                                                 \
  X("numa_policy", "allowed, or refused: whether this process may say where its memory goes")      \
  X("confidential_compute", "on or off")                                                           \
  X("gpus_lost", "GPUs of the NVIDIA driver that one may use and NVML does not see")               \
  X("cpu_caches", "caches of a processor, and how many logical processors share each")             \
  X("memory_modules", "modules of host memory: number, type and speed")                            \
  X("memory_peak", "bytes per second of all channels of host memory together")                     \
  X("socket_links", "links between sockets: number and kind; or none")
#define GPU_FACT_LIST(X)                                                                           \
  X("vbios", "version of the video BIOS")                                                          \
  X("ecc", "on or off")                                                                            \
  X("mig", "on or off")                                                                            \
  X("persistence", "on or off")                                                                    \
  X("power_limit", "enforced power limit, mW")                                                     \
  X("gsp", "version of the GSP firmware, or off")                                                  \
  X("gpu_clocks", "locked or default: whether application clocks differ from the default")         \
  X("power_limit_default", "power limit as delivered, mW")                                         \
  X("bar1_bytes", "bytes of the GPU's memory that others can address at once (BAR1)")              \
  X("fabric", "completed, in progress or not started: joining the NVLink switches; or none")       \
  X("pcie_path", "PCI addresses of the bridges above the GPU, from the root down; or none")        \
  X("acs", "off, or redirects at ADDRESS ...: bridges above that send peer traffic to the root")   \
  X("c2c", "on or off: the coherent chip-to-chip link to the processor; or none")                  \
  X("memory_node", "NUMA node that is the GPU's own memory; or none")                              \
  X("kernel_code", "the kernels that haul gives it: machine code of nvcc, or PTX for the driver")  \
  X("error_counters", "all, or unavailable: NAME, ..., those that NVML does not give")
