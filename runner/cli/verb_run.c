/* haul run SCENARIO...: measure scenarios, record them, show the result. */
#include "engine/base/units.h"
#include "engine/machine/machine.h"
#include "runner/cli/decide.h"
#include "runner/cli/health.h"
#include "runner/cli/input_plans.h"
#include "runner/cli/missing_gpus.h"
#include "runner/expect/judge.h"
#include "runner/record/selector.h"
#include "runner/run/run.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Of a run that finds what it needs in use by another. */
#define WAIT_DEFAULT_NS UINT64_C(600000000000)
enum { NVML_WINDOW_NS = 900000000 }; /* of NVML's utilization, about */

static bool verb_run_take_wait(const struct option_use *use) {
  struct run_options *options = use->command->options;
  options->wait_given = true;
  return units_parse_duration(use->arg, &options->wait_ns);
}

static const struct verb_option VERB_RUN_OPTIONS[] = {
    INPUT_OPTION_ONLY,
    INPUT_OPTION_TEST,
    INPUT_OPTION_SET,
    INPUT_OPTION_PROCESSES,
    INPUT_OPTION_PAUSE,
    {"tag", "NAME", "tag the run: tag:NAME selects it later",
     OPTION_NON_EMPTY(struct run_options, tag)},
    {"resume", "RUN", "measure what an interrupted run did not: latest, run:ID, ...",
     OPTION_TEXT(struct run_options, resume)},
    {"dry-run", NULL, "show the plan, measure nothing", OPTION_FLAG(struct run_options, dry_run)},
    {"list", NULL, "list the shipped scenarios, or what SCENARIO would measure",
     OPTION_FLAG(struct run_options, list), .letter = 'l'},
    {"decide", "A",
     "compare the runs of --tag with A, and measure undecided cases again until they are decided",
     OPTION_NON_EMPTY(struct run_options, decide),
     .needs = "the runs to compare with, for example --decide tag:before"},
    {"budget", "DURATION",
     "with --decide: start no run that would end later than this, for example 30min",
     OPTION_DURATION(struct run_options, budget_ns, "30min")},
    {"delta", "PERCENT", "with --decide: the smallest change that matters",
     OPTION_PERCENT(struct command, request.compare.margin)},
    {"wait", "DURATION",
     "how long to wait while another run uses a GPU of the plan or the host (default: 10min)",
     verb_run_take_wait, .needs = "a duration, for example --wait 30s"},
    {"share", NULL,
     "measure at once even while another run measures; affected cases of both are marked",
     OPTION_FLAG(struct run_options, share)},
    {"shard", "DIR",
     "on a cluster: record on this node's own disk, then move the database to DIR, which all nodes "
     "share",
     OPTION_NON_EMPTY(struct run_options, shard)},
    {"shard-every", "DURATION",
     "with --shard: how often the results so far are copied to DIR (default: 60s)",
     OPTION_DURATION(struct run_options, shard_interval_ns, "60s")},
    {"node-name", "NAME", "the name of this node (default: SLURMD_NODENAME, else the host's)",
     OPTION_NON_EMPTY(struct run_options, node_name)},
    {"expected-nodes", "LIST|FILE",
     "with --shard: the nodes that take part, as a[1-3,7],b2 or a file of names (default: Slurm's "
     "list)",
     OPTION_NON_EMPTY(struct run_options, expected_nodes)},
    SUM_OPTION,
    PLOT_OPTION,
    EXPECT_OPTION,
    {0},
};

static void verb_run_check_decide(const struct command *command, struct argp_state *state) {
  const struct run_options *options = command->options;
  if (options->decide == NULL) {
    OPTIONS_REFUSE(
        options->budget_ns > 0, state,
        "--budget needs --decide A. To limit the time of a run: --set measure.budget=TIME");
    OPTIONS_REFUSE(command->request.compare.margin > 0, state, "--delta needs --decide A");
    return;
  }
  OPTIONS_REFUSE(options->tag == NULL, state,
                 "--decide needs --tag NAME: the new runs join those of that tag");
  OPTIONS_REFUSE(command->word_count > 0 || options->resume != NULL || options->dry_run ||
                     command->plot.wanted,
                 state,
                 "--decide measures the scenario of A again: it cannot be combined with a "
                 "scenario, --resume, --dry-run or --plot");
  for (size_t i = 0; i < command->inputs.override_count; i++) {
    const char *key = command->inputs.overrides[i].key;
    OPTIONS_REFUSE(strcmp(key, "measure.processes") != 0 && strcmp(key, "measure.pause") != 0,
                   state,
                   "--decide measures the cases of A as they are: of --set it takes "
                   "measure.pause alone, not %s",
                   key);
  }
}

