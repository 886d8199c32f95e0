#include "runner/render/env.h"

#include "engine/base/arena.h"
#include "engine/base/units.h"
#include "engine/machine/machine.h"
#include "runner/table/output.h"
#include "runner/table/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FACT_INDENT = 22, TEXT_MAX = 1 << 16 };

struct env_printer {
  const struct machine *machine;
  const struct table_options *options;
  struct output output; /* the same */
  struct arena *arena;
  struct error *err;
};

/* ---- pieces of text ---- */

static void env_heading(const struct env_printer *printer, const char *text) {
  output_gap(&printer->output);
  output_heading(&printer->output, text);
}

/* A line of text that came from elsewhere: control characters are shown, not obeyed. */
static void __attribute__((format(printf, 3, 4)))
env_line(const struct env_printer *printer, const char *indent, const char *format, ...) {
  char text[4 * FACT_VALUE_MAX];
  struct strbuf line;
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  strbuf_init(&line, TEXT_MAX);
  text_append(&line, text);
  output_wrapped(&printer->output, indent, line.text);
  strbuf_fini(&line);
}

/* 85028896768 -> "79.2 GiB"; "?" when not known. */
static const char *env_size_text(struct arena *arena, uint64_t size_bytes) {
  char size[UNITS_TEXT_MAX];
  units_format_size_short(size_bytes, size);
  return size_bytes == 0 ? "?" : arena_strdup(arena, size);
}

static const char *env_rate_text(struct arena *arena, uint64_t bytes_per_second) {
  const double gigabytes = (double)bytes_per_second / 1e9;
  return bytes_per_second == 0
             ? "?"
             : arena_format(arena, "%.*f GB/s", gigabytes < 1000 ? 1 : 0, gigabytes);
}

/* In GB/s; blank when not known. */
static struct cell env_rate_cell(uint64_t bytes_per_second) {
  return bytes_per_second == 0 ? cell_null() : cell_real((double)bytes_per_second / 1e9);
}

/* What leads to the host: "PCIe 5 x16", "C2C", "?". */
static const char *env_host_link_text(struct arena *arena, const struct gpu *gpu,
                                      enum limit limit) {
  return limit == LIMIT_PCIE
             ? arena_format(arena, "PCIe %u x%u", gpu->pcie_generation_max, gpu->pcie_width_max)
         : limit == LIMIT_C2C ? "C2C"
                              : "?";
}

/* Every one is from NVIDIA: the word only costs columns. */
static const char *env_short_name(const struct gpu *gpu) {
  static const char VENDOR[] = "NVIDIA ";
  const bool named = strncmp(gpu->name, VENDOR, sizeof VENDOR - 1) == 0;
  return gpu->name + (named ? sizeof VENDOR - 1 : 0);
}

/* ---- the head ---- */

static const char *env_fact_or(const struct machine *machine, const char *name,
                               const char *otherwise) {
  const struct fact *fact = machine_fact(machine, name, -1);
  return fact != NULL && fact->state == FACT_OK ? fact->value : otherwise;
}

static void env_print_head(const struct env_printer *printer) {
  const struct machine *machine = printer->machine;
  const char *driver = env_fact_or(machine, "driver_version", NULL);
  const char *module = env_fact_or(machine, "kernel_module", NULL);
  env_line(printer, "", "%s: %s, Linux %s",
           machine->host_name[0] != '\0' ? machine->host_name : "this machine",
           env_fact_or(machine, "os", "?"), env_fact_or(machine, "kernel", "?"));
  env_line(printer, "", "%s, %s processors", env_fact_or(machine, "cpu_model", "?"),
           env_fact_or(machine, "cpu_count", "?"));
  if (driver != NULL) {
    env_line(printer, "", "NVIDIA driver %s%s%s%s, CUDA %s", driver, module != NULL ? " (" : "",
             module != NULL ? module : "", module != NULL ? " kernel module)" : "",
             env_fact_or(machine, "cuda_driver_version", "?"));
  }
  if (strcmp(machine->cuda_state, "ok") != 0) {
    env_line(printer, "", "No GPU to use: %s", machine->cuda_state);
  }
  if (machine->simulated) {
    env_line(printer, "", "SIMULATED: a fake driver answers; rates measured here mean nothing");
  }
}

