/* What a run measured, in the drawing of its machine. */
#include "engine/machine/machine.h"
#include "runner/render/plot/machine_drawing_internal.h"
#include "runner/render/result/matrix.h"
#include "runner/table/html.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct result_field RATE_FIELDS[] = {
#define RATE_FIELD_(column, member, number, required)                                              \
  { column, offsetof(struct machine_rate, member), number, required }
    RATE_FIELD_("source", source, false, true),
    RATE_FIELD_("target", target, false, true),
    RATE_FIELD_("case", name, false, true),
    RATE_FIELD_("cases", cases, false, true),
    RATE_FIELD_("gbps", gbps, true, false),
    RATE_FIELD_("peak_gbps", peak_gbps, true, false),
    RATE_FIELD_("percent_of_peak", percent_of_peak, true, false),
#undef RATE_FIELD_
};

void machine_take_rates(struct machine_drawing *d, const struct result_set *rates) {
  d->rates =
      result_set_bind(rates, rates->arena, RATE_FIELDS, COUNT_OF(RATE_FIELDS), sizeof *d->rates);
  d->rate_count = rates->row_count;
  for (size_t i = 0; i < d->rate_count; i++) {
    const bool within = strcmp(d->rates[i].source, d->rates[i].target) == 0;
    const bool gpu = strncmp(d->rates[i].source, place_text(PLACE_GPU), 3) == 0;
    d->within_gpus = d->within_gpus || (within && gpu);
    d->within_nodes = d->within_nodes || (within && !gpu);
  }
}

const struct machine_rate *machine_rate_between(const struct machine_drawing *d, enum place from,
                                                int32_t a, enum place to, int32_t b) {
  char source[24];
  char target[24];
  (void)snprintf(source, sizeof source, "%s%d", place_text(from), a);
  (void)snprintf(target, sizeof target, "%s%d", place_text(to), b);
  const size_t i =
      FIRST_OF(k, d->rate_count,
               strcmp(d->rates[k].source, source) == 0 && strcmp(d->rates[k].target, target) == 0);
  return i < d->rate_count ? &d->rates[i] : NULL;
}

static char machine_rate_letter(struct machine_drawing *d, const struct machine_rate *rate) {
  const size_t i = FIRST_OF(k, d->letter_count, strcmp(d->letters[k], rate->cases) == 0);
  if (i == d->letter_count && i < TEXT_LETTERS) {
    d->letters[d->letter_count++] = rate->cases;
  }
  return text_letter(i);
}

void machine_put_rate(struct machine_drawing *d, const struct machine_rate *rate,
                      const char *before) {
  if (rate == NULL) {
    return;
  }
  char number[MATRIX_NUMBER_MAX];
  const char letter[2] = {machine_rate_letter(d, rate), '\0'};
  matrix_number(rate->gbps, number);
  html_put(d->text, "%s<tspan class=\"rate\"><title>%s: %s GB/s", before, rate->name, number);
  if (isfinite(rate->percent_of_peak)) {
    html_put(d->text, ", %.1f %% of %.1f", rate->percent_of_peak, rate->peak_gbps);
  }
  html_put(d->text,
           "</title>%s</tspan><tspan class=\"mark\" dy=\"-4\">%s</tspan>"
           "<tspan dy=\"4\">\xe2\x80\x8b</tspan>",
           number, letter);
}

void machine_put_rate_line(struct machine_drawing *d, double x, double y, const char *before,
                           const struct machine_rate *rate) {
  if (rate != NULL) {
    html_put(d->text, "<text x=\"%.0f\" y=\"%.0f\">", x, y);
    machine_put_rate(d, rate, before);
    if (isfinite(rate->percent_of_peak)) {
      html_put(d->text, " %.0f %%", rate->percent_of_peak);
    }
    strbuf_append(d->text, "</text>\n");
  }
}

/* ---- rates between many ---- */

struct machine_matrix {
  const char *title;
  enum place down, across;
  bool back; /* from the column to the row */
};

static const struct machine_rate *machine_matrix_rate(const struct machine_drawing *d,
                                                      const struct machine_matrix *matrix,
                                                      int32_t row, int32_t column) {
  if (matrix->down == matrix->across && row == column) {
    return NULL;
  }
  return matrix->back ? machine_rate_between(d, matrix->across, column, matrix->down, row)
                      : machine_rate_between(d, matrix->down, row, matrix->across, column);
}