static void verb_run_check_shard(const struct command *command, struct argp_state *state) {
  const struct run_options *options = command->options;
  if (options->shard == NULL) {
    OPTIONS_REFUSE(options->expected_nodes != NULL || options->shard_interval_ns > 0, state,
                   "--expected-nodes and --shard-every need --shard DIR");
  } else if (command->common.db != NULL || options->decide != NULL || options->dry_run) {
    options_fail(state, "--shard records runs in databases of their own: it cannot be combined "
                        "with --db, --decide or --dry-run");
  }
}

static void verb_run_check(struct command *command, struct argp_state *state) {
  struct run_options *options = command->options;
  options_check_plot(command, state);
  options_check_sums(command, state);
  options_check_tag(options->tag, state);
  verb_run_check_decide(command, state);
  verb_run_check_shard(command, state);
  options->dry_run = options->dry_run || (options->list && command->word_count > 0);
  OPTIONS_REFUSE(options->resume == NULL && options->decide == NULL && command->word_count == 0 &&
                     !options->list,
                 state, "missing " INPUT_MISSING ": \"haul run quick\" works on every machine");
  OPTIONS_REFUSE(options->resume != NULL &&
                     (command->word_count > 0 || command->request.filter.only != NULL ||
                      command->inputs.override_count > 0 || options->tag != NULL ||
                      options->dry_run),
                 state,
                 "--resume continues a run as it was begun: it cannot be combined with a "
                 "scenario, --only, --set, --processes, --tag or --dry-run");
}

static enum status verb_run_look(struct command *command, struct error *err) {
  struct run_options *options = command->options;
  RETURN_ON_ERROR(command_get_machine(command, err));
  launch_name_machine(&options->launch, command->target);
  return STATUS_OK;
}

/* What NVML says of use covers the last second: of the run that was waited for, too. */
static enum status verb_run_probe_again(struct command *command, struct error *err) {
  (void)nanosleep(&(struct timespec){.tv_nsec = NVML_WINDOW_NS}, NULL);
  return verb_run_look(command, err);
}

/* Claim what the plan of the scenario uses. Where that took a wait, the machine may have changed:
 * it is probed again, and the plan made anew. A code other than EXIT_DONE: there is no plan any
 * more. */
static int verb_run_claim(struct command *command, struct run_request *request,
                          const struct scenario *scenario, const struct plan_options *options,
                          struct plan **plan) {
  struct error err = {0};
  bool waited = false;
  int code = claim_take(&request->claiming, *plan, &request->claim, &waited);
  if (code == EXIT_DONE && !waited) {
    return code;
  }
  if (code != EXIT_DONE && code != EXIT_INTERRUPTED && request->shard != NULL) {
    run_refused(request, *plan, "another run used the GPUs of the plan, or the host, all the time");
  }
  plan_free(*plan);
  *plan = NULL;
  if (code == EXIT_DONE &&
      (verb_run_probe_again(command, &err) != STATUS_OK ||
       plan_new(scenario, command->target, options, plan, &err) != STATUS_OK)) {
    code = fail(request->common, &err);
  }
  return code;
}

static void verb_run_release(struct run_request *request) {
  claim_free(request->claim);
  request->claim = NULL;
}

/* The database of the next run, where it is a shard, or of the one that goes on: uuid becomes its.
 */
