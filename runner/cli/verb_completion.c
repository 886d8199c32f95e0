/* haul completion bash|zsh|fish|man: a completion script or the manual page. The scripts ask for
 * what may stand at the cursor: haul completion offer -- WORD..., which knows the tables of verbs
 * and options, scenario keys, shipped scenarios, saved queries, and what is in the database. */
#include "engine/base/embed.h"
#include "runner/cli/options.h"
#include "runner/record/manage.h"
#include "runner/record/saved.h"
#include "scenarios/scenarios.h"
#include "schema/scenario/reference.h"

#include <ctype.h>
#include <glob.h>
#include <string.h>

#define COMPLETION_OUTPUT_LIST(X)                                                                  \
  X(OUTPUT_BASH, "bash")                                                                           \
  X(OUTPUT_ZSH, "zsh")                                                                             \
  X(OUTPUT_FISH, "fish")                                                                           \
  X(OUTPUT_MAN, "man")
ENUM_NAMES_DECLARE(completion_output, COMPLETION_OUTPUT_LIST)
ENUM_NAMES_DEFINE(completion_output, COMPLETION_OUTPUT_LIST)

/* In the order of the list. A script asks with the words up to the cursor, and gets lines
 * "WORD<tab>DESCRIPTION". Where there are none, files are offered. bash splits words at : and =,
 * and replaces only what stands behind the last of them. */
extern const struct embedded_file completion_scripts[];

/* ---- what is offered ---- */

/* The words at the cursor. */
struct offering {
  struct command *command;
  const char *prefix;  /* of what is offered: "--tag=", or "" */
  const char *current; /* the word to complete, after the prefix */
};

/* "WORD" or "WORD<tab>DESCRIPTION" if it begins as the word at the cursor does. end: "=" or "". */
static void completion_offer(const struct offering *offering, const char *word, const char *end,
                             const char *description) {
  if (strncmp(word, offering->current, strlen(offering->current)) == 0) {
    printf("%s%s%s%s%s\n", offering->prefix, word, end, description != NULL ? "\t" : "",
           description != NULL ? description : "");
  }
}

static void completion_offer_list(const struct offering *offering, const char *const *words) {
  for (; *words != NULL; words++) {
    completion_offer(offering, *words, "", NULL);
  }
}

static void completion_offer_key(void *offering, const struct reference_key *key) {
  completion_offer(offering, key->key, "=", NULL);
}

static void completion_offer_saved_queries(const struct offering *offering) {
  for (size_t i = 0; i < saved_query_count(); i++) {
    struct saved_query query;
    saved_query_at(i, &offering->command->arena, &query);
    completion_offer(offering, query.name, "", NULL);
  }
}

/* Words of the database that begin with `lead`, without it; what a shell could take for more than
 * a word is left out. */
