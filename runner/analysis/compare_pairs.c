/* compare_pairs.c - which results of two sides belong together (compare.h). */
#include "runner/analysis/compare_internal.h"

#include "engine/base/order.h"

#include <math.h>
#include <string.h>

/* One process's result of the current case. */
struct pair_entry {
  enum side side;
  uint64_t hardware; /* 0 = not known */
  const struct results_median *median;
};

/* Entries of one run and case, which are adjacent while they are collected. */
struct entry_block {
  size_t first, count;
  struct pair_entry key;
};

/* What was counted already: of[i] is the number of the last count that had i. */
struct marks {
  uint32_t *of;
  uint32_t now;
};

struct pairing {
  const struct results *results;
  const enum side *sides;
  const struct compare_options *options;
  struct comparison *comparison;
  struct arena scratch;
  double *values;             /* two per median: never moves */
  double *tails;              /* of the values */
  bool has_tails;             /* of every value */
  uint32_t *processes, *runs; /* of the values */
  size_t value_count;
  /* By process.id, from 1 in the order in which they are met; 0 = not yet met. */
  uint32_t *process_numbers;
  int64_t *process_ids; /* by number */
  uint32_t process_count;
  struct pair_entry *entries, *unsorted; /* of the current case */
  struct entry_block *blocks;
  size_t entry_count;
  size_t recorded_run[SIDES], recorded_bench[SIDES]; /* SIZE_MAX = no run has a row of it */
  /* Texts of environments as numbers, equal for equal texts. */
  const uint32_t *boot_of, *host_of; /* by environment; UINT32_MAX = not known */
  struct marks boots, hosts, gpus;
  const size_t *gpu_numbers; /* pairs_number_gpus() */
  bool by_node;              /* of the current case */
  int64_t *started;          /* by run */
};

/* ---- counting distinct boots, hosts and GPUs ---- */

static struct marks pairs_new_marks(struct arena *arena, size_t count) {
  return (struct marks){arena_array(arena, count, sizeof(uint32_t)), 0};
}

/* True: it was not marked in this count. */
static bool pairs_mark(struct marks *marks, size_t at) {
  const bool is_new = marks->of[at] != marks->now;
  marks->of[at] = marks->now;
  return is_new;
}

/* A GPU of an environment, by its UUID. */
struct known_gpu {
  const char *uuid;
  size_t slot; /* environment and place in it */
};

ORDER_DEFINE(pairs_compare_gpus, struct known_gpu,
             strcmp(x->uuid, y->uuid) ?: ORDER(x->slot, y->slot))

/* By slot: that of the first GPU with the same UUID, among those of all environments. */
static size_t *pairs_number_gpus(const struct results *results, struct arena *arena) {
  const size_t slots = results->environment_count * ANALYSIS_GPUS_MAX;
  size_t *numbers = arena_array(arena, slots, sizeof *numbers);
  struct known_gpu *known = arena_array(arena, slots, sizeof *known);
  size_t count = 0;
  for (size_t slot = 0; slot < slots; slot++) {
    const struct results_environment *e = &results->environments[slot / ANALYSIS_GPUS_MAX];
    const size_t gpu = slot % ANALYSIS_GPUS_MAX;
    numbers[slot] = slot;
    if (gpu < e->gpu_count && e->gpus[gpu].uuid != NULL) {
      known[count++] = (struct known_gpu){e->gpus[gpu].uuid, slot};
    }
  }
  ORDER_SORT(known, count, pairs_compare_gpus);
  for (size_t i = 1; i < count; i++) {
    if (strcmp(known[i].uuid, known[i - 1].uuid) == 0) {
      numbers[known[i].slot] = numbers[known[i - 1].slot];
    }
  }
  return numbers;
}

static unsigned pairs_count_gpus(struct pairing *p, size_t environment, uint64_t mask) {
  const struct results_environment *e = &p->results->environments[environment];
  unsigned count = 0;
  for (size_t g = 0; g < e->gpu_count && g < ANALYSIS_GPUS_MAX; g++) {
    const int number = e->gpus[g].number;
    if (number >= 0 && number < ANALYSIS_GPUS_MAX && (mask >> number & 1) != 0) {
      count += pairs_mark(&p->gpus, p->gpu_numbers[environment * ANALYSIS_GPUS_MAX + g]);
    }
  }
  return count;
}

