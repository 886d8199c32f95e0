/* haul diff A B: what changed between two runs, or between all runs under two drivers. */
#include "runner/cli/analysis.h"
#include "runner/record/manage.h"
#include "runner/render/diff_format.h"

#include <stdlib.h>

static bool verb_diff_take_a_a(const struct option_use *use) {
  enum { SPLITS_MAX = 10000 };
  struct compare_request *request = &use->command->request;
  request->a_a = true;
  if (use->arg == NULL) {
    return true;
  }
  char *end = NULL;
  const long splits = strtol(use->arg, &end, 10);
  request->splits = (unsigned)splits;
  return end != use->arg && *end == '\0' && splits >= 1 && splits <= SPLITS_MAX;
}

#define SPLITS_NEEDED "a number of splits from 1 to 10000"

static const struct verb_option VERB_DIFF_OPTIONS[] = {
    COMPARE_OPTIONS,
    {"a-a", "SPLITS", "A/A test: split side A at random and count the false positives",
     verb_diff_take_a_a, .needs = SPLITS_NEEDED, .optional = true},
    {"null", "SPLITS", NULL, verb_diff_take_a_a, .needs = SPLITS_NEEDED, .optional = true},
    FILTER_OPTIONS,
    {0}};

static void verb_diff_check(struct command *command, struct argp_state *state) {
  const struct compare_request *request = &command->request;
  const bool sides_chosen = command->word_count == 0 && !request->a_a; /* by verb_diff_choose() */
  OPTIONS_REFUSE(request->by == NULL && command->word_count < SIDES && !sides_chosen &&
                     !(request->a_a && command->word_count == 1),
                 state,
                 "missing argument: two runs, such as previous latest, or --by driver_version");
  options_check_sides(command, state);
}

/* The default sides. */
struct verb_diff_default {
  struct run_ref latest;   /* that measured something */
  struct run_ref before;   /* of its scenario; id 0 = there is none, and A is whichever is before */
  bool is_latest;          /* no run is later, not even one that measured nothing */
  const char *passed_over; /* "; run 3 failed: REASON": why not that one; "" = it did not fail */
};

static enum status verb_diff_choose(struct command *command, struct verb_diff_default *sides,
                                    struct error *err) {
  struct compare_request *request = &command->request;
  struct run_ref latest;
  RETURN_ON_ERROR(command_open_database(command, DATABASE_READ, err));
  RETURN_ON_ERROR(selector_find(command->database, "latest", &latest, err));
  RETURN_ON_ERROR(
      selector_find_related(command->database, "select/run_to_compare", 0, &sides->latest, err));
  sides->latest = sides->latest.id == 0 ? latest : sides->latest;
  sides->is_latest = sides->latest.id == latest.id;
  if (!sides->is_latest) {
    RETURN_ON_ERROR(
        run_failure_read(command->database, latest.id, &command->arena, &sides->passed_over, err));
    sides->passed_over = arena_around(
        &command->arena, arena_format(&command->arena, "; run %lld failed: ", (long long)latest.id),
        sides->passed_over, "");
  }
  RETURN_ON_ERROR(selector_find_related(command->database, "select/run_before", sides->latest.id,
                                        &sides->before, err));
  request->names[SIDE_A] = sides->before.id == 0 ? "previous"
                                                 : arena_format(&command->arena, "run:%lld",
                                                                (long long)sides->before.id);
  request->names[SIDE_B] =
      sides->is_latest ? "latest"
                       : arena_format(&command->arena, "run:%lld", (long long)sides->latest.id);
  request->name_count = SIDES;
  return STATUS_OK;
}

static enum status verb_diff_compare_default(struct command *command, struct compare_result *result,
                                             struct error *err) {
  const char *const *names = command->request.names;
  struct verb_diff_default sides = {.passed_over = ""};
  struct run_scenario recorded;
  RETURN_ON_ERROR(verb_diff_choose(command, &sides, err));
  /* Else what is previous to the latest may be this run itself. */
  const enum status status = sides.before.id == 0 && !sides.is_latest
                                 ? STATUS_UNSUPPORTED
                                 : analysis_compare(command, result, err);
  if (status == STATUS_UNSUPPORTED && sides.before.id == 0) {
    RETURN_ON_ERROR(
        run_scenario_read(command->database, sides.latest.id, &command->arena, &recorded, err));
    return error_set(err, STATUS_UNSUPPORTED,
                     "nothing to compare: run %lld is the only run of %s; measure again, or name "
                     "two runs (haul list shows them)",
                     (long long)sides.latest.id, recorded.name);
  }
  say_note(&command->common, "comparing %s (A) with %s (B)%s", names[SIDE_A], names[SIDE_B],
           sides.passed_over);
  return status;
}

