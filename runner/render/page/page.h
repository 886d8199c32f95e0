/* page.h - a report: one file that needs nothing else and no network. Its frame, a comparison, and
 * runs with their results. Its style is report.css, its script report.js, both embedded; the script
 * sorts and filters tables, and the page is complete without it.
 *
 * Pages are written as html.h says; a failure to write is told by the stream (ferror()). */
#pragma once

#include "runner/analysis/compare.h"
#include "runner/analysis/history.h"
#include "runner/document/document.h"
#include "runner/render/plot/plot.h"

/* ---- the frame (page.c) ---- */

/* Every report begins with these lines; a file that does may be replaced by a later report. */
#define PAGE_FIRST_LINES "<!DOCTYPE html>\n<!-- a report of haul -->\n"

struct page_entry {
  const char *id;    /* of an element of the page: letters, digits and '-' */
  const char *text;  /* escaped by the page */
  const char *extra; /* smaller, behind it; may be "" */
};

/* Up to the table of contents, which is left out where there is one entry. */
void page_begin(FILE *page, const char *title, const char *lead, const struct page_entry *entries,
                size_t entry_count);
void page_end(FILE *page, const char *haul_version);
/* A mark, where the results are of a fake driver. */
void page_put_simulated(FILE *page, bool simulated);

/* ---- data ---- */

/* A link that saves the rows as that file: they are in the page as CSV. what: "The results". Fails
 * for want of memory only. */
enum status page_put_csv(FILE *page, const struct result_set *rows, const char *file_name,
                         const char *what, struct error *err) CHECK_RESULT;

/* ---- a comparison (page_diff.c) ---- */

/* Cases with a row of their own; the rest is counted. */
enum { PAGE_DIFF_CASES_MAX = 500 };

/* What `haul diff` prints, strongest evidence first, as a section whose id is "comparison", which
 * page_diff_end() ends. names: what the sides were called. */
void page_diff(FILE *page, const struct comparison *comparison, const char *const names[SIDES]);
void page_diff_end(FILE *page);

/* ---- a run (page_run.c) ----
 *
 * What was measured, on what, in which state; after its results the cases without a number, and
 * why. */

/* The saved queries that it is made of, and the rows of each that a page has. Those with a title
 * are a table below it, folded away, above the results or below them. */
enum run_place { RUN_PLACE_OWN, RUN_PLACE_ABOVE, RUN_PLACE_BELOW };
#define RUN_PART_LIST(X)                                                                           \
  X(RUN_PART_SUMMARY, "run-summary", RUN_PLACE_OWN, "")                                            \
  X(RUN_PART_GPUS, "gpus", RUN_PLACE_ABOVE,                                                        \
    "GPUs: clocks, power and temperature while it measured")                                       \
  X(RUN_PART_FACTS, "environment", RUN_PLACE_ABOVE,                                                \
    "All that was recorded of the machine and its software")                                       \
  X(RUN_PART_CHECKS, "checks", RUN_PLACE_OWN, "")                                                  \
  X(RUN_PART_NOT_MEASURED, "not-measured", RUN_PLACE_OWN, "")                                      \
  X(RUN_PART_TIMES, "run-time", RUN_PLACE_BELOW, "Where the time went")                            \
  X(RUN_PART_SCENARIO, "run-scenario", RUN_PLACE_OWN, "")
ENUM_NAMES_DECLARE(run_part, RUN_PART_LIST)
enum { PAGE_RUN_ROWS_MAX = 500 };

struct page_run {
  const char *id;              /* of the section: letters, digits and '-' */
  bool alone;                  /* the page has nothing else: its title names the run */
  const char *number;          /* of the run in the database, for commands that show the rest */
  const char *const *verdicts; /* what is slower than its peers, one sentence each */
  size_t verdict_count;
  const char *next;    /* a command that shows what changed; NULL = no run is */
  const char **doubts; /* where that cannot be told, likewise */
  size_t doubt_count;
  /* Of what the machine should reach: shortfalls, then the summary; NULL: nothing is known. */
  const char *const *shortfalls;
  size_t shortfall_count;
  const char *tiles; /* written with PAGE_TILES; NULL or "" = none */
  const char *expected;
  size_t compared; /* results that were compared with their peers; 0 = none could be */
  struct result_set parts[run_part_name_count];
};

/* Each paragraph is a tile: what it is about, and its number. */
extern const struct document_backend PAGE_TILES;

/* "quick on node7, 2026-08-01 12:30" as far as the summary tells. In the run's arena. */
const char *page_run_title(struct page_run *run);
/* Up to the results. */
void page_run_begin(FILE *page, const struct page_run *run);
/* results_left_out: cases that the results do not show. */
void page_run_end(FILE *page, const struct page_run *run, size_t results_left_out);