/* ---- GPUs ---- */

static void env_print_model(const struct env_printer *printer, const struct gpu *gpu) {
  env_line(printer, "", "%s: compute %u.%u, %u SMs up to %.0f MHz, L2 %s", gpu->name,
           gpu->compute_major, gpu->compute_minor, gpu->sm_count,
           (double)gpu->sm_clock_max_khz / 1e3, env_size_text(printer->arena, gpu->l2_bytes));
  env_line(printer, "  ", "%u copy engines, memory at 2 x %.0f MHz on %u bits",
           gpu->copy_engine_count, (double)gpu->memory_clock_khz / 1e3, gpu->memory_bus_bits);
  if (gpu->pcie_generation > 0 && gpu->pcie_width > 0 &&
      (gpu->pcie_generation < gpu->pcie_generation_max || gpu->pcie_width < gpu->pcie_width_max)) {
    env_line(printer, "  ", "PCIe at %u x%u when looked at; idle links slow down",
             gpu->pcie_generation, gpu->pcie_width);
  }
}

/* Once a model: GPUs of one model differ in nothing of this. */
static void env_print_models(const struct env_printer *printer) {
  const struct machine *machine = printer->machine;
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    bool seen = false;
    for (uint32_t before = 0; before < i; before++) {
      seen = seen || strcmp(machine->gpus[before].name, machine->gpus[i].name) == 0;
    }
    if (!seen) {
      env_print_model(printer, &machine->gpus[i]);
    }
  }
}

static enum status env_print_addresses(const struct env_printer *printer) {
  static const char *const COLUMNS[] = {"gpu", "PCI address", "UUID"};
  const struct machine *machine = printer->machine;
  output_gap(&printer->output);
  struct table *table = TABLE_OPEN(printer->options, COLUMNS, printer->err);
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    const struct cell cells[] = {cell_integer(i), cell_text(machine->gpus[i].pci_address),
                                 cell_text(machine->gpus[i].uuid)};
    table_add(table, cells, printer->err);
  }
  return table_close(table, printer->err);
}

#define GPU_COLUMNS(X)                                                                             \
  X("gpu", cell_integer(i))                                                                        \
  X("name", cell_text(env_short_name(gpu)))                                                        \
  X("node", gpu->numa_node < 0 ? cell_null() : cell_integer(gpu->numa_node))                       \
  X("memory", cell_text(env_size_text(printer->arena, gpu->memory_bytes)))                         \
  X("GB/s", env_rate_cell(peak_dram(gpu)))                                                         \
  X("host", cell_text(env_host_link_text(printer->arena, gpu, limit)))                             \
  X("GB/s", env_rate_cell(host_peak))                                                              \
  X("NVLink GB/s", cell_text(gpu->nvlink_count == 0                                                \
                                 ? "-"                                                             \
                                 : arena_format(printer->arena, "%u x %.1f", gpu->nvlink_count,    \
                                                (double)gpu->nvlink_bytes_per_second / 1e9)))

static enum status env_print_gpus(const struct env_printer *printer) {
  static const char *const COLUMNS[] = {GPU_COLUMNS(COLUMN_NAME)};
  env_heading(printer, "GPUs, with theoretical peaks");
  struct table *table = TABLE_OPEN(printer->options, COLUMNS, printer->err);
  for (uint32_t i = 0; i < printer->machine->gpu_count; i++) {
    const struct gpu *gpu = &printer->machine->gpus[i];
    enum limit limit;
    const uint64_t host_peak = peak_gpu_host(gpu, &limit);
    const struct cell cells[] = {GPU_COLUMNS(COLUMN_CELL)};
    table_add(table, cells, printer->err);
  }
  enum status status = table_close(table, printer->err);
  if (status == STATUS_OK) {
    env_print_models(printer);
    status = env_print_addresses(printer);
  }
  return status;
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
  size_t i = 0;
  while (i < LINK_KINDS_MAX && kinds[i].example != NULL && strcmp(kinds[i].label, label) != 0) {
    i++;
  }
  if (i == LINK_KINDS_MAX) {
    return;
  }
  if (kinds[i].example == NULL) {
    kinds[i] = (struct link_kind){label, link, rate, rate};
  }
  kinds[i].slowest = rate < kinds[i].slowest ? rate : kinds[i].slowest;
  kinds[i].fastest = rate > kinds[i].fastest ? rate : kinds[i].fastest;
}

