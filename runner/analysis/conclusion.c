#include "runner/analysis/conclusion.h"

#include "engine/base/order.h"
#include "engine/base/text_index.h"
#include "engine/base/units.h"
#include "runner/analysis/compare_internal.h"
#include "runner/statistics/share_test.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* One more trait must explain so much more, as a score of cause_score(). */
#define TRAIT_WORTH 0.04

enum { TRAITS_PER_CASE_MAX = 256, WORD_BITS = 64, NAME_MAX_LENGTH = 160 };

/* ---- the traits of a case ---- */

/* Kinds of traits: where two tell the same cases, the first is said. */
enum trait_rank {
  RANK_PATH,
  RANK_ROLE,
  RANK_GPU,
  RANK_ENDS,
  RANK_NODE,
  RANK_METHOD,
  RANK_MEMORY,
  RANK_SIZE,
  RANK_AXIS,
  RANK_BLOCK
};

struct trait {
  const char *text;
  enum trait_rank rank;
  int gpu;                /* -1 = none */
  size_t number;          /* in the order in which they were met */
  size_t changed, judged; /* cases */
  uint64_t *rows;         /* bit i: row i has it; NULL = too few changed cases have it */
};

struct trait_table {
  struct arena arena;
  struct trait *traits;
  size_t count;
  struct text_index texts; /* by number of the traits, until these are sorted */
  size_t paths;            /* that as many cases have as a pair is */
  uint64_t suspects;       /* bit i: a check of GPU i failed on one side alone */
};

/* Traits of one case, each once. */
struct trait_list {
  size_t traits[TRAITS_PER_CASE_MAX];
  size_t times[TRAITS_PER_CASE_MAX]; /* that it was added: in how many flows it is */
  size_t count;
};

static size_t traits_intern(struct trait_table *table, enum trait_rank rank, int gpu,
                            const char *text) {
  size_t number = 0;
  if (text_index_add(&table->texts, text, &number)) {
    text = table->texts.texts[number] = arena_strdup(&table->arena, text);
    *ARENA_ADD(&table->arena, table->traits, table->count) =
        (struct trait){.text = text, .rank = rank, .gpu = gpu, .number = number};
  }
  return number;
}

__attribute__((format(printf, 5, 6))) static void traits_add(struct trait_table *table,
                                                             struct trait_list *list,
                                                             enum trait_rank rank, int gpu,
                                                             const char *format, ...) {
  char text[NAME_MAX_LENGTH];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const size_t trait = traits_intern(table, rank, gpu, text);
  for (size_t i = 0; i < list->count; i++) {
    if (list->traits[i] == trait) {
      list->times[i]++;
      return;
    }
  }
  if (list->count < TRAITS_PER_CASE_MAX) {
    list->times[list->count] = 1;
    list->traits[list->count++] = trait;
  }
}

static const char *traits_ends(const struct results_flow *flow) {
  if (flow->source_is_gpu && flow->target_is_gpu) {
    return flow->source == flow->target ? "within a GPU" : "between GPUs";
  }
  return flow->source_is_gpu   ? "GPU to host"
         : flow->target_is_gpu ? "host to GPU"
                               : "within the host";
}

