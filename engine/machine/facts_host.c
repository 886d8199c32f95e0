/* HOST_FACT_LIST: one function per fact, one table. */
#include "engine/base/macros.h"
#include "engine/machine/probe.h"

#include "engine/machine/machine.h"

#include <stdio.h>
#include <stdlib.h>

/* Answers one fact: adds exactly one to the machine. */
typedef void (*host_fact_function)(struct probe *probe, const char *name);

static void host_fact_add(struct probe *probe, const char *name, enum fact_state state,
                          const char *value) {
  machine_add_fact(probe->machine, name, -1, state, "%s", value);
}

/* The whole content of a file is the answer. */
static void add_file(struct probe *probe, const char *name, const char *path) {
  char text[FACT_VALUE_MAX * 2];
  enum fact_state state = sources_read(probe->sources, text, sizeof text, "%s", path);
  host_fact_add(probe, name, state, text);
}

static void host_fact_add_on_off(struct probe *probe, const char *name, bool on) {
  host_fact_add(probe, name, FACT_OK, on ? "on" : "off");
}

/* ---- the driver ---- */

static void driver_version(struct probe *probe, const char *name) {
  if (probe->driver_version[0] != '\0') {
    host_fact_add(probe, name, FACT_OK, probe->driver_version);
  } else {
    host_fact_add(probe, name, probe->nvml_state, probe->nvml_reason);
  }
}

static void driver_branch(struct probe *probe, const char *name) {
  unsigned branch;
  if (sscanf(probe->driver_version, "%u", &branch) == 1) {
    machine_add_fact(probe->machine, name, -1, FACT_OK, "r%u", branch);
  } else {
    host_fact_add(probe, name, FACT_UNAVAILABLE, "the driver version is not known");
  }
}

static void kernel_module(struct probe *probe, const char *name) {
  char text[FACT_VALUE_MAX];
  enum fact_state state =
      sources_read(probe->sources, text, sizeof text, "/proc/driver/nvidia/version");
  if (state != FACT_OK) {
    host_fact_add(probe, name, state, text);
  } else {
    host_fact_add(probe, name, FACT_OK,
                  strstr(text, "Open Kernel Module") != NULL ? "open" : "proprietary");
  }
}

static void cuda_driver_version(struct probe *probe, const char *name) {
  int version = probe->machine->driver_cuda_version;
  if (version == 0) {
    host_fact_add(probe, name, FACT_UNAVAILABLE, "there is no CUDA driver");
    return;
  }
  machine_add_fact(probe->machine, name, -1, FACT_OK, "%d.%d", version / 1000, version % 1000 / 10);
}

/* ---- the operating system ---- */

static void kernel(struct probe *probe, const char *name) {
  add_file(probe, name, "/proc/sys/kernel/osrelease");
}

static void boot_id(struct probe *probe, const char *name) {
  add_file(probe, name, "/proc/sys/kernel/random/boot_id");
}

static void os(struct probe *probe, const char *name) {
  char text[4096];
  char value[FACT_VALUE_MAX];
  enum fact_state state = sources_read(probe->sources, text, sizeof text, "/etc/os-release");
  if (state != FACT_OK) {
    state = sources_read(probe->sources, text, sizeof text, "/usr/lib/os-release");
  }
  if (state == FACT_OK && sources_find_value(text, "PRETTY_NAME", '=', value, sizeof value)) {
    host_fact_add(probe, name, FACT_OK, value);
  } else {
    host_fact_add(probe, name, state == FACT_OK ? FACT_UNAVAILABLE : state,
                  state == FACT_OK ? "os-release has no PRETTY_NAME" : text);
  }
}

static void kernel_command_line(struct probe *probe, const char *name) {
  add_file(probe, name, "/proc/cmdline");
}

