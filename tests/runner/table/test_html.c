/* Escaping, tables of rows, and what is left out of them. */
#include "runner/table/html.h"

#include "tests/runner/table/markup.h"

#include <math.h>

static char *escaped(const char *text) {
  CAPTURE(out);
  html_print(out.stream, "%s", text);
  return capture_take(&out);
}

static void expect_escaped(const char *text, const char *expected) {
  SCOPED(memory_free) char *all = escaped(text);
  assert_string_equal(all, expected);
}

TEST(texts_cannot_become_markup) {
  expect_escaped("<script>alert(\"1\") && x</script>",
                 "&lt;script&gt;alert(&quot;1&quot;) &amp;&amp; x&lt;/script&gt;");
  expect_escaped("&amp;", "&amp;amp;");
  expect_escaped("± µ 日本", "± µ 日本");
  expect_escaped(NULL, "");
  expect_escaped("", "");
}

TEST(what_xml_does_not_allow_is_shown_in_other_ways) {
  expect_escaped("a\033[31m\r\n\x01z", "a\\u001b[31m\\u000d\\u000a\\u0001z");
  expect_escaped("\xff\xc3(", "\\xff\\xc3(");
  expect_escaped("\xef\xbf\xbf|\xef\xbf\xbe", "\xef\xbf\xbd|\xef\xbf\xbd");
  expect_escaped("\xe2\x80\xae", "\\u202e"); /* would turn what follows */
}

TEST(a_long_text_is_cut_between_characters) {
  static const char *const CASES[][2] = {
      {"Grüße", "Grüße"},
      {"Größer als", "<title>Größer als</title>Größ…"},
      {"日本語日本語<", "<title>日本語日本語&lt;</title>日本語日…"},
  };
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    SCOPED(strbuf_fini) struct strbuf text;
    strbuf_init(&text, 1 << 12);
    html_put_cut(&text, CASES[i][0], 5);
    assert_string_equal(text.text, CASES[i][1]);
  }
}

static const char *const columns[] = {"block", "status", "size_bytes", "never", "rate"};
enum { COLUMNS = COUNT_OF(columns) };

static void put(const struct row_sink *sink, const char *block, const char *status, double rate) {
  struct error err;
  const struct cell cells[COLUMNS] = {cell_text(block), cell_text(status), cell_integer(4096),
                                      cell_null(), isnan(rate) ? cell_null() : cell_real(rate)};
  assert_int_equal(sink_row(sink, cells, &err), STATUS_OK);
}

static void begin(const struct row_sink *sink) {
  struct error err;
  assert_int_equal(sink_begin(sink, columns, COLUMNS, &err), STATUS_OK);
}

static void end(const struct row_sink *sink) {
  struct error err;
  assert_int_equal(sink_end(sink, &err), STATUS_OK);
}

TEST(rows_become_a_table) {
  SCOPED(result_set_fini) struct result_set set;
  result_set_init(&set, 2);
  begin(&set.sink);
  put(&set.sink, "<up>", "ok", 55.25);
  put(&set.sink, "down", "failed", NAN);
  put(&set.sink, "beyond", "ok", 1);
  end(&set.sink);
  assert_string_equal(result_set_text(&set, 0, "block"), "<up>");
  assert_int_equal(result_set_integer(&set, 1, "size_bytes"), 4096);
  assert_null(result_set_optional(&set, 1, "rate"));
  assert_null(result_set_optional(&set, 2, "block"));
  assert_null(result_set_optional(&set, 0, "no such column"));
  assert_string_equal(result_set_text(&set, 0, "no such column"), "");
  CAPTURE(out);
  html_table(out.stream, &set,
             &(struct html_table_options){.caption = "Blocks & rates", .more = "haul query"});
  const char *text = capture_text(&out);
  assert_markup(text);
  assert_contains(text, "Blocks &amp; rates</caption>");
  assert_contains(text, "<th scope=\"col\">block</th>");
  assert_contains(text, "<th scope=\"col\" class=\"n\">size bytes</th>");
  assert_lacks(text, "never");
  assert_contains(text, "<td>&lt;up&gt;</td><td>ok</td><td class=\"n\">4096</td>"
                        "<td class=\"n\">55.25</td>");
  assert_contains(text, "<td>failed</td><td class=\"n\">4096</td><td class=\"n\"></td>");
  assert_lacks(text, "beyond");
  assert_contains(text, "1 more row is not shown: <code>haul query</code>");
}

TEST(a_limit_keeps_the_first_of_each_group) {
  SCOPED(result_set_fini) struct result_set set;
  result_set_init(&set, 100);
  set.limit = (struct result_limit){"block", "status", "skipped", 2, 5, {0}, {0}, NULL};
  begin(&set.sink);
  for (int i = 0; i < 4; i++) {
    put(&set.sink, "a", "skipped", i); /* 2: these take no room of the others */
  }
  for (int i = 0; i < 4; i++) {
    put(&set.sink, "a", "ok", i); /* 2 */
  }
  for (int i = 0; i < 3; i++) {
    put(&set.sink, "b", "ok", i); /* 2 */
  }
  put(&set.sink, "c", "ok", 0); /* 1: the fifth of all */
  put(&set.sink, "d", "ok", 0); /* none */
  end(&set.sink);
  assert_int_equal(set.row_count, 7);
  assert_int_equal(set.left_out, 6);
  assert_string_equal(result_set_text(&set, 6, "block"), "c");
}
