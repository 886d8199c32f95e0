/* What NVML says of the GPUs: an NVML made of functions of this file. */
#include "engine/machine/probe.h"

#include "engine/machine/error_counters.h"
#include "engine/machine/facts.h"
#include "engine/machine/machine.h"
#include "tests/cmocka.h"

#if defined(__has_include)
#if __has_include(<nvml.h>)
/* Our declarations against NVIDIA's, where they are installed. */
#include <nvml.h>

_Static_assert(sizeof(struct nvml_pci_info) == sizeof(nvmlPciInfo_t), "nvmlPciInfo_t");
_Static_assert(offsetof(struct nvml_pci_info, bus_id) == offsetof(nvmlPciInfo_t, busId), "busId");
_Static_assert(sizeof(struct nvml_memory) == sizeof(nvmlMemory_t), "nvmlMemory_t");
_Static_assert(sizeof(struct nvml_utilization) == sizeof(nvmlUtilization_t), "nvmlUtilization_t");
_Static_assert(sizeof(struct nvml_field) == sizeof(nvmlFieldValue_t), "nvmlFieldValue_t");
_Static_assert(offsetof(struct nvml_field, value) == offsetof(nvmlFieldValue_t, value), "value");
_Static_assert(sizeof(struct nvml_process) == sizeof(nvmlProcessInfo_t), "nvmlProcessInfo_t");
_Static_assert(NVML_NO_PERMISSION == (int)NVML_ERROR_NO_PERMISSION, "nvmlReturn_t");
_Static_assert(NVML_FUNCTION_NOT_FOUND == (int)NVML_ERROR_FUNCTION_NOT_FOUND, "nvmlReturn_t");
_Static_assert(NVML_FIELD_C2C_LINK_SPEED == NVML_FI_DEV_C2C_LINK_GET_MAX_BW, "fields");
_Static_assert(NVML_FIELD_NVLINK_SPEED == NVML_FI_DEV_NVLINK_GET_SPEED, "fields");
_Static_assert(NVML_FIELD_NVLINK_SPEED_COMMON == NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON, "fields");
#define ERROR_FIELD_(id, text, field) id##_FIELD = (field),
enum { ERROR_COUNTER_LIST(ERROR_FIELD_) };
_Static_assert(ERROR_COUNTER_PCIE_REPLAY_FIELD == NVML_FI_DEV_PCIE_REPLAY_COUNTER, "fields");
_Static_assert(ERROR_COUNTER_NVLINK_CRC_FLIT_FIELD == NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL,
               "fields");
_Static_assert(ERROR_COUNTER_NVLINK_CRC_DATA_FIELD == NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL,
               "fields");
_Static_assert(ERROR_COUNTER_NVLINK_REPLAY_FIELD == NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL,
               "fields");
_Static_assert(ERROR_COUNTER_NVLINK_RECOVERY_FIELD == NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL,
               "fields");
_Static_assert(ERROR_COUNTER_ECC_CORRECTED_FIELD == NVML_FI_DEV_ECC_SBE_VOL_TOTAL, "fields");
_Static_assert(ERROR_COUNTER_ECC_UNCORRECTED_FIELD == NVML_FI_DEV_ECC_DBE_VOL_TOTAL, "fields");
_Static_assert(ERROR_COUNTER_ROWS_CORRECTED_FIELD == NVML_FI_DEV_REMAPPED_COR, "fields");
_Static_assert(ERROR_COUNTER_ROWS_UNCORRECTED_FIELD == NVML_FI_DEV_REMAPPED_UNC, "fields");
_Static_assert(NVML_REMOTE_SWITCH == (int)NVML_NVLINK_DEVICE_TYPE_SWITCH, "device types");
#endif
#endif

enum { DEVICES_MAX = 4, LINKS_MAX = 6 };

/* What the fake NVML answers; reset by each test. */
struct nvml_device {
  const char *bus_id;
  int link_types[LINKS_MAX]; /* -1 = inactive */
  const char *link_remotes[LINKS_MAX];
  unsigned c2c_links;
  int permission; /* NVML result of everything private */
  int handle;     /* of asking for it */
  int ecc;
  unsigned mig, application_mhz;
};

