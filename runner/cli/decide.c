#include "runner/cli/decide.h"

#include "engine/base/clock.h"
#include "engine/base/order.h"
#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "engine/machine/machine.h"
#include "runner/cli/analysis.h"
#include "runner/cli/input_plans.h"
#include "runner/cli/missing_gpus.h"
#include "runner/record/manage.h"
#include "runner/record/selector.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAMES_SHOWN_MAX = 8 };

struct decide {
  struct command *command;
  struct run_request *request;
  struct scenario *scenario; /* that A was measured by */
  uint64_t started_ns;
  unsigned look; /* the last that was taken; 0 = B has no run */
  unsigned looks;
  struct compare_result result; /* of that look */
  size_t undecided;             /* cases that it left so, as the answer of a diff counts them */
  size_t changed, same;         /* provisionally */
  size_t unmeasured;            /* in B */
  unsigned a_processes; /* of A, the fewest in a case that is open for that; 0 = there are enough */
  size_t in_order;      /* that more of B cannot decide, as it came after A */
  struct case_keys open; /* those that more of B may decide, sorted; in the command's arena */
  size_t open_undecided; /* of these, the others being provisional or not measured in B */
  unsigned processes;    /* that B had then */
};

static bool decide_is_interrupted(const struct decide *decide) {
  return *decide->request->interrupted != 0;
}

/* ---- the sides ---- */

/* The scenario of the run of A that started last; --processes and --pause apply. */
static enum status decide_read_scenario(struct decide *decide, struct error *err) {
  const struct run_options *options = decide->command->options;
  struct command *command = decide->command;
  struct run_ref run;
  struct run_scenario recorded;
  struct run_list list;
  RETURN_ON_ERROR(command_open_database(command, DATABASE_READ, err));
  RETURN_ON_ERROR(
      selector_find_all(command->database, options->decide, &command->arena, &list, err));
  run = list.runs[list.count - 1];
  RETURN_ON_ERROR(run_scenario_read(command->database, run.id, &command->arena, &recorded, err));
  if (!recorded.measured) {
    return error_set(err, STATUS_INVALID,
                     "run %lld was imported: its cases cannot be measured again",
                     (long long)run.id);
  }
  struct diagnostics *diagnostics = diagnostics_new();
  enum status status =
      scenario_parse_recorded(recorded.resolved, recorded.path, command->inputs.overrides,
                              command->inputs.override_count, &decide->scenario, diagnostics);
  say_mistakes(&command->common, diagnostics);
  diagnostics_free(diagnostics);
  if (status != STATUS_OK) {
    return error_set(err, STATUS_INVALID, "the scenario of " RUN_NAME " cannot be measured",
                     run.uuid);
  }
  return STATUS_OK;
}

