#include "runner/analysis/compare.h"

#include "engine/base/order.h"
#include "runner/analysis/compare_internal.h"
#include "runner/analysis/definition.h"
#include "runner/analysis/diff_suspect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

ENUM_NAMES_DEFINE(side, SIDE_LIST)
ENUM_NAMES_DEFINE(delta_source, DELTA_SOURCE_LIST)
ENUM_NAMES_DEFINE(moved, MOVED_LIST)
ENUM_NAMES_DEFINE(rate_kind, RATE_KIND_LIST)

double figure_value(const struct results_case *bench, double ns) {
  const double units = (double)bench->units;
  return figure_is_rate(bench->figure) ? units / ns : ns / units;
}

double figure_margin(const struct results_case *bench, double asked, enum delta_source *source) {
  if (source != NULL) {
    *source = asked > 0 ? DELTA_OPTION : bench->delta > 0 ? DELTA_SCENARIO : DELTA_USUAL;
  }
  if (asked > 0) {
    return asked;
  }
  return bench->delta > 0
             ? bench->delta
             : diff_usual_margin(figure_is_rate(bench->figure) ? bench->size_bytes : 0);
}

/* ---- shared in the folder ---- */

bool analysis_is_same_key(const struct results *results, size_t median, size_t other) {
  const uint32_t bench = results->medians[median].bench;
  const uint32_t other_bench = results->medians[other].bench;
  return bench == other_bench ||
         strcmp(results->cases[bench].key, results->cases[other_bench].key) == 0;
}

const char *analysis_hardware_text(const struct results *results, size_t run, size_t bench,
                                   struct arena *arena) {
  const struct results_environment *e = &results->environments[results->runs[run].environment];
  const uint64_t gpus = results->cases[bench].gpus;
  const char *text = NULL;
  for (size_t g = 0; g < e->gpu_count; g++) {
    const struct results_gpu *gpu = &e->gpus[g];
    if (gpu->uuid != NULL && gpu->number >= 0 && gpu->number < ANALYSIS_GPUS_MAX &&
        (gpus >> gpu->number & 1) != 0) {
      text = arena_add_word(arena, text, gpu->uuid);
    }
  }
  return text != NULL ? text : e->node;
}

/* A text of an environment. */
struct environment_text {
  const char *text;
  uint32_t environment;
};

ORDER_DEFINE(analysis_compare_texts, struct environment_text,
             strcmp(x->text, y->text) ?: ORDER(x->environment, y->environment))

uint32_t *analysis_equal_environments(const struct results *results, bool boot,
                                      struct arena *arena) {
  const size_t count = results->environment_count;
  uint32_t *first = arena_array(arena, count, sizeof *first);
  struct environment_text *texts = arena_array(arena, count, sizeof *texts);
  size_t known = 0;
  for (size_t e = 0; e < count; e++) {
    const struct results_environment *environment = &results->environments[e];
    const char *text = boot ? environment->boot_id : environment->node;
    first[e] = UINT32_MAX;
    if (text != NULL) {
      texts[known++] = (struct environment_text){text, (uint32_t)e};
    }
  }
  ORDER_SORT(texts, known, analysis_compare_texts);
  for (size_t i = 0; i < known; i++) {
    const bool same = i > 0 && strcmp(texts[i].text, texts[i - 1].text) == 0;
    first[texts[i].environment] = same ? first[texts[i - 1].environment] : texts[i].environment;
  }
  return first;
}

struct numbered_case {
  int64_t id;
  size_t number;
};

ORDER_DEFINE(analysis_compare_ids, struct numbered_case, ORDER(x->id, y->id))

uint32_t *analysis_number_blocks(const struct results *results, struct text_index *blocks,
                                 struct arena *arena) {
  const size_t count = results->case_count;
  struct numbered_case *order = arena_array(arena, count, sizeof *order);
  uint32_t *numbers = arena_array(arena, count, sizeof *numbers);
  for (size_t c = 0; c < count; c++) {
    order[c] = (struct numbered_case){results->cases[c].id, c};
  }
  ORDER_SORT(order, count, analysis_compare_ids);
  for (size_t c = 0; c < count; c++) {
    const size_t number = order[c].number;
    numbers[number] = (uint32_t)text_index_number(blocks, results->cases[number].block);
  }
  return numbers;
}

