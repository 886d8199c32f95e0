#include "runner/cli/batch.h"

#include <stdlib.h>
#include <string.h>

static void add_override(struct batch_options *options, const char *key, const char *value) {
  options->overrides = arena_grow(&options->arena, options->overrides, options->override_count,
                                  &options->override_capacity, sizeof *options->overrides);
  options->overrides[options->override_count++] = (struct scenario_override){key, value};
}

static void add_set(struct batch_options *options, char *arg, struct argp_state *state) {
  char *equals = strchr(arg, '=');
  if (equals == NULL || equals == arg) {
    argp_error(state, "--set wants KEY=VALUE, for example --set measure.max_time=20ms, not '%s'",
               arg);
    return;
  }
  add_override(options, arena_strndup(&options->arena, arg, (size_t)(equals - arg)), equals + 1);
}

error_t batch_parse(int key, char *arg, struct argp_state *state, struct batch_options *options) {
  switch (key) {
  case ARGP_KEY_ARG:
    options->words = arena_grow(&options->arena, options->words, options->word_count,
                                &options->word_capacity, sizeof *options->words);
    options->words[options->word_count++] = arg;
    return 0;
  case OPTION_ONLY:
    if (options->only != NULL) {
      argp_error(state, "--only can be given once: one glob, such as '*latency*' or '[ab]*', names "
                        "all that is wanted");
    }
    options->only = arg;
    return 0;
  case OPTION_SET:
    add_set(options, arg, state);
    return 0;
  case OPTION_PROCESSES:
    if (arg[0] == '\0' || arg[strspn(arg, "0123456789")] != '\0') {
      argp_error(state, "--processes wants a whole number, not '%s'", arg);
    }
    add_override(options, "measure.processes", arg);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

void batch_options_fini(struct batch_options *options) {
  arena_fini(&options->arena);
}

int batch_read(const struct common_options *common, struct batch_options *options,
               struct batch *batch) {
  *batch = (struct batch){0};
  struct error err = {0};
  if (inputs_find(&options->arena, options->words, options->word_count, &batch->inputs, &err) !=
      STATUS_OK) {
    return fail(common, &err);
  }
  batch->scenarios = arena_array(&options->arena, batch->inputs.count, sizeof(struct scenario *));
  struct diagnostics *diagnostics = diagnostics_new();
  bool valid = true;
  for (size_t i = 0; i < batch->inputs.count; i++) {
    valid &= input_read(&batch->inputs.items[i], options->overrides, options->override_count,
                        &batch->scenarios[i], diagnostics) == STATUS_OK;
  }
  diagnostics_print(diagnostics, stderr, use_colour(common, stderr));
  diagnostics_free(diagnostics);
  return valid ? EXIT_DONE : EXIT_USAGE;
}

void batch_fini(struct batch *batch) {
  for (size_t i = 0; batch->scenarios != NULL && i < batch->inputs.count; i++) {
    scenario_free(batch->scenarios[i]);
  }
}
