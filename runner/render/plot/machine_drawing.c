#include "runner/render/plot/machine_drawing_internal.h"

#include "engine/base/embed.h"
#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "engine/machine/machine.h"
#include "runner/render/env.h"
#include "runner/table/html.h"
#include "runner/table/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts of facts ---- */

static const char *machine_peak_words(struct arena *arena, uint64_t bytes_per_second) {
  const char *rate = env_rate_words(arena, bytes_per_second);
  return rate != NULL ? arena_format(arena, "peak %s", rate) : "peak unknown";
}

static const char *machine_or_unknown(const char *text) {
  return text != NULL ? text : "unknown";
}

static const char *machine_memory_words(struct arena *arena, const struct machine *machine) {
  const char *peak = machine_value(machine, "memory_peak", -1);
  const char *modules = machine_value(machine, "memory_modules", -1);
  return arena_format(arena, "Memory of the host: %s%s", arena_around(arena, "", modules, ", "),
                      peak != NULL
                          ? arena_format(arena, "%s over all channels",
                                         machine_peak_words(arena, strtoull(peak, NULL, 10)))
                          : "peak unknown (haul env says why)");
}

static const char *machine_page_words(struct arena *arena, const struct machine *machine) {
  const char *bytes = machine_value(machine, "page_size", -1);
  return bytes == NULL
             ? "size of a page unknown"
             : arena_format(arena, "pages of %s",
                            units_format_size_short(strtoull(bytes, NULL, 10), UNITS_TEXT));
}

/* By the rate of one link, as nvidia-smi nvlink --status shows it. */
static const char *machine_nvlink_version(uint64_t bytes_per_second) {
  static const struct {
    uint64_t megabytes;
    const char *name;
  } VERSIONS[] = {{20000, "NVLink 1"},
                  {25781, "NVLink 2"},
                  {25000, "NVLink 3"},
                  {26562, "NVLink 4"},
                  {53125, "NVLink 5"}};
  const size_t i =
      FIRST_OF(k, COUNT_OF(VERSIONS), bytes_per_second / 1000000 == VERSIONS[k].megabytes);
  return i < COUNT_OF(VERSIONS) ? VERSIONS[i].name : "NVLink";
}

/* ---- pieces ---- */

static void machine_put_box(struct machine_drawing *d, const char *kind, double x, double y,
                            double width, double height) {
  strbuf_printf(d->text,
                "<rect class=\"%s\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" "
                "rx=\"4\"/>\n",
                kind, x, y, width, height);
}

static double machine_box_height(unsigned lines) {
  return lines * LINE + PAD;
}

static void machine_put_wire(struct machine_drawing *d, double x, double from, double to) {
  strbuf_printf(d->text, "<path class=\"wire\" d=\"M%.0f %.0fV%.0f\"/>\n", x, from, to);
}

static double machine_char(const char *kind) {
  return strcmp(kind, "title") == 0                                 ? MACHINE_CHAR_TITLE
         : strcmp(kind, "strong") == 0 || strcmp(kind, "rate") == 0 ? MACHINE_CHAR_BOLD
                                                                    : MACHINE_CHAR;
}

void machine_put_text(struct machine_drawing *d, const char *kind, double x, double y, double room,
                      const char *words) {
  const size_t most = room > 0 ? (size_t)(room / machine_char(kind)) : 0;
  html_put(d->text, "<text class=\"%s\" x=\"%.0f\" y=\"%.0f\">", kind, x, y);
  html_put_cut(d->text, words, most);
  strbuf_append(d->text, "</text>\n");
}

void machine_put_wrapped(struct machine_drawing *d, const char *kind, const char *words) {
  SCOPED(strbuf_fini) struct strbuf lines = STRBUF(strlen(words) * 2 + 64);
  text_wrap(&lines, words, (unsigned)((d->width - 2 * MARGIN) / machine_char(kind)), 0, true);
  char *rest = NULL;
  for (char *line = strtok_r(lines.text, "\n", &rest); line != NULL;
       line = strtok_r(NULL, "\n", &rest)) {
    d->y += LINE;
    machine_put_text(d, kind, MARGIN, d->y, d->width, line);
  }
}

static double machine_column_x(uint32_t column) {
  return MARGIN + (double)column * COLUMN;
}

static double machine_gpu_x(const struct machine_drawing *d, uint32_t gpu) {
  return machine_column_x(d->column_of[gpu]) + WIRE_LEFT;
}

/* ---- what stands where ---- */

