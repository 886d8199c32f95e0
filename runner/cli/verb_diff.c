/* haul diff A B: what changed between two runs, or between all runs under two drivers. */
#include "runner/cli/analysis.h"
#include "runner/cli/cli.h"

static const struct argp_option VERB_DIFF_OPTIONS[] = {
    COMPARE_OPTIONS,
    {"a-a", OPTION_A_A, "SPLITS", OPTION_ARG_OPTIONAL,
     "A/A test: split side A at random and count the false positives", 1},
    {"null", OPTION_A_A, "SPLITS", OPTION_ARG_OPTIONAL | OPTION_HIDDEN, "the same", 1},
    FILTER_OPTIONS,
    {0}};

static error_t verb_diff_parse(int key, char *arg, struct argp_state *state) {
  struct analysis_compare_options *options = state->input;
  struct compare_request *request = &options->request;
  if (key == ARGP_KEY_END && request->by == NULL && request->name_count < SIDES &&
      !(request->a_a && request->name_count == 1)) {
    argp_error(state,
               "missing argument: two runs, such as previous latest, or --by driver_version");
  }
  return compare_options_parse(key, arg, state, request);
}

static void verb_diff_choose(const struct analysis_compare_options *options,
                             const struct compare_result *result, struct diff_show *show) {
  show->a_a = options->request.a_a ? &result->a_a : NULL;
  for (size_t v = 0; v < verdict_name_count; v++) {
    show->verdicts[v] = true;
  }
}

static int verb_diff_main(const struct verb *verb, int argc, char **argv) {
  struct analysis_compare_options options = {0};
  compare_request_init(&options.request);
  cli_parse(verb, argc, argv, &options);
  return analysis_compare_main(&options, verb_diff_choose, NULL);
}

const struct verb VERB_DIFF = {
    .name = "diff",
    .arguments = "[A B]",
    .summary = "show what changed between two runs, or under two drivers",
    .doc =
        "A and B select runs: run:ID, tag:NAME, driver:VERSION, baseline:NAME, latest, previous; a "
        "tag or driver selects all of its runs, and a comma joins several. The test compares "
        "processes: five or more per side can decide.\n\n"
        "The smallest change that matters is --delta, else what the scenario says (delta; of "
        "several runs the one started last), else 1 % for bandwidth from 1 MiB on and 3 % for "
        "everything else. Where a process of A and one of B usually differ by more (the line says "
        "\"margin\"), "
        "only a change beyond that is reported.\n\n"
        "Verdicts:\n"
        "  BROKEN        more often failed, crashed, hung or corrupt in B; the line has the "
        "counts\n"
        "  REGRESSED     slower by more than matters, at a false discovery rate of 5 %\n"
        "  IMPROVED      faster by more than matters, likewise\n"
        "  SAME          the 90 % interval holds no change that matters; shown with -v\n"
        "  UNCLEAR       undecided: too close to the limit for more processes to help, or too "
        "noisy\n"
        "  INSUFFICIENT  undecided: more processes would decide; stderr says how many\n"
        "  NEW, MISSING  only B, only A has a result\n"
        "  INCOMPARABLE  another GPU or another measurement; the line says which\n\n"
        "Exit codes: 0 compared, whatever was found (use haul check to fail on it); 2 the command "
        "line is wrong, or selects no runs; 3 the database cannot be read.",
    .options = VERB_DIFF_OPTIONS,
    .parse = verb_diff_parse,
    .argument_kind = ARGUMENTS_NONE,
    .main = verb_diff_main,
};
