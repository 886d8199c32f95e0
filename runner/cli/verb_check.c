/* haul check A [B]: the same as diff, for machines: the exit code says what was found. */
#include "runner/cli/comparing.h"
#include "runner/cli/verbs.h"
#include "schema/scenario/nearest.h"

#include <string.h>

enum { OPTION_FAIL_ON = 0x640, OPTION_STRICT };

struct check_options {
  struct comparing_verb verb;
  bool fail_on_given;
  bool fails[verdict_name_count];
  bool strict;
};

static const struct argp_option options_table[] = {
    {"fail-on", OPTION_FAIL_ON, "VERDICTS", 0,
     "verdicts that exit with 1, with commas between (default regressed)", 1},
    {"strict", OPTION_STRICT, 0, 0, "exit with 4 when a case is undecided", 1},
    COMPARING_OPTIONS,
    SELECTING_OPTIONS,
    {0}};

static void parse_fail_on(const char *arg, struct argp_state *state,
                          struct check_options *options) {
  options->fail_on_given = true;
  for (const char *word = arg; word != NULL;) {
    const char *comma = strchr(word, ',');
    const size_t length = comma != NULL ? (size_t)(comma - word) : strlen(word);
    const char *name = arena_strndup(&options->verb.comparing.selecting.arena, word, length);
    enum verdict verdict;
    if (!verdict_parse(name, &verdict)) {
      const char *meant = nearest_word(name, verdict_names);
      argp_error(state,
                 "unknown verdict '%s'%s%s%s: regressed, improved, same, unclear, "
                 "insufficient, new, missing, incomparable",
                 name, meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                 meant != NULL ? "'?)" : "");
      return;
    }
    options->fails[verdict] = true;
    word = comma != NULL ? comma + 1 : NULL;
  }
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct check_options *options = state->input;
  struct comparing *comparing = &options->verb.comparing;
  switch (key) {
  case OPTION_FAIL_ON:
    parse_fail_on(arg, state, options);
    return 0;
  case OPTION_STRICT:
    options->strict = true;
    return 0;
  case ARGP_KEY_END:
    if (comparing->by == NULL && comparing->name_count == 0) {
      argp_error(state, "compared with which run? haul check baseline:NAME, or haul check A B");
    }
    if (comparing->by == NULL && comparing->name_count == 1) {
      comparing->names[comparing->name_count++] = "latest";
    }
    if (!options->fail_on_given) {
      options->fails[VERDICT_REGRESSED] = true;
    }
    break;
  default:
    break;
  }
  return comparing_parse(key, arg, state, comparing);
}

static void choose(const struct comparing_verb *verb, const struct comparing_result *result,
                   struct diff_show *show) {
  const struct check_options *options = (const struct check_options *)verb;
  (void)result;
  show->undecided_fails = options->strict;
  memcpy(show->fails, options->fails, sizeof show->fails);
  for (size_t v = 0; v < verdict_name_count; v++) {
    show->verdicts[v] = verb->common.verbose || options->fails[v] ||
                        (options->strict && (v == VERDICT_UNCLEAR || v == VERDICT_INSUFFICIENT));
  }
}

/* What is found outranks what is undecided; that nothing was judged is never a pass. */
static int judge(const struct comparing_verb *verb, const struct comparison *comparison) {
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
    say_error(&verb->common, "nothing was compared: no case has two processes on each side that "
                             "can be compared");
    return EXIT_NOT_MEASURED;
  }
  return EXIT_DONE;
}

static int check(const struct verb *verb, int argc, char **argv) {
  struct check_options options = {.verb.common.junit_allowed = true};
  comparing_init(&options.verb.comparing);
  cli_parse(verb, argc, argv, &options);
  return comparing_main(&options.verb, choose, judge);
}

const struct verb VERB_CHECK = {
    .name = "check",
    .arguments = "[A [B]]",
    .summary = "fail when a run is worse than another, for scripts",
    .doc = "As haul diff, from A to B (default: latest); haul diff --help explains the verdicts. "
           "Exit codes: 0 nothing of --fail-on was found; 1 it was; 2 the command line is wrong, "
           "or names no runs; 3 nothing was compared; 4 undecided, with --strict. --format also "
           "takes junit.",
    .options = options_table,
    .parse = parse,
    .argument_kind = ARGUMENTS_NONE,
    .main = check,
};