static uint32_t machine_place_gpus(struct machine_drawing *d, int32_t node, uint32_t first) {
  uint32_t count = 0;
  for (uint32_t g = 0; g < d->machine->gpu_count; g++) {
    const int32_t own = d->machine->gpus[g].numa_node;
    const bool known = own >= 0 && machine_node_index(d->machine, own) >= 0;
    if (known ? own == node : node == -1) {
      d->column_of[g] = first + count++;
    }
  }
  return count;
}

/* Nodes that are a GPU's own memory are not drawn: the GPU is. */
static void machine_place_nodes(struct machine_drawing *d) {
  uint32_t columns = 0;
  for (uint32_t i = 0; i <= d->machine->node_count; i++) {
    const bool last = i == d->machine->node_count;
    const int32_t number = last ? -1 : d->machine->nodes[i].number;
    if (!last && machine_node_gpu(d->machine, number) >= 0) {
      continue;
    }
    const uint32_t gpus = machine_place_gpus(d, number, columns);
    if (!last || gpus > 0) {
      d->nodes[d->node_count++] = (struct drawn_node){number, columns, gpus > 0 ? gpus : 1};
      columns += gpus > 0 ? gpus : 1;
    }
  }
  d->width = fmax(WIDTH_LEAST, 2 * MARGIN + (double)columns * COLUMN);
}

/* ---- nodes ---- */

/* "node7: 4 x H200, driver 580.95.05 (simulated)" */
static const char *machine_title(struct arena *arena, const struct machine *machine) {
  const char *driver = machine_value(machine, "driver_version", -1);
  const char *name = machine->node_name[0] != '\0'   ? machine->node_name
                     : machine->host_name[0] != '\0' ? machine->host_name
                                                     : "this machine";
  const char *gpus = machine->gpu_count == 0 ? "no GPU" : machine_gpu_model(&machine->gpus[0]);
  for (uint32_t g = 1; g < machine->gpu_count; g++) {
    gpus = strcmp(machine->gpus[g].name, machine->gpus[0].name) == 0 ? gpus : "GPUs";
  }
  return arena_format(
      arena, "%s: %s%s%s%s", name,
      machine->gpu_count > 1 ? arena_format(arena, "%u x ", machine->gpu_count) : "", gpus,
      arena_around(arena, ", driver ", driver, ""), machine->simulated ? " (simulated)" : "");
}

static void machine_draw_head(struct machine_drawing *d) {
  const struct machine *machine = d->machine;
  struct arena *arena = d->arena;
  machine_put_wrapped(d, "title", machine_title(arena, machine));
  machine_put_wrapped(d, "dim",
                      arena_format(arena, "%s; caches of a processor: %s; %s",
                                   machine_or_unknown(machine_value(machine, "cpu_model", -1)),
                                   machine_or_unknown(machine_value(machine, "cpu_caches", -1)),
                                   machine_page_words(arena, machine)));
  machine_put_wrapped(d, "dim", machine_memory_words(arena, machine));
  machine_put_wrapped(d, "dim", "Peaks are theoretical, one way; of a GPU's memory, both ways.");
  if (d->run != NULL) {
    machine_put_wrapped(d, "rate",
                        arena_format(arena,
                                     "Blue: measured, GB/s one way (\xe2\x86\x93 to the GPU, "
                                     "\xe2\x86\x91 from it) and %% of the peak, by %s",
                                     d->run));
  }
  d->y += PAD;
}

/* "; NUMA distance 21", "; NUMA distance 12 to 32"; "" where it is not known. */
static const char *machine_distance_words(const struct machine_drawing *d) {
  unsigned least = UINT8_MAX;
  unsigned most = 0;
  for (uint32_t i = 0; i < d->node_count; i++) {
    for (uint32_t j = 0; j < d->node_count; j++) {
      const int a = machine_node_index(d->machine, d->nodes[i].number);
      const int b = machine_node_index(d->machine, d->nodes[j].number);
      const unsigned distance = a >= 0 && b >= 0 ? d->machine->node_distance[a][b] : 0;
      least = i != j && distance > 0 && distance < least ? distance : least;
      most = i != j && distance > most ? distance : most;
    }
  }
  return most == 0       ? ""
         : most == least ? arena_format(d->arena, "; NUMA distance %u", most)
                         : arena_format(d->arena, "; NUMA distance %u to %u", least, most);
}

static double machine_node_x(const struct drawn_node *node) {
  return machine_column_x(node->first) + ((double)node->columns * COLUMN - BOX_GAP) / 2.0;
}

