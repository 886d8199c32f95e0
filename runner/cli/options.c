#include "runner/cli/options.h"

#include "engine/base/strbuf.h"
#include "schema/scenario/nearest.h"

#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 1 << 12, SPLITS_MAX = 10000 };

/* ---- mistakes ---- */

void options_reject_name(struct argp_state *state, const char *what, const char *arg,
                         const char *const *names) {
  const char *meant = nearest_word(arg, names);
  struct strbuf list;
  strbuf_init(&list, LIST_MAX);
  for (size_t i = 0; names[i] != NULL; i++) {
    strbuf_printf(&list, "%s%s", i > 0 ? ", " : "", names[i]);
  }
  argp_error(state, "unknown %s '%s'%s%s%s: one of %s", what, arg,
             meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
             meant != NULL ? "'?)" : "", list.text);
  strbuf_fini(&list);
}

struct option_pair options_split(struct argp_state *state, struct arena *arena, const char *option,
                                 const char *form, const char *example, const char *arg) {
  const char *equals = strchr(arg, '=');
  if (equals == NULL || equals == arg) {
    argp_error(state, "--%s needs %s, for example --%s %s, not '%s'", option, form, option, example,
               arg);
    return (struct option_pair){arg, ""};
  }
  return (struct option_pair){arena_strndup(arena, arg, (size_t)(equals - arg)), equals + 1};
}

const char *options_non_empty(struct argp_state *state, const char *option, const char *arg) {
  if (arg[0] == '\0') {
    argp_error(state, "--%s needs a value that is not empty", option);
  }
  return arg;
}

/* ---- common options ---- */

static void options_set_db(struct common_options *options, const char *arg,
                           struct argp_state *state) {
  options->db = options_non_empty(state, "db", arg);
}

static void options_set_format(struct common_options *options, const char *arg,
                               struct argp_state *state) {
  options->format_given = true;
  if (options->junit_allowed && strcmp(arg, "junit") == 0) {
    options->junit = true;
  } else if (!output_format_parse(arg, &options->format)) {
    options_reject_name(state, "format", arg, output_format_names);
  }
}

static void options_set_json(struct common_options *options, const char *arg,
                             struct argp_state *state) {
  (void)arg;
  (void)state;
  options->format = OUTPUT_JSON;
  options->format_given = true;
}

static void options_set_color(struct common_options *options, const char *arg,
                              struct argp_state *state) {
  if (arg == NULL) {
    /* "--color never" is meant as "--color=never" is. */
    const char *next = state->next < state->argc ? state->argv[state->next] : "";
    options->colour = WHEN_ALWAYS;
    state->next += when_parse(next, &options->colour);
  } else if (!when_parse(arg, &options->colour)) {
    options_reject_name(state, "value of --color", arg, when_names);
  }
}

static void options_set_quiet(struct common_options *options, const char *arg,
                              struct argp_state *state) {
  (void)arg;
  (void)state;
  options->quiet = true;
}

static void options_set_verbose(struct common_options *options, const char *arg,
                                struct argp_state *state) {
  (void)arg;
  (void)state;
  options->verbose = true;
}

/* Key (a letter, or a number below OPTION_SET), name, argument, flags, help: options_set_NAME()
 * takes it. */
#define COMMON_OPTION_LIST(X)                                                                      \
  X(0x100, db, "FILE", 0,                                                                          \
    "results database (default: HAUL_DB, else haul/results.db in the user's data folder)")         \
  X(0x101, format, "FORMAT", 0, "one of" OUTPUT_FORMAT_NAMES)                                      \
  X(0x102, json, NULL, 0, "the same as --format json")                                             \
  X(0x103, color, "WHEN", OPTION_ARG_OPTIONAL, "auto, always or never")                            \
  X('q', quiet, NULL, 0, "write nothing but errors to stderr")                                     \
  X('v', verbose, NULL, 0, "show more details")

const struct argp_option COMMON_OPTIONS[] = {
    {0, 0, 0, 0, "Common options:", 10},
#define COMMON_ROW(key, name, arg, flags, help) {#name, key, arg, flags, help, 10},
    COMMON_OPTION_LIST(COMMON_ROW)
#undef COMMON_ROW
        {0},
};

