#include "runner/cli/compare_advice.h"

#include "engine/base/strbuf.h"
#include "engine/base/strings.h"
#include "runner/console/shell_word.h"
#include "runner/record/selector.h"
#include "runner/table/text.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { TEXT_MAX = 1 << 16, TAGS_TRIED = 1000 };

/* The words of a run's command, after the program's name; an empty list where they are not known.
 */
struct advice_words {
  const char **items;
  size_t count;
};

static struct advice_words advice_words_of(struct arena *arena, const struct measured_run *run) {
  json_t *list = run->argv != NULL ? json_loads(run->argv, 0, NULL) : NULL;
  struct advice_words words = {.items = arena_array(arena, json_array_size(list), sizeof(char *))};
  for (size_t i = 0; i < json_array_size(list); i++) {
    const char *word = json_string_value(json_array_get(list, i));
    words.items[words.count++] = arena_strdup(arena, word != NULL ? word : "");
  }
  json_decref(list);
  return words;
}

/* "--db" and "--db=x". */
static bool advice_is_option(const char *word, const char *name) {
  const size_t size = strlen(name);
  return strncmp(word, name, size) == 0 && (word[size] == '\0' || word[size] == '=');
}

/* Whether the command of the run measures its scenario if it is given again. */
static bool advice_is_plain(struct arena *arena, const struct measured_run *run) {
  const struct advice_words words = advice_words_of(arena, run);
  for (size_t i = 0; i < words.count; i++) {
    if (advice_is_option(words.items[i], "--resume")) {
      return false;
    }
  }
  /* A file of others may hold any command. */
  return words.count > 0 && strcmp(words.items[0], "run") == 0 &&
         strcmp(run->origin, "measured") == 0 && run->looks == 0;
}

/* The command that made a run, with that number of processes and, unless tag is NULL, that tag.
 * Options that only change how the result is shown are left out; the name of a node is NODE where
 * there are several. */
static void advice_put_command(struct strbuf *command, struct arena *arena,
                               const struct measured_run *run, unsigned processes, size_t nodes,
                               const char *tag) {
  static const struct {
    const char *name;
    bool has_value; /* which may be the next word */
  } LEFT_OUT[] = {
      {"--processes", true}, {"--tag", true},   {"--format", true},   {"--json", false},
      {"--quiet", false},    {"-q", false},     {"--verbose", false}, {"-v", false},
      {"--color", false},    {"--plot", false},
  };
  static const char NODE_NAME[] = "--node-name";
  struct advice_words words = {0};
  if (advice_is_plain(arena, run)) {
    words = advice_words_of(arena, run);
    strbuf_append(command, "haul");
  } else {
    strbuf_printf(command, "haul run %s", shell_word(arena, run->scenario));
  }
  for (size_t w = 0; w < words.count; w++) {
    const char *word = words.items[w];
    bool skip = false;
    for (size_t i = 0; i < COUNT_OF(LEFT_OUT) && !skip; i++) {
      skip = advice_is_option(word, LEFT_OUT[i].name);
      w += skip && LEFT_OUT[i].has_value && strcmp(word, LEFT_OUT[i].name) == 0;
    }
    if (nodes > 1 && advice_is_option(word, NODE_NAME)) {
      w += strcmp(word, NODE_NAME) == 0;
      strbuf_printf(command, " %s NODE", NODE_NAME);
    } else if (!skip) {
      strbuf_append_char(command, ' ');
      strbuf_append(command, shell_word(arena, word));
    }
  }
  strbuf_printf(command, " --processes %u", processes);
  if (tag != NULL) {
    strbuf_printf(command, " --tag %s", tag);
  }
}

/* ---- the sides ---- */

/* What can be done about a side. */
struct side_advice {
  const struct measured_run
      *last; /* the last measured one; the last imported one if none was measured */
  const struct measured_run *again; /* whose command measures the same: the last, or one of the
                                       other side where that was --resume or --decide */
  bool imported;                    /* all its runs are imported: no command makes more */
  bool elsewhere;                   /* measured by another machine or driver than the latest run */
  unsigned wanted;                  /* new runs; 0 = it has enough */
  unsigned processes;               /* of a new run */
  size_t nodes;                     /* that were measured */
  const char *tag;                  /* of the new run; NULL = none is needed */
};

static bool advice_is_imported(const struct measured_run *run) {
  return strcmp(run->origin, "imported") == 0;
}

/* What its command is good for: rather one that can be given again, and none of an import. */
static unsigned advice_rank(struct arena *arena, const struct measured_run *run) {
  return advice_is_imported(run) ? 0 : advice_is_plain(arena, run) ? 2 : 1;
}