/* "Max locked memory   8388608   8388608   bytes": the soft limit. */
static void memlock_limit(struct probe *probe, const char *name) {
  static const char KEY[] = "Max locked memory";
  char text[4096];
  enum fact_state state = sources_read(probe->sources, text, sizeof text, "/proc/self/limits");
  if (state != FACT_OK) {
    host_fact_add(probe, name, state, text);
    return;
  }
  const char *line = strstr(text, KEY);
  char soft[32];
  if (line == NULL || sscanf(line + strlen(KEY), "%31s", soft) != 1) {
    host_fact_add(probe, name, FACT_UNAVAILABLE, "/proc/self/limits has no such line");
  } else {
    host_fact_add(probe, name, FACT_OK, soft);
  }
}

static bool first_line_with(const char *text, const char *const *words, const char **found) {
  for (; *words != NULL; words++) {
    if (strstr(text, *words) != NULL) {
      *found = *words;
      return true;
    }
  }
  return false;
}

/* Kinds that leave a mark in the file system first, then what control groups are called. */
static void container(struct probe *probe, const char *name) {
  static const struct {
    const char *path, *kind;
  } MARKS[] = {{"/var/run/secrets/kubernetes.io", "kubernetes"},
               {"/run/.containerenv", "podman"},
               {"/.dockerenv", "docker"},
               {"/.singularity.d", "apptainer"}};
  static const char *const GROUPS[] = {"kubepods", "libpod", "docker", "containerd", "lxc", NULL};
  for (size_t i = 0; i < COUNT_OF(MARKS); i++) {
    if (sources_exists(probe->sources, MARKS[i].path)) {
      host_fact_add(probe, name, FACT_OK, MARKS[i].kind);
      return;
    }
  }
  char text[4096];
  /* systemd's container interface: the manager writes what it found there. */
  if (sources_read(probe->sources, text, sizeof text, "/run/systemd/container") == FACT_OK &&
      text[0] != '\0') {
    host_fact_add(probe, name, FACT_OK, text);
    return;
  }
  const char *group = NULL;
  enum fact_state state = sources_read(probe->sources, text, sizeof text, "/proc/1/cgroup");
  if (state == FACT_OK) {
    host_fact_add(probe, name, FACT_OK, first_line_with(text, GROUPS, &group) ? group : "none");
  } else {
    host_fact_add(probe, name, state, text);
  }
}

/* ---- the processors ---- */

/* "CPU implementer" and "CPU part" of aarch64 ("Main ID Register" in each core's Technical
 * Reference Manual), for cores that stand beside data-centre GPUs. */
static const char *arm_core_name(unsigned long implementer, unsigned long part) {
  static const struct {
    unsigned long implementer, part;
    const char *name;
  } CORES[] = {{0x41, 0xd0c, "Arm Neoverse N1"},   {0x41, 0xd40, "Arm Neoverse V1"},
               {0x41, 0xd49, "Arm Neoverse N2"},   {0x41, 0xd4f, "Arm Neoverse V2"},
               {0x41, 0xd83, "Arm Neoverse V3AE"}, {0x41, 0xd84, "Arm Neoverse V3"},
               {0x41, 0xd8e, "Arm Neoverse N3"},   {0xc0, 0xac3, "Ampere-1"},
               {0xc0, 0xac4, "Ampere-1A"}};
  for (size_t i = 0; i < COUNT_OF(CORES); i++) {
    if (CORES[i].implementer == implementer && CORES[i].part == part) {
      return CORES[i].name;
    }
  }
  return NULL;
}

static void cpu_model(struct probe *probe, const char *name) {
  char value[MACHINE_TEXT_MAX];
  char part[MACHINE_TEXT_MAX];
  const char *info = probe->cpuinfo;
  if (sources_find_value(info, "model name", ':', value, sizeof value) || /* x86 */
      sources_find_value(info, "cpu", ':', value, sizeof value)) {        /* POWER */
    host_fact_add(probe, name, FACT_OK, value);
  } else if (sources_find_value(info, "CPU implementer", ':', value, sizeof value) &&
             sources_find_value(info, "CPU part", ':', part, sizeof part)) {
    const char *core = arm_core_name(strtoul(value, NULL, 0), strtoul(part, NULL, 0));
    if (core != NULL) {
      host_fact_add(probe, name, FACT_OK, core);
    } else {
      machine_add_fact(probe->machine, name, -1, FACT_OK, "implementer %s part %s", value, part);
    }
  } else {
    host_fact_add(probe, name, FACT_UNAVAILABLE, "/proc/cpuinfo names no model");
  }
}