static struct {
  struct nvml_device devices[DEVICES_MAX];
  unsigned count;
} fake;

static int count_v2(unsigned *count) {
  *count = fake.count;
  return NVML_OK;
}

static int handle_by_index(unsigned index, struct nvml_device **device) {
  *device = &fake.devices[index];
  return index < fake.count ? fake.devices[index].handle : NVML_INVALID_ARGUMENT;
}

static int pci_info(struct nvml_device *device, struct nvml_pci_info *info) {
  (void)snprintf(info->bus_id, sizeof info->bus_id, "%s", device->bus_id);
  return NVML_OK;
}

static int link_state(struct nvml_device *device, unsigned link, int *active) {
  if (link >= LINKS_MAX) {
    return NVML_INVALID_ARGUMENT;
  }
  *active = device->link_types[link] >= 0;
  return NVML_OK;
}

static int link_type(struct nvml_device *device, unsigned link, int *type) {
  *type = device->link_types[link];
  return NVML_OK;
}

static int link_remote(struct nvml_device *device, unsigned link, struct nvml_pci_info *info) {
  if (device->link_remotes[link] == NULL) {
    return NVML_NOT_SUPPORTED;
  }
  (void)snprintf(info->bus_id, sizeof info->bus_id, "%s", device->link_remotes[link]);
  return NVML_OK;
}

static int link_version(struct nvml_device *device, unsigned link, unsigned *version) {
  *version = 4; /* NVLink 3.0 */
  return NVML_OK;
}

static int field_values(struct nvml_device *device, int count, struct nvml_field *fields) {
  for (int i = 0; i < count; i++) {
    fields[i].result = NVML_OK;
    fields[i].value_type = NVML_VALUE_UINT;
    if (fields[i].field_id == NVML_FIELD_NVLINK_SPEED_COMMON) {
      fields[i].value.uint_value = 26562;
    } else if (fields[i].field_id == NVML_FIELD_C2C_LINK_COUNT) {
      fields[i].value.uint_value = device->c2c_links;
    } else if (fields[i].field_id == NVML_FIELD_C2C_LINK_STATUS) {
      fields[i].value.uint_value = fields[i].scope_id == 1 ? 0 : 1;
    } else if (fields[i].field_id == NVML_FIELD_C2C_LINK_SPEED) {
      fields[i].value.uint_value = 44712;
    } else {
      fields[i].result = NVML_NOT_SUPPORTED;
    }
  }
  return NVML_OK;
}

static int c2c_mode(struct nvml_device *device, struct nvml_c2c *c2c) {
  c2c->enabled = device->c2c_links > 1;
  return device->c2c_links > 0 ? NVML_OK : NVML_NOT_SUPPORTED;
}

static int ecc_mode(struct nvml_device *device, int *current, int *pending) {
  *current = device->ecc;
  *pending = 1;
  return device->permission;
}

static int mig_mode(struct nvml_device *device, unsigned *current, unsigned *pending) {
  *current = device->mig;
  *pending = 0;
  return NVML_OK;
}

static int application_clock(struct nvml_device *device, int clock, unsigned *mhz) {
  *mhz = clock == NVML_CLOCK_OF_MEMORY ? 3201 : device->application_mhz;
  return NVML_OK;
}

static int default_clock(struct nvml_device *device, int clock, unsigned *mhz) {
  *mhz = clock == NVML_CLOCK_OF_MEMORY ? 3201 : 1980;
  return NVML_OK;
}

static int gsp_mode(struct nvml_device *device, unsigned *enabled, unsigned *default_mode) {
  *enabled = device->ecc != 0;
  *default_mode = 1;
  return NVML_OK;
}

static int gsp_version(struct nvml_device *device, char *text) {
  (void)snprintf(text, 64, "580.1");
  return NVML_OK;
}

static int processes(struct nvml_device *device, unsigned *count, struct nvml_process *list) {
  *count = 2;
  return NVML_INSUFFICIENT_SIZE;
}

