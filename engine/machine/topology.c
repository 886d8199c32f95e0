/* NUMA nodes, as the kernel reports them in /sys/devices/system/node, less what this process may
 * not use; and NVLink. */
#include "engine/base/macros.h"
#include "engine/machine/machine.h"
#include "engine/machine/memory_limit.h"
#include "engine/machine/probe.h"

#include <stdlib.h>
#include <string.h>

struct sets {
  bool online[SOURCES_SET_MAX];
  bool allowed_nodes[SOURCES_SET_MAX];
  bool allowed_cpus[SOURCES_SET_MAX];
  bool node_cpus[SOURCES_SET_MAX];
};

/* "MemTotal:  131827248 kB", in /proc/meminfo or after "Node 0 ". */
static uint64_t meminfo_bytes(const char *meminfo, const char *key) {
  const char *found = strstr(meminfo, key);
  return found == NULL ? 0 : strtoull(found + strlen(key), NULL, 10) * 1024;
}

/* A list of /proc/self/status; where there is none, everything is allowed. */
static void read_allowed(const char *status, const char *key, bool set[SOURCES_SET_MAX]) {
  char list[4096];
  if (!sources_find_value(status, key, ':', list, sizeof list) ||
      sources_parse_list(list, set) == 0) {
    memset(set, true, SOURCES_SET_MAX * sizeof set[0]);
  }
}

static uint32_t count_both(const bool *a, const bool *b) {
  uint32_t count = 0;
  for (size_t i = 0; i < SOURCES_SET_MAX; i++) {
    count += a[i] && b[i] ? 1 : 0;
  }
  return count;
}

/* Memory available without swapping: a full page cache is no shortage. The kernel reports it for
 * the whole machine only (MemAvailable), so it is summed up here for a node. */
static uint64_t available_bytes(const char *text) {
  return meminfo_bytes(text, "MemFree:") + meminfo_bytes(text, "Active(file):") +
         meminfo_bytes(text, "Inactive(file):") + meminfo_bytes(text, "SReclaimable:");
}

/* What the machine has free is of no use to a process whose control group may not have it. */
static uint64_t memory_clip(const struct probe *probe, uint64_t free_bytes) {
  const uint64_t left_bytes = memory_limit_left(probe->sources->root);
  return left_bytes < free_bytes ? left_bytes : free_bytes;
}

static uint32_t count_processors(const char *cpuinfo) {
  uint32_t count = 0;
  for (const char *at = strstr(cpuinfo, "processor"); at != NULL; at = strstr(at, "processor")) {
    count += at == cpuinfo || at[-1] == '\n' ? 1 : 0;
    at += strlen("processor");
  }
  return count;
}

/* Where sysfs does not say which processors there are (not mounted in some containers and
 * chroots), those of /proc/cpuinfo count. */
static uint32_t count_all_processors(struct probe *probe, struct sets *sets) {
  char *text = probe->cpuinfo;
  if (sources_read(probe->sources, text, PROBE_CPUINFO_MAX, "/sys/devices/system/cpu/online") ==
          FACT_OK &&
      sources_parse_list(text, sets->node_cpus) > 0) {
    return count_both(sets->node_cpus, sets->allowed_cpus);
  }
  if (sources_read(probe->sources, text, PROBE_CPUINFO_MAX, "/proc/cpuinfo") == FACT_OK) {
    return count_processors(text);
  }
  return 0;
}

/* The only node has all memory. Its own file, where there is one, says less where a virtual machine
 * gets its memory as it uses it: then /proc/meminfo says what it may have. */
static void read_all_memory(const struct probe *probe, struct numa_node *node) {
  char text[4096];
  if (sources_read(probe->sources, text, sizeof text, "/proc/meminfo") == FACT_OK &&
      meminfo_bytes(text, "MemTotal:") > node->memory_bytes) {
    const uint64_t available = meminfo_bytes(text, "MemAvailable:");
    node->memory_bytes = meminfo_bytes(text, "MemTotal:");
    node->free_memory_bytes = memory_clip(probe, available > 0 ? available : available_bytes(text));
  }
}

/* A kernel without NUMA: node 0 is everything. */
static void add_only_node(struct probe *probe, struct sets *sets) {
  probe->machine->nodes[0] =
      (struct numa_node){.number = 0, .cpu_count = count_all_processors(probe, sets)};
  probe->machine->node_count = 1;
  probe->machine->node_distance[0][0] = 10;
}