static void cpu_count(struct probe *probe, const char *name) {
  char text[4096];
  bool set[SOURCES_SET_MAX];
  enum fact_state state =
      sources_read(probe->sources, text, sizeof text, "/sys/devices/system/cpu/online");
  if (state == FACT_OK) {
    machine_add_fact(probe->machine, name, -1, FACT_OK, "%zu", sources_parse_list(text, set));
  } else {
    host_fact_add(probe, name, state, text);
  }
}

static void microcode(struct probe *probe, const char *name) {
  char value[MACHINE_TEXT_MAX];
  if (sources_find_value(probe->cpuinfo, "microcode", ':', value, sizeof value)) {
    host_fact_add(probe, name, FACT_OK, value);
  } else {
    host_fact_add(probe, name, FACT_UNAVAILABLE, "/proc/cpuinfo names no microcode");
  }
}

struct governors {
  struct probe *probe;
  enum fact_state state; /* of the first that could not be read */
  char value[FACT_VALUE_MAX];
  unsigned count;
};

static void see_governor(void *context, const char *policy) {
  struct governors *governors = context;
  char text[FACT_VALUE_MAX];
  enum fact_state state =
      sources_read(governors->probe->sources, text, sizeof text,
                   "/sys/devices/system/cpu/cpufreq/%s/scaling_governor", policy);
  if (governors->count++ == 0 || state != FACT_OK) {
    governors->state = state;
    (void)snprintf(governors->value, sizeof governors->value, "%s", text);
  } else if (governors->state == FACT_OK && strcmp(governors->value, text) != 0) {
    (void)snprintf(governors->value, sizeof governors->value, "mixed");
  }
}

static void governor(struct probe *probe, const char *name) {
  struct governors governors = {.probe = probe};
  sources_each(probe->sources, "/sys/devices/system/cpu/cpufreq", "policy", see_governor,
               &governors);
  if (governors.count == 0) {
    host_fact_add(probe, name, FACT_UNAVAILABLE,
                  "this Linux kernel does not scale frequencies (usual in virtual machines)");
  } else {
    host_fact_add(probe, name, governors.state, governors.value);
  }
}

static void turbo(struct probe *probe, const char *name) {
  int64_t value;
  if (sources_read_number(probe->sources, &value,
                          "/sys/devices/system/cpu/intel_pstate/no_turbo")) {
    host_fact_add_on_off(probe, name, value == 0);
  } else if (sources_read_number(probe->sources, &value, "/sys/devices/system/cpu/cpufreq/boost") ||
             sources_read_number(probe->sources, &value,
                                 "/sys/devices/system/cpu/cpufreq/policy0/boost")) {
    host_fact_add_on_off(probe, name, value != 0);
  } else {
    host_fact_add(probe, name, FACT_UNAVAILABLE, "this Linux kernel has no switch for it");
  }
}

static void smt(struct probe *probe, const char *name) {
  int64_t value;
  if (sources_read_number(probe->sources, &value, "/sys/devices/system/cpu/smt/active")) {
    host_fact_add_on_off(probe, name, value != 0);
  } else {
    host_fact_add(probe, name, FACT_UNAVAILABLE, "Linux does not say");
  }
}

/* ---- memory ---- */

static void page_size(struct probe *probe, const char *name) {
  if (probe->sources->page_bytes > 0) {
    machine_add_fact(probe->machine, name, -1, FACT_OK, "%ld", probe->sources->page_bytes);
  } else {
    host_fact_add(probe, name, FACT_UNAVAILABLE, "the system does not say");
  }
}

