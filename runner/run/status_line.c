#include "runner/run/status_line.h"

#include "engine/base/units.h"
#include "engine/case/summary.h"
#include "runner/plan/kind.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { NOTES_TEXT_MAX = 1 << 16 };
static const uint64_t say_every_ns = 60000000000;

void status_line_init(struct status_line *line, const struct common_options *common) {
  *line = (struct status_line){
      .common = common,
      .terminal = !common->quiet && isatty(STDERR_FILENO) != 0,
  };
}

/* The time left in whole seconds; "" once the estimate has run out. */
static void status_line_describe_left(uint64_t left_ns, char *text, size_t size) {
  const uint64_t second_ns = UINT64_C(1000000000);
  char left[UNITS_TEXT_MAX];
  if (left_ns == 0) {
    text[0] = '\0';
  } else if (left_ns < second_ns) {
    (void)snprintf(text, size, "less than 1 s left");
  } else {
    units_format_duration_short(left_ns / second_ns * second_ns, left);
    (void)snprintf(text, size, "%s left", left);
  }
}

/* "pausing until 12:34 before process 3 of 5" */
static void status_line_describe_pause(const struct progress *progress, char *text, size_t size) {
  enum { NS_PER_S = 1000000000 };
  const time_t end = time(NULL) + (time_t)(progress->pause_left_ns / NS_PER_S);
  char clock[sizeof "12:34"] = "";
  struct tm local;
  if (localtime_r(&end, &local) != NULL) {
    (void)strftime(clock, sizeof clock, "%H:%M", &local);
  }
  (void)snprintf(text, size, "pausing until %s before process %u of %u", clock,
                 progress->process + 1, progress->process_count);
}

/* "55.2 GB/s" of trials of a case, and how many there are; "" while there are none. */
static uint32_t status_line_describe_rate(const struct case_def *def, const struct trial *trials,
                                          size_t count, char *text, size_t size) {
  text[0] = '\0';
  SCOPED(memory_free) double *scratch = calloc(count + 1, sizeof *scratch);
  if (scratch == NULL) {
    return 0;
  }
  struct summary summary;
  summary_of_trials(trials, count, scratch, &summary);
  if (summary.count > 0 && summary.median_ns > 0) {
    plan_describe_rate(def, summary.median_ns, text, size);
  }
  return summary.count;
}

/* For a file or a pipe, such as the log of a batch job: one line a minute. -v says more. */
static void status_line_say(struct status_line *line, const struct progress *progress) {
  if (line->common->verbose || progress->elapsed_ns < line->said_ns + say_every_ns) {
    return;
  }
  line->said_ns = progress->elapsed_ns / say_every_ns * say_every_ns;
  char left[UNITS_TEXT_MAX + 16];
  status_line_describe_left(progress->left_ns, left, sizeof left);
  say_note(line->common, "%zu of %zu %s after %u min%s%s%s%s", progress->done, progress->total,
           progress->process_count > 1 ? "measurements" : "cases",
           (unsigned)(line->said_ns / say_every_ns), left[0] != '\0' ? ", about " : "", left,
           progress->def != NULL ? "; now " : "", progress->def != NULL ? progress->def->name : "");
}

