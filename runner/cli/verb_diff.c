/* haul diff A B: what changed between two runs, or between all runs under two drivers. */
#include "runner/cli/comparing.h"
#include "runner/cli/verbs.h"

static const struct argp_option options_table[] = {
    COMPARING_OPTIONS,
    {"null", OPTION_NULL, "SPLITS", OPTION_ARG_OPTIONAL,
     "split side A at random and say how often a diff of nothing reports something", 1},
    SELECTING_OPTIONS,
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct comparing_verb *options = state->input;
  struct comparing *comparing = &options->comparing;
  if (key == ARGP_KEY_END && comparing->by == NULL && comparing->name_count < SIDES &&
      !(comparing->null && comparing->name_count == 1)) {
    argp_error(state, "which two runs? haul diff previous latest, or --by driver_version");
  }
  return comparing_parse(key, arg, state, comparing);
}

static void choose(const struct comparing_verb *options, const struct comparing_result *result,
                   struct diff_show *show) {
  show->null = options->comparing.null ? &result->null : NULL;
  for (size_t v = 0; v < verdict_name_count; v++) {
    show->verdicts[v] = true;
  }
}

static int diff(const struct verb *verb, int argc, char **argv) {
  struct comparing_verb options = {0};
  comparing_init(&options.comparing);
  cli_parse(verb, argc, argv, &options);
  return comparing_main(&options, choose, NULL);
}

const struct verb VERB_DIFF = {
    .name = "diff",
    .arguments = "[A B]",
    .summary = "what changed between two runs, or under two drivers",
    .doc =
        "A and B name runs: run:ID, tag:NAME, driver:VERSION, baseline:NAME, latest, previous; a "
        "tag or driver names all of its runs, and a comma joins names. Processes are what is "
        "compared: five or more a side can decide.\n\n"
        "What a change must be to matter: --delta, else what the scenario says (delta; of several "
        "runs the one started last), else 1 % for bandwidth from 1 MiB on and 3 % for all else; "
        "and never less than two processes of A differ by.\n\n"
        "Verdicts:\n"
        "  REGRESSED, IMPROVED  slower, faster by more than matters (false discoveries at 5 %)\n"
        "  SAME          the 90 % interval lies inside what does not matter; shown with -v\n"
        "  UNCLEAR       undecided, and more processes would hardly help: it is too near\n"
        "  INSUFFICIENT  undecided, and more processes would decide; stderr says how many\n"
        "  NEW, MISSING  has a result in B or A only\n"
        "  INCOMPARABLE  another GPU or another measurement; the line says which\n\n"
        "Exit codes: 0 compared, whatever was found (haul check fails on it); 2 the command line "
        "is wrong, or names no runs; 3 the database cannot be read.",
    .options = options_table,
    .parse = parse,
    .argument_kind = ARGUMENTS_NONE,
    .main = diff,
};
