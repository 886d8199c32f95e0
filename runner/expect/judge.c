#include "runner/expect/judge.h"

#include "engine/base/strings.h"
#include "engine/machine/check.h"
#include "runner/expect/observed.h"
#include "runner/record/selector.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ENUM_NAMES_DEFINE(expect_verdict, EXPECT_VERDICT_LIST)

struct expect_judge {
  struct expect_set set;
  struct arena arena;
  struct observed_reader reader;
  struct row_sink sink;
  const struct row_sink *inner;
  size_t column_count;
  struct cell *row; /* of column_count + ADDED_COUNT */
  struct expect_finding *findings;
  size_t finding_count, finding_capacity;
  struct expect_finding *broken;
  size_t broken_count, broken_capacity;
  size_t counts[expect_verdict_name_count];
  size_t unknown;                 /* measured, and no row is of it */
  bool partial;                   /* the run has not measured all of its scenario */
  unsigned reports;               /* of the sources that were used */
  const struct expect_row **used; /* one for each source */
  size_t used_count, used_capacity;
  const char *machine; /* the first that a case is of */
};

static const struct column added_columns[] = {{.name = "expected"},
                                              {.name = "expected_low"},
                                              {.name = "expected_high"},
                                              {.name = "as_expected"},
                                              {.name = "expected_limit"}};
enum { ADDED_COUNT = sizeof added_columns / sizeof *added_columns, WORD_MAX = 4096 };

/* ---- which rows are of it ---- */

static bool judge_is(uint32_t wanted, double found) {
  return wanted == 0 || (found >= wanted && found <= wanted);
}

/* PCIe is asked for between the host and a GPU, NVLink between two: of several flows, the first. */
static bool judge_gpu_fits(const struct expect_machine *machine, const struct hardware *gpu,
                           const struct observed *observed) {
  const int *gpus = observed->gpus;
  const bool host = (gpus[0] >= 0) != (gpus[1] >= 0);
  const bool peer = gpus[0] >= 0 && gpus[1] >= 0 && gpus[0] != gpus[1];
  return gpu != NULL && gpu->name != NULL && fnmatch(machine->gpu, gpu->name, FNM_CASEFOLD) == 0 &&
         machine->simulated == (gpu->simulated > 0) && (!machine->c2c || gpu->c2c > 0) &&
         (!host || (judge_is(machine->pcie_generation, gpu->pcie_generation) &&
                    judge_is(machine->pcie_width, gpu->pcie_width))) &&
         (!peer || (judge_is(machine->nvlink_version, gpu->nvlink_version) &&
                    judge_is(machine->nvlink_links, gpu->nvlink_links))) &&
         (machine->driver == NULL || (gpu->driver_version != NULL &&
                                      check_version_fits(machine->driver, gpu->driver_version)));
}

static bool judge_machine_fits(const struct expect_judge *judge,
                               const struct expect_machine *machine,
                               const struct observed *observed) {
  bool any = false;
  for (size_t i = 0; i < 2; i++) {
    if (observed->gpus[i] >= 0) {
      any = true;
      if (!judge_gpu_fits(machine, observed_gpu(&judge->reader, observed->gpus[i]), observed)) {
        return false;
      }
    }
  }
  /* Of the host alone: a machine whose first GPU is such a one. */
  return any ||
         (judge->reader.gpu_count > 0 && judge_gpu_fits(machine, &judge->reader.gpus[0], observed));
}

static bool judge_word_fits(unsigned wanted, unsigned found) {
  return wanted == EXPECT_ANY || wanted == found;
}

static bool judge_glob_fits(const char *glob, const char *text) {
  return glob == NULL || fnmatch(glob, text != NULL ? text : "", 0) == 0;
}

static bool judge_memory_fits(const struct expect_row *row, const struct observed *observed) {
  if (observed->node < 0 || row->memory != EXPECT_ANY || row->block != NULL) {
    return judge_word_fits(row->memory, observed->memory);
  }
  return observed->path == EXPECT_HOST_TO_HOST || observed->memory == MEMORY_PINNED;
}

