#include "runner/expect/learn.h"

#include "engine/base/strings.h"
#include "engine/base/text_index.h"
#include "engine/base/units.h"
#include "engine/case/transfer.h"
#include "runner/expect/observed.h"
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
  struct expect_row row;
  const char *drivers;
  struct learn_value *values;
  size_t count;
};

struct learn_host {
  const char *name;
  double worst;     /* ln, below the others; 0 = never left out */
  const char *what; /* of the row where it was worst */
  size_t rows;
};

/* What run-result says of a case, the same in every run but for its number. */
struct learn_case {
  bool known;
  struct observed observed;
  const char *name;
};

/* A run's hardware; no GPU: nothing is learned of it. */
struct learn_run {
  struct observed_reader reader;
  size_t *machines; /* by GPU; SIZE_MAX = not asked for */
  size_t host;
};

struct learn {
  struct arena arena;
  const struct results *results;
  struct learn_run *runs;   /* as results->runs */
  struct learn_case *cases; /* as results->cases */
  size_t *order;            /* of the known ones, in the order of their scenarios */
  size_t known_count;
  size_t asked;                                        /* the run of which run-result is read */
  int64_t newest_ns;                                   /* start of the last run */
  struct text_index machine_keys, row_keys, host_keys; /* all that tells them apart */
  struct expect_machine *machines;
  size_t machine_count;
  struct learn_row *rows;
  size_t row_count;
  struct learn_host *hosts;
  size_t host_count;
  size_t above_peak; /* results */
  const char *above_peak_name;
};

