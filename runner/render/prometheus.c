#include "runner/render/prometheus.h"

#include "engine/base/strbuf.h"
#include "runner/table/table.h"
#include "runner/table/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A name is a label whole: two that are cut could be one. */
enum { LABELS_MAX = 64 << 20 };
#define NS_PER_S 1e9

struct sample {
  const char *labels; /* "{...}" */
  double value;
};

/* X(enum family_index, name, help) */
#define FAMILY_LIST(X)                                                                             \
  X(FAMILY_BANDWIDTH, "haul_bandwidth_bytes_per_second",                                           \
    "Latest median rate of a case: payload of all its flows.")                                     \
  X(FAMILY_HOP, "haul_hop_seconds", "Latest median time of one dependent load of a case.")         \
  X(FAMILY_CALL, "haul_call_seconds", "Latest median time of one call of the driver.")             \
  X(FAMILY_FLOPS, "haul_floating_point_operations_per_second",                                     \
    "Latest median rate of a kernel that computes.")                                               \
  X(FAMILY_ITERATION, "haul_iteration_seconds", "Latest median time of one iteration of a case.")  \
  X(FAMILY_OK, "haul_case_ok",                                                                     \
    "1: every process of the latest run measured the case; 0: one failed, crashed, hung or was "   \
    "corrupt.")                                                                                    \
  X(FAMILY_PROCESSES, "haul_case_processes", "Processes that the latest medians come from.")       \
  X(FAMILY_MEASURED_AT, "haul_case_run_start_timestamp_seconds",                                   \
    "When the run of the latest median started, seconds since 1970.")                              \
  X(FAMILY_VERDICT, "haul_case_verdict",                                                           \
    "1 for the verdict on the case against the runs it is compared with.")                         \
  X(FAMILY_CHANGE, "haul_case_change_ratio",                                                       \
    "Change of the case's rate against these, or of its time where it has no rate: 0.01 is 1 % "   \
    "more.")

enum family_index {
#define FAMILY_ID(id, name, help) id,
  FAMILY_LIST(FAMILY_ID) FAMILIES
};

static const struct {
  const char *name, *help;
} FAMILY_TEXTS[] = {
#define FAMILY_TEXT(id, name, help) {name, help},
    FAMILY_LIST(FAMILY_TEXT)};

struct family {
  struct sample *samples;
  size_t count, capacity;
};

struct writing {
  struct arena arena;
  struct measured *measured;
  struct family families[FAMILIES];
};

static size_t prometheus_character_size(const char *text) {
  size_t size = 1;
  while ((text[size] & 0xc0) == 0x80) {
    size++;
  }
  return size;
}

static void prometheus_append_label(struct strbuf *text, const char *name, const char *value) {
  if (value == NULL) {
    return; /* an absent label is an empty one */
  }
  struct strbuf repaired;
  struct strbuf shown;
  strbuf_init(&repaired, LABELS_MAX);
  strbuf_init(&shown, LABELS_MAX);
  text_repair(&repaired, value, strlen(value));
  strbuf_append(text, text->length > 1 ? "," : "");
  strbuf_append(text, name);
  strbuf_append(text, "=\"");
  for (const char *c = repaired.text; *c != '\0';) {
    const size_t size = prometheus_character_size(c);
    strbuf_clear(&shown);
    text_escape(&shown, c, size, ESCAPE_TERMINAL);
    if (*c == '\n') {
      strbuf_append(text, "\\n");
    } else if (*c == '"' || *c == '\\') {
      strbuf_printf(text, "\\%c", *c);
    } else if (shown.text[0] == '\\') {
      strbuf_append_char(text,
                         ' '); /* the format has no escape for it, and it may reach a terminal */
    } else {
      strbuf_append_n(text, c, size);
    }
    c += size;
  }
  strbuf_append_char(text, '"');
  strbuf_fini(&shown);
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
  const struct {
    const char *name, *value;
  } labels[] = {{"host", at->host_name},
                {"gpu_name", measured_run_fact(writing->measured, run_index, "gpu_name")},
                {"driver_version", at->driver_version},
                {"scenario", run->scenario},
                {"block", measured->block},
                {"case", measured->name},
                {"path", measured->path},
                {"method", measured->method},
                {"size_bytes", measured->size_bytes > 0 ? size : NULL},
                {"simulated", at->simulated ? "1" : NULL},
                {"verdict", verdict}};
  strbuf_init(&text, LABELS_MAX);
  strbuf_append_char(&text, '{');
  for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
    prometheus_append_label(&text, labels[i].name, labels[i].value);
  }
  strbuf_append_char(&text, '}');
  const char *kept = arena_strdup(&writing->arena, text.text);
  strbuf_fini(&text);
  return kept;
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
  const double value = figure_value(bench, ns);
  switch (bench->figure) {
  case FIGURE_RATE:
    prometheus_add_sample(writing, FAMILY_BANDWIDTH, labels, value * NS_PER_S); /* of bytes a ns */
    return;
  case FIGURE_FLOPS:
    prometheus_add_sample(writing, FAMILY_FLOPS, labels, value * NS_PER_S);
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

static void prometheus_print_family(struct writing *writing, enum family_index which,
                                    FILE *stream) {
  struct family *family = &writing->families[which];
  const char *name = FAMILY_TEXTS[which].name;
  if (family->count == 0) {
    return;
  }
  fprintf(stream, "# HELP %s %s\n# TYPE %s gauge\n", name, FAMILY_TEXTS[which].help, name);
  qsort(family->samples, family->count, sizeof *family->samples, prometheus_compare_samples);
  for (size_t i = 0; i < family->count; i++) {
    char number[NUMBER_TEXT_MAX];
    /* Two samples of the same labels would make Prometheus refuse all of the file. */
    if (i > 0 && strcmp(family->samples[i - 1].labels, family->samples[i].labels) == 0) {
      continue;
    }
    text_real_exact(family->samples[i].value, number);
    fprintf(stream, "%s%s %s\n", name, family->samples[i].labels, number);
  }
}

enum status prometheus_print(struct measured *measured, const struct latest_case *cases,
                             size_t case_count, struct comparison *const *comparisons,
                             size_t comparison_count, FILE *stream, struct error *err) {
  struct writing writing = {.measured = measured};
  for (size_t i = 0; i < case_count; i++) {
    prometheus_add_case(&writing, &cases[i]);
  }
  for (size_t i = 0; i < comparison_count; i++) {
    prometheus_add_verdicts(&writing, comparisons[i]);
  }
  for (unsigned i = 0; i < FAMILIES; i++) {
    prometheus_print_family(&writing, (enum family_index)i, stream);
  }
  arena_fini(&writing.arena);
  errno = 0;
  return stream_check(stream, fflush(stream) != 0, NULL, err);
}
