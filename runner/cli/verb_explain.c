/* haul explain [RUN] [CASE]: what makes a run, or a machine, slower than it could be. */
#include "runner/cli/analysis.h"
#include "runner/record/record.h"
#include "runner/record/selector.h"
#include "runner/render/explain.h"
#include "runner/render/outliers.h"
#include "runner/render/result/run_result.h"
#include "runner/run/expectations.h"
#include "schema/scenario/nearest.h"

#include <inttypes.h>

struct explain_options {
  bool here, rules;
};

static const struct verb_option VERB_EXPLAIN_OPTIONS[] = {
    {"machine", "FILE", "explain the machine saved in FILE, without a run",
     OPTION_TEXT(struct command, machine)},
    {"here", NULL, "explain this machine as it is now, without a run",
     OPTION_FLAG(struct explain_options, here)},
    {"rules", NULL, "list the rules; with their names as arguments, print these in full",
     OPTION_FLAG(struct explain_options, rules)},
    {0}};

static const struct explain_rule *verb_explain_find_rule(const struct explain_rules *rules,
                                                         const char *name) {
  const size_t i = FIRST_OF(k, rules->count, strcmp(rules->items[k].name, name) == 0);
  return i < rules->count ? &rules->items[i] : NULL;
}

static enum status verb_explain_rules(struct command *command, struct error *err) {
  const struct table_options rows = table_to_stdout(&command->common);
  struct explain_rules all;
  struct explain_rules named = {0};
  explain_read_rules(&command->arena, &all);
  for (size_t i = 0; i < command->word_count; i++) {
    const struct explain_rule *rule = verb_explain_find_rule(&all, command->words[i]);
    if (rule == NULL) {
      struct nearest nearest = nearest_start(command->words[i]);
      for (size_t k = 0; k < all.count; k++) {
        nearest_offer(&nearest, all.items[k].name);
      }
      return error_set(err, STATUS_NOT_FOUND,
                       "no rule is called \"%s\"%s: haul explain --rules lists them",
                       command->words[i],
                       arena_around(&command->arena, " (did you mean \"", nearest.word, "\"?)"));
    }
    *ARENA_ADD(&command->arena, named.items, named.count) = *rule;
  }
  return explain_print_rules(named.count > 0 ? &named : &all, named.count > 0, &rows, err);
}

/* The words as a run and a case; NULL = not given. */
static void verb_explain_words(const struct command *command, const char **run, const char **only) {
  const bool has_run =
      command->word_count > 0 && (command->word_count == 2 || selector_is_one(command->words[0]));
  *run = has_run ? command->words[0] : NULL;
  *only = command->word_count > (has_run ? 1 : 0) ? command->words[has_run ? 1 : 0] : NULL;
}

static void verb_explain_check(struct command *command, struct argp_state *state) {
  const struct explain_options *options = command->options;
  const bool machine = command->machine != NULL || options->here;
  OPTIONS_REFUSE(command->word_count > 2 && !options->rules, state, "too many arguments: \"%s\"",
                 command->words[2]);
  if (machine && command->word_count > 0) {
    options_fail(state,
                 "a machine without a run has no \"%s\": name a run, or give --machine or "
                 "--here, not both",
                 command->words[0]);
  } else if (command->machine != NULL && options->here) {
    options_fail(state, "give --machine or --here, not both");
  }
}

/* Open what is to be explained; *run is 0 for a machine. */
static enum status verb_explain_open(struct command *command, const char *selector, int64_t *run,
                                     struct error *err) {
  const struct explain_options *options = command->options;
  selector = selector != NULL ? selector : "latest";
  bool machine = command->machine != NULL || options->here;
  struct run_ref found = {0};
  if (!machine) {
    const enum status status = command_open_database(command, DATABASE_READ, err);
    machine = status == STATUS_NOT_FOUND && command->word_count == 0;
    if (status != STATUS_OK && !machine) {
      return status;
    }
    if (machine) {
      say_note(&command->common, "%s. Explaining this machine as it is now", err->message);
      *err = (struct error){0};
    }
  }
  if (machine) {
    RETURN_ON_ERROR(command_get_machine(command, err));
    return record_machine(command->target, &command->database, err);
  }
  RETURN_ON_ERROR(selector_find(command->database, selector, &found, err));
  *run = found.id;
  struct run_list all;
  RETURN_ON_ERROR(selector_find_all(command->database, selector, &command->arena, &all, err));
  if (all.count > 1) {
    say_note(&command->common, "explaining run %" PRId64 ", the latest of the %zu runs of %s",
             found.id, all.count, selector);
  }
  return STATUS_OK;
}

/* The cases of the run that fall short of what its machine should reach, or may do so beside
 * others, into the request. */
static void verb_explain_judge(struct command *command, struct expect_judge *judge,
                               struct explain_request *request) {
  const struct expect_judged *judged = expect_judge_judged(judge);
  request->shortfalls = arena_array(&command->arena, judged->count, sizeof *request->shortfalls);
  for (size_t i = 0; i < judged->count; i++) {
    const struct expect_judgement *judgement = &judged->judgements[i];
    const struct results_case bench = {
        .key = judgement->key, .name = judgement->name, .block = judgement->block};
    if ((judgement->verdict == EXPECT_SHORT || judgement->verdict == EXPECT_DISTURBED) &&
        (request->only == NULL || results_case_matches(&bench, request->only))) {
      request->shortfalls[request->shortfall_count++] =
          (struct explain_shortfall){.case_key = judgement->key,
                                     .name = judgement->name,
                                     .words = expect_judgement_words(&command->arena, judgement),
                                     .lack = 1 - judgement->ratio};
    }
  }
}