/* Whether B has runs yet. */
static enum status decide_find_b(struct decide *decide, bool *found, struct error *err) {
  struct command *command = decide->command;
  struct run_list list;
  RETURN_ON_ERROR(command_open_database(command, DATABASE_READ, err));
  const enum status status = selector_find_all(command->database, command->request.names[SIDE_B],
                                               &command->arena, &list, err);
  *found = status == STATUS_OK;
  return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* New runs beside ones of another host or driver would make B a mixture. */
static enum status decide_check_b(const struct decide *decide, struct error *err) {
  const struct compare_result *result = &decide->result;
  const struct machine *machine = decide->command->target;
  const struct fact *driver = machine_fact(machine, "driver_version", -1);
  const char *now[] = {machine->host_name, driver != NULL ? driver->value : "none"};
  for (size_t i = 0; i < result->results->run_count; i++) {
    const struct results_environment *e =
        &result->results->environments[result->results->runs[i].environment];
    const char *then[] = {e->host_name != NULL ? e->host_name : now[0],
                          e->driver_version != NULL ? e->driver_version : "none"};
    for (size_t k = 0; k < COUNT_OF(now); k++) {
      if (result->sides[i] == SIDE_B && strcmp(then[k], now[k]) != 0) {
        return error_set(err, STATUS_INVALID,
                         "%s has runs of the %s %s, and this is %s: choose another --tag, or "
                         "measure there",
                         decide->command->request.names[SIDE_B], k == 0 ? "host" : "driver",
                         then[k], now[k]);
      }
    }
  }
  return STATUS_OK;
}

/* ---- a look ---- */

static bool decide_is_open(const struct comparison_row *row) {
  const enum verdict verdict = row->result.verdict;
  return row->result.is_provisional || verdict_is_undecided(verdict) ||
         (verdict == VERDICT_MISSING && row->sides[SIDE_B].run == SIZE_MAX);
}

/* Whether A is too short for a firm change, however many processes B has. */
static bool decide_is_short(const struct comparison_row *row) {
  return row->sides[SIDE_A].processes < DIFF_PROCESSES_FIRM;
}

/* --processes, or else the usual number. */
static unsigned decide_count_runs(const struct decide *decide) {
  const struct inputs *inputs = &decide->command->inputs;
  unsigned runs = decide->look == 0 ? DECIDE_RUNS_FIRST : DECIDE_RUNS;
  for (size_t i = 0; i < inputs->override_count; i++) {
    if (strcmp(inputs->overrides[i].key, "measure.processes") == 0) {
      runs = (unsigned)strtoul(inputs->overrides[i].value, NULL, 10);
    }
  }
  return runs;
}

/* Whether more of B alone may decide it. A may be too short, or measured before B, so that drift
 * may explain the change, or the change so near to what matters that all further looks are too few.
 */
static bool decide_is_hopeful(const struct decide *decide, const struct comparison_row *row) {
  const struct diff_result *result = &row->result;
  if (result->doubt == DIFF_DOUBT_ORDER ||
      (verdict_is_change(result->verdict) && decide_is_short(row))) {
    return false;
  }
  const size_t reached =
      result->units[SIDE_B] + (size_t)(decide->looks - decide->look) * decide_count_runs(decide);
  return result->units[SIDE_B] < DIFF_PROCESSES_FIRM ||
         (result->needed_alone[SIDE_B] > 0 && result->needed_alone[SIDE_B] <= reached);
}

static bool decide_was_open(const struct case_keys *open, const char *key) {
  return open->count > 0 &&
         bsearch(&key, open->items, open->count, sizeof *open->items, strings_compare) != NULL;
}

/* ", 2 provisionally changed"; "" = none is. */
static const char *decide_others(const struct decide *decide, size_t count, const char *how) {
  return count > 0 ? arena_format(&decide->command->arena, ", %zu %s", count, how) : "";
}

/* "comparison 2 of 5: 4 of 18 cases undecided, 2 newly decided (REGRESSED down/gpu0, 1 same),
 * 1 provisionally changed, 11 provisionally the same" */
static void decide_say_look(const struct decide *decide, const struct case_keys *before) {
  const struct comparison *comparison = decide->result.comparison;
  struct arena *arena = &decide->command->arena;
  size_t counts[verdict_name_count] = {0};
  size_t named = 0;
  size_t decided = 0;
  const char *names = "";
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    const struct results_case *bench = &decide->result.results->cases[row->bench];
    if (decide_is_open(row) || (before != NULL && !decide_was_open(before, bench->key))) {
      continue;
    }
    const enum verdict verdict = row->result.verdict;
    decided++;
    if (verdict != VERDICT_SAME && named < NAMES_SHOWN_MAX) {
      named++;
      names = arena_add_word(arena, names,
                             arena_format(arena, "%s %s", verdict_text(verdict), bench->name));
    } else {
      counts[verdict]++;
    }
  }
  for (size_t v = 0; v < verdict_name_count; v++) {
    if (counts[v] > 0) {
      const char *more = named > 0 && v != VERDICT_SAME ? "more " : "";
      names = arena_add_word(
          arena, names,
          arena_format(arena, "%zu %s%s", counts[v], more, verdict_text((enum verdict)v)));
    }
  }
  const bool is_first = before == NULL;
  say_note(&decide->command->common,
           "comparison %u of %u: %zu of %zu cases undecided, %zu %sdecided%s%s%s%s", decide->look,
           decide->looks, decide->undecided, comparison->row_count, decided,
           is_first ? "" : "newly ", arena_around(arena, " (", names, ")"),
           decide_others(decide, decide->changed, "provisionally changed"),
           decide_others(decide, decide->same, "provisionally the same"),
           decide_others(decide, decide->unmeasured, "not measured"));
  if (is_first && decide->look == 1 && decide->undecided > 0) {
    say_note(
        &decide->command->common,
        "each comparison uses 1/%u of the error rates, so haul diff without --decide may leave "
        "fewer cases undecided",
        decide->looks);
  }
}

