/* result_remarks.c - the remarks on cases, as footnotes. */
#include "runner/render/result/result_block.h"

#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "engine/case/visits.h"
#include "runner/table/text.h"
#include "schema/scenario/scenario.h"
#include "schema/scenario/setting.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { REMARK_MAX_BYTES = 1 << 16 };

/* ---- footnotes ---- */

static bool remark_is_same(const struct remark *a, const struct remark *b) {
  if (a->text != NULL || b->text != NULL) {
    return a->text != NULL && b->text != NULL && strcmp(a->key, b->key) == 0;
  }
  return a->note.kind == b->note.kind && a->note.gpu == b->note.gpu &&
         strcmp(a->note.what, b->note.what) == 0 &&
         (note_unit(a->note.kind)[0] != '\0' ||
          ALL_OF(i, NOTE_AMOUNTS_MAX, a->note.amounts[i] == b->note.amounts[i]));
}

static size_t remarks_find(const struct result_remarks *remarks, const struct remark *remark) {
  return FIRST_OF(i, remarks->note_count, remark_is_same(&remarks->notes[i].remark, remark));
}

static void remarks_use(struct result_remarks *remarks, const struct run_row *row,
                        const struct remark *remark) {
  const size_t i = remarks_find(remarks, remark);
  if (i == FOOTNOTES_MAX) {
    return;
  }
  struct footnote *note = &remarks->notes[i];
  if (i == remarks->note_count) {
    remarks->note_count++;
    *note = (struct footnote){.remark = *remark, .least = remark->note, .most = remark->note};
  }
  for (size_t k = 0; k < NOTE_AMOUNTS_MAX; k++) {
    note->least.amounts[k] = fmin(note->least.amounts[k], remark->note.amounts[k]);
    note->most.amounts[k] = fmax(note->most.amounts[k], remark->note.amounts[k]);
  }
  if (remark->text != NULL) {
    note->differs = note->differs || strcmp(note->remark.text, remark->text) != 0;
    note->remark = remark->rank > note->remark.rank ? *remark : note->remark;
  }
  note->uses += note->last != row;
  note->last = row;
}

static const char *remarks_number_words(struct arena *arena, double value) {
  return arena_format(arena, value >= 1000 ? "%.0f" : "%.4g", value);
}

/* With amounts that differ between rows as "50-90". */
static const char *remarks_text_of(struct arena *arena, const struct footnote *note) {
  if (note->remark.text != NULL) {
    return note->differs
               ? arena_format(arena, "%s (the worst of %zu)", note->remark.text, note->uses)
               : note->remark.text;
  }
  const char *amounts[NOTE_AMOUNTS_MAX];
  for (size_t k = 0; k < NOTE_AMOUNTS_MAX; k++) {
    const char *least = remarks_number_words(arena, note->least.amounts[k]);
    const char *most = remarks_number_words(arena, note->most.amounts[k]);
    amounts[k] = strcmp(least, most) == 0 ? least : arena_format(arena, "%s-%s", least, most);
  }
  if (note->remark.note.kind == NOTE_CPU_CLOCK && note->uses > 1) { /* the range of all */
    amounts[0] = remarks_number_words(arena, fmin(note->least.amounts[0], note->least.amounts[1]));
    amounts[1] = remarks_number_words(arena, fmax(note->most.amounts[0], note->most.amounts[1]));
  }
  SCOPED(strbuf_fini) struct strbuf words = STRBUF(REMARK_MAX_BYTES);
  strbuf_append(&words, note_slows(note->remark.note.kind) ? "may be slowed: " : "");
  note_put_words(&words, &note->remark.note, amounts);
  char *text = arena_strdup(arena, words.text);
  const size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyz");
  if (text[word] == ' ') { /* not "gpu0" */
    text[0] = (char)toupper((unsigned char)text[0]);
  }
  return text;
}

/* ---- remarks ---- */

void result_remarks_add(struct result_remarks *remarks, const struct run_row *row) {
  *ARENA_ADD(remarks->arena, remarks->rows, remarks->count) = row;
}

/* Whether its rate is more than the hardware allows, as far as is known. */
static bool remarks_is_above_peak(const struct run_row *row) {
  return row->above_peak > 0 && row->reason == NULL && isfinite(row->percent_of_peak);
}

/* How far the number is outside of what is expected, as a ratio above 1; 0 = not known. */
static double remarks_distance(const struct run_row *row) {
  return fmax(isnan(row->expected_low) ? 0 : row->expected_low / row->judged,
              isnan(row->expected_high) ? 0 : row->judged / row->expected_high);
}