static enum status verb_run_open_shard(const struct command *command, const char *resume,
                                       struct run_request *request, char uuid[RUN_UUID_MAX],
                                       struct error *err) {
  const struct run_options *options = command->options;
  if (options->shard == NULL) {
    return STATUS_OK;
  }
  const struct shard_request shard = {
      .common = &command->common,
      .folder = options->shard,
      .node = options->launch.node != NULL ? options->launch.node : command->target->host_name,
      .interval_ns =
          options->shard_interval_ns > 0 ? options->shard_interval_ns : SHARD_INTERVAL_NS,
  };
  RETURN_ON_ERROR(resume == NULL ? shard_new(&shard, &request->shard, err)
                                 : shard_resume(&shard, resume, &request->shard, uuid, err));
  request->database = shard_database(request->shard);
  request->claiming.database = request->database;
  request->claiming.sole = true;
  return STATUS_OK;
}

static int verb_run_close_shard(struct run_request *request) {
  const int code = shard_close(request->shard);
  request->shard = NULL;
  return code;
}

/* Plan, claim what that uses, and measure; *plan is the caller's. */
static int verb_run_plan(struct command *command, struct run_request *request, size_t i,
                         struct plan **plan) {
  struct error err = {0};
  int code = EXIT_DONE;
  if (input_plan_new(command, i, plan, &err) != STATUS_OK) {
    return fail(request->common, &err);
  }
  if (*plan != NULL) {
    const struct plan_options options = {.only = request->info.only};
    code = verb_run_claim(command, request, command->inputs.scenarios[i], &options, plan);
  }
  char reason[CASE_REASON_MAX];
  if (*plan != NULL && command->inputs.text != NULL && plan_has_nothing(*plan, reason)) {
    (void)error_set(&err, STATUS_UNSUPPORTED, "nothing was measured or recorded: %s", reason);
    return missing_gpus_code(command, *plan, fail(request->common, &err));
  }
  if (*plan != NULL && request->shard == NULL &&
      database_check_folder(request->common, request->database, &err) != STATUS_OK) {
    return fail(request->common, &err);
  }
  request->gpus_missing = command->gpus_missing ? command->loss : NULL;
  return *plan != NULL ? missing_gpus_code(command, *plan, run_plan(request, *plan)) : code;
}

/* For measuring once more: what is left, a fifth at least; 0 = there is no limit. */
static uint64_t verb_run_budget_left(const struct scenario *scenario,
                                     const struct run_outcome *outcome) {
  const uint64_t budget_ns = scenario->run.budget_ns;
  const uint64_t least_ns = budget_ns / 5;
  return budget_ns > outcome->elapsed_ns + least_ns ? budget_ns - outcome->elapsed_ns : least_ns;
}

/* The rows of a run of which some cases were measured once more, each with the number that counts.
 */
static enum status verb_run_show_judged(const struct run_request *request, const char *uuid,
                                        struct error *err) {
  struct query *query = NULL;
  char run[sizeof "run:" + RUN_UUID_MAX];
  const struct result_view view = {
      .common = request->common, .expectations = request->expectations, .rows = request->result};
  (void)snprintf(run, sizeof run, "run:%s", uuid);
  enum status status = query_open(request->database, &query, err);
  status = THEN(status, expectations_show_run(&view, query, run, NULL, err));
  query_close(query);
  return status;
}

/* Below the line of a run whose result is not shown: where it is, and what reads it. */
static void verb_run_say_judged(const struct health *health, const struct run_request *request,
                                const char *scenario, int code) {
  struct arena *arena = &health->command->arena;
  struct common_options common = *request->common;
  const int64_t number = health->first_number;
  const int64_t last = health->outcome.number;
  if (!request->unshown || request->unkept) {
    return;
  }
  common.db = request->shard != NULL ? shard_path(request->shard) : common.db;
  say_note(&common, "run %lld of %s is in %s%s", (long long)number, scenario,
           request->shard != NULL ? common.db : request->database,
           last != number
               ? arena_format(arena, "; run %lld measured some cases once more", (long long)last)
               : "");
  if (code != EXIT_DONE) {
    say_next(&common, "haul explain run:%lld%s", (long long)number,
             console_db_option(&common, arena));
  }
}

