/* Facts about the host and its NUMA nodes, from recorded machines: files below a root. */
#include "engine/machine/probe.h"

#include "engine/machine/facts.h"
#include "engine/machine/machine.h"
#include "tests/cmocka.h"

#include <sys/stat.h>
#include <unistd.h>

struct recorded {
  const char *path, *content; /* a content of NULL is a folder */
};

/* One machine laid out in a temporary folder, and the parts of the probe run on it. */
struct scene {
  char root[FOLDER_PATH_MAX];
  struct machine_sources sources;
  struct nvml nvml;
  struct probe *probe;
};

static void make_folders(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    (void)mkdir(path, 0700);
    *slash = '/';
  }
}

static void lay_out(const struct scene *scene, const struct recorded *files) {
  for (; files->path != NULL; files++) {
    PRINTED(path, 512, "%s%s%s", scene->root, files->path, files->content == NULL ? "/" : "");
    make_folders(path);
    if (files->content != NULL) {
      write_text(path, files->content);
    }
  }
}

static struct scene *scene_new(const struct recorded *files) {
  struct scene *scene = memory_new(1, sizeof *scene);
  folder_make(scene->root);
  lay_out(scene, files);
  scene->sources.root = scene->root;
  scene->probe = memory_new(1, sizeof *scene->probe);
  scene->probe->machine = memory_new(1, sizeof *scene->probe->machine);
  scene->probe->sources = &scene->sources;
  scene->probe->nvml = &scene->nvml;
  scene->probe->nvml_state = FACT_UNAVAILABLE;
  (void)snprintf(scene->probe->nvml_reason, sizeof scene->probe->nvml_reason, "no NVML");
  return scene;
}

static void look(struct scene *scene) {
  probe_topology(scene->probe);
  probe_host_facts(scene->probe);
}

static void scene_free(struct scene *scene) {
  folder_remove(scene->root);
  free(scene->probe->machine);
  free(scene->probe);
  free(scene);
}
RELEASE(scene_free, struct scene)

static void assert_fact(const struct scene *scene, const char *name, enum fact_state state,
                        const char *value) {
  const struct fact *fact = machine_fact(scene->probe->machine, name, -1);
  assert_non_null(fact);
  if (fact->state != state || strstr(fact->value, value) == NULL ||
      (state == FACT_OK && strcmp(fact->value, value) != 0)) {
    fail_msg("%s is %s \"%s\", expected %s \"%s\"", name, fact_state_text(fact->state), fact->value,
             fact_state_text(state), value);
  }
}