static void numa_policy(struct probe *probe, const char *name) {
  if (probe->sources->numa_policy_asked) {
    host_fact_add(probe, name, FACT_OK,
                  probe->sources->numa_policy_allowed ? "allowed" : "refused");
  } else {
    host_fact_add(probe, name, FACT_UNAVAILABLE, "Linux was not asked");
  }
}

static void numa_balancing(struct probe *probe, const char *name) {
  char text[FACT_VALUE_MAX];
  enum fact_state state =
      sources_read(probe->sources, text, sizeof text, "/proc/sys/kernel/numa_balancing");
  if (state == FACT_OK) {
    host_fact_add_on_off(probe, name,
                         strcmp(text, "0") != 0); /* 2 is balancing between memory tiers */
  } else {
    host_fact_add(probe, name, state, text);
  }
}

/* "always [madvise] never" */
static void huge_pages(struct probe *probe, const char *name) {
  char text[FACT_VALUE_MAX];
  enum fact_state state = sources_read(probe->sources, text, sizeof text,
                                       "/sys/kernel/mm/transparent_hugepage/enabled");
  char *open = strchr(text, '[');
  char *close = strchr(text, ']');
  if (state == FACT_OK && open != NULL && close != NULL && close > open) {
    *close = '\0';
    host_fact_add(probe, name, FACT_OK, open + 1);
  } else {
    host_fact_add(probe, name, state, text);
  }
}

static void huge_pages_reserved(struct probe *probe, const char *name) {
  add_file(probe, name, "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages");
}

/* ---- virtualisation and address translation ---- */

/* The name for a vendor's text in DMI (/sys/class/dmi/id) or CPUID; NULL = no hypervisor known. */
static const char *hypervisor_name(const char *text) {
  static const struct {
    const char *text, *name;
  } NAMES[] = {{"KVMKVMKVM", "KVM"},
               {"Microsoft Hv", "Hyper-V"},
               {"VMwareVMware", "VMware"},
               {"XenVMMXenVMM", "Xen"},
               {"TCGTCGTCGTCG", "QEMU"},
               {"bhyve bhyve", "bhyve"},
               {"ACRNACRNACRN", "ACRN"},
               {"QEMU", "QEMU"},
               {"KVM", "KVM"},
               {"VMware", "VMware"},
               {"Virtual Machine", "Hyper-V"},
               {"VirtualBox", "VirtualBox"},
               {"Xen", "Xen"},
               {"Google Compute Engine", "KVM"},
               {"OpenStack", "KVM"},
               {"HVM domU", "Xen"},
               {"Parallels", "Parallels"},
               {"BHYVE", "bhyve"}};
  for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
    if (strstr(text, NAMES[i].text) != NULL) {
      return NAMES[i].name;
    }
  }
  return NULL;
}

/* sys_vendor and product_name in one text; false = there is no DMI. */
static bool read_dmi(const struct probe *probe, char *text, size_t size) {
  char vendor[128];
  char product[128];
  if (sources_read(probe->sources, vendor, sizeof vendor, "/sys/class/dmi/id/sys_vendor") !=
      FACT_OK) {
    return false;
  }
  if (sources_read(probe->sources, product, sizeof product, "/sys/class/dmi/id/product_name") !=
      FACT_OK) {
    product[0] = '\0';
  }
  (void)snprintf(text, size, "%s %s", vendor, product);
  return true;
}

/* x86 says in the processor's flags whether there is one; elsewhere DMI and the device tree hint.
 */
