/* cli.h - what the verbs of the command line have in common: the table of verbs, the common
 * options, exit codes, and how they speak to people.
 *
 * A verb is one file with one struct verb; runner/cli/verbs.c lists them all. Its main gets argv
 * with "haul VERB" as argv[0] and returns an exit code. Data goes to stdout, all else to stderr;
 * SIGPIPE is ignored, and a reader that goes away ends a verb quietly. The environment is read here
 * (HAUL_DB, XDG_DATA_HOME, HOME, NO_COLOR, TERM) and nowhere below. */
#ifndef HAUL_RUNNER_CLI_CLI_H
#define HAUL_RUNNER_CLI_CLI_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "runner/render/rows.h"

#include <argp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

enum exit_code {
  EXIT_DONE = 0,
  EXIT_REGRESSED = 1,    /* check found what it was to fail on */
  EXIT_USAGE = 2,        /* the command line or a scenario is wrong */
  EXIT_NOT_MEASURED = 3, /* nothing could be measured or answered, or a case went wrong */
  EXIT_UNDECIDED = 4,    /* check --strict: a case could not be decided */
  EXIT_INTERRUPTED = 130,
};

/* What the words after a verb are, for completion. */
enum argument_kind { ARGUMENTS_NONE, ARGUMENTS_SCENARIOS, ARGUMENTS_WORDS };

struct verb {
  const char *name;
  const char *arguments;             /* as in the usage line: "FILE..."; NULL = none */
  const char *summary;               /* one line for haul --help */
  const char *doc;                   /* more, for haul VERB --help; may be NULL */
  const struct argp_option *options; /* its own, closed by a zero row */
  argp_parser_t parse;               /* of options and arguments; never sees the common options */
  enum argument_kind argument_kind;
  const char *const *words; /* ARGUMENTS_WORDS: what may follow, NULL-terminated */
  int (*main)(const struct verb *verb, int argc, char **argv);
};

/* In the order of haul --help; closed by a row without a name. */
extern const struct verb *const VERBS[];

/* The program: picks the verb. Returns the exit code. */
int cli_main(int argc, char **argv);

#define WHEN_LIST(X) X(WHEN_AUTO, "auto") X(WHEN_ALWAYS, "always") X(WHEN_NEVER, "never")
ENUM_NAMES_DECLARE(when, WHEN_LIST)

/* The options that every verb takes; the first member of each verb's own options. */
struct common_options {
  const char *db; /* as given; NULL = not given. database_path() has the rest */
  enum row_format format;
  bool format_given;
  enum when colour;
  bool quiet;         /* errors only */
  bool verbose;       /* more */
  bool junit_allowed; /* set before cli_parse(): --format junit sets junit */
  bool junit;
};

extern const struct argp_option COMMON_OPTIONS[];

/* Parse the command line of a verb. `options` begins with a struct common_options and is given to
 * verb->parse as state->input. Mistakes and --help end the process. */
void cli_parse(const struct verb *verb, int argc, char **argv, void *options);

/* --db, then HAUL_DB, then $XDG_DATA_HOME/haul/results.db, then ~/.local/share/haul/results.db. */
enum status database_path(const struct common_options *options, struct arena *arena,
                          const char **path, struct error *err) CHECK_RESULT;

/* Whether to write to that stream in colour, and how wide its terminal is (0 = no terminal). */
bool use_colour(const struct common_options *options, FILE *stream);
unsigned terminal_width(FILE *stream);
/* How rows are written to stdout: in the format asked for, as wide as its terminal, in colour or
 * not. */
struct rows_options rows_to_stdout(const struct common_options *options);
/* A sink that writes so; empty as in rows.h. */
struct rows *open_rows(const struct common_options *options, const char *empty);

/* "haul: error: ..." on stderr; control characters are escaped. */
void say_error(const struct common_options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void say_warning(const struct common_options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A remark on stderr; nothing under -q. */
void say_note(const struct common_options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Say the error and return the exit code that goes with its status. */
int fail(const struct common_options *options, const struct error *err);
/* The higher of two exit codes: 130 over 3 over 2 over 0. */
int worse(int a, int b);

/* SIGINT and SIGTERM count up to 2 from here on: 1 = end soon, 2 = end now. */
const volatile sig_atomic_t *watch_interrupts(void);

#endif
