/* result_remarks.c - the remarks on cases, as footnotes. */
#include "runner/render/result/result_block.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- footnotes ---- */

static size_t remarks_find(const struct result_remarks *remarks, const char *text) {
  size_t i = 0;
  while (i < remarks->note_count && (text == NULL || strcmp(remarks->notes[i].text, text) != 0)) {
    i++;
  }
  return i;
}

/* One row has that text; NULL = nothing. A row has a text once at most. */
static void remarks_use(struct result_remarks *remarks, const char *text) {
  const size_t i = remarks_find(remarks, text);
  if (text == NULL || i == FOOTNOTES_MAX) {
    return;
  }
  if (i == remarks->note_count) {
    remarks->notes[remarks->note_count++] = (struct footnote){.text = text};
  }
  remarks->notes[i].uses++;
}

/* 0 where the row needs no mark. */
static unsigned remarks_number(const struct result_remarks *remarks, const char *text) {
  const size_t i = remarks_find(remarks, text);
  return i < remarks->note_count ? remarks->notes[i].number : 0;
}

/* ---- remarks ---- */

void result_remarks_add(struct result_remarks *remarks, const struct run_row *row) {
  remarks->rows = arena_grow(remarks->arena, remarks->rows, remarks->count, &remarks->capacity,
                             sizeof(const struct run_row *));
  remarks->rows[remarks->count++] = row;
}

static const char *remarks_why(const struct run_row *row) {
  return row->reason != NULL ? row->reason : row->note;
}

/* NULL = nothing was seen that slowed it. */
static const char *remarks_slowed(const struct result_remarks *remarks, const struct run_row *row) {
  return row->slowed_by != NULL && row->reason == NULL
             ? arena_format(remarks->arena, "may be slowed: %s", row->slowed_by)
             : NULL;
}

/* Of a case that is short of what its machine reaches. */
static const char *remarks_short(const struct result_remarks *remarks, const struct run_row *row) {
  if (row->as_expected == NULL) {
    return NULL;
  }
  return strcmp(row->as_expected, "short") == 0
             ? arena_format(remarks->arena, "short of what is usual here, %s", row->expected)
         : strcmp(row->as_expected, "unclear") == 0
             ? arena_format(remarks->arena, "too noisy to tell from what is usual here, %s",
                            row->expected)
             : NULL;
}

/* Why the trials of a case ended; STOP_NONE where it is not known. */
static enum stop remarks_stop_of(const struct run_row *row) {
  enum stop stop = STOP_NONE;
  if (row->stop == NULL || strcmp(row->status, "ok") != 0 || !stop_parse(row->stop, &stop)) {
    return STOP_NONE;
  }
  return stop;
}

/* noise_name_count: that is not known. */
static enum noise remarks_noise_of(const struct run_row *row) {
  enum noise noise = noise_name_count;
  if (row->noise == NULL || !noise_parse(row->noise, &noise)) {
    return noise_name_count;
  }
  return noise;
}

/* NULL = nothing needs to be said of how the trials ended. */
static const char *remarks_stopped(const struct result_remarks *remarks,
                                   const struct run_row *row) {
  return remarks->stops[remarks_stop_of(row)][remarks_noise_of(row)];
}

/* The cases that a remark on noise is about. */
struct noisy {
  enum stop stop;
  enum noise noise;
  size_t count;
  bool on_host;       /* one of them has an end there */
  double percent;     /* the largest */
  double least, most; /* lengths of dips, ns */
};

static bool remarks_on_host(const char *place) {
  return place != NULL && strncmp(place, "numa", 4) == 0;
}

static struct noisy remarks_find_noisy(const struct result_remarks *remarks, enum stop stop,
                                       enum noise noise) {
  struct noisy noisy = {.stop = stop, .noise = noise, .least = INFINITY};
  for (size_t i = 0; i < remarks->count; i++) {
    const struct run_row *row = remarks->rows[i];
    if (remarks_stop_of(row) == stop && remarks_noise_of(row) == noise) {
      noisy.count++;
      noisy.on_host = noisy.on_host || remarks_on_host(row->source) || remarks_on_host(row->target);
      noisy.percent = fmax(noisy.percent, fabs(row->noise_percent)); /* not of NAN */
      noisy.least = fmin(noisy.least, row->noise_ns);
      noisy.most = fmax(noisy.most, row->noise_ns);
    }
  }
  return noisy;
}

/* "5.2 ms", "5.2 to 18 ms" */
static const char *remarks_lengths(struct arena *arena, const struct noisy *noisy) {
  const char *least = arena_format(arena, "%.2g", noisy->least / 1e6);
  const char *most = arena_format(arena, "%.2g", noisy->most / 1e6);
  return strcmp(least, most) == 0 ? arena_format(arena, "%s ms", most)
                                  : arena_format(arena, "%s to %s ms", least, most);
}

/* What ended the trials, what their noise was like, and what helps: more of them only where they
 * differ by chance. */
