/* status_line.h - what a run shows on stderr while it measures: one line that is rewritten on a
 * terminal, a line a minute elsewhere; under -v one line per case, anywhere, once it is recorded.
 */
#pragma once

#include "runner/console/console.h"
#include "runner/supervise/supervise.h"

enum { STATUS_LINE_RATE_MAX = 64 };

struct status_line {
  const struct common_options *common;
  bool terminal;                    /* stderr is one, and not under -q */
  bool shown;                       /* something stands on the line now */
  uint64_t said_ns;                 /* without a terminal: how old the run was at the last line */
  char last[STATUS_LINE_RATE_MAX];  /* rate of the case that ended last; "" = it has none */
  struct status_line_said *waiting; /* of cases that are not recorded yet */
  size_t waiting_count;
};

void status_line_init(struct status_line *line, const struct common_options *common);
void status_line_show(struct status_line *line, const struct progress *progress);
/* To be called before anything else is written to the terminal. */
void status_line_clear(struct status_line *line);
/* The first Ctrl-C: what it waits for, and until when at most. A case is being measured. */
void status_line_interrupted(struct status_line *line, const struct progress *progress);
/* Keep the line of a case under -v, or a warning when the case went wrong, for
 * status_line_written(). done and total are those of the progress. */
void status_line_case(struct status_line *line, const struct case_def *def,
                      const struct case_report *report, size_t done, size_t total);
/* The cases so far are recorded: say their lines. */
void status_line_written(struct status_line *line);
/* Forget the lines of cases that were not recorded. */
void status_line_fini(struct status_line *line);
