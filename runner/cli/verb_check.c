/* haul check A [B]: as diff, for scripts: the exit code says what was found. */
#include "runner/cli/analysis.h"
#include "runner/cli/cli.h"

#include <string.h>

enum { OPTION_FAIL_ON = OPTION_OF_VERB, OPTION_STRICT };

struct check_options {
  struct analysis_compare_options compare;
  bool fail_on_given;
  bool fails[verdict_name_count];
  bool strict;
};

static const struct argp_option VERB_CHECK_OPTIONS[] = {
    {"fail-on", OPTION_FAIL_ON, "VERDICTS", 0,
     "exit with 1 on these verdicts, separated by commas (default: regressed,broken,missing)", 1},
    {"strict", OPTION_STRICT, 0, 0, "exit with 4 if a case is undecided", 1},
    COMPARE_OPTIONS,
    FILTER_OPTIONS,
    {0}};

static void verb_check_parse_fail_on(const char *arg, struct argp_state *state,
                                     struct check_options *options) {
  options->fail_on_given = true;
  for (const char *word = arg; word != NULL;) {
    const char *comma = strchr(word, ',');
    const size_t length = comma != NULL ? (size_t)(comma - word) : strlen(word);
    const char *name = arena_strndup(&options->compare.request.filter.arena, word, length);
    enum verdict verdict;
    if (!verdict_parse(name, &verdict)) {
      options_reject_name(state, "verdict", name, verdict_names);
      return;
    }
    options->fails[verdict] = true;
    word = comma != NULL ? comma + 1 : NULL;
  }
}

static error_t verb_check_parse(int key, char *arg, struct argp_state *state) {
  struct check_options *options = state->input;
  struct compare_request *request = &options->compare.request;
  switch (key) {
  case OPTION_FAIL_ON:
    verb_check_parse_fail_on(arg, state, options);
    return 0;
  case OPTION_STRICT:
    options->strict = true;
    return 0;
  case ARGP_KEY_END:
    if (request->by == NULL && request->name_count == 0) {
      argp_error(
          state,
          "missing argument: the run to compare with, such as baseline:NAME, or two runs A B");
    }
    if (request->by == NULL && request->name_count == 1) {
      request->names[request->name_count++] = "latest";
    }
    if (!options->fail_on_given) {
      options->fails[VERDICT_REGRESSED] = true;
      options->fails[VERDICT_BROKEN] = true;
      options->fails[VERDICT_MISSING] = true;
    }
    break;
  default:
    break;
  }
  return compare_options_parse(key, arg, state, request);
}

static void verb_check_choose(const struct analysis_compare_options *verb,
                              const struct compare_result *result, struct diff_show *show) {
  const struct check_options *options = (const struct check_options *)verb;
  (void)result;
  show->undecided_fails = options->strict;
  memcpy(show->fails, options->fails, sizeof show->fails);
  for (size_t v = 0; v < verdict_name_count; v++) {
    show->verdicts[v] = verb->common.verbose || options->fails[v] ||
                        (options->strict && (v == VERDICT_UNCLEAR || v == VERDICT_INSUFFICIENT));
  }
}

/* A finding outranks an undecided case; a check that judged nothing never passes. */
static int verb_check_judge(const struct analysis_compare_options *verb,
                            const struct comparison *comparison) {
  const struct check_options *options = (const struct check_options *)verb;
  const size_t *verdicts = comparison->summary.verdicts;
  for (size_t v = 0; v < verdict_name_count; v++) {
    if (options->fails[v] && verdicts[v] > 0) {
      return EXIT_REGRESSED;
    }
  }
  if (options->strict && verdicts[VERDICT_UNCLEAR] + verdicts[VERDICT_INSUFFICIENT] > 0) {
    return EXIT_UNDECIDED;
  }
  if (comparison->summary.tests == 0) {
    say_error(&verb->common,
              "nothing was compared: no case has two comparable processes on each side");
    return EXIT_NOT_MEASURED;
  }
  return EXIT_DONE;
}

static int verb_check_main(const struct verb *verb, int argc, char **argv) {
  struct check_options options = {.compare.common.junit_allowed = true};
  compare_request_init(&options.compare.request);
  cli_parse(verb, argc, argv, &options);
  return analysis_compare_main(&options.compare, verb_check_choose, verb_check_judge);
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
    .parse = verb_check_parse,
    .argument_kind = ARGUMENTS_NONE,
    .main = verb_check_main,
};
