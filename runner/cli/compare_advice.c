#include "runner/cli/compare_advice.h"

#include "engine/base/order.h"
#include "engine/base/strbuf.h"
#include "engine/base/strings.h"
#include "runner/cli/advice_command.h"
#include "runner/console/shell_word.h"
#include "runner/record/selector.h"
#include "runner/table/text.h"

#include <math.h>
#include <string.h>

enum { TEXT_MAX = 1 << 16, TAGS_TRIED = 1000 };

/* ---- the sides ---- */

/* What can be done about a side. */
struct side_advice {
  const struct measured_run *run; /* that measured most of the cases to decide */
  /* Whose commands measure them all. One is of the other side where that of this one was --resume
   * or --decide. */
  const struct measured_run **again;
  size_t again_count;
  bool imported;      /* all its runs are imported: no command makes more */
  bool elsewhere;     /* measured by another machine or driver than the latest run */
  unsigned wanted;    /* new runs; 0 = it has enough */
  unsigned processes; /* of a new run */
  size_t nodes;       /* that were measured */
  const char *tag;    /* of the new run; NULL = none is needed */
};

static bool advice_is_imported(const struct measured_run *run) {
  return strcmp(run->origin, "imported") == 0;
}

/* What its command is good for: rather one that can be given again, and none of an import. */
static unsigned advice_rank(struct arena *arena, const struct measured_run *run) {
  return advice_is_imported(run) ? 0 : advice_is_plain(arena, run) ? 2 : 1;
}

/* The first of the cases with its case_key, for each: they are adjacent. */
static size_t *advice_find_firsts(struct arena *arena, const struct measured *measured) {
  size_t *firsts = arena_array(arena, measured->case_count, sizeof *firsts);
  for (size_t i = 1; i < measured->case_count; i++) {
    const bool same = strcmp(measured->cases[i].key, measured->cases[i - 1].key) == 0;
    firsts[i] = same ? firsts[i - 1] : i;
  }
  return firsts;
}

/* The cases that more runs would decide, by the number of the first with the case_key. */
struct advice_cases {
  const size_t *firsts;
  bool *open; /* no command measures them yet */
};

static bool advice_is_open_case(const struct advice_cases *cases,
                                const struct measured_median *median) {
  return median->process != 0 && cases->open[cases->firsts[median->bench]];
}

/* How many open cases each run measured. */
static size_t *advice_count_open(struct arena *arena, const struct measured *measured,
                                 const struct advice_cases *cases) {
  size_t *counts = arena_array(arena, measured->run_count, sizeof *counts);
  size_t *counted = arena_array(arena, measured->run_count, sizeof *counted); /* from 1 */
  for (size_t i = 0; i < measured->median_count; i++) {
    const struct measured_median *median = &measured->medians[i];
    const size_t number = cases->firsts[median->bench] + 1;
    if (advice_is_open_case(cases, median) && counted[median->run] != number) {
      counted[median->run] = number;
      counts[median->run]++;
    }
  }
  return counts;
}

/* The run of a side that measured most of the open cases. Of several, the last one whose command
 * can be given again. Every side has a run. */
static size_t advice_pick_run(struct arena *arena, const struct compare_result *result,
                              enum side side, const size_t *counts) {
  const struct measured_run *runs = result->measured->runs;
  size_t best = 0;
  while (result->sides[best] != side) {
    best++;
  }
  for (size_t i = best + 1; i < result->measured->run_count; i++) {
    if (result->sides[i] != side) {
      continue;
    }
    const unsigned rank = advice_rank(arena, &runs[i]);
    const unsigned known = advice_rank(arena, &runs[best]);
    const int order = ORDER(rank > 0, known > 0)
                          ?: ORDER(counts[i], counts[best])
                          ?: ORDER(rank, known)
                          ?: ORDER(runs[i].started_at_ns, runs[best].started_at_ns);
    best = order >= 0 ? i : best;
  }
  return best;
}