static void add_node(struct probe *probe, struct sets *sets, int32_t number) {
  struct numa_node node = {.number = number};
  char text[4096];
  if (sources_read(probe->sources, text, sizeof text, "/sys/devices/system/node/node%d/cpulist",
                   number) == FACT_OK) {
    (void)sources_parse_list(text, sets->node_cpus);
    node.cpu_count = count_both(sets->node_cpus, sets->allowed_cpus);
  }
  if (sources_read(probe->sources, text, sizeof text, "/sys/devices/system/node/node%d/meminfo",
                   number) == FACT_OK) {
    node.memory_bytes = meminfo_bytes(text, "MemTotal:");
    node.free_memory_bytes = memory_clip(probe, available_bytes(text));
  }
  /* Nodes kept for MIG instances of a GH200 are online and have nothing. */
  bool empty = node.cpu_count == 0 && node.memory_bytes == 0;
  if (!empty && probe->machine->node_count < MACHINE_NODES_MAX) {
    probe->machine->nodes[probe->machine->node_count++] = node;
  }
}

/* One line per node, one column for each online node in ascending order. */
static void read_distances(struct probe *probe, const bool *online) {
  struct machine *machine = probe->machine;
  for (uint32_t from = 0; from < machine->node_count; from++) {
    char text[4096];
    if (sources_read(probe->sources, text, sizeof text, "/sys/devices/system/node/node%d/distance",
                     machine->nodes[from].number) != FACT_OK) {
      continue;
    }
    char *column = text;
    for (int32_t number = 0; number < SOURCES_SET_MAX && *column != '\0'; number++) {
      if (!online[number]) {
        continue;
      }
      unsigned long distance = strtoul(column, &column, 10);
      int to = machine_node_index(machine, number);
      if (to >= 0 && distance <= UINT8_MAX) {
        machine->node_distance[from][to] = (uint8_t)distance;
      }
    }
  }
}

static void read_topology(struct probe *probe, struct sets *sets) {
  char *text = probe->cpuinfo; /* read later: a buffer large enough for any /proc/self/status */
  if (sources_read(probe->sources, text, PROBE_CPUINFO_MAX, "/proc/self/status") != FACT_OK) {
    text[0] = '\0';
  }
  read_allowed(text, "Mems_allowed_list", sets->allowed_nodes);
  read_allowed(text, "Cpus_allowed_list", sets->allowed_cpus);
  if (sources_read(probe->sources, text, PROBE_CPUINFO_MAX, "/sys/devices/system/node/online") ==
          FACT_OK &&
      sources_parse_list(text, sets->online) > 0) {
    for (int32_t number = 0; number < SOURCES_SET_MAX; number++) {
      if (sets->online[number] && sets->allowed_nodes[number]) {
        add_node(probe, sets, number);
      }
    }
  }
  if (probe->machine->node_count == 0) {
    add_only_node(probe, sets);
  } else {
    read_distances(probe, sets->online);
  }
  if (probe->machine->node_count == 1 && count_both(sets->online, sets->online) <= 1) {
    read_all_memory(probe, &probe->machine->nodes[0]);
  }
}

void probe_topology(struct probe *probe) {
  struct sets *sets = calloc(1, sizeof *sets);
  if (sets != NULL) {
    read_topology(probe, sets);
    free(sets);
  }
}

/* ---- GPUs ---- */
/* NVLink between GPUs and to the host, as NVML counts links, and the rate of the direct path. */

/* The active links of one GPU, by what they end in. */
struct gpu_ports {
  uint32_t active;
  uint32_t to_switch;
  uint32_t to_host; /* NVLink to a POWER processor */
  uint32_t to_gpu[MACHINE_GPUS_MAX];
  unsigned first_active;
};

/* NVML counts in 10^6 bytes per second. Where it does not say: bytes per second and direction as
 * nvidia-smi nvlink --status shows them, by NVML's number of the NVLink version (1 = 1.0, 2 = 2.0,
 * 3 = 2.2, 4 = 3.0, 5 = 3.1, 6 = 4.0, 7 = 5.0). */
static uint64_t link_speed(const struct probe *probe, struct nvml_device *device, unsigned link) {
  static const uint64_t BY_VERSION[] = {0,           20000000000, 25781000000, 25781000000,
                                        25000000000, 25000000000, 26562000000, 53125000000};
  unsigned long long megabytes = 0;
  if ((nvml_read_field(probe->nvml, device, NVML_FIELD_NVLINK_SPEED, link, &megabytes) &&
       megabytes > 0) ||
      (nvml_read_field(probe->nvml, device, NVML_FIELD_NVLINK_SPEED_COMMON, 0, &megabytes) &&
       megabytes > 0)) {
    return megabytes * 1000000;
  }
  unsigned version = 0;
  if (NVML_CALL(probe->nvml, nvmlDeviceGetNvLinkVersion, device, link, &version) == NVML_OK &&
      version < COUNT_OF(BY_VERSION)) {
    return BY_VERSION[version];
  }
  return 0;
}

/* The GPU at the other end, or -1; *shown = NVML shows a GPU there, usable or not. */
static int remote_gpu(const struct probe *probe, struct nvml_device *device, unsigned link,
                      bool *shown) {
  struct nvml_pci_info info = {0};
  char address[16];
  *shown = false;
  if (NVML_CALL(probe->nvml, nvmlDeviceGetNvLinkRemotePciInfo_v2, device, link, &info) != NVML_OK ||
      !machine_normalise_pci(info.bus_id, address)) {
    return -1;
  }
  int gpu = machine_gpu_index(probe->machine, address);
  *shown = gpu >= 0 || probe_nvml_device(probe->nvml, address) != NULL;
  return gpu;
}

