/* scenario.h - scenarios: read from TOML, checked, and immutable from then on.
 *
 * A block (a [[transfer]], a [[stream]], ...) holds axes: every key has one or more values, and the
 * block's settings are the Cartesian product of them (zip runs axes in lockstep). block_setting()
 * yields the i-th one with every default filled in; the plan then matches it with a machine.
 * Everything is owned by the scenario and freed by scenario_free(). Reading needs no GPU.
 *
 * What the language promises beyond the table of keys (field.h, and README.md generated from it):
 * - Axes are in the order of the file; those of [measure] come first, those of loads and flows last
 *   ("load.NAME.size", or the number from 1 instead of a name). Axes in lockstep vary with the last
 *   of them.
 * - A load or flow inherits absent keys from its block, except the two ends and, if they do not
 *   apply to its ends, initiator and peer.
 * - A load without ends mirrors the measured flows: one flow of load for each of them.
 * - A flow keeps only the keys of its method: threads for cpu, kernel for sm, unified for um. A
 *   shape defines the size: width x height x depth. */
#pragma once

#include "engine/base/error.h"
#include "engine/case/enums.h"

#include <stdint.h>
#include <stdio.h>

enum { SCENARIO_FILE_MAX = 4 << 20, SCENARIO_SETTINGS_MAX = 1 << 20, SCENARIO_NAME_MAX = 128 };

struct check;   /* engine/machine/check.h */
struct setting; /* setting.h */
struct block;   /* opaque: axes */

/* How the results of a run are judged. */
#define RUN_VERDICT_LIST(X)                                                                        \
  X(RUN_VERDICT_NONE, "none")                                                                      \
  X(RUN_VERDICT_EXPECTED, "expected") /* one line and an exit code: as the machine should be? */
ENUM_NAMES_DECLARE(run_verdict, RUN_VERDICT_LIST)

/* Which of the two rates of a case tables show: engine/case/visits.h. */
#define RUN_FIGURE_LIST(X)                                                                         \
  X(RUN_FIGURE_TYPICAL, "typical")                                                                 \
  X(RUN_FIGURE_UNDISTURBED, "undisturbed")
ENUM_NAMES_DECLARE(run_figure, RUN_FIGURE_LIST)

enum { RUN_PROCESSES_MAX = 1000 };

struct run_settings {
  uint32_t processes;
  enum case_order order;
  uint64_t seed;
  uint64_t telemetry_ns; /* 0 = off */
  uint64_t pause_ns;     /* between two processes */
  uint64_t idle_wait_ns; /* for other programs on the GPUs to end */
  uint64_t settle_ns;    /* for further visits of cases; 0 = none, UINT64_MAX = auto */
  uint64_t budget_ns;    /* for measuring, all processes together; 0 = no limit */
  enum run_verdict verdict;
  enum run_figure figure;
};

struct scenario {
  const char *path; /* as given; "<embedded>/quick.toml" for a shipped one */
  const char *name;
  const char *description;
  const char *text;     /* the file as read, without its includes */
  const char *resolved; /* equivalent TOML without includes; --set applied */
  struct run_settings run;
  const struct check *checks;
  size_t check_count;
  const struct block *const *blocks; /* in the order of the file */
  size_t block_count;
};

/* One --set KEY=VALUE. The value is TOML; "20ms" without quotes is text as well.
 *   measure.KEY, checks.KEY    that section; KEY alone as well: "max_time"
 *   transfer.KEY               every [[transfer]]; likewise for the other kinds
 *   BLOCKNAME.KEY              the block of that name
 *   BLOCKNAME.load.KEY         all its loads
 *   BLOCKNAME.load.NAME.KEY    one of its loads
 *   name, description          the head
 * A block's own "max_time" stays when "measure.max_time" changes. Diagnostics name "--set
 * KEY=VALUE" as their file, without a line. */
struct scenario_override {
  const char *key;
  const char *value;
};

/* A mistake in a scenario. They are in the order of the file, then of its includes, then of --set.
 * Columns count characters (code points). */
struct diagnostic {
  struct error error;      /* message says what is wrong; position where */
  const char *source_line; /* text of that line; NULL = none */
  unsigned caret_width;    /* characters to underline, at least 1 */
  const char *expected;    /* valid values; NULL = the message says it */
  const char *suggestion;  /* nearest valid key or word; NULL = none */
};

/* An opaque list, for one or several scenarios. It owns the texts of its diagnostics. */
struct diagnostics;
struct diagnostics *diagnostics_new(void);
void diagnostics_free(struct diagnostics *diagnostics);
size_t diagnostics_count(const struct diagnostics *diagnostics);
/* Also those that say what another one says, or were too many: what a text added tells whether it
 * is valid. */
size_t diagnostics_mistakes(const struct diagnostics *diagnostics);
const struct diagnostic *diagnostics_at(const struct diagnostics *diagnostics, size_t i);
/* A text whose line i was made of `places[i]`, NULL = of nothing: its diagnostics name that place
 * instead of the line. The places outlive the list. */
void diagnostics_name_places(struct diagnostics *diagnostics, const char *const *places,
                             size_t count);
/* Print as compilers do: file:line:column: error: ..., the line, a caret, the help. Control
 * characters are escaped; the caret is at the right place after tabs and wide characters. width: of
 * the terminal, into which all but the line is wrapped; 0 = there is none. */
void diagnostics_print(const struct diagnostics *diagnostics, FILE *stream, unsigned width,
                       bool colour);

/* Read a file. STATUS_INVALID: there are new diagnostics, and *scenario is not set; a file that
 * cannot be read (no such file, a directory, not UTF-8, larger than SCENARIO_FILE_MAX) is one
 * diagnostic. Includes are looked up beside the including file, then among the shipped scenarios.
 */
enum status scenario_load(const char *path, const struct scenario_override *overrides,
                          size_t override_count, struct scenario **scenario,
                          struct diagnostics *diagnostics) CHECK_RESULT;
/* The same from text; `path` is its name in diagnostics, and includes are looked up beside it (for
 * shipped scenarios among the shipped ones). */
enum status scenario_parse(const char *text, size_t length, const char *path,
                           const struct scenario_override *overrides, size_t override_count,
                           struct scenario **scenario,
                           struct diagnostics *diagnostics) CHECK_RESULT;
/* The same for a text out of a database, which stands alone: one that includes something, or has
 * from_csv, is refused before a file is opened. */
enum status scenario_parse_recorded(const char *text, const char *path,
                                    const struct scenario_override *overrides,
                                    size_t override_count, struct scenario **scenario,
                                    struct diagnostics *diagnostics) CHECK_RESULT;
/* The same without --set; NULL = it cannot be read, as another version wrote it. */
struct scenario *scenario_find_recorded(const char *text, const char *path);
void scenario_free(struct scenario *scenario);

const char *block_name(const struct block *block);
/* What --set names where that key of [measure] is to change for a block: "measure", or the block,
 * which has a value of its own. */
const char *block_scope(const struct block *block, const char *key);
/* The product of the axes, with zip applied; of all blocks together at most
 * SCENARIO_SETTINGS_MAX. */
size_t block_setting_count(const struct block *block);
/* The i-th setting; the last axis of the file varies fastest. Its pointers are valid as long as the
 * scenario, except axis_values, loads and flows: until the next call for the same block, which
 * therefore must not be shared between threads. */
void block_setting(const struct block *block, size_t i, struct setting *setting);