static void machine_draw_socket_links(struct machine_drawing *d) {
  if (d->node_count < 2 || d->nodes[1].number < 0) {
    return;
  }
  const double right =
      machine_column_x(d->nodes[d->node_count - 1].first + d->nodes[d->node_count - 1].columns) -
      BOX_GAP;
  machine_put_box(d, "bus", MARGIN, d->y, right - MARGIN, BUS);
  const char *links = machine_value(d->machine, "socket_links", -1);
  machine_put_text(d, "", MARGIN + PAD, d->y + 19, right - MARGIN - PAD,
                   arena_format(d->arena, "%s%s",
                                strings_equal(links, "none")
                                    ? "Within one socket"
                                    : arena_format(d->arena, "Links between sockets: %s",
                                                   machine_or_unknown(links)),
                                machine_distance_words(d)));
  d->y += BUS;
  for (uint32_t i = 0; i < d->node_count; i++) {
    if (d->nodes[i].number >= 0) {
      machine_put_wire(d, machine_node_x(&d->nodes[i]), d->y, d->y + WIRE / 2.0);
    }
  }
  d->y += WIRE / 2.0;
}

static void machine_draw_node(struct machine_drawing *d, const struct drawn_node *drawn) {
  const double x = machine_column_x(drawn->first);
  const double width = (double)drawn->columns * COLUMN - BOX_GAP;
  const int index = machine_node_index(d->machine, drawn->number);
  machine_put_box(d, "box", x, d->y, width, machine_box_height(NODE_LINES + d->within_nodes));
  if (index < 0) {
    machine_put_text(d, "strong", x + PAD, d->y + LINE, width - PAD, "NUMA node unknown");
    return;
  }
  const struct numa_node *node = &d->machine->nodes[index];
  const char *size = units_format_size_short(node->memory_bytes, UNITS_TEXT);
  machine_put_text(d, "strong", x + PAD, d->y + LINE, width - PAD,
                   arena_format(d->arena, "NUMA node %d", node->number));
  machine_put_text(d, "dim", x + PAD, d->y + 2 * LINE, width - PAD,
                   node->cpu_count == 0
                       ? "no processors"
                       : arena_format(d->arena, "%u %s", node->cpu_count,
                                      strings_plural(node->cpu_count, "processor", "processors")));
  machine_put_text(d, "dim", x + PAD, d->y + 3 * LINE, width - PAD,
                   node->memory_bytes == 0 ? "memory unknown"
                                           : arena_format(d->arena, "%s of memory", size));
  machine_put_rate_line(
      d, x + PAD, d->y + 4 * LINE, "within ",
      machine_rate_between(d, PLACE_NUMA, node->number, PLACE_NUMA, node->number));
}

/* ---- from nodes to GPUs ---- */

/* The bridge below the root that the GPU shares with others; "" = none, or not known. */
static void machine_switch_of(const struct machine *machine, uint32_t gpu, char address[24]) {
  const struct fact *fact = machine_fact(machine, "pcie_path", (int32_t)gpu);
  char mine[24] = "";
  address[0] = '\0';
  if (fact == NULL || fact->state != FACT_OK || sscanf(fact->value, "%23s", mine) != 1) {
    return;
  }
  for (uint32_t g = 0; g < machine->gpu_count; g++) {
    const struct fact *other = machine_fact(machine, "pcie_path", (int32_t)g);
    const size_t length = strlen(mine);
    if (g != gpu && other != NULL && other->state == FACT_OK && strchr(mine, ':') != NULL &&
        strncmp(other->value, mine, length) == 0 &&
        (other->value[length] == ' ' || other->value[length] == '\0')) {
      memcpy(address, mine, sizeof mine);
      return;
    }
  }
}

/* GPUs that share a bridge stand side by side where their addresses do. */
static bool machine_draw_switches(struct machine_drawing *d) {
  bool any = false;
  for (uint32_t g = 0; g < d->machine->gpu_count; g++) {
    char address[24];
    char before[24] = "";
    machine_switch_of(d->machine, g, address);
    if (g > 0) {
      machine_switch_of(d->machine, g - 1, before);
    }
    uint32_t count = 1;
    char next[24];
    while (g + count < d->machine->gpu_count &&
           (machine_switch_of(d->machine, g + count, next), strcmp(next, address) == 0)) {
      count++;
    }
    if (address[0] == '\0' || strcmp(address, before) == 0) {
      continue;
    }
    any = true;
    const double x = machine_column_x(d->column_of[g]);
    const double width = (double)count * COLUMN - BOX_GAP;
    machine_put_box(d, "bus", x, d->y + WIRE, width, BUS);
    machine_put_wire(d, x + width / 2, d->y, d->y + WIRE);
    machine_put_text(d, "strong", x + PAD, d->y + WIRE + 19, width - PAD,
                     arena_format(d->arena, "PCIe switch below %s", address));
  }
  return any;
}