struct learn *learn_new(void) {
  struct learn *learn = memory_new(1, sizeof *learn);
  learn->machine_keys.arena = learn->row_keys.arena = learn->host_keys.arena = &learn->arena;
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

static size_t learn_find_machine(struct learn *learn, const struct hardware *gpu) {
  const char *key = arena_format(&learn->arena, "%s|%g|%g|%g|%g|%g|%g", gpu->name,
                                 gpu->pcie_generation, gpu->pcie_width, gpu->nvlink_version,
                                 gpu->nvlink_links, gpu->c2c, gpu->simulated);
  size_t number = 0;
  if (!text_index_add(&learn->machine_keys, key, &number)) {
    return number;
  }
  struct expect_machine *machine = ARENA_ADD(&learn->arena, learn->machines, learn->machine_count);
  *machine = (struct expect_machine){.gpu = gpu->name};
  machine->pcie_generation = learn_number(gpu->pcie_generation);
  machine->pcie_width = learn_number(gpu->pcie_width);
  machine->nvlink_links = learn_number(gpu->nvlink_links);
  machine->nvlink_version = machine->nvlink_links > 0 ? learn_number(gpu->nvlink_version) : 0;
  machine->c2c = gpu->c2c > 0;
  machine->simulated = gpu->simulated > 0;
  machine->name =
      arena_format(&learn->arena, "%s on PCIe %u x%u, %u NVLinks", gpu->name,
                   machine->pcie_generation, machine->pcie_width, machine->nvlink_links);
  return number;
}

static struct expect_row learn_row_of(const struct observed *observed) {
  /* Of several flows the path does not say which they are, and of unified memory neither path nor
   * method what brings the pages: the block does. */
  const bool plain = observed->plain && observed->near && observed->path != EXPECT_SEVERAL &&
                     observed->method != METHOD_UM;
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
  size_t number = 0;
  if (text_index_add(&learn->row_keys, key, &number)) {
    *ARENA_ADD(&learn->arena, learn->rows, learn->row_count) =
        (struct learn_row){.machine = machine, .row = row, .drivers = ""};
  }
  return &learn->rows[number];
}

static void learn_add_driver(struct learn *learn, struct learn_row *row, const char *driver) {
  if (driver[0] != '\0' && !strings_has_word(row->drivers, driver)) {
    row->drivers = arena_add_word(&learn->arena, row->drivers, driver);
  }
}

/* The case of that key and name; SIZE_MAX = it is not among those that are learned of. Equal keys
 * are adjacent, and keys in order. */
static size_t learn_find_case(const struct results *results, const char *key, const char *name) {
  size_t low = 0;
  for (size_t high = results->case_count; low < high;) {
    const size_t middle = (low + high) / 2;
    if (strcmp(results->cases[middle].key, key) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (; low < results->case_count && strcmp(results->cases[low].key, key) == 0; low++) {
    if (strcmp(results->cases[low].name, name) == 0) {
      return low;
    }
  }
  return SIZE_MAX;
}

static enum status learn_begin(void *context, const struct column *columns, size_t count,
                               struct error *err) {
  (void)err;
  struct learn *learn = context;
  observed_columns(&learn->runs[learn->asked].reader, columns, count);
  return STATUS_OK;
}

static enum status learn_take(void *context, const struct cell *cells, struct error *err) {
  (void)err;
  struct learn *learn = context;
  const struct observed_reader *reader = &learn->runs[learn->asked].reader;
  struct observed observed;
  if (!observed_read(reader, cells, &observed) || observed.block == NULL) {
    return STATUS_OK;
  }
  const char *name = observed_text(reader, cells, CELL_CASE);
  const size_t bench =
      learn_find_case(learn->results, observed_text(reader, cells, CELL_KEY), name);
  if (bench != SIZE_MAX && !learn->cases[bench].known) {
    learn->cases[bench] = (struct learn_case){.known = true, .observed = observed, .name = name};
    learn->order[learn->known_count++] = bench;
  }
  return STATUS_OK;
}

/* A host by its name and first GPU: names are often the same. */
static size_t learn_find_host(struct learn *learn, const struct hardware *first) {
  const char *name = first != NULL ? first->host_name : "";
  const char *key = arena_format(&learn->arena, "%s|%s", name, first != NULL ? first->uuid : "");
  size_t number = 0;
  if (text_index_add(&learn->host_keys, key, &number)) {
    *ARENA_ADD(&learn->arena, learn->hosts, learn->host_count) = (struct learn_host){.name = name};
  }
  return number;
}

static const char *learn_run_name(struct learn *learn, size_t run) {
  return arena_format(&learn->arena, "run:%s", learn->results->runs[run].ref.uuid);
}

static enum status learn_read_hardware(struct learn *learn, struct query *query, size_t run,
                                       const char *gpu, struct error *err) {
  const struct query_parameter parameter = {"run", learn_run_name(learn, run)};
  struct learn_run *read = &learn->runs[run];
  SCOPED(result_set_fini) struct result_set hardware;
  result_set_init(&hardware, SIZE_MAX);
  RETURN_ON_ERROR(query_run_saved(query, "hardware", &parameter, 1, NULL, &hardware.sink, err));
  observed_begin(&read->reader, &learn->arena, &hardware);
  const struct hardware *gpus = read->reader.gpus;
  const size_t count = read->reader.gpu_count;
  read->host = learn_find_host(learn, count > 0 ? gpus : NULL);
  read->machines = arena_array(&learn->arena, count, sizeof *read->machines);
  for (size_t g = 0; g < count; g++) {
    const bool asked_for = gpu == NULL || fnmatch(gpu, gpus[g].name, FNM_CASEFOLD) == 0;
    read->machines[g] = asked_for ? learn_find_machine(learn, &gpus[g]) : SIZE_MAX;
  }
  return STATUS_OK;
}

/* The medians of one case and run: of its processes. */
struct learn_group {
  const struct results_median *medians;
  size_t count;
  double value; /* the one number of the case, in its row's unit */
  bool above_peak;
};

/* From medians[at] on. False: a process has no number. */
static bool learn_next_group(const struct results *results, size_t at, struct learn_group *group) {
  const struct results_median *medians = &results->medians[at];
  const size_t left = results->median_count - at;
  bool sound = true;
  *group = (struct learn_group){.medians = medians};
  for (; group->count < left && medians[group->count].bench == medians->bench &&
         medians[group->count].run == medians->run;
       group->count++) {
    sound = sound && !isnan(medians[group->count].ns);
  }
  return sound;
}

/* Of a process that measured the case several times, the undisturbed rate. */
static void learn_evaluate(struct learn *learn, const struct results_case *bench, bool time,
                           struct learn_group *group) {
  double *values = arena_array(&learn->arena, group->count, sizeof *values);
  size_t above = 0;
  for (size_t i = 0; i < group->count; i++) {
    const struct results_median *median = &group->medians[i];
    values[i] = median->undisturbed_ns > 0 ? median->undisturbed_ns : median->ns;
    above += median->above_peak;
  }
  const double ns = sample_median_in_place(values, group->count);
  group->value = time ? ns / (double)bench->units : (double)bench->units / ns;
  group->above_peak = 2 * above > group->count;
}

/* Rows of the host alone say more of its processors than of GPUs, by which files are keyed. */
static void learn_add_value(struct learn *learn, const struct learn_case *of,
                            const struct learn_run *run, const struct learn_group *group,
                            struct learn_row **row, size_t *machine) {
  struct observed observed = of->observed;
  const int number = observed.gpus[0] >= 0 ? observed.gpus[0] : observed.gpus[1];
  const struct hardware *gpu = observed_gpu(&run->reader, number);
  const size_t found = gpu != NULL ? run->machines[gpu - run->reader.gpus] : SIZE_MAX;
  if (found == SIZE_MAX) {
    return;
  }
  if (group->above_peak) {
    learn->above_peak++;
    learn->above_peak_name = of->name;
    return;
  }
  observed.near = observed_is_near(&run->reader, &observed);
  if (*row == NULL || *machine != found || observed.near != of->observed.near) {
    *row = learn_find_row(learn, found, &observed);
    *machine = observed.near == of->observed.near ? found : SIZE_MAX; /* of another row */
  }
  learn_add_driver(learn, *row, gpu->driver_version);
  (*row)->values = arena_grow(&learn->arena, (*row)->values, (*row)->count, sizeof *(*row)->values);
  (*row)->values[(*row)->count++] = (struct learn_value){
      .host = run->host, .score = observed.time ? -log(group->value) : log(group->value)};
}

/* What each case is, from the first run that has a number of it. first: its first median. */
static enum status learn_read_cases(struct learn *learn, struct query *query, size_t *first,
                                    struct error *err) {
  const struct row_sink sink = {.context = learn, .begin = learn_begin, .row = learn_take};
  const struct results *results = learn->results;
  struct learn_group group;
  for (size_t at = 0; at < results->median_count; at += group.count) {
    const bool sound = learn_next_group(results, at, &group);
    const size_t bench = group.medians->bench;
    const size_t run = group.medians->run;
    first[bench] = at < first[bench] ? at : first[bench];
    if (sound && !learn->cases[bench].known && learn->runs[run].reader.gpu_count > 0) {
      const struct query_parameter parameter = {"run", learn_run_name(learn, run)};
      learn->asked = run;
      RETURN_ON_ERROR(query_run_saved(query, "run-result", &parameter, 1, NULL, &sink, err));
    }
  }
  return STATUS_OK;
}

enum status learn_add(struct learn *learn, struct query *query, const struct results *results,
                      const char *gpu, size_t *runs, struct error *err) {
  learn->results = results;
  learn->runs = arena_array(&learn->arena, results->run_count, sizeof *learn->runs);
  learn->cases = arena_array(&learn->arena, results->case_count, sizeof *learn->cases);
  learn->order = arena_array(&learn->arena, results->case_count, sizeof *learn->order);
  size_t *first = arena_array(&learn->arena, results->case_count, sizeof *first);
  for (size_t c = 0; c < results->case_count; c++) {
    first[c] = results->median_count;
  }
  *runs = 0;
  for (size_t r = 0; r < results->run_count; r++) {
    if (results_run_is_own(results, r, NULL)) {
      const int64_t started_at_ns = results->runs[r].started_at_ns;
      learn->newest_ns = started_at_ns > learn->newest_ns ? started_at_ns : learn->newest_ns;
      RETURN_ON_ERROR(learn_read_hardware(learn, query, r, gpu, err));
      ++*runs;
    }
  }
  RETURN_ON_ERROR(learn_read_cases(learn, query, first, err));
  for (size_t c = 0; c < learn->known_count; c++) {
    const size_t bench = learn->order[c];
    struct learn_row *row = NULL;
    size_t machine = SIZE_MAX;
    struct learn_group group;
    for (size_t at = first[bench];
         at < results->median_count && results->medians[at].bench == bench; at += group.count) {
      if (learn_next_group(results, at, &group)) {
        learn_evaluate(learn, &results->cases[bench], learn->cases[bench].observed.time, &group);
        learn_add_value(learn, &learn->cases[bench], &learn->runs[group.medians->run], &group, &row,
                        &machine);
      }
    }
  }
  return STATUS_OK;
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

/* The scores that are left, and which values they are of. */
static size_t learn_kept(const struct learn_row *row, double *scores, size_t *at) {
  size_t count = 0;
  for (size_t i = 0; i < row->count; i++) {
    if (!row->values[i].left_out) {
      at[count] = i;
      scores[count++] = row->values[i].score;
    }
  }
  return count;
}

static void learn_leave_out_values(struct arena *arena, struct learn_row *row, double *scores,
                                   size_t *at) {
  double *deviations = arena_array(arena, row->count, sizeof *deviations);
  bool *low = arena_array(arena, row->count, sizeof *low);
  const size_t count = learn_kept(row, scores, at);
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
  for (size_t i = 0; i < row->count; i++) {
    const struct learn_value *value = &row->values[i];
    count += !value->left_out && !seen[value->host];
    seen[value->host] = seen[value->host] || !value->left_out;
  }
  return count;
}

static void learn_finish_row(struct learn *learn, struct learn_row *learned) {
  SCOPED(arena_fini) struct arena arena = {0};
  learn_leave_out_hosts(learn, &arena, learned);
  double *scores = arena_array(&arena, learned->count, sizeof *scores);
  size_t *at = arena_array(&arena, learned->count, sizeof *at);
  learn_leave_out_values(&arena, learned, scores, at);
  const size_t count = learn_kept(learned, scores, at);
  sample_sort(scores, count);
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
        arena_format(&learn->arena, "%zu result%s " RESULTS_ABOVE_PEAK ": %s", learn->above_peak,
                     strings_plural(learn->above_peak, "", "s"), learn->above_peak_name);
  }
  learned->left_out = texts;
}

struct learned learn_finish(struct learn *learn) {
  struct expect_machine *machines = learn->machines;
  struct learned learned = {.machines = machines,
                            .machine_count = learn->machine_count,
                            .rows = learn->row_count,
                            .hosts = learn->host_count};
  for (size_t m = 0; m < learn->machine_count; m++) {
    machines[m].rows = arena_array(&learn->arena, learn->row_count, sizeof *machines[m].rows);
  }
  const char *date = UNITS_UTC(learn->newest_ns, "%Y-%m-%d");
  for (size_t r = 0; r < learn->row_count; r++) {
    struct expect_machine *machine = &machines[learn->rows[r].machine];
    learn_finish_row(learn, &learn->rows[r]);
    learn->rows[r].row.date = arena_strdup(&learn->arena, date);
    machine->rows[machine->row_count++] = learn->rows[r].row;
  }
  learn_tell_left_out(learn, &learned);
  return learned;
}
