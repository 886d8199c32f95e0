#include "runner/expect/judge.h"

#include "engine/base/strings.h"
#include "runner/expect/observed.h"
#include "runner/record/selector.h"
#include "runner/table/json_shape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ENUM_NAMES_DEFINE(expect_verdict, EXPECT_VERDICT_LIST)

/* How much others disturbed the trials of judged cases: a fact of its own, which says nothing
 * against what is judged (engine/case/visits.h). */
struct disturbance {
  size_t count; /* of cases of which a share of trials worth saying was disturbed */
  bool on_host; /* all of them have an end there */
  double percent, slower_percent; /* of the one with most */
  const char *name;
};

struct expect_judge {
  struct expect_set set;
  struct arena arena;
  struct observed_reader reader;
  struct row_sink sink;
  const struct row_sink *inner;
  size_t column_count;
  struct cell *row; /* of column_count + ADDED_COUNT */
  struct expect_judged judged;
  struct expect_judge *again;     /* of what was measured once more; NULL = nothing was */
  const struct expect_row **used; /* one for each source of reports, of which it counts most */
  size_t used_count, used_capacity;
  const char *machine; /* the first that a case is of */
  struct disturbance disturbance;
};

#define ADDED_COLUMNS(X)                                                                           \
  X("expected", text, judgement->expected)                                                         \
  X("expected_low", finite, judgement->low)                                                        \
  X("expected_high", finite, judgement->high)                                                      \
  X("as_expected", text, expect_verdict_text(judgement->verdict))                                  \
  X("expected_limit", finite, judgement->limit)                                                    \
  X("usual_low", finite, judgement->usual_low)                                                     \
  X("usual_high", finite, judgement->usual_high)                                                   \
  X("judged", finite, judgement->value)                                                            \
  X("expected_remark", text, judge_remark(&judge->arena, judgement))
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

static unsigned judge_reports_of(const struct expect_row *row) {
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
  *ARENA_ADD(&judge->arena, judge->used, judge->used_count, &judge->used_capacity) = row;
}

