#include "runner/expect/learn.h"

#include "engine/base/globs.h"
#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "engine/case/transfer.h"
#include "runner/expect/observed.h"
#include "runner/record/measured.h"
#include "runner/statistics/robust.h"
#include "runner/statistics/sample.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The least spread of what one kind of host measures, and the most that is still called usual; of
 * one or two hosts nothing is known of others. */
static const double TOLERANCE_MIN = 0.01;
static const double TOLERANCE_MAX = 0.10;
static const double TOLERANCE_FEW = 0.05;
static const double SPREADS = 3;
/* A host or value that is nearer to the middle is no outlier, however little others differ. */
static const double MARGIN = 0.01;

/* One value: better is higher, whatever its unit. */
struct learn_value {
  size_t host;
  double score; /* ln of the rate; of a time, minus its ln */
  bool left_out;
};

struct learn_row {
  size_t machine;
  const char *key; /* all that tells rows apart */
  struct expect_row row;
  const char *drivers;
  struct learn_value *values;
  size_t count, capacity;
};

struct learn_machine {
  const char *key;
  struct expect_machine machine;
};

struct learn_host {
  const char *key, *name;
  double worst;     /* ln, below the others; 0 = never left out */
  const char *what; /* of the row where it was worst */
  size_t rows;
};

struct learn {
  struct arena arena;
  struct observed_reader reader;
  const char *gpu, *only;
  int64_t newest_ns; /* start of the last run */
  struct learn_machine *machines;
  size_t machine_count, machine_capacity;
  struct learn_row *rows;
  size_t row_count, row_capacity;
  struct learn_host *hosts;
  size_t host_count, host_capacity;
  size_t host;       /* of the run at hand */
  size_t above_peak; /* results */
  const char *above_peak_name;
};

struct learn *learn_new(void) {
  struct learn *learn = calloc(1, sizeof *learn);
  if (learn == NULL) {
    abort(); /* as the arena does */
  }
  return learn;
}

void learn_free(struct learn *learn) {
  if (learn != NULL) {
    arena_fini(&learn->arena);
    free(learn);
  }
}

/* ---- gathering ---- */

static uint32_t learn_number(double value) {
  return value >= 1 && value < 1000 ? (uint32_t)value : 0;
}

/* The machine that a GPU is of. */
static size_t learn_find_machine(struct learn *learn, const struct hardware *gpu) {
  const char *key = arena_format(&learn->arena, "%s|%g|%g|%g|%g|%g|%g", gpu->name,
                                 gpu->pcie_generation, gpu->pcie_width, gpu->nvlink_version,
                                 gpu->nvlink_links, gpu->c2c, gpu->simulated);
  for (size_t i = 0; i < learn->machine_count; i++) {
    if (strcmp(learn->machines[i].key, key) == 0) {
      return i;
    }
  }
  learn->machines = arena_grow(&learn->arena, learn->machines, learn->machine_count,
                               &learn->machine_capacity, sizeof *learn->machines);
  struct learn_machine *made = &learn->machines[learn->machine_count];
  *made = (struct learn_machine){.key = key};
  struct expect_machine *machine = &made->machine;
  machine->gpu = gpu->name;
  machine->pcie_generation = learn_number(gpu->pcie_generation);
  machine->pcie_width = learn_number(gpu->pcie_width);
  machine->nvlink_links = learn_number(gpu->nvlink_links);
  machine->nvlink_version = machine->nvlink_links > 0 ? learn_number(gpu->nvlink_version) : 0;
  machine->c2c = gpu->c2c > 0;
  machine->simulated = gpu->simulated > 0;
  machine->name =
      arena_format(&learn->arena, "%s on PCIe %u x%u, %u NVLinks", gpu->name,
                   machine->pcie_generation, machine->pcie_width, machine->nvlink_links);
  return learn->machine_count++;
}

static struct expect_row learn_row_of(const struct observed *observed) {
  /* Of several flows the path does not say which they are, and of unified memory neither path nor
   * method what brings the pages: the block does. */
  const bool plain =
      observed->plain && observed->path != EXPECT_SEVERAL && observed->method != METHOD_UM;
  struct expect_row row = expect_row_empty();
  row.kind = observed->kind;
  row.path = observed->path;
  row.method = observed->method;
  row.operation = observed->operation;
  row.initiator = observed->initiator;
  row.memory = observed->node >= 0 ? observed->memory : EXPECT_ANY;
  row.block = plain ? NULL : observed->block;
  row.axes = plain ? NULL : observed->axes;
  row.size_min = observed->size;
  row.size_max = observed->size;
  row.unit = observed->time ? EXPECT_NS : EXPECT_GBPS;
  row.statement = EXPECT_REPORTS;
  return row;
}