static int memory_affinity(struct nvml_device *device, unsigned words, unsigned long *nodes,
                           int scope) {
  assert_int_equal(words * 8 * sizeof *nodes, MACHINE_NODES_MAX);
  assert_int_equal(scope, NVML_AFFINITY_OF_NODE);
  nodes[0] = 1UL << 5;
  return NVML_OK;
}

static const char *error_string(int result) {
  return result == NVML_NO_PERMISSION ? "Insufficient Permissions" : "Not Supported";
}

static const struct nvml NVML = {
    .library = &fake,
    .nvmlErrorString = error_string,
    .nvmlDeviceGetCount_v2 = count_v2,
    .nvmlDeviceGetHandleByIndex_v2 = handle_by_index,
    .nvmlDeviceGetPciInfo_v3 = pci_info,
    .nvmlDeviceGetNvLinkState = link_state,
    .nvmlDeviceGetNvLinkRemoteDeviceType = link_type,
    .nvmlDeviceGetNvLinkRemotePciInfo_v2 = link_remote,
    .nvmlDeviceGetNvLinkVersion = link_version,
    .nvmlDeviceGetFieldValues = field_values,
    .nvmlDeviceGetC2cModeInfoV = c2c_mode,
    .nvmlDeviceGetEccMode = ecc_mode,
    .nvmlDeviceGetMigMode = mig_mode,
    .nvmlDeviceGetApplicationsClock = application_clock,
    .nvmlDeviceGetDefaultApplicationsClock = default_clock,
    .nvmlDeviceGetGspFirmwareMode = gsp_mode,
    .nvmlDeviceGetGspFirmwareVersion = gsp_version,
    .nvmlDeviceGetComputeRunningProcesses_v3 = processes,
    .nvmlDeviceGetMemoryAffinity = memory_affinity,
};

/* `count` GPUs at 0000:01:00.0, 0000:02:00.0 ... with links that lead nowhere. */
static struct probe *probe_new(const struct nvml *nvml, unsigned count) {
  static const char *const BUS_IDS[] = {"00000000:01:00.0", "00000000:02:00.0", "00000000:03:00.0",
                                        "00000000:04:00.0"};
  static const struct machine_sources NOTHING = {.root = "/nonexistent"};
  struct probe *probe = memory_new(1, sizeof *probe);
  probe->machine = memory_new(1, sizeof *probe->machine);
  probe->sources = &NOTHING;
  probe->nvml = nvml;
  fake.count = count;
  probe->machine->gpu_count = count;
  for (unsigned i = 0; i < count; i++) {
    fake.devices[i] = (struct nvml_device){.bus_id = BUS_IDS[i], .ecc = 1, .application_mhz = 1980};
    for (int link = 0; link < LINKS_MAX; link++) {
      fake.devices[i].link_types[link] = -1;
    }
    probe->machine->gpus[i] = (struct gpu){
        .numa_node = -1, .process_count = -1, .pcie_generation_max = 5, .pcie_width_max = 16};
    assert_true(machine_normalise_pci(BUS_IDS[i], probe->machine->gpus[i].pci_address));
  }
  return probe;
}

static void probe_free(struct probe *probe) {
  free(probe->machine);
  free(probe);
}
RELEASE(probe_free, struct probe)

static void allow_peers(struct machine *machine) {
  for (uint32_t from = 0; from < machine->gpu_count; from++) {
    for (uint32_t to = 0; to < machine->gpu_count; to++) {
      machine->links[from][to].peer_access = from != to;
    }
  }
}

TEST(test_links_through_switches) {
  SCOPED(probe_free_at) struct probe *probe = probe_new(&NVML, 3);
  struct machine *machine = probe->machine;
  allow_peers(machine);
  for (int i = 0; i < 3; i++) {
    for (int link = 0; link < 4 - i; link++) { /* GPU 2 lost two links, GPU 1 one */
      fake.devices[i].link_types[link] = NVML_REMOTE_SWITCH;
    }
  }
  machine->links[2][0].peer_access = false; /* another partition of the fabric */
  probe_gpus(probe);
  probe_links(probe);
  assert_int_equal(machine->gpus[0].nvlink_count, 4);
  assert_int_equal(machine->gpus[0].nvlink_bytes_per_second, 26562000000);
  assert_int_equal(machine->links[0][1].nvlink_count, 3);
  assert_int_equal(machine->links[0][1].bytes_per_second, 3 * UINT64_C(26562000000));
  assert_int_equal(machine->links[0][2].nvlink_count, 2);
  assert_int_equal(machine->links[2][0].nvlink_count, 0);
  assert_int_equal(machine->links[2][0].bytes_per_second, 63015384615);
  assert_int_equal(machine->links[0][0].nvlink_count, 0);
}

