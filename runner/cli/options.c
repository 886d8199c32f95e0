#include "runner/cli/options.h"

#include "engine/base/globs.h"
#include "engine/base/strbuf.h"
#include "engine/base/units.h"
#include "schema/scenario/field.h"
#include "schema/scenario/nearest.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 1 << 12, SPLITS_MAX = 10000, OPTIONS_MAX = 40, KEY_USAGE = 0x100, KEY_FIRST };
enum { GROUP_COMMON = 9 };

void options_fail(const struct argp_state *state, const char *format, ...) {
  static const struct common_options PLAIN = {0};
  char *text = NULL;
  va_list args;
  va_start(args, format);
  const int length = vasprintf(&text, format, args);
  va_end(args);
  if (length <= 0) {
    abort();
  }
  const char last = text[length - 1];
  say_error(&PLAIN, "%s%s See %s --help", text, last == '.' || last == '?' ? "" : ".", state->name);
  exit(EXIT_USAGE);
}

void options_reject_name(struct argp_state *state, const char *what, const char *arg,
                         const char *const *names) {
  const char *meant = nearest_word(arg, names);
  SCOPED(arena_fini) struct arena arena = {0};
  SCOPED(strbuf_fini) struct strbuf list = STRBUF(LIST_MAX);
  for (size_t i = 0; names[i] != NULL; i++) {
    strbuf_append_word(&list, names[i]);
  }
  options_fail(state, "unknown %s \"%s\"%s: one of %s", what, arg,
               arena_around(&arena, " (did you mean \"", meant, "\"?)"), list.text);
}

static size_t options_find_name(const char *const *names, const char *arg) {
  for (size_t i = 0; names[i] != NULL; i++) {
    if (strcmp(names[i], arg) == 0) {
      return i;
    }
  }
  return SIZE_MAX;
}

bool options_split(struct arena *arena, const char *arg, const char **name, const char **value) {
  const char *equals = strchr(arg, '=');
  if (equals == NULL || equals == arg) {
    return false;
  }
  *name = arena_strndup(arena, arg, (size_t)(equals - arg));
  *value = equals + 1;
  return true;
}

/* ---- how arguments are taken ---- */

bool option_take_flag(const struct option_use *use) {
  *(bool *)use->field = true;
  return true;
}

bool option_take_text(const struct option_use *use) {
  *(const char **)use->field = use->arg;
  return true;
}

bool option_take_non_empty(const struct option_use *use) {
  return option_take_text(use) && use->arg[0] != '\0';
}

bool option_take_duration(const struct option_use *use) {
  return units_parse_duration(use->arg, use->field);
}

bool option_take_percent(const struct option_use *use) {
  char *end = NULL;
  const double percent = strtod(use->arg, &end);
  *(double *)use->field = percent / 100;
  return end != use->arg && (*end == '\0' || strcmp(end, "%") == 0) && percent > 0 && percent < 100;
}

bool option_take_name(const struct option_use *use) {
  const size_t index = options_find_name(use->option->names, use->arg);
  if (index == SIZE_MAX) {
    options_reject_name(use->state, use->option->needs, use->arg, use->option->names);
  }
  const int value = (int)index; /* of an enumeration that ENUM_NAMES_DECLARE() made */
  memcpy(use->field, &value, sizeof value);
  return true;
}

/* Formats beyond those of rows come last. */
#define FORMAT_NAME_(id, name, ...) name,
static const char *const FORMAT_NAMES_AND_SVG[] = {OUTPUT_FORMAT_LIST(FORMAT_NAME_) "svg", NULL};
static const char *const FORMAT_NAMES_AND_TESTS[] = {OUTPUT_FORMAT_LIST(FORMAT_NAME_) "junit",
                                                     "ctrf", NULL};