static error_t common_options_parse(int key, char *arg, struct argp_state *state) {
  switch (key) {
#define COMMON_CASE(key, name, argument, flags, help)                                              \
  case key:                                                                                        \
    options_set_##name(state->input, arg, state);                                                  \
    return 0;
    COMMON_OPTION_LIST(COMMON_CASE)
#undef COMMON_CASE
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

const struct argp COMMON_ARGP = {.options = COMMON_OPTIONS, .parser = common_options_parse};

bool options_end(const struct argp_option *option) {
  return option->name == NULL && option->key == 0 && option->doc == NULL;
}

bool options_is_listed(const struct argp_option *option) {
  return option->name != NULL && (option->flags & OPTION_HIDDEN) == 0;
}

/* ---- scenarios ---- */

static void batch_options_add(struct batch_options *options, const char *key, const char *value) {
  options->overrides = arena_grow(&options->arena, options->overrides, options->override_count,
                                  &options->override_capacity, sizeof *options->overrides);
  options->overrides[options->override_count++] = (struct scenario_override){key, value};
}

error_t batch_options_parse(int key, char *arg, struct argp_state *state,
                            struct batch_options *options, bool optional) {
  switch (key) {
  case ARGP_KEY_ARG:
    options->words = arena_grow(&options->arena, options->words, options->word_count,
                                &options->word_capacity, sizeof *options->words);
    options->words[options->word_count++] = arg;
    return 0;
  case ARGP_KEY_NO_ARGS:
    if (!optional) {
      argp_error(state, "missing argument: SCENARIO; name a file, a folder or a shipped scenario");
    }
    return 0;
  case OPTION_ONLY:
    if (options->only != NULL) {
      argp_error(state, "--only can be given once; one glob, such as '*latency*' or '[ab]*', can "
                        "match several names");
    }
    options->only = arg;
    return 0;
  case OPTION_SET: {
    const struct option_pair pair =
        options_split(state, &options->arena, "set", "KEY=VALUE", "measure.max_time=20ms", arg);
    batch_options_add(options, pair.name, pair.value);
    return 0;
  }
  case OPTION_PROCESSES:
    if (arg[0] == '\0' || arg[strspn(arg, "0123456789")] != '\0') {
      argp_error(state, "--processes needs a whole number, not '%s'", arg);
    }
    batch_options_add(options, "measure.processes", arg);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

/* ---- runs and cases ---- */

error_t filter_options_parse(int key, char *arg, struct argp_state *state, struct filter *filter) {
  switch (key) {
  case OPTION_ONLY:
    filter->only = arg;
    return 0;
  case OPTION_WHERE: {
    const struct option_pair pair =
        options_split(state, &filter->arena, "where", "FACT=VALUE", "host_name=node7", arg);
    filter->wheres = arena_grow(&filter->arena, filter->wheres, filter->where_count,
                                &filter->where_capacity, sizeof *filter->wheres);
    filter->wheres[filter->where_count++] = (struct where){pair.name, pair.value};
    return 0;
  }
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

/* ---- two sides ---- */

static void compare_options_set_delta(struct compare_request *request, const char *arg,
                                      struct argp_state *state) {
  char *end = NULL;
  const double percent = strtod(arg, &end);
  if (end == arg || (*end != '\0' && strcmp(end, "%") != 0) || !(percent > 0 && percent < 100)) {
    argp_error(state, "--delta needs a percentage above 0 and below 100, such as 1, not '%s'", arg);
  }
  request->compare.margin = percent / 100;
}

static void compare_options_set_null(struct compare_request *request, const char *arg,
                                     struct argp_state *state) {
  request->a_a = true;
  if (arg == NULL) {
    return;
  }
  char *end = NULL;
  const long splits = strtol(arg, &end, 10);
  if (end == arg || *end != '\0' || splits < 1 || splits > SPLITS_MAX) {
    argp_error(state, "--a-a needs a number of splits from 1 to %d, not '%s'", SPLITS_MAX, arg);
  }
  request->splits = (unsigned)splits;
}

static void compare_options_add_side(struct compare_request *request, const char *arg,
                                     struct argp_state *state) {
  if (request->name_count == SIDES) {
    argp_error(state,
               "too many arguments: '%s'; two sides are compared, and a comma joins several "
               "runs on one side",
               arg);
    return;
  }
  request->names[request->name_count++] = arg;
}

static void compare_options_check(const struct compare_request *request, struct argp_state *state) {
  if (request->by == NULL && (request->from != NULL || request->to != NULL)) {
    argp_error(state, "--from and --to need --by FACT");
  }
  if (request->by != NULL && request->name_count > 0) {
    argp_error(state, "name two runs or give --by FACT, not both");
  }
}

error_t compare_options_parse(int key, char *arg, struct argp_state *state,
                              struct compare_request *request) {
  switch (key) {
  case OPTION_BY:
    request->by = arg;
    return 0;
  case OPTION_FROM:
    request->from = arg;
    return 0;
  case OPTION_TO:
    request->to = arg;
    return 0;
  case OPTION_DELTA:
    compare_options_set_delta(request, arg, state);
    return 0;
  case OPTION_METHOD:
    if (!diff_method_parse(arg, &request->compare.diff.method)) {
      options_reject_name(state, "method", arg, diff_method_names);
    }
    return 0;
  case OPTION_ANY_HARDWARE:
    request->compare.any_hardware = true;
    return 0;
  case OPTION_A_A:
    compare_options_set_null(request, arg, state);
    return 0;
  case ARGP_KEY_ARG:
    compare_options_add_side(request, arg, state);
    return 0;
  case ARGP_KEY_END:
    compare_options_check(request, state);
    return 0;
  default:
    return filter_options_parse(key, arg, state, &request->filter);
  }
}

/* ---- curves ---- */

error_t plot_options_parse(int key, char *arg, struct argp_state *state,
                           struct plot_request *request, const struct common_options *common) {
  if (key == ARGP_KEY_END && request->wanted && output_layout_of(common->format) != LAYOUT_PAGE) {
    argp_error(state, "--plot draws for people and cannot be combined with --format %s",
               output_format_text(common->format));
  }
  if (key != OPTION_PLOT) {
    return ARGP_ERR_UNKNOWN;
  }
  request->wanted = true;
  if (arg != NULL && !plot_scale_parse(arg, &request->scale)) {
    options_reject_name(state, "scale", arg, plot_scale_names);
  }
  return 0;
}

/* ---- the command line of a verb ---- */

/* argp hands each parser its own input: the verb's parser is wrapped to give the common options
 * theirs. */
struct parsing {
  const struct verb *verb;
  void *options;
};

static error_t cli_parse_verb(int key, char *arg, struct argp_state *state) {
  struct parsing *parsing = state->input;
  if (key == ARGP_KEY_INIT) {
    state->child_inputs[0] = parsing->options;
  }
  state->input = parsing->options;
  error_t result =
      parsing->verb->parse != NULL ? parsing->verb->parse(key, arg, state) : ARGP_ERR_UNKNOWN;
  state->input = parsing;
  if (key == ARGP_KEY_ARG && result == ARGP_ERR_UNKNOWN) {
    argp_error(state, "too many arguments: '%s'", arg);
  }
  return result;
}

void cli_parse(const struct verb *verb, int argc, char **argv, void *options) {
  const struct argp_child children[] = {{&COMMON_ARGP, 0, NULL, 0}, {0}};
  char doc[2048];
  snprintf(doc, sizeof doc, "%s.%s%s", verb->summary, verb->doc != NULL ? "\v" : "",
           verb->doc != NULL ? verb->doc : "");
  const struct argp argp = {.options = verb->options,
                            .parser = cli_parse_verb,
                            .args_doc = verb->arguments,
                            .doc = doc,
                            .children = children};
  struct parsing parsing = {verb, options};
  if (argp_parse(&argp, argc, argv, 0, NULL, &parsing) != 0) {
    exit(EXIT_USAGE);
  }
}