static void completion_offer_safe(const struct offering *offering, const char *const *words,
                                  const char *lead, const char *end) {
  static const char SAFE[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,%+@";
  const size_t length = strlen(lead);
  for (; *words != NULL; words++) {
    if (strncmp(*words, lead, length) == 0 && strspn(*words, SAFE) == strlen(*words)) {
      completion_offer(offering, *words + length, end, NULL);
    }
  }
}

/* lead: "" for every name of runs, "tag:", "baseline:". */
static enum status completion_offer_runs(const struct offering *offering, const char *lead,
                                         struct error *err) {
  struct command *command = offering->command;
  const char *const *words = NULL;
  RETURN_ON_ERROR(command_open_database(command, DATABASE_READ, err));
  RETURN_ON_ERROR(run_words_read(command->database, &command->arena, &words, err));
  completion_offer_safe(offering, words, lead, "");
  return STATUS_OK;
}

static enum status completion_offer_facts(const struct offering *offering, const char *end,
                                          struct error *err) {
  struct command *command = offering->command;
  RETURN_ON_ERROR(command_open_database(command, DATABASE_READ, err));
  command->results = results_new();
  RETURN_ON_ERROR(results_add_all_runs(command->results, command->database, err));
  completion_offer_safe(offering, results_fact_names(command->results), "", end);
  return STATUS_OK;
}

/* What follows an option; nothing where a file or any word may. */
static enum status completion_offer_values(const struct offering *offering,
                                           const struct verb_option *option, struct error *err) {
  static const struct {
    const char *option, *lead;
  } RUNS[] = {
      {"resume", ""}, {"run", ""}, {"against", ""}, {"baseline", "baseline:"}, {"tag", "tag:"}};
  for (size_t i = 0; i < COUNT_OF(RUNS); i++) {
    if (strcmp(option->name, RUNS[i].option) == 0) {
      return completion_offer_runs(offering, RUNS[i].lead, err);
    }
  }
  if (strcmp(option->name, "where") == 0 || strcmp(option->name, "by") == 0) {
    return completion_offer_facts(offering, option->name[0] == 'w' ? "=" : "", err);
  }
  if (option->names != NULL) {
    completion_offer_list(offering, option->names);
  } else if (strcmp(option->name, "saved") == 0) {
    completion_offer_saved_queries(offering);
  } else if (strcmp(option->name, "set") == 0) {
    struct offering keys = *offering;
    reference_keys(completion_offer_key, &keys);
  }
  return STATUS_OK;
}

static void completion_offer_toml(const struct offering *offering) {
  glob_t found = {0};
  if (glob(arena_format(&offering->command->arena, "%s*.toml", offering->current), 0, NULL,
           &found) == 0) {
    completion_offer_list(offering, (const char *const *)found.gl_pathv);
  }
  globfree(&found);
}

/* words: those of the verb, before the cursor. */
static enum status completion_offer_arguments(const struct offering *offering,
                                              const struct verb *verb, const char *const *words,
                                              size_t count, struct error *err) {
  bool runs = verb->takes_runs || verb->argument_kind == ARGUMENTS_RUNS;
  bool first = true; /* the first argument decides on the others */
  for (size_t i = 0; i < count && verb->words != NULL; i++) {
    for (const char *const *word = verb->words; *word != NULL; word++) {
      first = first && strcmp(words[i], *word) != 0;
    }
    runs = runs || (verb->runs_after != NULL && strcmp(words[i], verb->runs_after) == 0);
  }
  if (verb->words != NULL && first) {
    completion_offer_list(offering, verb->words);
  }
  for (size_t i = 0; verb->argument_kind == ARGUMENTS_SCENARIOS && i < scenarios_count(); i++) {
    const struct embedded_file *file = scenarios_at(i);
    if (scenarios_runnable(file)) {
      completion_offer(offering, input_shipped_name(&offering->command->arena, file), "", NULL);
    }
  }
  return runs ? completion_offer_runs(offering, "", err) : STATUS_OK;
}

static const struct verb_option *completion_find_option(const struct verb *verb, const char *word,
                                                        size_t length) {
  const struct verb_option *option = NULL;
  for (size_t i = 0; (option = options_at(verb, i)) != NULL; i++) {
    if (strlen(option->name) == length && strncmp(option->name, word, length) == 0) {
      break;
    }
  }
  return option;
}

/* words: those behind "haul", of which the cursor is in the last. */
static enum status completion_offer_at(struct command *command, const char *const *words,
                                       size_t count, struct error *err) {
  struct offering offering = {command, "", words[count - 1]};
  const struct verb *verb = NULL;
  for (const struct verb *const *at = VERBS; *at != NULL; at++) {
    if (count == 1) {
      completion_offer(&offering, (*at)->name, "", (*at)->summary);
    }
    verb = strcmp((*at)->name, words[0]) == 0 ? *at : verb;
  }
  if (count == 1) {
    completion_offer_list(&offering, (const char *const[]){"help", "--help", "--version", NULL});
    return STATUS_OK;
  }
  if (verb == NULL) {
    return STATUS_OK;
  }
  for (size_t i = 1; i + 1 < count; i++) {
    command->common.db = strcmp(words[i], "--db") == 0        ? words[i + 1]
                         : strncmp(words[i], "--db=", 5) == 0 ? words[i] + 5
                                                              : command->common.db;
  }
  const char *equal = strchr(offering.current, '=');
  const struct verb_option *option = NULL;
  if (strncmp(offering.current, "--", 2) == 0 && equal != NULL) {
    option =
        completion_find_option(verb, offering.current + 2, (size_t)(equal - offering.current) - 2);
    offering.prefix =
        arena_strndup(&command->arena, offering.current, (size_t)(equal - offering.current) + 1);
    offering.current = equal + 1;
    return option != NULL ? completion_offer_values(&offering, option, err) : STATUS_OK;
  }
  const char *before = words[count - 2];
  if (strncmp(before, "--", 2) == 0) {
    option = completion_find_option(verb, before + 2, strlen(before) - 2);
  }
  if (option != NULL && option->argument != NULL && !option->optional) {
    return completion_offer_values(&offering, option, err);
  }
  if (offering.current[0] == '-') {
    for (size_t i = 0; (option = options_at(verb, i)) != NULL; i++) {
      if (options_list(verb, option)) {
        completion_offer(&offering, arena_format(&command->arena, "--%s", option->name), "",
                         option->help);
      }
    }
    completion_offer(&offering, "--help", "", "show this help");
    return STATUS_OK;
  }
  if (option != NULL && option->argument != NULL && strcmp(option->argument, "FILE") == 0) {
    completion_offer_toml(&offering); /* or what the verb takes */
  }
  return completion_offer_arguments(&offering, verb, words + 1, count - 2, err);
}

/* ---- the manual page ---- */

/* Columns of a source line, escapes apart; roff fills the text anew. */
enum { LINE_MAX_COLUMNS = 72 };

struct man_entry {
  const char *head, *text;
};

static const struct man_entry ENVIRONMENT[] = {
    {"HAUL_DB", "the results database, if --db is not given"},
    {"HAUL_EXPECT", "your own expectations, if --expect is not given (default: "
                    "~/.config/haul/expect.toml); haul expect --help"},
    {"HAUL_LOCKS", "the folder for locks of GPUs, the host and runs (default: /run/lock/haul, else "
                   "/dev/shm/haul or "
                   "/tmp/haul-locks): all users who measure on a host must share it"},
    {"XDG_DATA_HOME", "the user's data folder (default: $HOME/.local/share)"},
    {"COLUMNS", "how wide tables and texts are (default: as the terminal; in a file or pipe, rows "
                "are as long as they need to be, and plots 80 columns wide)"},
    {"NO_COLOR", "set and not empty: no colour unless --color=always is given"},
    {"TERM", "dumb: no colour unless --color=always is given"},
};

static const struct man_entry FILES[] = {
    {"$XDG_DATA_HOME/haul/results.db",
     "the results database, if neither --db nor HAUL_DB is given: an SQLite file with a row for "
     "every trial. haul schema results describes its tables and views."},
    {"*.toml", "scenarios. haul schema scenario prints their JSON Schema, and haul show NAME a "
               "shipped one."},
};

static const struct man_entry EXAMPLES[] = {
    {"haul run quick", "Measure a little of everything that this machine has."},
    {"haul plan nvbandwidth",
     "Show what a scenario would measure here, what it would skip, and why."},
    {"haul show latest", "Show the results of the latest run again."},
    {"haul run nvbandwidth --processes 5 --tag before",
     "Measure in five processes, and name the run for later."},
    {"haul diff tag:before tag:after", "Show what changed between two tagged runs."},
    {"haul diff --by driver_version --from 570 --to 580", "Compare all runs under two drivers."},
    {"haul check --expect", "Compare the latest run with what such a machine should reach."},
    {"haul explain", "Say what makes the latest run slower than it could be."},
    {"haul baseline set good latest && haul check baseline:good",
     "Name the latest run, and later fail if a new one is worse."},
    {"haul query \"select * from v_driver\"", "Ask the database with SQL."},
    {"haul merge all.db node*.db && haul outliers --all --db all.db",
     "Find what is slow in a cluster."},
};

/* Text as it is: no character of it is a request or an escape of roff. */
static void man_put(FILE *stream, const char *text, size_t length) {
  static const char *const ESCAPES[UCHAR_MAX + 1] = {
      ['\\'] = "\\e",  ['-'] = "\\-",   ['\''] = "\\(aq", ['"'] = "\\(dq",
      ['^'] = "\\(ha", ['~'] = "\\(ti", ['`'] = "\\(ga"};
  for (size_t i = 0; i < length; i++) {
    const char *escape = ESCAPES[(unsigned char)text[i]];
    fputs(escape != NULL ? escape : (const char[]){text[i], '\0'}, stream);
  }
}

static void man_put_text(FILE *stream, const char *text) {
  man_put(stream, text, strlen(text));
}

static bool man_ends_sentence(const char *word, size_t length) {
  return length > 1 && word[length - 1] == '.';
}

/* Words of a paragraph on lines of the source; a sentence begins a line, as mandoc(1) asks for. */
static void man_put_words(FILE *stream, const char *text, size_t length) {
  const char *end = text + length;
  size_t column = 0;
  while (text < end) {
    const size_t blanks = strspn(text, " ");
    text += blanks;
    const char *blank = memchr(text, ' ', (size_t)(end - text));
    const size_t word = (size_t)((blank != NULL ? blank : end) - text);
    if (word == 0) {
      break;
    }
    if (column > 0) {
      const bool breaks = column + 1 + word > LINE_MAX_COLUMNS;
      fputc(breaks ? '\n' : ' ', stream);
      column = breaks ? 0 : column + 1;
    }
    if (column == 0 && text[0] == '.') {
      fputs("\\&", stream);
    }
    man_put(stream, text, word);
    column += word;
    if (man_ends_sentence(text, word) && text + word < end) {
      fputc('\n', stream);
      column = 0;
    }
    text += word;
  }
  if (column > 0) {
    fputc('\n', stream);
  }
}

/* The doc of a verb: paragraphs, and lines that begin with a blank, which stay as they are. */
static void man_put_doc(FILE *stream, const char *doc) {
  const char *between = "";
  bool verbatim = false;
  for (const char *line = doc; *line != '\0';) {
    const size_t length = strcspn(line, "\n");
    if ((line[0] == ' ') != verbatim) {
      verbatim = !verbatim;
      between = verbatim ? ".RS 2\n.nf\n" : ".fi\n.RE\n";
      fputs(between, stream);
    } else if (!verbatim && length > 0) {
      fputs(between, stream);
    }
    between = length > 0 ? ".br\n" : ".PP\n";
    if (verbatim) {
      const size_t blanks = strspn(line, " ");
      man_put(stream, line + blanks, length - blanks);
      fputc('\n', stream);
    } else {
      man_put_words(stream, line, length);
    }
    line += length + (line[length] == '\n');
  }
  if (verbatim) {
    fputs(".fi\n.RE\n", stream);
  }
}

static void man_put_entries(FILE *stream, const struct man_entry *entries, size_t count) {
  for (size_t i = 0; i < count; i++) {
    fputs(".TP\n.B ", stream);
    man_put_text(stream, entries[i].head);
    fputc('\n', stream);
    man_put_words(stream, entries[i].text, strlen(entries[i].text));
  }
}

static void man_put_option(FILE *stream, const struct verb_option *option) {
  fputs(".TP\n", stream);
  if (option->letter != 0) {
    fprintf(stream, "\\fB\\-%c\\fR, ", option->letter);
  }
  fputs("\\fB\\-\\-", stream);
  man_put_text(stream, option->name);
  fputs("\\fR", stream);
  if (option->argument != NULL) {
    fputs(option->optional ? "[=\\fI" : "=\\fI", stream);
    man_put_text(stream, option->argument);
    fputs(option->optional ? "\\fR]" : "\\fR", stream);
  }
  fputc('\n', stream);
  man_put_words(stream, option->help, strlen(option->help));
}

static void man_put_options(FILE *stream, const struct verb_option *option) {
  for (; option != NULL && option->name != NULL; option++) {
    if (option->help != NULL) {
      man_put_option(stream, option);
    }
  }
}

static void man_put_verb(FILE *stream, const struct verb *verb) {
  fputs(".SS haul ", stream);
  man_put_text(stream, verb->name);
  if (verb->arguments != NULL) {
    fputc(' ', stream);
    man_put_text(stream, verb->arguments);
  }
  fputc('\n', stream);
  fputc(toupper(verb->summary[0]), stream);
  man_put_text(stream, verb->summary + 1);
  fputs(".\n", stream);
  if (verb->doc != NULL) {
    fputs(".PP\n", stream);
    man_put_doc(stream, verb->doc);
  }
  man_put_options(stream, verb->options);
  if (verb->format != NULL) {
    man_put_option(stream, verb->format);
  }
}

static void man_page_print(FILE *stream) {
  fputs(".TH HAUL 1 \"\" \"haul " HAUL_VERSION "\" \"User Commands\"\n"
        ".SH NAME\n"
        "haul \\- measure how data moves inside a GPU machine\n"
        ".SH SYNOPSIS\n"
        ".B haul\n"
        ".I VERB\n"
        "[\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n"
        ".SH DESCRIPTION\n",
        stream);
  man_put_doc(
      stream,
      "haul measures how fast data moves between host memory and GPUs, between GPUs, and within "
      "them. A scenario in TOML says what to measure. haul measures each case in a worker process "
      "and records every trial in an SQLite database. Other verbs query, compare and report "
      "the results.\n\n"
      "Name runs by run:ID (the beginning of an id), tag:NAME, driver:VERSION, "
      "baseline:NAME, latest or previous. Results go to standard output. Progress, "
      "warnings and errors go to standard error.");
  fputs(".SH VERBS\n", stream);
  for (const struct verb *const *verb = VERBS; *verb != NULL; verb++) {
    man_put_verb(stream, *verb);
  }
  fputs(".SH COMMON OPTIONS\nEvery verb takes these.\n", stream);
  man_put_options(stream, COMMON_OPTIONS);
  fputs(".SH EXIT STATUS\n", stream);
  for (const struct exit_code_text *code = EXIT_CODE_TEXTS; code->text != NULL; code++) {
    fprintf(stream, ".TP\n.B %d\n", code->code);
    man_put_words(stream, code->text, strlen(code->text));
  }
  fputs(".SH ENVIRONMENT\n", stream);
  man_put_entries(stream, ENVIRONMENT, COUNT_OF(ENVIRONMENT));
  fputs(".SH FILES\n", stream);
  man_put_entries(stream, FILES, COUNT_OF(FILES));
  fputs(".SH EXAMPLES\n", stream);
  man_put_entries(stream, EXAMPLES, COUNT_OF(EXAMPLES));
  fputs(".SH SEE ALSO\n"
        ".BR nvidia\\-smi (1),\n"
        ".BR numactl (8),\n"
        ".BR sqlite3 (1)\n",
        stream);
}

/* ---- the verb ---- */

static void verb_completion_check(struct command *command, struct argp_state *state) {
  OPTIONS_REFUSE(command->choice != SIZE_MAX && command->word_count > 1, state,
                 "too many arguments: \"%s\"", command->words[1]);
}

static enum status verb_completion_run(struct command *command, struct error *err) {
  if (command->choice == OUTPUT_MAN) {
    man_page_print(stdout);
  } else if (command->choice != SIZE_MAX) {
    (void)fputs((const char *)completion_scripts[command->choice].data, stdout);
  } else if (command->word_count > 1) {
    return completion_offer_at(command, command->words + 1, command->word_count - 1, err);
  }
  return STATUS_OK;
}

const struct verb VERB_COMPLETION = {
    .name = "completion",
    .group = VERBS_READ,
    .arguments = "bash|zsh|fish|man",
    .summary = "print a completion script for a shell, or the manual page",
    .doc = "bash: haul completion bash > ~/.local/share/bash-completion/completions/haul\n"
           "zsh: haul completion zsh > FOLDER/_haul, for a FOLDER of $fpath.\n"
           "fish: haul completion fish > ~/.config/fish/completions/haul.fish\n"
           "man: haul completion man > haul.1; man -l haul.1.",
    .argument_kind = ARGUMENTS_WORDS,
    .words = completion_output_names,
    .hidden_word = "offer",
    .noun = "output",
    .word_max = SIZE_MAX,
    .missing = "argument: bash, zsh, fish or man",
    .check = verb_completion_check,
    .run = verb_completion_run,
};