static bool judge_row_fits(const struct expect_row *row, const struct observed *observed) {
  return row->kind == observed->kind && judge_word_fits(row->path, observed->path) &&
         judge_word_fits(row->method, observed->method) &&
         judge_word_fits(row->operation, observed->operation) &&
         judge_word_fits(row->initiator, observed->initiator) && judge_memory_fits(row, observed) &&
         judge_glob_fits(row->block, observed->block) &&
         judge_glob_fits(row->axes, observed->axes) && (row->block != NULL || observed->plain) &&
         observed->size >= row->size_min &&
         (row->size_max == 0 || (observed->size > 0 && observed->size <= row->size_max)) &&
         expect_unit_is_time((enum expect_unit)row->unit) == observed->time;
}

/* ---- the range of all of them ---- */

/* Of one kind of statement: the widest range of reports, the narrowest of floors and limits. */
struct known {
  bool any;
  double low, high; /* NAN = open */
  double low_edge, high_edge;
  const char *machine;
};

static void judge_widen(double *low, double *high, double row_low, double row_high, bool wider) {
  const bool takes_low = isnan(*low) || (wider ? row_low < *low : row_low > *low);
  const bool takes_high = isnan(*high) || (wider ? row_high > *high : row_high < *high);
  *low = !isnan(row_low) && takes_low ? row_low : *low;
  *high = !isnan(row_high) && takes_high ? row_high : *high;
}

static void judge_add_row(struct known *known, const struct expect_machine *machine,
                          const struct expect_row *row) {
  const enum expect_unit unit = (enum expect_unit)row->unit;
  const double low = expect_base(unit, row->low); /* NAN stays NAN */
  const double high = expect_base(unit, row->high);
  const bool wider = row->statement == EXPECT_REPORTS;
  if (!known->any) {
    *known =
        (struct known){.any = true, .low = NAN, .high = NAN, .low_edge = NAN, .high_edge = NAN};
    known->machine = machine->name;
  }
  judge_widen(&known->low, &known->high, low, high, wider);
  judge_widen(&known->low_edge, &known->high_edge, low * (1 - expect_tolerance(row)),
              high * (1 + expect_tolerance(row)), wider);
}

/* Each source of reports counts once, however many rows it has. */
static void judge_use_source(struct expect_judge *judge, const struct expect_row *row) {
  for (size_t i = 0; i < judge->used_count; i++) {
    if (strcmp(judge->used[i]->source, row->source) == 0) {
      return;
    }
  }
  judge->used = arena_grow(&judge->arena, judge->used, judge->used_count, &judge->used_capacity,
                           sizeof(const struct expect_row *));
  judge->used[judge->used_count++] = row;
  judge->reports += row->hosts > 0 ? row->hosts : row->count > 0 ? row->count : 1;
}

static void judge_collect(struct expect_judge *judge, const struct expect_file *file,
                          const struct observed *observed,
                          struct known known[expect_statement_name_count], bool reports) {
  for (size_t m = 0; file != NULL && m < file->machine_count; m++) {
    const struct expect_machine *machine = &file->machines[m];
    if (!judge_machine_fits(judge, machine, observed)) {
      continue;
    }
    for (size_t r = 0; r < machine->row_count; r++) {
      const struct expect_row *row = &machine->rows[r];
      if (!judge_row_fits(row, observed) || (row->statement == EXPECT_REPORTS && !reports)) {
        continue;
      }
      judge_add_row(&known[row->statement], machine, row);
      if (row->statement == EXPECT_REPORTS) {
        judge_use_source(judge, row);
      }
    }
  }
}