/* Every side has a run. */
static const struct measured_run *
advice_last_run(struct arena *arena, const struct compare_result *result, enum side side) {
  const struct measured_run *runs = result->measured->runs;
  size_t last = 0;
  while (result->sides[last] != side) {
    last++;
  }
  for (size_t i = last + 1; i < result->measured->run_count; i++) {
    const unsigned rank = advice_rank(arena, &runs[i]);
    const unsigned known = advice_rank(arena, &runs[last]);
    if (result->sides[i] == side &&
        (rank > known || (rank == known && runs[i].started_at_ns >= runs[last].started_at_ns))) {
      last = i;
    }
  }
  return &runs[last];
}

static size_t advice_count_nodes(struct arena *arena, const struct compare_result *result,
                                 enum side side) {
  const struct measured *measured = result->measured;
  const char **nodes = arena_array(arena, measured->run_count, sizeof *nodes);
  size_t count = 0;
  for (size_t i = 0; i < measured->run_count; i++) {
    const char *node = measured->environments[measured->runs[i].environment].node;
    bool known = result->sides[i] != side;
    for (size_t k = 0; k < count && !known; k++) {
      known = strings_equal(nodes[k], node);
    }
    if (!known) {
      nodes[count++] = node;
    }
  }
  return count;
}

/* Whether both runs have the same host and driver. */
static bool advice_same_place(const struct measured *measured, const struct measured_run *a,
                              const struct measured_run *b) {
  const struct measured_environment *x = &measured->environments[a->environment];
  const struct measured_environment *y = &measured->environments[b->environment];
  return strings_equal(x->node, y->node) && strings_equal(x->driver_version, y->driver_version);
}

/* Whether the name of the side selects new runs as well. */
static bool advice_is_open_side(const struct compare_request *request, size_t side) {
  return request->by != NULL || selector_is_open(request->names[side]);
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

static void advice_find(struct database *database, struct compare_request *request,
                        const struct compare_result *result, bool open,
                        struct side_advice help[SIDES]) {
  static const char *const FRESH_TAGS[SIDES] = {"a", "b"};
  const struct comparison *comparison = result->comparison;
  for (size_t s = 0; s < SIDES; s++) {
    const unsigned runs = comparison->unit == DIFF_UNIT_RUN ? comparison->units_least[s] : 1;
    const unsigned have = open ? runs : 0;
    const unsigned needed = comparison->units_needed;
    const struct comparison_total *total = &comparison->totals[s];
    help[s] =
        (struct side_advice){.last = advice_last_run(&request->filter.arena, result, (enum side)s),
                             .wanted = needed > have ? needed - have : 0};
    help[s].processes =
        comparison->unit == DIFF_UNIT_PROCESS || total->runs == 0
            ? 1
            : (total->processes + (unsigned)total->runs - 1) / (unsigned)total->runs;
    const struct measured_run *other =
        advice_last_run(&request->filter.arena, result, s == SIDE_A ? SIDE_B : SIDE_A);
    const bool is_other = !advice_is_plain(&request->filter.arena, help[s].last) &&
                          advice_is_plain(&request->filter.arena, other) &&
                          strcmp(other->scenario, help[s].last->scenario) == 0;
    help[s].again = is_other ? other : help[s].last;
    help[s].imported = advice_is_imported(help[s].last);
    help[s].nodes = advice_count_nodes(&request->filter.arena, result, (enum side)s);
    help[s].tag =
        !open ? advice_free_tag(database, request, FRESH_TAGS[s]) : selector_tag(request->names[s]);
  }
  const bool later = help[SIDE_B].last->started_at_ns >= help[SIDE_A].last->started_at_ns;
  struct side_advice *older = &help[later ? SIDE_A : SIDE_B];
  older->elsewhere = !older->imported &&
                     !advice_same_place(result->measured, help[SIDE_A].last, help[SIDE_B].last);
}

/* ---- words ---- */

static char advice_letter(size_t side) {
  return side == SIDE_A ? 'A' : 'B';
}

/* What more processes or runs of the other side do if this side stays as it is. */
static void advice_put_alone(struct strbuf *text, const struct comparison *comparison,
                             size_t stays) {
  const size_t other = stays == SIDE_A ? SIDE_B : SIDE_A;
  const unsigned alone = comparison->needed_alone[other];
  if (alone > 0) {
    strbuf_printf(text, "%u runs of %c alone would decide", alone, advice_letter(other));
  } else {
    strbuf_printf(text, "more of %c alone would not decide", advice_letter(other));
  }
}

static void advice_put_place(struct strbuf *text, const struct compare_result *result,
                             const struct side_advice *help, size_t side) {
  const struct comparison_total *totals = result->comparison->totals;
  if (help->elsewhere && !strings_equal(totals[SIDE_A].hosts, totals[SIDE_B].hosts)) {
    strbuf_printf(text, "host %s, ", totals[side].hosts);
  }
  strbuf_printf(text, "%sdriver %s",
                help->elsewhere && strcmp(totals[SIDE_A].drivers, totals[SIDE_B].drivers) != 0
                    ? "install "
                    : "",
                totals[side].drivers);
}

static void advice_put_commands(struct strbuf *text, struct arena *arena,
                                const struct compare_result *result,
                                const struct side_advice help[SIDES], bool open) {
  SCOPED(strbuf_fini) struct strbuf command = STRBUF(TEXT_MAX);
  for (size_t s = 0; s < SIDES; s++) {
    if (help[s].imported || help[s].wanted == 0) {
      continue;
    }
    strbuf_clear(&command);
    advice_put_command(&command, arena, help[s].again, help[s].processes, help[s].nodes,
                       help[s].tag);
    strbuf_printf(text, "\n  %c (", advice_letter(s));
    advice_put_place(text, result, &help[s], s);
    strbuf_printf(text, ", %u %s %s", help[s].wanted, open ? "more" : "new",
                  strings_plural(help[s].wanted, "run", "runs"));
    if (help[s].nodes > 1) {
      strbuf_printf(text, " on each of its %zu nodes", help[s].nodes);
    }
    strbuf_append(text, "): ");
    if (help[s].wanted == 1) {
      strbuf_append(text, command.text);
    } else {
      strbuf_printf(text, "for run in $(seq %u); do %s; done", help[s].wanted, command.text);
    }
  }
}

/* Imported results cannot be measured again. */
static void advice_put_imported(struct strbuf *text, const struct compare_result *result,
                                const struct side_advice help[SIDES]) {
  const struct comparison *comparison = result->comparison;
  const bool both = help[SIDE_A].imported && help[SIDE_B].imported;
  const size_t s = help[SIDE_A].imported ? SIDE_A : SIDE_B;
  if (both) {
    strbuf_append(text, "A and B were imported and cannot be measured again");
  } else {
    strbuf_printf(text, "%c was imported and cannot be measured again, and ", advice_letter(s));
    advice_put_alone(text, comparison, s);
  }
  strbuf_printf(text, "; %u runs per side would, measured by haul in %s place",
                comparison->units_needed, both ? "their" : "its");
}

/* ---- haul run --decide ---- */

/* Whether the sides were judged and can grow as --decide makes them grow: further looks at them are
 * counted then. */
static bool advice_may_decide(const struct compare_request *request,
                              const struct compare_result *result) {
  const struct comparison *comparison = result->comparison;
  bool tested = false;
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    tested = tested || (row->result.units_needed > 0 && !isnan(row->result.p));
  }
  return tested && request->by == NULL && selector_tag(request->names[SIDE_A]) != NULL &&
         selector_tag(request->names[SIDE_B]) != NULL;
}