TEST(test_direct_links) {
  struct nvml nvml = NVML;
  nvml.nvmlDeviceGetFieldValues = NULL; /* an old driver: speed by version */
  SCOPED(probe_free_at) struct probe *probe = probe_new(&nvml, 3);
  struct machine *machine = probe->machine;
  allow_peers(machine);
  fake.devices[0].link_types[0] = NVML_REMOTE_GPU;
  fake.devices[0].link_remotes[0] = "00000000:02:00.0";
  fake.devices[0].link_types[2] = NVML_REMOTE_GPU;
  fake.devices[0].link_remotes[2] = "00000000:02:00.0";
  fake.devices[0].link_types[3] = NVML_REMOTE_GPU;
  fake.devices[0].link_remotes[3] = "00000000:99:00.0"; /* hidden from CUDA */
  probe_gpus(probe);
  probe_links(probe);
  assert_int_equal(machine->gpus[0].nvlink_count, 3);
  assert_int_equal(machine->links[0][1].nvlink_count, 2);
  assert_int_equal(machine->links[0][2].nvlink_count, 0);
  assert_int_equal(machine->gpus[0].nvlink_bytes_per_second, 25000000000);
}

/* Without a device type: an address of no GPU is a switch, one of a hidden GPU is not. */
TEST(test_links_of_unknown_kind) {
  struct nvml nvml = NVML;
  nvml.nvmlDeviceGetNvLinkRemoteDeviceType = NULL;
  SCOPED(probe_free_at) struct probe *probe = probe_new(&nvml, 3);
  struct machine *machine = probe->machine;
  machine->gpu_count = 2; /* the third is hidden */
  allow_peers(machine);
  for (int i = 0; i < 2; i++) {
    fake.devices[i].link_types[0] = 0;
    fake.devices[i].link_remotes[0] = "00000000:c1:00.0";
    fake.devices[i].link_types[1] = 0;
    fake.devices[i].link_remotes[1] = "00000000:03:00.0";
    fake.devices[i].link_types[2] = 0;
  }
  probe_gpus(probe);
  probe_links(probe);
  assert_int_equal(machine->links[0][1].nvlink_count, 2);
  assert_int_equal(machine->gpus[0].nvlink_count, 3);
}

TEST(test_links_to_the_host) {
  SCOPED(probe_free_at) struct probe *probe = probe_new(&NVML, 2);
  fake.devices[0].c2c_links = 10; /* one of them inactive */
  fake.devices[1].link_types[0] = NVML_REMOTE_CPU;
  fake.devices[1].link_types[1] = NVML_REMOTE_CPU;
  probe_gpus(probe);
  probe_links(probe);
  assert_int_equal(probe->machine->gpus[0].c2c_bytes_per_second, 9 * UINT64_C(44712000000));
  assert_int_equal(probe->machine->gpus[1].c2c_bytes_per_second, 2 * UINT64_C(26562000000));
  assert_int_equal(probe->machine->links[0][1].nvlink_count, 0);
  probe_gpu_facts(probe);
  assert_string_equal(machine_fact(probe->machine, "c2c", 0)->value, "on");
}

static void assert_fact(const struct probe *probe, const char *name, int32_t gpu,
                        enum fact_state state, const char *value) {
  const struct fact *fact = machine_fact(probe->machine, name, gpu);
  assert_non_null(fact);
  assert_int_equal(fact->state, state);
  assert_string_equal(fact->value, value);
}

