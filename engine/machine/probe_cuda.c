/* GPUs through the CUDA driver API, without creating a context. */
#include "engine/machine/probe.h"

#include "engine/cuda/driver.h"
#include "engine/machine/machine.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t attribute(const struct cuda_driver *driver, CUdevice device,
                          CUdevice_attribute which) {
  int value = 0;
  return driver->cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS && value > 0
             ? (uint64_t)value
             : 0;
}

static void read_uuid(const struct cuda_driver *driver, CUdevice device, char text[48]) {
  CUuuid uuid;
  if (driver->cuDeviceGetUuid(&uuid, device) != CUDA_SUCCESS) {
    return;
  }
  int length = snprintf(text, 48, "GPU-");
  for (int i = 0; i < 16; i++) {
    bool dash = i == 4 || i == 6 || i == 8 || i == 10;
    length += snprintf(text + length, (size_t)(48 - length), "%s%02x", dash ? "-" : "",
                       (unsigned)(unsigned char)uuid.bytes[i]);
  }
}

static void read_attributes(const struct cuda_driver *driver, CUdevice device, struct gpu *gpu) {
  gpu->compute_major =
      (uint32_t)attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  gpu->compute_minor =
      (uint32_t)attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  gpu->sm_count = (uint32_t)attribute(driver, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  gpu->copy_engine_count =
      (uint32_t)attribute(driver, device, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
  gpu->l2_bytes = attribute(driver, device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  gpu->sm_clock_max_khz = attribute(driver, device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  gpu->memory_clock_khz = attribute(driver, device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  gpu->memory_bus_bits =
      (uint32_t)attribute(driver, device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  gpu->concurrent_managed_access =
      attribute(driver, device, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS) != 0;
  gpu->host_page_tables =
      attribute(driver, device, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES) !=
      0;
  gpu->host_register_supported =
      attribute(driver, device, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED) != 0;
}

/* NUMA_CONFIG is 1 where the GPU is a node. Drivers of CUDA 12.0 do not know the attribute, and
 * have no such GPU. */
static int32_t read_memory_node(const struct cuda_driver *driver, CUdevice device) {
  int number = -1;
  return attribute(driver, device, CU_DEVICE_ATTRIBUTE_NUMA_CONFIG) == 1 &&
                 driver->cuDeviceGetAttribute(&number, CU_DEVICE_ATTRIBUTE_NUMA_ID, device) ==
                     CUDA_SUCCESS
             ? number
             : -1;
}

/* false: CUDA does not give the device, or where it is. */
static bool read_gpu(const struct cuda_driver *driver, int ordinal, struct gpu *gpu) {
  CUdevice device;
  char address[32];
  *gpu = (struct gpu){
      .numa_node = -1, .cuda_ordinal = ordinal, .utilization_percent = -1, .process_count = -1};
  if (driver->cuDeviceGet(&device, ordinal) != CUDA_SUCCESS ||
      driver->cuDeviceGetPCIBusId(address, (int)sizeof address, device) != CUDA_SUCCESS ||
      !machine_normalise_pci(address, gpu->pci_address)) {
    return false;
  }
  size_t memory_bytes = 0;
  (void)driver->cuDeviceGetName(gpu->name, (int)sizeof gpu->name, device);
  (void)driver->cuDeviceTotalMem(&memory_bytes, device);
  gpu->memory_bytes = memory_bytes;
  read_uuid(driver, device, gpu->uuid);
  read_attributes(driver, device, gpu);
  gpu->memory_node = read_memory_node(driver, device);
  return true;
}

static int compare_gpus(const void *left, const void *right) {
  const struct gpu *a = left;
  const struct gpu *b = right;
  return machine_compare_pci(a->pci_address, b->pci_address);
}

static void read_peer_access(const struct cuda_driver *driver, struct machine *machine) {
  for (uint32_t from = 0; from < machine->gpu_count; from++) {
    for (uint32_t to = 0; to < machine->gpu_count; to++) {
      CUdevice source, target;
      int can = 0;
      if (from != to &&
          driver->cuDeviceGet(&source, machine->gpus[from].cuda_ordinal) == CUDA_SUCCESS &&
          driver->cuDeviceGet(&target, machine->gpus[to].cuda_ordinal) == CUDA_SUCCESS &&
          driver->cuDeviceCanAccessPeer(&can, source, target) == CUDA_SUCCESS) {
        machine->links[from][to].peer_access = can != 0;
      }
    }
  }
}

/* The nodes of the machine that a fake driver pretends to be; what it does not say of a node is
 * taken from the real node that stands for it. */
static void simulate_topology(const struct cuda_driver *driver, struct machine *machine) {
  const struct simulation *simulation = driver->simulation;
  if (simulation == NULL || simulation->node_count == 0) {
    return;
  }
  struct numa_node real[MACHINE_NODES_MAX];
  uint32_t real_count = machine->node_count;
  memcpy(real, machine->nodes, sizeof real);
  memset(machine->node_distance, 0, sizeof machine->node_distance);
  machine->node_count = simulation->node_count;
  for (uint32_t i = 0; i < simulation->node_count; i++) {
    struct numa_node *node = &machine->nodes[i];
    *node = real_count > 0 ? real[i % real_count] : (struct numa_node){.cpu_count = 1};
    node->number = simulation->node_numbers[i];
    if (simulation->version >= 2) {
      node->cpu_count = simulation->node_cpu_count[i];
      node->memory_bytes = simulation->node_memory_bytes[i];
    }
    memcpy(machine->node_distance[i], simulation->node_distance[i], simulation->node_count);
  }
}

static void read_gpus(const struct cuda_driver *driver, struct machine *machine) {
  int count = 0;
  struct error error = {0};
  if (cuda_check(driver, driver->cuDeviceGetCount(&count), &error, "cuDeviceGetCount") !=
      STATUS_OK) {
    (void)snprintf(machine->cuda_state, sizeof machine->cuda_state, "%.*s",
                   (int)sizeof machine->cuda_state - 1, error.message);
    return;
  }
  for (int ordinal = 0; ordinal < count && machine->gpu_count < MACHINE_GPUS_MAX; ordinal++) {
    machine->gpu_count += read_gpu(driver, ordinal, &machine->gpus[machine->gpu_count]) ? 1 : 0;
  }
  qsort(machine->gpus, machine->gpu_count, sizeof machine->gpus[0], compare_gpus);
  read_peer_access(driver, machine);
  (void)snprintf(machine->cuda_state, sizeof machine->cuda_state, "%s",
                 machine->gpu_count > 0 ? "ok" : "CUDA shows no GPU");
}

void probe_cuda(struct probe *probe) {
  struct machine *machine = probe->machine;
  struct cuda_driver driver;
  struct error error = {0};
  const enum status status = cuda_driver_load(&driver, &error);
  machine->simulated = driver.simulation != NULL; /* even if it did not start */
  if (status != STATUS_OK) {
    (void)snprintf(machine->cuda_state, sizeof machine->cuda_state, "%.*s",
                   (int)sizeof machine->cuda_state - 1, error.message);
    /* The others are of a driver that found a GPU. */
    machine->cuda_lost = error.native_code != 0 && error.native_code != CUDA_ERROR_NO_DEVICE &&
                         error.native_code != CUDA_ERROR_STUB_LIBRARY;
    return;
  }
  machine->driver_cuda_version = driver.version;
  simulate_topology(&driver, machine);
  read_gpus(&driver, machine);
  cuda_driver_unload(&driver);
}