static void hypervisor(struct probe *probe, const char *name) {
  char dmi[FACT_VALUE_MAX] = "";
  char flags[4096];
  char tree[FACT_VALUE_MAX];
  bool has_dmi = read_dmi(probe, dmi, sizeof dmi);
  bool x86 = sources_find_value(probe->cpuinfo, "flags", ':', flags, sizeof flags);
  const char *known = hypervisor_name(probe->sources->hypervisor_signature);
  if (x86 && strstr(flags, " hypervisor") == NULL) {
    host_fact_add(probe, name, FACT_OK, "none");
    return;
  }
  if (known == NULL) {
    known = hypervisor_name(dmi);
  }
  if (known == NULL && sources_read(probe->sources, tree, sizeof tree,
                                    "/proc/device-tree/hypervisor/compatible") == FACT_OK) {
    known = strstr(tree, "kvm") != NULL ? "KVM" : strstr(tree, "xen") != NULL ? "Xen" : tree;
  }
  if (known != NULL) {
    host_fact_add(probe, name, FACT_OK, known);
  } else if (x86) {
    machine_add_fact(probe->machine, name, -1, FACT_OK, "unknown%s%s", has_dmi ? ": " : "", dmi);
  } else if (has_dmi || strstr(probe->cpuinfo, "PowerNV") != NULL) {
    host_fact_add(probe, name, FACT_OK, "none");
  } else {
    host_fact_add(probe, name, FACT_UNAVAILABLE, "neither DMI nor the device tree says");
  }
}

struct iommu_groups {
  struct probe *probe;
  unsigned count, identity, translated, denied;
};

static void see_iommu_type(struct iommu_groups *groups, enum fact_state state, const char *type) {
  groups->count++;
  if (state == FACT_DENIED) {
    groups->denied++;
  } else if (state == FACT_OK && strcmp(type, "identity") == 0) {
    groups->identity++;
  } else if (state == FACT_OK && strncmp(type, "DMA", 3) == 0) {
    groups->translated++;
  }
}

static void see_iommu_group(void *context, const char *group) {
  struct iommu_groups *groups = context;
  char type[FACT_VALUE_MAX];
  enum fact_state state = sources_read(groups->probe->sources, type, sizeof type,
                                       "/sys/kernel/iommu_groups/%s/type", group);
  see_iommu_type(groups, state, type);
}

/* The groups of the GPUs where they have some, else all groups. */
static void iommu(struct probe *probe, const char *name) {
  struct iommu_groups groups = {.probe = probe};
  const struct machine *machine = probe->machine;
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    char type[FACT_VALUE_MAX];
    enum fact_state state =
        sources_read(probe->sources, type, sizeof type, "/sys/bus/pci/devices/%s/iommu_group/type",
                     machine->gpus[i].pci_address);
    if (state != FACT_UNAVAILABLE) {
      see_iommu_type(&groups, state, type);
    }
  }
  if (groups.count == 0) {
    sources_each(probe->sources, "/sys/kernel/iommu_groups", "", see_iommu_group, &groups);
  }
  bool asked_passthrough = strstr(probe->command_line, "iommu=pt") != NULL ||
                           strstr(probe->command_line, "iommu.passthrough=1") != NULL;
  if (groups.count == 0) {
    host_fact_add(probe, name, FACT_OK, "off");
  } else if (groups.identity > 0 && groups.translated > 0) {
    machine_add_fact(probe->machine, name, -1, FACT_OK, "mixed: %u passthrough, %u translated",
                     groups.identity, groups.translated);
  } else if (groups.identity > 0 || (groups.translated == 0 && asked_passthrough)) {
    host_fact_add(probe, name, FACT_OK, "passthrough");
  } else if (groups.translated > 0) {
    host_fact_add(probe, name, FACT_OK, "translated");
  } else {
    host_fact_add(probe, name, groups.denied > 0 ? FACT_DENIED : FACT_UNAVAILABLE,
                  "there is one, but its groups do not say how they are used");
  }
}

/* ---- GPUs that cannot be used ---- */

/* GPUs that NVML counts, less those that this process may not use; any_mig: CUDA shows parts of
 * one, and perhaps no other. */