static struct learn_row *learn_find_row(struct learn *learn, size_t machine,
                                        const struct observed *observed) {
  const struct expect_row row = learn_row_of(observed);
  const char *key = arena_format(
      &learn->arena, "%zu|%u|%u|%u|%u|%u|%u|%s|%s|%llu|%u", machine, row.kind, row.path, row.method,
      row.operation, row.initiator, row.memory, row.block != NULL ? row.block : "",
      row.axes != NULL ? row.axes : "", (unsigned long long)row.size_min, row.unit);
  for (size_t i = learn->row_count; i-- > 0;) {
    if (strcmp(learn->rows[i].key, key) == 0) {
      return &learn->rows[i];
    }
  }
  learn->rows = arena_grow(&learn->arena, learn->rows, learn->row_count, &learn->row_capacity,
                           sizeof *learn->rows);
  struct learn_row *made = &learn->rows[learn->row_count++];
  *made = (struct learn_row){.machine = machine, .key = key, .row = row, .drivers = ""};
  return made;
}

static void learn_add_driver(struct learn *learn, struct learn_row *row, const char *driver) {
  if (driver[0] != '\0' && !strings_has_word(row->drivers, driver)) {
    row->drivers = arena_format(&learn->arena, "%s%s%s", row->drivers,
                                row->drivers[0] != '\0' ? ", " : "", driver);
  }
}

static bool learn_is_asked_for(const struct learn *learn, const struct observed *observed,
                               const struct cell *cells) {
  const char *name = observed_text(&learn->reader, cells, CELL_CASE);
  return learn->only == NULL || globs_match(learn->only, observed->block) ||
         (name != NULL && globs_match(learn->only, name));
}

/* Rows of the host alone say more of its processors than of GPUs, by which files are keyed. */
static enum status learn_take(void *context, const struct cell *cells, struct error *err) {
  (void)err;
  struct learn *learn = context;
  struct observed observed;
  if (!observed_read(&learn->reader, cells, &observed) || observed.block == NULL ||
      !learn_is_asked_for(learn, &observed, cells)) {
    return STATUS_OK;
  }
  const int number = observed.gpus[0] >= 0 ? observed.gpus[0] : observed.gpus[1];
  const struct hardware *gpu = observed_gpu(&learn->reader, number);
  if (gpu == NULL || (learn->gpu != NULL && fnmatch(learn->gpu, gpu->name, FNM_CASEFOLD) != 0)) {
    return STATUS_OK;
  }
  if (observed.above_peak) {
    learn->above_peak++;
    learn->above_peak_name = observed_text(&learn->reader, cells, CELL_CASE);
    return STATUS_OK;
  }
  struct learn_row *row = learn_find_row(learn, learn_find_machine(learn, gpu), &observed);
  learn_add_driver(learn, row, gpu->driver_version);
  row->values =
      arena_grow(&learn->arena, row->values, row->count, &row->capacity, sizeof *row->values);
  row->values[row->count++] = (struct learn_value){
      .host = learn->host, .score = observed.time ? -log(observed.value) : log(observed.value)};
  return STATUS_OK;
}

static enum status learn_begin(void *context, const struct column *columns, size_t count,
                               struct error *err) {
  (void)err;
  struct learn *learn = context;
  observed_columns(&learn->reader, columns, count);
  return STATUS_OK;
}

static enum status learn_end(void *context, struct error *err) {
  (void)context;
  (void)err;
  return STATUS_OK;
}

/* A host by its name and first GPU: names are often the same. */
static size_t learn_find_host(struct learn *learn) {
  const struct hardware *first = learn->reader.gpu_count > 0 ? &learn->reader.gpus[0] : NULL;
  const char *name = first != NULL ? first->host_name : "";
  const char *key = arena_format(&learn->arena, "%s|%s", name, first != NULL ? first->uuid : "");
  for (size_t i = 0; i < learn->host_count; i++) {
    if (strcmp(learn->hosts[i].key, key) == 0) {
      return i;
    }
  }
  learn->hosts = arena_grow(&learn->arena, learn->hosts, learn->host_count, &learn->host_capacity,
                            sizeof *learn->hosts);
  learn->hosts[learn->host_count] = (struct learn_host){.key = key, .name = name};
  return learn->host_count++;
}