static bool option_take_format(const struct option_use *use) {
  const char *const *names = use->option->names;
  const size_t index = options_find_name(names, use->arg);
  use->command->common.format_given = true;
  if (index == SIZE_MAX || index < output_format_name_count) {
    return option_take_name(use);
  }
  use->command->plot.picture = names == FORMAT_NAMES_AND_SVG;
  return use->command->plot.picture || test_format_parse(use->arg, &use->command->common.tests);
}

static bool option_take_json(const struct option_use *use) {
  use->command->common.format = OUTPUT_JSON;
  use->command->common.format_given = true;
  return true;
}

static bool option_take_csv(const struct option_use *use) {
  use->command->common.format = OUTPUT_CSV;
  use->command->common.format_given = true;
  return true;
}

static bool option_take_color(const struct option_use *use) {
  if (use->arg != NULL) {
    return option_take_name(use);
  }
  /* "--color never" is meant as "--color=never" is. */
  struct argp_state *state = use->state;
  const char *next = state->next < state->argc ? state->argv[state->next] : "";
  use->command->common.colour = WHEN_ALWAYS;
  state->next += when_parse(next, &use->command->common.colour);
  return true;
}

/* Each line of standard input that is not blank, up to `take`, which returns false for a mistake.
 */
static bool option_read_lines(const struct option_use *use,
                              bool (*take)(const struct option_use *use, const char *line)) {
  struct arena *arena = &use->command->request.filter.arena;
  SCOPED(memory_free) char *line = NULL;
  size_t capacity = 0;
  bool good = true;
  for (ssize_t length; good && (length = getline(&line, &capacity, stdin)) >= 0;) {
    while (length > 0 && strchr(" \t\r\n", line[length - 1]) != NULL) {
      line[--length] = '\0';
    }
    const char *text = line + strspn(line, " \t");
    good = text[0] == '\0' || take(use, arena_strdup(arena, text));
  }
  if (ferror(stdin)) {
    argp_failure(use->state, EXIT_USAGE, errno, "--%s -: cannot read standard input",
                 use->option->name);
  }
  return good;
}

static bool option_add_only(const struct option_use *use, const char *globs) {
  struct filter *filter = &use->command->request.filter;
  filter->only = globs_add(filter->only, globs, &filter->arena);
  return true;
}

bool option_take_only(const struct option_use *use) {
  struct filter *filter = &use->command->request.filter;
  if (strcmp(use->arg, "-") != 0) {
    return use->arg[strspn(use->arg, ", ")] != '\0' && option_add_only(use, use->arg);
  }
  const bool good = option_read_lines(use, option_add_only);
  OPTIONS_REFUSE(filter->only == NULL, use->state, "--only -: standard input has no globs");
  return good;
}

static void option_add_override(struct inputs *inputs, struct scenario_override override) {
  *ARENA_ADD(&inputs->arena, inputs->overrides, inputs->override_count) = override;
}

bool option_take_set(const struct option_use *use) {
  struct inputs *inputs = &use->command->inputs;
  struct scenario_override override;
  const bool good = options_split(&inputs->arena, use->arg, &override.key, &override.value);
  if (good) {
    option_add_override(inputs, override);
  }
  return good;
}

_Static_assert(RUN_PROCESSES_MAX == 1000, "INPUT_OPTION_PROCESSES says so");
bool option_take_processes(const struct option_use *use) {
  option_add_override(&use->command->inputs,
                      (struct scenario_override){"measure.processes", use->arg});
  char *end = NULL;
  const unsigned long count = strtoul(use->arg, &end, 10);
  return isdigit((unsigned char)use->arg[0]) != 0 && *end == '\0' && count >= 1 &&
         count <= RUN_PROCESSES_MAX;
}

bool option_take_pause(const struct option_use *use) {
  uint64_t pause_ns = 0;
  option_add_override(&use->command->inputs, (struct scenario_override){"measure.pause", use->arg});
  return units_parse_duration(use->arg, &pause_ns);
}

