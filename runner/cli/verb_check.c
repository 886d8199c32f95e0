/* haul check A [B]: as diff, for scripts: the exit code says what was found. */
#include "engine/base/strings.h"
#include "runner/cli/analysis.h"
#include "runner/cli/check_expected.h"
#include "runner/cli/fleet_gate.h"
#include "runner/record/manage.h"
#include "runner/render/diff_format.h"

#include <string.h>

#define FAIL_ON_NAME_(id, name) name,
struct check_options {
  bool expects, fleet, strict;
  bool provisional, fails[verdict_name_count], fails_distribution, fail_on_given; /* --fail-on */
  const char *of_runs, *of_fleet; /* a word of --fail-on that is for runs alone, or for fleets */
  const char *unknown;            /* one that is neither */
  unsigned fleet_fails;           /* bit i: enum fleet_reason i */
};

static const char *const FAIL_ON_NAMES[] = {
    "partial",     "different", "slow", VERDICT_LIST(FAIL_ON_NAME_) "distribution",
    "provisional", NULL};
static const char *const *const FAIL_ON_RUNS = FAIL_ON_NAMES + 3; /* without --fleet */

static bool verb_check_take_fail_on(const struct option_use *use) {
  struct check_options *options = use->command->options;
  struct command *command = use->command;
  for (const char *word = use->arg; word != NULL;) {
    const size_t length = strcspn(word, ",");
    const char *name = arena_strndup(&command->arena, word, length);
    enum verdict verdict;
    enum fleet_reason reason;
    const bool of_fleet = fleet_reason_parse(name, &reason);
    const bool is_verdict = verdict_parse(name, &verdict); /* "missing" is both */
    options->fleet_fails |= of_fleet ? 1U << reason : 0;
    options->of_runs = of_fleet ? options->of_runs : name;
    options->of_fleet = of_fleet && !is_verdict ? name : options->of_fleet;
    if (strcmp(name, "provisional") == 0 || strcmp(name, "suspect") == 0) { /* the old name */
      options->provisional = true;
    } else if (strcmp(name, "distribution") == 0) {
      options->fails_distribution = options->fail_on_given = true;
    } else if (is_verdict) {
      options->fails[verdict] = options->fail_on_given = true;
    } else if (!of_fleet) {
      options->unknown = name;
    }
    word = word[length] == ',' ? word + length + 1 : NULL;
  }
  return true;
}

/* "--expect mine.toml" is meant as "--expect=mine.toml" is, and as other verbs take it. */
static bool verb_check_take_expect(const struct option_use *use) {
  struct check_options *options = use->command->options;
  struct argp_state *state = use->state;
  const char *next = state->next < state->argc ? state->argv[state->next] : "";
  const char *dot = strrchr(next, '.');
  const bool is_file = use->arg == NULL && dot != NULL && strcmp(dot, ".toml") == 0;
  options->expects = true;
  use->command->expect = is_file ? next : use->arg;
  state->next += is_file;
  return use->arg == NULL || use->arg[0] != '\0';
}

static const struct verb_option VERB_CHECK_OPTIONS[] = {
    {"expect", "FILE",
     "compare with what the machine should reach, not with other runs; FILE comes before the "
     "shipped data (default: HAUL_EXPECT, then ~/.config/haul/expect.toml)",
     verb_check_take_expect, .optional = true},
    {"fail-on", "VERDICTS",
     "exit with 1 on these verdicts, separated by commas (default: "
     "regressed,broken,missing,distribution)",
     .take = verb_check_take_fail_on, .names = FAIL_ON_NAMES},
    {"fleet", NULL,
     "check the nodes of the fleet that was measured last: exit with 1 if one is missing, partial, "
     "failed, different from most or slow; --fail-on selects some of these",
     OPTION_FLAG(struct check_options, fleet)},
    {"strict", NULL, "exit with 4 if a case is undecided or provisional",
     OPTION_FLAG(struct check_options, strict)},
    COMPARE_OPTIONS,
    FILTER_OPTIONS,
    {0}};

