/* NUMA nodes: what the kernel says in /sys/devices/system/node, less what this process may not
 * use. */
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

/* What can be had without swapping: a full page cache is no shortage. The kernel says it of the
 * whole machine only (MemAvailable), so it is summed up here for a node. */
static uint64_t available_bytes(const char *text) {
  return meminfo_bytes(text, "MemFree:") + meminfo_bytes(text, "Active(file):") +
         meminfo_bytes(text, "Inactive(file):") + meminfo_bytes(text, "SReclaimable:");
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

/* A kernel without NUMA: node 0 is everything. */
static void add_only_node(struct probe *probe, struct sets *sets) {
  char text[4096];
  struct numa_node *node = &probe->machine->nodes[0];
  *node = (struct numa_node){.number = 0, .cpu_count = count_all_processors(probe, sets)};
  if (sources_read(probe->sources, text, sizeof text, "/proc/meminfo") == FACT_OK) {
    node->memory_bytes = meminfo_bytes(text, "MemTotal:");
    node->free_memory_bytes = available_bytes(text);
  }
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
    node.free_memory_bytes = available_bytes(text);
  }
  /* Nodes kept for MIG instances of a GH200 are online and have nothing. */
  bool empty = node.cpu_count == 0 && node.memory_bytes == 0;
  if (!empty && probe->machine->node_count < MACHINE_NODES_MAX) {
    probe->machine->nodes[probe->machine->node_count++] = node;
  }
}

/* One line a node, one column for each online node in ascending order. */
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
}

void probe_topology(struct probe *probe) {
  struct sets *sets = calloc(1, sizeof *sets);
  if (sets != NULL) {
    read_topology(probe, sets);
    free(sets);
  }
}
