#include "runner/record/node_list.h"

#include "engine/base/strbuf.h"

#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 9, TEXT_MAX = 1 << 24 };
static const char DIGITS[] = "0123456789";

struct node_expansion {
  struct arena *arena;
  struct node_list *list;
  const char *item; /* for messages */
  int length;
};

static enum status node_list_refuse(const struct node_expansion *at, const char *why,
                                    struct error *err) {
  return error_set(err, STATUS_INVALID, "%s in the list of nodes at '%.*s'", why, at->length,
                   at->item);
}

/* The end of the name at text: commas in brackets belong to it. */
static const char *node_list_item_end(const char *text) {
  bool inside = false;
  for (; *text != '\0' && (inside || strchr(", \t\r\n", *text) == NULL); text++) {
    inside = *text == '[' || (inside && *text != ']');
  }
  return text;
}

static enum status node_list_expand_item(const struct node_expansion *at, const char *head,
                                         const char *rest, const char *end, struct error *err);

/* The numbers from..to, as many digits wide as text is, each between head and what follows. */
static enum status node_list_expand_range(const struct node_expansion *at, const char *head,
                                          const char *text, size_t width, unsigned long to,
                                          const char *rest, const char *end, struct error *err) {
  enum status status = STATUS_OK;
  for (unsigned long n = strtoul(text, NULL, 10); n <= to && status == STATUS_OK; n++) {
    const char *name = arena_format(at->arena, "%s%0*lu", head, (int)width, n);
    status = node_list_expand_item(at, name, rest, end, err);
  }
  return status;
}

/* text: behind a bracket. */
static enum status node_list_expand_bracket(const struct node_expansion *at, const char *head,
                                            const char *text, const char *end, struct error *err) {
  const char *close = memchr(text, ']', (size_t)(end - text));
  if (close == NULL) {
    return node_list_refuse(at, "a bracket is not closed", err);
  }
  do {
    const size_t width = strspn(text, DIGITS);
    const char *last = text[width] == '-' ? text + width + 1 : text;
    const size_t last_width = strspn(last, DIGITS);
    const char *next = last + last_width;
    const unsigned long to = strtoul(last, NULL, 10);
    if (width == 0 || last_width == 0 || width > DIGITS_MAX || last_width > DIGITS_MAX ||
        (next != close && *next != ',')) {
      return node_list_refuse(at, "a bracket holds something else than numbers and ranges", err);
    }
    if (to < strtoul(text, NULL, 10)) {
      return node_list_refuse(at, "a range goes backwards", err);
    }
    RETURN_ON_ERROR(node_list_expand_range(at, head, text, width, to, close + 1, end, err));
    text = next == close ? close : next + 1;
  } while (text < close);
  return STATUS_OK;
}

static enum status node_list_expand_item(const struct node_expansion *at, const char *head,
                                         const char *rest, const char *end, struct error *err) {
  const char *bracket = memchr(rest, '[', (size_t)(end - rest));
  const char *stop = bracket != NULL ? bracket : end;
  const char *name = arena_format(at->arena, "%s%.*s", head, (int)(stop - rest), rest);
  if (bracket != NULL) {
    return node_list_expand_bracket(at, name, bracket + 1, end, err);
  }
  struct node_list *list = at->list;
  if (list->count == NODE_LIST_MAX) {
    return node_list_refuse(at, "more than 100000 names", err);
  }
  *ARENA_ADD(at->arena, list->names, list->count) = name;
  return STATUS_OK;
}

enum status node_list_expand(const char *text, struct arena *arena, struct node_list *list,
                             struct error *err) {
  enum status status = STATUS_OK;
  while (status == STATUS_OK) {
    text += strspn(text, ", \t\r\n");
    const char *end = node_list_item_end(text);
    if (end == text) {
      break;
    }
    const struct node_expansion at = {arena, list, text, (int)(end - text)};
    status = node_list_expand_item(&at, "", text, end, err);
    text = end;
  }
  return status;
}

/* The number that ends a name: where it begins, and its value. False: none does, or a long one. */
static bool node_list_number(const char *name, size_t *at, unsigned long *number) {
  *at = strlen(name);
  while (*at > 0 && strchr(DIGITS, name[*at - 1]) != NULL) {
    --*at;
  }
  const size_t width = strlen(name) - *at;
  *number = strtoul(name + *at, NULL, 10);
  return width > 0 && width <= DIGITS_MAX;
}

/* Whether b is the name after a: the same but for a number that is one higher and as wide, or wider
 * for want of room. */
static bool node_list_follows(const char *a, const char *b) {
  size_t a_at = 0;
  size_t b_at = 0;
  unsigned long m = 0;
  unsigned long n = 0;
  if (!node_list_number(a, &a_at, &m) || !node_list_number(b, &b_at, &n) || n != m + 1 ||
      a_at != b_at || strncmp(a, b, a_at) != 0) {
    return false;
  }
  return strlen(a) == strlen(b) || (strlen(b) == strlen(a) + 1 && b[b_at] == '1' && a[a_at] == '9');
}

const char *node_list_join(const char *const *names, size_t count, size_t max_names,
                           struct arena *arena) {
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(TEXT_MAX);
  const size_t shown = count < max_names ? count : max_names;
  for (size_t i = 0; i < shown;) {
    size_t last = i;
    while (last + 1 < shown && node_list_follows(names[last], names[last + 1])) {
      last++;
    }
    size_t at = 0;
    unsigned long number = 0;
    (void)node_list_number(names[i], &at, &number);
    const char *comma = i > 0 ? "," : "";
    if (last > i) {
      strbuf_printf(&text, "%s%.*s[%s-%s]", comma, (int)at, names[i], names[i] + at,
                    names[last] + at);
    } else {
      strbuf_printf(&text, "%s%s", comma, names[i]);
    }
    i = last + 1;
  }
  strbuf_append(&text, shown < count ? ",..." : "");
  return arena_strdup(arena, text.text);
}
