/* NVLink between GPUs and to the host, as NVML counts links, and the rate of the direct path. */
#include "engine/machine/peak.h"
#include "engine/machine/probe.h"

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
      version < sizeof BY_VERSION / sizeof BY_VERSION[0]) {
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
  *shown = gpu >= 0 || nvml_device_at(probe->nvml, address) != NULL;
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
