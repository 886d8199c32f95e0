/* result_answer.c - what a result comes to, below all blocks: "Host to GPU   55.4 GB/s".
 *
 * A line is one kind of path. It has the largest copy of each pair of places, if that has at least
 * ANSWER_BYTES_MIN, and else those of the largest size that any pair and memory has: a small copy
 * measures latency, and is no rate of a link. Where sizes differ, each rate has its own. Of several
 * settings the fastest counts. What exceeds its peak does not count, and the line says so where
 * smaller copies stand in for it. */
#include "engine/base/strings.h"
#include "runner/render/result/result_block.h"

#include <math.h>
#include <string.h>

enum answer {
  ANSWER_UP,
  ANSWER_DOWN,
  ANSWER_BOTH,
  ANSWER_PEER,
  ANSWER_PEER_BOTH,
  ANSWER_LOCAL,
  ANSWER_HOST,
  answer_count
};

static const struct {
  const char *rate, *latency; /* of a chase, whose source is the memory */
} ANSWERS[] = {
    [ANSWER_UP] = {"Host to GPU", " from a GPU to host memory"},
    [ANSWER_DOWN] = {"GPU to host", " from the host to GPU memory"},
    [ANSWER_BOTH] = {"Both ways", ""},
    [ANSWER_PEER] = {"GPU to GPU", " to another GPU"},
    [ANSWER_PEER_BOTH] = {"GPU both ways", ""},
    [ANSWER_LOCAL] = {"Within a GPU", " to a GPU's own memory"},
    [ANSWER_HOST] = {"Host to host", " from the host to its memory"},
};
_Static_assert(COUNT_OF(ANSWERS) == answer_count, "each has its names");

/* No cache of the host serves it. */
static const double ANSWER_BYTES_MIN = 16 << 20;

/* The case of each pair of places that stands for it. */
struct answer_pairs {
  const struct run_row **items;
  size_t count;
};

static bool answer_of(const struct run_row *row, enum answer *answer) {
  if (row->source == NULL || row->target == NULL) {
    return false;
  }
  const bool from_gpu = strncmp(row->source, "gpu", 3) == 0;
  const bool to_gpu = strncmp(row->target, "gpu", 3) == 0;
  const bool both = strings_equal(row->direction, "both");
  *answer = from_gpu && to_gpu && strcmp(row->source, row->target) == 0 ? ANSWER_LOCAL
            : from_gpu && to_gpu           ? (both ? ANSWER_PEER_BOTH : ANSWER_PEER)
            : (from_gpu || to_gpu) && both ? ANSWER_BOTH
            : to_gpu                       ? ANSWER_UP
            : from_gpu                     ? ANSWER_DOWN
                                           : ANSWER_HOST;
  return true;
}

/* Of rates the best of large copies, of latencies that of the largest footprint. */
static bool answer_is_better(const struct run_row *row, const struct run_row *than) {
  const bool chase = strings_equal(row->kind, "chase");
  const double enough = chase ? INFINITY : ANSWER_BYTES_MIN;
  const double size = fmin(row->size_bytes, enough);
  const double other = fmin(than->size_bytes, enough);
  return size != other ? size > other
         : chase       ? row->ns_per_hop < than->ns_per_hop
                       : row->gbps > than->gbps;
}

/* "pinned"; "" = that of GPUs. */
static const char *answer_memory(const struct run_row *row) {
  const char *const memories[] = {row->source_memory, row->target_memory};
  for (size_t i = 0; i < 2; i++) {
    if (memories[i] != NULL && strcmp(memories[i], "device") != 0) {
      return memories[i];
    }
  }
  return "";
}

static void answer_keep(struct arena *arena, struct answer_pairs *pairs,
                        const struct run_row *row) {
  const size_t i = FIRST_OF(k, pairs->count,
                            strcmp(pairs->items[k]->source, row->source) == 0 &&
                                strcmp(pairs->items[k]->target, row->target) == 0);
  if (i == pairs->count) {
    *ARENA_ADD(arena, pairs->items, pairs->count) = row;
  } else if (row->size_bytes > pairs->items[i]->size_bytes ||
             (!(row->size_bytes < pairs->items[i]->size_bytes) &&
              answer_is_better(row, pairs->items[i]))) {
    pairs->items[i] = row;
  }
}

static bool answer_is_as_large(const struct run_row *row, const struct run_row *than) {
  const double enough = strings_equal(row->kind, "chase") ? INFINITY : ANSWER_BYTES_MIN;
  return fmin(row->size_bytes, enough) >= fmin(than->size_bytes, enough);
}

