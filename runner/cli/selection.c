#include "runner/cli/selection.h"

#include "engine/base/globs.h"
#include "runner/import/nvbandwidth_cases.h"
#include "runner/render/plan.h"
#include "runner/run/preflight.h"
#include "runner/supervise/probe.h"

#include <stdlib.h>
#include <string.h>

static size_t selection_test_count(void) {
  size_t count = 0;
  while (nvbandwidth_test_name(count) != NULL) {
    count++;
  }
  return count;
}

/* The name of a test that is named or numbered; NULL = it is neither. */
static const char *selection_test_name(const char *word) {
  const size_t length = strlen(word);
  if (length > 0 && length < 10 && strspn(word, "0123456789") == length) {
    return nvbandwidth_test_name(strtoul(word, NULL, 10));
  }
  const char *name = NULL;
  for (size_t i = 0; (name = nvbandwidth_test_name(i)) != NULL && strcmp(name, word) != 0; i++) {
  }
  return name;
}

static void selection_add_test(const struct option_use *use, const char *word) {
  struct filter *filter = &use->command->request.filter;
  const char *name = selection_test_name(word);
  if (name == NULL && word[strspn(word, "0123456789")] == '\0') {
    argp_error(use->state, "--test %s: nvbandwidth has the tests 0 to %zu", word,
               selection_test_count() - 1);
  }
  /* Another name may be a block of another scenario: the plan says what there is. */
  use->command->batch.tests =
      globs_add(use->command->batch.tests, name != NULL ? name : word, &filter->arena);
}

bool option_take_test(const struct option_use *use) {
  struct argp_state *state = use->state;
  for (const char *rest = use->arg; rest != NULL;) {
    const size_t length = strcspn(rest, ",");
    const char *word = arena_strndup(&use->command->request.filter.arena, rest, length);
    if (word[0] == '\0') {
      return false;
    }
    selection_add_test(use, word);
    rest = rest[length] == ',' ? rest + length + 1 : NULL;
  }
  /* nvbandwidth takes several behind one -t. */
  while (state->next < state->argc && selection_test_name(state->argv[state->next]) != NULL) {
    selection_add_test(use, state->argv[state->next++]);
  }
  return true;
}

/* Whether the list has that glob. */
static bool selection_has(const char *globs, const char *wanted, struct arena *arena) {
  const char *glob = NULL;
  while ((glob = globs_next(&globs, arena)) != NULL && strcmp(glob, wanted) != 0) {
  }
  return glob != NULL;
}

/* Of the globs that selected nothing in earlier scenarios, those that selected nothing here. */
static void selection_keep_unmatched(struct command *command, const char *unmatched) {
  struct arena *arena = &command->arena;
  const char *rest = command->batch.unmatched_only;
  const char *both = NULL;
  for (const char *next; rest != NULL && (next = globs_next(&rest, arena)) != NULL;) {
    if (unmatched != NULL && selection_has(unmatched, next, arena)) {
      both = globs_add(both, next, arena);
    }
  }
  command->batch.unmatched_only = both;
}

enum status selection_plan(struct command *command, size_t i, struct plan **plan,
                           struct error *err) {
  const struct batch *batch = &command->batch;
  const char *only = command->request.filter.only;
  const struct plan_options options = {.only = only};
  const bool last = i + 1 == batch->count;
  *plan = NULL;
  if (i == 0) {
    command->batch.unmatched_only = only;
  }
  enum status status = plan_new(batch->scenarios[i], command->target, &options, plan, err);
  const bool nothing = status == STATUS_NOT_FOUND && only != NULL && batch->count > 1;
  if (nothing) {
    say_note(&command->common, "%s is left out: no block and no case of it matches \"%s\"",
             batch->inputs[i].name, only);
    command->batch.left_out++;
    status = STATUS_OK;
  } else if (status == STATUS_OK) {
    selection_keep_unmatched(command, (*plan)->unmatched_only);
  }
  if (status == STATUS_OK && last && command->batch.left_out == batch->count) {
    return error_set(err, STATUS_INVALID, "nothing in %zu scenarios matches \"%s\"", batch->count,
                     only);
  }
  if (status == STATUS_OK && last && command->batch.unmatched_only != NULL) {
    say_warning(&command->common, "no block and no case matches \"%s\"",
                command->batch.unmatched_only);
  }
  return status;
}

