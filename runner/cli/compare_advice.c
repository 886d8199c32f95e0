/* compare_advice.c - what would decide an undecided comparison: a sentence, and lines to paste,
 * each a command or a comment. */
#include "runner/cli/analysis.h"

#include "engine/base/strings.h"
#include "runner/cli/advice_command.h"
#include "runner/cli/advice_sides.h"
#include "runner/console/console.h"
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
  const char *path;    /* of the database */
  const char *db;      /* " --db FILE" */
  const char *options; /* " --delta 1 --db FILE" */
  const char *filters; /* " --method rank --only 'up*'": what else the comparison was told */
  struct more_runs more;
  bool is_one_place;  /* both sides are measured there */
  enum side last;     /* that was measured last */
  const char **lines; /* to paste */
  size_t line_count;
};

/* One line more; "" is none. */
static void advice_add(struct advice *advice, const char *line) {
  if (line[0] != '\0') {
    *ARENA_ADD(advice->arena, advice->lines, advice->line_count) = line;
  }
}

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
 * change needs 4 more runs of B on each node (now 1)", "12 of the 15 undecided cases need up to 9
 * new runs of each side" */
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
  const bool by_node = comparison->unit == DIFF_UNIT_NODE;
  const bool several = !by_node && advice->help[one].nodes > 1;
  return arena_format(arena, "%s %s%u %s %s%s of %s%s%s", advice_cases(advice), bound, count,
                      advice->more.anew ? "new" : "more", unit, strings_plural(count, "", "s"),
                      advice_is_both(advice) ? "each side"
                                             : arena_format(arena, "%c", side_letter(one)),
                      several ? " on each node" : "", now);
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

/* What changes between the sides, as a comment; "" = no recorded fact does. */
static const char *advice_setup(const struct advice *advice, const char *const words[SIDES]) {
  const struct comparison *comparison = advice->comparison;
  const char *by = advice->request->by;
  const char *fact = by != NULL && strcmp(by, "tag") != 0 && advice_fact_recurs(advice->request)
                         ? by
                     : comparison->fact_count > 0 ? comparison->facts[0].name
                                                  : NULL;
  return advice_drivers_differ(advice)
             ? arena_format(advice->arena, "  # install driver %s for %s, %s for %s",
                            advice_escaped(advice, advice->totals[SIDE_A].drivers), words[SIDE_A],
                            advice_escaped(advice, advice->totals[SIDE_B].drivers), words[SIDE_B])
         : fact != NULL
             ? arena_format(advice->arena, "  # set up $side (%s)", advice_escaped(advice, fact))
             : "";
}

/* Whether haul run --decide can go on with the one side that is wanted: further looks are counted
 * then. */