static void verb_check_check(struct command *command, struct argp_state *state) {
  struct check_options *options = command->options;
  struct compare_request *request = &command->request;
  if (options->unknown != NULL) {
    options_reject_name(state, options->fleet ? "reason" : "verdict", options->unknown,
                        options->fleet ? fleet_reason_names : FAIL_ON_RUNS);
  }
  if (options->fleet) {
    OPTIONS_REFUSE(command->word_count > 0 || request->by != NULL || options->expects, state,
                   "--fleet looks at one fleet: it cannot be combined with runs, --by or --expect");
    OPTIONS_REFUSE(options->of_runs != NULL || options->strict, state,
                   "--fleet has no verdicts of cases: it cannot be combined with %s%s",
                   options->of_runs != NULL ? "--fail-on " : "--strict",
                   options->of_runs != NULL ? options->of_runs : "");
    return;
  }
  if (options->expects) {
    OPTIONS_REFUSE(request->by != NULL || options->of_runs != NULL || options->fleet_fails > 0,
                   state,
                   "--expect compares with no other runs: it cannot be combined with --by or "
                   "--fail-on");
    return;
  }
  OPTIONS_REFUSE(options->of_fleet != NULL, state, "--fail-on %s is for --fleet alone",
                 options->of_fleet);
  OPTIONS_REFUSE(
      request->by == NULL && command->word_count == 0, state,
      "missing argument: the run to compare with, such as baseline:NAME, or two runs A B");
  options_check_sides(command, state);
  if (request->name_count == 1) {
    request->names[request->name_count++] = "latest";
  }
  if (!options->fail_on_given) {
    options->fails[VERDICT_REGRESSED] = true;
    options->fails[VERDICT_BROKEN] = true;
    options->fails[VERDICT_MISSING] = true;
    options->fails_distribution = true;
  }
}

/* --strict, where nothing failed: whether a case is undecided, or a verdict provisional. */
static bool verb_check_is_open(struct command *command, const struct comparison *comparison,
                               size_t provisional_count) {
  const struct diff_summary *summary = &comparison->summary;
  const size_t undecided =
      summary->verdicts[VERDICT_UNCLEAR] + summary->verdicts[VERDICT_INSUFFICIENT];
  const size_t cases = SUM_OF(v, verdict_name_count, summary->provisional[v]);
  const size_t provisional = cases > 0 ? cases : provisional_count; /* of groups, distributions */
  const char *text = "";
  if (undecided > 0) {
    text = arena_format(&command->arena, "%zu undecided", undecided);
  }
  if (provisional > 0) {
    const char *reason = diff_provisional_words(&command->arena, comparison);
    text = arena_add_word(&command->arena, text,
                          arena_format(&command->arena, "%zu provisional%s", provisional,
                                       arena_around(&command->arena, " (", reason, ")")));
  }
  if (text[0] != '\0') {
    say_note(&command->common, "check --strict failed: %s", text);
  }
  return text[0] != '\0';
}

/* Changes of cases that are only suspected. */
static size_t verb_check_suspected(const struct comparison *comparison) {
  const size_t *provisional = comparison->summary.provisional;
  return provisional[VERDICT_REGRESSED] + provisional[VERDICT_IMPROVED];
}

/* Whether anything that was compared is the same, or is shown to have changed. A suspicion decides
 * nothing: a check with one must not end better than without it. */
static bool verb_check_is_decided(const struct comparison *comparison) {
  const size_t *verdicts = comparison->summary.verdicts;
  return verdicts[VERDICT_SAME] + verdicts[VERDICT_REGRESSED] + verdicts[VERDICT_IMPROVED] >
             verb_check_suspected(comparison) ||
         comparison->alone_certain > 0 ||
         ANY_OF(i, comparison->group_count,
                comparison->groups[i].is_news && !comparison->groups[i].result.is_provisional);
}

/* Provisional verdicts fail a check only if --fail-on says so. */
static void verb_check_say_provisional(struct command *command, const struct comparison *comparison,
                                       size_t count) {
  const struct check_options *options = command->options;
  const char *passed = verb_check_is_decided(comparison) ? "check passed, although " : "";
  const size_t slower =
      options->fails[VERDICT_REGRESSED] ? comparison->summary.provisional[VERDICT_REGRESSED] : 0;
  say_note(&command->common, "%s%zu %s (%s%s). To fail on it: %s", passed,
           slower > 0 ? slower : count,
           slower > 0 ? strings_plural(slower, "case is REGRESSED?", "cases are REGRESSED?")
                      : strings_plural(count, "finding is provisional", "findings are provisional"),
           slower > 0 ? "provisional: " : "", diff_provisional_words(&command->arena, comparison),
           options->fail_on_given ? "add provisional to --fail-on" : "--fail-on provisional");
}

