#include "runner/render/env.h"

#include "engine/base/units.h"
#include "engine/machine/machine.h"
#include "runner/document/document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FACT_WIDTH = 20 };

/* ---- pieces of text ---- */

static const char *env_or_unknown(const char *text) {
  return text != NULL ? text : "?";
}

/* 85028896768 -> "79.2 GiB"; "?" when not known. */
static const char *env_size_text(struct arena *arena, uint64_t size_bytes) {
  return size_bytes == 0 ? "?"
                         : arena_strdup(arena, units_format_size_short(size_bytes, UNITS_TEXT));
}

const char *env_rate_words(struct arena *arena, uint64_t bytes_per_second) {
  const double gigabytes = (double)bytes_per_second / 1e9;
  return bytes_per_second == 0
             ? NULL
             : arena_format(arena, "%.*f GB/s", gigabytes < 1000 ? 1 : 0, gigabytes);
}

static const char *env_rate_text(struct arena *arena, uint64_t bytes_per_second) {
  return env_or_unknown(env_rate_words(arena, bytes_per_second));
}

/* In GB/s, with four digits as results have; blank when not known. */
static struct cell env_rate_cell(uint64_t bytes_per_second) {
  if (bytes_per_second == 0) {
    return cell_null();
  }
  const double rate = (double)bytes_per_second / 1e9;
  const double place = pow(10, floor(log10(rate)) - 3);
  return cell_real(round(rate / place) * place);
}

const char *env_host_link_words(struct arena *arena, const struct gpu *gpu, enum limit limit) {
  return limit == LIMIT_PCIE
             ? arena_format(arena, "PCIe %u x%u", gpu->pcie_generation_max, gpu->pcie_width_max)
         : limit == LIMIT_C2C ? "C2C"
                              : NULL;
}

/* ---- the head ---- */

static const char *env_value(const struct machine *machine, const char *name) {
  return env_or_unknown(machine_value(machine, name, -1));
}

static void env_put_head(struct document *document, const struct machine *machine) {
  const char *driver = machine_value(machine, "driver_version", -1);
  const char *module = machine_value(machine, "kernel_module", -1);
  document_put(document, "%s: %s, Linux %s",
               machine->host_name[0] != '\0' ? machine->host_name : "this machine",
               env_value(machine, "os"), env_value(machine, "kernel"));
  document_put(document, "%s, %s processors", env_value(machine, "cpu_model"),
               env_value(machine, "cpu_count"));
  if (driver != NULL) {
    document_put(document, "NVIDIA driver %s%s, CUDA %s", driver,
                 arena_around(&document->arena, " (", module, " kernel module)"),
                 env_value(machine, "cuda_driver_version"));
  }
  if (strcmp(machine->cuda_state, "ok") != 0) {
    document_put(document, "No GPU to use: %s", machine->cuda_state);
  }
  if (machine->simulated) {
    document_put(document, "SIMULATED: a fake driver answers; rates measured here mean nothing");
  }
}

/* ---- GPUs ---- */

static void env_put_model(struct document *document, const struct gpu *gpu) {
  document_put(document, "%s: compute %u.%u, %u SMs up to %.0f MHz, L2 %s", gpu->name,
               gpu->compute_major, gpu->compute_minor, gpu->sm_count,
               (double)gpu->sm_clock_max_khz / 1e3, env_size_text(&document->arena, gpu->l2_bytes));
  document_put_behind(document, "  ", "%u copy engines, memory at 2 x %.0f MHz on %u bits",
                      gpu->copy_engine_count, (double)gpu->memory_clock_khz / 1e3,
                      gpu->memory_bus_bits);
  if (gpu->pcie_generation > 0 && gpu->pcie_width > 0 &&
      (gpu->pcie_generation < gpu->pcie_generation_max || gpu->pcie_width < gpu->pcie_width_max)) {
    document_put_behind(document, "  ", "PCIe at %u x%u when looked at; idle links slow down",
                        gpu->pcie_generation, gpu->pcie_width);
  }
}

