/* result_remarks.c - the remarks on cases, as footnotes. */
#include "runner/render/result/result_block.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- footnotes ---- */

/* What stands in a pattern for a figure, and for two: "from 3.1 to 2.9". */
static const char FIGURE = '\1';
static const char MOVE = '\2';

/* The length of a number with a unit behind it: of "64 MiB", but of "gpu0" and "pid 1802" 0. */
static size_t remarks_number_length(const char *text) {
  const size_t digits = strspn(text, "0123456789");
  const size_t fraction = text[digits] == '.' ? strspn(text + digits + 1, "0123456789") : 0;
  return digits > 0 ? digits + (fraction > 0 ? 1 + fraction : 0) : 0;
}

static bool remarks_has_unit(const char *text) {
  static const char *const UNITS[] = {" %", " GHz", " GB/s", " ns",  " us", " ms",
                                      " s", " KiB", " MiB",  " GiB", NULL};
  for (size_t i = 0; UNITS[i] != NULL; i++) {
    const size_t length = strlen(UNITS[i]);
    if (strncmp(text, UNITS[i], length) == 0 && isalnum((unsigned char)text[length]) == 0) {
      return true;
    }
  }
  return false;
}

/* The figure that begins there, or two; its length in the text, 0 = none does. */
static size_t remarks_read_figure(struct arena *arena, const char *text, struct figure *figure) {
  const char *first = strncmp(text, "from ", 5) == 0 ? text + 5 : text;
  size_t length = remarks_number_length(first);
  const char *last = first;
  if (first > text && length > 0 && strncmp(first + length, " to ", 4) == 0) {
    last = first + length + 4;
    length = remarks_number_length(last);
  } else if (first > text) {
    return 0;
  }
  if (length == 0 || !remarks_has_unit(last + length)) {
    return 0;
  }
  const double from = strtod(first, NULL);
  const double to = strtod(last, NULL);
  const size_t all = (size_t)(last - text) + length;
  *figure = (struct figure){.text = arena_strndup(arena, text, all),
                            .least = fmin(from, to),
                            .most = fmax(from, to),
                            .percent = 100 * fabs(to / from - 1),
                            .moves = last > first};
  return all;
}

/* The text with FIGURE or MOVE for its figures, which go to figures[]. */
static const char *remarks_pattern(struct arena *arena, const char *text,
                                   struct figure figures[FIGURES_MAX], size_t *count) {
  char *pattern = arena_strdup(arena, text);
  size_t used = 0;
  *count = 0;
  for (size_t at = 0; text[at] != '\0';) {
    const bool begins = (at == 0 || text[at - 1] == ' ') && *count < FIGURES_MAX;
    const size_t length = begins ? remarks_read_figure(arena, text + at, &figures[*count]) : 0;
    pattern[used] = text[at];
    if (length > 0 && figures[*count].moves) {
      pattern[used] = MOVE;
    } else if (length > 0) {
      pattern[used] = FIGURE;
    }
    *count += length > 0;
    used++;
    at += length > 0 ? length : 1;
  }
  pattern[used] = '\0';
  return pattern;
}

static size_t remarks_find(const struct result_remarks *remarks, const char *pattern) {
  size_t i = 0;
  while (i < remarks->note_count && strcmp(remarks->notes[i].pattern, pattern) != 0) {
    i++;
  }
  return i;
}

/* A row has that text. Texts that differ by figures alone are one footnote, of all of them. */
static void remarks_use(struct result_remarks *remarks, const struct run_row *row,
                        const char *text) {
  struct figure figures[FIGURES_MAX];
  size_t count = 0;
  const char *pattern = remarks_pattern(remarks->arena, text, figures, &count);
  const size_t i = remarks_find(remarks, pattern);
  if (i == FOOTNOTES_MAX) {
    return;
  }
  struct footnote *note = &remarks->notes[i];
  if (i == remarks->note_count) {
    remarks->note_count++;
    *note = (struct footnote){.pattern = pattern};
    memcpy(note->figures, figures, count * sizeof *figures);
  }
  for (size_t k = 0; k < count; k++) {
    struct figure *all = &note->figures[k];
    all->text = all->text != NULL && strcmp(all->text, figures[k].text) == 0 ? all->text : NULL;
    all->least = fmin(all->least, figures[k].least);
    all->most = fmax(all->most, figures[k].most);
    all->percent = fmax(all->percent, figures[k].percent);
  }
  note->uses += note->last != row;
  note->last = row;
}

static const char *remarks_number_words(struct arena *arena, double value) {
  return arena_format(arena, value >= 1000 ? "%.0f" : "%.4g", value);
}

/* "64", "16-64"; "from 3.1 to 2.9", "by up to 12 %, between 2.7 and 3.1" */
static const char *remarks_figure_words(struct arena *arena, const struct figure *figure) {
  const char *least = remarks_number_words(arena, figure->least);
  const char *most = remarks_number_words(arena, figure->most);
  if (figure->text != NULL) {
    return figure->text;
  }
  if (figure->moves) {
    return arena_format(arena, "by up to %s %%, between %s and %s",
                        result_percent(arena, figure->percent), least, most);
  }
  return strcmp(least, most) == 0 ? least : arena_format(arena, "%s-%s", least, most);
}

static const char *remarks_text_of(struct arena *arena, const struct footnote *note) {
  const char *text = "";
  const struct figure *figure = note->figures;
  for (const char *at = note->pattern; *at != '\0';) {
    const size_t length = strcspn(at, (const char[]){FIGURE, MOVE, '\0'});
    text = arena_format(arena, "%s%.*s", text, (int)length, at);
    at += length;
    if (*at != '\0') {
      text = arena_format(arena, "%s%s", text, remarks_figure_words(arena, figure++));
      at++;
    }
  }
  return text;
}

