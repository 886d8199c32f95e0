#include "runner/render/export_prometheus.h"

#include "engine/base/order.h"
#include "engine/base/strbuf.h"
#include "runner/statistics/sample.h"
#include "runner/table/table.h"
#include "runner/table/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A name is a label whole: two that are cut could be one. */
enum { LABELS_MAX = 64 << 20 };
#define NS_PER_S 1e9

/* X(enum family_index, name, help) */
#define FAMILY_LIST(X)                                                                             \
  X(FAMILY_BANDWIDTH, "haul_bandwidth_bytes_per_second",                                           \
    "Latest median rate of a case: payload of all its flows.")                                     \
  X(FAMILY_HOP, "haul_hop_seconds",                                                                \
    "Latest median time of one hop (load of a pointer chase) of a case.")                          \
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
  X(FAMILY_HOST, "haul_host_info",                                                                 \
    "1 for a host with the driver, Linux kernel and GPUs that its runs found.")                    \
  X(FAMILY_BLOCK_BANDWIDTH, "haul_block_bandwidth_bytes_per_second",                               \
    "Median rates of the cases of a block: their lowest, median and highest.")                     \
  X(FAMILY_BLOCK_FLOPS, "haul_block_floating_point_operations_per_second",                         \
    "Median rates of kernels that compute, over the cases of a block.")                            \
  X(FAMILY_BLOCK_HOP, "haul_block_hop_seconds",                                                    \
    "Median times of one hop (load of a pointer chase), over the cases of a block.")               \
  X(FAMILY_BLOCK_CALL, "haul_block_call_seconds",                                                  \
    "Median times of one call of the driver, over the cases of a block.")                          \
  X(FAMILY_BLOCK_CASES, "haul_block_cases",                                                        \
    "Cases of a block that are ok, or not: one failed, crashed, hung or was corrupt.")             \
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

/* Where a figure goes: of a case, and of the cases of a block; FAMILIES = nowhere. */
static const struct {
  enum family_index of_case, of_block;
} FIGURE_FAMILIES[] = {
    [FIGURE_RATE] = {FAMILY_BANDWIDTH, FAMILY_BLOCK_BANDWIDTH},
    [FIGURE_FLOPS] = {FAMILY_FLOPS, FAMILY_BLOCK_FLOPS},
    [FIGURE_HOP] = {FAMILY_HOP, FAMILY_BLOCK_HOP},
    [FIGURE_CALL] = {FAMILY_CALL, FAMILY_BLOCK_CALL},
    [FIGURE_TIME] = {FAMILIES, FAMILIES},
};

struct metric_sample {
  const char *labels; /* "{...}" */
  double value;
  int64_t at_ns; /* 0 = without a time */
};

struct family {
  struct metric_sample *samples;
  size_t count;
};

struct writing {
  struct arena arena;
  struct results *results;
  bool timed; /* OpenMetrics */
  struct family families[FAMILIES];
};

/* ---- labels and samples ---- */

struct label {
  const char *name, *value; /* value: NULL = there is none */
};

static size_t prometheus_character_size(const char *text) {
  size_t size = 1;
  while ((text[size] & 0xc0) == 0x80) {
    size++;
  }
  return size;
}

static void prometheus_put_label(struct strbuf *text, const char *name, const char *value) {
  if (value == NULL) {
    return; /* an absent label is an empty one */
  }
  SCOPED(strbuf_fini) struct strbuf repaired = STRBUF(LABELS_MAX);
  SCOPED(strbuf_fini) struct strbuf shown = STRBUF(LABELS_MAX);
  text_repair(&repaired, value, strlen(value));
  strbuf_printf(text, "%s%s=\"", text->length > 1 ? "," : "", name);
  for (const char *c = repaired.text; *c != '\0';) {
    const size_t size = prometheus_character_size(c);
    strbuf_clear(&shown);
    text_escape(&shown, c, size, ESCAPE_TERMINAL);
    if (*c == '\n') {
      strbuf_append(text, "\\n");
    } else if (*c == '"' || *c == '\\') {
      strbuf_printf(text, "\\%c", *c);
    } else if (shown.text[0] == '\\') {
      /* The format has no escape for it, and it may reach a terminal. */
      strbuf_append_char(text, ' ');
    } else {
      strbuf_append_n(text, c, size);
    }
    c += size;
  }
  strbuf_append_char(text, '"');
}