static int64_t verb_diff_last_of_b(const struct compare_result *result) {
  const struct results *results = result->results;
  size_t last = 0;
  for (size_t i = 0; i < results->run_count; i++) {
    if (result->sides[i] == SIDE_B &&
        (result->sides[last] != SIDE_B ||
         results->runs[i].started_at_ns >= results->runs[last].started_at_ns)) {
      last = i;
    }
  }
  return results->runs[last].ref.id;
}

static enum status verb_diff_run(struct command *command, struct error *err) {
  SCOPED(compare_result_fini) struct compare_result result = {0};
  const bool chosen = command->request.by != NULL || command->request.name_count > 0;
  enum status status = chosen ? analysis_compare(command, &result, err)
                              : verb_diff_compare_default(command, &result, err);
  if (status == STATUS_OK) {
    struct diff_show show = {.a_a = command->request.a_a ? &result.a_a : NULL};
    for (size_t v = 0; v < verdict_name_count; v++) {
      show.verdicts[v] = true;
    }
    status = analysis_show(command, &result, &show, err);
    const struct diff_summary *summary = &result.comparison->summary;
    if (summary->verdicts[VERDICT_REGRESSED] >
        summary->provisional[VERDICT_REGRESSED]) { /* else more runs come first */
      say_next(&command->common, "haul explain run:%lld%s", (long long)verb_diff_last_of_b(&result),
               console_db_option(&command->common, &command->arena));
    }
    const bool split = !command->request.a_a || result.a_a.splits > 0;
    command->code =
        split && (command->request.compare.one_side || diff_any_on_both(result.comparison))
            ? EXIT_DONE
            : EXIT_NOT_MEASURED;
  }
  return status;
}

#define VERB_DIFF_CHANGE(kind, name, word, meaning) "  " word "        " meaning "\n"
#define VERB_DIFF_REASON(doubt, name, reason)       "  - " reason "\n"

const struct verb VERB_DIFF = {
    .name = "diff",
    .group = VERBS_COMPARE,
    .arguments = "[A B]",
    .summary = "show what changed between two runs, or under two drivers",
    .doc =
        "A and B select runs: run:ID, tag:NAME, driver:VERSION, baseline:NAME, latest, previous. A "
        "tag or driver selects all of its runs, and a comma joins several. The default is the "
        "latest run that measured a case, against the run of its scenario before it. The "
        "test compares runs where a side has several, else processes. Four runs per side or more, "
        "A and B in turn, decide best.\n\n"
        "The threshold, the smallest change that matters, is --delta, else delta of the scenario "
        "(of several runs, the latest), else 1 % for bandwidth from 1 MiB on and 3 % for smaller "
        "sizes and latency.\n\n"
        "The first line is the answer: how many cases have which verdict. Next is what the changed "
        "cases share (\"gpu2 as source\"), then groups of cases and the cases. Below stand the "
        "limits of the comparison, differences between the environments, and the two sides. Three "
        "and more cases of one block and verdict are one line; -v shows each. --only selects the "
        "cases that are shown; all cases are judged together.\n\n"
        "Verdicts:\n"
        "  BROKEN        corrupt on either side, or failed, crashed or hung in B more\n"
        "                often than in A, beyond chance, or never worked in B and did\n"
        "                not run in A; the line has the counts\n"
        "  REGRESSED     slower by more than the threshold; false discovery rate 5 %\n"
        "  IMPROVED      faster by more than the threshold; the same rate\n"
        "  SAME          the 95 % interval is within the threshold; shown with -v\n"
        "  INSUFFICIENT  undecided: more runs would decide; stderr says how many\n"
        "  UNCLEAR       undecided: 30 runs per side would not decide, as the change is\n"
        "                too close to the threshold or the case too noisy\n"
        "  NEW           only B measured the case\n"
        "  MISSING       only A has a result\n"
        "  INCOMPARABLE  the sides used other GPUs or measured differently; a line says\n"
        "                which\n"
        "Changes that the median hides:\n" DISTRIBUTION_CHANGE_LIST(
            VERB_DIFF_CHANGE) "haul check fails on worse ones: --fail-on distribution.\n\n"
                              "A verdict is firm or provisional. A provisional one has a \"?\". A "
                              "verdict is "
                              "provisional if\n" DIFF_DOUBT_REASON_LIST(
                                  VERB_DIFF_REASON) "\n"
                                                    "With three nodes or more on both sides, the "
                                                    "list begins with the hardware of single nodes "
                                                    "that became slower. It is provisional where "
                                                    "the other nodes differ too, or are few.\n\n"
                                                    "Exit codes: 0 compared, whatever was found "
                                                    "(haul check fails on it); 2 the command line "
                                                    "is wrong, or selects no runs; 3 no case has a "
                                                    "result on both sides, --a-a has too little to "
                                                    "split, or the database cannot be read.",
    .options = VERB_DIFF_OPTIONS,
    .argument_kind = ARGUMENTS_RUNS,
    .word_max = SIDES,
    .too_many = COMPARE_TOO_MANY,
    .check = verb_diff_check,
    .json = diff_describe_json,
    .run = verb_diff_run,
};