/* ---- entries ---- */

ORDER_DEFINE(pairs_compare_entries, struct pair_entry, ORDER(x->hardware, y->hardware) ?: ORDER(x->side, y->side) ?: ORDER(x->median->run, y->median->run) ?: ORDER(x->median->process, y->median->process))

/* Takes the medians of one case_key; those of a skipped case only say that the side recorded it. */
static void pairs_collect(struct pairing *p, const struct results_median *medians, size_t count) {
  uint64_t hardware = 0;
  p->entry_count = 0;
  for (size_t s = 0; s < SIDES; s++) {
    p->recorded_run[s] = p->recorded_bench[s] = SIZE_MAX;
  }
  for (size_t i = 0; i < count; i++) {
    const struct results_median *median = &medians[i];
    const enum side side = p->sides[median->run];
    if (side == SIDE_NONE) {
      continue;
    }
    if (i == 0 || median->run != medians[i - 1].run || median->bench != medians[i - 1].bench ||
        p->entry_count == 0) {
      hardware =
          p->options->any_hardware ? 0 : results_hardware(p->results, median->run, median->bench);
    }
    p->recorded_run[side] = median->run;
    p->recorded_bench[side] = median->bench;
    if (!isnan(median->ns) || (median->status != CASE_OK && median->status != CASE_SKIPPED)) {
      p->entries[p->entry_count++] = (struct pair_entry){side, hardware, median};
    }
  }
}

/* ---- rows ---- */

/* Models of the GPUs that have a part in a result, ", " between; NULL = none is known. */
static const char *pairs_gpu_names(struct pairing *p, const struct pair_entry *entry) {
  const struct results_environment *e =
      &p->results->environments[p->results->runs[entry->median->run].environment];
  const uint64_t mask = p->results->cases[entry->median->bench].gpus;
  const char *text = NULL;
  for (size_t g = 0; g < e->gpu_count; g++) {
    const struct results_gpu *gpu = &e->gpus[g];
    if (gpu->number < 0 || gpu->number >= ANALYSIS_GPUS_MAX || (mask >> gpu->number & 1) == 0 ||
        gpu->name == NULL || (text != NULL && strcmp(text, gpu->name) == 0)) {
      continue;
    }
    text = arena_add_word(&p->comparison->arena, text, gpu->name);
  }
  return text;
}

static const char *pairs_hardware(struct pairing *p, const struct pair_entry *entry) {
  return analysis_hardware_text(p->results, entry->median->run, entry->median->bench,
                                &p->comparison->arena);
}

/* A number without gaps for the process.id. */
static uint32_t pairs_process_number(struct pairing *p, int64_t id) {
  uint32_t *number = &p->process_numbers[id];
  if (*number == 0) {
    p->process_ids[p->process_count] = id;
    *number = ++p->process_count;
  }
  return *number - 1;
}

/* Values of one side of a row, from entries in the order of their processes. */
static struct process_sample pairs_take_side(struct pairing *p, const struct pair_entry *entries,
                                             size_t count, enum side side,
                                             struct comparison_side *info) {
  const struct results *results = p->results;
  struct process_sample taken = {.values = p->values + p->value_count,
                                 .processes = p->processes + p->value_count,
                                 .runs = p->runs + p->value_count};
  size_t last_run = SIZE_MAX;
  p->boots.now++;
  p->gpus.now++;
  *info = (struct comparison_side){
      .value = NAN, .run = p->recorded_run[side], .bench = p->recorded_bench[side]};
  for (size_t i = 0; i < count; i++) {
    const struct results_median *median = entries[i].median;
    if (entries[i].side != side) {
      continue;
    }
    if (isnan(median->ns)) {
      info->not_ok++;
      info->by_status[median->status]++;
      info->not_ok_run = median->run;
      info->not_ok_bench = median->bench;
      continue;
    }
    p->processes[p->value_count] = pairs_process_number(p, median->process);
    p->runs[p->value_count] =
        p->by_node ? p->host_of[results->runs[median->run].environment] : median->run;
    p->has_tails = p->has_tails && median->tail > 0;
    if (p->has_tails) {
      p->tails[p->value_count] = log(median->tail);
    }
    p->values[p->value_count++] = log(median->ns);
    taken.count++;
    if (median->run != last_run) {
      info->runs++;
      const size_t environment = results->runs[median->run].environment;
      if (p->boot_of[environment] != UINT32_MAX) {
        info->boots += pairs_mark(&p->boots, p->boot_of[environment]);
      }
      info->gpus += pairs_count_gpus(p, environment, results->cases[median->bench].gpus);
      last_run = median->run;
    }
    info->run = median->run;
    info->bench = median->bench;
  }
  info->processes = (unsigned)taken.count;
  if (taken.count > 0) {
    const double ns = exp(process_sample_mean(&taken));
    info->value = figure_value(&results->cases[info->bench], ns);
  }
  return taken;
}

