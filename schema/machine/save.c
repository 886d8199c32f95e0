#include "schema/machine/machine_file.h"

#include "engine/machine/machine.h"
#include "schema/toml/toml.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>

#define NUMBER_(object, kind, member, least, most, unknown)                                        \
  {                                                                                                \
    .name = #member, .type = kind, .offset = offsetof(struct object, member), .min = least,        \
    .max = most, .absent = unknown                                                                 \
  }
#define TEXT_(object, member, is_required)                                                         \
  {                                                                                                \
    .name = #member, .type = KEY_TEXT, .offset = offsetof(struct object, member),                  \
    .size = sizeof(((struct object *)0)->member), .required = is_required                          \
  }
/* A boolean is always written: false is an answer. */
#define BOOL_(object, member)                                                                      \
  { .name = #member, .type = KEY_BOOL, .offset = offsetof(struct object, member), .absent = -1 }

#define COUNT_MAX 1000000
#define BYTES_MAX (INT64_C(1) << 60)
#define KHZ_MAX   1000000000
#define RATE_MAX  (INT64_C(1) << 60)

const struct key MACHINE_KEYS[] = {
    TEXT_(machine, host_name, false),
    BOOL_(machine, simulated),
    TEXT_(machine, cuda_state, true),
    NUMBER_(machine, KEY_I32, driver_cuda_version, 0, 1000000, 0),
};
const size_t MACHINE_KEY_COUNT = COUNT_OF(MACHINE_KEYS);

const struct key NODE_KEYS[] = {
    {.name = "number",
     .type = KEY_I32,
     .offset = offsetof(struct numa_node, number),
     .max = 4095,
     .absent = -1,
     .required = true},
    /* 0 is an answer here: a node without processors. */
    NUMBER_(numa_node, KEY_U32, cpu_count, 0, COUNT_MAX, -1),
    NUMBER_(numa_node, KEY_U64, memory_bytes, 0, BYTES_MAX, 0),
    NUMBER_(numa_node, KEY_U64, free_memory_bytes, 0, BYTES_MAX, 0),
};
const size_t NODE_KEY_COUNT = COUNT_OF(NODE_KEYS);

const struct key GPU_KEYS[] = {
    TEXT_(gpu, name, true),
    TEXT_(gpu, uuid, false),
    TEXT_(gpu, pci_address, true),
    NUMBER_(gpu, KEY_I32, numa_node, -1, 4095, -1),
    NUMBER_(gpu, KEY_I32, memory_node, -1, 4095, -1),
    NUMBER_(gpu, KEY_I32, cuda_ordinal, -1, 1024, -1),
    NUMBER_(gpu, KEY_U32, compute_major, 0, 1000, 0),
    NUMBER_(gpu, KEY_U32, compute_minor, 0, 1000, -1),
    NUMBER_(gpu, KEY_U32, sm_count, 0, COUNT_MAX, 0),
    NUMBER_(gpu, KEY_U32, copy_engine_count, 0, 1024, 0),
    NUMBER_(gpu, KEY_U64, memory_bytes, 0, BYTES_MAX, 0),
    NUMBER_(gpu, KEY_U64, free_memory_bytes, 0, BYTES_MAX, 0),
    NUMBER_(gpu, KEY_U64, l2_bytes, 0, BYTES_MAX, 0),
    NUMBER_(gpu, KEY_U64, sm_clock_max_khz, 0, KHZ_MAX, 0),
    NUMBER_(gpu, KEY_U64, memory_clock_khz, 0, KHZ_MAX, 0),
    NUMBER_(gpu, KEY_U32, memory_bus_bits, 0, COUNT_MAX, 0),
    NUMBER_(gpu, KEY_U32, pcie_generation_max, 0, 16, 0),
    NUMBER_(gpu, KEY_U32, pcie_width_max, 0, 32, 0),
    NUMBER_(gpu, KEY_U32, pcie_generation, 0, 16, 0),
    NUMBER_(gpu, KEY_U32, pcie_width, 0, 32, 0),
    NUMBER_(gpu, KEY_U32, nvlink_count, 0, 1024, 0),
    NUMBER_(gpu, KEY_U64, nvlink_bytes_per_second, 0, RATE_MAX, 0),
    NUMBER_(gpu, KEY_U64, c2c_bytes_per_second, 0, RATE_MAX, 0),
    NUMBER_(gpu, KEY_I32, utilization_percent, -1, 100, -1),
    NUMBER_(gpu, KEY_I32, process_count, -1, COUNT_MAX, -1),
    BOOL_(gpu, mig_enabled),
    BOOL_(gpu, concurrent_managed_access),
    BOOL_(gpu, host_page_tables),
    BOOL_(gpu, host_register_supported),
};
const size_t GPU_KEY_COUNT = COUNT_OF(GPU_KEYS);

const struct key LINK_KEYS[] = {
    BOOL_(gpu_link, peer_access),
    NUMBER_(gpu_link, KEY_U32, nvlink_count, 0, 1024, -1),
    NUMBER_(gpu_link, KEY_U64, bytes_per_second, 0, RATE_MAX, -1),
};
const size_t LINK_KEY_COUNT = COUNT_OF(LINK_KEYS);

int64_t machine_key_number(const void *object, const struct key *key) {
  const void *member = (const char *)object + key->offset;
  switch (key->type) {
  case KEY_TEXT:
    return 0;
  case KEY_BOOL:
    return *(const bool *)member ? 1 : 0;
  case KEY_I32:
    return *(const int32_t *)member;
  case KEY_U32:
    return *(const uint32_t *)member;
  case KEY_U64:
    return (int64_t) * (const uint64_t *)member;
  }
  return 0;
}

const char *machine_key_text(const void *object, const struct key *key) {
  return (const char *)object + key->offset;
}

static void machine_write_scalar(struct strbuf *out, const void *object, const struct key *key) {
  if (key->type == KEY_TEXT) {
    toml_write_text(out, machine_key_text(object, key));
  } else if (key->type == KEY_BOOL) {
    strbuf_append(out, machine_key_number(object, key) != 0 ? "true" : "false");
  } else {
    strbuf_printf(out, "%" PRId64, machine_key_number(object, key));
  }
}

static bool machine_key_is_absent(const void *object, const struct key *key) {
  if (key->type == KEY_TEXT) {
    return !key->required && *machine_key_text(object, key) == '\0';
  }
  return machine_key_number(object, key) == key->absent;
}

static void machine_write_keys(struct strbuf *out, const void *object, const struct key *keys,
                               size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!machine_key_is_absent(object, &keys[i])) {
      strbuf_printf(out, "%s = ", keys[i].name);
      machine_write_scalar(out, object, &keys[i]);
      strbuf_append_char(out, '\n');
    }
  }
}

