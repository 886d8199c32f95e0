#include "schema/toml/toml.h"

#include "tests/cmocka.h"

RELEASE(toml_free, struct toml_document)

static struct toml_document *parse(const char *text) {
  struct toml_document *document = NULL;
  struct error err = {0};
  assert_ok(toml_parse(text, strlen(text), "f.toml", &document, &err), &err);
  return document;
}

static void assert_span(struct toml_span span, unsigned line, unsigned column, unsigned width) {
  assert_int_equal(span.line, line);
  assert_int_equal(span.column, column);
  assert_int_equal(span.width, width);
}

TEST(values_have_types) {
  struct toml_document *document =
      parse("t = \"a\\tb\"\ni = -3\nh = 0x10\nn = 2.5\nb = true\nd = 1979-05-27T07:32:00Z\n"
            "a = [1, \"x\"]\ne = {}\n");
  const struct toml_node *root = toml_root(document);
  assert_int_equal(root->kind, TOML_TABLE);
  assert_string_equal(toml_get(root, "t")->text, "a\tb");
  assert_int_equal(toml_get(root, "i")->integer, -3);
  assert_int_equal(toml_get(root, "h")->integer, 16);
  assert_true(toml_get(root, "n")->number > 2.4 && toml_get(root, "n")->number < 2.6);
  assert_int_equal(toml_get(root, "b")->kind, TOML_BOOLEAN);
  assert_true(toml_get(root, "b")->boolean);
  assert_int_equal(toml_get(root, "d")->kind, TOML_TIME);
  assert_string_equal(toml_get(root, "d")->text, "1979-05-27T07:32:00Z");
  assert_int_equal(toml_get(root, "a")->child_count, 2);
  assert_string_equal(toml_get(root, "a")->children[1].text, "x");
  assert_int_equal(toml_get(root, "e")->child_count, 0);
  assert_null(toml_get(root, "none"));
  assert_null(toml_get(toml_get(root, "t"), "none"));
  assert_null(toml_get(NULL, "none"));
  toml_free(document);
  toml_free(NULL);
}

TEST(children_keep_the_order_of_the_file) {
  SCOPED(toml_free_at)
  struct toml_document *document = parse("z = 1\na = { y = 1, b = 2 }\n[m]\nx = 1\n[c]\n[[k]]\n"
                                         "q.z = 1\np = 2\nq.a = 3\n");
  const struct toml_node *root = toml_root(document);
  static const char *const keys[] = {"z", "a", "m", "c", "k"};
  assert_int_equal(root->child_count, 5);
  for (size_t i = 0; i < 5; i++) {
    assert_string_equal(root->children[i].key, keys[i]);
  }
  assert_string_equal(root->children[1].children[0].key, "y");
  const struct toml_node *k = &root->children[4].children[0];
  assert_string_equal(k->children[0].key, "q");
  assert_string_equal(k->children[0].children[1].key, "a");
  assert_string_equal(k->children[1].key, "p");
}

TEST(positions_count_characters) {
  /* With a byte order mark, a wide character, a dotted key and array tables. */
  struct toml_document *document =
      parse("\xef\xbb\xbf\"a\" = {y=\"\xe4\xb8\xad\", x=2.5}\n[[t]]\n  from.numa = \"local\"  \n"
            "a = [1,\n2]\n[[t]]\n");
  const struct toml_node *root = toml_root(document);
  const struct toml_node *a = toml_get(root, "a");
  assert_span(a->key_span, 1, 1, 3);
  assert_span(a->span, 1, 7, 14);
  assert_span(toml_get(a, "x")->key_span, 1, 15, 1);
  const struct toml_node *t = toml_get(root, "t");
  assert_int_equal(t->child_count, 2);
  assert_span(t->children[0].span, 2, 1, 5);
  assert_span(t->children[1].span, 6, 1, 5);
  const struct toml_node *numa = toml_get(toml_get(&t->children[0], "from"), "numa");
  assert_span(numa->key_span, 3, 8, 4);
  assert_span(numa->span, 3, 15, 7);
  const struct toml_node *array = toml_get(&t->children[0], "a");
  assert_int_equal(array->span.line, 4);
  assert_span(array->children[1].span, 5, 1, 1);
  toml_free(document);
}

struct rejection {
  const char *text;
  size_t length; /* 0 = strlen */
  unsigned line, column;
  const char *message; /* part of it */
};

