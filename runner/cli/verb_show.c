/* haul show NAME: a shipped scenario's text, as a start for one's own. */
#include "runner/cli/cli.h"
#include "runner/run/batch.h"
#include "scenarios/scenarios.h"

struct show_options {
  struct common_options common;
  char *name;
};

static error_t verb_show_parse(int key, char *arg, struct argp_state *state) {
  struct show_options *options = state->input;
  switch (key) {
  case ARGP_KEY_ARG:
    if (options->name != NULL) {
      return ARGP_ERR_UNKNOWN;
    }
    options->name = arg;
    return 0;
  case ARGP_KEY_NO_ARGS:
    argp_error(state, "missing argument: NAME; haul list scenarios lists them");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static int verb_show_main(const struct verb *verb, int argc, char **argv) {
  struct show_options options = {0};
  cli_parse(verb, argc, argv, &options);
  const struct embedded_file *file = scenarios_find(options.name);
  if (file == NULL) {
    struct arena arena = {0};
    const char *meant = input_nearest(&arena, options.name);
    say_error(&options.common, "no shipped scenario '%s'%s%s%s; haul list scenarios lists them",
              options.name, meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
              meant != NULL ? "'?)" : "");
    arena_fini(&arena);
    return EXIT_USAGE;
  }
  (void)fwrite(file->data, 1, (size_t)(file->end - file->data), stdout);
  return EXIT_DONE;
}

const struct verb VERB_SHOW = {
    .name = "show",
    .arguments = "NAME",
    .summary = "print a shipped scenario, as a start for your own",
    .parse = verb_show_parse,
    .argument_kind = ARGUMENTS_SCENARIOS,
    .main = verb_show_main,
};