/* Measure once more what falls short, with what was claimed, and say what came of it. */
static int verb_run_judge(struct health *health, struct run_request *request,
                          const struct scenario *scenario, int code) {
  struct error err = {0};
  struct case_keys again;
  enum status status = health_judge(health, request, &again, &err);
  if (status == STATUS_OK && again.count > 0 && *request->interrupted == 0) {
    struct run_request repeated = *request;
    struct plan *plan = NULL;
    const struct plan_options options = {.keys = again};
    repeated.repeated = true;
    repeated.info.repeats = health->first;
    repeated.budget_ns = verb_run_budget_left(scenario, &health->outcome);
    status = plan_new(scenario, health->command->target, &options, &plan, &err);
    if (status == STATUS_OK) {
      code = worse(code, run_plan(&repeated, plan));
      status = health_judge(health, request, &again, &err);
    }
    plan_free(plan);
  }
  if (output_layout_of(request->common->format) != LAYOUT_PAGE) {
    status = THEN(status, verb_run_show_judged(request, health->first, &err));
  }
  code = health_end(health, status == STATUS_OK ? code : worse(code, fail(request->common, &err)));
  verb_run_say_judged(health, request, scenario->name, code);
  return code;
}

static int verb_run_one(struct command *command, struct run_request *request, size_t i) {
  struct error err = {0};
  struct plan *plan = NULL;
  const struct scenario *scenario = command->inputs.scenarios[i];
  const bool judged = scenario->run.verdict == RUN_VERDICT_EXPECTED;
  struct health health = {.command = command};
  if (verb_run_open_shard(command, NULL, request, NULL, &err) != STATUS_OK) {
    return fail(request->common, &err);
  }
  request->outcome = &health.outcome;
  /* Rows are of cases, each once. */
  request->unshown = judged && (!command->common.verbose ||
                                output_layout_of(command->common.format) != LAYOUT_PAGE);
  int code = EXIT_DONE;
  if (scenario->run.idle_wait_ns > 0 &&
      health_wait(&health, scenario->run.idle_wait_ns, request->interrupted, &err) != STATUS_OK) {
    code = fail(request->common, &err);
  } else {
    code = verb_run_plan(command, request, i, &plan);
  }
  const char *nothing = health.outcome.nothing;
  if (nothing[0] != '\0' && judged) {
    code = worse(code, EXIT_NOT_MEASURED);
  } else if (nothing[0] != '\0') {
    input_plan_note_nothing(command, i, nothing);
  }
  if (judged && health.outcome.uuid[0] != '\0') {
    code = verb_run_judge(&health, request, scenario, code);
  } else if (judged) {
    code = health_end(&health, code);
  }
  request->outcome = NULL;
  verb_run_release(request);
  plan_free(plan);
  return worse(code, verb_run_close_shard(request));
}

/* The first scenario is planned for the machine as probed at the start; before each later one the
 * machine is probed again, because it may have changed. */
static void verb_run_all(struct command *command, struct run_request *request) {
  const struct common_options *common = &command->common;
  const struct inputs *inputs = &command->inputs;
  /* Only now: until here Ctrl-C ends haul at once, even if a driver hangs. */
  request->interrupted = watch_interrupts();
  request->claiming.interrupted = request->interrupted;
  for (size_t i = 0; i < inputs->count; i++) {
    struct error err = {0};
    if (*request->interrupted != 0) {
      say_warning(common, "interrupted before %s", inputs->items[i].name);
      command->code = EXIT_INTERRUPTED;
      return;
    }
    if (inputs->count > 1) {
      say_note(common, "%s (%zu of %zu)", inputs->items[i].name, i + 1, inputs->count);
    }
    int code;
    if (i > 0 && verb_run_look(command, &err) != STATUS_OK) {
      code = worse(fail(common, &err), EXIT_NOT_MEASURED);
    } else {
      /* Also if no case needs a GPU: the probe took its time, and the run records no GPUs. */
      missing_gpus_warn(command);
      code = verb_run_one(command, request, i);
    }
    command->code = worse(command->code, code);
  }
  input_plans_end(command);
}

