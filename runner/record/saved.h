/* saved.h - the saved queries: schema/results/queries, embedded.
 *
 * Each file opens with a comment that says what it is; saved_query_describe() reads it:
 *
 *   -- Title, one line.
 *   --
 *   -- What it shows, in one or more lines.
 *   --
 *   -- columns: v_run_case,v_run
 *   -- column gbps_low, gbps_high: what these columns are
 *
 *   -- about: results
 *
 *   -- of: energy,comm-scope-*
 *
 *   -- plot: x=size_bytes y=gbps low=low high=high curve=method by=gpu
 *
 *   -- narrow: remark,host,gpu
 *
 *   -- json: notes
 *
 *   -- empty: no case was measured by two processes
 *
 *   -- :run (run, default latest) the run to show
 *   -- :block (text, default %) LIKE pattern of block names
 *
 * A column line explains columns, and a columns: line names the views whose columns of the same
 * name mean the same. An about: line says what a query that reads any run is about: results,
 * machine, comparison or fleet. An of: line names the scenarios whose runs are read, as globs: such
 * a run points to the query, and what is drawn of one run is a figure on its page. A plot: line
 * says what --plot draws; a query may have several, and without one it is not drawn. A line that
 * begins with two more blanks goes on with a plot: or a column line. Every query has a narrow:
 * line, or several: the columns that a terminal without room for all does not show, the first to go
 * first (table_options.narrow in runner/table/table.h). A json: line names the column whose texts
 * are JSON arrays. An empty: line says what it means that there is no row.
 *
 * Types: run (any run selector; bound as run.id), integer, real, text. A default of "null" binds
 * NULL; no default means that a value must be given. */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define PARAMETER_TYPE_LIST(X)                                                                     \
  X(PARAMETER_RUN, "run")                                                                          \
  X(PARAMETER_INTEGER, "integer")                                                                  \
  X(PARAMETER_REAL, "real")                                                                        \
  X(PARAMETER_TEXT, "text")
ENUM_NAMES_DECLARE(parameter_type, PARAMETER_TYPE_LIST)

struct saved_parameter {
  const char *name; /* with the colon: ":run" */
  enum parameter_type type;
  const char *standard; /* default; NULL = must be given */
  const char *help;
};

/* Names of columns; NULL = none. Lists have "," between. */
#define SAVED_PLOT_LIST(X)                                                                         \
  X(x)   /* numbers */                                                                             \
  X(y)   /* numbers; of a list each is a curve, of "a|b" the one with values in the plot */        \
  X(low) /* ends of the error bars */                                                              \
  X(high)                                                                                          \
  X(curve) /* list: the columns that name a curve */                                               \
  X(by)    /* list: one plot for each of their values */                                           \
  X(peak)  /* the theoretical peak, drawn as a line */                                             \
  X(axis)  /* holds the name of x */                                                               \
  X(rows)  /* "COLUMN:VALUE": only such rows */                                                    \
  X(scale) /* not a column but log, semilog or linear */                                           \
  X(unit)  /* not a column but the name of y */

struct saved_plot {
#define SAVED_PLOT_MEMBER(name) const char *name;
  SAVED_PLOT_LIST(SAVED_PLOT_MEMBER)
#undef SAVED_PLOT_MEMBER
};

struct saved_column {
  const char *names; /* with ", " between */
  const char *meaning;
};

struct saved_query {
  const char *name; /* "run-table" */
  const char *title;
  const char *shows;
  const struct saved_column *columns; /* those that are explained */
  size_t column_count;
  const char *columns_of; /* views that explain the others, with "," between; NULL = none */
  const struct saved_parameter *parameters;
  size_t parameter_count;
  const char *about;  /* NULL = what `of` names */
  const char *of;     /* globs of scenarios, with "," between; NULL = it reads any run */
  const char *narrow; /* NULL = none */
  const char *json;   /* a column of JSON arrays; NULL = none */
  const char *empty;  /* why there may be no row; NULL = nothing is to be said */
  const struct saved_plot *plots;
  size_t plot_count;
  const char *sql; /* static */
};

/* In alphabetical order. i < saved_query_count(). Texts are put into the arena. */
size_t saved_query_count(void);
void saved_query_at(size_t i, struct arena *arena, struct saved_query *query);
/* Whether it is of such a scenario, by name. */
bool saved_query_is_of(const struct saved_query *query, const char *scenario);
/* The parameter of that name, ":run", "@run" or "$run"; NULL = it has none. */
const struct saved_parameter *saved_query_parameter(const struct saved_query *query,
                                                    const char *name);
/* STATUS_NOT_FOUND with the names there are. */
enum status saved_query_find(const char *name, struct arena *arena, struct saved_query *query,
                             struct error *err) CHECK_RESULT;
