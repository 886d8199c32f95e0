/* compare_advice.c - what would decide an undecided comparison, as commands to type. */
#include "runner/cli/analysis.h"

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

/* What all parts of an advice read; texts are in the arena. */
struct advice {
  struct arena *arena;
  struct compare_request *request;
  const struct compare_result *result;
  const struct comparison *comparison;
  const struct comparison_total *totals;
  struct side_advice help[SIDES];
  const char *db;      /* " --db FILE" */
  const char *options; /* " --delta 1 --db FILE" */
  struct more_runs more;
};

static bool advice_is_both(const struct advice *advice) {
  return advice->more.of[SIDE_A] && advice->more.of[SIDE_B];
}

/* "The 8 undecided cases" */
static const char *advice_all(const struct advice *advice, const char *the, size_t count,
                              const char *what) {
  return count == 1 ? arena_format(advice->arena, "%s %s", the, what)
                    : arena_format(advice->arena, "%s %zu %ss", the, count, what);
}

/* "10 of the 15 undecided cases need", "The provisional change needs", counted as the answer of the
 * comparison counts them. */
static const char *advice_cases(const struct advice *advice) {
  const struct comparison *comparison = advice->comparison;
  const size_t *verdicts = comparison->summary.verdicts;
  const size_t undecided = verdicts[VERDICT_INSUFFICIENT] + verdicts[VERDICT_UNCLEAR];
  const size_t count = comparison->to_decide;
  const bool decides = comparison->need == NEED_DECIDE;
  const char *what = decides                                   ? "undecided case"
                     : comparison->need == NEED_CONFIRM_CHANGE ? "provisional change"
                                                               : "provisional case";
  const char *need = strings_plural(count, "needs", "need");
  return decides && count < undecided
             ? arena_format(advice->arena, "%zu of %s %s", count,
                            advice_all(advice, "the", undecided, what), need)
             : arena_format(advice->arena, "%s %s", advice_all(advice, "The", count, what), need);
}

/* "5", "5 to 8" */
static const char *advice_units(const struct advice *advice, size_t side) {
  const unsigned least = advice->comparison->units_least[side];
  const unsigned most = advice->comparison->units_most[side];
  return most > least ? arena_format(advice->arena, "%u to %u", least, most)
                      : arena_format(advice->arena, "%u", least);
}

/* "The 8 undecided cases need at least 4 more runs of each side (now A 1, B 1)", "The provisional
 * change needs 4 more runs of B (now 1)", "12 of the 15 undecided cases need up to 9 new runs of
 * each side" */
static const char *advice_count(const struct advice *advice) {
  const struct comparison *comparison = advice->comparison;
  struct arena *arena = advice->arena;
  const char *unit =
      diff_unit_text(comparison->unit == DIFF_UNIT_NODE ? DIFF_UNIT_NODE : DIFF_UNIT_RUN);
  const size_t one = advice->help[SIDE_A].wanted > 0 ? SIDE_A : SIDE_B;
  const unsigned count = advice->help[one].wanted;
  const char *bound = comparison->need != NEED_DECIDE ? ""
                      : comparison->needed_is_least   ? "at least "
                      : comparison->to_decide > 1     ? "up to "
                                                      : "";
  const char *now = advice->more.anew ? ""
                    : !advice_is_both(advice)
                        ? arena_format(arena, " (now %s)", advice_units(advice, one))
                        : arena_format(arena, " (now A %s, B %s)", advice_units(advice, SIDE_A),
                                       advice_units(advice, SIDE_B));
  return arena_format(
      arena, "%s %s%u %s %s%s of %s%s", advice_cases(advice), bound, count,
      advice->more.anew ? "new" : "more", unit, strings_plural(count, "", "s"),
      advice_is_both(advice) ? "each side" : arena_format(arena, "%c", side_letter(one)), now);
}

/* Recorded texts on one line: what is copied to a shell must not go on with a command of its own.
 */
static const char *advice_escaped(const struct advice *advice, const char *text) {
  SCOPED(strbuf_fini) struct strbuf escaped = STRBUF(TEXT_MAX);
  text_put(&escaped, text);
  return arena_strdup(advice->arena, escaped.text);
}

static bool advice_drivers_differ(const struct advice *advice) {
  return strcmp(advice->totals[SIDE_A].drivers, advice->totals[SIDE_B].drivers) != 0;
}

static bool advice_hosts_differ(const struct advice *advice) {
  return !strings_equal(advice->totals[SIDE_A].hosts, advice->totals[SIDE_B].hosts);
}

