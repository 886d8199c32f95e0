#include "runner/cli/advice_command.h"

#include "engine/base/arena.h"
#include "engine/base/globs.h"
#include "engine/base/order.h"
#include "runner/console/console.h"
#include "runner/record/results.h"

#include <jansson.h>
#include <string.h>

/* The words of a run's command, after the program's name; an empty list where they are not known.
 */
struct advice_words {
  const char **items;
  size_t count;
};

static struct advice_words advice_words_of(struct arena *arena, const struct results_run *run) {
  json_t *list = run->argv != NULL ? json_loads(run->argv, 0, NULL) : NULL;
  struct advice_words words = {.items = arena_array(arena, json_array_size(list), sizeof(char *))};
  for (size_t i = 0; i < json_array_size(list); i++) {
    const char *word = json_string_value(json_array_get(list, i));
    words.items[words.count++] = arena_strdup(arena, word != NULL ? word : "");
  }
  json_decref(list);
  return words;
}

/* "--db" and "--db=x". */
static bool advice_is_option(const char *word, const char *name) {
  const size_t size = strlen(name);
  return strncmp(word, name, size) == 0 && (word[size] == '\0' || word[size] == '=');
}

static bool advice_has_option(const struct advice_words *words, const char *name) {
  return ANY_OF(i, words->count, advice_is_option(words->items[i], name));
}

static const char COPY[] = "copy"; /* the verb without a scenario, and without --only */

static bool advice_is_verb(const struct advice_words *words, const char *verb) {
  return words->count > 0 && strcmp(words->items[0], verb) == 0;
}

/* Whether the command of the run measures its scenario if it is given again. */
static bool advice_is_plain(struct arena *arena, const struct results_run *run) {
  const struct advice_words words = advice_words_of(arena, run);
  /* A file of others may hold any command. */
  return (advice_is_verb(&words, "run") || advice_is_verb(&words, COPY)) &&
         !advice_has_option(&words, "--resume") && strcmp(run->origin, "measured") == 0 &&
         run->looks == 0;
}

static const char ONLY[] = "--only";
static const char TEST[] = "--test"; /* or -t: not with --only */

/* Options that say nothing of what is measured, with the length of their list. */
static const struct advice_option {
  const char *name;
  bool has_value; /* which may be the next word */
} LEFT_OUT[] = {
    {"--node-name", true}, {"--shard", true}, {"--db", true}, /* where a run is made and kept */
    {"--processes", true}, {"--tag", true},   {"--format", true},   {"--json", false},
    {"--quiet", false},    {"-q", false},     {"--verbose", false}, {"-v", false},
    {"--color", false},    {"--plot", false},
};
/* From which on options of the list are left out: those of a run that has its database elsewhere
 * keep it. */
enum { OF_RUN = 3, OF_RUN_BUT_DB = 2 };

/* The other way to say --processes. */
static size_t advice_sets_processes(const struct advice_words *words, size_t w) {
  static const char KEY[] = "measure.processes=";
  const char *word = words->items[w];
  if (strcmp(word, "--set") == 0 && w + 1 < words->count) {
    return strncmp(words->items[w + 1], KEY, strlen(KEY)) == 0 ? 2 : 0;
  }
  return strncmp(word, "--set=", 6) == 0 && strncmp(word + 6, KEY, strlen(KEY)) == 0 ? 1 : 0;
}

/* How many words from that one on are such an option, of the list from `first` on; 0 = none. */
static size_t advice_left_out(const struct advice_words *words, size_t w, size_t first) {
  for (size_t i = first; i < COUNT_OF(LEFT_OUT); i++) {
    if (advice_is_option(words->items[w], LEFT_OUT[i].name)) {
      return LEFT_OUT[i].has_value && strcmp(words->items[w], LEFT_OUT[i].name) == 0 ? 2 : 1;
    }
  }
  return advice_sets_processes(words, w);
}

/* The words that say what is measured. */
static const char *advice_measured_words(struct arena *arena, const struct results_run *run) {
  const struct advice_words words = advice_words_of(arena, run);
  const char *text = "";
  for (size_t w = 0; w < words.count;) {
    const size_t skipped = advice_left_out(&words, w, 0);
    text = skipped > 0 ? text : arena_format(arena, "%s %s", text, words.items[w]);
    w += skipped > 0 ? skipped : 1;
  }
  return text;
}

/* Whether the commands of both runs measure the same: they differ in the database and the name of
 * the node alone. */
static bool advice_is_same(struct arena *arena, const struct results_run *a,
                           const struct results_run *b) {
  return advice_is_plain(arena, a) && advice_is_plain(arena, b) &&
         strcmp(advice_measured_words(arena, a), advice_measured_words(arena, b)) == 0;
}