/* "{...}" */
static const char *prometheus_labels(struct writing *writing, const struct label *labels,
                                     size_t count) {
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(LABELS_MAX);
  strbuf_append_char(&text, '{');
  for (size_t i = 0; i < count; i++) {
    prometheus_put_label(&text, labels[i].name, labels[i].value);
  }
  strbuf_append_char(&text, '}');
  return arena_strndup(&writing->arena, text.text, text.length);
}
#define PROMETHEUS_LABELS(writing, ...)                                                            \
  prometheus_labels((writing), (const struct label[]){__VA_ARGS__},                                \
                    COUNT_OF(((const struct label[]){__VA_ARGS__})))

static const struct results_environment *prometheus_environment(const struct writing *writing,
                                                                size_t run) {
  return &writing->results->environments[writing->results->runs[run].environment];
}

static const char *prometheus_host(const struct results_environment *at) {
  return at->node != NULL ? at->node : at->host_name;
}

/* verdict may be NULL. The driver is none of them: an upgrade begins no new curve. */
static const char *prometheus_labels_of(struct writing *writing, size_t run, size_t bench,
                                        const char *verdict) {
  const struct results_environment *at = prometheus_environment(writing, run);
  const struct results_case *results = &writing->results->cases[bench];
  char size[24];
  (void)snprintf(size, sizeof size, "%" PRIu64, results->size_bytes);
  return PROMETHEUS_LABELS(
      writing, {"host", prometheus_host(at)}, {"scenario", writing->results->runs[run].scenario},
      {"block", results->block}, {"case", results->name}, {"path", results->path},
      {"method", results->method}, {"size_bytes", results->size_bytes > 0 ? size : NULL},
      {"simulated", at->simulated ? "1" : NULL}, {"verdict", verdict});
}

static void prometheus_add_sample_at(struct writing *writing, enum family_index which,
                                     const char *labels, double value, int64_t at_ns) {
  struct family *family = &writing->families[which];
  *ARENA_ADD(&writing->arena, family->samples, family->count) =
      (struct metric_sample){labels, value, at_ns};
}

static void prometheus_add_sample(struct writing *writing, enum family_index which,
                                  const char *labels, double value) {
  prometheus_add_sample_at(writing, which, labels, value, 0);
}

/* A time, as a figure of the case, in base units. */
static double prometheus_figure(const struct results_case *bench, double ns) {
  const double value = figure_value(bench, ns);
  return figure_is_rate(bench->figure) ? value * NS_PER_S : value / NS_PER_S;
}

/* ---- hosts ---- */

/* haul_host_info as that run found it. */
static void prometheus_add_host(struct writing *writing, size_t run, int64_t at_ns) {
  const struct results_environment *at = prometheus_environment(writing, run);
  prometheus_add_sample_at(
      writing, FAMILY_HOST,
      PROMETHEUS_LABELS(writing, {"host", prometheus_host(at)},
                        {"driver_version", at->driver_version},
                        {"kernel", results_run_fact(writing->results, run, "kernel")},
                        {"gpu_name", results_run_fact(writing->results, run, "gpu_name")},
                        {"simulated", at->simulated ? "1" : NULL}),
      1, at_ns);
}

/* Whether run a is of the same host as b, and began later. */
static bool prometheus_is_newer(const struct writing *writing, size_t a, size_t b) {
  const struct results_environment *x = prometheus_environment(writing, a);
  const struct results_environment *y = prometheus_environment(writing, b);
  const struct results_run *runs = writing->results->runs;
  return x->simulated == y->simulated && runs[a].started_at_ns > runs[b].started_at_ns &&
         strcmp(prometheus_host(x), prometheus_host(y)) == 0;
}

/* Of each host as its latest run found it. */
static void prometheus_add_hosts(struct writing *writing, const struct latest_case *cases,
                                 size_t count) {
  const struct results *results = writing->results;
  bool *there = arena_array(&writing->arena, results->run_count, sizeof *there);
  for (size_t i = 0; i < count; i++) {
    there[cases[i].run] = true;
  }
  for (size_t a = 0; a < results->run_count; a++) {
    if (there[a] &&
        !ANY_OF(b, results->run_count, there[b] && prometheus_is_newer(writing, b, a))) {
      prometheus_add_host(writing, a, 0);
    }
  }
}

