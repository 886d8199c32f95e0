/* result_block.h - what the files result_*.c share: the rows of a result, its blocks, the texts of
 * a row, how a block is laid out, the remarks on it, and the short form of a result. */
#pragma once

#include "engine/case/states.h"
#include "engine/case/trial.h"
#include "runner/document/document.h"
#include "runner/statistics/noise.h"

/* The columns of run-result and run-flows that are used, and the members of a row that keep them:
 * TEXT(column, member), NUMBER(column, member). */
#define RUN_ROW_LIST(NAME, TEXT, NUMBER)                                                           \
  NAME("case", name)                                                                               \
  NAME("block", block)                                                                             \
  NAME("path", path)                                                                               \
  TEXT("axes", axes)                                                                               \
  NAME("kind", kind)                                                                               \
  TEXT("method", method) /* "sm (bulk)" where the scenario names the kernel */                     \
  TEXT("kernel_variant", kernel_variant)                                                           \
  TEXT("operation", operation)                                                                     \
  TEXT("direction", direction)                                                                     \
  TEXT("source", source)               /* "gpu0" */                                                \
  TEXT("source_memory", source_memory) /* "device" */                                              \
  TEXT("target", target)                                                                           \
  TEXT("target_memory", target_memory)                                                             \
  NUMBER("flows", flows)                                                                           \
  NUMBER("under_load", under_load)                                                                 \
  NUMBER("size_bytes", size_bytes)                                                                 \
  NUMBER("gbps", gbps)                                                                             \
  NUMBER("tflops", tflops) /* of kernels that compute */                                           \
  NUMBER("peak_tflops", peak_tflops)                                                               \
  NUMBER("percent_of_peak", percent_of_peak)                                                       \
  NUMBER("peak_gbps", peak_gbps)                                                                   \
  TEXT("limited_by", limited_by)                                                                   \
  NUMBER("ns_per_hop", ns_per_hop)                                                                 \
  NUMBER("cycles_per_hop", cycles_per_hop)                                                         \
  TEXT("measure", measure) /* of arithmetic: "latency", "throughput" */                            \
  NUMBER("ns_per_op", ns_per_op)                                                                   \
  NUMBER("cycles_per_op", cycles_per_op)                                                           \
  NUMBER("ops_per_clock_sm", ops_per_clock_sm)                                                     \
  NUMBER("median_ns", median_ns)                                                                   \
  NUMBER("low_ns", low_ns)                                                                         \
  NUMBER("high_ns", high_ns)                                                                       \
  NUMBER("processes", processes)                                                                   \
  NAME("status", status)                                                                           \
  TEXT("reason", reason)                                                                           \
  NUMBER("load_gbps", load_gbps) /* of a load flow beside it, the mean of several */               \
  TEXT("role", role)             /* of a flow: "measured", "load" */                               \
  TEXT("notes", notes_json)                                                                        \
  TEXT("stop", stop)   /* why the trials ended: "precision", "trials", "time" */                   \
  TEXT("noise", noise) /* of trials that ended before "precision" */                               \
  NUMBER("noise_percent", noise_percent)                                                           \
  NUMBER("noise_ns", noise_ns)                                                                     \
  NUMBER("visits", visits)                                                                         \
  TEXT("settled", settled)                                                                         \
  NUMBER("undisturbed_ns", undisturbed_ns)                                                         \
  NUMBER("undisturbed_low_ns", undisturbed_low_ns) /* its interval */                              \
  NUMBER("undisturbed_high_ns", undisturbed_high_ns)                                               \
  TEXT("figure", shown_figure)     /* "undisturbed": the numbers are; NULL: typical */             \
  NUMBER("above_peak", above_peak) /* 1: nothing compares the number */                            \
  TEXT("same_as", same_as)         /* the case that was measured in its place; NULL: itself */     \
  TEXT("same_block", same_block)                                                                   \
  TEXT("same_axes", same_axes)                                                                     \
  TEXT("expected",                                                                                 \
       expected) /* "55.2-55.5", from a judge (runner/expect); NULL: nothing is known */           \
  TEXT("as_expected", as_expected)         /* an expect_verdict's name */                          \
  TEXT("expected_remark", expected_remark) /* what is to be said of that; NULL: nothing */         \
  NUMBER("expected_limit", expected_limit) /* GB/s; NAN: not known */                              \
  NUMBER("expected_low", expected_low)                                                             \
  NUMBER("expected_high", expected_high)                                                           \
  NUMBER("judged", judged)   /* the number that as_expected is of */                               \
  NUMBER("partial", partial) /* 1: the run has not measured all of its scenario */                 \
  TEXT("flushed", flushed)   /* whose caches, before each trial; NULL: none */                     \
  NUMBER("special", special) /* 1: strided, scattered, staged or bulk copies */

/* A swept key and the value that a case has of it: "size" and "64KiB". */
struct result_axis {
  const char *key, *value;
};

/* One case, or one flow of a case. NULL and NAN where the database has NULL; texts are escaped for
 * a terminal. */