static void decide_find_open(struct decide *decide) {
  const struct comparison *comparison = decide->result.comparison;
  struct arena *arena = &decide->command->arena;
  struct case_keys open = {.items = arena_array(arena, comparison->row_count, sizeof *open.items)};
  decide->undecided = decide->changed = decide->same = decide->unmeasured = 0;
  decide->in_order = decide->open_undecided = 0;
  decide->a_processes = 0;
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    if (decide_is_open(row)) {
      const unsigned of_a = row->sides[SIDE_A].processes;
      const unsigned known = decide->a_processes;
      const enum verdict verdict = row->result.verdict;
      decide->undecided += verdict_is_undecided(verdict);
      decide->unmeasured += verdict == VERDICT_MISSING;
      decide->same += verdict == VERDICT_SAME;
      decide->changed += verdict_is_change(verdict);
      decide->a_processes = decide_is_short(row) && (known == 0 || of_a < known) ? of_a : known;
      decide->in_order += row->result.doubt == DIFF_DOUBT_ORDER;
      if (decide_is_hopeful(decide, row)) {
        decide->open_undecided += verdict_is_undecided(verdict);
        open.items[open.count++] =
            arena_strdup(arena, decide->result.results->cases[row->bench].key);
      }
    }
  }
  ORDER_SORT(open.items, open.count, strings_compare);
  decide->open = open;
}

/* Compares the sides as they are. */
static enum status decide_look(struct decide *decide, struct error *err) {
  const struct case_keys before = decide->open;
  const bool is_first = decide->result.results == NULL;
  compare_result_fini(&decide->result);
  decide->result = (struct compare_result){0};
  RETURN_ON_ERROR(analysis_compare(decide->command, &decide->result, err));
  RETURN_ON_ERROR(decide_check_b(decide, err));
  const struct results *results = decide->result.results;
  decide->look = 1;
  for (size_t i = 0; i < results->run_count; i++) {
    const struct results_run *run = &results->runs[i];
    decide->look = run->look > decide->look ? run->look : decide->look;
  }
  decide->looks = decide->result.comparison->looks;
  decide->processes = decide->result.comparison->totals[SIDE_B].processes;
  decide_find_open(decide);
  decide_say_look(decide, is_first ? NULL : &before);
  return STATUS_OK;
}

/* Nothing is measured yet: every case of A is open. */
static enum status decide_open_all(struct decide *decide, struct error *err) {
  const struct run_options *options = decide->command->options;
  struct command *command = decide->command;
  RETURN_ON_ERROR(analysis_load(command, &options->decide, 1, err));
  const struct results *results = command->results;
  decide->open.items = arena_array(&command->arena, results->case_count, sizeof(const char *));
  for (size_t i = 0; i < results->case_count; i++) {
    decide->open.items[decide->open.count++] = results->cases[i].key;
  }
  unsigned processes = 0;
  for (size_t i = 0; i < results->run_count; i++) {
    processes += results->runs[i].processes;
  }
  decide->a_processes = processes < DIFF_PROCESSES_FIRM ? processes : 0;
  return STATUS_OK;
}

/* ---- measuring for the next look ---- */

/* Waits between runs; false: interrupted. */
static bool decide_pause(const struct decide *decide, uint64_t pause_ns) {
  enum { STEP_US = 200000 };
  const uint64_t end_ns = clock_read_ns(CLOCK_BOOTTIME) + pause_ns;
  const char *text = units_format_duration_short(pause_ns, UNITS_TEXT);
  say_note(&decide->command->common, "pausing for %s", text);
  while (clock_read_ns(CLOCK_BOOTTIME) < end_ns && !decide_is_interrupted(decide)) {
    (void)usleep(STEP_US);
  }
  return !decide_is_interrupted(decide);
}

/* Whether a run of that plan would end after --budget. */
static bool decide_is_spent(const struct decide *decide, const struct plan *plan) {
  const struct run_options *options = decide->command->options;
  const uint64_t budget_ns = options->budget_ns;
  return budget_ns > 0 &&
         clock_read_ns(CLOCK_BOOTTIME) - decide->started_ns + plan->estimate_ns > budget_ns;
}