/* The largest of each pair, of the size, memory and method that the best of all has: what failed in
 * one of them is not replaced by what cannot be compared with the others. memory, method: NULL =
 * any. */
static struct answer_pairs answer_select(struct arena *arena, const struct answer_pairs *all,
                                         const char *memory, const char *method) {
  struct answer_pairs pairs = {0};
  size_t best = all->count;
  for (size_t i = 0; i < all->count; i++) {
    if ((memory == NULL || strcmp(answer_memory(all->items[i]), memory) == 0) &&
        (method == NULL || strings_equal(all->items[i]->method, method)) &&
        (best == all->count || answer_is_better(all->items[i], all->items[best]))) {
      best = i;
    }
  }
  for (size_t i = 0; i < all->count && best < all->count; i++) {
    const struct run_row *row = all->items[i];
    if (answer_is_as_large(row, all->items[best]) &&
        strings_equal(row->method, all->items[best]->method) &&
        strcmp(answer_memory(row), answer_memory(all->items[best])) == 0) {
      answer_keep(arena, &pairs, row);
    }
  }
  return pairs;
}

/* Of each kind of path. */
struct answers {
  struct answer_pairs rates[answer_count], latencies[answer_count];
  const struct run_row *above_peak[answer_count]; /* the largest copy that is; NULL = none */
};

static void answer_add(struct arena *arena, struct answers *answers, const struct run_row *row) {
  enum answer answer = ANSWER_UP;
  const double flows = strings_equal(row->direction, "both") ? 2 : 1;
  if (strcmp(row->status, "ok") != 0 || row->special > 0 || row->flows > flows ||
      row->under_load > 0 || !answer_of(row, &answer)) {
    return;
  }
  if (row->above_peak > 0) {
    const struct run_row **largest = &answers->above_peak[answer];
    *largest = *largest == NULL || row->size_bytes > (*largest)->size_bytes ? row : *largest;
    return;
  }
  const bool latency = strings_equal(row->kind, "chase") && row->ns_per_hop > 0;
  if (latency || (strings_equal(row->kind, "transfer") && row->gbps > 0)) {
    struct answer_pairs *rows = latency ? &answers->latencies[answer] : &answers->rates[answer];
    *ARENA_ADD(arena, rows->items, rows->count) = row;
  }
}

/* "gpu2 to gpu3": the worst pair; NULL = all are alike. */
static const char *answer_worst(struct arena *arena, struct result_span span, bool less_is_better) {
  if (result_span_is_alike(span)) {
    return NULL;
  }
  /* As in the names of cases: of a chase the GPU that loads, then the memory. */
  const struct run_row *worst = less_is_better ? span.greatest : span.least;
  const char *from = less_is_better ? worst->target : worst->source;
  const char *to = less_is_better ? worst->source : worst->target;
  const bool own = strcmp(from, to) == 0;
  return arena_format(arena, "%s%s%s", from, own ? "" : " to ", own ? "" : to);
}

/* "799.5-847.7 ns to another GPU; slowest: gpu1 to gpu0" */
static const char *answer_latency(struct arena *arena, const struct answer_pairs *all,
                                  const char *what) {
  const struct answer_pairs pairs = answer_select(arena, all, NULL, NULL);
  if (pairs.items == NULL) {
    return "";
  }
  const struct result_span span = result_span_of(pairs.items, pairs.count);
  return arena_format(arena, "%s ns%s%s", result_figures(arena, span), what,
                      arena_around(arena, "; slowest: ", answer_worst(arena, span, true), ""));
}

static void answer_put(struct document *document, struct arena *arena, bool *said, const char *what,
                       const char *text) {
  if (!*said) {
    document_gap(document);
  }
  *said = true;
  document_put_behind(document, arena_format(arena, "%-13s ", what), "%s", text);
}

/* What one kind of memory, moved by one method, reaches. */
struct answer_rate {
  struct answer_pairs pairs;
  const char *memory, *method;
};

enum { ANSWER_METHODS_MAX = 4 };

static struct answer_rate answer_rate_of(struct answer_pairs pairs) {
  return (struct answer_rate){pairs, answer_memory(pairs.items[0]), pairs.items[0]->method};
}

/* Whether the row is of a method that the rates lack, and as large as theirs, in their memory. */
static bool answer_is_new(const struct run_row *row, const struct answer_rate *rates,
                          size_t count) {
  return ALL_OF(r, count, !strings_equal(rates[r].method, row->method)) &&
         strcmp(rates[0].memory, answer_memory(row)) == 0 &&
         answer_is_as_large(row, rates[0].pairs.items[0]);
}

