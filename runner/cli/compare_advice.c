#include "runner/cli/compare_advice.h"

#include "engine/base/strbuf.h"
#include "engine/base/strings.h"
#include "runner/cli/advice_command.h"
#include "runner/cli/advice_sides.h"
#include "runner/console/shell_word.h"
#include "runner/record/selector.h"
#include "runner/table/text.h"

#include <math.h>
#include <string.h>

static const char BASELINE[] = "baseline:";

enum { TEXT_MAX = 1 << 16 };

/* "decide 10 of the 15 undecided cases", counted as the answer of the comparison counts them. */
static void advice_put_gain(struct strbuf *text, const struct comparison *comparison) {
  const size_t *verdicts = comparison->summary.verdicts;
  const size_t undecided = verdicts[VERDICT_INSUFFICIENT] + verdicts[VERDICT_UNCLEAR];
  const size_t count = comparison->to_decide;
  const bool decides = comparison->need == NEED_DECIDE;
  const char *what = decides                                   ? "undecided "
                     : comparison->need == NEED_CONFIRM_CHANGE ? "provisional change"
                                                               : "provisional ";
  const char *noun = comparison->need == NEED_CONFIRM_CHANGE
                         ? strings_plural(count, "", "s")
                         : strings_plural(count, "case", "cases");
  strbuf_append(text, decides ? "decide " : "confirm ");
  if (decides && count < undecided) {
    strbuf_printf(text, "%zu of the %zu undecided cases", count, undecided);
  } else if (count > 1) {
    strbuf_printf(text, "the %zu %s%s", count, what, noun);
  } else {
    strbuf_printf(text, "the %s%s", what, noun);
  }
}

/* "up to 9 more runs of each side (now A 8, B 8 to 11) would decide the 12 undecided cases", "at
 * least 4 more ...", "4 more runs of B (now 1) would confirm the provisional change" */
static void advice_put_count(struct strbuf *text, const struct comparison *comparison,
                             const struct side_advice help[SIDES], bool anew) {
  const char *unit =
      diff_unit_text(comparison->unit == DIFF_UNIT_NODE ? DIFF_UNIT_NODE : DIFF_UNIT_RUN);
  const bool both = help[SIDE_A].measured && help[SIDE_B].measured;
  const size_t one = help[SIDE_A].measured ? SIDE_A : SIDE_B;
  const unsigned count = help[one].wanted;
  if (comparison->need == NEED_DECIDE) {
    strbuf_append(text, comparison->needed_is_least ? "at least "
                        : comparison->to_decide > 1 ? "up to "
                                                    : "");
  }
  strbuf_printf(text, "%u %s %s%s of ", count, anew ? "new" : "more", unit,
                strings_plural(count, "", "s"));
  strbuf_append(text, both ? "each side" : (const char[]){side_letter(one), '\0'});
  for (size_t s = 0; s < SIDES; s++) {
    if (help[s].measured) {
      strbuf_append(text, both && s == SIDE_B ? ", " : " (now ");
      if (both) {
        strbuf_printf(text, "%c ", side_letter(s));
      }
      strbuf_printf(text, "%u", comparison->units_least[s]);
      if (comparison->units_most[s] > comparison->units_least[s]) {
        strbuf_printf(text, " to %u", comparison->units_most[s]);
      }
    }
  }
  strbuf_append(text, ") would ");
  advice_put_gain(text, comparison);
}

/* Recorded texts are escaped, on one line: what is copied to a shell must not go on with a command
 * of its own. */
static void advice_put_place(struct strbuf *text, const struct compare_result *result,
                             const struct side_advice *help, size_t side) {
  const struct comparison_total *totals = result->comparison->totals;
  if (help->elsewhere && !strings_equal(totals[SIDE_A].hosts, totals[SIDE_B].hosts)) {
    strbuf_append(text, "host ");
    text_put(text, totals[side].hosts);
    strbuf_append(text, ", ");
  }
  if (help->elsewhere && strcmp(totals[SIDE_A].drivers, totals[SIDE_B].drivers) != 0) {
    strbuf_append(text, "install ");
  }
  strbuf_append(text, "driver ");
  text_put(text, totals[side].drivers);
}

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