bool advice_is_imported(const struct results_run *run) {
  return strcmp(run->origin, "imported") == 0;
}

/* What its command is good for: rather one that can be given again, and none of an import. */
static unsigned advice_rank(struct arena *arena, const struct results_run *run) {
  return advice_is_imported(run) ? 0 : advice_is_plain(arena, run) ? 2 : 1;
}

/* The first of the cases with its case_key, for each: they are adjacent. */
static size_t *advice_find_firsts(struct arena *arena, const struct results *results) {
  size_t *firsts = arena_array(arena, results->case_count, sizeof *firsts);
  for (size_t i = 1; i < results->case_count; i++) {
    const bool same = strcmp(results->cases[i].key, results->cases[i - 1].key) == 0;
    firsts[i] = same ? firsts[i - 1] : i;
  }
  return firsts;
}

/* The cases that more runs would decide, by the number of the first with the case_key. */
struct advice_cases {
  const size_t *firsts;
  bool *open; /* no command measures them yet */
};

static bool advice_is_open_case(const struct advice_cases *cases,
                                const struct results_median *median) {
  return median->process != 0 && cases->open[cases->firsts[median->bench]];
}

/* How many open cases each run measured. */
static size_t *advice_count_open(struct arena *arena, const struct results *results,
                                 const struct advice_cases *cases) {
  size_t *counts = arena_array(arena, results->run_count, sizeof *counts);
  size_t *counted = arena_array(arena, results->run_count, sizeof *counted); /* from 1 */
  for (size_t i = 0; i < results->median_count; i++) {
    const struct results_median *median = &results->medians[i];
    const size_t number = cases->firsts[median->bench] + 1;
    if (advice_is_open_case(cases, median) && counted[median->run] != number) {
      counted[median->run] = number;
      counts[median->run]++;
    }
  }
  return counts;
}

/* The run that measured most of the open cases. Of several, one whose command can be given again,
 * of these one that measured the fewest other cases, of these the last. */
static size_t advice_pick_run(struct arena *arena, const struct compare_result *result,
                              const size_t *counts, const size_t *sizes) {
  const struct results_run *runs = result->results->runs;
  size_t best = 0;
  for (size_t i = 1; i < result->results->run_count; i++) {
    const unsigned rank = result->sides[i] == SIDE_NONE ? 0 : advice_rank(arena, &runs[i]);
    const unsigned known = advice_rank(arena, &runs[best]);
    const int order = ORDER(rank > 0, known > 0)
                          ?: ORDER(counts[i], counts[best])
                          ?: ORDER(rank, known)
                          ?: ORDER(sizes[best], sizes[i])
                          ?: ORDER(runs[i].started_at_ns, runs[best].started_at_ns);
    best = order >= 0 ? i : best;
  }
  return best;
}

const struct results_run **advice_find_runs(struct arena *arena,
                                            const struct compare_result *result, size_t *count) {
  const struct results *results = result->results;
  const struct comparison *comparison = result->comparison;
  const struct advice_cases cases = {
      .firsts = advice_find_firsts(arena, results),
      .open = arena_array(arena, results->case_count, sizeof *cases.open)};
  const struct results_run **again = arena_array(arena, results->run_count, sizeof *again);
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    cases.open[cases.firsts[row->bench]] |= comparison_row_is_to_decide(comparison, row);
  }
  const size_t *counts = advice_count_open(arena, results, &cases);
  const struct advice_cases all = {.firsts = cases.firsts,
                                   .open = arena_array(arena, results->case_count, sizeof(bool))};
  memset(all.open, true, results->case_count * sizeof *all.open);
  const size_t *sizes = advice_count_open(arena, results, &all);
  size_t run = advice_pick_run(arena, result, counts, sizes);
  *count = 0;
  do {
    again[(*count)++] = &results->runs[run];
    for (size_t i = 0; i < results->median_count; i++) {
      const struct results_median *median = &results->medians[i];
      if (median->run == run && advice_is_open_case(&cases, median)) {
        cases.open[cases.firsts[median->bench]] = false;
      }
    }
    counts = advice_count_open(arena, results, &cases);
    run = advice_pick_run(arena, result, counts, sizes);
  } while (counts[run] > 0);
  return again;
}

const struct results_run *advice_own_run(struct arena *arena, const struct compare_result *result,
                                         enum side side, const struct results_run *of) {
  for (size_t i = result->results->run_count; i-- > 0;) {
    const struct results_run *run = &result->results->runs[i];
    if (result->sides[i] == side && advice_is_same(arena, run, of)) {
      return run;
    }
  }
  return of;
}

/* A list of more names is no shorter than all. */
enum { NAMES_MAX = 4 };