static void env_print_link_kind(const struct env_printer *printer, const struct link_kind *kind) {
  FILE *stream = printer->output.stream;
  const struct gpu_link *link = kind->example;
  const char *range = env_rate_text(printer->arena, kind->slowest);
  if (kind->slowest != kind->fastest) {
    range = arena_format(printer->arena, "%s to %s", range,
                         env_rate_text(printer->arena, kind->fastest));
  }
  if (link->nvlink_count > 0) {
    (void)fprintf(stream, "%s: %u NVLinks, %s each way%s\n", kind->label, link->nvlink_count, range,
                  link->peer_access ? "" : ", no peer access");
  } else {
    (void)fprintf(
        stream,
        link->peer_access
            ? "PCIe: peer access over PCIe, %s each way\n"
            : "host: no peer access, copies go through host memory, at most %s each way\n",
        range);
  }
}

static enum status env_print_links(const struct env_printer *printer) {
  const struct machine *machine = printer->machine;
  const char *columns[MACHINE_GPUS_MAX + 1] = {"from \\ to"};
  struct link_kind kinds[LINK_KINDS_MAX] = {{.example = NULL}};
  if (machine->gpu_count < 2) {
    return STATUS_OK;
  }
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    columns[i + 1] = arena_format(printer->arena, "%u", i);
  }
  env_heading(printer, "GPU to GPU");
  struct table *table = table_open(printer->options, columns, machine->gpu_count + 1, printer->err);
  for (uint32_t from = 0; from < machine->gpu_count; from++) {
    struct cell cells[MACHINE_GPUS_MAX + 1] = {cell_integer(from)};
    for (uint32_t to = 0; to < machine->gpu_count; to++) {
      const struct gpu_link *link = &machine->links[from][to];
      const char *label = from == to ? "-" : env_link_label(printer->arena, link);
      cells[to + 1] = cell_text(label);
      if (from != to) {
        env_add_link_kind(link, label, kinds);
      }
    }
    table_add(table, cells, printer->err);
  }
  const enum status status = table_close(table, printer->err);
  for (size_t i = 0; i < LINK_KINDS_MAX && kinds[i].example != NULL; i++) {
    env_print_link_kind(printer, &kinds[i]);
  }
  return status;
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
  X("node", cell_integer(node->number))                                                            \
  X("processors", node->cpu_count == 0 ? cell_text("none") : cell_integer(node->cpu_count))        \
  X("memory", cell_text(env_size_text(arena, node->memory_bytes)))                                 \
  X("free", cell_text(env_size_text(arena, node->free_memory_bytes)))                              \
  X("GPUs", cell_text(env_gpus_of_node(arena, printer->machine, node->number)))                    \
  X("distance", cell_text(env_distances(arena, printer->machine, i)))

static enum status env_print_nodes(const struct env_printer *printer) {
  static const char *const COLUMNS[] = {NODE_COLUMNS(COLUMN_NAME)};
  struct arena *arena = printer->arena;
  env_heading(printer, "NUMA nodes");
  struct table *table = TABLE_OPEN(printer->options, COLUMNS, printer->err);
  for (uint32_t i = 0; i < printer->machine->node_count; i++) {
    const struct numa_node *node = &printer->machine->nodes[i];
    const struct cell cells[] = {NODE_COLUMNS(COLUMN_CELL)};
    table_add(table, cells, printer->err);
  }
  return table_close(table, printer->err);
}

/* ---- facts ---- */

