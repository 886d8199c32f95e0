/* The facts of HOST_FACT_LIST about caches, memory and what joins sockets. */
#include "engine/base/units.h"

#include "engine/machine/machine.h"
#include "engine/machine/probe.h"

#include <stdio.h>
#include <stdlib.h>

static void memory_fact_add(struct probe *probe, const char *name, enum fact_state state,
                            const char *value) {
  machine_add_fact(probe->machine, name, -1, state, "%s", value);
}

/* "L1d 48 KiB, L1i 32 KiB, L2 2 MiB, L3 105 MiB shared by 56 processors", of processor 0. */
void facts_cpu_caches(struct probe *probe, const char *name) {
  char value[FACT_VALUE_MAX] = "";
  size_t length = 0;
  for (int i = 0; length < sizeof value - 96; i++) {
    char text[3][SOURCES_LIST_MAX];
    static const char *const FILES[] = {"type", "size", "shared_cpu_list"};
    bool set[SOURCES_SET_MAX];
    int64_t level = 0;
    bool known = sources_read_number(probe->sources, &level,
                                     "/sys/devices/system/cpu/cpu0/cache/index%d/level", i);
    for (size_t f = 0; f < 3 && known; f++) {
      known = sources_read(probe->sources, text[f], sizeof text[f],
                           "/sys/devices/system/cpu/cpu0/cache/index%d/%s", i, FILES[f]) == FACT_OK;
    }
    if (!known) {
      break;
    }
    char size[UNITS_TEXT_MAX];
    units_format_size_short(strtoull(text[1], NULL, 10) << 10, size); /* "48K" */
    const char *kind = text[0][0] == 'D' ? "d" : text[0][0] == 'I' ? "i" : "";
    const size_t sharers = sources_parse_list(text[2], set);
    length += (size_t)snprintf(value + length, sizeof value - length, "%sL%d%s %s",
                               length > 0 ? ", " : "", (int)level, kind, size);
    if (sharers > 1) {
      length += (size_t)snprintf(value + length, sizeof value - length, " shared by %zu processors",
                                 sharers);
    }
  }
  memory_fact_add(probe, name, length > 0 ? FACT_OK : FACT_UNAVAILABLE,
                  length > 0 ? value : "Linux does not say");
}

/* What SMBIOS says of the modules of memory: structures of type 17 (DMTF DSP0134, "Memory Device").
 */
struct memory_modules {
  enum fact_state state; /* of the table; `reason` where it is not ok */
  char reason[FACT_VALUE_MAX];
  unsigned count;      /* with memory in them */
  unsigned type;       /* of the last */
  unsigned megabits;   /* transfers per second and line of the slowest, in 10^6; 0 = not said */
  unsigned width_bits; /* of the last, without error correction */
};

enum { SMBIOS_MAX = 1 << 18, SMBIOS_MEMORY_DEVICE = 17, SMBIOS_END = 127 };

static unsigned smbios_word(const unsigned char *at, size_t length, size_t offset) {
  return offset + 1 < length ? at[offset] | (unsigned)at[offset + 1] << 8 : 0;
}

static void add_module(struct memory_modules *modules, const unsigned char *at, size_t length) {
  const unsigned configured = smbios_word(at, length, 0x20);
  const unsigned speed = configured != 0 ? configured : smbios_word(at, length, 0x15);
  if (smbios_word(at, length, 0x0c) == 0) {
    return; /* an empty slot */
  }
  modules->megabits = modules->count == 0 || speed < modules->megabits ? speed : modules->megabits;
  modules->count++;
  modules->width_bits = smbios_word(at, length, 0x0a);
  modules->type = length > 0x12 ? at[0x12] : 0;
}

static void read_modules(const struct probe *probe, struct memory_modules *modules) {
  size_t size = 0;
  unsigned char *table = malloc(SMBIOS_MAX);
  *modules = (struct memory_modules){.state = FACT_UNAVAILABLE, .reason = "no memory to read it"};
  if (table == NULL) {
    return;
  }
  modules->state = sources_read_bytes(probe->sources, "/sys/firmware/dmi/tables/DMI", table,
                                      SMBIOS_MAX, &size, modules->reason);
  for (size_t at = 0; at + 4 <= size && table[at] != SMBIOS_END;) {
    const size_t length = table[at + 1];
    if (length < 4 || at + length > size) {
      break;
    }
    if (table[at] == SMBIOS_MEMORY_DEVICE) {
      add_module(modules, table + at, length);
    }
    at += length; /* texts follow; two zeros end them */
    while (at + 1 < size && (table[at] != 0 || table[at + 1] != 0)) {
      at++;
    }
    at += 2;
  }
  free(table);
  if (modules->state == FACT_OK && modules->count == 0) {
    modules->state = FACT_UNAVAILABLE;
    (void)snprintf(modules->reason, sizeof modules->reason, "the firmware lists no modules");
  }
}

static const char *module_type(unsigned type) {
  switch (type) {
  case 0x18:
    return "DDR3";
  case 0x1a:
    return "DDR4";
  case 0x1e:
    return "LPDDR4";
  case 0x20:
    return "HBM";
  case 0x21:
    return "HBM2";
  case 0x22:
    return "DDR5";
  case 0x23:
    return "LPDDR5";
  case 0x24:
    return "HBM3";
  default:
    return "memory";
  }
}