/* One FACT=VALUE. */
static bool option_add_condition(struct filter *filter, const char *text) {
  struct where where;
  const bool good = options_split(&filter->arena, text, &where.fact, &where.pattern);
  if (good) {
    *ARENA_ADD(&filter->arena, filter->wheres, filter->where_count) = where;
  }
  return good;
}

/* "a=1,b=2" are two conditions; "a=1,2" is one with two values. */
static bool option_add_where(const struct option_use *use, const char *text) {
  struct filter *filter = &use->command->request.filter;
  for (;;) {
    const char *comma = strchr(text, ',');
    while (comma != NULL && comma[1 + strcspn(comma + 1, ",=")] != '=') {
      comma = strchr(comma + 1, ',');
    }
    if (comma == NULL) {
      return option_add_condition(filter, text);
    }
    if (!option_add_condition(filter,
                              arena_strndup(&filter->arena, text, (size_t)(comma - text)))) {
      return false;
    }
    text = comma + 1;
  }
}

bool option_take_where(const struct option_use *use) {
  return strcmp(use->arg, "-") == 0 ? option_read_lines(use, option_add_where)
                                    : option_add_where(use, use->arg);
}

bool option_take_plot(const struct option_use *use) {
  use->command->plot.wanted = true;
  use->command->plot.scale_given = use->arg != NULL;
  return use->arg == NULL || option_take_name(use);
}

#define FORMAT_OPTION(shown, list)                                                                 \
  {                                                                                                \
    "format", "FORMAT", "one of:" shown,                                                           \
        OPTION_AT(option_take_format, struct command, common.format),                              \
        .needs = "format", .names = (list), .group = GROUP_COMMON                                  \
  }
const struct verb_option FORMAT_OR_SVG =
    FORMAT_OPTION(OUTPUT_FORMAT_NAMES " svg", FORMAT_NAMES_AND_SVG);
const struct verb_option FORMAT_OR_TESTS =
    FORMAT_OPTION(OUTPUT_FORMAT_NAMES " junit ctrf", FORMAT_NAMES_AND_TESTS);

const struct verb_option COMMON_OPTIONS[] = {
    {"db", "FILE",
     "results database (default: HAUL_DB, else haul/results.db in the user's data folder)",
     OPTION_NON_EMPTY(struct command, common.db), .group = GROUP_COMMON},
    FORMAT_OPTION(OUTPUT_FORMAT_NAMES, output_format_names),
    {"json", NULL, "the same as --format json", option_take_json, .group = GROUP_COMMON},
    {"csv", NULL, "the same as --format csv", option_take_csv, .group = GROUP_COMMON},
    {"color", "WHEN", "auto, always or never",
     OPTION_AT(option_take_color, struct command, common.colour), .needs = "value of --color",
     .names = when_names, .optional = true, .group = GROUP_COMMON},
    {"quiet", NULL,
     "print results, errors and the reason of a wait alone: no progress, hints or warnings",
     OPTION_FLAG(struct command, common.quiet), .letter = 'q', .group = GROUP_COMMON},
    {"verbose", NULL, "show more details", OPTION_FLAG(struct command, common.verbose),
     .letter = 'v', .group = GROUP_COMMON},
    {0},
};

/* ---- what goes together ---- */

void options_check_sides(struct command *command, struct argp_state *state) {
  struct compare_request *request = &command->request;
  request->name_count = command->word_count;
  for (size_t i = 0; i < command->word_count; i++) {
    request->names[i] = command->words[i];
  }
  OPTIONS_REFUSE(request->by == NULL && (request->from != NULL || request->to != NULL), state,
                 "--from and --to need --by FACT");
  OPTIONS_REFUSE(request->by != NULL && request->name_count > 0, state,
                 "name two runs or give --by FACT, not both");
}

void options_check_tag(const char *tag, const struct argp_state *state) {
  OPTIONS_REFUSE(tag != NULL && (tag[0] == '\0' || strchr(tag, ',') != NULL), state,
                 "a tag cannot be empty or contain a comma");
}

