/* node_list.h - names of nodes, written short as Slurm does: "a[1-3,7],b2" is a1, a2, a3, a7 and
 * b2. A range keeps the zeros of its first number ("n[08-10]": n08, n09, n10); a name may have
 * several brackets. Names are separated by commas or white space. */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/error.h"

enum { NODE_LIST_MAX = 100000 };

struct node_list {
  const char **names; /* in their order; the arena's */
  size_t count;
};

/* The names in short, in their order: neighbours that are numbered one after the other become a
 * range. At most max_names of them, then "..."; the arena's. */
const char *node_list_join(const char *const *names, size_t count, size_t max_names,
                           struct arena *arena);
/* Appends the names. STATUS_INVALID says what of the text is wrong. */
enum status node_list_expand(const char *text, struct arena *arena, struct node_list *list,
                             struct error *err) CHECK_RESULT;