/* The same of undisturbed rates, of the processes that have one. */
static struct process_sample pairs_take_undisturbed(struct pairing *p,
                                                    const struct pair_entry *entries, size_t count,
                                                    enum side side, double *value) {
  struct process_sample taken = {.values = p->values + p->value_count,
                                 .processes = p->processes + p->value_count,
                                 .runs = p->runs + p->value_count};
  const struct results_case *bench = NULL;
  for (size_t i = 0; i < count; i++) {
    const struct results_median *median = entries[i].median;
    if (entries[i].side == side && median->undisturbed_ns > 0) { /* not of NAN */
      p->processes[p->value_count] = pairs_process_number(p, median->process);
      p->runs[p->value_count] =
          p->by_node ? p->host_of[p->results->runs[median->run].environment] : median->run;
      p->values[p->value_count++] = log(median->undisturbed_ns);
      taken.count++;
      bench = &p->results->cases[median->bench];
    }
  }
  *value = taken.count > 0 ? figure_value(bench, exp(process_sample_mean(&taken))) : NAN;
  return taken;
}

static void pairs_add_undisturbed(struct pairing *p, const struct pair_entry *entries, size_t count,
                                  struct comparison_row *row, const struct diff_case *input) {
  struct comparison *comparison = p->comparison;
  bool visited = false;
  for (size_t i = 0; i < count; i++) {
    const struct results_median *median = entries[i].median;
    visited = visited || fabs(median->undisturbed_ns - median->ns) > 0; /* not of NAN */
  }
  if (!visited || row->reason != NULL) {
    return;
  }
  struct case_rates *rates = arena_alloc(&comparison->arena, sizeof *rates);
  double *values = rates->of[RATE_UNDISTURBED].values;
  rates->input = *input;
  rates->input.a_not_ok = rates->input.b_not_ok = rates->input.corrupt = 0;
  rates->input.a = pairs_take_undisturbed(p, entries, count, SIDE_A, &values[SIDE_A]);
  rates->input.b = pairs_take_undisturbed(p, entries, count, SIDE_B, &values[SIDE_B]);
  if (rates->input.a.count > 0 && rates->input.b.count > 0) {
    row->rates = rates;
    comparison->rates_count++;
  }
}

/* Which kinds of place a path joins, without their numbers. */
static const char *pairs_path_kind(const struct results_case *bench) {
  static const char *const KINDS[2][2] = {{"host-host", "host-gpu"}, {"gpu-host", "gpu-gpu"}};
  for (size_t i = 0; i < bench->flow_count; i++) {
    const struct results_flow *flow = &bench->flows[i];
    if (flow->load) {
      continue;
    }
    const bool local = flow->source_is_gpu && flow->target_is_gpu && flow->source == flow->target;
    return local ? "local" : KINDS[flow->source_is_gpu][flow->target_is_gpu];
  }
  return "";
}

static const struct pair_entry *pairs_first_of(const struct pair_entry *entries, size_t count,
                                               enum side side) {
  for (size_t i = 0; i < count; i++) {
    if (entries[i].side == side) {
      return &entries[i];
    }
  }
  return NULL;
}