void facts_memory_modules(struct probe *probe, const char *name) {
  struct memory_modules modules;
  read_modules(probe, &modules);
  if (modules.state != FACT_OK) {
    memory_fact_add(probe, name, modules.state, modules.reason);
  } else if (modules.megabits == 0) {
    machine_add_fact(probe->machine, name, -1, FACT_OK, "%u x %s", modules.count,
                     module_type(modules.type));
  } else {
    machine_add_fact(probe->machine, name, -1, FACT_OK, "%u x %s at %u MT/s", modules.count,
                     module_type(modules.type), modules.megabits);
  }
}

/* Channels with a module, as EDAC tells them: one for each controller and number. */
struct memory_channels {
  struct probe *probe;
  char controller[64];
  unsigned count;
  bool seen[64]; /* of the controller */
};

static void see_module(void *context, const char *module) {
  struct memory_channels *channels = context;
  char location[128];
  int64_t megabytes = 0;
  unsigned channel = 0;
  if (sources_read(channels->probe->sources, location, sizeof location,
                   "/sys/devices/system/edac/mc/%s/%s/dimm_location", channels->controller,
                   module) != FACT_OK ||
      !sources_read_number(channels->probe->sources, &megabytes,
                           "/sys/devices/system/edac/mc/%s/%s/size", channels->controller,
                           module) ||
      megabytes == 0) {
    return;
  }
  const char *text = strstr(location, "channel ");
  if (text != NULL && sscanf(text, "channel %u", &channel) == 1 && channel < 64) {
    channels->count += !channels->seen[channel];
    channels->seen[channel] = true;
  }
}

static void see_memory_controller(void *context, const char *controller) {
  struct memory_channels *channels = context;
  char folder[SOURCES_PATH_MAX];
  (void)snprintf(channels->controller, sizeof channels->controller, "%s", controller);
  (void)snprintf(folder, sizeof folder, "/sys/devices/system/edac/mc/%s", channels->controller);
  memset(channels->seen, 0, sizeof channels->seen);
  sources_each(channels->probe->sources, folder, "dimm", see_module, channels);
  sources_each(channels->probe->sources, folder, "rank", see_module, channels);
}

void facts_memory_peak(struct probe *probe, const char *name) {
  struct memory_modules modules;
  struct memory_channels channels = {.probe = probe};
  read_modules(probe, &modules);
  sources_each(probe->sources, "/sys/devices/system/edac/mc", "mc", see_memory_controller,
               &channels);
  if (modules.state != FACT_OK) {
    memory_fact_add(probe, name, modules.state, modules.reason);
  } else if (modules.megabits == 0 || modules.width_bits == 0) {
    memory_fact_add(
        probe, name, FACT_UNAVAILABLE,
        "the firmware does not say how fast the modules are (usual in virtual machines)");
  } else if (channels.count == 0) {
    memory_fact_add(probe, name, FACT_UNAVAILABLE,
                    "no EDAC driver says how many channels the modules are on");
  } else {
    machine_add_fact(probe->machine, name, -1, FACT_OK, "%llu",
                     (unsigned long long)modules.megabits * 1000000ULL * modules.width_bits / 8 *
                         channels.count);
  }
}

static void count_upi(void *context, const char *device) {
  (void)device;
  (*(unsigned *)context)++;
}

struct sockets {
  const struct machine_sources *sources;
  unsigned cpus; /* whose socket is known */
  int64_t first, last;
};

/* Of a processor that is offline the kernel does not say it; nor of "cpufreq". */
static void see_socket(void *context, const char *cpu) {
  struct sockets *sockets = context;
  int64_t package = 0;
  if (sources_read_number(sockets->sources, &package,
                          "/sys/devices/system/cpu/%s/topology/physical_package_id", cpu)) {
    const bool is_first = sockets->cpus++ == 0;
    sockets->first = is_first || package < sockets->first ? package : sockets->first;
    sockets->last = is_first || package > sockets->last ? package : sockets->last;
  }
}

/* Each UPI link of a socket has a monitor of its own, uncore_upi_N. */
void facts_socket_links(struct probe *probe, const char *name) {
  struct sockets sockets = {.sources = probe->sources};
  unsigned upi = 0;
  sources_each(probe->sources, "/sys/devices/system/cpu", "cpu", see_socket, &sockets);
  sources_each(probe->sources, "/sys/bus/event_source/devices", "uncore_upi_", count_upi, &upi);
  if (sockets.cpus == 0) {
    memory_fact_add(probe, name, FACT_UNAVAILABLE, "Linux does not say which sockets there are");
  } else if (sockets.first == sockets.last) {
    memory_fact_add(probe, name, FACT_OK, "none");
  } else if (upi > 0) {
    machine_add_fact(probe->machine, name, -1, FACT_OK, "%u UPI, of a rate that is not known", upi);
  } else {
    memory_fact_add(probe, name, FACT_UNAVAILABLE, "Linux does not say what joins the sockets");
  }
}