/* Plan the recorded scenario again, and continue; *record is NULL once it is closed. */
static enum status verb_run_resume_record(struct command *command, struct run_request *request,
                                          struct record **record, const struct resumed_run *resumed,
                                          struct error *err) {
  struct scenario *scenario = NULL;
  struct plan *plan = NULL;
  struct diagnostics *diagnostics = diagnostics_new();
  const struct plan_options plan_options = {.only = resumed->only, .keys = resumed->keys};
  enum status status = STATUS_OK;
  if (scenario_parse_recorded(resumed->scenario_text, resumed->scenario_path, NULL, 0, &scenario,
                              diagnostics) != STATUS_OK) {
    say_mistakes(&command->common, diagnostics);
    command->code = EXIT_USAGE;
  } else {
    command->code = EXIT_NOT_MEASURED;
    status = command->target != NULL ? STATUS_OK : verb_run_look(command, err);
    missing_gpus_warn(command);
    status = THEN(status, plan_new(scenario, command->target, &plan_options, &plan, err));
  }
  if (plan != NULL) {
    command->code = verb_run_claim(command, request, scenario, &plan_options, &plan);
  }
  if (plan != NULL) {
    request->gpus_missing = command->gpus_missing ? command->loss : NULL;
    command->code = missing_gpus_code(command, plan, run_resumed(request, plan, *record, resumed));
    *record = NULL;
  }
  verb_run_release(request);
  plan_free(plan);
  diagnostics_free(diagnostics);
  scenario_free(scenario);
  return status;
}

/* Find the run and continue it. The search must not create an empty database. */
static enum status verb_run_resume(struct command *command, struct run_request *request,
                                   struct error *err) {
  const struct run_options *options = command->options;
  struct lock *owner = NULL;
  struct record *record = NULL;
  struct resumed_run resumed = {0};
  char uuid[RUN_UUID_MAX] = "";
  if (options->shard != NULL) {
    RETURN_ON_ERROR(verb_run_look(command, err));
    RETURN_ON_ERROR(verb_run_open_shard(command, options->resume, request, uuid, err));
  } else if (access(request->database, F_OK) != 0) {
    return error_set(err, STATUS_NOT_FOUND, "no run to resume: the database %s does not exist",
                     request->database);
  }
  enum status status = record_open(request->database, &record, err);
  status = THEN(
      status, record_resume_find(record, uuid[0] != '\0' ? uuid : options->resume, &resumed, err));
  if (status == STATUS_OK && resumed.complete) {
    /* As after a Ctrl-C that came too late to interrupt anything. */
    say_note(&command->common, "run %" PRId64 " is complete: nothing is left to measure",
             resumed.id);
    command->code = resumed.all_ok ? EXIT_DONE : EXIT_NOT_MEASURED;
  } else {
    status = THEN(status, claim_run(&request->claiming, resumed.uuid, &owner, err));
    status = THEN(status, verb_run_resume_record(command, request, &record, &resumed, err));
  }
  resumed_run_fini(&resumed);
  record_close(record);
  claim_leave_run(owner);
  command->code = worse(command->code, verb_run_close_shard(request));
  return status;
}

/* Where the results go, and how what is used is claimed; *scratch: as of health_database(). */
static enum status verb_run_prepare(struct command *command, struct run_request *request,
                                    char **scratch, struct error *err) {
  struct run_options *options = command->options;
  const bool judged = command->inputs.count > 0 &&
                      command->inputs.scenarios[0]->run.verdict == RUN_VERDICT_EXPECTED;
  if (options->shard == NULL && judged) {
    RETURN_ON_ERROR(health_database(command, &request->database, scratch, err));
    request->unkept = *scratch != NULL;
  } else if (options->shard == NULL) {
    RETURN_ON_ERROR(command_path(command, &request->database, err));
  }
  RETURN_ON_ERROR(command_claiming(command, &request->claiming, err));
  request->claiming.database = request->database;
  request->claiming.wait_ns = options->wait_given ? options->wait_ns
                              : judged            ? command->inputs.scenarios[0]->run.idle_wait_ns
                                                  : WAIT_DEFAULT_NS;
  request->claiming.share = options->share;
  return STATUS_OK;
}