/* What a check fails on. */
struct check_found {
  size_t verdicts[verdict_name_count]; /* of cases */
  size_t groups, distributions, parts;
  const char *group;  /* the name of one */
  size_t provisional; /* what it would fail on with --fail-on provisional */
};

/* Counts one finding; returns whether it fails the check. */
static bool verb_check_count(const struct check_options *options, bool is_provisional,
                             struct check_found *found) {
  found->provisional += is_provisional && !options->provisional;
  return options->provisional || !is_provisional;
}

static struct check_found verb_check_find(const struct check_options *options,
                                          const struct comparison *comparison) {
  struct check_found found = {.group = "",
                              .parts = options->provisional ? comparison->alone_count
                                                            : comparison->alone_certain};
  found.parts = options->fails[VERDICT_REGRESSED] ? found.parts : 0;
  for (size_t i = 0; i < comparison->group_count; i++) {
    const struct comparison_group *group = &comparison->groups[i];
    const struct diff_result *result = &group->result;
    if (group->is_kept && options->fails[result->verdict] && verdict_is_change(result->verdict) &&
        (group->is_news || !result->is_provisional) &&
        verb_check_count(options, result->is_provisional, &found)) {
      found.group = found.groups++ == 0 ? group->what : found.group;
    }
  }
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    if (options->fails_distribution && row->distribution.is_worse) {
      found.distributions += verb_check_count(options, row->distribution.is_provisional, &found);
    }
    if (options->fails[row->result.verdict]) {
      found.verdicts[row->result.verdict] +=
          verb_check_count(options, row->result.is_provisional, &found);
    }
  }
  return found;
}

/* "1 regressed, 4 distributions"; "" = the check does not fail. */
static const char *verb_check_words(struct command *command, const struct comparison *comparison,
                                    const struct check_found *found) {
  const struct check_options *options = command->options;
  struct arena *arena = &command->arena;
  const char *text = diff_verdict_counts(
      arena, found->verdicts, options->provisional ? comparison->summary.provisional : NULL);
  const char *worse = diff_worse_distributions(arena, comparison, options->provisional);
  const struct {
    size_t count;
    const char *one, *several;
  } OTHERS[] = {{found->groups, arena_format(arena, "group (%s)", found->group),
                 arena_format(arena, "groups (such as %s)", found->group)},
                {found->distributions, arena_format(arena, "distribution (%s)", worse),
                 arena_format(arena, "distributions (%s)", worse)},
                {found->parts, "part of one node", "parts of single nodes"}};
  for (size_t i = 0; i < COUNT_OF(OTHERS); i++) {
    if (OTHERS[i].count > 0) {
      text = arena_add_word(
          arena, text,
          arena_format(arena, "%zu %s", OTHERS[i].count,
                       strings_plural(OTHERS[i].count, OTHERS[i].one, OTHERS[i].several)));
    }
  }
  return text;
}

/* "; to leave distributions out: --fail-on regressed,broken,missing"; "" = these are not all that
 * the check fails on, or --fail-on has nothing else. */
static const char *verb_check_without_distributions(struct command *command,
                                                    const struct check_found *found) {
  const struct check_options *options = command->options;
  const size_t others =
      found->groups + found->parts + SUM_OF(v, verdict_name_count, found->verdicts[v]);
  const char *rest = "";
  for (size_t v = 0; others == 0 && v < verdict_name_count; v++) {
    rest = options->fails[v] ? arena_join(&command->arena, rest, ",", verdict_text((enum verdict)v))
                             : rest;
  }
  return rest[0] == '\0'
             ? ""
             : arena_format(&command->arena, "; to leave distributions out: --fail-on %s%s", rest,
                            options->provisional ? ",provisional" : "");
}

/* Where nothing to fail on was found, that is good only if something was decided: of changes, if it
 * fails on these. */
static bool verb_check_may_pass(const struct check_options *options,
                                const struct comparison *comparison) {
  const bool asks = options->fails[VERDICT_REGRESSED] || options->fails[VERDICT_IMPROVED];
  return verb_check_is_decided(comparison) || (comparison->tested_count > 0 && !asks);
}