/* "55.2-55.5", "826", ">= 48" */
static const char *judge_range(struct arena *arena, double low, double high) {
  char from[32];
  char to[32];
  (void)snprintf(from, sizeof from, "%.4g", low);
  (void)snprintf(to, sizeof to, "%.4g", high);
  return isnan(low)              ? arena_format(arena, "<= %s", to)
         : isnan(high)           ? arena_format(arena, ">= %s", from)
         : strcmp(from, to) == 0 ? arena_strdup(arena, from)
                                 : arena_format(arena, "%s-%s", from, to);
}

static void judge_compare(const struct known *known, enum expect_statement statement,
                          const struct observed *observed, struct expect_finding *finding) {
  const bool below = observed->value < known->low_edge; /* false of NAN */
  const bool above = observed->value > known->high_edge;
  if (!known->any || finding->verdict == EXPECT_SHORT || (!below && !above)) {
    return;
  }
  const bool sure = below ? observed->high < known->low_edge : observed->low > known->high_edge;
  if (!sure && finding->verdict == EXPECT_BEYOND) {
    return; /* of what is reported, and perhaps of a limit, too */
  }
  finding->verdict = !sure ? EXPECT_UNCLEAR : below != finding->time ? EXPECT_SHORT : EXPECT_BEYOND;
  finding->statement = statement;
  finding->low = known->low;
  finding->high = known->high;
  const double end = below ? known->low : known->high;
  finding->ratio = finding->time ? end / finding->value : finding->value / end;
}

/* False: nothing is known but perhaps a limit. That says only of what is beyond it that it is
 * wrong. */
static bool judge_observed(struct expect_judge *judge, const struct observed *observed,
                           struct expect_finding *finding) {
  struct known known[expect_statement_name_count] = {{0}};
  for (size_t i = 0; i < EXPECT_FILES_MAX; i++) {
    judge_collect(judge, judge->set.files[i], observed, known, !known[EXPECT_REPORTS].any);
  }
  const enum expect_statement shown = known[EXPECT_REPORTS].any ? EXPECT_REPORTS
                                      : known[EXPECT_FLOOR].any ? EXPECT_FLOOR
                                                                : EXPECT_LIMIT;
  *finding =
      (struct expect_finding){.verdict = EXPECT_USUAL,
                              .path = (enum expect_path)observed->path,
                              .time = observed->time,
                              .value = observed->value,
                              .low = known[shown].low,
                              .high = known[shown].high,
                              .statement = shown,
                              .ratio = 1,
                              .limit = known[EXPECT_LIMIT].any ? known[EXPECT_LIMIT].high : NAN,
                              .gpus = {observed->gpus[0], observed->gpus[1]},
                              .machine = known[shown].machine};
  judge_compare(&known[EXPECT_FLOOR], EXPECT_FLOOR, observed, finding);
  judge_compare(&known[EXPECT_REPORTS], EXPECT_REPORTS, observed, finding);
  judge_compare(&known[EXPECT_LIMIT], EXPECT_LIMIT, observed, finding);
  if (shown == EXPECT_LIMIT && finding->verdict != EXPECT_BEYOND) {
    return false;
  }
  finding->expected = judge_range(&judge->arena, finding->low, finding->high);
  if (known[EXPECT_REPORTS].any && finding->statement != EXPECT_REPORTS) {
    finding->usual =
        judge_range(&judge->arena, known[EXPECT_REPORTS].low, known[EXPECT_REPORTS].high);
  }
  judge->machine = judge->machine == NULL ? finding->machine : judge->machine;
  return true;
}

/* ---- the sink ---- */

static enum status judge_begin(void *context, const struct column *columns, size_t count,
                               struct error *err) {
  struct expect_judge *judge = context;
  observed_columns(&judge->reader, columns, count);
  judge->column_count = count;
  judge->row = arena_array(&judge->arena, count + ADDED_COUNT, sizeof *judge->row);
  if (judge->inner == NULL) {
    return STATUS_OK;
  }
  struct column *all = arena_array(&judge->arena, count + ADDED_COUNT, sizeof *all);
  memcpy(all, columns, count * sizeof *all);
  memcpy(all + count, added_columns, sizeof added_columns);
  return judge->inner->begin(judge->inner->context, all, count + ADDED_COUNT, err);
}