static unsigned judge_count_reports(const struct expect_judge *judge) {
  unsigned count = 0;
  for (size_t i = 0; i < judge->used_count; i++) {
    count += judge_reports_of(judge->used[i]);
  }
  return count;
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

/* As it is read in a table: four digits. */
static double judge_shown(double value) {
  char text[32];
  (void)snprintf(text, sizeof text, "%.4g", value);
  return strtod(text, NULL);
}

/* The same in words: "826.1", "12190". */
static void judge_number(char text[32], double value) {
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
  judgement->verdict = !sure                      ? EXPECT_UNCLEAR
                       : below != judgement->time ? EXPECT_SHORT
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
  const double percent = 100 * fabs(judgement->value / end - 1);
  *tolerated = 100 * fabs(edge / end - 1);
  return arena_format(arena, percent < 10 ? "%.2g %% %s" : "%.0f %% %s", percent,
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
  judgement->deviation =
      judgement->distance == NULL || !(tolerated > 0)
          ? judgement->distance
          : arena_format(&judge->arena, "%s (tolerance %.2g %%)", judgement->distance, tolerated);
  if (known[EXPECT_REPORTS].any && judgement->statement != EXPECT_REPORTS) {
    judgement->usual =
        judge_range(&judge->arena, known[EXPECT_REPORTS].low, known[EXPECT_REPORTS].high);
  }
  judge->machine = judge->machine == NULL ? judgement->machine : judge->machine;
  return true;
}

/* ---- the words on one judgement ---- */

/* "55.2-55.5"; "55.2-55.5, floor >= 48" of what is beyond both. */
static const char *judge_ranges(struct arena *arena, const struct expect_judgement *judgement) {
  return judgement->usual == NULL
             ? judgement->expected
             : arena_format(arena, "%s, %s %s", judgement->usual,
                            expect_statement_text(judgement->statement), judgement->expected);
}

const char *expect_judgement_words(struct arena *arena, const struct expect_judgement *judgement) {
  if (judgement->verdict == EXPECT_BROKEN) {
    return arena_format(arena, "%s: %s", expect_verdict_text(EXPECT_BROKEN), judgement->reason);
  }
  /* Of what is not as usual the numbers tell. */
  const char *deviation = judgement->verdict == EXPECT_USUAL ? judgement->deviation : NULL;
  const bool reported = judgement->statement == EXPECT_REPORTS || judgement->usual != NULL;
  char value[32];
  judge_number(value, judgement->value);
  return arena_format(arena, "%s %s, %s %s%s%s", value, judgement->time ? "ns" : "GB/s",
                      reported ? "usual" : expect_statement_text(judgement->statement),
                      judge_ranges(arena, judgement), deviation != NULL ? ": " : "",
                      deviation != NULL ? deviation : "");
}

/* Below a table; NULL = nothing but that it is as usual. */
static const char *judge_remark(struct arena *arena, const struct expect_judgement *judgement) {
  static const char *const WORDS[] = {[EXPECT_SHORT] = "short of what is usual here",
                                      [EXPECT_BEYOND] = "better than anything known",
                                      [EXPECT_UNCLEAR] =
                                          "too noisy to tell from what is usual here"};
  const char *deviation = judgement->deviation;
  if (judgement->again) {
    return arena_format(arena, "measured once more: %s", expect_judgement_words(arena, judgement));
  }
  if (judgement->verdict == EXPECT_USUAL) {
    return deviation != NULL ? arena_format(arena, "within tolerance: %s", deviation) : NULL;
  }
  return arena_format(arena, "%s, %s%s%s", WORDS[judgement->verdict],
                      judge_ranges(arena, judgement), deviation != NULL ? ": " : "",
                      deviation != NULL ? deviation : "");
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
    *ARENA_ADD(&judge->arena, judged->broken, judged->broken_count, &judged->broken_capacity) =
        *judgement;
  } else {
    *ARENA_ADD(&judge->arena, judged->judgements, judged->count, &judged->capacity) = *judgement;
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

/* Where the second number counts, its words replace those of the first. */
static void judge_measure_again(const struct expect_judge *judge,
                                struct expect_judgement *judgement) {
  const struct expect_judgement *other = judge_find_again(judge->again, judgement->key);
  const struct expect_judgement first = *judgement;
  const bool worse = other != NULL && (other->verdict == EXPECT_SHORT ||
                                       (other->verdict == EXPECT_UNCLEAR && other->ratio < 1));
  if (other == NULL || (other->verdict != EXPECT_BROKEN && first.verdict != EXPECT_UNCLEAR &&
                        (first.verdict != EXPECT_SHORT || worse))) {
    return;
  }
  *judgement = *other;
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
  RETURN_ON_ERROR(selector_find_repeat(query_database(query), ref.id, &repeat, err));
  if (repeat.id != 0) {
    SCOPED(arena_fini) struct arena arena = {0};
    const char *name = arena_format(&arena, "run:%s", repeat.uuid);
    RETURN_ON_ERROR(judge_run_alone(set, query, name, NULL, NULL, NULL, &again, err));
  }
  return judge_run_alone(set, query, run, options, inner, again, judge, err);
}

/* ---- sentences ---- */

/* How many cases of that GPU fall short. */
static size_t judge_shortfalls(const struct expect_judge *judge, int gpu) {
  size_t count = 0;
  for (size_t i = 0; i < judge->judged.count; i++) {
    const struct expect_judgement *judgement = &judge->judged.judgements[i];
    count += judgement->verdict == EXPECT_SHORT && judgement->path != EXPECT_SEVERAL &&
             (judgement->gpus[0] == gpu || judgement->gpus[1] == gpu);
  }
  return count;
}

const char *expect_judgement_place(struct expect_judge *judge,
                                   const struct expect_judgement *judgement) {
  const int a = judgement->gpus[0] >= 0 ? judgement->gpus[0] : judgement->gpus[1];
  const int b = judgement->gpus[1] >= 0 ? judgement->gpus[1] : a;
  if (a < 0) {
    return "host";
  }
  if (judgement->path == EXPECT_SEVERAL) { /* gpus are those of the first flow */
    return "several GPUs";
  }
  const size_t of_a = judge_shortfalls(judge, a);
  const size_t of_b = judge_shortfalls(judge, b);
  const bool is_short = judgement->verdict == EXPECT_SHORT; /* else no GPU is to blame */
  if (a == b || (is_short && of_a != of_b)) {
    return arena_format(&judge->arena, "gpu%d", of_b > of_a ? b : a);
  }
  return arena_format(&judge->arena, "gpu%d-gpu%d", a < b ? a : b, a < b ? b : a);
}

size_t expect_judge_shortfalls(struct expect_judge *judge, const struct expect_shortfall **items) {
  struct expect_shortfall *made =
      arena_array(&judge->arena, judge->judged.verdicts[EXPECT_SHORT], sizeof *made);
  size_t count = 0;
  for (size_t i = 0; i < judge->judged.count; i++) {
    const struct expect_judgement *judgement = &judge->judged.judgements[i];
    if (judgement->verdict != EXPECT_SHORT) {
      continue;
    }
    const char *place = expect_judgement_place(judge, judgement);
    const char *noun = judgement->time ? arena_format(&judge->arena, "%s latency",
                                                      expect_path_noun(judgement->path))
                                       : expect_path_noun(judgement->path);
    const size_t k =
        FIRST_OF(m, count, strcmp(made[m].place, place) == 0 && strcmp(made[m].noun, noun) == 0);
    if (k == count) {
      made[count++] = (struct expect_shortfall){.place = place, .noun = noun, .worst = judgement};
    }
    made[k].count++;
    made[k].worst = judgement->ratio < made[k].worst->ratio ? judgement : made[k].worst;
  }
  *items = made;
  return count;
}

const char *expect_shortfall_words(struct arena *arena, const struct expect_shortfall *item) {
  const char *others =
      item->count > 1 ? arena_format(arena, ", and %zu more", item->count - 1) : "";
  return arena_format(arena, "%s, %s: %s (%s%s)", item->place, item->noun,
                      expect_judgement_words(arena, item->worst), item->worst->name, others);
}

static const char *judge_note(struct arena *arena, const char *text, size_t n, const char *what) {
  return n > 0 ? arena_format(arena, "%s; %zu %s", text, n, what) : text;
}

/* "host busy: 31 % of trials were up to 22 % slower (up/gpu0, and 2 more)". */
static const char *judge_disturbance_words(struct arena *arena,
                                           const struct disturbance *disturbance) {
  const size_t others = disturbance->count - 1;
  return arena_format(arena, "%s: %.2g %% of trials were up to %.2g %% slower (%s%s)",
                      disturbance->on_host ? "host busy" : "disturbed by others",
                      disturbance->percent, disturbance->slower_percent, disturbance->name,
                      others > 0 ? arena_format(arena, ", and %zu more", others) : "");
}

/* whole: with what others disturbed. */
static const char *judge_summarise(struct expect_judge *judge, bool whole) {
  struct arena *arena = &judge->arena;
  const size_t shorts = judge->judged.verdicts[EXPECT_SHORT];
  const size_t unclear = judge->judged.verdicts[EXPECT_UNCLEAR];
  if (judge->judged.count == 0) {
    return NULL;
  }
  const char *notes =
      judge_note(arena, "", judge->judged.verdicts[EXPECT_BEYOND], "better than any measurement");
  notes = judge_note(arena, notes, unclear, "too noisy to tell");
  notes = judge_note(arena, notes, judge->judged.above_peak, "not compared: above peak");
  notes = judge_note(arena, notes, judge->judged.unknown,
                     judge->judged.unknown == 1 ? "has no expectation" : "have no expectation");
  notes = judge_note(arena, notes, judge->judged.broken_count, "went wrong");
  if (whole && judge->disturbance.count > 0) {
    notes =
        arena_format(arena, "%s; %s", notes, judge_disturbance_words(arena, &judge->disturbance));
  }
  if (shorts > 0) {
    return arena_format(arena, "%zu of %zu results below expectation for %s%s: see haul explain",
                        shorts, judge->judged.count, judge->machine, notes);
  }
  const unsigned reports = judge_count_reports(judge);
  const char *grounds = reports > 0 ? arena_format(arena, " (from %u measurement%s)", reports,
                                                   strings_plural(reports, "", "s"))
                                    : " (from lower limits alone)";
  const bool all = unclear + judge->judged.broken_count + judge->judged.above_peak == 0;
  const size_t usual = judge->judged.count - unclear;
  return arena_format(arena, "%s%zu %sresult%s %s as expected for %s%s%s",
                      all && usual > 1 ? "all " : "", usual,
                      judge->judged.unknown > 0 ? "judged " : "", strings_plural(usual, "", "s"),
                      strings_plural(usual, "is", "are"), judge->machine, grounds, notes);
}

const char *expect_judge_summary(struct expect_judge *judge) {
  return judge_summarise(judge, true);
}

size_t expect_judge_words(struct expect_judge *judge, const char *const **lines) {
  struct arena *arena = &judge->arena;
  const struct expect_shortfall *items = NULL;
  const size_t count = expect_judge_shortfalls(judge, &items);
  const char **made = arena_array(arena, count + 2, sizeof *made);
  size_t lines_count = 0;
  if (judge->judged.broken_count > 0) {
    const size_t others = judge->judged.broken_count - 1;
    made[lines_count++] =
        arena_format(arena, others > 0 ? "%s: %s, and %zu more" : "%s: %s",
                     judge->judged.broken->name, judge->judged.broken->reason, others);
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
  made[lines_count] = expect_judge_summary(judge);
  *lines = made;
  return made[lines_count] != NULL ? lines_count + 1 : 0;
}

void expect_judge_print(struct expect_judge *judge, struct document *document) {
  const char *const *lines = NULL;
  const size_t count = expect_judge_words(judge, &lines);
  if (count > 0) {
    document_section(document, NULL);
    document_gap(document);
  }
  for (size_t i = 0; i < count; i++) {
    document_put(document, "%s", i + 1 < count ? lines[i] : judge_summarise(judge, false));
  }
  if (count > 0 && judge->disturbance.count > 0) {
    document_put(document, "%s", judge_disturbance_words(&judge->arena, &judge->disturbance));
  }
}