static void traits_of_flow(struct trait_table *table, struct trait_list *list,
                           const struct results_flow *flow) {
  const bool both = flow->source_is_gpu && flow->target_is_gpu;
  if (flow->load) {
    traits_add(table, list, RANK_AXIS, -1, "under load");
    return;
  }
  traits_add(table, list, RANK_ENDS, -1, "%s", traits_ends(flow));
  if (flow->source_is_gpu) {
    traits_add(table, list, RANK_GPU, flow->source, "gpu%d", flow->source);
  }
  if (flow->target_is_gpu && !(flow->source_is_gpu && flow->source == flow->target)) {
    traits_add(table, list, RANK_GPU, flow->target, "gpu%d", flow->target);
  }
  if (both && flow->source == flow->target) {
    traits_add(table, list, RANK_PATH, flow->source, "within gpu%d", flow->source);
  } else if (flow->source_is_gpu != flow->target_is_gpu) {
    const int gpu = flow->source_is_gpu ? flow->source : flow->target;
    traits_add(table, list, RANK_PATH, gpu, "gpu%d's host link", gpu);
  } else if (both) {
    const bool forth = flow->source < flow->target;
    traits_add(table, list, RANK_PATH, -1, "gpu%d->gpu%d", flow->source, flow->target);
    traits_add(table, list, RANK_PATH, -1, "the link gpu%d--gpu%d",
               forth ? flow->source : flow->target, forth ? flow->target : flow->source);
  }
  if (flow->source_is_gpu) {
    traits_add(table, list, RANK_ROLE, flow->source, "gpu%d as source", flow->source);
  } else if (flow->source >= 0) {
    traits_add(table, list, RANK_NODE, -1, "numa%d", flow->source);
  }
  if (flow->target_is_gpu) {
    traits_add(table, list, RANK_ROLE, flow->target, "gpu%d as target", flow->target);
  } else if (flow->target >= 0) {
    traits_add(table, list, RANK_NODE, -1, "numa%d", flow->target);
  }
  const char *const memories[] = {flow->source_memory, flow->target_memory};
  for (size_t end = 0; end < 2; end++) {
    if (memories[end] != NULL) {
      traits_add(table, list, RANK_MEMORY, -1, "%s memory", memories[end]);
    }
  }
}

/* One by one, and as ranges. */
static void traits_of_size(struct trait_table *table, struct trait_list *list,
                           const struct results_case *bench) {
  static const uint64_t LIMITS[] = {UINT64_C(1) << 20, UINT64_C(1) << 16, UINT64_C(1) << 24};
  char text[UNITS_TEXT_MAX];
  if (bench->size_bytes == 0) {
    return;
  }
  units_format_size(bench->size_bytes, text);
  traits_add(table, list, RANK_SIZE, -1, "size %s", text);
  for (size_t i = 0; i < COUNT_OF(LIMITS); i++) {
    units_format_size(LIMITS[i], text);
    traits_add(table, list, RANK_SIZE, -1,
               bench->size_bytes < LIMITS[i] ? "sizes below %s" : "sizes from %s on", text);
  }
}

/* "threads=4" of "from.memory=pinned threads=4"; path, memory and size are traits of their own. */
static void traits_of_axes(struct trait_table *table, struct trait_list *list, const char *axes) {
  for (const char *at = axes; *at != '\0';) {
    const size_t length = strcspn(at, " ");
    if (strncmp(at, "size=", 5) != 0 && strncmp(at, "method=", 7) != 0 && length > 0) {
      traits_add(table, list, RANK_AXIS, -1, "%.*s", (int)length, at);
    }
    at += length + (at[length] == ' ');
  }
}

/* Where a case has many flows at once, it is not about each of their ends: a GPU or path counts if
 * it is in half of them. */
static void traits_keep_main(const struct trait_table *table, struct trait_list *list,
                             size_t flows) {
  size_t kept = 0;
  for (size_t i = 0; i < list->count; i++) {
    if (table->traits[list->traits[i]].rank > RANK_GPU || 2 * list->times[i] >= flows) {
      list->traits[kept++] = list->traits[i];
    }
  }
  list->count = kept;
}

static void traits_of_case(struct trait_table *table, struct trait_list *list,
                           const struct results_case *bench) {
  size_t flows = 0;
  list->count = 0;
  for (size_t i = 0; i < bench->flow_count; i++) {
    traits_of_flow(table, list, &bench->flows[i]);
    flows += !bench->flows[i].load;
  }
  traits_keep_main(table, list, flows);
  for (int gpu = 0; gpu < ANALYSIS_GPUS_MAX && flows == 0; gpu++) {
    if ((bench->gpus >> gpu & 1) != 0) {
      traits_add(table, list, RANK_GPU, gpu, "gpu%d", gpu);
    }
  }
  if (bench->method != NULL) {
    traits_add(table, list, RANK_METHOD, -1, "method %s", bench->method);
  }
  traits_add(table, list, RANK_METHOD, -1,
             bench->figure == FIGURE_RATE    ? "bandwidths"
             : bench->figure == FIGURE_FLOPS ? "kernels that compute"
                                             : "latencies");
  traits_of_size(table, list, bench);
  traits_of_axes(table, list, bench->axes != NULL ? bench->axes : "");
  traits_add(table, list, RANK_BLOCK, -1, "block %s", bench->block);
}

