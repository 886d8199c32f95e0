#include "runner/run/status_line.h"

#include "engine/base/units.h"
#include "engine/case/statistics.h"

#include <stdlib.h>
#include <time.h>

void status_line_init(struct status_line *line, const struct common_options *common) {
  *line = (struct status_line){
      .common = common,
      .terminal = !common->quiet && terminal_width(stderr) > 0,
  };
}

/* The time left in whole seconds; "" once the estimate has run out. */
static void status_line_describe_left(uint64_t left_ns, char *text, size_t size) {
  const uint64_t second_ns = UINT64_C(1000000000);
  char left[UNITS_TEXT_MAX];
  if (left_ns == 0) {
    text[0] = '\0';
  } else if (left_ns < second_ns) {
    (void)snprintf(text, size, "less than 1 s left  ");
  } else {
    units_format_duration_short(left_ns / second_ns * second_ns, left);
    (void)snprintf(text, size, "%s left  ", left);
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

void status_line_show(struct status_line *line, const struct progress *progress) {
  if (!line->terminal) {
    return;
  }
  char left[UNITS_TEXT_MAX + 16];
  status_line_describe_left(progress->left_ns, left, sizeof left);
  char text[512];
  char pause[64] = "";
  if (progress->pause_left_ns > 0) {
    status_line_describe_pause(progress, pause, sizeof pause);
  }
  const char *what = progress->case_name != NULL         ? progress->case_name
                     : progress->done == progress->total ? "finishing"
                                                         : pause;
  int length =
      snprintf(text, sizeof text, "[%zu/%zu] %s%s", progress->done, progress->total, left, what);
  /* The last column is left free: some terminals wrap when it is written. */
  int width = (int)terminal_width(stderr) - 1;
  fprintf(stderr, "\r%.*s\033[K", length < width ? length : width, text);
  (void)fflush(stderr);
  line->shown = true;
}

void status_line_clear(struct status_line *line) {
  if (line->shown) {
    fputs("\r\033[K", stderr);
    (void)fflush(stderr);
    line->shown = false;
  }
}

/* "55.2 GB/s, 23 trials" of what was measured; "" when nothing was. */
static void status_line_describe_rate(const struct bench_case *bench_case,
                                      const struct case_report *report, char *text, size_t size) {
  text[0] = '\0';
  double *scratch = calloc(report->trial_count + 1, sizeof *scratch);
  if (scratch == NULL) {
    return;
  }
  struct summary summary;
  summary_of_trials(report->trials, report->trial_count, scratch, &summary);
  if (summary.count > 0 && bench_case->kind == CASE_CHASE) {
    (void)snprintf(text, size, ", %.4g ns per load, %u trials",
                   summary.median_ns / (double)bench_case->work.chase.hops, summary.count);
  } else if (summary.count > 0 && bench_case->payload_bytes == 0) {
    (void)snprintf(text, size, ", %.4g ns, %u trials", summary.median_ns, summary.count);
  } else if (summary.count > 0 && summary.median_ns > 0) {
    (void)snprintf(text, size, ", %.4g GB/s, %u trials",
                   (double)bench_case->payload_bytes / summary.median_ns, summary.count);
  }
  free(scratch);
}

void status_line_case(struct status_line *line, const struct bench_case *bench_case,
                      const struct case_report *report, size_t done, size_t total) {
  const struct case_outcome *outcome = report->outcome;
  if (outcome->status == CASE_OK && !line->common->verbose) {
    return;
  }
  status_line_clear(line);
  if (outcome->status != CASE_OK) {
    say_warning(line->common, "case %s: %s: %s", bench_case->name,
                case_status_text(outcome->status), outcome->reason);
    return;
  }
  char rate[96];
  status_line_describe_rate(bench_case, report, rate, sizeof rate);
  say_note(line->common, "[%zu/%zu] %s: ok%s%s%s%s%s", done, total, bench_case->name, rate,
           outcome->note[0] != '\0' ? "; " : "", outcome->note,
           report->slowed_by != NULL ? "; " : "",
           report->slowed_by != NULL ? report->slowed_by : "");
}
