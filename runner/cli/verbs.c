/* The table of verbs, haul --help, and picking the verb. */
#include "runner/cli/cli.h"

#include "runner/record/database.h"
#include "schema/scenario/nearest.h"

#include <stdlib.h>
#include <string.h>

/* In the order of haul --help; runner/cli/verb_NAME.c defines each. */
#define VERB_TABLE(X)                                                                              \
  X(VERB_RUN)                                                                                      \
  X(VERB_PLAN)                                                                                     \
  X(VERB_VALIDATE)                                                                                 \
  X(VERB_SHOW)                                                                                     \
  X(VERB_ENV)                                                                                      \
  X(VERB_LIST)                                                                                     \
  X(VERB_QUERY)                                                                                    \
  X(VERB_DIFF)                                                                                     \
  X(VERB_CHECK)                                                                                    \
  X(VERB_HISTORY)                                                                                  \
  X(VERB_OUTLIERS)                                                                                 \
  X(VERB_BASELINE)                                                                                 \
  X(VERB_IDENTIFY)                                                                                 \
  X(VERB_MERGE)                                                                                    \
  X(VERB_IMPORT)                                                                                   \
  X(VERB_EXPORT)                                                                                   \
  X(VERB_REPORT)                                                                                   \
  X(VERB_SCHEMA)                                                                                   \
  X(VERB_COMPLETION)

#define VERB_DECLARE(name) extern const struct verb name;
VERB_TABLE(VERB_DECLARE)

#define VERB_POINTER(name) &name,
const struct verb *const VERBS[] = {VERB_TABLE(VERB_POINTER) NULL};

const struct exit_code_text EXIT_CODE_TEXTS[] = {
    {EXIT_DONE, "done"},
    {EXIT_REGRESSED, "check found a verdict that it was told to fail on"},
    {EXIT_USAGE, "the command line or a scenario is wrong"},
    {EXIT_NOT_MEASURED,
     "nothing could be measured or compared, or a case failed, crashed, hung or was corrupt"},
    {EXIT_UNDECIDED, "check --strict: a case is undecided"},
    {EXIT_INTERRUPTED, "interrupted"},
    {0, NULL},
};

static const struct verb *cli_find_verb(const char *name) {
  for (const struct verb *const *verb = VERBS; *verb != NULL; verb++) {
    if (strcmp((*verb)->name, name) == 0) {
      return *verb;
    }
  }
  return NULL;
}

static void cli_print_help(FILE *stream) {
  fprintf(stream, "Usage: haul VERB [OPTION...] [ARGUMENT...]\n"
                  "Measures how data moves inside a GPU machine.\n\n");
  for (const struct verb *const *verb = VERBS; *verb != NULL; verb++) {
    char head[64];
    snprintf(head, sizeof head, "%s %s", (*verb)->name,
             (*verb)->arguments != NULL ? (*verb)->arguments : "");
    fprintf(stream, "  %-37s %s\n", head, (*verb)->summary);
  }
  fprintf(stream, "\n"
                  "  haul VERB --help                      options of a verb\n"
                  "  haul --version                        versions of haul and of its parts\n"
                  "\n"
                  "To begin: haul run quick\n"
                  "\n"
                  "Exit codes:\n");
  for (const struct exit_code_text *code = EXIT_CODE_TEXTS; code->text != NULL; code++) {
    fprintf(stream, "  %-3d  %s\n", code->code, code->text);
  }
}

static void cli_print_version(FILE *stream) {
  fprintf(stream, "haul %s\n%s\nSQLite %s\n", HAUL_VERSION,
#ifdef HAUL_CUDA_VERSION
          "CUDA Toolkit " HAUL_CUDA_VERSION,
#else
          "without CUDA",
#endif
          sqlite3_libversion());
}

static int cli_reject_verb(const char *name) {
  const struct common_options plain = {0};
  if (name[0] == '-') {
    say_error(&plain, "unknown option '%s': options of a verb follow it; see haul --help", name);
    return EXIT_USAGE;
  }
  struct nearest nearest = nearest_start(name);
  for (const struct verb *const *verb = VERBS; *verb != NULL; verb++) {
    nearest_offer(&nearest, (*verb)->name);
  }
  if (nearest.word != NULL) {
    say_error(&plain, "unknown verb '%s': did you mean '%s'? See haul --help", name, nearest.word);
  } else {
    say_error(&plain, "unknown verb '%s'; see haul --help", name);
  }
  return EXIT_USAGE;
}

static int cli_run_verb(const struct verb *verb, int argc, char **argv) {
  char name[64];
  snprintf(name, sizeof name, "haul %s", verb->name);
  argv[0] = name; /* what usage lines and mistakes begin with */
  return verb->main(verb, argc, argv);
}

int cli_main(int argc, char **argv) {
  if (argc < 2) {
    cli_print_help(stderr);
    return EXIT_USAGE;
  }
  const char *first = argv[1];
  if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
    cli_print_version(stdout);
    return EXIT_DONE;
  }
  bool help_word = strcmp(first, "help") == 0;
  if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || (help_word && argc == 2)) {
    cli_print_help(stdout);
    return EXIT_DONE;
  }
  const struct verb *verb = cli_find_verb(help_word ? argv[2] : first);
  if (verb == NULL) {
    return cli_reject_verb(help_word ? argv[2] : first);
  }
  if (help_word) {
    char help[] = "--help";
    char *help_argv[] = {argv[1], help, NULL};
    return cli_run_verb(verb, 2, help_argv);
  }
  return cli_run_verb(verb, argc - 1, argv + 1);
}