/* The numbers of GPUs, or of the nodes that are drawn. */
static uint32_t machine_list_places(const struct machine_drawing *d, enum place place,
                                    int32_t numbers[MACHINE_NODES_MAX]) {
  uint32_t count = 0;
  for (uint32_t i = 0; place == PLACE_GPU ? i < d->machine->gpu_count : i < d->node_count; i++) {
    const int32_t number = place == PLACE_GPU ? (int32_t)i : d->nodes[i].number;
    if (number >= 0) {
      numbers[count++] = number;
    }
  }
  return count;
}

/* Whether the drawing has that rate elsewhere. */
static bool machine_is_drawn(const struct machine_drawing *d, const struct machine_matrix *matrix,
                             int32_t row, int32_t column) {
  const struct machine *machine = d->machine;
  if (matrix->across == PLACE_NUMA) {
    return false;
  }
  return matrix->down == PLACE_NUMA ? machine->gpus[column].numa_node == row
                                    : d->laned && machine->links[row][column].nvlink_count > 0;
}

static void machine_draw_matrix(struct machine_drawing *d, const struct machine_matrix *matrix) {
  int32_t rows[MACHINE_NODES_MAX];
  int32_t columns[MACHINE_NODES_MAX];
  const uint32_t row_count = machine_list_places(d, matrix->down, rows);
  const uint32_t column_count = machine_list_places(d, matrix->across, columns);
  if (!ANY_OF(r, row_count,
              ANY_OF(c, column_count,
                     machine_matrix_rate(d, matrix, rows[r], columns[c]) != NULL &&
                         !machine_is_drawn(d, matrix, rows[r], columns[c])))) {
    return;
  }
  d->y += PAD;
  machine_put_wrapped(d, "strong", matrix->title);
  d->y += LINE + 2;
  for (uint32_t c = 0; c < column_count; c++) {
    machine_put_text(d, "dim end", MARGIN + CELL * (c + 2) - 14, d->y, CELL,
                     arena_format(d->arena, "%s%d", place_text(matrix->across), columns[c]));
  }
  for (uint32_t r = 0; r < row_count; r++) {
    d->y += LINE + 2;
    machine_put_text(d, "dim", MARGIN, d->y, CELL,
                     arena_format(d->arena, "%s%d", place_text(matrix->down), rows[r]));
    for (uint32_t c = 0; c < column_count; c++) {
      html_put(d->text, "<text class=\"end\" x=\"%d\" y=\"%.0f\">",
               (int)(MARGIN + CELL * (c + 2) - 6), d->y);
      machine_put_rate(d, machine_matrix_rate(d, matrix, rows[r], columns[c]), "");
      strbuf_append(d->text, "</text>\n");
    }
  }
}

void machine_draw_matrices(struct machine_drawing *d) {
  static const struct machine_matrix MATRICES[] = {
      {"Measured from GPU to GPU: from row to column, GB/s", PLACE_GPU, PLACE_GPU, false},
      {"Measured from host to GPU: from row to column, GB/s", PLACE_NUMA, PLACE_GPU, false},
      {"Measured from GPU to host: from column to row, GB/s", PLACE_NUMA, PLACE_GPU, true},
      {"Measured from node to node: from row to column, GB/s", PLACE_NUMA, PLACE_NUMA, false},
  };
  for (size_t i = 0; i < COUNT_OF(MATRICES); i++) {
    machine_draw_matrix(d, &MATRICES[i]);
  }
}

void machine_draw_legend(struct machine_drawing *d) {
  if (d->letter_count > 0) {
    d->y += PAD;
    machine_put_wrapped(d, "strong", "What was measured, by letter");
  }
  for (size_t i = 0; i < d->letter_count; i++) {
    machine_put_wrapped(d, "dim", arena_format(d->arena, "%c %s", text_letter(i), d->letters[i]));
  }
  if (d->letter_count > 0) {
    machine_put_wrapped(d, "dim", "The case of each rate: haul query --saved link-rates");
  }
}