enum status analysis_check_simulated(size_t simulated, size_t count, struct error *err) {
  if (simulated == 0 || simulated == count) {
    return STATUS_OK;
  }
  return error_set(err, STATUS_INVALID,
                   "%zu of the %zu runs are simulated: simulated and real results are never "
                   "compared; --where simulated=0 leaves the simulated ones out",
                   simulated, count);
}

/* ---- what may be compared ---- */

static enum status compare_check_sides(const enum side *sides, bool one_side,
                                       struct comparison *comparison, struct error *err) {
  const struct results *results = comparison->results;
  size_t simulated = 0;
  size_t all = 0;
  for (size_t i = 0; i < results->run_count; i++) {
    if (sides[i] != SIDE_NONE) {
      simulated += results_run_is_simulated(results, i);
      all++;
      comparison->totals[sides[i]].runs++;
    }
  }
  RETURN_ON_ERROR(analysis_check_simulated(simulated, all, err));
  for (size_t s = 0; s < SIDES; s++) {
    if (comparison->totals[s].runs == 0 && !(one_side && s == SIDE_B)) {
      return error_set(err, STATUS_INVALID, "side %c has no run", side_letter(s));
    }
  }
  comparison->simulated = simulated > 0;
  return STATUS_OK;
}

/* Processes that one side has results of, each counted once. */
static unsigned compare_count_processes(const struct results *results, const enum side *sides,
                                        enum side side) {
  /* In one run every case has one median per process, so the case with most medians has them all,
   * but for processes that measured nothing. */
  unsigned total = 0;
  SCOPED(arena_fini) struct arena arena = {0};
  unsigned *most = arena_array(&arena, results->run_count, sizeof *most);
  const struct results_median *medians = results->medians;
  for (size_t i = 0; i < results->median_count;) {
    unsigned count = 0;
    const size_t first = i;
    for (; i < results->median_count && medians[i].run == medians[first].run &&
           medians[i].bench == medians[first].bench;
         i++) {
      count += isnan(medians[i].ns) ? 0 : 1;
    }
    unsigned *known = &most[medians[first].run];
    *known = count > *known ? count : *known;
  }
  for (size_t i = 0; i < results->run_count; i++) {
    total += sides[i] == side ? most[i] : 0;
  }
  return total;
}

static size_t compare_first_run(const struct results *results, const enum side *sides,
                                enum side side) {
  size_t i = 0;
  while (i < results->run_count && sides[i] != side) {
    i++;
  }
  return i;
}

