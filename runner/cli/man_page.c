#include "runner/cli/man_page.h"

#include "runner/cli/options.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

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

/* ---- roff ---- */

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

/* ---- sections ---- */

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

void man_page_print(FILE *stream) {
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