/* One run of that side, under that tag. */
static void advice_put_run(struct strbuf *text, const struct common_options *common,
                           struct compare_request *request, const struct compare_result *result,
                           const struct side_advice *help, const char *tag) {
  struct arena *arena = &request->filter.arena;
  const struct measured_run *first = help->again[0];
  const bool by_process = result->comparison->unit == DIFF_UNIT_PROCESS || first->processes == 0;
  for (size_t i = 0; help->again[i] != NULL; i++) {
    strbuf_append(text, i > 0 ? "; " : "");
    advice_put_command(text, arena, help->again[i], by_process ? 1 : first->processes, help->nodes,
                       tag, console_db_option(common, arena));
  }
}

static void advice_put_options(struct strbuf *text, const struct common_options *common,
                               struct compare_request *request) {
  if (request->compare.margin > 0) {
    strbuf_printf(text, " --delta %g", 100 * request->compare.margin);
  }
  strbuf_append(text, console_db_option(common, &request->filter.arena));
}

static void advice_put_decide(struct strbuf *text, const struct common_options *common,
                              struct compare_request *request, size_t side) {
  struct arena *arena = &request->filter.arena;
  strbuf_printf(text, "haul run --decide %s --tag %s",
                shell_word(arena, request->names[side == SIDE_A ? SIDE_B : SIDE_A]),
                shell_word(arena, selector_tag(request->names[side])));
  advice_put_options(text, common, request);
}

/* The last step; to be read, with before it, where it is no line of a script. */
static void advice_put_diff(struct strbuf *text, const struct common_options *common,
                            struct compare_request *request, const struct side_advice help[SIDES],
                            const char *before) {
  struct arena *arena = &request->filter.arena;
  if (request->by != NULL) {
    strbuf_append(text, "\n  and then this command again");
    return;
  }
  strbuf_printf(text, "\n  %shaul diff %s %s", before, shell_word(arena, help[SIDE_A].name),
                shell_word(arena, help[SIDE_B].name));
  advice_put_options(text, common, request);
}

/* A line per side to measure: one side alone, or on several hosts. */
static void advice_put_sides(struct strbuf *text, const struct common_options *common,
                             struct compare_request *request, const struct compare_result *result,
                             const struct side_advice help[SIDES], bool anew) {
  const bool both = help[SIDE_A].measured && help[SIDE_B].measured;
  const struct comparison_total *totals = result->comparison->totals;
  const bool decide = !anew && !both && advice_may_decide(request, result);
  strbuf_append(text, ":");
  for (size_t s = 0; s < SIDES; s++) {
    if (!help[s].measured) {
      continue;
    }
    strbuf_printf(text, "\n  %c (", side_letter(s));
    advice_put_place(text, result, &help[s], s);
    if (help[s].nodes > 1) {
      strbuf_printf(text, " on each of its %zu nodes", help[s].nodes);
    }
    strbuf_append(text, "): ");
    if (decide) {
      advice_put_decide(text, common, request, s);
      return;
    }
    if (help[s].wanted > 1) {
      strbuf_printf(text, "for run in $(seq %u); do ", help[s].wanted);
    }
    advice_put_run(text, common, request, result, &help[s], help[s].tag);
    strbuf_append(text, help[s].wanted > 1 ? "; done" : "");
  }
  if (help[SIDE_A].nodes + help[SIDE_B].nodes > SIDES ||
      advice_is_shard(&request->filter.arena, help[SIDE_A].again[0]) ||
      !strings_equal(totals[SIDE_A].hosts, totals[SIDE_B].hosts)) {
    strbuf_append(text, "\n  and then haul merge their databases");
  }
  advice_put_diff(text, common, request, help, "and then ");
}