/* Why the sides' GPUs are not compared; NULL = they are of one model. */
static const char *pairs_other_model(struct pairing *p, const struct pair_entry *entries,
                                     size_t count) {
  const struct pair_entry *a = pairs_first_of(entries, count, SIDE_A);
  const struct pair_entry *b = pairs_first_of(entries, count, SIDE_B);
  if (a == NULL || b == NULL ||
      (p->options->by != NULL && strcmp(p->options->by, "gpu_name") == 0)) {
    return NULL;
  }
  const char *x = pairs_gpu_names(p, a);
  const char *y = pairs_gpu_names(p, b);
  if (x == NULL || y == NULL || strcmp(x, y) == 0) {
    return NULL;
  }
  return arena_format(&p->comparison->arena, "gpu_name: %s in A, %s in B", x, y);
}

static const char *pairs_above_peak(const struct pair_entry *entries, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (entries[i].median->above_peak) {
      return RESULTS_ABOVE_PEAK;
    }
  }
  return NULL;
}

static void pairs_add_row(struct pairing *p, const struct pair_entry *entries, size_t count,
                          bool one_of_many, const char *incomparable) {
  struct comparison *comparison = p->comparison;
  struct comparison_row row = {.input = comparison->row_count};
  row.bench = p->recorded_bench[p->recorded_bench[SIDE_B] != SIZE_MAX ? SIDE_B : SIDE_A];
  const struct results_case *bench = &p->results->cases[row.bench];
  row.figure = bench->figure;
  row.delta = figure_margin(bench, p->options->margin, &row.delta_from);
  struct diff_case input = {
      .delta = row.delta, .paired = p->by_node, .started = p->by_node ? NULL : p->started};
  const size_t first = p->value_count;
  p->has_tails = true;
  input.a = pairs_take_side(p, entries, count, SIDE_A, &row.sides[SIDE_A]);
  input.b = pairs_take_side(p, entries, count, SIDE_B, &row.sides[SIDE_B]);
  for (size_t s = 0; s < SIDES; s++) {
    input.tails[s] = p->has_tails ? p->tails + first + (s == SIDE_B ? input.a.count : 0) : NULL;
  }
  input.a_not_ok = row.sides[SIDE_A].not_ok;
  input.b_not_ok = row.sides[SIDE_B].not_ok;
  for (size_t s = 0; s < SIDES; s++) {
    input.corrupt += row.sides[s].by_status[CASE_CORRUPT];
  }
  diff_families(bench->method, pairs_path_kind(bench), bench->size_bytes, input.families);
  row.hardware = one_of_many ? pairs_hardware(p, &entries[0]) : NULL;
  input.incomparable = incomparable != NULL ? incomparable : pairs_other_model(p, entries, count);
  if (input.incomparable == NULL) {
    input.incomparable = pairs_above_peak(entries, count);
  }
  row.reason = input.incomparable;
  row.other_gpu = incomparable != NULL;
  if (row.reason == NULL && input.a.count == 0 && input.b.count == 0) {
    row.reason = "no process is ok on either side";
  }
  pairs_add_undisturbed(p, entries, count, &row, &input);
  comparison->rows = arena_grow(&comparison->arena, comparison->rows, comparison->row_count,
                                sizeof *comparison->rows);
  comparison->inputs = arena_grow(&comparison->arena, comparison->inputs, comparison->row_count,
                                  sizeof *comparison->inputs);
  comparison->rows[comparison->row_count] = row;
  comparison->inputs[comparison->row_count++] = input;
}

/* What is known of the hardware of the current case. */
struct overlap {
  bool unknown; /* of some results */
  size_t groups, common;
};

/* Entries [first, last) of the current case, which are of one hardware. */
#define FOR_EACH_HARDWARE(p, first, last)                                                          \
  FOR_EACH_GROUP(first, last, (p)->entry_count,                                                    \
                 (p)->entries[last].hardware == (p)->entries[first].hardware)

static struct overlap pairs_find_overlap(const struct pairing *p) {
  struct overlap overlap = {0};
  FOR_EACH_HARDWARE(p, first, last) {
    overlap.unknown = overlap.unknown || p->entries[first].hardware == 0;
    overlap.groups++;
    overlap.common += pairs_first_of(p->entries + first, last - first, SIDE_A) != NULL &&
                      pairs_first_of(p->entries + first, last - first, SIDE_B) != NULL;
  }
  return overlap;
}