/* ---- cases ---- */

static void prometheus_add_case(struct writing *writing, const struct latest_case *latest) {
  const char *labels = prometheus_labels_of(writing, latest->run, latest->bench, NULL);
  const int64_t started_at_ns = writing->results->runs[latest->run].started_at_ns;
  prometheus_add_sample(writing, FAMILY_OK, labels, latest->went_wrong == 0 ? 1 : 0);
  prometheus_add_sample(writing, FAMILY_PROCESSES, labels, latest->processes);
  prometheus_add_sample(writing, FAMILY_MEASURED_AT, labels,
                        floor((double)started_at_ns / 1e6) / 1e3);
  if (!isnan(latest->ns)) {
    const struct results_case *bench = &writing->results->cases[latest->bench];
    if (FIGURE_FAMILIES[bench->figure].of_case != FAMILIES) {
      prometheus_add_sample(writing, FIGURE_FAMILIES[bench->figure].of_case, labels,
                            prometheus_figure(bench, latest->ns));
    }
    prometheus_add_sample(writing, FAMILY_ITERATION, labels, latest->ns / NS_PER_S);
  }
}

/* Rows are sorted by evidence, strongest first: of a case with several rows, the first counts. */
static void prometheus_add_verdicts(struct writing *writing, const struct comparison *comparison) {
  bool *seen = arena_array(&writing->arena, writing->results->case_count, sizeof *seen);
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

/* ---- blocks ---- */

/* One case of a run. */
struct block_value {
  const char *host, *scenario, *block;
  const struct results_case *bench;
  size_t run;
  double ns; /* NAN: a process has no number */
  bool simulated;
};

ORDER_DEFINE(prometheus_compare_values, struct block_value, strcmp(x->host, y->host) ?: ORDER(x->simulated, y->simulated) ?: strcmp(x->scenario, y->scenario) ?: strcmp(x->block, y->block) ?: ORDER(x->run, y->run) ?: ORDER(x->bench->figure, y->bench->figure) ?: ORDER(x->ns, y->ns))

static struct block_value prometheus_value(const struct writing *writing, size_t run, size_t bench,
                                           double ns) {
  const struct results_environment *at = prometheus_environment(writing, run);
  return (struct block_value){.host = prometheus_host(at),
                              .scenario = writing->results->runs[run].scenario,
                              .block = writing->results->cases[bench].block,
                              .bench = &writing->results->cases[bench],
                              .run = run,
                              .ns = ns,
                              .simulated = at->simulated};
}

/* Of every run: the median over the processes of each case that was not skipped. */
static size_t prometheus_gather(struct writing *writing, struct block_value *values) {
  const struct results *results = writing->results;
  double *processes = arena_array(&writing->arena, results->median_count, sizeof *processes);
  size_t count = 0;
  for (size_t first = 0; first < results->median_count;) {
    const struct results_median *at = &results->medians[first];
    size_t used = 0;
    size_t last = first;
    bool skipped = true;
    for (; last < results->median_count && results->medians[last].bench == at->bench &&
           results->medians[last].run == at->run;
         last++) {
      skipped = skipped && results->medians[last].status == CASE_SKIPPED;
      processes[used] = results->medians[last].ns;
      used += isnan(processes[used]) ? 0 : 1;
    }
    if (!skipped) {
      const bool whole = used == last - first;
      values[count++] = prometheus_value(writing, at->run, at->bench,
                                         whole ? sample_median_in_place(processes, used) : NAN);
    }
    first = last;
  }
  return count;
}

static const char *prometheus_block_labels(struct writing *writing, const struct block_value *of,
                                           const char *name, const char *value) {
  return PROMETHEUS_LABELS(writing, {"host", of->host}, {"scenario", of->scenario},
                           {"block", of->block}, {"simulated", of->simulated ? "1" : NULL},
                           {name, value});
}

static bool prometheus_is_same_block(const struct block_value *a, const struct block_value *b) {
  return a->simulated == b->simulated && strcmp(a->host, b->host) == 0 &&
         strcmp(a->scenario, b->scenario) == 0 && strcmp(a->block, b->block) == 0;
}

/* The labels of a block of a host, by statistic, and of its cases that are ok and not. */
struct block_labels {
  const char *min, *median, *max, *ok, *not_ok;
};

/* The values [0, count), in the order of their times, are of one block, run and figure. */
static void prometheus_add_figures(struct writing *writing, const struct block_value *values,
                                   size_t count, const struct block_labels *labels, int64_t at_ns) {
  const enum family_index family = FIGURE_FAMILIES[values[0].bench->figure].of_block;
  double *found = arena_array(&writing->arena, count, sizeof *found);
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    if (!isnan(values[i].ns)) {
      found[used++] = prometheus_figure(values[i].bench, values[i].ns);
    }
  }
  if (used > 0 && family != FAMILIES) {
    sample_sort(found, used);
    prometheus_add_sample_at(writing, family, labels->min, found[0], at_ns);
    prometheus_add_sample_at(writing, family, labels->median, sample_median(found, used), at_ns);
    prometheus_add_sample_at(writing, family, labels->max, found[used - 1], at_ns);
  }
}

