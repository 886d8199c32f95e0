/* console.h - how haul speaks to the person at the terminal: the options that every verb takes,
 * messages on stderr, exit codes, colour, width, interrupts.
 *
 * Data goes to stdout, everything else to stderr. The environment is read here (HAUL_DB,
 * HAUL_EXPECT, XDG_DATA_HOME, XDG_CONFIG_HOME, HOME, NO_COLOR, TERM, COLUMNS) and nowhere below. */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "runner/render/plot/curves.h"
#include "runner/table/table.h"
#include "runner/table/test_report.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

/* X(id, code, what it means) */
#define EXIT_CODE_LIST(X)                                                                          \
  X(EXIT_DONE, 0, "done")                                                                          \
  X(EXIT_REGRESSED, 1,                                                                             \
    "check or merge found a reason to fail, or run health found an unhealthy\n"                    \
    "node")                                                                                        \
  X(EXIT_USAGE, 2,                                                                                 \
    "the command line or a scenario is wrong, or the database does not exist\n"                    \
    "or is some other file")                                                                       \
  X(EXIT_NOT_MEASURED, 3,                                                                          \
    "no case was measured or compared, a case was not ok, a GPU that is here\n"                    \
    "cannot be used, or time was up; skipped cases do not count; also: the\n"                      \
    "database is damaged or cannot be written, or its disk is full")                               \
  X(EXIT_UNDECIDED, 4,                                                                             \
    "check --strict: a case is undecided or provisional; with --expect: a case\n"                  \
    "is too noisy to tell, or a run is partial")                                                   \
  X(EXIT_INTERRUPTED, 130, "interrupted")

enum exit_code {
#define EXIT_CODE_ID(id, code, text) id = (code),
  EXIT_CODE_LIST(EXIT_CODE_ID)
};

/* For --help and the manual page; a row without a text closes it. */
struct exit_code_text {
  int code;
  const char *text;
};
extern const struct exit_code_text EXIT_CODE_TEXTS[];

#define WHEN_LIST(X) X(WHEN_AUTO, "auto") X(WHEN_ALWAYS, "always") X(WHEN_NEVER, "never")
ENUM_NAMES_DECLARE(when, WHEN_LIST)

/* The options that every verb takes; the first member of each verb's own options. */
struct common_options {
  const char *db; /* as given; NULL = not given. database_path() has the rest */
  enum output_format format;
  bool format_given;
  enum when colour;
  const char *verb;       /* which JSON of rows names; NULL = none */
  bool quiet;             /* errors only */
  bool verbose;           /* more */
  enum test_format tests; /* --format junit or ctrf, of haul check alone */
};

/* --db, then HAUL_DB, then $XDG_DATA_HOME/haul/results.db, then ~/.local/share/haul/results.db. */
enum status database_path(const struct common_options *options, struct arena *arena,
                          const char **path, struct error *err) CHECK_RESULT;

/* " --db FILE" as a shell takes it, for commands that a message names; "" = --db was not given. */
const char *console_db_option(const struct common_options *options, struct arena *arena);

/* Before a database is written: the folder of the default one is made with it, and that is said,
 * unless options is NULL. STATUS_USAGE: that of another is not there, as where its name is
 * misspelt. */
enum status database_check_folder(const struct common_options *options, const char *path,
                                  struct error *err) CHECK_RESULT;

/* The user's file of expectations: HAUL_EXPECT, then $XDG_CONFIG_HOME/haul/expect.toml, then
 * ~/.config/haul/expect.toml; NULL = there is no place for one. *named: by HAUL_EXPECT. */
const char *console_expect_path(struct arena *arena, bool *named);

/* Whether to write to that stream in colour, and how wide: COLUMNS, else as wide as its terminal (0
 * = neither: lines are as long as they need to be). */
bool use_colour(const struct common_options *options, FILE *stream);
unsigned terminal_width(FILE *stream);
/* How rows are written to stdout: in the format asked for, as wide as its terminal, in colour or
 * not. */
struct table_options table_to_stdout(const struct common_options *options);
/* A sink that writes so; empty as in runner/table/table.h. */
struct table *open_table(const struct common_options *options, const char *empty);

/* The option --plot. */
struct plot_request {
  bool wanted;
  bool scale_given;
  bool picture; /* --format svg */
  enum plot_scale scale;
};
/* Curves on stdout, as wide as the terminal allows; empty as in curves.h. */
struct curves *plot_open(const struct common_options *options, const struct plot_request *request,
                         const char *empty);

/* "haul: error: ..." on stderr, as wide as a terminal; control characters are escaped. Lines after
 * the first, such as commands to copy, stay whole. */
void say_error(const struct common_options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct diagnostics;
/* Of scenarios and expectations, on stderr as diagnostics_print() has them. */
void say_mistakes(const struct common_options *options, const struct diagnostics *diagnostics);
/* Nothing under -q. */
void say_warning(const struct common_options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Why nothing happens for a while, even with -q. */
void say_wait(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "haul: next: haul explain": a command on one line, however wide, so that it can be copied. */
void say_next(const struct common_options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void say_note(const struct common_options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* One line on stderr that the next one replaces, cut to the terminal; "" clears it. False: there is
 * no terminal, or -q was given. */
bool say_progress(const struct common_options *options, const char *text);
/* Say the error and return the exit code that goes with its status. */
int fail(const struct common_options *options, const struct error *err);
/* The more severe of two exit codes, which is the higher: 130 over 3 over 2 over 0. */
int worse(int a, int b);

/* All of stdin, in the arena. what: "SQL". Fails where reading fails, and with STATUS_INVALID where
 * there is more than that. */
enum status read_stdin(const char *what, size_t max_bytes, struct arena *arena, const char **text,
                       struct error *err) CHECK_RESULT;

/* SIGINT and SIGTERM count up to 2 from here on: 1 = end soon, 2 = end now. Another
 * one 5 s later ends the process. */
const volatile sig_atomic_t *watch_interrupts(void);
/* What to do to end now, for a message: the last signal may have come from a terminal or not. */
const char *interrupt_again_words(void);