void selection_warn_of_loss(struct command *command) {
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(ERROR_MESSAGE_MAX);
  command->gpus_missing =
      command->machine == NULL &&
      probe_describe_loss(command->target, getenv("CUDA_VISIBLE_DEVICES"), &text);
  if (text.length > 0 && (command->loss == NULL || strcmp(command->loss, text.text) != 0)) {
    say_warning(&command->common, "%s", text.text);
    command->loss = arena_strdup(&command->arena, text.text);
  }
}

const char *selection_missing_gpus(struct command *command) {
  return arena_strndup(&command->arena, command->loss, strcspn(command->loss, ":;"));
}

int selection_code(struct command *command, const struct plan *plan, int code) {
  if (!command->gpus_missing || !plan->for_gpus) {
    return code;
  }
  if (code == EXIT_DONE && plan->scenario->run.verdict != RUN_VERDICT_EXPECTED) {
    /* Nothing else says why; what to do is in the warning. */
    say_error(&command->common,
              "not all GPUs of this machine can be measured: %s; to leave some out on purpose, "
              "name the others in CUDA_VISIBLE_DEVICES",
              selection_missing_gpus(command));
  }
  return worse(code, EXIT_NOT_MEASURED);
}

void selection_note_nothing(struct command *command, size_t i, const char *reason) {
  if (command->batch.nothing == NULL) {
    command->batch.nothing =
        arena_array(&command->arena, command->batch.count, sizeof *command->batch.nothing);
  }
  command->batch.nothing[i] = arena_strdup(&command->arena, reason);
}

void selection_end(struct command *command) {
  const struct batch *batch = &command->batch;
  size_t count = command->batch.left_out;
  if (command->batch.nothing == NULL) {
    return;
  }
  for (size_t i = 0; i < batch->count; i++) {
    count += command->batch.nothing[i] != NULL ? 1 : 0;
  }
  if (count == batch->count) {
    command->code = worse(command->code, EXIT_NOT_MEASURED);
    return; /* each said so itself */
  }
  for (size_t i = 0; i < batch->count; i++) {
    if (command->batch.nothing[i] != NULL) {
      say_note(&command->common, "%s has nothing to measure here: %s", batch->inputs[i].name,
               command->batch.nothing[i]);
    }
  }
}

/* What the scenario's checks come to with what is known of the machine, as run_plan() does it. */
static void selection_check_machine(struct command *command, const struct scenario *scenario,
                                    struct plan *plan) {
  const struct common_options quiet = {.quiet = true};
  struct preflight preflight;
  preflight_check(&preflight, &quiet, scenario, command->target);
  if (preflight.abort_reason[0] != '\0') {
    plan_skip_rest(plan, preflight.abort_reason);
    command->code = worse(command->code, EXIT_NOT_MEASURED);
  } else if (preflight.skip_reason[0] != '\0') {
    plan_skip_rest(plan, preflight.skip_reason);
  }
  preflight_fini(&preflight);
}

enum status selection_show_plans(struct command *command, struct error *err) {
  const struct table_options rows = table_to_stdout(&command->common);
  enum status status = STATUS_OK;
  selection_warn_of_loss(command);
  for (size_t i = 0; status == STATUS_OK && i < command->batch.count; i++) {
    struct plan *plan = NULL;
    char reason[CASE_REASON_MAX];
    if (command->batch.count > 1) {
      say_note(&command->common, "%s (%zu of %zu)", command->batch.inputs[i].name, i + 1,
               command->batch.count);
    }
    status = selection_plan(command, i, &plan, err);
    if (plan != NULL) {
      selection_check_machine(command, command->batch.scenarios[i], plan);
      status = THEN(status, plan_render(plan, command->batch.scenarios[i]->run.processes,
                                        command->common.verbose, &rows, err));
      if (plan_has_nothing(plan, reason)) {
        selection_note_nothing(command, i, reason);
      }
      command->code = selection_code(command, plan, command->code);
    }
    plan_free(plan);
  }
  selection_end(command);
  return status;
}