void options_check_plot(const struct command *command, struct argp_state *state) {
  OPTIONS_REFUSE(command->plot.picture && !command->plot.wanted, state,
                 "--format svg is for --plot");
  OPTIONS_REFUSE(command->plot.wanted && output_layout_of(command->common.format) != LAYOUT_PAGE,
                 state, "--plot draws for people and cannot be combined with --format %s",
                 output_format_text(command->common.format));
}

void options_check_sums(const struct command *command, struct argp_state *state) {
  OPTIONS_REFUSE(command->sums && output_layout_of(command->common.format) != LAYOUT_PAGE, state,
                 "--sum is for the matrices that people read, not for --format %s: SQL adds "
                 "up, as in select block, sum(gbps) from v_run_case group by block",
                 output_format_text(command->common.format));
}

/* ---- the command line ---- */

const struct verb_option *options_at(const struct verb *verb, size_t i) {
  for (const struct verb_option *o = verb->options; o != NULL && o->name != NULL; o++) {
    if (i-- == 0) {
      return o;
    }
  }
  if (i >= COUNT_OF(COMMON_OPTIONS) - 1) {
    return NULL;
  }
  const struct verb_option *own = verb->format;
  return own != NULL && strcmp(own->name, COMMON_OPTIONS[i].name) == 0 ? own : &COMMON_OPTIONS[i];
}

bool options_list(const struct verb *verb, const struct verb_option *option) {
  static const char *const FORMATS[] = {"format", "json", "csv", NULL};
  const bool rows = verb->json != NULL || verb->rows != NULL || verb->format != NULL;
  return option->help != NULL && (rows || option->group != GROUP_COMMON ||
                                  options_find_name(FORMATS, option->name) == SIZE_MAX);
}

static int options_key(const struct verb_option *option, size_t i) {
  return option->letter != 0 ? option->letter : KEY_FIRST + (int)i;
}

static void options_take_word(struct command *command, const char *arg, struct argp_state *state) {
  const struct verb *verb = command->verb;
  OPTIONS_REFUSE(command->word_count == verb->word_max, state, "too many arguments: \"%s\"%s", arg,
                 verb->too_many != NULL ? verb->too_many : "");
  if (command->word_count == 0 && verb->noun != NULL) {
    command->choice = options_find_name(verb->words, arg);
    if (command->choice == SIZE_MAX &&
        (verb->hidden_word == NULL || strcmp(arg, verb->hidden_word) != 0)) {
      options_reject_name(state, verb->noun, arg, verb->words);
    }
  }
  *ARENA_ADD(&command->arena, command->words, command->word_count) = arg;
}

/* The tests of nvbandwidth that are named are globs like those of --only. */
static void options_check_tests(struct command *command, struct argp_state *state) {
  const char **only = &command->request.filter.only;
  const char *tests = command->inputs.tests;
  OPTIONS_REFUSE(tests != NULL && *only != NULL, state,
                 "give --test or --only, not both; for some cases of a test: --only '%s/GLOB'",
                 tests);
  *only = tests != NULL ? tests : *only;
}

/* How many options begin so, one that is called so counting alone; *found is one of them. */
static size_t options_find(const struct verb *verb, const char *name,
                           const struct verb_option **found) {
  const size_t length = strlen(name);
  const struct verb_option *option;
  size_t count = 0;
  for (size_t i = 0; (option = options_at(verb, i)) != NULL; i++) {
    if (strncmp(option->name, name, length) == 0) {
      *found = option;
      count++;
      if (option->name[length] == '\0') {
        return 1;
      }
    }
  }
  return count;
}

/* What its value is, in words where they are known. */
static const char *options_wanted(const struct verb_option *option) {
  return option->needs != NULL && option->names == NULL ? option->needs : option->argument;
}