/* ---- sets of rows ---- */

struct rows {
  struct arena *arena;
  size_t count, words;
  uint64_t *judged;  /* on both sides, or broken */
  uint64_t *open;    /* judged, and not explained yet */
  uint64_t *changed; /* with the verdict, and not explained yet */
  uint64_t *same;    /* certainly not changed so */
};

static bool rows_has(const uint64_t *bits, size_t row) {
  return (bits[row / WORD_BITS] >> row % WORD_BITS & 1) != 0;
}

static void rows_set(uint64_t *bits, size_t row) {
  bits[row / WORD_BITS] |= UINT64_C(1) << row % WORD_BITS;
}

static size_t rows_count(const struct rows *rows, const uint64_t *bits) {
  const size_t count = SUM_OF(w, rows->words, (size_t)__builtin_popcountll(bits[w]));
  return count;
}

static size_t rows_count_both(const struct rows *rows, const uint64_t *a, const uint64_t *b) {
  const size_t count = SUM_OF(w, rows->words, (size_t)__builtin_popcountll(a[w] & b[w]));
  return count;
}

static bool rows_same(const struct rows *rows, const uint64_t *a, const uint64_t *b) {
  return a != NULL && b != NULL && memcmp(a, b, rows->words * sizeof *a) == 0;
}

static void rows_init(struct rows *rows, const struct comparison *comparison, enum verdict verdict,
                      struct arena *arena) {
  *rows = (struct rows){.arena = arena,
                        .count = comparison->row_count,
                        .words = comparison->row_count / WORD_BITS + 1};
  rows->judged = arena_array(arena, rows->words, sizeof *rows->judged);
  rows->open = arena_array(arena, rows->words, sizeof *rows->open);
  rows->changed = arena_array(arena, rows->words, sizeof *rows->changed);
  rows->same = arena_array(arena, rows->words, sizeof *rows->same);
  for (size_t i = 0; i < rows->count; i++) {
    const enum verdict is = comparison->rows[i].result.verdict;
    const bool sure = is == VERDICT_SAME || verdict_is_change(is);
    if (is == verdict) {
      rows_set(rows->changed, i);
    } else if (sure) {
      rows_set(rows->same, i);
    }
    if (sure || is == VERDICT_BROKEN || verdict_is_undecided(is)) {
      rows_set(rows->judged, i);
      rows_set(rows->open, i);
    }
  }
}

/* ---- the search ---- */

/* A set of traits, and the rows that have all of them. */
struct cause {
  size_t traits[CONCLUSION_TRAITS_MAX];
  size_t trait_count;
  uint64_t *rows; /* words of rows */
  double score;
};

/* F1: how well the rows with the traits are those that changed; less for each more trait. */
static double cause_score(const struct rows *rows, const uint64_t *bits, size_t changed,
                          size_t trait_count) {
  const size_t hit = rows_count_both(rows, bits, rows->changed);
  const size_t missed = rows_count_both(rows, bits, rows->same);
  return 2.0 * (double)hit / (double)(changed + hit + missed) -
         TRAIT_WORTH * (double)(trait_count - 1);
}

