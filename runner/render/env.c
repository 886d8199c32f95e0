#include "runner/render/env.h"

#include "engine/base/units.h"
#include "engine/machine/machine.h"
#include "runner/table/output.h"
#include "runner/table/text.h"

#include <errno.h>
#include <string.h>

enum { CELL_MAX = 128, LABEL_MAX = 16, GROUP_MAX = 160, FACT_INDENT = 22, TEXT_MAX = 1 << 16 };

struct env_printer {
  const struct machine *machine;
  const struct table_options *options;
  struct output output; /* the same */
  struct error *err;
};

/* ---- pieces of text ---- */

static void env_heading(const struct env_printer *printer, const char *text) {
  (void)fputc('\n', printer->output.stream);
  output_heading(&printer->output, text);
}

/* A line of text that came from elsewhere: control characters are shown, not obeyed. */
static void env_line(const struct env_printer *printer, int indent, const char *text) {
  struct strbuf line;
  char first[8];
  strbuf_init(&line, TEXT_MAX);
  text_append(&line, text);
  (void)snprintf(first, sizeof first, "%*s", indent, "");
  output_wrapped(&printer->output, first, line.text);
  strbuf_fini(&line);
}

/* 85028896768 -> "79.2 GiB"; "?" when not known. */
static void env_size_text(uint64_t size_bytes, char text[CELL_MAX]) {
  char size[UNITS_TEXT_MAX];
  units_format_size_short(size_bytes, size);
  (void)snprintf(text, CELL_MAX, "%s", size_bytes == 0 ? "?" : size);
}

static void env_rate_text(uint64_t bytes_per_second, char text[CELL_MAX]) {
  double gigabytes = (double)bytes_per_second / 1e9;
  (void)snprintf(text, CELL_MAX, "%.*f GB/s", gigabytes < 1000 ? 1 : 0, gigabytes);
  if (bytes_per_second == 0) {
    (void)snprintf(text, CELL_MAX, "?");
  }
}

/* In GB/s; blank when not known. */
static struct cell env_rate_cell(uint64_t bytes_per_second) {
  return bytes_per_second == 0 ? cell_null() : cell_real((double)bytes_per_second / 1e9);
}

/* What leads to the host: "PCIe 5 x16", "C2C", "?". */
static void env_host_link_text(const struct gpu *gpu, enum limit limit, char text[CELL_MAX]) {
  if (limit == LIMIT_PCIE) {
    (void)snprintf(text, CELL_MAX, "PCIe %u x%u", gpu->pcie_generation_max, gpu->pcie_width_max);
  } else {
    (void)snprintf(text, CELL_MAX, "%s", limit == LIMIT_C2C ? "C2C" : "?");
  }
}

/* Every one is from NVIDIA: the word only costs columns. */
static const char *env_short_name(const struct gpu *gpu) {
  static const char VENDOR[] = "NVIDIA ";
  bool named = strncmp(gpu->name, VENDOR, sizeof VENDOR - 1) == 0;
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
  char line[4 * FACT_VALUE_MAX];
  (void)snprintf(line, sizeof line, "%s: %s, Linux %s",
                 machine->host_name[0] != '\0' ? machine->host_name : "this machine",
                 env_fact_or(machine, "os", "?"), env_fact_or(machine, "kernel", "?"));
  env_line(printer, 0, line);
  (void)snprintf(line, sizeof line, "%s, %s processors", env_fact_or(machine, "cpu_model", "?"),
                 env_fact_or(machine, "cpu_count", "?"));
  env_line(printer, 0, line);
  const char *driver = env_fact_or(machine, "driver_version", NULL);
  if (driver != NULL) {
    const char *module = env_fact_or(machine, "kernel_module", NULL);
    (void)snprintf(line, sizeof line, "NVIDIA driver %s%s%s%s, CUDA %s", driver,
                   module != NULL ? " (" : "", module != NULL ? module : "",
                   module != NULL ? " kernel module)" : "",
                   env_fact_or(machine, "cuda_driver_version", "?"));
    env_line(printer, 0, line);
  }
  if (strcmp(machine->cuda_state, "ok") != 0) {
    (void)snprintf(line, sizeof line, "No GPU to use: %s", machine->cuda_state);
    env_line(printer, 0, line);
  }
  if (machine->simulated) {
    env_line(printer, 0, "SIMULATED: a fake driver answers; rates measured here mean nothing");
  }
}