/* The values [0, count) are of one block. */
static void prometheus_add_block(struct writing *writing, const struct block_value *values,
                                 size_t count) {
  const struct block_labels labels = {prometheus_block_labels(writing, values, "stat", "min"),
                                      prometheus_block_labels(writing, values, "stat", "median"),
                                      prometheus_block_labels(writing, values, "stat", "max"),
                                      prometheus_block_labels(writing, values, "status", "ok"),
                                      prometheus_block_labels(writing, values, "status", "not_ok")};
  FOR_EACH_GROUP(begin, end, count, values[end].run == values[begin].run) {
    const int64_t at_ns =
        writing->timed ? writing->results->runs[values[begin].run].started_at_ns : 0;
    size_t ok = 0;
    for (size_t i = begin; i < end; i++) {
      ok += isnan(values[i].ns) ? 0 : 1;
    }
    prometheus_add_sample_at(writing, FAMILY_BLOCK_CASES, labels.ok, (double)ok, at_ns);
    prometheus_add_sample_at(writing, FAMILY_BLOCK_CASES, labels.not_ok, (double)(end - begin - ok),
                             at_ns);
    const struct block_value *run = values + begin;
    FOR_EACH_GROUP(first, last, end - begin, run[last].bench->figure == run[first].bench->figure) {
      prometheus_add_figures(writing, run + first, last - first, &labels, at_ns);
    }
  }
}

/* ---- the text ---- */

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

/* All families. Ends the writing. */
static enum status prometheus_print_all(struct writing *writing, FILE *stream, struct error *err) {
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

enum status prometheus_print(struct results *results, const struct latest_case *cases,
                             size_t case_count, struct comparison *const *comparisons,
                             size_t comparison_count, FILE *stream, struct error *err) {
  struct writing writing = {.results = results};
  for (size_t i = 0; i < case_count; i++) {
    prometheus_add_case(&writing, &cases[i]);
  }
  prometheus_add_hosts(&writing, cases, case_count);
  for (size_t i = 0; i < comparison_count; i++) {
    prometheus_add_verdicts(&writing, comparisons[i]);
  }
  return prometheus_print_all(&writing, stream, err);
}

enum status prometheus_print_blocks(struct results *results, const struct latest_case *latest,
                                    size_t latest_count, FILE *stream, struct error *err) {
  struct writing writing = {.results = results, .timed = latest == NULL};
  const size_t capacity = latest != NULL ? latest_count : results->median_count;
  struct block_value *values = arena_array(&writing.arena, capacity, sizeof *values);
  size_t count = 0;
  for (; latest != NULL && count < latest_count; count++) {
    const struct latest_case *of = &latest[count];
    values[count] =
        prometheus_value(&writing, of->run, of->bench, of->went_wrong == 0 ? of->ns : (double)NAN);
  }
  count = latest == NULL ? prometheus_gather(&writing, values) : count;
  ORDER_SORT(values, count, prometheus_compare_values);
  FOR_EACH_GROUP(first, last, count, prometheus_is_same_block(&values[first], &values[last])) {
    prometheus_add_block(&writing, values + first, last - first);
  }
  if (latest != NULL) {
    prometheus_add_hosts(&writing, latest, latest_count);
  }
  for (size_t r = 0; latest == NULL && r < results->run_count; r++) {
    prometheus_add_host(&writing, r, results->runs[r].started_at_ns);
  }
  return prometheus_print_all(&writing, stream, err);
}
