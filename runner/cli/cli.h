/* cli.h - the command line: the table of verbs, and how a verb's own options are parsed with those
 * that all verbs take.
 *
 * A verb is one file, runner/cli/verb_NAME.c, with one struct verb, and one row of the list in
 * runner/cli/verbs.c. Its main gets argv with "haul NAME" as argv[0] and returns an exit code. Data
 * goes to stdout, everything else to stderr (runner/console/console.h). SIGPIPE is ignored: a
 * reader that goes away ends a verb quietly. */
#ifndef HAUL_RUNNER_CLI_CLI_H
#define HAUL_RUNNER_CLI_CLI_H

#include "runner/console/console.h"

#include <argp.h>

/* What the arguments of a verb are, for completion. */
enum argument_kind { ARGUMENTS_NONE, ARGUMENTS_SCENARIOS, ARGUMENTS_WORDS };

struct verb {
  const char *name;
  const char *arguments;             /* as in the usage line: "FILE..."; NULL = none */
  const char *summary;               /* one line for haul --help */
  const char *doc;                   /* more, for haul VERB --help; may be NULL */
  const struct argp_option *options; /* its own, closed by a zero row; may be NULL */
  argp_parser_t parse;               /* of options and arguments; never sees the common options */
  enum argument_kind argument_kind;
  const char *const
      *words; /* ARGUMENTS_WORDS: the first argument is one of these; NULL ends them */
  int (*main)(const struct verb *verb, int argc, char **argv);
};

/* In the order of haul --help; closed by NULL. */
extern const struct verb *const VERBS[];

/* Exit codes and what they mean; closed by a row without a text. */
struct exit_code_text {
  int code;
  const char *text;
};
extern const struct exit_code_text EXIT_CODE_TEXTS[];

/* The program: picks the verb. Returns the exit code. */
int cli_main(int argc, char **argv);

/* Parse the command line of a verb. `options` begins with a struct common_options and is given to
 * verb->parse as state->input. Mistakes and --help end the process. */
void cli_parse(const struct verb *verb, int argc, char **argv, void *options);

#endif