static error_t options_take(int key, char *arg, struct argp_state *state) {
  struct command *command = state->input;
  const struct verb *verb = command->verb;
  if (key == ARGP_KEY_ARG) {
    options_take_word(command, arg, state);
    return 0;
  }
  if (key == ARGP_KEY_END) {
    OPTIONS_REFUSE(verb->missing != NULL && command->word_count == 0, state, "missing %s",
                   verb->missing);
    options_check_tests(command, state);
    if (verb->check != NULL) {
      verb->check(command, state);
    }
    return 0;
  }
  if (key == 'h' || key == '?' || key == KEY_USAGE) {
    argp_state_help(state, state->out_stream,
                    key == KEY_USAGE ? ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK : ARGP_HELP_STD_HELP);
    return 0;
  }
  const struct verb_option *option;
  for (size_t i = 0; (option = options_at(verb, i)) != NULL; i++) {
    if (options_key(option, i) == key) {
      void *base = option->shared ? (void *)command : command->options;
      const struct option_use use = {command, option, (char *)base + option->field, arg, state};
      const struct verb_option *next = NULL;
      OPTIONS_REFUSE(option->group == GROUP_COMMON && !options_list(verb, option), state,
                     "haul %s has no option --%s%s", verb->name, option->name,
                     verb->no_format != NULL ? verb->no_format : "");
      OPTIONS_REFUSE(
          arg != NULL && strncmp(arg, "--", 2) == 0 && options_find(verb, arg + 2, &next) == 1,
          state, "--%s needs %s, and %s is an option", option->name, options_wanted(option), arg);
      OPTIONS_REFUSE(!option->take(&use), state,
                     option->needs != NULL ? "--%s needs %s, not \"%s\""
                                           : "--%s needs a value that is not empty",
                     option->name, option->needs, arg);
      return 0;
    }
  }
  return ARGP_ERR_UNKNOWN;
}

/* The key of [measure] that an unknown option of a verb with --set means; NULL = none. */
static const char *options_find_key(const struct verb *verb, const char *name) {
  const struct verb_option *set = NULL;
  struct nearest nearest = nearest_start(name);
  const bool has_set = options_find(verb, "set", &set) == 1;
  for (size_t i = 0; has_set && i < field_count(); i++) {
    if ((field_at(i)->sections & (1U << SECTION_MEASURE)) != 0) {
      nearest_offer(&nearest, field_at(i)->name);
    }
  }
  return nearest.word;
}

/* "--onyl": answered with the option, or the key, that is meant. */
static void options_reject_unknown(const struct verb *verb, const struct argp_state *state,
                                   const char *arg, const char *name) {
  struct nearest nearest = nearest_start(name);
  const struct verb_option *option;
  for (size_t i = 0; (option = options_at(verb, i)) != NULL; i++) {
    nearest_offer(&nearest, option->name);
  }
  OPTIONS_REFUSE(nearest.word != NULL, state, "unknown option \"%s\": did you mean \"--%s\"?", arg,
                 nearest.word);
  const char *key = options_find_key(verb, name);
  OPTIONS_REFUSE(key != NULL, state,
                 "unknown option \"%s\": did you mean \"--set measure.%s=VALUE\"?", arg, key);
  options_fail(state, "unknown option \"%s\"", arg);
}

/* Of "--name" and "--name=value". True: the next argument is its value. */
static bool options_check_long(const struct verb *verb, const struct argp_state *state,
                               const char *arg, const char *name, bool is_last) {
  const struct verb_option *option = NULL;
  const size_t count = options_find(verb, name, &option);
  const bool value = strchr(arg, '=') != NULL;
  if (count == 0 && strncmp("help", name, strlen(name)) != 0 &&
      strncmp("usage", name, strlen(name)) != 0) {
    options_reject_unknown(verb, state, arg, name);
  }
  OPTIONS_REFUSE(count > 1, state, "several options begin with \"--%s\"", name);
  if (count == 0 || option->optional) {
    return false;
  }
  OPTIONS_REFUSE(option->argument == NULL && value, state, "--%s takes no value", option->name);
  OPTIONS_REFUSE(option->argument != NULL && !value && is_last, state, "--%s needs %s",
                 option->name, options_wanted(option));
  return option->argument != NULL && !value;
}

