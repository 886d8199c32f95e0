/* cli.h - the command line: verbs, their options, and the frame that every verb runs in.
 *
 * A verb is one file, runner/cli/verb_NAME.c, with one struct verb, and one row of the list in
 * runner/cli/verbs.c. Its tables of options and arguments make parsing, --help, completion and the
 * manual page. The frame fills a struct command from the command line, runs the verb, reports its
 * error, frees what the command holds, and turns the status into an exit code. Data goes to stdout,
 * everything else to stderr (runner/console/console.h). SIGPIPE is ignored: a reader that goes away
 * ends a verb quietly. */
#pragma once

#include "runner/analysis/compare_runs.h"
#include "runner/console/console.h"
#include "runner/record/database.h"
#include "runner/record/query.h"
#include "runner/run/claim.h"
#include "runner/run/inputs.h"
#include "runner/supervise/probe.h"
#include "runner/table/json_shape.h"

#include <argp.h>

/* What a command line says, and what the verb opened on the way. Texts are borrowed from argv, NULL
 * = not given. Options of one verb alone are in its own struct; those of several are here. */
struct command {
  const struct verb *verb;
  void *options; /* verb->options_size bytes, zeroed: of what its options fill in */
  struct common_options common;
  const char *line;   /* the whole command, quoted for a shell */
  const char *argv;   /* its words, as JSON */
  const char **words; /* the arguments */
  size_t word_count;
  size_t choice;                  /* the first word, as an index of verb->words */
  struct inputs inputs;           /* run, copy, plan, validate */
  struct compare_request request; /* diff, check; its filter has --only and --where of every verb */
  struct plot_request plot;
  bool sums;
  const char *expect, *machine;

  /* Closed and freed by the frame; NULL = not opened. */
  struct arena arena;
  struct database *database;
  struct query *query;
  bool copy_noted; /* that an older file is read through a copy */
  struct results *results;
  struct machine *target;   /* machine to plan for */
  struct probe_child probe; /* that looked at it */
  bool gpus_missing;        /* it has GPUs that cannot be used */
  const char *loss;         /* the message about them; NULL = all can be used */
  struct table *table;

  int code; /* exit code, unless the verb fails with a worse one */
};

/* An option of a command line. */
struct option_use {
  struct command *command;
  const struct verb_option *option;
  void *field;     /* where its value goes */
  const char *arg; /* NULL = none was given */
  struct argp_state *state;
};
/* False: the argument is not what option->needs says. */
typedef bool option_take(const struct option_use *use);

/* A row of a table of options, which a zero row closes. */
struct verb_option {
  const char *name;
  const char *argument; /* as help shows it; NULL = none */
  const char *help;     /* NULL: the option is in no list */
  option_take *take;
  size_t field; /* offset in the verb's own struct or, if shared, in struct command, for take() */
  bool shared;
  /* "--NAME needs NEEDS, not 'ARG'"; NULL: a text that is not empty. Where take() looks for one of
   * names: "unknown NEEDS 'ARG'". */
  const char *needs;
  const char *const *names; /* NULL ends them */
  char letter;              /* of the short form; 0 = none */
  bool optional;            /* the argument may be left away */
  int group;                /* of --help: listed apart from those of other groups */
};

/* What the arguments of a verb are, for completion. */
enum argument_kind { ARGUMENTS_NONE, ARGUMENTS_SCENARIOS, ARGUMENTS_RUNS, ARGUMENTS_WORDS };

/* The parts of haul --help, in their order: X(id, heading). */
#define VERB_GROUP_LIST(X)                                                                         \
  X(VERBS_MEASURE, "Measure")                                                                      \
  X(VERBS_READ, "Read")                                                                            \
  X(VERBS_COMPARE, "Compare")                                                                      \
  X(VERBS_KEEP, "Keep")
enum verb_group {
#define VERB_GROUP_ID(id, heading) id,
  VERB_GROUP_LIST(VERB_GROUP_ID)
};

/* The columns of rows of its JSON: those of a saved query ("*": of any SQL), then those described;
 * either may be NULL. A row of NULLs ends them. */