struct run_row {
#define RUN_ROW_TEXT(column, member)   const char *member;
#define RUN_ROW_NUMBER(column, member) double member;
  RUN_ROW_LIST(RUN_ROW_TEXT, RUN_ROW_TEXT, RUN_ROW_NUMBER)
  const struct note *notes; /* each once */
  size_t note_count;
  const struct result_axis *swept; /* its axes, in the order of the scenario */
  size_t swept_count;
  const char *same;   /* "Duplicate of block up, measured once."; NULL: it was measured itself */
  bool range_shown;   /* its table has the column `expected` */
  const char *figure; /* of all rows of `alike`: "393.5-394.1"; NULL: its own number */
  const struct run_row *const *alike; /* the rows that it stands for; NULL: itself */
  size_t alike_count;
};

struct run_rows {
  struct run_row *items; /* in the order of the result_set */
  size_t count;
};

struct result_block {
  const char *name;
  struct run_row **rows;
  size_t count;
  size_t shown;  /* rows that are not skipped */
  bool is_brief; /* the rows are few, and are shown as a table */
};

struct result_remarks;

struct result_page {
  struct document *document;
  struct run_rows flows; /* may be none */
  struct arena arena;
  bool sums;                      /* of the cells of matrices of rates */
  struct result_remarks *remarks; /* on all rows of the page */
};

bool result_row_shown(const struct run_row *row);
/* "ce" of a transfer with one method, "" where there is none. */
const char *result_method(const struct run_row *row);
/* The words of numbers, and which rate they are where it is not the typical one: "GB/s,
 * undisturbed". row may be NULL. */
const char *result_figure_words(struct arena *arena, const struct run_row *row, const char *words);
/* "GB/s of all flows, over one window", of a row with several; NULL = of rows that differ. */
const char *result_flows_words(const struct run_row *row);
/* "64MiB"; "several sizes" where the flows of the case differ, "" where there is none. */
const char *result_size(struct arena *arena, const struct run_row *row);
/* "from.memory=pinned size=64KiB" as keys and values. */
const struct result_axis *result_axes_of(struct arena *arena, const char *text, size_t *count);
/* A list of them, with one more: "method=sm threads=4". */
const char *result_add_axis(struct arena *arena, const char *text, const struct result_axis *axis);
/* The value of a row's axis; NULL where it has no such axis. */
const char *result_axis(const struct run_row *row, const char *key);
/* Whether paths show the values of that key: "from.memory", "at.gpu", "space". */
bool result_axis_is_place(const char *key);
/* "size" and "footprint". */
bool result_axis_is_size(const char *key);
/* The axes that neither path nor size show: "method=sm threads=4". */
const char *result_axes(struct arena *arena, const struct run_row *row);
/* "numa0:pinned", "gpu3". */
const char *result_place(struct arena *arena, const char *place, const char *memory);
/* Half the width of the interval that the row gives, in per cent of the median; NAN = unknown. */
double result_spread(const struct run_row *row);
/* Measured several times, but the fastest trials do not agree: tables mark the number with "~". */
bool result_is_unsettled(const struct run_row *row);
/* The peak that a share is of: "63.02 GB/s". NVLink's is that of the line, of which NVIDIA
 * counts 16/17 as usable. */
const char *result_peak_words(struct arena *arena, const struct run_row *row);
/* What bounds a row; LIMIT_UNKNOWN, whose words are "". */
enum limit result_limit(const struct run_row *row);
const char *result_limit_words(enum limit limit);
/* "0.94", "3.1", "50" per cent; ">999" of more. */
const char *result_percent(struct arena *arena, double percent);
/* The uncertainty of the figure, in per cent: "0.94", "3.1", "15". Of one beyond
 * MATRIX_ROUGH_PERCENT both ends, "-40/+57": half the width of an interval of times says too little
 * of a rate, which is their inverse. "" = not known. */
const char *result_uncertainty(struct arena *arena, const struct run_row *row);
/* The same in a sentence: "+/- 0.94 %", "-40/+57 %". */
const char *result_within(struct arena *arena, const struct run_row *row);
/* The row with the wider interval. widest may be NULL. */
const struct run_row *result_wider(const struct run_row *widest, const struct run_row *row);

/* ---- layout (result_layout.c, its labels in result_labels.c) ----
 *
 * Follows from the axes of a block alone. A cell is found by everything that tells cases apart:
 * source, target, their memory, direction, and the value of every axis.
 *
 *   matrices  a row per source and a column per target, one matrix for each combination of all
 *             else, direction included; between host and GPU nodes are rows and GPUs columns
 *   grids     where a number is swept and pairs alone would be a line, or a number in each column:
 *             its values down and the places across, one grid for each combination of all else
 *   table     everything else: a row per case */

enum result_shape { RESULT_TABLE, RESULT_MATRICES, RESULT_GRIDS };

struct result_cell {
  const struct run_row *row;
  const char *down, *across; /* labels */
  double order;              /* of the rows of a grid */
};

