/* A [[stream]]: what it is when nobody says, and what must hold between its keys. */
#include "schema/scenario/rules.h"

void stream_finish(const struct block *block, struct setting *setting) {
  struct stream_setting *stream = &setting->stream;
  kind_finish_end(&stream->at, PLACE_GPU, SELECTOR_ALL);
  if (slot_entry(block, 0, "at.memory") == NULL) {
    stream->at.memory = stream->at.place == PLACE_GPU ? MEMORY_DEVICE : MEMORY_PAGEABLE;
  }
}

/* A key that only the other place has. */
static void refuse_keys(struct subject *subject, const char *const *keys, const char *message) {
  for (size_t i = 0; keys[i] != NULL; i++) {
    const struct entry *entry = subject_find(subject, keys[i]);
    if (entry != NULL) {
      subject_refuse(subject, entry, entry->key_span, NULL, "%s: %s", keys[i], message);
    }
  }
}

static void check_memory(struct subject *subject, enum place place) {
  const struct entry *memory = subject_find(subject, "at.memory");
  for (size_t i = 0; memory != NULL && i < memory->values.count; i++) {
    const enum memory_kind kind = (enum memory_kind)memory->values.items[i].word;
    if (!memory_fits(kind, place) || kind == MEMORY_MANAGED) {
      subject_refuse(subject, memory, value_span(memory->node, i),
                     place == PLACE_GPU ? "\"device\", or no memory at all"
                                        : "\"pageable\", \"huge\", \"pinned\", \"registered\" or "
                                          "\"write_combined\"",
                     "at.memory: a stream on a %s does not work on \"%s\" memory",
                     place == PLACE_GPU ? "GPU" : "node", memory_kind_text(kind));
      return;
    }
  }
}

static void check_type(struct subject *subject) {
  const struct entry *type = subject_find(subject, "type");
  for (unsigned word = 0; type != NULL && word < number_type_name_count; word++) {
    if (word != NUMBER_F32 && word != NUMBER_F64 && (entry_word_set(type) & BIT(word)) != 0) {
      subject_refuse(subject, type, entry_word_span(type, word), "\"f32\" or \"f64\"",
                     "type: a stream has no numbers of %s",
                     number_type_text((enum number_type)word));
    }
  }
}

void stream_check_keys(struct reader *reader, const struct block *block) {
  static const char *const of_gpu[] = {"block", "grid", "vector_bytes", "unroll", "clock", NULL};
  static const char *const of_node[] = {"threads", NULL};
  struct subject subject = {reader, block, 0, 0};
  const struct entry *gpu = subject_find(&subject, "at.gpu");
  const struct entry *numa = subject_find(&subject, "at.numa");
  if (gpu != NULL && numa != NULL) {
    subject_refuse_key(&subject, numa, "at = { gpu = ... } or at = { numa = ... }",
                       "at.numa: the arrays are on GPUs already");
    return;
  }
  const struct entry *local = numa;
  if (local != NULL && local->values.count == 1 &&
      (local->values.items[0].selector.kind == SELECTOR_LOCAL ||
       local->values.items[0].selector.kind == SELECTOR_REMOTE)) {
    subject_refuse(&subject, local, local->node->span,
                   "a node's number, an array of them, or \"*\"",
                   "at.numa: \"local\" and \"remote\" are seen from a GPU, and here is none");
  }
  refuse_keys(&subject, numa != NULL ? of_gpu : of_node,
              numa != NULL ? "only a stream on a GPU has it" : "only a stream on a node has it");
  check_memory(&subject, numa != NULL ? PLACE_NUMA : PLACE_GPU);
  check_type(&subject);
}

bool stream_check_setting(struct reader *reader, const struct block *block,
                          const struct setting *setting) {
  struct subject subject = {reader, block, 0, 0};
  const struct stream_setting *stream = &setting->stream;
  const uint32_t element_bytes = stream->type == NUMBER_F64 ? 8 : 4;
  const struct entries *entries = &block->slots[0].entries;
  if (!all_read(entries, "size") || !all_read(entries, "vector_bytes") ||
      !all_read(entries, "unroll")) {
    return true;
  }
  const struct entry *size = subject_find(&subject, "size");
  const struct entry *vector = subject_find(&subject, "vector_bytes");
  const struct entry *unroll = subject_find(&subject, "unroll");
  if (size != NULL && stream->size_bytes % element_bytes != 0) {
    subject_refuse(&subject, size, size->node->span, "a whole number of elements",
                   "size: %llu bytes are no whole number of %s of %u bytes",
                   (unsigned long long)stream->size_bytes, number_type_text(stream->type),
                   element_bytes);
    return false;
  }
  if (vector != NULL && stream->vector_bytes > 0 && stream->vector_bytes < element_bytes) {
    subject_refuse(&subject, vector, vector->node->span, "one number or more",
                   "vector_bytes: %u is less than one %s", stream->vector_bytes,
                   number_type_text(stream->type));
    return false;
  }
  if (unroll != NULL && stream->unroll == 2) {
    subject_refuse(&subject, unroll, unroll->node->span, "1, 4 or \"auto\"",
                   "unroll: there is no kernel for 2");
    return false;
  }
  return true;
}