static bool advice_may_decide(const struct advice *advice, size_t side) {
  const struct comparison_row *rows = advice->comparison->rows;
  const struct compare_request *request = advice->request;
  return request->by == NULL && selector_tag(request->names[SIDE_A]) != NULL &&
         selector_tag(request->names[SIDE_B]) != NULL && !advice->more.anew &&
         !advice_is_both(advice) && advice->is_one_place &&
         advice->help[side].launcher == LAUNCHER_SHELL &&
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

/* One run of that side, under that tag. In one place the database of this comparison takes it. */
static const char *advice_run(const struct advice *advice, size_t side, const char *tag) {
  struct arena *arena = advice->arena;
  const struct side_advice *help = &advice->help[side];
  const char *text = "";
  for (size_t i = 0; help->again[i] != NULL; i++) {
    const struct advice_how how = {
        .processes = advice_processes(advice, side),
        .tag = tag,
        .only = advice->more.open_alone ? advice_only(arena, advice->result, help->again[i]) : NULL,
        .db = advice->is_one_place ? advice->db : NULL};
    const char *run = advice_command(arena, help->again[i], &how);
    if (help->launcher == LAUNCHER_SLURM) {
      run = arena_format(arena,
                         "srun --nodelist=%s --ntasks-per-node=1 --no-kill --kill-on-bad-exit=0 "
                         "--wait=0 %s --quiet >/dev/null",
                         shell_word(arena, help->places), run);
    }
    text = arena_join(arena, text, "; ", run);
  }
  return text;
}

/* "b a a b": that many turns. The side that was measured last comes first: it needs no change of
 * the machine. */
static const char *advice_turns(const struct advice *advice, const char *const words[SIDES],
                                unsigned count, const char *between) {
  const char *turns = "";
  for (unsigned i = 0; i < count; i++) {
    const enum side other = advice->last == SIDE_A ? SIDE_B : SIDE_A;
    turns = arena_join(advice->arena, turns, between,
                       words[i % 4 == 1 || i % 4 == 2 ? other : advice->last]);
  }
  return turns;
}

/* What measures the side of one turn. */
static void advice_add_turn(struct advice *advice, const char *const words[SIDES],
                            const char *tag) {
  struct arena *arena = advice->arena;
  if (advice->is_one_place) {
    advice_add(advice, arena_format(arena, "  %s", advice_run(advice, advice->last, tag)));
    return;
  }
  advice_add(advice, arena_format(arena, "  if [ \"$side\" = %s ]; then", words[SIDE_A]));
  advice_add(advice, arena_format(arena, "    %s", advice_run(advice, SIDE_A, tag)));
  advice_add(advice, "  else");
  advice_add(advice, arena_format(arena, "    %s", advice_run(advice, SIDE_B, tag)));
  advice_add(advice, "  fi");
}

static const char *advice_loop(struct advice *advice, const char *const words[SIDES]) {
  enum { TURNS_MAX = 8 }; /* on a line; more are repeated in fours */
  struct arena *arena = advice->arena;
  const struct side_advice *help = advice->help;
  const unsigned wanted = help[SIDE_A].wanted;
  const unsigned rounds = 2 * wanted > TURNS_MAX ? (wanted + 1) / 2 : 0;
  const char *setup = advice->is_one_place ? advice_setup(advice, words) : "";
  bool quoted = false; /* a tag has a blank, for example */
  for (size_t s = 0; s < SIDES; s++) {
    quoted = quoted || (help[s].tag != NULL && strcmp(words[s], help[s].tag) != 0);
  }
  const char *tag = help[SIDE_A].tag == NULL ? NULL : quoted ? "\"$side\"" : "$side";
  const char *repeat = arena_format(arena, "for round in $(seq %u); do ", rounds);
  advice_add(advice, arena_format(arena, "%sfor side in %s; do", rounds > 0 ? repeat : "",
                                  advice_turns(advice, words, rounds > 0 ? 4 : 2 * wanted, " ")));
  advice_add(advice, setup);
  advice_add_turn(advice, words, tag);
  advice_add(advice, rounds > 0 ? "done; done" : "done");
  return arena_format(arena, ". Measure in turn, so that drift is not taken for a change%s",
                      setup[0] == '\0' ? ""
                                       : ". A loop does not survive a reboot: if the change needs "
                                         "one, type its turns one by one");
}

/* The runs of a side that is measured alone, or elsewhere than the other. */
static void advice_add_side(struct advice *advice, size_t side, const char *word) {
  struct arena *arena = advice->arena;
  const struct side_advice *help = &advice->help[side];
  const char *host = advice->is_one_place || help->launcher != LAUNCHER_SHELL
                         ? ""
                         : arena_around(arena, " on ", advice_escaped(advice, help->places), "");
  const char *driver =
      help->site.elsewhere && advice_drivers_differ(advice)
          ? arena_format(arena, ", driver %s", advice_escaped(advice, advice->totals[side].drivers))
          : "";
  if (host[0] != '\0' || driver[0] != '\0') {
    advice_add(advice, arena_format(arena, "# %c%s%s", side_letter(side), host, driver));
  }
  if (advice_may_decide(advice, side)) {
    const char *const *names = advice->request->names;
    advice_add(advice, arena_format(arena, "haul run --decide %s --tag %s%s",
                                    shell_word(arena, names[1 - side]), word, advice->options));
    return;
  }
  const char *run = advice_run(advice, side, help->tag != NULL ? word : NULL);
  advice_add(advice,
             help->wanted == 1 || advice_is_both(advice)
                 ? run
                 : arena_format(arena, "for run in $(seq %u); do %s; done", help->wanted, run));
}

/* "the sides in turn (--tag b, a, a, b …), so that drift is not taken for a change" */
static const char *advice_in_turn(const struct advice *advice, const char *const words[SIDES]) {
  return arena_format(
      advice->arena, "the sides in turn (%s%s …), so that drift is not taken for a change",
      advice->help[SIDE_A].tag != NULL ? "--tag " : "", advice_turns(advice, words, 4, ", "));
}

/* Runs of a fleet that haul does not know how to start. */
static const char *advice_fleet(const struct advice *advice, const char *const words[SIDES]) {
  struct arena *arena = advice->arena;
  const bool has_tags = advice->help[SIDE_A].tag != NULL;
  const size_t one = advice->help[SIDE_A].wanted > 0 ? SIDE_A : SIDE_B;
  if (!advice_is_both(advice)) {
    return has_tags
               ? arena_format(arena, ". Measure all nodes as before, with --tag %s", words[one])
               : arena_format(arena, ". Measure all nodes of %s as before", words[one]);
  }
  return arena_format(arena, ". Measure all nodes as before, %s", advice_in_turn(advice, words));
}

/* What brings the new runs into the database of this comparison. */
static void advice_add_merge(struct advice *advice) {
  struct arena *arena = advice->arena;
  const bool apart = !advice->is_one_place;
  const bool is_loop = !apart && advice_is_both(advice); /* which has the command of one side */
  const char *folders = "";
  const char *given = NULL;
  for (size_t s = 0; s < SIDES; s++) {
    const bool is_given = advice->help[s].wanted > 0 && (!is_loop || s == advice->last);
    const char *shard = is_given ? advice_shard(arena, advice->help[s].again[0]) : NULL;
    if (shard != NULL && !strings_equal(shard, given)) {
      folders = arena_join(arena, folders, " ", shell_word(arena, shard));
      given = shard;
    }
  }
  const char *path = shell_word(arena, advice->path);
  advice_add(advice, folders[0] != '\0' ? arena_format(arena, "haul merge %s %s", path, folders)
                     : apart
                         ? arena_format(arena, "# merge the new results into %s (haul merge)", path)
                         : "");
}

/* How the sides are measured, to be read behind the count; the lines are added. */
static const char *advice_commands(struct advice *advice) {
  struct arena *arena = advice->arena;
  const struct side_advice *help = advice->help;
  const char *words[SIDES];
  const char *how = "";
  for (size_t s = 0; s < SIDES; s++) {
    words[s] = help[s].tag != NULL ? shell_word(arena, help[s].tag) : s == SIDE_A ? "A" : "B";
  }
  if (advice->comparison->unit == DIFF_UNIT_NODE) {
    return ". More runs of the same nodes help less: measure others on both sides.";
  }
  if ((help[SIDE_A].wanted > 0 && help[SIDE_A].launcher == LAUNCHER_OTHER) ||
      (help[SIDE_B].wanted > 0 && help[SIDE_B].launcher == LAUNCHER_OTHER)) {
    how = advice_fleet(advice, words);
  } else if (advice_is_both(advice) &&
             (advice->is_one_place || (help[SIDE_A].launcher == LAUNCHER_SLURM &&
                                       help[SIDE_B].launcher == LAUNCHER_SLURM))) {
    how = advice_loop(advice, words);
  } else {
    how = advice_is_both(advice)
              ? arena_format(arena, ". Measure %s", advice_in_turn(advice, words))
              : "";
    for (size_t s = 0; s < SIDES; s++) {
      if (help[s].wanted > 0) {
        advice_add_side(advice, s, words[s]);
      }
    }
  }
  advice_add_merge(advice);
  const struct compare_request *request = advice->request;
  const char *sides =
      help[SIDE_A].name != NULL
          ? arena_format(arena, "%s %s", shell_word(arena, help[SIDE_A].name),
                         shell_word(arena, help[SIDE_B].name))
          : arena_format(arena, "--by %s --from %s --to %s", shell_word(arena, request->by),
                         shell_word(arena, request->from), shell_word(arena, request->to));
  advice_add(advice,
             arena_format(arena, "haul diff %s%s%s", sides, advice->filters, advice->options));
  return how;
}

/* Whether A is a baseline of one run of one process on the machine and driver of B: a new baseline
 * costs less than more runs of the old one, and it serves later checks. */
static bool advice_is_thin_baseline(const struct advice *advice) {
  const struct comparison *comparison = advice->comparison;
  const struct side_advice *help = advice->help;
  const struct compare_request *request = advice->request;
  return request->by == NULL && strncmp(request->names[SIDE_A], BASELINE, strlen(BASELINE)) == 0 &&
         advice->totals[SIDE_A].runs == 1 && comparison->processes_least[SIDE_A] == 1 &&
         !help[SIDE_A].site.imported && help[SIDE_A].nodes == 1 && help[SIDE_B].nodes == 1 &&
         advice_same_place(advice->result->results, help[SIDE_A].run, help[SIDE_B].run);
}

/* It has all cases of the old one: those that B did not measure would never be checked again. */
static const char *advice_new_baseline(struct advice *advice) {
  struct arena *arena = advice->arena;
  const struct advice_how how = {.processes = advice->comparison->units_needed, .db = advice->db};
  const char *run = advice_command(arena, advice->help[SIDE_A].run, &how);
  const char *name = shell_word(arena, advice->request->names[SIDE_A] + strlen(BASELINE));
  advice_add(advice, run);
  advice_add(advice, arena_format(arena, "haul baseline set %s latest%s", name, advice->db));
  advice_add(advice, "# To check again: this run, and then the same haul check");
  advice_add(advice, run);
  return "A baseline of one process decides nothing. Set a new one while nothing is wrong";
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
static const char *advice_text(struct advice *advice) {
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

static void advice_say(const struct common_options *common, const struct advice *advice,
                       const char *text) {
  const char *said = arena_format(advice->arena, "%s%s", text, advice->line_count > 0 ? ":" : "");
  for (size_t i = 0; i < advice->line_count; i++) {
    said = arena_add(advice->arena, said, "\n  %s", advice->lines[i]);
  }
  say_note(common, "%s", said);
}

static const char *advice_filters(struct arena *arena, const struct compare_request *request) {
  const struct filter *filter = &request->filter;
  const char *text = request->compare.any_hardware ? " --any-hardware" : "";
  if (request->compare.diff.method != DIFF_MODERATED) {
    text =
        arena_format(arena, "%s --method %s", text, diff_method_text(request->compare.diff.method));
  }
  for (size_t i = 0; i < filter->where_count; i++) {
    const struct where *where = &filter->wheres[i];
    text =
        arena_format(arena, "%s --where %s", text,
                     shell_word(arena, arena_format(arena, "%s=%s", where->fact, where->pattern)));
  }
  return filter->only == NULL
             ? text
             : arena_format(arena, "%s --only %s", text, shell_word(arena, filter->only));
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
      .path = common->db != NULL ? common->db : database->path,
      .db = db,
      .filters = advice_filters(arena, request),
      .options = margin > 0 ? arena_format(arena, " --delta %g%s", 100 * margin, db) : db};
  /* No further look at these runs is allowed. */
  const bool anew =
      ANY_OF(i, result->results->run_count, runs[i].looks > 0 && runs[i].look >= runs[i].looks);
  const char *text = "";
  if (result->comparison->units_needed > 0) {
    advice.more = advice_find_sides(database, request, result, anew, advice.help);
    advice.is_one_place = advice_is_one_place(advice.help);
    advice.last = advice.help[SIDE_B].run->started_at_ns >= advice.help[SIDE_A].run->started_at_ns
                      ? SIDE_B
                      : SIDE_A;
    text = advice_text(&advice);
  }
  text = text[0] == '\0' ? advice_end(&advice) : text;
  if (text[0] != '\0') {
    advice_say(common, &advice, text);
  }
}