struct verb_rows {
  json_describer *describe;
  const char *saved;
};

struct verb {
  const char *name;
  enum verb_group group;
  const char *arguments;             /* as in the usage line: "FILE..."; NULL = none */
  const char *summary;               /* one line for haul --help */
  const char *doc;                   /* more, for haul VERB --help; may be NULL */
  const struct verb_option *options; /* its own; may be NULL */
  size_t options_size;               /* of the struct that they fill in; 0 = of several verbs all */
  enum argument_kind argument_kind;
  size_t word_max;      /* most arguments that it takes; SIZE_MAX = any number */
  const char *missing;  /* "missing WHAT", the complaint if there is no argument; NULL: none */
  const char *too_many; /* what "too many arguments: 'WORD'" ends with; may be NULL */
  const char *const
      *words;              /* ARGUMENTS_WORDS: the first argument is one of these; NULL ends them */
  const char *hidden_word; /* one more, which scripts give: its choice is SIZE_MAX; NULL: none */
  const char *noun;        /* what one of words is; NULL: the verb looks at them itself */
  bool takes_runs;         /* names of runs are arguments, too: for completion */
  const char *runs_after;  /* of words, the one behind which they are; NULL: none */
  const char *no_format;   /* what "haul VERB has no option --format" ends with; may be NULL */
  const struct verb_option *format; /* its own --format; NULL = that of all verbs */
  /* What its JSON holds after "schema": these members, else "rows" of one of these kinds. Both
   * NULL: it prints none. */
  json_describer *json;
  const struct verb_rows *rows;
  /* Reports what does not go together with options_fail(), which ends the process. May be NULL. */
  void (*check)(struct command *command, struct argp_state *state);
  /* A status other than STATUS_OK is reported; command->code is the exit code otherwise. */
  enum status (*run)(struct command *command, struct error *err);
};

/* In the order of haul --help; closed by NULL. */
extern const struct verb *const VERBS[];
/* NULL = there is none. */
const struct verb *verb_find(const char *name);

struct row_sink;
/* What `haul list scenarios` lists. */
enum status verb_list_scenarios(const struct row_sink *sink, struct error *err) CHECK_RESULT;

/* The program: picks the verb. Returns the exit code. */
int cli_main(int argc, char **argv);

/* ---- what a verb opens; the frame closes it ---- */

/* "a,b" of the arguments a and b: one name of all runs that they name. */
const char *command_join_words(struct command *command);
/* Where the results database is. */
enum status command_path(struct command *command, const char **path,
                         struct error *err) CHECK_RESULT;
/* Open it as command->database; or, for reading with SQL, as command->query. */
enum status command_open_database(struct command *command, enum database_access access,
                                  struct error *err) CHECK_RESULT;
enum status command_open_query(struct command *command, struct error *err) CHECK_RESULT;
/* Fill command->target: the machine that --machine names, or else this one. A child process that
 * crashes or hangs (45 s) while it looks leaves a machine without GPUs whose cuda_state says so:
 * probe_describe_loss(). */
enum status command_get_machine(struct command *command, struct error *err) CHECK_RESULT;
/* How resources are claimed: by which database, and in which folder of locks. */
enum status command_claiming(struct command *command, struct claim_request *claiming,
                             struct error *err) CHECK_RESULT;
/* The runs of the database that were killed on this host, of which nobody wrote the end: they are
 * recorded as running, and nobody measures them. */
enum status command_find_killed(struct command *command, struct database *database,
                                struct run_list *killed, struct error *err) CHECK_RESULT;
/* Say which of them there are; run: of that one alone, 0 = of all. */
void command_say_killed(struct command *command, const struct run_list *killed, int64_t run);
/* Where rows go: stdout, in the format asked for. empty: as in runner/table/table.h. Once. */
const struct row_sink *command_rows(struct command *command, const char *empty);
/* Read the scenarios that the arguments name. False: mistakes were reported, command->code is set.
 */
bool command_read_scenarios(struct command *command);
