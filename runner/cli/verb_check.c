/* haul check A [B]: as diff, for scripts: the exit code says what was found. */
#include "runner/cli/analysis.h"

#include <string.h>

static bool verb_check_take_fail_on(const struct given *given) {
  struct command *command = given->command;
  for (const char *word = given->arg; word != NULL;) {
    const size_t length = strcspn(word, ",");
    const char *name = arena_strndup(&command->arena, word, length);
    enum verdict verdict;
    if (strcmp(name, "suspect") == 0) {
      command->suspect = true;
    } else if (verdict_parse(name, &verdict)) {
      command->fails[verdict] = command->fail_on_given = true;
    } else {
      options_reject_name(given->state, "verdict", name, verdict_names);
      return false;
    }
    word = word[length] == ',' ? word + length + 1 : NULL;
  }
  return true;
}

static const struct verb_option VERB_CHECK_OPTIONS[] = {
    {"fail-on", "VERDICTS",
     "exit with 1 on these verdicts, separated by commas (default: regressed,broken,missing); "
     "suspect adds provisional ones, with fewer than 4 processes on a side, or runs on both",
     .take = verb_check_take_fail_on},
    {"strict", NULL, "exit with 4 if a case is undecided", OPTION_FLAG(strict)},
    COMPARE_OPTIONS,
    FILTER_OPTIONS,
    {0}};

static void verb_check_check(struct command *command, struct argp_state *state) {
  struct compare_request *request = &command->request;
  if (request->by == NULL && command->word_count == 0) {
    argp_error(state,
               "missing argument: the run to compare with, such as baseline:NAME, or two runs A B");
  }
  options_check_sides(command, state);
  if (request->name_count == 1) {
    request->names[request->name_count++] = "latest";
  }
  if (!command->fail_on_given) {
    command->fails[VERDICT_REGRESSED] = true;
    command->fails[VERDICT_BROKEN] = true;
    command->fails[VERDICT_MISSING] = true;
  }
}

/* The exit code. A finding outranks an undecided case; a check that judged nothing never passes. */
static enum status verb_check_judge(struct command *command, const struct comparison *comparison,
                                    struct error *err) {
  const size_t *verdicts = comparison->summary.verdicts;
  size_t suspects = 0;
  for (size_t v = 0; v < verdict_name_count; v++) {
    const size_t provisional = command->suspect ? 0 : comparison->summary.provisional[v];
    suspects += command->fails[v] ? provisional : 0;
    if (command->fails[v] && verdicts[v] > provisional) {
      command->code = EXIT_REGRESSED;
      return STATUS_OK;
    }
  }
  if (suspects > 0) {
    say_note(
        &command->common,
        "%zu provisional: a side has fewer than 4 processes%s; --fail-on suspect fails on that",
        suspects, comparison->judged != NULL ? ", or neither has 4 runs" : "");
  }
  if (command->strict &&
      suspects + verdicts[VERDICT_UNCLEAR] + verdicts[VERDICT_INSUFFICIENT] > 0) {
    command->code = EXIT_UNDECIDED;
    return STATUS_OK;
  }
  return comparison->tested_count > 0
             ? STATUS_OK
             : error_set(err, STATUS_UNSUPPORTED,
                         "nothing was compared: no case has two comparable processes on each side");
}

static enum status verb_check_run(struct command *command, struct error *err) {
  struct compare_result result = {0};
  struct diff_show show = {.undecided_fails = command->strict, .suspect_fails = command->suspect};
  memcpy(show.fails, command->fails, sizeof show.fails);
  for (size_t v = 0; v < verdict_name_count; v++) {
    show.verdicts[v] = command->common.verbose || command->fails[v] ||
                       (command->strict && (v == VERDICT_UNCLEAR || v == VERDICT_INSUFFICIENT));
  }
  enum status status = analysis_compare(command, &result, err);
  status = THEN(status, analysis_show(command, &result, &show, err));
  status = THEN(status, verb_check_judge(command, result.comparison, err));
  compare_result_fini(&result);
  return status;
}

const struct verb VERB_CHECK = {
    .name = "check",
    .arguments = "[A [B]]",
    .summary = "for scripts: fail if a run is worse than another",
    .doc =
        "Compares as haul diff does, from A to B (default: latest); haul diff --help explains the "
        "verdicts. Exit codes: 0 no case has a verdict of --fail-on; 1 a case has one; 2 the "
        "command line is wrong, or selects no runs; 3 nothing was compared; 4 a case is "
        "undecided, with --strict. --format also takes junit.",
    .options = VERB_CHECK_OPTIONS,
    .argument_kind = ARGUMENTS_RUNS,
    .word_max = SIDES,
    .too_many = COMPARE_TOO_MANY,
    .takes_junit = true,
    .check = verb_check_check,
    .run = verb_check_run,
};
