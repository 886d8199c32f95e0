/* machine_drawing_internal.h - what the files of the drawing of a machine share; only they include
 * it. */
#pragma once

#include "engine/base/arena.h"
#include "engine/case/case.h"
#include "engine/machine/limits.h"
#include "runner/render/plot/machine_drawing.h"
#include "runner/table/text.h"

/* In pixels. */
enum {
  COLUMN = 132, /* of a GPU, and the least of a node */
  BOX_GAP = 10,
  LINE = 15, /* of text */
  PAD = 8,
  MARGIN = 12,
  WIDTH_LEAST = 366, /* so that a small machine is whole on a narrow screen */
  WIRE_LEFT = 16,    /* of the wire of a GPU, in its column; what it says stands right of it */
  BUS = 30,          /* height of what joins nodes, or GPUs */
  WIRE = 26,
  CELL = 74,      /* of a matrix */
  LANES_MAX = 8,  /* more lines cannot be told apart */
  NODE_LINES = 3, /* and one for a rate, where there is one */
  GPU_LINES = 4,
};
/* About the width of a character of the widest usual fonts. */
#define MACHINE_CHAR       6.5
#define MACHINE_CHAR_BOLD  7.2
#define MACHINE_CHAR_TITLE 9.4

/* A row of link-rates. */
struct machine_rate {
  const char *source, *target, *name, *cases;
  double gbps, peak_gbps, percent_of_peak;
};

/* A node with processors or GPUs, or without either, in its place from the left. */
struct drawn_node {
  int32_t number; /* -1: the node of its GPUs is not known */
  uint32_t first; /* column */
  uint32_t columns;
};

struct machine_drawing {
  const struct machine *machine;
  const char *run;                /* NULL = there is none, and nothing is measured */
  bool within_nodes, within_gpus; /* a rate of these was measured */
  bool laned;                     /* rates of pairs of GPUs stand at their links */
  const struct machine_rate *rates;
  size_t rate_count;
  struct strbuf *text;
  struct arena *arena;
  double width;
  double y; /* what is below is free */
  struct drawn_node nodes[MACHINE_NODES_MAX + 1];
  uint32_t node_count;
  uint32_t column_of[MACHINE_GPUS_MAX]; /* of each GPU */
  const char *letters[TEXT_LETTERS];    /* names of cases, by letter */
  size_t letter_count;
};

/* A line of text, cut to the room; the whole is its title then. */
void machine_put_text(struct machine_drawing *d, const char *kind, double x, double y, double room,
                      const char *words);
/* As many lines as it needs, over the whole width. */
void machine_put_wrapped(struct machine_drawing *d, const char *kind, const char *words);

/* ---- measured rates (machine_rates.c) ---- */

/* The rows of link-rates of d->run. */
void machine_take_rates(struct machine_drawing *d, const struct result_set *rates);
/* NULL = none was measured. */
const struct machine_rate *machine_rate_between(const struct machine_drawing *d, enum place from,
                                                int32_t a, enum place to, int32_t b);
/* "55.2" with its letter and its title, as a part of a text element, `before` in front of it;
 * nothing where none was measured. */
void machine_put_rate(struct machine_drawing *d, const struct machine_rate *rate,
                      const char *before);
/* The same as a line of its own, with its share of the peak; none where none was measured. */
void machine_put_rate_line(struct machine_drawing *d, double x, double y, const char *before,
                           const struct machine_rate *rate);
/* Those that are on no line of the drawing; and what the letters mean. */
void machine_draw_matrices(struct machine_drawing *d);
void machine_draw_legend(struct machine_drawing *d);