/* One name more in a list of globs, if it is not there yet. Beyond NAMES_MAX only one is kept. */
static void advice_add_name(struct advice_words *names, const char *name) {
  if (names->count <= NAMES_MAX && !ANY_OF(i, names->count, strcmp(names->items[i], name) == 0)) {
    names->items[names->count++] = name;
  }
}

static const char *advice_globs(struct arena *arena, const struct advice_words *names) {
  const char *globs = NULL;
  for (size_t i = 0; i < names->count; i++) {
    if (names->count > NAMES_MAX || strpbrk(names->items[i], ",*?[\\") != NULL) {
      return NULL;
    }
    globs = globs_add(globs, names->items[i], arena);
  }
  return globs;
}

const char *advice_only(struct arena *arena, const struct compare_result *result,
                        const struct results_run *run) {
  const struct results *results = result->results;
  const struct comparison *comparison = result->comparison;
  const size_t *firsts = advice_find_firsts(arena, results);
  bool *open = arena_array(arena, results->case_count, sizeof *open);
  struct advice_words cases = {.items = arena_array(arena, NAMES_MAX + 1, sizeof(char *))};
  struct advice_words blocks = {.items = arena_array(arena, NAMES_MAX + 1, sizeof(char *))};
  for (size_t i = 0; i < comparison->row_count; i++) {
    open[firsts[comparison->rows[i].bench]] |= comparison_row_is_open(&comparison->rows[i]);
  }
  for (size_t i = 0; i < results->median_count; i++) {
    const struct results_median *median = &results->medians[i];
    const struct results_case *bench = &results->cases[median->bench];
    if (&results->runs[median->run] == run && median->process != 0 && open[firsts[median->bench]]) {
      advice_add_name(&cases, bench->name);
      advice_add_name(&blocks, bench->block);
    }
  }
  bool others = false; /* in other blocks */
  bool more = false;
  for (size_t i = 0; i < results->median_count; i++) {
    const struct results_median *median = &results->medians[i];
    const struct results_case *bench = &results->cases[median->bench];
    if (&results->runs[median->run] == run && median->process != 0 &&
        !open[firsts[median->bench]]) {
      more = true;
      others = others || !ANY_OF(b, blocks.count, strcmp(blocks.items[b], bench->block) == 0);
    }
  }
  const struct advice_words words = advice_words_of(arena, run);
  if (advice_is_verb(&words, COPY) || advice_has_option(&words, TEST) ||
      advice_has_option(&words, "-t")) {
    return NULL;
  }
  const char *globs = more ? advice_globs(arena, &cases) : NULL;
  return globs == NULL && others ? advice_globs(arena, &blocks) : globs;
}

const char *advice_shard(struct arena *arena, const struct results_run *run) {
  static const char SHARD[] = "--shard";
  const struct advice_words words = advice_words_of(arena, run);
  for (size_t w = 0; w < words.count && advice_is_plain(arena, run); w++) {
    const char *word = words.items[w];
    if (strcmp(word, SHARD) == 0) {
      return w + 1 < words.count ? words.items[w + 1] : NULL;
    }
    if (advice_is_option(word, SHARD)) {
      return word + sizeof SHARD;
    }
  }
  return NULL;
}

bool advice_names_node(struct arena *arena, const struct results_run *run) {
  const struct advice_words words = advice_words_of(arena, run);
  return advice_has_option(&words, "--node-name");
}

const char *advice_command(struct arena *arena, const struct results_run *run,
                           const struct advice_how *how) {
  const bool plain = advice_is_plain(arena, run);
  const bool shard = advice_shard(arena, run) != NULL;
  const struct advice_words words =
      plain ? advice_words_of(arena, run) : (struct advice_words){.count = 0};
  const char *only = how->only == NULL && !plain ? run->only : how->only;
  const char *text =
      plain ? "haul" : arena_format(arena, "haul run %s", shell_word(arena, run->scenario));
  for (size_t w = 0; w < words.count;) {
    const char *word = words.items[w];
    const size_t skipped = advice_left_out(&words, w, how->db != NULL ? OF_RUN_BUT_DB : OF_RUN);
    const bool is_only = only != NULL && advice_is_option(word, ONLY);
    if (skipped > 0 || is_only) {
      w += skipped > 0 ? skipped : strcmp(word, ONLY) == 0 ? 2 : 1;
    } else {
      text = arena_add(arena, text, " %s", shell_word(arena, word));
      w++;
    }
  }
  text = only != NULL ? arena_add(arena, text, " %s %s", ONLY, shell_word(arena, only)) : text;
  return arena_add(arena, text, "%s --processes %u%s", how->db != NULL && !shard ? how->db : "",
                   how->processes, arena_around(arena, " --tag ", how->tag, ""));
}