/* How a case compares with what its machine reaches. That one is a little outside and as usual
 * matters where the reader sees the range. Of several, the furthest stands for all. */
static struct remark remarks_expected(const struct result_remarks *remarks,
                                      const struct run_row *row) {
  const bool usual = row->as_expected != NULL && strcmp(row->as_expected, "usual") == 0;
  if (row->expected_remark == NULL || (usual && !row->range_shown)) {
    return (struct remark){0};
  }
  return (struct remark){.text = row->expected_remark,
                         .key = arena_format(remarks->arena, "%s %s", row->as_expected,
                                             row->expected != NULL && !usual ? row->expected : ""),
                         .rank = remarks_distance(row)};
}

/* Cases that were visited at other times have one remark, whatever their noise was like. */
static bool remarks_is_visited(const struct run_row *row) {
  return row->visits / row->processes >= 2; /* not of NAN */
}

bool result_is_unsettled(const struct run_row *row) {
  return remarks_is_visited(row) && !(row->undisturbed_ns > 0);
}

/* Why the trials of a case ended; STOP_NONE where it is not known. The first of several
 * measurements may have been precise, and the others far from it: they count as any others. */
static enum stop remarks_stop_of(const struct run_row *row) {
  static const double WIDE_PERCENT = 1;
  enum stop stop = STOP_NONE;
  if (row->stop == NULL || strcmp(row->status, "ok") != 0 || !stop_parse(row->stop, &stop)) {
    return STOP_NONE;
  }
  const bool missed =
      stop != STOP_PRECISION || result_spread(row) > WIDE_PERCENT || result_is_unsettled(row);
  return missed && remarks_is_visited(row) ? STOP_TIME : stop;
}

/* Whether copies the other way decided which trials of a single measurement count: else it has an
 * undisturbed rate only if these differ less (engine/case/visits.h). Rates of several processes may
 * be of different ones. */
static bool remarks_is_shared(const struct run_row *row) {
  static const double DIFFERS = 0.01;
  return row->processes == 1 && (row->under_load > 0 || row->flows > 1) &&
         row->undisturbed_high_ns > row->undisturbed_low_ns * (1 + DIFFERS);
}

