/* options.h - options that several verbs share, as rows for their tables, and how arguments of
 * options are taken.
 *
 * OPTION_...(T, member) are the last parts of a row: what takes the argument, and into which member
 * of the verb's own struct T or of struct command. */
#pragma once

#include "runner/cli/cli.h"

#define OPTION_AT(how, T, member)                                                                  \
  .take = (how), .field = offsetof(T, member),                                                     \
  .shared = _Generic((T *)NULL, struct command *                                                   \
                     : true, default                                                               \
                     : false)
/* A bool; a text; a text that is not empty; nanoseconds; a share of one; one of an enumeration's
 * names. */
#define OPTION_FLAG(T, member)      OPTION_AT(option_take_flag, T, member)
#define OPTION_TEXT(T, member)      OPTION_AT(option_take_text, T, member)
#define OPTION_NON_EMPTY(T, member) OPTION_AT(option_take_non_empty, T, member)
#define OPTION_DURATION(T, member, example)                                                        \
  OPTION_AT(option_take_duration, T, member), .needs = "a duration such as " example
#define OPTION_PERCENT(T, member)                                                                  \
  OPTION_AT(option_take_percent, T, member),                                                       \
      .needs = "a percentage above 0 and below 100, such as 1"
#define OPTION_NAME(T, member, noun, texts)                                                        \
  OPTION_AT(option_take_name, T, member), .needs = (noun), .names = (texts)
option_take option_take_flag, option_take_text, option_take_non_empty, option_take_name;
option_take option_take_duration, option_take_percent;
option_take option_take_only, option_take_set, option_take_processes, option_take_where;
option_take option_take_pause, option_take_plot;

/* Every verb takes these. */
extern const struct verb_option COMMON_OPTIONS[];
/* --format of verbs that draw, or write reports of tests, too. */
extern const struct verb_option FORMAT_OR_SVG, FORMAT_OR_TESTS;

/* Which scenarios, and what to change in them: run, plan, validate. */
#define INPUT_OPTION_SET                                                                           \
  {                                                                                                \
    "set", "KEY=VALUE", "change a key of the scenario: measure.max_time=20ms, BLOCK.size=1GiB",    \
        option_take_set, .needs = "KEY=VALUE, for example --set measure.max_time=20ms"             \
  }
#define INPUT_OPTION_ONLY ONLY_OPTION("", "name", 0)
/* what: that the help begins with; list: the group. */
#define ONLY_OPTION(what, of, list)                                                                \
  {                                                                                                \
    "only", "GLOB",                                                                                \
        what "only cases or blocks with such a " of                                                \
             "; several globs: repeat it, or put commas between them; - reads them from standard " \
             "input",                                                                              \
        .take = option_take_only, .group = (list)                                                  \
  }
#define INPUT_OPTION_PROCESSES                                                                     \
  {                                                                                                \
    "processes", "N", "measure all cases N times, each time in a new worker process",              \
        option_take_processes, .needs = "a whole number from 1 to 1000"                            \
  }

#define INPUT_OPTION_PAUSE                                                                         \
  {                                                                                                \
    "pause", "DURATION", "time between two processes, for example 10min", option_take_pause,       \
        .needs = "a duration such as 10min"                                                        \
  }

#define INPUT_MISSING "argument: SCENARIO; name a file, a folder or a shipped scenario"

/* What results are compared with: run, report, show; check has its own. */
#define EXPECT_OPTION                                                                              \
  {                                                                                                \
    "expect", "FILE",                                                                              \
        "your own expectations, which come before the shipped ones (default: HAUL_EXPECT, then "   \
        "~/.config/haul/expect.toml); haul expect --help describes the file",                      \
        OPTION_NON_EMPTY(struct command, expect)                                                   \
  }

/* Which runs; what: that the help begins with. */
#define WHERE_OPTION WHERE_OPTION_OF("")
#define WHERE_OPTION_OF(what)                                                                      \
  {                                                                                                \
    "where", "FACT=VALUE",                                                                         \
        what                                                                                       \
        "only runs with that fact of their environment, or that tag, scenario, haul_version or "   \
        "origin; VALUE is a glob, or several with commas between them; may be repeated, and - "    \
        "reads them from standard input",                                                          \
        option_take_where, .needs = "FACT=VALUE, for example --where host_name=node7", .group = 1  \
  }

