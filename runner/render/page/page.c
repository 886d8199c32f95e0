#include "runner/render/page/page.h"

#include "engine/base/embed.h"
#include "engine/base/strings.h"
#include "runner/table/html.h"

#include <math.h>
#include <stdlib.h>

extern const struct embedded_file page_style[];
extern const struct embedded_file page_script[];

void page_begin(FILE *page, const char *title, const char *lead, const struct page_entry *entries,
                size_t entry_count) {
  html_print(page,
             PAGE_FIRST_LINES
             "<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
             "<meta charset=\"utf-8\"/>\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
             "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
             "<title>%s</title>\n<style>\n",
             title);
  (void)fwrite(page_style[0].data, 1, (size_t)(page_style[0].end - page_style[0].data), page);
  html_print(page,
             "</style>\n</head>\n<body>\n<header>\n<h1>%s</h1>\n<p class=\"lead\">%s</p>\n"
             "</header>\n",
             title, lead);
  if (entry_count > 1) {
    (void)fputs("<nav aria-label=\"Contents\"><ol>\n", page);
    for (size_t i = 0; i < entry_count; i++) {
      html_print(page, "<li><a href=\"#%s\">%s</a> <small>%s</small></li>\n", entries[i].id,
                 entries[i].text, entries[i].extra);
    }
    (void)fputs("</ol></nav>\n", page);
  }
  (void)fputs("<main>\n", page);
}

void page_put_simulated(FILE *page, bool simulated) {
  (void)fputs(simulated ? "<p><span class=\"badge warn\">simulated</span></p>\n" : "", page);
}

void page_end(FILE *page, const char *haul_version) {
  html_print(page,
             "</main>\n<footer><p>Written by haul %s. GB/s are 10\xe2\x81\xb9 bytes delivered per "
             "second; sizes are powers of two (1 MiB = 1048576 bytes); times of day are in UTC.</p>"
             "</footer>\n<script>\n//<![CDATA[\n",
             haul_version);
  (void)fwrite(page_script[0].data, 1, (size_t)(page_script[0].end - page_script[0].data), page);
  (void)fputs("//]]>\n</script>\n</body>\n</html>\n", page);
}

unsigned page_level(double change, double threshold) {
  const double times = threshold > 0 ? fabs(change) / threshold : 0;
  return times < 1 ? 0 : times < 3 ? 1 : times < 10 ? 2 : 3;
}

const char *page_level_class(double change, double threshold) {
  static const char *const CLASSES[] = {"", "s1", "s2", "s3", "", "f1", "f2", "f3"};
  return CLASSES[page_level(change, threshold) + (change > 0 ? COUNT_OF(CLASSES) / 2 : 0)];
}

/* ---- rows of a result, as a file to save ---- */

/* RFC 4648, section 4. */
static void page_put_base64(FILE *page, const unsigned char *bytes, size_t length) {
  static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < length; i += 3) {
    const size_t have = length - i < 3 ? length - i : 3;
    const unsigned group = (unsigned)bytes[i] << 16 | (have > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                           (have > 2 ? bytes[i + 2] : 0);
    for (size_t digit = 0; digit < 4; digit++) {
      (void)fputc(digit <= have ? DIGITS[group >> (18 - 6 * digit) & 63] : '=', page);
    }
  }
}

enum status page_put_csv(FILE *page, const struct result_set *rows, const char *file_name,
                         const char *what, struct error *err) {
  SCOPED(memory_free) char *text = NULL;
  size_t length = 0;
  FILE *file = open_memstream(&text, &length);
  if (file == NULL) {
    abort(); /* out of memory */
  }
  struct table *table = table_new(&(struct table_options){.format = OUTPUT_CSV, .stream = file});
  const enum status status = result_set_send(rows, table_sink(table), err);
  table_free(table);
  if (fclose(file) != 0) {
    abort();
  }
  if (status == STATUS_OK) {
    html_print(page, "<p class=\"data\"><a download=\"%s\" href=\"data:text/csv;base64,",
               file_name);
    page_put_base64(page, (const unsigned char *)text, length);
    html_print(page, "\">%s as CSV</a> <small>%zu %s, in this file</small></p>\n", what,
               rows->row_count, strings_plural(rows->row_count, "row", "rows"));
  }
  return status;
}