/* The machine may have changed since the last run. */
static enum status decide_plan(struct decide *decide, struct plan **plan, struct error *err) {
  const struct run_options *options = decide->command->options;
  struct command *command = decide->command;
  const struct plan_options open = {.only = command->request.filter.only, .keys = decide->open};
  RETURN_ON_ERROR(command_get_machine(command, err));
  launch_name_machine(&options->launch, command->target);
  missing_gpus_warn(command);
  RETURN_ON_ERROR(plan_new(decide->scenario, command->target, &open, plan, err));
  if ((*plan)->case_count == 0) {
    plan_free(*plan);
    *plan = NULL;
    if (command->gpus_missing) {
      return error_set(err, STATUS_UNSUPPORTED,
                       "no undecided case can be measured on what is left of the GPUs: %s",
                       missing_gpus_words(command));
    }
    return error_set(err, STATUS_INVALID,
                     "no undecided case is of scenario %s, which the last run of %s measured; name "
                     "a run of the others",
                     decide->scenario->name, options->decide);
  }
  return STATUS_OK;
}

/* Waits while others use what the plan does; after that the machine may be another, and *plan is.
 * An exit code; *plan is the caller's in any case. */
static int decide_claim(struct decide *decide, struct plan **plan) {
  struct run_request *request = decide->request;
  struct error err = {0};
  bool waited = false;
  const int code = claim_take(&request->claiming, *plan, &request->claim, &waited);
  if (code != EXIT_DONE || !waited) {
    return code;
  }
  plan_free(*plan);
  *plan = NULL;
  return decide_plan(decide, plan, &err) == STATUS_OK ? EXIT_DONE
                                                      : fail(&decide->command->common, &err);
}

/* One run of one process. *goes_on: the next may follow. */
static enum status decide_measure(struct decide *decide, bool *goes_on, struct error *err) {
  struct command *command = decide->command;
  struct run_request *request = decide->request;
  struct plan *plan = NULL;
  *goes_on = false;
  RETURN_ON_ERROR(decide_plan(decide, &plan, err));
  if (decide_is_spent(decide, plan)) {
    say_note(&command->common, "the time of --budget is spent; this command goes on from here");
    plan_free(plan);
    return STATUS_OK;
  }
  int code = decide_claim(decide, &plan);
  if (code == EXIT_DONE) {
    request->gpus_missing = command->gpus_missing ? command->loss : NULL;
    code = run_plan(request, plan);
    if (command->code == EXIT_DONE) { /* else it was said already */
      code = missing_gpus_code(command, plan, code);
    }
    request->repeated = true;
    *goes_on = code != EXIT_INTERRUPTED && !decide_is_interrupted(decide);
  }
  if (!*goes_on) {
    say_note(&command->common, "this command goes on from here when it is given again");
  }
  claim_free(request->claim);
  request->claim = NULL;
  command->code = worse(command->code, code);
  plan_free(plan);
  return STATUS_OK;
}

/* "comparison 2 of 5: run 1 of 3, of 1 undecided and 2 provisional cases" */
static void decide_say_run(const struct decide *decide, unsigned run, unsigned runs) {
  struct arena *arena = &decide->command->arena;
  const size_t open = decide->open_undecided;
  const size_t others = decide->open.count - open;
  const char *undecided = open > 0 ? arena_format(arena, "%zu undecided", open) : "";
  const char *provisional = others > 0 ? arena_format(arena, "%zu provisional%s", others,
                                                      decide->unmeasured > 0 ? " or missing" : "")
                                       : "";
  say_note(&decide->command->common, "comparison %u of %u: run %u of %u, of %s %s",
           decide->look + 1, decide->looks, run, runs,
           decide->look == 0 ? arena_format(arena, "%zu", decide->open.count)
                             : arena_join(arena, undecided, " and ", provisional),
           strings_plural(decide->open.count, "case", "cases"));
}

