/* NVML of links: PCIe, NVLink, chip to chip. */
#include "engine/cuda/nvml.h"

#include "tests/fake_cuda/machine/config.h"

#include <stdio.h>

#define NVML_EXPORT_(name, arguments) __attribute__((visibility("default"))) int name arguments;
NVML_FUNCTION_LIST(NVML_EXPORT_)
#undef NVML_EXPORT_

static const struct machine *the_machine(void) {
  bool broken;
  return &config_get(&broken)->machine;
}

/* The GPU of a handle; a function that every GPU answers checks the handle for us. */
static int find(struct nvml_device *device, const struct gpu **gpu) {
  struct nvml_memory ignored;
  int result = nvmlDeviceGetMemoryInfo(device, &ignored);
  *gpu = (const struct gpu *)(const void *)device;
  return result;
}

static int give(struct nvml_device *device, size_t offset, unsigned *value) {
  const struct gpu *gpu;
  int result = find(device, &gpu);
  if (result == NVML_OK) {
    *value = *(const uint32_t *)(const void *)((const char *)gpu + offset);
    result = *value == 0 ? NVML_NOT_SUPPORTED : NVML_OK;
  }
  return result;
}

int nvmlDeviceGetCurrPcieLinkGeneration(struct nvml_device *device, unsigned *generation) {
  return give(device, offsetof(struct gpu, pcie_generation), generation);
}

int nvmlDeviceGetCurrPcieLinkWidth(struct nvml_device *device, unsigned *width) {
  return give(device, offsetof(struct gpu, pcie_width), width);
}

int nvmlDeviceGetMaxPcieLinkGeneration(struct nvml_device *device, unsigned *generation) {
  return give(device, offsetof(struct gpu, pcie_generation_max), generation);
}

int nvmlDeviceGetMaxPcieLinkWidth(struct nvml_device *device, unsigned *width) {
  return give(device, offsetof(struct gpu, pcie_width_max), width);
}

static int find_link(struct nvml_device *device, unsigned link, const struct gpu **gpu) {
  int result = find(device, gpu);
  if (result != NVML_OK) {
    return result;
  }
  if ((*gpu)->nvlink_count == 0) {
    return link == 0 ? NVML_NOT_SUPPORTED : NVML_INVALID_ARGUMENT;
  }
  return link < (*gpu)->nvlink_count ? NVML_OK : NVML_INVALID_ARGUMENT;
}

int nvmlDeviceGetNvLinkState(struct nvml_device *device, unsigned link, int *active) {
  const struct gpu *gpu;
  *active = 1;
  return find_link(device, link, &gpu);
}

int nvmlDeviceGetNvLinkVersion(struct nvml_device *device, unsigned link, unsigned *version) {
  const struct gpu *gpu;
  int result = find_link(device, link, &gpu);
  if (result == NVML_OK) {
    /* NVML's numbers: 4 = NVLink 3.0, 6 = 4.0, 7 = 5.0. */
    *version = gpu->compute_major >= 10 ? 7 : gpu->compute_major == 9 ? 6 : 4;
  }
  return result;
}

/* The GPU at the other end of a link, or -1 for a switch. Links lead to a switch where a GPU has
 * more links to all others together than it has ports. */
static int remote_gpu(const struct gpu *gpu, unsigned link) {
  const struct machine *machine = the_machine();
  size_t from = (size_t)(gpu - machine->gpus);
  unsigned total = 0;
  int remote = -1;
  for (uint32_t to = 0; to < machine->gpu_count; to++) {
    unsigned count = machine->links[from][to].nvlink_count;
    if (link >= total && link < total + count) {
      remote = (int)to;
    }
    total += count;
  }
  return total > gpu->nvlink_count ? -1 : remote;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(struct nvml_device *device, unsigned link, int *type) {
  const struct gpu *gpu;
  int result = find_link(device, link, &gpu);
  if (result == NVML_OK) {
    *type = remote_gpu(gpu, link) >= 0 ? NVML_REMOTE_GPU : NVML_REMOTE_SWITCH;
  }
  return result;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(struct nvml_device *device, unsigned link,
                                        struct nvml_pci_info *info) {
  const struct gpu *gpu;
  int result = find_link(device, link, &gpu);
  if (result != NVML_OK) {
    return result;
  }
  int remote = remote_gpu(gpu, link);
  if (remote >= 0) {
    struct nvml_device *other = NULL;
    result = nvmlDeviceGetHandleByIndex_v2((unsigned)remote, &other);
    return result == NVML_OK ? nvmlDeviceGetPciInfo_v3(other, info) : result;
  }
  *info = (struct nvml_pci_info){.domain = 0xff, .bus = 5 + link % 4};
  (void)snprintf(info->bus_id, sizeof info->bus_id, "%08X:%02X:00.0", info->domain, info->bus);
  return NVML_OK;
}

static void answer_field(const struct gpu *gpu, struct nvml_field *field) {
  field->result = NVML_NOT_SUPPORTED;
  field->value_type = NVML_VALUE_UINT;
  uint64_t megabytes = 0;
  bool known = false;
  switch (field->field_id) {
  case NVML_FIELD_NVLINK_SPEED_COMMON:
  case NVML_FIELD_NVLINK_SPEED:
    megabytes = gpu->nvlink_bytes_per_second / 1000000;
    known = gpu->nvlink_count > field->scope_id && megabytes > 0;
    break;
  case NVML_FIELD_C2C_LINK_COUNT:
    megabytes = 1;
    known = gpu->c2c_bytes_per_second > 0;
    break;
  case NVML_FIELD_C2C_LINK_STATUS:
    megabytes = 1;
    known = gpu->c2c_bytes_per_second > 0 && field->scope_id == 0;
    break;
  case NVML_FIELD_C2C_LINK_SPEED:
    megabytes = gpu->c2c_bytes_per_second / 1000000;
    known = gpu->c2c_bytes_per_second > 0 && field->scope_id == 0;
    break;
  default:
    break;
  }
  if (known) {
    field->value.uint_value = (unsigned)megabytes;
    field->result = NVML_OK;
  }
}

int nvmlDeviceGetFieldValues(struct nvml_device *device, int count, struct nvml_field *fields) {
  const struct gpu *gpu;
  int result = find(device, &gpu);
  for (int i = 0; result == NVML_OK && i < count; i++) {
    if (fields[i].result == NVML_OK) { /* as driver 580 does */
      answer_field(gpu, &fields[i]);
    }
  }
  return result;
}