void status_line_show(struct status_line *line, const struct progress *progress) {
  if (!line->terminal) {
    status_line_say(line, progress);
    return;
  }
  char left[UNITS_TEXT_MAX + 16];
  status_line_describe_left(progress->left_ns, left, sizeof left);
  char text[512];
  char what[64] = "";
  char rate[STATUS_LINE_RATE_MAX] = "";
  if (progress->def != NULL) {
    (void)status_line_describe_rate(progress->def, progress->trials, progress->trial_count, rate,
                                    sizeof rate);
    if (rate[0] == '\0') { /* cases are short: the one before says how it goes */
      (void)snprintf(rate, sizeof rate, line->last[0] != '\0' ? "last: %s" : "%s", line->last);
    }
    if (progress->visit > 0) {
      (void)snprintf(what, sizeof what, ", measurement %u", progress->visit + 1);
    }
  } else if (progress->visit > 0) {
    (void)snprintf(what, sizeof what, "noisy: waiting for measurement %u", progress->visit + 1);
  } else if (progress->done == progress->total) {
    (void)snprintf(what, sizeof what, "finishing");
  } else if (progress->pause_left_ns > 0) {
    status_line_describe_pause(progress, what, sizeof what);
  }
  (void)snprintf(text, sizeof text, "[%zu/%zu] %s%s%s%s%s%s", progress->done, progress->total, left,
                 left[0] != '\0' ? "  " : "", rate, rate[0] != '\0' ? "  " : "",
                 progress->def != NULL ? progress->def->name : "", what);
  line->shown = say_progress(line->common, text);
}

void status_line_clear(struct status_line *line) {
  if (line->shown) {
    line->shown = false;
    (void)say_progress(line->common, "");
  }
}

void status_line_interrupted(struct status_line *line, const struct progress *progress) {
  const uint64_t left_ns = progress->case_left_ns;
  status_line_clear(line);
  say_note(line->common, "interrupted: finishing %s. It %s%s, and haul stops it after %s. %s",
           progress->def->name,
           left_ns == 0                   ? "is overdue"
           : left_ns <= SUPERVISE_STOP_NS ? "should end within "
                                          : "may take ",
           left_ns == 0 ? "" : units_format_duration_short(left_ns, UNITS_TEXT),
           units_format_duration_short(SUPERVISE_STOP_NS, UNITS_TEXT), interrupt_again_words());
}

struct status_line_said {
  char *text;
  bool warning;
};

static void status_line_put_notes(struct strbuf *text, const struct notes *notes) {
  for (uint32_t i = 0; notes != NULL && i < notes->count; i++) {
    strbuf_append(text, "; ");
    note_put_words(text, &notes->items[i], NULL);
  }
}

void status_line_case(struct status_line *line, const struct case_def *def,
                      const struct case_report *report, size_t done, size_t total) {
  const struct case_outcome *outcome = report->outcome;
  const bool ok = outcome->status == CASE_OK;
  uint32_t count = 0;
  if (line->terminal || line->common->verbose) {
    count = status_line_describe_rate(def, report->trials, report->trial_count, line->last,
                                      sizeof line->last);
  }
  if (ok && !line->common->verbose) {
    return;
  }
  char rate[STATUS_LINE_RATE_MAX + 32] = "";
  if (line->last[0] != '\0') {
    (void)snprintf(rate, sizeof rate, ", %s, %u trials", line->last, count);
  }
  SCOPED(strbuf_fini) struct strbuf notes = STRBUF(NOTES_TEXT_MAX);
  status_line_put_notes(&notes, &outcome->notes);
  status_line_put_notes(&notes, report->slowed);
  char *text = ok ? memory_format("[%zu/%zu] %s: ok%s%s", done, total, def->name, rate, notes.text)
                  : memory_format("case %s: %s: %s", def->name, case_status_text(outcome->status),
                                  outcome->reason);
  *MEMORY_ADD(line->waiting, line->waiting_count) = (struct status_line_said){text, !ok};
}

void status_line_written(struct status_line *line) {
  if (line->waiting_count > 0) {
    status_line_clear(line);
  }
  for (size_t i = 0; i < line->waiting_count; i++) {
    const struct status_line_said *said = &line->waiting[i];
    if (said->warning) {
      say_warning(line->common, "%s", said->text);
    } else {
      say_note(line->common, "%s", said->text);
    }
    free(said->text);
  }
  line->waiting_count = 0;
}

void status_line_fini(struct status_line *line) {
  for (size_t i = 0; i < line->waiting_count; i++) {
    free(line->waiting[i].text);
  }
  free(line->waiting);
  line->waiting = NULL;
  line->waiting_count = 0;
}