/* Extends the cause by the trait that helps most; false = none does. */
static bool cause_extend(struct cause *cause, const struct trait *traits, size_t trait_count,
                         const struct rows *rows, size_t changed) {
  uint64_t *bits = arena_array(rows->arena, rows->words, sizeof *bits);
  double best = cause->trait_count > 0 ? cause->score : -1;
  size_t found = SIZE_MAX;
  for (size_t t = 0; t < trait_count; t++) {
    for (size_t w = 0; w < rows->words; w++) {
      bits[w] = cause->rows[w] & traits[t].rows[w];
    }
    const double score = cause_score(rows, bits, changed, cause->trait_count + 1);
    if (score > best) {
      best = score;
      found = t;
    }
  }
  if (found == SIZE_MAX) {
    return false;
  }
  for (size_t w = 0; w < rows->words; w++) {
    cause->rows[w] &= traits[found].rows[w];
  }
  cause->traits[cause->trait_count++] = found;
  cause->score = best;
  return true;
}

/* The chance that of `drawn` cases out of `all`, `changed` of which changed, `hit` or more did. */
static double chance_of(size_t all, size_t changed, size_t drawn, size_t hit) {
  return share_test_fisher((struct share){changed - hit, all - drawn}, (struct share){hit, drawn});
}

/* How many sets it is one of, of those that share the error rate with it. A GPU that was suspect
 * before its results were looked at is one of the suspects alone. */
static double cause_tried(const struct cause *cause, const struct trait_table *table, size_t all) {
  const struct trait *first = &table->traits[cause->traits[0]];
  if (cause->trait_count > 1 || first->rank > RANK_GPU) {
    return 2 * pow((double)table->count, (double)cause->trait_count);
  }
  if (first->rank == RANK_GPU && (table->suspects >> first->gpu & 1) != 0) {
    return 2.0 * __builtin_popcountll(table->suspects);
  }
  if (all < CONCLUSION_CASES_MIN) {
    return (double)table->paths; /* nothing else may be told */
  }
  const size_t parts = SUM_OF(t, table->count, table->traits[t].rank <= RANK_GPU);
  return 2 * (double)parts;
}

/* Two changed cases are enough where they are all that was judged of one path. */
static bool cause_is_enough(const struct cause *cause, const struct trait_table *table,
                            size_t drawn, size_t hit, size_t all) {
  return hit >= CONCLUSION_CASES_MIN ||
         (all < CONCLUSION_CASES_MIN && hit == all && drawn == all && cause->trait_count == 1 &&
          table->traits[cause->traits[0]].rank == RANK_PATH);
}

/* Whether the cause may be told; all: changed cases, also those that others explain. */
static bool cause_holds(const struct cause *cause, const struct rows *rows,
                        const struct trait_table *table, size_t all) {
  const size_t open = rows_count(rows, rows->open);
  const size_t drawn = rows_count_both(rows, cause->rows, rows->open);
  const size_t left = rows_count(rows, rows->changed);
  const size_t same = rows_count(rows, rows->same);
  const size_t hit = rows_count_both(rows, cause->rows, rows->changed);
  const size_t unchanged = rows_count_both(rows, cause->rows, rows->same);
  return cause_is_enough(cause, table, drawn, hit, all) &&
         (double)hit >= CONCLUSION_PART_LEAST * (double)all &&
         (double)hit >= CONCLUSION_PRECISION_LEAST * (double)(hit + unchanged) &&
         (double)unchanged <= CONCLUSION_UNCHANGED_MOST * (double)same &&
         cause_tried(cause, table, all) * chance_of(open, left, drawn, hit) <=
             CONCLUSION_CHANCE_MOST;
}

static void cause_keep_better(struct cause *best, const struct cause *cause,
                              const struct rows *rows, const struct trait_table *table,
                              size_t all) {
  if (cause->score > best->score && cause_holds(cause, rows, table, all)) {
    *best = *cause;
    best->rows = arena_array(rows->arena, rows->words, sizeof *best->rows);
    memcpy(best->rows, cause->rows, rows->words * sizeof *best->rows);
  }
}

/* Best that may be told, over all first traits, each extended by what helps most: a pair may tell
 * what neither of its traits does. Without traits: none may. */