static bool pairs_one_host(struct pairing *p) {
  p->hosts.now++;
  for (size_t pass = 0; pass < SIDES; pass++) {
    for (size_t i = 0; i < p->entry_count; i++) {
      const size_t environment = p->results->runs[p->entries[i].median->run].environment;
      const uint32_t host = p->host_of[environment];
      if (host == UINT32_MAX || p->entries[i].side != (enum side)pass) {
        continue;
      }
      if (pass == SIDE_A) {
        (void)pairs_mark(&p->hosts, host);
      } else if (p->hosts.of[host] == p->hosts.now) {
        return true;
      }
    }
  }
  return false;
}

static const struct results_environment *pairs_environment(const struct pairing *p, size_t entry) {
  return &p->results->environments[p->results->runs[p->entries[entry].median->run].environment];
}

/* Whether the entries [first, last) are of one machine that no other entries so far are of. */
static bool pairs_is_own_host(struct pairing *p, size_t first, size_t last) {
  const struct results_environment *environments = p->results->environments;
  const uint32_t host = p->host_of[pairs_environment(p, first) - environments];
  return host != UINT32_MAX && pairs_mark(&p->hosts, host) &&
         ALL_OF(i, last, i < first || p->host_of[pairs_environment(p, i) - environments] == host);
}

static void pairs_add_groups(struct pairing *p) {
  struct comparison *comparison = p->comparison;
  const size_t row = comparison->row_count;
  bool by_node = true;
  p->hosts.now++;
  FOR_EACH_HARDWARE(p, first, last) {
    by_node = by_node && pairs_is_own_host(p, first, last);
    pairs_add_row(p, p->entries + first, last - first, true, NULL);
    comparison->rows[comparison->row_count - 1].node = pairs_environment(p, first)->node;
  }
  for (size_t i = row; i < comparison->row_count && !by_node; i++) {
    comparison->rows[i].node = NULL;
  }
}

ORDER_DEFINE(pairs_compare_blocks, struct entry_block, pairs_compare_entries(&x->key, &y->key))

static bool pairs_are_sorted(const struct pairing *p) {
  size_t i = 1;
  while (i < p->entry_count && pairs_compare_entries(&p->entries[i - 1], &p->entries[i]) <= 0) {
    i++;
  }
  return i >= p->entry_count;
}

/* By blocks, which are fewer; where a run has the case twice, entry by entry. */
static void pairs_sort_entries(struct pairing *p) {
  if (pairs_are_sorted(p)) {
    return;
  }
  size_t blocks = 0;
  memcpy(p->unsorted, p->entries, p->entry_count * sizeof *p->entries);
  for (size_t i = 0; i < p->entry_count; i++) {
    const struct pair_entry *entry = &p->unsorted[i];
    struct entry_block *last = blocks > 0 ? &p->blocks[blocks - 1] : NULL;
    if (last != NULL && last->key.median->run == entry->median->run &&
        last->key.median->bench == entry->median->bench) {
      last->count++;
    } else {
      p->blocks[blocks++] = (struct entry_block){i, 1, *entry};
    }
  }
  ORDER_SORT(p->blocks, blocks, pairs_compare_blocks);
  size_t used = 0;
  for (size_t i = 0; i < blocks; i++) {
    memcpy(p->entries + used, p->unsorted + p->blocks[i].first,
           p->blocks[i].count * sizeof *p->entries);
    used += p->blocks[i].count;
  }
  if (!pairs_are_sorted(p)) {
    ORDER_SORT(p->entries, p->entry_count, pairs_compare_entries);
  }
}

static bool pairs_group_is_on(const struct pairing *p, size_t first, size_t last, enum side side) {
  for (size_t i = first; i < last; i++) {
    if (p->entries[i].side == side && !isnan(p->entries[i].median->ns)) {
      return true;
    }
  }
  return false;
}

/* One row for all nodes that measured the case on both sides, with the same hardware. False: they
 * are too few, or a node has several. */