TEST(bad_text_has_one_positioned_error) {
  static const struct rejection rejections[] = {
      {"a = 1\na = 2\n", 0, 2, 5, "duplicate key \"a\": define it once (line 1 has it, too)"},
      {"ab = 1\n[t]\nb = 0\n  a = 1\na = 2\n", 0, 5, 5, "\"a\": define it once (line 4 has it"},
      {"a = 1\n[t]\nb = { a = 1, a = 2 }\n", 0, 3, 18, "duplicate key \"a\": define it once"},
      {"a = 1\nb = \"x", 0, 2, 5, "unclosed text: missing \""},
      {"a = 'b'\nc = 'x\nd = 1", 0, 2, 5, "unclosed text: missing ' at the end of the line"},
      {"a = \"\"\"x\n\ny = \"z\"\n", 0, 1, 5, "unclosed text: missing \"\"\""},
      {"a = 20ms", 0, 1, 7, "sizes and durations need quotes"},
      {"a = 1.5GiB", 0, 1, 8, "sizes and durations need quotes"},
      {"a = abc", 0, 1, 5, "text needs quotes"},
      {"a = tru", 0, 1, 8, "expected true, false or text"},
      {"a =\n", 0, 1, 4, "missing value after ="},
      {"a\n", 0, 1, 2, "missing ="},
      {"a = { gpu = 0, 1 }\n", 0, 1, 18, "several values need brackets: gpu = [0, 1]"},
      {"a = 1\nto.gpu = 0, 1\n", 0, 2, 11, "several values need brackets: to.gpu = [0, 1]"},
      {"a = { gpu = 0, b }\n", 0, 1, 18, "missing ="},
      {"= 1\n", 0, 1, 1, "expected key = value, a [header]"},
      {"a = 1 b = 2", 0, 1, 7, "one key = value per line"},
      {"a = \"\\q\"", 0, 1, 7, "unknown escape sequence"},
      {"a = 1\n\nb = [1,", 0, 3, 8, "unclosed array: missing ]"},
      {"b = [1 2]", 0, 1, 8, "expected a comma or ]"},
      {"b = {x = 1\n}", 0, 1, 11, "on one line and end with }"},
      {"b = {x = 1 y = 2}", 0, 1, 12, "expected a comma between"},
      {"b = {x = 1,}", 0, 1, 12, "trailing comma before }"},
      {"[a\n", 0, 1, 3, "invalid header: expected, for example, [measure] or [[transfer]]"},
      {"a = 01", 0, 1, 7, "must not begin with 0"},
      {"a = 99999999999999999999", 0, 1, 25, "64 bits"},
      {"a\xc9\x99 = 1", 0, 1, 2, "outside ASCII"},
      {"a = \"x\"\xc9\x99\n", 0, 1, 8, "outside ASCII"},
      {"a = 1\nb = \"\x1b[2J\"", 0, 2, 6, "control character"},
      {"a\0b", 3, 1, 2, "NUL byte"},
      {"x = 1\na = \"\\u0000\"\n", 0, 2, 5, "NUL character"},
      {"x = 1\n\"\\u0000\" = 1\n", 0, 2, 1, "NUL character"},
      {"\xff\xfe"
       "a",
       0, 1, 1, "UTF-16"},
      {"a = 1\nb = \"\xff\"\n", 0, 2, 5, "save the file as UTF-8"},
      {"a = 1\nb\xc2\xa0= 2\n", 0, 2, 2, "outside ASCII"},
      {"a = 1 \xe6\x97\xa5", 0, 1, 7, "outside ASCII"},
      {"a = \"\"\"x\"\"\"\" \xe2\x80\xa8", 0, 1, 14, "outside ASCII"},
      {"a = '''x''' \xc2\x85", 0, 1, 13, "outside ASCII"},
      {"[a]\n[a]\n", 0, 2, 1, "duplicate table"},
      {"[a]\n[[a]]\n", 0, 2, 1, "or write each of its headers as [[...]]"},
      {"a = 1\n[[>b]]\n", 0, 2, 3, "invalid key: expected letters"},
      {"[.]", 0, 1, 2, "invalid key: expected letters"},
      {"a = \"\\u12\"", 0, 1, 10, "invalid escape sequence: expected"},
      {"b = [1,,2]", 0, 1, 8, "invalid value in an array: expected"},
      {"b = {x = 1", 0, 1, 11, "unclosed inline table: missing }"},
      {"[a] x", 0, 1, 5, "unexpected text after a [header]"},
      {"a = 2020-13-01", 0, 1, 12, "invalid date: other text needs quotes"},
      {"a = 25:00:00", 0, 1, 7, "invalid time: other text needs quotes"},
      {"a = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1", 0, 1, 37, "nested more than 32 levels"},
  };
  for (size_t i = 0; i < COUNT_OF(rejections); i++) {
    const struct rejection *rejection = &rejections[i];
    struct toml_document *document = NULL;
    const size_t length = rejection->length == 0 ? strlen(rejection->text) : rejection->length;
    assert_int_equal(toml_parse(rejection->text, length, "f.toml", &document, err), STATUS_INVALID);
    assert_null(document);
    assert_string_equal(err->position.file, "f.toml");
    assert_int_equal(err->position.line, rejection->line);
    assert_contains(err->message, rejection->message);
    if (err->position.column != rejection->column) {
      fail_msg("%s: column %u, expected %u", err->message, err->position.column, rejection->column);
    }
  }
}

