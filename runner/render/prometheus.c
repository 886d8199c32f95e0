#include "runner/render/prometheus.h"

#include "engine/base/strbuf.h"
#include "runner/table/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LABELS_MAX = 1 << 16 };
#define NS_PER_S 1e9

struct sample {
  const char *labels; /* "{...}" */
  double value;
};

struct family {
  const char *name;
  const char *help;
  struct sample *samples;
  size_t count, capacity;
};

enum family_index {
  FAMILY_BANDWIDTH,
  FAMILY_HOP,
  FAMILY_CALL,
  FAMILY_ITERATION,
  FAMILY_OK,
  FAMILY_PROCESSES,
  FAMILY_MEASURED_AT,
  FAMILY_VERDICT,
  FAMILY_CHANGE,
  FAMILIES
};

struct writing {
  struct arena arena;
  struct measured *measured;
  struct family families[FAMILIES];
};

static void prometheus_name_families(struct family families[FAMILIES]) {
  families[FAMILY_BANDWIDTH] =
      (struct family){.name = "haul_bandwidth_bytes_per_second",
                      .help = "Latest median rate of a case: payload of all its flows."};
  families[FAMILY_HOP] = (struct family){
      .name = "haul_hop_seconds", .help = "Latest median time of one dependent load of a case."};
  families[FAMILY_CALL] = (struct family){.name = "haul_call_seconds",
                                          .help = "Latest median time of one call of the driver."};
  families[FAMILY_ITERATION] = (struct family){
      .name = "haul_iteration_seconds", .help = "Latest median time of one iteration of a case."};
  families[FAMILY_OK] = (struct family){
      .name = "haul_case_ok",
      .help = "1: every process of the latest run measured the case; 0: one failed, crashed, hung "
              "or was corrupt."};
  families[FAMILY_PROCESSES] = (struct family){
      .name = "haul_case_processes", .help = "Processes that the latest medians come from."};
  families[FAMILY_MEASURED_AT] =
      (struct family){.name = "haul_case_run_start_timestamp_seconds",
                      .help = "When the run of the latest median started, seconds since 1970."};
  families[FAMILY_VERDICT] = (struct family){
      .name = "haul_case_verdict",
      .help = "1 for the verdict on the case against the runs it is compared with."};
  families[FAMILY_CHANGE] = (struct family){
      .name = "haul_case_change_ratio",
      .help = "Change of the case's rate against these, or of its time where it has no rate: 0.01 "
              "is 1 % more."};
}

static void prometheus_append_label(struct strbuf *text, const char *name, const char *value) {
  if (value == NULL) {
    return; /* an absent label is an empty one */
  }
  struct strbuf repaired;
  strbuf_init(&repaired, LABELS_MAX);
  text_repair(&repaired, value, strlen(value));
  strbuf_append(text, text->length > 1 ? "," : "");
  strbuf_append(text, name);
  strbuf_append(text, "=\"");
  for (const char *c = repaired.text; *c != '\0'; c++) {
    if (*c == '\n') {
      strbuf_append(text, "\\n");
    } else if (*c == '"' || *c == '\\') {
      strbuf_printf(text, "\\%c", *c);
    } else {
      strbuf_append_char(text, *c);
    }
  }
  strbuf_append_char(text, '"');
  strbuf_fini(&repaired);
}

/* verdict may be NULL. */
static const char *prometheus_labels_of(struct writing *writing, size_t run_index, size_t bench,
                                        const char *verdict) {
  const struct measured_run *run = &writing->measured->runs[run_index];
  const struct measured_environment *at = &writing->measured->environments[run->environment];
  const struct measured_case *measured = &writing->measured->cases[bench];
  struct strbuf text;
  char size[24];
  (void)snprintf(size, sizeof size, "%" PRIu64, measured->size_bytes);
  strbuf_init(&text, LABELS_MAX);
  strbuf_append_char(&text, '{');
  prometheus_append_label(&text, "host", at->host_name);
  prometheus_append_label(&text, "gpu_name",
                          measured_run_fact(writing->measured, run_index, "gpu_name"));
  prometheus_append_label(&text, "driver_version", at->driver_version);
  prometheus_append_label(&text, "scenario", run->scenario);
  prometheus_append_label(&text, "block", measured->block);
  prometheus_append_label(&text, "case", measured->name);
  prometheus_append_label(&text, "path", measured->path);
  prometheus_append_label(&text, "method", measured->method);
  prometheus_append_label(&text, "size_bytes", measured->size_bytes > 0 ? size : NULL);
  prometheus_append_label(&text, "simulated", at->simulated ? "1" : NULL);
  prometheus_append_label(&text, "verdict", verdict);
  strbuf_append_char(&text, '}');
  const char *labels = arena_strdup(&writing->arena, text.text);
  strbuf_fini(&text);
  return labels;
}

