#include "runner/render/prometheus_internal.h"

#include "engine/base/order.h"
#include "engine/base/strbuf.h"
#include "runner/table/table.h"
#include "runner/table/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A name is a label whole: two that are cut could be one. */
enum { LABELS_MAX = 64 << 20 };
static const struct {
  const char *name, *help;
} FAMILY_TEXTS[] = {
#define FAMILY_TEXT(id, name, help) {name, help},
    FAMILY_LIST(FAMILY_TEXT)};

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

const char *prometheus_labels(struct writing *writing, const struct label *labels, size_t count) {
  struct strbuf text;
  strbuf_init(&text, LABELS_MAX);
  strbuf_append_char(&text, '{');
  for (size_t i = 0; i < count; i++) {
    prometheus_append_label(&text, labels[i].name, labels[i].value);
  }
  strbuf_append_char(&text, '}');
  const char *kept = arena_strdup(&writing->arena, text.text);
  strbuf_fini(&text);
  return kept;
}

const struct measured_environment *prometheus_environment(const struct writing *writing,
                                                          size_t run) {
  return &writing->measured->environments[writing->measured->runs[run].environment];
}

const char *prometheus_host(const struct measured_environment *at) {
  return at->node != NULL ? at->node : at->host_name;
}

/* verdict may be NULL. The driver is none of them: an upgrade begins no new curve. */
static const char *prometheus_labels_of(struct writing *writing, size_t run, size_t bench,
                                        const char *verdict) {
  const struct measured_environment *at = prometheus_environment(writing, run);
  const struct measured_case *measured = &writing->measured->cases[bench];
  char size[24];
  (void)snprintf(size, sizeof size, "%" PRIu64, measured->size_bytes);
  const struct label labels[] = {{"host", prometheus_host(at)},
                                 {"scenario", writing->measured->runs[run].scenario},
                                 {"block", measured->block},
                                 {"case", measured->name},
                                 {"path", measured->path},
                                 {"method", measured->method},
                                 {"size_bytes", measured->size_bytes > 0 ? size : NULL},
                                 {"simulated", at->simulated ? "1" : NULL},
                                 {"verdict", verdict}};
  return prometheus_labels(writing, labels, COUNT_OF(labels));
}

void prometheus_add_sample_at(struct writing *writing, enum family_index which, const char *labels,
                              double value, int64_t at_ns) {
  struct family *family = &writing->families[which];
  *ARENA_ADD(&writing->arena, family->samples, family->count, &family->capacity) =
      (struct metric_sample){labels, value, at_ns};
}

static void prometheus_add_sample(struct writing *writing, enum family_index which,
                                  const char *labels, double value) {
  prometheus_add_sample_at(writing, which, labels, value, 0);
}

void prometheus_add_host(struct writing *writing, size_t run, int64_t at_ns) {
  const struct measured_environment *at = prometheus_environment(writing, run);
  const struct label labels[] = {
      {"host", prometheus_host(at)},
      {"driver_version", at->driver_version},
      {"kernel", measured_run_fact(writing->measured, run, "kernel")},
      {"gpu_name", measured_run_fact(writing->measured, run, "gpu_name")},
      {"simulated", at->simulated ? "1" : NULL}};
  prometheus_add_sample_at(writing, FAMILY_HOST,
                           prometheus_labels(writing, labels, COUNT_OF(labels)), 1, at_ns);
}

/* Of each host as its latest run found it. */
void prometheus_add_hosts(struct writing *writing, const struct latest_case *cases, size_t count) {
  const struct measured *measured = writing->measured;
  bool *older = arena_array(&writing->arena, measured->run_count, sizeof *older);
  bool *there = arena_array(&writing->arena, measured->run_count, sizeof *there);
  for (size_t i = 0; i < count; i++) {
    there[cases[i].run] = true;
  }
  for (size_t a = 0; a < measured->run_count; a++) {
    for (size_t b = 0; there[a] && b < measured->run_count; b++) {
      const struct measured_environment *x = prometheus_environment(writing, a);
      const struct measured_environment *y = prometheus_environment(writing, b);
      older[a] = older[a] || (there[b] && x->simulated == y->simulated &&
                              strcmp(prometheus_host(x), prometheus_host(y)) == 0 &&
                              measured->runs[b].started_at_ns > measured->runs[a].started_at_ns);
    }
    if (there[a] && !older[a]) {
      prometheus_add_host(writing, a, 0);
    }
  }
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

ORDER_DEFINE(prometheus_compare_samples, struct metric_sample,
             strcmp(x->labels, y->labels) ?: ORDER(x->at_ns, y->at_ns))

static void prometheus_print_family(struct writing *writing, enum family_index which,
                                    FILE *stream) {
  static const char INFO[] = "_info";
  struct family *family = &writing->families[which];
  const char *name = FAMILY_TEXTS[which].name;
  if (family->count == 0) {
    return;
  }
  const bool info = writing->timed && which == FAMILY_HOST; /* OpenMetrics has a type for it */
  const int length = (int)(strlen(name) - (info ? sizeof INFO - 1 : 0));
  fprintf(stream, "# HELP %.*s %s\n# TYPE %.*s %s\n", length, name, FAMILY_TEXTS[which].help,
          length, name, info ? "info" : "gauge");
  ORDER_SORT(family->samples, family->count, prometheus_compare_samples);
  for (size_t i = 0; i < family->count; i++) {
    const struct metric_sample *sample = &family->samples[i];
    char number[NUMBER_TEXT_MAX];
    /* Two samples of the same labels would make Prometheus refuse all of the file. */
    if (i > 0 && prometheus_compare_samples(&sample[-1], sample) == 0) {
      continue;
    }
    text_real_exact(sample->value, number);
    fprintf(stream, "%s%s %s", name, sample->labels, number);
    if (sample->at_ns != 0) {
      fprintf(stream, " %.3f", floor((double)sample->at_ns / 1e6) / 1e3);
    }
    (void)fputc('\n', stream);
  }
}

enum status prometheus_print_all(struct writing *writing, FILE *stream, struct error *err) {
  for (unsigned i = 0; i < FAMILIES; i++) {
    prometheus_print_family(writing, (enum family_index)i, stream);
  }
  if (writing->timed) {
    (void)fputs("# EOF\n", stream);
  }
  arena_fini(&writing->arena);
  errno = 0;
  return stream_check(stream, fflush(stream) != 0, NULL, err);
}

enum status prometheus_print(struct measured *measured, const struct latest_case *cases,
                             size_t case_count, struct comparison *const *comparisons,
                             size_t comparison_count, FILE *stream, struct error *err) {
  struct writing writing = {.measured = measured};
  for (size_t i = 0; i < case_count; i++) {
    prometheus_add_case(&writing, &cases[i]);
  }
  prometheus_add_hosts(&writing, cases, case_count);
  for (size_t i = 0; i < comparison_count; i++) {
    prometheus_add_verdicts(&writing, comparisons[i]);
  }
  return prometheus_print_all(&writing, stream, err);
}
