/* page_site_blocks.c - a small chart per block: its speed over time, on the middle of the machines
 * and on those that changed alone. */
#include "engine/base/strings.h"
#include "runner/render/page/page_site.h"
#include "runner/table/html.h"

#include <math.h>

/* Machines with a line of their own in a chart. */
enum { SITE_CHARTS_SHOWN = 90, SITE_ALONE_SHOWN = 3 };

enum { CHART_WIDTH = 440, CHART_HEIGHT = 110, CHART_LEFT = 44 };

struct site_chart {
  const struct machines *m;
  const struct machines_block *block;
  double low, high;
};

static double site_chart_x(const struct site_chart *c, size_t period) {
  return CHART_LEFT +
         ((double)period + 0.5) * (CHART_WIDTH - CHART_LEFT) / (double)c->m->period_count;
}

static double site_chart_y(const struct site_chart *c, double value) {
  return 4 + (c->high - value) / (c->high - c->low) * (CHART_HEIGHT - 8);
}

static double site_block_value(const struct machines_block *block, size_t which, size_t period,
                               const struct machines *m) {
  const struct machines_band *band = &block->bands[period];
  return which == m->node_count       ? band->median
         : which == m->node_count + 1 ? band->low
         : which == m->node_count + 2 ? band->high
                                      : block->values[which * m->period_count + period];
}

/* which: a machine, or from node_count on the median, the low and the high end of the band. A
 * single point is a line of no length, which its round ends make a dot. */
static void site_put_line(FILE *page, const struct site_chart *c, size_t which, bool backwards,
                          const char *begin) {
  const size_t count = c->m->period_count;
  for (size_t i = 0; i < count; i++) {
    const size_t p = backwards ? count - 1 - i : i;
    const double value = site_block_value(c->block, which, p, c->m);
    if (!isnan(value)) {
      html_print(page, "%s%.1f %.1f%s", begin, site_chart_x(c, p), site_chart_y(c, value),
                 begin[0] == 'M' ? "h0" : "");
      begin = "L";
    }
  }
}

static bool site_steps_in(const struct machines *m, size_t block, size_t node, size_t *period) {
  const size_t i = FIRST_OF(k, m->step_count, m->steps[k].node == node && m->steps[k].in[block]);
  *period = i < m->step_count ? m->steps[i].until : 0;
  return i < m->step_count;
}

static struct site_chart site_chart_begin(const struct machines *m, size_t number) {
  const struct machines_block *block = &m->blocks[number];
  struct site_chart chart = {m, block, -0.01, 0.01}; /* less looks flat */
  for (size_t p = 0; p < m->period_count; p++) {
    if (!isnan(block->bands[p].median)) {
      chart.low = fmin(chart.low, block->bands[p].low);
      chart.high = fmax(chart.high, block->bands[p].high);
    }
    for (size_t n = 0; n < m->node_count; n++) {
      size_t at = 0;
      const double value = block->values[n * m->period_count + p];
      if (!isnan(value) && site_steps_in(m, number, n, &at)) {
        chart.low = fmin(chart.low, value);
        chart.high = fmax(chart.high, value);
      }
    }
  }
  return chart;
}

static void site_put_chart(FILE *page, const struct machines *m, size_t number) {
  const struct machines_block *block = &m->blocks[number];
  const struct site_chart c = site_chart_begin(m, number);
  html_print(page,
             "<figure><figcaption>%s</figcaption>\n<svg class=\"band\" viewBox=\"0 0 %d %d\" "
             "role=\"img\"><title>Speed of %s over time</title>",
             block->name, CHART_WIDTH, CHART_HEIGHT, block->name);
  for (size_t u = 0; u < m->upgrade_count; u++) {
    html_print(page, "<path class=\"driver\" d=\"M%.1f 0V%d\"><title>driver %s</title></path>",
               site_chart_x(&c, m->upgrades[u].period), CHART_HEIGHT, m->upgrades[u].to);
  }
  html_print(page, "<path class=\"level\" d=\"M%d %.1fH%d\"/>", CHART_LEFT, site_chart_y(&c, 0),
             CHART_WIDTH);
  const double ends[] = {c.low, 0, c.high};
  for (size_t i = 0; i < 3; i++) {
    if (i == 1 || fabs(site_chart_y(&c, ends[i]) - site_chart_y(&c, 0)) > 14) {
      html_print(page,
                 i == 1 ? "<text class=\"end\" x=\"%d\" y=\"%.1f\">0</text>"
                        : "<text class=\"end\" x=\"%d\" y=\"%.1f\">%+.1f %%</text>",
                 CHART_LEFT - 4, fmin(fmax(site_chart_y(&c, ends[i]) + 4, 11), CHART_HEIGHT - 2),
                 100 * ends[i]);
    }
  }
  (void)fputs("<path class=\"range\" d=\"", page);
  site_put_line(page, &c, m->node_count + 2, false, "M");
  site_put_line(page, &c, m->node_count + 1, true, "L");
  (void)fputs("Z\"/><path class=\"line c0\" d=\"", page);
  site_put_line(page, &c, m->node_count, false, "M");
  (void)fputs("\"/>", page);
  size_t shown = 0;
  for (size_t n = 0; n < m->node_count && shown < SITE_ALONE_SHOWN; n++) {
    size_t at = 0;
    if (site_steps_in(m, number, n, &at)) {
      html_print(page, "<path class=\"line c%zu\" d=\"", ++shown);
      site_put_line(page, &c, n, false, "M");
      html_print(page, "\"><title>%s</title></path>", m->nodes[n]);
      html_print(
          page, "<path class=\"step c%zu\" d=\"M%.1f %dl-4 7h8z\"><title>%s changed</title></path>",
          shown, site_chart_x(&c, at), 1, m->nodes[n]);
    }
  }
  (void)fputs("</svg></figure>\n", page);
}

const char *page_site_peers(const struct machines *m) {
  return machines_have_peers(m) ? "the others" : "usual";
}

/* Blocks with a step come first, in the order of what it costs. */
void page_site_blocks(FILE *page, const struct machines *m) {
  SCOPED(arena_fini) struct arena arena = {0};
  bool *shown = arena_array(&arena, m->block_count, sizeof *shown);
  size_t count = 0;
  html_print(
      page,
      "<section id=\"blocks\"><h2>Blocks over time</h2>\n<p class=\"note\">The change in speed "
      "against the median of all time, mean over the cases of a block. Line and band: the median "
      "and the middle 80 %% of the machines. Dashed: most machines have a new driver. Machines "
      "that became slower or faster than %s have a line of their own, and a mark where they "
      "changed.</p>\n<div class=\"charts\">\n",
      page_site_peers(m));
  for (size_t i = 0; i < m->step_count; i++) {
    for (size_t b = 0; b < m->block_count && count < SITE_CHARTS_SHOWN; b++) {
      if (!shown[b] && m->steps[i].in[b]) {
        site_put_chart(page, m, b);
        shown[b] = true;
        count++;
      }
    }
  }
  for (size_t b = 0; b < m->block_count && count < SITE_CHARTS_SHOWN; b++) {
    if (!shown[b]) {
      site_put_chart(page, m, b);
      count++;
    }
  }
  (void)fputs("</div>\n", page);
  if (count < m->block_count) {
    html_print(page, "<p class=\"note\">and %zu more %s: haul history BLOCK</p>\n",
               m->block_count - count, strings_plural(m->block_count - count, "block", "blocks"));
  }
  (void)fputs("</section>\n", page);
}
