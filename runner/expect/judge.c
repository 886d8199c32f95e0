#include "runner/expect/judge_internal.h"

#include "engine/base/strings.h"
#include "runner/expect/observed.h"
#include "runner/record/selector.h"
#include "runner/table/json_shape.h"
#include "runner/table/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ENUM_NAMES_DEFINE(expect_verdict, EXPECT_VERDICT_LIST)

#define ADDED_COLUMNS(X)                                                                           \
  X("expected", text, judgement->expected)                                                         \
  X("expected_low", finite, judgement->low)                                                        \
  X("expected_high", finite, judgement->high)                                                      \
  X("as_expected", text, expect_verdict_text(judgement->verdict))                                  \
  X("expected_limit", finite, judgement->limit)                                                    \
  X("usual_low", finite, judgement->usual_low)                                                     \
  X("usual_high", finite, judgement->usual_high)                                                   \
  X("judged", finite, judgement->value)                                                            \
  X("expected_remark", text, judgement_remark(&judge->arena, judgement))
#define ADDED_COLUMN(text, ...) {.name = (text)},

static const struct column added_columns[] = {ADDED_COLUMNS(ADDED_COLUMN)};
enum { LIMIT_ADDED = 4, ADDED_COUNT = COUNT_OF(added_columns), WORD_MAX = 4096 };

JSON_DESCRIBER(expect_judge_describe_json, ADDED_COLUMNS, JSON_COLUMN)

/* ---- the range of all of them ---- */

