#include "runner/cli/advice_sides.h"

#include "engine/base/order.h"
#include "engine/base/strings.h"
#include "runner/cli/advice_command.h"
#include "runner/record/node_list.h"
#include "runner/record/selector.h"

#include <stdlib.h>
#include <string.h>

enum { TAGS_TRIED = 1000 };

static const char *const FRESH_TAGS[SIDES] = {"a", "b"};

static size_t advice_count_nodes(struct arena *arena, const struct compare_result *result,
                                 enum side side) {
  const struct results *results = result->results;
  const char **nodes = arena_array(arena, results->run_count, sizeof *nodes);
  size_t count = 0;
  for (size_t i = 0; i < results->run_count; i++) {
    const char *node = results->environments[results->runs[i].environment].node;
    if (result->sides[i] == side && !ANY_OF(k, count, strings_equal(nodes[k], node))) {
      nodes[count++] = node;
    }
  }
  return count;
}

bool advice_same_place(const struct results *results, const struct results_run *a,
                       const struct results_run *b) {
  const struct results_environment *x = &results->environments[a->environment];
  const struct results_environment *y = &results->environments[b->environment];
  return strings_equal(x->node, y->node) && strings_equal(x->driver_version, y->driver_version);
}

bool advice_fact_recurs(const struct compare_request *request) {
  return strcmp(request->by, "fleet") != 0 && strcmp(request->by, "boot_id") != 0;
}

/* Whether the name of the side, or its value of the fact, selects new runs as well. */
static bool advice_is_open_side(const struct compare_request *request, size_t side) {
  return request->by != NULL ? advice_fact_recurs(request) : selector_is_open(request->names[side]);
}

/* A tag that no run has yet: "a", or else "a2", "a3" ... */
static const char *advice_free_tag(struct database *database, struct compare_request *request,
                                   const char *word) {
  struct arena *arena = &request->filter.arena;
  const char *tag = word;
  for (int i = 2; i < TAGS_TRIED; i++) {
    struct run_list list;
    struct error err = {0};
    if (selector_find_all(database, arena_format(arena, "tag:%s", tag), arena, &list, &err) ==
        STATUS_NOT_FOUND) {
      break;
    }
    tag = arena_format(arena, "%s%d", word, i);
  }
  return tag;
}

/* What selects the runs of a side now, even when there are more. */
static const char *advice_name(struct compare_request *request, const struct compare_result *result,
                               size_t side) {
  struct arena *arena = &request->filter.arena;
  const char *name = request->names[side];
  const char *runs = "";
  if (request->by == NULL && !selector_moves(name)) {
    return name;
  }
  for (size_t i = 0; i < result->results->run_count; i++) {
    if (result->sides[i] == (enum side)side) {
      runs =
          arena_join(arena, runs, ",",
                     arena_format(arena, "run:%lld", (long long)result->results->runs[i].ref.id));
    }
  }
  return runs;
}

/* What there is of it. */
static struct side_advice advice_find_side(struct arena *arena, const struct compare_result *result,
                                           enum side s) {
  const struct results *results = result->results;
  size_t last = 0; /* every side has a run */
  for (size_t i = 1; i < results->run_count; i++) {
    if (result->sides[i] == s &&
        (result->sides[last] != s ||
         results->runs[i].started_at_ns >= results->runs[last].started_at_ns)) {
      last = i;
    }
  }
  return (struct side_advice){.run = &results->runs[last],
                              .site.imported = advice_is_imported(&results->runs[last]),
                              .nodes = advice_count_nodes(arena, result, s)};
}

/* Who starts the runs of the side, and where. */
static void advice_find_launcher(struct arena *arena, const struct compare_result *result,
                                 struct side_advice *help) {
  const struct results_run *run = help->again[0];
  const bool by_slurm = advice_shard(arena, run) != NULL && run->slurm_nodes != NULL &&
                        !advice_names_node(arena, run);
  help->launcher = by_slurm ? LAUNCHER_SLURM : help->nodes > 1 ? LAUNCHER_OTHER : LAUNCHER_SHELL;
  help->places = by_slurm && help->nodes > 1
                     ? run->slurm_nodes
                     : result->results->environments[help->run->environment].node;
}

ORDER_DEFINE(advice_compare_names, char *const, strcmp(*x, *y))

/* Each node is compared with itself: if Slurm started the sides on different nodes, those that both
 * have are measured again, in turn. */