static struct cause cause_find(const struct trait_table *table, const struct rows *rows,
                               size_t all) {
  const size_t changed = rows_count(rows, rows->changed);
  struct cause best = {.score = -1};
  for (size_t t = 0; t < table->count; t++) {
    struct cause cause = {.traits = {t}, .trait_count = 1};
    cause.rows = arena_array(rows->arena, rows->words, sizeof *cause.rows);
    memcpy(cause.rows, table->traits[t].rows, rows->words * sizeof *cause.rows);
    cause.score = cause_score(rows, cause.rows, changed, 1);
    do {
      cause_keep_better(&best, &cause, rows, table, all);
    } while (cause.trait_count < CONCLUSION_TRAITS_MAX &&
             cause_extend(&cause, table->traits, table->count, rows, changed));
  }
  return best;
}

/* ---- traits of all rows ---- */

ORDER_DEFINE(traits_compare, struct trait, ORDER(x->rank, y->rank) ?: ORDER(x->number, y->number))

/* The traits that enough changed rows and not all rows have, each set of rows once. */
static void traits_read(const struct comparison *comparison, const struct rows *rows,
                        struct trait_table *table) {
  const struct results *results = comparison->results;
  struct trait_list list;
  for (size_t i = 0; i < rows->count; i++) {
    if (rows_has(rows->changed, i)) {
      traits_of_case(table, &list, &results->cases[comparison->rows[i].bench]);
      for (size_t t = 0; t < list.count; t++) {
        table->traits[list.traits[t]].changed++;
      }
    }
  }
  const size_t all = rows_count(rows, rows->changed);
  const double least = all < CONCLUSION_CASES_MIN
                           ? (double)all
                           : fmax(CONCLUSION_CASES_MIN, CONCLUSION_PART_LEAST * (double)all);
  for (size_t t = 0; t < table->count; t++) {
    if ((double)table->traits[t].changed >= least) {
      table->traits[t].rows = arena_array(&table->arena, rows->words, sizeof(uint64_t));
    }
  }
  for (size_t i = 0; i < rows->count; i++) {
    if (rows_has(rows->judged, i)) {
      traits_of_case(table, &list, &results->cases[comparison->rows[i].bench]);
      for (size_t t = 0; t < list.count; t++) {
        uint64_t *bits = table->traits[list.traits[t]].rows;
        table->traits[list.traits[t]].judged++;
        if (bits != NULL) {
          rows_set(bits, i);
        }
      }
    }
  }
  size_t kept = 0;
  if (table->traits == NULL) {
    return;
  }
  for (size_t t = 0; t < table->count; t++) {
    table->paths +=
        table->traits[t].rank == RANK_PATH && table->traits[t].judged == CONCLUSION_PAIR;
  }
  ORDER_SORT(table->traits, table->count, traits_compare);
  for (size_t t = 0; t < table->count; t++) {
    const struct trait *trait = &table->traits[t];
    bool again = trait->rows == NULL || rows_count(rows, trait->rows) == 0;
    for (size_t k = 0; k < kept && !again; k++) {
      again = rows_same(rows, trait->rows, table->traits[k].rows);
    }
    if (!again) {
      table->traits[kept++] = *trait;
    }
  }
  table->count = kept;
}

/* GPUs of which the runs themselves say that one side was not as it should be. */
static uint64_t traits_suspects(const struct comparison *comparison) {
  uint64_t suspects = 0;
  for (size_t i = 0; i < comparison->condition_count; i++) {
    const struct comparison_condition *condition = &comparison->conditions[i];
    const bool one_side = (condition->runs[SIDE_A] > 0) != (condition->runs[SIDE_B] > 0);
    if (one_side && condition->gpu >= 0 && condition->gpu < ANALYSIS_GPUS_MAX) {
      suspects |= UINT64_C(1) << condition->gpu;
    }
  }
  return suspects;
}

/* ---- conclusions ---- */

