#include "runner/record/node_list.h"

#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 9 };
static const char DIGITS[] = "0123456789";

struct expansion {
  struct arena *arena;
  struct node_list *list;
  const char *item; /* for messages */
  int length;
};

static enum status node_list_refuse(const struct expansion *at, const char *why,
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

static enum status node_list_expand_item(const struct expansion *at, const char *head,
                                         const char *rest, const char *end, struct error *err);

/* The numbers from..to, as many digits wide as text is, each between head and what follows. */
static enum status node_list_expand_range(const struct expansion *at, const char *head,
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
static enum status node_list_expand_bracket(const struct expansion *at, const char *head,
                                            const char *text, const char *end, struct error *err) {
  const char *close = memchr(text, ']', (size_t)(end - text));
  if (close == NULL) {
    return node_list_refuse(at, "a bracket is not closed", err);
  }
  while (text < close) {
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
  }
  return STATUS_OK;
}

static enum status node_list_expand_item(const struct expansion *at, const char *head,
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
  list->names =
      arena_grow(at->arena, list->names, list->count, &list->capacity, sizeof *list->names);
  list->names[list->count++] = name;
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
    const struct expansion at = {arena, list, text, (int)(end - text)};
    status = node_list_expand_item(&at, "", text, end, err);
    text = end;
  }
  return status;
}