static void advice_share_places(struct arena *arena, struct side_advice help[SIDES]) {
  struct node_list lists[SIDES] = {{0}};
  struct error err = {0};
  for (size_t s = 0; s < SIDES; s++) {
    if (help[s].launcher != LAUNCHER_SLURM ||
        node_list_expand(help[s].places, arena, &lists[s], &err) != STATUS_OK) {
      return;
    }
  }
  const struct node_list *b = &lists[SIDE_B];
  struct node_list both = {.names = lists[SIDE_A].names};
  ORDER_SORT(b->names, b->count, advice_compare_names);
  for (size_t i = 0; i < lists[SIDE_A].count; i++) {
    const char *name = lists[SIDE_A].names[i];
    if (bsearch(&name, b->names, b->count, sizeof name, advice_compare_names) != NULL) {
      both.names[both.count++] = name;
    }
  }
  if (both.count > 0) {
    help[SIDE_A].places = help[SIDE_B].places =
        node_list_join(both.names, both.count, both.count, arena);
  }
}

bool advice_is_one_place(const struct side_advice help[SIDES]) {
  return help[SIDE_A].launcher == help[SIDE_B].launcher &&
         help[SIDE_A].launcher != LAUNCHER_OTHER &&
         strings_equal(help[SIDE_A].places, help[SIDE_B].places);
}

static struct more_runs advice_find_more(const struct compare_result *result, bool anew,
                                         struct side_advice help[SIDES]) {
  const bool later = help[SIDE_B].run->started_at_ns >= help[SIDE_A].run->started_at_ns;
  struct side_advice *older = &help[later ? SIDE_A : SIDE_B];
  older->site.elsewhere = !older->site.imported &&
                          !advice_same_place(result->results, help[SIDE_A].run, help[SIDE_B].run);
  const struct more_runs_site sites[SIDES] = {help[SIDE_A].site, help[SIDE_B].site};
  const struct more_runs more = more_runs_find(result->comparison, sites, anew);
  for (unsigned s = 0; s < SIDES; s++) {
    help[s].wanted = more.of[s] ? more.count : 0;
  }
  return more;
}

/* What selects the runs of a side when the advice was followed: those of now, and of a side that is
 * measured also those that get its tag. */
static const char *advice_later_name(struct compare_request *request,
                                     const struct compare_result *result, bool anew, enum side s,
                                     const struct side_advice *help) {
  if (help->wanted == 0) {
    return advice_name(request, result, s);
  }
  if (!anew && advice_is_open_side(request, s)) {
    return request->names[s];
  }
  return arena_join(&request->filter.arena, anew ? "" : advice_name(request, result, s), ",",
                    arena_format(&request->filter.arena, "tag:%s", help->tag));
}

struct more_runs advice_find_sides(struct database *database, struct compare_request *request,
                                   const struct compare_result *result, bool anew,
                                   struct side_advice help[SIDES]) {
  struct arena *arena = &request->filter.arena;
  size_t count = 0;
  const struct results_run **again = advice_find_runs(arena, result, &count);
  for (unsigned s = 0; s < SIDES; s++) {
    help[s] = advice_find_side(arena, result, (enum side)s);
    help[s].again = arena_array(arena, count + 1, sizeof *again); /* ends with NULL */
    for (size_t i = 0; i < count; i++) {
      help[s].again[i] = advice_own_run(arena, result, (enum side)s, again[i]);
    }
    advice_find_launcher(arena, result, &help[s]);
  }
  if (!strings_equal(help[SIDE_A].places, help[SIDE_B].places)) {
    advice_share_places(arena, help);
  }
  const char *const by[SIDES] = {request->from, request->to};
  const struct more_runs more = advice_find_more(result, anew, help);
  for (unsigned s = 0; s < SIDES; s++) {
    help[s].tag = more.anew || !advice_is_open_side(request, s)
                      ? advice_free_tag(database, request, FRESH_TAGS[s])
                  : request->by == NULL             ? selector_tag(request->names[s])
                  : strcmp(request->by, "tag") == 0 ? by[s]
                                                    : NULL;
  }
  for (unsigned s = 0; s < SIDES; s++) { /* one loop of both has tags for both */
    if (help[s].tag == NULL && help[1 - s].tag != NULL) {
      help[s].tag = advice_free_tag(database, request, FRESH_TAGS[s]);
    }
    if (request->by == NULL || more.anew || !advice_fact_recurs(request)) {
      help[s].name = advice_later_name(request, result, more.anew, (enum side)s, &help[s]);
    }
  }
  return more;
}
