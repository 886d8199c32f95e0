#include "engine/case/note.h"

#include <string.h>

ENUM_NAMES_DEFINE(note_kind, NOTE_KIND_LIST)
_Static_assert((int)note_kind_name_count <= 64, "NOTE_BIT");

static const struct note_words {
  bool slows;
  const char *unit, *sentence;
} NOTES[] = {
#define NOTE_ROW_(id, name, slows, unit, sentence) [id] = {slows, unit, sentence},
    NOTE_KIND_LIST(NOTE_ROW_)};

static bool note_is_same(const struct note *a, const struct note *b) {
  return a->kind == b->kind && a->gpu == b->gpu && strcmp(a->what, b->what) == 0;
}

void notes_add(struct notes *notes, const struct note *note) {
  for (uint32_t i = 0; i < notes->count; i++) {
    if (note_is_same(&notes->items[i], note)) {
      return;
    }
  }
  if (notes->count < NOTES_MAX) {
    notes->items[notes->count++] = *note;
  }
}

void notes_add_kinds(struct notes *notes, uint64_t kinds) {
  for (int kind = 0; kind < note_kind_name_count; kind++) {
    if ((kinds & NOTE_BIT(kind)) != 0) {
      notes_add(notes, &(struct note){.kind = (enum note_kind)kind, .gpu = NOTE_NO_GPU});
    }
  }
}

bool notes_have(const struct notes *notes, enum note_kind kind) {
  uint32_t i = 0;
  while (i < notes->count && notes->items[i].kind != kind) {
    i++;
  }
  return i < notes->count;
}

bool note_slows(enum note_kind kind) {
  return NOTES[kind].slows;
}

const char *note_unit(enum note_kind kind) {
  return NOTES[kind].unit;
}

const char *note_sentence(enum note_kind kind) {
  return NOTES[kind].sentence;
}

size_t note_amount_count(enum note_kind kind) {
  size_t count = 0;
  for (const char *at = strchr(NOTES[kind].sentence, '{'); at != NULL; at = strchr(at + 1, '{')) {
    count += at[1] >= '1' && at[1] <= '9';
  }
  return count;
}

void note_put_words(struct strbuf *text, const struct note *note,
                    const char *const amounts[NOTE_AMOUNTS_MAX]) {
  for (const char *at = NOTES[note->kind].sentence; *at != '\0';) {
    const size_t plain = strcspn(at, "{|");
    strbuf_append_n(text, at, plain);
    at += plain;
    if (*at == '|') {
      at++;
    } else if (*at == '{') {
      const size_t i = (size_t)(at[1] - '1');
      if (at[1] == 'p') {
        strbuf_printf(text, note->gpu >= 0 ? "gpu%d" : "the host", note->gpu);
      } else if (at[1] == 'w') {
        strbuf_append(text, note->what);
      } else if (amounts != NULL) {
        strbuf_append(text, amounts[i]);
      } else {
        strbuf_printf(text, "%.6g", note->amounts[i]);
      }
      at = strchr(at, '}') + 1;
    }
  }
}
