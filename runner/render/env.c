#include "runner/render/env.h"

#include "engine/machine/machine.h"
#include "runner/render/rows.h"
#include "runner/render/text.h"

#include <errno.h>
#include <stdlib.h>

enum { CELL_MAX = 128, LABEL_MAX = 16, GROUP_MAX = 160, FACT_INDENT = 22 };

struct printer {
  const struct machine *machine;
  const struct env_options *options;
  struct rows *rows;
  struct error *err;
};

/* ---- pieces of text ---- */

static void heading(const struct printer *printer, const char *text) {
  (void)fprintf(printer->options->stream,
                printer->options->colour ? "\n\033[1m%s\033[0m\n" : "\n%s\n", text);
}

/* Words up to the width, from column `indent` on, where the lines after the first begin as well; a
 * longer word is left whole, so that it can be copied. */
static void write_wrapped(const struct printer *printer, const char *text, int indent) {
  FILE *stream = printer->options->stream;
  size_t width = printer->options->width == 0 ? SIZE_MAX : printer->options->width;
  size_t start = (size_t)indent;
  size_t column = start;
  while (*text != '\0') {
    size_t length = strcspn(text, " ");
    if (column > start && column + 1 + length > width) {
      (void)fprintf(stream, "\n%*s", indent, "");
      column = start;
    } else if (column > start) {
      (void)fputc(' ', stream);
      column++;
    }
    (void)fwrite(text, 1, length, stream);
    column += length;
    text += length;
    text += strspn(text, " ");
  }
}

/* A line of text that came from elsewhere: control characters are shown, not obeyed. */
static void say(const struct printer *printer, int indent, const char *text) {
  struct strbuf out;
  strbuf_init(&out, 1 << 16);
  text_escape(&out, text, strlen(text), ESCAPE_TERMINAL);
  (void)fprintf(printer->options->stream, "%*s", indent, "");
  write_wrapped(printer, out.text, indent);
  (void)fputc('\n', printer->options->stream);
  strbuf_fini(&out);
}

/* 85028896768 -> "79.2 GiB"; "?" when not known. */
static void memory_text(uint64_t size_bytes, char text[CELL_MAX]) {
  static const struct {
    uint64_t bytes;
    const char *unit;
  } UNITS[] = {{UINT64_C(1) << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}};
  (void)snprintf(text, CELL_MAX, "%s", size_bytes == 0 ? "?" : "0 B");
  for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
    if (size_bytes >= UNITS[i].bytes) {
      double value = (double)size_bytes / (double)UNITS[i].bytes;
      (void)snprintf(text, CELL_MAX, "%.*f %s", value < 100 ? 1 : 0, value, UNITS[i].unit);
      return;
    }
  }
}

static void rate_text(uint64_t bytes_per_second, char text[CELL_MAX]) {
  double gigabytes = (double)bytes_per_second / 1e9;
  (void)snprintf(text, CELL_MAX, "%.*f GB/s", gigabytes < 1000 ? 1 : 0, gigabytes);
  if (bytes_per_second == 0) {
    (void)snprintf(text, CELL_MAX, "?");
  }
}

/* In GB/s; blank when not known. */
static struct cell rate_cell(uint64_t bytes_per_second) {
  return bytes_per_second == 0 ? cell_null() : cell_real((double)bytes_per_second / 1e9);
}

/* What leads to the host: "PCIe 5 x16", "C2C", "?". */
static void host_link_text(const struct gpu *gpu, enum limit limit, char text[CELL_MAX]) {
  if (limit == LIMIT_PCIE) {
    (void)snprintf(text, CELL_MAX, "PCIe %u x%u", gpu->pcie_generation_max, gpu->pcie_width_max);
  } else {
    (void)snprintf(text, CELL_MAX, "%s", limit == LIMIT_C2C ? "C2C" : "?");
  }
}

/* Every one is from NVIDIA: the word only costs columns. */
static const char *short_name(const struct gpu *gpu) {
  static const char VENDOR[] = "NVIDIA ";
  bool named = strncmp(gpu->name, VENDOR, sizeof VENDOR - 1) == 0;
  return gpu->name + (named ? sizeof VENDOR - 1 : 0);
}

/* ---- tables ---- */

static enum status begin(const struct printer *printer, const char *const *columns, size_t count) {
  const struct row_sink *sink = rows_sink(printer->rows);
  return sink->begin(sink->context, columns, count, printer->err);
}

static enum status row(const struct printer *printer, const struct cell *cells) {
  const struct row_sink *sink = rows_sink(printer->rows);
  return sink->row(sink->context, cells, printer->err);
}