static void machine_draw_host_links(struct machine_drawing *d) {
  const struct machine *machine = d->machine;
  const double top = d->y;
  const bool switches = machine_draw_switches(d);
  const double below = switches ? WIRE + BUS : 0;
  const double room = COLUMN - BOX_GAP - WIRE_LEFT - 6;
  const unsigned lines = d->run != NULL ? 4 : 2;
  const double bottom = top + below + PAD + lines * LINE + PAD / 2.0;
  for (uint32_t g = 0; g < machine->gpu_count; g++) {
    char address[24];
    machine_switch_of(machine, g, address);
    enum limit limit;
    const uint64_t peak = peak_gpu_host(&machine->gpus[g], &limit);
    const char *link = env_host_link_words(d->arena, &machine->gpus[g], limit);
    const int32_t node = machine->gpus[g].numa_node;
    const double x = machine_gpu_x(d, g);
    double y = top + below + PAD;
    machine_put_wire(d, x, address[0] != '\0' ? top + below : top, bottom);
    machine_put_text(d, "", x + 6, y += LINE - 4, room, link != NULL ? link : "link unknown");
    machine_put_text(d, "dim", x + 6, y += LINE, room, machine_peak_words(d->arena, peak));
    for (int up = 0; up < 2 && d->run != NULL; up++) {
      const struct machine_rate *row =
          up ? machine_rate_between(d, PLACE_GPU, (int32_t)g, PLACE_NUMA, node)
             : machine_rate_between(d, PLACE_NUMA, node, PLACE_GPU, (int32_t)g);
      machine_put_rate_line(d, x + 6, y += LINE, up ? "\xe2\x86\x91 " : "\xe2\x86\x93 ", row);
    }
  }
  d->y = machine->gpu_count > 0 ? bottom : top;
}

/* ---- GPUs ---- */

static void machine_draw_gpu(struct machine_drawing *d, uint32_t g) {
  const struct gpu *gpu = &d->machine->gpus[g];
  const double x = machine_column_x(d->column_of[g]);
  const double width = COLUMN - BOX_GAP;
  const char *size = units_format_size_short(gpu->memory_bytes, UNITS_TEXT);
  machine_put_box(d, "box gpu", x, d->y, width, machine_box_height(GPU_LINES + d->within_gpus));
  machine_put_text(d, "strong", x + PAD, d->y + LINE, width - PAD,
                   gpu->memory_node >= 0
                       ? arena_format(d->arena, "GPU %u (node %d)", g, gpu->memory_node)
                       : arena_format(d->arena, "GPU %u", g));
  machine_put_text(d, "", x + PAD, d->y + 2 * LINE, width - PAD, machine_gpu_model(gpu));
  machine_put_text(d, "dim", x + PAD, d->y + 3 * LINE, width - PAD,
                   gpu->memory_bytes == 0 ? "memory unknown" : size);
  machine_put_text(d, "dim", x + PAD, d->y + 4 * LINE, width - PAD,
                   machine_peak_words(d->arena, peak_dram(gpu)));
  machine_put_rate_line(d, x + PAD, d->y + 5 * LINE, "copy ",
                        machine_rate_between(d, PLACE_GPU, (int32_t)g, PLACE_GPU, (int32_t)g));
}

/* Every pair has as many NVLinks as any other. */
static bool machine_is_uniform(const struct machine *machine) {
  return ALL_OF(
      a, machine->gpu_count,
      ALL_OF(b, machine->gpu_count,
             a == b || machine->links[a][b].nvlink_count == machine->links[0][1].nvlink_count));
}

static const char *machine_nvlink_words(struct arena *arena, const struct machine *machine,
                                        uint32_t a, uint32_t b) {
  const struct gpu_link *link = &machine->links[a][b];
  const uint64_t each = machine->gpus[a].nvlink_bytes_per_second;
  return arena_format(arena, "%s x%u, %s", machine_nvlink_version(each), link->nvlink_count,
                      machine_peak_words(arena, link->bytes_per_second));
}