/* Of one kind of statement: the widest range of reports, the narrowest of floors and limits. */
struct known_range {
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

static void judge_add_row(struct known_range *known, const struct expect_machine *machine,
                          const struct expect_row *row) {
  const enum expect_unit unit = (enum expect_unit)row->unit;
  const double low = expect_base(unit, row->low); /* NAN stays NAN */
  const double high = expect_base(unit, row->high);
  const bool wider = row->statement == EXPECT_REPORTS;
  known->machine = known->any ? known->machine : machine->name;
  known->any = true;
  judge_widen(&known->low, &known->high, low, high, wider);
  judge_widen(&known->low_edge, &known->high_edge, low * (1 - expect_tolerance(row)),
              high * (1 + expect_tolerance(row)), wider);
}

unsigned judge_reports_of(const struct expect_row *row) {
  return row->hosts > 0 ? row->hosts : row->count > 0 ? row->count : 1;
}

/* Each source of reports counts once, however many rows it has and whichever comes first. */
static void judge_use_source(struct expect_judge *judge, const struct expect_row *row) {
  for (size_t i = 0; i < judge->used_count; i++) {
    const struct expect_row *used = judge->used[i];
    if (strcmp(used->source, row->source) == 0) {
      judge->used[i] = judge_reports_of(row) > judge_reports_of(used) ? row : used;
      return;
    }
  }
  *ARENA_ADD(&judge->arena, judge->used, judge->used_count) = row;
}

static void judge_collect(struct expect_judge *judge, const struct expect_file *file,
                          const struct observed *observed,
                          struct known_range known[expect_statement_name_count], bool reports) {
  for (size_t m = 0; file != NULL && m < file->machine_count; m++) {
    const struct expect_machine *machine = &file->machines[m];
    if (!observed_machine_fits(&judge->reader, machine, observed)) {
      continue;
    }
    for (size_t r = 0; r < machine->row_count; r++) {
      const struct expect_row *row = &machine->rows[r];
      if (!observed_row_fits(row, observed) || (row->statement == EXPECT_REPORTS && !reports)) {
        continue;
      }
      judge_add_row(&known[row->statement], machine, row);
      if (row->statement == EXPECT_REPORTS) {
        judge_use_source(judge, row);
      }
    }
  }
}

double judge_shown(double value) {
  char text[32];
  (void)snprintf(text, sizeof text, "%.4g", value);
  return strtod(text, NULL);
}

void judge_number(char text[32], double value) {
  (void)snprintf(text, 32, value < 9999.5 ? "%.4g" : "%.0f", judge_shown(value));
}

/* "55.2-55.5", "826", ">= 48" */
static const char *judge_range(struct arena *arena, double low, double high) {
  char from[32];
  char to[32];
  judge_number(from, low);
  judge_number(to, high);
  return isnan(low)              ? arena_format(arena, "<= %s", to)
         : isnan(high)           ? arena_format(arena, ">= %s", from)
         : strcmp(from, to) == 0 ? arena_strdup(arena, from)
                                 : arena_format(arena, "%s-%s", from, to);
}

/* A neighbour that never rests slows the fastest trials by more than they vary: on an H100 by 1.6
 * times that. Beyond three times it is no explanation. Nor does it take more than a quarter from
 * the best rate, however much the trials vary: the recorded ones took 16 % at most from copy
 * engines. */
static const double JUDGE_EXPLAINED = 3;
static const double JUDGE_BEST_LEAST = 0.75;

/* Whether other programs may be why the value is so far beyond that edge. */
static bool judge_is_explained(const struct observed *observed, double edge) {
  const double share = observed->time ? edge / observed->value : observed->value / edge;
  return observed->all_disturbed && share >= JUDGE_BEST_LEAST &&
         1 / share - 1 <= JUDGE_EXPLAINED * observed->spread;
}

static void judge_compare(const struct known_range *known, enum expect_statement statement,
                          const struct observed *observed, struct expect_judgement *judgement) {
  const bool below = observed->value < known->low_edge; /* false of NAN */
  const bool above = observed->value > known->high_edge;
  if (!known->any || judgement->verdict == EXPECT_SHORT || (!below && !above)) {
    return;
  }
  const bool sure = below ? observed->high < known->low_edge : observed->low > known->high_edge;
  if (!sure && judgement->verdict == EXPECT_BEYOND) {
    return; /* of what is reported, and perhaps of a limit, too */
  }
  const bool worse = below != judgement->time;
  const bool explained =
      worse && judge_is_explained(observed, below ? known->low_edge : known->high_edge);
  judgement->verdict = explained ? EXPECT_DISTURBED
                       : !sure   ? EXPECT_UNCLEAR
                       : worse   ? EXPECT_SHORT
                                 : EXPECT_BEYOND;
  judgement->statement = statement;
  judgement->low = known->low;
  judgement->high = known->high;
  const double end = below ? known->low : known->high;
  judgement->ratio = judgement->time ? end / judgement->value : judgement->value / end;
}

/* "2.3 % below"; NULL: a reader finds the value within what is expected, or it
 * is as usual, and its own interval reaches that. */
static const char *judge_distance(struct arena *arena, const struct known_range *known,
                                  const struct observed *observed,
                                  const struct expect_judgement *judgement, double *tolerated) {
  const bool below = judge_shown(judgement->value) < judge_shown(judgement->low);
  if (!below && !(judge_shown(judgement->value) > judge_shown(judgement->high))) {
    return NULL;
  }
  if (judgement->verdict == EXPECT_USUAL &&
      (below ? observed->high >= judgement->low : observed->low <= judgement->high)) {
    return NULL;
  }
  const double end = below ? judgement->low : judgement->high;
  const double edge = below ? known->low_edge : known->high_edge;
  *tolerated = fabs(edge / end - 1);
  return arena_format(arena, "%s %s", text_percent(arena, fabs(judgement->value / end - 1), 2),
                      below ? "below" : "above");
}

/* False: nothing is known but perhaps a limit. That says only of what is beyond it that it is
 * wrong. */
static bool judge_observed(struct expect_judge *judge, const struct observed *observed,
                           struct expect_judgement *judgement) {
  struct known_range known[expect_statement_name_count];
  for (size_t i = 0; i < expect_statement_name_count; i++) {
    known[i] = (struct known_range){.low = NAN, .high = NAN, .low_edge = NAN, .high_edge = NAN};
  }
  for (size_t i = 0; i < EXPECT_FILES_MAX; i++) {
    judge_collect(judge, judge->set.files[i], observed, known, !known[EXPECT_REPORTS].any);
  }
  const enum expect_statement shown = known[EXPECT_REPORTS].any ? EXPECT_REPORTS
                                      : known[EXPECT_FLOOR].any ? EXPECT_FLOOR
                                                                : EXPECT_LIMIT;
  *judgement = (struct expect_judgement){.verdict = EXPECT_USUAL,
                                         .path = (enum expect_path)observed->path,
                                         .time = observed->time,
                                         .value = observed->value,
                                         .revisited = observed->revisited,
                                         .at_best = observed->all_disturbed && observed->revisited,
                                         .spread = observed->spread,
                                         .low = known[shown].low,
                                         .high = known[shown].high,
                                         .statement = shown,
                                         .ratio = 1,
                                         .limit = known[EXPECT_LIMIT].high,
                                         .usual_low = NAN,
                                         .usual_high = NAN,
                                         .gpus = {observed->gpus[0], observed->gpus[1]},
                                         .machine = known[shown].machine};
  judge_compare(&known[EXPECT_FLOOR], EXPECT_FLOOR, observed, judgement);
  judge_compare(&known[EXPECT_REPORTS], EXPECT_REPORTS, observed, judgement);
  judge_compare(&known[EXPECT_LIMIT], EXPECT_LIMIT, observed, judgement);
  if (shown == EXPECT_LIMIT && judgement->verdict != EXPECT_BEYOND) {
    return false;
  }
  for (size_t i = 0; i < expect_statement_name_count; i++) { /* NAN counts for nothing */
    judgement->usual_low = fmax(judgement->usual_low, known[i].low_edge);
    judgement->usual_high = fmin(judgement->usual_high, known[i].high_edge);
  }
  judgement->expected = judge_range(&judge->arena, judgement->low, judgement->high);
  double tolerated = 0;
  judgement->distance =
      judge_distance(&judge->arena, &known[judgement->statement], observed, judgement, &tolerated);
  judgement->deviation = judgement->distance == NULL || !(tolerated > 0)
                             ? judgement->distance
                             : arena_format(&judge->arena, "%s (tolerance %s)", judgement->distance,
                                            text_percent(&judge->arena, tolerated, 2));
  if (known[EXPECT_REPORTS].any && judgement->statement != EXPECT_REPORTS) {
    judgement->usual =
        judge_range(&judge->arena, known[EXPECT_REPORTS].low, known[EXPECT_REPORTS].high);
  }
  judge->machine = judge->machine == NULL ? judgement->machine : judge->machine;
  return true;
}

/* ---- the sink ---- */

/* Of fewer trials it is nothing to speak of. */
static const double DISTURBED_PERCENT_SAID = 5;

static void judge_disturb(struct disturbance *disturbance, const struct observed *observed,
                          const char *name) {
  if (!(observed->disturbed_percent >= DISTURBED_PERCENT_SAID)) {
    return;
  }
  disturbance->on_host = (disturbance->count == 0 || disturbance->on_host) && observed->node >= 0;
  disturbance->count++;
  if (observed->disturbed_percent > disturbance->percent) {
    disturbance->percent = observed->disturbed_percent;
    disturbance->slower_percent = observed->slower_percent;
    disturbance->name = name;
  }
}

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

static void judge_label(struct expect_judge *judge, const struct cell *cells,
                        struct expect_judgement *judgement) {
  judgement->name = observed_text(&judge->reader, cells, CELL_CASE);
  judgement->block = observed_text(&judge->reader, cells, CELL_BLOCK);
  judgement->key = observed_text(&judge->reader, cells, CELL_KEY);
  judgement->slowed_by = observed_text(&judge->reader, cells, CELL_SLOWED);
}

static void judge_keep(struct expect_judge *judge, const struct expect_judgement *judgement) {
  struct expect_judged *judged = &judge->judged;
  if (judgement->verdict == EXPECT_BROKEN) {
    *ARENA_ADD(&judge->arena, judged->broken, judged->broken_count) = *judgement;
  } else {
    *ARENA_ADD(&judge->arena, judged->judgements, judged->count) = *judgement;
  }
  judged->verdicts[judgement->verdict]++;
}

/* NULL = that case was not measured once more, or not to its end. */
static const struct expect_judgement *judge_find_again(const struct expect_judge *again,
                                                       const char *key) {
  const struct expect_judged *judged = again != NULL ? &again->judged : &(struct expect_judged){0};
  for (size_t i = 0; i < judged->broken_count + judged->count; i++) {
    const struct expect_judgement *judgement = i < judged->broken_count
                                                   ? &judged->broken[i]
                                                   : &judged->judgements[i - judged->broken_count];
    if (strcmp(judgement->key, key) == 0) {
      return judgement;
    }
  }
  return NULL;
}

/* Whether the second measurement counts, which has a value. An episode may outlast a single visit
 * and look like a slow link, so that is no shortfall beside a disturbed result. */
static bool judge_is_superseded(const struct expect_judgement *first,
                                const struct expect_judgement *other) {
  if (first->verdict == EXPECT_SHORT) {
    return other->verdict == EXPECT_DISTURBED
               ? !first->revisited
               : other->verdict != EXPECT_SHORT &&
                     (other->verdict != EXPECT_UNCLEAR || other->ratio >= 1);
  }
  return first->verdict == EXPECT_UNCLEAR || (first->verdict == EXPECT_DISTURBED &&
                                              (other->verdict != EXPECT_SHORT || other->revisited));
}

/* Where the second number counts, its words replace those of the first. */
static void judge_measure_again(const struct expect_judge *judge,
                                struct expect_judgement *judgement) {
  const struct expect_judgement *other = judge_find_again(judge->again, judgement->key);
  const struct expect_judgement first = *judgement;
  if (other == NULL || (other->verdict != EXPECT_BROKEN && !judge_is_superseded(&first, other))) {
    return;
  }
  /* Two levels that came back, both below: neither interval tells, but that is no chance. */
  const bool twice = first.verdict == EXPECT_UNCLEAR && other->verdict == EXPECT_UNCLEAR &&
                     first.revisited && other->revisited && first.ratio < 1 && other->ratio < 1;
  *judgement = *other;
  judgement->verdict = twice ? EXPECT_SHORT : other->verdict;
  judgement->again = true;
  judgement->name = first.name;
  judgement->key = first.key;
  judgement->block = first.block;
  judgement->machine = first.machine;
}

/* A case that went wrong; one that is shown elsewhere counts there. */
static bool judge_is_broken(struct expect_judge *judge, const struct cell *cells,
                            struct expect_judgement *judgement) {
  const char *status = observed_text(&judge->reader, cells, CELL_STATUS);
  const char *reason = observed_text(&judge->reader, cells, CELL_REASON);
  if (status == NULL || strcmp(status, case_status_text(CASE_OK)) == 0 ||
      strcmp(status, case_status_text(CASE_SKIPPED)) == 0 ||
      observed_text(&judge->reader, cells, CELL_SAME) != NULL) {
    return false;
  }
  *judgement = (struct expect_judgement){.verdict = EXPECT_BROKEN,
                                         .value = NAN,
                                         .low = NAN,
                                         .high = NAN,
                                         .limit = NAN,
                                         .usual_low = NAN,
                                         .usual_high = NAN,
                                         .gpus = {-1, -1},
                                         .reason = arena_format(&judge->arena, "%s%s%s", status,
                                                                reason != NULL ? ": " : "",
                                                                reason != NULL ? reason : "")};
  return true;
}

static void judge_fill(struct expect_judge *judge, const struct expect_judgement *judgement,
                       struct cell added[ADDED_COUNT]) {
  const struct cell cells[ADDED_COUNT] = {ADDED_COLUMNS(COLUMN_CELL)};
  memcpy(added, cells, sizeof cells);
}

static enum status judge_take(void *context, const struct cell *cells, struct error *err) {
  struct expect_judge *judge = context;
  struct observed observed;
  struct expect_judgement judgement = {.limit = NAN};
  const bool measured = observed_read(&judge->reader, cells, &observed);
  struct expect_judged *judged = &judge->judged;
  judged->partial = judged->partial || observed_number(&judge->reader, cells, CELL_PARTIAL) > 0;
  const bool above_peak = measured && observed.above_peak;
  const bool known = measured && !above_peak && judge_observed(judge, &observed, &judgement);
  if (known || (!measured && judge_is_broken(judge, cells, &judgement))) {
    judge_label(judge, cells, &judgement);
    if (known) {
      judge_disturb(&judge->disturbance, &observed, judgement.name);
    }
    judge_measure_again(judge, &judgement);
    judge_keep(judge, &judgement);
  } else if (above_peak) {
    judged->above_peak++;
  } else if (measured) {
    judged->unknown++;
  }
  if (judge->inner == NULL) {
    return STATUS_OK;
  }
  memcpy(judge->row, cells, judge->column_count * sizeof *cells);
  struct cell *added = judge->row + judge->column_count;
  for (size_t i = 0; i < ADDED_COUNT; i++) {
    added[i] = cell_null();
  }
  added[LIMIT_ADDED] = cell_finite(judgement.limit);
  if (known) {
    judge_fill(judge, &judgement, added);
  }
  return judge->inner->row(judge->inner->context, judge->row, err);
}

static enum status judge_end(void *context, struct error *err) {
  const struct expect_judge *judge = context;
  return judge->inner == NULL ? STATUS_OK : sink_end(judge->inner, err);
}

static bool judge_has_enough(void *context) {
  const struct expect_judge *judge = context;
  return judge->inner != NULL && sink_has_enough(judge->inner);
}

struct expect_judge *expect_judge_new(const struct expect_set *set,
                                      const struct result_set *hardware) {
  struct expect_judge *judge = memory_new(1, sizeof *judge);
  judge->set = *set;
  observed_begin(&judge->reader, &judge->arena, hardware);
  return judge;
}

void expect_judge_free(struct expect_judge *judge) {
  if (judge != NULL) {
    expect_judge_free(judge->again);
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

const struct expect_judged *expect_judge_judged(const struct expect_judge *judge) {
  return &judge->judged;
}

void expect_judge_set_again(struct expect_judge *judge, struct expect_judge *again) {
  judge->again = again;
}

/* Takes over `again`. */
static enum status judge_run_alone(const struct expect_set *set, struct query *query,
                                   const char *run, const struct query_options *options,
                                   const struct row_sink *inner, struct expect_judge *again,
                                   struct expect_judge **judge, struct error *err) {
  const struct query_parameter parameter = {"run", run};
  SCOPED(result_set_fini) struct result_set hardware;
  result_set_init(&hardware, SIZE_MAX);
  enum status status =
      query_run_saved(query, "hardware", &parameter, 1, options, &hardware.sink, err);
  struct expect_judge *made = expect_judge_new(set, &hardware);
  expect_judge_set_again(made, again);
  status = THEN(status, query_run_saved(query, "run-result", &parameter, 1, options,
                                        expect_judge_sink(made, inner), err));
  if (status == STATUS_OK) {
    *judge = made;
  } else {
    expect_judge_free(made);
  }
  return status;
}

enum status expect_judge_run(const struct expect_set *set, struct query *query, const char *run,
                             const struct query_options *options, const struct row_sink *inner,
                             struct expect_judge **judge, struct error *err) {
  struct run_ref ref;
  struct run_ref repeat = {0};
  struct expect_judge *again = NULL;
  RETURN_ON_ERROR(selector_find(query_database(query), run, &ref, err));
  RETURN_ON_ERROR(
      selector_find_related(query_database(query), "select/repeat_of_run", ref.id, &repeat, err));
  if (repeat.id != 0) {
    SCOPED(arena_fini) struct arena arena = {0};
    const char *name = arena_format(&arena, "run:%s", repeat.uuid);
    RETURN_ON_ERROR(judge_run_alone(set, query, name, NULL, NULL, NULL, &again, err));
  }
  return judge_run_alone(set, query, run, options, inner, again, judge, err);
}