/* The runs of the next look. */
static enum status decide_measure_look(struct decide *decide, unsigned runs, bool *goes_on,
                                       struct error *err) {
  const uint64_t pause_ns = decide->scenario->run.pause_ns;
  decide->request->info.look = decide->look + 1;
  decide->request->info.looks = decide->looks;
  decide->scenario->run.processes = 1;
  for (unsigned i = 0; i < runs && *goes_on; i++) {
    if (pause_ns > 0 && decide->look + i > 0 && !decide_pause(decide, pause_ns)) {
      decide->command->code = EXIT_INTERRUPTED;
      *goes_on = false;
      return STATUS_OK;
    }
    decide_say_run(decide, i + 1, runs);
    RETURN_ON_ERROR(decide_measure(decide, goes_on, err));
  }
  return STATUS_OK;
}

/* Before anything is measured: with so few processes of A, no change becomes firm. */
static void decide_warn_of_a(const struct decide *decide) {
  const char *a = decide->command->request.names[SIDE_A];
  if (decide->a_processes > 0) {
    say_note(&decide->command->common,
             "%s has only %u %s, and a firm change needs %d on each side: more runs of %s can only "
             "show that cases are the same. To find changes, measure %s again first",
             a, decide->a_processes, strings_plural(decide->a_processes, "process", "processes"),
             DIFF_PROCESSES_FIRM, decide->command->request.names[SIDE_B], a);
  }
}

/* Looks and measures in turn. */
static enum status decide_loop(struct decide *decide, bool has_b, struct error *err) {
  bool goes_on = true;
  decide->looks = DECIDE_LOOKS;
  RETURN_ON_ERROR(has_b ? decide_look(decide, err) : decide_open_all(decide, err));
  decide_warn_of_a(decide);
  while (goes_on && decide->open.count > 0 && decide->look < decide->looks) {
    const unsigned processes = decide->processes;
    RETURN_ON_ERROR(decide_measure_look(decide, decide_count_runs(decide), &goes_on, err));
    if (decide_is_interrupted(decide)) {
      return STATUS_OK;
    }
    RETURN_ON_ERROR(decide_find_b(decide, &has_b, err));
    if (has_b) {
      RETURN_ON_ERROR(decide_look(decide, err));
    }
    if (goes_on && decide->processes == processes) {
      return error_set(err, STATUS_UNSUPPORTED,
                       "nothing was measured: no further comparison is made");
    }
  }
  const char *const *names = decide->command->request.names;
  const size_t rest = decide->undecided + decide->changed + decide->unmeasured;
  if (decide->open.count == 0 && rest > 0) {
    say_note(&decide->command->common,
             "stopped: more runs of %s alone would not decide the other %zu %s%s", names[SIDE_B],
             rest, strings_plural(rest, "case", "cases"),
             decide->in_order == 0     ? ""
             : decide->in_order < rest ? ", partly as drift may explain a change of the later side"
                                       : ", as drift may explain a change of the later side");
  } else if (decide->look == decide->looks && decide->open.count > 0) {
    say_note(
        &decide->command->common,
        "all %u comparisons are made: what is undecided stays so; runs under another --tag begin "
        "anew",
        decide->looks);
  }
  return STATUS_OK;
}

enum status decide_run(struct command *command, struct run_request *request, struct error *err) {
  const struct run_options *options = command->options;
  struct decide decide = {
      .command = command, .request = request, .started_ns = clock_read_ns(CLOCK_BOOTTIME)};
  struct diff_show show = {0};
  bool has_b = false;
  command->request.names[SIDE_A] = options->decide;
  command->request.names[SIDE_B] = arena_format(&command->arena, "tag:%s", options->tag);
  command->request.name_count = SIDES;
  command->request.compare.diff.looks = DECIDE_LOOKS;
  request->unshown = true;
  request->interrupted = watch_interrupts();
  request->claiming.interrupted = request->interrupted;
  for (size_t v = 0; v < verdict_name_count; v++) {
    show.verdicts[v] = true;
  }
  enum status status = decide_read_scenario(&decide, err);
  status = THEN(status, decide_find_b(&decide, &has_b, err));
  status = THEN(status, decide_loop(&decide, has_b, err));
  if (status == STATUS_OK && decide.result.comparison != NULL && !decide_is_interrupted(&decide)) {
    status = analysis_show(command, &decide.result, &show, err);
  }
  compare_result_fini(&decide.result);
  scenario_free(decide.scenario);
  return status;
}
