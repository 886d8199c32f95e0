/* page_spread.c - of a block how fast it was in earlier runs, and how the trials of its cases are
 * distributed: drawings as small as a line of text, folded away where there are many. */
#include "runner/render/page/page.h"
#include "runner/table/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPREAD_PARTS = 32, TREND_RUNS_LEAST = 3 };

static bool spread_is_of(const struct result_set *rows, size_t row, const char *block) {
  return strcmp(result_set_text(rows, row, "block"), block) == 0;
}

static double spread_number(const struct result_set *rows, size_t row, const char *column) {
  const char *text = result_set_optional(rows, row, column);
  return text != NULL ? strtod(text, NULL) : NAN;
}

/* ---- earlier runs ---- */

enum { TREND_WIDTH = 240, TREND_HEIGHT = 36, TREND_MARGIN = 4 };

/* Rows first to first + count are of one block. The last is the run of the page. */
static void spread_draw_trend(FILE *page, const struct result_set *rows, size_t first,
                              size_t count) {
  double low = -0.5; /* a change that is smaller looks flat */
  double high = 0.5;
  for (size_t i = 0; i < count; i++) {
    const double percent = spread_number(rows, first + i, "percent");
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
               TREND_MARGIN + (high - spread_number(rows, first + i, "percent")) * scale);
  }
  (void)fputs("\"/>", page);
  for (size_t i = 0; i < count; i++) {
    const double percent = spread_number(rows, first + i, "percent");
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

/* No "-0.0". */
static double trend_rounded(double percent) {
  return fabs(percent) < 0.05 ? 0 : percent;
}

void page_put_trend(FILE *page, const struct result_set *rows, const char *block) {
  size_t first = 0;
  size_t count = 0;
  for (size_t i = 0; i < rows->row_count; i++) {
    if (spread_is_of(rows, i, block)) {
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
    const double percent = spread_number(rows, first + i, "percent");
    least = fmin(least, percent);
    greatest = fmax(greatest, percent);
    drivers += strcmp(result_set_text(rows, first + i, "driver_version"),
                      result_set_text(rows, first + i + 1, "driver_version")) != 0;
  }
  (void)fputs("<p class=\"trend\">", page);
  spread_draw_trend(page, rows, first, count);
  html_print(page,
             "<span>%zu earlier runs: speed %+.1f to %+.1f %% against this run%s</span></p>\n",
             count - 1, trend_rounded(least), trend_rounded(greatest),
             drivers > 0 ? "; dashed: the driver changed" : "");
}

/* ---- trials ---- */

enum { BAR_WIDTH = 8, BAR_HEIGHT = 48, BARS_WIDTH = SPREAD_PARTS * BAR_WIDTH };

/* "0:12 3:1": trials in each part. */
static void spread_parse(const char *text, unsigned counts[SPREAD_PARTS]) {
  while (text[0] != '\0') {
    char *end = NULL;
    const unsigned long part = strtoul(text, &end, 10);
    const unsigned long count = end[0] == ':' ? strtoul(end + 1, &end, 10) : 0;
    if (part < SPREAD_PARTS) {
      counts[part] = (unsigned)count;
    }
    text = end + strcspn(end, " ");
    text += strspn(text, " ");
  }
}

static void spread_draw(FILE *page, const struct result_set *rows, size_t row) {
  unsigned counts[SPREAD_PARTS] = {0};
  unsigned most = 1;
  const double low = spread_number(rows, row, "low");
  const double high = spread_number(rows, row, "high");
  const double median = spread_number(rows, row, "median");
  spread_parse(result_set_text(rows, row, "counts"), counts);
  for (size_t i = 0; i < SPREAD_PARTS; i++) {
    most = counts[i] > most ? counts[i] : most;
  }
  html_print(page, "<div class=\"spread\"><svg width=\"%d\" height=\"%d\" role=\"img\">",
             BARS_WIDTH, BAR_HEIGHT);
  html_print(page, "<title>%s: %s trials, median %.5g</title>", result_set_text(rows, row, "case"),
             result_set_text(rows, row, "trials"), median);
  (void)fputs("<path class=\"bars\" d=\"", page);
  for (int i = 0; i < SPREAD_PARTS; i++) {
    if (counts[i] > 0) {
      const double height = fmax(1, (double)BAR_HEIGHT * counts[i] / most);
      html_print(page, "M%d %dv%.1fh%dv%.1fz", i * BAR_WIDTH, BAR_HEIGHT, -height, BAR_WIDTH - 1,
                 height);
    }
  }
  const double place = high > low ? (median - low) / (high - low) * BARS_WIDTH : BAR_WIDTH / 2.0;
  html_print(page, "\"/><path class=\"median\" d=\"M%.1f 0V%d\"/></svg>\n", place, BAR_HEIGHT);
  html_print(page, "<p><span>%.5g</span><span>median %.5g %s</span><span>%.5g</span>", low, median,
             result_set_text(rows, row, "unit"), high);
  (void)fputs("</p></div>\n", page);
}

void page_put_spread(FILE *page, const struct result_set *rows, const char *block) {
  const size_t count = SUM_OF(i, rows->row_count, spread_is_of(rows, i, block));
  if (count == 0) {
    return;
  }
  html_print(page,
             "<details class=\"spreads\"><summary>Distribution of the trials of %zu %s</summary>\n",
             count, count == 1 ? "case" : "cases");
  for (size_t i = 0; i < rows->row_count; i++) {
    if (spread_is_of(rows, i, block)) {
      (void)fputs(count == 1 ? "<details open=\"\">" : "<details>", page);
      html_print(page, "<summary>%s <small>%s trials, %.5g to %.5g %s</small></summary>\n",
                 result_set_text(rows, i, "case"), result_set_text(rows, i, "trials"),
                 spread_number(rows, i, "low"), spread_number(rows, i, "high"),
                 result_set_text(rows, i, "unit"));
      spread_draw(page, rows, i);
      (void)fputs("</details>\n", page);
    }
  }
  (void)fputs("</details>\n", page);
}