static bool compare_is_one_boot(const struct results *results, size_t run_a, size_t run_b) {
  const char *a = results->environments[results->runs[run_a].environment].boot_id;
  const char *b = results->environments[results->runs[run_b].environment].boot_id;
  return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* For a command to copy: what a file of others has may be no single word. */
static const char *compare_scenario_word(const char *name) {
  static const char SAFE[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
  return name[0] != '\0' && name[strspn(name, SAFE)] == '\0' ? name : "SCENARIO";
}

/* What all processes of a side share, a difference cannot be told from. */
static void compare_set_confounded(const enum side *sides, struct comparison *comparison) {
  const struct results *results = comparison->results;
  const struct comparison_total *a = &comparison->totals[SIDE_A];
  const struct comparison_total *b = &comparison->totals[SIDE_B];
  if (a->runs == 0 || b->runs == 0) {
    return; /* an A/A test */
  }
  const size_t run_a = compare_first_run(results, sides, SIDE_A);
  const size_t run_b = compare_first_run(results, sides, SIDE_B);
  const bool own_a = results_run_is_own(results, run_a, NULL);
  const bool own_b = results_run_is_own(results, run_b, NULL);
  if (a->runs == 1 && b->runs == 1 && !(own_a && own_b)) {
    comparison->confounded = "One run per side, of two tools: neither run-to-run variation nor the "
                             "tools can be told from the driver's effect";
  } else if (a->runs == 1 && b->runs == 1) {
    comparison->confounded = COMPARISON_ONE_RUN;
  } else if (a->boots == 1 && b->boots == 1 && !compare_is_one_boot(results, run_a, run_b)) {
    comparison->confounded =
        arena_format(&comparison->arena,
                     "One boot each: a difference may be the boot's, not the driver's; haul run %s "
                     "--tag TAG after other boots of each side settles it",
                     compare_scenario_word(results->runs[run_b].scenario));
  }
}

/* ---- verdicts ---- */

/* The values become those of the units that were tested, as the change is: without odd ones. */
static void compare_set_rate(enum figure figure, const struct diff_result *result,
                             struct rate_change *rate) {
  const bool is_rate = figure_is_rate(figure);
  rate->result = *result;
  rate->change = is_rate ? result->change : 1 / (1 + result->change) - 1;
  rate->change_low = is_rate ? result->change_low : 1 / (1 + result->change_high) - 1;
  rate->change_high = is_rate ? result->change_high : 1 / (1 + result->change_low) - 1;
  for (size_t s = 0; s < SIDES; s++) {
    const double shift = result->odd.shifts[s];
    rate->values[s] *= exp(is_rate ? shift : -shift);
  }
}

static void compare_show_rate(struct comparison_row *row, const struct rate_change *rate) {
  row->result = rate->result;
  row->change = rate->change;
  row->change_low = rate->change_low;
  row->change_high = rate->change_high;
  for (size_t s = 0; s < SIDES; s++) {
    row->sides[s].value = rate->values[s];
    row->sides[s].left_out = rate->result.odd.counts[s];
  }
}

/* ---- cases whose definition changed under one name ---- */

static int compare_names(const struct results_case *a, const struct results_case *b) {
  const int order = strcmp(a->block, b->block);
  return order != 0 ? order : strcmp(a->name, b->name);
}

static bool compare_is_one_sided(const struct comparison_row *row) {
  const enum verdict verdict = row->result.verdict;
  const enum side other = verdict == VERDICT_NEW ? SIDE_A : SIDE_B;
  return (verdict == VERDICT_NEW || verdict == VERDICT_MISSING) && row->hardware == NULL &&
         row->sides[other].run == SIZE_MAX;
}

/* A row, to be found by its case's name. */
struct named {
  const struct results_case *bench;
  size_t row;
  bool used;
};

ORDER_DEFINE(compare_named, struct named, compare_names(x->bench, y->bench))

/* Replaces a MISSING and a NEW case of one name by one INCOMPARABLE case. */
static void compare_merge_renamed(struct comparison *comparison) {
  const struct results *results = comparison->results;
  SCOPED(arena_fini) struct arena arena = {0};
  struct named *fresh = arena_array(&arena, comparison->row_count, sizeof *fresh);
  bool *gone = arena_array(&arena, comparison->row_count, sizeof *gone);
  size_t fresh_count = 0;
  for (size_t i = 0; i < comparison->row_count; i++) {
    struct comparison_row *row = &comparison->rows[i];
    if (compare_is_one_sided(row) && row->result.verdict == VERDICT_NEW) {
      fresh[fresh_count++] = (struct named){&results->cases[row->bench], i, false};
    }
  }
  ORDER_SORT(fresh, fresh_count, compare_named);
  for (size_t i = 0; i < comparison->row_count && fresh_count > 0; i++) {
    struct comparison_row *row = &comparison->rows[i];
    if (!compare_is_one_sided(row) || row->result.verdict != VERDICT_MISSING) {
      continue;
    }
    const struct named wanted = {.bench = &results->cases[row->bench]};
    struct named *found = bsearch(&wanted, fresh, fresh_count, sizeof *fresh, compare_named);
    if (found == NULL || found->used) {
      continue;
    }
    found->used = gone[found->row] = true;
    row->sides[SIDE_B] = comparison->rows[found->row].sides[SIDE_B];
    row->result.verdict = VERDICT_INCOMPARABLE;
    row->reason = arena_format(&comparison->arena, "measured differently: %s",
                               definition_difference(&comparison->arena, wanted.bench->definition,
                                                     found->bench->definition));
    comparison->summary.verdicts[VERDICT_MISSING]--;
    comparison->summary.verdicts[VERDICT_NEW]--;
    comparison->summary.verdicts[VERDICT_INCOMPARABLE]++;
  }
  size_t kept = 0;
  for (size_t i = 0; i < comparison->row_count; i++) {
    if (!gone[i]) {
      comparison->rows[kept++] = comparison->rows[i];
    }
  }
  comparison->row_count = kept;
}

/* ---- all rows together ---- */

/* Where changes are provisional, what confirms them is told; else what decides all that is open or,
 * where nothing is, what confirms that cases are the same. */
static void compare_set_needed(struct comparison *comparison) {
  bool any = false;
  for (size_t i = 0; i < comparison->row_count; i++) {
    const enum comparison_need need = comparison_row_need(&comparison->rows[i]);
    comparison->need = need > comparison->need ? need : comparison->need;
  }
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    if (!comparison_row_is_to_decide(comparison, row)) {
      continue;
    }
    comparison->to_decide++;
    const bool one_run = row->result.doubt == DIFF_DOUBT_ONE_RUN;
    const enum diff_unit unit = one_run ? DIFF_UNIT_RUN : row->result.unit;
    comparison->unit = unit > comparison->unit ? unit : comparison->unit;
    for (size_t s = 0; s < SIDES; s++) {
      /* More processes come in more runs. */
      const unsigned units = one_run || row->result.unit == DIFF_UNIT_PROCESS
                                 ? row->sides[s].runs
                                 : (unsigned)row->result.units[s];
      unsigned *least = &comparison->units_least[s];
      *least = !any || units < *least ? units : *least;
      unsigned *most = &comparison->units_most[s];
      *most = units > *most ? units : *most;
      const unsigned processes = row->sides[s].processes;
      least = &comparison->processes_least[s];
      *least = !any || processes < *least ? processes : *least;
      const unsigned alone = row->result.needed_alone[s];
      comparison->decided_alone[s] += alone > 0;
      if (alone > comparison->needed_alone[s]) {
        comparison->needed_alone[s] = alone;
      }
    }
    any = true;
    comparison->needed_is_least = comparison->needed_is_least || row->result.needed_is_least;
    if (row->result.units_needed > comparison->units_needed) {
      comparison->units_needed = row->result.units_needed;
    }
  }
}

/* Verdicts in the order in which a reader should see them. */
static int compare_verdict_rank(enum verdict verdict) {
  static const signed char RANKS[verdict_name_count] = {
      [VERDICT_BROKEN] = 0,   [VERDICT_REGRESSED] = 1,    [VERDICT_MISSING] = 2,
      [VERDICT_IMPROVED] = 3, [VERDICT_NEW] = 4,          [VERDICT_INCOMPARABLE] = 5,
      [VERDICT_UNCLEAR] = 6,  [VERDICT_INSUFFICIENT] = 7, [VERDICT_SAME] = 8};
  return RANKS[verdict];
}

/* By verdict, then the strongest evidence, then in the order of the plans. */
static int compare_order_rows(const void *a, const void *b, void *context) {
  const struct results *results = context;
  const struct comparison_row *x = a;
  const struct comparison_row *y = b;
  const int order =
      compare_verdict_rank(x->result.verdict) - compare_verdict_rank(y->result.verdict);
  if (order != 0) {
    return order;
  }
  const double p = isnan(x->result.p) ? 2 : x->result.p;
  const double q = isnan(y->result.p) ? 2 : y->result.p;
  if (p != q) {
    return p < q ? -1 : 1;
  }
  const double d = isnan(x->change) ? 0 : fabs(x->result.change);
  const double e = isnan(y->change) ? 0 : fabs(y->result.change);
  if (d != e) {
    return d > e ? -1 : 1;
  }
  const int64_t first = results->cases[x->bench].id;
  const int64_t second = results->cases[y->bench].id;
  if (first != second) {
    return first < second ? -1 : 1;
  }
  return (x->input > y->input) - (x->input < y->input);
}

static bool compare_is_flaky(const struct comparison_row *row) {
  const struct comparison_side *a = &row->sides[SIDE_A];
  const struct comparison_side *b = &row->sides[SIDE_B];
  return a->processes > 0 && b->processes > 0 && a->not_ok + b->not_ok > 0 &&
         row->result.verdict != VERDICT_BROKEN;
}

/* The side that a case of one side alone has no result on. */
static enum side compare_absent_side(const struct comparison_row *row) {
  return row->result.verdict == VERDICT_NEW ? SIDE_A : SIDE_B;
}

/* What all runs of that side were told, each of which left the case out; NULL: it was not so. */
static const char *compare_find_unasked(const struct results *results, const enum side *sides,
                                        const struct comparison_row *row) {
  const enum side side = compare_absent_side(row);
  const char *only = NULL;
  if ((row->result.verdict != VERDICT_NEW && row->result.verdict != VERDICT_MISSING) ||
      row->sides[side].run != SIZE_MAX) {
    return NULL;
  }
  for (size_t i = 0; i < results->run_count; i++) {
    if (sides[i] == side) {
      only = results->runs[i].only;
      if (only == NULL || results_case_matches(&results->cases[row->bench], only)) {
        return NULL;
      }
    }
  }
  return only; /* NULL, too, where no run is on that side */
}

/* All cases are judged together, so that who looks at the worst alone finds no better evidence. */
static void compare_keep_only(const enum side *sides, const char *only,
                              struct comparison *comparison) {
  struct diff_summary *summary = &comparison->summary;
  size_t kept = 0;
  memset(summary->verdicts, 0, sizeof summary->verdicts);
  memset(summary->provisional, 0, sizeof summary->provisional);
  memset(summary->doubts, 0, sizeof summary->doubts);
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    const char *unasked = compare_find_unasked(comparison->results, sides, row);
    if (unasked != NULL) {
      comparison->unasked[compare_absent_side(row)]++;
      comparison->unasked_only[compare_absent_side(row)] = unasked;
      continue;
    }
    comparison->judged_count++;
    if (results_case_matches(&comparison->results->cases[row->bench], only)) {
      summary->verdicts[row->result.verdict]++;
      summary->provisional[row->result.verdict] += row->result.is_provisional;
      summary->doubts[row->result.doubt]++;
      comparison->tested_count += isnan(row->result.p) ? 0 : 1;
      comparison->flaky_count += compare_is_flaky(row);
      comparison->rows[kept++] = *row;
    }
  }
  comparison->row_count = kept;
}

