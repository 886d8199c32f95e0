/* The only file that includes toml++, of which the tree is copied into ours.
 *
 * Invalid input such as "[>" violates assertions of toml++ 3.3, and with NDEBUG it tells the
 * compiler that they hold, although the code after them reports the mistake. They are therefore
 * left out. */
#undef NDEBUG
#define TOML_ASSERT(condition) static_cast<void>(0)
#define TOML_MAX_NESTED_VALUES 32
#include <toml++/toml.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

extern "C" {
#include "schema/toml/mistake.h"
#include "schema/toml/toml.h"
}

static_assert(TOML_MAX_NESTED_VALUES == TOML_NESTING_MAX, "the header documents the limit");

/* Deques never move their elements: nodes point into them. */
struct toml_document {
  toml_node root;
  std::deque<std::vector<toml_node>> children;
  std::deque<std::string> texts;
  toml_span invalid; /* where text holds a NUL; line 0 = nowhere */
};

namespace {

constexpr size_t MESSAGE_MAX = 4096;

toml_span toml_span_of(const toml::source_region &region) {
  toml_span span = {region.begin.line, region.begin.column, 1};
  if (region.end.line == region.begin.line && region.end.column > region.begin.column) {
    span.width = region.end.column - region.begin.column;
  }
  return span;
}

const char *toml_keep_text(toml_document &document, std::string_view text, const toml_span &span) {
  if (text.find('\0') != std::string_view::npos && document.invalid.line == 0) {
    document.invalid = span;
  }
  return document.texts.emplace_back(text).c_str();
}

template <typename Time> const char *toml_keep_time(toml_document &document, const Time &time) {
  std::ostringstream stream;
  stream << time;
  return document.texts.emplace_back(stream.str()).c_str();
}

bool toml_stands_before(const toml_node &a, const toml_node &b) {
  const toml_span &x = a.key_span;
  const toml_span &y = b.key_span;
  return x.line != y.line ? x.line < y.line : x.column < y.column;
}

/* toml++ and toml_prescan() bound the depth of the recursion. */
void toml_convert(toml_document &document, const toml::node &from, toml_node &to);

void toml_convert_table(toml_document &document, const toml::table &table, toml_node &to) {
  std::vector<toml_node> &children = document.children.emplace_back(table.size());
  std::vector<std::pair<toml_node, const toml::node *>> entries;
  for (auto &&[key, value] : table) {
    toml_node child = {};
    child.key_span = toml_span_of(key.source());
    child.key = toml_keep_text(document, key.str(), child.key_span);
    entries.emplace_back(child, &value);
  }
  std::stable_sort(entries.begin(), entries.end(), [](const auto &a, const auto &b) {
    return toml_stands_before(a.first, b.first);
  });
  for (size_t i = 0; i < entries.size(); i++) {
    children[i] = entries[i].first;
    toml_convert(document, *entries[i].second, children[i]);
  }
  to.children = children.data();
  to.child_count = children.size();
}

void toml_convert_array(toml_document &document, const toml::array &array, toml_node &to) {
  std::vector<toml_node> &children = document.children.emplace_back(array.size());
  for (size_t i = 0; i < array.size(); i++) {
    toml_convert(document, array[i], children[i]);
  }
  to.children = children.data();
  to.child_count = children.size();
}

void toml_convert(toml_document &document, const toml::node &from, toml_node &to) {
  to.span = toml_span_of(from.source());
  switch (from.type()) {
  case toml::node_type::table:
    to.kind = TOML_TABLE;
    toml_convert_table(document, *from.as_table(), to);
    break;
  case toml::node_type::array:
    to.kind = TOML_ARRAY;
    toml_convert_array(document, *from.as_array(), to);
    break;
  case toml::node_type::string:
    to.kind = TOML_TEXT;
    to.text = toml_keep_text(document, from.as_string()->get(), to.span);
    break;
  case toml::node_type::integer:
    to.kind = TOML_INTEGER;
    to.integer = from.as_integer()->get();
    break;
  case toml::node_type::floating_point:
    to.kind = TOML_NUMBER;
    to.number = from.as_floating_point()->get();
    break;
  case toml::node_type::boolean:
    to.kind = TOML_BOOLEAN;
    to.boolean = from.as_boolean()->get();
    break;
  case toml::node_type::date:
    to.kind = TOML_TIME;
    to.text = toml_keep_time(document, from.as_date()->get());
    break;
  case toml::node_type::time:
    to.kind = TOML_TIME;
    to.text = toml_keep_time(document, from.as_time()->get());
    break;
  case toml::node_type::date_time:
    to.kind = TOML_TIME;
    to.text = toml_keep_time(document, from.as_date_time()->get());
    break;
  case toml::node_type::none:
    break;
  }
}

} // namespace

status toml_parse(const char *text, size_t length, const char *path, toml_document **document,
                  error *err) {
  status status = toml_prescan(text, length, path, err);
  if (status != STATUS_OK) {
    return status;
  }
  const toml::parse_result result = toml::parse(std::string_view(text, length));
  if (!result) {
    const toml::parse_error &failure = result.error();
    toml_span span = toml_span_of(failure.source());
    strbuf message;
    strbuf_init(&message, MESSAGE_MAX);
    toml_explain(std::string(failure.description()).c_str(), text, length, &span, &message);
    status = toml_refuse(err, path, span.line, span.column, message.text);
    strbuf_fini(&message);
    return status;
  }
  toml_document *made = new toml_document{};
  toml_convert(*made, result.table(), made->root);
  if (made->invalid.line != 0) {
    status = toml_refuse(err, path, made->invalid.line, made->invalid.column,
                         "a NUL character in text is not allowed");
    toml_free(made);
    return status;
  }
  *document = made;
  return STATUS_OK;
}

void toml_free(toml_document *document) {
  delete document;
}

const toml_node *toml_root(const toml_document *document) {
  return &document->root;
}
