/* page_data.c - rows of a result inside a page, as a file to save. */
#include "engine/base/strings.h"
#include "runner/render/page/page.h"

#include "runner/table/html.h"

#include <stdlib.h>

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