/* The best of that memory, and what other methods reach at its size. */
static size_t answer_find_rates(struct arena *arena, const struct answer_pairs *all,
                                const char *memory, struct answer_rate *rates, size_t most) {
  const struct answer_pairs best = answer_select(arena, all, memory, NULL);
  if (best.items == NULL) {
    return 0;
  }
  size_t count = 0;
  rates[count++] = answer_rate_of(best);
  for (size_t i = 0; i < all->count && count < most; i++) {
    if (answer_is_new(all->items[i], rates, count)) {
      const char *method = all->items[i]->method;
      const struct answer_pairs other = answer_select(arena, all, rates[0].memory, method);
      if (other.items != NULL) {
        rates[count++] = answer_rate_of(other);
      }
    }
  }
  return count;
}

/* The memory of the best copy but those of pageable memory; NULL = there is none. */
static const char *answer_locked_memory(const struct answer_pairs *all) {
  const struct run_row *best = NULL;
  for (size_t i = 0; i < all->count; i++) {
    const struct run_row *row = all->items[i];
    if (strcmp(answer_memory(row), "pageable") != 0 &&
        (best == NULL || answer_is_better(row, best))) {
      best = row;
    }
  }
  return best != NULL ? answer_memory(best) : NULL;
}

/* Of the best memory but pageable, then of pageable, whichever is faster. Of one alone where its
 * copies are larger. Returns the number of rates. */
static size_t answer_find_memories(struct arena *arena, const struct answer_pairs *all,
                                   struct answer_rate rates[2 * ANSWER_METHODS_MAX]) {
  const char *locked = answer_locked_memory(all);
  const size_t count =
      locked != NULL ? answer_find_rates(arena, all, locked, rates, ANSWER_METHODS_MAX) : 0;
  struct answer_rate *pageable = &rates[count];
  const size_t more = answer_find_rates(arena, all, "pageable", pageable, ANSWER_METHODS_MAX);
  if (count == 0 || more == 0) {
    return count + more;
  }
  const struct run_row *first = rates[0].pairs.items[0];
  const struct run_row *other = pageable->pairs.items[0];
  if (!answer_is_as_large(first, other)) {
    memmove(rates, pageable, more * sizeof *rates);
    return more;
  }
  return answer_is_as_large(other, first) ? count + more : count;
}

/* The settings that neither place, size nor method shows: "threads=2". */
static const char *answer_settings(struct arena *arena, const struct run_row *row) {
  return strings_equal(result_axis(row, "method"), row->method) ? "" : result_axes(arena, row);
}

/* " (256MiB)", " (32MiB threads=2)", " (256MiB to 1GiB)"; without settings that differ. */
static const char *answer_size(struct arena *arena, const struct answer_rate *rates, size_t count) {
  const struct run_row *least = rates[0].pairs.items[0];
  const struct run_row *greatest = least;
  const char *settings = answer_settings(arena, least);
  for (size_t r = 0; r < count; r++) {
    for (size_t i = 0; i < rates[r].pairs.count; i++) {
      const struct run_row *row = rates[r].pairs.items[i];
      least = row->size_bytes < least->size_bytes ? row : least;
      greatest = row->size_bytes > greatest->size_bytes ? row : greatest;
      settings = strcmp(answer_settings(arena, row), settings) == 0 ? settings : "";
    }
  }
  const char *size = result_size(arena, least);
  size = least->size_bytes < greatest->size_bytes
             ? arena_format(arena, "%s to %s", size, result_size(arena, greatest))
             : size;
  const char *text = arena_join(arena, size, " ", settings);
  return arena_around(arena, " (", text[0] != '\0' ? text : NULL, ")");
}

/* Whether the rates are of copies of one size, each and together. */
static bool answer_has_one_size(const struct answer_rate *rates, size_t count) {
  const double size = rates[0].pairs.items[0]->size_bytes;
  return ALL_OF(r, count,
                ALL_OF(i, rates[r].pairs.count,
                       !(rates[r].pairs.items[i]->size_bytes < size) &&
                           !(rates[r].pairs.items[i]->size_bytes > size)));
}