/* Which runs and cases: diff, check, history, outliers, export. */
#define FILTER_OPTIONS          FILTER_OPTIONS_OF("")
#define FILTER_OPTIONS_OF(what) ONLY_OPTION(what, "name or case_key", 1), WHERE_OPTION_OF(what)

/* Two sides: diff, check. */
#define COMPARE_OPTIONS                                                                            \
  {"by", "FACT",                                                                                   \
   "compare all runs by a fact, for example driver_version; of two values, A has the lower "       \
   "version "                                                                                      \
   "or number, else the one that was measured first",                                              \
   OPTION_TEXT(struct command, request.by)},                                                       \
      {"from", "VALUE",                                                                            \
       "with --by: the value of the fact on side A, or the first parts of a version: 580",         \
       OPTION_TEXT(struct command, request.from)},                                                 \
      {"to", "VALUE", "with --by: the value of the fact on side B",                                \
       OPTION_TEXT(struct command, request.to)},                                                   \
      {"delta", "PERCENT",                                                                         \
       "threshold, the smallest change that matters (default: 1 for bandwidth from 1 MiB on, "     \
       "else 3)",                                                                                  \
       OPTION_PERCENT(struct command, request.compare.margin)},                                    \
      {"method", "METHOD",                                                                         \
       "statistical test: moderated (t test with moderated variances, the default) or rank",       \
       OPTION_NAME(struct command, request.compare.diff.method, "method", diff_method_names)},     \
  {                                                                                                \
    "any-hardware", NULL,                                                                          \
        "compare cases even when they were measured on different GPUs and hosts",                  \
        OPTION_FLAG(struct command, request.compare.any_hardware)                                  \
  }
#define COMPARE_TOO_MANY "; two sides are compared, and a comma joins several runs on one side"
/* Their check: what was not given right; names the sides. */
void options_check_sides(struct command *command, struct argp_state *state);

/* Sums as nvbandwidth has them: run, report, show. */
#define SUM_OPTION                                                                                 \
  {                                                                                                \
    "sum", NULL, "below each matrix of rates, the sum of its cells, as nvbandwidth prints it",     \
        OPTION_FLAG(struct command, sums)                                                          \
  }
/* Its check where rows may be asked for: rejects a --format without matrices. */
void options_check_sums(const struct command *command, struct argp_state *state);

/* Curves instead of, or below, a table: run, query. */
#define PLOT_OPTION                                                                                \
  {                                                                                                \
    "plot", "SCALE",                                                                               \
        "draw sweeps as curves: log (both axes, the default), semilog (x alone) or linear",        \
        OPTION_AT(option_take_plot, struct command, plot.scale),                                   \
        .needs = "scale", .names = plot_scale_names, .optional = true                              \
  }
/* Its check: rejects a --format that a plot cannot be in. */
void options_check_plot(const struct command *command, struct argp_state *state);

/* Refuses a tag that no selector could name; NULL is none. */
void options_check_tag(const char *tag, const struct argp_state *state);
/* A mistake on the command line: says it, and which help there is, and ends the process. */
void options_fail(const struct argp_state *state, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same where that holds. */
#define OPTIONS_REFUSE(condition, ...) ((condition) ? options_fail(__VA_ARGS__) : (void)0)
/* "unknown WHAT "ARG" (did you mean "NAME"?): one of A, B, C". names ends with NULL. */
void options_reject_name(struct argp_state *state, const char *what, const char *arg,
                         const char *const *names);
/* NAME=VALUE in its two parts, the name in the arena; false: it is not. */
bool options_split(struct arena *arena, const char *arg, const char **name, const char **value);

/* An option of the verb: its own, then the common ones; NULL = there are not so many. */
const struct verb_option *options_at(const struct verb *verb, size_t i);
/* Whether help names it: those of output formats are not of use to a verb that prints no rows. */
bool options_list(const struct verb *verb, const struct verb_option *option);
/* Fill the command from argv. Mistakes and --help end the process. */
void options_parse(struct command *command, int argc, char **argv);