static void judge_keep(struct expect_judge *judge, const struct cell *cells,
                       const struct expect_finding *finding) {
  const bool broken = finding->verdict == EXPECT_BROKEN;
  struct expect_finding **list = broken ? &judge->broken : &judge->findings;
  size_t *count = broken ? &judge->broken_count : &judge->finding_count;
  *list = arena_grow(&judge->arena, *list, *count,
                     broken ? &judge->broken_capacity : &judge->finding_capacity, sizeof **list);
  struct expect_finding *kept = &(*list)[(*count)++];
  *kept = *finding;
  kept->name = observed_text(&judge->reader, cells, CELL_CASE);
  kept->block = observed_text(&judge->reader, cells, CELL_BLOCK);
  kept->key = observed_text(&judge->reader, cells, CELL_KEY);
  kept->slowed_by = observed_text(&judge->reader, cells, CELL_SLOWED);
  judge->counts[finding->verdict]++;
}

/* A case that went wrong; one that is shown elsewhere counts there. */
static bool judge_is_broken(struct expect_judge *judge, const struct cell *cells,
                            struct expect_finding *finding) {
  const char *status = observed_text(&judge->reader, cells, CELL_STATUS);
  const char *reason = observed_text(&judge->reader, cells, CELL_REASON);
  if (status == NULL || strcmp(status, case_status_text(CASE_OK)) == 0 ||
      strcmp(status, case_status_text(CASE_SKIPPED)) == 0 ||
      observed_text(&judge->reader, cells, CELL_SAME) != NULL) {
    return false;
  }
  *finding = (struct expect_finding){.verdict = EXPECT_BROKEN,
                                     .value = NAN,
                                     .limit = NAN,
                                     .gpus = {-1, -1},
                                     .reason = arena_format(&judge->arena, "%s%s%s", status,
                                                            reason != NULL ? ": " : "",
                                                            reason != NULL ? reason : "")};
  return true;
}

static enum status judge_take(void *context, const struct cell *cells, struct error *err) {
  struct expect_judge *judge = context;
  struct observed observed;
  struct expect_finding finding = {.limit = NAN};
  const bool measured = observed_read(&judge->reader, cells, &observed);
  judge->partial = judge->partial || observed_number(&judge->reader, cells, CELL_PARTIAL) > 0;
  const bool known = measured && judge_observed(judge, &observed, &finding);
  if (known || (!measured && judge_is_broken(judge, cells, &finding))) {
    judge_keep(judge, cells, &finding);
  } else if (measured) {
    judge->unknown++;
  }
  if (judge->inner == NULL) {
    return STATUS_OK;
  }
  memcpy(judge->row, cells, judge->column_count * sizeof *cells);
  struct cell *added = judge->row + judge->column_count;
  added[0] = known ? cell_text(finding.expected) : cell_null();
  added[1] = known ? cell_finite(finding.low) : cell_null();
  added[2] = known ? cell_finite(finding.high) : cell_null();
  added[3] = known ? cell_text(expect_verdict_text(finding.verdict)) : cell_null();
  added[4] = cell_finite(finding.limit);
  return judge->inner->row(judge->inner->context, judge->row, err);
}

static enum status judge_end(void *context, struct error *err) {
  const struct expect_judge *judge = context;
  return judge->inner == NULL ? STATUS_OK : judge->inner->end(judge->inner->context, err);
}

static bool judge_has_enough(void *context) {
  const struct expect_judge *judge = context;
  return judge->inner != NULL && sink_has_enough(judge->inner);
}

