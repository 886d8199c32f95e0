/* page_spread.c - how the trials of the cases of a block are distributed: small drawings, folded
 * away where there are many. */
#include "runner/render/page/page.h"
#include "runner/table/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPREAD_PARTS = 32, BAR_WIDTH = 8, BAR_HEIGHT = 48, BARS_WIDTH = SPREAD_PARTS * BAR_WIDTH };

static bool spread_is_of(const struct result_set *rows, size_t row, const char *block) {
  return strcmp(result_set_text(rows, row, "block"), block) == 0;
}

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
  const double low = result_set_number(rows, row, "low");
  const double high = result_set_number(rows, row, "high");
  const double median = result_set_number(rows, row, "median");
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
                 result_set_number(rows, i, "low"), result_set_number(rows, i, "high"),
                 result_set_text(rows, i, "unit"));
      spread_draw(page, rows, i);
      (void)fputs("</details>\n", page);
    }
  }
  (void)fputs("</details>\n", page);
}
