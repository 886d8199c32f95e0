#include "runner/cli/input_plans.h"

#include "engine/base/globs.h"
#include "runner/cli/missing_gpus.h"
#include "runner/import/nvbandwidth_cases.h"
#include "runner/render/plan.h"
#include "runner/run/preflight.h"

#include <stdlib.h>
#include <string.h>

static size_t input_plan_test_count(void) {
  size_t count = 0;
  while (nvbandwidth_test_name(count) != NULL) {
    count++;
  }
  return count;
}

/* The name of a test that is named or numbered; NULL = it is neither. */
static const char *input_plan_test_name(const char *word) {
  const size_t length = strlen(word);
  if (length > 0 && length < 10 && strspn(word, "0123456789") == length) {
    return nvbandwidth_test_name(strtoul(word, NULL, 10));
  }
  const char *name = NULL;
  for (size_t i = 0; (name = nvbandwidth_test_name(i)) != NULL && strcmp(name, word) != 0; i++) {
  }
  return name;
}

static void input_plan_add_test(const struct option_use *use, const char *word) {
  struct filter *filter = &use->command->request.filter;
  const char *name = input_plan_test_name(word);
  OPTIONS_REFUSE(name == NULL && word[strspn(word, "0123456789")] == '\0', use->state,
                 "--test %s: nvbandwidth has the tests 0 to %zu", word,
                 input_plan_test_count() - 1);
  /* Another name may be a block of another scenario: the plan says what there is. */
  use->command->inputs.tests =
      globs_add(use->command->inputs.tests, name != NULL ? name : word, &filter->arena);
}

bool option_take_test(const struct option_use *use) {
  struct argp_state *state = use->state;
  for (const char *rest = use->arg; rest != NULL;) {
    const size_t length = strcspn(rest, ",");
    const char *word = arena_strndup(&use->command->request.filter.arena, rest, length);
    if (word[0] == '\0') {
      return false;
    }
    input_plan_add_test(use, word);
    rest = rest[length] == ',' ? rest + length + 1 : NULL;
  }
  /* nvbandwidth takes several behind one -t. */
  while (state->next < state->argc && input_plan_test_name(state->argv[state->next]) != NULL) {
    input_plan_add_test(use, state->argv[state->next++]);
  }
  return true;
}

static bool input_plan_has(const char *globs, const char *wanted, struct arena *arena) {
  const char *glob = NULL;
  while ((glob = globs_next(&globs, arena)) != NULL && strcmp(glob, wanted) != 0) {
  }
  return glob != NULL;
}

/* Whether -t named tests of nvbandwidth alone, which other scenarios do not have. */
static bool input_plan_are_tests(const char *globs, struct arena *arena) {
  const char *glob = NULL;
  const char *rest = globs;
  while (rest != NULL && (glob = globs_next(&rest, arena)) != NULL &&
         input_plan_test_name(glob) != NULL) {
  }
  return globs != NULL && glob == NULL;
}

/* Of the globs that selected nothing in earlier scenarios, those that selected nothing here. */
static void input_plan_keep_unmatched(struct command *command, const char *unmatched) {
  struct arena *arena = &command->arena;
  const char *rest = command->inputs.unmatched_only;
  const char *both = NULL;
  for (const char *next; rest != NULL && (next = globs_next(&rest, arena)) != NULL;) {
    if (unmatched != NULL && input_plan_has(unmatched, next, arena)) {
      both = globs_add(both, next, arena);
    }
  }
  command->inputs.unmatched_only = both;
}