struct expect_judge *expect_judge_new(const struct expect_set *set,
                                      const struct result_set *hardware) {
  struct expect_judge *judge = calloc(1, sizeof *judge);
  if (judge == NULL) {
    abort(); /* as the arena does */
  }
  judge->set = *set;
  observed_begin(&judge->reader, &judge->arena, hardware);
  return judge;
}

void expect_judge_free(struct expect_judge *judge) {
  if (judge != NULL) {
    arena_fini(&judge->arena);
    free(judge);
  }
}

const struct row_sink *expect_judge_sink(struct expect_judge *judge, const struct row_sink *inner) {
  judge->inner = inner;
  judge->sink = (struct row_sink){.context = judge,
                                  .begin = judge_begin,
                                  .row = judge_take,
                                  .end = judge_end,
                                  .enough = judge_has_enough};
  return &judge->sink;
}

const struct expect_finding *expect_judge_findings(const struct expect_judge *judge,
                                                   size_t *count) {
  *count = judge->finding_count;
  return judge->findings;
}

const struct expect_finding *expect_judge_broken(const struct expect_judge *judge, size_t *count) {
  *count = judge->broken_count;
  return judge->broken;
}

size_t expect_judge_count(const struct expect_judge *judge, enum expect_verdict verdict) {
  return judge->counts[verdict];
}

bool expect_judge_is_partial(const struct expect_judge *judge) {
  return judge->partial;
}

size_t expect_judge_unknown(const struct expect_judge *judge) {
  return judge->unknown;
}

/* All that is said of the number, which is now the other one. */
static void judge_replace(struct expect_judge *judge, struct expect_finding *finding,
                          const struct expect_finding *other) {
  const struct expect_finding first = *finding;
  struct arena *arena = &judge->arena;
  judge->counts[finding->verdict]--;
  judge->counts[other->verdict]++;
  *finding = *other;
  finding->name = first.name;
  finding->key = first.key;
  finding->block = first.block;
  finding->expected = arena_strdup(arena, other->expected);
  finding->usual = other->usual != NULL ? arena_strdup(arena, other->usual) : NULL;
  finding->slowed_by = other->slowed_by != NULL ? arena_strdup(arena, other->slowed_by) : NULL;
}

void expect_judge_absolve(struct expect_judge *judge, const struct expect_judge *again) {
  for (size_t i = 0; i < judge->finding_count; i++) {
    struct expect_finding *finding = &judge->findings[i];
    for (size_t k = 0; k < again->finding_count; k++) {
      const struct expect_finding *other = &again->findings[k];
      const bool worse =
          other->verdict == EXPECT_SHORT || (other->verdict == EXPECT_UNCLEAR && other->ratio < 1);
      const bool takes =
          finding->verdict == EXPECT_UNCLEAR || (finding->verdict == EXPECT_SHORT && !worse);
      if (takes && strcmp(other->key, finding->key) == 0) {
        judge_replace(judge, finding, other);
      }
    }
  }
}

static enum status judge_run_alone(const struct expect_set *set, struct query *query,
                                   const char *run, const struct query_options *options,
                                   const struct row_sink *inner, struct expect_judge **judge,
                                   struct error *err) {
  const struct query_parameter parameter = {"run", run};
  struct result_set hardware;
  struct expect_judge *made = NULL;
  result_set_init(&hardware, SIZE_MAX);
  enum status status =
      query_run_saved(query, "hardware", &parameter, 1, options, &hardware.sink, err);
  if (status == STATUS_OK) {
    made = expect_judge_new(set, &hardware);
    status = query_run_saved(query, "run-result", &parameter, 1, options,
                             expect_judge_sink(made, inner), err);
  }
  result_set_fini(&hardware);
  if (status != STATUS_OK) {
    expect_judge_free(made);
    return status;
  }
  *judge = made;
  return STATUS_OK;
}