/* With the scenarios read and valid: measure. */
static enum status verb_run_measure(struct command *command, struct error *err) {
  const struct run_options *options = command->options;
  SCOPED(expectations_fini) struct expectations expectations = {0};
  if (!expectations_open(&expectations, &command->common, command->expect)) {
    command->code = EXIT_USAGE; /* its mistakes were printed */
    return STATUS_OK;
  }
  struct run_request request = {
      .common = &command->common,
      .probe = &command->probe,
      .expectations = &expectations,
      .info = {.tag = options->tag,
               .only = command->request.filter.only,
               .command_line = command->line,
               .argv = command->argv,
               .launch = &options->launch.run},
      .result = command_rows(command, "nothing was measured"),
      .plot = command->plot,
      .sums = command->sums,
  };
  if (output_layout_of(command->common.format) != LAYOUT_PAGE) {
    table_concatenate(command->table);
  }
  char *scratch = NULL;
  enum status status = verb_run_prepare(command, &request, &scratch, err);
  if (status == STATUS_OK && options->resume != NULL) {
    request.interrupted = watch_interrupts();
    request.claiming.interrupted = request.interrupted;
    status = verb_run_resume(command, &request, err);
  } else if (status == STATUS_OK) {
    status =
        options->shard == NULL ? database_check_folder(NULL, request.database, err) : STATUS_OK;
    if (status == STATUS_OK) {
      verb_run_all(command, &request);
    }
  }
  health_forget_database(scratch);
  return THEN(status, table_end_all(command->table, err));
}

static enum status verb_run_decide(struct command *command, struct error *err) {
  const struct run_options *options = command->options;
  struct run_request request = {
      .common = &command->common,
      .probe = &command->probe,
      .info = {.tag = options->tag,
               .command_line = command->line,
               .argv = command->argv,
               .launch = &options->launch.run},
  };
  char *scratch = NULL; /* there is none without a scenario */
  missing_gpus_warn(command);
  RETURN_ON_ERROR(verb_run_prepare(command, &request, &scratch, err));
  return decide_run(command, &request, err);
}

static enum status verb_run_run(struct command *command, struct error *err) {
  struct run_options *options = command->options;
  if (options->list && command->word_count == 0) {
    return verb_list_scenarios(command_rows(command, NULL), err);
  }
  if (!command_read_scenarios(command)) {
    return STATUS_OK;
  }
  const struct launch_options launch = {.node_name = options->node_name,
                                        .expected_nodes = options->expected_nodes,
                                        .shard = options->shard,
                                        .tag = options->tag};
  RETURN_ON_ERROR(launch_read(&launch, &command->arena, &options->launch, err));
  if (options->resume == NULL && verb_run_look(command, err) != STATUS_OK) {
    command->code = EXIT_NOT_MEASURED;
    return err->status;
  }
  if (options->decide != NULL) {
    return verb_run_decide(command, err);
  }
  if (!options->dry_run) {
    return verb_run_measure(command, err);
  }
  return input_plans_show(command, err);
}

const struct verb VERB_RUN = {
    .name = "run",
    .group = VERBS_MEASURE,
    .arguments = "SCENARIO...",
    .summary = "measure scenarios and record every trial",
    .doc =
        "SCENARIO is a file, - for standard input, a folder of *.toml files (with its "
        "sub-folders), or the name of a shipped scenario. Each scenario becomes a run of its own. "
        "If one has a mistake, nothing is measured. At the end, haul names the scenarios that have "
        "nothing to measure here, and why. The first Ctrl-C ends the run after the current case, "
        "the second at once. --resume continues it.\n\n--decide A --tag B takes no scenario. It "
        "compares A with the runs tagged B, measures the undecided cases of A's last run on this "
        "machine in a few more runs of one process each, and compares again, at most five times. "
        "Because it compares up to five times, each comparison uses a fifth of the usual error "
        "rates. Later comparisons of these runs do, too. --processes counts runs, each of one "
        "process, before each comparison (default: 3; 5 if B has none). --pause is the time "
        "between them.",
    .options = VERB_RUN_OPTIONS,
    .options_size = sizeof(struct run_options),
    .argument_kind = ARGUMENTS_SCENARIOS,
    .word_max = SIZE_MAX,
    .check = verb_run_check,
    .rows = (const struct verb_rows[]){{expect_judge_describe_json, "run-result"}, {0}},
    .run = verb_run_run,
};