/* "host n1, install driver 580 on each of its 2 nodes" */
static const char *advice_place(const struct advice *advice, size_t side) {
  const struct side_advice *help = &advice->help[side];
  const struct comparison_total *total = &advice->totals[side];
  return arena_format(
      advice->arena, "%s%sdriver %s%s",
      help->site.elsewhere && advice_hosts_differ(advice)
          ? arena_format(advice->arena, "host %s, ", advice_escaped(advice, total->hosts))
          : "",
      help->site.elsewhere && advice_drivers_differ(advice) ? "install " : "",
      advice_escaped(advice, total->drivers),
      help->nodes > 1 ? arena_format(advice->arena, " on each of its %zu nodes", help->nodes) : "");
}

/* Whether the sides were judged and can grow as --decide makes them grow: further looks at them are
 * counted then. */
static bool advice_may_decide(const struct advice *advice) {
  const struct comparison_row *rows = advice->comparison->rows;
  const struct compare_request *request = advice->request;
  return request->by == NULL && selector_tag(request->names[SIDE_A]) != NULL &&
         selector_tag(request->names[SIDE_B]) != NULL &&
         ANY_OF(i, advice->comparison->row_count,
                rows[i].result.units_needed > 0 && !isnan(rows[i].result.p));
}

/* Of a run of that side. Runs in turn have as many on both. */
static unsigned advice_processes(const struct advice *advice, size_t side) {
  const unsigned own = advice->help[side].again[0]->processes;
  const unsigned other = advice->help[1 - side].again[0]->processes;
  const unsigned processes = advice_is_both(advice) && other < own ? other : own;
  return advice->comparison->unit == DIFF_UNIT_PROCESS || processes == 0 ? 1 : processes;
}

/* One run of that side, under that tag. */
static const char *advice_run(const struct advice *advice, size_t side, const char *tag) {
  const struct side_advice *help = &advice->help[side];
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(TEXT_MAX);
  for (size_t i = 0; help->again[i] != NULL; i++) {
    strbuf_append(&text, i > 0 ? "; " : "");
    const struct advice_how how = {
        .processes = advice_processes(advice, side),
        .nodes = help->nodes,
        .tag = tag,
        .only = advice->more.open_alone ? advice_only(advice->arena, advice->result, help->again[i])
                                        : NULL,
        .db = advice->db};
    advice_put_command(&text, advice->arena, help->again[i], &how);
  }
  return arena_strdup(advice->arena, text.text);
}

/* The last step; to be read, with before it, where it is no line of a script. */
static const char *advice_diff(const struct advice *advice, const char *before) {
  return advice->request->by != NULL
             ? "\n  and then this command again"
             : arena_format(advice->arena, "\n  %shaul diff %s %s%s", before,
                            shell_word(advice->arena, advice->help[SIDE_A].name),
                            shell_word(advice->arena, advice->help[SIDE_B].name), advice->options);
}

/* The tag of a side as a word of a shell; NULL: it has none. */
static const char *advice_tag_word(const struct advice *advice, size_t side) {
  const char *tag = advice->help[side].tag;
  return tag != NULL ? shell_word(advice->arena, tag) : NULL;
}

/* A line per side to measure: one side alone, or on several hosts. */
static const char *advice_apart(const struct advice *advice) {
  struct arena *arena = advice->arena;
  const char *const *names = advice->request->names;
  const struct side_advice *help = advice->help;
  const char *text = ":";
  for (size_t s = 0; s < SIDES; s++) {
    if (help[s].wanted == 0) {
      continue;
    }
    text = arena_format(arena, "%s\n  %c (%s): ", text, side_letter(s), advice_place(advice, s));
    if (!advice->more.anew && !advice_is_both(advice) && advice_may_decide(advice)) {
      return arena_format(arena, "%shaul run --decide %s --tag %s%s", text,
                          shell_word(arena, names[s == SIDE_A ? SIDE_B : SIDE_A]),
                          shell_word(arena, selector_tag(names[s])), advice->options);
    }
    const char *run = advice_run(advice, s, advice_tag_word(advice, s));
    text = help[s].wanted > 1 ? arena_format(arena, "%sfor run in $(seq %u); do %s; done", text,
                                             help[s].wanted, run)
                              : arena_format(arena, "%s%s", text, run);
  }
  const bool merged = help[SIDE_A].nodes + help[SIDE_B].nodes > SIDES ||
                      advice_is_shard(arena, help[SIDE_A].again[0]) || advice_hosts_differ(advice);
  return arena_format(arena, "%s%s%s", text,
                      merged ? "\n  and then haul merge their databases" : "",
                      advice_diff(advice, "and then "));
}

/* What has to be changed before a run of either side; "" if the sides differ in nothing. */
static const char *advice_setup(const struct advice *advice, const char *const words[SIDES]) {
  const struct comparison *comparison = advice->comparison;
  return advice_drivers_differ(advice)
             ? arena_format(advice->arena, "    # install driver %s for %s, %s for %s\n",
                            advice_escaped(advice, advice->totals[SIDE_A].drivers), words[SIDE_A],
                            advice_escaped(advice, advice->totals[SIDE_B].drivers), words[SIDE_B])
         : comparison->fact_count > 0
             ? arena_format(advice->arena, "    # set up $side (%s)\n",
                            advice_escaped(advice, comparison->facts[0].name))
             : "";
}