enum status learn_add_run(struct learn *learn, struct query *query, const char *run,
                          int64_t started_at_ns, const char *gpu, const char *only,
                          struct error *err) {
  const struct query_parameter parameter = {"run", run};
  const struct row_sink sink = {
      .context = learn, .begin = learn_begin, .row = learn_take, .end = learn_end};
  struct result_set hardware;
  result_set_init(&hardware, SIZE_MAX);
  learn->gpu = gpu;
  learn->newest_ns = started_at_ns > learn->newest_ns ? started_at_ns : learn->newest_ns;
  learn->only = only;
  enum status status = query_run_saved(query, "hardware", &parameter, 1, NULL, &hardware.sink, err);
  if (status == STATUS_OK) {
    observed_begin(&learn->reader, &learn->arena, &hardware);
    learn->host = learn_find_host(learn);
    status = query_run_saved(query, "run-result", &parameter, 1, NULL, &sink, err);
  }
  result_set_fini(&hardware);
  return status;
}

/* ---- what is usual ---- */

/* Marks in `low` which of the scores are outliers on the bad side; few: none is. */
static void learn_mark_low(struct arena *arena, const double *values, size_t count, bool *low,
                           double *deviations) {
  struct robust_score *scores = arena_array(arena, count, sizeof *scores);
  for (size_t i = 0; i < count; i++) {
    scores[i] = (struct robust_score){.value = values[i], .margin = MARGIN};
  }
  robust_score_all(scores, count, 0, 1, false);
  for (size_t i = 0; i < count; i++) {
    low[i] = scores[i].low;
    deviations[i] = scores[i].deviation;
  }
}

/* The median of a host's values of a row; NAN: it has none. */
static double learn_host_median(struct arena *arena, const struct learn_row *row, size_t host) {
  double *values = arena_array(arena, row->count, sizeof *values);
  size_t count = 0;
  for (size_t i = 0; i < row->count; i++) {
    if (row->values[i].host == host) {
      values[count++] = row->values[i].score;
    }
  }
  return sample_median_in_place(values, count);
}

static void learn_leave_out_hosts(struct learn *learn, struct arena *arena, struct learn_row *row) {
  double *medians = arena_array(arena, learn->host_count, sizeof *medians);
  double *deviations = arena_array(arena, learn->host_count, sizeof *deviations);
  size_t *hosts = arena_array(arena, learn->host_count, sizeof *hosts);
  bool *low = arena_array(arena, learn->host_count, sizeof *low);
  size_t count = 0;
  for (size_t h = 0; h < learn->host_count; h++) {
    const double median = learn_host_median(arena, row, h);
    if (!isnan(median)) {
      hosts[count] = h;
      medians[count++] = median;
    }
  }
  learn_mark_low(arena, medians, count, low, deviations);
  for (size_t i = 0; i < count; i++) {
    struct learn_host *host = &learn->hosts[hosts[i]];
    if (!low[i]) {
      continue;
    }
    host->rows++;
    if (deviations[i] < host->worst) {
      host->worst = deviations[i];
      host->what = row->row.path != EXPECT_ANY ? expect_path_text((enum expect_path)row->row.path)
                                               : row->row.block;
    }
    for (size_t v = 0; v < row->count; v++) {
      row->values[v].left_out = row->values[v].left_out || row->values[v].host == hosts[i];
    }
  }
}

/* The scores that are left, sorted. */
static size_t learn_kept(const struct learn_row *row, double *scores) {
  size_t count = 0;
  for (size_t i = 0; i < row->count; i++) {
    if (!row->values[i].left_out) {
      scores[count++] = row->values[i].score;
    }
  }
  sample_sort(scores, count);
  return count;
}

static void learn_leave_out_values(struct arena *arena, struct learn_row *row) {
  double *scores = arena_array(arena, row->count, sizeof *scores);
  double *deviations = arena_array(arena, row->count, sizeof *deviations);
  size_t *at = arena_array(arena, row->count, sizeof *at);
  bool *low = arena_array(arena, row->count, sizeof *low);
  size_t count = 0;
  for (size_t i = 0; i < row->count; i++) {
    if (!row->values[i].left_out) {
      at[count] = i;
      scores[count++] = row->values[i].score;
    }
  }
  learn_mark_low(arena, scores, count, low, deviations);
  for (size_t i = 0; i < count; i++) {
    row->values[at[i]].left_out = low[i];
  }
}