static enum status end(const struct printer *printer) {
  const struct row_sink *sink = rows_sink(printer->rows);
  return sink->end(sink->context, printer->err);
}

/* ---- the head ---- */

static const char *fact_or(const struct machine *machine, const char *name, const char *otherwise) {
  const struct fact *fact = machine_fact(machine, name, -1);
  return fact != NULL && fact->state == FACT_OK ? fact->value : otherwise;
}

static void print_head(const struct printer *printer) {
  const struct machine *machine = printer->machine;
  char line[4 * FACT_VALUE_MAX];
  (void)snprintf(line, sizeof line, "%s: %s, Linux %s",
                 machine->host_name[0] != '\0' ? machine->host_name : "this machine",
                 fact_or(machine, "os", "?"), fact_or(machine, "kernel", "?"));
  say(printer, 0, line);
  (void)snprintf(line, sizeof line, "%s, %s processors", fact_or(machine, "cpu_model", "?"),
                 fact_or(machine, "cpu_count", "?"));
  say(printer, 0, line);
  const char *driver = fact_or(machine, "driver_version", NULL);
  if (driver != NULL) {
    const char *module = fact_or(machine, "kernel_module", NULL);
    (void)snprintf(line, sizeof line, "NVIDIA driver %s%s%s%s, CUDA %s", driver,
                   module != NULL ? " (" : "", module != NULL ? module : "",
                   module != NULL ? " kernel module)" : "",
                   fact_or(machine, "cuda_driver_version", "?"));
    say(printer, 0, line);
  }
  if (strcmp(machine->cuda_state, "ok") != 0) {
    (void)snprintf(line, sizeof line, "No GPU to use: %s", machine->cuda_state);
    say(printer, 0, line);
  }
  if (machine->simulated) {
    say(printer, 0, "SIMULATED: a fake driver answers; rates measured here mean nothing");
  }
}

/* ---- GPUs ---- */

static enum status print_gpu_row(const struct printer *printer, uint32_t i) {
  const struct gpu *gpu = &printer->machine->gpus[i];
  char memory[CELL_MAX], link[CELL_MAX], nvlink[CELL_MAX] = "-";
  enum limit limit;
  uint64_t host_peak = peak_gpu_host(gpu, &limit);
  memory_text(gpu->memory_bytes, memory);
  host_link_text(gpu, limit, link);
  if (gpu->nvlink_count > 0) {
    (void)snprintf(nvlink, sizeof nvlink, "%u x %.1f", gpu->nvlink_count,
                   (double)gpu->nvlink_bytes_per_second / 1e9);
  }
  const struct cell cells[] = {cell_integer(i),
                               cell_text(short_name(gpu)),
                               gpu->numa_node < 0 ? cell_null() : cell_integer(gpu->numa_node),
                               cell_text(memory),
                               rate_cell(peak_dram(gpu)),
                               cell_text(link),
                               rate_cell(host_peak),
                               cell_text(nvlink)};
  return row(printer, cells);
}

static void print_model(const struct printer *printer, const struct gpu *gpu) {
  char l2[CELL_MAX];
  char line[2 * FACT_VALUE_MAX];
  memory_text(gpu->l2_bytes, l2);
  (void)snprintf(line, sizeof line, "%s: compute %u.%u, %u SMs up to %.0f MHz, L2 %s", gpu->name,
                 gpu->compute_major, gpu->compute_minor, gpu->sm_count,
                 (double)gpu->sm_clock_max_khz / 1e3, l2);
  say(printer, 0, line);
  (void)snprintf(line, sizeof line, "%u copy engines, memory at 2 x %.0f MHz on %u bits",
                 gpu->copy_engine_count, (double)gpu->memory_clock_khz / 1e3, gpu->memory_bus_bits);
  say(printer, 2, line);
  if (gpu->pcie_generation > 0 && gpu->pcie_width > 0 &&
      (gpu->pcie_generation < gpu->pcie_generation_max || gpu->pcie_width < gpu->pcie_width_max)) {
    (void)snprintf(line, sizeof line, "PCIe at %u x%u when looked at; idle links slow down",
                   gpu->pcie_generation, gpu->pcie_width);
    say(printer, 2, line);
  }
}

/* Once a model: GPUs of one model differ in nothing of this. */
static void print_models(const struct printer *printer) {
  const struct machine *machine = printer->machine;
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    bool seen = false;
    for (uint32_t before = 0; before < i; before++) {
      seen = seen || strcmp(machine->gpus[before].name, machine->gpus[i].name) == 0;
    }
    if (!seen) {
      print_model(printer, &machine->gpus[i]);
    }
  }
}