/* "0 → 1 394 ... 1 → 0 395", as parts of a text element. */
static void machine_put_both_ways(struct machine_drawing *d, uint32_t a, uint32_t b) {
  const uint32_t ends[2][2] = {{a, b}, {b, a}};
  for (int way = 0; way < 2; way++) {
    machine_put_rate(
        d,
        machine_rate_between(d, PLACE_GPU, (int32_t)ends[way][0], PLACE_GPU, (int32_t)ends[way][1]),
        arena_format(d->arena, "   %u \xe2\x86\x92 %u: ", ends[way][0], ends[way][1]));
  }
}

/* One bar for all, as where they are joined by switches or each to each. */
static void machine_draw_fabric(struct machine_drawing *d) {
  const struct machine *machine = d->machine;
  d->laned = machine->gpu_count == 2;
  const double top = d->y;
  double left = INFINITY;
  double right = 0;
  for (uint32_t g = 0; g < machine->gpu_count; g++) {
    const double x = machine_column_x(d->column_of[g]);
    machine_put_wire(d, machine_gpu_x(d, g), top, top + WIRE);
    left = fmin(left, x);
    right = fmax(right, x + COLUMN - BOX_GAP);
  }
  machine_put_box(d, "bus", left, top + WIRE, right - left, BUS);
  html_put(d->text, "<text x=\"%.0f\" y=\"%.0f\">%s%s", left + PAD, top + WIRE + 19,
           machine_nvlink_words(d->arena, machine, 0, 1),
           machine->gpu_count > 2 ? " between each pair" : "");
  if (machine->gpu_count == 2 && right - left > 3 * COLUMN) {
    machine_put_both_ways(d, 0, 1);
  }
  strbuf_append(d->text, "</text>\n");
  d->y = top + WIRE + BUS;
  if (machine->gpu_count == 2 && right - left <= 3 * COLUMN && d->run != NULL) {
    d->y += LINE + 4;
    html_put(d->text, "<text x=\"%.0f\" y=\"%.0f\">", left + PAD, d->y);
    machine_put_both_ways(d, 0, 1);
    strbuf_append(d->text, "</text>\n");
  }
}

/* One line for each pair, at a height of its own; and what it says, over the lines that cross it.
 */
static void machine_draw_lane(struct machine_drawing *d, uint32_t a, uint32_t b, double y) {
  const char *words =
      arena_format(d->arena, "%u - %u: %s", a, b, machine_nvlink_words(d->arena, d->machine, a, b));
  const double left = fmin(machine_gpu_x(d, a), machine_gpu_x(d, b)) + 14;
  const double length = MACHINE_CHAR * ((double)text_width(words) + (d->run != NULL ? 36 : 0));
  d->width = fmax(d->width, length + 2 * MARGIN);
  const double x = fmin(left, d->width - MARGIN - length);
  machine_put_box(d, "page", x - 3, y - 15, length + 6, LINE - 2);
  html_put(d->text, "<text x=\"%.0f\" y=\"%.0f\">%s", x, y - 4, words);
  machine_put_both_ways(d, a, b);
  strbuf_append(d->text, "</text>\n");
}

/* GPUs that are joined one by one, not all alike. */
static void machine_draw_lanes(struct machine_drawing *d) {
  const struct machine *machine = d->machine;
  const double top = d->y;
  d->laned = true;
  const double room = COLUMN - BOX_GAP - 2 * PAD;
  uint32_t drops[MACHINE_GPUS_MAX] = {0};
  for (int words = 0; words < 2; words++) {
    d->y = top + 6;
    for (uint32_t a = 0; a < machine->gpu_count; a++) {
      for (uint32_t b = a + 1; b < machine->gpu_count; b++) {
        if (machine->links[a][b].nvlink_count == 0) {
          continue;
        }
        d->y += LINE + 7;
        if (words) {
          machine_draw_lane(d, a, b, d->y);
          continue;
        }
        const double share = room / (machine->gpu_count - 1);
        const double xa = machine_column_x(d->column_of[a]) + PAD + share * (drops[a]++ + 0.5);
        const double xb = machine_column_x(d->column_of[b]) + PAD + share * (drops[b]++ + 0.5);
        strbuf_printf(d->text, "<path class=\"wire\" d=\"M%.0f %.0fV%.0fH%.0fV%.0f\"/>\n", xa, top,
                      d->y, xb, top);
      }
    }
  }
  d->y += PAD;
}