static enum status verb_check_pass(struct command *command, const struct comparison *comparison,
                                   struct error *err) {
  const struct check_options *options = command->options;
  const size_t *verdicts = comparison->summary.verdicts;
  const struct comparison_total *totals = comparison->totals;
  const char *reason = NULL;
  const size_t incomparable = diff_count_incomparable(comparison, &reason);
  if (verb_check_may_pass(options, comparison)) {
    if (incomparable > 0) {
      say_warning(&command->common,
                  "%zu of %zu cases were not compared: %s; --fail-on incomparable fails on that",
                  incomparable, comparison->row_count, reason);
    }
    return STATUS_OK;
  }
  const size_t suspected = verb_check_suspected(comparison);
  if (comparison->tested_count > 0 || suspected > 0) {
    return error_set(
        err, STATUS_UNSUPPORTED, "nothing was decided: %zu undecided%s%s. %s",
        verdicts[VERDICT_UNCLEAR] + verdicts[VERDICT_INSUFFICIENT],
        suspected > 0 ? arena_format(&command->arena, ", %zu provisional", suspected) : "",
        incomparable == 0
            ? ""
            : arena_format(&command->arena, ", %zu not compared (%s)", incomparable, reason),
        verdicts[VERDICT_INSUFFICIENT] + suspected > 0
            ? "Measure more runs"
            : "More runs would not decide: raise --delta, or make the machine quieter");
  }
  if (incomparable > 0 || !diff_any_on_both(comparison)) {
    return error_set(err, STATUS_UNSUPPORTED, "nothing was compared: %s",
                     incomparable > 0 ? reason : "no case has a result on both sides");
  }
  return error_set(err, STATUS_UNSUPPORTED,
                   "nothing can be decided: %s on each side. Measure each side several times",
                   totals[SIDE_A].processes == 1 && totals[SIDE_B].processes == 1
                       ? "one run of one process"
                       : "no case has two processes");
}

/* The exit code. A finding outranks an undecided case; a check that decided nothing never passes.
 */
static enum status verb_check_judge(struct command *command, const struct comparison *comparison,
                                    struct error *err) {
  const struct check_options *options = command->options;
  const struct check_found found = verb_check_find(options, comparison);
  const char *words = verb_check_words(command, comparison, &found);
  if (words[0] != '\0') {
    say_note(&command->common, "check failed: %s%s", words,
             verb_check_without_distributions(command, &found));
    command->code = EXIT_REGRESSED;
    return STATUS_OK;
  }
  if (options->fails[VERDICT_REGRESSED] && comparison->alone_count > 0) {
    say_note(&command->common,
             "what became slower unlike the other nodes is not certain; --fail-on "
             "provisional fails on that");
  }
  if (options->strict && verb_check_is_open(command, comparison, found.provisional)) {
    command->code = EXIT_UNDECIDED;
    return STATUS_OK;
  }
  if (found.provisional > 0) {
    verb_check_say_provisional(command, comparison, found.provisional);
  }
  return verb_check_pass(command, comparison, err);
}

/* What -q says before the verdicts, which do not tell it. */
static const char *verb_check_outcome(struct command *command,
                                      const struct comparison *comparison) {
  const struct check_options *options = command->options;
  const struct check_found found = verb_check_find(options, comparison);
  return verb_check_words(command, comparison, &found)[0] != '\0' ||
                 (options->strict && verb_check_is_open(command, comparison, found.provisional))
             ? "failed"
         : verb_check_may_pass(options, comparison) ? "passed"
                                                    : "undecided";
}