/* The same of "-qv" and "-oFILE". */
static bool options_check_short(const struct verb *verb, const struct argp_state *state,
                                const char *arg, bool is_last) {
  const struct verb_option *option = NULL;
  for (const char *letter = arg + 1; *letter != '\0'; letter++) {
    for (size_t i = 0; (option = options_at(verb, i)) != NULL && option->letter != *letter; i++) {
    }
    OPTIONS_REFUSE(option == NULL && *letter != 'h' && *letter != '?', state,
                   "unknown option \"-%c\"", *letter);
    if (option != NULL && option->argument != NULL) {
      OPTIONS_REFUSE(letter[1] == '\0' && is_last, state, "-%c needs %s", *letter,
                     options_wanted(option));
      return letter[1] == '\0';
    }
  }
  return false;
}

/* Says what argp would say in its own words, and less of it. */
static void options_check_argv(struct command *command, int argc, char **argv) {
  const struct verb *verb = command->verb;
  const struct argp_state state = {.name = argv[0]};
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
    const struct verb_option *found = NULL;
    const char *arg = argv[i];
    const size_t dashes = strspn(arg, "-");
    const char *name = arena_strndup(&command->arena, arg + dashes, strcspn(arg + dashes, "="));
    if (dashes == 0 || arg[1] == '\0') {
      continue; /* an argument */
    }
    OPTIONS_REFUSE(dashes == 1 && strlen(name) >= 3 && options_find(verb, name, &found) == 1,
                   &state, "unknown option \"%s\": did you mean \"--%s\"?", arg, name);
    /* A value may look like an option. */
    i += dashes > 1 ? options_check_long(verb, &state, arg, name, i + 1 == argc)
                    : options_check_short(verb, &state, arg, i + 1 == argc);
  }
}

/* Without the sentence on mandatory arguments, which is the same below every help. */
static char *options_filter_help(int key, const char *text, void *input) {
  (void)input;
  return key == ARGP_KEY_HELP_DUP_ARGS_NOTE ? NULL : (char *)(uintptr_t)text;
}

void options_parse(struct command *command, int argc, char **argv) {
  const struct verb *verb = command->verb;
  struct argp_option rows[OPTIONS_MAX] = {{.doc = "Common options:", .group = 1 + GROUP_COMMON}};
  static const struct argp_option HELP_ROWS[] = {
      {.name = "help", .key = 'h', .doc = "show this help", .group = 1 + GROUP_COMMON},
      {.key = '?', .flags = OPTION_HIDDEN},
      {.name = "usage", .key = KEY_USAGE, .flags = OPTION_HIDDEN},
  };
  size_t row_count = 1;
  const struct verb_option *option;
  for (size_t i = 0; (option = options_at(verb, i)) != NULL; i++) {
    rows[row_count++] =
        (struct argp_option){.name = option->name,
                             .key = options_key(option, i),
                             .arg = option->argument,
                             .flags = (option->optional ? OPTION_ARG_OPTIONAL : 0) |
                                      (options_list(verb, option) ? 0 : OPTION_HIDDEN),
                             .doc = option->help,
                             .group = 1 + option->group};
    assert(row_count + COUNT_OF(HELP_ROWS) < OPTIONS_MAX);
  }
  memcpy(&rows[row_count], HELP_ROWS, sizeof HELP_ROWS);
  const char *doc = arena_format(&command->arena, "%s.%s", verb->summary,
                                 arena_around(&command->arena, "\v", verb->doc, ""));
  const struct argp argp = {.options = rows,
                            .parser = options_take,
                            .args_doc = verb->arguments,
                            .doc = doc,
                            .help_filter = options_filter_help};
  options_check_argv(command, argc, argv);
  if (argp_parse(&argp, argc, argv, ARGP_NO_HELP, NULL, command) != 0) {
    exit(EXIT_USAGE);
  }
}