static enum status print_addresses(const struct printer *printer) {
  static const char *const COLUMNS[] = {"gpu", "PCI address", "UUID"};
  const struct machine *machine = printer->machine;
  (void)fputc('\n', printer->options->stream);
  enum status status = begin(printer, COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
  for (uint32_t i = 0; status == STATUS_OK && i < machine->gpu_count; i++) {
    const struct cell cells[] = {cell_integer(i), cell_text(machine->gpus[i].pci_address),
                                 cell_text(machine->gpus[i].uuid)};
    status = row(printer, cells);
  }
  return status == STATUS_OK ? end(printer) : status;
}

static enum status print_gpus(const struct printer *printer) {
  static const char *const COLUMNS[] = {"gpu",  "name", "node", "memory",
                                        "GB/s", "host", "GB/s", "NVLink"};
  heading(printer, "GPUs, with theoretical peaks");
  enum status status = begin(printer, COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
  for (uint32_t i = 0; status == STATUS_OK && i < printer->machine->gpu_count; i++) {
    status = print_gpu_row(printer, i);
  }
  if (status == STATUS_OK) {
    status = end(printer);
  }
  if (status == STATUS_OK) {
    print_models(printer);
    status = print_addresses(printer);
  }
  return status;
}

/* ---- what joins them ---- */

/* "NV18": links; "PCIe": peer access over PCIe; "host": none, copies go through host memory. */
static void link_label(const struct gpu_link *link, char label[LABEL_MAX]) {
  if (link->nvlink_count > 0) {
    (void)snprintf(label, LABEL_MAX, "NV%u", link->nvlink_count);
  } else {
    (void)snprintf(label, LABEL_MAX, "%s", link->peer_access ? "PCIe" : "host");
  }
}

static enum status print_link_rows(const struct printer *printer) {
  const struct machine *machine = printer->machine;
  for (uint32_t from = 0; from < machine->gpu_count; from++) {
    char labels[MACHINE_GPUS_MAX][LABEL_MAX];
    struct cell cells[MACHINE_GPUS_MAX + 1] = {cell_integer(from)};
    for (uint32_t to = 0; to < machine->gpu_count; to++) {
      link_label(&machine->links[from][to], labels[to]);
      cells[to + 1] = cell_text(from == to ? "-" : labels[to]);
    }
    enum status status = row(printer, cells);
    if (status != STATUS_OK) {
      return status;
    }
  }
  return STATUS_OK;
}

/* The kinds of link in the matrix, each explained once. */
struct link_kind {
  char label[LABEL_MAX];
  const struct gpu_link *example;
  uint64_t slowest, fastest;
};

static size_t collect_kinds(const struct machine *machine, struct link_kind *kinds, size_t max) {
  size_t count = 0;
  for (uint32_t from = 0; from < machine->gpu_count; from++) {
    for (uint32_t to = 0; to < machine->gpu_count; to++) {
      const struct gpu_link *link = &machine->links[from][to];
      char label[LABEL_MAX];
      link_label(link, label);
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

static void print_legend(const struct printer *printer) {
  struct link_kind kinds[16];
  size_t count = collect_kinds(printer->machine, kinds, sizeof kinds / sizeof kinds[0]);
  for (size_t i = 0; i < count; i++) {
    char rate[CELL_MAX], fastest[CELL_MAX], range[2 * CELL_MAX + 8];
    const struct gpu_link *link = kinds[i].example;
    rate_text(kinds[i].slowest, rate);
    rate_text(kinds[i].fastest, fastest);
    (void)snprintf(range, sizeof range, kinds[i].slowest == kinds[i].fastest ? "%s" : "%s to %s",
                   rate, fastest);
    if (link->nvlink_count > 0) {
      (void)fprintf(printer->options->stream, "%s: %u NVLinks, %s each way%s\n", kinds[i].label,
                    link->nvlink_count, range, link->peer_access ? "" : ", no peer access");
    } else if (link->peer_access) {
      (void)fprintf(printer->options->stream, "PCIe: peer access over PCIe, %s each way\n", range);
    } else {
      (void)fprintf(printer->options->stream,
                    "host: no peer access, copies go through host memory, at most %s each way\n",
                    range);
    }
  }
}

static enum status print_links(const struct printer *printer) {
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
  heading(printer, "GPU to GPU");
  enum status status = begin(printer, columns, machine->gpu_count + 1);
  if (status == STATUS_OK) {
    status = print_link_rows(printer);
  }
  if (status == STATUS_OK) {
    status = end(printer);
  }
  print_legend(printer);
  return status;
}

/* ---- NUMA nodes ---- */

/* GPUs whose nearest node it is: "0-3", "-" for none. */
static void gpus_of_node(const struct machine *machine, int32_t number, char text[CELL_MAX]) {
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

static enum status print_node_row(const struct printer *printer, uint32_t i) {
  const struct machine *machine = printer->machine;
  const struct numa_node *node = &machine->nodes[i];
  char memory[CELL_MAX], available[CELL_MAX], gpus[CELL_MAX];
  char distance[MACHINE_NODES_MAX * 5] = "";
  size_t length = 0;
  memory_text(node->memory_bytes, memory);
  memory_text(node->free_memory_bytes, available);
  gpus_of_node(machine, node->number, gpus);
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
  return row(printer, cells);
}

static enum status print_nodes(const struct printer *printer) {
  static const char *const COLUMNS[] = {"node", "processors", "memory", "free", "GPUs", "distance"};
  heading(printer, "NUMA nodes");
  enum status status = begin(printer, COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
  for (uint32_t i = 0; status == STATUS_OK && i < printer->machine->node_count; i++) {
    status = print_node_row(printer, i);
  }
  return status == STATUS_OK ? end(printer) : status;
}

/* ---- facts ---- */

/* Facts are bare numbers for queries; people want the unit. */
static const char *unit_of(const char *fact, const char *value) {
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
static void print_fact(const struct printer *printer, const struct fact *fact, const char *gpus) {
  static const char *const COLOURS[] = {"", "\033[2m", "\033[31m"}; /* by state */
  FILE *stream = printer->options->stream;
  bool colour = printer->options->colour && fact->state != FACT_OK;
  struct strbuf text;
  strbuf_init(&text, 1 << 16);
  if (gpus != NULL) {
    strbuf_printf(&text, "gpu %s: ", gpus);
  }
  if (fact->state != FACT_OK) {
    strbuf_printf(&text, "%s: ", fact_state_text(fact->state));
  }
  text_escape(&text, fact->value, strlen(fact->value), ESCAPE_TERMINAL);
  strbuf_append(&text, unit_of(fact->name, fact->value));
  (void)fprintf(stream, "%-*s%s", FACT_INDENT, fact->name, colour ? COLOURS[fact->state] : "");
  write_wrapped(printer, text.text, FACT_INDENT);
  (void)fprintf(stream, "%s\n", colour ? "\033[0m" : "");
  strbuf_fini(&text);
}

static enum status print_host_facts(const struct printer *printer) {
  const struct machine *machine = printer->machine;
  heading(printer, "Facts");
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    if (machine->facts[i].gpu < 0) {
      print_fact(printer, &machine->facts[i], NULL);
    }
  }
  return STATUS_OK;
}

static bool same_answer(const struct fact *a, const struct fact *b) {
  return strcmp(a->name, b->name) == 0 && a->state == b->state && strcmp(a->value, b->value) == 0;
}

/* The GPUs with the same answer as that fact; their number, or 0 when an earlier GPU had it. */
static uint32_t group_of(const struct machine *machine, uint32_t fact, char text[GROUP_MAX]) {
  size_t length = 0;
  uint32_t count = 0;
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    if (machine->facts[i].gpu < 0 || !same_answer(&machine->facts[i], &machine->facts[fact])) {
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

static enum status print_gpu_facts(const struct printer *printer) {
  const struct machine *machine = printer->machine;
  heading(printer, "GPU facts");
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    char group[GROUP_MAX] = "";
    uint32_t count = machine->facts[i].gpu < 0 ? 0 : group_of(machine, i, group);
    if (count > 0) {
      print_fact(printer, &machine->facts[i], count == machine->gpu_count ? NULL : group);
    }
  }
  return STATUS_OK;
}

enum status env_print(const struct machine *machine, const struct env_options *options,
                      struct error *err) {
  const struct rows_options rows_options = {.format = ROW_TABLE,
                                            .stream = options->stream,
                                            .width = options->width,
                                            .colour = options->colour};
  struct printer printer = {
      .machine = machine, .options = options, .rows = rows_new(&rows_options), .err = err};
  static enum status (*const PARTS[])(const struct printer *) = {
      print_gpus, print_links, print_gpu_facts, print_nodes, print_host_facts};
  size_t first = machine->gpu_count > 0 ? 0 : 3; /* the first three are about GPUs */
  print_head(&printer);
  enum status status = STATUS_OK;
  for (size_t i = first; status == STATUS_OK && i < sizeof PARTS / sizeof PARTS[0]; i++) {
    status = PARTS[i](&printer);
  }
  bool gone = rows_reader_gone(printer.rows);
  rows_free(printer.rows);
  errno = 0;
  if (status == STATUS_OK && !gone && fflush(options->stream) != 0 && errno != EPIPE) {
    status = error_set_errno(err, errno, "the output cannot be written");
  }
  return status;
}
