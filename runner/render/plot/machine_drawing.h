/* machine_drawing.h - a machine as a picture: NUMA nodes, what joins them, PCIe switches, GPUs and
 * NVLink, each with its theoretical peak one way, and the rates that a run measured on them.
 *
 * rates are rows of the saved query link-rates. Each rate has a letter, which a line below explains
 * by the name of its cases, and a title with its own case. No errors; what is not known is drawn as
 * "unknown". */
#pragma once

#include "runner/table/result_set.h"

struct machine;

/* A run and its rates: "run 3: quick on node7, 2026-11-20 14:03". */
struct machine_measured {
  const char *run;
  const struct result_set *rates;
};

/* Append the element for a page. measured: NULL = the machine alone. id: letters, digits and '-',
 * once in a page. */
void machine_drawing_put(const struct machine *machine, const struct machine_measured *measured,
                         const char *id, struct strbuf *text);
/* Append a picture of its own, whose colours do not depend on a page. */
void machine_drawing_picture(const struct machine *machine, const struct machine_measured *measured,
                             struct strbuf *text);