static void prometheus_add_sample(struct writing *writing, enum family_index which,
                                  const char *labels, double value) {
  struct family *family = &writing->families[which];
  family->samples = arena_grow(&writing->arena, family->samples, family->count, &family->capacity,
                               sizeof *family->samples);
  family->samples[family->count++] = (struct sample){labels, value};
}

static void prometheus_add_figure(struct writing *writing, const struct measured_case *bench,
                                  double ns, const char *labels) {
  const enum figure figure = bench->figure;
  const double value = figure_value(bench, ns);
  switch (figure) {
  case FIGURE_RATE:
    prometheus_add_sample(writing, FAMILY_BANDWIDTH, labels, value * NS_PER_S); /* of bytes a ns */
    return;
  case FIGURE_HOP:
    prometheus_add_sample(writing, FAMILY_HOP, labels, value / NS_PER_S);
    return;
  case FIGURE_CALL:
    prometheus_add_sample(writing, FAMILY_CALL, labels, value / NS_PER_S);
    return;
  case FIGURE_TIME:
  case figure_name_count:
    return;
  }
}

static void prometheus_add_case(struct writing *writing, const struct latest_case *latest) {
  const char *labels = prometheus_labels_of(writing, latest->run, latest->bench, NULL);
  const int64_t started_at_ns = writing->measured->runs[latest->run].started_at_ns;
  prometheus_add_sample(writing, FAMILY_OK, labels, latest->went_wrong == 0 ? 1 : 0);
  prometheus_add_sample(writing, FAMILY_PROCESSES, labels, latest->processes);
  prometheus_add_sample(writing, FAMILY_MEASURED_AT, labels,
                        floor((double)started_at_ns / 1e6) / 1e3);
  if (!isnan(latest->ns)) {
    prometheus_add_figure(writing, &writing->measured->cases[latest->bench], latest->ns, labels);
    prometheus_add_sample(writing, FAMILY_ITERATION, labels, latest->ns / NS_PER_S);
  }
}

/* Rows are sorted by evidence, strongest first: of a case with several rows, the first counts. */
static void prometheus_add_verdicts(struct writing *writing, const struct comparison *comparison) {
  bool *seen = arena_array(&writing->arena, writing->measured->case_count, sizeof *seen);
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    const size_t run =
        row->sides[SIDE_B].run != SIZE_MAX ? row->sides[SIDE_B].run : row->sides[SIDE_A].run;
    if (seen[row->bench] || run == SIZE_MAX) {
      continue;
    }
    seen[row->bench] = true;
    prometheus_add_sample(
        writing, FAMILY_VERDICT,
        prometheus_labels_of(writing, run, row->bench, verdict_text(row->result.verdict)), 1);
    if (!isnan(row->change)) {
      prometheus_add_sample(writing, FAMILY_CHANGE,
                            prometheus_labels_of(writing, run, row->bench, NULL), row->change);
    }
  }
}

static int prometheus_compare_samples(const void *left, const void *right) {
  const struct sample *a = left;
  const struct sample *b = right;
  return strcmp(a->labels, b->labels);
}

static void prometheus_print_family(struct family *family, FILE *stream) {
  if (family->count == 0) {
    return;
  }
  fprintf(stream, "# HELP %s %s\n# TYPE %s gauge\n", family->name, family->help, family->name);
  qsort(family->samples, family->count, sizeof *family->samples, prometheus_compare_samples);
  for (size_t i = 0; i < family->count; i++) {
    char number[NUMBER_TEXT_MAX];
    /* Two samples of the same labels would make Prometheus refuse all of the file. */
    if (i > 0 && strcmp(family->samples[i - 1].labels, family->samples[i].labels) == 0) {
      continue;
    }
    text_real_exact(family->samples[i].value, number);
    fprintf(stream, "%s%s %s\n", family->name, family->samples[i].labels, number);
  }
}

enum status prometheus_print(struct measured *measured, const struct latest_case *cases,
                             size_t case_count, struct comparison *const *comparisons,
                             size_t comparison_count, FILE *stream, struct error *err) {
  struct writing writing = {.measured = measured};
  prometheus_name_families(writing.families);
  for (size_t i = 0; i < case_count; i++) {
    prometheus_add_case(&writing, &cases[i]);
  }
  for (size_t i = 0; i < comparison_count; i++) {
    prometheus_add_verdicts(&writing, comparisons[i]);
  }
  for (int i = 0; i < FAMILIES; i++) {
    prometheus_print_family(&writing.families[i], stream);
  }
  arena_fini(&writing.arena);
  if (fflush(stream) != 0 && errno != EPIPE) {
    return error_set_errno(err, errno, "cannot write");
  }
  return STATUS_OK;
}
