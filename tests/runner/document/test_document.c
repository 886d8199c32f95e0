/* One document, on a terminal, as Markdown and for programs. */
#include "runner/document/document.h"
#include "tests/cmocka.h"

static void say_all(struct document *document) {
  static const char *const NAMES[] = {"case", "empty", "GB/s"};
  document_gap(document); /* nothing stands before it */
  document_put_toned(document, TONE_BAD, "%s is slow", "gpu\x1b[2J");
  document_part(document, "Found [%s]", "*ecc*");
  document_key(document, TONE_NONE, "evidence", "a text that is %s", "longer than one line");
  document_key(document, TONE_WARN, "", "more");
  document_verbatim(document, "  _-#\n");
  DOCUMENT_TABLE(document, NAMES, .narrow = "GB/s");
  document_row(document, (struct cell[]){cell_text("up/gpu0|1"), cell_null(), cell_real(55.25)});
  document_table_end(document);
  document_summary(document, document_shows(document, 2) ? "all shown" : "no room");
  document_summary(document, "");
}

static void expect_document(struct table_options options, const char *expected) {
  struct document document;
  struct error err = {0};
  SCOPED(memory_free) char *text = NULL;
  size_t length = 0;
  options.stream = open_memstream(&text, &length);
  assert_non_null(options.stream);
  document_begin(&document, &options, &err);
  say_all(&document);
  assert_int_equal(document_end(&document), STATUS_OK);
  assert_int_equal(fclose(options.stream), 0);
  assert_string_equal(text, expected);
}

TEST(a_terminal_wraps_and_escapes) {
  expect_document((struct table_options){.width = 34}, "gpu\\u001b[2J is slow\n"
                                                       "\n"
                                                       "Found [*ecc*]\n"
                                                       "    evidence  a text that is\n"
                                                       "              longer than one line\n"
                                                       "              more\n"
                                                       "  _-#\n"
                                                       "case        GB/s\n"
                                                       "up/gpu0|1  55.25\n"
                                                       "all shown\n");
  expect_document((struct table_options){.colour = true},
                  "\033[31mgpu\\u001b[2J is slow\033[0m\n"
                  "\n"
                  "\033[1mFound [*ecc*]\033[0m\n"
                  "    evidence  a text that is longer than one line\n"
                  "              \033[33mmore\033[0m\n"
                  "  _-#\n"
                  "\033[2mcase     \033[0m  \033[2m GB/s\033[0m\n"
                  "up/gpu0|1  55.25\n"
                  "all shown\n");
}

TEST(markdown_has_lists_and_no_empty_columns) {
  expect_document((struct table_options){.format = OUTPUT_MD, .width = 20, .colour = true},
                  "gpu\\u001b[2J is slow\n\n"
                  "### Found [\\*ecc\\*]\n\n"
                  "- evidence: a text that is longer than one line\n"
                  "\n  more\n"
                  "\n```\n  _-#\n```\n\n"
                  "| case | GB/s |\n| --- | ---: |\n| up/gpu0\\|1 | 55.25 |\n\n"
                  "all shown\n\n");
}

TEST(programs_get_rows_alone) {
  expect_document((struct table_options){.format = OUTPUT_JSONL},
                  "{\"case\":\"up/gpu0|1\",\"empty\":null,\"GB/s\":55.25}\n");
}

TEST(a_failure_to_write_is_told_at_the_end) {
  struct document document;
  const struct table_options options = {.stream = fopen("/dev/full", "we")};
  if (options.stream == NULL) {
    skip();
  }
  document_begin(&document, &options, err);
  say_all(&document);
  assert_fails(document_end(&document), STATUS_IO, err, "cannot write the result");
  (void)fclose(options.stream);
}