/* Once a model: GPUs of one model differ in nothing of this. */
static void env_put_models(struct document *document, const struct machine *machine) {
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    if (!ANY_OF(k, i, strcmp(machine->gpus[k].name, machine->gpus[i].name) == 0)) {
      env_put_model(document, &machine->gpus[i]);
    }
  }
}

static void env_put_addresses(struct document *document, const struct machine *machine) {
  static const char *const COLUMNS[] = {"gpu", "PCI address", "UUID"};
  document_gap(document);
  DOCUMENT_TABLE(document, COLUMNS, .wraps = true);
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    DOCUMENT_ROW(document, cell_integer(i), cell_text(machine->gpus[i].pci_address),
                 cell_text(machine->gpus[i].uuid));
  }
  document_table_end(document);
}

#define GPU_COLUMNS(X)                                                                             \
  X("gpu", integer, i)                                                                             \
  X("name", text, machine_gpu_model(gpu))                                                          \
  X("node", cell, gpu->numa_node < 0 ? cell_null() : cell_integer(gpu->numa_node))                 \
  X("memory", text, env_size_text(arena, gpu->memory_bytes))                                       \
  X("mem GB/s", cell, env_rate_cell(peak_dram(gpu)))                                               \
  X("host", text, env_or_unknown(env_host_link_words(arena, gpu, limit)))                          \
  X("host GB/s", cell, env_rate_cell(host_peak))                                                   \
  X("NVLink GB/s", text,                                                                           \
    gpu->nvlink_count == 0 ? "-"                                                                   \
                           : arena_format(arena, "%u x %.1f", gpu->nvlink_count,                   \
                                          (double)gpu->nvlink_bytes_per_second / 1e9))

static void env_put_gpus(struct document *document, const struct machine *machine) {
  struct arena *arena = &document->arena;
  document_part(document, "GPUs, with theoretical peaks");
  DOCUMENT_COLUMNS(document, GPU_COLUMNS, .wraps = true);
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    const struct gpu *gpu = &machine->gpus[i];
    enum limit limit;
    const uint64_t host_peak = peak_gpu_host(gpu, &limit);
    DOCUMENT_ROW(document, GPU_COLUMNS(COLUMN_CELL));
  }
  document_table_end(document);
  env_put_models(document, machine);
  env_put_addresses(document, machine);
}

/* ---- links between GPUs ---- */

/* "NV18": links; "PCIe": peer access over PCIe; "host": none, copies go through host memory. */
static const char *env_link_label(struct arena *arena, const struct gpu_link *link) {
  return link->nvlink_count > 0 ? arena_format(arena, "NV%u", link->nvlink_count)
         : link->peer_access    ? "PCIe"
                                : "host";
}

/* The kinds of link in the matrix, each explained once. */
struct link_kind {
  const char *label;
  const struct gpu_link *example;
  uint64_t slowest, fastest;
};
enum { LINK_KINDS_MAX = 16 };

/* Kinds past the last are not explained. */
static void env_add_link_kind(const struct gpu_link *link, const char *label,
                              struct link_kind kinds[LINK_KINDS_MAX]) {
  const uint64_t rate = link->bytes_per_second;
  const size_t i = FIRST_OF(k, (size_t)LINK_KINDS_MAX,
                            kinds[k].example == NULL || strcmp(kinds[k].label, label) == 0);
  if (i == LINK_KINDS_MAX) {
    return;
  }
  if (kinds[i].example == NULL) {
    kinds[i] = (struct link_kind){label, link, rate, rate};
  }
  kinds[i].slowest = rate < kinds[i].slowest ? rate : kinds[i].slowest;
  kinds[i].fastest = rate > kinds[i].fastest ? rate : kinds[i].fastest;
}