TEST(text_and_comments_may_have_anything) {
  SCOPED(toml_free_at)
  struct toml_document *document = parse(
      "# \xe6\x97\xa5 ...........................................\n"
      "a = '................................................'\n"
      "b = \"\"\"\xe6\x97\xa5 \\\" \"\" \n . . \"\"\"\"\n"
      "c = '''x''''\n"
      "\"\xe6\x97\xa5\" = 1\n"
      "d = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, "
      "0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]\n");
  assert_int_equal(toml_root(document)->child_count, 5);
}

/* `count` times `piece` between `head` and `tail`. */
static char *repeat(const char *head, const char *piece, size_t count, const char *tail) {
  char *text = malloc(strlen(head) + strlen(piece) * count + strlen(tail) + 1);
  assert_non_null(text);
  char *end = stpcpy(text, head);
  for (size_t i = 0; i < count; i++) {
    end = stpcpy(end, piece);
  }
  (void)stpcpy(end, tail);
  return text;
}

static enum status status_of(char *text) {
  SCOPED(toml_free_at) struct toml_document *document = NULL;
  struct error err = {0};
  const enum status status = toml_parse(text, strlen(text), "deep", &document, &err);
  assert_true(status == STATUS_OK || err.position.line == 1);
  free(text);
  return status;
}

TEST(depth_is_bounded) {
  assert_int_equal(status_of(repeat("a", ".a", TOML_KEY_PARTS_MAX - 1, " = 1")), STATUS_OK);
  assert_int_equal(status_of(repeat("a", ".a", TOML_KEY_PARTS_MAX, " = 1")), STATUS_INVALID);
  assert_int_equal(status_of(repeat("[a", ".a", 1000000, "]")), STATUS_INVALID);
  assert_int_equal(status_of(repeat("a = ", "[", 1000000, "")), STATUS_INVALID);
  assert_int_equal(status_of(repeat("a = ", "{a=", 1000000, "")), STATUS_INVALID);
  assert_int_equal(status_of(repeat("a = ", "[", 40, "]")), STATUS_INVALID);
  assert_int_equal(status_of(repeat("a = [[[[[[[[[[[[[[[[[[[[", "1,", 10, "]]]]]]]]]]]]]]]]]]]]")),
                   STATUS_OK);
}

static void assert_equal_nodes(const struct toml_node *a, const struct toml_node *b) {
  assert_int_equal(a->kind, b->kind);
  assert_int_equal(a->child_count, b->child_count);
  switch (a->kind) {
  case TOML_TEXT:
  case TOML_TIME:
    assert_string_equal(a->text, b->text);
    break;
  case TOML_INTEGER:
    assert_true(a->integer == b->integer);
    break;
  case TOML_NUMBER:
    assert_memory_equal(&a->number, &b->number, sizeof a->number);
    break;
  case TOML_BOOLEAN:
    assert_int_equal(a->boolean, b->boolean);
    break;
  case TOML_TABLE:
  case TOML_ARRAY:
  case toml_kind_name_count:
    break;
  }
  for (size_t i = 0; i < a->child_count; i++) {
    if (a->kind == TOML_TABLE) {
      assert_string_equal(a->children[i].key, b->children[i].key);
    }
    assert_equal_nodes(&a->children[i], &b->children[i]);
  }
}

TEST(written_values_read_back) {
  SCOPED(toml_free_at)
  struct toml_document *document = parse(
      "v = { t = \"q\\\" \\\\ \\t \\u007f \xe6\x97\xa5\", \"a key\" = 1, n = 0.1, big = 1e300, "
      "w = 3.0, i = -9223372036854775808, inf = -inf, b = false, d = 1979-05-27, "
      "tm = 07:32:00.5, a = [1, [], {}, { x.y = 2 }] }\n");
  SCOPED(strbuf_fini) struct strbuf text;
  strbuf_init(&text, 4096);
  strbuf_append(&text, "v = ");
  toml_write_value(&text, &toml_root(document)->children[0]);
  SCOPED(toml_free_at) struct toml_document *again = parse(text.text);
  assert_equal_nodes(toml_root(document), toml_root(again));
}