static const struct recorded XEON[] = {
    {"/proc/driver/nvidia/version",
     "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n"
     "GCC version:  gcc version 13.3.0\n"},
    {"/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 143\n"
                      "model name\t: Intel(R) Xeon(R) Platinum 8480C\nmicrocode\t: 0x2b000639\n"
                      "flags\t\t: fpu vme de pse tsc\n\nprocessor\t: 1\n"},
    {"/proc/cmdline", "root=/dev/md0 ro iommu=pt\n"},
    {"/proc/sys/kernel/osrelease", "6.8.0-85-generic\n"},
    {"/proc/sys/kernel/random/boot_id", "7d0b4b0e-3c61-4f0e-9a55-5f1f1c1d2e3f\n"},
    {"/proc/sys/kernel/numa_balancing", "2\n"},
    {"/proc/self/limits", "Limit                     Soft Limit  Hard Limit  Units\n"
                          "Max open files            1024        1048576     files\n"
                          "Max locked memory         8388608     unlimited   bytes\n"},
    {"/proc/1/cgroup", "0::/init.scope\n"},
    {"/etc/os-release", "NAME=\"Ubuntu\"\nPRETTY_NAME=\"Ubuntu 24.04.3 LTS\"\nID=ubuntu\n"},
    {"/sys/class/dmi/id/sys_vendor", "Supermicro\n"},
    {"/sys/devices/system/cpu/online", "0-7\n"},
    {"/sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n"},
    {"/sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "performance\n"},
    {"/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"},
    {"/sys/devices/system/cpu/smt/active", "1\n"},
    {"/sys/devices/system/cpu/cpu0/cache/index0/level", "1\n"},
    {"/sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n"},
    {"/sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n"},
    {"/sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list", "0\n"},
    {"/sys/devices/system/cpu/cpu0/cache/index1/level", "3\n"},
    {"/sys/devices/system/cpu/cpu0/cache/index1/type", "Unified\n"},
    {"/sys/devices/system/cpu/cpu0/cache/index1/size", "107520K\n"},
    {"/sys/devices/system/cpu/cpu0/cache/index1/shared_cpu_list", "0-3\n"},
    {"/sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n"},
    {"/sys/devices/system/cpu/cpu1/topology/physical_package_id", "1\n"},
    {"/sys/bus/event_source/devices/uncore_upi_0/type", "63\n"},
    {"/sys/bus/event_source/devices/uncore_upi_1/type", "64\n"},
    {"/sys/devices/system/edac/mc/mc0/dimm0/dimm_location", "channel 0 slot 0\n"},
    {"/sys/devices/system/edac/mc/mc0/dimm0/size", "32768\n"},
    {"/sys/devices/system/edac/mc/mc0/dimm1/dimm_location", "channel 0 slot 1\n"},
    {"/sys/devices/system/edac/mc/mc0/dimm1/size", "32768\n"},
    {"/sys/devices/system/edac/mc/mc1/dimm0/dimm_location", "channel 0 slot 0\n"},
    {"/sys/devices/system/edac/mc/mc1/dimm0/size", "32768\n"},
    {"/sys/devices/system/edac/mc/mc1/dimm2/dimm_location", "channel 1 slot 0\n"},
    {"/sys/devices/system/edac/mc/mc1/dimm2/size", "0\n"},
    {"/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"},
    {"/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "512\n"},
    {"/sys/kernel/iommu_groups/0/type", "identity\n"},
    {"/sys/kernel/iommu_groups/10/type", "identity\n"},
    {"/sys/bus/pci/devices/0000:00:02.0/vendor", "0x8086\n"},
    {"/sys/bus/pci/devices/0000:00:02.0/class", "0x030000\n"},
    {"/sys/bus/pci/devices/0000:05:00.0/vendor", "0x10de\n"},
    {"/sys/bus/pci/devices/0000:05:00.0/class", "0x068000\n"},
    {"/sys/bus/pci/devices/0000:06:00.0/vendor", "0x10de\n"},
    {"/sys/bus/pci/devices/0000:06:00.0/class", "0x030200\n"},
    {"/sys/bus/pci/devices/0000:07:00.0/vendor", "0x10de\n"},
    {"/sys/bus/pci/devices/0000:07:00.0/class", "0x030200\n"},
    {"/sys/devices/system/node/online", "0-1\n"},
    {"/sys/devices/system/node/node0/cpulist", "0-3\n"},
    {"/sys/devices/system/node/node0/distance", "10 21\n"},
    {"/sys/devices/system/node/node0/meminfo",
     "Node 0 MemTotal:       1000 kB\nNode 0 MemFree:         600 kB\n"},
    {"/sys/devices/system/node/node1/cpulist", "4-7\n"},
    {"/sys/devices/system/node/node1/distance", "21 10\n"},
    {"/sys/devices/system/node/node1/meminfo",
     "Node 1 MemTotal:       2000 kB\nNode 1 MemFree:         400 kB\n"
     "Node 1 Active(file):    100 kB\nNode 1 Inactive(file):  150 kB\n"
     "Node 1 SReclaimable:     50 kB\n"},
    {NULL, NULL},
};

/* A structure of type 17 of 0x22 bytes: data width, size, type, speed and configured speed. */
static size_t put_module(unsigned char *at, unsigned size, unsigned char type, unsigned speed) {
  memset(at, 0, 0x22 + 4);
  at[0] = 17;
  at[1] = 0x22;
  at[0x0a] = 64;
  at[0x0c] = (unsigned char)size;
  at[0x0d] = (unsigned char)(size >> 8);
  at[0x12] = type;
  at[0x20] = (unsigned char)speed;
  at[0x21] = (unsigned char)(speed >> 8);
  memcpy(at + 0x22, "A1", 3); /* a text, and two zeros */
  return 0x22 + 4;
}

/* Another structure, four slots of which one is empty, the end. length: cut there; 0 = whole. */
static void lay_out_smbios(const struct scene *scene, unsigned speed, size_t length) {
  unsigned char table[512] = {1, 4, 0, 0, 0, 0};
  size_t size = 6;
  for (unsigned i = 0; i < 4; i++) {
    size += put_module(table + size, i == 2 ? 0 : 0x7fff, 0x22, i == 3 ? speed : speed + 800);
  }
  memcpy(table + size, (unsigned char[]){127, 4, 0, 0, 0, 0}, 6);
  PRINTED(path, 512, "%s/sys/firmware/dmi/tables/DMI", scene->root);
  make_folders(path);
  bytes_write(path, (struct bytes){(char *)table, length > 0 ? length : size + 6});
}

/* Modules without a speed, and a table that is cut in the second of them. */
TEST(test_memory_of_a_virtual_machine) {
  struct scene *scene = scene_new(XEON);
  lay_out_smbios(scene, 0, 0);
  look(scene);
  assert_fact(scene, "memory_modules", FACT_OK, "3 x DDR5");
  assert_fact(scene, "memory_peak", FACT_UNAVAILABLE, "does not say how fast");
  scene_free(scene);
  scene = scene_new(XEON);
  lay_out_smbios(scene, 4800, 6 + 0x22 + 4 + 0x10);
  look(scene);
  assert_fact(scene, "memory_modules", FACT_OK, "1 x DDR5 at 5600 MT/s");
  scene_free(scene);
}

TEST(test_a_server) {
  SCOPED(scene_free_at) struct scene *scene = scene_new(XEON);
  lay_out_smbios(scene, 4800, 0);
  (void)snprintf(scene->probe->driver_version, MACHINE_TEXT_MAX, "580.95.05");
  scene->probe->machine->driver_cuda_version = 12080;
  scene->sources.page_bytes = 65536;
  scene->sources.numa_policy_asked = true;
  look(scene);
  assert_fact(scene, "driver_version", FACT_OK, "580.95.05");
  assert_fact(scene, "driver_branch", FACT_OK, "r580");
  assert_fact(scene, "kernel_module", FACT_OK, "open");
  assert_fact(scene, "cuda_driver_version", FACT_OK, "12.8");
  assert_fact(scene, "kernel", FACT_OK, "6.8.0-85-generic");
  assert_fact(scene, "boot_id", FACT_OK, "7d0b4b0e-3c61-4f0e-9a55-5f1f1c1d2e3f");
  assert_fact(scene, "os", FACT_OK, "Ubuntu 24.04.3 LTS");
  assert_fact(scene, "cpu_model", FACT_OK, "Intel(R) Xeon(R) Platinum 8480C");
  assert_fact(scene, "cpu_count", FACT_OK, "8");
  assert_fact(scene, "microcode", FACT_OK, "0x2b000639");
  assert_fact(scene, "hypervisor", FACT_OK, "none");
  assert_fact(scene, "governor", FACT_OK, "performance");
  assert_fact(scene, "turbo", FACT_OK, "on");
  assert_fact(scene, "numa_balancing", FACT_OK, "on");
  assert_fact(scene, "huge_pages", FACT_OK, "madvise");
  assert_fact(scene, "huge_pages_reserved", FACT_OK, "512");
  assert_fact(scene, "iommu", FACT_OK, "passthrough");
  assert_fact(scene, "kernel_command_line", FACT_OK, "root=/dev/md0 ro iommu=pt");
  assert_fact(scene, "memlock_limit", FACT_OK, "8388608");
  assert_fact(scene, "container", FACT_OK, "none");
  assert_fact(scene, "gpus_hidden", FACT_UNAVAILABLE, "no NVML");
  assert_fact(scene, "smt", FACT_OK, "on");
  assert_fact(scene, "page_size", FACT_OK, "65536");
  assert_fact(scene, "numa_policy", FACT_OK, "refused");
  assert_fact(scene, "confidential_compute", FACT_UNAVAILABLE, "no NVML");
  assert_fact(scene, "gpus_lost", FACT_OK, "0"); /* no driver has them */
  assert_fact(scene, "cpu_caches", FACT_OK, "L1d 48 KiB, L3 105 MiB shared by 4 processors");
  assert_fact(scene, "memory_modules", FACT_OK, "3 x DDR5 at 4800 MT/s");
  assert_fact(scene, "memory_peak", FACT_OK, "76800000000"); /* two channels */
  assert_fact(scene, "socket_links", FACT_OK, "2 UPI, of a rate that is not known");
  const struct machine *machine = scene->probe->machine;
  assert_int_equal(machine->node_count, 2);
  assert_int_equal(machine->nodes[1].number, 1);
  assert_int_equal(machine->nodes[1].cpu_count, 4);
  assert_int_equal(machine->nodes[1].memory_bytes, 2000 * 1024);
  assert_int_equal(machine->nodes[1].free_memory_bytes, 700 * 1024);
  assert_int_equal(machine->node_distance[0][1], 21);
  assert_int_equal(machine->node_distance[1][1], 10);
}

/* A job that was given the first of two GPUs, and the drivers that those may have. */
TEST(test_gpus_that_do_not_answer) {
  static const struct {
    const char *drivers[2]; /* NULL = none */
    const char *lost;
  } cases[] = {
      {{"nvidia", "nvidia"}, "1"},
      {{"nouveau", "nvidia"}, "0"},
      {{"vfio-pci", NULL}, "0"},
      {{NULL, NULL}, "0"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    SCOPED(scene_free_at) struct scene *scene = scene_new(XEON);
    lay_out(scene, (struct recorded[]){
                       {"/proc/driver/nvidia/gpus/0000:06:00.0/information",
                        "Model: \t\t NVIDIA H100\nDevice Minor: \t 0\n"},
                       {"/proc/driver/nvidia/gpus/0000:07:00.0/information",
                        "Model: \t\t NVIDIA H100\nDevice Minor: \t 1\n"},
                       {"/dev/nvidia0", ""},
                       {NULL, NULL},
                   });
    for (unsigned k = 0; k < 2; k++) {
      char target[64];
      char path[512];
      if (cases[i].drivers[k] != NULL) {
        (void)snprintf(target, sizeof target, "../drivers/%s", cases[i].drivers[k]);
        (void)snprintf(path, sizeof path, "%s/sys/bus/pci/devices/0000:%02u:00.0/driver",
                       scene->root, 6 + k);
        assert_int_equal(symlink(target, path), 0);
      }
    }
    look(scene);
    assert_fact(scene, "gpus_lost", FACT_OK, cases[i].lost);
  }
}

/* A container or chroot without sysfs. */
static const struct recorded NO_SYSFS[] = {
    {"/proc/cpuinfo", "processor\t: 0\nmodel name\t: any\n\nprocessor\t: 1\nmodel name\t: any\n"},
    {"/proc/meminfo", "MemTotal:       4000 kB\nMemFree:        1000 kB\nActive(file):   500 kB\n"},
    {NULL, NULL},
};

/* 512 processors of which every other one is on the second socket; the first two and cpu4 are
 * offline, which the kernel tells nothing of. */
TEST(test_many_processors) {
  char list[SOURCES_LIST_MAX] = "";
  size_t length = 0;
  SCOPED(scene_free_at) struct scene *scene = scene_new(NO_SYSFS);
  for (unsigned cpu = 0; cpu < 512; cpu++) {
    PRINTED(path, 64, "/sys/devices/system/cpu/cpu%u/topology/%s", cpu,
            cpu < 2 || cpu == 4 ? "../uevent" : "physical_package_id");
    lay_out(scene, (struct recorded[]){{path, cpu % 2 == 0 ? "0\n" : "1\n"}, {NULL, NULL}});
    if (cpu % 2 == 0) {
      length +=
          (size_t)snprintf(list + length, sizeof list - length, "%s%u", length > 0 ? "," : "", cpu);
    }
  }
  lay_out(scene,
          (struct recorded[]){{"/sys/devices/system/cpu/cpu0/cache/index0/level", "3"},
                              {"/sys/devices/system/cpu/cpu0/cache/index0/type", "Unified"},
                              {"/sys/devices/system/cpu/cpu0/cache/index0/size", "107520K"},
                              {"/sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list", list},
                              {"/sys/devices/system/cpu/cpufreq", NULL},
                              {NULL, NULL}});
  look(scene);
  assert_fact(scene, "cpu_caches", FACT_OK, "L3 105 MiB shared by 256 processors");
  assert_fact(scene, "socket_links", FACT_UNAVAILABLE, "what joins the sockets");
}

TEST(test_without_sysfs_there_is_one_node) {
  SCOPED(scene_free_at) struct scene *scene = scene_new(NO_SYSFS);
  look(scene);
  const struct machine *machine = scene->probe->machine;
  assert_int_equal(machine->node_count, 1);
  assert_int_equal(machine->nodes[0].cpu_count, 2);
  assert_int_equal(machine->nodes[0].memory_bytes, 4000 * 1024);
  assert_int_equal(machine->nodes[0].free_memory_bytes, 1500 * 1024);
  assert_fact(scene, "cpu_caches", FACT_UNAVAILABLE, "does not say");
  assert_fact(scene, "memory_modules", FACT_UNAVAILABLE, "dmi/tables/DMI: No such file");
  assert_fact(scene, "memory_peak", FACT_UNAVAILABLE, "dmi/tables/DMI: No such file");
  assert_fact(scene, "socket_links", FACT_UNAVAILABLE, "which sockets there are");
}

/* A virtual machine that gets its memory as it uses it, and a process held to one node of two. */
TEST(test_memory_of_the_only_node) {
  const struct {
    const char *online, *memory;
    uint64_t total_kib, free_kib;
  } cases[] = {
      {"0", "MemTotal: 9000 kB\nMemFree: 50 kB\nMemAvailable: 8000 kB\n", 9000, 8000},
      {"0", "MemTotal: 900 kB\nMemFree: 50 kB\nMemAvailable: 80 kB\n", 1000, 600},
      {"0-1", "MemTotal: 9000 kB\nMemFree: 50 kB\nMemAvailable: 8000 kB\n", 1000, 600},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    SCOPED(scene_free_at)
    struct scene *scene = scene_new((struct recorded[]){
        {"/proc/meminfo", cases[i].memory},
        {"/proc/self/status", "Mems_allowed_list:\t0\nCpus_allowed_list:\t0-3\n"},
        {"/sys/devices/system/node/online", cases[i].online},
        {"/sys/devices/system/node/node0/cpulist", "0-3\n"},
        {"/sys/devices/system/node/node0/meminfo",
         "Node 0 MemTotal:       1000 kB\nNode 0 MemFree:         600 kB\n"},
        {NULL, NULL}});
    look(scene);
    const struct machine *machine = scene->probe->machine;
    assert_int_equal(machine->node_count, 1);
    assert_int_equal(machine->nodes[0].memory_bytes, cases[i].total_kib * 1024);
    assert_int_equal(machine->nodes[0].free_memory_bytes, cases[i].free_kib * 1024);
  }
}

/* The configuration of a bridge: an extended capability of another kind, then ACS at 0x220 with
 * that control register; cut at length, as a kernel does for users who are not root. */
static void lay_out_bridge(const struct scene *scene, const char *address, unsigned char control,
                           size_t length) {
  unsigned char config[4096] = {0};
  memcpy(config + 0x100, (unsigned char[]){0x01, 0x00, 0x02, 0x22}, 4); /* next: 0x220 */
  memcpy(config + 0x220, (unsigned char[]){0x0d, 0x00, 0x01, 0x00}, 4);
  config[0x226] = control;
  PRINTED(path, 512, "%s/sys/bus/pci/devices/%s/config", scene->root, address);
  make_folders(path);
  bytes_write(path, (struct bytes){(char *)config, length});
}

static void assert_gpu_fact(const struct scene *scene, const char *name, int32_t gpu,
                            enum fact_state state, const char *value) {
  const struct fact *fact = machine_fact(scene->probe->machine, name, gpu);
  assert_non_null(fact);
  assert_int_equal(fact->state, state);
  assert_string_equal(fact->value, value);
}

TEST(test_bridges_above_gpus) {
  static const char *const TARGETS[] = {
      "../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0",
      "../../../devices/pci0000:00/0000:00:02.0/0000:03:00.0",
      "../../../devices/pci0000:00/0000:00:03.0/0000:04:00.0",
      "../../../devices/pci0000:05/0000:05:00.0",
  };
  static const struct recorded FOLDER[] = {{"/sys/bus/pci/devices", NULL}, {NULL, NULL}};
  SCOPED(scene_free_at) struct scene *scene = scene_new(FOLDER);
  struct machine *machine = scene->probe->machine;
  machine->gpu_count = COUNT_OF(TARGETS);
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    (void)snprintf(machine->gpus[i].pci_address, 16, "%s", strrchr(TARGETS[i], '/') + 1);
    PRINTED(path, 512, "%s/sys/bus/pci/devices/%s", scene->root, machine->gpus[i].pci_address);
    assert_int_equal(symlink(TARGETS[i], path), 0);
    machine->gpus[i].memory_node = i < 3 ? -1 : 17;
  }
  lay_out_bridge(scene, "0000:00:01.0", 0x10, 4096); /* upstream forwarding alone */
  lay_out_bridge(scene, "0000:01:00.0", 0x1d, 4096);
  lay_out_bridge(scene, "0000:00:02.0", 0x01, 4096);
  lay_out_bridge(scene, "0000:00:03.0", 0x1d, 256);
  probe_gpu_facts(scene->probe);
  assert_gpu_fact(scene, "pcie_path", 0, FACT_OK, "0000:00:01.0 0000:01:00.0");
  assert_gpu_fact(scene, "acs", 0, FACT_OK, "redirects at 0000:01:00.0");
  assert_gpu_fact(scene, "acs", 1, FACT_OK, "off");
  assert_gpu_fact(scene, "acs", 2, FACT_DENIED,
                  "only root reads all of /sys/bus/pci/devices/0000:00:03.0/config");
  assert_gpu_fact(scene, "pcie_path", 3, FACT_OK, "none");
  assert_gpu_fact(scene, "acs", 3, FACT_OK, "off");
  assert_gpu_fact(scene, "fabric", 3, FACT_UNAVAILABLE, "no NVML");
  assert_gpu_fact(scene, "memory_node", 0, FACT_OK, "none");
  assert_gpu_fact(scene, "memory_node", 3, FACT_OK, "17");
}

/* What the header promises: every fact, once, in the order of the list. */
TEST(test_every_fact_in_order) {
#define NAME_(name, meaning) name,
  static const char *const NAMES[] = {HOST_FACT_LIST(NAME_)};
#undef NAME_
  static const struct recorded NOTHING[] = {{NULL, NULL}};
  SCOPED(scene_free_at) struct scene *scene = scene_new(NOTHING);
  look(scene);
  assert_int_equal(scene->probe->machine->fact_count, COUNT_OF(NAMES));
  for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
    const struct fact *fact = &scene->probe->machine->facts[i];
    assert_string_equal(fact->name, NAMES[i]);
    assert_int_equal(fact->gpu, -1);
    assert_string_not_equal(fact->value, "");
    /* Of nothing but an IOMMU can an empty tree say that there is none. */
    assert_true(fact->state == FACT_UNAVAILABLE || strcmp(fact->name, "iommu") == 0);
  }
  assert_int_equal(scene->probe->machine->node_count, 1);
}

TEST(test_a_grace_hopper) {
  static const struct recorded FILES[] = {
      {"/proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 2000.00\nCPU implementer\t: 0x41\n"
                        "CPU architecture: 8\nCPU part\t: 0xd4f\n"},
      {"/proc/cmdline", "iommu.passthrough=1"},
      {"/sys/class/dmi/id/sys_vendor", "NVIDIA"},
      {"/sys/class/dmi/id/product_name", "P3880"},
      {"/sys/kernel/iommu_groups/0/type", "auto"},
      {"/sys/devices/system/cpu/online", "0-71"},
      {"/sys/devices/system/node/online", "0-3"},
      {"/sys/devices/system/node/node0/cpulist", "0-71"},
      {"/sys/devices/system/node/node0/distance", "10 80 80 80"},
      {"/sys/devices/system/node/node0/meminfo", "Node 0 MemTotal: 4000 kB"},
      {"/sys/devices/system/node/node2/cpulist", ""},
      {"/sys/devices/system/node/node2/distance", "80 255 10 255"},
      {"/sys/devices/system/node/node2/meminfo", "Node 2 MemTotal: 900 kB"},
      {"/sys/devices/system/node/node1/meminfo", "Node 1 MemTotal: 0 kB"},
      {NULL, NULL}};
  SCOPED(scene_free_at) struct scene *scene = scene_new(FILES);
  look(scene);
  assert_fact(scene, "cpu_model", FACT_OK, "Arm Neoverse V2");
  assert_fact(scene, "microcode", FACT_UNAVAILABLE, "");
  assert_fact(scene, "hypervisor", FACT_OK, "none");
  assert_fact(scene, "iommu", FACT_OK, "passthrough");
  const struct machine *machine = scene->probe->machine;
  assert_int_equal(machine->node_count, 2); /* nodes 1 and 3 are empty */
  assert_int_equal(machine->nodes[1].number, 2);
  assert_int_equal(machine->nodes[1].cpu_count, 0);
  assert_int_equal(machine->node_distance[0][1], 80);
  assert_int_equal(machine->node_distance[1][0], 80);
  assert_int_equal(machine->node_distance[1][1], 10);
}

TEST(test_a_power9) {
  static const struct recorded FILES[] = {
      {"/proc/cpuinfo", "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 3800MHz\n"
                        "revision\t: 2.3 (pvr 004e 1203)\n\nplatform\t: PowerNV\n"},
      {"/sys/devices/system/cpu/online", "0,4,8-11"},
      {NULL, NULL}};
  SCOPED(scene_free_at) struct scene *scene = scene_new(FILES);
  look(scene);
  assert_fact(scene, "cpu_model", FACT_OK, "POWER9, altivec supported");
  assert_fact(scene, "cpu_count", FACT_OK, "6");
  assert_fact(scene, "hypervisor", FACT_OK, "none");
}

TEST(test_a_container_in_a_virtual_machine) {
  static const struct recorded FILES[] = {
      {"/proc/cpuinfo", "model name : AMD EPYC 9654\nflags : fpu hypervisor lahf_lm\n"},
      {"/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05"},
      {"/proc/self/status", "Name:\thaul\nCpus_allowed_list:\t0-1\nMems_allowed_list:\t1\n"},
      {"/.dockerenv", ""},
      {"/sys/class/dmi/id/sys_vendor", "QEMU"},
      {"/sys/devices/system/cpu/cpufreq/boost", "0"},
      {"/sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance"},
      {"/sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "powersave"},
      {"/sys/kernel/iommu_groups/0/type", "DMA-FQ"},
      {"/sys/devices/system/node/online", "0-1"},
      {"/sys/devices/system/node/node0/cpulist", "0-3"},
      {"/sys/devices/system/node/node0/meminfo", "Node 0 MemTotal: 1 kB"},
      {"/sys/devices/system/node/node1/cpulist", "1,4-7"},
      {"/sys/devices/system/node/node1/meminfo", "Node 1 MemTotal: 1 kB"},
      {NULL, NULL}};
  SCOPED(scene_free_at) struct scene *scene = scene_new(FILES);
  look(scene);
  assert_fact(scene, "kernel_module", FACT_OK, "proprietary");
  assert_fact(scene, "hypervisor", FACT_OK, "QEMU");
  assert_fact(scene, "container", FACT_OK, "docker");
  assert_fact(scene, "turbo", FACT_OK, "off");
  assert_fact(scene, "governor", FACT_OK, "mixed");
  assert_fact(scene, "iommu", FACT_OK, "translated");
  assert_fact(scene, "numa_balancing", FACT_UNAVAILABLE, "No such file");
  /* A node whose memory is not for this process is not there; its processors are counted as far as
   * they may be used. */
  assert_int_equal(scene->probe->machine->node_count, 1);
  assert_int_equal(scene->probe->machine->nodes[0].number, 1);
  assert_int_equal(scene->probe->machine->nodes[0].cpu_count, 1);
}

TEST(test_a_processor_that_names_its_hypervisor) {
  static const struct recorded FILES[] = {{"/proc/cpuinfo", "flags : fpu hypervisor"},
                                          {NULL, NULL}};
  SCOPED(scene_free_at) struct scene *scene = scene_new(FILES);
  (void)snprintf(scene->sources.hypervisor_signature, 16, "Microsoft Hv");
  look(scene);
  assert_fact(scene, "hypervisor", FACT_OK, "Hyper-V");
}

TEST(test_gpus_own_iommu_groups_count) {
  static const struct recorded FILES[] = {
      {"/sys/kernel/iommu_groups/0/type", "DMA"},
      {"/sys/kernel/iommu_groups/1/type", "identity"},
      {"/sys/bus/pci/devices/0000:06:00.0/iommu_group/type", "identity"},
      {NULL, NULL}};
  SCOPED(scene_free_at) struct scene *scene = scene_new(FILES);
  scene->probe->machine->gpu_count = 1;
  (void)snprintf(scene->probe->machine->gpus[0].pci_address, 16, "0000:06:00.0");
  look(scene);
  assert_fact(scene, "iommu", FACT_OK, "passthrough");
  scene->probe->machine->gpu_count = 0;
  scene->probe->machine->fact_count = 0;
  look(scene);
  assert_fact(scene, "iommu", FACT_OK, "mixed: 1 passthrough, 1 translated");
}

/* Root reads everything: this needs a user. */
TEST(test_denied_is_not_unavailable) {
  if (geteuid() == 0) {
    skip();
  }
  static const struct recorded FILES[] = {{"/proc/cmdline", "quiet"}, {NULL, NULL}};
  SCOPED(scene_free_at) struct scene *scene = scene_new(FILES);
  PRINTED(path, 128, "%s/proc/cmdline", scene->root);
  assert_int_equal(chmod(path, 0), 0);
  look(scene);
  assert_fact(scene, "kernel_command_line", FACT_DENIED, "/proc/cmdline: Permission denied");
}

TEST(test_lists) {
  static bool set[SOURCES_SET_MAX];
  assert_int_equal(sources_parse_list("0-3,8", set), 5);
  assert_true(set[3] && set[8] && !set[4]);
  assert_int_equal(sources_parse_list("", set), 0);
  assert_int_equal(sources_parse_list("4090-99999999999", set), 6);
  assert_int_equal(sources_parse_list("2,2,2", set), 1);
  assert_int_equal(sources_parse_list("junk", set), 0);
}

/* The real machine: whatever it is, the probe answers and every fact has a state. */
TEST(test_this_machine) {
  SCOPED(memory_free) struct machine *machine = memory_new(1, sizeof *machine);
  assert_ok(machine_probe(machine, err), err);
  assert_true(machine->node_count >= 1);
  assert_true(machine->nodes[0].memory_bytes > 0);
  assert_string_equal(machine->source, "probe");
  assert_string_not_equal(machine->cuda_state, "");
  assert_int_equal(machine_fact(machine, "kernel", -1)->state, FACT_OK);
  assert_int_equal(machine_fact(machine, "memlock_limit", -1)->state, FACT_OK);
}