static void env_put_link_kind(struct document *document, const struct link_kind *kind) {
  const struct gpu_link *link = kind->example;
  const char *range = env_rate_text(&document->arena, kind->slowest);
  if (kind->slowest != kind->fastest) {
    range = arena_format(&document->arena, "%s to %s", range,
                         env_rate_text(&document->arena, kind->fastest));
  }
  if (link->nvlink_count > 0) {
    document_put(document, "%s: %u NVLinks, %s each way%s", kind->label, link->nvlink_count, range,
                 link->peer_access ? "" : ", no peer access");
  } else if (link->peer_access) {
    document_put(document, "PCIe: peer access over PCIe, %s each way", range);
  } else {
    document_put(document,
                 "host: no peer access, copies go through host memory, at most %s each way", range);
  }
}

static void env_put_links(struct document *document, const struct machine *machine) {
  const char *columns[MACHINE_GPUS_MAX + 1] = {"from \\ to"};
  struct link_kind kinds[LINK_KINDS_MAX] = {{.example = NULL}};
  if (machine->gpu_count < 2) {
    return;
  }
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    columns[i + 1] = arena_format(&document->arena, "%u", i);
  }
  document_part(document, "GPU to GPU");
  document_table(document, columns, machine->gpu_count + 1,
                 &(struct document_table){.wraps = true});
  for (uint32_t from = 0; from < machine->gpu_count; from++) {
    struct cell cells[MACHINE_GPUS_MAX + 1] = {cell_integer(from)};
    for (uint32_t to = 0; to < machine->gpu_count; to++) {
      const struct gpu_link *link = &machine->links[from][to];
      const char *label = from == to ? "-" : env_link_label(&document->arena, link);
      cells[to + 1] = cell_text(label);
      if (from != to) {
        env_add_link_kind(link, label, kinds);
      }
    }
    document_row(document, cells);
  }
  document_table_end(document);
  for (size_t i = 0; i < LINK_KINDS_MAX && kinds[i].example != NULL; i++) {
    env_put_link_kind(document, &kinds[i]);
  }
}

/* ---- NUMA nodes ---- */

/* GPUs whose nearest node it is: "0-3", "-" for none; "memory of 1" for a GPU's own memory. */
static const char *env_gpus_of_node(struct arena *arena, const struct machine *machine,
                                    int32_t number) {
  const char *text = "";
  const int memory_of = machine_node_gpu(machine, number);
  if (memory_of >= 0) {
    return arena_format(arena, "memory of %d", memory_of);
  }
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    uint32_t last = i;
    while (last < machine->gpu_count && machine->gpus[last].numa_node == number) {
      last++;
    }
    if (last > i) {
      text = arena_format(arena, last - i > 1 ? "%s%s%u-%u" : "%s%s%u", text,
                          text[0] != '\0' ? "," : "", i, last - 1);
      i = last;
    }
  }
  return text[0] != '\0' ? text : "-";
}

static const char *env_distances(struct arena *arena, const struct machine *machine,
                                 uint32_t node) {
  const char *text = "";
  for (uint32_t to = 0; to < machine->node_count; to++) {
    text = arena_format(arena, "%s%s%u", text, to > 0 ? " " : "", machine->node_distance[node][to]);
  }
  return text;
}

#define NODE_COLUMNS(X)                                                                            \
  X("node", integer, node->number)                                                                 \
  X("processors", cell, node->cpu_count == 0 ? cell_text("none") : cell_integer(node->cpu_count))  \
  X("memory", text, env_size_text(arena, node->memory_bytes))                                      \
  X("free", text, env_size_text(arena, node->free_memory_bytes))                                   \
  X("GPUs", text, env_gpus_of_node(arena, machine, node->number))                                  \
  X("distance", text, env_distances(arena, machine, i))

static void env_put_nodes(struct document *document, const struct machine *machine) {
  struct arena *arena = &document->arena;
  document_part(document, "NUMA nodes");
  DOCUMENT_COLUMNS(document, NODE_COLUMNS, .wraps = true);
  for (uint32_t i = 0; i < machine->node_count; i++) {
    const struct numa_node *node = &machine->nodes[i];
    DOCUMENT_ROW(document, NODE_COLUMNS(COLUMN_CELL));
  }
  document_table_end(document);
}

/* ---- facts ---- */