/* How many there are between each two. */
static void machine_draw_counts(struct machine_drawing *d) {
  const struct machine *machine = d->machine;
  const uint64_t each = machine->gpus[0].nvlink_bytes_per_second;
  d->y += PAD;
  machine_put_wrapped(d, "strong",
                      arena_format(d->arena, "%s, %s each, number from row to column",
                                   machine_nvlink_version(each),
                                   machine_peak_words(d->arena, each)));
  for (uint32_t a = 0; a <= machine->gpu_count; a++) {
    d->y += LINE;
    for (uint32_t b = 0; b <= machine->gpu_count; b++) {
      const bool head = a == 0 || b == 0;
      const uint32_t count = head ? 0 : machine->links[a - 1][b - 1].nvlink_count;
      const char *words = a == 0 && b == 0 ? ""
                          : head           ? arena_format(d->arena, "gpu%u", a + b - 1)
                          : count > 0      ? arena_format(d->arena, "%u", count)
                                           : "-";
      machine_put_text(d, head ? "dim end" : "end", MARGIN + 44 * (b + 1.0), d->y, COLUMN, words);
    }
  }
}

static void machine_draw_nvlink(struct machine_drawing *d) {
  const struct machine *machine = d->machine;
  const size_t pairs =
      SUM_OF(a, machine->gpu_count, SUM_OF(b, a, machine->links[b][a].nvlink_count > 0));
  if (pairs > 0 && machine_is_uniform(machine)) {
    machine_draw_fabric(d);
  } else if (pairs > 0 && pairs <= LANES_MAX) {
    machine_draw_lanes(d);
  } else if (pairs > 0) {
    machine_draw_counts(d);
  }
}

/* ---- the whole ---- */

static void machine_draw(struct machine_drawing *d) {
  machine_draw_head(d);
  machine_draw_socket_links(d);
  for (uint32_t i = 0; i < d->node_count; i++) {
    machine_draw_node(d, &d->nodes[i]);
  }
  d->y += machine_box_height(NODE_LINES + d->within_nodes);
  machine_draw_host_links(d);
  for (uint32_t g = 0; g < d->machine->gpu_count; g++) {
    machine_draw_gpu(d, g);
  }
  d->y += d->machine->gpu_count > 0 ? machine_box_height(GPU_LINES + d->within_gpus) : 0;
  machine_draw_nvlink(d);
  machine_draw_matrices(d);
  machine_draw_legend(d);
  if (d->machine->gpu_count == 0) {
    d->y += PAD;
    machine_put_wrapped(d, "strong", arena_format(d->arena, "No GPU: %s", d->machine->cuda_state));
  }
  d->y += MARGIN;
}

static void machine_draw_whole(const struct machine *machine,
                               const struct machine_measured *measured, const char *id,
                               const struct embedded_file *style, struct strbuf *text) {
  SCOPED(arena_fini) struct arena arena = {0};
  SCOPED(strbuf_fini) struct strbuf inner = STRBUF((size_t)16 << 20);
  struct machine_drawing d = {.machine = machine, .text = &inner, .arena = &arena, .y = PAD};
  if (measured != NULL) {
    d.run = measured->run;
    machine_take_rates(&d, measured->rates);
  }
  machine_place_nodes(&d);
  machine_draw(&d);
  strbuf_printf(text,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"machine\" role=\"img\" "
                "width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
                "aria-labelledby=\"%s-title\">\n",
                d.width, d.y, d.width, d.y, id);
  if (style != NULL) {
    strbuf_append(text, "<style>\n");
    strbuf_append_n(text, (const char *)style->data, (size_t)(style->end - style->data));
    strbuf_append(text, "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
  }
  html_put(text, "<title id=\"%s-title\">%s: %u %s, %u NUMA %s, and what joins them</title>\n", id,
           machine->host_name, machine->gpu_count,
           strings_plural(machine->gpu_count, "GPU", "GPUs"), machine->node_count,
           strings_plural(machine->node_count, "node", "nodes"));
  strbuf_append_n(text, inner.text, inner.length);
  strbuf_append(text, "</svg>\n");
}

void machine_drawing_put(const struct machine *machine, const struct machine_measured *measured,
                         const char *id, struct strbuf *text) {
  machine_draw_whole(machine, measured, id, NULL, text);
}

extern const struct embedded_file picture_style[];

void machine_drawing_picture(const struct machine *machine, const struct machine_measured *measured,
                             struct strbuf *text) {
  machine_draw_whole(machine, measured, "machine", &picture_style[0], text);
}