/* " pinned", " pinned by ce"; the method only where that memory has several. */
static const char *answer_rate_words(struct arena *arena, const struct answer_rate *rates,
                                     size_t count, size_t r) {
  const char *memory = rates[r].memory;
  const bool several = ANY_OF(i, count, i != r && strcmp(rates[i].memory, memory) == 0);
  const bool named = memory[0] != '\0' && (r == 0 || strcmp(memory, rates[r - 1].memory) != 0);
  return arena_format(arena, "%s%s%s", named ? " " : "", named ? memory : "",
                      several ? arena_around(arena, " by ", rates[r].method, "") : "");
}

/* "372.1-394.1 GB/s (1MiB); lowest: gpu2 to gpu3", "55.11 GB/s pinned, 9.5-9.699 pageable (256MiB);
 * lowest pageable: numa0 to gpu1", "54.72 GB/s pinned by ce (512MiB), 51.46 by sm (256MiB)" */
static const char *answer_rates(struct arena *arena, const struct answer_pairs *all,
                                const struct run_row *above_peak) {
  struct answer_rate rates[2 * ANSWER_METHODS_MAX];
  const size_t count = answer_find_memories(arena, all, rates);
  const bool one_size = count > 0 && answer_has_one_size(rates, count);
  const char *text = "";
  const char *lowest = "";
  for (size_t r = 0; r < count; r++) {
    const struct result_span span = result_span_of(rates[r].pairs.items, rates[r].pairs.count);
    const char *words = answer_rate_words(arena, rates, count, r);
    const char *worst = answer_worst(arena, span, false);
    text = arena_format(arena, "%s%s%s%s%s%s", text, r > 0 ? ", " : "", result_figures(arena, span),
                        r == 0 ? " GB/s" : "", words,
                        one_size ? "" : answer_size(arena, &rates[r], 1));
    lowest = worst != NULL
                 ? arena_format(arena, "%s; lowest%s: %s", lowest, count > 1 ? words : "", worst)
                 : lowest;
  }
  const bool stands_in = above_peak != NULL &&
                         (count == 0 || !answer_is_as_large(rates[0].pairs.items[0], above_peak));
  const char *why = stands_in
                        ? arena_format(arena, "%scopies of %s exceed their peak and do not count",
                                       count > 0 ? "; " : "none: ", result_size(arena, above_peak))
                        : "";
  return arena_format(arena, "%s%s%s%s", text, one_size ? answer_size(arena, rates, count) : "",
                      lowest, why);
}

/* "8 of 78 cases": of all, skipped ones included. */
static const char *answer_share(struct arena *arena, size_t count, size_t all) {
  return arena_format(arena, "%zu of %zu %s", count, all, strings_plural(all, "case", "cases"));
}

/* "8 of 78 cases: 4 crashed, 2 hung", "1 of 78 cases: hung"; "" = none. */
static const char *answer_failed(struct arena *arena, const struct run_rows *rows) {
  static const char *const STATUSES[] = {"failed", "crashed", "hung", "corrupt"};
  const char *text = "";
  const char *last = "";
  size_t statuses = 0;
  size_t all = 0;
  for (size_t s = 0; s < COUNT_OF(STATUSES); s++) {
    const size_t count = SUM_OF(i, rows->count, strcmp(rows->items[i].status, STATUSES[s]) == 0);
    all += count;
    statuses += count > 0;
    last = count > 0 ? STATUSES[s] : last;
    text = count > 0
               ? arena_add_word(arena, text, arena_format(arena, "%zu %s", count, STATUSES[s]))
               : text;
  }
  return all > 0 ? arena_format(arena, "%s: %s", answer_share(arena, all, rows->count),
                                statuses > 1 ? text : last)
                 : "";
}

/* Whether the reasons differ at most in numbers, as those of pairs of GPUs do. */
static bool answer_reasons_alike(const char *a, const char *b) {
  static const char DIGITS[] = "0123456789";
  while (*a != '\0' && *b != '\0') {
    const size_t digits = strspn(a, DIGITS);
    const size_t other = strspn(b, DIGITS);
    if ((digits > 0) != (other > 0) || (digits == 0 && *a != *b)) {
      return false;
    }
    a += digits > 0 ? digits : 1;
    b += other > 0 ? other : 1;
  }
  return *a == *b;
}

