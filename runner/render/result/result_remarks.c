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
  return row->as_expected != NULL && strcmp(row->as_expected, "short") == 0
             ? arena_format(remarks->arena, "short of what is usual here, %s", row->expected)
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

/* Of all cases that ended so: how far the trials came, and what would have helped. */
static const char *remarks_describe(const struct result_remarks *remarks, enum stop stop,
                                    const char *limit_and_help) {
  double widest = 0;
  bool several = false; /* processes: then +/- is the range between them */
  bool few = true;
  for (size_t i = 0; i < remarks->count; i++) {
    const struct run_row *row = remarks->rows[i];
    if (remarks_stop_of(row) != stop) {
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
  return arena_format(remarks->arena, "not within precision%s: %s", reached, limit_and_help);
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
  remarks->stops[STOP_TRIALS] =
      remarks_describe(remarks, STOP_TRIALS,
                       "trials.max ended the trials; more trials help: --set measure.trials.max=N");
  remarks->stops[STOP_TIME] =
      remarks_describe(remarks, STOP_TIME,
                       "max_time ended the trials; more time helps: --set measure.max_time=TIME");
  for (size_t i = 0; i < remarks->count; i++) {
    remarks_use(remarks, remarks_why(remarks->rows[i]));
    remarks_use(remarks, remarks_load_of(remarks, remarks->rows[i]));
    remarks_use(remarks, remarks_slowed(remarks, remarks->rows[i]));
    remarks_use(remarks, remarks_short(remarks, remarks->rows[i]));
    remarks_use(remarks, remarks->stops[remarks_stop_of(remarks->rows[i])]);
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
                                    remarks->stops[remarks_stop_of(row)],
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