const char *env_fact_words(struct arena *arena, const char *fact, const char *value) {
  const bool power = strncmp(fact, "power_limit", strlen("power_limit")) == 0;
  const bool size = strcmp(fact, "memlock_limit") == 0 || strcmp(fact, "page_size") == 0 ||
                    strcmp(fact, "bar1_bytes") == 0;
  if (value[0] == '\0' || value[strspn(value, "0123456789")] != '\0') {
    return value;
  }
  const uint64_t number = strtoull(value, NULL, 10);
  return power && number > 0                ? arena_format(arena, "%.10g W", (double)number / 1e3)
         : size && number > 0               ? env_size_text(arena, number)
         : strcmp(fact, "memory_peak") == 0 ? env_rate_text(arena, number)
                                            : value;
}

/* `gpus`: the GPUs whose fact it is, where it is not that of all; else "". */
static void env_put_fact(struct document *document, const struct fact *fact, const char *gpus) {
  static const unsigned TONES[] = {TONE_NONE, TONE_DIM, TONE_BAD}; /* by state */
  const bool known = fact->state == FACT_OK;
  document_key(document, TONES[fact->state], fact->name, "%s%s%s%s",
               arena_around(&document->arena, "gpu ", gpus, ": "),
               known ? "" : fact_state_text(fact->state), known ? "" : ": ",
               known ? env_fact_words(&document->arena, fact->name, fact->value) : fact->value);
}

static bool env_is_same_answer(const struct fact *a, const struct fact *b) {
  return strcmp(a->name, b->name) == 0 && a->state == b->state && strcmp(a->value, b->value) == 0;
}

/* The GPUs with the same answer as that fact: "" for all, NULL when an earlier GPU had it. */
static const char *env_fact_group(struct arena *arena, const struct machine *machine,
                                  uint32_t fact) {
  const char *text = "";
  uint32_t count = 0;
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    const struct fact *other = &machine->facts[i];
    if (other->gpu < 0 || !env_is_same_answer(other, &machine->facts[fact])) {
      continue;
    }
    if (i < fact) {
      return NULL;
    }
    text = arena_format(arena, "%s%s%d", text, count > 0 ? "," : "", other->gpu);
    count++;
  }
  return count == machine->gpu_count ? "" : text;
}

static void env_put_facts(struct document *document, const struct machine *machine, bool of_gpus) {
  document_part(document, of_gpus ? "GPU facts" : "Facts");
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    if (of_gpus != (machine->facts[i].gpu >= 0)) {
      continue;
    }
    const char *group = of_gpus ? env_fact_group(&document->arena, machine, i) : "";
    if (group != NULL) {
      env_put_fact(document, &machine->facts[i], group);
    }
  }
}

static void env_put(struct document *document, const struct machine *machine) {
  document->key_width = FACT_WIDTH;
  env_put_head(document, machine);
  if (machine->gpu_count > 0) {
    env_put_gpus(document, machine);
    env_put_links(document, machine);
    env_put_facts(document, machine, true);
  }
  env_put_nodes(document, machine);
  env_put_facts(document, machine, false);
}

static void env_put_rows(struct document *document, const struct machine *machine) {
  static const char *const COLUMNS[] = {"gpu", "name", "state", "value"};
  DOCUMENT_TABLE(document, COLUMNS, 0);
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    const struct fact *fact = &machine->facts[i];
    DOCUMENT_ROW(document, fact->gpu < 0 ? cell_null() : cell_integer(fact->gpu),
                 cell_text(fact->name), cell_text(fact_state_text(fact->state)),
                 cell_text(fact->value));
  }
  document_table_end(document);
}

enum status env_print(const struct machine *machine, const struct table_options *options,
                      struct error *err) {
  struct document document;
  if (output_layout_of(options->format) == LAYOUT_OBJECT) {
    return env_print_json(machine, options->stream, err);
  }
  document_begin(&document, options, err);
  if (document_is_for_people(&document)) {
    env_put(&document, machine);
  } else {
    env_put_rows(&document, machine);
  }
  return document_end(&document);
}