/* Whether all looks were taken. */
static bool advice_is_spent(const struct compare_result *result) {
  const struct measured *measured = result->measured;
  bool spent = false;
  for (size_t i = 0; i < measured->run_count; i++) {
    const struct measured_run *run = &measured->runs[i];
    spent = spent || (run->looks > 0 && run->look >= run->looks);
  }
  return spent;
}

/* "A has 2 runs and B has 3. A firm verdict takes 5 of each. Measure both sides again, A first:" */
static void advice_put_both(struct strbuf *text, const struct comparison *comparison,
                            size_t first) {
  const unsigned *least = comparison->units_least;
  const bool by_run = comparison->unit == DIFF_UNIT_RUN;
  if (comparison->unit != DIFF_UNIT_NODE) {
    strbuf_printf(text, "A has %u %s and B has %u. A firm verdict takes %u of each. ",
                  least[SIDE_A],
                  by_run ? strings_plural(least[SIDE_A], "run", "runs")
                         : strings_plural(least[SIDE_A], "process", "processes"),
                  least[SIDE_B], comparison->units_needed);
  }
  strbuf_printf(text, "Measure both sides again, %c first", advice_letter(first));
}

/* Of one side or, where no side alone would do, of both: the one that is shorter comes first. */
static void advice_put_decide(struct strbuf *text, const struct common_options *common,
                              struct compare_request *request, const struct compare_result *result,
                              const struct side_advice help[SIDES]) {
  struct arena *arena = &request->filter.arena;
  const struct comparison *comparison = result->comparison;
  const unsigned *alone = comparison->needed_alone;
  const bool both = (alone[SIDE_A] > 0) == (alone[SIDE_B] > 0);
  const bool neither = both && alone[SIDE_A] == 0;
  const size_t first = neither && comparison->units_least[SIDE_A] <= comparison->units_least[SIDE_B]
                           ? SIDE_A
                           : SIDE_B;
  strbuf_append(text, ". ");
  if (neither) {
    advice_put_both(text, comparison, first);
  } else {
    strbuf_append(text, "To decide, measure ");
    if (both) {
      strbuf_append(text, "one of the sides again, whichever you can");
    } else {
      strbuf_printf(text, "%c again", advice_letter(alone[SIDE_A] > 0 ? SIDE_A : SIDE_B));
    }
  }
  strbuf_append_char(text, ':');
  for (size_t i = 0; i < SIDES; i++) {
    const size_t s = i == 0 ? first : 1 - first;
    const size_t other = s == SIDE_A ? SIDE_B : SIDE_A;
    if (help[s].imported || (!both && alone[s] == 0)) {
      continue;
    }
    strbuf_printf(text, "\n  %c (", advice_letter(s));
    advice_put_place(text, result, &help[s], s);
    strbuf_printf(text, "): haul run --decide %s --tag %s",
                  shell_word(arena, request->names[other]),
                  shell_word(arena, selector_tag(request->names[s])));
    if (request->compare.margin > 0) {
      strbuf_printf(text, " --delta %g", 100 * request->compare.margin);
    }
    strbuf_append(text, console_db_option(common, arena));
  }
}