TEST(test_gpu_facts) {
  SCOPED(probe_free_at) struct probe *probe = probe_new(&NVML, 2);
  fake.devices[1].permission = NVML_NO_PERMISSION;
  fake.devices[1].c2c_links = 1;
  fake.devices[1].ecc = 0;
  fake.devices[1].mig = 1;
  fake.devices[1].application_mhz = 1200;
  probe_gpus(probe);
  probe_gpu_facts(probe);
  assert_fact(probe, "ecc", 0, FACT_OK, "on");
  assert_fact(probe, "ecc", 1, FACT_DENIED, "Insufficient Permissions");
  assert_fact(probe, "c2c", 0, FACT_OK, "none");
  assert_fact(probe, "c2c", 1, FACT_OK, "off");
  assert_fact(probe, "mig", 0, FACT_OK, "off");
  assert_fact(probe, "mig", 1, FACT_OK, "on");
  assert_fact(probe, "gpu_clocks", 0, FACT_OK, "default");
  assert_fact(probe, "gpu_clocks", 1, FACT_OK, "locked");
  assert_fact(probe, "gsp", 0, FACT_OK, "580.1");
  assert_fact(probe, "gsp", 1, FACT_OK, "off");
  assert_fact(probe, "vbios", 0, FACT_UNAVAILABLE, "this driver's NVML has no such function");
  assert_true(probe->machine->gpus[1].mig_enabled);
  assert_false(probe->machine->gpus[0].mig_enabled);
  assert_int_equal(probe->machine->gpus[0].process_count, 2);
  assert_int_equal(probe->machine->gpus[0].numa_node, 5);
#define NAME_(name, meaning) name,
  static const char *const NAMES[] = {GPU_FACT_LIST(NAME_)};
#undef NAME_
  enum { NAME_COUNT = COUNT_OF(NAMES) };
  assert_int_equal(probe->machine->fact_count, 2 * NAME_COUNT);
  for (size_t i = 0; i < 2 * NAME_COUNT; i++) {
    assert_string_equal(probe->machine->facts[i].name, NAMES[i % NAME_COUNT]);
  }
}

TEST(test_hidden_gpus_are_counted) {
  SCOPED(probe_free_at) struct probe *probe = probe_new(&NVML, 3);
  probe->machine->gpu_count = 1;
  probe_host_facts(probe);
  assert_fact(probe, "gpus_hidden", -1, FACT_OK, "2");
  fake.devices[2].handle = NVML_NO_PERMISSION; /* it was not given to this process */
  probe->machine->fact_count = 0;
  probe_host_facts(probe);
  assert_fact(probe, "gpus_hidden", -1, FACT_OK, "1");
  fake.devices[1].mig = 1; /* and has no parts */
  probe->machine->fact_count = 0;
  probe_host_facts(probe);
  assert_fact(probe, "gpus_hidden", -1, FACT_UNAVAILABLE,
              "a GPU is in MIG mode: CUDA shows parts of it");
}

TEST(test_no_nvml) {
  static const struct nvml NONE = {0};
  SCOPED(probe_free_at) struct probe *probe = probe_new(&NONE, 1);
  probe->nvml_state = FACT_DENIED;
  (void)snprintf(probe->nvml_reason, sizeof probe->nvml_reason, "not for you");
  probe->machine->node_count = 1;
  probe->machine->nodes[0].number = 3;
  probe_gpus(probe);
  probe_links(probe);
  probe_gpu_facts(probe);
  assert_fact(probe, "ecc", 0, FACT_DENIED, "not for you");
  assert_int_equal(probe->machine->gpus[0].process_count, -1);
  assert_int_equal(probe->machine->gpus[0].numa_node, 3); /* there is no other */
  assert_int_equal(probe->machine->gpus[0].nvlink_count, 0);
}

TEST(test_load) {
  struct nvml nvml;
  enum status status = nvml_load(&nvml, err);
  if (status == STATUS_OK) {
    assert_non_null(nvml.nvmlDeviceGetCount_v2);
  } else {
    assert_null(nvml.library);
    assert_string_not_equal(err->message, "");
  }
  nvml_unload(&nvml);
  nvml_unload(&nvml);
}