/* 0 where the row needs no mark. */
static unsigned remarks_number(const struct result_remarks *remarks, const char *text) {
  struct figure figures[FIGURES_MAX];
  size_t count = 0;
  const size_t i = remarks_find(remarks, remarks_pattern(remarks->arena, text, figures, &count));
  return i < remarks->note_count ? remarks->notes[i].number : 0;
}

/* ---- remarks ---- */

void result_remarks_add(struct result_remarks *remarks, const struct run_row *row) {
  remarks->rows = arena_grow(remarks->arena, remarks->rows, remarks->count, &remarks->capacity,
                             sizeof(const struct run_row *));
  remarks->rows[remarks->count++] = row;
}

/* NULL = nothing was seen that slowed it. */
static const char *remarks_slowed(const struct result_remarks *remarks, const struct run_row *row) {
  return row->slowed_by != NULL && row->reason == NULL
             ? arena_format(remarks->arena, "may be slowed: %s", row->slowed_by)
             : NULL;
}

/* NULL = its rate is one that the hardware allows, as far as is known. */
static const char *remarks_above_peak(const struct result_remarks *remarks,
                                      const struct run_row *row) {
  return row->above_peak > 0 && row->reason == NULL && isfinite(row->percent_of_peak)
             ? arena_format(remarks->arena,
                            "above_peak: %.1f %% of the peak. A cache served the bytes, they did "
                            "not move, or the peak is wrong. Nothing compares this number.",
                            row->percent_of_peak)
             : NULL;
}

/* How a case compares with what its machine reaches. That one is a little outside and as usual
 * matters where the reader sees the range. */
static const char *remarks_expected(const struct result_remarks *remarks,
                                    const struct run_row *row) {
  const bool usual = row->as_expected != NULL && strcmp(row->as_expected, "usual") == 0;
  return usual && !remarks->ranges_shown ? NULL : row->expected_remark;
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

/* NULL = it has no load flows. */
static const char *remarks_load_of(const struct result_remarks *remarks,
                                   const struct run_row *row) {
  return row->load_gbps > 0
             ? arena_format(remarks->arena, "load flows moved %.4g GB/s each", row->load_gbps)
             : NULL;
}

enum { TEXTS_MAX = 16 };

/* What is said of a row. The parts of a note, which "; " separates, are known of other rows too. */
static size_t remarks_texts(const struct result_remarks *remarks, const struct run_row *row,
                            const char *texts[TEXTS_MAX]) {
  const char *const whole[] = {row->reason,
                               remarks_above_peak(remarks, row),
                               remarks_load_of(remarks, row),
                               remarks_slowed(remarks, row),
                               remarks_expected(remarks, row),
                               remarks_stopped(remarks, row),
                               row->same};
  enum { WHOLE = sizeof whole / sizeof *whole };
  size_t count = 0;
  const char *note = row->reason == NULL ? row->note : NULL;
  while (note != NULL && count < TEXTS_MAX - WHOLE) {
    const char *end = count + 1 < TEXTS_MAX - WHOLE ? strstr(note, "; ") : NULL;
    const size_t length = end != NULL ? (size_t)(end - note) : strlen(note);
    texts[count++] = arena_strndup(remarks->arena, note, length);
    note = end != NULL ? end + 2 : NULL;
  }
  for (size_t i = 0; i < WHOLE; i++) {
    if (whole[i] != NULL) {
      texts[count++] = whole[i];
    }
  }
  return count;
}

void result_remarks_settle(struct result_remarks *remarks) {
  unsigned number = 0;
  static const enum stop ENDS[] = {STOP_TRIALS, STOP_TIME};
  for (size_t e = 0; e < sizeof ENDS / sizeof *ENDS; e++) {
    for (unsigned noise = 0; noise <= noise_name_count; noise++) {
      const struct noisy noisy = remarks_find_noisy(remarks, ENDS[e], (enum noise)noise);
      remarks->stops[ENDS[e]][noise] = noisy.count > 0 ? remarks_describe(remarks, &noisy) : NULL;
    }
  }
  for (size_t i = 0; i < remarks->count; i++) {
    const char *texts[TEXTS_MAX];
    const size_t count = remarks_texts(remarks, remarks->rows[i], texts);
    for (size_t k = 0; k < count; k++) {
      remarks_use(remarks, remarks->rows[i], texts[k]);
    }
  }
  for (size_t i = 0; i < remarks->note_count; i++) {
    struct footnote *note = &remarks->notes[i];
    note->number = note->uses == remarks->count ? 0 : ++number;
  }
}

const char *result_remarks_mark(const struct result_remarks *remarks, const struct run_row *row) {
  const char *texts[TEXTS_MAX];
  unsigned numbers[TEXTS_MAX];
  const size_t count = remarks_texts(remarks, row, texts);
  for (size_t i = 0; i < count; i++) {
    numbers[i] = remarks_number(remarks, texts[i]);
  }
  const char *mark = "";
  unsigned last = 0;
  for (size_t shown = 0; shown < count; shown++) {
    unsigned next = UINT_MAX; /* the least that is greater than the last */
    for (size_t i = 0; i < count; i++) {
      next = numbers[i] > last && numbers[i] < next ? numbers[i] : next;
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
                   remarks_text_of(remarks->arena, &remarks->notes[i]));
  }
}
