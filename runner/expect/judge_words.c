#include "runner/expect/judge_internal.h"

#include "engine/base/strings.h"
#include "runner/table/text.h"

#include <string.h>

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
  return arena_format(arena, "%s %s%s, %s %s%s%s", value, judgement->time ? "ns" : "GB/s",
                      judgement->at_best ? " at best" : "",
                      reported ? "usual" : expect_statement_text(judgement->statement),
                      judge_ranges(arena, judgement), deviation != NULL ? ": " : "",
                      deviation != NULL ? deviation : "");
}

#define JUDGE_CANNOT_TELL "host busy or link slow"

const char *judgement_remark(struct arena *arena, const struct expect_judgement *judgement) {
  static const char *const WORDS[] = {[EXPECT_SHORT] = "short of what is usual here",
                                      [EXPECT_BEYOND] = "better than anything known",
                                      [EXPECT_UNCLEAR] =
                                          "too noisy to tell from what is usual here",
                                      [EXPECT_DISTURBED] = JUDGE_CANNOT_TELL};
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

/* ---- sentences ---- */

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

static const char *judge_noun(struct expect_judge *judge,
                              const struct expect_judgement *judgement) {
  const char *noun = expect_path_noun(judgement->path);
  return judgement->time ? arena_format(&judge->arena, "%s latency", noun) : noun;
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
    const char *noun = judge_noun(judge, judgement);
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

const char *expect_judge_cannot_tell(struct expect_judge *judge) {
  struct expect_shortfall item = {.count = judge->judged.verdicts[EXPECT_DISTURBED]};
  for (size_t i = 0; i < judge->judged.count; i++) {
    const struct expect_judgement *judgement = &judge->judged.judgements[i];
    if (judgement->verdict == EXPECT_DISTURBED &&
        (item.worst == NULL || judgement->ratio < item.worst->ratio)) {
      item.worst = judgement;
    }
  }
  if (item.worst == NULL) {
    return NULL;
  }
  item.place = expect_judgement_place(judge, item.worst);
  item.noun = judge_noun(judge, item.worst);
  return arena_format(&judge->arena,
                      "cannot tell: " JUDGE_CANNOT_TELL
                      ": %s; its trials vary by %s; run again when the host is quiet",
                      expect_shortfall_words(&judge->arena, &item),
                      text_percent(&judge->arena, item.worst->spread, 2));
}

static const char *judge_note(struct arena *arena, const char *text, size_t n, const char *what) {
  return n > 0 ? arena_format(arena, "%s; %zu %s", text, n, what) : text;
}

/* "host busy: 31 % of trials were up to 22 % slower (up/gpu0, and 2 more)". */
static const char *judge_disturbance_words(struct arena *arena,
                                           const struct disturbance *disturbance) {
  const size_t others = disturbance->count - 1;
  return arena_format(arena, "%s: %s of trials were up to %s slower (%s%s)",
                      disturbance->on_host ? "host busy" : "disturbed by others",
                      text_percent(arena, disturbance->percent / 100, 2),
                      text_percent(arena, disturbance->slower_percent / 100, 2), disturbance->name,
                      others > 0 ? arena_format(arena, ", and %zu more", others) : "");
}

/* whole: with what others disturbed. */
static const char *judge_summarise(struct expect_judge *judge, bool whole) {
  struct arena *arena = &judge->arena;
  const size_t shorts = judge->judged.verdicts[EXPECT_SHORT];
  const size_t unclear = judge->judged.verdicts[EXPECT_UNCLEAR];
  const size_t disturbed = judge->judged.verdicts[EXPECT_DISTURBED];
  if (judge->judged.count == 0) {
    return NULL;
  }
  const char *notes =
      judge_note(arena, "", judge->judged.verdicts[EXPECT_BEYOND], "better than any measurement");
  notes = judge_note(arena, notes, unclear, "too noisy to tell");
  notes = judge_note(arena, notes, disturbed, "undecided: " JUDGE_CANNOT_TELL);
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
  const size_t reports = SUM_OF(i, judge->used_count, judge_reports_of(judge->used[i]));
  const char *grounds = reports > 0 ? arena_format(arena, " (from %zu measurement%s)", reports,
                                                   strings_plural(reports, "", "s"))
                                    : " (from lower limits alone)";
  const bool all = unclear + disturbed + judge->judged.broken_count + judge->judged.above_peak == 0;
  const size_t usual = judge->judged.count - unclear - disturbed;
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
  const char **made = arena_array(arena, count + 3, sizeof *made);
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
  const char *cannot_tell = expect_judge_cannot_tell(judge);
  if (cannot_tell != NULL) {
    made[lines_count++] = cannot_tell;
  }
  made[lines_count] = expect_judge_summary(judge);
  *lines = made;
  return made[lines_count] != NULL ? lines_count + 1 : 0;
}

const char *expect_doubt_words(struct arena *arena, const char *file, bool simulated,
                               const char *db) {
  if (file != NULL) {
    return arena_format(arena,
                        "no row of %s fits these cases: a row names the GPU, the kind of path, "
                        "the method and the size",
                        file);
  }
  return arena_format(arena,
                      "%s. Make your own from good runs, and add --expect=mine.toml: haul expect "
                      "learn%s > mine.toml",
                      simulated
                          ? "the shipped expectations are for real GPUs, and these are simulated"
                          : "no expectation fits these cases on this machine",
                      db);
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