static const char *remarks_describe_noise(const struct result_remarks *remarks,
                                          const struct noisy *noisy) {
  struct arena *arena = remarks->arena;
  const bool time = noisy->stop == STOP_TIME;
  const char *more = time ? "more time helps" : "more trials help";
  const char *no_more = time ? "more time does not help" : "more trials do not help";
  const char *perhaps = time ? "more time may help" : "more trials may help";
  const char *option = time ? "--set measure.max_time=TIME" : "--set measure.trials.max=N";
  const char *ended = time ? "max_time ended the trials" : "trials.max ended the trials";
  const char *size = result_percent(arena, noisy->percent);
  switch (noisy->noise) {
  case NOISE_UNKNOWN:
    return arena_format(arena, "%s, too few to tell what their noise is; %s: %s", ended, perhaps,
                        option);
  case NOISE_WHITE:
    return arena_format(arena, "%s, whose noise has no pattern; %s: %s", ended, more, option);
  case NOISE_DIPS:
    return arena_format(arena, "%s; dips of %s, up to %s %% slower, as where others use %s; %s",
                        ended, remarks_lengths(arena, noisy), size,
                        noisy->on_host ? "the host's memory or processors" : "the GPU or its links",
                        no_more);
  case NOISE_TWO_MODES:
    return arena_format(arena,
                        "%s; they have two levels, up to %s %% apart, and the median may be at "
                        "either; %s",
                        ended, size, no_more);
  case NOISE_DRIFT:
    return arena_format(
        arena,
        "%s; their level moved, by up to %s %%; %s, but where the first differ more "
        "warm-up does: --set measure.warmup=N",
        ended, size, no_more);
  case noise_name_count:
    break;
  }
  return arena_format(arena, "%s; %s: %s", ended, perhaps, option);
}

/* Of all cases that ended so: how far the trials came, and what would have helped. */
static const char *remarks_describe(const struct result_remarks *remarks,
                                    const struct noisy *noisy) {
  double widest = 0;
  bool several = false; /* processes: then +/- is the range between them */
  bool few = true;
  for (size_t i = 0; i < remarks->count; i++) {
    const struct run_row *row = remarks->rows[i];
    if (remarks_stop_of(row) != noisy->stop || remarks_noise_of(row) != noisy->noise) {
      continue;
    }
    several = several || row->processes > 1;
    few = few && isnan(result_spread(row));
    widest = fmax(widest, result_spread(row));
  }
  const char *reached = several ? " in some processes"
                        : few   ? " (too few trials for a 95 % interval)"
                                : arena_format(remarks->arena, " (up to +/- %s %%)",
                                               result_percent(remarks->arena, widest));
  return arena_format(remarks->arena, "not within precision%s: %s", reached,
                      remarks_describe_noise(remarks, noisy));
}

/* Of all cases with load flows. */
static const char *remarks_describe_load(const struct result_remarks *remarks) {
  double low = INFINITY;
  double high = 0;
  for (size_t i = 0; i < remarks->count; i++) {
    const double gbps = remarks->rows[i]->load_gbps;
    low = gbps < low ? gbps : low; /* false of NAN */
    high = gbps > high ? gbps : high;
  }
  if (high <= 0) {
    return NULL;
  }
  return low < high
             ? arena_format(remarks->arena, "load flows moved %.4g .. %.4g GB/s each", low, high)
             : arena_format(remarks->arena, "load flows moved %.4g GB/s each", high);
}

static const char *remarks_load_of(const struct result_remarks *remarks,
                                   const struct run_row *row) {
  return row->load_gbps > 0 ? remarks->load : NULL;
}

void result_remarks_settle(struct result_remarks *remarks) {
  unsigned number = 0;
  remarks->load = remarks_describe_load(remarks);
  static const enum stop ENDS[] = {STOP_TRIALS, STOP_TIME};
  for (size_t e = 0; e < sizeof ENDS / sizeof *ENDS; e++) {
    for (unsigned noise = 0; noise <= noise_name_count; noise++) {
      const struct noisy noisy = remarks_find_noisy(remarks, ENDS[e], (enum noise)noise);
      remarks->stops[ENDS[e]][noise] = noisy.count > 0 ? remarks_describe(remarks, &noisy) : NULL;
    }
  }
  for (size_t i = 0; i < remarks->count; i++) {
    remarks_use(remarks, remarks_why(remarks->rows[i]));
    remarks_use(remarks, remarks_load_of(remarks, remarks->rows[i]));
    remarks_use(remarks, remarks_slowed(remarks, remarks->rows[i]));
    remarks_use(remarks, remarks_short(remarks, remarks->rows[i]));
    remarks_use(remarks, remarks_stopped(remarks, remarks->rows[i]));
    remarks_use(remarks, remarks->rows[i]->same);
  }
  for (size_t i = 0; i < remarks->note_count; i++) {
    struct footnote *note = &remarks->notes[i];
    note->number = note->uses == remarks->count ? 0 : ++number;
  }
}

const char *result_remarks_mark(const struct result_remarks *remarks, const struct run_row *row) {
  enum { TEXTS = 6 };
  const char *const texts[TEXTS] = {remarks_why(row),
                                    remarks_load_of(remarks, row),
                                    remarks_slowed(remarks, row),
                                    remarks_short(remarks, row),
                                    remarks_stopped(remarks, row),
                                    row->same};
  const char *mark = "";
  unsigned last = 0;
  for (size_t shown = 0; shown < TEXTS; shown++) {
    unsigned next = UINT_MAX; /* the least that is greater than the last */
    for (size_t i = 0; i < TEXTS; i++) {
      const unsigned number = remarks_number(remarks, texts[i]);
      next = number > last && number < next ? number : next;
    }
    if (next == UINT_MAX) {
      break;
    }
    mark = arena_format(remarks->arena, "%s%s%u", mark, mark[0] != '\0' ? "," : "", next);
    last = next;
  }
  return mark[0] != '\0' ? arena_format(remarks->arena, "[%s]", mark) : "";
}

void result_remarks_print(const struct result_remarks *remarks, const struct output *output) {
  for (size_t i = 0; i < remarks->note_count; i++) {
    const unsigned number = remarks->notes[i].number;
    output_wrapped(output, number > 0 ? arena_format(remarks->arena, "[%u] ", number) : "note: ",
                   remarks->notes[i].text);
  }
}