/* name = "value", or name = { denied = "why" }. */
static void machine_write_facts(struct strbuf *out, const struct machine *machine,
                                const char *header, int32_t gpu) {
  bool any = false;
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    const struct fact *fact = &machine->facts[i];
    if (fact->gpu != gpu) {
      continue;
    }
    if (!any) {
      strbuf_printf(out, "\n%s\n", header);
      any = true;
    }
    toml_write_key(out, fact->name);
    strbuf_append(out, " = ");
    if (fact->state == FACT_OK) {
      toml_write_text(out, fact->value);
    } else {
      strbuf_printf(out, "{ %s = ", fact_state_text(fact->state));
      toml_write_text(out, fact->value);
      strbuf_append(out, " }");
    }
    strbuf_append_char(out, '\n');
  }
}

static void machine_write_nodes(struct strbuf *out, const struct machine *machine) {
  for (uint32_t i = 0; i < machine->node_count; i++) {
    strbuf_append(out, "\n[[numa_node]]\n");
    machine_write_keys(out, &machine->nodes[i], NODE_KEYS, NODE_KEY_COUNT);
    strbuf_append(out, "distance = [");
    for (uint32_t to = 0; to < machine->node_count; to++) {
      strbuf_printf(out, "%s%u", to > 0 ? ", " : "", machine->node_distance[i][to]);
    }
    strbuf_append(out, "]\n");
  }
}

static void machine_write_gpus(struct strbuf *out, const struct machine *machine) {
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    strbuf_printf(out, "\n[[gpu]] # %u\n", i);
    machine_write_keys(out, &machine->gpus[i], GPU_KEYS, GPU_KEY_COUNT);
    machine_write_facts(out, machine, "[gpu.facts]", (int32_t)i);
  }
}

static void machine_write_matrix(struct strbuf *out, const struct machine *machine,
                                 const struct key *key) {
  strbuf_printf(out, "%s = [\n", key->name);
  for (uint32_t from = 0; from < machine->gpu_count; from++) {
    strbuf_append(out, "  [");
    for (uint32_t to = 0; to < machine->gpu_count; to++) {
      strbuf_append(out, to > 0 ? ", " : "");
      machine_write_scalar(out, &machine->links[from][to], key);
    }
    strbuf_append(out, "],\n");
  }
  strbuf_append(out, "]\n");
}

static void machine_write_all(struct strbuf *out, const struct machine *machine) {
  strbuf_printf(out,
                "# A machine as haul sees it: sizes in bytes, rates in bytes per second and one\n"
                "# direction, clocks in kHz. What is not known is left out.\n"
                "format = %d\n\n[machine]\n",
                MACHINE_FILE_FORMAT);
  machine_write_keys(out, machine, MACHINE_KEYS, MACHINE_KEY_COUNT);
  machine_write_facts(out, machine, "[facts]", -1);
  machine_write_nodes(out, machine);
  machine_write_gpus(out, machine);
  if (machine->gpu_count > 1) {
    strbuf_append(out, "\n[links] # row: from this GPU; column: to that GPU\n");
    for (size_t i = 0; i < LINK_KEY_COUNT; i++) {
      machine_write_matrix(out, machine, &LINK_KEYS[i]);
    }
  }
}

enum status machine_file_save(FILE *stream, const struct machine *machine, struct error *err) {
  SCOPED(strbuf_fini) struct strbuf out = STRBUF(MACHINE_FILE_MAX);
  machine_write_all(&out, machine);
  enum status status = STATUS_OK;
  errno = 0;
  if (out.truncated) {
    status = error_set(err, STATUS_NO_MEMORY, "cannot allocate memory for the machine file");
  } else if (fwrite(out.text, 1, out.length, stream) != out.length || fflush(stream) != 0) {
    status = error_set_errno(err, errno, "cannot write the machine file");
  }
  return status;
}