static void count_link(const struct probe *probe, struct nvml_device *device, unsigned link,
                       struct gpu_ports *ports) {
  int type = NVML_REMOTE_UNKNOWN;
  if (NVML_CALL(probe->nvml, nvmlDeviceGetNvLinkRemoteDeviceType, device, link, &type) != NVML_OK) {
    type = NVML_REMOTE_UNKNOWN;
  }
  if (type == NVML_REMOTE_SWITCH) {
    ports->to_switch++;
    return;
  }
  if (type == NVML_REMOTE_CPU) {
    ports->to_host++;
    return;
  }
  bool shown;
  int gpu = remote_gpu(probe, device, link, &shown);
  if (gpu >= 0) {
    ports->to_gpu[gpu]++;
  } else if (!shown && type == NVML_REMOTE_UNKNOWN) {
    /* A driver before r450, or a virtual machine that hides the switch: no GPU, so a switch. */
    ports->to_switch++;
  }
}

static void count_links(const struct probe *probe, uint32_t gpu, struct gpu_ports *ports) {
  struct nvml_device *device = probe->devices[gpu];
  for (unsigned link = 0; device != NULL && link < NVML_LINKS_MAX; link++) {
    int active = 0;
    int result = NVML_CALL(probe->nvml, nvmlDeviceGetNvLinkState, device, link, &active);
    if (result == NVML_INVALID_ARGUMENT || result == NVML_FUNCTION_NOT_FOUND) {
      return;
    }
    if (result != NVML_OK || active == 0) {
      continue;
    }
    if (ports->active++ == 0) {
      ports->first_active = link;
    }
    count_link(probe, device, link, ports);
  }
}

static uint64_t c2c_speed(const struct probe *probe, struct nvml_device *device) {
  unsigned long long links = 0;
  uint64_t total = 0;
  if (!nvml_read_field(probe->nvml, device, NVML_FIELD_C2C_LINK_COUNT, 0, &links)) {
    return 0;
  }
  for (unsigned link = 0; link < links && link < NVML_LINKS_MAX; link++) {
    unsigned long long active = 0;
    unsigned long long megabytes = 0;
    if (nvml_read_field(probe->nvml, device, NVML_FIELD_C2C_LINK_STATUS, link, &active) &&
        active == 1 &&
        nvml_read_field(probe->nvml, device, NVML_FIELD_C2C_LINK_SPEED, link, &megabytes)) {
      total += megabytes * 1000000;
    }
  }
  return total;
}

static void fill_gpu(const struct probe *probe, uint32_t i, struct gpu_ports *ports) {
  struct gpu *gpu = &probe->machine->gpus[i];
  struct nvml_device *device = probe->devices[i];
  if (device == NULL) {
    return;
  }
  count_links(probe, i, ports);
  gpu->nvlink_count = ports->active;
  if (ports->active > 0) {
    gpu->nvlink_bytes_per_second = link_speed(probe, device, ports->first_active);
  }
  gpu->c2c_bytes_per_second = c2c_speed(probe, device);
  if (gpu->c2c_bytes_per_second == 0) {
    gpu->c2c_bytes_per_second = ports->to_host * gpu->nvlink_bytes_per_second;
  }
}

static uint64_t smaller(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

/* Through switches a pair has all links of the GPU that has fewer, but only when the fabric joins
 * them: GPUs of different partitions have links to a switch and no peer access. */
static void fill_pair(struct machine *machine, const struct gpu_ports *ports, uint32_t from,
                      uint32_t to) {
  struct gpu_link *link = &machine->links[from][to];
  link->nvlink_count = ports[from].to_gpu[to];
  if (link->nvlink_count == 0 && link->peer_access) {
    link->nvlink_count = (uint32_t)smaller(ports[from].to_switch, ports[to].to_switch);
  }
  link->bytes_per_second = link->nvlink_count * smaller(machine->gpus[from].nvlink_bytes_per_second,
                                                        machine->gpus[to].nvlink_bytes_per_second);
  if (link->nvlink_count == 0) {
    enum limit limit;
    link->bytes_per_second = peak_gpu_gpu(machine, from, to, &limit);
  }
}

void probe_links(struct probe *probe) {
  struct gpu_ports ports[MACHINE_GPUS_MAX] = {0};
  for (uint32_t i = 0; i < probe->machine->gpu_count; i++) {
    fill_gpu(probe, i, &ports[i]);
  }
  for (uint32_t from = 0; from < probe->machine->gpu_count; from++) {
    for (uint32_t to = 0; to < probe->machine->gpu_count; to++) {
      if (from != to) {
        fill_pair(probe->machine, ports, from, to);
      }
    }
  }
}