enum status input_plan_new(struct command *command, size_t i, struct plan **plan,
                           struct error *err) {
  const struct inputs *inputs = &command->inputs;
  const char *only = command->request.filter.only;
  const struct plan_options options = {.only = only};
  const bool last = i + 1 == inputs->count;
  *plan = NULL;
  if (i == 0) {
    command->inputs.unmatched_only = only;
  }
  enum status status = plan_new(inputs->scenarios[i], command->target, &options, plan, err);
  const bool nothing = status == STATUS_NOT_FOUND && only != NULL && inputs->count > 1;
  if (nothing) {
    say_note(&command->common, "%s is left out: no block and no case of it matches \"%s\"",
             inputs->items[i].name, only);
    command->inputs.left_out++;
    status = STATUS_OK;
  } else if (status == STATUS_OK) {
    input_plan_keep_unmatched(command, (*plan)->unmatched_only);
  }
  if (status == STATUS_NOT_FOUND && input_plan_are_tests(inputs->tests, &command->arena)) {
    return error_prefix(
        err, "-t selects tests of nvbandwidth, and %s has none of them: ", inputs->items[i].name);
  }
  if (status == STATUS_OK && last && command->inputs.left_out == inputs->count) {
    return error_set(err, STATUS_INVALID, "nothing in %zu scenarios matches \"%s\"", inputs->count,
                     only);
  }
  if (status == STATUS_OK && last && command->inputs.unmatched_only != NULL) {
    say_warning(&command->common, "no block and no case matches \"%s\"",
                command->inputs.unmatched_only);
  }
  return status;
}

void input_plan_note_nothing(struct command *command, size_t i, const char *reason) {
  if (command->inputs.nothing == NULL) {
    command->inputs.nothing =
        arena_array(&command->arena, command->inputs.count, sizeof *command->inputs.nothing);
  }
  command->inputs.nothing[i] = arena_strdup(&command->arena, reason);
}

void input_plans_end(struct command *command) {
  const struct inputs *inputs = &command->inputs;
  size_t count = command->inputs.left_out;
  if (command->inputs.nothing == NULL) {
    return;
  }
  for (size_t i = 0; i < inputs->count; i++) {
    count += command->inputs.nothing[i] != NULL ? 1 : 0;
  }
  if (count == inputs->count) {
    command->code = worse(command->code, EXIT_NOT_MEASURED);
    return; /* each said so itself */
  }
  for (size_t i = 0; i < inputs->count; i++) {
    if (command->inputs.nothing[i] != NULL) {
      say_note(&command->common, "%s has nothing to measure here: %s", inputs->items[i].name,
               command->inputs.nothing[i]);
    }
  }
}

/* What the scenario's checks come to with what is known of the machine, as run_plan() does it. */
static void input_plan_check_machine(struct command *command, const struct scenario *scenario,
                                     struct plan *plan) {
  const struct common_options quiet = {.quiet = true};
  struct preflight preflight;
  preflight_check(&preflight, &quiet, scenario, command->target);
  if (preflight.abort_reason[0] != '\0') {
    plan_skip_rest(plan, preflight.abort_reason);
    plan->abort_reason = arena_strdup(&plan->arena, preflight.abort_reason);
    command->code = worse(command->code, EXIT_NOT_MEASURED);
  } else if (preflight.skip_reason[0] != '\0') {
    plan_skip_rest(plan, preflight.skip_reason);
  }
  preflight_fini(&preflight);
}

enum status input_plans_show(struct command *command, struct error *err) {
  const struct table_options rows = table_to_stdout(&command->common);
  enum status status = STATUS_OK;
  missing_gpus_warn(command);
  for (size_t i = 0; status == STATUS_OK && i < command->inputs.count; i++) {
    struct plan *plan = NULL;
    char reason[CASE_REASON_MAX];
    if (command->inputs.count > 1) {
      say_note(&command->common, "%s (%zu of %zu)", command->inputs.items[i].name, i + 1,
               command->inputs.count);
    }
    status = input_plan_new(command, i, &plan, err);
    if (plan != NULL) {
      input_plan_check_machine(command, command->inputs.scenarios[i], plan);
      status = THEN(status, plan_render(plan, command->inputs.scenarios[i]->run.processes,
                                        command->common.verbose, &rows, err));
      if (plan_has_nothing(plan, reason)) {
        input_plan_note_nothing(command, i, reason);
      }
      command->code = missing_gpus_code(command, plan, command->code);
    }
    plan_free(plan);
  }
  input_plans_end(command);
  return status;
}