/* ---- GPUs ---- */

static void env_print_gpu_row(const struct env_printer *printer, struct table *table, uint32_t i) {
  const struct gpu *gpu = &printer->machine->gpus[i];
  char memory[CELL_MAX], link[CELL_MAX], nvlink[CELL_MAX] = "-";
  enum limit limit;
  uint64_t host_peak = peak_gpu_host(gpu, &limit);
  env_size_text(gpu->memory_bytes, memory);
  env_host_link_text(gpu, limit, link);
  if (gpu->nvlink_count > 0) {
    (void)snprintf(nvlink, sizeof nvlink, "%u x %.1f", gpu->nvlink_count,
                   (double)gpu->nvlink_bytes_per_second / 1e9);
  }
  const struct cell cells[] = {cell_integer(i),
                               cell_text(env_short_name(gpu)),
                               gpu->numa_node < 0 ? cell_null() : cell_integer(gpu->numa_node),
                               cell_text(memory),
                               env_rate_cell(peak_dram(gpu)),
                               cell_text(link),
                               env_rate_cell(host_peak),
                               cell_text(nvlink)};
  table_add(table, cells, printer->err);
}

static void env_print_model(const struct env_printer *printer, const struct gpu *gpu) {
  char l2[CELL_MAX];
  char line[2 * FACT_VALUE_MAX];
  env_size_text(gpu->l2_bytes, l2);
  (void)snprintf(line, sizeof line, "%s: compute %u.%u, %u SMs up to %.0f MHz, L2 %s", gpu->name,
                 gpu->compute_major, gpu->compute_minor, gpu->sm_count,
                 (double)gpu->sm_clock_max_khz / 1e3, l2);
  env_line(printer, 0, line);
  (void)snprintf(line, sizeof line, "%u copy engines, memory at 2 x %.0f MHz on %u bits",
                 gpu->copy_engine_count, (double)gpu->memory_clock_khz / 1e3, gpu->memory_bus_bits);
  env_line(printer, 2, line);
  if (gpu->pcie_generation > 0 && gpu->pcie_width > 0 &&
      (gpu->pcie_generation < gpu->pcie_generation_max || gpu->pcie_width < gpu->pcie_width_max)) {
    (void)snprintf(line, sizeof line, "PCIe at %u x%u when looked at; idle links slow down",
                   gpu->pcie_generation, gpu->pcie_width);
    env_line(printer, 2, line);
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
  (void)fputc('\n', printer->output.stream);
  struct table *table =
      table_open(printer->options, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS, printer->err);
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    const struct cell cells[] = {cell_integer(i), cell_text(machine->gpus[i].pci_address),
                                 cell_text(machine->gpus[i].uuid)};
    table_add(table, cells, printer->err);
  }
  return table_close(table, printer->err);
}