const char *result_skipped(struct arena *arena, const struct run_rows *rows) {
  struct reason {
    const char *text;
    size_t count;
    bool differs;
  } *reasons = NULL;
  size_t count = 0;
  size_t skipped = 0;
  size_t most = 0;
  for (size_t i = 0; i < rows->count; i++) {
    const char *text = rows->items[i].reason != NULL ? rows->items[i].reason : "";
    if (result_row_shown(&rows->items[i])) {
      continue;
    }
    const size_t r = FIRST_OF(k, count, answer_reasons_alike(reasons[k].text, text));
    if (r == count) {
      *ARENA_ADD(arena, reasons, count) = (struct reason){.text = text};
    }
    reasons[r].count++;
    reasons[r].differs = reasons[r].differs || strcmp(reasons[r].text, text) != 0;
    most = reasons[r].count > reasons[most].count ? r : most;
    skipped++;
  }
  if (skipped == 0) {
    return "";
  }
  return arena_format(arena, "%s: %s%s%s", answer_share(arena, skipped, rows->count),
                      reasons[most].text, reasons[most].differs ? ", and others like it" : "",
                      count > 1 ? arena_format(arena, "; %zu more %s", count - 1,
                                               strings_plural(count - 1, "reason", "reasons"))
                                : "");
}

static const char *answer_add_once(struct arena *arena, const char *list, const char *word) {
  return strings_has_word(list, word) ? list : arena_add_word(arena, list, word);
}

/* "48 of 48 cases: all GPUs throttled by hw_thermal"; "" = none. */
static const char *answer_throttled(struct arena *arena, const struct run_rows *rows) {
  const char *gpus = "";
  const char *by = "";
  size_t count = 0;
  bool all = true;
  for (size_t i = 0; i < rows->count; i++) {
    bool counts = false;
    for (size_t n = 0; n < rows->items[i].note_count; n++) {
      const struct note *note = &rows->items[i].notes[n];
      if (note->kind == NOTE_THROTTLED) {
        counts = true;
        gpus = answer_add_once(arena, gpus, arena_format(arena, "gpu%d", note->gpu));
        by = answer_add_once(arena, by, note->what);
      }
    }
    count += counts;
  }
  for (size_t i = 0; i < rows->count; i++) {
    const char *const places[] = {rows->items[i].source, rows->items[i].target};
    for (size_t p = 0; p < COUNT_OF(places); p++) {
      all = all && (places[p] == NULL || strncmp(places[p], "gpu", 3) != 0 ||
                    strings_has_word(gpus, places[p]));
    }
  }
  return count == 0 ? ""
                    : arena_format(arena, "%s: %s throttled by %s",
                                   answer_share(arena, count, rows->count),
                                   all && strchr(gpus, ',') != NULL ? "all GPUs" : gpus, by);
}

void result_answer(const struct run_rows *rows, const struct result_remarks *remarks,
                   const char *skipped_command, struct document *document) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct answers answers = {0};
  for (size_t i = 0; i < rows->count; i++) {
    answer_add(&arena, &answers, &rows->items[i]);
  }
  bool said = false;
  const char *failed = answer_failed(&arena, rows);
  if (failed[0] != '\0') {
    answer_put(document, &arena, &said, "No result", failed);
  }
  const char *latency = "";
  for (unsigned i = 0; i < answer_count; i++) {
    const struct answer_pairs *rates = &answers.rates[i];
    const struct run_row *above_peak = answers.above_peak[i];
    if (answers.latencies[i].count > 0) {
      latency = arena_join(&arena, latency, "; ",
                           answer_latency(&arena, &answers.latencies[i], ANSWERS[i].latency));
    }
    if (rates->count > 0 || above_peak != NULL) {
      answer_put(document, &arena, &said, ANSWERS[i].rate, answer_rates(&arena, rates, above_peak));
    }
  }
  if (latency[0] != '\0') {
    answer_put(document, &arena, &said, "Latency", latency);
  }
  const char *skipped = skipped_command != NULL ? result_skipped(&arena, rows) : "";
  if (skipped[0] != '\0') {
    answer_put(document, &arena, &said, "Skipped",
               arena_format(&arena, "%s (%s)", skipped, skipped_command));
  }
  const char *throttled = remarks != NULL ? answer_throttled(&arena, rows) : "";
  if (throttled[0] != '\0') {
    answer_put(document, &arena, &said, "Slowed", throttled);
  }
  bool common = false;
  const size_t noted = remarks != NULL ? result_remarks_count(remarks, &common) : 0;
  if (said && noted > 0) {
    answer_put(document, &arena, &said, "Notes",
               arena_format(&arena, "%s %s a note%s", answer_share(&arena, noted, rows->count),
                            strings_plural(noted, "has", "have"),
                            !common ? "" : strings_plural(noted, " of its own", " of their own")));
  }
}