/* B by default: the latest run of the scenario of A, which may be older than "latest". */
static enum status verb_check_choose(struct command *command, struct error *err) {
  struct compare_request *request = &command->request;
  struct run_list a;
  struct run_ref latest;
  struct run_ref found;
  struct run_scenario of_a;
  struct run_scenario of_latest;
  RETURN_ON_ERROR(command_open_database(command, DATABASE_READ, err));
  RETURN_ON_ERROR(
      selector_find_all(command->database, request->names[SIDE_A], &command->arena, &a, err));
  RETURN_ON_ERROR(selector_find(command->database, request->names[SIDE_B], &latest, err));
  const int64_t last = a.runs[a.count - 1].id;
  RETURN_ON_ERROR(
      selector_find_related(command->database, "select/run_to_compare", last, &found, err));
  if (found.id == 0 || found.id == latest.id) {
    return STATUS_OK;
  }
  RETURN_ON_ERROR(run_scenario_read(command->database, last, &command->arena, &of_a, err));
  RETURN_ON_ERROR(
      run_scenario_read(command->database, latest.id, &command->arena, &of_latest, err));
  for (size_t i = 0; i < a.count; i++) {
    if (a.runs[i].id == found.id) {
      return error_set(err, STATUS_UNSUPPORTED,
                       "nothing to compare: no run of %s is newer than run %lld of A, and the "
                       "latest, run %lld, is of %s",
                       of_a.name, (long long)found.id, (long long)latest.id, of_latest.name);
    }
  }
  request->names[SIDE_B] = arena_format(&command->arena, "run:%lld", (long long)found.id);
  say_note(&command->common, "comparing with %s (B), the latest of %s; run %lld is of %s",
           request->names[SIDE_B], of_a.name, (long long)latest.id, of_latest.name);
  return STATUS_OK;
}

static enum status verb_check_run(struct command *command, struct error *err) {
  const struct check_options *options = command->options;
  if (options->fleet) {
    return fleet_gate_check(command, NULL, options->fleet_fails, err);
  }
  if (options->expects) {
    return check_expected_run(command, options->strict, err);
  }
  SCOPED(compare_result_fini) struct compare_result result = {0};
  struct diff_show show = {.undecided_fails = options->strict,
                           .provisional_fails = options->provisional,
                           .answer_only = command->common.quiet};
  memcpy(show.fails, options->fails, sizeof show.fails);
  for (size_t v = 0; v < verdict_name_count; v++) {
    show.verdicts[v] = command->common.verbose || options->fails[v] ||
                       (options->strict && verdict_is_undecided((enum verdict)v));
  }
  enum status status = command->request.by == NULL && command->word_count == 1
                           ? verb_check_choose(command, err)
                           : STATUS_OK;
  status = THEN(status, analysis_compare(command, &result, err));
  if (status == STATUS_OK && show.answer_only) {
    show.outcome = verb_check_outcome(command, result.comparison);
  }
  status = THEN(status, analysis_show(command, &result, &show, err));
  return THEN(status, verb_check_judge(command, result.comparison, err));
}

const struct verb VERB_CHECK = {
    .name = "check",
    .group = VERBS_COMPARE,
    .arguments = "[A [B]]",
    .summary = "for scripts: fail if a run is worse than another",
    .doc = "Compares as haul diff does, from A to B (default: the latest run of A's scenario); "
           "haul diff --help explains the verdicts. Exit codes: 0 no case has a verdict of "
           "--fail-on; 1 a case has one or, if --fail-on includes regressed, hardware of a single "
           "node became slower; 2 the command line is wrong, or selects no runs; 3 nothing was "
           "compared, or nothing was decided; 4 with --strict, a case is undecided or "
           "provisional. If several apply, 1 comes first, then 4, then 3. -q prints one line: "
           "passed, failed or undecided, and the verdicts.\n\n"
           "--fail-on takes verdicts of haul diff, and:\n"
           "  distribution  a case became worse in TAIL, JITTER or MODE\n"
           "  provisional   verdicts with a \"?\" as well; alone, added to the default ones\n\n"
           "--expect compares the runs (default: latest) with the expectations for their machine "
           "instead: haul expect --help. Exit codes: 0 no case falls short; 1 a case falls short, "
           "failed, crashed, hung or is corrupt; 3 nothing is known of the machine; 4 with "
           "--strict, a case is too noisy to tell or a run is partial.\n\n--fleet prints one line "
           "per node and reason. A node is slow compared with its peers, or with the fleet before. "
           "Exit codes: 0 all nodes are well; 1 one is not; 2 there is no fleet. haul merge "
           "--fail-on does the same right after merging.",
    .options = VERB_CHECK_OPTIONS,
    .options_size = sizeof(struct check_options),
    .argument_kind = ARGUMENTS_RUNS,
    .word_max = SIDES,
    .too_many = COMPARE_TOO_MANY,
    .format = &FORMAT_OR_TESTS,
    .check = verb_check_check,
    .rows = (const struct verb_rows[]){{check_expected_describe_json, NULL},
                                       {fleet_gate_describe_json, NULL},
                                       {0}},
    .run = verb_check_run,
};
