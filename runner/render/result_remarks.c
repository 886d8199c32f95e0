/* result_remarks.c - footnotes, and the remarks on cases that become footnotes. */
#include "runner/render/result_block.h"

#include <math.h>
#include <string.h>

/* ---- footnotes ---- */

static size_t footnotes_find(const struct footnotes *notes, const char *text) {
  size_t i = 0;
  while (i < notes->count && strcmp(notes->texts[i], text) != 0) {
    i++;
  }
  return i;
}

/* One row has that text; NULL = nothing. A row has a text once at most. */
static void footnotes_add(struct footnotes *notes, const char *text) {
  if (text == NULL) {
    return;
  }
  const size_t i = footnotes_find(notes, text);
  if (i == FOOTNOTES_MAX) {
    return;
  }
  if (i == notes->count) {
    notes->texts[i] = text;
    notes->uses[i] = 0;
    notes->count++;
  }
  notes->uses[i]++;
}

/* After the last of `rows` rows. */
static void footnotes_settle(struct footnotes *notes, size_t rows) {
  unsigned number = 0;
  for (size_t i = 0; i < notes->count; i++) {
    notes->numbers[i] = notes->uses[i] == rows ? 0 : ++number;
  }
}

/* 0 where the row needs no mark. */
static unsigned footnotes_number(const struct footnotes *notes, const char *text) {
  const size_t i = text != NULL ? footnotes_find(notes, text) : notes->count;
  return i < notes->count ? notes->numbers[i] : 0;
}

static void footnotes_print(const struct footnotes *notes, const struct output *output) {
  for (size_t i = 0; i < notes->count; i++) {
    char mark[16] = "note: ";
    if (notes->numbers[i] > 0) {
      (void)snprintf(mark, sizeof mark, "[%u] ", notes->numbers[i]);
    }
    output_wrapped(output, mark, notes->texts[i]);
  }
}

/* ---- remarks ---- */

void result_remarks_init(struct result_remarks *remarks, struct arena *arena) {
  *remarks = (struct result_remarks){.arena = arena};
}

void result_remarks_add(struct result_remarks *remarks, const struct run_row *row) {
  remarks->rows = arena_grow(remarks->arena, remarks->rows, remarks->count, &remarks->capacity,
                             sizeof(const struct run_row *));
  remarks->rows[remarks->count++] = row;
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
                                    const char *limit, const char *help) {
  double widest = 0;
  bool several = false; /* processes: then +/- is the range between them */
  bool few = true;
  for (size_t i = 0; i < remarks->count; i++) {
    const struct run_row *row = remarks->rows[i];
    if (remarks_stop_of(row) != stop) {
      continue;
    }
    several = several || row->processes > 1;
    if (!isnan(result_spread(row))) {
      few = false;
      widest = fmax(widest, result_spread(row));
    }
  }
  const char *reached = several ? " in some processes"
                        : few   ? " (too few trials for a 95 % interval)"
                                : arena_format(remarks->arena, " (up to +/- %s %%)",
                                               result_percent(remarks->arena, widest));
  return arena_format(remarks->arena, "not within precision%s: %s ended the trials; %s", reached,
                      limit, help);
}

static const char *remarks_describe_stop(const struct result_remarks *remarks, enum stop stop) {
  switch (stop) {
  case STOP_NONE:
  case STOP_PRECISION:
  case stop_name_count:
    break;
  case STOP_TRIALS:
    return remarks_describe(remarks, stop, "trials.max",
                            "more trials help: --set measure.trials.max=N");
  case STOP_TIME:
    return remarks_describe(remarks, stop, "max_time",
                            "more time helps: --set measure.max_time=TIME");
  }
  return NULL;
}

void result_remarks_settle(struct result_remarks *remarks) {
  for (unsigned stop = 0; stop < stop_name_count; stop++) {
    remarks->stops[stop] = remarks_describe_stop(remarks, (enum stop)stop);
  }
  for (size_t i = 0; i < remarks->count; i++) {
    const struct run_row *row = remarks->rows[i];
    footnotes_add(&remarks->notes, row->reason != NULL ? row->reason : row->note);
    footnotes_add(&remarks->notes, remarks->stops[remarks_stop_of(row)]);
  }
  footnotes_settle(&remarks->notes, remarks->count);
}

const char *result_remarks_mark(const struct result_remarks *remarks, const struct run_row *row) {
  const unsigned why =
      footnotes_number(&remarks->notes, row->reason != NULL ? row->reason : row->note);
  const unsigned stop = footnotes_number(&remarks->notes, remarks->stops[remarks_stop_of(row)]);
  if (why > 0 && stop > 0) {
    return arena_format(remarks->arena, "[%u,%u]", why < stop ? why : stop,
                        why < stop ? stop : why);
  }
  return why + stop > 0 ? arena_format(remarks->arena, "[%u]", why + stop) : "";
}

void result_remarks_print(const struct result_remarks *remarks, const struct output *output) {
  footnotes_print(&remarks->notes, output);
}