static enum status env_print_gpus(const struct env_printer *printer) {
  static const char *const COLUMNS[] = {"gpu",  "name", "node", "memory",
                                        "GB/s", "host", "GB/s", "NVLink"};
  env_heading(printer, "GPUs, with theoretical peaks");
  struct table *table =
      table_open(printer->options, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS, printer->err);
  for (uint32_t i = 0; i < printer->machine->gpu_count; i++) {
    env_print_gpu_row(printer, table, i);
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
static void env_link_label(const struct gpu_link *link, char label[LABEL_MAX]) {
  if (link->nvlink_count > 0) {
    (void)snprintf(label, LABEL_MAX, "NV%u", link->nvlink_count);
  } else {
    (void)snprintf(label, LABEL_MAX, "%s", link->peer_access ? "PCIe" : "host");
  }
}

static void env_print_link_rows(const struct env_printer *printer, struct table *table) {
  const struct machine *machine = printer->machine;
  for (uint32_t from = 0; from < machine->gpu_count; from++) {
    char labels[MACHINE_GPUS_MAX][LABEL_MAX];
    struct cell cells[MACHINE_GPUS_MAX + 1] = {cell_integer(from)};
    for (uint32_t to = 0; to < machine->gpu_count; to++) {
      env_link_label(&machine->links[from][to], labels[to]);
      cells[to + 1] = cell_text(from == to ? "-" : labels[to]);
    }
    table_add(table, cells, printer->err);
  }
}

/* The kinds of link in the matrix, each explained once. */
struct link_kind {
  char label[LABEL_MAX];
  const struct gpu_link *example;
  uint64_t slowest, fastest;
};

static size_t env_collect_link_kinds(const struct machine *machine, struct link_kind *kinds,
                                     size_t max) {
  size_t count = 0;
  for (uint32_t from = 0; from < machine->gpu_count; from++) {
    for (uint32_t to = 0; to < machine->gpu_count; to++) {
      const struct gpu_link *link = &machine->links[from][to];
      char label[LABEL_MAX];
      env_link_label(link, label);
      size_t i = 0;
      while (i < count && strcmp(kinds[i].label, label) != 0) {
        i++;
      }
      if (from == to || i == max) {
        continue;
      }
      if (i == count) {
        kinds[count++] = (struct link_kind){.example = link, .slowest = UINT64_MAX};
        (void)snprintf(kinds[i].label, LABEL_MAX, "%s", label);
      }
      uint64_t rate = link->bytes_per_second;
      kinds[i].slowest = rate < kinds[i].slowest ? rate : kinds[i].slowest;
      kinds[i].fastest = rate > kinds[i].fastest ? rate : kinds[i].fastest;
    }
  }
  return count;
}

static void env_print_legend(const struct env_printer *printer) {
  struct link_kind kinds[16];
  size_t count = env_collect_link_kinds(printer->machine, kinds, sizeof kinds / sizeof kinds[0]);
  for (size_t i = 0; i < count; i++) {
    char rate[CELL_MAX], fastest[CELL_MAX], range[2 * CELL_MAX + 8];
    const struct gpu_link *link = kinds[i].example;
    env_rate_text(kinds[i].slowest, rate);
    env_rate_text(kinds[i].fastest, fastest);
    (void)snprintf(range, sizeof range, kinds[i].slowest == kinds[i].fastest ? "%s" : "%s to %s",
                   rate, fastest);
    if (link->nvlink_count > 0) {
      (void)fprintf(printer->output.stream, "%s: %u NVLinks, %s each way%s\n", kinds[i].label,
                    link->nvlink_count, range, link->peer_access ? "" : ", no peer access");
    } else if (link->peer_access) {
      (void)fprintf(printer->output.stream, "PCIe: peer access over PCIe, %s each way\n", range);
    } else {
      (void)fprintf(printer->output.stream,
                    "host: no peer access, copies go through host memory, at most %s each way\n",
                    range);
    }
  }
}

static enum status env_print_links(const struct env_printer *printer) {
  const struct machine *machine = printer->machine;
  char names[MACHINE_GPUS_MAX][LABEL_MAX];
  const char *columns[MACHINE_GPUS_MAX + 1] = {"from \\ to"};
  if (machine->gpu_count < 2) {
    return STATUS_OK;
  }
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    (void)snprintf(names[i], LABEL_MAX, "%u", i);
    columns[i + 1] = names[i];
  }
  env_heading(printer, "GPU to GPU");
  struct table *table = table_open(printer->options, columns, machine->gpu_count + 1, printer->err);
  env_print_link_rows(printer, table);
  const enum status status = table_close(table, printer->err);
  env_print_legend(printer);
  return status;
}

/* ---- NUMA nodes ---- */

/* GPUs whose nearest node it is: "0-3", "-" for none. */
static void env_gpus_of_node(const struct machine *machine, int32_t number, char text[CELL_MAX]) {
  size_t length = 0;
  (void)snprintf(text, CELL_MAX, "-");
  for (uint32_t i = 0; i < machine->gpu_count && length < CELL_MAX - 8; i++) {
    uint32_t last = i;
    while (last < machine->gpu_count && machine->gpus[last].numa_node == number) {
      last++;
    }
    if (last > i) {
      length +=
          (size_t)snprintf(text + length, CELL_MAX - length, last - i > 1 ? "%s%u-%u" : "%s%u",
                           length > 0 ? "," : "", i, last - 1);
      i = last;
    }
  }
}

static void env_print_node_row(const struct env_printer *printer, struct table *table, uint32_t i) {
  const struct machine *machine = printer->machine;
  const struct numa_node *node = &machine->nodes[i];
  char memory[CELL_MAX], available[CELL_MAX], gpus[CELL_MAX];
  char distance[MACHINE_NODES_MAX * 5] = "";
  size_t length = 0;
  env_size_text(node->memory_bytes, memory);
  env_size_text(node->free_memory_bytes, available);
  env_gpus_of_node(machine, node->number, gpus);
  for (uint32_t to = 0; to < machine->node_count; to++) {
    length += (size_t)snprintf(distance + length, sizeof distance - length, "%s%u",
                               to > 0 ? " " : "", machine->node_distance[i][to]);
  }
  const struct cell cells[] = {cell_integer(node->number),
                               node->cpu_count == 0 ? cell_text("none")
                                                    : cell_integer(node->cpu_count),
                               cell_text(memory),
                               cell_text(available),
                               cell_text(gpus),
                               cell_text(distance)};
  table_add(table, cells, printer->err);
}

static enum status env_print_nodes(const struct env_printer *printer) {
  static const char *const COLUMNS[] = {"node", "processors", "memory", "free", "GPUs", "distance"};
  env_heading(printer, "NUMA nodes");
  struct table *table =
      table_open(printer->options, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS, printer->err);
  for (uint32_t i = 0; i < printer->machine->node_count; i++) {
    env_print_node_row(printer, table, i);
  }
  return table_close(table, printer->err);
}

/* ---- facts ---- */

/* Facts are bare numbers for queries; people want the unit. */
static const char *env_fact_unit(const char *fact, const char *value) {
  static const struct {
    const char *fact, *unit;
  } UNITS[] = {{"power_limit", " mW"}, {"memlock_limit", " bytes"}};
  for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
    if (strcmp(UNITS[i].fact, fact) == 0 && value[strspn(value, "0123456789")] == '\0') {
      return UNITS[i].unit;
    }
  }
  return "";
}