/* What has to be changed before a run of either side; nothing if the sides differ in nothing. */
static void advice_put_setup(struct strbuf *text, const struct comparison *comparison,
                             const char *const words[SIDES]) {
  const struct comparison_total *totals = comparison->totals;
  if (strcmp(totals[SIDE_A].drivers, totals[SIDE_B].drivers) != 0) {
    strbuf_append(text, "    # install driver ");
    text_put(text, totals[SIDE_A].drivers);
    strbuf_printf(text, " for %s, ", words[SIDE_A]);
    text_put(text, totals[SIDE_B].drivers);
    strbuf_printf(text, " for %s\n", words[SIDE_B]);
  } else if (comparison->fact_count > 0) {
    strbuf_append(text, "    # set up $side (");
    text_put(text, comparison->facts[0].name);
    strbuf_append(text, ")\n");
  }
}

/* A loop over both sides, in turn: the one that was measured last first, which needs no change of
 * the machine. */
static void advice_put_turns(struct strbuf *text, const struct common_options *common,
                             struct compare_request *request, const struct compare_result *result,
                             const struct side_advice help[SIDES], const char *run) {
  enum { TURNS_MAX = 8 }; /* on a line; more are repeated in fours */
  struct arena *arena = &request->filter.arena;
  const bool b_first = help[SIDE_B].run->started_at_ns >= help[SIDE_A].run->started_at_ns;
  const unsigned wanted = help[SIDE_A].wanted;
  const bool repeated = 2 * wanted > TURNS_MAX;
  const char *words[SIDES];
  for (size_t s = 0; s < SIDES; s++) {
    words[s] = help[s].tag != NULL ? shell_word(arena, help[s].tag) : s == SIDE_A ? "A" : "B";
  }
  strbuf_append(text, ". Measure in turn, so that drift is not taken for a change:\n  ");
  if (repeated) {
    strbuf_printf(text, "for round in $(seq %u); do ", (wanted + 1) / 2);
  }
  strbuf_append(text, "for side in");
  for (unsigned i = 0; i < (repeated ? 4 : 2 * wanted); i++) {
    strbuf_printf(text, " %s", words[(i % 4 == 1 || i % 4 == 2) == b_first ? SIDE_A : SIDE_B]);
  }
  strbuf_append(text, "; do\n");
  advice_put_setup(text, result->comparison, words);
  strbuf_printf(text, "    %s\n  done%s", run, repeated ? "; done" : "");
  advice_put_diff(text, common, request, help, "");
}

static void advice_put_commands(struct strbuf *text, const struct common_options *common,
                                struct compare_request *request,
                                const struct compare_result *result,
                                const struct side_advice help[SIDES], bool anew) {
  const struct comparison_total *totals = result->comparison->totals;
  SCOPED(strbuf_fini) struct strbuf run = STRBUF(TEXT_MAX);
  SCOPED(strbuf_fini) struct strbuf run_of_b = STRBUF(TEXT_MAX);
  for (size_t s = 0; s < SIDES; s++) {
    advice_put_run(s == SIDE_A ? &run : &run_of_b, common, request, result, &help[s],
                   help[s].tag != NULL ? "$side" : NULL);
  }
  const bool in_turn = help[SIDE_A].measured && help[SIDE_B].measured &&
                       help[SIDE_A].nodes + help[SIDE_B].nodes == SIDES &&
                       strings_equal(totals[SIDE_A].hosts, totals[SIDE_B].hosts) &&
                       strcmp(run.text, run_of_b.text) == 0 &&
                       !advice_is_shard(&request->filter.arena, help[SIDE_A].again[0]);
  if (in_turn) {
    advice_put_turns(text, common, request, result, help, run.text);
  } else {
    advice_put_sides(text, common, request, result, help, anew);
  }
}