/* ---- the results of a run (page_results.c) ----
 *
 * Give page_results.document to run_result_print(): matrices become tables coloured as on a
 * terminal, sweeps a chart with their table folded away below it, or their grid. Charts come first:
 * page_results_chart() takes what curves_new_drawn_by() draws, each with the name of its block as
 * title, and keeps it until that block is laid out. Curves of fewer than three points are not
 * drawn. */

struct page_chart {
  const char *name; /* of its block */
  const char *svg;
};

struct page_results {
  const struct result_set *trend;  /* of the saved query block-trend; NULL = none */
  const struct result_set *spread; /* of the saved query distributions; NULL = none */
  FILE *out;                       /* of the page; borrowed */
  FILE *page;                      /* what is laid out, until page_results_fini() */
  char *text;                      /* of it */
  size_t length;
  const char **names; /* of blocks, for the contents */
  size_t name_count;
  const char *block; /* that is laid out; NULL = none, or several */
  const char *id;    /* prefix of the ids of this run's elements; borrowed */
  struct arena arena;
  struct page_chart *charts;
  size_t chart_count;
  struct document document;
  const struct page_chart *chart; /* of the block that is laid out; NULL = none, or it is drawn */
  const char *title;              /* the last heading; "" = none */
  unsigned headings;              /* of the block so far */
  size_t figure_count;
  bool open;      /* a block is begun */
  bool key_shown; /* the page explains the colours of matrices already */
};

void page_results_init(struct page_results *results, FILE *page, const char *id);
/* Ends the last block, writes what belongs to blocks that share a table, and writes all of them
 * behind their contents: links to blocks. */
void page_results_fini(struct page_results *results);
/* For curves_new_drawn_by(), as below: written at once, above the results. */
void page_results_figure(void *context, const struct plot *plot, enum plot_scale scale);
/* For curves_new_drawn_by(); context is the struct page_results. */
void page_results_chart(void *context, const struct plot *plot, enum plot_scale scale);

/* ---- of a block (page_spread.c) ---- */

/* How fast it was in earlier runs, from three runs on. rows: of the saved query block-trend. */
void page_put_trend(FILE *page, const struct result_set *rows, const char *block);
/* How the trials of its cases are distributed, folded away. rows: of the saved query
 * distributions. */
void page_put_spread(FILE *page, const struct result_set *rows, const char *block);

/* ---- the cases that changed, over all runs of the database (page_history.c) ----
 *
 * One chart each, with a mark where the driver or the kernel of the host changed. */

/* Cases that are drawn: of each changed block the one with the strongest evidence. Fewer runs than
 * that are no history. */
enum { PAGE_HISTORY_CASES_MAX = 6, PAGE_HISTORY_RUNS_MIN = 3 };

struct page_history_case {
  const struct results_case *bench;
  size_t row;           /* of the comparison */
  uint64_t hardware;    /* results_hardware() of the runs that count: those of side B */
  struct results *runs; /* all of the host; texts are made in its arena */
  const struct history *history;
};

/* Whether it has a history: else nothing is written. */
bool page_history(FILE *page, const struct page_history_case *changed, bool first);

/* ---- where a change is (page_maps.c) ----
 *
 * For each block whose cases are places, A, B and the change side by side, one cell per case. A
 * block of few sizes is a matrix of places per setting, from row to column; one of many sizes has
 * paths down and sizes across. Cells are found by all that distinguishes the cases of a block:
 * where two cases would have one cell, there is no map of it. */

/* Maps that are larger are left out, and all maps of a comparison with more cases. */
enum { PAGE_MAP_ROWS_MAX = 80, PAGE_MAP_COLUMNS_MAX = 40, PAGE_MAP_CASES_MAX = 5000 };

struct page_maps;

/* Never NULL; both arguments are borrowed. */
struct page_maps *page_maps_new(const struct comparison *comparison);
void page_maps_free(struct page_maps *maps);
/* Whether the row of the comparison has a cell: its id is "cell-ROW". */
bool page_maps_have(const struct page_maps *maps, size_t row);
/* Those with a change are open, the others folded. Links each cell to the id "case-ROW". */
void page_maps_put(FILE *page, const struct page_maps *maps);

/* ---- how much slower ---- */

/* How often the change has the threshold in it: 0 = not once, 1 = 1 to 3 times, 2 = 3 to 10 times,
 * 3 = more often; as a class "s1" of what is slower, "f1" of what is faster, "" for 0. */
unsigned page_level(double change, double threshold);
const char *page_level_class(double change, double threshold);
#define PAGE_LEVELS(letter)                                                                        \
  "<span class=\"" letter "1\">1 to 3</span> <span class=\"" letter                                \
  "2\">3 to 10</span> <span class=\"" letter "3\">more than 10</span> times"