/* One matrix or grid. */
struct result_facet {
  const char *setting; /* what else is the same in it: "64KiB method=sm, pinned memory" */
  const char *words;   /* what its numbers are: "GB/s from row to column" */
  bool rate;           /* in GB/s, else in ns */
  bool mirrored;       /* goes both ways between places that are rows and columns */
  struct result_cell *cells;
  size_t count;
};

struct result_layout {
  enum result_shape shape;
  const char *down_name; /* of a grid: "size"; "" of matrices */
  struct result_facet *facets;
  size_t facet_count;
};

/* Labels in their order, each once. */
struct label_list {
  const char **items;
  size_t count;
};
void result_facet_labels(struct arena *arena, const struct result_facet *facet, bool is_grid,
                         struct label_list *down, struct label_list *across);

/* No two cells of a facet have one place. flows_shown: of cases that have several. */
void result_layout_find(struct arena *arena, const struct result_block *block, bool flows_shown,
                        struct result_layout *layout);

/* ---- printing ---- */

void result_print_matrices(struct result_page *page, const struct result_block *block,
                           const struct result_layout *layout);
/* Several blocks share a table when each has one case. */
void result_print_table(struct result_page *page, const struct result_block *blocks,
                        size_t block_count);

/* ---- remarks ---- */

enum { FOOTNOTES_MAX = 52 }; /* a letter each: text_letter() */

/* A remark on a row: a note, or a text. Remarks with one key, or notes of one kind, GPU and
 * name are one footnote. */
struct remark {
  struct note note;
  const char *text; /* NULL: the note's */
  const char *key;  /* of a text */
  double rank;      /* the text of the highest is shown */
};

/* A remark that several rows may share, printed once per page. */
struct footnote {
  struct remark remark;
  struct note least, most; /* amounts */
  bool differs;            /* texts do */
  size_t uses;
  const struct run_row *last; /* that has it */
  char mark;                  /* 0 = belongs to every row */
};

/* Beside the kinds of noise, and that it is not known: of a case that was visited again, and of one
 * that varies by nature beside a steady load in the other direction. */
enum { REMARK_VISITED = noise_name_count + 1, REMARK_SHARED, REMARK_COUNT };

/* What the reader must know about the numbers of a page: why a case has none, the note of its
 * measurement, what may have slowed it, a missed precision target, and which case it duplicates.
 * Zeroed but for the arena: there is no row yet. */
struct result_remarks {
  struct arena *arena; /* borrowed */
  const struct run_row **rows;
  size_t count;
  const struct scenario *scenario; /* as of struct run_result_options */
  /* The remark on cases whose trials ended so, with that noise or visited; NULL = none
   */
  const char *stops[stop_name_count][REMARK_COUNT];
  struct footnote notes[FOOTNOTES_MAX]; /* those past the last are dropped */
  size_t note_count;
};

/* One row that is shown; borrowed. */
void result_remarks_add(struct result_remarks *remarks, const struct run_row *row);
/* After the last row, before the first mark. */
void result_remarks_assign_marks(struct result_remarks *remarks);
/* "a", "a,c" in the order of the notes; "" = none. In the arena. */
const char *result_remarks_mark(const struct result_remarks *remarks, const struct run_row *row);
/* Rows with a mark. *common: all have a remark that has none. */
size_t result_remarks_count(const struct result_remarks *remarks, bool *common);
/* Each note once, with the number of its cases. */
void result_remarks_print(const struct result_remarks *remarks, struct document *document);

/* ---- short form (result_brief.c) ---- */

/* Rates that differ by less count as alike. */
#define RESULT_ALIKE_PERCENT 2.0
/* What people ask of such a case: GB/s of bytes that moved, else ns. */
double result_figure(const struct run_row *row);
/* The case of the least and of the greatest figure. */
struct result_span {
  const struct run_row *least, *greatest;
};
struct result_span result_span_of(const struct run_row *const *rows, size_t count);
bool result_span_is_alike(struct result_span span);
/* A number of a case with the digits that a spread, in per cent, allows: "393.5"; "~390" if it is
 * rough, or if measurements of the case do not agree. */
const char *result_number_words(struct arena *arena, const struct run_row *row, double value,
                                double spread);
/* "393.5", "393.5-394.1"; "~390-394" if one of the two is rough or open. */
const char *result_figures(struct arena *arena, struct result_span span);
/* Blocks whose places agree keep one row, which stands for all of them. */
void result_brief_block(struct arena *arena, struct result_block *block);

/* ---- the answer (result_answer.c) ---- */

/* The best rate of each kind of path, the latencies, what was skipped or throttled, and how many
 * cases have a note. Nothing where no case has a place. remarks: NULL = notes are not counted, nor
 * what was throttled. skipped_command: as of struct run_result_options. */
void result_answer(const struct run_rows *rows, const struct result_remarks *remarks,
                   const char *skipped_command, struct document *document);
/* "4 of 5 cases: needs 200 GiB of host memory"; "" = none. */
const char *result_skipped(struct arena *arena, const struct run_rows *rows);