static unsigned gpus_allowed(const struct nvml *nvml, unsigned count, bool *any_mig) {
  unsigned allowed = 0;
  *any_mig = false;
  for (unsigned i = 0; i < count; i++) {
    struct nvml_device *device = NULL;
    unsigned mode = 0;
    unsigned pending = 0;
    const int result = NVML_CALL(nvml, nvmlDeviceGetHandleByIndex_v2, i, &device);
    allowed += result != NVML_NO_PERMISSION;
    *any_mig =
        *any_mig ||
        (result == NVML_OK &&
         NVML_CALL(nvml, nvmlDeviceGetMigMode, device, &mode, &pending) == NVML_OK && mode != 0);
  }
  return allowed;
}

static void gpus_hidden(struct probe *probe, const char *name) {
  unsigned seen = 0;
  bool any_mig = false;
  int result = NVML_CALL(probe->nvml, nvmlDeviceGetCount_v2, &seen);
  if (probe->nvml->library == NULL) {
    host_fact_add(probe, name, probe->nvml_state, probe->nvml_reason);
  } else if (result != NVML_OK) {
    host_fact_add(probe, name, nvml_fact_state(result), nvml_text(probe->nvml, result));
  } else {
    uint32_t used = probe->machine->gpu_count;
    seen = gpus_allowed(probe->nvml, seen, &any_mig);
    if (any_mig) {
      host_fact_add(probe, name, FACT_UNAVAILABLE, "a GPU is in MIG mode: CUDA shows parts of it");
      return;
    }
    machine_add_fact(probe->machine, name, -1, FACT_OK, "%u", seen > used ? seen - used : 0);
  }
}

/* A driver that is older than the feature has it off. */
static void confidential_compute(struct probe *probe, const char *name) {
  struct nvml_confidential state = {0};
  int result = NVML_CALL(probe->nvml, nvmlSystemGetConfComputeState, &state);
  if (probe->nvml->library == NULL) {
    host_fact_add(probe, name, probe->nvml_state, probe->nvml_reason);
  } else if (result == NVML_OK) {
    host_fact_add_on_off(probe, name, state.feature != 0);
  } else if (result == NVML_FUNCTION_NOT_FOUND || result == NVML_NOT_SUPPORTED) {
    host_fact_add(probe, name, FACT_OK, "off");
  } else {
    host_fact_add(probe, name, nvml_fact_state(result), nvml_text(probe->nvml, result));
  }
}

struct pci_gpus {
  const struct machine_sources *sources;
  unsigned devices; /* of any vendor */
  unsigned gpus;
};

/* Whether the NVIDIA driver has the GPU, and this process may use it: one without a driver may be
 * left out on purpose or too old, another's (vfio-pci, nouveau) is theirs, and a scheduler gives a
 * job the device files of its GPUs alone. */
static bool pci_gpu_is_given(const struct machine_sources *sources, const char *address) {
  char path[SOURCES_PATH_MAX];
  char text[4096];
  char number[MACHINE_TEXT_MAX];
  (void)snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/driver", address);
  if (sources_read_link(sources, path, text, sizeof text) != FACT_OK) {
    return false;
  }
  const char *driver = strrchr(text, '/');
  if (strcmp(driver != NULL ? driver + 1 : text, "nvidia") != 0 ||
      sources_read(sources, text, sizeof text, "/proc/driver/nvidia/gpus/%s/information",
                   address) != FACT_OK ||
      !sources_find_value(text, "Device Minor", ':', number, sizeof number)) {
    return false;
  }
  (void)snprintf(path, sizeof path, "/dev/nvidia%.8s", number);
  return sources_may_use(sources, path);
}