enum status expect_judge_run(const struct expect_set *set, struct query *query, const char *run,
                             const struct query_options *options, const struct row_sink *inner,
                             struct expect_judge **judge, struct error *err) {
  struct run_ref ref;
  struct run_ref repeat = {0};
  struct expect_judge *made = NULL;
  struct expect_judge *again = NULL;
  enum status status = selector_find(query_database(query), run, &ref, err);
  status = THEN(status, selector_find_repeat(query_database(query), ref.id, &repeat, err));
  status = THEN(status, judge_run_alone(set, query, run, options, inner, &made, err));
  if (status == STATUS_OK && repeat.id != 0) {
    const char *name = arena_format(&made->arena, "run:%s", repeat.uuid);
    status = judge_run_alone(set, query, name, NULL, NULL, &again, err);
  }
  if (status != STATUS_OK) {
    expect_judge_free(made);
    return status;
  }
  if (again != NULL) {
    expect_judge_absolve(made, again);
  }
  expect_judge_free(again);
  *judge = made;
  return STATUS_OK;
}

/* ---- sentences ---- */

const char *expect_finding_words(struct arena *arena, const struct expect_finding *finding) {
  const bool reported = finding->statement == EXPECT_REPORTS;
  if (finding->verdict == EXPECT_BROKEN) {
    return arena_format(arena, "%s: %s", expect_verdict_text(EXPECT_BROKEN), finding->reason);
  }
  return arena_format(
      arena, "%.4g %s, %s%s%s%s %s", finding->value, finding->time ? "ns" : "GB/s",
      finding->usual != NULL ? "usual " : "", finding->usual != NULL ? finding->usual : "",
      finding->usual != NULL ? ", " : "",
      reported ? "usual" : expect_statement_text(finding->statement), finding->expected);
}

/* How many cases of that GPU fall short. */
static size_t judge_shortfalls(const struct expect_judge *judge, int gpu) {
  size_t count = 0;
  for (size_t i = 0; i < judge->finding_count; i++) {
    const struct expect_finding *finding = &judge->findings[i];
    count += finding->verdict == EXPECT_SHORT && finding->path != EXPECT_SEVERAL &&
             (finding->gpus[0] == gpu || finding->gpus[1] == gpu);
  }
  return count;
}

const char *expect_finding_place(struct expect_judge *judge, const struct expect_finding *finding) {
  const int a = finding->gpus[0] >= 0 ? finding->gpus[0] : finding->gpus[1];
  const int b = finding->gpus[1] >= 0 ? finding->gpus[1] : a;
  if (a < 0) {
    return "host";
  }
  if (finding->path == EXPECT_SEVERAL) { /* gpus are those of the first flow */
    return "several GPUs";
  }
  const size_t of_a = judge_shortfalls(judge, a);
  const size_t of_b = judge_shortfalls(judge, b);
  if (a == b || of_a != of_b) {
    return arena_format(&judge->arena, "gpu%d", of_b > of_a ? b : a);
  }
  return arena_format(&judge->arena, "gpu%d-gpu%d", a < b ? a : b, a < b ? b : a);
}

size_t expect_judge_shortfalls(struct expect_judge *judge, const struct expect_shortfall **items) {
  struct expect_shortfall *made =
      arena_array(&judge->arena, judge->counts[EXPECT_SHORT], sizeof *made);
  size_t count = 0;
  for (size_t i = 0; i < judge->finding_count; i++) {
    const struct expect_finding *finding = &judge->findings[i];
    if (finding->verdict != EXPECT_SHORT) {
      continue;
    }
    const char *place = expect_finding_place(judge, finding);
    const char *noun =
        finding->time ? arena_format(&judge->arena, "%s latency", expect_path_noun(finding->path))
                      : expect_path_noun(finding->path);
    size_t k = 0;
    while (k < count && (strcmp(made[k].place, place) != 0 || strcmp(made[k].noun, noun) != 0)) {
      k++;
    }
    if (k == count) {
      made[count++] = (struct expect_shortfall){.place = place, .noun = noun, .worst = finding};
    }
    made[k].count++;
    made[k].worst = finding->ratio < made[k].worst->ratio ? finding : made[k].worst;
  }
  *items = made;
  return count;
}