/* `gpus`: the GPUs whose fact it is, where it is not that of all. */
static void env_print_fact(const struct env_printer *printer, const struct fact *fact,
                           const char *gpus) {
  static const char *const COLOURS[] = {"", COLOUR_DIM, COLOUR_RED}; /* by state */
  FILE *stream = printer->output.stream;
  const bool colour = printer->output.colour && fact->state != FACT_OK;
  struct strbuf text;
  struct strbuf lines;
  strbuf_init(&text, TEXT_MAX);
  strbuf_init(&lines, TEXT_MAX);
  if (gpus != NULL) {
    strbuf_printf(&text, "gpu %s: ", gpus);
  }
  if (fact->state != FACT_OK) {
    strbuf_printf(&text, "%s: ", fact_state_text(fact->state));
  }
  text_append(&text, fact->value);
  strbuf_append(&text, env_fact_unit(fact->name, fact->value));
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
      env_print_fact(printer, &machine->facts[i], NULL);
    }
  }
  return STATUS_OK;
}

static bool env_is_same_answer(const struct fact *a, const struct fact *b) {
  return strcmp(a->name, b->name) == 0 && a->state == b->state && strcmp(a->value, b->value) == 0;
}

/* The GPUs with the same answer as that fact; their number, or 0 when an earlier GPU had it. */
static uint32_t env_fact_group(const struct machine *machine, uint32_t fact, char text[GROUP_MAX]) {
  size_t length = 0;
  uint32_t count = 0;
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    if (machine->facts[i].gpu < 0 ||
        !env_is_same_answer(&machine->facts[i], &machine->facts[fact])) {
      continue;
    }
    if (i < fact) {
      return 0;
    }
    count++;
    length += (size_t)snprintf(text + length, GROUP_MAX - length, "%s%d", length > 0 ? "," : "",
                               machine->facts[i].gpu);
  }
  return count;
}

static enum status env_print_gpu_facts(const struct env_printer *printer) {
  const struct machine *machine = printer->machine;
  env_heading(printer, "GPU facts");
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    char group[GROUP_MAX] = "";
    uint32_t count = machine->facts[i].gpu < 0 ? 0 : env_fact_group(machine, i, group);
    if (count > 0) {
      env_print_fact(printer, &machine->facts[i], count == machine->gpu_count ? NULL : group);
    }
  }
  return STATUS_OK;
}

static enum status env_print_page(const struct machine *machine,
                                  const struct table_options *options, struct error *err) {
  const struct env_printer printer = {
      .machine = machine,
      .options = options,
      .output = {options->stream, options->width, options->colour, NULL},
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
  errno = 0;
  return status == STATUS_OK ? stream_check(fflush(options->stream) != 0, NULL, err) : status;
}

static enum status env_print_fact_rows(const struct machine *machine,
                                       const struct table_options *options, struct error *err) {
  static const char *const COLUMNS[] = {"gpu", "name", "state", "value"};
  struct table *table = table_open(options, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS, err);
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