/* Five digits: nobody measures more. */
static double learn_round(double value) {
  char text[32];
  (void)snprintf(text, sizeof text, "%.5g", value);
  return strtod(text, NULL);
}

static size_t learn_count_hosts(const struct learn *learn, struct arena *arena,
                                const struct learn_row *row) {
  bool *seen = arena_array(arena, learn->host_count, sizeof *seen);
  size_t count = 0;
  memset(seen, 0, learn->host_count * sizeof *seen);
  for (size_t i = 0; i < row->count; i++) {
    const struct learn_value *value = &row->values[i];
    count += !value->left_out && !seen[value->host];
    seen[value->host] = seen[value->host] || !value->left_out;
  }
  return count;
}

static void learn_finish_row(struct learn *learn, struct learn_row *learned) {
  struct arena arena = {0};
  learn_leave_out_hosts(learn, &arena, learned);
  learn_leave_out_values(&arena, learned);
  double *scores = arena_array(&arena, learned->count, sizeof *scores);
  const size_t count = learn_kept(learned, scores);
  const size_t hosts = learn_count_hosts(learn, &arena, learned);
  struct expect_row *row = &learned->row;
  const bool time = expect_unit_is_time((enum expect_unit)row->unit);
  row->low = learn_round(exp(time ? -scores[count - 1] : scores[0]));
  row->high = learn_round(exp(time ? -scores[0] : scores[count - 1]));
  const double middle = scores[count / 2];
  for (size_t i = 0; i < count; i++) {
    scores[i] -= middle;
  }
  const double spread = SPREADS * robust_spread(scores, count);
  const double least = hosts < ROBUST_COUNT_MIN ? TOLERANCE_FEW : TOLERANCE_MIN;
  row->tolerance = learn_round(fmin(fmax(spread, least), TOLERANCE_MAX));
  row->count = (uint32_t)count;
  row->hosts = (uint32_t)hosts;
  row->driver = learned->drivers[0] != '\0' ? learned->drivers : NULL;
  row->source = "haul expect learn";
  arena_fini(&arena);
}

static void learn_tell_left_out(struct learn *learn, struct learned *learned) {
  const char **texts = arena_array(&learn->arena, learn->host_count + 1, sizeof *texts);
  for (size_t h = 0; h < learn->host_count; h++) {
    const struct learn_host *host = &learn->hosts[h];
    if (host->rows > 0) {
      texts[learned->left_out_count++] =
          arena_format(&learn->arena, "%s: %s, %.1f %% worse than the others (%zu row%s)",
                       host->name, host->what, 100 * (1 - exp(host->worst)), host->rows,
                       strings_plural(host->rows, "", "s"));
    }
  }
  if (learn->above_peak > 0) {
    texts[learned->left_out_count++] =
        arena_format(&learn->arena, "%zu result%s " MEASURED_ABOVE_PEAK ": %s", learn->above_peak,
                     strings_plural(learn->above_peak, "", "s"), learn->above_peak_name);
  }
  learned->left_out = texts;
}

struct learned learn_finish(struct learn *learn) {
  struct expect_machine *machines =
      arena_array(&learn->arena, learn->machine_count, sizeof *machines);
  struct learned learned = {.machines = machines,
                            .machine_count = learn->machine_count,
                            .rows = learn->row_count,
                            .hosts = learn->host_count};
  for (size_t m = 0; m < learn->machine_count; m++) {
    machines[m] = learn->machines[m].machine;
    machines[m].rows = arena_array(&learn->arena, learn->row_count, sizeof *machines[m].rows);
  }
  char date[32];
  units_format_utc(learn->newest_ns, "%Y-%m-%d", date, sizeof date);
  for (size_t r = 0; r < learn->row_count; r++) {
    struct expect_machine *machine = &machines[learn->rows[r].machine];
    learn_finish_row(learn, &learn->rows[r]);
    learn->rows[r].row.date = arena_strdup(&learn->arena, date);
    machine->rows[machine->row_count++] = learn->rows[r].row;
  }
  learn_tell_left_out(learn, &learned);
  return learned;
}
