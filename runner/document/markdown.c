/* markdown.c - a document to paste. */
#include "runner/document/document.h"
#include "runner/table/text.h"

#include <string.h>

enum { WORDS_MAX = 1 << 20 };

static void markdown_text(struct document *document, const char *before, const char *text,
                          const char *after) {
  SCOPED(strbuf_fini) struct strbuf escaped = STRBUF(WORDS_MAX);
  text_escape(&escaped, text, strlen(text), ESCAPE_MARKDOWN);
  (void)fprintf(document->options.stream, "%s%s%s", before, escaped.text, after);
}

/* A blank line ends a list of keys. */
static void markdown_end_list(struct document *document, bool goes_on) {
  (void)fputs(document->in_list && !goes_on ? "\n" : "", document->options.stream);
  document->in_list = goes_on;
}

static void markdown_put_heading(struct document *document, const char *text) {
  markdown_end_list(document, false);
  markdown_text(document, "### ", text, "\n\n");
}

static void markdown_paragraph(struct document *document, unsigned tone, const char *first,
                               const char *text) {
  const char *bold = tone == TONE_HEADING ? "**" : "";
  markdown_end_list(document, false);
  markdown_text(document, bold, first + strspn(first, " "), "");
  markdown_text(document, "", text, bold);
  (void)fputs("\n\n", document->options.stream);
}

static void markdown_key(struct document *document, unsigned tone, const char *key,
                         const char *text) {
  (void)tone;
  const char *before = key[0] != '\0' ? "- " : "\n  "; /* another paragraph of the same item */
  markdown_end_list(document, true);
  markdown_text(document, before, key, key[0] != '\0' ? ": " : "");
  markdown_text(document, "", text, "\n");
}

static void markdown_verbatim(struct document *document, const char *lines) {
  markdown_end_list(document, false);
  (void)fprintf(document->options.stream, "```\n%s```\n\n", lines);
}

static void markdown_table(struct document *document, struct result_set *rows,
                           const struct document_table *how) {
  (void)how;
  markdown_end_list(document, false);
  struct table *table =
      table_new(&(struct table_options){.format = OUTPUT_MD, .stream = document->options.stream});
  result_set_drop_empty(rows);
  document->status = result_set_send(rows, table_sink(table), document->err);
  table_free(table);
  (void)fputc('\n', document->options.stream);
}

static void markdown_summary(struct document *document, const char *text) {
  markdown_text(document, "", text, "\n\n");
}

const struct document_backend DOCUMENT_MARKDOWN = {NULL,
                                                   NULL,
                                                   markdown_put_heading,
                                                   markdown_paragraph,
                                                   markdown_key,
                                                   markdown_verbatim,
                                                   markdown_table,
                                                   markdown_summary};