/* Counts, and the mean change, of a set of rows; NULL = all. */
static struct conclusion conclusion_of(const struct comparison *comparison, const struct rows *rows,
                                       enum verdict verdict, const uint64_t *bits) {
  struct conclusion conclusion = {.verdict = verdict, .gpu = -1, .change = NAN};
  double sum = 0;
  size_t summed = 0;
  for (size_t i = 0; i < rows->count; i++) {
    const struct diff_result *result = &comparison->rows[i].result;
    const bool in = bits == NULL || rows_has(bits, i);
    if (!rows_has(rows->judged, i)) {
      continue;
    }
    *(in ? &conclusion.cases : &conclusion.others) += 1;
    if (result->verdict == verdict) {
      *(in ? &conclusion.changed : &conclusion.others_changed) += 1;
      conclusion.noise += in && comparison_row_is_noise(&comparison->rows[i]);
      if (in && isfinite(result->change)) {
        sum += log1p(result->change);
        summed++;
      }
    }
  }
  conclusion.change = summed > 0 ? expm1(sum / (double)summed) : NAN;
  return conclusion;
}

ORDER_DEFINE(conclusion_compare_traits, size_t, ORDER(*x, *y))

/* "gpu2 as source, sizes below 1MiB": the traits in the order of their ranks. */
static void conclusion_name(struct conclusion *conclusion, struct cause *cause,
                            const struct trait *traits, struct arena *arena) {
  int gpus = 0;
  conclusion->what = "";
  ORDER_SORT(cause->traits, cause->trait_count, conclusion_compare_traits);
  for (size_t i = 0; i < cause->trait_count; i++) {
    const struct trait *trait = &traits[cause->traits[i]];
    conclusion->what = arena_add_word(arena, conclusion->what, trait->text);
    gpus += trait->gpu >= 0;
    conclusion->gpu = trait->gpu >= 0 ? trait->gpu : conclusion->gpu;
  }
  conclusion->gpu = gpus == 1 ? conclusion->gpu : -1;
}

/* At most CONCLUSIONS_MAX of one verdict; returns how many. */
static size_t conclusions_of_verdict(const struct comparison *comparison, enum verdict verdict,
                                     struct arena *names, struct conclusion *found) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct trait_table table = {.suspects = traits_suspects(comparison)};
  table.texts.arena = &table.arena;
  struct rows rows;
  rows_init(&rows, comparison, verdict, &arena);
  const size_t all = rows_count(&rows, rows.changed);
  size_t count = 0;
  if (all >= CONCLUSION_PAIR) {
    found[0] = conclusion_of(comparison, &rows, verdict, NULL);
    if (all >= CONCLUSION_CASES_MIN && (double)all >= CONCLUSION_ALL * (double)found[0].cases) {
      count = 1;
    } else {
      traits_read(comparison, &rows, &table);
      struct cause cause = cause_find(&table, &rows, all);
      while (count < CONCLUSIONS_MAX && cause.trait_count > 0 && table.traits != NULL) {
        found[count] = conclusion_of(comparison, &rows, verdict, cause.rows);
        conclusion_name(&found[count++], &cause, table.traits, names);
        for (size_t w = 0; w < rows.words; w++) {
          rows.open[w] &= ~(cause.rows[w] & rows.changed[w]);
          rows.changed[w] &= ~cause.rows[w];
        }
        cause = cause_find(&table, &rows, all);
      }
      const size_t left = rows_count(&rows, rows.changed);
      count = (double)(all - left) >= CONCLUSION_EXPLAINED_LEAST * (double)all ? count : 0;
    }
  }
  arena_fini(&table.arena);
  return count;
}

const struct conclusion *conclusions_find(const struct comparison *comparison, struct arena *arena,
                                          size_t *count) {
  static const enum verdict VERDICTS[] = {VERDICT_BROKEN, VERDICT_REGRESSED, VERDICT_IMPROVED};
  struct conclusion *found =
      arena_array(arena, CONCLUSIONS_MAX * COUNT_OF(VERDICTS), sizeof *found);
  *count = 0;
  for (size_t v = 0; v < COUNT_OF(VERDICTS); v++) {
    *count += conclusions_of_verdict(comparison, VERDICTS[v], arena, found + *count);
  }
  return found;
}

void conclusions_add(struct comparison *comparison) {
  comparison->conclusions =
      conclusions_find(comparison, &comparison->arena, &comparison->conclusion_count);
}