/* noise_name_count: that is not known; REMARK_VISITED, REMARK_SHARED. */
static enum noise remarks_noise_of(const struct run_row *row) {
  enum noise noise = noise_name_count;
  if (remarks_is_visited(row)) {
    return (enum noise)REMARK_VISITED;
  }
  if (remarks_is_shared(row)) {
    return (enum noise)REMARK_SHARED;
  }
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

/* How a scenario asks to measure a case, as far as it is known. */
struct asked {
  const struct block *block; /* NULL: it is not known */
  struct setting setting;    /* the first of it */
};

static struct asked remarks_asked(const struct result_remarks *remarks, const struct run_row *row) {
  const struct scenario *scenario = remarks->scenario;
  const char *name = row->same_block != NULL ? row->same_block : row->block;
  const size_t count = scenario != NULL ? scenario->block_count : 0;
  const size_t at = FIRST_OF(i, count, strcmp(block_name(scenario->blocks[i]), name) == 0);
  struct asked asked = {.block = at < count ? scenario->blocks[at] : NULL};
  if (asked.block != NULL) {
    block_setting(asked.block, 0, &asked.setting);
  }
  return asked;
}

static bool asked_follows(const struct asked *asked) {
  return asked->block != NULL && visits_follow(&asked->setting.measure);
}

/* The key that ended the trials. */
static const char *asked_key(const struct asked *asked, enum stop stop) {
  const struct measure *measure = &asked->setting.measure;
  return stop == STOP_TRIALS                                                        ? "trials.max"
         : measure->min_time_ns > 0 && measure->min_time_ns <= measure->max_time_ns ? "min_time"
                                                                                    : "max_time";
}

/* Options to change a key for some blocks. Those without a value of their own have [measure]'s. Of
 * several others, which may have long names, all blocks of their kind are changed. */
struct key_options {
  const char *key;
  struct key_scope {
    const char *name; /* "measure", a block or a kind */
    enum case_kind kind;
  } scopes[case_kind_name_count + 1];
  size_t count;
};

static void options_add(struct key_options *options, const struct asked *asked, const char *key) {
  const char *name = asked->block != NULL ? block_scope(asked->block, key) : "measure";
  const enum case_kind kind =
      strcmp(name, "measure") == 0 ? case_kind_name_count : asked->setting.kind;
  const size_t at = FIRST_OF(i, options->count, options->scopes[i].kind == kind);
  struct key_scope *scope = &options->scopes[at];
  options->key = key;
  options->count += at == options->count;
  const bool first = scope->name == NULL || strcmp(scope->name, name) == 0;
  *scope = (struct key_scope){first ? name : case_kind_text(kind), kind};
}

/* "--set measure.max_time=TIME --set up.max_time=TIME" */
static const char *options_words(struct arena *arena, const struct key_options *options) {
  const char *value = strcmp(options->key, "trials.max") == 0 ? "N" : "TIME";
  const char *words = "";
  for (size_t i = 0; i < options->count; i++) {
    words = arena_join(
        arena, words, " ",
        arena_format(arena, "--set %s.%s=%s", options->scopes[i].name, options->key, value));
  }
  return words;
}

/* "--set measure.settle_time=8s (now 2s)" */
static const char *remarks_longer_settle_time(const struct result_remarks *remarks) {
  /* A case has at most twelve visits (VISITS_MAX), and those that are not settled have had three or
   * more. */
  static const uint64_t LONGER = 4;
  struct arena *arena = remarks->arena;
  const char *option = "--set measure.settle_time=";
  if (remarks->scenario == NULL) {
    return arena_format(arena, "%sTIME", option);
  }
  const uint64_t settle_ns = remarks->scenario->run.settle_ns;
  return settle_ns == 0 ? arena_format(arena, "%sauto (now off)", option)
         : settle_ns == UINT64_MAX
             ? arena_format(arena, "%sTIME (now auto: as long as all cases once, and at least 5 s)",
                            option)
             : arena_format(arena, "%s%s (now %s)", option,
                            units_format_duration(LONGER * settle_ns, UNITS_TEXT),
                            units_format_duration(settle_ns, UNITS_TEXT));
}

/* Whether a case that was measured once could have been measured again, later. */
static bool remarks_may_be_visited(const struct result_remarks *remarks, const struct run_row *row,
                                   const struct asked *asked) {
  return asked->block != NULL && visits_are_allowed(&asked->setting.measure) &&
         !visits_follow(&asked->setting.measure) &&
         (remarks->scenario->run.settle_ns == 0 || strings_equal(row->settled, "budget"));
}

/* What the noise was like, and what helps: more trials only where they differ by chance. */
static const char *remarks_describe_noise(const struct result_remarks *remarks,
                                          const struct noisy *noisy, bool few, const char *option,
                                          bool later) {
  struct arena *arena = remarks->arena;
  const bool time = noisy->stop == STOP_TIME;
  const char *start = time ? "More time" : "More trials";
  const char *help = time ? "helps" : "help";
  const char *not = time ? "does not help" : "do not help";
  const char *size = result_percent(arena, noisy->percent);
  switch (noisy->noise) {
  case NOISE_UNKNOWN:
    return arena_format(arena, "%s%s may help: %s",
                        few ? "" : "Too few trials to classify the noise. ", start, option);
  case NOISE_WHITE:
    return arena_format(arena, "The noise is random. %s %s: %s", start, help, option);
  case NOISE_DIPS:
    return arena_format(
        arena, "Dips of %s, up to %s %% slower, as when other programs use %s. %s %s.%s",
        remarks_lengths(arena, noisy), size,
        noisy->on_host ? "the host's memory or processors" : "the GPU or its links", start, not,
        later ? arena_around(
                    arena, " Measuring again later may: ", remarks_longer_settle_time(remarks), "")
              : "");
  case NOISE_TWO_MODES:
    return arena_format(arena,
                        "Trials have two modes, up to %s %% apart. The median may be in either. "
                        "%s %s.",
                        size, start, not );
  case NOISE_DRIFT:
    return arena_format(arena,
                        "Results drifted by up to %s %% during the case. %s %s. If the first "
                        "trials are slow, raise measure.warmup.",
                        size, start, not );
  case noise_name_count:
    break;
  }
  return arena_format(arena, "%s may help: %s", start, option);
}

/* Whether more visits may give it an undisturbed rate. Beside copies the other way it drifts for
 * longer than a run lasts (docs/MEASURE.md). */
static bool remarks_needs_time(const struct run_row *row) {
  return result_is_unsettled(row) && strings_equal(row->settled, "budget") &&
         !(row->under_load > 0) && !strings_equal(row->direction, "both");
}

/* What measuring at other times came to. */
static const char *remarks_describe_visits(const struct result_remarks *remarks,
                                           const struct noisy *noisy) {
  double most = 0;
  size_t known = 0;
  bool more_time = false;
  struct key_options fixed = {.key = ""}; /* of cases that are visited beside others alone */
  for (size_t i = 0; i < remarks->count; i++) {
    const struct run_row *row = remarks->rows[i];
    if (remarks_stop_of(row) == noisy->stop && remarks_noise_of(row) == noisy->noise) {
      most = fmax(most, row->visits / row->processes);
      known += row->undisturbed_ns > 0;
      const struct asked asked = remarks_asked(remarks, row);
      if (remarks_needs_time(row) && asked_follows(&asked)) {
        options_add(&fixed, &asked, "trials.max");
      } else {
        more_time = more_time || remarks_needs_time(row);
      }
    }
  }
  const char *agree =
      known == 0 ? "do not agree on an undisturbed rate"
      : known == noisy->count
          ? "agree on an undisturbed rate"
          : arena_format(remarks->arena, "agree on an undisturbed rate for %zu of %zu", known,
                         noisy->count);
  const char *help =
      more_time ? arena_around(remarks->arena,
                               " More time may help: ", remarks_longer_settle_time(remarks), "")
      : fixed.count > 0
          ? arena_around(remarks->arena,
                         " A case with a fixed number of trials is measured again only beside "
                         "others. To measure it as often: ",
                         options_words(remarks->arena, &fixed), "")
      : known < noisy->count ? " More time does not help. Processes at other times may: "
                               "--processes 3 --pause 10min"
                             : "";
  return arena_format(remarks->arena, "Noisy: measured up to %.0f times. The fastest trials %s.%s",
                      most, agree, help);
}

/* How far the trials of all cases that ended so came, and what would have helped. */
static const char *remarks_describe(const struct result_remarks *remarks,
                                    const struct noisy *noisy) {
  if ((unsigned)noisy->noise == REMARK_VISITED) {
    return remarks_describe_visits(remarks, noisy);
  }
  if ((unsigned)noisy->noise == REMARK_SHARED) {
    return "Copies in one direction are steady. The other direction gets what they leave, and "
           "varies more. More processes help: --processes N";
  }
  const struct run_row *widest = NULL;
  bool several = false; /* processes: then +/- is the range between them */
  bool few = true;
  bool later = false;
  struct key_options options = {.key = ""};
  for (size_t i = 0; i < remarks->count; i++) {
    const struct run_row *row = remarks->rows[i];
    if (remarks_stop_of(row) != noisy->stop || remarks_noise_of(row) != noisy->noise) {
      continue;
    }
    several = several || row->processes > 1;
    few = few && isnan(result_spread(row));
    widest = result_wider(widest, row);
    const struct asked asked = remarks_asked(remarks, row);
    options_add(&options, &asked, asked_key(&asked, noisy->stop));
    later = later || remarks_may_be_visited(remarks, row, &asked);
  }
  const char *reached =
      several ? " in some processes"
      : few   ? ": too few for a 95 % interval"
              : arena_format(remarks->arena, ": %s%s", noisy->count > 1 ? "up to " : "",
                             result_within(remarks->arena, widest));
  return arena_format(
      remarks->arena, "Precision target missed%s %s. %s", reached,
      noisy->stop == STOP_TRIALS             ? "after trials.max trials"
      : strcmp(options.key, "min_time") == 0 ? "when min_time was reached"
                                             : "when max_time ended",
      remarks_describe_noise(remarks, noisy, few, options_words(remarks->arena, &options), later));
}

enum { TEXTS_MAX = 24 };

static void remarks_put_text(struct remark *list, size_t *count, const char *text) {
  if (text != NULL && *count < TEXTS_MAX) {
    list[(*count)++] = (struct remark){.text = text, .key = text};
  }
}

static void remarks_put_note(struct remark *list, size_t *count, const struct note *note) {
  if (*count < TEXTS_MAX) {
    list[(*count)++] = (struct remark){.note = *note};
  }
}

/* The remarks on a row; on one without a number, the reason. */
static size_t remarks_of(const struct result_remarks *remarks, const struct run_row *row,
                         struct remark list[TEXTS_MAX]) {
  size_t count = 0;
  const struct remark expected = remarks_expected(remarks, row);
  for (int slows = 0; slows < 2; slows++) {
    for (size_t i = 0; i < row->note_count && row->reason == NULL; i++) {
      if (note_slows(row->notes[i].kind) == (slows == 1)) {
        remarks_put_note(list, &count, &row->notes[i]);
      }
    }
    if (slows == 0) {
      remarks_put_text(list, &count, row->reason);
      if (remarks_is_above_peak(row)) {
        remarks_put_note(
            list, &count,
            &(struct note){.kind = NOTE_ABOVE_PEAK, .amounts = {row->percent_of_peak}});
      }
      if (row->load_gbps > 0) {
        remarks_put_note(list, &count,
                         &(struct note){.kind = NOTE_LOAD_RATE, .amounts = {row->load_gbps}});
      }
    }
  }
  if (expected.text != NULL && count < TEXTS_MAX) {
    list[count++] = expected;
  }
  if (row->flushed != NULL && result_axis(row, "host_cache") == NULL &&
      result_axis(row, "device_cache") == NULL) {
    remarks_put_text(list, &count,
                     arena_format(remarks->arena,
                                  "Caches of the %s were flushed before each trial.",
                                  row->flushed));
  }
  remarks_put_text(list, &count, remarks_stopped(remarks, row));
  remarks_put_text(list, &count, row->same);
  return count;
}

void result_remarks_assign_marks(struct result_remarks *remarks) {
  size_t marked = 0;
  static const enum stop ENDS[] = {STOP_TRIALS, STOP_TIME};
  for (size_t e = 0; e < COUNT_OF(ENDS); e++) {
    for (unsigned noise = 0; noise < REMARK_COUNT; noise++) {
      const struct noisy noisy = remarks_find_noisy(remarks, ENDS[e], (enum noise)noise);
      remarks->stops[ENDS[e]][noise] = noisy.count > 0 ? remarks_describe(remarks, &noisy) : NULL;
    }
  }
  for (size_t i = 0; i < remarks->count; i++) {
    struct remark list[TEXTS_MAX];
    const size_t count = remarks_of(remarks, remarks->rows[i], list);
    for (size_t k = 0; k < count; k++) {
      remarks_use(remarks, remarks->rows[i], &list[k]);
    }
  }
  for (size_t i = 0; i < remarks->note_count; i++) {
    struct footnote *note = &remarks->notes[i];
    if (note->uses < remarks->count) {
      note->mark = text_letter(marked++);
    }
  }
}

/* The notes of a row, or of the rows that it stands for, as bits. */
static uint64_t remarks_notes_of(const struct result_remarks *remarks, const struct run_row *row) {
  uint64_t notes = 0;
  for (size_t i = 0; i < row->alike_count; i++) {
    notes |= remarks_notes_of(remarks, row->alike[i]);
  }
  if (row->alike_count > 0) {
    return notes;
  }
  struct remark list[TEXTS_MAX];
  const size_t count = remarks_of(remarks, row, list);
  for (size_t i = 0; i < count; i++) {
    const size_t note = remarks_find(remarks, &list[i]);
    notes |= note < remarks->note_count ? UINT64_C(1) << note : 0;
  }
  return notes;
}

const char *result_remarks_mark(const struct result_remarks *remarks, const struct run_row *row) {
  const uint64_t notes = remarks_notes_of(remarks, row);
  const char *text = "";
  for (size_t i = 0; i < remarks->note_count; i++) {
    if ((notes >> i & 1) != 0 && remarks->notes[i].mark != 0) {
      text = arena_format(remarks->arena, "%s%s%c", text, text[0] != '\0' ? "," : "",
                          remarks->notes[i].mark);
    }
  }
  return text;
}

size_t result_remarks_count(const struct result_remarks *remarks, bool *common) {
  size_t count = 0;
  uint64_t marked = 0;
  *common = false;
  for (size_t i = 0; i < remarks->note_count; i++) {
    *common = *common || remarks->notes[i].mark == 0;
    marked |= remarks->notes[i].mark != 0 ? UINT64_C(1) << i : 0;
  }
  for (size_t i = 0; i < remarks->count; i++) {
    count += (remarks_notes_of(remarks, remarks->rows[i]) & marked) != 0;
  }
  return count;
}

void result_remarks_print(const struct result_remarks *remarks, struct document *document) {
  if (remarks->note_count > 0) {
    document_section(document, NULL);
    document_gap(document);
  }
  for (size_t i = 0; i < 2 * remarks->note_count; i++) { /* those of all cases come last */
    const struct footnote *note = &remarks->notes[i % remarks->note_count];
    if ((note->mark == 0) != (i >= remarks->note_count)) {
      continue;
    }
    const char *text = remarks_text_of(remarks->arena, note);
    if (note->mark == 0) {
      document_put_behind(document, remarks->count > 1 ? "All cases: " : "Note: ", "%s", text);
    } else {
      document_put_behind(
          document, arena_format(remarks->arena, "%c  ", note->mark), "%s",
          note->uses > 1 ? arena_format(remarks->arena, "%zu cases: %s", note->uses, text) : text);
    }
  }
}