/* The runs of a side whose commands measure all cases to decide. */
static void advice_find_runs(struct arena *arena, const struct compare_result *result,
                             enum side side, struct side_advice *help) {
  const struct measured *measured = result->measured;
  const struct comparison *comparison = result->comparison;
  const struct advice_cases cases = {
      .firsts = advice_find_firsts(arena, measured),
      .open = arena_array(arena, measured->case_count, sizeof *cases.open)};
  help->again = arena_array(arena, measured->run_count, sizeof(void *));
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    cases.open[cases.firsts[row->bench]] |= comparison_row_is_to_decide(comparison, row);
  }
  const size_t *counts = advice_count_open(arena, measured, &cases);
  size_t own = advice_pick_run(arena, result, side, counts);
  help->run = &measured->runs[own];
  do {
    const size_t other = advice_pick_run(arena, result, side == SIDE_A ? SIDE_B : SIDE_A, counts);
    const bool is_other = !advice_is_plain(arena, &measured->runs[own]) &&
                          advice_is_plain(arena, &measured->runs[other]) &&
                          counts[other] >= counts[own] &&
                          strcmp(measured->runs[other].scenario, measured->runs[own].scenario) == 0;
    help->again[help->again_count++] = &measured->runs[is_other ? other : own];
    for (size_t i = 0; i < measured->median_count; i++) {
      const struct measured_median *median = &measured->medians[i];
      if (median->run == own && advice_is_open_case(&cases, median)) {
        cases.open[cases.firsts[median->bench]] = false;
      }
    }
    counts = advice_count_open(arena, measured, &cases);
    own = advice_pick_run(arena, result, side, counts);
  } while (counts[own] > 0);
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
    help[s] = (struct side_advice){.wanted = needed > have ? needed - have : 0};
    advice_find_runs(&request->filter.arena, result, (enum side)s, &help[s]);
    help[s].processes = comparison->unit == DIFF_UNIT_PROCESS || help[s].run->processes == 0
                            ? 1
                            : help[s].run->processes;
    help[s].imported = advice_is_imported(help[s].run);
    help[s].nodes = advice_count_nodes(&request->filter.arena, result, (enum side)s);
    help[s].tag =
        !open ? advice_free_tag(database, request, FRESH_TAGS[s]) : selector_tag(request->names[s]);
  }
  const bool later = help[SIDE_B].run->started_at_ns >= help[SIDE_A].run->started_at_ns;
  struct side_advice *older = &help[later ? SIDE_A : SIDE_B];
  older->elsewhere =
      !older->imported && !advice_same_place(result->measured, help[SIDE_A].run, help[SIDE_B].run);
}

/* ---- words ---- */

/* What more runs of the other side do if this side stays as it is. */
static void advice_put_alone(struct strbuf *text, const struct comparison *comparison,
                             size_t stays) {
  const char other = side_letter(stays == SIDE_A ? SIDE_B : SIDE_A);
  const size_t count = comparison->to_decide;
  const unsigned alone = comparison->needed_alone[stays == SIDE_A ? SIDE_B : SIDE_A];
  const size_t decided = comparison->decided_alone[stays == SIDE_A ? SIDE_B : SIDE_A];
  if (decided == count) {
    strbuf_printf(text, "%u runs of %c alone would decide %s.", alone, other,
                  strings_plural(count, "it", "them"));
  } else if (decided > 0) {
    strbuf_printf(text, "%u runs of %c alone would decide %zu of these %zu cases.", alone, other,
                  decided, count);
  } else if (comparison->processes_least[stays] < DIFF_PROCESSES_FIRM) {
    strbuf_printf(text,
                  "more runs of %c alone can show that a case is the same, but a firm change needs "
                  "%d processes on each side.",
                  other, DIFF_PROCESSES_FIRM);
  } else {
    strbuf_printf(text, "more runs of %c alone would hardly decide %s.", other,
                  strings_plural(count, "it", "them"));
  }
}

/* "up to 30 runs per side (now A 2, B 2) would decide 10 of the 15 undecided cases. ", counted as
 * the answer of the comparison counts them; "more runs would ... " where one side alone is enough.
 */