static void see_pci_device(void *context, const char *address) {
  enum { VENDOR_TEXT_MAX = 16 };
  struct pci_gpus *found = context;
  char vendor[VENDOR_TEXT_MAX];
  char class[VENDOR_TEXT_MAX];
  found->devices++;
  if (sources_read(found->sources, vendor, sizeof vendor, "/sys/bus/pci/devices/%s/vendor",
                   address) != FACT_OK ||
      strcmp(vendor, "0x10de") != 0 ||
      sources_read(found->sources, class, sizeof class, "/sys/bus/pci/devices/%s/class", address) !=
          FACT_OK ||
      strncmp(class, "0x03", 4) != 0) {
    return;
  }
  found->gpus += pci_gpu_is_given(found->sources, address);
}

/* A container is given some of the host's GPUs, and sees the bus with all of them. */
static void gpus_lost(struct probe *probe, const char *name) {
  struct pci_gpus found = {.sources = probe->sources};
  unsigned seen = 0;
  bool any_mig;
  const struct fact *container = machine_fact(probe->machine, "container", -1);
  if (probe->machine->simulated) {
    host_fact_add(probe, name, FACT_UNAVAILABLE, "the GPUs are simulated");
    return;
  }
  if (container == NULL || strcmp(container->value, "none") != 0) {
    host_fact_add(probe, name, FACT_UNAVAILABLE, "a container may be given a part of the GPUs");
    return;
  }
  sources_each(probe->sources, "/sys/bus/pci/devices", "", see_pci_device, &found);
  if (found.devices == 0) {
    host_fact_add(probe, name, FACT_UNAVAILABLE, "/sys/bus/pci/devices has no device");
    return;
  }
  const bool counted = NVML_CALL(probe->nvml, nvmlDeviceGetCount_v2, &seen) == NVML_OK;
  seen = counted ? gpus_allowed(probe->nvml, seen, &any_mig)
                 : probe->machine->gpu_count; /* NVML may fail alone */
  machine_add_fact(probe->machine, name, -1, FACT_OK, "%u",
                   found.gpus > seen ? found.gpus - seen : 0);
}

/* In the order of HOST_FACT_LIST (a test holds them against each other). */
static const struct {
  const char *name;
  host_fact_function answer;
} HOST_FACTS[] = {
#define HOST_FACT_(id)                                                                             \
  { #id, id }
    HOST_FACT_(driver_version),
    HOST_FACT_(driver_branch),
    HOST_FACT_(kernel_module),
    HOST_FACT_(cuda_driver_version),
    HOST_FACT_(kernel),
    HOST_FACT_(boot_id),
    HOST_FACT_(os),
    HOST_FACT_(cpu_model),
    HOST_FACT_(cpu_count),
    HOST_FACT_(microcode),
    HOST_FACT_(hypervisor),
    HOST_FACT_(governor),
    HOST_FACT_(turbo),
    HOST_FACT_(numa_balancing),
    HOST_FACT_(huge_pages),
    HOST_FACT_(huge_pages_reserved),
    HOST_FACT_(iommu),
    HOST_FACT_(kernel_command_line),
    HOST_FACT_(memlock_limit),
    HOST_FACT_(container),
    HOST_FACT_(gpus_hidden),
    HOST_FACT_(smt),
    HOST_FACT_(page_size),
    HOST_FACT_(numa_policy),
    HOST_FACT_(confidential_compute),
    HOST_FACT_(gpus_lost),
    {"cpu_caches", facts_cpu_caches},
    {"memory_modules", facts_memory_modules},
    {"memory_peak", facts_memory_peak},
    {"socket_links", facts_socket_links},
#undef HOST_FACT_
};

void probe_host_facts(struct probe *probe) {
  if (sources_read(probe->sources, probe->cpuinfo, sizeof probe->cpuinfo, "/proc/cpuinfo") !=
      FACT_OK) {
    probe->cpuinfo[0] = '\0';
  }
  if (sources_read(probe->sources, probe->command_line, sizeof probe->command_line,
                   "/proc/cmdline") != FACT_OK) {
    probe->command_line[0] = '\0';
  }
  for (size_t i = 0; i < COUNT_OF(HOST_FACTS); i++) {
    HOST_FACTS[i].answer(probe, HOST_FACTS[i].name);
  }
}