static bool pairs_add_nodes(struct pairing *p) {
  size_t kept = 0;
  size_t nodes = 0;
  struct pair_entry *entries = p->unsorted;
  p->hosts.now++;
  FOR_EACH_HARDWARE(p, first, last) {
    if (!pairs_group_is_on(p, first, last, SIDE_A) || !pairs_group_is_on(p, first, last, SIDE_B)) {
      continue;
    }
    const size_t environment = p->results->runs[p->entries[first].median->run].environment;
    const uint32_t host = p->host_of[environment];
    if (host == UINT32_MAX || !pairs_mark(&p->hosts, host)) {
      return false;
    }
    nodes++;
    for (size_t i = first; i < last; i++) {
      entries[kept++] = p->entries[i];
    }
  }
  if (nodes < DIFF_NODES_MIN) {
    return false;
  }
  p->by_node = true;
  pairs_add_row(p, entries, kept, false, NULL);
  p->by_node = false;
  return true;
}

/* All results of one case_key. */
static void pairs_add_case(struct pairing *p) {
  pairs_sort_entries(p);
  const struct overlap overlap = pairs_find_overlap(p);
  const struct pair_entry *a = pairs_first_of(p->entries, p->entry_count, SIDE_A);
  const struct pair_entry *b = pairs_first_of(p->entries, p->entry_count, SIDE_B);
  const char *incomparable = NULL;
  if (!overlap.unknown && overlap.groups > 1 && overlap.common > 0) {
    if (overlap.common < DIFF_NODES_MIN || !pairs_add_nodes(p)) {
      pairs_add_groups(p);
    }
    return;
  }
  if (!overlap.unknown && a != NULL && b != NULL && overlap.common == 0) {
    if (pairs_one_host(p)) {
      incomparable = arena_format(&p->comparison->arena, "another GPU: %s in A, %s in B",
                                  pairs_hardware(p, a), pairs_hardware(p, b));
    } else {
      p->comparison->other_machine = true;
    }
  }
  for (size_t i = 0; i < p->entry_count; i++) {
    p->entries[i].hardware = 0; /* together, in the order of the processes */
  }
  pairs_sort_entries(p);
  pairs_add_row(p, p->entries, p->entry_count, false, incomparable);
}

static int64_t pairs_largest_process(const struct results *results) {
  int64_t most = 0;
  for (size_t i = 0; i < results->median_count; i++) {
    most = results->medians[i].process > most ? results->medians[i].process : most;
  }
  return most;
}

void compare_pair_sides(const enum side *sides, const struct compare_options *options,
                        struct comparison *comparison) {
  const struct results *results = comparison->results;
  struct arena *arena = &comparison->arena;
  const size_t environments = results->environment_count;
  struct pairing p = {
      .results = results,
      .sides = sides,
      .options = options,
      .comparison = comparison,
      .values = arena_array(arena, 2 * results->median_count, sizeof(double)),
      .tails = arena_array(arena, 2 * results->median_count, sizeof(double)),
      .processes = arena_array(arena, 2 * results->median_count, sizeof(uint32_t)),
      .runs = arena_array(arena, 2 * results->median_count, sizeof(uint32_t)),
      .boot_of = analysis_equal_environments(results, true, arena),
      .host_of = analysis_equal_environments(results, false, arena),
      .boots = pairs_new_marks(arena, environments),
      .hosts = pairs_new_marks(arena, environments),
      .gpus = pairs_new_marks(arena, environments * ANALYSIS_GPUS_MAX),
      .gpu_numbers = pairs_number_gpus(results, arena),
      .started = arena_array(arena, results->run_count, sizeof(int64_t)),
  };
  for (size_t i = 0; i < results->run_count; i++) {
    p.started[i] = results->runs[i].started_at_ns;
  }
  const size_t processes = (size_t)pairs_largest_process(results) + 1;
  p.process_numbers = arena_array(&p.scratch, processes, sizeof *p.process_numbers);
  p.process_ids = arena_array(arena, processes, sizeof *p.process_ids);
  comparison->process_ids = p.process_ids;
  p.entries = arena_array(&p.scratch, results->median_count, sizeof *p.entries);
  p.unsorted = arena_array(&p.scratch, results->median_count, sizeof *p.unsorted);
  p.blocks = arena_array(&p.scratch, results->median_count, sizeof *p.blocks);
  FOR_EACH_GROUP(first, last, results->median_count, analysis_is_same_key(results, first, last)) {
    pairs_collect(&p, results->medians + first, last - first);
    if (p.entry_count > 0) {
      pairs_add_case(&p);
    }
  }
  arena_fini(&p.scratch);
}