static void advice_put_count(struct strbuf *text, const struct comparison *comparison, bool sides) {
  const size_t *verdicts = comparison->summary.verdicts;
  const size_t undecided = verdicts[VERDICT_INSUFFICIENT] + verdicts[VERDICT_UNCLEAR];
  const size_t count = comparison->any_provisional ? 0 : verdicts[VERDICT_INSUFFICIENT];
  const size_t provisional = comparison->to_decide - count;
  if (sides) {
    strbuf_printf(
        text, "%s%u %ss per side (now A %u, B %u)", comparison->to_decide > 1 ? "up to " : "",
        comparison->units_needed,
        diff_unit_text(comparison->unit == DIFF_UNIT_NODE ? DIFF_UNIT_NODE : DIFF_UNIT_RUN),
        comparison->units_least[SIDE_A], comparison->units_least[SIDE_B]);
  } else {
    strbuf_append(text, "more runs");
  }
  strbuf_append(text, " would ");
  if (count > 0 && count < undecided) {
    strbuf_printf(text, "decide %zu of the %zu undecided cases", count, undecided);
  } else if (count > 1) {
    strbuf_printf(text, "decide the %zu undecided cases", count);
  } else if (count == 1) {
    strbuf_append(text, "decide the undecided case");
  }
  if (provisional > 0) {
    strbuf_printf(text, "%sconfirm ", count > 0 ? " and " : "");
    if (provisional > 1) {
      strbuf_printf(text, "the %zu provisional %s", provisional,
                    comparison->any_provisional ? "changes" : "cases");
    } else {
      strbuf_printf(text, "the provisional %s", comparison->any_provisional ? "change" : "case");
    }
  }
  strbuf_append(text, ". ");
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
    for (size_t i = 0; i < help[s].again_count; i++) {
      strbuf_append(&command, i > 0 ? "; " : "");
      advice_put_command(&command, arena, help[s].again[i], help[s].processes, help[s].nodes,
                         help[s].tag);
    }
    strbuf_printf(text, "\n  %c (", side_letter(s));
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
    strbuf_append(text, "A and B were imported and cannot be measured again.");
  } else {
    strbuf_printf(
        text, "%c was imported. If it cannot be measured by haul in its place: ", side_letter(s));
    advice_put_alone(text, comparison, s);
  }
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

/* Of one side or, where no side alone would do, of both: the one that is shorter comes first. */
static void advice_put_decide(struct strbuf *text, const struct common_options *common,
                              struct compare_request *request, const struct compare_result *result,
                              const struct side_advice help[SIDES]) {
  struct arena *arena = &request->filter.arena;
  const struct comparison *comparison = result->comparison;
  const bool alone[SIDES] = {comparison->decided_alone[SIDE_A] == comparison->to_decide,
                             comparison->decided_alone[SIDE_B] == comparison->to_decide};
  const bool both = alone[SIDE_A] == alone[SIDE_B];
  const bool neither = both && !alone[SIDE_A];
  const size_t first = neither && comparison->units_least[SIDE_A] <= comparison->units_least[SIDE_B]
                           ? SIDE_A
                           : SIDE_B;
  advice_put_count(text, comparison, neither);
  if (neither) {
    strbuf_printf(text, "Measure both sides again, %c first", side_letter(first));
  } else if (both) {
    strbuf_append(text, "Measure one of the sides again, whichever you can");
  } else {
    strbuf_printf(text, "Measure %c again", side_letter(alone[SIDE_A] ? SIDE_A : SIDE_B));
  }
  strbuf_append_char(text, ':');
  for (size_t i = 0; i < SIDES; i++) {
    const size_t s = i == 0 ? first : 1 - first;
    const size_t other = s == SIDE_A ? SIDE_B : SIDE_A;
    if (help[s].imported || (!both && !alone[s])) {
      continue;
    }
    strbuf_printf(text, "\n  %c (", side_letter(s));
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
  SCOPED(strbuf_fini) struct strbuf alone = STRBUF(TEXT_MAX);
  if (help[SIDE_A].imported || help[SIDE_B].imported) {
    advice_put_count(&text, comparison, true);
    advice_put_imported(&text, result, help);
  } else if (!spent && advice_may_decide(request, result)) {
    advice_put_decide(&text, common, request, result, help);
  } else {
    advice_put_count(&text, comparison, true);
    strbuf_printf(&text, "Measure %s again:",
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
        strbuf_printf(&alone, "if %c cannot be measured again: ", side_letter(s));
        advice_put_alone(&alone, comparison, s);
      }
    }
  }
  advice_say(common, &text);
  if (alone.length > 0) {
    advice_say(common, &alone);
  }
}