/* Facts are bare numbers in base units for queries: "700000" is "700 W" for people. */
static const char *env_fact_value(struct arena *arena, const char *fact, const char *value) {
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
static void env_print_fact(const struct env_printer *printer, const struct fact *fact,
                           const char *gpus) {
  static const char *const COLOURS[] = {"", COLOUR_DIM, COLOUR_RED}; /* by state */
  FILE *stream = printer->output.stream;
  const bool colour = printer->output.colour && fact->state != FACT_OK;
  struct strbuf text;
  struct strbuf lines;
  strbuf_init(&text, TEXT_MAX);
  strbuf_init(&lines, TEXT_MAX);
  if (gpus[0] != '\0') {
    strbuf_printf(&text, "gpu %s: ", gpus);
  }
  if (fact->state != FACT_OK) {
    strbuf_printf(&text, "%s: ", fact_state_text(fact->state));
  }
  text_append(&text, fact->state == FACT_OK
                         ? env_fact_value(printer->arena, fact->name, fact->value)
                         : fact->value);
  text_wrap(&lines, text.text, printer->output.width, FACT_INDENT, false);
  (void)fprintf(stream, "%-*s%s%s%s\n", FACT_INDENT, fact->name, colour ? COLOURS[fact->state] : "",
                lines.text, colour ? COLOUR_OFF : "");
  strbuf_fini(&lines);
  strbuf_fini(&text);
}

static enum status env_print_host_facts(const struct env_printer *printer) {
  const struct machine *machine = printer->machine;
  env_heading(printer, "Facts");
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    if (machine->facts[i].gpu < 0) {
      env_print_fact(printer, &machine->facts[i], "");
    }
  }
  return STATUS_OK;
}

static bool env_is_same_answer(const struct fact *a, const struct fact *b) {
  return strcmp(a->name, b->name) == 0 && a->state == b->state && strcmp(a->value, b->value) == 0;
}

/* The GPUs with the same answer as that fact: "" for all, NULL when an earlier GPU had it. */
static const char *env_fact_group(const struct env_printer *printer, uint32_t fact) {
  const struct machine *machine = printer->machine;
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
    text = arena_format(printer->arena, "%s%s%d", text, count > 0 ? "," : "", other->gpu);
    count++;
  }
  return count == machine->gpu_count ? "" : text;
}

static enum status env_print_gpu_facts(const struct env_printer *printer) {
  const struct machine *machine = printer->machine;
  env_heading(printer, "GPU facts");
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    const char *group = machine->facts[i].gpu < 0 ? NULL : env_fact_group(printer, i);
    if (group != NULL) {
      env_print_fact(printer, &machine->facts[i], group);
    }
  }
  return STATUS_OK;
}

static enum status env_print_page(const struct machine *machine,
                                  const struct table_options *options, struct error *err) {
  struct arena arena = {0};
  const struct env_printer printer = {
      .machine = machine,
      .options = options,
      .output = {options->stream, options->width, options->colour, NULL},
      .arena = &arena,
      .err = err,
  };
  static enum status (*const PARTS[])(const struct env_printer *) = {
      env_print_gpus, env_print_links, env_print_gpu_facts, env_print_nodes, env_print_host_facts};
  const size_t first = machine->gpu_count > 0 ? 0 : 3; /* the first three are about GPUs */
  env_print_head(&printer);
  enum status status = STATUS_OK;
  for (size_t i = first; status == STATUS_OK && i < sizeof PARTS / sizeof PARTS[0]; i++) {
    status = PARTS[i](&printer);
  }
  arena_fini(&arena);
  errno = 0;
  return status == STATUS_OK
             ? stream_check(options->stream, fflush(options->stream) != 0, NULL, err)
             : status;
}

static enum status env_print_fact_rows(const struct machine *machine,
                                       const struct table_options *options, struct error *err) {
  static const char *const COLUMNS[] = {"gpu", "name", "state", "value"};
  struct table *table = TABLE_OPEN(options, COLUMNS, err);
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    const struct fact *fact = &machine->facts[i];
    const struct cell cells[] = {fact->gpu < 0 ? cell_null() : cell_integer(fact->gpu),
                                 cell_text(fact->name), cell_text(fact_state_text(fact->state)),
                                 cell_text(fact->value)};
    table_add(table, cells, err);
  }
  return table_close(table, err);
}

enum status env_print(const struct machine *machine, const struct table_options *options,
                      struct error *err) {
  switch (output_layout_of(options->format)) {
  case LAYOUT_PAGE:
    return env_print_page(machine, options, err);
  case LAYOUT_OBJECT:
    return env_print_json(machine, options->stream, err);
  case LAYOUT_DIGEST:
  case LAYOUT_ROWS:
    break;
  }
  return env_print_fact_rows(machine, options, err);
}