/* A loop over both sides, in turn: the one that was measured last first, which needs no change of
 * the machine. */
static const char *advice_turns(const struct advice *advice, const char *run) {
  enum { TURNS_MAX = 8 }; /* on a line; more are repeated in fours */
  struct arena *arena = advice->arena;
  const struct side_advice *help = advice->help;
  const bool b_first = help[SIDE_B].run->started_at_ns >= help[SIDE_A].run->started_at_ns;
  const unsigned wanted = help[SIDE_A].wanted;
  const bool repeated = 2 * wanted > TURNS_MAX;
  const char *words[SIDES];
  for (size_t s = 0; s < SIDES; s++) {
    words[s] = help[s].tag != NULL ? advice_tag_word(advice, s) : s == SIDE_A ? "A" : "B";
  }
  const char *turns = "";
  for (unsigned i = 0; i < (repeated ? 4 : 2 * wanted); i++) {
    turns = arena_format(arena, "%s %s", turns,
                         words[(i % 4 == 1 || i % 4 == 2) == b_first ? SIDE_A : SIDE_B]);
  }
  return arena_format(
      arena,
      ". Measure in turn, so that drift is not taken for a change:\n  %sfor side in%s; do\n%s    "
      "%s\n  done%s%s",
      repeated ? arena_format(arena, "for round in $(seq %u); do ", (wanted + 1) / 2) : "", turns,
      advice_setup(advice, words), run, repeated ? "; done" : "", advice_diff(advice, ""));
}

static const char *advice_commands(const struct advice *advice) {
  const struct side_advice *help = advice->help;
  const char *runs[SIDES];
  bool quoted = false; /* a tag has a blank, for example */
  for (size_t s = 0; s < SIDES; s++) {
    quoted =
        quoted || (help[s].tag != NULL && strcmp(advice_tag_word(advice, s), help[s].tag) != 0);
  }
  for (size_t s = 0; s < SIDES; s++) {
    runs[s] = advice_run(advice, s, help[s].tag == NULL ? NULL : quoted ? "\"$side\"" : "$side");
  }
  const bool in_turn = advice_is_both(advice) && help[SIDE_A].nodes + help[SIDE_B].nodes == SIDES &&
                       !advice_hosts_differ(advice) && strcmp(runs[SIDE_A], runs[SIDE_B]) == 0 &&
                       !advice_is_shard(advice->arena, help[SIDE_A].again[0]);
  return in_turn ? advice_turns(advice, runs[SIDE_A]) : advice_apart(advice);
}

/* Whether A is a baseline of one process on the machine and driver of B: a new baseline costs less
 * than more runs of the old one, and it serves later checks. */
static bool advice_is_thin_baseline(const struct advice *advice) {
  const struct comparison *comparison = advice->comparison;
  const struct side_advice *help = advice->help;
  const struct compare_request *request = advice->request;
  return request->by == NULL && strncmp(request->names[SIDE_A], BASELINE, strlen(BASELINE)) == 0 &&
         comparison->units_least[SIDE_A] == 1 && comparison->processes_least[SIDE_A] == 1 &&
         !help[SIDE_A].site.imported && help[SIDE_A].nodes == 1 && help[SIDE_B].nodes == 1 &&
         advice_same_place(advice->result->results, help[SIDE_A].run, help[SIDE_B].run);
}

static const char *advice_new_baseline(const struct advice *advice) {
  struct arena *arena = advice->arena;
  SCOPED(strbuf_fini) struct strbuf run = STRBUF(TEXT_MAX);
  const struct advice_how how = {
      .processes = advice->comparison->units_needed, .nodes = 1, .db = advice->db};
  advice_put_command(&run, arena, advice->help[SIDE_A].again[0], &how);
  return arena_format(
      arena,
      "a baseline of one process decides nothing. Set a new one while the machine is as it "
      "should be:\n  %s\n  haul baseline set %s latest%s\n  and to check: %s\n  and then "
      "this command again",
      run.text, shell_word(arena, advice->request->names[SIDE_A] + strlen(BASELINE)), advice->db,
      run.text);
}