/* What of the run is slower than its peers, into the request. */
static enum status verb_explain_compare(struct command *command, const char *run,
                                        struct explain_request *request, struct error *err) {
  const struct outliers_options options = {.slow_only = true};
  struct outliers *outliers = NULL;
  command->request.filter.only = request->only;
  RETURN_ON_ERROR(analysis_load(command, &run, 1, err));
  RETURN_ON_ERROR(outliers_find(command->results, &options, &outliers, err));
  const char **slow = arena_array(&command->arena, outliers->verdict_count, sizeof *slow);
  for (size_t i = 0; i < outliers->verdict_count; i++) {
    slow[i] =
        outliers_verdict_words(&command->arena, command->results, outliers, &outliers->verdicts[i]);
  }
  request->identity_count =
      outliers_identities(&command->arena, command->results, outliers, &request->identities);
  request->slow = slow;
  request->simulated = results_run_is_simulated(command->results, 0);
  request->slow_count = outliers->verdict_count;
  request->compared = outliers->cases;
  outliers_free(outliers);
  return STATUS_OK;
}

static enum status verb_explain_show(struct command *command, struct explain_request *request,
                                     struct error *err) {
  const struct table_options rows = table_to_stdout(&command->common);
  struct explanation explanation = {0};
  enum status status = explain_find(command->database, request, &explanation, err);
  status = THEN(status, explain_print(&explanation, request, command->common.verbose, &rows, err));
  explanation_fini(&explanation);
  return status;
}

/* A run is judged first, by the data files of expectations. */
static enum status verb_explain_recorded(struct command *command, struct explain_request *request,
                                         struct error *err) {
  SCOPED(expectations_fini) struct expectations expectations = {0};
  struct expect_judge *judge = NULL;
  const char *run = arena_format(&command->arena, "run:%" PRId64, request->run);
  const bool whole = expectations_open(&expectations, &command->common, NULL);
  command->code = whole ? command->code : EXIT_USAGE; /* its mistakes were printed */
  SCOPED(result_set_fini) struct result_set cases;
  result_set_init(&cases, SIZE_MAX);
  enum status status = command_open_query(command, err);
  status = THEN(status, expect_judge_run(&expectations.set, command->query, run, NULL, &cases.sink,
                                         &judge, err));
  if (status == STATUS_OK) {
    verb_explain_judge(command, judge, request);
    request->skipped = arena_strdup(&command->arena, run_result_all_skipped(&cases));
  }
  status = THEN(status, verb_explain_compare(command, run, request, err));
  const char *sides = NULL;
  status = THEN(status,
                selector_find_sides(command->database, request->run, &command->arena, &sides, err));
  if (sides != NULL) {
    request->next = arena_format(&command->arena, "haul diff %s%s", sides,
                                 console_db_option(&command->common, &command->arena));
  }
  status = THEN(status, verb_explain_show(command, request, err));
  expect_judge_free(judge);
  return status;
}

static enum status verb_explain_run(struct command *command, struct error *err) {
  const struct explain_options *options = command->options;
  const char *selector = NULL;
  struct explain_request request = {0};
  if (options->rules) {
    return verb_explain_rules(command, err);
  }
  verb_explain_words(command, &selector, &request.only);
  RETURN_ON_ERROR(verb_explain_open(command, selector, &request.run, err));
  enum status status = request.run != 0 ? verb_explain_recorded(command, &request, err)
                                        : verb_explain_show(command, &request, err);
  struct explain_rules rules;
  explain_read_rules(&command->arena, &rules);
  if (status != STATUS_OK && request.only != NULL &&
      verb_explain_find_rule(&rules, request.only) != NULL) {
    status = error_set(err, status, "\"%s\" is a rule, not a case: haul explain --rules %s",
                       request.only, request.only);
  }
  return status;
}

const struct verb VERB_EXPLAIN = {
    .name = "explain",
    .group = VERBS_READ,
    .arguments = "[RUN] [CASE]",
    .summary = "say what makes a run, or a machine, slower than it could be",
    .doc = "Checks a table of rules (--rules, docs/EXPLAIN.md) against the facts of the machine, "
           "the telemetry and the results of a run, by default the latest. Each finding has its "
           "evidence, the cases that it affects, its usual cost, a remedy and a source. Notes are "
           "facts that are usual on some machines and need no repair. Rules whose facts were not "
           "recorded are listed under \"Could not be checked\". CASE takes globs as --only does, "
           "and keeps the findings that affect such a case. -v lists the values that are in order. "
           "Without any result, this machine is explained.",
    .options = VERB_EXPLAIN_OPTIONS,
    .options_size = sizeof(struct explain_options),
    .argument_kind = ARGUMENTS_RUNS,
    .word_max = SIZE_MAX,
    .check = verb_explain_check,
    .rows = (const struct verb_rows[]){{explain_describe_json, NULL},
                                       {explain_describe_rules_json, NULL},
                                       {0}},
    .run = verb_explain_run,
};