/* Runs that were made until something was decided are judged as often as they might have been. */
static unsigned compare_count_looks(const struct results *results, const enum side *sides,
                                    unsigned looks) {
  for (size_t i = 0; i < results->run_count; i++) {
    const unsigned of_run = sides[i] != SIDE_NONE ? results->runs[i].looks : 0;
    looks = of_run > looks ? of_run : looks;
  }
  return looks;
}

/* What is judged, where that is not processes. */
static void compare_set_judged(struct comparison *comparison) {
  const size_t runs[SIDES] = {comparison->totals[SIDE_A].runs, comparison->totals[SIDE_B].runs};
  if (runs[SIDE_A] == 1 || runs[SIDE_B] == 1) {
    const size_t one = runs[SIDE_A] == 1 ? SIDE_A : SIDE_B;
    comparison->judged = arena_format(&comparison->arena,
                                      "Each run counts once. %c has one run, so its uncertainty is "
                                      "estimated from the %zu runs of %c",
                                      side_letter(one), runs[1 - one], side_letter(1 - one));
  } else {
    comparison->judged = "Each run counts once, as the mean of its processes";
  }
}

/* Which rate a row shows: that of the link, if it changed. That of a broken case is not shown. */
static void compare_choose_rate(struct comparison_row *row) {
  const enum verdict typical = row->rates->of[RATE_TYPICAL].result.verdict;
  const enum verdict link = row->rates->of[RATE_UNDISTURBED].result.verdict;
  row->moved = verdict_is_change(typical) ? (link == typical ? MOVED_BOTH : MOVED_TYPICAL)
               : verdict_is_change(link) && typical != VERDICT_BROKEN ? MOVED_UNDISTURBED
                                                                      : MOVED_UNKNOWN;
  row->rate =
      row->moved == MOVED_BOTH || row->moved == MOVED_UNDISTURBED ? RATE_UNDISTURBED : RATE_TYPICAL;
}

