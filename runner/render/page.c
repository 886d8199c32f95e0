#include "runner/render/page.h"

#include "engine/base/embed.h"
#include "runner/table/html.h"

extern const struct embedded_file page_style[];

static void page_put_contents(FILE *page, const struct page_entry *entries, size_t count) {
  (void)fputs("<nav aria-label=\"Contents\"><ol>\n", page);
  for (size_t i = 0; i < count; i++) {
    (void)fprintf(page, "<li><a href=\"#%s\">", entries[i].id);
    html_text(page, entries[i].text);
    (void)fputs("</a> ", page);
    html_element(page, "small", NULL, entries[i].extra);
    (void)fputs("</li>\n", page);
  }
  (void)fputs("</ol></nav>\n", page);
}

void page_begin(FILE *page, const char *title, const char *lead, const struct page_entry *entries,
                size_t entry_count) {
  (void)fputs(PAGE_FIRST_LINES
              "<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
              "<meta charset=\"utf-8\"/>\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
              "<meta name=\"color-scheme\" content=\"light dark\"/>\n",
              page);
  html_element(page, "title", NULL, title);
  (void)fputs("\n<style>\n", page);
  (void)fwrite(page_style[0].data, 1, (size_t)(page_style[0].end - page_style[0].data), page);
  (void)fputs("</style>\n</head>\n<body>\n<header>\n", page);
  html_element(page, "h1", NULL, title);
  (void)fputc('\n', page);
  html_element(page, "p", "lead", lead);
  (void)fputs("\n</header>\n", page);
  if (entry_count > 1) {
    page_put_contents(page, entries, entry_count);
  }
  (void)fputs("<main>\n", page);
}

void page_end(FILE *page, const char *haul_version) {
  (void)fputs("</main>\n<footer><p>Written by haul ", page);
  html_text(page, haul_version);
  (void)fputs(". GB/s are 10\xe2\x81\xb9 bytes delivered per second; sizes are powers of two "
              "(1 MiB = 1048576 bytes); times of day are in UTC.</p></footer>\n</body>\n</html>\n",
              page);
}