/* Whether A is a baseline of one process on the machine and driver of B: a new baseline costs less
 * than more runs of the old one, and it serves later checks. */
static bool advice_is_thin_baseline(const struct compare_request *request,
                                    const struct compare_result *result,
                                    const struct side_advice help[SIDES]) {
  const struct comparison *comparison = result->comparison;
  return request->by == NULL && strncmp(request->names[SIDE_A], BASELINE, strlen(BASELINE)) == 0 &&
         comparison->units_least[SIDE_A] == 1 && comparison->processes_least[SIDE_A] == 1 &&
         !help[SIDE_A].imported && help[SIDE_A].nodes == 1 && help[SIDE_B].nodes == 1 &&
         advice_same_place(result->measured, help[SIDE_A].run, help[SIDE_B].run);
}

static void advice_put_new_baseline(struct strbuf *text, const struct common_options *common,
                                    struct compare_request *request,
                                    const struct compare_result *result,
                                    const struct side_advice *help) {
  struct arena *arena = &request->filter.arena;
  const char *db = console_db_option(common, arena);
  SCOPED(strbuf_fini) struct strbuf run = STRBUF(TEXT_MAX);
  advice_put_command(&run, arena, help->again[0], result->comparison->units_needed, 1, NULL, db);
  strbuf_printf(
      text,
      "a baseline of one process decides nothing. Set a new one while the machine is as it "
      "should be:\n  %s\n  haul baseline set %s latest%s\n  and to check: %s\n  and then "
      "this command again",
      run.text, shell_word(arena, request->names[SIDE_A] + strlen(BASELINE)), db, run.text);
}

/* Imported results cannot be measured again. */
static void advice_put_imported(struct strbuf *text, const struct comparison *comparison,
                                const struct side_advice help[SIDES]) {
  const size_t s = help[SIDE_A].imported ? SIDE_A : SIDE_B;
  const size_t other = 1 - s;
  if (help[other].imported) {
    strbuf_append(text, "A and B were imported and cannot be measured again.");
    return;
  }
  strbuf_printf(text, "%c was imported and cannot be measured again. More runs of %c alone ",
                side_letter(s), side_letter(other));
  if (comparison->decided_alone[other] > 0) {
    strbuf_printf(text, "would decide %zu of these %zu cases.", comparison->decided_alone[other],
                  comparison->to_decide);
  } else if (comparison->processes_least[s] < DIFF_PROCESSES_FIRM) {
    strbuf_printf(text,
                  "can show that a case is the same, but a firm change needs %d processes on each "
                  "side.",
                  DIFF_PROCESSES_FIRM);
  } else {
    strbuf_append(text, "would not decide them.");
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

void compare_advise(const struct common_options *common, struct database *database,
                    struct compare_request *request, const struct compare_result *result) {
  const struct comparison *comparison = result->comparison;
  if (comparison->units_needed == 0 || request->compare.one_side) {
    return;
  }
  const bool anew = advice_is_spent(result); /* no further look at these runs is allowed */
  struct side_advice help[SIDES];
  advice_find_sides(database, request, result, anew, help);
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(TEXT_MAX);
  if (!help[SIDE_A].measured && !help[SIDE_B].measured) {
    return; /* as many as are needed, and still provisional: the reason is all that can be said */
  }
  if (advice_is_thin_baseline(request, result, help)) {
    advice_put_new_baseline(&text, common, request, result, &help[SIDE_A]);
    advice_say(common, &text);
    return;
  }
  advice_put_count(&text, comparison, help, anew);
  if ((help[SIDE_A].measured && help[SIDE_A].imported) ||
      (help[SIDE_B].measured && help[SIDE_B].imported)) {
    strbuf_append(&text, ". ");
    advice_put_imported(&text, comparison, help);
  } else {
    advice_put_commands(&text, common, request, result, help, anew);
  }
  advice_say(common, &text);
}