/* The first line as wide as the terminal; commands below it stay whole, so that they can be copied.
 */
static void advice_say(const struct common_options *common, const struct strbuf *text) {
  static const char SPEAKER[] = "haul: ";
  const size_t first = strcspn(text->text, "\n");
  SCOPED(strbuf_fini) struct strbuf line = STRBUF(TEXT_MAX);
  SCOPED(strbuf_fini) struct strbuf shown = STRBUF(TEXT_MAX);
  strbuf_printf(&line, "%.*s", (int)first, text->text);
  text_wrap(&shown, line.text, terminal_width(stderr), strlen(SPEAKER), false);
  strbuf_append(&shown, text->text + first);
  say_note(common, "%s", shown.text);
}

void compare_advise(const struct common_options *common, struct database *database,
                    struct compare_request *request, const struct compare_result *result) {
  const struct comparison *comparison = result->comparison;
  const size_t count = comparison->to_decide;
  const size_t others = comparison->undecided - count;
  if (comparison->units_needed == 0 || request->compare.one_side) {
    return;
  }
  /* New runs add to a side if its name selects them, and if no more looks at it were taken than are
   * allowed. Else both sides start with new runs. */
  const bool spent = advice_is_spent(result);
  const bool open =
      !spent && advice_is_open_side(request, SIDE_A) && advice_is_open_side(request, SIDE_B);
  struct side_advice help[SIDES];
  advice_find(database, request, result, open, help);
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(TEXT_MAX);
  strbuf_printf(&text, "%zu %s %s", count, strings_plural(count, "case is", "cases are"),
                comparison->any_provisional ? "provisional" : "undecided");
  if (others > 0) {
    strbuf_printf(&text, ", %zu undecided", others);
  }
  if (help[SIDE_A].imported || help[SIDE_B].imported) {
    strbuf_append(&text, ": ");
    advice_put_imported(&text, result, help);
  } else if (!spent && advice_may_decide(request, result)) {
    advice_put_decide(&text, common, request, result, help);
  } else {
    strbuf_printf(
        &text, "; %u %ss per side would decide %s. Measure %s again:", comparison->units_needed,
        diff_unit_text(comparison->unit == DIFF_UNIT_NODE ? DIFF_UNIT_NODE : DIFF_UNIT_RUN),
        strings_plural(count, "it", "them"),
        help[SIDE_A].wanted == 0   ? "B"
        : help[SIDE_B].wanted == 0 ? "A"
                                   : "both sides");
    advice_put_commands(&text, &request->filter.arena, result, help, open);
    if (help[SIDE_A].nodes + help[SIDE_B].nodes > 2 ||
        !strings_equal(comparison->totals[SIDE_A].hosts, comparison->totals[SIDE_B].hosts)) {
      strbuf_append(&text, "\n  and then haul merge their databases");
    }
    if (open) {
      strbuf_append(&text, "\n  and then this command again");
    } else {
      strbuf_printf(&text, "\n  and then haul diff tag:%s tag:%s%s", help[SIDE_A].tag,
                    help[SIDE_B].tag, console_db_option(common, &request->filter.arena));
    }
    for (size_t s = 0; s < SIDES; s++) {
      if (help[s].elsewhere) {
        strbuf_printf(&text, "\n  or, if %c cannot be measured again: ", advice_letter(s));
        advice_put_alone(&text, comparison, s);
      }
    }
  }
  advice_say(common, &text);
}