/* Imported results cannot be measured again. */
static const char *advice_imported(const struct advice *advice) {
  const struct comparison *comparison = advice->comparison;
  const size_t s = advice->help[SIDE_A].site.imported ? SIDE_A : SIDE_B;
  const size_t other = 1 - s;
  const size_t decided = comparison->decided_alone[other];
  if (advice->help[other].site.imported) {
    return "A and B were imported and cannot be measured again.";
  }
  return arena_format(
      advice->arena, "%c was imported and cannot be measured again. More runs of %c alone %s",
      side_letter(s), side_letter(other),
      decided > 0 ? arena_format(advice->arena, "would decide %zu of these %zu cases.", decided,
                                 comparison->to_decide)
      : comparison->processes_least[s] < DIFF_PROCESSES_FIRM
          ? arena_format(advice->arena,
                         "can show that a case is the same, but a firm change needs %d processes "
                         "on each side.",
                         DIFF_PROCESSES_FIRM)
          : "would not decide them.");
}

/* What else to do where more runs do not decide the undecided cases; "" = there are none. */
static const char *advice_end(const struct advice *advice) {
  static const double DELTA_MOST = 0.2;
  struct arena *arena = advice->arena;
  const struct more_runs_end end = more_runs_end_find(advice->comparison);
  if (end.undecided == 0) {
    return "";
  }
  const char *text = arena_format(arena, "More runs will not decide %s.",
                                  advice_all(advice, "the", end.undecided, "undecided case"));
  if (end.apart > 0) {
    text =
        arena_add(arena, text,
                  " Run %lld of %c is apart from the others%s: look at it (haul show run:%lld%s).",
                  (long long)end.run_apart, side_letter(end.side_apart),
                  end.undecided > 1 ? arena_format(arena, " in %zu of them", end.apart) : "",
                  (long long)end.run_apart, advice->db);
  }
  if (end.two_modes > 0) {
    text = arena_add(arena, text, " %s two modes: find out what switches between them.",
                     end.undecided == 1 ? "It has"
                                        : arena_format(arena, "%zu of them have", end.two_modes));
  }
  if (advice->comparison->summary.drifts) {
    text = arena_add(arena, text, " Results drift: measure both sides anew, in turn.");
  }
  text = arena_add(arena, text, " A quieter machine may decide %s.",
                   strings_plural(end.undecided, "it", "them"));
  const double percent = ceil(1000 * end.delta) / 10;
  return end.delta <= DELTA_MOST && advice->comparison->looks <= 1
             ? arena_add(arena, text, " With a threshold of %g %% (--delta %g), %s the same.",
                         percent, percent, strings_plural(end.undecided, "it is", "they are"))
             : text;
}

/* What is to be measured; "" = nothing helps. */
static const char *advice_text(const struct advice *advice) {
  const struct side_advice *help = advice->help;
  if (help[SIDE_A].wanted == 0 && help[SIDE_B].wanted == 0) {
    return "";
  }
  if (advice_is_thin_baseline(advice)) {
    return advice_new_baseline(advice);
  }
  const bool imported = (help[SIDE_A].wanted > 0 && help[SIDE_A].site.imported) ||
                        (help[SIDE_B].wanted > 0 && help[SIDE_B].site.imported);
  return arena_format(advice->arena, "%s%s%s", advice_count(advice), imported ? ". " : "",
                      imported ? advice_imported(advice) : advice_commands(advice));
}

/* The first line as wide as the terminal; commands below it stay whole, so that they can be copied.
 */
static void advice_say(const struct common_options *common, const char *text) {
  static const char SPEAKER[] = "haul: ";
  const size_t first = strcspn(text, "\n");
  SCOPED(arena_fini) struct arena arena = {0};
  SCOPED(strbuf_fini) struct strbuf shown = STRBUF(TEXT_MAX);
  text_wrap(&shown, arena_strndup(&arena, text, first), terminal_width(stderr), strlen(SPEAKER),
            false);
  say_note(common, "%s%s", shown.text, text + first);
}

void compare_advise(const struct common_options *common, struct database *database,
                    struct compare_request *request, const struct compare_result *result) {
  const struct results_run *runs = result->results->runs;
  struct arena *arena = &request->filter.arena;
  if (request->compare.one_side) {
    return;
  }
  const char *db = console_db_option(common, arena);
  const double margin = request->compare.margin;
  struct advice advice = {
      .arena = arena,
      .request = request,
      .result = result,
      .comparison = result->comparison,
      .totals = result->comparison->totals,
      .db = db,
      .options = margin > 0 ? arena_format(arena, " --delta %g%s", 100 * margin, db) : db};
  /* No further look at these runs is allowed. */
  const bool anew =
      ANY_OF(i, result->results->run_count, runs[i].looks > 0 && runs[i].look >= runs[i].looks);
  const char *text = "";
  if (result->comparison->units_needed > 0) {
    advice.more = advice_find_sides(database, request, result, anew, advice.help);
    text = advice_text(&advice);
  }
  text = text[0] == '\0' ? advice_end(&advice) : text;
  if (text[0] != '\0') {
    advice_say(common, text);
  }
}
