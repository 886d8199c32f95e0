/* rules.c - rules between the keys of a block (kind.h): what those of all kinds share. */
#include "schema/scenario/block.h"
#include "schema/scenario/kind.h"

#include <stdio.h>
#include <string.h>

const struct entry *subject_find(const struct subject *subject, const char *key) {
  return slot_entry(subject->block, subject->slot, key);
}

const struct slot *subject_slot(const struct subject *subject) {
  return &subject->block->slots[subject->slot];
}

bool subject_refuse(struct subject *subject, const struct entry *entry, struct toml_span span,
                    const char *expected, const char *format, ...) {
  char message[ERROR_MESSAGE_MAX];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(message, sizeof message, format, args);
  va_end(args);
  diagnostics_add(subject->reader->diagnostics,
                  entry == NULL ? subject_slot(subject)->source : entry->source, span, expected,
                  NULL, "%s", message);
  return false;
}

void subject_refuse_keys(struct subject *subject, const char *const *keys, const char *expected,
                         const char *why) {
  for (size_t i = 0; keys[i] != NULL; i++) {
    const struct entry *entry = subject_find(subject, keys[i]);
    if (entry != NULL) {
      subject_refuse(subject, entry, entry->key_span, expected, "%s%s", keys[i], why);
    }
  }
}

void subject_refuse_key(struct subject *subject, const struct entry *entry, const char *expected,
                        const char *message) {
  subject_refuse(subject, entry, entry->key_span, expected, "%s", message);
}

unsigned entry_word_set(const struct entry *entry) {
  unsigned set = 0;
  for (size_t i = 0; entry != NULL && i < entry->values.count; i++) {
    set |= BIT(entry->values.items[i].word);
  }
  return set;
}

struct toml_span entry_word_span(const struct entry *entry, unsigned word) {
  for (size_t i = 0; i < entry->values.count; i++) {
    if (entry->values.items[i].word == word) {
      return value_span(entry->node, i);
    }
  }
  return entry->node->span;
}

bool memory_fits(enum memory_kind memory, enum place place) {
  return memory == MEMORY_MANAGED || memory_is_gpus_own(memory) == (place == PLACE_GPU);
}

void subject_check_share(struct subject *subject, const struct entry *share, enum place place,
                         const char *end) {
  for (size_t i = 0; i < share->values.count; i++) {
    const enum share word = (enum share)share->values.items[i].word;
    if (!memory_fits(share_memory(word), place)) {
      subject_refuse(subject, share, value_span(share->node, i),
                     place == PLACE_GPU ? "\"ipc\", \"fd\" or \"pool\" on a GPU"
                                        : "\"memfd\" or \"shm\" on a NUMA node",
                     "%s.share: \"%s\" is for memory of a %s", end, share_text(word),
                     place == PLACE_GPU ? "NUMA node" : "GPU");
    }
  }
}

const struct entry *entry_either(const struct entry *first, const struct entry *second) {
  return first != NULL ? first : second;
}

/* The entry that decides about a key of [measure] in this block. */
static const struct entry *rules_measure_entry(const struct entries *measure,
                                               const struct block *block, const char *key) {
  return entry_either(slot_entry(block, 0, key), entries_find(measure, key));
}

static bool rules_check_trials(struct subject *subject, const struct entries *measure,
                               const struct measure *made) {
  if (made->trials_min <= made->trials_max) {
    return true;
  }
  const struct entry *max = rules_measure_entry(measure, subject->block, "trials.max");
  const struct entry *min = rules_measure_entry(measure, subject->block, "trials.min");
  const struct entry *at = entry_either(max, min);
  return subject_refuse(subject, at, at->node->span, "min not greater than max",
                        "trials: min, %u, is greater than max, %u%s", made->trials_min,
                        made->trials_max, max == NULL ? " by default" : "");
}

static bool rules_reads_host(const struct setting *setting) {
  const struct transfer_setting *transfer = &setting->transfer;
  bool host = transfer->flow.from.place == PLACE_NUMA || transfer->flow.to.place == PLACE_NUMA;
  for (size_t i = 0; i < transfer->flow_count; i++) {
    host = (i > 0 && host) || transfer->flows[i].from.place == PLACE_NUMA ||
           transfer->flows[i].to.place == PLACE_NUMA;
  }
  return setting->kind == CASE_STREAM ? setting->at.place == PLACE_NUMA
                                      : setting->kind == CASE_TRANSFER && host;
}

/* Caches are flushed once per trial: the second iteration would find them warm. */
static bool rules_check_flush(struct subject *subject, const struct entries *measure,
                              const struct setting *setting) {
  const struct measure *made = &setting->measure;
  const struct entry *at = rules_measure_entry(measure, subject->block, "iterations");
  if (made->host_cache != HOST_CACHE_FLUSHED || made->iterations <= 1 || at == NULL ||
      !rules_reads_host(setting)) {
    return true;
  }
  return subject_refuse(subject, at, at->node->span, "1 or \"auto\"",
                        "iterations: with host_cache = \"flushed\" caches are flushed before each "
                        "trial, so that only the first of %u iterations would find them so",
                        made->iterations);
}

bool entries_are_read(const struct entries *entries, const char *prefix) {
  for (size_t i = 0; i < entries->count; i++) {
    if (strncmp(entries->items[i].field->name, prefix, strlen(prefix)) == 0 &&
        entries->items[i].values.count == 0) {
      return false;
    }
  }
  return true;
}

/* One setting is enough if no axis is among the keys that the rules look at. */
static size_t rules_setting_count(const struct block *block) {
  const char *const *checked = kinds[block->kind]->checked;
  for (size_t i = 0; i < block->axis_count; i++) {
    const char *key = block->axes[i].entry->field->name;
    bool matters = strncmp(key, "trials.", 7) == 0 || strcmp(key, "host_cache") == 0 ||
                   strcmp(key, "iterations") == 0;
    for (size_t k = 0; checked != NULL && checked[k] != NULL; k++) {
      matters = matters || strncmp(key, checked[k], strlen(checked[k])) == 0;
    }
    if (matters) {
      return block->setting_count;
    }
  }
  return 1;
}

void rules_check_settings(struct reader *reader, const struct entries *measure,
                          const struct block *block) {
  struct subject subject = {reader, block, 0, 0};
  const bool trials =
      entries_are_read(measure, "trials.") && entries_are_read(&block->slots[0].entries, "trials.");
  const size_t count = rules_setting_count(block);
  bool (*check)(struct reader *, const struct block *, const struct setting *) =
      kinds[block->kind]->check_setting;
  bool good = true;
  for (size_t i = 0; good && i < count; i++) {
    struct setting setting;
    block_setting(block, i, &setting);
    good = !trials || rules_check_trials(&subject, measure, &setting.measure);
    good = rules_check_flush(&subject, measure, &setting) && good;
    good = (check == NULL || check(reader, block, &setting)) && good;
  }
}