const char *expect_shortfall_words(struct arena *arena, const struct expect_shortfall *item) {
  const char *others =
      item->count > 1 ? arena_format(arena, ", and %zu more", item->count - 1) : "";
  return arena_format(arena, "%s, %s: %s (%s%s)", item->place, item->noun,
                      expect_finding_words(arena, item->worst), item->worst->name, others);
}

const char *expect_judge_summary(struct expect_judge *judge) {
  struct arena *arena = &judge->arena;
  const size_t shorts = judge->counts[EXPECT_SHORT];
  const size_t better = judge->counts[EXPECT_BEYOND];
  if (judge->finding_count == 0) {
    return NULL;
  }
  const char *beyond =
      better > 0 ? arena_format(arena, "; %zu better than anything reported", better) : "";
  const size_t unclear = judge->counts[EXPECT_UNCLEAR];
  const char *noisy = unclear > 0 ? arena_format(arena, "; %zu too noisy to tell", unclear) : "";
  const char *unknown = judge->unknown > 0
                            ? arena_format(arena, "; nothing is known of %zu more", judge->unknown)
                            : "";
  const char *broken =
      judge->broken_count > 0 ? arena_format(arena, "; %zu went wrong", judge->broken_count) : "";
  if (shorts > 0) {
    return arena_format(arena, "%zu of %zu short of what is usual for %s%s%s%s%s: see haul explain",
                        shorts, judge->finding_count, judge->machine, beyond, noisy, unknown,
                        broken);
  }
  const char *grounds = judge->reports > 0 ? arena_format(arena, " (%u report%s)", judge->reports,
                                                          strings_plural(judge->reports, "", "s"))
                                           : " (floors alone)";
  return arena_format(
      arena, "%s%zu as usual for %s%s%s%s%s%s", unclear + judge->broken_count > 0 ? "" : "all ",
      judge->finding_count - unclear, judge->machine, grounds, beyond, noisy, unknown, broken);
}

size_t expect_judge_words(struct expect_judge *judge, const char *const **lines) {
  struct arena *arena = &judge->arena;
  const struct expect_shortfall *items = NULL;
  const size_t count = expect_judge_shortfalls(judge, &items);
  const char *summary = expect_judge_summary(judge);
  const char **made = arena_array(arena, count + 2, sizeof *made);
  size_t lines_count = 0;
  if (judge->broken_count > 0) {
    const char *more = judge->broken_count > 1
                           ? arena_format(arena, ", and %zu more", judge->broken_count - 1)
                           : "";
    made[lines_count++] =
        arena_format(arena, "%s: %s%s", judge->broken->name, judge->broken->reason, more);
  }
  for (size_t i = 0; i < count; i++) {
    const char *slowed = items[i].worst->slowed_by;
    for (size_t k = 0; k < i && slowed != NULL; k++) { /* what slows many is said once */
      const char *said = items[k].worst->slowed_by;
      slowed = said != NULL && strcmp(said, slowed) == 0 ? NULL : slowed;
    }
    made[lines_count++] =
        arena_format(arena, "%s%s%s", expect_shortfall_words(arena, &items[i]),
                     slowed != NULL ? "; may be slowed: " : "", slowed != NULL ? slowed : "");
  }
  made[lines_count++] = summary;
  *lines = made;
  return summary != NULL ? lines_count : 0;
}

void expect_judge_print(struct expect_judge *judge, const struct output *output) {
  const char *const *lines = NULL;
  const size_t count = expect_judge_words(judge, &lines);
  if (count > 0) {
    output_section(output, NULL);
    output_gap(output);
  }
  for (size_t i = 0; i < count; i++) {
    output_wrapped(output, "", lines[i]);
  }
}