/* undisturbed: NULL where the row has one rate. */
static void compare_set_result(struct comparison_row *row, const struct diff_result *typical,
                               const struct diff_result *undisturbed) {
  struct rate_change only = {.values = {row->sides[SIDE_A].value, row->sides[SIDE_B].value}};
  compare_set_rate(row->figure, typical, &only);
  if (undisturbed != NULL) {
    row->rates->of[RATE_TYPICAL] = only;
    compare_set_rate(row->figure, undisturbed, &row->rates->of[RATE_UNDISTURBED]);
    compare_choose_rate(row);
  }
  compare_show_rate(row, undisturbed != NULL ? &row->rates->of[row->rate] : &only);
  if (row->moved == MOVED_BOTH && !typical->is_provisional) { /* that it changed is sure */
    row->result.is_provisional = false;
    row->result.doubt = DIFF_DOUBT_NONE;
    row->result.units_needed = 0;
  }
}

static void compare_judge(const enum side *sides, const struct compare_options *options,
                          struct comparison *comparison) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct diff_options diff = options->diff;
  diff.looks = comparison->looks;
  const size_t rows = comparison->row_count;
  const size_t count = rows + comparison->rates_count;
  struct diff_case *cases = arena_array(&arena, count, sizeof *cases);
  struct diff_result *found = arena_array(&arena, count, sizeof *found);
  size_t next = rows; /* of the undisturbed rates, in the order of their rows */
  for (size_t i = 0; i < rows; i++) {
    cases[i] = comparison->inputs[i];
    if (comparison->rows[i].rates != NULL) {
      cases[next++] = comparison->rows[i].rates->input;
    }
  }
  diff_find_rounding(cases + rows, count - rows);
  next = rows;
  diff.own = rows;
  diff_compare(cases, count, &diff, found, &comparison->summary);
  diff_suspect(cases, count, &diff, found);
  diff.own = 0; /* of other cases below */
  struct distribution_change *distributions = arena_array(&arena, rows, sizeof *distributions);
  distribution_compare(comparison->inputs, rows, &diff, found, &comparison->summary, distributions);
  for (size_t i = 0; i < rows; i++) {
    struct comparison_row *row = &comparison->rows[i];
    row->distribution = distributions[i];
    compare_set_result(row, &found[i], row->rates != NULL ? &found[next++] : NULL);
    if (row->result.unit == DIFF_UNIT_NODE) {
      comparison->judged =
          "Each node counts once: it is compared with itself, and the nodes' changes with "
          "each other";
    } else if (row->result.unit == DIFF_UNIT_RUN && comparison->judged == NULL) {
      compare_set_judged(comparison);
    }
  }
  compare_merge_renamed(comparison);
  compare_groups(options->only, &diff, comparison);
  compare_keep_only(sides, options->only, comparison);
  compare_set_needed(comparison);
  if (comparison->row_count > 1) { /* none is NULL */
    qsort_r(comparison->rows, comparison->row_count, sizeof *comparison->rows, compare_order_rows,
            (void *)(uintptr_t)comparison->results);
  }
}

enum status compare(const struct results *results, const enum side *sides,
                    const struct compare_options *options, struct comparison **comparison,
                    struct error *err) {
  struct comparison *made = memory_new(1, sizeof *made);
  made->results = results;
  enum status status = compare_check_sides(sides, options->one_side, made, err);
  if (status != STATUS_OK) {
    comparison_free(made);
    return status;
  }
  compare_environments(sides, made);
  compare_conditions(sides, made);
  for (size_t s = 0; s < SIDES; s++) {
    made->totals[s].processes = compare_count_processes(results, sides, (enum side)s);
  }
  compare_set_confounded(sides, made);
  compare_pair_sides(sides, options, made);
  made->input_count = made->row_count;
  if (options->earlier != NULL) {
    compare_set_history(options->earlier, made);
  }
  compare_set_shapes(made);
  diff_find_rounding(made->inputs, made->input_count);
  made->looks = compare_count_looks(results, sides, options->diff.looks);
  compare_judge(sides, options, made);
  *comparison = made;
  return STATUS_OK;
}

void comparison_free(struct comparison *comparison) {
  if (comparison == NULL) {
    return;
  }
  arena_fini(&comparison->arena);
  free(comparison);
}
