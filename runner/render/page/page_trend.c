/* page_trend.c - how fast a block was in earlier runs: a drawing as small as a line of text. */
#include "runner/render/page/page.h"
#include "runner/table/html.h"
#include "runner/table/text.h"

#include <math.h>
#include <string.h>

enum { TREND_RUNS_LEAST = 3, TREND_WIDTH = 240, TREND_HEIGHT = 36, TREND_MARGIN = 4 };

/* Rows first to first + count are of one block. The last is the run of the page. */
static void trend_draw(FILE *page, const struct result_set *rows, size_t first, size_t count) {
  double low = -0.5; /* a change that is smaller looks flat */
  double high = 0.5;
  for (size_t i = 0; i < count; i++) {
    const double percent = result_set_number(rows, first + i, "percent");
    low = fmin(low, percent);
    high = fmax(high, percent);
  }
  const double step = (double)(TREND_WIDTH - 2 * TREND_MARGIN) / (double)(count - 1);
  const double scale = (TREND_HEIGHT - 2 * TREND_MARGIN) / (high - low);
  html_print(page, "<svg class=\"trend\" width=\"%d\" height=\"%d\" role=\"img\">", TREND_WIDTH,
             TREND_HEIGHT);
  html_print(page, "<title>Change in speed over %zu runs, in per cent of this one</title>", count);
  html_print(page, "<path class=\"level\" d=\"M0 %.1fH%d\"/>", TREND_MARGIN + high * scale,
             TREND_WIDTH);
  for (size_t i = 1; i < count; i++) {
    if (strcmp(result_set_text(rows, first + i, "driver_version"),
               result_set_text(rows, first + i - 1, "driver_version")) != 0) {
      html_print(page, "<path class=\"driver\" d=\"M%.1f 0V%d\"/>",
                 TREND_MARGIN + ((double)i - 0.5) * step, TREND_HEIGHT);
    }
  }
  (void)fputs("<path class=\"line\" d=\"", page);
  for (size_t i = 0; i < count; i++) {
    html_print(page, "%s%.1f %.1f", i == 0 ? "M" : "L", TREND_MARGIN + (double)i * step,
               TREND_MARGIN + (high - result_set_number(rows, first + i, "percent")) * scale);
  }
  (void)fputs("\"/>", page);
  for (size_t i = 0; i < count; i++) {
    const double percent = result_set_number(rows, first + i, "percent");
    html_print(page, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"><title>",
               TREND_MARGIN + (double)i * step, TREND_MARGIN + (high - percent) * scale,
               i + 1 == count ? 3 : 2);
    html_print(page, "run %s, %s, driver %s: %+.2f %%</title></circle>",
               result_set_text(rows, first + i, "run"),
               result_set_text(rows, first + i, "started_at"),
               result_set_text(rows, first + i, "driver_version"), percent);
  }
  (void)fputs("</svg>", page);
}

void page_put_trend(FILE *page, const struct result_set *rows, const char *block) {
  size_t first = 0;
  size_t count = 0;
  for (size_t i = 0; i < rows->row_count; i++) {
    if (strcmp(result_set_text(rows, i, "block"), block) == 0) {
      first = count == 0 ? i : first;
      count++;
    }
  }
  if (count < TREND_RUNS_LEAST) {
    return;
  }
  double least = INFINITY;
  double greatest = -INFINITY;
  size_t drivers = 0;
  for (size_t i = 0; i + 1 < count; i++) {
    const double percent = result_set_number(rows, first + i, "percent");
    least = fmin(least, percent);
    greatest = fmax(greatest, percent);
    drivers += strcmp(result_set_text(rows, first + i, "driver_version"),
                      result_set_text(rows, first + i + 1, "driver_version")) != 0;
  }
  (void)fputs("<p class=\"trend\">", page);
  trend_draw(page, rows, first, count);
  html_print(page,
             "<span>%zu earlier runs: speed %+.1f to %+.1f %% against this run%s</span></p>\n",
             count - 1, text_rounded(least, 1), text_rounded(greatest, 1),
             drivers > 0 ? "; dashed: the driver changed" : "");
}
